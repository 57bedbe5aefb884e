//! Mass and stiffness in recursive relative coordinates: joints, elastic displacements of every element seen from the one
//! before it, the platform; loops closed by elimination, sections 4 to 6 and 11.
//!
//! This is the road of the literature. It meets the same frequencies with more coordinates and more operations, so that it
//! serves as the second road: [`RelativePlan`] counts what is eliminated and gives the same kind of matrices.
//!
//! The literature adds up the matrices of the cut robot and multiplies them by the closing matrix, (11.26)-(11.27). Here the
//! loops are closed before anything is multiplied: the far node of an eliminated element moves with what it closes on, and
//! forms go from each frame to the one that carries it. The matrices are the same.

mod form;

use super::beam::ClampedBeam;
use super::error::ElasticError;
use super::numbers::{ElasticNumbers, ElementNumbers, Sight, Vec6, beam_data, unit};
use super::plan::{Actuators, ElasticPlan, Element, Host, LinkJoint, Place, Screw, Variable};
use crate::kinematics::Positions;
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{BodyId, ClosureId, CoordId, Model, Node};
use crate::scalar::Real;
use crate::spatial::{Pose, Twist};
use form::MotionForm;

/// A coordinate of the cut robot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutCoordinate {
    /// A joint that is not held.
    Joint(CoordId),
    /// A component of the displacement of the far node of a piece of a beam: body, piece, component.
    Beam(BodyId, usize, usize),
    /// A mode of a modal body.
    Mode(Host, usize),
    /// A component of the motion of the platform.
    Platform(usize),
    /// A component of the frame in which an inner loop closes.
    Inner(ClosureId, usize),
    /// A freedom of a joint that is cut.
    Cut(ClosureId, usize),
    /// A rotor that moves apart from its joint.
    Rotor(CoordId),
}

/// One vector equation: a frame, moved over the freedoms of the cut joint or not, is the frame it closes on.
#[derive(Clone, Debug)]
struct Closing {
    closure: ClosureId,
    /// The frame that must arrive.
    frame: usize,
    /// What it must be: a frame of base or platform, or the intermediary frame of the closure.
    target: usize,
    /// The freedoms of the joint, where they lie in this equation.
    cut: Vec<(usize, UnitMotion)>,
    /// The displacement of a piece of a beam answers for it.
    closed: bool,
}

/// A unit motion that a coordinate makes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum UnitMotion {
    /// Along (0 to 2) or about (3 to 5) an axis of a frame.
    Axis(usize, usize),
    /// Of a joint, of a cut joint, of a mode.
    Screw(Screw),
}

/// How a frame moves: with the frame that carries it and with coordinates of its own, `t = T̄ t_from + Σ ± s q`, (10.78).
#[derive(Clone, Debug)]
struct Carrier {
    frame: usize,
    from: Option<usize>,
    own: Vec<(usize, UnitMotion)>,
    /// Coordinates that take it back: those between a far node and the frame that closes.
    back: Vec<(usize, UnitMotion)>,
    /// The piece of a beam along which it is reached.
    piece: Option<(BodyId, usize)>,
}

/// Plan of the relative coordinates.
#[derive(Clone, Debug)]
pub struct RelativePlan {
    nodal: ElasticPlan,
    coordinates: Vec<CutCoordinate>,
    /// Closures inside of a leg, whose intermediary frames are numbered after those of the nodal plan.
    inner: Vec<ClosureId>,
    closings: Vec<Closing>,
    /// How every frame that moves is carried, carriers first.
    carriers: Vec<Carrier>,
    /// Pieces of beams whose displacements are eliminated in closed form.
    eliminated: Vec<(BodyId, usize)>,
    /// Equations that no element answers for: pivots found by rank.
    order: PivotOrder,
    independent: Vec<usize>,
}

/// Matrices in relative coordinates.
#[derive(Clone, Debug)]
pub struct RelativeMatrices<S> {
    /// Stiffness of the independent coordinates.
    pub K: Dense<S>,
    /// Mass of the independent coordinates.
    pub M: Dense<S>,
    /// All coordinates by the independent ones, (10.114).
    pub J: Dense<S>,
}

impl RelativePlan {
    /// Plan at a posture, at which ranks are decided where they must be.
    pub fn new(model: &Model<f64>, actuators: Actuators, pos: &Positions<f64>) -> Result<Self, ElasticError> {
        let nodal = ElasticPlan::new(model, actuators, pos)?;
        let components = frame_components(model, &nodal, pos)?;
        let coordinates = coordinates(model, &nodal, &components);
        let mut plan = Self {
            inner: inner(&nodal),
            closings: Vec::new(),
            carriers: Vec::new(),
            eliminated: Vec::new(),
            order: PivotOrder::default(),
            independent: Vec::new(),
            nodal,
            coordinates,
        };
        plan.closings = plan.closings();
        plan.carriers = plan.tree();
        plan.close_by_elements(model);
        plan.carriers = plan.sorted();
        let known = plan.known();
        let solver = Solver::new(model, &plan, pos);
        plan.order = plan.pivots(&solver.open(&solver.jacobians()), &known);
        let dependent = |k: &usize| known.contains(k) || plan.order.cols.contains(k);
        plan.independent = (0..plan.coordinates.len()).filter(|k| !dependent(k)).collect();
        Ok(plan)
    }

    /// Number of coordinates of the cut robot, of scalar equations that close it, and of independent coordinates.
    pub fn counts(&self) -> (usize, usize, usize) {
        let per_loop = if self.nodal.planar { 3 } else { 6 };
        (self.coordinates.len(), per_loop * self.closings.len(), self.independent.len())
    }

    /// The coordinates of the cut robot.
    pub fn coordinates(&self) -> &[CutCoordinate] {
        &self.coordinates
    }

    /// Those that remain, by place.
    pub fn independent(&self) -> &[usize] {
        &self.independent
    }

    /// What a coordinate of the cut robot is, in words.
    pub fn coordinate_name<S: Real>(&self, model: &Model<S>, k: usize) -> String {
        let t = model.topology();
        let component = |k: usize| ["ux", "uy", "uz", "rx", "ry", "rz"][k];
        match self.coordinates[k] {
            CutCoordinate::Joint(c) => format!("q{}", t.coords[c].name),
            CutCoordinate::Rotor(c) => format!("rotor {}", t.coords[c].name),
            CutCoordinate::Beam(b, piece, k) => format!("{}[{}].{}", t.bodies[b].name, piece + 1, component(k)),
            CutCoordinate::Mode(h, k) => format!("mode {} of {}", k + 1, t.node_name(h.node())),
            CutCoordinate::Platform(k) => format!("{}.{}", t.node_name(Host::Platform.node()), component(k)),
            CutCoordinate::Inner(c, k) => format!("frame of {}.{}", t.closures[c].name, component(k)),
            CutCoordinate::Cut(c, k) => format!("{}.{}", t.closures[c].name, k + 1),
        }
    }

    /// Coordinates of a piece of a beam with their components.
    fn displacement(&self, body: BodyId, piece: usize) -> Vec<(usize, usize)> {
        (0..6).filter_map(|k| Some((self.place(CutCoordinate::Beam(body, piece, k))?, k))).collect()
    }

    fn place(&self, c: CutCoordinate) -> Option<usize> {
        self.coordinates.iter().position(|x| *x == c)
    }

    /// A closure between two bodies closes on an intermediary frame, one on base or platform on that.
    fn closings(&self) -> Vec<Closing> {
        let mut list = Vec::new();
        for link in &self.nodal.links {
            let LinkJoint::Closure(closure) = link.joint else { continue };
            let [a, b] = link.frames;
            let own = |(v, screw): &(Variable, Screw)| Some((self.place(coordinate(*v)?)?, UnitMotion::Screw(*screw)));
            let closing = |frame: usize, target: usize, cut: bool| {
                let cut = link.columns.iter().filter(|_| cut).filter_map(own).collect();
                Closing { closure, frame, target, cut, closed: false }
            };
            match (is_outer(&self.nodal, a), is_outer(&self.nodal, b)) {
                (false, false) => {
                    let middle = self.intermediary(closure);
                    list.extend([closing(a, middle, true), closing(b, middle, false)]);
                }
                (false, true) => list.push(closing(a, b, true)),
                _ => list.push(closing(b, a, true)),
            }
        }
        // Inner loops first: what hangs behind them is closed in terms of them.
        list.sort_by_key(|c| !self.inner.contains(&c.closure));
        list
    }

    /// The frame in which an inner loop closes: where the second side is.
    fn intermediary(&self, closure: ClosureId) -> usize {
        self.nodal.frames.len() + self.inner.iter().position(|c| *c == closure).unwrap_or(0)
    }

    /// The cut robot: every frame from the one before, over joints, along beams, to points of modal bodies; the platform and
    /// the intermediary frames by coordinates of their own.
    fn tree(&self) -> Vec<Carrier> {
        let carrier = |frame, from, own| Carrier { frame, from, own, back: Vec::new(), piece: None };
        let axes = |frame: usize, of: &dyn Fn(usize) -> CutCoordinate| -> Vec<(usize, UnitMotion)> {
            (0..6).filter_map(|k| Some((self.place(of(k))?, UnitMotion::Axis(frame, k)))).collect()
        };
        let mut list = Vec::new();
        if let Some(f) = self.nodal.frames.iter().position(|f| f.place == Place::Whole(Host::Platform)) {
            list.push(carrier(f, None, axes(f, &CutCoordinate::Platform)));
        }
        for closure in &self.inner {
            let f = self.intermediary(*closure);
            list.push(carrier(f, None, axes(f, &|k| CutCoordinate::Inner(*closure, k))));
        }
        for link in self.nodal.links.iter().filter(|l| !matches!(l.joint, LinkJoint::Closure(_))) {
            let own = |(v, screw): &(Variable, Screw)| Some((self.place(coordinate(*v)?)?, UnitMotion::Screw(*screw)));
            let [from, to] = link.frames;
            list.push(carrier(to, moving(from), link.columns.iter().filter_map(own).collect()));
        }
        for e in &self.nodal.elements {
            if let Element::Beam { body, ends: [from, to] } = *e
                && let Place::Node(_, piece) = self.nodal.frames[from].place
            {
                let own = axes(to, &|k| CutCoordinate::Beam(body, piece, k));
                list.push(Carrier { piece: Some((body, piece)), ..carrier(to, moving(from), own) });
            }
        }
        list
    }

    /// Let the last piece of a beam before each closure answer for it, (10.111)-(10.113): its displacement is what its far node
    /// lacks, and the far node is carried by what the loop closes on. A file may name the bodies instead.
    fn close_by_elements(&mut self, model: &Model<f64>) {
        let t = model.topology();
        let named: Option<Vec<BodyId>> =
            model.description().elastic.dependent.as_ref().map(|l| l.iter().filter_map(|n| t.body(&n.text)).collect());
        let suits = |(b, _): &(BodyId, usize)| named.as_ref().is_none_or(|l| l.contains(b));
        // Pieces that answer for a loop, or stand between one that does and its closure.
        let mut taken: Vec<(BodyId, usize)> = Vec::new();
        for number in 0..self.closings.len() {
            let way = self.way_back(self.closings[number].frame);
            let Some(last) = way.iter().position(|k| self.carriers[*k].piece.as_ref().is_some_and(suits)) else {
                continue;
            };
            let pieces: Vec<(BodyId, usize)> = way[..=last].iter().filter_map(|k| self.carriers[*k].piece).collect();
            if pieces.iter().any(|p| taken.contains(p)) {
                continue;
            }
            let back = way[..last].iter().flat_map(|k| self.carriers[*k].own.clone()).collect();
            taken.extend(&pieces);
            self.eliminated.extend(pieces.last());
            let Closing { target, cut, closed, .. } = &mut self.closings[number];
            *closed = true;
            let tip = &mut self.carriers[way[last]];
            (tip.from, tip.own, tip.back) = (moving(*target), cut.clone(), back);
        }
    }

    /// Carriers from a frame back through the cut robot; one that a loop was closed by ends it.
    fn way_back(&self, frame: usize) -> Vec<usize> {
        let mut way = Vec::new();
        let mut at = Some(frame);
        while let Some(k) = at.and_then(|f| self.carriers.iter().position(|c| c.frame == f)) {
            way.push(k);
            let carrier = &self.carriers[k];
            at = carrier.from.filter(|_| carrier.piece.is_none_or(|p| !self.eliminated.contains(&p)));
        }
        way
    }

    /// Carriers before what they carry.
    fn sorted(&self) -> Vec<Carrier> {
        let mut list: Vec<Carrier> = Vec::with_capacity(self.carriers.len());
        let mut rest = self.carriers.clone();
        while !rest.is_empty() {
            let stands = |c: &Carrier| c.from.is_none_or(|f| list.iter().any(|l| l.frame == f));
            let (next, later): (Vec<Carrier>, Vec<Carrier>) = rest.into_iter().partition(stands);
            assert!(!next.is_empty(), "frames are carried by base, platform or intermediary frames in the end");
            list.extend(next);
            rest = later;
        }
        list
    }

    fn frame(&self, place: Place) -> usize {
        self.nodal.frames.iter().position(|f| f.place == place).unwrap_or(0)
    }

    /// Coordinates eliminated in closed form.
    fn known(&self) -> Vec<usize> {
        self.eliminated.iter().flat_map(|(b, piece)| self.displacement(*b, *piece)).map(|(c, _)| c).collect()
    }

    /// Pivots of the equations that are left: freedoms of cut joints first, then passive joints, then the others.
    fn pivots(&self, open: &Dense<f64>, known: &[usize]) -> PivotOrder {
        let stage = |k: usize| match self.coordinates[k] {
            CutCoordinate::Cut(..) => 0,
            CutCoordinate::Joint(_) | CutCoordinate::Inner(..) => 1,
            CutCoordinate::Platform(_) => 3,
            _ => 2,
        };
        let of = |s: usize| -> Vec<usize> {
            (0..self.coordinates.len()).filter(|k| stage(*k) == s && !known.contains(k)).collect()
        };
        let stages = [of(0), of(1), of(2), of(3)];
        PivotOrder::staged(open, &[&stages[0], &stages[1], &stages[2], &stages[3]], RANK_TOLERANCE)
    }
}

/// Matrices at a posture whose bodies are posed, in any scalar.
pub fn relative_matrices<S: Real, P: Sight<S>>(model: &Model<S>, plan: &RelativePlan, pos: &P) -> RelativeMatrices<S> {
    let solver = Solver::new(model, plan, pos);
    let J_t = solver.jacobians();
    let E = solver.independent(&J_t);
    let [M, K] = solver.forms().map(|A| E.transposed().times(&A.times(&E)));
    RelativeMatrices { K, M, J: solver.closing_matrix(&J_t, E) }
}

/// The base does not move.
fn moving(frame: usize) -> Option<usize> {
    (frame > 0).then_some(frame)
}

/// On base or platform.
fn is_outer(plan: &ElasticPlan, frame: usize) -> bool {
    !matches!(plan.frames[frame].place.host(), Node::Body(_))
}

/// Closures between two bodies.
fn inner(plan: &ElasticPlan) -> Vec<ClosureId> {
    let of = |joint: LinkJoint| if let LinkJoint::Closure(c) = joint { Some(c) } else { None };
    let between = plan.links.iter().filter(|l| l.frames.iter().all(|f| !is_outer(plan, *f)));
    between.filter_map(|l| of(l.joint)).collect()
}

/// The coordinate that a variable of a link is.
fn coordinate(v: Variable) -> Option<CutCoordinate> {
    match v {
        Variable::Joint(c) => Some(CutCoordinate::Joint(c)),
        Variable::Mode(h, k) => Some(CutCoordinate::Mode(h, k)),
        Variable::Cut(c, k) => Some(CutCoordinate::Cut(c, k)),
        Variable::Rotor(c) => Some(CutCoordinate::Rotor(c)),
        Variable::Root(..) => None,
    }
}

/// In-plane components of the displacements at each frame.
pub(super) fn frame_components(
    model: &Model<f64>,
    plan: &ElasticPlan,
    pos: &Positions<f64>,
) -> Result<Vec<Vec<usize>>, ElasticError> {
    let of = |place: &Place| match place {
        _ if !plan.planar => Ok((0..6).collect()),
        Place::World => Ok(vec![0, 1, 5]),
        place => super::planar::components(model, place, pos),
    };
    plan.frames.iter().map(|f| of(&f.place)).collect()
}

fn coordinates(model: &Model<f64>, plan: &ElasticPlan, components: &[Vec<usize>]) -> Vec<CutCoordinate> {
    let mut list: Vec<CutCoordinate> = Vec::new();
    let mut add = |c: CutCoordinate| {
        if !list.contains(&c) {
            list.push(c);
        }
    };
    for link in &plan.links {
        for (v, _) in &link.columns {
            coordinate(*v).into_iter().for_each(&mut add);
        }
        if let LinkJoint::Closure(c) = link.joint
            && link.frames.iter().all(|f| !is_outer(plan, *f))
        {
            components[link.frames[1]].iter().for_each(|k| add(CutCoordinate::Inner(c, *k)));
        }
    }
    let rotors = plan.clusters.iter().flat_map(|c| &c.variables).filter(|v| matches!(v, Variable::Rotor(_)));
    rotors.filter_map(|v| coordinate(*v)).for_each(&mut add);
    for e in &plan.elements {
        if let Element::Beam { body, ends } = e
            && let Place::Node(_, piece) = plan.frames[ends[0]].place
        {
            components[ends[0]].iter().for_each(|k| add(CutCoordinate::Beam(*body, piece, *k)));
        }
    }
    if model.topology().platform.tool.is_none() {
        let platform = plan.frames.iter().position(|f| f.place == Place::Whole(Host::Platform)).unwrap_or(0);
        components[platform].iter().for_each(|k| add(CutCoordinate::Platform(*k)));
    }
    list
}

/// How a frame moves at a posture.
struct CarriedMotion<S: Real> {
    /// The frame seen from the one that carries it.
    X: Pose<S>,
    /// What coordinates of its own do to it.
    own: Vec<(usize, Vec6<S>)>,
}

/// One posture.
struct Solver<'a, S: Real, P: Sight<S>> {
    model: &'a Model<S>,
    plan: &'a RelativePlan,
    pos: &'a P,
    numbers: ElasticNumbers<S>,
    /// In the order of the carriers.
    motions: Vec<CarriedMotion<S>>,
}

impl<'a, S: Real, P: Sight<S>> Solver<'a, S, P> {
    fn new(model: &'a Model<S>, plan: &'a RelativePlan, pos: &'a P) -> Self {
        let numbers = ElasticNumbers::at(model, &plan.nodal, pos);
        let mut solver = Self { model, plan, pos, numbers, motions: Vec::new() };
        solver.motions = plan.carriers.iter().map(|c| solver.motion(c)).collect();
        solver
    }

    fn motion(&self, carrier: &Carrier) -> CarriedMotion<S> {
        let of = |m: &UnitMotion| self.moved(m, carrier.frame);
        let own = carrier.own.iter().map(|(c, m)| (*c, of(m).to_array()));
        let back = carrier.back.iter().map(|(c, m)| (*c, (-of(m)).to_array()));
        CarriedMotion {
            X: carrier.from.map_or_else(Pose::identity, |from| self.seen(from, carrier.frame)),
            own: own.chain(back).collect(),
        }
    }

    /// A unit motion, felt at a frame.
    fn moved(&self, m: &UnitMotion, frame: usize) -> Twist<S> {
        match m {
            UnitMotion::Axis(own, k) if *own == frame => unit(*k),
            UnitMotion::Axis(other, k) => self.seen(*other, frame).pull(unit(*k)),
            UnitMotion::Screw(screw) => {
                let (at, V) = self.numbers.screw(self.model, &self.plan.nodal, screw, self.pos);
                self.pos.seen(&at, &self.spot(frame)).pull(V)
            }
        }
    }

    /// An intermediary frame is where the second side of its closure is.
    fn spot(&self, f: usize) -> P::Spot {
        let nodal = &self.plan.nodal;
        let inner = f.checked_sub(nodal.frames.len()).map(|k| LinkJoint::Closure(self.plan.inner[k]));
        let side = inner.and_then(|joint| nodal.links.iter().find(|l| l.joint == joint)).map_or(f, |l| l.frames[1]);
        self.numbers.spot(nodal, side, self.pos)
    }

    /// A frame seen from another.
    fn seen(&self, from: usize, to: usize) -> Pose<S> {
        self.pos.seen(&self.spot(from), &self.spot(to))
    }

    /// Motion of each frame in its own axes, by coordinate, (10.78); loops that elements answer for are closed.
    fn jacobians(&self) -> Vec<Vec<Vec6<S>>> {
        let frames = self.plan.nodal.frames.len() + self.plan.inner.len();
        let mut J_t = vec![vec![[S::zero(); 6]; self.plan.coordinates.len()]; frames];
        for (carrier, motion) in self.plan.carriers.iter().zip(&self.motions) {
            if let Some(from) = carrier.from {
                J_t[carrier.frame] = J_t[from].iter().map(|t| pulled(&motion.X, t)).collect();
            }
            for (c, s) in &motion.own {
                add(&mut J_t[carrier.frame][*c], s);
            }
        }
        J_t
    }

    /// Mass and stiffness of the robot whose loops are closed as far as elements answer for them: `Σ Jᵀ M J`, `Σ Jᵀ K J`,
    /// (11.21)-(11.23), from the far frames down to those that nothing carries.
    fn forms(&self) -> [Dense<S>; 2] {
        let frames = self.plan.nodal.frames.len() + self.plan.inner.len();
        let [mut M, mut K] = [0; 2].map(|_| MotionForm::new(frames, self.plan.coordinates.len()));
        for (element, numbers) in self.plan.nodal.elements.iter().zip(&self.numbers.elements) {
            self.add_element(element, numbers, &mut M, &mut K);
        }
        for (carrier, CarriedMotion { X, own }) in self.plan.carriers.iter().zip(&self.motions).rev() {
            M.substitute(carrier.frame, carrier.from, X, own);
            K.substitute(carrier.frame, carrier.from, X, own);
        }
        [M.coordinates, K.coordinates]
    }

    fn add_element(
        &self,
        element: &Element,
        numbers: &ElementNumbers<S>,
        M: &mut MotionForm<S>,
        K: &mut MotionForm<S>,
    ) {
        let place = |c: CutCoordinate| self.plan.place(c);
        match (element, numbers) {
            (Element::Beam { body, ends }, ElementNumbers::Beam(nodal)) => {
                let Place::Node(_, piece) = self.plan.nodal.frames[ends[0]].place else { return };
                let l = self.numbers.X_HF[ends[0]].apply_inv(self.numbers.X_HF[ends[1]].p).x;
                let data = beam_data(self.model, *body, l);
                let is_eliminated = self.plan.eliminated.contains(&(*body, piece));
                let q_e = self.plan.displacement(*body, piece);
                if is_eliminated {
                    K.add_nodal(*ends, &nodal.K);
                } else {
                    K.add_elastic(&q_e, &nodal.K[1][1]); // K_ee: the first node does not move
                }
                if is_eliminated || data.shear.is_some() {
                    // The clamped form is closed without shear only.
                    M.add_nodal(*ends, &nodal.M);
                } else {
                    let clamped = ClampedBeam::new(&data);
                    M.add_inertia(ends[0], &clamped.rigid);
                    M.add_elastic(&q_e, &clamped.M_ee);
                    for (c, k) in q_e {
                        M.add_column(ends[0], c, &clamped.M_re.map(|row| row[k]));
                    }
                }
            }
            (
                Element::Rigid { frame, .. } | Element::Lump { frame, .. } | Element::Load { frame },
                ElementNumbers::Inertia(I),
            ) => M.add_inertia(*frame, I),
            (Element::Modal { host, frame }, ElementNumbers::Modal(body)) => {
                M.add_inertia(*frame, &body.rigid);
                let modes = body.stiffness.len();
                let slots = (0..modes).filter_map(|k| Some((k, place(CutCoordinate::Mode(*host, k))?)));
                let slots: Vec<(usize, usize)> = slots.collect();
                for &(k, slot) in &slots {
                    M.add_column(*frame, slot, &body.M_re[k]);
                    K.add(slot, slot, body.stiffness[k]);
                    slots.iter().for_each(|(h, other)| M.add(slot, *other, body.M_ee[k * modes + h]));
                }
            }
            (_, ElementNumbers::Stiffness(k)) => self.add_scalar(element, *k, K),
            (_, ElementNumbers::Rotor(I)) => self.add_scalar(element, *I, M),
            _ => {}
        }
    }

    /// A stiffness or an inertia on one joint, on its rotor, or between the two.
    fn add_scalar(&self, element: &Element, x: S, form: &mut MotionForm<S>) {
        let place = |v: Variable| self.plan.place(coordinate(v)?);
        let parts = element.looks_at(|v| place(v).is_some());
        let parts: Vec<(usize, f64)> =
            parts.into_iter().flatten().filter_map(|(v, sign)| Some((place(v)?, sign))).collect();
        for (i, a) in &parts {
            parts.iter().for_each(|(j, b)| form.add(*i, *j, x * S::lit(a * b)));
        }
    }

    /// Equations that no element answers for, in the axes of the frame that arrives: `T - T̄_target - Σ s q = 0`, (10.107).
    fn open(&self, J_t: &[Vec<Vec6<S>>]) -> Dense<S> {
        let left: Vec<&Closing> = self.plan.closings.iter().filter(|c| !c.closed).collect();
        let mut open = Dense::zeros(6 * left.len(), self.plan.coordinates.len());
        for (k, closing) in left.into_iter().enumerate() {
            let X = self.seen(closing.target, closing.frame);
            for (c, (t, target)) in J_t[closing.frame].iter().zip(&J_t[closing.target]).enumerate() {
                let target = pulled(&X, target);
                (0..6).for_each(|i| *open.at_mut(6 * k + i, c) = t[i] - target[i]);
            }
            for (c, m) in &closing.cut {
                let s = self.moved(m, closing.frame).to_array();
                (0..6).for_each(|i| *open.at_mut(6 * k + i, *c) -= s[i]);
            }
        }
        open
    }

    /// Coordinates by the independent ones; nothing in the rows of those that elements answer for.
    fn independent(&self, J_t: &[Vec<Vec6<S>>]) -> Dense<S> {
        let mut open = self.open(J_t);
        let order = &self.plan.order;
        order.eliminate(&mut open, &mut Vec::new());
        let mut E = Dense::zeros(self.plan.coordinates.len(), self.plan.independent.len());
        for (k, &v) in self.plan.independent.iter().enumerate() {
            *E.at_mut(v, k) = S::one();
            for (&i, &j) in order.rows.iter().zip(&order.cols) {
                *E.at_mut(j, k) = -open.at(i, v);
            }
        }
        E
    }

    /// All coordinates by the independent ones, (10.114): eliminated displacements are what the far node moves more than the
    /// near one takes it along.
    fn closing_matrix(&self, J_t: &[Vec<Vec6<S>>], E: Dense<S>) -> Dense<S> {
        let mut J = E;
        for &(body, piece) in &self.plan.eliminated {
            let [near, far] = [piece, piece + 1].map(|k| self.plan.frame(Place::Node(body, k)));
            let X = self.seen(near, far);
            let taken: Vec<Vec6<S>> = J_t[near].iter().map(|t| pulled(&X, t)).collect();
            for (d, i) in self.plan.displacement(body, piece) {
                for k in 0..J.cols {
                    let rows = J_t[far].iter().zip(&taken).enumerate();
                    *J.at_mut(d, k) = rows.fold(S::zero(), |sum, (c, (t, near))| sum + (t[i] - near[i]) * J.at(c, k));
                }
            }
        }
        J
    }
}

fn pulled<S: Real>(X: &Pose<S>, t: &Vec6<S>) -> Vec6<S> {
    X.pull(Twist::from_array(*t)).to_array()
}

fn add<S: Real>(sum: &mut Vec6<S>, x: &Vec6<S>) {
    sum.iter_mut().zip(x).for_each(|(s, x)| *s += *x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The robot before any loop is closed.
    fn cut(plan: &RelativePlan) -> RelativePlan {
        let mut cut = RelativePlan { eliminated: Vec::new(), carriers: plan.tree(), ..plan.clone() };
        cut.carriers = cut.sorted();
        cut.closings.iter_mut().for_each(|c| c.closed = false);
        cut
    }

    fn largest(A: &Dense<f64>) -> f64 {
        A.data.iter().fold(0.0, |most, x| x.abs().max(most))
    }

    /// NaVARo with its inner loops closed by links B-C: joint C and half of link C-E stand between them and the closures.
    fn closed_by_other_links() -> crate::Robot {
        let named = "[elastic]\ndependent = [\"11\", \"13\", \"15\", \"21\", \"23\", \"25\", \"31\", \"33\", \"35\"]";
        let text = crate::robots::text("navaro").expect("shipped").replace("[elastic]", named);
        crate::Robot::from_toml("navaro", &text, &crate::description::ReadOptions::default(), None).expect("correct")
    }

    /// The road of the literature, (11.26)-(11.27): matrices of the cut robot between closing matrices that satisfy (10.107).
    #[test]
    fn matrices_are_those_of_the_cut_robot_closed_afterwards() {
        let shipped = |name: &str| crate::Robot::shipped(name).expect("shipped");
        let mut between = Vec::new();
        for (robot, actuators) in [
            (shipped("navaro"), Actuators::Locked),
            (shipped("navaro-refined"), Actuators::Elastic),
            (shipped("five-bar-flexible"), Actuators::Elastic),
            (shipped("dual-emps"), Actuators::Free),
            (closed_by_other_links(), Actuators::Locked),
        ] {
            let (model, pos) = (robot.model(), robot.home().positions());
            let plan = RelativePlan::new(model, actuators, pos).expect("flexible");
            let RelativeMatrices { K, M, J } = relative_matrices(model, &plan, pos);
            let cut = cut(&plan);
            let solver = Solver::new(model, &cut, pos);
            assert!(largest(&solver.open(&solver.jacobians()).times(&J)) < 1e-12 * largest(&J), "{}", robot.name());
            let [M_tot, K_tot] = solver.forms();
            for (A, A_tot) in [(&M, &M_tot), (&K, &K_tot)] {
                let wanted = J.transposed().times(&A_tot.times(&J));
                assert!(largest(&A.clone().minus(&wanted)) < 1e-12 * largest(A), "{}", robot.name());
                assert!(largest(&A.clone().minus(&A.transposed())) < 1e-12 * largest(A), "{}", robot.name());
            }
            between.push(plan.carriers.iter().map(|c| c.back.len()).sum::<usize>());
        }
        assert_eq!(between.last(), Some(&(3 * 7)));
    }
}
