//! C99, one state or four at a time.

use super::listing::{Syntax, listing};
use super::{CodeFunction, File, Group, Precision, assignment, four, matrix_places, numbers};
use crate::codegen::canon::Function;
use crate::codegen::encode::c_comment;
use crate::codegen::single;
use std::fmt::Write as _;

/// States treated at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    One,
    Four,
}

struct C<'a> {
    unit: &'a CodeFunction<'a>,
    width: Width,
}

/// Numbers of C and CUDA.
#[derive(Clone, Copy)]
pub(super) struct CNumbers {
    /// Their type.
    pub name: &'static str,
    /// What ends their literals, and the names of functions of them.
    pub suffix: &'static str,
}

impl CNumbers {
    /// Those of a function.
    pub fn of(unit: &CodeFunction<'_>) -> Self {
        match unit.precision {
            Precision::F64 => Self { name: "double", suffix: "" },
            Precision::F32 => Self { name: "float", suffix: "f" },
        }
    }

    /// A literal.
    pub fn literal(self, x: f64) -> String {
        if self.suffix.is_empty() { format!("{x:?}") } else { format!("{:?}f", single(x)) }
    }

    /// Code that is written for `double`.
    fn in_these(self, code: &str) -> String {
        if self.suffix.is_empty() {
            return code.to_owned();
        }
        let numbers =
            ["0.0", "1.0"].iter().fold(code.replace("double", self.name), |text, x| text.replace(x, &format!("{x}f")));
        numbers.replace("fabs(", "fabsf(")
    }
}

/// Names of functions in C, after a prefix.
pub(super) fn function(f: Function) -> &'static str {
    match f {
        Function::Sqrt => "sqrt",
        Function::Sin => "sin",
        Function::Cos => "cos",
        Function::Atan2 => "atan2",
        Function::Exp => "exp",
        Function::Sign => "sign",
        Function::Select => "select",
    }
}

impl Syntax for C<'_> {
    fn number(&self, x: f64) -> String {
        CNumbers::of(self.unit).literal(x)
    }

    fn input(&self, k: usize) -> String {
        let (group, place) = self.unit.input(k);
        format!("{}[{place}]", group.name)
    }

    fn call(&self, f: Function, args: &[String]) -> String {
        let own = matches!(f, Function::Sign | Function::Select) || self.width == Width::Four;
        let args = args.join(", ");
        if own {
            return format!("gough_{}({args})", function(f));
        }
        format!("{}{}({args})", function(f), CNumbers::of(self.unit).suffix)
    }
}

impl Width {
    fn scalar(self, numbers: CNumbers) -> String {
        match self {
            Width::One => numbers.name.to_owned(),
            Width::Four => format!("gough_{}4", numbers.name),
        }
    }
}

/// `const double pose[3], double efforts[3]`.
fn arguments(unit: &CodeFunction<'_>, scalar: &str) -> String {
    let inputs = unit.inputs.iter().map(|g| format!("const {scalar} {}[{}]", g.name, g.entries.len()));
    let outputs = unit.outputs.iter().map(|g| format!("{scalar} {}[{}]", g.name, g.entries.len().max(1)));
    inputs.chain(outputs).collect::<Vec<_>>().join(", ")
}

/// Helpers that the body calls.
pub(super) fn helpers(body: &str, numbers: CNumbers, qualifiers: &str) -> String {
    let mut out = String::new();
    let scalar = "double";
    if body.contains("gough_sign(") {
        let _ =
            writeln!(out, "{qualifiers} {scalar} gough_sign({scalar} x) {{\n    return (x > 0.0) - (x < 0.0);\n}}\n");
    }
    if body.contains("gough_select(") {
        let _ = writeln!(
            out,
            "{qualifiers} {scalar} gough_select({scalar} x, {scalar} a, {scalar} b) {{\n    return x >= 0.0 ? a : b;\n}}\n"
        );
    }
    numbers.in_these(&out)
}

/// Gaussian elimination with partial pivoting; the solution replaces the right-hand side.
pub(super) fn solver(qualifiers: &str, numbers: CNumbers) -> String {
    let code = format!(
        "\
/* Solves A x = b by elimination with row pivoting; x replaces b. A singular matrix gives infinities. */
{qualifiers} void gough_solve(int n, double *A, double *b) {{
    for (int k = 0; k < n; k++) {{
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
        for (int j = 0; j < n && p != k; j++) {{
            double swap = A[k * n + j];
            A[k * n + j] = A[p * n + j];
            A[p * n + j] = swap;
        }}
        double swap = b[k];
        b[k] = b[p];
        b[p] = swap;
        double r = 1.0 / A[k * n + k];
        for (int i = k + 1; i < n; i++) {{
            double f = A[i * n + k] * r;
            for (int j = k + 1; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            b[i] -= f * b[k];
        }}
    }}
    for (int i = n - 1; i >= 0; i--) {{
        for (int j = i + 1; j < n; j++) b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }}
}}

"
    );
    numbers.in_these(&code)
}

/// Declarations, call and scaling for a system that the routine solves, around the assignments.
pub(super) fn solution(unit: &CodeFunction<'_>, store: &dyn Fn(&str, &str) -> String) -> (String, String) {
    let Some(n) = unit.system else { return (String::new(), String::new()) };
    let name = CNumbers::of(unit).name;
    let before = format!("    {name} scale[{n}], matrix[{}], right[{n}];\n", n * n);
    let first = &unit.outputs[0].name;
    let target = store(first, "i");
    let after = format!(
        "    gough_solve({n}, matrix, right);\n    for (int i = 0; i < {n}; i++) {target} = scale[i]*right[i];\n"
    );
    (before, after)
}

/// Inputs that no expression uses are named, so that no compiler complains.
pub(super) fn unused(unit: &CodeFunction<'_>, body: &str) -> String {
    let names = unit.inputs.iter().map(|g| &g.name).filter(|n| !body.contains(&format!("{n}[")));
    names.map(|n| format!("    (void){n};\n")).collect()
}

fn body(unit: &CodeFunction<'_>, width: Width) -> String {
    let list = listing(unit.graph, &C { unit, width });
    let scalar = width.scalar(CNumbers::of(unit));
    let mut out = String::new();
    for (name, text) in &list.variables {
        out += &assignment("    ", &format!("const {scalar} {name} = {text};"), "");
    }
    let (before, after) = solution(unit, &|name, k| format!("{name}[{k}]"));
    out += &before;
    let targets = unit.targets(|name, k| format!("{name}[{k}]"));
    for (target, (text, number)) in targets.iter().zip(&list.outputs) {
        // A number alone does not make four of itself.
        let text = if *number && width == Width::Four { format!("{text} + ({scalar}){{0}}") } else { text.clone() };
        let _ = writeln!(out, "    {target} = {text};");
    }
    out + &after
}

/// Header, source and test program.
pub(super) fn files(unit: &CodeFunction<'_>, width: Width) -> Vec<File> {
    // Four systems at once have no routine: each state is solved in place, written out.
    let name = if width == Width::Four { format!("{}_x4", unit.name) } else { unit.name.clone() };
    let file = |ending: &str, text: String| File { name: format!("{name}{ending}"), text };
    vec![
        file(".h", header(unit, width, &name)),
        file(".c", source(unit, width, &name)),
        file("_test.c", test(unit, width, &name)),
    ]
}

fn header(unit: &CodeFunction<'_>, width: Width, name: &str) -> String {
    let guard = format!("{}_H", name.to_uppercase());
    let numbers = CNumbers::of(unit);
    let types = match width {
        Width::One => String::new(),
        Width::Four => {
            let (one, four) = (numbers.name, width.scalar(numbers));
            let (guard, bytes) = (four.to_uppercase(), if numbers.suffix.is_empty() { 8 } else { 4 });
            format!(
                "#ifndef {guard}\n#define {guard}\n/* Four numbers, one per state; for GCC and Clang. */\n\
                 typedef {one} {four} __attribute__((vector_size({}), aligned({bytes})));\n#endif\n\n",
                4 * bytes
            )
        }
    };
    format!(
        "{}#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{types}{}\
         void {name}({});\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
        comment(unit),
        sizes(unit, name),
        arguments(unit, &width.scalar(numbers)),
    )
}

/// How long every argument is, and where entries of matrices stand.
fn sizes(unit: &CodeFunction<'_>, name: &str) -> String {
    let size =
        |g: &Group| format!("#define {}_{}_SIZE {}\n", name.to_uppercase(), g.name.to_uppercase(), g.entries.len());
    let mut out = unit.inputs.iter().chain(&unit.outputs).map(size).collect::<String>() + "\n";
    let before = out.len();
    for group in &unit.outputs {
        let Some(places) = matrix_places(group) else { continue };
        for (k, what) in ["rows", "columns"].into_iter().enumerate() {
            let list = places.iter().map(|place| place[k].to_string()).collect::<Vec<_>>().join(", ");
            let text = format!("static const int {name}_{}_{what}[{}] = {{{list}}};", group.name, places.len());
            out += &assignment("", &text, "");
        }
    }
    if out.len() > before { out + "\n" } else { out }
}

pub(super) fn comment(unit: &CodeFunction<'_>) -> String {
    format!("/*\n{} */\n", unit.comment(" *", c_comment))
}

fn source(unit: &CodeFunction<'_>, width: Width, name: &str) -> String {
    let body = body(unit, width);
    let numbers = CNumbers::of(unit);
    let scalar = width.scalar(numbers);
    let helpers = match width {
        Width::One => helpers(&body, numbers, "static"),
        Width::Four => four::helpers(&body, numbers),
    };
    let solver = if unit.system.is_some() { solver("static", numbers) } else { String::new() };
    let intrinsics = if width == Width::Four { four::INTRINSICS } else { "" };
    format!(
        "{}#include \"{name}.h\"\n\n#include <math.h>\n{intrinsics}\n{helpers}{solver}void {name}({}) {{\n{}{body}}}\n",
        comment(unit),
        arguments(unit, &scalar),
        unused(unit, &body),
    )
}

/// States and what comes out, as arrays of a test program.
pub(super) fn tables(unit: &CodeFunction<'_>) -> (usize, String) {
    let mut out = String::new();
    for (groups, prefix, pick) in [(&unit.inputs, "in", 0), (&unit.outputs, "want", 1)] {
        for (g, group) in groups.iter().enumerate() {
            let rows: Vec<String> = unit
                .vectors
                .iter()
                .map(|v| {
                    let values = if pick == 0 { &v.0 } else { &v.1 };
                    format!("    {{{}}},\n", numbers(&CodeFunction::by_group(groups, values)[g].1))
                })
                .collect();
            let (n, m) = (unit.vectors.len().max(1), group.entries.len().max(1));
            let rows = if rows.is_empty() { "    {0}\n".to_owned() } else { rows.concat() };
            let _ = write!(out, "static const double {prefix}_{}[{n}][{m}] = {{\n{rows}}};\n", group.name);
        }
    }
    (unit.vectors.len(), out)
}

fn test(unit: &CodeFunction<'_>, width: Width, name: &str) -> String {
    let (count, tables) = tables(unit);
    let lanes = if width == Width::Four { 4 } else { 1 };
    let scalar = width.scalar(CNumbers::of(unit));
    let declare = |g: &super::Group| format!("        {scalar} {}[{}];\n", g.name, g.entries.len().max(1));
    let at = |name: &str, k: &str, lane: &str| match width {
        Width::One => format!("{name}[{k}]"),
        Width::Four => format!("{name}[{k}][{lane}]"),
    };
    let declared: String = unit.inputs.iter().chain(&unit.outputs).map(declare).collect();
    let load: String = unit
        .inputs
        .iter()
        .map(|g| {
            let n = g.entries.len();
            format!(
                "        for (int k = 0; k < {n}; k++)\n            for (int l = 0; l < {lanes}; l++) {} = in_{}[(s + l) % {}][k];\n",
                at(&g.name, "k", "l"),
                g.name,
                count.max(1)
            )
        })
        .collect();
    let call: Vec<&str> = unit.inputs.iter().chain(&unit.outputs).map(|g| g.name.as_str()).collect();
    let check: String = unit
        .outputs
        .iter()
        .map(|g| {
            let (n, got) = (g.entries.len(), at(&g.name, "k", "0"));
            let name = &g.name;
            format!(
                "        for (int k = 0; k < {n}; k++) {{\n            double off = fabs({got} - want_{name}[s][k]) / (1.0 + \
                 fabs(want_{name}[s][k]));\n            if (!(off <= worst)) worst = off;\n        }}\n"
            )
        })
        .collect();
    format!(
        "/* Test of {name}: states around home and what comes out of them. */\n#include \"{name}.h\"\n\n#include <math.h>\n\
         #include <stdio.h>\n\n{tables}\nint main(void) {{\n    double worst = 0.0;\n    for (int s = 0; s < {count}; s++) {{\n\
         {declared}{load}        {name}({});\n{check}    }}\n    printf(\"{name}: %d states, largest relative difference %.1e\\n\", \
         {count}, worst);\n    return worst <= {:e} ? 0 : 1;\n}}\n",
        call.join(", "),
        unit.tolerance
    )
}
