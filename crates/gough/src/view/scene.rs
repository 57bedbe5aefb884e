//! A robot as plain data to draw: nodes with a frame each, straight pieces and joints that hang on them. The scene of a robot is
//! made once; a posture is the frames alone, one flat list.

use crate::description::LineIndex;
use crate::kinematics::Positions;
use crate::linalg::dense::{Matrix, generalized_eigen};
use crate::model::{BodyId, CoordKind, Id as _, JointKind, Model, Node};
use crate::robot::Robot;
use crate::spatial::{Inertia, Pose, Vec3, vec3};
use serde::Serialize;

/// What is drawn of a robot, in the frames of its nodes.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Scene {
    /// How large the robot is: root mean square distance between neighbouring joints, m.
    pub size: f64,
    /// Gravity in world axes.
    pub gravity: [f64; 3],
    /// Names of the legs.
    pub legs: Vec<String>,
    /// The world, the bodies in the order of the model, the platform.
    pub nodes: Vec<SceneNode>,
    /// Straight pieces.
    pub pieces: Vec<ScenePiece>,
    /// Joints and closures.
    pub joints: Vec<SceneJoint>,
}

/// Something that has a frame.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SceneNode {
    /// Its name.
    pub name: String,
    /// Its leg, a place in [`Scene::legs`].
    pub leg: Option<usize>,
    /// Line of the file that its row begins on; 0 where the file has none.
    pub line: usize,
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in its frame; missing without a mass.
    pub centre: Option<[f64; 3]>,
    /// How its mass is spread; missing where its numbers belong to no body, as grouped ones do.
    pub ellipsoid: Option<InertiaEllipsoid>,
}

/// The solid ellipsoid around the centre of mass that has a body's mass and inertia.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct InertiaEllipsoid {
    /// Principal moments of inertia at the centre of mass, ascending, kg m².
    pub moments: [f64; 3],
    /// Half its axes in the same order, m.
    pub radii: [f64; 3],
    /// Directions of its axes in the frame of the node, in the same order; right-handed.
    pub axes: [[f64; 3]; 3],
}

impl InertiaEllipsoid {
    /// That of an inertia: half axes `√(5 (I_j + I_k − I_i) / (2 m))`.
    fn of(inertia: &Inertia<f64>) -> Option<Self> {
        if !(inertia.m > 0.0) || inertia.check_physical().is_err() {
            return None;
        }
        let centre = inertia.ms * (1.0 / inertia.m);
        let I_c = inertia.I_o - Inertia::point(inertia.m, centre).I_o;
        let (moments, vectors) =
            generalized_eigen(&Matrix::from_fn(3, 3, |i, j| I_c[(i, j)]), &Matrix::identity(3, 3))?;
        let sum: f64 = moments.iter().sum();
        let column = |j: usize| vec3(vectors[(0, j)], vectors[(1, j)], vectors[(2, j)]);
        let axes = [column(0), column(1), column(0).cross(&column(1))];
        Some(Self {
            moments: std::array::from_fn(|i| moments[i].max(0.0)),
            radii: std::array::from_fn(|i| (2.5 * (sum - 2.0 * moments[i]).max(0.0) / inertia.m).sqrt()),
            axes: axes.map(array),
        })
    }
}

/// A straight piece between two points. When both ends are on one node it never changes; a slide does.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ScenePiece {
    /// `link`, `beam`, `slide` or `platform`.
    pub kind: &'static str,
    /// Nodes of its ends.
    pub on: [usize; 2],
    /// Its ends, each in the frame of its node.
    pub ends: [[f64; 3]; 2],
    /// Half its width where the file says so, m.
    pub radius: Option<f64>,
}

/// A joint or closure, where its first side carries it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SceneJoint {
    /// Its name.
    pub name: String,
    /// `R`, `P`, `U`, `S`, `C` or `fixed`.
    pub kind: &'static str,
    /// Node that carries it.
    pub on: usize,
    /// Node that it carries.
    pub to: usize,
    /// Where it is, in the frame of the node that carries it.
    pub at: [f64; 3],
    /// Where it is on the node that it carries; of a slide, where that stands.
    pub at_other: [f64; 3],
    /// Its axis, in the frame of the node that carries it.
    pub axis: [f64; 3],
    /// Whether a drive moves it.
    pub active: bool,
    /// Whether it closes a loop.
    pub closure: bool,
}

fn node(model: &Model<f64>, n: Node) -> usize {
    match n {
        Node::World => 0,
        Node::Body(b) => 1 + b.index(),
        Node::Platform => 1 + model.topology().bodies.len(),
    }
}

/// A vector as an array; zeros have no sign.
fn array(v: Vec3<f64>) -> [f64; 3] {
    [v.x + 0.0, v.y + 0.0, v.z + 0.0]
}

/// The frames of a posture, twelve numbers each: the three axes, then the origin. Bodies have the moving frame of their joint.
pub fn frames(model: &Model<f64>, pos: &Positions<f64>, out: &mut Vec<f64>) {
    out.clear();
    let mut put = |X: &Pose<f64>| {
        (0..3).for_each(|j| out.extend((0..3).map(|i| X.R.0[(i, j)])));
        out.extend(array(X.p));
    };
    put(&Pose::identity());
    model.topology().bodies.ids().for_each(|b| put(&pos.X_WB[b]));
    put(&pos.X_WE);
}

impl Scene {
    /// The drawing of a robot.
    pub fn new(robot: &Robot) -> Self {
        let model = robot.model();
        let g = model.numbers().gravity;
        Self {
            size: model.size(),
            gravity: array(g),
            legs: model.topology().legs.values().map(|l| l.name.clone()).collect(),
            nodes: nodes(robot),
            pieces: pieces(model),
            joints: tree_joints(model).chain(closures(model)).collect(),
        }
    }
}

fn nodes(robot: &Robot) -> Vec<SceneNode> {
    let (model, t) = (robot.model(), robot.model().topology());
    let lines = LineIndex::new(robot.text());
    let still =
        |name: &str| SceneNode { name: name.to_owned(), leg: None, line: 0, mass: 0.0, centre: None, ellipsoid: None };
    let heavy = |inertia: &Inertia<f64>, node: SceneNode| SceneNode {
        mass: inertia.m,
        centre: (inertia.m > 0.0).then(|| array(inertia.ms * (1.0 / inertia.m))),
        ellipsoid: InertiaEllipsoid::of(inertia),
        ..node
    };
    let mut list = vec![still("base")];
    for (b, body) in t.bodies.iter() {
        let line = lines.place(model.description().bodies[body.row.0].name.span.start).0;
        let node = SceneNode { leg: Some(body.leg.index()), line, ..still(&body.name) };
        list.push(heavy(&model.numbers().bodies[b].inertia, node));
    }
    list.push(heavy(&model.numbers().platform, still("platform")));
    list
}

/// Pieces of bodies, slides, and the outline of the platform; what has no length is left out.
fn pieces(model: &Model<f64>) -> Vec<ScenePiece> {
    let t = model.topology();
    let mut list = Vec::new();
    for (b, body) in t.bodies.iter() {
        let (own, on) = (node(model, Node::Body(b)), node(model, body.parent));
        if body.joint == JointKind::Prismatic {
            let from = array(model.numbers().bodies[b].X_PF.p);
            list.push(ScenePiece { kind: "slide", on: [on, own], ends: [from, [0.0; 3]], radius: None });
        }
        let beam = beam(model, b);
        let along = |p: &Vec3<f64>| beam.as_ref().is_some_and(|(from, to, _)| lies_on(*p, *from, *to));
        let places = attached(model, Node::Body(b));
        let links = places.iter().filter(|p| !along(p)).map(|p| (vec3(0.0, 0.0, 0.0), *p, "link", None));
        let beams = beam.iter().map(|(from, to, radius)| (*from, *to, "beam", Some(*radius)));
        let whole = links.chain(beams).map(|(from, to, kind, radius)| ScenePiece {
            kind,
            on: [own; 2],
            ends: [array(from), array(to)],
            radius,
        });
        list.extend(whole);
    }
    list.extend(outline(model));
    let length = |p: &ScenePiece| (0..3).map(|k| (p.ends[0][k] - p.ends[1][k]).powi(2)).sum::<f64>().sqrt();
    list.retain(|p| p.kind == "slide" || length(p) > 1e-9 * model.size());
    list.dedup();
    list
}

fn lies_on(p: Vec3<f64>, from: Vec3<f64>, to: Vec3<f64>) -> bool {
    let (d, r) = (to - from, p - from);
    let s = (r.dot(&d) / d.dot(&d).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    (r - d * s).norm() < 1e-9 * d.norm()
}

/// Ends of a beam in the frame of its body, and half its width as if it were round.
fn beam(model: &Model<f64>, b: BodyId) -> Option<(Vec3<f64>, Vec3<f64>, f64)> {
    let beam = model.numbers().beams[b].as_ref()?;
    let radius = (beam.section.A / std::f64::consts::PI).sqrt();
    Some((beam.X_MN.p, beam.X_MN * vec3(beam.length, 0.0, 0.0), radius))
}

/// Points of a node where joints and closures attach, in its own frame.
fn attached(model: &Model<f64>, on: Node) -> Vec<Vec3<f64>> {
    let (t, numbers) = (model.topology(), model.numbers());
    let children = t.bodies.iter().filter(|(_, body)| body.parent == on).map(|(b, _)| numbers.bodies[b].X_PF.p);
    let sides = t.closures.iter().flat_map(|(id, c)| [0, 1].map(|k| (c.sides[k], numbers.closures[id][k].p)));
    children.chain(sides.filter(|(n, _)| *n == on).map(|(_, p)| p)).collect()
}

/// The platform: lines between its attachments in turn, and from the first to its origin when that lies apart.
fn outline(model: &Model<f64>) -> Vec<ScenePiece> {
    let own = node(model, Node::Platform);
    let mut corners: Vec<Vec3<f64>> = Vec::new();
    for p in attached(model, Node::Platform) {
        if !corners.iter().any(|c| (p - *c).norm() < 1e-9 * model.size()) {
            corners.push(p);
        }
    }
    let piece = |a: Vec3<f64>, b: Vec3<f64>| ScenePiece {
        kind: "platform",
        on: [own; 2],
        ends: [array(a), array(b)],
        radius: None,
    };
    let n = corners.len();
    let sides =
        (0..n).take(if n > 2 { n } else { n.saturating_sub(1) }).map(|i| piece(corners[i], corners[(i + 1) % n]));
    sides.collect()
}

fn tree_joints(model: &Model<f64>) -> impl Iterator<Item = SceneJoint> {
    let t = model.topology();
    t.bodies.iter().map(move |(b, body)| {
        let X_PF = &model.numbers().bodies[b].X_PF;
        SceneJoint {
            name: body.name.clone(),
            kind: match body.joint {
                JointKind::Revolute => "R",
                JointKind::Prismatic => "P",
                JointKind::Fixed => "fixed",
            },
            on: node(model, body.parent),
            to: node(model, Node::Body(b)),
            at: array(X_PF.p),
            at_other: [0.0; 3],
            axis: array(X_PF.R.apply(vec3(0.0, 0.0, 1.0))),
            active: body.coord.is_some_and(|c| t.coords[c].kind == CoordKind::Active),
            closure: false,
        }
    })
}

fn closures(model: &Model<f64>) -> impl Iterator<Item = SceneJoint> {
    let t = model.topology();
    t.closures.iter().filter(|(_, c)| !c.tool).map(move |(id, c)| {
        let [first, second] = &model.numbers().closures[id];
        SceneJoint {
            name: c.name.clone(),
            kind: c.joint.word(),
            on: node(model, c.sides[0]),
            to: node(model, c.sides[1]),
            at: array(first.p),
            at_other: array(second.p),
            axis: array(first.R.apply(vec3(0.0, 0.0, 1.0))),
            active: false,
            closure: true,
        }
    })
}
