//! Frames seen from each other without the world between them: axes over the joints of the tree, origins over the joints and
//! closures that tie points together.

use super::frames::TreeFrames;
use super::plan::{LegsPlan, joins_points};
use crate::elastodynamics::Sight;
use crate::kinematics::Positions;
use crate::model::{BodyId, JointKind, Model, Node, PerBody};
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Vec3};

/// Nodes whose axes stay the same seen from each other, as the sides of a parallelogram do: the first of them for every body,
/// and the rotation of the body seen from there.
#[derive(Clone, Debug)]
pub(super) struct Alike(PerBody<(Node, Rotation<f64>)>);

/// Entries of a constant rotation closer than this to 0, 1 or -1 are that.
const EXACT: f64 = 1e-12;
/// Rotations that differ by less at some postures are the same at all of them.
const SAME: f64 = 1e-9;

impl Alike {
    /// Every body alone.
    pub fn none(model: &Model<f64>) -> Self {
        Self(model.topology().bodies.map(|b, _| (Node::Body(b), Rotation::identity())))
    }

    /// From postures whose bodies are posed.
    pub fn new(model: &Model<f64>, postures: &[Positions<f64>]) -> Self {
        if postures.len() < 3 {
            return Self::none(model);
        }
        let bodies = &model.topology().bodies;
        let nodes: Vec<Node> = [Node::World, Node::Platform].into_iter().chain(bodies.ids().map(Node::Body)).collect();
        let constant = |a: Node, b: Node| {
            let seen = |pos: &Positions<f64>| pos.node(a).R.inverse() * pos.node(b).R;
            let first = seen(&postures[0]);
            let same = |pos: &Positions<f64>| (seen(pos).0 - first.0).norm() < SAME;
            postures.iter().all(same).then(|| Rotation(first.0.map(cleaned)))
        };
        Self(bodies.map(|b, _| {
            let b = Node::Body(b);
            let found = nodes.iter().find_map(|a| Some((*a, constant(*a, b)?)));
            found.unwrap_or((b, Rotation::identity()))
        }))
    }

    /// The node that stands for one, and the node seen from there.
    fn of<S: Real>(&self, node: Node) -> (Node, Rotation<S>) {
        match node {
            Node::Body(b) => (self.0[b].0, self.0[b].1.map(&mut S::lit)),
            node => (node, Rotation::identity()),
        }
    }
}

fn cleaned(x: f64) -> f64 {
    if (x - x.round()).abs() < EXACT { x.round() + 0.0 } else { x }
}

/// A posture in which frames are seen from body to body.
pub(super) struct FromBodies<'a, S: Real> {
    model: &'a Model<S>,
    frames: TreeFrames<S>,
    alike: &'a Alike,
}

/// A point that two nodes have in common: where it is on each.
struct Common<S: Real> {
    nodes: [Node; 2],
    points: [Vec3<S>; 2],
}

/// A step from a node, left at a point, to the next, entered at the same point.
type SightStep<S> = (Node, Vec3<S>, Node, Vec3<S>);

impl<'a, S: Real> FromBodies<'a, S> {
    pub fn new(model: &'a Model<S>, plan: &LegsPlan, alike: &'a Alike, pos: &Positions<S>) -> Self {
        Self { model, frames: TreeFrames::new(model, plan, pos), alike }
    }

    /// A vector in the axes of a node, in those of another.
    fn turned(&self, v: Vec3<S>, from: Node, to: Node) -> Vec3<S> {
        if from == to {
            return v;
        }
        let ((from, R_from), (to, R_to)) = (self.alike.of(from), self.alike.of(to));
        let v = R_from.apply(v);
        if from == to {
            return R_to.apply_inv(v);
        }
        let R_WE = self.frames.X_WE.R;
        let v = if from == Node::Platform { R_WE.apply(v) } else { v };
        let v = self.frames.carry(v, from, to);
        R_to.apply_inv(if to == Node::Platform { R_WE.apply_inv(v) } else { v })
    }

    /// Points that nodes share: joints of the tree, and closures of points.
    fn commons(&self) -> Vec<Common<S>> {
        let (t, numbers) = (self.model.topology(), self.model.numbers());
        let mut list =
            vec![Common { nodes: [Node::World, Node::Platform], points: [self.frames.X_WE.p, Vec3::zeros()] }];
        for (b, link) in self.frames.links.iter() {
            let slides = link.joint == JointKind::Prismatic;
            let origin = if slides { link.origin() } else { link.X_PF.p };
            list.push(Common { nodes: [link.parent, Node::Body(b)], points: [origin, Vec3::zeros()] });
        }
        for (c, closure) in t.closures.iter().filter(|(_, c)| joins_points(c.joint)) {
            list.push(Common { nodes: closure.sides, points: numbers.closures[c].map(|X| X.p) });
        }
        list
    }

    /// The shortest way from one node to another over common points: what is left and what is entered at each.
    fn way(&self, from: Node, to: Node) -> Vec<SightStep<S>> {
        let commons = self.commons();
        let mut ways: Vec<(Node, Vec<SightStep<S>>)> = vec![(from, Vec::new())];
        let mut at = 0;
        while let Some((node, way)) = ways.get(at).cloned() {
            if node == to {
                return way;
            }
            for common in &commons {
                for [a, b] in [[0, 1], [1, 0]] {
                    let next = common.nodes[b];
                    if common.nodes[a] == node && ways.iter().all(|w| w.0 != next) {
                        let step = (node, common.points[a], next, common.points[b]);
                        ways.push((next, way.iter().copied().chain([step]).collect()));
                    }
                }
            }
            at += 1;
        }
        Vec::new()
    }
}

impl<S: Real> Sight<S> for FromBodies<'_, S> {
    type Spot = (Node, Pose<S>);

    fn spot(&self, node: Node, X: &Pose<S>) -> Self::Spot {
        (node, *X)
    }

    fn body(&self, b: BodyId) -> Self::Spot {
        (Node::Body(b), Pose::identity())
    }

    fn seen(&self, (from, X_A): &Self::Spot, (to, X_B): &Self::Spot) -> Pose<S> {
        let column = |k: usize| X_A.R.apply_inv(self.turned(X_B.R.column(k), *to, *from));
        let R = Rotation::from_columns(column(0), column(1), column(2));
        // From the origin of A over the points on the way to the origin of B, every arm in the axes of its own node.
        let (mut p, mut at) = (Vec3::zeros(), X_A.p);
        for (node, leaves, _, enters) in self.way(*from, *to) {
            p += self.turned(leaves - at, node, *from);
            at = enters;
        }
        p += self.turned(X_B.p - at, *to, *from);
        Pose { R, p: X_A.R.apply_inv(p) }
    }
}
