//! Derivatives of a traced program by some of its inputs, as a program.

use crate::scalar::{Arg, Expr, Op, Program, Real, trace};

/// The program with, after its outputs, the derivative of each of them (row) by each of these inputs (column).
pub(super) fn with_derivatives(program: &Program, by: &[usize]) -> Program {
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

fn at(arg: Arg, n: usize, nodes: &[(Expr, Vec<Expr>)]) -> (Expr, Vec<Expr>) {
    match arg {
        Arg::Num(bits) => (Expr::Num(f64::from_bits(bits)), vec![Expr::Num(0.0); n]),
        Arg::Node(id) => nodes[id as usize].clone(),
    }
}

/// Value and derivatives of one operation.
fn step(op: &Op, x: &[Expr], by: &[usize], nodes: &[(Expr, Vec<Expr>)]) -> (Expr, Vec<Expr>) {
    let args: Vec<(Expr, Vec<Expr>)> = op.args().map(|a| at(a, by.len(), nodes)).collect();
    let zero = Expr::Num(0.0);
    // Chain rule: the value, and its derivative by each operand.
    let (value, slopes): (Expr, Vec<Expr>) = match op {
        Op::Input(i) => {
            let own = by.iter().map(|k| Expr::Num(f64::from(u8::from(*k == *i as usize)))).collect();
            return (x[*i as usize], own);
        }
        Op::Neg(_) => (-args[0].0, vec![Expr::Num(-1.0)]),
        Op::Add(..) => (args[0].0 + args[1].0, vec![Expr::Num(1.0); 2]),
        Op::Sub(..) => (args[0].0 - args[1].0, vec![Expr::Num(1.0), Expr::Num(-1.0)]),
        Op::Mul(..) => (args[0].0 * args[1].0, vec![args[1].0, args[0].0]),
        Op::Div(..) => {
            let value = args[0].0 / args[1].0;
            let slope = args[1].0.recip();
            (value, vec![slope, -(value * slope)])
        }
        Op::Sqrt(_) => {
            let value = args[0].0.sqrt();
            (value, vec![Expr::Num(0.5) / value])
        }
        Op::Sin(_) => {
            let (sin, cos) = args[0].0.sin_cos();
            (sin, vec![cos])
        }
        Op::Cos(_) => {
            let (sin, cos) = args[0].0.sin_cos();
            (cos, vec![-sin])
        }
        Op::Atan2(..) => {
            let (s, c) = (args[0].0, args[1].0);
            let r = (s * s + c * c).recip();
            (s.atan2(c), vec![c * r, -(s * r)])
        }
        Op::Exp(_) => {
            let value = args[0].0.exp();
            (value, vec![value])
        }
        Op::Sign(_) => (args[0].0.sign(), vec![zero]),
        Op::Select(..) => {
            let pick = |a: Expr, b: Expr| args[0].0.where_nonneg(a, b);
            let slopes = (0..by.len()).map(|k| pick(args[1].1[k], args[2].1[k])).collect();
            return (pick(args[1].0, args[2].0), slopes);
        }
    };
    let derivative = |k: usize| args.iter().zip(&slopes).fold(zero, |sum, (a, slope)| sum + *slope * a.1[k]);
    (value, (0..by.len()).map(derivative).collect())
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
