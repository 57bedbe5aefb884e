//! One state after the other by a program, without allocation: what a controller or a simulation calls.

use super::BlockProgram;
use crate::dynamics::Dynamics;
use crate::kinematics::SolveError;
use gough_jit::Scratch;
use std::sync::Arc;

/// A program that answers one state at a time, in memory of its own.
#[derive(Debug)]
pub struct OneByOne {
    program: Arc<BlockProgram>,
    /// Memory of machine code, where there is some; the general road answers otherwise.
    scratch: Option<Scratch>,
    dynamics: Option<Box<Dynamics>>,
    answer: Vec<f64>,
}

impl BlockProgram {
    /// The program for one state after the other.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let mut idm = robot.program(gough::ModelKind::Idm)?.one_by_one();
    /// // x, y, then the twist, then the acceleration.
    /// let efforts = idm.answer(&[0.05, 0.25, 0.1, 0.0, 0.0, 1.0])?;
    /// assert_eq!(efforts.len(), 2);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn one_by_one(self: &Arc<Self>) -> OneByOne {
        OneByOne {
            program: self.clone(),
            scratch: self.machine.as_ref().map(super::Machine::memory_of_one),
            dynamics: None,
            answer: vec![0.0; self.answer_width()],
        }
    }
}

impl OneByOne {
    /// The answer of a state: numbers of its inputs one after the other, numbers of the outputs likewise.
    pub fn answer(&mut self, state: &[f64]) -> Result<&[f64], SolveError> {
        let Self { program, scratch, dynamics, answer } = self;
        let expected = program.width();
        if state.len() != expected {
            let found = state.len();
            return Err(SolveError::WrongCount { what: "numbers of a state", expected, found });
        }
        if let (Some(machine), Some(scratch)) = (&program.machine, scratch)
            && machine.run_one(state, answer, scratch)
        {
            return Ok(answer);
        }
        let memory = dynamics.get_or_insert_with(|| Box::new(Dynamics::new(&program.model)));
        answer.copy_from_slice(&program.one(state, memory)?);
        Ok(answer)
    }
}
