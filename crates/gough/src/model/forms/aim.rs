//! R: a point onto a point.

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, FormLimits, Recipe, Slot, View, planar};
use crate::scalar::Real;
use crate::spatial::{Pose, Turn, Vec3};

/// A revolute that turns its tip onto the target.
#[derive(Clone, PartialEq, Debug)]
pub struct Aim<S: Real> {
    /// Leads to the joint.
    C: Pose<S>,
    joint: Slot,
    /// The tip, and the square of its distance from the axis.
    p: Vec3<S>,
    p2: S,
}

impl<S: Real> Aim<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Aim<T> {
        Aim { C: self.C.map(f), joint: self.joint, p: self.p.map(&mut *f), p2: f(self.p2) }
    }
}

impl<S: Real> ClosedForm<S> for Aim<S> {
    const TAKES: usize = 1;

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        (view.are(at, "R") && view.is_long(view.centre_from(at + 1))).then(|| Recipe::of(Form::Aim, at))
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let ([joint], p) = (chain.slots(recipe.at), chain.centre_from(recipe.at + 1));
        Self { C: chain.between[recipe.at], joint, p, p2: planar(p) }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.cross(&self.C);
        walk.turned(self.joint, Turn::between(self.p, walk.t, self.p2));
    }
}

impl FormLimits for Aim<f64> {}
