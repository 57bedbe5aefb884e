//! Parallelograms whose rods bend, in the full method: the ideal joint is replaced by its two rods between pins.
//!
//! The rods stand on a stub where the joint was, half the width to both sides, and carry the far short side by one pin of the
//! tree and one closure. Postures are those of the ideal parallelogram, so that nothing has to be solved again.

use crate::description::{
    Beam, ClosureJoint, DescribedBody, DescribedClosure, Description, Flexible, Formula, Frame, Friction, Joint,
    MassData, Name, Placement, RodPair, Side, half_side,
};
use crate::kinematics::Positions;
use crate::model::{BodyId, CoordId, Findings, Model};
use crate::scalar::Real;
use crate::spatial::Pose;
use std::ops::Add as _;

/// The robot with the rods of its parallelograms as beams.
#[derive(Clone, Debug)]
pub struct BentRobot {
    /// Its model.
    model: Model<f64>,
    /// Where each of its bodies is found in the robot with ideal parallelograms.
    sources: Vec<BodyPlace>,
}

/// Where a body stands.
#[derive(Clone, Copy, Debug)]
enum BodyPlace {
    /// As this body of the robot with ideal parallelograms.
    Same(BodyId),
    /// At its joint, turned as this body.
    Turned(BodyId),
    /// At its joint.
    Fixed,
}

impl BentRobot {
    /// Nothing when no parallelogram has rods that bend.
    pub fn of(model: &Model<f64>) -> Option<Self> {
        let description = model.description();
        let has_rods = |b: &DescribedBody| matches!(&b.joint, Joint::Parallelogram(bar) if bar.rods.is_some());
        if !description.bodies.iter().any(has_rods) {
            return None;
        }
        let t = model.topology();
        let driven: Vec<String> = t.active.iter().map(|c| t.coords[*c].name.clone()).collect();
        let bent = Model::draft(with_rods(description, &driven), None).ok()?;
        let idle: Vec<CoordId> = t.coords.ids().filter(|c| t.is_held(*c)).collect();
        let idle: Vec<CoordId> = idle.iter().filter_map(|c| bent.topology().coord(&t.coords[*c].name)).collect();
        let bent = if idle.is_empty() { bent } else { bent.replanned(&Findings { idle, ..Findings::default() }) };
        let bent = as_asked(model, bent.with_values(&model.numbers().parameters));
        let source = |name: &str| match split(name) {
            (plain, Some("-a" | "-b")) => t.body(&format!("{plain}.bar")).map_or(BodyPlace::Fixed, BodyPlace::Turned),
            (plain, Some("-e")) => t.body(plain).map_or(BodyPlace::Fixed, BodyPlace::Turned),
            (_, Some(_)) => BodyPlace::Fixed,
            (plain, None) if description.bodies.iter().any(|b| b.name.text == plain && has_rods(b)) => BodyPlace::Fixed,
            (plain, None) => t.body(plain).map_or(BodyPlace::Fixed, BodyPlace::Same),
        };
        let sources = bent.topology().bodies.values().map(|b| source(&b.name)).collect();
        Some(Self { model: bent, sources })
    }

    /// The model.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// The posture that belongs to one of the robot with ideal parallelograms; `bent` is this model in that scalar.
    pub fn positions<S: Real>(&self, bent: &Model<S>, from: &Positions<S>) -> Positions<S> {
        let mut pos = Positions::new(bent);
        pos.X_WE = from.X_WE;
        for ((b, body), source) in bent.topology().bodies.iter().zip(&self.sources) {
            let at = || pos.node(body.parent) * bent.numbers().bodies[b].X_PF;
            pos.X_WB[b] = match source {
                BodyPlace::Same(other) => from.X_WB[*other],
                BodyPlace::Turned(other) => Pose { R: from.X_WB[*other].R, p: at().p },
                BodyPlace::Fixed => at(),
            };
        }
        pos
    }
}

/// The payload that the robot carries, on its copy too: what its platform weighs beyond the file.
fn as_asked(model: &Model<f64>, bent: Model<f64>) -> Model<f64> {
    let (with, without) = (&model.numbers().platform, &bent.numbers().platform);
    if with == without {
        return bent;
    }
    let beyond = with.add(without.map(&mut |x: f64| -x));
    let values = model.description().definitions.values(&model.numbers().parameters);
    let X_FE = model.description().platform.frame.pose(&values);
    bent.carrying(beyond.seen_from(&X_FE))
}

/// Name of a parallelogram, and which part of it.
fn split(name: &str) -> (&str, Option<&str>) {
    let end = name.len().saturating_sub(SUFFIX_MARK.len() + 2);
    match name.get(end..) {
        Some(tail) if tail.starts_with(SUFFIX_MARK) => (&name[..end], name.get(end + SUFFIX_MARK.len()..)),
        _ => (name, None),
    }
}

/// No name of a file has this character.
const SUFFIX_MARK: &str = ":";

fn part(name: &Name, suffix: &str) -> Name {
    Name { text: format!("{}{SUFFIX_MARK}{suffix}", name.text), span: name.span }
}

/// The description with two rods for every parallelogram that has rods; drives that are not in use are taken away.
fn with_rods(from: &Description, driven: &[String]) -> Description {
    let mut d = from.clone();
    d.actuation.clear();
    d.bodies.iter_mut().filter(|b| !driven.contains(&b.name.text)).for_each(|b| {
        let held = d.elastic.hold.iter().flatten().any(|n| n.text.trim_start_matches('q') == b.name.text);
        if !held {
            b.drive = None;
        }
    });
    if d.elastic.hold.is_none() {
        let named = |n: &String| Name { text: n.clone(), span: from.platform.span };
        d.elastic.hold = Some(driven.iter().map(named).collect());
    }
    let mut bodies = Vec::new();
    for body in std::mem::take(&mut d.bodies) {
        match &body.joint {
            Joint::Parallelogram(bar) if bar.rods.is_some() => {
                let (vector, rods) = (bar.vector.clone(), bar.rods.clone());
                if let Some(rods) = rods {
                    rename(&mut d, &body.name);
                    replace(&mut d.closures, &mut bodies, body, &vector, &rods);
                }
            }
            _ => bodies.push(body),
        }
    }
    d.bodies = bodies;
    d
}

/// Lists of joints that name the parallelogram name its first rod.
fn rename(d: &mut Description, old: &Name) {
    let new = part(old, "-a");
    let held = d.elastic.hold.iter_mut().flatten();
    let coupled = d.couplings.iter_mut().flat_map(|c| c.terms.iter_mut().map(|(n, _)| n));
    for name in held.chain(coupled).filter(|n| n.text.trim_start_matches('q') == old.text) {
        name.text.clone_from(&new.text);
    }
    d.near.retain(|(n, _)| n.text.trim_start_matches('q') != old.text);
}

/// The rows of one parallelogram.
fn replace(
    closures: &mut Vec<DescribedClosure>,
    bodies: &mut Vec<DescribedBody>,
    row: DescribedBody,
    vector: &[Formula; 3],
    rods: &RodPair,
) {
    let span = row.name.span;
    let number = |x: f64| Formula::number(x, span);
    let zeros = || [0.0; 3].map(number);
    let axis = match &row.placement {
        Placement::Framed { axis: Some(axis), .. } => axis.clone(),
        _ => [0.0, 0.0, 1.0].map(number),
    };
    let half = half_side(&axis, vector, &rods.width);
    let times = |k: f64| [0, 1, 2].map(|i| number(k).times(&half[i]));
    let at = |point: [Formula; 3], axis: Option<[Formula; 3]>| Placement::Framed {
        frame: Frame { xyz: zeros(), rpy: zeros() },
        point,
        axis,
    };
    let massless = |name: Name, on: &Name, joint: Joint, placement: Placement| DescribedBody {
        name,
        leg: row.leg,
        on: on.clone(),
        joint,
        placement,
        at_point: None,
        range: None,
        friction: Friction::default(),
        stiffness: None,
        drive: None,
        mass: MassData { span, ..MassData::default() },
        flexible: None,
        compliance: None,
    };
    let [stub, first, second, end] = ["-s", "-a", "-b", "-e"].map(|s| part(&row.name, s));
    let still = match row.placement.clone() {
        Placement::Framed { frame, point, .. } => Placement::Framed { frame, point, axis: None },
        mdh @ Placement::Mdh(_) => mdh,
    };
    let beam = Flexible::Beam(Box::new(Beam {
        to: vector.clone(),
        section: rods.section,
        material: rods.material,
        elements: rods.elements,
        up: Some(axis.clone()),
        shear: false,
        rotary_inertia: true,
    }));
    bodies
        .push(DescribedBody { at_point: row.at_point.clone(), ..massless(stub.clone(), &row.on, Joint::Fixed, still) });
    for (name, side) in [(&first, 1.0), (&second, -1.0)] {
        let rod = massless(name.clone(), &stub, Joint::Revolute, at(times(side), Some(axis.clone())));
        let driven = (side > 0.0).then(|| (row.drive.clone(), row.stiffness.clone()));
        let (drive, stiffness) = driven.unwrap_or_default();
        bodies.push(DescribedBody { flexible: Some(beam.clone()), drive, stiffness, ..rod });
    }
    bodies.push(massless(end.clone(), &first, Joint::Revolute, at(vector.clone(), Some(axis.clone()))));
    let pin = |body: Name, point: [Formula; 3]| Side { body, placement: at(point, Some(axis.clone())), at_point: None };
    closures.push(DescribedClosure {
        name: None,
        leg: row.leg,
        joint: ClosureJoint::Revolute,
        a: pin(second, vector.clone()),
        b: pin(end.clone(), times(-2.0)),
        compliance: None,
        span,
    });
    let (on, placement) = (end, at(times(-1.0), None));
    bodies.push(DescribedBody {
        on,
        joint: Joint::Fixed,
        placement,
        at_point: None,
        range: None,
        drive: None,
        stiffness: None,
        ..row
    });
}
