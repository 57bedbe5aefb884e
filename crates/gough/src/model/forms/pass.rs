//! A joint whose coordinate is known.

use super::{ChainNumbers, ChainWalk, ClosedForm, FormLimits, Recipe, Slot};
use crate::model::chain::ChainMotion;
use crate::scalar::Real;
use crate::spatial::Pose;

/// A joint that the chain steps over.
#[derive(Clone, PartialEq, Debug)]
pub struct Pass<S: Real> {
    /// Leads to the joint.
    C: Pose<S>,
    motion: ChainMotion,
    joint: Slot,
}

impl<S: Real> Pass<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Pass<T> {
        Pass { C: self.C.map(f), motion: self.motion, joint: self.joint }
    }
}

impl<S: Real> ClosedForm<S> for Pass<S> {
    const TAKES: usize = 1;

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let (motion, joint) = chain.slots[recipe.at];
        Self { C: chain.between[recipe.at], motion, joint }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.cross(&self.C);
        walk.known(self.motion, self.joint);
    }
}

impl FormLimits for Pass<f64> {}
