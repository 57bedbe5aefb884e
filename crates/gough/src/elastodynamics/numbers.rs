//! Constants of an elastic model in any scalar, and how its frames move with its coordinates.

use super::beam::{BeamData, BeamElement};
use super::modal::ModalBody;
use super::plan::{ElasticPlan, Element, Host, LinkJoint, Place, Screw, Station, modal};
use crate::description::Flexible;
use crate::kinematics::Positions;
use crate::model::{BodyId, CoordId, JointKind, Model, Node};
use crate::scalar::Real;
use crate::spatial::{Inertia, Pose, Twist, Vec3, vec3};

/// Where frames are, seen from each other. [`Positions`] knows all of them in the world; generated code goes from body to
/// body.
pub trait Sight<S: Real> {
    /// A frame that is looked at, or from.
    type Spot;
    /// The frame `X` on a node of the model.
    fn spot(&self, node: Node, X: &Pose<S>) -> Self::Spot;
    /// The frame M of a body.
    fn body(&self, b: BodyId) -> Self::Spot;
    /// The pose of one seen from another.
    fn seen(&self, from: &Self::Spot, to: &Self::Spot) -> Pose<S>;
}

impl<S: Real> Sight<S> for Positions<S> {
    type Spot = Pose<S>;
    #[inline]
    fn spot(&self, node: Node, X: &Pose<S>) -> Pose<S> {
        self.node(node) * *X
    }
    #[inline]
    fn body(&self, b: BodyId) -> Pose<S> {
        self.X_WB[b]
    }
    #[inline]
    fn seen(&self, from: &Pose<S>, to: &Pose<S>) -> Pose<S> {
        from.inverse() * *to
    }
}

/// Six numbers of a motion or a wrench, linear part first.
pub type Vec6<S> = [S; 6];

/// Constants of an element.
#[derive(Clone, Debug)]
pub enum ElementNumbers<S: Real> {
    /// A piece of a beam.
    Beam(Box<BeamElement<S>>),
    /// An inertia at the origin of its frame.
    Inertia(Inertia<S>),
    /// A modal body.
    Modal(Box<ModalBody<S>>),
    /// A stiffness.
    Stiffness(S),
    /// The inertia of a rotor.
    Rotor(S),
}

/// Constants of an elastic model.
#[derive(Clone, Debug)]
pub struct ElasticNumbers<S: Real> {
    /// Frames on their hosts.
    pub X_HF: Vec<Pose<S>>,
    /// Frames that are constant seen from their root, there.
    pub X_RF: Vec<Pose<S>>,
    /// Elements.
    pub elements: Vec<ElementNumbers<S>>,
}

impl<S: Real> ElasticNumbers<S> {
    /// From the numbers of the model, sliders on beams where the plan has them.
    pub fn new(model: &Model<S>, plan: &ElasticPlan) -> Self {
        Self::with_sliders(model, plan, &plan.sliders.iter().map(|s| S::lit(s.along)).collect::<Vec<S>>())
    }

    /// From the numbers of the model, sliders on beams where they are at a posture near that of the plan.
    pub fn at<P: Sight<S>>(model: &Model<S>, plan: &ElasticPlan, pos: &P) -> Self {
        Self::with_sliders(model, plan, &plan.sliders.iter().map(|s| s.along_at(model, pos)).collect::<Vec<S>>())
    }

    fn with_sliders(model: &Model<S>, plan: &ElasticPlan, sliders: &[S]) -> Self {
        let X_HF: Vec<Pose<S>> = plan.frames.iter().map(|f| frame_on_host(model, plan, f.place, sliders)).collect();
        let mut numbers = Self { X_RF: vec![Pose::identity(); X_HF.len()], X_HF, elements: Vec::new() };
        for (f, frame) in plan.frames.iter().enumerate().filter(|(_, frame)| frame.constant) {
            numbers.X_RF[f] = frame
                .path
                .iter()
                .fold(Pose::identity(), |X, (k, forward)| X * numbers.across(model, plan, *k, *forward));
        }
        numbers.elements = plan.elements.iter().map(|e| numbers.element(model, e)).collect();
        numbers
    }

    /// The pose of the next frame seen from the one before, over a link that does not move.
    fn across(&self, model: &Model<S>, plan: &ElasticPlan, link: usize, forward: bool) -> Pose<S> {
        let link = &plan.links[link];
        let [a, b] = link.frames.map(|f| self.X_HF[f]);
        let X = match link.joint {
            LinkJoint::Tree(body) => a.inverse() * model.numbers().bodies[body].X_PF * b,
            LinkJoint::Closure(c) => {
                let [p, q] = model.numbers().closures[c];
                (a.inverse() * p) * (q.inverse() * b)
            }
            LinkJoint::Point => a.inverse() * b,
        };
        if forward { X } else { X.inverse() }
    }

    fn element(&self, model: &Model<S>, element: &Element) -> ElementNumbers<S> {
        let numbers = model.numbers();
        match *element {
            Element::Beam { body, ends } => {
                let l = self.X_HF[ends[0]].apply_inv(self.X_HF[ends[1]].p).x;
                ElementNumbers::Beam(Box::new(BeamElement::new(&beam_data(model, body, l))))
            }
            Element::Rigid { host: Host::Platform, .. } => ElementNumbers::Inertia(numbers.platform),
            Element::Rigid { host: Host::Body(b), .. } => ElementNumbers::Inertia(numbers.bodies[b].inertia),
            Element::Lump { body, index, frame } => {
                let Some(beam) = &numbers.beams[body] else { return ElementNumbers::Inertia(Inertia::zero()) };
                let (p, m) = beam.lumped[index];
                ElementNumbers::Inertia(Inertia::point(m, self.X_HF[frame].apply_inv(p)))
            }
            Element::Modal { host, .. } => {
                ElementNumbers::Modal(Box::new(ModalBody::new(model, host, modal_frame(model, host))))
            }
            Element::Load { frame } => {
                let values = model.description().definitions.values(&numbers.parameters);
                let at = self.X_HF[frame].inverse() * Pose::translation(tool_point(model));
                let inertia = model.description().platform.mass.inertia(&values) + model.payload();
                ElementNumbers::Inertia(inertia.seen_from(&at))
            }
            Element::Spring(c) => ElementNumbers::Stiffness(numbers.joints[c].stiffness),
            Element::Transmission(c) => ElementNumbers::Stiffness(numbers.joints[c].transmission),
            Element::Servo(c) => ElementNumbers::Stiffness(servo_stiffness(model, c)),
            Element::Rotor(c) => ElementNumbers::Rotor(numbers.joints[c].rotor),
        }
    }

    /// A frame in the world.
    #[inline]
    pub fn pose(&self, plan: &ElasticPlan, f: usize, pos: &Positions<S>) -> Pose<S> {
        self.spot(plan, f, pos)
    }

    /// A frame as it is looked at.
    #[inline]
    pub fn spot<P: Sight<S>>(&self, plan: &ElasticPlan, f: usize, pos: &P) -> P::Spot {
        pos.spot(plan.frames[f].place.host(), &self.X_HF[f])
    }

    /// Motion of a frame, in its own axes, per unit of each variable of its cluster, loops not yet closed.
    pub fn full_columns<P: Sight<S>>(
        &self,
        model: &Model<S>,
        plan: &ElasticPlan,
        f: usize,
        pos: &P,
        out: &mut Vec<Vec6<S>>,
    ) {
        let frame = &plan.frames[f];
        if f == 0 {
            out.clear();
        } else if frame.constant {
            let X_RF = self.X_RF[f];
            columns_from(plan, f, X_RF, out, |screw| match *screw {
                Screw::Mode(host, point, k) => {
                    let X_RP = self.X_RF[point_frame(plan, host, point)];
                    (X_RP.inverse() * X_RF).pull(mode_twist(model, host, point, k))
                }
                _ => Twist::zero(),
            });
        } else {
            let own = self.spot(plan, f, pos);
            let root = plan.clusters[frame.cluster].root;
            // Without a root nothing is seen from it.
            let X_RF = root.map_or_else(Pose::identity, |r| pos.seen(&self.spot(plan, r, pos), &own));
            columns_from(plan, f, X_RF, out, |screw| {
                let (at, V) = self.screw(model, plan, screw, pos);
                pos.seen(&at, &own).pull(V)
            });
        }
    }

    /// Where a screw is, and its motion there.
    pub fn screw<P: Sight<S>>(
        &self,
        model: &Model<S>,
        plan: &ElasticPlan,
        screw: &Screw,
        pos: &P,
    ) -> (P::Spot, Twist<S>) {
        match *screw {
            Screw::Joint(b, coupling) => {
                let factor = coupling.map_or_else(S::one, |i| model.numbers().bodies[b].coupling[i].1);
                let slides = model.topology().bodies[b].joint == JointKind::Prismatic;
                (pos.body(b), unit::<S>(if slides { 2 } else { 5 }).scale(factor))
            }
            Screw::Cut { closure, side, axis, slides } => {
                let host = model.topology().closures[closure].sides[side];
                let at = pos.spot(host, &model.numbers().closures[closure][side]);
                (at, unit(if slides { axis } else { 3 + axis }))
            }
            Screw::Mode(host, point, k) => {
                (self.spot(plan, point_frame(plan, host, point), pos), mode_twist(model, host, point, k))
            }
        }
    }
}

/// Motion of a frame per unit of each variable: the frame seen from its root, and what each screw does to it.
fn columns_from<S: Real>(
    plan: &ElasticPlan,
    f: usize,
    X_RF: Pose<S>,
    out: &mut Vec<Vec6<S>>,
    screw: impl Fn(&Screw) -> Twist<S>,
) {
    let frame = &plan.frames[f];
    let cluster = &plan.clusters[frame.cluster];
    out.clear();
    out.extend(cluster.components.iter().map(|k| X_RF.pull(unit(*k)).to_array()));
    out.resize(cluster.variables.len(), [S::zero(); 6]);
    for (k, forward) in &frame.path {
        let link = &plan.links[*k];
        for ((_, s), slot) in link.columns.iter().zip(&link.slots) {
            let V = if *forward { screw(s) } else { -screw(s) };
            out[*slot].iter_mut().zip(V.to_array()).for_each(|(x, y)| *x += y);
        }
    }
}

/// A motion along (0 to 2) or about (3 to 5) an axis.
#[inline]
pub(super) fn unit<S: Real>(k: usize) -> Twist<S> {
    let mut t = [S::zero(); 6];
    t[k] = S::one();
    Twist::from_array(t)
}

/// What a mode does to a point, in the axes of the file.
pub(super) fn mode_twist<S: Real>(model: &Model<S>, host: Host, point: usize, k: usize) -> Twist<S> {
    let of = |v: [f64; 3]| Vec3::from(v.map(S::lit));
    modal(model, host).map_or_else(Twist::zero, |m| {
        let p = &m.points[point];
        Twist { v: of(p.displacement[k]), w: of(p.rotation[k]) }
    })
}

fn point_frame(plan: &ElasticPlan, host: Host, point: usize) -> usize {
    plan.frames.iter().position(|f| f.place == Place::Point(host, point)).unwrap_or(0)
}

/// Four-point Gauss rule on [0, 1], exact to degree seven: products of beam shapes have degree six.
pub(super) fn shape_rule() -> [(f64, f64); 4] {
    let root = (6.0_f64 / 5.0).sqrt() * 2.0 / 7.0;
    let (a, b) = ((3.0 / 7.0 - root).sqrt(), (3.0 / 7.0 + root).sqrt());
    let (u, v) = ((18.0 + 30.0_f64.sqrt()) / 72.0, (18.0 - 30.0_f64.sqrt()) / 72.0);
    [(0.5 - 0.5 * b, v), (0.5 - 0.5 * a, u), (0.5 + 0.5 * a, u), (0.5 + 0.5 * b, v)]
}

/// The frame of the file in the frame of the host.
pub(super) fn modal_frame<S: Real>(model: &Model<S>, host: Host) -> Pose<S> {
    match host {
        Host::Body(b) => model.numbers().bodies[b].X_MB,
        Host::Platform => {
            let values = model.description().definitions.values(&model.numbers().parameters);
            model.description().platform.frame.pose(&values).inverse()
        }
    }
}

/// The tool point on its body.
fn tool_point<S: Real>(model: &Model<S>) -> Vec3<S> {
    let tool = model.topology().closures.iter().find(|(_, c)| c.tool);
    tool.map_or_else(Vec3::zeros, |(id, _)| model.numbers().closures[id][0].p)
}

/// Stiffness of the servo loop of the drive of a joint, seen by the joint; zero where the file gives none.
pub fn servo_stiffness<S: Real>(model: &Model<S>, c: CoordId) -> S {
    let t = model.topology();
    let drive = &model.description().bodies[t.bodies[t.coords[c].body].row.0].drive;
    let values = model.description().definitions.values(&model.numbers().parameters);
    drive.as_ref().and_then(|d| d.servo.as_ref()).map_or_else(S::zero, |k| k.eval(&values))
}

/// What a piece of a beam is made of.
pub(super) fn beam_data<S: Real>(model: &Model<S>, body: BodyId, l: S) -> BeamData<S> {
    let row = &model.description().bodies[model.topology().bodies[body].row.0];
    let flags = match &row.flexible {
        Some(Flexible::Beam(b)) => (b.shear, b.rotary_inertia),
        _ => (false, true),
    };
    let beam = model.numbers().beams[body].as_ref().expect("elements of beams are made for beams only");
    BeamData::new(beam, l, flags.0, flags.1)
}

fn frame_on_host<S: Real>(model: &Model<S>, plan: &ElasticPlan, place: Place, sliders: &[S]) -> Pose<S> {
    match place {
        Place::World | Place::Whole(_) => Pose::identity(),
        Place::Node(b, k) => {
            let Some(beam) = &model.numbers().beams[b] else { return Pose::identity() };
            beam.X_MN * Pose::translation(vec3(along(model, plan, b, k, sliders), S::zero(), S::zero()))
        }
        Place::Point(host, k) => {
            let p = modal(model, host).map_or([0.0; 3], |m| m.points[k].position);
            modal_frame(model, host) * Pose::translation(Vec3::from(p.map(S::lit)))
        }
    }
}

/// How far a node is along its beam.
fn along<S: Real>(model: &Model<S>, plan: &ElasticPlan, body: BodyId, node: usize, sliders: &[S]) -> S {
    let Some(beam) = &model.numbers().beams[body] else { return S::zero() };
    match plan.meshes[body][node] {
        Station::Start => S::zero(),
        Station::End => beam.length,
        Station::Joint(child) => beam.X_MN.apply_inv(model.numbers().bodies[child].X_PF.p).x,
        Station::Slider(k) => sliders[k],
        Station::Side(c, k) => beam.X_MN.apply_inv(model.numbers().closures[c][k].p).x,
        Station::Lump(i) => beam.X_MN.apply_inv(beam.lumped[i].0).x,
        Station::Between(from, to, part) => {
            let (a, b) = (along(model, plan, body, from, sliders), along(model, plan, body, to, sliders));
            a + (b - a) * S::lit(part)
        }
    }
}
