//! What a robot is, in integers: bodies, coordinates, closures, legs and how they hang together.

use super::ids::{BodyId, ClosureId, CoordId, Id, Ids, LegId, PerBody, PerClosure, PerCoord, PerLeg};
use super::plan::ModelPlan;
use crate::description::{ClosureJoint, Coordinate, Coordinates, Span};
use crate::scalar::Real;
use crate::spatial::Turn;

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
    /// What it stands on, seen from its leg.
    pub anchor: Anchor,
    /// Its joint.
    pub joint: JointKind,
    /// Its coordinate, when it has one of its own.
    pub coord: Option<CoordId>,
    /// Coordinates that give its joint when it is coupled: `q = Σ coefficient · coordinate`. The coefficients are numbers
    /// of the model; here is only whether each is ±1, with its sign, so that revolute positions stay pairs.
    pub coupled: Vec<(CoordId, Option<f64>)>,
    /// Its joint is a freedom that moves nothing else, such as the spin of a rod: it stands at zero.
    pub held: bool,
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
    pub range: Option<Range>,
    /// The joint has a drive, used or not.
    pub driven: bool,
    /// Other joints follow it by a ratio, so that whole turns count.
    pub counted: bool,
}

/// A side of a closure, seen from its leg.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SidePath {
    /// What it is on.
    pub anchor: Anchor,
    /// Bodies of the leg from there down to the root; empty when it is not on a body of the leg.
    pub bodies: Vec<usize>,
    /// What the lowest of them stands on; the anchor itself when there are none.
    pub root: Anchor,
}

/// Lowest and highest coordinate of a joint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    /// Lowest.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// For angles: the middle as a turn, and the cosine of half the width (-1 when every angle is inside).
    middle: Turn<f64>,
    cos_half: f64,
}

impl Range {
    /// From lowest to highest.
    pub fn new(low: f64, high: f64) -> Self {
        let half = (high - low) * 0.5;
        let cos_half = if half >= std::f64::consts::PI { -1.0 } else { half.cos() };
        Self { low, high, middle: Turn::of((low + high) * 0.5), cos_half }
    }

    /// How far a slide is inside both ends, to rounding.
    #[inline]
    pub fn slide_margins<S: Real>(&self, value: S) -> [S; 2] {
        let [low, high] = self.slide_limits();
        [value - S::lit(low), S::lit(high) - value]
    }

    /// Not negative when a turn is inside, to rounding; whole turns do not count.
    #[inline]
    pub fn turn_margin<S: Real>(&self, turn: Turn<S>) -> S {
        let (middle, least) = self.turn_limits();
        turn.cos * S::lit(middle.cos) + turn.sin * S::lit(middle.sin) - S::lit(least)
    }

    /// Lowest and highest slide, to rounding.
    pub(super) fn slide_limits(&self) -> [f64; 2] {
        let slack = 1e-9 * (self.high - self.low);
        [self.low - slack, self.high + slack]
    }

    /// The middle of the angles inside, and the least cosine of what a turn is away from it, to rounding.
    pub(super) fn turn_limits(&self) -> (Turn<f64>, f64) {
        (self.middle, self.cos_half - 1e-9)
    }

    /// Whether a slide is inside, to rounding.
    #[inline]
    pub fn has_slide(&self, value: f64) -> bool {
        self.slide_margins(value).iter().all(|m| *m >= 0.0)
    }

    /// Whether a turn is inside, to rounding; whole turns do not count.
    #[inline]
    pub fn has_turn(&self, turn: Turn<f64>) -> bool {
        self.turn_margin(turn) >= 0.0
    }

    /// Lowest and highest.
    pub fn limits(&self) -> [f64; 2] {
        [self.low, self.high]
    }
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
    /// Both sides seen from the leg: where each is, and the bodies that move it.
    pub paths: [SidePath; 2],
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
    pub bodies: Ids<BodyId>,
    /// Its coordinates, in file order.
    pub coords: Ids<CoordId>,
    /// Closures that tie it.
    pub closures: Ids<ClosureId>,
    /// Bodies of other legs that it is attached to.
    pub outside: Vec<BodyId>,
    /// Square roots whose sign is part of a working mode: where its signs start, and how many there are.
    pub roots: std::ops::Range<usize>,
}

/// Where a joint, or a side of a closure, is attached, seen from a leg.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// The base.
    World,
    /// The platform.
    Platform,
    /// A body of the leg.
    Body(usize),
    /// One of the bodies of other legs that the leg is attached to.
    Outside(usize),
}

impl Leg {
    /// A node seen from the leg.
    ///
    /// # Panics
    /// When the node is a body that the leg has nothing to do with.
    pub fn anchor(&self, node: Node) -> Anchor {
        match node {
            Node::World => Anchor::World,
            Node::Platform => Anchor::Platform,
            Node::Body(b) => self.bodies.local(b).map_or_else(
                || {
                    let outside = self.outside.iter().position(|o| *o == b);
                    Anchor::Outside(outside.expect("a leg knows the bodies it is attached to"))
                },
                Anchor::Body,
            ),
        }
    }
}

/// The platform coordinates.
#[derive(Clone, PartialEq, Debug)]
pub struct Platform {
    /// The claim.
    pub coordinates: Coordinates,
    /// The independent coordinates, in the order of twists.
    pub independent: Vec<Coordinate>,
    /// Place of each of the six coordinates among the independent ones.
    pub places: [Option<usize>; 6],
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
    /// Legs in the order in which they are solved: one that carries the tool comes first.
    pub order: Vec<LegId>,
    /// The platform.
    pub platform: Platform,
    /// Active coordinates, in order.
    pub active: Vec<CoordId>,
    /// Passive coordinates, in order.
    pub passive: Vec<CoordId>,
    /// How postures are solved.
    pub plan: ModelPlan,
}

/// The integers of a leg: slices of those of the robot.
#[derive(Clone, Copy, Debug)]
pub struct LegStructure<'a> {
    /// Its bodies.
    pub bodies: &'a [Body],
    /// Its coordinates.
    pub coords: &'a [Coord],
    /// Its closures.
    pub closures: &'a [Closure],
    /// Number of its first coordinate.
    pub first_coord: usize,
}

impl LegStructure<'_> {
    /// A coordinate's place among those of the leg.
    #[inline]
    pub fn local(&self, c: CoordId) -> usize {
        c.index() - self.first_coord
    }

    /// Place of a body's own coordinate among those of the leg.
    #[inline(always)]
    pub fn coord(&self, b: usize) -> Option<usize> {
        self.bodies[b].coord.map(|c| self.local(c))
    }
}

impl Topology {
    /// Active coordinates of a leg: place in the leg, and place among those of the robot.
    pub fn drives_of(&self, leg: LegId) -> Vec<(usize, usize)> {
        let coords = self.legs[leg].coords;
        let own = |(k, c): (usize, &CoordId)| coords.local(*c).map(|c| (c, k));
        self.active.iter().enumerate().filter_map(own).collect()
    }

    /// The integers of a leg.
    #[inline]
    pub fn structure(&self, leg: &Leg) -> LegStructure<'_> {
        LegStructure {
            bodies: self.bodies.slice(leg.bodies),
            coords: self.coords.slice(leg.coords),
            closures: self.closures.slice(leg.closures),
            first_coord: leg.coords.range().start,
        }
    }

    /// Whether other legs are attached to bodies of a leg.
    pub fn is_hung_on(&self, leg: LegId) -> bool {
        self.legs.values().any(|l| l.outside.iter().any(|b| self.bodies[*b].leg == leg))
    }

    /// The coordinate called `name` or `q` and `name`.
    pub fn coord(&self, name: &str) -> Option<CoordId> {
        let named = |n: &str| self.coords.iter().find(|(_, c)| c.name == n).map(|(id, _)| id);
        named(name).or_else(|| named(name.strip_prefix('q')?))
    }

    /// The body called `name`.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().find(|(_, b)| b.name == name).map(|(id, _)| id)
    }

    /// The whole robot seen as one leg.
    pub fn whole(&self) -> Leg {
        Leg {
            name: self.name.clone(),
            bodies: Ids::new(0, self.bodies.len()),
            coords: Ids::new(0, self.coords.len()),
            closures: Ids::new(0, self.closures.len()),
            outside: Vec::new(),
            roots: 0..0,
        }
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

    /// Whether a coordinate moves nothing else and stands at zero.
    pub fn is_held(&self, c: CoordId) -> bool {
        self.bodies[self.coords[c].body].held
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
