//! A program as machine code, where the processor has some: a loop over packs of four states, and the same for one.

use super::assemble::Assembled;
use super::ops::{Instruction, Opcode};
use crate::scalar::{Real, each_lane, lanes};
use gough_jit::{AtOnce, Code, Formula, Four, PACK, Scratch, Value};
use std::sync::{Mutex, PoisonError};

/// States whose rows are written before they are computed.
const ROWS: usize = 128;

/// Machine code of a program.
#[derive(Debug)]
pub(super) struct Machine {
    code: Code,
    /// The code for one state alone.
    single: Code,
    /// Numbers of a state, and of its answer.
    widths: [usize; 2],
    /// Memory of runs that are done.
    pool: Mutex<Vec<MachineMemory>>,
}

/// What a run is computed in.
#[derive(Debug)]
struct MachineMemory {
    scratch: Scratch,
    /// Which rows of each pack are answered.
    good: Vec<u8>,
    rows: Vec<f64>,
    /// The last pack, when it is not full, and its answers.
    last: [Vec<f64>; 2],
}

impl Machine {
    /// The code of a program; none where the processor has none.
    pub fn new(program: &Assembled) -> Option<Self> {
        let formula = formula(program);
        let (code, single) = (formula.compile(AtOnce::Four)?, formula.compile(AtOnce::One)?);
        Some(Self { code, single, widths: [program.inputs, program.outputs.len()], pool: Mutex::default() })
    }

    /// Run states, one row of numbers each; `failed` is told the places of states that are not answered.
    pub fn run(&self, states: &[f64], answers: &mut [f64], failed: impl FnMut(usize)) {
        let mut memory = self.memory();
        self.run_in(&mut memory, states, answers, failed);
        self.keep(memory);
    }

    /// Run states whose rows `row` writes.
    pub fn run_with(
        &self,
        count: usize,
        mut row: impl FnMut(usize, &mut [f64]),
        answers: &mut [f64],
        mut failed: impl FnMut(usize),
    ) {
        let [width, out] = self.widths;
        let mut memory = self.memory();
        let mut rows = std::mem::take(&mut memory.rows);
        rows.resize(ROWS * width, 0.0);
        for first in (0..count).step_by(ROWS) {
            let own = (count - first).min(ROWS);
            rows.chunks_exact_mut(width.max(1)).take(own).enumerate().for_each(|(i, x)| row(first + i, x));
            let answers = &mut answers[first * out..(first + own) * out];
            self.run_in(&mut memory, &rows[..own * width], answers, |i| failed(first + i));
        }
        memory.rows = rows;
        self.keep(memory);
    }

    /// Memory for [`Machine::run_one`].
    pub fn memory_of_one(&self) -> Scratch {
        self.single.scratch()
    }

    /// Run one state; whether it is answered.
    pub fn run_one(&self, state: &[f64], answer: &mut [f64], scratch: &mut Scratch) -> bool {
        let mut good = [0];
        self.single.run(state, answer, &mut good, scratch) && good == [1]
    }

    fn memory(&self) -> MachineMemory {
        let kept = self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| MachineMemory {
            scratch: self.code.scratch(),
            good: Vec::new(),
            rows: Vec::new(),
            last: [0, 1].map(|k| vec![0.0; PACK * self.widths[k]]),
        })
    }

    fn keep(&self, memory: MachineMemory) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    fn run_in(&self, memory: &mut MachineMemory, states: &[f64], answers: &mut [f64], mut failed: impl FnMut(usize)) {
        let [width, out] = self.widths;
        let count = states.len() / width.max(1);
        let MachineMemory { scratch, good, last: [rows, found], .. } = memory;
        let full = count / PACK;
        good.clear();
        good.resize(full, 0);
        let mut is_run = self.code.run(states, answers, good, scratch);
        if full * PACK < count {
            // The last state stands for what is missing.
            let (rest, from) =
                (&states[full * PACK * width..count * width], &states[(count - 1) * width..count * width]);
            rows[..rest.len()].copy_from_slice(rest);
            rows[rest.len()..].chunks_exact_mut(width).for_each(|row| row.copy_from_slice(from));
            let mut own = [0];
            is_run &= self.code.run(rows, found, &mut own, scratch);
            good.extend(own);
            let answers = &mut answers[full * PACK * out..count * out];
            answers.copy_from_slice(&found[..answers.len()]);
        }
        let is_good = |i: usize| is_run && good[i / PACK] >> (i % PACK) & 1 == 1;
        if !is_run || good.iter().any(|bits| *bits != (1 << PACK) - 1) {
            (0..count).filter(|i| !is_good(*i)).for_each(&mut failed);
        }
    }
}

/// The formula of a program.
fn formula(program: &Assembled) -> Formula {
    let mut writer = FormulaWriter { to: Formula::new(program.inputs), program, known: vec![None; program.registers] };
    program.ops.iter().for_each(|op| writer.op(op));
    for r in &program.outputs {
        let x = writer.value(*r);
        writer.to.give(x);
    }
    writer.to
}

struct FormulaWriter<'a> {
    to: Formula,
    program: &'a Assembled,
    known: Vec<Option<Value>>,
}

impl FormulaWriter<'_> {
    /// The value in a register; inputs are read when they are needed.
    fn value(&mut self, r: usize) -> Value {
        if let Some(x) = self.known[r] {
            return x;
        }
        let x = self.to.input(r);
        self.known[r] = Some(x);
        x
    }

    fn op(&mut self, op: &Instruction<usize>) {
        let mut x = [None; 5];
        for (x, r) in x.iter_mut().zip(op.reads()) {
            *x = Some(self.value(*r));
        }
        let numbers = op.numbers.map(|k| self.program.numbers.get(usize::from(k)).copied().unwrap_or(0.0));
        let zero = self.to.number(0.0);
        let found = self.results(op.kind, x.map(|x| x.unwrap_or(zero)), numbers);
        for (r, x) in op.writes().iter().zip(found) {
            self.known[*r] = Some(x);
        }
    }

    /// What an operation computes, as [`Opcode`] says; the second result is that of sines and cosines.
    fn results(&mut self, kind: Opcode, [r, s, t, u, v]: [Value; 5], [k, l]: [f64; 2]) -> [Value; 2] {
        let f = &mut self.to;
        let one = match kind {
            Opcode::Set => f.number(k),
            Opcode::Neg => f.neg(r),
            Opcode::Add => f.add(r, s),
            Opcode::Sub => f.sub(r, s),
            Opcode::Mul => f.mul(r, s),
            Opcode::Fma => f.mul_add(r, s, t),
            Opcode::Fnma => f.neg_mul_add(r, s, t),
            Opcode::Fms => f.mul_sub(r, s, t),
            Opcode::Sqrt => f.sqrt(r),
            Opcode::Select => f.select(r, s, t),
            Opcode::AddNumber => {
                let k = f.number(k);
                f.add(r, k)
            }
            Opcode::FromNumber => {
                let k = f.number(k);
                f.sub(k, r)
            }
            Opcode::Mul3 => {
                let rs = f.mul(r, s);
                f.mul(rs, t)
            }
            Opcode::MulNumber => {
                let k = f.number(k);
                f.mul(r, k)
            }
            Opcode::MulsNumber => {
                let (rs, k) = (f.mul(r, s), f.number(k));
                f.mul(rs, k)
            }
            Opcode::Affine => {
                let (k, l) = (f.number(k), f.number(l));
                f.mul_add(r, k, l)
            }
            Opcode::FmaNumber => {
                let k = f.number(k);
                f.mul_add(r, k, s)
            }
            Opcode::FmsNumber => {
                let k = f.number(k);
                f.mul_sub(r, k, s)
            }
            Opcode::Lin => {
                let (k, l) = (f.number(k), f.number(l));
                let sl = f.mul(s, l);
                f.mul_add(r, k, sl)
            }
            Opcode::LinAdd => {
                let (k, l) = (f.number(k), f.number(l));
                let sl = f.mul_add(s, l, t);
                f.mul_add(r, k, sl)
            }
            Opcode::Dot => {
                let tu = f.mul(t, u);
                f.mul_add(r, s, tu)
            }
            Opcode::Det => {
                let tu = f.mul(t, u);
                f.mul_sub(r, s, tu)
            }
            Opcode::DotAdd => {
                let sum = f.mul_add(t, u, v);
                f.mul_add(r, s, sum)
            }
            Opcode::DetAdd => {
                let rest = f.neg_mul_add(t, u, v);
                f.mul_add(r, s, rest)
            }
            Opcode::DotFrom => {
                let rest = f.neg_mul_add(t, u, v);
                f.neg_mul_add(r, s, rest)
            }
            Opcode::Reciprocal
            | Opcode::SinCos
            | Opcode::Atan2
            | Opcode::Exp
            | Opcode::Sign
            | Opcode::NotNegative
            | Opcode::NotPositive => return self.rarely(kind, [r, s], k),
        };
        [one; 2]
    }

    /// Operations that a program has few of; what is left of them is that the value must not be negative.
    fn rarely(&mut self, kind: Opcode, [r, s]: [Value; 2], k: f64) -> [Value; 2] {
        let f = &mut self.to;
        match kind {
            Opcode::Reciprocal => {
                let (size, k, one) = (f.abs(r), f.number(k), f.number(1.0));
                let margin = f.sub(size, k);
                f.require(margin);
                [f.div(one, r); 2]
            }
            Opcode::SinCos => {
                let (size, k) = (f.abs(r), f.number(k));
                let margin = f.sub(k, size);
                f.require(margin);
                f.call(sin_cos, [r, r])
            }
            Opcode::Atan2 => f.call(atan2, [r, s]),
            Opcode::Exp => f.call(exp, [r, r]),
            Opcode::Sign => {
                let (zero, one, minus) = (f.number(0.0), f.number(1.0), f.neg(r));
                let (plus, minus) = (f.select(r, one, zero), f.select(minus, one, zero));
                [f.sub(plus, minus); 2]
            }
            Opcode::NotPositive => {
                let minus = f.neg(r);
                f.require(minus);
                [minus; 2]
            }
            _ => {
                f.require(r);
                [r; 2]
            }
        }
    }
}

fn sin_cos(x: &mut [Four; 2]) {
    let (sin, cos) = lanes(x[0]).sin_cos();
    *x = [each_lane(sin), each_lane(cos)];
}

fn atan2(x: &mut [Four; 2]) {
    x[0] = each_lane(lanes(x[0]).atan2(lanes(x[1])));
}

fn exp(x: &mut [Four; 2]) {
    x[0] = each_lane(lanes(x[0]).exp());
}
