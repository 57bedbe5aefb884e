//! Motions of the platform over time: through samples, or from one pose to another; and what they take.
//!
//! Positions are splined as they are, the angle of a planar platform too; orientations in space as quaternions, made unit
//! where they are looked at. Angular velocity and acceleration then follow from the derivatives of the rotation matrix.

mod chart;
mod follow;
mod joints;
mod law;
mod own;
mod polynomial;
mod spline;
mod walk;

pub use chart::from_rpy_rates;
pub use follow::{
    Bound, DriveLimits, KnownEfforts, Look, MOST_INSTANTS, MOST_SAMPLES, MOST_VIOLATIONS, Passage, Profile, Refusal,
    Row, Violation, drive_limits, follow, follow_under, follow_with, rows_in_table,
};
pub use joints::{JointSample, by_joints, from_joints};
pub use law::TimeLaw;
pub use own::OwnMotion;
pub use polynomial::{Condition, Jerky, Piecewise, Polynomial};
pub use spline::{Jet, Samples, Spline};
pub(crate) use walk::highest;

use crate::kinematics::motion::{Motion, move_in};
use crate::kinematics::{Positions, SolveError, WorkingMode};
use crate::model::Model;
use crate::spatial::orientation::{from_axis_angle, to_axis_angle};
use crate::spatial::{Accel, Pose, Twist, Vec3, vec3};
use chart::{Turning, continuous, desired, jets_of, turning};
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
    /// Conditions that no polynomial meets.
    Contradiction,
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
            Self::Contradiction => f.write_str(
                "no polynomial meets these poses, rates and accelerations; take times that lie further apart",
            ),
            Self::TooMany { asked } => {
                write!(f, "{asked:.0} instants are asked for, {MOST_SAMPLES} are the most; take a longer step")
            }
        }
    }
}

impl std::error::Error for TrajectoryError {}

/// A motion of the platform over time.
#[derive(Clone, Debug)]
pub struct Trajectory(Course);

#[derive(Clone, Debug)]
enum Course {
    Hold(Pose<f64>),
    /// A straight line and a turn about one axis; the law tells the share of the way.
    Line {
        from: Pose<f64>,
        way: Vec3<f64>,
        axis: Vec3<f64>,
        angle: f64,
        law: Piecewise,
    },
    Sampled {
        spline: Spline,
        turning: Turning,
    },
    /// A curve for each coordinate of the chart.
    Curves {
        curves: Vec<Piecewise>,
        turning: Turning,
    },
    /// One after the other.
    Chain(Vec<Trajectory>),
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
        Self::by_law(TimeLaw::Poly5, from, to, [0.0, duration])
    }

    /// From one pose to another on a straight line, turning about one axis, from a time to a time by a law.
    pub fn by_law(
        law: TimeLaw,
        from: Pose<f64>,
        to: Pose<f64>,
        [start, end]: [f64; 2],
    ) -> Result<Self, TrajectoryError> {
        positive("the duration", end - start)?;
        let (axis, angle) = to_axis_angle(&(to.R * from.R.inverse()));
        let law = law.over(start, end - start);
        Ok(Self(Course::Line { from, way: to.p - from.p, axis, angle, law }))
    }

    /// From pose to pose, resting at each, by a law.
    pub fn stopping(law: TimeLaw, stops: &[(f64, Pose<f64>)]) -> Result<Self, TrajectoryError> {
        let mut legs = Vec::new();
        for (i, pair) in stops.windows(2).enumerate() {
            let ([(start, from), (end, to)], sample) = ([pair[0], pair[1]], i + 1);
            let leg = Self::by_law(law, from, to, [start, end]);
            legs.push(leg.map_err(|_| TrajectoryError::TimesDoNotRise { sample })?);
        }
        if legs.is_empty() { Err(TrajectoryError::Empty) } else { Ok(Self(Course::Chain(legs))) }
    }

    /// Through poses at times without stopping, from rest to rest, with four continuous derivatives.
    #[doc(hidden)]
    pub fn passing(
        model: &Model<f64>,
        mode: &WorkingMode,
        stops: &[(f64, Pose<f64>)],
    ) -> Result<Self, TrajectoryError> {
        let plain = |(t, pose): &(f64, Pose<f64>)| Sample { t: *t, pose: *pose, twist: None, acceleration: None };
        let samples: Vec<Sample> = stops.iter().map(plain).collect();
        check_rows(&samples)?;
        let (rows, turning) = charted(model, mode, &samples)?;
        let values: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|jet| jet[0]).collect()).collect();
        let times = samples.iter().map(|s| s.t).collect();
        Ok(Self(Course::Sampled { spline: Spline::from_rest_to_rest(times, &values), turning }))
    }

    /// One polynomial per coordinate that meets poses, and twists and accelerations where they are given, at rising times;
    /// three conditions at each of three times give the eighth degree.
    #[doc(hidden)]
    pub fn polynomial(model: &Model<f64>, mode: &WorkingMode, samples: &[Sample]) -> Result<Self, TrajectoryError> {
        rising(samples)?;
        let (rows, turning) = charted(model, mode, samples)?;
        let curve = |k: usize| {
            let conditions = samples.iter().zip(&rows).flat_map(|(sample, row)| {
                let given = [true, sample.twist.is_some(), sample.acceleration.is_some()];
                Condition::jet(sample.t, row[k]).into_iter().filter(move |c| given[c.order])
            });
            let polynomial = Polynomial::through(&conditions.collect::<Vec<_>>())?;
            Piecewise::new(vec![(samples[0].t, polynomial)], samples[samples.len() - 1].t)
        };
        let curves: Option<Vec<Piecewise>> = (0..rows[0].len()).map(curve).collect();
        Ok(Self(Course::Curves { curves: curves.ok_or(TrajectoryError::Contradiction)?, turning }))
    }

    /// Through samples. Coordinates of the platform that follow from the closures are found in the working mode.
    pub fn sampled(model: &Model<f64>, mode: &WorkingMode, samples: &[Sample]) -> Result<Self, TrajectoryError> {
        check_rows(samples)?;
        let times = samples.iter().map(|s| s.t).collect();
        let (rows, turning) = charted(model, mode, samples)?;
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
            Course::Line { law, .. } => law.span(),
            Course::Sampled { spline, .. } => spline.span(),
            Course::Curves { curves, .. } => curves[0].span(),
            Course::Chain(list) => [list[0].span()[0], list[list.len() - 1].span()[1]],
        }
    }

    /// Whether it goes through samples.
    #[doc(hidden)]
    pub fn is_sampled(&self) -> bool {
        matches!(self.0, Course::Sampled { .. })
    }

    /// Times of the samples, or the two ends.
    #[doc(hidden)]
    pub fn times(&self) -> Vec<f64> {
        match &self.0 {
            Course::Sampled { spline, .. } => spline.times().to_vec(),
            _ => self.span().to_vec(),
        }
    }

    /// Names of the coordinates and their polynomials, where each coordinate is one polynomial.
    #[doc(hidden)]
    pub fn polynomials(&self) -> Vec<(&'static str, Polynomial)> {
        let Course::Curves { curves, turning } = &self.0 else { return Vec::new() };
        let own = turning.names().iter().zip(curves).filter(|(_, curve)| curve.pieces().len() == 1);
        own.map(|(name, curve)| (*name, curve.pieces()[0].1.clone())).collect()
    }

    /// The way run through in another time: where it was at `t` it is at `factor · t`.
    #[doc(hidden)]
    pub fn slowed(&self, factor: f64) -> Self {
        Self(match &self.0 {
            Course::Hold(pose) => Course::Hold(*pose),
            Course::Line { from, way, axis, angle, law } => {
                Course::Line { from: *from, way: *way, axis: *axis, angle: *angle, law: law.slowed(factor) }
            }
            Course::Sampled { spline, turning } => Course::Sampled { spline: spline.slowed(factor), turning: *turning },
            Course::Curves { curves, turning } => {
                Course::Curves { curves: curves.iter().map(|c| c.slowed(factor)).collect(), turning: *turning }
            }
            Course::Chain(list) => Course::Chain(list.iter().map(|leg| leg.slowed(factor)).collect()),
        })
    }

    /// The leg of a chain that holds at a time.
    fn leg_at(list: &[Trajectory], t: f64) -> &Trajectory {
        let next = list.partition_point(|leg| leg.span()[0] <= t);
        &list[next.saturating_sub(1)]
    }

    /// How the acceleration changes at a time: third derivative of the position, second of the angular velocity.
    #[doc(hidden)]
    pub fn jerk(&self, t: f64) -> Accel<f64> {
        let mut jets = [[0.0; 4]; 7];
        match &self.0 {
            Course::Hold(_) => Accel::zero(),
            Course::Line { way, axis, angle, law, .. } => {
                let [_, _, _, j] = law.at(t);
                Accel { a: way * j, alpha: axis * (j * angle) }
            }
            Course::Sampled { spline, turning } => {
                spline.jerk_at(t, &mut jets);
                chart::jerk(&jets, *turning)
            }
            Course::Curves { curves, turning } => {
                jets.iter_mut().zip(curves).for_each(|(jet, curve)| *jet = curve.at(t));
                chart::jerk(&jets, *turning)
            }
            Course::Chain(list) => Self::leg_at(list, t).jerk(t),
        }
    }

    /// Where the platform is to be at a time. It rests before the start and after the end.
    pub fn at(&self, t: f64) -> Desired {
        match &self.0 {
            Course::Hold(pose) => Desired::resting(*pose),
            Course::Line { from, way, axis, angle, law } => {
                let [s, ds, dds, _] = law.at(t);
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
            Course::Curves { curves, turning } => {
                let mut jets = [[0.0; 3]; 7];
                for (jet, curve) in jets.iter_mut().zip(curves) {
                    let [x, v, a, _] = curve.at(t);
                    *jet = [x, v, a];
                }
                desired(&jets, *turning)
            }
            Course::Chain(list) => Self::leg_at(list, t).at(t),
        }
    }
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<(), TrajectoryError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(TrajectoryError::NotPositive { what, value }) }
}

/// Samples in the coordinates of the chart, without jumps.
fn charted(
    model: &Model<f64>,
    mode: &WorkingMode,
    samples: &[Sample],
) -> Result<(Vec<Vec<Jet>>, Turning), TrajectoryError> {
    let complete = complete(model, mode, samples)?;
    let turning = turning(model, &complete[0].pose);
    let mut rows: Vec<Vec<Jet>> = complete.iter().map(|d| jets_of(d, turning)).collect();
    continuous(&mut rows, turning);
    Ok((rows, turning))
}

fn rising(samples: &[Sample]) -> Result<(), TrajectoryError> {
    let bad = |i: &usize| !samples[*i].t.is_finite() || *i > 0 && !(samples[*i].t > samples[i - 1].t);
    match (0..samples.len()).find(bad) {
        Some(sample) => Err(TrajectoryError::TimesDoNotRise { sample }),
        None if samples.len() < 2 => Err(TrajectoryError::Empty),
        None => Ok(()),
    }
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

/// How far a pose is from a desired one: along the axes of the world, then the rotation vector.
pub fn pose_error(desired: &Pose<f64>, pose: &Pose<f64>) -> Twist<f64> {
    let (axis, angle) = to_axis_angle(&(desired.R * pose.R.inverse()));
    Twist { v: desired.p - pose.p, w: axis * angle }
}
