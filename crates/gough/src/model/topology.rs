//! What a robot is, in integers: bodies, coordinates, closures, legs and how they hang together.

use super::ids::{BodyId, ClosureId, CoordId, LegId, PerBody, PerClosure, PerCoord, PerLeg};
use super::plan::Plan;
use crate::description::{ClosureJoint, Coordinate, Coordinates, Span};

/// What a joint or closure can be attached to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Node {
    World,
    Platform,
    Body(BodyId),
}

/// Joints of the tree: one degree of freedom about or along z, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum JointKind {
    Revolute,
    Prismatic,
    Fixed,
}

/// A body and the joint that carries it.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// Its name; parts of a U, S, C, H or Pi joint have the name of the body with a suffix.
    pub name: String,
    /// What it stands on.
    pub parent: Node,
    /// Its joint.
    pub joint: JointKind,
    /// Its coordinate, when it has one of its own.
    pub coord: Option<CoordId>,
    /// Coordinates that give its joint when it is coupled: `q = Σ coefficient · coordinate`. The coefficients are numbers
    /// of the model; here is only whether each is ±1, with its sign, so that revolute positions stay pairs.
    pub coupled: Vec<(CoordId, Option<f64>)>,
    /// The leg it belongs to.
    pub leg: LegId,
    /// Index of its row in the description, and which part of the row's joint it is.
    pub row: (usize, usize),
}

/// Kinds of joint coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum CoordKind {
    Active,
    Passive,
}

/// A joint coordinate.
#[derive(Clone, PartialEq, Debug)]
pub struct Coord {
    /// Name of the joint; the coordinate is called `q` and this.
    pub name: String,
    /// Active or passive.
    pub kind: CoordKind,
    /// Whether it is a length.
    pub slides: bool,
    /// The body whose joint it is.
    pub body: BodyId,
    /// The leg it belongs to.
    pub leg: LegId,
    /// Lowest and highest value.
    pub range: Option<[f64; 2]>,
    /// The joint has a drive, used or not.
    pub driven: bool,
    /// Other joints follow it by a ratio, so that whole turns count.
    pub counted: bool,
}

/// A joint that closes a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Closure {
    /// How it is called in messages.
    pub name: String,
    /// Kind of joint.
    pub joint: ClosureJoint,
    /// Both sides.
    pub sides: [Node; 2],
    /// The leg it belongs to.
    pub leg: LegId,
    /// It ties the tool point to the platform coordinates.
    pub tool: bool,
    /// Where it stands in the file.
    pub span: Span,
}

/// What hangs between the base and the platform, and moves together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Leg {
    /// The key of its template instance, or a name made from those of its bodies.
    pub name: String,
    /// Its bodies, parents first.
    pub bodies: Vec<BodyId>,
    /// Its coordinates, in file order.
    pub coords: Vec<CoordId>,
    /// Closures that tie it.
    pub closures: Vec<ClosureId>,
}

/// The platform coordinates.
#[derive(Clone, PartialEq, Debug)]
pub struct Platform {
    /// The claim.
    pub coordinates: Coordinates,
    /// The independent coordinates, in the order of twists.
    pub independent: Vec<Coordinate>,
    /// Those that follow from the closures and change with the posture.
    pub dependent: Vec<Coordinate>,
    /// Body that carries the tool point.
    pub tool: Option<BodyId>,
    /// Where the claim stands in the file.
    pub span: Span,
}

/// The integers of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Topology {
    /// Name of the robot.
    pub name: String,
    /// Bodies, parents first.
    pub bodies: PerBody<Body>,
    /// Joint coordinates, leg by leg.
    pub coords: PerCoord<Coord>,
    /// Closures.
    pub closures: PerClosure<Closure>,
    /// Legs, in file order.
    pub legs: PerLeg<Leg>,
    /// The platform.
    pub platform: Platform,
    /// Active coordinates, in order.
    pub active: Vec<CoordId>,
    /// Passive coordinates, in order.
    pub passive: Vec<CoordId>,
    /// How postures are solved.
    pub plan: Plan,
}

impl Topology {
    /// The coordinate called `name` or `q` and `name`.
    pub fn coord(&self, name: &str) -> Option<CoordId> {
        let named = |n: &str| self.coords.iter().find(|(_, c)| c.name == n).map(|(id, _)| id);
        named(name).or_else(|| named(name.strip_prefix('q')?))
    }

    /// The body called `name`.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().find(|(_, b)| b.name == name).map(|(id, _)| id)
    }

    /// Name of a node.
    pub fn node_name(&self, node: Node) -> &str {
        match node {
            Node::World => "base",
            Node::Platform => "platform",
            Node::Body(b) => &self.bodies[b].name,
        }
    }

    /// Bodies from the root of the tree down to `body`.
    pub fn path(&self, body: BodyId) -> Vec<BodyId> {
        let mut path = vec![body];
        while let Node::Body(parent) = self.bodies[path[path.len() - 1]].parent {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// Whether other joints follow this revolute one by a ratio, so that whole turns count.
    pub fn is_counted(&self, c: CoordId) -> bool {
        self.coords[c].counted
    }

    /// Names of the active joints.
    pub fn active_names(&self) -> Vec<&str> {
        self.active.iter().map(|&c| self.coords[c].name.as_str()).collect()
    }

    /// Names of the passive joints.
    pub fn passive_names(&self) -> Vec<&str> {
        self.passive.iter().map(|&c| self.coords[c].name.as_str()).collect()
    }
}
