//! Inertia of a body, (6.8)-(6.15): mass, first moment, and rotational inertia at the frame origin.

use crate::scalar::Real;
use crate::spatial::{Accel, Mat3, Pose, Twist, Vec3, Wrench, along, cross, each, each_entry, hat, times};
use std::fmt;
use std::ops::Add;

/// `(m, ms, I_o)` at the origin of the body frame, in its axes. Linear in the ten parameters, so grouped parameters,
/// massless frames and regressors need no special case.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(non_snake_case)]
pub struct Inertia<S: Real> {
    /// Mass.
    pub m: S,
    /// First moment, mass times centre of mass.
    pub ms: Vec3<S>,
    /// Rotational inertia at the frame origin; the matrix itself, so off-diagonal terms carry the minus sign.
    pub I_o: Mat3<S>,
}

/// Why an inertia cannot belong to a body.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NotPhysical {
    /// The mass is negative.
    NegativeMass(f64),
    /// First moment or inertia without mass.
    Massless,
    /// Principal moments at the centre of mass that no distribution of mass has.
    Moments([f64; 3]),
}

impl fmt::Display for NotPhysical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotPhysical::NegativeMass(m) => write!(f, "its mass is {m} kg"),
            NotPhysical::Massless => f.write_str("it has a first moment or an inertia but no mass"),
            NotPhysical::Moments([a, b, c]) => {
                write!(f, "its principal moments at the centre of mass are {a:.4e}, {b:.4e}, {c:.4e} kg m^2")
            }
        }
    }
}

impl<S: Real> Inertia<S> {
    /// Massless.
    pub fn zero() -> Self {
        Self { m: S::zero(), ms: Vec3::zeros(), I_o: Mat3::zeros() }
    }

    /// Its numbers in another scalar, number by number.
    #[inline(always)]
    #[doc(hidden)]
    pub fn map<T: Real>(&self, f: &mut (impl FnMut(S) -> T + ?Sized)) -> Inertia<T> {
        Inertia { m: f(self.m), ms: each(&self.ms, f), I_o: each_entry(&self.I_o, f) }
    }

    /// A point mass.
    pub fn point(m: S, p: Vec3<S>) -> Self {
        Self { m, ms: p * m, I_o: parallel_axes(m, p) }
    }

    /// From the inertia at the centre of mass `com`: `I_o = I_c + m r̂ r̂ᵀ` (erratum D2).
    #[allow(non_snake_case)]
    pub fn at_com(m: S, com: Vec3<S>, I_c: Mat3<S>) -> Self {
        Self { m, ms: com * m, I_o: I_c + parallel_axes(m, com) }
    }

    /// The body seen from frame A, where its own frame is `X_AB`.
    #[allow(non_snake_case)]
    #[doc(hidden)]
    pub fn seen_from(&self, X_AB: &Pose<S>) -> Self {
        let R = X_AB.R.0;
        let (ms, r) = (X_AB.R.apply(self.ms), X_AB.p);
        // (8.41)-(8.43), erratum D5: I⁺ = R I Rᵀ − (r̂ m̂s + (r̂ m̂s)ᵀ) + m r̂ r̂ᵀ
        let cross = hat(r) * hat(ms);
        Self {
            m: self.m,
            ms: ms + r * self.m,
            I_o: R * self.I_o * R.transpose() - (cross + cross.transpose()) + parallel_axes(self.m, r),
        }
    }

    /// `M ṫ`: the wrench that gives the acceleration to a body at rest, (6.35)-(6.36).
    #[inline(always)]
    #[doc(hidden)]
    pub fn apply(&self, A: Accel<S>) -> Wrench<S> {
        Wrench { f: along(cross(A.alpha, self.ms), A.a, self.m), m: times(&self.I_o, A.alpha) + cross(self.ms, A.a) }
    }

    /// Momentum: `M t`, (6.8).
    #[inline(always)]
    #[doc(hidden)]
    pub fn momentum(&self, V: Twist<S>) -> Wrench<S> {
        self.apply(Accel { a: V.v, alpha: V.w })
    }

    /// The velocity terms of Newton-Euler, `[ω×(ω×ms); ω×(I ω)]`, (6.35)-(6.36).
    #[inline(always)]
    #[doc(hidden)]
    pub fn gyroscopic(&self, w: Vec3<S>) -> Wrench<S> {
        Wrench { f: cross(w, cross(w, self.ms)), m: cross(w, times(&self.I_o, w)) }
    }

    /// Kinetic energy, `½(m vᵀv + ωᵀ I ω + 2 msᵀ(v×ω))`, (6.8).
    #[doc(hidden)]
    pub fn energy(&self, V: Twist<S>) -> S {
        let twice = self.m * V.v.dot(&V.v) + V.w.dot(&(self.I_o * V.w)) + S::lit(2.0) * self.ms.dot(&V.v.cross(&V.w));
        twice * S::lit(0.5)
    }
}

/// `m r̂ r̂ᵀ`.
fn parallel_axes<S: Real>(m: S, r: Vec3<S>) -> Mat3<S> {
    (Mat3::identity() * r.dot(&r) - r * r.transpose()) * m
}

impl Inertia<f64> {
    /// Whether a body can have this inertia: mass not negative, principal moments at the centre of mass not negative
    /// and none larger than the sum of the other two, all to a relative 1e-9 of rounding.
    #[doc(hidden)]
    pub fn check_physical(&self) -> Result<(), NotPhysical> {
        if self.m < 0.0 {
            return Err(NotPhysical::NegativeMass(self.m));
        }
        if self.m == 0.0 {
            return if self.ms.norm() == 0.0 && self.I_o.norm() == 0.0 { Ok(()) } else { Err(NotPhysical::Massless) };
        }
        let I_c = self.I_o - parallel_axes(self.m, self.ms / self.m);
        let moments = I_c.symmetric_eigenvalues();
        let slack = 1e-9 * self.I_o.norm();
        let sum: f64 = moments.iter().sum();
        if moments.iter().any(|&x| x < -slack || sum - x < x - slack) {
            return Err(NotPhysical::Moments([moments[0], moments[1], moments[2]]));
        }
        Ok(())
    }
}

impl<S: Real> Add for Inertia<S> {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self { m: self.m + b.m, ms: self.ms + b.ms, I_o: self.I_o + b.I_o }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::vec3;

    #[test]
    fn moving_the_frame_changes_no_energy() {
        let body = Inertia::at_com(2.0, vec3(0.1, -0.2, 0.3), Mat3::from_diagonal(&vec3(0.3, 0.4, 0.5)));
        let X_AB = Pose::mdh(0.3, 0.1, -0.7, 0.4, 1.1, -0.2);
        let V_A = Twist { v: vec3(0.3, -0.2, 0.5), w: vec3(1.0, 0.4, -0.7) };
        let energy = body.seen_from(&X_AB).energy(V_A);
        assert!((energy - body.energy(X_AB.pull(V_A))).abs() < 1e-14);
        assert!(energy > 0.1);
    }

    #[test]
    fn a_flat_plate_is_physical_and_a_needle_with_one_moment_is_not() {
        let at_com = |d: Vec3<f64>| Inertia::at_com(1.0, vec3(0.2, 0.0, 0.1), Mat3::from_diagonal(&d));
        assert_eq!(at_com(vec3(1.0, 2.0, 3.0)).check_physical(), Ok(()));
        assert!(matches!(at_com(vec3(0.0, 0.0, 1.0)).check_physical(), Err(NotPhysical::Moments(_))));
        assert_eq!(Inertia::point(0.0, vec3(1.0, 0.0, 0.0)).check_physical(), Ok(()));
    }
}
