//! Python on numpy arrays: one state, or many along the leading axes.

use super::listing::{Syntax, listing};
use super::{CodeFunction, File, Group, matrix_places, numbers, wrapped};
use crate::codegen::canon::Function;
use crate::codegen::encode::{python_comment, python_string};
use std::fmt::Write as _;

struct Python<'a> {
    unit: &'a CodeFunction<'a>,
}

impl Syntax for Python<'_> {
    fn input(&self, k: usize) -> String {
        let (group, place) = self.unit.input(k);
        format!("{}_[..., {place}]", group.name)
    }

    fn call(&self, f: Function, args: &[String]) -> String {
        let name = match f {
            Function::Sqrt => "np.sqrt",
            Function::Sin => "np.sin",
            Function::Cos => "np.cos",
            Function::Atan2 => "np.arctan2",
            Function::Exp => "np.exp",
            Function::Sign => "np.sign",
            Function::Select => return format!("np.where({} >= 0.0, {}, {})", args[0], args[1], args[2]),
        };
        format!("{name}({})", args.join(", "))
    }
}

/// Long assignments stand in brackets.
fn assigned(name: &str, text: &str) -> String {
    let line = format!("{name} = {text}");
    if line.len() <= 112 {
        return format!("    {line}\n");
    }
    let inner: String = wrapped(text, 108).iter().map(|l| format!("        {}\n", l.trim_start())).collect();
    format!("    {name} = (\n{inner}    )\n")
}

/// Module and test.
pub(super) fn files(unit: &CodeFunction<'_>) -> Vec<File> {
    let name = &unit.name;
    vec![
        File { name: format!("{name}.py"), text: module(unit) },
        File { name: format!("test_{name}.py"), text: test(unit) },
    ]
}

fn module(unit: &CodeFunction<'_>) -> String {
    let list = listing(unit.graph, &Python { unit });
    let arguments: Vec<String> = unit.inputs.iter().map(|g| format!("{}: ArrayLike", g.name)).collect();
    let array = "NDArray[np.float64]";
    let result = if unit.outputs.len() == 1 {
        array.to_owned()
    } else {
        format!("tuple[{}]", vec![array; unit.outputs.len()].join(", "))
    };
    let documentation: String =
        unit.signature().iter().flat_map(|l| wrapped(&python_string(l), 110)).map(|l| format!("    {l}\n")).collect();
    let mut body = String::new();
    for group in &unit.inputs {
        let _ = writeln!(body, "    {0}_ = np.asarray({0}, dtype=np.float64)", group.name);
    }
    let shapes: Vec<String> = unit.inputs.iter().map(|g| format!("{}_.shape[:-1]", g.name)).collect();
    let _ = writeln!(body, "    shape = np.broadcast_shapes({})", shapes.join(", "));
    for (name, text) in &list.variables {
        body += &assigned(name, text);
    }
    let mut made: Vec<(String, String)> =
        unit.outputs.iter().map(|g| (g.name.clone(), format!("(*shape, {})", g.entries.len()))).collect();
    if let Some(n) = unit.system {
        made.remove(0);
        for (name, size) in [
            ("scale", format!("(*shape, {n})")),
            ("matrix", format!("(*shape, {n}, {n})")),
            ("right", format!("(*shape, {n})")),
        ] {
            made.push((name.to_owned(), size));
        }
    }
    for (name, size) in &made {
        let _ = writeln!(body, "    {name} = np.empty({size})");
    }
    let place = |name: &str, k: usize| match (name, unit.system) {
        ("matrix", Some(n)) => format!("matrix[..., {}, {}]", k / n, k % n),
        _ => format!("{name}[..., {k}]"),
    };
    for (target, (text, _)) in unit.targets(place).iter().zip(&list.outputs) {
        let _ = writeln!(body, "    {target} = {text}");
    }
    if unit.system.is_some() {
        let first = &unit.outputs[0].name;
        let _ = writeln!(body, "    {first} = scale * np.linalg.solve(matrix, right[..., np.newaxis])[..., 0]");
    }
    let names: Vec<&str> = unit.outputs.iter().map(|g| g.name.as_str()).collect();
    let _ = writeln!(body, "    return {}", names.join(", "));
    let places: String = unit.outputs.iter().map(places).collect();
    let places = if places.is_empty() { places } else { format!("\n{places}") };
    format!(
        "{}\nimport numpy as np\nfrom numpy.typing import ArrayLike, NDArray\n{places}\n\ndef {}({}) -> {result}:\n    \"\"\"{}.\n\n\
         {documentation}    Leading axes of the arguments are states.\n    \"\"\"\n{body}",
        unit.comment("#", python_comment),
        unit.name,
        arguments.join(", "),
        python_string(&unit.about[0]),
    )
}

/// Where entries of a matrix stand.
fn places(group: &Group) -> String {
    let Some(places) = matrix_places(group) else { return String::new() };
    let line = |(k, what): (usize, &str)| {
        let list = places.iter().map(|place| format!("{},", place[k])).collect::<Vec<_>>().join(" ");
        let lines: String = wrapped(&list, 108).iter().map(|l| format!("    {}\n", l.trim_start())).collect();
        format!("{}_{what}: tuple[int, ...] = (\n{lines})\n", group.name)
    };
    ["rows", "columns"].into_iter().enumerate().map(line).collect()
}

fn test(unit: &CodeFunction<'_>) -> String {
    let name = &unit.name;
    let mut out = format!(
        "# States around home and what comes out of them.\nimport numpy as np\n\nfrom {name} import {name}\n\n\ndef test_states() -> None:\n"
    );
    let rows = |groups: &[super::Group], g: usize, pick: usize| {
        let rows: Vec<String> = unit
            .vectors
            .iter()
            .map(|v| {
                let values = if pick == 0 { &v.0 } else { &v.1 };
                format!("            [{}],\n", numbers(&CodeFunction::by_group(groups, values)[g].1))
            })
            .collect();
        rows.concat()
    };
    let mut names = Vec::new();
    for (g, group) in unit.inputs.iter().enumerate() {
        let _ =
            write!(out, "    {} = np.array(\n        [\n{}        ]\n    )\n", group.name, rows(&unit.inputs, g, 0));
        names.push(group.name.clone());
    }
    let found: Vec<String> = unit.outputs.iter().map(|g| format!("found_{}", g.name)).collect();
    let _ = writeln!(out, "    {} = {name}({})", found.join(", "), names.join(", "));
    for (g, group) in unit.outputs.iter().enumerate() {
        let _ = write!(
            out,
            "    wanted_{0} = np.array(\n        [\n{1}        ]\n    )\n    np.testing.assert_allclose(found_{0}, wanted_{0}, rtol={2:e}, atol={2:e})\n",
            group.name,
            rows(&unit.outputs, g, 1),
            unit.tolerance
        );
    }
    let one: Vec<String> = unit.inputs.iter().map(|g| format!("{}[0]", g.name)).collect();
    let _ = writeln!(out, "    one = {name}({})", one.join(", "));
    let first = if unit.outputs.len() == 1 { "one" } else { "one[0]" };
    let _ = writeln!(out, "    np.testing.assert_allclose({first}, {}[0], rtol=1e-9, atol=1e-9)", found[0]);
    out + "\n\nif __name__ == \"__main__\":\n    test_states()\n    print(\"ok\")\n"
}
