//! P before a rod: the slider that brings the first ball to the rod's length from the second, a sphere and a line, (7.28).

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, Held, FormLimits, Locked, Recipe, Slot, View};
use crate::model::chain::ChainMotion;
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Vec3};

/// A slider that drives a rod. `+` of the mode is the larger slide.
#[derive(Clone, PartialEq, Debug)]
pub struct RodP<S: Real> {
    /// Leads to the slide.
    C: Pose<S>,
    joint: Slot,
    /// The first ball behind the slide.
    c: Vec3<S>,
    /// Square of the rod's length.
    rod_sq: S,
}

impl<S: Real> RodP<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> RodP<T> {
        RodP { C: self.C.map(f), joint: self.joint, c: self.c.map(&mut *f), rod_sq: f(self.rod_sq) }
    }
}

impl<S: Real> ClosedForm<S> for RodP<S> {
    const TAKES: usize = 1;

    fn roots(_: &Recipe) -> Vec<Root> {
        vec![Root::Slider]
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        let drives = view.motions(at) == [ChainMotion::Slide, ChainMotion::Turn, ChainMotion::Turn];
        (drives && view.axes_cross(at + 1)).then(|| Recipe::of(Form::RodP, at))
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let ([joint], (c, rod_sq)) = (chain.slots(recipe.at), chain.rod(recipe.at));
        Self { C: chain.between[recipe.at], joint, c, rod_sq }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.enter(&self.C);
        let sign = walk.take_sign(self.joint);
        let w = walk.t - self.c;
        let q = w.z + walk.root(self.rod_sq - w.x * w.x - w.y * w.y, sign);
        walk.slid(self.joint, q);
    }
}

impl FormLimits for RodP<f64> {
    fn scale(&self, _: f64) -> f64 {
        self.rod_sq
    }

    fn missing(&self, t: Vec3<f64>) -> f64 {
        let w = t - self.c;
        (w.x.hypot(w.y) - self.rod_sq.sqrt()).max(0.0)
    }

    fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
        let centre = self.C.slid(held.slide(&self.joint)?) * self.c;
        Some(Locked::Rod { centre, point, length: self.rod_sq.sqrt() })
    }
}
