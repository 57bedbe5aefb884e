//! Joints of a chain solved one after the other.
//!
//! The target, a point that the last joints of the chain turn about, is carried through the joints: `t` is where it stands as
//! seen from the joint that is solved next, and `R` the rotation of the end body seen from there.

use crate::model::chain::ChainMotion;
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Turn, Vec3, vec3};

/// Position of a joint: a turn, or a slide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointPosition<S> {
    /// Of a revolute joint.
    pub turn: Turn<S>,
    /// Of a prismatic joint; the angle, not wrapped, of a revolute one that others follow by a ratio.
    pub value: S,
}

impl<S: Real> JointPosition<S> {
    /// At zero.
    pub fn zero() -> Self {
        Self { turn: Turn::identity(), value: S::zero() }
    }

    /// Turned or slid by `q`.
    pub fn of(q: S) -> Self {
        Self { turn: Turn::of(q), value: q }
    }

    /// Turned.
    #[inline]
    pub fn turned(turn: Turn<S>) -> Self {
        Self { turn, value: S::zero() }
    }

    /// Slid.
    #[inline]
    pub fn slid(value: S) -> Self {
        Self { turn: Turn::identity(), value }
    }
}

/// Where the result of a joint of a chain goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slot {
    /// Its coordinate among those of the leg; none for cut joints.
    pub coord: Option<usize>,
    /// +1 when the chain runs along it.
    pub sign: f64,
}

/// A chain that is being solved, and where its results go.
pub struct ChainWalk<'a, S: Real> {
    /// The target seen from behind the last solved joint.
    pub t: Vec3<S>,
    /// The end body seen from there.
    pub R: Rotation<S>,
    /// Whether the rotation is carried along.
    pub oriented: bool,
    /// A point of the end body seen from the start of the chain.
    pub on_end: &'a dyn Fn(Vec3<S>) -> Vec3<S>,
    /// The sign, ±1, of each root.
    pub sign: &'a dyn Fn(usize) -> S,
    /// Roots taken so far.
    pub root: &'a mut usize,
    /// Positions of the coordinates of the leg.
    pub joints: &'a mut [JointPosition<S>],
    /// Positions of the joints of the chain, cut ones included.
    pub chain: &'a mut [JointPosition<S>],
    /// Discriminant of each step.
    pub margins: &'a mut [S],
    /// Where the target stood at each step.
    pub targets: &'a mut [Vec3<S>],
    /// Joints solved so far.
    pub joint: usize,
    /// Place of the present step in the margins.
    pub margin: usize,
}

impl<S: Real> ChainWalk<'_, S> {
    /// Step over a constant.
    #[inline(always)]
    pub(super) fn cross(&mut self, C: &Pose<S>) {
        self.t = C.apply_inv(self.t);
        if self.oriented {
            self.R = C.R.inverse() * self.R;
        }
    }

    /// Step over the constant before a step's first joint, and note where the target stands for that step.
    #[inline(always)]
    pub(super) fn enter(&mut self, C: &Pose<S>) {
        self.cross(C);
        self.targets[self.margin] = self.t;
    }

    /// Write the result of a revolute joint and step behind it.
    #[inline(always)]
    pub(super) fn turned(&mut self, slot: Slot, turn: Turn<S>) {
        self.t = turn.apply_inv(self.t);
        self.orient_by(slot, turn);
    }

    /// Write the result of a revolute joint and turn the rotation alone.
    #[inline(always)]
    pub(super) fn orient_by(&mut self, slot: Slot, turn: Turn<S>) {
        if self.oriented {
            self.R = Rotation::about_z(turn.inverse()) * self.R;
        }
        self.chain[self.joint] = JointPosition::turned(turn);
        self.joint += 1;
        if let Some(c) = slot.coord {
            let turn = if slot.sign > 0.0 { turn } else { turn.inverse() };
            self.joints[c] = JointPosition::turned(turn);
        }
    }

    /// Write the result of a prismatic joint and step behind it.
    #[inline(always)]
    pub(super) fn slid(&mut self, slot: Slot, q: S) {
        self.t.z -= q;
        self.chain[self.joint] = JointPosition::slid(q);
        self.joint += 1;
        if let Some(c) = slot.coord {
            self.joints[c] = JointPosition::slid(q * S::lit(slot.sign));
        }
    }

    /// Step over a joint whose coordinate is known.
    #[inline(always)]
    pub(super) fn known(&mut self, motion: ChainMotion, slot: Slot) {
        let at = slot.coord.map_or_else(JointPosition::zero, |c| self.joints[c]);
        match motion {
            ChainMotion::Turn => self.turned(slot, if slot.sign > 0.0 { at.turn } else { at.turn.inverse() }),
            ChainMotion::Slide => self.slid(slot, at.value * S::lit(slot.sign)),
            ChainMotion::Ball => self.joint += 1,
        }
    }

    /// The sign of the next root, turned when the chain runs against the joint.
    #[inline(always)]
    pub(super) fn take_sign(&mut self, slot: Slot) -> S {
        let sign = (self.sign)(*self.root);
        *self.root += 1;
        if slot.sign > 0.0 { sign } else { -sign }
    }

    /// The side of its foot that a slide stands on: the one planned, or that of the working mode.
    #[inline(always)]
    pub(super) fn side(&mut self, planned: Option<f64>, slide: Slot) -> S {
        planned.map_or_else(|| self.take_sign(slide), S::lit)
    }

    /// Which of the two ways to point: the one planned, turned round where the working mode says so.
    #[inline(always)]
    pub(super) fn flip(&mut self, planned: f64, mode: bool) -> S {
        let own = S::lit(planned);
        if mode { own * self.take_sign(Slot { coord: None, sign: 1.0 }) } else { own }
    }

    /// `sign · √margin`.
    #[inline(always)]
    pub(super) fn root(&mut self, margin: S, sign: S) -> S {
        self.margins[self.margin] = margin;
        sign * margin.sqrt()
    }

    /// Two circles: where the second of two parallel axes must be, `B = (k t + h t⊥)/r²` with `k = B·t`, (7.15) without
    /// half-angle tangents. `+` is counter-clockwise from the target.
    #[inline(always)]
    pub(super) fn circles(&mut self, k: S, l1_sq: S, sign: S) -> (Vec3<S>, S) {
        let t = self.t;
        let r2 = t.x * t.x + t.y * t.y;
        let h = self.root(l1_sq * r2 - k * k, sign);
        let s = r2.recip();
        (vec3((k * t.x - h * t.y) * s, (k * t.y + h * t.x) * s, S::zero()), h)
    }

    /// Turn `c` onto the point B that [`ChainWalk::circles`] found, and step behind the joint: the target is
    /// `(k c - h c⊥)/l1²` there, whatever the turn.
    #[inline(always)]
    pub(super) fn turned_onto(&mut self, joint: Slot, c: Vec3<S>, (B, k, h): (Vec3<S>, S, S), l1_sq: S) {
        self.orient_by(joint, Turn::between(c, B, l1_sq));
        let s = l1_sq.recip();
        self.t = vec3((k * c.x + h * c.y) * s, (k * c.y - h * c.x) * s, self.t.z);
    }

    /// `Rz(q1) C1 Rz(q2) d = u`: the z component gives q2, the others q1.
    #[inline(always)]
    pub(super) fn pointing(&mut self, C1: &Rotation<S>, d: Vec3<S>, u: Vec3<S>, flip: S) -> (Turn<S>, Turn<S>) {
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
    pub(super) fn orient(&mut self, slot: Slot, d0: Vec3<S>) {
        let x = self.R.apply(d0);
        self.orient_by(slot, Turn { cos: x.x, sin: x.y });
    }
}
