//! One name, one thing: a type's name is declared once in the library, and the program does not use it for something else.
//!
//! Not counted: types that belong to a trait (`type Output` inside `impl` or `trait`), and those that a macro names.

use crate::layering::files;
use std::collections::BTreeMap;
use std::path::Path;

/// Every command of the program has its own.
const OF_EACH_COMMAND: &str = "Arguments";

/// Words of a line of code, without its visibility; none of a comment.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let line = Some(line.trim_start()).filter(|l| l.starts_with(char::is_alphabetic)).unwrap_or_default();
    let rest =
        line.strip_prefix("pub").map_or(line, |r| r.strip_prefix('(').map_or(r, |r| r.split_once(')').unwrap().1));
    rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|w| !w.is_empty())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether an item on line `k` belongs to a trait: the block around it, by the indentation that `cargo fmt` gives.
fn is_of_a_trait(lines: &[&str], k: usize) -> bool {
    const BLOCKS: [&str; 7] = ["impl", "trait", "mod", "fn", "const", "unsafe", "macro_rules"];
    let outer = lines[..k].iter().rev().filter(|l| indent(l) < indent(lines[k]));
    let block = outer.filter_map(|l| words(l).next()).find(|w| BLOCKS.contains(w));
    matches!(block, Some("impl" | "trait"))
}

/// The names of the types that a file declares.
fn declared(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let name = |k: usize| {
        let mut words = words(lines[k]);
        let kind = words.next().filter(|w| ["struct", "enum", "union", "trait", "type"].contains(w))?;
        let name = words.next().filter(|n| n.starts_with(char::is_uppercase))?;
        (kind != "type" || !is_of_a_trait(&lines, k)).then_some(name)
    };
    (0..lines.len()).filter_map(name).collect()
}

#[test]
fn a_type_name_is_declared_once() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in ["gough/src", "gough-cli/src"] {
        for path in files(&crates.join(folder)) {
            let shown = path.strip_prefix(crates).unwrap().display().to_string();
            for name in declared(&std::fs::read_to_string(&path).unwrap()) {
                found.entry(name.to_owned()).or_default().push(shown.clone());
            }
        }
    }
    assert!(found.len() > 700, "only {} names seen", found.len());
    let of_a_command = |file: &String| file.starts_with("gough-cli");
    found.retain(|name, files| files.len() > 1 && !(name == OF_EACH_COMMAND && files.iter().all(of_a_command)));
    let list: Vec<String> = found.iter().map(|(name, files)| format!("{name}: {}", files.join(", "))).collect();
    assert!(list.is_empty(), "names of more than one type; say of each what it is:\n{}", list.join("\n"));
}

#[test]
fn declarations_are_seen() {
    let text = "pub(in crate::model) struct A<'a> {\n    b: B,\n}\n\ntype C = u8;\n\nimpl D for A\nwhere\n    A: E,\n{\n    \
                type F = u8;\n}\n\nmod tests {\n    pub enum G {\n        H,\n    }\n    type I = u8;\n}\n// struct J\n";
    assert_eq!(declared(text), ["A", "C", "G", "I"]);
}
