//! `gough simulate` of robots with flexible bodies, springs or elastic transmissions.

use crate::commands::motion_table::InstantCurve;
use crate::commands::moving_points::{self, PointShow};
use crate::commands::simulate::Show;
use crate::encode::csv_cell;
use crate::failure::Failure;
use crate::plot::{self, Chart, Series, Style};
use crate::states::{left_out_text, pose_json, pose_text};
use gough::Robot;
use gough::description::{Concern, LeftOut};
use gough::elastodynamics::motion::{CaseMotion, FlexibleCase, FlexibleRobot};
use gough::kinematics::{WorkingMode, inverse};
use gough::simulation::{
    Ended, FlexibleInstant, FlexibleLaw, FlexibleOptions, FlexibleSummary, MovingPoint, simulate_flexible,
};
use gough::spatial::Pose;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Where a motion starts.
pub struct FlexibleStart {
    pub pose: Pose<f64>,
    pub twist: Vec<f64>,
    pub elastic: Vec<f64>,
    /// From the static deflection under gravity, to which the elastic coordinates add.
    pub deflected: bool,
}

/// A motion that was computed.
pub struct RecordedMotion {
    summary: FlexibleSummary,
    instants: Vec<FlexibleInstant>,
    names: Vec<String>,
    points: Vec<String>,
}

pub fn run(
    robot: &Robot,
    mode: &WorkingMode,
    start: &FlexibleStart,
    law: &FlexibleLaw,
    options: &FlexibleOptions,
    go_on: &mut dyn FnMut(f64) -> bool,
) -> Result<RecordedMotion, Failure> {
    let near = inverse(robot.model(), robot.home().pose(), mode).map_err(Failure::InMode)?;
    let mut ready = FlexibleRobot::new(robot.model(), &near)?;
    let case = FlexibleCase {
        motion: CaseMotion::Platform { pose: start.pose, twist: start.twist.clone(), acceleration: Vec::new() },
        elastic: start.elastic.clone(),
        elastic_rates: Vec::new(),
        efforts: Vec::new(),
        deflected: start.deflected,
    };
    let (state, _) = ready.prepare(&near, &case)?;
    let mut instants = Vec::new();
    let summary = simulate_flexible(&mut ready, mode, &state, law, options, &mut |i| {
        instants.push(i.clone());
        go_on(i.t)
    })?;
    let points = options.points.iter().map(|p| p.name.clone()).collect();
    Ok(RecordedMotion { summary, instants, names: ready.elastic_names(), points })
}

impl RecordedMotion {
    /// Why and when it ended.
    pub fn stop(&self) -> &Ended {
        &self.summary.stop
    }

    /// The points that were asked for, over time.
    fn track(&self) -> Vec<(f64, &[MovingPoint])> {
        self.instants.iter().map(|i| (i.t, &i.points[..])).collect()
    }
}

/// What motion with the flexible parts leaves out of the robot file.
fn left_out(robot: &Robot) -> Vec<LeftOut> {
    robot.model().description().left_out(Concern::FlexibleMotion)
}

pub fn document(robot: &Robot, mode: &WorkingMode, done: &RecordedMotion) -> Value {
    let t = robot.model().topology();
    let state = |i: &FlexibleInstant| {
        let mut value = serde_json::to_value(i).unwrap_or_default();
        value["pose"] = pose_json(robot.model(), &i.pose);
        value
    };
    let mut document = serde_json::to_value(&done.summary).unwrap_or_default();
    document["robot"] = json!(t.name);
    document["working_mode"] = json!(mode.name(t));
    document["active_joints"] = json!(t.active_names());
    document["elastic_coordinates"] = json!(done.names);
    document["left_out"] = json!(left_out(robot));
    if !done.points.is_empty() {
        document["points"] = json!(done.points);
    }
    document["states"] = done.instants.iter().map(state).collect();
    document
}

pub fn text(robot: &Robot, mode: &WorkingMode, done: &RecordedMotion) -> String {
    let model = robot.model();
    let t = model.topology();
    let s = &done.summary;
    let mut out = format!("{}, flexible, in working mode {}\n", t.name, mode.name(t));
    let _ = writeln!(out, "ended at t = {:.9} s: {}\n", s.stop.t, s.stop.message);
    for (name, i) in [("start", done.instants.first()), ("end", done.instants.last())] {
        if let Some(i) = i {
            let _ = writeln!(out, "{name:<6} {}", pose_text(model, &i.pose));
        }
    }
    let _ =
        writeln!(out, "vibration of the tool point over the last tenth of the time: {:.3e} m", s.residual_vibration);
    let share = 100.0 * s.settled_within;
    let _ = match s.settling_time {
        Some(t) => writeln!(out, "within {share} % of its way of where it ends from t = {t:.6} s on"),
        None => writeln!(out, "not within {share} % of its way of where it ends before the last tenth of the time"),
    };
    if s.steps == 0 {
        let _ = writeln!(out, "\nno step was taken");
    } else {
        let _ = writeln!(
            out,
            "\n{} steps from {:.2e} to {:.2e} s, {} evaluations; energy and work agree to {:.1e} of the largest energy",
            s.steps, s.step[1], s.step[0], s.evaluations, s.energy_error
        );
    }
    out += &moving_points::text(&done.points, &done.track());
    out + &left_out_text(&left_out(robot))
}

/// One line per instant.
pub fn table(robot: &Robot, done: &RecordedMotion) -> String {
    let names = robot.model().topology().active_names();
    let mut heads: Vec<String> = ["t", "x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"].map(str::to_owned).into();
    heads.extend(["ax", "ay", "az", "alphax", "alphay", "alphaz"].map(str::to_owned));
    for (before, after) in [("q", ""), ("q", "d"), ("q", "dd"), ("tau_", "")] {
        heads.extend(names.iter().map(|n| format!("{before}{n}{after}")));
    }
    heads.extend(done.names.iter().cloned());
    heads.extend(done.names.iter().map(|n| format!("{n} rate")));
    heads.extend(["kinetic_energy", "potential_energy", "elastic_energy", "work", "lost"].map(str::to_owned));
    heads.extend(moving_points::heads(&done.points, true));
    let mut out = heads.iter().map(|h| csv_cell(h)).collect::<Vec<_>>().join(",") + "\n";
    for i in &done.instants {
        let mut row = vec![i.t];
        row.extend(i.position);
        row.extend(i.twist.iter().chain(&i.acceleration));
        for list in [&i.active.q, &i.active.qd, &i.active.qdd, &i.efforts, &i.elastic.q, &i.elastic.qd] {
            row.extend(list);
        }
        row.extend([i.kinetic_energy, i.potential_energy, i.elastic_energy, i.work, i.lost]);
        let row = row.iter().map(f64::to_string).chain(moving_points::cells(&i.points, true));
        out += &row.collect::<Vec<_>>().join(",");
        out.push('\n');
    }
    out
}

/// What a picture shows: platform, joints, rates, efforts, energy, or elastic coordinates.
pub fn draw(robot: &Robot, done: &RecordedMotion, show: Show, path: &Path) -> Result<Vec<u8>, plot::PlotError> {
    let t = robot.model().topology();
    let joints = |of: fn(&FlexibleInstant) -> &[f64]| -> Vec<InstantCurve<'_, FlexibleInstant>> {
        let name = |(k, n): (usize, &str)| -> InstantCurve<'_, FlexibleInstant> {
            (format!("q{n}"), Box::new(move |i| of(i)[k]))
        };
        t.active_names().into_iter().enumerate().map(name).collect()
    };
    let (y_label, curves): (&str, Vec<InstantCurve<'_, FlexibleInstant>>) = match show {
        Show::Points | Show::PointVelocities | Show::PointAccelerations | Show::Deflections => {
            (show.of_points().map_or("", PointShow::label), Vec::new())
        }
        Show::Joints => ("joints (m, rad)", joints(|i| &i.active.q)),
        Show::Rates => ("rates (m/s, rad/s)", joints(|i| &i.active.qd)),
        Show::Efforts => ("efforts (N, N m)", joints(|i| &i.efforts)),
        Show::Elastic => {
            let one = |(k, n): (usize, &String)| -> InstantCurve<'_, FlexibleInstant> {
                (n.clone(), Box::new(move |i| i.elastic.q[k]))
            };
            ("elastic coordinates", done.names.iter().enumerate().map(one).collect())
        }
        Show::Energy => (
            "energy (J)",
            vec![
                ("kinetic".to_owned(), Box::new(|i: &FlexibleInstant| i.kinetic_energy) as _),
                ("elastic".to_owned(), Box::new(|i: &FlexibleInstant| i.elastic_energy) as _),
                ("work".to_owned(), Box::new(|i: &FlexibleInstant| i.work) as _),
                ("lost".to_owned(), Box::new(|i: &FlexibleInstant| i.lost) as _),
            ],
        ),
        _ => {
            let axis = |(k, n): (usize, &str)| -> InstantCurve<'_, FlexibleInstant> {
                (n.to_owned(), Box::new(move |i| i.position[k]))
            };
            ("position (m)", ["x", "y", "z"].into_iter().enumerate().map(axis).collect())
        }
    };
    let series = curves.iter().enumerate().map(|(k, (name, of))| Series {
        name: name.clone(),
        style: Style::nth(k),
        points: done.instants.iter().map(|i| (i.t, Some(of(i)))).collect(),
    });
    let points = show.of_points().map(|show| moving_points::series(&done.points, &done.track(), show));
    let stop = &done.summary.stop;
    let chart = Chart {
        title: format!("Motion of {}, flexible", t.name),
        x_label: "t (s)".to_owned(),
        y_label: y_label.to_owned(),
        y_log: false,
        series: points.unwrap_or_else(|| series.collect()),
        notes: if stop.kind == "end" {
            Vec::new()
        } else {
            vec![format!("ended at t = {:.6} s: {}", stop.t, stop.message)]
        },
    };
    plot::line_chart(&chart, path)
}
