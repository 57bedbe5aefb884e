//! Stage 7: many states at once, on all cores, refusals beside the answers, with progress and a stop.
//!
//! [`each`] is the one driver: slices of anything, answered in order. [`efforts`] and [`accelerations`] answer slices of states
//! by compiled programs ([`crate::program`]) where the robot has one and they are many; what a program does not
//! answer, and all states of other robots, go the general road one by one.

use crate::Robot;
use crate::codegen::ModelKind;
use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::{SolveError, WorkingMode};
use crate::program::BlockProgram;
use crate::program::Refused;
use crate::spatial::Pose;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers between two calls of `go_on`, where one may take a search.
const FEW: usize = 1024;
/// Answers between two calls of `go_on`, where one takes a microsecond.
const MANY: usize = 1 << 15;
/// States that one core takes at a time.
const TASK: usize = 512;
/// As many states are worth a program that is not there yet.
const WORTH: usize = 1 << 13;

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

/// A state of the platform.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// Pose.
    pub pose: &'a Pose<f64>,
    /// Twist in the platform's independent components.
    pub t_r: &'a [f64],
    /// Acceleration in the same components.
    pub td_r: &'a [f64],
}

/// A state of the platform under efforts.
#[derive(Clone, Copy, Debug)]
pub struct Driven<'a> {
    /// Pose.
    pub pose: &'a Pose<f64>,
    /// Twist in the platform's independent components.
    pub t_r: &'a [f64],
    /// Efforts of the drives.
    pub efforts: &'a [f64],
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

/// Accelerations of the platform in many states.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AccelerationsOfStates {
    /// How many states were looked at: all of them, unless it was stopped.
    pub done: usize,
    /// Accelerations in the first state, in the second, and so on: `done` lists of as many numbers as the platform has
    /// independent components. Those of a refused state are zero.
    pub accelerations: Vec<f64>,
    /// States without an answer, in order.
    pub refused: Vec<Refused>,
}

/// Efforts of the drives in many states, on all cores; the shortest lists where drives are redundant, friction as given. Now and
/// then `go_on` is told how many states are done, and may stop it.
///
/// ```
/// use gough::batch::{State, efforts};
/// let robot = gough::Robot::shipped("five-bar")?;
/// let state = State { pose: robot.home().pose(), t_r: &[0.0, 0.0], td_r: &[1.0, 0.0] };
/// let found = efforts(&robot, robot.mode(), None, &[state; 10], |_| true);
/// assert!(found.refused.is_empty());
/// assert_eq!(found.efforts.len(), 10 * 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn efforts(
    robot: &Robot,
    mode: &WorkingMode,
    friction: Option<Sign>,
    states: &[State<'_>],
    go_on: impl FnMut(usize) -> bool,
) -> EffortsOfStates {
    let task = BatchTask { robot, mode, kind: ModelKind::Idm, friction };
    let (done, efforts, refused) = task.all(states, |s| (s.pose, s.t_r, s.td_r), go_on);
    EffortsOfStates { done, efforts, refused }
}

/// Accelerations of the platform in many states under efforts, on all cores, friction as given. Now and then `go_on` is told how
/// many states are done, and may stop it.
pub fn accelerations(
    robot: &Robot,
    mode: &WorkingMode,
    friction: Option<Sign>,
    states: &[Driven<'_>],
    go_on: impl FnMut(usize) -> bool,
) -> AccelerationsOfStates {
    let task = BatchTask { robot, mode, kind: ModelKind::Ddm, friction };
    let (done, accelerations, refused) = task.all(states, |s| (s.pose, s.t_r, s.efforts), go_on);
    AccelerationsOfStates { done, accelerations, refused }
}

/// Pose, twist, and acceleration or efforts.
type StateParts<'a> = (&'a Pose<f64>, &'a [f64], &'a [f64]);

/// What is asked of all states.
struct BatchTask<'a> {
    robot: &'a Robot,
    mode: &'a WorkingMode,
    kind: ModelKind,
    friction: Option<Sign>,
}

impl BatchTask<'_> {
    /// How many states are done, their answers, and the refusals.
    fn all<T: Sync>(
        &self,
        states: &[T],
        parts: impl for<'s> Fn(&'s T) -> StateParts<'s> + Sync,
        mut go_on: impl FnMut(usize) -> bool,
    ) -> (usize, Vec<f64>, Vec<Refused>) {
        let width = self.width();
        let program = self.program(states.len());
        let memory = Mutex::new(Vec::new());
        let (mut done, mut values, mut refused) = (0, vec![0.0; states.len() * width], Vec::new());
        for (k, block) in states.chunks(MANY).enumerate() {
            let first = k * MANY;
            let out = &mut values[first * width..][..block.len() * width];
            // A robot without drives has no efforts to cut into pieces.
            let tasks = out.par_chunks_mut((TASK * width).max(1)).zip(block.par_chunks(TASK)).enumerate();
            let found = tasks.flat_map_iter(|(task, (out, states))| {
                let at = |i: usize| parts(&states[i]);
                let left = match &program {
                    Some(program) => in_blocks(program, states.len(), at, out),
                    None => (0..states.len()).collect(),
                };
                let refused = self.one_by_one(&memory, left, at, out);
                refused.into_iter().map(move |(i, why)| Refused { state: first + task * TASK + i, why })
            });
            refused.extend(found.collect::<Vec<_>>());
            done = first + block.len();
            if !go_on(done) {
                break;
            }
        }
        values.truncate(done * width);
        (done, values, refused)
    }

    /// How many numbers an answer has.
    fn width(&self) -> usize {
        let topology = self.robot.model().topology();
        if self.kind == ModelKind::Idm { topology.active.len() } else { topology.platform.independent.len() }
    }

    /// The program, when the robot has one and the states are worth it.
    fn program(&self, states: usize) -> Option<Arc<BlockProgram>> {
        let friction = match self.friction {
            None => false,
            Some(Sign::Sharp) => true,
            Some(Sign::Smooth(_)) => return None,
        };
        let made = self.robot.program_made(self.kind, self.mode, friction);
        if states < WORTH { made } else { self.robot.program_by_matrix(self.kind, self.mode, friction).ok() }
    }

    /// States one after the other on the general road; those without an answer.
    fn one_by_one<'s>(
        &self,
        memory: &Mutex<Vec<Dynamics>>,
        states: Vec<usize>,
        at: impl Fn(usize) -> StateParts<'s>,
        out: &mut [f64],
    ) -> Vec<(usize, SolveError)> {
        if states.is_empty() {
            return Vec::new();
        }
        let model = self.robot.model();
        let held = || memory.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = held().pop();
        let mut dynamics = taken.unwrap_or_else(|| Dynamics::new(model));
        let mut refused = Vec::new();
        for i in states {
            let (pose, t_r, given) = at(i);
            let found = if self.kind == ModelKind::Idm {
                dynamics.inverse(model, pose, self.mode, t_r, given, self.friction)
            } else {
                dynamics.direct(model, pose, self.mode, t_r, given, self.friction)
            };
            match found {
                Ok(found) => out[i * found.len()..][..found.len()].copy_from_slice(found),
                Err(why) => refused.push((i, why)),
            }
        }
        held().push(dynamics);
        let width = self.width();
        refused.iter().for_each(|(i, _)| out[i * width..][..width].fill(0.0));
        refused
    }
}

/// States by a program; those that it does not answer.
fn in_blocks<'s>(
    program: &BlockProgram,
    count: usize,
    at: impl Fn(usize) -> StateParts<'s>,
    out: &mut [f64],
) -> Vec<usize> {
    let [_, n, given] = [0, 1, 2].map(|k| program.inputs()[k].entries.len());
    let mut failed = Vec::new();
    let row = |i: usize, row: &mut [f64]| {
        let (pose, t_r, other) = at(i);
        if t_r.len() != n || other.len() != given {
            // No number: the general road says what is wrong.
            return row.fill(f64::NAN);
        }
        pose.write(row);
        row[12..12 + n].copy_from_slice(t_r);
        row[12 + n..].copy_from_slice(other);
    };
    program.run_with(count, row, out, |i| failed.push(i));
    failed
}
