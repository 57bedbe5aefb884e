//! Files that change values of another robot file: `extends = "robot.toml"`, then any of its parameters, bodies, drives and
//! joints by name. Bodies that templates write are reached by the names they get.

use super::check::check;
use super::fault::{Diagnostic, Fault, Span, line_column, nearest};
use super::grammar::{OVERLAY, ROOT};
use super::read::ReadOptions;
use super::rows::Reader;
use super::source::{Entry, Item, Table, Value, parse};

/// Keys that give the mass of a body one way; a change in one way takes the place of all of another.
const BY_SHAPE: [&str; 1] = ["shape"];
const BY_NUMBERS: [&str; 4] = ["mass", "com", "first_moment", "inertia"];

/// What an overlay changes in rows, by the names that the rows get.
#[derive(Default)]
pub(super) struct Changes {
    list: Vec<Change>,
}

struct Change {
    /// `body`, `drive` or `joint`.
    of: &'static str,
    name: String,
    at: Span,
    table: Table,
    used: bool,
}

/// A file under an overlay: its name and text, and how far its spans are moved, so that they are beyond those of the overlay.
pub(super) struct Below {
    pub name: String,
    pub text: String,
    pub offset: usize,
    /// Where the overlay names it.
    at: Span,
}

/// The tables of an overlay: those of the file it extends, changed, and what is still to be changed in rows.
pub(super) struct Overlaid {
    pub root: Table,
    pub changes: Changes,
    pub below: Below,
}

/// Reads the file that an overlay extends and changes it; faults of that file are told at `extends`.
pub(super) fn overlaid(text: &str, overlay: &Table, options: &ReadOptions<'_>) -> Result<Overlaid, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    check(overlay, &OVERLAY, &mut faults);
    let Some((name, at)) = overlay.get("extends").and_then(|i| Some((i.as_text()?.to_owned(), i.span))) else {
        return Err(faults);
    };
    let bad = |reason: String| vec![Diagnostic::new(Fault::BadFile { name: name.clone(), reason }, at)];
    let base = (options.files)(&name).map_err(&bad)?;
    let below = Below { offset: text.len() + 1, name: name.clone(), text: base, at };
    let (mut root, syntax) = parse(&below.text);
    if root.get("extends").is_some() {
        return Err(bad("it extends another file itself; extend that one".to_owned()));
    }
    let mut own = syntax;
    check(&root, &ROOT, &mut own);
    faults.extend(own.into_iter().map(|d| below.told(d, 0)));
    if !faults.is_empty() {
        return Err(faults);
    }
    root.shift(below.offset);
    let changes = change_root(&mut root, overlay, &mut faults);
    if faults.is_empty() { Ok(Overlaid { root, changes, below }) } else { Err(faults) }
}

impl Below {
    /// A fault that points into the extended file, told where the overlay names it; others stay.
    pub fn told(&self, d: Diagnostic, offset: usize) -> Diagnostic {
        if d.at.start < offset || (offset > 0 && d.at == Span::default()) {
            return d;
        }
        let (line, column) = line_column(&self.text, d.at.start - offset);
        let reason = format!("line {line}, column {column}: {}", d.what);
        Diagnostic::new(Fault::BadFile { name: self.name.clone(), reason }, self.at)
    }
}

/// Robot, parameters and platform are changed here; rows when they are read.
fn change_root(root: &mut Table, overlay: &Table, faults: &mut Vec<Diagnostic>) -> Changes {
    let mut changes = Changes::default();
    for entry in &overlay.entries {
        let Some(table) = entry.item.as_table() else { continue };
        match entry.key.as_str() {
            "robot" => root.sub_table("robot").put_all(table),
            "platform" => put_mass(root.sub_table("platform"), table),
            "parameters" => {
                let own = root.sub_table("parameters");
                for e in &table.entries {
                    if own.get(&e.key).is_some() {
                        own.put(e);
                    } else {
                        let nearest = nearest(&e.key, own.entries.iter().map(|o| o.key.as_str()));
                        let what = Fault::UnknownParameter { name: e.key.clone(), nearest };
                        faults.push(Diagnostic::new(what, e.key_span));
                    }
                }
            }
            key => {
                let Some(of) = ["body", "drive", "joint"].into_iter().find(|k| *k == key) else { continue };
                let rows = table.entries.iter().filter_map(|e| {
                    let table = e.item.as_table()?.clone();
                    Some(Change { of, name: e.key.clone(), at: e.key_span, table, used: false })
                });
                changes.list.extend(rows);
            }
        }
    }
    changes
}

/// Mass data changed key by key; data given in another way go.
fn put_mass(own: &mut Table, change: &Table) {
    let gives = |keys: &[&str]| keys.iter().any(|k| change.get(k).is_some());
    if gives(&BY_NUMBERS) {
        own.entries.retain(|e| !BY_SHAPE.contains(&e.key.as_str()));
    }
    if gives(&BY_SHAPE) {
        own.entries.retain(|e| !BY_NUMBERS[1..].contains(&e.key.as_str()));
    }
    for (one, other) in [("com", "first_moment"), ("first_moment", "com")] {
        if gives(&[one]) {
            own.entries.retain(|e| e.key != other);
        }
    }
    own.put_all(change);
}

impl Reader<'_> {
    /// A row of bodies or closures as the overlay has it.
    pub(super) fn changed(&mut self, row: &Table) -> Table {
        let mut row = row.clone();
        let leg = self.leg.clone().unwrap_or_default();
        let text = |table: Option<&Table>, key: &str| {
            table.and_then(|t| t.get(key)).and_then(Item::as_text).map(|name| name.replace("{leg}", &leg))
        };
        // A closure without a name is called by what it joins, `(12-22)`, as its parameters are.
        let joined = text(row.table("a"), "body").zip(text(row.table("b"), "body"));
        let joined = joined.filter(|_| row.get("name").is_none()).map(|(a, b)| format!("{a}-{b}"));
        let name = joined.as_ref().map_or_else(|| text(Some(&row), "name").unwrap_or_default(), |n| format!("({n})"));
        for change in &mut self.changes.list {
            let own = change.name == name || (change.of != "body" && change.name.strip_prefix('q') == Some(&name));
            let reached = joined.is_none() || (change.of == "joint" && !change.used);
            if !own || !reached || (change.of == "drive" && row.get("drive").is_none()) {
                continue;
            }
            change.used = true;
            if let Some(name) = &joined {
                let item = Item { value: Value::Text(name.clone()), span: change.at };
                row.put(&Entry { key: "name".to_owned(), key_span: change.at, item });
            }
            match change.of {
                "body" => put_mass(&mut row, &change.table),
                "drive" => row.sub_table("drive").put_nested(&change.table),
                _ => row.put_nested(&change.table),
            }
        }
        row
    }

    /// Changes of what is not there.
    pub(super) fn tell_unused_changes(&mut self, bodies: &[String]) {
        let list = std::mem::take(&mut self.changes.list);
        for change in list.into_iter().filter(|c| !c.used) {
            let name = change.name;
            let near = nearest(name.strip_prefix('q').unwrap_or(&name), bodies.iter().map(String::as_str));
            let joint = name.strip_prefix('q').unwrap_or(&name);
            let what = match change.of {
                "drive" if bodies.iter().any(|b| b == joint) => {
                    Fault::UselessKey { key: "drive", because: format!("joint {joint} has no drive") }
                }
                "body" => Fault::UnknownBody { name, nearest: near },
                _ => Fault::UnknownJoint { name, nearest: near },
            };
            self.fault(what, change.at);
        }
    }
}

impl Table {
    /// The table under a key, made where there is none.
    fn sub_table(&mut self, key: &str) -> &mut Table {
        let place = self.entries.iter().position(|e| e.key == key && e.item.as_table().is_some());
        let place = place.unwrap_or_else(|| {
            let item = Item { value: Value::Table(Table { entries: Vec::new(), span: self.span }), span: self.span };
            self.entries.retain(|e| e.key != key);
            self.entries.push(Entry { key: key.to_owned(), key_span: self.span, item });
            self.entries.len() - 1
        });
        match &mut self.entries[place].item.value {
            Value::Table(t) => t,
            _ => unreachable!("a table was found or made there"),
        }
    }

    /// One entry in the place of that of the same key, or after all.
    fn put(&mut self, entry: &Entry) {
        match self.entries.iter_mut().find(|e| e.key == entry.key) {
            Some(own) => *own = entry.clone(),
            None => self.entries.push(entry.clone()),
        }
    }

    fn put_all(&mut self, change: &Table) {
        change.entries.iter().for_each(|e| self.put(e));
    }

    /// Friction and the like are changed key by key too.
    fn put_nested(&mut self, change: &Table) {
        for e in &change.entries {
            match e.item.as_table() {
                Some(table) => self.sub_table(&e.key).put_all(table),
                None => self.put(e),
            }
        }
    }

    /// All spans moved.
    fn shift(&mut self, by: usize) {
        let moved = |s: Span| Span { start: s.start + by, end: s.end + by };
        self.span = moved(self.span);
        for e in &mut self.entries {
            e.key_span = moved(e.key_span);
            e.item.shift(by);
        }
    }
}

impl Item {
    fn shift(&mut self, by: usize) {
        self.span = Span { start: self.span.start + by, end: self.span.end + by };
        match &mut self.value {
            Value::Table(t) => t.shift(by),
            Value::List(list) => list.iter_mut().for_each(|i| i.shift(by)),
            _ => {}
        }
    }
}
