//! How a flexible robot answers to a force that goes to and fro.

use super::Error;
use super::posed::PlatformPose;
use super::words::body_point;
use crate::Robot;
use crate::elastodynamics::motion::{CaseMotion, FlexibleCase, FlexibleRobot, FrequencyResponse, ResponseKind};
use crate::kinematics::{WorkingMode, inverse};
use crate::spatial::Pose;
use serde::Serialize;

/// A question about a frequency response; [`Robot::response`] begins it, [`Response::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Response<'r> {
    robot: &'r Robot,
    pose: Pose<f64>,
    input: String,
    output: String,
    at: [Option<String>; 2],
    mode: Option<WorkingMode>,
    kind: ResponseKind,
    deflected: bool,
}

/// Response of the platform over frequency, drives held.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ResponseAnswer {
    /// Modes and compliance.
    #[serde(flatten)]
    pub found: FrequencyResponse,
    /// The frequencies asked for, Hz.
    pub frequencies_hz: Vec<f64>,
    /// Real and imaginary part at each.
    pub response: Vec<[f64; 2]>,
    /// The robot.
    pub robot: String,
    /// The platform.
    pub pose: PlatformPose,
    /// Component of the force.
    pub input: String,
    /// Component of the motion.
    pub output: String,
    /// The point where the force acts; none where it is the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_at: Option<String>,
    /// The point that moves; none where it is the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_at: Option<String>,
}

const FORCES: [&str; 6] = ["fx", "fy", "fz", "mx", "my", "mz"];
const MOTIONS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

impl Robot {
    /// How the platform moves along a component (`x`, .. `rz`) under a force (`fx`, .. `mz`) that goes to and fro.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar-flexible")?;
    /// let found = robot.response(robot.home().pose(), "fx", "x").answer(&[1.0, 10.0])?;
    /// assert!(found.response.len() == 2 && found.found.static_compliance > 0.0);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn response(&self, pose: &Pose<f64>, input: &str, output: &str) -> Response<'_> {
        Response {
            robot: self,
            pose: *pose,
            input: input.to_owned(),
            output: output.to_owned(),
            at: [None, None],
            mode: None,
            kind: ResponseKind::Receptance,
            deflected: false,
        }
    }
}

/// A unit vector by the name of its component.
fn unit(name: &str, names: [&str; 6], of: &str) -> Result<[f64; 6], Error> {
    let place = names.iter().position(|n| *n == name);
    let k = place.ok_or_else(|| Error::Question(format!("no {of} `{name}`; {}", super::words::hint(name, &names))))?;
    Ok(std::array::from_fn(|i| f64::from(u8::from(i == k))))
}

impl Response<'_> {
    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.mode = Some(mode.clone());
        self
    }

    /// Points where the force acts and where the motion is looked at, as [`Simulation::points`](super::Simulation::points) names them;
    /// the platform where none is given.
    pub fn between(mut self, input_at: Option<&str>, output_at: Option<&str>) -> Self {
        self.at = [input_at, output_at].map(|at| at.map(str::to_owned));
        self
    }

    /// What moves: displacement, speed or acceleration per force; displacement unless given.
    pub fn kind(mut self, kind: ResponseKind) -> Self {
        self.kind = kind;
        self
    }

    /// About the posture that gravity bends, in place of the unbent one.
    pub fn deflected(mut self) -> Self {
        self.deflected = true;
        self
    }

    /// The response at frequencies, or why there is none.
    pub fn answer(&self, frequencies_hz: &[f64]) -> Result<ResponseAnswer, Error> {
        let (input, output) = (unit(&self.input, FORCES, "force")?, unit(&self.output, MOTIONS, "motion")?);
        if let Some(f) = frequencies_hz.iter().find(|f| !(**f > 0.0 && f.is_finite())) {
            return Err(Error::Question(format!("a frequency is {f} Hz; they must be positive and finite")));
        }
        let (robot, model) = (self.robot, self.robot.model());
        let mode = self.mode.as_ref().unwrap_or(robot.mode());
        let near = inverse(model, &self.pose, mode).or_else(|_| inverse(model, robot.home().pose(), mode))?;
        let mut flexible = FlexibleRobot::new(model, &near)?;
        let case = FlexibleCase {
            motion: CaseMotion::Platform { pose: self.pose, twist: Vec::new(), acceleration: Vec::new() },
            elastic: Vec::new(),
            elastic_rates: Vec::new(),
            efforts: Vec::new(),
            deflected: self.deflected,
        };
        let (state, _) = flexible.prepare(&near, &case)?;
        let ends = [(&self.at[0], &self.input, input), (&self.at[1], &self.output, output)];
        let mut points = [None, None];
        for (point, (at, component, direction)) in points.iter_mut().zip(ends) {
            let Some(at) = at else { continue };
            let asked = body_point(model, at).map_err(|why| Error::Question(format!("a point: {why}")))?;
            let found = flexible.material_point(&asked)?;
            if !found.turns() && direction[3..].iter().any(|x| *x != 0.0) {
                let why = format!(
                    "{component} at {at}: of mesh nodes only displacements are known; take a named point of the modal body"
                );
                return Err(Error::Question(why));
            }
            *point = Some(found);
        }
        let found = flexible.response(&state, (points[0].as_ref(), input), (points[1].as_ref(), output))?;
        Ok(ResponseAnswer {
            response: frequencies_hz.iter().map(|f| found.at(*f, self.kind)).collect(),
            frequencies_hz: frequencies_hz.to_vec(),
            found,
            robot: model.topology().name.clone(),
            pose: PlatformPose::new(model, &self.pose),
            input: self.input.clone(),
            output: self.output.clone(),
            input_at: self.at[0].clone(),
            output_at: self.at[1].clone(),
        })
    }
}
