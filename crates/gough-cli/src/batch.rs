//! Many states one after the other: read as they come, answered on all cores, written in order. Memory does not grow with
//! their number.

use crate::failure::Failure;
use crate::output::Output;
use crate::states::{State, States};
use rayon::prelude::*;
use serde_json::Value;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many are answered at a time.
const CHUNK: usize = 2048;

/// What is written for one state.
pub struct Answer {
    pub text: String,
    pub refused: bool,
    pub misuse: bool,
}

/// Answer all states. As JSON the document is `head` with the answers, one per line, as `states`. Ctrl-C ends it; what is done
/// is kept.
pub fn run(
    mut states: States<'_>,
    head: &Value,
    output: &Output,
    answer: &(dyn Fn(usize, Result<State, String>) -> Answer + Sync),
) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    let bar = bar();
    let mut out = output.pieces()?;
    let json = output.json;
    if json {
        let text = head.to_string();
        out.write(&format!("{},\n\"states\": [\n", text.trim_end_matches('}')))?;
    }
    let (mut done, mut refused, mut misuse) = (0, 0, false);
    loop {
        let chunk: Vec<Result<State, String>> = states.by_ref().take(CHUNK).collect();
        if chunk.is_empty() || stop.load(Ordering::Relaxed) || out.is_gone() {
            break;
        }
        let answers: Vec<Answer> =
            chunk.into_par_iter().enumerate().map(|(i, state)| answer(done + i, state)).collect();
        for one in answers {
            if json && done > 0 {
                out.write(",\n")?;
            }
            out.write(&one.text)?;
            refused += usize::from(one.refused);
            misuse |= one.misuse;
            done += 1;
        }
        bar.set_position(done as u64);
    }
    bar.finish_and_clear();
    if json {
        out.write("\n]}\n")?;
    }
    out.finish()?;
    if stop.load(Ordering::Relaxed) {
        eprintln!("stopped after {done} states");
    }
    if refused > 0 {
        eprintln!("{refused} of {done} states have no answer");
    }
    if refused == done { Err(Failure::Silent(if misuse { 2 } else { 1 })) } else { Ok(()) }
}

/// A count on terminals, nothing elsewhere.
fn bar() -> indicatif::ProgressBar {
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let bar = indicatif::ProgressBar::no_length();
    let style = indicatif::ProgressStyle::with_template("{spinner} {pos} states, {per_sec}, {elapsed}");
    style.map_or(bar.clone(), |s| bar.with_style(s))
}
