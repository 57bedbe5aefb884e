//! How a command ends when it has no answer, and how faults of a robot file are shown.

use gough::description::{BadRobot, Diagnostic, line_column};
use gough::kinematics::SolveError;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report, Severity};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Why a command has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The robot file has faults.
    BadRobot {
        /// The faults.
        bad: Box<BadRobot>,
        /// Whether the caller wants JSON.
        json: bool,
    },
    /// The arguments are wrong.
    Usage(String),
    /// The answer is no.
    No(String),
    /// Nothing more to say: it has been written.
    Silent(u8),
}

impl From<SolveError> for Failure {
    fn from(e: SolveError) -> Self {
        if e.is_misuse() { Failure::Usage(e.to_string()) } else { Failure::No(e.to_string()) }
    }
}

impl Failure {
    /// Write to standard error and give the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::BadRobot { bad, json: true } => {
                println!("{}", json!({ "robot": bad.name, "faults": faults_json(&bad.text, &bad.faults) }));
                ExitCode::from(2)
            }
            Failure::BadRobot { bad, json: false } => {
                eprint!("{}", render(&bad.name, &bad.text, &bad.faults));
                let n = bad.faults.len();
                eprintln!("{n} fault{} in {}", if n == 1 { "" } else { "s" }, bad.name);
                ExitCode::from(2)
            }
            Failure::Usage(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
            Failure::No(message) => {
                eprintln!("no: {message}");
                ExitCode::from(1)
            }
            Failure::Silent(status) => ExitCode::from(status),
        }
    }
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
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
    let mut out = String::new();
    for d in faults {
        let mut diagnostic = MietteDiagnostic::new(d.what.to_string()).with_code(d.what.code());
        if d.what.is_warning() {
            diagnostic = diagnostic.with_severity(Severity::Warning);
        }
        if let Some(help) = d.what.help() {
            diagnostic = diagnostic.with_help(help);
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
