//! Running other programs from the root of the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository").to_path_buf()
}

/// Run cargo; an error says which call failed.
pub fn cargo(arguments: &[&str]) -> Result<(), String> {
    program("cargo", arguments, &[])
}

/// Run a program with environment variables.
pub fn program(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let call = format!("{name} {}", arguments.join(" "));
    println!("\n== {call}");
    let status = Command::new(name)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .map_err(|e| format!("{call}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{call} failed")) }
}
