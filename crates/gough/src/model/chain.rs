//! Chains: a way through the robot from one known body to another, as joints about z with constants between them.

use super::ids::{BodyId, ClosureId, CoordId, PerBody, PerClosure};
use super::numbers::Numbers;
use super::topology::{Body, Closure, JointKind, Node};
use crate::description::ClosureJoint;
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Turn, Vec3, vec3};

/// What joins two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Edge {
    Tree(BodyId),
    Closure(ClosureId),
}

/// A step over an edge; forward is from parent to child, or from side a to side b.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Hop {
    pub edge: Edge,
    pub forward: bool,
}

/// A way from `start` over hops to `end`.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Where it starts.
    pub start: Node,
    /// The hops.
    pub hops: Vec<Hop>,
    /// The node after each hop; the last is the end.
    pub nodes: Vec<Node>,
}

/// How a joint of a chain moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ChainMotion {
    Turn,
    Slide,
    /// Any rotation about a point: only in a cut joint.
    Ball,
}

/// A joint of a chain.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChainJoint {
    /// How it moves.
    pub motion: ChainMotion,
    /// Its coordinate, and whether the chain runs along it (+1) or against it (-1); none for cut joints.
    pub coord: Option<(CoordId, f64)>,
}

impl Path {
    /// Where it ends.
    pub fn end(&self) -> Node {
        self.nodes.last().copied().unwrap_or(self.start)
    }

    /// The way back.
    pub fn reversed(&self) -> Self {
        let mut nodes: Vec<Node> = self.nodes.iter().rev().skip(1).copied().collect();
        nodes.push(self.start);
        let hops = self.hops.iter().rev().map(|h| Hop { edge: h.edge, forward: !h.forward }).collect();
        Self { start: self.end(), hops, nodes }
    }
}

/// Joints of a path; `None` when one is tied to coordinates in a way that is not a plain sign.
pub fn elements(bodies: &PerBody<Body>, closures: &PerClosure<Closure>, path: &Path) -> Option<Vec<ChainJoint>> {
    let mut list = Vec::new();
    let cut = |motion: ChainMotion| ChainJoint { motion, coord: None };
    for hop in &path.hops {
        match hop.edge {
            Edge::Tree(b) => {
                let body = &bodies[b];
                let motion = match body.joint {
                    _ if body.held => continue,
                    JointKind::Fixed => continue,
                    JointKind::Revolute => ChainMotion::Turn,
                    JointKind::Prismatic => ChainMotion::Slide,
                };
                let direction = if hop.forward { 1.0 } else { -1.0 };
                let (coord, sign) = match (body.coord, body.coupled.as_slice()) {
                    (Some(c), _) => (c, 1.0),
                    (None, [(c, Some(sign))]) => (*c, *sign),
                    _ => return None,
                };
                list.push(ChainJoint { motion, coord: Some((coord, sign * direction)) });
            }
            Edge::Closure(c) => match closures[c].joint {
                ClosureJoint::Fixed => {}
                ClosureJoint::Revolute => list.push(cut(ChainMotion::Turn)),
                ClosureJoint::Prismatic => list.push(cut(ChainMotion::Slide)),
                ClosureJoint::Universal => list.extend([cut(ChainMotion::Turn), cut(ChainMotion::Turn)]),
                ClosureJoint::Spherical => list.push(cut(ChainMotion::Ball)),
                ClosureJoint::Cylindrical => list.extend([cut(ChainMotion::Turn), cut(ChainMotion::Slide)]),
            },
        }
    }
    Some(list)
}

/// Constants of a path: `C[0] e[0] C[1] e[1] .. C[n]` is the pose of the end in the start.
#[derive(Clone, PartialEq, Debug)]
pub struct Constants<S: Real> {
    /// Before each joint, and after the last.
    pub between: Vec<Pose<S>>,
    /// For each node on the way: joints passed, and its frame behind the last of them.
    pub nodes: Vec<(Node, usize, Pose<S>)>,
}

/// Constants of a path.
pub fn constants<S: Real>(
    bodies: &PerBody<Body>,
    closures: &PerClosure<Closure>,
    numbers: &Numbers<S>,
    path: &Path,
) -> Constants<S> {
    let mut walk = ChainPoses { between: Vec::new(), behind: Pose::identity(), nodes: Vec::new() };
    for (hop, node) in path.hops.iter().zip(&path.nodes) {
        match hop.edge {
            Edge::Tree(b) => {
                let X_PF = numbers.bodies[b].X_PF;
                let joints = usize::from(bodies[b].joint != JointKind::Fixed && !bodies[b].held);
                if hop.forward {
                    walk.constant(X_PF);
                    walk.joints(joints);
                } else {
                    walk.joints(joints);
                    walk.constant(X_PF.inverse());
                }
            }
            Edge::Closure(c) => {
                let [a, b] = numbers.closures[c];
                let (from, to) = if hop.forward { (a, b) } else { (b, a) };
                walk.constant(from);
                match closures[c].joint {
                    ClosureJoint::Fixed => {}
                    ClosureJoint::Revolute | ClosureJoint::Prismatic | ClosureJoint::Spherical => walk.joints(1),
                    ClosureJoint::Cylindrical => walk.joints(2),
                    ClosureJoint::Universal => {
                        walk.joints(1);
                        walk.constant(Pose::rotation(cross_joint()));
                        walk.joints(1);
                    }
                }
                walk.constant(to.inverse());
            }
        }
        walk.nodes.push((*node, walk.between.len(), walk.behind));
    }
    let last = walk.behind;
    walk.between.push(last);
    Constants { between: walk.between, nodes: walk.nodes }
}

/// Turns z of one side of a universal joint onto that of the other.
fn cross_joint<S: Real>() -> Rotation<S> {
    Rotation::about_x(Turn { cos: S::zero(), sin: S::one() })
}

struct ChainPoses<S: Real> {
    between: Vec<Pose<S>>,
    behind: Pose<S>,
    nodes: Vec<(Node, usize, Pose<S>)>,
}

impl<S: Real> ChainPoses<S> {
    fn constant(&mut self, X: Pose<S>) {
        self.behind = self.behind * X;
    }

    fn joints(&mut self, n: usize) {
        for _ in 0..n {
            self.between.push(self.behind);
            self.behind = Pose::identity();
        }
    }
}

/// Where two axes meet: along z of the first frame and along z of the second, whose frame in the first is `C`.
pub fn meeting<S: Real>(C: &Pose<S>) -> (S, S) {
    let (p, d) = (C.p, C.R.z());
    let u = -(p.x * d.x + p.y * d.y) / (d.x * d.x + d.y * d.y);
    let along_first = p.z + u * d.z;
    (along_first, u)
}

/// A point on z.
pub fn on_z<S: Real>(z: S) -> Vec3<S> {
    vec3(S::zero(), S::zero(), z)
}

/// Frame of a hinge on one of the two nodes it joins; its axis is z.
pub fn hinge_on<S: Real>(
    bodies: &PerBody<Body>,
    closures: &PerClosure<Closure>,
    numbers: &Numbers<S>,
    hinge: Edge,
    node: Node,
) -> Option<Pose<S>> {
    match hinge {
        Edge::Tree(b) if node == Node::Body(b) => Some(Pose::identity()),
        Edge::Tree(b) => (bodies[b].parent == node).then(|| numbers.bodies[b].X_PF),
        Edge::Closure(c) => {
            let side = closures[c].sides.iter().position(|s| *s == node)?;
            Some(numbers.closures[c][side])
        }
    }
}
