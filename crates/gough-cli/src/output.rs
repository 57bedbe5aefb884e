//! Where answers go: standard output, or a file that is never half written.

use crate::failure::Failure;
use clap::Args;
use serde_json::Value;
use std::fs::Permissions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Options of every command that gives an answer.
#[derive(Args)]
pub struct Output {
    /// Print one JSON document instead of text, for failures too
    #[arg(long)]
    pub json: bool,
    /// Write the answer to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl Output {
    /// Give the answer in the form that was asked for.
    pub fn give(&self, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { self.put(&json()) } else { self.put_text(text()) }
    }

    /// Put a JSON document where answers go.
    pub fn put(&self, document: &Value) -> Result<(), Failure> {
        self.put_text(format!("{document:#}"))
    }

    fn put_text(&self, mut answer: String) -> Result<(), Failure> {
        if !answer.ends_with('\n') {
            answer.push('\n');
        }
        match &self.output {
            Some(path) => write_whole(path, &answer),
            None => print_text(&answer),
        }
    }

    /// Refuse to write over a file that is read: `what` it is.
    pub fn spares(&self, input: &Path, what: &str) -> Result<(), Failure> {
        self.output.as_deref().map_or(Ok(()), |output| spares(output, "-o", input, what))
    }
}

/// Refuse to write `output`, which `option` names, over a file that is read: `what` it is.
pub fn spares(output: &Path, option: &str, input: &Path, what: &str) -> Result<(), Failure> {
    let same = input.is_file() && std::fs::canonicalize(input).ok() == std::fs::canonicalize(output).ok();
    if same {
        let output = output.display();
        return Err(Failure::Output(format!("{option} {output} would overwrite {what}; write to another file")));
    }
    Ok(())
}

/// Print a JSON document.
pub fn print(document: &Value) -> Result<(), Failure> {
    print_text(&format!("{document:#}\n"))
}

/// Print, and end quietly when the reader has gone away.
fn print_text(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Output(format!("cannot write: {e}"))),
        _ => Ok(()),
    }
}

/// Write a file so that it is there whole or not at all. Links are followed; devices and pipes are written as they are.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let path = linked(path);
    let old = std::fs::metadata(&path).ok();
    let done = match &old {
        Some(there) if !there.is_file() => {
            std::fs::OpenOptions::new().write(true).open(&path).and_then(|mut file| file.write_all(text.as_bytes()))
        }
        _ => replace(&path, text, old.map(|there| there.permissions())),
    };
    match done {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Output(format!("cannot write {}: {e}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Write under a temporary name beside the file, then rename.
fn replace(path: &Path, text: &str, permissions: Option<Permissions>) -> std::io::Result<()> {
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    std::fs::write(&part, text)
        .and_then(|()| permissions.map_or(Ok(()), |p| std::fs::set_permissions(&part, p)))
        .and_then(|()| std::fs::rename(&part, path))
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&part);
        })
}

/// Where a path leads when symbolic links are followed, whether something is there or not.
fn linked(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        match std::fs::read_link(&path) {
            Ok(next) => path = path.with_file_name("").join(next),
            Err(_) => break,
        }
    }
    path
}
