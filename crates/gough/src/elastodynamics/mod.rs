//! Stage 5: flexible bodies, stiffness and mass of the robot around a posture, natural frequencies and modes, chapter 11.
//!
//! A plan says where the robot is rigid and where it bends ([`plan`]); [`assemble`] gives stiffness and mass as block arrows.

pub mod assemble;
pub mod beam;
mod closing;
mod error;
pub mod modal;
pub mod numbers;
pub mod plan;
mod planar;
mod reduce;
pub mod relative;
mod vibration;

pub use assemble::{ElasticData, ElasticModel, assemble};
pub use error::ElasticError;
pub use plan::{Actuators, ElasticPlan};
pub use reduce::Reduced;
pub use vibration::{Frequency, SAME_FREQUENCY, Sensitivity, Shares, Store, Vibration, groups};
