//! Motion of every frame, base to tip, and inertia and bias forces of the cut robot, (10.75)-(10.103), in any scalar.

use super::body::Deformed;
use super::plan::{FlexibleModel, FrameStep, ReachedBy};
use super::rotation::ElasticTurn;
use crate::linalg::small::Dense;
use crate::model::JointKind;
use crate::scalar::Real;
use crate::spatial::{Accel, Pose, Turn, Twist, Vec3, Wrench, cross, vec3};

/// Positions of a flexible robot: coordinates in the order of the model, and the pose of the platform where it is free. Slots of the
/// platform are not looked at in positions; in rates they are its twist in world axes.
#[derive(Clone, PartialEq, Debug)]
pub struct FlexiblePositions<S: Real> {
    /// Coordinates.
    pub q: Vec<S>,
    /// The platform.
    pub X_WE: Pose<S>,
}

/// A frame in motion, in its own axes.
#[derive(Clone, Debug)]
pub struct FrameMotion<S: Real> {
    /// Where it is.
    pub X_WF: Pose<S>,
    /// Its twist.
    pub V: Twist<S>,
    /// Its acceleration while no rate changes, `g` of (10.84), without gravity.
    pub bias: Accel<S>,
    /// Its motion per unit of each slot of its path, (10.78).
    pub columns: Vec<Twist<S>>,
    /// What its own coordinates do to it: the joint, or the displacement of the tip.
    own: Pose<S>,
}

/// Memory of one computation.
#[derive(Clone, Debug)]
pub struct FlexibleData<S: Real> {
    /// Frames, in the order of the steps.
    pub frames: Vec<FrameMotion<S>>,
    /// `M_tot` of the cut robot, (10.103).
    pub M: Dense<S>,
    /// `c_tot` of the cut robot: rates, gravity, stiffness and damping of bodies; friction of joints is not in it.
    pub c: Vec<S>,
    /// The body that is looked at: what its deformation does, its elastic coordinates and their rates.
    body: (Deformed<S>, [Vec<S>; 2]),
}

impl<S: Real> FlexibleModel<S> {
    /// Memory for one computation.
    pub fn data(&self) -> FlexibleData<S> {
        let n = self.coordinates().len();
        FlexibleData {
            frames: self.frames.iter().map(|f| FrameMotion::still(f.path.len())).collect(),
            M: Dense::zeros(n, n),
            c: vec![S::zero(); n],
            body: (Deformed::default(), [Vec::new(), Vec::new()]),
        }
    }

    /// A frame seen from the one before.
    fn relative_pose(step: &ReachedBy<S>, at: &FlexiblePositions<S>) -> Pose<S> {
        match step {
            ReachedBy::Free => at.X_WE,
            ReachedBy::Joint { X0, X1, kind, parts } => {
                *X0 * MovingJoint::new(*kind, sum(parts, &at.q), S::zero()).X * *X1
            }
            ReachedBy::Tip { X0, shapes, .. } if shapes.is_empty() => *X0,
            ReachedBy::Tip { X0, shapes, axis } => {
                let u = tip_moved(shapes, &at.q);
                *X0 * Pose { R: ElasticTurn::rotation(*axis, u.w), p: u.v }
            }
        }
    }

    /// Poses of all frames alone.
    pub(super) fn place_poses(&self, at: &FlexiblePositions<S>, data: &mut FlexibleData<S>) {
        for (k, frame) in self.frames.iter().enumerate() {
            let X = Self::relative_pose(&frame.step, at);
            data.frames[k].X_WF = frame.from.map_or(X, |f| data.frames[f].X_WF * X);
        }
    }

    /// Poses and Jacobians of all frames.
    pub fn place_frames(&self, at: &FlexiblePositions<S>, data: &mut FlexibleData<S>) {
        for (k, frame) in self.frames.iter().enumerate() {
            let (before, rest) = data.frames.split_at_mut(k);
            self.place_frame(frame, before, at, &mut rest[0]);
        }
    }

    /// Pose and Jacobian of one frame, those before it being placed.
    pub(super) fn place_frame(
        &self,
        frame: &FrameStep<S>,
        before: &[FrameMotion<S>],
        at: &FlexiblePositions<S>,
        out: &mut FrameMotion<S>,
    ) {
        let from = frame.from.map(|f| &before[f]);
        let carried = from.map_or(0, |f| f.columns.len());
        match &frame.step {
            ReachedBy::Free => self.place_platform(at, out),
            ReachedBy::Joint { X0, X1, kind, parts } => {
                let joint = MovingJoint::new(*kind, sum(parts, &at.q), S::zero());
                out.own = joint.X;
                carry(from, &(*X0 * joint.X * *X1), out);
                let own = X1.pull(joint.axis);
                out.columns[carried..].fill(Twist::zero());
                for (slot, c) in parts {
                    if let Some(place) = frame.path.iter().position(|s| s == slot) {
                        out.columns[place] = out.columns[place] + own.scale(*c);
                    }
                }
            }
            ReachedBy::Tip { X0, shapes, .. } if shapes.is_empty() => carry(from, X0, out),
            ReachedBy::Tip { X0, shapes, axis } => {
                let u = tip_moved(shapes, &at.q);
                let turn = ElasticTurn::about(*axis, u.w, Vec3::zeros());
                out.own = Pose { R: turn.R, p: u.v };
                carry(from, &(*X0 * out.own), out);
                for ((_, t), column) in shapes.iter().zip(&mut out.columns[carried..]) {
                    *column = Twist { v: turn.R.apply_inv(t.v), w: turn.R.apply_inv(turn.T * t.w) };
                }
            }
        }
    }

    /// Twists and bias accelerations of all frames, which are placed.
    pub fn move_frames(&self, at: &FlexiblePositions<S>, rates: &[S], data: &mut FlexibleData<S>) {
        for (k, frame) in self.frames.iter().enumerate() {
            let (before, rest) = data.frames.split_at_mut(k);
            Self::move_frame(frame, before, at, rates, &mut rest[0]);
        }
    }

    /// Twist and bias acceleration of one frame, which is placed, those before it having moved.
    pub(super) fn move_frame(
        frame: &FrameStep<S>,
        before: &[FrameMotion<S>],
        at: &FlexiblePositions<S>,
        rates: &[S],
        out: &mut FrameMotion<S>,
    ) {
        let from = frame.from.map(|f| &before[f]);
        match &frame.step {
            ReachedBy::Free => {
                let moved = frame.path.iter().zip(&out.columns);
                out.V = moved.fold(Twist::zero(), |V, (slot, t)| V + t.scale(rates[*slot]));
                out.bias = Accel::zero();
            }
            ReachedBy::Joint { X0, X1, kind, parts } => {
                let joint = MovingJoint { X: out.own, axis: axis_of(*kind), rate: sum(parts, rates) };
                joint.over(&start(from, X0), X1, out);
            }
            ReachedBy::Tip { X0, shapes, .. } if shapes.is_empty() => {
                let start = start(from, X0);
                (out.V, out.bias) = (start.V, start.bias);
            }
            ReachedBy::Tip { X0, shapes, axis } => {
                let ud = tip_moved(shapes, rates);
                let turn = match axis {
                    Some(_) => ElasticTurn::about_one(out.own.R, ud.w),
                    None => ElasticTurn::new(tip_moved(shapes, &at.q).w, ud.w),
                };
                tip_over(&start(from, X0), &turn, out.own.p, ud.v, out);
            }
        }
    }

    fn place_platform(&self, at: &FlexiblePositions<S>, out: &mut FrameMotion<S>) {
        out.X_WF = at.X_WE;
        let R = at.X_WE.R;
        for (column, slot) in out.columns.iter_mut().zip(self.platform()) {
            let super::plan::MotionCoordinate::Platform(k) = self.coordinates()[slot] else { continue };
            let unit: Twist<S> = crate::elastodynamics::numbers::unit(k);
            *column = Twist { v: R.apply_inv(unit.v), w: R.apply_inv(unit.w) };
        }
    }

    /// `c_tot` of the cut robot, and with accelerations `M_tot q̈ + c_tot` without the matrix; frames have moved.
    pub fn cut_forces(
        &self,
        at: &FlexiblePositions<S>,
        rates: &[S],
        accelerations: Option<&[S]>,
        data: &mut FlexibleData<S>,
    ) {
        let FlexibleData { frames, c, body: (d, [q, qd]), .. } = data;
        c.fill(S::zero());
        for mass in &self.masses {
            let frame = &frames[mass.frame];
            let path = &self.frames[mass.frame].path;
            mass.pick(&at.q, q);
            mass.pick(rates, qd);
            mass.body.deform(frame.V, q, qd, d);
            let gravity = frame.X_WF.R.apply_inv(self.gravity);
            let mut A = Accel { a: frame.bias.a - gravity, alpha: frame.bias.alpha };
            let mut F = d.wrench;
            if let Some(all) = accelerations {
                for (slot, t) in path.iter().zip(&frame.columns) {
                    A = Accel { a: A.a + t.v * all[*slot], alpha: A.alpha + t.w * all[*slot] };
                }
                for (slot, column) in mass.slots.iter().zip(&d.M_re) {
                    F = F + Wrench::from_array(column.map(|x| x * all[*slot]));
                }
            }
            F = F + d.inertia.apply(A);
            for (i, t) in path.iter().zip(&frame.columns) {
                c[*i] += t.power(F);
            }
            let n = mass.slots.len();
            for (k, slot) in mass.slots.iter().enumerate() {
                let felt = A.power(Wrench::from_array(d.M_re[k]));
                c[*slot] += felt + d.forces[k] + mass.body.elastic_force(q, qd, k);
                if let Some(all) = accelerations {
                    let row = mass.body.M_ee[k * n..(k + 1) * n].iter().zip(&mass.slots);
                    c[*slot] += row.fold(S::zero(), |sum, (m, other)| sum + *m * all[*other]);
                }
            }
        }
        if let Some(all) = accelerations {
            self.rotors.iter().for_each(|(slot, I)| c[*slot] += *I * all[*slot]);
        }
        for (slot, k) in &self.springs {
            c[*slot] += *k * at.q[*slot];
        }
    }

    /// `M_tot` of the cut robot; frames are placed.
    pub fn cut_inertia(&self, at: &FlexiblePositions<S>, data: &mut FlexibleData<S>) {
        data.M.clear();
        for mass in &self.masses {
            let frame = &data.frames[mass.frame];
            let path = &self.frames[mass.frame].path;
            let (d, [q, _]) = &mut data.body;
            mass.pick(&at.q, q);
            mass.body.deform_inertia(q, d);
            let (inertia, M_re) = (&d.inertia, &d.M_re);
            for (i, t) in path.iter().zip(&frame.columns) {
                let P = inertia.momentum(*t);
                for (j, s) in path.iter().zip(&frame.columns) {
                    *data.M.at_mut(*i, *j) += s.power(P);
                }
            }
            let n = mass.slots.len();
            for (k, slot) in mass.slots.iter().enumerate() {
                let column = Wrench::from_array(M_re[k]);
                for (i, t) in path.iter().zip(&frame.columns) {
                    let m = t.power(column);
                    *data.M.at_mut(*i, *slot) += m;
                    *data.M.at_mut(*slot, *i) += m;
                }
                for (h, other) in mass.slots.iter().enumerate() {
                    *data.M.at_mut(*slot, *other) += mass.body.M_ee[k * n + h];
                }
            }
        }
        for (slot, I) in &self.rotors {
            *data.M.at_mut(*slot, *slot) += *I;
        }
    }

    /// Damping and stiffness of bodies and springs, which no motion changes.
    pub fn elastic_matrices(&self) -> [Dense<S>; 2] {
        let n = self.coordinates().len();
        let [mut D, mut K] = [Dense::zeros(n, n), Dense::zeros(n, n)];
        for mass in &self.masses {
            for (i, s) in mass.slots.iter().enumerate() {
                for (j, t) in mass.slots.iter().enumerate() {
                    let k = i * mass.slots.len() + j;
                    *D.at_mut(*s, *t) += mass.body.D_ee[k];
                    *K.at_mut(*s, *t) += mass.body.K_ee[k];
                }
            }
        }
        self.springs.iter().for_each(|(s, k)| *K.at_mut(*s, *s) += *k);
        [D, K]
    }

    /// Where the platform is, its twist and its acceleration for these accelerations of the coordinates, in world axes.
    pub fn tool(&self, accelerations: &[S], data: &FlexibleData<S>) -> (Pose<S>, Twist<S>, Accel<S>) {
        let (frame, X) = (self.tool.0, self.tool.1);
        let Some(f) = frame else { return (X, Twist::zero(), Accel::zero()) };
        data.frames[f].seen_in_world(&self.frames[f].path, &X, accelerations)
    }

    /// Power that damping takes from bodies that deform.
    pub fn damping_power(&self, rates: &[S]) -> S {
        self.masses.iter().filter(|m| !m.slots.is_empty()).fold(S::zero(), |sum, mass| {
            let qd: Vec<S> = mass.slots.iter().map(|k| rates[*k]).collect();
            sum + super::body::FlexibleBody::half_form(&mass.body.D_ee, &qd) * S::lit(2.0)
        })
    }

    /// Kinetic energy of bodies, of rotors, potential energy of gravity, elastic energy, power lost in bodies.
    pub fn energies(&self, at: &FlexiblePositions<S>, rates: &[S], data: &FlexibleData<S>) -> [S; 5] {
        let half = S::lit(0.5);
        let mut e = [S::zero(); 5];
        let (mut d, mut q, mut qd) = (Deformed::default(), Vec::new(), Vec::new());
        for mass in &self.masses {
            let frame = &data.frames[mass.frame];
            mass.pick(&at.q, &mut q);
            mass.pick(rates, &mut qd);
            mass.body.deform(frame.V, &q, &qd, &mut d);
            let mixed = d
                .M_re
                .iter()
                .zip(&qd)
                .fold(S::zero(), |sum, (c, qd)| sum + frame.V.power(Wrench::from_array(*c)) * *qd);
            e[0] += d.inertia.energy(frame.V) + mixed + super::body::FlexibleBody::half_form(&mass.body.M_ee, &qd);
            e[2] -= (frame.X_WF.p * d.inertia.m + frame.X_WF.R.apply(d.inertia.ms)).dot(&self.gravity);
            e[3] += super::body::FlexibleBody::half_form(&mass.body.K_ee, &q);
        }
        e[4] = self.damping_power(rates);
        e[1] = self.rotors.iter().fold(S::zero(), |sum, (slot, I)| sum + half * *I * rates[*slot].squared());
        e[3] += self.springs.iter().fold(S::zero(), |sum, (slot, k)| sum + half * *k * at.q[*slot].squared());
        e
    }
}

impl<S: Real> FrameMotion<S> {
    /// Memory for a frame that this many slots move.
    pub(super) fn still(slots: usize) -> Self {
        Self {
            X_WF: Pose::identity(),
            V: Twist::zero(),
            bias: Accel::zero(),
            columns: vec![Twist::zero(); slots],
            own: Pose::identity(),
        }
    }

    /// Pose, twist and acceleration of something fixed to the frame at `X`, in world axes, for accelerations of all coordinates; `path` are
    /// the slots that move the frame.
    pub(super) fn seen_in_world(
        &self,
        path: &[usize],
        X: &Pose<S>,
        accelerations: &[S],
    ) -> (Pose<S>, Twist<S>, Accel<S>) {
        let moved = path.iter().zip(&self.columns);
        let A = moved.fold(self.bias, |A, (slot, t)| Accel {
            a: A.a + t.v * accelerations[*slot],
            alpha: A.alpha + t.w * accelerations[*slot],
        });
        let (A, V, R) = (A.at(X.p, self.V.w), self.V.at(X.p), self.X_WF.R);
        let V = Twist { v: R.apply(V.v), w: R.apply(V.w) };
        (self.X_WF * *X, V, Accel { a: R.apply(A.a), alpha: R.apply(A.alpha) })
    }
}

/// Sum of slots with their coefficients.
fn sum<S: Real>(parts: &[(usize, S)], x: &[S]) -> S {
    parts.iter().fold(S::zero(), |sum, (slot, c)| sum + *c * x[*slot])
}

/// What slots do to a tip.
fn tip_moved<S: Real>(shapes: &[(usize, Twist<S>)], x: &[S]) -> Twist<S> {
    shapes.iter().fold(Twist::zero(), |sum, (slot, t)| sum + t.scale(x[*slot]))
}

/// A frame fixed to the one before: twist and bias there.
struct StartFrame<S: Real> {
    V: Twist<S>,
    bias: Accel<S>,
}

fn start<S: Real>(from: Option<&FrameMotion<S>>, X0: &Pose<S>) -> StartFrame<S> {
    let Some(f) = from else { return StartFrame { V: Twist::zero(), bias: Accel::zero() } };
    let A = f.bias.at(X0.p, f.V.w);
    StartFrame { V: X0.pull(f.V), bias: Accel { a: X0.R.apply_inv(A.a), alpha: X0.R.apply_inv(A.alpha) } }
}

/// The pose of the frame before and its columns, carried on to the next.
fn carry<S: Real>(from: Option<&FrameMotion<S>>, X: &Pose<S>, out: &mut FrameMotion<S>) {
    out.X_WF = from.map_or(*X, |f| f.X_WF * *X);
    let columns = from.map_or(&[][..], |f| &f.columns);
    for (to, t) in out.columns.iter_mut().zip(columns) {
        *to = X.pull(*t);
    }
}

/// About or along z.
fn axis_of<S: Real>(kind: JointKind) -> Twist<S> {
    let (zero, z) = (Vec3::zeros(), vec3(S::zero(), S::zero(), S::one()));
    match kind {
        JointKind::Revolute => Twist { v: zero, w: z },
        JointKind::Prismatic => Twist { v: z, w: zero },
        JointKind::Fixed => Twist::zero(),
    }
}

/// A joint at a position and a rate, about or along z.
struct MovingJoint<S: Real> {
    X: Pose<S>,
    axis: Twist<S>,
    rate: S,
}

impl<S: Real> MovingJoint<S> {
    fn new(kind: JointKind, q: S, rate: S) -> Self {
        let axis = axis_of(kind);
        let X = match kind {
            JointKind::Revolute => Pose::identity().turned(Turn::of(q)),
            JointKind::Prismatic => Pose::translation(axis.v * q),
            JointKind::Fixed => Pose::identity(),
        };
        Self { X, axis, rate }
    }

    /// Over the joint, and on to the frame on its moving side: `v̇ += 2 q̇ ω × a`, `ω̇ += q̇ ω × a`, (10.82).
    fn over(&self, at: &StartFrame<S>, X1: &Pose<S>, out: &mut FrameMotion<S>) {
        let (w, two) = (at.V.w, S::lit(2.0));
        let A = at.bias.at(self.X.p, w);
        let A = Accel {
            a: A.a + cross(w, self.axis.v) * (two * self.rate),
            alpha: A.alpha + cross(w, self.axis.w) * self.rate,
        };
        let moved = self.axis.scale(self.rate);
        let V = at.V.at(self.X.p);
        let V = Twist { v: V.v + moved.v, w: V.w + moved.w };
        // Axes of the moving side; the axis is the same in both.
        let (R, w) = (self.X.R, V.w);
        let V = Twist { v: R.apply_inv(V.v), w: R.apply_inv(w) };
        let A = Accel { a: R.apply_inv(A.a), alpha: R.apply_inv(A.alpha) };
        let A = A.at(X1.p, V.w);
        out.V = X1.pull(V);
        out.bias = Accel { a: X1.R.apply_inv(A.a), alpha: X1.R.apply_inv(A.alpha) };
    }
}

/// To a tip that is displaced by `u` and turned: `v̇ += 2 ω × u̇`, `ω̇ += ω × ω_e`, (10.12), (10.82).
fn tip_over<S: Real>(at: &StartFrame<S>, turn: &ElasticTurn<S>, u: Vec3<S>, ud: Vec3<S>, out: &mut FrameMotion<S>) {
    let w = at.V.w;
    let A = at.bias.at(u, w);
    let A = Accel { a: A.a + cross(w, ud) * S::lit(2.0), alpha: A.alpha + cross(w, turn.rate) + turn.bias };
    let V = at.V.at(u);
    let R = turn.R;
    out.V = Twist { v: R.apply_inv(V.v + ud), w: R.apply_inv(w + turn.rate) };
    out.bias = Accel { a: R.apply_inv(A.a), alpha: R.apply_inv(A.alpha) };
}
