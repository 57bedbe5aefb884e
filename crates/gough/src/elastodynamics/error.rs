//! Questions about vibration that have no answer, and why.

use crate::kinematics::SolveError;
use std::fmt;

/// Why there is no elastic model, or no frequencies.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ElasticError {
    /// The posture cannot be taken.
    Posture(SolveError),
    /// Nothing can move: every body is rigid and every drive holds.
    NothingMoves,
    /// The section of a beam has no direction: `up` is along the beam.
    BeamAxes {
        /// The body.
        body: String,
    },
    /// Something is attached to a modal body elsewhere than at a named point.
    UnnamedPoint {
        /// The body.
        body: String,
    },
    /// Joints that follow each other have something flexible between them.
    CoupledAcross {
        /// A body beyond it.
        body: String,
    },
    /// A planar model of something that is not planar.
    NotPlanar {
        /// What sticks out of the plane.
        what: String,
    },
    /// More coordinates than dense matrices are good for.
    TooLarge {
        /// How many.
        coordinates: usize,
    },
    /// Nothing that moves has mass.
    NoMass,
    /// Something has neither mass nor stiffness.
    Loose {
        /// What.
        what: String,
    },
    /// A number of the model is not finite.
    NotFinite {
        /// Where.
        what: String,
    },
    /// The mass matrix is not positive: some body has a negative inertia in a direction it moves in.
    NegativeMass {
        /// What moves most in that direction.
        what: String,
    },
    /// A leg moves freely while the platform is held, so that it cannot be reduced.
    NotReducible,
    /// The eigenvalues were not found.
    NotConverged,
    /// The loops of the deformed robot cannot be closed.
    NotClosed {
        /// The gap that is left.
        gap: f64,
    },
    /// A list of a state has another length than the robot has coordinates.
    Count {
        /// The list.
        what: &'static str,
        /// How many numbers were given.
        given: usize,
        /// How many there must be.
        wanted: usize,
    },
    /// The platform is a body of a leg, or a point on it: it has no pose of its own.
    NoPlatform,
    /// A motion has no inertia, so that its acceleration is not determined.
    NoInertia {
        /// What moves most in it.
        what: String,
    },
    /// More drives than accelerations that were told.
    RedundantDrives {
        /// How many drives.
        drives: usize,
        /// How many accelerations.
        wanted: usize,
    },
    /// The drives cannot give the accelerations that were told.
    NotDrivable,
    /// The robot finds no rest under gravity and loads with its drives held.
    NotAtRest,
    /// The platform moves apart from the joints, or drives depend on each other: such motions are not simulated.
    NotSimulated,
    /// A number must be positive.
    NotPositive {
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Something slides along a beam, whose node would have to go with it.
    SlidesOnBeam {
        /// The body whose joint slides, or the closure.
        joint: String,
        /// The beam.
        beam: String,
    },
    /// Too many instants to record.
    TooManyInstants {
        /// The most there may be.
        most: usize,
    },
    /// Steps become too small to go on.
    StepTooSmall {
        /// When.
        t: f64,
    },
    /// Steps of a length that is told do not resolve the lowest vibration.
    StepTooLong {
        /// The step, s.
        step: f64,
        /// Frequency of the lowest vibration, Hz.
        hz: f64,
    },
    /// A point is beyond the ends of its beam.
    OffBeam {
        /// The beam.
        body: String,
        /// How far along the beam it would be.
        along: f64,
        /// How long the beam is.
        length: f64,
    },
    /// A point of a modal body is neither a node of its mesh nor a named point.
    NoMeshNode {
        /// The body.
        body: String,
        /// The nearest node, in the frame of the body.
        nearest: Option<[f64; 3]>,
    },
}

impl ElasticError {
    /// The refusal of a motion along a beam.
    pub(crate) fn slides(model: &crate::model::Model<f64>, slider: &super::plan::BeamSlider) -> Self {
        let beam = model.topology().bodies[slider.beam].name.clone();
        ElasticError::SlidesOnBeam { joint: slider.name(model), beam }
    }

    /// The kind of refusal, one word.
    pub fn kind(&self) -> &'static str {
        match self {
            ElasticError::Posture(e) => e.kind(),
            ElasticError::NothingMoves => "nothing-moves",
            ElasticError::BeamAxes { .. } => "beam-axes",
            ElasticError::UnnamedPoint { .. } => "unnamed-point",
            ElasticError::CoupledAcross { .. } => "coupled-across",
            ElasticError::NotPlanar { .. } => "not-planar",
            ElasticError::TooLarge { .. } => "too-large",
            ElasticError::NoMass => "no-mass",
            ElasticError::Loose { .. } => "loose",
            ElasticError::NotFinite { .. } => "not-finite",
            ElasticError::NegativeMass { .. } => "negative-mass",
            ElasticError::NotReducible => "not-reducible",
            ElasticError::NotConverged => "not-converged",
            ElasticError::NotClosed { .. } => "not-closed",
            ElasticError::Count { .. } => "count",
            ElasticError::NoPlatform => "no-platform",
            ElasticError::NoInertia { .. } => "no-inertia",
            ElasticError::RedundantDrives { .. } => "redundant-drives",
            ElasticError::NotDrivable => "not-drivable",
            ElasticError::NotAtRest => "not-at-rest",
            ElasticError::NotSimulated => "not-simulated",
            ElasticError::SlidesOnBeam { .. } => "slides-on-beam",
            ElasticError::NotPositive { .. }
            | ElasticError::TooManyInstants { .. }
            | ElasticError::StepTooLong { .. } => "usage",
            ElasticError::StepTooSmall { .. } => "step-too-small",
            ElasticError::OffBeam { .. } | ElasticError::NoMeshNode { .. } => "no-such-point",
        }
    }

    /// Whether the question was wrong, not the posture.
    pub fn is_misuse(&self) -> bool {
        match self {
            ElasticError::Posture(e) => e.is_misuse(),
            ElasticError::NotConverged
            | ElasticError::NotClosed { .. }
            | ElasticError::NotDrivable
            | ElasticError::NotAtRest
            | ElasticError::StepTooSmall { .. } => false,
            _ => true,
        }
    }
}

impl From<SolveError> for ElasticError {
    fn from(e: SolveError) -> Self {
        ElasticError::Posture(e)
    }
}

impl fmt::Display for ElasticError {
    #[allow(clippy::too_many_lines)] // a sentence per refusal
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElasticError::Posture(e) => e.fmt(f),
            ElasticError::NothingMoves => f.write_str(
                "nothing can vibrate: every body is rigid and every drive holds; give bodies `beam` or `modal`, \
                 drives a `stiffness`, or ask with --actuators free",
            ),
            ElasticError::BeamAxes { body } => {
                write!(f, "the section of beam `{body}` has no direction: `up` is along the beam; give another `up`")
            }
            ElasticError::UnnamedPoint { body } => write!(
                f,
                "something is attached to the modal body `{body}` elsewhere than at a named point; name the point of \
                 its file where it is attached"
            ),
            ElasticError::CoupledAcross { body } => write!(
                f,
                "`{body}` is moved by a coupled joint that lies beyond a flexible body; give the coupled joints a chain of \
                 rigid bodies, or model the coupling by bodies"
            ),
            ElasticError::NotPlanar { what } => write!(
                f,
                "`dimension = 2` of [elastic] asks for motions in the x-y plane, but {what}; leave `dimension` out"
            ),
            ElasticError::TooLarge { coordinates } => write!(
                f,
                "{coordinates} elastic coordinates are more than {}; use fewer `elements`",
                super::plan::MOST_COORDINATES
            ),
            ElasticError::NoMass => f.write_str("nothing that moves has mass; give bodies a mass or a density"),
            ElasticError::Loose { what } => {
                write!(f, "{what} has neither mass nor stiffness; give a body there a mass, or a joint a stiffness")
            }
            ElasticError::NotFinite { what } => {
                write!(f, "the matrices have a number that is not finite at {what}; look at the data of that body")
            }
            ElasticError::NegativeMass { what } => {
                write!(f, "the inertia is not positive where {what} moves; look at the mass data of that body")
            }
            ElasticError::NotReducible => f.write_str(
                "a leg moves freely while the platform is held, or the robot has free motions: it cannot be reduced; \
                 leave --reduce out",
            ),
            ElasticError::NotClosed { gap } => write!(
                f,
                "the loops of the deformed robot do not close, a gap of {gap:.1e} is left; give smaller elastic coordinates, or \
                 positions nearer to the home posture"
            ),
            ElasticError::Count { what, given, wanted } => {
                write!(f, "`{what}` has {given} numbers, the robot needs {wanted}; `gough check` lists the coordinates")
            }
            ElasticError::NoPlatform => f.write_str(
                "the platform of this robot is a point on a flexible leg and has no coordinates of its own; give the active joints",
            ),
            ElasticError::NoInertia { what } => {
                write!(f, "{what} moves without inertia, so that its acceleration is not determined; give a body there a mass, the drive a \
                           `rotor_inertia`, or take everything as rigid (--rigid)")
            }
            ElasticError::RedundantDrives { drives, wanted } => write!(
                f,
                "{drives} drives for {wanted} accelerations: they can share in many ways; give the accelerations of the active joints"
            ),
            ElasticError::NotDrivable => f.write_str(
                "the drives cannot give these accelerations here; give those of the active joints, or move away from the singularity",
            ),
            ElasticError::NotAtRest => f.write_str(
                "the robot finds no rest under gravity and loads with its drives held: it does not carry them, or moves freely (`gough \
                 frequencies` shows slow and free motions); take a smaller load or stiffer bodies, or ask a copy of the file with \
                 `gravity = [0, 0, 0]`",
            ),
            ElasticError::NotSimulated => f.write_str(
                "this robot moves in ways that its joints and elastic coordinates do not tell, or its drives depend on each other; \
                 simulate it with --rigid",
            ),
            ElasticError::SlidesOnBeam { joint, beam } => write!(
                f,
                "`{joint}` slides along the flexible beam `{beam}`: the full method of `frequencies` and `map`, and `response`, take it where \
                 it stands; its motion along the beam, code and the Cartesian method do not; ask with --rigid, or leave `beam` of \
                 `{beam}` out"
            ),
            ElasticError::NotPositive { what, value } => write!(f, "{what} is {value}; it must be positive and finite"),
            ElasticError::TooManyInstants { most } => {
                write!(f, "more than {most} instants are asked for; record fewer, or take a shorter time")
            }
            ElasticError::StepTooSmall { t } => write!(
                f,
                "steps become too small at t = {t:.6} s: the robot is at a singularity, or friction changes its sign there; give \
                 friction a larger width, or a larger tolerance"
            ),
            ElasticError::StepTooLong { step, hz } => write!(
                f,
                "steps of {step} s do not resolve the lowest vibration, {hz:.4} Hz, let alone the others; take shorter ones than {:.2e} s, or let \
                 them be chosen",
                0.5 / hz
            ),
            ElasticError::OffBeam { body, along, length } => write!(
                f,
                "a point {along} m along beam `{body}` is beyond its ends; it goes from 0 to {length} m"
            ),
            ElasticError::NoMeshNode { body, nearest } => {
                write!(f, "the modal body `{body}` has no node of its mesh there")?;
                nearest.map_or(Ok(()), |[x, y, z]| write!(f, "; the nearest one is at {x}:{y}:{z}"))
            }
            ElasticError::NotConverged => f.write_str(
                "the natural frequencies did not converge; look at the units of moduli, densities, lengths and stiffnesses",
            ),
        }
    }
}

impl std::error::Error for ElasticError {}
