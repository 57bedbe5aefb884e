//! Robot files, mutated: each is read or refused, without a panic, a hang or runaway memory.

use super::Session;
use crate::run::root;
use gough::Robot;
use gough::description::ReadOptions;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

pub fn run(session: &mut Session) -> Result<(), String> {
    let corpus = corpus()?;
    println!("{} files to start from", corpus.len());
    let mut random = Pcg64Mcg::seed_from_u64(session.seed);
    let (mut files, mut good) = (0_u64, 0_u64);
    while session.goes_on() {
        let text = mutate(&corpus, &mut random);
        let read = session.watched(&text, || Robot::from_toml("fuzz", &text, &ReadOptions::default(), None).is_ok());
        good += u64::from(read.ok_or_else(|| session.keep(&text, "a panic"))?);
        files += 1;
        if files % 2000 == 0 {
            println!("{files} files, {good} accepted, {} s left", session.seconds_left());
        }
    }
    println!("{files} files, {good} accepted: no panic, no hang, no runaway memory");
    Ok(())
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
