//! The library's side of `cargo xtask peers`: `peers export FOLDER` writes robots, states and generated code for other
//! programs, `peers time` times the library on the same states and prints JSON.
#![allow(non_snake_case)]

use gough::codegen::{CodeOptions, Generated, Group, Language, generate};
use gough::dynamics::Dynamics;
use gough::elastodynamics::motion::{FlexibleRobot, Given};
use gough::elastodynamics::{Actuators, Vibration};
use gough::kinematics::SolveError;
use gough::simulation::{FlexibleLaw, FlexibleOptions, simulate_flexible};
use gough::{ModelKind, Robot, batch};
use gough_bench::frame::{beams, frame};
use gough_bench::rigid::{State, case, states};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Robots whose rigid dynamics is compared.
const RIGID: [&str; 4] = ["gough-stewart", "five-bar", "orthoglide", "delta"];
/// The robot whose efforts are differentiated too.
const DIFFERENTIATED: &str = "gough-stewart";
/// Robots of beams whose frequencies are compared; one that does not come with the library is left out.
const ELASTIC: [(&str, Actuators); 2] = [("navaro", Actuators::Locked), ("five-bar-flexible", Actuators::Elastic)];
const STATES: usize = 128;
/// States of one batch: those 128 again and again.
const MANY: usize = 100_000;
/// The robot that vibrates freely, sliders held, and how far its first beam is bent before.
const SWINGING: &str = "dual-emps";
const DEFLECTION: [f64; 2] = [2e-3, 5e-3];
/// How long it does, and how often it is looked at.
const SECONDS: f64 = 1.0;
const SAMPLES: usize = 500;
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
    gough::Robot::shipped(name).map_err(|e| e.to_string())
}

fn export(folder: &Path) -> Result<(), String> {
    for name in RIGID {
        let robot = robot(name)?;
        let states = states(&robot, STATES);
        let mut data = case(&robot, &states).map_err(|e| e.to_string())?;
        let mut code = vec![emitted(&robot, "idm", &[], &states, folder)?];
        if name == DIFFERENTIATED {
            let by = ["pose", "twist", "acceleration"];
            code.push(emitted(&robot, "idm and its Jacobian", &by, &states, folder)?);
        }
        data["code"] = code.into();
        write(&folder.join(format!("{name}.json")), &data)?;
    }
    for (name, _) in ELASTIC {
        let robot = robot(name)?;
        let mut data = frame(&robot, robot.home())?;
        data["frequencies_hz"] = frequencies(name);
        write(&folder.join(format!("{name}.json")), &data)?;
    }
    write(&folder.join(format!("{SWINGING}.json")), &swinging()?)
}

/// What the robot that vibrates is made of, and its tool point as the library finds it.
fn swinging() -> Result<Value, String> {
    let robot = robot(SWINGING)?;
    let model = robot.model();
    let (topology, numbers) = (model.topology(), model.numbers());
    let body = |name: &str| topology.bodies.iter().find(|(_, b)| b.name == name).map(|(id, _)| &numbers.bodies[id]);
    let at = |name: &str| body(name).map(|b| b.X_PF.p.x).ok_or_else(|| format!("{SWINGING} has no body {name}"));
    let mut bodies = serde_json::Map::new();
    for name in ["12", "14", "17", "22", "24"] {
        let own = body(name).map(|b| &b.inertia).ok_or_else(|| format!("{SWINGING} has no body {name}"))?;
        bodies.insert(name.to_owned(), json!({ "mass": own.m, "first_moment": own.ms.x, "inertia": own.I_o[(2, 2)] }));
    }
    let (positions, _) = Swing::new(&robot)?.over(1e-6)?;
    Ok(json!({
        "robot": SWINGING, "bodies": bodies, "beams": beams(&robot),
        "base": at("21")?, "root": at("13")?, "elbow": at("15")?, "hand": at("16")?, "point": at("18")?,
        "deflection": DEFLECTION, "time": SECONDS, "samples": SAMPLES, "positions": positions,
    }))
}

/// Free vibration.
struct Swing<'a> {
    robot: &'a Robot,
    flexible: FlexibleRobot<'a>,
}

impl<'a> Swing<'a> {
    fn new(robot: &'a Robot) -> Result<Self, String> {
        let flexible = FlexibleRobot::new(robot.model(), robot.home()).map_err(|e| e.to_string())?;
        Ok(Self { robot, flexible })
    }

    /// Tool point over time, and nanoseconds that the simulation took.
    fn over(&mut self, tolerance: f64) -> Result<(Vec<[f64; 2]>, f64), String> {
        let began = Instant::now();
        let given = Given::Active { q: vec![0.0; 2], qd: vec![0.0; 2] };
        let mut elastic = vec![0.0; 9];
        elastic[1..3].copy_from_slice(&DEFLECTION);
        let start = self.flexible.state(self.robot.home(), &given, &elastic, &[]).map_err(|e| e.to_string())?;
        let every = SECONDS / SAMPLES as f64;
        let options = FlexibleOptions { tolerance, every, ..FlexibleOptions::lasting(SECONDS) };
        let mut positions = Vec::with_capacity(SAMPLES + 1);
        let mut look = |i: &gough::simulation::FlexibleInstant| {
            positions.push([i.position[0], i.position[1]]);
            true
        };
        let mode = self.robot.mode();
        simulate_flexible(&mut self.flexible, mode, &start, &FlexibleLaw::Held, &options, &mut look)
            .map_err(|e| e.to_string())?;
        Ok((positions, began.elapsed().as_secs_f64() * 1e9))
    }

    /// Best and median time, and how far the tool point is from that of a closer tolerance, root of mean squares.
    fn row(&mut self) -> Result<Value, String> {
        let exact = self.over(1e-8)?.0;
        let (found, _) = self.over(1e-6)?;
        let mean = [0, 1].map(|k| exact.iter().map(|p| p[k]).sum::<f64>() / exact.len() as f64);
        let square = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
        let off: f64 = found.iter().zip(&exact).map(|(a, b)| square(a, b)).sum();
        let size: f64 = exact.iter().map(|a| square(a, &mean)).sum();
        let mut turns = (0..5).map(|_| Ok(self.over(1e-6)?.1)).collect::<Result<Vec<_>, String>>()?;
        turns.sort_by(f64::total_cmp);
        Ok(json!({
            "robot": SWINGING, "task": "1 s of vibration", "by": "gough",
            "best_ns": turns[0], "median_ns": turns[2], "error": (off / size).sqrt(),
        }))
    }
}

/// Inverse dynamics as C, in a folder of its own, and the states as its inputs.
fn emitted(robot: &Robot, task: &str, by: &[&str], states: &[State], folder: &Path) -> Result<Value, String> {
    let mut options = CodeOptions::new(ModelKind::Idm, Language::C);
    options.derivatives = by.iter().map(|word| (*word).to_owned()).collect();
    let code: Generated = generate(robot, &options).map_err(|e| e.to_string())?;
    let place = folder.join("code").join(format!("{} {task}", robot.model().topology().name).replace(' ', "-"));
    std::fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    for file in &code.files {
        std::fs::write(place.join(&file.name), &file.text).map_err(|e| format!("{}: {e}", file.name))?;
    }
    // The same formulas for another tracer, without derivatives.
    if !by.is_empty() {
        let plain = generate(robot, &CodeOptions::new(ModelKind::Idm, Language::Python)).map_err(|e| e.to_string())?;
        for file in &plain.files {
            std::fs::write(place.join(&file.name), &file.text).map_err(|e| format!("{}: {e}", file.name))?;
        }
    }
    let sizes = |groups: &[Group]| groups.iter().map(|g| g.entries.len()).collect::<Vec<_>>();
    let by_matrix = sizes(&code.inputs)[0] == 12;
    let rows: Vec<_> = states.iter().map(|s| inputs(robot, by_matrix, s, &s.td_r)).collect();
    Ok(json!({
        "task": task, "folder": place, "function": code.function,
        "inputs": sizes(&code.inputs), "outputs": sizes(&code.outputs), "rows": rows,
    }))
}

/// A state as the inputs of a program: pose, twist, and what is given with them.
fn inputs(robot: &Robot, by_matrix: bool, state: &State, given: &[f64]) -> Vec<f64> {
    let X = &state.pose;
    let matrix = || X.p.iter().chain(X.R.0.transpose().iter()).copied().collect();
    [if by_matrix { matrix() } else { robot.coordinates_of(X) }, state.t_r.clone(), given.to_vec()].concat()
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
        rows.push(row([name, "idm", "gough"], &states, |s| &s.efforts, |s, out| solver.efforts(s, out)));
        rows.extend(compiled(&robot, [name, "idm"], &states)?);
        rows.push(row([name, "ddm", "gough"], &states, |s| &s.other_td_r, |s, out| solver.accelerations(s, out)));
        rows.extend(compiled(&robot, [name, "ddm"], &states)?);
    }
    for (name, actuators) in ELASTIC {
        rows.extend(vibrations(name, &robot(name)?, actuators)?);
    }
    rows.push(Swing::new(&robot(SWINGING)?)?.row()?);
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

/// Machine code that the library makes in memory: one state after the other, and a batch on one thread.
fn compiled(robot: &Robot, [name, task]: [&str; 2], states: &[State]) -> Result<[Value; 2], String> {
    let inverse = task == "idm";
    let kind = if inverse { ModelKind::Idm } else { ModelKind::Ddm };
    let wanted = |s: &State| if inverse { s.efforts.clone() } else { s.other_td_r.clone() };
    let program = robot.program(kind).map_err(|e| e.to_string())?;
    let by_matrix = program.inputs()[0].entries.len() == 12;
    let given = |s: &State| if inverse { s.td_r.clone() } else { s.other_efforts.clone() };
    let inputs: Vec<_> = states.iter().map(|s| inputs(robot, by_matrix, s, &given(s))).collect();
    let mut single = program.one_by_one();
    let mut error = 0.0_f64;
    for (state, x) in states.iter().zip(&inputs) {
        error = error.max(apart(single.answer(x).map_err(|e| e.to_string())?, &wanted(state)));
    }
    let turn = || inputs.iter().filter(|x| black_box(single.answer(black_box(x.as_slice()))).is_ok()).count();
    let one_by_one = timed([name, task, "gough, compiled, one by one"], states.len(), error, turn);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| e.to_string())?;
    let many = states.iter().cycle().take(MANY);
    let (mode, efforts, accelerations) = (robot.mode(), batch::efforts, batch::accelerations);
    let moving: Vec<_> = many.clone().map(|s| batch::State { pose: &s.pose, t_r: &s.t_r, td_r: &s.td_r }).collect();
    let driven: Vec<_> =
        many.map(|s| batch::Driven { pose: &s.pose, t_r: &s.t_r, efforts: &s.other_efforts }).collect();
    let answers = || {
        one.install(|| {
            if inverse {
                efforts(robot, mode, None, black_box(&moving), |_| true).efforts
            } else {
                accelerations(robot, mode, None, black_box(&driven), |_| true).accelerations
            }
        })
    };
    let (found, width) = (answers(), wanted(&states[0]).len());
    let error = found.chunks(width).zip(states.iter().cycle()).map(|(x, s)| apart(x, &wanted(s))).fold(0.0, f64::max);
    let batch = timed([name, task, "gough, batch"], MANY, error, || black_box(answers()).len());
    Ok([one_by_one, batch])
}

/// A row of a call that goes through so many states.
fn timed([robot, task, by]: [&str; 3], states: usize, error: f64, mut turn: impl FnMut() -> usize) -> Value {
    let (start, mut turns) = (Instant::now(), Vec::new());
    while start.elapsed() < LASTS || turns.len() < 5 {
        let began = Instant::now();
        black_box(turn());
        turns.push(began.elapsed().as_secs_f64() * 1e9 / states as f64);
    }
    turns.sort_by(f64::total_cmp);
    let (best, median) = (turns[0], turns[turns.len() / 2]);
    json!({ "robot": robot, "task": task, "by": by, "best_ns": best, "median_ns": median, "error": error })
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
    names: [&str; 3],
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
    timed(names, states.len(), error, || {
        for state in states {
            answer(black_box(state), &mut out);
            black_box(&out);
        }
        states.len()
    })
}

/// Largest difference, as a share of the largest wanted number.
fn apart(found: &[f64], wanted: &[f64]) -> f64 {
    let largest = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let miss = found.iter().zip(wanted).fold(0.0_f64, |most, (f, w)| most.max((f - w).abs()));
    if found.len() == wanted.len() { miss / largest } else { f64::INFINITY }
}
