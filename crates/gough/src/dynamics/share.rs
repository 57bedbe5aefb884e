//! How redundant drives share, (8.145)-(8.148): `J⁻ᵀ τ = h` has many solutions.

use super::conditions::Share;
use crate::kinematics::SolveError;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// What redundant drives do against each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Internal {
    /// Lists of efforts that move nothing, of length one and at right angles: the columns of `1 - (J⁻ᵀ)⁺ J⁻ᵀ`.
    pub null_space: Vec<Vec<f64>>,
    /// The part of the efforts that moves nothing: the drives push against each other with it.
    pub load: Vec<f64>,
}

/// Lists of efforts that move nothing: orthonormal, `J_inv` one row per drive.
fn null_space(J_inv: &Dense<f64>) -> Vec<Vec<f64>> {
    let (m, n) = (J_inv.rows, J_inv.cols);
    // Left null vectors: what of the unit matrix is left when the columns of J_inv are taken away.
    let f = svd(&Matrix::from_fn(m, n, |i, j| J_inv.at(i, j)));
    let rank = f.rank();
    let mut basis: Vec<Vec<f64>> = (0..rank).map(|k| (0..m).map(|i| f.u[(i, k)]).collect()).collect();
    for drive in 0..m {
        let mut v: Vec<f64> = (0..m).map(|i| f64::from(u8::from(i == drive))).collect();
        for _ in 0..2 {
            for b in &basis {
                let along: f64 = v.iter().zip(b).map(|(x, y)| x * y).sum();
                v.iter_mut().zip(b).for_each(|(x, y)| *x -= along * y);
            }
        }
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 1e-6 && basis.len() < m {
            basis.push(v.into_iter().map(|x| x / length).collect());
        }
    }
    basis.split_off(rank)
}

/// What drives with these efforts do against each other.
pub(super) fn internal(J_inv: &Dense<f64>, efforts: &[f64]) -> Internal {
    let null_space = null_space(J_inv);
    let mut load = vec![0.0; efforts.len()];
    for v in &null_space {
        let along: f64 = v.iter().zip(efforts).map(|(x, y)| x * y).sum();
        load.iter_mut().zip(v).for_each(|(x, y)| *x += along * y);
    }
    Internal { null_space, load }
}

/// Efforts shared as asked, from those of the shortest list; `felt` says which drives the rows of `J_inv` belong to.
pub(super) fn share(how: &Share, J_inv: &Dense<f64>, felt: &[usize], shortest: &[f64]) -> Result<Vec<f64>, SolveError> {
    let count = shortest.len();
    let counted = |found: usize| {
        let wrong = SolveError::WrongCount { what: "drives to share", expected: count, found };
        if found == count { Ok(()) } else { Err(wrong) }
    };
    let mut efforts = shortest.to_vec();
    match how {
        Share::Shortest => return Ok(efforts),
        Share::Weighted(weights) => {
            counted(weights.len())?;
            // With z = sqrt(w) τ the shortest z is wanted: move along the null space, N z = -(Nᵀ W N)⁻¹ Nᵀ W τ.
            let N = null_space(J_inv);
            let root: Vec<f64> = felt.iter().map(|k| weights[*k].sqrt()).collect();
            let a = Matrix::from_fn(felt.len(), N.len(), |i, j| root[i] * N[j][i]);
            let b: Vec<f64> = felt.iter().zip(&root).map(|(k, w)| -w * shortest[*k]).collect();
            let z = svd(&a).least_squares(&b);
            for (i, k) in felt.iter().enumerate() {
                efforts[*k] += N.iter().zip(&z).map(|(v, z)| v[i] * z).sum::<f64>();
            }
        }
        Share::Within(limits) => {
            counted(limits.len())?;
            within(limits, J_inv, felt, &mut efforts)?;
        }
    }
    Ok(efforts)
}

/// `min ½ |τ|²` with `J⁻ᵀ τ = h` and limits, by an interior-point method, in coordinates of the null space: `τ = τ_0 + N z`.
fn within(limits: &[[f64; 2]], J_inv: &Dense<f64>, felt: &[usize], efforts: &mut [f64]) -> Result<(), SolveError> {
    let N = null_space(J_inv);
    let size = felt.iter().map(|k| efforts[*k].abs()).fold(1e-9, f64::max);
    let no_way = || SolveError::BeyondEffort {
        drives: felt.iter().filter(|k| !(limits[**k][0]..=limits[**k][1]).contains(&efforts[**k])).copied().collect(),
    };
    let (k, m) = (N.len(), felt.len());
    // Efforts are divided by their size, so that tolerances of the solver are relative.
    let P = CscMatrix::identity(k);
    let q = vec![0.0; k];
    let mut rows = vec![vec![0.0; k]; 2 * m];
    let mut b = vec![0.0; 2 * m];
    for (i, drive) in felt.iter().enumerate() {
        for (j, v) in N.iter().enumerate() {
            rows[i][j] = v[i];
            rows[m + i][j] = -v[i];
        }
        b[i] = ((limits[*drive][1] - efforts[*drive]) / size).min(1e9);
        b[m + i] = ((efforts[*drive] - limits[*drive][0]) / size).min(1e9);
    }
    let A = CscMatrix::from(&rows);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .map_err(|_| no_way())?;
    let cones = [SupportedConeT::NonnegativeConeT(2 * m)];
    let mut solver = DefaultSolver::new(&P, &q, &A, &b, &cones, settings).map_err(|_| no_way())?;
    solver.solve();
    if matches!(solver.solution.status, SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible) {
        return Err(no_way());
    }
    let shared: Vec<f64> = felt
        .iter()
        .enumerate()
        .map(|(i, k)| efforts[*k] + size * N.iter().zip(&solver.solution.x).map(|(v, z)| v[i] * z).sum::<f64>())
        .collect();
    // Whatever the solver says of itself: the limits must hold.
    let slack = 1e-7 * size;
    let holds = |(x, k): (&f64, &usize)| *x >= limits[*k][0] - slack && *x <= limits[*k][1] + slack;
    if !shared.iter().zip(felt).all(holds) {
        return Err(no_way());
    }
    felt.iter().zip(shared).for_each(|(k, x)| efforts[*k] = x);
    Ok(())
}
