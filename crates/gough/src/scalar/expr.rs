//! Symbols: running an algorithm on [`Expr`] writes it down as a straight-line [`Program`].
//!
//! A number that is known stays a number; everything else is a node of a graph in which equal nodes are one
//! node. Operations with 0 and 1 and between known numbers vanish as they are written. Nothing else is
//! simplified here: that is the work of the code generator.
//!
//! Operations are never inlined: a kernel on symbols is written down once, and its machine code should be a list of calls.

use super::Real;
use num_traits::{One, Zero};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Number of a node in the graph of the enclosing [`trace`].
pub type ExprIndex = u32;

/// A known number, or a node of the graph of the enclosing [`trace`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Expr {
    /// A known number.
    Num(f64),
    /// The result of node `ExprIndex`.
    Node(ExprIndex),
}

/// Operand of an [`Op`]: an [`Expr`] that can be hashed (the number by its bits).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arg {
    /// Bits of a known number.
    Num(u64),
    /// The result of an earlier node.
    Node(ExprIndex),
}

/// What a node computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Input(u32),
    Neg(Arg),
    Add(Arg, Arg),
    Sub(Arg, Arg),
    Mul(Arg, Arg),
    Div(Arg, Arg),
    Sqrt(Arg),
    Sin(Arg),
    Cos(Arg),
    Atan2(Arg, Arg),
    Exp(Arg),
    Sign(Arg),
    /// The second where the first is not negative, else the third.
    Select(Arg, Arg, Arg),
}

impl From<Expr> for Arg {
    fn from(e: Expr) -> Self {
        match e {
            // One zero, one NaN: equal numbers must be equal operands.
            Expr::Num(0.0) => Arg::Num(0),
            Expr::Num(x) if x.is_nan() => Arg::Num(f64::NAN.to_bits()),
            Expr::Num(x) => Arg::Num(x.to_bits()),
            Expr::Node(id) => Arg::Node(id),
        }
    }
}

#[derive(Default)]
struct TraceGraph {
    nodes: Vec<Op>,
    ids: HashMap<Op, ExprIndex>,
}

thread_local! {
    static GRAPH: RefCell<Option<TraceGraph>> = const { RefCell::new(None) };
}

fn node(op: Op) -> Expr {
    GRAPH.with_borrow_mut(|graph| {
        let graph = graph.as_mut().expect("symbols live only inside `trace`");
        let next = ExprIndex::try_from(graph.nodes.len()).expect("fewer than 2^32 nodes");
        let id = *graph.ids.entry(op).or_insert_with(|| {
            graph.nodes.push(op);
            next
        });
        Expr::Node(id)
    })
}

/// Operands of a commutative operation in canonical order.
fn sorted(a: Expr, b: Expr) -> (Arg, Arg) {
    let (a, b) = (Arg::from(a), Arg::from(b));
    let key = |x: Arg| match x {
        Arg::Num(bits) => (0, bits),
        Arg::Node(id) => (1, u64::from(id)),
    };
    if key(a) <= key(b) { (a, b) } else { (b, a) }
}

fn unary(a: Expr, on_number: impl Fn(f64) -> f64, op: impl Fn(Arg) -> Op) -> Expr {
    match a {
        Expr::Num(x) => Expr::Num(on_number(x)),
        Expr::Node(_) => node(op(a.into())),
    }
}

impl Neg for Expr {
    type Output = Self;
    #[inline(never)]
    fn neg(self) -> Self {
        unary(self, |x| -x, Op::Neg)
    }
}
impl Add for Expr {
    type Output = Self;
    #[inline(never)]
    fn add(self, b: Self) -> Self {
        match (self, b) {
            (Expr::Num(x), Expr::Num(y)) => Expr::Num(x + y),
            (Expr::Num(0.0), e) | (e, Expr::Num(0.0)) => e,
            _ => {
                let (x, y) = sorted(self, b);
                node(Op::Add(x, y))
            }
        }
    }
}
impl Sub for Expr {
    type Output = Self;
    #[inline(never)]
    fn sub(self, b: Self) -> Self {
        match (self, b) {
            (Expr::Num(x), Expr::Num(y)) => Expr::Num(x - y),
            (e, Expr::Num(0.0)) => e,
            (Expr::Num(0.0), e) => -e,
            _ if self == b => Expr::Num(0.0),
            _ => node(Op::Sub(self.into(), b.into())),
        }
    }
}
impl Mul for Expr {
    type Output = Self;
    #[inline(never)]
    fn mul(self, b: Self) -> Self {
        match (self, b) {
            (Expr::Num(x), Expr::Num(y)) => Expr::Num(x * y),
            (Expr::Num(0.0), _) | (_, Expr::Num(0.0)) => Expr::Num(0.0),
            (Expr::Num(1.0), e) | (e, Expr::Num(1.0)) => e,
            (Expr::Num(-1.0), e) | (e, Expr::Num(-1.0)) => -e,
            _ => {
                let (x, y) = sorted(self, b);
                node(Op::Mul(x, y))
            }
        }
    }
}
impl Div for Expr {
    type Output = Self;
    #[inline(never)]
    fn div(self, b: Self) -> Self {
        match (self, b) {
            (Expr::Num(x), Expr::Num(y)) => Expr::Num(x / y),
            (Expr::Num(0.0), _) => Expr::Num(0.0),
            (e, Expr::Num(1.0)) => e,
            (e, Expr::Num(-1.0)) => -e,
            _ => node(Op::Div(self.into(), b.into())),
        }
    }
}
impl AddAssign for Expr {
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}
impl SubAssign for Expr {
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}
impl MulAssign for Expr {
    fn mul_assign(&mut self, b: Self) {
        *self = *self * b;
    }
}
impl DivAssign for Expr {
    fn div_assign(&mut self, b: Self) {
        *self = *self / b;
    }
}
impl Zero for Expr {
    fn zero() -> Self {
        Expr::Num(0.0)
    }
    fn is_zero(&self) -> bool {
        *self == Expr::Num(0.0)
    }
}
impl One for Expr {
    fn one() -> Self {
        Expr::Num(1.0)
    }
}

impl Real for Expr {
    fn lit(x: f64) -> Self {
        Expr::Num(x)
    }
    #[inline(never)]
    fn sqrt(self) -> Self {
        unary(self, f64::sqrt, Op::Sqrt)
    }
    #[inline(never)]
    fn sin_cos(self) -> (Self, Self) {
        (unary(self, f64::sin, Op::Sin), unary(self, f64::cos, Op::Cos))
    }
    #[inline(never)]
    fn atan2(self, x: Self) -> Self {
        match (self, x) {
            (Expr::Num(y), Expr::Num(x)) => Expr::Num(y.atan2(x)),
            _ => node(Op::Atan2(self.into(), x.into())),
        }
    }
    #[inline(never)]
    fn exp(self) -> Self {
        unary(self, f64::exp, Op::Exp)
    }
    #[inline(never)]
    fn sign(self) -> Self {
        unary(self, Real::sign, Op::Sign)
    }
    #[inline(never)]
    fn where_nonneg(self, a: Self, b: Self) -> Self {
        match self {
            Expr::Num(x) if x >= 0.0 => a,
            Expr::Num(_) => b,
            Expr::Node(_) if a == b => a,
            Expr::Node(_) => node(Op::Select(self.into(), a.into(), b.into())),
        }
    }
    #[inline(never)]
    fn exact_sin_cos(self) -> (Self, Self) {
        match self {
            Expr::Num(x) => {
                let (s, c) = x.exact_sin_cos();
                (Expr::Num(s), Expr::Num(c))
            }
            Expr::Node(_) => self.sin_cos(),
        }
    }
}

/// A straight-line program: what an algorithm did with its inputs.
#[derive(Clone, Debug)]
pub struct Program {
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Operations, each using earlier ones only.
    pub nodes: Vec<Op>,
    /// Results.
    pub outputs: Vec<Arg>,
}

/// Number of operations that the outputs of a [`Program`] need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Operations {
    /// Additions and subtractions.
    pub add: usize,
    /// Multiplications and divisions.
    pub mul: usize,
    /// Square roots.
    pub sqrt: usize,
    /// Sines, cosines, arc tangents and exponentials.
    pub trig: usize,
}

/// Run `f` on symbols named `inputs` and return what it did as a [`Program`].
///
/// The graph belongs to this call and this thread; a symbol that leaves `f` has no meaning afterwards.
///
/// # Panics
/// When called inside another `trace` of the same thread.
pub fn trace<N: AsRef<str>>(inputs: &[N], f: impl FnOnce(&[Expr]) -> Vec<Expr>) -> Program {
    /// Removes the graph also when `f` panics.
    struct Scope;
    impl Drop for Scope {
        fn drop(&mut self) {
            GRAPH.set(None);
        }
    }
    let outer = GRAPH.replace(Some(TraceGraph::default()));
    let scope = Scope;
    assert!(outer.is_none(), "`trace` calls do not nest");
    let symbols: Vec<Expr> = (0..inputs.len()).map(|i| node(Op::Input(u32::try_from(i).unwrap_or(u32::MAX)))).collect();
    let outputs = f(&symbols).into_iter().map(Arg::from).collect();
    let nodes = GRAPH.with_borrow_mut(|g| g.take().map_or_else(Vec::new, |g| g.nodes));
    drop(scope);
    Program { inputs: inputs.iter().map(|n| n.as_ref().to_owned()).collect(), nodes, outputs }
}

impl Op {
    /// Operands, in order.
    pub fn args(&self) -> impl Iterator<Item = Arg> {
        let (a, b, c) = match *self {
            Op::Input(_) => (None, None, None),
            Op::Neg(a) | Op::Sqrt(a) | Op::Sin(a) | Op::Cos(a) | Op::Exp(a) | Op::Sign(a) => (Some(a), None, None),
            Op::Add(a, b) | Op::Sub(a, b) | Op::Mul(a, b) | Op::Div(a, b) | Op::Atan2(a, b) => (Some(a), Some(b), None),
            Op::Select(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }
}

impl Program {
    /// Outputs for the given inputs.
    ///
    /// # Panics
    /// When the number of inputs is not that of the program.
    pub fn eval(&self, inputs: &[f64]) -> Vec<f64> {
        assert_eq!(inputs.len(), self.inputs.len(), "one value per input");
        let mut results: Vec<f64> = Vec::with_capacity(self.nodes.len());
        for op in &self.nodes {
            let at = |arg: Arg| value(arg, &results);
            let x = match *op {
                Op::Input(i) => inputs[i as usize],
                Op::Neg(a) => -at(a),
                Op::Add(a, b) => at(a) + at(b),
                Op::Sub(a, b) => at(a) - at(b),
                Op::Mul(a, b) => at(a) * at(b),
                Op::Div(a, b) => at(a) / at(b),
                Op::Sqrt(a) => at(a).sqrt(),
                Op::Sin(a) => at(a).sin(),
                Op::Cos(a) => at(a).cos(),
                Op::Atan2(a, b) => at(a).atan2(at(b)),
                Op::Exp(a) => at(a).exp(),
                Op::Sign(a) => Real::sign(at(a)),
                Op::Select(a, b, c) => at(a).where_nonneg(at(b), at(c)),
            };
            results.push(x);
        }
        self.outputs.iter().map(|&a| value(a, &results)).collect()
    }

    /// Operations that the outputs need; negation is free, a dead node costs nothing.
    pub fn operations(&self) -> Operations {
        let mut needed = vec![false; self.nodes.len()];
        let mark = |arg: Arg, needed: &mut Vec<bool>| {
            if let Arg::Node(id) = arg {
                needed[id as usize] = true;
            }
        };
        for &out in &self.outputs {
            mark(out, &mut needed);
        }
        let mut count = Operations::default();
        for (i, op) in self.nodes.iter().enumerate().rev() {
            if !needed[i] {
                continue;
            }
            op.args().for_each(|a| mark(a, &mut needed));
            match op {
                Op::Input(_) | Op::Neg(_) | Op::Sign(_) | Op::Select(..) => {}
                Op::Add(..) | Op::Sub(..) => count.add += 1,
                Op::Mul(..) | Op::Div(..) => count.mul += 1,
                Op::Sqrt(_) => count.sqrt += 1,
                Op::Sin(_) | Op::Cos(_) | Op::Atan2(..) | Op::Exp(_) => count.trig += 1,
            }
        }
        count
    }
}

fn value(arg: Arg, results: &[f64]) -> f64 {
    match arg {
        Arg::Num(bits) => f64::from_bits(bits),
        Arg::Node(id) => results[id as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_with_zero_and_one_vanish() {
        let p = trace(&["x"], |v| {
            let x = v[0];
            vec![x * Expr::one() + Expr::zero(), x * Expr::zero(), x - x, (x / Expr::one()) * Expr::lit(-1.0)]
        });
        assert_eq!(p.operations(), Operations::default());
        assert_eq!(p.eval(&[3.0]), [3.0, 0.0, 0.0, -3.0]);
    }

    #[test]
    fn equal_terms_are_computed_once_and_dead_ones_not_at_all() {
        let p = trace(&["x", "y"], |v| {
            let _dead = v[0].exp();
            vec![v[0] * v[1] + Expr::lit(2.0), v[1] * v[0] + Expr::lit(2.0)]
        });
        assert_eq!(p.operations(), Operations { add: 1, mul: 1, sqrt: 0, trig: 0 });
        assert_eq!(p.outputs[0], p.outputs[1]);
    }

    #[test]
    fn a_trace_that_fails_leaves_no_graph_behind() {
        let failed = std::panic::catch_unwind(|| trace(&["x"], |_| panic!("on purpose")));
        assert!(failed.is_err());
        assert_eq!(trace(&["x"], |v| vec![v[0]]).eval(&[2.0]), [2.0]);
    }
}
