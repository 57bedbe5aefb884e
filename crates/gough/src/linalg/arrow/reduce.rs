//! `C = D^-½ L⁻¹ K L⁻ᵀ D^-½` with `M = L D Lᵀ`: the arrow is kept until the full matrix is written out.

use super::Quad;
use super::condense::Pencil;
use super::factor::Factor;
use super::plan::{Component, Pack};
use crate::linalg::symmetric::Symmetric;

/// Memory of the reduction.
#[derive(Default)]
pub(super) struct Reduction {
    /// Leg and border of one pack, all columns.
    w: Vec<Quad>,
    tip: Vec<f64>,
    column: Vec<f64>,
    scale: Vec<f64>,
}

impl Reduction {
    /// C of a component into `out`.
    pub fn of(&mut self, c: &Component, pencil: &Pencil, mass: &Factor, out: &mut Symmetric) {
        let (n, b) = (c.size(), c.border);
        out.reset(n);
        self.tip.clear();
        self.tip.extend_from_slice(&pencil.k_tip);
        self.column.clear();
        self.column.resize(b, 0.0);
        self.scale.clear();
        self.scale.extend(mass.d.iter().map(|d| d.sqrt().recip()));
        for pack in &c.packs {
            let (k, l) = (&pencil.k[pack.base..][..pack.len], &mass.l[pack.base..][..pack.len]);
            let stride = (pack.n + b).next_multiple_of(4);
            self.fill(pack, b, k, stride);
            left(pack, b, l, &mut self.w, stride);
            right(pack, b, l, &mut self.w, stride);
            self.write_leg(c, pack, mass, stride, out);
        }
        self.write_tip(c, mass, out);
    }

    fn fill(&mut self, pack: &Pack, b: usize, k: &[Quad], stride: usize) {
        self.w.clear();
        self.w.resize((pack.n + b) * stride, Quad::ZERO);
        for i in 0..pack.n + b {
            let (first, end) = if i < pack.n { (pack.first[i], i + 1) } else { (0, pack.n) };
            for (j, x) in (first..end).zip(&k[pack.place(i, first)..]) {
                self.w[i * stride + j] = *x;
                self.w[j * stride + i] = *x;
            }
        }
    }

    /// Own block as it is; border columns still need the tip's `L_b⁻¹`; the tip collects its share.
    fn write_leg(&mut self, c: &Component, pack: &Pack, mass: &Factor, stride: usize, out: &mut Symmetric) {
        let (b, tip) = (c.border, c.tip());
        for lane in 0..pack.lanes {
            let start = pack.start[lane];
            for i in 0..pack.n {
                let s = self.scale[start + i];
                for j in 0..=i {
                    let x = self.w[i * stride + j].as_array()[lane];
                    out.put(start + i, start + j, x * s * self.scale[start + j]);
                }
                for k in 0..b {
                    self.column[k] = self.w[(pack.n + k) * stride + i].as_array()[lane];
                }
                solve_tip(b, &mass.tip, &mut self.column);
                for k in 0..b {
                    out.put(tip + k, start + i, self.column[k] * s * self.scale[tip + k]);
                }
            }
        }
        for i in 0..b {
            for j in 0..=i {
                self.tip[i * b + j] += self.w[(pack.n + i) * stride + pack.n + j].reduce_add();
            }
        }
    }

    fn write_tip(&mut self, c: &Component, mass: &Factor, out: &mut Symmetric) {
        let (b, tip) = (c.border, c.tip());
        for i in 0..b {
            (0..i).for_each(|j| self.tip[j * b + i] = self.tip[i * b + j]);
        }
        // L⁻¹ T, then its transpose again: L⁻¹ (L⁻¹ T)ᵀ.
        for _ in 0..2 {
            self.tip.chunks_exact_mut(b.max(1)).for_each(|row| solve_tip(b, &mass.tip, row));
            for i in 0..b {
                (0..i).for_each(|j| self.tip.swap(i * b + j, j * b + i));
            }
        }
        for i in 0..b {
            for j in 0..=i {
                out.put(tip + i, tip + j, self.tip[i * b + j] * self.scale[tip + i] * self.scale[tip + j]);
            }
        }
    }
}

/// `L_b x = b` in place.
fn solve_tip(b: usize, l: &[f64], x: &mut [f64]) {
    for i in 1..b {
        let s: f64 = (0..i).map(|j| l[i * b + j] * x[j]).sum();
        x[i] -= s;
    }
}

/// `W = L⁻¹ K`, four columns at a time.
fn left(pack: &Pack, b: usize, l: &[Quad], w: &mut [Quad], stride: usize) {
    for i in 1..pack.n + b {
        let (first, width) = if i < pack.n { (pack.first[i], i - pack.first[i]) } else { (0, pack.n) };
        let l_i = &l[pack.place(i, first)..][..width];
        let (done, row) = w.split_at_mut(i * stride);
        for (k, x) in row[..stride].as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let mut sum = *x;
            for (l, y) in l_i.iter().zip(done[first * stride..].chunks_exact(stride)) {
                let y = &y[4 * k..4 * k + 4];
                (0..4).for_each(|j| sum[j] = l.mul_neg_add(y[j], sum[j]));
            }
            *x = sum;
        }
    }
}

/// Lower half of `C = W L⁻ᵀ`: `c_ij = w_ij - Σ c_ik l_jk`.
fn right(pack: &Pack, b: usize, l: &[Quad], w: &mut [Quad], stride: usize) {
    for j in 1..pack.n + b {
        let (first, width) = if j < pack.n { (pack.first[j], j - pack.first[j]) } else { (0, pack.n) };
        let l_j = &l[pack.place(j, first)..][..width];
        for i in j..pack.n + b {
            let row = &mut w[i * stride..(i + 1) * stride];
            let sum = row[first..].iter().zip(l_j).fold(row[j], |sum, (c, l)| c.mul_neg_add(*l, sum));
            row[j] = sum;
        }
    }
}
