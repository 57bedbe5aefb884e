//! What questions about one state have in common: pose, twist, working mode, open joints, loads, friction.

use super::{Error, words};
use crate::Robot;
use crate::dynamics::{Conditions, Sign};
use crate::kinematics::WorkingMode;
use crate::model::{CoordId, Model, Node};
use crate::spatial::{Inertia, Pose, Wrench};
use std::borrow::Cow;

/// A state and its conditions. Faults of the question are kept until it is answered.
#[derive(Clone)]
pub(crate) struct Asked<'r> {
    robot: Cow<'r, Robot>,
    pose: Pose<f64>,
    mode: Option<WorkingMode>,
    twist: Option<Vec<f64>>,
    pub(crate) given: Vec<(CoordId, f64)>,
    pub(crate) conditions: Conditions,
    fault: Option<Error>,
}

impl<'r> Asked<'r> {
    pub(crate) fn new(robot: &'r Robot, pose: &Pose<f64>) -> Self {
        Self {
            robot: Cow::Borrowed(robot),
            pose: *pose,
            mode: None,
            twist: None,
            given: Vec::new(),
            conditions: Conditions::default(),
            fault: None,
        }
    }

    pub(crate) fn robot(&self) -> &Robot {
        &self.robot
    }

    pub(crate) fn model(&self) -> &Model<f64> {
        self.robot.model()
    }

    pub(crate) fn pose(&self) -> &Pose<f64> {
        &self.pose
    }

    pub(crate) fn mode(&self) -> &WorkingMode {
        self.mode.as_ref().unwrap_or(self.robot.mode())
    }

    /// The twist; [`Asked::checked`] has filled it in.
    pub(crate) fn twist(&self) -> &[f64] {
        self.twist.as_deref().unwrap_or_default()
    }

    pub(crate) fn has_twist(&self) -> bool {
        self.twist.is_some()
    }

    pub(crate) fn set_mode(&mut self, mode: &WorkingMode) {
        self.mode = Some(mode.clone());
    }

    pub(crate) fn set_twist(&mut self, twist: &[f64]) {
        self.twist = Some(twist.to_vec());
    }

    pub(crate) fn carry(&mut self, payload: Inertia<f64>) {
        self.robot = Cow::Owned(self.robot.clone().into_owned().carrying(payload));
    }

    pub(crate) fn load(&mut self, body: Option<&str>, wrench: Wrench<f64>) {
        let t = self.model().topology();
        let node = match body {
            None => Some(Node::Platform),
            Some(name) => t.body(name).map(Node::Body),
        };
        let tool = t.platform.tool.is_some();
        let names: Vec<String> = t.bodies.values().map(|b| b.name.clone()).collect();
        match node {
            Some(Node::Platform) if tool && wrench.m.norm() > 0.0 => {
                self.blame("the platform is a point, on which no moment acts; put the moment on a body".to_owned());
            }
            Some(node) => self.conditions.loads.push((node, wrench)),
            None => {
                let name = body.unwrap_or_default();
                self.blame(format!("no body `{name}`; {}", words::hint(name, &names)));
            }
        }
    }

    /// Value, rate and acceleration of a joint that the pose leaves open.
    pub(crate) fn open(&mut self, joint: &str, [q, rate, acceleration]: [Option<f64>; 3]) {
        let t = self.model().topology();
        let Some(c) = t.coord(joint).filter(|c| t.plan.given.contains(c)) else {
            let open: Vec<&str> = t.plan.given.iter().map(|c| t.coords[*c].name.as_str()).collect();
            let why = if open.is_empty() { "the pose leaves none open".to_owned() } else { open.join(", ") };
            self.blame(format!("`{joint}` is no joint that the pose leaves open: {why}"));
            return;
        };
        if let Some(q) = q {
            self.given.retain(|(other, _)| *other != c);
            self.given.push((c, q));
        }
        if rate.is_some() || acceleration.is_some() {
            let moves = [rate.unwrap_or(0.0), acceleration.unwrap_or(0.0)];
            self.conditions.open.retain(|(other, _)| *other != c);
            self.conditions.open.push((c, moves));
        }
    }

    /// Names of joints that the pose leaves open and that stand still.
    pub(crate) fn held(&self) -> Vec<String> {
        let t = self.model().topology();
        let still = t.plan.given.iter().filter(|c| !self.conditions.open.iter().any(|(o, _)| o == *c));
        still.map(|c| t.coords[*c].name.clone()).collect()
    }

    pub(crate) fn without_friction(&self) -> Conditions {
        Conditions { friction: None, ..self.conditions.clone() }
    }

    pub(crate) fn rub(&mut self, sign: Sign) {
        if let Sign::Smooth(width) = sign
            && !(width > 0.0 && width.is_finite())
        {
            self.blame(format!("the width of friction is {width}, not a positive rate"));
        }
        self.conditions.friction = Some(sign);
    }

    fn blame(&mut self, why: String) {
        self.fault.get_or_insert(Error::Question(why));
    }

    /// Numbers in the platform's own components, zero unless given.
    pub(crate) fn components(&self, given: Option<&[f64]>, what: &str) -> Result<Vec<f64>, Error> {
        let names = words::component_names(self.model());
        let Some(given) = given else { return Ok(vec![0.0; names.len()]) };
        let (n, names) = (names.len(), names.join(", "));
        if given.len() != n {
            return Err(Error::Question(format!("the {what} has {} numbers, not {n} ({names})", given.len())));
        }
        if let Some(x) = given.iter().find(|x| !x.is_finite()) {
            return Err(Error::Question(format!("the {what} has {x}, not a finite number")));
        }
        Ok(given.to_vec())
    }

    /// The question, when it makes sense, with its twist filled in.
    pub(crate) fn checked(&self) -> Result<Self, Error> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let numbers = self.conditions.loads.iter().flat_map(|(_, w)| w.to_array());
        let numbers = numbers.chain(self.given.iter().map(|g| g.1));
        if let Some(x) = numbers.chain(self.conditions.open.iter().flat_map(|o| o.1)).find(|x| !x.is_finite()) {
            return Err(Error::Question(format!("loads and joints have {x}, not a finite number")));
        }
        let twist = Some(self.components(self.twist.as_deref(), "twist")?);
        Ok(Self { twist, ..self.clone() })
    }
}

/// Methods of every question about one state.
macro_rules! state_methods {
    () => {
        /// Working mode; that of the file unless given.
        pub fn mode(mut self, mode: &crate::kinematics::WorkingMode) -> Self {
            self.asked.set_mode(mode);
            self
        }

        /// Twist of the platform in its own components; at rest unless given.
        pub fn twist(mut self, twist: &[f64]) -> Self {
            self.asked.set_twist(twist);
            self
        }

        /// A joint that the pose of a redundant robot leaves open: where it is.
        pub fn joint(mut self, name: &str, q: f64) -> Self {
            self.asked.open(name, [Some(q), None, None]);
            self
        }
    };
}
pub(crate) use state_methods;

/// Methods of questions about forces.
macro_rules! force_methods {
    () => {
        /// A joint that the pose of a redundant robot leaves open: its rate and acceleration.
        pub fn joint_motion(mut self, name: &str, rate: f64, acceleration: f64) -> Self {
            self.asked.open(name, [None, Some(rate), Some(acceleration)]);
            self
        }

        /// What the platform carries, in its own frame.
        pub fn payload(mut self, payload: crate::spatial::Inertia<f64>) -> Self {
            self.asked.carry(payload);
            self
        }

        /// Wrench from outside on the platform, at its origin, in world axes.
        pub fn wrench(mut self, wrench: crate::spatial::Wrench<f64>) -> Self {
            self.asked.load(None, wrench);
            self
        }

        /// Wrench from outside on a body, at the origin of its frame, in world axes.
        pub fn load(mut self, body: &str, wrench: crate::spatial::Wrench<f64>) -> Self {
            self.asked.load(Some(body), wrench);
            self
        }

        /// Friction of all joints: sharp, or smooth over a rate.
        pub fn friction(mut self, sign: crate::dynamics::Sign) -> Self {
            self.asked.rub(sign);
            self
        }
    };
}
pub(crate) use force_methods;
