//! Questions as JSON documents, answered by the methods of a [`Robot`](crate::robot::Robot) that programs call too.
//!
//! A question is `{"ask": NAME, ..}`. Where it is about a pose, `at` lists the coordinates of the platform and `mode` names the
//! working mode; without them it is about how the robot stands. The answer is `{"answer": ..}`, the document of the command of that
//! name, or `{"error": {"kind", "message", ..}}`.

use super::extent::plane_extent;
use super::portrait::Portrait;
use super::session::{RefusalDocument, Session};
use crate::analysis::map::frequency_number;
use crate::kinematics::WorkingMode;
use crate::question::{Error, LociAnswer, PostureAnswer};
use crate::simulation::SimulationOptions;
use crate::spatial::{Pose, Wrench};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often loci ask whether to go on, for each node of their grid.
const LOOKS_PER_NODE: f64 = 3.0;

/// Takes an answer as it is typed in the library: to write it as text, or to learn how its document looks.
pub trait Listener {
    /// An answer.
    fn hear<T: Serialize>(&mut self, answer: &T) -> Result<(), Error>;
}

/// How the robot stands, with its coordinates.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Stood {
    /// Joints, platform, working mode.
    #[serde(flatten)]
    pub posture: PostureAnswer,
    /// Coordinates of the platform.
    pub coordinates: Vec<f64>,
}

/// Curves of singularity, and which node of the plane is in which aspect.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct LociTraced {
    /// The curves.
    #[serde(flatten)]
    pub loci: LociAnswer,
    /// Number of the aspect of each node from 0, the first coordinate running fastest.
    pub aspect_of_node: Vec<Option<usize>>,
}

/// An answer as a document.
#[derive(Serialize)]
struct Answered<'a, T> {
    answer: &'a T,
}

/// Writes answers as text.
struct AsText(String);

impl Listener for AsText {
    fn hear<T: Serialize>(&mut self, answer: &T) -> Result<(), Error> {
        self.0 = serde_json::to_string(&Answered { answer }).map_err(|e| no_document(&e))?;
        Ok(())
    }
}

/// Keeps answers as values.
struct AsValue(Value);

impl Listener for AsValue {
    fn hear<T: Serialize>(&mut self, answer: &T) -> Result<(), Error> {
        self.0 = serde_json::to_value(Answered { answer }).map_err(|e| no_document(&e))?;
        Ok(())
    }
}

fn no_document(e: &serde_json::Error) -> Error {
    Error::Question(format!("the answer is no JSON document: {e}"))
}

impl Session {
    /// Answer a question given as text.
    pub fn ask_text(&mut self, question: &str) -> String {
        let mut text = AsText(String::new());
        let done = match serde_json::from_str::<Value>(question) {
            Ok(question) => self.hear(&question, &mut text),
            Err(e) => Err(Error::Question(format!("the question is no JSON document: {e}"))),
        };
        done.map_or_else(|e| error(&e).to_string(), |()| text.0)
    }

    /// Answer a question.
    pub fn ask(&mut self, question: &Value) -> Value {
        let mut value = AsValue(Value::Null);
        self.hear(question, &mut value).map_or_else(|e| error(&e), |()| value.0)
    }

    /// Tell a listener the answer to a question.
    pub fn hear(&mut self, q: &Value, to: &mut impl Listener) -> Result<(), Error> {
        match q["ask"].as_str().unwrap_or_default() {
            "robot" => to.hear(&Portrait::new(self.robot())),
            "extent" => to.hear(&plane_extent(self.robot(), self.asked_plane(q)?)),
            "robots" => to.hear(&crate::robots::names().collect::<Vec<_>>()),
            "source" => to.hear(self.robot().source()),
            "standing" => to.hear(&self.stood()),
            "place" => {
                let (at, mode) = (self.asked_at(q)?, self.asked_mode(q)?);
                self.place_in(&at, &mode)?;
                to.hear(&self.stood())
            }
            "drive" => {
                self.drive(&numbers(q, "motors")?)?;
                to.hear(&self.stood())
            }
            "modes" => to.hear(&self.robot().kinematics(&self.asked_pose(q)?).all_modes()?),
            "kinematics" => {
                to.hear(&self.robot().kinematics(&self.asked_pose(q)?).mode(&self.asked_mode(q)?).answer()?)
            }
            "assemblies" => {
                let motors = self.standing().active.q;
                to.hear(&self.robot().forward_geometry(&optional(q, "motors")?.unwrap_or(motors))?)
            }
            "singularities" => {
                to.hear(&self.robot().singularities(&self.asked_pose(q)?).mode(&self.asked_mode(q)?).answer()?)
            }
            "frequencies" => {
                let asked = self.robot().frequencies(&self.asked_pose(q)?).mode(&self.asked_mode(q)?);
                let asked = asked.count(count(q, "count", 6));
                let asked = if q["shapes"] == json!(true) { asked.shapes() } else { asked };
                to.hear(&if q["sensitivities"] == json!(true) { asked.sensitivities() } else { asked }.answer()?)
            }
            "idm" => self.efforts(q, to),
            "map" => self.map(q, to),
            "loci" => self.loci(q, to),
            "simulate" => {
                let seconds = q["seconds"].as_f64().unwrap_or(1.0);
                let mut options = SimulationOptions::lasting(seconds);
                options.every = q["every"].as_f64().unwrap_or(options.every);
                let asked = self.robot().simulate(&self.asked_pose(q)?, &options).mode(&self.asked_mode(q)?);
                to.hear(&asked.answer_while(&mut |t| self.goes_on(t / seconds))?)
            }
            other => Err(Error::Question(format!("there is no question `{other}`"))),
        }
    }

    /// `"of": ["x", "y"]`: places of two coordinates.
    fn asked_plane(&self, q: &Value) -> Result<[usize; 2], Error> {
        let names = self.robot().coordinates();
        let place = |k: usize| names.iter().position(|n| q["of"][k].as_str() == Some(*n));
        match [place(0), place(1)] {
            [Some(a), Some(b)] if a != b => Ok([a, b]),
            _ => Err(Error::Question(format!("`of` is no two of the coordinates {}", names.join(", ")))),
        }
    }

    fn asked_at(&self, q: &Value) -> Result<Vec<f64>, Error> {
        Ok(optional(q, "at")?.unwrap_or_else(|| self.coordinates()))
    }

    fn asked_pose(&self, q: &Value) -> Result<Pose<f64>, Error> {
        match optional(q, "at")? {
            Some(at) => self.robot().pose_at(&at),
            None => Ok(*self.posture().pose()),
        }
    }

    fn asked_mode(&self, q: &Value) -> Result<WorkingMode, Error> {
        match q["mode"].as_str() {
            Some(name) => self.robot().mode_named(name),
            None => Ok(self.posture().mode().clone()),
        }
    }

    fn efforts(&self, q: &Value, to: &mut impl Listener) -> Result<(), Error> {
        let mut asked = self.robot().idm(&self.asked_pose(q)?).mode(&self.asked_mode(q)?).rigid();
        if let Some(twist) = optional(q, "twist")? {
            asked = asked.twist(&twist);
        }
        if let Some(acceleration) = optional(q, "acceleration")? {
            asked = asked.acceleration(&acceleration);
        }
        if let Some(wrench) = optional(q, "wrench")? {
            let six: [f64; 6] = wrench.try_into().map_err(|_| not_numbers("wrench"))?;
            asked = asked.wrench(Wrench::from_array(six));
        }
        if q["reactions"] == json!(true) {
            asked = asked.reactions();
        }
        to.hear(&asked.answer()?)
    }

    fn map(&self, q: &Value, to: &mut impl Listener) -> Result<(), Error> {
        let quantity = q["quantity"].as_str().unwrap_or("conditioning");
        let mut asked = self.robot().map(quantity).at(&self.asked_pose(q)?).mode(&self.asked_mode(q)?);
        if frequency_number(quantity).is_some() {
            asked = asked.followed(false); // a page asks line by line, and lines must meet
        }
        let mut all = 1.0;
        for (name, [low, high], nodes) in spans(q)? {
            asked = asked.over(&name, low, high, nodes);
            all *= nodes as f64;
        }
        to.hear(&asked.answer_while(&|done| self.goes_on(done as f64 / all))?)
    }

    /// Curves; the share of them that is done is guessed from the nodes, each of which is looked at, searched around and compared.
    fn loci(&self, q: &Value, to: &mut impl Listener) -> Result<(), Error> {
        let mut asked = self.robot().loci().at(&self.asked_pose(q)?).mode(&self.asked_mode(q)?).accuracy(1e-4);
        let mut all = LOOKS_PER_NODE;
        for (name, [low, high], nodes) in spans(q)? {
            asked = asked.over(&name, low, high, nodes);
            all *= nodes as f64;
        }
        let looks = AtomicUsize::new(0);
        let look = || self.goes_on((looks.fetch_add(1, Ordering::Relaxed) as f64 / all).min(1.0));
        let loci = asked.answer_while(&look)?;
        to.hear(&LociTraced { aspect_of_node: loci.aspect_of_node.clone(), loci })
    }
}

fn error(e: &Error) -> Value {
    json!({ "error": RefusalDocument::new(e) })
}

fn not_numbers(key: &str) -> Error {
    Error::Question(format!("`{key}` is no list of as many finite numbers as it takes"))
}

fn optional(q: &Value, key: &str) -> Result<Option<Vec<f64>>, Error> {
    match &q[key] {
        Value::Null => Ok(None),
        Value::Array(list) => {
            list.iter().map(Value::as_f64).collect::<Option<_>>().map(Some).ok_or_else(|| not_numbers(key))
        }
        _ => Err(not_numbers(key)),
    }
}

fn numbers(q: &Value, key: &str) -> Result<Vec<f64>, Error> {
    optional(q, key)?.ok_or_else(|| not_numbers(key))
}

fn count(q: &Value, key: &str, default: usize) -> usize {
    q[key].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(default)
}

/// `"over": [["x", -0.1, 0.1, 21], ..]`.
fn spans(q: &Value) -> Result<Vec<(String, [f64; 2], usize)>, Error> {
    let list = q["over"].as_array().ok_or_else(|| not_numbers("over"))?;
    let one = |s: &Value| {
        let ends = [s[1].as_f64()?, s[2].as_f64()?];
        Some((s[0].as_str()?.to_owned(), ends, usize::try_from(s[3].as_u64()?).ok()?))
    };
    list.iter().map(one).collect::<Option<_>>().ok_or_else(|| not_numbers("over"))
}
