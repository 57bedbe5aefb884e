//! Frequency response of the platform by modes, and its compliance at rest, with the drives held.

use super::points::MaterialPoint;
use super::solve::{FlexibleRobot, FlexibleState};
use crate::elastodynamics::error::ElasticError;
use crate::linalg::dense::{Matrix, generalized_eigen};
use crate::linalg::small::Dense;
use crate::spatial::Twist;

/// What of the answer is compared with the force.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResponseKind {
    /// Displacement per force.
    #[default]
    Receptance,
    /// Velocity per force.
    Mobility,
    /// Acceleration per force.
    Accelerance,
}

/// A mode as the platform feels it.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct ResponseMode {
    /// Natural frequency, undamped.
    pub hz: f64,
    /// Damping ratio.
    pub damping: f64,
    /// Product of its motion at the output and at the input, for unit modal mass.
    pub residue: f64,
}

/// Response of the platform to a wrench.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct FrequencyResponse {
    /// Modes, lowest first.
    pub modes: Vec<ResponseMode>,
    /// Displacement per force at rest, along the output for a wrench along the input.
    pub static_compliance: f64,
    /// Motion `[v; w]` of the platform at rest per unit of each component of a wrench `[f; m]`, world axes.
    pub compliance: [[f64; 6]; 6],
}

impl FrequencyResponse {
    /// Real and imaginary part of the response at a frequency: `Σ o_r p_r / (ω_r² - ω² + 2 i ζ_r ω_r ω)`, times `iω` for rates.
    pub fn at(&self, hz: f64, kind: ResponseKind) -> [f64; 2] {
        let tau = std::f64::consts::TAU;
        let w = tau * hz;
        let mut sum = [0.0; 2];
        for m in &self.modes {
            let w_r = tau * m.hz;
            let (re, im) = (w_r * w_r - w * w, 2.0 * m.damping * w_r * w);
            let size = (re * re + im * im).max(f64::MIN_POSITIVE);
            sum = [sum[0] + m.residue * re / size, sum[1] - m.residue * im / size];
        }
        match kind {
            ResponseKind::Receptance => sum,
            ResponseKind::Mobility => [-w * sum[1], w * sum[0]],
            ResponseKind::Accelerance => [-w * w * sum[0], -w * w * sum[1]],
        }
    }
}

impl FlexibleRobot<'_> {
    /// Response at a state at rest: input and output are directions of a wrench and of a motion, in world axes, at points of bodies, or of
    /// the platform where none is given. Every mode has the damping of the bodies and, beside it, the damping ratio that the file gives to
    /// all modes.
    pub fn response(
        &mut self,
        state: &FlexibleState,
        (input_at, input): (Option<&MaterialPoint>, [f64; 6]),
        (output_at, output): (Option<&MaterialPoint>, [f64; 6]),
    ) -> Result<FrequencyResponse, ElasticError> {
        let small = self.linearise(state, true)?;
        let shared = self.model().description().elastic.damping.as_ref().map_or(0.0, |f| f.value);
        let symmetric = |A: &Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| 0.5 * (A.at(i, j) + A.at(j, i)));
        let (values, shapes) =
            generalized_eigen(&symmetric(&small.K), &symmetric(&small.M)).ok_or(ElasticError::NotConverged)?;
        if values.first().is_some_and(|v| *v <= 1e-12 * values.last().copied().unwrap_or(1.0)) {
            return Err(ElasticError::NotAtRest);
        }
        let motions = [None, input_at, output_at].map(|at| self.motions_at(state, &small.slots, at));
        let n = small.slots.len();
        let felt = |at: usize, r: usize| -> [f64; 6] {
            std::array::from_fn(|i| (0..n).map(|k| motions[at][k][i] * shapes[(k, r)]).sum())
        };
        let along = |a: &[f64; 6], b: &[f64; 6]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let (mut modes, mut compliance, mut static_compliance) = (Vec::with_capacity(n), [[0.0; 6]; 6], 0.0);
        for (r, value) in values.iter().enumerate() {
            let (w_r, t) = (value.sqrt(), felt(0, r));
            let residue = along(&felt(1, r), &input) * along(&felt(2, r), &output);
            static_compliance += residue / value;
            let lost: f64 =
                (0..n).map(|i| (0..n).map(|j| shapes[(i, r)] * small.D.at(i, j) * shapes[(j, r)]).sum::<f64>()).sum();
            let damping = shared + 0.5 * lost / w_r;
            modes.push(ResponseMode { hz: w_r / std::f64::consts::TAU, damping, residue });
            for (row, x) in compliance.iter_mut().zip(&t) {
                row.iter_mut().zip(&t).for_each(|(c, y)| *c += x * y / value);
            }
        }
        Ok(FrequencyResponse { modes, static_compliance, compliance })
    }

    /// Motion of a point, or of the platform, per unit of each of these coordinates, world axes.
    fn motions_at(&mut self, state: &FlexibleState, slots: &[usize], at: Option<&MaterialPoint>) -> Vec<[f64; 6]> {
        let mut still = state.clone();
        still.rates.fill(0.0);
        let equations = self.equations(&still, None);
        let columns = slots.iter().map(|slot| {
            let place = self.independent().iter().position(|k| k == slot).unwrap_or(0);
            let all: Vec<f64> = (0..equations.J.rows).map(|i| equations.J.at(i, place)).collect();
            let A = match at {
                Some(point) => self.point_motion(point, &still, &all).2,
                None => self.flexible.tool(&all, &self.data).2,
            };
            Twist { v: A.a, w: A.alpha }.to_array()
        });
        columns.collect()
    }
}
