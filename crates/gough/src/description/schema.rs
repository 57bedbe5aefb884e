//! The format for editors (JSON Schema) and for people (a page of the book), both printed from the grammar.

use super::check::describe;
use super::grammar::{KeyKind, OVERLAY, ROOT, Section, Unit};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A JSON Schema of the robot file, for editors that complete and check TOML.
pub fn schema() -> Value {
    let mut root = section_schema(&ROOT);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Gough robot file");
    root["$defs"] = json!({
        "number": { "type": ["number", "string"], "description": "a number in SI units, a quantity (\"210 mm\") or an expression (\"d1/2\")" },
        "texts": { "type": ["string", "array"], "items": { "type": "string" } },
    });
    root
}

fn section_schema(section: &Section) -> Value {
    let mut properties = Map::new();
    for key in section.keys {
        let mut s = kind_schema(&key.kind);
        s["description"] = json!(key.doc);
        properties.insert(key.name.to_owned(), s);
    }
    let required: Vec<&str> = section.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
    let mut s = json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "additionalProperties": section.free.map_or(json!(false), kind_schema),
    });
    if !required.is_empty() {
        s["required"] = json!(required);
    }
    s
}

fn kind_schema(kind: &KeyKind) -> Value {
    let number = json!({ "$ref": "#/$defs/number" });
    let list = |n: usize| json!({ "type": "array", "items": number, "minItems": n, "maxItems": n });
    match kind {
        KeyKind::Text => json!({ "type": "string" }),
        KeyKind::Texts => json!({ "$ref": "#/$defs/texts" }),
        KeyKind::Flag => json!({ "type": "boolean" }),
        KeyKind::Count => json!({ "type": "integer", "minimum": 1 }),
        KeyKind::Number(_) => number,
        KeyKind::Numbers(_, n) => list(*n),
        KeyKind::Point => json!({ "anyOf": [list(3), { "type": "string" }] }),
        KeyKind::OneOf(words) => json!({ "enum": words }),
        KeyKind::Table(section) => section_schema(section),
        KeyKind::Rows(section) => json!({ "type": "array", "items": section_schema(section) }),
    }
}

/// The reference tables of the robot file in Markdown.
pub fn reference_page() -> String {
    let mut page = "# Tables and keys\n".to_owned();
    let mut done: Vec<&str> = Vec::new();
    let mut waiting: Vec<&Section> = vec![&ROOT, &OVERLAY];
    while !waiting.is_empty() {
        let section = waiting.remove(0);
        if done.contains(&section.title) {
            continue;
        }
        done.push(section.title);
        write_section(&mut page, section);
        let kinds = section.keys.iter().map(|k| &k.kind).chain(section.free);
        waiting.extend(kinds.filter_map(|k| match k {
            KeyKind::Table(s) | KeyKind::Rows(s) => Some(*s),
            _ => None,
        }));
    }
    page
}

fn write_section(page: &mut String, section: &Section) {
    let title: String =
        section.title.chars().next().map(|c| c.to_uppercase().to_string()).unwrap_or_default() + &section.title[1..];
    let _ = write!(page, "\n## {title}\n\n{}\n\n", section.doc);
    if section.keys.is_empty() && section.free.is_none() {
        return;
    }
    let _ = write!(page, "| key | value | meaning |\n|---|---|---|\n");
    for key in section.keys {
        let star = if key.required { " (required)" } else { "" };
        let _ = writeln!(page, "| `{}`{star} | {} | {} |", key.name, cell(&key.kind), key.doc);
    }
    if let Some(kind) = section.free {
        let _ = writeln!(page, "| any name | {} | |", cell(kind));
    }
}

fn cell(kind: &KeyKind) -> String {
    let unit = |u: &Unit| if u.si().is_empty() { String::new() } else { format!(", {}", u.si()) };
    match kind {
        KeyKind::Number(u) => format!("number{}", unit(u)),
        KeyKind::Numbers(u, n) => format!("{n} numbers{}", unit(u)),
        KeyKind::Point => "3 numbers, m, or a point's name".to_owned(),
        KeyKind::Table(s) => format!("table: {}", s.title),
        KeyKind::Rows(s) => format!("list of tables: {}", s.title),
        KeyKind::OneOf(words) => words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(" "),
        other => describe(other),
    }
}
