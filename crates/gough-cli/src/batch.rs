//! Many states one after the other: read as they come, answered on all cores, written in order. Memory does not grow with
//! their number.

use crate::encode;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::source::{Raw, RawStates, States};
use crate::states::AskedState;
use crate::streams::{self, tell_line};
use crate::table::{AnswerTable, Column, TableForm, Told};
use gough::batch::each;
use serde_json::Value;

/// How many documents are made at a time.
const CHUNK: usize = 2048;
/// How many rows of a table are made at a time.
const BLOCK: usize = 1 << 15;

/// What is written for one state.
pub struct StateAnswer {
    pub text: String,
    pub refused: bool,
    pub misuse: bool,
}

/// What stands around the answers.
pub struct Envelope<'a> {
    /// As JSON the document is this with the answers, one per line, as `states`, and how many there are.
    pub head: Value,
    /// First lines of the text.
    pub heading: String,
    /// Last lines of the text, made when all is done.
    pub notes: &'a dyn Fn(usize) -> String,
    /// How many states the file has; asked for when the answers end before it does.
    pub total: &'a dyn Fn() -> Option<usize>,
}

/// Answer all states by documents: one after the other, or as lines of JSON. Ctrl-C ends it: what is done is kept, and the
/// document and the exit status say that it is not all.
pub fn run<T: Sync>(
    mut states: Box<dyn Iterator<Item = Result<T, String>> + Send + '_>,
    form: TableForm,
    frame: &Envelope<'_>,
    output: &Output,
    answer: &(dyn Fn(usize, &Result<T, String>) -> StateAnswer + Sync),
) -> Result<(), Failure> {
    interrupt::look();
    let bar = bar();
    let mut out = output.pieces()?;
    let (json, lines) = (output.json, form == TableForm::Lines);
    if json {
        let text = encode::json(&frame.head.to_string());
        out.write(&format!("{},\n\"states\": [\n", text.strip_suffix('}').unwrap_or(&text)))?;
    } else if !lines {
        out.write(&encode::terminal(&frame.heading))?;
    }
    let mut count = Tally::default();
    loop {
        let chunk: Vec<Result<T, String>> = states.by_ref().take(CHUNK).collect();
        if chunk.is_empty() || out.is_gone() {
            break;
        }
        let one = |i: usize, state: &Result<T, String>| answer(count.done + i, state);
        let answers = each(&chunk, one, |_| !interrupt::asked());
        let waiting = chunk.len() - answers.len();
        for one in answers {
            if json && count.done > 0 {
                out.write(",\n")?;
            }
            out.write(&if json || lines { encode::json(&one.text) } else { encode::terminal(&one.text) })?;
            if lines {
                out.write("\n")?;
            }
            count.add(one.refused, one.misuse);
        }
        bar.set_position(count.done as u64);
        if waiting > 0 {
            let of = (frame.total)();
            bar.finish_and_clear();
            if json {
                out.write(&tail(count.done, count.refused, of))?;
            } else if !lines {
                out.write(&format!("interrupted: {}\n", count.of(of)))?;
            }
            out.finish()?;
            return Err(count.interrupted(of));
        }
    }
    bar.finish_and_clear();
    let Tally { done, refused, .. } = count;
    if json {
        out.write(&tail(done, refused, Some(done)))?;
    } else if !lines {
        out.write(&encode::terminal(&(frame.notes)(done)))?;
    }
    out.finish()?;
    count.ended()
}

/// What answers many states at once.
pub type Answerer<'a> = dyn Fn(&[Result<AskedState, String>]) -> Vec<Told> + Sync + 'a;

/// Answer all states by rows of a table; `rows` answers many at once.
pub fn table(
    (mut source, states): (RawStates, States<'_>),
    (form, columns): (TableForm, &[Column]),
    (output, total): (&Output, &dyn Fn() -> Option<usize>),
    rows: &Answerer<'_>,
) -> Result<(), Failure> {
    interrupt::look();
    let bar = bar();
    let mut table = AnswerTable::begin(form, columns, output)?;
    let mut count = Tally::default();
    let mut block: Vec<Raw> = source.by_ref().take(BLOCK).collect();
    while !block.is_empty() && !table.is_gone() {
        let answer = || {
            let read = each(&block, |_, raw| states.state(raw), |_| true);
            if interrupt::asked() { Vec::new() } else { rows(&read) }
        };
        // The next states are read while these are answered.
        let (told, next) = rayon::join(answer, || source.by_ref().take(BLOCK).collect::<Vec<Raw>>());
        for (i, one) in told.iter().enumerate().filter_map(|(i, one)| Some((i, one.as_ref().err()?))) {
            count.first.get_or_insert_with(|| format!("state {}: {one}", count.done + i + 1));
            count.misuse |= one.is_misuse();
            count.refused += 1;
        }
        count.done += told.len();
        table.write(&told)?;
        bar.set_position(count.done as u64);
        if told.len() < block.len() {
            let of = total();
            bar.finish_and_clear();
            table.finish()?;
            return Err(count.interrupted(of));
        }
        block = next;
    }
    bar.finish_and_clear();
    table.finish()?;
    count.ended()
}

/// Rows of states that are answered one by one.
pub fn rows(
    states: &[Result<AskedState, String>],
    one: &(dyn Fn(&Result<AskedState, String>) -> Told + Sync),
) -> Vec<Told> {
    each(states, |_, state| one(state), |_| !interrupt::asked())
}

/// How many states were answered.
#[derive(Default)]
struct Tally {
    done: usize,
    refused: usize,
    misuse: bool,
    /// The first refusal, where it is not in the answer.
    first: Option<String>,
}

impl Tally {
    fn add(&mut self, refused: bool, misuse: bool) {
        self.done += 1;
        self.refused += usize::from(refused);
        self.misuse |= misuse;
    }

    fn of(&self, of: Option<usize>) -> String {
        let words = of.map_or("more".to_owned(), |of| of.to_string());
        format!("{} of {words} states", self.done)
    }

    fn interrupted(&self, of: Option<usize>) -> Failure {
        tell_line!("interrupted: {} were answered and kept", self.of(of));
        Failure::Silent(interrupt::status())
    }

    fn ended(&self) -> Result<(), Failure> {
        let Self { done, refused, misuse, first } = self;
        if *refused > 0 {
            tell_line!("{refused} of {done} states have no answer");
        }
        if let Some(first) = first {
            tell_line!("{}", encode::terminal(first));
        }
        if refused == done { Err(Failure::Silent(if *misuse { 2 } else { 1 })) } else { Ok(()) }
    }
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
    if !streams::are_watched() {
        return indicatif::ProgressBar::hidden();
    }
    let bar = indicatif::ProgressBar::no_length();
    let style = indicatif::ProgressStyle::with_template("{spinner} {pos} states, {per_sec}, {elapsed}");
    style.map_or(bar.clone(), |s| bar.with_style(s))
}
