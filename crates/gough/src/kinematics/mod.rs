//! Stage 3: closure, inverse and forward geometry.

pub mod closure;
mod error;
mod forward;
pub mod geometry;
mod inverse;
pub mod jacobians;
mod limit;
pub mod matrices;
mod modes;
pub mod motion;
pub mod newton;
pub mod platform;
mod positions;
pub mod rods;
pub mod scene;

/// A matrix whose smallest singular value or pivot, without units, is below this is singular. A stretched leg is only known
/// to the square root of the rounding, about 1e-8.
pub const SINGULAR: f64 = 1e-6;

pub use error::SolveError;
pub use forward::{Assemblies, assemblies, forward, postures};
pub(crate) use inverse::nearest_to_home;
pub use inverse::{
    Closed, Posture, inverse, inverse_given, inverse_in, joint_value, working_modes, working_modes_given,
};
pub use limit::{between, inverse_at_limit};
pub use modes::{Branch, WorkingMode};
pub use positions::{Frames, JointPosition, LegPositions, Positions, pose_bodies, pose_body, pose_leg};
