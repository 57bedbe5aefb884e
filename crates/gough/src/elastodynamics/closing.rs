//! Loops of rigid bodies inside a cluster: which variables depend on the others, and how, section 6.

use super::numbers::{ElasticNumbers, Sight, Vec6};
use super::plan::{Cluster, ElasticPlan, Variable};
use crate::kinematics::Positions;
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{CoordKind, Model};
use crate::scalar::Real;

/// Rows that the loops of a cluster impose on its variables: the frame reached over the link that closes the loop must be the
/// frame itself, `T_b - T̄ T_a - Σ s q = 0`, six rows per loop, (10.107).
pub(super) fn constraints<S: Real, P: Sight<S>>(
    model: &Model<S>,
    plan: &ElasticPlan,
    numbers: &ElasticNumbers<S>,
    cluster: &Cluster,
    pos: &P,
    scratch: &mut Vec<Vec6<S>>,
    out: &mut Dense<S>,
) {
    out.clear();
    for (row, link) in cluster.loops.iter().enumerate() {
        let link = &plan.links[*link];
        let [a, b] = link.frames;
        let [from, to] = [a, b].map(|f| numbers.spot(plan, f, pos));
        let mut add = |slot: usize, column: [S; 6]| {
            column.iter().enumerate().for_each(|(i, x)| *out.at_mut(6 * row + i, slot) += *x);
        };
        numbers.full_columns(model, plan, b, pos, scratch);
        scratch.iter().enumerate().for_each(|(slot, c)| add(slot, *c));
        numbers.full_columns(model, plan, a, pos, scratch);
        let X_AB = pos.seen(&from, &to);
        let across = |c: &Vec6<S>| (-X_AB.pull(crate::spatial::Twist::from_array(*c))).to_array();
        scratch.iter().enumerate().for_each(|(slot, c)| add(slot, across(c)));
        for ((_, screw), slot) in link.columns.iter().zip(&link.slots) {
            let (at, V) = numbers.screw(model, plan, screw, pos);
            add(*slot, (-pos.seen(&at, &to).pull(V)).to_array());
        }
    }
}

/// `q = J q_independent` for the variables of a cluster: the pivot rows of the eliminated constraints, (10.109)-(10.114).
pub(super) fn closing_matrix<S: Real>(cluster: &Cluster, rows: &mut Dense<S>, pivots: &mut Vec<S>, J: &mut Dense<S>) {
    cluster.order.eliminate(rows, pivots);
    J.clear();
    for (k, &v) in cluster.independent.iter().enumerate() {
        *J.at_mut(v, k) = S::one();
        for (&i, &j) in cluster.order.rows.iter().zip(&cluster.order.cols) {
            *J.at_mut(j, k) = -rows.at(i, v);
        }
    }
}

/// Which variables are eliminated, at a posture: freedoms of closures first, then passive joints, roots, driven joints.
pub(super) fn choose(model: &Model<f64>, plan: &mut ElasticPlan, pos: &Positions<f64>) {
    let numbers = ElasticNumbers::new(model, plan);
    for k in 0..plan.clusters.len() {
        let cluster = &plan.clusters[k];
        if cluster.loops.is_empty() {
            continue;
        }
        let mut rows = Dense::zeros(6 * cluster.loops.len(), cluster.variables.len());
        constraints(model, plan, &numbers, cluster, pos, &mut Vec::new(), &mut rows);
        scale(model, cluster, &mut rows);
        let stages: Vec<Vec<usize>> = (0..4)
            .map(|s| (0..cluster.variables.len()).filter(|v| stage(model, &cluster.variables[*v]) == s).collect())
            .collect();
        let stages: Vec<&[usize]> = stages.iter().map(Vec::as_slice).collect();
        let order = PivotOrder::staged(&rows, &stages, RANK_TOLERANCE);
        let independent = (0..cluster.variables.len()).filter(|v| !order.cols.contains(v)).collect();
        plan.clusters[k].order = order;
        plan.clusters[k].independent = independent;
    }
}

fn stage(model: &Model<f64>, v: &Variable) -> usize {
    let t = model.topology();
    match v {
        Variable::Cut(..) => 0,
        Variable::Joint(c) if t.coords[*c].kind == CoordKind::Passive => 1,
        Variable::Root(..) => 2,
        _ => 3,
    }
}

/// Metres over the length of the robot, in rows and columns.
fn scale(model: &Model<f64>, cluster: &Cluster, rows: &mut Dense<f64>) {
    let length = model.length();
    for j in 0..rows.cols {
        let slides = match cluster.variables[j] {
            Variable::Root(_, k) => k < 3,
            Variable::Joint(c) => model.topology().coords[c].slides,
            _ => false,
        };
        for i in 0..rows.rows {
            let row = if i % 6 < 3 { length.recip() } else { 1.0 };
            *rows.at_mut(i, j) *= row * if slides { length } else { 1.0 };
        }
    }
}
