//! From a graph to operations: sums take the products along that nothing else uses, numbers are operands.

use super::ops::{Instruction, NumberPlace, Opcode};
use crate::codegen::canon::{Function, NodeIndex};
use crate::codegen::graph::{Graph, GraphNode, Signed};
use crate::codegen::lower::Lowered;
use std::collections::HashMap;

/// A register before there are few of them; each is written once.
pub(super) type Virtual = usize;

/// Sines and cosines are computed without a table of π up to this angle.
const LARGEST_ANGLE: f64 = 1e4;

/// Operations on as many registers as there are results, in an order in which they can be done.
pub(super) struct Assembled {
    pub ops: Vec<Instruction<Virtual>>,
    pub numbers: Vec<f64>,
    /// How many inputs there are: they are in the first registers.
    pub inputs: usize,
    /// Registers of the outputs.
    pub outputs: Vec<Virtual>,
    /// How many registers there are.
    pub registers: usize,
}

/// The operations of a graph; none when it has more numbers than can be told apart.
pub(super) fn assembled(lowered: &Lowered) -> Option<Assembled> {
    let graph = &lowered.graph;
    let inputs: usize = lowered.inputs.iter().map(|g| g.entries.len()).sum();
    let mut assembler = Assembler {
        graph,
        room: graph.room(),
        least: lowered.least.iter().copied().collect(),
        place: vec![None; graph.nodes.len()],
        turns: turns(graph),
        ops: Vec::new(),
        numbers: Vec::new(),
        known: HashMap::new(),
        registers: inputs,
    };
    for (id, node) in graph.nodes.iter().enumerate() {
        if let GraphNode::Input(i) = node {
            assembler.place[id] = Some(*i as usize);
        }
    }
    let uses = graph.uses();
    for id in graph.order() {
        if uses[id] > 1 && !graph.is_leaf(id) {
            assembler.register(id);
        }
    }
    let (values, conditions) = graph.outputs.split_at(lowered.values);
    for condition in conditions {
        let r = assembler.register(condition.node);
        assembler.push(if condition.minus { Opcode::NotPositive } else { Opcode::NotNegative }, &[r], &[]);
    }
    let outputs = values.iter().map(|v| assembler.signed(*v)).collect();
    let Assembler { ops, numbers, registers, .. } = assembler;
    (numbers.len() < usize::from(NumberPlace::MAX)).then_some(Assembled { ops, numbers, inputs, outputs, registers })
}

/// For every angle the nodes that are its sine and its cosine.
fn turns(graph: &Graph) -> HashMap<Signed, [Option<NodeIndex>; 2]> {
    let mut found: HashMap<Signed, [Option<NodeIndex>; 2]> = HashMap::new();
    for (id, node) in graph.nodes.iter().enumerate() {
        match node {
            GraphNode::Call(Function::Sin, of) => found.entry(of[0]).or_default()[0] = Some(id),
            GraphNode::Call(Function::Cos, of) => found.entry(of[0]).or_default()[1] = Some(id),
            _ => {}
        }
    }
    found
}

/// Terms of a sum, their parts ready: those that are added and those that are subtracted.
#[derive(Default)]
struct Terms {
    plain: [Vec<Virtual>; 2],
    pairs: [Vec<[Virtual; 2]>; 2],
    scaled: Vec<(Virtual, f64)>,
    number: f64,
}

impl Terms {
    fn flip(&mut self) {
        self.plain.swap(0, 1);
        self.pairs.swap(0, 1);
        self.scaled.iter_mut().for_each(|t| t.1 = -t.1);
        self.number = -self.number;
    }

    /// Whether nothing is added.
    fn is_negative(&self) -> bool {
        self.plain[0].is_empty() && self.pairs[0].is_empty() && self.scaled.is_empty() && self.number == 0.0
    }
}

struct Assembler<'a> {
    graph: &'a Graph,
    /// Results that wait while a node is computed.
    room: Vec<usize>,
    least: HashMap<NodeIndex, f64>,
    /// Where a node is kept.
    place: Vec<Option<Virtual>>,
    turns: HashMap<Signed, [Option<NodeIndex>; 2]>,
    ops: Vec<Instruction<Virtual>>,
    numbers: Vec<f64>,
    known: HashMap<u64, NumberPlace>,
    registers: usize,
}

impl Assembler<'_> {
    /// An operation; the first register that it writes.
    fn push(&mut self, kind: Opcode, from: &[Virtual], numbers: &[f64]) -> Virtual {
        let first = self.registers;
        self.registers += kind.writes();
        let mut op = Instruction { kind, from: [0; 5], numbers: [0; 2], to: [first, first + 1] };
        op.from[..from.len()].copy_from_slice(from);
        for (place, x) in op.numbers.iter_mut().zip(numbers) {
            *place = self.number(*x);
        }
        self.ops.push(op);
        first
    }

    fn number(&mut self, x: f64) -> NumberPlace {
        let next = NumberPlace::try_from(self.numbers.len()).unwrap_or(NumberPlace::MAX);
        let numbers = &mut self.numbers;
        *self.known.entry(x.to_bits()).or_insert_with(|| {
            numbers.push(x);
            next
        })
    }

    fn value(&self, id: NodeIndex) -> Option<f64> {
        match self.graph.nodes[id] {
            GraphNode::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// A register with the node.
    fn register(&mut self, id: NodeIndex) -> Virtual {
        if let Some(r) = self.place[id] {
            return r;
        }
        let graph = self.graph;
        let r = match &graph.nodes[id] {
            GraphNode::Input(i) => *i as usize,
            GraphNode::Number(bits) => self.push(Opcode::Set, &[], &[f64::from_bits(*bits)]),
            GraphNode::Sum(terms) => self.sum(terms),
            GraphNode::Product(factors) => {
                let (k, rest) = self.factors(factors);
                self.product(&rest, k)
            }
            GraphNode::Reciprocal(x) => {
                let r = self.register(*x);
                let least = self.least.get(x).copied().unwrap_or(0.0);
                self.push(Opcode::Reciprocal, &[r], &[least])
            }
            GraphNode::Call(f, args) => self.call(id, *f, args),
        };
        self.place[id] = Some(r);
        r
    }

    /// A register with the node or its opposite.
    fn signed(&mut self, of: Signed) -> Virtual {
        let r = self.register(of.node);
        if of.minus { self.push(Opcode::Neg, &[r], &[]) } else { r }
    }

    /// Registers of nodes; those that take most room are computed first.
    fn registers(&mut self, nodes: &[NodeIndex]) -> Vec<Virtual> {
        let mut order: Vec<NodeIndex> = nodes.to_vec();
        order.sort_by_key(|id| (usize::MAX - self.room[*id], *id));
        order.into_iter().for_each(|id| {
            self.register(id);
        });
        nodes.iter().map(|id| self.register(*id)).collect()
    }

    fn call(&mut self, id: NodeIndex, f: Function, args: &[Signed]) -> Virtual {
        let from: Vec<Virtual> = args.iter().map(|a| self.signed(*a)).collect();
        let kind = match f {
            Function::Sqrt => Opcode::Sqrt,
            Function::Exp => Opcode::Exp,
            Function::Sign => Opcode::Sign,
            Function::Atan2 => Opcode::Atan2,
            Function::Select => Opcode::Select,
            Function::Sin | Function::Cos => {
                let r = self.push(Opcode::SinCos, &from, &[LARGEST_ANGLE]);
                let pair = self.turns.get(&args[0]).copied().unwrap_or_default();
                for (node, r) in pair.into_iter().zip([r, r + 1]) {
                    node.into_iter().for_each(|node| self.place[node] = Some(r));
                }
                return self.place[id].unwrap_or(r);
            }
        };
        self.push(kind, &from, &[])
    }

    /// The number among factors, and the others.
    fn factors(&self, factors: &[NodeIndex]) -> (f64, Vec<NodeIndex>) {
        let k = factors.iter().filter_map(|f| self.value(*f)).product();
        (k, factors.iter().copied().filter(|f| !self.graph.is_number(*f)).collect())
    }

    fn product(&mut self, rest: &[NodeIndex], k: f64) -> Virtual {
        let list = self.registers(rest);
        let (mut r, rest) = match list[..] {
            [] => return self.push(Opcode::Set, &[], &[k]),
            [r] if k == 1.0 => (r, &[][..]),
            [r] => (self.push(Opcode::MulNumber, &[r], &[k]), &[][..]),
            [r, s, ref rest @ ..] if k != 1.0 => (self.push(Opcode::MulsNumber, &[r, s], &[k]), rest),
            [r, ref rest @ ..] => (r, rest),
        };
        for two in rest.chunks(2) {
            r = match *two {
                [s, t] => self.push(Opcode::Mul3, &[r, s, t], &[]),
                _ => self.push(Opcode::Mul, &[r, two[0]], &[]),
            };
        }
        r
    }

    fn sum(&mut self, terms: &[Signed]) -> Virtual {
        let mut order = terms.to_vec();
        order.sort_by_key(|t| (usize::MAX - self.room[t.node], t.node));
        let mut ready = Terms::default();
        order.into_iter().for_each(|t| self.take(t, &mut ready));
        if ready.is_negative() {
            ready.flip();
            let r = self.total(ready);
            return self.push(Opcode::Neg, &[r], &[]);
        }
        self.total(ready)
    }

    /// Take a term: its parts become ready.
    fn take(&mut self, Signed { node, minus }: Signed, ready: &mut Terms) {
        let (side, sign) = if minus { (1, -1.0) } else { (0, 1.0) };
        if let Some(k) = self.value(node) {
            ready.number += sign * k;
            return;
        }
        let graph = self.graph;
        let Some(factors) = (match &graph.nodes[node] {
            GraphNode::Product(factors) if self.place[node].is_none() => Some(factors),
            _ => None,
        }) else {
            let r = self.register(node);
            return ready.plain[side].push(r);
        };
        let (k, rest) = self.factors(factors);
        match rest[..] {
            [one] => {
                let r = self.register(one);
                ready.scaled.push((r, sign * k));
            }
            [one, other] if k == 1.0 => {
                let list = self.registers(&[one, other]);
                ready.pairs[side].push([list[0], list[1]]);
            }
            [ref first @ .., last] => {
                let s = self.register(last);
                let r = self.product(first, k);
                ready.pairs[side].push([r, s]);
            }
            [] => ready.number += sign * k,
        }
    }

    /// The sum of terms of which one at least is added.
    fn total(&mut self, mut ready: Terms) -> Virtual {
        let mut sum = self.begun(&mut ready);
        let [plus, minus] = ready.pairs;
        let both = plus.len().min(minus.len());
        for ([r, s], [t, u]) in plus.iter().zip(&minus) {
            sum = self.push(Opcode::DetAdd, &[*r, *s, *t, *u, sum], &[]);
        }
        let rest = [(&plus[both..], Opcode::DotAdd, Opcode::Fma), (&minus[both..], Opcode::DotFrom, Opcode::Fnma)];
        for (list, two_at_once, one) in rest {
            for two in list.chunks(2) {
                sum = match *two {
                    [[r, s], [t, u]] => self.push(two_at_once, &[r, s, t, u, sum], &[]),
                    _ => self.push(one, &[two[0][0], two[0][1], sum], &[]),
                };
            }
        }
        for two in ready.scaled.chunks(2) {
            sum = match *two {
                [(r, k), (s, l)] => self.push(Opcode::LinAdd, &[r, s, sum], &[k, l]),
                _ => self.push(Opcode::FmaNumber, &[two[0].0, sum], &[two[0].1]),
            };
        }
        let [plus, minus] = ready.plain;
        sum = plus.into_iter().fold(sum, |sum, r| self.push(Opcode::Add, &[sum, r], &[]));
        sum = minus.into_iter().fold(sum, |sum, r| self.push(Opcode::Sub, &[sum, r], &[]));
        if ready.number == 0.0 { sum } else { self.push(Opcode::AddNumber, &[sum], &[ready.number]) }
    }

    /// A first part of a sum; what is in it is taken out of the terms.
    fn begun(&mut self, terms: &mut Terms) -> Virtual {
        let Terms { plain: [plus, minus], pairs: [pairs, less], scaled, number } = terms;
        if let Some(r) = plus.pop() {
            return match minus.pop() {
                Some(s) => self.push(Opcode::Sub, &[r, s], &[]),
                None => r,
            };
        }
        if let Some([r, s]) = pairs.pop() {
            if let Some(t) = minus.pop() {
                return self.push(Opcode::Fms, &[r, s, t], &[]);
            }
            if let Some([t, u]) = less.pop() {
                return self.push(Opcode::Det, &[r, s, t, u], &[]);
            }
            return match pairs.pop() {
                Some([t, u]) => self.push(Opcode::Dot, &[r, s, t, u], &[]),
                None => self.push(Opcode::Mul, &[r, s], &[]),
            };
        }
        if let Some((r, k)) = scaled.pop() {
            if let Some(s) = minus.pop() {
                return self.push(Opcode::FmsNumber, &[r, s], &[k]);
            }
            if let Some((s, l)) = scaled.pop() {
                return self.push(Opcode::Lin, &[r, s], &[k, l]);
            }
            let l = std::mem::take(number);
            return self.push(Opcode::Affine, &[r], &[k, l]);
        }
        let k = std::mem::take(number);
        match minus.pop() {
            Some(r) => self.push(Opcode::FromNumber, &[r], &[k]),
            None => self.push(Opcode::Set, &[], &[k]),
        }
    }
}
