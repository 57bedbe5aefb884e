//! Motions without mass that are no coordinates: every coordinate moves some mass, but they can move together so that none does, as
//! on a platform that is a point mass. They are found and condensed on the dense road.

use crate::linalg::arrow::{Arrow, ModeKind};
use crate::linalg::dense::{Matrix, generalized_eigen, solve_spd_matrix, svd};

/// Inertia below this fraction, coordinates scaled to unit inertia, is none.
const NONE: f64 = 1e-10;

/// Eigenvalues below this fraction of the largest are zero.
const ZERO: f64 = 1e-12;

/// Modes of `K x = λ M x` for a mass that is semi-definite only.
#[derive(Clone, Debug)]
pub(super) struct Weightless {
    /// Eigenvalues, ascending.
    pub modes: Vec<(f64, ModeKind)>,
    /// Their vectors, `xᵀMx = 1`.
    pub vectors: Vec<Vec<f64>>,
    /// For each motion without mass, the coordinate that moves most in it.
    pub motions: Vec<usize>,
}

impl Weightless {
    /// The modes; none where every motion has mass, an inertia is negative, or a motion has neither mass nor stiffness.
    pub fn of(K: &Arrow<f64>, M: &Arrow<f64>) -> Option<Self> {
        let (K, M) = (matrix(K), matrix(M));
        let n = M.nrows();
        let unit = |i: usize| if M[(i, i)] > 0.0 { M[(i, i)].sqrt().recip() } else { 1.0 };
        let f = svd(&Matrix::from_fn(n, n, |i, j| unit(i) * M[(i, j)] * unit(j)));
        let largest = f.s.first().copied().unwrap_or(0.0);
        let r = f.s.iter().filter(|s| **s > NONE * largest).count();
        let negative = |k: usize| (0..n).map(|i| f.u[(i, k)] * f.v[(i, k)]).sum::<f64>() < 0.0;
        if r == 0 || r == n || (0..r).any(negative) {
            return None;
        }
        // With mass, and without.
        let R = Matrix::from_fn(n, r, |i, j| unit(i) * f.v[(i, j)]);
        let N = Matrix::from_fn(n, n - r, |i, j| unit(i) * f.v[(i, r + j)]);
        let X = solve_spd_matrix(&(N.transpose() * &K * &N), &(N.transpose() * &K * &R))?;
        let B = &R - &N * &X;
        let (values, y) = generalized_eigen(&(B.transpose() * &K * &B), &(R.transpose() * &M * &R))?;
        let x = &B * &y;
        let zero = ZERO * values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let kind = |v: f64| match v {
            v if v.abs() <= zero => ModeKind::Free,
            v if v > 0.0 => ModeKind::Vibration,
            _ => ModeKind::Unstable,
        };
        let most = |k: usize| (0..n).max_by(|a, b| f.v[(*a, k)].abs().total_cmp(&f.v[(*b, k)].abs())).unwrap_or(0);
        Some(Self {
            modes: values.iter().map(|v| (*v, kind(*v))).collect(),
            vectors: (0..r).map(|k| (0..n).map(|i| x[(i, k)]).collect()).collect(),
            motions: (r..n).map(most).collect(),
        })
    }
}

fn matrix(A: &Arrow<f64>) -> Matrix {
    let A = A.dense();
    Matrix::from_fn(A.rows, A.cols, |i, j| A.at(i, j))
}
