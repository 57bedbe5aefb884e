//! `gough idm` and `gough ddm` of robots with flexible bodies, springs or elastic transmissions.

use crate::ask;
use crate::batch;
use crate::failure::{Failure, error_json};
use crate::output::Output;
use crate::states::{self, component_names, left_out_text, pose_text};
use crate::table::TableForm;
use gough::Robot;
use gough::elastodynamics::motion::{CaseMotion, FlexibleCase};
use gough::model::CoordId;
use gough::question::{FlexibleEfforts, FlexibleMotion, JointMotion, ReadyFlexible};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The state of the question, by its platform.
pub fn one(robot: &Robot, asked: &FlexibleMotion<'_>, output: &Output) -> Result<(), Failure> {
    let ready = asked.ready().map_err(in_mode)?;
    let found = ready.answer(asked.case())?;
    let document = || {
        let mut document = json!(found);
        head(robot, &ready, &mut document);
        document
    };
    output.give(document, || text(robot, &ready, &found) + &left_out_text(&ready.left_out()))
}

/// A mode in which home cannot be reached: another may do.
fn in_mode(e: gough::Error) -> Failure {
    match e {
        gough::Error::Solve(e) => Failure::InMode(e),
        e => e.into(),
    }
}

/// The states of a file, under the conditions of the question.
pub fn many(robot: &Robot, asked: &FlexibleMotion<'_>, path: &Path, output: &Output) -> Result<(), Failure> {
    let ready = asked.ready().map_err(in_mode)?;
    let mut top = json!({});
    head(robot, &ready, &mut top);
    let cases = cases(robot, path, asked.case().deflected)?;
    let answer = |i: usize, case: &Result<FlexibleCase, String>| -> batch::StateAnswer {
        let refused = |kind: &str, words: &str, misuse: bool| {
            let text =
                if output.json { error_json(kind, words).to_string() } else { format!("state {}\n{words}\n\n", i + 1) };
            batch::StateAnswer { text, refused: true, misuse }
        };
        match case.as_ref().map(|case| ready.answer(case)) {
            Err(why) => refused("not-a-state", why, true),
            Ok(Ok(found)) => batch::StateAnswer {
                text: if output.json {
                    json!(found).to_string()
                } else {
                    format!("state {}\n{}\n", i + 1, text(robot, &ready, &found))
                },
                refused: false,
                misuse: false,
            },
            Ok(Err(e)) => refused(e.kind(), &e.to_string(), e.is_misuse()),
        }
    };
    let total = cases.len();
    let notes = |_| left_out_text(&ready.left_out());
    let frame = batch::Envelope { head: top, heading: String::new(), notes: &notes, total: &|| Some(total) };
    batch::run(Box::new(cases.into_iter()), TableForm::Document, &frame, output, &answer)
}

fn head(robot: &Robot, ready: &ReadyFlexible<'_>, document: &mut Value) {
    let t = robot.model().topology();
    document["robot"] = json!(t.name);
    document["active_joints"] = json!(t.active_names());
    document["passive_joints"] = json!(t.passive_names());
    document["elastic_coordinates"] = json!(ready.elastic_coordinates());
    document["left_out"] = json!(ready.left_out());
}

const KEYS: [&str; 9] =
    ["active", "elastic", "pose", "twist", "acceleration", "efforts", "passive", "joints", "comment"];

/// States of a file: by their active joints, or by their platform, with elastic coordinates.
fn cases(robot: &Robot, path: &Path, deflected: bool) -> Result<Vec<Result<FlexibleCase, String>>, Failure> {
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
            deflected,
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
    Ok(list.iter().map(|value| case(robot, value, deflected)).collect())
}

/// `{"active": {"q": [..], "qd": [..], "qdd": [..]}, "elastic": {"q": [..], "qd": [..]}, "efforts": [..]}`, or with `pose`, `twist`
/// and `acceleration` in place of `active`. What an answer holds beside that is not looked at.
fn case(robot: &Robot, value: &Value, deflected: bool) -> Result<FlexibleCase, String> {
    let map = value.as_object().ok_or("a state is an object with `active` or `pose`")?;
    let is_answer = map.contains_key("elastic_energy");
    if let Some(key) = map.keys().map(String::as_str).find(|k| !is_answer && !KEYS.contains(k)) {
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
        (Some(_), Some(_)) if !is_answer && (map.contains_key("twist") || map.contains_key("acceleration")) => {
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
        deflected,
    })
}

fn components(robot: &Robot, list: Vec<f64>, key: &str) -> Result<Vec<f64>, String> {
    let names = component_names(robot.model());
    if !list.is_empty() && list.len() != names.len() {
        return Err(format!("`{key}` is not a list of {} numbers ({})", names.len(), names.join(", ")));
    }
    Ok(list)
}

fn text(robot: &Robot, ready: &ReadyFlexible<'_>, found: &FlexibleEfforts) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{}, flexible, at {}\n\n", t.name, pose_text(model, &found.pose.pose()));
    let last = if found.efforts_with_friction.is_some() { "with friction" } else { "" };
    let _ = writeln!(out, "{:22}{:>16}{:>16}{:>16}{:>18}{:>18}", "", "q", "qd", "qdd", "effort", last);
    let row = |name: &str, m: &JointMotion, i: usize| {
        let at = |list: &Option<Vec<f64>>| list.as_ref().map_or(0.0, |x| x[i]);
        format!("{name:22}{:>16.9}{:>16.6}{:>16.6}", m.q[i], at(&m.qd), at(&m.qdd))
    };
    let joint = |c: CoordId| format!("q{}", t.coords[c].name);
    for (i, c) in t.active.iter().enumerate() {
        let unit = if t.coords[*c].slides { "N" } else { "N m" };
        let more = found.efforts_with_friction.as_ref().map_or(String::new(), |e| format!("{:>18.6}", e[i]));
        let start = row(&joint(*c), &found.active, i);
        let _ = writeln!(out, "{start}{:>18.6}{more} {unit}", found.efforts[i]);
    }
    for (i, c) in t.passive.iter().enumerate().take(found.passive.q.len()) {
        let _ = writeln!(out, "{}", row(&joint(*c), &found.passive, i));
    }
    let elastic = ready.elastic_coordinates();
    for (i, name) in elastic.iter().enumerate() {
        let _ = writeln!(out, "{}", row(name, &found.elastic, i));
    }
    // Parts that give way accelerate otherwise where joints rub.
    if let (Some(efforts), Some(rubbed)) = (&found.efforts_with_friction, &found.elastic_qdd_with_friction)
        && *efforts != found.efforts
    {
        let _ = writeln!(out, "\n{:54}{:>18}", "elastic accelerations", "with friction");
        for (name, (own, other)) in elastic.iter().zip(found.elastic_qdd.iter().zip(rubbed)) {
            let _ = writeln!(out, "{name:38}{own:>16.6}{other:>18.6}");
        }
    }
    let accelerations = component_names(model).into_iter().zip(&found.acceleration);
    let list: Vec<String> = accelerations.map(|(name, a)| format!("{name} = {a:.6}")).collect();
    let _ = writeln!(out, "\nacceleration of the platform {}", list.join("  "));
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
