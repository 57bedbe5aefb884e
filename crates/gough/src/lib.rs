//! Dynamics of parallel robots.
#![allow(non_snake_case)]
#![forbid(unsafe_code)]

pub mod description;
pub mod kinematics;
pub mod linalg;
pub mod model;
mod robot;
pub mod robots;
pub mod scalar;
pub mod spatial;

pub use robot::{Mobility, Robot};
