//! Stage 2: a description becomes a model: a tree of bodies with one-freedom joints, legs, a platform, closures, and a
//! plan of how postures are solved.
//!
//! [`Model`] is what the robot *is*: [`Topology`] (integers, shared) and [`Numbers`] in a scalar, built from the named
//! parameters. It never changes; what a computation knows lives in the `Data` of each stage.

mod block;
mod body_point;
mod chain;
mod expand;
mod forms;
mod group;
mod ids;
mod numbers;
mod plan;
mod planner;
mod point_leg;
mod topology;

pub use block::Block;
pub use body_point::BodyPoint;
pub use chain::{ChainJoint, ChainMotion, Edge, Hop, Path};
pub(crate) use forms::Held;
pub use forms::{ChainWalk, Form, JointPosition, Locked, Recipe, Slot, Step};
pub use group::LegGroup;
pub use ids::{BodyId, ClosureId, CoordId, Id, Ids, LegId, Per, PerBody, PerClosure, PerCoord, PerLeg};
pub use numbers::{BeamNumbers, BodyNumbers, JointNumbers, Numbers};
pub use plan::{
    AnchorPosture, BlockMethod, BlockPlan, Branch, CoordPlace, LegPivots, MatrixBlock, MatrixPlan, ModelPlan, Norm,
    Root,
};
pub use point_leg::{Chain, Elbow, Flat, Hold, POOR, PointGroup, PointLeg, PointLegs, PointStrut, Swing};
pub use topology::{
    Anchor, Body, Closure, Coord, CoordKind, JointKind, Leg, LegStructure, Node, Platform, Range, SidePath, Topology,
};

use crate::description::{Coordinate, Coordinates, Description, Diagnostic, Fault, Parameter};
use crate::scalar::Real;
use crate::spatial::{Inertia, Vec3};
use block::BlockBuilder;
use expand::Layout;
use std::sync::Arc;

/// Most joint coordinates: beyond that dense ranks and searches would take minutes.
const MOST_COORDS: usize = 150;

/// A robot in a scalar.
#[derive(Clone, Debug)]
pub struct Model<S: Real> {
    topology: Arc<Topology>,
    description: Arc<Description>,
    layout: Arc<Layout>,
    numbers: Numbers<S>,
    /// Blocks of each leg.
    inverse: PerLeg<Vec<Block<S>>>,
    /// Blocks of the forward geometry, the robot seen as one leg.
    forward: Vec<Block<S>>,
    scale: ModelScale,
    /// Legs side by side in lanes; only on `f64`, and only where that pays.
    groups: Arc<Vec<LegGroup>>,
    /// Legs in closed form altogether; only on `f64`.
    point_legs: Arc<Option<PointLegs>>,
}

/// What closed postures tell about a robot before its plan can be made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Freedoms that move nothing else, such as the spin of a rod between two balls: they stand at zero.
    pub(crate) idle: Vec<CoordId>,
    /// Active joints that the pose determines, so that they need not be given.
    pub(crate) determined: Option<Vec<CoordId>>,
    /// As many of the other active joints as say, with the pose, where all are.
    pub(crate) open: Vec<CoordId>,
    /// Coordinates of the platform that the file does not list and that never change.
    pub(crate) constant: Vec<Coordinate>,
}

/// Lengths to compare with.
#[derive(Clone, Copy, PartialEq, Debug)]
struct ModelScale {
    length: f64,
    size: f64,
    /// No step's own least margin is above this.
    least_margin: f64,
}

impl std::fmt::Debug for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Layout")
    }
}

impl Model<f64> {
    /// A model whose plan is not complete: only the stage that compiles robots makes and finishes one. `actuation` names a
    /// set of driven joints; by default the first.
    pub(crate) fn draft(description: Description, actuation: Option<&str>) -> Result<Self, Vec<Diagnostic>> {
        if let Some(name) = actuation
            && !description.actuation.iter().any(|s| s.name.text == name)
        {
            let known = description.actuation.iter().map(|s| s.name.text.clone()).collect();
            let what = Fault::UnknownActuation { name: name.to_owned(), known };
            return Err(vec![Diagnostic::new(what, crate::description::Span::default())]);
        }
        let layout = Layout::new(&description, actuation)?;
        if layout.coords.len() > MOST_COORDS {
            let what = Fault::TooMany { what: "joint coordinates", count: layout.coords.len(), most: MOST_COORDS };
            return Err(vec![Diagnostic::new(what, description.platform.span)]);
        }
        Ok(Self::planned(Arc::new(description), layout))
    }

    /// A draft planned again with what closed postures have told.
    pub(crate) fn replanned(self, findings: &Findings) -> Self {
        let mut layout = Layout::clone(&self.layout);
        layout.determined = findings.determined.as_ref().map(|list| list.iter().copied().collect());
        layout.open.clone_from(&findings.open);
        layout.constant.clone_from(&findings.constant);
        for c in &findings.idle {
            layout.bodies[layout.coords[*c].body].held = true;
        }
        Self::planned(self.description, layout)
    }

    /// A draft with more of its plan.
    pub(crate) fn with_plan(mut self, change: impl FnOnce(&mut ModelPlan)) -> Self {
        change(&mut Arc::make_mut(&mut self.topology).plan);
        self.grouped()
    }

    /// A draft whose open joints stand at other values where `near` does not tell them.
    pub(crate) fn with_open_joints(self, values: Vec<f64>) -> Self {
        let parameters = self.numbers.parameters.clone();
        self.with_plan(|plan| plan.given_at = values).with_values(&parameters)
    }

    fn planned(description: Arc<Description>, layout: Layout) -> Self {
        let parameters = description.definitions.defaults();
        let numbers = Numbers::new(&description, &layout, &parameters);
        let platform = platform(&description, &layout);
        let plan = planner::plan(&layout, &numbers, &platform);
        let of_kind =
            |kind: CoordKind| layout.coords.iter().filter(|(_, c)| c.kind == kind).map(|(id, _)| id).collect();
        let topology = Topology {
            name: description.name.clone(),
            bodies: layout.bodies.clone(),
            coords: layout.coords.clone(),
            closures: layout.closures.clone(),
            legs: with_roots(&layout.legs, &plan),
            order: layout.order.clone(),
            platform,
            active: of_kind(CoordKind::Active),
            passive: of_kind(CoordKind::Passive),
            plan,
        };
        let scale = scale(&description, &topology, &numbers);
        Self::assemble(Arc::new(topology), description, Arc::new(layout), numbers, scale).grouped()
    }

    fn grouped(mut self) -> Self {
        self.groups = Arc::new(group::groups(&self));
        self.point_legs = Arc::new(PointLegs::of(&self));
        let steps = self.inverse.values().flatten().flat_map(|b| &b.steps);
        self.scale.least_margin = steps.map(|s| s.least_margin(self.scale.size)).fold(0.0, f64::max);
        self
    }

    /// The robot with other values of its parameters.
    ///
    /// # Panics
    /// When there is not one value per parameter.
    pub fn with_values(&self, parameters: &[f64]) -> Self {
        self.with_parameters(parameters).grouped()
    }

    /// The robot with a payload on its platform, in the file's platform frame; at a tool point, in the axes of the body
    /// that has it.
    pub fn carrying(&self, payload: Inertia<f64>) -> Self {
        let mut model = self.clone();
        Arc::make_mut(&mut model.layout).payload = payload;
        model.with_values(&self.numbers.parameters)
    }

    /// The robot without the ranges of its joints.
    pub fn without_ranges(&self) -> Self {
        let mut free = self.clone();
        Arc::make_mut(&mut free.topology).coords.values_mut().for_each(|c| c.range = None);
        free.grouped()
    }

    /// The robot with every mass, inertia and rotor multiplied by a factor of its own: bodies first, then the platform,
    /// then the rotors. A body stays one that can exist.
    pub fn with_scaled_inertias(&self, mut factor: impl FnMut() -> f64) -> Self {
        let mut model = self.clone();
        let scales = &mut Arc::make_mut(&mut model.layout).scales;
        scales.resize(self.numbers.bodies.len() + 1 + self.numbers.joints.len(), 1.0);
        scales.iter_mut().for_each(|k| *k *= factor());
        model.with_values(&self.numbers.parameters)
    }

    /// The robot in another scalar, its parameters given in that scalar.
    ///
    /// # Panics
    /// When there is not one value per parameter.
    pub fn with_parameters<S: Real>(&self, parameters: &[S]) -> Model<S> {
        let numbers = Numbers::new(&self.description, &self.layout, parameters);
        Model::assemble(self.topology.clone(), self.description.clone(), self.layout.clone(), numbers, self.scale)
    }

    /// The robot in another scalar, its parameters being constants.
    pub fn cast<S: Real>(&self) -> Model<S> {
        let parameters: Vec<S> = self.numbers.parameters.iter().map(|p| S::lit(*p)).collect();
        self.with_parameters(&parameters)
    }
}

impl<S: Real> Model<S> {
    /// What the platform carries beyond the file, in the file's platform frame.
    pub fn payload(&self) -> Inertia<S> {
        self.layout.payload.map(&mut |x| S::lit(x))
    }

    fn assemble(
        topology: Arc<Topology>,
        description: Arc<Description>,
        layout: Arc<Layout>,
        numbers: Numbers<S>,
        scale: ModelScale,
    ) -> Self {
        let given: Vec<&str> = topology.plan.given.iter().map(|c| topology.coords[*c].name.as_str()).collect();
        let numbers = numbers.with_given(&description, &given, &topology.plan.given_at);
        let block = |leg: &Leg, plan: &BlockPlan| {
            BlockBuilder { bodies: &topology.bodies, closures: &topology.closures, numbers: &numbers, leg }.block(plan)
        };
        let of_leg = |id: LegId| topology.plan.inverse.iter().filter(move |b| b.leg == id);
        let inverse = topology.legs.map(|id, leg| of_leg(id).map(|b| block(leg, b)).collect());
        let whole = topology.whole();
        let forward = topology.plan.forward.iter().flatten().map(|b| block(&whole, b)).collect();
        Self {
            topology,
            description,
            layout,
            numbers,
            inverse,
            forward,
            scale,
            groups: Arc::default(),
            point_legs: Arc::default(),
        }
    }

    /// Integers: bodies, coordinates, closures, legs, plan.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Numbers in the scalar of the model.
    pub fn numbers(&self) -> &Numbers<S> {
        &self.numbers
    }

    /// The length that makes translations and rotations comparable: given by the file, else the root mean square distance
    /// of the leg attachments from the platform origin when the platform turns, else [`Model::size`].
    pub fn length(&self) -> f64 {
        self.scale.length
    }

    /// Root mean square distance between neighbouring joints: how large the robot is.
    pub fn size(&self) -> f64 {
        self.scale.size
    }

    /// Margins of the inverse geometry above this are certainly regular; below, [`Step::least_margin`] decides.
    pub fn least_margin(&self) -> f64 {
        self.scale.least_margin
    }

    /// What the file said.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// What the file said of a closure; `None` for the tool point.
    pub fn closure_row(&self, id: ClosureId) -> Option<&crate::description::DescribedClosure> {
        self.layout.closure_rows[id].map(|row| &self.description.closures[row])
    }

    /// The free parameters, in the order of [`Numbers::parameters`].
    pub fn parameters(&self) -> &[Parameter] {
        self.description.definitions.parameters()
    }

    /// Legs side by side in SIMD lanes; only on `f64`, and empty when the legs are too different.
    pub fn groups(&self) -> &[LegGroup] {
        &self.groups
    }

    /// The legs, when closed forms know them altogether; only on `f64`.
    pub fn point_legs(&self) -> Option<&PointLegs> {
        self.point_legs.as_ref().as_ref()
    }

    /// Blocks of the inverse geometry of a leg, with their constants.
    pub fn leg_blocks(&self, leg: LegId) -> &[Block<S>] {
        &self.inverse[leg]
    }

    /// Blocks of the forward geometry, the robot seen as one leg; empty when the plan has none.
    pub fn forward_blocks(&self) -> &[Block<S>] {
        &self.forward
    }
}

/// Where the signs of each leg stand in a working mode: leg by leg.
fn with_roots(legs: &PerLeg<Leg>, plan: &ModelPlan) -> PerLeg<Leg> {
    let mut first = 0;
    legs.map(|id, leg| {
        let count: usize = plan.inverse.iter().filter(|b| b.leg == id).map(|b| b.roots.len()).sum();
        first += count;
        Leg { roots: first - count..first, ..leg.clone() }
    })
}

fn platform(d: &Description, layout: &Layout) -> Platform {
    let coordinates = d.platform.coordinates.clone();
    let independent = coordinates.independent();
    let dependent = match &coordinates {
        Coordinates::Some(_) => {
            let follows = |c: &Coordinate| !independent.contains(c) && !layout.constant.contains(c);
            Coordinate::ALL.into_iter().filter(follows).collect()
        }
        _ => Vec::new(),
    };
    let places = Coordinate::ALL.map(|c| independent.iter().position(|i| *i == c));
    Platform { coordinates, independent, places, dependent, tool: layout.tool, span: d.platform.span }
}

/// The length scale of the file, or how far legs are attached from the platform origin, or the size: lengths between
/// neighbouring joints, those on the base counted from their middle, so that it does not matter where the base stands.
fn scale(d: &Description, topology: &Topology, numbers: &Numbers<f64>) -> ModelScale {
    let rms = |list: &[f64]| {
        let n = list.len().max(1) as f64;
        (list.iter().map(|x| x * x).sum::<f64>() / n).sqrt()
    };
    let joints = topology.bodies.iter().map(|(id, b)| (b.parent, numbers.bodies[id].X_PF.p));
    let sides = topology.closures.iter().flat_map(|(id, c)| [0, 1].map(|k| (c.sides[k], numbers.closures[id][k].p)));
    let places: Vec<(Node, Vec3<f64>)> = joints.chain(sides).collect();
    let on_base: Vec<Vec3<f64>> = places.iter().filter(|(node, _)| *node == Node::World).map(|(_, p)| *p).collect();
    let middle = on_base.iter().sum::<Vec3<f64>>() / on_base.len().max(1) as f64;
    let from_middle = |(node, p): &(Node, Vec3<f64>)| if *node == Node::World { (p - middle).norm() } else { p.norm() };
    let farthest = places.iter().map(|(_, p)| p.norm()).fold(0.0, f64::max);
    let steps: Vec<f64> = places.iter().map(from_middle).filter(|x| *x > 1e-12 * farthest).collect();
    let size = if steps.is_empty() { 1.0 } else { rms(&steps).clamp(1e-6, 1e6) };
    // A leg is attached by a joint at its end or by one at its beginning, as it is listed.
    let ends = topology.closures.iter().filter(|(_, c)| !c.tool);
    let ends = ends.flat_map(|(id, c)| [0, 1].map(|k| (c.sides[k], numbers.closures[id][k].p)));
    let beginnings = topology.bodies.iter().map(|(id, b)| (b.parent, numbers.bodies[id].X_PF.p));
    let on_platform = ends.chain(beginnings).filter(|(node, _)| *node == Node::Platform);
    let attached: Vec<f64> = on_platform.map(|(_, p)| p.norm()).collect();
    let attached = rms(&attached);
    let turns = topology.platform.independent.iter().any(|c| c.is_angle());
    let default = if turns && attached > 0.05 * size { attached } else { size };
    let length = d.length.as_ref().map_or(default, |f| f.value).clamp(1e-6, 1e6);
    ModelScale { length, size, least_margin: 0.0 }
}
