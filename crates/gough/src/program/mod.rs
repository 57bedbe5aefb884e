//! Stage 6: a model of a robot compiled in memory and run over many states.
//!
//! Generated code knows its robot: constants are folded, legs are unrolled, equal expressions are computed once. The library
//! runs the same graph itself ([`BlockProgram`]): as machine code on four states at once where the processor has some
//! (`compiled`), else as a list of operations, each of which goes over 32 states before the next one,
//! so that reading the list costs little. A result waits in a register until nothing needs it any more, numbers are operands,
//! sums take the products along that nothing else uses. Operations of one kind follow each other as far as
//! they can: a processor that guesses wrong what comes next loses more time than an operation takes.
//!
//! A program does not decide anything. It has, beside its numbers, what must hold for them: every leg reaches, joints are in
//! their ranges, the pose is one, no denominator is small against what it is around home. A state where something of that
//! does not hold is answered, or refused by name, by the general road.
//!
//! ```
//! use gough::ModelKind;
//! let robot = gough::Robot::shipped("five-bar")?;
//! let program = robot.program(ModelKind::Idm)?;
//! // x, y, then the twist, then the acceleration; two states.
//! let states = [0.0, 0.25, 0.0, 0.0, 1.0, 0.0, 0.05, 0.25, 0.1, 0.0, 0.0, 1.0];
//! let found = program.answers(&states, |_| true)?;
//! assert_eq!((found.values.len(), found.refused.len()), (4, 0));
//! # Ok::<(), gough::Error>(())
//! ```

mod assemble;
mod cache;
mod compiled;
#[cfg(any(test, feature = "cuda"))]
mod cuda;
mod general;
mod ops;
mod run;
mod schedule;
mod single;

pub(crate) use cache::Programs;
pub use general::{Answers, Refused};
pub use single::OneByOne;

use crate::Robot;
use crate::codegen::lower::{Lowered, ModelWanted, lowered};
use crate::codegen::{CodegenError, Group, ModelKind};
use crate::kinematics::WorkingMode;
use crate::model::Model;
use compiled::Machine;
use ops::{Instruction, Opcode, Register};
use run::{BLOCK, BlockMemory};
use std::sync::{Arc, Mutex, PoisonError};

/// A model of a robot in a working mode, compiled to be run over blocks of states.
#[derive(Debug)]
pub struct BlockProgram {
    ops: Vec<Instruction>,
    /// Kinds of operations, and how many of each follow each other.
    runs: Vec<(Opcode, usize)>,
    numbers: Vec<f64>,
    registers: usize,
    /// The inputs that are read, each with its register.
    read: Vec<(usize, Register)>,
    written: Vec<Register>,
    inputs: Vec<Group>,
    outputs: Vec<Group>,
    /// Numbers of a state, and of its answer.
    widths: [usize; 2],
    wanted: ModelWanted,
    model: Model<f64>,
    mode: WorkingMode,
    /// Machine code, where there is some: it is run in place of the list.
    machine: Option<Machine>,
    /// The program as a function in CUDA C.
    #[cfg(any(test, feature = "cuda"))]
    cuda: String,
    /// Memory of blocks that are done.
    pool: Mutex<Vec<BlockMemory>>,
}

impl Robot {
    /// A model compiled to be run over many states, in the working mode of the file and without friction; it is made once.
    /// Inverse geometry, kinematics, the inverse Jacobian, inverse and direct dynamics can be compiled, of robots that have
    /// generated code.
    pub fn program(&self, model: ModelKind) -> Result<Arc<BlockProgram>, CodegenError> {
        self.program_in(model, self.mode(), false)
    }

    /// A model compiled to be run over many states, in a working mode, friction of all joints included or not.
    pub fn program_in(
        &self,
        model: ModelKind,
        mode: &WorkingMode,
        friction: bool,
    ) -> Result<Arc<BlockProgram>, CodegenError> {
        let name = mode.name(self.model().topology());
        self.programs().get(self, mode, ModelWanted { kind: model, mode: name, friction, by_matrix: false })
    }

    /// A model whose states begin with the position and the rotation matrix of the platform, row by row, whatever its
    /// coordinates are.
    #[doc(hidden)]
    pub fn program_by_matrix(
        &self,
        model: ModelKind,
        mode: &WorkingMode,
        friction: bool,
    ) -> Result<Arc<BlockProgram>, CodegenError> {
        let name = mode.name(self.model().topology());
        self.programs().get(self, mode, ModelWanted { kind: model, mode: name, friction, by_matrix: true })
    }
}

impl Robot {
    /// A model by position and rotation matrix that was compiled before.
    pub(crate) fn program_made(
        &self,
        model: ModelKind,
        mode: &WorkingMode,
        friction: bool,
    ) -> Option<Arc<BlockProgram>> {
        let name = mode.name(self.model().topology());
        self.programs().made(&ModelWanted { kind: model, mode: name, friction, by_matrix: true })?.ok()
    }
}

impl BlockProgram {
    /// Compile a model of a robot.
    fn new(robot: &Robot, mode: &WorkingMode, wanted: ModelWanted) -> Result<Self, CodegenError> {
        if !general::is_answered(wanted.kind) {
            return Err(CodegenError::NotCompiled { model: wanted.kind });
        }
        let found = lowered(robot, mode, &wanted)?;
        let program = assemble::assembled(&found).ok_or(CodegenError::TooLarge)?;
        let machine = Machine::new(&program);
        #[cfg(any(test, feature = "cuda"))]
        let cuda = cuda::function(&program);
        let order = schedule::scheduled(&program).ok_or(CodegenError::TooLarge)?;
        let Lowered { inputs, outputs, .. } = found;
        let widths = [&inputs, &outputs].map(|list| list.iter().map(|g| g.entries.len()).sum());
        Ok(Self {
            ops: order.ops,
            runs: order.runs,
            numbers: program.numbers,
            registers: order.registers,
            read: order.inputs,
            written: order.outputs,
            inputs,
            outputs,
            widths,
            wanted,
            model: robot.model().clone(),
            mode: mode.clone(),
            machine,
            #[cfg(any(test, feature = "cuda"))]
            cuda,
            pool: Mutex::new(Vec::new()),
        })
    }

    /// The model.
    #[doc(hidden)]
    pub fn kind(&self) -> ModelKind {
        self.wanted.kind
    }

    /// What a state is made of, group by group.
    pub fn inputs(&self) -> &[Group] {
        &self.inputs
    }

    /// What an answer is made of, group by group.
    pub fn outputs(&self) -> &[Group] {
        &self.outputs
    }

    /// How many operations the program has, in how many runs of equal kinds, and in how many registers.
    #[doc(hidden)]
    pub fn size(&self) -> [usize; 3] {
        [self.ops.len(), self.runs.len(), self.registers]
    }

    /// How many numbers a state has.
    #[doc(hidden)]
    pub fn width(&self) -> usize {
        self.widths[0]
    }

    /// How many numbers an answer has.
    #[doc(hidden)]
    pub fn answer_width(&self) -> usize {
        self.widths[1]
    }

    /// The program as a function in CUDA C, `gough_formula`.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn cuda(&self) -> &str {
        &self.cuda
    }

    /// Run states on this thread, one row of numbers each, into rows of answers; `failed` is told the places of states that the
    /// program does not answer, whose rows mean nothing.
    fn run(&self, states: &[f64], answers: &mut [f64], failed: impl FnMut(usize)) {
        if let Some(machine) = &self.machine {
            return machine.run(states, answers, failed);
        }
        let width = self.width();
        let row = |i: usize, row: &mut [f64]| row.copy_from_slice(&states[i * width..(i + 1) * width]);
        self.run_in_blocks(states.len() / width.max(1), row, answers, failed);
    }

    /// Whether the program is machine code.
    #[doc(hidden)]
    pub fn is_compiled(&self) -> bool {
        self.machine.is_some()
    }

    /// Run states on this thread whose rows `row` writes.
    pub(crate) fn run_with(
        &self,
        count: usize,
        row: impl FnMut(usize, &mut [f64]),
        answers: &mut [f64],
        failed: impl FnMut(usize),
    ) {
        match &self.machine {
            Some(machine) => machine.run_with(count, row, answers, failed),
            None => self.run_in_blocks(count, row, answers, failed),
        }
    }

    /// Run states over blocks, operation by operation.
    #[doc(hidden)]
    pub fn run_in_blocks(
        &self,
        count: usize,
        mut row: impl FnMut(usize, &mut [f64]),
        answers: &mut [f64],
        mut failed: impl FnMut(usize),
    ) {
        let [width, out] = self.widths;
        let mut memory = self.memory();
        for first in (0..count).step_by(BLOCK) {
            let own = (count - first).min(BLOCK);
            memory.fill(&self.read, own, width, |i, x| row(first + i, x));
            run::run(&self.ops, &self.runs, &self.numbers, &mut memory);
            memory.take(&self.written, &mut answers[first * out..(first + own) * out]);
            if !memory.all_good() {
                (0..own).filter(|i| !memory.is_good(*i)).for_each(|i| failed(first + i));
            }
        }
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    fn memory(&self) -> BlockMemory {
        let kept = self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| BlockMemory::new(self.registers))
    }
}
