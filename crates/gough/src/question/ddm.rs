//! Motion of the platform from the efforts of the drives.

use super::Error;
use super::asked::{Asked, force_methods, state_methods};
use super::flexible::{FlexibleMotion, must_be_rigid, told_of_rigid};
use super::idm::{by_parameter, nearly_singular};
use super::posed::{PlatformPose, assumed, rows};
use super::singularities::NearSingularity;
use crate::Robot;
use crate::analysis::named_end_of_reach;
use crate::dynamics::{RobotModel, active_model, direct_derivatives, direct_dynamics_under, platform_model};
use crate::kinematics::motion::Motion;
use crate::kinematics::{Kind, Posture, SolveError, inverse_given};
use crate::model::Model;
use crate::spatial::Pose;
use serde::Serialize;
use std::collections::BTreeMap;

/// A question about accelerations; [`Robot::ddm`] begins it, [`Ddm::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Ddm<'r> {
    asked: Asked<'r>,
    efforts: Option<Vec<f64>>,
    rigid: bool,
    matrices: bool,
    derivatives: bool,
}

/// Accelerations, and what belongs to them.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Accelerations {
    /// The platform.
    pub pose: PlatformPose,
    /// Acceleration of the platform in its own components.
    pub acceleration: Vec<f64>,
    /// Accelerations of the active joints.
    pub active_qdd: Vec<f64>,
    /// Accelerations of the passive joints.
    pub passive_qdd: Vec<f64>,
    /// Singularities by which joints are fast while the platform is not, where a leg is near one.
    pub near_singularities: Vec<NearSingularity>,
    /// Working mode by name.
    pub working_mode: String,
    /// Twist of the platform in its own components.
    pub twist: Vec<f64>,
    /// Efforts of the drives.
    pub efforts: Vec<f64>,
    /// Joints that the pose leaves open and nothing gives, with where they were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<BTreeMap<String, f64>>,
    /// Model on the platform, when asked for.
    #[serde(flatten)]
    pub platform: Option<PlatformModel>,
    /// Model on the active joints, when asked for and where it exists.
    #[serde(flatten)]
    pub joints: Option<ActiveModel>,
    /// Derivatives of the acceleration, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derivatives: Option<AccelerationDerivatives>,
}

/// `M td_r + c = J_inv^T tau` on the platform's own components.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct PlatformModel {
    /// Inertia matrix.
    pub M: Vec<Vec<f64>>,
    /// Bias.
    pub c: Vec<f64>,
}

/// `M qdd_a + c = tau` on the active joints.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ActiveModel {
    /// Inertia matrix.
    pub M_active: Vec<Vec<f64>>,
    /// Bias.
    pub c_active: Vec<f64>,
}

/// Derivatives of the acceleration: one row per component of the platform.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct AccelerationDerivatives {
    /// By a shift along, or a turn about, each component of the platform.
    pub pose: Vec<Vec<f64>>,
    /// By the twist.
    pub twist: Vec<Vec<f64>>,
    /// By the efforts.
    pub efforts: Vec<Vec<f64>>,
    /// By every free parameter of the file.
    pub parameters: BTreeMap<String, Vec<f64>>,
}

impl Robot {
    /// Direct dynamic model: accelerations for a pose of the platform, at rest and without effort unless told otherwise.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("gough-stewart")?;
    /// let pose = *robot.home().pose();
    /// let still = robot.idm(&pose).answer()?;
    /// let found = robot.ddm(&pose).efforts(&still.efforts).answer()?;
    /// assert!(found.acceleration.iter().all(|a| a.abs() < 1e-9));
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn ddm(&self, pose: &Pose<f64>) -> Ddm<'_> {
        Ddm { asked: Asked::new(self, pose), efforts: None, rigid: false, matrices: false, derivatives: false }
    }
}

impl Ddm<'_> {
    state_methods!();
    force_methods!();

    /// Efforts of the drives, in the order of [`Robot::active_joints`].
    pub fn efforts(mut self, efforts: &[f64]) -> Self {
        self.efforts = Some(efforts.to_vec());
        self
    }

    /// Ask for the inertia matrices and biases too.
    pub fn matrices(mut self) -> Self {
        self.matrices = true;
        self
    }

    /// Ask for the derivatives of the acceleration too.
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
    /// let robot = gough::Robot::shipped("dual-emps")?;
    /// let found = robot.ddm(robot.home().pose()).efforts(&[1.0, 0.0]).flexible()?.answer()?;
    /// assert_eq!(found.elastic.q.len(), found.elastic_qdd.len());
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn flexible(&self) -> Result<FlexibleMotion<'_>, Error> {
        let asked = self.asked.checked()?;
        told_of_rigid("inertia matrices", self.matrices)?;
        told_of_rigid("derivatives", self.derivatives)?;
        let efforts = self.given(&asked)?;
        FlexibleMotion::new(asked, Vec::new(), Some(efforts))
    }

    /// Efforts of the drives, zero unless given.
    fn given(&self, asked: &Asked<'_>) -> Result<Vec<f64>, Error> {
        let n = asked.model().topology().active.len();
        let efforts = self.efforts.clone().unwrap_or_else(|| vec![0.0; n]);
        if efforts.len() != n || efforts.iter().any(|x| !x.is_finite()) {
            let names = asked.robot().active_joints().join(", ");
            return Err(Error::Question(format!("the efforts are not {n} finite numbers, one per drive ({names})")));
        }
        Ok(efforts)
    }

    /// The accelerations, or why there are none.
    pub fn answer(&self) -> Result<Accelerations, Error> {
        let asked = self.asked.checked()?;
        if !self.rigid {
            must_be_rigid(asked.robot(), "accelerations")?;
        }
        let efforts = self.given(&asked)?;
        let found = self.found(&asked, &efforts);
        let home = asked.robot().home().pose();
        Ok(found.map_err(|e| named_end_of_reach(asked.model(), asked.mode(), asked.pose(), home, e))?)
    }

    fn found(&self, asked: &Asked<'_>, efforts: &[f64]) -> Result<Accelerations, SolveError> {
        let (model, twist, conditions) = (asked.model(), asked.twist(), &asked.conditions);
        let t = model.topology();
        let posture = inverse_given(model, asked.pose(), asked.mode(), &asked.given)?;
        let (acceleration, motion) = direct_dynamics_under(model, &posture, twist, efforts, conditions)?;
        let accels = |list: &[crate::model::CoordId]| list.iter().map(|c| motion.accels[*c]).collect();
        let mut answer = Accelerations {
            pose: PlatformPose::new(model, posture.pose()),
            acceleration,
            active_qdd: accels(&t.active),
            passive_qdd: accels(&t.passive),
            near_singularities: near(model, &posture, &motion),
            working_mode: posture.mode().name(t),
            twist: twist.to_vec(),
            efforts: efforts.to_vec(),
            assumed: assumed(model, &asked.given),
            platform: None,
            joints: None,
            derivatives: None,
        };
        if self.matrices {
            if !t.plan.given.is_empty() {
                return Err(SolveError::OpenJoints);
            }
            let RobotModel { M, c, .. } = platform_model(model, &posture, twist, conditions)?;
            answer.platform = Some(PlatformModel { M: rows(&M), c });
            answer.joints = match active_model(model, &posture, twist, conditions) {
                Ok(RobotModel { M, c, .. }) => Some(ActiveModel { M_active: rows(&M), c_active: c }),
                Err(SolveError::Singular { kind: Kind::Type2, .. } | SolveError::Redundant) => None,
                Err(why) => return Err(why),
            };
        }
        if self.derivatives {
            let d = direct_derivatives(model, &posture, twist, efforts, conditions)?;
            answer.derivatives = Some(AccelerationDerivatives {
                pose: rows(&d.pose),
                twist: rows(&d.twist),
                efforts: rows(&d.given),
                parameters: by_parameter(model, &d),
            });
        }
        Ok(answer)
    }
}

/// What makes joints fast: looked for where a leg has a poor pivot, or where coordinates of the platform follow from others. Where
/// drives lose the platform (Type 2) its acceleration is as good as elsewhere.
fn near(model: &Model<f64>, posture: &Posture, motion: &Motion<f64>) -> Vec<NearSingularity> {
    if !motion.met_poor_pivots() && motion.Psi_t.is_none() {
        return Vec::new();
    }
    nearly_singular(model, posture).into_iter().filter(|near| near.kind != Kind::Type2).collect()
}
