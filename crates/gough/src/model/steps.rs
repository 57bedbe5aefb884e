//! Steps of the plan with their constants, in the scalar of the model.

use super::chain::{Constants, Element, Motion, Path, constants, elements, hinge_on, meeting, on_z};
use super::ids::{BodyId, PerBody, PerClosure};
use super::numbers::Numbers;
use super::plan::{BlockPlan, Method, Recipe};
use super::topology::{Anchor, Body, Closure, Leg, Node};
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Vec3};

/// Where the result of a joint of a chain goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slot {
    /// Its coordinate among those of the leg; none for cut joints.
    pub coord: Option<usize>,
    /// +1 when the chain runs along it.
    pub sign: f64,
}

/// A solved step with its constants. `C` leads to the first joint it takes.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Step<S: Real> {
    Pass {
        C: Pose<S>,
        motion: Motion,
        joint: Slot,
    },
    Slide {
        C: Pose<S>,
        joint: Slot,
        k: S,
    },
    Aim {
        C: Pose<S>,
        joint: Slot,
        p: Vec3<S>,
        p2: S,
    },
    ReachRR {
        C: Pose<S>,
        joints: [Slot; 2],
        C1: Pose<S>,
        p: Vec3<S>,
        l1_sq: S,
        l2_sq: S,
    },
    ReachParallel {
        C: Pose<S>,
        joints: [Slot; 2],
        C1: Pose<S>,
        p: Vec3<S>,
        l1_sq: S,
        l2_sq: S,
        opposite: Vec3<S>,
    },
    ReachRP {
        C: Pose<S>,
        joints: [Slot; 2],
        C1: Pose<S>,
        g: Vec3<S>,
        s: Vec3<S>,
        g_s: S,
        offset_sq: S,
        sign: f64,
    },
    ReachPR {
        C: Pose<S>,
        joints: [Slot; 2],
        C1: Pose<S>,
        p: Vec3<S>,
        s: Vec3<S>,
        l2_sq: S,
    },
    ReachPP {
        C: Pose<S>,
        joints: [Slot; 2],
        C1: Pose<S>,
        p: Vec3<S>,
        a: Vec3<S>,
        b: Vec3<S>,
        b2: S,
    },
    RodR {
        C: Pose<S>,
        joint: Slot,
        c: Vec3<S>,
        l1_sq: S,
        k0: S,
    },
    RodP {
        C: Pose<S>,
        joint: Slot,
        c: Vec3<S>,
        rod_sq: S,
    },
    Point {
        C: Pose<S>,
        joints: [Slot; 2],
        cross: Cross<S>,
        d: Vec3<S>,
        flip: f64,
    },
    Strut {
        C: Pose<S>,
        joints: [Slot; 3],
        cross: Cross<S>,
        g: Vec3<S>,
        s: Vec3<S>,
        g_s: S,
        offset_sq: S,
        sign: f64,
        flip: f64,
        C2: Pose<S>,
    },
    Orient1 {
        C: Rotation<S>,
        joint: Slot,
        d0: Vec3<S>,
    },
    Orient2 {
        C: Rotation<S>,
        joints: [Slot; 2],
        C1: Rotation<S>,
        d0: Vec3<S>,
        d2: Vec3<S>,
    },
    Orient3 {
        C: Rotation<S>,
        joints: [Slot; 3],
        C1: Rotation<S>,
        C2: Rotation<S>,
        d0: Vec3<S>,
        d2: Vec3<S>,
        flip: f64,
        mode: bool,
    },
}

/// Two revolute axes that meet: the frame of the second in the first, and where they meet on each.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Cross<S: Real> {
    pub C1: Pose<S>,
    pub z1: S,
    pub z2: S,
}

/// A block with its constants, seen from its leg.
#[derive(Clone, PartialEq, Debug)]
pub struct Block<S: Real> {
    /// Where the chain starts and ends.
    pub ends: [Anchor; 2],
    /// Bodies to be posed through the tree before the block, parents first.
    pub pose_first: Vec<usize>,
    /// The target point on the end node.
    pub target: Vec3<S>,
    /// Whether a rotation is carried along.
    pub oriented: bool,
    /// Where the target should be found behind the last positioning step, for the residual.
    pub tip: Vec3<S>,
    /// Steps before the residual is taken; the others only orient.
    pub positioning: usize,
    /// The steps; empty for Newton.
    pub steps: Vec<Step<S>>,
    /// Bodies on the way whose poses later blocks need: joints passed, frame behind them.
    pub exports: Vec<(usize, usize, Pose<S>)>,
    /// The constants of the chain, for the exports.
    pub between: Vec<Pose<S>>,
    /// How every joint of the chain moves.
    pub joints: Vec<Motion>,
}

impl<S: Real> Block<S> {
    /// The same in another scalar, number by number, always in the same order.
    pub fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Block<T> {
        Block {
            ends: self.ends,
            pose_first: self.pose_first.clone(),
            target: self.target.map(&mut *f),
            oriented: self.oriented,
            tip: self.tip.map(&mut *f),
            positioning: self.positioning,
            steps: self.steps.iter().map(|s| s.map(f)).collect(),
            exports: self.exports.iter().map(|(b, n, X)| (*b, *n, X.map(f))).collect(),
            between: self.between.iter().map(|X| X.map(f)).collect(),
            joints: self.joints.clone(),
        }
    }
}

impl<S: Real> Step<S> {
    /// The same in another scalar, number by number.
    #[rustfmt::skip]
    pub fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Step<T> {
        macro_rules! v { ($x:expr) => { $x.map(&mut *f) }; }
        macro_rules! n { ($x:expr) => { f(*$x) }; }
        match self {
            Step::Pass { C, motion, joint } => Step::Pass { C: v!(C), motion: *motion, joint: *joint },
            Step::Slide { C, joint, k } => Step::Slide { C: v!(C), joint: *joint, k: n!(k) },
            Step::Aim { C, joint, p, p2 } => Step::Aim { C: v!(C), joint: *joint, p: v!(p), p2: n!(p2) },
            Step::ReachRR { C, joints, C1, p, l1_sq, l2_sq } =>
                Step::ReachRR { C: v!(C), joints: *joints, C1: v!(C1), p: v!(p), l1_sq: n!(l1_sq), l2_sq: n!(l2_sq) },
            Step::ReachParallel { C, joints, C1, p, l1_sq, l2_sq, opposite } =>
                Step::ReachParallel { C: v!(C), joints: *joints, C1: v!(C1), p: v!(p), l1_sq: n!(l1_sq), l2_sq: n!(l2_sq), opposite: v!(opposite) },
            Step::ReachRP { C, joints, C1, g, s, g_s, offset_sq, sign } =>
                Step::ReachRP { C: v!(C), joints: *joints, C1: v!(C1), g: v!(g), s: v!(s), g_s: n!(g_s), offset_sq: n!(offset_sq), sign: *sign },
            Step::ReachPR { C, joints, C1, p, s, l2_sq } =>
                Step::ReachPR { C: v!(C), joints: *joints, C1: v!(C1), p: v!(p), s: v!(s), l2_sq: n!(l2_sq) },
            Step::ReachPP { C, joints, C1, p, a, b, b2 } =>
                Step::ReachPP { C: v!(C), joints: *joints, C1: v!(C1), p: v!(p), a: v!(a), b: v!(b), b2: n!(b2) },
            Step::RodR { C, joint, c, l1_sq, k0 } => Step::RodR { C: v!(C), joint: *joint, c: v!(c), l1_sq: n!(l1_sq), k0: n!(k0) },
            Step::RodP { C, joint, c, rod_sq } => Step::RodP { C: v!(C), joint: *joint, c: v!(c), rod_sq: n!(rod_sq) },
            Step::Point { C, joints, cross, d, flip } =>
                Step::Point { C: v!(C), joints: *joints, cross: v!(cross), d: v!(d), flip: *flip },
            Step::Strut { C, joints, cross, g, s, g_s, offset_sq, sign, flip, C2 } =>
                Step::Strut { C: v!(C), joints: *joints, cross: v!(cross), g: v!(g), s: v!(s), g_s: n!(g_s), offset_sq: n!(offset_sq), sign: *sign, flip: *flip, C2: v!(C2) },
            Step::Orient1 { C, joint, d0 } => Step::Orient1 { C: v!(C), joint: *joint, d0: v!(d0) },
            Step::Orient2 { C, joints, C1, d0, d2 } =>
                Step::Orient2 { C: v!(C), joints: *joints, C1: v!(C1), d0: v!(d0), d2: v!(d2) },
            Step::Orient3 { C, joints, C1, C2, d0, d2, flip, mode } =>
                Step::Orient3 { C: v!(C), joints: *joints, C1: v!(C1), C2: v!(C2), d0: v!(d0), d2: v!(d2), flip: *flip, mode: *mode },
        }
    }
}

impl Step<f64> {
    /// Below this the discriminant is zero to rounding: two solutions meet, or a joint turns freely.
    pub fn least_margin(&self, size: f64) -> f64 {
        let scale = match self {
            Step::ReachRR { l1_sq, l2_sq, .. } => l1_sq * (l1_sq.sqrt() + l2_sq.sqrt()).powi(2),
            Step::RodR { c, l1_sq, k0, .. } => {
                let rod = (c.norm_squared() - 2.0 * k0).max(0.0).sqrt();
                l1_sq * (l1_sq.sqrt() + rod).powi(2)
            }
            Step::ReachPR { l2_sq, .. } => *l2_sq,
            Step::RodP { rod_sq, .. } => *rod_sq,
            Step::ReachRP { offset_sq, .. } => offset_sq.max(1e-9 * size * size),
            Step::Point { d, .. } => d.norm_squared(),
            Step::Strut { .. } => size * size,
            Step::Orient3 { .. } => 1.0,
            _ => 0.0,
        };
        1e-14 * scale
    }
}

impl<S: Real> Cross<S> {
    fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Cross<T> {
        Cross { C1: self.C1.map(f), z1: f(self.z1), z2: f(self.z2) }
    }
}

/// Builds the constants of the blocks of a leg.
pub(super) struct BlockBuilder<'a, S: Real> {
    pub(super) bodies: &'a PerBody<Body>,
    pub(super) closures: &'a PerClosure<Closure>,
    pub(super) numbers: &'a Numbers<S>,
    pub(super) leg: &'a Leg,
}

impl<S: Real> BlockBuilder<'_, S> {
    /// The block of a plan in this scalar.
    pub(super) fn block(&self, plan: &BlockPlan) -> Block<S> {
        let inside = |list: &[BodyId]| list.iter().filter_map(|b| self.leg.bodies.local(*b)).collect::<Vec<usize>>();
        let mut block = match &plan.method {
            Method::Newton { .. } => Block {
                ends: [Anchor::World, Anchor::Platform],
                pose_first: Vec::new(),
                target: Vec3::zeros(),
                oriented: false,
                tip: Vec3::zeros(),
                positioning: 0,
                steps: Vec::new(),
                exports: Vec::new(),
                between: Vec::new(),
                joints: Vec::new(),
            },
            Method::Chain { path, recipes, centre } => self.chain(path, recipes, *centre, &inside(&plan.exports)),
        };
        block.pose_first = inside(&plan.pose_first);
        block
    }

    fn slot(&self, e: &Element) -> Slot {
        let coord = e.coord.map(|(c, _)| self.leg.coords.local(c).expect("a chain stays in its leg"));
        Slot { coord, sign: e.coord.map_or(1.0, |(_, s)| s) }
    }

    fn chain(&self, path: &Path, recipes: &[Recipe], centre: usize, exports: &[usize]) -> Block<S> {
        let list = elements(self.bodies, self.closures, path).expect("a planned chain has plain joints");
        let Constants { between, nodes } = constants(self.bodies, self.closures, self.numbers, path);
        let at_centre = centre_point(&list, &between, centre);
        let opposite = recipes.iter().find_map(|r| match r {
            Recipe::ReachParallel { hinge, .. } => {
                Some(hinge_on(self.bodies, self.closures, self.numbers, *hinge, path.end())?.p)
            }
            _ => None,
        });
        let slots: Vec<(Motion, Slot)> = list.iter().map(|e| (e.motion, self.slot(e))).collect();
        let chain = ChainNumbers::new(&between, &slots, centre, at_centre, opposite.unwrap_or_else(Vec3::zeros));
        let target = chain.target;
        let mut steps = Vec::new();
        let mut done = 0;
        let mut positioning = 0;
        for recipe in recipes {
            let (step, taken) = chain.step(recipe, done);
            done += taken;
            if done <= centre {
                positioning = steps.len() + 1;
            }
            steps.push(step);
        }
        let oriented =
            steps.iter().any(|s| matches!(s, Step::Orient1 { .. } | Step::Orient2 { .. } | Step::Orient3 { .. }));
        let tip_after = recipes.iter().take(positioning).map(Recipe::takes).sum::<usize>();
        let local = |node: &Node| if let Node::Body(b) = node { self.leg.bodies.local(*b) } else { None };
        let exports = nodes
            .iter()
            .filter_map(|(node, joints, behind)| Some((local(node).filter(|b| exports.contains(b))?, *joints, *behind)))
            .collect();
        Block {
            ends: [self.leg.anchor(path.start), self.leg.anchor(path.end())],
            pose_first: Vec::new(),
            target,
            oriented,
            tip: chain.centre_from(tip_after),
            positioning,
            steps,
            exports,
            joints: list.iter().map(|e| e.motion).collect(),
            between,
        }
    }
}

/// The centre in the frame of joint `centre`: where its axis meets that of the next one, else the origin.
fn centre_point<S: Real>(list: &[Element], between: &[Pose<S>], centre: usize) -> Vec3<S> {
    let several =
        centre + 1 < list.len() && list[centre].motion == Motion::Turn && list[centre + 1].motion == Motion::Turn;
    if several { on_z(meeting(&between[centre + 1]).0) } else { Vec3::zeros() }
}

struct ChainNumbers<'a, S: Real> {
    between: &'a [Pose<S>],
    slots: &'a [(Motion, Slot)],
    /// Hinge of the bar opposite to a parallel dyad, on the end node.
    opposite: Vec3<S>,
    /// Index of the joint at whose centre the target is.
    centre: usize,
    at_centre: Vec3<S>,
    /// The centre on the end node.
    target: Vec3<S>,
}

impl<'a, S: Real> ChainNumbers<'a, S> {
    fn new(
        between: &'a [Pose<S>],
        slots: &'a [(Motion, Slot)],
        centre: usize,
        at_centre: Vec3<S>,
        opposite: Vec3<S>,
    ) -> Self {
        let behind = product(&between[(centre + 1).min(between.len())..]);
        Self { between, slots, opposite, centre, at_centre, target: behind.apply_inv(at_centre) }
    }

    /// The centre seen from behind joint `k - 1`, all later joints at zero.
    fn centre_from(&self, k: usize) -> Vec3<S> {
        if k > self.centre { self.at_centre } else { product(&self.between[k..=self.centre]) * self.at_centre }
    }

    /// Rows of the constant rotation from behind joint `k - 1` to the end, later joints at zero.
    fn rest(&self, k: usize) -> Rotation<S> {
        product(&self.between[k..]).R
    }

    #[allow(clippy::too_many_lines)] // one arm per step, each a handful of constants
    fn step(&self, recipe: &Recipe, done: usize) -> (Step<S>, usize) {
        let at = recipe.at();
        debug_assert_eq!(at, done, "steps take the joints in order");
        let C = self.between[at];
        let joint = self.slots[at].1;
        let pair = |n: usize| self.slots[at + n].1;
        let planar = |v: Vec3<S>| v.x * v.x + v.y * v.y;
        let strut = |p: Vec3<S>, C: &Pose<S>, shift: Vec3<S>| {
            let (g, s) = (*C * p - shift, C.R.z());
            let g_s = g.dot(&s);
            (g, s, g_s)
        };
        let step = match *recipe {
            Recipe::Pass { .. } => Step::Pass { C, motion: self.slots[at].0, joint },
            Recipe::Slide { .. } => Step::Slide { C, joint, k: self.centre_from(at + 1).z },
            Recipe::Aim { .. } => {
                let p = self.centre_from(at + 1);
                Step::Aim { C, joint, p, p2: planar(p) }
            }
            Recipe::ReachRR { .. } => {
                let (C1, p) = (self.between[at + 1], self.centre_from(at + 2));
                Step::ReachRR { C, joints: [joint, pair(1)], C1, p, l1_sq: planar(C1.p), l2_sq: planar(p) }
            }
            Recipe::ReachParallel { .. } => {
                let (C1, p) = (self.between[at + 1], self.centre_from(at + 2));
                Step::ReachParallel {
                    C,
                    joints: [joint, pair(1)],
                    C1,
                    p,
                    l1_sq: planar(C1.p),
                    l2_sq: planar(p),
                    opposite: self.opposite,
                }
            }
            Recipe::ReachRP { sign, .. } => {
                let C1 = self.between[at + 1];
                let (mut g, s, _) = strut(self.centre_from(at + 2), &C1, Vec3::zeros());
                g.z = S::zero();
                let g_s = g.dot(&s);
                let offset_sq = planar(g) - g_s * g_s;
                Step::ReachRP { C, joints: [joint, pair(1)], C1, g, s, g_s, offset_sq, sign }
            }
            Recipe::ReachPR { .. } => {
                let (C1, p) = (self.between[at + 1], self.centre_from(at + 2));
                let s = C1.R.apply_inv(on_z(S::one()));
                Step::ReachPR { C, joints: [joint, pair(1)], C1, p, s, l2_sq: planar(p) }
            }
            Recipe::ReachPP { .. } => {
                let C1 = self.between[at + 1];
                let p = C1 * self.centre_from(at + 2);
                let a = C1.R.z();
                let mut b = a;
                b.z = S::zero();
                Step::ReachPP { C, joints: [joint, pair(1)], C1, p, a, b, b2: planar(b) }
            }
            Recipe::RodR { .. } | Recipe::RodP { .. } => {
                let (c, rod_sq) = self.rod(at);
                if matches!(recipe, Recipe::RodP { .. }) {
                    Step::RodP { C, joint, c, rod_sq }
                } else {
                    let k0 = (c.dot(&c) - rod_sq) * S::lit(0.5);
                    Step::RodR { C, joint, c, l1_sq: planar(c), k0 }
                }
            }
            Recipe::Point { flip, .. } => {
                let cross = self.cross(at);
                let d = self.centre_from(at + 2) - on_z(cross.z2);
                Step::Point { C, joints: [joint, pair(1)], cross, d, flip }
            }
            Recipe::Strut { flip, sign, .. } => {
                let cross = self.cross(at);
                let C2 = self.between[at + 2];
                let (g, s, g_s) = strut(self.centre_from(at + 3), &C2, on_z(cross.z2));
                let offset_sq = g.dot(&g) - g_s * g_s;
                Step::Strut { C, joints: [joint, pair(1), pair(2)], cross, g, s, g_s, offset_sq, sign, flip, C2 }
            }
            Recipe::Orient1 { .. } => Step::Orient1 { C: C.R, joint, d0: row(&self.rest(at + 1), 0) },
            Recipe::Orient2 { .. } => {
                let rest = self.rest(at + 2);
                Step::Orient2 {
                    C: C.R,
                    joints: [joint, pair(1)],
                    C1: self.between[at + 1].R,
                    d0: row(&rest, 0),
                    d2: row(&rest, 2),
                }
            }
            Recipe::Orient3 { flip, mode, .. } => {
                let rest = self.rest(at + 3);
                Step::Orient3 {
                    C: C.R,
                    joints: [joint, pair(1), pair(2)],
                    C1: self.between[at + 1].R,
                    C2: self.between[at + 2].R,
                    d0: row(&rest, 0),
                    d2: row(&rest, 2),
                    flip,
                    mode,
                }
            }
        };
        (step, recipe.takes())
    }

    /// First ball of a rod in the frame of the joint before it, and the square of the rod's length.
    fn rod(&self, at: usize) -> (Vec3<S>, S) {
        let (z1, z2) = meeting(&self.between[at + 2]);
        let c = self.between[at + 1] * on_z(z1);
        let d = self.centre_from(at + 3) - on_z(z2);
        (c, d.dot(&d))
    }

    fn cross(&self, at: usize) -> Cross<S> {
        let C1 = self.between[at + 1];
        let (z1, z2) = meeting(&C1);
        Cross { C1, z1, z2 }
    }
}

fn product<S: Real>(poses: &[Pose<S>]) -> Pose<S> {
    poses.iter().fold(Pose::identity(), |product, X| product * *X)
}

fn row<S: Real>(R: &Rotation<S>, k: usize) -> Vec3<S> {
    Vec3::new(R.0[(k, 0)], R.0[(k, 1)], R.0[(k, 2)])
}
