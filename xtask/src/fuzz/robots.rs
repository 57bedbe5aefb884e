//! Robots drawn at random, held against the laws of mechanics and a plain computation from first principles.

#[path = "../../../crates/gough/tests/all/draw.rs"]
mod draw;
#[path = "../../../crates/gough/tests/all/laws.rs"]
mod laws;
#[path = "../../../crates/gough/tests/all/plain/mod.rs"]
mod plain;

use super::Session;
use laws::{Broken, Tally};
use std::collections::BTreeMap;

/// States asked of each robot.
const STATES: usize = 20;
/// Failures told in full.
const TOLD: usize = 20;

/// Seeds that `cargo xtask test` asks, in this order, for as long as it may.
const KEPT: &str = include_str!("seeds.txt");

/// Robots from the seed of the session on, until the time is up.
pub fn run(session: &mut Session) -> Result<(), String> {
    let first = session.seed;
    ask(session, first..)
}

/// Robots of the seeds that are kept, as many as fit the time.
pub fn run_kept(session: &mut Session) -> Result<(), String> {
    let words = KEPT.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let seeds: Result<Vec<u64>, _> = words.map(str::parse).collect();
    ask(session, seeds.map_err(|e| format!("xtask/src/fuzz/seeds.txt: {e}"))?)
}

fn ask(session: &mut Session, seeds: impl IntoIterator<Item = u64>) -> Result<(), String> {
    let mut tally = Tally::default();
    let mut broken: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
    std::panic::set_hook(Box::new(|_| {}));
    for seed in seeds {
        if !session.goes_on() {
            break;
        }
        let sketch = draw::Sketch::draw(seed);
        let text = sketch.write(&sketch.plainly());
        let asked = session.watched(&text, || laws::check(seed, STATES, &mut tally));
        let outcome = asked.unwrap_or_else(|| Err(Broken { law: "panic", what: sketch.words(), text: text.clone() }));
        if let Err(Broken { law, what, text }) = outcome {
            let list = broken.entry(law).or_default();
            if list.len() < TOLD {
                println!("seed {seed} breaks `{law}`: {what}");
                let _ = session.keep(&text, law);
            }
            list.push((seed, what));
        }
    }
    let _ = std::panic::take_hook();
    println!("{tally}");
    let seeds = |list: &[(u64, String)]| list.iter().take(8).map(|(s, _)| s.to_string()).collect::<Vec<_>>().join(" ");
    let line = |law: &str, list: &[(u64, String)]| format!("{law}: {} robots, seeds {}", list.len(), seeds(list));
    if broken.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = broken.iter().map(|(law, list)| line(law, list)).collect();
    Err(format!("robots break a law; `cargo xtask fuzz robots 1 --seed N` repeats one\n{}", lines.join("\n")))
}
