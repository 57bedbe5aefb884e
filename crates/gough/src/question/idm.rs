//! Efforts of the drives from the motion of the platform.

use super::Error;
use super::asked::{Asked, force_methods, state_methods};
use super::flexible::{FlexibleMotion, must_be_rigid, told_of_rigid};
use super::posed::{JointMotion, PlatformPose, assumed, rows};
use super::singularities::NearSingularity;
use crate::Robot;
use crate::analysis::named_end_of_reach;
use crate::analysis::singularity::singularities;
use crate::dynamics::{
    Derivatives, InverseDynamics, Reactions, Share, inverse_derivatives, inverse_dynamics_under, joint_reactions,
};
use crate::kinematics::{Kind, Posture, SolveError, inverse_given};
use crate::model::Model;
use crate::spatial::Pose;
use serde::Serialize;
use std::collections::BTreeMap;

/// A question about efforts; [`Robot::idm`] begins it, [`Idm::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Idm<'r> {
    asked: Asked<'r>,
    acceleration: Option<Vec<f64>>,
    rigid: bool,
    reactions: bool,
    derivatives: bool,
}

/// Efforts of the drives, and what belongs to them.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Efforts {
    /// The platform.
    pub pose: PlatformPose,
    /// Active joints.
    pub active: JointMotion,
    /// Passive joints.
    pub passive: JointMotion,
    /// Efforts of the drives, rotors included, without friction: N m or N.
    pub efforts: Vec<f64>,
    /// Efforts with the friction of all joints.
    pub efforts_with_friction: Vec<f64>,
    /// Kinetic energy of the bodies, J.
    pub kinetic_energy: f64,
    /// Kinetic energy of the rotors, J.
    pub kinetic_energy_rotors: f64,
    /// Potential energy, zero at the world origin, J.
    pub potential_energy: f64,
    /// Wrench of the ground on the robot at the world origin: force, then moment.
    pub ground_wrench_on_robot: [f64; 6],
    /// How much errors of the model grow in the efforts.
    pub condition: f64,
    /// Singularities that make the efforts large, where the condition is poor.
    pub near_singularities: Vec<NearSingularity>,
    /// What redundant drives do against each other.
    pub internal_load: Option<Vec<f64>>,
    /// Efforts that move nothing.
    pub null_space: Option<Vec<Vec<f64>>>,
    /// Working mode by name.
    pub working_mode: String,
    /// Twist of the platform in its own components.
    pub twist: Vec<f64>,
    /// Acceleration of the platform in its own components.
    pub acceleration: Vec<f64>,
    /// Joints that the pose leaves open and nothing gives, with where they were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<BTreeMap<String, f64>>,
    /// Joints that the pose leaves open and that stand still.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// Forces in all joints and closures, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reactions: Option<JointForces>,
    /// Derivatives of the efforts, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derivatives: Option<EffortDerivatives>,
}

/// Forces in all joints.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct JointForces {
    /// On every body, from what it stands on.
    pub joints: Vec<BodyForce>,
    /// Through every closure.
    pub closures: Vec<ClosureForce>,
    /// Whether the closures leave no choice; in an over-constrained robot the shortest list of multipliers is taken.
    pub determined: bool,
}

/// Wrench on a body from what it stands on, at the origin of its frame, in world axes: force, then moment.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct BodyForce {
    /// The body.
    pub body: String,
    /// The wrench.
    pub wrench: [f64; 6],
}

/// What passes through a closure.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ClosureForce {
    /// The closure.
    pub closure: String,
    /// Its leg.
    pub leg: String,
    /// Where, in the world.
    pub point: [f64; 3],
    /// Wrench of its first side on its second, at that point, in world axes.
    pub wrench: [f64; 6],
    /// Multipliers of its rows.
    pub multipliers: Vec<f64>,
}

/// Derivatives of efforts: one row per drive.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct EffortDerivatives {
    /// By a shift along, or a turn about, each component of the platform.
    pub pose: Vec<Vec<f64>>,
    /// By the twist.
    pub twist: Vec<Vec<f64>>,
    /// By the acceleration.
    pub acceleration: Vec<Vec<f64>>,
    /// By every free parameter of the file.
    pub parameters: BTreeMap<String, Vec<f64>>,
}

/// From this condition on efforts are told together with the singularity that is near.
pub const POOR_CONDITION: f64 = 100.0;

impl Robot {
    /// Inverse dynamic model: efforts of the drives for a pose of the platform, at rest unless told otherwise.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let pose = robot.pose("x=0.05, y=0.25")?;
    /// let found = robot.idm(&pose).twist(&[0.3, -0.2]).acceleration(&[1.0, 2.0]).answer()?;
    /// assert_eq!(found.efforts.len(), robot.active_joints().len());
    /// println!("{}", serde_json::to_string_pretty(&found)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn idm(&self, pose: &Pose<f64>) -> Idm<'_> {
        Idm { asked: Asked::new(self, pose), acceleration: None, rigid: false, reactions: false, derivatives: false }
    }
}

impl Idm<'_> {
    state_methods!();
    force_methods!();

    /// Acceleration of the platform in its own components.
    pub fn acceleration(mut self, acceleration: &[f64]) -> Self {
        self.acceleration = Some(acceleration.to_vec());
        self
    }

    /// How redundant drives share what they give together.
    pub fn share(mut self, share: Share) -> Self {
        self.asked.conditions.share = share;
        self
    }

    /// Ask for the forces in all joints too.
    pub fn reactions(mut self) -> Self {
        self.reactions = true;
        self
    }

    /// Ask for the derivatives of the efforts too.
    pub fn derivatives(mut self) -> Self {
        self.derivatives = true;
        self
    }

    /// Take flexible bodies, springs and transmissions as rigid: without this, robots that have some are refused here.
    pub fn rigid(mut self) -> Self {
        self.rigid = true;
        self
    }

    /// The question about a robot whose parts give way: elastic coordinates move beside the joints.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar-flexible")?;
    /// let asked = robot.idm(robot.home().pose());
    /// let found = asked.flexible()?.deflected().answer()?;
    /// assert!(found.elastic_energy > 0.0 && found.efforts.len() == 2);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn flexible(&self) -> Result<FlexibleMotion<'_>, Error> {
        let asked = self.asked.checked()?;
        for (option, given) in [
            ("how drives share", self.asked.conditions.share != Share::Shortest),
            ("forces in all joints", self.reactions),
            ("derivatives", self.derivatives),
        ] {
            told_of_rigid(option, given)?;
        }
        let acceleration = asked.components(self.acceleration.as_deref(), "acceleration")?;
        FlexibleMotion::new(asked, acceleration, None)
    }

    /// The efforts, or why there are none.
    pub fn answer(&self) -> Result<Efforts, Error> {
        let asked = self.asked.checked()?;
        if !self.rigid {
            must_be_rigid(asked.robot(), "efforts")?;
        }
        let acceleration = asked.components(self.acceleration.as_deref(), "acceleration")?;
        let model = asked.model();
        if self.derivatives {
            can_be_derived(&asked)?;
        }
        let found = self.found(&asked, &acceleration);
        let home = asked.robot().home().pose();
        Ok(found.map_err(|e| named_end_of_reach(model, asked.mode(), asked.pose(), home, e))?)
    }

    fn found(&self, asked: &Asked<'_>, acceleration: &[f64]) -> Result<Efforts, SolveError> {
        let (model, twist) = (asked.model(), asked.twist());
        let posture = inverse_given(model, asked.pose(), asked.mode(), &asked.given)?;
        let found = inverse_dynamics_under(model, &posture, twist, acceleration, &asked.conditions)?;
        let plain = asked.without_friction();
        let mut answer = Efforts::new(model, &posture, &found);
        (answer.twist, answer.acceleration) = (twist.to_vec(), acceleration.to_vec());
        answer.assumed = assumed(model, &asked.given);
        answer.held = asked.held();
        if self.reactions {
            let all = joint_reactions(model, &posture, twist, acceleration, &plain)?;
            answer.reactions = Some(JointForces::new(model, &all));
            // Constraint singularities are felt in the joints, not in the drives.
            answer.near_singularities = nearly_singular(model, &posture);
        }
        if self.derivatives {
            let d = inverse_derivatives(model, &posture, twist, acceleration, &plain)?;
            answer.derivatives = Some(EffortDerivatives {
                pose: rows(&d.pose),
                twist: rows(&d.twist),
                acceleration: rows(&d.given),
                parameters: by_parameter(model, &d),
            });
        }
        Ok(answer)
    }
}

/// Derivatives are those of the shortest efforts, open joints at rest.
fn can_be_derived(asked: &Asked<'_>) -> Result<(), Error> {
    let conditions = &asked.conditions;
    if conditions.open.iter().any(|(_, motion)| *motion != [0.0; 2]) {
        return Err(Error::Question(
            "derivatives are told for joints that the pose leaves open and that stand still: leave out their rates and \
             accelerations, or the derivatives"
                .to_owned(),
        ));
    }
    if conditions.share != Share::Shortest {
        return Err(Error::Question(
            "derivatives are those of the shortest efforts: leave out how efforts are shared, or the derivatives"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Derivatives by the free parameters of the file, by name.
pub(super) fn by_parameter(model: &Model<f64>, d: &Derivatives) -> BTreeMap<String, Vec<f64>> {
    let column = |k: usize| (0..d.parameters.rows).map(|i| d.parameters.at(i, k)).collect();
    model.parameters().iter().enumerate().map(|(k, p)| (p.name.clone(), column(k))).collect()
}

impl Efforts {
    fn new(model: &Model<f64>, posture: &Posture, found: &InverseDynamics) -> Self {
        let t = model.topology();
        Self {
            pose: PlatformPose::new(model, posture.pose()),
            active: JointMotion::new(model, posture, Some(&found.motion), &t.active),
            passive: JointMotion::new(model, posture, Some(&found.motion), &t.passive),
            efforts: found.efforts.clone(),
            efforts_with_friction: found.efforts_with_friction.clone(),
            kinetic_energy: found.kinetic_energy,
            kinetic_energy_rotors: found.kinetic_energy_rotors,
            potential_energy: found.potential_energy,
            ground_wrench_on_robot: found.ground_wrench.to_array(),
            condition: found.condition,
            near_singularities: near(model, posture, found.condition),
            internal_load: found.internal.as_ref().map(|i| i.load.clone()),
            null_space: found.internal.as_ref().map(|i| i.null_space.clone()),
            working_mode: posture.mode().name(t),
            twist: Vec::new(),
            acceleration: Vec::new(),
            assumed: None,
            held: Vec::new(),
            reactions: None,
            derivatives: None,
        }
    }
}

/// A singular value below this is near enough to be named.
const NEARLY: f64 = 5.0 / POOR_CONDITION;

/// Singularities that make efforts or rates large, where the condition is poor; that of a single freedom is one everywhere.
fn near(model: &Model<f64>, posture: &Posture, condition: f64) -> Vec<NearSingularity> {
    if condition < POOR_CONDITION && model.topology().platform.independent.len() > 1 {
        Vec::new()
    } else {
        nearly_singular(model, posture)
    }
}

/// Singularities by which efforts, rates or forces in joints grow.
pub(super) fn nearly_singular(model: &Model<f64>, posture: &Posture) -> Vec<NearSingularity> {
    let report = singularities(model, posture);
    let blamed =
        |s: &&crate::analysis::singularity::Singularity| s.kind != Kind::Lajts && (s.singular || s.sigma < NEARLY);
    report.list.iter().filter(blamed).map(NearSingularity::new).collect()
}

impl JointForces {
    fn new(model: &Model<f64>, all: &Reactions) -> Self {
        let t = model.topology();
        let body = |(b, body): (_, &crate::model::Body)| BodyForce {
            body: body.name.clone(),
            wrench: all.bodies[b].to_array(),
        };
        let closure = |(c, closure): (_, &crate::model::Closure)| {
            let through = &all.closures[c];
            ClosureForce {
                closure: closure.name.clone(),
                leg: t.legs[closure.leg].name.clone(),
                point: [through.point.x, through.point.y, through.point.z],
                wrench: through.wrench.to_array(),
                multipliers: through.multipliers[..closure.joint.rows()].to_vec(),
            }
        };
        Self {
            joints: t.bodies.iter().map(body).collect(),
            closures: t.closures.iter().filter(|(_, c)| !c.tool).map(closure).collect(),
            determined: all.determined,
        }
    }
}
