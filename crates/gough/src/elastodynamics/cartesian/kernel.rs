//! Inertia and stiffness of the platform from the closure rows, in any scalar: a straight line.

use super::numbers::{CartesianModel, Gives, LimbNumbers, PairNumbers};
use super::plan::{CartesianPlan, Limb, WayToRoot};
use crate::elastodynamics::beam::Mat6;
use crate::elastodynamics::numbers::Vec6;
use crate::kinematics::Positions;
use crate::kinematics::closure::{joint_twist, row_kind};
use crate::kinematics::matrices::attachment;
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::small::{Dense, PivotOrder, lu, lu_solve};
use crate::model::{BodyId, Id, Model};
use crate::scalar::Real;
use crate::spatial::{Inertia, Pose, Twist, Vec3, Wrench, cross, dot};
use std::sync::Arc;

/// Matrices of a posture, and the memory they are computed in. Twists are `[v; w]` at the platform origin, in world axes.
#[derive(Clone, Debug)]
pub struct CartesianData<S: Real> {
    /// Inertia, (8)-(12).
    pub M: Mat6<S>,
    /// Stiffness of the drives alone, (14).
    pub K_R: Mat6<S>,
    /// Stiffness of drives, joints and links, (13).
    pub K_F: Mat6<S>,
    /// Motions of the platform that the flexible robot allows, one per column.
    pub B: Dense<S>,
    /// Motions of the platform that the rigid robot allows.
    pub B_R: Dense<S>,
    /// What is known of every limb.
    pub limbs: Vec<LimbData<S>>,
    rigid: Dense<S>,
    constraints: Dense<S>,
    pivots: Vec<S>,
}

/// What is known of a limb.
#[derive(Clone, Debug)]
pub struct LimbData<S: Real> {
    /// Closure rows over coordinates, platform twist and parts, eliminated.
    pub a: Dense<S>,
    /// Motion that each joint gives to what it carries, at the platform origin.
    pub twists: Vec<Twist<S>>,
    /// Rates of the coordinates per unit of platform twist.
    pub J: Vec<Vec6<S>>,
    /// Motions against the constraints, and the rows that measure them.
    pub virtual_twists: Vec<Vec6<S>>,
    /// See [`LimbData::virtual_twists`].
    pub virtual_rates: Vec<Vec6<S>>,
    /// Wrench of each elastic row on each part, in the axes of the part's end: part by part.
    pub loads: Vec<Vec6<S>>,
    /// Compliance of the elastic rows, and the rows themselves; eliminated over those that give way.
    pub C: Dense<S>,
    /// What the limb adds along its elastic rows per unit of platform twist, for rows that give way.
    pub forces: Vec<Vec6<S>>,
    /// Inertia over coordinates and platform twist.
    pub H: Dense<S>,
    /// Pivots met, without unit.
    pub pivots: Vec<S>,
    scratch: Vec<S>,
    columns: Vec<(usize, Twist<S>)>,
    ends: Vec<(usize, Vec3<S>, Vec3<S>)>,
}

impl<S: Real> LimbData<S> {
    pub(super) fn new(limb: &Limb) -> Self {
        let (n, r, p) = (limb.coords.len(), limb.elastic_rows(), limb.parts.len());
        let zero = [S::zero(); 6];
        Self {
            a: Dense::zeros(limb.rows(), limb.width()),
            twists: vec![Twist::zero(); limb.joints.len()],
            J: vec![zero; n],
            virtual_twists: vec![zero; limb.counts[2]],
            virtual_rates: vec![zero; limb.counts[2]],
            loads: vec![zero; p * r],
            C: Dense::zeros(r, r + 6),
            forces: vec![zero; r],
            H: Dense::zeros(n + 6, n + 6),
            pivots: Vec::with_capacity(limb.cols.len()),
            scratch: vec![S::zero(); (limb.counts[2] + 6) * limb.counts[2].max(1)],
            columns: Vec::with_capacity(n + 6),
            ends: Vec::with_capacity(n + 6),
        }
    }
}

impl<S: Real> CartesianModel<S> {
    /// Memory for one computation.
    pub fn data(&self) -> CartesianData<S> {
        let plan = &self.plan;
        let zero = [[S::zero(); 6]; 6];
        CartesianData {
            M: zero,
            K_R: zero,
            K_F: zero,
            B: Dense::zeros(6, 6 - plan.rigid.rows.len()),
            B_R: Dense::zeros(6, 6 - plan.constraints.rows.len()),
            limbs: plan.limbs.iter().map(LimbData::new).collect(),
            rigid: Dense::zeros(plan.rigid_rows(), 6),
            constraints: Dense::zeros(plan.constraint_rows(), 6),
            pivots: Vec::with_capacity(12),
        }
    }
}

/// All matrices at a posture whose bodies are posed.
pub fn assemble_cartesian<S: Real>(
    model: &Model<S>,
    cartesian: &CartesianModel<S>,
    pos: &Positions<S>,
    data: &mut CartesianData<S>,
) {
    let plan: &Arc<CartesianPlan> = &cartesian.plan;
    let zero = [[S::zero(); 6]; 6];
    (data.M, data.K_R, data.K_F) = (platform_inertia(&model.numbers().platform, &pos.X_WE), zero, zero);
    let (mut stiff, mut bound) = (0, 0);
    for ((limb, numbers), own) in plan.limbs.iter().zip(&cartesian.limbs).zip(&mut data.limbs) {
        fill_rows(model, limb, pos, own);
        eliminate(limb, own);
        complete(model, limb, pos, own);
        stiffness(limb, numbers, pos, own);
        inertia(model, limb, numbers, pos, own);
        add_drives(limb, numbers, own, &mut data.K_R);
        add_stiffness(limb, own, &mut data.K_F);
        add_inertia(limb, own, &mut data.M);
        let n = limb.coords.len();
        let r = limb.elastic_rows();
        for i in &limb.stiff {
            (0..6).for_each(|k| *data.rigid.at_mut(stiff, k) = own.C.at(*i, r + k));
            stiff += 1;
        }
        for i in 0..limb.counts[2] {
            let row = limb.cols.len() + i;
            (0..6).for_each(|k| *data.constraints.at_mut(bound, k) = own.a.at(row, n + k));
            bound += 1;
        }
    }
    allowed(&plan.rigid, &mut data.rigid, &mut data.pivots, &mut data.B);
    allowed(&plan.constraints, &mut data.constraints, &mut data.pivots, &mut data.B_R);
}

/// The inertia of the platform at its origin, in world axes.
fn platform_inertia<S: Real>(I: &Inertia<S>, X_WE: &Pose<S>) -> Mat6<S> {
    let here = Pose { R: X_WE.R, p: Vec3::zeros() };
    let turned = I.seen_from(&here);
    let mut M = [[S::zero(); 6]; 6];
    for k in 0..6 {
        let mut unit = [S::zero(); 6];
        unit[k] = S::one();
        let p = turned.momentum(Twist::from_array(unit)).to_array();
        (0..6).for_each(|i| M[i][k] = p[i]);
    }
    M
}

/// Closure rows over coordinates, platform twist and what parts do, at the platform origin.
pub(super) fn fill_rows<S: Real>(model: &Model<S>, limb: &Limb, pos: &Positions<S>, data: &mut LimbData<S>) {
    for (joint, twist) in limb.joints.iter().zip(&mut data.twists) {
        let own = joint_twist(model, joint.body, pos);
        *twist = match joint.coupling {
            Some(i) => own.scale(model.numbers().bodies[joint.body].coupling[i].1),
            None => own,
        };
    }
    data.a.clear();
    let n = limb.coords.len();
    for (k, closure) in limb.closures.iter().enumerate() {
        let at = attachment(model, closure.id, pos);
        let r = at.B.p - pos.X_WE.p;
        let turn = Wrench { f: Vec3::zeros(), m: at.B.R.z() };
        let last = (limb.last == Some(k)).then(|| (limb.rows() - 1, turn));
        let rows = closure.rows.iter().map(|(place, row)| (*place, at.wrench(row_kind(at.joint, *row)).at(-r)));
        for (place, w) in rows.chain(last) {
            for (way, sign) in closure.ways.iter().zip([-S::one(), S::one()]) {
                for j in &way.joints {
                    *data.a.at_mut(place, limb.joints[*j].column) += sign * data.twists[*j].power(w);
                }
            }
            let w = w.to_array();
            let mut put = |first: usize, sign: i8| {
                if sign != 0 {
                    (0..6).for_each(|c| *data.a.at_mut(place, first + c) = w[c] * S::lit(f64::from(sign)));
                }
            };
            put(n, closure.platform);
            limb.patterns.iter().enumerate().for_each(|(e, p)| put(n + 6 + 6 * e, p[k]));
        }
    }
}

/// Solve for the coordinates: those that have a row stand alone in it, and in no other.
fn eliminate<S: Real>(limb: &Limb, data: &mut LimbData<S>) {
    let (width, n) = (data.a.cols, limb.coords.len());
    data.pivots.clear();
    let a = &mut data.a.data;
    for (k, &col) in limb.cols.iter().enumerate() {
        let pivot = a[k * width + col];
        data.pivots.push(pivot * S::lit(limb.scales[k]));
        let scale = pivot.recip();
        a[k * width..(k + 1) * width].iter_mut().for_each(|x| *x *= scale);
        let (above, rest) = a.split_at_mut(k * width);
        let (own, below) = rest.split_at_mut(width);
        for row in above.chunks_exact_mut(width).chain(below.chunks_exact_mut(width)) {
            let factor = row[col];
            row.iter_mut().zip(own.iter()).for_each(|(x, y)| *x = factor.mul_add(-*y, *x));
        }
    }
    data.J.fill([S::zero(); 6]);
    for (k, &col) in limb.cols.iter().enumerate() {
        (0..6).for_each(|c| data.J[col][c] = -a[k * width + n + c]);
    }
}

fn six<S: Real>(a: &Dense<S>, row: usize, first: usize) -> Vec6<S> {
    std::array::from_fn(|c| a.at(row, first + c))
}

/// Product of two rows of six.
#[inline(always)]
pub(super) fn product<S: Real>(a: &Vec6<S>, b: &Vec6<S>) -> S {
    let mut sum = a[0] * b[0];
    (1..6).for_each(|k| sum = a[k].mul_add(b[k], sum));
    sum
}

/// Virtual joints, section 2 of the method: motions `T_c` against the constraints, the rows `(W_c T_c)⁻¹ W_c` that measure them,
/// and the rates of the joints for a platform that moves against the constraints: `J (1 - T_c (W_c T_c)⁻¹ W_c)`.
fn complete<S: Real>(model: &Model<S>, limb: &Limb, pos: &Positions<S>, data: &mut LimbData<S>) {
    let (n, m) = (limb.coords.len(), limb.counts[2]);
    if m == 0 {
        return;
    }
    let first = limb.cols.len();
    let (r, weight) = if limb.at_origin {
        (Vec3::zeros(), S::one())
    } else {
        let weight = S::lit(1.0 / (model.length() * model.length()));
        (holding_point(model, limb, pos) - pos.X_WE.p, weight)
    };
    for i in 0..m {
        let w = Wrench::from_array(six(&data.a, first + i, n)).at(r);
        data.virtual_twists[i] = Twist { v: w.f, w: w.m * weight }.at(-r).to_array();
    }
    measure(limb, data);
    if let Some(k) = limb.last {
        turn_last(model, limb, k, pos, data);
        measure(limb, data);
    }
    project(limb, data);
}

/// Rates of the joints for a platform that moves against the constraints.
fn project<S: Real>(limb: &Limb, data: &mut LimbData<S>) {
    for j in 0..limb.coords.len() {
        let row = data.J[j];
        for i in 0..limb.counts[2] {
            let against = product(&row, &data.virtual_twists[i]);
            (0..6).for_each(|c| data.J[j][c] -= against * data.virtual_rates[i][c]);
        }
    }
}

/// The middle of the points where a limb holds the platform.
fn holding_point<S: Real>(model: &Model<S>, limb: &Limb, pos: &Positions<S>) -> Vec3<S> {
    let holding = limb.closures.iter().filter(|c| c.platform != 0);
    let mut count = 0.0;
    let mut sum = Vec3::zeros();
    for c in holding {
        sum += attachment(model, c.id, pos).B.p;
        count += 1.0;
    }
    if count > 0.0 { sum * S::lit(1.0 / count) } else { pos.X_WE.p }
}

/// `(W_c T_c)⁻¹ W_c`.
fn measure<S: Real>(limb: &Limb, data: &mut LimbData<S>) {
    let (n, m, first) = (limb.coords.len(), limb.counts[2], limb.cols.len());
    let (G, column) = data.scratch.split_at_mut(m * m);
    for i in 0..m {
        let w = six(&data.a, first + i, n);
        (0..m).for_each(|j| G[i * m + j] = product(&w, &data.virtual_twists[j]));
    }
    lu(G, m);
    for c in 0..6 {
        (0..m).for_each(|i| column[i] = data.a.at(first + i, n + c));
        lu_solve(G, m, &mut column[..m]);
        (0..m).for_each(|i| data.virtual_rates[i][c] = column[i]);
    }
}

/// Adds so much of the last joint to the one virtual motion that the wrench of that joint becomes a pure force.
fn turn_last<S: Real>(model: &Model<S>, limb: &Limb, k: usize, pos: &Positions<S>, data: &mut LimbData<S>) {
    let n = limb.coords.len();
    let mut w = six(&data.a, limb.rows() - 1, n);
    let along = product(&w, &data.virtual_twists[0]);
    let y = data.virtual_rates[0];
    (0..6).for_each(|c| w[c] -= along * y[c]);
    let (w, y) = (Wrench::from_array(w), Wrench::from_array(y));
    let (pitch, turn) = (dot(w.f, w.m), dot(w.f, y.m));
    let share = pitch * turn / (turn * turn + S::lit(1e-200));
    let at = attachment(model, limb.closures[k].id, pos);
    let last = Twist { v: Vec3::zeros(), w: at.B.R.z() }.at(pos.X_WE.p - at.B.p).to_array();
    (0..6).for_each(|c| data.virtual_twists[0][c] += share * last[c]);
}

/// Compliance of the elastic rows, (37)-(43), and what the platform's motion asks of them.
fn stiffness<S: Real>(limb: &Limb, numbers: &LimbNumbers<S>, pos: &Positions<S>, data: &mut LimbData<S>) {
    let (n, r, free) = (limb.coords.len(), limb.elastic_rows(), limb.counts[0]);
    data.C.clear();
    for ((column, _), compliance) in limb.springs.iter().zip(&numbers.springs) {
        for i in 0..r {
            let x = data.a.at(free + i, *column) * *compliance;
            (0..r).for_each(|j| *data.C.at_mut(i, j) += x * data.a.at(free + j, *column));
        }
    }
    for (k, (part, numbers)) in limb.parts.iter().zip(&numbers.parts).enumerate() {
        let X = pos.node(numbers.host) * numbers.X;
        let from = X.p - pos.X_WE.p;
        let first = n + part.pattern.map_or(0, |e| 6 + 6 * e);
        for i in 0..r {
            let w = Wrench::from_array(six(&data.a, free + i, first)).at(from);
            data.loads[k * r + i] = Wrench { f: X.R.apply_inv(w.f), m: X.R.apply_inv(w.m) }.to_array();
        }
        match &numbers.gives {
            Gives::Constant(C) => add_compliance(C, r, k, data),
            Gives::Pair(pair) => add_compliance(&pair.compliance(pair.distance(&X, pos)), r, k, data),
        }
    }
    for i in 0..r {
        (0..6).for_each(|c| *data.C.at_mut(i, r + c) = data.a.at(free + i, n + c));
    }
    for &i in &limb.soft {
        let scale = data.C.at(i, i).recip();
        (0..r + 6).for_each(|c| *data.C.at_mut(i, c) *= scale);
        for row in (0..r).filter(|row| *row != i) {
            let factor = data.C.at(row, i);
            for c in 0..r + 6 {
                let x = data.C.at(i, c);
                *data.C.at_mut(row, c) -= factor * x;
            }
        }
    }
    for i in 0..r {
        data.forces[i] = six(&data.C, i, r);
    }
}

fn add_compliance<S: Real>(C: &Mat6<S>, r: usize, part: usize, data: &mut LimbData<S>) {
    for i in 0..r {
        let w = data.loads[part * r + i];
        let gives: Vec6<S> = std::array::from_fn(|c| product(&C[c], &w));
        for j in 0..r {
            let x = product(&gives, &data.loads[part * r + j]);
            *data.C.at_mut(i, j) += x;
        }
    }
}

impl<S: Real> PairNumbers<S> {
    /// How far apart the rods are, across them: `X` is the frame at their end.
    pub(super) fn distance(&self, X: &Pose<S>, pos: &Positions<S>) -> S {
        dot(self.half_in_world(pos), X.R.column(1)) * S::lit(2.0)
    }

    /// Half of the short side in the world: the bar turned back by its joint.
    fn half_in_world(&self, pos: &Positions<S>) -> Vec3<S> {
        let coupler = &pos.X_WB[BodyId::new(self.bar.index() + 1)];
        coupler.R.apply(self.half)
    }
}

/// Inertia over coordinates and platform twist: bodies, rods, rotors.
fn inertia<S: Real>(
    model: &Model<S>,
    limb: &Limb,
    numbers: &LimbNumbers<S>,
    pos: &Positions<S>,
    data: &mut LimbData<S>,
) {
    let n = limb.coords.len();
    data.H.clear();
    (0..n).for_each(|c| *data.H.at_mut(c, c) = numbers.rotors[c]);
    for mass in &limb.masses {
        columns(limb, &mass.way, &data.twists, &mut data.columns);
        let X = &pos.X_WB[mass.body];
        let r = X.p - pos.X_WE.p;
        let I = &model.numbers().bodies[mass.body].inertia;
        for a in 0..data.columns.len() {
            let local = local_twist(X, r, data.columns[a].1);
            let p = I.momentum(local);
            for b in 0..=a {
                let x = local_twist(X, r, data.columns[b].1).power(p);
                add_symmetric(&mut data.H, data.columns[a].0, data.columns[b].0, a == b, x);
            }
        }
    }
    for (rod, numbers) in limb.rods.iter().zip(&numbers.rods) {
        rod_inertia(limb, rod, numbers, model, pos, data);
    }
}

/// A motion at the platform origin seen from a body.
#[inline(always)]
fn local_twist<S: Real>(X: &Pose<S>, r: Vec3<S>, V: Twist<S>) -> Twist<S> {
    let at = V.at(r);
    Twist { v: X.R.apply_inv(at.v), w: X.R.apply_inv(at.w) }
}

fn add_symmetric<S: Real>(H: &mut Dense<S>, i: usize, j: usize, same: bool, x: S) {
    *H.at_mut(i, j) += x;
    if !same {
        *H.at_mut(j, i) += x;
    }
}

/// Columns that move something, with the motion that each gives it, at the platform origin.
fn columns<S: Real>(limb: &Limb, way: &WayToRoot, twists: &[Twist<S>], out: &mut Vec<(usize, Twist<S>)>) {
    out.clear();
    for j in &way.joints {
        let (column, V) = (limb.joints[*j].column, twists[*j]);
        match out.iter_mut().find(|(c, _)| *c == column) {
            Some((_, sum)) => *sum = *sum + V,
            None => out.push((column, V)),
        }
    }
    if way.on_platform {
        for k in 0..6 {
            let mut unit = [S::zero(); 6];
            unit[k] = S::one();
            out.push((limb.coords.len() + k, Twist::from_array(unit)));
        }
    }
}

/// Slender rods between their ends: `m/3 (aᵀa + bᵀb + (aᵀb + bᵀa)/2)` for each, with the velocities of its ends.
fn rod_inertia<S: Real>(
    limb: &Limb,
    rod: &super::plan::Rod,
    numbers: &PairNumbers<S>,
    model: &Model<S>,
    pos: &Positions<S>,
    data: &mut LimbData<S>,
) {
    let topology = model.topology();
    let start = pos.node(topology.bodies[rod.bar].parent) * model.numbers().bodies[rod.bar].X_PF.p - pos.X_WE.p;
    let end = pos.X_WB[rod.bar] * numbers.to - pos.X_WE.p;
    let half = numbers.half_in_world(pos);
    for side in [S::one(), -S::one()] {
        data.ends.clear();
        for (way, p, first) in [(&rod.start, start + half * side, true), (&rod.end, end + half * side, false)] {
            columns(limb, way, &data.twists, &mut data.columns);
            for (c, V) in &data.columns {
                let v = V.v + cross(V.w, p);
                let found = data.ends.iter().position(|e| e.0 == *c).unwrap_or_else(|| {
                    data.ends.push((*c, Vec3::zeros(), Vec3::zeros()));
                    data.ends.len() - 1
                });
                *(if first { &mut data.ends[found].1 } else { &mut data.ends[found].2 }) = v;
            }
        }
        let third = numbers.mass * S::lit(1.0 / 3.0);
        for i in 0..data.ends.len() {
            for j in 0..=i {
                let ((c, a, b), (d, e, f)) = (data.ends[i], data.ends[j]);
                let x = dot(a, e) + dot(b, f) + (dot(a, f) + dot(b, e)) * S::lit(0.5);
                add_symmetric(&mut data.H, c, d, i == j, third * x);
            }
        }
    }
}

/// `K_R = Σ k r rᵀ` over the rows of the drives, (14).
fn add_drives<S: Real>(limb: &Limb, numbers: &LimbNumbers<S>, data: &LimbData<S>, K_R: &mut Mat6<S>) {
    for ((column, drive), k) in limb.springs.iter().zip(&numbers.drives) {
        if *drive {
            add_outer(K_R, &data.J[*column], &data.J[*column], *k);
        }
    }
}

/// `out += k a bᵀ`.
#[inline(always)]
fn add_outer<S: Real>(out: &mut Mat6<S>, a: &Vec6<S>, b: &Vec6<S>, k: S) {
    for i in 0..6 {
        let x = a[i] * k;
        (0..6).for_each(|j| out[i][j] = x.mul_add(b[j], out[i][j]));
    }
}

/// `K_F = Σ Rᵀ C⁻¹ R` over the rows that give way, (13).
fn add_stiffness<S: Real>(limb: &Limb, data: &LimbData<S>, K_F: &mut Mat6<S>) {
    let (n, free) = (limb.coords.len(), limb.counts[0]);
    for i in &limb.soft {
        add_outer(K_F, &six(&data.a, free + i, n), &data.forces[*i], S::one());
    }
}

/// `M = Jᵀ H J`, with the platform twist itself below the rates.
fn add_inertia<S: Real>(limb: &Limb, data: &LimbData<S>, M: &mut Mat6<S>) {
    let n = limb.coords.len();
    let with_platform = limb.masses.iter().any(|m| m.way.on_platform)
        || limb.rods.iter().any(|r| r.start.on_platform || r.end.on_platform);
    for i in 0..n {
        let mut HJ = [S::zero(); 6];
        for j in 0..n {
            let h = data.H.at(i, j);
            (0..6).for_each(|c| HJ[c] = h.mul_add(data.J[j][c], HJ[c]));
        }
        if with_platform {
            (0..6).for_each(|c| HJ[c] += data.H.at(i, n + c));
        }
        add_outer(M, &data.J[i], &HJ, S::one());
    }
    if with_platform {
        for (i, row) in M.iter_mut().enumerate() {
            for (c, entry) in row.iter_mut().enumerate() {
                *entry += (0..n).fold(data.H.at(n + i, n + c), |sum, j| sum + data.H.at(n + i, j) * data.J[j][c]);
            }
        }
    }
}

/// A basis of the twists on which rows vanish, one per column.
fn allowed<S: Real>(order: &PivotOrder, rows: &mut Dense<S>, pivots: &mut Vec<S>, B: &mut Dense<S>) {
    order.eliminate(rows, pivots);
    B.clear();
    let independent = (0..6).filter(|c| !order.cols.contains(c));
    for (k, c) in independent.enumerate() {
        *B.at_mut(c, k) = S::one();
        for (&i, &j) in order.rows.iter().zip(&order.cols) {
            *B.at_mut(j, k) = -rows.at(i, c);
        }
    }
}

/// `Bᵀ A B`.
pub fn on_basis<S: Real>(A: &Mat6<S>, B: &Dense<S>) -> Dense<S> {
    let f = B.cols;
    let mut out = Dense::zeros(f, f);
    for j in 0..f {
        let AB: Vec6<S> = std::array::from_fn(|i| (0..6).fold(S::zero(), |s, k| s + A[i][k] * B.at(k, j)));
        (0..f).for_each(|i| *out.at_mut(i, j) = (0..6).fold(S::zero(), |s, k| s + B.at(k, i) * AB[k]));
    }
    out
}

/// Along which elastic rows something gives way, and which motions the rows along which nothing does leave, at a posture.
pub(super) fn settle(model: &Model<f64>, plan: &mut CartesianPlan, pos: &Positions<f64>) {
    let mut rigid: Vec<Vec6<f64>> = Vec::new();
    let mut bound: Vec<Vec6<f64>> = Vec::new();
    for limb in &mut plan.limbs {
        let numbers = LimbNumbers::new(model, limb);
        let mut data = LimbData::new(limb);
        fill_rows(model, limb, pos, &mut data);
        eliminate(limb, &mut data);
        stiffness(limb, &numbers, pos, &mut data);
        (limb.soft, limb.stiff) = soft_rows(&data.C);
        stiffness(limb, &numbers, pos, &mut data);
        rigid.extend(limb.stiff.iter().map(|i| data.forces[*i]));
        bound.extend((0..limb.counts[2]).map(|i| six(&data.a, limb.cols.len() + i, limb.coords.len())));
    }
    plan.rigid = pivots_of(model, &rigid);
    plan.constraints = pivots_of(model, &bound);
}

/// Pivots down the diagonal of a compliance, largest share of what the row had first: rows that keep less than this share give
/// way only with the others, or not at all.
fn soft_rows(C: &Dense<f64>) -> (Vec<usize>, Vec<usize>) {
    const LEAST: f64 = 1e-9;
    let r = C.rows;
    let own: Vec<f64> = (0..r).map(|i| C.at(i, i)).collect();
    let mut C = C.clone();
    let mut soft: Vec<usize> = Vec::new();
    loop {
        let share = |i: usize, C: &Dense<f64>| if own[i] > 0.0 { C.at(i, i) / own[i] } else { 0.0 };
        let open = (0..r).filter(|i| !soft.contains(i));
        let Some(best) = open.max_by(|a, b| share(*a, &C).total_cmp(&share(*b, &C)).then(b.cmp(a))) else { break };
        if !(share(best, &C) > LEAST) {
            break;
        }
        for i in (0..r).filter(|i| *i != best && !soft.contains(i)) {
            let factor = C.at(i, best) / C.at(best, best);
            for j in 0..r {
                let x = C.at(best, j);
                *C.at_mut(i, j) -= factor * x;
            }
        }
        soft.push(best);
    }
    let stiff = (0..r).filter(|i| !soft.contains(i)).collect();
    (soft, stiff)
}

/// Pivots of wrenches, forces and moments made comparable; components that are no platform coordinates first.
fn pivots_of(model: &Model<f64>, rows: &[Vec6<f64>]) -> PivotOrder {
    let mut W = Dense::zeros(rows.len(), 6);
    for (i, row) in rows.iter().enumerate() {
        let scaled: Vec6<f64> = std::array::from_fn(|k| if k < 3 { row[k] * model.length() } else { row[k] });
        let size = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
        (0..6).for_each(|k| *W.at_mut(i, k) = if size > 0.0 { scaled[k] / size } else { 0.0 });
    }
    let independent: Vec<usize> = model.topology().platform.independent.iter().map(|c| c.index()).collect();
    let dependent: Vec<usize> = (0..6).filter(|k| !independent.contains(k)).collect();
    PivotOrder::staged(&W, &[&dependent, &independent], RANK_TOLERANCE)
}

/// Rates of the joints and of the virtual joints of a limb whose virtual motions are given.
pub(super) fn displaced_rows<S: Real>(
    model: &Model<S>,
    limb: &Limb,
    pos: &Positions<S>,
    virtual_twists: &[Vec6<S>],
    data: &mut LimbData<S>,
) {
    fill_rows(model, limb, pos, data);
    eliminate(limb, data);
    if virtual_twists.is_empty() {
        return;
    }
    data.virtual_twists.copy_from_slice(virtual_twists);
    measure(limb, data);
    project(limb, data);
}
