//! Stage 4: actuator efforts from motion, motion from efforts, energy and reactions of rigid robots, chapter 8.
//!
//! Every loop is cut where the model cuts it and every joint of the tree is taken as driven: Newton-Euler gives the efforts
//! of that tree ([`newton_euler`]). Each leg is then reduced to the platform by its own closures ([`reduction`]), and what
//! the platform lacks is what the drives must give ([`drives`]).

mod direct;
pub mod drives;
mod four;
pub mod inertia;
mod inverse;
pub mod newton_euler;
pub mod reduction;
mod state;

pub use direct::{PlatformModel, direct_dynamics, platform_model};
pub use four::{FourStates, State};
pub use inverse::{InverseDynamics, inverse_dynamics};
pub use state::Dynamics;
