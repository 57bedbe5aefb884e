//! Condition number of an observation matrix with columns of length one, and a smooth stand-in for it with its derivatives.

use crate::linalg::dense::{Matrix, generalized_eigen};
use rayon::prelude::*;

/// `WᵀW` and its diagonal, for columns of length one.
pub(super) struct Gram {
    n: usize,
    /// One over the length of each column.
    scale: Vec<f64>,
    /// Eigenvalues, ascending, and vectors of the scaled matrix.
    eigen: (Vec<f64>, Matrix),
}

impl Gram {
    /// Of rows of `n` numbers, given in parts that are added up side by side; `None` where a column vanishes.
    pub fn new(parts: &[&[f64]], n: usize) -> Option<Self> {
        let sums: Vec<Vec<f64>> = parts.par_chunks(TOGETHER).map(|parts| lower(parts, n)).collect();
        let mut A = Matrix::zeros(n, n);
        for j in 0..n {
            (0..=j).for_each(|i| A[(j, i)] = sums.iter().map(|s| s[j * n + i]).sum());
        }
        let scale: Vec<f64> = (0..n).map(|j| A[(j, j)].sqrt().recip()).collect();
        if scale.iter().any(|s| !s.is_finite()) {
            return None;
        }
        let scaled = Matrix::from_fn(n, n, |i, j| A[(i.max(j), i.min(j))] * scale[i] * scale[j]);
        let eigen = generalized_eigen(&scaled, &Matrix::identity(n, n))?;
        Some(Self { n, scale, eigen })
    }

    /// Eigenvalues, those that are only rounding lifted to it.
    fn values(&self) -> Vec<f64> {
        let least = 1e-14 * self.n as f64;
        self.eigen.0.iter().map(|l| l.max(least)).collect()
    }

    /// Condition number of the observation matrix.
    pub fn condition(&self) -> f64 {
        match self.values().as_slice() {
            [least, .., most] => (most / least).sqrt(),
            _ => 1.0,
        }
    }

    /// The logarithm of the condition number when `p` is large: `½ (log ‖λ‖_p + log ‖1/λ‖_p)`.
    pub fn smooth(&self, p: f64) -> f64 {
        let sum = |sign: f64| {
            let logs: Vec<f64> = self.values().iter().map(|l| sign * p * l.ln()).collect();
            let most = logs.iter().copied().fold(f64::MIN, f64::max);
            (most + logs.iter().map(|x| (x - most).exp()).sum::<f64>().ln()) / p
        };
        0.5 * (sum(1.0) + sum(-1.0))
    }

    /// `Q`: the smooth condition changes by `2 Σ (Q w)·dw` when the rows `w` do. With `G = S A S` of unit diagonal and
    /// `P` its derivative by `G`, `Q = S P S - diag(P G) S²`; row by row.
    pub fn derivative(&self, p: f64) -> Vec<f64> {
        let n = self.n;
        let (values, V) = (self.values(), &self.eigen.1);
        let weight = |sign: f64| {
            let logs: Vec<f64> = values.iter().map(|l| sign * p * l.ln()).collect();
            let most = logs.iter().copied().fold(f64::MIN, f64::max);
            let all: Vec<f64> = logs.iter().map(|x| (x - most).exp()).collect();
            let sum: f64 = all.iter().sum();
            all.into_iter().zip(&values).map(|(x, l)| sign * x / (sum * l)).collect::<Vec<f64>>()
        };
        let P: Vec<f64> = weight(1.0).iter().zip(weight(-1.0)).map(|(a, b)| 0.5 * (a + b)).collect();
        let own = Matrix::from_fn(n, n, |i, k| V[(i, k)] * P[k]) * V.transpose();
        let rest = |i: usize| -> f64 { (0..n).map(|k| V[(i, k)].powi(2) * P[k] * values[k]).sum() };
        let entry = |i: usize, j: usize| {
            let all = own[(i, j)] - if i == j { rest(i) } else { 0.0 };
            all * self.scale[i] * self.scale[j]
        };
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }
}

/// Parts whose products are added up before others are: the sum does not depend on the number of threads.
const TOGETHER: usize = 16;

/// `WᵀW` of some rows, the lower half, row by row.
fn lower(parts: &[&[f64]], n: usize) -> Vec<f64> {
    let mut sum = vec![0.0; n * n];
    for row in parts.iter().flat_map(|p| p.chunks_exact(n)) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            sum[j * n..=j * n + j].iter_mut().zip(row).for_each(|(s, y)| *s += x * y);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivative_is_that_of_the_smooth_condition() {
        let rows: Vec<f64> = (0..24).map(|i| (1.7 * f64::from(i)).sin() + 0.1 * f64::from(i)).collect();
        let of = |rows: &[f64]| Gram::new(&[rows], 4).unwrap();
        let Q = of(&rows).derivative(3.0);
        for k in [0, 5, 14, 23] {
            let moved = |h: f64| {
                let mut rows = rows.clone();
                rows[k] += h;
                of(&rows).smooth(3.0)
            };
            let wanted = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let row = &rows[k / 4 * 4..k / 4 * 4 + 4];
            let found: f64 = 2.0 * (0..4).map(|j| Q[k % 4 * 4 + j] * row[j]).sum::<f64>();
            assert!(wanted != 0.0 && (found - wanted).abs() < 1e-6 * (1.0 + wanted.abs()), "{found} {wanted}");
        }
        assert!((of(&rows).smooth(400.0) - of(&rows).condition().ln()).abs() < 1e-2);
    }
}
