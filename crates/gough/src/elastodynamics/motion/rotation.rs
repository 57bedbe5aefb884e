//! Rotation of an elastic tip: the exponential of its rotation vector and its exact rate.
//!
//! The literature takes three small turns and their sum as rate, (10.6), (10.9), which is right to first order. Here `R = exp(φ̂)` and
//! `ω = T(φ) φ̇` belong to each other exactly, so that loops close at all levels and energy is kept; in a plane both are the same.

use crate::scalar::Real;
use crate::spatial::{Mat3, Rotation, Vec3, cross, hat};

/// Terms of the power series: exact to rounding for rotations below one radian.
const TERMS: usize = 9;

/// `(-1)^k / (2k + first)!`, and times `k` one place before: the coefficients of a series and of its derivative.
const fn coefficients(first: usize) -> [[f64; TERMS]; 2] {
    let mut c = 1.0;
    let mut k = 2;
    while k <= first {
        c /= k as f64;
        k += 1;
    }
    let mut out = [[0.0; TERMS]; 2];
    let mut k = 0;
    while k < TERMS {
        out[0][k] = c;
        c = -c / ((2 * k + first + 1) as f64 * (2 * k + first + 2) as f64);
        out[1][k] = c * (k + 1) as f64;
        k += 1;
    }
    out
}

const FROM_ONE: [[f64; TERMS]; 2] = coefficients(1);
const FROM_TWO: [[f64; TERMS]; 2] = coefficients(2);
const FROM_THREE: [[f64; TERMS]; 2] = coefficients(3);

/// `Σ_k (-s)^k / (2k + first)!`, and its derivative by `s`.
fn series<S: Real>(s: S, c: &[[f64; TERMS]; 2]) -> [S; 2] {
    c.map(|c| c.iter().rev().fold(S::zero(), |sum, c| sum * s + S::lit(*c)))
}

/// A small rotation with its rate.
#[derive(Clone, Copy, Debug)]
pub struct ElasticTurn<S: Real> {
    /// `exp(φ̂)`.
    pub R: Rotation<S>,
    /// `ω = T φ̇`, in the axes before the rotation.
    pub T: Mat3<S>,
    /// `T φ̇`.
    pub rate: Vec3<S>,
    /// `Ṫ φ̇`.
    pub bias: Vec3<S>,
}

impl<S: Real> ElasticTurn<S> {
    /// The rotation of a tip that turns about this axis alone, or about any where there is none.
    pub(super) fn about(axis: Option<usize>, phi: Vec3<S>, rate: Vec3<S>) -> Self {
        let Some(k) = axis else { return Self::new(phi, rate) };
        let (sin, cos) = phi[k].sin_cos();
        let [i, j] = [(k + 1) % 3, (k + 2) % 3];
        let mut R = Mat3::identity();
        (R[(i, i)], R[(j, j)], R[(j, i)], R[(i, j)]) = (cos, cos, sin, -sin);
        Self::about_one(Rotation(R), rate)
    }

    /// The rotation of a tip that turns about one axis alone, where it is known: its rate does not feel where it stands.
    pub(super) fn about_one(R: Rotation<S>, rate: Vec3<S>) -> Self {
        Self { R, T: Mat3::identity(), rate, bias: Vec3::zeros() }
    }

    /// The rotation alone.
    pub(super) fn rotation(axis: Option<usize>, phi: Vec3<S>) -> Rotation<S> {
        if axis.is_some() {
            return Self::about(axis, phi, Vec3::zeros()).R;
        }
        let s = phi.dot(&phi);
        let of = |c: &[[f64; TERMS]; 2]| c[0].iter().rev().fold(S::zero(), |sum, c| sum * s + S::lit(*c));
        let H = hat(phi);
        Rotation(Mat3::identity() + H * of(&FROM_ONE) + H * H * of(&FROM_TWO))
    }

    /// `R = 1 + c φ̂ + a φ̂²`, `T = 1 + a φ̂ + b φ̂²` with `c = sin θ/θ`, `a = (1 - cos θ)/θ²`, `b = (θ - sin θ)/θ³`.
    pub fn new(phi: Vec3<S>, rate: Vec3<S>) -> Self {
        let s = phi.dot(&phi);
        let ([c, _], [a, a_s], [b, b_s]) = (series(s, &FROM_ONE), series(s, &FROM_TWO), series(s, &FROM_THREE));
        let H = hat(phi);
        let H2 = H * H;
        let T = Mat3::identity() + H * a + H2 * b;
        let sd = S::lit(2.0) * phi.dot(&rate);
        let across = cross(phi, rate);
        // φ̂ φ̇̂ φ̇ = 0.
        let bias = across * (a_s * sd) + cross(phi, across) * (b_s * sd) + cross(rate, across) * b;
        Self { R: Rotation(Mat3::identity() + H * c + H2 * a), T, rate: T * rate, bias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Dual;
    use crate::spatial::vec3;

    #[test]
    fn about_one_axis_it_is_a_plain_turn() {
        for k in 0..3 {
            let (mut phi, mut rate) = (Vec3::zeros(), Vec3::zeros());
            (phi[k], rate[k]) = (0.4, -1.3);
            let (any, one) = (ElasticTurn::new(phi, rate), ElasticTurn::about(Some(k), phi, rate));
            assert!((any.R.0 - one.R.0).norm() < 1e-15 && (any.R.0 - Mat3::identity()).norm() > 0.1);
            assert!((any.rate - one.rate).norm() + (any.bias - one.bias).norm() < 1e-15);
            assert!((any.T.column(k) - one.T.column(k)).norm() < 1e-15);
        }
    }

    #[test]
    fn rate_and_bias_are_the_derivatives_of_the_rotation() {
        let (phi, rate) = (vec3(0.3, -0.5, 0.2), vec3(0.7, 0.4, -1.1));
        let at = |t: Dual| ElasticTurn::new(phi.map(Dual::from) + rate.map(Dual::from) * t, rate.map(Dual::from));
        let moved = at(Dual::new(0.0, 1.0));
        let turn = ElasticTurn::new(phi, rate);
        let Rd = moved.R.0.map(|x| x.eps);
        assert!((hat(turn.rate) * turn.R.0 - Rd).norm() < 1e-14 && Rd.norm() > 0.1);
        assert!((moved.rate.map(|x| x.eps) - turn.bias).norm() < 1e-14 && turn.bias.norm() > 1e-3);
        assert!((ElasticTurn::rotation(None, phi).0 - turn.R.0).norm() < 1e-15);
        assert!((turn.R.0 * turn.R.0.transpose() - Mat3::identity()).norm() < 1e-15);
    }
}
