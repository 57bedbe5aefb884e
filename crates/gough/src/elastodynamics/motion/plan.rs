//! What is decided once for a flexible robot in motion: its coordinates, and how every frame is reached from the one before, (10.75).

use super::body::FlexibleBody;
use crate::description::{ClosureJoint, Flexible};
use crate::elastodynamics::drives::DriveElasticity;
use crate::elastodynamics::error::ElasticError;
use crate::elastodynamics::numbers::{ElasticNumbers, ElementNumbers, beam_data, mode_twist};
use crate::elastodynamics::plan::{
    Actuators, BeamSlider, ElasticPlan, Element, Host, LinkJoint, Place, Screw, Variable,
};
use crate::kinematics::Positions;
use crate::model::{BodyId, CoordId, JointKind, Model, PerBody};
use crate::scalar::Real;
use crate::spatial::{Pose, Twist, Vec3, vec3};

/// A coordinate of a flexible robot in motion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MotionCoordinate {
    /// A joint; where its drive has an elastic transmission, its rotor.
    Joint(CoordId),
    /// How far a joint is ahead of its rotor, by the deflection of the transmission.
    Deflection(CoordId),
    /// A component of the displacement of the far node of a piece of a beam, in the axes of its near node: body, piece, component.
    Beam(BodyId, usize, usize),
    /// A mode of a modal body.
    Mode(Host, usize),
    /// A component of the twist of the platform, in world axes.
    Platform(usize),
}

impl MotionCoordinate {
    /// Whether it measures a deformation.
    pub fn is_elastic(self) -> bool {
        matches!(self, Self::Deflection(_) | Self::Beam(..) | Self::Mode(..))
    }
}

/// How a frame is reached.
#[derive(Clone, Debug)]
pub(super) enum ReachedBy<S: Real> {
    /// The platform, by its pose.
    Free,
    /// Over a joint: the fixed side seen from the frame before, the frame seen from the moving side, slots and coefficients.
    Joint { X0: Pose<S>, X1: Pose<S>, kind: JointKind, parts: Vec<(usize, S)> },
    /// To an elastic tip: the undeformed tip seen from the frame before, what each slot does to it in the axes of the tip, and the
    /// axis that it turns about where there is only one.
    Tip { X0: Pose<S>, shapes: Vec<(usize, Twist<S>)>, axis: Option<usize> },
}

impl<S: Real> ReachedBy<S> {
    pub(super) fn tip(X0: Pose<S>, shapes: Vec<(usize, Twist<S>)>) -> Self {
        let still = |k: usize| shapes.iter().all(|(_, t)| t.w[k].is_zero());
        let axis = (0..3).find(|k| (0..3).all(|j| j == *k || still(j)));
        Self::Tip { X0, shapes, axis }
    }
}

/// A frame that moves.
#[derive(Clone, Debug)]
pub(super) struct FrameStep<S: Real> {
    /// The frame before; none for those on the base.
    pub from: Option<usize>,
    pub step: ReachedBy<S>,
    /// Slots that move it: those of the frame before, then its own.
    pub path: Vec<usize>,
}

/// Something with mass: where, what, and the slots of its elastic coordinates.
#[derive(Clone, Debug)]
pub(super) struct Mass<S: Real> {
    pub frame: usize,
    pub body: FlexibleBody<S>,
    pub slots: Vec<usize>,
}

impl<S: Real> Mass<S> {
    /// Its own of all coordinates.
    pub fn pick(&self, all: &[S], own: &mut Vec<S>) {
        own.clear();
        own.extend(self.slots.iter().map(|k| all[*k]));
    }
}

/// A closure: its sides on frames, none being the base.
#[derive(Clone, Debug)]
pub(super) struct Loop<S: Real> {
    pub joint: ClosureJoint,
    pub sides: [(Option<usize>, Pose<S>); 2],
}

/// What is decided on `f64`: frames and links, components of displacements, the frame of the tool point.
#[derive(Clone, Debug)]
pub struct FlexiblePlan {
    pub(super) nodal: ElasticPlan,
    components: Vec<Vec<usize>>,
    tool: usize,
}

/// A flexible robot in motion: coordinates, frames, masses and loops, with their constants.
#[derive(Clone, Debug)]
pub struct FlexibleModel<S: Real> {
    coordinates: Vec<MotionCoordinate>,
    pub(super) frames: Vec<FrameStep<S>>,
    pub(super) masses: Vec<Mass<S>>,
    pub(super) loops: Vec<Loop<S>>,
    /// Inertia of rotors on joints: slot, inertia.
    pub(super) rotors: Vec<(usize, S)>,
    /// Springs: slot, stiffness.
    pub(super) springs: Vec<(usize, S)>,
    /// The point or frame that is called platform.
    pub(super) tool: (Option<usize>, Pose<S>),
    pub(super) platform: Option<usize>,
    /// Frames by the place of what they stand for in the plan; none for what does not move.
    pub(super) steps: Vec<Option<usize>>,
    /// Joint frames of the bodies, on the frames that carry them.
    pub(super) origins: PerBody<(Option<usize>, Pose<S>)>,
    pub(super) gravity: Vec3<S>,
    pub(super) arms: Vec<(BodyId, f64)>,
    sliders: Vec<BeamSlider>,
    planar: bool,
}

impl<S: Real> FlexibleModel<S> {
    /// Constants in any scalar; the plan is that of the same robot on `f64`.
    pub fn new(model: &Model<S>, chosen: &FlexiblePlan) -> Self {
        let (plan, components) = (&chosen.nodal, chosen.components.as_slice());
        let numbers = ElasticNumbers::new(model, plan);
        let coordinates = coordinates(model, plan, components);
        let mut flexible = Self {
            coordinates,
            frames: Vec::new(),
            masses: Vec::new(),
            loops: Vec::new(),
            rotors: Vec::new(),
            springs: Vec::new(),
            tool: (None, Pose::identity()),
            platform: None,
            steps: Vec::new(),
            origins: model.topology().bodies.map(|_, _| (None, Pose::identity())),
            gravity: model.numbers().gravity,
            arms: plan.arms.clone(),
            sliders: plan.sliders.clone(),
            planar: plan.planar,
        };
        // Frames of the plan by number of a step.
        let mut known: Vec<Option<usize>> = vec![None; plan.frames.len()];
        flexible.add_frames(model, plan, &numbers, &mut known);
        flexible.add_masses(model, plan, &numbers, components, &known);
        flexible.add_loops(model, plan, &numbers, &known);
        flexible.add_drives(model);
        for link in &plan.links {
            if let LinkJoint::Tree(b) = link.joint {
                let to = link.frames[1];
                flexible.origins[b] = (known[to], numbers.X_HF[to].inverse());
            }
        }
        flexible.tool = flexible.tool_of(model, chosen.tool, &numbers, &known);
        flexible.steps = known;
        flexible
    }

    /// The coordinates: joints, then the platform, then what is elastic.
    pub fn coordinates(&self) -> &[MotionCoordinate] {
        &self.coordinates
    }

    /// Places of the elastic coordinates.
    pub fn elastic(&self) -> Vec<usize> {
        (0..self.coordinates.len()).filter(|k| self.coordinates[*k].is_elastic()).collect()
    }

    /// Places of all joints.
    pub(super) fn joint_slots(&self) -> impl Iterator<Item = (usize, CoordId)> {
        self.coordinates.iter().enumerate().filter_map(|(slot, c)| match c {
            MotionCoordinate::Joint(c) => Some((slot, *c)),
            _ => None,
        })
    }

    /// Places of joint coordinates.
    pub fn joints(&self, list: &[CoordId]) -> Vec<usize> {
        list.iter().filter_map(|c| self.slot(MotionCoordinate::Joint(*c))).collect()
    }

    /// Places of the twist of the platform, none where the platform is a body of a leg.
    pub fn platform(&self) -> Vec<usize> {
        (0..6).filter_map(|k| self.slot(MotionCoordinate::Platform(k))).collect()
    }

    pub(super) fn slot(&self, c: MotionCoordinate) -> Option<usize> {
        self.coordinates.iter().position(|x| *x == c)
    }

    /// What a coordinate is, in words.
    pub fn coordinate_name(&self, model: &Model<S>, k: usize) -> String {
        let t = model.topology();
        let component = |k: usize| ["ux", "uy", "uz", "rx", "ry", "rz"][k];
        match self.coordinates[k] {
            MotionCoordinate::Joint(c) => format!("q{}", t.coords[c].name),
            MotionCoordinate::Deflection(c) => format!("transmission {}", t.coords[c].name),
            MotionCoordinate::Beam(b, piece, k) => format!("{}[{}].{}", t.bodies[b].name, piece + 1, component(k)),
            MotionCoordinate::Mode(h, k) => format!("mode {} of {}", k + 1, t.node_name(h.node())),
            MotionCoordinate::Platform(k) => format!("platform.{}", component(k)),
        }
    }

    /// Slots of the joint of a body with their coefficients; a joint is its rotor and the deflection of the transmission.
    fn parts(&self, model: &Model<S>, b: BodyId, columns: &[(Variable, Screw)]) -> Vec<(usize, S)> {
        let mut parts = Vec::new();
        for (v, screw) in columns {
            let (Variable::Joint(c), Screw::Joint(_, coupling)) = (v, screw) else { continue };
            let factor = coupling.map_or_else(S::one, |i| model.numbers().bodies[b].coupling[i].1);
            for coordinate in [MotionCoordinate::Joint(*c), MotionCoordinate::Deflection(*c)] {
                parts.extend(self.slot(coordinate).map(|k| (k, factor)));
            }
        }
        parts
    }

    fn push(&mut self, frame: usize, from: Option<usize>, step: ReachedBy<S>, known: &mut [Option<usize>]) {
        let mut path = from.map_or_else(Vec::new, |f| self.frames[f].path.clone());
        match &step {
            ReachedBy::Free => path.extend(self.platform()),
            ReachedBy::Joint { parts, .. } => {
                path.extend(parts.iter().map(|p| p.0).filter(|k| !path.contains(k)).collect::<Vec<_>>());
            }
            ReachedBy::Tip { shapes, .. } => {
                path.extend(shapes.iter().map(|s| s.0).filter(|k| !path.contains(k)).collect::<Vec<_>>());
            }
        }
        known[frame] = Some(self.frames.len());
        self.frames.push(FrameStep { from, step, path });
    }

    /// Frames in an order in which each comes after the one it is reached from.
    fn add_frames(
        &mut self,
        model: &Model<S>,
        plan: &ElasticPlan,
        numbers: &ElasticNumbers<S>,
        known: &mut [Option<usize>],
    ) {
        let place = |p: Place| plan.frames.iter().position(|f| f.place == p);
        if let Some(f) = place(Place::Whole(Host::Platform)) {
            self.push(f, None, ReachedBy::Free, known);
            self.platform = known[f];
        }
        let mut links: Vec<usize> =
            (0..plan.links.len()).filter(|k| !matches!(plan.links[*k].joint, LinkJoint::Closure(_))).collect();
        let mut pieces: Vec<[usize; 2]> = plan
            .elements
            .iter()
            .filter_map(|e| if let Element::Beam { ends, .. } = e { Some(*ends) } else { None })
            .collect();
        let stands = |f: usize, known: &[Option<usize>]| f == 0 || known[f].is_some();
        while !links.is_empty() || !pieces.is_empty() {
            let before = links.len() + pieces.len();
            links.retain(|k| {
                let [from, to] = plan.links[*k].frames;
                let ready = stands(from, known);
                if ready {
                    let step = self.link_step(model, plan, numbers, *k);
                    self.push(to, known[from], step, known);
                }
                !ready
            });
            pieces.retain(|[from, to]| {
                let ready = stands(*from, known);
                if ready {
                    let step = self.piece_step(plan, numbers, [*from, *to]);
                    self.push(*to, known[*from], step, known);
                }
                !ready
            });
            assert!(links.len() + pieces.len() < before, "frames hang on base or platform in the end");
        }
    }

    fn link_step(&self, model: &Model<S>, plan: &ElasticPlan, numbers: &ElasticNumbers<S>, k: usize) -> ReachedBy<S> {
        let link = &plan.links[k];
        let [from, to] = link.frames.map(|f| numbers.X_HF[f]);
        if let LinkJoint::Tree(b) = link.joint {
            if model.topology().bodies[b].joint == JointKind::Fixed {
                return ReachedBy::tip(from.inverse() * model.numbers().bodies[b].X_PF * to, Vec::new());
            }
            return ReachedBy::Joint {
                X0: from.inverse() * model.numbers().bodies[b].X_PF,
                X1: to,
                kind: model.topology().bodies[b].joint,
                parts: self.parts(model, b, &link.columns),
            };
        }
        let shape = |(v, screw): &(Variable, Screw)| {
            let (Variable::Mode(h, k), Screw::Mode(host, point, _)) = (v, screw) else { return None };
            Some((self.slot(MotionCoordinate::Mode(*h, *k))?, mode_twist(model, *host, *point, *k)))
        };
        ReachedBy::tip(from.inverse() * to, link.columns.iter().filter_map(shape).collect())
    }

    fn piece_step(&self, plan: &ElasticPlan, numbers: &ElasticNumbers<S>, [from, to]: [usize; 2]) -> ReachedBy<S> {
        let l = numbers.X_HF[from].apply_inv(numbers.X_HF[to].p).x;
        let unit = |k: usize| crate::elastodynamics::numbers::unit(k);
        let Place::Node(body, piece) = plan.frames[from].place else {
            return ReachedBy::tip(Pose::identity(), Vec::new());
        };
        let shapes =
            (0..6).filter_map(|k| Some((self.slot(MotionCoordinate::Beam(body, piece, k))?, unit(k)))).collect();
        ReachedBy::tip(Pose::translation(vec3(l, S::zero(), S::zero())), shapes)
    }

    fn add_masses(
        &mut self,
        model: &Model<S>,
        plan: &ElasticPlan,
        numbers: &ElasticNumbers<S>,
        components: &[Vec<usize>],
        known: &[Option<usize>],
    ) {
        for (element, constants) in plan.elements.iter().zip(&numbers.elements) {
            let (frame, body, slots) = match (element, constants) {
                (Element::Beam { body, ends }, _) => {
                    let Place::Node(_, piece) = plan.frames[ends[0]].place else { continue };
                    let l = numbers.X_HF[ends[0]].apply_inv(numbers.X_HF[ends[1]].p).x;
                    let own = &components[ends[0]];
                    let slots =
                        own.iter().filter_map(|k| self.slot(MotionCoordinate::Beam(*body, piece, *k))).collect();
                    (ends[0], FlexibleBody::beam(&beam_data(model, *body, l), own, rayleigh(model, *body)), slots)
                }
                (Element::Modal { host, frame }, _) => {
                    let body = FlexibleBody::modal(model, *host);
                    let slots = (0..body.size()).filter_map(|k| self.slot(MotionCoordinate::Mode(*host, k))).collect();
                    (*frame, body, slots)
                }
                (
                    Element::Rigid { frame, .. } | Element::Lump { frame, .. } | Element::Load { frame },
                    ElementNumbers::Inertia(I),
                ) => (*frame, FlexibleBody::without_shapes(*I), Vec::new()),
                _ => continue,
            };
            // What hangs on the base does not move.
            self.masses.extend(known[frame].map(|frame| Mass { frame, body, slots }));
        }
    }

    fn add_loops(
        &mut self,
        model: &Model<S>,
        plan: &ElasticPlan,
        numbers: &ElasticNumbers<S>,
        known: &[Option<usize>],
    ) {
        for link in &plan.links {
            let LinkJoint::Closure(id) = link.joint else { continue };
            let side = |k: usize| {
                let f = link.frames[k];
                (known[f], numbers.X_HF[f].inverse() * model.numbers().closures[id][k])
            };
            self.loops.push(Loop { joint: model.topology().closures[id].joint, sides: [side(0), side(1)] });
        }
    }

    /// Rotors on their joints, springs of joints and of transmissions.
    fn add_drives(&mut self, model: &Model<S>) {
        let t = model.topology();
        for c in t.coords.ids() {
            let (joint, row) =
                (&model.numbers().joints[c], &model.description().bodies[t.bodies[t.coords[c].body].row.0]);
            let Some(slot) = self.slot(MotionCoordinate::Joint(c)) else { continue };
            self.rotors.extend(row.drive.as_ref().and_then(|d| d.rotor_inertia.as_ref()).map(|_| (slot, joint.rotor)));
            self.springs.extend(row.stiffness.as_ref().map(|_| (slot, joint.stiffness)));
            self.springs.extend(self.slot(MotionCoordinate::Deflection(c)).map(|k| (k, joint.transmission)));
        }
    }

    fn tool_of(
        &self,
        model: &Model<S>,
        tool: usize,
        numbers: &ElasticNumbers<S>,
        known: &[Option<usize>],
    ) -> (Option<usize>, Pose<S>) {
        let t = model.topology();
        let Some((id, _)) = t.closures.iter().find(|(_, c)| c.tool) else {
            return (self.platform, Pose::identity());
        };
        let X = model.numbers().closures[id][0];
        (known[tool], numbers.X_HF[tool].inverse() * X)
    }
}

/// Damping of the material of a beam: factors of mass and stiffness.
fn rayleigh<S: Real>(model: &Model<S>, body: BodyId) -> [S; 2] {
    let d = model.description();
    let Some(Flexible::Beam(beam)) = &d.bodies[model.topology().bodies[body].row.0].flexible else {
        return [S::zero(); 2];
    };
    let values = d.definitions.values(&model.numbers().parameters);
    let material = &d.elastic.materials[beam.material].1;
    [&material.mass_damping, &material.stiffness_damping].map(|f| f.as_ref().map_or_else(S::zero, |f| f.eval(&values)))
}

/// Coordinates: joints that move, the platform, deflections of transmissions, displacements of beams, modes.
fn coordinates<S: Real>(model: &Model<S>, plan: &ElasticPlan, components: &[Vec<usize>]) -> Vec<MotionCoordinate> {
    let t = model.topology();
    let moves = |c: &CoordId| plan.links.iter().flat_map(|l| &l.columns).any(|(v, _)| *v == Variable::Joint(*c));
    let mut list: Vec<MotionCoordinate> = t.coords.ids().filter(moves).map(MotionCoordinate::Joint).collect();
    if t.platform.tool.is_none() {
        let own: &[usize] = if plan.planar { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] };
        list.extend(own.iter().map(|k| MotionCoordinate::Platform(*k)));
    }
    let gives = |c: &CoordId| {
        t.active.contains(c)
            && matches!(
                DriveElasticity::of(model, *c),
                DriveElasticity::Transmission | DriveElasticity::TransmissionAndServo
            )
    };
    list.extend(t.coords.ids().filter(moves).filter(gives).map(MotionCoordinate::Deflection));
    for e in &plan.elements {
        match e {
            Element::Beam { body, ends } => {
                let Place::Node(_, piece) = plan.frames[ends[0]].place else { continue };
                list.extend(components[ends[0]].iter().map(|k| MotionCoordinate::Beam(*body, piece, *k)));
            }
            Element::Modal { host, .. } => {
                let modes = crate::elastodynamics::plan::modal(model, *host).map_or(0, |m| m.modes.len());
                list.extend((0..modes).map(|k| MotionCoordinate::Mode(*host, k)));
            }
            _ => {}
        }
    }
    list
}

impl FlexiblePlan {
    /// Plan of a robot at a posture, which decides in planar models which components stay in the plane.
    pub fn new(model: &Model<f64>, pos: &Positions<f64>) -> Result<Self, ElasticError> {
        let nodal = ElasticPlan::new(model, Actuators::Free, pos)?;
        let components = crate::elastodynamics::relative::frame_components(model, &nodal, pos)?;
        let numbers = ElasticNumbers::new(model, &nodal);
        let tool = tool_frame(model, &nodal, &numbers);
        Ok(Self { nodal, components, tool })
    }
}

/// The frame that carries the tool point: on a beam the nearest node.
fn tool_frame(model: &Model<f64>, plan: &ElasticPlan, numbers: &ElasticNumbers<f64>) -> usize {
    let t = model.topology();
    let Some((id, closure)) = t.closures.iter().find(|(_, c)| c.tool) else { return 0 };
    let at = model.numbers().closures[id][0].p;
    let gap = |f: usize| numbers.X_HF[f].apply_inv(at).norm();
    let own = |f: &usize| {
        let place = plan.frames[*f].place;
        place.host() == closure.sides[0] && !matches!(place, Place::Point(..))
    };
    (1..plan.frames.len()).filter(own).min_by(|f, g| gap(*f).total_cmp(&gap(*g))).unwrap_or(0)
}

impl FlexibleModel<f64> {
    /// Motions in the plane only.
    pub fn is_planar(&self) -> bool {
        self.planar
    }

    /// Bodies that slide along beams, where they stand: they may not move from there.
    pub fn sliders(&self) -> &[BeamSlider] {
        &self.sliders
    }

    /// Beams that carry something off their axis, by a rigid arm.
    pub fn arms(&self) -> &[(BodyId, f64)] {
        &self.arms
    }
}
