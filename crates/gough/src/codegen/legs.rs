//! Motion and efforts of the legs in the axes of their own bodies: the form of chapters 7 and 8 that takes fewest operations.
//!
//! The rows of a closure are written in the frame of the body that it ties (see [`Tie`]), where the joints before it have
//! constant axes: the leg's matrix `K` is then diagonal or triangular for the usual legs. `K q̇ = -ζ·(V_B⁰ - V_A⁰)` gives the
//! rates (7.95), the same factors the accelerations (7.183), and its transpose carries the efforts of the leg to the
//! platform: `Kᵀ λ = Γ - τ`, (8.65)-(8.73).

use super::frames::{TreeFrames, TreeLink};
use super::plan::{LegsPlan, Tie};
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::Positions;
use crate::kinematics::closure::{ClosureAt, row_kind};
use crate::linalg::small::{Dense, lu, lu_solve, lu_solve_transposed};
use crate::model::{BodyId, ClosureId, CoordId, JointKind, LegId, Model, Node, PerBody, PerCoord, PerLeg};
use crate::scalar::Real;
use crate::spatial::{Accel, Inertia, Mat3, Pose, Rotation, Twist, Vec3, Wrench, hat};

/// Motion of a body in its own axes; the acceleration is without gravity.
#[derive(Clone, Copy, Debug)]
struct BodyMotion<S: Real> {
    V: Twist<S>,
    A: Accel<S>,
}

/// Inertias that the efforts are computed with.
#[derive(Clone, Debug)]
pub(super) struct Inertias<S: Real> {
    pub bodies: PerBody<Inertia<S>>,
    pub platform: Inertia<S>,
}

/// What joints and closures meet besides the inertias of the bodies.
#[derive(Clone, Debug)]
pub(super) struct Loads<S: Real> {
    /// Efforts along the joints.
    pub joints: PerCoord<S>,
    /// Moments that bodies and the platform need, each in the axes of its own.
    pub moments: Vec<(Node, Vec3<S>)>,
}

/// Motion of the platform in world axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlatformRates<S: Real> {
    pub V: Twist<S>,
    pub A: Accel<S>,
}

/// Rates, accelerations and efforts of one state.
#[derive(Clone, Debug)]
pub(super) struct Legs<'a, S: Real> {
    pub model: &'a Model<S>,
    plan: &'a LegsPlan,
    frames: TreeFrames<S>,
    platform: PlatformRates<S>,
    bodies: PerBody<BodyMotion<S>>,
    /// Factors of `K`, leg by leg.
    factors: PerLeg<Vec<S>>,
    pub rates: PerCoord<S>,
    pub accels: PerCoord<S>,
}

/// `α̂ + ω̂ω̂`: times a vector fixed in a body, what its far end accelerates more than its near end, (3.24).
fn turning<S: Real>(w: Vec3<S>, alpha: Vec3<S>) -> Mat3<S> {
    let (xx, yy, zz) = (w.x * w.x, w.y * w.y, w.z * w.z);
    let (xy, xz, yz) = (w.x * w.y, w.x * w.z, w.y * w.z);
    hat(alpha) + Mat3::new(-(yy + zz), xy, xz, xy, -(xx + zz), yz, xz, yz, -(xx + yy))
}

fn times<S: Real>(M: &Mat3<S>, v: Vec3<S>) -> Vec3<S> {
    Rotation(*M).apply(v)
}

impl<S: Real> BodyMotion<S> {
    fn rest() -> Self {
        Self { V: Twist::zero(), A: Accel::zero() }
    }

    /// The motion of a body from that of its parent, seen in the parent's axes, (5.20), (5.32).
    fn step(self, link: &TreeLink<S>, rate: S, accel: S) -> Self {
        let (v, w) = link.unit();
        let (slide, slides) = (Vec3::new(S::zero(), S::zero(), link.slide), link.joint == JointKind::Prismatic);
        let U = turning(self.V.w, self.A.alpha);
        let w_B = link.down(self.V.w);
        let mut alpha = link.down(self.A.alpha) + w_B.cross(&(w * rate)) + w * accel;
        let mut a = link.down(self.A.a + times(&U, link.X_PF.p));
        let mut V = Twist { v: link.down(self.V.v + self.V.w.cross(&link.X_PF.p)), w: w_B + w * rate };
        if slides {
            alpha = link.down(self.A.alpha);
            a += times(&turning(w_B, alpha), slide) + w_B.cross(&(v * (rate + rate))) + v * accel;
            V.v += w_B.cross(&slide) + v * rate;
        }
        Self { V, A: Accel { a, alpha } }
    }
}

impl<'a, S: Real> Legs<'a, S> {
    /// Where the platform is.
    pub fn place(&self) -> Pose<S> {
        self.frames.X_WE
    }

    /// A posture in which nothing moves.
    pub fn at_rest(model: &'a Model<S>, plan: &'a LegsPlan, pos: &Positions<S>) -> Self {
        let topology = model.topology();
        Self {
            model,
            plan,
            frames: TreeFrames::new(model, plan, pos),
            platform: PlatformRates { V: Twist::zero(), A: Accel::zero() },
            bodies: topology.bodies.map(|_, _| BodyMotion::rest()),
            factors: topology.legs.map(|_, _| Vec::new()),
            rates: topology.coords.map(|_, _| S::zero()),
            accels: topology.coords.map(|_, _| S::zero()),
        }
    }

    /// Rates and accelerations of all joints for a motion of the platform.
    pub fn new(model: &'a Model<S>, plan: &'a LegsPlan, pos: &Positions<S>, platform: PlatformRates<S>) -> Self {
        let mut legs = Self { platform, ..Self::at_rest(model, plan, pos) };
        for &leg in &model.topology().order {
            legs.move_leg(leg);
        }
        legs
    }

    /// (7.95) and (7.183) for all joints of a leg together.
    fn move_leg(&mut self, leg: LegId) {
        let cols = &self.plan.pivots[leg].cols;
        let n = cols.len();
        let (mut factors, mut rhs) = (vec![S::zero(); n * n], vec![S::zero(); n]);
        for (i, k) in self.rows(leg, |legs, at, tie| legs.row(leg, at, tie)).into_iter().enumerate() {
            factors[i * n..(i + 1) * n].copy_from_slice(&k[..n]);
            rhs[i] = -k[n];
        }
        lu(&mut factors, n);
        lu_solve(&factors, n, &mut rhs);
        cols.iter().zip(&rhs).for_each(|(c, x)| self.rates[*c] = *x);
        self.move_bodies(leg);
        let beta = self.rows(leg, |legs, at, tie| vec![legs.bias(leg, at, tie)]);
        beta.into_iter().zip(&mut rhs).for_each(|(b, x)| *x = -b[0]);
        lu_solve(&factors, n, &mut rhs);
        cols.iter().zip(&rhs).for_each(|(c, x)| self.accels[*c] = *x);
        self.move_bodies(leg);
        self.factors[leg] = factors;
    }

    /// Calls `f` for every pivot row of a leg, in order.
    fn rows(&self, leg: LegId, f: impl Fn(&Self, (ClosureId, usize), &Tie) -> Vec<S>) -> Vec<Vec<S>> {
        self.plan.pivots[leg].rows.iter().map(|&(c, row)| f(self, (c, row), &self.plan.ties[c])).collect()
    }

    /// Motions of the bodies of a leg with the rates and accelerations known so far, base to tip.
    fn move_bodies(&mut self, leg: LegId) {
        for b in self.model.topology().legs[leg].bodies.iter() {
            let parent = self.node_motion(self.frames.links[b].parent);
            let joint = |list: &PerCoord<S>| match self.model.topology().bodies[b].coord {
                Some(c) => list[c],
                None => self.model.numbers().bodies[b].coupling.iter().fold(S::zero(), |q, (c, k)| q + *k * list[*c]),
            };
            self.bodies[b] = parent.step(&self.frames.links[b], joint(&self.rates), joint(&self.accels));
        }
    }

    /// Motion of a node in its own axes.
    fn node_motion(&self, node: Node) -> BodyMotion<S> {
        let PlatformRates { V, A } = self.platform;
        let local = |v: Vec3<S>| self.frames.X_WE.R.apply_inv(v);
        match node {
            Node::World => BodyMotion::rest(),
            Node::Body(b) => self.bodies[b],
            Node::Platform => BodyMotion {
                V: Twist { v: local(V.v), w: local(V.w) },
                A: Accel { a: local(A.a), alpha: local(A.alpha) },
            },
        }
    }

    /// Where the tie is in its own frame, and the frame that stands for its other side.
    fn ends(&self, c: ClosureId, tie: &Tie) -> (Vec3<S>, Pose<S>) {
        let numbers = &self.model.numbers().closures;
        (numbers[c][tie.side].p, numbers[tie.other_frame.0][tie.other_frame.1])
    }

    /// The closure seen from the frame its rows are written in.
    fn closure(&self, c: ClosureId, tie: &Tie) -> ClosureAt<S> {
        let frames = &self.model.numbers().closures[c];
        let (p, other) = self.ends(c, tie);
        let own = Pose { R: frames[tie.side].R, p };
        let across = Pose { R: self.frames.axes(&other.R, tie.other, tie.node), p };
        let (A, B) = if tie.side == 0 { (own, across) } else { (across, own) };
        let axes = Rotation::identity();
        ClosureAt { joint: self.model.topology().closures[c].joint, A, B, axes }
    }

    /// A row of `K`, and the power of the row's wrench on the motion of what the leg hangs on.
    fn row(&self, leg: LegId, (c, row): (ClosureId, usize), tie: &Tie) -> Vec<S> {
        let at = self.closure(c, tie);
        let wrench = at.wrench(row_kind(at.joint, row));
        let cols = &self.plan.pivots[leg].cols;
        let mut out = vec![S::zero(); cols.len() + 1];
        let (p, other) = self.ends(c, tie);
        for (node, point, on_b) in [(tie.node, p, tie.side == 1), (tie.other, other.p, tie.side == 0)] {
            let sign = S::lit(if on_b { 1.0 } else { -1.0 });
            let root = self.joints(leg, node, point, tie.node, &mut |b, unit| {
                let power = sign * unit.power(wrench);
                let body = &self.model.topology().bodies[b];
                let mut add = |c: CoordId, k: S| {
                    if let Some(j) = cols.iter().position(|x| *x == c) {
                        out[j] += k * power;
                    }
                };
                match body.coord {
                    Some(c) => add(c, S::one()),
                    None => self.model.numbers().bodies[b].coupling.iter().for_each(|(c, k)| add(*c, *k)),
                }
            });
            *out.last_mut().expect("never empty") += sign * root.power(wrench);
        }
        out
    }

    /// Unit motions of the joints of the leg below a node, at a point of it and in the axes of `to`; the motion of what the
    /// lowest of them stands on, likewise.
    fn joints(
        &self,
        leg: LegId,
        node: Node,
        point: Vec3<S>,
        to: Node,
        f: &mut dyn FnMut(BodyId, Twist<S>),
    ) -> Twist<S> {
        let frames = &self.frames;
        let mut at = node;
        if node == Node::Platform {
            let V = self.platform.V.at(frames.X_WE.R.apply(point));
            return Twist { v: frames.carry(V.v, node, to), w: frames.carry(V.w, node, to) };
        }
        let mut lever = frames.carry(point, node, to);
        while let Node::Body(b) = at
            && self.model.topology().bodies[b].leg == leg
        {
            let link = &frames.links[b];
            let (v, w) = link.unit();
            let (v, w) = (frames.carry(v, at, to), frames.carry(w, at, to));
            f(b, Twist { v: v + w.cross(&lever), w });
            let origin = link.origin();
            // Axes of the platform frame are those of the world here.
            let origin = if link.parent == Node::Platform { frames.X_WE.R.apply(origin) } else { origin };
            lever += frames.carry(origin, link.parent, to);
            at = link.parent;
        }
        let V = match at {
            Node::World => return Twist::zero(),
            Node::Platform => self.platform.V,
            Node::Body(b) => self.bodies[b].V,
        };
        let (v, w) = (frames.carry(V.v, at, to), frames.carry(V.w, at, to));
        Twist { v: v + w.cross(&lever), w }
    }

    /// Second derivative of a row while no joint of the leg accelerates.
    fn bias(&self, leg: LegId, (c, row): (ClosureId, usize), tie: &Tie) -> S {
        let _ = leg;
        let at = self.closure(c, tie);
        let kind = row_kind(at.joint, row);
        let (p, other) = self.ends(c, tie);
        let own = self.point_motion(tie.node, p, tie.node);
        let across = self.point_motion(tie.other, other.p, tie.node);
        let (A, B) = if tie.side == 0 { (own, across) } else { (across, own) };
        (B.A - A.A).power(at.wrench(kind)) + at.velocity_terms(kind, A.V, B.V)
    }

    /// Motion of a point of a node in the axes of `to`.
    fn point_motion(&self, node: Node, point: Vec3<S>, to: Node) -> BodyMotion<S> {
        let (BodyMotion { V, A }, r) = match node {
            Node::Platform => {
                let PlatformRates { V, A } = self.platform;
                (BodyMotion { V, A }, self.frames.X_WE.R.apply(point))
            }
            _ => (self.node_motion(node), point),
        };
        let a = A.a + times(&turning(V.w, A.alpha), r);
        let carry = |v: Vec3<S>| self.frames.carry(v, node, to);
        BodyMotion { V: Twist { v: carry(V.at(r).v), w: carry(V.w) }, A: Accel { a: carry(a), alpha: carry(A.alpha) } }
    }
}

/// Wrenches on the platform, column by column, at its origin and in world axes. Column 0 is what motion and gravity need,
/// column 1 + k what drive k takes off when its effort is [`Legs::unit_effort`].
pub(super) type Columns<S> = Vec<Wrench<S>>;

/// `[m a + U ms; I α + ω×Iω + ms×a]`, (6.35)-(6.36), gravity included in `a`.
fn needed<S: Real>(inertia: &Inertia<S>, w: Vec3<S>, alpha: Vec3<S>, a: Vec3<S>) -> Wrench<S> {
    let U = turning(w, alpha);
    let I = |v: Vec3<S>| times(&inertia.I_o, v);
    Wrench { f: a * inertia.m + times(&U, inertia.ms), m: I(alpha) + w.cross(&I(w)) + inertia.ms.cross(&a) }
}

/// What a motion of a platform that is turned by `R` needs, at its origin and in world axes.
pub(super) fn needed_by_platform<S: Real>(
    R: &Rotation<S>,
    inertia: &Inertia<S>,
    motion: PlatformRates<S>,
    gravity: Vec3<S>,
) -> Wrench<S> {
    let PlatformRates { V, A } = motion;
    let a = A.a - gravity;
    // A mass at the origin does not turn.
    let point = Inertia { m: S::zero(), ..*inertia };
    let F = needed(&point, R.apply_inv(V.w), R.apply_inv(A.alpha), R.apply_inv(a));
    Wrench { f: R.apply(F.f) + a * inertia.m, m: R.apply(F.m) }
}

impl<S: Real> Legs<'_, S> {
    /// Rotors, and friction of all joints where it counts.
    pub fn loads(&self, friction: bool) -> Loads<S> {
        let joints = self.model.numbers().joints.map(|c, joint| {
            let rotor = joint.rotor * self.accels[c];
            if friction { rotor + joint.friction(self.rates[c], Sign::Sharp) } else { rotor }
        });
        Loads { joints, moments: Vec::new() }
    }

    /// Rate of a closure that turns: that of side b on side a, and its axis in the axes of both sides.
    pub fn closure_turning(&self, c: ClosureId) -> (S, [(Node, Vec3<S>); 2]) {
        let sides = self.model.topology().closures[c].sides;
        let z = self.model.numbers().closures[c][1].R.z();
        let turns = |node: Node| self.node_motion(node).V.w;
        // World and platform are carried in world axes, and move in their own.
        let carry = |v: Vec3<S>, from: Node, to: Node| {
            let v = if from == Node::Platform { self.frames.X_WE.R.apply(v) } else { v };
            let v = self.frames.carry(v, from, to);
            if to == Node::Platform { self.frames.X_WE.R.apply_inv(v) } else { v }
        };
        let [a, b] = sides;
        let rate = z.dot(&(turns(b) - carry(turns(a), a, b)));
        (rate, [(a, carry(z, b, a)), (b, z)])
    }

    /// The wrenches on the platform, about its origin or a point of the world.
    pub fn platform_wrenches(
        &self,
        inertias: &Inertias<S>,
        gravity: Vec3<S>,
        loads: &Loads<S>,
        about: Option<Vec3<S>>,
    ) -> Columns<S> {
        let topology = self.model.topology();
        let n = topology.active.len() + 1;
        let mut F_B: PerBody<Columns<S>> = topology.bodies.map(|b, _| {
            let mut columns = vec![Wrench::zero(); n];
            columns[0] = self.needed_by(b, &inertias.bodies[b], gravity);
            columns
        });
        let mut F_E = vec![Wrench::zero(); n];
        F_E[0] = self.needed_by_platform(&inertias.platform, self.platform, gravity);
        for (node, m) in &loads.moments {
            match *node {
                Node::World => {}
                Node::Body(b) => F_B[b][0].m += m,
                Node::Platform => F_E[0].m += self.frames.X_WE.R.apply(*m),
            }
        }
        for &leg in topology.order.iter().rev() {
            let efforts = self.leg_efforts(leg, &loads.joints, &mut F_B, &mut F_E);
            self.push_across(leg, &efforts, about, &mut F_B, &mut F_E);
        }
        if let Some(c) = about {
            F_E[0] = F_E[0].at(c - self.frames.X_WE.p);
        }
        F_E
    }

    fn needed_by(&self, b: BodyId, inertia: &Inertia<S>, gravity: Vec3<S>) -> Wrench<S> {
        let BodyMotion { V, A } = self.bodies[b];
        let g = self.frames.carry(gravity, Node::World, Node::Body(b));
        // A body tied at its own origin accelerates as what it is tied to.
        let a = match self.plan.tied[b] {
            Some(c) => {
                let tie = &self.plan.ties[c];
                self.point_motion(tie.other, self.ends(c, tie).1.p, tie.node).A.a
            }
            None => A.a,
        };
        needed(inertia, V.w, A.alpha, a - g)
    }

    /// What a motion of the platform needs, at its origin and in world axes.
    pub fn needed_by_platform(&self, inertia: &Inertia<S>, motion: PlatformRates<S>, gravity: Vec3<S>) -> Wrench<S> {
        needed_by_platform(&self.frames.X_WE.R, inertia, motion, gravity)
    }

    /// `λ` of the pivot rows of a leg, column by column, from the efforts of its tree.
    fn leg_efforts(
        &self,
        leg: LegId,
        loads: &PerCoord<S>,
        F_B: &mut PerBody<Columns<S>>,
        F_E: &mut Columns<S>,
    ) -> Vec<Vec<S>> {
        let topology = self.model.topology();
        let cols = &self.plan.pivots[leg].cols;
        let n = cols.len();
        let mut columns = self.tree_efforts(leg, &self.plan.columns[leg], F_B, F_E);
        for (j, c) in cols.iter().enumerate() {
            columns[0][j] += loads[*c];
            if let Some(k) = topology.active.iter().position(|a| a == c) {
                columns[1 + k][j] -= self.unit_effort(*c);
            }
        }
        for &k in &self.plan.columns[leg] {
            lu_solve_transposed(&self.factors[leg], n, &mut columns[k]);
        }
        columns
    }

    /// Efforts of the joints of a leg, were all of them driven, tip to base, (8.20)-(8.27).
    fn tree_efforts(
        &self,
        leg: LegId,
        which: &[usize],
        F_B: &mut PerBody<Columns<S>>,
        F_E: &mut Columns<S>,
    ) -> Vec<Vec<S>> {
        let topology = self.model.topology();
        let cols = &self.plan.pivots[leg].cols;
        let mut columns = vec![vec![S::zero(); cols.len()]; F_E.len()];
        for b in topology.legs[leg].bodies.iter().rev() {
            let link = &self.frames.links[b];
            let (v, w) = link.unit();
            for &k in which {
                let F = F_B[b][k];
                let effort = Twist { v, w }.power(F);
                let mut add = |c: CoordId, x: S| {
                    if let Some(j) = cols.iter().position(|own| *own == c) {
                        columns[k][j] += x * effort;
                    }
                };
                match topology.bodies[b].coord {
                    Some(c) => add(c, S::one()),
                    None => self.model.numbers().bodies[b].coupling.iter().for_each(|(c, x)| add(*c, *x)),
                }
                let up = |v: Vec3<S>| link.up(v);
                let f = up(F.f);
                let F_P = Wrench { f, m: up(F.m) + link.origin().cross(&f) };
                match link.parent {
                    Node::World => {}
                    Node::Body(p) => F_B[p][k] = F_B[p][k] + F_P,
                    Node::Platform => {
                        let R = &self.frames.X_WE.R;
                        F_E[k] = F_E[k] + Wrench { f: R.apply(F_P.f), m: R.apply(F_P.m) };
                    }
                }
            }
        }
        columns
    }

    /// The effort of a drive that makes its column simple: the pivot of its joint.
    pub fn unit_effort(&self, c: CoordId) -> S {
        let leg = self.model.topology().coords[c].leg;
        let cols = &self.plan.pivots[leg].cols;
        cols.iter().position(|own| *own == c).map_or(S::one(), |j| self.factors[leg][j * cols.len() + j].recip())
    }

    /// What the rows of a leg's closures take off what they are tied to.
    fn push_across(
        &self,
        leg: LegId,
        lambda: &[Vec<S>],
        about: Option<Vec3<S>>,
        F_B: &mut PerBody<Columns<S>>,
        F_E: &mut Columns<S>,
    ) {
        let rows = &self.plan.pivots[leg].rows;
        for c in self.model.topology().legs[leg].closures.iter() {
            let tie = &self.plan.ties[c];
            let outside = self.is_outside(leg, tie.other);
            // Sides on bodies of the leg whose tree does not stand on the base push what it stands on.
            let roots = [tie.node, tie.other].map(|node| self.is_outside(leg, self.root(leg, node)));
            if !(outside || roots[0] || roots[1]) || !rows.iter().any(|r| r.0 == c) {
                continue;
            }
            let at = self.closure(c, tie);
            let (own, other) = self.ends(c, tie);
            let sign = S::lit(if tie.side == 0 { -1.0 } else { 1.0 });
            for &k in &self.plan.columns[leg] {
                let mut F = Wrench::zero();
                for (i, &(_, row)) in rows.iter().enumerate().filter(|(_, r)| r.0 == c) {
                    let W = at.wrench(row_kind(at.joint, row));
                    let x = sign * lambda[k][i];
                    F = F + Wrench { f: W.f * x, m: W.m * x };
                }
                let about = about.filter(|_| k > 0);
                if roots[0] {
                    self.push_root(leg, tie.node, -F.at(-own), (k, about), F_B, F_E);
                }
                if !outside && roots[1] {
                    let carry = |v: Vec3<S>| self.frames.carry(v, tie.node, tie.other);
                    let across = Wrench { f: carry(F.f), m: carry(F.m) };
                    self.push_root(leg, tie.other, across.at(-other.p), (k, about), F_B, F_E);
                }
                if !outside {
                    continue;
                }
                if let (Some(c), Node::Platform) = (about, tie.other) {
                    F_E[k] = F_E[k] + self.about(c, tie.node, F.at(-own));
                    continue;
                }
                let carry = |v: Vec3<S>| self.frames.carry(v, tie.node, tie.other);
                let (f, m) = (carry(F.f), carry(F.m));
                match tie.other {
                    Node::World => {}
                    Node::Platform => {
                        let r = self.frames.X_WE.R.apply(other.p);
                        F_E[k] = F_E[k] + Wrench { f, m: m + r.cross(&f) };
                    }
                    Node::Body(b) => F_B[b][k] = F_B[b][k] + Wrench { f, m: m + other.p.cross(&f) },
                }
            }
        }
    }

    /// Whether a node is neither the base nor a body of a leg.
    fn is_outside(&self, leg: LegId, node: Node) -> bool {
        match node {
            Node::World => false,
            Node::Platform => true,
            Node::Body(b) => self.model.topology().bodies[b].leg != leg,
        }
    }

    /// What the tree of a leg below one of its bodies stands on; the base for what is no body of the leg.
    fn root(&self, leg: LegId, node: Node) -> Node {
        let mut at = node;
        while let Node::Body(b) = at
            && self.model.topology().bodies[b].leg == leg
        {
            at = self.frames.links[b].parent;
        }
        if at == node { Node::World } else { at }
    }

    /// A wrench at the origin of a body of a leg, in its axes, carried down to what the leg's tree stands on.
    fn push_root(
        &self,
        leg: LegId,
        node: Node,
        F: Wrench<S>,
        (k, about): (usize, Option<Vec3<S>>),
        F_B: &mut PerBody<Columns<S>>,
        F_E: &mut Columns<S>,
    ) {
        let (mut at, mut F) = (node, F);
        while let Node::Body(b) = at
            && self.model.topology().bodies[b].leg == leg
        {
            let link = &self.frames.links[b];
            let f = link.up(F.f);
            F = Wrench { f, m: link.up(F.m) + link.origin().cross(&f) };
            at = link.parent;
        }
        match at {
            Node::World => {}
            Node::Body(b) => F_B[b][k] = F_B[b][k] + F,
            Node::Platform => {
                let R = &self.frames.X_WE.R;
                let F = Wrench { f: R.apply(F.f), m: R.apply(F.m) };
                F_E[k] = F_E[k] + about.map_or(F, |c| F.at(c - self.frames.X_WE.p));
            }
        }
    }

    /// A wrench at the origin of a node, in its axes, taken about a point of the world, in world axes: carried down the leg,
    /// so that the line of a strut stays a line through its foot.
    fn about(&self, c: Vec3<S>, node: Node, F: Wrench<S>) -> Wrench<S> {
        let (mut at, mut F) = (node, F);
        while let Node::Body(b) = at {
            let link = &self.frames.links[b];
            let lever = if link.parent == Node::World { link.origin() - c } else { link.origin() };
            let f = link.up(F.f);
            F = Wrench { f, m: link.up(F.m) + lever.cross(&f) };
            at = link.parent;
        }
        if at == Node::Platform {
            let R = &self.frames.X_WE.R;
            F = Wrench { f: R.apply(F.f), m: R.apply(F.m) }.at(c - self.frames.X_WE.p);
        }
        F
    }

    /// Rows of all closures of a leg over its coordinates, whatever the pivots: what they are chosen from.
    pub fn all_rows(&self, leg: LegId, rows: &[(ClosureId, usize)]) -> Dense<S> {
        let n = self.plan.pivots[leg].cols.len();
        let mut out = Dense::zeros(rows.len(), n);
        for (i, at) in rows.iter().enumerate() {
            let row = self.row(leg, *at, &self.plan.ties[at.0]);
            (0..n).for_each(|j| *out.at_mut(i, j) = row[j]);
        }
        out
    }
}

impl<S: Real> Legs<'_, S> {
    /// What a leg resists at its tip, in world axes, and where that is from the platform origin: `D = R K⁻ᵀ M K⁻¹ Rᵀ`. Only
    /// for legs that one closure ties to the platform by positions alone.
    pub fn tip_inertia(&self, leg: LegId, c: ClosureId, inertias: &Inertias<S>) -> (Mat3<S>, Vec3<S>) {
        let tie = &self.plan.ties[c];
        let (rows, n) = (&self.plan.pivots[leg].rows, self.plan.pivots[leg].cols.len());
        let (M, factors) = (self.joint_inertia(leg, inertias), &self.factors[leg]);
        let mut L = Mat3::zeros();
        for j in 0..n {
            let mut x: Vec<S> = (0..n).map(|i| if i == j { S::one() } else { S::zero() }).collect();
            lu_solve(factors, n, &mut x);
            let mut y = M.apply(&x);
            lu_solve_transposed(factors, n, &mut y);
            for i in 0..=j {
                L[(rows[i].1, rows[j].1)] = y[i];
                L[(rows[j].1, rows[i].1)] = y[i];
            }
        }
        // Axes of the world in the frame of the rows.
        let unit = |k: usize| self.frames.carry(Rotation::identity().column(k), Node::World, tie.node);
        let axes = [unit(0), unit(1), unit(2)];
        let mut D = Mat3::zeros();
        for k in 0..3 {
            let f = times(&L, axes[k]);
            for i in 0..=k {
                D[(i, k)] = axes[i].dot(&f);
                D[(k, i)] = D[(i, k)];
            }
        }
        (D, self.frames.X_WE.R.apply(self.ends(c, tie).1.p))
    }

    /// Inertia matrix of a leg on its own coordinates, in the order of its pivots, rotors included, (8.34).
    fn joint_inertia(&self, leg: LegId, inertias: &Inertias<S>) -> Dense<S> {
        let cols = &self.plan.pivots[leg].cols;
        let mut M = Dense::zeros(cols.len(), cols.len());
        for (k, c) in cols.iter().enumerate() {
            let mut moved = self.clone();
            moved.platform = PlatformRates { V: Twist::zero(), A: Accel::zero() };
            moved.rates = self.rates.map(|_, _| S::zero());
            moved.accels = self.accels.map(|other, _| if other == *c { S::one() } else { S::zero() });
            moved.move_bodies(leg);
            let mut F_B = self.bodies.map(|b, _| {
                let BodyMotion { V, A } = moved.bodies[b];
                vec![needed(&inertias.bodies[b], V.w, A.alpha, A.a)]
            });
            let efforts = moved.tree_efforts(leg, &[0], &mut F_B, &mut vec![Wrench::zero()]);
            for (i, x) in efforts[0].iter().enumerate().take(k + 1) {
                *M.at_mut(i, k) = *x;
                *M.at_mut(k, i) = *x;
            }
            *M.at_mut(k, k) += self.model.numbers().joints[*c].rotor;
        }
        M
    }
}

impl<S: Real> Inertias<S> {
    /// Those of the model.
    pub fn of(model: &Model<S>) -> Self {
        Self { bodies: model.numbers().bodies.map(|_, b| b.inertia), platform: model.numbers().platform }
    }
}
