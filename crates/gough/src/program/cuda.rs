//! The operations of a program as a function in CUDA C.

use super::assemble::Assembled;
use super::ops::{Instruction, Opcode};
use std::fmt::Write as _;

/// `bool gough_formula(const double (&x)[..], double (&y)[..])`: numbers of an answer from those of a state, and whether they hold.
pub(super) fn function(program: &Assembled) -> String {
    let mut text = format!(
        "static __device__ __forceinline__ bool gough_formula(const double (&x)[{}], double (&y)[{}]) {{\n    bool good = true;\n",
        program.inputs.max(1),
        program.outputs.len().max(1),
    );
    program.ops.iter().for_each(|op| operation(program, op, &mut text));
    for (i, r) in program.outputs.iter().enumerate() {
        let _ = writeln!(text, "    y[{i}] = {};", name(program, *r));
    }
    text + "    return good;\n}\n"
}

/// What a register is called; inputs are read where they stand.
fn name(program: &Assembled, r: usize) -> String {
    if r < program.inputs { format!("x[{r}]") } else { format!("r{r}") }
}

/// An operation, as [`Opcode`] says.
fn operation(program: &Assembled, op: &Instruction<usize>, text: &mut String) {
    let [r, s, t, u, v] = op.from.map(|r| name(program, r));
    let [k, l] = op.numbers.map(|k| format!("{:e}", program.numbers.get(usize::from(k)).copied().unwrap_or(0.0)));
    let value = match op.kind {
        Opcode::Set => k,
        Opcode::Neg => format!("-{r}"),
        Opcode::Add => format!("{r} + {s}"),
        Opcode::Sub => format!("{r} - {s}"),
        Opcode::AddNumber => format!("{r} + ({k})"),
        Opcode::FromNumber => format!("({k}) - {r}"),
        Opcode::Mul => format!("{r} * {s}"),
        Opcode::Mul3 => format!("{r} * {s} * {t}"),
        Opcode::MulNumber => format!("{r} * ({k})"),
        Opcode::MulsNumber => format!("{r} * {s} * ({k})"),
        Opcode::Affine => format!("fma({r}, {k}, {l})"),
        Opcode::Fma => format!("fma({r}, {s}, {t})"),
        Opcode::Fnma => format!("fma(-{r}, {s}, {t})"),
        Opcode::Fms => format!("fma({r}, {s}, -{t})"),
        Opcode::FmaNumber => format!("fma({r}, {k}, {s})"),
        Opcode::FmsNumber => format!("fma({r}, {k}, -{s})"),
        Opcode::Lin => format!("fma({r}, {k}, {s} * ({l}))"),
        Opcode::LinAdd => format!("fma({r}, {k}, fma({s}, {l}, {t}))"),
        Opcode::Dot => format!("fma({r}, {s}, {t} * {u})"),
        Opcode::Det => format!("fma({r}, {s}, -({t} * {u}))"),
        Opcode::DotAdd => format!("fma({r}, {s}, fma({t}, {u}, {v}))"),
        Opcode::DetAdd => format!("fma({r}, {s}, fma(-{t}, {u}, {v}))"),
        Opcode::DotFrom => format!("fma(-{r}, {s}, fma(-{t}, {u}, {v}))"),
        Opcode::Sqrt => format!("sqrt({r})"),
        Opcode::Reciprocal => {
            let _ = writeln!(text, "    good = good && fabs({r}) >= {k};");
            format!("1.0 / {r}")
        }
        Opcode::Atan2 => format!("atan2({r}, {s})"),
        Opcode::Exp => format!("exp({r})"),
        Opcode::Sign => format!("({r} > 0.0) - ({r} < 0.0)"),
        Opcode::Select => format!("{r} >= 0.0 ? {s} : {t}"),
        Opcode::SinCos => {
            let [sin, cos] = op.to;
            let _ = writeln!(text, "    good = good && fabs({r}) <= {k};");
            let _ = writeln!(text, "    double r{sin}, r{cos};\n    sincos({r}, &r{sin}, &r{cos});");
            return;
        }
        Opcode::NotNegative | Opcode::NotPositive => {
            let sign = if op.kind == Opcode::NotNegative { ">=" } else { "<=" };
            let _ = writeln!(text, "    good = good && {r} {sign} 0.0;");
            return;
        }
    };
    let _ = writeln!(text, "    const double r{} = {value};", op.to[0]);
}
