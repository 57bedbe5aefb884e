//! `cargo xtask test`: everything the continuous integration runs, one line each.

use crate::run::{cargo, program, root};
use std::process::Command;

/// Pictures as PNG are a feature: tests are built once, with it; that the program compiles without is left to clippy.
const PNG: &str = "gough-cli/png";

/// Maps on graphics processors.
const CUDA: &str = "gough-cli/cuda,gough-bench/cuda";

/// How long robots are drawn at random.
const DRAWN_SECONDS: u64 = 60;

/// `full`: generated code of every robot and model, not only of a choice.
pub fn run(full: bool) -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--features", PNG, "--", "-D", "warnings"])?;
    cargo(&["clippy", "-p", "gough-cli", "--all-targets", "--", "-D", "warnings"])?;
    // No machine of the tests has a graphics processor: kernels are compiled for the processor by a test of the library.
    cargo(&[
        "clippy",
        "-p",
        "gough-cli",
        "-p",
        "gough-bench",
        "--all-targets",
        "--features",
        CUDA,
        "--",
        "-D",
        "warnings",
    ])?;
    let (python, octave) = (python()?, octave());
    let mut environment = vec![("GOUGH_PYTHON", python.as_str())];
    environment.extend(octave.map(|name| ("GOUGH_OCTAVE", name)));
    if full {
        environment.push(("GOUGH_FULL", "1"));
    }
    program("cargo", &["test", "--workspace", "--no-fail-fast", "--features", PNG], &environment)?;
    crate::fuzz::kept_robots(DRAWN_SECONDS)?;
    for example in examples()? {
        cargo(&["run", "--quiet", "-p", "gough", "--example", &example])?;
    }
    program("cargo", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    crate::surface::run()?;
    crate::book::run()?;
    unchanged(&["docs/src", "robots"])?;
    let without_octave = "GENERATED MATLAB WAS NOT RUN: there is no Octave; install one (Debian's package is `octave`) and run \
                          this again";
    let notes =
        [octave.is_none().then(|| without_octave.to_owned()), crate::python::run(full)?, crate::viewer::test()?];
    println!("\nall is well");
    notes.iter().flatten().for_each(|note| println!("but {note}"));
    Ok(())
}

/// An Octave on the path.
fn octave() -> Option<&'static str> {
    let answers = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success());
    ["octave-cli", "octave"].into_iter().find(answers)
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
