//! A robot ready to be asked: its file read, its model compiled, its home posture closed and its claims checked.

use crate::compile::{Compiled, Mobility, compile};
use crate::description::{BadRobot, Diagnostic, Options, read};
use crate::kinematics::{Posture, WorkingMode};
use crate::model::Model;
use crate::spatial::Inertia;

/// A compiled robot.
#[derive(Clone, Debug)]
pub struct Robot {
    model: Model<f64>,
    home: Posture,
    mobility: Mobility,
    remarks: Vec<Diagnostic>,
    name: String,
    text: String,
}

impl Robot {
    /// Read and compile a robot file. `name` is how the file is called in messages.
    pub fn from_toml(name: &str, text: &str, options: &Options<'_>, actuation: Option<&str>) -> Result<Self, BadRobot> {
        let bad = |faults| BadRobot { name: name.to_owned(), text: text.to_owned(), faults };
        let (description, mut remarks) = read(text, options).map_err(bad)?;
        let Compiled { model, home, mobility, remarks: found } = compile(description, actuation).map_err(bad)?;
        remarks.extend(found);
        Ok(Self { model, home, mobility, remarks, name: name.to_owned(), text: text.to_owned() })
    }

    /// The model.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// The same robot with a payload on its platform, see [`Model::carrying`].
    pub fn carrying(mut self, payload: Inertia<f64>) -> Self {
        self.model = self.model.carrying(payload);
        self
    }

    /// The home posture, in the working mode of the file.
    pub fn home(&self) -> &Posture {
        &self.home
    }

    /// The working mode of the file, or the one nearest to its `near` joints, or the first that reaches the home pose.
    pub fn mode(&self) -> &WorkingMode {
        self.home.mode()
    }

    /// Degrees of freedom by rank.
    pub fn mobility(&self) -> &Mobility {
        &self.mobility
    }

    /// What is worth knowing and no fault.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// Name of the file or shipped robot.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }
}
