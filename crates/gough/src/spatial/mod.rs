//! Frames, motions and actions: [`Pose`], [`Twist`], [`Wrench`], [`Accel`], [`Inertia`], on nalgebra storage.
//!
//! Names are in monogram notation: `X_AB` is the pose of frame B in A, `p_AB` its position, `R_AB` its rotation;
//! inner letters cancel in products (`X_WB = X_WP * X_PB`). Twists are `(v, w)` with `v` at the frame origin,
//! wrenches `(f, m)`, accelerations inertial derivatives that are then projected. See the book's notation page.

mod inertia;
pub mod orientation;
mod pose;
mod screw;
mod turn;

pub use inertia::{Inertia, NotPhysical};
pub use pose::{Pose, Rotation};
pub use screw::{Accel, Twist, Wrench};
pub use turn::Turn;

/// A vector of three.
pub type Vec3<S> = nalgebra::Vector3<S>;
/// A 3×3 matrix.
pub type Mat3<S> = nalgebra::Matrix3<S>;

use crate::scalar::Real;

/// The vector `(x, y, z)`.
#[inline(always)]
pub fn vec3<S: Real>(x: S, y: S, z: S) -> Vec3<S> {
    Vec3::new(x, y, z)
}

/// The null vector. Written out, as are [`each`] and [`each_entry`]: nalgebra's own fill theirs piece by piece, which on
/// SIMD lanes costs more than a cross product.
#[inline(always)]
pub fn null<S: Real>() -> Vec3<S> {
    vec3(S::zero(), S::zero(), S::zero())
}

/// A vector in another scalar, number by number.
#[inline(always)]
pub fn each<S: Real, T: Real>(v: &Vec3<S>, f: &mut (impl FnMut(S) -> T + ?Sized)) -> Vec3<T> {
    vec3(f(v.x), f(v.y), f(v.z))
}

/// A matrix in another scalar, number by number.
#[inline(always)]
pub fn each_entry<S: Real, T: Real>(M: &Mat3<S>, f: &mut (impl FnMut(S) -> T + ?Sized)) -> Mat3<T> {
    let mut at = |i: usize, j: usize| f(M[(i, j)]);
    Mat3::new(at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 1), at(1, 2), at(2, 0), at(2, 1), at(2, 2))
}

/// `a × b`, each component one product and one multiply-add.
#[inline(always)]
pub fn cross<S: Real>(a: Vec3<S>, b: Vec3<S>) -> Vec3<S> {
    let minor = |p: S, q: S, r: S, s: S| p.mul_add(q, -(r * s));
    vec3(minor(a.y, b.z, a.z, b.y), minor(a.z, b.x, a.x, b.z), minor(a.x, b.y, a.y, b.x))
}

/// `a · b` by multiply-adds.
#[inline(always)]
pub fn dot<S: Real>(a: Vec3<S>, b: Vec3<S>) -> S {
    a.z.mul_add(b.z, a.y.mul_add(b.y, a.x * b.x))
}

/// `a + b k` by multiply-adds.
#[inline(always)]
pub fn along<S: Real>(a: Vec3<S>, b: Vec3<S>, k: S) -> Vec3<S> {
    vec3(b.x.mul_add(k, a.x), b.y.mul_add(k, a.y), b.z.mul_add(k, a.z))
}

/// `M v` by multiply-adds.
#[inline(always)]
pub fn times<S: Real>(M: &Mat3<S>, v: Vec3<S>) -> Vec3<S> {
    let column = |k: usize| vec3(M[(0, k)], M[(1, k)], M[(2, k)]);
    along(along(column(0) * v.x, column(1), v.y), column(2), v.z)
}

/// Cross-product matrix: `hat(r) u = r × u`.
#[inline(always)]
pub fn hat<S: Real>(r: Vec3<S>) -> Mat3<S> {
    let o = S::zero();
    Mat3::new(o, -r.z, r.y, r.z, o, -r.x, -r.y, r.x, o)
}
