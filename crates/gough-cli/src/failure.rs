//! How a command ends when it has no answer, and how faults of a robot file are shown.

use crate::encode::terminal;
use crate::excerpt::{in_colour, render};
use crate::output::{Output, print};
use crate::streams::tell;
use gough::description::{BadRobot, FaultDocument};
use gough::kinematics::SolveError;
use gough::{Error, ErrorKind};
use serde_json::{Value, json};

/// Faults that are shown with their lines; nobody reads thousands of them.
const MOST_SHOWN: usize = 100;

/// Why a command has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The library has no answer.
    Asked(Box<Error>),
    /// One working mode has no answer; another may have one.
    InMode(SolveError),
    /// The arguments are wrong.
    Usage(String),
    /// The answer cannot go where `-o` says.
    Output(String),
    /// The answer is no: a short name that programs can rely on, and why.
    No(&'static str, String),
    /// Data that cannot be used: a short name that programs can rely on, and why.
    Bad(&'static str, String),
    /// One of these, about this robot.
    Of(String, Box<Failure>),
    /// Nothing more to say: it has been written.
    Silent(u8),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(e: E) -> Self {
        Failure::Asked(Box::new(e.into()))
    }
}

impl Failure {
    /// Why one working mode has no answer, where another may have one.
    pub fn in_mode(e: Error) -> Self {
        match e {
            Error::Solve(e) => Failure::InMode(e),
            other => other.into(),
        }
    }

    /// The failure, once it is known which robot it is about.
    pub fn of(self, robot: &str) -> Self {
        Failure::Of(robot.to_owned(), Box::new(self))
    }

    /// Tell people on standard error, programs by a JSON document in place of the answer, both by the exit status.
    pub fn report(&self, output: &Output) -> u8 {
        tell(&self.text());
        if output.json
            && let Some(document) = self.document()
        {
            let beside = matches!(self.cause(), Failure::Output(_));
            if beside || output.put(&document).is_err() {
                let _ = print(&document);
            }
        }
        self.status()
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
            Failure::Asked(e) if e.kind() == ErrorKind::NoAnswer => 1,
            Failure::InMode(e) if !e.is_misuse() => 1,
            Failure::No(..) => 1,
            _ => 2,
        }
    }

    /// The robot file that has faults.
    pub fn bad_robot(&self) -> Option<&BadRobot> {
        match self.cause() {
            Failure::Asked(e) => match &**e {
                Error::BadRobot(bad) => Some(bad),
                _ => None,
            },
            _ => None,
        }
    }

    fn text(&self) -> String {
        if let Some(bad) = self.bad_robot() {
            let shown = &bad.faults[..bad.faults.len().min(MOST_SHOWN)];
            let faults = render(&bad.name, &bad.text, shown, in_colour(&std::io::stderr()));
            let rest = bad.faults.len() - shown.len();
            let more = if rest > 0 { format!("and {rest} more, all of them with --json\n") } else { String::new() };
            return format!("{faults}{more}{}\n", terminal(&self.message()));
        }
        match self.cause() {
            Failure::Silent(_) => String::new(),
            _ => format!("{}: {}\n", if self.status() == 1 { "no" } else { "error" }, terminal(&self.message())),
        }
    }

    fn message(&self) -> String {
        if let Some(bad) = self.bad_robot() {
            let n = bad.faults.len();
            return format!("{n} fault{} in {}", if n == 1 { "" } else { "s" }, bad.name);
        }
        match self.cause() {
            Failure::Asked(e) => e.to_string(),
            Failure::Usage(message) | Failure::Output(message) | Failure::No(_, message) | Failure::Bad(_, message) => {
                message.clone()
            }
            Failure::InMode(e) => format!("{e}; or try another working mode"),
            Failure::Of(..) | Failure::Silent(_) => String::new(),
        }
    }

    /// `{"robot": .., "error": {"kind": .., "message": ..}}`; a bad file has its `faults` too.
    fn document(&self) -> Option<Value> {
        let kind = match self.cause() {
            Failure::Asked(e) => e.code(),
            Failure::InMode(e) => e.kind(),
            Failure::Output(_) => "output",
            Failure::No(kind, _) | Failure::Bad(kind, _) => kind,
            Failure::Usage(_) => "usage",
            Failure::Of(..) | Failure::Silent(_) => return None,
        };
        let mut document = error_json(kind, &self.message());
        let refused = match self.cause() {
            Failure::InMode(e) => Some(e),
            Failure::Asked(e) => match &**e {
                Error::Solve(e) => Some(e),
                _ => None,
            },
            _ => None,
        };
        if let Some(e) = refused {
            facts(e).into_iter().for_each(|(name, fact)| document["error"][name] = fact);
        }
        if let Failure::Of(robot, _) = self {
            document["robot"] = json!(robot);
        }
        if let Some(bad) = self.bad_robot() {
            document["robot"] = json!(bad.name);
            document["faults"] = json!(FaultDocument::list(&bad.text, &bad.faults));
        }
        Some(document)
    }
}

/// What a refusal knows in numbers and names, for programs: the leg, by how far, the twist that nothing resists.
pub fn facts(e: &SolveError) -> Vec<(&'static str, Value)> {
    match e {
        SolveError::OutOfReach { leg, by } => vec![("leg", json!(leg)), ("by", json!(by))],
        SolveError::AtLimit { leg } => vec![("leg", json!(leg))],
        SolveError::OutOfRange { joint, value, range } => {
            vec![("joint", json!(joint)), ("value", json!(value)), ("range", json!(range))]
        }
        SolveError::NoAssembly { by } => vec![("by", json!(by))],
        SolveError::Singular { leg, .. } => vec![("leg", json!(leg))],
        SolveError::Uncontrolled { motion, .. } => vec![("twist", json!(motion))],
        SolveError::NoInertia { motion } | SolveError::HardlyMoves { motion } => vec![("twist", json!(motion))],
        SolveError::BeyondEffort { drives } => vec![("drives", json!(drives))],
        SolveError::CutOff { leg, along, .. } => vec![("leg", json!(leg)), ("along", json!(along))],
        SolveError::NotInMode { others, .. } => vec![("modes", json!(others))],
        _ => Vec::new(),
    }
}

/// `{"error": {"kind": .., "message": ..}}`.
pub fn error_json(kind: &str, message: &str) -> Value {
    json!({ "error": { "kind": kind, "message": message } })
}
