//! What the columns of CSV files hold, by name: a cell with a unit must have that of its column.

use crate::ask::{Assigned, PosePart};
use crate::failure::Failure;
use gough::model::Model;

/// Powers of metre, kilogram and second, and a word.
pub type Measure = ([i32; 3], &'static str);

const LINEAR: [&str; 3] = ["a length", "a velocity", "an acceleration"];
const ANGULAR: [&str; 3] = ["an angle", "an angular velocity", "an angular acceleration"];

/// A position, rate or acceleration: `order` is 0, 1 or 2.
fn moved(slides: bool, order: usize) -> Measure {
    let words = if slides { LINEAR } else { ANGULAR };
    ([i32::from(slides), 0, -i32::try_from(order).unwrap_or(0)], words[order])
}

/// The name without the `d`s at its end, as far as `known` wants them away, and how many those were.
fn stem<T>(name: &str, known: impl Fn(&str) -> Option<T>) -> Option<(T, usize)> {
    let shorter = |name: &'_ str| name.strip_suffix('d').map(str::to_owned);
    let mut name = Some(name.to_owned());
    for order in 0..3 {
        if let Some(found) = known(name.as_deref()?) {
            return Some((found, order));
        }
        name = name.as_deref().and_then(shorter);
    }
    None
}

/// The name of a joint that is the rate of another is refused: nobody knows which of both a column means.
pub fn told_apart(model: &Model<f64>, name: &str) -> Result<(), String> {
    let t = model.topology();
    let joint = |n: &str| t.coord(n).map(|c| t.coords[c].name.clone());
    let Some(own) = joint(name) else { return Ok(()) };
    match name.strip_suffix('d').and_then(|rate| stem(rate, joint)).filter(|(_, order)| *order < 2) {
        Some((other, _)) => Err(format!(
            "column `{name}` is joint `{own}` as well as a rate or acceleration of joint `{other}`; give one of both another \
             name in the robot file"
        )),
        None => Ok(()),
    }
}

/// Drives whose columns of a motion are to be written.
pub fn drives_told_apart(model: &Model<f64>) -> Result<(), Failure> {
    let names = model.topology().active_names();
    names
        .iter()
        .try_for_each(|n| told_apart(model, &format!("q{n}")))
        .map_err(|why| Failure::Usage(format!("--csv: {why}")))
}

/// What a column holds; nothing where the name is not known or has no dimension.
pub fn kind(model: &Model<f64>, name: &str) -> Option<Measure> {
    let t = model.topology();
    if name == "t" {
        return Some(([0, 0, 1], "a time"));
    }
    if ["kinetic_energy", "kinetic_energy_rotors", "potential_energy", "work", "losses"].contains(&name) {
        return Some(([2, 1, -2], "an energy"));
    }
    if let Some(joint) = name.strip_prefix("tau_") {
        let c = t.coord(joint.strip_suffix("_without_friction").unwrap_or(joint))?;
        return Some(if t.coords[c].slides { ([1, 1, -2], "a force") } else { ([2, 1, -2], "a torque") });
    }
    if let Some(((), order)) = stem(name, |n| ["wx", "wy", "wz"].contains(&n).then_some(())).filter(|((), o)| *o < 2) {
        return Some(moved(false, order + 1));
    }
    let coordinate = |n: &str| match PosePart::named(n)? {
        PosePart::Coordinate(c) => Some(!c.is_angle()),
        PosePart::Quaternion(_) => None,
    };
    let found = stem(name, coordinate).or_else(|| stem(name, |n| Some(t.coords[t.coord(n)?].slides)));
    found.map(|(slides, order)| moved(slides, order))
}

/// A cell as a number; its unit, if it has one, must be that of the column.
pub fn number(model: &Model<f64>, name: &str, cell: &str) -> Result<f64, String> {
    let assigned = Assigned::read(name, cell)?;
    if let Some((powers, what)) = kind(model, name) {
        assigned.must_have(powers, what)?;
    }
    Ok(assigned.value)
}

/// A cell that the question does not need: empty, a number, or a quantity of the right kind.
pub fn unused(model: &Model<f64>, name: &str, cell: &str) -> Result<(), String> {
    if cell.is_empty() || cell.parse::<f64>().is_ok() { Ok(()) } else { number(model, name, cell).map(|_| ()) }
}
