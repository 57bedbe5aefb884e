//! K and M of a component, copied into packs; coordinates without mass condensed.

use super::plan::{ArrowPart, ArrowPlan, Component, Fetch, LANES, Massless};
use super::{Arrow, ArrowError, Quad};
use std::ops::Range;

/// A pivot of the massless block below this fraction of its row is zero.
const LOOSE: f64 = 1e-13;

/// K and M of one component.
pub(super) struct Pencil {
    pub k: Vec<Quad>,
    pub m: Vec<Quad>,
    pub k_tip: Vec<f64>,
    pub m_tip: Vec<f64>,
    /// Per leg with massless coordinates: rows `[K_mm | K_mr K_mb]`, solved.
    massless: Vec<Vec<f64>>,
    /// Rows `[K_mm | K_mr K_mb]` before they are solved.
    coupling: Vec<f64>,
}

impl Pencil {
    pub fn new(c: &Component) -> Self {
        let (len, tip) = (c.len, c.border * c.border);
        let massless: Vec<Vec<f64>> = c.massless.iter().map(|m| vec![0.0; m.coords.len() * m.cols]).collect();
        Self {
            k: vec![Quad::ZERO; len],
            m: vec![Quad::ZERO; len],
            k_tip: vec![0.0; tip],
            m_tip: vec![0.0; tip],
            coupling: vec![0.0; massless.iter().map(Vec::len).max().unwrap_or(0)],
            massless,
        }
    }

    /// Copy both matrices and condense: `K_rr - K_rm K_mm⁻¹ K_mr`.
    pub fn load(&mut self, c: &Component, k: &Arrow<f64>, m: &Arrow<f64>) -> Result<(), ArrowError> {
        if !c.massless.is_empty() {
            // Condensing fills places that are not copied.
            self.k.fill(Quad::ZERO);
        }
        copy_packs(&c.fetch, k, &mut self.k);
        copy_packs(&c.fetch, m, &mut self.m);
        copy(&c.fetch_tip, k, &mut self.k_tip);
        copy(&c.fetch_tip, m, &mut self.m_tip);
        for (i, of) in c.massless.iter().enumerate() {
            self.massless[i].fill(0.0);
            copy(&of.fetch, k, &mut self.massless[i]);
            self.coupling[..self.massless[i].len()].copy_from_slice(&self.massless[i]);
            solve(&mut self.massless[i], of)?;
            self.subtract(c, of, i);
        }
        Ok(())
    }

    /// K -= K_mrᵀ X with X = K_mm⁻¹ K_mr, in the envelope, the border rows and the tip.
    fn subtract(&mut self, c: &Component, of: &Massless, i: usize) {
        let (m, cols, pack) = (of.coords.len(), of.cols, &c.packs[of.pack]);
        let product = |x: &[f64], y: &[f64], a: usize, b: usize| -> f64 {
            (0..m).map(|r| x[r * cols + m + a] * y[r * cols + m + b]).sum()
        };
        let x = &self.massless[i];
        for a in 0..pack.n + c.border {
            let (from, to) = if a < pack.n { (pack.first[a], a + 1) } else { (0, pack.n) };
            for b in from..to {
                let entry = &mut self.k[pack.base + pack.place(a, b)];
                entry.as_mut_array()[of.lane] -= product(&self.coupling, x, a, b);
            }
        }
        for a in 0..c.border {
            for b in 0..=a {
                self.k_tip[a * c.border + b] -= product(&self.coupling, x, pack.n + a, pack.n + b);
            }
        }
    }

    /// Massless coordinates of a mode: `x_m = -X x_r`, written by global number.
    pub fn recover(&self, c: &Component, mode: &mut [f64]) {
        for (of, x) in c.massless.iter().zip(&self.massless) {
            let (m, pack) = (of.coords.len(), &c.packs[of.pack]);
            let leg = &c.coords[pack.start[of.lane]..][..pack.n];
            for (r, coord) in of.coords.iter().enumerate() {
                let row = &x[r * of.cols + m..(r + 1) * of.cols];
                let others = leg.iter().chain(&c.coords[c.tip()..]);
                mode[*coord] = -row.iter().zip(others).map(|(x, j)| x * mode[*j]).sum::<f64>();
            }
        }
    }

    /// Largest and smallest positive `K_ii / M_ii`: bounds of the spectrum, roughly.
    pub fn quotients(&self, c: &Component) -> (f64, f64) {
        let (mut largest, mut smallest) = (0.0_f64, f64::INFINITY);
        let mut see = |k: f64, m: f64| {
            let q = k / m;
            largest = largest.max(q.abs());
            if q > 0.0 {
                smallest = smallest.min(q);
            }
        };
        for pack in &c.packs {
            for i in 0..pack.n {
                let at = pack.base + pack.place(i, i);
                let (k, m) = (self.k[at].as_array(), self.m[at].as_array());
                (0..pack.lanes).for_each(|lane| see(k[lane], m[lane]));
            }
        }
        for i in 0..c.border {
            see(self.k_tip[i * (c.border + 1)], self.m_tip[i * (c.border + 1)]);
        }
        (largest, smallest.min(largest))
    }
}

/// Check what the plan promises: sizes, zeros, numbers.
pub(super) fn check(plan: &ArrowPlan, k: &Arrow<f64>, m: &Arrow<f64>) -> Result<(), ArrowError> {
    plan.check(k)?;
    plan.check(m)?;
    zeros(plan, &plan.zeros, k)?;
    zeros(plan, &plan.zeros_m, m)
}

/// The first row with an entry that is not finite.
pub(super) fn not_finite(plan: &ArrowPlan, a: &Arrow<f64>) -> Option<usize> {
    let parts = (0..a.legs.len()).flat_map(|l| [ArrowPart::Own(l), ArrowPart::Border(l)]).chain([ArrowPart::Tip]);
    parts.filter_map(|p| p.of(a).iter().position(|x| !x.is_finite()).map(|at| plan.row_of(p, at))).min()
}

fn zeros(plan: &ArrowPlan, zeros: &[(ArrowPart, Vec<Range<usize>>)], a: &Arrow<f64>) -> Result<(), ArrowError> {
    for (part, runs) in zeros {
        let data = part.of(a);
        for run in runs {
            // Either sign of zero has no bits but the sign.
            if data[run.clone()].iter().fold(0, |bits, x| bits | x.to_bits() << 1) != 0 {
                let entry = run.clone().find(|i| data[*i] != 0.0).unwrap_or(run.start);
                return Err(ArrowError::Structure { coordinate: plan.row_of(*part, entry) });
            }
        }
    }
    Ok(())
}

fn copy_packs(fetch: &[Fetch], a: &Arrow<f64>, out: &mut [Quad]) {
    for f in fetch {
        let data = f.part.of(a);
        for &(to, from) in &f.pairs {
            out[to as usize / LANES].as_mut_array()[to as usize % LANES] = data[from as usize];
        }
    }
}

fn copy(fetch: &[Fetch], a: &Arrow<f64>, out: &mut [f64]) {
    for f in fetch {
        let data = f.part.of(a);
        f.pairs.iter().for_each(|&(to, from)| out[to as usize] = data[from as usize]);
    }
}

/// Gauss-Jordan on `[K_mm | rest]` with row exchanges; the rest becomes `K_mm⁻¹ rest`.
fn solve(a: &mut [f64], of: &Massless) -> Result<(), ArrowError> {
    let (m, cols) = (of.coords.len(), of.cols);
    let scale = |a: &[f64], i: usize| a[i * cols..(i + 1) * cols].iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let largest = (0..m).map(|i| scale(a, i)).fold(0.0, f64::max);
    for k in 0..m {
        let size = |i: usize| a[i * cols + k].abs();
        let best = (k..m).max_by(|i, j| size(*i).total_cmp(&size(*j))).unwrap_or(k);
        if !(size(best) > LOOSE * largest) {
            return Err(ArrowError::Loose { coordinate: of.coords[k] });
        }
        if best != k {
            (0..cols).for_each(|j| a.swap(k * cols + j, best * cols + j));
        }
        let r = a[k * cols + k].recip();
        (0..cols).for_each(|j| a[k * cols + j] *= r);
        for i in (0..m).filter(|i| *i != k) {
            let factor = a[i * cols + k];
            (0..cols).for_each(|j| a[i * cols + j] -= factor * a[k * cols + j]);
        }
    }
    Ok(())
}
