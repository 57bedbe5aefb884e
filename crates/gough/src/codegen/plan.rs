//! What is decided once, on `f64`, before a model is traced: in which frame the rows of each closure are written, which of
//! them give the rates of a leg, and in which order systems are solved.

use super::frames::{Pointing, parallel};
use super::legs::Legs;
use crate::description::ClosureJoint;
use crate::kinematics::Positions;
use crate::kinematics::closure::{RowKind, row_kind};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{BodyId, ClosureId, CoordId, JointKind, LegId, Model, Node, PerBody, PerClosure, PerLeg};

/// How a closure is written down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Tie {
    /// Which side it is seen from, 0 or 1.
    pub side: usize,
    /// The body on that side: the axes of the rows.
    pub node: Node,
    /// What it is tied to: the platform also where it is tied to a body at the very point that the platform hangs on.
    pub other: Node,
    /// The closure and side whose constant frame stands for the other side.
    pub other_frame: (ClosureId, usize),
    /// Only positions are compared.
    points_only: bool,
}

/// Closure rows that give the rates of a leg, in the order of elimination.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Pivots {
    pub rows: Vec<(ClosureId, usize)>,
    pub cols: Vec<CoordId>,
}

/// How the legs are written down.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LegsPlan {
    pub parallel: PerBody<bool>,
    pub pointing: PerBody<Option<Pointing>>,
    pub ties: PerClosure<Tie>,
    pub pivots: PerLeg<Pivots>,
    /// Columns of the platform wrenches that a leg has a part in: 0, and one more than the number of each drive.
    pub columns: PerLeg<Vec<usize>>,
    /// Closures that tie a body at its own origin to the platform.
    pub tied: PerBody<Option<ClosureId>>,
    /// Smallest pivot met at the postures looked at, without units.
    pub smallest_pivot: f64,
}

impl LegsPlan {
    /// For a robot, from postures around its home.
    pub fn new(model: &Model<f64>, postures: &[Positions<f64>]) -> Self {
        let topology = model.topology();
        let ties = topology.closures.map(|c, _| tie(model, c));
        let given = &topology.plan.given;
        let open = |c: &CoordId| !topology.is_held(*c) && !given.contains(c);
        let mut plan = Self {
            parallel: parallel(model),
            pointing: topology.bodies.map(|b, _| points_at(model, &ties, b)),
            tied: topology.bodies.map(|b, _| tied_at_origin(model, &ties, b)),
            pivots: topology
                .legs
                .map(|_, leg| Pivots { rows: Vec::new(), cols: leg.coords.iter().filter(open).collect() }),
            columns: topology.legs.map(|_, _| Vec::new()),
            ties,
            smallest_pivot: f64::INFINITY,
        };
        for leg in topology.legs.ids() {
            let pivots = plan.leg_pivots(model, leg, postures);
            plan.pivots[leg] = pivots;
        }
        for &leg in topology.order.iter().rev() {
            plan.columns[leg] = plan.columns_of(model, leg);
        }
        plan
    }

    fn leg_pivots(&mut self, model: &Model<f64>, leg: LegId, postures: &[Positions<f64>]) -> Pivots {
        let topology = model.topology();
        let closures = topology.legs[leg].closures.iter();
        let wanted = |c: ClosureId, row: usize| {
            !self.ties[c].points_only || matches!(row_kind(topology.closures[c].joint, row), RowKind::Point(_))
        };
        let all: Vec<(ClosureId, usize)> = closures
            .flat_map(|c| (0..topology.closures[c].joint.rows()).map(move |row| (c, row)))
            .filter(|(c, row)| wanted(*c, *row))
            .collect();
        let cols = self.pivots[leg].cols.clone();
        let length = model.length();
        let scale = |i: usize, j: usize| {
            let (c, row) = all[i];
            let row = if row_kind(topology.closures[c].joint, row).is_length() { 1.0 / length } else { 1.0 };
            row * if topology.coords[cols[j]].slides { length } else { 1.0 }
        };
        let matrices: Vec<Dense<f64>> = postures
            .iter()
            .map(|pos| {
                let mut a = Legs::at_rest(model, self, pos).all_rows(leg, &all);
                (0..a.rows).for_each(|i| (0..a.cols).for_each(|j| *a.at_mut(i, j) *= scale(i, j)));
                a
            })
            .collect();
        let (order, smallest) = sparse_order(matrices);
        self.smallest_pivot = self.smallest_pivot.min(smallest);
        Pivots {
            rows: order.rows.iter().map(|i| all[*i]).collect(),
            cols: order.cols.iter().map(|j| cols[*j]).collect(),
        }
    }

    /// The closure that ties a leg to the platform, when all its pivot rows are positions of that closure.
    pub fn tip(&self, model: &Model<f64>, leg: LegId) -> Option<ClosureId> {
        let rows = &self.pivots[leg].rows;
        let (c, _) = *rows.first()?;
        let topology = model.topology();
        let point =
            |r: &(ClosureId, usize)| r.0 == c && matches!(row_kind(topology.closures[c].joint, r.1), RowKind::Point(_));
        let stands = topology.bodies[topology.legs[leg].bodies.iter().next()?].parent == Node::World;
        let tied = self.ties[c].other == Node::Platform && stands && self.stands_alone(model, leg);
        (tied && rows.iter().all(point)).then_some(c)
    }

    /// Whether no other leg is tied to or stands on a leg.
    fn stands_alone(&self, model: &Model<f64>, leg: LegId) -> bool {
        let topology = model.topology();
        let of_leg = |node: Node| matches!(node, Node::Body(b) if topology.bodies[b].leg == leg);
        let tied = topology.closures.iter().any(|(c, closure)| closure.leg != leg && of_leg(self.ties[c].other));
        let carries = topology.bodies.values().any(|b| b.leg != leg && of_leg(b.parent));
        !tied && !carries
    }

    /// Column 0, the leg's own drives, and those of legs that hang on it.
    fn columns_of(&self, model: &Model<f64>, leg: LegId) -> Vec<usize> {
        let topology = model.topology();
        let own = topology.active.iter().enumerate().filter(|(_, c)| topology.coords[**c].leg == leg);
        let mut columns: Vec<usize> = std::iter::once(0).chain(own.map(|(k, _)| 1 + k)).collect();
        for (c, closure) in topology.closures.iter() {
            let hangs = matches!(self.ties[c].other, Node::Body(b) if topology.bodies[b].leg == leg);
            if hangs && closure.leg != leg {
                columns.extend(self.columns[closure.leg].iter().copied());
            }
        }
        for (_, body) in topology.bodies.iter().filter(|(_, body)| body.leg != leg) {
            if matches!(body.parent, Node::Body(p) if topology.bodies[p].leg == leg) {
                columns.extend(self.columns[body.leg].iter().copied());
            }
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// Whether the joint leaves no distance between the origins of its sides.
pub(super) fn joins_points(joint: ClosureJoint) -> bool {
    matches!(row_kind(joint, 0), RowKind::Point(_))
}

fn tie(model: &Model<f64>, c: ClosureId) -> Tie {
    let topology = model.topology();
    let closure = &topology.closures[c];
    let depth = |node: Node| match node {
        Node::Body(b) if topology.bodies[b].leg == closure.leg => topology.path(b).len(),
        _ => 0,
    };
    let side = usize::from(depth(closure.sides[1]) > depth(closure.sides[0]));
    let other = closure.sides[1 - side];
    let plain = Tie { side, node: closure.sides[side], other, other_frame: (c, 1 - side), points_only: false };
    match other {
        Node::Body(b) if topology.bodies[b].leg != closure.leg && joins_points(closure.joint) => {
            let at = model.numbers().closures[c][1 - side].p;
            let place = platform_point(model, b, at);
            place.map_or(plain, |frame| Tie { other: Node::Platform, other_frame: frame, points_only: true, ..plain })
        }
        _ => plain,
    }
}

/// The closure, and its side, that hangs the platform on a body at a point of it.
fn platform_point(model: &Model<f64>, b: BodyId, p: crate::spatial::Vec3<f64>) -> Option<(ClosureId, usize)> {
    model.topology().closures.iter().find_map(|(c, closure)| {
        let own = closure.sides.iter().position(|s| *s == Node::Body(b))?;
        let hangs = closure.sides[1 - own] == Node::Platform && joins_points(closure.joint);
        let near = (model.numbers().closures[c][own].p - p).norm() < 1e-12 * model.size();
        (hangs && near).then_some((c, 1 - own))
    })
}

fn tied_at_origin(model: &Model<f64>, ties: &PerClosure<Tie>, b: BodyId) -> Option<ClosureId> {
    let tied = |c: ClosureId, tie: &Tie| {
        tie.node == Node::Body(b)
            && tie.other == Node::Platform
            && joins_points(model.topology().closures[c].joint)
            && model.numbers().closures[c][tie.side].p.norm() == 0.0
    };
    ties.iter().find(|(c, tie)| tied(*c, tie)).map(|(c, _)| c)
}

/// The tie of a revolute body's tip to the platform, when its leg is a run of parallel revolute axes from the base on.
fn points_at(model: &Model<f64>, ties: &PerClosure<Tie>, b: BodyId) -> Option<Pointing> {
    let topology = model.topology();
    let revolute = |b: &BodyId| topology.bodies[*b].joint == JointKind::Revolute;
    let path = topology.path(b);
    let axes = parallel(model);
    // Only the first body may stand otherwise: the whole run turns about one direction.
    let run = path.iter().all(revolute) && path[1..].iter().all(|b| axes[*b]);
    if !(run && topology.bodies[path[0]].parent == Node::World) {
        return None;
    }
    ties.iter().find_map(|(c, tie)| {
        let tip = model.numbers().closures[c][tie.side].p;
        let far = tip.xy().norm() > 1e-9 * model.size();
        let tied = tie.node == Node::Body(b) && tie.other == Node::Platform;
        (tied && far && joins_points(topology.closures[c].joint))
            .then_some(Pointing { own: (c, tie.side), platform: tie.other_frame })
    })
}

/// A pivot may be this much smaller than the best one when it leaves more zeros.
const WORTH: f64 = 0.1;
/// Entries below are zero.
const ZERO: f64 = 1e-13;
/// Pivots below end the elimination: the rows that are left depend on the others.
const DEPENDENT: f64 = 1e-8;

/// An order of elimination that serves all of these matrices and takes few operations (after Markowitz): among pivots that
/// are large enough everywhere, the one that is eliminated with fewest. Also the smallest pivot met.
pub(super) fn sparse_order(mut matrices: Vec<Dense<f64>>) -> (PivotOrder, f64) {
    let Some(first) = matrices.first() else { return (PivotOrder::default(), f64::INFINITY) };
    let (rows, cols) = (first.rows, first.cols);
    let (mut order, mut smallest) = (PivotOrder::default(), f64::INFINITY);
    while order.cols.len() < cols.min(rows) {
        let size = |i: usize, j: usize| matrices.iter().map(|a| a.at(i, j).abs()).fold(f64::INFINITY, f64::min);
        let filled = |i: usize, j: usize| matrices.iter().any(|a| a.at(i, j).abs() > ZERO);
        let open_rows: Vec<usize> = (0..rows).filter(|i| !order.rows.contains(i)).collect();
        let open_cols: Vec<usize> = (0..cols).filter(|j| !order.cols.contains(j)).collect();
        let entries = || open_rows.iter().flat_map(|i| open_cols.iter().map(|j| (*i, *j)));
        let best = entries().map(|(i, j)| size(i, j)).fold(0.0, f64::max);
        if best < DEPENDENT {
            break;
        }
        // Operations that a pivot takes: constants are folded, and a constant one is not multiplied by.
        let constant = |i: usize, j: usize| {
            let x = matrices[0].at(i, j);
            matrices.len() > 1 && matrices.iter().all(|a| (a.at(i, j) - x).abs() < ZERO)
        };
        let fill = |(i, j): (usize, usize)| {
            let fixed = constant(i, j);
            let plain = |k: usize| fixed && constant(i, k) && (size(i, k) - size(i, j)).abs() < ZERO;
            let others = open_cols.iter().filter(|k| **k != j && filled(i, **k));
            let row: usize = others.map(|k| if plain(*k) { 1 } else { 2 }).sum();
            let col = open_rows.iter().filter(|k| **k != i && filled(**k, j)).count();
            col * (row + usize::from(!fixed)) + usize::from(!fixed)
        };
        let good = entries().filter(|(i, j)| size(*i, *j) >= WORTH * best);
        let Some((i, j)) = good.min_by_key(|at| fill(*at)) else { break };
        smallest = smallest.min(size(i, j));
        order.rows.push(i);
        order.cols.push(j);
        for a in &mut matrices {
            for &r in open_rows.iter().filter(|r| **r != i) {
                let factor = a.at(r, j) / a.at(i, j);
                for k in 0..cols {
                    let x = a.at(i, k);
                    *a.at_mut(r, k) -= factor * x;
                }
            }
        }
    }
    (order, smallest)
}
