//! P R in the plane: a slider with a link.

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, Held, FormLimits, Locked, Recipe, Slot, View, planar};
use crate::model::chain::on_z;
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Turn, Vec3};

/// A link on a slider whose tip meets the target: a circle and a line. `+` of the mode is the larger slide.
#[derive(Clone, PartialEq, Debug)]
pub struct ReachPR<S: Real> {
    /// Leads to the slide.
    C: Pose<S>,
    joints: [Slot; 2],
    /// The revolute behind the slide.
    C1: Pose<S>,
    /// The tip behind the revolute.
    p: Vec3<S>,
    /// Direction of the slide, seen from the revolute.
    s: Vec3<S>,
    /// Square of the link's length.
    l2_sq: S,
}

impl<S: Real> ReachPR<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> ReachPR<T> {
        ReachPR {
            C: self.C.map(f),
            joints: self.joints,
            C1: self.C1.map(f),
            p: self.p.map(&mut *f),
            s: self.s.map(&mut *f),
            l2_sq: f(self.l2_sq),
        }
    }
}

impl<S: Real> ClosedForm<S> for ReachPR<S> {
    const TAKES: usize = 2;

    fn roots(_: &Recipe) -> Vec<Root> {
        vec![Root::Slider]
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        (view.are(at, "PR") && view.is_long(view.centre_from(at + 2))).then(|| Recipe::of(Form::ReachPR, at))
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let (C1, p) = (chain.between[recipe.at + 1], chain.centre_from(recipe.at + 2));
        let s = C1.R.apply_inv(on_z(S::one()));
        Self { C: chain.between[recipe.at], joints: chain.slots(recipe.at), C1, p, s, l2_sq: planar(p) }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.enter(&self.C);
        let sign = walk.take_sign(self.joints[0]);
        let (s, t) = (self.s, self.C1.apply_inv(walk.t));
        let across = s.x * t.y - s.y * t.x;
        let q = s.x * t.x + s.y * t.y + walk.root(self.l2_sq - across * across, sign);
        walk.slid(self.joints[0], q);
        walk.cross(&self.C1);
        walk.turned(self.joints[1], Turn::between(self.p, walk.t, self.l2_sq));
    }
}

impl FormLimits for ReachPR<f64> {
    fn scale(&self, _: f64) -> f64 {
        self.l2_sq
    }

    fn missing(&self, t: Vec3<f64>) -> f64 {
        let t = self.C1.apply_inv(t);
        ((self.s.x * t.y - self.s.y * t.x).abs() - self.l2_sq.sqrt()).max(0.0)
    }

    fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
        let centre = self.C.slid(held.slide(&self.joints[0])?) * self.C1.p;
        Some(Locked::Rod { centre, point, length: self.l2_sq.sqrt() })
    }
}
