//! The same matrices in recursive relative coordinates: joints, elastic displacements of every element seen from the one
//! before it, the platform; loops closed by elimination, sections 4 to 6 and 11.
//!
//! This is the road of the literature. It meets the same frequencies with more coordinates and more operations, so that it
//! serves as the second road: [`RelativePlan`] counts what is eliminated and gives the same kind of matrices.

use super::beam::ClampedBeam;
use super::error::ElasticError;
use super::numbers::{Column, ElasticNumbers, ElementNumbers, Sight, beam_data};
use super::plan::{Actuators, ElasticPlan, Element, Host, LinkJoint, Place, Variable};
use crate::kinematics::Positions;
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{BodyId, ClosureId, CoordId, Model};
use crate::scalar::Real;
use crate::spatial::{Pose, Twist};

/// A coordinate of the cut robot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coordinate {
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
}

/// One vector equation: a frame, moved over the freedoms of the cut joint or not, is the frame it closes on.
#[derive(Clone, Debug)]
struct Closing {
    closure: ClosureId,
    /// The frame that must arrive.
    frame: usize,
    /// What it must be: a frame, or the intermediary frame of the closure, which stands where the second side does.
    target: Option<usize>,
    /// The freedoms of the joint lie in this equation.
    cut: bool,
    /// First coordinate of the element whose displacement is eliminated in closed form, its components, and its tip.
    element: Option<(Vec<usize>, Vec<usize>, usize)>,
}

/// Plan of the relative coordinates.
#[derive(Clone, Debug)]
pub struct RelativePlan {
    nodal: ElasticPlan,
    coordinates: Vec<Coordinate>,
    closings: Vec<Closing>,
    /// Equations that no element answers for: pivots found by rank.
    order: PivotOrder,
    independent: Vec<usize>,
    /// Components of displacements: six, or three in the plane.
    components: Vec<Vec<usize>>,
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
            closings: Vec::new(),
            order: PivotOrder::default(),
            independent: Vec::new(),
            nodal,
            coordinates,
            components,
        };
        plan.closings = plan.closings(model);
        plan.choose_elements(model);
        while let Some(bad) = Solver::new(model, &plan, pos).unsuited() {
            plan.closings[bad].element = None;
        }
        let solver = Solver::new(model, &plan, pos);
        let (known, open) = solver.eliminate_elements();
        plan.order = plan.pivots(&open, &known);
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
    pub fn coordinates(&self) -> &[Coordinate] {
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
            Coordinate::Joint(c) => format!("q{}", t.coords[c].name),
            Coordinate::Beam(b, piece, k) => format!("{}[{}].{}", t.bodies[b].name, piece + 1, component(k)),
            Coordinate::Mode(h, k) => format!("mode {} of {}", k + 1, t.node_name(h.node())),
            Coordinate::Platform(k) => format!("{}.{}", t.node_name(Host::Platform.node()), component(k)),
            Coordinate::Inner(c, k) => format!("frame of {}.{}", t.closures[c].name, component(k)),
            Coordinate::Cut(c, k) => format!("{}.{}", t.closures[c].name, k + 1),
        }
    }

    /// Coordinates of a piece of a beam with their components.
    fn displacement(&self, body: BodyId, piece: usize) -> Vec<(usize, usize)> {
        (0..6).filter_map(|k| Some((self.place(Coordinate::Beam(body, piece, k))?, k))).collect()
    }

    fn place(&self, c: Coordinate) -> Option<usize> {
        self.coordinates.iter().position(|x| *x == c)
    }

    /// A closure between two bodies closes on an intermediary frame, one on base or platform on that.
    fn closings(&self, model: &Model<f64>) -> Vec<Closing> {
        let t = model.topology();
        let mut list = Vec::new();
        for link in &self.nodal.links {
            let LinkJoint::Closure(closure) = link.joint else { continue };
            let [a, b] = link.frames;
            let outer = |f: usize| !matches!(self.nodal.frames[f].place.host(), crate::model::Node::Body(_));
            let closing =
                |frame: usize, target: Option<usize>, cut: bool| Closing { closure, frame, target, cut, element: None };
            debug_assert!(!t.closures[closure].tool);
            match (outer(a), outer(b)) {
                (false, false) => list.extend([closing(a, None, true), closing(b, None, false)]),
                (false, true) => list.push(closing(a, Some(b), true)),
                _ => list.push(closing(b, Some(a), true)),
            }
        }
        // Inner loops first: what hangs behind them is closed in terms of them.
        list.sort_by_key(|c| c.target.is_some());
        list
    }

    /// The last piece of a beam before each closure; each is eliminated once. A file may name the bodies instead.
    fn choose_elements(&mut self, model: &Model<f64>) {
        let t = model.topology();
        let named: Option<Vec<BodyId>> =
            model.description().elastic.dependent.as_ref().map(|l| l.iter().filter_map(|n| t.body(&n.text)).collect());
        let mut taken: Vec<(BodyId, usize)> = Vec::new();
        for k in 0..self.closings.len() {
            let mut at = self.nodal.frames[self.closings[k].frame].place;
            let found = loop {
                match at {
                    Place::Node(b, node) if node > 0 => {
                        let free = !taken.contains(&(b, node - 1)) && named.as_ref().is_none_or(|l| l.contains(&b));
                        if free {
                            break Some((b, node - 1));
                        }
                        at = Place::Node(b, node - 1);
                    }
                    Place::Node(b, _) | Place::Whole(Host::Body(b)) | Place::Point(Host::Body(b), _) => {
                        at = self.parent(b);
                    }
                    _ => break None,
                }
            };
            let Some((body, piece)) = found else { continue };
            taken.push((body, piece));
            let components = self.components[self.frame(Place::Node(body, piece))].clone();
            let columns = components.iter().filter_map(|c| self.place(Coordinate::Beam(body, piece, *c))).collect();
            let tip = self.frame(Place::Node(body, piece + 1));
            self.closings[k].element = Some((columns, components, tip));
        }
    }

    /// The frame that carries a body.
    fn parent(&self, b: BodyId) -> Place {
        let link = self.nodal.links.iter().find(|l| l.joint == LinkJoint::Tree(b));
        link.map_or(Place::World, |l| self.nodal.frames[l.frames[0]].place)
    }

    fn frame(&self, place: Place) -> usize {
        self.nodal.frames.iter().position(|f| f.place == place).unwrap_or(0)
    }

    /// Pivots of the equations that are left: freedoms of cut joints first, then passive joints, then the others.
    fn pivots(&self, open: &Dense<f64>, known: &[usize]) -> PivotOrder {
        let stage = |k: usize| match self.coordinates[k] {
            Coordinate::Cut(..) => 0,
            Coordinate::Joint(_) | Coordinate::Inner(..) => 1,
            Coordinate::Platform(_) => 3,
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
    let (mut M, mut K) = solver.tree_matrices();
    let J = solver.closing_matrix();
    for A in [&mut K, &mut M] {
        *A = J.transposed().times(&A.times(&J)); // (11.26)-(11.27)
    }
    RelativeMatrices { K, M, J }
}

/// In-plane components of the displacements at each frame.
fn frame_components(
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

fn coordinates(model: &Model<f64>, plan: &ElasticPlan, components: &[Vec<usize>]) -> Vec<Coordinate> {
    let mut list: Vec<Coordinate> = Vec::new();
    let mut add = |c: Coordinate| {
        if !list.contains(&c) {
            list.push(c);
        }
    };
    for link in &plan.links {
        for (v, _) in &link.columns {
            match v {
                Variable::Joint(c) => add(Coordinate::Joint(*c)),
                Variable::Mode(h, k) => add(Coordinate::Mode(*h, *k)),
                Variable::Cut(c, k) => add(Coordinate::Cut(*c, *k)),
                Variable::Root(..) => {}
            }
        }
        if let LinkJoint::Closure(c) = link.joint
            && link.frames.iter().all(|f| matches!(plan.frames[*f].place.host(), crate::model::Node::Body(_)))
        {
            components[link.frames[1]].iter().for_each(|k| add(Coordinate::Inner(c, *k)));
        }
    }
    for e in &plan.elements {
        if let Element::Beam { body, ends } = e
            && let Place::Node(_, piece) = plan.frames[ends[0]].place
        {
            components[ends[0]].iter().for_each(|k| add(Coordinate::Beam(*body, piece, *k)));
        }
    }
    if model.topology().platform.tool.is_none() {
        let platform = plan.frames.iter().position(|f| f.place == Place::Whole(Host::Platform)).unwrap_or(0);
        components[platform].iter().for_each(|k| add(Coordinate::Platform(*k)));
    }
    list
}

/// One posture: Jacobians of all frames, (10.78).
struct Solver<'a, S: Real, P: Sight<S>> {
    model: &'a Model<S>,
    plan: &'a RelativePlan,
    pos: &'a P,
    numbers: ElasticNumbers<S>,
    /// Motion of each frame in its own axes, by coordinate.
    J_t: Vec<Vec<Column<S>>>,
}

impl<'a, S: Real, P: Sight<S>> Solver<'a, S, P> {
    fn new(model: &'a Model<S>, plan: &'a RelativePlan, pos: &'a P) -> Self {
        let numbers = ElasticNumbers::new(model, &plan.nodal);
        let zero = vec![[S::zero(); 6]; plan.coordinates.len()];
        let mut s = Self { model, plan, pos, numbers, J_t: vec![zero; plan.nodal.frames.len()] };
        if let Some(f) = plan.nodal.frames.iter().position(|f| f.place == Place::Whole(Host::Platform)) {
            for k in 0..6 {
                if let Some(c) = plan.place(Coordinate::Platform(k)) {
                    s.J_t[f][c][k] = S::one();
                }
            }
        }
        s.recursion();
        s
    }

    fn spot(&self, f: usize) -> P::Spot {
        self.numbers.spot(&self.plan.nodal, f, self.pos)
    }

    /// A frame seen from another.
    fn seen(&self, from: usize, to: usize) -> Pose<S> {
        self.pos.seen(&self.spot(from), &self.spot(to))
    }

    /// Every frame from the one that carries it: over joints, along beams, to points of modal bodies.
    fn recursion(&mut self) {
        let nodal = &self.plan.nodal;
        for link in nodal.links.iter().filter(|l| !matches!(l.joint, LinkJoint::Closure(_))) {
            let [from, to] = link.frames;
            let mut J = self.carried(from, to);
            for (v, screw) in &link.columns {
                let (at, V) = self.numbers.screw(self.model, nodal, screw, self.pos);
                let V = self.pos.seen(&at, &self.spot(to)).pull(V).to_array();
                let c = match v {
                    Variable::Joint(c) => Coordinate::Joint(*c),
                    Variable::Mode(h, k) => Coordinate::Mode(*h, *k),
                    _ => continue,
                };
                if let Some(c) = self.plan.place(c) {
                    J[c].iter_mut().zip(V).for_each(|(x, y)| *x += y);
                }
            }
            self.J_t[to] = J;
            if let LinkJoint::Tree(body) = link.joint {
                self.along_beam(body);
            }
        }
    }

    /// `T̄ J_t` of the frame before.
    fn carried(&self, from: usize, to: usize) -> Vec<Column<S>> {
        let X = self.seen(from, to);
        self.J_t[from].iter().map(|c| X.pull(Twist::from_array(*c)).to_array()).collect()
    }

    /// `Φ(A) = 1₆`: the far node adds its own displacement.
    fn along_beam(&mut self, body: BodyId) {
        for piece in 1..self.plan.nodal.meshes[body].len() {
            let (from, to) = (self.plan.frame(Place::Node(body, piece - 1)), self.plan.frame(Place::Node(body, piece)));
            let mut J = self.carried(from, to);
            for (c, k) in self.plan.displacement(body, piece - 1) {
                J[c][k] += S::one();
            }
            self.J_t[to] = J;
        }
    }

    /// `M_tot = Σ Jᵀ M J`, `K_tot`, (11.21)-(11.23).
    fn tree_matrices(&self) -> (Dense<S>, Dense<S>) {
        let n = self.plan.coordinates.len();
        let (mut M, mut K) = (Dense::zeros(n, n), Dense::zeros(n, n));
        for (element, numbers) in self.plan.nodal.elements.iter().zip(&self.numbers.elements) {
            self.add_element(element, numbers, &mut M, &mut K);
        }
        (M, K)
    }

    fn add_element(&self, element: &Element, numbers: &ElementNumbers<S>, M: &mut Dense<S>, K: &mut Dense<S>) {
        let n = self.plan.coordinates.len();
        let place = |c: Coordinate| self.plan.place(c);
        match (element, numbers) {
            (Element::Beam { body, ends }, ElementNumbers::Beam(nodal)) => {
                let l = self.numbers.X_HF[ends[0]].apply_inv(self.numbers.X_HF[ends[1]].p).x;
                let data = beam_data(self.model, *body, l);
                let J = [&self.J_t[ends[0]], &self.J_t[ends[1]]];
                if data.shear.is_some() {
                    // The nodal form on both ends: the clamped one is closed without shear only.
                    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        add_product(M, J[a], J[b], &nodal.M[a][b]);
                        add_product(K, J[a], J[b], &nodal.K[a][b]);
                    }
                    return;
                }
                let Place::Node(_, piece) = self.plan.nodal.frames[ends[0]].place else { return };
                let clamped = ClampedBeam::new(&data);
                let mut q_e = vec![[S::zero(); 6]; n];
                self.plan.displacement(*body, piece).iter().for_each(|(c, k)| q_e[*c][*k] = S::one());
                add_inertia(M, J[0], &clamped.rigid);
                add_product(M, J[0], &q_e, &clamped.M_re);
                add_product(M, &q_e, J[0], &transposed(&clamped.M_re));
                add_product(M, &q_e, &q_e, &clamped.M_ee);
                add_product(K, &q_e, &q_e, &clamped.K_ee);
            }
            (
                Element::Rigid { frame, .. } | Element::Lump { frame, .. } | Element::Load { frame },
                ElementNumbers::Inertia(I),
            ) => add_inertia(M, &self.J_t[*frame], I),
            (Element::Modal { host, frame }, ElementNumbers::Modal(body)) => {
                let J = &self.J_t[*frame];
                add_inertia(M, J, &body.rigid);
                let slots: Vec<Option<usize>> =
                    (0..body.stiffness.len()).map(|k| place(Coordinate::Mode(*host, k))).collect();
                for (k, slot) in slots.iter().enumerate() {
                    let Some(slot) = *slot else { continue };
                    for (i, t) in J.iter().enumerate() {
                        let x = super::assemble::dot(t, &body.M_re[k]);
                        *M.at_mut(i, slot) += x;
                        *M.at_mut(slot, i) += x;
                    }
                    *K.at_mut(slot, slot) += body.stiffness[k];
                    for (h, other) in slots.iter().enumerate() {
                        if let Some(other) = *other {
                            *M.at_mut(slot, other) += body.M_ee[k * slots.len() + h];
                        }
                    }
                }
            }
            (Element::Spring(c) | Element::Transmission(c), ElementNumbers::Stiffness(k)) => {
                if let Some(c) = place(Coordinate::Joint(*c)) {
                    *K.at_mut(c, c) += *k;
                }
            }
            (Element::Rotor(c), ElementNumbers::Rotor(I)) => {
                if let Some(c) = place(Coordinate::Joint(*c)) {
                    *M.at_mut(c, c) += *I;
                }
            }
            _ => {}
        }
    }

    /// One vector equation in the axes of the frame that arrives: `T - T̄_target - Σ s q = 0`.
    fn rows(&self, closing: &Closing) -> Vec<Column<S>> {
        let numbers = self.model.numbers();
        let mut rows = self.J_t[closing.frame].clone();
        let mut subtract = |c: usize, V: Twist<S>| {
            rows[c].iter_mut().zip(V.to_array()).for_each(|(x, y)| *x -= y);
        };
        let link = self.plan.nodal.links.iter().find(|l| l.joint == LinkJoint::Closure(closing.closure));
        let Some(link) = link else { return rows };
        if let Some(target) = closing.target {
            let X = self.seen(target, closing.frame);
            for (c, t) in self.J_t[target].iter().enumerate() {
                subtract(c, X.pull(Twist::from_array(*t)));
            }
        } else {
            let X = self.seen(link.frames[1], closing.frame);
            for k in 0..6 {
                if let Some(c) = self.plan.place(Coordinate::Inner(closing.closure, k)) {
                    let mut t = [S::zero(); 6];
                    t[k] = S::one();
                    subtract(c, X.pull(Twist::from_array(t)));
                }
            }
        }
        if closing.cut {
            for (v, screw) in &link.columns {
                let Variable::Cut(c, k) = v else { continue };
                let (at, V) = self.numbers.screw(self.model, &self.plan.nodal, screw, self.pos);
                if let Some(slot) = self.plan.place(Coordinate::Cut(*c, *k)) {
                    subtract(slot, self.pos.seen(&at, &self.spot(closing.frame)).pull(V));
                }
            }
        }
        debug_assert!(!numbers.bodies.is_empty());
        rows
    }

    /// Displacements eliminated in closed form and what they are by the other coordinates: with `ρ` from the tip of the
    /// element to the frame, `(J^f)⁻¹ = [Rᵀ ρ̂Rᵀ; 0 Rᵀ]`, (10.113), which is the motion of the frame seen from the tip. Also by
    /// how much the block of each element misses the unit matrix: not at all unless both sides of a loop hang on it.
    fn elements(&self) -> (Vec<usize>, Dense<S>, Vec<(usize, S)>) {
        let n = self.plan.coordinates.len();
        let mut known: Vec<usize> = Vec::new();
        let mut misses = Vec::new();
        let mut by = Dense::zeros(n, n);
        for (number, closing) in self.plan.closings.iter().enumerate() {
            let Some((columns, components, tip)) = &closing.element else { continue };
            let rows = substituted(self.rows(closing), &known, &by);
            let X_FT = self.seen(closing.frame, *tip);
            let seen: Vec<Column<S>> = rows.iter().map(|c| X_FT.pull(Twist::from_array(*c)).to_array()).collect();
            for (own, k) in columns.iter().zip(components) {
                let unit = |i: usize| if i == *k { S::one() } else { S::zero() };
                misses.extend(components.iter().map(|i| (number, seen[*own][*i] - unit(*i))));
            }
            for (c, column) in seen.iter().enumerate().filter(|(c, _)| !columns.contains(c) && !known.contains(c)) {
                for (own, k) in columns.iter().zip(components) {
                    *by.at_mut(*own, c) = -column[*k];
                }
            }
            // What was eliminated before may look at these.
            for &d in &known {
                for &own in columns {
                    let x = by.at(d, own);
                    *by.at_mut(d, own) = S::zero();
                    (0..n).for_each(|c| {
                        let y = by.at(own, c);
                        *by.at_mut(d, c) += x * y;
                    });
                }
            }
            known.extend(columns);
        }
        (known, by, misses)
    }

    /// What is eliminated in closed form, and the equations that are left.
    fn eliminate_elements(&self) -> (Vec<usize>, Dense<S>) {
        let (known, by, _) = self.elements();
        (known.clone(), self.open(&known, &by))
    }

    fn open(&self, known: &[usize], by: &Dense<S>) -> Dense<S> {
        let left: Vec<&Closing> = self.plan.closings.iter().filter(|c| c.element.is_none()).collect();
        let mut open = Dense::zeros(6 * left.len(), self.plan.coordinates.len());
        for (k, closing) in left.into_iter().enumerate() {
            let rows = substituted(self.rows(closing), known, by);
            for (c, column) in rows.iter().enumerate() {
                (0..6).for_each(|i| *open.at_mut(6 * k + i, c) = column[i]);
            }
        }
        open
    }

    /// All coordinates by the independent ones.
    fn closing_matrix(&self) -> Dense<S> {
        let (known, by, _) = self.elements();
        let mut open = self.open(&known, &by);
        let order = &self.plan.order;
        order.eliminate(&mut open, &mut Vec::new());
        let mut J = Dense::zeros(self.plan.coordinates.len(), self.plan.independent.len());
        for (k, &v) in self.plan.independent.iter().enumerate() {
            *J.at_mut(v, k) = S::one();
            for (&i, &j) in order.rows.iter().zip(&order.cols) {
                *J.at_mut(j, k) = -open.at(i, v);
            }
            for &d in &known {
                let direct = by.at(d, v);
                let through = order.cols.iter().fold(S::zero(), |sum, &j| sum + by.at(d, j) * J.at(j, k));
                *J.at_mut(d, k) = direct + through;
            }
        }
        J
    }
}

/// Rows with the known displacements replaced.
fn substituted<S: Real>(mut rows: Vec<Column<S>>, known: &[usize], by: &Dense<S>) -> Vec<Column<S>> {
    for &d in known {
        let own = rows[d];
        rows[d] = [S::zero(); 6];
        for (c, row) in rows.iter_mut().enumerate() {
            let x = by.at(d, c);
            row.iter_mut().zip(own).for_each(|(r, y)| *r += x * y);
        }
    }
    rows
}

impl<P: Sight<f64>> Solver<'_, f64, P> {
    /// An equation whose element cannot be eliminated in closed form.
    fn unsuited(&self) -> Option<usize> {
        let (_, _, misses) = self.elements();
        misses.into_iter().find(|(_, miss)| !(miss.abs() < 1e-9)).map(|(k, _)| k)
    }
}

fn transposed<S: Real>(A: &[[S; 6]; 6]) -> [[S; 6]; 6] {
    std::array::from_fn(|i| std::array::from_fn(|j| A[j][i]))
}

/// `out += leftᵀ A right`.
fn add_product<S: Real>(out: &mut Dense<S>, left: &[Column<S>], right: &[Column<S>], A: &[[S; 6]; 6]) {
    for (j, y) in right.iter().enumerate() {
        let Ay: Column<S> = std::array::from_fn(|i| super::assemble::dot(&A[i], y));
        for (i, x) in left.iter().enumerate() {
            *out.at_mut(i, j) += super::assemble::dot(x, &Ay);
        }
    }
}

fn add_inertia<S: Real>(out: &mut Dense<S>, J: &[Column<S>], inertia: &crate::spatial::Inertia<S>) {
    for (j, y) in J.iter().enumerate() {
        let My = super::assemble::inertia_times(inertia, y);
        for (i, x) in J.iter().enumerate() {
            *out.at_mut(i, j) += super::assemble::dot(x, &My);
        }
    }
}
