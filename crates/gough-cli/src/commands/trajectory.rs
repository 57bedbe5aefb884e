//! `gough idm --trajectory`: efforts along a motion, and the limits it leaves.

use crate::angles;
use crate::ask::time;
use crate::encode::csv_cell;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::plot::{self, Chart, Series, Stroke, Style};
use crate::sheet::{self, Motion};
use crate::states::left_out_text;
use clap::Args;
use gough::Robot;
use gough::description::Concern;
use gough::kinematics::WorkingMode;
use gough::spatial::Wrench;
use gough::trajectory::{Profile, Row, follow_under};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Along {
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
    along: &Along,
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
    let found = follow_under(robot.model(), mode, &motion.trajectory, step, load)
        .map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
    if found.rows.is_empty()
        && let Some(refusal) = found.refusals.first()
    {
        return Err(refusal.why.clone().into());
    }
    let mut files = Files::default();
    if let Some(file) = &along.csv {
        files.add(file, table(robot, &found).as_bytes())?;
    }
    if let Some(file) = &along.plot {
        files.add(file, &draw(robot, mode, &found, file).map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    output.give_with(files, || document(robot, mode, &motion, &found), || text(robot, mode, &motion, &found))
}

/// Unit of the effort of each drive.
pub fn effort_units(robot: &Robot) -> Vec<&'static str> {
    let t = robot.model().topology();
    t.active.iter().map(|c| if t.coords[*c].slides { "N" } else { "N m" }).collect()
}

fn document(robot: &Robot, mode: &WorkingMode, motion: &Motion, found: &Profile) -> Value {
    let t = robot.model().topology();
    let drive = |(k, d): (usize, &gough::trajectory::Passage)| {
        json!({
            "joint": t.active_names()[k], "unit": effort_units(robot)[k],
            "peak": d.peak, "at": d.at, "rms": d.rms, "largest_speed": d.speed,
        })
    };
    let violation = |v: &gough::trajectory::Violation| {
        json!({
            "joint": v.joint, "bound": v.bound.word(), "from": v.from, "to": v.to,
            "at": v.at, "value": v.value, "limit": v.limit,
        })
    };
    let refusal = |r: &gough::trajectory::Refusal| json!({ "from": r.from, "to": r.to, "kind": r.why.kind(), "message": r.why.to_string() });
    let state = |r: &Row| {
        json!({
            "t": r.t,
            "active": { "q": r.q, "qd": r.qd, "qdd": r.qdd },
            "efforts": r.efforts,
            "efforts_with_friction": r.with_friction,
        })
    };
    json!({
        "robot": t.name,
        "left_out": robot.model().description().left_out(Concern::RigidMotion),
        "working_mode": mode.name(t),
        "active_joints": t.active_names(),
        "rates": motion.rates,
        "drives": found.drives.iter().enumerate().map(drive).collect::<Vec<_>>(),
        "looked_at": { "instants": found.rows.len(), "between": false },
        "violations": found.violations.iter().map(violation).collect::<Vec<_>>(),
        "more_violations": found.more_violations,
        "refused": found.refusals.iter().map(refusal).collect::<Vec<_>>(),
        "more_refused": found.more_refusals,
        "states": found.rows.iter().map(state).collect::<Vec<_>>(),
    })
}

fn text(robot: &Robot, mode: &WorkingMode, motion: &Motion, found: &Profile) -> String {
    let t = robot.model().topology();
    let [start, end] = motion.trajectory.span();
    let mut out = format!("{} along a motion from t = {start} s to {end} s, {} instants\n", t.name, found.rows.len());
    let _ = writeln!(out, "working mode {}; {}\n", mode.name(t), motion.rates);
    let _ = writeln!(out, "{:10}{:>14}{:>12}{:>14}{:>16}", "", "peak effort", "at t", "rms", "largest speed");
    for (k, d) in found.drives.iter().enumerate() {
        let name = format!("q{}", t.active_names()[k]);
        let unit = effort_units(robot)[k];
        let (speed, per) = if unit == "N" { (d.speed, "m") } else { (angles::shown(d.speed), angles::unit()) };
        let _ = writeln!(out, "{name:10}{:>14.6}{:>12.6}{:>14.6}{speed:>16.6}  {unit}, {per}/s", d.peak, d.at, d.rms);
    }
    out.push_str("efforts with friction\n\n");
    if found.violations.is_empty() {
        let n = found.rows.len();
        let _ = writeln!(out, "no limit of the file is left at the {n} instants looked at; between them nobody looked");
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
    for r in &found.refusals {
        let _ = writeln!(out, "no answer from {:.6} s to {:.6} s: {}", r.from, r.to, r.why);
    }
    if found.more_refusals > 0 {
        let _ = writeln!(out, "and {} more", found.more_refusals);
    }
    out + &left_out_text(&robot.model().description().left_out(Concern::RigidMotion))
}

fn table(robot: &Robot, found: &Profile) -> String {
    let names = robot.model().topology().active_names();
    let mut out = "t".to_owned();
    for (before, after) in [("q", ""), ("q", "d"), ("q", "dd"), ("tau_", ""), ("tau_", "_without_friction")] {
        names.iter().for_each(|n| out += &format!(",{}", csv_cell(&format!("{before}{n}{after}"))));
    }
    out.push('\n');
    for r in &found.rows {
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

fn draw(robot: &Robot, mode: &WorkingMode, found: &Profile, path: &Path) -> Result<Vec<u8>, plot::PlotError> {
    let t = robot.model().topology();
    let mut series = Vec::new();
    for (k, name) in t.active_names().iter().enumerate() {
        let points = |of: &dyn Fn(&Row) -> f64| found.rows.iter().map(|r| (r.t, Some(of(r)))).collect();
        let style = Style { stroke: Stroke::Solid, ..Style::nth(k) };
        series.push(Series { name: format!("q{name}"), style, points: points(&|r| r.with_friction[k]) });
        if found.rows.iter().any(|r| r.with_friction[k] != r.efforts[k]) {
            let style = Style { stroke: Stroke::Dashed, ..style };
            let name = format!("q{name} without friction");
            series.push(Series { name, style, points: points(&|r| r.efforts[k]) });
        }
    }
    let mut notes = Vec::new();
    if !found.violations.is_empty() {
        notes.push(format!("{} violations of limits", found.violations.len() + found.more_violations));
    }
    let title = format!("Efforts of {} along a motion, working mode {}", t.name, mode.name(t));
    let (x_label, y_label) = ("t (s)".to_owned(), effort_label(robot));
    plot::line_chart(&Chart { title, x_label, y_label, y_log: false, series, notes }, path)
}
