//! Factorisations on `f64`: the one door to faer.

use super::RANK_TOLERANCE;
use faer::linalg::solvers::{Solve, SolveLstsq};
use faer::{Mat, Side};

/// A dense matrix.
pub type Matrix = Mat<f64>;

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
    let trivial = || Svd { u: Mat::identity(m, m), s: vec![0.0; m.min(n)], v: Mat::identity(n, n) };
    if m == 0 || n == 0 || !is_finite(a) {
        return trivial();
    }
    a.svd().map_or_else(
        |_| trivial(),
        |f| {
            let s: Vec<f64> = f.S().column_vector().iter().copied().collect();
            Svd { u: f.U().to_owned(), s, v: f.V().to_owned() }
        },
    )
}

fn is_finite(a: &Matrix) -> bool {
    (0..a.ncols()).all(|j| (0..a.nrows()).all(|i| a[(i, j)].is_finite()))
}

/// Numerical rank of a scaled matrix.
pub fn rank(a: &Matrix) -> usize {
    svd(a).rank()
}

impl Svd {
    /// Number of singular values that are not zero.
    pub fn rank(&self) -> usize {
        let largest = self.s.first().copied().unwrap_or(0.0);
        self.s.iter().filter(|x| **x > RANK_TOLERANCE * largest && **x > 0.0).count()
    }

    /// Basis of the null space: orthonormal columns.
    pub fn null_space(&self) -> Matrix {
        let (r, n) = (self.rank(), self.v.ncols());
        Mat::from_fn(self.v.nrows(), n - r, |i, j| self.v[(i, r + j)])
    }

    /// Basis of the left null space: orthonormal columns.
    pub fn left_null_space(&self) -> Matrix {
        let (r, m) = (self.rank(), self.u.ncols());
        Mat::from_fn(self.u.nrows(), m - r, |i, j| self.u[(i, r + j)])
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

/// Solve `A x = b` for a symmetric positive definite `A`; `None` when it is not.
pub fn solve_spd(a: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    let rhs = Mat::from_fn(b.len(), 1, |i, _| b[i]);
    let x = a.llt(Side::Lower).ok()?.solve(&rhs);
    let x: Vec<f64> = (0..b.len()).map(|i| x[(i, 0)]).collect();
    x.iter().all(|v| v.is_finite()).then_some(x)
}

/// Solve `A X = B` for a symmetric positive definite `A`; `None` when it is not.
pub fn solve_spd_matrix(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let x = a.llt(Side::Lower).ok()?.solve(b);
    is_finite(&x).then_some(x)
}

/// Eigenvalues of a symmetric matrix, ascending; `None` where a number is not finite.
pub fn symmetric_eigenvalues(a: &Matrix) -> Option<Vec<f64>> {
    if !is_finite(a) {
        return None;
    }
    a.self_adjoint_eigenvalues(Side::Lower).ok()
}

/// Eigenvalues, ascending, and vectors (columns, `xᵀMx = 1`) of `K x = λ M x` for symmetric K and positive definite M; `None`
/// when M is not. The slow and simple road: [`super::arrow`] is the fast one.
pub fn generalized_eigen(k: &Matrix, m: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    if !is_finite(k) || !is_finite(m) {
        return None;
    }
    let llt = m.llt(Side::Lower).ok()?;
    let l = llt.L();
    let mut c = k.clone();
    l.solve_lower_triangular_in_place(c.as_mut());
    let mut c = c.transpose().to_owned();
    l.solve_lower_triangular_in_place(c.as_mut());
    let eigen = c.self_adjoint_eigen(Side::Lower).ok()?;
    let mut x = eigen.U().to_owned();
    l.transpose().solve_upper_triangular_in_place(x.as_mut());
    Some((eigen.S().column_vector().iter().copied().collect(), x))
}

/// The `x` that minimises `|A x - b|` for a tall matrix of full rank.
pub fn least_squares(a: &Matrix, b: &[f64]) -> Vec<f64> {
    let rhs = Mat::from_fn(b.len(), 1, |i, _| b[i]);
    let x = a.qr().solve_lstsq(&rhs);
    (0..a.ncols()).map(|i| x[(i, 0)]).collect()
}

/// Real roots of `c[0] + c[1] x + .. + c[n] xⁿ`, each as often as it occurs, with the size of the imaginary part that was
/// dropped. Roots whose imaginary part is above `tolerance` of their size are left out.
pub fn real_roots(c: &[f64], tolerance: f64) -> Vec<f64> {
    let largest = c.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut n = c.len().saturating_sub(1);
    while n > 0 && c[n].abs() <= 1e-14 * largest {
        n -= 1;
    }
    if n == 0 || largest == 0.0 {
        return Vec::new();
    }
    let companion = Mat::from_fn(n, n, |i, j| {
        if j + 1 == n {
            -c[i] / c[n]
        } else if i == j + 1 {
            1.0
        } else {
            0.0
        }
    });
    let roots = companion.eigenvalues().unwrap_or_default();
    roots.into_iter().filter(|z| z.im.abs() <= tolerance * (1.0 + z.re.abs())).map(|z| z.re).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_and_null_space_of_a_dependent_matrix() {
        let a = Mat::from_fn(4, 3, |i, j| [[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [2.0, -1.0, 1.0]][i][j]);
        let f = svd(&a);
        assert_eq!(f.rank(), 2);
        let n = f.null_space();
        assert_eq!((n.nrows(), n.ncols()), (3, 1));
        assert!((&a * &n).norm_l2() < 1e-14 && n.norm_l2() > 0.99);
        let left = f.left_null_space();
        assert!((a.transpose() * &left).norm_l2() < 1e-14 && left.ncols() == 2);
    }

    #[test]
    fn least_squares_is_the_shortest_solution() {
        let a = Mat::from_fn(1, 2, |_, j| [3.0, 4.0][j]);
        let x = svd(&a).least_squares(&[5.0]);
        assert!((x[0] - 0.6).abs() < 1e-15 && (x[1] - 0.8).abs() < 1e-15);
    }

    #[test]
    fn roots_of_a_polynomial() {
        // (x - 1)(x + 2)(x² + 1)
        let mut roots = real_roots(&[-2.0, 1.0, -1.0, 1.0, 1.0], 1e-9);
        roots.sort_by(f64::total_cmp);
        assert_eq!(roots.len(), 2);
        assert!((roots[0] + 2.0).abs() < 1e-12 && (roots[1] - 1.0).abs() < 1e-12);
        assert!(real_roots(&[0.0, 0.0], 1e-9).is_empty());
    }

    #[test]
    fn nothing_is_nan() {
        let f = svd(&Mat::from_fn(2, 2, |_, _| f64::NAN));
        assert_eq!(f.rank(), 0);
        assert_eq!(svd(&Mat::zeros(0, 3)).null_space().ncols(), 3);
    }
}
