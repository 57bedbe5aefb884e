//! Questions as JSON documents, answered by the methods of a [`Robot`](crate::robot::Robot) that programs call too.
//!
//! A question is `{"ask": NAME, ..}`. Where it is about a pose, `at` lists the coordinates of the platform and `mode` names the
//! working mode; without them it is about how the robot stands. The answer is `{"answer": ..}`, the document of the command of that
//! name, or `{"error": {"kind", "message", ..}}`.

use super::portrait::Portrait;
use super::session::{RefusalDocument, Session};
use crate::analysis::map::frequency_number;
use crate::kinematics::WorkingMode;
use crate::question::Error;
use crate::simulation::SimulationOptions;
use crate::spatial::{Pose, Wrench};
use serde::Serialize;
use serde_json::{Value, json};

impl Session {
    /// Answer a question given as text.
    pub fn ask_text(&mut self, question: &str) -> String {
        let answer = match serde_json::from_str::<Value>(question) {
            Ok(question) => self.ask(&question),
            Err(e) => error(&Error::Question(format!("the question is no JSON document: {e}"))),
        };
        answer.to_string()
    }

    /// Answer a question.
    pub fn ask(&mut self, question: &Value) -> Value {
        match self.answer(question) {
            Ok(answer) => json!({ "answer": answer }),
            Err(e) => error(&e),
        }
    }

    fn answer(&mut self, q: &Value) -> Result<Value, Error> {
        match q["ask"].as_str().unwrap_or_default() {
            "robot" => document(&Portrait::new(self.robot())),
            "robots" => Ok(json!(crate::robots::names().collect::<Vec<_>>())),
            "source" => {
                let source = self.robot().source();
                let (set, actuation) = (&source.set, &source.actuation);
                Ok(
                    json!({ "name": source.name, "text": source.text, "files": source.files, "set": set, "actuation": actuation }),
                )
            }
            "standing" => document(&self.standing()),
            "place" => {
                let (at, mode) = (self.asked_at(q)?, self.asked_mode(q)?);
                self.place_in(&at, &mode)?;
                self.stood()
            }
            "drive" => {
                self.drive(&numbers(q, "motors")?)?;
                self.stood()
            }
            "modes" => document(&self.robot().kinematics(&self.asked_pose(q)?).all_modes()?),
            "kinematics" => {
                document(&self.robot().kinematics(&self.asked_pose(q)?).mode(&self.asked_mode(q)?).answer()?)
            }
            "assemblies" => {
                let motors = self.standing().active.q;
                document(&self.robot().forward_geometry(&optional(q, "motors")?.unwrap_or(motors))?)
            }
            "singularities" => {
                document(&self.robot().singularities(&self.asked_pose(q)?).mode(&self.asked_mode(q)?).answer()?)
            }
            "frequencies" => {
                let asked = self.robot().frequencies(&self.asked_pose(q)?).mode(&self.asked_mode(q)?);
                let asked = asked.count(count(q, "count", 6));
                let asked = if q["shapes"] == json!(true) { asked.shapes() } else { asked };
                document(&if q["sensitivities"] == json!(true) { asked.sensitivities() } else { asked }.answer()?)
            }
            "idm" => self.efforts(q),
            "map" => self.map(q),
            "loci" => self.loci(q),
            "simulate" => {
                let seconds = q["seconds"].as_f64().unwrap_or(1.0);
                let mut options = SimulationOptions::lasting(seconds);
                options.every = q["every"].as_f64().unwrap_or(options.every);
                document(&self.robot().simulate(&self.asked_pose(q)?, &options).mode(&self.asked_mode(q)?).answer()?)
            }
            other => Err(Error::Question(format!("there is no question `{other}`"))),
        }
    }

    /// How it stands, with its coordinates.
    fn stood(&self) -> Result<Value, Error> {
        let mut stood = document(&self.standing())?;
        stood["coordinates"] = json!(self.coordinates());
        Ok(stood)
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

    fn efforts(&self, q: &Value) -> Result<Value, Error> {
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
        document(&asked.answer()?)
    }

    fn map(&self, q: &Value) -> Result<Value, Error> {
        let quantity = q["quantity"].as_str().unwrap_or("conditioning");
        let mut asked = self.robot().map(quantity).at(&self.asked_pose(q)?).mode(&self.asked_mode(q)?);
        if frequency_number(quantity).is_some() {
            asked = asked.followed(false); // a page asks line by line, and lines must meet
        }
        for (name, [low, high], nodes) in spans(q)? {
            asked = asked.over(&name, low, high, nodes);
        }
        document(&asked.answer()?)
    }

    fn loci(&self, q: &Value) -> Result<Value, Error> {
        let mut asked = self.robot().loci().at(&self.asked_pose(q)?).mode(&self.asked_mode(q)?).accuracy(1e-4);
        for (name, [low, high], nodes) in spans(q)? {
            asked = asked.over(&name, low, high, nodes);
        }
        document(&asked.answer()?)
    }
}

fn error(e: &Error) -> Value {
    json!({ "error": RefusalDocument::new(e) })
}

fn document(answer: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(|e| Error::Question(format!("the answer is no JSON document: {e}")))
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
