//! `cargo xtask test`: everything the continuous integration runs, one line each.

use crate::run::{cargo, program, root};

pub fn run() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    cargo(&["test", "--workspace"])?;
    for example in examples()? {
        cargo(&["run", "--quiet", "-p", "gough", "--example", &example])?;
    }
    program("cargo", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    crate::book::run()?;
    unchanged(&["docs/src", "robots"])?;
    println!("\nall is well");
    Ok(())
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
