//! What a robot file says, checked, with every number still a formula of the parameters.

use super::compliance::{GivenCompliance, RodPair};
use super::definitions::Definitions;
use super::elastic::{Beam, Elastic, Modal};
use super::fault::Span;
use super::formula::Formula;
use super::mass::MassData;
use super::placement::{Frame, Placement};

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// A robot as its file describes it.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// Name of the robot.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// Where the data come from.
    pub sources: Vec<String>,
    /// Parameters, and what is derived from them.
    pub definitions: Definitions,
    /// Gravity in world axes.
    pub gravity: [Formula; 3],
    /// Base frame in the world.
    pub base: Frame,
    /// What moves.
    pub platform: DescribedPlatform,
    /// Bodies, parents before children, otherwise in file order.
    pub bodies: Vec<DescribedBody>,
    /// Joints that close loops.
    pub closures: Vec<DescribedClosure>,
    /// Linear relations between joints.
    pub couplings: Vec<Coupling>,
    /// Keys of the legs made by templates.
    pub legs: Vec<String>,
    /// Sets of driven joints; empty when all drives work together.
    pub actuation: Vec<ActuationSet>,
    /// Materials, sections and choices of the elastic models.
    pub elastic: Elastic,
    /// A pose the robot can take.
    pub home: Option<(Vec<(Coordinate, Formula)>, Span)>,
    /// Working mode, one text per leg or one for all.
    pub mode: Option<(Vec<String>, Span)>,
    /// Joints near which the working mode is chosen.
    pub near: Vec<(Name, Formula)>,
    /// Length scale of ranks and distances.
    pub length: Option<Formula>,
    /// The file that this one changes, when it is an overlay.
    pub extends: Option<String>,
}

/// A platform coordinate: position, or roll, pitch, yaw.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Coordinate {
    X,
    Y,
    Z,
    Rx,
    Ry,
    Rz,
}

impl Coordinate {
    /// All six, in the order of twists.
    pub const ALL: [Self; 6] = [Self::X, Self::Y, Self::Z, Self::Rx, Self::Ry, Self::Rz];

    /// By name: `x`, `rx` or `roll`, `phi` or `theta` for the planar angle.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "x" => Self::X,
            "y" => Self::Y,
            "z" => Self::Z,
            "rx" | "roll" => Self::Rx,
            "ry" | "pitch" => Self::Ry,
            "rz" | "yaw" | "phi" | "theta" => Self::Rz,
            _ => return None,
        })
    }

    /// Its place in a twist.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Whether it is an angle.
    pub fn is_angle(self) -> bool {
        self.index() >= 3
    }
}

/// The coordinates that the platform is said to have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Coordinates {
    /// All six.
    Spatial,
    /// x, y and the angle about z.
    Planar,
    /// x, y, z; the orientation never changes.
    Translation,
    /// Position coordinates of a tool point on a body of a leg.
    Point(Vec<Coordinate>),
    /// These; the others follow from the closures.
    Some(Vec<Coordinate>),
}

impl Coordinates {
    /// The independent coordinates.
    pub fn independent(&self) -> Vec<Coordinate> {
        use Coordinate::{Rz, X, Y, Z};
        match self {
            Coordinates::Spatial => Coordinate::ALL.to_vec(),
            Coordinates::Planar => vec![X, Y, Rz],
            Coordinates::Translation => vec![X, Y, Z],
            Coordinates::Point(list) | Coordinates::Some(list) => list.clone(),
        }
    }
}

/// The body that is driven.
#[derive(Clone, PartialEq, Debug)]
pub struct DescribedPlatform {
    /// The claim.
    pub coordinates: Coordinates,
    /// Where the claim stands.
    pub span: Span,
    /// Frame on the platform whose pose is given.
    pub frame: Frame,
    /// Tool point on a body of a leg, for [`Coordinates::Point`].
    pub tool: Option<(Name, [Formula; 3])>,
    /// Mass data.
    pub mass: MassData,
    /// A flexible platform.
    pub modal: Option<Modal>,
}

/// A body and the joint that carries it.
#[derive(Clone, PartialEq, Debug)]
pub struct DescribedBody {
    /// Name of body, joint and frame.
    pub name: Name,
    /// Key of the leg whose template wrote it: index into [`Description::legs`].
    pub leg: Option<usize>,
    /// What it stands on: `base`, `platform` or a body.
    pub on: Name,
    /// Kind of joint.
    pub joint: Joint,
    /// Where the joint stands on the parent.
    pub placement: Placement,
    /// Named point of a modal parent where it stands.
    pub at_point: Option<Name>,
    /// Lowest and highest coordinate.
    pub range: Option<[Formula; 2]>,
    /// Friction of the joint.
    pub friction: Friction,
    /// Spring of the joint.
    pub stiffness: Option<Formula>,
    /// What drives it.
    pub drive: Option<Drive>,
    /// Mass data.
    pub mass: MassData,
    /// How it bends.
    pub flexible: Option<Flexible>,
    /// By how much it gives way, in the Cartesian method.
    pub compliance: Option<GivenCompliance>,
}

/// Joints of the tree.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Joint {
    Fixed,
    Revolute,
    Prismatic,
    /// Two revolutes with axes through one point.
    Universal {
        axis2: [Formula; 3],
    },
    /// Three revolutes about x, y and z of the body frame.
    Spherical,
    /// A revolute and a prismatic on one axis.
    Cylindrical,
    /// A revolute and a prismatic tied by a pitch (advance per radian).
    Screw {
        pitch: Formula,
    },
    /// A bar that turns by q and an end that turns back by q.
    Parallelogram(Box<Bar>),
}

/// The bar of a [`Joint::Parallelogram`].
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Bar {
    pub vector: [Formula; 3],
    pub mass: MassData,
    /// How its rods bend.
    pub rods: Option<RodPair>,
}

/// Friction of a joint or motor; missing terms are zero.
#[derive(Clone, PartialEq, Debug, Default)]
#[allow(missing_docs)]
pub struct Friction {
    pub viscous: Option<Formula>,
    pub coulomb: Option<Formula>,
    pub breakaway: Option<Formula>,
    pub decay: Option<Formula>,
}

impl Friction {
    /// Whether there is any.
    pub fn is_some(&self) -> bool {
        self.viscous.is_some() || self.coulomb.is_some() || self.breakaway.is_some()
    }
}

/// Kinds of drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum DriveKind {
    Motor,
    Clutch,
}

/// What drives a joint.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Drive {
    pub kind: DriveKind,
    pub rotor_inertia: Option<Formula>,
    pub friction: Friction,
    /// Of the transmission: between rotor and joint.
    pub stiffness: Option<Formula>,
    /// Of the servo loop: between the command and the rotor.
    pub servo: Option<Formula>,
    pub effort: Option<Formula>,
    pub speed: Option<Formula>,
}

/// A body that bends.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Flexible {
    Beam(Box<Beam>),
    Modal(Modal),
}

/// Joints of a closure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ClosureJoint {
    Fixed,
    Revolute,
    Prismatic,
    Universal,
    Spherical,
    Cylindrical,
}

impl ClosureJoint {
    /// Scalar equations that the joint imposes.
    pub fn rows(self) -> usize {
        match self {
            ClosureJoint::Fixed => 6,
            ClosureJoint::Revolute | ClosureJoint::Prismatic => 5,
            ClosureJoint::Universal | ClosureJoint::Cylindrical => 4,
            ClosureJoint::Spherical => 3,
        }
    }

    /// Whether its sides slide along each other.
    pub fn slides(self) -> bool {
        matches!(self, ClosureJoint::Prismatic | ClosureJoint::Cylindrical)
    }

    /// The word of the file.
    pub fn word(self) -> &'static str {
        match self {
            ClosureJoint::Fixed => "fixed",
            ClosureJoint::Revolute => "R",
            ClosureJoint::Prismatic => "P",
            ClosureJoint::Universal => "U",
            ClosureJoint::Spherical => "S",
            ClosureJoint::Cylindrical => "C",
        }
    }
}

/// A joint that closes a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct DescribedClosure {
    /// Its name, if it has one.
    pub name: Option<Name>,
    /// Key of the leg whose template wrote it.
    pub leg: Option<usize>,
    /// Kind of joint.
    pub joint: ClosureJoint,
    /// One side.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// By how much what the other side is on gives way, in the Cartesian method.
    pub compliance: Option<GivenCompliance>,
    /// Where it stands.
    pub span: Span,
}

/// A frame on a body; the joint axis is its z.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// The body: `base`, `platform` or another.
    pub body: Name,
    /// The frame.
    pub placement: Placement,
    /// Named point of a modal body.
    pub at_point: Option<Name>,
}

/// A linear relation: the sum of coefficient times joint coordinate is constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Coupling {
    /// Joints and coefficients.
    pub terms: Vec<(Name, Formula)>,
    /// Where it stands.
    pub span: Span,
}

/// A set of joints driven together.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct ActuationSet {
    pub name: Name,
    pub joints: Vec<Name>,
}

impl Description {
    /// Names of all joint coordinates without the `q`, and whether each is a length. Joints of several axes number them.
    pub fn joint_names(&self) -> Vec<(String, bool)> {
        let mut names = Vec::new();
        for body in &self.bodies {
            let name = &body.name.text;
            let numbered = |lengths: &[bool]| {
                lengths.iter().enumerate().map(|(i, l)| (format!("{name}.{}", i + 1), *l)).collect::<Vec<_>>()
            };
            match &body.joint {
                Joint::Fixed => {}
                Joint::Revolute | Joint::Screw { .. } | Joint::Parallelogram(_) => names.push((name.clone(), false)),
                Joint::Prismatic => names.push((name.clone(), true)),
                Joint::Universal { .. } => names.extend(numbered(&[false, false])),
                Joint::Spherical => names.extend(numbered(&[false, false, false])),
                Joint::Cylindrical => names.extend(numbered(&[false, true])),
            }
        }
        names
    }
}
