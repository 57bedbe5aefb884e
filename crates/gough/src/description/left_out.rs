//! What the file says and an answer does not take into account: every command tells it.

use super::robot::{Description, Flexible};

/// What an answer is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Concern {
    /// Efforts and motion of the robot as rigid bodies: `idm`, `ddm`, `simulate` and the code of such models.
    RigidMotion,
    /// Efforts and motion of the robot with its flexible parts.
    FlexibleMotion,
    /// Natural frequencies and modes.
    Vibration,
}

/// Something of the robot file that an answer leaves out.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct LeftOut {
    /// A short name that programs can rely on: `flexible-bodies`, `joint-stiffness`, `drive-stiffness`, `servo-stiffness`,
    /// `damping`.
    pub what: &'static str,
    /// Bodies or joints it belongs to; empty where it belongs to the whole robot.
    pub of: Vec<String>,
    /// What that means for the answer.
    pub why: &'static str,
}

impl Description {
    /// What an answer leaves out, in the order in which it matters.
    pub fn left_out(&self, concern: Concern) -> Vec<LeftOut> {
        let list = match concern {
            Concern::RigidMotion => vec![self.flexible_bodies(), self.joint_stiffness(), self.drive_stiffness()],
            Concern::FlexibleMotion => vec![self.servo_stiffness(), self.damping_of_modes()],
            Concern::Vibration => vec![self.damping()],
        };
        list.into_iter().flatten().collect()
    }

    fn bodies_with(&self, has: impl Fn(&super::DescribedBody) -> bool) -> Vec<String> {
        self.bodies.iter().filter(|b| has(b)).map(|b| b.name.text.clone()).collect()
    }

    fn flexible_bodies(&self) -> Option<LeftOut> {
        let of = self.bodies_with(|b| b.flexible.is_some());
        let why = "flexible bodies are taken as rigid";
        (!of.is_empty()).then_some(LeftOut { what: "flexible-bodies", of, why })
    }

    fn joint_stiffness(&self) -> Option<LeftOut> {
        let of = self.bodies_with(|b| b.stiffness.as_ref().is_some_and(|k| k.value != 0.0));
        let why = "springs in the joints are left out";
        (!of.is_empty()).then_some(LeftOut { what: "joint-stiffness", of, why })
    }

    fn drive_stiffness(&self) -> Option<LeftOut> {
        let of = self.bodies_with(|b| b.drive.as_ref().is_some_and(|d| d.stiffness.is_some()));
        let why = "transmissions of the drives are taken as rigid";
        (!of.is_empty()).then_some(LeftOut { what: "drive-stiffness", of, why })
    }

    fn servo_stiffness(&self) -> Option<LeftOut> {
        let of = self.bodies_with(|b| b.drive.as_ref().is_some_and(|d| d.servo.is_some()));
        let why = "the stiffness of servos belongs to the controller: it acts on natural frequencies alone";
        (!of.is_empty()).then_some(LeftOut { what: "servo-stiffness", of, why })
    }

    fn damping_of_modes(&self) -> Option<LeftOut> {
        let whole = self.elastic.damping.as_ref().is_some_and(|d| d.value != 0.0);
        let why = "the damping ratio of `[elastic]` is that of whole modes, for `response` alone: materials have `mass_damping` and \
                   `stiffness_damping`";
        whole.then(|| LeftOut { what: "damping", of: Vec::new(), why })
    }

    fn damping(&self) -> Option<LeftOut> {
        let whole = self.elastic.damping.as_ref().is_some_and(|d| d.value != 0.0);
        let of = self.bodies_with(|b| match &b.flexible {
            Some(Flexible::Modal(modal)) => modal.modes.iter().any(|mode| mode.damping_ratio != 0.0),
            _ => false,
        });
        let why = "damping is left out: frequencies and modes are those of the robot without it";
        (whole || !of.is_empty()).then_some(LeftOut { what: "damping", of, why })
    }
}
