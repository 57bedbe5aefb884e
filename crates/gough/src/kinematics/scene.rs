//! A posture as plain data to draw: lines from joint to joint, leg by leg.

use super::inverse::Closed;
use crate::description::{Flexible, Joint};
use crate::model::{BodyId, LegId, Model, Node};
use crate::spatial::Vec3;

/// A straight piece of a body.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Segment {
    /// One end, in the world.
    pub from: Vec3<f64>,
    /// The other.
    pub to: Vec3<f64>,
    /// The leg it belongs to; `None` for the platform.
    pub leg: Option<LegId>,
}

/// Lines between the joints of every body, and between the attachments of the platform.
pub fn segments(model: &Model<f64>, closed: Closed<'_>) -> Vec<Segment> {
    let pos = closed.positions();
    let topology = model.topology();
    let mut list = Vec::new();
    for (b, body) in topology.bodies.iter() {
        let from = pos.X_WB[b].p;
        // A slider is drawn from where it starts.
        if let Node::Body(parent) = body.parent {
            list.push(Segment { from: pos.X_WB[parent].p, to: from, leg: Some(body.leg) });
        } else if let Some(origin) = slide_origin(model, b) {
            list.push(Segment { from: origin, to: from, leg: Some(body.leg) });
        }
        for to in attachments(model, Node::Body(b)).into_iter().chain(beam_tip(model, b)) {
            list.push(Segment { from, to: pos.X_WB[b] * to, leg: Some(body.leg) });
        }
    }
    let corners: Vec<Vec3<f64>> = attachments(model, Node::Platform).into_iter().map(|p| pos.X_WE * p).collect();
    for (i, from) in corners.iter().enumerate().filter(|_| corners.len() > 1) {
        list.push(Segment { from: *from, to: corners[(i + 1) % corners.len()], leg: None });
    }
    list.retain(|s| (s.to - s.from).norm() > 1e-9 * model.size());
    list
}

/// Points of a node where closures attach, in its own frame.
fn attachments(model: &Model<f64>, node: Node) -> Vec<Vec3<f64>> {
    let frames = &model.numbers().closures;
    let closures = model.topology().closures.iter();
    closures
        .flat_map(|(id, c)| [0, 1].map(|k| (c.sides[k], frames[id][k].p)))
        .filter(|(n, _)| *n == node)
        .map(|(_, p)| p)
        .collect()
}

fn slide_origin(model: &Model<f64>, b: BodyId) -> Option<Vec3<f64>> {
    let body = &model.topology().bodies[b];
    let slides = matches!(model.description().bodies[body.row.0].joint, Joint::Prismatic);
    (slides && body.parent == Node::World).then(|| model.numbers().bodies[b].X_PF.p)
}

fn beam_tip(model: &Model<f64>, b: BodyId) -> Option<Vec3<f64>> {
    match &model.description().bodies[model.topology().bodies[b].row.0].flexible {
        Some(Flexible::Beam(beam)) => {
            let to = Vec3::new(beam.to[0].value, beam.to[1].value, beam.to[2].value);
            Some(model.numbers().bodies[b].X_MB * to)
        }
        _ => None,
    }
}
