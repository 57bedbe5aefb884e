//! R from a rotation.

use super::{ChainNumbers, ChainWalk, ClosedForm, FormLimits, Recipe, Slot};
use crate::scalar::Real;
use crate::spatial::{Rotation, Vec3};

/// A revolute that turns the end body.
#[derive(Clone, PartialEq, Debug)]
pub struct Orient1<S: Real> {
    /// Leads to the joint.
    C: Rotation<S>,
    joint: Slot,
    /// First row of the rotation behind it.
    d0: Vec3<S>,
}

impl<S: Real> Orient1<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Orient1<T> {
        Orient1 { C: self.C.map(f), joint: self.joint, d0: self.d0.map(&mut *f) }
    }
}

impl<S: Real> ClosedForm<S> for Orient1<S> {
    const TAKES: usize = 1;
    const ORIENTS: bool = true;

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let [joint] = chain.slots(recipe.at);
        Self { C: chain.turn_before(recipe.at), joint, d0: chain.row_of_rest(recipe.at + 1, 0) }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.R = self.C.inverse() * walk.R;
        walk.orient(self.joint, self.d0);
    }
}

impl FormLimits for Orient1<f64> {}
