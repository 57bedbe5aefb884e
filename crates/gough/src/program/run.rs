//! Steps over a block of states, structure of arrays.

use super::steps::{Place, Register, Step};
use crate::scalar::{LANES, Lanes, Real, lanes, each_lane};

/// Packs of lanes in a block: the accumulator takes half of the registers of a processor with 256 bits.
const PACKS: usize = 8;
/// States in a block.
pub(super) const BLOCK: usize = PACKS * LANES;

/// One number in every state of a block.
pub(super) type Tile = [Lanes; PACKS];

/// What a block is computed in, sized once for a program.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub registers: Vec<Tile>,
    pub outputs: Vec<Tile>,
    /// Negative in states that are not answered.
    pub good: Tile,
}

impl Memory {
    pub fn new(registers: usize, outputs: usize) -> Self {
        let zero = [Lanes::lit(0.0); PACKS];
        Self { registers: vec![zero; registers], outputs: vec![zero; outputs], good: zero }
    }

    /// Take a number of every state from rows of `width` numbers; the last row stands for what is missing.
    pub fn fill(&mut self, inputs: &[(usize, Register)], rows: &[f64], width: usize) {
        let count = rows.len() / width.max(1);
        for pack in 0..PACKS {
            let row = |k: usize| {
                let i = (pack * LANES + k).min(count.saturating_sub(1));
                &rows[i * width..(i + 1) * width]
            };
            let four = [row(0), row(1), row(2), row(3)];
            for (j, r) in inputs {
                self.registers[usize::from(*r)][pack] = lanes(four.map(|row| row[*j]));
            }
        }
    }

    /// Outputs of the first states, one row per state.
    pub fn take(&self, rows: &mut [f64]) {
        let width = self.outputs.len();
        for (pack, rows) in rows.chunks_mut((LANES * width).max(1)).enumerate() {
            for (j, out) in self.outputs.iter().enumerate() {
                let four = each_lane(out[pack]);
                rows.iter_mut().skip(j).step_by(width).zip(four).for_each(|(x, y)| *x = y);
            }
        }
    }

    /// Whether a state of the block is answered.
    pub fn is_good(&self, state: usize) -> bool {
        each_lane(self.good[state / LANES])[state % LANES] >= 0.0
    }

    /// Whether all states of the block are.
    pub fn all_good(&self) -> bool {
        self.good.iter().all(|four| crate::scalar::all_nonneg(*four))
    }
}

#[inline(always)]
fn map(x: &Tile, f: impl Fn(Lanes) -> Lanes) -> Tile {
    std::array::from_fn(|i| f(x[i]))
}

#[inline(always)]
fn zip(x: &Tile, y: &Tile, f: impl Fn(Lanes, Lanes) -> Lanes) -> Tile {
    std::array::from_fn(|i| f(x[i], y[i]))
}

#[inline(always)]
fn zip3(x: &Tile, y: &Tile, z: &Tile, f: impl Fn(Lanes, Lanes, Lanes) -> Lanes) -> Tile {
    std::array::from_fn(|i| f(x[i], y[i], z[i]))
}

/// Sine and cosine of a tile; not inlined, so that the steps that are taken often keep their registers.
#[inline(never)]
fn sin_cos(x: &Tile) -> (Tile, Tile) {
    let pairs: [(Lanes, Lanes); PACKS] = std::array::from_fn(|i| x[i].sin_cos());
    (pairs.map(|p| p.0), pairs.map(|p| p.1))
}

#[inline(never)]
fn atan2(y: &Tile, x: &Tile) -> Tile {
    zip(y, x, Real::atan2)
}

#[inline(never)]
fn exp(x: &Tile) -> Tile {
    map(x, Real::exp)
}

#[inline(never)]
fn sign(x: &Tile) -> Tile {
    let (zero, one) = (Lanes::lit(0.0), Lanes::lit(1.0));
    // Zero is neither.
    map(x, |x| x.where_nonneg(one, zero) - (-x).where_nonneg(one, zero))
}

/// Run the steps on the states in the registers.
pub(super) fn run(steps: &[Step], numbers: &[f64], memory: &mut Memory) {
    let Memory { registers, outputs, good } = memory;
    let registers = registers.as_mut_slice();
    let (zero, bad) = (Lanes::lit(0.0), Lanes::lit(-1.0));
    *good = [zero; PACKS];
    let mut a = [zero; PACKS];
    let number = |k: Place| Lanes::lit(numbers[usize::from(k)]);
    for step in steps {
        match *step {
            Step::Load(r) => a = registers[usize::from(r)],
            Step::Set(k) => a = [number(k); PACKS],
            Step::Store(r) => registers[usize::from(r)] = a,
            Step::Out(j) => {
                outputs[usize::from(j)] = a;
                // What is not finite is no number times nothing, and so not zero.
                *good = zip(&a, good, |a, good| (a * zero).where_nonneg(good, bad));
            }
            Step::Neg => a = map(&a, |a| -a),
            Step::Add(r) => a = zip(&a, &registers[usize::from(r)], |a, r| a + r),
            Step::Sub(r) => a = zip(&a, &registers[usize::from(r)], |a, r| a - r),
            Step::From(r) => a = zip(&a, &registers[usize::from(r)], |a, r| r - a),
            Step::AddNumber(k) => {
                let k = number(k);
                a = map(&a, |a| a + k);
            }
            Step::FromNumber(k) => {
                let k = number(k);
                a = map(&a, |a| k - a);
            }
            Step::Mul(r) => a = zip(&a, &registers[usize::from(r)], |a, r| a * r),
            Step::MulNumber(k) => {
                let k = number(k);
                a = map(&a, |a| a * k);
            }
            Step::Times(r, s) => a = zip(&registers[usize::from(r)], &registers[usize::from(s)], |r, s| r * s),
            Step::TimesNumber(r, k) => {
                let k = number(k);
                a = map(&registers[usize::from(r)], |r| r * k);
            }
            Step::AddTimes(r, s) => {
                a = zip3(&a, &registers[usize::from(r)], &registers[usize::from(s)], |a, r, s| r.mul_add(s, a));
            }
            Step::SubTimes(r, s) => {
                a = zip3(&a, &registers[usize::from(r)], &registers[usize::from(s)], |a, r, s| r.mul_neg_add(s, a));
            }
            Step::FromTimes(r, s) => {
                a = zip3(&a, &registers[usize::from(r)], &registers[usize::from(s)], |a, r, s| r.mul_sub(s, a));
            }
            Step::AddTimesNumber(r, k) => {
                let k = number(k);
                a = zip(&a, &registers[usize::from(r)], |a, r| r.mul_add(k, a));
            }
            Step::FromTimesNumber(r, k) => {
                let k = number(k);
                a = zip(&a, &registers[usize::from(r)], |a, r| r.mul_sub(k, a));
            }
            Step::Sqrt => a = map(&a, Real::sqrt),
            Step::Reciprocal => a = map(&a, |a| Lanes::lit(1.0) / a),
            Step::SinCos(r, s) => {
                let (sin, cos) = sin_cos(&a);
                registers[usize::from(r)] = sin;
                registers[usize::from(s)] = cos;
            }
            Step::Atan2(r) => a = atan2(&a, &registers[usize::from(r)]),
            Step::Exp => a = exp(&a),
            Step::Sign => a = sign(&a),
            Step::Select(r, s) => {
                a = zip3(&a, &registers[usize::from(r)], &registers[usize::from(s)], |a, r, s| a.where_nonneg(r, s));
            }
            Step::NotNegative => *good = zip(&a, good, |a, good| a.where_nonneg(good, bad)),
            Step::AtLeast(k) => {
                let k = number(k);
                *good = zip(&a, good, |a, good| (a.magnitude() - k).where_nonneg(good, bad));
            }
            Step::AtMost(k) => {
                let k = number(k);
                *good = zip(&a, good, |a, good| (k - a.magnitude()).where_nonneg(good, bad));
            }
        }
    }
}
