//! Maps by a graphics processor: what [`super::block_map`] computes in blocks, computed there node by node from the region alone; one
//! number comes back per node. A node that the program does not answer comes back without a number and takes the general road.

use super::block_map::followed_from;
use super::device_kernel::{source, table, turned};
use super::map::{Map, MapError, Quantity, evaluate};
use super::node_value::NodeValue;
use super::probe::Probe;
use super::region::Region;
use crate::Robot;
use crate::kinematics::WorkingMode;
use gough_cuda::Device;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Most orientations of a region: they are tabulated.
const MOST_TURNS: usize = 1 << 22;
/// Nodes whose answers are taken at a time.
const CHUNK: usize = 1 << 14;

/// A map computed on a device. `progress` is told how many nodes are done, and stops the map by answering false.
pub(super) fn map_on(
    robot: &Robot,
    mode: &WorkingMode,
    region: &Region,
    quantity: &Quantity,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Map, MapError> {
    let none = || MapError::NotOnDevice("it follows neither from the Jacobian nor from efforts at rest".to_owned());
    let kind = followed_from(robot, quantity).ok_or_else(none)?;
    let no_program = |why: crate::codegen::CodegenError| MapError::NotOnDevice(why.to_string());
    let program = robot.program_by_matrix(kind, mode, false).map_err(no_program)?;
    let turns = turned(region);
    if turns.iter().map(|s| s.count).product::<usize>() > MOST_TURNS {
        let why = format!("its angles span more than {MOST_TURNS} orientations; take fewer values of the angles");
        return Err(MapError::NotOnDevice(why));
    }
    let device = Device::open()?;
    let kernel = device.kernel(&source(robot.model(), &program, region, quantity))?;
    let table = table(region);
    let mut answers =
        DeviceAnswers { robot, mode, region, quantity, values: Vec::new(), refused: Vec::new(), stopped: false };
    answers.values.reserve_exact(region.len());
    let seconds = kernel.over(region.len(), 1, &table, &mut |first, found| answers.take(first, found, progress))?;
    let DeviceAnswers { mut values, refused, stopped, .. } = answers;
    values.resize(region.len(), NodeValue::NONE);
    Ok(Map {
        values,
        refused,
        complete: !stopped,
        reachable: None,
        aspects: Vec::new(),
        frequencies: None,
        device_seconds: Some(seconds),
    })
}

/// Answers as they come.
struct DeviceAnswers<'a> {
    robot: &'a Robot,
    mode: &'a WorkingMode,
    region: &'a Region,
    quantity: &'a Quantity,
    values: Vec<NodeValue>,
    refused: Vec<(&'static str, usize)>,
    stopped: bool,
}

impl DeviceAnswers<'_> {
    /// Take the answers of nodes from the first on; whether to go on.
    fn take(&mut self, first: usize, found: &[f64], progress: &(dyn Fn(usize) -> bool + Sync)) -> bool {
        let is_left = AtomicBool::new(false);
        self.values.par_extend(found.par_iter().with_min_len(CHUNK).map(|x| {
            if !x.is_finite() {
                is_left.store(true, Ordering::Relaxed);
            }
            NodeValue::new(*x)
        }));
        self.stopped =
            !progress(first + found.len()) || (is_left.into_inner() && !self.by_general_road(first, progress));
        !self.stopped
    }

    /// Answer what the device has left since a node; whether to go on.
    fn by_general_road(&mut self, first: usize, progress: &(dyn Fn(usize) -> bool + Sync)) -> bool {
        let Self { robot, mode, region, quantity, .. } = *self;
        let (model, stopped, done) = (robot.model(), AtomicBool::new(false), AtomicUsize::new(first));
        let refused: Vec<&'static str> = self.values[first..]
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map_init(
                || Probe::new(model, mode),
                |probe, (i, chunk)| {
                    let mut refused = Vec::new();
                    for (k, value) in chunk.iter_mut().enumerate().filter(|(_, value)| value.get().is_none()) {
                        if stopped.load(Ordering::Relaxed) {
                            break;
                        }
                        let pose = region.pose(&region.point(first + i * CHUNK + k));
                        match evaluate(probe, mode, &pose, quantity) {
                            Ok(x) => *value = NodeValue::new(x),
                            Err(why) => refused.push(why.kind()),
                        }
                    }
                    if !progress(done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len()) {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    refused
                },
            )
            .flatten_iter()
            .collect();
        for kind in refused {
            match self.refused.iter_mut().find(|(k, _)| *k == kind) {
                Some((_, count)) => *count += 1,
                None => self.refused.push((kind, 1)),
            }
        }
        !stopped.into_inner()
    }
}
