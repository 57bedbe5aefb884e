//! Legs of a driven body and a rod, by the vectors of their rods: no frame turns, and passive joints have no angles.
//!
//! The foot `A(q)` of a rod slides along or turns about `e`, and `r = p - A`, `r·r = L²`, reaches to a point of the platform.
//! Mass and first moment of a rod are carried by its two ends, section 8.7, which leaves
//! `T = ½ μ ṙ·ṙ + ½ ι σ²` with `μ = J / L²` and the spin `σ` about the rod. Lagrange's equations (6.8) give the force `N` that
//! this needs in the point; what the rod carries along `r` besides closes the balance of the platform.

use super::legs::{PlatformRates, needed_by_platform};
use super::models::{Outside, Subject, solve, symmetric, units};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Inertia, Mat3, Pose, Rotation, Twist, Vec3, Wrench};

/// What the foot of a rod is on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum RodFoot {
    /// A body that slides along the axis, with its mass.
    Slide {
        /// Mass.
        mass: f64,
    },
    /// A body that turns about the axis.
    Arm {
        /// From the axis to the foot.
        length: f64,
        /// First moment along and across that, by the squared length.
        moment: [f64; 2],
    },
}

/// The spin of a rod about itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spin {
    /// Moment of inertia about the rod, by the squared length.
    pub inertia: f64,
    /// The axis of its foot that keeps its direction.
    pub axis: Vec3<f64>,
}

/// A leg of a driven body and a rod. Vectors are in the axes of the leg.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RodLeg {
    /// The axes of the leg in the world.
    pub axes: Rotation<f64>,
    /// The point on the platform, in its own frame.
    pub point: Vec3<f64>,
    /// The foot with the slide at zero, or the middle of its circle.
    pub base: Vec3<f64>,
    /// The axis of the drive.
    pub e: Vec3<f64>,
    /// Normal of the plane that the rod stays in, when it does.
    pub normal: Option<Vec3<f64>>,
    pub driven: RodFoot,
    /// Inertia of the drive, rotor included.
    pub inertia: f64,
    /// Squared length of the rod, in the plane where it has one.
    pub square: f64,
    /// Moment of inertia of the rod across itself, by the squared length.
    pub across: f64,
    pub spin: Option<Spin>,
    /// Sign of the square root.
    pub sign: f64,
    pub gravity: Vec3<f64>,
}

/// All legs of a robot, in the order of the drives, and the platform with what it carries of the rods.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RodLegs {
    pub legs: Vec<RodLeg>,
    pub platform: Inertia<f64>,
}

/// Where a rod is.
pub(super) struct RodPlace<S: Real> {
    /// From its foot to the point.
    pub r: Vec3<S>,
    /// `J = dA/dq`.
    J: Vec3<S>,
    /// `dJ/dq`; none for a slide, whose axis is constant.
    J_q: Option<Vec3<S>>,
    /// `r·J`: what a unit force along `r` takes of the drive.
    gear: S,
}

/// How a rod moves.
struct RodMotion<S: Real> {
    at: RodPlace<S>,
    /// `q̇ = n·ṗ`.
    n: Vec3<S>,
    /// Acceleration of the drive.
    accel: S,
    r_dot: Vec3<S>,
    r_ddot: Vec3<S>,
}

/// What a leg does to the platform, in world axes.
struct RodForce<S: Real> {
    /// From the platform's origin to the point.
    lever: Vec3<S>,
    r: Vec3<S>,
    gear: S,
    n: Vec3<S>,
    /// Force that the rod needs in the point, but for a part along itself.
    N: Vec3<S>,
    /// Effort that the drive needs while the rod carries nothing along itself.
    effort: S,
    /// What the rod and the driven body resist in the point.
    D: Mat3<S>,
}

fn lit<S: Real>(v: Vec3<f64>) -> Vec3<S> {
    v.map(S::lit)
}

impl RodLeg {
    /// The rod to a point `p` from the base: circle and sphere, (7.15), or line and sphere. `r·J` is the square root.
    pub fn place<S: Real>(&self, p: Vec3<S>) -> RodPlace<S> {
        let (e, square): (Vec3<S>, S) = (lit(self.e), S::lit(self.square));
        let drop = |p: Vec3<S>, n: Vec3<S>| p - n * n.dot(&p);
        let p = self.normal.map_or(p, |n| drop(p, lit(n)));
        let level = drop(p, e);
        match self.driven {
            RodFoot::Slide { .. } => {
                let h = (square - level.dot(&level)).sqrt() * S::lit(self.sign);
                RodPlace { r: level + e * h, J: e, J_q: None, gear: h }
            }
            RodFoot::Arm { length, .. } => {
                let (l2, distance) = (S::lit(length * length), level.dot(&level));
                let k = p.dot(&p) + (l2 - square);
                let root = (S::lit(4.0) * l2 * distance - k * k).sqrt() * S::lit(self.sign);
                let arm = (level * k + e.cross(&level) * root) * (S::lit(0.5) / distance);
                RodPlace { r: p - arm, J: e.cross(&arm), J_q: Some(-arm), gear: S::lit(-0.5) * root }
            }
        }
    }

    /// `r·ṙ = 0` and its derivative give the drive, (7.95), (7.183).
    fn motion<S: Real>(&self, p: Vec3<S>, v: Vec3<S>, a: Vec3<S>) -> RodMotion<S> {
        let at = self.place(p);
        let by = at.gear.recip();
        let n = at.r * by;
        let rate = n.dot(&v);
        let r_dot = v - at.J * rate;
        let rest = at.J_q.map_or(a, |J_q| a - J_q * (rate * rate));
        let accel = n.dot(&rest) + r_dot.dot(&r_dot) * by;
        let r_ddot = rest - at.J * accel;
        RodMotion { at, n, accel, r_dot, r_ddot }
    }

    /// What the platform, which moves so, meets of the leg.
    fn on_platform<S: Real>(&self, X_WE: &Pose<S>, platform: &PlatformRates<S>) -> RodForce<S> {
        let axes: Rotation<S> = self.axes.map(&mut S::lit);
        let lever = X_WE.R.apply(lit(self.point));
        let seen = |v: Vec3<S>| axes.apply_inv(v);
        let p = seen(X_WE.p + lever) - lit::<S>(self.base);
        let moves = self.motion(p, seen(platform.V.at(lever).v), seen(platform.A.at(lever, platform.V.w).a));
        let mut N = moves.r_ddot * S::lit(self.across);
        let mut D = self.resists(&moves);
        if let Some(spin) = &self.spin {
            let (force, w) = spin.force(self.square, &moves);
            let c = w - moves.n * w.dot(&moves.at.J);
            N += force;
            D += c * (c * S::lit(spin.inertia)).transpose();
        }
        let effort = S::lit(self.inertia) * moves.accel - moves.at.J.dot(&N) - self.weight(&moves.at);
        let world = |v: Vec3<S>| axes.apply(v);
        let D = axes.0 * D * axes.0.transpose();
        RodForce { lever, r: world(moves.at.r), gear: moves.at.gear, n: world(moves.n), N: world(N), effort, D }
    }

    /// `μ 1 + (I + μ J²) n nᵀ - μ (J nᵀ + n Jᵀ)`.
    fn resists<S: Real>(&self, RodMotion { at, n, .. }: &RodMotion<S>) -> Mat3<S> {
        let squared = match self.driven {
            RodFoot::Slide { .. } => 1.0,
            RodFoot::Arm { length, .. } => length * length,
        };
        let across = at.J * S::lit(self.across);
        let column = n * S::lit(self.inertia + self.across * squared) - across;
        Mat3::identity() * S::lit(self.across) + column * n.transpose() - n * across.transpose()
    }

    /// What gravity gives the drive.
    fn weight<S: Real>(&self, at: &RodPlace<S>) -> S {
        let dot = |v: Vec3<S>, g: Vec3<f64>, k: f64| v.dot(&lit(g)) * S::lit(k);
        match (self.driven, at.J_q) {
            (RodFoot::Slide { mass }, _) => dot(at.J, self.gravity, mass),
            (RodFoot::Arm { moment, .. }, Some(J_q)) => {
                dot(J_q, self.gravity, moment[1]) - dot(J_q, self.gravity.cross(&self.e), moment[0])
            }
            (RodFoot::Arm { .. }, None) => S::zero(),
        }
    }
}

impl Spin {
    /// With `s = a·r`, `κ = (a×r)·ṙ / (L² - s²)` about the axis `a` and `σ = s κ / L`, Lagrange's equations give
    /// `ι (σ̇ w - σ r×ṙ / L³)`, `w = dσ/dṙ`, but for a part along `r`. The force, and `L w`.
    fn force<S: Real>(&self, square: f64, moves: &RodMotion<S>) -> (Vec3<S>, Vec3<S>) {
        let (a, r, r_dot, r_ddot): (Vec3<S>, _, _, _) = (lit(self.axis), moves.at.r, moves.r_dot, moves.r_ddot);
        let (s, s_dot, across) = (a.dot(&r), a.dot(&r_dot), a.cross(&r));
        let by = (S::lit(square) - s * s).recip();
        let turn = across.dot(&r_dot) * by;
        let turn_dot = (across.dot(&r_ddot) + S::lit(2.0) * turn * s * s_dot) * by;
        let (spin, spin_dot) = (s * turn, s_dot * turn + s * turn_dot);
        let w = across * (s * by);
        let (own, round) = (S::lit(self.inertia), S::lit(self.inertia / square));
        (w * (own * spin_dot) - r.cross(&r_dot) * (round * spin), w)
    }
}

impl RodLegs {
    fn on_platform<S: Real>(&self, X_WE: &Pose<S>, motion: &PlatformRates<S>) -> Vec<RodForce<S>> {
        self.legs.iter().map(|leg| leg.on_platform(X_WE, motion)).collect()
    }

    /// The matrix whose columns are these forces of the legs, on the components of the platform.
    fn columns<S: Real>(
        subject: &Subject<'_>,
        legs: &[RodForce<S>],
        force: impl Fn(&RodForce<S>) -> Vec3<S>,
    ) -> Dense<S> {
        let mut C = Dense::zeros(subject.robot.model().topology().platform.independent.len(), legs.len());
        for (k, leg) in legs.iter().enumerate() {
            let column = subject.component(&vec![at(force(leg), leg.lever)], 0);
            column.into_iter().enumerate().for_each(|(i, x)| *C.at_mut(i, k) = x);
        }
        C
    }

    /// What the platform needs beside its legs.
    fn platform_needs<S: Real>(
        &self,
        model: &Model<S>,
        X_WE: &Pose<S>,
        motion: PlatformRates<S>,
        outside: &Outside<S>,
    ) -> Wrench<S> {
        let all = self.platform.map(&mut S::lit) + outside.payload;
        needed_by_platform(&X_WE.R, &all, motion, model.numbers().gravity) + -outside.wrench
    }

    /// Efforts of the drives: forces along the rods balance the platform, (8.72).
    pub fn efforts<S: Real>(
        &self,
        subject: &Subject<'_>,
        model: &Model<S>,
        X_WE: &Pose<S>,
        motion: PlatformRates<S>,
        outside: &Outside<S>,
    ) -> Vec<S> {
        let legs = self.on_platform(X_WE, &motion);
        let own = self.platform_needs(model, X_WE, motion, outside);
        let needs = legs.iter().fold(own, |sum, l| sum + at(l.N, l.lever));
        let needs = subject.component(&vec![needs], 0);
        let C = Self::columns(subject, &legs, |leg| leg.r);
        let carried = solve(&C, &subject.order, &needs);
        legs.iter().zip(carried).map(|(leg, x)| leg.effort + leg.gear * x).collect()
    }

    /// Inertia of the platform with its legs, `h` of a motion without acceleration, and what each drive gives, (8.162).
    pub fn inertia<S: Real>(
        &self,
        subject: &Subject<'_>,
        model: &Model<S>,
        X_WE: &Pose<S>,
        twist: &[S],
        outside: &Outside<S>,
    ) -> (Dense<S>, Vec<S>, Dense<S>) {
        let still = vec![S::zero(); twist.len()];
        let motion = subject.motion(twist, &still);
        let legs = self.on_platform(X_WE, &motion);
        let force = |l: &RodForce<S>| at(l.N + l.n * l.effort, l.lever);
        let h = legs.iter().fold(self.platform_needs(model, X_WE, motion, outside), |sum, l| sum + force(l));
        let platform = self.platform.map(&mut S::lit) + outside.payload;
        let column = |motion: PlatformRates<S>| {
            let V = Twist { v: motion.A.a, w: motion.A.alpha };
            let own = needed_by_platform(&X_WE.R, &platform, motion, Vec3::zeros());
            let resists = |l: &RodForce<S>| at(Rotation(l.D).apply(V.at(l.lever).v), l.lever);
            subject.component(&vec![legs.iter().fold(own, |sum, l| sum + resists(l))], 0)
        };
        let M = symmetric(&units(subject).into_iter().map(column).collect::<Vec<_>>());
        (M, subject.component(&vec![h], 0), Self::columns(subject, &legs, |leg| leg.n))
    }
}

/// A force in a point, at the platform's origin.
fn at<S: Real>(f: Vec3<S>, lever: Vec3<S>) -> Wrench<S> {
    Wrench { f, m: lever.cross(&f) }
}

#[cfg(test)]
mod tests {
    use super::RodLegs;
    use crate::codegen::models::Subject;
    use crate::codegen::{ModelKind, Solve, split};

    /// A robot whose legs are rods, in the axes of its joints and, where these differ, in those of the world.
    fn ways(name: &str, kind: ModelKind, check: impl Fn(&Subject<'_>, &[Subject<'_>])) {
        let robot = crate::Robot::shipped(name).unwrap();
        let plain = Subject::new(&robot, robot.mode(), Vec::new(), false, Solve::Unrolled, kind).unwrap();
        check(&plain, &plain.by_rods(kind));
    }

    #[test]
    fn rods_take_the_efforts_that_bodies_take() {
        let cases = [("five-bar", 1), ("orthoglide", 1), ("delta", 2), ("dualv", 1)];
        for (name, count) in cases {
            for kind in [ModelKind::Idm, ModelKind::Ddm, ModelKind::Inertia] {
                // With more drives than freedoms the efforts are the shortest, which is no balance of rods.
                let count = if (name, kind) == ("dualv", ModelKind::Idm) { 0 } else { count };
                ways(name, kind, |plain, others| {
                    assert_eq!(others.len(), count, "{name} {kind:?}");
                    let (inputs, _) = plain.signature(kind);
                    for (x, _) in crate::codegen::models::states(plain, &inputs) {
                        let wanted = plain.evaluate(kind, &split(&inputs, &x)).values;
                        let size = wanted.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
                        for other in others {
                            let found = other.evaluate(kind, &split(&inputs, &x)).values;
                            let near = found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 1e-11 * size);
                            assert!(near, "{name} {kind:?}: {found:?} {wanted:?}");
                        }
                    }
                });
            }
        }
    }

    #[test]
    fn what_a_rod_weighs_is_carried_by_its_ends() {
        let robot = crate::Robot::shipped("orthoglide").unwrap();
        ways("orthoglide", ModelKind::Idm, |_, others| {
            let RodLegs { legs, platform } = others[0].rods.as_ref().unwrap();
            // 246 g each with 3.81e-2 kg m at 310 mm: the platform carries the first moment by the length.
            assert!((platform.m - 0.513 - 3.0 * 3.81e-2 / 0.31).abs() < 1e-15);
            let spin = legs[0].spin.expect("the rods of the file have a moment about themselves");
            assert!((spin.inertia * legs[0].square - 8.69e-6).abs() < 1e-18);
            assert_eq!(legs.len(), robot.model().topology().active.len());
        });
    }
}
