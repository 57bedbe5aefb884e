//! Questions that have no answer at a posture: physics, not bugs. Never NaN.

use super::kind::Kind;
use crate::description::Coordinate;
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
        /// Which singularity.
        kind: Kind,
    },
    /// No efforts of the drives hold the platform (Type 2).
    Uncontrolled {
        /// The twist of the platform, in world axes, that no drive resists; largest component one.
        motion: [f64; 6],
        /// Drives that it feels, and freedoms that it has: with fewer drives every posture is singular.
        count: [usize; 2],
    },
    /// Drives would have to give more than they can.
    BeyondEffort {
        /// Which, by their place among the active joints; those of the shortest list that are beyond.
        drives: Vec<usize>,
    },
    /// The question needs as many drives as freedoms.
    Redundant,
    /// Not answered for robots whose pose leaves joints open.
    OpenJoints,
    /// The robot does not stand in the working mode asked for.
    NotInMode {
        /// The mode.
        mode: String,
        /// The modes it can stand in.
        others: Vec<String>,
    },
    /// A branch that cannot be named by closed forms ends on the way to the pose.
    CutOff {
        /// The leg, when one is to blame.
        leg: Option<String>,
        /// Where on the way, from 0 at the posture that the branch is led from to 1 at the pose.
        along: f64,
        /// The platform there: its independent coordinates.
        at: Vec<(Coordinate, f64)>,
    },
    /// With its motors held the platform still moves.
    SelfMotion,
    /// No values were found for the platform coordinates that follow.
    NotFollowing,
    /// Platform coordinates that should follow take any value at this pose.
    OpenFollowing {
        /// Which.
        coordinates: Vec<Coordinate>,
    },
    /// The bodies have no mass that resists some motion: accelerations are not determined.
    NoInertia {
        /// The twist of the platform, in world axes, that nothing resists; largest component one. `None` where joints that the
        /// pose leaves open are part of it.
        motion: Option<[f64; 6]>,
    },
    /// A singularity is so close that the platform hardly moves along some twist: what its joints would do outweighs everything
    /// else by more digits than there are.
    HardlyMoves {
        /// The twist of the platform, in world axes; largest component one.
        motion: Option<[f64; 6]>,
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

/// A number as large as this is of no robot, and infinite in another unit.
pub(crate) const BEYOND: f64 = 1e300;

impl SolveError {
    /// A motion, efforts or loads with a number that is not finite, or too large for the answer to be.
    pub fn not_finite() -> Self {
        let reason = "the answer is not finite: a number of the motion, the efforts, the loads or the payload is beyond any \
                      robot; check the units";
        SolveError::NotAPose { reason: reason.to_owned() }
    }

    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            SolveError::OutOfReach { .. } => "out-of-reach",
            SolveError::AtLimit { .. } => "type1",
            SolveError::OutOfRange { .. } => "out-of-range",
            SolveError::NotAPose { .. } => "not-a-pose",
            SolveError::NoAssembly { .. } => "no-assembly",
            SolveError::NotClosed { .. } => "not-closed",
            SolveError::NotConverged { .. } | SolveError::NotFollowing => "not-converged",
            SolveError::OpenFollowing { .. } => "not-determined",
            SolveError::Singular { kind, .. } => kind.word(),
            SolveError::NotInMode { .. } => "not-in-mode",
            SolveError::CutOff { .. } => "cut-off",
            SolveError::SelfMotion | SolveError::Uncontrolled { .. } => "type2",
            SolveError::BeyondEffort { .. } => "beyond-effort",
            SolveError::Redundant => "redundant",
            SolveError::OpenJoints => "open-joints",
            SolveError::NoInertia { .. } => "no-inertia",
            SolveError::HardlyMoves { .. } => "near-singular",
            SolveError::UnknownMode { .. } => "unknown-mode",
            SolveError::WrongCount { .. } => "wrong-count",
        }
    }

    /// Whether the question itself was wrong, so that no posture would have an answer.
    pub fn is_misuse(&self) -> bool {
        matches!(self, SolveError::UnknownMode { .. } | SolveError::WrongCount { .. } | SolveError::NotAPose { .. })
    }
}

fn in_words([x, y, z, wx, wy, wz]: &[f64; 6]) -> String {
    format!("v = ({x:.4}, {y:.4}, {z:.4}) and w = ({wx:.4}, {wy:.4}, {wz:.4})")
}

fn no_inertia(motion: Option<&[f64; 6]>) -> String {
    let Some(motion) = motion else {
        return "nothing resists some motion of the robot; give its bodies their masses and inertias".to_owned();
    };
    format!(
        "no inertia resists the platform moving with {}, so that its acceleration is not determined; give the platform or its legs the \
         mass or inertia that is missing",
        in_words(motion)
    )
}

fn open_following(coordinates: &[Coordinate]) -> String {
    let word = |c: &Coordinate| ["x", "y", "z", "roll", "pitch", "yaw"][c.index()];
    let names: Vec<&str> = coordinates.iter().map(word).collect();
    format!(
        "{} should follow from the other coordinates, but takes any value at this pose: the loops stay closed while it changes; \
         ask for a pose beside it, or list other coordinates in [platform]",
        names.join(", ")
    )
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
                    "leg {leg} is at a limit: stretched, folded or with a joint that turns freely, so that working modes \
                     meet (Type 1 singularity); move the platform a little"
                )
            }
            SolveError::OutOfRange { joint, value, range: [low, high] } => {
                write!(f, "joint {joint} would be at {value:.6}, outside its range [{low:.6}, {high:.6}]")
            }
            SolveError::NotAPose { reason } => f.write_str(reason),
            SolveError::NoAssembly { by } => {
                write!(
                    f,
                    "the robot cannot be assembled with these joints: the loops stay open by {by:.4e} m at best; \
                     bring the joints nearer to those of a posture that closes, such as home"
                )
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
                write!(
                    f,
                    "the posture is a {} singularity{of}: what is asked is not determined there; `singularities` tells what \
                     moves freely",
                    kind.title()
                )
            }
            SolveError::Uncontrolled { motion, count } => f.write_str(&uncontrolled(motion, *count)),
            SolveError::BeyondEffort { drives } => {
                let list: Vec<String> = drives.iter().map(|k| (k + 1).to_string()).collect();
                write!(
                    f,
                    "no efforts within the limits give this motion; without limits drive {} would be beyond: move slower, \
                     or widen the limits",
                    list.join(", ")
                )
            }
            SolveError::Redundant => f.write_str(
                "the robot has more drives than freedoms, so that active joints do not move independently; ask for the model \
                 on the platform's components",
            ),
            SolveError::OpenJoints => f.write_str(
                "the pose leaves joints open, and matrices and derivatives of the accelerations are for robots whose pose gives every \
                 joint; ask for the accelerations alone, or take the derivatives of the efforts (`idm --derivatives`)",
            ),
            SolveError::NotInMode { mode, others } => {
                write!(f, "no posture in working mode {mode}; those that exist here: {}", others.join(" "))
            }
            SolveError::CutOff { leg, along, at } => {
                let of = leg.as_ref().map_or_else(|| "the robot".to_owned(), |l| format!("leg {l}"));
                let names = ["x", "y", "z", "roll", "pitch", "yaw"];
                let place: Vec<String> = at.iter().map(|(c, x)| format!("{}={x:.6}", names[c.index()])).collect();
                write!(
                    f,
                    "the branch that {of} stands on does not lead to this pose on a straight way: it ends at a singularity at {} \
                     ({:.1} % of the way); ask for a trajectory that goes around it, or give joints of a posture on another \
                     branch as the mode, such as `q11=0.3,q12=-1.2` (`kinematics` lists them)",
                    place.join(" "),
                    100.0 * along
                )
            }
            SolveError::NotFollowing => f.write_str(
                "no posture found: no values of the platform coordinates that follow close the loops; \
                 the pose may be out of reach",
            ),
            SolveError::OpenFollowing { coordinates } => f.write_str(&open_following(coordinates)),
            SolveError::SelfMotion => f.write_str(
                "with these joints held the platform still moves: its places are a continuum, not assembly modes",
            ),
            SolveError::NoInertia { motion } => f.write_str(&no_inertia(motion.as_ref())),
            SolveError::HardlyMoves { motion } => write!(
                f,
                "a singularity is so close that joints run away while the platform moves with {}: its acceleration under efforts has \
                 no digits left; ask farther from it (`singularities` names it)",
                in_words(&motion.unwrap_or_default())
            ),
            SolveError::UnknownMode { mode, reason } => write!(f, "`{mode}` is no working mode: {reason}"),
            SolveError::WrongCount { what, expected, found } => write!(f, "expected {expected} {what}, found {found}"),
        }
    }
}

/// A motion of the platform that no drive resists.
fn uncontrolled(motion: &[f64; 6], [drives, freedoms]: [usize; 2]) -> String {
    let motion = in_words(motion);
    if drives < freedoms {
        return format!(
            "{drives} drives for {freedoms} freedoms: at every posture (Type 2 singularity) the platform has a motion that no effort \
             resists, here with {motion}; drive another joint, or name other drives with --actuation"
        );
    }
    format!(
        "the posture is a Type 2 singularity: no efforts of the drives resist the platform moving with {motion}; `singularities` tells \
         how far away the next regular posture is"
    )
}

impl std::error::Error for SolveError {}
