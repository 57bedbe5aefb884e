//! Dynamics of parallel robots.
//!
//! A robot is a small text file, or one that comes with the library; it becomes a [`Robot`], which answers questions by one
//! method per command of the program `gough`, under the same names:
//!
//! ```
//! let robot = gough::Robot::shipped("five-bar")?;
//! let pose = robot.pose("x=0.05, y=0.25")?;
//! let posture = robot.kinematics(&pose).answer()?;
//! assert!((posture.active.q[0] - 1.5431057639).abs() < 1e-9);
//! let moving = robot.idm(&pose).twist(&[0.3, -0.2]).acceleration(&[1.0, 2.0]).answer()?;
//! println!("{:?}", moving.efforts);
//! # Ok::<(), gough::Error>(())
//! ```
//!
//! | question | method | answer |
//! |---|---|---|
//! | joints at a pose, rates, matrices | [`Robot::kinematics`], [`Robot::inverse_geometry`] | [`PostureAnswer`](question::PostureAnswer), [`KinematicMatrices`](question::KinematicMatrices) |
//! | platform for given motors | [`Robot::forward_geometry`] | [`AssemblyModes`](question::AssemblyModes) |
//! | singularities | [`Robot::singularities`] | [`Singularities`](question::Singularities) |
//! | efforts from motion | [`Robot::idm`] | [`Efforts`](question::Efforts) |
//! | motion from efforts | [`Robot::ddm`] | [`Accelerations`](question::Accelerations) |
//! | motion over time | [`Robot::simulate`] | [`SimulationAnswer`](question::SimulationAnswer) |
//! | natural frequencies | [`Robot::frequencies`] | [`FrequencyAnswer`](question::FrequencyAnswer) |
//! | singular curves | [`Robot::loci`] | [`LociAnswer`](question::LociAnswer) |
//! | a quantity over a region | [`Robot::map`] | [`MapAnswer`](question::MapAnswer) |
//! | what a motion takes and meets, plans | [`Robot::along`], [`Robot::plan`] | [`AlongAnswer`](question::AlongAnswer), [`PlanAnswer`](question::PlanAnswer) |
//! | response to forces over frequency | [`Robot::response`] | [`ResponseAnswer`](question::ResponseAnswer) |
//! | dynamic parameters | [`Robot::parameters`], [`Robot::regressor`] | [`BaseParameters`], [`RegressorAnswer`](question::RegressorAnswer) |
//! | code for a controller | [`Robot::codegen`] | [`Generated`] |
//! | many states | [`batch`] | [`EffortsOfStates`](batch::EffortsOfStates) |
//!
//! Every answer serialises to the JSON document of its command; every refusal is an [`Error`] that says what to do next.
//!
//! Inside, the library is a row of stages (`scalar`, `spatial`, `linalg`, `description`, `model`, `kinematics`, `compile`,
//! `dynamics`, `trajectory`, `elastodynamics`, `analysis`, `identification`, `codegen`, `simulation`, `crossing`), each of which
//! uses those before it and never those after. They are open to the program, the benchmarks and the tests of this project, and
//! may change with every version.
#![allow(non_snake_case)]
#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod analysis;
pub mod batch;
#[doc(hidden)]
pub mod codegen;
mod compile;
#[doc(hidden)]
pub mod crossing;
#[doc(hidden)]
pub mod description;
#[doc(hidden)]
pub mod dynamics;
#[doc(hidden)]
pub mod elastodynamics;
#[doc(hidden)]
pub mod identification;
#[doc(hidden)]
pub mod kinematics;
#[doc(hidden)]
pub mod linalg;
#[doc(hidden)]
pub mod model;
pub mod program;
pub mod question;
mod robot;
pub mod robots;
#[doc(hidden)]
pub mod scalar;
#[doc(hidden)]
pub mod simulation;
#[doc(hidden)]
pub mod spatial;
#[doc(hidden)]
pub mod trajectory;
#[doc(hidden)]
pub mod view;

#[doc(inline)]
#[doc(inline)]
pub use codegen::{CodeOptions, Generated, Language, ModelKind};
pub use compile::Mobility;
#[doc(inline)]
pub use dynamics::{Share, Sign};
#[doc(inline)]
pub use elastodynamics::Actuators;
#[doc(inline)]
pub use identification::BaseParameters;
#[doc(inline)]
pub use kinematics::{Posture, WorkingMode};
pub use question::error::{Error, ErrorKind};
pub use robot::{Robot, Source};
#[doc(inline)]
pub use simulation::{Controller, EffortTable, Feedback, Gains, Instant, Law, SimulationOptions, Summary};
#[doc(inline)]
pub use spatial::{Inertia, Pose, Wrench};
pub use trajectory::{TimeLaw, Trajectory};

/// The code of the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The code of the book's chapter is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/guide/from-rust.md")]
struct FromRust;
