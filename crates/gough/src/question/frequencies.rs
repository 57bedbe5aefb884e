//! Natural frequencies of a flexible robot at a posture.

use super::Error;
use super::posed::PlatformPose;
use crate::Robot;
use crate::elastodynamics::{Actuators, Vibration};
use crate::kinematics::{WorkingMode, inverse};
use crate::linalg::arrow::ModeKind;
use crate::spatial::Pose;
use serde::Serialize;

/// A question about natural frequencies; [`Robot::frequencies`] begins it, [`Frequencies::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Frequencies<'r> {
    robot: &'r Robot,
    pose: Pose<f64>,
    mode: Option<WorkingMode>,
    count: usize,
    actuators: Actuators,
}

/// Natural frequencies at a posture, from the lowest.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct FrequencyAnswer {
    /// The platform.
    pub pose: PlatformPose,
    /// Working mode by name.
    pub working_mode: String,
    /// Motions with mass.
    pub dof: usize,
    /// The frequencies, Hz.
    pub frequencies_hz: Vec<f64>,
    /// What vibrates in each.
    pub modes: Vec<ModeAnswer>,
}

/// A natural mode.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ModeAnswer {
    /// Its frequency, Hz.
    pub frequency_hz: f64,
    /// Square of its angular frequency; negative where the posture is unstable.
    pub omega2: f64,
    /// `vibration`, `free` or `unstable`.
    pub kind: &'static str,
    /// Share of the elastic energy of every body, joint and drive, with how it is stored.
    pub elastic_energy: Vec<EnergyShare>,
    /// Share of the kinetic energy of every body.
    pub kinetic_energy: Vec<EnergyShare>,
}

/// Share of an energy.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct EnergyShare {
    /// Whose.
    pub of: String,
    /// How it is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The share.
    pub share: f64,
}

impl Robot {
    /// Natural frequencies at a pose: the ten lowest unless told otherwise, drives elastic where the file gives a stiffness.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("navaro")?;
    /// let found = robot.frequencies(robot.home().pose()).count(5).answer()?;
    /// assert_eq!(found.frequencies_hz.len(), 5);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn frequencies(&self, pose: &Pose<f64>) -> Frequencies<'_> {
        Frequencies { robot: self, pose: *pose, mode: None, count: 10, actuators: Actuators::default() }
    }
}

impl Frequencies<'_> {
    /// How many, from the lowest.
    pub fn count(mut self, count: usize) -> Self {
        self.count = count;
        self
    }

    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.mode = Some(mode.clone());
        self
    }

    /// What the drives do while the robot vibrates.
    pub fn actuators(mut self, actuators: Actuators) -> Self {
        self.actuators = actuators;
        self
    }

    /// The frequencies, or why there are none.
    pub fn answer(&self) -> Result<FrequencyAnswer, Error> {
        if self.count == 0 {
            return Err(Error::Question("no frequency is asked for; ask for one or more".to_owned()));
        }
        let (robot, model) = (self.robot, self.robot.model());
        let posture = inverse(model, &self.pose, self.mode.as_ref().unwrap_or(robot.mode()))?;
        let mut v = Vibration::new(model, robot.home(), self.actuators)?;
        v.take_posture(&posture)?;
        let dof = v.plan().coordinates() - v.massless().len();
        let found = v.lowest_groups(self.count)?.to_vec();
        let shares = v.shares();
        let share = |of: &str, kind, share| EnergyShare { of: of.to_owned(), kind, share };
        let modes = found.iter().zip(&shares).take(self.count).map(|(f, s)| ModeAnswer {
            frequency_hz: f.hz,
            omega2: f.omega2,
            kind: match f.kind {
                ModeKind::Vibration => "vibration",
                ModeKind::Free => "free",
                ModeKind::Unstable => "unstable",
            },
            elastic_energy: s.elastic.iter().map(|(of, kind, x)| share(of, Some(kind.word()), *x)).collect(),
            kinetic_energy: s.kinetic.iter().map(|(of, x)| share(of, None, *x)).collect(),
        });
        let modes: Vec<ModeAnswer> = modes.collect();
        Ok(FrequencyAnswer {
            pose: PlatformPose::new(model, posture.pose()),
            working_mode: posture.mode().name(model.topology()),
            dof,
            frequencies_hz: modes.iter().map(|m| m.frequency_hz).collect(),
            modes,
        })
    }
}
