//! Pairs of terms or factors that lists have in common, kept up to date while lists change.

use super::canon::NodeIndex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

/// Lists by the pairs in them.
pub(super) struct Pairs<P> {
    /// Whether two pairs have an element in common.
    meet: fn(&P, &P) -> bool,
    /// Pairs of the lists of three or more.
    long: HashMap<NodeIndex, Vec<P>>,
    /// How many lists of two are a pair.
    short: HashMap<P, usize>,
    /// Long lists that have a pair, as often as they have it.
    having: HashMap<P, Vec<NodeIndex>>,
    /// Pairs by how many lists have them, where several do.
    order: BTreeMap<usize, BTreeSet<P>>,
    /// Other pairs that a pair would break apart, where known.
    broken: HashMap<P, usize>,
}

impl<P: Ord + Copy + Hash> Pairs<P> {
    /// No lists.
    pub fn new(meet: fn(&P, &P) -> bool) -> Self {
        Self {
            meet,
            long: HashMap::new(),
            short: HashMap::new(),
            having: HashMap::new(),
            order: BTreeMap::new(),
            broken: HashMap::new(),
        }
    }

    /// How many lists have a pair; a list of two counts where it is the pair and a long list has it.
    fn count(&self, p: &P) -> usize {
        match self.having.get(p).map_or(0, Vec::len) {
            0 => 0,
            n => n + self.short.get(p).copied().unwrap_or(0),
        }
    }

    /// Change something about a pair, and put it where it belongs then.
    fn change(&mut self, p: P, change: impl FnOnce(&mut Self)) {
        let before = self.count(&p);
        change(self);
        let after = self.count(&p);
        if before == after {
            return;
        }
        if let Some(set) = self.order.get_mut(&before) {
            set.remove(&p);
            if set.is_empty() {
                self.order.remove(&before);
            }
        }
        if after > 1 {
            self.order.entry(after).or_default().insert(p);
        }
        if (before > 1) != (after > 1) {
            self.forget_beside(&p);
        }
    }

    /// What a pair breaks apart changes when one beside it begins or ceases to count.
    fn forget_beside(&mut self, p: &P) {
        let lists = self.having.get(p).into_iter().flatten().filter_map(|id| self.long.get(id));
        let near: Vec<P> = lists.flatten().filter(|q| (self.meet)(p, q)).copied().collect();
        near.iter().for_each(|q| {
            self.broken.remove(q);
        });
    }

    /// Add a list of two.
    pub fn add_short(&mut self, p: P) {
        self.change(p, |pairs| *pairs.short.entry(p).or_default() += 1);
    }

    /// Add a list of three or more by its pairs.
    pub fn add_long(&mut self, id: NodeIndex, list: Vec<P>) {
        for p in &list {
            self.change(*p, |pairs| pairs.having.entry(*p).or_default().push(id));
        }
        list.iter().for_each(|p| {
            self.broken.remove(p);
        });
        self.long.insert(id, list);
    }

    /// Take a long list away.
    pub fn remove_long(&mut self, id: NodeIndex) {
        let list = self.long.get(&id).cloned().unwrap_or_default();
        for p in &list {
            self.broken.remove(p);
            self.change(*p, |pairs| {
                let own = pairs.having.entry(*p).or_default();
                own.iter().position(|i| *i == id).into_iter().for_each(|at| {
                    own.swap_remove(at);
                });
            });
        }
        self.long.remove(&id);
    }

    /// Long lists that have a pair, in order.
    pub fn lists(&self, p: &P) -> Vec<NodeIndex> {
        let mut list = self.having.get(p).cloned().unwrap_or_default();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// The pair that most of the lists have. Of several such pairs, the one that breaks fewest others apart.
    pub fn best(&mut self) -> Option<P> {
        let candidates: Vec<P> = self.order.last_key_value()?.1.iter().copied().collect();
        candidates.into_iter().min_by_key(|p| (self.breaks(p), *p))
    }

    fn breaks(&mut self, p: &P) -> usize {
        if let Some(known) = self.broken.get(p) {
            return *known;
        }
        let lists = self.having.get(p).into_iter().flatten().filter_map(|id| self.long.get(id));
        let found = lists.flatten().filter(|q| (self.meet)(p, q) && self.count(q) > 1).count();
        self.broken.insert(*p, found);
        found
    }
}
