//! Dynamics of parallel robots.
//!
//! A robot is a small text file; it becomes a checked [`description`], a [`model`] with legs and a plan, and answers
//! questions: where its joints are for a platform pose, where its platform can be for given motors, in every working and
//! assembly mode.
//!
//! ```
//! use gough::kinematics::{inverse, working_modes};
//! use gough::spatial::{Pose, vec3};
//!
//! let robot = gough::robots::load("five-bar").expect("shipped").expect("correct");
//! let model = robot.model();
//! let posture = inverse(model, &Pose::translation(vec3(0.05, 0.25, 0.0)), robot.mode())?;
//! let q = posture.joints(model, &model.topology().active);
//! assert!((q[0] - 1.5431057639).abs() < 1e-9);
//! assert_eq!(working_modes(model, posture.pose())?.len(), 4);
//! # Ok::<(), gough::kinematics::SolveError>(())
//! ```
//!
//! The modules are the stages of the computation, in order; each uses those before it, never those after:
//!
//! | module | what it does |
//! |---|---|
//! | [`scalar`] | what an algorithm may do with a number: `f64`, dual numbers, SIMD lanes, symbols |
//! | [`spatial`] | poses, twists, wrenches, accelerations, inertias; rotation parameterisations |
//! | [`linalg`] | small systems in any scalar; larger ones on `f64` through faer |
//! | [`description`] | robot file → checked description, all faults at once |
//! | [`model`] | description → tree, legs, closures, plan; numbers in any scalar |
//! | [`kinematics`] | closure, inverse and forward geometry |
//! | [`dynamics`] | actuator efforts from motion, motion from efforts, energy, ground reaction |
//! | [`batch`] | many states on all cores, four at a time |
//! | [`trajectory`] | motions of the platform over time, what they take and which limits they leave |
//! | [`elastodynamics`] | flexible bodies, stiffness and mass, natural frequencies and modes |
//! | [`analysis`] | mobility, dependence of lines |
//! | [`identification`] | base parameters, exciting motions, parameters from measured motions and efforts |
//! | [`codegen`] | models as straight-line programs with few operations; C, Rust, Python, MATLAB, CUDA |
//! | [`simulation`] | motion over time under efforts or a controller |
//! | [`crossing`] | singularities on the way of a motion, and motions planned through them |
//! | [`robots`] | the robots that come with the library |
#![allow(non_snake_case)]
#![forbid(unsafe_code)]

pub mod analysis;
pub mod batch;
pub mod codegen;
mod compile;
pub mod crossing;
pub mod description;
pub mod dynamics;
pub mod elastodynamics;
pub mod identification;
pub mod kinematics;
pub mod linalg;
pub mod model;
mod robot;
pub mod robots;
pub mod scalar;
pub mod simulation;
pub mod spatial;
pub mod trajectory;

pub use compile::Mobility;
pub use robot::Robot;

/// The code of the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
