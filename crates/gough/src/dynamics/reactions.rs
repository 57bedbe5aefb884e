//! Forces in the joints, (8.82)-(8.86): what every body gets from the one it stands on, and what passes through the closures.

use super::conditions::Conditions;
use super::newton_euler::{LegEfforts, Sign, leg_wrenches, needed};
use super::reduction::{in_pivot_order, resistance};
use crate::kinematics::closure::{MOST_ROWS, closure_at, row_kind};
use crate::kinematics::motion::{Motion, with_factored_legs};
use crate::kinematics::{Positions, screw};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::lu_solve_transposed;
use crate::model::{Anchor, BodyId, ClosureId, Id, LegId, Model, Node, PerBody, PerClosure, PerCoord};
use crate::spatial::{Vec3, Wrench};

/// Forces in all joints for a motion and efforts of the drives.
#[derive(Clone, Debug)]
pub struct Reactions {
    /// Wrench on each body from what it stands on, at the origin of frame M, in world axes.
    pub bodies: PerBody<Wrench<f64>>,
    /// What passes through each closure.
    pub closures: PerClosure<ThroughClosure>,
    /// Wrench of the ground on the robot, at the world origin.
    pub ground: Wrench<f64>,
    /// Efforts of all coordinates: of the drives, and zero, to rounding, of passive ones.
    pub efforts: PerCoord<f64>,
    /// Whether the closures leave no choice; in an over-constrained robot the shortest list of multipliers is taken.
    pub determined: bool,
}

/// What passes through a closure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ThroughClosure {
    /// Where, in the world.
    pub point: Vec3<f64>,
    /// Wrench of the first side on the second, at that point, in world axes.
    pub wrench: Wrench<f64>,
    /// The multipliers of its rows.
    pub multipliers: [f64; MOST_ROWS],
}

/// A row of a closure that gives no rate of a leg: it holds the platform, or repeats others.
type Spare = (ClosureId, usize);

/// Forces in all joints; `drives` are the efforts of the active coordinates, as inverse dynamics gave them.
pub(super) fn reactions(
    model: &Model<f64>,
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
    conditions: &Conditions,
    friction: Option<Sign>,
    drives: &[f64],
) -> Reactions {
    let spares = spares(model, pos, motion);
    let mut run = |nu: &[f64]| SpareForces::of(model, pos, motion, conditions, friction, drives, &spares, nu);
    let nothing = vec![0.0; spares.len()];
    let start = run(&nothing);
    // The platform lacks something that only the spare rows can give; each gives so much per unit.
    let length = model.length();
    let six = |F: &Wrench<f64>| {
        let w = F.to_array();
        [w[0], w[1], w[2], w[3] / length, w[4] / length, w[5] / length]
    };
    let lack = six(&start.lack);
    let columns: Vec<[f64; 6]> = (0..spares.len())
        .map(|k| {
            let mut nu = nothing.clone();
            nu[k] = 1.0;
            let with = six(&run(&nu).lack);
            std::array::from_fn(|i| with[i] - lack[i])
        })
        .collect();
    if spares.is_empty() {
        return start.finish(model, pos, true);
    }
    // Moments are compared with forces at the length of the robot: rows of orientation are scaled so.
    let scale = |k: usize| {
        let (c, row) = spares[k];
        if row_kind(model.topology().closures[c].joint, row).is_length() { 1.0 } else { length }
    };
    let a = Matrix::from_fn(6, spares.len(), |i, k| columns[k][i] * scale(k));
    let f = svd(&a);
    let nu: Vec<f64> = f.least_squares(&lack.map(|x| -x)).into_iter().enumerate().map(|(k, x)| x * scale(k)).collect();
    let determined = f.rank() == spares.len();
    run(&nu).finish(model, pos, determined)
}

/// Rows of closures that give no rate, those that do nothing at all left out.
fn spares(model: &Model<f64>, pos: &mut Positions<f64>, motion: &mut Motion<f64>) -> Vec<Spare> {
    let topology = model.topology();
    let mut list = Vec::new();
    let order = topology.order.iter().copied();
    with_factored_legs(model, order, pos, motion, |id, at, _| {
        for (k, c) in topology.legs[id].closures.iter().enumerate() {
            let used = &at.pivots.by_closure[k];
            let rows = topology.closures[c].joint.rows();
            list.extend((0..rows).filter(|r| !used.iter().any(|u| u.1 == *r)).map(|r| (c, r)));
        }
    });
    // The ball at a tool point that only moves in a plane has rows that nothing works against; they stay, and get zero.
    list
}

/// Forces for given multipliers of the spare rows.
struct SpareForces {
    bodies: PerBody<Wrench<f64>>,
    multipliers: PerClosure<[f64; MOST_ROWS]>,
    /// Efforts of rotors and friction.
    beside: PerCoord<f64>,
    /// What the platform still lacks.
    lack: Wrench<f64>,
}

impl SpareForces {
    #[allow(clippy::too_many_arguments)]
    fn of(
        model: &Model<f64>,
        pos: &mut Positions<f64>,
        motion: &mut Motion<f64>,
        conditions: &Conditions,
        friction: Option<Sign>,
        drives: &[f64],
        spares: &[Spare],
        nu: &[f64],
    ) -> Self {
        let (topology, numbers) = (model.topology(), model.numbers());
        let mut run = Self {
            bodies: topology.bodies.map(|_, _| Wrench::zero()),
            multipliers: topology.closures.map(|_, _| [0.0; MOST_ROWS]),
            beside: topology.coords.map(|_, _| 0.0),
            lack: needed(&numbers.platform, &pos.X_WE, motion.V_WE.w, motion.A_WE, numbers.gravity),
        };
        for ((c, row), nu) in spares.iter().zip(nu) {
            run.multipliers[*c][*row] = *nu;
        }
        for (node, F) in &conditions.loads {
            run.add(*node, -*F);
        }
        let frames = topology.closures.map(|c, _| closure_at(model, c, pos));
        let through = |c: ClosureId, multipliers: &[f64; MOST_ROWS]| {
            let at = &frames[c];
            let rows = topology.closures[c].joint.rows();
            (0..rows).fold(Wrench::zero(), |sum, row| {
                let F = at.wrench(row_kind(at.joint, row));
                sum + Wrench { f: F.f * multipliers[row], m: F.m * multipliers[row] }
            })
        };
        let places = pos.X_WB.clone();
        let platform = pos.X_WE.p;
        let origin = |node: Node| match node {
            Node::World => Vec3::zeros(),
            Node::Platform => platform,
            Node::Body(b) => places[b].p,
        };
        let order: Vec<LegId> = topology.order.iter().rev().copied().collect();
        with_factored_legs(model, order.into_iter(), pos, motion, |id, at, motion| {
            let leg = &topology.legs[id];
            // What is given to the spare rows acts on the sides of the closures.
            for c in leg.closures.iter() {
                let F = through(c, &run.multipliers[c]);
                for (node, F) in topology.closures[c].sides.into_iter().zip([F, -F]) {
                    run.add(node, F.at(origin(node) - frames[c].B.p));
                }
            }
            let efforts = run.beside.slice_mut(leg.coords);
            resistance(at, motion, friction, efforts);
            let mut tree: Vec<f64> = efforts.to_vec();
            let mut roots = Vec::new();
            let mut own = LegEfforts { F_WB: run.bodies.slice_mut(leg.bodies), efforts: &mut tree };
            leg_wrenches(at, motion, numbers.gravity, &mut own, |root, F| roots.push((root, F)));
            for (k, c) in topology.active.iter().enumerate() {
                if let Some(c) = leg.coords.local(*c) {
                    tree[c] -= drives[k];
                }
            }
            let n = at.pivots.cols.len();
            let mut mu = vec![0.0; n];
            in_pivot_order(at, &tree, &mut mu);
            lu_solve_transposed(motion.factors, n, &mut mu);
            for (root, F) in roots {
                run.add(node_of(leg, root), F);
            }
            for (k, c) in leg.closures.iter().enumerate() {
                let mut more = [0.0; MOST_ROWS];
                for (i, row) in &at.pivots.by_closure[k] {
                    more[*row] = mu[*i];
                    run.multipliers[c][*row] = mu[*i];
                }
                let F = through(c, &more);
                for (path, F) in topology.closures[c].paths.iter().zip([F, -F]) {
                    let nodes = path.bodies.iter().map(|b| node_of(leg, Anchor::Body(*b)));
                    for node in nodes.chain([node_of(leg, path.root)]) {
                        run.add(node, F.at(origin(node) - frames[c].B.p));
                    }
                }
            }
        });
        run
    }

    fn add(&mut self, node: Node, F: Wrench<f64>) {
        match node {
            Node::World => {}
            Node::Platform => self.lack = self.lack + F,
            Node::Body(b) => self.bodies[b] = self.bodies[b] + F,
        }
    }

    fn finish(self, model: &Model<f64>, pos: &Positions<f64>, determined: bool) -> Reactions {
        let topology = model.topology();
        let closures = self.multipliers.map(|c, multipliers| {
            let at = closure_at(model, c, pos);
            let rows = topology.closures[c].joint.rows();
            let wrench = (0..rows).fold(Wrench::zero(), |sum, row| {
                let F = at.wrench(row_kind(at.joint, row));
                sum + Wrench { f: F.f * multipliers[row], m: F.m * multipliers[row] }
            });
            ThroughClosure { point: at.B.p, wrench, multipliers: *multipliers }
        });
        let mut efforts = self.beside;
        for (b, body) in topology.bodies.iter() {
            let X = &pos.X_WB[b];
            let effort = screw(body.joint, X, X.p).power(self.bodies[b]);
            match body.coord {
                Some(c) => efforts[c] += effort,
                None => model.numbers().bodies[b].coupling.iter().for_each(|(c, k)| efforts[*c] += k * effort),
            }
        }
        let on_ground = |b: &(BodyId, &crate::model::Body)| b.1.parent == Node::World;
        let roots = topology.bodies.iter().filter(on_ground);
        let mut ground = roots.fold(Wrench::zero(), |sum, (b, _)| sum + self.bodies[b].at(-pos.X_WB[b].p));
        for (c, closure) in topology.closures.iter() {
            let through: &ThroughClosure = &closures[c];
            for (node, F) in closure.sides.into_iter().zip([through.wrench, -through.wrench]) {
                if node == Node::World {
                    ground = ground + F.at(-through.point);
                }
            }
        }
        Reactions { bodies: self.bodies, closures, ground, efforts, determined }
    }
}

fn node_of(leg: &crate::model::Leg, anchor: Anchor) -> Node {
    match anchor {
        Anchor::World => Node::World,
        Anchor::Platform => Node::Platform,
        Anchor::Body(b) => Node::Body(BodyId::new(leg.bodies.range().start + b)),
        Anchor::Outside(k) => Node::Body(leg.outside[k]),
    }
}
