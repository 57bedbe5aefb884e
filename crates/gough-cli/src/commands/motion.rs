//! The differential part of `gough kinematics`: rates, accelerations and matrices, as text.

use crate::angles;
use crate::ask::of_option;
use crate::failure::Failure;
use crate::states::{component_names, joint_text, pose_text};
use gough::Robot;
use gough::question::words::{self, Order};
use gough::question::{JointMotion, KinematicMatrices, WorkingModes};
use std::fmt::Write as _;

/// `x=0.3,y=-0.2,wz=1` in the platform's own components; what is left out is zero.
pub fn components(robot: &Robot, text: &str, option: &str) -> Result<Vec<f64>, Failure> {
    let order = if option == "--twist" { Order::Rate } else { Order::Acceleration };
    words::components(robot.model(), text, order).map_err(of_option(option))
}

/// Rows as text; what is rounding beside the largest entry is zero.
fn rows_text(rows: &[Vec<f64>], out: &mut String) {
    let size = rows.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    let entry = |x: &f64| format!("{:>13.6}", if x.abs() < f64::max(1e-12 * size, 5e-7) { 0.0 } else { *x });
    rows.iter().for_each(|row| {
        let _ = writeln!(out, "  {}", row.iter().map(entry).collect::<String>());
    });
}

/// Joints, rates and matrices in working modes.
pub fn text(robot: &Robot, found: &WorkingModes) -> String {
    let model = robot.model();
    let t = model.topology();
    let names = component_names(model);
    let list = |x: &[f64]| {
        let turns = |c: &gough::description::Coordinate| c.is_angle();
        let kinds = t.platform.independent.iter().map(turns);
        let shown = x.iter().zip(kinds).map(|(x, turns)| if turns { angles::shown(*x) } else { *x });
        let parts: Vec<String> = names.iter().zip(shown).map(|(n, x)| format!("{n} = {x}")).collect();
        parts.join("  ")
    };
    let mut out = String::new();
    for s in &found.working_modes {
        let _ = writeln!(out, "{} at {}", t.name, pose_text(model, &s.pose.pose()));
        let _ = writeln!(out, "working mode {}", s.working_mode);
        for (name, given) in [("twist", &s.twist), ("acceleration", &s.acceleration)] {
            given.iter().for_each(|x| {
                let _ = writeln!(out, "{name} {}", list(x));
            });
        }
        let heads = if s.active.qd.is_some() {
            format!("{:>15}{:>15}{:>15}", "q", "qd", "qdd")
        } else {
            format!("{:>15}", "q")
        };
        let _ = writeln!(out, "\n{:18}{heads}", "");
        let parts: [(&str, &[_], &JointMotion); 2] =
            [("active", &t.active, &s.active), ("passive", &t.passive, &s.passive)];
        for (part, coords, joints) in parts {
            for (k, c) in coords.iter().enumerate() {
                let mut row = format!("{part:8} {:<9}", format!("q{}", t.coords[*c].name));
                for list in [Some(&joints.q), joints.qd.as_ref(), joints.qdd.as_ref()].into_iter().flatten() {
                    let _ = write!(row, " {}", joint_text(model, *c, list[k]));
                }
                let _ = writeln!(out, "{row}");
            }
        }
        if let Some(matrices) = &s.matrices {
            matrices_text(robot, matrices, &mut out);
        }
        out.push('\n');
    }
    let _ = writeln!(out, "angles in {}, lengths in m", angles::unit());
    out
}

fn matrices_text(robot: &Robot, found: &KinematicMatrices, out: &mut String) {
    let joints = |list: &mut dyn Iterator<Item = &str>| list.map(|n| format!("q{n}")).collect::<Vec<_>>().join(" ");
    let active = joints(&mut robot.active_joints().into_iter());
    let components = robot.components().join(" ");
    let _ = writeln!(out, "\nt_p = vx vy vz wx wy wz;  t_r = {components};  q_a = {active}");
    let passive = joints(&mut found.passive_of_matrices.iter().map(String::as_str));
    let _ = writeln!(out, "q_d = {passive};  redundancy: {}", found.redundancy);
    let missing = |name: &str, out: &mut String| {
        let equation = KinematicMatrices::equation(name).unwrap_or_default();
        let _ = writeln!(out, "\n{name} does not exist here ({equation}): the posture is singular");
    };
    let head = |name: &str, size: String, out: &mut String| {
        let _ = writeln!(out, "\n{name}  ({size})  {}", KinematicMatrices::equation(name).unwrap_or_default());
    };
    for (name, rows) in &found.matrices {
        let Some(rows) = rows else {
            missing(name, out);
            continue;
        };
        let size = rows.first().map_or("no rows".to_owned(), |row| format!("{} x {}", rows.len(), row.len()));
        head(name, size, out);
        rows_text(rows, out);
    }
    for (name, list) in &found.biases {
        let Some(list) = list else {
            missing(name, out);
            continue;
        };
        head(name, list.len().to_string(), out);
        rows_text(&list.iter().map(|x| vec![*x]).collect::<Vec<_>>(), out);
    }
}
