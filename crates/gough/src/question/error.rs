//! Every way in which a question can end without an answer.

use crate::analysis::RegionError;
use crate::analysis::map::MapError;
use crate::codegen::CodegenError;
use crate::crossing::PlanError;
use crate::description::BadRobot;
use crate::elastodynamics::ElasticError;
use crate::identification::{ExcitationError, ParameterError, RecordError};
use crate::kinematics::SolveError;
use crate::simulation::SetupError;
use crate::trajectory::TrajectoryError;
use std::fmt;

/// Who has to do something about an [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorKind {
    /// The robot file has faults.
    Robot,
    /// The question cannot be asked so: another robot, other numbers or names are needed.
    Question,
    /// The question has no answer there: out of reach, singular, not assembled.
    NoAnswer,
}

/// Why a question has no answer. What is displayed says what to do next.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The robot file has faults, all of them.
    BadRobot(Box<BadRobot>),
    /// Words or numbers of a question that make no sense.
    Question(String),
    /// Geometry and dynamics have no answer there.
    Solve(SolveError),
    /// The robot has no such vibrations.
    Elastic(ElasticError),
    /// There is no generated code.
    Codegen(CodegenError),
    /// There is no plan of a motion.
    Plan(PlanError),
    /// There is no such motion over time.
    Trajectory(TrajectoryError),
    /// There is no such region to map.
    Region(RegionError),
    /// There is no such quantity to map.
    Map(MapError),
    /// A simulation cannot begin.
    Setup(SetupError),
    /// Dynamic parameters cannot be told apart.
    Parameters(ParameterError),
    /// There is no exciting motion within the limits.
    Excitation(ExcitationError),
    /// Measured data cannot be used.
    Record(RecordError),
}

impl Error {
    /// Who has to do something about it.
    pub fn kind(&self) -> ErrorKind {
        let misuse = |is: bool| if is { ErrorKind::Question } else { ErrorKind::NoAnswer };
        match self {
            Error::BadRobot(_) => ErrorKind::Robot,
            Error::Solve(e) | Error::Setup(SetupError::Start(e) | SetupError::Controller(e)) => misuse(e.is_misuse()),
            Error::Elastic(e) => misuse(e.is_misuse()),
            Error::Codegen(e) => misuse(e.is_misuse()),
            Error::Plan(e) => misuse(e.is_misuse()),
            _ => ErrorKind::Question,
        }
    }

    /// A short name that programs can rely on.
    pub fn code(&self) -> &'static str {
        match self {
            Error::BadRobot(_) => "bad-robot",
            Error::Solve(e) => e.kind(),
            Error::Elastic(e) => e.kind(),
            Error::Codegen(e) => e.kind(),
            Error::Plan(e) => e.kind(),
            Error::Setup(e) => e.kind(),
            Error::Record(e) => e.kind(),
            _ => "usage",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::BadRobot(e) => e.fmt(f),
            Error::Question(why) => f.write_str(why),
            Error::Solve(e) => e.fmt(f),
            Error::Elastic(e) => e.fmt(f),
            Error::Codegen(e) => e.fmt(f),
            Error::Plan(e) => e.fmt(f),
            Error::Trajectory(e) => e.fmt(f),
            Error::Region(e) => e.fmt(f),
            Error::Map(e) => e.fmt(f),
            Error::Setup(e) => e.fmt(f),
            Error::Parameters(e) => e.fmt(f),
            Error::Excitation(e) => e.fmt(f),
            Error::Record(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<BadRobot> for Error {
    fn from(bad: BadRobot) -> Self {
        Error::BadRobot(Box::new(bad))
    }
}

/// A posture that cannot be taken is one for every question: the refusal knows which leg.
impl From<ElasticError> for Error {
    fn from(e: ElasticError) -> Self {
        if let ElasticError::Posture(e) = e { Error::Solve(e) } else { Error::Elastic(e) }
    }
}

/// `From` for every other error of a stage.
macro_rules! from_stages {
    ($($variant:ident($error:ty);)*) => {
        $(impl From<$error> for Error {
            fn from(e: $error) -> Self {
                Error::$variant(e)
            }
        })*
    };
}

from_stages! {
    Solve(SolveError);
    Codegen(CodegenError);
    Plan(PlanError);
    Trajectory(TrajectoryError);
    Region(RegionError);
    Map(MapError);
    Setup(SetupError);
    Parameters(ParameterError);
    Excitation(ExcitationError);
    Record(RecordError);
}
