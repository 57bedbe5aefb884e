//! Rotations and poses, eqs. (2.3)-(2.19).

use crate::scalar::Real;
use crate::spatial::{Mat3, Turn, Twist, Vec3, Wrench, along, dot, each, each_entry, null, times, vec3};
use std::ops::Mul;

/// Rotation matrix `R_AB`: columns are the axes of B seen in A.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rotation<S: Real>(pub Mat3<S>);

impl<S: Real> Rotation<S> {
    /// No rotation.
    #[inline(always)]
    pub fn identity() -> Self {
        let (o, i) = (S::zero(), S::one());
        Self(Mat3::new(i, o, o, o, i, o, o, o, i))
    }

    /// From three columns, the axes of the new frame.
    #[inline(always)]
    pub fn from_columns(x: Vec3<S>, y: Vec3<S>, z: Vec3<S>) -> Self {
        Self(Mat3::new(x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z))
    }

    /// About x, (2.6).
    pub fn about_x(t: Turn<S>) -> Self {
        let (o, i) = (S::zero(), S::one());
        Self(Mat3::new(i, o, o, o, t.cos, -t.sin, o, t.sin, t.cos))
    }

    /// About y, (2.7).
    pub fn about_y(t: Turn<S>) -> Self {
        let (o, i) = (S::zero(), S::one());
        Self(Mat3::new(t.cos, o, t.sin, o, i, o, -t.sin, o, t.cos))
    }

    /// About z, (2.8).
    pub fn about_z(t: Turn<S>) -> Self {
        let (o, i) = (S::zero(), S::one());
        Self(Mat3::new(t.cos, -t.sin, o, t.sin, t.cos, o, o, o, i))
    }

    /// Its numbers in another scalar, entry by entry.
    #[inline(always)]
    #[doc(hidden)]
    pub fn map<T: Real>(&self, f: &mut (impl FnMut(S) -> T + ?Sized)) -> Rotation<T> {
        Rotation(each_entry(&self.0, f))
    }

    /// Column `k`: an axis of B seen in A.
    #[inline(always)]
    pub fn column(&self, k: usize) -> Vec3<S> {
        vec3(self.0[(0, k)], self.0[(1, k)], self.0[(2, k)])
    }

    /// The z axis of B seen in A.
    #[inline(always)]
    pub fn z(&self) -> Vec3<S> {
        self.column(2)
    }

    /// `R v`.
    #[inline(always)]
    pub fn apply(&self, v: Vec3<S>) -> Vec3<S> {
        times(&self.0, v)
    }

    /// `Rᵀ v`.
    #[inline(always)]
    #[doc(hidden)]
    pub fn apply_inv(&self, v: Vec3<S>) -> Vec3<S> {
        vec3(dot(self.column(0), v), dot(self.column(1), v), dot(self.column(2), v))
    }

    /// `Rᵀ`.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        let [x, y, z] = [0, 1, 2].map(|k| self.column(k));
        Self(Mat3::new(x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z))
    }

    /// `R Rz(t)`: only two columns change.
    #[inline(always)]
    #[doc(hidden)]
    pub fn turned(&self, t: Turn<S>) -> Self {
        let (x, y) = (self.column(0), self.column(1));
        Self::from_columns(along(x * t.cos, y, t.sin), along(y * t.cos, x, -t.sin), self.z())
    }
}

impl<S: Real> Mul for Rotation<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self::from_columns(self.apply(b.column(0)), self.apply(b.column(1)), self.apply(b.column(2)))
    }
}

/// Pose `X_AB` of frame B in A: `p_AQ = X_AB * p_BQ`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(non_snake_case)]
pub struct Pose<S: Real> {
    /// `R_AB`.
    pub R: Rotation<S>,
    /// `p_AB`, from the origin of A to that of B, in A.
    pub p: Vec3<S>,
}

impl<S: Real> Pose<S> {
    /// B is A.
    #[inline(always)]
    pub fn identity() -> Self {
        Self { R: Rotation::identity(), p: null() }
    }

    /// Pure translation.
    pub fn translation(p: Vec3<S>) -> Self {
        Self { R: Rotation::identity(), p }
    }

    /// Pure rotation.
    #[allow(non_snake_case)]
    pub fn rotation(R: Rotation<S>) -> Self {
        Self { R, p: null() }
    }

    /// Its numbers in another scalar, number by number.
    #[inline(always)]
    #[doc(hidden)]
    pub fn map<T: Real>(&self, f: &mut (impl FnMut(S) -> T + ?Sized)) -> Pose<T> {
        Pose { R: self.R.map(f), p: each(&self.p, f) }
    }

    /// `X_BA`, (2.15).
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        Self { R: self.R.inverse(), p: -self.R.apply_inv(self.p) }
    }

    /// `X_BA * p_AQ` without forming the inverse.
    #[inline(always)]
    #[doc(hidden)]
    pub fn apply_inv(&self, p_AQ: Vec3<S>) -> Vec3<S> {
        self.R.apply_inv(p_AQ - self.p)
    }

    /// `X_AB Rz(t)`: a revolute joint about z.
    #[inline(always)]
    #[doc(hidden)]
    pub fn turned(&self, t: Turn<S>) -> Self {
        Self { R: self.R.turned(t), p: self.p }
    }

    /// `X_AB Tz(d)`: a prismatic joint along z.
    #[inline(always)]
    #[doc(hidden)]
    pub fn slid(&self, d: S) -> Self {
        Self { R: self.R, p: self.p + self.R.z() * d }
    }

    /// Modified Denavit-Hartenberg step, (4.3): `Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)`.
    #[doc(hidden)]
    pub fn mdh(gamma: S, b: S, alpha: S, d: S, theta: S, r: S) -> Self {
        let (g, a, t) = (Turn::exactly(gamma), Turn::exactly(alpha), Turn::exactly(theta));
        let p = vec3(d * g.cos + r * g.sin * a.sin, d * g.sin - r * g.cos * a.sin, r * a.cos + b);
        Self { R: (Rotation::about_z(g) * Rotation::about_x(a)).turned(t), p }
    }

    /// `V_B = X_AB.pull(V_A)`: the same motion, seen from B, (3.13).
    #[inline(always)]
    #[doc(hidden)]
    pub fn pull(&self, V_A: Twist<S>) -> Twist<S> {
        Twist { v: self.R.apply_inv(V_A.v + V_A.w.cross(&self.p)), w: self.R.apply_inv(V_A.w) }
    }

    /// `F_A = X_AB.push(F_B)`: the same action, seen from A, (3.18). The transpose of `pull`.
    #[inline(always)]
    #[doc(hidden)]
    pub fn push(&self, F_B: Wrench<S>) -> Wrench<S> {
        let f_A = self.R.apply(F_B.f);
        Wrench { f: f_A, m: self.R.apply(F_B.m) + self.p.cross(&f_A) }
    }
}

impl Pose<f64> {
    /// Write the pose into the first twelve numbers of a row: position, then rotation matrix row by row.
    #[inline]
    pub(crate) fn write(&self, row: &mut [f64]) {
        let R = &self.R.0;
        row[..3].copy_from_slice(self.p.as_slice());
        row[3..12].copy_from_slice(&[R.m11, R.m12, R.m13, R.m21, R.m22, R.m23, R.m31, R.m32, R.m33]);
    }
}

impl<S: Real> Mul for Pose<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self { R: self.R * b.R, p: self * b.p }
    }
}

impl<S: Real> Mul<Vec3<S>> for Pose<S> {
    type Output = Vec3<S>;
    #[inline(always)]
    #[allow(clippy::suspicious_arithmetic_impl)] // a pose turns, then moves
    fn mul(self, p_BQ: Vec3<S>) -> Vec3<S> {
        self.p + self.R.apply(p_BQ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Pose<f64> {
        Pose::mdh(0.3, 0.1, -0.7, 0.4, 1.1, -0.2)
    }

    #[test]
    fn mdh_is_the_product_of_its_six_steps() {
        let step = |p: Vec3<f64>| Pose::translation(p);
        let product = Pose::rotation(Rotation::about_z(Turn::of(0.3)))
            * step(vec3(0.0, 0.0, 0.1))
            * Pose::rotation(Rotation::about_x(Turn::of(-0.7)))
            * step(vec3(0.4, 0.0, 0.0))
            * Pose::rotation(Rotation::about_z(Turn::of(1.1)))
            * step(vec3(0.0, 0.0, -0.2));
        assert!((product.p - sample().p).norm() < 1e-15);
        assert!((product.R.0 - sample().R.0).norm() < 1e-15);
    }

    #[test]
    fn a_pose_times_its_inverse_is_nothing() {
        let X = sample() * sample().inverse();
        assert!((X.R.0 - Mat3::identity()).norm() < 1e-15 && X.p.norm() < 1e-15);
        let q = vec3(0.2, -0.5, 0.9);
        assert!((sample().apply_inv(sample() * q) - q).norm() < 1e-15);
    }

    #[test]
    fn joints_about_z_commute_with_their_matrices() {
        let t = Turn::of(0.8);
        let turned = sample() * Pose::rotation(Rotation::about_z(t));
        assert!((turned.R.0 - sample().turned(t).R.0).norm() < 1e-15);
        let slid = sample() * Pose::translation(vec3(0.0, 0.0, 0.6));
        assert!((slid.p - sample().slid(0.6).p).norm() < 1e-15);
    }

    #[test]
    fn pull_and_push_are_transposes() {
        let V = Twist { v: vec3(0.3, -0.2, 0.5), w: vec3(1.0, 0.4, -0.7) };
        let F = Wrench { f: vec3(2.0, 1.0, -3.0), m: vec3(0.5, -0.4, 0.2) };
        assert!((sample().pull(V).power(F) - V.power(sample().push(F))).abs() < 1e-14);
    }
}
