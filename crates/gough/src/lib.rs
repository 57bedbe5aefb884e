//! Dynamics of parallel robots.
#![allow(non_snake_case)]
#![forbid(unsafe_code)]

pub mod scalar;
pub mod spatial;
