//! A graph as assignments: one per variable, then one per output, in the syntax of a language.

use crate::codegen::canon::{Function, NodeIndex};
use crate::codegen::graph::{Graph, GraphNode, Signed};
use std::collections::HashMap;

/// How a language writes numbers, inputs and functions.
pub(super) trait Syntax {
    /// A number that is not negative.
    fn number(&self, x: f64) -> String {
        format!("{x:?}")
    }
    /// The name of an input.
    fn input(&self, k: usize) -> String;
    /// A call.
    fn call(&self, f: Function, args: &[String]) -> String;
}

/// The assignments of a program.
pub(super) struct Listing {
    /// Name and expression of each variable, in order.
    pub variables: Vec<(String, String)>,
    /// Variables, inputs or numbers that are the outputs, and whether they are numbers.
    pub outputs: Vec<(String, bool)>,
}

/// How strongly an expression holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    Sum,
    Product,
    Atom,
}

struct ListingWriter<'a> {
    graph: &'a Graph,
    uses: Vec<usize>,
    names: HashMap<NodeIndex, String>,
    syntax: &'a dyn Syntax,
}

/// Write a graph down.
pub(super) fn listing(graph: &Graph, syntax: &dyn Syntax) -> Listing {
    let mut writer = ListingWriter { graph, uses: graph.uses(), names: HashMap::new(), syntax };
    let mut variables = Vec::new();
    for id in graph.order() {
        // Outputs are computed before any of them is written: they may overlap the inputs.
        let output = graph.outputs.iter().any(|v| v.node == id);
        if (output || writer.uses[id] > 1) && !graph.is_leaf(id) {
            let name = format!("t{}", variables.len() + 1);
            variables.push((name.clone(), writer.expression(id).0));
            writer.names.insert(id, name);
        }
    }
    let number = |v: &Signed| matches!(graph.nodes[v.node], GraphNode::Number(_));
    let outputs = graph.outputs.iter().map(|v| (writer.signed(*v, Holds::Sum), number(v))).collect();
    Listing { variables, outputs }
}

impl ListingWriter<'_> {
    /// A node where something that holds as strongly as `inside` is expected.
    fn at(&self, id: NodeIndex, inside: Holds) -> String {
        let (text, holds) = match self.names.get(&id) {
            Some(name) => (name.clone(), Holds::Atom),
            None => self.expression(id),
        };
        if holds < inside { format!("({text})") } else { text }
    }

    fn signed(&self, v: Signed, inside: Holds) -> String {
        if v.minus { format!("-{}", self.at(v.node, Holds::Product)) } else { self.at(v.node, inside) }
    }

    fn expression(&self, id: NodeIndex) -> (String, Holds) {
        match &self.graph.nodes[id] {
            GraphNode::Input(k) => (self.syntax.input(*k as usize), Holds::Atom),
            GraphNode::Number(bits) => (self.syntax.number(f64::from_bits(*bits)), Holds::Atom),
            GraphNode::Sum(terms) => (self.sum(terms), Holds::Sum),
            GraphNode::Product(factors) => (self.product(factors), Holds::Product),
            GraphNode::Reciprocal(x) => {
                (format!("{}/{}", self.syntax.number(1.0), self.at(*x, Holds::Atom)), Holds::Product)
            }
            GraphNode::Call(f, args) => {
                let args: Vec<String> = args.iter().map(|v| self.signed(*v, Holds::Sum)).collect();
                (self.syntax.call(*f, &args), Holds::Atom)
            }
        }
    }

    /// Positive terms first.
    fn sum(&self, terms: &[Signed]) -> String {
        let mut terms = terms.to_vec();
        terms.sort_by_key(|t| t.minus);
        let mut out = self.signed(terms[0], Holds::Sum);
        for t in &terms[1..] {
            let (sign, inside) = if t.minus { (" - ", Holds::Product) } else { (" + ", Holds::Sum) };
            out += sign;
            out += &self.at(t.node, inside);
        }
        out
    }

    fn product(&self, factors: &[NodeIndex]) -> String {
        let division = |f: &&NodeIndex| self.graph.is_division(**f, &self.uses);
        let mut above: Vec<String> = factors.iter().filter(|f| !division(f)).map(|f| self.factor(*f)).collect();
        let below: Vec<String> = factors
            .iter()
            .filter(division)
            .map(|f| match self.graph.nodes[*f] {
                GraphNode::Reciprocal(x) => self.at(x, Holds::Atom),
                _ => self.at(*f, Holds::Atom),
            })
            .collect();
        if above.is_empty() {
            above.push(self.syntax.number(1.0));
        }
        let above = above.join("*");
        match below.as_slice() {
            [] => above,
            [one] => format!("{above}/{one}"),
            many => format!("{above}/({})", many.join("*")),
        }
    }

    /// A factor keeps its own brackets when it divides, so that the order of operations is the one counted.
    fn factor(&self, id: NodeIndex) -> String {
        let divides = !self.names.contains_key(&id) && matches!(self.graph.nodes[id], GraphNode::Reciprocal(_));
        self.at(id, if divides { Holds::Atom } else { Holds::Product })
    }
}
