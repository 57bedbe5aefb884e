//! Position of a revolute joint.

use crate::scalar::Real;
use crate::spatial::{Vec3, vec3};
use std::ops::Mul;

/// A rotation about a known axis, as cosine and sine. The angle is computed only where it is asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turn<S> {
    /// Cosine of the angle.
    pub cos: S,
    /// Sine of the angle.
    pub sin: S,
}

impl<S: Real> Turn<S> {
    /// No rotation.
    #[inline(always)]
    pub fn identity() -> Self {
        Self { cos: S::one(), sin: S::zero() }
    }

    /// Rotation by `q` radians.
    #[inline(always)]
    pub fn of(q: S) -> Self {
        let (sin, cos) = q.sin_cos();
        Self { cos, sin }
    }

    /// Rotation by a constant of the robot, see [`Real::exact_sin_cos`].
    pub fn exactly(q: S) -> Self {
        let (sin, cos) = q.exact_sin_cos();
        Self { cos, sin }
    }

    /// The turn that carries the planar vector `a` to `b`, given the product of their lengths.
    #[inline(always)]
    pub fn between(a: Vec3<S>, b: Vec3<S>, lengths: S) -> Self {
        let s = lengths.recip();
        Self { cos: (a.x * b.x + a.y * b.y) * s, sin: (a.x * b.y - a.y * b.x) * s }
    }

    /// Angle in (-π, π].
    #[inline(always)]
    pub fn angle(self) -> S {
        self.sin.atan2(self.cos)
    }

    /// The opposite turn.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        Self { cos: self.cos, sin: -self.sin }
    }

    /// `Rz v`.
    #[inline(always)]
    pub fn apply(self, v: Vec3<S>) -> Vec3<S> {
        vec3(self.cos * v.x - self.sin * v.y, self.sin * v.x + self.cos * v.y, v.z)
    }

    /// `Rzᵀ v`.
    #[inline(always)]
    pub fn apply_inv(self, v: Vec3<S>) -> Vec3<S> {
        vec3(self.cos * v.x + self.sin * v.y, self.cos * v.y - self.sin * v.x, v.z)
    }

    /// The turn advanced by a small step of a Newton iteration: by `atan(step)`, which is `step` to third order.
    #[inline(always)]
    pub fn advance(self, step: S) -> Self {
        let n = (S::one() + step * step).sqrt().recip();
        Self { cos: (self.cos - self.sin * step) * n, sin: (self.sin + self.cos * step) * n }
    }
}

impl<S: Real> Mul for Turn<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self { cos: self.cos * b.cos - self.sin * b.sin, sin: self.sin * b.cos + self.cos * b.sin }
    }
}
