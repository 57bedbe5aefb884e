//! Subspace iteration: a block of vectors, row by row, `4 P` columns in registers.

use super::Quad;
use super::condense::Pencil;
use super::factor::{self, Factor};
use super::plan::Component;
use crate::linalg::symmetric::Symmetric;

/// A column whose part outside the columns before it is smaller than this (squared, over itself) adds nothing.
const DEPENDENT: f64 = 1e-13;

/// A μ below this fraction of the largest is rounding.
const NOISE: f64 = 1e-14;

/// The factor that one application is believed to take off an error before anything was seen: vectors of noise hold a part of
/// every mode and follow theory; vectors that were given may lack one.
const BELIEVED_OF_NOISE: f64 = 1e-3;
const BELIEVED: f64 = 0.1;

/// Block sizes, in registers.
pub(super) const SIZES: [usize; 6] = [1, 2, 3, 4, 8, 16];

/// Calls `$f::<P>` for a block of P registers.
macro_rules! with_size {
    ($p:expr, $f:ident($($arg:expr),* $(,)?)) => {
        match $p {
            1 => $f::<1>($($arg),*),
            2 => $f::<2>($($arg),*),
            3 => $f::<3>($($arg),*),
            4 => $f::<4>($($arg),*),
            8 => $f::<8>($($arg),*),
            _ => $f::<16>($($arg),*),
        }
    };
}

/// The block of a component.
#[derive(Default)]
pub(super) struct RitzBlock {
    /// Registers per row; 0 before it is started.
    pub p: usize,
    /// Vectors: after [`ritz`] with `XᵀKX = I`, `XᵀMX = diag(μ)`, μ falling.
    pub x: Vec<Quad>,
    /// M X.
    mx: Vec<Quad>,
    /// `Y = K⁻¹ M X` and M Y.
    y: Vec<Quad>,
    my: Vec<Quad>,
    /// 1 / (λ - shift).
    pub mu: Vec<f64>,
    /// 1 / (λ - shift) of the last [`RitzBlock::ritz`], while `mu` is not known.
    pub last_mu: Vec<f64>,
    /// Bound of the relative error of μ.
    pub miss: Vec<f64>,
    /// Columns from here on are new.
    new_from: usize,
    believed: f64,
    /// Errors of μ when they were last measured.
    before: Vec<f64>,
    /// What one more application takes off an error, at least.
    ratio: Vec<f64>,
}

/// Memory shared by all blocks.
#[derive(Default)]
pub(super) struct Scratch {
    gk: Vec<Quad>,
    gm: Vec<Quad>,
    q: Vec<Quad>,
    l: Vec<f64>,
    scale: Vec<f64>,
    order: Vec<usize>,
    small: Symmetric,
}

fn sized(x: &mut Vec<Quad>, len: usize) {
    x.clear();
    x.resize(len, Quad::ZERO);
}

/// A number between -1 and 1 that looks random and is the same every time.
fn noise(i: usize, j: usize) -> f64 {
    let mut h = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (j as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((h ^ (h >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

impl RitzBlock {
    /// Column `j` of row `i`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.x[i * self.p + j / 4].as_array()[j % 4]
    }

    /// Columns `from..` filled with noise that favours soft and heavy coordinates; the block grows or shrinks to p registers.
    pub fn fill(&mut self, c: &Component, pencil: &Pencil, p: usize, from: usize) {
        let (n, old) = (c.size(), self.p);
        if old != p {
            sized(&mut self.y, n * p);
            for i in 0..n {
                let keep = old.min(p);
                self.y[i * p..i * p + keep].copy_from_slice(&self.x[i * old..i * old + keep]);
            }
            std::mem::swap(&mut self.x, &mut self.y);
            for x in [&mut self.y, &mut self.mx, &mut self.my] {
                sized(x, n * p);
            }
            for x in [&mut self.mu, &mut self.last_mu, &mut self.miss, &mut self.before, &mut self.ratio] {
                x.resize(4 * p, 0.0);
            }
            self.p = p;
        }
        self.unknown(from);
        for i in 0..n {
            for j in from..4 * p {
                self.x[i * p + j / 4].as_mut_array()[j % 4] = noise(i, j);
            }
        }
        self.multiply(c, pencil);
    }

    /// Nothing is known of the vectors, but that they are there.
    pub fn forget(&mut self, noise: bool) {
        self.unknown(0);
        self.new_from = 0;
        self.believed = if noise { BELIEVED_OF_NOISE } else { BELIEVED };
    }

    fn unknown(&mut self, from: usize) {
        self.mu[from..].fill(0.0);
        self.last_mu[from..].fill(0.0);
        self.miss[from..].fill(f64::INFINITY);
        self.before[from..].fill(f64::INFINITY);
        self.ratio[from..].fill(1.0);
    }

    /// Set a column; [`RitzBlock::multiply`] must follow.
    pub fn set(&mut self, i: usize, j: usize, x: f64) {
        self.x[i * self.p + j / 4].as_mut_array()[j % 4] = x;
    }

    /// M X anew, after X was changed or M is another.
    pub fn multiply(&mut self, c: &Component, pencil: &Pencil) {
        with_size!(self.p, product_of(c, pencil, &self.x, &mut self.mx));
    }

    /// X becomes `K⁻¹ M X`; `miss` is found on the way.
    pub fn apply(&mut self, c: &Component, pencil: &Pencil, k: &Factor) {
        with_size!(self.p, apply_of(c, pencil, k, self));
    }

    /// The best vectors of the span of `K⁻¹ M X` (after [`RitzBlock::apply`]). False when numbers are not finite.
    pub fn ritz(&mut self, c: &Component, pencil: &Pencil, s: &mut Scratch) -> bool {
        let Some(rank) = with_size!(self.p, ritz_of(self, s)) else { return false };
        self.new_from = 4 * self.p;
        if rank < 4 * self.p {
            self.refill(c, pencil, rank);
        }
        true
    }

    /// New columns from number `from` on, without the modes found before it.
    pub fn refill(&mut self, c: &Component, pencil: &Pencil, from: usize) {
        self.fill(c, pencil, self.p, from);
        self.clear_new(from);
        self.multiply(c, pencil);
        self.miss.fill(f64::INFINITY);
        self.believed = BELIEVED;
        self.new_from = from;
    }

    /// Whether two applications may follow each other: not where new columns would be drowned by the softest mode.
    pub fn steady(&self) -> bool {
        self.new_from == 0 || self.new_from == 4 * self.p
    }

    /// Take the first columns out of the others, `x -= x_i (x_iᵀ M x) / μ_i`: a mode found is not found again.
    fn clear_new(&mut self, from: usize) {
        let p = self.p;
        for j in from..4 * p {
            for k in 0..from {
                let entry = |x: &[Quad], i: usize, j: usize| x[i * p + j / 4].as_array()[j % 4];
                let n = self.x.len() / p;
                let s: f64 = (0..n).map(|i| entry(&self.mx, i, k) * entry(&self.x, i, j)).sum::<f64>() / self.mu[k];
                for i in 0..n {
                    let x = entry(&self.x, i, j) - s * entry(&self.x, i, k);
                    self.set(i, j, x);
                }
            }
        }
    }
}

fn product_of<const P: usize>(c: &Component, pencil: &Pencil, x: &[Quad], out: &mut [Quad]) {
    product::<P>(c, pencil, x.as_chunks().0, out.as_chunks_mut().0);
}

#[inline(always)]
fn add<const P: usize>(x: &mut [Quad; P], m: f64, y: &[Quad; P]) {
    let m = Quad::splat(m);
    for (x, y) in x.iter_mut().zip(y) {
        *x = m.mul_add(*y, *x);
    }
}

/// `out = M x`.
fn product<const P: usize>(c: &Component, pencil: &Pencil, x: &[[Quad; P]], out: &mut [[Quad; P]]) {
    let (x_legs, x_tip) = x.split_at(c.tip());
    let (legs, tip) = out.split_at_mut(c.tip());
    tip.fill([Quad::ZERO; P]);
    for pack in &c.packs {
        let m = &pencil.m[pack.base..][..pack.len];
        for lane in 0..pack.lanes {
            let x = &x_legs[pack.start[lane]..][..pack.n];
            let out = &mut legs[pack.start[lane]..][..pack.n];
            for i in 0..pack.n {
                let first = pack.first[i];
                let (before, rest) = out.split_at_mut(i);
                let x_i = x[i];
                let mut sum = [Quad::ZERO; P];
                add(&mut sum, m[pack.place(i, i)].as_array()[lane], &x_i);
                let row = m[pack.row[i]..][..i - first].iter().zip(&x[first..]).zip(&mut before[first..]);
                for ((m, x), out) in row {
                    let m = m.as_array()[lane];
                    add(&mut sum, m, x);
                    add(out, m, &x_i);
                }
                rest[0] = sum;
            }
            for i in 0..c.border {
                let x_i = x_tip[i];
                let mut sum = tip[i];
                for ((m, x), out) in m[pack.place(pack.n + i, 0)..][..pack.n].iter().zip(x).zip(&mut *out) {
                    let m = m.as_array()[lane];
                    add(&mut sum, m, x);
                    add(out, m, &x_i);
                }
                tip[i] = sum;
            }
        }
    }
    for (i, out) in tip.iter_mut().enumerate() {
        for (j, x) in x_tip.iter().enumerate() {
            add(out, pencil.m_tip[i.max(j) * c.border + i.min(j)], x);
        }
    }
}

/// `Y = K⁻¹ M X`, `M Y`; the old `M X` stays for the products of [`ritz_of`] and is exchanged there.
fn apply_of<const P: usize>(c: &Component, pencil: &Pencil, k: &Factor, block: &mut RitzBlock) {
    block.y.copy_from_slice(&block.mx);
    let y: &mut [[Quad; P]] = block.y.as_chunks_mut().0;
    factor::forward(c, k, y);
    factor::pivots(c, k, y);
    factor::backward(c, k, y);
    product::<P>(c, pencil, y, block.my.as_chunks_mut().0);
    let mut sum = [Quad::ZERO; P];
    for (y, mx) in y.iter().zip(block.mx.as_chunks::<P>().0) {
        (0..P).for_each(|j| sum[j] = y[j].mul_add(mx[j], sum[j]));
    }
    block.judge(&sum);
}

impl RitzBlock {
    /// Errors of the vectors of the last [`RitzBlock::ritz`], after the first application that follows it. A vector of norm 1 in K
    /// with `μ = xᵀMx` misses `K⁻¹Mx = μx` by `zᵀKz - μ²`, squared, at right angles to the block; the error of μ is at most
    /// that over the distance of μ to what the block leaves out (Temple and Kato), which the smallest μ of the block stands
    /// for. Each application takes off the square of the quotient of these μ; no more is believed than was seen from the
    /// last measurement to this one.
    fn judge(&mut self, zKz: &[Quad]) {
        let last = self.mu.iter().copied().filter(|mu| *mu > 0.0).fold(f64::INFINITY, f64::min);
        for j in 0..self.mu.len() {
            let mu = self.mu[j];
            if mu > 0.0 {
                let miss = (zKz[j / 4].as_array()[j % 4] / (mu * mu) - 1.0).abs();
                let seen = if self.before[j].is_finite() { (miss / self.before[j]).sqrt() } else { self.believed };
                self.ratio[j] = (last / mu).powi(2).max(seen).min(1.0);
                self.before[j] = miss;
                self.miss[j] = miss / (1.0 - last / mu);
            } else {
                self.miss[j] *= self.ratio[j];
            }
        }
    }

    /// The errors that [`RitzBlock::ritz`] would leave now.
    pub fn foresee(&mut self) {
        self.miss.iter_mut().zip(&self.ratio).for_each(|(miss, ratio)| *miss *= ratio);
    }

    /// Take `Y = K⁻¹ M X` as it is; μ is not known then.
    pub fn accept(&mut self) {
        std::mem::swap(&mut self.x, &mut self.y);
        std::mem::swap(&mut self.mx, &mut self.my);
        self.mu.fill(0.0);
    }
}

/// `AᵀB`, row i of the result at `i · P`.
#[inline(always)]
fn gram<const P: usize>(a: &[[Quad; P]], b: &[[Quad; P]], out: &mut [[Quad; P]]) {
    for (block, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let mut sum = [[Quad::ZERO; P]; 4];
        for (a, b) in a.iter().zip(b) {
            let a = a[block].to_array();
            for i in 0..4 {
                add(&mut sum[i], a[i], b);
            }
        }
        *out = sum;
    }
}

/// `x q` for all rows, in place.
#[inline(always)]
fn combine<const P: usize>(x: &mut [[Quad; P]], q: &[[Quad; P]]) {
    for x in x {
        let mut sum = [Quad::ZERO; P];
        for (x, q) in x.iter().zip(q.as_chunks::<4>().0) {
            let x = x.to_array();
            for i in 0..4 {
                add(&mut sum, x[i], &q[i]);
            }
        }
        *x = sum;
    }
}

/// `YᵀMY z = μ YᵀKY z` with `YᵀKY = YᵀMX`; X and M X become `Y z`, `M Y z`, μ falling. Number of columns that are not
/// dependent; `None` when numbers are not finite.
fn ritz_of<const P: usize>(block: &mut RitzBlock, s: &mut Scratch) -> Option<usize> {
    let p = 4 * P;
    sized(&mut s.gk, p * P);
    sized(&mut s.gm, p * P);
    sized(&mut s.q, p * P);
    gram::<P>(block.y.as_chunks().0, block.mx.as_chunks().0, s.gk.as_chunks_mut().0);
    gram::<P>(block.y.as_chunks().0, block.my.as_chunks().0, s.gm.as_chunks_mut().0);
    let rank = s.pencil::<P>()?;
    for (k, i) in s.order.iter().enumerate() {
        block.mu[k] = if k < rank { s.small.d[*i] } else { 0.0 };
    }
    block.last_mu.copy_from_slice(&block.mu);
    combine::<P>(block.y.as_chunks_mut().0, s.q.as_chunks().0);
    combine::<P>(block.my.as_chunks_mut().0, s.q.as_chunks().0);
    std::mem::swap(&mut block.x, &mut block.y);
    std::mem::swap(&mut block.mx, &mut block.my);
    Some(rank)
}

impl Scratch {
    /// Eigenvalues of `G_M z = μ G_K z` in `small`, falling by `order`, and `q = z`. Columns of `G_K` that depend on others get
    /// zero and come last; how many do not.
    fn pencil<const P: usize>(&mut self) -> Option<usize> {
        let p = 4 * P;
        let rank = self.cholesky(P);
        // C = L⁻¹ G_M L⁻ᵀ: rows, then columns.
        let c: &mut [[Quad; P]] = self.gm.as_chunks_mut().0;
        for (i, row) in c.iter_mut().enumerate() {
            let s = Quad::splat(self.scale[i]);
            row.iter_mut()
                .enumerate()
                .for_each(|(j, x)| *x *= s * Quad::new(std::array::from_fn(|k| self.scale[4 * j + k])));
        }
        for _ in 0..2 {
            for i in 0..p {
                let (done, row) = c.split_at_mut(i);
                done.iter().enumerate().for_each(|(k, y)| factor::subtract(&mut row[0], self.l[i * p + k], y));
                row[0].iter_mut().for_each(|x| *x *= Quad::splat(self.l[i * p + i]));
            }
            transpose(c);
        }
        self.small.reset(p);
        for (i, row) in c.iter().enumerate() {
            // The largest last: small numbers at the upper end keep their digits in QL.
            (0..=i).for_each(|j| self.small.put(p - 1 - i, p - 1 - j, row[j / 4].as_array()[j % 4]));
        }
        if rank == 0 || !self.small.vectors() {
            return None;
        }
        let d = &self.small.d;
        self.order.clear();
        self.order.extend(0..p);
        self.order.sort_unstable_by(|i, j| d[*j].total_cmp(&d[*i]));
        // What is left of dependent columns is zero or noise.
        let noise = NOISE * d[self.order[0]];
        let rank = rank.min(self.order.iter().take_while(|i| d[**i] > noise).count());
        // q = scale L⁻ᵀ z.
        let q: &mut [[Quad; P]] = self.q.as_chunks_mut().0;
        for i in (0..p).rev() {
            let (rest, done) = q.split_at_mut(i + 1);
            let row = &mut rest[i];
            for (k, of) in self.order.iter().enumerate().take(rank) {
                row[k / 4].as_mut_array()[k % 4] = self.small.vector(*of, p - 1 - i);
            }
            done.iter().enumerate().for_each(|(r, y)| factor::subtract(row, self.l[(i + 1 + r) * p + i], y));
            row.iter_mut().for_each(|x| *x *= Quad::splat(self.l[i * p + i]));
        }
        for (row, s) in q.iter_mut().zip(&self.scale) {
            row.iter_mut().for_each(|x| *x *= Quad::splat(*s));
        }
        (rank > 0).then_some(rank)
    }

    /// Cholesky of `G_K`, scaled to ones on its diagonal; reciprocals on the diagonal of L. A column that depends on those before
    /// it, or is not finite, gets zeros. How many do not.
    fn cholesky(&mut self, P: usize) -> usize {
        let p = 4 * P;
        let entry = |g: &[Quad], i: usize, j: usize| g[i * P + j / 4].as_array()[j % 4];
        self.scale.clear();
        self.scale.extend((0..p).map(|i| entry(&self.gk, i, i).sqrt().recip()));
        self.l.clear();
        self.l.resize(p * p, 0.0);
        let mut rank = 0;
        for i in 0..p {
            let (done, row) = self.l.split_at_mut(i * p);
            let row = &mut row[..p];
            let mut pivot = 1.0;
            for j in 0..i {
                let l_j = &done[j * p..=j * p + j];
                let sum: f64 = row[..j].iter().zip(l_j).map(|(x, y)| x * y).sum();
                row[j] = (self.scale[i] * self.scale[j] * entry(&self.gk, i, j) - sum) * l_j[j];
                pivot -= row[j] * row[j];
            }
            if pivot > DEPENDENT && self.scale[i].is_finite() {
                row[i] = pivot.sqrt().recip();
                rank += 1;
            } else {
                row.fill(0.0);
                self.scale[i] = 0.0;
            }
        }
        rank
    }
}

fn transpose<const P: usize>(a: &mut [[Quad; P]]) {
    for i in 0..P {
        for j in 0..=i {
            let block = |a: &[[Quad; P]], r: usize, c: usize| Quad::transpose(std::array::from_fn(|k| a[4 * r + k][c]));
            let (lower, upper) = (block(a, i, j), block(a, j, i));
            for k in 0..4 {
                a[4 * i + k][j] = upper[k];
                a[4 * j + k][i] = lower[k];
            }
        }
    }
}
