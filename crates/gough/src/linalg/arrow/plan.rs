//! Structure of a pencil (K, M), found once: components, coordinates without mass, order and envelope of every leg.

use super::{Arrow, ArrowError};
use std::ops::Range;

/// Lanes of a pack.
pub(super) const LANES: usize = 4;

/// Which block of an arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArrowPart {
    Own(usize),
    Border(usize),
    Tip,
}

impl ArrowPart {
    pub fn of(self, a: &Arrow<f64>) -> &[f64] {
        match self {
            Self::Own(leg) => &a.legs[leg].own.data,
            Self::Border(leg) => &a.legs[leg].border.data,
            Self::Tip => &a.tip.data,
        }
    }
}

/// Entries to copy from one block: (where to, where from).
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Fetch {
    pub part: ArrowPart,
    pub pairs: Vec<(u32, u32)>,
}

/// Up to four legs of one size, side by side in lanes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pack {
    /// Size of a leg.
    pub n: usize,
    /// Legs in use; the other lanes idle.
    pub lanes: usize,
    /// Where the coordinates of each leg start in the component.
    pub start: [usize; LANES],
    /// First column of the envelope, per row.
    pub first: Vec<usize>,
    /// Where each row of the envelope starts in the pack; after the last the border rows, all columns each.
    pub row: Vec<usize>,
    /// Where the pack starts in the memory of the component, and its length.
    pub base: usize,
    pub len: usize,
}

impl Pack {
    /// Place of the entry (i, j), j <= i, in the pack; rows from n on are border rows.
    #[inline]
    pub fn place(&self, i: usize, j: usize) -> usize {
        if i < self.n { self.row[i] + j - self.first[i] } else { self.row[self.n] + (i - self.n) * self.n + j }
    }
}

/// Coordinates of a leg that have no mass.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Massless {
    /// Pack and lane of the leg.
    pub pack: usize,
    pub lane: usize,
    /// Global numbers.
    pub coords: Vec<usize>,
    /// Rows of K: massless, then leg, then border columns.
    pub fetch: Vec<Fetch>,
    pub cols: usize,
}

/// A part of the robot that moves on its own.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Component {
    pub packs: Vec<Pack>,
    /// Border coordinates of the component.
    pub border: usize,
    /// Global number of every coordinate with mass: pack by pack, leg by leg, then border.
    pub coords: Vec<usize>,
    pub massless: Vec<Massless>,
    /// Entries with mass: into packs (four lanes per place), into the tip.
    pub fetch: Vec<Fetch>,
    pub fetch_tip: Vec<Fetch>,
    /// Length of the packs together.
    pub len: usize,
}

impl Component {
    /// Number of modes.
    pub fn size(&self) -> usize {
        self.coords.len()
    }

    /// First border coordinate.
    pub fn tip(&self) -> usize {
        self.coords.len() - self.border
    }
}

/// Structure of (K, M), made once from sample matrices.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrowPlan {
    pub(super) legs: Vec<usize>,
    pub(super) border: usize,
    pub(super) components: Vec<Component>,
    /// Entries that are zero by structure, in runs: of K, and of M.
    pub(super) zeros: Vec<(ArrowPart, Vec<Range<usize>>)>,
    pub(super) zeros_m: Vec<(ArrowPart, Vec<Range<usize>>)>,
    massless: Vec<usize>,
    component_of: Vec<usize>,
}

impl ArrowPlan {
    /// The plan for all matrices that have zeros where the samples (K, M) have exact zeros.
    pub fn of(samples: &[(&Arrow<f64>, &Arrow<f64>)]) -> Result<Self, ArrowError> {
        let (k, _) = samples.first().ok_or(ArrowError::Shape)?;
        let legs: Vec<usize> = k.legs.iter().map(|l| l.own.rows).collect();
        let border = k.tip.rows;
        for (k, m) in samples {
            for a in [k, m] {
                check_shape(&legs, border, a)?;
            }
        }
        Ok(ArrowPlanner::new(legs, border, samples).plan())
    }

    /// Number of coordinates, with mass or without.
    pub fn size(&self) -> usize {
        self.legs.iter().sum::<usize>() + self.border
    }

    /// Number of modes: coordinates with mass.
    pub fn modes(&self) -> usize {
        self.components.iter().map(Component::size).sum()
    }

    /// Number of coordinates with mass of every component.
    pub fn component_sizes(&self) -> impl ExactSizeIterator<Item = usize> {
        self.components.iter().map(Component::size)
    }

    /// Component of a coordinate.
    pub fn component_of(&self, coordinate: usize) -> usize {
        self.component_of[coordinate]
    }

    /// Coordinates without mass, condensed exactly: `x_m = -K_mm⁻¹ K_mr x_r`.
    pub fn massless(&self) -> &[usize] {
        &self.massless
    }

    /// Numbers kept per matrix, idle lanes not counted: how much of the blocks is inside bands and borders.
    pub fn stored(&self) -> usize {
        let of = |c: &Component| c.packs.iter().map(|p| p.len * p.lanes).sum::<usize>() + c.border * c.border;
        self.components.iter().map(of).sum()
    }

    /// Whether the blocks have the sizes of the plan.
    pub(super) fn check(&self, a: &Arrow<f64>) -> Result<(), ArrowError> {
        check_shape(&self.legs, self.border, a)
    }

    /// Row of the whole matrix in which an entry of a block lies.
    pub(super) fn row_of(&self, part: ArrowPart, entry: usize) -> usize {
        let start = |leg: usize| self.legs[..leg].iter().sum::<usize>();
        match part {
            ArrowPart::Own(leg) => start(leg) + entry / self.legs[leg],
            ArrowPart::Border(leg) => start(leg) + entry / self.border,
            ArrowPart::Tip => start(self.legs.len()) + entry / self.border,
        }
    }
}

fn check_shape(legs: &[usize], border: usize, a: &Arrow<f64>) -> Result<(), ArrowError> {
    let is = |d: &super::Dense<f64>, rows: usize, cols: usize| {
        d.rows == rows && d.cols == cols && d.data.len() == rows * cols
    };
    let good = a.legs.len() == legs.len()
        && a.legs.iter().zip(legs).all(|(l, n)| is(&l.own, *n, *n) && is(&l.border, *n, border))
        && is(&a.tip, border, border);
    if good { Ok(()) } else { Err(ArrowError::Shape) }
}

/// A leg of a component: coordinates with and without mass, by global number.
struct LegSlot {
    mass: Vec<usize>,
    massless: Vec<usize>,
}

/// Everything known while planning.
struct ArrowPlanner {
    legs: Vec<usize>,
    border: usize,
    start: Vec<usize>,
    n: usize,
    /// Neighbours in the graph of (K, M).
    near: Vec<Vec<usize>>,
    has_mass: Vec<bool>,
    read: Vec<(ArrowPart, Vec<bool>)>,
    read_m: Vec<(ArrowPart, Vec<bool>)>,
}

impl ArrowPlanner {
    fn new(legs: Vec<usize>, border: usize, samples: &[(&Arrow<f64>, &Arrow<f64>)]) -> Self {
        let start: Vec<usize> = (0..=legs.len()).map(|i| legs[..i].iter().sum()).collect();
        let n = start[legs.len()] + border;
        let parts = || {
            let leg = |(i, n): (usize, &usize)| {
                [(ArrowPart::Own(i), vec![false; n * n]), (ArrowPart::Border(i), vec![false; n * border])]
            };
            let legs = legs.iter().enumerate().flat_map(leg);
            legs.chain([(ArrowPart::Tip, vec![false; border * border])]).collect()
        };
        let (read, read_m) = (parts(), parts());
        let mut out =
            Self { legs, border, start, n, near: vec![Vec::new(); n], has_mass: vec![false; n], read, read_m };
        for i in 0..n {
            for j in 0..=i {
                let Some((part, at)) = out.source(i, j) else { continue };
                let (k, m) = samples
                    .iter()
                    .fold((false, false), |(k, m), s| (k || part.of(s.0)[at] != 0.0, m || part.of(s.1)[at] != 0.0));
                if m {
                    (out.has_mass[i], out.has_mass[j]) = (true, true);
                }
                if (k || m) && i != j {
                    out.near[i].push(j);
                    out.near[j].push(i);
                }
            }
        }
        out
    }

    /// Leg of a coordinate; the border counts as one more.
    fn leg(&self, i: usize) -> usize {
        self.start.partition_point(|s| *s <= i) - 1
    }

    /// Block and place of the entry (i, j); none between different legs.
    fn source(&self, i: usize, j: usize) -> Option<(ArrowPart, usize)> {
        let (i, j) = (i.max(j), i.min(j));
        let (tip, b) = (self.start[self.legs.len()], self.border);
        if j >= tip {
            return Some((ArrowPart::Tip, (i - tip) * b + j - tip));
        }
        // Legs without coordinates share their start with the next one: the last with that start holds the coordinate.
        let leg = self.leg(j);
        let row = j - self.start[leg];
        if i >= tip {
            Some((ArrowPart::Border(leg), row * b + i - tip))
        } else if self.leg(i) == leg {
            Some((ArrowPart::Own(leg), (i - self.start[leg]) * self.legs[leg] + row))
        } else {
            None
        }
    }

    fn plan(mut self) -> ArrowPlan {
        let component_of = self.components();
        let count = component_of.iter().max().map_or(0, |c| c + 1);
        let components = (0..count)
            .map(|c| {
                let members: Vec<usize> = (0..self.n).filter(|i| component_of[*i] == c).collect();
                self.component(&members)
            })
            .collect();
        let massless = (0..self.n).filter(|i| !self.has_mass[*i]).collect();
        let (zeros, zeros_m) = (self.unread(&self.read), self.unread(&self.read_m));
        ArrowPlan { legs: self.legs, border: self.border, components, zeros, zeros_m, massless, component_of }
    }

    /// Connected components of the graph, numbered by their first coordinate.
    fn components(&self) -> Vec<usize> {
        let mut of = vec![usize::MAX; self.n];
        let mut count = 0;
        for i in 0..self.n {
            if of[i] != usize::MAX {
                continue;
            }
            let mut todo = vec![i];
            of[i] = count;
            while let Some(k) = todo.pop() {
                for &j in &self.near[k] {
                    if of[j] == usize::MAX {
                        of[j] = count;
                        todo.push(j);
                    }
                }
            }
            count += 1;
        }
        of
    }

    /// Legs of a component and its border. Border coordinates without mass join the legs when they are condensed: then the
    /// whole component is one leg.
    fn slots(&self, members: &[usize]) -> (Vec<LegSlot>, Vec<usize>) {
        let tip = self.start[self.legs.len()];
        let split = |of: Vec<usize>| {
            let (mass, massless) = of.into_iter().partition(|i| self.has_mass[*i]);
            LegSlot { mass, massless }
        };
        if members.iter().any(|i| *i >= tip && !self.has_mass[*i]) {
            return (vec![split(members.to_vec())], Vec::new());
        }
        let legs = (0..self.legs.len())
            .map(|l| members.iter().copied().filter(|i| *i < tip && self.leg(*i) == l).collect::<Vec<_>>())
            .filter(|c| !c.is_empty());
        (legs.map(split).collect(), members.iter().copied().filter(|i| *i >= tip).collect())
    }

    fn component(&mut self, members: &[usize]) -> Component {
        let (mut slots, border) = self.slots(members);
        let mut packs: Vec<(Pack, Vec<usize>)> = Vec::new();
        for (s, slot) in slots.iter_mut().enumerate() {
            let near = self.condensed_graph(slot);
            let first = order(&mut slot.mass, &near);
            let n = slot.mass.len();
            if let Some((pack, of)) = packs.iter_mut().find(|(p, of)| p.n == n && of.len() < LANES) {
                pack.first.iter_mut().zip(&first).for_each(|(a, b)| *a = (*a).min(*b));
                of.push(s);
            } else {
                let pack = Pack { n, lanes: 0, start: [0; LANES], first, row: Vec::new(), base: 0, len: 0 };
                packs.push((pack, vec![s]));
            }
        }
        let mut out = Component {
            packs: Vec::new(),
            border: border.len(),
            coords: Vec::new(),
            massless: Vec::new(),
            fetch: Vec::new(),
            fetch_tip: Vec::new(),
            len: 0,
        };
        for (mut pack, of) in packs {
            pack.lanes = of.len();
            pack.row = vec![0; pack.n + 1];
            (0..pack.n).for_each(|i| pack.row[i + 1] = pack.row[i] + i - pack.first[i] + 1);
            (pack.base, pack.len) = (out.len, pack.row[pack.n] + border.len() * pack.n);
            out.len += pack.len;
            for (lane, s) in of.iter().enumerate() {
                pack.start[lane] = out.coords.len();
                out.coords.extend(&slots[*s].mass);
                self.fetch_leg(&pack, lane, &slots[*s].mass, &border, &mut out.fetch);
                if !slots[*s].massless.is_empty() {
                    out.massless.push(self.fetch_massless(out.packs.len(), lane, &slots[*s], &border));
                }
            }
            out.packs.push(pack);
        }
        for (i, &gi) in border.iter().enumerate() {
            for (j, &gj) in border[..=i].iter().enumerate() {
                self.fetch_entry(gi, gj, i * border.len() + j, true, &mut out.fetch_tip);
            }
        }
        out.coords.extend(&border);
        out
    }

    /// Neighbours among the coordinates with mass of a leg once those without are condensed, by place in the leg.
    fn condensed_graph(&self, slot: &LegSlot) -> Vec<Vec<usize>> {
        let place = |g: usize| slot.mass.iter().position(|x| *x == g);
        let mut near: Vec<Vec<usize>> =
            slot.mass.iter().map(|i| self.near[*i].iter().filter_map(|j| place(*j)).collect()).collect();
        let mut seen = vec![false; self.n];
        for &start in &slot.massless {
            // All neighbours of a connected group of massless coordinates come to touch each other.
            let (mut todo, mut rim) = (vec![start], Vec::new());
            while let Some(i) = todo.pop() {
                if std::mem::replace(&mut seen[i], true) {
                    continue;
                }
                for &j in &self.near[i] {
                    if slot.massless.contains(&j) {
                        todo.push(j);
                    } else if let Some(p) = place(j) {
                        rim.push(p);
                    }
                }
            }
            for &p in &rim {
                near[p].extend(rim.iter().copied().filter(|q| *q != p));
            }
        }
        near.iter_mut().for_each(|n| {
            n.sort_unstable();
            n.dedup();
        });
        near
    }

    fn fetch_leg(&mut self, pack: &Pack, lane: usize, mass: &[usize], border: &[usize], out: &mut Vec<Fetch>) {
        let rows = mass.iter().chain(border).copied().enumerate();
        for (i, gi) in rows.collect::<Vec<_>>() {
            let (from, to) = if i < pack.n { (pack.first[i], i + 1) } else { (0, pack.n) };
            for (j, gj) in mass.iter().enumerate().take(to).skip(from) {
                self.fetch_entry(gi, *gj, (pack.base + pack.place(i, j)) * LANES + lane, true, out);
            }
        }
    }

    fn fetch_massless(&mut self, pack: usize, lane: usize, slot: &LegSlot, border: &[usize]) -> Massless {
        let all: Vec<usize> = slot.massless.iter().chain(&slot.mass).chain(border).copied().collect();
        let mut fetch = Vec::new();
        for (i, gi) in slot.massless.iter().enumerate() {
            for (j, gj) in all.iter().enumerate() {
                self.fetch_entry(*gi, *gj, i * all.len() + j, false, &mut fetch);
            }
        }
        Massless { pack, lane, coords: slot.massless.clone(), fetch, cols: all.len() }
    }

    fn fetch_entry(&mut self, gi: usize, gj: usize, to: usize, mass: bool, out: &mut Vec<Fetch>) {
        let Some((part, at)) = self.source(gi, gj) else { return };
        let index = |x: usize| u32::try_from(x).expect("blocks have fewer than 2³² entries");
        let pair = (index(to), index(at));
        match out.iter_mut().find(|f| f.part == part) {
            Some(f) => f.pairs.push(pair),
            None => out.push(Fetch { part, pairs: vec![pair] }),
        }
        for (list, used) in [(&mut self.read, true), (&mut self.read_m, mass)] {
            if used && let Some((_, read)) = list.iter_mut().find(|(p, _)| *p == part) {
                read[at] = true;
            }
        }
    }

    /// Runs of entries of the lower halves that nobody reads: zeros of the structure.
    fn unread(&self, read: &[(ArrowPart, Vec<bool>)]) -> Vec<(ArrowPart, Vec<Range<usize>>)> {
        let lower = |part: ArrowPart, at: usize| match part {
            ArrowPart::Own(leg) => at % self.legs[leg] <= at / self.legs[leg],
            ArrowPart::Border(_) => true,
            ArrowPart::Tip => at % self.border <= at / self.border,
        };
        let of = |(part, read): &(ArrowPart, Vec<bool>)| {
            let mut runs: Vec<Range<usize>> = Vec::new();
            for at in (0..read.len()).filter(|i| !read[*i] && lower(*part, *i)) {
                match runs.last_mut() {
                    Some(run) if run.end == at => run.end += 1,
                    _ => runs.push(at..at + 1),
                }
            }
            (*part, runs)
        };
        read.iter().map(of).filter(|(_, runs)| !runs.is_empty()).collect()
    }
}

/// First neighbour of every row in an order of the coordinates, itself where none is before it.
fn envelope(order: &[usize], near: &[Vec<usize>]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, i)| place[*i] = k);
    let first = |(k, i): (usize, &usize)| near[*i].iter().map(|j| place[*j]).min().map_or(k, |f| f.min(k));
    order.iter().enumerate().map(first).collect()
}

/// Put the coordinates of a leg in the order with the smaller envelope: as given, or reverse Cuthill-McKee.
fn order(coords: &mut [usize], near: &[Vec<usize>]) -> Vec<usize> {
    let natural: Vec<usize> = (0..coords.len()).collect();
    let reversed = reverse_cuthill_mckee(near);
    let size = |first: &[usize]| first.iter().enumerate().map(|(i, f)| i - f).sum::<usize>();
    let (given, other) = (envelope(&natural, near), envelope(&reversed, near));
    if size(&given) <= size(&other) {
        return given;
    }
    let old = coords.to_vec();
    coords.iter_mut().zip(&reversed).for_each(|(c, i)| *c = old[*i]);
    other
}

/// Breadth first from a coordinate at the end of the graph, neighbours of low degree first, then reversed.
fn reverse_cuthill_mckee(near: &[Vec<usize>]) -> Vec<usize> {
    let n = near.len();
    let mut out: Vec<usize> = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    while out.len() < n {
        let start = (0..n).filter(|i| !seen[*i]).min_by_key(|i| near[*i].len()).expect("one is left");
        // The last one met from there lies at an end.
        let end = *breadth_first(start, near, &mut seen.clone()).last().expect("start at least");
        out.extend(breadth_first(end, near, &mut seen));
    }
    out.reverse();
    out
}

fn breadth_first(start: usize, near: &[Vec<usize>], seen: &mut [bool]) -> Vec<usize> {
    let mut out = vec![start];
    seen[start] = true;
    let mut k = 0;
    while k < out.len() {
        let mut next: Vec<usize> = near[out[k]].iter().copied().filter(|j| !seen[*j]).collect();
        next.sort_by_key(|j| near[*j].len());
        next.iter().for_each(|j| seen[*j] = true);
        out.extend(next);
        k += 1;
    }
    out
}
