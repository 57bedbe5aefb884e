//! Singularities that a motion comes to: functions of the posture that change their sign there.

use crate::analysis::singularity::{sigma, singularities};
use crate::analysis::{Probe, SingularFunction};
use crate::kinematics::{Kind, Positions, WorkingMode, inverse_beside};
use crate::model::Model;
use crate::spatial::Pose;

/// A crossing whose smallest singular value is above this is one of the rows that the plan picked, not of the robot.
const GENUINE: f64 = 1e-4;

/// A step that becomes too small this near a singularity, by its singular value, is the singularity's doing.
pub(super) const NEAR: f64 = 1e-2;
/// A singularity that is this near has taken the digits of an acceleration.
pub(super) const FAIRLY_NEAR: f64 = 0.1;

/// Looks at one posture after the other.
pub(super) struct Watch<'m> {
    model: &'m Model<f64>,
    mode: &'m WorkingMode,
    probe: Probe,
    through_type2: bool,
    before: Vec<SingularFunction>,
    now: Vec<SingularFunction>,
}

impl<'m> Watch<'m> {
    pub fn new(model: &'m Model<f64>, mode: &'m WorkingMode, through_type2: bool) -> Self {
        let probe = Probe::new(model, mode);
        Self { model, mode, probe, through_type2, before: Vec::new(), now: Vec::new() }
    }

    /// Take the signs of a posture as those to compare with.
    pub fn start(&mut self, pose: &Pose<f64>) {
        self.before.clear();
        if self.probe.take(pose).is_ok() {
            self.probe.signs(&mut self.before);
        }
    }

    /// Take the signs of the posture that [`Watch::crossed`] looked at last as those to compare with.
    pub fn go_on(&mut self) {
        std::mem::swap(&mut self.before, &mut self.now);
    }

    /// The first function that has another sign at this posture than before.
    pub fn crossed(&mut self, pose: &Pose<f64>) -> Option<usize> {
        let (probe, now) = (&mut self.probe, &mut self.now);
        now.clear();
        if probe.take(pose).is_err() {
            return None;
        }
        probe.signs(now);
        let differ = |(a, b): (&SingularFunction, &SingularFunction)| {
            (a.2 > 0.0) != (b.2 > 0.0) && !(self.through_type2 && b.0 == Kind::Type2)
        };
        self.before.iter().zip(&*now).position(differ)
    }

    /// Whether function `k` has at this posture the sign it had before.
    pub fn keeps(&mut self, k: usize, pose: &Pose<f64>) -> bool {
        if self.probe.take(pose).is_err() {
            return false;
        }
        self.probe.signs(&mut self.now);
        match (self.before.get(k), self.now.get(k)) {
            (Some(a), Some(b)) => (a.2 > 0.0) == (b.2 > 0.0),
            _ => false,
        }
    }

    /// The singularity of function `k` at a posture, with its legs; `None` where it is only the plan's.
    pub fn name(&mut self, k: usize, pose: &Pose<f64>) -> Option<(Kind, Option<String>)> {
        self.probe.take(pose).ok()?;
        let (kind, block, _) = *self.before.get(k)?;
        let singular = sigma(self.model, self.probe.positions(), kind)? < GENUINE;
        singular.then(|| (kind, block.map(|b| self.legs(b))))
    }

    fn legs(&self, block: usize) -> String {
        let t = self.model.topology();
        let names = t.plan.matrices.blocks[block].legs.iter().map(|l| t.legs[*l].name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    /// The singularity that a posture, which is beside another, is at or near to, if any: by a singular value below this.
    pub fn near(&self, pose: &Pose<f64>, beside: &Positions<f64>, sigma: f64) -> Option<(Kind, Option<String>)> {
        let posture = inverse_beside(&self.model.without_ranges(), pose, self.mode, beside).ok()?;
        let report = singularities(self.model, &posture);
        let worst = report.list.iter().min_by(|a, b| a.sigma.total_cmp(&b.sigma))?;
        (worst.sigma < sigma).then(|| (worst.kind, worst.leg.clone()))
    }
}
