//! Rotation of an elastic tip: the exponential of its rotation vector and its exact rate.
//!
//! The literature takes three small turns and their sum as rate, (10.6), (10.9), which is right to first order. Here `R = exp(φ̂)` and
//! `ω = T(φ) φ̇` belong to each other exactly, so that loops close at all levels and energy is kept; in a plane both are the same.

use crate::scalar::Real;
use crate::spatial::{Mat3, Rotation, Vec3, cross, hat};

/// Terms of the power series: exact to rounding for rotations below one radian.
const TERMS: usize = 9;

/// `Σ_k (-s)^k / (2k + first)!`, and its derivative by `s`.
fn series<S: Real>(s: S, first: usize) -> [S; 2] {
    let mut coefficient: f64 = 1.0 / (1..=first).map(|k| k as f64).product::<f64>();
    let (mut sum, mut slope, mut power) = (S::zero(), S::zero(), S::one());
    for k in 0..TERMS {
        sum += power * S::lit(coefficient);
        let next = (2 * k + first + 1) as f64 * (2 * k + first + 2) as f64;
        coefficient = -coefficient / next;
        slope += power * S::lit(coefficient * (k + 1) as f64);
        power *= s;
    }
    [sum, slope]
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
    /// `R = 1 + c φ̂ + a φ̂²`, `T = 1 + a φ̂ + b φ̂²` with `c = sin θ/θ`, `a = (1 - cos θ)/θ²`, `b = (θ - sin θ)/θ³`.
    pub fn new(phi: Vec3<S>, rate: Vec3<S>) -> Self {
        let s = phi.dot(&phi);
        let ([c, _], [a, a_s], [b, b_s]) = (series(s, 1), series(s, 2), series(s, 3));
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
    fn rate_and_bias_are_the_derivatives_of_the_rotation() {
        let (phi, rate) = (vec3(0.3, -0.5, 0.2), vec3(0.7, 0.4, -1.1));
        let at = |t: Dual| ElasticTurn::new(phi.map(Dual::from) + rate.map(Dual::from) * t, rate.map(Dual::from));
        let moved = at(Dual::new(0.0, 1.0));
        let turn = ElasticTurn::new(phi, rate);
        let Rd = moved.R.0.map(|x| x.eps);
        assert!((hat(turn.rate) * turn.R.0 - Rd).norm() < 1e-14 && Rd.norm() > 0.1);
        assert!((moved.rate.map(|x| x.eps) - turn.bias).norm() < 1e-14 && turn.bias.norm() > 1e-3);
        assert!((turn.R.0 * turn.R.0.transpose() - Mat3::identity()).norm() < 1e-15);
    }
}
