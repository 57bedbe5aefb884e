//! Why there is no plan through a singularity, in words.

use super::meet::Crossing;
use crate::kinematics::SolveError;
use crate::trajectory::TrajectoryError;
use std::fmt;

/// Why there is no plan.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// A pose or posture has no answer.
    Solve(SolveError),
    /// Poses and times are no motion.
    Trajectory(TrajectoryError),
    /// The way leaves the workspace before or between singularities.
    Blocked {
        /// When, on the straight way.
        t: f64,
        /// Why.
        why: SolveError,
    },
    /// No singularity lies on the way.
    NothingToCross,
    /// A wished pose is not near a Type 2 singularity.
    NotSingular {
        /// Which, counted from 0.
        wish: usize,
    },
    /// Wishes and start or end lie in aspects that do not go together.
    WrongCount {
        /// Crossings that are wished.
        wished: usize,
    },
    /// Accelerations that are to stay leave no choice to meet the criterion.
    NoChoice {
        /// Which crossing, counted from 0.
        wish: usize,
    },
    /// The straight way meets a singularity of another kind.
    OtherKind(Box<Crossing>),
    /// No motion tried crosses once per singularity inside the workspace.
    NotFound {
        /// How many were tried.
        tried: usize,
    },
    /// The time is to be shortest, and the file has no limits.
    NoLimits,
    /// The platform does not follow from the joints of the leg alone.
    LegDoesNotLead {
        /// The leg.
        leg: String,
    },
    /// Two working modes differ in another number of legs than one.
    OneLegOnly {
        /// In how many.
        legs: usize,
    },
    /// Drives cannot even hold the robot along the way.
    TooHeavy,
    /// A singularity is in the way of a motion that is not to cross.
    InTheWay(Box<Crossing>),
}

impl PlanError {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Solve(e) | Self::Blocked { why: e, .. } => e.kind(),
            Self::OtherKind(c) | Self::InTheWay(c) => c.kind,
            Self::Trajectory(_)
            | Self::NoLimits
            | Self::NoChoice { .. }
            | Self::WrongCount { .. }
            | Self::OneLegOnly { .. } => "usage",
            Self::LegDoesNotLead { .. } => "leg-does-not-lead",
            Self::NothingToCross => "nothing-to-cross",
            Self::NotSingular { .. } => "not-singular",
            Self::NotFound { .. } | Self::TooHeavy => "no-plan",
        }
    }

    /// Whether the question itself was wrong.
    pub fn is_misuse(&self) -> bool {
        match self {
            Self::Solve(e) => e.is_misuse(),
            other => other.kind() == "usage",
        }
    }
}

impl From<SolveError> for PlanError {
    fn from(e: SolveError) -> Self {
        Self::Solve(e)
    }
}

impl From<TrajectoryError> for PlanError {
    fn from(e: TrajectoryError) -> Self {
        Self::Trajectory(e)
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solve(e) => write!(f, "{e}"),
            Self::Trajectory(e) => write!(f, "{e}"),
            Self::Blocked { t, why } => write!(f, "the straight way is blocked at t = {t:.6} s: {why}; give a pose to cross at"),
            Self::NothingToCross => f.write_str("the straight way crosses no singularity; plan it without crossing"),
            Self::NotSingular { wish } => {
                write!(f, "pose {} to cross at is not near a Type 2 singularity; `singularities --pose` tells how far it is", wish + 1)
            }
            Self::WrongCount { wished } => write!(
                f,
                "start and end are not joined by {wished} crossing{} of Type 2: the signs of det J differ otherwise; wish for \
                 one more or one less",
                if *wished == 1 { "" } else { "s" }
            ),
            Self::NoChoice { wish } => write!(
                f,
                "the accelerations wished for at crossing {} leave none that meets the criterion; leave one open",
                wish + 1
            ),
            Self::OtherKind(c) => write!(
                f,
                "a {} is on the straight way at t = {:.6} s; motions are planned through Type 2 singularities: give poses to \
                 cross at that lead around it",
                c.title(),
                c.t
            ),
            Self::NotFound { tried } => write!(
                f,
                "none of {tried} motions stays in the workspace and crosses each singularity once; take another time (less where \
                 the platform has to fall through), another pose to cross at, or a nearer goal"
            ),
            Self::LegDoesNotLead { leg } => write!(
                f,
                "motions through LPJTS singularities are planned for legs that lead a platform of constant orientation by \
                 joints of their own; leg {leg} does not"
            ),
            Self::OneLegOnly { legs } => write!(
                f,
                "the working modes of start and end differ in {legs} legs; an LPJTS singularity changes that of one leg: cross one \
                 after the other"
            ),
            Self::TooHeavy => f.write_str(
                "at no pace do efforts and speeds stay within the limits along this way; widen the limits or take another way",
            ),
            Self::InTheWay(c) => {
                let [x, y, z] = c.position;
                write!(
                    f,
                    "a {} is in the way at t = {:.6} s, at x = {x:.6}, y = {y:.6}, z = {z:.6}: efforts grow without bound there; \
                     --cross plans a motion through it",
                    c.title(),
                    c.t
                )
            }
            Self::NoLimits => f.write_str("the shortest time needs limits: give drives an `effort` or `speed` in the file"),
        }
    }
}

impl std::error::Error for PlanError {}
