//! All states answered: in blocks on all cores, and by the general road what the program does not answer.

use super::BlockProgram;
use crate::codegen::ModelKind;
use crate::dynamics::{Dynamics, Sign};
use crate::kinematics::jacobians::matrices_at;
use crate::kinematics::motion::{Motion, move_bodies};
use crate::kinematics::platform::pose_with;
use crate::kinematics::{Kind, SolveError, inverse};
use crate::spatial::{Mat3, Pose, Rotation, vec3};
use rayon::prelude::*;

/// States that one core takes at a time.
const TASK: usize = 512;
/// States between two calls of `go_on`.
const MANY: usize = 1 << 16;

/// A state without an answer, by its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    /// Place of the state in the list.
    pub state: usize,
    /// Why there is no answer.
    pub why: SolveError,
}

/// Answers of many states.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answers {
    /// How many states were looked at: all of them, unless it was stopped.
    pub done: usize,
    /// Answers of the first state, of the second, and so on, each as many numbers as the outputs have entries. Those of a
    /// refused state are zero.
    pub values: Vec<f64>,
    /// States without an answer, in order.
    pub refused: Vec<Refused>,
}

/// Whether the general road answers a model.
pub(super) fn is_answered(kind: ModelKind) -> bool {
    use ModelKind::{Ddm, Idm, Igm, Jacobian, Kinematics};
    matches!(kind, Igm | Kinematics | Jacobian | Idm | Ddm)
}

impl BlockProgram {
    /// Answers of states, one row of numbers each, on all cores. Now and then `go_on` is told how many states are done, and may
    /// stop it.
    pub fn answers(&self, states: &[f64], mut go_on: impl FnMut(usize) -> bool) -> Result<Answers, SolveError> {
        let [width, out] = self.widths;
        let count = states.len() / width.max(1);
        if count * width != states.len() {
            return Err(SolveError::WrongCount {
                what: "numbers of the last state",
                expected: width,
                found: states.len() % width,
            });
        }
        let mut found = Answers { values: vec![0.0; count * out], ..Answers::default() };
        for first in (0..count).step_by(MANY) {
            let own = (count - first).min(MANY);
            let states = &states[first * width..(first + own) * width];
            let values = &mut found.values[first * out..(first + own) * out];
            let tasks = values.par_chunks_mut((TASK * out).max(1)).zip(states.par_chunks(TASK * width)).enumerate();
            let refused = tasks.flat_map_iter(|(task, (values, states))| {
                self.answer(states, values)
                    .into_iter()
                    .map(move |(i, why)| Refused { state: first + task * TASK + i, why })
            });
            found.refused.extend(refused.collect::<Vec<_>>());
            found.done = first + own;
            if !go_on(found.done) {
                break;
            }
        }
        found.values.truncate(found.done * out);
        Ok(found)
    }

    /// Answers on this thread; states that are refused, whose rows are zero.
    #[doc(hidden)]
    pub fn answer(&self, states: &[f64], values: &mut [f64]) -> Vec<(usize, SolveError)> {
        let [width, out] = self.widths;
        let mut failed = Vec::new();
        self.run(states, values, |i| failed.push(i));
        let mut memory = None;
        let mut refused = Vec::new();
        for i in failed {
            let own = &mut values[i * out..(i + 1) * out];
            match self
                .one(&states[i * width..(i + 1) * width], memory.get_or_insert_with(|| Dynamics::new(&self.model)))
            {
                Ok(found) => own.copy_from_slice(&found),
                Err(why) => {
                    own.fill(0.0);
                    refused.push((i, why));
                }
            }
        }
        refused
    }

    /// How many of these states the program leaves to the general road.
    #[doc(hidden)]
    pub fn left_over(&self, states: &[f64]) -> usize {
        let mut count = 0;
        let answers = states.len() / self.width().max(1) * self.answer_width();
        self.run(states, &mut vec![0.0; answers], |_| count += 1);
        count
    }

    /// One state by the general road.
    #[doc(hidden)]
    pub fn general(&self, state: &[f64]) -> Result<Vec<f64>, SolveError> {
        if state.len() != self.width() {
            return Err(SolveError::WrongCount {
                what: "numbers of a state",
                expected: self.width(),
                found: state.len(),
            });
        }
        self.one(state, &mut Dynamics::new(&self.model))
    }

    pub(super) fn one(&self, state: &[f64], memory: &mut Dynamics) -> Result<Vec<f64>, SolveError> {
        let (model, topology) = (&self.model, self.model.topology());
        let n = topology.platform.independent.len();
        let friction = self.wanted.friction.then(Sign::default);
        let (pose, rest) = state.split_at(self.inputs[0].entries.len());
        let pose = self.pose(pose);
        let posture = || inverse(model, &pose, &self.mode);
        let all = || topology.active.iter().chain(&topology.passive).copied();
        match self.wanted.kind {
            ModelKind::Idm => {
                memory.inverse(model, &pose, &self.mode, &rest[..n], &rest[n..], friction).map(<[f64]>::to_vec)
            }
            ModelKind::Ddm => {
                memory.direct(model, &pose, &self.mode, &rest[..n], &rest[n..], friction).map(<[f64]>::to_vec)
            }
            ModelKind::Igm => Ok(posture()?.joints(model, &all().collect::<Vec<_>>())),
            ModelKind::Kinematics => {
                let (mut pos, mut motion) = (posture()?.positions().clone(), Motion::new(model));
                move_bodies(model, &rest[..n], &rest[n..], &mut pos, &mut motion)?;
                Ok(all().map(|c| motion.rates[c]).chain(all().map(|c| motion.accels[c])).collect())
            }
            _ => {
                let J_inv = matrices_at(model, &posture()?, None)?.jacobians.J_inv;
                J_inv.map(|J| J.data).ok_or(SolveError::Singular { leg: None, kind: Kind::Type1 })
            }
        }
    }

    /// The pose that a state begins with.
    fn pose(&self, x: &[f64]) -> Pose<f64> {
        let independent = &self.model.topology().platform.independent;
        if x.len() == 12 {
            return Pose { R: Rotation(Mat3::from_fn(|i, j| x[3 + 3 * i + j])), p: vec3(x[0], x[1], x[2]) };
        }
        let given: Vec<_> = independent.iter().copied().zip(x.iter().copied()).collect();
        pose_with(&self.model, &self.model.numbers().home_pose, &given)
    }
}
