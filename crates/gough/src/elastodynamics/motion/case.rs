//! One question about a flexible robot in motion, as a user gives it: some of the motion, the rest is solved.

use super::answer::{FlexibleAnswer, Given, Wanted};
use super::solve::{FlexibleRobot, FlexibleState};
use crate::description::Flexible;
use crate::dynamics::{Conditions, Sign, inverse_dynamics_under};
use crate::elastodynamics::drives::DriveElasticity;
use crate::elastodynamics::error::ElasticError;
use crate::kinematics::{Posture, inverse};
use crate::model::Model;
use crate::spatial::{Pose, Twist};

/// What moves and how: joints, or the platform.
#[derive(Clone, PartialEq, Debug)]
pub enum CaseMotion {
    /// Positions, rates and accelerations of the active joints; empty lists are zero.
    Active {
        /// Positions.
        q: Vec<f64>,
        /// Rates.
        qd: Vec<f64>,
        /// Accelerations.
        qdd: Vec<f64>,
    },
    /// The platform; twist and acceleration in its own components, empty lists are zero. Where the platform bends it is the floating frame
    /// that moves so; otherwise the active joints move as those of the rigid robot.
    Platform {
        /// Pose.
        pose: Pose<f64>,
        /// Twist.
        twist: Vec<f64>,
        /// Acceleration.
        acceleration: Vec<f64>,
    },
}

/// A question about one state.
#[derive(Clone, PartialEq, Debug)]
pub struct FlexibleCase {
    /// What moves.
    pub motion: CaseMotion,
    /// Elastic coordinates; zero when the list is empty.
    pub elastic: Vec<f64>,
    /// Rates of the elastic coordinates; zero when the list is empty.
    pub elastic_rates: Vec<f64>,
    /// Efforts of the drives, for the direct problem; zero when the list is empty.
    pub efforts: Vec<f64>,
    /// Start from the static deflection under gravity and loads, to which the elastic coordinates add.
    pub deflected: bool,
}

/// Whether something of a robot gives way in motion: a beam, a modal body, a spring of a joint, the transmission of a drive that works.
pub fn is_flexible(model: &Model<f64>) -> bool {
    !flexible_parts(model).is_empty()
}

/// What gives way, by name: bodies, `platform`, joints.
pub fn flexible_parts(model: &Model<f64>) -> Vec<String> {
    let (d, t) = (model.description(), model.topology());
    let mut parts: Vec<String> = Vec::new();
    parts.extend(d.platform.modal.iter().map(|_| "platform".to_owned()));
    for row in &d.bodies {
        if matches!(row.flexible, Some(Flexible::Beam(_) | Flexible::Modal(_))) {
            parts.push(row.name.text.clone());
        }
        if row.stiffness.is_some() {
            parts.push(format!("spring of {}", row.name.text));
        }
    }
    let gives = [DriveElasticity::Transmission, DriveElasticity::TransmissionAndServo];
    let drives = t.active.iter().filter(|c| gives.contains(&DriveElasticity::of(model, **c)));
    parts.extend(drives.map(|c| format!("transmission of {}", t.coords[*c].name)));
    parts
}

impl FlexibleRobot<'_> {
    /// The state of a case, and what is told to accelerate.
    pub fn prepare(&mut self, near: &Posture, case: &FlexibleCase) -> Result<(FlexibleState, Wanted), ElasticError> {
        let (given, wanted, own) = self.told(near, &case.motion)?;
        // Motors alone belong to other places of the platform too.
        let near = own.as_ref().unwrap_or(near);
        let state = self.state(near, &given, &case.elastic, &case.elastic_rates)?;
        if !case.deflected {
            return Ok((state, wanted));
        }
        let rest = if matches!(given, Given::Platform { .. }) {
            self.deflected_at_pose(near, &given)?
        } else {
            let plain = self.state(near, &given, &[], &[])?;
            let rest = self.deflected(&plain)?;
            self.flexible.elastic().iter().map(|slot| rest.at.q[*slot]).collect()
        };
        let sum: Vec<f64> =
            rest.iter().enumerate().map(|(k, q)| q + case.elastic.get(k).copied().unwrap_or(0.0)).collect();
        Ok((self.state(near, &given, &sum, &case.elastic_rates)?, wanted))
    }

    /// What is given, what is told to accelerate, and the posture of the rigid robot at a pose that motors are given of.
    fn told(&self, near: &Posture, motion: &CaseMotion) -> Result<(Given, Wanted, Option<Posture>), ElasticError> {
        let model = self.model();
        let t = model.topology();
        let filled = |list: &[f64], n: usize| if list.is_empty() { vec![0.0; n] } else { list.to_vec() };
        match motion {
            CaseMotion::Active { q, qd, qdd } => {
                let n = t.active.len();
                Ok((Given::Active { q: q.clone(), qd: filled(qd, n) }, Wanted::Active(filled(qdd, n)), None))
            }
            CaseMotion::Platform { pose, twist, acceleration } => {
                let n = t.platform.independent.len();
                let (twist, acceleration) = (filled(twist, n), filled(acceleration, n));
                if model.description().platform.modal.is_some() {
                    let whole = |list: &[f64]| {
                        let mut all = [0.0; 6];
                        t.platform.independent.iter().zip(list).for_each(|(c, x)| all[c.index()] = *x);
                        all
                    };
                    let twist = Twist::from_array(whole(&twist));
                    return Ok((Given::Platform { pose: *pose, twist }, Wanted::Platform(whole(&acceleration)), None));
                }
                let posture = inverse(model, pose, near.mode())?;
                let moved =
                    inverse_dynamics_under(model, &posture, &twist, &acceleration, &Conditions::default())?.motion;
                let of =
                    |f: &dyn Fn(crate::model::CoordId) -> f64| t.active.iter().map(|c| f(*c)).collect::<Vec<f64>>();
                let given = Given::Active { q: posture.joints(model, &t.active), qd: of(&|c| moved.rates[c]) };
                Ok((given, Wanted::Active(of(&|c| moved.accels[c])), Some(posture)))
            }
        }
    }

    /// Everything that moves without friction, and with it.
    pub fn answer_inverse(
        &mut self,
        near: &Posture,
        case: &FlexibleCase,
        friction: Sign,
    ) -> Result<(FlexibleAnswer, FlexibleAnswer), ElasticError> {
        let (state, wanted) = self.prepare(near, case)?;
        let rubbed = self.inverse(&state, &wanted, Some(friction))?;
        Ok((self.inverse(&state, &wanted, None)?, rubbed))
    }

    /// Accelerations under the efforts of a case.
    pub fn answer_direct(
        &mut self,
        near: &Posture,
        case: &FlexibleCase,
        friction: Option<Sign>,
    ) -> Result<FlexibleAnswer, ElasticError> {
        let (state, _) = self.prepare(near, case)?;
        let n = self.model().topology().active.len();
        let efforts = if case.efforts.is_empty() { vec![0.0; n] } else { case.efforts.clone() };
        self.direct(&state, &efforts, friction)
    }
}
