//! Standard deviations that the residuals themselves tell: noise may differ from drive to drive and from one part of the motion
//! to another, drives may share it, and what filters leave of it lasts from one block to the next.

use super::rows::Rows;
use crate::linalg::dense::Matrix;
use nalgebra::Cholesky;

/// What records tell of the base parameters: `N = Wᵀ W`, every row of the observation matrix in units of the noise of its drive,
/// so that parameters that are off by δ leave `δᵀ N δ` more of the efforts than the estimates do.
#[derive(Clone, Debug)]
pub(crate) struct Information {
    /// Columns of a root of N: `N = Rᵀ R`.
    root: Matrix,
    /// Equations beyond those that the parameters need: what the estimates leave, in the same units.
    spare: f64,
}

impl Information {
    /// Of `N = S⁻¹ A S⁻¹`, S being diagonal; none where A does not tell the parameters.
    pub fn new(A: &Matrix, S: &[f64], spare: f64) -> Option<Self> {
        let mut root = Cholesky::new(A.clone())?.l().transpose();
        S.iter().enumerate().for_each(|(j, s)| root.column_mut(j).scale_mut(1.0 / s));
        Some(Self { root, spare })
    }

    /// R of `N = Rᵀ R`: parameters times it are independent of each other, and have deviations of one.
    pub fn root(&self) -> &Matrix {
        &self.root
    }

    /// How many times as large what is left of the efforts is, as a root mean square, when parameters are off so.
    pub fn growth(&self, off: &nalgebra::DVector<f64>) -> f64 {
        (1.0 + (&self.root * off).norm_squared() / self.spare).sqrt()
    }
}

/// Blocks over which residuals are taken to depend on each other: two periods of the cutoff.
const LASTS: usize = 4;

/// What a block pulls the estimates by, in the units of the scaled normal equations: `Σ weight · w · rest` over its drives.
fn pulls(rows: &Rows, weights: &[f64], chi: &[f64], scale: &[f64]) -> Vec<Vec<f64>> {
    let n = rows.columns;
    let one = |block: usize| {
        let mut g = vec![0.0; n];
        for (drive, weight) in weights.iter().enumerate().take(rows.drives) {
            let start = (block * rows.drives + drive) * (n + 1);
            let (w, tau) = (&rows.means[start..start + n], rows.means[start + n]);
            let rest = tau - w.iter().zip(chi).map(|(a, b)| a * b).sum::<f64>();
            g.iter_mut().zip(w).zip(scale).for_each(|((g, w), s)| *g += weight * w * rest * s);
        }
        g
    };
    (0..rows.blocks()).map(one).collect()
}

/// What the blocks of a motion that repeats pull, those at the same place of it together: steps of encoders are the same there each
/// time, and do not average out.
fn folded(pulls: Vec<Vec<f64>>, period: Option<f64>) -> Vec<Vec<f64>> {
    // Not negative, and no more than there are blocks.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let place = |block: usize, period: f64| ((block as f64 % period) / period * period.floor()) as usize;
    let Some(period) = period.filter(|p| *p >= 1.0) else { return pulls };
    let mut sums: Vec<Vec<f64>> = Vec::new();
    for (block, g) in pulls.into_iter().enumerate() {
        match sums.get_mut(place(block, period)) {
            Some(sum) => sum.iter_mut().zip(g).for_each(|(s, x)| *s += x),
            None => sums.push(g),
        }
    }
    sums
}

/// Standard deviations of estimates `χ = A⁻¹ Wᵀ τ`: those of independent residuals, `A⁻¹`, or `A⁻¹ S A⁻¹` where that is more,
/// with S the covariance of what the blocks pull, those up to [`LASTS`] apart together (Newey and West, 1987), and those a period
/// apart. S alone comes out small in short records, since estimates fit most of the noise where their columns have their
/// frequencies. `inverse` is that of the scaled normal equations, `parameters` how many are estimated per equation of a block.
pub(super) fn deviations(
    used: &[Rows],
    weights: &[f64],
    chi: &[f64],
    (inverse, scale): (&Matrix, &[f64]),
    parameters: f64,
) -> Vec<f64> {
    let n = chi.len();
    let mut S = Matrix::zeros(n, n);
    let mut blocks = 0;
    for rows in used {
        let g = folded(pulls(rows, weights, chi, scale), rows.period);
        blocks += g.len();
        for later in 0..=LASTS.min(g.len().saturating_sub(1)) {
            let share = 1.0 - later as f64 / (LASTS + 1) as f64;
            for (a, b) in g.iter().zip(&g[later..]) {
                for i in 0..n {
                    for j in 0..n {
                        let both = if later == 0 { a[i] * b[j] } else { a[i] * b[j] + b[i] * a[j] };
                        S[(i, j)] += share * both;
                    }
                }
            }
        }
    }
    // Residuals are smaller than the noise, since the estimates fit some of it.
    let lost = blocks as f64 / (blocks as f64 - parameters).max(1.0);
    let variance = inverse * S * inverse;
    (0..n).map(|j| (lost * variance[(j, j)]).max(inverse[(j, j)]).sqrt() * scale[j]).collect()
}
