//! Named numbers: the parameters of the file, and what templates derive from them.

use super::fault::{Diagnostic, Fault, Span, nearest};
use super::formula::{Formula, Meaning, is_reserved};
use super::source::{Entry, Table, Value};
use super::units::Dimension;
use crate::scalar::Real;
use std::collections::HashMap;

/// A named number that can be set freely.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its name in the file.
    pub name: String,
    /// Its value in the file, SI.
    pub value: f64,
    /// What its units say.
    pub dimension: Dimension,
    /// Where it stands.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
enum Definition {
    Free(usize),
    Derived(Formula),
}

/// Parameters and everything derived from them, in an order in which each can be computed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Definitions {
    parameters: Vec<Parameter>,
    order: Vec<Definition>,
    names: HashMap<String, Meaning>,
}

impl Definitions {
    /// The free parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Every variable of the formulas for the given values of the free parameters.
    ///
    /// # Panics
    /// When there is not one value per free parameter.
    pub fn values<S: Real>(&self, free: &[S]) -> Vec<S> {
        assert_eq!(free.len(), self.parameters.len(), "one value per parameter");
        let mut values: Vec<S> = Vec::with_capacity(self.order.len());
        for definition in &self.order {
            let value = match definition {
                Definition::Free(i) => free[*i],
                Definition::Derived(formula) => formula.eval(&values),
            };
            values.push(value);
        }
        values
    }

    /// The values of the free parameters in the file.
    pub fn defaults(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.value).collect()
    }

    /// What a parameter name stands for.
    pub fn meaning(&self, name: &str) -> Option<Meaning> {
        self.names.get(name).copied()
    }

    /// Names of all parameters, free and derived.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// A new variable for a formula; constants need none.
    pub fn derive(&mut self, formula: Formula) -> Meaning {
        if formula.is_constant() {
            return Meaning::Constant(formula.value, formula.dimension);
        }
        let meaning = Meaning::Variable(self.order.len(), formula.value, formula.dimension);
        self.order.push(Definition::Derived(formula));
        meaning
    }

    /// Read `[parameters]`, with values set from outside in place of those of the file.
    pub fn read(table: Option<&Table>, set: &[(String, String)], faults: &mut Vec<Diagnostic>) -> Self {
        let entries = table.map_or(&[][..], |t| &t.entries);
        for (name, _) in set.iter().filter(|(n, _)| entries.iter().all(|e| e.key != *n)) {
            let nearest = nearest(name, entries.iter().map(|e| e.key.as_str()));
            faults.push(Diagnostic::new(Fault::UnknownParameter { name: name.clone(), nearest }, Span::default()));
        }
        let mut reading =
            ParameterReading { entries, set, done: Self::default(), open: Vec::new(), failed: Vec::new(), faults };
        for entry in entries {
            reading.resolve(entry);
        }
        reading.done
    }
}

/// Depth-first reading of parameters that may stand in any order.
struct ParameterReading<'a> {
    entries: &'a [Entry],
    set: &'a [(String, String)],
    done: Definitions,
    open: Vec<String>,
    failed: Vec<String>,
    faults: &'a mut Vec<Diagnostic>,
}

impl ParameterReading<'_> {
    fn resolve(&mut self, entry: &Entry) {
        let name = &entry.key;
        if self.done.names.contains_key(name) || self.failed.contains(name) {
            return;
        }
        if is_reserved(name) || !is_identifier(name) {
            let what = if is_reserved(name) {
                Fault::ReservedName { name: name.clone() }
            } else {
                Fault::BadName { name: name.clone(), reason: "expressions could not refer to it" }
            };
            return self.fail(entry, Diagnostic::new(what, entry.key_span));
        }
        if let Some(i) = self.open.iter().position(|n| n == name) {
            let mut names = self.open[i..].to_vec();
            names.push(name.clone());
            return self.fail(entry, Diagnostic::new(Fault::Cycle { names }, entry.key_span));
        }
        let text = self.set.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        let text = text.or_else(|| entry.item.as_text().map(str::to_owned));
        let formula = match (&text, &entry.item.value) {
            (Some(text), _) => {
                self.open.push(name.clone());
                for used in names_in(text) {
                    if let Some(e) = self.entries.iter().find(|e| e.key == used) {
                        self.resolve(e);
                    }
                }
                self.open.pop();
                if self.failed.contains(name) {
                    return; // part of a cycle that has been reported
                }
                Formula::parse(text, entry.item.span, &|n| self.done.meaning(n))
            }
            (None, Value::Integer(i)) => Ok(Formula::number(*i as f64, entry.item.span)),
            (None, Value::Float(x)) => Ok(Formula::number(*x, entry.item.span)),
            _ => return self.failed.push(name.clone()), // wrong type, reported by the grammar
        };
        match formula {
            Ok(f) => self.define(name, f),
            Err(faults) => {
                self.failed.push(name.clone());
                for (what, span) in faults {
                    let names: Vec<&str> = self.entries.iter().map(|e| e.key.as_str()).collect();
                    if let Some(d) = explain(what, span, &names, &self.failed) {
                        self.faults.push(d);
                    }
                }
            }
        }
    }

    fn define(&mut self, name: &str, formula: Formula) {
        let meaning = if formula.is_constant() {
            let (value, dimension, span) = (formula.value, formula.dimension, formula.span);
            self.done.order.push(Definition::Free(self.done.parameters.len()));
            self.done.parameters.push(Parameter { name: name.to_owned(), value, dimension, span });
            Meaning::Variable(self.done.order.len() - 1, value, dimension)
        } else {
            self.done.derive(formula)
        };
        self.done.names.insert(name.to_owned(), meaning);
    }

    fn fail(&mut self, entry: &Entry, fault: Diagnostic) {
        self.failed.push(entry.key.clone());
        self.failed.extend(self.open.iter().cloned());
        self.faults.push(fault);
    }
}

/// A fault of an expression with the nearest known name; nothing when it only follows from a fault already told.
pub(super) fn explain(what: Fault, span: Span, known: &[&str], failed: &[String]) -> Option<Diagnostic> {
    match what {
        Fault::UnknownName { name, .. } => {
            let told = failed.contains(&name);
            let nearest = nearest(&name, known.iter().copied());
            (!told).then(|| Diagnostic::new(Fault::UnknownName { name, nearest }, span))
        }
        other => Some(Diagnostic::new(other, span)),
    }
}

/// Whether an expression can refer to the name.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Every name in the text of an expression.
pub(super) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|n| is_identifier(n))
}

#[cfg(test)]
mod tests {
    use super::super::source::parse;
    use super::*;

    fn read(text: &str, set: &[(&str, &str)]) -> (Definitions, Vec<Diagnostic>) {
        let mut faults = Vec::new();
        let set: Vec<_> = set.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let d = Definitions::read(Some(&parse(text).0), &set, &mut faults);
        (d, faults)
    }

    #[test]
    fn parameters_may_stand_in_any_order() {
        let (d, faults) = read("b = '2*a'\na = '30 mm'\nc = 'a + b'\n", &[]);
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(d.parameters().len(), 1);
        let Some(Meaning::Variable(i, value, _)) = d.meaning("c") else { panic!("c is a variable") };
        assert!((value - 0.09).abs() < 1e-15);
        assert!((d.values(&[1.0])[i] - 3.0).abs() < 1e-15);
    }

    #[test]
    fn a_value_set_from_outside_replaces_a_derived_one() {
        let (d, faults) = read("a = 1\nb = '2*a'\n", &[("b", "50 mm")]);
        assert!(faults.is_empty());
        assert_eq!(d.parameters().iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!((d.parameters()[1].value - 0.05).abs() < 1e-15);
    }

    #[test]
    fn cycles_reserved_and_unknown_names_are_told_once() {
        let (_, faults) = read("a = 'b'\nb = 'c'\nc = 'a'\nd = '2*a'\nmm = 3\nlen = 1\ne = '2*lem'\n", &[("lan", "2")]);
        let codes: Vec<_> = faults.iter().map(|f| f.what.code()).collect();
        assert_eq!(codes, ["unknown-parameter", "cycle", "reserved-name", "unknown-name"], "{faults:?}");
        assert!(matches!(&faults[3].what, Fault::UnknownName { nearest: Some(n), .. } if n == "len"));
    }
}
