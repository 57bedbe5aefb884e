//! States files, and poses as text and JSON.

use crate::angles;
use crate::ask::{Assigned, PosePart, check_parts, hint, joints_of, pose_of, rotation};
use crate::columns;
use crate::inputs;
use gough::description::{Coordinate, Coordinates, LeftOut};
use gough::kinematics::platform::{coordinates, home_pose, pose_with};
use gough::model::{CoordId, Model, Topology};
use gough::question::PlatformPose;
pub use gough::question::words::{component_names, coordinate_names};
use gough::spatial::orientation::{from_rpy, wrap};
use gough::spatial::{Mat3, Pose, Rotation, vec3};
use serde_json::{Value, json};
use std::path::Path;

/// `{"p": [..], "R": [[..], ..]}`, and `phi` of a planar platform.
pub fn pose_json(model: &Model<f64>, pose: &Pose<f64>) -> Value {
    json!(PlatformPose::new(model, pose))
}

/// What an answer leaves out, one line each.
pub fn left_out_text(list: &[LeftOut]) -> String {
    let one = |l: &LeftOut| {
        let of = if l.of.is_empty() { String::new() } else { format!(" ({})", l.of.join(", ")) };
        format!("left out: {}{of}\n", l.why)
    };
    list.iter().map(one).collect()
}

/// The platform coordinates of a pose, by name.
pub fn pose_text(model: &Model<f64>, pose: &Pose<f64>) -> String {
    let all = coordinates(model, pose);
    let platform = &model.topology().platform;
    let planar = platform.independent.iter().filter(|c| c.is_angle()).count() == 1;
    let names = ["x", "y", "z", "roll", "pitch", if planar { "phi" } else { "yaw" }];
    let shown = platform.independent.iter().chain(&platform.dependent);
    let value = |c: Coordinate| {
        let x = all[c.index()];
        if c.is_angle() { number(angles::shown(x), 1.0) } else { number(x, model.size()) }
    };
    shown.map(|c| format!("{} = {}", names[c.index()], value(*c).trim())).collect::<Vec<_>>().join("  ")
}

/// A joint coordinate, aligned.
pub fn joint_text(model: &Model<f64>, c: CoordId, q: f64) -> String {
    if model.topology().coords[c].slides { number(q, model.size()) } else { number(angles::shown(q), 1.0) }
}

/// Nine digits, aligned; what is only rounding beside `scale`, a radian or the size of the robot, is zero.
fn number(x: f64, scale: f64) -> String {
    let x = if x.abs() < 1e-12 * scale { 0.0 } else { x };
    if x != 0.0 && (x.abs() < 1e-4 || x.abs() >= 1e6) { format!("{x:>14.6e}") } else { format!("{x:>14.9}") }
}

/// What a state asks: where the platform is, how it moves, and joints that the pose leaves open.
pub struct AskedState {
    pub pose: Pose<f64>,
    pub given: Vec<(CoordId, f64)>,
    /// Twist and acceleration in the platform's own components.
    pub twist: Option<Vec<f64>>,
    pub acceleration: Option<Vec<f64>>,
    /// Efforts of the drives.
    pub efforts: Option<Vec<f64>>,
}

/// Columns of rates: `xd`, `phid`, `wx`; of accelerations with one more d.
pub fn rate_names(model: &Model<f64>, more: &str) -> Vec<String> {
    let name = |n: &str| if n.starts_with('w') { format!("{n}{more}") } else { format!("{n}d{more}") };
    component_names(model).into_iter().map(name).collect()
}

/// Longest line of a states file.
const LONGEST: u64 = 1 << 20;

/// Largest JSON document with a list of states; longer lists go line by line.
const LARGEST: u64 = 512 << 20;

/// How many states a file has, without looking at what they say.
pub fn count(path: &Path) -> Option<usize> {
    let lines = Lines::new(inputs::open(path).ok()?);
    match path.extension().and_then(std::ffi::OsStr::to_str) {
        Some("csv") => lines.filter(|l| !matches!(l, Ok((_, text)) if text.starts_with('#'))).count().checked_sub(1),
        Some("jsonl" | "ndjson") => Some(lines.count()),
        Some("npy") => crate::npy::Header::read(&mut inputs::open(path).ok()?).ok().map(|h| h.rows),
        Some("npz") => None,
        _ => read_json(inputs::read_limited(path, LARGEST).ok()?.trim_start_matches('\u{feff}')).ok().map(|l| l.len()),
    }
}

/// Lines of a file with their numbers, those without content left out. The first that cannot be read is the last.
pub struct Lines {
    file: Option<std::io::BufReader<std::fs::File>>,
    number: usize,
}

impl Lines {
    /// Lines of a file that is open.
    pub fn new(file: std::fs::File) -> Self {
        Self { file: Some(std::io::BufReader::new(file)), number: 0 }
    }

    /// The next line, or nothing at the end.
    fn read(&mut self) -> Result<Option<String>, String> {
        use std::io::{BufRead as _, Read as _};
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut line = Vec::new();
        let n = file.take(LONGEST + 1).read_until(b'\n', &mut line).map_err(|e| e.to_string())?;
        if n as u64 > LONGEST {
            return Err(format!("longer than {LONGEST} bytes; a line holds one state"));
        }
        if n == 0 {
            return Ok(None);
        }
        String::from_utf8(line).map(Some).map_err(|_| "not UTF-8".to_owned())
    }
}

impl Iterator for Lines {
    type Item = Result<(usize, String), String>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.number += 1;
            let line = match self.read().transpose()? {
                Ok(line) => line,
                Err(why) => {
                    self.file = None;
                    return Some(Err(format!("line {}: {why}", self.number)));
                }
            };
            let line = if self.number == 1 { line.trim_start_matches('\u{feff}') } else { &line };
            if !line.trim().is_empty() {
                return Some(Ok((self.number, line.trim_end_matches(['\n', '\r']).to_owned())));
            }
        }
    }
}

/// A list of states, an object with `states`, one state, or JSON Lines, whatever the states have.
pub fn read_any_json(text: &str) -> Result<Vec<Value>, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) if !map.contains_key("states") => Ok(vec![Value::Object(map)]),
        _ => read_json(text),
    }
}

/// The states of a JSON document.
pub fn read_json(text: &str) -> Result<Vec<Value>, String> {
    const EXPECTED: &str = "expected a list of states, or an object with `states`";
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(list)) => Ok(list),
        Ok(Value::Object(mut map)) => match map.remove("states") {
            Some(Value::Array(list)) => Ok(list),
            None if map.contains_key("pose") => Ok(vec![Value::Object(map)]),
            _ => Err(EXPECTED.to_owned()),
        },
        Ok(_) => Err(EXPECTED.to_owned()),
        Err(whole) => read_lines(text).map_err(|_| not_json(&whole, 0)),
    }
}

fn read_lines(text: &str) -> Result<Vec<Value>, String> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    lines.map(|(i, l)| serde_json::from_str(l).map_err(|e| not_json(&e, i))).collect()
}

/// A syntax fault in a text that begins after `before` lines of the file.
pub fn not_json(e: &serde_json::Error, before: usize) -> String {
    let text = e.to_string();
    let words = text.split(" at line ").next().unwrap_or_default();
    format!("line {}, column {}: not JSON: {words}", e.line() + before, e.column())
}

/// What a column of a CSV file holds.
enum StateColumn {
    Pose(PosePart),
    Joint,
    /// A component of the twist.
    Rate(usize),
    /// A component of the acceleration.
    Acceleration(usize),
    /// The effort of a drive.
    Effort(usize),
    /// Times, efforts and rates of joints, which this question does not need.
    Unused,
}

/// One line of a CSV file.
fn record(line: &str) -> Result<csv::StringRecord, String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).flexible(true).from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    reader.read_record(&mut record).map_err(|e| e.to_string())?;
    Ok(record)
}

/// The columns of a table of states: coordinates of the platform and joints that the pose leaves open, as in trajectory files.
pub struct CsvColumns {
    names: Vec<String>,
    columns: Vec<StateColumn>,
    /// All are numbers of the pose, of the motion, of the drives, or unused.
    plain: bool,
    /// The pose at home, and its angles.
    home: (Pose<f64>, [f64; 3]),
}

/// The columns that the header of a CSV file names, if any.
pub fn csv_columns(model: &Model<f64>, header: &str) -> Result<Option<CsvColumns>, String> {
    let names: Vec<String> = record(header)?.iter().map(str::to_owned).collect();
    if names.iter().all(String::is_empty) { Ok(None) } else { CsvColumns::new(model, names).map(Some) }
}

impl CsvColumns {
    /// Columns of these names.
    pub fn new(model: &Model<f64>, names: Vec<String>) -> Result<Self, String> {
        let columns = columns(model, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let plain =
            columns.iter().all(|c| !matches!(c, StateColumn::Joint | StateColumn::Pose(PosePart::Quaternion(_))));
        let home = home_pose(model);
        let all = coordinates(model, &home);
        Ok(Self { names, columns, plain, home: (home, [all[3], all[4], all[5]]) })
    }

    /// A line of the file: bare numbers, or cells of any other kind.
    pub fn line(&self, model: &Model<f64>, text: &str) -> Result<AskedState, String> {
        match self.bare(text) {
            Some(numbers) if self.plain => Ok(self.plain_state(model, &numbers)),
            _ => {
                let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
                row(model, &names, &self.columns, &record(text)?)
            }
        }
    }

    /// The cells, when all of them are finite numbers and nothing else.
    fn bare(&self, text: &str) -> Option<Vec<f64>> {
        let mut numbers = Vec::with_capacity(self.columns.len());
        for cell in text.split(',') {
            numbers.push(cell.trim().parse().ok().filter(|x: &f64| x.is_finite())?);
        }
        (numbers.len() == self.columns.len()).then_some(numbers)
    }

    /// A row of an array.
    pub fn state(&self, model: &Model<f64>, numbers: &[f64]) -> Result<AskedState, String> {
        if self.plain && numbers.iter().all(|x| x.is_finite()) {
            return Ok(self.plain_state(model, numbers));
        }
        let cells: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        row(model, &names, &self.columns, &csv::StringRecord::from(cells))
    }

    fn plain_state(&self, model: &Model<f64>, numbers: &[f64]) -> AskedState {
        let n = model.topology().platform.independent.len();
        let drives = model.topology().active.len();
        let (mut pose, mut angles) = self.home;
        let mut turned = false;
        let (mut twist, mut acceleration, mut efforts) = (None, None, None);
        for (column, x) in self.columns.iter().zip(numbers) {
            match column {
                StateColumn::Pose(PosePart::Coordinate(c)) if c.is_angle() => {
                    angles[c.index() - 3] = *x;
                    turned = true;
                }
                StateColumn::Pose(PosePart::Coordinate(c)) => pose.p[c.index()] = *x,
                StateColumn::Rate(k) => twist.get_or_insert_with(|| vec![0.0; n])[*k] = *x,
                StateColumn::Acceleration(k) => acceleration.get_or_insert_with(|| vec![0.0; n])[*k] = *x,
                StateColumn::Effort(k) => efforts.get_or_insert_with(|| vec![0.0; drives])[*k] = *x,
                StateColumn::Joint | StateColumn::Pose(PosePart::Quaternion(_)) | StateColumn::Unused => {}
            }
        }
        if turned {
            pose.R = from_rpy(angles[0], angles[1], angles[2]);
        }
        AskedState { pose, given: Vec::new(), twist, acceleration, efforts }
    }
}

fn owned(names: Vec<&'static str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// Names of the columns of a bare array: coordinates of the platform, its rates, its accelerations.
pub fn list_names(model: &Model<f64>, width: usize) -> Result<Vec<String>, String> {
    let names = [owned(coordinate_names(model)), rate_names(model, ""), rate_names(model, "d")];
    let n = names[0].len();
    if n > 0 && width.is_multiple_of(n) && (n..=3 * n).contains(&width) {
        return Ok(names.concat()[..width].to_vec());
    }
    let [pose, rates, accelerations] = names.map(|list| list.join(", "));
    Err(format!(
        "{width} numbers per state; give {n} ({pose}), {} (and {rates}) or {} (and {accelerations}), or an array with named fields",
        2 * n,
        3 * n
    ))
}

/// Names of the columns of an array in an archive.
pub fn array_names(model: &Model<f64>, name: &str, width: usize) -> Result<Vec<String>, String> {
    let names = match name {
        "pose" => owned(coordinate_names(model)),
        "twist" => rate_names(model, ""),
        "acceleration" => rate_names(model, "d"),
        "efforts" => model.topology().active_names().iter().map(|n| format!("tau_{n}")).collect(),
        other => vec![other.to_owned()],
    };
    if names.len() == width {
        return Ok(names);
    }
    Err(format!("`{name}` has {width} numbers per state, not {} ({})", names.len(), names.join(", ")))
}

fn columns(model: &Model<f64>, names: &[&str]) -> Result<Vec<StateColumn>, String> {
    let t = model.topology();
    let (rates, accelerations) = (rate_names(model, ""), rate_names(model, "d"));
    let column = |name: &str| {
        if let Some(k) = rates.iter().position(|n| n == name) {
            Ok(StateColumn::Rate(k))
        } else if let Some(k) = accelerations.iter().position(|n| n == name) {
            Ok(StateColumn::Acceleration(k))
        } else if let Some(k) = t.active.iter().position(|c| name.strip_prefix("tau_") == Some(&t.coords[*c].name)) {
            Ok(StateColumn::Effort(k))
        } else if let Some(part) = PosePart::named(name) {
            Ok(StateColumn::Pose(part))
        } else if let Some(c) = t.coord(name) {
            let open = t.plan.given.contains(&c);
            if open {
                Ok(StateColumn::Joint)
            } else {
                Err(format!("column `{name}` follows from the pose; leave it out"))
            }
        } else if is_rate_or_effort(t, name) {
            Ok(StateColumn::Unused)
        } else {
            let joints = t.plan.given.iter().map(|c| format!("q{}", t.coords[*c].name));
            let known: Vec<String> = PosePart::NAMES.iter().map(|n| (*n).to_owned()).chain(joints).collect();
            Err(format!("column `{name}` is not known; {}", hint(name, &known)))
        }
    };
    names.iter().try_for_each(|name| columns::told_apart(model, name))?;
    let columns = names.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        return Err(format!("column `{}` is there twice", twice.1));
    }
    let mut parts: Vec<(&str, PosePart)> = Vec::new();
    for (name, column) in names.iter().zip(&columns) {
        if let StateColumn::Pose(part) = column {
            parts.push((name, *part));
        }
    }
    check_parts(&t.platform, &parts)?;
    let efforts: Vec<String> = t.active_names().iter().map(|n| format!("tau_{n}")).collect();
    for list in [&rates, &accelerations, &efforts] {
        let missing: Vec<&str> = list.iter().map(String::as_str).filter(|n| !names.contains(n)).collect();
        if !missing.is_empty() && missing.len() < list.len() {
            return Err(format!("columns {} missing: give all of {} or none", missing.join(", "), list.join(", ")));
        }
    }
    Ok(columns)
}

/// `t`, `xd`, `phidd`, `q11d`, `wx`, `tau_11`: known from trajectory files.
fn is_rate_or_effort(t: &Topology, name: &str) -> bool {
    let turns = |n: &str| ["wx", "wy", "wz"].contains(&n);
    let moves = |n: &str| PosePart::named(n).is_some() || t.coord(n).is_some();
    let rate = |n: &str| moves(n) || n.strip_suffix('d').is_some_and(moves) || turns(n);
    name == "t"
        || turns(name)
        || name.strip_suffix('d').is_some_and(rate)
        || name
            .strip_prefix("tau_")
            .is_some_and(|joint| t.coord(joint.strip_suffix("_with_friction").unwrap_or(joint)).is_some())
}

fn row(
    model: &Model<f64>,
    names: &[&str],
    columns: &[StateColumn],
    record: &csv::StringRecord,
) -> Result<AskedState, String> {
    if record.len() != names.len() {
        return Err(format!("the header has {} columns, this line {}", names.len(), record.len()));
    }
    let (mut pose, mut joints) = (Vec::new(), Vec::new());
    let n = model.topology().platform.independent.len();
    let (mut twist, mut acceleration, mut efforts) = (None, None, None);
    let drives = model.topology().active.len();
    let number = |name: &str, cell: &str| columns::number(model, name, cell);
    for ((name, column), cell) in names.iter().zip(columns).zip(record) {
        match column {
            StateColumn::Pose(part) => pose.push((*part, Assigned::read(name, cell)?)),
            StateColumn::Joint => joints.push(Assigned::read(name, cell)?),
            StateColumn::Rate(k) => twist.get_or_insert_with(|| vec![0.0; n])[*k] = number(name, cell)?,
            StateColumn::Acceleration(k) => acceleration.get_or_insert_with(|| vec![0.0; n])[*k] = number(name, cell)?,
            StateColumn::Effort(k) => efforts.get_or_insert_with(|| vec![0.0; drives])[*k] = number(name, cell)?,
            StateColumn::Unused => columns::unused(model, name, cell)?,
        }
    }
    Ok(AskedState { pose: pose_of(model, &pose)?, given: open_joints(model, &joints)?, twist, acceleration, efforts })
}

/// Joints that the pose leaves open; others cannot be given beside it.
fn open_joints(model: &Model<f64>, given: &[Assigned]) -> Result<Vec<(CoordId, f64)>, String> {
    let list = joints_of(model, given)?;
    let t = model.topology();
    match list.iter().find(|(c, _)| !t.plan.given.contains(c)) {
        Some((c, _)) => Err(format!("q{} follows from the pose; leave it out", t.coords[*c].name)),
        None => Ok(list),
    }
}

/// What a state may ask.
const ASKED: [&str; 5] = ["pose", "joints", "twist", "acceleration", "efforts"];

/// What may stand beside it: answers and reference data.
const BESIDE: [&str; 33] = [
    "t",
    "active",
    "passive",
    "active_joints",
    "passive_joints",
    "robot",
    "working_mode",
    "residual",
    "assumed",
    "held",
    "error",
    "answered",
    "condition",
    "near_singularities",
    "internal_load",
    "null_space",
    "reactions",
    "derivatives",
    "M",
    "c",
    "M_active",
    "c_active",
    "efforts_with_friction",
    "kinetic_energy",
    "kinetic_energy_rotors",
    "potential_energy",
    "ground_wrench_on_robot",
    "work",
    "losses",
    "work_of_load",
    "active_qdd",
    "passive_qdd",
    "ddm_other_efforts",
];

/// Whether a name is one of an answer, or of a part of one such as `active.q`: nothing that a state asks.
pub fn beside(name: &str) -> bool {
    let whole = name.split('.').next().unwrap_or_default();
    BESIDE.contains(&name) || whole != name && BESIDE.contains(&whole)
}

/// What a state asks.
pub fn state_of(model: &Model<f64>, value: &Value) -> Result<AskedState, String> {
    let map = value.as_object().ok_or("a state is an object with `pose`")?;
    if let Some(key) = map.keys().map(String::as_str).find(|key| !ASKED.contains(key) && !beside(key)) {
        return Err(format!("a state has no `{key}`; {}", hint(key, &ASKED)));
    }
    let pose = map.get("pose").ok_or("the state has no `pose`")?;
    let joint = |(name, value): (&String, &Value)| match value {
        Value::Number(n) => Assigned::read(name, &n.to_string()),
        Value::String(text) => Assigned::read(name, text),
        _ => Err(format!("`joints.{name}` is not a number")),
    };
    let joints = match map.get("joints") {
        None => Vec::new(),
        Some(Value::Object(joints)) => joints.iter().map(joint).collect::<Result<_, _>>()?,
        Some(_) => return Err("`joints` is not an object of names and numbers".to_owned()),
    };
    let components = |key: &str, names: Vec<&str>| -> Result<Option<Vec<f64>>, String> {
        let n = names.len();
        let Some(value) = map.get(key) else { return Ok(None) };
        let list: Option<Vec<f64>> = value.as_array().and_then(|l| l.iter().map(Value::as_f64).collect());
        let list = list.filter(|l| l.len() == n && l.iter().all(|x| x.is_finite()));
        let names = names.join(", ");
        list.map(Some).ok_or_else(|| format!("`{key}` is not a list of {n} numbers ({names})"))
    };
    Ok(AskedState {
        pose: json_pose(model, pose)?,
        given: open_joints(model, &joints)?,
        twist: components("twist", component_names(model))?,
        acceleration: components("acceleration", component_names(model))?,
        efforts: components("efforts", model.topology().active_names())?,
    })
}

/// `p` with `R` or `quaternion`, or `phi` of a planar platform, which may also stand beside `R`.
pub fn json_pose(model: &Model<f64>, given: &Value) -> Result<Pose<f64>, String> {
    let platform = &model.topology().platform;
    let map = given.as_object().ok_or("`pose` is not an object with `p`")?;
    if let Some(key) = map.keys().find(|key| !["p", "R", "quaternion", "phi"].contains(&key.as_str())) {
        return Err(format!("`pose` has no `{key}`; it has `p` = [x, y, z] and `R`, `quaternion` or `phi`"));
    }
    let p = map.get("p").and_then(numbers::<3>).ok_or("`pose.p` is not a list of three numbers")?;
    let home = home_pose(model).R;
    let (p, planar) = (vec3(p[0], p[1], p[2]), platform.coordinates == Coordinates::Planar);
    if platform.tool.is_some() {
        return Ok(Pose { R: home, p });
    }
    let orientation = match (map.get("R"), map.get("quaternion"), map.get("phi")) {
        (Some(_), Some(_), _) => return Err("`R` and `quaternion` both give the orientation; give one".to_owned()),
        (Some(rows), None, _) => Rotation(matrix(rows).ok_or("`pose.R` is not a 3 x 3 matrix")?),
        (None, Some(q), _) => rotation(numbers(q).ok_or("`pose.quaternion` is not a list of four numbers")?)?,
        (None, None, Some(phi)) if planar => {
            let phi = phi.as_f64().ok_or("`pose.phi` is not a number")?;
            pose_with(model, &home_pose(model), &[(Coordinate::Rz, phi)]).R
        }
        (None, None, _) => {
            let turns = platform.independent.iter().any(|c| c.is_angle());
            if turns && platform.coordinates != Coordinates::Spatial {
                return Err("`pose` has no orientation; give `R` or `quaternion`".to_owned());
            }
            home
        }
    };
    let pose = Pose { R: orientation, p };
    let off = |phi: f64| wrap(phi - coordinates(model, &pose)[Coordinate::Rz.index()]).abs() > 1e-9;
    match map.get("phi").map(Value::as_f64) {
        Some(_) if !planar => Err("`pose.phi` is the angle of a planar platform; give `R` or `quaternion`".to_owned()),
        Some(phi) if phi.is_none_or(off) => Err("`phi` and the orientation of `pose` contradict each other".to_owned()),
        _ => Ok(pose),
    }
}

fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let list: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    list?.try_into().ok()
}

fn matrix(value: &Value) -> Option<Mat3<f64>> {
    let rows: Option<Vec<[f64; 3]>> = value.as_array()?.iter().map(numbers).collect();
    let rows: [[f64; 3]; 3] = rows?.try_into().ok()?;
    Some(Mat3::from_fn(|i, j| rows[i][j]))
}
