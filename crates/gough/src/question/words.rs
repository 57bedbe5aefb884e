//! Questions in words: `x=0.05, phi=30 deg` becomes a pose, `q11=0.3` joints, `fx=10` a wrench, `mass=2.5` a payload. Numbers
//! are in SI units unless they have one; whatever makes no sense is refused with what would.

use crate::description::{Coordinate, Coordinates, Dimension, Fault, Flexible, nearest, quantity};
use crate::kinematics::platform::{coordinates, home_pose, pose_with};
use crate::model::{BodyPoint, CoordId, Model, Node, Platform};
use crate::spatial::orientation::{from_quaternion, to_quaternion};
use crate::spatial::{Inertia, Mat3, Pose, Rotation, Vec3, Wrench, vec3};

/// A name and its value in SI units, with what its unit says.
pub struct Assigned {
    /// The name.
    pub name: String,
    /// The value.
    pub value: f64,
    dimension: Dimension,
}

impl Assigned {
    /// Read a number, a quantity such as `50 mm`, or an expression of such.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(format!("{name} is empty; write a number or a quantity such as 50mm or 30deg"));
        }
        let (value, dimension) = match text.parse::<f64>() {
            Ok(number) => (number, Dimension::Any),
            Err(_) => quantity(text).map_err(|fault| match fault {
                Fault::NotFinite { .. } => not_finite(name, text),
                Fault::UnknownName { .. } => {
                    format!("{name} is `{text}`, not a number; write a number or a quantity such as 50mm or 30deg")
                }
                _ => {
                    let help = fault.help().map_or(String::new(), |h| format!(" ({h})"));
                    format!("`{text}` for {name}: {fault}{help}")
                }
            })?,
        };
        if !value.is_finite() {
            return Err(not_finite(name, text));
        }
        Ok(Self { name: name.to_owned(), value, dimension })
    }

    /// The unit must fit these powers of metre, kilogram and second.
    pub fn must_have(&self, powers: [i32; 3], what: &str) -> Result<(), String> {
        let fits = self.dimension.fits(powers);
        if fits { Ok(()) } else { Err(format!("{} is {what}; its unit says otherwise", self.name)) }
    }

    /// The unit must be that of a length, or of an angle.
    pub fn must_be(&self, length: bool) -> Result<(), String> {
        let (powers, what) = if length { ([1, 0, 0], "a length") } else { ([0, 0, 0], "an angle") };
        self.must_have(powers, what)
    }
}

fn not_finite(name: &str, text: &str) -> String {
    format!("{name} is `{text}`, not a finite number")
}

/// `NAME=VALUE` in two.
pub fn split(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// `x=0.1,phi=-60deg` as names and values.
pub fn assignments(text: &str) -> Result<Vec<Assigned>, String> {
    let parts = text.split(',').filter(|p| !p.trim().is_empty());
    let list: Vec<Assigned> =
        parts.map(|p| split(p).and_then(|(name, value)| Assigned::read(&name, &value))).collect::<Result<_, _>>()?;
    if list.is_empty() { Err("it is empty; write NAME=VALUE,..".to_owned()) } else { Ok(list) }
}

/// `did you mean`, or all there are.
pub fn hint(name: &str, known: &[impl AsRef<str>]) -> String {
    let known = || known.iter().map(AsRef::as_ref);
    nearest(name, known()).map_or_else(
        || format!("there are {}", known().collect::<Vec<_>>().join(", ")),
        |n| format!("did you mean `{n}`?"),
    )
}

/// What a name in a pose stands for.
#[derive(Clone, Copy, PartialEq)]
pub enum PosePart {
    /// A coordinate of the platform.
    Coordinate(Coordinate),
    /// A part of the quaternion of its orientation.
    Quaternion(usize),
}

const QUATERNION: [&str; 4] = ["qw", "qx", "qy", "qz"];

impl PosePart {
    /// By name.
    pub fn named(name: &str) -> Option<Self> {
        let quaternion = QUATERNION.iter().position(|n| *n == name).map(PosePart::Quaternion);
        quaternion.or_else(|| Coordinate::named(name).map(PosePart::Coordinate))
    }

    /// The usual names.
    pub const NAMES: [&str; 11] = ["x", "y", "z", "roll", "pitch", "yaw", "phi", "qw", "qx", "qy", "qz"];

    fn turns(self) -> bool {
        matches!(self, PosePart::Quaternion(_)) || matches!(self, PosePart::Coordinate(c) if c.is_angle())
    }
}

/// The usual name of a coordinate of this platform.
pub fn word(platform: &Platform, c: Coordinate) -> &'static str {
    let yaw = if platform.coordinates == Coordinates::Planar { "phi" } else { "yaw" };
    ["x", "y", "z", "roll", "pitch", yaw][c.index()]
}

/// Names of the coordinates that say where the platform is.
pub fn coordinate_names(model: &Model<f64>) -> Vec<&'static str> {
    let platform = &model.topology().platform;
    platform.independent.iter().map(|c| word(platform, *c)).collect()
}

/// Names of the platform's own components of twists and accelerations: `x`, `phi`, `wx`.
pub fn component_names(model: &Model<f64>) -> Vec<&'static str> {
    let platform = &model.topology().platform;
    let angle = if platform.coordinates == Coordinates::Planar { "phi" } else { "wz" };
    platform.independent.iter().map(|c| ["x", "y", "z", "wx", "wy", angle][c.index()]).collect()
}

/// Whether these names say where the platform is: nothing twice, nothing that it has not, nothing missing.
pub fn check_parts(platform: &Platform, parts: &[(&str, PosePart)]) -> Result<(), String> {
    check_named(platform, parts)?;
    let words = |list: &[Coordinate]| list.iter().map(|c| word(platform, *c)).collect::<Vec<_>>().join(", ");
    let turned = parts.iter().any(|(_, p)| p.turns());
    let home = platform.coordinates == Coordinates::Spatial && !turned; // the orientation of home
    let missing: Vec<Coordinate> = open(platform, parts).into_iter().filter(|c| !(c.is_angle() && home)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let foreign = |p: PosePart| matches!(p, PosePart::Coordinate(c) if !platform.independent.contains(&c));
    let foreign: Vec<&str> = parts.iter().filter(|(_, p)| foreign(*p)).map(|(name, _)| *name).collect();
    let not = if foreign.is_empty() { String::new() } else { format!(", not {}", foreign.join(", ")) };
    let has = words(&platform.independent);
    Err(format!("{} missing; the coordinates of the platform are {has}{not}", words(&missing)))
}

/// Coordinates that these names leave open.
fn open(platform: &Platform, parts: &[(&str, PosePart)]) -> Vec<Coordinate> {
    let quaternion = parts.iter().any(|(_, p)| matches!(p, PosePart::Quaternion(_)));
    let given = |c: Coordinate| parts.iter().any(|(_, p)| *p == PosePart::Coordinate(c)) || c.is_angle() && quaternion;
    platform.independent.iter().copied().filter(|c| !given(*c)).collect()
}

/// Whether these names belong to the platform: nothing twice, nothing that it has not or that follows.
fn check_named(platform: &Platform, parts: &[(&str, PosePart)]) -> Result<(), String> {
    check_contradictions(parts)?;
    let words = |list: &[Coordinate]| list.iter().map(|c| word(platform, *c)).collect::<Vec<_>>().join(", ");
    let (has, follow) = (words(&platform.independent), &platform.dependent);
    for (name, part) in parts {
        if platform.tool.is_some() && part.turns() {
            return Err(format!("{name}: the platform is a point and has no orientation; its coordinates are {has}"));
        }
        if matches!(part, PosePart::Coordinate(c) if follow.contains(c)) {
            return Err(format!("{name} follows from the coordinates of the platform, {has}; leave it out"));
        }
        if matches!(part, PosePart::Quaternion(_)) && follow.iter().any(|c| c.is_angle()) {
            return Err(format!("{name}: not all angles are free, so that a quaternion says too much; give {has}"));
        }
    }
    Ok(())
}

/// One coordinate under two names, two kinds of orientation, or a part of a quaternion.
fn check_contradictions(parts: &[(&str, PosePart)]) -> Result<(), String> {
    for (i, (b, second)) in parts.iter().enumerate() {
        for (a, first) in &parts[..i] {
            if a == b {
                return Err(format!("{a} is given twice"));
            }
            if first == second {
                return Err(format!("{a} and {b} are the same coordinate; give one of them"));
            }
            let quaternions = [first, second].map(|p| matches!(p, PosePart::Quaternion(_)));
            if first.turns() && second.turns() && quaternions[0] != quaternions[1] {
                return Err(format!("{a} and {b} both give the orientation; give angles or a quaternion"));
            }
        }
    }
    let has = |k: usize| parts.iter().any(|(_, p)| *p == PosePart::Quaternion(k));
    let missing: Vec<&str> = (0..4).filter(|k| !has(*k)).map(|k| QUATERNION[k]).collect();
    match missing.len() {
        1..=3 => Err(format!("the quaternion is incomplete: {} missing", missing.join(", "))),
        _ => Ok(()),
    }
}

/// The pose with these parts, which go together; an orientation that is not given is that of home.
pub fn pose_of(model: &Model<f64>, given: &[(PosePart, Assigned)]) -> Result<Pose<f64>, String> {
    let mut coordinates: Vec<(Coordinate, f64)> = Vec::new();
    let mut quaternion = None;
    for (part, assigned) in given {
        match part {
            PosePart::Coordinate(c) => {
                assigned.must_be(!c.is_angle())?;
                coordinates.push((*c, assigned.value));
            }
            PosePart::Quaternion(k) => quaternion.get_or_insert([0.0; 4])[*k] = assigned.value,
        }
    }
    let mut pose = pose_with(model, &home_pose(model), &coordinates);
    if let Some(q) = quaternion {
        pose.R = rotation(q)?;
    }
    Ok(pose)
}

/// The rotation of a quaternion of any length but zero.
pub fn rotation(q: [f64; 4]) -> Result<Rotation<f64>, String> {
    let n = q.iter().fold(0.0_f64, |n, x| n.hypot(*x));
    if !(n > 1e-9 && n.is_finite()) {
        return Err("the quaternion is zero or not finite".to_owned());
    }
    Ok(from_quaternion(q.map(|x| x / n)))
}

/// Coordinates by name, angles as roll, pitch, yaw or a quaternion; those left out are those of home.
pub fn pose(model: &Model<f64>, text: &str) -> Result<Pose<f64>, String> {
    pose_of(model, &parts(model, text)?)
}

/// Coordinates that a pose in words leaves out, with their values of home.
pub fn from_home(model: &Model<f64>, text: &str) -> Result<Vec<(&'static str, f64)>, String> {
    let given = parts(model, text)?;
    let platform = &model.topology().platform;
    let names: Vec<(&str, PosePart)> = given.iter().map(|(part, a)| (a.name.as_str(), *part)).collect();
    let all = coordinates(model, &home_pose(model));
    Ok(open(platform, &names).into_iter().map(|c| (word(platform, c), all[c.index()])).collect())
}

/// Names and values of a pose in words.
fn parts(model: &Model<f64>, text: &str) -> Result<Vec<(PosePart, Assigned)>, String> {
    let mut given = Vec::new();
    for assigned in assignments(text)? {
        let part = PosePart::named(&assigned.name).ok_or_else(|| {
            format!("no platform coordinate `{}`; {}", assigned.name, hint(&assigned.name, &PosePart::NAMES))
        })?;
        given.push((part, assigned));
    }
    let names: Vec<(&str, PosePart)> = given.iter().map(|(part, a)| (a.name.as_str(), *part)).collect();
    let platform = &model.topology().platform;
    check_named(platform, &names)?;
    // A name that the platform has not stands in the place of one that it has: a slip.
    if names.iter().any(|(_, p)| matches!(p, PosePart::Coordinate(c) if !platform.independent.contains(c))) {
        check_parts(platform, &names)?;
    }
    Ok(given)
}

/// Which derivative of a coordinate a list has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Of a twist.
    Rate,
    /// Of an acceleration.
    Acceleration,
}

/// `x=0.3,y=-0.2,wz=1` in the platform's own components; what is left out is zero.
pub fn components(model: &Model<f64>, text: &str, order: Order) -> Result<Vec<f64>, String> {
    let names = component_names(model);
    let mut list: Vec<Option<f64>> = vec![None; names.len()];
    for assigned in assignments(text)? {
        let name = match assigned.name.as_str() {
            "phi" | "theta" | "wz" if names.contains(&"phi") => "phi",
            other => other,
        };
        let Some(k) = names.iter().position(|n| *n == name) else {
            return Err(format!("no component `{name}`; {}", hint(name, &names)));
        };
        let angle = model.topology().platform.independent[k].is_angle();
        let (per, what) = match (order, angle) {
            (Order::Rate, false) => (-1, "a velocity"),
            (Order::Rate, true) => (-1, "an angular velocity"),
            (Order::Acceleration, false) => (-2, "an acceleration"),
            (Order::Acceleration, true) => (-2, "an angular acceleration"),
        };
        assigned.must_have([i32::from(!angle), 0, per], what)?;
        if list[k].replace(assigned.value).is_some() {
            return Err(format!("{name} is given twice"));
        }
    }
    Ok(list.into_iter().map(|x| x.unwrap_or(0.0)).collect())
}

/// `q11=0.3,q21=20 deg`.
pub fn joints(model: &Model<f64>, text: &str) -> Result<Vec<(CoordId, f64)>, String> {
    joints_of(model, &assignments(text)?)
}

/// Joint values by name.
pub fn joints_of(model: &Model<f64>, given: &[Assigned]) -> Result<Vec<(CoordId, f64)>, String> {
    let topology = model.topology();
    let mut list: Vec<(CoordId, f64)> = Vec::new();
    for assigned in given {
        let name = &assigned.name;
        let Some(c) = topology.coord(name) else {
            let names: Vec<String> = topology.coords.values().map(|c| format!("q{}", c.name)).collect();
            return Err(format!("no joint `{name}`; {}", hint(name, &names)));
        };
        if let Some(k) = list.iter().position(|(other, _)| *other == c) {
            return Err(match &given[k].name {
                other if other == name => format!("{name} is given twice"),
                other => format!("{other} and {name} are the same joint; give one of them"),
            });
        }
        assigned.must_be(topology.coords[c].slides)?;
        list.push((c, assigned.value));
    }
    Ok(list)
}

/// Joints that the pose leaves open, that neither the question nor `near` of the file gives, and where they are taken.
pub fn assumed(model: &Model<f64>, given: &[(CoordId, f64)]) -> Vec<(CoordId, f64)> {
    let t = model.topology();
    let near = |c: CoordId| model.description().near.iter().any(|(name, _)| t.coord(&name.text) == Some(c));
    let open = t.plan.given.iter().copied().zip(model.numbers().given.iter().copied());
    open.filter(|(c, _)| !near(*c) && !given.iter().any(|(g, _)| g == c)).collect()
}

/// `q11=1.5,q21=-0.2`: efforts in the order of the active joints; what is left out is zero.
pub fn efforts(model: &Model<f64>, text: &str) -> Result<Vec<f64>, String> {
    let t = model.topology();
    let mut list: Vec<Option<f64>> = vec![None; t.active.len()];
    for assigned in assignments(text)? {
        let place = t.coord(&assigned.name).and_then(|c| t.active.iter().position(|a| *a == c));
        let Some(k) = place else {
            let names: Vec<String> = t.active_names().iter().map(|n| format!("q{n}")).collect();
            return Err(format!("no drive `{}`; {}", assigned.name, hint(&assigned.name, &names)));
        };
        let (powers, what) =
            if t.coords[t.active[k]].slides { ([1, 1, -2], "a force") } else { ([2, 1, -2], "a torque") };
        assigned.must_have(powers, what)?;
        if list[k].replace(assigned.value).is_some() {
            return Err(format!("{} is given twice", assigned.name));
        }
    }
    Ok(list.into_iter().map(|x| x.unwrap_or(0.0)).collect())
}

const MOMENTS: [&str; 6] = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];

/// `mass=2.5,com=0:0:0.05,ixx=0.01`: what the platform carries, in its own frame, moments at the centre of mass.
pub fn payload(text: &str) -> Result<Inertia<f64>, String> {
    let (mut mass, mut com) = (None, [0.0; 3]);
    let mut moments = [0.0; 6];
    let mut seen: Vec<String> = Vec::new();
    for part in text.split(',').filter(|p| !p.trim().is_empty()) {
        let (name, value) = split(part)?;
        if seen.contains(&name) {
            return Err(format!("{name} is given twice"));
        }
        let read = |text: &str, powers: [i32; 3], what: &str| {
            let number = Assigned::read(&name, text)?;
            number.must_have(powers, what)?;
            Ok::<f64, String>(number.value)
        };
        if name == "mass" {
            mass = Some(read(&value, [0, 1, 0], "a mass")?);
        } else if name == "com" {
            let parts: Vec<&str> = value.split(':').collect();
            let [x, y, z] = parts[..] else {
                return Err(format!("com is three lengths x:y:z, such as com=0:0:0.05, not `{value}`"));
            };
            com = [read(x, [1, 0, 0], "a length")?, read(y, [1, 0, 0], "a length")?, read(z, [1, 0, 0], "a length")?];
        } else if let Some(k) = MOMENTS.iter().position(|m| *m == name) {
            moments[k] = read(&value, [2, 1, 0], "a moment of inertia")?;
        } else {
            let known: Vec<&str> = ["mass", "com"].into_iter().chain(MOMENTS).collect();
            return Err(format!("no `{name}`; {}", hint(&name, &known)));
        }
        seen.push(name);
    }
    let mass = mass.ok_or("mass is missing")?;
    let [xx, yy, zz, xy, xz, yz] = moments;
    let moments = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let payload = Inertia::at_com(mass, vec3(com[0], com[1], com[2]), moments);
    let next = "a mass is positive, and no moment of inertia is above the sum of the other two";
    payload.check_physical().map_err(|why| format!("no body has this inertia: {why}; {next}"))?;
    Ok(payload)
}

const WRENCH: [&str; 6] = ["fx", "fy", "fz", "mx", "my", "mz"];

/// `fx=10,mz=0.2`: force and moment in world axes.
pub fn wrench(text: &str) -> Result<Wrench<f64>, String> {
    let mut six = [None; 6];
    for assigned in assignments(text)? {
        let k = WRENCH
            .iter()
            .position(|n| *n == assigned.name)
            .ok_or_else(|| format!("no component `{}`; {}", assigned.name, hint(&assigned.name, &WRENCH)))?;
        let (powers, what) = if k < 3 { ([1, 1, -2], "a force") } else { ([2, 1, -2], "a moment") };
        assigned.must_have(powers, what)?;
        if six[k].replace(assigned.value).is_some() {
            return Err(format!("{} is given twice", assigned.name));
        }
    }
    Ok(Wrench::from_array(six.map(|x| x.unwrap_or(0.0))))
}

/// `BODY`, the origin of its frame; `BODY=x:y:z` in that frame; `BEAM=s` along a beam from its start; `BODY=NAME`, a named point of a
/// modal body; all of it for `platform` too.
pub fn body_point(model: &Model<f64>, text: &str) -> Result<BodyPoint, String> {
    let (t, numbers) = (model.topology(), model.numbers());
    let (body, place) = text.split_once('=').map_or((text.trim(), None), |(b, p)| (b.trim(), Some(p.trim())));
    let node = match body {
        "platform" => Node::Platform,
        _ => Node::Body(t.body(body).ok_or_else(|| {
            let rows = model.description().bodies.iter().map(|row| row.name.text.as_str());
            let known: Vec<&str> = rows.chain(["platform"]).collect();
            format!("no body `{body}`; {}", hint(body, &known))
        })?),
    };
    let name = text.trim().to_owned();
    let Some(place) = place else { return Ok(BodyPoint { name, node, at: None }) };
    if node == Node::Platform && t.platform.tool.is_some() {
        return Err("the platform is a point; leave its coordinates out, or name a body".to_owned());
    }
    if let Some(at) = named_point(model, node, place) {
        return Ok(BodyPoint { name, node, at: Some(at) });
    }
    let length = |part: &str| {
        let number = Assigned::read(body, part)?;
        number.must_have([1, 0, 0], "a place in metres")?;
        Ok::<f64, String>(number.value)
    };
    let parts: Vec<&str> = place.split([':', ',']).collect();
    let at = match (&parts[..], node) {
        ([x, y, z], Node::Body(b)) => numbers.bodies[b].X_MB * vec3(length(x)?, length(y)?, length(z)?),
        ([x, y, z], _) => vec3(length(x)?, length(y)?, length(z)?),
        ([s], Node::Body(b)) => match &numbers.beams[b] {
            Some(beam) => beam.X_MN * vec3(length(s)?, 0.0, 0.0),
            None => {
                return Err(format!("`{body}` is no beam: give a point of it as x:y:z in its frame, not `{place}`"));
            }
        },
        _ => return Err(format!("`{place}` is no point of `{body}`; give x:y:z in its frame, or s along a beam")),
    };
    Ok(BodyPoint { name, node, at: Some(at) })
}

/// A named point of a modal body, in the frame of its node.
fn named_point(model: &Model<f64>, node: Node, name: &str) -> Option<Vec3<f64>> {
    let d = model.description();
    let (modal, X) = match node {
        Node::World => return None,
        Node::Platform => {
            let values = d.definitions.values(&model.numbers().parameters);
            (d.platform.modal.as_ref()?, d.platform.frame.pose(&values).inverse())
        }
        Node::Body(b) => match &d.bodies[model.topology().bodies[b].row.0].flexible {
            Some(Flexible::Modal(m)) => (m, model.numbers().bodies[b].X_MB),
            _ => return None,
        },
    };
    let point = modal.points.iter().find(|p| p.name == name)?;
    Some(X * Vec3::from(point.position))
}

/// Names and values of the platform's pose in a file: what a trajectory file has.
pub fn pose_columns(model: &Model<f64>, pose: &Pose<f64>) -> Vec<(&'static str, f64)> {
    let platform = &model.topology().platform;
    let all = coordinates(model, pose);
    let spatial = platform.coordinates == Coordinates::Spatial;
    let planar = platform.coordinates == Coordinates::Planar;
    let name = |c: &Coordinate| ["x", "y", "z", "roll", "pitch", if planar { "phi" } else { "yaw" }][c.index()];
    let own = platform.independent.iter().filter(|c| !(spatial && c.is_angle()));
    let mut list: Vec<(&'static str, f64)> = own.map(|c| (name(c), all[c.index()])).collect();
    if spatial {
        list.extend(["qw", "qx", "qy", "qz"].into_iter().zip(to_quaternion(&pose.R)));
    }
    list
}
