//! What a motion takes and meets: efforts, limits and singularities along a trajectory.

use super::Error;
use super::posed::DriveMotion;
use crate::Robot;
use crate::crossing::{Crossing, Inspection, inspect_all};
use crate::description::{Concern, LeftOut};
use crate::kinematics::WorkingMode;
use crate::spatial::Wrench;
use crate::trajectory::{Look, Passage, Refusal, Row, Trajectory, Violation};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// A question about a motion; [`Robot::along`] begins it, [`Along::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Along<'r> {
    robot: &'r Robot,
    trajectory: Trajectory,
    mode: Option<WorkingMode>,
    step: Option<f64>,
    load: Wrench<f64>,
}

/// What a motion takes and meets.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AlongAnswer {
    /// The robot.
    pub robot: String,
    /// What the file has and the efforts leave out.
    pub left_out: Vec<LeftOut>,
    /// Working mode by name.
    pub working_mode: String,
    /// Names of the drives, in the order of lists.
    pub active_joints: Vec<String>,
    /// Singularities on the way, between the instants too.
    pub crossings: Vec<Crossing>,
    /// Extremes of every drive.
    pub drives: Vec<DrivePassage>,
    /// How closely it was looked at.
    pub looked_at: LookedAt,
    /// Limits of the file that are left, in the order in which that begins.
    pub violations: Vec<Violation>,
    /// Violations that are not in the list.
    pub more_violations: usize,
    /// Times without an answer.
    pub refused: Vec<Refusal>,
    /// Such times that are not in the list.
    pub more_refused: usize,
    /// The instants that have an answer.
    pub states: Vec<Row>,
}

/// Extremes of one drive along a motion.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct DrivePassage {
    /// Its joint.
    pub joint: String,
    /// Unit of its effort.
    pub unit: &'static str,
    /// Largest effort, friction included, by absolute value, with its sign.
    pub peak: f64,
    /// When.
    pub at: f64,
    /// Root mean square of the effort over time, friction included.
    pub rms: f64,
    /// Largest speed.
    pub largest_speed: f64,
    /// Whether the effort grows without bound somewhere.
    pub unbounded: bool,
}

/// How closely a motion was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct LookedAt {
    /// Instants.
    pub instants: usize,
    /// Whether between them too.
    pub between: bool,
}

impl Robot {
    /// What a motion takes: efforts of the drives along it, limits that it leaves, singularities that it meets.
    ///
    /// ```
    /// use gough::{TimeLaw, Trajectory};
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let ends = [robot.pose("x=0, y=0.3")?, robot.pose("x=0.05, y=0.28")?];
    /// let motion = Trajectory::by_law(TimeLaw::Poly5, ends[0], ends[1], [0.0, 0.5])?;
    /// let found = robot.along(&motion).answer()?;
    /// assert!(found.crossings.is_empty() && found.drives.len() == 2);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn along(&self, trajectory: &Trajectory) -> Along<'_> {
        Along { robot: self, trajectory: trajectory.clone(), mode: None, step: None, load: Wrench::zero() }
    }
}

impl Along<'_> {
    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.mode = Some(mode.clone());
        self
    }

    /// One instant every so many seconds; at the samples of the motion unless given, or a thousand where it has none.
    pub fn step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// A wrench from outside on the platform, at its origin, in world axes.
    pub fn wrench(mut self, wrench: Wrench<f64>) -> Self {
        self.load = wrench;
        self
    }

    /// What the motion takes, or why it has no answer anywhere.
    pub fn answer(&self) -> Result<AlongAnswer, Error> {
        let mode = self.mode.as_ref().unwrap_or(self.robot.mode());
        let look = Look { step: self.step, load: self.load, ..Look::default() };
        let found = inspect_all(self.robot.model(), mode, &self.trajectory, &look)?;
        match found.profile.refusals.first() {
            Some(refusal) if found.profile.rows.is_empty() => Err(refusal.why.clone().into()),
            _ => Ok(AlongAnswer::new(self.robot, mode, found)),
        }
    }
}

impl AlongAnswer {
    #[doc(hidden)]
    pub fn new(robot: &Robot, mode: &WorkingMode, found: Inspection) -> Self {
        let (model, t) = (robot.model(), robot.model().topology());
        let names: Vec<String> = t.active_names().into_iter().map(str::to_owned).collect();
        let unbounded = found.unbounded();
        let profile = found.profile;
        let drive = |(k, d): (usize, &Passage)| DrivePassage {
            joint: names[k].clone(),
            unit: if t.coords[t.active[k]].slides { "N" } else { "N m" },
            peak: d.peak,
            at: d.at,
            rms: d.rms,
            largest_speed: d.speed,
            unbounded: unbounded[k],
        };
        Self {
            robot: t.name.clone(),
            left_out: model.description().left_out(Concern::RigidMotion),
            working_mode: mode.name(t),
            drives: profile.drives.iter().enumerate().map(drive).collect(),
            active_joints: names,
            crossings: found.crossings,
            looked_at: LookedAt { instants: profile.rows.len(), between: true },
            violations: profile.violations,
            more_violations: profile.more_violations,
            refused: profile.refusals,
            more_refused: profile.more_refusals,
            states: profile.rows,
        }
    }
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut refusal = to.serialize_struct("Refusal", 4)?;
        refusal.serialize_field("from", &self.from)?;
        refusal.serialize_field("to", &self.to)?;
        refusal.serialize_field("kind", self.why.kind())?;
        refusal.serialize_field("message", &self.why.to_string())?;
        refusal.end()
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut row = to.serialize_struct("Row", 4)?;
        row.serialize_field("t", &self.t)?;
        row.serialize_field("active", &DriveMotion { q: &self.q, qd: &self.qd, qdd: &self.qdd })?;
        row.serialize_field("efforts", &self.efforts)?;
        row.serialize_field("efforts_with_friction", &self.with_friction)?;
        row.end()
    }
}
