//! Points of bodies over time, as columns, curves and words.

use crate::plot::{Series, Style};
use gough::simulation::MovingPoint;
use std::fmt::Write as _;

const AXES: [&str; 3] = ["x", "y", "z"];

/// What is shown of a point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PointShow {
    Displacement,
    Velocity,
    Acceleration,
    Deflection,
}

impl PointShow {
    pub fn label(self) -> &'static str {
        match self {
            PointShow::Displacement => "displacement from the start (m)",
            PointShow::Velocity => "velocity (m/s)",
            PointShow::Acceleration => "acceleration (m/s²)",
            PointShow::Deflection => "off the rigid robot with the same motors (m)",
        }
    }

    fn of(self, point: &MovingPoint, start: &MovingPoint) -> Option<[f64; 3]> {
        match self {
            PointShow::Displacement => Some(difference(&point.position, &start.position)),
            PointShow::Velocity => Some(point.velocity),
            PointShow::Acceleration => Some(point.acceleration),
            PointShow::Deflection => point.deflection,
        }
    }
}

fn difference(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// The points of every instant, with its time.
pub type Track<'a> = [(f64, &'a [MovingPoint])];

/// Heads of their columns: `point 13=0.2 x`, then rates `xd`, accelerations `xdd`, and of flexible robots deflections `ux`.
pub fn heads(names: &[String], flexible: bool) -> Vec<String> {
    let kinds: &[(&str, &str)] = &[("", ""), ("", "d"), ("", "dd"), ("u", "")];
    let kinds = &kinds[..if flexible { 4 } else { 3 }];
    let all = names.iter().flat_map(|n| kinds.iter().map(move |kind| (n, kind)));
    all.flat_map(|(n, (before, after))| AXES.map(|axis| format!("point {n} {before}{axis}{after}"))).collect()
}

/// Their cells; a deflection that is not known leaves its cells empty.
pub fn cells(points: &[MovingPoint], flexible: bool) -> Vec<String> {
    let mut row = Vec::new();
    for p in points {
        let known = [p.position, p.velocity, p.acceleration].concat();
        row.extend(known.iter().map(f64::to_string));
        if flexible {
            row.extend((0..3).map(|k| p.deflection.map_or_else(String::new, |u| u[k].to_string())));
        }
    }
    row
}

/// Curves of all points along the axes in which anything happens.
pub fn series(names: &[String], track: &Track<'_>, show: PointShow) -> Vec<Series> {
    let Some((_, start)) = track.first() else { return Vec::new() };
    let mut all: Vec<Series> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        for (k, axis) in AXES.iter().enumerate() {
            let at = |points: &[MovingPoint]| show.of(&points[i], &start[i]).map(|x| x[k]);
            let points: Vec<(f64, Option<f64>)> = track.iter().map(|(t, points)| (*t, at(points))).collect();
            if points.iter().any(|(_, x)| x.is_some_and(|x| x != 0.0)) {
                all.push(Series { name: format!("{name}, {axis}"), style: Style::nth(all.len()), points });
            }
        }
    }
    all
}

/// How far, how fast and how suddenly each moved at most.
pub fn text(names: &[String], track: &Track<'_>) -> String {
    let mut out = String::new();
    let Some((_, start)) = track.first() else { return out };
    for (i, name) in names.iter().enumerate() {
        let most = |show: PointShow| {
            let all = track.iter().filter_map(|(_, points)| show.of(&points[i], &start[i]));
            all.map(|x| x.iter().fold(0.0_f64, |n, x| n.hypot(*x))).reduce(f64::max)
        };
        let of = |show: PointShow| most(show).unwrap_or_default();
        let (moved, speed, acceleration) =
            (of(PointShow::Displacement), of(PointShow::Velocity), of(PointShow::Acceleration));
        let _ =
            write!(out, "point {name}: at most {moved:.4e} m from its start, {speed:.4e} m/s, {acceleration:.4e} m/s²");
        let bent = most(PointShow::Deflection);
        let _ = match bent {
            Some(bent) => writeln!(out, ", {bent:.4e} m off the rigid robot"),
            None => writeln!(out),
        };
    }
    out
}
