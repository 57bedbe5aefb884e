//! One file per command: arguments, one call of the library, text or JSON.

pub mod cartesian;
pub mod check;
pub mod codegen;
pub mod dynamics;
pub mod dynamics_text;
pub mod flexible;
pub mod flexible_simulate;
pub mod frequencies;
pub mod identify;
pub mod kinematics;
pub mod map;
pub mod motion;
pub mod motion_table;
pub mod moving_points;
pub mod parameters;
pub mod passive_plan;
pub mod plan;
pub mod report;
pub mod response;
pub mod robots;
pub mod schema;
pub mod simulate;
pub mod singularities;
pub mod trajectory;
pub mod view;
