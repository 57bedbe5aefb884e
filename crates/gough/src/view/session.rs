//! A robot between questions: where it stands, in which working mode.

use super::ask::Stood;
use super::scene::frames;
use crate::kinematics::{Posture, Reading, SolveError, WorkingMode, fit, inverse};
use crate::question::{Error, PostureAnswer};
use crate::robot::{Robot, Source};
use serde::Serialize;

/// How near motors must come to what was asked, in radians and sizes of the robot.
const MET: f64 = 1e-9;
/// Longest way of a motor in one step, in radians and sizes of the robot, so that the branch is kept.
const STEP: f64 = 0.1;

/// A robot that stands somewhere.
#[derive(Clone, Debug)]
pub struct Session {
    robot: Robot,
    posture: Posture,
    watch: Option<fn(f64) -> bool>,
}

/// A refusal as a document.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct RefusalDocument {
    /// Short name that programs can rely on.
    pub kind: &'static str,
    /// Why, and what to do next.
    pub message: String,
    /// The leg that is to blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leg: Option<String>,
    /// By how much, m or rad.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<f64>,
    /// The joint that would leave its range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
}

impl RefusalDocument {
    /// The document of an error.
    pub fn new(e: &Error) -> Self {
        let (mut leg, mut by, mut joint) = (None, None, None);
        match e {
            Error::Solve(SolveError::OutOfReach { leg: l, by: b }) => (leg, by) = (Some(l.clone()), Some(*b)),
            Error::Solve(SolveError::AtLimit { leg: l }) => leg = Some(l.clone()),
            Error::Solve(SolveError::OutOfRange { joint: j, value, range: [low, high] }) => {
                joint = Some(j.clone());
                by = Some((low - value).max(value - high));
            }
            Error::Solve(SolveError::Singular { leg: l, .. } | SolveError::CutOff { leg: l, .. }) => leg.clone_from(l),
            Error::Solve(SolveError::NoAssembly { by: b }) => by = Some(*b),
            _ => {}
        }
        Self { kind: e.code(), message: e.to_string(), leg, by: by.filter(|b| b.is_finite()), joint }
    }
}

impl Session {
    /// A robot at home.
    pub fn new(robot: Robot) -> Self {
        let posture = robot.home().clone();
        Self { robot, posture, watch: None }
    }

    /// During long questions, tell this the share that is done; it says whether to go on.
    pub fn watched(mut self, watch: fn(f64) -> bool) -> Self {
        self.watch = Some(watch);
        self
    }

    pub(super) fn goes_on(&self, share: f64) -> bool {
        self.watch.is_none_or(|watch| watch(share))
    }

    /// The robot of a source, at home.
    pub fn load(source: Source) -> Result<Self, Error> {
        source.robot().map(Self::new)
    }

    /// The robot.
    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    /// How it stands.
    pub fn posture(&self) -> &Posture {
        &self.posture
    }

    /// Move the platform to coordinates, in the working mode in which it stands; refused, it stays where it was.
    pub fn place(&mut self, coordinates: &[f64]) -> Result<(), Error> {
        let mode = self.posture.mode().clone();
        self.place_in(coordinates, &mode)
    }

    /// Move the platform to coordinates in a working mode; refused, it stays where it was.
    pub fn place_in(&mut self, coordinates: &[f64], mode: &WorkingMode) -> Result<(), Error> {
        let pose = self.robot.pose_at(coordinates)?;
        self.posture = inverse(self.robot.model(), &pose, mode)?;
        Ok(())
    }

    /// Move the motors, the platform following in its assembly mode; refused, it stays where it was.
    pub fn drive(&mut self, motors: &[f64]) -> Result<(), Error> {
        let model = self.robot.model();
        let active = &model.topology().active;
        if motors.len() != active.len() || motors.iter().any(|q| !q.is_finite()) {
            let names = self.robot.active_joints().join(", ");
            return Err(Error::Question(format!("motors are {} finite numbers ({names})", active.len())));
        }
        let from = self.posture.joints(model, active);
        let scaled = |k: usize| {
            let unit = if model.topology().coords[active[k]].slides { model.size() } else { 1.0 };
            (motors[k] - from[k]).abs() / unit
        };
        let furthest = (0..motors.len()).map(scaled).fold(0.0, f64::max);
        let steps = (furthest / STEP).ceil().clamp(1.0, 200.0);
        let mut at = self.posture.clone();
        let mut k = 1.0;
        while k <= steps {
            let share = k / steps;
            let reading = |i: usize| {
                let value = from[i] + share * (motors[i] - from[i]);
                Reading { joint: active[i], value, weight: 1.0 }
            };
            let readings: Vec<Reading> = (0..motors.len()).map(reading).collect();
            let found = fit(model, &readings, &at)?;
            let off = found.worst(model, &readings);
            if off > MET {
                return Err(SolveError::NoAssembly { by: off * model.size() }.into());
            }
            at = found.posture;
            k += 1.0;
        }
        self.posture = at;
        Ok(())
    }

    /// How it stands, with its coordinates.
    pub fn stood(&self) -> Stood {
        Stood { posture: self.standing(), coordinates: self.coordinates() }
    }

    /// Frames at poses one after the other, of coordinates in turn, the robot staying where it is; up to the first that a working mode
    /// does not reach. How many there are.
    pub fn film(&self, coordinates: &[f64], mode: &WorkingMode, out: &mut Vec<f64>) -> usize {
        out.clear();
        let (n, mut one) = (self.robot.coordinates().len().max(1), Vec::new());
        let mut done = 0;
        for at in coordinates.chunks_exact(n) {
            let Ok(pose) = self.robot.pose_at(at) else { break };
            let Ok(posture) = inverse(self.robot.model(), &pose, mode) else { break };
            frames(self.robot.model(), posture.positions(), &mut one);
            out.extend_from_slice(&one);
            done += 1;
        }
        done
    }

    /// Joints, platform, working mode and gaps of how it stands.
    pub fn standing(&self) -> PostureAnswer {
        PostureAnswer::new(self.robot.model(), &self.posture, None)
    }

    /// Coordinates of the platform.
    pub fn coordinates(&self) -> Vec<f64> {
        self.robot.coordinates_of(self.posture.pose())
    }

    /// Frames of the nodes of the scene, twelve numbers each.
    pub fn frames(&self, out: &mut Vec<f64>) {
        frames(self.robot.model(), self.posture.positions(), out);
    }
}
