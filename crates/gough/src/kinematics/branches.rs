//! Which posture is meant where closed forms do not say: the one that is led from the posture of that name at home, or from
//! an example, or from the last posture along a trajectory.

use super::continuation::{Strand, lead, out_of_reach, strands};
use super::error::SolveError;
use super::following::same_pose;
use super::forward::postures;
use super::geometry::solve_legs;
use super::inverse::{Posture, check_closed, check_ranges, check_reach};
use super::modes::WorkingMode;
use super::positions::{JointPosition, Positions, pose_bodies};
use super::ways::{lines, same_lines};
use crate::model::{AnchorPosture, CoordId, LegId, Model};
use crate::spatial::Pose;
use crate::spatial::orientation::wrap;
use std::sync::Arc;

/// Most postures of the rest of a robot that a strand is put beside.
const MOST_LED: usize = 64;
/// Most names of other modes that a refusal lists.
const MOST_NAMES: usize = 16;

/// All joints for a platform pose, led there. When the memory goes on from posture to posture, from the last one; else from
/// home, so that the answer does not depend on what was asked before.
pub(super) fn reach(
    model: &Model<f64>,
    pose: &Pose<f64>,
    mode: &WorkingMode,
    pos: &mut Positions<f64>,
) -> Result<(), SolveError> {
    let plan = &model.topology().plan;
    let given: Vec<(CoordId, f64)> = plan.given.iter().map(|c| (*c, pos.q(model.topology(), *c))).collect();
    let goes_on = pos.goes_on && pos.held.as_ref() == Some(mode);
    pos.held = if goes_on { pos.held.take() } else { None };
    let stood = goes_on.then(|| pos.clone());
    let all = strands(model);
    for strand in &all {
        match &stood {
            Some(stood) => pos.X_WE = stood.X_WE,
            None => load(model, strand, anchor(model, strand, mode)?, pos),
        }
        if let Err(e) = lead(model, strand, &mode.signs, pose, &given, pos) {
            let e = why(model, strand, pose, pos, e);
            // Where it cannot go everything stays, so that the next posture is led from one whose loops are closed.
            stood.iter().for_each(|stood| pos.clone_from(stood));
            return Err(e);
        }
    }
    if all == [Strand::Whole] {
        let mut exact = pos.clone();
        solve_legs(model, &mode.signs, &mut exact);
        if same_joints(model, &exact, pos) {
            pos.clone_from(&exact);
        }
    } else {
        pos.X_WE = *pose;
        solve_legs(model, &mode.signs, pos);
        check_reach(model, pos)?;
    }
    pose_bodies(model, pos);
    check_closed(model, pos)?;
    check_ranges(model, pos)?;
    pos.held = pos.held.take().or_else(|| Some(mode.clone()));
    Ok(())
}

/// Postures that are led to a pose from those at home: where no start of a search comes to them.
pub(super) fn led_postures(model: &Model<f64>, pose: &Pose<f64>, start: &Positions<f64>) -> Vec<Posture> {
    let mut modes: Vec<WorkingMode> = Vec::new();
    for mode in model.topology().plan.anchors.iter().map(WorkingMode::of_anchor) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    let led = |mode: WorkingMode| {
        let mut pos = start.clone();
        reach(model, pose, &mode, &mut pos).ok().map(|()| Posture::new(model, pos, mode))
    };
    modes.into_iter().take(MOST_NAMES).filter_map(led).collect()
}

/// The posture that a strand is led from in a mode.
fn anchor<'a>(model: &'a Model<f64>, strand: &Strand, mode: &'a WorkingMode) -> Result<&'a AnchorPosture, SolveError> {
    if let Some(example) = &mode.example {
        return Ok(example);
    }
    let topology = model.topology();
    let stands = |a: &&AnchorPosture| match strand {
        Strand::Whole => a.signs == mode.signs && a.branches == mode.branches && a.follows == mode.follows,
        Strand::Legs(legs) => legs.iter().all(|leg| {
            let roots = topology.legs[*leg].roots.clone();
            let blocks = topology.plan.inverse.iter().enumerate().filter(|(_, b)| b.leg == *leg);
            a.signs[roots.clone()] == mode.signs[roots]
                && blocks.into_iter().all(|(i, _)| a.branches[i] == mode.branches[i])
        }),
    };
    topology.plan.anchors.iter().find(stands).ok_or_else(|| {
        let mut others: Vec<String> =
            topology.plan.anchors.iter().map(|a| WorkingMode::of_anchor(a).name(topology)).collect();
        others.dedup();
        others.truncate(MOST_NAMES);
        SolveError::NotInMode { mode: mode.name(topology), others }
    })
}

/// Put a strand where its anchor is.
fn load(model: &Model<f64>, strand: &Strand, anchor: &AnchorPosture, pos: &mut Positions<f64>) {
    pos.X_WE = anchor.X_WE;
    let own = |leg: LegId| match strand {
        Strand::Whole => true,
        Strand::Legs(legs) => legs.contains(&leg),
    };
    for (c, coord) in model.topology().coords.iter().filter(|(_, coord)| own(coord.leg)) {
        let q = anchor.joints[crate::model::Id::index(c)];
        pos.joints[c] = if coord.slides { JointPosition::slid(q) } else { JointPosition::of(q) };
    }
}

/// A branch that ends on the way: out of reach when nothing closes at the pose, at a limit when it ends right there.
fn why(model: &Model<f64>, strand: &Strand, pose: &Pose<f64>, pos: &Positions<f64>, error: SolveError) -> SolveError {
    let SolveError::CutOff { leg, along, .. } = &error else { return error };
    match (out_of_reach(model, strand, pose, pos), leg) {
        (Some(far), _) => far,
        (None, Some(leg)) if *along > 1.0 - 1e-5 => SolveError::AtLimit { leg: leg.clone() },
        _ => error,
    }
}

/// What is kept of a posture to lead others from it.
pub(crate) fn as_anchor(model: &Model<f64>, posture: &Posture) -> AnchorPosture {
    let WorkingMode { signs, branches, follows, .. } = posture.mode().clone();
    let pos = posture.positions();
    let joints = model.topology().coords.ids().map(|c| pos.q(model.topology(), c)).collect();
    AnchorPosture { signs, branches, follows, X_WE: pos.X_WE, joints }
}

/// The working mode of an example: a posture with these joints, all motors among them; of several assemblies the one whose
/// other joints are nearest.
pub fn mode_by_example(model: &Model<f64>, joints: &[(CoordId, f64)]) -> Result<WorkingMode, SolveError> {
    let topology = model.topology();
    let value = |c: &CoordId| joints.iter().find(|(j, _)| j == c).map(|(_, q)| *q);
    let active: Vec<f64> = topology.active.iter().filter_map(value).collect();
    let found = postures(model, &active, &WorkingMode::first(topology))?.postures;
    let off = |p: &Posture| -> f64 {
        let one = |(c, q): &(CoordId, f64)| {
            let d = p.joints(model, &[*c])[0] - q;
            if topology.coords[*c].slides { d / model.size() } else { wrap(d) }
        };
        joints.iter().map(|j| one(j).powi(2)).sum()
    };
    let nearest = found.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)));
    let posture = nearest.ok_or(SolveError::NoAssembly { by: 0.0 })?;
    Ok(posture.mode().clone())
}

/// Call postures at a pose by the names of those at home that lead to them; one that none leads to is its own example.
/// What leads here from home and is not in the list is added.
pub(super) fn name(model: &Model<f64>, pose: &Pose<f64>, given: &[(CoordId, f64)], postures: &mut Vec<Posture>) {
    let topology = model.topology();
    if topology.plan.anchors.is_empty() {
        return;
    }
    let all = strands(model);
    let led: Vec<Vec<(&AnchorPosture, Positions<f64>)>> =
        all.iter().map(|strand| led_here(model, strand, pose, given)).collect();
    // What is led here is known, also where no start of a search came to it.
    for (strand, led) in all.iter().zip(&led) {
        add_led(model, strand, pose, led, postures);
    }
    for posture in postures {
        let mut mode = posture.mode().clone();
        let mut leads_here = true;
        for (strand, led) in all.iter().zip(&led) {
            match led.iter().find(|(_, pos)| stands_alike(model, strand, pos, posture.positions())) {
                Some((anchor, _)) => take_name(model, strand, anchor, &mut mode),
                None => leads_here = false,
            }
        }
        mode.example = (!leads_here).then(|| Arc::new(as_anchor(model, posture)));
        posture.set_mode(mode);
    }
}

/// Add what a strand is led to and no posture of the list shows, beside all that the rest of the robot does.
fn add_led(
    model: &Model<f64>,
    strand: &Strand,
    pose: &Pose<f64>,
    led: &[(&AnchorPosture, Positions<f64>)],
    postures: &mut Vec<Posture>,
) {
    let topology = model.topology();
    let own = |leg: LegId| match strand {
        Strand::Whole => true,
        Strand::Legs(legs) => legs.contains(&leg),
    };
    let is_all = topology.legs.ids().all(own);
    for (anchor, there) in led {
        if postures.iter().any(|p| stands_alike(model, strand, p.positions(), there)) {
            continue;
        }
        // The others stand as in every posture that has the strand where the first one has it.
        let beside: Vec<(Positions<f64>, WorkingMode)> = match postures.first() {
            _ if is_all => vec![(there.clone(), WorkingMode::of_anchor(anchor))],
            None => return,
            Some(first) => postures
                .iter()
                .filter(|p| stands_alike(model, strand, p.positions(), first.positions()))
                .map(|p| (p.positions().clone(), p.mode().clone()))
                .collect(),
        };
        for (mut pos, mut mode) in beside.into_iter().take(MOST_LED) {
            pos.X_WE = *pose;
            for (c, _) in topology.coords.iter().filter(|(_, coord)| own(coord.leg)) {
                pos.joints[c] = there.joints[c];
            }
            for roots in topology.legs.iter().filter(|(id, _)| own(*id)).map(|(_, leg)| leg.roots.clone()) {
                mode.signs[roots.clone()].copy_from_slice(&anchor.signs[roots]);
            }
            take_name(model, strand, anchor, &mut mode);
            pose_bodies(model, &mut pos);
            if check_closed(model, &pos).is_ok() && check_ranges(model, &pos).is_ok() {
                postures.push(Posture::new(model, pos, mode));
            }
        }
    }
}

/// Where a strand is led to from each of its postures at home, as far as they lead.
fn led_here<'m>(
    model: &'m Model<f64>,
    strand: &Strand,
    pose: &Pose<f64>,
    given: &[(CoordId, f64)],
) -> Vec<(&'m AnchorPosture, Positions<f64>)> {
    let topology = model.topology();
    let mut seen: Vec<WorkingMode> = Vec::new();
    let mut led = Vec::new();
    for anchor in &topology.plan.anchors {
        let mut own = WorkingMode::first(topology);
        let mut mode = WorkingMode::of_anchor(anchor);
        take_name(model, strand, anchor, &mut own);
        if let Strand::Legs(legs) = strand {
            for roots in legs.iter().map(|leg| topology.legs[*leg].roots.clone()) {
                own.signs[roots.clone()].copy_from_slice(&mode.signs[roots]);
            }
            mode = own;
        }
        if seen.contains(&mode) {
            continue;
        }
        let mut pos = Positions::new(model);
        load(model, strand, anchor, &mut pos);
        if lead(model, strand, &mode.signs, pose, given, &mut pos).is_ok() {
            // Closed forms give joints alone; postures are compared by where their bodies are.
            pose_bodies(model, &mut pos);
            led.push((anchor, pos));
        }
        seen.push(mode);
    }
    led
}

fn take_name(model: &Model<f64>, strand: &Strand, anchor: &AnchorPosture, mode: &mut WorkingMode) {
    if let Strand::Legs(legs) = strand {
        let blocks = model.topology().plan.inverse.iter().enumerate().filter(|(_, b)| legs.contains(&b.leg));
        blocks.for_each(|(i, _)| mode.branches[i] = anchor.branches[i]);
    } else {
        *mode = WorkingMode::of_anchor(anchor);
    }
}

/// Whether a strand has every axis on the same line in two postures.
fn stands_alike(model: &Model<f64>, strand: &Strand, a: &Positions<f64>, b: &Positions<f64>) -> bool {
    let alike = |leg: LegId| same_lines(model, &lines(model, leg, a), &lines(model, leg, b));
    match strand {
        Strand::Whole => same_pose(model, &a.X_WE, &b.X_WE) && model.topology().legs.ids().all(alike),
        Strand::Legs(legs) => legs.iter().copied().all(alike),
    }
}

fn same_joints(model: &Model<f64>, a: &Positions<f64>, b: &Positions<f64>) -> bool {
    model.topology().coords.iter().all(|(c, coord)| {
        let (p, q) = (&a.joints[c], &b.joints[c]);
        if coord.slides || coord.counted {
            (p.value - q.value).abs() < 1e-9 * model.size().max(1.0)
        } else {
            (p.turn.cos - q.turn.cos).hypot(p.turn.sin - q.turn.sin) < 1e-9
        }
    })
}
