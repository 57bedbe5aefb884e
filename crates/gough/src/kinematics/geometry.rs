//! Closed forms of chains, section 6: one function per step, straight-line in any scalar.
//!
//! The target, a point that the last joints of the chain turn about, is carried through the joints: `t` is where it
//! stands as seen from the joint that is solved next, and `R` the rotation of the end body seen from there. Each square
//! root takes its sign from the working mode and leaves its discriminant in the margins; nothing is compared.

use super::modes::WorkingMode;
use super::newton::{Unknowns, polish};
use super::positions::{Frames, JointPosition, LegPositions, Positions, pose_bodies, pose_body, pose_leg};
use crate::model::{Anchor, Block, Body, BodyNumbers, Cross, LegId, LegStructure, Method, Model, Motion, Slot, Step};
use crate::scalar::{Lanes, Real, all_nonneg, all_within, each_lane, lanes};
use crate::spatial::{Pose, Rotation, Turn, Vec3, null, vec3};

/// Joints for the platform pose in `pos`, in any scalar. Closed forms need nothing else; legs and platform coordinates
/// without one start from the joints in `pos`, closed on `f64`, and take `steps` Newton steps: one is exact for first
/// derivatives. Bodies are posed.
pub fn close<S: Real>(model: &Model<S>, mode: &WorkingMode, steps: usize, pos: &mut Positions<S>) {
    let topology = model.topology();
    let plan = &topology.plan;
    if plan.solve_platform {
        let unknowns = Unknowns::inverse(model, &plan.given);
        polish(model, &unknowns, &plan.pivots, steps, model.length(), pos);
    }
    solve_legs(model, mode.signs(), pos);
    for block in &plan.inverse {
        if let Method::Newton { coords } = &block.method {
            let unknowns = Unknowns::of_leg(model, block.leg, coords);
            polish(model, &unknowns, &block.pivots, steps, model.length(), pos);
        }
    }
    pose_bodies(model, pos);
}

/// Joints of every leg for the platform pose in `pos`. `signs` has one entry, ±1, per root of the plan; joints that are
/// left to Newton are not touched. Bodies are posed only in legs that others hang on.
pub fn solve_legs<S: Real>(model: &Model<S>, signs: &[f64], pos: &mut Positions<S>) {
    let topology = model.topology();
    for &id in &topology.order {
        solve_one_leg(model, id, &signs[topology.legs[id].roots.clone()], pos);
    }
}

/// The same for one leg, with the signs of its own roots.
pub fn solve_one_leg<S: Real>(model: &Model<S>, id: LegId, signs: &[f64], pos: &mut Positions<S>) {
    let topology = model.topology();
    let leg = &topology.legs[id];
    let at = pos.places(id);
    let (mut part, frames) = pos.split(leg, at);
    let numbers = model.numbers().bodies.slice(leg.bodies);
    solve_leg(topology.structure(leg), numbers, model.leg_blocks(id), &|k| S::lit(signs[k]), frames, &mut part);
    if topology.is_hung_on(id) {
        pose_leg(model, id, pos);
    }
}

/// The same on `f64` for a robot whose legs are alike, four legs at a time; whether every leg reaches its place within
/// `limit`. Only joints are written to the lists of the robot: to learn why a leg does not reach, solve again leg by leg.
pub fn solve_groups(model: &Model<f64>, signs: &[f64], limit: f64, pos: &mut Positions<f64>) -> bool {
    let topology = model.topology();
    let X_WE = pos.X_WE.map(&mut |x| Lanes::lit(x));
    let least = Lanes::lit(model.least_margin());
    let mut reaches = true;
    for (group, legs) in model.groups().iter().zip(&mut pos.lanes) {
        let roots = group.lane_legs().map(|id| topology.legs[id].roots.start);
        let sign = |k: usize| lanes(roots.map(|r| signs[r + k]));
        let structure = topology.structure(&topology.legs[group.legs[0]]);
        let mut part = legs.part();
        solve_leg(structure, &group.bodies, &group.blocks, &sign, Frames { X_WE: &X_WE, outside: &[] }, &mut part);
        reaches &=
            part.margins.iter().all(|m| all_nonneg(*m - least)) && part.misses.iter().all(|m| is_within(*m, limit));
        let firsts = group.lane_legs().map(|id| topology.legs[id].coords.range().start);
        let joints = pos.joints.as_mut_slice();
        for (c, (four, coord)) in part.joints.iter().zip(structure.coords).enumerate() {
            if coord.slides {
                let slides = each_lane(four.value);
                firsts.iter().zip(slides).for_each(|(first, q)| joints[first + c] = JointPosition::slid(q));
            } else {
                let turns = each_lane(four.turn.cos).into_iter().zip(each_lane(four.turn.sin));
                let turned = |(cos, sin)| JointPosition::turned(Turn { cos, sin });
                firsts.iter().zip(turns).for_each(|(first, turn)| joints[first + c] = turned(turn));
            }
        }
    }
    reaches
}

fn is_within(v: Vec3<Lanes>, limit: f64) -> bool {
    all_within(v.dot(&v), limit * limit)
}

/// Forward geometry by dyads: the robot is one leg, its active joints are known. Bodies are not posed.
pub fn solve_forward<S: Real>(model: &Model<S>, signs: &[f64], pos: &mut Positions<S>) {
    let topology = model.topology();
    let whole = topology.whole();
    let blocks = model.forward_blocks();
    let steps = blocks.iter().map(|b| b.steps.len()).sum();
    let (mut part, frames) = pos.split(&whole, (0..steps, 0..blocks.len()));
    let bodies: Vec<Body> =
        topology.bodies.values().map(|b| Body { anchor: whole.anchor(b.parent), ..b.clone() }).collect();
    let structure = LegStructure { bodies: &bodies, ..topology.structure(&whole) };
    let numbers = model.numbers().bodies.as_slice();
    solve_leg(structure, numbers, blocks, &|k| S::lit(signs[k]), frames, &mut part);
}

/// Solve the blocks of a leg in order; `sign` gives ±1 per root.
#[inline]
pub fn solve_leg<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    blocks: &[Block<S>],
    sign: &dyn Fn(usize) -> S,
    frames: Frames<'_, S>,
    pos: &mut LegPositions<'_, S>,
) {
    let (mut root, mut margin) = (0, 0);
    for (i, block) in blocks.iter().enumerate() {
        for &b in &block.pose_first {
            pose_body(leg, numbers, b, frames, pos);
        }
        pos.misses[i] =
            if block.steps.is_empty() { null() } else { solve_block(block, sign, &mut root, margin, frames, pos) };
        margin += block.steps.len();
    }
}

/// Solve one block; by how far the tip misses the target. `margin` is the index of the block's first margin.
fn solve_block<S: Real>(
    block: &Block<S>,
    sign: &dyn Fn(usize) -> S,
    root: &mut usize,
    margin: usize,
    frames: Frames<'_, S>,
    pos: &mut LegPositions<'_, S>,
) -> Vec3<S> {
    let end = pos.frame(frames, block.ends[1]);
    let start = pos.frame(frames, block.ends[0]);
    let on_base = block.ends[0] == Anchor::World;
    let from_start = |p: Vec3<S>| if on_base { p } else { start.apply_inv(p) };
    let mut walk = Walk {
        t: from_start(end * block.target),
        R: if block.oriented { start.R.inverse() * end.R } else { Rotation::identity() },
        opposite: || from_start(end * opposite(block)),
        oriented: block.oriented,
        sign,
        root,
        pos,
        joint: 0,
        margin,
    };
    let mut miss = walk.t - block.tip;
    for (i, step) in block.steps.iter().enumerate() {
        walk.step(step);
        if i + 1 == block.positioning {
            miss = walk.t - block.tip;
        }
        walk.margin += 1;
    }
    export(block, start, pos);
    miss
}

/// Hinge of the bar opposite to a parallel dyad, on the end node.
fn opposite<S: Real>(block: &Block<S>) -> Vec3<S> {
    block
        .steps
        .iter()
        .find_map(|s| if let Step::ReachParallel { opposite, .. } = s { Some(*opposite) } else { None })
        .unwrap_or_else(null)
}

/// Poses of bodies on the chain that later blocks start from.
fn export<S: Real>(block: &Block<S>, start: Pose<S>, pos: &mut LegPositions<'_, S>) {
    for (body, joints, behind) in &block.exports {
        let mut X = start;
        for k in 0..*joints {
            let joint = pos.chain[k];
            X = X * block.between[k];
            X = match block.joints[k] {
                Motion::Turn => X.turned(joint.turn),
                Motion::Slide => X.slid(joint.value),
                Motion::Ball => X,
            };
        }
        pos.X_WB[*body] = X * *behind;
    }
}

/// Joints of a chain solved one after the other.
struct Walk<'a, 'p, S: Real, F: Fn() -> Vec3<S>> {
    /// The target seen from behind the last solved joint.
    t: Vec3<S>,
    /// The end body seen from there.
    R: Rotation<S>,
    /// The hinge of the opposite bar seen from the start, for parallel dyads.
    opposite: F,
    oriented: bool,
    sign: &'a dyn Fn(usize) -> S,
    /// Roots taken so far.
    root: &'a mut usize,
    pos: &'a mut LegPositions<'p, S>,
    /// Joints solved so far.
    joint: usize,
    margin: usize,
}

impl<S: Real, F: Fn() -> Vec3<S>> Walk<'_, '_, S, F> {
    #[inline(always)]
    fn step(&mut self, step: &Step<S>) {
        self.pos.margins[self.margin] = S::one();
        match step {
            Step::Pass { C, motion, joint } => self.known(C, *motion, *joint),
            Step::Slide { C, joint, k } => {
                self.cross(C);
                let q = self.t.z - *k;
                self.slid(*joint, q);
            }
            Step::Aim { C, joint, p, p2 } => {
                self.cross(C);
                self.turned(*joint, Turn::between(*p, self.t, *p2));
            }
            Step::ReachRR { C, joints, C1, p, l1_sq, l2_sq } => self.reach_rr(C, joints, C1, *p, *l1_sq, *l2_sq),
            Step::ReachParallel { C, joints, C1, p, l1_sq, l2_sq, .. } => {
                self.reach_parallel(C, joints, C1, *p, *l1_sq, *l2_sq);
            }
            Step::ReachRP { C, joints, C1, g, s, g_s, offset_sq, sign } => {
                self.reach_rp(C, joints, C1, *g, *s, *g_s, *offset_sq, *sign);
            }
            Step::ReachPR { C, joints, C1, p, s, l2_sq } => self.reach_pr(C, joints, C1, *p, *s, *l2_sq),
            Step::ReachPP { C, joints, C1, p, a, b, b2 } => {
                self.cross(C);
                let d = self.t - *p;
                let q2 = d.dot(b) / *b2;
                self.slid(joints[0], d.z - q2 * a.z);
                self.cross(C1);
                self.slid(joints[1], q2);
            }
            Step::RodR { C, joint, c, l1_sq, k0 } => self.rod_r(C, *joint, *c, *l1_sq, *k0),
            Step::RodP { C, joint, c, rod_sq } => self.rod_p(C, *joint, *c, *rod_sq),
            Step::Point { C, joints, cross, d, flip } => {
                self.enter(C);
                self.point([joints[0], joints[1]], cross, *d, S::lit(*flip));
            }
            Step::Strut { C, joints, cross, g, s, g_s, offset_sq, sign, flip, C2 } => {
                self.enter(C);
                let u = self.t - vec3(S::zero(), S::zero(), cross.z1);
                let length = (u.dot(&u) - *offset_sq).sqrt();
                let q3 = S::lit(*sign) * length - *g_s;
                self.point([joints[0], joints[1]], cross, *g + *s * q3, S::lit(*flip));
                self.cross(C2);
                self.slid(joints[2], q3);
            }
            Step::Orient1 { C, joint, d0 } => {
                self.R = C.inverse() * self.R;
                self.orient(*joint, *d0);
            }
            Step::Orient2 { C, joints, C1, d0, d2 } => {
                self.R = C.inverse() * self.R;
                let (k, m) = (C1.z(), self.R.apply(*d2));
                self.orient_by(joints[0], Turn::between(k, m, k.x * k.x + k.y * k.y));
                self.R = C1.inverse() * self.R;
                self.orient(joints[1], *d0);
            }
            Step::Orient3 { C, joints, C1, C2, d0, d2, flip, mode } => {
                self.R = C.inverse() * self.R;
                let own = S::lit(*flip);
                let flip = if *mode { own * self.take_sign(Slot { coord: None, sign: 1.0 }) } else { own };
                let (q1, q2) = self.pointing(C1, C2.z(), self.R.apply(*d2), flip);
                self.orient_by(joints[0], q1);
                self.R = C1.inverse() * self.R;
                self.orient_by(joints[1], q2);
                self.R = C2.inverse() * self.R;
                self.orient(joints[2], *d0);
            }
        }
    }

    /// Step over a constant.
    #[inline(always)]
    fn cross(&mut self, C: &Pose<S>) {
        self.t = C.apply_inv(self.t);
        if self.oriented {
            self.R = C.R.inverse() * self.R;
        }
    }

    /// Step over the constant before a step's first joint, and note where the target stands for that step.
    #[inline(always)]
    fn enter(&mut self, C: &Pose<S>) {
        self.cross(C);
        self.pos.targets[self.margin] = self.t;
    }

    /// Write the result of a revolute joint and step behind it.
    #[inline(always)]
    fn turned(&mut self, slot: Slot, turn: Turn<S>) {
        self.t = turn.apply_inv(self.t);
        self.orient_by(slot, turn);
    }

    /// The same for the rotation alone.
    #[inline(always)]
    fn orient_by(&mut self, slot: Slot, turn: Turn<S>) {
        if self.oriented {
            self.R = Rotation::about_z(turn.inverse()) * self.R;
        }
        self.pos.chain[self.joint] = JointPosition::turned(turn);
        self.joint += 1;
        if let Some(c) = slot.coord {
            let turn = if slot.sign > 0.0 { turn } else { turn.inverse() };
            self.pos.joints[c] = JointPosition::turned(turn);
        }
    }

    /// Write the result of a prismatic joint and step behind it.
    #[inline(always)]
    fn slid(&mut self, slot: Slot, q: S) {
        self.t.z -= q;
        self.pos.chain[self.joint] = JointPosition::slid(q);
        self.joint += 1;
        if let Some(c) = slot.coord {
            self.pos.joints[c] = JointPosition::slid(q * S::lit(slot.sign));
        }
    }

    /// Step over a joint whose coordinate is known.
    #[inline(always)]
    fn known(&mut self, C: &Pose<S>, motion: Motion, slot: Slot) {
        self.cross(C);
        let at = slot.coord.map_or_else(JointPosition::zero, |c| self.pos.joints[c]);
        match motion {
            Motion::Turn => self.turned(slot, if slot.sign > 0.0 { at.turn } else { at.turn.inverse() }),
            Motion::Slide => self.slid(slot, at.value * S::lit(slot.sign)),
            Motion::Ball => self.joint += 1,
        }
    }

    /// The sign of the next root, turned when the chain runs against the joint.
    #[inline(always)]
    fn take_sign(&mut self, slot: Slot) -> S {
        let sign = (self.sign)(*self.root);
        *self.root += 1;
        if slot.sign > 0.0 { sign } else { -sign }
    }

    /// `sign · √margin`.
    #[inline(always)]
    fn root(&mut self, margin: S, sign: S) -> S {
        self.pos.margins[self.margin] = margin;
        sign * margin.sqrt()
    }

    /// Two circles: where the second of two parallel axes must be, `B = (k t + h t⊥)/r²` with `k = B·t`, (7.15) without
    /// half-angle tangents. `+` is counter-clockwise from the target.
    #[inline(always)]
    fn circles(&mut self, k: S, l1_sq: S, sign: S) -> (Vec3<S>, S) {
        let t = self.t;
        let r2 = t.x * t.x + t.y * t.y;
        let h = self.root(l1_sq * r2 - k * k, sign);
        let s = r2.recip();
        (vec3((k * t.x - h * t.y) * s, (k * t.y + h * t.x) * s, S::zero()), h)
    }

    /// Turn `c` onto the point B that [`Walk::circles`] found, and step behind the joint: the target is `(k c - h c⊥)/l1²`
    /// there, whatever the turn.
    #[inline(always)]
    fn turned_onto(&mut self, joint: Slot, c: Vec3<S>, (B, k, h): (Vec3<S>, S, S), l1_sq: S) {
        self.orient_by(joint, Turn::between(c, B, l1_sq));
        let s = l1_sq.recip();
        self.t = vec3((k * c.x + h * c.y) * s, (k * c.y - h * c.x) * s, self.t.z);
    }

    /// Planar two-link chain, (7.15)-(7.16).
    #[inline(always)]
    fn reach_rr(&mut self, C: &Pose<S>, joints: &[Slot; 2], C1: &Pose<S>, p: Vec3<S>, l1_sq: S, l2_sq: S) {
        self.enter(C);
        let sign = self.take_sign(joints[0]);
        let r2 = self.t.x * self.t.x + self.t.y * self.t.y;
        let k = (r2 + l1_sq - l2_sq) * S::lit(0.5);
        let (B, h) = self.circles(k, l1_sq, sign);
        self.turned_onto(joints[0], C1.p, (B, k, h), l1_sq);
        self.cross(C1);
        self.turned(joints[1], Turn::between(p, self.t, l2_sq));
    }

    /// Two-link chain that completes a parallelogram: its first link is parallel to the line from the opposite hinge to
    /// the target. Crossed: the mirror image at the line to the target.
    #[inline(always)]
    fn reach_parallel(&mut self, C: &Pose<S>, joints: &[Slot; 2], C1: &Pose<S>, p: Vec3<S>, l1_sq: S, l2_sq: S) {
        let D = C.apply_inv((self.opposite)());
        self.enter(C);
        let t = self.t;
        let parallel = t - D;
        let along = (parallel.x * t.x + parallel.y * t.y) / (t.x * t.x + t.y * t.y);
        // The component along the line stays, the one across it changes side.
        let foot = t * along;
        let sign = self.take_sign(Slot { coord: None, sign: 1.0 });
        let B = foot + (parallel - foot) * sign;
        self.turned(joints[0], Turn::between(C1.p, B, l1_sq));
        self.cross(C1);
        self.turned(joints[1], Turn::between(p, self.t, l2_sq));
    }

    /// Planar strut that turns and extends, (7.20)-(7.21).
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // the constants of one equation
    fn reach_rp(
        &mut self,
        C: &Pose<S>,
        joints: &[Slot; 2],
        C1: &Pose<S>,
        g: Vec3<S>,
        s: Vec3<S>,
        g_s: S,
        offset_sq: S,
        sign: f64,
    ) {
        self.enter(C);
        let r2 = self.t.x * self.t.x + self.t.y * self.t.y;
        let q = self.root(r2 - offset_sq, S::lit(sign)) - g_s;
        self.turned(joints[0], Turn::between(g + s * q, self.t, r2));
        self.cross(C1);
        self.slid(joints[1], q);
    }

    /// Slider with a link in the plane.
    #[inline(always)]
    fn reach_pr(&mut self, C: &Pose<S>, joints: &[Slot; 2], C1: &Pose<S>, p: Vec3<S>, s: Vec3<S>, l2_sq: S) {
        self.enter(C);
        let sign = self.take_sign(joints[0]);
        let t = C1.apply_inv(self.t);
        let across = s.x * t.y - s.y * t.x;
        let q = s.x * t.x + s.y * t.y + self.root(l2_sq - across * across, sign);
        self.slid(joints[0], q);
        self.cross(C1);
        self.turned(joints[1], Turn::between(p, self.t, l2_sq));
    }

    /// Crank that brings the ball `c` to the rod's length from the target: a sphere and a circle.
    #[inline(always)]
    fn rod_r(&mut self, C: &Pose<S>, joint: Slot, c: Vec3<S>, l1_sq: S, k0: S) {
        self.enter(C);
        let sign = self.take_sign(joint);
        let k = self.t.dot(&self.t) * S::lit(0.5) + k0 - self.t.z * c.z;
        let (B, h) = self.circles(k, l1_sq, sign);
        self.turned_onto(joint, c, (B, k, h), l1_sq);
    }

    /// Slider that does the same: a sphere and a line, (7.28).
    #[inline(always)]
    fn rod_p(&mut self, C: &Pose<S>, joint: Slot, c: Vec3<S>, rod_sq: S) {
        self.enter(C);
        let sign = self.take_sign(joint);
        let w = self.t - c;
        let q = w.z + self.root(rod_sq - w.x * w.x - w.y * w.y, sign);
        self.slid(joint, q);
    }

    /// Two crossing revolutes that turn `d`, from where they meet, onto the target.
    #[inline(always)]
    fn point(&mut self, joints: [Slot; 2], cross: &Cross<S>, d: Vec3<S>, flip: S) {
        let u = self.t - vec3(S::zero(), S::zero(), cross.z1);
        let (q1, q2) = self.pointing(&cross.C1.R, d, u, flip);
        self.turned(joints[0], q1);
        self.t = cross.C1.apply_inv(self.t);
        if self.oriented {
            self.R = cross.C1.R.inverse() * self.R;
        }
        self.turned(joints[1], q2);
    }

    /// `Rz(q1) C1 Rz(q2) d = u`: the z component gives q2, the others q1.
    #[inline(always)]
    fn pointing(&mut self, C1: &Rotation<S>, d: Vec3<S>, u: Vec3<S>, flip: S) -> (Turn<S>, Turn<S>) {
        let (r31, r32, r33) = (C1.0[(2, 0)], C1.0[(2, 1)], C1.0[(2, 2)]);
        let (A, B) = (r31 * d.x + r32 * d.y, r32 * d.x - r31 * d.y);
        let D = A * A + B * B;
        let k = u.z - r33 * d.z;
        let h = self.root(D - k * k, flip);
        let s = D.recip();
        let q2 = Turn { cos: (A * k - B * h) * s, sin: (B * k + A * h) * s };
        let w = C1.apply(q2.apply(d));
        (Turn::between(w, u, u.x * u.x + u.y * u.y), q2)
    }

    /// `Rz(q) D = R`: q from the first column of `R Dᵀ`; `d0` is the first row of D.
    #[inline(always)]
    fn orient(&mut self, slot: Slot, d0: Vec3<S>) {
        let x = self.R.apply(d0);
        self.orient_by(slot, Turn { cos: x.x, sin: x.y });
    }
}
