//! Overlays: the robot file with other values of the standard parameters.

use crate::Robot;
use crate::description::Flexible;
use crate::dynamics::regressor::{ParameterKind, StandardSet};

/// An overlay of a robot file with these values of the standard parameters, as text.
pub fn overlay(robot: &Robot, extends: &str, values: &[f64]) -> String {
    use std::fmt::Write as _;
    let set = StandardSet::new(robot.model());
    let largest = |lengths: i32| {
        let same = set.parameters.iter().zip(values).filter(|(p, _)| p.lengths == lengths && p.frame().is_some());
        same.map(|(_, x)| x.abs()).fold(0.0, f64::max)
    };
    // What is only rounding is zero.
    let values: Vec<f64> = set
        .parameters
        .iter()
        .zip(values)
        .map(|(p, x)| if x.abs() < 1e-12 * largest(p.lengths) { 0.0 } else { *x })
        .collect();
    let values = values.as_slice();
    let mut text = format!("# Identified parameters of {}.\nextends = \"{extends}\"\n", robot.model().topology().name);
    let changed = |of: &str, friction: bool| {
        let own =
            set.parameters.iter().zip(values).filter(move |(p, _)| p.of == of && p.quantity.is_friction() == friction);
        own.filter(|(p, _)| friction || p.frame().is_some())
            .any(|(p, x)| (p.value - x).abs() > 1e-12 * x.abs().max(1e-12))
    };
    let mut names: Vec<&str> = set.parameters.iter().map(|p| p.of.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let bends = |of: &str| {
        let rows = &robot.model().description().bodies;
        rows.iter()
            .any(|row| row.name.text == of && matches!(row.flexible, Some(Flexible::Beam(_) | Flexible::Modal(_))))
            || (of == "platform" && robot.model().description().platform.modal.is_some())
    };
    for of in names {
        let value = |q: ParameterKind| {
            set.parameters.iter().zip(values).find(|(p, _)| p.of == of && p.quantity == q).map(|(_, x)| *x)
        };
        let heading = match of {
            "platform" | "tool" => "platform".to_owned(),
            other => format!("body.\"{other}\""),
        };
        if changed(of, false) && bends(of) {
            let _ = writeln!(
                text,
                "\n# The inertia of {of} follows from how it bends: what was identified of it is left out."
            );
        } else if changed(of, false) && of.strip_suffix(".bar").is_none() {
            let m = value(ParameterKind::Mass).unwrap_or(0.0);
            let _ = write!(text, "\n[{heading}]\nmass = {m}\n");
            if let Some(xx) = value(ParameterKind::Inertia(0)) {
                let at = |k| value(ParameterKind::FirstMoment(k)).unwrap_or(0.0);
                let I = |k| value(ParameterKind::Inertia(k)).unwrap_or(0.0);
                let _ = writeln!(text, "first_moment = [{}, {}, {}]", at(0), at(1), at(2));
                let _ = writeln!(
                    text,
                    "inertia = {{ at = \"origin\", xx = {xx}, xy = {}, xz = {}, yy = {}, yz = {}, zz = {} }}",
                    I(1),
                    I(2),
                    I(3),
                    I(4),
                    I(5)
                );
                let _ = writeln!(text, "lumped = []\ngrouped = {}", !is_possible(&set, of, values));
            }
        }
        if let Some(x) = value(ParameterKind::Rotor) {
            let _ = write!(
                text,
                "\n[drive.\"q{of}\"]\nrotor_inertia = {}\nfriction = {{ viscous = 0, coulomb = 0 }}\n",
                x.max(0.0)
            );
        }
        if changed(of, true) {
            let at = |q| value(q).unwrap_or(0.0).max(0.0);
            let q = if of.starts_with('(') { "" } else { "q" };
            let _ = write!(
                text,
                "\n[joint.\"{q}{of}\"]\nfriction = {{ viscous = {}, coulomb = {} }}\n",
                at(ParameterKind::Viscous),
                at(ParameterKind::Coulomb)
            );
        }
    }
    text
}

/// Whether the parameters of a body are those of a body that can exist.
fn is_possible(set: &StandardSet, of: &str, values: &[f64]) -> bool {
    use crate::spatial::{Inertia, Mat3, vec3};
    let own: Vec<f64> = (0..10)
        .filter_map(|k| set.parameters.iter().position(|p| p.of == of && p.quantity.place() == k))
        .map(|j| values[j])
        .collect();
    let Ok([xx, xy, xz, yy, yz, zz, mx, my, mz, m]) = <[f64; 10]>::try_from(own) else { return true };
    let I_o = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    Inertia { m, ms: vec3(mx, my, mz), I_o }.check_physical().is_ok()
}
