//! Motions of the platform over time: through samples, or from one pose to another; and what they take.
//!
//! Positions are splined as they are, the angle of a planar platform too; orientations in space as quaternions, made unit
//! where they are looked at. Angular velocity and acceleration then follow from the derivatives of the rotation matrix.

mod follow;
mod joints;
mod spline;

pub use follow::{
    Bound, DriveLimits, MOST_SAMPLES, MOST_VIOLATIONS, Passage, Profile, Refusal, Row, Violation, drive_limits, follow,
    follow_under,
};
pub use joints::{JointSample, from_joints};
pub use spline::{Jet, Samples, Spline};

use crate::description::Coordinates;
use crate::kinematics::motion::{Motion, move_in};
use crate::kinematics::{Positions, SolveError, WorkingMode};
use crate::model::Model;
use crate::scalar::{Dual2, Real};
use crate::spatial::orientation::{
    from_axis_angle, from_quaternion, from_rpy, to_axis_angle, to_quaternion, to_rpy, wrap,
};
use crate::spatial::{Accel, Mat3, Pose, Rotation, Twist, Vec3, vec3};
use std::fmt;

/// Where the platform is to be, and how it moves there, in world axes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Desired {
    /// Pose.
    pub pose: Pose<f64>,
    /// Twist.
    pub V: Twist<f64>,
    /// Acceleration.
    pub A: Accel<f64>,
}

impl Desired {
    /// Twist and acceleration in the platform's independent components.
    pub fn components(&self, model: &Model<f64>, t_r: &mut [f64], td_r: &mut [f64]) {
        let (V, a) = (self.V.to_array(), [self.A.a, self.A.alpha]);
        for (k, c) in model.topology().platform.independent.iter().enumerate() {
            t_r[k] = V[c.index()];
            td_r[k] = a[c.index() / 3][c.index() % 3];
        }
    }

    fn resting(pose: Pose<f64>) -> Self {
        Self { pose, V: Twist::zero(), A: Accel::zero() }
    }
}

/// One row of a sampled motion; twist and acceleration in the platform's independent components.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Time.
    pub t: f64,
    /// Pose.
    pub pose: Pose<f64>,
    /// Twist, given for all samples or for none.
    pub twist: Option<Vec<f64>>,
    /// Acceleration, likewise, and only beside the twist.
    pub acceleration: Option<Vec<f64>>,
}

/// Why samples are no motion.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum TrajectoryError {
    /// There are none.
    Empty,
    /// A time does not come after the one before it.
    TimesDoNotRise {
        /// The sample, counted from 0.
        sample: usize,
    },
    /// Some samples have a twist or an acceleration and others have not, or accelerations come without twists.
    Uneven {
        /// The sample, counted from 0.
        sample: usize,
    },
    /// The robot cannot be there.
    Posture {
        /// The sample, counted from 0.
        sample: usize,
        /// Why.
        why: SolveError,
    },
    /// A duration, time or step makes no sense.
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// More would take too long.
    TooMany {
        /// Instants asked for.
        asked: f64,
    },
}

impl fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there are no samples"),
            Self::TimesDoNotRise { sample } => {
                write!(f, "the time of sample {} does not come after that of the one before", sample + 1)
            }
            Self::Uneven { sample } => write!(
                f,
                "sample {}: give rates for all samples or for none, and accelerations only beside rates",
                sample + 1
            ),
            Self::Posture { sample, why } => write!(f, "sample {}: {why}", sample + 1),
            Self::NotPositive { what, value } => write!(f, "{what} is {value}; it must be positive and finite"),
            Self::TooMany { asked } => {
                write!(f, "{asked:.0} instants are asked for, {MOST_SAMPLES} are the most; take a longer step")
            }
        }
    }
}

impl std::error::Error for TrajectoryError {}

/// How the orientation is followed.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Turning {
    /// It stays.
    Still(Rotation<f64>),
    /// `Rz(phi)` times this.
    Planar(Rotation<f64>),
    /// A quaternion.
    Free,
}

/// A motion of the platform over time.
#[derive(Clone, Debug)]
pub struct Trajectory(Course);

#[derive(Clone, Debug)]
enum Course {
    Hold(Pose<f64>),
    Between { from: Pose<f64>, way: Vec3<f64>, axis: Vec3<f64>, angle: f64, duration: f64 },
    Sampled { spline: Spline, turning: Turning },
}

/// Position on the way, its rate and acceleration: `s = 10ρ³ - 15ρ⁴ + 6ρ⁵`, `ρ = t / duration`, at rest at both ends,
/// appendix D (erratum D30).
pub fn fifth_degree(t: f64, duration: f64) -> Jet {
    let r = t / duration;
    if r <= 0.0 {
        return [0.0; 3];
    }
    if r >= 1.0 {
        return [1.0, 0.0, 0.0];
    }
    [
        r.powi(3) * (10.0 + r * (6.0 * r - 15.0)),
        30.0 * (r * (1.0 - r)).powi(2) / duration,
        60.0 * r * (1.0 + r * (2.0 * r - 3.0)) / (duration * duration),
    ]
}

impl Trajectory {
    /// Rest at a pose.
    pub fn hold(pose: Pose<f64>) -> Self {
        Self(Course::Hold(pose))
    }

    /// From one pose to another on a straight line, turning about one axis, by the law of fifth degree; starts at time 0.
    pub fn between(from: Pose<f64>, to: Pose<f64>, duration: f64) -> Result<Self, TrajectoryError> {
        positive("the duration", duration)?;
        let (axis, angle) = to_axis_angle(&(to.R * from.R.inverse()));
        Ok(Self(Course::Between { from, way: to.p - from.p, axis, angle, duration }))
    }

    /// Through samples. Coordinates of the platform that follow from the closures are found in the working mode.
    pub fn sampled(model: &Model<f64>, mode: &WorkingMode, samples: &[Sample]) -> Result<Self, TrajectoryError> {
        check_rows(samples)?;
        let complete = complete(model, mode, samples)?;
        let turning = turning(model, &complete[0].pose);
        let times = samples.iter().map(|s| s.t).collect();
        let mut rows: Vec<Vec<Jet>> = complete.iter().map(|d| jets_of(d, turning)).collect();
        continuous(&mut rows, turning);
        let width = rows[0].len();
        let column = |k: usize, order: usize| rows.iter().map(|row| row[k][order]).collect::<Vec<f64>>();
        let columns: Vec<[Vec<f64>; 3]> = (0..width).map(|k| [0, 1, 2].map(|order| column(k, order))).collect();
        let given = (samples[0].twist.is_some(), samples[0].acceleration.is_some());
        let coordinates: Vec<Samples<'_>> = columns
            .iter()
            .map(|[values, rates, accelerations]| Samples {
                values,
                rates: given.0.then_some(rates),
                accelerations: given.1.then_some(accelerations),
            })
            .collect();
        Ok(Self(Course::Sampled { spline: Spline::through(times, &coordinates), turning }))
    }

    /// First and last time; the same when the platform rests.
    pub fn span(&self) -> [f64; 2] {
        match &self.0 {
            Course::Hold(_) => [0.0, 0.0],
            Course::Between { duration, .. } => [0.0, *duration],
            Course::Sampled { spline, .. } => spline.span(),
        }
    }

    /// Whether it goes through samples.
    pub fn is_sampled(&self) -> bool {
        matches!(self.0, Course::Sampled { .. })
    }

    /// Times of the samples, or the two ends.
    pub fn times(&self) -> Vec<f64> {
        match &self.0 {
            Course::Sampled { spline, .. } => spline.times().to_vec(),
            _ => self.span().to_vec(),
        }
    }

    /// Where the platform is to be at a time. It rests before the start and after the end.
    pub fn at(&self, t: f64) -> Desired {
        match &self.0 {
            Course::Hold(pose) => Desired::resting(*pose),
            Course::Between { from, way, axis, angle, duration } => {
                let [s, ds, dds] = fifth_degree(t, *duration);
                Desired {
                    pose: Pose { R: from_axis_angle(*axis, s * angle) * from.R, p: from.p + way * s },
                    V: Twist { v: way * ds, w: axis * (ds * angle) },
                    A: Accel { a: way * dds, alpha: axis * (dds * angle) },
                }
            }
            Course::Sampled { spline, turning } => {
                let mut jets = [[0.0; 3]; 7];
                spline.at(t, &mut jets);
                desired(&jets, *turning)
            }
        }
    }
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<(), TrajectoryError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(TrajectoryError::NotPositive { what, value }) }
}

fn check_rows(samples: &[Sample]) -> Result<(), TrajectoryError> {
    let first = samples.first().ok_or(TrajectoryError::Empty)?;
    let given = |s: &Sample| (s.twist.is_some(), s.acceleration.is_some());
    for (i, sample) in samples.iter().enumerate() {
        if !sample.t.is_finite() || i > 0 && !(sample.t > samples[i - 1].t) {
            return Err(TrajectoryError::TimesDoNotRise { sample: i });
        }
        if given(sample) != given(first) || given(sample) == (false, true) {
            return Err(TrajectoryError::Uneven { sample: i });
        }
    }
    Ok(())
}

/// Poses, twists and accelerations with the coordinates that follow from the closures.
fn complete(model: &Model<f64>, mode: &WorkingMode, samples: &[Sample]) -> Result<Vec<Desired>, TrajectoryError> {
    let platform = &model.topology().platform;
    let free = model.without_ranges();
    let (mut pos, mut motion) = (Positions::new(&free).going_on(), Motion::new(&free));
    let rest = vec![0.0; platform.independent.len()];
    let spread = |list: &[f64]| {
        let mut all = [0.0; 6];
        platform.independent.iter().zip(list).for_each(|(c, x)| all[c.index()] = *x);
        (vec3(all[0], all[1], all[2]), vec3(all[3], all[4], all[5]))
    };
    let one = |(i, sample): (usize, &Sample)| {
        let (t_r, td_r) = (sample.twist.as_ref().unwrap_or(&rest), sample.acceleration.as_ref().unwrap_or(&rest));
        if platform.dependent.is_empty() {
            let ((v, w), (a, alpha)) = (spread(t_r), spread(td_r));
            return Ok(Desired { pose: sample.pose, V: Twist { v, w }, A: Accel { a, alpha } });
        }
        move_in(&free, &sample.pose, mode, t_r, td_r, &mut pos, &mut motion)
            .map_err(|why| TrajectoryError::Posture { sample: i, why })?;
        Ok(Desired { pose: pos.X_WE, V: motion.V_WE, A: motion.A_WE })
    };
    samples.iter().enumerate().map(one).collect()
}

fn turning(model: &Model<f64>, first: &Pose<f64>) -> Turning {
    let platform = &model.topology().platform;
    match platform.coordinates {
        Coordinates::Spatial | Coordinates::Some(_) => Turning::Free,
        Coordinates::Planar => {
            let [roll, pitch, _] = to_rpy(&model.numbers().home_pose.R);
            Turning::Planar(from_rpy(roll, pitch, 0.0))
        }
        Coordinates::Translation | Coordinates::Point(_) => Turning::Still(first.R),
    }
}

/// Coordinates of a sample with their rates and accelerations: x, y, z, then nothing, the planar angle, or a quaternion.
fn jets_of(d: &Desired, turning: Turning) -> Vec<Jet> {
    let mut jets: Vec<Jet> = (0..3).map(|k| [d.pose.p[k], d.V.v[k], d.A.a[k]]).collect();
    match turning {
        Turning::Still(_) => {}
        Turning::Planar(tilt) => {
            let R = d.pose.R * tilt.inverse();
            jets.push([R.0[(1, 0)].atan2(R.0[(0, 0)]), d.V.w.z, d.A.alpha.z]);
        }
        Turning::Free => {
            // q̇ = ½ ω q, q̈ = ½ (ω̇ q + ω q̇)
            let q = to_quaternion(&d.pose.R);
            let rate = turned(d.V.w, q).map(|x| 0.5 * x);
            let (a, b) = (turned(d.A.alpha, q), turned(d.V.w, rate));
            jets.extend((0..4).map(|k| [q[k], rate[k], 0.5 * (a[k] + b[k])]));
        }
    }
    jets
}

/// The product of the quaternions (0, w) and q.
fn turned(w: Vec3<f64>, [s, x, y, z]: [f64; 4]) -> [f64; 4] {
    let v = vec3(x, y, z);
    let u = w * s + w.cross(&v);
    [-w.dot(&v), u.x, u.y, u.z]
}

/// Angles without jumps of whole turns, quaternions without changes of sign.
fn continuous(rows: &mut [Vec<Jet>], turning: Turning) {
    for i in 1..rows.len() {
        let (before, now) = rows.split_at_mut(i);
        let (before, now) = (&before[i - 1], &mut now[0]);
        match turning {
            Turning::Still(_) => {}
            Turning::Planar(_) => now[3][0] = before[3][0] + wrap(now[3][0] - before[3][0]),
            Turning::Free => {
                if (3..7).map(|k| before[k][0] * now[k][0]).sum::<f64>() < 0.0 {
                    now[3..7].iter_mut().flatten().for_each(|x| *x = -*x);
                }
            }
        }
    }
}

fn desired(jets: &[Jet; 7], turning: Turning) -> Desired {
    let part = |order: usize| vec3(jets[0][order], jets[1][order], jets[2][order]);
    let dual = |k: usize| Dual2::new(jets[k][0], jets[k][1], jets[k][2]);
    let R = match turning {
        Turning::Still(R) => {
            let (pose, still) = (Pose { R, p: part(0) }, Vec3::zeros());
            return Desired { pose, V: Twist { v: part(1), w: still }, A: Accel { a: part(2), alpha: still } };
        }
        Turning::Planar(tilt) => from_rpy(Dual2::lit(0.0), Dual2::lit(0.0), dual(3)) * tilt.map(&mut Dual2::lit),
        Turning::Free => {
            let q = [3, 4, 5, 6].map(dual);
            let n = q.iter().fold(Dual2::lit(0.0), |sum, x| sum + *x * *x).sqrt();
            from_quaternion(q.map(|x| x / n))
        }
    };
    let (w, alpha) = angular(&R);
    let pose = Pose { R: Rotation(R.0.map(|x| x.re)), p: part(0) };
    Desired { pose, V: Twist { v: part(1), w }, A: Accel { a: part(2), alpha } }
}

/// `ω̂ = Ṙ Rᵀ`, and `ω̇` from the skew part of `R̈ Rᵀ = ω̇^ + ω̂ ω̂`.
fn angular(R: &Rotation<Dual2>) -> (Vec3<f64>, Vec3<f64>) {
    let (R0, R1, R2) = (R.0.map(|x| x.re), R.0.map(|x| x.v1), R.0.map(|x| x.v2));
    let axial = |m: Mat3<f64>| 0.5 * vec3(m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)]);
    (axial(R1 * R0.transpose()), axial(R2 * R0.transpose()))
}

/// Angular velocity and acceleration from roll, pitch, yaw, their rates and accelerations.
pub fn from_rpy_rates(rpy: [Jet; 3]) -> (Vec3<f64>, Vec3<f64>) {
    let [roll, pitch, yaw] = rpy.map(|[x, v, a]| Dual2::new(x, v, a));
    angular(&from_rpy(roll, pitch, yaw))
}

/// How far a pose is from a desired one: along the axes of the world, then the rotation vector.
pub fn pose_error(desired: &Pose<f64>, pose: &Pose<f64>) -> Twist<f64> {
    let (axis, angle) = to_axis_angle(&(desired.R * pose.R.inverse()));
    Twist { v: desired.p - pose.p, w: axis * angle }
}
