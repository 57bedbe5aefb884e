//! What acts on a robot from outside: payload, wrenches, limits of the drives.

use crate::ask::{Assigned, assignments, hint};
use crate::failure::Failure;
use gough::model::{Model, Node};
use gough::spatial::{Inertia, Mat3, Wrench, vec3};
use gough::trajectory::drive_limits;

const MOMENTS: [&str; 6] = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];

/// `--payload mass=2.5,com=0:0:0.05,ixx=0.01`.
pub fn payload(text: &str) -> Result<Inertia<f64>, Failure> {
    let usage = |why: String| Failure::Usage(format!("--payload: {why}"));
    let (mut mass, mut com) = (None, [0.0; 3]);
    let mut moments = [0.0; 6];
    let mut seen: Vec<String> = Vec::new();
    for part in text.split(',').filter(|p| !p.trim().is_empty()) {
        let (name, value) = part.split_once('=').ok_or_else(|| usage(format!("`{part}` is not NAME=VALUE")))?;
        let (name, value) = (name.trim(), value.trim());
        if seen.iter().any(|s| s == name) {
            return Err(usage(format!("{name} is given twice")));
        }
        seen.push(name.to_owned());
        let read = |text: &str, powers: [i32; 3], what: &str| {
            let number = Assigned::read(name, text).map_err(usage)?;
            number.must_have(powers, what).map_err(usage)?;
            Ok::<f64, Failure>(number.value)
        };
        if name == "mass" {
            mass = Some(read(value, [0, 1, 0], "a mass")?);
        } else if name == "com" {
            let parts: Vec<&str> = value.split(':').collect();
            let [x, y, z] = parts[..] else {
                return Err(usage(format!("com is three lengths x:y:z, such as com=0:0:0.05, not `{value}`")));
            };
            com = [read(x, [1, 0, 0], "a length")?, read(y, [1, 0, 0], "a length")?, read(z, [1, 0, 0], "a length")?];
        } else if let Some(k) = MOMENTS.iter().position(|m| *m == name) {
            moments[k] = read(value, [2, 1, 0], "a moment of inertia")?;
        } else {
            let known: Vec<&str> = ["mass", "com"].into_iter().chain(MOMENTS).collect();
            return Err(usage(format!("no `{name}`; {}", hint(name, &known))));
        }
    }
    let mass = mass.ok_or_else(|| usage("mass is missing".to_owned()))?;
    let [xx, yy, zz, xy, xz, yz] = moments;
    let moments = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let payload = Inertia::at_com(mass, vec3(com[0], com[1], com[2]), moments);
    let next = "a mass is positive, and no moment of inertia is above the sum of the other two";
    payload.check_physical().map_err(|why| usage(format!("no body has this inertia: {why}; {next}")))?;
    Ok(payload)
}

const COMPONENTS: [&str; 6] = ["fx", "fy", "fz", "mx", "my", "mz"];

/// `fx=10,mz=0.2`.
fn wrench(text: &str, option: &str) -> Result<Wrench<f64>, Failure> {
    let usage = |why: String| Failure::Usage(format!("{option}: {why}"));
    let mut six = [None; 6];
    for assigned in assignments(text, option)? {
        let k = COMPONENTS
            .iter()
            .position(|n| *n == assigned.name)
            .ok_or_else(|| usage(format!("no component `{}`; {}", assigned.name, hint(&assigned.name, &COMPONENTS))))?;
        let (powers, what) = if k < 3 { ([1, 1, -2], "a force") } else { ([2, 1, -2], "a moment") };
        assigned.must_have(powers, what).map_err(usage)?;
        if six[k].replace(assigned.value).is_some() {
            return Err(usage(format!("{} is given twice", assigned.name)));
        }
    }
    Ok(Wrench::from_array(six.map(|x| x.unwrap_or(0.0))))
}

/// `--wrench`.
pub fn on_platform(model: &Model<f64>, text: &str) -> Result<(Node, Wrench<f64>), Failure> {
    let acting = wrench(text, "--wrench")?;
    if model.topology().platform.tool.is_some() && acting.m.norm() > 0.0 {
        let why = "the platform is a point, on which no moment acts; put the moment on a body with --load";
        return Err(Failure::Usage(format!("--wrench: {why}")));
    }
    Ok((Node::Platform, acting))
}

/// `--load BODY:fx=10`.
pub fn on_body(model: &Model<f64>, text: &str) -> Result<(Node, Wrench<f64>), Failure> {
    let usage = |why: String| Failure::Usage(format!("--load: {why}"));
    let t = model.topology();
    let (name, rest) = text.split_once(':').ok_or_else(|| usage(format!("`{text}` is not BODY:fx=..")))?;
    let body = t.body(name).ok_or_else(|| {
        let names: Vec<&str> = t.bodies.values().map(|b| b.name.as_str()).collect();
        usage(format!("no body `{name}`; {}", hint(name, &names)))
    })?;
    Ok((Node::Body(body), wrench(rest, "--load")?))
}

/// Largest effort of every drive, as the file gives it.
pub fn effort_limits(model: &Model<f64>) -> Result<Vec<f64>, String> {
    let names = model.topology().active_names();
    let missing = |name: &str| format!("the drive of joint {name} has no `effort` in the file");
    let limits = drive_limits(model);
    limits.iter().zip(names).map(|(limit, name)| limit.effort.ok_or_else(|| missing(name))).collect()
}
