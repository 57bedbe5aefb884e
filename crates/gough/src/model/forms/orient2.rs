//! R R from a rotation.

use super::{ChainNumbers, ChainWalk, ClosedForm, FormLimits, Recipe, Slot, planar};
use crate::scalar::Real;
use crate::spatial::{Rotation, Turn, Vec3};

/// Two revolutes that turn the end body.
#[derive(Clone, PartialEq, Debug)]
pub struct Orient2<S: Real> {
    /// Leads to the first joint.
    C: Rotation<S>,
    joints: [Slot; 2],
    /// The second joint behind the first.
    C1: Rotation<S>,
    /// First and last row of the rotation behind both.
    d0: Vec3<S>,
    d2: Vec3<S>,
}

impl<S: Real> Orient2<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Orient2<T> {
        Orient2 {
            C: self.C.map(f),
            joints: self.joints,
            C1: self.C1.map(f),
            d0: self.d0.map(&mut *f),
            d2: self.d2.map(&mut *f),
        }
    }
}

impl<S: Real> ClosedForm<S> for Orient2<S> {
    const TAKES: usize = 2;
    const ORIENTS: bool = true;

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let at = recipe.at;
        let (d0, d2) = (chain.row_of_rest(at + 2, 0), chain.row_of_rest(at + 2, 2));
        Self { C: chain.turn_before(at), joints: chain.slots(at), C1: chain.turn_before(at + 1), d0, d2 }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.R = self.C.inverse() * walk.R;
        let (k, m) = (self.C1.z(), walk.R.apply(self.d2));
        walk.orient_by(self.joints[0], Turn::between(k, m, planar(k)));
        walk.R = self.C1.inverse() * walk.R;
        walk.orient(self.joints[1], self.d0);
    }
}

impl FormLimits for Orient2<f64> {}
