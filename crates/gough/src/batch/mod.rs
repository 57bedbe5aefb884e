//! Stage 5: many states at once, on all cores, refusals beside the answers, with progress and a stop.
//!
//! [`each`] is the one driver: slices of anything, answered in order. [`efforts`] answers slices of states four at a time, one
//! per SIMD lane ([`FourStates`]), in memory that is made once per core.

pub use crate::dynamics::four::{FourStates, State};
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::{SolveError, WorkingMode};
use crate::model::Model;
use crate::scalar::LANES;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Answers between two calls of `go_on`, where one may take a search.
const FEW: usize = 1024;
/// Answers between two calls of `go_on`, where one takes a microsecond.
const MANY: usize = 1 << 15;
/// States that one core takes at a time; a multiple of [`LANES`].
const TASK: usize = 256;

/// Answers of all items, in their order, on all cores; `one` is given the place of its item. Now and then `go_on` is told how
/// many are answered; when it says no, the answers so far are all there are.
///
/// ```
/// let squares = gough::batch::each(&[1, 2, 3], |_, x| x * x, |_| true);
/// assert_eq!(squares, [1, 4, 9]);
/// ```
pub fn each<I: Sync, A: Send>(
    items: &[I],
    one: impl Fn(usize, &I) -> A + Sync,
    mut go_on: impl FnMut(usize) -> bool,
) -> Vec<A> {
    let mut answers = Vec::with_capacity(items.len());
    for block in items.chunks(FEW) {
        let before = answers.len();
        answers.par_extend(block.par_iter().enumerate().map(|(i, item)| one(before + i, item)));
        if !go_on(answers.len()) {
            break;
        }
    }
    answers
}

/// A state without an answer, by its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    /// Place of the state in the list.
    pub state: usize,
    /// Why there is no answer.
    pub why: SolveError,
}

/// Efforts of the drives in many states.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EffortsOfStates {
    /// How many states were looked at: all of them, unless it was stopped.
    pub done: usize,
    /// Efforts of the first state, of the second, and so on: `done` lists of as many numbers as there are drives. Those of a
    /// refused state are zero.
    pub efforts: Vec<f64>,
    /// States without an answer, in order.
    pub refused: Vec<Refused>,
}

/// Efforts of the drives in many states, on all cores; the shortest lists where drives are redundant, friction as given. Now and
/// then `go_on` is told how many states are done, and may stop it.
///
/// ```
/// use gough::batch::{State, efforts};
/// let robot = gough::robots::load("five-bar").expect("a shipped robot")?;
/// let state = State { pose: robot.home().pose(), t_r: &[0.0, 0.0], td_r: &[1.0, 0.0] };
/// let found = efforts(robot.model(), robot.mode(), None, &[state; 10], |_| true);
/// assert!(found.refused.is_empty());
/// assert_eq!(found.efforts.len(), 10 * 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn efforts(
    model: &Model<f64>,
    mode: &WorkingMode,
    friction: Option<Sign>,
    states: &[State<'_>],
    mut go_on: impl FnMut(usize) -> bool,
) -> EffortsOfStates {
    let drives = model.topology().active.len();
    let mut found = EffortsOfStates { efforts: vec![0.0; states.len() * drives], ..EffortsOfStates::default() };
    let memory = Mutex::new(Vec::new());
    for (k, block) in states.chunks(MANY).enumerate() {
        let first = k * MANY;
        let out = &mut found.efforts[first * drives..][..block.len() * drives];
        // A robot without drives has no efforts to cut into pieces.
        let tasks = out.par_chunks_mut((TASK * drives).max(1)).zip(block.par_chunks(TASK)).enumerate();
        let refused = tasks.flat_map_iter(|(task, (out, states))| {
            let held = || memory.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = held().pop();
            let mut four = taken.unwrap_or_else(|| FourStates::new(model));
            let refused = four_by_four(&mut four, model, mode, friction, states, out);
            held().push(four);
            refused.into_iter().map(move |(i, why)| Refused { state: first + task * TASK + i, why })
        });
        found.refused.extend(refused.collect::<Vec<_>>());
        found.done = first + block.len();
        if !go_on(found.done) {
            break;
        }
    }
    found.efforts.truncate(found.done * drives);
    found
}

/// Efforts of a few states, four at a time; the last ones are filled up with the last of them. States without an answer.
fn four_by_four(
    memory: &mut FourStates,
    model: &Model<f64>,
    mode: &WorkingMode,
    friction: Option<Sign>,
    states: &[State<'_>],
    out: &mut [f64],
) -> Vec<(usize, SolveError)> {
    let drives = model.topology().active.len();
    let mut refused = Vec::new();
    let mut four = vec![0.0; LANES * drives];
    for (k, group) in states.chunks(LANES).enumerate() {
        let at = |i: usize| group[i.min(group.len() - 1)];
        let found = memory.inverse(model, &std::array::from_fn(at), mode, friction, &mut four);
        for (i, answer) in found.into_iter().enumerate().take(group.len()) {
            let place = LANES * k + i;
            match answer {
                Ok(()) => out[place * drives..][..drives].copy_from_slice(&four[i * drives..][..drives]),
                Err(why) => refused.push((place, why)),
            }
        }
    }
    refused
}
