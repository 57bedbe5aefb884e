//! What is known of a posture: joint positions, and the poses of the bodies that follow from them.

use super::modes::WorkingMode;
pub use crate::model::JointPosition;
use crate::model::{
    Anchor, BodyNumbers, CoordId, JointKind, Leg, LegGroup, LegId, LegStructure, Model, Node, PerBody, PerCoord,
    PerLeg, Topology,
};
use crate::scalar::{Lanes, Real};
use crate::spatial::{Pose, Turn, Vec3};
use std::ops::Range;

/// Positions of one posture, sized once for a model. What belongs to a leg stands together in every list.
#[derive(Clone, Debug)]
pub struct Positions<S: Real> {
    /// The platform.
    pub X_WE: Pose<S>,
    /// Joint coordinates.
    pub joints: PerCoord<JointPosition<S>>,
    /// Bodies: frame M of each joint in the world. Filled by [`pose_bodies`].
    pub X_WB: PerBody<Pose<S>>,
    /// Discriminants of the square roots taken, step after step; negative: out of reach.
    pub margins: Vec<S>,
    /// By how far the tip of each block misses its target.
    pub misses: Vec<Vec3<S>>,
    /// Where the target stood when a margin was taken, for distances.
    pub(super) targets: Vec<Vec3<S>>,
    /// Joints of the chain being solved, cut ones included.
    chain: Vec<JointPosition<S>>,
    /// Frames of other legs that the leg being solved is attached to.
    outside: Vec<Pose<S>>,
    /// Steps and blocks of each leg in the lists above.
    places: PerLeg<(Range<usize>, Range<usize>)>,
    /// Legs side by side in lanes.
    pub(super) lanes: Vec<LaneLegs>,
    /// The lanes hold the posture.
    pub(super) in_lanes: bool,
    /// Legs without closed form go on from the posture before, not from home.
    pub(super) goes_on: bool,
    /// The working mode of the closed posture that is held, when legs without closed form can go on from it.
    pub(super) held: Option<WorkingMode>,
}

/// Positions of up to four legs, one per lane.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneLegs {
    joints: Vec<JointPosition<Lanes>>,
    X_WB: Vec<Pose<Lanes>>,
    margins: Vec<Lanes>,
    misses: Vec<Vec3<Lanes>>,
    targets: Vec<Vec3<Lanes>>,
    chain: Vec<JointPosition<Lanes>>,
}

impl LaneLegs {
    /// Memory for a group.
    pub(super) fn new(group: &LegGroup, coords: usize) -> Self {
        let steps = group.blocks.iter().map(|b| b.steps.len()).sum();
        let longest = group.blocks.iter().map(|b| b.joints.len()).max().unwrap_or(0);
        Self {
            joints: vec![JointPosition::zero(); coords],
            X_WB: vec![Pose::identity(); group.bodies.len()],
            margins: vec![Lanes::lit(1.0); steps],
            misses: vec![Vec3::zeros(); group.blocks.len()],
            targets: vec![Vec3::zeros(); steps],
            chain: vec![JointPosition::zero(); longest],
        }
    }

    /// As positions of one leg.
    pub(super) fn part(&mut self) -> LegPositions<'_, Lanes> {
        LegPositions {
            joints: &mut self.joints,
            X_WB: &mut self.X_WB,
            margins: &mut self.margins,
            misses: &mut self.misses,
            targets: &mut self.targets,
            chain: &mut self.chain,
        }
    }
}

/// Positions of one leg: slices of those of the robot.
#[derive(Debug)]
pub struct LegPositions<'a, S: Real> {
    /// Its coordinates.
    pub joints: &'a mut [JointPosition<S>],
    /// Its bodies.
    pub X_WB: &'a mut [Pose<S>],
    /// Discriminants of its steps.
    pub margins: &'a mut [S],
    /// By how far each of its blocks misses.
    pub misses: &'a mut [Vec3<S>],
    /// Where the target stood at each step.
    pub targets: &'a mut [Vec3<S>],
    /// Joints of the chain being solved.
    pub chain: &'a mut [JointPosition<S>],
}

/// Frames that a leg does not choose: the platform, and bodies of other legs.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a, S: Real> {
    /// The platform.
    pub X_WE: &'a Pose<S>,
    /// Bodies of other legs, in the order of [`Leg::outside`].
    pub outside: &'a [Pose<S>],
}

impl<S: Real> LegPositions<'_, S> {
    /// The pose of what an anchor names.
    #[inline]
    pub fn frame(&self, frames: Frames<'_, S>, anchor: Anchor) -> Pose<S> {
        match anchor {
            Anchor::World => Pose::identity(),
            Anchor::Platform => *frames.X_WE,
            Anchor::Body(b) => self.X_WB[b],
            Anchor::Outside(k) => frames.outside[k],
        }
    }
}

impl<S: Real> Positions<S> {
    /// Memory for a model. Joints that the pose does not determine (kinematic redundancy) stand where the file's `near` has
    /// them, or at zero; set them to anything else before solving.
    pub fn new(model: &Model<S>) -> Self {
        let topology = model.topology();
        let (mut steps, mut blocks) = (0, 0);
        let places = topology.legs.map(|leg, _| {
            let own = model.leg_blocks(leg);
            let first = (steps, blocks);
            steps += own.iter().map(|b| b.steps.len()).sum::<usize>();
            blocks += own.len();
            (first.0..steps, first.1..blocks)
        });
        let forward = model.forward_blocks();
        let all_blocks = topology.legs.ids().flat_map(|leg| model.leg_blocks(leg)).chain(forward);
        let longest = all_blocks.map(|b| b.joints.len()).max().unwrap_or(0);
        let margins = steps.max(forward.iter().map(|b| b.steps.len()).sum());
        let given = |c: CoordId| match topology.plan.given.iter().position(|g| *g == c) {
            Some(i) => JointPosition::of(model.numbers().given[i]),
            None => JointPosition::zero(),
        };
        Self {
            X_WE: Pose::identity(),
            joints: topology.coords.map(|c, _| given(c)),
            X_WB: topology.bodies.map(|_, _| Pose::identity()),
            margins: vec![S::one(); margins],
            misses: vec![Vec3::zeros(); blocks.max(forward.len())],
            targets: vec![Vec3::zeros(); margins],
            chain: vec![JointPosition::zero(); longest],
            outside: Vec::with_capacity(topology.legs.values().map(|l| l.outside.len()).max().unwrap_or(0)),
            places,
            in_lanes: false,
            goes_on: false,
            held: None,
            lanes: model.groups().iter().map(|g| LaneLegs::new(g, topology.legs[g.legs[0]].coords.len())).collect(),
        }
    }

    /// Memory for a model, holding a posture known on `f64` as constants.
    pub fn seeded(model: &Model<S>, from: &Positions<f64>) -> Self {
        let lit = S::lit;
        let joint = |j: &JointPosition<f64>| JointPosition {
            turn: Turn { cos: lit(j.turn.cos), sin: lit(j.turn.sin) },
            value: lit(j.value),
        };
        let mut pos = Self::new(model);
        pos.X_WE = from.X_WE.map(&mut |x| lit(x));
        pos.joints = from.joints.map(|_, j| joint(j));
        pos.X_WB = from.X_WB.map(|_, X| X.map(&mut |x| lit(x)));
        pos
    }

    /// From now on, legs without closed form go on from the posture before: for trajectories and simulations, where the next
    /// posture is the one next to the last. Otherwise every posture is led from home, and does not depend on the last.
    pub fn going_on(mut self) -> Self {
        self.goes_on = true;
        self
    }

    /// Go on leg by leg.
    pub(crate) fn leave_lanes(&mut self) {
        self.in_lanes = false;
    }

    /// Where the steps and the blocks of a leg stand in [`Positions::margins`] and [`Positions::misses`].
    pub fn places(&self, leg: LegId) -> (Range<usize>, Range<usize>) {
        self.places[leg].clone()
    }

    /// The part of a leg, and the frames it hangs on; `at` says where its steps and blocks stand.
    pub(super) fn split<'a>(
        &'a mut self,
        leg: &Leg,
        at: (Range<usize>, Range<usize>),
    ) -> (LegPositions<'a, S>, Frames<'a, S>) {
        self.outside.clear();
        self.outside.extend(leg.outside.iter().map(|b| self.X_WB[*b]));
        let part = LegPositions {
            joints: self.joints.slice_mut(leg.coords),
            X_WB: self.X_WB.slice_mut(leg.bodies),
            margins: &mut self.margins[at.0.clone()],
            misses: &mut self.misses[at.1],
            targets: &mut self.targets[at.0],
            chain: &mut self.chain,
        };
        (part, Frames { X_WE: &self.X_WE, outside: &self.outside })
    }

    /// The pose of a node.
    #[inline]
    pub fn node(&self, node: Node) -> Pose<S> {
        match node {
            Node::World => Pose::identity(),
            Node::Platform => self.X_WE,
            Node::Body(b) => self.X_WB[b],
        }
    }

    /// Coordinate of a joint: a slide, or an angle in (-π, π] unless others follow it by a ratio.
    pub fn q(&self, topology: &Topology, c: CoordId) -> S {
        coordinate(&topology.coords[c], &self.joints[c])
    }
}

fn coordinate<S: Real>(coord: &crate::model::Coord, joint: &JointPosition<S>) -> S {
    if coord.slides || coord.counted { joint.value } else { joint.turn.angle() }
}

/// Pose of every body: `X_WB = X_WP X_PF J(q)`, (4.8), legs in the order in which they hang on each other.
pub fn pose_bodies<S: Real>(model: &Model<S>, pos: &mut Positions<S>) {
    for &id in &model.topology().order {
        pose_leg(model, id, pos);
    }
}

/// Pose of the bodies of one leg, parents first.
pub fn pose_leg<S: Real>(model: &Model<S>, id: LegId, pos: &mut Positions<S>) {
    let topology = model.topology();
    let leg = &topology.legs[id];
    let numbers = model.numbers().bodies.slice(leg.bodies);
    let (mut part, frames) = pos.split(leg, (0..0, 0..0));
    for b in 0..numbers.len() {
        pose_body(topology.structure(leg), numbers, b, frames, &mut part);
    }
}

/// Pose of one body of a leg from that of its parent.
#[inline(always)]
pub fn pose_body<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    b: usize,
    frames: Frames<'_, S>,
    pos: &mut LegPositions<'_, S>,
) {
    let X_PF = &numbers[b].X_PF;
    let X_WF = match leg.bodies[b].anchor {
        Anchor::World => *X_PF,
        anchor => pos.frame(frames, anchor) * *X_PF,
    };
    pos.X_WB[b] = match leg.bodies[b].joint {
        JointKind::Fixed => X_WF,
        JointKind::Revolute => X_WF.turned(turn(leg, numbers, b, pos.joints)),
        JointKind::Prismatic => X_WF.slid(slide(leg, numbers, b, pos.joints)),
    };
}

/// Turn of the joint of a body, coupled or not.
#[inline(always)]
pub fn turn<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    b: usize,
    joints: &[JointPosition<S>],
) -> Turn<S> {
    if let Some(c) = leg.coord(b) {
        return joints[c].turn;
    }
    match leg.bodies[b].coupled.as_slice() {
        [(c, Some(sign))] if *sign > 0.0 => joints[leg.local(*c)].turn,
        [(c, Some(_))] => joints[leg.local(*c)].turn.inverse(),
        _ => Turn::of(coupled_value(leg, numbers, b, joints)),
    }
}

#[inline(always)]
fn slide<S: Real>(leg: LegStructure<'_>, numbers: &[BodyNumbers<S>], b: usize, joints: &[JointPosition<S>]) -> S {
    match leg.coord(b) {
        Some(c) => joints[c].value,
        None => coupled_value(leg, numbers, b, joints),
    }
}

/// `Σ coefficient · coordinate`.
fn coupled_value<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    b: usize,
    joints: &[JointPosition<S>],
) -> S {
    numbers[b].coupling.iter().fold(S::zero(), |sum, (c, k)| {
        let i = leg.local(*c);
        sum + *k * coordinate(&leg.coords[i], &joints[i])
    })
}
