//! The closed robot: which coordinates depend on the others, reduced inertia and forces, accelerations and efforts, (10.109)-(10.125).

use super::loops::LoopEquations;
use super::plan::{FlexibleModel, FlexiblePlan};
use super::recursion::{FlexibleData, FlexiblePositions};
use super::reduce::{Dependence, ReducedEquations};
use super::rotation::ElasticTurn;
use crate::dynamics::Sign;
use crate::elastodynamics::error::ElasticError;
use crate::kinematics::Posture;
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::{Dense, PivotOrder, lu_solve_transposed};
use crate::model::{CoordId, Model, Node};
use crate::spatial::{Pose, Twist, Vec3, Wrench};

/// Loops are closed when no gap is larger, metres over the length of the robot, or radians.
const CLOSED: f64 = 1e-12;

/// Loops that cannot be closed further and are no farther than this are taken as closed: rounding of what was given.
const NEARLY: f64 = 1e-9;

/// Loops that are open by a tenth of this or farther are not approached by the Jacobian of another state.
const NEAR: f64 = 1e-2;

/// What a step by it leaves of a gap, at most, for another to be taken.
const LEADS_ON: f64 = 0.1;

/// Most of these steps.
const MOST_APPROACHES: usize = 6;

/// Most steps of Newton's method on the loops.
const MOST_STEPS: usize = 50;

/// A state of a flexible robot: coordinates and rates in the order of [`FlexibleModel::coordinates`].
#[derive(Clone, PartialEq, Debug)]
pub struct FlexibleState {
    /// Where everything is.
    pub at: FlexiblePositions<f64>,
    /// Rates of the coordinates; of the platform its twist in world axes.
    pub rates: Vec<f64>,
}

impl FlexibleState {
    /// At rest and undeformed at a posture of the rigid robot.
    pub fn rest(flexible: &FlexibleRobot<'_>, posture: &Posture) -> Self {
        let (model, own) = (flexible.model, &flexible.flexible);
        let mut q = vec![0.0; own.coordinates().len()];
        for c in model.topology().coords.ids() {
            for slot in own.joints(&[c]) {
                q[slot] = posture.joints(model, &[c])[0];
            }
        }
        Self { rates: vec![0.0; q.len()], at: FlexiblePositions { q, X_WE: *posture.pose() } }
    }
}

/// A flexible robot ready to be asked, with the memory of one computation.
#[derive(Clone, Debug)]
#[allow(clippy::struct_field_names)]
pub struct FlexibleRobot<'m> {
    pub(super) model: &'m Model<f64>,
    pub(super) plan: FlexiblePlan,
    pub(super) flexible: FlexibleModel<f64>,
    pub(super) data: FlexibleData<f64>,
    loops: LoopEquations<f64>,
    order: PivotOrder,
    independent: Vec<usize>,
    /// What makes a row of the loops comparable: one over the length of the robot, or one.
    row_scale: Vec<f64>,
    /// The loops solved for the dependent coordinates: factors of pivot rows and columns of their Jacobian, in the order of pivots.
    factors: Vec<f64>,
    /// Damping and stiffness of all coordinates.
    elastic: [Dense<f64>; 2],
    /// Wrenches from outside in world axes, on the platform or at the origin of a body's joint frame.
    loads: Vec<(Node, Wrench<f64>)>,
}

impl<'m> FlexibleRobot<'m> {
    /// Plan at a posture of the rigid robot.
    pub fn new(model: &'m Model<f64>, posture: &Posture) -> Result<Self, ElasticError> {
        let plan = FlexiblePlan::new(model, posture.positions())?;
        let flexible = FlexibleModel::new(model, &plan);
        let (data, loops) = (flexible.data(), flexible.loop_equations());
        let scale = model.length().recip();
        let row_scale = flexible.row_is_length().iter().map(|l| if *l { scale } else { 1.0 }).collect();
        let (order, independent, factors, loads) = (PivotOrder::default(), Vec::new(), Vec::new(), Vec::new());
        let elastic = flexible.elastic_matrices();
        let mut this =
            Self { model, plan, flexible, data, loops, order, independent, row_scale, factors, elastic, loads };
        let rest = FlexibleState::rest(&this, posture);
        this.look(&rest);
        this.choose();
        this.factor();
        Ok(this)
    }

    /// The model that it asks.
    pub fn model(&self) -> &'m Model<f64> {
        self.model
    }

    /// Coordinates, frames and constants.
    pub fn flexible(&self) -> &FlexibleModel<f64> {
        &self.flexible
    }

    /// Places of the independent coordinates, in order.
    pub fn independent(&self) -> &[usize] {
        &self.independent
    }

    /// Wrenches from outside, in world axes: on the platform at its origin, on bodies at the origins of their joint frames.
    pub fn load(&mut self, loads: &[(Node, Wrench<f64>)]) {
        self.loads = loads.to_vec();
    }

    /// Place all frames and write the equations of the loops.
    fn look(&mut self, state: &FlexibleState) {
        self.flexible.place_frames(&state.at, &mut self.data);
        self.flexible.close(&self.data, &mut self.loops);
    }

    /// Move all frames, which are placed, and write what the loops accelerate by.
    fn run(&mut self, state: &FlexibleState) {
        self.flexible.move_frames(&state.at, &state.rates, &mut self.data);
        self.flexible.drift(&self.data, &mut self.loops);
    }

    /// Solve the loops for the dependent coordinates, where frames are placed.
    fn factor(&mut self) {
        let depends = Dependence { order: &self.order, independent: &self.independent };
        depends.factor(&self.loops, &mut self.factors);
    }

    fn depends(&self) -> Dependence<'_> {
        Dependence { order: &self.order, independent: &self.independent }
    }

    /// What the dependent coordinates do so that rows of the loops that are given vanish.
    fn answering(&self, rows: impl Fn(usize) -> f64) -> Vec<f64> {
        self.depends().answering(&self.factors, rows)
    }

    /// A row of the loops on the independent coordinates.
    fn opened(&self, row: usize, own: &[f64]) -> f64 {
        self.depends().opened(&self.loops, row, |k| own[k])
    }

    /// Which coordinates depend on the others: passive joints first, then the platform, then what is elastic; a file may name bodies
    /// whose displacements come first.
    fn choose(&mut self) {
        let t = self.model.topology();
        let own = &self.flexible;
        let named = self.model.description().elastic.dependent.as_ref();
        let bodies: Vec<_> = named.into_iter().flatten().filter_map(|n| t.body(&n.text)).collect();
        let first = |k: &usize| matches!(own.coordinates()[*k], super::plan::MotionCoordinate::Beam(b, ..) if bodies.contains(&b));
        let stages = [
            (0..own.coordinates().len()).filter(first).collect(),
            own.joints(&t.passive),
            own.platform(),
            own.elastic().into_iter().filter(|k| !first(k)).collect(),
            own.joints(&t.active),
        ];
        let stages: Vec<&[usize]> = stages.iter().map(|s: &Vec<usize>| s.as_slice()).collect();
        self.order = PivotOrder::staged(&self.loops.J, &stages, RANK_TOLERANCE);
        let dependent = &self.order.cols;
        self.independent = (0..own.coordinates().len()).filter(|k| !dependent.contains(k)).collect();
    }

    /// Largest gap of the loops, lengths over the length of the robot.
    fn gap(&self) -> f64 {
        self.loops.gap.iter().zip(&self.row_scale).map(|(g, s)| g.abs() * s).fold(0.0, f64::max)
    }

    /// Columns of the Jacobian of the loops.
    fn columns(&self, slots: &[usize]) -> Matrix {
        Matrix::from_fn(self.loops.J.rows, slots.len(), |i, j| self.loops.J.at(i, slots[j]))
    }

    /// Close the loops by these coordinates, the others staying where they are: the shortest step where several would do.
    pub fn close_by(&mut self, state: &mut FlexibleState, slots: &[usize]) -> Result<(), ElasticError> {
        let mut before = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            self.look(state);
            let gap = self.gap();
            if gap < CLOSED || (gap < NEARLY && gap > 0.5 * before) {
                return Ok(());
            }
            if !gap.is_finite() || gap > 1e3 * before {
                break;
            }
            before = gap;
            let step = svd(&self.columns(slots)).least_squares(&self.loops.gap);
            self.advance(&mut state.at, slots.iter().copied().zip(step.iter().map(|x| -x)));
        }
        Err(ElasticError::NotClosed { gap: before })
    }

    /// Rates of these coordinates that keep the loops closed while the others move as they do.
    pub fn follow_by(&mut self, state: &mut FlexibleState, slots: &[usize]) -> Result<(), ElasticError> {
        slots.iter().for_each(|k| state.rates[*k] = 0.0);
        self.look(state);
        let opening = self.loops.J.apply(&state.rates);
        let rates = svd(&self.columns(slots)).least_squares(&opening);
        slots.iter().zip(&rates).for_each(|(k, x)| state.rates[*k] = -x);
        let left = self.loops.J.apply(&state.rates).iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let size = state.rates.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        if left > NEARLY * size { Err(ElasticError::NotClosed { gap: left }) } else { Ok(()) }
    }

    /// Add steps to coordinates; those of the platform move its pose, turning it about world axes.
    pub(super) fn advance(&self, at: &mut FlexiblePositions<f64>, step: impl IntoIterator<Item = (usize, f64)>) {
        let mut moved = Twist::zero();
        for (slot, x) in step {
            at.q[slot] += x;
            if let super::plan::MotionCoordinate::Platform(k) = self.flexible.coordinates()[slot] {
                moved = moved + crate::elastodynamics::numbers::unit(k).scale(x);
            }
        }
        if self.flexible.platform.is_none() {
            return;
        }
        let turn = ElasticTurn::new(moved.w * (1.0 / (1.0 + moved.w.norm())), Vec3::zeros()).R;
        at.X_WE = Pose { R: turn * at.X_WE.R, p: at.X_WE.p + moved.v };
    }

    /// Move independent coordinates, and the dependent ones as the loops wanted where they were looked at last: a first guess.
    pub(crate) fn lead(&self, state: &mut FlexibleState, slots: &[usize], moved: &[f64]) {
        let J = &self.loops.J;
        let x = self.answering(|i| slots.iter().zip(moved).map(|(k, x)| J.at(i, *k) * x).sum());
        let own = slots.iter().copied().zip(moved.iter().copied());
        self.advance(&mut state.at, own.chain(self.order.cols.iter().copied().zip(x)));
    }

    /// Close the loops nearly, as the Jacobian of the last state leads while that leads on quickly: poses are all it needs.
    fn approach(&mut self, state: &mut FlexibleState) {
        if self.order.cols.is_empty() {
            return;
        }
        let (mut before, mut stood) = (NEAR, None);
        for _ in 0..MOST_APPROACHES {
            self.flexible.place_poses(&state.at, &mut self.data);
            self.flexible.gaps(&self.data, &mut self.loops);
            let gap = self.gap();
            if !(gap < LEADS_ON * before) {
                if let Some(at) = stood.filter(|_| !(gap < before)) {
                    state.at = at;
                }
                return;
            }
            if gap < CLOSED {
                return;
            }
            let step = self.answering(|i| self.loops.gap[i]);
            stood = Some(state.at.clone());
            self.advance(&mut state.at, self.order.cols.iter().copied().zip(step));
            before = gap;
        }
    }

    /// Dependent coordinates and rates from the independent ones, near where they are.
    pub fn complete(&mut self, state: &mut FlexibleState) -> Result<(), ElasticError> {
        self.approach(state);
        let mut before = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            self.look(state);
            self.factor();
            let gap = self.gap();
            let step = self.answering(|i| self.loops.gap[i]);
            // Stiff bodies feel the last digits of their displacements: a step that is known is taken.
            self.advance(&mut state.at, self.order.cols.iter().copied().zip(step));
            if gap < CLOSED || (gap < NEARLY && gap > 0.5 * before) {
                let own: Vec<f64> = self.independent.iter().map(|k| state.rates[*k]).collect();
                let rates = self.answering(|i| self.opened(i, &own));
                self.order.cols.iter().zip(rates).for_each(|(k, x)| state.rates[*k] = x);
                return Ok(());
            }
            if !gap.is_finite() || gap > 1e3 * before {
                break;
            }
            before = gap;
        }
        Err(ElasticError::NotClosed { gap: before })
    }

    /// `Jᵀ A J` of a symmetric matrix of all coordinates: `A_ii + Dᵀ P + Pᵀ D` with `P = A_di + ½ A_dd D`.
    fn reduced(&self, D: &Dense<f64>, A: &Dense<f64>) -> Dense<f64> {
        let (own, dependent) = (&self.independent, &self.order.cols);
        let (n, r) = (own.len(), dependent.len());
        let mut P: Vec<f64> = dependent.iter().flat_map(|d| own.iter().map(|i| A.at(*d, *i))).collect();
        for (row, d) in P.chunks_exact_mut(n.max(1)).zip(dependent) {
            for (k, e) in dependent.iter().enumerate().filter(|(_, e)| A.at(*d, **e) != 0.0) {
                add(row, 0.5 * A.at(*d, *e), &D.data[k * n..(k + 1) * n]);
            }
        }
        let mut half = Dense::zeros(n, n);
        for k in 0..r {
            for i in (0..n).filter(|i| D.at(k, *i) != 0.0) {
                add(&mut half.data[i * n..(i + 1) * n], D.at(k, i), &P[k * n..(k + 1) * n]);
            }
        }
        let mut out = Dense::zeros(n, n);
        for (i, s) in own.iter().enumerate() {
            for (j, t) in own.iter().enumerate() {
                *out.at_mut(i, j) = A.at(*s, *t) + half.at(i, j) + half.at(j, i);
            }
        }
        out
    }

    /// Inertia, damping and stiffness on the independent coordinates as the bodies have them, where [`complete`](Self::complete) has
    /// closed the loops last: what weight, rates and forces in the loops add is left out.
    #[doc(hidden)]
    pub fn matrices(&mut self, state: &FlexibleState) -> [Dense<f64>; 3] {
        self.flexible.cut_inertia(&state.at, &mut self.data);
        let D = self.depends().matrix_of_numbers(&self.loops, &self.factors);
        let n = self.independent.len();
        let still = || Dense::zeros(n, n);
        let [damping, stiffness] = &self.elastic;
        let damping = if self.is_damped() { self.reduced(&D, damping) } else { still() };
        [self.reduced(&D, &self.data.M), damping, self.reduced(&D, stiffness)]
    }

    /// Forces and matrices of the cut robot at a closed state, friction and loads with them.
    fn cut(&mut self, state: &FlexibleState, accelerations: Option<&[f64]>, friction: Option<Sign>) {
        self.flexible.cut_forces(&state.at, &state.rates, accelerations, &mut self.data);
        if let Some(sign) = friction {
            self.flexible.add_friction(self.model, &state.rates, sign, &mut self.data);
        }
        self.add_loads();
    }

    /// Equations of motion at a closed state; friction where a sign is given.
    pub fn equations(&mut self, state: &FlexibleState, friction: Option<Sign>) -> ReducedEquations {
        self.look(state);
        self.run(state);
        self.factor();
        self.cut(state, None, friction);
        self.flexible.cut_inertia(&state.at, &mut self.data);
        let D = self.depends().matrix_of_numbers(&self.loops, &self.factors);
        self.depends().equations(&D, &self.data, &self.loops, &self.factors)
    }

    /// What is out of balance on the independent coordinates of a state that [`complete`](Self::complete) has closed last, for their
    /// accelerations and efforts of the drives: `M q̈ + h - G τ` without any matrix of motion, (10.124).
    #[doc(hidden)]
    pub fn unbalanced(
        &mut self,
        state: &FlexibleState,
        own: &[f64],
        efforts: &[f64],
        friction: Option<Sign>,
    ) -> Vec<f64> {
        self.run(state);
        let mut all = vec![0.0; state.rates.len()];
        self.independent.iter().zip(own).for_each(|(k, a)| all[*k] = *a);
        let follows = self.answering(|i| self.loops.bias[i] + self.opened(i, own));
        self.order.cols.iter().zip(follows).for_each(|(k, a)| all[*k] = a);
        self.cut(state, Some(&all), friction);
        for (k, effort) in self.active().iter().zip(efforts) {
            self.data.c[*k] -= effort;
        }
        // c_i - J_iᵀ λ with J_dᵀ λ = c_d.
        let (r, c) = (self.order.rows.len(), &self.data.c);
        let mut lambda: Vec<f64> = self.order.cols.iter().map(|k| c[*k]).collect();
        lu_solve_transposed(&self.factors, r, &mut lambda);
        let mut left: Vec<f64> = self.independent.iter().map(|k| c[*k]).collect();
        for (i, l) in self.order.rows.iter().zip(&lambda) {
            let row = &self.loops.J.data[i * self.loops.J.cols..];
            left.iter_mut().zip(&self.independent).for_each(|(x, k)| *x -= l * row[*k]);
        }
        left
    }

    /// Power that damping takes from bodies that deform, and the twist of the platform, at the rates of a state that
    /// [`complete`](Self::complete) has closed last.
    pub(crate) fn losses(&mut self, state: &FlexibleState) -> (f64, Twist<f64>) {
        self.run(state);
        (self.flexible.damping_power(&state.rates), self.flexible.tool(&vec![0.0; state.rates.len()], &self.data).1)
    }

    /// What wrenches from outside do to each coordinate, subtracted.
    fn add_loads(&mut self) {
        for (node, F) in &self.loads {
            let (frame, X) = match node {
                Node::World => continue,
                Node::Platform => self.flexible.tool,
                Node::Body(b) => self.flexible.origins[*b],
            };
            let Some(f) = frame else { continue };
            let motion = &self.data.frames[f];
            let R = motion.X_WF.R;
            let F = Wrench { f: R.apply_inv(F.f), m: R.apply_inv(F.m) };
            for (slot, t) in self.flexible.frames[f].path.iter().zip(&motion.columns) {
                self.data.c[*slot] -= t.at(X.p).power(F);
            }
        }
    }

    /// Whether any body loses energy while it deforms.
    pub fn is_damped(&self) -> bool {
        self.flexible.masses.iter().any(|m| m.body.D_ee.iter().any(|d| *d != 0.0))
    }

    /// Columns of `G`: what the drives do to the independent coordinates.
    pub(super) fn drives(&self, equations: &ReducedEquations) -> Vec<Vec<f64>> {
        let slots = self.flexible.joints(&self.model.topology().active);
        slots.iter().map(|s| (0..equations.J.cols).map(|k| equations.J.at(*s, k)).collect()).collect()
    }

    /// Accelerations of the independent coordinates under efforts, `M q̈ = G τ - h`.
    pub fn accelerations(&self, equations: &ReducedEquations, efforts: &[f64]) -> Result<Vec<f64>, ElasticError> {
        let mut right: Vec<f64> = equations.h.iter().map(|h| -h).collect();
        for (column, effort) in self.drives(equations).iter().zip(efforts) {
            right.iter_mut().zip(column).for_each(|(r, g)| *r += g * effort);
        }
        let factor = ScaledCholesky::new(&equations.M).map_err(|at| self.massless(at))?;
        factor.solve(&mut right);
        Ok(right)
    }

    /// Accelerations of all coordinates of a closed state under efforts, without friction.
    pub fn all_accelerations(&mut self, state: &FlexibleState, efforts: &[f64]) -> Result<Vec<f64>, ElasticError> {
        let equations = self.equations(state, None);
        let own = self.accelerations(&equations, efforts)?;
        Ok(equations.all_accelerations(&own))
    }

    /// An independent coordinate that nothing resists.
    pub(crate) fn massless(&self, at: usize) -> ElasticError {
        ElasticError::NoInertia { what: self.flexible.coordinate_name(self.model, self.independent[at]) }
    }

    /// Joint coordinates that are neither driven nor held.
    pub(super) fn passive(&self) -> Vec<usize> {
        self.flexible.joints(&self.model.topology().passive)
    }

    /// Places of the active joints.
    pub(crate) fn active(&self) -> Vec<usize> {
        let list: &[CoordId] = &self.model.topology().active;
        self.flexible.joints(list)
    }
}

/// `x + f y`, in place.
fn add(x: &mut [f64], f: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += f * y);
}

/// Cholesky factor of a definite matrix scaled to a unit diagonal.
#[derive(Clone, Debug)]
pub struct ScaledCholesky {
    n: usize,
    L: Vec<f64>,
    scale: Vec<f64>,
}

/// Pivots below this, on a unit diagonal, are none.
const NO_PIVOT: f64 = 1e-14;

impl ScaledCholesky {
    /// Factor; where the matrix is not definite, the place of the pivot that is none.
    pub fn new(A: &Dense<f64>) -> Result<Self, usize> {
        let n = A.rows;
        let scale: Vec<f64> = (0..n).map(|i| A.at(i, i).sqrt().recip()).collect();
        if let Some(at) = scale.iter().position(|s| !s.is_finite()) {
            return Err(at);
        }
        let mut L = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let (a, b) = (&L[i * n..i * n + j], &L[j * n..j * n + j]);
                let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                let x = scale[i] * A.at(i, j) * scale[j] - dot;
                if i == j && !(x > NO_PIVOT) {
                    return Err(i);
                }
                L[i * n + j] = if i == j { x.sqrt() } else { x / L[j * n + j] };
            }
        }
        Ok(Self { n, L, scale })
    }

    /// An estimate of the condition of the scaled matrix, by its smallest pivot.
    pub(crate) fn condition(&self) -> f64 {
        let least = (0..self.n).map(|i| self.L[i * self.n + i]).fold(1.0, f64::min);
        least.powi(2).recip()
    }

    /// `A⁻¹ x` in place.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            let done: f64 = (0..i).map(|j| self.L[i * n + j] * x[j]).sum();
            x[i] = (x[i] * self.scale[i] - done) / self.L[i * n + i];
        }
        for i in (0..n).rev() {
            let done: f64 = (i + 1..n).map(|j| self.L[j * n + i] * x[j]).sum();
            x[i] = (x[i] - done) / self.L[i * n + i];
        }
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
    }
}
