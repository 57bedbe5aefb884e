//! Stage 4: actuator efforts from motion, motion from efforts, energy and ground reaction of rigid robots, chapter 8.
//!
//! Every loop is cut where the model cuts it and every joint of the tree is taken as driven: Newton-Euler gives the efforts
//! of that tree ([`newton_euler`]). The closures then say what the drives alone must give ([`inverse_dynamics`],
//! [`direct_dynamics`]).

mod direct;
mod inverse;
pub mod newton_euler;

pub use direct::{PlatformModel, direct_dynamics, platform_model};
pub use inverse::{InverseDynamics, inverse_dynamics};
