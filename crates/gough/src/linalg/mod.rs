//! Linear algebra: small systems in any scalar, in an order that is data ([`small`]); everything larger on `f64`
//! in [`dense`]. No other module factors a matrix.
//!
//! Ranks are decided on scaled matrices: the caller divides lengths by the robot's length scale first, so that metres and
//! radians are never compared raw, and a singular value counts as zero below [`RANK_TOLERANCE`] of the largest.

pub mod arrow;
pub mod dense;
pub(crate) mod shortest;
mod singular;
pub mod small;
mod symmetric;

/// Four numbers in one register.
type Quad = wide::f64x4;

/// A singular value below this fraction of the largest is zero. Postures solved to 1e-12 give singular values that are
/// zero to about 1e-11; those of a regular robot of reasonable proportions stay above 1e-6.
pub const RANK_TOLERANCE: f64 = 1e-8;
