//! MATLAB and Octave.

use super::listing::{Syntax, listing};
use super::{CodeFunction, File, numbers, wrapped};
use crate::codegen::canon::Function;
use crate::codegen::encode::matlab_comment;
use std::fmt::Write as _;

struct Matlab<'a> {
    unit: &'a CodeFunction<'a>,
}

impl Syntax for Matlab<'_> {
    fn input(&self, k: usize) -> String {
        let (group, place) = self.unit.input(k);
        format!("{}({})", group.name, place + 1)
    }

    fn call(&self, f: Function, args: &[String]) -> String {
        let name = match f {
            Function::Sqrt => "sqrt",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Atan2 => "atan2",
            Function::Exp => "exp",
            Function::Sign => "sign",
            Function::Select => "gough_select",
        };
        format!("{name}({})", args.join(", "))
    }
}

/// An assignment; later lines follow after dots.
fn assigned(text: &str) -> String {
    let lines = wrapped(text, 108);
    let last = lines.len() - 1;
    let line = |(i, l): (usize, &String)| format!("  {l}{}\n", if i < last { " ..." } else { ";" });
    lines.iter().enumerate().map(line).collect()
}

/// Function and test script.
pub(super) fn files(unit: &CodeFunction<'_>) -> Vec<File> {
    let name = &unit.name;
    vec![
        File { name: format!("{name}.m"), text: function(unit) },
        File { name: format!("{name}_test.m"), text: test(unit) },
    ]
}

fn function(unit: &CodeFunction<'_>) -> String {
    let list = listing(unit.graph, &Matlab { unit });
    let outputs: Vec<&str> = unit.outputs.iter().map(|g| g.name.as_str()).collect();
    let inputs: Vec<&str> = unit.inputs.iter().map(|g| g.name.as_str()).collect();
    let mut body = String::new();
    for (name, text) in &list.variables {
        body += &assigned(&format!("{name} = {text}"));
    }
    if let Some(n) = unit.system {
        let _ = writeln!(body, "  scale = zeros({n}, 1); matrix = zeros({n}, {n}); right = zeros({n}, 1);");
    }
    for group in unit.outputs.iter().skip(usize::from(unit.system.is_some())) {
        let _ = writeln!(body, "  {} = zeros({}, 1);", group.name, group.entries.len());
    }
    let place = |name: &str, k: usize| match (name, unit.system) {
        ("matrix", Some(n)) => format!("matrix({}, {})", k / n + 1, k % n + 1),
        _ => format!("{name}({})", k + 1),
    };
    for (target, (text, _)) in unit.targets(place).iter().zip(&list.outputs) {
        let _ = writeln!(body, "  {target} = {text};");
    }
    if unit.system.is_some() {
        let _ = writeln!(body, "  {} = scale .* (matrix \\ right);", outputs[0]);
    }
    let select = "\nfunction y = gough_select(x, a, b)\n  if x >= 0\n    y = a;\n  else\n    y = b;\n  end\nend\n";
    format!(
        "{}function [{}] = {}({})\n  %#codegen\n{body}end\n{}",
        unit.comment("%", matlab_comment),
        outputs.join(", "),
        unit.name,
        inputs.join(", "),
        if body.contains("gough_select(") { select } else { "" },
    )
}

fn test(unit: &CodeFunction<'_>) -> String {
    let name = &unit.name;
    let mut out = format!("% States around home and what comes out of them.\nfunction {name}_test()\n  worst = 0;\n");
    for (x, y) in &unit.vectors {
        let list = |groups: &[super::Group], values: &[f64]| -> Vec<String> {
            CodeFunction::by_group(groups, values).iter().map(|(_, v)| format!("[{}]'", numbers(v))).collect()
        };
        let found: Vec<String> = unit.outputs.iter().map(|g| format!("found_{}", g.name)).collect();
        let _ = writeln!(out, "  [{}] = {name}({});", found.join(", "), list(&unit.inputs, x).join(", "));
        for (found, wanted) in found.iter().zip(list(&unit.outputs, y)) {
            let _ = writeln!(
                out,
                "  wanted = {wanted};\n  assert(all(isfinite({found})));\n  worst = max([worst; abs({found} - wanted) ./ (1 + abs(wanted))]);"
            );
        }
    }
    let _ = write!(
        out,
        "  fprintf('{name}: {} states, largest relative difference %.1e\\n', worst);\n  assert(worst <= {:e});\nend\n",
        unit.vectors.len(),
        unit.tolerance
    );
    out
}
