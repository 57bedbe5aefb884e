//! Motion over time.

use super::Error;
use super::posed::{DriveMotion, PlatformPose};
use super::words::body_point;
use crate::Robot;
use crate::description::{Concern, LeftOut};
use crate::kinematics::{PoseChart, WorkingMode};
use crate::simulation::{Ended, Instant, Law, Observer, SimulationOptions, Summary, simulate};
use crate::spatial::orientation::wrap;
use crate::spatial::{Pose, Twist};
use crate::trajectory::{OwnMotion, Trajectory, pose_error};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::ops::Deref;

/// A motion over time; [`Robot::simulate`] begins it, [`Simulation::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Simulation<'r> {
    robot: &'r Robot,
    from: Pose<f64>,
    twist: Option<Vec<f64>>,
    mode: Option<WorkingMode>,
    law: Law,
    options: SimulationOptions,
    points: Vec<String>,
}

/// A motion over time, and how it went.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SimulationAnswer {
    /// The robot.
    pub robot: String,
    /// What the file has and the motion leaves out.
    pub left_out: Vec<LeftOut>,
    /// Working mode by name.
    pub working_mode: String,
    /// Names of the drives, in the order of lists.
    pub active_joints: Vec<String>,
    /// The points whose motion the states tell, as they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<String>,
    /// Why and when it ended, steps, gaps and energies.
    #[serde(flatten, serialize_with = "summary")]
    pub summary: Summary,
    /// The instants recorded. Each can be asked about again: they have the keys of states.
    pub states: Vec<MovingState>,
    /// How far the robot was from the trajectory of its controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracking: Option<Tracking>,
}

/// A recorded instant of a motion.
#[derive(Clone, PartialEq, Debug)]
pub struct MovingState {
    instant: Instant,
    pose: PlatformPose,
}

/// Distances from a trajectory over the recorded instants.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Tracking {
    /// Largest, m.
    pub largest_m: f64,
    /// Root mean square, m.
    pub rms_m: f64,
    /// Largest, rad.
    pub largest_rad: f64,
    /// Root mean square, rad.
    pub rms_rad: f64,
}

impl Robot {
    /// Motion over time from a pose at rest: free unless a law drives it.
    ///
    /// ```
    /// use gough::{Law, SimulationOptions};
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let pose = robot.pose("x=0.05, y=0.25")?;
    /// let found = robot.simulate(&pose, &SimulationOptions::lasting(0.01)).answer()?;
    /// assert!(found.summary.t > 0.0099 && found.states.len() > 2);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn simulate(&self, from: &Pose<f64>, options: &SimulationOptions) -> Simulation<'_> {
        let (law, options, points) = (Law::Free, options.clone(), Vec::new());
        Simulation { robot: self, from: *from, twist: None, mode: None, law, options, points }
    }
}

impl Simulation<'_> {
    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.mode = Some(mode.clone());
        self
    }

    /// Twist of the platform at the start, in its own components; at rest unless given.
    pub fn twist(mut self, twist: &[f64]) -> Self {
        self.twist = Some(twist.to_vec());
        self
    }

    /// What drives the robot.
    pub fn law(mut self, law: Law) -> Self {
        self.law = law;
        self
    }

    /// Points whose motion is told too: `BODY`, `BODY=x:y:z` in its frame, `BEAM=s` along a beam.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let options = gough::SimulationOptions::lasting(0.01);
    /// let found = robot.simulate(robot.home().pose(), &options).points(&["platform", "11=0.1:0:0"]).answer()?;
    /// let end = found.states.last().unwrap();
    /// assert_eq!(end.points[0].position[0], end.pose.p.x);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn points(mut self, points: &[&str]) -> Self {
        self.points = points.iter().map(|p| (*p).to_owned()).collect();
        self
    }

    /// The motion, or why it cannot begin.
    pub fn answer(&self) -> Result<SimulationAnswer, Error> {
        self.answer_while(&mut |_| true)
    }

    /// The motion; `go_on` is told the time that is reached after every step, and may stop it there.
    pub fn answer_while(&self, go_on: &mut dyn FnMut(f64) -> bool) -> Result<SimulationAnswer, Error> {
        let (model, t) = (self.robot.model(), self.robot.model().topology());
        let mode = self.mode.as_ref().unwrap_or(self.robot.mode());
        let twist = self.twist.clone().unwrap_or_else(|| vec![0.0; t.platform.independent.len()]);
        let mut seen = KeptInstants { instants: Vec::new(), go_on };
        let asked = self.points.iter().map(|p| body_point(model, p)).collect::<Result<Vec<_>, _>>();
        let points = asked.map_err(|why| Error::Question(format!("a point: {why}")))?;
        let options = SimulationOptions { points, ..self.options.clone() };
        let summary = simulate(model, mode, (&self.from, &twist), &self.law, &options, &mut seen)?;
        let trajectory = match &self.law {
            Law::Controller(c) => Some(&c.trajectory),
            _ => None,
        };
        let state = |instant: Instant| MovingState { pose: PlatformPose::new(model, &instant.pose), instant };
        Ok(SimulationAnswer {
            robot: t.name.clone(),
            left_out: model.description().left_out(Concern::RigidMotion),
            working_mode: mode.name(t),
            active_joints: t.active_names().into_iter().map(str::to_owned).collect(),
            points: options.points.into_iter().map(|p| p.name).collect(),
            tracking: trajectory.map(|way| Tracking::new(self.robot, way, &seen.instants)),
            summary,
            states: seen.instants.into_iter().map(state).collect(),
        })
    }
}

/// Keeps the instants, and asks whether to go on.
struct KeptInstants<'g> {
    instants: Vec<Instant>,
    go_on: &'g mut dyn FnMut(f64) -> bool,
}

impl Observer for KeptInstants<'_> {
    fn record(&mut self, instant: &Instant) -> bool {
        self.instants.push(instant.clone());
        (self.go_on)(instant.t)
    }

    fn goes_on(&mut self, t: f64) -> bool {
        (self.go_on)(t)
    }
}

impl Tracking {
    fn new(robot: &Robot, way: &Trajectory, instants: &[Instant]) -> Self {
        let list: Vec<[f64; 2]> = instants.iter().map(|i| off(robot, way, i)).collect();
        let largest = |k: usize| list.iter().map(|e| e[k]).fold(0.0, f64::max);
        let rms = |k: usize| (list.iter().map(|e| e[k] * e[k]).sum::<f64>() / list.len().max(1) as f64).sqrt();
        Self { largest_m: largest(0), rms_m: rms(0), largest_rad: largest(1), rms_rad: rms(1) }
    }
}

/// Distance from a trajectory, in metres and in radians, in the coordinates that the platform has by itself: a trajectory does not
/// say where those are that follow.
#[doc(hidden)]
pub fn off(robot: &Robot, way: &Trajectory, i: &Instant) -> [f64; 2] {
    let (model, desired) = (robot.model(), way.at(i.t).pose);
    let mut e = pose_error(&desired, &i.pose).to_array();
    if OwnMotion::new(model).turns_along() {
        let [wanted, found] = [&desired, &i.pose].map(|pose| PoseChart::of(model).coordinates(pose));
        (3..6).for_each(|k| e[k] = wrap(wanted[k] - found[k]));
    }
    let mut own = [0.0; 6];
    model.topology().platform.independent.iter().for_each(|c| own[c.index()] = e[c.index()]);
    let e = Twist::from_array(own);
    [e.v.norm(), e.w.norm()]
}

impl Deref for MovingState {
    type Target = Instant;

    fn deref(&self) -> &Instant {
        &self.instant
    }
}

impl Serialize for MovingState {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Instant { t, t_r, td_r, q, qd, qdd, efforts, energies, work, losses, work_of_load, points, .. } =
            &self.instant;
        let mut state = to.serialize_struct("MovingState", 13)?;
        state.serialize_field("t", t)?;
        state.serialize_field("pose", &self.pose)?;
        state.serialize_field("twist", t_r)?;
        state.serialize_field("acceleration", td_r)?;
        state.serialize_field("active", &DriveMotion { q, qd, qdd })?;
        state.serialize_field("efforts", efforts)?;
        state.serialize_field("kinetic_energy", &energies[0])?;
        state.serialize_field("kinetic_energy_rotors", &energies[1])?;
        state.serialize_field("potential_energy", &energies[2])?;
        state.serialize_field("work", work)?;
        state.serialize_field("losses", losses)?;
        state.serialize_field("work_of_load", work_of_load)?;
        if !points.is_empty() {
            state.serialize_field("points", points)?;
        }
        state.end()
    }
}

fn summary<S: Serializer>(s: &Summary, to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_struct("Summary", 8)?;
    list.serialize_field("stop", &Ended::by(&s.stop, s.t))?;
    list.serialize_field("steps", &s.steps)?;
    list.serialize_field("rejected", &s.rejected)?;
    list.serialize_field("largest_gap_m", &s.gap[0])?;
    list.serialize_field("largest_gap_rad", &s.gap[1])?;
    list.serialize_field("energy_error", &s.energy_error)?;
    list.serialize_field("energy_scale", &s.energy_scale)?;
    list.serialize_field("time_at_effort_limit", &s.saturated)?;
    list.end()
}
