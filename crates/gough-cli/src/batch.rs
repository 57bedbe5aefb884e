//! Many states one after the other: read as they come, answered on all cores, written in order. Memory does not grow with
//! their number.

use crate::encode;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use rayon::prelude::*;
use serde_json::Value;
use std::io::IsTerminal as _;

/// How many are answered at a time.
const CHUNK: usize = 2048;

/// What is written for one state.
pub struct Answer {
    pub text: String,
    pub refused: bool,
    pub misuse: bool,
}

/// What stands around the answers.
pub struct Frame<'a> {
    /// As JSON the document is this with the answers, one per line, as `states`, and how many there are.
    pub head: Value,
    /// First lines of the text.
    pub heading: String,
    /// Last lines of the text, made when all is done.
    pub notes: &'a dyn Fn(usize) -> String,
    /// How many states the file has; asked for when the answers end before it does.
    pub total: &'a dyn Fn() -> Option<usize>,
}

/// Answer all states. Ctrl-C ends it: what is done is kept, and the document and the exit status say that it is not all.
pub fn run<T: Send>(
    mut states: Box<dyn Iterator<Item = Result<T, String>> + Send + '_>,
    frame: &Frame<'_>,
    output: &Output,
    answer: &(dyn Fn(usize, Result<T, String>) -> Answer + Sync),
) -> Result<(), Failure> {
    interrupt::look();
    let bar = bar();
    let mut out = output.pieces()?;
    let json = output.json;
    if json {
        let text = encode::json(&frame.head.to_string());
        out.write(&format!("{},\n\"states\": [\n", text.strip_suffix('}').unwrap_or(&text)))?;
    } else {
        out.write(&encode::terminal(&frame.heading))?;
    }
    let (mut done, mut refused, mut misuse) = (0, 0, false);
    loop {
        let chunk: Vec<Result<T, String>> = states.by_ref().take(CHUNK).collect();
        if chunk.is_empty() || out.is_gone() {
            break;
        }
        if interrupt::asked() {
            let of = (frame.total)();
            bar.finish_and_clear();
            let words = of.map_or("more".to_owned(), |of| of.to_string());
            out.write(&if json {
                tail(done, refused, of)
            } else {
                format!("interrupted: {done} of {words} states\n")
            })?;
            out.finish()?;
            eprintln!("interrupted: {done} of {words} states were answered and kept");
            return Err(Failure::Silent(interrupt::status()));
        }
        let answers: Vec<Answer> =
            chunk.into_par_iter().enumerate().map(|(i, state)| answer(done + i, state)).collect();
        for one in answers {
            if json && done > 0 {
                out.write(",\n")?;
            }
            out.write(&if json { encode::json(&one.text) } else { encode::terminal(&one.text) })?;
            refused += usize::from(one.refused);
            misuse |= one.misuse;
            done += 1;
        }
        bar.set_position(done as u64);
    }
    bar.finish_and_clear();
    out.write(&if json { tail(done, refused, Some(done)) } else { encode::terminal(&(frame.notes)(done)) })?;
    out.finish()?;
    if refused > 0 {
        eprintln!("{refused} of {done} states have no answer");
    }
    if refused == done { Err(Failure::Silent(if misuse { 2 } else { 1 })) } else { Ok(()) }
}

/// The end of the document: how many states were looked at, how many of those have no answer, how many the file has.
fn tail(done: usize, refused: usize, of: Option<usize>) -> String {
    let complete = of == Some(done);
    let of = of.map_or("null".to_owned(), |of| of.to_string());
    format!(
        "\n],\n\"count\": {{ \"done\": {done}, \"refused\": {refused}, \"of\": {of} }},\n\"complete\": {complete}}}\n"
    )
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
