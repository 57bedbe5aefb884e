//! R R with crossing axes: a vector onto a vector.

use super::chain_numbers::Cross;
use super::{ChainNumbers, ChainWalk, ClosedForm, Form, FormLimits, Recipe, Slot, View};
use crate::model::chain::{ChainMotion, meeting, on_z};
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Vec3, vec3};

/// Two crossing revolutes that turn a vector, from where they meet, onto the target.
#[derive(Clone, PartialEq, Debug)]
pub struct Point<S: Real> {
    /// Leads to the first joint.
    C: Pose<S>,
    joints: [Slot; 2],
    cross: Cross<S>,
    /// The vector, behind the second joint.
    d: Vec3<S>,
    flip: f64,
    mode: bool,
}

impl<S: Real> Point<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Point<T> {
        Point {
            C: self.C.map(f),
            joints: self.joints,
            cross: self.cross.map(f),
            d: self.d.map(&mut *f),
            flip: self.flip,
            mode: self.mode,
        }
    }
}

/// Turn `d`, from where two crossing axes meet, onto the target.
#[inline(always)]
pub(super) fn point<S: Real>(
    walk: &mut ChainWalk<'_, S>,
    joints: [Slot; 2],
    cross: &Cross<S>,
    d: Vec3<S>,
    flip: S,
) {
    let u = walk.t - vec3(S::zero(), S::zero(), cross.z1);
    let (q1, q2) = walk.pointing(&cross.C1.R, d, u, flip);
    walk.turned(joints[0], q1);
    walk.cross(&cross.C1);
    walk.turned(joints[1], q2);
}

impl<S: Real> ClosedForm<S> for Point<S> {
    const TAKES: usize = 2;

    fn roots(recipe: &Recipe) -> Vec<Root> {
        recipe.mode.then_some(Root::Turned).into_iter().collect()
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        if view.motions(at) != [ChainMotion::Turn; 2] || !view.axes_cross(at) {
            return None;
        }
        let (_, z2) = meeting(view.between(at + 1));
        let d = view.centre_from(at + 2) - on_z(z2);
        let mode = view.turned_round_differs(at, d);
        Some(Recipe { flip: view.flip(at, d)?, mode, ..Recipe::of(Form::Point, at) })
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let cross = chain.cross(recipe.at);
        let d = chain.centre_from(recipe.at + 2) - on_z(cross.z2);
        let (C, joints) = (chain.between[recipe.at], chain.slots(recipe.at));
        Self { C, joints, cross, d, flip: recipe.flip, mode: recipe.mode }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.enter(&self.C);
        let flip = walk.flip(self.flip, self.mode);
        point(walk, self.joints, &self.cross, self.d, flip);
    }
}

impl FormLimits for Point<f64> {
    fn scale(&self, _: f64) -> f64 {
        self.d.norm_squared()
    }

    fn missing(&self, t: Vec3<f64>) -> f64 {
        (t.norm() - self.d.norm()).abs()
    }
}
