//! Stage 5: flexible bodies, stiffness and mass of the robot around a posture, natural frequencies and modes, chapter 11.
//!
//! A plan says where the robot is rigid and where it bends ([`plan`]); [`assemble`] gives stiffness and mass as block arrows.

mod arrow;
pub mod assemble;
pub mod beam;
mod closing;
mod error;
pub mod modal;
pub mod numbers;
pub mod plan;
mod planar;

pub use arrow::{Arrow, ArrowLeg};
pub use assemble::{ElasticData, ElasticModel, assemble};
pub use error::ElasticError;
pub use plan::{Actuators, ElasticPlan};
