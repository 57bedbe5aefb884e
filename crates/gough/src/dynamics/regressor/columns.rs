//! Columns of the regressor in any scalar: what a unit of each parameter asks of each speed, (8.256)-(8.265); and of the
//! energies, (8.231)-(8.252).

use super::partial::PartialRates;
use super::standard::{ColumnSource, ParameterKind, StandardSet};
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::Positions;
use crate::kinematics::motion::Motion;
use crate::model::{ClosureId, CoordId, JointNumbers, Model, Node};
use crate::scalar::Real;
use crate::spatial::{Accel, Pose, Twist, Vec3, Wrench, cross, dot, vec3};

/// Wrenches that a body needs to move so, for a unit of each of its parameters xx, xy, xz, yy, yz, zz, mx, my, mz, m, at the
/// origin of its frame and in its axes, (6.35)-(6.36). `A` is the acceleration less gravity.
pub fn inertial_wrenches<S: Real>(w: Vec3<S>, A: Accel<S>) -> [Wrench<S>; 10] {
    let o = S::zero();
    let turning =
        |product: &dyn Fn(Vec3<S>) -> Vec3<S>| Wrench { f: vec3(o, o, o), m: product(A.alpha) + cross(w, product(w)) };
    let moment = |e: Vec3<S>| Wrench { f: cross(A.alpha, e) + cross(w, cross(w, e)), m: cross(e, A.a) };
    let one = S::one();
    [
        turning(&|x| vec3(x.x, o, o)),
        turning(&|x| vec3(x.y, x.x, o)),
        turning(&|x| vec3(x.z, o, x.x)),
        turning(&|x| vec3(o, x.y, o)),
        turning(&|x| vec3(o, x.z, x.y)),
        turning(&|x| vec3(o, o, x.z)),
        moment(vec3(one, o, o)),
        moment(vec3(o, one, o)),
        moment(vec3(o, o, one)),
        Wrench { f: A.a, m: vec3(o, o, o) },
    ]
}

/// Kinetic and potential energy of a body for a unit of each of its parameters, (8.237), (8.240): `V` in the axes of the body,
/// `g` the gravity of the world, `X` the pose of the body.
fn inertial_energies<S: Real>(V: Twist<S>, X: &Pose<S>, g: Vec3<S>) -> [[S; 2]; 10] {
    let (v, w, half) = (V.v, V.w, S::lit(0.5));
    let g_B = X.R.apply_inv(g);
    let turning = |x: S| [x, S::zero()];
    let u = cross(v, w);
    [
        turning(half * w.x * w.x),
        turning(w.x * w.y),
        turning(w.x * w.z),
        turning(half * w.y * w.y),
        turning(w.y * w.z),
        turning(half * w.z * w.z),
        [u.x, -g_B.x],
        [u.y, -g_B.y],
        [u.z, -g_B.z],
        [half * dot(v, v), -dot(X.p, g)],
    ]
}

/// A frame of the file that carries mass: what it is on, where it is in the world and from the origin of what it is on, and
/// how it moves.
struct Carried<S: Real> {
    node: Node,
    X: Pose<S>,
    r: Vec3<S>,
    V: Twist<S>,
    A: Accel<S>,
}

/// The frame of a [`ColumnSource::Inertia`] at a motion.
fn carried<S: Real>(set: &FileFrames<S>, frame: usize, pos: &Positions<S>, motion: &Motion<S>) -> Carried<S> {
    let (node, X_NB) = &set.0[frame];
    let (X_WN, V, A) = match *node {
        Node::World => (Pose::identity(), Twist::zero(), Accel::zero()),
        Node::Platform => (pos.X_WE, motion.V_WE, motion.A_WE),
        Node::Body(b) => (pos.X_WB[b], motion.V_WB[b], motion.A_WB[b]),
    };
    let r = X_WN.R.apply(X_NB.p);
    Carried { node: *node, X: X_WN * *X_NB, r, V: V.at(r), A: A.at(r, V.w) }
}

/// Frames of the file on the frames of the model, in a scalar.
#[derive(Clone, Debug)]
pub(super) struct FileFrames<S: Real>(Vec<(Node, Pose<S>)>);

impl<S: Real> FileFrames<S> {
    pub fn new(model: &Model<S>, set: &StandardSet) -> Self {
        Self(set.frames.iter().map(|f| (f.node, f.pose(model))).collect())
    }
}

/// What meets a joint coordinate with this rate for a unit of a friction parameter, (8.30)-(8.32).
pub(crate) fn friction_column<S: Real>(
    quantity: ParameterKind,
    joint: Option<&JointNumbers<S>>,
    rate: S,
    sign: Sign,
) -> S {
    let direction = sign.of(rate);
    match quantity {
        ParameterKind::Viscous => rate,
        ParameterKind::Coulomb => direction,
        ParameterKind::Breakaway(k) => {
            let decay = joint.map_or(S::zero(), |j| j.breakaway[k].1);
            direction * (-(rate.abs() * decay)).exp()
        }
        _ => S::zero(),
    }
}

/// Where friction acts: in a joint coordinate, or in a closure that is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rubbing {
    Joint(CoordId),
    Closure(ClosureId),
}

impl StandardSet {
    /// Joints and closures whose friction depends on the direction of the motion.
    pub(crate) fn rubbing(&self) -> Vec<Rubbing> {
        let mut list = Vec::new();
        let directed = |q: ParameterKind| matches!(q, ParameterKind::Coulomb | ParameterKind::Breakaway(_));
        for p in self.parameters.iter().filter(|p| directed(p.quantity)) {
            match &p.source {
                ColumnSource::Coords(coords) => list.extend(coords.iter().map(|c| Rubbing::Joint(*c))),
                ColumnSource::Closure(id) => list.push(Rubbing::Closure(*id)),
                ColumnSource::Inertia { .. } => {}
            }
        }
        list
    }
}

/// What meets a motion for a unit of a friction parameter: where it acts, what it measures, and the rate there.
pub(crate) type Meets<'a, S> = dyn Fn(Rubbing, ParameterKind, S) -> S + 'a;

/// Friction whose direction is told by the rate alone.
pub(crate) fn by_sign<S: Real>(model: &Model<S>, sign: Sign) -> impl Fn(Rubbing, ParameterKind, S) -> S {
    move |at, quantity, rate| {
        let joint = match at {
            Rubbing::Joint(c) => Some(&model.numbers().joints[c]),
            Rubbing::Closure(_) => None,
        };
        friction_column(quantity, joint, rate, sign)
    }
}

/// Twist of what a closure joins, at its frame on side b.
fn side<S: Real>(node: Node, p: Vec3<S>, pos: &Positions<S>, motion: &Motion<S>) -> Twist<S> {
    match node {
        Node::World => Twist::zero(),
        Node::Platform => motion.V_WE.at(p - pos.X_WE.p),
        Node::Body(k) => motion.V_WB[k].at(p - pos.X_WB[k].p),
    }
}

/// Rate of an R or P closure: that of side b on side a, and its partial rates.
fn closure_rate<S: Real>(
    model: &Model<S>,
    id: ClosureId,
    pos: &Positions<S>,
    motion: &Motion<S>,
    partial: &PartialRates<S>,
) -> (S, Vec<S>) {
    let closure = &model.topology().closures[id];
    let [a, b] = closure.sides;
    let B = pos.node(b) * model.numbers().closures[id][1];
    let along = |V: Twist<S>, V_A: Twist<S>| {
        let slides = closure.joint == crate::description::ClosureJoint::Prismatic;
        dot(B.R.z(), if slides { V.v - V_A.v } else { V.w - V_A.w })
    };
    let twist = |node: Node| side(node, B.p, pos, motion);
    let part = |node: Node, k: usize| partial.of_node(node, k, B.p - pos.node(node).p);
    let rates = (0..partial.speeds()).map(|k| along(part(b, k), part(a, k))).collect();
    (along(twist(b), twist(a)), rates)
}

/// Rate of an R or P closure and its derivative. What turns or moves the axis is normal to it and does not count.
pub(super) fn closure_motion(
    model: &Model<f64>,
    id: ClosureId,
    pos: &Positions<f64>,
    motion: &Motion<f64>,
) -> [f64; 2] {
    let closure = &model.topology().closures[id];
    let [a, b] = closure.sides;
    let B = pos.node(b) * model.numbers().closures[id][1];
    let [V_A, V] = [a, b].map(|node| side(node, B.p, pos, motion));
    let [A_A, A] = [a, b].map(|node| match node {
        Node::World => Accel::zero(),
        Node::Platform => motion.A_WE.at(B.p - pos.X_WE.p, motion.V_WE.w),
        Node::Body(k) => motion.A_WB[k].at(B.p - pos.X_WB[k].p, motion.V_WB[k].w),
    });
    let slides = closure.joint == crate::description::ClosureJoint::Prismatic;
    let (rate, acceleration) = if slides { (V.v - V_A.v, A.a - A_A.a) } else { (V.w - V_A.w, A.alpha - A_A.alpha) };
    [dot(B.R.z(), rate), dot(B.R.z(), acceleration)]
}

/// All columns of the regressor, one after the other, each with one number per speed: what a unit of the parameter asks of the
/// speed. Needs the motion of all bodies, and the partial rates there.
pub fn column_values<S: Real>(
    model: &Model<S>,
    set: &StandardSet,
    sign: Sign,
    (pos, motion): (&Positions<S>, &Motion<S>),
    partial: &PartialRates<S>,
) -> Vec<S> {
    columns_under(model, set, &by_sign(model, sign), &FileFrames::new(model, set), (pos, motion), partial)
}

/// Wrenches that what carries a frame needs for a unit of each parameter there, at its origin and in world axes.
fn needed<S: Real>(at: &Carried<S>, gravity: Vec3<S>) -> [Wrench<S>; 10] {
    let down = |v: Vec3<S>| at.X.R.apply_inv(v);
    let A = Accel { a: down(at.A.a - gravity), alpha: down(at.A.alpha) };
    inertial_wrenches(down(at.V.w), A).map(|F| {
        let f = at.X.R.apply(F.f);
        Wrench { f, m: at.X.R.apply(F.m) + cross(at.r, f) }
    })
}

/// All columns of the regressor under friction of any law that is linear in its parameters.
pub(super) fn columns_under<S: Real>(
    model: &Model<S>,
    set: &StandardSet,
    meets: &Meets<'_, S>,
    frames: &FileFrames<S>,
    (pos, motion): (&Positions<S>, &Motion<S>),
    partial: &PartialRates<S>,
) -> Vec<S> {
    let n = partial.speeds();
    let mut out = Vec::with_capacity(n * set.parameters.len());
    // Parameters go over the bodies, quantity by quantity, so that every frame is met again.
    let mut wrenches: Vec<Option<(Node, [Wrench<S>; 10])>> = vec![None; set.frames.len()];
    for p in &set.parameters {
        match &p.source {
            ColumnSource::Inertia { frame, entry } => {
                let (node, own) = wrenches[*frame].get_or_insert_with(|| {
                    let at = carried(frames, *frame, pos, motion);
                    (at.node, needed(&at, model.numbers().gravity))
                });
                out.extend((0..n).map(|k| partial.power(*node, k, own[*entry])));
            }
            ColumnSource::Coords(coords) => {
                let mut column = vec![S::zero(); n];
                for c in coords {
                    let effort = match p.quantity {
                        ParameterKind::Rotor => motion.accels[*c],
                        quantity => meets(Rubbing::Joint(*c), quantity, motion.rates[*c]),
                    };
                    column.iter_mut().zip(partial.of_coord(*c)).for_each(|(x, r)| *x += effort * *r);
                }
                out.extend(column);
            }
            ColumnSource::Closure(id) => {
                let (rate, rates) = closure_rate(model, *id, pos, motion, partial);
                let effort = meets(Rubbing::Closure(*id), p.quantity, rate);
                out.extend(rates.into_iter().map(|r| effort * r));
            }
        }
    }
    out
}

/// Kinetic and potential energy for a unit of each parameter, (8.231)-(8.252), those of rotors included; zero for friction.
pub fn energy_columns<S: Real>(
    model: &Model<S>,
    set: &StandardSet,
    pos: &Positions<S>,
    motion: &Motion<S>,
) -> Vec<[S; 2]> {
    let frames = FileFrames::new(model, set);
    let one = |p: &super::StandardParameter| match &p.source {
        ColumnSource::Inertia { frame, entry } => {
            let at = carried(&frames, *frame, pos, motion);
            let V = Twist { v: at.X.R.apply_inv(at.V.v), w: at.X.R.apply_inv(at.V.w) };
            inertial_energies(V, &at.X, model.numbers().gravity)[*entry]
        }
        ColumnSource::Coords(coords) if p.quantity == ParameterKind::Rotor => {
            let twice = coords.iter().fold(S::zero(), |sum, c| sum + motion.rates[*c].squared());
            [twice * S::lit(0.5), S::zero()]
        }
        _ => [S::zero(); 2],
    };
    set.parameters.iter().map(one).collect()
}
