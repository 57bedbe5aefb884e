//! Legs solved by closed forms, straight-line in any scalar: the blocks of the plan in order, the steps of a block one after
//! the other ([`ChainWalk`]). Each square root takes its sign from the working mode and leaves its discriminant in the margins;
//! nothing is compared.

use super::modes::WorkingMode;
use super::newton::{Unknowns, polish};
use super::positions::{Frames, JointPosition, LegPositions, Positions, pose_bodies, pose_body, pose_leg};
use crate::model::{Anchor, Block, BlockMethod, Body, BodyNumbers, ChainMotion, ChainWalk, LegId, LegStructure, Model};
use crate::scalar::{Lanes, Real, all_nonneg, all_within, each_lane, lanes};
use crate::spatial::{Pose, Rotation, Turn, Vec3, null};

/// Joints for the platform pose in `pos`, in any scalar. Closed forms need nothing else; legs and platform coordinates
/// without one start from the joints in `pos`, closed on `f64`, and take `steps` Newton steps: one is exact for first
/// derivatives. Bodies are posed.
pub fn close<S: Real>(model: &Model<S>, mode: &WorkingMode, steps: usize, pos: &mut Positions<S>) {
    let topology = model.topology();
    let plan = &topology.plan;
    if plan.solve_platform {
        let unknowns = Unknowns::inverse(model, &plan.given);
        polish(model, &unknowns, &plan.pivots, steps, model.length(), pos);
    }
    solve_legs(model, mode.signs(), pos);
    for block in &plan.inverse {
        if let BlockMethod::Newton { coords } = &block.method {
            let unknowns = Unknowns::of_leg(model, block.leg, coords);
            polish(model, &unknowns, &block.pivots, steps, model.length(), pos);
        }
    }
    pose_bodies(model, pos);
}

/// Joints of every leg for the platform pose in `pos`. `signs` has one entry, ±1, per root of the plan; joints that are
/// left to Newton are not touched. Bodies are posed only in legs that others hang on.
pub fn solve_legs<S: Real>(model: &Model<S>, signs: &[f64], pos: &mut Positions<S>) {
    let topology = model.topology();
    for &id in &topology.order {
        solve_one_leg(model, id, &signs[topology.legs[id].roots.clone()], pos);
    }
}

/// Joints of one leg for the platform pose in `pos`, with the signs of its own roots.
pub fn solve_one_leg<S: Real>(model: &Model<S>, id: LegId, signs: &[f64], pos: &mut Positions<S>) {
    let topology = model.topology();
    let leg = &topology.legs[id];
    let at = pos.places(id);
    let (mut part, frames) = pos.split(leg, at);
    let numbers = model.numbers().bodies.slice(leg.bodies);
    solve_leg(topology.structure(leg), numbers, model.leg_blocks(id), &|k| S::lit(signs[k]), frames, &mut part);
    if topology.is_hung_on(id) {
        pose_leg(model, id, pos);
    }
}

/// Joints of a robot whose legs are alike, on `f64`, four legs at a time; whether every leg reaches its place within
/// `limit`. Only joints are written to the lists of the robot: to learn why a leg does not reach, solve again leg by leg.
pub fn solve_groups(model: &Model<f64>, signs: &[f64], limit: f64, pos: &mut Positions<f64>) -> bool {
    let topology = model.topology();
    let X_WE = pos.X_WE.map(&mut |x| Lanes::lit(x));
    let least = Lanes::lit(model.least_margin());
    let mut reaches = true;
    for (group, legs) in model.groups().iter().zip(&mut pos.lanes) {
        let roots = group.lane_legs().map(|id| topology.legs[id].roots.start);
        let sign = |k: usize| lanes(roots.map(|r| signs[r + k]));
        let structure = topology.structure(&topology.legs[group.legs[0]]);
        let mut part = legs.part();
        solve_leg(structure, &group.bodies, &group.blocks, &sign, Frames { X_WE: &X_WE, outside: &[] }, &mut part);
        reaches &=
            part.margins.iter().all(|m| all_nonneg(*m - least)) && part.misses.iter().all(|m| is_within(*m, limit));
        let firsts = group.lane_legs().map(|id| topology.legs[id].coords.range().start);
        let joints = pos.joints.as_mut_slice();
        for (c, (four, coord)) in part.joints.iter().zip(structure.coords).enumerate() {
            if coord.slides {
                let slides = each_lane(four.value);
                firsts.iter().zip(slides).for_each(|(first, q)| joints[first + c] = JointPosition::slid(q));
            } else {
                let turns = each_lane(four.turn.cos).into_iter().zip(each_lane(four.turn.sin));
                let turned = |(cos, sin)| JointPosition::turned(Turn { cos, sin });
                firsts.iter().zip(turns).for_each(|(first, turn)| joints[first + c] = turned(turn));
            }
        }
    }
    reaches
}

fn is_within(v: Vec3<Lanes>, limit: f64) -> bool {
    all_within(v.dot(&v), limit * limit)
}

/// Forward geometry by dyads: the robot is one leg, its active joints are known. Bodies are not posed.
pub fn solve_forward<S: Real>(model: &Model<S>, signs: &[f64], pos: &mut Positions<S>) {
    let topology = model.topology();
    let whole = topology.whole();
    let blocks = model.forward_blocks();
    let steps = blocks.iter().map(|b| b.steps.len()).sum();
    let (mut part, frames) = pos.split(&whole, (0..steps, 0..blocks.len()));
    let bodies: Vec<Body> =
        topology.bodies.values().map(|b| Body { anchor: whole.anchor(b.parent), ..b.clone() }).collect();
    let structure = LegStructure { bodies: &bodies, ..topology.structure(&whole) };
    let numbers = model.numbers().bodies.as_slice();
    solve_leg(structure, numbers, blocks, &|k| S::lit(signs[k]), frames, &mut part);
}

/// Solve the blocks of a leg in order; `sign` gives ±1 per root.
#[inline]
pub fn solve_leg<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    blocks: &[Block<S>],
    sign: &dyn Fn(usize) -> S,
    frames: Frames<'_, S>,
    pos: &mut LegPositions<'_, S>,
) {
    let (mut root, mut margin) = (0, 0);
    for (i, block) in blocks.iter().enumerate() {
        for &b in &block.pose_first {
            pose_body(leg, numbers, b, frames, pos);
        }
        pos.misses[i] =
            if block.steps.is_empty() { null() } else { solve_block(block, sign, &mut root, margin, frames, pos) };
        margin += block.steps.len();
    }
}

/// Solve one block; by how far the tip misses the target. `margin` is the index of the block's first margin.
fn solve_block<S: Real>(
    block: &Block<S>,
    sign: &dyn Fn(usize) -> S,
    root: &mut usize,
    margin: usize,
    frames: Frames<'_, S>,
    pos: &mut LegPositions<'_, S>,
) -> Vec3<S> {
    let end = pos.frame(frames, block.ends[1]);
    let start = pos.frame(frames, block.ends[0]);
    let on_base = block.ends[0] == Anchor::World;
    let on_end = |p: Vec3<S>| if on_base { end * p } else { start.apply_inv(end * p) };
    let mut walk = ChainWalk {
        t: on_end(block.target),
        R: if block.oriented { start.R.inverse() * end.R } else { Rotation::identity() },
        oriented: block.oriented,
        on_end: &on_end,
        sign,
        root,
        joints: pos.joints,
        chain: pos.chain,
        margins: pos.margins,
        targets: pos.targets,
        joint: 0,
        margin,
    };
    let mut miss = walk.t - block.tip;
    for (i, step) in block.steps.iter().enumerate() {
        walk.margins[walk.margin] = S::one();
        step.reach(&mut walk);
        if i + 1 == block.positioning {
            miss = walk.t - block.tip;
        }
        walk.margin += 1;
    }
    export(block, start, pos);
    miss
}

/// Poses of bodies on the chain that later blocks start from.
fn export<S: Real>(block: &Block<S>, start: Pose<S>, pos: &mut LegPositions<'_, S>) {
    for (body, joints, behind) in &block.exports {
        let mut X = start;
        for k in 0..*joints {
            let joint = pos.chain[k];
            X = X * block.between[k];
            X = match block.joints[k] {
                ChainMotion::Turn => X.turned(joint.turn),
                ChainMotion::Slide => X.slid(joint.value),
                ChainMotion::Ball => X,
            };
        }
        pos.X_WB[*body] = X * *behind;
    }
}
