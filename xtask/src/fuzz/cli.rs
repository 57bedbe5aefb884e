//! Options drawn at random from those that `--help` names: an answer, or a refusal with a sentence; files whole or not there.

use super::Session;
use super::program::{Program, pick};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const COMMANDS: [&str; 9] =
    ["check", "kinematics", "singularities", "map", "idm", "ddm", "codegen", "simulate", "frequencies"];
const ROBOTS: [&str; 6] = ["five-bar", "3-rpr", "delta", "navaro", "tripteron", "nosuch"];
/// Values that fit some option, and some that fit none.
const VALUES: [&str; 40] = [
    "x=0.05,y=0.25",
    "x=0,y=0,phi=0.1",
    "x=0,y=0,z=-0.6",
    "x=5",
    "z=1,roll=10deg",
    "",
    "=",
    "x",
    "x=nan",
    "x=1e308,y=0",
    "q11=0.3,q21=1",
    "q11=6e306,q21=1",
    "all",
    "+-",
    "-+",
    "+++",
    "0",
    "1",
    "-1",
    "1e-3",
    "1e-320",
    "0.1 s",
    "3 kg",
    "f1",
    "conditioning",
    "reachable",
    "effort",
    "stiffness",
    "x=-0.1:0.1:3,y=0.2:0.3:3",
    "x=0:0",
    "phi=-1:1:4",
    "fx=10,mz=1",
    "mass=1,com=0:0:0.1",
    "kp=400,kd=40",
    "joint-pd",
    "computed-torque",
    "idm",
    "python",
    "elastic",
    "l1=0.3",
];

pub fn run(session: &mut Session) -> Result<(), String> {
    let program = Program::new(session)?;
    let mut random = Pcg64Mcg::seed_from_u64(session.seed);
    let mut options: Vec<(&str, Vec<(String, bool)>)> = Vec::new();
    for command in COMMANDS {
        options.push((command, named(&program.ask(&[command.to_owned(), "--help".to_owned()])?.out)));
    }
    let (mut questions, mut good) = (0_u64, 0_u64);
    while session.goes_on() {
        let (command, known) = &options[random.random_range(0..options.len())];
        let mut asked = vec![(*command).to_owned(), pick(&ROBOTS, &mut random).to_owned()];
        asked.extend(usual(command));
        for _ in 0..random.random_range(0..5) {
            let (option, takes) = &known[random.random_range(0..known.len())];
            asked.push(option.clone());
            if *takes {
                asked.push(value(option, &mut random));
            }
        }
        let outcome = program.ask(&asked).map_err(|why| session.keep(&asked.join(" "), &why))?;
        good += u64::from(outcome.status == Some(0));
        questions += 1;
    }
    println!("{questions} questions, {good} answered: no panic, no hang, nothing half written");
    Ok(())
}

/// What makes a question of a command, half of the time.
fn usual(command: &str) -> Vec<String> {
    let words: &[&str] = match command {
        "kinematics" | "idm" | "ddm" | "singularities" => &["--pose", "x=0.05,y=0.25"],
        "map" => &["--quantity", "conditioning", "--region", "x=-0.1:0.1:3,y=0.2:0.3:3"],
        "codegen" => &["--model", "igm", "--count"],
        "simulate" => &["--time", "0.01"],
        _ => &[],
    };
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// A value; files are small and in the folder, times short.
fn value(option: &str, random: &mut Pcg64Mcg) -> String {
    match option {
        "--output" | "--csv" => pick(&["a", "b.csv", "/dev/null/c", "."], random).to_owned(),
        "--plot" => pick(&["p.svg", "p.svg", "p.pdf", "/dev/null/p.svg"], random).to_owned(),
        "--time" | "--duration" => "0.02".to_owned(),
        "--every" | "--step" | "--period" => pick(&["0.005", "0.01", "0", "-1", "1 kg"], random).to_owned(),
        "--region" => pick(&["x=-0.1:0.1:3,y=0.2:0.3:3", "x=0:0.1:4", "x=0", "phi=0:1:3"], random).to_owned(),
        _ => pick(&VALUES, random).to_owned(),
    }
}

/// Options of a help text, and whether they take a value.
fn named(help: &str) -> Vec<(String, bool)> {
    let line = |l: &str| {
        let l = l.trim();
        let at = l.find("--").filter(|at| *at == 0 || l[..*at].ends_with(", "))?;
        let word: String = l[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let rest = &l[at + word.len()..];
        let takes = rest.starts_with(" <");
        (word.len() > 2 && word != "--help").then_some((word, takes))
    };
    help.lines().filter_map(line).collect()
}
