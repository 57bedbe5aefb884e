//! Running the program.

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Standard output, standard error and exit status.
pub fn run(arguments: &[&str]) -> (String, String, i32) {
    let mut command = Command::cargo_bin("gough").unwrap();
    let out = command.args(arguments).env("NO_COLOR", "1").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr), out.status.code().unwrap())
}

/// Standard output as a JSON document, and the exit status.
pub fn document(arguments: &[&str]) -> (Value, i32) {
    let (out, err, status) = run(arguments);
    let value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {out}{err}"));
    (value, status)
}

/// The answer to a question that has one.
pub fn json(arguments: &[&str]) -> Value {
    let (value, status) = document(arguments);
    assert_eq!(status, 0, "{arguments:?}: {value:#}");
    value
}

/// A file of this repository.
pub fn repository(path: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).to_str().unwrap().to_owned()
}

/// A file with this text in a folder.
pub fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}
