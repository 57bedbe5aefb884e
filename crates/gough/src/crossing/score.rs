//! What a motion through singularities is worth, looked at quickly: peaks, energy, and how far limits are left.

use super::optimise::Objective;
use crate::analysis::Probe;
use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::motion::move_from;
use crate::kinematics::{Kind, WorkingMode, inverse_in};
use crate::model::Model;
use crate::trajectory::{Trajectory, drive_limits};
use serde::Serialize;

/// Instants that are looked at.
const INSTANTS: u32 = 200;

/// What a motion is worth. Efforts count as shares of the largest effort of their drive, where all drives have one in the
/// file, else as they are.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Score {
    /// Largest effort, friction included.
    pub peak: f64,
    /// Sum over the drives of the integral of the square of the effort.
    pub energy: f64,
    /// Largest effort or speed over its limit; zero without limits.
    pub load: f64,
}

impl Score {
    /// The number that is to be small; limits that are left count a hundredfold.
    #[doc(hidden)]
    pub fn of(&self, objective: Objective, duration: f64) -> f64 {
        let beyond = 1.0 + 100.0 * (self.load - 1.0).max(0.0);
        beyond
            * match objective {
                Objective::Peak => self.peak,
                Objective::Energy => self.energy,
                Objective::Time => duration,
            }
    }
}

/// A singularity that a motion is to cross: when, and how many motions of the platform are lost there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Passing {
    /// When.
    pub t: f64,
    /// How many motions are lost: the sign of det J changes where their number is odd.
    pub lost: usize,
}

/// What a motion is worth; nothing when it leaves the workspace, or changes the sign of det J elsewhere than at the times at
/// which it is to cross.
pub fn score(model: &Model<f64>, mode: &WorkingMode, motion: &Trajectory, crossings: &[Passing]) -> Option<Score> {
    let limits = drive_limits(model);
    let all = limits.iter().all(|l| l.effort.is_some());
    let unit = |k: usize| limits[k].effort.filter(|_| all).unwrap_or(1.0);
    let (mut dynamics, mut probe) = (Dynamics::new(model), Probe::new(model, mode));
    let n = model.topology().platform.independent.len();
    let [start, end] = motion.span();
    let mut signs = Vec::new();
    let mut first = None;
    let mut score = Score { peak: 0.0, energy: 0.0, load: 0.0 };
    for i in 0..=INSTANTS {
        let t = start + (end - start) * f64::from(i) / f64::from(INSTANTS);
        if crossings.iter().any(|c| (c.t - t).abs() < 1e-3 * (end - start)) {
            continue;
        }
        let desired = motion.at(t);
        let (mut t_r, mut td_r) = ([0.0; 6], [0.0; 6]);
        desired.components(model, &mut t_r[..n], &mut td_r[..n]);
        probe.take(&desired.pose).ok()?;
        probe.signs(&mut signs);
        // One sign per function, that of Type 2 changing as often as motions were lost.
        let passed = crossings.iter().filter(|c| c.t < t).map(|c| c.lost).sum::<usize>() % 2 == 1;
        let seen: Vec<bool> = signs.iter().map(|f| (f.2 > 0.0) != (passed && f.0 == Kind::Type2)).collect();
        if *first.get_or_insert_with(|| seen.clone()) != seen {
            return None;
        }
        if limits.iter().any(|l| l.speed.is_some()) {
            inverse_in(model, &desired.pose, mode, &mut dynamics.pos).ok()?;
            move_from(model, &t_r[..n], &td_r[..n], &mut dynamics.pos, &mut dynamics.motion).ok()?;
            for (c, limit) in model.topology().active.iter().zip(&limits) {
                let share = limit.speed.map_or(0.0, |speed| dynamics.motion.rates[*c].abs() / speed);
                score.load = score.load.max(share);
            }
        }
        let friction = Some(Sign::Sharp);
        let efforts = dynamics.inverse(model, &desired.pose, mode, &t_r[..n], &td_r[..n], friction).ok()?;
        for (k, effort) in efforts.iter().enumerate() {
            let share = effort.abs() / unit(k);
            score.peak = score.peak.max(share);
            score.energy += share * share * (end - start) / f64::from(INSTANTS);
            score.load = score.load.max(limits[k].effort.map_or(0.0, |limit| effort.abs() / limit));
        }
    }
    Some(score)
}
