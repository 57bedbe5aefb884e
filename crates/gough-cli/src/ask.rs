//! Reading what a command is asked: the robot, its parameters, poses and joints.

use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use gough::Robot;
use gough::description::{Coordinate, Dimension, LARGEST, Options, nearest, quantity};
use gough::kinematics::WorkingMode;
use gough::kinematics::platform::{home_pose, pose_with};
use gough::model::{CoordId, Model};
use gough::spatial::Pose;
use gough::spatial::orientation::from_quaternion;
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
}

impl Subject {
    /// Read and compile it; the answer must not go into its file.
    pub fn load(&self, output: &Output) -> Result<Robot, Failure> {
        let (name, text, folder) = self.text(output)?;
        let set = self.set.iter().map(|s| split(s, "--set")).collect::<Result<Vec<_>, _>>()?;
        let files = |file: &str| {
            let path = folder.as_deref().unwrap_or(Path::new(".")).join(file);
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
        if !path.exists() {
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
        Ok((self.robot.clone(), text, path.parent().map(Path::to_path_buf)))
    }
}

/// Read a text file, but not more than `most` bytes of it.
pub fn read_limited(path: &Path, most: u64) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn split(text: &str, option: &str) -> Result<(String, String), Failure> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Failure::Usage(format!("{option} takes NAME=VALUE, found `{text}`")))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// `x=0.1,phi=-60deg` as names and values in SI units, with what their units say.
pub fn assignments(text: &str, option: &str) -> Result<Vec<(String, f64, Dimension)>, Failure> {
    let mut list: Vec<(String, f64, Dimension)> = Vec::new();
    for part in text.split(',').filter(|p| !p.trim().is_empty()) {
        let (name, value) = split(part, option)?;
        let (number, dimension) = quantity_of(&value, &name, option)?;
        if list.iter().any(|(n, ..)| *n == name) {
            return Err(Failure::Usage(format!("{option}: {name} is given twice")));
        }
        list.push((name, number, dimension));
    }
    if list.is_empty() {
        return Err(Failure::Usage(format!("{option} is empty; write NAME=VALUE,..")));
    }
    Ok(list)
}

/// A number with or without a unit.
pub fn quantity_of(value: &str, name: &str, option: &str) -> Result<(f64, Dimension), Failure> {
    quantity(value).map_err(|fault| {
        let help = fault.help().map_or(String::new(), |h| format!(" ({h})"));
        Failure::Usage(format!("{option}: `{value}` for {name}: {fault}{help}"))
    })
}

/// What a unit says must fit the coordinate.
pub fn check_dimension(name: &str, dimension: Dimension, is_length: bool, option: &str) -> Result<(), Failure> {
    let expected = if is_length { [1, 0, 0] } else { [0, 0, 0] };
    if dimension.fits(expected) {
        return Ok(());
    }
    let kind = if is_length { "a length" } else { "an angle" };
    Err(Failure::Usage(format!("{option}: {name} is {kind}; its unit says otherwise")))
}

/// A platform pose: named coordinates over the home pose, angles as roll, pitch, yaw or a quaternion.
pub fn pose(model: &Model<f64>, text: &str) -> Result<Pose<f64>, Failure> {
    let mut given: Vec<(Coordinate, f64)> = Vec::new();
    let mut quaternion = [None; 4];
    for (name, value, dimension) in assignments(text, "--pose")? {
        if let Some(k) = ["qw", "qx", "qy", "qz"].iter().position(|n| *n == name) {
            quaternion[k] = Some(value);
            continue;
        }
        let Some(c) = Coordinate::named(&name) else {
            let known = ["x", "y", "z", "roll", "pitch", "yaw", "phi", "qw", "qx", "qy", "qz"];
            let hint = nearest(&name, known).map_or_else(|| known.join(", "), |n| format!("did you mean `{n}`?"));
            return Err(Failure::Usage(format!("--pose: no platform coordinate `{name}`; {hint}")));
        };
        check_dimension(&name, dimension, !c.is_angle(), "--pose")?;
        given.push((c, value));
    }
    let independent = &model.topology().platform.independent;
    let missing: Vec<&str> = independent
        .iter()
        .filter(|c| !given.iter().any(|(g, _)| g == *c))
        .filter(|c| !(c.is_angle() && quaternion.iter().any(Option::is_some)))
        .map(|c| ["x", "y", "z", "roll", "pitch", "yaw"][c.index()])
        .collect();
    if !missing.is_empty() && !missing.iter().all(|m| ["roll", "pitch", "yaw"].contains(m)) {
        return Err(Failure::Usage(format!("--pose: {} missing", missing.join(", "))));
    }
    let mut pose = pose_with(&home_pose(model), &given);
    if quaternion.iter().any(Option::is_some) {
        let q = quaternion.map(|x| x.unwrap_or(0.0));
        let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        if n < 1e-9 {
            return Err(Failure::Usage("--pose: the quaternion is zero".to_owned()));
        }
        pose.R = from_quaternion(q.map(|x| x / n));
    }
    Ok(pose)
}

/// Joint values by name.
pub fn joints(model: &Model<f64>, text: &str) -> Result<Vec<(CoordId, f64)>, Failure> {
    let topology = model.topology();
    let mut list = Vec::new();
    for (name, value, dimension) in assignments(text, "--joints")? {
        let Some(c) = topology.coord(&name) else {
            let names: Vec<String> = topology.coords.values().map(|c| format!("q{}", c.name)).collect();
            let hint = nearest(&name, names.iter().map(String::as_str))
                .map_or_else(|| names.join(", "), |n| format!("did you mean `{n}`?"));
            return Err(Failure::Usage(format!("--joints: no joint `{name}`; {hint}")));
        };
        check_dimension(&name, dimension, topology.coords[c].slides, "--joints")?;
        list.push((c, value));
    }
    Ok(list)
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
        Some(name) => Ok(Some(Modes::One(WorkingMode::parse(robot.model().topology(), &[name.to_owned()])?))),
    }
}
