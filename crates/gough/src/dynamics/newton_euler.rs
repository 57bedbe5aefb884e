//! Newton-Euler on the tree, (8.17)-(8.32), in world axes and in any scalar.

use crate::kinematics::Positions;
use crate::kinematics::motion::{Motion, screw};
use crate::model::{JointNumbers, Model, Node, PerBody, PerCoord};
use crate::scalar::Real;
use crate::spatial::{Accel, Inertia, Pose, Twist, Vec3, Wrench};

/// Efforts of the tree, sized once for a model.
#[derive(Clone, Debug)]
pub struct TreeEfforts<S: Real> {
    /// Wrench of what it stands on, on each body and all that it carries, at the origin of frame M, in world axes.
    pub F_WB: PerBody<Wrench<S>>,
    /// Wrench that the platform and all that stands on it need, at the platform origin, in world axes.
    pub F_WE: Wrench<S>,
    /// Effort of every joint coordinate, were all of them driven; without rotors and friction.
    pub efforts: PerCoord<S>,
}

impl<S: Real> TreeEfforts<S> {
    /// Memory for a model.
    pub fn new(model: &Model<S>) -> Self {
        let topology = model.topology();
        Self {
            F_WB: topology.bodies.map(|_, _| Wrench::zero()),
            F_WE: Wrench::zero(),
            efforts: topology.coords.map(|_, _| S::zero()),
        }
    }
}

/// Wrench that a body needs to move so, at the origin of its frame, in world axes, (6.35)-(6.36); gravity pulls down what is
/// not accelerated upwards.
fn needed<S: Real>(inertia: &Inertia<S>, X: &Pose<S>, w: Vec3<S>, A: Accel<S>, gravity: Vec3<S>) -> Wrench<S> {
    let local = |v: Vec3<S>| X.R.apply_inv(v);
    let A = Accel { a: local(A.a - gravity), alpha: local(A.alpha) };
    let F = inertia.apply(A) + inertia.gyroscopic(local(w));
    Wrench { f: X.R.apply(F.f), m: X.R.apply(F.m) }
}

/// Efforts of the tree for a motion of all bodies, (8.20)-(8.27).
pub fn tree_efforts<S: Real>(model: &Model<S>, pos: &Positions<S>, motion: &Motion<S>, out: &mut TreeEfforts<S>) {
    let (topology, numbers) = (model.topology(), model.numbers());
    for (b, body) in numbers.bodies.iter() {
        out.F_WB[b] = needed(&body.inertia, &pos.X_WB[b], motion.V_WB[b].w, motion.A_WB[b], numbers.gravity);
    }
    out.F_WE = needed(&numbers.platform, &pos.X_WE, motion.V_WE.w, motion.A_WE, numbers.gravity);
    out.efforts.values_mut().for_each(|x| *x = S::zero());
    for &leg in topology.order.iter().rev() {
        for b in topology.legs[leg].bodies.iter().rev() {
            let (X, F) = (&pos.X_WB[b], out.F_WB[b]);
            let body = &topology.bodies[b];
            let effort = screw(body.joint, X, X.p).power(F);
            match body.coord {
                Some(c) => out.efforts[c] += effort,
                None => numbers.bodies[b].coupling.iter().for_each(|(c, k)| out.efforts[*c] += *k * effort),
            }
            match body.parent {
                Node::Body(p) => out.F_WB[p] = out.F_WB[p] + F.at(pos.X_WB[p].p - X.p),
                Node::Platform => out.F_WE = out.F_WE + F.at(pos.X_WE.p - X.p),
                Node::World => {}
            }
        }
    }
}

impl<S: Real> JointNumbers<S> {
    /// What a rate meets: `f_s sign(q̇) + f_v q̇ + (f_st - f_s) sign(q̇) exp(-|q̇| B)`, (8.30)-(8.32), erratum D4.
    pub fn friction(&self, rate: S) -> S {
        let sign = rate.sign();
        let fades = |(beyond, decay): (S, S)| beyond * sign * (-(rate.abs() * decay)).exp();
        self.coulomb * sign + self.viscous * rate + fades(self.breakaway[0]) + fades(self.breakaway[1])
    }
}

/// Kinetic energy of bodies and platform, that of the rotors, and potential energy, zero at the world origin, (8.216)-(8.220).
pub fn energies<S: Real>(model: &Model<S>, pos: &Positions<S>, motion: &Motion<S>) -> [S; 3] {
    let numbers = model.numbers();
    let one = |I: &Inertia<S>, X: &Pose<S>, V: Twist<S>| {
        let V = Twist { v: X.R.apply_inv(V.v), w: X.R.apply_inv(V.w) };
        let height = (X.p * I.m + X.R.apply(I.ms)).dot(&numbers.gravity);
        (I.energy(V), -height)
    };
    let bodies = numbers.bodies.iter().map(|(b, body)| one(&body.inertia, &pos.X_WB[b], motion.V_WB[b]));
    let all = bodies.chain(std::iter::once(one(&numbers.platform, &pos.X_WE, motion.V_WE)));
    let (kinetic, potential) = all.fold((S::zero(), S::zero()), |(k, p), (a, b)| (k + a, p + b));
    let half = S::lit(0.5);
    let rotors = numbers.joints.iter().fold(S::zero(), |sum, (c, j)| sum + half * j.rotor * motion.rates[c].squared());
    [kinetic, rotors, potential]
}

/// Wrench of the ground on the robot at the world origin, (8.206): link inertias only, rotors not counted.
pub fn ground_wrench<S: Real>(model: &Model<S>, pos: &Positions<S>, tree: &TreeEfforts<S>) -> Wrench<S> {
    let roots = model.topology().bodies.iter().filter(|(_, body)| body.parent == Node::World);
    let legs = roots.fold(Wrench::zero(), |sum, (b, _)| sum + tree.F_WB[b].at(-pos.X_WB[b].p));
    legs + tree.F_WE.at(-pos.X_WE.p)
}
