//! `gough idm` and `gough ddm`: efforts from motion, motion from efforts.

use crate::angles::Angles;
use crate::ask::{self, RobotChoice, one_mode};
use crate::batch;
use crate::commands::dynamics_text::{
    accelerations_text, assumed_text, derivatives_text, efforts_text, matrices_text, reactions_text,
};
use crate::commands::flexible;
use crate::commands::motion::components;
use crate::commands::trajectory::{self, AlongOptions};
use crate::failure::{Failure, error_json};
use crate::loads;
use crate::output::Output;
use crate::source::{Raw, States};
use crate::states::{self, AskedState, component_names, left_out_text};
use crate::table::{self, Choice, TableForm, Told};
use clap::Args;
use gough::Robot;
use gough::description::Concern;
use gough::dynamics::{Share, Sign};
use gough::elastodynamics::motion::is_flexible;
use gough::kinematics::{SolveError, WorkingMode};
use gough::model::CoordId;
use gough::question::{FlexibleMotion, Idm, words};
use gough::spatial::Wrench;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// What both commands are asked.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("question").required(true))]
pub struct Question {
    #[command(flatten)]
    subject: RobotChoice,
    /// Platform pose, all its coordinates: x=0.05,y=0.25 or x=..,y=..,phi=30deg or x=..,y=..,z=..,roll=..,pitch=..,yaw=..
    #[arg(long, group = "question", value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Many states: JSON list, JSON Lines, CSV, or arrays of NumPy, .npy or .npz
    #[arg(long, group = "question", value_name = "FILE")]
    states: Option<PathBuf>,
    /// Platform twist: x=0.3,y=-0.2 or x=..,y=..,z=..,wx=..,wy=..,wz=..; what is left out is zero
    #[arg(long, value_name = "COMPONENTS", requires = "pose", conflicts_with = "states", allow_hyphen_values = true)]
    twist: Option<String>,
    /// Joints that the pose of a redundant robot leaves open: q1s=0.05; where `near` of the file has them unless given
    #[arg(long, value_name = "JOINTS", requires = "pose", conflicts_with = "states", allow_hyphen_values = true)]
    joints: Option<String>,
    /// Rates of these joints, rad/s or m/s: q1s=0.3; what is left out stands still
    #[arg(long, value_name = "RATES", requires = "pose", conflicts_with = "states", allow_hyphen_values = true)]
    joint_rates: Option<String>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// What the platform carries, in its own frame: mass=2.5,com=0:0:0.05,ixx=.. (inertia at the centre of mass)
    #[arg(long, value_name = "MASS", allow_hyphen_values = true)]
    payload: Option<String>,
    /// Wrench from outside on the platform, at its origin, in world axes: fx=10,fz=-5,mz=0.2
    #[arg(long, value_name = "COMPONENTS", allow_hyphen_values = true)]
    wrench: Option<String>,
    /// Wrench from outside on a body, at the origin of its frame, in world axes: BODY:fx=10,mz=0.2; may be repeated
    #[arg(long, value_name = "BODY:COMPONENTS", allow_hyphen_values = true)]
    load: Vec<String>,
    /// Smooth the direction of friction over this rate, rad/s or m/s: sign(v) becomes v / sqrt(v^2 + width^2)
    #[arg(long, value_name = "WIDTH", allow_negative_numbers = true)]
    friction_width: Option<f64>,
    /// Take flexible bodies, springs and transmissions as rigid
    #[arg(long)]
    rigid: bool,
    /// Flexible robots: start from the static deflection under gravity and loads
    #[arg(long, conflicts_with = "rigid")]
    deflected: bool,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    pub output: Output,
}

/// Columns of tables of efforts and of accelerations; the first is the one that is meant when none is named.
const OF_EFFORTS: [&str; 16] = [
    "efforts",
    "efforts_with_friction",
    "pose",
    "twist",
    "acceleration",
    "active.q",
    "active.qd",
    "active.qdd",
    "passive.q",
    "passive.qd",
    "passive.qdd",
    "kinetic_energy",
    "kinetic_energy_rotors",
    "potential_energy",
    "ground_wrench_on_robot",
    "condition",
];
const OF_ACCELERATIONS: [&str; 6] = ["acceleration", "pose", "twist", "efforts", "active_qdd", "passive_qdd"];

#[derive(Args)]
pub struct Inverse {
    #[command(flatten)]
    pub question: Question,
    /// Platform acceleration, as the twist
    #[arg(long, value_name = "COMPONENTS", requires = "pose", conflicts_with = "states", allow_hyphen_values = true)]
    acceleration: Option<String>,
    /// Accelerations of joints that the pose of a redundant robot leaves open: q1s=2; what is left out is zero
    #[arg(
        long,
        value_name = "ACCELERATIONS",
        requires = "pose",
        conflicts_with = "states",
        allow_hyphen_values = true
    )]
    joint_accelerations: Option<String>,
    /// Forces in all joints and closures too
    #[arg(long)]
    reactions: bool,
    /// How redundant drives share: shortest, weights=1:2:1:1 (least sum of w tau^2), limits (`effort` of each drive), or
    /// limits=-5:5 for all drives
    #[arg(long, value_name = "HOW", default_value = "shortest", allow_hyphen_values = true)]
    share: String,
    /// Derivatives of the efforts by pose, twist, acceleration and the parameters of the file
    #[arg(long)]
    derivatives: bool,
    #[command(flatten)]
    along: AlongOptions,
}

/// What is asked of the library beside the efforts, option by option.
type More<'r> = (&'static str, bool, fn(Idm<'r>) -> Idm<'r>);

impl Inverse {
    /// Options that ask for more: a new one is an argument above, and a row here.
    fn more<'r>(&self) -> [More<'r>; 2] {
        [("--reactions", self.reactions, Idm::reactions), ("--derivatives", self.derivatives, Idm::derivatives)]
    }
}

#[derive(Args)]
pub struct Direct {
    #[command(flatten)]
    pub question: Question,
    /// Efforts of the drives by joint: q11=1.5,q21=-0.2; what is left out is zero
    #[arg(long, value_name = "EFFORTS", requires = "pose", conflicts_with = "states", allow_hyphen_values = true)]
    efforts: Option<String>,
    /// Inertia matrix and bias vector on the platform's own components, and on the active joints
    #[arg(long)]
    matrices: bool,
    /// Let the friction of all joints act
    #[arg(long)]
    friction: bool,
    /// Derivatives of the acceleration by pose, twist, efforts and the parameters of the file
    #[arg(long)]
    derivatives: bool,
}

/// A question with a state and its conditions.
macro_rules! asked {
    ($question:expr, $robot:expr, $state:expr, $mode:expr, $conditions:expr) => {{
        let (state, conditions): (&AskedState, &GivenConditions) = ($state, $conditions);
        let name = |c: CoordId| &$robot.model().topology().coords[c].name;
        let mut asked = $question.mode($mode);
        if let Some(twist) = &state.twist {
            asked = asked.twist(twist);
        }
        for (c, q) in &state.given {
            asked = asked.joint(name(*c), *q);
        }
        for (c, [rate, acceleration]) in &conditions.open {
            asked = asked.joint_motion(name(*c), *rate, *acceleration);
        }
        for (body, wrench) in &conditions.loads {
            asked = match body {
                Some(body) => asked.load(body, *wrench),
                None => asked.wrench(*wrench),
            };
        }
        if let Some(sign) = conditions.friction {
            asked = asked.friction(sign);
        }
        asked
    }};
}
/// Actuator efforts.
pub fn idm(arguments: &Inverse) -> Result<(), Failure> {
    let robot = load(&arguments.question)?;
    let answer = || {
        if is_flexible(robot.model()) && !arguments.question.rigid {
            return flexible_idm(&robot, arguments);
        }
        if let Some(path) = &arguments.along.trajectory {
            let mode = one_mode(&robot, arguments.question.mode.as_deref())?;
            let wrench = arguments.question.wrench.as_deref();
            let load =
                wrench.map_or(Ok(Wrench::zero()), |w| loads::on_platform(robot.model(), w).map(|(_, load)| load))?;
            return trajectory::run(&robot, &mode, path, &arguments.along, load, &arguments.question.output);
        }
        let acceleration = optional(&robot, arguments.acceleration.as_deref(), "--acceleration")?;
        let conditions = GivenConditions::read(&robot, &arguments.question, arguments.joint_accelerations.as_deref())?;
        let share = share(&robot, &arguments.share)?;
        let one = |state: &AskedState, mode: &WorkingMode| -> Result<(Value, String), SolveError> {
            let mut asked =
                asked!(robot.idm(&state.pose).rigid(), &robot, state, mode, &conditions).share(share.clone());
            if let Some(acceleration) = &state.acceleration {
                asked = asked.acceleration(acceleration);
            }
            for (_, _, ask) in arguments.more().into_iter().filter(|more| more.1) {
                asked = ask(asked);
            }
            let found = asked.answer().map_err(ask::unanswered)?;
            let mut text = efforts_text(&robot, &found);
            text += &assumed_text(&robot, found.assumed.as_ref());
            for name in &found.held {
                let _ =
                    writeln!(text, "q{name} stands still, its drive giving what that takes: the pose leaves it open");
            }
            text += &found.reactions.as_ref().map_or(String::new(), reactions_text);
            if let Some(d) = &found.derivatives {
                let rows: Vec<String> = robot.active_joints().iter().map(|n| format!("tau_{n}")).collect();
                let parts = [("pose", &d.pose), ("twist", &d.twist), ("acceleration", &d.acceleration)];
                text += &derivatives_text(&robot, &parts, &d.parameters, &rows);
            }
            Ok((json!(found), text))
        };
        let plain = conditions.loads.is_empty()
            && share == Share::Shortest
            && robot.model().topology().plan.given.is_empty()
            && !arguments.more().iter().any(|more| more.1);
        let quick = |columns: &[table::Column]| match columns {
            [one] if plain && one.path == "efforts" => Some((Many::Efforts, None)),
            [one] if plain && one.path == "efforts_with_friction" => {
                Some((Many::Efforts, Some(conditions.friction.unwrap_or_default())))
            }
            _ => None,
        };
        answer_all(&robot, &arguments.question, acceleration, None, &one, (&OF_EFFORTS, &quick))
    };
    answer().map_err(|why: Failure| why.of(&robot.model().topology().name))
}

/// Accelerations.
pub fn ddm(arguments: &Direct) -> Result<(), Failure> {
    let robot = load(&arguments.question)?;
    let answer = || {
        if is_flexible(robot.model()) && !arguments.question.rigid {
            return flexible_ddm(&robot, arguments);
        }
        let efforts = arguments.efforts.as_deref().map(|e| efforts(&robot, e)).transpose()?;
        let conditions = direct_conditions(&robot, arguments)?;
        let one = |state: &AskedState, mode: &WorkingMode| -> Result<(Value, String), SolveError> {
            let mut asked = asked!(robot.ddm(&state.pose).rigid(), &robot, state, mode, &conditions);
            if let Some(efforts) = &state.efforts {
                asked = asked.efforts(efforts);
            }
            asked = if arguments.matrices { asked.matrices() } else { asked };
            asked = if arguments.derivatives { asked.derivatives() } else { asked };
            let found = asked.answer().map_err(ask::unanswered)?;
            let mut text = accelerations_text(&robot, &found) + &assumed_text(&robot, found.assumed.as_ref());
            if let Some(m) = &found.platform {
                let names = robot.components().join(" ");
                text += &matrices_text(&format!("M td_r + c = J_inv^T tau on {names}"), &m.M, &m.c);
                let redundant = robot.active_joints().len() > robot.components().len();
                text += &match &found.joints {
                    Some(m) => matrices_text("M qdd_a + c = tau on the active joints", &m.M_active, &m.c_active),
                    None if redundant => "\nno model on the active joints: drives are redundant\n".to_owned(),
                    None => "\nno model on the active joints: a Type 2 singularity\n".to_owned(),
                };
            }
            if let Some(d) = &found.derivatives {
                let rows: Vec<String> = robot.components().iter().map(|n| format!("a_{n}")).collect();
                let parts = [("pose", &d.pose), ("twist", &d.twist), ("efforts", &d.efforts)];
                text += &derivatives_text(&robot, &parts, &d.parameters, &rows);
            }
            Ok((json!(found), text))
        };
        let plain = conditions.loads.is_empty()
            && robot.model().topology().plan.given.is_empty()
            && !(arguments.matrices || arguments.derivatives);
        let quick = |columns: &[table::Column]| match columns {
            [one] if plain && one.path == "acceleration" => Some((Many::Accelerations, conditions.friction)),
            _ => None,
        };
        answer_all(&robot, &arguments.question, None, efforts, &one, (&OF_ACCELERATIONS, &quick))
    };
    answer().map_err(|why: Failure| why.of(&robot.model().topology().name))
}

/// A question about a flexible robot needs what only the rigid one answers.
fn rigid_only(options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::Usage(format!(
            "{option} is for rigid robots, and this one has flexible parts; add --rigid to take them as rigid"
        ))),
        None => Ok(()),
    }
}

/// The state that the command line gives to a flexible robot, by its platform; home where a file has the states.
fn flexible_state(robot: &Robot, question: &Question, acceleration: Option<&str>) -> Result<AskedState, Failure> {
    rigid_only(&[("--joints", question.joints.is_some()), ("--joint-rates", question.joint_rates.is_some())])?;
    if question.pose.is_none() && question.states.is_none() {
        return Err(Failure::Usage("give --pose or --states".to_owned()));
    }
    let home = || Ok(*robot.home().pose());
    Ok(AskedState {
        pose: question.pose.as_deref().map_or_else(home, |pose| ask::pose(robot.model(), pose))?,
        given: Vec::new(),
        twist: optional(robot, question.twist.as_deref(), "--twist")?,
        acceleration: optional(robot, acceleration, "--acceleration")?,
        efforts: None,
    })
}

/// Answers a question about a flexible robot: one state, or those of a file.
fn flexible_answer(robot: &Robot, question: &Question, asked: FlexibleMotion<'_>) -> Result<(), Failure> {
    let asked = if question.deflected { asked.deflected() } else { asked };
    match &question.states {
        Some(path) => flexible::many(robot, &asked, path, &question.output),
        None => flexible::one(robot, &asked, &question.output),
    }
}

fn flexible_idm(robot: &Robot, arguments: &Inverse) -> Result<(), Failure> {
    let q = &arguments.question;
    rigid_only(&[
        ("--trajectory", arguments.along.trajectory.is_some()),
        ("--share", arguments.share != "shortest"),
        ("--joint-accelerations", arguments.joint_accelerations.is_some()),
    ])?;
    rigid_only(&arguments.more().map(|(option, given, _)| (option, given)))?;
    let (conditions, mode) = (GivenConditions::read(robot, q, None)?, one_mode(robot, q.mode.as_deref())?);
    let state = flexible_state(robot, q, arguments.acceleration.as_deref())?;
    let mut asked = asked!(robot.idm(&state.pose), robot, &state, &mode, &conditions);
    if let Some(acceleration) = &state.acceleration {
        asked = asked.acceleration(acceleration);
    }
    flexible_answer(robot, q, asked.flexible()?)
}

fn flexible_ddm(robot: &Robot, arguments: &Direct) -> Result<(), Failure> {
    let q = &arguments.question;
    rigid_only(&[("--matrices", arguments.matrices), ("--derivatives", arguments.derivatives)])?;
    let (conditions, mode) = (direct_conditions(robot, arguments)?, one_mode(robot, q.mode.as_deref())?);
    let state = flexible_state(robot, q, None)?;
    let mut asked = asked!(robot.ddm(&state.pose), robot, &state, &mode, &conditions);
    if let Some(given) = &arguments.efforts {
        asked = asked.efforts(&efforts(robot, given)?);
    }
    flexible_answer(robot, q, asked.flexible()?)
}

/// Conditions of direct dynamics: joints rub where it is said.
fn direct_conditions(robot: &Robot, arguments: &Direct) -> Result<GivenConditions, Failure> {
    let mut conditions = GivenConditions::read(robot, &arguments.question, None)?;
    if arguments.friction {
        conditions.friction = Some(conditions.friction.unwrap_or_default());
    } else if conditions.friction.is_some() {
        return Err(Failure::Usage("--friction-width goes with --friction; give both, or neither".to_owned()));
    }
    Ok(conditions)
}

/// Values of joints that the pose leaves open, by name.
pub fn open_values(robot: &Robot, text: &str, what: &str) -> Result<Vec<(CoordId, f64)>, Failure> {
    let usage = |m: String| Failure::Usage(format!("{what}: {m}"));
    let t = robot.model().topology();
    let open: Vec<String> = t.plan.given.iter().map(|c| format!("q{}", t.coords[*c].name)).collect();
    let per = match what {
        "--joint-rates" => 1,
        "--joint-accelerations" => 2,
        _ => 0,
    };
    let mut list: Vec<(CoordId, f64)> = Vec::new();
    for assigned in ask::assignments(text, what)? {
        let found = t.coord(&assigned.name).filter(|c| t.plan.given.contains(c));
        let Some(c) = found else {
            let why = if open.is_empty() { "the pose leaves none open".to_owned() } else { open.join(", ") };
            return Err(usage(format!("`{}` is no joint that the pose leaves open: {why}", assigned.name)));
        };
        let length = i32::from(t.coords[c].slides);
        assigned.must_have([length, 0, -per], "a value of that joint").map_err(usage)?;
        if list.iter().any(|(other, _)| *other == c) {
            return Err(usage(format!("{} is given twice", assigned.name)));
        }
        list.push((c, assigned.value));
    }
    Ok(list)
}

/// Rates and accelerations of joints that the pose leaves open.
fn open_joints(
    robot: &Robot,
    question: &Question,
    accelerations: Option<&str>,
) -> Result<Vec<(CoordId, [f64; 2])>, Failure> {
    let values = |text: Option<&str>, what| text.map_or(Ok(Vec::new()), |text| open_values(robot, text, what));
    let rates = values(question.joint_rates.as_deref(), "--joint-rates")?;
    let accelerations = values(accelerations, "--joint-accelerations")?;
    let of = |list: &[(CoordId, f64)], c: CoordId| list.iter().find(|(o, _)| *o == c).map(|(_, x)| *x);
    let open = robot.model().topology().plan.given.iter();
    let moves = open.filter_map(|c| match (of(&rates, *c), of(&accelerations, *c)) {
        (None, None) => None,
        (rate, acceleration) => Some((*c, [rate.unwrap_or(0.0), acceleration.unwrap_or(0.0)])),
    });
    Ok(moves.collect())
}

fn load(question: &Question) -> Result<Robot, Failure> {
    if let Some(states) = &question.states {
        question.output.spares(states, "the states file")?;
    }
    let robot = question.subject.load(&question.output)?;
    match &question.payload {
        Some(text) => Ok(robot.carrying(loads::payload(text)?)),
        None => Ok(robot),
    }
}

/// Loads and friction of the question, and how joints move that the pose leaves open.
struct GivenConditions {
    /// On bodies, or on the platform.
    loads: Vec<(Option<String>, Wrench<f64>)>,
    friction: Option<Sign>,
    open: Vec<(CoordId, [f64; 2])>,
}

impl GivenConditions {
    fn read(robot: &Robot, question: &Question, accelerations: Option<&str>) -> Result<Self, Failure> {
        let t = robot.model().topology();
        let mut loads = Vec::new();
        if let Some(text) = &question.wrench {
            loads.push((None, loads::on_platform(robot.model(), text)?.1));
        }
        for text in &question.load {
            let (node, wrench) = loads::on_body(robot.model(), text)?;
            loads.push((Some(t.node_name(node).to_owned()), wrench));
        }
        let friction = match question.friction_width {
            Some(width) if !(width > 0.0 && width.is_finite()) => {
                return Err(Failure::Usage(format!("--friction-width is {width}, not a positive rate")));
            }
            width => width.map(Sign::Smooth),
        };
        Ok(Self { loads, friction, open: open_joints(robot, question, accelerations)? })
    }
}

/// `--share`: how redundant drives share.
fn share(robot: &Robot, text: &str) -> Result<Share, Failure> {
    let usage = |why: String| Failure::Usage(format!("--share: {why}"));
    let t = robot.model().topology();
    let numbers = |list: &str| -> Result<Vec<f64>, Failure> {
        let one = |x: &str| x.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        list.split(':').map(|x| one(x).ok_or_else(|| usage(format!("`{x}` is not a number")))).collect()
    };
    if text == "shortest" {
        return Ok(Share::Shortest);
    }
    if text == "limits" {
        let limits = loads::effort_limits(robot.model()).map_err(usage)?;
        return Ok(Share::Within(limits.into_iter().map(|x| [-x, x]).collect()));
    }
    if let Some(list) = text.strip_prefix("limits=") {
        return match numbers(list)?.as_slice() {
            [low, high] if low < high => Ok(Share::Within(vec![[*low, *high]; t.active.len()])),
            _ => Err(usage("limits are lowest:highest, such as limits=-5:5".to_owned())),
        };
    }
    if let Some(list) = text.strip_prefix("weights=") {
        let weights = numbers(list)?;
        if weights.len() != t.active.len() || weights.iter().any(|w| *w <= 0.0) {
            let names = t.active_names().join(", ");
            return Err(usage(format!("{} positive weights are needed, one per drive ({names})", t.active.len())));
        }
        return Ok(Share::Weighted(weights));
    }
    Err(usage(format!("`{text}` is none of shortest, weights=.., limits, limits=low:high")))
}

fn optional(robot: &Robot, text: Option<&str>, option: &str) -> Result<Option<Vec<f64>>, Failure> {
    text.map(|t| components(robot, t, option)).transpose()
}

/// `q11=1.5,q21=-0.2` in the order of the active joints.
pub fn efforts(robot: &Robot, text: &str) -> Result<Vec<f64>, Failure> {
    words::efforts(robot.model(), text).map_err(ask::of_option("--efforts"))
}

type One<'a> = &'a (dyn Fn(&AskedState, &WorkingMode) -> Result<(Value, String), SolveError> + Sync);

/// Whether columns of a table can be answered many states at a time, and under which friction.
type Quick<'a> = &'a (dyn Fn(&[table::Column]) -> Option<(Many, Option<Sign>)> + Sync);

/// What is answered many states at a time.
#[derive(Clone, Copy)]
enum Many {
    Efforts,
    Accelerations,
}

/// Efforts or accelerations of states that were read, many at a time.
fn quick(
    robot: &Robot,
    mode: &WorkingMode,
    (what, friction): (Many, Option<Sign>),
    states: &[Result<AskedState, String>],
) -> Vec<Told> {
    let (n, drives) = (component_names(robot.model()).len(), robot.active_joints().len());
    let (rest, none) = (vec![0.0; n], vec![0.0; drives]);
    let good = || states.iter().flatten();
    let go_on = |_| !crate::interrupt::asked();
    let (values, width, refused) = match what {
        Many::Efforts => {
            let asked: Vec<gough::batch::State<'_>> = good()
                .map(|s| gough::batch::State {
                    pose: &s.pose,
                    t_r: s.twist.as_ref().unwrap_or(&rest),
                    td_r: s.acceleration.as_ref().unwrap_or(&rest),
                })
                .collect();
            let found = gough::batch::efforts(robot, mode, friction, &asked, go_on);
            (found.efforts, drives, found.refused)
        }
        Many::Accelerations => {
            let asked: Vec<gough::batch::Driven<'_>> = good()
                .map(|s| gough::batch::Driven {
                    pose: &s.pose,
                    t_r: s.twist.as_ref().unwrap_or(&rest),
                    efforts: s.efforts.as_ref().unwrap_or(&none),
                })
                .collect();
            let found = gough::batch::accelerations(robot, mode, friction, &asked, go_on);
            (found.accelerations, n, found.refused)
        }
    };
    let mut refused = refused.into_iter().peekable();
    let mut efforts = values.chunks(width.max(1)).enumerate();
    let mut told = Vec::with_capacity(states.len());
    for state in states {
        if let Err(reason) = state {
            told.push(Err(SolveError::NotAPose { reason: reason.clone() }));
            continue;
        }
        let Some((i, numbers)) = efforts.next() else { break };
        told.push(refused.next_if(|r| r.state == i).map_or_else(|| Ok(numbers.to_vec()), |r| Err(r.why)));
    }
    told
}

/// One state, or those of a file.
fn answer_all(
    robot: &Robot,
    question: &Question,
    acceleration: Option<Vec<f64>>,
    efforts: Option<Vec<f64>>,
    one: One<'_>,
    (known, quick): (&[&str], Quick<'_>),
) -> Result<(), Failure> {
    let model = robot.model();
    let t = model.topology();
    let mode = one_mode(robot, question.mode.as_deref())?;
    let left_out = model.description().left_out(Concern::RigidMotion);
    if let Some(pose) = &question.pose {
        let twist = optional(robot, question.twist.as_deref(), "--twist")?;
        let given = question.joints.as_deref().map_or(Ok(Vec::new()), |text| open_values(robot, text, "--joints"))?;
        let state = AskedState { pose: ask::pose(model, pose)?, given, twist, acceleration, efforts };
        let (mut document, text) = one(&state, &mode)?;
        document["robot"] = json!(t.name);
        document["active_joints"] = json!(t.active_names());
        document["passive_joints"] = json!(t.passive_names());
        document["left_out"] = json!(left_out);
        let home = ask::from_home(model, pose)?;
        ask::add_home(&home, &mut document);
        return question.output.give(|| document, || text + &ask::home_text(&home) + &left_out_text(&left_out));
    }
    let Some(path) = &question.states else {
        return Err(Failure::Usage("give --pose or --states".to_owned()));
    };
    let head = json!({
        "robot": t.name,
        "active_joints": t.active_names(),
        "passive_joints": t.passive_names(),
        "left_out": left_out,
    });
    let notes = |_| left_out_text(&left_out);
    let total = || states::count(path);
    let frame = batch::Envelope { head, heading: String::new(), notes: &notes, total: &total };
    let form = TableForm::of(&question.output, &question.choice);
    let columns = table::columns(model, &question.choice, known)?;
    let solved = |state: &Result<AskedState, String>| match state {
        Ok(state) => one(state, &mode),
        Err(reason) => Err(SolveError::NotAPose { reason: reason.clone() }),
    };
    let (source, states) = States::open(model, path)?;
    if !matches!(form, TableForm::Document | TableForm::Lines) {
        let taken = ask::Taken::new(model);
        let rows = |states: &[Result<AskedState, String>]| {
            states.iter().flatten().for_each(|s| taken.count(&s.given));
            match quick(&columns) {
                Some(asked) => self::quick(robot, &mode, asked, states),
                None => batch::rows(states, &|state| Ok(table::row(model, &columns, &solved(state)?.0))),
            }
        };
        batch::table((source, states), (form, &columns), (&question.output, &total), &rows)?;
        taken.tell();
        return Ok(());
    }
    let json = question.output.json || form == TableForm::Lines;
    let answer = |i: usize, raw: &Result<Raw, String>| match solved(
        &raw.as_ref().map_err(Clone::clone).and_then(|r| states.state(r)),
    ) {
        Ok((document, text)) => batch::StateAnswer {
            text: if json {
                table::chosen(&question.choice, &columns, document).to_string()
            } else {
                format!("state {}\n{text}\n", i + 1)
            },
            refused: false,
            misuse: false,
        },
        Err(e) => {
            let document = || error_json(e.kind(), &e.to_string()).to_string();
            let text = || format!("state {}\n{e}\n\n", i + 1);
            let text = if json { document() } else { text() };
            batch::StateAnswer { text, refused: true, misuse: e.is_misuse() }
        }
    };
    batch::run(Box::new(source.map(Ok)), form, &frame, &question.output, &answer)
}
