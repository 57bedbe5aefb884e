//! How a command ends when it has no answer, and how faults of a robot file are shown.

use crate::encode::terminal;
use crate::excerpt::{in_colour, render};
use crate::output::{Output, print};
use gough::codegen::CodegenError;
use gough::crossing::PlanError;
use gough::description::{BadRobot, Diagnostic, LineIndex};
use gough::elastodynamics::ElasticError;
use gough::kinematics::SolveError;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::ExitCode;

/// Faults that are shown with their lines; nobody reads thousands of them.
const MOST_SHOWN: usize = 100;

/// Why a command has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The robot file has faults.
    BadRobot(Box<BadRobot>),
    /// The arguments are wrong.
    Usage(String),
    /// The answer cannot go where `-o` says.
    Output(String),
    /// The question has no answer, or is none.
    Solve(SolveError),
    /// One working mode has no answer; another may have one.
    InMode(SolveError),
    /// There is no code.
    Codegen(CodegenError),
    /// The robot has no vibrations to tell of.
    Elastic(ElasticError),
    /// There is no plan of a motion.
    Plan(PlanError),
    /// The answer is no: a short name that programs can rely on, and why.
    No(&'static str, String),
    /// Data that cannot be used: a short name that programs can rely on, and why.
    Bad(&'static str, String),
    /// One of these, about this robot.
    Of(String, Box<Failure>),
    /// Nothing more to say: it has been written.
    Silent(u8),
}

impl From<SolveError> for Failure {
    fn from(e: SolveError) -> Self {
        Failure::Solve(e)
    }
}

impl From<CodegenError> for Failure {
    fn from(e: CodegenError) -> Self {
        Failure::Codegen(e)
    }
}

impl From<ElasticError> for Failure {
    fn from(e: ElasticError) -> Self {
        Failure::Elastic(e)
    }
}

impl From<PlanError> for Failure {
    fn from(e: PlanError) -> Self {
        Failure::Plan(e)
    }
}

impl Failure {
    /// The failure, once it is known which robot it is about.
    pub fn of(self, robot: &str) -> Self {
        Failure::Of(robot.to_owned(), Box::new(self))
    }

    /// Tell people on standard error, programs by a JSON document in place of the answer, both by the exit status.
    pub fn report(&self, output: &Output) -> ExitCode {
        let _ = write!(std::io::stderr(), "{}", self.text());
        if output.json
            && let Some(document) = self.document()
        {
            let beside = matches!(self.cause(), Failure::Output(_));
            if beside || output.put(&document).is_err() {
                let _ = print(&document);
            }
        }
        ExitCode::from(self.status())
    }

    fn cause(&self) -> &Failure {
        match self {
            Failure::Of(_, why) => why.cause(),
            other => other,
        }
    }

    /// 1: the answer is no; 2: the question was wrong.
    fn status(&self) -> u8 {
        match self.cause() {
            Failure::Silent(status) => *status,
            Failure::Solve(e) | Failure::InMode(e) if !e.is_misuse() => 1,
            Failure::Codegen(e) if !e.is_misuse() => 1,
            Failure::Elastic(e) if !e.is_misuse() => 1,
            Failure::Plan(e) if !e.is_misuse() => 1,
            Failure::No(..) => 1,
            _ => 2,
        }
    }

    fn text(&self) -> String {
        match self.cause() {
            Failure::BadRobot(bad) => {
                let shown = &bad.faults[..bad.faults.len().min(MOST_SHOWN)];
                let faults = render(&bad.name, &bad.text, shown, in_colour(&std::io::stderr()));
                let rest = bad.faults.len() - shown.len();
                let more = if rest > 0 { format!("and {rest} more, all of them with --json\n") } else { String::new() };
                format!("{faults}{more}{}\n", terminal(&self.message()))
            }
            Failure::Silent(_) => String::new(),
            _ => format!("{}: {}\n", if self.status() == 1 { "no" } else { "error" }, terminal(&self.message())),
        }
    }

    fn message(&self) -> String {
        match self.cause() {
            Failure::BadRobot(bad) => {
                let n = bad.faults.len();
                format!("{n} fault{} in {}", if n == 1 { "" } else { "s" }, bad.name)
            }
            Failure::Usage(message) | Failure::Output(message) | Failure::No(_, message) | Failure::Bad(_, message) => {
                message.clone()
            }
            Failure::Solve(e) => e.to_string(),
            Failure::Codegen(e) => e.to_string(),
            Failure::Elastic(e) => e.to_string(),
            Failure::Plan(e) => e.to_string(),
            Failure::InMode(e) => format!("{e}; or try another working mode"),
            Failure::Of(..) | Failure::Silent(_) => String::new(),
        }
    }

    /// `{"robot": .., "error": {"kind": .., "message": ..}}`; a bad file has its `faults` too.
    fn document(&self) -> Option<Value> {
        let (kind, faults) = match self.cause() {
            Failure::BadRobot(bad) => ("bad-robot", Some(bad)),
            Failure::Output(_) => ("output", None),
            Failure::Solve(e) | Failure::InMode(e) => (e.kind(), None),
            Failure::Codegen(e) => (e.kind(), None),
            Failure::Elastic(e) => (e.kind(), None),
            Failure::Plan(e) => (e.kind(), None),
            Failure::No(kind, _) | Failure::Bad(kind, _) => (*kind, None),
            Failure::Usage(_) => ("usage", None),
            Failure::Of(..) | Failure::Silent(_) => return None,
        };
        let mut document = error_json(kind, &self.message());
        if let Failure::Of(robot, _) = self {
            document["robot"] = json!(robot);
        }
        if let Some(bad) = faults {
            document["robot"] = json!(bad.name);
            document["faults"] = json!(faults_json(&bad.text, &bad.faults));
        }
        Some(document)
    }
}

/// `{"error": {"kind": .., "message": ..}}`.
pub fn error_json(kind: &str, message: &str) -> Value {
    json!({ "error": { "kind": kind, "message": message } })
}

/// Faults as JSON: code, message, line, column, suggestion.
pub fn faults_json(text: &str, faults: &[Diagnostic]) -> Vec<Value> {
    let lines = LineIndex::new(text);
    let one = |d: &Diagnostic| {
        let (line, column) = lines.place(d.at.start);
        json!({
            "code": d.what.code(),
            "message": d.what.to_string(),
            "line": line,
            "column": column,
            "suggestion": d.what.help(),
        })
    };
    faults.iter().map(one).collect()
}
