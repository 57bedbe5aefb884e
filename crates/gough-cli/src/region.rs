//! `--region` and the pose that fixes the other coordinates.

use crate::angles;
use crate::ask::{Assigned, assignments, hint};
use crate::failure::Failure;
use gough::Robot;
use gough::analysis::{CoordinateSpan, Region};
use gough::description::Coordinate;
use gough::kinematics::platform::pose_with;

/// Values per coordinate when `--region` does not say.
const VALUES: [usize; 3] = [1001, 201, 41];

/// `x=-0.2:0.2:101,y=..` of an option over the home pose, changed by `--pose`.
pub fn region(robot: &Robot, option: &str, text: &str, pose: Option<&str>) -> Result<Region, Failure> {
    let parts: Vec<&str> = text.split(',').filter(|p| !p.trim().is_empty()).collect();
    let count = VALUES[parts.len().clamp(1, 3) - 1];
    let spans = parts.iter().map(|p| span(option, p, count)).collect::<Result<Vec<CoordinateSpan>, Failure>>()?;
    let mut fixed = Vec::new();
    for assigned in pose.map_or_else(|| Ok(Vec::new()), |p| assignments(p, "--pose"))? {
        let name = &assigned.name;
        let c = coordinate(name, "--pose")?;
        assigned.must_be(!c.is_angle()).map_err(|m| Failure::Usage(format!("--pose: {m}")))?;
        if fixed.iter().any(|(other, _)| *other == c) {
            return Err(Failure::Usage(format!("--pose: {name} is given twice")));
        }
        if spans.iter().any(|s| s.coordinate == c) {
            return Err(Failure::Usage(format!("{name} is in {option} and in --pose")));
        }
        if !robot.model().topology().platform.independent.contains(&c) {
            return Err(Failure::Usage(format!("--pose: the platform does not move in {name} by itself")));
        }
        fixed.push((c, assigned.value));
    }
    let base = pose_with(robot.model(), robot.home().pose(), &fixed);
    Region::new(robot.model(), spans, &base).map_err(|e| Failure::Usage(format!("{option}: {e}")))
}

fn coordinate(name: &str, option: &str) -> Result<Coordinate, Failure> {
    Coordinate::named(name).ok_or_else(|| {
        let known = ["x", "y", "z", "roll", "pitch", "yaw", "phi"];
        Failure::Usage(format!("{option}: no platform coordinate `{name}`; {}", hint(name, &known)))
    })
}

fn span(option: &str, text: &str, count: usize) -> Result<CoordinateSpan, Failure> {
    let bad = || Failure::Usage(format!("{option} takes NAME=LOW:HIGH or NAME=LOW:HIGH:COUNT, found `{text}`"));
    let (name, range) = text.split_once('=').ok_or_else(bad)?;
    let name = name.trim();
    let c = coordinate(name, option)?;
    let ends: Vec<&str> = range.split(':').collect();
    let (low, high, count) = match ends[..] {
        [low, high] => (low, high, count),
        [low, high, n] => (low, high, n.trim().parse().map_err(|_| bad())?),
        _ => return Err(bad()),
    };
    let end = |text: &str| {
        let usage = |m: String| Failure::Usage(format!("{option}: {m}"));
        let assigned = Assigned::read(name, text.trim()).map_err(usage)?;
        assigned.must_be(!c.is_angle()).map_err(usage)?;
        Ok::<f64, Failure>(assigned.value)
    };
    Ok(CoordinateSpan { coordinate: c, low: end(low)?, high: end(high)?, count })
}

/// How a coordinate is called: the planar angle is phi.
pub fn name(robot: &Robot, c: Coordinate) -> &'static str {
    gough::question::axis_name(robot.model().topology(), c)
}

/// How many of some areas, largest first, are worth a line: eight at most, none below a thousandth of the whole.
pub fn large(areas: &[f64]) -> usize {
    let whole: f64 = areas.iter().sum();
    areas.iter().take(8).take_while(|a| **a >= 1e-3 * whole).count()
}

/// A coordinate as it is shown.
pub fn shown(c: Coordinate, x: f64) -> f64 {
    if c.is_angle() { angles::shown(x) } else { x }
}

/// The label of its axis.
pub fn axis_label(robot: &Robot, c: Coordinate) -> String {
    let name = name(robot, c);
    format!("{name} ({})", if c.is_angle() { angles::unit() } else { "m" })
}

/// The coordinates that do not change, in words.
pub fn fixed_text(robot: &Robot, region: &Region) -> String {
    let fixed = region.fixed(robot.model());
    let one = |(c, x): &(Coordinate, f64)| {
        let x = shown(*c, *x);
        format!("{} = {x:.6}", axis_label(robot, *c).replace(" (", " [").replace(')', "]"))
    };
    fixed.iter().map(one).collect::<Vec<_>>().join(", ")
}
