//! Numbers that came with a shipped robot, beside those computed here.

use super::About;
use super::html::{Html, number};
use super::workspace::coordinates;
use gough::spatial::{Mat3, Pose, Rotation, vec3};
use gough::{Error, Robot};
use serde_json::Value;

pub fn beside(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    let robot = about.robot;
    let none = |why: &str| Error::Question(why.to_owned());
    let text =
        gough::robots::reference(robot.name()).ok_or_else(|| none("no published numbers come with this robot"))?;
    if !robot.source().set.is_empty() || robot.source().actuation.is_some() {
        return Err(none("the published numbers are those of the file as it is; leave --set and --actuation out"));
    }
    let data: Value = serde_json::from_str(text).map_err(|e| none(&e.to_string()))?;
    page.paragraph(data["source"].as_str().unwrap_or_default());
    let rigid = states(robot, &data, page)?;
    let vibrating = poses(about, &data, page)?;
    if rigid + vibrating == 0 {
        return Err(none(
            "its published numbers are of a kind that this report does not lay out; the tests of the library use them",
        ));
    }
    Ok(())
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// A pose as matrices.
fn pose(v: &Value) -> Option<Pose<f64>> {
    let p: [f64; 3] = numbers(&v["p"]).try_into().ok()?;
    let rows: Vec<Vec<f64>> = v["R"].as_array()?.iter().map(numbers).collect();
    let turn = Mat3::from_fn(|i, j| rows.get(i).and_then(|r| r.get(j)).copied().unwrap_or(0.0));
    Some(Pose { p: vec3(p[0], p[1], p[2]), R: Rotation(turn) })
}

/// States of motion: efforts of the drives of the rigid robot.
fn states(robot: &Robot, data: &Value, page: &mut Html) -> Result<usize, Error> {
    let mut rows = Vec::new();
    for (i, state) in data["states"].as_array().into_iter().flatten().enumerate() {
        let published = numbers(&state["efforts"]);
        let Some(at) = pose(&state["pose"]).filter(|_| !published.is_empty()) else { continue };
        let asked = robot.idm(&at).twist(&numbers(&state["twist"])).acceleration(&numbers(&state["acceleration"]));
        let ours = asked.rigid().answer()?.efforts;
        for ((name, a), b) in robot.active_joints().iter().zip(&published).zip(&ours) {
            let off = (a - b).abs() / published.iter().fold(1e-300_f64, |m, x| m.max(x.abs()));
            rows.push(vec![(i + 1).to_string(), format!("q{name}"), number(*a), number(*b), format!("{off:.1e}")]);
        }
    }
    if !rows.is_empty() {
        page.paragraph("Efforts of the drives in motion (twists and accelerations are in the file of numbers that comes with the robot):");
        page.table("published-efforts", &["state", "drive", "published", "here", "difference"], &rows);
    }
    Ok(rows.len())
}

/// Poses at rest: natural frequencies.
fn poses(about: &About<'_>, data: &Value, page: &mut Html) -> Result<usize, Error> {
    let robot = about.robot;
    let mut rows = Vec::new();
    for p in data["poses"].as_array().into_iter().flatten() {
        let lists: Vec<(&str, Vec<f64>)> = ["printed_hz", "frequencies_hz", "same_data_hz"]
            .into_iter()
            .filter_map(|key| Some((key, numbers(&p[key]))).filter(|(_, l)| !l.is_empty()))
            .collect();
        let at: Vec<f64> = robot.coordinates().iter().filter_map(|n| p["pose"][*n].as_f64()).collect();
        if lists.is_empty() || at.len() != robot.coordinates().len() {
            continue;
        }
        let count = lists.iter().map(|l| l.1.len()).min().unwrap_or(0).min(5);
        let ours = robot.frequencies(&robot.pose_at(&at)?).count(count).answer()?.frequencies_hz;
        for (k, f) in ours.iter().enumerate().take(count) {
            let mut row =
                vec![at.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "), (k + 1).to_string(), number(*f)];
            row.extend(
                ["printed_hz", "frequencies_hz", "same_data_hz"]
                    .map(|key| lists.iter().find(|l| l.0 == key).map_or_else(String::new, |l| number(l.1[k]))),
            );
            rows.push(row);
        }
    }
    if !rows.is_empty() {
        let names = robot.coordinates().join(", ");
        page.paragraph("Natural frequencies, Hz:");
        page.table(
            "published-frequencies",
            &[&names, "mode", "here", "printed", "independent model", "independent model, data of the file"],
            &rows,
        );
        let home = coordinates(about, &robot.coordinates_of(robot.home().pose()));
        page.command(&about.command("frequencies", &format!("--pose={home}")));
    }
    Ok(rows.len())
}
