//! What is to be computed: operations in order, each on results of earlier ones.
#![cfg_attr(
    not(all(target_arch = "x86_64", feature = "run")),
    allow(dead_code, reason = "nothing is written from formulas")
)]

use crate::Four;
use std::collections::HashMap;

/// A result of an operation of the formula that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub(crate) u32);

/// A function of four numbers at once: both arguments are replaced by its results. It is called for rows that are not good, too, and not
/// at all when nothing reads its results; a panic in it ends the program.
pub type Function = fn(&mut [Four; 2]);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Number of the row.
    Input(u32),
    /// Four times the same number, by its place in the table.
    Number(u32),
    Two(Binary, Value, Value),
    Fused(Fused, [Value; 3]),
    Sqrt(Value),
    /// The second where the first is at least zero, else the third.
    Select([Value; 3]),
    /// A function of two values.
    Call(Function, [Value; 2]),
    /// The second result of the function just called.
    Second,
    /// Rows where the value is negative or no number are not good.
    Require(Value),
    /// Rows where the value is not finite are not good; it is the number of the answer at a place.
    Give(Value, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// Bits of both.
    And,
    /// Bits of exactly one.
    Xor,
}

/// Of `a b c`, rounded once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fused {
    /// `a b + c`.
    MulAdd,
    /// `a b - c`.
    MulSub,
    /// `c - a b`.
    NegMulAdd,
}

impl Op {
    /// Values that are read.
    pub fn reads(&self) -> ([Value; 3], usize) {
        let none = Value(u32::MAX);
        match *self {
            Op::Input(_) | Op::Number(_) | Op::Second => ([none; 3], 0),
            Op::Sqrt(a) | Op::Require(a) | Op::Give(a, _) => ([a, none, none], 1),
            Op::Two(_, a, b) | Op::Call(_, [a, b]) => ([a, b, none], 2),
            Op::Fused(_, list) | Op::Select(list) => (list, 3),
        }
    }
}

/// Operations without branches on the numbers of a row.
#[derive(Clone, Debug)]
pub struct Formula {
    pub(crate) ops: Vec<Op>,
    pub(crate) numbers: Vec<f64>,
    known: HashMap<u64, Value>,
    /// Numbers of a row, and of its answer.
    pub(crate) widths: [usize; 2],
}

impl Formula {
    /// A formula of so many numbers.
    pub fn new(width: usize) -> Self {
        Self { ops: Vec::new(), numbers: Vec::new(), known: HashMap::new(), widths: [width, 0] }
    }

    fn push(&mut self, op: Op) -> Value {
        self.ops.push(op);
        // More operations than that do not fit into memory.
        Value(u32::try_from(self.ops.len() - 1).unwrap_or(u32::MAX))
    }

    /// A number of the row; zero beyond its end.
    pub fn input(&mut self, place: usize) -> Value {
        match u32::try_from(place) {
            Ok(k) if place < self.widths[0] => self.push(Op::Input(k)),
            _ => self.number(0.0),
        }
    }

    /// A number that is the same in all rows.
    pub fn number(&mut self, x: f64) -> Value {
        if let Some(value) = self.known.get(&x.to_bits()) {
            return *value;
        }
        self.numbers.push(x);
        let place = u32::try_from(self.numbers.len() - 1).unwrap_or(u32::MAX);
        let value = self.push(Op::Number(place));
        self.known.insert(x.to_bits(), value);
        value
    }

    /// `a + b`.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Two(Binary::Add, a, b))
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Two(Binary::Sub, a, b))
    }

    /// `a b`.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Two(Binary::Mul, a, b))
    }

    /// `a / b`.
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Two(Binary::Div, a, b))
    }

    /// `-a`.
    pub fn neg(&mut self, a: Value) -> Value {
        let sign = self.number(-0.0);
        self.push(Op::Two(Binary::Xor, a, sign))
    }

    /// `|a|`.
    pub fn abs(&mut self, a: Value) -> Value {
        let rest = self.number(f64::from_bits(!(-0.0_f64).to_bits()));
        self.push(Op::Two(Binary::And, a, rest))
    }

    /// `a b + c`, rounded once.
    pub fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.push(Op::Fused(Fused::MulAdd, [a, b, c]))
    }

    /// `a b - c`, rounded once.
    pub fn mul_sub(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.push(Op::Fused(Fused::MulSub, [a, b, c]))
    }

    /// `c - a b`, rounded once.
    pub fn neg_mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.push(Op::Fused(Fused::NegMulAdd, [a, b, c]))
    }

    /// `√a`.
    pub fn sqrt(&mut self, a: Value) -> Value {
        self.push(Op::Sqrt(a))
    }

    /// `a` where `which` is at least zero, -0 included, else `b`, also where it is no number.
    pub fn select(&mut self, which: Value, a: Value, b: Value) -> Value {
        self.push(Op::Select([which, a, b]))
    }

    /// Both results of a function that is called.
    pub fn call(&mut self, f: Function, arguments: [Value; 2]) -> [Value; 2] {
        [self.push(Op::Call(f, arguments)), self.push(Op::Second)]
    }

    /// Rows where a value is negative or no number are told as not good.
    pub fn require(&mut self, a: Value) {
        self.push(Op::Require(a));
    }

    /// The next number of the answer; rows where it is not finite are told as not good.
    pub fn give(&mut self, a: Value) {
        let place = u32::try_from(self.widths[1]).unwrap_or(u32::MAX);
        self.widths[1] += 1;
        self.push(Op::Give(a, place));
    }
}
