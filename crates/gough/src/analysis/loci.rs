//! Singular curves over a plane of the workspace, traced and refined, and the aspects they bound.
//!
//! A grid finds where a function changes sign between two nodes; every crossing is then found by bisection, checked against
//! the singular value itself, and curves are refined until their chords lie within the accuracy. Cells that the limit of
//! reach cuts are divided further, so that curves run up to it. A curve that lies between nodes altogether is not seen, and
//! pieces shorter than half a cell are left out.

#![allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation)] // nodes are counted in millions at most

use super::map::components;
use super::probe::{Probe, SignChange};
use super::region::Region;
use super::singularity::{Kind, sigma};
use crate::kinematics::{SolveError, WorkingMode};
use crate::model::Model;
use rayon::prelude::*;
use std::collections::HashMap;

/// What a curve is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// A singularity, of a leg where it is one's.
    Singular(Kind, Option<String>),
    /// The end of a joint's range.
    Range(String),
    /// Beyond it the loops do not close for another reason.
    Open,
}

/// A curve in the two coordinates of the region.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// What it is.
    pub what: What,
    /// Its points, in order; the first comes again at the end of a closed curve.
    pub points: Vec<[f64; 2]>,
}

impl serde::Serialize for Curve {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let (kind, leg) = match &self.what {
            What::Singular(kind, leg) => (kind.word(), leg.as_ref()),
            What::Range(joint) => ("range", Some(joint)),
            What::Open => ("open", None),
        };
        let mut curve = to.serialize_struct("Curve", 3)?;
        curve.serialize_field("kind", kind)?;
        curve.serialize_field("leg", &leg)?;
        curve.serialize_field("points", &self.points)?;
        curve.end()
    }
}

/// Curves and aspects of one working mode.
#[derive(Clone, Debug)]
pub struct Loci {
    /// All curves.
    pub curves: Vec<Curve>,
    /// To which points lie on their curve, and chords beside it, in the coordinates of the region.
    pub accuracy: f64,
    /// Per node of the region: number of its aspect from 0, the largest first.
    pub aspects: Vec<Option<usize>>,
    /// Their areas, from the nodes.
    pub areas: Vec<f64>,
    /// Nodes, cells and pieces of curves that were not looked at because the search was ended.
    pub left: usize,
}

/// How often a cell at the limit of reach is halved.
const DEPTH: u32 = 5;

/// What a point of the plane is.
#[derive(Clone, PartialEq, Debug)]
enum PointState {
    Reached(Vec<f64>),
    Refused(What),
}

impl PointState {
    fn value(&self, k: usize) -> Option<f64> {
        match self {
            PointState::Reached(f) => f.get(k).copied().filter(|x| x.is_finite()),
            PointState::Refused(_) => None,
        }
    }

    fn is_reached(&self) -> bool {
        matches!(self, PointState::Reached(_))
    }
}

/// Trace the loci over a region of two coordinates to an accuracy, in the coordinates of the region.
pub fn trace_loci(model: &Model<f64>, mode: &WorkingMode, region: &Region, accuracy: f64) -> Loci {
    trace_loci_while(model, mode, region, accuracy, &|| true)
}

/// Trace the loci over a region of two coordinates as long as `goes_on` says so; [`Loci::left`] counts what was not looked at.
pub fn trace_loci_while(
    model: &Model<f64>,
    mode: &WorkingMode,
    region: &Region,
    accuracy: f64,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Loci {
    let look = |probe: &mut Probe, node: usize| goes_on().then(|| state(probe, &region.pose(&region.beside(node))));
    let seen: Vec<Option<PointState>> =
        (0..region.len()).into_par_iter().map_init(|| Probe::new(model, mode), look).collect();
    let unseen = seen.iter().filter(|s| s.is_none()).count();
    let grid: Vec<PointState> = seen.into_iter().map(|s| s.unwrap_or(PointState::Refused(What::Open))).collect();
    let mut tracer = Tracer::new(model, mode, region, accuracy, &grid, goes_on);
    let [nx, ny] = [region.spans()[0].count as i64, region.spans()[1].count as i64];
    for j in 0..ny - 1 {
        for i in 0..nx - 1 {
            tracer.cell(i << DEPTH, j << DEPTH, 1 << DEPTH);
        }
    }
    let (curves, left) = tracer.finish();
    let signs: Vec<Option<u64>> = grid
        .iter()
        .map(|s| match s {
            PointState::Reached(f) => {
                Some(f.iter().take(63).enumerate().fold(0, |bits, (k, x)| bits | u64::from(*x > 0.0) << k))
            }
            PointState::Refused(_) => None,
        })
        .collect();
    let mut probe = Probe::new(model, mode);
    let mut untold = 0;
    let (aspects, areas) = components(region, &signs, &mut |a, b, differ| {
        if !goes_on() {
            untold += 1;
            return true;
        }
        probe.separates(region, &region.beside(a), &region.beside(b), differ)
    });
    Loci { curves, accuracy, aspects, areas, left: unseen + left + untold }
}

fn state(probe: &mut Probe, pose: &crate::spatial::Pose<f64>) -> PointState {
    match probe.take(pose) {
        Ok(()) => {
            let mut list = Vec::new();
            probe.signs(&mut list);
            PointState::Reached(list.into_iter().map(|s| s.2).collect())
        }
        Err(SolveError::OutOfReach { leg, .. } | SolveError::AtLimit { leg }) => {
            PointState::Refused(What::Singular(Kind::Type1, Some(leg)))
        }
        Err(SolveError::OutOfRange { joint, .. }) => PointState::Refused(What::Range(joint)),
        Err(_) => PointState::Refused(What::Open),
    }
}

type GridKey = (i64, i64);

/// A piece of a curve: what it is, the function that vanishes on it, its ends.
type CurvePiece = (What, Option<usize>, [f64; 2], [f64; 2]);

struct Tracer<'m> {
    model: &'m Model<f64>,
    region: &'m Region,
    accuracy: f64,
    probe: Probe,
    states: HashMap<GridKey, PointState>,
    /// The functions that change sign: kind and leg.
    functions: Vec<(Kind, Option<String>)>,
    segments: Vec<CurvePiece>,
    scale: [f64; 2],
    goes_on: &'m (dyn Fn() -> bool + Sync),
    left: usize,
}

impl<'m> Tracer<'m> {
    fn new(
        model: &'m Model<f64>,
        mode: &'m WorkingMode,
        region: &'m Region,
        accuracy: f64,
        grid: &[PointState],
        goes_on: &'m (dyn Fn() -> bool + Sync),
    ) -> Self {
        let mut probe = Probe::new(model, mode);
        let plan = &model.topology().plan.matrices;
        let leg = |b: usize| {
            let names: Vec<&str> =
                plan.blocks[b].legs.iter().map(|l| model.topology().legs[*l].name.as_str()).collect();
            names.join(", ")
        };
        // The list of functions does not depend on the posture.
        let mut list = Vec::new();
        let reached = (0..grid.len()).find(|n| grid[*n].is_reached());
        if let Some(node) = reached
            && probe.take(&region.pose(&region.point(node))).is_ok()
        {
            probe.signs(&mut list);
        }
        let functions = list.into_iter().map(|(kind, block, _)| (kind, block.map(leg))).collect();
        let nx = region.spans()[0].count;
        let states = grid
            .iter()
            .enumerate()
            .map(|(n, s)| ((((n % nx) as i64) << DEPTH, ((n / nx) as i64) << DEPTH), s.clone()))
            .collect();
        let step = |k: usize| {
            let s = &region.spans()[k];
            (s.high - s.low) / (s.count - 1) as f64 / f64::from(1_u32 << DEPTH)
        };
        let scale = [step(0), step(1)];
        Self { model, region, accuracy, probe, states, functions, segments: Vec::new(), scale, goes_on, left: 0 }
    }

    fn point(&self, key: GridKey) -> [f64; 2] {
        // As the nodes of the region are, to the last bit: a node on a curve has one sign.
        let along = |k: usize, i: i64| {
            let span = &self.region.spans()[k];
            let s = i as f64 / (((span.count - 1) << DEPTH) as f64);
            span.low * (1.0 - s) + span.high * s + self.region.nudge(k)
        };
        [along(0, key.0), along(1, key.1)]
    }

    fn state_at(&mut self, p: [f64; 2]) -> PointState {
        state(&mut self.probe, &self.region.pose(&p))
    }

    fn corner(&mut self, key: GridKey) -> PointState {
        if let Some(s) = self.states.get(&key) {
            return s.clone();
        }
        let s = self.state_at(self.point(key));
        self.states.insert(key, s.clone());
        s
    }

    /// One cell: divided while the limit of reach cuts it, then searched.
    fn cell(&mut self, i: i64, j: i64, size: i64) {
        if !(self.goes_on)() {
            self.left += 1;
            return;
        }
        let keys = [(i, j), (i + size, j), (i + size, j + size), (i, j + size)];
        let corners = keys.map(|k| self.corner(k));
        let reached = corners.iter().filter(|c| c.is_reached()).count();
        if reached == 0 {
            return;
        }
        if reached < 4 && size > 1 {
            let half = size / 2;
            for (a, b) in [(i, j), (i + half, j), (i, j + half), (i + half, j + half)] {
                self.cell(a, b, half);
            }
            return;
        }
        if reached < 4 {
            self.limit(keys, &corners);
        }
        for k in 0..self.functions.len() {
            self.crossing(k, keys, &corners);
        }
    }

    /// Where a function changes sign in a cell: one segment, or two.
    fn crossing(&mut self, k: usize, keys: [GridKey; 4], corners: &[PointState; 4]) {
        let mut points: Vec<(usize, [f64; 2])> = Vec::new();
        for e in 0..4 {
            let (a, b) = (e, (e + 1) % 4);
            let (Some(fa), Some(fb)) = (corners[a].value(k), corners[b].value(k)) else { continue };
            if (fa > 0.0) != (fb > 0.0)
                && let Some(p) = self.root(k, self.point(keys[a]), self.point(keys[b]))
            {
                points.push((e, p));
            }
        }
        let what = What::Singular(self.functions[k].0, self.functions[k].1.clone());
        match points[..] {
            [(_, p), (_, q)] => self.segments.push((what, Some(k), p, q)),
            [(_, p), (_, q), (_, r), (_, s)] => {
                // Saddle: the middle decides which corners belong together.
                let (a, c) = (self.point(keys[0]), self.point(keys[2]));
                let middle = self.state_at([(a[0] + c[0]) * 0.5, (a[1] + c[1]) * 0.5]).value(k).unwrap_or(1.0);
                let same = corners[0].value(k).is_some_and(|f| (f > 0.0) == (middle > 0.0));
                let pairs = if same { [(p, q), (r, s)] } else { [(s, p), (q, r)] };
                pairs.into_iter().for_each(|(p, q)| self.segments.push((what.clone(), Some(k), p, q)));
            }
            _ => {}
        }
    }

    /// The limit of reach in a smallest cell.
    fn limit(&mut self, keys: [GridKey; 4], corners: &[PointState; 4]) {
        let mut points: Vec<(What, [f64; 2])> = Vec::new();
        for e in 0..4 {
            let (a, b) = (e, (e + 1) % 4);
            let (inside, outside) = match (corners[a].is_reached(), corners[b].is_reached()) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                _ => continue,
            };
            points.push(self.edge_of_reach(self.point(keys[inside]), self.point(keys[outside])));
        }
        let inside = (0..4).find(|k| corners[*k].is_reached()).map(|k| self.point(keys[k]));
        for ends in points.chunks_exact(2) {
            let ((what, p), (other, q)) = (&ends[0], &ends[1]);
            if what == other {
                self.segments.push((what.clone(), None, *p, *q));
            } else if let Some([end, start]) = inside.and_then(|i| self.meeting(i, (what, *p), *q)) {
                self.segments.push((what.clone(), None, *p, end));
                self.segments.push((other.clone(), None, start, *q));
            }
        }
    }

    /// Where two limits of reach meet in a cell, between a point of each: the last point of the first and the first of the
    /// second.
    fn meeting(&mut self, inside: [f64; 2], (what, p): (&What, [f64; 2]), q: [f64; 2]) -> Option<[[f64; 2]; 2]> {
        let (mut ends, mut low, mut high) = ([p, q], 0.0, 1.0);
        for _ in 0..30 {
            let s = 0.5 * (low + high);
            let on = [p[0] + (q[0] - p[0]) * s, p[1] + (q[1] - p[1]) * s];
            let outside = [1.5, 2.0, 4.0, 8.0]
                .map(|k| [inside[0] + (on[0] - inside[0]) * k, inside[1] + (on[1] - inside[1]) * k])
                .into_iter()
                .find(|o| !self.state_at(*o).is_reached())?;
            let (found, at) = self.edge_of_reach(inside, outside);
            if found == *what {
                (low, ends[0]) = (s, at);
            } else {
                (high, ends[1]) = (s, at);
            }
        }
        Some(ends)
    }

    /// The last point that is reached on the way out, and what ends there.
    fn edge_of_reach(&mut self, mut inside: [f64; 2], mut outside: [f64; 2]) -> (What, [f64; 2]) {
        let mut what = What::Open;
        for _ in 0..60 {
            let middle = [(inside[0] + outside[0]) * 0.5, (inside[1] + outside[1]) * 0.5];
            match self.state_at(middle) {
                PointState::Reached(_) => inside = middle,
                PointState::Refused(w) => {
                    outside = middle;
                    what = w;
                }
            }
            if apart(inside, outside) < self.exactness() {
                break;
            }
        }
        (what, inside)
    }

    /// To which points are found: far below the accuracy, and the cells.
    fn exactness(&self) -> f64 {
        1e-3 * self.accuracy.min(0.01 * self.scale[0].min(self.scale[1]))
    }

    /// Where function `k` vanishes between two points where its signs differ; `None` where that is no loss of rank.
    fn root(&mut self, k: usize, a: [f64; 2], b: [f64; 2]) -> Option<[f64; 2]> {
        let SignChange::At(s) = self.probe.root(self.region, &a, &b, k, self.exactness() / apart(a, b)) else {
            return None;
        };
        Some([a[0] + (b[0] - a[0]) * s, a[1] + (b[1] - a[1]) * s])
    }

    /// Segments joined into curves, chords refined.
    fn finish(mut self) -> (Vec<Curve>, usize) {
        let segments = std::mem::take(&mut self.segments);
        let mut curves = Vec::new();
        let mut kinds: Vec<(What, Option<usize>)> = Vec::new();
        for (what, k, ..) in &segments {
            if !kinds.contains(&(what.clone(), *k)) {
                kinds.push((what.clone(), *k));
            }
        }
        for (what, k) in kinds {
            let own: Vec<([f64; 2], [f64; 2])> =
                segments.iter().filter(|s| s.0 == what && s.1 == k).map(|s| (s.2, s.3)).collect();
            // Pieces shorter than half a cell of the grid are left out.
            let shortest = 0.5 * f64::from(1_u32 << DEPTH) * self.scale[0].min(self.scale[1]);
            let long = |line: &[[f64; 2]]| line.windows(2).map(|p| apart(p[0], p[1])).sum::<f64>() > shortest;
            for line in
                join(&own, self.accuracy.min(0.05 * self.scale[0].min(self.scale[1]))).into_iter().filter(|l| long(l))
            {
                let points = thinned(&self.refine(k, &line), 0.5 * self.accuracy);
                let what = if k.is_none() { self.limit_of(&what, &points) } else { what.clone() };
                curves.push(Curve { what, points });
            }
        }
        (curves, self.left)
    }

    /// At the limit of reach a leg is singular in its drive (Type 1) or in its passive joints: whichever is nearer to zero.
    fn limit_of(&mut self, what: &What, points: &[[f64; 2]]) -> What {
        let What::Singular(_, leg) = what else { return what.clone() };
        let at = points[points.len() / 2];
        if self.probe.take(&self.region.pose(&at)).is_err() {
            return what.clone();
        }
        let size = |kind| sigma(self.model, self.probe.positions(), kind).unwrap_or(f64::INFINITY);
        let kind = if size(Kind::Lpjts) < size(Kind::Type1) { Kind::Lpjts } else { Kind::Type1 };
        What::Singular(kind, leg.clone())
    }

    /// Points added until chords lie within the accuracy.
    fn refine(&mut self, k: Option<usize>, line: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut out = Vec::with_capacity(line.len());
        for pair in line.windows(2) {
            out.push(pair[0]);
            self.halve(k, pair[0], pair[1], 10, &mut out);
        }
        out.extend(line.last());
        out
    }

    fn halve(&mut self, k: Option<usize>, a: [f64; 2], b: [f64; 2], depth: u32, out: &mut Vec<[f64; 2]>) {
        let length = apart(a, b);
        if depth == 0 || length < 4.0 * self.accuracy {
            return;
        }
        if !(self.goes_on)() {
            self.left += 1;
            return;
        }
        let middle = [(a[0] + b[0]) * 0.5, (a[1] + b[1]) * 0.5];
        let normal = [(a[1] - b[1]) / length, (b[0] - a[0]) / length];
        // A curve that leaves its chord by more than a quarter of it is left to the grid.
        let side = |s: f64| [middle[0] + normal[0] * s * length, middle[1] + normal[1] * s * length];
        let Some(p) = self.between(k, side(-0.25), side(0.25)) else { return };
        if apart(p, middle) <= self.accuracy {
            return;
        }
        self.halve(k, a, p, depth - 1, out);
        out.push(p);
        self.halve(k, p, b, depth - 1, out);
    }

    /// The point of a curve between two points beside it.
    fn between(&mut self, k: Option<usize>, a: [f64; 2], b: [f64; 2]) -> Option<[f64; 2]> {
        let (sa, sb) = (self.state_at(a), self.state_at(b));
        if let Some(k) = k {
            let (fa, fb) = (sa.value(k)?, sb.value(k)?);
            return if (fa > 0.0) == (fb > 0.0) { None } else { self.root(k, a, b) };
        }
        match (sa.is_reached(), sb.is_reached()) {
            (true, false) => Some(self.edge_of_reach(a, b).1),
            (false, true) => Some(self.edge_of_reach(b, a).1),
            _ => None,
        }
    }
}

/// The line without points that lie within `slack` of a chord (Ramer, Douglas, Peucker).
fn thinned(line: &[[f64; 2]], slack: f64) -> Vec<[f64; 2]> {
    let mut keep = vec![false; line.len()];
    let mut stack = vec![(0, line.len() - 1)];
    while let Some((first, last)) = stack.pop() {
        keep[first] = true;
        keep[last] = true;
        let (a, b) = (line[first], line[last]);
        let length = apart(a, b);
        let off = |p: [f64; 2]| {
            if length < slack {
                return apart(a, p);
            }
            ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])).abs() / length
        };
        let inner = first + 1..last;
        let worst = inner.max_by(|i, j| off(line[*i]).total_cmp(&off(line[*j])));
        if let Some(i) = worst.filter(|i| off(line[*i]) > slack) {
            stack.extend([(first, i), (i, last)]);
        }
    }
    line.iter().zip(keep).filter_map(|(p, keep)| keep.then_some(*p)).collect()
}

fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Segments that share ends, as lines.
fn join(segments: &[([f64; 2], [f64; 2])], accuracy: f64) -> Vec<Vec<[f64; 2]>> {
    let cell = |p: [f64; 2]| ((p[0] / accuracy).round() as i64, (p[1] / accuracy).round() as i64);
    let mut ends: HashMap<GridKey, Vec<usize>> = HashMap::new();
    for (i, (a, b)) in segments.iter().enumerate() {
        ends.entry(cell(*a)).or_default().push(i);
        ends.entry(cell(*b)).or_default().push(i);
    }
    let mut used = vec![false; segments.len()];
    let next = |p: [f64; 2], used: &[bool]| -> Option<(usize, [f64; 2])> {
        let (x, y) = cell(p);
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x + dx, y + dy)));
        around.flat_map(|key| ends.get(&key).into_iter().flatten()).find(|i| !used[**i]).map(|&i| {
            let (a, b) = segments[i];
            (i, if apart(a, p) <= apart(b, p) { b } else { a })
        })
    };
    let mut lines = Vec::new();
    for start in 0..segments.len() {
        if used[start] {
            continue;
        }
        used[start] = true;
        let mut line = vec![segments[start].0, segments[start].1];
        while let Some((i, p)) = next(line[line.len() - 1], &used) {
            used[i] = true;
            line.push(p);
        }
        line.reverse();
        while let Some((i, p)) = next(line[line.len() - 1], &used) {
            used[i] = true;
            line.push(p);
        }
        lines.push(line);
    }
    lines
}
