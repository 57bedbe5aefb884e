//! `gough idm --trajectory`: efforts along a motion, and the limits it leaves.

use crate::angles;
use crate::ask::time;
use crate::encode::csv_cell;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::plot::{self, Chart, Series, Stroke, Style};
use crate::sheet::{self, SheetMotion};
use crate::states::{left_out_text, pose_text};
use clap::Args;
use gough::question::{AlongAnswer, Crossing, Kind, Row};
use gough::{Robot, WorkingMode, Wrench};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct AlongOptions {
    /// Efforts along a motion: CSV with columns t and platform coordinates (x, y, phi, ..) or active joints (q11, ..), rates
    /// (xd, wx, q11d, ..) and accelerations (xdd, wxd, q11dd, ..) if known
    #[arg(
        long,
        group = "question",
        value_name = "FILE",
        conflicts_with_all = [
            "twist", "acceleration", "load", "friction_width", "reactions", "share", "derivatives", "joints", "joint_rates",
            "joint_accelerations",
        ]
    )]
    pub trajectory: Option<PathBuf>,
    /// Look every so many seconds, not at the samples of the trajectory
    #[arg(long, value_name = "TIME", requires = "trajectory", conflicts_with_all = ["pose", "states"], allow_hyphen_values = true)]
    step: Option<String>,
    /// Write joints and efforts along the trajectory
    #[arg(long, value_name = "FILE", requires = "trajectory", conflicts_with_all = ["pose", "states"])]
    csv: Option<PathBuf>,
    /// Draw the efforts, .svg or .png
    #[arg(long, value_name = "FILE", requires = "trajectory", conflicts_with_all = ["pose", "states"])]
    plot: Option<PathBuf>,
}

/// Efforts along the motion of a file.
pub fn run(
    robot: &Robot,
    mode: &WorkingMode,
    path: &Path,
    along: &AlongOptions,
    load: Wrench<f64>,
    output: &Output,
) -> Result<(), Failure> {
    output.spares(path, "the trajectory file")?;
    if let Some(file) = &along.plot {
        plot::check(file).map_err(|e| Failure::Usage(e.to_string()))?;
        spares(file, "--plot", path, "the trajectory file")?;
    }
    if let Some(file) = &along.csv {
        spares(file, "--csv", path, "the trajectory file")?;
    }
    output.apart(&[("--csv", along.csv.as_ref()), ("--plot", along.plot.as_ref())])?;
    let step = along.step.as_deref().map(|s| time(s, "--step")).transpose()?;
    let motion = sheet::trajectory(robot, mode, path)?;
    let asked = robot.along(&motion.trajectory).mode(mode).wrench(load);
    let asked = if let Some(step) = step { asked.step(step) } else { asked };
    let found = asked.answer().map_err(|e| match e {
        gough::Error::Trajectory(e) => Failure::Usage(format!("{}: {e}", path.display())),
        other => other.into(),
    })?;
    let mut files = Files::default();
    if let Some(file) = &along.csv {
        files.add(file, table(robot, &found.states).as_bytes())?;
    }
    if let Some(file) = &along.plot {
        files.add(file, &draw(robot, &found, file).map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    output.give_with(files, || document(&motion, &found), || text(robot, &motion, &found))
}

/// Unit of the effort of each drive.
pub fn effort_units(robot: &Robot) -> Vec<&'static str> {
    let t = robot.model().topology();
    t.active.iter().map(|c| if t.coords[*c].slides { "N" } else { "N m" }).collect()
}

fn document(motion: &SheetMotion, found: &AlongAnswer) -> Value {
    let mut document = json!(found);
    document["rates"] = json!(motion.rates);
    document
}

fn text(robot: &Robot, motion: &SheetMotion, found: &AlongAnswer) -> String {
    let [start, end] = motion.trajectory.span();
    let rows = found.states.len();
    let mut out = format!("{} along a motion from t = {start} s to {end} s, {rows} instants\n", found.robot);
    let _ = writeln!(out, "working mode {}; {}\n", found.working_mode, motion.rates);
    out + &along_text(robot, found, true)
}

/// Peaks, limits and refusals in words, and singularities where they are asked for.
pub fn along_text(robot: &Robot, found: &AlongAnswer, crossings: bool) -> String {
    let mut out = format!("{:10}{:>14}{:>12}{:>14}{:>16}\n", "", "peak effort", "at t", "rms", "largest speed");
    for d in &found.drives {
        let (name, unit) = (format!("q{}", d.joint), d.unit);
        let (speed, per) =
            if unit == "N" { (d.largest_speed, "m") } else { (angles::shown(d.largest_speed), angles::unit()) };
        let shown = |x: f64| if d.unbounded { "unbounded".to_owned() } else { format!("{x:.6}") };
        let (peak, rms) = (shown(d.peak), shown(d.rms));
        let _ = writeln!(out, "{name:10}{peak:>14}{:>12.6}{rms:>14}{speed:>16.6}  {unit}, {per}/s", d.at);
    }
    out.push_str("efforts with friction; peaks and limits between the instants too, to 1e-6\n\n");
    found.crossings.iter().filter(|_| crossings).for_each(|c| out += &crossing_text(robot, c));
    if found.violations.is_empty() && !found.drives.iter().any(|d| d.unbounded) {
        out.push_str("no limit of the file is left");
        out.push_str(if found.refused.is_empty() { "\n" } else { " where there is an answer\n" });
    }
    for v in &found.violations {
        let _ = writeln!(
            out,
            "{} of q{} left from {:.6} s to {:.6} s: {:.6} at {:.6} s, limit {:.6}",
            v.bound.word(),
            v.joint,
            v.from,
            v.to,
            v.value,
            v.at,
            v.limit
        );
    }
    if found.more_violations > 0 {
        let _ = writeln!(out, "and {} more", found.more_violations);
    }
    for r in &found.refused {
        let _ = writeln!(out, "no answer from {:.6} s to {:.6} s: {}", r.from, r.to, r.why);
    }
    if found.more_refused > 0 {
        let _ = writeln!(out, "and {} more", found.more_refused);
    }
    out + &left_out_text(&found.left_out)
}

/// A singularity on the way, in words.
pub fn crossing_text(robot: &Robot, c: &Crossing) -> String {
    let model = robot.model();
    let of_leg = c.kind() == Kind::Lpjts;
    let verb = if of_leg { "met" } else { "crossed" };
    let mut out = format!("{} {verb} at t = {:.9} s: {}\n", c.title(), c.t, pose_text(model, &c.pose()));
    if of_leg {
        out.push_str(
            "  efforts beside it depend on the joints of the leg, which the pose tells to half of their digits; \
             `plan --cross --to-mode` plans in them\n",
        );
    }
    for (lost, criterion) in c.twist_lost.iter().zip(&c.criterion) {
        let [x, y, z, wx, wy, wz] = lost;
        let _ = writeln!(
            out,
            "  no drive feels v = ({x:.6}, {y:.6}, {z:.6}) m/s, w = ({wx:.6}, {wy:.6}, {wz:.6}) rad/s; \
             criterion {criterion:.3e} N"
        );
    }
    let list = |values: &[f64], form: &dyn Fn(f64) -> String| {
        let one = |(n, x): (&&str, &f64)| format!("q{n} {}", form(*x));
        model.topology().active_names().iter().zip(values).map(one).collect::<Vec<_>>().join(", ")
    };
    if let (true, Some(limit)) = (c.bounded, &c.limit_efforts) {
        let _ = writeln!(out, "  efforts have a limit: {}", list(limit, &|x| format!("{x:.6}")));
    } else if c.kind() == Kind::Type2 && c.limit_efforts.is_none() {
        out.push_str("  the motion touches it: efforts grow faster than one over the time from it\n");
    } else if c.kind() == Kind::Type2 {
        let _ = writeln!(
            out,
            "  efforts grow without bound, as these over the time from it: {}; `plan --cross` meets the criterion",
            list(&c.growth, &|x| format!("{x:.3e}"))
        );
    }
    out
}

fn table(robot: &Robot, rows: &[Row]) -> String {
    let names = robot.model().topology().active_names();
    let mut out = "t".to_owned();
    for (before, after) in [("q", ""), ("q", "d"), ("q", "dd"), ("tau_", ""), ("tau_", "_without_friction")] {
        for n in &names {
            out.push(',');
            out.push_str(&csv_cell(&format!("{before}{n}{after}")));
        }
    }
    out.push('\n');
    for r in rows {
        let _ = write!(out, "{}", r.t);
        for x in [&r.q, &r.qd, &r.qdd, &r.with_friction, &r.efforts].into_iter().flatten() {
            let _ = write!(out, ",{x}");
        }
        out.push('\n');
    }
    out
}

/// What is written beside an axis of efforts.
pub fn effort_label(robot: &Robot) -> String {
    let mut units = effort_units(robot);
    units.sort_unstable();
    units.dedup();
    format!("effort ({})", units.join(", "))
}

/// Efforts over time as a picture.
pub fn draw(robot: &Robot, found: &AlongAnswer, path: &Path) -> Result<Vec<u8>, plot::PlotError> {
    let mut series = Vec::new();
    for (k, name) in found.active_joints.iter().enumerate() {
        let points = |of: &dyn Fn(&Row) -> f64| found.states.iter().map(|r| (r.t, Some(of(r)))).collect();
        let style = Style { stroke: Stroke::Solid, ..Style::nth(k) };
        series.push(Series { name: format!("q{name}"), style, points: points(&|r| r.with_friction[k]) });
        if found.states.iter().any(|r| r.with_friction[k] != r.efforts[k]) {
            let style = Style { stroke: Stroke::Dashed, ..style };
            let name = format!("q{name} without friction");
            series.push(Series { name, style, points: points(&|r| r.efforts[k]) });
        }
    }
    let mut notes = Vec::new();
    if !found.violations.is_empty() {
        notes.push(format!("{} violations of limits", found.violations.len() + found.more_violations));
    }
    for c in &found.crossings {
        notes.push(format!("{} at t = {:.6} s", c.title(), c.t));
    }
    let title = format!("Efforts of {} along a motion, working mode {}", found.robot, found.working_mode);
    let (x_label, y_label) = ("t (s)".to_owned(), effort_label(robot));
    plot::line_chart(&Chart { title, x_label, y_label, y_log: false, series, notes }, path)
}
