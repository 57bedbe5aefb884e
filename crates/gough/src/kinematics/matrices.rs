//! Matrices of first and second order by name: A, B, Ψ_t, A_r, J_t, J_ta, J_td and the biases, sections 7.3 and 7.4.
//!
//! The rows of a leg's closures are linear in its joint rates and in the platform twist:
//! `Φ_d q̇_d + Φ_a q̇_a + Φ_x t_p = 0`. Eliminating the passive joints in the plan's pivot order leaves rows `N` with
//! `A = N Φ_x`, `B = N Φ_a`; rows in which the active joints vanish too are constraint wrenches, and give Ψ_t. With a tool
//! point on a body of a leg, that body is the platform, fixed to its leg.

use super::closure::{ClosureAt, closure_at, joint_twist, movers, row_kind};
use super::motion::{Motion, velocity_product};
use super::positions::Positions;
use crate::description::ClosureJoint;
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{
    BodyId, ClosureId, CoordId, CoordKind, CoordPlace, LegId, MatrixBlock, MatrixPlan, Model, Node, Norm, PerBody,
};
use crate::scalar::Real;
use crate::spatial::{Accel, Pose, Twist, Vec3, Wrench};

/// The matrices at a posture, sized once for a model and a plan. Wrenches act at the platform origin, in world axes; they
/// are scaled to one: rows of A_r, which unlike those of A are unique, and constraint wrenches.
#[derive(Clone, Debug)]
pub struct Matrices<S: Real> {
    /// Actuation wrenches `ζ_aᵀ`, one per row, (7.57).
    pub A: Dense<S>,
    /// `A t_p + B q̇_a = 0`, (7.57).
    pub B: Dense<S>,
    /// Constraint wrenches of all legs, one per row, (7.197).
    pub W_c: Dense<S>,
    /// Platform twist from its independent components: `t_p = Ψ_t t_r`, (7.61).
    pub Psi_t: Dense<S>,
    /// `A_r = A Ψ_t`, (7.62).
    pub A_r: Dense<S>,
    /// `J_td q̇_d = J_t t_r - J_ta q̇_a`, (7.95).
    pub J_t: Dense<S>,
    /// See [`Matrices::J_t`].
    pub J_ta: Dense<S>,
    /// See [`Matrices::J_t`].
    pub J_td: Dense<S>,
    /// `A ṫ_p + B q̈_a = b'`, (7.158). Biases are zero unless a motion is given.
    pub b_prime: Vec<S>,
    /// `A_r ṫ_r + B q̈_a = b`, (7.161).
    pub b: Vec<S>,
    /// `Ψ̇_t t_r`, (7.160).
    pub Psi_t_dot_t_r: Vec<S>,
    /// `J_td q̈_d = J_t ṫ_r - J_ta q̈_a + d_c`, (7.183).
    pub d_c: Vec<S>,
    /// Pivots met, without units: one near zero asks for a fresh plan, or is a singularity.
    pub pivots: Vec<S>,
    /// Pivots of the drives that constraint rows are freed of, without units: one near zero asks for a fresh plan, too.
    pub drive_pivots: Vec<S>,
    rows: Vec<Dense<S>>,
    stack: Dense<S>,
    Phi_x: Dense<S>,
    beta: Vec<S>,
    biases: PerBody<Accel<S>>,
}

impl<S: Real> Matrices<S> {
    /// Memory for a model and a plan.
    pub fn new(model: &Model<S>, plan: &MatrixPlan) -> Self {
        let topology = model.topology();
        let sum = |f: &dyn Fn(&MatrixBlock) -> usize| plan.blocks.iter().map(f).sum::<usize>();
        let n_w = sum(&|b| b.active);
        let n_c = sum(&|b| b.rows.len() - b.passive - b.active);
        let (n_a, n_d, n_dof) = (topology.active.len(), plan.passive.len(), topology.platform.independent.len());
        let zeros = Dense::zeros;
        Self {
            A: zeros(n_w, 6),
            B: zeros(n_w, n_a),
            W_c: zeros(n_c, 6),
            Psi_t: zeros(6, n_dof),
            A_r: zeros(n_w, n_dof),
            J_t: zeros(n_d, n_dof),
            J_ta: zeros(n_d, n_a),
            J_td: zeros(n_d, n_d),
            b_prime: vec![S::zero(); n_w],
            b: vec![S::zero(); n_w],
            Psi_t_dot_t_r: vec![S::zero(); 6],
            d_c: vec![S::zero(); n_d],
            pivots: Vec::with_capacity(sum(&|b| b.cols.len()) + 6),
            drive_pivots: Vec::with_capacity(n_w),
            rows: plan.blocks.iter().map(|b| zeros(b.rows.len(), b.coords.len() + 7)).collect(),
            stack: zeros(n_c, 7),
            Phi_x: zeros(n_d, 6),
            beta: vec![S::zero(); n_d],
            biases: topology.bodies.map(|_, _| Accel::zero()),
        }
    }
}

/// All matrices at posed bodies; with a motion whose rates are known, the biases too.
pub fn assemble<S: Real>(
    model: &Model<S>,
    plan: &MatrixPlan,
    pos: &Positions<S>,
    motion: Option<&Motion<S>>,
    m: &mut Matrices<S>,
) {
    if let Some(motion) = motion {
        velocity_products(model, pos, motion, &mut m.biases);
    }
    m.pivots.clear();
    m.drive_pivots.clear();
    let (mut actuation, mut constraint) = (0, 0);
    let mut rows = std::mem::take(&mut m.rows);
    for (block, a) in plan.blocks.iter().zip(&mut rows) {
        let biases = motion.map(|motion| (motion, &m.biases));
        fill(model, &block.by_closure, &block.coords, pos, biases, a);
        passive_rows(block, a, m);
        eliminate_passive(block, a, &mut m.pivots);
        actuation_rows(block, a, actuation, m);
        constraint_rows(block, a, constraint, m);
        actuation += block.active;
        constraint += block.norms.len() - block.active;
    }
    m.rows = rows;
    platform_twist(model, &plan.platform, m);
    reduce(model, &plan.blocks, m);
}

/// J_ta and J_td: the rows that give passive joints, as they are.
fn passive_rows<S: Real>(block: &MatrixBlock, a: &Dense<S>, m: &mut Matrices<S>) {
    let n = block.coords.len();
    for k in 0..block.passive {
        let CoordPlace::Passive(row) = block.place[block.cols[k]] else { continue };
        for (j, place) in block.place.iter().enumerate() {
            match place {
                CoordPlace::Active(column) => *m.J_ta.at_mut(row, *column) = -a.at(k, j),
                CoordPlace::Passive(column) => *m.J_td.at_mut(row, *column) = -a.at(k, j),
                CoordPlace::Idle => {}
            }
        }
        (0..6).for_each(|j| *m.Phi_x.at_mut(row, j) = a.at(k, n + j));
        m.beta[row] = a.at(k, n + 6);
    }
}

/// Free all later rows of the passive joints.
fn eliminate_passive<S: Real>(block: &MatrixBlock, a: &mut Dense<S>, pivots: &mut Vec<S>) {
    for k in 0..block.passive {
        let pivot = a.at(k, block.cols[k]);
        pivots.push(pivot * S::lit(block.scales[k]));
        let reciprocal = pivot.recip();
        for i in k + 1..block.rows.len() {
            subtract(a, i, k, block.cols[k], reciprocal);
        }
    }
}

/// Subtract from row `i` what makes its column `j` vanish; row `k` has the pivot.
fn subtract<S: Real>(a: &mut Dense<S>, i: usize, k: usize, j: usize, reciprocal: S) {
    let factor = a.at(i, j) * reciprocal;
    for c in 0..a.cols {
        let x = a.at(k, c);
        *a.at_mut(i, c) -= factor * x;
    }
}

/// Sign of a row: that of the determinant of the passive pivots, so that the row is, up to its size, a polynomial in the
/// posture and turns round only where the wrench itself does.
fn sign<S: Real>(block: &MatrixBlock, a: &Dense<S>) -> S {
    (0..block.passive).fold(S::one(), |d, k| d * a.at(k, block.cols[k])).sign()
}

/// What makes a wrench, or its independent part, a unit one: `parts` says which components are forces.
fn unit<S: Real>(norm: Norm, parts: impl Iterator<Item = (bool, S)>) -> S {
    let weight = |is_force: bool| match (norm, is_force) {
        (Norm::Force | Norm::Both(_), true) | (Norm::Moment, false) => S::one(),
        (Norm::Force, false) | (Norm::Moment, true) => S::zero(),
        (Norm::Both(length), false) => S::lit(1.0 / (length * length)),
    };
    parts.fold(S::zero(), |sum, (is_force, x)| sum + weight(is_force) * x.squared()).sqrt().recip()
}

fn actuation_rows<S: Real>(block: &MatrixBlock, a: &Dense<S>, first: usize, m: &mut Matrices<S>) {
    let n = block.coords.len();
    let sign = sign(block, a);
    for k in 0..block.active {
        let row = block.passive + k;
        let scale = if block.turned[k] { -sign } else { sign };
        (0..6).for_each(|j| *m.A.at_mut(first + k, j) = a.at(row, n + j) * scale);
        for (j, place) in block.place.iter().enumerate() {
            if let CoordPlace::Active(column) = place {
                *m.B.at_mut(first + k, *column) = a.at(row, j) * scale;
            }
        }
        m.b_prime[first + k] = -(a.at(row, n + 6) * scale);
    }
}

/// Rows that neither passive nor active joints touch: wrenches that the leg bears without moving.
fn constraint_rows<S: Real>(block: &MatrixBlock, a: &mut Dense<S>, first: usize, m: &mut Matrices<S>) {
    let n = block.coords.len();
    let start = block.passive + block.active;
    // Only rows that some constraint row needs are used as pivots.
    for k in block.passive..start {
        let later = (k + 1..start).chain((start..block.rows.len()).filter(|i| block.cleared[i - start].contains(&k)));
        let pivot = a.at(k, block.cols[k]);
        if block.cleared.iter().any(|list| list.contains(&k)) {
            m.drive_pivots.push(pivot * S::lit(block.scales[k]));
        }
        let reciprocal = pivot.recip();
        for i in later {
            subtract(a, i, k, block.cols[k], reciprocal);
        }
    }
    for (k, row) in (start..block.rows.len()).enumerate() {
        let scale = sign(block, a) * unit(block.norms[block.active + k], (0..6).map(|j| (j < 3, a.at(row, n + j))));
        for j in 0..7 {
            *m.stack.at_mut(first + k, j) = a.at(row, n + j) * scale;
        }
        (0..6).for_each(|j| *m.W_c.at_mut(first + k, j) = m.stack.at(first + k, j));
    }
}

/// Ψ_t and `Ψ̇_t t_r`: the constraint rows say what the dependent components of the twist are.
fn platform_twist<S: Real>(model: &Model<S>, order: &PivotOrder, m: &mut Matrices<S>) {
    let independent = &model.topology().platform.independent;
    for (k, (&i, &j)) in order.rows.iter().zip(&order.cols).enumerate() {
        let pivot = m.stack.at(i, j);
        m.pivots.push(pivot);
        let reciprocal = pivot.recip();
        (0..7).for_each(|c| *m.stack.at_mut(i, c) *= reciprocal);
        for (l, &r) in order.rows.iter().enumerate() {
            if l != k {
                subtract(&mut m.stack, r, i, j, S::one());
            }
        }
    }
    m.Psi_t.clear();
    m.Psi_t_dot_t_r.fill(S::zero());
    for (c, coordinate) in independent.iter().enumerate() {
        *m.Psi_t.at_mut(coordinate.index(), c) = S::one();
        for (&i, &j) in order.rows.iter().zip(&order.cols) {
            *m.Psi_t.at_mut(j, c) = -m.stack.at(i, coordinate.index());
        }
    }
    for (&i, &j) in order.rows.iter().zip(&order.cols) {
        m.Psi_t_dot_t_r[j] = -m.stack.at(i, 6);
    }
}

/// A_r, J_t and the biases in the independent components, (7.62), (7.88), (7.162), (7.182).
fn reduce<S: Real>(model: &Model<S>, blocks: &[MatrixBlock], m: &mut Matrices<S>) {
    m.A.times_in(&m.Psi_t, &mut m.A_r);
    let independent = &model.topology().platform.independent;
    let mut first = 0;
    for block in blocks {
        if block.active > 1 {
            orthonormal(model, first..first + block.active, m);
        } else if block.active == 1 {
            let parts = independent.iter().enumerate().map(|(j, c)| (!c.is_angle(), m.A_r.at(first, j)));
            let scale = unit(block.norms[0], parts);
            scale_row(m, first, scale);
        }
        first += block.active;
    }
    m.Phi_x.times_in(&m.Psi_t, &mut m.J_t);
    let dot = |M: &Dense<S>, i: usize| (0..6).fold(S::zero(), |sum, k| sum + M.at(i, k) * m.Psi_t_dot_t_r[k]);
    for i in 0..m.b.len() {
        m.b[i] = m.b_prime[i] - dot(&m.A, i);
    }
    for i in 0..m.d_c.len() {
        m.d_c[i] = dot(&m.Phi_x, i) + m.beta[i];
    }
}

fn scale_row<S: Real>(m: &mut Matrices<S>, i: usize, scale: S) {
    for part in [&mut m.A, &mut m.B, &mut m.A_r] {
        (0..part.cols).for_each(|j| *part.at_mut(i, j) *= scale);
    }
    m.b_prime[i] *= scale;
}

/// Rows of legs with several drives, made orthonormal over A_r and B together, lengths scaled. Any choice of such rows is as
/// good as another, and a row of A_r can vanish where the platform moves with the drives locked: made a unit wrench by itself
/// it would hide that. Signs of determinants stay.
fn orthonormal<S: Real>(model: &Model<S>, rows: std::ops::Range<usize>, m: &mut Matrices<S>) {
    let topology = model.topology();
    let per_angle = S::lit(1.0 / model.length());
    let size = |slides: bool| if slides { S::one() } else { per_angle };
    let both = |m: &Matrices<S>, i: usize| -> Vec<S> {
        let platform =
            topology.platform.independent.iter().enumerate().map(|(j, c)| m.A_r.at(i, j) * size(!c.is_angle()));
        let drives = topology.active.iter().enumerate().map(|(j, c)| m.B.at(i, j) * size(topology.coords[*c].slides));
        platform.chain(drives).collect()
    };
    let dot = |a: &[S], b: &[S]| a.iter().zip(b).fold(S::zero(), |sum, (x, y)| sum + *x * *y);
    for i in rows.clone() {
        for k in rows.start..i {
            let along = dot(&both(m, i), &both(m, k));
            for part in [&mut m.A, &mut m.B, &mut m.A_r] {
                for j in 0..part.cols {
                    let x = part.at(k, j);
                    *part.at_mut(i, j) -= along * x;
                }
            }
            let b = m.b_prime[k];
            m.b_prime[i] -= along * b;
        }
        let own = both(m, i);
        scale_row(m, i, dot(&own, &own).sqrt().recip());
    }
}

/// The closure as the matrices see it: a tool point fixes its body to the platform.
pub(crate) fn attachment<S: Real>(model: &Model<S>, c: ClosureId, pos: &Positions<S>) -> ClosureAt<S> {
    let at = closure_at(model, c, pos);
    let closure = &model.topology().closures[c];
    if !closure.tool {
        return at;
    }
    let X = if matches!(closure.sides[0], Node::Body(_)) { at.A } else { at.B };
    ClosureAt { joint: ClosureJoint::Fixed, A: X, B: X, axes: at.axes }
}

/// Rows of a closure as the matrices see it.
pub(crate) fn row_count<S: Real>(model: &Model<S>, c: ClosureId) -> usize {
    let closure = &model.topology().closures[c];
    if closure.tool { ClosureJoint::Fixed.rows() } else { closure.joint.rows() }
}

/// The body that counts as the platform in a closure: what carries the tool point, but for the tie of that point itself.
pub(crate) fn platform_body<S: Real>(model: &Model<S>, c: ClosureId) -> Option<BodyId> {
    if model.topology().closures[c].tool { None } else { model.topology().platform.tool }
}

type Biases<'a, S> = (&'a Motion<S>, &'a PerBody<Accel<S>>);

/// Closure rows over coordinates, platform twist and bias.
fn fill<S: Real>(
    model: &Model<S>,
    by_closure: &[(ClosureId, Vec<(usize, usize)>)],
    coords: &[CoordId],
    pos: &Positions<S>,
    biases: Option<Biases<'_, S>>,
    out: &mut Dense<S>,
) {
    out.clear();
    let n = coords.len();
    for (c, rows) in by_closure {
        let at = attachment(model, *c, pos);
        let r = at.B.p - pos.X_WE.p;
        let tool = platform_body(model, *c);
        let sides = model.topology().closures[*c].sides;
        let wrench = |row: usize| at.wrench(row_kind(at.joint, row));
        for (side, sign) in sides.into_iter().zip([-1.0, 1.0]) {
            let on_platform = movers(model, side, tool, &mut |coord, k, body| {
                let Some(j) = coords.iter().position(|c| *c == coord) else { return };
                let V = joint_twist(model, body, pos).at(r).scale(k * S::lit(sign));
                rows.iter().for_each(|&(i, row)| *out.at_mut(i, j) += V.power(wrench(row)));
            });
            if on_platform {
                for &(i, row) in rows {
                    let w = wrench(row).at(-r).to_array();
                    (0..6).for_each(|k| *out.at_mut(i, n + k) += w[k] * S::lit(sign));
                }
            }
        }
        if let Some(biases) = biases {
            let [(V_A, A_A), (V_B, A_B)] = sides.map(|side| carried(model, side, tool, at.B.p, pos, biases));
            for &(i, row) in rows {
                let kind = row_kind(at.joint, row);
                *out.at_mut(i, n + 6) = (A_B - A_A).power(at.wrench(kind)) + at.velocity_terms(kind, V_A, V_B);
            }
        }
    }
}

/// Twist, and acceleration while no coordinate accelerates, of a node at a point of the world. `tool` counts as platform.
fn carried<S: Real>(
    model: &Model<S>,
    node: Node,
    tool: Option<BodyId>,
    p: Vec3<S>,
    pos: &Positions<S>,
    (motion, biases): Biases<'_, S>,
) -> (Twist<S>, Accel<S>) {
    // The platform's own acceleration is a column of its own; what is left is that its points go round.
    let platform = |V: Twist<S>| (V, Accel::zero().at(p - pos.X_WE.p, V.w));
    match node {
        Node::World => (Twist::zero(), Accel::zero()),
        Node::Platform => match model.topology().platform.tool {
            Some(b) => platform(motion.V_WB[b].at(p - pos.X_WB[b].p)),
            None => platform(motion.V_WE.at(p - pos.X_WE.p)),
        },
        Node::Body(b) => {
            let r = p - pos.X_WB[b].p;
            let V = motion.V_WB[b].at(r);
            if tool == Some(b) { platform(V) } else { (V, biases[b].at(r, V.w)) }
        }
    }
}

/// Accelerations of all bodies while no coordinate accelerates, (5.32), the platform included.
fn velocity_products<S: Real>(model: &Model<S>, pos: &Positions<S>, motion: &Motion<S>, out: &mut PerBody<Accel<S>>) {
    let topology = model.topology();
    for &leg in &topology.order {
        for b in topology.legs[leg].bodies.iter() {
            let X: &Pose<S> = &pos.X_WB[b];
            let body = &topology.bodies[b];
            // Legs that stand on the body with the tool point stand on the platform.
            let tool = topology.platform.tool.filter(|t| topology.bodies[*t].leg != leg);
            let (V, mut A) = carried(model, body.parent, tool, X.p, pos, (motion, out));
            let rate = match body.coord {
                Some(c) => motion.rates[c],
                None => {
                    model.numbers().bodies[b].coupling.iter().fold(S::zero(), |q, (c, k)| q + *k * motion.rates[*c])
                }
            };
            velocity_product(body.joint, V.w, X.R.z() * rate, &mut A);
            out[b] = A;
        }
    }
}

/// Legs that hang on each other, other than by the body that counts as the platform.
pub(crate) fn coupled_legs(model: &Model<f64>) -> Vec<Vec<LegId>> {
    let topology = model.topology();
    let mut sets: Vec<Vec<LegId>> = topology.legs.ids().map(|l| vec![l]).collect();
    for (id, leg) in topology.legs.iter() {
        for b in leg.outside.iter().filter(|b| topology.platform.tool != Some(**b)) {
            let other = topology.bodies[*b].leg;
            let (Some(i), Some(j)) =
                (sets.iter().position(|s| s.contains(&id)), sets.iter().position(|s| s.contains(&other)))
            else {
                continue;
            };
            if i != j {
                let joined = sets.remove(i.max(j));
                sets[i.min(j)].extend(joined);
            }
        }
    }
    sets.iter_mut().for_each(|s| s.sort_unstable());
    sets
}

/// The plan at the one of these postures where its smallest pivot is largest.
pub fn plan(model: &Model<f64>, postures: &[Positions<f64>]) -> MatrixPlan {
    let plans = postures.iter().map(|pos| {
        let plan = plan_at(model, pos);
        let size = plan.blocks.iter().map(|b| b.passive + b.active).sum::<usize>() + plan.platform.rows.len();
        let smallest = smallest_pivot(model, &plan, pos);
        (size, smallest, plan)
    });
    let best = plans.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut plan = best.map(|b| b.2).unwrap_or_default();
    settle(model, &mut plan, postures);
    plan
}

/// Smallest pivot of a plan at a posture, without units.
pub fn smallest_pivot(model: &Model<f64>, plan: &MatrixPlan, pos: &Positions<f64>) -> f64 {
    let mut m = Matrices::new(model, plan);
    assemble(model, plan, pos, None, &mut m);
    smallest(&m.pivots)
}

/// Smallest of some pivots; one that is no number counts as zero.
pub fn smallest(pivots: &[f64]) -> f64 {
    pivots.iter().fold(f64::INFINITY, |m, x| if x.is_finite() { m.min(x.abs()) } else { 0.0 })
}

/// The plan that is best at a posture.
pub fn plan_at(model: &Model<f64>, pos: &Positions<f64>) -> MatrixPlan {
    let topology = model.topology();
    let blocks: Vec<MatrixBlock> = coupled_legs(model).into_iter().map(|legs| block_at(model, legs, pos)).collect();
    let passive: Vec<CoordId> = topology
        .passive
        .iter()
        .copied()
        .filter(|c| blocks.iter().any(|b| b.cols[..b.passive].iter().any(|j| b.coords[*j] == *c)))
        .collect();
    let mut plan = MatrixPlan { blocks, passive, platform: PivotOrder::default(), dependent: 0 };
    for block in &mut plan.blocks {
        let place = |c: &CoordId| {
            let active = topology.active.iter().position(|a| a == c).map(CoordPlace::Active);
            let passive = || plan.passive.iter().position(|p| p == c).map(CoordPlace::Passive);
            active.or_else(passive).unwrap_or(CoordPlace::Idle)
        };
        block.place = block.coords.iter().map(place).collect();
    }
    plan.dependent = 6 - topology.platform.independent.len();
    let mut m = Matrices::new(model, &plan);
    assemble(model, &plan, pos, None, &mut m);
    plan.platform = platform_order(model, &m);
    actuation_norms(model, &mut plan, pos);
    turn_wrenches(model, &mut plan, pos);
    plan
}

/// Wrenches work with the joint that drives them: `ζ · $_a > 0`, that is a negative entry of B.
fn turn_wrenches(model: &Model<f64>, plan: &mut MatrixPlan, pos: &Positions<f64>) {
    let mut m = Matrices::new(model, plan);
    assemble(model, plan, pos, None, &mut m);
    let mut row = 0;
    for block in &mut plan.blocks {
        for k in 0..block.active {
            if let CoordPlace::Active(j) = block.place[block.cols[block.passive + k]] {
                block.turned[k] = m.B.at(row, j) > 0.0;
            }
            row += 1;
        }
    }
}

/// Which constraint rows give which dependent components of the twist best at a posture.
pub fn platform_order(model: &Model<f64>, m: &Matrices<f64>) -> PivotOrder {
    let independent = &model.topology().platform.independent;
    let dependent: Vec<usize> = (0..6).filter(|k| independent.iter().all(|c| c.index() != *k)).collect();
    let mut W = m.W_c.clone();
    for i in 0..W.rows {
        (3..6).for_each(|j| *W.at_mut(i, j) /= model.length());
    }
    PivotOrder::staged(&W, &[&dependent], RANK_TOLERANCE)
}

/// A_r without units: it loses rank at a Type 2 singularity.
pub(crate) fn actuation_without_units<S: Real>(model: &Model<S>, plan: &MatrixPlan, m: &Matrices<S>) -> Dense<S> {
    let norms: Vec<Norm> = plan.blocks.iter().flat_map(|b| b.norms[..b.active].to_vec()).collect();
    let independent = &model.topology().platform.independent;
    without_units(&m.A_r, &norms, |j| independent[j].is_angle(), model.length())
}

/// Wrenches row by row without units: moments over the length, and rows that are unit moments times it.
pub(crate) fn without_units<S: Real>(
    a: &Dense<S>,
    norms: &[Norm],
    is_angle: impl Fn(usize) -> bool,
    length: f64,
) -> Dense<S> {
    let mut out = a.clone();
    for (i, norm) in norms.iter().enumerate() {
        let row = if *norm == Norm::Moment { length } else { 1.0 };
        for j in 0..a.cols {
            *out.at_mut(i, j) *= S::lit(if is_angle(j) { row / length } else { row });
        }
    }
    out
}

/// Ψ_t and what follows from it once more, by other constraint rows: they are unique, but some rows tell them better. Only
/// for matrices without biases.
pub fn by_other_rows(model: &Model<f64>, plan: &MatrixPlan, order: &PivotOrder, m: &mut Matrices<f64>) {
    m.stack.clear();
    for i in 0..m.W_c.rows {
        (0..6).for_each(|j| *m.stack.at_mut(i, j) = m.W_c.at(i, j));
    }
    platform_twist(model, order, m);
    reduce(model, &plan.blocks, m);
}

pub(crate) fn coords_of<S: Real>(model: &Model<S>, legs: &[LegId]) -> Vec<CoordId> {
    legs.iter().flat_map(|l| model.topology().legs[*l].coords.iter()).collect()
}

pub(crate) fn rows_of<S: Real>(model: &Model<S>, legs: &[LegId]) -> Vec<(ClosureId, usize)> {
    let closures = legs.iter().flat_map(|l| model.topology().legs[*l].closures.iter());
    closures.flat_map(|c| (0..row_count(model, c)).map(move |row| (c, row))).collect()
}

/// What makes a row a number without unit.
pub(crate) fn row_scale<S: Real>(model: &Model<S>, (c, row): (ClosureId, usize)) -> f64 {
    let closure = &model.topology().closures[c];
    let joint = if closure.tool { ClosureJoint::Fixed } else { closure.joint };
    if row_kind(joint, row).is_length() { 1.0 / model.length() } else { 1.0 }
}

/// All closure rows of some legs over their coordinates and the platform twist, without units: lengths are divided by the
/// length scale, slides and translations multiplied by it.
pub fn closure_rows<S: Real>(model: &Model<S>, legs: &[LegId], pos: &Positions<S>) -> Dense<S> {
    let (coords, all) = (coords_of(model, legs), rows_of(model, legs));
    let n = coords.len();
    let mut a = Dense::zeros(all.len(), n + 7);
    fill(model, &by_closure(&all), &coords, pos, None, &mut a);
    let slides = coords.iter().map(|c| model.topology().coords[*c].slides).chain((0..6).map(|k| k < 3));
    for (j, slides) in slides.enumerate() {
        for (i, row) in all.iter().enumerate() {
            let scale = row_scale(model, *row) * if slides { model.length() } else { 1.0 };
            *a.at_mut(i, j) *= S::lit(scale);
        }
    }
    a
}

/// Rows, pivots and units of legs that hang on each other.
fn block_at(model: &Model<f64>, legs: Vec<LegId>, pos: &Positions<f64>) -> MatrixBlock {
    let topology = model.topology();
    let (coords, all) = (coords_of(model, &legs), rows_of(model, &legs));
    let n = coords.len();
    let a = closure_rows(model, &legs, pos);
    let length = model.length();
    let row_scale = |i: usize| row_scale(model, all[i]);
    let col_scale = |j: usize| if topology.coords[coords[j]].slides { length } else { 1.0 };
    // A freedom that moves nothing else is held.
    let is = |c: CoordId, kind| topology.coords[c].kind == kind && !topology.is_held(c);
    let of_kind = |kind: CoordKind| (0..n).filter(|j| is(coords[*j], kind)).collect::<Vec<_>>();
    let (passive, active) = (of_kind(CoordKind::Passive), of_kind(CoordKind::Active));
    let platform: Vec<usize> = (n..n + 6).collect();
    let order = PivotOrder::staged(&a, &[&passive, &active, &platform], RANK_TOLERANCE);
    let count = |list: &[usize]| order.cols.iter().filter(|c| list.contains(c)).count();
    let (n_d, n_a) = (count(&passive), count(&active));
    let rows: Vec<(ClosureId, usize)> = order.rows.iter().map(|i| all[*i]).collect();
    let cols: Vec<usize> = order.cols[..n_d + n_a].to_vec();
    let scales = order.rows.iter().zip(&cols).map(|(i, j)| row_scale(*i) * col_scale(*j)).collect();
    let mut block = MatrixBlock {
        legs,
        coords,
        by_closure: by_closure(&rows),
        cleared: vec![(n_d..n_d + n_a).collect(); rows.len() - n_d - n_a],
        norms: vec![Norm::Both(length); rows.len() - n_d],
        turned: vec![false; n_a],
        rows,
        cols,
        scales,
        passive: n_d,
        active: n_a,
        place: Vec::new(),
    };
    constraint_norms(model, &mut block, pos);
    block
}

pub(crate) fn by_closure(rows: &[(ClosureId, usize)]) -> Vec<(ClosureId, Vec<(usize, usize)>)> {
    let mut list: Vec<(ClosureId, Vec<(usize, usize)>)> = Vec::new();
    for (i, (c, row)) in rows.iter().enumerate() {
        match list.iter_mut().find(|(id, _)| id == c) {
            Some((_, rows)) => rows.push((i, *row)),
            None => list.push((*c, vec![(i, *row)])),
        }
    }
    list
}

/// Constraint wrenches that are pure moments are unit moments; in others force and moment count together, since either may
/// vanish at some posture.
fn constraint_norms(model: &Model<f64>, block: &mut MatrixBlock, pos: &Positions<f64>) {
    for (k, w) in constraint_wrenches(model, block, pos).into_iter().enumerate() {
        let is_force = w.f.norm() > 1e-9 * w.m.norm() / model.length();
        block.norms[block.active + k] = if is_force { Norm::Both(model.length()) } else { Norm::Moment };
    }
}

/// Constraint wrenches of a block, not scaled.
fn constraint_wrenches(model: &Model<f64>, block: &MatrixBlock, pos: &Positions<f64>) -> Vec<Wrench<f64>> {
    let n = block.coords.len();
    let mut a = Dense::zeros(block.rows.len(), n + 7);
    fill(model, &block.by_closure, &block.coords, pos, None, &mut a);
    eliminate_passive(block, &mut a, &mut Vec::new());
    let end = block.passive + block.active;
    for k in block.passive..end {
        let reciprocal = a.at(k, block.cols[k]).recip();
        (end..block.rows.len()).for_each(|i| subtract(&mut a, i, k, block.cols[k], reciprocal));
    }
    (end..block.rows.len()).map(|row| Wrench::from_array(std::array::from_fn(|j| a.at(row, n + j)))).collect()
}

/// Rows of A_r are unit forces, or unit moments where there is none; where the platform has some translations only, forces
/// and moments count together.
fn actuation_norms(model: &Model<f64>, plan: &mut MatrixPlan, pos: &Positions<f64>) {
    let mut m = Matrices::new(model, plan);
    assemble(model, plan, pos, None, &mut m);
    let independent = &model.topology().platform.independent;
    let slides = independent.iter().filter(|c| !c.is_angle()).count();
    let mixed = slides < independent.len() && !model.topology().platform.dependent.is_empty();
    let length = model.length();
    let mut row = 0;
    for block in &mut plan.blocks {
        for norm in &mut block.norms[..block.active] {
            let size = |angles: bool| {
                let parts = independent.iter().enumerate().filter(|(_, c)| c.is_angle() == angles);
                parts.map(|(j, _)| m.A_r.at(row, j).powi(2)).sum::<f64>().sqrt()
            };
            // Several drives: rows are orthonormal, see `orthonormal`.
            *norm = match size(false) > 1e-6 * size(true) / length {
                _ if mixed || block.active > 1 => Norm::Both(length),
                true => Norm::Force,
                false => Norm::Moment,
            };
            row += 1;
        }
    }
}

/// What holds at all of these postures and not only at one: constraint rows that the active joints do not touch need not be
/// freed of them, so that they stay what they are in a Type 1 singularity; pure moments are pure moments.
fn settle(model: &Model<f64>, plan: &mut MatrixPlan, postures: &[Positions<f64>]) {
    for block in &mut plan.blocks {
        for pos in postures {
            for (k, w) in constraint_wrenches(model, block, pos).iter().enumerate() {
                if w.f.norm() > 1e-9 * w.m.norm() / model.length() {
                    block.norms[block.active + k] = Norm::Both(model.length());
                }
            }
        }
        let end = block.passive + block.active;
        let mut largest = Dense::zeros(block.rows.len() - end, block.active);
        for pos in postures {
            let mut a = Dense::zeros(block.rows.len(), block.coords.len() + 7);
            fill(model, &block.by_closure, &block.coords, pos, None, &mut a);
            eliminate_passive(block, &mut a, &mut Vec::new());
            for i in end..block.rows.len() {
                for k in 0..block.active {
                    let own = (0..block.coords.len() + 6).fold(0.0, |m, j| f64::max(m, a.at(i, j).abs()));
                    let x = a.at(i, block.cols[block.passive + k]).abs() / own;
                    *largest.at_mut(i - end, k) = f64::max(largest.at(i - end, k), x);
                }
            }
        }
        for (i, list) in block.cleared.iter_mut().enumerate() {
            list.retain(|k| largest.at(i, *k - block.passive) > 1e-12);
        }
    }
}
