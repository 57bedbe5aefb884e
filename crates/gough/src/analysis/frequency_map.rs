//! A natural frequency over a region: one mode followed from node to node, on all cores.

use super::map::Answer;
use super::region::Region;
use crate::elastodynamics::{Actuators, ElasticError, Vibration};
use crate::kinematics::{Posture, WorkingMode, inverse};
use crate::model::Model;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Which frequency a map shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrequencyOf {
    /// 1 for the lowest, and so on.
    pub number: usize,
    /// What the drives do.
    pub actuators: Actuators,
    /// Follow the mode that has this number where the map starts, by its shape; otherwise the number counts everywhere.
    pub followed: bool,
}

/// What a frequency map knows beyond its values.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FrequencyNotes {
    /// The lowest frequency of all modes at any node, and that node.
    pub lowest: Option<(f64, usize)>,
    /// Nodes at which no mode was like that of the neighbour (likeness below one half).
    pub uncertain: usize,
}

/// Modes computed beyond the one that is followed, so that it is seen coming and going.
const BEYOND: usize = 4;
/// Two shapes less alike than this are different modes.
const ALIKE: f64 = 0.5;

/// One node: its frequency, the lowest of all, and whether the mode was recognised.
type FrequencyNode = Result<(f64, f64, bool), &'static str>;

/// The map, node by node. Lines of nodes along the first coordinate are followed one by one from a spine across them.
pub(super) fn frequencies(
    model: &Model<f64>,
    mode: &WorkingMode,
    region: &Region,
    of: FrequencyOf,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> (Vec<Answer>, FrequencyNotes) {
    let across = region.spans()[0].count;
    let lines = region.len() / across;
    let Some((column, seen)) = spine(model, mode, region) else {
        let refused = (0..region.len()).map(|node| refusal(model, mode, region, node)).collect();
        return (refused, FrequencyNotes::default());
    };
    let starts = match follow_spine(model, mode, region, of, column, &seen) {
        Ok(starts) => starts,
        Err(e) => return (vec![Answer::Refused(e.kind()); region.len()], FrequencyNotes::default()),
    };
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut found: Vec<Option<FrequencyNode>> = vec![None; region.len()];
    // Every line has a memory of its own: a search starts from the posture before, so that what one line leaves behind would
    // change the last digits of the next on the same core.
    found.par_chunks_mut(across).enumerate().for_each(|(line, nodes)| {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut v) = Vibration::new(model, &seen, of.actuators) else { return };
        let walk = MapWalk { mode, region, of, first: line * across };
        walk.line(&mut v, column, starts[line].as_deref(), nodes);
        let now = done.fetch_add(across, Ordering::Relaxed) + across;
        if !progress(now) {
            stopped.store(true, Ordering::Relaxed);
        }
    });
    debug_assert_eq!(lines, starts.len());
    gather(&found)
}

fn gather(found: &[Option<FrequencyNode>]) -> (Vec<Answer>, FrequencyNotes) {
    let mut notes = FrequencyNotes::default();
    let mut answers = Vec::with_capacity(found.len());
    for (node, one) in found.iter().enumerate() {
        answers.push(match one {
            None => Answer::Open,
            Some(Err(kind)) => Answer::Refused(kind),
            Some(Ok((hz, lowest, known))) => {
                notes.uncertain += usize::from(!known);
                if notes.lowest.is_none_or(|(least, _)| *lowest < least) {
                    notes.lowest = Some((*lowest, node));
                }
                Answer::Value(*hz)
            }
        });
    }
    (answers, notes)
}

/// The column of nodes that can be reached most often, and a posture there.
fn spine(model: &Model<f64>, mode: &WorkingMode, region: &Region) -> Option<(usize, Posture)> {
    let across = region.spans()[0].count;
    let lines = region.len() / across;
    let reach = |column: &usize| {
        let node = |line: usize| region.pose(&region.point(line * across + column));
        (0..lines).filter(|line| inverse(model, &node(*line), mode).is_ok()).count()
    };
    let counts: Vec<usize> = (0..across).collect::<Vec<_>>().par_iter().map(reach).collect();
    // A line starts at its first node. Of equal columns of an area one near the middle, a little off it, so that symmetric
    // robots do not start where frequencies are double.
    let middle = if lines == 1 { 0 } else { across / 3 };
    let column = (0..across).max_by_key(|k| (counts[*k], std::cmp::Reverse(k.abs_diff(middle))))?;
    let posture =
        (0..lines).find_map(|line| inverse(model, &region.pose(&region.point(line * across + column)), mode).ok())?;
    Some((column, posture))
}

fn refusal(model: &Model<f64>, mode: &WorkingMode, region: &Region, node: usize) -> Answer {
    match inverse(model, &region.pose(&region.point(node)), mode) {
        Err(e) => Answer::Refused(e.kind()),
        Ok(_) => Answer::Open,
    }
}

/// The vector of the mode where each line crosses the spine; the last known one where the spine cannot be reached.
fn follow_spine(
    model: &Model<f64>,
    mode: &WorkingMode,
    region: &Region,
    of: FrequencyOf,
    column: usize,
    seen: &Posture,
) -> Result<Vec<Option<Vec<f64>>>, ElasticError> {
    let across = region.spans()[0].count;
    let lines = region.len() / across;
    let mut starts: Vec<Option<Vec<f64>>> = vec![None; lines];
    if !of.followed {
        return Ok(starts);
    }
    let mut v = Vibration::new(model, seen, of.actuators)?;
    let mut like: Option<Vec<f64>> = None;
    for line in snake(region) {
        let walk = MapWalk { mode, region, of, first: line * across };
        if let Ok((k, _)) = walk.step(&mut v, column, like.as_deref()) {
            like = Some(v.vector(k).to_vec());
        }
        starts[line].clone_from(&like);
    }
    // Lines before the first that the spine reaches start from that.
    let first = starts.iter().flatten().next().cloned();
    starts.iter_mut().filter(|s| s.is_none()).for_each(|s| s.clone_from(&first));
    Ok(starts)
}

/// Lines in an order in which each is beside the one before.
fn snake(region: &Region) -> Vec<usize> {
    let counts: Vec<usize> = region.spans()[1..].iter().map(|s| s.count).collect();
    match counts[..] {
        [n] => (0..n).collect(),
        [n, m] => (0..m).flat_map(|j| (0..n).map(move |i| j * n + if j % 2 == 0 { i } else { n - 1 - i })).collect(),
        _ => vec![0],
    }
}

struct MapWalk<'a> {
    mode: &'a WorkingMode,
    region: &'a Region,
    of: FrequencyOf,
    /// First node of the line.
    first: usize,
}

impl MapWalk<'_> {
    /// A line, from the spine to both ends.
    fn line(&self, v: &mut Vibration, column: usize, start: Option<&[f64]>, nodes: &mut [Option<FrequencyNode>]) {
        let up: Vec<usize> = (column..nodes.len()).collect();
        let down: Vec<usize> = (0..column).rev().collect();
        for way in [up, down] {
            let mut like: Option<Vec<f64>> = start.map(<[f64]>::to_vec);
            for k in way {
                let outcome = self.step(v, k, like.as_deref());
                nodes[k] = Some(match outcome {
                    Err(e) => Err(e.kind()),
                    Ok((number, known)) => {
                        if let Some(like) = &mut like {
                            like.clear();
                            like.extend_from_slice(v.vector(number));
                        }
                        let f = v.frequencies();
                        Ok((f[number].hz, f[0].hz, known))
                    }
                });
            }
        }
    }

    /// The number of the mode at a node of the line, and whether it is like the vector given.
    fn step(&self, v: &mut Vibration, k: usize, like: Option<&[f64]>) -> Result<(usize, bool), ElasticError> {
        v.take(&self.region.pose(&self.region.point(self.first + k)), self.mode)?;
        let number = self.of.number - 1;
        let count = if self.of.followed { self.of.number + BEYOND } else { self.of.number };
        let found = v.lowest_from_last(count)?.len();
        if number >= found {
            return Err(ElasticError::NothingMoves);
        }
        let Some(like) = like else { return Ok((number, true)) };
        let alike = |k: usize| v.likeness(like, v.vector(k));
        let best = (0..found).map(|k| (alike(k), k)).max_by(|a, b| a.0.total_cmp(&b.0));
        Ok(best.map_or((number, false), |(likeness, k)| (k, likeness >= ALIKE)))
    }
}
