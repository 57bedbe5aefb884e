//! Eigenvalues and vectors of a full symmetric matrix: Householder, then QL.

use super::Quad;

/// Steps of QL per eigenvalue before it is given up; two or three are usual.
const STEPS: usize = 60;

/// A symmetric matrix and the memory of its diagonalisation. Rows are padded to whole registers.
#[derive(Default)]
pub(super) struct Symmetric {
    pub n: usize,
    width: usize,
    a: Vec<Quad>,
    /// Diagonal; eigenvalues afterwards.
    pub d: Vec<f64>,
    /// e[i] couples i and i + 1.
    e: Vec<f64>,
    beta: Vec<f64>,
    v: Vec<Quad>,
    w: Vec<Quad>,
    u: Vec<Quad>,
    p: Vec<Quad>,
    /// Row k: vector k.
    z: Vec<Quad>,
}

#[inline(always)]
fn get(x: &[Quad], i: usize) -> f64 {
    x[i / 4].as_array()[i % 4]
}

#[inline(always)]
fn set(x: &mut [Quad], i: usize, value: f64) {
    x[i / 4].as_mut_array()[i % 4] = value;
}

/// `x·y` over whole registers.
#[inline(always)]
fn dot(x: &[Quad], y: &[Quad]) -> f64 {
    x.iter().zip(y).fold(Quad::ZERO, |sum, (x, y)| x.mul_add(*y, sum)).reduce_add()
}

impl Symmetric {
    /// Make room for n rows; entries are zero. Allocates only when it grows.
    pub fn reset(&mut self, n: usize) {
        let width = n.div_ceil(4);
        (self.n, self.width) = (n, width);
        for x in [&mut self.v, &mut self.w, &mut self.u, &mut self.p] {
            x.clear();
            x.resize(width, Quad::ZERO);
        }
        self.a.clear();
        self.a.resize(n * width, Quad::ZERO);
        for x in [&mut self.d, &mut self.e, &mut self.beta] {
            x.clear();
            x.resize(n, 0.0);
        }
    }

    /// Entry (i, j) and (j, i).
    #[inline(always)]
    pub fn put(&mut self, i: usize, j: usize, x: f64) {
        set(&mut self.a[i * self.width..(i + 1) * self.width], j, x);
        set(&mut self.a[j * self.width..(j + 1) * self.width], i, x);
    }

    /// Component i of vector k.
    #[inline(always)]
    pub fn vector(&self, k: usize, i: usize) -> f64 {
        get(&self.z[k * self.width..(k + 1) * self.width], i)
    }

    /// Householder from the last row up: row r loses all but its neighbour by `H = I - β u uᵀ`, and `H A H = A - v wᵀ - w vᵀ`
    /// is carried out row by row together with the product `A u` of the next step.
    pub fn tridiagonal(&mut self) {
        let (n, width) = (self.n, self.width);
        for r in (0..n).rev() {
            let (above, row) = self.a.split_at_mut(r * width);
            let row = &mut row[..width];
            rank_two(row, get(&self.v, r), get(&self.w, r), &self.v, &self.w);
            self.d[r] = get(row, r);
            if r == 0 {
                break;
            }
            (self.e[r - 1], self.beta[r]) = reflector(row, r);
            let q = r.div_ceil(4);
            self.u[..q].copy_from_slice(&row[..q]);
            self.p[..q].fill(Quad::ZERO);
            sweep(above, width, r, q, [&self.v, &self.w, &self.u], &mut self.p);
            let beta = Quad::splat(self.beta[r]);
            self.p[..q].iter_mut().for_each(|p| *p *= beta);
            let kappa = Quad::splat(0.5 * self.beta[r] * dot(&self.u[..q], &self.p[..q]));
            std::mem::swap(&mut self.v, &mut self.u);
            for ((w, p), v) in self.w[..q].iter_mut().zip(&self.p).zip(&self.v) {
                *w = kappa.mul_neg_add(*v, *p);
            }
        }
    }

    /// Eigenvalues in `d`, in no order. False when QL does not end or a number is not finite.
    pub fn values(&mut self) -> bool {
        self.tridiagonal();
        root_free(&mut self.d, &mut self.e)
    }

    /// Eigenvalues in `d`, in no order, and their vectors.
    pub fn vectors(&mut self) -> bool {
        self.tridiagonal();
        self.z.clear();
        self.z.resize(self.n * self.width, Quad::ZERO);
        for k in 0..self.n {
            set(&mut self.z[k * self.width..], k, 1.0);
        }
        // Q first, then the rotations of QL: the other way round most numbers would be too small for the processor's liking.
        for z in self.z.chunks_exact_mut(self.width.max(1)) {
            for r in 1..self.n {
                let q = r.div_ceil(4);
                let u = &self.a[r * self.width..][..q];
                let s = Quad::splat(-self.beta[r] * dot(u, &z[..q]));
                z[..q].iter_mut().zip(u).for_each(|(z, u)| *z = s.mul_add(*u, *z));
            }
        }
        ql(&mut self.d, &mut self.e, &mut self.z, self.width)
    }
}

/// `row -= v_i w + w_i v`.
#[inline(always)]
fn rank_two(row: &mut [Quad], v_i: f64, w_i: f64, v: &[Quad], w: &[Quad]) {
    let (v_i, w_i) = (Quad::splat(v_i), Quad::splat(w_i));
    for ((a, v), w) in row.iter_mut().zip(v).zip(w) {
        *a = v_i.mul_neg_add(*w, w_i.mul_neg_add(*v, *a));
    }
}

/// Turn the first r entries of a row into u of the reflector that leaves only entry r - 1; what is left there, and β.
#[inline(always)]
fn reflector(row: &mut [Quad], r: usize) -> (f64, f64) {
    (r..r.next_multiple_of(4)).for_each(|j| set(row, j, 0.0));
    let q = r.div_ceil(4);
    let x = get(row, r - 1);
    set(row, r - 1, 0.0);
    let tail = dot(&row[..q], &row[..q]);
    if tail == 0.0 {
        return (x, 0.0);
    }
    let norm = (x * x + tail).sqrt();
    let e = -norm.copysign(x);
    set(row, r - 1, x - e);
    (e, 1.0 / (norm * (norm + x.abs())))
}

/// Rows above r: `a_i -= v_i w + w_i v`, and `p += u_i a_i`; four rows together.
#[inline(always)]
fn sweep(a: &mut [Quad], width: usize, r: usize, q: usize, vwu: [&[Quad]; 3], p: &mut [Quad]) {
    let [v, w, u] = vwu.map(|x| &x[..q]);
    let p = &mut p[..q];
    let mut blocks = a[..r * width].chunks_exact_mut(4 * width);
    for (k, rows) in (&mut blocks).enumerate() {
        let (a0, rest) = rows.split_at_mut(width);
        let (a1, rest) = rest.split_at_mut(width);
        let (a2, a3) = rest.split_at_mut(width);
        let (a0, a1, a2, a3) = (&mut a0[..q], &mut a1[..q], &mut a2[..q], &mut a3[..q]);
        let [vi, wi, ui] = [v[k], w[k], u[k]].map(|x| x.to_array().map(Quad::splat));
        for j in 0..q {
            let (vj, wj) = (v[j], w[j]);
            let step = |a: &mut Quad, i: usize| {
                *a = vi[i].mul_neg_add(wj, wi[i].mul_neg_add(vj, *a));
                *a
            };
            let (x0, x1) = (step(&mut a0[j], 0), step(&mut a1[j], 1));
            let (x2, x3) = (step(&mut a2[j], 2), step(&mut a3[j], 3));
            let left = ui[0].mul_add(x0, ui[1].mul_add(x1, p[j]));
            p[j] = left + ui[2].mul_add(x2, ui[3] * x3);
        }
    }
    let done = r / 4 * 4;
    for (k, row) in blocks.into_remainder().chunks_exact_mut(width).enumerate() {
        let i = done + k;
        let (v_i, w_i, u_i) = (get(v, i), get(w, i), Quad::splat(get(u, i)));
        rank_two(&mut row[..q], v_i, w_i, v, w);
        p.iter_mut().zip(&*row).for_each(|(p, a)| *p = u_i.mul_add(*a, *p));
    }
}

/// Largest entry: couplings far below its rounding are zero wherever they stand.
fn negligible(d: &[f64], e: &[f64]) -> f64 {
    1e-20 * d.iter().chain(e).fold(0.0_f64, |s, x| s.max(x.abs()))
}

/// Eigenvalues of a tridiagonal matrix by QL without square roots (Pal, Walker and Kahan): on squares of the couplings.
pub(super) fn root_free(d: &mut [f64], e: &mut [f64]) -> bool {
    let n = d.len();
    let floor = negligible(d, e).powi(2);
    let eps2 = f64::EPSILON * f64::EPSILON;
    e.iter_mut().for_each(|x| *x *= *x);
    let small = |d: &[f64], e: &[f64], m: usize| e[m] <= eps2 * (d[m] * d[m + 1]).abs() || e[m] <= floor;
    let mut end = n;
    // One block without zero couplings after the other, from the bottom; each from its small end.
    while end > 0 {
        let start = (1..end).rev().find(|i| small(d, e, i - 1)).unwrap_or(0);
        if d[start].abs() > d[end - 1].abs() {
            d[start..end].reverse();
            e[start..end - 1].reverse();
        }
        let mut l = start;
        let mut steps = 0;
        while l < end {
            let m = (l..end - 1).find(|m| small(d, e, *m)).unwrap_or(end - 1);
            if m == l {
                (l, steps) = (l + 1, 0);
                continue;
            }
            steps += 1;
            if steps > STEPS || !d[l].is_finite() {
                return false;
            }
            root_free_step(&mut d[l..=m], &mut e[l..m]);
        }
        end = start;
    }
    d.iter().all(|x| x.is_finite())
}

#[inline(always)]
fn root_free_step(d: &mut [f64], e2: &mut [f64]) {
    let m = e2.len();
    let root = e2[0].sqrt();
    let g = (d[1] - d[0]) / (2.0 * root);
    let sigma = d[0] - root / (g + (g * g + 1.0).sqrt().copysign(g));
    let (mut c, mut s) = (1.0, 0.0);
    let mut gamma = d[m] - sigma;
    let mut p = gamma * gamma;
    for i in (0..m).rev() {
        let b = e2[i];
        let r = p + b;
        if i + 1 < m {
            e2[i + 1] = s * r;
        }
        let before = c;
        let inverse = r.recip();
        // r / p does not wait for gamma.
        let ratio = r / p;
        (c, s) = (p * inverse, b * inverse);
        let last = gamma;
        let alpha = d[i];
        gamma = c * (alpha - sigma) - s * last;
        d[i + 1] = last + (alpha - gamma);
        p = if c == 0.0 { before * b } else { gamma * gamma * ratio };
    }
    e2[0] = s * p;
    d[0] = sigma + gamma;
}

/// Implicit QL with the rotations applied to the rows of `z`.
fn ql(d: &mut [f64], e: &mut [f64], z: &mut [Quad], width: usize) -> bool {
    let n = d.len();
    let floor = negligible(d, e);
    for l in 0..n {
        let mut steps = 0;
        loop {
            let small =
                |m: &usize| e[*m].abs() <= f64::EPSILON * (d[*m] * d[*m + 1]).abs().sqrt() || e[*m].abs() <= floor;
            let m = (l..n - 1).find(small).unwrap_or(n - 1);
            if m == l {
                break;
            }
            steps += 1;
            if steps > STEPS || !d[l].is_finite() {
                return false;
            }
            ql_step(d, e, (l, m), z, width);
        }
    }
    d.iter().all(|x| x.is_finite())
}

#[inline(always)]
fn ql_step(d: &mut [f64], e: &mut [f64], (l, m): (usize, usize), z: &mut [Quad], width: usize) {
    let g = (d[l + 1] - d[l]) / (2.0 * e[l]);
    let mut g = d[m] - d[l] + e[l] / (g + (g * g + 1.0).sqrt().copysign(g));
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for i in (l..m).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let r = (f * f + g * g).sqrt();
        e[i + 1] = r;
        if r == 0.0 {
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        let inverse = r.recip();
        (s, c) = (f * inverse, g * inverse);
        g = d[i + 1] - p;
        let t = (d[i] - g) * s + 2.0 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        let (upper, lower) = z[i * width..(i + 2) * width].split_at_mut(width);
        let (s4, c4) = (Quad::splat(s), Quad::splat(c));
        for (x, y) in upper.iter_mut().zip(lower) {
            let (a, b) = (*x, *y);
            *y = s4.mul_add(a, c4 * b);
            *x = s4.mul_neg_add(b, c4 * a);
        }
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}
