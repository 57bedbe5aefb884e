//! Reading what a command is asked: the robot, its parameters, poses and joints.

use crate::failure::Failure;
use crate::inputs::{named_in, read_limited};
use crate::output::Output;
use crate::states::joint_text;
use clap::Args;
use gough::Robot;
use gough::description::{LARGEST, ReadOptions, nearest};
use gough::kinematics::{SolveError, WorkingMode};
use gough::model::{CoordId, Model, Platform};
use gough::question::words::{self, word};
pub use gough::question::words::{Assigned, PosePart, assumed, check_parts, hint, joints_of, pose_of, rotation};
use gough::spatial::Pose;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The robot a command is about.
#[derive(Args)]
pub struct RobotChoice {
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

impl RobotChoice {
    /// Read and compile it, unless it is there already; the answer must not go into its file.
    pub fn load(&self, output: &Output) -> Result<Robot, Failure> {
        if let Some(robot) = crate::streams::robot() {
            return Ok(robot);
        }
        let (name, text, folder) = self.text(output)?;
        let set = self.set.iter().map(|s| split(s, "--set")).collect::<Result<Vec<_>, _>>()?;
        let extended = gough::robots::ExtendedFiles::default();
        let files = |file: &str| {
            if gough::robots::text(&self.robot).is_some() {
                return gough::robots::file(&self.robot, file);
            }
            if let Some(text) = extended.get(file) {
                return Ok(text); // an overlay may extend a shipped robot
            }
            let path = named_in(folder.as_deref().unwrap_or(Path::new(".")), file, self.allow_outside)?;
            read_limited(&path, 64 << 20).map_err(|e| e.to_string())
        };
        let stem = Path::new(&name).file_stem().map_or(name.clone(), |s| s.to_string_lossy().into_owned());
        let options = ReadOptions { set, files: &files, name: stem };
        Ok(Robot::from_toml(&name, &text, &options, self.actuation.as_deref())?)
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

/// A refusal of an option's words.
pub fn of_option(option: &str) -> impl Fn(String) -> Failure + '_ {
    move |why| Failure::Usage(format!("{option}: {why}"))
}

/// `x=0.1,phi=-60deg` as names and values.
pub fn assignments(text: &str, option: &str) -> Result<Vec<Assigned>, Failure> {
    words::assignments(text).map_err(of_option(option))
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

/// `--pose`: coordinates by name, angles as roll, pitch, yaw or a quaternion; those left out are those of home.
pub fn pose(model: &Model<f64>, text: &str) -> Result<Pose<f64>, Failure> {
    words::pose(model, text).map_err(of_option("--pose"))
}

/// Coordinates that `--pose` leaves out, with their values of home.
pub fn from_home(model: &Model<f64>, text: &str) -> Result<Vec<(&'static str, f64)>, Failure> {
    words::from_home(model, text).map_err(of_option("--pose"))
}

/// `"from_home": {"y": 0.3}`: coordinates that the question left out, when there are such.
pub fn add_home(home: &[(&'static str, f64)], answer: &mut serde_json::Value) {
    if !home.is_empty() {
        answer["from_home"] = home.iter().map(|(name, x)| ((*name).to_owned(), serde_json::json!(x))).collect();
    }
}

/// The document of an answer, with what its question left out.
pub fn with_home(home: &[(&'static str, f64)], answer: &impl serde::Serialize) -> serde_json::Value {
    let mut value = serde_json::json!(answer);
    add_home(home, &mut value);
    value
}

/// `y as at home: --pose leaves it out`.
pub fn home_text(home: &[(&'static str, f64)]) -> String {
    let names: Vec<&str> = home.iter().map(|(name, _)| *name).collect();
    if names.is_empty() { String::new() } else { format!("{} as at home: --pose leaves it out\n", names.join(", ")) }
}

/// `--joints`: joints by name.
pub fn joints(model: &Model<f64>, text: &str) -> Result<Vec<(CoordId, f64)>, Failure> {
    words::joints(model, text).map_err(of_option("--joints"))
}

/// Which working modes are meant.
#[derive(Clone)]
pub enum Modes {
    /// Every one.
    All,
    /// This one.
    One(WorkingMode),
}

/// The working mode that is meant: one.
pub fn one_mode(robot: &Robot, text: Option<&str>) -> Result<WorkingMode, Failure> {
    match modes(robot, text)? {
        None => Ok(robot.mode().clone()),
        Some(Modes::One(mode)) => Ok(mode),
        Some(Modes::All) => Err(Failure::Usage("this command looks at one working mode at a time".to_owned())),
    }
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

/// Why a state has no answer.
pub fn unanswered(e: gough::Error) -> SolveError {
    match e {
        gough::Error::Solve(e) => e,
        other => SolveError::NotAPose { reason: other.to_string() },
    }
}

pub const NOT_GIVEN: &str = "neither the question nor `near` of the file gives it";

/// A joint and where it is, in words.
pub fn assignment(model: &Model<f64>, c: CoordId, q: f64) -> String {
    format!("q{} = {}", model.topology().coords[c].name, joint_text(model, c, q).trim())
}

/// How many states of many were taken with joints that the pose leaves open where nothing gives them.
pub struct Taken<'m> {
    model: &'m Model<f64>,
    all: AtomicUsize,
    states: AtomicUsize,
}

impl<'m> Taken<'m> {
    pub fn new(model: &'m Model<f64>) -> Self {
        Self { model, all: AtomicUsize::new(0), states: AtomicUsize::new(0) }
    }

    /// One more state, with the joints that it gives.
    pub fn count(&self, given: &[(CoordId, f64)]) {
        self.all.fetch_add(1, Ordering::Relaxed);
        let is_open = !self.model.topology().plan.given.is_empty();
        if is_open && !assumed(self.model, given).is_empty() {
            self.states.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What to say, if anything.
    pub fn text(&self) -> Option<String> {
        let [states, all] = [&self.states, &self.all].map(|n| n.load(Ordering::Relaxed));
        let note = |(c, q): &(CoordId, f64)| {
            let what = assignment(self.model, *c, *q);
            format!("{what} assumed in {states} of {all} states: {NOT_GIVEN}")
        };
        let notes: Vec<String> = assumed(self.model, &[]).iter().map(note).collect();
        (states > 0).then(|| notes.join("\n"))
    }

    /// Say it beside a table.
    pub fn tell(&self) {
        if let Some(text) = self.text() {
            crate::streams::tell_line!("{text}");
        }
    }
}
