//! States and trajectory files, damaged: every line is answered or told, nothing is silently taken for something else.

use super::Session;
use super::program::{Program, damage, pick};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt::Write as _;

const PIECES: [&str; 22] = [
    ",",
    "\n",
    "\"",
    "nan",
    "inf",
    "1e400",
    "-1e308",
    "5 kg",
    "3 mm/s",
    "30deg",
    "#",
    "",
    " ",
    "=1+1",
    "\u{1b}[2J",
    "\u{feff}",
    "{",
    "]",
    "null",
    "\"pose\"",
    "0x10",
    "1/0",
];

/// Columns that may stand in a file; not all go together.
const COLUMNS: [&str; 18] = [
    "t", "x", "y", "z", "phi", "xd", "yd", "phid", "xdd", "ydd", "q11", "q21", "q11d", "tau_11", "tau_21", "wz",
    "roll", "qw",
];

pub fn run(session: &mut Session) -> Result<(), String> {
    let program = Program::new(session)?;
    let mut random = Pcg64Mcg::seed_from_u64(session.seed);
    let (mut files, mut good) = (0_u64, 0_u64);
    while session.goes_on() {
        let robot = pick(&["five-bar", "3-rpr", "gough-stewart", "dual-emps"], &mut random);
        let kind = pick(&["csv", "jsonl", "json", "trajectory.csv"], &mut random);
        let mut bytes = if kind.ends_with("csv") { table(&mut random) } else { list(kind, &mut random) }.into_bytes();
        if random.random_bool(0.7) {
            damage(&mut bytes, &PIECES, &mut random);
        }
        let path = program.file(&format!("fuzz.{kind}"), &bytes)?;
        let asked: Vec<String> = match kind {
            "trajectory.csv" => vec!["idm".into(), robot.into(), "--trajectory".into(), path],
            _ => vec![pick(&["idm", "ddm", "kinematics"], &mut random).into(), robot.into(), "--states".into(), path],
        };
        let asked = if random.random_bool(0.5) { [asked, vec!["--json".into()]].concat() } else { asked };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let outcome = program.ask(&asked).map_err(|why| session.keep(&text, &why))?;
        good += u64::from(outcome.status == Some(0));
        files += 1;
    }
    println!("{files} files, {good} answered: every one an answer or a refusal");
    Ok(())
}

fn number(random: &mut Pcg64Mcg) -> String {
    match random.random_range(0..8) {
        0 => pick(&PIECES, random).to_owned(),
        1 => format!("{} mm", random.random_range(-300..300)),
        _ => format!("{:.4}", random.random_range(-0.4..0.4)),
    }
}

fn table(random: &mut Pcg64Mcg) -> String {
    let mut columns = vec!["x", "y"];
    for _ in 0..random.random_range(0..5) {
        columns.push(pick(&COLUMNS, random));
    }
    let mut out = columns.join(",") + "\n";
    for _ in 0..random.random_range(0..6) {
        let cells: Vec<String> = columns.iter().map(|_| number(random)).collect();
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

fn list(kind: &str, random: &mut Pcg64Mcg) -> String {
    let one = |random: &mut Pcg64Mcg| {
        let mut x = || random.random_range(-0.4..0.4);
        let (a, b, c) = (x(), x(), x());
        match random.random_range(0..4) {
            0 => format!("{{\"pose\": {{\"p\": [{a:.3}, {b:.3}, 0]}}, \"twist\": [{c:.3}, 0]}}"),
            1 => format!("{{\"pose\": {{\"p\": [{a:.3}, {b:.3}, 0], \"phi\": {c:.3}}}, \"joints\": {{\"q1s\": 0.1}}}}"),
            2 => format!("{{\"pose\": {{\"p\": [{a:.3}, {b:.3}, 1], \"quaternion\": [1, 0, {c:.3}, 0]}}}}"),
            _ => format!("{{\"pose\": {{\"p\": [{a:.3}, 0.3, 0]}}, \"efforts\": [{b:.3}, 1e300]}}"),
        }
    };
    let states: Vec<String> = (0..random.random_range(0..5)).map(|_| one(random)).collect();
    if kind == "json" { format!("[{}]", states.join(",\n")) } else { states.join("\n") }
}
