//! Source code in several languages from one graph.

mod c;
mod cuda;
mod four;
mod listing;
mod matlab;
mod python;
mod rust;

use super::graph::Graph;
use super::{File, Group, Language, Precision};

/// A function to be written.
pub(super) struct CodeFunction<'a> {
    pub name: String,
    pub inputs: Vec<Group>,
    pub outputs: Vec<Group>,
    pub graph: &'a Graph,
    /// Size of the system that a routine solves: the graph then has scales, matrix and right-hand side in place of the first
    /// output.
    pub system: Option<usize>,
    /// First lines of every file.
    pub about: Vec<String>,
    /// Inputs and outputs at some states.
    pub vectors: Vec<(Vec<f64>, Vec<f64>)>,
    /// Largest difference of a test, relative to a number or to one.
    pub tolerance: f64,
    /// Numbers that the code computes with.
    pub precision: Precision,
}

/// The files of a unit.
pub(super) fn files(language: Language, unit: &CodeFunction<'_>) -> Vec<File> {
    match language {
        Language::C => c::files(unit, c::Width::One),
        Language::C4 => c::files(unit, c::Width::Four),
        Language::Rust => rust::files(unit),
        Language::Python => python::files(unit),
        Language::Matlab => matlab::files(unit),
        Language::Cuda => cuda::files(unit),
    }
}

impl CodeFunction<'_> {
    /// Group and place in it of input k.
    fn input(&self, k: usize) -> (&Group, usize) {
        let mut first = 0;
        for group in &self.inputs {
            if k < first + group.entries.len() {
                return (group, k - first);
            }
            first += group.entries.len();
        }
        unreachable!("inputs of the graph are those of the unit")
    }

    /// What each output of the graph is: its group and place, or a name of the system that a routine solves.
    fn targets(&self, place: impl Fn(&str, usize) -> String) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        let mut groups = self.outputs.iter();
        if let Some(n) = self.system {
            groups.next();
            for (name, count) in [("scale", n), ("matrix", n * n), ("right", n)] {
                list.extend((0..count).map(|k| place(name, k)));
            }
        }
        list.extend(groups.flat_map(|g| (0..g.entries.len()).map(|k| place(&g.name, k)).collect::<Vec<_>>()));
        list
    }

    /// One line per group: name, what it holds, entries.
    fn signature(&self) -> Vec<String> {
        let line = |g: &Group, way: &str| {
            format!("{way} {}[{}]: {}: {}", g.name, g.entries.len(), g.about, g.entries.join(", "))
        };
        let inputs = self.inputs.iter().map(|g| line(g, "in "));
        inputs.chain(self.outputs.iter().map(|g| line(g, "out"))).collect()
    }

    /// Comment at the head of a file; `encode` is that of the language.
    fn comment(&self, mark: &str, encode: fn(&str) -> String) -> String {
        let lines = self.about.iter().cloned().chain(self.signature());
        lines.flat_map(|l| wrapped(&encode(&l), 116 - mark.len())).map(|l| format!("{mark} {l}\n")).collect()
    }

    /// Inputs or outputs of a state, group by group.
    fn by_group<'g>(groups: &'g [Group], values: &[f64]) -> Vec<(&'g Group, Vec<f64>)> {
        let mut rest = values;
        let mut list = Vec::new();
        for group in groups {
            let (own, later) = rest.split_at(group.entries.len());
            list.push((group, own.to_vec()));
            rest = later;
        }
        list
    }
}

/// Rows and columns of the entries of a matrix, from zero, where a group has such entries: `M8_13`.
fn matrix_places(group: &Group) -> Option<Vec<[usize; 2]>> {
    let place = |entry: &String| {
        let (row, column) = entry.strip_prefix(&group.name)?.split_once('_')?;
        Some([row.parse::<usize>().ok()?.checked_sub(1)?, column.parse::<usize>().ok()?.checked_sub(1)?])
    };
    group.entries.iter().map(place).collect::<Option<Vec<_>>>().filter(|list| !list.is_empty())
}

/// Text in lines of at most `width` characters, broken at spaces; later lines are indented by two more spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.trim().is_empty() && line.len() + 1 + word.len() > width {
            lines.push(std::mem::take(&mut line));
            line.push_str("   ");
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// An assignment in lines, later ones indented.
fn assignment(indent: &str, text: &str, end: &str) -> String {
    let lines = wrapped(text, 112);
    let last = lines.len() - 1;
    lines.iter().enumerate().map(|(i, l)| format!("{indent}{l}{}\n", if i < last { end } else { "" })).collect()
}

/// Numbers separated by commas, with all their digits.
fn numbers(list: &[f64]) -> String {
    list.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
}
