//! What acts on a robot from outside: payload, wrenches, limits of the drives.

use crate::ask::{hint, of_option};
use crate::failure::Failure;
use gough::model::{Model, Node};
use gough::question::words;
use gough::spatial::{Inertia, Wrench};
use gough::trajectory::drive_limits;

/// `--payload mass=2.5,com=0:0:0.05,ixx=0.01`.
pub fn payload(text: &str) -> Result<Inertia<f64>, Failure> {
    words::payload(text).map_err(of_option("--payload"))
}

/// `fx=10,mz=0.2`.
pub fn wrench(text: &str, option: &str) -> Result<Wrench<f64>, Failure> {
    words::wrench(text).map_err(of_option(option))
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
