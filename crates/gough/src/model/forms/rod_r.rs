//! R before a rod: the crank that brings the first ball to the rod's length from the second, a sphere and a circle.

use super::{ChainNumbers, ChainWalk, ClosedForm, Form, Held, FormLimits, Locked, Recipe, Slot, View, planar};
use crate::model::chain::{ChainMotion, meeting, on_z};
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Vec3};

/// A crank that drives a rod. `+` of the mode is counter-clockwise from the target.
#[derive(Clone, PartialEq, Debug)]
pub struct RodR<S: Real> {
    /// Leads to the crank.
    C: Pose<S>,
    joint: Slot,
    /// The first ball behind the crank.
    c: Vec3<S>,
    /// Square of the crank's length.
    l1_sq: S,
    /// Half of `c² - rod²`.
    k0: S,
}

impl<S: Real> RodR<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> RodR<T> {
        RodR {
            C: self.C.map(f),
            joint: self.joint,
            c: self.c.map(&mut *f),
            l1_sq: f(self.l1_sq),
            k0: f(self.k0),
        }
    }
}

impl RodR<f64> {
    fn rod(&self) -> f64 {
        (self.c.norm_squared() - 2.0 * self.k0).max(0.0).sqrt()
    }
}

impl<S: Real> ClosedForm<S> for RodR<S> {
    const TAKES: usize = 1;

    fn roots(_: &Recipe) -> Vec<Root> {
        vec![Root::Elbow]
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        if view.motions(at) != [ChainMotion::Turn; 3] || !view.axes_cross(at + 1) {
            return None;
        }
        let c = *view.between(at + 1) * on_z(meeting(view.between(at + 2)).0);
        view.is_long(c).then(|| Recipe::of(Form::RodR, at))
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let ([joint], (c, rod_sq)) = (chain.slots(recipe.at), chain.rod(recipe.at));
        let k0 = (c.dot(&c) - rod_sq) * S::lit(0.5);
        Self { C: chain.between[recipe.at], joint, c, l1_sq: planar(c), k0 }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.enter(&self.C);
        let sign = walk.take_sign(self.joint);
        let k = walk.t.dot(&walk.t) * S::lit(0.5) + self.k0 - walk.t.z * self.c.z;
        let (B, h) = walk.circles(k, self.l1_sq, sign);
        walk.turned_onto(self.joint, self.c, (B, k, h), self.l1_sq);
    }
}

impl FormLimits for RodR<f64> {
    fn scale(&self, _: f64) -> f64 {
        self.l1_sq * (self.l1_sq.sqrt() + self.rod()).powi(2)
    }

    fn missing(&self, t: Vec3<f64>) -> f64 {
        // Distances from the target to the circle of the rod's ball lie between near and far.
        let (r, l1, dz) = (t.x.hypot(t.y), self.l1_sq.sqrt(), t.z - self.c.z);
        let (near, far) = ((r - l1).hypot(dz), (r + l1).hypot(dz));
        (near - self.rod()).max(self.rod() - far).max(0.0)
    }

    fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
        let centre = self.C.turned(held.turn(&self.joint)?) * self.c;
        Some(Locked::Rod { centre, point, length: self.rod() })
    }
}
