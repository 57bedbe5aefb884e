//! `--region` and the pose that fixes the other coordinates.

use crate::ask::{assignments, quantity_of};
use crate::failure::Failure;
use gough::Robot;
use gough::analysis::{Region, Span};
use gough::description::{Coordinate, nearest};
use gough::kinematics::platform::pose_with;

/// Values per coordinate when `--region` does not say.
const VALUES: [usize; 3] = [1001, 201, 41];

/// `x=-0.2:0.2:101,y=..` over the home pose, changed by `--pose`.
pub fn region(robot: &Robot, text: &str, pose: Option<&str>) -> Result<Region, Failure> {
    let parts: Vec<&str> = text.split(',').filter(|p| !p.trim().is_empty()).collect();
    let count = VALUES[parts.len().clamp(1, 3) - 1];
    let spans = parts.iter().map(|p| span(p, count)).collect::<Result<Vec<Span>, Failure>>()?;
    let mut fixed = Vec::new();
    for (name, value, dimension) in pose.map_or_else(|| Ok(Vec::new()), |p| assignments(p, "--pose"))? {
        let c = coordinate(&name, "--pose")?;
        crate::ask::check_dimension(&name, dimension, !c.is_angle(), "--pose")?;
        if spans.iter().any(|s| s.coordinate == c) {
            return Err(Failure::Usage(format!("{name} is in --region and in --pose")));
        }
        if !robot.model().topology().platform.independent.contains(&c) {
            return Err(Failure::Usage(format!("--pose: the platform does not move in {name} by itself")));
        }
        fixed.push((c, value));
    }
    let base = pose_with(robot.home().pose(), &fixed);
    Region::new(robot.model(), spans, &base).map_err(|e| Failure::Usage(format!("--region: {e}")))
}

fn coordinate(name: &str, option: &str) -> Result<Coordinate, Failure> {
    Coordinate::named(name).ok_or_else(|| {
        let known = ["x", "y", "z", "roll", "pitch", "yaw", "phi"];
        let hint = nearest(name, known).map_or_else(|| known.join(", "), |n| format!("did you mean `{n}`?"));
        Failure::Usage(format!("{option}: no platform coordinate `{name}`; {hint}"))
    })
}

fn span(text: &str, count: usize) -> Result<Span, Failure> {
    let bad = || Failure::Usage(format!("--region takes NAME=LOW:HIGH or NAME=LOW:HIGH:COUNT, found `{text}`"));
    let (name, range) = text.split_once('=').ok_or_else(bad)?;
    let name = name.trim();
    let c = coordinate(name, "--region")?;
    let ends: Vec<&str> = range.split(':').collect();
    let (low, high, count) = match ends[..] {
        [low, high] => (low, high, count),
        [low, high, n] => (low, high, n.trim().parse().map_err(|_| bad())?),
        _ => return Err(bad()),
    };
    let end = |text: &str| {
        let (value, dimension) = quantity_of(text.trim(), name, "--region")?;
        crate::ask::check_dimension(name, dimension, !c.is_angle(), "--region")?;
        Ok::<f64, Failure>(value)
    };
    Ok(Span { coordinate: c, low: end(low)?, high: end(high)?, count })
}

/// How a coordinate is called on an axis: the planar angle is phi.
pub fn axis_label(robot: &Robot, c: Coordinate) -> String {
    let planar = robot.model().topology().platform.independent.iter().filter(|c| c.is_angle()).count() == 1;
    let name = if planar && c == Coordinate::Rz { "phi" } else { gough::analysis::coordinate_name(c) };
    format!("{name} ({})", if c.is_angle() { "rad" } else { "m" })
}

/// The coordinates that do not change, in words.
pub fn fixed_text(robot: &Robot, region: &Region) -> String {
    let fixed = region.fixed(robot.model());
    let one = |(c, x): &(Coordinate, f64)| {
        format!("{} = {x:.6}", axis_label(robot, *c).replace(" (", " [").replace(')', "]"))
    };
    fixed.iter().map(one).collect::<Vec<_>>().join(", ")
}
