//! `gough`: the dynamics of parallel robots from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gough_cli::run(&std::env::args_os().collect::<Vec<_>>()))
}
