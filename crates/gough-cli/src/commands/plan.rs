//! `gough plan`: a motion from pose to pose: by a law, as fast as the drives allow, or through singularities.

use crate::ask::{RobotChoice, one_mode, time};
use crate::columns::drives_told_apart;
use crate::commands::motion::components;
use crate::commands::motion_table::motion_heads;
use crate::commands::passive_plan;
use crate::commands::simulate::pose;
use crate::commands::singularities::picture;
use crate::commands::trajectory::{along_text, crossing_text, draw};
use crate::encode::csv_cell;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Files, Output, Pieces, spares};
use crate::plot::{self, Chart, Series, Style};
use crate::states::{component_names, pose_text};
use clap::{Args, ValueEnum};
use gough::analysis::{CoordinateSpan, Region};
use gough::crossing::inspect;
use gough::description::Coordinate;
use gough::kinematics::inverse;
use gough::kinematics::platform::coordinates;
use gough::question::words::pose_columns;
use gough::question::{Beside, Crossing, Objective, Plan, PlanAnswer, Refinement, Row, Wish};
use gough::trajectory::{Look, TrajectoryError};
use gough::{Pose, Robot, TimeLaw, WorkingMode};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Laws by their names on the command line.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LawName {
    Poly3,
    Poly5,
    Poly7,
    BangBang,
    Trapezoid,
    SCurve,
}

impl LawName {
    pub fn law(self) -> TimeLaw {
        match self {
            LawName::Poly3 => TimeLaw::Poly3,
            LawName::Poly5 => TimeLaw::Poly5,
            LawName::Poly7 => TimeLaw::Poly7,
            LawName::BangBang => TimeLaw::BangBang,
            LawName::Trapezoid => TimeLaw::Trapezoid,
            LawName::SCurve => TimeLaw::SCurve,
        }
    }
}

/// Where the way is straight.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Space {
    /// The platform goes straight and turns about one axis
    Platform,
    /// Every drive goes straight from its first to its last place
    Joints,
}

/// What a plan is chosen for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ObjectiveChoice {
    /// Smallest peak of the efforts
    Peak,
    /// Smallest integral of squared efforts
    Energy,
    /// Shortest time within the limits of the file
    Time,
}

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlanPicture {
    /// Efforts of the drives over time
    Efforts,
    /// Coordinates of the platform over time
    Motion,
    /// The way over the singular curves, in the two coordinates that change most
    Path,
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Where it starts; home unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    from: Option<String>,
    /// Where it ends
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    to: String,
    /// How long it takes
    #[arg(long, value_name = "TIME", required_unless_present = "fastest", allow_hyphen_values = true)]
    time: Option<String>,
    /// Law of motion from rest to rest; with --via, poly5 passes the poses and the others rest at them
    #[arg(long, value_enum, default_value = "poly5", conflicts_with = "cross")]
    law: LawName,
    /// A pose on the way and its time: --via x=0.1,y=0.3@0.5; several in the order of time
    #[arg(long, value_name = "COORDINATES@TIME", allow_hyphen_values = true, conflicts_with_all = ["cross", "space"])]
    via: Vec<String>,
    /// Where the way is straight
    #[arg(long, value_enum, default_value = "platform", conflicts_with = "cross")]
    space: Space,
    /// In the shortest time within the efforts and speeds of the drives
    #[arg(long, conflicts_with = "cross")]
    fastest: bool,
    /// Through Type 2 singularities, with efforts that stay finite
    #[arg(long)]
    cross: bool,
    /// Where to cross, once per singularity in the order of time; moved onto it
    #[arg(long, value_name = "COORDINATES", requires = "cross", allow_hyphen_values = true)]
    at: Vec<String>,
    /// When to cross, once per singularity
    #[arg(long, value_name = "TIME", requires = "cross", allow_hyphen_values = true)]
    at_time: Vec<String>,
    /// Twist at the crossing, once per singularity: x=0.2,y=-0.5
    #[arg(long, value_name = "COMPONENTS", requires = "cross", allow_hyphen_values = true)]
    at_twist: Vec<String>,
    /// Accelerations at the crossing that are to stay, once per singularity; the others meet the criterion
    #[arg(long, value_name = "COMPONENTS", requires = "cross", allow_hyphen_values = true)]
    at_acceleration: Vec<String>,
    /// End in another working mode: through the LPJTS singularity of the leg in which the modes differ
    #[arg(long, value_name = "MODE", requires = "cross", allow_hyphen_values = true, conflicts_with_all = ["at", "at_time", "at_twist", "at_acceleration", "optimise", "plot"])]
    to_mode: Option<String>,
    /// Move crossing points, times, twists and accelerations that are not given, within the limits of the file
    #[arg(long, value_enum, requires = "cross")]
    optimise: Option<ObjectiveChoice>,
    /// Seed of the search
    #[arg(long, default_value_t = 1, requires = "optimise")]
    seed: u64,
    /// Rows of --csv every so many seconds; a thousandth of the time unless given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    step: Option<String>,
    /// Write motion and efforts; `idm --trajectory` and `simulate` read such files
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw the plan, .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// What the picture shows
    #[arg(long, value_enum, default_value = "efforts", requires = "plot")]
    show: PlanPicture,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.plot {
        plot::check(file).map_err(|e| Failure::Usage(e.to_string()))?;
    }
    let robot_file = PathBuf::from(&arguments.subject.robot);
    for (option, file) in [("--plot", &arguments.plot), ("--csv", &arguments.csv)] {
        file.as_ref().map_or(Ok(()), |file| spares(file, option, &robot_file, "the robot file"))?;
    }
    let robot = arguments.subject.load(&arguments.output)?;
    answer(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let model = robot.model();
    arguments.csv.iter().try_for_each(|_| drives_told_apart(model))?;
    let from = arguments.from.as_deref().map_or(Ok(*robot.home().pose()), |p| pose(model, p, "--from"))?;
    let to = pose(model, &arguments.to, "--to")?;
    let step = arguments.step.as_deref().map(|s| time(s, "--step")).transpose()?;
    if let Some(text) = &arguments.to_mode {
        let ends = [(from, mode), (to, one_mode(robot, Some(text))?)];
        let table = arguments.csv.as_deref().map(|file| (file, step));
        return passive_plan::answer(robot, &ends, duration(arguments)?, table, &arguments.output);
    }
    let made = with_progress(&asked(robot, &mode, &from, &to, arguments)?)?;
    if let Some(file) = &arguments.csv {
        write_table(robot, &mode, &made, step, file)?;
    }
    let mut files = Files::default();
    if let Some(file) = &arguments.plot {
        let drawn = match arguments.show {
            PlanPicture::Efforts => draw(robot, &made.along, file),
            PlanPicture::Motion => draw_motion(robot, &made, file),
            PlanPicture::Path => plot::draw(&path_picture(robot, &mode, &made)?, file),
        };
        files.add(file, &drawn.map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    arguments.output.give_with(files, || json!(made), || text(robot, &mode, &made))
}

/// How long the motion takes; a second where the shortest time is searched.
fn duration(arguments: &Arguments) -> Result<f64, Failure> {
    let duration = arguments.time.as_deref().map_or(Ok(1.0), |t| time(t, "--time"))?;
    if duration > 0.0 && duration.is_finite() {
        return Ok(duration);
    }
    Err(Failure::Usage(format!("--time is {duration} s; a motion takes a time that is positive and finite")))
}

/// The question that the options ask.
fn asked<'r>(
    robot: &'r Robot,
    mode: &WorkingMode,
    from: &Pose<f64>,
    to: &Pose<f64>,
    arguments: &Arguments,
) -> Result<Plan<'r>, Failure> {
    let duration = duration(arguments)?;
    let mut asked = robot.plan(to).from(from).mode(mode).time(duration).law(arguments.law.law());
    for text in &arguments.via {
        let (place, at) = text.rsplit_once('@').ok_or_else(|| {
            Failure::Usage(format!("--via: `{text}` has no time; write a pose and its time, x=0.1,y=0.3@0.5"))
        })?;
        asked = asked.via(&pose(robot.model(), place, "--via")?, time(at, "--via")?);
    }
    if arguments.space == Space::Joints {
        asked = asked.in_joints();
    }
    if arguments.fastest {
        asked = asked.fastest();
    }
    if arguments.cross {
        asked = asked.cross(wishes(robot, duration, arguments)?).seed(arguments.seed);
    }
    let objective = arguments.optimise.map(|wanted| match wanted {
        ObjectiveChoice::Peak => Objective::Peak,
        ObjectiveChoice::Energy => Objective::Energy,
        ObjectiveChoice::Time => Objective::Time,
    });
    Ok(if let Some(objective) = objective { asked.optimise(objective) } else { asked })
}

/// The plan, with a count of what was looked at on a terminal, ended early by Ctrl-C.
fn with_progress(asked: &Plan<'_>) -> Result<PlanAnswer, Failure> {
    interrupt::look();
    let bar = crate::commands::simulate::progress_bar();
    let plan = asked.answer_while(&mut |looked, best| {
        bar.set_position(looked as u64);
        bar.set_message(best.map_or_else(String::new, |b| format!("best {b:.6}")));
        !interrupt::asked()
    });
    bar.finish_and_clear();
    plan.map_err(|e| match e {
        gough::Error::Trajectory(TrajectoryError::Posture { why, .. }) => why.into(),
        gough::Error::Trajectory(TrajectoryError::TimesDoNotRise { .. }) => {
            Failure::Usage("times of --via must rise, and lie between 0 and --time".to_owned())
        }
        other => other.into(),
    })
}

/// What is wished of the crossings, one after the other.
fn wishes(robot: &Robot, duration: f64, arguments: &Arguments) -> Result<Vec<Wish>, Failure> {
    let a = arguments;
    let lists = [a.at.len(), a.at_time.len(), a.at_twist.len(), a.at_acceleration.len()];
    let count = lists.into_iter().max().unwrap_or(0);
    if !a.at.is_empty() && a.at.len() < count {
        return Err(Failure::Usage("--at: give one pose per crossing, or none".to_owned()));
    }
    let names = component_names(robot.model());
    let one = |i: usize| -> Result<Wish, Failure> {
        let mut wish = Wish::default();
        if let Some(text) = a.at.get(i) {
            wish.pose = Some(pose(robot.model(), text, "--at")?);
        }
        if let Some(text) = a.at_time.get(i) {
            let t = time(text, "--at-time")?;
            if !(t > 0.0 && t < duration) {
                return Err(Failure::Usage(format!("--at-time: {t} s is not between 0 and {duration} s")));
            }
            wish.t = Some(t);
        }
        if let Some(text) = a.at_twist.get(i) {
            wish.twist = Some(components(robot, text, "--at-twist")?);
        }
        if let Some(text) = a.at_acceleration.get(i) {
            let values = components(robot, text, "--at-acceleration")?;
            let given =
                |name: &str| text.split(',').any(|part| part.split('=').next().is_some_and(|n| n.trim() == name));
            wish.acceleration = names.iter().zip(values).map(|(name, x)| given(name).then_some(x)).collect();
        }
        Ok(wish)
    };
    (0..count).map(one).collect()
}

fn text(robot: &Robot, mode: &WorkingMode, made: &PlanAnswer) -> String {
    let model = robot.model();
    let ([start, end], along) = (made.span, &made.along);
    let mut out = format!("{} from t = {start} s to {end:.9} s, working mode {}\n", along.robot, along.working_mode);
    for (name, at) in [("from", start), ("to", end)] {
        // The motion tells the coordinates listed; others follow.
        let pose = made.trajectory.at(at).pose;
        let pose = inverse(model, &pose, mode).map_or(pose, |posture| *posture.pose());
        let _ = writeln!(out, "{name:<5} {}", pose_text(model, &pose));
    }
    out.push('\n');
    if let Some(crossing) = &made.crossing {
        let _ = writeln!(out, "{} motions were looked at", crossing.motions_looked_at);
        for (i, by) in crossing.moved_onto_singularity.iter().enumerate().filter(|(_, by)| **by > 1e-12) {
            let _ = writeln!(out, "pose {} to cross at was moved by {by:.3e} m onto the singularity", i + 1);
        }
        for (c, pair) in along.crossings.iter().zip(&crossing.refinement) {
            out += &crossing_text(robot, c);
            out += &refinement_text(pair);
        }
        for (name, list) in &made.coefficients {
            let terms: Vec<String> = list.iter().map(|c| format!("{c:.9}")).collect();
            let _ = writeln!(out, "{name}(t): {}", terms.join(", "));
        }
        out.push('\n');
    }
    out + &along_text(robot, along, made.crossing.is_none())
}

/// Efforts beside a crossing under refinement of the step.
fn refinement_text(pair: &Refinement) -> String {
    let list = |b: &Beside| b.peaks.iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(" ");
    let mut out = "  largest efforts beside it, step by step, and without the condition\n".to_owned();
    for (a, b) in pair.planned.iter().zip(&pair.without_condition) {
        let _ = writeln!(out, "  {:>7.0e} s  {}  |  {}", a.step, list(a), list(b));
    }
    out
}

/// Motion and efforts row by row, as they are found.
fn write_table(
    robot: &Robot,
    mode: &WorkingMode,
    made: &PlanAnswer,
    step: Option<f64>,
    file: &Path,
) -> Result<(), Failure> {
    let model = robot.model();
    let mut heads = motion_heads(robot);
    heads.extend(model.topology().active_names().iter().map(|n| format!("tau_{n}_without_friction")));
    let to = Output { json: false, output: Some(file.to_path_buf()) };
    let mut pieces: Pieces = to.pieces()?;
    let heads: Vec<String> = heads.iter().map(|h| csv_cell(h)).collect();
    pieces.write(&(heads.join(",") + "\n"))?;
    let n = model.topology().platform.independent.len();
    let mut failed = Ok(());
    let mut line = String::new();
    let mut each = |r: &Row| {
        let desired = made.trajectory.at(r.t);
        let (mut t_r, mut td_r) = ([0.0; 6], [0.0; 6]);
        desired.components(model, &mut t_r[..n], &mut td_r[..n]);
        line.clear();
        let _ = write!(line, "{}", r.t);
        let own = pose_columns(model, &desired.pose);
        let motion = own.iter().map(|(_, x)| x).chain(&t_r[..n]).chain(&td_r[..n]);
        let drives = [&r.q, &r.qd, &r.qdd, &r.with_friction, &r.efforts].into_iter().flatten();
        motion.chain(drives).for_each(|x| {
            let _ = write!(line, ",{x}");
        });
        line.push('\n');
        if failed.is_ok() {
            failed = pieces.write(&line);
        }
    };
    let look = Look { step, between: false, ..Look::default() };
    inspect(model, mode, &made.trajectory, &look, &mut each).map_err(|e| Failure::Usage(e.to_string()))?;
    failed?;
    pieces.finish()
}

/// Coordinates of the platform over time.
fn draw_motion(robot: &Robot, made: &PlanAnswer, path: &Path) -> Result<Vec<u8>, plot::PlotError> {
    let model = robot.model();
    let rows = &made.along.states;
    let heads = pose_columns(model, robot.home().pose());
    let series = heads.iter().enumerate().map(|(k, (name, _))| Series {
        name: (*name).to_owned(),
        style: Style::nth(k),
        points: rows.iter().map(|r| (r.t, Some(pose_columns(model, &made.trajectory.at(r.t).pose)[k].1))).collect(),
    });
    let notes = made.along.crossings.iter().map(|c| format!("{} at t = {:.6} s", c.title(), c.t)).collect();
    let title = format!("Planned motion of {}", model.topology().name);
    let (x_label, y_label) = ("t (s)".to_owned(), "platform (m, rad)".to_owned());
    plot::line_chart(&Chart { title, x_label, y_label, y_log: false, series: series.collect(), notes }, path)
}

/// The way over the singular curves, in the two coordinates that change most; the others are those of the first crossing, or of
/// the start.
fn path_picture(robot: &Robot, mode: &WorkingMode, made: &PlanAnswer) -> Result<plot::Picture, Failure> {
    let model = robot.model();
    let [start, end] = made.trajectory.span();
    let poses: Vec<[f64; 6]> = (0..=200)
        .map(|i| coordinates(model, &made.trajectory.at(start + (end - start) * f64::from(i) / 200.0).pose))
        .collect();
    let range = |c: Coordinate| {
        let values = poses.iter().map(|p| p[c.index()]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        let unit = if c.is_angle() { 1.0 } else { model.length() };
        (low, high, (high - low) / unit)
    };
    let mut own = model.topology().platform.independent.clone();
    own.sort_by(|a, b| range(*b).2.total_cmp(&range(*a).2));
    own.truncate(2);
    own.sort_by_key(|c| c.index());
    let span = |c: &Coordinate| {
        let (low, high, _) = range(*c);
        let margin = 0.4 * (high - low) + if c.is_angle() { 0.1 } else { 0.1 * model.length() };
        CoordinateSpan { coordinate: *c, low: low - margin, high: high + margin, count: 101 }
    };
    let base = made.along.crossings.first().map_or(made.trajectory.at(start).pose, Crossing::pose);
    let region = Region::new(model, own.iter().map(span).collect(), &base)
        .map_err(|_| Failure::Usage("--show path needs a platform with two coordinates or more".to_owned()))?;
    if own.len() < 2 {
        return Err(Failure::Usage("--show path needs a platform with two coordinates or more".to_owned()));
    }
    let mut drawn = picture(robot, &region, &robot.loci().in_region(&region).mode(mode).accuracy(1e-5).answer()?);
    let line = poses.iter().map(|p| [p[own[0].index()], p[own[1].index()]]).collect();
    let style = Style::nth(drawn.curves.len());
    drawn.curves.push(plot::Curves { name: "way".to_owned(), style, lines: vec![line] });
    drawn.title = format!("Planned motion of {} over its singularities", model.topology().name);
    Ok(drawn)
}
