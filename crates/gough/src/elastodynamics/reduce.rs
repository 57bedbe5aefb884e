//! Legs reduced to what the platform feels of them: static condensation, and Craig-Bampton with a few of each leg's own modes.

use super::error::ElasticError;
use super::vibration::Vibration;
use crate::linalg::arrow::ModeKind;
use crate::linalg::dense::{Matrix, generalized_eigen, solve_spd_matrix};
use crate::linalg::small::Dense;
use std::f64::consts::TAU;

/// Frequencies of the reduced robot.
#[derive(Clone, PartialEq, Debug)]
pub struct Reduced {
    /// Coordinates that are left.
    pub coordinates: usize,
    /// Frequencies in Hz, ascending.
    pub hz: Vec<f64>,
    /// How much too high each is, as a fraction of the frequency of the whole model.
    pub errors: Vec<f64>,
}

impl Vibration {
    /// Frequencies of the posture taken with every leg reduced to its border and its lowest `modes` with the border held;
    /// none is static condensation. The whole model is solved too: that is where the errors come from.
    pub fn reduced(&mut self, modes: usize, count: usize) -> Result<Reduced, ElasticError> {
        let (K, M) = self.reduced_matrices(modes)?;
        let n = K.nrows();
        // With a positive definite K the pencil (M, K) exists also where some coordinates have no mass.
        let (mu, _) = generalized_eigen(&M, &K).ok_or(ElasticError::NotReducible)?;
        let largest = mu.last().copied().unwrap_or(0.0);
        let hz: Vec<f64> =
            mu.iter().rev().filter(|x| **x > 1e-14 * largest).map(|x| (1.0 / x).sqrt() / TAU).take(count).collect();
        let whole = self.lowest(hz.len())?;
        if whole.iter().any(|w| w.kind != ModeKind::Vibration) {
            return Err(ElasticError::NotReducible);
        }
        let errors = hz.iter().zip(whole).map(|(f, w)| f / w.hz - 1.0).collect();
        Ok(Reduced { coordinates: n, hz, errors })
    }

    /// `Tᵀ K T` and `Tᵀ M T` with `x_leg = -K_ll⁻¹ K_lb x_b + Φ η`.
    fn reduced_matrices(&self, modes: usize) -> Result<(Matrix, Matrix), ElasticError> {
        let (K, M) = self.matrices();
        let b = K.tip.rows;
        let kept: Vec<usize> = K.legs.iter().map(|l| modes.min(l.own.rows)).collect();
        let n = kept.iter().sum::<usize>() + b;
        let tip = n - b;
        let (mut out_K, mut out_M) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        let whole = |A: &Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| A.at(i.max(j), i.min(j)));
        let (mut tip_K, mut tip_M) = (whole(&K.tip), whole(&M.tip));
        let mut first = 0;
        for ((k, m), kept) in K.legs.iter().zip(&M.legs).zip(kept) {
            let [K_ll, M_ll] = [whole(&k.own), whole(&m.own)];
            let border = |A: &Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| A.at(i, j));
            let [K_lb, M_lb] = [border(&k.border), border(&m.border)];
            let (mu, V) = generalized_eigen(&M_ll, &K_ll).ok_or(ElasticError::NotReducible)?;
            let s = k.own.rows;
            // Φᵀ K Φ = 1: the highest μ = 1/λ are the lowest modes.
            let Phi = Matrix::from_fn(s, kept, |i, j| V[(i, s - 1 - j)]);
            let Psi = -solve_spd_matrix(&K_ll, &K_lb).ok_or(ElasticError::NotReducible)?;
            tip_K += K_lb.transpose() * &Psi;
            tip_M += Psi.transpose() * &M_ll * &Psi + M_lb.transpose() * &Psi + Psi.transpose() * &M_lb;
            let M_pb = Phi.transpose() * (&M_ll * &Psi + &M_lb);
            for i in 0..kept {
                out_K[(first + i, first + i)] = 1.0;
                out_M[(first + i, first + i)] = mu[s - 1 - i];
                for j in 0..b {
                    out_M[(first + i, tip + j)] = M_pb[(i, j)];
                    out_M[(tip + j, first + i)] = M_pb[(i, j)];
                }
            }
            first += kept;
        }
        for i in 0..b {
            for j in 0..b {
                out_K[(tip + i, tip + j)] = 0.5 * (tip_K[(i, j)] + tip_K[(j, i)]);
                out_M[(tip + i, tip + j)] = 0.5 * (tip_M[(i, j)] + tip_M[(j, i)]);
            }
        }
        Ok((out_K, out_M))
    }
}
