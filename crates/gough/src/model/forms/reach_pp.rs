//! P P in the plane.

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, FormLimits, Recipe, Slot, View, planar};
use crate::scalar::Real;
use crate::spatial::{Pose, Vec3};

/// Two slides in different directions whose tip meets the target.
#[derive(Clone, PartialEq, Debug)]
pub struct ReachPP<S: Real> {
    /// Leads to the first slide.
    C: Pose<S>,
    joints: [Slot; 2],
    /// The second slide behind the first.
    C1: Pose<S>,
    /// The tip at zero slides, seen from the first.
    p: Vec3<S>,
    /// Direction of the second slide, its part across the first, and the square of that part.
    a: Vec3<S>,
    b: Vec3<S>,
    b2: S,
}

impl<S: Real> ReachPP<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> ReachPP<T> {
        ReachPP {
            C: self.C.map(f),
            joints: self.joints,
            C1: self.C1.map(f),
            p: self.p.map(&mut *f),
            a: self.a.map(&mut *f),
            b: self.b.map(&mut *f),
            b2: f(self.b2),
        }
    }
}

impl<S: Real> ClosedForm<S> for ReachPP<S> {
    const TAKES: usize = 2;

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        (view.are(at, "PP") && view.axes_differ(at)).then(|| Recipe::of(Form::ReachPP, at))
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let C1 = chain.between[recipe.at + 1];
        let (p, a) = (C1 * chain.centre_from(recipe.at + 2), C1.R.z());
        let mut b = a;
        b.z = S::zero();
        Self { C: chain.between[recipe.at], joints: chain.slots(recipe.at), C1, p, a, b, b2: planar(b) }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.cross(&self.C);
        let d = walk.t - self.p;
        let q2 = d.dot(&self.b) / self.b2;
        walk.slid(self.joints[0], d.z - q2 * self.a.z);
        walk.cross(&self.C1);
        walk.slid(self.joints[1], q2);
    }
}

impl FormLimits for ReachPP<f64> {}
