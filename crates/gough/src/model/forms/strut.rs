//! R R with crossing axes and a P: a strut in space.

use super::chain_numbers::Cross;
use super::point::point;
use super::{ChainNumbers, ChainWalk, ClosedForm, Form, Held, FormLimits, Locked, Recipe, Slot, View};
use crate::model::chain::{ChainMotion, meeting, on_z};
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Vec3, vec3};

/// A strut in space whose tip meets the target: its length first, then where it points.
#[derive(Clone, PartialEq, Debug)]
pub struct Strut<S: Real> {
    /// Leads to the first joint.
    C: Pose<S>,
    /// Two revolutes and the slide.
    pub joints: [Slot; 3],
    cross: Cross<S>,
    /// The tip at zero slide and the direction of the slide, seen from where the axes meet.
    g: Vec3<S>,
    s: Vec3<S>,
    /// The tip along the slide, and the square of its distance from it.
    g_s: S,
    offset_sq: S,
    /// The side of its foot that the slide stands on, where that is no working mode.
    pub sign: Option<f64>,
    /// Which of two ways to point is meant.
    pub flip: f64,
    /// Whether the other way is a working mode.
    mode: bool,
    /// The slide behind the second joint.
    C2: Pose<S>,
}

impl<S: Real> Strut<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Strut<T> {
        Strut {
            C: self.C.map(f),
            joints: self.joints,
            cross: self.cross.map(f),
            g: self.g.map(&mut *f),
            s: self.s.map(&mut *f),
            g_s: f(self.g_s),
            offset_sq: f(self.offset_sq),
            sign: self.sign,
            flip: self.flip,
            mode: self.mode,
            C2: self.C2.map(f),
        }
    }
}

impl<S: Real> ClosedForm<S> for Strut<S> {
    const TAKES: usize = 3;

    fn roots(recipe: &Recipe) -> Vec<Root> {
        let side = recipe.sign.is_none().then_some(Root::Slider);
        side.into_iter().chain(recipe.mode.then_some(Root::Turned)).collect()
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        if view.motions(at) != [ChainMotion::Turn, ChainMotion::Turn, ChainMotion::Slide] || !view.axes_cross(at) {
            return None;
        }
        let C2 = view.between(at + 2);
        let (_, z2) = meeting(view.between(at + 1));
        let g = *C2 * view.centre_from(at + 3) - on_z(z2);
        let s = C2.R.z();
        // Halfway out, the strut points along its own direction.
        let d = g + s * view.size();
        let sign = view.slide_sign(at + 2, g, s);
        let flip = view.flip(at, d * sign.unwrap_or(1.0))?;
        let mode = view.is_beside(g, s) || view.turned_round_differs(at, s);
        Some(Recipe { sign, flip, mode, ..Recipe::of(Form::Strut, at) })
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let at = recipe.at;
        let (cross, C2) = (chain.cross(at), chain.between[at + 2]);
        let (g, s) = (C2 * chain.centre_from(at + 3) - on_z(cross.z2), C2.R.z());
        let g_s = g.dot(&s);
        Self {
            C: chain.between[at],
            joints: chain.slots(at),
            cross,
            g,
            s,
            g_s,
            offset_sq: g.dot(&g) - g_s * g_s,
            sign: recipe.sign,
            flip: recipe.flip,
            mode: recipe.mode,
            C2,
        }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        walk.enter(&self.C);
        let u = walk.t - vec3(S::zero(), S::zero(), self.cross.z1);
        let length = (u.dot(&u) - self.offset_sq).sqrt();
        let q3 = walk.side(self.sign, self.joints[2]) * length - self.g_s;
        let flip = walk.flip(self.flip, self.mode);
        point(walk, [self.joints[0], self.joints[1]], &self.cross, self.g + self.s * q3, flip);
        walk.cross(&self.C2);
        walk.slid(self.joints[2], q3);
    }
}

impl FormLimits for Strut<f64> {
    fn scale(&self, size: f64) -> f64 {
        size * size
    }

    fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
        let length = (self.g + self.s * held.slide(&self.joints[2])?).norm();
        Some(Locked::Rod { centre: self.C * vec3(0.0, 0.0, self.cross.z1), point, length })
    }
}
