//! `gough plan`: a motion from pose to pose: by a law, as fast as the drives allow, or through singularities.

use crate::ask::{Subject, time};
use crate::commands::motion::components;
use crate::commands::passive_plan;
use crate::commands::simulate::{columns, motion_heads, pose};
use crate::commands::singularities::{one_mode, picture};
use crate::commands::trajectory::{crossing_text, draw, profile_json, profile_text};
use crate::encode::csv_cell;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Files, Output, Pieces, spares};
use crate::plot::{self, Chart, Series, Style};
use crate::states::{component_names, pose_text};
use clap::{Args, ValueEnum};
use gough::Robot;
use gough::analysis::loci::trace_loci;
use gough::analysis::{Region, Span};
use gough::crossing::{
    Beside, Crossing, CrossingPlan, CrossingTask, Inspection, Objective, PlanError, Wish, crossings, fastest, inspect,
    inspect_all, plan_crossing, refined,
};
use gough::description::Coordinate;
use gough::kinematics::platform::coordinates;
use gough::kinematics::{WorkingMode, inverse};
use gough::spatial::{Pose, Wrench};
use gough::trajectory::{Look, Polynomial, Row, TimeLaw, Trajectory, TrajectoryError, by_joints};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Laws by their names on the command line.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Law {
    Poly3,
    Poly5,
    Poly7,
    BangBang,
    Trapezoid,
    SCurve,
}

impl Law {
    pub fn law(self) -> TimeLaw {
        match self {
            Law::Poly3 => TimeLaw::Poly3,
            Law::Poly5 => TimeLaw::Poly5,
            Law::Poly7 => TimeLaw::Poly7,
            Law::BangBang => TimeLaw::BangBang,
            Law::Trapezoid => TimeLaw::Trapezoid,
            Law::SCurve => TimeLaw::SCurve,
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
enum Wanted {
    /// Smallest peak of the efforts
    Peak,
    /// Smallest integral of squared efforts
    Energy,
    /// Shortest time within the limits of the file
    Time,
}

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Show {
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
    subject: Subject,
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
    law: Law,
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
    optimise: Option<Wanted>,
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
    show: Show,
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

/// A plan that was made.
struct Made {
    mode: WorkingMode,
    trajectory: Trajectory,
    found: Inspection,
    /// Of a motion through singularities: the plan, and efforts beside each crossing, with and without the condition.
    crossing: Option<(CrossingPlan, Vec<[Vec<Beside>; 2]>)>,
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let model = robot.model();
    if let Some(c) = model.topology().plan.given.first() {
        let joint = &model.topology().coords[*c].name;
        return Err(Failure::Usage(format!(
            "the pose leaves joints open (q{joint}); motions of such robots are not planned"
        )));
    }
    let from = arguments.from.as_deref().map_or(Ok(*robot.home().pose()), |p| pose(model, p, "--from"))?;
    let to = pose(model, &arguments.to, "--to")?;
    let step = arguments.step.as_deref().map(|s| time(s, "--step")).transpose()?;
    if let Some(text) = &arguments.to_mode {
        let ends = [(from, mode), (to, one_mode(robot, Some(text))?)];
        let table = arguments.csv.as_deref().map(|file| (file, step));
        return passive_plan::answer(robot, &ends, duration(arguments)?, table, &arguments.output);
    }
    let (trajectory, plan) = if arguments.cross {
        let plan = cross(robot, &mode, from, to, arguments)?;
        (plan.trajectory.clone(), Some(plan))
    } else {
        (plain(robot, &mode, from, to, arguments)?, None)
    };
    let usage = |e: TrajectoryError| Failure::Usage(e.to_string());
    let found = inspect_all(model, &mode, &trajectory, &Look::default()).map_err(usage)?;
    if plan.is_none() {
        if let Some(c) = found.crossings.iter().find(|c| !c.bounded) {
            return Err(PlanError::InTheWay(Box::new(c.clone())).into());
        }
        if let Some(refusal) = found.profile.refusals.first() {
            return Err(PlanError::Blocked { t: refusal.from, why: refusal.why.clone() }.into());
        }
    }
    let beside = |plan: &CrossingPlan| {
        let without = crossings(model, &mode, &plan.contrast, Wrench::zero()).unwrap_or_default();
        let pair = |(c, w): (&Crossing, &Crossing)| {
            [refined(model, &mode, &plan.trajectory, c), refined(model, &mode, &plan.contrast, w)]
        };
        plan.crossings.iter().zip(&without).map(pair).collect()
    };
    let crossing = plan.map(|plan| (plan.clone(), beside(&plan)));
    let made = Made { mode, trajectory, found, crossing };
    if let Some(file) = &arguments.csv {
        write_table(robot, &made, step, file)?;
    }
    let mut files = Files::default();
    if let Some(file) = &arguments.plot {
        let drawn = match arguments.show {
            Show::Efforts => draw(robot, &made.mode, &made.found, file),
            Show::Motion => draw_motion(robot, &made, file),
            Show::Path => plot::draw(&path_picture(robot, &made)?, file),
        };
        files.add(file, &drawn.map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    arguments.output.give_with(files, || document(robot, &made), || text(robot, &made))
}

/// How long the motion takes; a second where the shortest time is searched.
fn duration(arguments: &Arguments) -> Result<f64, Failure> {
    let duration = arguments.time.as_deref().map_or(Ok(1.0), |t| time(t, "--time"))?;
    if duration > 0.0 && duration.is_finite() {
        return Ok(duration);
    }
    Err(Failure::Usage(format!("--time is {duration} s; a motion takes a time that is positive and finite")))
}

/// By a law, and as fast as may be.
fn plain(
    robot: &Robot,
    mode: &WorkingMode,
    from: Pose<f64>,
    to: Pose<f64>,
    arguments: &Arguments,
) -> Result<Trajectory, Failure> {
    let model = robot.model();
    let duration = duration(arguments)?;
    let start = inverse(model, &from, mode)?;
    inverse(model, &to, mode)?;
    let law = arguments.law.law();
    let mut stops = vec![(0.0, from)];
    for text in &arguments.via {
        let (place, at) = text.rsplit_once('@').ok_or_else(|| {
            Failure::Usage(format!("--via: `{text}` has no time; write a pose and its time, x=0.1,y=0.3@0.5"))
        })?;
        stops.push((time(at, "--via")?, pose(model, place, "--via")?));
    }
    stops.push((duration, to));
    let motion = match (arguments.space, law) {
        (Space::Joints, _) => by_joints(model, &start, &to, law, duration),
        (Space::Platform, TimeLaw::Poly5) if stops.len() > 2 => Trajectory::passing(model, mode, &stops),
        (Space::Platform, _) => Trajectory::stopping(law, &stops),
    };
    let motion = motion.map_err(|e| match e {
        TrajectoryError::Posture { why, .. } => Failure::Solve(why),
        TrajectoryError::TimesDoNotRise { .. } => {
            Failure::Usage("times of --via must rise, and lie between 0 and --time".to_owned())
        }
        other => Failure::Usage(other.to_string()),
    })?;
    Ok(if arguments.fastest { fastest(model, mode, &motion)? } else { motion })
}

/// Through singularities.
fn cross(
    robot: &Robot,
    mode: &WorkingMode,
    from: Pose<f64>,
    to: Pose<f64>,
    arguments: &Arguments,
) -> Result<CrossingPlan, Failure> {
    let duration = duration(arguments)?;
    let objective = arguments.optimise.map(|wanted| match wanted {
        Wanted::Peak => Objective::Peak,
        Wanted::Energy => Objective::Energy,
        Wanted::Time => Objective::Time,
    });
    let task = CrossingTask {
        from,
        to,
        duration,
        wishes: wishes(robot, duration, arguments)?,
        objective,
        seed: arguments.seed,
    };
    interrupt::look();
    let bar = crate::commands::simulate::progress_bar();
    let plan = plan_crossing(robot.model(), mode, &task, &mut |looked, best| {
        bar.set_position(looked as u64);
        bar.set_message(best.map_or_else(String::new, |b| format!("best {b:.6}")));
        !interrupt::asked()
    });
    bar.finish_and_clear();
    Ok(plan?)
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

/// Polynomials of the platform's own coordinates.
fn polynomials(robot: &Robot, made: &Made) -> Vec<(&'static str, Polynomial)> {
    let own = columns(robot.model(), robot.home().pose());
    made.trajectory.polynomials().into_iter().filter(|(name, _)| own.iter().any(|(n, _)| n == name)).collect()
}

fn coefficients(robot: &Robot, made: &Made) -> Value {
    polynomials(robot, made)
        .into_iter()
        .map(|(name, p)| (name.to_owned(), json!(p.coefficients)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn document(robot: &Robot, made: &Made) -> Value {
    let mut document = profile_json(robot, &made.mode, &made.found);
    let [start, end] = made.trajectory.span();
    document["span"] = json!([start, end]);
    document["coefficients"] = coefficients(robot, made);
    if let Some((plan, beside)) = &made.crossing {
        let pair = |[planned, without]: &[Vec<Beside>; 2]| json!({ "planned": planned, "without_condition": without });
        document["refinement"] = beside.iter().map(pair).collect();
        document["moved_onto_singularity"] = json!(plan.moved);
        document["score"] = json!(plan.score);
        document["motions_looked_at"] = json!(plan.looked_at);
    }
    document
}

fn text(robot: &Robot, made: &Made) -> String {
    let model = robot.model();
    let [start, end] = made.trajectory.span();
    let t = model.topology();
    let mut out = format!("{} from t = {start} s to {end:.9} s, working mode {}\n", t.name, made.mode.name(t));
    for (name, at) in [("from", start), ("to", end)] {
        let _ = writeln!(out, "{name:<5} {}", pose_text(model, &made.trajectory.at(at).pose));
    }
    out.push('\n');
    if let Some((plan, beside)) = &made.crossing {
        let _ = writeln!(out, "{} motions were looked at", plan.looked_at);
        for (i, by) in plan.moved.iter().enumerate().filter(|(_, by)| **by > 1e-12) {
            let _ = writeln!(out, "pose {} to cross at was moved by {by:.3e} m onto the singularity", i + 1);
        }
        for (c, pair) in plan.crossings.iter().zip(beside) {
            out += &crossing_text(robot, c);
            out += &refinement_text(pair);
        }
        for (name, p) in polynomials(robot, made) {
            let terms: Vec<String> = p.coefficients.iter().map(|c| format!("{c:.9}")).collect();
            let _ = writeln!(out, "{name}(t): {}", terms.join(", "));
        }
        out.push('\n');
    }
    out + &profile_text(robot, &Inspection { crossings: Vec::new(), profile: made.found.profile.clone() })
}

/// Efforts beside a crossing under refinement of the step.
fn refinement_text([planned, without]: &[Vec<Beside>; 2]) -> String {
    let list = |b: &Beside| b.peaks.iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(" ");
    let mut out = "  largest efforts beside it, step by step, and without the condition\n".to_owned();
    for (a, b) in planned.iter().zip(without) {
        let _ = writeln!(out, "  {:>7.0e} s  {}  |  {}", a.step, list(a), list(b));
    }
    out
}

/// Motion and efforts row by row, as they are found.
fn write_table(robot: &Robot, made: &Made, step: Option<f64>, file: &Path) -> Result<(), Failure> {
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
        let own = columns(model, &desired.pose);
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
    inspect(model, &made.mode, &made.trajectory, &look, &mut each).map_err(|e| Failure::Usage(e.to_string()))?;
    failed?;
    pieces.finish()
}

/// Coordinates of the platform over time.
fn draw_motion(robot: &Robot, made: &Made, path: &Path) -> Result<Vec<u8>, plot::PlotError> {
    let model = robot.model();
    let rows = &made.found.profile.rows;
    let heads = columns(model, robot.home().pose());
    let series = heads.iter().enumerate().map(|(k, (name, _))| Series {
        name: (*name).to_owned(),
        style: Style::nth(k),
        points: rows.iter().map(|r| (r.t, Some(columns(model, &made.trajectory.at(r.t).pose)[k].1))).collect(),
    });
    let notes = made.found.crossings.iter().map(|c| format!("{} at t = {:.6} s", c.title(), c.t)).collect();
    let title = format!("Planned motion of {}", model.topology().name);
    let (x_label, y_label) = ("t (s)".to_owned(), "platform (m, rad)".to_owned());
    plot::line_chart(&Chart { title, x_label, y_label, y_log: false, series: series.collect(), notes }, path)
}

/// The way over the singular curves, in the two coordinates that change most; the others are those of the first crossing, or of
/// the start.
fn path_picture(robot: &Robot, made: &Made) -> Result<plot::Picture, Failure> {
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
        Span { coordinate: *c, low: low - margin, high: high + margin, count: 101 }
    };
    let base = made.found.crossings.first().map_or(made.trajectory.at(start).pose, Crossing::pose);
    let region = Region::new(model, own.iter().map(span).collect(), &base)
        .map_err(|_| Failure::Usage("--show path needs a platform with two coordinates or more".to_owned()))?;
    if own.len() < 2 {
        return Err(Failure::Usage("--show path needs a platform with two coordinates or more".to_owned()));
    }
    let mut drawn = picture(robot, &made.mode, &region, &trace_loci(model, &made.mode, &region, 1e-5));
    let line = poses.iter().map(|p| [p[own[0].index()], p[own[1].index()]]).collect();
    let style = Style::nth(drawn.curves.len());
    drawn.curves.push(plot::Curves { name: "way".to_owned(), style, lines: vec![line] });
    drawn.title = format!("Planned motion of {} over its singularities", model.topology().name);
    Ok(drawn)
}
