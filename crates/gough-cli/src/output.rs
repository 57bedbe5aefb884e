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

/// An answer that is written piece by piece: to standard output, or to a file that is there whole or not at all.
pub struct Pieces {
    to: Box<dyn std::io::Write>,
    /// Temporary name and final name.
    rename: Option<(PathBuf, PathBuf)>,
    gone: bool,
}

impl Output {
    /// Begin an answer that is written piece by piece.
    pub fn pieces(&self) -> Result<Pieces, Failure> {
        let Some(path) = &self.output else {
            let out = std::io::BufWriter::new(std::io::stdout());
            return Ok(Pieces { to: Box::new(out), rename: None, gone: false });
        };
        let path = linked(path);
        let is_device = std::fs::metadata(&path).is_ok_and(|there| !there.is_file());
        let part = if is_device { path.clone() } else { part_name(&path) };
        let file =
            if is_device { std::fs::OpenOptions::new().write(true).open(&part) } else { std::fs::File::create(&part) };
        let file = file.map_err(|e| Failure::Output(format!("cannot write {}: {e}", path.display())))?;
        let rename = (!is_device).then_some((part, path));
        Ok(Pieces { to: Box::new(std::io::BufWriter::new(file)), rename, gone: false })
    }
}

impl Pieces {
    /// Write a piece; a reader that has gone away ends it quietly.
    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.gone {
            return Ok(());
        }
        match self.to.write_all(text.as_bytes()) {
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => self.gone = true,
            Err(e) => return Err(Failure::Output(format!("cannot write: {e}"))),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Whether nobody reads on.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// The answer is whole.
    pub fn finish(mut self) -> Result<(), Failure> {
        let done = self.to.flush();
        let done = done.and_then(|()| match self.rename.take() {
            Some((part, path)) => {
                if let Ok(old) = std::fs::metadata(&path) {
                    let _ = std::fs::set_permissions(&part, old.permissions());
                }
                std::fs::rename(part, path)
            }
            None => Ok(()),
        });
        match done {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Output(format!("cannot write: {e}"))),
            _ => Ok(()),
        }
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.rename {
            let _ = std::fs::remove_file(part);
        }
    }
}

/// The temporary name of a file that is being written.
fn part_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
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
    let part = part_name(path);
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
