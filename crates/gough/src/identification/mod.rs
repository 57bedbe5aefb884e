//! Stage 8: which dynamic parameters of a robot can be known, and what they are: base parameters, exciting motions, estimates
//! from records of positions and efforts, section 8.7.

mod base;
mod covariance;
mod estimate;
mod excite;
pub mod filter;
mod follow;
mod formula;
mod mistakes;
mod nodes;
mod observe;
mod overlay;
mod possible;
mod record;
mod rows;
mod sensors;
mod spectrum;

pub use base::{BaseParameter, BaseParameters, Coefficient, Dependent, ParameterError, base_parameters};
pub use estimate::{Compared, ESSENTIAL, Estimate, Fit, Identification, SIGNIFICANT, identify};
pub use excite::{Excitation, ExcitationError, Left, Limits, Search, excite};
pub use overlay::overlay;
pub use possible::{PossibleSet, possible_set};
pub use record::{Measured, Record, RecordError};
pub use rows::Processing;
pub use sensors::Sensors;
