//! What is known of a posture: joint positions, and the poses of the bodies that follow from them.

use crate::model::{BodyId, CoordId, JointKind, Model, Node, PerBody, PerCoord, Topology};
use crate::scalar::Real;
use crate::spatial::{Pose, Turn, Vec3};

/// Position of a joint: a turn, or a slide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointPosition<S> {
    /// Of a revolute joint.
    pub turn: Turn<S>,
    /// Of a prismatic joint; the angle, not wrapped, of a revolute one that others follow by a ratio.
    pub value: S,
}

impl<S: Real> JointPosition<S> {
    /// At zero.
    pub fn zero() -> Self {
        Self { turn: Turn::identity(), value: S::zero() }
    }

    /// Turned or slid by `q`.
    pub fn of(q: S) -> Self {
        Self { turn: Turn::of(q), value: q }
    }

    /// Turned.
    #[inline]
    pub fn turned(turn: Turn<S>) -> Self {
        Self { turn, value: S::zero() }
    }

    /// Slid.
    #[inline]
    pub fn slid(value: S) -> Self {
        Self { turn: Turn::identity(), value }
    }
}

/// Positions of one posture, sized once for a model.
#[derive(Clone, Debug)]
pub struct Positions<S: Real> {
    /// The platform.
    pub X_WE: Pose<S>,
    /// Joint coordinates.
    pub joints: PerCoord<JointPosition<S>>,
    /// Bodies: frame M of each joint in the world. Filled by [`pose_bodies`].
    pub X_WB: PerBody<Pose<S>>,
    /// Discriminants of the square roots taken, block after block; negative: out of reach.
    pub margins: Vec<S>,
    /// By how far the tip of each block misses its target.
    pub misses: Vec<Vec3<S>>,
    /// Where the target stood when a margin was taken, for distances.
    pub(super) targets: Vec<Vec3<S>>,
    /// Joints of the chain being solved, cut ones included.
    pub(super) chain: Vec<JointPosition<S>>,
}

impl<S: Real> Positions<S> {
    /// Memory for a model. Joints that the pose does not determine (kinematic redundancy) stand where the file's `near` has
    /// them, or at zero; set them to anything else before solving.
    pub fn new(model: &Model<S>) -> Self {
        let topology = model.topology();
        let longest = model.inverse_blocks().iter().chain(model.forward_blocks()).map(|b| b.joints.len()).max().unwrap_or(0);
        let blocks = model.inverse_blocks().len().max(model.forward_blocks().len());
        let steps = |list: &[crate::model::Block<S>]| list.iter().map(|b| b.steps.len()).sum::<usize>();
        let margins = steps(model.inverse_blocks()).max(steps(model.forward_blocks()));
        let given = |c: CoordId| match topology.plan.given.iter().position(|g| *g == c) {
            Some(i) => JointPosition::of(model.numbers().given[i]),
            None => JointPosition::zero(),
        };
        Self {
            X_WE: Pose::identity(),
            joints: topology.coords.map(|c, _| given(c)),
            X_WB: topology.bodies.map(|_, _| Pose::identity()),
            margins: vec![S::one(); margins],
            misses: vec![Vec3::zeros(); blocks],
            targets: vec![Vec3::zeros(); margins],
            chain: vec![JointPosition::zero(); longest],
        }
    }

    /// Memory for a model, holding a posture known on `f64` as constants.
    pub fn seeded(model: &Model<S>, from: &Positions<f64>) -> Self {
        let lit = S::lit;
        let pose = |X: &Pose<f64>| Pose { R: crate::spatial::Rotation(X.R.0.map(lit)), p: X.p.map(lit) };
        let joint = |j: &JointPosition<f64>| JointPosition {
            turn: Turn { cos: lit(j.turn.cos), sin: lit(j.turn.sin) },
            value: lit(j.value),
        };
        let mut pos = Self::new(model);
        pos.X_WE = pose(&from.X_WE);
        pos.joints = from.joints.map(|_, j| joint(j));
        pos.X_WB = from.X_WB.map(|_, X| pose(X));
        pos
    }

    /// The pose of a node.
    #[inline]
    pub fn node(&self, node: Node) -> Pose<S> {
        match node {
            Node::World => Pose::identity(),
            Node::Platform => self.X_WE,
            Node::Body(b) => self.X_WB[b],
        }
    }

    /// Coordinate of a joint: a slide, or an angle in (-π, π] unless others follow it by a ratio.
    pub fn q(&self, topology: &Topology, c: CoordId) -> S {
        let joint = &self.joints[c];
        if topology.coords[c].slides || topology.is_counted(c) { joint.value } else { joint.turn.angle() }
    }
}

/// Pose of every body, parents first: `X_WB = X_WP X_PF J(q)`, (4.8).
pub fn pose_bodies<S: Real>(model: &Model<S>, pos: &mut Positions<S>) {
    for b in model.topology().bodies.ids() {
        pose_body(model, b, pos);
    }
}

/// Pose of one body from that of its parent.
#[inline]
pub fn pose_body<S: Real>(model: &Model<S>, b: BodyId, pos: &mut Positions<S>) {
    let topology = model.topology();
    let body = &topology.bodies[b];
    let X_PF = &model.numbers().bodies[b].X_PF;
    let X_WF = match body.parent {
        Node::World => *X_PF,
        parent => pos.node(parent) * *X_PF,
    };
    pos.X_WB[b] = match body.joint {
        JointKind::Fixed => X_WF,
        JointKind::Revolute => X_WF.turned(turn(model, b, pos)),
        JointKind::Prismatic => X_WF.slid(slide(model, b, pos)),
    };
}

#[inline]
fn turn<S: Real>(model: &Model<S>, b: BodyId, pos: &Positions<S>) -> Turn<S> {
    let body = &model.topology().bodies[b];
    match (body.coord, body.coupled.as_slice()) {
        (Some(c), _) => pos.joints[c].turn,
        (None, [(c, Some(sign))]) if *sign > 0.0 => pos.joints[*c].turn,
        (None, [(c, Some(_))]) => pos.joints[*c].turn.inverse(),
        _ => Turn::of(coupled_value(model, b, pos)),
    }
}

#[inline]
fn slide<S: Real>(model: &Model<S>, b: BodyId, pos: &Positions<S>) -> S {
    match model.topology().bodies[b].coord {
        Some(c) => pos.joints[c].value,
        None => coupled_value(model, b, pos),
    }
}

/// `Σ coefficient · coordinate`.
fn coupled_value<S: Real>(model: &Model<S>, b: BodyId, pos: &Positions<S>) -> S {
    let terms = &model.numbers().bodies[b].coupling;
    terms.iter().fold(S::zero(), |sum, (c, k)| sum + *k * pos.q(model.topology(), *c))
}
