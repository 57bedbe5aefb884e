//! R P in the plane: a strut that turns and extends, (7.20)-(7.21).

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, Held, FormLimits, Locked, Recipe, Slot, View, planar};
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Turn, Vec3};

/// A strut in the plane whose tip meets the target.
#[derive(Clone, PartialEq, Debug)]
pub struct ReachRP<S: Real> {
    /// Leads to the revolute.
    C: Pose<S>,
    /// Revolute and slide.
    pub joints: [Slot; 2],
    /// The slide behind the revolute.
    C1: Pose<S>,
    /// The tip at zero slide, in the plane, and the direction of the slide, both seen from the revolute.
    g: Vec3<S>,
    s: Vec3<S>,
    /// The tip along the slide, and the square of its distance from it.
    g_s: S,
    offset_sq: S,
    /// The side of its foot that the slide stands on, where that is no working mode.
    pub sign: Option<f64>,
}

impl<S: Real> ReachRP<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> ReachRP<T> {
        ReachRP {
            C: self.C.map(f),
            joints: self.joints,
            C1: self.C1.map(f),
            g: self.g.map(&mut *f),
            s: self.s.map(&mut *f),
            g_s: f(self.g_s),
            offset_sq: f(self.offset_sq),
            sign: self.sign,
        }
    }
}

impl<S: Real> ClosedForm<S> for ReachRP<S> {
    const TAKES: usize = 2;

    fn roots(recipe: &Recipe) -> Vec<Root> {
        recipe.sign.is_none().then_some(Root::Slider).into_iter().collect()
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        if !view.are(at, "RP") {
            return None;
        }
        let C1 = view.between(at + 1);
        let mut g = *C1 * view.centre_from(at + 2);
        g.z = 0.0;
        Some(Recipe { sign: view.slide_sign(at + 1, g, C1.R.z()), ..Recipe::of(Form::ReachRP, at) })
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let C1 = chain.between[recipe.at + 1];
        let (mut g, s) = (C1 * chain.centre_from(recipe.at + 2), C1.R.z());
        g.z = S::zero();
        let g_s = g.dot(&s);
        let offset_sq = planar(g) - g_s * g_s;
        let joints = chain.slots(recipe.at);
        Self { C: chain.between[recipe.at], joints, C1, g, s, g_s, offset_sq, sign: recipe.sign }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.enter(&self.C);
        let r2 = planar(walk.t);
        let side = walk.side(self.sign, self.joints[1]);
        let q = walk.root(r2 - self.offset_sq, side) - self.g_s;
        walk.turned(self.joints[0], Turn::between(self.g + self.s * q, walk.t, r2));
        walk.cross(&self.C1);
        walk.slid(self.joints[1], q);
    }
}

impl FormLimits for ReachRP<f64> {
    fn scale(&self, size: f64) -> f64 {
        self.offset_sq.max(1e-9 * size * size)
    }

    fn missing(&self, t: Vec3<f64>) -> f64 {
        (self.offset_sq.sqrt() - t.x.hypot(t.y)).max(0.0)
    }

    fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
        let length = (self.g + self.s * held.slide(&self.joints[1])?).norm();
        Some(Locked::Rod { centre: self.C.p, point, length })
    }
}
