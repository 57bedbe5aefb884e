//! `gough kinematics`.

use crate::angles::{self, Angles};
use crate::ask::{self, Modes, RobotChoice, assignment};
use crate::batch::{self, Envelope, StateAnswer};
use crate::commands::motion::{self, MotionAsked};
use crate::failure::{Failure, error_json};
use crate::output::Output;
use crate::source::{Raw, States};
use crate::states::{self, AskedState, joint_text, pose_json, pose_text};
use crate::table::{self, Choice, TableForm};
use clap::Args;
use gough::Robot;
use gough::kinematics::motion::{Motion, move_from};
use gough::kinematics::{
    Assemblies, MOST_POSTURES, Posture, SolveError, assemblies, inverse_given, lists_all_modes, postures,
    working_modes_given,
};
use gough::model::{CoordId, Model, Topology};
use gough::question::PostureAnswer;
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
        (Some(text), given) => {
            let pose = ask::pose(robot.model(), text)?;
            let home = ask::from_home(robot.model(), text)?;
            if arguments.twist.is_some() || arguments.acceleration.is_some() || arguments.matrices {
                let asked = MotionAsked {
                    twist: arguments.twist.as_deref().map(|t| motion::components(robot, t, "--twist")).transpose()?,
                    acceleration: arguments
                        .acceleration
                        .as_deref()
                        .map(|a| motion::components(robot, a, "--acceleration"))
                        .transpose()?,
                    matrices: arguments.matrices,
                };
                return motion::answer(
                    robot,
                    (&pose, &home),
                    modes,
                    &given.unwrap_or_default(),
                    &asked,
                    &arguments.output,
                );
            }
            from_pose(robot, (&pose, &home), modes, &given.unwrap_or_default(), arguments)
        }
        (None, Some(joints)) => from_joints(robot, &joints, modes, &arguments.output),
        (None, None) => Err(Failure::Usage("give --pose, --joints or --states".to_owned())),
    }
}

/// Inverse geometry of one pose.
fn from_pose(
    robot: &Robot,
    (pose, home): (&Pose<f64>, &[(&'static str, f64)]),
    modes: Option<Modes>,
    given: &[(CoordId, f64)],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let model = robot.model();
    let t = model.topology();
    check_open(t, given)?;
    let shown = match arguments.modes.as_deref() {
        None => SCREEN,
        Some("all") => usize::MAX,
        Some(n) => n
            .parse()
            .ok()
            .filter(|n| *n > 0)
            .ok_or_else(|| Failure::Usage(format!("--modes takes a number above zero, or `all`, not `{n}`")))?,
    };
    let mut found = match modes.unwrap_or(Modes::All) {
        Modes::One(mode) => vec![inverse_given(model, pose, &mode, given).map_err(|e| in_mode(robot, e))?],
        Modes::All => working_modes_given(model, pose, given)?,
    };
    found.sort_by_key(|p| p.mode() != robot.mode());
    let assumed = ask::assumed(model, given);
    let document = || {
        let mut answer = modes_json(robot, pose, &found);
        add_assumed(t, &assumed, &mut answer);
        ask::add_home(home, &mut answer);
        answer
    };
    let notes = || {
        let note = |(c, q): &(CoordId, f64)| format!("{} assumed: {}\n", assignment(model, *c, *q), ask::NOT_GIVEN);
        assumed.iter().map(note).collect::<String>()
    };
    arguments.output.give(document, || modes_text(robot, pose, &found, shown) + &notes() + &ask::home_text(home))
}

/// Joints given beside a pose must be ones that it leaves open.
pub fn check_open(t: &Topology, given: &[(CoordId, f64)]) -> Result<(), Failure> {
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
pub fn in_mode(robot: &Robot, e: SolveError) -> Failure {
    let several = robot.mode().name(robot.model().topology()) != "single";
    let depends = matches!(e, SolveError::OutOfReach { .. } | SolveError::OutOfRange { .. });
    if several && depends { Failure::InMode(e) } else { e.into() }
}

fn joints_json(t: &Topology) -> (Value, Value) {
    (json!(t.active_names()), json!(t.passive_names()))
}

fn modes_json(robot: &Robot, pose: &Pose<f64>, found: &[Posture]) -> Value {
    let model = robot.model();
    let t = model.topology();
    let (active, passive) = joints_json(t);
    let mode = |p: &Posture| {
        let (gap_m, gap_rad) = p.gap(model);
        let mut mode = json!({
            "name": p.mode().name(t),
            "active": { "q": p.joints(model, &t.active) },
            "passive": { "q": p.joints(model, &t.passive) },
            "residual": gap_m.max(gap_rad),
        });
        if !t.platform.dependent.is_empty() {
            mode["pose"] = pose_json(model, p.pose());
        }
        mode
    };
    let first = found.first().map(|p| state_json(model, p, None, None)).unwrap_or_default();
    json!({
        "robot": t.name,
        "pose": pose_json(model, found.first().map_or(pose, Posture::pose)),
        "active_joints": active,
        "passive_joints": passive,
        "active": first["active"],
        "passive": first["passive"],
        "working_mode": first["working_mode"],
        "residual": first["residual"],
        "working_modes": found.iter().map(mode).collect::<Vec<_>>(),
        "complete": lists_all_modes(model, found.len()),
    })
}

fn modes_text(robot: &Robot, pose: &Pose<f64>, all: &[Posture], most: usize) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}\n", t.name, pose_text(model, all.first().map_or(pose, Posture::pose)));
    let n = all.len();
    let _ = writeln!(out, "{n} working mode{}; the file's is {}", if n == 1 { "" } else { "s" }, robot.mode().name(t));
    let found = &all[..n.min(most)];
    if n > found.len() {
        let _ = writeln!(out, "the first {} are shown; --modes all shows the rest", found.len());
    }
    if found.iter().any(|p| p.mode().name(t).contains(|c: char| c.is_ascii_digit())) {
        out.push_str(
            "a leg without closed form is named by its sign and a number, counted by its first active joint\n",
        );
    }
    let width = found.iter().map(|p| p.mode().name(t).len()).max().unwrap_or(0).max(4);
    if !t.platform.dependent.is_empty() {
        out.push_str("coordinates that follow were found by search: there may be more\n\n");
        for p in found {
            let _ = writeln!(out, "        {:width$} {}", p.mode().name(t), pose_text(model, p.pose()));
        }
    }
    if n >= MOST_POSTURES {
        let _ = writeln!(out, "the list ends at {MOST_POSTURES}: there are more");
    }
    for (title, coords) in [("active", &t.active), ("passive", &t.passive)] {
        for chunk in coords.chunks(6) {
            let heads: String = chunk.iter().map(|c| format!("{:>15}", format!("q{}", t.coords[*c].name))).collect();
            let _ = write!(out, "\n{title:<8}{:width$}{heads}\n", "");
            for p in found {
                let values = chunk.iter().zip(p.joints(model, chunk));
                let row: String = values.map(|(c, q)| format!(" {}", joint_text(model, *c, q))).collect();
                let _ = writeln!(out, "        {:width$}{row}", p.mode().name(t));
            }
        }
    }
    let worst = found.iter().map(|p| p.gap(model)).fold((0.0_f64, 0.0_f64), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    let _ = writeln!(
        out,
        "\nloops closed to {:.1e} m and {:.1e} rad; angles in {}, lengths in m",
        worst.0,
        worst.1,
        angles::unit()
    );
    out
}

/// `"assumed": {"A0": 0}`: where open joints were taken, when there are such.
pub fn add_assumed(t: &Topology, assumed: &[(CoordId, f64)], answer: &mut Value) {
    if !assumed.is_empty() {
        answer["assumed"] = assumed.iter().map(|(c, q)| (t.coords[*c].name.clone(), json!(q))).collect();
    }
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
        None => assemblies(model, &values, robot.mode())?,
        Some(Modes::All) => postures(model, &values, robot.mode())?,
        Some(Modes::One(mode)) => postures(model, &values, &mode)?.in_mode(model, &mode)?,
    };
    output.give(|| assemblies_json(robot, &values, &found), || assemblies_text(robot, &values, &found))
}

fn assemblies_json(robot: &Robot, active: &[f64], found: &Assemblies) -> Value {
    let model = robot.model();
    let t = model.topology();
    let (active_joints, passive_joints) = joints_json(t);
    let one = |p: &Posture| {
        let (gap_m, gap_rad) = p.gap(model);
        json!({
            "pose": pose_json(model, p.pose()),
            "passive": { "q": p.joints(model, &t.passive) },
            "residual": gap_m.max(gap_rad),
            "working_mode": p.mode().name(t),
        })
    };
    json!({
        "robot": t.name,
        "active_joints": active_joints,
        "passive_joints": passive_joints,
        "active": { "q": active },
        "assemblies": found.postures.iter().map(one).collect::<Vec<_>>(),
        "complete": found.complete,
        "misfit": found.misfit,
    })
}

fn assemblies_text(robot: &Robot, active: &[f64], found: &Assemblies) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = String::new();
    let given: Vec<String> = t.active.iter().zip(active).map(|(c, q)| assignment(model, *c, *q)).collect();
    let n = found.postures.len();
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
    for (i, p) in found.postures.iter().enumerate() {
        let (gap_m, gap_rad) = p.gap(model);
        let _ = writeln!(out, "{}  {}", i + 1, pose_text(model, p.pose()));
        let passive: Vec<String> =
            t.passive.iter().zip(p.joints(model, &t.passive)).map(|(c, q)| assignment(model, *c, q)).collect();
        for line in passive.chunks(6) {
            let _ = writeln!(out, "   {}", line.join("  "));
        }
        let _ =
            writeln!(out, "   working mode {}, loops closed to {gap_m:.1e} m and {gap_rad:.1e} rad", p.mode().name(t));
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
    let rest = vec![0.0; t.platform.independent.len()];
    let solve = |state: &AskedState| -> Result<(Posture, Option<Motion<f64>>), SolveError> {
        let posture = inverse_given(model, &state.pose, &mode, &state.given)?;
        if state.twist.is_none() && state.acceleration.is_none() {
            return Ok((posture, None));
        }
        let (mut pos, mut motion) = (posture.positions().clone(), Motion::new(model));
        let (twist, acceleration) =
            (state.twist.as_ref().unwrap_or(&rest), state.acceleration.as_ref().unwrap_or(&rest));
        move_from(model, twist, acceleration, &mut pos, &mut motion)?;
        if !motion.rates.iter().chain(motion.accels.iter()).all(|(_, x)| x.is_finite()) {
            return Err(SolveError::not_finite());
        }
        Ok((posture, Some(motion)))
    };
    let form = TableForm::of(output, choice);
    let columns = table::columns(model, choice, &OF_JOINTS)?;
    let (source, states) = States::open(model, path)?;
    let total = || states::count(path);
    if !matches!(form, TableForm::Document | TableForm::Lines) {
        let one = |state: &Result<AskedState, String>| {
            let state = asked_of(state)?;
            let (posture, motion) = solve(state)?;
            Ok(table::row(model, &columns, &state_json(model, &posture, motion.as_ref(), Some(state))))
        };
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
        let found = asked_of(&state).and_then(|state| Ok((solve(state)?, ask::assumed(model, &state.given), state)));
        let (refused, misuse) = (found.is_err(), found.as_ref().is_err_and(SolveError::is_misuse));
        let text = match &found {
            Ok(((posture, motion), assumed, state)) => {
                if json {
                    let mut answer = state_json(model, posture, motion.as_ref(), Some(state));
                    add_assumed(t, assumed, &mut answer);
                    table::chosen(choice, &columns, answer).to_string()
                } else {
                    state_row(model, i, posture)
                }
            }
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

fn asked_of(state: &Result<AskedState, String>) -> Result<&AskedState, SolveError> {
    state.as_ref().map_err(|reason| SolveError::NotAPose { reason: reason.clone() })
}

/// Joints in the order of the columns.
fn shown(t: &Topology) -> impl Iterator<Item = CoordId> {
    t.active.iter().chain(&t.passive).copied()
}

/// One state of a list, as JSON.
fn state_json(
    model: &Model<f64>,
    posture: &Posture,
    motion: Option<&Motion<f64>>,
    asked: Option<&AskedState>,
) -> Value {
    let mut answer = PostureAnswer::new(model, posture, motion);
    if let Some(asked) = asked {
        (answer.twist, answer.acceleration) = (asked.twist.clone(), asked.acceleration.clone());
    }
    json!(answer)
}

/// One state of a list, as a line of text.
fn state_row(model: &Model<f64>, i: usize, posture: &Posture) -> String {
    let value = |c: CoordId| format!(" {}", joint_text(model, c, posture.joints(model, &[c])[0]));
    format!("{:>6}{}\n", i + 1, shown(model.topology()).map(value).collect::<String>())
}
