//! `gough idm` and `gough ddm` of robots with flexible bodies, springs or elastic transmissions.

use crate::ask;
use crate::batch;
use crate::failure::{Failure, error_json};
use crate::output::Output;
use crate::states::{self, component_names, left_out_text, pose_json, pose_text};
use crate::table::TableForm;
use gough::Robot;
use gough::description::{Concern, LeftOut};
use gough::dynamics::Sign;
use gough::elastodynamics::ElasticError;
use gough::elastodynamics::motion::{CaseMotion, FlexibleAnswer, FlexibleCase, FlexibleRobot};
use gough::kinematics::{Posture, SolveError, WorkingMode, inverse};
use gough::model::Node;
use gough::spatial::{Inertia, Wrench};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// What is asked besides the states.
pub struct FlexibleConditions {
    pub payload: Option<Inertia<f64>>,
    pub loads: Vec<(Node, Wrench<f64>)>,
    pub deflected: bool,
    pub direct: bool,
    pub friction: Option<Sign>,
}

/// A closed robot with its loads.
pub fn ready<'m>(
    robot: &'m Robot,
    near: &Posture,
    asked: &FlexibleConditions,
) -> Result<FlexibleRobot<'m>, ElasticError> {
    let mut flexible = FlexibleRobot::new(robot.model(), near)?;
    flexible.load(&asked.loads);
    asked.payload.into_iter().for_each(|p| flexible.carry(p));
    Ok(flexible)
}

/// A posture from which deformed ones are found: home, in the mode that is asked for.
pub fn near(robot: &Robot, mode: &WorkingMode) -> Result<Posture, SolveError> {
    inverse(robot.model(), robot.home().pose(), mode)
}

/// One state by its platform.
pub fn one(
    robot: &Robot,
    mode: &WorkingMode,
    motion: CaseMotion,
    efforts: Vec<f64>,
    asked: &FlexibleConditions,
    output: &Output,
) -> Result<(), Failure> {
    let near = near(robot, mode).map_err(Failure::InMode)?;
    let mut flexible = ready(robot, &near, asked)?;
    let case =
        FlexibleCase { motion, elastic: Vec::new(), elastic_rates: Vec::new(), efforts, deflected: asked.deflected };
    let (document, text) = answer(robot, &mut flexible, &near, &case, asked)?;
    let mut document = document;
    head(robot, &flexible, &mut document);
    output.give(|| document, || text + &left_out_text(&left_out(robot)))
}

/// What motion with the flexible parts leaves out of the robot file.
pub fn left_out(robot: &Robot) -> Vec<LeftOut> {
    robot.model().description().left_out(Concern::FlexibleMotion)
}

/// The states of a file.
pub fn many(
    robot: &Robot,
    mode: &WorkingMode,
    path: &Path,
    asked: &FlexibleConditions,
    output: &Output,
) -> Result<(), Failure> {
    let near = near(robot, mode).map_err(Failure::InMode)?;
    let flexible = ready(robot, &near, asked)?;
    let mut top = json!({});
    head(robot, &flexible, &mut top);
    let cases = cases(robot, path, asked)?;
    let answer = |i: usize, case: &Result<FlexibleCase, String>| -> batch::StateAnswer {
        let refused = |kind: &str, words: &str, misuse: bool| {
            let text =
                if output.json { error_json(kind, words).to_string() } else { format!("state {}\n{words}\n\n", i + 1) };
            batch::StateAnswer { text, refused: true, misuse }
        };
        match case {
            Err(why) => refused("not-a-state", why, true),
            Ok(case) => match answer(robot, &mut flexible.clone(), &near, case, asked) {
                Ok((document, text)) => batch::StateAnswer {
                    text: if output.json { document.to_string() } else { format!("state {}\n{text}\n", i + 1) },
                    refused: false,
                    misuse: false,
                },
                Err(e) => refused(e.kind(), &e.to_string(), e.is_misuse()),
            },
        }
    };
    let total = cases.len();
    let notes = |_| left_out_text(&left_out(robot));
    let frame = batch::Envelope { head: top, heading: String::new(), notes: &notes, total: &|| Some(total) };
    batch::run(Box::new(cases.into_iter()), TableForm::Document, &frame, output, &answer)
}

fn head(robot: &Robot, flexible: &FlexibleRobot<'_>, document: &mut Value) {
    let t = robot.model().topology();
    document["robot"] = json!(t.name);
    document["active_joints"] = json!(t.active_names());
    document["passive_joints"] = json!(t.passive_names());
    document["elastic_coordinates"] = json!(flexible.elastic_names());
    document["left_out"] = json!(left_out(robot));
}

const KEYS: [&str; 9] =
    ["active", "elastic", "pose", "twist", "acceleration", "efforts", "passive", "joints", "comment"];

/// States of a file: by their active joints, or by their platform, with elastic coordinates.
fn cases(robot: &Robot, path: &Path, asked: &FlexibleConditions) -> Result<Vec<Result<FlexibleCase, String>>, Failure> {
    if path.extension().is_some_and(|e| e == "csv") {
        let platform = |s: states::AskedState| FlexibleCase {
            motion: CaseMotion::Platform {
                pose: s.pose,
                twist: s.twist.unwrap_or_default(),
                acceleration: s.acceleration.unwrap_or_default(),
            },
            elastic: Vec::new(),
            elastic_rates: Vec::new(),
            efforts: s.efforts.unwrap_or_default(),
            deflected: asked.deflected,
        };
        return Ok(crate::source::stream(robot.model(), path)?.map(|s| s.map(platform)).collect());
    }
    let bad = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let text =
        std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    let list = states::read_any_json(text.trim_start_matches('\u{feff}')).map_err(bad)?;
    if list.is_empty() {
        return Err(bad("no states".to_owned()));
    }
    Ok(list.iter().map(|value| case(robot, value, asked)).collect())
}

/// `{"active": {"q": [..], "qd": [..], "qdd": [..]}, "elastic": {"q": [..], "qd": [..]}, "efforts": [..]}`, or with `pose`, `twist`
/// and `acceleration` in place of `active`.
fn case(robot: &Robot, value: &Value, asked: &FlexibleConditions) -> Result<FlexibleCase, String> {
    let map = value.as_object().ok_or("a state is an object with `active` or `pose`")?;
    if let Some(key) = map.keys().map(String::as_str).find(|k| !KEYS.contains(k)) {
        return Err(format!("a state has no `{key}`; {}", ask::hint(key, &KEYS)));
    }
    let list = |table: &Value, key: &str, name: &str| -> Result<Vec<f64>, String> {
        match table.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => list
                .iter()
                .map(|x| {
                    x.as_f64().filter(|x| x.is_finite()).ok_or_else(|| format!("`{name}` is not a list of numbers"))
                })
                .collect(),
            Some(_) => Err(format!("`{name}` is not a list of numbers")),
        }
    };
    let empty = json!({});
    let elastic = map.get("elastic").unwrap_or(&empty);
    let motion = match (map.get("active"), map.get("pose")) {
        (Some(_), Some(_)) if map.contains_key("twist") || map.contains_key("acceleration") => {
            return Err("give `active`, or `pose` with `twist` and `acceleration`, not both".to_owned());
        }
        (Some(active), _) => CaseMotion::Active {
            q: list(active, "q", "active.q")?,
            qd: list(active, "qd", "active.qd")?,
            qdd: list(active, "qdd", "active.qdd")?,
        },
        (None, Some(pose)) => CaseMotion::Platform {
            pose: states::json_pose(robot.model(), pose)?,
            twist: components(robot, list(value, "twist", "twist")?, "twist")?,
            acceleration: components(robot, list(value, "acceleration", "acceleration")?, "acceleration")?,
        },
        (None, None) => return Err("the state has neither `active` nor `pose`".to_owned()),
    };
    Ok(FlexibleCase {
        motion,
        elastic: list(elastic, "q", "elastic.q")?,
        elastic_rates: list(elastic, "qd", "elastic.qd")?,
        efforts: list(value, "efforts", "efforts")?,
        deflected: asked.deflected,
    })
}

fn components(robot: &Robot, list: Vec<f64>, key: &str) -> Result<Vec<f64>, String> {
    let names = component_names(robot.model());
    if !list.is_empty() && list.len() != names.len() {
        return Err(format!("`{key}` is not a list of {} numbers ({})", names.len(), names.join(", ")));
    }
    Ok(list)
}

fn answer(
    robot: &Robot,
    flexible: &mut FlexibleRobot<'_>,
    near: &Posture,
    case: &FlexibleCase,
    asked: &FlexibleConditions,
) -> Result<(Value, String), ElasticError> {
    let (found, rubbed) = if asked.direct {
        (flexible.answer_direct(near, case, asked.friction)?, None)
    } else {
        let (found, rubbed) = flexible.answer_inverse(near, case, asked.friction.unwrap_or_default())?;
        (found, Some(rubbed))
    };
    let mut document = serde_json::to_value(&found).unwrap_or_default();
    document["pose"] = pose_json(robot.model(), &found.pose);
    let own = |list: &[f64; 6]| -> Vec<f64> {
        robot.model().topology().platform.independent.iter().map(|c| list[c.index()]).collect()
    };
    document["twist"] = json!(own(&found.twist));
    document["acceleration"] = json!(own(&found.acceleration));
    if let Some(rubbed) = &rubbed {
        document["efforts_with_friction"] = json!(rubbed.efforts);
        document["elastic_qdd_with_friction"] = json!(rubbed.elastic_qdd);
    }
    document["working_mode"] = json!(near.mode().name(robot.model().topology()));
    Ok((document, text(robot, flexible, &found, rubbed.as_ref())))
}

fn text(
    robot: &Robot,
    flexible: &FlexibleRobot<'_>,
    found: &FlexibleAnswer,
    rubbed: Option<&FlexibleAnswer>,
) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{}, flexible, at {}\n\n", t.name, pose_text(model, &found.pose));
    let last = if rubbed.is_some() { "with friction" } else { "" };
    let _ = writeln!(out, "{:22}{:>16}{:>16}{:>16}{:>18}{:>18}", "", "q", "qd", "qdd", "effort", last);
    let row = |name: String, q: f64, qd: f64, qdd: f64| format!("{name:22}{q:>16.9}{qd:>16.6}{qdd:>16.6}");
    for (i, c) in t.active.iter().enumerate() {
        let unit = if t.coords[*c].slides { "N" } else { "N m" };
        let more = rubbed.map_or(String::new(), |r| format!("{:>18.6}", r.efforts[i]));
        let own = &found.active;
        let start = row(format!("q{}", t.coords[*c].name), own.q[i], own.qd[i], own.qdd[i]);
        let _ = writeln!(out, "{start}{:>18.6}{more} {unit}", found.efforts[i]);
    }
    for (i, c) in t.passive.iter().enumerate().take(found.passive.q.len()) {
        let own = &found.passive;
        let _ = writeln!(out, "{}", row(format!("q{}", t.coords[*c].name), own.q[i], own.qd[i], own.qdd[i]));
    }
    for (i, name) in flexible.elastic_names().into_iter().enumerate() {
        let own = &found.elastic;
        let _ = writeln!(out, "{}", row(name, own.q[i], own.qd[i], own.qdd[i]));
    }
    // Parts that give way accelerate otherwise where joints rub.
    if let Some(rubbed) = rubbed.filter(|r| r.efforts != found.efforts) {
        let _ = writeln!(out, "\n{:54}{:>18}", "elastic accelerations", "with friction");
        for (name, (own, other)) in
            flexible.elastic_names().into_iter().zip(found.elastic_qdd.iter().zip(&rubbed.elastic_qdd))
        {
            let _ = writeln!(out, "{name:38}{own:>16.6}{other:>18.6}");
        }
    }
    let a = found.acceleration;
    let _ = writeln!(
        out,
        "\nacceleration of the platform ({:.6}, {:.6}, {:.6}) m/s^2, ({:.6}, {:.6}, {:.6}) rad/s^2",
        a[0], a[1], a[2], a[3], a[4], a[5]
    );
    let _ = writeln!(
        out,
        "kinetic energy {:.6} J of the bodies, {:.6} J of the rotors; potential energy {:.6} J; elastic energy {:.6} J; {:.6} W lost to damping",
        found.kinetic_energy,
        found.kinetic_energy_rotors,
        found.potential_energy,
        found.elastic_energy,
        found.damping_power
    );
    out
}
