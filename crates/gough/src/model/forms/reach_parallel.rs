//! R R of a dyad that completes a parallelogram: solved by it, without a square root.

use super::reach_rr::are_two_links;
use super::view::HingedBar;
use super::{ChainNumbers, ChainWalk, ClosedForm, Form, FormLimits, Recipe, Slot, View, planar};
use crate::model::plan::Root;
use crate::scalar::Real;
use crate::spatial::{Pose, Turn, Vec3};

/// Two links whose first is parallel to the line from the opposite hinge to the target. Crossed: the mirror image at the line
/// to the target.
#[derive(Clone, PartialEq, Debug)]
pub struct ReachParallel<S: Real> {
    /// Leads to the first joint.
    C: Pose<S>,
    joints: [Slot; 2],
    /// The second joint behind the first.
    C1: Pose<S>,
    /// The tip behind the second.
    p: Vec3<S>,
    /// Squares of the lengths.
    l1_sq: S,
    l2_sq: S,
    /// Hinge of the opposite bar, on the end node.
    opposite: Vec3<S>,
}

impl<S: Real> ReachParallel<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> ReachParallel<T> {
        ReachParallel {
            C: self.C.map(f),
            joints: self.joints,
            C1: self.C1.map(f),
            p: self.p.map(&mut *f),
            l1_sq: f(self.l1_sq),
            l2_sq: f(self.l2_sq),
            opposite: self.opposite.map(&mut *f),
        }
    }
}

/// Whether a bar is opposite to the second link: its first hinge on the axis of the first joint, as long as the second link,
/// and as far from the centre on the end body as the first link is long.
fn is_opposite(view: &View<'_>, bar: &HingedBar) -> bool {
    let (C0, C1) = (view.between(0), view.between(1));
    let (l1, l2) = (C1.p.xy().norm(), view.between(2).p.xy().norm());
    let last = view.constants.between.len() - 1;
    let behind = (view.centre.min(last) + 1..=last).fold(Pose::identity(), |X, k| X * *view.between(k));
    let centre = behind.apply_inv(Vec3::zeros());
    let [A, A_bar] = &bar.first;
    let [D_bar, D] = &bar.second;
    let z = C0.R.z();
    let same_axis = A.R.z().cross(&z).norm() < 1e-9 && (A.p - C0.p).cross(&z).norm() < 1e-9 * (1.0 + l1);
    let across = |v: Vec3<f64>, z: Vec3<f64>| (v - z * z.dot(&v)).norm();
    let bar_length = across(D_bar.p - A_bar.p, A_bar.R.z());
    let coupler = across(centre - D.p, D.R.z());
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (l1 + l2);
    same_axis && near(bar_length, l2) && near(coupler, l1)
}

impl<S: Real> ClosedForm<S> for ReachParallel<S> {
    const TAKES: usize = 2;

    fn roots(_: &Recipe) -> Vec<Root> {
        vec![Root::Loop]
    }

    fn recognise(view: &View<'_>, at: usize) -> Option<Recipe> {
        if at > 0 || !are_two_links(view, at) {
            return None;
        }
        let bar = view.bars.iter().find(|bar| is_opposite(view, bar))?;
        Some(Recipe { hinge: Some(bar.hinge), ..Recipe::of(Form::ReachParallel, at) })
    }

    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self {
        let (C1, p) = (chain.between[recipe.at + 1], chain.centre_from(recipe.at + 2));
        Self {
            C: chain.between[recipe.at],
            joints: chain.slots(recipe.at),
            C1,
            p,
            l1_sq: planar(C1.p),
            l2_sq: planar(p),
            opposite: chain.opposite,
        }
    }

    #[inline(always)]
    fn reach(&self, walk: &mut ChainWalk<'_, S>) {
        let D = self.C.apply_inv((walk.on_end)(self.opposite));
        walk.enter(&self.C);
        let t = walk.t;
        let parallel = t - D;
        let along = (parallel.x * t.x + parallel.y * t.y) / (t.x * t.x + t.y * t.y);
        // The component along the line stays, the one across it changes side.
        let foot = t * along;
        let sign = walk.take_sign(Slot { coord: None, sign: 1.0 });
        let B = foot + (parallel - foot) * sign;
        walk.turned(self.joints[0], Turn::between(self.C1.p, B, self.l1_sq));
        walk.cross(&self.C1);
        walk.turned(self.joints[1], Turn::between(self.p, walk.t, self.l2_sq));
    }
}

impl FormLimits for ReachParallel<f64> {}
