//! Structure: every table against the grammar. Unknown keys, missing keys and wrong types, all of them.

use super::fault::{Diagnostic, Fault, nearest};
use super::grammar::{KeyKind, Section};
use super::source::{Item, Table, Value};

/// Check a table and everything in it.
pub fn check(table: &Table, section: &Section, faults: &mut Vec<Diagnostic>) {
    for entry in &table.entries {
        if let Some(key) = section.keys.iter().find(|k| k.name == entry.key) {
            check_kind(&entry.item, &key.kind, &entry.key, faults);
        } else if let Some(kind) = section.free {
            check_kind(&entry.item, kind, &entry.key, faults);
        } else {
            let nearest = nearest(&entry.key, section.keys.iter().map(|k| k.name));
            let what = Fault::UnknownKey { key: entry.key.clone(), table: section.title.to_owned(), nearest };
            faults.push(Diagnostic::new(what, entry.key_span));
        }
    }
    for key in section.keys.iter().filter(|k| k.required && table.get(k.name).is_none()) {
        let what = Fault::MissingKey { key: key.name.to_owned(), table: section.title.to_owned() };
        faults.push(Diagnostic::new(what, table.span));
    }
}

fn check_kind(item: &Item, kind: &KeyKind, key: &str, faults: &mut Vec<Diagnostic>) {
    let mut wrong = |item: &Item, expected: String| {
        let what = Fault::WrongType { key: key.to_owned(), expected, found: item.describe().to_owned() };
        faults.push(Diagnostic::new(what, item.span));
    };
    match (kind, &item.value) {
        (KeyKind::Text | KeyKind::Texts | KeyKind::Point, Value::Text(_)) | (KeyKind::Flag, Value::Flag(_)) => {}
        (KeyKind::Count, Value::Integer(n)) if *n > 0 => {}
        (KeyKind::Number(_), _) if is_number(item) => {}
        (KeyKind::Texts, Value::List(list)) => {
            for i in list.iter().filter(|i| i.as_text().is_none()) {
                wrong(i, "a text".to_owned());
            }
        }
        (KeyKind::Numbers(_, _) | KeyKind::Point, Value::List(list)) => {
            let count = if let KeyKind::Numbers(_, n) = kind { *n } else { 3 };
            if list.len() != count {
                wrong(item, format!("a list of {count} numbers, not {}", list.len()));
            }
            for i in list.iter().filter(|i| !is_number(i)) {
                wrong(i, "a number, a quantity or an expression".to_owned());
            }
        }
        (KeyKind::OneOf(words), Value::Text(t)) => {
            if !words.contains(&t.as_str()) {
                let near =
                    nearest(t, words.iter().copied()).map_or(String::new(), |n| format!("; did you mean \"{n}\"?"));
                let what = Fault::WrongType {
                    key: key.to_owned(),
                    expected: format!("one of {}{near}", words.join(", ")),
                    found: format!("\"{t}\""),
                };
                faults.push(Diagnostic::new(what, item.span));
            }
        }
        (KeyKind::Table(section), Value::Table(t)) => check(t, section, faults),
        (KeyKind::Rows(section), Value::List(list)) => {
            for row in list {
                if let Value::Table(t) = &row.value {
                    check(t, section, faults);
                } else {
                    let found = row.describe().to_owned();
                    let what = Fault::WrongType { key: key.to_owned(), expected: "a table".to_owned(), found };
                    faults.push(Diagnostic::new(what, row.span));
                }
            }
        }
        _ => wrong(item, describe(kind)),
    }
}

fn is_number(item: &Item) -> bool {
    matches!(item.value, Value::Integer(_) | Value::Float(_) | Value::Text(_))
}

/// What a kind is, in words.
pub fn describe(kind: &KeyKind) -> String {
    match kind {
        KeyKind::Text => "a text".to_owned(),
        KeyKind::Texts => "a text or a list of texts".to_owned(),
        KeyKind::Flag => "true or false".to_owned(),
        KeyKind::Count => "a whole number above zero".to_owned(),
        KeyKind::Number(_) => "a finite number, a quantity or an expression".to_owned(),
        KeyKind::Numbers(_, n) => format!("a list of {n} numbers"),
        KeyKind::Point => "a list of 3 numbers or the name of a point".to_owned(),
        KeyKind::OneOf(words) => format!("one of {}", words.join(", ")),
        KeyKind::Table(_) => "a table".to_owned(),
        KeyKind::Rows(_) => "a list of tables".to_owned(),
    }
}
