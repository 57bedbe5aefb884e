//! Stage 5: flexible bodies, stiffness and mass of the robot around a posture, natural frequencies and modes, chapter 11.
//!
//! A plan says where the robot is rigid and where it bends ([`plan`]); [`assemble()`] gives stiffness and mass as block arrows;
//! [`Vibration`] solves them, posture after posture.
//!
//! ```
//! use gough::elastodynamics::{Actuators, Vibration};
//!
//! let robot = gough::Robot::shipped("navaro").expect("shipped");
//! let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked)?;
//! v.take(robot.home().pose(), robot.mode())?;
//! assert!((v.lowest(5)?[0].hz - 44.10463526).abs() < 1e-7);
//! # Ok::<(), gough::elastodynamics::ElasticError>(())
//! ```

pub mod assemble;
pub mod beam;
mod bent;
mod build;
pub mod cartesian;
mod closing;
pub mod drives;
mod error;
pub mod modal;
pub mod motion;
pub mod numbers;
pub mod plan;
mod planar;
mod reduce;
pub mod relative;
pub(crate) mod vibration;
mod weightless;

pub use assemble::{ElasticData, ElasticModel, assemble};
pub use bent::BentRobot;
pub use drives::{DriveElasticity, DriveUse, RotorMotion, drive_uses, static_drive_stiffness};
pub use error::ElasticError;
pub use numbers::{Sight, servo_stiffness};
pub use plan::{Actuators, ElasticPlan};
pub use reduce::Reduced;
pub use vibration::{Frequency, SAME_FREQUENCY, Sensitivity, Shares, Store, Vibration, groups};
