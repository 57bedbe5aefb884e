//! `gough plan --cross --to-mode`: a motion through an LPJTS singularity, into another working mode.

use crate::commands::trajectory::effort_units;
use crate::failure::Failure;
use crate::output::{Files, Output};
use gough::Robot;
use gough::crossing::{LegArrival, LegDriven, LegPlan, plan_passive, simulate_leg};
use gough::dynamics::newton_euler::Sign;
use gough::kinematics::WorkingMode;
use gough::spatial::Pose;
use gough::trajectory::MOST_SAMPLES;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Start and end with their working modes.
type Ends = [(Pose<f64>, WorkingMode); 2];

/// An instant of the plan.
struct PassiveRow {
    t: f64,
    platform: [[f64; 3]; 3],
    /// Coordinates of the leg.
    q: Vec<f64>,
    efforts: Vec<f64>,
    without_friction: Vec<f64>,
}

/// Steps in which the plan is simulated.
const STEPS: u32 = 1000;

/// Plan, and tell.
pub fn answer(
    robot: &Robot,
    ends: &Ends,
    duration: f64,
    table: Option<(&Path, Option<f64>)>,
    output: &Output,
) -> Result<(), Failure> {
    let [from, to] = ends;
    let plan = plan_passive(robot.model(), (&from.0, &from.1), (&to.0, &to.1), duration)?;
    let leg = LegDriven::new(robot.model(), &from.1, plan.leg)?;
    let rows = rows_at(&leg, &plan, 1e-3 * duration)?;
    let mut files = Files::default();
    if let Some((file, step)) = table {
        let step = step.unwrap_or(1e-3 * duration);
        if !(step > 0.0 && duration / step <= MOST_SAMPLES as f64) {
            return Err(Failure::Usage(format!("--step: at most {MOST_SAMPLES} rows are written; take a longer step")));
        }
        files.add(file, csv(robot, &leg, &rows_at(&leg, &plan, step)?).as_bytes())?;
    }
    let refinement = refinement(&leg, &plan)?;
    let arrival = simulate_leg(&leg, &plan, STEPS)?;
    output.give_with(
        files,
        || document(robot, &plan, &rows, &refinement, &arrival),
        || text(robot, &leg, &plan, &rows, &refinement) + &arrival_text(&arrival),
    )
}

fn rows_at(leg: &LegDriven<'_>, plan: &LegPlan, step: f64) -> Result<Vec<PassiveRow>, Failure> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked by the caller
    let count = (plan.duration / step - 1e-9).ceil().max(1.0) as usize;
    (0..=count).map(|k| row(leg, plan, (k as f64 * step).min(plan.duration))).collect()
}

fn row(leg: &LegDriven<'_>, plan: &LegPlan, t: f64) -> Result<PassiveRow, Failure> {
    let jets = plan.at(t);
    let efforts = |friction| match leg.efforts(&jets, friction) {
        Err(_) if (t - plan.crossing.t).abs() < 1e-6 * plan.duration => Ok(plan.crossing.limit_efforts.clone()),
        found => found,
    };
    let (efforts, without_friction) = (efforts(Some(Sign::Sharp))?, efforts(None)?);
    let q = jets.iter().map(|j| j[0]).collect();
    Ok(PassiveRow { t, platform: leg.platform(&jets), q, efforts, without_friction })
}

/// Largest efforts at twenty instants on either side of the crossing, in steps from a millisecond to a microsecond.
fn refinement(leg: &LegDriven<'_>, plan: &LegPlan) -> Result<Vec<(f64, Vec<f64>)>, Failure> {
    let one = |step: f64| {
        let times = (-20..20).map(|k| plan.crossing.t + (f64::from(k) + 1.0 / 3.0) * step);
        let mut peaks = vec![0.0_f64; plan.crossing.limit_efforts.len()];
        for t in times {
            let found = row(leg, plan, t)?.efforts;
            peaks.iter_mut().zip(found).for_each(|(peak, x)| *peak = peak.max(x.abs()));
        }
        Ok((step, peaks))
    };
    [1e-3, 1e-4, 1e-5, 1e-6].into_iter().map(one).collect()
}

/// Largest efforts with their times.
fn peaks(rows: &[PassiveRow], drives: usize) -> Vec<(f64, f64)> {
    let of = |k: usize| rows.iter().map(|r| (r.efforts[k], r.t)).max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    (0..drives).map(|k| of(k).unwrap_or((0.0, 0.0))).collect()
}

fn arrival_text(arrival: &LegArrival) -> String {
    let side = if arrival.beyond { "beyond" } else { "on this side of" };
    format!(
        "simulated with these efforts alone, without friction: {:.1e} m from the goal, {side} the singularity\n",
        arrival.off
    )
}

fn document(
    robot: &Robot,
    plan: &LegPlan,
    rows: &[PassiveRow],
    refinement: &[(f64, Vec<f64>)],
    arrival: &LegArrival,
) -> Value {
    let t = robot.model().topology();
    let names = t.active_names();
    let drive = |(k, (peak, at)): (usize, &(f64, f64))| json!({ "joint": names[k], "unit": effort_units(robot)[k], "peak": peak, "at": at });
    let coordinates = t.legs[plan.leg].coords.iter().map(|c| format!("q{}", t.coords[c].name));
    let polynomials: serde_json::Map<String, Value> =
        coordinates.zip(plan.polynomials.iter().map(|p| json!(p.coefficients))).collect();
    let state = |r: &PassiveRow| json!({ "t": r.t, "position": r.platform[0], "leg": r.q, "efforts": r.without_friction, "efforts_with_friction": r.efforts });
    json!({
        "robot": t.name,
        "active_joints": names,
        "crossings": [plan.crossing],
        "coefficients": polynomials,
        "drives": peaks(rows, names.len()).iter().enumerate().map(drive).collect::<Vec<_>>(),
        "refinement": refinement.iter().map(|(step, peaks)| json!({ "step": step, "peaks": peaks })).collect::<Vec<_>>(),
        "simulated": arrival,
        "states": rows.iter().map(state).collect::<Vec<_>>(),
    })
}

fn text(
    robot: &Robot,
    leg: &LegDriven<'_>,
    plan: &LegPlan,
    rows: &[PassiveRow],
    refinement: &[(f64, Vec<f64>)],
) -> String {
    let t = robot.model().topology();
    let c = &plan.crossing;
    let [x, y, z] = c.position;
    let mut out =
        format!("{} in {} s, from working mode {} to {}\n\n", t.name, plan.duration, c.mode_before, c.mode_after);
    let _ = writeln!(
        out,
        "LPJTS singularity of leg {} crossed at t = {:.9} s: x = {x:.9}  y = {y:.9}  z = {z:.9}",
        c.leg, c.t
    );
    let lost: Vec<String> = c.joints_lost.iter().map(|(n, v)| format!("q{n} {v:+.6}")).collect();
    let _ = writeln!(out, "  joints that move by themselves: {}; criterion {:.3e} N", lost.join(", "), c.criterion);
    let list = |values: &[f64]| values.iter().map(|x| format!("{x:.6}")).collect::<Vec<_>>().join(" ");
    let _ = writeln!(out, "  efforts have a limit: {}", list(&c.limit_efforts));
    out.push_str("  largest efforts beside it, step by step\n");
    for (step, peaks) in refinement {
        let _ = writeln!(out, "  {step:>7.0e} s  {}", list(peaks));
    }
    for (c, p) in leg.coordinates().into_iter().zip(&plan.polynomials) {
        let terms: Vec<String> = p.coefficients.iter().map(|c| format!("{c:.9}")).collect();
        let _ = writeln!(out, "q{}(t): {}", t.coords[c].name, terms.join(", "));
    }
    let _ = writeln!(out, "\n{:10}{:>14}{:>12}", "", "peak effort", "at t");
    for ((name, unit), (peak, at)) in t.active_names().iter().zip(effort_units(robot)).zip(peaks(rows, t.active.len()))
    {
        let _ = writeln!(out, "{:10}{peak:>14.6}{at:>12.6}  {unit}", format!("q{name}"));
    }
    out.push_str("efforts with friction\n");
    out
}

fn csv(robot: &Robot, leg: &LegDriven<'_>, rows: &[PassiveRow]) -> String {
    let t = robot.model().topology();
    let mut heads: Vec<String> = ["t", "x", "y", "z", "xd", "yd", "zd", "xdd", "ydd", "zdd"].map(str::to_owned).into();
    heads.extend(leg.coordinates().into_iter().map(|c| format!("q{}", t.coords[c].name)));
    heads.extend(t.active_names().iter().map(|n| format!("tau_{n}")));
    heads.extend(t.active_names().iter().map(|n| format!("tau_{n}_without_friction")));
    let mut out = heads.join(",") + "\n";
    for r in rows {
        let _ = write!(out, "{}", r.t);
        for x in r.platform.iter().flatten().chain(&r.q).chain(&r.efforts).chain(&r.without_friction) {
            let _ = write!(out, ",{x}");
        }
        out.push('\n');
    }
    out
}
