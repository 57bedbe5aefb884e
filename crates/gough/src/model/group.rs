//! Legs of the same make side by side in SIMD lanes: one posture of a robot with equal legs for the price of one leg.

use super::Model;
use super::block::Block;
use super::ids::{Id, LegId};
use super::numbers::{BodyNumbers, JointNumbers};
use super::plan::LegPivots;
use super::topology::{Anchor, JointKind, SidePath, Topology};
use crate::description::ClosureJoint;
use crate::scalar::{LANES, Lanes, lanes};
use crate::spatial::Pose;

/// Up to four legs that differ in numbers only.
#[derive(Clone, Debug)]
pub struct LegGroup {
    /// The legs; a group that is not full repeats the last one in the lanes left over.
    pub legs: Vec<LegId>,
    /// Numbers of their bodies, one leg per lane.
    pub bodies: Vec<BodyNumbers<Lanes>>,
    /// Rotors and friction of their coordinates, one leg per lane.
    pub joints: Vec<JointNumbers<Lanes>>,
    /// Frames of the sides of their closures, one leg per lane.
    pub closures: Vec<[Pose<Lanes>; 2]>,
    /// Their blocks, one leg per lane.
    pub blocks: Vec<Block<Lanes>>,
}

impl LegGroup {
    /// The leg in each lane.
    pub fn lane_legs(&self) -> [LegId; LANES] {
        std::array::from_fn(|k| self.legs[k.min(self.legs.len() - 1)])
    }
}

/// Parent, joint, coordinate and couplings of a body, seen from its leg.
type BodyMake = (Anchor, JointKind, Option<usize>, Vec<(usize, Option<f64>)>);

/// What two legs must have in common to share a group.
#[derive(PartialEq, Debug)]
struct Make {
    bodies: Vec<BodyMake>,
    slides: Vec<(bool, bool)>,
    closures: Vec<(ClosureJoint, [SidePath; 2])>,
    blocks: Vec<Block<f64>>,
    pivots: Option<LegPivots>,
    drives: Vec<usize>,
}

fn make(model: &Model<f64>, topology: &Topology, id: LegId) -> Make {
    let leg = topology.structure(&topology.legs[id]);
    let body = |b: &super::topology::Body| {
        let coupled = b.coupled.iter().map(|(c, sign)| (leg.local(*c), *sign)).collect();
        (b.anchor, b.joint, b.coord.map(|c| leg.local(c)), coupled)
    };
    Make {
        bodies: leg.bodies.iter().map(body).collect(),
        slides: leg.coords.iter().map(|c| (c.slides, c.counted)).collect(),
        closures: leg.closures.iter().map(|c| (c.joint, c.paths.clone())).collect(),
        blocks: model.leg_blocks(id).iter().map(|b| b.map(&mut |_| 0.0)).collect(),
        pivots: topology.plan.pivots_of_leg.as_slice().get(id.index()).cloned(),
        drives: topology.drives_of(id).iter().map(|d| d.0).collect(),
    }
}

/// Groups of legs, or nothing when a leg stands alone, hangs on another, or has no closed form.
pub(super) fn groups(model: &Model<f64>) -> Vec<LegGroup> {
    let topology = model.topology();
    let mut kinds: Vec<(Make, Vec<LegId>)> = Vec::new();
    for id in topology.legs.ids() {
        let leg = &topology.legs[id];
        let closed_form = model.leg_blocks(id).iter().all(|b| !b.steps.is_empty());
        if !closed_form || !leg.outside.is_empty() || topology.is_hung_on(id) {
            return Vec::new();
        }
        let make = make(model, topology, id);
        match kinds.iter_mut().find(|(m, _)| *m == make) {
            Some((_, legs)) => legs.push(id),
            None => kinds.push((make, vec![id])),
        }
    }
    if kinds.iter().any(|(_, legs)| legs.len() < 2) {
        return Vec::new();
    }
    kinds.iter().flat_map(|(_, legs)| legs.chunks(LANES)).map(|legs| pack(model, legs)).collect()
}

fn pack(model: &Model<f64>, legs: &[LegId]) -> LegGroup {
    let topology = model.topology();
    let lane_leg = |k: usize| legs[k.min(legs.len() - 1)];
    let bodies = |id: LegId| model.numbers().bodies.slice(topology.legs[id].bodies);
    let joints = |id: LegId| model.numbers().joints.slice(topology.legs[id].coords);
    let closures = |id: LegId| model.numbers().closures.slice(topology.legs[id].closures);
    let blocks = |id: LegId| model.leg_blocks(id);
    // The numbers of each leg in the order in which `map` meets them.
    let numbers: [Vec<f64>; LANES] = std::array::from_fn(|k| {
        let mut list = Vec::new();
        let mut note = |x: f64| {
            list.push(x);
            x
        };
        bodies(lane_leg(k)).iter().for_each(|b| drop(b.map(&mut note)));
        joints(lane_leg(k)).iter().for_each(|j| _ = j.map(&mut note));
        closures(lane_leg(k)).iter().flatten().for_each(|X| _ = X.map(&mut note));
        blocks(lane_leg(k)).iter().for_each(|b| drop(b.map(&mut note)));
        list
    });
    let mut at = 0;
    let mut next = |_: f64| {
        at += 1;
        lanes(std::array::from_fn(|k| numbers[k][at - 1]))
    };
    LegGroup {
        legs: legs.to_vec(),
        bodies: bodies(legs[0]).iter().map(|b| b.map(&mut next)).collect(),
        joints: joints(legs[0]).iter().map(|j| j.map(&mut next)).collect(),
        closures: closures(legs[0]).iter().map(|[a, b]| [a.map(&mut next), b.map(&mut next)]).collect(),
        blocks: blocks(legs[0]).iter().map(|b| b.map(&mut next)).collect(),
    }
}
