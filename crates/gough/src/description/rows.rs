//! Reading numbers and rows: bodies, closures, couplings, mass data.

use super::definitions::{Definitions, explain};
use super::elastic::{Beam, Modal};
use super::fault::{Diagnostic, Fault, Span, nearest};
use super::formula::{Formula, Meaning};
use super::grammar::Unit;
use super::mass::{MassData, Shape, Solid};
use super::overlay::Changes;
use super::placement::{Frame, Placement};
use super::robot::{
    Bar, ClosureJoint, Coupling, DescribedBody, DescribedClosure, Drive, DriveKind, Flexible, Friction, Joint, Name,
    Side,
};
use super::source::{Item, Table, Value};
use std::collections::HashMap;

/// Reads values in a scope of names and collects faults.
pub(super) struct Reader<'a> {
    pub(super) faults: Vec<Diagnostic>,
    pub(super) definitions: Definitions,
    /// Names of the template instance being read.
    pub(super) locals: HashMap<String, Meaning>,
    /// Key of the leg being read.
    pub(super) leg: Option<String>,
    pub(super) leg_index: Option<usize>,
    /// Names whose own fault has been told.
    pub(super) failed: Vec<String>,
    pub(super) materials: Vec<String>,
    pub(super) sections: Vec<String>,
    /// Which of them are alike in all directions.
    pub(super) round_sections: Vec<usize>,
    pub(super) files: &'a dyn Fn(&str) -> Result<String, String>,
    pub(super) default_name: String,
    /// Names of bodies whose rows have faults: they exist, but nothing more is known of them.
    pub(super) lost: Vec<String>,
    /// Something was left out, so that what is missing may only have been lost.
    pub(super) incomplete: bool,
    /// Whole legs were left out.
    pub(super) legs_lost: bool,
    /// What an overlay changes in rows.
    pub(super) changes: Changes,
}

impl Reader<'_> {
    pub(super) fn fault(&mut self, what: Fault, at: Span) {
        self.faults.push(Diagnostic::new(what, at));
    }

    /// A number, quantity or expression; `None` when it has a fault, which is then told.
    pub(super) fn formula(&mut self, item: &Item, key: &str, unit: Unit, slides: bool) -> Option<Formula> {
        let formula = match &item.value {
            Value::Integer(i) => Formula::number(*i as f64, item.span),
            Value::Float(x) => Formula::number(*x, item.span),
            Value::Text(text) => {
                let lookup = |n: &str| self.locals.get(n).copied().or_else(|| self.definitions.meaning(n));
                match Formula::parse(text, item.span, &lookup) {
                    Ok(f) => f,
                    Err(faults) => {
                        let known: Vec<&str> =
                            self.locals.keys().map(String::as_str).chain(self.definitions.names()).collect();
                        let told: Vec<Diagnostic> =
                            faults.into_iter().filter_map(|(w, s)| explain(w, s, &known, &self.failed)).collect();
                        self.faults.extend(told);
                        return None;
                    }
                }
            }
            _ => return None, // wrong type, told by the grammar
        };
        let most = if unit == Unit::Length { LONGEST } else { LARGEST };
        if formula.value.abs() > most {
            self.fault(Fault::Absurd { key: key.to_owned(), value: formula.value }, item.span);
            return None;
        }
        match (unit.powers(slides), formula.dimension) {
            (Some(expected), super::units::Dimension::Known(found)) if found != expected => {
                self.fault(Fault::WrongDimension { key: key.to_owned(), expected, found }, item.span);
                None
            }
            _ => Some(formula),
        }
    }

    pub(super) fn number(&mut self, table: &Table, key: &str, unit: Unit, slides: bool) -> Option<Formula> {
        table.get(key).and_then(|item| self.formula(item, key, unit, slides))
    }

    /// A number that must not be negative.
    pub(super) fn nonnegative(&mut self, table: &Table, key: &str, unit: Unit, slides: bool) -> Option<Formula> {
        let f = self.number(table, key, unit, slides)?;
        if f.value < 0.0 {
            self.fault(Fault::Negative { key: key.to_owned(), value: f.value }, f.span);
            return None;
        }
        Some(f)
    }

    /// A number that must be positive.
    pub(super) fn positive(&mut self, table: &Table, key: &str, unit: Unit) -> Option<Formula> {
        let f = self.number(table, key, unit, false)?;
        if f.value <= 0.0 {
            self.fault(Fault::NotPositive { key: key.to_owned(), value: f.value }, f.span);
            return None;
        }
        Some(f)
    }

    pub(super) fn numbers<const N: usize>(
        &mut self,
        table: &Table,
        key: &str,
        unit: Unit,
        slides: bool,
    ) -> Option<[Formula; N]> {
        let Value::List(list) = &table.get(key)?.value else { return None };
        if list.len() != N {
            return None; // told by the grammar
        }
        let read: Vec<Option<Formula>> = list.iter().map(|i| self.formula(i, key, unit, slides)).collect();
        read.into_iter().collect::<Option<Vec<_>>>()?.try_into().ok()
    }

    pub(super) fn vector(&mut self, table: &Table, key: &str, unit: Unit) -> Option<[Formula; 3]> {
        self.numbers(table, key, unit, false)
    }

    /// A direction: not the null vector.
    fn direction(&mut self, table: &Table, key: &'static str) -> Option<[Formula; 3]> {
        let v = self.vector(table, key, Unit::Pure)?;
        if v.iter().all(|f| f.value.abs() < 1e-12) {
            let span = table.get(key).map_or(table.span, |i| i.span);
            self.fault(Fault::ZeroVector { key }, span);
            return None;
        }
        Some(v)
    }

    /// A text in which `{leg}` is replaced by the key of the leg.
    pub(super) fn name(&mut self, item: &Item) -> Option<Name> {
        let text = self.fill(item.as_text()?, item.span)?;
        Some(Name { text, span: item.span })
    }

    pub(super) fn fill(&mut self, text: &str, span: Span) -> Option<String> {
        let Some(open) = text.find('{') else { return Some(text.to_owned()) };
        let inside = text[open + 1..].split('}').next().unwrap_or_default().to_owned();
        match &self.leg {
            Some(leg) if inside == "leg" => {
                let filled = text.replace("{leg}", leg);
                if filled.contains('{') {
                    self.fault(Fault::UnknownPlaceholder { name: inside }, span);
                    return None;
                }
                Some(filled)
            }
            _ => {
                self.fault(Fault::UnknownPlaceholder { name: inside }, span);
                None
            }
        }
    }

    pub(super) fn names(&mut self, item: &Item) -> Vec<Name> {
        match &item.value {
            Value::Text(_) => self.name(item).into_iter().collect(),
            Value::List(list) => list.iter().filter_map(|i| self.name(i)).collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn frame(&mut self, table: &Table) -> Frame {
        let frame = table.table("frame");
        let span = frame.map_or(table.span, |f| f.span);
        let mut three =
            |key: &str, unit: Unit| frame.and_then(|f| self.vector(f, key, unit)).unwrap_or_else(|| zeros(span));
        Frame { xyz: three("xyz", Unit::Length), rpy: three("rpy", Unit::Angle) }
    }

    fn placement(&mut self, table: &Table) -> Placement {
        if let Some(mdh) = table.table("mdh") {
            if ["frame", "point", "axis"].iter().any(|k| table.get(k).is_some()) {
                self.fault(Fault::TwoPlacements, mdh.span);
            }
            let units = [
                ("gamma", Unit::Angle),
                ("b", Unit::Length),
                ("alpha", Unit::Angle),
                ("d", Unit::Length),
                ("theta", Unit::Angle),
                ("r", Unit::Length),
            ];
            return Placement::Mdh(units.map(|(key, unit)| {
                self.number(mdh, key, unit, false).unwrap_or_else(|| Formula::number(0.0, mdh.span))
            }));
        }
        let named_point = matches!(table.get("point").map(|i| &i.value), Some(Value::Text(_)));
        let point = if named_point { None } else { self.vector(table, "point", Unit::Length) };
        Placement::Framed {
            frame: self.frame(table),
            point: point.unwrap_or_else(|| zeros(table.span)),
            axis: self.direction(table, "axis"),
        }
    }

    fn point_name(&mut self, table: &Table) -> Option<Name> {
        let item = table.get("point")?;
        item.as_text()?;
        self.name(item)
    }

    pub(super) fn friction(&mut self, table: &Table, slides: bool) -> Friction {
        let Some(t) = table.table("friction") else { return Friction::default() };
        let friction = Friction {
            viscous: self.nonnegative(t, "viscous", Unit::Viscous, slides),
            coulomb: self.nonnegative(t, "coulomb", Unit::Effort, slides),
            breakaway: self.nonnegative(t, "static", Unit::Effort, slides),
            decay: self.nonnegative(t, "decay", Unit::Decay, slides),
        };
        if friction.breakaway.is_some() && friction.decay.is_none() && t.get("decay").is_none() {
            self.fault(Fault::NeedsKey { key: "decay", because: "a static level fades with speed".into() }, t.span);
        }
        friction
    }

    fn drive(&mut self, table: &Table, slides: bool) -> Option<Drive> {
        let t = table.table("drive")?;
        let clutch = t.get("kind").and_then(Item::as_text) == Some("clutch");
        Some(Drive {
            kind: if clutch { DriveKind::Clutch } else { DriveKind::Motor },
            rotor_inertia: self.nonnegative(t, "rotor_inertia", Unit::RotorInertia, slides),
            friction: self.friction(t, slides),
            stiffness: self.nonnegative(t, "stiffness", Unit::Stiffness, slides),
            servo: self.nonnegative(t, "servo", Unit::Stiffness, slides),
            effort: self.nonnegative(t, "effort", Unit::Effort, slides),
            speed: self.nonnegative(t, "speed", Unit::Speed, slides),
        })
    }

    fn range(&mut self, table: &Table, slides: bool) -> Option<[Formula; 2]> {
        let range: [Formula; 2] = self.numbers(table, "range", Unit::Position, slides)?;
        let [low, high] = [range[0].value, range[1].value];
        if low >= high {
            let span = table.get("range").map_or(table.span, |i| i.span);
            self.fault(Fault::BadRange { low, high }, span);
            return None;
        }
        Some(range)
    }

    pub(super) fn mass(&mut self, table: &Table) -> MassData {
        let mass = self.nonnegative(table, "mass", Unit::Mass, false);
        let com = self.vector(table, "com", Unit::Length);
        let first_moment = self.vector(table, "first_moment", Unit::FirstMoment);
        if table.get("com").is_some() && table.get("first_moment").is_some() {
            self.fault(Fault::TwoCentres, table.span);
        }
        let shape = self.shape(table);
        let grouped = matches!(table.get("grouped").map(|i| &i.value), Some(Value::Flag(true)));
        MassData {
            mass,
            com,
            first_moment,
            inertia: self.inertia(table),
            shape,
            lumped: self.lumped(table),
            grouped,
            span: table.span,
        }
    }

    fn inertia(&mut self, table: &Table) -> Option<(bool, [Formula; 6])> {
        let t = table.table("inertia")?;
        let at_com = t.get("at").and_then(Item::as_text) == Some("com");
        let entries = ["xx", "yy", "zz", "xy", "xz", "yz"]
            .map(|k| self.number(t, k, Unit::Inertia, false).unwrap_or_else(|| Formula::number(0.0, t.span)));
        let massless = !matches!(self.number(table, "mass", Unit::Mass, false), Some(f) if f.value != 0.0);
        if at_com && massless && table.get("first_moment").is_some() {
            self.fault(
                Fault::NeedsKey { key: "mass", because: "the centre of mass follows from it".into() },
                table.span,
            );
        }
        Some((at_com, entries))
    }

    fn lumped(&mut self, table: &Table) -> Vec<([Formula; 3], Formula)> {
        let mut lumped = Vec::new();
        for row in table.rows("lumped") {
            let point = self.vector(row, "point", Unit::Length).unwrap_or_else(|| zeros(row.span));
            if let Some(mass) = self.nonnegative(row, "mass", Unit::Mass, false) {
                lumped.push((point, mass));
            }
        }
        lumped
    }

    fn shape(&mut self, table: &Table) -> Option<Shape> {
        let t = table.table("shape")?;
        let solids = ["box", "cylinder", "tube", "sphere"];
        let given: Vec<&&str> = solids.iter().filter(|k| t.get(k).is_some()).collect();
        if given.len() != 1 {
            let because = format!("a shape is one of {}", solids.join(", "));
            self.fault(Fault::NeedsKey { key: "box", because }, t.span);
            return None;
        }
        let solid = match *given[0] {
            "box" => Solid::Box(self.vector(t, "box", Unit::Length)?),
            "cylinder" => Solid::Cylinder(self.numbers(t, "cylinder", Unit::Length, false)?),
            "tube" => Solid::Tube(self.vector(t, "tube", Unit::Length)?),
            _ => Solid::Sphere(self.number(t, "sphere", Unit::Length, false)?),
        };
        let zero_allowed = |i: usize| matches!(solid, Solid::Tube(_)) && i == 2;
        let bad = solid
            .dimensions()
            .into_iter()
            .enumerate()
            .find(|(i, d)| d.value < 0.0 || (d.value == 0.0 && !zero_allowed(*i)));
        if let Some((_, d)) = bad {
            self.fault(Fault::NotPositive { key: (*given[0]).to_owned(), value: d.value }, d.span);
            return None;
        }
        if let Solid::Tube([_, outer, inner]) = &solid
            && inner.value >= outer.value
        {
            self.fault(Fault::BadRange { low: inner.value, high: outer.value }, t.span);
        }
        let density = self.nonnegative(t, "density", Unit::Density, false);
        let twice = ["com", "first_moment", "inertia"].iter().any(|k| table.get(k).is_some())
            || (t.get("density").is_some() && table.get("mass").is_some());
        if twice {
            self.fault(Fault::TwoInertias, t.span);
        }
        if t.get("density").is_none() && table.get("mass").is_none() {
            self.fault(
                Fault::NeedsKey { key: "density", because: "a shape has a density, or the body a mass".into() },
                t.span,
            );
        }
        let frame = t.get("frame").is_some().then(|| self.frame(t));
        Some(Shape { solid, density, frame })
    }

    fn joint(&mut self, table: &Table) -> Option<Joint> {
        let word = table.get("joint")?.as_text()?;
        let only = |key: &'static str, kinds: &str| Fault::UselessKey {
            key,
            because: format!("it belongs to {kinds} joints"),
        };
        for (key, kind) in [("axis2", "U"), ("pitch", "H"), ("bar", "Pi")] {
            if word != kind
                && let Some(item) = table.get(key)
            {
                self.fault(only(key, kind), item.span);
            }
        }
        let missing = |key: &'static str, because: &str| Fault::NeedsKey { key, because: because.to_owned() };
        Some(match word {
            "R" => Joint::Revolute,
            "P" => Joint::Prismatic,
            "S" => Joint::Spherical,
            "C" => Joint::Cylindrical,
            "fixed" => Joint::Fixed,
            "U" => {
                if table.get("axis2").is_none() {
                    self.fault(missing("axis2", "a U joint has two axes"), table.span);
                }
                let axis2 = self.direction(table, "axis2")?;
                self.check_axes(table, &axis2);
                Joint::Universal { axis2 }
            }
            "H" => {
                if table.get("pitch").is_none() {
                    self.fault(missing("pitch", "an H joint advances by its pitch per radian"), table.span);
                }
                Joint::Screw { pitch: self.number(table, "pitch", Unit::Length, false)? }
            }
            "Pi" => {
                let Some(bar) = table.table("bar") else {
                    self.fault(missing("bar", "a Pi joint has a bar"), table.span);
                    return None;
                };
                let vector = self.vector(bar, "vector", Unit::Length)?;
                if vector.iter().all(|f| f.value == 0.0) {
                    self.fault(Fault::ZeroVector { key: "vector" }, bar.span);
                }
                Joint::Parallelogram(Box::new(Bar { vector, mass: self.mass(bar), rods: self.rods(bar) }))
            }
            _ => return None, // told by the grammar
        })
    }

    fn check_axes(&mut self, table: &Table, axis2: &[Formula; 3]) {
        let axis = self.vector(table, "axis", Unit::Pure);
        let a = axis.map_or([0.0, 0.0, 1.0], |v| v.map(|f| f.value));
        let b = [0, 1, 2].map(|i| axis2[i].value);
        let (a, b) = (nalgebra::Vector3::from(a), nalgebra::Vector3::from(b));
        if a.cross(&b).norm() <= 1e-9 * a.norm() * b.norm() {
            let span = table.get("axis2").map_or(table.span, |i| i.span);
            self.fault(Fault::ParallelAxes, span);
        }
    }

    /// A body; one with faults is remembered by its name.
    pub(super) fn body(&mut self, table: &Table) -> Option<DescribedBody> {
        let body = self.read_body(table);
        if body.is_none() {
            self.incomplete = true;
            if let Some(text) = table.get("name").and_then(Item::as_text) {
                self.lost.push(text.replace("{leg}", self.leg.as_deref().unwrap_or_default()));
            }
        }
        body
    }

    fn read_body(&mut self, table: &Table) -> Option<DescribedBody> {
        let name = table.get("name").and_then(|i| self.name(i));
        let on = table.get("on").and_then(|i| self.name(i));
        let joint = self.joint(table);
        let slides = matches!(joint, Some(Joint::Prismatic));
        let several = matches!(joint, Some(Joint::Universal { .. } | Joint::Spherical | Joint::Cylindrical));
        let fixed = matches!(joint, Some(Joint::Fixed));
        for (key, useless, because) in [
            ("range", several || fixed, "the joint has no single coordinate; write its axes as R or P joints"),
            ("drive", several || fixed, "the joint has no single coordinate; write its axes as R or P joints"),
            ("friction", fixed, "a fixed joint does not move"),
            ("stiffness", fixed, "a fixed joint does not move"),
        ] {
            if useless && let Some(item) = table.get(key) {
                self.fault(Fault::UselessKey { key, because: because.to_owned() }, item.span);
            }
        }
        let flexible = self.flexible(table);
        let body = DescribedBody {
            name: name?,
            leg: self.leg_index,
            on: on?,
            placement: self.placement(table),
            at_point: self.point_name(table),
            range: self.range(table, slides),
            friction: self.friction(table, slides),
            stiffness: self.nonnegative(table, "stiffness", Unit::Stiffness, slides),
            drive: self.drive(table, slides),
            mass: self.mass(table),
            flexible,
            compliance: self.compliance(table),
            joint: joint?,
        };
        self.check_name(&body.name);
        Some(body)
    }

    /// Names must survive in `--joints q11=..`, in mode texts and in generated code.
    pub(super) fn check_name(&mut self, name: &Name) {
        let bad = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let reason = match name.text.as_str() {
            "" => "it is empty",
            "base" | "platform" | "world" => "it is taken",
            t if t.contains(bad) => "it has other characters than letters, digits, `-` and `_`",
            t if t.len() > 40 => "it is longer than 40 characters",
            _ => return,
        };
        self.fault(Fault::BadName { name: name.text.clone(), reason }, name.span);
    }

    fn flexible(&mut self, table: &Table) -> Option<Flexible> {
        let has_mass = ["mass", "com", "first_moment", "inertia", "shape"].iter().any(|k| table.get(k).is_some());
        if let Some(beam) = table.table("beam") {
            if has_mass || table.get("modal").is_some() {
                self.fault(Fault::TwoInertias, beam.span);
            }
            return self.beam(beam).map(|b| Flexible::Beam(Box::new(b)));
        }
        let modal = table.table("modal")?;
        if has_mass {
            self.fault(Fault::TwoInertias, modal.span);
        }
        self.modal(modal).map(Flexible::Modal)
    }

    fn beam(&mut self, table: &Table) -> Option<Beam> {
        let to = self.vector(table, "to", Unit::Length);
        if to.as_ref().is_some_and(|v| v.iter().all(|f| f.value == 0.0)) {
            self.fault(Fault::ZeroVector { key: "to" }, table.span);
        }
        let (section, material) = self.made_of(table);
        let elements = self.elements(table);
        let up = self.direction(table, "up");
        let upright = to.as_ref().is_some_and(|[x, y, _]| x.value == 0.0 && y.value == 0.0);
        let round = section.is_some_and(|s| self.round_sections.contains(&s));
        if upright && !round && table.get("up").is_none() {
            let because = "the beam runs along z and its section is not round: say where the section's z axis points";
            self.fault(Fault::NeedsKey { key: "up", because: because.into() }, table.span);
        }
        let flag = |key: &str| match table.get(key).map(|i| &i.value) {
            Some(Value::Flag(b)) => Some(*b),
            _ => None,
        };
        Some(Beam {
            to: to?,
            section: section?,
            material: material?,
            elements,
            up,
            shear: flag("shear").unwrap_or(false),
            rotary_inertia: flag("rotary_inertia").unwrap_or(true),
        })
    }

    /// Indices of the section and the material that a table names.
    pub(super) fn made_of(&mut self, table: &Table) -> (Option<usize>, Option<usize>) {
        let section = self
            .listed(table, "section", &self.sections.clone(), |name, nearest| Fault::UnknownSection { name, nearest });
        (section, self.material_of(table))
    }

    pub(super) fn material_of(&mut self, table: &Table) -> Option<usize> {
        let list = self.materials.clone();
        self.listed(table, "material", &list, |name, nearest| Fault::UnknownMaterial { name, nearest })
    }

    /// Elements per segment.
    pub(super) fn elements(&mut self, table: &Table) -> usize {
        match table.get("elements").map(|i| (&i.value, i.span)) {
            Some((Value::Integer(n), span)) => match usize::try_from(*n) {
                Ok(n) if n <= MOST_ELEMENTS => n,
                _ => {
                    let count = usize::try_from(*n).unwrap_or(0);
                    self.fault(Fault::TooMany { what: "elements per segment", count, most: MOST_ELEMENTS }, span);
                    1
                }
            },
            _ => 1,
        }
    }

    /// Index of a named thing in a list.
    fn listed(
        &mut self,
        table: &Table,
        key: &str,
        list: &[String],
        fault: impl Fn(String, Option<String>) -> Fault,
    ) -> Option<usize> {
        let item = table.get(key)?;
        let name = item.as_text()?;
        let found = list.iter().position(|n| n == name);
        if found.is_none() {
            let near = nearest(name, list.iter().map(String::as_str));
            self.fault(fault(name.to_owned(), near), item.span);
        }
        found
    }

    pub(super) fn modal(&mut self, table: &Table) -> Option<Modal> {
        let file = table.get("file").and_then(|i| self.name(i))?;
        let span = table.span;
        let read = (self.files)(&file.text).and_then(|text| Modal::parse(&text, file.clone(), span));
        read.map_err(|reason| self.fault(Fault::BadFile { name: file.text, reason }, file.span)).ok()
    }

    fn side(&mut self, table: &Table) -> Option<Side> {
        let body = table.get("body").and_then(|i| self.name(i));
        let placement = self.placement(table);
        let at_point = self.point_name(table);
        Some(Side { body: body?, placement, at_point })
    }

    /// A closure; with friction, stiffness or a range its joint becomes a massless body of the tree.
    pub(super) fn closure(&mut self, table: &Table) -> Option<(DescribedClosure, Option<DescribedBody>)> {
        let joint = match table.get("joint")?.as_text()? {
            "fixed" => ClosureJoint::Fixed,
            "R" => ClosureJoint::Revolute,
            "P" => ClosureJoint::Prismatic,
            "U" => ClosureJoint::Universal,
            "S" => ClosureJoint::Spherical,
            "C" => ClosureJoint::Cylindrical,
            _ => return None,
        };
        let name = table.get("name").and_then(|i| self.name(i));
        if let Some(name) = &name {
            self.check_name(name);
        }
        let a = table.table("a").and_then(|t| self.side(t));
        let b = table.table("b").and_then(|t| self.side(t));
        let compliance = self.compliance(table);
        let closure = DescribedClosure { name, leg: self.leg_index, joint, a: a?, b: b?, compliance, span: table.span };
        let cut_behind = ["range", "friction", "stiffness"].iter().any(|k| table.get(k).is_some());
        if !cut_behind {
            return Some((closure, None));
        }
        self.cut_behind(table, closure)
    }

    fn cut_behind(
        &mut self,
        table: &Table,
        closure: DescribedClosure,
    ) -> Option<(DescribedClosure, Option<DescribedBody>)> {
        let slides = closure.joint == ClosureJoint::Prismatic;
        let joint = match closure.joint {
            ClosureJoint::Revolute => Joint::Revolute,
            ClosureJoint::Prismatic => Joint::Prismatic,
            _ => {
                let because = "only R and P closures can become coordinates; write the joint as bodies of the tree";
                self.fault(Fault::UselessKey { key: "friction", because: because.to_owned() }, table.span);
                return None;
            }
        };
        let Some(name) = closure.name.clone() else {
            self.fault(Fault::ClosureNeedsName, table.span);
            return None;
        };
        let body = DescribedBody {
            name: name.clone(),
            leg: self.leg_index,
            on: closure.a.body.clone(),
            joint,
            placement: closure.a.placement.clone(),
            at_point: closure.a.at_point.clone(),
            range: self.range(table, slides),
            friction: self.friction(table, slides),
            stiffness: self.nonnegative(table, "stiffness", Unit::Stiffness, slides),
            drive: None,
            mass: MassData { span: table.span, ..MassData::default() },
            flexible: None,
            compliance: None,
        };
        // The new body's frame has the axis where the file put it; side b is met frame to frame.
        let axis = match &closure.a.placement {
            Placement::Framed { axis, .. } => axis.clone(),
            Placement::Mdh(_) => None,
        };
        let moved = Placement::Framed {
            frame: Frame { xyz: zeros(table.span), rpy: zeros(table.span) },
            point: zeros(table.span),
            axis,
        };
        let a = Side { body: name, placement: moved, at_point: None };
        Some((DescribedClosure { joint: ClosureJoint::Fixed, a, ..closure }, Some(body)))
    }

    pub(super) fn coupling(&mut self, table: &Table) -> Option<Coupling> {
        let mut terms = Vec::new();
        for entry in &table.entries {
            let text = self.fill(&entry.key, entry.key_span)?;
            let coefficient = self.formula(&entry.item, &entry.key, Unit::Any, false)?;
            if coefficient.value == 0.0 {
                self.fault(Fault::BadCoupling { reason: format!("`{text}` has coefficient zero") }, entry.item.span);
                return None;
            }
            terms.push((Name { text, span: entry.key_span }, coefficient));
        }
        if terms.len() < 2 {
            let reason = "a coupling relates at least two joints".to_owned();
            self.fault(Fault::BadCoupling { reason }, table.span);
            return None;
        }
        Some(Coupling { terms, span: table.span })
    }

    pub(super) fn near(&mut self, table: &Table) -> Vec<(Name, Formula)> {
        let Some(near) = table.table("near") else { return Vec::new() };
        let mut read = Vec::new();
        for entry in &near.entries {
            let name = self.fill(&entry.key, entry.key_span);
            let value = self.formula(&entry.item, &entry.key, Unit::Any, false);
            if let (Some(text), Some(value)) = (name, value) {
                read.push((Name { text, span: entry.key_span }, value));
            }
        }
        read
    }
}

/// Longest length, in metres, and largest number of any kind: far beyond any robot, far from overflow.
const LONGEST: f64 = 1e6;
const LARGEST: f64 = 1e15;

/// Most elements per segment.
const MOST_ELEMENTS: usize = 64;

pub(super) fn zeros(span: Span) -> [Formula; 3] {
    [0, 1, 2].map(|_| Formula::number(0.0, span))
}
