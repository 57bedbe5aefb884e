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
#[inline]
pub fn vec3<S: Real>(x: S, y: S, z: S) -> Vec3<S> {
    Vec3::new(x, y, z)
}

/// Cross-product matrix: `hat(r) u = r × u`.
#[inline]
pub fn hat<S: Real>(r: Vec3<S>) -> Mat3<S> {
    let o = S::zero();
    Mat3::new(o, -r.z, r.y, r.z, o, -r.x, -r.y, r.x, o)
}
