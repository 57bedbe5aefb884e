//! Canonical form of a traced program: sums of multiples, products of powers.
//!
//! Every value is a number times a node. Signs and constants are pulled out of products and functions, equal terms are
//! collected, powers cancel, and equal nodes are one node, also when they differ by a sign.

use crate::scalar::{Arg, Expr, Op, Program, Real};
use std::collections::{BTreeSet, HashMap};

/// Number of a node.
pub(crate) type NodeIndex = usize;

/// Functions of one or more values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Function {
    Sqrt,
    Sin,
    Cos,
    Atan2,
    Exp,
    Sign,
    Select,
}

/// `factor · node`, or the number `factor`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CanonValue {
    pub factor: f64,
    pub node: Option<NodeIndex>,
}

/// A multiple that can be hashed.
type Multiple = (Option<NodeIndex>, u64);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CanonNode {
    Input(u32),
    /// Multiples of nodes, and of one where the node is missing; the first multiple is positive.
    Sum(Vec<Multiple>),
    /// Powers.
    Product(Vec<(NodeIndex, i32)>),
    Call(Function, Vec<Multiple>),
}

/// A program in canonical form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canon {
    pub nodes: Vec<CanonNode>,
    ids: HashMap<CanonNode, NodeIndex>,
    /// Numbers met so far, by their bits: those that differ by rounding alone are one number.
    numbers: BTreeSet<u64>,
    rules: Rules,
    pub outputs: Vec<CanonValue>,
}

/// Rules that pay for some programs and not for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rules {
    /// Sums inside sums are opened wherever that leaves fewer terms, whoever else uses them.
    pub opens: bool,
    /// Sums are opened one level at a time, and into products too, wherever constants cancel.
    pub cancels: bool,
    /// The first term of a sum has no factor, so that multiples of a sum are multiples of the same sum.
    pub monic: Monic,
}

/// Which sums begin with a term that has no factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Monic {
    /// Those that do.
    #[default]
    AsTheyAre,
    /// All in which no term is without a factor.
    All,
    /// Those of [`Monic::All`] that have no constant: `k x - c` costs no more than `x - c/k`.
    WithoutConstant,
}

impl Rules {
    /// Every choice; the first of equally good ones is taken.
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = [Monic::AsTheyAre, Monic::All, Monic::WithoutConstant];
        let choice = move |k: usize| Self { opens: k & 1 == 0, cancels: k & 2 != 0, monic: kinds[k / 4] };
        (0..12).map(choice)
    }
}

/// Units in the last place within which two constants are one.
const SAME: u64 = 8;

impl CanonValue {
    fn number(x: f64) -> Self {
        Self { factor: x, node: None }
    }

    fn times(self, k: f64) -> Self {
        if k == 0.0 || self.factor == 0.0 { Self::number(0.0) } else { Self { factor: self.factor * k, ..self } }
    }

    fn multiple(self) -> Multiple {
        (self.node, self.factor.to_bits())
    }
}

fn value((node, bits): Multiple) -> CanonValue {
    CanonValue { factor: f64::from_bits(bits), node }
}

/// A sum of numbers that cancels but for rounding is zero.
fn sum_of(a: f64, b: f64) -> f64 {
    let s = a + b;
    if s.abs() <= 4.0 * f64::EPSILON * a.abs().max(b.abs()) { 0.0 } else { s }
}

impl Canon {
    /// From a traced program.
    pub fn new(program: &Program, rules: Rules) -> Self {
        let mut canon = Self { rules, ..Self::default() };
        let mut values: Vec<CanonValue> = Vec::with_capacity(program.nodes.len());
        let at = |arg: Arg, values: &[CanonValue]| match arg {
            Arg::Num(bits) => CanonValue::number(f64::from_bits(bits)),
            Arg::Node(id) => values[id as usize],
        };
        for op in &program.nodes {
            let args: Vec<CanonValue> = op.args().map(|a| at(a, &values)).collect();
            let found = match op {
                Op::Input(i) => canon.plain(CanonNode::Input(*i)),
                Op::Neg(_) => args[0].times(-1.0),
                Op::Add(..) => canon.sum(&args),
                Op::Sub(..) => canon.sum(&[args[0], args[1].times(-1.0)]),
                Op::Mul(..) => canon.product(&[(args[0], 1), (args[1], 1)]),
                Op::Div(..) => canon.product(&[(args[0], 1), (args[1], -1)]),
                Op::Sqrt(_) => canon.call(Function::Sqrt, &args),
                Op::Sin(_) => canon.call(Function::Sin, &args),
                Op::Cos(_) => canon.call(Function::Cos, &args),
                Op::Atan2(..) => canon.call(Function::Atan2, &args),
                Op::Exp(_) => canon.call(Function::Exp, &args),
                Op::Sign(_) => canon.call(Function::Sign, &args),
                Op::Select(..) => canon.call(Function::Select, &args),
            };
            values.push(found);
        }
        canon.outputs = program.outputs.iter().map(|a| at(*a, &values)).collect();
        canon
    }

    fn intern(&mut self, node: CanonNode) -> NodeIndex {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        self.nodes.push(node.clone());
        self.ids.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The number, or one met before that differs from it by rounding alone.
    fn settled(&mut self, x: f64) -> f64 {
        // A number of few digits was meant when it is next to it.
        let short: f64 = format!("{:.11e}", x.abs()).parse().unwrap_or(x.abs());
        let bits = if short.to_bits().abs_diff(x.abs().to_bits()) <= 4 { short } else { x.abs() }.to_bits();
        if self.numbers.is_empty() {
            self.numbers.extend([0.5_f64, 1.0, 2.0].map(f64::to_bits));
        }
        let near = self.numbers.range(bits.saturating_sub(SAME)..=bits.saturating_add(SAME)).next().copied();
        if near.is_none() {
            self.numbers.insert(bits);
        }
        f64::from_bits(near.unwrap_or(bits)).copysign(x)
    }

    fn plain(&mut self, node: CanonNode) -> CanonValue {
        CanonValue { factor: 1.0, node: Some(self.intern(node)) }
    }

    /// Sum of values: equal terms collected, the first positive, a common factor taken out.
    fn sum(&mut self, values: &[CanonValue]) -> CanonValue {
        let mut terms: Vec<(Option<NodeIndex>, f64)> = Vec::with_capacity(values.len());
        values.iter().for_each(|v| add(&mut terms, v.node, v.factor));
        terms.retain(|t| t.1 != 0.0);
        if self.rules.cancels {
            self.cancel_constants(&mut terms);
        }
        if self.rules.opens
            && let Some(fewer) = self.opened(&terms)
        {
            terms = fewer;
        }
        for t in &mut terms {
            t.1 = self.settled(t.1);
        }
        terms.sort_by_key(|t| t.0.map_or(usize::MAX, |id| id));
        self.whole_squares(&mut terms);
        match terms.as_slice() {
            [] => CanonValue::number(0.0),
            [(node, factor)] => CanonValue { factor: *factor, node: *node },
            [first, rest @ ..] => {
                let common = rest.iter().all(|t| t.1.abs() == first.1.abs());
                let scale = if common || self.is_monic(&terms) { first.1 } else { first.1.signum() };
                let terms = terms.iter().map(|(n, k)| (*n, self.settled(k / scale).to_bits())).collect();
                self.plain(CanonNode::Sum(terms)).times(scale)
            }
        }
    }

    /// Whether the factor of the first of these terms is taken out of their sum.
    fn is_monic(&self, terms: &[(Option<NodeIndex>, f64)]) -> bool {
        let plain = terms.iter().any(|t| t.0.is_some() && t.1.abs() == 1.0);
        match self.rules.monic {
            Monic::AsTheyAre => false,
            Monic::All => !plain,
            Monic::WithoutConstant => !plain && terms.iter().all(|t| t.0.is_some()),
        }
    }

    /// The terms with all sums inside opened, when that leaves fewer.
    fn opened(&self, terms: &[(Option<NodeIndex>, f64)]) -> Option<Vec<(Option<NodeIndex>, f64)>> {
        let mut open = terms.to_vec();
        let mut plain: Vec<(Option<NodeIndex>, f64)> = Vec::new();
        let mut steps = 0;
        while let Some((node, k)) = open.pop() {
            steps += 1;
            if steps > 60 {
                return None;
            }
            match node.map(|id| &self.nodes[id]) {
                Some(CanonNode::Sum(inner)) => open.extend(inner.iter().map(|(n, x)| (*n, k * f64::from_bits(*x)))),
                _ => add(&mut plain, node, k),
            }
        }
        plain.retain(|t| t.1 != 0.0);
        (plain.len() < terms.len() || (plain.len() == 2 && terms.len() == 2 && plain != terms)).then_some(plain)
    }

    /// `(a + c) - c = a`, and `k p (a + c) - k c p = k p a`.
    fn cancel_constants(&mut self, terms: &mut Vec<(Option<NodeIndex>, f64)>) {
        while let Some(fewer) = self.opened_once(terms).or_else(|| self.opened_in_product(terms)) {
            *terms = fewer;
        }
    }

    /// The terms with one of the sums among them opened, when that leaves fewer.
    fn opened_once(&self, terms: &[(Option<NodeIndex>, f64)]) -> Option<Vec<(Option<NodeIndex>, f64)>> {
        terms.iter().enumerate().find_map(|(i, (node, k))| {
            let CanonNode::Sum(inner) = &self.nodes[(*node)?] else { return None };
            let mut list = terms.to_vec();
            list.remove(i);
            inner.iter().for_each(|(n, x)| add(&mut list, *n, k * f64::from_bits(*x)));
            list.retain(|t| t.1 != 0.0);
            (list.len() < terms.len()).then_some(list)
        })
    }

    /// The terms without one that cancels against the constant of a sum in another.
    fn opened_in_product(&mut self, terms: &[(Option<NodeIndex>, f64)]) -> Option<Vec<(Option<NodeIndex>, f64)>> {
        let (i, j, rest, open) = (0..terms.len()).find_map(|i| {
            let CanonNode::Product(powers) = &self.nodes[terms[i].0?] else { return None };
            powers.iter().filter(|p| p.1 == 1).find_map(|(sum, _)| {
                let CanonNode::Sum(inner) = &self.nodes[*sum] else { return None };
                let c = inner.iter().find(|m| m.0.is_none()).map(|m| f64::from_bits(m.1))?;
                let rest: Vec<(NodeIndex, i32)> = powers.iter().filter(|p| p.0 != *sum).copied().collect();
                let other = match rest.as_slice() {
                    [(id, 1)] => *id,
                    _ => *self.ids.get(&CanonNode::Product(rest.clone()))?,
                };
                let cancels = |t: &(Option<NodeIndex>, f64)| t.0 == Some(other) && sum_of(t.1, terms[i].1 * c) == 0.0;
                let j = terms.iter().position(cancels)?;
                let open: Vec<CanonValue> = inner.iter().filter(|m| m.0.is_some()).map(|m| value(*m)).collect();
                Some((i, j, rest, open))
            })
        })?;
        let mut powers: Vec<(CanonValue, i32)> =
            rest.into_iter().map(|(id, e)| (CanonValue { factor: 1.0, node: Some(id) }, e)).collect();
        powers.push((self.sum(&open), 1));
        let product = self.product(&powers).times(terms[i].1);
        let mut list: Vec<(Option<NodeIndex>, f64)> =
            terms.iter().enumerate().filter(|(k, _)| *k != i && *k != j).map(|(_, t)| *t).collect();
        add(&mut list, product.node, product.factor);
        list.retain(|t| t.1 != 0.0);
        Some(list)
    }

    /// `k sin² + k cos² = k`.
    fn whole_squares(&mut self, terms: &mut Vec<(Option<NodeIndex>, f64)>) {
        let square = |t: &(Option<NodeIndex>, f64)| match t.0.map(|id| &self.nodes[id]) {
            Some(CanonNode::Product(p)) if p.len() == 1 && p[0].1 == 2 => match &self.nodes[p[0].0] {
                CanonNode::Call(f @ (Function::Sin | Function::Cos), args) => Some((*f, args[0])),
                _ => None,
            },
            _ => None,
        };
        let found = (0..terms.len()).find_map(|i| {
            let (f, of) = square(&terms[i])?;
            let pair = |j: &usize| square(&terms[*j]).is_some_and(|(g, other)| g != f && other == of);
            let j = (i + 1..terms.len()).find(pair)?;
            (terms[i].1 == terms[j].1).then_some((i, j))
        });
        if let Some((i, j)) = found {
            let k = terms[i].1;
            terms.remove(j);
            terms.remove(i);
            match terms.iter_mut().find(|t| t.0.is_none()) {
                Some(t) => t.1 = sum_of(t.1, k),
                None => terms.push((None, k)),
            }
            terms.retain(|t| t.1 != 0.0);
            self.whole_squares(terms);
        }
    }

    /// Product of powers of values. A product inside is opened where powers cancel.
    fn product(&mut self, values: &[(CanonValue, i32)]) -> CanonValue {
        let mut factor = 1.0;
        let mut powers: Vec<(NodeIndex, i32)> = Vec::new();
        for (v, e) in values {
            factor *= v.factor.powi(*e);
            let Some(id) = v.node else { continue };
            let opened = match &self.nodes[id] {
                CanonNode::Product(inner) => {
                    let cancels = |(i, k): &(NodeIndex, i32)| powers.iter().any(|p| p.0 == *i && p.1 * k * e < 0);
                    inner.iter().any(cancels) || inner.len() == 1
                }
                _ => false,
            };
            if opened && let CanonNode::Product(inner) = self.nodes[id].clone() {
                inner.iter().for_each(|(i, k)| multiply(&mut powers, *i, k * e));
            } else {
                // The other way round: this node cancels a power inside an earlier product.
                let inside = powers.iter().position(|p| match &self.nodes[p.0] {
                    CanonNode::Product(inner) => p.1.abs() == 1 && inner.iter().any(|q| q.0 == id && q.1 * p.1 * e < 0),
                    _ => false,
                });
                if let Some(at) = inside
                    && let CanonNode::Product(inner) = self.nodes[powers[at].0].clone()
                {
                    let (_, outer) = powers.remove(at);
                    inner.iter().for_each(|(i, k)| multiply(&mut powers, *i, k * outer));
                }
                multiply(&mut powers, id, *e);
            }
        }
        self.roots(&mut powers, &mut factor);
        powers.retain(|p| p.1 != 0);
        powers.sort_unstable();
        if factor == 0.0 {
            return CanonValue::number(0.0);
        }
        let factor = self.settled(factor);
        match powers.as_slice() {
            [] => CanonValue::number(factor),
            [(id, 1)] => CanonValue { factor, node: Some(*id) },
            _ => self.plain(CanonNode::Product(powers)).times(factor),
        }
    }

    /// `√x² = x`, `√x/x = 1/√x`, `x/√x = √x`.
    fn roots(&self, powers: &mut Vec<(NodeIndex, i32)>, factor: &mut f64) {
        for k in 0..powers.len() {
            let (root, e) = powers[k];
            let CanonNode::Call(Function::Sqrt, args) = &self.nodes[root] else { continue };
            let CanonValue { factor: inner, node: Some(inside) } = value(args[0]) else { continue };
            let own = powers.iter().find(|p| p.0 == inside).map_or(0, |p| p.1);
            // Squares of the root that become powers of what is inside.
            let squares = match (e > 0, own) {
                (true, own) if own < 0 => ((e + 1) / 2).min(-own).max(e / 2),
                (true, _) => e / 2,
                (false, own) if own > 0 => -((1 - e) / 2).min(own),
                _ => 0,
            };
            if squares != 0 {
                powers[k].1 -= 2 * squares;
                *factor *= inner.powi(squares);
                multiply(powers, inside, squares);
            }
        }
    }

    fn call(&mut self, f: Function, args: &[CanonValue]) -> CanonValue {
        let negative = args[0].factor < 0.0;
        let numbers: Option<Vec<f64>> = args.iter().map(|a| a.node.is_none().then_some(a.factor)).collect();
        if let Some(x) = numbers {
            return CanonValue::number(f.on(&x));
        }
        let flipped = || {
            let mut list = args.to_vec();
            list[0] = list[0].times(-1.0);
            list
        };
        if let Some(known) = self.of_a_sum(f, args[0]) {
            return known;
        }
        match f {
            Function::Sin | Function::Sign if negative => self.call(f, &flipped()).times(-1.0),
            Function::Cos if negative => self.call(f, &flipped()),
            Function::Sign => {
                let unit = CanonValue { factor: 1.0, ..args[0] };
                self.plain(CanonNode::Call(f, vec![unit.multiple()]))
            }
            _ => self.plain(CanonNode::Call(f, args.iter().map(|a| a.multiple()).collect())),
        }
    }

    /// Sine or cosine of a sum of two angles, one of which may be constant, whose own sines and cosines are there already:
    /// four products take less time than a call.
    fn of_a_sum(&mut self, f: Function, arg: CanonValue) -> Option<CanonValue> {
        let CanonNode::Sum(terms) = &self.nodes[arg.node?] else { return None };
        let (&[a, b], true) = (terms.as_slice(), matches!(f, Function::Sin | Function::Cos)) else { return None };
        let [a, b] = [a, b].map(|m| value(m).times(arg.factor));
        let pairs = [self.pair(a)?, self.pair(b)?];
        let [(sin_a, cos_a), (sin_b, cos_b)] = pairs;
        let terms = match f {
            Function::Sin => [(sin_a, cos_b, 1.0), (cos_a, sin_b, 1.0)],
            _ => [(cos_a, cos_b, 1.0), (sin_a, sin_b, -1.0)],
        };
        let products = terms.map(|(x, y, sign)| self.product(&[(x, 1), (y, 1)]).times(sign));
        Some(self.sum(&products))
    }

    /// Sine and cosine of an angle, when both are known.
    fn pair(&self, angle: CanonValue) -> Option<(CanonValue, CanonValue)> {
        if angle.node.is_none() {
            let (sin, cos) = angle.factor.sin_cos();
            return Some((CanonValue::number(sin), CanonValue::number(cos)));
        }
        let known = |f: Function| {
            let args = vec![angle.times(angle.factor.signum()).multiple()];
            self.ids.get(&CanonNode::Call(f, args)).map(|id| CanonValue { factor: 1.0, node: Some(*id) })
        };
        Some((known(Function::Sin)?.times(angle.factor.signum()), known(Function::Cos)?))
    }

    /// How often each node is used, outputs included; zero for what no output needs.
    fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        self.outputs.iter().filter_map(|v| v.node).for_each(|id| uses[id] += 1);
        for id in (0..self.nodes.len()).rev() {
            if uses[id] > 0 {
                self.operands(id).for_each(|i| uses[i] += 1);
            }
        }
        uses
    }

    pub fn operands(&self, id: NodeIndex) -> Box<dyn Iterator<Item = NodeIndex> + '_> {
        match &self.nodes[id] {
            CanonNode::Input(_) => Box::new(std::iter::empty()),
            CanonNode::Sum(terms) | CanonNode::Call(_, terms) => Box::new(terms.iter().filter_map(|t| t.0)),
            CanonNode::Product(powers) => Box::new(powers.iter().map(|p| p.0)),
        }
    }

    /// The expression with sums inside sums and products inside products opened where nothing else uses them, and without what
    /// no output needs.
    pub fn flattened(&self) -> Self {
        let uses = self.uses();
        let mut new = Self { rules: self.rules, ..Self::default() };
        let mut map: Vec<CanonValue> = Vec::with_capacity(self.nodes.len());
        for (id, node) in self.nodes.iter().enumerate() {
            if uses[id] == 0 {
                map.push(CanonValue::number(0.0));
                continue;
            }
            let renamed = |m: &Multiple, map: &[CanonValue]| {
                let v = value(*m);
                v.node.map_or(v, |n| map[n].times(v.factor))
            };
            let found = match node {
                CanonNode::Input(i) => new.plain(CanonNode::Input(*i)),
                CanonNode::Sum(terms) => {
                    let mut list = Vec::new();
                    for t in terms {
                        let v = renamed(t, &map);
                        match (t.0, v.node.map(|n| &new.nodes[n])) {
                            (Some(old), Some(CanonNode::Sum(inner))) if uses[old] == 1 => {
                                list.extend(inner.iter().map(|m| value(*m).times(v.factor)));
                            }
                            _ => list.push(v),
                        }
                    }
                    new.sum(&list)
                }
                CanonNode::Product(powers) => {
                    let mut list = Vec::new();
                    for (old, e) in powers {
                        let v = map[*old];
                        match v.node.map(|n| &new.nodes[n]) {
                            Some(CanonNode::Product(inner)) if uses[*old] == 1 => {
                                list.push((CanonValue::number(v.factor), *e));
                                list.extend(
                                    inner.iter().map(|(i, k)| (CanonValue { factor: 1.0, node: Some(*i) }, k * e)),
                                );
                            }
                            _ => list.push((v, *e)),
                        }
                    }
                    new.product(&list)
                }
                CanonNode::Call(f, args) => {
                    let args: Vec<CanonValue> = args.iter().map(|m| renamed(m, &map)).collect();
                    new.call(*f, &args)
                }
            };
            map.push(found);
        }
        new.outputs = self.outputs.iter().map(|v| v.node.map_or(*v, |n| map[n].times(v.factor))).collect();
        new
    }
}

fn add(terms: &mut Vec<(Option<NodeIndex>, f64)>, node: Option<NodeIndex>, k: f64) {
    match terms.iter_mut().find(|t| t.0 == node) {
        Some(t) => t.1 = sum_of(t.1, k),
        None => terms.push((node, k)),
    }
}

fn multiply(powers: &mut Vec<(NodeIndex, i32)>, id: NodeIndex, e: i32) {
    match powers.iter_mut().find(|p| p.0 == id) {
        Some(p) => p.1 += e,
        None => powers.push((id, e)),
    }
}

impl Function {
    /// The function of symbols.
    pub fn on_symbols(self, x: &[Expr]) -> Expr {
        match self {
            Function::Sqrt => x[0].sqrt(),
            Function::Sin => x[0].sin_cos().0,
            Function::Cos => x[0].sin_cos().1,
            Function::Atan2 => x[0].atan2(x[1]),
            Function::Exp => x[0].exp(),
            Function::Sign => x[0].sign(),
            Function::Select => x[0].where_nonneg(x[1], x[2]),
        }
    }

    /// The function of numbers.
    pub fn on(self, x: &[f64]) -> f64 {
        match self {
            Function::Sqrt => f64::sqrt(x[0]),
            Function::Sin => f64::sin(x[0]),
            Function::Cos => f64::cos(x[0]),
            Function::Atan2 => f64::atan2(x[0], x[1]),
            Function::Exp => f64::exp(x[0]),
            Function::Sign => Real::sign(x[0]),
            Function::Select => Real::where_nonneg(x[0], x[1], x[2]),
        }
    }
}
