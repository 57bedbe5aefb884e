//! `A = L D Lᵀ` of an arrow, up to four legs at once; solutions for a block of right-hand sides.

use super::Quad;
use super::condense::Pencil;
use super::plan::{Component, LANES, Pack};

/// Factors of one arrow. Nothing is exchanged: L keeps envelope and arrow.
pub(super) struct Factor {
    /// Unit lower triangle in packs (reciprocal pivots on the diagonal), border rows below.
    pub l: Vec<Quad>,
    /// Lower triangle of the tip, reciprocal pivots on the diagonal.
    pub tip: Vec<f64>,
    /// Pivots, in the order of the component.
    pub d: Vec<f64>,
    /// Diagonal before.
    pub diagonal: Vec<f64>,
}

impl Factor {
    pub fn new(c: &Component) -> Self {
        let n = c.size();
        let tip = vec![0.0; c.border * c.border];
        Self { l: vec![Quad::ZERO; c.len], tip, d: vec![0.0; n], diagonal: vec![0.0; n] }
    }

    /// Factor `α K + β M`.
    pub fn of(&mut self, c: &Component, pencil: &Pencil, alpha: f64, beta: f64) {
        let (a, b) = (Quad::splat(alpha), Quad::splat(beta));
        for ((l, k), m) in self.l.iter_mut().zip(&pencil.k).zip(&pencil.m) {
            *l = a * *k + b * *m;
        }
        for ((t, k), m) in self.tip.iter_mut().zip(&pencil.k_tip).zip(&pencil.m_tip) {
            *t = alpha * k + beta * m;
        }
        for i in 0..c.border {
            self.diagonal[c.tip() + i] = self.tip[i * (c.border + 1)];
        }
        for pack in &c.packs {
            let l = &mut self.l[pack.base..][..pack.len];
            for i in 0..pack.n {
                let x = l[pack.place(i, i)].as_mut_array();
                (0..pack.lanes).for_each(|lane| self.diagonal[pack.start[lane] + i] = x[lane]);
                x[pack.lanes..].fill(1.0);
            }
            factor_pack(pack, c.border, l, |i, pivot| {
                (0..pack.lanes).for_each(|lane| self.d[pack.start[lane] + i] = pivot.as_array()[lane]);
            });
            border_pack(pack, c.border, l, &mut self.tip);
        }
        factor_tip(c.border, &mut self.tip, &mut self.d[c.tip()..]);
    }

    /// The coordinate where the matrix turns out not to be definite: a pivot not above `tolerance` of its diagonal.
    pub fn indefinite(&self, tolerance: f64) -> Option<usize> {
        self.d.iter().zip(&self.diagonal).position(|(d, a)| !(*d > tolerance * a && *a > 0.0))
    }

    /// Number of negative eigenvalues (Sylvester); `None` when a pivot is too small to trust.
    pub fn negative(&self, tolerance: f64) -> Option<usize> {
        let trusted = self.d.iter().zip(&self.diagonal).all(|(d, a)| d.is_finite() && d.abs() > tolerance * a.abs());
        (trusted).then(|| self.d.iter().filter(|d| **d < 0.0).count())
    }
}

#[inline(always)]
fn dot(x: &[Quad], y: &[Quad]) -> Quad {
    let mut sum = [Quad::ZERO; 2];
    let (xs, x_rest) = x.as_chunks::<2>();
    let (ys, y_rest) = y.as_chunks::<2>();
    for (x, y) in xs.iter().zip(ys) {
        sum[0] = x[0].mul_add(y[0], sum[0]);
        sum[1] = x[1].mul_add(y[1], sum[1]);
    }
    if let ([x], [y]) = (x_rest, y_rest) {
        sum[0] = x.mul_add(*y, sum[0]);
    }
    sum[0] + sum[1]
}

/// Row by row: `g_ij = a_ij - Σ g_ik l_jk`, `l_ij = g_ij / d_j`, `d_i = a_ii - Σ g_ij l_ij`.
fn factor_pack(pack: &Pack, border: usize, a: &mut [Quad], mut pivot: impl FnMut(usize, Quad)) {
    for i in 0..pack.n + border {
        let (first, width) = if i < pack.n { (pack.first[i], i - pack.first[i]) } else { (0, pack.n) };
        let start = pack.place(i, first);
        let (done, rest) = a.split_at_mut(start);
        let row = &mut rest[..];
        for j in first..first + width {
            let low = first.max(pack.first[j]);
            let l_j = &done[pack.row[j] + low - pack.first[j]..][..j - low];
            let s = dot(&row[low - first..j - first], l_j);
            row[j - first] -= s;
        }
        if i >= pack.n {
            continue; // g is wanted by the tip first
        }
        let mut d = row[width];
        for j in first..first + width {
            let g = row[j - first];
            let l = g * done[pack.place(j, j)];
            d = g.mul_neg_add(l, d);
            row[j - first] = l;
        }
        pivot(i, d);
        row[width] = Quad::ONE / d;
    }
}

/// What the legs leave of the tip, `A_bb - Σ g_b D⁻¹ g_bᵀ`; then border rows of L.
fn border_pack(pack: &Pack, border: usize, a: &mut [Quad], tip: &mut [f64]) {
    for i in 0..border {
        let (upper, row) = a.split_at_mut(pack.place(pack.n + i, 0));
        let row = &mut row[..pack.n];
        // Rows of the border above are l already: g_i · l_j; the diagonal needs g_i · l_i.
        for j in 0..i {
            let l_j = &upper[pack.place(pack.n + j, 0)..][..pack.n];
            tip[i * border + j] -= dot(row, l_j).reduce_add();
        }
        let mut sum = Quad::ZERO;
        for (k, g) in row.iter_mut().enumerate() {
            let l = *g * upper[pack.place(k, k)];
            sum = g.mul_add(l, sum);
            *g = l;
        }
        tip[i * border + i] -= sum.reduce_add();
    }
}

fn factor_tip(n: usize, a: &mut [f64], d: &mut [f64]) {
    for i in 0..n {
        for j in 0..i {
            let s: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] -= s;
        }
        for j in 0..i {
            let g = a[i * n + j];
            a[i * n + j] = g * a[j * n + j];
            a[i * n + i] -= g * a[i * n + j];
        }
        d[i] = a[i * n + i];
        a[i * n + i] = d[i].recip();
    }
}

/// `x -= l y` on one row of a block.
#[inline(always)]
pub(super) fn subtract<const P: usize>(x: &mut [Quad; P], l: f64, y: &[Quad; P]) {
    let l = Quad::splat(l);
    for (x, y) in x.iter_mut().zip(y) {
        *x = l.mul_neg_add(*y, *x);
    }
}

/// Solve `L x = b` in place.
pub(super) fn forward<const P: usize>(c: &Component, f: &Factor, x: &mut [[Quad; P]]) {
    let (legs, tip) = x.split_at_mut(c.tip());
    for pack in &c.packs {
        let l = &f.l[pack.base..][..pack.len];
        for lane in 0..pack.lanes {
            let x = &mut legs[pack.start[lane]..][..pack.n];
            for i in 0..pack.n {
                let first = pack.first[i];
                let (done, rest) = x.split_at_mut(i);
                let row = &l[pack.row[i]..][..i - first];
                let mut sum = rest[0];
                for (l, y) in row.iter().zip(&done[first..]) {
                    subtract(&mut sum, l.as_array()[lane % LANES], y);
                }
                rest[0] = sum;
            }
            for (i, t) in tip.iter_mut().enumerate() {
                let mut sum = *t;
                for (l, y) in l[pack.place(pack.n + i, 0)..][..pack.n].iter().zip(&*x) {
                    subtract(&mut sum, l.as_array()[lane % LANES], y);
                }
                *t = sum;
            }
        }
    }
    for i in 0..c.border {
        for j in 0..i {
            let y = tip[j];
            subtract(&mut tip[i], f.tip[i * c.border + j], &y);
        }
    }
}

/// Solve `D x = b` in place.
pub(super) fn pivots<const P: usize>(c: &Component, f: &Factor, x: &mut [[Quad; P]]) {
    let scale = |x: &mut [Quad; P], r: f64| x.iter_mut().for_each(|x| *x *= Quad::splat(r));
    for pack in &c.packs {
        for lane in 0..pack.lanes {
            for (i, x) in x[pack.start[lane]..][..pack.n].iter_mut().enumerate() {
                scale(x, f.l[pack.base + pack.place(i, i)].as_array()[lane]);
            }
        }
    }
    for (i, x) in x[c.tip()..].iter_mut().enumerate() {
        scale(x, f.tip[i * (c.border + 1)]);
    }
}

/// Solve `Lᵀ x = b` in place.
pub(super) fn backward<const P: usize>(c: &Component, f: &Factor, x: &mut [[Quad; P]]) {
    let (legs, tip) = x.split_at_mut(c.tip());
    for i in (0..c.border).rev() {
        let y = tip[i];
        (0..i).for_each(|j| subtract(&mut tip[j], f.tip[i * c.border + j], &y));
    }
    for pack in &c.packs {
        let l = &f.l[pack.base..][..pack.len];
        for lane in 0..pack.lanes {
            let x = &mut legs[pack.start[lane]..][..pack.n];
            for (i, t) in tip.iter().enumerate() {
                for (l, x) in l[pack.place(pack.n + i, 0)..][..pack.n].iter().zip(&mut *x) {
                    subtract(x, l.as_array()[lane % LANES], t);
                }
            }
            for i in (1..pack.n).rev() {
                let first = pack.first[i];
                let (before, rest) = x.split_at_mut(i);
                for (l, x) in l[pack.row[i]..][..i - first].iter().zip(&mut before[first..]) {
                    subtract(x, l.as_array()[lane % LANES], &rest[0]);
                }
            }
        }
    }
}
