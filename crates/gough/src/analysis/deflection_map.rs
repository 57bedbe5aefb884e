//! How far the tool gives way under gravity and a load, over a region.

use super::map::Answer;
use super::region::Region;
use crate::elastodynamics::ElasticError;
use crate::elastodynamics::motion::FlexibleRobot;
use crate::kinematics::{WorkingMode, inverse};
use crate::model::{Model, Node};
use crate::spatial::{Pose, Wrench};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Nodes that one core takes at a time: each is a search for rest.
const CHUNK: usize = 16;

/// The map, node by node.
pub(super) fn deflections(
    model: &Model<f64>,
    mode: &WorkingMode,
    region: &Region,
    load: Wrench<f64>,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Vec<Answer> {
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut found: Vec<Answer> = vec![Answer::Open; region.len()];
    found.par_chunks_mut(CHUNK).enumerate().for_each(|(i, chunk)| {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        for (k, answer) in chunk.iter_mut().enumerate() {
            let pose = region.pose(&region.point(i * CHUNK + k));
            *answer = at(model, mode, &pose, load).map_or_else(|e| Answer::Refused(e.kind()), Answer::Value);
        }
        let now = done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
        if !progress(now) {
            stopped.store(true, Ordering::Relaxed);
        }
    });
    found
}

fn at(model: &Model<f64>, mode: &WorkingMode, pose: &Pose<f64>, load: Wrench<f64>) -> Result<f64, ElasticError> {
    let posture = inverse(model, pose, mode)?;
    let mut flexible = FlexibleRobot::new(model, &posture)?;
    flexible.load(&[(Node::Platform, load)]);
    Ok(flexible.deflection(&posture)?.norm())
}
