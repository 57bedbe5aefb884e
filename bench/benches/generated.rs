//! Generated C against the library's own `f64` path, from the same platform states: a program in C that times itself is
//! asked turn by turn, between turns of the library, so that both meet the same machine.
#![allow(non_snake_case)]

use gough::Robot;
use gough::codegen::{CodeOptions, Generated, Language, ModelKind, generate};
use gough::dynamics::Dynamics;
use gough::dynamics::drives::{Drives, Freedoms};
use gough::dynamics::points::{AtPoints, PlatformMotion};
use gough::dynamics::reduction::EffortData;
use gough::elastodynamics::Vibration;
use gough::linalg::small::PivotOrder;
use gough::spatial::{Accel, Twist};
use gough_bench::rigid::{State, states};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Instant;

const STATES: usize = 128;
/// Turns of each, alternating, and how often a turn goes through the states.
const TURNS: usize = 60;
const ROUNDS: usize = 40;
const FLAGS: [&str; 3] = ["-std=c99", "-O3", "-march=native"];
const TASKS: [(&str, ModelKind); 3] =
    [("gough-stewart", ModelKind::Idm), ("gough-stewart", ModelKind::Ddm), ("navaro", ModelKind::MassStiffness)];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|w| w == "--test") {
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = words.iter().filter(|w| !w.starts_with('-')).collect();
    let mut heading = Some("generated C (cc -O3 -march=native) and library, ns per call from the pose: best, median");
    for (name, model) in TASKS {
        let title = format!("generated/{name}/{}", model.name());
        if !filters.is_empty() && !filters.iter().any(|f| title.contains(f.as_str())) {
            continue;
        }
        heading.take().into_iter().for_each(|text| println!("{text}"));
        match measured(name, model) {
            Ok(rows) => println!("{title}{rows}"),
            Err(why) => {
                eprintln!("{title}: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Times, their ratios, and how far the answers are apart.
fn measured(name: &str, model: ModelKind) -> Result<String, String> {
    let robot = gough::Robot::shipped(name).map_err(|e| e.to_string())?;
    let states = states(&robot, STATES);
    let code = generate(&robot, &CodeOptions::new(model, Language::C)).map_err(|e| e.to_string())?;
    let mut text = String::new();
    for (way, mut library) in Library::all(&robot, model)? {
        let mut generated = Program::start(&code, states.len())?;
        let error = disagreement(&code, &mut library, &mut generated, &states)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(library.turn(&states)?);
            theirs.push(generated.turn()?);
        }
        let [(best, median), (best_C, median_C)] = [ours, theirs].map(best_and_median);
        let _ = write!(
            text,
            "\n  {way:30} C {best_C:6.0} {median_C:6.0}   library {best:6.0} {median:6.0}   ratio {:.2} {:.2}   apart {error:.0e}",
            best / best_C,
            median / median_C
        );
    }
    Ok(text)
}

fn best_and_median(mut turns: Vec<f64>) -> (f64, f64) {
    turns.sort_by(f64::total_cmp);
    (turns[0], turns[turns.len() / 2])
}

/// Largest difference, as a share of the largest number of the same state and output.
fn disagreement(
    code: &Generated,
    library: &mut Library<'_>,
    generated: &mut Program,
    states: &[State],
) -> Result<f64, String> {
    let mut worst = 0.0_f64;
    for state in states {
        let wanted = library.answer(state, code)?;
        let mut found = generated.answer(&inputs(code, state))?;
        for wanted in wanted {
            let largest = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let rest = found.split_off(wanted.len().min(found.len()));
            let off = found.iter().zip(&wanted).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
            worst = worst.max(off / largest);
            found = rest;
        }
    }
    if worst < 1e-9 { Ok(worst) } else { Err(format!("generated code and library differ by {worst:e}")) }
}

/// The library's way, memory kept from call to call.
enum Library<'a> {
    /// With legs side by side in lanes.
    Lanes(&'a Robot, ModelKind, Box<Dynamics>),
    /// Inverse dynamics on `f64`, leg after leg.
    Plain(&'a Robot, Box<Plain>),
    Flexible(&'a Robot, Box<Vibration>),
}

struct Plain {
    legs: AtPoints<f64>,
    efforts: EffortData<f64>,
    drives: Drives<f64>,
    order: PivotOrder,
}

impl Plain {
    fn new(robot: &Robot) -> Option<Self> {
        let model = robot.model();
        let n = model.topology().platform.independent.len();
        let (legs, order) = (AtPoints::new(model)?, PivotOrder::natural(n));
        Some(Self { legs, efforts: EffortData::new(model), drives: Drives::new(model), order })
    }

    /// Of a platform with all six components.
    fn inverse(&mut self, robot: &Robot, s: &State) -> Option<&[f64]> {
        let model = robot.model();
        let six = |x: &[f64]| Some(Twist::from_array(x.try_into().ok()?));
        let A = six(&s.td_r)?;
        let platform = PlatformMotion { X: s.pose, V: six(&s.t_r)?, A: Accel { a: A.v, alpha: A.w } };
        let margin = self.legs.reduce(model.numbers(), &platform, robot.mode(), None, &mut self.efforts);
        self.drives.project(&self.efforts, &Freedoms::new(model, None));
        self.drives.solve(&self.order);
        if !self.drives.is_well_founded() {
            self.order = self.drives.order()?;
            self.drives.solve(&self.order);
        }
        (margin >= 0.0).then_some(&self.drives.efforts)
    }
}

impl<'a> Library<'a> {
    /// The ways there are.
    fn all(robot: &'a Robot, model: ModelKind) -> Result<Vec<(&'static str, Self)>, String> {
        if model == ModelKind::MassStiffness {
            let actuators = CodeOptions::new(model, Language::C).actuators;
            let memory = Vibration::new(robot.model(), robot.home(), actuators).map_err(|e| e.to_string())?;
            return Ok(vec![("f64", Self::Flexible(robot, Box::new(memory)))]);
        }
        let lanes = Self::Lanes(robot, model, Box::new(Dynamics::new(robot.model())));
        let mut ways = vec![("legs side by side in lanes", lanes)];
        if model == ModelKind::Idm
            && let Some(plain) = Plain::new(robot)
        {
            ways.push(("f64, leg after leg", Self::Plain(robot, Box::new(plain))));
        }
        Ok(ways)
    }

    fn call(&mut self, s: &State) -> Result<&[f64], String> {
        match self {
            Self::Lanes(robot, ModelKind::Idm, memory) => {
                memory.inverse(robot.model(), &s.pose, robot.mode(), &s.t_r, &s.td_r, None).map_err(|e| e.to_string())
            }
            Self::Lanes(robot, _, memory) => {
                let done = memory.direct(robot.model(), &s.pose, robot.mode(), &s.t_r, &s.other_efforts, None);
                done.map_err(|e| e.to_string())
            }
            Self::Plain(robot, memory) => memory.inverse(robot, s).ok_or_else(|| "no answer on f64".to_owned()),
            Self::Flexible(robot, memory) => {
                memory.take(&s.pose, robot.mode()).map_err(|e| e.to_string())?;
                Ok(&[])
            }
        }
    }

    /// Outputs of the generated function, one list each.
    fn answer(&mut self, state: &State, code: &Generated) -> Result<Vec<Vec<f64>>, String> {
        let plain = self.call(state)?.to_vec();
        let Self::Flexible(_, memory) = self else { return Ok(vec![plain]) };
        let (K, M) = memory.matrices();
        let place = |entry: &String| {
            let (i, j) = entry[1..].split_once('_')?;
            Some((i.parse::<usize>().ok()? - 1, j.parse::<usize>().ok()? - 1))
        };
        let entries = code.outputs.iter().zip([M.dense(), K.dense()]);
        Ok(entries.map(|(g, A)| g.entries.iter().filter_map(place).map(|(i, j)| A.at(i, j)).collect()).collect())
    }

    /// Nanoseconds per call.
    fn turn(&mut self, states: &[State]) -> Result<f64, String> {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            for state in states {
                black_box(self.call(black_box(state))?);
            }
        }
        Ok(start.elapsed().as_secs_f64() * 1e9 / (ROUNDS * states.len()) as f64)
    }
}

/// A compiled program that answers one line for each it is sent.
struct Program {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Program {
    /// Compiled for a number of states, which it wants first.
    fn start(code: &Generated, states: usize) -> Result<Self, String> {
        let path = compiled(code, states)?;
        let mut child = Command::new(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", path.display()))?;
        let (input, output) = (child.stdin.take().ok_or("no pipe")?, child.stdout.take().ok_or("no pipe")?);
        Ok(Self { child, input, output: BufReader::new(output).lines() })
    }

    /// Outputs for the next state.
    fn answer(&mut self, x: &[f64]) -> Result<Vec<f64>, String> {
        self.send(&x.iter().map(|x| format!("{x:e} ")).collect::<String>())?;
        self.numbers()
    }

    fn send(&mut self, text: &str) -> Result<(), String> {
        writeln!(self.input, "{text}").and_then(|()| self.input.flush()).map_err(|e| e.to_string())
    }

    fn numbers(&mut self) -> Result<Vec<f64>, String> {
        let line = self.output.next().ok_or("the program in C ended")?.map_err(|e| e.to_string())?;
        line.split_whitespace().map(|w| w.parse().map_err(|_| format!("`{w}` is no number"))).collect()
    }

    /// Nanoseconds per call, by its own clock.
    fn turn(&mut self) -> Result<f64, String> {
        self.send("1")?;
        self.numbers()?.first().copied().ok_or_else(|| "no time".to_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a generated function is given.
fn inputs(code: &Generated, state: &State) -> Vec<f64> {
    let mut x = Vec::new();
    for group in &code.inputs {
        match group.name.as_str() {
            "twist" => x.extend(&state.t_r),
            "acceleration" => x.extend(&state.td_r),
            "efforts" => x.extend(&state.other_efforts),
            _ if group.entries.len() == 12 => {
                x.extend(state.pose.p.iter().chain(state.pose.R.0.transpose().iter()));
            }
            _ => x.extend([state.pose.p.x, state.pose.p.y, state.pose.R.0[(1, 0)].atan2(state.pose.R.0[(0, 0)])]),
        }
    }
    x
}

/// The generated function and a program around it, each a translation unit of its own.
fn compiled(code: &Generated, states: usize) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&code.function);
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map(|()| path).map_err(|e| e.to_string())
    };
    for file in &code.files {
        write(&file.name, &file.text)?;
    }
    let driver = write("driver.c", &driver(code, states))?;
    let path = folder.join("driver");
    let mut command = Command::new("cc");
    command.args(FLAGS).arg(&driver).arg(folder.join(format!("{}.c", code.function))).arg("-o").arg(&path).arg("-lm");
    let done = command.output().map_err(|e| format!("cc: {e}; a C compiler is needed to time generated C"))?;
    if done.status.success() { Ok(path) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

fn driver(code: &Generated, states: usize) -> String {
    let size = |groups: &[gough::codegen::Group]| groups.iter().map(|g| g.entries.len()).sum::<usize>();
    let (inputs, outputs) = (size(&code.inputs), size(&code.outputs));
    let mut arguments = String::new();
    for (list, groups) in [("x[s]", &code.inputs), ("y", &code.outputs)] {
        let mut first = 0;
        for group in groups {
            let _ = write!(arguments, "{}{list} + {first}", if arguments.is_empty() { "" } else { ", " });
            first += group.entries.len();
        }
    }
    format!(
        "#define _POSIX_C_SOURCE 199309L
#include \"{name}.h\"
#include <stdio.h>
#include <time.h>
static double x[{states}][{inputs}], y[{outputs}];
int main(void) {{
    for (int s = 0; s < {states}; s++) {{
        for (int k = 0; k < {inputs}; k++)
            if (scanf(\"%lf\", &x[s][k]) != 1) return 1;
        {name}({arguments});
        for (int k = 0; k < {outputs}; k++) printf(\"%.17g \", y[k]);
        printf(\"\\n\");
        fflush(stdout);
    }}
    for (int turn; scanf(\"%d\", &turn) == 1;) {{
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int r = 0; r < {ROUNDS}; r++)
            for (int s = 0; s < {states}; s++) {name}({arguments});
        clock_gettime(CLOCK_MONOTONIC, &b);
        printf(\"%.6f\\n\", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / ({ROUNDS} * {states}));
        fflush(stdout);
    }}
    return 0;
}}
",
        name = code.function,
    )
}
