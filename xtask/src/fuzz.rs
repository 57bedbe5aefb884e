//! `cargo xtask fuzz`: robot files, mutated, must be answered: no panic, no hang, no runaway memory.
#![allow(unsafe_code)]

use crate::run::root;
use gough::Robot;
use gough::description::Options;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Most live memory, in bytes.
const MOST_MEMORY: usize = 1 << 30;
/// Longest time for one file.
const LONGEST: Duration = Duration::from_secs(30);

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

pub fn run(seconds: u64) -> Result<(), String> {
    let corpus = corpus()?;
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    println!("{} files to start from, seed {seed}, {seconds} s", corpus.len());
    let end = Instant::now() + Duration::from_secs(seconds);
    let started = Instant::now();
    // What is being read, and since when (milliseconds after the start), for the watch.
    let current = Arc::new(Mutex::new(String::new()));
    let since = Arc::new(AtomicU64::new(0));
    watch(current.clone(), since.clone(), started);
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut files, mut good) = (0_u64, 0_u64);
    while Instant::now() < end {
        let text = mutate(&corpus, &mut random);
        current.lock().map_err(|_| "the watch failed")?.clone_from(&text);
        since.store(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX).max(1), Ordering::Relaxed);
        let read = std::panic::catch_unwind(|| Robot::from_toml("fuzz", &text, &Options::default(), None).is_ok());
        since.store(0, Ordering::Relaxed);
        match read {
            Ok(accepted) => good += u64::from(accepted),
            Err(_) => return Err(keep(&text, "a panic")),
        }
        files += 1;
        if files % 2000 == 0 {
            println!(
                "{files} files, {good} accepted, {} s left",
                end.saturating_duration_since(Instant::now()).as_secs()
            );
        }
    }
    println!("{files} files, {good} accepted: no panic, no hang, no runaway memory");
    Ok(())
}

/// Ends the program when one file takes too long or too much memory, and keeps that file.
fn watch(current: Arc<Mutex<String>>, since: Arc<AtomicU64>, started: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let began = since.load(Ordering::Relaxed);
            let slow = began > 0 && started.elapsed() > Duration::from_millis(began) + LONGEST;
            let large = LIVE.load(Ordering::Relaxed) > MOST_MEMORY;
            if slow || large {
                let text = current.lock().map(|t| t.clone()).unwrap_or_default();
                eprintln!("{}", keep(&text, if slow { "a hang" } else { "runaway memory" }));
                std::process::exit(1);
            }
        }
    });
}

fn keep(text: &str, what: &str) -> String {
    let path = root().join("target/fuzz-failure.toml");
    let _ = std::fs::write(&path, text);
    format!("{what}; the file is {}", path.display())
}

/// Shipped robots, and those of the tests.
fn corpus() -> Result<Vec<String>, String> {
    let mut texts: Vec<String> = gough::robots::names().filter_map(gough::robots::text).map(str::to_owned).collect();
    let folder = root().join("crates/gough/tests/robots");
    for entry in std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        texts.push(std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    Ok(texts)
}

/// Pieces that are likely to matter when they stand in the wrong place.
const PIECES: [&str; 40] = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "\"1/0\"",
    "\"pi/2\"",
    "\"200 mm\"",
    "[0, 0, 0]",
    "[1, 0, 0]",
    "{}",
    "[]",
    "true",
    "\"R\"",
    "\"P\"",
    "\"U\"",
    "\"S\"",
    "\"C\"",
    "\"H\"",
    "\"Pi\"",
    "\"fixed\"",
    "\"base\"",
    "\"platform\"",
    "\"planar\"",
    "\"spatial\"",
    "\"translation\"",
    "\"point\"",
    "[\"z\", \"rx\", \"ry\"]",
    "= ",
    "\"{leg}1\"",
    "range = [-1, 1]",
    "drive = {}",
    "axis = [0, 1, 0]",
    "mass = 1",
    "\"sqrt(-1)\"",
    "\"a^9\"",
    "nan",
    "9999999999999999999",
    "\"\"",
    "\u{e9}",
    "\n[[body]]\n",
];

fn mutate(corpus: &[String], random: &mut Pcg64Mcg) -> String {
    let mut lines: Vec<String> = corpus[random.random_range(0..corpus.len())].lines().map(str::to_owned).collect();
    for _ in 0..random.random_range(1..6) {
        if lines.is_empty() {
            break;
        }
        let i = random.random_range(0..lines.len());
        match random.random_range(0..8) {
            0 => drop(lines.remove(i)),
            1 => {
                let copy = lines[i].clone();
                lines.insert(random.random_range(0..=lines.len()), copy);
            }
            2 => {
                let other = &corpus[random.random_range(0..corpus.len())];
                let rows: Vec<&str> = other.lines().collect();
                lines.insert(i, rows[random.random_range(0..rows.len())].to_owned());
            }
            3 => lines[i] = replace_word(&lines[i], random),
            4 => lines[i] = change_number(&lines[i], random),
            5 => lines[i] = swap_words(&lines[i], random),
            6 => lines[i] = cut(&lines[i], random),
            _ => lines[i] = insert_piece(&lines[i], random),
        }
    }
    lines.join("\n")
}

fn words(line: &str) -> Vec<String> {
    line.split_inclusive([' ', ',', '=', '[', ']', '{', '}']).map(str::to_owned).collect()
}

fn replace_word(line: &str, random: &mut Pcg64Mcg) -> String {
    let mut parts = words(line);
    if !parts.is_empty() {
        let i = random.random_range(0..parts.len());
        PIECES[random.random_range(0..PIECES.len())].clone_into(&mut parts[i]);
    }
    parts.concat()
}

fn swap_words(line: &str, random: &mut Pcg64Mcg) -> String {
    let mut parts = words(line);
    if parts.len() > 1 {
        let (i, j) = (random.random_range(0..parts.len()), random.random_range(0..parts.len()));
        parts.swap(i, j);
    }
    parts.concat()
}

/// Change the digits, the sign or the power of a number.
fn change_number(line: &str, random: &mut Pcg64Mcg) -> String {
    let digits: Vec<usize> = line.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
    if digits.is_empty() {
        return line.to_owned();
    }
    let at = digits[random.random_range(0..digits.len())];
    let new = ["0", "9", "-3", "1e3", "0.001", "7", "00", "12345678"][random.random_range(0..8)];
    format!("{}{new}{}", &line[..at], &line[at + 1..])
}

fn cut(line: &str, random: &mut Pcg64Mcg) -> String {
    let at = random.random_range(0..=line.len());
    line.chars().take(at).collect()
}

fn insert_piece(line: &str, random: &mut Pcg64Mcg) -> String {
    let at = (0..=random.random_range(0..=line.len())).rev().find(|i| line.is_char_boundary(*i)).unwrap_or(0);
    format!("{}{}{}", &line[..at], PIECES[random.random_range(0..PIECES.len())], &line[at..])
}
