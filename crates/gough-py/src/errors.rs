//! Refusals of the library as exceptions of the package: `gough._errors.refusal` makes them of a code, words and facts.

use gough::Error;
use gough::description::FaultDocument;
use gough_cli::facts;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use serde_json::{Map, Value};

/// A state without an answer: its place, code, words, and facts as JSON.
pub type Refused = (usize, &'static str, String, String);

/// What an error knows in numbers and names.
fn facts_of(e: &Error) -> String {
    let mut all = Map::new();
    match e {
        Error::Solve(e) => all.extend(facts(e).into_iter().map(|(name, fact)| (name.to_owned(), fact))),
        Error::BadRobot(bad) => {
            all.insert("robot".to_owned(), Value::from(bad.name.clone()));
            all.insert("faults".to_owned(), serde_json::json!(FaultDocument::list(&bad.text, &bad.faults)));
        }
        _ => {}
    }
    Value::Object(all).to_string()
}

/// A state without an answer.
pub fn refused(place: usize, why: &Error) -> Refused {
    (place, why.code(), why.to_string(), facts_of(why))
}

/// The exception.
pub fn raised(py: Python<'_>, why: &Error) -> PyErr {
    static REFUSAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = REFUSAL
        .import(py, "gough._errors", "refusal")
        .and_then(|make: &Bound<'_, PyAny>| make.call1((why.code(), why.to_string(), facts_of(why))));
    made.map_or_else(|e| e, PyErr::from_value)
}
