//! Motions and actions (chapter 3): no sum of the two compiles.

use crate::scalar::Real;
use crate::spatial::{Vec3, cross, dot, each, null};
use std::ops::{Add, Neg, Sub};

/// Motion of a frame: velocity `v` of its origin and angular velocity `w`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Twist<S: Real> {
    /// Velocity of the frame origin.
    pub v: Vec3<S>,
    /// Angular velocity.
    pub w: Vec3<S>,
}

/// Action on a body: force `f` and moment `m` at the frame origin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wrench<S: Real> {
    /// Force.
    pub f: Vec3<S>,
    /// Moment at the frame origin.
    pub m: Vec3<S>,
}

/// Acceleration of a frame: inertial derivatives of `v` and `w`, then projected. Moving it to another point needs
/// the angular velocity (3.24), so there is no `pull` for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Accel<S: Real> {
    /// Acceleration of the frame origin.
    pub a: Vec3<S>,
    /// Angular acceleration.
    pub alpha: Vec3<S>,
}

impl<S: Real> Twist<S> {
    /// At rest.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { v: null(), w: null() }
    }

    /// The only product of a motion and an action: power.
    #[inline(always)]
    pub fn power(self, F: Wrench<S>) -> S {
        dot(self.v, F.f) + dot(self.w, F.m)
    }

    /// The motion multiplied by a rate.
    #[inline(always)]
    pub fn scale(self, rate: S) -> Self {
        Self { v: self.v * rate, w: self.w * rate }
    }

    /// The motion taken at the point `r` from the origin, same axes, (3.2).
    #[inline(always)]
    pub fn at(self, r: Vec3<S>) -> Self {
        Self { v: self.v + cross(self.w, r), w: self.w }
    }

    /// Linear part first: the order of every matrix and file.
    #[inline(always)]
    pub fn to_array(self) -> [S; 6] {
        [self.v.x, self.v.y, self.v.z, self.w.x, self.w.y, self.w.z]
    }

    /// From six components, linear part first.
    #[inline(always)]
    pub fn from_array(t: [S; 6]) -> Self {
        Self { v: Vec3::new(t[0], t[1], t[2]), w: Vec3::new(t[3], t[4], t[5]) }
    }
}

impl<S: Real> Wrench<S> {
    /// Nothing acts.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { f: null(), m: null() }
    }

    /// The action taken at the point `r` from the origin, same axes, (3.4).
    #[inline(always)]
    pub fn at(self, r: Vec3<S>) -> Self {
        Self { f: self.f, m: self.m + cross(self.f, r) }
    }

    /// Force first.
    #[inline(always)]
    pub fn to_array(self) -> [S; 6] {
        [self.f.x, self.f.y, self.f.z, self.m.x, self.m.y, self.m.z]
    }

    /// From six components, force first.
    #[inline(always)]
    pub fn from_array(w: [S; 6]) -> Self {
        Self { f: Vec3::new(w[0], w[1], w[2]), m: Vec3::new(w[3], w[4], w[5]) }
    }
}

impl<S: Real> Accel<S> {
    /// No acceleration.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { a: null(), alpha: null() }
    }

    /// What an action contributes to the derivative of the power of a motion: the same product as for a twist.
    #[inline(always)]
    pub fn power(self, F: Wrench<S>) -> S {
        dot(self.a, F.f) + dot(self.alpha, F.m)
    }

    /// The acceleration of the point `r` from the origin of a body that turns with `w`, (3.24).
    #[inline(always)]
    pub fn at(self, r: Vec3<S>, w: Vec3<S>) -> Self {
        Self { a: self.a + cross(self.alpha, r) + cross(w, cross(w, r)), alpha: self.alpha }
    }
}

macro_rules! linear {
    ($type:ident, $a:ident, $b:ident) => {
        impl<S: Real> $type<S> {
            /// Its numbers in another scalar, number by number.
            #[inline(always)]
            #[doc(hidden)]
            pub fn map<T: Real>(&self, f: &mut (impl FnMut(S) -> T + ?Sized)) -> $type<T> {
                $type { $a: each(&self.$a, f), $b: each(&self.$b, f) }
            }
        }
        impl<S: Real> Add for $type<S> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self { $a: self.$a + o.$a, $b: self.$b + o.$b }
            }
        }
        impl<S: Real> Sub for $type<S> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self { $a: self.$a - o.$a, $b: self.$b - o.$b }
            }
        }
        impl<S: Real> Neg for $type<S> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self { $a: -self.$a, $b: -self.$b }
            }
        }
    };
}
linear!(Twist, v, w);
linear!(Wrench, f, m);
linear!(Accel, a, alpha);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::vec3;

    #[test]
    fn power_does_not_depend_on_the_reduction_point() {
        let V = Twist { v: vec3(0.3, -0.2, 0.5), w: vec3(1.0, 0.4, -0.7) };
        let F = Wrench { f: vec3(2.0, 1.0, -3.0), m: vec3(0.5, -0.4, 0.2) };
        let r = vec3(0.6, -0.1, 0.8);
        assert!((V.at(r).power(F.at(r)) - V.power(F)).abs() < 1e-14);
    }

    #[test]
    fn acceleration_moves_with_the_centripetal_term() {
        let (w, r) = (vec3(0.0, 0.0, 2.0), vec3(0.5, 0.0, 0.0));
        assert_eq!(Accel::zero().at(r, w).a, vec3(-2.0, 0.0, 0.0));
    }
}
