//! `gough kinematics`.

use crate::angles::{self, Angles};
use crate::ask::{self, Modes, RobotChoice, assignment};
use crate::batch::{self, Envelope, StateAnswer};
use crate::commands::dynamics_text::assumed_text;
use crate::commands::motion;
use crate::failure::{Failure, error_json};
use crate::output::Output;
use crate::source::{Raw, States};
use crate::states::{self, AskedState, component_names, joint_text, pose_text};
use crate::table::{self, Choice, TableForm};
use clap::Args;
use gough::Robot;
use gough::kinematics::{MOST_POSTURES, SolveError, WorkingMode};
use gough::model::{CoordId, Model, Topology};
use gough::question::{AssemblyModes, PostureAnswer, WorkingModes};
use gough::spatial::Pose;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Args)]
#[command(group = clap::ArgGroup::new("question").required(true).multiple(true))]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Platform pose, all its coordinates: x=0.05,y=0.25 or x=..,y=..,phi=30deg or x=..,y=..,z=..,roll=..,pitch=..,yaw=..
    /// or ..,qw=..,qx=..,qy=..,qz=..; without any orientation a spatial platform keeps that of home
    #[arg(long, group = "question", value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Active joints: q11=0.3,q21="20 deg"; with --pose, the joints that a redundant robot leaves open
    #[arg(long, group = "question", value_name = "JOINTS", allow_hyphen_values = true)]
    joints: Option<String>,
    /// Many poses: JSON list, JSON Lines, CSV with a header of the names that --pose and --joints take, or .npy, .npz
    #[arg(long, group = "question", value_name = "FILE", conflicts_with_all = ["pose", "joints"])]
    states: Option<PathBuf>,
    /// Platform twist: x=0.3,y=-0.2 or x=..,y=..,phi=.. or x=..,y=..,z=..,wx=..,wy=..,wz=..; what is left out is zero
    #[arg(long, value_name = "COMPONENTS", requires = "pose", conflicts_with = "states", allow_hyphen_values = true)]
    twist: Option<String>,
    /// Platform acceleration, likewise
    #[arg(long, value_name = "COMPONENTS", requires = "pose", conflicts_with = "states", allow_hyphen_values = true)]
    acceleration: Option<String>,
    /// Every matrix of first and second order by name
    #[arg(long, requires = "pose", conflicts_with = "states")]
    matrices: bool,
    /// Working mode, such as --mode=+-+, or `all`; by default every one for --pose alone, that of the file with
    /// --twist, --acceleration, --matrices and --states, and for --joints every place of the platform once, in the file's mode where it has it there
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// How many working modes the text shows, the file's first, or `all`; as many as fit a screen unless given
    #[arg(long, value_name = "NUMBER", requires = "pose", conflicts_with_all = ["states", "twist", "acceleration", "matrices", "json"])]
    modes: Option<String>,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    pub output: Output,
}

/// Working modes that fit a screen.
const SCREEN: usize = 12;

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(states) = &arguments.states {
        arguments.output.spares(states, "the states file")?;
    }
    let robot = arguments.subject.load(&arguments.output)?;
    answer(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let modes = ask::modes(robot, arguments.mode.as_deref())?;
    if let Some(path) = &arguments.states {
        return many(robot, modes, path, &arguments.choice, &arguments.output);
    }
    let joints = arguments.joints.as_deref().map(|j| ask::joints(robot.model(), j)).transpose()?;
    match (&arguments.pose, joints) {
        (Some(text), given) => from_pose(robot, text, modes, &given.unwrap_or_default(), arguments),
        (None, Some(joints)) => from_joints(robot, &joints, modes, &arguments.output),
        (None, None) => Err(Failure::Usage("give --pose, --joints or --states".to_owned())),
    }
}

/// Joints at one pose; their motion and the matrices where these are asked for.
fn from_pose(
    robot: &Robot,
    text: &str,
    modes: Option<Modes>,
    given: &[(CoordId, f64)],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let model = robot.model();
    let t = model.topology();
    let (pose, home) = (ask::pose(model, text)?, ask::from_home(model, text)?);
    check_open(t, given)?;
    let mut asked = robot.kinematics(&pose);
    for (c, q) in given {
        asked = asked.joint(&t.coords[*c].name, *q);
    }
    if let Some(text) = &arguments.twist {
        asked = asked.twist(&motion::components(robot, text, "--twist")?);
    }
    if let Some(text) = &arguments.acceleration {
        asked = asked.acceleration(&motion::components(robot, text, "--acceleration")?);
    }
    asked = if arguments.matrices { asked.matrices() } else { asked };
    let moves = arguments.twist.is_some() || arguments.acceleration.is_some() || arguments.matrices;
    let shown = match arguments.modes.as_deref() {
        None => SCREEN,
        Some("all") => usize::MAX,
        Some(n) => n
            .parse()
            .ok()
            .filter(|n| *n > 0)
            .ok_or_else(|| Failure::Usage(format!("--modes takes a number above zero, or `all`, not `{n}`")))?,
    };
    let one = |mode: &WorkingMode| {
        let found = asked.clone().mode(mode).answer().map_err(|e| in_mode(robot, e))?;
        Ok::<_, Failure>(WorkingModes::of_one(robot, found))
    };
    let found = match modes {
        Some(Modes::One(mode)) => one(&mode)?,
        None if moves => one(robot.mode())?,
        Some(Modes::All) | None => asked.all_modes()?,
    };
    let document = || {
        let mut answer = json!(found);
        answer["robot"] = json!(t.name);
        (answer["active_joints"], answer["passive_joints"]) = joints_json(t);
        answer["components"] = json!(component_names(model));
        ask::add_home(&home, &mut answer);
        answer
    };
    let told = || {
        let text =
            if moves { motion::text(robot, &found) } else { modes_text(robot, &pose, &found.working_modes, shown) };
        let assumed = found.working_modes.first().and_then(|p| p.assumed.as_ref());
        text + &assumed_text(robot, assumed) + &ask::home_text(&home)
    };
    arguments.output.give(document, told)
}

/// Joints given beside a pose must be ones that it leaves open.
fn check_open(t: &Topology, given: &[(CoordId, f64)]) -> Result<(), Failure> {
    match given.iter().find(|(c, _)| !t.plan.given.contains(c)) {
        Some((c, _)) => {
            let name = &t.coords[*c].name;
            let why = format!("--joints: q{name} follows from the pose; leave it out, or leave --pose out");
            Err(Failure::Usage(why))
        }
        None => Ok(()),
    }
}

/// Why one working mode has no answer: another may have one.
fn in_mode(robot: &Robot, e: gough::Error) -> Failure {
    let several = robot.mode().name(robot.model().topology()) != "single";
    match e {
        gough::Error::Solve(e @ (SolveError::OutOfReach { .. } | SolveError::OutOfRange { .. })) if several => {
            Failure::InMode(e)
        }
        e => e.into(),
    }
}

fn joints_json(t: &Topology) -> (Value, Value) {
    (json!(t.active_names()), json!(t.passive_names()))
}

fn modes_text(robot: &Robot, pose: &Pose<f64>, all: &[PostureAnswer], most: usize) -> String {
    let model = robot.model();
    let t = model.topology();
    let first = all.first().map_or(*pose, |p| p.pose.pose());
    let mut out = format!("{} at {}\n", t.name, pose_text(model, &first));
    let n = all.len();
    let _ = writeln!(out, "{n} working mode{}; the file's is {}", if n == 1 { "" } else { "s" }, robot.mode().name(t));
    let found = &all[..n.min(most)];
    if n > found.len() {
        let _ = writeln!(out, "the first {} are shown; --modes all shows the rest", found.len());
    }
    if found.iter().any(|p| p.working_mode.contains(|c: char| c.is_ascii_digit())) {
        out.push_str(
            "a leg without closed form is named by the side of its singularities and a number, the nearest to `near`, then to zero, first\n",
        );
    }
    let width = found.iter().map(|p| p.working_mode.len()).max().unwrap_or(0).max(4);
    if !t.platform.dependent.is_empty() {
        out.push_str("coordinates that follow were found by search: there may be more\n\n");
        for p in found {
            let _ = writeln!(out, "        {:width$} {}", p.working_mode, pose_text(model, &p.pose.pose()));
        }
    }
    if n >= MOST_POSTURES {
        let _ = writeln!(out, "the list ends at {MOST_POSTURES}: there are more");
    }
    for (title, coords) in [("active", &t.active), ("passive", &t.passive)] {
        for (k, chunk) in coords.chunks(6).enumerate() {
            let heads: String = chunk.iter().map(|c| format!("{:>15}", format!("q{}", t.coords[*c].name))).collect();
            let _ = write!(out, "\n{title:<8}{:width$}{heads}\n", "");
            for p in found {
                let joints = if title == "active" { &p.active } else { &p.passive };
                let values = chunk.iter().zip(&joints.q[6 * k..]);
                let row: String = values.map(|(c, q)| format!(" {}", joint_text(model, *c, *q))).collect();
                let _ = writeln!(out, "        {:width$}{row}", p.working_mode);
            }
        }
    }
    let worst = found.iter().fold([0.0_f64; 2], |a, p| [a[0].max(p.gaps[0]), a[1].max(p.gaps[1])]);
    let _ = writeln!(
        out,
        "\nloops closed to {:.1e} m and {:.1e} rad; angles in {}, lengths in m",
        worst[0],
        worst[1],
        angles::unit()
    );
    out
}

/// Forward geometry.
fn from_joints(robot: &Robot, joints: &[(CoordId, f64)], modes: Option<Modes>, output: &Output) -> Result<(), Failure> {
    let model = robot.model();
    let t = model.topology();
    if let Some((c, _)) = joints.iter().find(|(c, _)| !t.active.contains(c)) {
        let active: Vec<String> = t.active_names().iter().map(|n| format!("q{n}")).collect();
        let name = &t.coords[*c].name;
        return Err(Failure::Usage(format!(
            "--joints: q{name} is passive; the active joints are {}",
            active.join(", ")
        )));
    }
    let values: Result<Vec<f64>, Failure> = t
        .active
        .iter()
        .map(|c| {
            let found = joints.iter().find(|(j, _)| j == c).map(|(_, q)| *q);
            found.ok_or_else(|| Failure::Usage(format!("--joints: q{} is missing", t.coords[*c].name)))
        })
        .collect();
    let values = values?;
    let found = match modes {
        None => robot.forward_geometry(&values)?,
        Some(Modes::All) => robot.forward_geometry_of_all_modes(&values)?,
        Some(Modes::One(mode)) => robot.forward_geometry_in(&values, &mode)?,
    };
    let document = || {
        let mut answer = json!(found);
        answer["robot"] = json!(t.name);
        (answer["active_joints"], answer["passive_joints"]) = joints_json(t);
        answer
    };
    output.give(document, || assemblies_text(robot, &found))
}

fn assemblies_text(robot: &Robot, found: &AssemblyModes) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = String::new();
    let given: Vec<String> = t.active.iter().zip(&found.active.q).map(|(c, q)| assignment(model, *c, *q)).collect();
    let n = found.assemblies.len();
    let _ = writeln!(out, "{} with {}", t.name, given.join("  "));
    let proof = if found.complete { "all there are" } else { "found by search: there may be more" };
    let _ = writeln!(out, "{n} assembly mode{}, {proof}\n", if n == 1 { "" } else { "s" });
    if found.misfit > 0.0 {
        let most = "radians and sizes of the robot";
        let _ = writeln!(
            out,
            "the motors contradict each other; the nearest posture is off them by {:.1e} ({most})\n",
            found.misfit
        );
    }
    for (i, place) in found.assemblies.iter().enumerate() {
        let [gap_m, gap_rad] = place.gaps;
        let _ = writeln!(out, "{}  {}", i + 1, pose_text(model, &place.pose.pose()));
        let passive: Vec<String> =
            t.passive.iter().zip(&place.passive.q).map(|(c, q)| assignment(model, *c, *q)).collect();
        for line in passive.chunks(6) {
            let _ = writeln!(out, "   {}", line.join("  "));
        }
        let mode = &place.working_mode;
        let _ = writeln!(out, "   working mode {mode}, loops closed to {gap_m:.1e} m and {gap_rad:.1e} rad");
    }
    out
}

/// Columns of tables; the first is the one that is meant when none is named.
const OF_JOINTS: [&str; 9] =
    ["active.q", "active.qd", "active.qdd", "passive.q", "passive.qd", "passive.qdd", "pose", "twist", "acceleration"];

/// A list of poses.
fn many(
    robot: &Robot,
    modes: Option<Modes>,
    path: &std::path::Path,
    choice: &Choice,
    output: &Output,
) -> Result<(), Failure> {
    let model = robot.model();
    let t = model.topology();
    let mode = match modes {
        None => robot.mode().clone(),
        Some(Modes::One(mode)) => mode,
        Some(Modes::All) => {
            return Err(Failure::Usage("--states needs one working mode; `all` goes with --pose".to_owned()));
        }
    };
    let solve = |state: &Result<AskedState, String>| -> Result<PostureAnswer, SolveError> {
        let state = state.as_ref().map_err(|reason| SolveError::NotAPose { reason: reason.clone() })?;
        let mut asked = robot.kinematics(&state.pose).mode(&mode);
        for (c, q) in &state.given {
            asked = asked.joint(&t.coords[*c].name, *q);
        }
        asked = state.twist.iter().fold(asked, |asked, twist| asked.twist(twist));
        asked = state.acceleration.iter().fold(asked, |asked, acceleration| asked.acceleration(acceleration));
        asked.answer().map_err(ask::unanswered)
    };
    let form = TableForm::of(output, choice);
    let columns = table::columns(model, choice, &OF_JOINTS)?;
    let (source, states) = States::open(model, path)?;
    let total = || states::count(path);
    if !matches!(form, TableForm::Document | TableForm::Lines) {
        let one = |state: &Result<AskedState, String>| Ok(table::row(model, &columns, &json!(solve(state)?)));
        let taken = ask::Taken::new(model);
        let rows = |states: &[Result<AskedState, String>]| {
            states.iter().flatten().for_each(|s| taken.count(&s.given));
            batch::rows(states, &one)
        };
        batch::table((source, states), (form, &columns), (output, &total), &rows)?;
        taken.tell();
        return Ok(());
    }
    let json = output.json || form == TableForm::Lines;
    let taken = ask::Taken::new(model);
    let answer = |i: usize, raw: &Result<Raw, String>| {
        let state = raw.as_ref().map_err(Clone::clone).and_then(|r| states.state(r));
        state.iter().for_each(|s| taken.count(&s.given));
        let found = solve(&state);
        let (refused, misuse) = (found.is_err(), found.as_ref().is_err_and(SolveError::is_misuse));
        let text = match &found {
            Ok(found) if json => table::chosen(choice, &columns, json!(found)).to_string(),
            Ok(found) => state_row(model, i, found),
            Err(e) if json => error_json(e.kind(), &e.to_string()).to_string(),
            Err(e) => format!("{:>6} {e}\n", i + 1),
        };
        StateAnswer { text, refused, misuse }
    };
    let (active, passive) = joints_json(t);
    let heads: String = shown(t).map(|c| format!("{:>15}", format!("q{}", t.coords[c].name))).collect();
    let frame = Envelope {
        head: json!({ "robot": t.name, "active_joints": active, "passive_joints": passive }),
        heading: format!("{} in working mode {}\n\n{:>6}{heads}\n", t.name, mode.name(t), "state"),
        total: &total,
        notes: &|_| taken.text().map_or(String::new(), |text| format!("\n{text}\n")),
    };
    batch::run(Box::new(source.map(Ok)), form, &frame, output, &answer)
}

/// Joints in the order of the columns.
fn shown(t: &Topology) -> impl Iterator<Item = CoordId> {
    t.active.iter().chain(&t.passive).copied()
}

/// One state of a list, as a line of text.
fn state_row(model: &Model<f64>, i: usize, found: &PostureAnswer) -> String {
    let values = found.active.q.iter().chain(&found.passive.q);
    let value = |(c, q): (CoordId, &f64)| format!(" {}", joint_text(model, c, *q));
    format!("{:>6}{}\n", i + 1, shown(model.topology()).zip(values).map(value).collect::<String>())
}
