//! Answers of `gough idm` and `gough ddm` as people read them.

use crate::ask;
use crate::states::{joint_text, pose_text};
use gough::Robot;
use gough::question::{Accelerations, Efforts, JointForces, NearSingularity, POOR_CONDITION};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Joints that the pose leaves open and nothing gives.
pub fn assumed_text(robot: &Robot, assumed: Option<&BTreeMap<String, f64>>) -> String {
    let model = robot.model();
    let joint = |(name, q): (&String, &f64)| Some(ask::assignment(model, model.topology().coord(name)?, *q));
    assumed.into_iter().flatten().filter_map(joint).map(|q| format!("{q} assumed: {}\n", ask::NOT_GIVEN)).collect()
}

pub fn matrices_text(title: &str, inertia: &[Vec<f64>], c: &[f64]) -> String {
    let mut text = format!("\n{title}\n");
    for (row, c) in inertia.iter().zip(c) {
        let entries: String = row.iter().map(|x| format!("{x:>14.6}")).collect();
        let _ = writeln!(text, "  {entries}   |{c:>14.6}");
    }
    text
}

fn wrench_text(wrench: &[f64; 6]) -> String {
    wrench.map(|x| format!("{x:>12.5}")).join("")
}

pub fn reactions_text(all: &JointForces) -> String {
    let mut out =
        String::from("\nforces in the joints, N and N m, world axes: from what a body stands on, at its frame\n");
    let head: String = ["fx", "fy", "fz", "mx", "my", "mz"].iter().map(|n| format!("{n:>12}")).collect();
    let _ = writeln!(out, "{:24}{head}", "body");
    for force in &all.joints {
        let _ = writeln!(out, "{:24}{}", force.body, wrench_text(&force.wrench));
    }
    let _ = writeln!(out, "{:24}{head}", "closure, first on second");
    for force in &all.closures {
        let _ = writeln!(out, "{:24}{}", force.closure, wrench_text(&force.wrench));
    }
    if !all.determined {
        out +=
            "the robot is over-constrained: of all forces that hold it, those with the shortest list of multipliers\n";
    }
    out
}

/// Derivatives by the parts of a state and by the parameters of the file, a row per entry; `rows` names the outputs.
pub fn derivatives_text(
    robot: &Robot,
    parts: &[(&str, &Vec<Vec<f64>>)],
    parameters: &BTreeMap<String, Vec<f64>>,
    rows: &[String],
) -> String {
    let head: String = rows.iter().map(|n| format!("{n:>16}")).collect();
    let entries = |list: &mut dyn Iterator<Item = f64>| list.map(|x| format!("{x:>16.6}")).collect::<String>();
    let mut out = String::new();
    for (what, m) in parts {
        let names: Vec<String> = match *what {
            "efforts" => robot.active_joints().iter().map(|n| format!("tau_{n}")).collect(),
            _ => robot.components().iter().map(|n| (*n).to_owned()).collect(),
        };
        let _ = writeln!(out, "\nderivatives by {what}\n{:12}{head}", "");
        for (k, name) in names.iter().enumerate() {
            let _ = writeln!(out, "{name:12}{}", entries(&mut m.iter().map(|row| row[k])));
        }
    }
    let _ = writeln!(out, "\nderivatives by parameters\n{:12}{head}", "");
    for p in robot.model().parameters() {
        let column = parameters.get(&p.name).into_iter().flatten().copied();
        let _ = writeln!(out, "{:12}{}", p.name, entries(&mut { column }));
    }
    out
}

pub fn efforts_text(robot: &Robot, found: &Efforts) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}\n", t.name, pose_text(model, &found.pose.pose()));
    let _ = writeln!(out, "working mode {}\n", found.working_mode);
    let _ = writeln!(out, "{:10}{:>15}{:>15}{:>15}  {:>15} {:>15}", "", "q", "qd", "qdd", "effort", "with friction");
    let moving = |list: &Option<Vec<f64>>, i: usize| list.as_ref().map_or(0.0, |l| l[i]);
    for (i, c) in t.active.iter().enumerate() {
        let numbers = [found.active.q[i], moving(&found.active.qd, i), moving(&found.active.qdd, i)];
        let row: String = numbers.iter().map(|x| format!(" {}", joint_text(model, *c, *x))).collect();
        let unit = if t.coords[*c].slides { "N" } else { "N m" };
        let efforts = format!("{:>15.6} {:>15.6} {unit}", found.efforts[i], found.efforts_with_friction[i]);
        let _ = writeln!(out, "{:10}{row}  {efforts}", format!("q{}", t.coords[*c].name));
    }
    let _ = writeln!(
        out,
        "\nkinetic energy {:.6} J of the bodies, {:.6} J of the rotors; potential energy {:.6} J",
        found.kinetic_energy, found.kinetic_energy_rotors, found.potential_energy
    );
    let list = |x: &[f64]| x.iter().map(|x| format!("{x:.6}")).collect::<Vec<_>>().join(", ");
    if let Some(load) = &found.internal_load {
        let _ = writeln!(out, "internal load, which moves nothing: {}", list(load));
    }
    for v in found.null_space.iter().flatten() {
        let _ = writeln!(out, "null space: {}", list(v));
    }
    if found.condition >= POOR_CONDITION || !found.near_singularities.is_empty() {
        let names = kinds(&found.near_singularities);
        let near = if names.is_empty() { String::new() } else { format!(", near a singularity: {names}") };
        let _ = writeln!(out, "condition {:.3e}{near}: errors of the model grow so in the efforts", found.condition);
    }
    let [fx, fy, fz, mx, my, mz] = found.ground_wrench_on_robot;
    let _ = writeln!(
        out,
        "ground on robot, at the world origin: force ({fx:.6}, {fy:.6}, {fz:.6}) N, moment ({mx:.6}, {my:.6}, {mz:.6}) N m"
    );
    out
}

pub fn accelerations_text(robot: &Robot, found: &Accelerations) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}\n", t.name, pose_text(model, &found.pose.pose()));
    let _ = writeln!(out, "working mode {}\n", found.working_mode);
    for (name, x) in robot.components().iter().zip(&found.acceleration) {
        let _ = writeln!(out, "acceleration {name:<8} {x:>14.9}");
    }
    for (part, coords, list) in [("active", &t.active, &found.active_qdd), ("passive", &t.passive, &found.passive_qdd)]
    {
        for (c, x) in coords.iter().zip(list) {
            let name = format!("q{}", t.coords[*c].name);
            let _ = writeln!(out, "{part:<8} qdd {name:<8} {}", joint_text(model, *c, *x));
        }
    }
    if !found.near_singularities.is_empty() {
        let names = kinds(&found.near_singularities);
        let _ = writeln!(out, "near a singularity: {names}: joints are fast where the platform is not");
    }
    out
}

/// Kinds of singularities in words, each once.
fn kinds(near: &[NearSingularity]) -> String {
    let mut names: Vec<&str> = near.iter().map(|n| n.kind.word()).collect();
    names.dedup();
    names.join(", ")
}
