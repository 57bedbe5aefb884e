//! Every option of every command: what it goes with, as the book says it, and that some test uses it.

use crate::Arguments;
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn commands() -> Vec<Command> {
    let mut all = Arguments::command();
    all.build();
    all.get_subcommands().filter(|c| c.get_name() != "help").cloned().collect()
}

fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|a| a.get_long().is_some_and(|l| l != "help" && l != "version"))
}

fn name(option: &Arg) -> String {
    format!("--{}", option.get_long().unwrap_or_default())
}

/// The table of the book: for every command and option, what it takes and what it does not go with.
fn table() -> String {
    let mut out = String::from(HEAD);
    for command in commands() {
        let _ = writeln!(out, "\n## {}\n\n| option | takes | not together with |\n|---|---|---|", command.get_name());
        for option in options(&command) {
            let takes = option.get_action().takes_values();
            let takes =
                option.get_value_names().filter(|_| takes).map_or(String::new(), |n| n.join(" ").replace('|', "\\|"));
            let against: BTreeSet<String> = command
                .get_arg_conflicts_with(option)
                .iter()
                .filter(|a| a.get_long().is_some())
                .map(|a| name(a))
                .collect();
            let against: Vec<String> = against.into_iter().map(|n| format!("`{n}`")).collect();
            let _ = writeln!(out, "| `{}` | {takes} | {} |", name(option), against.join(", "));
        }
    }
    out
}

const HEAD: &str = "\
# What options go with

Printed from the program; `cargo test -p gough-cli options` holds it equal. An option that would do nothing is refused, never
ignored. What depends on the value of another option is checked when the question is read:

* `map --wrench` goes with `--quantity effort`, `--stiffness` with `stiffness`, `--actuators`, `--follow` and `--by-order` with
  `f1`, `f2`, ..; `--scale` with quantities that have a value, and needs `--plot`;
* `ddm --friction-width` needs `--friction`;
* `simulate --gravity` goes with `--controller joint-pd`, `--noise` needs `--period`, `--show error` needs a controller;
* `--degrees` is for texts and pictures: JSON and tables stay in radians.
";

#[test]
fn the_table_of_the_book_is_that_of_the_program() {
    let path = repository("docs/src/reference/options.md");
    if std::env::var_os("GOUGH_WRITE_TABLES").is_some() {
        std::fs::write(&path, table()).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, table(), "write it again: GOUGH_WRITE_TABLES=1 cargo test -p gough-cli options");
}

/// Functions of the tests, each as its text.
fn tests() -> Vec<String> {
    let folder = repository("crates/gough-cli/tests/all");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path());
    let texts = files.filter_map(|p| std::fs::read_to_string(p).ok());
    texts.flat_map(|t| t.split("\nfn ").map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Whether an option stands in a test as a word of its own, short or long.
fn stands_in(test: &str, option: &Arg) -> bool {
    let long = name(option);
    let after = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    let short =
        option.get_short().is_some_and(|s| test.contains(&format!("\"-{s}\"")) || test.contains(&format!(" -{s} ")));
    short || test.match_indices(&long).any(|(i, _)| after(&test[i + long.len()..]))
}

#[test]
fn every_option_of_every_command_is_used_by_a_test() {
    let tests = tests();
    let mut unused = Vec::new();
    for command in commands() {
        let called = [format!("\"{}\"", command.get_name()), format!("\"{} ", command.get_name())];
        let own: Vec<&String> = tests.iter().filter(|t| called.iter().any(|c| t.contains(c))).collect();
        let missing = options(&command).filter(|o| !own.iter().any(|t| stands_in(t, o)));
        unused.extend(missing.map(|o| format!("{} {}", command.get_name(), name(o))));
    }
    assert!(unused.is_empty(), "no test uses {}", unused.join(", "));
}
