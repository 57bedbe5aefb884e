//! Stage 3: closure, inverse and forward geometry.

mod branches;
mod chart;
pub mod closure;
mod continuation;
pub(crate) mod error;
mod fit;
mod following;
mod forward;
pub mod geometry;
mod inverse;
pub mod jacobians;
mod kind;
pub mod leg;
mod limit;
pub mod matrices;
mod modes;
pub mod motion;
pub mod newton;
pub mod platform;
mod positions;
pub mod rods;
pub mod scene;
mod ways;

pub use crate::model::Branch;
pub(crate) use branches::as_anchor;
pub use branches::mode_by_example;
pub use chart::PoseChart;
pub use error::SolveError;
pub use fit::{FittedPosture, Reading, fit};
pub(crate) use following::nearest_to_home;
pub use forward::{Assemblies, CONTRADICTION, assemblies, forward, postures};
pub use inverse::{
    Closed, Posture, inverse, inverse_given, inverse_in, joint_value, working_modes, working_modes_given,
};
pub(crate) use inverse::{inverse_beside, inverse_from, modes_near};
pub use kind::{Kind, SINGULAR};
pub use leg::screw;
pub(crate) use limit::AT_THE_END;
pub(crate) use limit::inverse_at_limit_from;
pub use limit::{between, inverse_at_limit, inverse_at_limit_given};
pub use modes::WorkingMode;
pub use positions::{Frames, JointPosition, LegPositions, Positions, pose_bodies, pose_body, pose_leg};
pub use ways::{MOST_POSTURES, lists_all_modes};
