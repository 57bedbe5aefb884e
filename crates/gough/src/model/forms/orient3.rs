//! R R R from a rotation: a wrist.

use super::{ChainNumbers, ChainWalk, ClosedForm, FormLimits, Recipe, Slot};
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Rotation, Vec3};

/// Three revolutes that turn the end body; where they are driven, the way to point is a working mode.
#[derive(Clone, PartialEq, Debug)]
pub struct Orient3<S: Real> {
    /// Leads to the first joint.
    C: Rotation<S>,
    joints: [Slot; 3],
    /// The second joint behind the first, and the third behind the second.
    C1: Rotation<S>,
    C2: Rotation<S>,
    /// First and last row of the rotation behind all.
    d0: Vec3<S>,
    d2: Vec3<S>,
    flip: f64,
    mode: bool,
}

impl<S: Real> Orient3<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Orient3<T> {
        Orient3 {
            C: self.C.map(f),
            joints: self.joints,
            C1: self.C1.map(f),
            C2: self.C2.map(f),
            d0: self.d0.map(&mut *f),
            d2: self.d2.map(&mut *f),
            flip: self.flip,
            mode: self.mode,
        }
    }
}

impl<S: Real> ClosedForm<S> for Orient3<S> {
    const TAKES: usize = 3;
    const ORIENTS: bool = true;

    fn roots(recipe: &Recipe) -> Vec<Root> {
        recipe.mode.then_some(Root::Elbow).into_iter().collect()
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let at = recipe.at;
        Self {
            C: chain.turn_before(at),
            joints: chain.slots(at),
            C1: chain.turn_before(at + 1),
            C2: chain.turn_before(at + 2),
            d0: chain.row_of_rest(at + 3, 0),
            d2: chain.row_of_rest(at + 3, 2),
            flip: recipe.flip,
            mode: recipe.mode,
        }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.R = self.C.inverse() * walk.R;
        let flip = walk.flip(self.flip, self.mode);
        let u = walk.R.apply(self.d2);
        let (q1, q2) = walk.pointing(&self.C1, self.C2.z(), u, flip);
        walk.orient_by(self.joints[0], q1);
        walk.R = self.C1.inverse() * walk.R;
        walk.orient_by(self.joints[1], q2);
        walk.R = self.C2.inverse() * walk.R;
        walk.orient(self.joints[2], self.d0);
    }
}

impl FormLimits for Orient3<f64> {
    fn scale(&self, _: f64) -> f64 {
        1.0
    }
}
