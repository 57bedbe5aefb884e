//! `cargo xtask book`: the generated tables, then the book itself.

use crate::run::{cargo, program, root};

const MDBOOK: &str = "0.5.4";

pub fn run() -> Result<(), String> {
    let tables = root().join("docs/src/reference/robot-file-tables.md");
    std::fs::write(&tables, gough::description::reference_page()).map_err(|e| format!("{}: {e}", tables.display()))?;
    let tools = root().join("target/tools");
    let mdbook = tools.join("bin/mdbook");
    if !mdbook.exists() {
        let folder = tools.to_str().ok_or("the path of the repository is not UTF-8")?;
        cargo(&["install", "mdbook", "--version", MDBOOK, "--locked", "--no-default-features", "--root", folder])?;
    }
    program(mdbook.to_str().ok_or("the path of the repository is not UTF-8")?, &["build", "docs"], &[])
}
