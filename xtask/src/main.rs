//! Chores of the project: `cargo xtask test`, `bench`, `fuzz`, `figures`, `book`, `surface`, `python`, `wasm`, `viewer`, `peers`.
#![allow(non_snake_case)]

mod book;
mod figures;
mod fuzz;
mod peers;
mod python;
mod run;
mod surface;
mod test;
mod viewer;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test [--full]        everything the continuous integration runs; --full: all generated code;
                                 generated MATLAB runs where there is an Octave on the path
cargo xtask bench [FILTER]       criterion benchmarks
cargo xtask fuzz [robots|files|states|cli|names] [SECONDS] [--seed N]
                                 robots drawn at random against the laws, questions nobody would ask (default all, 600 s each)
cargo xtask figures              draw the robots again
cargo xtask book                 build the book, and the tables in it that are generated
cargo xtask surface              public items of the library, held equal to crates/gough/surface.txt
cargo xtask python [--full]      the Python package: wheel, tests with the oldest and newest interpreter, stubs and types
cargo xtask wasm                 the library as a WebAssembly module (target/wasm)
cargo xtask viewer               the page of `gough view`, the module in it (target/viewer; Node.js)
cargo xtask viewer test          page and module alone, in node and in Chromium
cargo xtask viewer bench [ROBOT ..]
                                 how fast and how large the page is (Chromium, drawn in software)
cargo xtask peers [--help]       other programs on the same work: agreement and time (network, minutes)";

/// What was not done is said.
fn told(note: Option<&str>) {
    note.iter().for_each(|note| println!("\n{note}"));
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::run(false),
        ["test", "--full"] => test::run(true),
        ["bench", rest @ ..] => run::cargo(&[&["bench", "-p", "gough-bench", "--"], rest].concat()),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["figures"] => figures::run(),
        ["book"] => book::run(),
        ["surface"] => surface::run(),
        ["python"] => python::run(false).map(|note| told(note.as_deref())),
        ["python", "--full"] => python::run(true).map(|note| told(note.as_deref())),
        ["wasm"] => viewer::wasm().map(|module| println!("{}", module.display())),
        ["viewer"] => viewer::page(),
        ["viewer", "bench", rest @ ..] => viewer::bench(rest),
        ["viewer", "test"] => viewer::test().map(|left| println!("{}", left.unwrap_or_default())),
        ["peers", rest @ ..] => peers::run(rest),
        _ => Err(HELP.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
