//! How redundant drives share, (8.145)-(8.148): `J⁻ᵀ τ = h` has many solutions.

use super::conditions::Share;
use crate::kinematics::SolveError;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::shortest::{AtLeast, shortest};
use crate::linalg::small::Dense;

/// What redundant drives do against each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Internal {
    /// Lists of efforts that move nothing, of length one and at right angles: the columns of `1 - (J⁻ᵀ)⁺ J⁻ᵀ`.
    pub null_space: Vec<Vec<f64>>,
    /// The part of the efforts that moves nothing: the drives push against each other with it.
    pub load: Vec<f64>,
}

/// Lists of efforts that move nothing: orthonormal, `J_inv` one row per drive, on all freedoms.
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

/// Efforts shared as asked, from those of the shortest list; `J_inv` has one row per drive, on all freedoms.
pub(super) fn share(how: &Share, J_inv: &Dense<f64>, shortest: &[f64]) -> Result<Vec<f64>, SolveError> {
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
            let root: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
            let a = Matrix::from_fn(count, N.len(), |i, j| root[i] * N[j][i]);
            let b: Vec<f64> = shortest.iter().zip(&root).map(|(x, w)| -w * x).collect();
            let z = svd(&a).least_squares(&b);
            for (i, effort) in efforts.iter_mut().enumerate() {
                *effort += N.iter().zip(&z).map(|(v, z)| v[i] * z).sum::<f64>();
            }
        }
        Share::Within(limits) => {
            counted(limits.len())?;
            within(limits, J_inv, &mut efforts)?;
        }
    }
    Ok(efforts)
}

/// `min |τ|` with `J⁻ᵀ τ = h` and limits, in coordinates of the null space: `τ = τ_0 + N z`, and since `τ_0` is at right angles
/// to N, the shortest `z` is wanted. Efforts are divided by the largest that occurs, so that the tolerance is relative.
fn within(limits: &[[f64; 2]], J_inv: &Dense<f64>, efforts: &mut [f64]) -> Result<(), SolveError> {
    let drives = 0..efforts.len();
    let no_way = |efforts: &[f64]| SolveError::BeyondEffort {
        drives: drives.clone().filter(|k| !(limits[*k][0]..=limits[*k][1]).contains(&efforts[*k])).collect(),
    };
    let N = null_space(J_inv);
    let beyond = |k: usize| (limits[k][0] - efforts[k]).max(efforts[k] - limits[k][1]);
    let size = drives.clone().map(|k| efforts[k].abs().max(beyond(k))).fold(1e-9, f64::max);
    let side = |k: usize, sign: f64, most: f64| AtLeast {
        g: N.iter().map(|v| -sign * v[k]).collect(),
        h: -(sign * (most - efforts[k])) / size,
    };
    let both = |k: usize| [side(k, 1.0, limits[k][1]), side(k, -1.0, limits[k][0])];
    let rows: Vec<AtLeast> = drives.clone().flat_map(both).collect();
    let z = shortest(N.len(), &rows).ok_or_else(|| no_way(efforts))?;
    let moved = |k: usize| size * N.iter().zip(&z).map(|(v, z)| v[k] * z).sum::<f64>();
    let shared: Vec<f64> = drives.clone().map(|k| efforts[k] + moved(k)).collect();
    // Whatever was found: the limits must hold.
    let slack = 1e-9 * size;
    let holds = |(x, limit): (&f64, &[f64; 2])| *x >= limit[0] - slack && *x <= limit[1] + slack;
    if !shared.iter().zip(limits).all(holds) {
        return Err(no_way(efforts));
    }
    efforts.copy_from_slice(&shared);
    Ok(())
}
