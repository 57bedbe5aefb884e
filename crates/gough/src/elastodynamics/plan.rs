//! What is decided once: where a robot is rigid and where it bends, which coordinates describe its small motions, and in
//! which block of the matrices each stands.
//!
//! Frames are the places that move rigidly: rigid bodies, nodes of beams, points of modal bodies, the platform. Joints and
//! closures link frames; what hangs together through links is a *cluster*, whose small motions are those of one root frame
//! (nothing when it hangs on the base) and of the joints inside. Beams are elastic and tie clusters to each other without
//! taking freedoms away. So a node costs six coordinates and a joint one, loops close by themselves, and only loops of
//! rigid bodies need elimination.

use super::build::ElasticPlanner;
use super::error::ElasticError;
use super::numbers::Sight;
use crate::description::{Flexible, Modal};
use crate::kinematics::Positions;
use crate::linalg::small::PivotOrder;
use crate::model::{BodyId, ClosureId, CoordId, Id, JointKind, Model, Node, PerBody};

/// What the drives do while the robot vibrates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Actuators {
    /// Held joints do not move at all.
    Locked,
    /// Held joints give way by the stiffness of their transmission and of their servo loop, where the file has them.
    #[default]
    Elastic,
    /// Driven joints move freely, with the inertia of their rotors, which stand behind the transmission where the file has one.
    Free,
}

impl Actuators {
    /// In a word.
    #[doc(hidden)]
    pub fn word(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Elastic => "elastic",
            Self::Free => "free",
        }
    }
}

/// Most coordinates of an elastic model: beyond that dense matrices are the wrong tool.
pub const MOST_COORDINATES: usize = 3000;

/// A place that moves rigidly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// The base.
    World,
    /// The platform, or the frame M of a body that is not a beam.
    Whole(Host),
    /// A node of a beam.
    Node(BodyId, usize),
    /// A named point of a modal body.
    Point(Host, usize),
}

/// The platform, or a body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Host {
    Platform,
    Body(BodyId),
}

impl Host {
    /// As a node of the model.
    pub fn node(self) -> Node {
        match self {
            Host::Platform => Node::Platform,
            Host::Body(b) => Node::Body(b),
        }
    }
}

impl Place {
    /// The node of the model that it belongs to.
    pub fn host(self) -> Node {
        match self {
            Place::World => Node::World,
            Place::Whole(h) | Place::Point(h, _) => h.node(),
            Place::Node(b, _) => Node::Body(b),
        }
    }
}

/// Where a node of a beam comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Station {
    /// The start.
    Start,
    /// The far end.
    End,
    /// The joint of a body on the beam.
    Joint(BodyId),
    /// What slides along the beam: place in [`ElasticPlan::sliders`].
    Slider(usize),
    /// A side of a closure.
    Side(ClosureId, usize),
    /// A point mass.
    Lump(usize),
    /// A part of the way between two of the stations above: the last before and the first after, and the fraction.
    Between(usize, usize, f64),
}

/// A motion that a link allows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Screw {
    /// The joint of a body, with the place of its coefficient among the couplings of that body.
    Joint(BodyId, Option<usize>),
    /// About or along an axis of a side of a closure.
    Cut {
        /// The closure.
        closure: ClosureId,
        /// Which side carries the axis.
        side: usize,
        /// Which axis.
        axis: usize,
        /// Along it.
        slides: bool,
    },
    /// A mode of a modal body, felt at one of its points.
    Mode(Host, usize, usize),
}

/// A coordinate of the small motions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variable {
    /// A component of the motion of a root frame, in the axes of that frame.
    Root(usize, usize),
    /// A joint.
    Joint(CoordId),
    /// A freedom of a closure.
    Cut(ClosureId, usize),
    /// A mode of a modal body.
    Mode(Host, usize),
    /// A rotor that a transmission lets move apart from its joint, by the motion of the joint that it stands for.
    Rotor(CoordId),
}

/// A link between two frames.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// From, to.
    pub frames: [usize; 2],
    /// What it allows the second to do, seen from the first.
    pub columns: Vec<(Variable, Screw)>,
    /// What it stands for.
    pub joint: LinkJoint,
    /// Places of its columns among the variables of its cluster.
    pub slots: Vec<usize>,
}

/// What a link stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum LinkJoint {
    Tree(BodyId),
    Closure(ClosureId),
    Point,
}

/// A frame of the plan.
#[derive(Clone, PartialEq, Debug)]
pub struct FramePlan {
    /// What it is.
    pub place: Place,
    /// The cluster it belongs to; none for the base.
    pub cluster: usize,
    /// Links from the root to it: number, and whether it is followed from its first frame to its second.
    pub path: Vec<(usize, bool)>,
    /// Its pose seen from the root does not depend on the posture.
    pub constant: bool,
}

/// Frames that links tie together.
#[derive(Clone, PartialEq, Debug)]
pub struct Cluster {
    /// The frame whose motion is a coordinate; none when the cluster stands on the base.
    pub root: Option<usize>,
    /// Components of the root's motion that are coordinates.
    pub components: Vec<usize>,
    /// All variables, before loops are closed.
    pub variables: Vec<Variable>,
    /// Links that close loops.
    pub loops: Vec<usize>,
    /// Pivot rows and columns that eliminate the dependent variables.
    pub order: PivotOrder,
    /// Variables that remain, by place.
    pub independent: Vec<usize>,
    /// Block of the arrow, and first coordinate in it.
    pub part: LegOrTip,
    /// First coordinate.
    pub offset: usize,
}

/// A block of the arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LegOrTip {
    Leg(usize),
    Tip,
}

/// What has stiffness or mass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Element {
    /// A piece of a beam between two nodes.
    Beam {
        /// The body.
        body: BodyId,
        /// Frames of its nodes.
        ends: [usize; 2],
    },
    /// The inertia of a rigid body, or of the platform.
    Rigid {
        /// Whose.
        host: Host,
        /// Its frame.
        frame: usize,
    },
    /// A point mass of a beam.
    Lump {
        /// The body.
        body: BodyId,
        /// Which of its point masses.
        index: usize,
        /// The node.
        frame: usize,
    },
    /// A modal body.
    Modal {
        /// Whose.
        host: Host,
        /// Its frame.
        frame: usize,
    },
    /// What the platform weighs, on the beam that carries the tool point.
    Load {
        /// The node.
        frame: usize,
    },
    /// Spring of a joint.
    Spring(CoordId),
    /// Stiffness of the transmission of a drive: between its rotor, which may be held, and its joint.
    Transmission(CoordId),
    /// Stiffness of the servo loop of a drive: between the command and its rotor, or its joint where both move as one.
    Servo(CoordId),
    /// Rotor of a drive.
    Rotor(CoordId),
}

impl Element {
    /// The variables whose sum, with these signs, a spring or a rotor looks at, given what moves.
    pub(super) fn looks_at(self, moves: impl Fn(Variable) -> bool) -> [Option<(Variable, f64)>; 2] {
        let rotor = |c: CoordId| {
            let apart = Variable::Rotor(c);
            if moves(apart) { apart } else { Variable::Joint(c) }
        };
        match self {
            Element::Transmission(c) if moves(Variable::Rotor(c)) => {
                [Some((Variable::Joint(c), 1.0)), Some((Variable::Rotor(c), -1.0))]
            }
            Element::Spring(c) | Element::Transmission(c) => [Some((Variable::Joint(c), 1.0)), None],
            Element::Servo(c) | Element::Rotor(c) => [Some((rotor(c), 1.0)), None],
            _ => [None; 2],
        }
    }
}

/// What slides along a beam.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sliding {
    /// A body by its own joint.
    Body(BodyId),
    /// Whatever stands on the other side of a closure; the number is that of the side on the beam.
    Closure(ClosureId, usize),
}

/// Something that slides along a beam: the node under it goes with it, so that a plan is that of one place of the slider.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BeamSlider {
    /// What slides.
    pub what: Sliding,
    /// The beam.
    pub beam: BodyId,
    /// How far along the beam it stands at the posture of the plan.
    pub along: f64,
}

impl BeamSlider {
    /// How far along its beam it stands at a posture.
    pub fn along_at<S: crate::scalar::Real, P: Sight<S>>(&self, model: &Model<S>, pos: &P) -> S {
        let Some(beam) = &model.numbers().beams[self.beam] else { return S::zero() };
        let there = match self.what {
            Sliding::Body(body) => pos.body(body),
            Sliding::Closure(c, side) => {
                let other = 1 - side;
                pos.spot(model.topology().closures[c].sides[other], &model.numbers().closures[c][other])
            }
        };
        beam.X_MN.apply_inv(pos.seen(&pos.body(self.beam), &there).p).x
    }

    /// Name of the joint or closure.
    pub fn name<S: crate::scalar::Real>(&self, model: &Model<S>) -> String {
        let t = model.topology();
        match self.what {
            Sliding::Body(body) => t.bodies[body].name.clone(),
            Sliding::Closure(c, _) => t.closures[c].name.clone(),
        }
    }

    /// Refuses a robot on whose beams something slides.
    pub(crate) fn refuse_any(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), ElasticError> {
        Self::list(model, pos).first().map_or(Ok(()), |slider| Err(ElasticError::slides(model, slider)))
    }

    /// What slides along beams, at a posture.
    pub(super) fn list(model: &Model<f64>, pos: &Positions<f64>) -> Vec<Self> {
        let (t, numbers) = (model.topology(), model.numbers());
        let bodies = t.bodies.iter().filter(|(_, b)| b.joint == JointKind::Prismatic);
        let joints = bodies.map(|(body, b)| (Sliding::Body(body), b.parent, &numbers.bodies[body].X_PF));
        let closures = t.closures.iter().filter(|(_, c)| c.joint.slides());
        // Between two beams the first side is the rail.
        let cuts = closures.filter_map(|(c, closure)| {
            let sides = (0..2).map(|k| (Sliding::Closure(c, k), closure.sides[k], &numbers.closures[c][k]));
            sides.into_iter().find(|(_, node, X)| beam_along(model, *node, X).is_some())
        });
        let found = joints.chain(cuts).filter_map(|(what, node, X)| {
            let slider = Self { what, beam: beam_along(model, node, X)?, along: 0.0 };
            Some(Self { along: slider.along_at(model, pos), ..slider })
        });
        found.collect()
    }
}

/// The beam whose axis the third axis of a frame on it follows.
fn beam_along(model: &Model<f64>, node: Node, X: &crate::spatial::Pose<f64>) -> Option<BodyId> {
    let Node::Body(body) = node else { return None };
    let x = model.numbers().beams[body].as_ref()?.X_MN.R.column(0);
    (X.R.column(2).cross(&x).norm() < 1e-9).then_some(body)
}

/// The plan.
#[derive(Clone, PartialEq, Debug)]
pub struct ElasticPlan {
    /// Frames; the base is the first.
    pub frames: Vec<FramePlan>,
    /// Links.
    pub links: Vec<Link>,
    /// Clusters.
    pub clusters: Vec<Cluster>,
    /// Elements.
    pub elements: Vec<Element>,
    /// Nodes of beams.
    pub meshes: PerBody<Vec<Station>>,
    /// Coordinates of each leg of the arrow, and of its tip.
    pub sizes: (Vec<usize>, usize),
    /// What the drives do.
    pub actuators: Actuators,
    /// Joints that do not move.
    pub held: Vec<CoordId>,
    /// Beams that carry something off their axis, by a rigid arm: body, and how far.
    pub arms: Vec<(BodyId, f64)>,
    /// Motions in the plane only.
    pub planar: bool,
    /// What slides along beams, where it stands.
    pub sliders: Vec<BeamSlider>,
}

impl ElasticPlan {
    /// How many coordinates.
    pub fn coordinates(&self) -> usize {
        self.sizes.0.iter().sum::<usize>() + self.sizes.1
    }

    /// Whether a variable moves.
    pub fn moves(&self, v: Variable) -> bool {
        self.clusters.iter().any(|c| c.variables.contains(&v))
    }

    /// Place of a coordinate among all: legs in order, then the tip.
    pub fn place(&self, cluster: &Cluster) -> usize {
        let first: usize = match cluster.part {
            LegOrTip::Leg(i) => self.sizes.0[..i].iter().sum(),
            LegOrTip::Tip => self.sizes.0.iter().sum(),
        };
        first + cluster.offset
    }

    /// What a variable is, in words.
    pub fn variable_name<S: crate::scalar::Real>(&self, model: &Model<S>, v: Variable) -> String {
        let t = model.topology();
        match v {
            Variable::Root(f, k) => {
                let component = ["ux", "uy", "uz", "rx", "ry", "rz"][k];
                let place = match self.frames[f].place {
                    Place::Node(b, n) => format!("{}[{n}]", t.bodies[b].name),
                    place => t.node_name(place.host()).to_owned(),
                };
                format!("{place}.{component}")
            }
            Variable::Joint(c) => format!("q{}", t.coords[c].name),
            Variable::Rotor(c) => format!("rotor {}", t.coords[c].name),
            Variable::Cut(c, k) => format!("{}.{}", t.closures[c].name, k + 1),
            Variable::Mode(h, k) => format!("mode {} of {}", k + 1, t.node_name(h.node())),
        }
    }

    /// What every coordinate is, in words: legs in order, then the tip.
    pub fn coordinate_names<S: crate::scalar::Real>(&self, model: &Model<S>) -> Vec<String> {
        let mut names = vec![String::new(); self.coordinates()];
        for cluster in &self.clusters {
            let first = if cluster.independent.is_empty() { 0 } else { self.place(cluster) };
            for (k, v) in cluster.independent.iter().enumerate() {
                names[first + k] = self.variable_name(model, cluster.variables[*v]);
            }
        }
        names
    }

    /// Plan at a posture, which decides which variables loops of rigid bodies eliminate, and where sliders stand on beams.
    pub fn new(model: &Model<f64>, actuators: Actuators, pos: &Positions<f64>) -> Result<Self, ElasticError> {
        let mut builder = ElasticPlanner::new(model, actuators, BeamSlider::list(model, pos))?;
        builder.link_bodies()?;
        builder.link_closures()?;
        builder.finish(pos)
    }
}

/// The modal analysis of a body or of the platform.
pub(super) fn modal<S: crate::scalar::Real>(model: &Model<S>, host: Host) -> Option<&Modal> {
    let d = model.description();
    match host {
        Host::Platform => d.platform.modal.as_ref(),
        Host::Body(b) => {
            let body = &model.topology().bodies[b];
            let next = BodyId::new(b.index() + 1);
            let last =
                next.index() == model.topology().bodies.len() || model.topology().bodies[next].row.0 != body.row.0;
            match &d.bodies[body.row.0].flexible {
                Some(Flexible::Modal(m)) if last => Some(m),
                _ => None,
            }
        }
    }
}
