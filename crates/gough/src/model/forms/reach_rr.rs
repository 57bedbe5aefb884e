//! R R with parallel axes: a planar two-link chain, (7.15)-(7.16).

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, Held, FormLimits, Locked, Recipe, Slot, View, outside, planar};
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Turn, Vec3};

/// Two links whose tip meets the target: two circles. `+` of the mode is counter-clockwise from the target.
#[derive(Clone, PartialEq, Debug)]
pub struct ReachRR<S: Real> {
    /// Leads to the first joint.
    C: Pose<S>,
    /// The two joints.
    pub joints: [Slot; 2],
    /// The second joint behind the first.
    C1: Pose<S>,
    /// The tip behind the second.
    p: Vec3<S>,
    /// Squares of the lengths.
    l1_sq: S,
    l2_sq: S,
}

impl<S: Real> ReachRR<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> ReachRR<T> {
        ReachRR {
            C: self.C.map(f),
            joints: self.joints,
            C1: self.C1.map(f),
            p: self.p.map(&mut *f),
            l1_sq: f(self.l1_sq),
            l2_sq: f(self.l2_sq),
        }
    }
}

/// Whether two links with parallel axes, neither of them without length, stand from `at` on.
pub(super) fn are_two_links(view: &View<'_>, at: usize) -> bool {
    view.are(at, "RR") && view.is_long(view.between(at + 1).p) && view.is_long(view.centre_from(at + 2))
}

impl<S: Real> ClosedForm<S> for ReachRR<S> {
    const TAKES: usize = 2;

    fn roots(_: &Recipe) -> Vec<Root> {
        vec![Root::Elbow]
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        are_two_links(view, at).then(|| Recipe::of(Form::ReachRR, at))
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let (C1, p) = (chain.between[recipe.at + 1], chain.centre_from(recipe.at + 2));
        let joints = chain.slots(recipe.at);
        Self { C: chain.between[recipe.at], joints, C1, p, l1_sq: planar(C1.p), l2_sq: planar(p) }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.enter(&self.C);
        let sign = walk.take_sign(self.joints[0]);
        let k = (planar(walk.t) + self.l1_sq - self.l2_sq) * S::lit(0.5);
        let (B, h) = walk.circles(k, self.l1_sq, sign);
        walk.turned_onto(self.joints[0], self.C1.p, (B, k, h), self.l1_sq);
        walk.cross(&self.C1);
        walk.turned(self.joints[1], Turn::between(self.p, walk.t, self.l2_sq));
    }
}

impl FormLimits for ReachRR<f64> {
    fn scale(&self, _: f64) -> f64 {
        self.l1_sq * (self.l1_sq.sqrt() + self.l2_sq.sqrt()).powi(2)
    }

    fn missing(&self, t: Vec3<f64>) -> f64 {
        outside(t.x.hypot(t.y), self.l1_sq.sqrt(), self.l2_sq.sqrt())
    }

    fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
        if let Some(turn) = held.turn(&self.joints[0]) {
            return Some(Locked::Rod { centre: self.C.turned(turn) * self.C1.p, point, length: self.l2_sq.sqrt() });
        }
        let tip = self.C1 * held.turn(&self.joints[1])?.apply(self.p);
        Some(Locked::Rod { centre: self.C.p, point, length: tip.x.hypot(tip.y) })
    }
}
