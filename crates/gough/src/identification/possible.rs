//! Standard parameters that meet identified groups, nearest to those of the file, every body one that can exist.

use super::estimate::Identification;
use crate::Robot;
use crate::description::Flexible;
use crate::dynamics::regressor::{ParameterKind, StandardSet};
use crate::linalg::dense::{Matrix, svd};
use nalgebra::Matrix4;

/// A set of standard parameters, and what it costs that every body can exist.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct PossibleSet {
    /// Standard parameters with the identified groups, bodies that need not exist.
    pub unconstrained: Vec<f64>,
    /// Standard parameters whose bodies can all exist.
    pub values: Vec<f64>,
    /// How far the groups of these are from the identified ones, in standard deviations: the largest.
    pub price: f64,
    /// Names of the standard parameters.
    pub names: Vec<String>,
}

/// Most rounds of projections.
const ROUNDS: usize = 3000;
/// Share of the mass that a body keeps in every direction of its pseudo-inertia, so that rounding does not make it impossible.
const WIDTH: f64 = 1e-7;

/// Numbers in which distances are measured: entries of the pseudo-inertias `[[Σ, ms], [msᵀ, m]]`, `Σ = ½ tr(I) 1 - I`, of the
/// bodies, in units of mass and of the robot's length, those off the diagonal counted twice; the other parameters as they are.
struct Metric {
    /// What a parameter is multiplied by.
    scale: Vec<f64>,
    /// Places of the ten parameters of each body.
    bodies: Vec<[usize; 10]>,
    /// Parameters that must not be negative by themselves.
    positive: Vec<usize>,
}

const SQRT_2: f64 = std::f64::consts::SQRT_2;

impl Metric {
    fn new(robot: &Robot, set: &StandardSet) -> Self {
        let length = robot.model().size();
        let p = &set.parameters;
        let scale = p.iter().map(|p| length.powi(-p.lengths)).collect();
        let mut bodies: Vec<[usize; 10]> = Vec::new();
        for frame in 0..set.frames.len() {
            let place = |entry: usize| p.iter().position(|p| p.frame() == Some(frame) && p.quantity.place() == entry);
            let places: Vec<usize> = (0..10).filter_map(place).collect();
            bodies.extend(<[usize; 10]>::try_from(places));
        }
        let alone = |j: &usize| p[*j].quantity.place() >= 9 && !bodies.iter().any(|b| b.contains(j));
        let positive = (0..p.len()).filter(alone).collect();
        Self { scale, bodies, positive }
    }

    /// From parameters, SI, to these numbers.
    fn of(&self, values: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = values.iter().zip(&self.scale).map(|(x, s)| x * s).collect();
        for b in &self.bodies {
            let [xx, xy, xz, yy, yz, zz, mx, my, mz, m] = b.map(|j| y[j]);
            let half = 0.5 * (xx + yy + zz);
            let off = [xy, xz, yz].map(|x| -SQRT_2 * x);
            let ms = [mx, my, mz].map(|x| SQRT_2 * x);
            let new = [half - xx, off[0], off[1], half - yy, off[2], half - zz, ms[0], ms[1], ms[2], m];
            b.iter().zip(new).for_each(|(j, x)| y[*j] = x);
        }
        y
    }

    /// Back to parameters, SI.
    fn back(&self, y: &[f64]) -> Vec<f64> {
        let mut x = y.to_vec();
        for b in &self.bodies {
            let [a, ab, ac, c, bc, d, mx, my, mz, m] = b.map(|j| y[j]);
            let off = [ab, ac, bc].map(|x| -x / SQRT_2);
            let ms = [mx, my, mz].map(|x| x / SQRT_2);
            let new = [c + d, off[0], off[1], a + d, off[2], a + c, ms[0], ms[1], ms[2], m];
            b.iter().zip(new).for_each(|(j, v)| x[*j] = v);
        }
        x.iter().zip(&self.scale).map(|(x, s)| x / s).collect()
    }

    /// The coefficients of a group, given on parameters in SI, on these numbers: the transpose of [`Metric::back`].
    fn row(&self, coefficients: &[(usize, f64)]) -> Vec<f64> {
        let mut c = vec![0.0; self.scale.len()];
        coefficients.iter().for_each(|(j, x)| c[*j] = x / self.scale[*j]);
        for b in &self.bodies {
            let [xx, xy, xz, yy, yz, zz, mx, my, mz, m] = b.map(|j| c[j]);
            let off = [xy, xz, yz].map(|x| -x / SQRT_2);
            let ms = [mx, my, mz].map(|x| x / SQRT_2);
            let new = [yy + zz, off[0], off[1], xx + zz, off[2], xx + yy, ms[0], ms[1], ms[2], m];
            b.iter().zip(new).for_each(|(j, v)| c[*j] = v);
        }
        c
    }

    /// The nearest numbers whose bodies can exist: negative eigenvalues of pseudo-inertias are cut off.
    fn possible(&self, y: &[f64]) -> Vec<f64> {
        let mut y = y.to_vec();
        self.positive.iter().for_each(|j| y[*j] = y[*j].max(0.0));
        for b in &self.bodies {
            let [a, ab, ac, c, bc, d, mx, my, mz, m] = b.map(|j| y[j]);
            let [ab, ac, bc, mx, my, mz] = [ab, ac, bc, mx, my, mz].map(|x| x / SQRT_2);
            #[rustfmt::skip]
            let J = Matrix4::new(
                a, ab, ac, mx,
                ab, c, bc, my,
                ac, bc, d, mz,
                mx, my, mz, m,
            );
            let least = WIDTH * m.abs();
            let mut e = J.symmetric_eigen();
            if e.eigenvalues.iter().all(|v| *v >= least) {
                continue;
            }
            e.eigenvalues.iter_mut().for_each(|v| *v = v.max(least));
            let J = e.recompose();
            let off = |i: usize, j: usize| SQRT_2 * J[(i, j)];
            let new = [
                J[(0, 0)],
                off(0, 1),
                off(0, 2),
                J[(1, 1)],
                off(1, 2),
                J[(2, 2)],
                off(0, 3),
                off(1, 3),
                off(2, 3),
                J[(3, 3)],
            ];
            b.iter().zip(new).for_each(|(j, v)| y[*j] = v);
        }
        y
    }
}

/// Standard parameters nearest to those of the file with the groups of an identification, by Dykstra's alternating projections
/// between the groups and the bodies that can exist. Where no such bodies have these groups, those that come nearest.
pub fn possible_set(robot: &Robot, found: &Identification) -> PossibleSet {
    let set = StandardSet::new(robot.model());
    let metric = Metric::new(robot, &set);
    let (n, groups) = (set.parameters.len(), &found.base.base);
    // Groups as rows of length one.
    let mut rows = Matrix::zeros(groups.len(), n);
    let (mut wanted, mut sizes) = (vec![0.0; groups.len()], vec![0.0; groups.len()]);
    for (i, (g, e)) in groups.iter().zip(&found.estimates).enumerate() {
        let row = metric.row(&g.coefficients.iter().map(|c| (c.index, c.value)).collect::<Vec<_>>());
        sizes[i] = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        (0..n).for_each(|j| rows[(i, j)] = row[j] / sizes[i]);
        wanted[i] = e.value / sizes[i];
    }
    let f = svd(&rows);
    let miss = |y: &[f64]| -> Vec<f64> {
        (0..groups.len()).map(|i| wanted[i] - (0..n).map(|j| rows[(i, j)] * y[j]).sum::<f64>()).collect()
    };
    let meets = |y: &[f64]| -> Vec<f64> { f.least_squares(&miss(y)).iter().zip(y).map(|(d, x)| d + x).collect() };
    let file = metric.of(&set.values());
    let unconstrained = meets(&file);
    let (mut y, mut p) = (file, vec![0.0; n]);
    for _ in 0..ROUNDS {
        let shifted: Vec<f64> = meets(&y).iter().zip(&p).map(|(a, b)| a + b).collect();
        let next = metric.possible(&shifted);
        p = shifted.iter().zip(&next).map(|(a, b)| a - b).collect();
        let moved = next.iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        y = next;
        if moved < 1e-13 {
            break;
        }
    }
    let off = miss(&y);
    let price = found.estimates.iter().enumerate().map(|(i, e)| (off[i] * sizes[i]).abs() / e.deviation);
    PossibleSet {
        price: price.fold(0.0, f64::max),
        unconstrained: metric.back(&unconstrained),
        values: metric.back(&y),
        names: set.parameters.iter().map(|p| p.name.clone()).collect(),
    }
}

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
        if changed(of, true) && !of.starts_with('(') {
            let at = |q| value(q).unwrap_or(0.0).max(0.0);
            let _ = write!(
                text,
                "\n[joint.\"q{of}\"]\nfriction = {{ viscous = {}, coulomb = {} }}\n",
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
