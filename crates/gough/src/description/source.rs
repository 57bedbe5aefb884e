//! The text of a robot file as a tree in which every value knows where it stands.

use super::fault::{Diagnostic, Fault, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// What TOML can say.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    List(Vec<Item>),
    Table(Table),
    /// Something the format has no use for; its name.
    Other(&'static str),
}

/// Entries in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Key, its place, value.
    pub entries: Vec<Entry>,
    /// Place of the whole table.
    pub span: Span,
}

/// One line of a [`Table`].
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub item: Item,
}

impl Table {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.item)
    }

    /// The table under a key.
    pub fn table(&self, key: &str) -> Option<&Table> {
        self.get(key).and_then(Item::as_table)
    }

    /// The tables in the list under a key.
    pub fn rows(&self, key: &str) -> impl Iterator<Item = &Table> {
        let list = match self.get(key).map(|i| &i.value) {
            Some(Value::List(list)) => list.as_slice(),
            _ => &[],
        };
        list.iter().filter_map(Item::as_table)
    }
}

impl Item {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(t) = &self.value { Some(t) } else { None }
    }

    /// The table, if it is one.
    pub fn as_table(&self) -> Option<&Table> {
        if let Value::Table(t) = &self.value { Some(t) } else { None }
    }

    /// What the value is, in words.
    pub fn describe(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(what) => what,
        }
    }
}

/// Read TOML; every syntax fault is reported and the rest is still read.
pub fn parse(text: &str) -> (Table, Vec<Diagnostic>) {
    let (root, errors) = DeTable::parse_recoverable(text);
    let span = root.span();
    let faults = errors.iter().map(|e| {
        let at = e.span().map_or_else(Span::default, Span::from);
        Diagnostic::new(Fault::Syntax { message: e.message().to_owned() }, at)
    });
    (table(root.get_ref(), span.into()), faults.collect())
}

fn table(t: &DeTable<'_>, span: Span) -> Table {
    let mut entries: Vec<Entry> = t
        .iter()
        .map(|(key, item)| Entry { key: key.get_ref().to_string(), key_span: key.span().into(), item: convert(item) })
        .collect();
    entries.sort_by_key(|e| e.key_span.start);
    Table { entries, span }
}

fn convert(item: &Spanned<DeValue<'_>>) -> Item {
    let span = Span::from(item.span());
    let value = match item.get_ref() {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) => {
            i64::from_str_radix(i.as_str(), i.radix()).map_or(Value::Other("a number out of range"), Value::Integer)
        }
        DeValue::Float(f) => match f.as_str().parse::<f64>() {
            Ok(x) if x.is_finite() => Value::Float(x),
            _ => Value::Other("a number that is not finite"),
        },
        DeValue::Boolean(b) => Value::Flag(*b),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(list) => Value::List(list.iter().map(convert).collect()),
        DeValue::Table(t) => Value::Table(table(t, span)),
    };
    Item { value, span }
}
