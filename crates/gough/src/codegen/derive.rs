//! Derivatives of a traced program by some of its inputs, as a program.

use crate::scalar::{Arg, Expr, Op, Program, Real, trace};
use std::collections::BTreeMap;

/// The program with, after its outputs, the derivative of each of them (row) by each of these inputs (column).
///
/// The chain rule is applied from the inputs on or from the outputs back, whichever takes fewer operations: with `n` inputs
/// and `m` outputs a node costs about `n` times its slopes one way and `m` times the other.
pub(super) fn with_derivatives(program: &Program, by: &[usize]) -> Program {
    let forward = from_inputs(program, by);
    // A choice is made between derivatives, not multiplied into them: one that is not taken may not be finite.
    if program.nodes.iter().any(|op| matches!(op, Op::Select(..))) {
        return forward;
    }
    let backward = from_outputs(program, by);
    let operations = |p: &Program| p.operations().add + p.operations().mul;
    if operations(&backward) < operations(&forward) { backward } else { forward }
}

/// The chain rule from the inputs on.
fn from_inputs(program: &Program, by: &[usize]) -> Program {
    trace(&program.inputs, |x| {
        let mut nodes: Vec<(Expr, Vec<Expr>)> = Vec::with_capacity(program.nodes.len());
        for op in &program.nodes {
            let next = step(op, x, by, &nodes);
            nodes.push(next);
        }
        let outputs: Vec<(Expr, Vec<Expr>)> = program.outputs.iter().map(|a| at(*a, by.len(), &nodes)).collect();
        let values = outputs.iter().map(|o| o.0);
        values.chain(outputs.iter().flat_map(|o| o.1.clone())).collect()
    })
}

/// The chain rule from the outputs back: what every output gains by a unit of every node.
fn from_outputs(program: &Program, by: &[usize]) -> Program {
    trace(&program.inputs, |x| {
        let mut values: Vec<(Expr, Vec<Expr>)> = Vec::with_capacity(program.nodes.len());
        for op in &program.nodes {
            let next = step(op, x, &[], &values);
            values.push(next);
        }
        let value = |arg: Arg| at(arg, 0, &values).0;
        let moves = depending(program, by);
        let mut gains: Vec<BTreeMap<usize, Expr>> = vec![BTreeMap::new(); program.nodes.len()];
        for (k, out) in program.outputs.iter().enumerate() {
            if let Arg::Node(id) = out {
                gains[*id as usize].insert(k, Expr::Num(1.0));
            }
        }
        for (id, op) in program.nodes.iter().enumerate().rev().filter(|(id, _)| moves[*id]) {
            let args: Vec<Expr> = op.args().map(value).collect();
            let own = std::mem::take(&mut gains[id]);
            for (arg, slope) in op.args().zip(slopes(op, values[id].0, &args)) {
                let Arg::Node(from) = arg else { continue };
                for (k, gain) in own.iter().filter(|_| moves[from as usize]) {
                    *gains[from as usize].entry(*k).or_insert(Expr::Num(0.0)) += slope * *gain;
                }
            }
            gains[id] = own;
        }
        let place =
            |i: usize| program.nodes.iter().position(|op| *op == Op::Input(u32::try_from(i).unwrap_or(u32::MAX)));
        let places: Vec<Option<usize>> = by.iter().map(|i| place(*i)).collect();
        let gain =
            |k: usize, id: &Option<usize>| id.and_then(|id| gains[id].get(&k).copied()).unwrap_or(Expr::Num(0.0));
        let outputs = program.outputs.iter().map(|a| value(*a));
        let rows = (0..program.outputs.len()).flat_map(|k| places.iter().map(move |id| (k, id)));
        outputs.chain(rows.map(|(k, id)| gain(k, id))).collect()
    })
}

/// Nodes that depend on these inputs.
fn depending(program: &Program, by: &[usize]) -> Vec<bool> {
    let mut moves: Vec<bool> = Vec::with_capacity(program.nodes.len());
    for op in &program.nodes {
        let own = matches!(op, Op::Input(i) if by.contains(&(*i as usize)));
        let found = own || op.args().any(|a| matches!(a, Arg::Node(id) if moves[id as usize]));
        moves.push(found);
    }
    moves
}

fn at(arg: Arg, n: usize, nodes: &[(Expr, Vec<Expr>)]) -> (Expr, Vec<Expr>) {
    match arg {
        Arg::Num(bits) => (Expr::Num(f64::from_bits(bits)), vec![Expr::Num(0.0); n]),
        Arg::Node(id) => nodes[id as usize].clone(),
    }
}

/// Value and derivatives of one operation.
fn step(op: &Op, x: &[Expr], by: &[usize], nodes: &[(Expr, Vec<Expr>)]) -> (Expr, Vec<Expr>) {
    let args: Vec<(Expr, Vec<Expr>)> = op.args().map(|a| at(a, by.len(), nodes)).collect();
    let value = value(op, x, &args.iter().map(|a| a.0).collect::<Vec<Expr>>());
    match op {
        Op::Input(i) => {
            let own = by.iter().map(|k| Expr::Num(f64::from(u8::from(*k == *i as usize)))).collect();
            return (value, own);
        }
        Op::Select(..) => {
            let pick = |k: usize| args[0].0.where_nonneg(args[1].1[k], args[2].1[k]);
            return (value, (0..by.len()).map(pick).collect());
        }
        _ => {}
    }
    if by.is_empty() {
        return (value, Vec::new());
    }
    let slopes = slopes(op, value, &args.iter().map(|a| a.0).collect::<Vec<Expr>>());
    let derivative = |k: usize| args.iter().zip(&slopes).fold(Expr::Num(0.0), |sum, (a, slope)| sum + *slope * a.1[k]);
    (value, (0..by.len()).map(derivative).collect())
}

/// What an operation gives.
fn value(op: &Op, x: &[Expr], args: &[Expr]) -> Expr {
    match op {
        Op::Input(i) => x[*i as usize],
        Op::Neg(_) => -args[0],
        Op::Add(..) => args[0] + args[1],
        Op::Sub(..) => args[0] - args[1],
        Op::Mul(..) => args[0] * args[1],
        Op::Div(..) => args[0] / args[1],
        Op::Sqrt(_) => args[0].sqrt(),
        Op::Sin(_) => args[0].sin_cos().0,
        Op::Cos(_) => args[0].sin_cos().1,
        Op::Atan2(..) => args[0].atan2(args[1]),
        Op::Exp(_) => args[0].exp(),
        Op::Sign(_) => args[0].sign(),
        Op::Select(..) => args[0].where_nonneg(args[1], args[2]),
    }
}

/// The derivative of what an operation gives by each of its operands; a choice has none of its own.
fn slopes(op: &Op, value: Expr, args: &[Expr]) -> Vec<Expr> {
    let (one, zero) = (Expr::Num(1.0), Expr::Num(0.0));
    match op {
        Op::Input(_) => Vec::new(),
        Op::Neg(_) => vec![-one],
        Op::Add(..) => vec![one, one],
        Op::Sub(..) => vec![one, -one],
        Op::Mul(..) => vec![args[1], args[0]],
        Op::Div(..) => {
            let slope = args[1].recip();
            vec![slope, -(value * slope)]
        }
        Op::Sqrt(_) => vec![Expr::Num(0.5) / value],
        Op::Sin(_) => vec![args[0].sin_cos().1],
        Op::Cos(_) => vec![-args[0].sin_cos().0],
        Op::Atan2(..) => {
            let (s, c) = (args[0], args[1]);
            let r = (s * s + c * c).recip();
            vec![c * r, -(s * r)]
        }
        Op::Exp(_) => vec![value],
        Op::Sign(_) => vec![zero],
        Op::Select(..) => vec![zero; 3],
    }
}

/// The outputs of a program on other symbols.
pub(super) fn replayed(program: &Program, x: &[Expr]) -> Vec<Expr> {
    let mut nodes: Vec<(Expr, Vec<Expr>)> = Vec::with_capacity(program.nodes.len());
    for op in &program.nodes {
        let next = step(op, x, &[], &nodes);
        nodes.push(next);
    }
    program.outputs.iter().map(|a| at(*a, 0, &nodes).0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_the_same_from_both_ends() {
        let program = trace(&["a", "b", "c"], |x| {
            let (s, c) = (x[0] * x[1]).sin_cos();
            let root = (x[0] * x[0] + x[2] * x[2]).sqrt();
            vec![s / root - c.exp(), (root - x[1]).atan2(x[2]) * x[1].sign(), x[1] * x[1], Expr::Num(2.0)]
        });
        for by in [vec![0, 1, 2], vec![1], vec![2, 0]] {
            let (forward, backward) = (from_inputs(&program, &by), from_outputs(&program, &by));
            let at = [0.7, -1.3, 0.4];
            let (a, b) = (forward.eval(&at), backward.eval(&at));
            assert_eq!(a.len(), 4 * (1 + by.len()));
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} {b:?}");
            for (k, i) in by.iter().enumerate() {
                let moved = |h: f64| {
                    let mut x = at;
                    x[*i] += h;
                    program.eval(&x)
                };
                let (up, down) = (moved(1e-6), moved(-1e-6));
                for row in 0..4 {
                    let difference = (up[row] - down[row]) / 2e-6;
                    assert!((b[4 + row * by.len() + k] - difference).abs() < 1e-8, "{row} {i}");
                }
            }
        }
    }

    #[test]
    fn few_outputs_are_differentiated_from_their_end() {
        let many =
            |x: &[Expr]| x.iter().enumerate().fold(Expr::Num(1.0), |p, (k, x)| p * (*x + Expr::Num(k as f64 + 1.0)));
        let names: Vec<String> = (0..12).map(|k| format!("x{k}")).collect();
        let program = trace(&names, |x| vec![many(x)]);
        let by: Vec<usize> = (0..12).collect();
        let operations = |p: &Program| p.operations().add + p.operations().mul;
        let (forward, backward) = (from_inputs(&program, &by), from_outputs(&program, &by));
        assert!(operations(&backward) < operations(&forward));
        assert_eq!(operations(&with_derivatives(&program, &by)), operations(&backward));
    }

    #[test]
    fn a_choice_that_is_not_taken_need_not_be_finite() {
        let program = trace(&["a"], |x| vec![x[0].where_nonneg(x[0].sqrt(), -x[0])]);
        assert_eq!(with_derivatives(&program, &[0]).eval(&[-2.0]), [2.0, -1.0]);
    }
}
