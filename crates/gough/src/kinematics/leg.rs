//! One leg at work, in any scalar: its closure rows over its coordinates, and the rates and accelerations that follow,
//! (5.5)-(5.32), (7.95), (7.183).
//!
//! A leg has as many closure rows as coordinates picked for it (see [`LegPivots`]). A row's wrench `ζ`, taken at the closure
//! point, gives `Σ ζ·$_j q̇_j = -ζ·(V_B⁰ - V_A⁰)`: joints of the leg on the left, the motion of what the leg hangs on on the
//! right. The same matrix, factored once, gives the accelerations, with what the velocities contribute on the right, and,
//! transposed, the forces in the closures.

use super::closure::{ClosureAt, RowKind, leg_axes, row_kind};
use super::positions::{Frames, LegPositions, pose_body};
use crate::linalg::small::{lu, lu_solve};
use crate::model::{Anchor, BodyNumbers, Closure, JointKind, JointNumbers, LegPivots, LegStructure};
use crate::scalar::Real;
use crate::spatial::{Accel, Pose, Rotation, Twist, Vec3, Wrench, along, cross, dot, null};

/// The motion of one leg: slices of that of the robot.
#[derive(Debug)]
pub struct LegMotion<'a, S: Real> {
    /// Rates of its coordinates.
    pub rates: &'a mut [S],
    /// Accelerations of its coordinates.
    pub accels: &'a mut [S],
    /// Twists of its bodies.
    pub V_WB: &'a mut [Twist<S>],
    /// Accelerations of its bodies.
    pub A_WB: &'a mut [Accel<S>],
    /// What its joints' accelerations add to those of its bodies.
    pub gains: &'a mut [Twist<S>],
    /// Factors of its closure rows.
    pub factors: &'a mut [S],
    /// Right-hand side.
    pub rhs: &'a mut [S],
}

/// Motion of what a leg hangs on.
#[derive(Clone, Copy, Debug)]
pub struct Roots<'a, S: Real> {
    /// Frames of platform and outside bodies.
    pub frames: Frames<'a, S>,
    /// Twist of the platform.
    pub V_WE: Twist<S>,
    /// Acceleration of the platform.
    pub A_WE: Accel<S>,
    /// Twists and accelerations of outside bodies.
    pub outside: &'a [(Twist<S>, Accel<S>)],
}

/// The numbers of a leg.
#[derive(Clone, Copy, Debug)]
pub struct LegNumbers<'a, S: Real> {
    /// Its bodies.
    pub bodies: &'a [BodyNumbers<S>],
    /// Rotors and friction of its coordinates.
    pub joints: &'a [JointNumbers<S>],
    /// Frames of the sides of its closures.
    pub closures: &'a [[Pose<S>; 2]],
}

/// A leg at a posture, or four of them in lanes.
#[derive(Clone, Copy, Debug)]
pub struct LegAt<'a, S: Real> {
    /// Its integers.
    pub leg: LegStructure<'a>,
    /// Its numbers.
    pub numbers: LegNumbers<'a, S>,
    /// Which of its closure rows give its coordinates.
    pub pivots: &'a LegPivots,
    /// What it hangs on.
    pub roots: &'a Roots<'a, S>,
    /// Its joints and bodies, posed.
    pub pos: &'a LegPositions<'a, S>,
}

impl<S: Real> Roots<'_, S> {
    /// Where a root is, in the world.
    #[inline(always)]
    pub fn origin(&self, root: Anchor) -> Vec3<S> {
        match root {
            Anchor::Platform => self.frames.X_WE.p,
            Anchor::Outside(k) => self.frames.outside[k].p,
            Anchor::World | Anchor::Body(_) => null(),
        }
    }

    /// Twist of a root at a point of the world.
    #[inline(always)]
    fn twist(&self, root: Anchor, p: Vec3<S>) -> Twist<S> {
        match root {
            Anchor::Platform => self.V_WE.at(p - self.frames.X_WE.p),
            Anchor::Outside(k) => self.outside[k].0.at(p - self.frames.outside[k].p),
            Anchor::World | Anchor::Body(_) => Twist::zero(),
        }
    }

    /// Acceleration of a root at a point of the world.
    #[inline(always)]
    fn accel(&self, root: Anchor, p: Vec3<S>) -> Accel<S> {
        match root {
            Anchor::Platform => self.A_WE.at(p - self.frames.X_WE.p, self.V_WE.w),
            Anchor::Outside(k) => {
                let (V, A) = &self.outside[k];
                A.at(p - self.frames.outside[k].p, V.w)
            }
            Anchor::World | Anchor::Body(_) => Accel::zero(),
        }
    }
}

/// Unit motion of a body's joint at a point of the world: `$ = [a × r; a]` or `[a; 0]`, (5.5).
#[inline(always)]
pub fn screw<S: Real>(joint: JointKind, X_WB: &Pose<S>, p: Vec3<S>) -> Twist<S> {
    let z = X_WB.R.z();
    match joint {
        JointKind::Revolute => Twist { v: cross(z, p - X_WB.p), w: z },
        JointKind::Prismatic => Twist { v: z, w: null() },
        JointKind::Fixed => Twist::zero(),
    }
}

/// A closure of a leg at a posture, as far as its pivot rows need it: rows of positions along fixed axes only need the point.
pub struct Attachment<'a, S: Real> {
    /// The closure.
    pub closure: &'a Closure,
    axes: &'a Rotation<S>,
    /// Where the closure is.
    pub p: Vec3<S>,
    /// Its frames, when they matter.
    at: Option<ClosureAt<S>>,
    /// Place among the pivots and row, for each pivot row.
    pub rows: &'a [(usize, usize)],
}

impl<S: Real> Attachment<'_, S> {
    /// The power of a row's wrench on a motion at the closure: the rate of the row.
    #[inline(always)]
    fn power(&self, row: usize, v: Vec3<S>, w: Vec3<S>) -> S {
        match &self.at {
            None => dot(self.axes.column(row), v),
            Some(at) => Twist { v, w }.power(at.wrench(row_kind(self.closure.joint, row))),
        }
    }

    /// The wrench `Σ μ_i ζ_i` at the closure, for factors `μ` of all pivot rows of the leg.
    #[inline(always)]
    pub fn wrench(&self, mu: &[S]) -> Wrench<S> {
        let mut sum = Wrench::zero();
        for &(i, row) in self.rows {
            match &self.at {
                None => sum.f = along(sum.f, self.axes.column(row), mu[i]),
                Some(at) => {
                    let F = at.wrench(row_kind(self.closure.joint, row));
                    sum = Wrench { f: along(sum.f, F.f, mu[i]), m: along(sum.m, F.m, mu[i]) };
                }
            }
        }
        sum
    }

    /// See [`ClosureAt::velocity_terms`].
    #[inline(always)]
    fn velocity_terms(&self, row: usize, V_A: Twist<S>, V_B: Twist<S>) -> S {
        let kind = row_kind(self.closure.joint, row);
        self.at.as_ref().map_or_else(S::zero, |at| at.velocity_terms(kind, V_A, V_B))
    }
}

/// Something to do with a leg.
pub trait LegStep<S: Real> {
    /// Do it.
    fn run(&mut self, at: &LegAt<'_, S>, motion: &mut LegMotion<'_, S>);
}

/// A leg with the memory of its posture and motion.
pub(crate) struct LegMemory<'a, 'm, S: Real> {
    pub leg: LegStructure<'a>,
    pub numbers: LegNumbers<'a, S>,
    pub pivots: &'a LegPivots,
    pub roots: &'a Roots<'a, S>,
    pub pos: LegPositions<'m, S>,
    pub motion: LegMotion<'m, S>,
}

impl<S: Real> LegMemory<'_, '_, S> {
    /// Poses the bodies, their joints being known, and runs a step.
    #[inline]
    pub fn run(mut self, step: &mut impl LegStep<S>) {
        let Self { leg, numbers, pivots, roots, .. } = self;
        for b in 0..leg.bodies.len() {
            pose_body(leg, numbers.bodies, b, roots.frames, &mut self.pos);
        }
        step.run(&LegAt::new(leg, numbers, pivots, roots, &self.pos), &mut self.motion);
    }
}

impl<'a, S: Real> LegAt<'a, S> {
    /// A leg.
    pub fn new(
        leg: LegStructure<'a>,
        numbers: LegNumbers<'a, S>,
        pivots: &'a LegPivots,
        roots: &'a Roots<'a, S>,
        pos: &'a LegPositions<'a, S>,
    ) -> Self {
        Self { leg, numbers, pivots, roots, pos }
    }
}

impl<S: Real> LegAt<'_, S> {
    /// How many pivots it has.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.pivots.cols.len()
    }

    /// How many closures it has.
    #[inline(always)]
    pub fn closures(&self) -> usize {
        self.pivots.by_closure.len()
    }

    /// Pose of a body.
    #[inline(always)]
    pub fn X_WB(&self, b: usize) -> &Pose<S> {
        &self.pos.X_WB[b]
    }

    /// Adds the effort of a body's joint to those of the coordinates that move it.
    #[inline(always)]
    pub fn add_effort(&self, b: usize, effort: S, efforts: &mut [S]) {
        match self.leg.coord(b) {
            Some(c) => efforts[c] += effort,
            None => {
                for (c, k) in &self.numbers.bodies[b].coupling {
                    efforts[self.leg.local(*c)] += *k * effort;
                }
            }
        }
    }

    /// Closure `c` of the leg, if it has pivot rows; `axes` are those of [`LegAt::axes`].
    #[inline(always)]
    pub fn attachment<'b>(&'b self, c: usize, axes: &'b Rotation<S>) -> Option<Attachment<'b, S>> {
        let rows = &self.pivots.by_closure[c];
        let frames = self.roots.frames;
        let closure = &self.leg.closures[c];
        let [X_A, X_B] = &self.numbers.closures[c];
        if rows.is_empty() {
            return None;
        }
        let [path_a, path_b] = &closure.paths;
        let p = match path_b.anchor {
            Anchor::World => X_B.p,
            Anchor::Platform => *frames.X_WE * X_B.p,
            Anchor::Body(b) => self.pos.X_WB[b] * X_B.p,
            Anchor::Outside(k) => frames.outside[k] * X_B.p,
        };
        let points_only = rows.iter().all(|(_, row)| row_kind(closure.joint, *row) == RowKind::Point(*row));
        let side = |anchor: Anchor, X: &Pose<S>| match anchor {
            Anchor::World => *X,
            anchor => self.pos.frame(frames, anchor) * *X,
        };
        let full = || ClosureAt {
            joint: closure.joint,
            A: side(path_a.anchor, X_A),
            B: side(path_b.anchor, X_B),
            axes: *axes,
        };
        Some(Attachment { closure, axes, p, at: (!points_only).then(full), rows })
    }

    /// Axes along which the leg compares positions.
    #[inline(always)]
    pub fn axes(&self) -> Rotation<S> {
        leg_axes(self.leg, self.numbers.bodies)
    }

    /// The matrix of the closure rows over the leg's coordinates, in the order of the pivots, factored; and what the motion of
    /// the leg's roots does to the rows, on the right-hand side.
    #[inline(always)]
    pub fn factor(&self, motion: &mut LegMotion<'_, S>) {
        let axes = self.axes();
        motion.factors.fill(S::zero());
        for c in 0..self.closures() {
            let Some(at) = self.attachment(c, &axes) else { continue };
            for (path, first) in at.closure.paths.iter().zip([true, false]) {
                path.bodies.iter().for_each(|b| self.enter(&at, *b, first, motion.factors));
            }
            let V_A = self.roots.twist(at.closure.paths[0].root, at.p);
            let V_B = self.roots.twist(at.closure.paths[1].root, at.p);
            for &(i, row) in at.rows {
                motion.rhs[i] = at.power(row, V_A.v - V_B.v, V_A.w - V_B.w);
            }
        }
        lu(motion.factors, self.rank());
    }

    /// Enter what a body's joint, that moves a side of a closure, does to the rows.
    #[inline(always)]
    fn enter(&self, at: &Attachment<'_, S>, b: usize, first: bool, factors: &mut [S]) {
        let n = self.rank();
        let V = screw(self.leg.bodies[b].joint, self.X_WB(b), at.p);
        for &(i, row) in at.rows {
            let power = at.power(row, V.v, V.w);
            let power = if first { -power } else { power };
            match self.leg.coord(b).map(|c| self.pivots.place[c]) {
                Some(Some(j)) => factors[i * n + j] += power,
                Some(None) => {}
                None => {
                    for (c, k) in &self.numbers.bodies[b].coupling {
                        if let Some(j) = self.pivots.place[self.leg.local(*c)] {
                            factors[i * n + j] += *k * power;
                        }
                    }
                }
            }
        }
    }

    /// Move the contribution of joints that the closures leave open to the right-hand side.
    fn subtract_free(&self, given: &[S], rhs: &mut [S]) {
        let axes = self.axes();
        let rate = |c: usize| if self.pivots.place[c].is_none() { given[c] } else { S::zero() };
        for c in 0..self.closures() {
            let Some(at) = self.attachment(c, &axes) else { continue };
            for (path, sign) in at.closure.paths.iter().zip([-1.0, 1.0]) {
                for &b in &path.bodies {
                    let coupled = self.numbers.bodies[b].coupling.iter();
                    let rate = self.leg.coord(b).map_or_else(
                        || coupled.fold(S::zero(), |sum, (c, k)| sum + *k * rate(self.leg.local(*c))),
                        rate,
                    );
                    let V = screw(self.leg.bodies[b].joint, self.X_WB(b), at.p).scale(rate * S::lit(sign));
                    for &(i, row) in at.rows {
                        rhs[i] -= at.power(row, V.v, V.w);
                    }
                }
            }
        }
    }

    /// Rates of the leg, (7.95) for active and passive joints together, and the twists of its bodies, right after
    /// [`LegAt::factor`].
    #[inline(always)]
    pub fn rates(&self, motion: &mut LegMotion<'_, S>) {
        if !self.pivots.free.is_empty() {
            self.subtract_free(motion.rates, motion.rhs);
        }
        lu_solve(motion.factors, self.rank(), motion.rhs);
        for (i, &c) in self.pivots.cols[..self.rank()].iter().enumerate() {
            motion.rates[c] = motion.rhs[i];
        }
        (0..self.leg.bodies.len()).for_each(|b| motion.V_WB[b] = self.body_twist(b, motion));
    }

    /// Twist of a body from that of its parent, (5.20): `t_j = t_i (at O_j) + $_j q̇_j`.
    #[inline(always)]
    fn body_twist(&self, b: usize, motion: &LegMotion<'_, S>) -> Twist<S> {
        let X = self.X_WB(b);
        let along = X.R.z() * self.joint_rate(b, motion.rates);
        let V = match self.leg.bodies[b].anchor {
            Anchor::Body(p) => motion.V_WB[p].at(X.p - self.X_WB(p).p),
            root => self.roots.twist(root, X.p),
        };
        match self.leg.bodies[b].joint {
            JointKind::Revolute => Twist { v: V.v, w: V.w + along },
            JointKind::Prismatic => Twist { v: V.v + along, w: V.w },
            JointKind::Fixed => V,
        }
    }

    /// Rate of a body's joint, `Σ coefficient · rate`.
    #[inline(always)]
    fn joint_rate(&self, b: usize, rates: &[S]) -> S {
        if let Some(c) = self.leg.coord(b) {
            return rates[c];
        }
        let coupling = &self.numbers.bodies[b].coupling;
        coupling.iter().fold(S::zero(), |sum, (c, k)| sum + *k * rates[self.leg.local(*c)])
    }

    /// Accelerations of the leg's joints, (7.183) for active and passive joints together; its bodies are left with their
    /// accelerations while no joint accelerates.
    #[inline(always)]
    pub fn accelerations(&self, motion: &mut LegMotion<'_, S>) {
        (0..self.leg.bodies.len()).for_each(|b| motion.A_WB[b] = self.bias(b, motion));
        let axes = self.axes();
        for c in 0..self.closures() {
            let Some(at) = self.attachment(c, &axes) else { continue };
            let (V_A, A_A) = self.anchor_motion(at.closure.paths[0].anchor, at.p, motion);
            let (V_B, A_B) = self.anchor_motion(at.closure.paths[1].anchor, at.p, motion);
            let A = A_A - A_B;
            for &(i, row) in at.rows {
                motion.rhs[i] = at.power(row, A.a, A.alpha);
                motion.rhs[i] -= at.velocity_terms(row, V_A, V_B);
            }
        }
        if !self.pivots.free.is_empty() {
            self.subtract_free(motion.accels, motion.rhs);
        }
        lu_solve(motion.factors, self.rank(), motion.rhs);
        for (i, &c) in self.pivots.cols[..self.rank()].iter().enumerate() {
            motion.accels[c] = motion.rhs[i];
        }
    }

    /// Rates of the pivot coordinates for each unit component of the platform twist, `J[component · n + pivot]`, for a leg that
    /// hangs on nothing else.
    #[inline(always)]
    pub fn platform_rates(&self, factors: &[S], J: &mut [S]) {
        let n = self.rank();
        J.fill(S::zero());
        let axes = self.axes();
        for c in 0..self.closures() {
            let Some(at) = self.attachment(c, &axes) else { continue };
            let r = at.p - self.roots.frames.X_WE.p;
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                if at.closure.paths[side].root != Anchor::Platform {
                    continue;
                }
                for k in 0..6 {
                    let mut unit = [S::zero(); 6];
                    unit[k] = S::lit(sign);
                    let V = Twist::from_array(unit).at(r);
                    for &(i, row) in at.rows {
                        J[k * n + i] += at.power(row, V.v, V.w);
                    }
                }
            }
        }
        for column in J.chunks_exact_mut(n.max(1)) {
            lu_solve(factors, n, column);
        }
    }

    /// Twist and acceleration of what a side of a closure is on, at a point.
    #[inline(always)]
    fn anchor_motion(&self, anchor: Anchor, p: Vec3<S>, motion: &LegMotion<'_, S>) -> (Twist<S>, Accel<S>) {
        match anchor {
            Anchor::Body(b) => {
                let r = p - self.X_WB(b).p;
                (motion.V_WB[b].at(r), motion.A_WB[b].at(r, motion.V_WB[b].w))
            }
            root => (self.roots.twist(root, p), self.roots.accel(root, p)),
        }
    }

    /// Acceleration of a body when no joint of the leg accelerates, (5.32): that of its parent, taken there, and the velocity
    /// product of its joint.
    #[inline(always)]
    fn bias(&self, b: usize, motion: &LegMotion<'_, S>) -> Accel<S> {
        let X = self.X_WB(b);
        let (mut A, w) = match self.leg.bodies[b].anchor {
            Anchor::Body(p) => {
                let w = motion.V_WB[p].w;
                (motion.A_WB[p].at(X.p - self.X_WB(p).p, w), w)
            }
            Anchor::World => return Accel::zero(), // the base neither turns nor moves
            root => (self.roots.accel(root, X.p), self.roots.twist(root, X.p).w),
        };
        let along = X.R.z() * self.joint_rate(b, motion.rates);
        velocity_product(self.leg.bodies[b].joint, w, along, &mut A);
        A
    }

    /// Accelerations of the bodies with those of the joints, base to tip, (5.32), after [`LegAt::accelerations`]: what the
    /// joints add is carried on like a twist.
    #[inline(always)]
    pub fn body_accelerations(&self, motion: &mut LegMotion<'_, S>) {
        (0..self.leg.bodies.len()).for_each(|b| self.add_gain(b, motion));
    }

    /// Twists and accelerations of the bodies for rates and accelerations of the leg's coordinates that are known, so that no
    /// closure is solved: at postures where the closures do not give them.
    pub fn move_as_given(&self, motion: &mut LegMotion<'_, S>) {
        (0..self.leg.bodies.len()).for_each(|b| motion.V_WB[b] = self.body_twist(b, motion));
        (0..self.leg.bodies.len()).for_each(|b| motion.A_WB[b] = self.bias(b, motion));
        self.body_accelerations(motion);
    }

    /// Adds to the acceleration of one body what the accelerations of the joints on the way to it give.
    #[inline(always)]
    fn add_gain(&self, b: usize, motion: &mut LegMotion<'_, S>) {
        let X = self.X_WB(b);
        let mut more = match self.leg.bodies[b].anchor {
            Anchor::Body(p) => motion.gains[p].at(X.p - self.X_WB(p).p),
            _ => Twist::zero(),
        };
        let along = X.R.z() * self.joint_rate(b, motion.accels);
        match self.leg.bodies[b].joint {
            JointKind::Revolute => more.w += along,
            JointKind::Prismatic => more.v += along,
            JointKind::Fixed => {}
        }
        motion.gains[b] = more;
        motion.A_WB[b] = motion.A_WB[b] + Accel { a: more.v, alpha: more.w };
    }
}

/// What a joint's rate adds to the acceleration of the body it carries, (5.32): `[2σ ω_i × a q̇; σ̄ ω_i × a q̇]`, with `w` the
/// angular velocity of what the joint stands on.
#[inline(always)]
pub(super) fn velocity_product<S: Real>(joint: JointKind, w: Vec3<S>, axis_rate: Vec3<S>, A: &mut Accel<S>) {
    match joint {
        JointKind::Revolute => A.alpha += cross(w, axis_rate),
        JointKind::Prismatic => A.a += cross(w, axis_rate) * S::lit(2.0),
        JointKind::Fixed => {}
    }
}
