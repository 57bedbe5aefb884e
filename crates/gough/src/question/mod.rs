//! Questions that a [`Robot`](crate::Robot) answers: one method per command of the program, one builder per question, one typed
//! answer each, which serialises to the JSON document of the command, and one [`Error`].

mod along;
mod asked;
mod cartesian;
mod check;
mod codegen;
mod ddm;
pub(crate) mod error;
mod flexible;
mod frequencies;
mod geometry;
mod identify;
mod idm;
mod over;
mod plan;
mod posed;
mod response;
mod simulation;
mod singularities;
#[doc(hidden)]
pub mod words;

#[doc(hidden)]
pub use crate::simulation::{Ended, MovingPoint};
pub use along::{Along, AlongAnswer, DrivePassage, LookedAt};
pub use cartesian::{CartesianAnswer, CartesianFrequencies, MethodComparison, MethodSeconds};
pub use check::CheckAnswer;
#[doc(hidden)]
pub use check::{
    CheckedBody, CheckedClosure, CheckedHome, CheckedLeg, CheckedParameter, ElasticDrives, HomeSingularity,
};
pub use ddm::{AccelerationDerivatives, Accelerations, ActiveModel, Ddm, PlatformModel};
pub(crate) use error::Error;
#[doc(hidden)]
pub use flexible::ReadyFlexible;
pub use flexible::{FlexibleEfforts, FlexibleMotion};
pub use frequencies::{
    EnergyShare, Frequencies, FrequencyAnswer, FrequencySensitivity, ModeAnswer, PlaceMotion, ReducedAnswer,
    SliderPlace,
};
pub use geometry::{Assembly, AssemblyModes, KinematicMatrices, Kinematics, WorkingModes};
pub use identify::{IdentificationAnswer, RegressorAnswer};
#[doc(hidden)]
pub use idm::POOR_CONDITION;
pub use idm::{BodyForce, ClosureForce, EffortDerivatives, Efforts, Idm, JointForces};
pub use over::{
    Aspect, LociAnswer, LociQuestion, LowestFrequency, MapAnswer, MapAxis, MapQuestion, NodeValues, RefusedNodes,
    SpannedAxis,
};
#[doc(hidden)]
pub use over::{FrequencyMapNotes, ReachNotes, axis_name};
pub use plan::{CrossingAnswer, Plan, PlanAnswer, Refinement};
pub use posed::{JointMotion, PlatformPose, PostureAnswer};
pub use response::{Response, ResponseAnswer};
#[doc(hidden)]
pub use simulation::off;
pub use simulation::{MovingState, Simulation, SimulationAnswer, Tracking};
pub use singularities::{
    LineClass, Lost, NearSingularity, NearestPose, SearchAnswer, SearchExtent, Singularities, SingularityAnswer,
    SingularityQuestion,
};
// What answers are made of.
pub use crate::analysis::NodeValue;
pub use crate::analysis::loci::{Curve, What};
pub use crate::crossing::{Beside, Crossing, Objective, Score, Wish};
pub use crate::description::{LeftOut, RodInertia, VirtualTwists};
pub use crate::elastodynamics::cartesian::{CartesianReport, ModePair, PartShare};
pub use crate::elastodynamics::motion::{FrequencyResponse, ResponseKind, ResponseMode};
pub use crate::elastodynamics::{DriveElasticity, DriveUse, RotorMotion};
pub use crate::identification::{Excitation, Identification, Limits, PossibleSet, Processing, Record, Search};
pub use crate::kinematics::{Kind, SINGULAR};
pub use crate::trajectory::{Refusal, Row, Violation};
