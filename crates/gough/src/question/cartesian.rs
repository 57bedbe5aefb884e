//! Natural frequencies by the Cartesian method: one 6x6 problem at the platform.

use super::Error;
use super::frequencies::{Frequencies, FrequencySensitivity, by_effect};
use super::posed::PlatformPose;
use crate::description::{RodInertia, VirtualTwists};
use crate::elastodynamics::Vibration;
use crate::elastodynamics::cartesian::{Cartesian, CartesianReport, Choices, ModePair, compare};
use crate::kinematics::Posture;
use crate::spatial::Wrench;
use serde::Serialize;

/// A question to the Cartesian method; [`Frequencies::cartesian`] begins it, [`CartesianFrequencies::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct CartesianFrequencies<'r> {
    asked: Frequencies<'r>,
    choices: Choices,
    load: Option<Wrench<f64>>,
    clock: Option<fn() -> f64>,
}

/// Natural frequencies by the Cartesian method, the matrices they come from, and what every part contributes.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CartesianAnswer {
    /// Matrices, frequencies, motions of the platform and parts.
    #[serde(flatten)]
    pub report: CartesianReport,
    /// The robot.
    pub robot: String,
    /// The platform.
    pub pose: PlatformPose,
    /// Working mode by name.
    pub working_mode: String,
    /// How the frequencies depend on the parameters of the file, when asked for, largest effect first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivities: Option<Vec<FrequencySensitivity>>,
    /// The full method beside it, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<MethodComparison>,
}

/// Both methods side by side.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct MethodComparison {
    /// Mode by mode.
    pub modes: Vec<ModePair>,
    /// How long a posture took.
    pub seconds: MethodSeconds,
}

/// Seconds that each method took for a posture, its plan being made.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct MethodSeconds {
    /// The Cartesian method.
    pub cartesian: f64,
    /// The full method.
    pub full: f64,
}

impl<'r> Frequencies<'r> {
    /// Ask the Cartesian method: inertia of the rigid motion, stiffness of drives, joints and links at the platform.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("heli4")?;
    /// let found = robot.frequencies(robot.home().pose()).count(6).cartesian().answer()?;
    /// assert_eq!(found.report.rigid_hz.len(), 3);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn cartesian(self) -> CartesianFrequencies<'r> {
        let choices = Choices { actuators: self.actuators, ..Choices::of(self.robot.model()) };
        CartesianFrequencies { asked: self, choices, load: None, clock: None }
    }
}

impl CartesianFrequencies<'_> {
    /// Inertia of the rods of parallelograms; that of the file unless given.
    pub fn rods(mut self, rods: RodInertia) -> Self {
        self.choices.rods = rods;
        self
    }

    /// Motions against the constraints of a leg; those of the file unless given.
    pub fn virtual_twists(mut self, twists: VirtualTwists) -> Self {
        self.choices.virtual_twists = twists;
        self
    }

    /// Dead load on the platform, at its origin, in world axes.
    pub fn wrench(mut self, wrench: Wrench<f64>) -> Self {
        self.load = Some(wrench);
        self
    }

    /// Ask for the full method beside it, both timed by a clock that tells seconds.
    pub fn compared(mut self, clock: fn() -> f64) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The frequencies, or why there are none.
    pub fn answer(&self) -> Result<CartesianAnswer, Error> {
        let (robot, model) = (self.asked.robot, self.asked.robot.model());
        let posture = self.asked.posture()?;
        let mut c = Cartesian::new(model, robot.home(), self.choices)?;
        c.take_posture(&posture)?;
        let report = CartesianReport::new(&c, self.load, self.asked.count)?;
        let compare = self.clock.map(|clock| self.both(&mut c, &posture, report.frequencies_hz.len(), clock));
        let slopes = self.asked.sensitivities.then(|| c.sensitivities(posture.mode())).transpose()?;
        Ok(CartesianAnswer {
            robot: model.topology().name.clone(),
            pose: PlatformPose::new(model, posture.pose()),
            working_mode: posture.mode().name(model.topology()),
            sensitivities: slopes.map(|list| by_effect(list, &report.frequencies_hz)),
            compare: compare.transpose()?,
            report,
        })
    }

    /// Both methods at a posture, each with its plan made and timed from there.
    fn both(
        &self,
        c: &mut Cartesian<'_>,
        posture: &Posture,
        count: usize,
        clock: fn() -> f64,
    ) -> Result<MethodComparison, Error> {
        let robot = self.asked.robot;
        let mut v = Vibration::new(robot.model(), robot.home(), self.choices.actuators)?;
        let start = clock();
        v.take_posture(posture)?;
        v.lowest(count.min(v.modes()))?;
        let full = clock() - start;
        let start = clock();
        c.take_posture(posture)?;
        let unloaded = c.flexible(None)?;
        let cartesian = clock() - start;
        let modes: Vec<([f64; 6], f64)> = unloaded.twists.into_iter().zip(unloaded.hz).take(count).collect();
        Ok(MethodComparison { modes: compare(c, &modes, &mut v)?, seconds: MethodSeconds { cartesian, full } })
    }
}
