//! From text to a checked [`Description`]: structure, names, numbers, references, in that order, all faults at once.

use super::check::check;
use super::compliance::{RodInertia, VirtualTwists, weigh_rods};
use super::definitions::{Definitions, is_identifier, names_in};
use super::elastic::{BeamSection, Elastic, Material};
use super::fault::{Diagnostic, Fault, Span, line_column, nearest};
use super::formula::{Formula, Meaning, is_reserved};
use super::grammar::{COORDINATE_SETS, COORDINATES, ROOT, Unit};
use super::overlay::{Changes, Overlaid, overlaid};
use super::robot::{
    ActuationSet, Coordinate, Coordinates, Coupling, DescribedBody, DescribedClosure, DescribedPlatform, Description,
    Flexible, Joint, Name,
};
use super::rows::{Reader, zeros};
use super::source::{Item, Table, Value, parse};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Largest file, in bytes.
pub const LARGEST: usize = 1 << 20;
/// Most bodies and closures.
const MOST_BODIES: usize = 256;
/// Most legs.
const MOST_LEGS: usize = 64;
/// Most parameters, or derived numbers of a template.
const MOST_NAMES: usize = 256;

/// What a caller may say beside the file.
pub struct ReadOptions<'a> {
    /// Parameters to set, as text: name and value.
    pub set: Vec<(String, String)>,
    /// How files named in the robot file are read.
    pub files: &'a dyn Fn(&str) -> Result<String, String>,
    /// Name of the robot when the file gives none.
    pub name: String,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self { set: Vec::new(), files: &|_| Err("no files can be read here".to_owned()), name: "robot".to_owned() }
    }
}

/// Read a robot file. The description comes with remarks; without one, every fault is told.
pub fn read(text: &str, options: &ReadOptions<'_>) -> Result<(Description, Vec<Diagnostic>), Vec<Diagnostic>> {
    if text.len() > LARGEST {
        let what = Fault::TooLarge { bytes: text.len(), most: LARGEST };
        return Err(vec![Diagnostic::new(what, Span::default())]);
    }
    let (root, syntax) = parse(text);
    if root.get("extends").is_some() && syntax.is_empty() {
        return read_overlay(text, &root, options);
    }
    let mut structure = Vec::new();
    check(&root, &ROOT, &mut structure);
    let (description, mut faults) = read_root(&root, options, Changes::default());
    structure.append(&mut faults);
    let faults = without_echoes(text, syntax, structure);
    match description {
        Some(d) if faults.iter().all(|f| f.what.is_warning()) => Ok((d, faults)),
        _ => Err(faults),
    }
}

/// A file that changes another one. What is found in the other file is told where the overlay names it; its remarks are not.
fn read_overlay(
    text: &str,
    overlay: &Table,
    options: &ReadOptions<'_>,
) -> Result<(Description, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Overlaid { root, changes, below } = overlaid(text, overlay, options)?;
    let folder = below.name.rfind('/').map_or("", |end| &below.name[..=end]);
    let files = |name: &str| (options.files)(&format!("{folder}{name}"));
    let inner = ReadOptions { set: options.set.clone(), files: &files, name: options.name.clone() };
    let (mut description, faults) = read_root(&root, &inner, changes);
    description.iter_mut().for_each(|d| d.extends = Some(below.name.clone()));
    let here = |d: Diagnostic| below.told(d, below.offset);
    let mut faults: Vec<Diagnostic> =
        faults.into_iter().filter(|d| !d.what.is_warning() || d.at.start < below.offset).map(here).collect();
    faults.dedup();
    match description {
        Some(d) if faults.iter().all(|f| f.what.is_warning()) => Ok((d, faults)),
        _ => Err(faults),
    }
}

/// Faults in file order, each once; after a syntax fault only those that cannot come from text it made unreadable.
fn without_echoes(text: &str, syntax: Vec<Diagnostic>, mut faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let line = |d: &Diagnostic| line_column(text, d.at.start).0;
    let mut lines = HashSet::new();
    let mut all: Vec<Diagnostic> = syntax.into_iter().filter(|d| lines.insert(line(d))).collect();
    if !lines.is_empty() {
        faults.retain(|d| !d.what.may_follow_from_lost_text() && !lines.contains(&line(d)));
    }
    all.append(&mut faults);
    let mut seen = HashSet::new();
    all.retain(|d| seen.insert((d.at, d.what.code(), d.what.to_string())));
    // A fault in a template shows up once, not once per leg.
    let mut places = HashSet::new();
    all.retain(|d| d.at == Span::default() || places.insert((d.at, d.what.code())));
    all.sort_by_key(|d| d.at);
    all
}

fn read_root(root: &Table, options: &ReadOptions<'_>, changes: Changes) -> (Option<Description>, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let parameters = root.table("parameters");
    if let Some(t) = parameters
        && t.entries.len() > MOST_NAMES
    {
        let what = Fault::TooMany { what: "parameters", count: t.entries.len(), most: MOST_NAMES };
        return (None, vec![Diagnostic::new(what, t.span)]);
    }
    let definitions = Definitions::read(parameters, &options.set, &mut faults);
    let failed = parameters.map_or_else(Vec::new, |t| {
        t.entries.iter().map(|e| e.key.clone()).filter(|n| definitions.meaning(n).is_none()).collect()
    });
    let named =
        |key: &str| root.table(key).map_or_else(Vec::new, |t| t.entries.iter().map(|e| e.key.clone()).collect());
    let round = |t: &Table| {
        let given = |key: &str| t.get(key).map(|i| &i.value);
        let alike = match (given("Iy"), given("Iz")) {
            (Some(Value::Text(a)), Some(Value::Text(b))) => a == b,
            (Some(Value::Float(a)), Some(Value::Float(b))) => a == b,
            _ => false,
        };
        alike || given("tube").is_some() || given("circle").is_some()
    };
    let sections = root.table("section").map_or(&[][..], |t| &t.entries);
    let is_round = |i: &usize| sections[*i].item.as_table().is_some_and(round);
    let mut reader = Reader {
        round_sections: (0..sections.len()).filter(is_round).collect(),
        faults,
        definitions,
        locals: HashMap::new(),
        leg: None,
        leg_index: None,
        failed,
        materials: named("material"),
        sections: named("section"),
        files: options.files,
        default_name: options.name.clone(),
        lost: Vec::new(),
        incomplete: false,
        legs_lost: false,
        changes,
    };
    let description = reader.robot(root);
    (description, reader.faults)
}

impl Reader<'_> {
    fn robot(&mut self, root: &Table) -> Option<Description> {
        let empty = Table::default();
        let robot = root.table("robot").unwrap_or(&empty);
        let mut parts = Parts::default();
        self.rows(root, &mut parts);
        parts.near = self.near(robot);
        self.legs(root, &mut parts);
        let names: Vec<String> = parts.bodies.iter().map(|b| b.name.text.clone()).collect();
        self.tell_unused_changes(&names);
        let base = self.frame(root.table("base").unwrap_or(&empty));
        let platform = root.table("platform").and_then(|t| self.platform(t));
        let elastic = self.elastic(root);
        weigh_rods(&mut parts.bodies, &elastic);
        let gravity = self
            .vector(robot, "gravity", Unit::Acceleration)
            .unwrap_or_else(|| [0.0, 0.0, -9.81].map(|g| Formula::number(g, robot.span)));
        let text = |key: &str| robot.get(key).and_then(Item::as_text).unwrap_or_default().to_owned();
        let sources =
            robot.get("source").map_or_else(Vec::new, |i| self.names(i).into_iter().map(|n| n.text).collect());
        let mode = robot.get("mode").map(|i| (self.names(i).into_iter().map(|n| n.text).collect(), i.span));
        let home = robot.table("home").map(|t| (self.home(t), t.span));
        let length = self.positive(robot, "length", Unit::Length);
        let name = if robot.get("name").is_some() { text("name") } else { self.default_name.clone() };
        let description = Description {
            name,
            summary: text("summary"),
            sources,
            gravity,
            base,
            platform: platform?,
            bodies: parts.bodies,
            closures: parts.closures,
            couplings: parts.couplings,
            legs: parts.legs,
            actuation: self.actuation(root),
            elastic,
            home,
            mode,
            near: parts.near,
            length,
            extends: None,
            definitions: std::mem::take(&mut self.definitions),
        };
        Some(self.check_references(description))
    }

    /// Rows of the file or of a template.
    fn rows(&mut self, table: &Table, parts: &mut Parts) {
        for row in table.rows("body") {
            let row = self.changed(row);
            parts.bodies.extend(self.body(&row));
        }
        for row in table.rows("closure") {
            let row = self.changed(row);
            if let Some((closure, body)) = self.closure(&row) {
                parts.closures.push(closure);
                parts.bodies.extend(body);
            }
        }
        for row in table.rows("coupling") {
            parts.couplings.extend(self.coupling(row));
        }
    }

    fn legs(&mut self, root: &Table, parts: &mut Parts) {
        let empty = Table::default();
        let templates = root.table("template").unwrap_or(&empty);
        let legs = root.table("legs").unwrap_or(&empty);
        if legs.entries.len() > MOST_LEGS {
            let what = Fault::TooMany { what: "legs", count: legs.entries.len(), most: MOST_LEGS };
            (self.incomplete, self.legs_lost) = (true, true);
            return self.fault(what, legs.span);
        }
        let mut used = HashSet::new();
        for entry in &legs.entries {
            let Some(leg) = entry.item.as_table() else { continue };
            let Some(item) = leg.get("template") else { continue };
            let Some(name) = item.as_text() else { continue };
            let Some(template) = templates.table(name) else {
                let nearest = nearest(name, templates.entries.iter().map(|e| e.key.as_str()));
                self.fault(Fault::UnknownTemplate { name: name.to_owned(), nearest }, item.span);
                (self.incomplete, self.legs_lost) = (true, true);
                continue;
            };
            used.insert(name.to_owned());
            self.check_name(&Name { text: entry.key.clone(), span: entry.key_span });
            self.leg = Some(entry.key.clone());
            self.leg_index = Some(parts.legs.len());
            parts.legs.push(entry.key.clone());
            self.arguments(leg, template, name);
            self.lets(template);
            self.rows(template, parts);
            let near = self.near(template);
            parts.near.extend(near);
            self.locals.clear();
            self.leg = None;
            self.leg_index = None;
            if parts.bodies.len() + parts.closures.len() > MOST_BODIES {
                let count = parts.bodies.len() + parts.closures.len();
                self.fault(Fault::TooMany { what: "bodies and closures", count, most: MOST_BODIES }, legs.span);
                (self.incomplete, self.legs_lost) = (true, true);
                return;
            }
        }
        for entry in templates.entries.iter().filter(|e| !used.contains(&e.key)) {
            self.fault(Fault::UnusedTemplate { name: entry.key.clone() }, entry.key_span);
        }
    }

    /// The numbers a leg gives to its template.
    fn arguments(&mut self, leg: &Table, template: &Table, name: &str) {
        let needs: Vec<(String, Span)> = match template.get("needs").map(|i| &i.value) {
            Some(Value::Text(_)) => {
                template.get("needs").and_then(|i| Some((i.as_text()?.to_owned(), i.span))).into_iter().collect()
            }
            Some(Value::List(list)) => list.iter().filter_map(|i| Some((i.as_text()?.to_owned(), i.span))).collect(),
            _ => Vec::new(),
        };
        for (need, span) in &needs {
            if is_reserved(need) || need == "template" {
                self.fault(Fault::ReservedName { name: need.clone() }, *span);
            } else if !is_identifier(need) {
                let reason = "expressions could not refer to it";
                self.fault(Fault::BadName { name: need.clone(), reason }, *span);
            } else if leg.get(need).is_none() {
                let what = Fault::MissingArgument { name: need.clone(), template: name.to_owned() };
                self.fault(what, leg.span);
                self.locals.insert(need.clone(), Meaning::Constant(0.0, super::units::Dimension::Any));
            }
        }
        let mut given = HashMap::new();
        for entry in leg.entries.iter().filter(|e| e.key != "template") {
            if !needs.iter().any(|(n, _)| *n == entry.key) {
                let nearest = nearest(&entry.key, needs.iter().map(|(n, _)| n.as_str()));
                let what = Fault::ExtraArgument { name: entry.key.clone(), template: name.to_owned(), nearest };
                self.fault(what, entry.key_span);
                continue;
            }
            let formula = self.formula(&entry.item, &entry.key, Unit::Any, false);
            let meaning = match formula {
                Some(f) => self.definitions.derive(f),
                None => Meaning::Constant(0.0, super::units::Dimension::Any), // its fault has been told
            };
            given.insert(entry.key.clone(), meaning);
        }
        self.locals.extend(given);
    }

    /// Derived numbers of a template, in any order.
    fn lets(&mut self, template: &Table) {
        let Some(table) = template.table("let") else { return };
        if table.entries.len() > MOST_NAMES {
            let what = Fault::TooMany { what: "derived numbers", count: table.entries.len(), most: MOST_NAMES };
            return self.fault(what, table.span);
        }
        let mut waiting: Vec<_> = table.entries.iter().collect();
        while !waiting.is_empty() {
            let names: Vec<String> = waiting.iter().map(|e| e.key.clone()).collect();
            let blocked = |e: &super::source::Entry| {
                e.item.as_text().is_some_and(|t| names_in(t).any(|n| names.iter().any(|w| w == n)))
            };
            let (later, ready): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|e| blocked(e));
            if ready.is_empty() {
                let mut names = names;
                names.extend(names.first().cloned());
                return self.fault(Fault::Cycle { names }, later[0].key_span);
            }
            for entry in ready {
                if is_reserved(&entry.key) || !is_identifier(&entry.key) {
                    self.fault(Fault::ReservedName { name: entry.key.clone() }, entry.key_span);
                }
                let meaning = match self.formula(&entry.item, &entry.key, Unit::Any, false) {
                    Some(f) => self.definitions.derive(f),
                    None => Meaning::Constant(0.0, super::units::Dimension::Any),
                };
                self.locals.insert(entry.key.clone(), meaning);
            }
            waiting = later;
        }
    }

    fn platform(&mut self, table: &Table) -> Option<DescribedPlatform> {
        let item = table.get("coordinates");
        let span = item.map_or(table.span, |i| i.span);
        let body = table.get("body").and_then(|i| self.name(i));
        let point = self.vector(table, "point", Unit::Length);
        let frame = self.frame(table);
        let mass = self.mass(table);
        let modal = table.table("modal").and_then(|t| self.modal(t));
        let coordinates = self.coordinates(item?, body.is_some())?;
        let is_point = matches!(coordinates, Coordinates::Point(_));
        if is_point && body.is_none() {
            let because = "a tool point is carried by a body of a leg".to_owned();
            self.fault(Fault::NeedsKey { key: "body", because }, table.span);
            return None;
        }
        for key in ["body", "point"] {
            if !is_point && let Some(item) = table.get(key) {
                let because = "it belongs to coordinates = \"point\"".to_owned();
                self.fault(Fault::UselessKey { key, because }, item.span);
            }
        }
        let tool = body.filter(|_| is_point).map(|b| (b, point.unwrap_or_else(|| zeros(span))));
        Some(DescribedPlatform { coordinates, span, frame, tool, mass, modal })
    }

    fn coordinates(&mut self, item: &Item, on_a_body: bool) -> Option<Coordinates> {
        let list = match &item.value {
            Value::Text(word) => {
                return match word.as_str() {
                    "spatial" => Some(Coordinates::Spatial),
                    "planar" => Some(Coordinates::Planar),
                    "translation" => Some(Coordinates::Translation),
                    "point" => Some(Coordinates::Point(vec![Coordinate::X, Coordinate::Y])),
                    other => {
                        let nearest = nearest(other, COORDINATE_SETS.iter().copied());
                        self.fault(Fault::UnknownCoordinate { name: other.to_owned(), nearest }, item.span);
                        None
                    }
                };
            }
            Value::List(list) => list,
            _ => return None,
        };
        let mut found = Vec::new();
        for i in list {
            let Some(word) = i.as_text() else { continue };
            match Coordinate::named(word) {
                Some(c) if !found.contains(&c) => found.push(c),
                Some(_) => {
                    let reason = format!("coordinate `{word}` stands twice");
                    self.fault(Fault::BadCoordinates { reason }, i.span);
                }
                None => {
                    let nearest = nearest(word, COORDINATES.iter().copied());
                    self.fault(Fault::UnknownCoordinate { name: word.to_owned(), nearest }, i.span);
                }
            }
        }
        if found.is_empty() {
            self.fault(Fault::BadCoordinates { reason: "no coordinates are listed".to_owned() }, item.span);
            return None;
        }
        found.sort_unstable();
        if on_a_body && found.iter().any(|c| c.is_angle()) {
            let reason = "a tool point has no orientation".to_owned();
            self.fault(Fault::BadCoordinates { reason }, item.span);
            return None;
        }
        Some(if on_a_body {
            Coordinates::Point(found)
        } else if found.len() == 6 {
            Coordinates::Spatial
        } else {
            Coordinates::Some(found)
        })
    }

    fn home(&mut self, table: &Table) -> Vec<(Coordinate, Formula)> {
        let mut home: Vec<(Coordinate, Formula)> = Vec::new();
        for entry in &table.entries {
            let Some(coordinate) = Coordinate::named(&entry.key) else { continue };
            let unit = if coordinate.is_angle() { Unit::Angle } else { Unit::Length };
            if home.iter().any(|(c, _)| *c == coordinate) {
                let what = Fault::Duplicate { what: "home coordinates", name: entry.key.clone() };
                self.fault(what, entry.key_span);
            }
            if let Some(f) = self.formula(&entry.item, &entry.key, unit, false) {
                home.push((coordinate, f));
            }
        }
        home
    }

    fn actuation(&mut self, root: &Table) -> Vec<ActuationSet> {
        let Some(table) = root.table("actuation") else { return Vec::new() };
        let sets = table.entries.iter().map(|e| ActuationSet {
            name: Name { text: e.key.clone(), span: e.key_span },
            joints: self.names(&e.item),
        });
        sets.collect()
    }

    fn elastic(&mut self, root: &Table) -> Elastic {
        let empty = Table::default();
        let mut elastic = Elastic::default();
        // Bending in the plane has neither torsion nor, unless asked for, shear.
        let planar = root
            .table("elastic")
            .and_then(|t| t.get("dimension"))
            .is_some_and(|i| matches!(i.value, Value::Integer(2)));
        let shears = !planar || says(root, "shear");
        for entry in &root.table("material").unwrap_or(&empty).entries {
            if let Some(m) = entry.item.as_table().and_then(|t| self.material(t, shears)) {
                elastic.materials.push((entry.key.clone(), m));
            }
        }
        for entry in &root.table("section").unwrap_or(&empty).entries {
            if let Some(s) = entry.item.as_table().and_then(|t| self.section(t)) {
                elastic.sections.push((entry.key.clone(), s));
            }
        }
        let table = root.table("elastic").unwrap_or(&empty);
        if let Some(item) = table.get("dimension") {
            match item.value {
                Value::Integer(2) => elastic.planar = true,
                Value::Integer(n) if n != 3 && n > 0 => {
                    let found = n.to_string();
                    let what = Fault::WrongType { key: "dimension".into(), expected: "2 or 3".into(), found };
                    self.fault(what, item.span);
                }
                _ => {}
            }
        }
        elastic.damping = self.nonnegative(table, "damping", Unit::Pure, false);
        elastic.hold = table.get("hold").map(|i| self.names(i));
        elastic.dependent = table.get("dependent").map(|i| self.names(i));
        let says = |key: &str, word: &str| table.get(key).and_then(Item::as_text) == Some(word);
        if says("rods", "lumped") {
            elastic.rods = RodInertia::Lumped;
        }
        for (word, choice) in [("null", VirtualTwists::Null), ("pure", VirtualTwists::Pure)] {
            if says("virtual", word) {
                elastic.virtual_twists = choice;
            }
        }
        elastic
    }

    fn material(&mut self, table: &Table, shears: bool) -> Option<Material> {
        let E = self.positive(table, "E", Unit::Pressure);
        let G = self.positive(table, "G", Unit::Pressure);
        let nu = self.number(table, "nu", Unit::Pure, false);
        if shears && table.get("G").is_none() && table.get("nu").is_none() {
            self.fault(
                Fault::NeedsKey { key: "G", because: "shear and torsion depend on `G` or `nu`".into() },
                table.span,
            );
        }
        let density = self.positive(table, "density", Unit::Density);
        let mass_damping = self.nonnegative(table, "mass_damping", Unit::Any, false);
        let stiffness_damping = self.nonnegative(table, "stiffness_damping", Unit::Any, false);
        Some(Material { E: E?, G, nu, density: density?, mass_damping, stiffness_damping })
    }

    fn section(&mut self, table: &Table) -> Option<BeamSection> {
        let given = ["A", "Iy", "Iz", "J"];
        let shapes: Vec<&str> =
            ["rectangle", "tube", "circle"].into_iter().filter(|k| table.get(k).is_some()).collect();
        let numbers = given.iter().filter(|k| table.get(k).is_some()).count();
        match (shapes.as_slice(), numbers) {
            ([], 4) => {
                let [A, Iy, Iz, J] =
                    given.map(|k| self.positive(table, k, if k == "A" { Unit::Area } else { Unit::SecondMoment }));
                let Ip = self.positive(table, "Ip", Unit::SecondMoment);
                Some(BeamSection::Given([A?, Iy?, Iz?, J?], Ip))
            }
            ([shape], 0) => {
                let section = match *shape {
                    "rectangle" => BeamSection::Rectangle(self.numbers(table, "rectangle", Unit::Length, false)?),
                    "tube" => BeamSection::Tube(self.numbers(table, "tube", Unit::Length, false)?),
                    _ => BeamSection::Circle(self.number(table, "circle", Unit::Length, false)?),
                };
                let bad = match &section {
                    BeamSection::Rectangle(d) => d.iter().any(|f| f.value <= 0.0),
                    BeamSection::Tube([outer, inner]) => outer.value <= inner.value || inner.value < 0.0,
                    BeamSection::Circle(d) => d.value <= 0.0,
                    BeamSection::Given(..) => false,
                };
                if bad {
                    let reason = "the section has no area: sizes must be positive, the outer diameter the larger one";
                    self.fault(Fault::BadSection { reason }, table.span);
                }
                Some(section)
            }
            _ => {
                let reason = "a section is given by A, Iy, Iz and J, or by one of rectangle, tube, circle";
                self.fault(Fault::BadSection { reason }, table.span);
                None
            }
        }
    }

    /// Names that must be unique, and names that must exist.
    fn check_references(&mut self, mut d: Description) -> Description {
        self.check_unique(&d);
        let bodies: Vec<String> = d.bodies.iter().map(|b| b.name.text.clone()).chain(self.lost.clone()).collect();
        let there: HashSet<&str> = bodies.iter().map(String::as_str).chain(["base", "platform"]).collect();
        let no_body = |name: &Name| {
            let candidates = ["base", "platform"].into_iter().chain(bodies.iter().map(String::as_str));
            Fault::UnknownBody { name: name.text.clone(), nearest: nearest(&name.text, candidates) }
        };
        let known = |name: &str| self.legs_lost || there.contains(name);
        let mut unknown: Vec<&Name> = d.bodies.iter().map(|b| &b.on).filter(|on| !known(&on.text)).collect();
        unknown.extend(d.closures.iter().flat_map(|c| [&c.a.body, &c.b.body]).filter(|b| !known(&b.text)));
        let no_tool = |b: &Name| !known(&b.text) || b.text == "base" || b.text == "platform";
        unknown.extend(d.platform.tool.iter().map(|(body, _)| body).filter(|b| no_tool(b)));
        for name in unknown {
            self.fault(no_body(name), name.span);
        }
        for closure in d.closures.iter().filter(|c| c.a.body.text == c.b.body.text) {
            self.fault(Fault::ClosureOnItself { body: closure.a.body.text.clone() }, closure.span);
        }
        if self.incomplete {
            // What is missing may stand in the rows that have faults.
        } else if d.bodies.is_empty() {
            self.fault(Fault::NothingMoves, d.platform.span);
        } else if d.bodies.iter().all(|b| b.drive.is_none()) {
            self.fault(Fault::NoDrive, d.platform.span);
        }
        self.check_points(&d);
        self.check_joints(&d);
        self.check_inertias(&d);
        self.sort(&mut d);
        d
    }

    fn check_unique(&mut self, d: &Description) {
        let mut seen: HashMap<String, Span> = HashMap::new();
        let coordinates = d.bodies.iter().map(|b| (format!("q{}", b.name.text), b));
        let coordinate_names: HashMap<String, Span> = coordinates.map(|(n, b)| (n, b.name.span)).collect();
        for body in &d.bodies {
            let name = &body.name;
            if let Some(first) = seen.get(&name.text) {
                let what = Fault::Duplicate { what: "bodies", name: name.text.clone() };
                self.faults.push(Diagnostic::new(what, name.span).and(*first, "the first one"));
            } else if coordinate_names.contains_key(&name.text) {
                let reason = "it is the coordinate of another body";
                self.fault(Fault::BadName { name: name.text.clone(), reason }, name.span);
            }
            seen.entry(name.text.clone()).or_insert(name.span);
        }
    }

    /// Named points must belong to modal bodies that have them.
    fn check_points(&mut self, d: &Description) {
        let lost = self.lost.clone();
        let sides = d.closures.iter().flat_map(|c| [&c.a, &c.b]).map(|s| (&s.body, &s.at_point));
        let rows = d.bodies.iter().map(|b| (&b.on, &b.at_point));
        let uses: Vec<_> = sides
            .chain(rows)
            .filter_map(|(body, point)| Some((body, point.as_ref()?)))
            .filter(|(body, _)| !lost.contains(&body.text))
            .collect();
        for (body, point) in uses {
            let modal = if body.text == "platform" {
                d.platform.modal.as_ref()
            } else {
                d.bodies.iter().find(|b| b.name.text == body.text).and_then(|b| match &b.flexible {
                    Some(Flexible::Modal(m)) => Some(m),
                    _ => None,
                })
            };
            let points = modal.map_or(&[][..], |m| &m.points);
            if !points.iter().any(|p| p.name == point.text) {
                let nearest = nearest(&point.text, points.iter().map(|p| p.name.as_str()));
                self.fault(Fault::UnknownPoint { name: point.text.clone(), nearest }, point.span);
            }
        }
    }

    /// Joints named in couplings, sets, `near` and `hold`.
    fn check_joints(&mut self, d: &Description) {
        let lost = self.lost.iter().map(|n| (n.clone(), false));
        let joints: Vec<(String, bool)> = d.joint_names().into_iter().chain(lost).collect();
        let find = |name: &str| joints.iter().any(|(n, _)| n == name || name.strip_prefix('q') == Some(n));
        let (lost, legs_lost) = (self.lost.clone(), self.legs_lost);
        let driven = |name: &str| {
            let plain = |n: &str| n == name || name.strip_prefix('q') == Some(n);
            d.bodies.iter().any(|b| plain(&b.name.text) && b.drive.is_some()) || lost.iter().any(|n| plain(n))
        };
        let sets = d.actuation.iter().flat_map(|s| &s.joints);
        let listed = d.couplings.iter().flat_map(|c| c.terms.iter().map(|(n, _)| n));
        let near = d.near.iter().map(|(n, _)| n);
        let held = d.elastic.hold.iter().flatten();
        let unknown = sets.clone().chain(listed).chain(near).chain(held).filter(|n| !find(&n.text));
        for name in unknown.filter(|_| !legs_lost) {
            let nearest = nearest(&name.text, joints.iter().map(|(n, _)| n.as_str()));
            self.fault(Fault::UnknownJoint { name: name.text.clone(), nearest }, name.span);
        }
        for name in sets.filter(|n| find(&n.text) && !driven(&n.text)) {
            self.fault(Fault::NotDriven { name: name.text.clone() }, name.span);
        }
        let is_body = |name: &str| d.bodies.iter().any(|b| b.name.text == name) || lost.iter().any(|n| n == name);
        for name in d.elastic.dependent.iter().flatten().filter(|n| !legs_lost && !is_body(&n.text)) {
            let nearest = nearest(&name.text, d.bodies.iter().map(|b| b.name.text.as_str()));
            self.fault(Fault::UnknownBody { name: name.text.clone(), nearest }, name.span);
        }
        let mut seen = HashSet::new();
        for set in &d.actuation {
            if !seen.insert(&set.name.text) || set.joints.is_empty() {
                let what = Fault::Duplicate { what: "actuation sets", name: set.name.text.clone() };
                self.fault(what, set.name.span);
            }
        }
    }

    /// Inertias that no body can have, unless the file says that parameters are grouped.
    fn check_inertias(&mut self, d: &Description) {
        let values = d.definitions.values(&d.definitions.defaults());
        let rows = d.bodies.iter().map(|b| (b.name.text.as_str(), &b.mass));
        let bars = d.bodies.iter().filter_map(|b| match &b.joint {
            Joint::Parallelogram(bar) => Some((b.name.text.as_str(), &bar.mass)),
            _ => None,
        });
        let platform = std::iter::once(("platform", &d.platform.mass));
        for (name, mass) in rows.chain(bars).chain(platform).filter(|(_, m)| !m.grouped) {
            if let Err(why) = mass.inertia(&values).check_physical() {
                let what = Fault::NonPhysicalInertia { body: name.to_owned(), reason: why.to_string() };
                self.fault(what, mass.span);
            }
        }
    }

    /// Bodies with parents first, otherwise in the order of the file; bodies that stand on each other are a fault.
    fn sort(&mut self, d: &mut Description) {
        let all = std::mem::take(&mut d.bodies);
        // Of bodies with one name the first.
        let known: HashMap<String, usize> =
            all.iter().enumerate().rev().map(|(i, b)| (b.name.text.clone(), i)).collect();
        let mut bodies: Vec<Option<DescribedBody>> = all.into_iter().map(Some).collect();
        let mut carried: HashMap<String, Vec<usize>> = HashMap::new();
        let mut ready = BTreeSet::new();
        for (i, body) in bodies.iter().flatten().enumerate() {
            // What stands on a row with faults is kept in place.
            if known.contains_key(&body.on.text) {
                carried.entry(body.on.text.clone()).or_default().push(i);
            } else {
                ready.insert(i);
            }
        }
        let mut first = 0;
        loop {
            while let Some(i) = ready.pop_first() {
                let Some(body) = bodies[i].take() else { continue };
                ready.extend(carried.remove(&body.name.text).unwrap_or_default());
                d.bodies.push(body);
            }
            while bodies.get(first).is_some_and(Option::is_none) {
                first += 1;
            }
            if first == bodies.len() {
                return;
            }
            let round = cycle(&bodies, &known, first);
            let names: Vec<String> = round.iter().map(|b| b.name.text.clone()).collect();
            let at = round[0].on.span;
            names.iter().for_each(|n| ready.extend(carried.remove(n).unwrap_or_default()));
            self.fault(Fault::ParentCycle { names }, at);
        }
    }
}

/// Bodies that stand on each other, found by going from the first body to what it stands on, until one comes again.
fn cycle<'a>(
    bodies: &'a [Option<DescribedBody>],
    known: &HashMap<String, usize>,
    first: usize,
) -> Vec<&'a DescribedBody> {
    let (mut path, mut seen) = (Vec::new(), HashMap::new());
    let mut next = bodies[first].as_ref();
    while let Some(body) = next {
        if let Some(k) = seen.insert(body.name.text.as_str(), path.len()) {
            return path.split_off(k);
        }
        path.push(body);
        next = known.get(&body.on.text).and_then(|i| bodies[*i].as_ref());
    }
    path
}

#[derive(Default)]
struct Parts {
    bodies: Vec<DescribedBody>,
    closures: Vec<DescribedClosure>,
    couplings: Vec<Coupling>,
    legs: Vec<String>,
    near: Vec<(Name, Formula)>,
}

/// Whether a key is true anywhere in a table.
fn says(table: &Table, key: &str) -> bool {
    let inside = |item: &Item| match &item.value {
        Value::Table(inner) => says(inner, key),
        Value::List(list) => list.iter().any(|i| i.as_table().is_some_and(|t| says(t, key))),
        _ => false,
    };
    table.entries.iter().any(|e| (e.key == key && matches!(e.item.value, Value::Flag(true))) || inside(&e.item))
}
