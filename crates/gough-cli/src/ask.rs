//! Reading what a command is asked: the robot, its parameters, poses and joints.

use crate::failure::Failure;
use crate::inputs::{named_in, read_limited};
use crate::output::Output;
use clap::Args;
use gough::Robot;
use gough::description::{Coordinate, Coordinates, Dimension, Fault, LARGEST, Options, nearest, quantity};
use gough::kinematics::WorkingMode;
use gough::kinematics::platform::{coordinates, home_pose, pose_with};
use gough::model::{CoordId, Model, Platform};
use gough::spatial::orientation::from_quaternion;
use gough::spatial::{Pose, Rotation};
use std::path::Path;

/// The robot a command is about.
#[derive(Args)]
pub struct Subject {
    /// A shipped robot (`gough robots`) or a robot file
    pub robot: String,
    /// Set a parameter of the file: --set l1=0.42 or --set l1="420 mm"
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Which set of drives works (`actuation` of the file)
    #[arg(long, value_name = "NAME")]
    pub actuation: Option<String>,
    /// Let the robot file name files that are not below its own folder
    #[arg(long)]
    pub allow_outside: bool,
}

impl Subject {
    /// Read and compile it; the answer must not go into its file.
    pub fn load(&self, output: &Output) -> Result<Robot, Failure> {
        let (name, text, folder) = self.text(output)?;
        let set = self.set.iter().map(|s| split(s, "--set")).collect::<Result<Vec<_>, _>>()?;
        let files = |file: &str| {
            if gough::robots::text(&self.robot).is_some() {
                return gough::robots::file(&self.robot, file);
            }
            if let Some(shipped) = gough::robots::text(file) {
                return Ok(shipped.to_owned()); // an overlay may extend a shipped robot
            }
            let path = named_in(folder.as_deref().unwrap_or(Path::new(".")), file, self.allow_outside)?;
            read_limited(&path, 64 << 20).map_err(|e| e.to_string())
        };
        let stem = Path::new(&name).file_stem().map_or(name.clone(), |s| s.to_string_lossy().into_owned());
        let options = Options { set, files: &files, name: stem };
        Robot::from_toml(&name, &text, &options, self.actuation.as_deref())
            .map_err(|bad| Failure::BadRobot(Box::new(bad)))
    }

    /// Name, text and folder of the robot file.
    fn text(&self, output: &Output) -> Result<(String, String, Option<std::path::PathBuf>), Failure> {
        let path = Path::new(&self.robot);
        if let Some(text) = gough::robots::text(&self.robot) {
            return Ok((self.robot.clone(), text.to_owned(), None));
        }
        if path.symlink_metadata().is_err() {
            let near = nearest(&self.robot, gough::robots::names());
            let hint = near.map_or_else(
                || "`gough robots` lists those that are shipped".to_owned(),
                |n| format!("did you mean `{n}`?"),
            );
            return Err(Failure::Usage(format!("no shipped robot and no file is called `{}`; {hint}", self.robot)));
        }
        output.spares(path, "the robot file")?;
        let text = read_limited(path, LARGEST as u64 + 1)
            .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
        Ok((self.robot.clone(), text, Some(folder_of(path))))
    }
}

/// The folder a file is in.
fn folder_of(path: &Path) -> std::path::PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf()
}

fn split(text: &str, option: &str) -> Result<(String, String), Failure> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Failure::Usage(format!("{option} takes NAME=VALUE, found `{text}`")))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// A name and its value in SI units, with what its unit says.
pub struct Assigned {
    pub name: String,
    pub value: f64,
    dimension: Dimension,
}

impl Assigned {
    /// Read a number, a quantity such as `50 mm`, or an expression of such.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(format!("{name} is empty"));
        }
        let (value, dimension) = match text.parse::<f64>() {
            Ok(number) => (number, Dimension::Any),
            Err(_) => quantity(text).map_err(|fault| match fault {
                Fault::NotFinite { .. } => not_finite(name, text),
                Fault::UnknownName { .. } => {
                    format!("{name} is `{text}`, not a number; write a number or a quantity such as 50mm or 30deg")
                }
                _ => {
                    let help = fault.help().map_or(String::new(), |h| format!(" ({h})"));
                    format!("`{text}` for {name}: {fault}{help}")
                }
            })?,
        };
        if !value.is_finite() {
            return Err(not_finite(name, text));
        }
        Ok(Self { name: name.to_owned(), value, dimension })
    }

    /// The unit must fit these powers of metre, kilogram and second.
    pub fn must_have(&self, powers: [i32; 3], what: &str) -> Result<(), String> {
        let fits = self.dimension.fits(powers);
        if fits { Ok(()) } else { Err(format!("{} is {what}; its unit says otherwise", self.name)) }
    }

    /// The unit must fit.
    pub fn must_be(&self, length: bool) -> Result<(), String> {
        if self.dimension.fits(if length { [1, 0, 0] } else { [0, 0, 0] }) {
            return Ok(());
        }
        let kind = if length { "a length" } else { "an angle" };
        Err(format!("{} is {kind}; its unit says otherwise", self.name))
    }
}

fn not_finite(name: &str, text: &str) -> String {
    format!("{name} is `{text}`, not a finite number")
}

/// `x=0.1,phi=-60deg` as names and values.
pub fn assignments(text: &str, option: &str) -> Result<Vec<Assigned>, Failure> {
    let mut list: Vec<Assigned> = Vec::new();
    for part in text.split(',').filter(|p| !p.trim().is_empty()) {
        let (name, value) = split(part, option)?;
        list.push(Assigned::read(&name, &value).map_err(|m| Failure::Usage(format!("{option}: {m}")))?);
    }
    if list.is_empty() {
        return Err(Failure::Usage(format!("{option} is empty; write NAME=VALUE,..")));
    }
    Ok(list)
}

/// What a name in a pose stands for.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// A coordinate of the platform.
    Coordinate(Coordinate),
    /// A part of the quaternion of its orientation.
    Quaternion(usize),
}

const QUATERNION: [&str; 4] = ["qw", "qx", "qy", "qz"];

impl Part {
    /// By name.
    pub fn named(name: &str) -> Option<Self> {
        let quaternion = QUATERNION.iter().position(|n| *n == name).map(Part::Quaternion);
        quaternion.or_else(|| Coordinate::named(name).map(Part::Coordinate))
    }

    /// The usual names.
    pub const NAMES: [&str; 11] = ["x", "y", "z", "roll", "pitch", "yaw", "phi", "qw", "qx", "qy", "qz"];

    fn turns(self) -> bool {
        matches!(self, Part::Quaternion(_)) || matches!(self, Part::Coordinate(c) if c.is_angle())
    }
}

/// The usual name of a coordinate of this platform.
fn word(platform: &Platform, c: Coordinate) -> &'static str {
    let yaw = if platform.coordinates == Coordinates::Planar { "phi" } else { "yaw" };
    ["x", "y", "z", "roll", "pitch", yaw][c.index()]
}

/// The coordinates of this platform, in words.
pub fn coordinate_words(platform: &Platform) -> String {
    platform.independent.iter().map(|c| word(platform, *c)).collect::<Vec<_>>().join(", ")
}

/// A time in seconds, with or without its unit.
pub fn time(text: &str, option: &str) -> Result<f64, Failure> {
    let assigned = Assigned::read(option, text.trim()).map_err(Failure::Usage)?;
    assigned.must_have([0, 0, 1], "a time").map_err(Failure::Usage)?;
    Ok(assigned.value)
}

/// Whether these names say where the platform is: nothing twice, nothing that it has not, nothing missing.
pub fn check_parts(platform: &Platform, parts: &[(&str, Part)]) -> Result<(), String> {
    check_named(platform, parts)?;
    let words = |list: &[Coordinate]| list.iter().map(|c| word(platform, *c)).collect::<Vec<_>>().join(", ");
    let turned = parts.iter().any(|(_, p)| p.turns());
    let home = platform.coordinates == Coordinates::Spatial && !turned; // the orientation of home
    let missing: Vec<Coordinate> = open(platform, parts).into_iter().filter(|c| !(c.is_angle() && home)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let foreign = |p: Part| matches!(p, Part::Coordinate(c) if !platform.independent.contains(&c));
    let foreign: Vec<&str> = parts.iter().filter(|(_, p)| foreign(*p)).map(|(name, _)| *name).collect();
    let not = if foreign.is_empty() { String::new() } else { format!(", not {}", foreign.join(", ")) };
    let has = words(&platform.independent);
    Err(format!("{} missing; the coordinates of the platform are {has}{not}", words(&missing)))
}

/// Coordinates that these names leave open.
fn open(platform: &Platform, parts: &[(&str, Part)]) -> Vec<Coordinate> {
    let quaternion = parts.iter().any(|(_, p)| matches!(p, Part::Quaternion(_)));
    let given = |c: Coordinate| parts.iter().any(|(_, p)| *p == Part::Coordinate(c)) || c.is_angle() && quaternion;
    platform.independent.iter().copied().filter(|c| !given(*c)).collect()
}

/// Whether these names belong to the platform: nothing twice, nothing that it has not or that follows.
fn check_named(platform: &Platform, parts: &[(&str, Part)]) -> Result<(), String> {
    check_contradictions(parts)?;
    let words = |list: &[Coordinate]| list.iter().map(|c| word(platform, *c)).collect::<Vec<_>>().join(", ");
    let (has, follow) = (words(&platform.independent), &platform.dependent);
    for (name, part) in parts {
        if platform.tool.is_some() && part.turns() {
            return Err(format!("{name}: the platform is a point and has no orientation; its coordinates are {has}"));
        }
        if matches!(part, Part::Coordinate(c) if follow.contains(c)) {
            return Err(format!("{name} follows from the coordinates of the platform, {has}; leave it out"));
        }
        if matches!(part, Part::Quaternion(_)) && follow.iter().any(|c| c.is_angle()) {
            return Err(format!("{name}: not all angles are free, so that a quaternion says too much; give {has}"));
        }
    }
    Ok(())
}

/// One coordinate under two names, two kinds of orientation, or a part of a quaternion.
fn check_contradictions(parts: &[(&str, Part)]) -> Result<(), String> {
    for (i, (b, second)) in parts.iter().enumerate() {
        for (a, first) in &parts[..i] {
            if a == b {
                return Err(format!("{a} is given twice"));
            }
            if first == second {
                return Err(format!("{a} and {b} are the same coordinate; give one of them"));
            }
            let quaternions = [first, second].map(|p| matches!(p, Part::Quaternion(_)));
            if first.turns() && second.turns() && quaternions[0] != quaternions[1] {
                return Err(format!("{a} and {b} both give the orientation; give angles or a quaternion"));
            }
        }
    }
    let has = |k: usize| parts.iter().any(|(_, p)| *p == Part::Quaternion(k));
    let missing: Vec<&str> = (0..4).filter(|k| !has(*k)).map(|k| QUATERNION[k]).collect();
    match missing.len() {
        1..=3 => Err(format!("the quaternion is incomplete: {} missing", missing.join(", "))),
        _ => Ok(()),
    }
}

/// The pose with these parts, which go together; an orientation that is not given is that of home.
pub fn pose_of(model: &Model<f64>, given: &[(Part, Assigned)]) -> Result<Pose<f64>, String> {
    let mut coordinates: Vec<(Coordinate, f64)> = Vec::new();
    let mut quaternion = None;
    for (part, assigned) in given {
        match part {
            Part::Coordinate(c) => {
                assigned.must_be(!c.is_angle())?;
                coordinates.push((*c, assigned.value));
            }
            Part::Quaternion(k) => quaternion.get_or_insert([0.0; 4])[*k] = assigned.value,
        }
    }
    let mut pose = pose_with(model, &home_pose(model), &coordinates);
    if let Some(q) = quaternion {
        pose.R = rotation(q)?;
    }
    Ok(pose)
}

/// The rotation of a quaternion of any length but zero.
pub fn rotation(q: [f64; 4]) -> Result<Rotation<f64>, String> {
    let n = q.iter().fold(0.0_f64, |n, x| n.hypot(*x));
    if !(n > 1e-9 && n.is_finite()) {
        return Err("the quaternion is zero or not finite".to_owned());
    }
    Ok(from_quaternion(q.map(|x| x / n)))
}

/// `--pose`: coordinates by name, angles as roll, pitch, yaw or a quaternion; those left out are those of home.
pub fn pose(model: &Model<f64>, text: &str) -> Result<Pose<f64>, Failure> {
    pose_of(model, &parts(model, text)?).map_err(|m| Failure::Usage(format!("--pose: {m}")))
}

/// Coordinates that `--pose` leaves out, with their values of home.
pub fn from_home(model: &Model<f64>, text: &str) -> Result<Vec<(&'static str, f64)>, Failure> {
    let given = parts(model, text)?;
    let platform = &model.topology().platform;
    let names: Vec<(&str, Part)> = given.iter().map(|(part, a)| (a.name.as_str(), *part)).collect();
    let all = coordinates(model, &home_pose(model));
    Ok(open(platform, &names).into_iter().map(|c| (word(platform, c), all[c.index()])).collect())
}

/// `"from_home": {"y": 0.3}`: coordinates that the question left out, when there are such.
pub fn add_home(home: &[(&'static str, f64)], answer: &mut serde_json::Value) {
    if !home.is_empty() {
        answer["from_home"] = home.iter().map(|(name, x)| ((*name).to_owned(), serde_json::json!(x))).collect();
    }
}

/// `y as at home: --pose leaves it out`.
pub fn home_text(home: &[(&'static str, f64)]) -> String {
    let names: Vec<&str> = home.iter().map(|(name, _)| *name).collect();
    if names.is_empty() { String::new() } else { format!("{} as at home: --pose leaves it out\n", names.join(", ")) }
}

/// Names and values of `--pose`.
fn parts(model: &Model<f64>, text: &str) -> Result<Vec<(Part, Assigned)>, Failure> {
    let usage = |m: String| Failure::Usage(format!("--pose: {m}"));
    let mut given = Vec::new();
    for assigned in assignments(text, "--pose")? {
        let part = Part::named(&assigned.name).ok_or_else(|| {
            usage(format!("no platform coordinate `{}`; {}", assigned.name, hint(&assigned.name, &Part::NAMES)))
        })?;
        given.push((part, assigned));
    }
    let names: Vec<(&str, Part)> = given.iter().map(|(part, a)| (a.name.as_str(), *part)).collect();
    let platform = &model.topology().platform;
    check_named(platform, &names).map_err(usage)?;
    // A name that the platform has not stands in the place of one that it has: a slip.
    if names.iter().any(|(_, p)| matches!(p, Part::Coordinate(c) if !platform.independent.contains(c))) {
        check_parts(platform, &names).map_err(usage)?;
    }
    Ok(given)
}

/// `did you mean`, or all there are.
pub fn hint(name: &str, known: &[impl AsRef<str>]) -> String {
    let known = || known.iter().map(AsRef::as_ref);
    nearest(name, known()).map_or_else(
        || format!("there are {}", known().collect::<Vec<_>>().join(", ")),
        |n| format!("did you mean `{n}`?"),
    )
}

/// `--joints`: joints by name.
pub fn joints(model: &Model<f64>, text: &str) -> Result<Vec<(CoordId, f64)>, Failure> {
    joints_of(model, &assignments(text, "--joints")?).map_err(|m| Failure::Usage(format!("--joints: {m}")))
}

/// Joint values by name.
pub fn joints_of(model: &Model<f64>, given: &[Assigned]) -> Result<Vec<(CoordId, f64)>, String> {
    let topology = model.topology();
    let mut list: Vec<(CoordId, f64)> = Vec::new();
    for assigned in given {
        let name = &assigned.name;
        let Some(c) = topology.coord(name) else {
            let names: Vec<String> = topology.coords.values().map(|c| format!("q{}", c.name)).collect();
            return Err(format!("no joint `{name}`; {}", hint(name, &names)));
        };
        if let Some(k) = list.iter().position(|(other, _)| *other == c) {
            return Err(match &given[k].name {
                other if other == name => format!("{name} is given twice"),
                other => format!("{other} and {name} are the same joint; give one of them"),
            });
        }
        assigned.must_be(topology.coords[c].slides)?;
        list.push((c, assigned.value));
    }
    Ok(list)
}

/// Joints that the pose leaves open, that neither the question nor `near` of the file gives, and where they are taken.
pub fn assumed(model: &Model<f64>, given: &[(CoordId, f64)]) -> Vec<(CoordId, f64)> {
    let t = model.topology();
    let near = |c: CoordId| model.description().near.iter().any(|(name, _)| t.coord(&name.text) == Some(c));
    let open = t.plan.given.iter().copied().zip(model.numbers().given.iter().copied());
    open.filter(|(c, _)| !near(*c) && !given.iter().any(|(g, _)| g == c)).collect()
}

/// Which working modes are meant.
#[derive(Clone)]
pub enum Modes {
    /// Every one.
    All,
    /// This one.
    One(WorkingMode),
}

/// `--mode`: a name, `all`, or `None` when it was not given.
pub fn modes(robot: &Robot, text: Option<&str>) -> Result<Option<Modes>, Failure> {
    match text {
        None => Ok(None),
        Some("all") => Ok(Some(Modes::All)),
        Some(example) if example.contains('=') => {
            let joints = joints(robot.model(), example)?;
            Ok(Some(Modes::One(gough::kinematics::mode_by_example(robot.model(), &joints)?)))
        }
        Some(name) => Ok(Some(Modes::One(WorkingMode::parse(robot.model().topology(), &[name.to_owned()])?))),
    }
}
