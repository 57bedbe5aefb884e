//! Operations over a block of states, structure of arrays.

use super::ops::{Kind, Op, Place, Register};
use crate::scalar::{LANES, Lanes, Real, all_nonneg, each_lane, lanes};

/// Packs of lanes in a block.
const PACKS: usize = 8;
/// States in a block.
pub(super) const BLOCK: usize = PACKS * LANES;

/// One number in every state of a block.
pub(super) type Tile = [Lanes; PACKS];

/// What a block is computed in, sized once for a program.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub registers: Vec<Tile>,
    /// Negative in states that are not answered.
    pub good: Tile,
    /// Inputs of four states.
    rows: Vec<f64>,
}

impl Memory {
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
pub(super) fn run(ops: &[Op], runs: &[(Kind, usize)], numbers: &[f64], memory: &mut Memory) {
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
fn each<const N: usize>(ops: &[Op], registers: &mut [Tile], f: impl Fn(&Op, [Lanes; N]) -> Lanes) {
    for op in ops {
        let from: [&Tile; N] = std::array::from_fn(|k| &registers[usize::from(op.from[k])]);
        let result: Tile = std::array::from_fn(|i| f(op, from.map(|r| r[i])));
        registers[usize::from(op.to[0])] = result;
    }
}

/// A condition on a register.
#[inline(always)]
fn hold(op: &Op, registers: &[Tile], good: &mut Tile, margin: impl Fn(Lanes) -> Lanes) {
    let r = &registers[usize::from(op.from[0])];
    let bad = Lanes::lit(-1.0);
    *good = std::array::from_fn(|i| margin(r[i]).where_nonneg(good[i], bad));
}

/// Operations of one kind.
fn run_kind(kind: Kind, ops: &[Op], numbers: &[f64], memory: &mut Memory) {
    let Memory { registers, good, .. } = memory;
    let x = registers.as_mut_slice();
    let number = |k: Place| Lanes::lit(numbers[usize::from(k)]);
    let k = |op: &Op| number(op.numbers[0]);
    let l = |op: &Op| number(op.numbers[1]);
    match kind {
        Kind::Set => each(ops, x, |op, []| k(op)),
        Kind::Neg => each(ops, x, |_, [r]| -r),
        Kind::Add => each(ops, x, |_, [r, s]| r + s),
        Kind::Sub => each(ops, x, |_, [r, s]| r - s),
        Kind::AddNumber => each(ops, x, |op, [r]| r + k(op)),
        Kind::FromNumber => each(ops, x, |op, [r]| k(op) - r),
        Kind::Mul => each(ops, x, |_, [r, s]| r * s),
        Kind::Mul3 => each(ops, x, |_, [r, s, t]| r * s * t),
        Kind::MulNumber => each(ops, x, |op, [r]| r * k(op)),
        Kind::MulsNumber => each(ops, x, |op, [r, s]| r * s * k(op)),
        Kind::Affine => each(ops, x, |op, [r]| r.mul_add(k(op), l(op))),
        Kind::Fma => each(ops, x, |_, [r, s, t]| r.mul_add(s, t)),
        Kind::Fnma => each(ops, x, |_, [r, s, t]| r.mul_neg_add(s, t)),
        Kind::Fms => each(ops, x, |_, [r, s, t]| r.mul_sub(s, t)),
        Kind::FmaNumber => each(ops, x, |op, [r, s]| r.mul_add(k(op), s)),
        Kind::FmsNumber => each(ops, x, |op, [r, s]| r.mul_sub(k(op), s)),
        Kind::Lin => each(ops, x, |op, [r, s]| r.mul_add(k(op), s * l(op))),
        Kind::LinAdd => each(ops, x, |op, [r, s, t]| r.mul_add(k(op), s.mul_add(l(op), t))),
        Kind::Dot => each(ops, x, |_, [r, s, t, u]| r.mul_add(s, t * u)),
        Kind::Det => each(ops, x, |_, [r, s, t, u]| r.mul_sub(s, t * u)),
        Kind::DotAdd => each(ops, x, |_, [r, s, t, u, v]| r.mul_add(s, t.mul_add(u, v))),
        Kind::DetAdd => each(ops, x, |_, [r, s, t, u, v]| r.mul_add(s, t.mul_neg_add(u, v))),
        Kind::DotFrom => each(ops, x, |_, [r, s, t, u, v]| r.mul_neg_add(s, t.mul_neg_add(u, v))),
        Kind::Sqrt => each(ops, x, |_, [r]| r.sqrt()),
        Kind::Reciprocal => {
            ops.iter().for_each(|op| hold(op, x, good, |r| r.magnitude() - k(op)));
            each(ops, x, |_, [r]| Lanes::lit(1.0) / r);
        }
        Kind::SinCos => ops.iter().for_each(|op| {
            hold(op, x, good, |r| k(op) - r.magnitude());
            sin_cos(op, x);
        }),
        Kind::Atan2 => each(ops, x, |_, [r, s]| r.atan2(s)),
        Kind::Exp => each(ops, x, |_, [r]| r.exp()),
        Kind::Sign => {
            let (zero, one) = (Lanes::lit(0.0), Lanes::lit(1.0));
            // Zero is neither.
            each(ops, x, |_, [r]| r.where_nonneg(one, zero) - (-r).where_nonneg(one, zero));
        }
        Kind::Select => each(ops, x, |_, [r, s, t]| r.where_nonneg(s, t)),
        Kind::NotNegative => ops.iter().for_each(|op| hold(op, x, good, |r| r)),
        Kind::NotPositive => ops.iter().for_each(|op| hold(op, x, good, |r| -r)),
    }
}

fn sin_cos(op: &Op, registers: &mut [Tile]) {
    let pairs = registers[usize::from(op.from[0])].map(Real::sin_cos);
    registers[usize::from(op.to[0])] = pairs.map(|p| p.0);
    registers[usize::from(op.to[1])] = pairs.map(|p| p.1);
}
