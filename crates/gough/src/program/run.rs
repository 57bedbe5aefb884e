//! Operations over a block of states, structure of arrays.

use super::ops::{Instruction, NumberPlace, Opcode, Register};
use crate::scalar::{LANES, Lanes, Real, all_nonneg, each_lane, lanes};

/// Packs of lanes in a block.
const PACKS: usize = 8;
/// States in a block.
pub(super) const BLOCK: usize = PACKS * LANES;

/// One number in every state of a block.
pub(super) type Tile = [Lanes; PACKS];

/// What a block is computed in, sized once for a program.
#[derive(Clone, Debug)]
pub(super) struct BlockMemory {
    pub registers: Vec<Tile>,
    /// Negative in states that are not answered.
    pub good: Tile,
    /// Inputs of four states.
    rows: Vec<f64>,
}

impl BlockMemory {
    pub fn new(registers: usize) -> Self {
        let zero = [Lanes::lit(0.0); PACKS];
        Self { registers: vec![zero; registers], good: zero, rows: Vec::new() }
    }

    /// Take the numbers of `count` states from rows of `width` numbers that `row` writes; the last one stands for what is
    /// missing in the block.
    #[inline]
    pub fn fill(
        &mut self,
        inputs: &[(usize, Register)],
        count: usize,
        width: usize,
        mut row: impl FnMut(usize, &mut [f64]),
    ) {
        self.rows.resize(LANES * width, 0.0);
        for pack in 0..PACKS {
            for (k, x) in self.rows.chunks_exact_mut(width.max(1)).enumerate() {
                row((pack * LANES + k).min(count.saturating_sub(1)), x);
            }
            let (front, back) = self.rows.split_at(2 * width);
            let four = [&front[..width], &front[width..], &back[..width], &back[width..]];
            for (j, r) in inputs {
                self.registers[usize::from(*r)][pack] = lanes(four.map(|row| row[*j]));
            }
        }
    }

    /// Outputs of the first states, one row per state; those that are not finite are no answer.
    pub fn take(&mut self, outputs: &[Register], rows: &mut [f64]) {
        let (zero, bad) = (Lanes::lit(0.0), Lanes::lit(-1.0));
        let width = outputs.len();
        for (pack, rows) in rows.chunks_mut((LANES * width).max(1)).enumerate() {
            for (j, r) in outputs.iter().enumerate() {
                let out = self.registers[usize::from(*r)][pack];
                // What is not finite is no number times nothing, and so not zero.
                self.good[pack] = (out * zero).where_nonneg(self.good[pack], bad);
                rows.iter_mut().skip(j).step_by(width).zip(each_lane(out)).for_each(|(x, y)| *x = y);
            }
        }
    }

    /// Whether a state of the block is answered.
    pub fn is_good(&self, state: usize) -> bool {
        each_lane(self.good[state / LANES])[state % LANES] >= 0.0
    }

    /// Whether all states of the block are.
    pub fn all_good(&self) -> bool {
        self.good.iter().all(|four| all_nonneg(*four))
    }
}

/// Run the operations on the states in the registers.
pub(super) fn run(ops: &[Instruction], runs: &[(Opcode, usize)], numbers: &[f64], memory: &mut BlockMemory) {
    memory.good = [Lanes::lit(0.0); PACKS];
    let mut rest = ops;
    for (kind, count) in runs {
        let (own, later) = rest.split_at(*count);
        rest = later;
        run_kind(*kind, own, numbers, memory);
    }
}

/// One result from the registers that an operation reads.
#[inline(always)]
fn each<const N: usize>(ops: &[Instruction], registers: &mut [Tile], f: impl Fn(&Instruction, [Lanes; N]) -> Lanes) {
    for op in ops {
        let from: [&Tile; N] = std::array::from_fn(|k| &registers[usize::from(op.from[k])]);
        let result: Tile = std::array::from_fn(|i| f(op, from.map(|r| r[i])));
        registers[usize::from(op.to[0])] = result;
    }
}

/// A condition on a register.
#[inline(always)]
fn hold(op: &Instruction, registers: &[Tile], good: &mut Tile, margin: impl Fn(Lanes) -> Lanes) {
    let r = &registers[usize::from(op.from[0])];
    let bad = Lanes::lit(-1.0);
    *good = std::array::from_fn(|i| margin(r[i]).where_nonneg(good[i], bad));
}

/// Operations of one kind.
fn run_kind(kind: Opcode, ops: &[Instruction], numbers: &[f64], memory: &mut BlockMemory) {
    let BlockMemory { registers, good, .. } = memory;
    let x = registers.as_mut_slice();
    let number = |k: NumberPlace| Lanes::lit(numbers[usize::from(k)]);
    let k = |op: &Instruction| number(op.numbers[0]);
    let l = |op: &Instruction| number(op.numbers[1]);
    match kind {
        Opcode::Set => each(ops, x, |op, []| k(op)),
        Opcode::Neg => each(ops, x, |_, [r]| -r),
        Opcode::Add => each(ops, x, |_, [r, s]| r + s),
        Opcode::Sub => each(ops, x, |_, [r, s]| r - s),
        Opcode::AddNumber => each(ops, x, |op, [r]| r + k(op)),
        Opcode::FromNumber => each(ops, x, |op, [r]| k(op) - r),
        Opcode::Mul => each(ops, x, |_, [r, s]| r * s),
        Opcode::Mul3 => each(ops, x, |_, [r, s, t]| r * s * t),
        Opcode::MulNumber => each(ops, x, |op, [r]| r * k(op)),
        Opcode::MulsNumber => each(ops, x, |op, [r, s]| r * s * k(op)),
        Opcode::Affine => each(ops, x, |op, [r]| r.mul_add(k(op), l(op))),
        Opcode::Fma => each(ops, x, |_, [r, s, t]| r.mul_add(s, t)),
        Opcode::Fnma => each(ops, x, |_, [r, s, t]| r.mul_neg_add(s, t)),
        Opcode::Fms => each(ops, x, |_, [r, s, t]| r.mul_sub(s, t)),
        Opcode::FmaNumber => each(ops, x, |op, [r, s]| r.mul_add(k(op), s)),
        Opcode::FmsNumber => each(ops, x, |op, [r, s]| r.mul_sub(k(op), s)),
        Opcode::Lin => each(ops, x, |op, [r, s]| r.mul_add(k(op), s * l(op))),
        Opcode::LinAdd => each(ops, x, |op, [r, s, t]| r.mul_add(k(op), s.mul_add(l(op), t))),
        Opcode::Dot => each(ops, x, |_, [r, s, t, u]| r.mul_add(s, t * u)),
        Opcode::Det => each(ops, x, |_, [r, s, t, u]| r.mul_sub(s, t * u)),
        Opcode::DotAdd => each(ops, x, |_, [r, s, t, u, v]| r.mul_add(s, t.mul_add(u, v))),
        Opcode::DetAdd => each(ops, x, |_, [r, s, t, u, v]| r.mul_add(s, t.mul_neg_add(u, v))),
        Opcode::DotFrom => each(ops, x, |_, [r, s, t, u, v]| r.mul_neg_add(s, t.mul_neg_add(u, v))),
        Opcode::Sqrt => each(ops, x, |_, [r]| r.sqrt()),
        Opcode::Reciprocal => {
            ops.iter().for_each(|op| hold(op, x, good, |r| r.magnitude() - k(op)));
            each(ops, x, |_, [r]| Lanes::lit(1.0) / r);
        }
        Opcode::SinCos => ops.iter().for_each(|op| {
            hold(op, x, good, |r| k(op) - r.magnitude());
            sin_cos(op, x);
        }),
        Opcode::Atan2 => each(ops, x, |_, [r, s]| r.atan2(s)),
        Opcode::Exp => each(ops, x, |_, [r]| r.exp()),
        Opcode::Sign => {
            let (zero, one) = (Lanes::lit(0.0), Lanes::lit(1.0));
            // Zero is neither.
            each(ops, x, |_, [r]| r.where_nonneg(one, zero) - (-r).where_nonneg(one, zero));
        }
        Opcode::Select => each(ops, x, |_, [r, s, t]| r.where_nonneg(s, t)),
        Opcode::NotNegative => ops.iter().for_each(|op| hold(op, x, good, |r| r)),
        Opcode::NotPositive => ops.iter().for_each(|op| hold(op, x, good, |r| -r)),
    }
}

fn sin_cos(op: &Instruction, registers: &mut [Tile]) {
    let pairs = registers[usize::from(op.from[0])].map(Real::sin_cos);
    registers[usize::from(op.to[0])] = pairs.map(|p| p.0);
    registers[usize::from(op.to[1])] = pairs.map(|p| p.1);
}
