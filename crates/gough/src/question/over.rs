//! Questions about a region, a time or a file of code: maps, simulations, generated programs, dynamic parameters.

use super::Error;
use crate::Robot;
use crate::analysis::map::{Map, Quantity, drive_stiffness, map};
use crate::analysis::{Region, Span};
use crate::codegen::{Generated, Language, ModelKind, Options as CodeOptions, generate};
use crate::description::Coordinate;
use crate::identification::{BaseParameters, base_parameters};
use crate::kinematics::WorkingMode;
use crate::simulation::{Instant, Law, Options as SimulationOptions, Summary, simulate};
use crate::spatial::{Pose, Wrench};

/// A map over a region of the workspace; [`Robot::map`] begins it, [`MapQuestion::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct MapQuestion<'r> {
    robot: &'r Robot,
    quantity: String,
    at: Pose<f64>,
    spans: Vec<Span>,
    mode: Option<WorkingMode>,
    wrench: Option<Wrench<f64>>,
    stiffness: Option<f64>,
    fault: Option<String>,
}

impl Robot {
    /// A quantity over a region of the workspace, by its name in `gough map --quantity`; other coordinates are those of home.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let found = robot.map("conditioning").over("x", -0.1, 0.1, 11).over("y", 0.2, 0.3, 6).answer()?;
    /// assert_eq!(found.values.len(), 66);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn map(&self, quantity: &str) -> MapQuestion<'_> {
        MapQuestion {
            robot: self,
            quantity: quantity.to_owned(),
            at: *self.home().pose(),
            spans: Vec::new(),
            mode: None,
            wrench: None,
            stiffness: None,
            fault: None,
        }
    }

    /// Motion over time from a pose at rest: free, under efforts or under a controller. `go_on` sees every recorded instant and
    /// may stop it.
    ///
    /// ```
    /// use gough::{Law, SimulationOptions};
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let pose = robot.pose("x=0.05, y=0.25")?;
    /// let (summary, instants) = robot.simulate(&pose, &Law::Free, &SimulationOptions::lasting(0.01), |_| true)?;
    /// assert!(summary.t > 0.0099 && instants.len() > 2);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn simulate(
        &self,
        from: &Pose<f64>,
        law: &Law,
        options: &SimulationOptions,
        mut go_on: impl FnMut(&Instant) -> bool,
    ) -> Result<(Summary, Vec<Instant>), Error> {
        let mut instants = Vec::new();
        let mut record = |instant: &Instant| {
            instants.push(instant.clone());
            go_on(instant)
        };
        let rest = vec![0.0; self.coordinates().len()];
        let summary = simulate(self.model(), self.mode(), (from, &rest), law, options, &mut record)?;
        Ok((summary, instants))
    }

    /// A model as code in a language, numbers folded in.
    ///
    /// ```
    /// use gough::{Language, ModelKind};
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let code = robot.codegen(ModelKind::Idm, Language::C)?;
    /// assert!(code.files.iter().any(|f| f.name.ends_with(".c")));
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn codegen(&self, model: ModelKind, language: Language) -> Result<Generated, Error> {
        self.codegen_with(&CodeOptions::new(model, language))
    }

    /// A model as code, with every choice there is.
    pub fn codegen_with(&self, options: &CodeOptions) -> Result<Generated, Error> {
        Ok(generate(self, options)?)
    }

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
}

impl MapQuestion<'_> {
    /// Span a coordinate of the platform from one value to another in so many nodes.
    pub fn over(mut self, coordinate: &str, from: f64, to: f64, nodes: usize) -> Self {
        if let Some(coordinate) = Coordinate::named(coordinate) {
            self.spans.push(Span { coordinate, low: from, high: to, count: nodes });
        } else {
            let why = super::words::hint(coordinate, &super::words::Part::NAMES[..7]);
            self.fault.get_or_insert(format!("no platform coordinate `{coordinate}`; {why}"));
        }
        self
    }

    /// Where the coordinates are that are not spanned; home unless given.
    pub fn at(mut self, pose: &Pose<f64>) -> Self {
        self.at = *pose;
        self
    }

    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.mode = Some(mode.clone());
        self
    }

    /// The wrench that the drives balance, for `effort`.
    pub fn wrench(mut self, wrench: Wrench<f64>) -> Self {
        self.wrench = Some(wrench);
        self
    }

    /// Stiffness of every drive, for `stiffness`, where the file gives none.
    pub fn stiffness(mut self, stiffness: f64) -> Self {
        self.stiffness = Some(stiffness);
        self
    }

    /// The map.
    pub fn answer(&self) -> Result<Map, Error> {
        self.answer_while(&|_| true)
    }

    /// The map; now and then `go_on` is told how many nodes are done, and may stop it.
    pub fn answer_while(&self, go_on: &(dyn Fn(usize) -> bool + Sync)) -> Result<Map, Error> {
        if let Some(fault) = &self.fault {
            return Err(Error::Question(fault.clone()));
        }
        let model = self.robot.model();
        let own = |w: Wrench<f64>| {
            let all = w.to_array();
            model.topology().platform.independent.iter().map(|c| all[c.index()]).collect()
        };
        let quantity = Quantity::named(&self.quantity, drive_stiffness(model, self.stiffness), self.wrench.map(own))?;
        let region = Region::new(model, self.spans.clone(), &self.at)?;
        Ok(map(model, self.mode.as_ref().unwrap_or(self.robot.mode()), &region, &quantity, go_on))
    }
}
