//! Quantities that are functions of the Jacobian, `t_r = J q̇_a`: a new one is one row of [`OF_JACOBIAN`] and its function.

use crate::kinematics::SolveError;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::Model;
use std::fmt;

/// A quantity that is a function of J.
pub struct OfJacobian {
    /// Its name in `gough map --quantity`.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its value.
    pub value: fn(&Model<f64>, &Dense<f64>) -> Result<f64, SolveError>,
    /// Its value in a Type 2 singularity, where there is no J; none: refused there.
    pub without: Option<f64>,
}

/// All of them.
pub static OF_JACOBIAN: [OfJacobian; 3] = [
    OfJacobian {
        name: "conditioning",
        unit: "",
        about: "1/condition number of J, lengths scaled: 1 isotropic, 0 singular",
        value: |model, J| Ok(conditioning(&scaled(model, J))),
        without: Some(0.0),
    },
    OfJacobian {
        name: "manipulability",
        unit: "",
        about: "sqrt(det(J J^T)), lengths scaled",
        value: |model, J| Ok(singular_values(&scaled(model, J)).iter().product()),
        without: None,
    },
    OfJacobian {
        name: "amplification",
        unit: "N/N or N*m/N",
        about: "largest effort of a drive for a unit force on the platform",
        value: amplification,
        without: None,
    },
];

impl OfJacobian {
    /// By name.
    pub fn named(name: &str) -> Option<&'static Self> {
        OF_JACOBIAN.iter().find(|q| q.name == name)
    }
}

impl PartialEq for OfJacobian {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for OfJacobian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// J without units: angular velocities times the length, revolute rates too.
fn scaled(model: &Model<f64>, J: &Dense<f64>) -> Dense<f64> {
    let (rows, columns) = scales(model);
    let mut out = J.clone();
    for (i, row) in rows.iter().enumerate() {
        for (j, column) in columns.iter().enumerate() {
            *out.at_mut(i, j) *= row / column;
        }
    }
    out
}

/// What makes velocities of the platform, and rates of drives, velocities.
pub(super) fn scales(model: &Model<f64>) -> (Vec<f64>, Vec<f64>) {
    let t = model.topology();
    let of_platform = t.platform.independent.iter().map(|c| if c.is_angle() { model.length() } else { 1.0 });
    let of_drives = t.active.iter().map(|c| if t.coords[*c].slides { 1.0 } else { model.length() });
    (of_platform.collect(), of_drives.collect())
}

/// Smallest over largest singular value.
fn conditioning(J: &Dense<f64>) -> f64 {
    if let [a, b, c, d] = J.data[..] {
        return ratio_of_two(a, b, c, d);
    }
    let s = singular_values(J);
    match (s.first(), s.last()) {
        (Some(high), Some(low)) if *high > 0.0 && high.is_finite() => low / high,
        _ => 0.0,
    }
}

/// Smallest over largest singular value of a 2 × 2 matrix.
fn ratio_of_two(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let (e, f) = ((a + d) * 0.5, (a - d) * 0.5);
    let (g, h) = ((c + b) * 0.5, (c - b) * 0.5);
    let (q, r) = (e.hypot(h), f.hypot(g));
    if q + r > 0.0 { (q - r).abs() / (q + r) } else { 0.0 }
}

fn singular_values(J: &Dense<f64>) -> Vec<f64> {
    svd(&Matrix::from_fn(J.rows, J.cols, |i, j| J.at(i, j))).s
}

/// `τ = Jᵀ w`, (7.195): the drive that a unit force loads most, in its worst direction.
fn amplification(model: &Model<f64>, J: &Dense<f64>) -> Result<f64, SolveError> {
    let independent = &model.topology().platform.independent;
    let forces: Vec<usize> = (0..J.rows).filter(|i| !independent[*i].is_angle()).collect();
    if forces.is_empty() {
        return Err(SolveError::NotAPose { reason: "the platform does not translate: no force acts on it".to_owned() });
    }
    let load = |drive: usize| forces.iter().map(|i| J.at(*i, drive).powi(2)).sum::<f64>().sqrt();
    Ok((0..J.cols).map(load).fold(0.0, f64::max))
}
