//! Rust: a crate without the standard library and without allocation.

use super::listing::{Syntax, listing};
use super::{CodeFunction, File, Precision, assignment, numbers};
use crate::codegen::canon::Function;
use crate::codegen::encode::rust_comment;
use crate::codegen::single;
use std::fmt::Write as _;

struct Rust<'a> {
    unit: &'a CodeFunction<'a>,
}

fn function(f: Function) -> &'static str {
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

impl Rust<'_> {
    /// The type of the numbers.
    fn of(unit: &CodeFunction<'_>) -> &'static str {
        match unit.precision {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }
}

impl Syntax for Rust<'_> {
    fn number(&self, x: f64) -> String {
        match self.unit.precision {
            Precision::F64 => format!("{x:?}"),
            Precision::F32 => format!("{:?}", single(x)),
        }
    }

    fn input(&self, k: usize) -> String {
        let (group, place) = self.unit.input(k);
        format!("{}[{place}]", group.name)
    }

    fn call(&self, f: Function, args: &[String]) -> String {
        format!("{}({})", function(f), args.join(", "))
    }
}

/// Functions: their arguments, and how the standard library calls them.
const MATH: [(&str, &[&str], &str); 5] = [
    ("sqrt", &["x"], "x.sqrt()"),
    ("sin", &["x"], "x.sin()"),
    ("cos", &["x"], "x.cos()"),
    ("exp", &["x"], "x.exp()"),
    ("atan2", &["y", "x"], "y.atan2(x)"),
];

/// Functions that the body calls: of the standard library, or of `libm` without it.
fn helpers(body: &str, own: &str) -> String {
    let mut out = String::new();
    let suffix = if own == "f32" { "f" } else { "" };
    for (name, arguments, std) in MATH.iter().filter(|m| body.contains(&format!("{}(", m.0))) {
        let libm = format!("libm::{name}{suffix}({})", arguments.join(", "));
        let arguments = arguments.iter().map(|x| format!("{x}: {own}")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            out,
            "#[inline(always)]\nfn {name}({arguments}) -> {own} {{\n    #[cfg(feature = \"std\")]\n    {{\n        {std}\n    }}\n    \
             #[cfg(not(feature = \"std\"))]\n    {{\n        {libm}\n    }}\n}}\n"
        );
    }
    if body.contains("sign(") {
        out += &"fn sign(x: f64) -> f64 {\n    f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))\n}\n\n"
            .replace("f64", own);
    }
    if body.contains("select(") {
        let _ = writeln!(
            out,
            "fn select(x: {own}, a: {own}, b: {own}) -> {own} {{\n    if x >= 0.0 {{ a }} else {{ b }}\n}}\n"
        );
    }
    out
}

const SOLVER: &str = "\
/// Solves `A x = b` by elimination with row pivoting; `x` replaces `b`. A singular matrix gives infinities.
fn solve(n: usize, a: &mut [f64], b: &mut [f64]) {
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if magnitude(a[i * n + k]) > magnitude(a[p * n + k]) {
                p = i;
            }
        }
        for j in 0..n {
            a.swap(k * n + j, p * n + j);
        }
        b.swap(k, p);
        let r = 1.0 / a[k * n + k];
        for i in k + 1..n {
            let f = a[i * n + k] * r;
            for j in k + 1..n {
                a[i * n + j] -= f * a[k * n + j];
            }
            b[i] -= f * b[k];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            b[i] -= a[i * n + j] * b[j];
        }
        b[i] /= a[i * n + i];
    }
}

fn magnitude(x: f64) -> f64 {
    if x < 0.0 { -x } else { x }
}

";

/// Manifest, library and test.
pub(super) fn files(unit: &CodeFunction<'_>) -> Vec<File> {
    let name = &unit.name;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         # Without the feature `std` the crate needs no standard library, and takes its functions from libm.\n[features]\n\
         default = [\"std\"]\nstd = []\nlibm = [\"dep:libm\"]\n\n[dependencies]\nlibm = {{ version = \"0.2\", optional = true }}\n"
    );
    vec![
        File { name: "Cargo.toml".to_owned(), text: manifest },
        File { name: "src/lib.rs".to_owned(), text: library(unit) },
        File { name: "tests/vectors.rs".to_owned(), text: test(unit) },
    ]
}

/// `([f64; 2], [f64; 3])`, or the one type alone.
fn results(unit: &CodeFunction<'_>) -> String {
    let own = Rust::of(unit);
    let types: Vec<String> = unit.outputs.iter().map(|g| format!("[{own}; {}]", g.entries.len())).collect();
    if types.len() == 1 { types[0].clone() } else { format!("({})", types.join(", ")) }
}

fn library(unit: &CodeFunction<'_>) -> String {
    let own = Rust::of(unit);
    let list = listing(unit.graph, &Rust { unit });
    let mut body = String::new();
    for (name, text) in &list.variables {
        body += &assignment("    ", &format!("let {name} = {text};"), "");
    }
    let mut rest = list.outputs.iter().map(|o| o.0.clone());
    let mut array = |n: usize| format!("[{}]", rest.by_ref().take(n).collect::<Vec<_>>().join(", "));
    let mut groups: Vec<String> = Vec::new();
    if let Some(n) = unit.system {
        let (scale, matrix, right) = (array(n), array(n * n), array(n));
        body += &assignment("    ", &format!("let scale = {scale};"), "");
        body += &assignment("    ", &format!("let mut matrix = {matrix};"), "");
        body += &assignment("    ", &format!("let mut right = {right};"), "");
        let _ = writeln!(body, "    solve({n}, &mut matrix, &mut right);");
        let _ = writeln!(body, "    for (x, k) in right.iter_mut().zip(scale) {{\n        *x *= k;\n    }}");
        groups.push("right".to_owned());
    }
    groups.extend(unit.outputs.iter().skip(groups.len()).map(|g| array(g.entries.len())));
    let result = if groups.len() == 1 { groups[0].clone() } else { format!("({})", groups.join(", ")) };
    body += &assignment("    ", &result, "");
    let used = |name: &str| body.contains(&format!("{name}["));
    let inputs = unit.inputs.iter().map(|g| {
        let name = if used(&g.name) { g.name.clone() } else { format!("_{}", g.name) };
        format!("{name}: &[{own}; {}]", g.entries.len())
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let solver = if unit.system.is_some() { SOLVER.replace("f64", own) } else { String::new() };
    let helpers = helpers(&body, own);
    let std = if helpers.contains("libm::") { "#[cfg(feature = \"std\")]\nextern crate std;\n\n" } else { "" };
    format!(
        "{}#![no_std]\n#![allow(clippy::approx_constant)]\n\n{std}{helpers}{solver}/// {}.\n///\n{}pub fn {}({inputs}) -> {} {{\n{body}}}\n",
        unit.comment("//!", rust_comment),
        rust_comment(&unit.about[0]),
        unit.signature().iter().map(|l| format!("/// * {}\n", rust_comment(l))).collect::<String>(),
        unit.name,
        results(unit),
    )
}

fn test(unit: &CodeFunction<'_>) -> String {
    let (name, own) = (&unit.name, Rust::of(unit));
    let widened = if own == "f32" { "f64::from(*x)" } else { "*x" };
    let mut out = format!("//! States around home and what comes out of them.\n\nuse {name}::{name};\n\n");
    let _ = write!(
        out,
        "fn close(found: &[{own}], wanted: &[f64]) {{\n    for (a, b) in found.iter().map(|x| {widened}).zip(wanted) {{\n        assert!((a - b).abs() <= \
         {:e} * (1.0 + b.abs()), \"{{a}} {{b}}\");\n    }}\n}}\n\n#[test]\nfn states_around_home() {{\n",
        unit.tolerance
    );
    for (x, y) in &unit.vectors {
        let arguments: Vec<String> =
            CodeFunction::by_group(&unit.inputs, x).iter().map(|(_, v)| format!("&[{}]", numbers(v))).collect();
        let _ = writeln!(out, "    let found = {name}({});", arguments.join(", "));
        for (k, (_, v)) in CodeFunction::by_group(&unit.outputs, y).iter().enumerate() {
            let found = if unit.outputs.len() == 1 { "found".to_owned() } else { format!("found.{k}") };
            let _ = writeln!(out, "    close(&{found}, &[{}]);", numbers(v));
        }
    }
    out + "}\n"
}
