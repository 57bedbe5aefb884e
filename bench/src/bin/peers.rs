//! The library's side of `cargo xtask peers`: `peers export FOLDER` writes robots and states for other programs,
//! `peers time FOLDER` times the library on the same states and prints JSON.
#![allow(non_snake_case)]

use gough::Robot;
use gough::dynamics::Dynamics;
use gough::elastodynamics::{Actuators, Vibration};
use gough::kinematics::SolveError;
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
const ELASTIC: [(&str, Actuators); 2] = [("navaro", Actuators::Locked), ("five-bar-flexible", Actuators::Elastic)];
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
    for (name, _) in ELASTIC {
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
        let mut solver = Solver { robot: &robot, memory: Dynamics::new(robot.model()) };
        rows.push(row(name, "idm", &states, |s| &s.efforts, |s, out| solver.efforts(s, out)));
        rows.push(row(name, "ddm", &states, |s| &s.other_td_r, |s, out| solver.accelerations(s, out)));
    }
    for (name, actuators) in ELASTIC {
        let Some(robot) = gough::robots::load(name) else { continue };
        rows.extend(vibrations(name, &robot.map_err(|e| e.to_string())?, actuators)?);
    }
    println!("{}", Value::from(rows));
    Ok(())
}

/// Frequencies at home, from the pose: the lowest five, and all.
fn vibrations(name: &str, robot: &Robot, actuators: Actuators) -> Result<[Value; 2], String> {
    let (model, home) = (robot.model(), robot.home());
    let mut memory = Vibration::new(model, home, actuators).map_err(|e| e.to_string())?;
    let (pose, mode) = (*home.pose(), robot.mode());
    let wanted = frequencies(name);
    let mut timed = |task: &str, all: bool| {
        let mut turns = Vec::new();
        let start = Instant::now();
        while start.elapsed() < LASTS || turns.len() < 5 {
            let turn = Instant::now();
            for _ in 0..16 {
                memory.take(black_box(&pose), mode).map_err(|e| e.to_string())?;
                let found = if all { memory.all() } else { memory.lowest(5) };
                black_box(found.map_err(|e| e.to_string())?.len());
            }
            turns.push(turn.elapsed().as_secs_f64() * 1e9 / 16.0);
        }
        turns.sort_by(f64::total_cmp);
        let (best, median) = (turns[0], turns[turns.len() / 2]);
        let wanted = wanted.as_array().into_iter().flatten().filter_map(Value::as_f64);
        let error = memory.frequencies().iter().zip(wanted).map(|(f, w)| (f.hz - w).abs() / w).fold(0.0, f64::max);
        Ok::<Value, String>(
            json!({ "robot": name, "task": task, "by": "gough", "best_ns": best, "median_ns": median, "error": error }),
        )
    };
    Ok([timed("lowest 5 frequencies", false)?, timed("all frequencies", true)?])
}

/// The calls that are timed: from the pose of the platform, inverse geometry included.
struct Solver<'a> {
    robot: &'a Robot,
    memory: Dynamics,
}

impl Solver<'_> {
    /// Efforts for the twist and acceleration of a state.
    fn efforts(&mut self, state: &State, out: &mut Vec<f64>) -> Result<(), SolveError> {
        let (model, mode) = (self.robot.model(), self.robot.mode());
        let found = self.memory.inverse(model, &state.pose, mode, &state.t_r, &state.td_r, None)?;
        out.clear();
        out.extend_from_slice(found);
        Ok(())
    }

    /// Acceleration of the platform for the twist and the other efforts of a state.
    fn accelerations(&mut self, state: &State, out: &mut Vec<f64>) -> Result<(), SolveError> {
        let (model, mode) = (self.robot.model(), self.robot.mode());
        let found = self.memory.direct(model, &state.pose, mode, &state.t_r, &state.other_efforts, None)?;
        out.clear();
        out.extend_from_slice(found);
        Ok(())
    }
}

/// How far the timed call is from what was written for the others, and nanoseconds per state.
fn row(
    robot: &str,
    task: &str,
    states: &[State],
    wanted: impl Fn(&State) -> &[f64],
    mut call: impl FnMut(&State, &mut Vec<f64>) -> Result<(), SolveError>,
) -> Value {
    let mut out = Vec::new();
    let mut answer = |s: &State, out: &mut Vec<f64>| call(s, out).expect("these states were answered before");
    let mut error = 0.0_f64;
    for state in states {
        answer(state, &mut out);
        error = error.max(apart(&out, wanted(state)));
    }
    let start = Instant::now();
    let mut turns = Vec::new();
    while start.elapsed() < LASTS || turns.len() < 5 {
        let turn = Instant::now();
        for state in states {
            answer(black_box(state), &mut out);
            black_box(&out);
        }
        turns.push(turn.elapsed().as_secs_f64() * 1e9 / states.len() as f64);
    }
    turns.sort_by(f64::total_cmp);
    let (best, median) = (turns[0], turns[turns.len() / 2]);
    json!({ "robot": robot, "task": task, "by": "gough", "best_ns": best, "median_ns": median, "error": error })
}

/// Largest difference, as a share of the largest wanted number.
fn apart(found: &[f64], wanted: &[f64]) -> f64 {
    let largest = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let miss = found.iter().zip(wanted).fold(0.0_f64, |most, (f, w)| most.max((f - w).abs()));
    if found.len() == wanted.len() { miss / largest } else { f64::INFINITY }
}
