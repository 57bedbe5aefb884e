//! Motions run through as fast as the drives allow, and what a crossing does to efforts under refinement of the time step.

use super::meet::{Crossing, known_efforts};
use super::refusal::PlanError;
use super::score::score;
use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::WorkingMode;
use crate::model::Model;
use crate::trajectory::{Bound, Look, Trajectory, drive_limits, follow_with};
use serde::Serialize;

/// The way of a motion in the shortest time within the efforts and speeds of the drives, to a ten-thousandth. A
/// motion through singularities is not scaled: its criterion holds at one pace only.
pub fn fastest(model: &Model<f64>, mode: &WorkingMode, motion: &Trajectory) -> Result<Trajectory, PlanError> {
    if drive_limits(model).iter().all(|l| l.effort.is_none() && l.speed.is_none()) {
        return Err(PlanError::NoLimits);
    }
    let load = |factor: f64| score(model, mode, &motion.slowed(factor), &[]).map(|s| s.load);
    let grid = |k: i32| 1e-3 * 1.25_f64.powi(k);
    let first = (0..=80).find(|k| load(grid(*k)).is_some_and(|l| l <= 1.0)).ok_or(PlanError::TooHeavy)?;
    let (mut low, mut high) = (grid(first - 1), grid(first));
    while high - low > 2e-5 * high {
        let middle = f64::midpoint(low, high);
        *(if load(middle).is_some_and(|l| l <= 1.0) { &mut high } else { &mut low }) = middle;
    }
    // Peaks between the instants of the score are met here.
    for k in 0..200 {
        let slower = motion.slowed(high * (1.0 + 1e-4 * f64::from(k)));
        let profile = follow_with(model, mode, &slower, &Look::default(), &mut |_| {})?;
        let beyond = profile.violations.iter().any(|v| v.bound != Bound::Range);
        if !beyond {
            return Ok(slower);
        }
    }
    Err(PlanError::TooHeavy)
}

/// Largest efforts beside a crossing, looked at in steps of one length.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Beside {
    /// The step.
    pub step: f64,
    /// Largest effort of each drive, friction included, at twenty instants on either side, a third of a step off it.
    pub peaks: Vec<f64>,
}

/// Efforts beside a crossing under refinement of the step, from a millisecond to a microsecond: where they have a limit they
/// do not grow.
pub fn refined(model: &Model<f64>, mode: &WorkingMode, motion: &Trajectory, crossing: &Crossing) -> Vec<Beside> {
    let free = model.without_ranges();
    let mut dynamics = Dynamics::new(&free);
    let known = known_efforts(std::slice::from_ref(crossing));
    let n = free.topology().platform.independent.len();
    let mut effort = |t: f64| {
        let desired = motion.at(t);
        let (mut t_r, mut td_r) = ([0.0; 6], [0.0; 6]);
        desired.components(&free, &mut t_r[..n], &mut td_r[..n]);
        let found = dynamics.inverse(&free, &desired.pose, mode, &t_r[..n], &td_r[..n], Some(Sign::Sharp));
        found.ok().map(<[f64]>::to_vec).or_else(|| known.first().map(|k| k.with_friction.clone()))
    };
    let mut one = |step: f64| {
        let mut peaks = vec![0.0_f64; free.topology().active.len()];
        for k in -20..20 {
            let t = crossing.t + (f64::from(k) + 1.0 / 3.0) * step;
            let found = effort(t).unwrap_or_default();
            peaks.iter_mut().zip(found).for_each(|(peak, x)| *peak = peak.max(x.abs()));
        }
        Beside { step, peaks }
    };
    [1e-3, 1e-4, 1e-5, 1e-6].map(&mut one).into()
}
