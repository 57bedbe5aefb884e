//! Fewer operations: common factors of sums, and pairs of terms or factors that several nodes have in common.

use super::canon::NodeIndex;
use super::graph::{Graph, GraphNode, Signed};
use super::pairs::Pairs;
use std::collections::BTreeMap;

/// Factor and share until nothing is gained.
pub(super) fn share(graph: &mut Graph, factor_first: bool) {
    loop {
        let mut next = graph.merged();
        if factor_first {
            open(&mut next);
            factor(&mut next);
        }
        share_products(&mut next);
        share_sums(&mut next);
        if !factor_first {
            open(&mut next);
            factor(&mut next);
        }
        let next = next.merged();
        if next.count().operations() >= graph.count().operations() {
            break;
        }
        *graph = next;
    }
}

/// A sum of three terms or more with two of them as one.
fn with_pair(list: &[Signed], (a, b, differ): (NodeIndex, NodeIndex, bool), pair: NodeIndex) -> Option<Vec<Signed>> {
    let i = list.iter().position(|t| t.node == a)?;
    let j = list.iter().position(|t| t.node == b).filter(|j| *j != i)?;
    if list.len() < 3 || (list[i].minus != list[j].minus) != differ {
        return None;
    }
    let mut shared: Vec<Signed> =
        list.iter().enumerate().filter(|(k, _)| *k != i && *k != j).map(|(_, t)| *t).collect();
    shared.push(Signed { node: pair, minus: list[i].minus });
    shared.sort_unstable();
    Some(shared)
}

/// Open sums inside sums and products inside products where nothing else uses them.
fn open(graph: &mut Graph) {
    let uses = graph.uses();
    for id in graph.sorted() {
        match &graph.nodes[id] {
            GraphNode::Sum(terms) => {
                let mut list: Vec<Signed> = Vec::new();
                for t in terms {
                    match &graph.nodes[t.node] {
                        GraphNode::Sum(inner) if uses[t.node] == 1 => {
                            list.extend(inner.iter().map(|i| Signed { node: i.node, minus: i.minus != t.minus }));
                        }
                        _ => list.push(*t),
                    }
                }
                list.sort_unstable();
                if list.len() > terms.len() {
                    graph.replace(id, GraphNode::Sum(list));
                }
            }
            GraphNode::Product(factors) => {
                let mut list: Vec<NodeIndex> = Vec::new();
                for f in factors {
                    match &graph.nodes[*f] {
                        GraphNode::Product(inner) if uses[*f] == 1 => list.extend(inner),
                        _ => list.push(*f),
                    }
                }
                list.sort_unstable();
                if list.len() > factors.len() {
                    graph.replace(id, GraphNode::Product(list));
                }
            }
            _ => {}
        }
    }
}

/// Factors of a term of a sum: those of a product that only this sum uses.
fn factors(graph: &Graph, id: NodeIndex, uses: &[usize]) -> Vec<NodeIndex> {
    match &graph.nodes[id] {
        GraphNode::Product(list) if uses[id] == 1 => list.clone(),
        _ => vec![id],
    }
}

/// `a b + a c = a (b + c)` in every sum, the most frequent factor first.
fn factor(graph: &mut Graph) {
    let uses = graph.uses();
    for id in graph.sorted() {
        while let GraphNode::Sum(terms) = graph.nodes[id].clone() {
            let lists: Vec<Vec<NodeIndex>> = terms.iter().map(|t| factors_now(graph, t.node, &uses)).collect();
            let mut counts: BTreeMap<NodeIndex, usize> = BTreeMap::new();
            for list in lists.iter().filter(|l| l.len() > 1) {
                let mut seen = list.clone();
                seen.dedup();
                seen.into_iter().for_each(|f| *counts.entry(f).or_default() += 1);
            }
            let best = counts.into_iter().filter(|c| c.1 > 1).max_by_key(|(f, n)| (*n, std::cmp::Reverse(*f)));
            let Some((common, _)) = best else { break };
            let (mut inner, mut outer) = (Vec::new(), Vec::new());
            for (t, list) in terms.iter().zip(lists) {
                match list.iter().position(|f| *f == common) {
                    Some(at) if list.len() > 1 => {
                        let mut rest = list;
                        rest.remove(at);
                        inner.push(Signed { node: graph.product(rest), minus: t.minus });
                    }
                    _ => outer.push(*t),
                }
            }
            let minus = inner[0].minus;
            inner.iter_mut().for_each(|t| t.minus ^= minus);
            let bracket = graph.sum(inner);
            if outer.is_empty() && minus {
                // The sign would have to leave the node: turn one bracket round instead.
                let GraphNode::Sum(inner) = graph.nodes[bracket].clone() else { break };
                let turned = graph.sum(inner.into_iter().map(|t| Signed { minus: !t.minus, ..t }).collect());
                let mut list = vec![common, turned];
                list.sort_unstable();
                graph.replace(id, GraphNode::Product(list));
            } else if outer.is_empty() {
                let mut list = vec![common, bracket];
                list.sort_unstable();
                graph.replace(id, GraphNode::Product(list));
            } else {
                let product = graph.product(vec![common, bracket]);
                outer.push(Signed { node: product, minus });
                outer.sort_unstable();
                graph.replace(id, GraphNode::Sum(outer));
            }
        }
    }
}

/// As [`factors`]; nodes made since the uses were counted are used once.
fn factors_now(graph: &Graph, id: NodeIndex, uses: &[usize]) -> Vec<NodeIndex> {
    if id < uses.len() { factors(graph, id, uses) } else { vec![id] }
}

/// The pair of factors that most products have becomes a product of its own, again and again.
fn share_products(graph: &mut Graph) {
    let mut uses = graph.uses();
    let mut pairs = Pairs::new(|p: &(NodeIndex, NodeIndex), q: &(NodeIndex, NodeIndex)| {
        [p.0, p.1].iter().any(|f| [q.0, q.1].contains(f))
    });
    for id in (0..graph.nodes.len()).filter(|id| uses[*id] > 0) {
        if let GraphNode::Product(list) = &graph.nodes[id] {
            add_product(&mut pairs, graph, id, list);
        }
    }
    while let Some((a, b)) = pairs.best() {
        let before = graph.nodes.len();
        let pair = graph.product(vec![a, b]);
        if pair >= before || uses.get(pair) == Some(&0) {
            pairs.add_short((a, b));
            uses.get_mut(pair).into_iter().for_each(|n| *n = 1);
        }
        let mut shorter = false;
        for id in pairs.lists(&(a, b)).into_iter().filter(|id| *id != pair) {
            let GraphNode::Product(mut list) = graph.nodes[id].clone() else { continue };
            if squared(graph, &list) == Some((a, b)) {
                let x = if graph.is_number(a) { b } else { a };
                list.retain(|f| *f != x && !graph.is_number(*f));
                list.extend([pair, pair]);
            } else {
                let Some(i) = list.iter().position(|f| *f == a) else { continue };
                let Some(j) = list.iter().rposition(|f| *f == b).filter(|j| *j != i) else { continue };
                list.remove(i.max(j));
                list.remove(i.min(j));
                list.push(pair);
            }
            list.sort_unstable();
            pairs.remove_long(id);
            add_product(&mut pairs, graph, id, &list);
            graph.replace(id, GraphNode::Product(list));
            shorter = true;
        }
        if !shorter {
            return;
        }
    }
}

fn add_product(pairs: &mut Pairs<(NodeIndex, NodeIndex)>, graph: &Graph, id: NodeIndex, list: &[NodeIndex]) {
    match *list {
        [a, b] => pairs.add_short((a, b)),
        _ => pairs.add_long(id, factor_pairs(graph, list)),
    }
}

/// Pairs of factors of a product.
fn factor_pairs(graph: &Graph, list: &[NodeIndex]) -> Vec<(NodeIndex, NodeIndex)> {
    let mut pairs: Vec<(NodeIndex, NodeIndex)> =
        (0..list.len()).flat_map(|i| (i + 1..list.len()).map(move |j| (list[i], list[j]))).collect();
    pairs.extend(squared(graph, list));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// `k² x x ..` is `(k x)² ..`: the pair `k`, `x`, where the number `k` is there already.
fn squared(graph: &Graph, list: &[NodeIndex]) -> Option<(NodeIndex, NodeIndex)> {
    let (numbers, rest): (Vec<NodeIndex>, Vec<NodeIndex>) = list.iter().partition(|f| graph.is_number(**f));
    let &[square] = numbers.as_slice() else { return None };
    let x = rest.windows(2).find(|w| w[0] == w[1] && rest.iter().filter(|f| **f == w[0]).count() == 2)?[0];
    let k = graph.root_of(square)?;
    Some((k.min(x), k.max(x)))
}

/// Pairs of terms that several sums have, up to a common sign, become nodes of their own.
fn share_sums(graph: &mut Graph) {
    let mut uses = graph.uses();
    let mut pairs = Pairs::new(|p: &(NodeIndex, NodeIndex, bool), q: &(NodeIndex, NodeIndex, bool)| {
        [p.0, p.1].iter().any(|t| [q.0, q.1].contains(t))
    });
    for id in (0..graph.nodes.len()).filter(|id| uses[*id] > 0) {
        if let GraphNode::Sum(list) = &graph.nodes[id] {
            add_sum(&mut pairs, id, list);
        }
    }
    while let Some((a, b, differ)) = pairs.best() {
        let before = graph.nodes.len();
        let pair = graph.sum(vec![Signed { node: a, minus: false }, Signed { node: b, minus: differ }]);
        if pair >= before || uses.get(pair) == Some(&0) {
            pairs.add_short((a, b, differ));
            uses.get_mut(pair).into_iter().for_each(|n| *n = 1);
        }
        let mut shorter = false;
        for id in pairs.lists(&(a, b, differ)).into_iter().filter(|id| *id != pair) {
            let GraphNode::Sum(list) = &graph.nodes[id] else { continue };
            let Some(shared) = with_pair(list, (a, b, differ), pair) else { continue };
            pairs.remove_long(id);
            add_sum(&mut pairs, id, &shared);
            graph.replace(id, GraphNode::Sum(shared));
            shorter = true;
        }
        if !shorter {
            return;
        }
    }
}

fn add_sum(pairs: &mut Pairs<(NodeIndex, NodeIndex, bool)>, id: NodeIndex, list: &[Signed]) {
    if list.len() < 3 {
        term_pairs(list).into_iter().for_each(|p| pairs.add_short(p));
    } else {
        pairs.add_long(id, term_pairs(list));
    }
}

/// Pairs of different terms of a sum, and whether their signs differ.
fn term_pairs(list: &[Signed]) -> Vec<(NodeIndex, NodeIndex, bool)> {
    let pair = |i: usize, j: usize| (list[i].node, list[j].node, list[i].minus != list[j].minus);
    let later = |i: usize| (i + 1..list.len()).filter(move |j| list[*j].node != list[i].node);
    (0..list.len()).flat_map(|i| later(i).map(move |j| pair(i, j))).collect()
}
