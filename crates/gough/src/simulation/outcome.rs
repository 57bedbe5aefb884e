//! What is asked of a simulation, and what comes of it.

use super::Method;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::{Kind, SolveError};
use crate::model::BodyPoint;
use crate::spatial::{Accel, Pose, Twist, Wrench};
use std::fmt;

/// Normal noise of what a controller measures: joints for joint PD, the platform for the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Noise {
    /// Standard deviation of positions, in metres and radians.
    pub position: f64,
    /// Standard deviation of rates.
    pub rate: f64,
    /// The same seed gives the same noise, whatever the steps.
    pub seed: u64,
}

/// How a simulation is run.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationOptions {
    /// Seconds.
    pub duration: f64,
    /// How steps are taken.
    pub method: Method,
    /// Record an instant every so many seconds; with a fixed step, at the next whole number of steps.
    pub every: f64,
    /// Friction of the joints.
    pub friction: Option<Sign>,
    /// Efforts end at the limits of the drives.
    pub saturate: bool,
    /// The controller works at samples so far apart and its efforts are held in between; `None`: all the time.
    pub period: Option<f64>,
    /// Noise at the samples of the controller; needs a period.
    pub noise: Option<Noise>,
    /// What acts on the platform from outside, at its origin, in world axes.
    pub load: Wrench<f64>,
    /// Go on through Type 2 singularities, where the platform is not held but its motion is determined.
    pub through_type2: bool,
    /// Points whose motion is recorded.
    pub points: Vec<BodyPoint>,
}

impl SimulationOptions {
    /// For a duration: adaptive steps at 1e-9, five hundred instants, no friction, drives within their limits.
    pub fn lasting(duration: f64) -> Self {
        Self {
            duration,
            method: Method::Adaptive { tolerance: 1e-9 },
            every: duration / 500.0,
            friction: None,
            saturate: true,
            period: None,
            noise: None,
            load: Wrench::zero(),
            through_type2: false,
            points: Vec::new(),
        }
    }
}

/// Why a simulation cannot begin.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum SetupError {
    /// The robot cannot stand or move as it should at the start.
    Start(SolveError),
    /// The controller cannot work at the start.
    Controller(SolveError),
    /// A number makes no sense.
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// It would take too long.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are asked for.
        asked: f64,
        /// The most there may be.
        most: usize,
    },
    /// A list has the wrong length.
    WrongCount {
        /// Of what.
        what: &'static str,
        /// How many there should be.
        expected: usize,
    },
    /// The tolerance is out of reach of the arithmetic, or no tolerance.
    Tolerance(f64),
    /// The pose leaves joints open.
    OpenJoints(Vec<String>),
    /// Noise of a controller that works all the time.
    NoiseWithoutPeriod,
}

impl SetupError {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Start(e) | Self::Controller(e) => e.kind(),
            Self::OpenJoints(_) => "open-joints",
            _ => "usage",
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(e) => write!(f, "{e}"),
            Self::Controller(e) => write!(f, "the controller has no answer at the start: {e}"),
            Self::NotPositive { what, value } => write!(f, "{what} is {value}; it must be positive and finite"),
            Self::TooMany { what, asked, most } => {
                write!(f, "{asked:.0} {what} are asked for, {most} are the most; take a longer step or a shorter time")
            }
            Self::WrongCount { what, expected } => write!(f, "{what}: give one for all, or {expected}"),
            Self::Tolerance(x) => write!(f, "the tolerance is {x:e}; it must be between 1e-14 and 1e-2"),
            Self::OpenJoints(names) => write!(
                f,
                "the pose of the platform leaves joints open ({}); motion of such robots is not simulated",
                names.join(", ")
            ),
            Self::NoiseWithoutPeriod => {
                f.write_str("noise needs a controller that works at samples; give the time between them")
            }
        }
    }
}

impl std::error::Error for SetupError {}

/// Why a motion ended.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// The time was over.
    End,
    /// It was told to.
    Interrupted,
    /// A singularity was met.
    Singular {
        /// Which.
        kind: Kind,
        /// The leg, where it is one leg's.
        leg: Option<String>,
    },
    /// The robot cannot go on: a joint at its limit, or what the reason says.
    Refused(SolveError),
    /// The controller had no answer.
    Controller(SolveError),
    /// Steps became too small for the tolerance, not near any singularity.
    StepTooSmall,
    /// There were too many.
    TooManySteps {
        /// The most there may be.
        most: usize,
    },
}

impl Stop {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Interrupted => "interrupted",
            Self::Singular { kind, .. } => kind.word(),
            Self::Refused(e) => e.kind(),
            Self::Controller(_) => "controller",
            Self::StepTooSmall => "step-too-small",
            Self::TooManySteps { .. } => "too-many-steps",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the time is over"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Singular { kind: Kind::Type1, leg } => {
                let leg = leg.as_ref().map_or_else(|| "a leg".to_owned(), |l| format!("leg {l}"));
                write!(f, "{leg} is stretched or folded: a Type 1 singularity, where working modes meet")
            }
            Self::Singular { kind, leg } => {
                let of = leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
                write!(f, "a {} singularity{of}", kind.title())
            }
            Self::Refused(SolveError::OutOfRange { joint, value, range: [low, high] }) => {
                write!(f, "joint {joint} is at the end of its range: {value:.6} of [{low:.6}, {high:.6}]")
            }
            Self::Refused(e) => write!(f, "{e}"),
            Self::Controller(e) => write!(f, "the controller has no answer: {e}"),
            Self::StepTooSmall => {
                f.write_str("steps became too small for the tolerance; motion too stiff or not smooth: widen the friction's sign or the tolerance")
            }
            Self::TooManySteps { most } => write!(f, "{most} steps were taken; ask for a shorter time or a wider tolerance"),
        }
    }
}

/// A point of a body at an instant, in world axes.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct MovingPoint {
    /// Where it is, m.
    pub position: [f64; 3],
    /// Its velocity, m/s.
    pub velocity: [f64; 3],
    /// Its acceleration, m/s².
    pub acceleration: [f64; 3],
    /// How far it is from where it would be on the rigid robot whose active joints stand as they do, m; none for rigid robots, and where
    /// the rigid robot cannot stand so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deflection: Option<[f64; 3]>,
}

impl MovingPoint {
    pub(super) fn new((X, V, A): (Pose<f64>, Twist<f64>, Accel<f64>)) -> Self {
        Self { position: X.p.into(), velocity: V.v.into(), acceleration: A.a.into(), deflection: None }
    }
}

/// Why and when a motion ended.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Ended {
    /// A short name that programs can rely on.
    pub kind: &'static str,
    /// In words.
    pub message: String,
    /// When.
    pub t: f64,
}

impl Ended {
    /// A reason that rigid robots have too.
    pub fn by(stop: &Stop, t: f64) -> Self {
        Self { kind: stop.kind(), message: stop.to_string(), t }
    }
}

/// One instant of a motion.
#[derive(Clone, PartialEq, Debug)]
pub struct Instant {
    /// Time.
    pub t: f64,
    /// Pose of the platform.
    pub pose: Pose<f64>,
    /// Twist in its independent components.
    pub t_r: Vec<f64>,
    /// Acceleration.
    pub td_r: Vec<f64>,
    /// Active joints.
    pub q: Vec<f64>,
    /// Their rates.
    pub qd: Vec<f64>,
    /// Their accelerations.
    pub qdd: Vec<f64>,
    /// Efforts of the drives.
    pub efforts: Vec<f64>,
    /// Kinetic energy of the bodies, of the rotors, and potential energy.
    pub energies: [f64; 3],
    /// Work of the drives since the start.
    pub work: f64,
    /// Work lost to friction since the start.
    pub losses: f64,
    /// Work of what acts on the platform from outside, since the start.
    pub work_of_load: f64,
    /// The points that were asked for.
    pub points: Vec<MovingPoint>,
}

/// How a motion went.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Why it ended.
    pub stop: Stop,
    /// When.
    pub t: f64,
    /// Steps taken.
    pub steps: usize,
    /// Steps tried in vain.
    pub rejected: usize,
    /// Largest gap of the loops after any step, in metres and radians.
    pub gap: [f64; 2],
    /// Largest difference between the energy gained and the works done, over the instants recorded.
    pub energy_error: f64,
    /// Largest energy or work seen: what the error is to be compared with.
    pub energy_scale: f64,
    /// Per drive, the time it spent at its limit, step by step.
    pub saturated: Vec<f64>,
}
