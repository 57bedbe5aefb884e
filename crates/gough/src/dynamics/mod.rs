//! Stage 4: actuator efforts from motion, motion from efforts, energy and reactions of rigid robots, chapter 8.
//!
//! Every loop is cut where the model cuts it and every joint of the tree is taken as driven: Newton-Euler gives the efforts
//! of that tree ([`newton_euler`]). Each leg is then reduced to the platform by its own closures ([`reduction`]), and what
//! the platform lacks is what the drives must give ([`drives`]). Legs of a few common makes have all that in closed form
//! ([`points`]).

mod conditions;
pub(crate) mod derivatives;
mod direct;
pub mod drives;
pub mod inertia;
mod inverse;
pub mod newton_euler;
pub mod points;
mod reached;
mod reactions;
pub mod reduction;
pub mod regressor;
mod share;
mod state;

pub use conditions::{Conditions, Share};
pub use derivatives::{Derivatives, direct_derivatives, inverse_derivatives};
pub use direct::{RobotModel, active_model, direct_dynamics, direct_dynamics_under, platform_model};
pub use inverse::{InverseDynamics, inverse_dynamics, inverse_dynamics_under, joint_reactions};
pub use newton_euler::Sign;
pub(crate) use reached::reached_lanes;
pub use reactions::{Reactions, ThroughClosure};
pub use share::Internal;
pub use state::Dynamics;
