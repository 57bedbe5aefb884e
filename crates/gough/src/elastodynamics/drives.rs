//! What gives way in a drive: the transmission between rotor and joint, the servo loop between command and rotor.
//!
//! A *servo* is the stiffness of the controller: the rotor moves with the joint, and its inertia counts. A *transmission* is a
//! gearbox, a belt, a shaft: the rotor stands behind it, held, free, or against the servo where a drive has both, (10.125).

use super::numbers::servo_stiffness;
use super::plan::{ElasticPlan, Element, Variable};
use crate::model::{CoordId, Model};
use crate::scalar::Real;

/// What gives way in a drive, as the file says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriveElasticity {
    /// Nothing.
    Rigid,
    /// The transmission.
    Transmission,
    /// The servo loop.
    Servo,
    /// The transmission, and behind it the servo loop.
    TransmissionAndServo,
}

/// What the rotor of a drive does while the robot vibrates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RotorMotion {
    /// It does not move.
    Held,
    /// It moves with the joint, and its inertia counts there.
    WithJoint,
    /// It has a coordinate of its own behind the transmission.
    Apart,
}

/// How a drive was taken in a computation.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct DriveUse {
    /// The joint it drives.
    pub joint: String,
    /// What gives way.
    pub gives: DriveElasticity,
    /// What its rotor does.
    pub rotor: RotorMotion,
}

impl DriveElasticity {
    /// What gives way in the drive of a joint, whatever the drives do.
    #[doc(hidden)]
    pub fn of<S: Real>(model: &Model<S>, c: CoordId) -> Self {
        let t = model.topology();
        let drive = &model.description().bodies[t.bodies[t.coords[c].body].row.0].drive;
        let (stiffness, servo) = drive.as_ref().map_or((false, false), |d| (d.stiffness.is_some(), d.servo.is_some()));
        match (stiffness, servo) {
            (false, false) => Self::Rigid,
            (true, false) => Self::Transmission,
            (false, true) => Self::Servo,
            (true, true) => Self::TransmissionAndServo,
        }
    }

    /// In words.
    #[doc(hidden)]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rigid => "rigid",
            Self::Transmission => "elastic transmission",
            Self::Servo => "elastic servo",
            Self::TransmissionAndServo => "elastic transmission and servo",
        }
    }
}

impl DriveUse {
    /// In words, for the drives of several joints that are taken alike.
    #[doc(hidden)]
    pub fn words(&self) -> String {
        let rotor = match self.rotor {
            RotorMotion::Held => "rotor held",
            RotorMotion::WithJoint => "rotor moves with the joint",
            RotorMotion::Apart => "rotor moves apart from the joint",
        };
        format!("{}, {rotor}", self.gives.words())
    }
}

/// How the plan takes the drives of the joints that are driven or held.
pub fn drive_uses<S: Real>(model: &Model<S>, plan: &ElasticPlan) -> Vec<DriveUse> {
    let t = model.topology();
    let has = |element: Element| plan.elements.contains(&element);
    let apart = |c: CoordId| plan.moves(Variable::Rotor(c));
    let driven = |c: &CoordId| {
        let row = &model.description().bodies[t.bodies[t.coords[*c].body].row.0];
        row.drive.is_some() && t.coords[*c].name == row.name.text
    };
    let of = |c: CoordId| DriveUse {
        joint: t.coords[c].name.clone(),
        gives: match (has(Element::Transmission(c)), has(Element::Servo(c))) {
            (false, false) => DriveElasticity::Rigid,
            (true, false) => DriveElasticity::Transmission,
            (false, true) => DriveElasticity::Servo,
            (true, true) => DriveElasticity::TransmissionAndServo,
        },
        rotor: match (plan.held.contains(&c), apart(c)) {
            (_, true) => RotorMotion::Apart,
            (true, _) => RotorMotion::Held,
            _ if has(Element::Transmission(c)) => RotorMotion::Held,
            _ => RotorMotion::WithJoint,
        },
    };
    t.coords.ids().filter(driven).map(of).collect()
}

/// Stiffness of a drive as its joint feels it at rest: compliances of transmission and servo add; `None` where nothing gives way.
pub fn static_drive_stiffness<S: Real>(model: &Model<S>, c: CoordId) -> Option<S> {
    let (k, servo) = (model.numbers().joints[c].transmission, servo_stiffness(model, c));
    match DriveElasticity::of(model, c) {
        DriveElasticity::Rigid => None,
        DriveElasticity::Transmission => Some(k),
        DriveElasticity::Servo => Some(servo),
        DriveElasticity::TransmissionAndServo => Some(k * servo / (k + servo)),
    }
}
