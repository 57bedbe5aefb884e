//! A simulated motion as a table and as a picture.

use crate::angles;
use crate::commands::moving_points::{self, PointShow};
use crate::commands::simulate::{Done, Show};
use crate::commands::trajectory::effort_label;
use crate::encode::csv_cell;
use crate::plot::{self, Chart, Series, Style};
use crate::states::rate_names;
use gough::description::{Coordinate, Coordinates};
use gough::kinematics::PoseChart;
use gough::model::Model;
use gough::question::off;
use gough::question::words::pose_columns;
use gough::spatial::orientation::to_quaternion;
use gough::{Instant, Robot};
use std::path::Path;

/// Heads of a table of a motion: time, pose, rates and accelerations of the platform, then of the drives, and their efforts.
pub fn motion_heads(robot: &Robot) -> Vec<String> {
    let model = robot.model();
    let names = model.topology().active_names();
    let mut heads = vec!["t".to_owned()];
    heads.extend(pose_columns(model, robot.home().pose()).iter().map(|(n, _)| (*n).to_owned()));
    heads.extend(rate_names(model, ""));
    heads.extend(rate_names(model, "d"));
    for (before, after) in [("q", ""), ("q", "d"), ("q", "dd"), ("tau_", "")] {
        heads.extend(names.iter().map(|n| format!("{before}{n}{after}")));
    }
    heads
}

pub fn table(robot: &Robot, done: &Done) -> String {
    let model = robot.model();
    let mut heads = motion_heads(robot);
    heads.extend(["kinetic_energy", "kinetic_energy_rotors", "potential_energy", "work", "losses"].map(str::to_owned));
    heads.extend(moving_points::heads(&done.found.points, false));
    let mut out = heads.iter().map(|h| csv_cell(h)).collect::<Vec<_>>().join(",") + "\n";
    for i in &done.found.states {
        let mut row = vec![i.t];
        row.extend(pose_columns(model, &i.pose).iter().map(|(_, x)| *x));
        for list in [&i.t_r, &i.td_r, &i.q, &i.qd, &i.qdd, &i.efforts] {
            row.extend(list);
        }
        row.extend(i.energies);
        row.extend([i.work, i.losses]);
        let row = row.iter().map(f64::to_string).chain(moving_points::cells(&i.points, false));
        out += &row.collect::<Vec<_>>().join(",");
        out.push('\n');
    }
    out
}

/// A coordinate or rate of a drive in the unit it is shown in.
fn as_shown(robot: &Robot, k: usize, x: f64) -> f64 {
    let t = robot.model().topology();
    if t.coords[t.active[k]].slides { x } else { angles::shown(x) }
}

/// Units of the active joints: `m`, `rad`, or both.
fn joint_units(robot: &Robot, per: &str) -> String {
    let t = robot.model().topology();
    let mut units: Vec<&str> =
        t.active.iter().map(|c| if t.coords[*c].slides { "m" } else { angles::unit() }).collect();
    units.sort_unstable();
    units.dedup();
    units.iter().map(|u| format!("{u}{per}")).collect::<Vec<_>>().join(", ")
}

/// Curves of the lengths or of the angles among the coordinates of the platform.
fn coordinate_curves(model: &Model<f64>, turning: bool) -> Vec<InstantCurve<'_>> {
    let (platform, chart) = (&model.topology().platform, PoseChart::of(model));
    let planar = platform.coordinates == Coordinates::Planar;
    let names = ["x", "y", "z", "roll", "pitch", if planar { "phi" } else { "yaw" }];
    let own = platform.independent.iter().chain(&platform.dependent).filter(|c| c.is_angle() == turning);
    let curve = |c: &Coordinate| -> InstantCurve<'_> {
        let k = c.index();
        let shown = move |x: f64| if turning { angles::shown(x) } else { x };
        (names[k].to_owned(), Box::new(move |i| shown(chart.coordinates(&i.pose)[k])))
    };
    own.map(curve).collect()
}

/// Name of a curve, and its value at an instant.
pub type InstantCurve<'a, I = Instant> = (String, Box<dyn Fn(&I) -> f64 + 'a>);

pub fn draw(robot: &Robot, done: &Done, show: Show, path: &Path) -> Result<Vec<u8>, plot::PlotError> {
    let model = robot.model();
    let t = model.topology();
    let joints = || t.active_names().into_iter().map(|n| format!("q{n}")).enumerate();
    let (y_label, curves): (String, Vec<InstantCurve<'_>>) = match show {
        Show::Platform => ("position (m)".to_owned(), coordinate_curves(model, false)),
        Show::Orientation => (format!("orientation ({})", angles::unit()), coordinate_curves(model, true)),
        Show::Quaternion => {
            let part = |(k, n): (usize, &str)| -> InstantCurve<'_> {
                (n.to_owned(), Box::new(move |i| to_quaternion(&i.pose.R)[k]))
            };
            ("orientation".to_owned(), ["qw", "qx", "qy", "qz"].into_iter().enumerate().map(part).collect())
        }
        Show::Joints => (
            format!("joints ({})", joint_units(robot, "")),
            joints().map(|(k, n)| (n, Box::new(move |i: &Instant| as_shown(robot, k, i.q[k])) as _)).collect(),
        ),
        Show::Rates => (
            format!("rates ({})", joint_units(robot, "/s")),
            joints().map(|(k, n)| (n, Box::new(move |i: &Instant| as_shown(robot, k, i.qd[k])) as _)).collect(),
        ),
        Show::Efforts => {
            (effort_label(robot), joints().map(|(k, n)| (n, Box::new(move |i: &Instant| i.efforts[k]) as _)).collect())
        }
        Show::Energy => {
            let start = done.found.states.first().map_or(0.0, |i| i.energies[2]);
            let curves: Vec<InstantCurve<'_>> = vec![
                ("kinetic".to_owned(), Box::new(|i| i.energies[0] + i.energies[1])),
                ("potential, from the start".to_owned(), Box::new(move |i| i.energies[2] - start)),
                ("work of the drives".to_owned(), Box::new(|i| i.work)),
                ("losses".to_owned(), Box::new(|i| i.losses)),
            ];
            ("energy (J)".to_owned(), curves)
        }
        Show::Points | Show::PointVelocities | Show::PointAccelerations | Show::Deflections => {
            (show.of_points().map_or("", PointShow::label).to_owned(), Vec::new())
        }
        Show::Elastic => return Ok(Vec::new()),
        Show::Error => {
            let Some(trajectory) = &done.trajectory else { return Ok(Vec::new()) };
            let mut curves: Vec<InstantCurve<'_>> =
                vec![("position (m)".to_owned(), Box::new(|i| off(robot, trajectory, i)[0]))];
            if t.platform.independent.iter().any(|c| c.is_angle()) {
                let name = format!("orientation ({})", angles::unit());
                curves.push((name, Box::new(|i| angles::shown(off(robot, trajectory, i)[1]))));
            }
            ("distance from the trajectory".to_owned(), curves)
        }
    };
    let series = curves.iter().enumerate().map(|(k, (name, of))| Series {
        name: name.clone(),
        style: Style::nth(k),
        points: done.found.states.iter().map(|i| (i.t, Some(of(i)))).collect(),
    });
    let points = show.of_points().map(|show| moving_points::series(&done.found.points, &done.track(), show));
    let series = points.unwrap_or_else(|| series.collect());
    let mut notes = Vec::new();
    if done.found.summary.stop.kind() != "end" {
        notes.push(format!("ended at t = {:.6} s: {}", done.found.summary.t, done.found.summary.stop));
    }
    let title = format!("Motion of {} in working mode {}", t.name, done.found.working_mode);
    let chart = Chart { title, x_label: "t (s)".to_owned(), y_label, y_log: false, series, notes };
    plot::line_chart(&chart, path)
}
