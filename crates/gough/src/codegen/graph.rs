//! The graph that code is written from: sums with signs, products, reciprocals, functions.

use super::canon::{Canon, CanonNode, CanonValue, Function, NodeIndex};
use crate::scalar::{Expr, Program, Real, trace};
use std::collections::HashMap;

/// A node, or its opposite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Signed {
    pub node: NodeIndex,
    pub minus: bool,
}

/// What a node computes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum GraphNode {
    Input(u32),
    /// Bits of a positive number.
    Number(u64),
    Sum(Vec<Signed>),
    Product(Vec<NodeIndex>),
    Reciprocal(NodeIndex),
    Call(Function, Vec<Signed>),
}

/// Operations by the usual rules: subtractions are additions, divisions and squares are multiplications, a change of sign
/// is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Additions and subtractions.
    pub add: usize,
    /// Multiplications and divisions.
    pub mul: usize,
    /// Square roots.
    pub sqrt: usize,
    /// Sines, cosines, arc tangents and exponentials.
    pub trig: usize,
    /// Intermediate variables: results with at least one operation that are outputs or used more than once.
    pub variables: usize,
}

impl Count {
    /// Additions and multiplications together.
    pub fn operations(&self) -> usize {
        self.add + self.mul
    }
}

/// A program as a graph. Operands may stand anywhere; [`Graph::order`] sorts them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<GraphNode>,
    ids: HashMap<GraphNode, NodeIndex>,
    pub outputs: Vec<Signed>,
}

impl Graph {
    /// From the canonical form.
    pub fn new(canon: &Canon) -> Self {
        let mut graph = Self::default();
        let mut map: Vec<NodeIndex> = Vec::with_capacity(canon.nodes.len());
        for node in &canon.nodes {
            let id = match node {
                CanonNode::Input(i) => graph.intern(GraphNode::Input(*i)),
                CanonNode::Sum(terms) => {
                    let terms = terms.iter().map(|(n, bits)| graph.scaled(f64::from_bits(*bits), n.map(|n| map[n])));
                    let terms: Vec<Signed> = terms.collect();
                    graph.sum(terms)
                }
                CanonNode::Product(powers) => {
                    let powers: Vec<(NodeIndex, i32)> = powers.iter().map(|(n, e)| (map[*n], *e)).collect();
                    graph.powers(&powers)
                }
                CanonNode::Call(f, args) => {
                    let args = args.iter().map(|(n, bits)| graph.scaled(f64::from_bits(*bits), n.map(|n| map[n])));
                    let node = GraphNode::Call(*f, args.collect());
                    graph.intern(node)
                }
            };
            map.push(id);
        }
        let outputs =
            canon.outputs.iter().map(|CanonValue { factor, node }| graph.scaled(*factor, node.map(|n| map[n])));
        graph.outputs = outputs.collect();
        graph
    }

    pub fn intern(&mut self, node: GraphNode) -> NodeIndex {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        self.nodes.push(node.clone());
        self.ids.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The graph with nodes that have become equal merged, numbers put together, and without those that nothing needs.
    pub fn merged(&self) -> Self {
        let mut new = Self::default();
        let mut map = vec![Signed { node: 0, minus: false }; self.nodes.len()];
        for id in self.sorted() {
            let at = |v: &Signed| Signed { node: map[v.node].node, minus: v.minus != map[v.node].minus };
            map[id] = match &self.nodes[id] {
                GraphNode::Sum(terms) => new.folded_sum(&terms.iter().map(at).collect::<Vec<_>>()),
                GraphNode::Product(factors) => {
                    let minus = factors.iter().filter(|f| map[**f].minus).count() % 2 == 1;
                    let node = new.folded_product(factors.iter().map(|f| map[*f].node));
                    Signed { node, minus }
                }
                GraphNode::Reciprocal(x) => Signed { node: new.intern(GraphNode::Reciprocal(map[*x].node)), ..map[*x] },
                GraphNode::Call(f, args) => {
                    let node = GraphNode::Call(*f, args.iter().map(at).collect());
                    Signed { node: new.intern(node), minus: false }
                }
                leaf => Signed { node: new.intern(leaf.clone()), minus: false },
            };
        }
        let at = |v: &Signed| Signed { node: map[v.node].node, minus: v.minus != map[v.node].minus };
        new.outputs = self.outputs.iter().map(at).collect();
        new
    }

    /// A number, if a node is one.
    fn value(&self, id: NodeIndex) -> Option<f64> {
        match self.nodes[id] {
            GraphNode::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// A sum whose numbers are one number.
    fn folded_sum(&mut self, terms: &[Signed]) -> Signed {
        let number = |v: &Signed| self.value(v.node).map(|x| if v.minus { -x } else { x });
        let numbers: Vec<f64> = terms.iter().filter_map(number).collect();
        let mut rest: Vec<Signed> = terms.iter().filter(|v| number(v).is_none()).copied().collect();
        let total: f64 = numbers.iter().sum();
        if !numbers.is_empty() && (total != 0.0 || rest.is_empty()) {
            rest.push(Signed { node: self.number(total), minus: total < 0.0 });
        }
        if let [one] = rest[..] { one } else { Signed { node: self.sum(rest), minus: false } }
    }

    /// A product whose numbers are one number.
    fn folded_product(&mut self, factors: impl Iterator<Item = NodeIndex>) -> NodeIndex {
        let (numbers, mut rest): (Vec<NodeIndex>, Vec<NodeIndex>) = factors.partition(|f| self.value(*f).is_some());
        let total: f64 = numbers.iter().filter_map(|f| self.value(*f)).product();
        if total != 1.0 || rest.is_empty() {
            rest.push(self.number(total));
        }
        if let [one] = rest[..] { one } else { self.product(rest) }
    }

    /// Give a node another way to compute the same.
    pub fn replace(&mut self, id: NodeIndex, node: GraphNode) {
        self.ids.remove(&self.nodes[id]);
        self.ids.entry(node.clone()).or_insert(id);
        self.nodes[id] = node;
    }

    pub fn number(&mut self, x: f64) -> NodeIndex {
        self.intern(GraphNode::Number(x.abs().to_bits()))
    }

    /// `factor · node`, opening a product.
    fn scaled(&mut self, factor: f64, node: Option<NodeIndex>) -> Signed {
        let minus = factor < 0.0;
        let Some(node) = node else { return Signed { node: self.number(factor), minus } };
        if factor.abs() == 1.0 {
            return Signed { node, minus };
        }
        let k = self.number(factor);
        Signed { node: self.product(vec![k, node]), minus }
    }

    /// Product of nodes; order does not matter.
    pub fn product(&mut self, mut factors: Vec<NodeIndex>) -> NodeIndex {
        factors.sort_unstable();
        if factors.len() == 1 { factors[0] } else { self.intern(GraphNode::Product(factors)) }
    }

    /// Sum of signed nodes; order does not matter.
    pub fn sum(&mut self, mut terms: Vec<Signed>) -> NodeIndex {
        terms.sort_unstable();
        self.intern(GraphNode::Sum(terms))
    }

    /// Product of powers; all denominators under one bar, unless one has a bar of its own already.
    fn powers(&mut self, powers: &[(NodeIndex, i32)]) -> NodeIndex {
        let repeated = |positive: bool| {
            let list = powers.iter().filter(move |p| (p.1 > 0) == positive);
            list.flat_map(|(id, e)| std::iter::repeat_n(*id, e.unsigned_abs() as usize)).collect::<Vec<NodeIndex>>()
        };
        let mut factors = repeated(true);
        for id in repeated(false) {
            let reciprocal = self.intern(GraphNode::Reciprocal(id));
            factors.push(reciprocal);
        }
        self.product(factors)
    }

    pub fn operands(&self, id: NodeIndex) -> Vec<NodeIndex> {
        match &self.nodes[id] {
            GraphNode::Input(_) | GraphNode::Number(_) => Vec::new(),
            GraphNode::Sum(terms) | GraphNode::Call(_, terms) => terms.iter().map(|t| t.node).collect(),
            GraphNode::Product(factors) => factors.clone(),
            GraphNode::Reciprocal(x) => vec![*x],
        }
    }

    /// How often each node is used, outputs included; zero for what no output needs.
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        let mut open: Vec<NodeIndex> = Vec::new();
        let mut used = |id: NodeIndex, open: &mut Vec<NodeIndex>| {
            uses[id] += 1;
            if uses[id] == 1 {
                open.push(id);
            }
        };
        self.outputs.iter().for_each(|v| used(v.node, &mut open));
        while let Some(id) = open.pop() {
            self.operands(id).into_iter().for_each(|i| used(i, &mut open));
        }
        uses
    }

    pub fn is_number(&self, id: NodeIndex) -> bool {
        matches!(self.nodes[id], GraphNode::Number(_))
    }

    /// The square root of a number, when it is exact and there already.
    pub fn root_of(&self, id: NodeIndex) -> Option<NodeIndex> {
        let root = self.value(id)?.sqrt();
        let exact = Some(root * root) == self.value(id);
        self.ids.get(&GraphNode::Number(root.to_bits())).copied().filter(|_| exact)
    }

    /// Whether a node is a leaf: an input or a number.
    pub fn is_leaf(&self, id: NodeIndex) -> bool {
        matches!(self.nodes[id], GraphNode::Input(_) | GraphNode::Number(_))
    }

    /// Whether a reciprocal is written as a division: nothing else uses it.
    pub fn is_division(&self, id: NodeIndex, uses: &[usize]) -> bool {
        matches!(self.nodes[id], GraphNode::Reciprocal(_)) && uses[id] == 1
    }

    /// Operations that the outputs need.
    pub fn count(&self) -> Count {
        let uses = self.uses();
        let mut given = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|v| given[v.node] = true);
        let mut count = Count::default();
        for (id, node) in self.nodes.iter().enumerate().filter(|(id, _)| uses[*id] > 0) {
            match node {
                GraphNode::Input(_) | GraphNode::Number(_) | GraphNode::Call(Function::Sign | Function::Select, _) => {
                    continue;
                }
                GraphNode::Sum(terms) => count.add += terms.len() - 1,
                GraphNode::Product(factors) => {
                    // One division by a reciprocal of its own costs as much as the product it replaces.
                    let divisions = factors.iter().filter(|f| self.is_division(**f, &uses)).count();
                    count.mul += factors.len() - 1;
                    count.mul -= divisions.min(factors.len() - 1);
                }
                GraphNode::Reciprocal(_) => count.mul += 1,
                GraphNode::Call(Function::Sqrt, _) => count.sqrt += 1,
                GraphNode::Call(..) => count.trig += 1,
            }
            count.variables += usize::from(given[id] || uses[id] > 1);
        }
        count
    }

    /// Needed nodes, operands first: from each output down, what needs most room first, so that few results wait.
    pub fn order(&self) -> Vec<NodeIndex> {
        let room = self.room();
        let mut order = Vec::new();
        let mut state = vec![0_u8; self.nodes.len()];
        let mut stack: Vec<(NodeIndex, bool)> = self.outputs.iter().rev().map(|v| (v.node, false)).collect();
        while let Some((id, done)) = stack.pop() {
            if done {
                order.push(id);
                continue;
            }
            if state[id] > 0 {
                continue;
            }
            state[id] = 1;
            stack.push((id, true));
            let mut operands = self.operands(id);
            // The last pushed is visited first.
            operands.sort_by_key(|i| (room[*i], *i));
            operands.dedup();
            stack.extend(operands.into_iter().map(|i| (i, false)));
        }
        order
    }

    /// Results that wait while a node is computed, as if nothing were shared (Sethi and Ullman).
    pub fn room(&self) -> Vec<usize> {
        let mut room = vec![0; self.nodes.len()];
        for id in self.sorted() {
            let mut needs: Vec<usize> = self.operands(id).into_iter().map(|i| room[i]).collect();
            needs.sort_unstable_by(|a, b| b.cmp(a));
            room[id] =
                needs.iter().enumerate().map(|(k, n)| n + k).max().unwrap_or(0).max(usize::from(!self.is_leaf(id)));
        }
        room
    }

    /// Needed nodes, operands first.
    pub fn sorted(&self) -> Vec<NodeIndex> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        let mut stack: Vec<(NodeIndex, bool)> = self.outputs.iter().rev().map(|v| (v.node, false)).collect();
        while let Some((id, done)) = stack.pop() {
            if done {
                order.push(id);
            } else if !seen[id] {
                seen[id] = true;
                stack.push((id, true));
                stack.extend(self.operands(id).into_iter().rev().map(|i| (i, false)));
            }
        }
        order
    }

    /// Outputs for the given inputs.
    #[cfg(test)]
    pub fn eval(&self, inputs: &[f64]) -> Vec<f64> {
        let results = self.results(inputs);
        self.outputs.iter().map(|v| if v.minus { -results[v.node] } else { results[v.node] }).collect()
    }

    /// The graph as a straight-line program of inputs that are called so.
    pub fn program(&self, inputs: &[String]) -> Program {
        trace(inputs, |x| {
            let mut results = vec![Expr::Num(0.0); self.nodes.len()];
            for id in self.order() {
                let at = |v: &Signed| if v.minus { -results[v.node] } else { results[v.node] };
                results[id] = match &self.nodes[id] {
                    GraphNode::Input(i) => x[*i as usize],
                    GraphNode::Number(bits) => Expr::Num(f64::from_bits(*bits)),
                    GraphNode::Sum(terms) => {
                        let (plus, minus): (Vec<&Signed>, Vec<&Signed>) = terms.iter().partition(|t| !t.minus);
                        let sum = plus.iter().fold(Expr::Num(0.0), |sum, t| sum + results[t.node]);
                        minus.iter().fold(sum, |sum, t| sum - results[t.node])
                    }
                    GraphNode::Product(factors) => factors.iter().fold(Expr::Num(1.0), |p, f| p * results[*f]),
                    GraphNode::Reciprocal(x) => results[*x].recip(),
                    GraphNode::Call(f, args) => f.on_symbols(&args.iter().map(at).collect::<Vec<Expr>>()),
                };
            }
            self.outputs.iter().map(|v| if v.minus { -results[v.node] } else { results[v.node] }).collect()
        })
    }

    /// Results of all nodes that are needed for the given inputs; of the others zero.
    pub fn results(&self, inputs: &[f64]) -> Vec<f64> {
        self.rounded(inputs, |x| x)
    }

    /// Results where every number is rounded.
    pub fn rounded(&self, inputs: &[f64], round: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut results = vec![0.0; self.nodes.len()];
        for id in self.sorted() {
            let at = |v: &Signed| if v.minus { -results[v.node] } else { results[v.node] };
            results[id] = round(match &self.nodes[id] {
                GraphNode::Input(i) => inputs[*i as usize],
                GraphNode::Number(bits) => f64::from_bits(*bits),
                GraphNode::Sum(terms) => terms.iter().map(at).fold(0.0, |sum, x| round(sum + x)),
                GraphNode::Product(factors) => factors.iter().fold(1.0, |product, f| round(product * results[*f])),
                GraphNode::Reciprocal(x) => 1.0 / results[*x],
                GraphNode::Call(f, args) => f.on(&args.iter().map(at).collect::<Vec<f64>>()),
            });
        }
        results
    }
}
