//! All modes of a pencil, or the lowest few and the proof that none was missed.

use super::block::{RitzBlock, SIZES, Scratch};
use super::condense::{self, Pencil};
use super::factor::{self, Factor};
use super::plan::{ArrowPlan, Component};
use super::reduce::Reduction;
use super::{Arrow, ArrowError, ArrowMode, Dense, ModeKind, Quad};
use crate::linalg::symmetric::Symmetric;

/// Pivots of M below this fraction of their diagonal are not positive.
const MASS: f64 = 1e-13;
/// Pivots of K below this fraction of their diagonal ask for a shift.
const SINGULAR: f64 = 1e-11;
/// Pivots of `K - σM` below this fraction of their diagonal are too small to count.
const UNSURE: f64 = 1e-11;
/// Eigenvalues below this fraction of the largest `K_ii / M_ii` are zero.
const ZERO: f64 = 1e-12;
/// Pivots of K below this fraction of their diagonal are rounding: K lacks rank.
const RANK: f64 = 1e-14;
/// Relative error of an eigenvalue that is accepted.
const CONVERGED: f64 = 1e-12;
/// Neighbours closer than this are one cluster, which is wanted as a whole.
const CLUSTER: f64 = 1e-6;
/// Vectors beyond those asked for.
const GUARDS: usize = 3;
/// Rounds (two applications each) before a block grows, and all together.
const PATIENCE: usize = 8;
const ROUNDS: usize = 80;

/// What `all` gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// Eigenvalues only.
    Values,
    /// Vectors too, with `xᵀMx = 1`.
    Vectors,
}

/// Where the search for the lowest modes starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start<'a> {
    /// From nothing.
    Fresh,
    /// From the vectors of the last search of this solver: the neighbouring posture of a map.
    Last,
    /// From vectors, one per row, all coordinates each.
    Vectors(&'a Dense<f64>),
}

/// Memory of one component.
struct ComponentMemory {
    pencil: Pencil,
    factor: Factor,
    block: RitzBlock,
    /// (K - shift · M) / scale is factored: eigenvalues of blocks are μ = scale / (λ - shift).
    shift: f64,
    /// Largest |K_ii / M_ii|.
    largest: f64,
    /// All modes are known, from the full matrix.
    full: bool,
    /// Eigenvalues: ascending for blocks, as they come for full matrices.
    values: Vec<f64>,
    /// Full matrices: vectors, row by row.
    vectors: Vec<f64>,
    /// Whether K lacks rank; known once it was asked for.
    lacks: Option<bool>,
    /// How many of the lowest must converge.
    wanted: usize,
    /// Rounds since the block was started or grown.
    rounds: usize,
}

/// An eigenvalue and where its vector is.
#[derive(Clone, Copy)]
struct Found {
    value: f64,
    component: usize,
    index: usize,
}

/// Memory of the computation. It grows in the first call of each kind; later calls allocate nothing.
pub struct ArrowSolver {
    parts: Vec<ComponentMemory>,
    reduction: Reduction,
    symmetric: Symmetric,
    scratch: Scratch,
    columns: Vec<Quad>,
    found: Vec<Found>,
    modes: Vec<ArrowMode>,
    vectors: Dense<f64>,
}

impl ArrowSolver {
    /// Memory for matrices of this plan.
    pub fn new(plan: &ArrowPlan) -> Self {
        let memory = |c: &Component| ComponentMemory {
            pencil: Pencil::new(c),
            factor: Factor::new(c),
            block: RitzBlock::default(),
            shift: 0.0,
            largest: 0.0,
            full: false,
            values: Vec::with_capacity(c.size()),
            vectors: Vec::new(),
            lacks: None,
            wanted: 0,
            rounds: 0,
        };
        Self {
            parts: plan.components.iter().map(memory).collect(),
            reduction: Reduction::default(),
            symmetric: Symmetric::default(),
            scratch: Scratch::default(),
            columns: Vec::new(),
            found: Vec::with_capacity(plan.modes()),
            modes: Vec::with_capacity(plan.modes()),
            vectors: Dense::zeros(0, plan.size()),
        }
    }

    /// Whether the matrices have the plan's shape and zeros, finite numbers and a positive mass; what is wrong otherwise.
    pub fn check(&mut self, plan: &ArrowPlan, k: &Arrow<f64>, m: &Arrow<f64>) -> Result<(), ArrowError> {
        self.load(plan, k, m)
    }

    /// All modes, ascending.
    pub fn all(
        &mut self,
        plan: &ArrowPlan,
        k: &Arrow<f64>,
        m: &Arrow<f64>,
        want: Want,
    ) -> Result<&[ArrowMode], ArrowError> {
        self.load(plan, k, m)?;
        for c in 0..plan.components.len() {
            self.solve_full(plan, c, want).map_err(|e| name_cause(plan, k, m, e))?;
        }
        self.collect(plan, plan.modes());
        self.write_vectors(plan, if want == Want::Vectors { self.found.len() } else { 0 });
        Ok(&self.modes)
    }

    /// The lowest `count` modes, ascending, with vectors: values to 1e-11 or what the rounding of K leaves, vectors to 1e-6, and
    /// none is missed. Fewer when there are fewer.
    pub fn lowest(
        &mut self,
        plan: &ArrowPlan,
        k: &Arrow<f64>,
        m: &Arrow<f64>,
        count: usize,
        start: Start,
    ) -> Result<&[ArrowMode], ArrowError> {
        let count = count.min(plan.modes());
        let searched = self.load(plan, k, m).and_then(|()| self.search(plan, count, start));
        let done = match searched {
            Err(ArrowError::NotConverged { .. }) => self.solve_whole(plan),
            other => other,
        };
        if let Err(e) = done {
            // What is left in the blocks is no good start.
            self.parts.iter_mut().for_each(|p| p.block.p = 0);
            return Err(name_cause(plan, k, m, e));
        }
        self.collect(plan, count);
        self.write_vectors(plan, count);
        Ok(&self.modes)
    }

    /// Modes of the last call.
    pub fn modes(&self) -> &[ArrowMode] {
        &self.modes
    }

    /// Vectors of the last call, one per row in the order of the modes, all coordinates each, with `xᵀMx = 1`.
    pub fn vectors(&self) -> &Dense<f64> {
        &self.vectors
    }

    /// Copy, condense, check the mass.
    fn load(&mut self, plan: &ArrowPlan, k: &Arrow<f64>, m: &Arrow<f64>) -> Result<(), ArrowError> {
        condense::check(plan, k, m)?;
        let fits = |(p, c): (&ComponentMemory, &Component)| p.factor.d.len() == c.size() && p.pencil.k.len() == c.len;
        if self.parts.len() != plan.components.len() || !self.parts.iter().zip(&plan.components).all(fits) {
            return Err(ArrowError::Shape);
        }
        for (part, c) in self.parts.iter_mut().zip(&plan.components) {
            part.pencil.load(c, k, m).map_err(|e| name_cause(plan, k, m, e))?;
            part.factor.of(c, &part.pencil, 0.0, 1.0);
            if let Some(i) = part.factor.indefinite(MASS) {
                let size = part.factor.diagonal[i].abs();
                let pivot = if size > 0.0 { part.factor.d[i] / size } else { part.factor.d[i] };
                return Err(name_cause(plan, k, m, ArrowError::Mass { coordinate: c.coords[i], pivot }));
            }
            part.largest = part.pencil.quotients(c).0;
            part.shift = 0.0;
            part.lacks = None;
        }
        Ok(())
    }

    /// All modes of all components: what blocks do not settle, as where a dozen modes lie close together, full matrices do.
    fn solve_whole(&mut self, plan: &ArrowPlan) -> Result<(), ArrowError> {
        for (component, c) in plan.components.iter().enumerate() {
            let part = &mut self.parts[component];
            part.factor.of(c, &part.pencil, 0.0, 1.0);
            self.solve_full(plan, component, Want::Vectors)?;
        }
        Ok(())
    }

    /// All modes of a component whose M is factored.
    fn solve_full(&mut self, plan: &ArrowPlan, component: usize, want: Want) -> Result<(), ArrowError> {
        let (c, part) = (&plan.components[component], &mut self.parts[component]);
        self.reduction.of(c, &part.pencil, &part.factor, &mut self.symmetric);
        let ended = if want == Want::Values { self.symmetric.values() } else { self.symmetric.vectors() };
        if !ended {
            return Err(ArrowError::NotConverged { component });
        }
        part.values.clear();
        part.values.extend_from_slice(&self.symmetric.d);
        part.full = true;
        if want == Want::Vectors {
            self.expand(c, component);
        }
        Ok(())
    }

    /// Vectors of the full matrix back to coordinates: `x = L⁻ᵀ D^-½ z`, four at a time.
    fn expand(&mut self, c: &Component, component: usize) {
        let (n, part) = (c.size(), &mut self.parts[component]);
        part.vectors.resize(n * n, 0.0);
        for first in (0..n).step_by(4) {
            self.columns.clear();
            self.columns.extend((0..n).map(|i| {
                let s = part.factor.d[i].sqrt().recip();
                let z = |k: usize| if first + k < n { s * self.symmetric.vector(first + k, i) } else { 0.0 };
                Quad::new([z(0), z(1), z(2), z(3)])
            }));
            factor::backward::<1>(c, &part.factor, self.columns.as_chunks_mut().0);
            for (i, x) in self.columns.iter().enumerate() {
                let x = x.as_array();
                (first..n.min(first + 4)).for_each(|k| part.vectors[k * n + i] = x[k - first]);
            }
        }
    }

    /// The eigenvalues known, ascending; the lowest `count` become modes. A small eigenvalue is that of a free motion only where
    /// the stiffness lacks rank: beside a very short beam every other is small.
    fn collect(&mut self, plan: &ArrowPlan, count: usize) {
        self.sort_found();
        self.modes.clear();
        for found in &self.found[..count] {
            let part = &mut self.parts[found.component];
            let small = found.value.abs() <= ZERO * part.largest.max(part.shift.abs());
            let kind = if small && part.lacks_stiffness(&plan.components[found.component]) {
                ModeKind::Free
            } else if found.value > 0.0 {
                ModeKind::Vibration
            } else {
                ModeKind::Unstable
            };
            self.modes.push(ArrowMode { value: found.value, component: found.component, kind });
        }
    }

    fn sort_found(&mut self) {
        self.found.clear();
        for (component, part) in self.parts.iter().enumerate() {
            let of = |(index, value): (usize, &f64)| Found { value: *value, component, index };
            self.found.extend(part.values.iter().enumerate().map(of));
        }
        self.found.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
    }

    fn write_vectors(&mut self, plan: &ArrowPlan, count: usize) {
        let n = plan.size();
        self.vectors.rows = count;
        self.vectors.data.clear();
        self.vectors.data.resize(count * n, 0.0);
        for (found, out) in self.found.iter().zip(self.vectors.data.chunks_exact_mut(n.max(1))) {
            let (c, part) = (&plan.components[found.component], &self.parts[found.component]);
            for (i, coord) in c.coords.iter().enumerate() {
                out[*coord] = if part.full {
                    part.vectors[found.index * c.size() + i]
                } else {
                    part.block.at(i, found.index) / part.block.mu[found.index].sqrt()
                };
            }
            part.pencil.recover(c, out);
        }
    }

    /// Blocks of all components until the lowest `count` of all have converged and are counted.
    fn search(&mut self, plan: &ArrowPlan, count: usize, start: Start) -> Result<(), ArrowError> {
        if count == 0 {
            self.parts.iter_mut().for_each(|p| p.values.clear());
            return Ok(());
        }
        for c in 0..plan.components.len() {
            self.begin(plan, c, count, start)?;
        }
        for _ in 0..ROUNDS {
            for c in 0..plan.components.len() {
                self.advance(plan, c)?;
            }
            let Some(sigma) = self.choose(count) else {
                self.grow_all(plan)?;
                continue;
            };
            let settled = self.parts.iter().all(ComponentMemory::settled);
            if settled && self.counted(plan, sigma)? {
                return Ok(());
            }
        }
        let component = self.parts.iter().position(|p| !p.settled()).unwrap_or(0);
        Err(ArrowError::NotConverged { component })
    }

    /// Factor K, fill the block; small components are solved in full at once.
    fn begin(&mut self, plan: &ArrowPlan, component: usize, count: usize, start: Start) -> Result<(), ArrowError> {
        let (c, part) = (&plan.components[component], &mut self.parts[component]);
        let columns = count.min(c.size()) + GUARDS;
        let last = if start == Start::Last { part.block.p } else { 0 };
        let size = SIZES.iter().copied().find(|p| *p >= last && 4 * p >= columns);
        (part.wanted, part.rounds) = (0, 0);
        let Some(p) = size.filter(|p| 8 * p <= c.size()) else {
            return self.solve_full(plan, component, Want::Vectors);
        };
        part.full = false;
        part.factor_stiffness(c, component)?;
        match start {
            // One column of noise: a mode that all others lack comes in by it.
            Start::Last => part.block.fill(c, &part.pencil, p, (4 * last).saturating_sub(1)),
            Start::Fresh => part.block.fill(c, &part.pencil, p, 0),
            Start::Vectors(of) => part.fill_from(c, p, of, plan.size())?,
        }
        part.block.forget(start == Start::Fresh);
        Ok(())
    }

    /// One to three applications and the best vectors of the block.
    fn advance(&mut self, plan: &ArrowPlan, component: usize) -> Result<(), ArrowError> {
        let (c, part) = (&plan.components[component], &mut self.parts[component]);
        if part.full || (part.rounds > 0 && part.settled()) {
            return Ok(());
        }
        if part.rounds >= PATIENCE {
            return self.grow(plan, component);
        }
        part.block.apply(c, &part.pencil, &part.factor);
        if part.rounds > 0 && part.settled() {
            return Ok(()); // the vectors were good already
        }
        part.block.foresee();
        for _ in 0..part.more() {
            part.block.accept();
            part.block.apply(c, &part.pencil, &part.factor);
        }
        if !part.block.ritz(c, &part.pencil, &mut self.scratch) {
            return Err(ArrowError::NotConverged { component });
        }
        part.rounds += 1;
        let (shift, scale) = (part.shift, part.scale());
        part.values.clear();
        part.values.extend(part.block.mu.iter().filter(|mu| **mu > 0.0).map(|mu| scale / mu + shift));
        Ok(())
    }

    /// Which modes are wanted of every component, and a σ just above the last of them; `None` when the blocks end within the
    /// cluster of the last.
    fn choose(&mut self, count: usize) -> Option<f64> {
        self.sort_found();
        let value = |i: usize| self.found.get(i).map(|f| f.value);
        let shift = self.parts.iter().fold(0.0_f64, |s, p| s.max(p.shift.abs()));
        let near = |a: f64, b: f64| b - a <= CLUSTER * (a.abs() + shift);
        let mut end = count - 1;
        while let (Some(a), Some(b)) = (value(end), value(end + 1))
            && near(a, b)
        {
            end += 1;
        }
        let complete = self.parts.iter().all(|p| p.full);
        let sigma = match (value(end), value(end + 1)) {
            (Some(a), Some(b)) => a + 0.05 * (b - a),
            (Some(_), None) if complete => f64::INFINITY,
            _ => return None,
        };
        self.parts.iter_mut().for_each(|p| p.wanted = 0);
        for found in &self.found[..=end] {
            self.parts[found.component].wanted += 1;
        }
        Some(sigma)
    }

    /// Sturm: as many eigenvalues of each block lie below σ as it found there. A block that found fewer goes on with new guards.
    fn counted(&mut self, plan: &ArrowPlan, sigma: f64) -> Result<bool, ArrowError> {
        let mut good = true;
        for (component, (part, c)) in self.parts.iter_mut().zip(&plan.components).enumerate() {
            if part.full || c.size() == 0 {
                continue;
            }
            let below = part.count_below(c, sigma).ok_or(ArrowError::NotConverged { component })?;
            if below != part.wanted {
                good = false;
                part.factor_stiffness(c, component)?;
                part.block.refill(c, &part.pencil, part.wanted.min(4 * part.block.p - 1));
                part.rounds = part.rounds.max(1);
            }
        }
        Ok(good)
    }

    fn grow_all(&mut self, plan: &ArrowPlan) -> Result<(), ArrowError> {
        for c in 0..self.parts.len() {
            if !self.parts[c].full {
                self.grow(plan, c)?;
            }
        }
        Ok(())
    }

    /// The next size of block, or the full matrix.
    fn grow(&mut self, plan: &ArrowPlan, component: usize) -> Result<(), ArrowError> {
        let (c, part) = (&plan.components[component], &mut self.parts[component]);
        part.rounds = 0;
        let old = part.block.p;
        if let Some(p) = SIZES.iter().copied().find(|p| *p > old && 8 * p <= c.size()) {
            part.block.fill(c, &part.pencil, p, 4 * old);
            part.block.forget(false);
            return Ok(());
        }
        part.factor.of(c, &part.pencil, 0.0, 1.0);
        self.solve_full(plan, component, Want::Vectors)
    }
}

impl ComponentMemory {
    /// Whether K lacks rank, pivot by pivot against its diagonal. The factors are those of K afterwards.
    fn lacks_stiffness(&mut self, c: &Component) -> bool {
        if let Some(known) = self.lacks {
            return known;
        }
        self.factor.of(c, &self.pencil, 1.0, 0.0);
        let lacks = self.factor.indefinite(RANK).is_some();
        self.lacks = Some(lacks);
        lacks
    }

    /// Takes the units out of μ.
    fn scale(&self) -> f64 {
        if self.largest > 0.0 { self.largest } else { 1.0 }
    }

    /// Applications after the first of a round. Where K had to be shifted its softest modes would drown all others.
    fn more(&self) -> usize {
        match self.rounds {
            0 if self.shift != 0.0 => 0,
            0 => 2,
            _ => usize::from(self.block.steady() && !self.settled()),
        }
    }

    /// Factor `K - shift M`, positive definite: without shift, or with a small one, or with one beyond the most negative mode.
    fn factor_stiffness(&mut self, c: &Component, component: usize) -> Result<(), ArrowError> {
        if self.shift == 0.0 {
            self.factor.of(c, &self.pencil, self.scale().recip(), 0.0);
            if self.factor.indefinite(SINGULAR).is_none() {
                return Ok(());
            }
            let (largest, smallest) = self.pencil.quotients(c);
            let first = (1e-3 * smallest).max(1e-11 * largest);
            self.shift = if first > 0.0 { -first } else { -1.0 };
        }
        for _ in 0..60 {
            self.factor.of(c, &self.pencil, self.scale().recip(), -self.shift / self.scale());
            if self.factor.indefinite(SINGULAR * 1e-2).is_none() {
                return Ok(());
            }
            self.shift *= 10.0;
        }
        Err(ArrowError::NotConverged { component })
    }

    /// Start from vectors of other matrices: those that move this component; the other columns are noise.
    fn fill_from(&mut self, c: &Component, p: usize, of: &Dense<f64>, size: usize) -> Result<(), ArrowError> {
        if of.cols != size || of.data.len() != of.rows * of.cols {
            return Err(ArrowError::Shape);
        }
        self.block.fill(c, &self.pencil, p, 0);
        let mut column = 0;
        for k in 0..of.rows {
            let norm: f64 = c.coords.iter().map(|i| of.at(k, *i).powi(2)).sum();
            let whole: f64 = (0..size).map(|i| of.at(k, i).powi(2)).sum();
            if norm > 1e-12 * whole && norm.is_finite() && column < 4 * p {
                c.coords.iter().enumerate().for_each(|(i, g)| self.block.set(i, column, of.at(k, *g)));
                column += 1;
            }
        }
        self.block.multiply(c, &self.pencil);
        Ok(())
    }

    /// Whether all that is wanted has converged: errors of λ, from those of μ.
    fn settled(&self) -> bool {
        let good = |(miss, mu): (&f64, &f64)| {
            let part = (1.0 + self.shift * mu / self.scale()).abs().max(1e-3);
            *miss <= (CONVERGED * part).max(0.1 * CONVERGED)
        };
        self.full || self.wanted == 0 || {
            self.values.len() >= self.wanted
                && self.block.miss.iter().zip(&self.block.last_mu).take(self.wanted).all(good)
        }
    }

    /// Number of eigenvalues below σ; the factor is spoilt. σ moves up a little where a pivot is too small.
    fn count_below(&mut self, c: &Component, sigma: f64) -> Option<usize> {
        (0..6).find_map(|k| {
            let sigma = sigma + 1e-8 * f64::from(k) * sigma.abs();
            self.factor.of(c, &self.pencil, self.scale().recip(), -sigma / self.scale());
            self.factor.negative(UNSURE)
        })
    }
}

/// An entry that is not a number makes any step fail: say that instead.
fn name_cause(plan: &ArrowPlan, k: &Arrow<f64>, m: &Arrow<f64>, e: ArrowError) -> ArrowError {
    let row = condense::not_finite(plan, k).or_else(|| condense::not_finite(plan, m));
    row.map_or(e, |coordinate| ArrowError::NotFinite { coordinate })
}
