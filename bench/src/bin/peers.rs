//! The library's side of `cargo xtask peers`: `peers export FOLDER` writes robots and states for other programs,
//! `peers time FOLDER` times the library on the same states and prints JSON.
#![allow(non_snake_case)]

use gough::Robot;
use gough::dynamics::{direct_dynamics, inverse_dynamics};
use gough::kinematics::inverse;
use gough_bench::frame::frame;
use gough_bench::rigid::{State, case, states};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Robots whose rigid dynamics is compared.
const RIGID: [&str; 2] = ["gough-stewart", "five-bar"];
/// Robots of beams whose frequencies are compared; one that does not come with the library is left out.
const ELASTIC: [&str; 2] = ["navaro", "five-bar-flexible"];
const STATES: usize = 128;
/// How long one measurement runs.
const LASTS: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["export", folder] => export(Path::new(folder)),
        ["time"] => time(),
        _ => Err("peers export FOLDER | peers time".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn robot(name: &str) -> Result<Robot, String> {
    gough::robots::load(name).ok_or_else(|| format!("no robot named {name}"))?.map_err(|e| e.to_string())
}

fn export(folder: &Path) -> Result<(), String> {
    for name in RIGID {
        let robot = robot(name)?;
        let data = case(&robot, &states(&robot, STATES)).map_err(|e| e.to_string())?;
        write(&folder.join(format!("{name}.json")), &data)?;
    }
    for name in ELASTIC {
        let Some(robot) = gough::robots::load(name) else { continue };
        let robot = robot.map_err(|e| e.to_string())?;
        let mut data = frame(&robot, robot.home())?;
        data["frequencies_hz"] = frequencies(name);
        write(&folder.join(format!("{name}.json")), &data)?;
    }
    Ok(())
}

/// Frequencies at home that the others should find: those of the robot's reference file.
fn frequencies(name: &str) -> Value {
    let reference = gough::robots::reference(name).and_then(|text| serde_json::from_str::<Value>(text).ok());
    reference.map_or(Value::Null, |file| file["poses"][0]["frequencies_hz"].clone())
}

fn write(path: &Path, data: &Value) -> Result<(), String> {
    std::fs::write(path, data.to_string()).map_err(|e| format!("{}: {e}", path.display()))
}

fn time() -> Result<(), String> {
    let mut rows = Vec::new();
    for name in RIGID {
        let robot = robot(name)?;
        let states = states(&robot, STATES);
        rows.push(row(name, "idm", &lasting(&states, |s| efforts(&robot, s))));
        rows.push(row(name, "ddm", &lasting(&states, |s| accelerations(&robot, s))));
    }
    println!("{}", Value::from(rows));
    Ok(())
}

/// Inverse dynamics from the pose, twist and acceleration of the platform, inverse geometry included.
fn efforts(robot: &Robot, state: &State) -> bool {
    let model = robot.model();
    inverse(model, &state.pose, robot.mode())
        .and_then(|posture| inverse_dynamics(model, &posture, &state.t_r, &state.td_r))
        .is_ok()
}

/// Direct dynamics from the pose and twist of the platform and efforts, inverse geometry included.
fn accelerations(robot: &Robot, state: &State) -> bool {
    let model = robot.model();
    inverse(model, &state.pose, robot.mode())
        .and_then(|posture| direct_dynamics(model, &posture, &state.t_r, &state.other_efforts))
        .is_ok()
}

/// Nanoseconds per state, one number for each turn through all states.
fn lasting(states: &[State], mut call: impl FnMut(&State) -> bool) -> Vec<f64> {
    let start = Instant::now();
    let mut turns = Vec::new();
    while start.elapsed() < LASTS || turns.len() < 5 {
        let turn = Instant::now();
        states.iter().for_each(|s| assert!(black_box(call(black_box(s))), "these states were answered before"));
        turns.push(turn.elapsed().as_secs_f64() * 1e9 / states.len() as f64);
    }
    turns
}

fn row(robot: &str, task: &str, turns: &[f64]) -> Value {
    let mut sorted = turns.to_vec();
    sorted.sort_by(f64::total_cmp);
    json!({ "robot": robot, "task": task, "by": "gough", "best_ns": sorted[0], "median_ns": sorted[sorted.len() / 2], "error": 0.0 })
}
