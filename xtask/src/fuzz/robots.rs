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
/// Laws about branches of legs without closed form, which do not hold for every robot yet: told, but no failure.
const OPEN: [&str; 3] = ["home", "branches", "invariance"];
/// Failures told in full.
const TOLD: usize = 20;

pub fn run(session: &mut Session) -> Result<(), String> {
    let mut tally = Tally::default();
    let mut broken: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
    let mut seed = session.seed;
    std::panic::set_hook(Box::new(|_| {}));
    while session.goes_on() {
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
        seed += 1;
    }
    let _ = std::panic::take_hook();
    println!("{tally}");
    let seeds = |list: &[(u64, String)]| list.iter().take(8).map(|(s, _)| s.to_string()).collect::<Vec<_>>().join(" ");
    let line = |law: &str, list: &[(u64, String)]| format!("{law}: {} robots, seeds {}", list.len(), seeds(list));
    let (open, failed): (Vec<_>, Vec<_>) = broken.iter().partition(|(law, _)| OPEN.contains(*law));
    open.iter().for_each(|(law, list)| println!("does not hold yet: {}", line(law, list)));
    if failed.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = failed.iter().map(|(law, list)| line(law, list)).collect();
    Err(format!("robots break a law; `--seed N` repeats one\n{}", lines.join("\n")))
}
