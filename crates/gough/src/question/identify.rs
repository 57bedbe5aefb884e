//! Dynamic parameters: which can be told apart, the motion that shows them, and their values from records.

use super::Error;
use crate::Robot;
use crate::identification::{
    BaseParameters, ESSENTIAL, Excitation, Identification, Limits, PossibleSet, Processing, Record, Search,
    base_parameters, excite, identify, possible_set,
};
use crate::kinematics::WorkingMode;
use serde::Serialize;

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
