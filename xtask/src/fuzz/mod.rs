//! `cargo xtask fuzz [TARGET] [SECONDS] [--seed N]`: questions nobody would ask, until the time is up or one is not
//! answered as it should be. One file per target; a seed repeats a run.
#![allow(unsafe_code)]

mod cli;
mod files;
mod names;
mod program;
mod robots;
mod states;

use crate::run::{program, root};
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A target: its name, what it does, and the work.
type Target = (&'static str, &'static str, fn(&mut Session) -> Result<(), String>);

const TARGETS: [Target; 5] = [
    ("robots", "robots drawn at random, held against the laws of mechanics and a plain computation", robots::run),
    ("files", "robot files, mutated: read or refused, no panic, no hang, no runaway memory", files::run),
    (
        "states",
        "states and trajectory files, damaged: told line by line, units checked, nothing that is not finite",
        states::run,
    ),
    ("cli", "options drawn at random: an answer, a refusal with a sentence, files whole", cli::run),
    ("names", "hostile names and summaries: no order in code, tables, pictures or on terminals", names::run),
];

/// Most live memory, in bytes.
const MOST_MEMORY: usize = 1 << 30;
/// Longest time for one question.
const LONGEST: Duration = Duration::from_mins(2);
/// Set where the program is built to compute fast.
const FAST: &str = "GOUGH_FUZZ_IS_FAST";
/// Seconds when none are given.
const SECONDS: u64 = 600;

/// Reads the arguments and runs one target, or all of them one after the other.
pub fn run(words: &[&str]) -> Result<(), String> {
    if std::env::var_os(FAST).is_none() {
        // Laws are asked thousands of times: worth a build of the project's own crates that computes faster.
        let build = ["run", "--quiet", "--config", "profile.dev.opt-level=1", "--package", "xtask", "--", "fuzz"];
        return program("cargo", &[&build[..], words].concat(), &[(FAST, "1")]);
    }
    let (mut targets, mut seconds, mut seed) = (TARGETS.to_vec(), SECONDS, None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if let Some(target) = TARGETS.iter().find(|t| t.0 == *word) {
            targets = vec![*target];
        } else if *word == "--seed" {
            seed = Some(rest.next().and_then(|n| n.parse().ok()).ok_or_else(help)?);
        } else {
            seconds = word.parse().map_err(|_| help())?;
        }
    }
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    for (name, what, target) in &targets {
        let seed = seed.unwrap_or_else(now);
        println!("{name}: {what}; seed {seed}, {seconds} s");
        target(&mut Session::new(name, seed, seconds))?;
    }
    Ok(())
}

/// Robots of the seeds that are kept, for some seconds: part of `cargo xtask test`.
pub fn kept_robots(seconds: u64) -> Result<(), String> {
    println!("\n== robots drawn at random, {seconds} s");
    robots::run_kept(&mut Session::new("robots", 0, seconds))
}

fn help() -> String {
    let list: String = TARGETS.iter().map(|(name, what, _)| format!("  {name:8} {what}\n")).collect();
    format!(
        "cargo xtask fuzz [TARGET] [SECONDS] [--seed N]; all targets one after the other when none is named\n{list}"
    )
}

/// One run of a target: how long it may take, and what is being asked, for the watch.
pub struct Session {
    pub seed: u64,
    name: &'static str,
    end: Instant,
    started: Instant,
    current: Arc<Mutex<String>>,
    /// Milliseconds after the start; zero between questions.
    since: Arc<AtomicU64>,
}

impl Session {
    fn new(name: &'static str, seed: u64, seconds: u64) -> Self {
        let started = Instant::now();
        let session = Self {
            seed,
            name,
            end: started + Duration::from_secs(seconds),
            started,
            current: Arc::default(),
            since: Arc::default(),
        };
        session.watch();
        session
    }

    /// Whether there is time for another question.
    pub fn goes_on(&self) -> bool {
        Instant::now() < self.end
    }

    /// Time that is left.
    pub fn seconds_left(&self) -> u64 {
        self.end.saturating_duration_since(Instant::now()).as_secs()
    }

    /// Asks under the watch; `None` for a panic. `text` is kept when the question never ends.
    pub fn watched<T>(&self, text: &str, ask: impl FnOnce() -> T) -> Option<T> {
        if let Ok(mut current) = self.current.lock() {
            text.clone_into(&mut current);
        }
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since.store(now.max(1), Ordering::Relaxed);
        let answer = std::panic::catch_unwind(AssertUnwindSafe(ask)).ok();
        self.since.store(0, Ordering::Relaxed);
        answer
    }

    /// Keeps what failed; a message that says where.
    pub fn keep(&self, text: &str, what: &str) -> String {
        keep(self.name, text, what)
    }

    /// Ends the program when one question takes too long or too much memory, and keeps it.
    fn watch(&self) {
        let (current, since, started, name) = (self.current.clone(), self.since.clone(), self.started, self.name);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let began = since.load(Ordering::Relaxed);
                let slow = began > 0 && started.elapsed() > Duration::from_millis(began) + LONGEST;
                let large = LIVE.load(Ordering::Relaxed) > MOST_MEMORY;
                if slow || large {
                    let text = current.lock().map(|t| t.clone()).unwrap_or_default();
                    eprintln!("{}", keep(name, &text, if slow { "a hang" } else { "runaway memory" }));
                    std::process::exit(1);
                }
            }
        });
    }
}

fn keep(target: &str, text: &str, what: &str) -> String {
    let path = root().join(format!("target/fuzz-{target}-failure.toml"));
    let _ = std::fs::write(&path, text);
    format!("{what}; what was asked is in {}", path.display())
}

struct Limited;
static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system allocator; only sizes are added up.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;
