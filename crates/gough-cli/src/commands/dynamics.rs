//! `gough idm` and `gough ddm`: efforts from motion, motion from efforts.

use crate::ask::{self, Subject};
use crate::commands::motion::components;
use crate::commands::singularities::one_mode;
use crate::commands::trajectory::{self, Along};
use crate::failure::{Failure, error_json};
use crate::output::Output;
use crate::states::{self, State, component_names, joint_text, pose_json, pose_text};
use clap::Args;
use gough::Robot;
use gough::dynamics::{InverseDynamics, direct_dynamics, inverse_dynamics, platform_model};
use gough::kinematics::motion::Motion;
use gough::kinematics::{Posture, SolveError, WorkingMode, inverse_given};
use gough::model::CoordId;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// What both commands are asked.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("question").required(true))]
pub struct Question {
    #[command(flatten)]
    subject: Subject,
    /// Platform pose, all its coordinates: x=0.05,y=0.25 or x=..,y=..,phi=30deg or x=..,y=..,z=..,roll=..,pitch=..,yaw=..
    #[arg(long, group = "question", value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Many states: JSON list, JSON Lines or CSV
    #[arg(long, group = "question", value_name = "FILE")]
    states: Option<PathBuf>,
    /// Platform twist: x=0.3,y=-0.2 or x=..,y=..,z=..,wx=..,wy=..,wz=..; what is left out is zero
    #[arg(long, value_name = "COMPONENTS", requires = "pose", allow_hyphen_values = true)]
    twist: Option<String>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct Inverse {
    #[command(flatten)]
    pub question: Question,
    /// Platform acceleration, as the twist
    #[arg(long, value_name = "COMPONENTS", requires = "pose", allow_hyphen_values = true)]
    acceleration: Option<String>,
    #[command(flatten)]
    along: Along,
}

#[derive(Args)]
pub struct Direct {
    #[command(flatten)]
    pub question: Question,
    /// Efforts of the drives by joint: q11=1.5,q21=-0.2; what is left out is zero
    #[arg(long, value_name = "EFFORTS", requires = "pose", allow_hyphen_values = true)]
    efforts: Option<String>,
    /// Inertia matrix and bias vector on the platform's own components
    #[arg(long, requires = "pose")]
    matrices: bool,
}

/// Actuator efforts.
pub fn idm(arguments: &Inverse) -> Result<(), Failure> {
    let robot = load(&arguments.question)?;
    let answer = || {
        if let Some(path) = &arguments.along.trajectory {
            let mode = one_mode(&robot, arguments.question.mode.as_deref())?;
            return trajectory::run(&robot, &mode, path, &arguments.along, &arguments.question.output);
        }
        let acceleration = optional(&robot, arguments.acceleration.as_deref(), "--acceleration")?;
        let one = |state: &State, mode: &WorkingMode| -> Result<(Value, String), SolveError> {
            let posture = inverse_given(robot.model(), &state.pose, mode, &state.given)?;
            let rest = vec![0.0; component_names(robot.model()).len()];
            let twist = state.twist.as_ref().unwrap_or(&rest);
            let found = inverse_dynamics(robot.model(), &posture, twist, state.acceleration.as_ref().unwrap_or(&rest))?;
            Ok((efforts_json(&robot, &posture, &found), efforts_text(&robot, &posture, &found)))
        };
        answer_all(&robot, &arguments.question, acceleration, None, &one)
    };
    answer().map_err(|why: Failure| why.of(&robot.model().topology().name))
}

/// Accelerations.
pub fn ddm(arguments: &Direct) -> Result<(), Failure> {
    let robot = load(&arguments.question)?;
    let answer = || {
        let efforts = arguments.efforts.as_deref().map(|e| efforts(&robot, e)).transpose()?;
        let zero = vec![0.0; robot.model().topology().active.len()];
        let one = |state: &State, mode: &WorkingMode| -> Result<(Value, String), SolveError> {
            let posture = inverse_given(robot.model(), &state.pose, mode, &state.given)?;
            let rest = vec![0.0; component_names(robot.model()).len()];
            let twist = state.twist.as_ref().unwrap_or(&rest);
            let tau = state.efforts.as_ref().unwrap_or(&zero);
            let (acceleration, motion) = direct_dynamics(robot.model(), &posture, twist, tau)?;
            let mut document = accelerations_json(&robot, &posture, &acceleration, &motion);
            let mut text = accelerations_text(&robot, &posture, &acceleration, &motion);
            if arguments.matrices {
                let m = platform_model(robot.model(), &posture, twist)?;
                let rows: Vec<&[f64]> = m.M.data.chunks(m.M.cols.max(1)).collect();
                document["M"] = json!(rows);
                document["c"] = json!(m.c);
                let _ = writeln!(text, "\nM td_r + c = J_inv^T tau on {}", component_names(robot.model()).join(" "));
                for (row, c) in rows.iter().zip(&m.c) {
                    let entries: String = row.iter().map(|x| format!("{x:>14.6}")).collect();
                    let _ = writeln!(text, "  {entries}   |{c:>14.6}");
                }
            }
            Ok((document, text))
        };
        answer_all(&robot, &arguments.question, None, efforts, &one)
    };
    answer().map_err(|why: Failure| why.of(&robot.model().topology().name))
}

fn load(question: &Question) -> Result<Robot, Failure> {
    if let Some(states) = &question.states {
        question.output.spares(states, "the states file")?;
    }
    question.subject.load(&question.output)
}

fn optional(robot: &Robot, text: Option<&str>, option: &str) -> Result<Option<Vec<f64>>, Failure> {
    text.map(|t| components(robot, t, option)).transpose()
}

/// `q11=1.5,q21=-0.2` in the order of the active joints.
pub fn efforts(robot: &Robot, text: &str) -> Result<Vec<f64>, Failure> {
    let t = robot.model().topology();
    let mut list: Vec<Option<f64>> = vec![None; t.active.len()];
    for assigned in ask::assignments(text, "--efforts")? {
        let usage = |m: String| Failure::Usage(format!("--efforts: {m}"));
        let place = t.coord(&assigned.name).and_then(|c| t.active.iter().position(|a| *a == c));
        let Some(k) = place else {
            let names: Vec<String> = t.active_names().iter().map(|n| format!("q{n}")).collect();
            return Err(usage(format!("no drive `{}`; {}", assigned.name, ask::hint(&assigned.name, &names))));
        };
        let (powers, what) =
            if t.coords[t.active[k]].slides { ([1, 1, -2], "a force") } else { ([2, 1, -2], "a torque") };
        assigned.must_have(powers, what).map_err(usage)?;
        if list[k].replace(assigned.value).is_some() {
            return Err(usage(format!("{} is given twice", assigned.name)));
        }
    }
    Ok(list.into_iter().map(|x| x.unwrap_or(0.0)).collect())
}

type One<'a> = &'a dyn Fn(&State, &WorkingMode) -> Result<(Value, String), SolveError>;

/// One state, or those of a file.
fn answer_all(
    robot: &Robot,
    question: &Question,
    acceleration: Option<Vec<f64>>,
    efforts: Option<Vec<f64>>,
    one: One<'_>,
) -> Result<(), Failure> {
    let model = robot.model();
    let t = model.topology();
    let mode = one_mode(robot, question.mode.as_deref())?;
    if let Some(pose) = &question.pose {
        let twist = optional(robot, question.twist.as_deref(), "--twist")?;
        let state = State { pose: ask::pose(model, pose)?, given: Vec::new(), twist, acceleration, efforts };
        let (mut document, text) = one(&state, &mode)?;
        document["robot"] = json!(t.name);
        document["active_joints"] = json!(t.active_names());
        document["passive_joints"] = json!(t.passive_names());
        return question.output.give(|| document, || text);
    }
    let Some(path) = &question.states else {
        return Err(Failure::Usage("give --pose or --states".to_owned()));
    };
    let (mut answered, mut misuse) = (0, false);
    let (mut answers, mut texts) = (Vec::new(), String::new());
    for (i, state) in states::read(model, path)?.into_iter().enumerate() {
        let found = state.map_err(|reason| SolveError::NotAPose { reason }).and_then(|s| one(&s, &mode));
        match found {
            Ok((document, text)) => {
                answered += 1;
                let _ = writeln!(texts, "state {}\n{text}", i + 1);
                answers.push(document);
            }
            Err(e) => {
                misuse |= e.is_misuse();
                let _ = writeln!(texts, "state {}\n{e}\n", i + 1);
                answers.push(error_json(e.kind(), &e.to_string()));
            }
        }
    }
    let refused = answers.len() - answered;
    let document = || {
        json!({
            "robot": t.name,
            "active_joints": t.active_names(),
            "passive_joints": t.passive_names(),
            "states": answers,
        })
    };
    question.output.give(document, || texts)?;
    if refused > 0 {
        eprintln!("{refused} of {} states have no answer", answered + refused);
    }
    if answered == 0 { Err(Failure::Silent(if misuse { 2 } else { 1 })) } else { Ok(()) }
}

fn efforts_json(robot: &Robot, posture: &Posture, found: &InverseDynamics) -> Value {
    let t = robot.model().topology();
    let part = |coords: &[CoordId]| {
        json!({
            "q": posture.joints(robot.model(), coords),
            "qd": coords.iter().map(|c| found.motion.rates[*c]).collect::<Vec<_>>(),
            "qdd": coords.iter().map(|c| found.motion.accels[*c]).collect::<Vec<_>>(),
        })
    };
    json!({
        "pose": pose_json(posture.pose()),
        "active": part(&t.active),
        "passive": part(&t.passive),
        "efforts": found.efforts,
        "efforts_with_friction": found.efforts_with_friction,
        "kinetic_energy": found.kinetic_energy,
        "kinetic_energy_rotors": found.kinetic_energy_rotors,
        "potential_energy": found.potential_energy,
        "ground_wrench_on_robot": found.ground_wrench.to_array(),
        "working_mode": posture.mode().name(t),
    })
}

fn efforts_text(robot: &Robot, posture: &Posture, found: &InverseDynamics) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}\n", t.name, pose_text(model, posture.pose()));
    let _ = writeln!(out, "working mode {}\n", posture.mode().name(t));
    let _ = writeln!(out, "{:10}{:>15}{:>15}{:>15}  {:>15} {:>15}", "", "q", "qd", "qdd", "effort", "with friction");
    for (i, c) in t.active.iter().enumerate() {
        let q = posture.joints(model, &[*c])[0];
        let numbers = [q, found.motion.rates[*c], found.motion.accels[*c]];
        let row: String = numbers.iter().map(|x| format!(" {}", joint_text(model, *c, *x))).collect();
        let unit = if t.coords[*c].slides { "N" } else { "N m" };
        let efforts = format!("{:>15.6} {:>15.6} {unit}", found.efforts[i], found.efforts_with_friction[i]);
        let _ = writeln!(out, "{:10}{row}  {efforts}", format!("q{}", t.coords[*c].name));
    }
    let _ = writeln!(
        out,
        "\nkinetic energy {:.6} J, of rotors {:.6} J, potential energy {:.6} J",
        found.kinetic_energy, found.kinetic_energy_rotors, found.potential_energy
    );
    let w = found.ground_wrench;
    let _ = writeln!(
        out,
        "ground on robot, at the world origin: force ({:.6}, {:.6}, {:.6}) N, moment ({:.6}, {:.6}, {:.6}) N m",
        w.f.x, w.f.y, w.f.z, w.m.x, w.m.y, w.m.z
    );
    out
}

fn accelerations_json(robot: &Robot, posture: &Posture, acceleration: &[f64], motion: &Motion<f64>) -> Value {
    let t = robot.model().topology();
    let accels = |coords: &[CoordId]| coords.iter().map(|c| motion.accels[*c]).collect::<Vec<_>>();
    json!({
        "pose": pose_json(posture.pose()),
        "acceleration": acceleration,
        "active_qdd": accels(&t.active),
        "passive_qdd": accels(&t.passive),
        "working_mode": posture.mode().name(t),
    })
}

fn accelerations_text(robot: &Robot, posture: &Posture, acceleration: &[f64], motion: &Motion<f64>) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}\n", t.name, pose_text(model, posture.pose()));
    let _ = writeln!(out, "working mode {}\n", posture.mode().name(t));
    for (name, x) in component_names(model).iter().zip(acceleration) {
        let _ = writeln!(out, "acceleration {name:<8} {x:>14.9}");
    }
    for (part, coords) in [("active", &t.active), ("passive", &t.passive)] {
        for c in coords {
            let name = format!("q{}", t.coords[*c].name);
            let _ = writeln!(out, "{part:<8} qdd {name:<8} {}", joint_text(model, *c, motion.accels[*c]));
        }
    }
    out
}
