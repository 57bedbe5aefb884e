//! Postures at the very limit of a leg's reach, which the inverse geometry refuses because two working modes meet there.

use super::closure::gap;
use super::error::SolveError;
use super::inverse::{Posture, inverse_from, inverse_given};
use super::modes::WorkingMode;
use super::newton::{self, Unknowns};
use super::positions::Positions;
use crate::model::{CoordId, Model};
use crate::spatial::Pose;
use crate::spatial::orientation::{from_quaternion, to_quaternion};

/// A pose out of reach by less, in sizes of the robot, is at the end of a leg's reach.
pub(crate) const AT_THE_END: f64 = 1e-7;

/// The posture at a pose, also where a leg is just stretched or folded: found from one a little nearer to `inside`, which
/// must be reachable.
pub fn inverse_at_limit(
    model: &Model<f64>,
    pose: &Pose<f64>,
    mode: &WorkingMode,
    inside: &Pose<f64>,
) -> Result<Posture, SolveError> {
    inverse_at_limit_given(model, pose, mode, inside, &[])
}

/// [`inverse_at_limit`] with joints that the pose leaves open at given values.
pub fn inverse_at_limit_given(
    model: &Model<f64>,
    pose: &Pose<f64>,
    mode: &WorkingMode,
    inside: &Pose<f64>,
    given: &[(CoordId, f64)],
) -> Result<Posture, SolveError> {
    at_limit(model, pose, (mode, inside), &|pose| inverse_given(model, pose, mode, given))
}

/// The posture at a pose near another posture, from which it is led where closed forms do not say which one it is; also where a leg is
/// just stretched or folded.
pub(crate) fn inverse_at_limit_from(
    model: &Model<f64>,
    pose: &Pose<f64>,
    from: &Posture,
) -> Result<Posture, SolveError> {
    at_limit(model, pose, (from.mode(), from.pose()), &|pose| inverse_from(model, pose, from))
}

fn at_limit(
    model: &Model<f64>,
    pose: &Pose<f64>,
    (mode, inside): (&WorkingMode, &Pose<f64>),
    reach: &dyn Fn(&Pose<f64>) -> Result<Posture, SolveError>,
) -> Result<Posture, SolveError> {
    let error = match reach(pose) {
        Err(e @ SolveError::AtLimit { .. }) => e,
        Err(e @ SolveError::OutOfReach { by, .. }) if by < AT_THE_END * model.size() => e,
        other => return other,
    };
    for exponent in 2..=10 {
        let near = between(pose, inside, 10.0_f64.powi(exponent - 12));
        let Ok(start) = reach(&near) else { continue };
        let mut pos: Positions<f64> = start.positions().clone();
        pos.X_WE = *pose;
        newton::assemble(model, &Unknowns::inverse(model, &model.topology().plan.given), &mut pos);
        let (m, rad) = gap(model, &pos);
        if m < 1e-9 * model.size().max(1.0) && rad < 1e-9 {
            return Ok(Posture::new(model, pos, mode.clone()));
        }
    }
    Err(error)
}

/// A pose on the way from `a` to `b`.
pub fn between(a: &Pose<f64>, b: &Pose<f64>, s: f64) -> Pose<f64> {
    let (qa, mut qb) = (to_quaternion(&a.R), to_quaternion(&b.R));
    if qa.iter().zip(&qb).map(|(x, y)| x * y).sum::<f64>() < 0.0 {
        qb = qb.map(|x| -x);
    }
    let q: [f64; 4] = std::array::from_fn(|i| qa[i] * (1.0 - s) + qb[i] * s);
    let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let R = if qa == qb || n == 0.0 { a.R } else { from_quaternion(q.map(|x| x / n)) };
    Pose { R, p: a.p * (1.0 - s) + b.p * s }
}
