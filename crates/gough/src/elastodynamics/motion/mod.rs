//! Flexible robots in motion, chapter 10: generalised Newton-Euler bodies, recursion in relative coordinates, loops closed on deformed
//! bodies, inverse and direct elastodynamics.
//!
//! A [`FlexibleModel`] has the coordinates of the cut robot: joints, the twist of a free platform, deflections of transmissions,
//! displacements of beams, modes. [`FlexibleRobot`] closes the loops, finds which coordinates depend on the others and answers:
//! efforts and elastic accelerations from motion, motion from efforts.
//!
//! ```
//! use gough::elastodynamics::motion::{FlexibleRobot, FlexibleState};
//!
//! let robot = gough::Robot::shipped("dual-emps").expect("shipped");
//! let mut flexible = FlexibleRobot::new(robot.model(), robot.home())?;
//! let state = FlexibleState::rest(&flexible, robot.home());
//! let answer = flexible.direct(&state, &[10.0, 0.0], None)?;
//! assert_eq!(answer.elastic_qdd.len(), 9);
//! # Ok::<(), gough::elastodynamics::ElasticError>(())
//! ```

mod answer;
mod body;
mod case;
mod loops;
mod plan;
mod points;
mod recursion;
mod reduce;
mod response;
mod rotation;
mod solve;
mod statics;

pub use answer::{CoordinateMotion, FlexibleAnswer, Given, Wanted};
pub use body::{Deformed, FlexibleBody};
pub use case::{CaseMotion, FlexibleCase, flexible_parts, is_flexible};
pub use loops::LoopEquations;
pub use plan::{FlexibleModel, FlexiblePlan, MotionCoordinate};
pub use points::MaterialPoint;
pub use recursion::{FlexibleData, FlexiblePositions, FrameMotion};
pub use reduce::{Dependence, ReducedEquations};
pub use response::{FrequencyResponse, ResponseKind, ResponseMode};
pub use rotation::ElasticTurn;

pub use solve::{FlexibleRobot, FlexibleState, ScaledCholesky};
pub use statics::Linearised;
