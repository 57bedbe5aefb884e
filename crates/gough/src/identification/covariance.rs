//! Standard deviations that the residuals themselves tell: noise may differ from drive to drive and from one part of the motion
//! to another, drives may share it, and what filters leave of it lasts from one block to the next.

use super::rows::Rows;
use crate::linalg::dense::Matrix;

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

/// Standard deviations of estimates `χ = A⁻¹ Wᵀ τ`: those of independent residuals, `A⁻¹`, or `A⁻¹ S A⁻¹` where that is more,
/// with S the covariance of what the blocks pull, those up to [`LASTS`] apart together (Newey and West, 1987). S alone comes out
/// small in short records, since estimates fit most of the noise where their columns have their frequencies. `inverse` is
/// that of the scaled normal equations, `parameters` how many are estimated per equation of a block.
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
        let g = pulls(rows, weights, chi, scale);
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
