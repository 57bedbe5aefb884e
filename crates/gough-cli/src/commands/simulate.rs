//! `gough simulate`: motion over time under efforts or a controller.

use crate::angles::Angles;
use crate::ask::{self, RobotChoice, of_option, one_mode, time};
use crate::columns::drives_told_apart;
use crate::commands::dynamics::efforts;
use crate::commands::flexible_simulate;
use crate::commands::motion::components;
use crate::commands::motion_table::{draw, table};
use crate::commands::moving_points::{self, PointShow};
use crate::commands::plan::LawName;
use crate::failure::Failure;
use crate::interrupt;
use crate::loads;
use crate::output::{Files, Output, spares};
use crate::plot;
use crate::sheet;
use crate::states::{left_out_text, pose_text};
use crate::streams::tell;
use clap::{Args, ValueEnum};
use gough::dynamics::newton_euler::Sign;
use gough::elastodynamics::motion::is_flexible;
use gough::identification::{Measured, Record, Sensors};
use gough::model::Model;
use gough::question::words::body_point;
use gough::question::{SimulationAnswer, Tracking};
use gough::simulation::gauss::Stages;
use gough::simulation::{
    Controller, EffortTable, Feedback, FlexibleLaw, FlexibleOptions, Gains, Instant, Law, Method, MovingPoint, Noise,
    SetupError, SimulationOptions, TimedLoad,
};
use gough::trajectory::Trajectory;
use gough::{Pose, Robot, WorkingMode};
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What follows the trajectory.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ControlChoice {
    /// Springs and dampers at the drives: kp (q_d - q) + kd (qd_d - qd)
    JointPd,
    /// Springs and dampers on the platform, carried to the drives, and what holds the robot against gravity
    PlatformPd,
    /// Efforts of the model for the acceleration that corrects the error
    ComputedTorque,
}

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// Position of the platform
    Platform,
    /// Angles of the platform: roll, pitch, yaw, or phi
    Orientation,
    /// Orientation of the platform as a quaternion
    Quaternion,
    /// Active joints
    Joints,
    /// Rates of the active joints
    Rates,
    /// Efforts of the drives
    Efforts,
    /// Kinetic and potential energy, work of the drives, losses
    Energy,
    /// Distance from the trajectory
    Error,
    /// Elastic coordinates of a flexible robot
    Elastic,
    /// Displacement of the points of --point from where they start
    Points,
    /// Velocity of the points
    PointVelocities,
    /// Acceleration of the points
    PointAccelerations,
    /// How far the points of a flexible robot are from where the rigid robot with the same motors would have them
    Deflections,
}

impl Show {
    fn word(self) -> &'static str {
        match self {
            Show::Platform => "platform",
            Show::Joints => "joints",
            Show::Rates => "rates",
            Show::Efforts => "efforts",
            Show::Energy => "energy",
            Show::Error => "error",
            Show::Elastic => "elastic",
            Show::Orientation => "orientation",
            Show::Quaternion => "quaternion",
            Show::Points => "points",
            Show::PointVelocities => "point-velocities",
            Show::PointAccelerations => "point-accelerations",
            Show::Deflections => "deflections",
        }
    }

    /// What it shows of points.
    pub fn of_points(self) -> Option<PointShow> {
        match self {
            Show::Points => Some(PointShow::Displacement),
            Show::PointVelocities => Some(PointShow::Velocity),
            Show::PointAccelerations => Some(PointShow::Acceleration),
            Show::Deflections => Some(PointShow::Deflection),
            _ => None,
        }
    }
}

#[derive(Args)]
#[allow(clippy::struct_excessive_bools)] // switches of the command line
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Where it starts; home unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    from: Option<String>,
    /// Platform twist at the start: x=0.3,wz=1; what is left out is zero
    #[arg(long, value_name = "COMPONENTS", allow_hyphen_values = true)]
    twist: Option<String>,
    /// How long, in seconds
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    time: String,
    /// Efforts of the drives: a CSV file with columns t, tau_11, .., or constant ones, q11=1.5,q21=0
    #[arg(
        long,
        value_name = "FILE|EFFORTS",
        conflicts_with_all = ["controller", "trajectory", "to", "gains", "gravity", "perturb", "period", "noise", "hidden_payload"],
        allow_hyphen_values = true
    )]
    efforts: Option<String>,
    /// A controller along --trajectory, to --to, or at the start
    #[arg(long, value_enum)]
    controller: Option<ControlChoice>,
    /// Trajectory file (CSV) to follow
    #[arg(long, value_name = "FILE", requires = "controller", conflicts_with = "to")]
    trajectory: Option<PathBuf>,
    /// Add to the efforts of the trajectory file (tau_11, ..), so that computed torque works through a Type 2 singularity
    #[arg(long, requires = "trajectory")]
    feed_forward: bool,
    /// Go to this pose by a law, that of fifth degree unless --law is given
    #[arg(long, value_name = "COORDINATES", requires = "controller", allow_hyphen_values = true)]
    to: Option<String>,
    /// How long that takes; the whole time unless given
    #[arg(long, value_name = "TIME", requires = "to", conflicts_with = "trajectory", allow_hyphen_values = true)]
    duration: Option<String>,
    /// Law of motion to that pose
    #[arg(long, value_enum, default_value = "poly5", requires = "to")]
    law: LawName,
    /// Gains: kp=400,kd=40, or one per drive or component, kp=400:300,kd=40; computed-torque has these unless given
    #[arg(long, value_name = "GAINS", requires = "controller", allow_hyphen_values = true)]
    gains: Option<String>,
    /// joint-pd: add what holds the robot against gravity
    #[arg(long, requires = "controller")]
    gravity: bool,
    /// The controller's model has masses and inertias off by up to this share, and a seed: 0.1 or 0.1,7
    #[arg(long, value_name = "SHARE[,SEED]", requires = "controller", allow_hyphen_values = true)]
    perturb: Option<String>,
    /// The controller works every so many seconds; all the time unless given
    #[arg(long, value_name = "TIME", requires = "controller", allow_hyphen_values = true)]
    period: Option<String>,
    /// Normal noise of what the controller measures, position=1e-5,rate=1e-3 (needs --period); of what --csv records,
    /// effort=0.05 (or 1% of each drive's own) and step=1e-5 (of the encoders), which then has times, joints and efforts
    /// only; and a seed: seed=7
    #[arg(long, value_name = "NOISE", allow_hyphen_values = true)]
    noise: Option<String>,
    /// What the platform carries, in its own frame: mass=2.5,com=0:0:0.05,ixx=.. (inertia at the centre of mass); the
    /// controller knows of it
    #[arg(long, value_name = "MASS", allow_hyphen_values = true)]
    payload: Option<String>,
    /// The controller does not know of the payload
    #[arg(long, requires = "payload", requires = "controller")]
    hidden_payload: bool,
    /// Wrench from outside on the platform, at its origin, in world axes: fx=10,fz=-5,mz=0.2
    #[arg(long, value_name = "COMPONENTS", allow_hyphen_values = true)]
    wrench: Option<String>,
    /// Friction of the joints, its sign smoothed over this rate (1e-3 rad/s or m/s unless given)
    #[arg(long, value_name = "WIDTH", num_args = 0..=1, require_equals = true, default_missing_value = "1e-3")]
    friction: Option<f64>,
    /// Let drives give more than their largest effort
    #[arg(long)]
    unlimited: bool,
    /// Go on through Type 2 singularities
    #[arg(long)]
    through_type2: bool,
    /// Error of a step, relative to the size of the robot, a radian, and these per second: 1e-9 unless given; of flexible robots
    /// relative to how far each coordinate has been, 1e-6
    #[arg(long, value_name = "NUMBER", conflicts_with = "step", allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Take flexible bodies, springs and transmissions as rigid
    #[arg(long)]
    rigid: bool,
    /// Flexible robots: start from the static deflection under gravity
    #[arg(long, conflicts_with = "rigid")]
    deflected: bool,
    /// Flexible robots: drives hold their joints where they start
    #[arg(long, conflicts_with_all = ["rigid", "efforts", "controller"])]
    held: bool,
    /// Flexible robots: drives move as those of the rigid robot along this trajectory file (CSV), and tell what that takes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rigid", "efforts", "controller", "held"])]
    playback: Option<PathBuf>,
    /// Flexible robots: elastic coordinates at the start, in the order of `check`, such as 0:0.002:0
    #[arg(long, value_name = "LIST", conflicts_with = "rigid", allow_hyphen_values = true)]
    elastic: Option<String>,
    /// Flexible robots: when --wrench acts, FROM:UNTIL in seconds; all the time unless given
    #[arg(long, value_name = "FROM:UNTIL", requires = "wrench", conflicts_with = "rigid")]
    wrench_time: Option<String>,
    /// Flexible robots: let motions that steps do not resolve die out (Radau in place of Gauss)
    #[arg(long, conflicts_with = "rigid")]
    numerical_damping: bool,
    /// Flexible robots: the share of its way within which the tool is called settled, 0.02 unless given
    #[arg(long, value_name = "SHARE", conflicts_with = "rigid", allow_negative_numbers = true)]
    settled_within: Option<f64>,
    /// Steps of this length in place of adaptive ones: Runge-Kutta of fourth order; of flexible robots Gauss of sixth, or Radau of fifth
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    step: Option<String>,
    /// Record an instant every so many seconds; a five-hundredth of the time unless given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    every: Option<String>,
    /// Record position, velocity and acceleration of a point: BODY, BODY=x:y:z in its frame, BEAM=s along a beam, BODY=NAME of a modal body;
    /// of flexible robots also how far it is off the rigid robot. Again for more points
    #[arg(long, value_name = "POINT", allow_hyphen_values = true)]
    point: Vec<String>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// Write the motion; `--trajectory` and `--efforts` read such files
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw the motion, .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// What the picture shows
    #[arg(long, value_enum, default_value = "platform", requires = "plot")]
    show: Show,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.plot {
        plot::check(file).map_err(|e| Failure::Usage(e.to_string()))?;
    }
    let inputs = [arguments.trajectory.clone(), arguments.efforts.clone().map(PathBuf::from)];
    let written = [("--plot", &arguments.plot), ("--csv", &arguments.csv), ("-o", &arguments.output.output)];
    for input in inputs.iter().flatten().chain([&PathBuf::from(&arguments.subject.robot)]) {
        for (option, file) in written {
            file.as_ref().map_or(Ok(()), |file| spares(file, option, input, "a file that is read"))?;
        }
    }
    arguments.output.apart(&[("--csv", arguments.csv.as_ref()), ("--plot", arguments.plot.as_ref())])?;
    let plain = arguments.subject.load(&arguments.output)?;
    arguments.csv.iter().try_for_each(|_| drives_told_apart(plain.model()))?;
    if arguments.show.of_points().is_some() && arguments.point.is_empty() {
        return Err(Failure::Usage(format!("--show {} needs --point", arguments.show.word())));
    }
    let robot = match &arguments.payload {
        Some(text) => plain.clone().carrying(loads::payload(text)?),
        None => plain.clone(),
    };
    if is_flexible(plain.model()) && !arguments.rigid {
        return flexible(&robot, arguments).map_err(|why| why.of(plain.name()));
    }
    let flexible_only = [
        ("--held", arguments.held),
        ("--playback", arguments.playback.is_some()),
        ("--elastic", arguments.elastic.is_some()),
        ("--deflected", arguments.deflected),
        ("--wrench-time", arguments.wrench_time.is_some()),
        ("--numerical-damping", arguments.numerical_damping),
        ("--settled-within", arguments.settled_within.is_some()),
    ];
    if let Some((option, _)) = flexible_only.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{option} is for flexible robots, and nothing of this one gives way")));
    }
    answer(&robot, if arguments.hidden_payload { &plain } else { &robot }, arguments)
        .map_err(|why| why.of(&robot.model().topology().name))
}

/// A robot with flexible parts.
fn flexible(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let refused = [
        ("--period", arguments.period.is_some()),
        ("--noise", arguments.noise.is_some()),
        ("--perturb", arguments.perturb.is_some()),
        ("--hidden-payload", arguments.hidden_payload),
        ("--through-type2", arguments.through_type2),
        ("--controller platform-pd", arguments.controller == Some(ControlChoice::PlatformPd)),
        ("--show error", arguments.show == Show::Error),
        ("--show orientation", arguments.show == Show::Orientation),
        ("--show quaternion", arguments.show == Show::Quaternion),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!(
            "{option} is for rigid robots, and this one has flexible parts; add --rigid to take them as rigid"
        )));
    }
    let model = robot.model();
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let from = arguments.from.as_deref().map_or(Ok(*robot.home().pose()), |p| pose(model, p, "--from"))?;
    let twist = arguments.twist.as_deref().map_or(Ok(Vec::new()), |t| components(robot, t, "--twist"))?;
    let rigid = options(arguments)?;
    let law = match (&arguments.playback, arguments.held) {
        (Some(path), _) => FlexibleLaw::Playback(sheet::trajectory(robot, &mode, path)?.trajectory),
        (None, true) => FlexibleLaw::Held,
        (None, false) => match law(robot, &mode, &from, &rigid, arguments)?.0 {
            Law::Free => FlexibleLaw::Free,
            Law::Efforts(table) => FlexibleLaw::Efforts(table),
            Law::Controller(c) => FlexibleLaw::Controller(c),
        },
    };
    let numbers = |text: &str, option: &str| -> Result<Vec<f64>, Failure> {
        let one = |x: &str| x.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let bad = |x: &str| Failure::Usage(format!("{option}: `{x}` is not a number"));
        text.split(':').map(|x| one(x).ok_or_else(|| bad(x))).collect()
    };
    let mut loads = Vec::new();
    if let Some(text) = &arguments.wrench {
        let window = arguments.wrench_time.as_deref().map(|w| numbers(w, "--wrench-time")).transpose()?;
        let [from, until] = match window.as_deref() {
            None => [0.0, f64::INFINITY],
            Some([a, b]) if a < b => [*a, *b],
            Some(_) => return Err(Failure::Usage("--wrench-time is FROM:UNTIL, such as 0.1:0.11".to_owned())),
        };
        loads.push(TimedLoad { wrench: loads::on_platform(model, text)?.1, from, until });
    }
    let usual = FlexibleOptions::lasting(rigid.duration);
    let options = FlexibleOptions {
        every: rigid.every,
        tolerance: arguments.tolerance.unwrap_or(1e-6),
        step: if let Method::Fixed { step } = rigid.method { Some(step) } else { None },
        stages: if arguments.numerical_damping { Stages::Radau } else { Stages::Gauss },
        friction: rigid.friction,
        saturate: rigid.saturate,
        loads,
        points: arguments
            .point
            .iter()
            .map(|p| body_point(model, p).map_err(of_option("--point")))
            .collect::<Result<_, _>>()?,
        settled_within: settled_within(arguments, usual.settled_within)?,
        ..usual
    };
    let elastic = arguments.elastic.as_deref().map_or(Ok(Vec::new()), |t| numbers(t, "--elastic"))?;
    let start = flexible_simulate::FlexibleStart { pose: from, twist, elastic, deflected: arguments.deflected };
    let mut watch = MotionBar::new();
    let done =
        flexible_simulate::run(robot, &mode, &start, &law, &options, &mut |t| watch.goes_on(t, options.duration));
    watch.bar.finish_and_clear();
    let done = done?;
    let mut files = Files::default();
    if let Some(file) = &arguments.csv {
        files.add(file, flexible_simulate::table(robot, &done).as_bytes())?;
    }
    if let Some(file) = &arguments.plot {
        let drawn = flexible_simulate::draw(robot, &done, arguments.show, file);
        files.add(file, &drawn.map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    arguments.output.give_with(
        files,
        || flexible_simulate::document(robot, &mode, &done),
        || flexible_simulate::text(robot, &mode, &done),
    )?;
    let stop = done.stop();
    ended(stop.kind, &stop.message, stop.t)
}

/// The share of its way within which the tool has settled.
fn settled_within(arguments: &Arguments, usual: f64) -> Result<f64, Failure> {
    let share = arguments.settled_within.unwrap_or(usual);
    let refused =
        || Failure::Usage(format!("--settled-within is a share of the way, above 0 and at most 1, not {share}"));
    if share > 0.0 && share <= 1.0 { Ok(share) } else { Err(refused()) }
}

/// A bar for a motion over time, and words where nobody sees it.
struct MotionBar {
    bar: indicatif::ProgressBar,
    began: std::time::Instant,
    due: std::time::Duration,
}

impl MotionBar {
    fn new() -> Self {
        interrupt::look();
        let bar = bar("{bar:40} {percent:>3} %, {eta} left", 1000);
        Self { bar, began: std::time::Instant::now(), due: PATIENCE }
    }

    /// Tells what time is reached; whether to go on.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 1000
    fn goes_on(&mut self, t: f64, duration: f64) -> bool {
        if !crate::streams::are_watched() && self.began.elapsed() > self.due {
            self.due *= 2;
            let words = "Ctrl-C ends it here and keeps what is done";
            crate::streams::log(&format!("at t = {t:.6} s of {duration} s; {words}\n"));
        }
        self.bar.set_position((1000.0 * t / duration).clamp(0.0, 1000.0) as u64);
        !interrupt::asked()
    }
}

/// How the program ends once a motion is told: who asked for all of its time must hear that there is less.
fn ended(kind: &str, message: &str, t: f64) -> Result<(), Failure> {
    match kind {
        "end" => Ok(()),
        "interrupted" => Err(Failure::Silent(interrupt::status())),
        _ => {
            tell(&format!("no: the motion ended at t = {t:.9} s: {}\n", crate::encode::terminal(message)));
            Err(Failure::Silent(1))
        }
    }
}

/// How long nothing is said of a simulation that nobody watches on a terminal; then twice as long each time.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// A simulation that was run.
pub struct Done {
    pub found: SimulationAnswer,
    pub trajectory: Option<Trajectory>,
    rates: Option<&'static str>,
    /// Coordinates that `--from` and `--to` leave out.
    home: Vec<(&'static str, f64)>,
}

impl Done {
    /// The points that were asked for, over time.
    pub fn track(&self) -> Vec<(f64, &[MovingPoint])> {
        self.found.states.iter().map(|i| (i.t, &i.points[..])).collect()
    }
}

/// `known` is the robot as its controller knows it.
fn answer(robot: &Robot, known: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let model = robot.model();
    let from = arguments.from.as_deref().map_or(Ok(*robot.home().pose()), |p| pose(model, p, "--from"))?;
    let rest = vec![0.0; model.topology().platform.independent.len()];
    let twist = arguments.twist.as_deref().map_or(Ok(rest), |t| components(robot, t, "--twist"))?;
    let mut options = options(arguments)?;
    if let Some(text) = &arguments.wrench {
        options.load = loads::on_platform(model, text)?.1;
    }
    let (law, rates) = law(known, &mode, &from, &options, arguments)?;
    let turns = model.topology().platform.independent.iter().any(|c| c.is_angle());
    if matches!(arguments.show, Show::Orientation | Show::Quaternion) && !turns {
        return Err(Failure::Usage("--show: this platform does not turn; take --show platform".to_owned()));
    }
    if arguments.show == Show::Elastic {
        return Err(Failure::Usage("--show elastic is for flexible robots".to_owned()));
    }
    if arguments.show == Show::Error && !matches!(law, Law::Controller(_)) {
        return Err(Failure::Usage("--show error needs a controller".to_owned()));
    }
    if arguments.show == Show::Deflections {
        return Err(Failure::Usage(
            "--show deflections is for flexible robots; nothing of this one gives way".to_owned(),
        ));
    }
    let mut watch = MotionBar::new();
    let points: Vec<&str> = arguments.point.iter().map(String::as_str).collect();
    let asked = robot.simulate(&from, &options).mode(&mode).twist(&twist).law(law.clone()).points(&points);
    let found = asked.answer_while(&mut |t| watch.goes_on(t, options.duration));
    watch.bar.finish_and_clear();
    let found = found.map_err(refused)?;
    let trajectory = if let Law::Controller(c) = law { Some(c.trajectory) } else { None };
    let asked = [&arguments.from, &arguments.to].into_iter().flatten();
    let home = asked.map(|p| ask::from_home(model, p)).collect::<Result<Vec<_>, _>>()?.concat();
    let done = Done { found, trajectory, rates, home };
    let mut files = Files::default();
    if let Some(file) = &arguments.csv {
        let recorded = match sensors(arguments)? {
            Some(sensors) => seen(robot, &done, sensors),
            None => table(robot, &done),
        };
        files.add(file, recorded.as_bytes())?;
    }
    if let Some(file) = &arguments.plot {
        files.add(file, &draw(robot, &done, arguments.show, file).map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    arguments.output.give_with(files, || document(&done), || text(robot, &done))?;
    let summary = &done.found.summary;
    ended(summary.stop.kind(), &summary.stop.to_string(), summary.t)
}

fn refused(e: gough::Error) -> Failure {
    match e {
        gough::Error::Setup(SetupError::Start(why)) => why.into(),
        gough::Error::Setup(other) => Failure::Usage(other.to_string()),
        other => other.into(),
    }
}

pub fn pose(model: &Model<f64>, text: &str, option: &str) -> Result<Pose<f64>, Failure> {
    ask::pose(model, text).map_err(|e| match e {
        Failure::Usage(m) => Failure::Usage(m.replacen("--pose", option, 1)),
        other => other,
    })
}

fn options(arguments: &Arguments) -> Result<SimulationOptions, Failure> {
    let seconds = |text: &Option<String>, option: &str| text.as_deref().map(|s| time(s, option)).transpose();
    let duration = time(&arguments.time, "--time")?;
    let step = seconds(&arguments.step, "--step")?;
    let usual = SimulationOptions::lasting(duration);
    Ok(SimulationOptions {
        method: step
            .map_or(Method::Adaptive { tolerance: arguments.tolerance.unwrap_or(1e-9) }, |step| Method::Fixed { step }),
        every: seconds(&arguments.every, "--every")?.unwrap_or(usual.every),
        friction: arguments.friction.map(Sign::Smooth),
        saturate: !arguments.unlimited,
        period: seconds(&arguments.period, "--period")?,
        noise: arguments.noise.as_deref().map(|n| noise(n).map(|both| both.0)).transpose()?.flatten(),
        through_type2: arguments.through_type2,
        ..usual
    })
}

/// What drives the robot, and where the rates of its trajectory come from.
fn law(
    robot: &Robot,
    mode: &WorkingMode,
    from: &Pose<f64>,
    options: &SimulationOptions,
    arguments: &Arguments,
) -> Result<(Law, Option<&'static str>), Failure> {
    if let Some(given) = &arguments.efforts {
        let table = if given.contains('=') {
            EffortTable::constant(efforts(robot, given)?)
        } else {
            sheet::efforts(robot, Path::new(given), options.friction.is_some())?
        };
        return Ok((Law::Efforts(table), None));
    }
    let Some(kind) = arguments.controller else { return Ok((Law::Free, None)) };
    if arguments.gravity && kind != ControlChoice::JointPd {
        return Err(Failure::Usage("--gravity is for joint-pd; the others have it".to_owned()));
    }
    let (trajectory, rates) = match (&arguments.trajectory, &arguments.to) {
        (Some(path), _) => {
            let motion = sheet::trajectory(robot, mode, path)?;
            (motion.trajectory, Some(motion.rates))
        }
        (None, Some(to)) => {
            let to = pose(robot.model(), to, "--to")?;
            let duration = arguments.duration.as_deref().map_or(Ok(options.duration), |d| time(d, "--duration"))?;
            let motion = Trajectory::by_law(arguments.law.law(), *from, to, [0.0, duration]);
            (motion.map_err(|e| Failure::Usage(e.to_string()))?, None)
        }
        (None, None) => (Trajectory::hold(*from), None),
    };
    let gains = match (&arguments.gains, kind) {
        (Some(text), _) => gains(text)?,
        (None, ControlChoice::ComputedTorque) => Gains::all(400.0, 40.0),
        (None, _) => return Err(Failure::Usage("--gains kp=..,kd=.. are needed for this controller".to_owned())),
    };
    let feedback = match kind {
        ControlChoice::JointPd => Feedback::JointPd { gravity: arguments.gravity },
        ControlChoice::PlatformPd => Feedback::PlatformPd,
        ControlChoice::ComputedTorque => Feedback::ComputedTorque,
    };
    let believed = match &arguments.perturb {
        Some(text) => Some(perturbed(robot.model(), text)?),
        None => arguments.hidden_payload.then(|| robot.model().clone()),
    };
    let planned = match &arguments.trajectory {
        Some(path) if arguments.feed_forward => Some(sheet::efforts(robot, path, options.friction.is_some())?),
        _ => None,
    };
    if planned.is_some() && kind != ControlChoice::ComputedTorque {
        return Err(Failure::Usage("--feed-forward is for computed-torque".to_owned()));
    }
    let controller = Controller { feedback, gains, trajectory, believed, friction: options.friction, planned };
    Ok((Law::Controller(Box::new(controller)), rates))
}

/// `kp=400:300,kd=40`.
fn gains(text: &str) -> Result<Gains, Failure> {
    let bad = |m: String| Failure::Usage(format!("--gains: {m}; write kp=400,kd=40 or lists, kp=400:300,kd=40:30"));
    let (mut kp, mut kd) = (None, None);
    for part in text.split(',') {
        let (name, list) = part.split_once('=').ok_or_else(|| bad(format!("`{part}` is no NAME=VALUE")))?;
        let number = |x: &str| x.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let list: Option<Vec<f64>> = list.split(':').map(number).collect();
        let list = list.ok_or_else(|| bad(format!("`{part}` has something that is no number")))?;
        let place = match name.trim() {
            "kp" => &mut kp,
            "kd" => &mut kd,
            other => return Err(bad(format!("there is no gain `{other}`"))),
        };
        if place.replace(list).is_some() {
            return Err(bad(format!("{name} is given twice")));
        }
    }
    match (kp, kd) {
        (Some(kp), Some(kd)) => Ok(Gains { kp, kd }),
        _ => Err(bad("kp and kd are both needed".to_owned())),
    }
}

/// `position=1e-5,rate=1e-3,seed=7`.
/// What the controller measures, if that is noisy, and what is recorded.
fn noise(text: &str) -> Result<(Option<Noise>, Sensors), Failure> {
    let (mut noise, mut sensors) =
        (Noise { position: 0.0, rate: 0.0, seed: 1 }, Sensors { seed: 1, ..Sensors::default() });
    for part in text.split(',') {
        let bad = || {
            let known = "position=1e-5,rate=1e-3,effort=1%,step=1e-5,seed=7";
            Failure::Usage(format!("--noise: `{part}`; write any of {known}"))
        };
        let (name, value) = part.split_once('=').ok_or_else(bad)?;
        let size = |text: &str| text.trim().parse::<f64>().ok().filter(|x| *x >= 0.0 && x.is_finite()).ok_or_else(bad);
        match (name.trim(), value.trim().strip_suffix('%')) {
            ("position", _) => noise.position = size(value)?,
            ("rate", _) => noise.rate = size(value)?,
            ("effort", Some(percent)) => sensors.effort_share = size(percent)? / 100.0,
            ("effort", None) => sensors.effort = size(value)?,
            ("step", _) => sensors.step = size(value)?,
            ("seed", _) => noise.seed = value.trim().parse().map_err(|_| bad())?,
            _ => return Err(bad()),
        }
    }
    sensors.seed = noise.seed;
    Ok(((noise.position > 0.0 || noise.rate > 0.0).then_some(noise), sensors))
}

/// Whether sensors are not perfect.
fn sensors(arguments: &Arguments) -> Result<Option<Sensors>, Failure> {
    let sensors = arguments.noise.as_deref().map(noise).transpose()?.map(|both| both.1);
    Ok(sensors.filter(|s| s.effort > 0.0 || s.effort_share > 0.0 || s.step > 0.0))
}

/// The motion as sensors see it.
fn seen(robot: &Robot, done: &Done, sensors: Sensors) -> String {
    let drives = robot.model().topology().active.len();
    let list = |of: &dyn Fn(&Instant) -> &[f64]| -> Vec<Vec<f64>> {
        (0..drives).map(|k| done.found.states.iter().map(|i| of(i)[k]).collect()).collect()
    };
    let record = Record {
        name: String::new(),
        times: done.found.states.iter().map(|i| i.t).collect(),
        measured: Measured::Joints(list(&|i| &i.q)),
        efforts: list(&|i| &i.efforts),
    };
    crate::record::table(robot.model(), &sensors.seen(record))
}

/// The model with every inertia multiplied by a number between 1 - share and 1 + share.
fn perturbed(model: &Model<f64>, text: &str) -> Result<Model<f64>, Failure> {
    let bad = || Failure::Usage(format!("--perturb: `{text}`; write a share below 1 and a seed if wanted: 0.1,7"));
    let (share, seed) = text.split_once(',').unwrap_or((text, "1"));
    let share: f64 = share.trim().parse().ok().filter(|s| (0.0..1.0).contains(s)).ok_or_else(bad)?;
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed.trim().parse().map_err(|_| bad())?);
    Ok(model.with_scaled_inertias(|| 1.0 + share * (2.0 * random.random::<f64>() - 1.0)))
}

/// A progress bar on a terminal, else nothing.
fn bar(template: &str, length: u64) -> indicatif::ProgressBar {
    if !crate::streams::are_watched() {
        return indicatif::ProgressBar::hidden();
    }
    let style = indicatif::ProgressStyle::with_template(template);
    let bar = indicatif::ProgressBar::new(length);
    style.map_or(bar.clone(), |s| bar.with_style(s))
}

/// A progress bar of a search that counts what it has looked at.
pub fn progress_bar() -> indicatif::ProgressBar {
    bar("{pos} motions, {msg}", 0)
}

fn document(done: &Done) -> Value {
    let mut document = json!(done.found);
    if let Some(rates) = done.rates {
        document["rates"] = json!(rates);
    }
    ask::add_home(&done.home, &mut document);
    document
}

fn text(robot: &Robot, done: &Done) -> String {
    let (model, found, s) = (robot.model(), &done.found, &done.found.summary);
    let mut out = format!("{} in working mode {}\n", found.robot, found.working_mode);
    if let Some(rates) = done.rates {
        let _ = writeln!(out, "{rates}");
    }
    let _ = writeln!(out, "ended at t = {:.9} s: {}\n", s.t, s.stop);
    for (name, i) in [("start", found.states.first()), ("end", found.states.last())] {
        if let Some(i) = i {
            let _ = writeln!(out, "{name:<6} {}", pose_text(model, &i.pose));
        }
    }
    if let Some(Tracking { largest_m, rms_m, largest_rad, rms_rad, .. }) = found.tracking {
        let _ = writeln!(
            out,
            "off the trajectory by at most {largest_m:.3e} m, {largest_rad:.3e} rad; rms {rms_m:.3e} m, {rms_rad:.3e} rad"
        );
    }
    for (name, seconds) in found.active_joints.iter().zip(&s.saturated).filter(|(_, x)| **x > 0.0) {
        let _ = writeln!(out, "drive q{name} was at its largest effort for {seconds:.4} s");
    }
    let _ = writeln!(
        out,
        "\n{} steps, {} rejected; loops closed to {:.1e} m, {:.1e} rad",
        s.steps, s.rejected, s.gap[0], s.gap[1]
    );
    let _ = writeln!(out, "energy and work agree to {:.1e} J of {:.4e} J", s.energy_error, s.energy_scale);
    out += &moving_points::text(&found.points, &done.track());
    out + &ask::home_text(&done.home) + &left_out_text(&found.left_out)
}
