//! Efforts and accelerations of robots whose parts give way: beams, modal bodies, springs, elastic transmissions.

use super::Error;
use super::asked::Asked;
use super::posed::{JointMotion, PlatformPose};
use crate::Robot;
use crate::description::{Concern, LeftOut};
use crate::elastodynamics::ElasticError;
use crate::elastodynamics::motion::{
    CaseMotion, CoordinateMotion, FlexibleAnswer, FlexibleCase, FlexibleRobot, flexible_parts,
};
use crate::kinematics::{Posture, inverse};
use serde::Serialize;

/// A question about a robot whose parts give way; `flexible` of [`Idm`](super::Idm) and [`Ddm`](super::Ddm) begins it,
/// [`FlexibleMotion::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct FlexibleMotion<'r> {
    asked: Asked<'r>,
    case: FlexibleCase,
    direct: bool,
}

/// How a robot whose parts give way moves under its drives.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct FlexibleEfforts {
    /// Efforts of the drives, without friction where they were asked for.
    pub efforts: Vec<f64>,
    /// Active joints; rotors where transmissions are elastic.
    pub active: JointMotion,
    /// Passive joints.
    pub passive: JointMotion,
    /// Elastic coordinates, in the order of [`FlexibleMotion::elastic_coordinates`].
    pub elastic: JointMotion,
    /// The platform.
    pub pose: PlatformPose,
    /// Position of the platform, or of the tool point.
    pub position: [f64; 3],
    /// Twist of the platform in its own components.
    pub twist: Vec<f64>,
    /// Acceleration of the platform in its own components.
    pub acceleration: Vec<f64>,
    /// Accelerations of the active joints.
    pub active_qdd: Vec<f64>,
    /// Accelerations of the passive joints.
    pub passive_qdd: Vec<f64>,
    /// Accelerations of the elastic coordinates.
    pub elastic_qdd: Vec<f64>,
    /// Efforts with the friction of all joints, where efforts were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efforts_with_friction: Option<Vec<f64>>,
    /// Accelerations of the elastic coordinates with the friction of all joints, where efforts were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elastic_qdd_with_friction: Option<Vec<f64>>,
    /// Kinetic energy of bodies and platform, J.
    pub kinetic_energy: f64,
    /// Kinetic energy of the rotors, J.
    pub kinetic_energy_rotors: f64,
    /// Potential energy of gravity, zero at the world origin, J.
    pub potential_energy: f64,
    /// Energy of deformation, springs and transmissions, J.
    pub elastic_energy: f64,
    /// Power that damping takes, W.
    pub damping_power: f64,
    /// Working mode by name.
    pub working_mode: String,
}

/// A robot whose parts give way, made ready for states of one question.
#[doc(hidden)]
#[derive(Clone)]
pub struct ReadyFlexible<'q> {
    robot: &'q Robot,
    flexible: FlexibleRobot<'q>,
    near: Posture,
    question: &'q FlexibleMotion<'q>,
}

/// Refused where parts of a robot give way: what it is asked is answered for rigid robots.
pub(super) fn must_be_rigid(robot: &Robot, what: &str) -> Result<(), Error> {
    let parts = flexible_parts(robot.model());
    if parts.is_empty() {
        return Ok(());
    }
    Err(Error::Question(format!(
        "{} give{} way, so that {what} depend on how: ask with `flexible()`, or with `rigid()` for the robot in which nothing does",
        parts.join(", "),
        if parts.len() == 1 { "s" } else { "" }
    )))
}

/// What is answered for rigid robots alone.
pub(super) fn told_of_rigid(what: &str, asked: bool) -> Result<(), Error> {
    if !asked {
        return Ok(());
    }
    Err(Error::Question(format!("{what}: told of rigid robots alone; leave that out, or ask with `rigid()`")))
}

impl<'r> FlexibleMotion<'r> {
    pub(super) fn new(asked: Asked<'r>, acceleration: Vec<f64>, efforts: Option<Vec<f64>>) -> Result<Self, Error> {
        told_of_rigid(
            "joints that the pose leaves open",
            !(asked.given.is_empty() && asked.conditions.open.is_empty()),
        )?;
        let motion = CaseMotion::Platform { pose: *asked.pose(), twist: asked.twist().to_vec(), acceleration };
        let direct = efforts.is_some();
        let case = FlexibleCase {
            motion,
            elastic: Vec::new(),
            elastic_rates: Vec::new(),
            efforts: efforts.unwrap_or_default(),
            deflected: false,
        };
        Ok(Self { asked, case, direct })
    }

    /// Positions, rates and accelerations of the active joints in place of those of the platform; rates and accelerations
    /// that are left empty are zero.
    pub fn motors(mut self, q: &[f64], qd: &[f64], qdd: &[f64]) -> Self {
        self.case.motion = CaseMotion::Active { q: q.to_vec(), qd: qd.to_vec(), qdd: qdd.to_vec() };
        self
    }

    /// Elastic coordinates and their rates, in the order of [`FlexibleMotion::elastic_coordinates`]; zero unless given.
    pub fn elastic(mut self, q: &[f64], qd: &[f64]) -> Self {
        (self.case.elastic, self.case.elastic_rates) = (q.to_vec(), qd.to_vec());
        self
    }

    /// Start from the static deflection under gravity and loads, to which the elastic coordinates add.
    pub fn deflected(mut self) -> Self {
        self.case.deflected = true;
        self
    }

    /// Names of the elastic coordinates.
    pub fn elastic_coordinates(&self) -> Result<Vec<String>, Error> {
        Ok(self.ready()?.elastic_coordinates())
    }

    /// Efforts from motion, or motion from efforts, or why there are none.
    pub fn answer(&self) -> Result<FlexibleEfforts, Error> {
        Ok(self.ready()?.answer(&self.case)?)
    }

    /// The robot and its loads, ready for many states.
    #[doc(hidden)]
    pub fn ready(&self) -> Result<ReadyFlexible<'_>, Error> {
        let finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        let motors = match &self.case.motion {
            CaseMotion::Active { q, qd, qdd } => [q, qd, qdd].into_iter().all(|list| finite(list)),
            CaseMotion::Platform { .. } => true,
        };
        if !(motors && finite(&self.case.elastic) && finite(&self.case.elastic_rates) && finite(&self.case.efforts)) {
            return Err(Error::Question("motors, elastic coordinates and efforts are finite numbers".to_owned()));
        }
        let (robot, model) = (self.asked.robot(), self.asked.model());
        let near = inverse(model, robot.home().pose(), self.asked.mode())?;
        let mut flexible = FlexibleRobot::new(model, &near).map_err(Error::from)?;
        flexible.load(&self.asked.conditions.loads);
        Ok(ReadyFlexible { robot, flexible, near, question: self })
    }

    /// The state that the question gives.
    #[doc(hidden)]
    pub fn case(&self) -> &FlexibleCase {
        &self.case
    }
}

impl ReadyFlexible<'_> {
    /// Names of the elastic coordinates.
    pub fn elastic_coordinates(&self) -> Vec<String> {
        self.flexible.elastic_names()
    }

    /// What the file has and the answer leaves out.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.robot.model().description().left_out(Concern::FlexibleMotion)
    }

    /// One state.
    pub fn answer(&self, case: &FlexibleCase) -> Result<FlexibleEfforts, ElasticError> {
        let (near, friction) = (&self.near, self.question.asked.conditions.friction);
        if self.question.direct {
            return Ok(self.told(&self.flexible.clone().answer_direct(near, case, friction)?, None));
        }
        let (found, rubbed) = self.flexible.clone().answer_inverse(near, case, friction.unwrap_or_default())?;
        Ok(self.told(&found, Some(&rubbed)))
    }

    fn told(&self, found: &FlexibleAnswer, rubbed: Option<&FlexibleAnswer>) -> FlexibleEfforts {
        let t = self.robot.model().topology();
        let motion =
            |m: &CoordinateMotion| JointMotion { q: m.q.clone(), qd: Some(m.qd.clone()), qdd: Some(m.qdd.clone()) };
        let own = |list: &[f64; 6]| t.platform.independent.iter().map(|c| list[c.index()]).collect();
        FlexibleEfforts {
            efforts: found.efforts.clone(),
            active: motion(&found.active),
            passive: motion(&found.passive),
            elastic: motion(&found.elastic),
            pose: PlatformPose::new(self.robot.model(), &found.pose),
            position: found.position,
            twist: own(&found.twist),
            acceleration: own(&found.acceleration),
            active_qdd: found.active_qdd.clone(),
            passive_qdd: found.passive_qdd.clone(),
            elastic_qdd: found.elastic_qdd.clone(),
            efforts_with_friction: rubbed.map(|r| r.efforts.clone()),
            elastic_qdd_with_friction: rubbed.map(|r| r.elastic_qdd.clone()),
            kinetic_energy: found.kinetic_energy,
            kinetic_energy_rotors: found.kinetic_energy_rotors,
            potential_energy: found.potential_energy,
            elastic_energy: found.elastic_energy,
            damping_power: found.damping_power,
            working_mode: self.near.mode().name(t),
        }
    }
}
