//! Forward geometry of encoders that contradict each other: the closed posture whose measured joints are nearest.
//!
//! A robot with more motors than freedoms, or with encoders on passive joints, measures more than it needs; readings have
//! noise, and no posture has exactly those joints. Wanted is `min Σ w_i (q_i - q̂_i)²` over closed postures: from a closed
//! posture, a step along the motions that the closures leave open, which makes the readings' misfit least, then the loops are
//! closed again.

use super::error::SolveError;
use super::inverse::{Posture, joint_value};
use super::newton::{self, CLOSED, Unknowns, jacobian, row_count};
use super::positions::Positions;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::{CoordId, Model};
use crate::spatial::orientation::wrap;

/// Most steps; each is a Gauss-Newton step, so that a handful suffice.
const MOST_STEPS: u32 = 30;

/// What an encoder says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reading {
    /// The joint.
    pub joint: CoordId,
    /// What it reads, in metres or radians.
    pub value: f64,
    /// How much it counts: one over the variance, or one.
    pub weight: f64,
}

/// The closed posture nearest to readings.
#[derive(Clone, Debug)]
pub struct FittedPosture {
    /// The posture.
    pub posture: Posture,
    /// Per reading: joint of the posture minus what was read, in metres or radians.
    pub misfit: Vec<f64>,
}

impl FittedPosture {
    /// The largest misfit, lengths in sizes of the robot.
    pub fn worst(&self, model: &Model<f64>, readings: &[Reading]) -> f64 {
        let scaled = |(r, d): (&Reading, &f64)| d.abs() / unit(model, r.joint);
        readings.iter().zip(&self.misfit).map(scaled).fold(0.0, f64::max)
    }
}

/// The closed posture whose joints are nearest to readings, from a closed posture on the same branch.
pub fn fit(model: &Model<f64>, readings: &[Reading], near: &Posture) -> Result<FittedPosture, SolveError> {
    if !readings.iter().all(|r| r.value.is_finite() && r.weight > 0.0 && r.weight.is_finite()) {
        let reason = "a reading is not finite, or its weight is not positive".to_owned();
        return Err(SolveError::NotAPose { reason });
    }
    let unknowns = Unknowns { coords: free(model), ..Unknowns::forward(model) };
    let mut pos = near.positions().clone();
    for k in 0..MOST_STEPS {
        let step = toward(model, &unknowns, readings, &pos);
        let longest = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if !longest.is_finite() {
            return Err(SolveError::NotConverged { iterations: k, residual: longest });
        }
        let short = (0.3 / longest.max(1e-300)).min(1.0);
        let step: Vec<f64> = step.iter().map(|x| x * short).collect();
        newton::advance(model, &unknowns, model.length(), &step, &mut pos);
        let outcome = newton::assemble(model, &unknowns, &mut pos);
        if outcome.residual > CLOSED {
            return Err(SolveError::NotConverged { iterations: outcome.iterations, residual: outcome.residual });
        }
        if longest < 1e-13 {
            break;
        }
    }
    let misfit = readings.iter().map(|r| difference(model, &pos, r)).collect();
    Ok(FittedPosture { posture: Posture::new(model, pos, near.mode().clone()), misfit })
}

/// Joints that move: all but those that stand at zero.
fn free(model: &Model<f64>) -> Vec<CoordId> {
    model.topology().coords.ids().filter(|c| !model.topology().is_held(*c)).collect()
}

/// What makes a joint a number without unit.
fn unit(model: &Model<f64>, c: CoordId) -> f64 {
    if model.topology().coords[c].slides { model.length() } else { 1.0 }
}

/// Joint of a posture minus a reading.
fn difference(model: &Model<f64>, pos: &Positions<f64>, r: &Reading) -> f64 {
    let coord = &model.topology().coords[r.joint];
    let d = joint_value(model, pos, r.joint) - r.value;
    if coord.slides || coord.counted { d } else { wrap(d) }
}

/// The motion, scaled, that the closures leave open and that brings the joints nearest to the readings.
fn toward(model: &Model<f64>, unknowns: &Unknowns, readings: &[Reading], pos: &Positions<f64>) -> Vec<f64> {
    let n = unknowns.coords.len() + unknowns.platform.len();
    let mut a = Dense::zeros(row_count(model, unknowns), n + 1);
    jacobian(model, unknowns, model.length(), pos, &mut a);
    let open = svd(&Matrix::from_fn(a.rows, n, |i, j| a.at(i, j))).null_space();
    let column = |r: &Reading| unknowns.coords.iter().position(|c| *c == r.joint);
    let rows: Vec<(usize, f64, f64)> = readings
        .iter()
        .filter_map(|r| Some((column(r)?, r.weight.sqrt(), difference(model, pos, r) / unit(model, r.joint))))
        .collect();
    let felt = Matrix::from_fn(rows.len(), open.ncols(), |i, k| rows[i].1 * open[(rows[i].0, k)]);
    let rhs: Vec<f64> = rows.iter().map(|(_, w, d)| -w * d).collect();
    let along = svd(&felt).least_squares(&rhs);
    (0..n).map(|j| (0..open.ncols()).map(|k| open[(j, k)] * along[k]).sum()).collect()
}
