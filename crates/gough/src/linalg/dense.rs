//! Factorisations on `f64`: singular values by rotations of columns, Cholesky, symmetric eigenvalues by Householder and QL, roots
//! of polynomials.

use super::RANK_TOLERANCE;
use super::singular::{PivotedQr, Turned};
use super::symmetric::Symmetric;
use nalgebra::{Cholesky, Complex, DMatrix, DVector};

/// A dense matrix.
pub type Matrix = DMatrix<f64>;

/// Singular values and vectors: `A = U diag(s) Vᵀ`, all columns of U and V.
pub struct Svd {
    /// Left vectors.
    pub u: Matrix,
    /// Singular values, largest first.
    pub s: Vec<f64>,
    /// Right vectors.
    pub v: Matrix,
}

/// Singular value decomposition. A matrix with a number that is not finite gives singular values of zero.
pub fn svd(a: &Matrix) -> Svd {
    let (m, n) = (a.nrows(), a.ncols());
    if says_nothing(a) {
        return Svd { u: Matrix::identity(m, m), s: vec![0.0; m.min(n)], v: Matrix::identity(n, n) };
    }
    if m < n {
        let f = Turned::of(&a.transpose(), true);
        return Svd { u: f.v.clone(), v: f.left_from(0), s: f.s };
    }
    let f = Turned::of(a, true);
    Svd { u: f.left_from(0), s: f.s, v: f.v }
}

/// Whether there is nothing to turn: no numbers, or some that are none, or zeros alone.
fn says_nothing(a: &Matrix) -> bool {
    a.is_empty() || !is_finite(a) || a.amax() == 0.0
}

/// Singular values alone, largest first: the same numbers.
pub(crate) fn singular_values(a: &Matrix) -> Vec<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    if says_nothing(a) {
        return vec![0.0; m.min(n)];
    }
    let tall = if m < n { a.transpose() } else { a.clone() };
    Turned::of(&tall, false).s
}

/// Numerical rank and basis of the null space, orthonormal columns: those of [`svd`], without the vectors on the left.
pub(crate) fn null_space(a: &Matrix) -> (usize, Matrix) {
    let (m, n) = (a.nrows(), a.ncols());
    if says_nothing(a) {
        return (0, Matrix::identity(n, n));
    }
    if m >= n && clear_rank(a) == Some(n) {
        return (n, Matrix::zeros(n, 0));
    }
    let f = if m < n { Turned::of(&a.transpose(), true) } else { Turned::of(a, false) };
    let r = rank_of(&f.s);
    (r, if m < n { f.left_from(r) } else { f.v.columns(r, n - r).into_owned() })
}

/// The shortest `x` that minimises `|A x - b|`.
pub(crate) fn least_squares(a: &Matrix, b: &[f64]) -> Vec<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    if says_nothing(a) {
        return vec![0.0; n];
    }
    if m >= n {
        let reduced = PivotedQr::of(a / a.amax());
        if let Some(rank) = reduced.clear_rank() {
            return reduced.shortest(rank, &b.iter().map(|b| b / a.amax()).collect::<Vec<_>>());
        }
    }
    if m < n {
        let f = Turned::of(&a.transpose(), true);
        let part = |k: usize| (0..m).map(|i| f.v[(i, k)] * b[i]).sum::<f64>() / f.s[k];
        return f.left_of(&(0..rank_of(&f.s)).map(part).collect::<Vec<_>>());
    }
    let f = Turned::of(a, true);
    let parts = f.left_times(b.to_vec(), rank_of(&f.s));
    let mut x = vec![0.0; n];
    for (k, c) in parts.iter().enumerate() {
        x.iter_mut().zip(f.v.column(k).iter()).for_each(|(x, v)| *x += c / f.s[k] * v);
    }
    x
}

/// The rank where reflections alone tell it beyond doubt.
fn clear_rank(a: &Matrix) -> Option<usize> {
    let tall = if a.nrows() < a.ncols() { a.transpose() } else { a.clone() };
    PivotedQr::of(&tall / tall.amax()).clear_rank()
}

/// How many singular values, largest first, are not zero.
fn rank_of(s: &[f64]) -> usize {
    let largest = s.first().copied().unwrap_or(0.0);
    s.iter().filter(|x| **x > RANK_TOLERANCE * largest && **x > 0.0).count()
}

fn is_finite(a: &Matrix) -> bool {
    a.iter().all(|x| x.is_finite())
}

/// Numerical rank of a scaled matrix.
pub fn rank(a: &Matrix) -> usize {
    if says_nothing(a) {
        return 0;
    }
    clear_rank(a).unwrap_or_else(|| rank_of(&singular_values(a)))
}

impl Svd {
    /// Number of singular values that are not zero.
    pub fn rank(&self) -> usize {
        rank_of(&self.s)
    }

    /// Basis of the null space: orthonormal columns.
    pub fn null_space(&self) -> Matrix {
        let (r, n) = (self.rank(), self.v.ncols());
        Matrix::from_fn(self.v.nrows(), n - r, |i, j| self.v[(i, r + j)])
    }

    /// Basis of the left null space: orthonormal columns.
    pub fn left_null_space(&self) -> Matrix {
        let (r, m) = (self.rank(), self.u.ncols());
        Matrix::from_fn(self.u.nrows(), m - r, |i, j| self.u[(i, r + j)])
    }

    /// The shortest `x` that minimises `|A x - b|`.
    pub fn least_squares(&self, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.v.nrows()];
        for k in 0..self.rank() {
            let c: f64 = (0..b.len()).map(|i| self.u[(i, k)] * b[i]).sum::<f64>() / self.s[k];
            x.iter_mut().enumerate().for_each(|(i, xi)| *xi += c * self.v[(i, k)]);
        }
        x
    }
}

/// Cholesky's factor of a symmetric positive definite matrix, from its lower half; `None` when it is not.
fn cholesky(a: &Matrix) -> Option<Cholesky<f64, nalgebra::Dyn>> {
    if is_finite(a) { Cholesky::new(a.clone()) } else { None }
}

/// Solve `A x = b` for a symmetric positive definite `A`; `None` when it is not.
pub fn solve_spd(a: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    let x = cholesky(a)?.solve(&DVector::from_column_slice(b));
    x.iter().all(|v| v.is_finite()).then(|| x.as_slice().to_vec())
}

/// Solve `A X = B` for a symmetric positive definite `A`; `None` when it is not.
pub fn solve_spd_matrix(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let x = cholesky(a)?.solve(b);
    is_finite(&x).then_some(x)
}

/// The lower half of a matrix, for diagonalisation.
fn symmetric(a: &Matrix) -> Symmetric {
    let mut work = Symmetric::default();
    work.reset(a.nrows());
    for j in 0..a.nrows() {
        (j..a.nrows()).for_each(|i| work.put(i, j, a[(i, j)]));
    }
    work
}

/// Eigenvalues of a symmetric matrix, ascending; `None` where a number is not finite.
pub fn symmetric_eigenvalues(a: &Matrix) -> Option<Vec<f64>> {
    if !is_finite(a) {
        return None;
    }
    let mut work = symmetric(a);
    work.values().then_some(())?;
    work.d.sort_by(f64::total_cmp);
    Some(work.d)
}

/// Eigenvalues, ascending, and vectors (columns, `xᵀMx = 1`) of `K x = λ M x` for symmetric K and positive definite M; `None`
/// when M is not. The slow and simple road: [`super::arrow`] is the fast one.
pub fn generalized_eigen(k: &Matrix, m: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    if !is_finite(k) {
        return None;
    }
    let llt = cholesky(m)?;
    let l = llt.l_dirty();
    let mut c = k.clone();
    l.solve_lower_triangular_mut(&mut c).then_some(())?;
    c.transpose_mut();
    l.solve_lower_triangular_mut(&mut c).then_some(())?;
    if !is_finite(&c) {
        return None;
    }
    let n = c.nrows();
    let mut work = symmetric(&c);
    work.vectors().then_some(())?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| work.d[*a].total_cmp(&work.d[*b]));
    let mut x = Matrix::from_fn(n, n, |i, j| work.vector(order[j], i));
    l.tr_solve_lower_triangular_mut(&mut x).then_some(())?;
    Some((order.iter().map(|i| work.d[*i]).collect(), x))
}

/// Rounds of [`roots`]; a dozen are usual, and double roots settle by halves.
const ROUNDS: usize = 200;

/// All roots of a polynomial of degree n whose last coefficient is not zero, by Aberth's iteration: Newton's step of every root,
/// corrected by the pull of the others.
fn roots(c: &[f64]) -> Vec<Complex<f64>> {
    let n = c.len() - 1;
    // Fujiwara's bound of their size.
    let size =
        (0..n).map(|k| (c[k] / c[n]).abs().powf(1.0 / (n - k) as f64)).fold(0.0_f64, f64::max).max(f64::MIN_POSITIVE);
    let around = |k: usize| Complex::from_polar(size, std::f64::consts::TAU * k as f64 / n as f64 + 0.4);
    let mut z: Vec<Complex<f64>> = (0..n).map(around).collect();
    for _ in 0..ROUNDS {
        let mut moved = false;
        for k in 0..n {
            let Some(newton) = newton_step(c, z[k]) else { continue };
            let pull: Complex<f64> = (0..n).filter(|j| *j != k && z[*j] != z[k]).map(|j| (z[k] - z[j]).inv()).sum();
            let step = newton / (Complex::new(1.0, 0.0) - newton * pull);
            if step.is_finite() && step.norm() > f64::EPSILON * z[k].norm() {
                z[k] -= step;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    z
}

/// `p / p'` at z; outside the unit circle from the polynomial of 1 / z. `None` where p is zero.
fn newton_step(c: &[f64], z: Complex<f64>) -> Option<Complex<f64>> {
    let horner = |c: &mut dyn Iterator<Item = &f64>, z: Complex<f64>| {
        let zero = Complex::new(0.0, 0.0);
        c.fold((zero, zero), |(p, d), c| (p * z + *c, d * z + p))
    };
    let n = (c.len() - 1) as f64;
    let inside = z.norm() <= 1.0;
    let (p, d) = if inside { horner(&mut c.iter().rev(), z) } else { horner(&mut c.iter(), z.inv()) };
    if p == Complex::new(0.0, 0.0) {
        return None;
    }
    // p(z) = zⁿ r(1/z), so p'/p = (n - (1/z) r'/r) / z.
    Some(if inside { p / d } else { z / (Complex::new(n, 0.0) - d / p / z) })
}

/// Real roots of `c[0] + c[1] x + .. + c[n] xⁿ`, ascending, each as often as it occurs. Roots whose imaginary part is above `tolerance` of
/// their size are left out.
pub fn real_roots(c: &[f64], tolerance: f64) -> Vec<f64> {
    let largest = c.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut n = c.len().saturating_sub(1);
    while n > 0 && c[n].abs() <= 1e-14 * largest {
        n -= 1;
    }
    if n == 0 || !(largest > 0.0 && largest.is_finite()) {
        return Vec::new();
    }
    let near = |z: &Complex<f64>| z.im.abs() <= tolerance * (1.0 + z.re.abs());
    let mut found: Vec<f64> = roots(&c[..=n]).into_iter().filter(near).map(|z| z.re).collect();
    found.sort_by(f64::total_cmp);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_and_null_space_of_a_dependent_matrix() {
        let a =
            Matrix::from_fn(4, 3, |i, j| [[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [2.0, -1.0, 1.0]][i][j]);
        let f = svd(&a);
        assert_eq!(f.rank(), 2);
        let n = f.null_space();
        assert_eq!((n.nrows(), n.ncols()), (3, 1));
        assert!((&a * &n).norm() < 1e-14 && n.norm() > 0.99);
        let left = f.left_null_space();
        assert!((a.transpose() * &left).norm() < 1e-14 && left.ncols() == 2);
    }

    #[test]
    fn least_squares_is_the_shortest_solution() {
        let a = Matrix::from_fn(1, 2, |_, j| [3.0, 4.0][j]);
        let x = svd(&a).least_squares(&[5.0]);
        assert!((x[0] - 0.6).abs() < 1e-15 && (x[1] - 0.8).abs() < 1e-15);
    }

    #[test]
    fn roots_of_a_polynomial() {
        // (x - 1)(x + 2)(x² + 1)
        let roots = real_roots(&[-2.0, 1.0, -1.0, 1.0, 1.0], 1e-9);
        assert_eq!(roots.len(), 2);
        assert!((roots[0] + 2.0).abs() < 1e-12 && (roots[1] - 1.0).abs() < 1e-12);
        assert!(real_roots(&[0.0, 0.0], 1e-9).is_empty());
        // x⁸ - 1, whose companion turns in a circle, x³ with x = 0 three times, and roots a million apart.
        let mut circle = [0.0; 9];
        (circle[0], circle[8]) = (-1.0, 1.0);
        let found = real_roots(&circle, 1e-9);
        assert!(found.len() == 2 && found.iter().all(|x| (x.abs() - 1.0).abs() < 1e-14), "{found:?}");
        assert!(real_roots(&[0.0, 0.0, 0.0, 2.0], 1e-3).iter().all(|x| x.abs() < 1e-3));
        let far = real_roots(&[1.0, -1e3 - 1e-3, 1.0], 1e-9);
        assert!((far[0] / 1e-3 - 1.0).abs() < 1e-14 && (far[1] / 1e3 - 1.0).abs() < 1e-14, "{far:?}");
        // (x - 2)² (x + 1): a double root keeps half its digits.
        let double = real_roots(&[4.0, 0.0, -3.0, 1.0], 1e-6);
        assert!(double.len() == 3 && (double[0] + 1.0).abs() < 1e-14 && (double[2] - 2.0).abs() < 1e-7, "{double:?}");
    }

    #[test]
    fn nothing_is_nan() {
        let f = svd(&Matrix::from_fn(2, 2, |_, _| f64::NAN));
        assert_eq!(f.rank(), 0);
        assert_eq!(svd(&Matrix::zeros(0, 3)).null_space().ncols(), 3);
    }
}
