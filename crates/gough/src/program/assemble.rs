//! From a graph to steps: what is used once stays in the accumulator, what is used again goes to a register, numbers are
//! operands.

use super::steps::{Place, Step};
use crate::codegen::canon::Function;
use crate::codegen::graph::{Graph, Id, Node, Signed};
use crate::codegen::lower::Lowered;
use std::collections::HashMap;

/// A register before there are few of them.
type Virtual = usize;

/// Sines and cosines are computed without a table of π up to this angle.
const LARGEST_ANGLE: f64 = 1e4;

/// Steps on as many registers as there are results.
pub(super) struct Assembled {
    pub steps: Vec<Step<Virtual>>,
    pub numbers: Vec<f64>,
    /// The register of each input.
    pub inputs: Vec<Virtual>,
}

/// The steps of a graph; none when it is too large for them.
pub(super) fn assembled(lowered: &Lowered) -> Option<Assembled> {
    let graph = &lowered.graph;
    let inputs: usize = lowered.inputs.iter().map(|g| g.entries.len()).sum();
    let mut target: HashMap<Id, Vec<(usize, bool)>> = HashMap::new();
    for (j, out) in graph.outputs.iter().enumerate() {
        target.entry(out.node).or_default().push((j, out.minus));
    }
    let mut assembler = Assembler {
        graph,
        room: graph.room(),
        least: lowered.least.iter().copied().collect(),
        place: vec![None; graph.nodes.len()],
        turns: turns(graph),
        steps: Vec::new(),
        numbers: Vec::new(),
        known: HashMap::new(),
        registers: inputs,
        held: None,
    };
    for (id, node) in graph.nodes.iter().enumerate() {
        if let Node::Input(i) = node {
            assembler.place[id] = Some(*i as usize);
        }
    }
    let uses = graph.uses();
    for id in graph.order() {
        let targets = target.get(&id).map_or(&[][..], Vec::as_slice);
        let again = uses[id] > targets.len().max(1);
        if targets.is_empty() && (!again || graph.is_leaf(id)) {
            continue;
        }
        assembler.compute(id);
        if again && !graph.is_leaf(id) && assembler.place[id].is_none() {
            assembler.store(id);
        }
        for minus in [false, true] {
            let own: Vec<usize> = targets.iter().filter(|t| t.1 == minus).map(|t| t.0).collect();
            if minus && !own.is_empty() {
                assembler.push(Step::Neg);
            }
            for j in own {
                let step = if j < lowered.values { Step::Out(u16::try_from(j).ok()?) } else { Step::NotNegative };
                assembler.push(step);
            }
        }
    }
    let Assembler { steps, numbers, .. } = assembler;
    (numbers.len() < usize::from(Place::MAX)).then(|| Assembled { steps, numbers, inputs: (0..inputs).collect() })
}

/// For every angle the nodes that are its sine and its cosine.
fn turns(graph: &Graph) -> HashMap<Signed, [Option<Id>; 2]> {
    let mut found: HashMap<Signed, [Option<Id>; 2]> = HashMap::new();
    for (id, node) in graph.nodes.iter().enumerate() {
        match node {
            Node::Call(Function::Sin, of) => found.entry(of[0]).or_default()[0] = Some(id),
            Node::Call(Function::Cos, of) => found.entry(of[0]).or_default()[1] = Some(id),
            _ => {}
        }
    }
    found
}

/// A term of a sum whose parts are ready.
#[derive(Clone, Copy)]
enum Term {
    Number(f64),
    Plain(Virtual, bool),
    Pair(Virtual, Virtual, bool),
    Scaled(Virtual, f64),
}

impl Term {
    fn flipped(self) -> Self {
        match self {
            Term::Number(k) => Term::Number(-k),
            Term::Plain(r, minus) => Term::Plain(r, !minus),
            Term::Pair(r, s, minus) => Term::Pair(r, s, !minus),
            Term::Scaled(r, k) => Term::Scaled(r, -k),
        }
    }

    /// Whether it can begin a sum as it is.
    fn begins(&self) -> bool {
        !matches!(self, Term::Plain(_, true) | Term::Pair(_, _, true))
    }
}

struct Assembler<'a> {
    graph: &'a Graph,
    /// Results that wait while a node is computed.
    room: Vec<usize>,
    least: HashMap<Id, f64>,
    /// Where a node is kept.
    place: Vec<Option<Virtual>>,
    turns: HashMap<Signed, [Option<Id>; 2]>,
    steps: Vec<Step<Virtual>>,
    numbers: Vec<f64>,
    known: HashMap<u64, Place>,
    registers: usize,
    /// A register that the accumulator is equal to.
    held: Option<Virtual>,
}

impl Assembler<'_> {
    fn push(&mut self, step: Step<Virtual>) {
        if !step.keeps() {
            self.held = None;
        }
        self.steps.push(step);
    }

    fn number(&mut self, x: f64) -> Place {
        let next = Place::try_from(self.numbers.len()).unwrap_or(Place::MAX);
        let numbers = &mut self.numbers;
        *self.known.entry(x.to_bits()).or_insert_with(|| {
            numbers.push(x);
            next
        })
    }

    fn value(&self, id: Id) -> Option<f64> {
        match self.graph.nodes[id] {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Whether a node must be computed before it is an operand.
    fn is_open(&self, id: Id) -> bool {
        self.place[id].is_none() && !self.graph.is_number(id)
    }

    fn fresh(&mut self) -> Virtual {
        self.registers += 1;
        self.registers - 1
    }

    /// Keep the accumulator in a register.
    fn keep(&mut self) -> Virtual {
        let r = self.fresh();
        self.push(Step::Store(r));
        self.held = Some(r);
        r
    }

    fn store(&mut self, id: Id) {
        self.place[id] = Some(self.keep());
    }

    /// A register with the node.
    fn register(&mut self, id: Id) -> Virtual {
        if self.place[id].is_none() {
            self.compute(id);
            self.store(id);
        }
        self.place[id].unwrap_or_default()
    }

    /// A register with the node or its opposite.
    fn signed(&mut self, of: Signed) -> Virtual {
        if !of.minus {
            return self.register(of.node);
        }
        self.compute(of.node);
        self.push(Step::Neg);
        self.keep()
    }

    fn load(&mut self, r: Virtual) {
        if self.held != Some(r) {
            self.push(Step::Load(r));
            self.held = Some(r);
        }
    }

    fn times(&mut self, r: Virtual, s: Virtual) {
        if self.held == Some(r) {
            self.push(Step::Mul(s));
        } else if self.held == Some(s) {
            self.push(Step::Mul(r));
        } else {
            self.push(Step::Times(r, s));
        }
    }

    fn times_number(&mut self, r: Virtual, k: f64) {
        let place = self.number(k);
        self.push(if self.held == Some(r) { Step::MulNumber(place) } else { Step::TimesNumber(r, place) });
    }

    /// The node in the accumulator.
    fn compute(&mut self, id: Id) {
        if let Some(r) = self.place[id] {
            return self.load(r);
        }
        let graph = self.graph;
        match &graph.nodes[id] {
            Node::Input(_) => {}
            Node::Number(bits) => {
                let k = self.number(f64::from_bits(*bits));
                self.push(Step::Set(k));
            }
            Node::Sum(terms) => self.sum(terms),
            Node::Product(factors) => self.product(factors),
            Node::Reciprocal(x) => {
                self.compute(*x);
                if let Some(least) = self.least.get(x).copied() {
                    let k = self.number(least);
                    self.push(Step::AtLeast(k));
                }
                self.push(Step::Reciprocal);
            }
            Node::Call(f, args) => self.call(id, *f, args),
        }
    }

    fn call(&mut self, id: Id, f: Function, args: &[Signed]) {
        let others: Vec<Virtual> = args.iter().skip(1).map(|a| self.signed(*a)).collect();
        self.compute(args[0].node);
        if args[0].minus {
            self.push(Step::Neg);
        }
        match f {
            Function::Sqrt => self.push(Step::Sqrt),
            Function::Exp => self.push(Step::Exp),
            Function::Sign => self.push(Step::Sign),
            Function::Atan2 => self.push(Step::Atan2(others[0])),
            Function::Select => self.push(Step::Select(others[0], others[1])),
            Function::Sin | Function::Cos => {
                let k = self.number(LARGEST_ANGLE);
                self.push(Step::AtMost(k));
                let [sin, cos] = [self.fresh(), self.fresh()];
                self.push(Step::SinCos(sin, cos));
                let pair = self.turns.get(&args[0]).copied().unwrap_or_default();
                pair.into_iter().zip([sin, cos]).for_each(|(node, r)| {
                    if let Some(node) = node {
                        self.place[node] = Some(r);
                    }
                });
                self.load(self.place[id].unwrap_or(sin));
            }
        }
    }

    /// The operand of a sum or product that is computed last, so that it stays in the accumulator: of those that are open,
    /// the one that takes most room.
    fn spine(&self, operands: impl Iterator<Item = Id>) -> Option<usize> {
        let open = operands.enumerate().filter(|(_, id)| self.is_open(*id) && !self.is_pair(*id));
        open.max_by_key(|(i, id)| (self.room[*id], usize::MAX - i)).map(|(i, _)| i)
    }

    /// Whether a node is a product that an addition takes along.
    fn is_pair(&self, id: Id) -> bool {
        matches!(&self.graph.nodes[id], Node::Product(f) if f.len() == 2 && !f.iter().any(|x| self.is_open(*x)))
    }

    fn product(&mut self, factors: &[Id]) {
        let k: f64 = factors.iter().filter_map(|f| self.value(*f)).product();
        let rest: Vec<Id> = factors.iter().copied().filter(|f| !self.graph.is_number(*f)).collect();
        self.product_of(&rest, k);
    }

    fn product_of(&mut self, rest: &[Id], k: f64) {
        let open = rest.iter().enumerate().filter(|(_, id)| self.is_open(**id));
        let spine = open.max_by_key(|(i, id)| (self.room[**id], usize::MAX - i)).map(|(i, _)| i);
        let mut others = self.registers_of(rest, spine);
        match spine {
            Some(at) => self.compute(rest[at]),
            None if others.len() > 1 => {
                let (r, s) = (others[0], others[1]);
                self.times(r, s);
                others.drain(..2);
            }
            None => match others.pop() {
                Some(r) if k != 1.0 => return self.times_number(r, k),
                Some(r) => self.load(r),
                None => {
                    let k = self.number(k);
                    return self.push(Step::Set(k));
                }
            },
        }
        others.into_iter().for_each(|r| self.push(Step::Mul(r)));
        if k != 1.0 {
            let k = self.number(k);
            self.push(Step::MulNumber(k));
        }
    }

    /// Registers of all nodes but one; those that take most room first.
    fn registers_of(&mut self, nodes: &[Id], but: Option<usize>) -> Vec<Virtual> {
        let mut list: Vec<Id> = nodes.iter().enumerate().filter(|(i, _)| Some(*i) != but).map(|(_, id)| *id).collect();
        list.sort_by_key(|id| (usize::MAX - self.room[*id], *id));
        list.into_iter().map(|id| self.register(id)).collect()
    }

    fn sum(&mut self, terms: &[Signed]) {
        let spine = self.spine(terms.iter().map(|t| t.node));
        let mut others: Vec<Signed> =
            terms.iter().enumerate().filter(|(i, _)| Some(*i) != spine).map(|(_, t)| *t).collect();
        others.sort_by_key(|t| (usize::MAX - self.room[t.node], t.node));
        let mut ready: Vec<Term> = others.into_iter().map(|t| self.term(t)).collect();
        match spine.map(|at| terms[at]) {
            Some(Signed { node, minus }) => {
                self.compute(node);
                if minus {
                    self.subtract_from(ready);
                } else {
                    ready.into_iter().for_each(|t| self.add(t));
                }
            }
            None => {
                let held = |t: &Term| matches!(t, Term::Plain(r, false) if Some(*r) == self.held);
                let first = ready.iter().position(held).or_else(|| ready.iter().position(Term::begins));
                let all_minus = first.is_none();
                let first = ready.swap_remove(first.unwrap_or(0));
                self.begin(if all_minus { first.flipped() } else { first });
                ready.into_iter().for_each(|t| self.add(if all_minus { t.flipped() } else { t }));
                if all_minus {
                    self.push(Step::Neg);
                }
            }
        }
    }

    /// The sum of terms less the accumulator.
    fn subtract_from(&mut self, mut ready: Vec<Term>) {
        if let Some(first) = ready.iter().position(Term::begins) {
            let step = match ready.swap_remove(first) {
                Term::Number(k) => Step::FromNumber(self.number(k)),
                Term::Plain(r, _) => Step::From(r),
                Term::Pair(r, s, _) => Step::FromTimes(r, s),
                Term::Scaled(r, k) => Step::FromTimesNumber(r, self.number(k)),
            };
            self.push(step);
            ready.into_iter().for_each(|t| self.add(t));
        } else {
            ready.into_iter().for_each(|t| self.add(t.flipped()));
            self.push(Step::Neg);
        }
    }

    fn term(&mut self, Signed { node, minus }: Signed) -> Term {
        let sign = if minus { -1.0 } else { 1.0 };
        if let Some(k) = self.value(node) {
            return Term::Number(sign * k);
        }
        let graph = self.graph;
        let Node::Product(factors) = &graph.nodes[node] else { return Term::Plain(self.register(node), minus) };
        if self.place[node].is_some() {
            return Term::Plain(self.register(node), minus);
        }
        let k: f64 = factors.iter().filter_map(|f| self.value(*f)).product();
        let mut rest: Vec<Id> = factors.iter().copied().filter(|f| !graph.is_number(*f)).collect();
        // What is ready waits for the addition.
        rest.sort_by_key(|f| !self.is_open(*f));
        match rest.as_slice() {
            [one] => Term::Scaled(self.register(*one), sign * k),
            [one, other] if k == 1.0 => {
                let list = self.registers_of(&[*one, *other], None);
                Term::Pair(list[0], list[1], minus)
            }
            [first @ .., last] => {
                let last_open = self.is_open(*last).then(|| self.register(*last));
                self.product_of(first, k);
                let r = self.keep();
                let s = last_open.unwrap_or_else(|| self.register(*last));
                Term::Pair(r, s, minus)
            }
            [] => Term::Number(sign * k),
        }
    }

    fn begin(&mut self, term: Term) {
        match term {
            Term::Number(k) => {
                let k = self.number(k);
                self.push(Step::Set(k));
            }
            Term::Plain(r, _) => self.load(r),
            Term::Pair(r, s, _) => self.times(r, s),
            Term::Scaled(r, k) => self.times_number(r, k),
        }
    }

    fn add(&mut self, term: Term) {
        let step = match term {
            Term::Number(k) => Step::AddNumber(self.number(k)),
            Term::Plain(r, false) => Step::Add(r),
            Term::Plain(r, true) => Step::Sub(r),
            Term::Pair(r, s, false) => Step::AddTimes(r, s),
            Term::Pair(r, s, true) => Step::SubTimes(r, s),
            Term::Scaled(r, k) => Step::AddTimesNumber(r, self.number(k)),
        };
        self.push(step);
    }
}
