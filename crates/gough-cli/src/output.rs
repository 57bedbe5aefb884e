//! Where answers go: standard output, or a file that is never half written.

use crate::failure::Failure;
use clap::Args;
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Options of every command that gives an answer.
#[derive(Args)]
pub struct Output {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Write the answer to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl Output {
    /// Give the answer in the form that was asked for.
    pub fn give(&self, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let mut answer = if self.json { format!("{:#}", json()) } else { text() };
        if !answer.ends_with('\n') {
            answer.push('\n');
        }
        match &self.output {
            Some(path) => write_whole(path, &answer),
            None => print_all(&answer),
        }
    }
}

/// Print, and end quietly when the reader has gone away.
fn print_all(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Usage(format!("cannot write: {e}"))),
        _ => Ok(()),
    }
}

/// Write under a temporary name, then rename: a file is there whole or not at all.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::Usage(format!("cannot write {}: {e}", path.display()));
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path)).map_err(|e| {
        let _ = std::fs::remove_file(&part);
        fail(e)
    })
}
