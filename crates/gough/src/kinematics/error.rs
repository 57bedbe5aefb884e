//! Questions that have no answer at a posture: physics, not bugs. Never NaN.

use std::fmt;

/// Why a posture cannot be given.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum SolveError {
    /// A leg cannot reach its place on the platform.
    OutOfReach {
        /// The leg.
        leg: String,
        /// By how much, in metres.
        by: f64,
    },
    /// A leg is fully stretched or folded: two working modes meet (Type 1) and rounding decides.
    AtLimit {
        /// The leg.
        leg: String,
    },
    /// A joint would leave its range.
    OutOfRange {
        /// The joint.
        joint: String,
        /// Its coordinate.
        value: f64,
        /// Lowest and highest.
        range: [f64; 2],
    },
    /// The platform does not move that way.
    NotAPose {
        /// What is wrong.
        reason: String,
    },
    /// No posture was found for the given joints.
    NoAssembly {
        /// By how much the loops stay open at best, in metres.
        by: f64,
    },
    /// The closures were not met although every leg seemed to reach.
    NotClosed {
        /// What remains, in metres.
        gap_m: f64,
        /// What remains, in radians.
        gap_rad: f64,
    },
    /// Newton's method did not settle.
    NotConverged {
        /// Steps taken.
        iterations: u32,
        /// What remains.
        residual: f64,
    },
    /// Rates are asked for where they are not determined.
    Singular {
        /// The leg, when one is to blame.
        leg: Option<String>,
        /// Which singularity: `type1`, `type2`, `lpjts` or `constraint`.
        kind: &'static str,
    },
    /// The name is no working mode of the robot.
    UnknownMode {
        /// The name.
        mode: String,
        /// What was expected.
        reason: String,
    },
    /// The number of joint values is wrong.
    WrongCount {
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

impl SolveError {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            SolveError::OutOfReach { .. } => "out-of-reach",
            SolveError::AtLimit { .. } => "type1",
            SolveError::OutOfRange { .. } => "out-of-range",
            SolveError::NotAPose { .. } => "not-a-pose",
            SolveError::NoAssembly { .. } => "no-assembly",
            SolveError::NotClosed { .. } => "not-closed",
            SolveError::NotConverged { .. } => "not-converged",
            SolveError::Singular { kind, .. } => kind,
            SolveError::UnknownMode { .. } => "unknown-mode",
            SolveError::WrongCount { .. } => "wrong-count",
        }
    }

    /// Whether the question itself was wrong, so that no posture would have an answer.
    pub fn is_misuse(&self) -> bool {
        matches!(self, SolveError::UnknownMode { .. } | SolveError::WrongCount { .. } | SolveError::NotAPose { .. })
    }
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolveError::OutOfReach { leg, by } => {
                write!(f, "out of reach of leg {leg} by {by:.4e} m; bring the platform nearer")
            }
            SolveError::AtLimit { leg } => {
                write!(
                    f,
                    "leg {leg} is at the limit of its reach (Type 1 singularity); move the platform a little inwards"
                )
            }
            SolveError::OutOfRange { joint, value, range: [low, high] } => {
                write!(f, "joint {joint} would be at {value:.6}, outside its range [{low:.6}, {high:.6}]")
            }
            SolveError::NotAPose { reason } => f.write_str(reason),
            SolveError::NoAssembly { by } => {
                write!(f, "the robot cannot be assembled with these joints: the loops stay open by {by:.4e} m at best")
            }
            SolveError::NotClosed { gap_m, gap_rad } => write!(
                f,
                "the platform cannot take this pose: the closures are missed by {gap_m:.3e} m and {gap_rad:.3e} rad"
            ),
            SolveError::NotConverged { iterations, residual } => write!(
                f,
                "no posture found after {iterations} steps, residual {residual:.3e}; the pose may be out of reach or singular"
            ),
            SolveError::Singular { leg, kind } => {
                let of = leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
                let what = match *kind {
                    "type1" => "Type 1 singularity",
                    "type2" => "Type 2 singularity",
                    "lpjts" => "singularity of the passive joints (LPJTS)",
                    _ => "constraint singularity",
                };
                write!(
                    f,
                    "the posture is a {what}{of}: rates are not determined; ask `singularities` what moves freely"
                )
            }
            SolveError::UnknownMode { mode, reason } => write!(f, "`{mode}` is no working mode: {reason}"),
            SolveError::WrongCount { what, expected, found } => write!(f, "expected {expected} {what}, found {found}"),
        }
    }
}

impl std::error::Error for SolveError {}
