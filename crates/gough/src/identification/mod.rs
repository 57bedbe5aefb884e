//! Stage 8: which dynamic parameters of a robot can be known, and what they are: base parameters, exciting motions, estimates
//! from records of positions and efforts, section 8.7.

mod base;
mod formula;
mod observe;

pub use base::{BaseParameter, BaseParameters, Coefficient, Dependent, ParameterError, base_parameters};
