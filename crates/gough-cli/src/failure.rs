//! How a command ends when it has no answer, and how faults of a robot file are shown.

use crate::encode::{same_length, terminal};
use crate::output::{Output, print};
use gough::codegen::CodegenError;
use gough::description::{BadRobot, Diagnostic, line_column};
use gough::elastodynamics::ElasticError;
use gough::kinematics::SolveError;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report, Severity};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

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
    /// The same about one working mode, where another may have an answer.
    InMode(SolveError),
    /// There is no code.
    Codegen(CodegenError),
    /// The robot has no vibrations to tell of.
    Elastic(ElasticError),
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

impl Failure {
    /// The same, once it is known which robot it is about.
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
            _ => 2,
        }
    }

    fn text(&self) -> String {
        match self.cause() {
            Failure::BadRobot(bad) => {
                format!("{}{}\n", render(&bad.name, &bad.text, &bad.faults), terminal(&self.message()))
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
            Failure::Usage(message) | Failure::Output(message) => message.clone(),
            Failure::Solve(e) => e.to_string(),
            Failure::Codegen(e) => e.to_string(),
            Failure::Elastic(e) => e.to_string(),
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
    let one = |d: &Diagnostic| {
        let (line, column) = line_column(text, d.at.start);
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

/// Faults with the lines they point at.
pub fn render(name: &str, text: &str, faults: &[Diagnostic]) -> String {
    let (name, text) = (&terminal(name), &same_length(text));
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
    let mut out = String::new();
    for d in faults {
        let mut diagnostic = MietteDiagnostic::new(terminal(&d.what.to_string())).with_code(d.what.code());
        if d.what.is_warning() {
            diagnostic = diagnostic.with_severity(Severity::Warning);
        }
        if let Some(help) = d.what.help() {
            diagnostic = diagnostic.with_help(terminal(&help));
        }
        if d.at.end > d.at.start || d.at.start > 0 {
            let label = |s: gough::description::Span, words: &str| {
                let end = first_line_end(text, s.start, s.end);
                LabeledSpan::new(Some(words.to_owned()), s.start, end - s.start)
            };
            let related = d.related.iter().map(|(s, words)| label(*s, words));
            diagnostic = diagnostic.with_labels(std::iter::once(label(d.at, "here")).chain(related));
        }
        let report = Report::new(diagnostic).with_source_code(NamedSource::new(name, text.to_owned()));
        let _ = handler.render_report(&mut out, report.as_ref());
        out.push('\n');
    }
    out
}

/// A span that covers a whole table is marked on its first line only.
fn first_line_end(text: &str, start: usize, end: usize) -> usize {
    let end = end.min(text.len());
    text.get(start..end).and_then(|t| t.find('\n')).map_or(end, |n| start + n)
}
