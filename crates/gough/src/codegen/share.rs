//! Fewer operations: common factors of sums, and pairs of terms or factors that several nodes have in common.

use super::graph::{Graph, Id, Node, Signed};
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

/// Share as [`share`] does in graphs of thousands of nodes: many pairs at a time, those that most lists have first. Fewer
/// operations are found, in a time that grows little faster than the graph.
pub(super) fn share_many(graph: &mut Graph) {
    loop {
        let mut next = graph.merged();
        share_many_products(&mut next);
        share_many_sums(&mut next);
        open(&mut next);
        factor(&mut next);
        let next = next.merged();
        if next.count().operations() >= graph.count().operations() {
            break;
        }
        *graph = next;
    }
}

/// Pairs that several lists have, those of most lists first, each list given to one pair at most.
fn pairs_apart<P: Ord + Copy>(lists: &[(Id, Vec<P>)]) -> Vec<(P, Vec<Id>)> {
    let mut having: BTreeMap<P, Vec<Id>> = BTreeMap::new();
    lists.iter().for_each(|(id, pairs)| pairs.iter().for_each(|p| having.entry(*p).or_default().push(*id)));
    let mut order: Vec<(P, Vec<Id>)> = having.into_iter().filter(|(_, list)| list.len() > 1).collect();
    order.sort_by_key(|(p, list)| (usize::MAX - list.len(), *p));
    let mut taken = std::collections::HashSet::new();
    let mut found = Vec::new();
    for (pair, list) in order {
        let own: Vec<Id> = list.into_iter().filter(|id| !taken.contains(id)).collect();
        if own.len() > 1 {
            taken.extend(own.iter().copied());
            found.push((pair, own));
        }
    }
    found
}

fn share_many_products(graph: &mut Graph) {
    loop {
        let uses = graph.uses();
        let product = |id: Id| match &graph.nodes[id] {
            Node::Product(list) if uses[id] > 0 => Some((id, factor_pairs_of(list))),
            _ => None,
        };
        let lists: Vec<(Id, Vec<(Id, Id)>)> = (0..graph.nodes.len()).filter_map(product).collect();
        let mut shorter = false;
        for ((a, b), own) in pairs_apart(&lists) {
            let pair = graph.product(vec![a, b]);
            for id in own.into_iter().filter(|id| *id != pair) {
                let Node::Product(mut list) = graph.nodes[id].clone() else { continue };
                let Some(i) = list.iter().position(|f| *f == a) else { continue };
                let Some(j) = list.iter().rposition(|f| *f == b).filter(|j| *j != i) else { continue };
                if list.len() < 3 {
                    continue;
                }
                list.remove(i.max(j));
                list.remove(i.min(j));
                list.push(pair);
                list.sort_unstable();
                graph.replace(id, Node::Product(list));
                shorter = true;
            }
        }
        if !shorter {
            return;
        }
    }
}

fn factor_pairs_of(list: &[Id]) -> Vec<(Id, Id)> {
    let mut pairs: Vec<(Id, Id)> =
        (0..list.len()).flat_map(|i| (i + 1..list.len()).map(move |j| (list[i], list[j]))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn share_many_sums(graph: &mut Graph) {
    loop {
        let uses = graph.uses();
        let sum = |id: Id| match &graph.nodes[id] {
            Node::Sum(list) if uses[id] > 0 => Some((id, term_pairs(list))),
            _ => None,
        };
        let lists: Vec<(Id, Vec<(Id, Id, bool)>)> = (0..graph.nodes.len()).filter_map(sum).collect();
        let mut shorter = false;
        for ((a, b, differ), own) in pairs_apart(&lists) {
            let pair = graph.sum(vec![Signed { node: a, minus: false }, Signed { node: b, minus: differ }]);
            for id in own.into_iter().filter(|id| *id != pair) {
                let Node::Sum(list) = &graph.nodes[id] else { continue };
                if let Some(shared) = with_pair(list, (a, b, differ), pair) {
                    graph.replace(id, Node::Sum(shared));
                    shorter = true;
                }
            }
        }
        if !shorter {
            return;
        }
    }
}

/// A sum of three terms or more with two of them as one.
fn with_pair(list: &[Signed], (a, b, differ): (Id, Id, bool), pair: Id) -> Option<Vec<Signed>> {
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
            Node::Sum(terms) => {
                let mut list: Vec<Signed> = Vec::new();
                for t in terms {
                    match &graph.nodes[t.node] {
                        Node::Sum(inner) if uses[t.node] == 1 => {
                            list.extend(inner.iter().map(|i| Signed { node: i.node, minus: i.minus != t.minus }));
                        }
                        _ => list.push(*t),
                    }
                }
                list.sort_unstable();
                if list.len() > terms.len() {
                    graph.replace(id, Node::Sum(list));
                }
            }
            Node::Product(factors) => {
                let mut list: Vec<Id> = Vec::new();
                for f in factors {
                    match &graph.nodes[*f] {
                        Node::Product(inner) if uses[*f] == 1 => list.extend(inner),
                        _ => list.push(*f),
                    }
                }
                list.sort_unstable();
                if list.len() > factors.len() {
                    graph.replace(id, Node::Product(list));
                }
            }
            _ => {}
        }
    }
}

/// Factors of a term of a sum: those of a product that only this sum uses.
fn factors(graph: &Graph, id: Id, uses: &[usize]) -> Vec<Id> {
    match &graph.nodes[id] {
        Node::Product(list) if uses[id] == 1 => list.clone(),
        _ => vec![id],
    }
}

/// `a b + a c = a (b + c)` in every sum, the most frequent factor first.
fn factor(graph: &mut Graph) {
    let uses = graph.uses();
    for id in graph.sorted() {
        while let Node::Sum(terms) = graph.nodes[id].clone() {
            let lists: Vec<Vec<Id>> = terms.iter().map(|t| factors_now(graph, t.node, &uses)).collect();
            let mut counts: BTreeMap<Id, usize> = BTreeMap::new();
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
                let Node::Sum(inner) = graph.nodes[bracket].clone() else { break };
                let turned = graph.sum(inner.into_iter().map(|t| Signed { minus: !t.minus, ..t }).collect());
                let mut list = vec![common, turned];
                list.sort_unstable();
                graph.replace(id, Node::Product(list));
            } else if outer.is_empty() {
                let mut list = vec![common, bracket];
                list.sort_unstable();
                graph.replace(id, Node::Product(list));
            } else {
                let product = graph.product(vec![common, bracket]);
                outer.push(Signed { node: product, minus });
                outer.sort_unstable();
                graph.replace(id, Node::Sum(outer));
            }
        }
    }
}

/// As [`factors`]; nodes made since the uses were counted are used once.
fn factors_now(graph: &Graph, id: Id, uses: &[usize]) -> Vec<Id> {
    if id < uses.len() { factors(graph, id, uses) } else { vec![id] }
}

/// The pair that most of the long lists have, a short list counting where it is the pair itself. Of several such pairs, the one
/// that breaks fewest others apart.
fn best_pair<P: Ord + Copy>(long: &[Vec<P>], short: &[P], meet: impl Fn(&P, &P) -> bool) -> Option<P> {
    let mut counts: BTreeMap<P, usize> = BTreeMap::new();
    long.iter().flatten().for_each(|p| *counts.entry(*p).or_default() += 1);
    for pair in short {
        counts.entry(*pair).and_modify(|n| *n += 1);
    }
    counts.retain(|_, n| *n > 1);
    let most = counts.values().max().copied()?;
    let mut broken: BTreeMap<P, usize> = counts.iter().filter(|c| *c.1 == most).map(|(p, _)| (*p, 0)).collect();
    for pairs in long {
        let pairs: Vec<P> = pairs.iter().filter(|p| counts.contains_key(p)).copied().collect();
        for p in &pairs {
            if let Some(broken) = broken.get_mut(p) {
                *broken += pairs.iter().filter(|q| meet(p, q)).count();
            }
        }
    }
    broken.into_iter().min_by_key(|(p, n)| (*n, *p)).map(|(p, _)| p)
}

/// The pair of factors that most products have becomes a product of its own, again and again.
fn share_products(graph: &mut Graph) {
    loop {
        let uses = graph.uses();
        let lists: Vec<(Id, Vec<Id>)> = (0..graph.nodes.len())
            .filter(|id| uses[*id] > 0)
            .filter_map(|id| match &graph.nodes[id] {
                Node::Product(list) => Some((id, list.clone())),
                _ => None,
            })
            .collect();
        let (short, long): (Vec<&Vec<Id>>, Vec<&Vec<Id>>) = lists.iter().map(|l| &l.1).partition(|l| l.len() < 3);
        let long: Vec<Vec<(Id, Id)>> = long.into_iter().map(|list| factor_pairs(graph, list)).collect();
        let short: Vec<(Id, Id)> = short.into_iter().map(|list| (list[0], list[1])).collect();
        let meet = |p: &(Id, Id), q: &(Id, Id)| [p.0, p.1].iter().any(|f| [q.0, q.1].contains(f));
        let Some((a, b)) = best_pair(&long, &short, meet) else { return };
        let pair = graph.product(vec![a, b]);
        let mut shorter = false;
        for (id, mut list) in lists {
            if id == pair || list.len() < 3 {
                continue;
            }
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
            graph.replace(id, Node::Product(list));
            shorter = true;
        }
        if !shorter {
            return;
        }
    }
}

/// Pairs of factors of a product.
fn factor_pairs(graph: &Graph, list: &[Id]) -> Vec<(Id, Id)> {
    let mut pairs: Vec<(Id, Id)> =
        (0..list.len()).flat_map(|i| (i + 1..list.len()).map(move |j| (list[i], list[j]))).collect();
    pairs.extend(squared(graph, list));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// `k² x x ..` is `(k x)² ..`: the pair `k`, `x`, where the number `k` is there already.
fn squared(graph: &Graph, list: &[Id]) -> Option<(Id, Id)> {
    let (numbers, rest): (Vec<Id>, Vec<Id>) = list.iter().partition(|f| graph.is_number(**f));
    let &[square] = numbers.as_slice() else { return None };
    let x = rest.windows(2).find(|w| w[0] == w[1] && rest.iter().filter(|f| **f == w[0]).count() == 2)?[0];
    let k = graph.root_of(square)?;
    Some((k.min(x), k.max(x)))
}

/// The same for pairs of terms of sums, up to a common sign.
fn share_sums(graph: &mut Graph) {
    loop {
        let uses = graph.uses();
        let lists: Vec<(Id, Vec<Signed>)> = (0..graph.nodes.len())
            .filter(|id| uses[*id] > 0)
            .filter_map(|id| match &graph.nodes[id] {
                Node::Sum(list) => Some((id, list.clone())),
                _ => None,
            })
            .collect();
        let (short, long): (Vec<&Vec<Signed>>, Vec<&Vec<Signed>>) =
            lists.iter().map(|l| &l.1).partition(|l| l.len() < 3);
        let long: Vec<Vec<(Id, Id, bool)>> = long.into_iter().map(|list| term_pairs(list)).collect();
        let short: Vec<(Id, Id, bool)> = short.into_iter().flat_map(|list| term_pairs(list)).collect();
        let meet = |p: &(Id, Id, bool), q: &(Id, Id, bool)| [p.0, p.1].iter().any(|t| [q.0, q.1].contains(t));
        let Some((a, b, differ)) = best_pair(&long, &short, meet) else { return };
        let pair = graph.sum(vec![Signed { node: a, minus: false }, Signed { node: b, minus: differ }]);
        let mut shorter = false;
        for (id, list) in lists {
            if id == pair {
                continue;
            }
            let Some(shared) = with_pair(&list, (a, b, differ), pair) else { continue };
            graph.replace(id, Node::Sum(shared));
            shorter = true;
        }
        if !shorter {
            return;
        }
    }
}

/// Pairs of different terms of a sum, and whether their signs differ.
fn term_pairs(list: &[Signed]) -> Vec<(Id, Id, bool)> {
    let pair = |i: usize, j: usize| (list[i].node, list[j].node, list[i].minus != list[j].minus);
    let later = |i: usize| (i + 1..list.len()).filter(move |j| list[*j].node != list[i].node);
    (0..list.len()).flat_map(|i| later(i).map(move |j| pair(i, j))).collect()
}
