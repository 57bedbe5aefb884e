//! Newton-Euler on the tree, (8.17)-(8.32), leg by leg, in world axes and in any scalar.

use crate::kinematics::Positions;
use crate::kinematics::leg::{LegAt, LegMotion};
use crate::kinematics::motion::{Motion, with_leg};
use crate::model::{Anchor, JointKind, JointNumbers, Model, Node, PerBody, PerCoord};
use crate::scalar::Real;
use crate::spatial::{Accel, Inertia, Pose, Twist, Vec3, Wrench, along, cross, dot, times};

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
#[inline(always)]
pub fn needed<S: Real>(inertia: &Inertia<S>, X: &Pose<S>, w: Vec3<S>, A: Accel<S>, gravity: Vec3<S>) -> Wrench<S> {
    let (a, ms) = (A.a - gravity, X.R.apply(inertia.ms));
    let (w_B, alpha_B) = (X.R.apply_inv(w), X.R.apply_inv(A.alpha));
    let turning = times(&inertia.I_o, alpha_B) + cross(w_B, times(&inertia.I_o, w_B));
    Wrench { f: along(cross(A.alpha, ms) + cross(w, cross(w, ms)), a, inertia.m), m: X.R.apply(turning) + cross(ms, a) }
}

/// What the joints of one leg bear: slices of memory of the robot.
#[derive(Debug)]
pub struct LegEfforts<'a, S: Real> {
    /// Wrench on each body, at the origin of frame M. Holds, before, what the bodies must carry besides the leg itself.
    pub F_WB: &'a mut [Wrench<S>],
    /// Effort of each coordinate. Holds, before, what resists the coordinate besides the bodies.
    pub efforts: &'a mut [S],
}

/// Wrenches on the bodies of a leg and efforts of its coordinates, were all of them driven, (8.20)-(8.27). `to_root` hears
/// what the leg asks of platform or bodies of other legs that it stands on, at their origins.
#[inline(always)]
pub fn leg_wrenches<S: Real>(
    at: &LegAt<'_, S>,
    motion: &LegMotion<'_, S>,
    gravity: Vec3<S>,
    out: &mut LegEfforts<'_, S>,
    mut to_root: impl FnMut(Anchor, Wrench<S>),
) {
    for b in (0..at.leg.bodies.len()).rev() {
        body_wrench(at, b, motion, gravity, out, &mut to_root);
    }
}

/// Newton-Euler of one body, those that it carries being done.
#[inline(always)]
fn body_wrench<S: Real>(
    at: &LegAt<'_, S>,
    b: usize,
    motion: &LegMotion<'_, S>,
    gravity: Vec3<S>,
    out: &mut LegEfforts<'_, S>,
    to_root: &mut impl FnMut(Anchor, Wrench<S>),
) {
    let X = at.X_WB(b);
    let own = needed(&at.numbers.bodies[b].inertia, X, motion.V_WB[b].w, motion.A_WB[b], gravity);
    let F = out.F_WB[b] + own;
    out.F_WB[b] = F;
    let effort = joint_effort(at.leg.bodies[b].joint, X, F);
    at.add_effort(b, effort, out.efforts);
    match at.leg.bodies[b].anchor {
        Anchor::World => {}
        Anchor::Body(p) => out.F_WB[p] = out.F_WB[p] + F.at(at.X_WB(p).p - X.p),
        root => to_root(root, F.at(at.roots.origin(root) - X.p)),
    }
}

/// What a joint feels of the wrench on the body it carries, (8.27).
#[inline(always)]
pub(super) fn joint_effort<S: Real>(joint: JointKind, X: &Pose<S>, F: Wrench<S>) -> S {
    match joint {
        JointKind::Revolute => dot(X.R.z(), F.m),
        JointKind::Prismatic => dot(X.R.z(), F.f),
        JointKind::Fixed => S::zero(),
    }
}

/// Efforts of the tree for a motion of all bodies, (8.20)-(8.27): loops cut, every joint driven.
pub fn tree_efforts<S: Real>(
    model: &Model<S>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    out: &mut TreeEfforts<S>,
) {
    let (topology, numbers) = (model.topology(), model.numbers());
    out.F_WB.values_mut().for_each(|F| *F = Wrench::zero());
    out.efforts.values_mut().for_each(|x| *x = S::zero());
    out.F_WE = needed(&numbers.platform, &pos.X_WE, motion.V_WE.w, motion.A_WE, numbers.gravity);
    for &id in topology.order.iter().rev() {
        let leg = &topology.legs[id];
        let mut roots: Vec<(Anchor, Wrench<S>)> = Vec::new();
        with_leg(model, id, &topology.plan.pivots_of_leg[id], pos, motion, |at, motion| {
            let mut own =
                LegEfforts { F_WB: out.F_WB.slice_mut(leg.bodies), efforts: out.efforts.slice_mut(leg.coords) };
            leg_wrenches(at, motion, numbers.gravity, &mut own, |root, F| roots.push((root, F)));
        });
        for (root, F) in roots {
            match root {
                Anchor::Outside(k) => out.F_WB[leg.outside[k]] = out.F_WB[leg.outside[k]] + F,
                _ => out.F_WE = out.F_WE + F,
            }
        }
    }
}

impl<S: Real> JointNumbers<S> {
    /// What a rate meets: `f_s sign(q̇) + f_v q̇ + (f_st - f_s) sign(q̇) exp(-|q̇| B)`, (8.30)-(8.32), erratum D4; `sign` says
    /// how the direction is told.
    pub fn friction(&self, rate: S, sign: Sign) -> S {
        let direction = sign.of(rate);
        let fades = |(beyond, decay): (S, S)| beyond * direction * (-(rate.abs() * decay)).exp();
        self.coulomb * direction + self.viscous * rate + fades(self.breakaway[0]) + fades(self.breakaway[1])
    }
}

/// The direction of a rate.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Sign {
    /// -1, 0 or 1.
    #[default]
    Sharp,
    /// `q̇ / sqrt(q̇² + width²)`: smooth, within 30 % of sharp beyond the width; rates in rad/s or m/s.
    Smooth(f64),
}

impl Sign {
    /// The direction of this rate.
    #[doc(hidden)]
    pub fn of<S: Real>(self, rate: S) -> S {
        match self {
            Sign::Sharp => rate.sign(),
            Sign::Smooth(width) => rate / (rate.squared() + S::lit(width * width)).sqrt(),
        }
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
