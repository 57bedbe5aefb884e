//! Efforts are linear in masses, first moments, inertias, rotors and friction: the matrix of that, section 8.7.
//!
//! [`StandardSet`] lists the parameters by the names and in the frames of the file. Columns are what a unit of each parameter
//! asks of the speeds that describe the robot: the six of the platform, and those of drives that the platform does not feel.
//! Every leg is reduced to the platform by its own closures, as efforts are: [`PartialRates`] holds what a unit of each speed
//! gives to every joint and body, and the power of a body's wrench on it is the column.

mod columns;
mod partial;
mod standard;
mod state;

pub(crate) use columns::{Meets, Rubbing, by_sign, friction_column};
pub use columns::{column_values, energy_columns, inertial_wrenches};
pub use partial::{PartialRates, partial_rates};
pub use standard::{ColumnSource, ParameterKind, StandardParameter, StandardSet};
pub(crate) use state::{Memory, carried};
pub use state::{Regressor, regressor};
