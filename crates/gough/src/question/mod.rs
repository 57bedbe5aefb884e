//! Questions that a [`Robot`](crate::Robot) answers: one method per command of the program, one builder per question, one typed
//! answer each, which serialises to the JSON document of the command, and one [`Error`].

mod asked;
mod ddm;
mod error;
mod frequencies;
mod geometry;
mod idm;
mod over;
mod posed;
mod singularities;
#[doc(hidden)]
pub mod words;

pub use ddm::{AccelerationDerivatives, Accelerations, ActiveModel, Ddm, PlatformModel};
pub use error::{Error, ErrorKind};
pub use frequencies::{EnergyShare, Frequencies, FrequencyAnswer, ModeAnswer};
pub use geometry::{Assembly, AssemblyModes, KinematicMatrices, Kinematics, WorkingModes};
pub use idm::{BodyForce, ClosureForce, EffortDerivatives, Efforts, Idm, JointForces, NearSingularity, POOR_CONDITION};
pub use over::MapQuestion;
pub use posed::{JointMotion, PlatformPose, PostureAnswer};
pub use singularities::{LineClass, Lost, Singularities, SingularityAnswer};
