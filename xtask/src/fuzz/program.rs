//! The program itself, asked as its users do, and what it promises whatever it is asked.

use super::Session;
use crate::run::{cargo, root};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time for one question.
const LONGEST: Duration = Duration::from_mins(1);

/// The program, and a folder of its own to work in.
pub struct Program {
    path: PathBuf,
    pub folder: PathBuf,
}

/// What came of a question.
pub struct Outcome {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Program {
    /// Build the program and make an empty folder.
    pub fn new(session: &Session) -> Result<Self, String> {
        cargo(&["build", "--quiet", "--package", "gough-cli"])?;
        let folder = root().join(format!("target/fuzz-{}", session.seed));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Self { path: root().join("target/debug/gough"), folder })
    }

    /// Write a file into the folder.
    pub fn file(&self, name: &str, bytes: &[u8]) -> Result<String, String> {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path.display().to_string())
    }

    /// Ask; what breaks a promise is an error, with the question.
    pub fn ask(&self, arguments: &[String]) -> Result<Outcome, String> {
        let outcome = self.run(arguments)?;
        let broken =
            |what: &str| Err(format!("{what}: gough {}\n{}\n{}", arguments.join(" "), outcome.out, outcome.err));
        match outcome.status {
            Some(0..=2) => {}
            status => return broken(&format!("exit status {status:?}")),
        }
        if outcome.err.contains("panicked") {
            return broken("a panic");
        }
        if outcome.status != Some(0) && outcome.err.trim().is_empty() {
            return broken("a refusal without a word");
        }
        if [&outcome.out, &outcome.err].iter().any(|text| text.chars().any(obeyed)) {
            return broken("a control character");
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-';
        // What was asked may be quoted.
        let own: String = outcome.out.split('`').step_by(2).collect();
        if own.split(|c: char| !word(c)).any(|w| ["NaN", "-NaN", "inf", "-inf"].contains(&w)) {
            return broken("a number that is not finite");
        }
        if arguments.iter().any(|a| a == "--json") && !outcome.out.is_empty() {
            let read: Result<serde_json::Value, _> = serde_json::from_str(&outcome.out);
            if let Err(e) = read {
                return broken(&format!("no JSON ({e})"));
            }
        }
        if let Some(part) = left_over(&self.folder) {
            return broken(&format!("{} is left", part.display()));
        }
        Ok(outcome)
    }

    fn run(&self, arguments: &[String]) -> Result<Outcome, String> {
        let out = self.folder.join("stdout");
        let err = self.folder.join("stderr");
        let stream = |path: &Path| std::fs::File::create(path).map_err(|e| e.to_string());
        let mut child = Command::new(&self.path)
            .args(arguments)
            .current_dir(&self.folder)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(stream(&out)?)
            .stderr(stream(&err)?)
            .spawn()
            .map_err(|e| e.to_string())?;
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                break status.code();
            }
            if begin.elapsed() > LONGEST {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("a hang: gough {}", arguments.join(" ")));
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        Ok(Outcome { status, out: text(&out), err: text(&err) })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether a terminal would obey the character.
fn obeyed(c: char) -> bool {
    c != '\n' && c != '\t' && !gough::codegen::encode::is_plain(c)
}

/// A file under its temporary name.
fn left_over(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    entries.map(|e| e.path()).find(|path| path.extension().is_some_and(|e| e == "part"))
}

/// One of a list.
pub fn pick<'a, T: ?Sized>(list: &[&'a T], random: &mut Pcg64Mcg) -> &'a T {
    list[random.random_range(0..list.len())]
}

/// Damage some bytes: change, cut, repeat, or put something in their place.
pub fn damage(bytes: &mut Vec<u8>, pieces: &[&str], random: &mut Pcg64Mcg) {
    for _ in 0..random.random_range(1..5) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        let end = (at + random.random_range(0..12)).min(bytes.len());
        match random.random_range(0..5) {
            0 => bytes[at] = random.random_range(0..=255),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.truncate(at),
            3 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => drop(bytes.splice(at..end, pick(pieces, random).bytes())),
        }
    }
}
