//! P: the height of the target along the axis.

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, Held, FormLimits, Locked, Recipe, Slot, View};
use crate::scalar::Real;
use crate::spatial::{Pose, Vec3};

/// A slide that meets the target along its axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Slide<S: Real> {
    /// Leads to the joint.
    C: Pose<S>,
    joint: Slot,
    /// Height of the tip behind it.
    k: S,
}

impl<S: Real> Slide<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Slide<T> {
        Slide { C: self.C.map(f), joint: self.joint, k: f(self.k) }
    }
}

impl<S: Real> ClosedForm<S> for Slide<S> {
    const TAKES: usize = 1;

    /// A slide along the normal before planar joints, or the only planar joint.
    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        let letters = view.letters(at)?;
        (letters.starts_with('L') || view.are(at, "P")).then(|| Recipe::of(Form::Slide, at))
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let [joint] = chain.slots(recipe.at);
        Self { C: chain.between[recipe.at], joint, k: chain.centre_from(recipe.at + 1).z }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.cross(&self.C);
        let q = walk.t.z - self.k;
        walk.slid(self.joint, q);
    }
}

impl FormLimits for Slide<f64> {
    fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
        let normal = self.C.R.z();
        let offset = normal.dot(&self.C.p) + held.slide(&self.joint)? + self.k;
        Some(Locked::Plane { normal, offset, point })
    }
}
