//! What a motion takes: efforts of the drives along it, and where it leaves the limits of the robot.

use super::walk::Walk;
use super::{Trajectory, TrajectoryError, positive};
use crate::kinematics::{SolveError, WorkingMode};
use crate::model::{CoordId, Model};
use crate::spatial::Wrench;

/// Most instants that are kept in a table.
pub const MOST_SAMPLES: usize = 1_000_000;

/// Most instants that are looked at one after the other.
pub const MOST_INSTANTS: f64 = 1e10;

/// Most violations and refusals that are kept, each; the others are counted.
pub const MOST_VIOLATIONS: usize = 1000;

/// What a drive can give; nothing where the file does not say.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DriveLimits {
    /// Largest effort.
    pub effort: Option<f64>,
    /// Largest speed.
    pub speed: Option<f64>,
}

/// Limits of the drives, in the order of the active coordinates.
pub fn drive_limits(model: &Model<f64>) -> Vec<DriveLimits> {
    let (t, d) = (model.topology(), model.description());
    let values = d.definitions.values(&model.numbers().parameters);
    let limit = |c: &CoordId| {
        let drive = d.bodies[t.bodies[t.coords[*c].body].row.0].drive.as_ref();
        drive.map_or_else(DriveLimits::default, |drive| DriveLimits {
            effort: drive.effort.as_ref().map(|f| f.eval(&values)),
            speed: drive.speed.as_ref().map(|f| f.eval(&values)),
        })
    };
    t.active.iter().map(limit).collect()
}

/// Which limit is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Bound {
    Range,
    Speed,
    Effort,
}

impl Bound {
    /// A short name that programs can rely on.
    pub fn word(self) -> &'static str {
        match self {
            Bound::Range => "range",
            Bound::Speed => "speed",
            Bound::Effort => "effort",
        }
    }
}

/// A joint or drive beyond its limit for some time.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Violation {
    /// The joint.
    pub joint: String,
    /// Which limit.
    pub bound: Bound,
    /// When it is left.
    pub from: f64,
    /// When it is met again, or the end.
    pub to: f64,
    /// When it is left the most, found between the instants too.
    pub at: f64,
    /// Coordinate, rate or effort (friction included) there.
    pub value: f64,
    /// The limit.
    pub limit: f64,
}

/// A time in which the question has no answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// From.
    pub from: f64,
    /// To.
    pub to: f64,
    /// Why, at its first instant.
    pub why: SolveError,
}

/// One instant of a motion.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Row {
    /// Time.
    pub t: f64,
    /// Active coordinates.
    pub q: Vec<f64>,
    /// Their rates.
    pub qd: Vec<f64>,
    /// Their accelerations.
    pub qdd: Vec<f64>,
    /// Efforts without friction.
    pub efforts: Vec<f64>,
    /// Efforts with friction.
    pub with_friction: Vec<f64>,
}

/// Extremes of one drive.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Passage {
    /// Largest effort, friction included, by absolute value, with its sign.
    pub peak: f64,
    /// When.
    pub at: f64,
    /// Root mean square of the effort over time, friction included.
    pub rms: f64,
    /// Largest speed.
    pub speed: f64,
}

/// Efforts at an instant at which the drives do not hold the platform, but along the motion have a limit.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownEfforts {
    /// When.
    pub t: f64,
    /// Efforts without friction.
    pub efforts: Vec<f64>,
    /// Efforts with friction.
    pub with_friction: Vec<f64>,
}

/// How closely a motion is looked at.
#[derive(Clone, Debug)]
pub struct Look<'a> {
    /// One row every so many seconds and at the end; `None`: at the samples, or a thousand of a motion without samples.
    pub step: Option<f64>,
    /// A wrench from outside on the platform, at its origin, in world axes.
    pub load: Wrench<f64>,
    /// Rising times to look at besides, without a row: beside singularities, for example.
    pub also: &'a [f64],
    /// Efforts at singularities that the motion crosses, which no posture there has by itself.
    pub known: &'a [KnownEfforts],
    /// Look between the rows, so that peaks and limits that are left in between are found.
    pub between: bool,
}

impl Default for Look<'_> {
    fn default() -> Self {
        Self { step: None, load: Wrench::zero(), also: &[], known: &[], between: true }
    }
}

/// What a motion takes.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Instants that have an answer.
    pub rows: Vec<Row>,
    /// Per drive.
    pub drives: Vec<Passage>,
    /// Limits that are left, in the order in which that begins.
    pub violations: Vec<Violation>,
    /// Violations that are not in the list.
    pub more_violations: usize,
    /// Times without an answer.
    pub refusals: Vec<Refusal>,
    /// Refusals that are not in the list.
    pub more_refusals: usize,
}

/// Efforts along a motion and every limit that it leaves: at its samples, or every `step`, and in between. Joint ranges do
/// not stop it.
pub fn follow(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    step: Option<f64>,
) -> Result<Profile, TrajectoryError> {
    follow_under(model, mode, trajectory, &Look { step, ..Look::default() })
}

/// What [`follow`] tells, looked at as asked; all rows are kept.
pub fn follow_under(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    look: &Look<'_>,
) -> Result<Profile, TrajectoryError> {
    let mut rows = Vec::with_capacity(rows_in_table(trajectory, look.step)?);
    let profile = follow_with(model, mode, trajectory, look, &mut |row| rows.push(row.clone()))?;
    Ok(Profile { rows, ..profile })
}

/// How many rows a motion has, at its samples or every `step`; refused where they are too many for a table.
pub fn rows_in_table(trajectory: &Trajectory, step: Option<f64>) -> Result<usize, TrajectoryError> {
    let count = instants(trajectory, step)?.count;
    if count > MOST_SAMPLES + 1 { Err(TrajectoryError::TooMany { asked: count as f64 }) } else { Ok(count) }
}

/// What [`follow`] tells; `each` hears of the rows one after the other, and none is kept.
pub fn follow_with(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    look: &Look<'_>,
    each: &mut dyn FnMut(&Row),
) -> Result<Profile, TrajectoryError> {
    let times = instants(trajectory, look.step)?;
    let mut walk = Walk::new(model, mode, trajectory, look, each);
    let parts = if look.between { parts(trajectory, times.count) } else { 1 };
    let mut also = look.also.iter().copied().peekable();
    let mut last = None;
    for t in times {
        if let Some(last) = last {
            for k in 1..parts {
                let s = last + (t - last) * f64::from(k) / f64::from(parts);
                while let Some(extra) = also.next_if(|x| *x <= s) {
                    walk.push(extra, false);
                }
                walk.push(s, false);
            }
        }
        while let Some(extra) = also.next_if(|x| *x < t) {
            walk.push(extra, false);
        }
        walk.push(t, true);
        last = Some(t);
    }
    Ok(walk.end())
}

/// How many parts each interval is looked at in: some thousands along the motion, four where a spline may bend between
/// samples, fewer along very long files.
fn parts(trajectory: &Trajectory, count: usize) -> u32 {
    let few = 2000 / count.max(1);
    let least = match (trajectory.is_sampled(), count) {
        (true, 0..100_000) => 4,
        (true, _) => 2,
        (false, _) => 1,
    };
    u32::try_from(few.clamp(least, 64)).unwrap_or(1)
}

/// The instants of the rows, one after the other.
struct Instants {
    /// The samples; of a motion without samples or with a step, nothing.
    samples: Vec<f64>,
    start: f64,
    step: f64,
    end: f64,
    next: usize,
    count: usize,
}

impl Iterator for Instants {
    type Item = f64;
    fn next(&mut self) -> Option<f64> {
        let k = self.next;
        self.next += 1;
        if k >= self.count {
            return None;
        }
        let regular = if k + 1 == self.count { self.end } else { self.start + k as f64 * self.step };
        Some(self.samples.get(k).copied().unwrap_or(regular))
    }
}

/// The samples, a thousand instants of a motion without samples, or one every `step` and the end.
fn instants(trajectory: &Trajectory, step: Option<f64>) -> Result<Instants, TrajectoryError> {
    let [start, end] = trajectory.span();
    let Some(step) = step.or((!trajectory.is_sampled() && end > start).then(|| (end - start) / 1000.0)) else {
        let samples = trajectory.times();
        return Ok(Instants { count: samples.len(), samples, start, step: 0.0, end, next: 0 });
    };
    positive("the step", step)?;
    let asked = (end - start) / step;
    if !(asked < MOST_INSTANTS) {
        return Err(TrajectoryError::TooMany { asked });
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and the most
    let whole = (asked - 1e-9).floor().max(0.0) as usize;
    Ok(Instants { samples: Vec::new(), start, step, end, next: 0, count: whole + 2 })
}
