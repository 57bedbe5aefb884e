//! `cargo xtask test`: everything the continuous integration runs, one line each.

use crate::run::{cargo, program, root};
use std::process::Command;

/// `full`: generated code of every robot and model, not only of a choice.
pub fn run(full: bool) -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    let (python, octave) = (python()?, octave());
    let mut environment = vec![("GOUGH_PYTHON", python.as_str())];
    environment.extend(octave.as_ref().ok().map(|name| ("GOUGH_OCTAVE", *name)));
    if full {
        environment.push(("GOUGH_FULL", "1"));
    }
    program("cargo", &["test", "--workspace"], &environment)?;
    for example in examples()? {
        cargo(&["run", "--quiet", "-p", "gough", "--example", &example])?;
    }
    program("cargo", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    crate::book::run()?;
    unchanged(&["docs/src", "robots"])?;
    match octave {
        Ok(_) => println!("\nall is well"),
        Err(why) => println!(
            "\nall is well, but GENERATED MATLAB WAS NOT RUN: there is no Octave, and {why}; install Debian's package \
             `octave`, or another Octave on the PATH, and run this again"
        ),
    }
    Ok(())
}

/// An Octave on the path; where there is none, Debian's is installed by whoever may. Why there is none otherwise.
fn octave() -> Result<&'static str, String> {
    if let Some(name) = octave_on_path() {
        return Ok(name);
    }
    // Mirrors that do not answer are given up soon.
    let apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "Acquire::http::Timeout=20"];
    let packages: [&[&str]; 2] = [&["update"], &["install", "-y", "--no-install-recommends", "octave"]];
    let who: &[&str] = if is_root() { &[] } else { &["sudo", "-n"] };
    for arguments in packages {
        let words = [who, &apt, arguments].concat();
        program(words[0], &words[1..], &[])?;
    }
    octave_on_path().ok_or_else(|| "the package that was installed has none on the PATH".to_owned())
}

fn octave_on_path() -> Option<&'static str> {
    let answers = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success());
    ["octave-cli", "octave"].into_iter().find(answers)
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|done| done.stdout.trim_ascii() == b"0")
}

/// One example per stage, all of them run.
fn examples() -> Result<Vec<String>, String> {
    let folder = root().join("crates/gough/examples");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<String> =
        entries.filter_map(|e| Some(e.ok()?.path().file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// What is generated must be what is kept. Outside a git checkout there is nothing to compare with.
fn unchanged(paths: &[&str]) -> Result<(), String> {
    if !root().join(".git").exists() {
        return Ok(());
    }
    program("git", &[&["diff", "--exit-code", "--stat", "--"], paths].concat(), &[])
}

/// A Python with what generated modules need and are checked with.
fn python() -> Result<String, String> {
    let folder = root().join("target/venv");
    let python = folder.join("bin/python");
    let text =
        |path: &std::path::Path| path.to_str().map(str::to_owned).ok_or("the path of the repository is not UTF-8");
    if !python.exists() {
        program("python3", &["-m", "venv", &text(&folder)?], &[])?;
    }
    let has = Command::new(&python).args(["-c", "import numpy, mypy"]).output();
    if !has.is_ok_and(|done| done.status.success()) {
        program(&text(&python)?, &["-m", "pip", "install", "--quiet", "numpy", "mypy"], &[])?;
    }
    Ok(text(&python)?)
}
