//! States files, and poses as text and JSON.

use crate::failure::Failure;
use gough::kinematics::platform::coordinates;
use gough::model::Model;
use gough::spatial::orientation::from_quaternion;
use gough::spatial::{Mat3, Pose, Rotation, vec3};
use serde_json::{Value, json};
use std::path::Path;

/// `{"p": [..], "R": [[..], ..]}`.
pub fn pose_json(pose: &Pose<f64>) -> Value {
    let m = &pose.R.0;
    let row = |i: usize| json!([m[(i, 0)], m[(i, 1)], m[(i, 2)]]);
    json!({ "p": [pose.p.x, pose.p.y, pose.p.z], "R": [row(0), row(1), row(2)] })
}

/// The platform coordinates of a pose, by name.
pub fn pose_text(model: &Model<f64>, pose: &Pose<f64>) -> String {
    let all = coordinates(pose);
    let platform = &model.topology().platform;
    let planar = platform.independent.iter().filter(|c| c.is_angle()).count() == 1;
    let names = ["x", "y", "z", "roll", "pitch", if planar { "phi" } else { "yaw" }];
    let shown = platform.independent.iter().chain(&platform.dependent);
    shown.map(|c| format!("{} = {}", names[c.index()], number(all[c.index()]).trim())).collect::<Vec<_>>().join("  ")
}

/// Nine significant digits, aligned.
pub fn number(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-4 || x.abs() >= 1e6) { format!("{x:>14.6e}") } else { format!("{x:>14.9}") }
}

/// Read a states file: a JSON list, `{"states": [..]}`, or JSON Lines.
pub fn read(path: &Path) -> Result<Vec<Value>, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    let bad = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => read_csv(&text).map_err(bad),
        Some("jsonl" | "ndjson") => read_lines(&text).map_err(bad),
        _ => match serde_json::from_str::<Value>(&text) {
            Ok(Value::Array(list)) => Ok(list),
            Ok(Value::Object(mut map)) => match map.remove("states") {
                Some(Value::Array(list)) => Ok(list),
                _ if map.contains_key("pose") => Ok(vec![Value::Object(map)]),
                _ => Err(bad("expected a list of states, or an object with `states`".to_owned())),
            },
            Ok(_) => Err(bad("expected a list of states, or an object with `states`".to_owned())),
            Err(whole) => read_lines(&text).map_err(|_| bad(format!("not JSON: {whole}"))),
        },
    }
}

fn read_lines(text: &str) -> Result<Vec<Value>, String> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    lines.map(|(i, l)| serde_json::from_str(l).map_err(|e| format!("line {}: {e}", i + 1))).collect()
}

/// CSV with a header of names: x, y, z and qw, qx, qy, qz or roll, pitch, yaw or phi.
fn read_csv(text: &str) -> Result<Vec<Value>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| e.to_string())?.clone();
    let mut states = Vec::new();
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|e| e.to_string())?;
        let mut coordinates = serde_json::Map::new();
        for (name, field) in header.iter().zip(&record) {
            let value: f64 =
                field.parse().map_err(|_| format!("row {}: `{field}` for {name} is not a number", i + 2))?;
            coordinates.insert(name.to_owned(), json!(value));
        }
        states.push(json!({ "coordinates": coordinates }));
    }
    Ok(states)
}

/// The pose of a state: `pose` with p and R or quaternion, or coordinates by name.
pub fn pose(model: &Model<f64>, state: &Value) -> Result<Pose<f64>, String> {
    let home = gough::kinematics::platform::home_pose(model);
    if let Some(map) = state.get("coordinates").and_then(Value::as_object) {
        return named_pose(model, map);
    }
    let given = state.get("pose").ok_or("the state has no `pose`")?;
    let list = |v: &Value| -> Option<Vec<f64>> { v.as_array()?.iter().map(Value::as_f64).collect() };
    let p = given.get("p").and_then(list).filter(|p| p.len() == 3).ok_or("`pose.p` is not a list of three numbers")?;
    let mut pose = Pose { R: home.R, p: vec3(p[0], p[1], p[2]) };
    if model.topology().platform.tool.is_some() {
        return Ok(pose);
    }
    if let Some(q) = given.get("quaternion") {
        let q = list(q).filter(|q| q.len() == 4).ok_or("`pose.quaternion` is not a list of four numbers")?;
        let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(n > 1e-9) {
            return Err("`pose.quaternion` is zero".to_owned());
        }
        pose.R = from_quaternion([q[0] / n, q[1] / n, q[2] / n, q[3] / n]);
    } else if let Some(rows) = given.get("R") {
        let rows: Option<Vec<Vec<f64>>> = rows.as_array().and_then(|r| r.iter().map(list).collect());
        let rows = rows.filter(|r| r.len() == 3 && r.iter().all(|row| row.len() == 3));
        let rows = rows.ok_or("`pose.R` is not a 3 x 3 matrix")?;
        pose.R = Rotation(Mat3::from_fn(|i, j| rows[i][j]));
    }
    Ok(pose)
}

fn named_pose(model: &Model<f64>, map: &serde_json::Map<String, Value>) -> Result<Pose<f64>, String> {
    let text: Vec<String> = map
        .iter()
        .filter(|(name, _)| {
            gough::description::Coordinate::named(name).is_some() || name.starts_with('q') && name.len() == 2
        })
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    crate::ask::pose(model, &text.join(",")).map_err(|failure| match failure {
        Failure::Usage(m) => m,
        _ => "no pose".to_owned(),
    })
}
