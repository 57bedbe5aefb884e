//! Dynamic parameters: which can be told apart, the motion that shows them, and their values from records.

use super::posed::{assumed, rows};
use super::{Error, words};
use crate::Robot;
use crate::dynamics::regressor::{StandardSet, regressor};
use crate::dynamics::{Conditions, Sign, inverse_dynamics};
use crate::identification::{
    BaseParameters, ESSENTIAL, Excitation, Identification, Limits, PossibleSet, Processing, Record, Search,
    base_parameters, excite, identify, possible_set,
};
use crate::kinematics::{WorkingMode, inverse};
use crate::spatial::Pose;
use serde::Serialize;
use std::collections::BTreeMap;

/// Parameters found from records, and bodies that can exist and meet them.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct IdentificationAnswer {
    /// Estimates, fits and residuals.
    #[serde(flatten)]
    pub found: Identification,
    /// What was held back.
    pub held_back: &'static str,
    /// Relative deviation, in per cent, below which a parameter is essential.
    pub essential_below: f64,
    /// Standard parameters nearest to the file's that meet the estimates, every body a possible one.
    pub possible: PossibleSet,
}

/// Efforts of the drives for a unit of each standard parameter, in one state.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct RegressorAnswer {
    /// Name of the robot.
    pub robot: String,
    /// Names of the drives: the rows of `regressor`.
    pub active_joints: Vec<String>,
    /// Names of the parameters: the columns.
    pub columns: Vec<String>,
    /// Their values in the file, SI.
    pub values: Vec<f64>,
    /// Efforts of the drives for a unit of each parameter.
    pub regressor: Vec<Vec<f64>>,
    /// Names of the platform's own components: the rows of `platform_regressor`, before those of drives that the platform does
    /// not feel.
    pub freedoms: Vec<String>,
    /// What a unit of each parameter asks of each freedom.
    pub platform_regressor: Vec<Vec<f64>>,
    /// What a unit effort of each drive gives to each freedom: a row per drive.
    pub drives: Vec<Vec<f64>>,
    /// Kinetic and potential energy for a unit of each parameter.
    pub energy: Vec<[f64; 2]>,
    /// Joints that the pose leaves open, with where they were taken, unless `near` of the file tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<BTreeMap<String, f64>>,
    /// Units of the parameters.
    #[serde(skip)]
    pub units: Vec<&'static str>,
}

impl Robot {
    /// Which dynamic parameters have an effect, alone or in groups; `friction` counts those of friction too.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// assert_eq!(robot.parameters(false, 1)?.base.len(), 7);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn parameters(&self, friction: bool, seed: u64) -> Result<BaseParameters, Error> {
        Ok(base_parameters(self, friction, seed)?)
    }

    /// The regressor at a pose for a twist and an acceleration in the platform's own components; `friction` tells the direction
    /// of Coulomb friction, and without it the parameters of friction are left out.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let pose = *robot.home().pose();
    /// let found = robot.regressor(&pose, robot.mode(), (&[0.1, 0.2], &[1.0, 2.0]), None)?;
    /// let effort: f64 = found.regressor[0].iter().zip(&found.values).map(|(y, x)| y * x).sum();
    /// let wanted = robot.idm(&pose).twist(&[0.1, 0.2]).acceleration(&[1.0, 2.0]).answer()?.efforts[0];
    /// assert!((effort - wanted).abs() < 1e-12);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn regressor(
        &self,
        pose: &Pose<f64>,
        mode: &WorkingMode,
        (twist, acceleration): (&[f64], &[f64]),
        friction: Option<Sign>,
    ) -> Result<RegressorAnswer, Error> {
        let model = self.model();
        let freedoms = words::component_names(model);
        for (list, what) in [(twist, "twist"), (acceleration, "acceleration")] {
            if list.len() != freedoms.len() || list.iter().any(|x| !x.is_finite()) {
                let why = format!("the {what} is not {} finite numbers ({})", freedoms.len(), freedoms.join(", "));
                return Err(Error::Question(why));
            }
        }
        let all = StandardSet::new(model);
        let set = if friction.is_some() { all } else { all.without_friction() };
        let posture = inverse(model, pose, mode)?;
        let sign = friction.unwrap_or_default();
        let at = regressor(model, &set, &posture, (twist, acceleration), sign, &Conditions::default())?;
        // Inverse dynamics says what moves, and why.
        let efforts =
            at.of_efforts().or_else(|why| inverse_dynamics(model, &posture, twist, acceleration).and(Err(why)))?;
        Ok(RegressorAnswer {
            robot: model.topology().name.clone(),
            active_joints: self.active_joints().into_iter().map(str::to_owned).collect(),
            columns: set.parameters.iter().map(|p| p.name.clone()).collect(),
            values: set.values(),
            regressor: rows(&efforts),
            freedoms: freedoms.into_iter().map(str::to_owned).collect(),
            platform_regressor: rows(&at.matrix),
            drives: rows(&at.drives),
            energy: at.energy,
            assumed: assumed(model, &[]),
            units: set.parameters.iter().map(|p| p.unit).collect(),
        })
    }

    /// A periodic motion within limits that shows the base parameters well.
    pub fn excite(&self, mode: &WorkingMode, limits: &Limits, search: &Search) -> Result<Excitation, Error> {
        Ok(excite(self, mode, limits, search)?)
    }

    /// Base parameters from records. Where no records are held back for the test, the last fifth of each is.
    pub fn identify(
        &self,
        mode: &WorkingMode,
        records: &[Record],
        held: &[Record],
        how: &Processing,
    ) -> Result<IdentificationAnswer, Error> {
        let split = held.is_empty();
        let (used, held): (Vec<Record>, Vec<Record>) =
            if split { records.iter().map(|r| r.split(0.8)).unzip() } else { (records.to_vec(), held.to_vec()) };
        let found = identify(self, mode, &used, &held, how)?;
        Ok(IdentificationAnswer {
            possible: possible_set(self, &found),
            found,
            held_back: if split { "the last fifth of each record" } else { "records of their own" },
            essential_below: 100.0 * ESSENTIAL,
        })
    }
}
