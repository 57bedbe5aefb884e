//! Singular values by rotations of columns (Hestenes; Demmel and Veselić 1992 on their accuracy).
//!
//! A tall matrix is first reduced by reflections with exchange of columns, `A P = Q R`; then the columns of `L = Rᵀ` are turned
//! against each other until they are orthogonal, `L W = X diag(s)`. So `A = (Q W) diag(s) (P X)ᵀ`.

use super::dense::Matrix;

/// Sweeps over all pairs of columns; six are usual.
const SWEEPS: usize = 60;

/// A matrix after its rotations. What only some ask for, the vectors on the left, is made from it when it is asked for.
pub(super) struct Turned {
    reduced: PivotedQr,
    /// Singular values, largest first.
    pub(super) s: Vec<f64>,
    /// Right vectors.
    pub(super) v: Matrix,
    /// W, its columns in the order of the values.
    w: Matrix,
}

impl Turned {
    /// Of a finite matrix with at least as many rows as columns, at least one, and not zero. Without the vectors on the left there
    /// is no need of W.
    pub(super) fn of(a: &Matrix, left: bool) -> Self {
        let (n, largest) = (a.ncols(), a.amax());
        let reduced = PivotedQr::of(a / largest);
        let mut l = Matrix::from_fn(n, n, |i, j| if j <= i { reduced.qr[(j, i)] } else { 0.0 });
        let mut w = if left { Matrix::identity(n, n) } else { Matrix::zeros(0, n) };
        for _ in 0..SWEEPS {
            if !sweep(&mut l, &mut w) {
                break;
            }
        }
        let norms: Vec<f64> = l.column_iter().map(|c| c.norm()).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|i, j| norms[*j].total_cmp(&norms[*i]));
        let x = orthonormal(&l, &norms, &order);
        let mut v = Matrix::zeros(n, n);
        for (i, from) in reduced.order.iter().enumerate() {
            v.row_mut(*from).copy_from(&x.row(i));
        }
        let w = Matrix::from_fn(w.nrows(), n, |i, j| w[(i, order[j])]);
        Self { reduced, s: order.iter().map(|i| norms[*i] * largest).collect(), v, w }
    }

    /// Columns of U from this one on.
    pub(super) fn left_from(&self, first: usize) -> Matrix {
        let (m, n) = self.reduced.qr.shape();
        let mut u = Matrix::from_fn(m, m - first, |i, j| match (i < n, first + j < n) {
            (true, true) => self.w[(i, first + j)],
            _ => f64::from(i == first + j),
        });
        self.reduced.turn(u.as_mut_slice());
        u
    }

    /// `Uᵀ b` for the first columns of U.
    pub(super) fn left_times(&self, mut b: Vec<f64>, count: usize) -> Vec<f64> {
        self.reduced.turn_back(&mut b);
        (0..count).map(|k| dot(self.w.column(k).as_slice(), &b[..self.w.nrows()])).collect()
    }

    /// `U y` for the first columns of U.
    pub(super) fn left_of(&self, y: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.reduced.qr.nrows()];
        for (k, y) in y.iter().enumerate() {
            x.iter_mut().zip(self.w.column(k).iter()).for_each(|(x, w)| *x += w * y);
        }
        self.reduced.turn(&mut x);
        x
    }
}

/// Diagonals of R above this fraction of the first are certainly more than rounding.
const CLEAR: f64 = 1e-4;
/// Diagonals of R below this fraction of the first are rounding.
const NOTHING: f64 = 1e-12;

/// `A P = Q R` with the reflections of Q below R, `H = I - β u uᵀ`, u[k] = 1 left out.
pub(super) struct PivotedQr {
    qr: Matrix,
    beta: Vec<f64>,
    /// Column k of `A P` is column `order[k]` of A.
    order: Vec<usize>,
}

impl PivotedQr {
    pub(super) fn of(mut a: Matrix) -> Self {
        let (m, n) = a.shape();
        let mut order: Vec<usize> = (0..n).collect();
        let mut beta = vec![0.0; n];
        for k in 0..n {
            let size = |j: usize| a.view((k, j), (m - k, 1)).norm_squared();
            let best = (k..n).fold((k, size(k)), |best, j| if size(j) > best.1 { (j, size(j)) } else { best }).0;
            a.swap_columns(k, best);
            order.swap(k, best);
            let x = a[(k, k)];
            let norm = a.view((k, k), (m - k, 1)).norm();
            if norm == 0.0 {
                break;
            }
            let r = -norm.copysign(x);
            // u = (x - r, tail) / (x - r), β = (r - x) / r.
            let below = (x - r).recip();
            (k + 1..m).for_each(|i| a[(i, k)] *= below);
            beta[k] = (r - x) / r;
            a[(k, k)] = 1.0;
            for j in k + 1..n {
                let (u, mut c) = a.columns_range_pair_mut(k, j);
                let c = &mut c.as_mut_slice()[k..];
                reflect(&u.as_slice()[k..], beta[k], c);
            }
            a[(k, k)] = r;
        }
        Self { qr: a, beta, order }
    }

    /// The rank where it is beyond doubt: what follows a diagonal is never larger, and here falls from much to rounding.
    pub(super) fn clear_rank(&self) -> Option<usize> {
        let size = |k: usize| self.qr[(k, k)].abs() / self.qr[(0, 0)].abs();
        let n = self.qr.ncols();
        let rank = (0..n).find(|k| !(size(*k) > CLEAR)).unwrap_or(n);
        (rank > 0 && (rank == n || size(rank) < NOTHING)).then_some(rank)
    }

    /// The shortest `x` that minimises `|A x - b|`, of this rank: `Qᵀ b = [R₁ R₂] Pᵀ x` by reflections from the right.
    pub(super) fn shortest(&self, rank: usize, b: &[f64]) -> Vec<f64> {
        let n = self.qr.ncols();
        let mut c = b.to_vec();
        self.turn_back(&mut c);
        let across = Self::of(Matrix::from_fn(n, rank, |j, i| if i <= j { self.qr[(i, j)] } else { 0.0 }));
        // Rᵀ = Z T, its columns exchanged: Tᵀ z = c, then x = P Z z.
        let mut z = vec![0.0; n];
        for i in 0..rank {
            let known: f64 = (0..i).map(|k| across.qr[(k, i)] * z[k]).sum();
            z[i] = (c[across.order[i]] - known) / across.qr[(i, i)];
        }
        across.turn(&mut z);
        let mut x = vec![0.0; n];
        self.order.iter().zip(z).for_each(|(j, z)| x[*j] = z);
        x
    }

    /// Columns `c` to `Q c`.
    fn turn(&self, columns: &mut [f64]) {
        let mut u = vec![0.0; self.qr.nrows()];
        (0..self.beta.len()).rev().for_each(|k| self.reflect(k, &mut u, columns));
    }

    /// Columns `c` to `Qᵀ c`.
    fn turn_back(&self, columns: &mut [f64]) {
        let mut u = vec![0.0; self.qr.nrows()];
        (0..self.beta.len()).for_each(|k| self.reflect(k, &mut u, columns));
    }

    fn reflect(&self, k: usize, u: &mut [f64], columns: &mut [f64]) {
        u[k] = 1.0;
        u[k + 1..].copy_from_slice(&self.qr.column(k).as_slice()[k + 1..]);
        columns.chunks_exact_mut(u.len()).for_each(|c| reflect(&u[k..], self.beta[k], &mut c[k..]));
    }
}

/// `c -= β u (uᵀ c)`.
fn reflect(u: &[f64], beta: f64, c: &mut [f64]) {
    let along = beta * dot(u, c);
    c.iter_mut().zip(u).for_each(|(c, u)| *c -= along * u);
}

/// `aᵀ b`, in four sums that do not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    let four = a4.zip(b4).fold([0.0; 4], |s, (a, b)| std::array::from_fn(|k| s[k] + a[k] * b[k]));
    (four[0] + four[2]) + (four[1] + four[3]) + rest
}

/// A square of a length that a turn leaves smaller than this many times is computed again.
const SHRUNK: f64 = 0.25;

/// Turn every pair of columns of `l` until they are orthogonal, and those of `w` with them; whether any was turned.
fn sweep(l: &mut Matrix, w: &mut Matrix) -> bool {
    let n = l.ncols();
    let mut turned = false;
    let mut squares: Vec<f64> = l.column_iter().map(|c| dot(c.as_slice(), c.as_slice())).collect();
    for p in 0..n {
        for q in p + 1..n {
            let (mut a, mut b) = l.columns_range_pair_mut(p, q);
            let (a, b) = (a.as_mut_slice(), b.as_mut_slice());
            let (aa, bb, ab) = (squares[p], squares[q], dot(a, b));
            if ab == 0.0 || ab.abs() <= f64::EPSILON * (aa * bb).sqrt() {
                continue;
            }
            turned = true;
            let zeta = (bb - aa) / (2.0 * ab);
            let t = (zeta.abs() + (1.0 + zeta * zeta).sqrt()).recip().copysign(zeta);
            let c = (1.0 + t * t).sqrt().recip();
            let s = c * t;
            turn(a, b, c, s);
            let square = |x: &[f64], was: f64, change: f64| {
                let is = was + change;
                if is < SHRUNK * was { dot(x, x) } else { is }
            };
            (squares[p], squares[q]) = (square(a, aa, -t * ab), square(b, bb, t * ab));
            let (mut a, mut b) = w.columns_range_pair_mut(p, q);
            turn(a.as_mut_slice(), b.as_mut_slice(), c, s);
        }
    }
    turned
}

fn turn(a: &mut [f64], b: &mut [f64], c: f64, s: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}

/// The columns of `l` in order, divided by their norms; where a norm says nothing, a vector orthogonal to all before it.
fn orthonormal(l: &Matrix, norms: &[f64], order: &[usize]) -> Matrix {
    let n = l.ncols();
    let mut x = Matrix::zeros(n, n);
    let mut axis = 0;
    for (k, from) in order.iter().enumerate() {
        if norms[*from] > f64::MIN_POSITIVE.sqrt() {
            x.column_mut(k).copy_from(&(l.column(*from) / norms[*from]));
            continue;
        }
        // An axis that those before do not span: one of n - k or more is left with a length of at least (1 / n)^½.
        loop {
            let mut rest = vec![0.0; n];
            rest[axis % n] = 1.0;
            axis += 1;
            for _ in 0..2 {
                for j in 0..k {
                    let along = dot(x.column(j).as_slice(), &rest);
                    rest.iter_mut().zip(x.column(j).iter()).for_each(|(r, x)| *r -= along * x);
                }
            }
            let norm = dot(&rest, &rest).sqrt();
            if norm > 0.5 / (n as f64).sqrt() || axis > 2 * n {
                rest.iter_mut().for_each(|r| *r /= norm.max(f64::MIN_POSITIVE));
                x.column_mut(k).copy_from_slice(&rest);
                break;
            }
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::super::dense::{least_squares, null_space, singular_values, svd};
    use super::*;
    use rand::RngExt;

    fn random(rng: &mut rand_pcg::Pcg64, m: usize, n: usize, rank: usize) -> Matrix {
        let a = Matrix::from_fn(m, rank, |_, _| rng.random_range(-1.0..1.0));
        a * Matrix::from_fn(rank, n, |_, _| rng.random_range(-1.0..1.0))
    }

    #[test]
    fn factors_are_orthogonal_and_make_the_matrix() {
        let mut rng = rand_pcg::Pcg64::new(5, 7);
        for (m, n, rank) in
            [(1, 1, 1), (1, 5, 1), (6, 6, 6), (6, 6, 3), (9, 4, 4), (4, 9, 2), (30, 12, 12), (12, 30, 7), (40, 40, 39)]
        {
            for scale in [1.0, 1e-150, 1e150] {
                let a = random(&mut rng, m, n, rank) * scale;
                let f = svd(&a);
                assert_eq!(f.rank(), rank, "{m} x {n}");
                assert!(f.s.windows(2).all(|s| s[0] >= s[1]));
                for x in [&f.u, &f.v] {
                    let gap = (x.transpose() * x - Matrix::identity(x.ncols(), x.ncols())).amax();
                    assert!(gap < 2e-14, "{m} x {n}: {gap:e}");
                }
                let s = Matrix::from_fn(m, n, |i, j| if i == j { f.s[i] / f.s[0] } else { 0.0 });
                let gap = (&f.u * s * f.v.transpose() - &a / f.s[0]).amax();
                assert!(gap < 2e-14, "{m} x {n}: {gap:e}");
                assert!((&a * f.null_space()).norm() < 1e-13 * f.s[0]);
                assert!((a.transpose() * f.left_null_space()).norm() < 1e-13 * f.s[0]);
                assert_eq!(singular_values(&a), f.s);
                assert_eq!(null_space(&a), (rank, f.null_space()));
                let b: Vec<f64> = (0..m).map(|_| rng.random_range(-1.0..1.0)).collect();
                let (x, same) = (least_squares(&a, &b), f.least_squares(&b));
                let longest = same.iter().fold(0.0_f64, |l, x| l.max(x.abs()));
                assert!(longest > 0.0 && x.iter().zip(&same).all(|(x, y)| (x - y).abs() < 1e-12 * longest));
            }
        }
    }

    #[test]
    fn small_singular_values_of_scaled_columns_keep_their_digits() {
        let a = Matrix::from_row_slice(2, 2, &[1.0, 1e-12, 1.0, -1e-12]);
        let s = svd(&a).s;
        assert!((s[0] - 2.0_f64.sqrt()).abs() < 1e-15 && (s[1] / 1e-12 - 2.0_f64.sqrt()).abs() < 1e-14, "{s:?}");
    }
}
