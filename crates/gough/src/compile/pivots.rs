//! Orders of elimination, chosen on `f64` at the posture where they are best.

use crate::description::Coordinate;
use crate::kinematics::newton::{self, Unknowns};
use crate::kinematics::{Positions, Posture, inverse};
use crate::model::{CoordKind, LegId, LegPivots, Model, PerLeg};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Pivots of every leg at the posture where they are best; legs of one make share one order where it serves all of them.
pub(super) fn leg_pivots(model: &Model<f64>, postures: &[Positions<f64>]) -> PerLeg<LegPivots> {
    let worst = |pivots: &LegPivots, leg: LegId, pos: &Positions<f64>| newton::smallest_pivot(model, leg, pivots, pos);
    let topology = model.topology();
    let mut chosen: Vec<LegPivots> = Vec::new();
    for leg in topology.legs.ids() {
        let best = postures
            .iter()
            .map(|pos| {
                let own = newton::leg_pivots(model, leg, pos);
                (own.cols.len(), worst(&own, leg, pos), pos, own)
            })
            .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let Some((_, size, pos, own)) = best else { continue };
        // An order that an earlier leg has, when it is nearly as good here: of the same joints, none of them held.
        let coords: Vec<_> = topology.legs[leg].coords.iter().collect();
        let passive = |j: &usize| topology.coords[coords[*j]].kind == CoordKind::Passive;
        let alike = |p: &&LegPivots| {
            let same_size = p.place.len() == own.place.len() && p.passive == own.passive;
            same_size && p.free == own.free && p.cols[..p.passive].iter().all(passive)
        };
        let shared = chosen.iter().filter(alike).find(|p| worst(p, leg, pos) > 0.1 * size).cloned();
        chosen.push(shared.unwrap_or(own));
    }
    chosen.into_iter().collect()
}

/// Pivot orders of legs without closed form, from a posture that closes.
pub(super) fn with_pivots(model: Model<f64>, pos: &Positions<f64>) -> Model<f64> {
    let plan = &model.topology().plan;
    let whole = newton::pivot_order(&model, &Unknowns::inverse(&model, &plan.given), pos);
    let pivots = plan
        .inverse
        .iter()
        .map(|block| match &block.method {
            crate::model::BlockMethod::Newton { coords } => {
                newton::pivot_order(&model, &Unknowns::of_leg(&model, block.leg, coords), pos)
            }
            crate::model::BlockMethod::Chain { .. } => crate::linalg::small::PivotOrder::default(),
        })
        .collect::<Vec<_>>();
    model.with_plan(|plan| {
        plan.inverse.iter_mut().zip(pivots).for_each(|(block, order)| block.pivots = order);
        plan.pivots = whole;
    })
}

/// Whether, at poses around home, legs that reach also close every loop; then the loops need no look of their own.
pub(super) fn reaching_closes(model: &Model<f64>, home: &Posture) -> bool {
    let mut random = Pcg64Mcg::seed_from_u64(4);
    let at = crate::kinematics::platform::coordinates(model, home.pose());
    (0..20).all(|_| {
        let change = |c: &Coordinate| {
            let spread = if c.is_angle() { 0.3 } else { 0.3 * model.size() };
            (*c, at[c.index()] + random.random_range(-spread..spread))
        };
        let given: Vec<(Coordinate, f64)> = model.topology().platform.independent.iter().map(change).collect();
        let pose = crate::kinematics::platform::pose_with(model, home.pose(), &given);
        inverse(model, &pose, home.mode()).map_or(true, |p| newton::closes(model, p.positions()))
    })
}
