//! Where answers go: standard output, or files that are never half written.

use crate::encode;
use crate::failure::Failure;
use crate::interrupt;
use crate::streams::Out;
use clap::Args;
use serde_json::Value;
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
        self.give_with(Files::default(), json, text)
    }

    /// Give the answer together with other files: all are written, or none.
    pub fn give_with(
        &self,
        mut files: Files,
        json: impl FnOnce() -> Value,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        let answer = if self.json { encode::json(&format!("{:#}", json())) } else { encode::terminal(&text()) };
        let answer = with_last_newline(answer);
        // A file that cannot be written is told alone, not below an answer.
        let Some(path) = &self.output else {
            files.settle()?;
            return print_text(&answer);
        };
        files.add(path, answer.as_bytes())?;
        files.settle()
    }

    /// Put a JSON document where answers go.
    pub fn put(&self, document: &Value) -> Result<(), Failure> {
        let answer = with_last_newline(encode::json(&format!("{document:#}")));
        match &self.output {
            Some(path) => write_whole(path, answer.as_bytes()),
            None => print_text(&answer),
        }
    }

    /// Refuse to write over a file that is read: `what` it is.
    pub fn spares(&self, input: &Path, what: &str) -> Result<(), Failure> {
        self.output.as_deref().map_or(Ok(()), |output| spares(output, "-o", input, what))
    }

    /// Refuse to write two answers into one file: `others` are options and their files.
    pub fn apart(&self, others: &[(&str, Option<&PathBuf>)]) -> Result<(), Failure> {
        let all = others.iter().copied().chain([("-o", self.output.as_ref())]);
        let named: Vec<(&str, PathBuf)> = all.filter_map(|(option, path)| Some((option, place(path?)))).collect();
        for (i, (second, path)) in named.iter().enumerate() {
            if let Some((first, _)) = named[..i].iter().find(|(_, other)| other == path && is_plain(path)) {
                let path = path.display();
                return Err(Failure::Output(format!(
                    "{first} and {second} are both {path}; give each a file of its own"
                )));
            }
        }
        Ok(())
    }
}

fn with_last_newline(mut answer: String) -> String {
    if !answer.ends_with('\n') {
        answer.push('\n');
    }
    answer
}

/// Whether what is there, if anything, is a file: the same device may be written twice.
fn is_plain(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |there| there.is_file())
}

/// A path without links, whether something is there or not.
fn place(path: &Path) -> PathBuf {
    let path = linked(path);
    std::fs::canonicalize(&path).unwrap_or_else(|_| {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        folder.join(path.file_name().unwrap_or_default())
    })
}

/// A file under its temporary name beside the one it becomes; it goes away unless it is settled.
struct TemporaryFile {
    part: PathBuf,
    to: PathBuf,
}

impl TemporaryFile {
    fn new(to: PathBuf) -> Self {
        let mut name = to.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
        name.push(format!(".{}.part", std::process::id()));
        let part = to.with_file_name(name);
        interrupt::begun(&part);
        Self { part, to }
    }

    /// Give it the permissions and the name of the file it becomes.
    fn settle(self) -> std::io::Result<()> {
        if let Ok(old) = std::fs::metadata(&self.to) {
            std::fs::set_permissions(&self.part, old.permissions())?;
        }
        std::fs::rename(&self.part, &self.to)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.part);
        interrupt::ended(&self.part);
    }
}

/// Files that belong together: all of them are written, or none. Devices and pipes are written as they are, first.
#[derive(Default)]
pub struct Files {
    parts: Vec<TemporaryFile>,
    devices: Vec<(PathBuf, Vec<u8>)>,
    /// Folders that were made for them, outer ones first.
    folders: Vec<PathBuf>,
}

impl Files {
    /// Write a file under its temporary name.
    pub fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let path = linked(path);
        if !is_plain(&path) {
            self.devices.push((path, bytes.to_vec()));
            return Ok(());
        }
        let shown = path.display().to_string();
        let part = TemporaryFile::new(path);
        std::fs::write(&part.part, bytes).map_err(|e| cannot_write(&shown, &e))?;
        self.parts.push(part);
        Ok(())
    }

    /// Make the folder of a file where there is none.
    pub fn make_folder_of(&mut self, path: &Path) -> Result<(), Failure> {
        let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) else { return Ok(()) };
        let missing: Vec<PathBuf> = folder.ancestors().take_while(|p| !p.exists()).map(Path::to_path_buf).collect();
        self.folders.extend(missing.into_iter().filter(|p| !p.as_os_str().is_empty()).rev());
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::Output(format!("cannot make the folder {}: {e}", folder.display())))
    }

    /// Give all files their names.
    pub fn settle(mut self) -> Result<(), Failure> {
        for (path, bytes) in std::mem::take(&mut self.devices) {
            let done = std::fs::OpenOptions::new().write(true).open(&path).and_then(|mut f| f.write_all(&bytes));
            quietly(done, &path.display().to_string())?;
        }
        for part in std::mem::take(&mut self.parts) {
            let shown = part.to.display().to_string();
            part.settle().map_err(|e| cannot_write(&shown, &e))?;
        }
        self.folders.clear();
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.parts.clear();
        for folder in self.folders.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

fn cannot_write(path: &str, e: &std::io::Error) -> Failure {
    Failure::Output(format!("cannot write {path}: {e}"))
}

/// A reader that has gone away is no failure.
fn quietly(done: std::io::Result<()>, path: &str) -> Result<(), Failure> {
    match done {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(cannot_write(path, &e)),
        _ => Ok(()),
    }
}

/// An answer that is written piece by piece: to standard output, or to a file that is there whole or not at all.
pub struct Pieces {
    to: Box<dyn std::io::Write>,
    part: Option<TemporaryFile>,
    shown: String,
    gone: bool,
}

impl Output {
    /// Begin an answer that is written piece by piece.
    pub fn pieces(&self) -> Result<Pieces, Failure> {
        let Some(path) = &self.output else {
            let to = Box::new(std::io::BufWriter::new(Out));
            return Ok(Pieces { to, part: None, shown: "the answer".to_owned(), gone: false });
        };
        let path = linked(path);
        let shown = path.display().to_string();
        let (file, part) = if is_plain(&path) {
            let part = TemporaryFile::new(path);
            (std::fs::File::create(&part.part), Some(part))
        } else {
            (std::fs::OpenOptions::new().write(true).open(&path), None)
        };
        let file = file.map_err(|e| cannot_write(&shown, &e))?;
        Ok(Pieces { to: Box::new(std::io::BufWriter::new(file)), part, shown, gone: false })
    }
}

/// Bytes that wait in a file beside the answer until they can be written; they go away with it.
pub struct Spool {
    to: std::io::BufWriter<std::fs::File>,
    part: TemporaryFile,
}

impl Output {
    /// Begin a file of waiting bytes, the `k`th.
    pub fn spool(&self, k: usize) -> Result<Spool, Failure> {
        let mut name = self.output.as_deref().map_or(std::ffi::OsString::new(), |p| linked(p).into_os_string());
        name.push(format!(".{k}"));
        let part = TemporaryFile::new(PathBuf::from(name));
        let file = std::fs::File::create(&part.part).map_err(|e| cannot_write(&part.to.display().to_string(), &e))?;
        Ok(Spool { to: std::io::BufWriter::new(file), part })
    }
}

impl Spool {
    /// Add bytes, and leave none in memory.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let done = self.to.write_all(bytes).and_then(|()| self.to.flush());
        done.map_err(|e| cannot_write(&self.part.to.display().to_string(), &e))
    }

    /// All bytes from the beginning.
    pub fn reader(&self) -> std::io::Result<impl std::io::Read + use<>> {
        std::fs::File::open(&self.part.part)
    }
}

impl Pieces {
    /// Let something write the rest.
    pub fn put(&mut self, write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<(), Failure> {
        if self.gone { Ok(()) } else { quietly(write(&mut *self.to), &self.shown) }
    }

    /// Write a piece; a reader that has gone away ends it quietly.
    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.gone {
            return Ok(());
        }
        let done = self.to.write_all(text.as_bytes());
        self.gone = done.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe);
        quietly(done, &self.shown)
    }

    /// Whether nobody reads on.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// The answer is whole.
    pub fn finish(mut self) -> Result<(), Failure> {
        let done = if self.gone { Ok(()) } else { self.to.flush() };
        let done = done.and_then(|()| self.part.take().map_or(Ok(()), TemporaryFile::settle));
        quietly(done, &self.shown)
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
    print_text(&format!("{}\n", encode::json(&format!("{document:#}"))))
}

/// Print, and end quietly when the reader has gone away.
fn print_text(text: &str) -> Result<(), Failure> {
    quietly(Out.write_all(text.as_bytes()).and_then(|()| Out.flush()), "the answer")
}

/// Write a file so that it is there whole or not at all. Links are followed; devices and pipes are written as they are.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut files = Files::default();
    files.add(path, bytes)?;
    files.settle()
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
