//! Stiffness and mass of the robot around a posture, as block arrows, in any scalar.
//!
//! Frames are described in axes that go with the legs, so that most beams look the same at every posture. What does not
//! change is added up once; a posture renews only the blocks that a joint turns.

use super::beam::Mat6;
use super::closing::{closing_matrix, constraints};
use super::numbers::{ElasticNumbers, ElementNumbers, Sight, Vec6};
use super::plan::{Cluster, ElasticPlan, Element, LegOrTip, Variable};
use crate::kinematics::Positions;
use crate::linalg::arrow::Arrow;
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Accel, Inertia, Vec3};
use std::sync::Arc;

/// An elastic model in a scalar: the plan, its constants, and the matrices as far as no posture changes them.
#[derive(Clone, Debug)]
pub struct ElasticModel<S: Real> {
    plan: Arc<ElasticPlan>,
    numbers: ElasticNumbers<S>,
    /// Columns of the frames that are constant, loops closed.
    columns: Vec<Vec<Vec6<S>>>,
    K: Arrow<S>,
    M: Arrow<S>,
    /// Blocks to renew.
    moving: Vec<Term>,
    /// Frames whose columns they need.
    frames: Vec<usize>,
    /// Entries that they change.
    touched: Touched,
}

/// Entries of an arrow: of each leg alone, of each leg and the border, of the tip.
#[derive(Clone, Debug, Default)]
struct Touched {
    own: Vec<Vec<usize>>,
    border: Vec<Vec<usize>>,
    tip: Vec<usize>,
}

/// A block of an element: which of its ends, their frames (none for springs and rotors, which look at a variable) and
/// clusters.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Term {
    element: usize,
    ends: [usize; 2],
    frames: [Option<usize>; 2],
    clusters: [usize; 2],
}

impl Term {
    fn transposed(self) -> Self {
        let turned = |[a, b]: [usize; 2]| [b, a];
        let [f, g] = self.frames;
        Self { element: self.element, ends: turned(self.ends), frames: [g, f], clusters: turned(self.clusters) }
    }
}

/// The block of two clusters lies below the diagonal of the arrow, or on it. The border of a leg counts as below.
fn is_below(plan: &ElasticPlan, [a, b]: [usize; 2]) -> bool {
    let (ca, cb) = (&plan.clusters[a], &plan.clusters[b]);
    match (ca.part, cb.part) {
        (LegOrTip::Tip, LegOrTip::Leg(_)) => false,
        (LegOrTip::Leg(_), LegOrTip::Tip) => true,
        _ => ca.offset >= cb.offset,
    }
}

/// Memory of one computation, and its result.
#[derive(Clone, Debug)]
pub struct ElasticData<S: Real> {
    /// Stiffness; of symmetric blocks only the lower half is filled.
    pub K: Arrow<S>,
    /// Mass, likewise.
    pub M: Arrow<S>,
    /// Motion of every frame per unit of the coordinates of its cluster.
    columns: Vec<Vec<Vec6<S>>>,
    /// Variables by coordinates, of clusters with loops.
    closing: Vec<ClosingRows<S>>,
    scratch: Vec<Vec6<S>>,
    product: Vec<S>,
}

#[derive(Clone, Debug)]
struct ClosingRows<S> {
    rows: Dense<S>,
    J: Dense<S>,
    pivots: Vec<S>,
}

impl<S: Real> ElasticModel<S> {
    /// Constants for a model; the plan is that of the same robot on `f64`, sliders on beams stand where it has them.
    pub fn new(model: &Model<S>, plan: &Arc<ElasticPlan>) -> Self {
        Self::of(model, plan, ElasticNumbers::new(model, plan))
    }

    /// Constants for a model with sliders on beams where they are at a posture near that of the plan.
    pub(super) fn at(model: &Model<S>, plan: &Arc<ElasticPlan>, pos: &Positions<S>) -> Self {
        Self::of(model, plan, ElasticNumbers::at(model, plan, pos))
    }

    fn of(model: &Model<S>, plan: &Arc<ElasticPlan>, numbers: ElasticNumbers<S>) -> Self {
        let zeros = || Arrow::zeros(&plan.sizes.0, plan.sizes.1);
        let mut elastic = Self {
            plan: plan.clone(),
            numbers,
            columns: vec![Vec::new(); plan.frames.len()],
            K: zeros(),
            M: zeros(),
            moving: Vec::new(),
            frames: Vec::new(),
            touched: Touched::default(),
        };
        let rest = Positions::new(model); // constant frames do not look at it
        for (f, frame) in plan.frames.iter().enumerate().skip(1) {
            if is_fixed(plan, f) && !plan.clusters[frame.cluster].variables.is_empty() {
                let mut columns = Vec::new();
                elastic.numbers.full_columns(model, plan, f, &rest, &mut columns);
                elastic.columns[f] = columns;
            }
        }
        let (mut data, mut moving) = (elastic.data(), Vec::new());
        for term in terms(plan) {
            if term.frames.into_iter().flatten().all(|f| is_fixed(plan, f)) {
                add_term(&elastic, term, &mut data);
            } else {
                moving.push(term);
            }
        }
        (elastic.K, elastic.M) = (data.K, data.M);
        let used = |f: &usize| moving.iter().any(|t| t.frames.contains(&Some(*f)));
        elastic.frames = (1..plan.frames.len()).filter(|f| used(f) && !is_fixed(plan, *f)).collect();
        elastic.touched = touched(plan, &moving);
        elastic.moving = moving;
        elastic
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<ElasticPlan> {
        &self.plan
    }

    /// Constants.
    pub fn numbers(&self) -> &ElasticNumbers<S> {
        &self.numbers
    }

    /// Memory for one computation.
    pub fn data(&self) -> ElasticData<S> {
        let closing = |c: &Cluster| ClosingRows {
            rows: Dense::zeros(6 * c.loops.len(), c.variables.len()),
            J: Dense::zeros(c.variables.len(), c.independent.len()),
            pivots: Vec::with_capacity(c.order.rows.len()),
        };
        let most = self.plan.clusters.iter().map(|c| c.variables.len()).max().unwrap_or(0);
        let room = |f: usize| match self.plan.frames[f].cluster {
            usize::MAX => Vec::new(),
            _ if !self.columns[f].is_empty() => self.columns[f].clone(),
            c => Vec::with_capacity(self.plan.clusters[c].variables.len()),
        };
        ElasticData {
            K: self.K.clone(),
            M: self.M.clone(),
            columns: (0..self.plan.frames.len()).map(room).collect(),
            closing: self.plan.clusters.iter().map(closing).collect(),
            scratch: Vec::with_capacity(most),
            product: Vec::with_capacity(6 * most),
        }
    }
}

/// Stiffness and mass at a posture whose bodies are posed.
pub fn assemble<S: Real, P: Sight<S>>(model: &Model<S>, elastic: &ElasticModel<S>, pos: &P, data: &mut ElasticData<S>) {
    restore(&elastic.touched, &elastic.K, &mut data.K);
    restore(&elastic.touched, &elastic.M, &mut data.M);
    close_loops(model, elastic, pos, data);
    for &f in &elastic.frames {
        frame_columns(model, elastic, f, pos, data);
    }
    for term in &elastic.moving {
        add_term(elastic, *term, data);
    }
}

/// Columns of every frame, constant ones too: what shapes and energies need beyond [`assemble`].
pub fn all_columns<S: Real, P: Sight<S>>(
    model: &Model<S>,
    elastic: &ElasticModel<S>,
    pos: &P,
    data: &mut ElasticData<S>,
) {
    close_loops(model, elastic, pos, data);
    for f in 1..elastic.plan.frames.len() {
        if !is_fixed(&elastic.plan, f) {
            frame_columns(model, elastic, f, pos, data);
        }
    }
}

impl<S: Real> ElasticData<S> {
    /// Motion of a frame, in its own axes, per unit of each coordinate of its cluster.
    pub fn columns(&self, frame: usize) -> &[Vec6<S>] {
        &self.columns[frame]
    }

    /// What a variable of a cluster is per unit of a coordinate of the cluster.
    pub fn share(&self, plan: &ElasticPlan, cluster: usize, variable: usize, coordinate: usize) -> S {
        let c = &plan.clusters[cluster];
        if !c.loops.is_empty() {
            self.closing[cluster].J.at(variable, coordinate)
        } else if c.independent[coordinate] == variable {
            S::one()
        } else {
            S::zero()
        }
    }

    /// Pivots met where loops of rigid bodies were closed.
    pub fn pivots(&self) -> impl Iterator<Item = S> + '_ {
        self.closing.iter().flat_map(|c| c.pivots.iter().copied())
    }
}

fn close_loops<S: Real, P: Sight<S>>(model: &Model<S>, elastic: &ElasticModel<S>, pos: &P, data: &mut ElasticData<S>) {
    let plan = &*elastic.plan;
    for (cluster, closing) in plan.clusters.iter().zip(&mut data.closing).filter(|(c, _)| !c.loops.is_empty()) {
        constraints(model, plan, &elastic.numbers, cluster, pos, &mut data.scratch, &mut closing.rows);
        closing_matrix(cluster, &mut closing.rows, &mut closing.pivots, &mut closing.J);
    }
}

fn frame_columns<S: Real, P: Sight<S>>(
    model: &Model<S>,
    elastic: &ElasticModel<S>,
    f: usize,
    pos: &P,
    data: &mut ElasticData<S>,
) {
    let plan = &*elastic.plan;
    let c = plan.frames[f].cluster;
    if plan.clusters[c].loops.is_empty() {
        elastic.numbers.full_columns(model, plan, f, pos, &mut data.columns[f]);
        return;
    }
    elastic.numbers.full_columns(model, plan, f, pos, &mut data.scratch);
    let (J, out) = (&data.closing[c].J, &mut data.columns[f]);
    out.clear();
    for k in 0..J.cols {
        let mut sum = [S::zero(); 6];
        for (v, column) in data.scratch.iter().enumerate() {
            let x = J.at(v, k);
            sum.iter_mut().zip(column).for_each(|(s, y)| *s += x * *y);
        }
        out.push(sum);
    }
}

/// Its columns are the same at every posture.
fn is_fixed(plan: &ElasticPlan, f: usize) -> bool {
    let frame = &plan.frames[f];
    if frame.cluster == usize::MAX {
        return true;
    }
    let cluster = &plan.clusters[frame.cluster];
    cluster.variables.is_empty() || (frame.constant && cluster.loops.is_empty() && cluster.root.is_some())
}

/// Blocks of all elements that move.
fn terms(plan: &ElasticPlan) -> Vec<Term> {
    let mut list = Vec::new();
    for (element, e) in plan.elements.iter().enumerate() {
        let ends: &[[usize; 2]] = if let Element::Beam { .. } = e { &[[0, 0], [1, 0], [1, 1]] } else { &[[0, 0]] };
        list.extend(ends.iter().filter_map(|ends| term(plan, element, *ends)));
    }
    list
}

/// One block; none where an end does not move.
fn term(plan: &ElasticPlan, element: usize, ends: [usize; 2]) -> Option<Term> {
    let moves = |c: &usize| *c != usize::MAX && !plan.clusters[*c].variables.is_empty();
    let of_frames = |frames: [usize; 2]| {
        let clusters = frames.map(|f| plan.frames[f].cluster);
        let term = Term { element, ends, frames: frames.map(Some), clusters };
        clusters.iter().all(moves).then(|| if is_below(plan, clusters) { term } else { term.transposed() })
    };
    match plan.elements[element] {
        Element::Beam { ends: nodes, .. } => of_frames(ends.map(|e| nodes[e])),
        Element::Rigid { frame, .. }
        | Element::Lump { frame, .. }
        | Element::Modal { frame, .. }
        | Element::Load { frame } => of_frames([frame; 2]),
        Element::Spring(c) | Element::Transmission(c) | Element::Servo(c) | Element::Rotor(c) => {
            let cluster = plan.clusters.iter().position(|k| k.variables.contains(&Variable::Joint(c)))?;
            // In a cluster with loops what a joint does is no constant.
            let loops = !plan.clusters[cluster].loops.is_empty();
            let frame = plan.frames.iter().position(|f| f.cluster == cluster).filter(|_| loops);
            Some(Term { element, ends, frames: [frame; 2], clusters: [cluster; 2] })
        }
    }
}

/// Where the block of two clusters stands. Blocks on the diagonal of the arrow are filled below their diagonal.
fn each_entry(plan: &ElasticPlan, a: usize, b: usize, put: &mut dyn FnMut(LegOrTip, bool, usize, usize, usize, usize)) {
    let (ca, cb) = (&plan.clusters[a], &plan.clusters[b]);
    for i in 0..ca.independent.len() {
        for j in 0..cb.independent.len() {
            let (r, c) = (ca.offset + i, cb.offset + j);
            match (ca.part, cb.part) {
                (LegOrTip::Leg(leg), LegOrTip::Tip) => put(LegOrTip::Leg(leg), true, r, c, i, j),
                (LegOrTip::Tip, LegOrTip::Leg(leg)) => put(LegOrTip::Leg(leg), true, c, r, i, j),
                (part, _) => put(part, false, r.max(c), r.min(c), i, j),
            }
        }
    }
}

fn touched(plan: &ElasticPlan, moving: &[Term]) -> Touched {
    let legs = plan.sizes.0.len();
    let mut t = Touched { own: vec![Vec::new(); legs], border: vec![Vec::new(); legs], tip: Vec::new() };
    for term in moving {
        let [a, b] = term.clusters;
        each_entry(plan, a, b, &mut |part, border, r, c, _, _| match (part, border) {
            (LegOrTip::Leg(leg), true) => t.border[leg].push(r * plan.sizes.1 + c),
            (LegOrTip::Leg(leg), false) => t.own[leg].push(r * plan.sizes.0[leg] + c),
            (LegOrTip::Tip, _) => t.tip.push(r * plan.sizes.1 + c),
        });
    }
    for list in t.own.iter_mut().chain(&mut t.border).chain(std::iter::once(&mut t.tip)) {
        list.sort_unstable();
        list.dedup();
    }
    t
}

fn restore<S: Real>(touched: &Touched, from: &Arrow<S>, to: &mut Arrow<S>) {
    let copy = |list: &[usize], from: &[S], to: &mut [S]| list.iter().for_each(|k| to[*k] = from[*k]);
    for (leg, (a, b)) in from.legs.iter().zip(&mut to.legs).enumerate() {
        copy(&touched.own[leg], &a.own.data, &mut b.own.data);
        copy(&touched.border[leg], &a.border.data, &mut b.border.data);
    }
    copy(&touched.tip, &from.tip.data, &mut to.tip.data);
}

/// Add one block of an element.
fn add_term<S: Real>(elastic: &ElasticModel<S>, t: Term, data: &mut ElasticData<S>) {
    let plan = &*elastic.plan;
    let [a, b] = t.clusters;
    match &elastic.numbers.elements[t.element] {
        ElementNumbers::Beam(e) => {
            let [fa, fb] = t.frames.map(|f| f.unwrap_or(0));
            let [i, j] = t.ends;
            let at = BlockPlace { plan, a, b, same: i == j };
            let (left, right) = (&data.columns[fa], &data.columns[fb]);
            add(&at, left, right, |x| beam_times(&e.K[i][j], x), &mut data.product, &mut data.K);
            add(&at, left, right, |x| beam_times(&e.M[i][j], x), &mut data.product, &mut data.M);
        }
        ElementNumbers::Inertia(inertia) => {
            let f = t.frames[0].unwrap_or(0);
            let at = BlockPlace { plan, a, b, same: true };
            let columns = &data.columns[f];
            add(&at, columns, columns, |x| inertia_times(inertia, x), &mut data.product, &mut data.M);
        }
        ElementNumbers::Modal(_) => super::modal::add(elastic, t.element, a, data),
        ElementNumbers::Stiffness(k) => add_scalar(plan, t.element, a, *k, data, |d| &mut d.K),
        ElementNumbers::Rotor(I) => add_scalar(plan, t.element, a, *I, data, |d| &mut d.M),
    }
}

/// Where a block goes: rows and columns of the arrow, and whether it is one of the diagonal of its element.
struct BlockPlace<'p> {
    plan: &'p ElasticPlan,
    a: usize,
    b: usize,
    same: bool,
}

/// Add `leftᵀ A right`. Terms are ordered so that the block lies below the diagonal of the arrow, or on it.
#[inline]
fn add<S: Real>(
    at: &BlockPlace<'_>,
    left: &[Vec6<S>],
    right: &[Vec6<S>],
    times: impl Fn(&Vec6<S>) -> Vec6<S>,
    product: &mut Vec<S>,
    out: &mut Arrow<S>,
) {
    let (ca, cb) = (&at.plan.clusters[at.a], &at.plan.clusters[at.b]);
    let n = right.len();
    product.clear();
    product.resize(6 * n, S::zero());
    for (j, y) in right.iter().enumerate() {
        times(y).into_iter().enumerate().for_each(|(k, x)| product[k * n + j] = x);
    }
    let block = match (ca.part, cb.part) {
        (LegOrTip::Leg(leg), LegOrTip::Tip) => &mut out.legs[leg].border,
        (LegOrTip::Leg(leg), LegOrTip::Leg(_)) => &mut out.legs[leg].own,
        (LegOrTip::Tip, _) => &mut out.tip,
    };
    let first = |i: usize| (ca.offset + i) * block.cols + cb.offset;
    let diagonal = at.a == at.b;
    for (i, x) in left.iter().enumerate() {
        let (start, width) = (first(i), if diagonal { i + 1 } else { n });
        add_row(&mut block.data[start..start + width], x, product, n);
    }
    if diagonal && !at.same {
        // Both ends of a beam in one cluster: the transpose of the block beside the diagonal of the element.
        for i in 0..n {
            for (j, x) in left.iter().enumerate().take(i + 1) {
                let y: Vec6<S> = std::array::from_fn(|k| product[k * n + i]);
                block.data[(ca.offset + i) * block.cols + ca.offset + j] += dot(x, &y);
            }
        }
    }
}

/// `row += xᵀ P` for a matrix of six rows of length `n`.
#[inline]
fn add_row<S: Real>(row: &mut [S], x: &Vec6<S>, P: &[S], n: usize) {
    let m = row.len();
    let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|k| &P[k * n..k * n + m]);
    for j in 0..m {
        row[j] += x[0] * a[j] + x[1] * b[j] + x[2] * c[j] + x[3] * d[j] + x[4] * e[j] + x[5] * f[j];
    }
}

/// Add `x` to the entry of two coordinates of one cluster, given with the first not before the second.
#[inline]
pub(super) fn add_entry<S: Real>(plan: &ElasticPlan, cluster: usize, i: usize, j: usize, x: S, out: &mut Arrow<S>) {
    let c = &plan.clusters[cluster];
    let block = match c.part {
        LegOrTip::Leg(leg) => &mut out.legs[leg].own,
        LegOrTip::Tip => &mut out.tip,
    };
    *block.at_mut(c.offset + i, c.offset + j) += x;
}

/// A stiffness or an inertia on one joint, on its rotor, or between the two.
fn add_scalar<S: Real>(
    plan: &ElasticPlan,
    element: usize,
    cluster: usize,
    x: S,
    data: &mut ElasticData<S>,
    of: impl Fn(&mut ElasticData<S>) -> &mut Arrow<S>,
) {
    let variables = &plan.clusters[cluster].variables;
    let slot = |v: Variable| variables.iter().position(|x| *x == v);
    let parts =
        plan.elements[element].looks_at(|v| slot(v).is_some()).map(|p| p.and_then(|(v, s)| Some((slot(v)?, s))));
    let seen = |data: &ElasticData<S>, coordinate: usize| {
        let share = |(v, sign): &(usize, f64)| S::lit(*sign) * data.share(plan, cluster, *v, coordinate);
        parts.iter().flatten().map(share).fold(S::zero(), |sum, x| sum + x)
    };
    let n = plan.clusters[cluster].independent.len();
    for i in 0..n {
        for j in 0..=i {
            let both = seen(data, i) * seen(data, j);
            add_entry(plan, cluster, i, j, both * x, of(data));
        }
    }
}

#[inline]
pub(super) fn dot<S: Real>(x: &Vec6<S>, y: &Vec6<S>) -> S {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]
}

/// A block of a beam times a motion: axial, torsion and the two bending planes do not mix.
#[inline]
pub(super) fn beam_times<S: Real>(A: &Mat6<S>, x: &Vec6<S>) -> Vec6<S> {
    [
        A[0][0] * x[0],
        A[1][1] * x[1] + A[1][5] * x[5],
        A[2][2] * x[2] + A[2][4] * x[4],
        A[3][3] * x[3],
        A[4][2] * x[2] + A[4][4] * x[4],
        A[5][1] * x[1] + A[5][5] * x[5],
    ]
}

/// `M t` of a rigid body.
#[inline]
pub(super) fn inertia_times<S: Real>(inertia: &Inertia<S>, x: &Vec6<S>) -> Vec6<S> {
    let A = Accel { a: Vec3::new(x[0], x[1], x[2]), alpha: Vec3::new(x[3], x[4], x[5]) };
    inertia.apply(A).to_array()
}
