//! What an algorithm may do with a number.
//!
//! Every formula of the library is a function generic over [`Real`]. The same source then runs on `f64`,
//! differentiates on dual numbers, treats four postures at once on SIMD [`Lanes`], and unrolls into a program
//! on [`Expr`]. There is no ordering in the trait on purpose: code that cannot compare values cannot branch on
//! them. Drivers, which decide, are written for `f64`.

mod dual;
mod expr;
mod float;
mod lanes;

pub use dual::{Dual, Dual2, Dual3, DualVector};
pub use expr::{Arg, Expr, ExprIndex, Op, Operations, Program, trace};
pub use lanes::{LANES, Lanes, all_nonneg, all_within, each_lane, lane, lanes, sum_of_lanes};

use num_traits::{One, Zero};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number an algorithm can work on: `f64`, [`Dual`], [`DualVector`], [`Dual2`], [`Lanes`] or [`Expr`].
pub trait Real:
    nalgebra::Scalar
    + Copy
    + Zero
    + One
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// The constant `x`.
    fn lit(x: f64) -> Self;

    /// Square root. A negative argument gives NaN, which stays in its lane; the derivative at zero is taken as zero.
    fn sqrt(self) -> Self;

    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);

    /// Angle of the vector `(x, self)` in (-π, π]; zero, with zero derivative, for the null vector.
    fn atan2(self, x: Self) -> Self;

    /// Exponential.
    fn exp(self) -> Self;

    /// -1, 0 or 1; its derivative is zero.
    fn sign(self) -> Self;

    /// `a` where `self >= 0`, else `b`. Both are computed.
    fn where_nonneg(self, a: Self, b: Self) -> Self;

    /// Sine and cosine of a constant of the robot: values within 4e-16 of 0, ±1/2 and ±1 are exactly that, so that
    /// a right angle written as `pi/2` leaves true zeros in the model.
    fn exact_sin_cos(self) -> (Self, Self) {
        self.sin_cos()
    }

    /// `self · a + b`, in one instruction where the processor has it.
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }

    /// One over the number.
    fn recip(self) -> Self {
        Self::one() / self
    }

    /// Absolute value, by way of [`Real::sign`].
    fn abs(self) -> Self {
        self * self.sign()
    }

    /// The square.
    fn squared(self) -> Self {
        self * self
    }
}

/// The nearest of 0, ±1/2, ±1 when `x` is within 4e-16 of it, `x` otherwise.
pub(crate) fn exact(x: f64) -> f64 {
    let near = (2.0 * x).round() / 2.0;
    if (x - near).abs() <= 4e-16 { near + 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_angles_leave_true_zeros() {
        use std::f64::consts::PI;
        for (angle, sin, cos) in [
            (0.0, 0.0, 1.0),
            (PI / 2.0, 1.0, 0.0),
            (-PI / 2.0, -1.0, 0.0),
            (PI, 0.0, -1.0),
            (PI / 6.0, 0.5, PI.mul_add(1.0 / 6.0, 0.0).cos()),
            (2.0 * PI / 3.0, (2.0 * PI / 3.0).sin(), -0.5),
        ] {
            let (s, c) = angle.exact_sin_cos();
            assert_eq!(s.to_bits(), f64::to_bits(sin), "sin {angle}");
            assert_eq!(c.to_bits(), f64::to_bits(cos), "cos {angle}");
        }
        let (s, c) = 0.3.exact_sin_cos();
        assert_eq!((s, c), 0.3_f64.sin_cos());
    }

    /// A little of everything, so that the four numbers can be compared with each other.
    fn sample<S: Real>(x: S, y: S) -> S {
        let (s, c) = (x * y).sin_cos();
        let r = (x.squared() + y.squared()).sqrt();
        let t = (y / r).atan2(x / r) + (-x).exp() * s.abs();
        x.where_nonneg(t, c) - (x - y).sign() * c + (y - x).where_nonneg(r, t.recip())
    }

    #[test]
    fn one_source_runs_on_four_numbers() {
        let points = [(0.3, 0.4), (-0.7, 0.2), (1.4, -0.6), (0.9, 2.2)];
        let pack = |f: fn((f64, f64)) -> f64| lanes(std::array::from_fn(|k| f(points[k % 4])));
        let program = trace(&["x", "y"], |v| vec![sample(v[0], v[1])]);
        let four = sample(pack(|p| p.0), pack(|p| p.1));
        for (i, (x, y)) in points.into_iter().enumerate() {
            let plain = sample(x, y);
            assert!((program.eval(&[x, y])[0] - plain).abs() < 1e-15);
            assert!((lane(four, i) - plain).abs() < 1e-14);
            let dual = sample(Dual::new(x, 1.0), Dual::from(y));
            let h = 1e-6;
            let difference = (sample(x + h, y) - sample(x - h, y)) / (2.0 * h);
            assert!((dual.re - plain).abs() < 1e-15);
            assert!((dual.eps - difference).abs() < 1e-8 && dual.eps != 0.0);
        }
    }

    #[test]
    fn one_lane_without_an_answer_spoils_no_other() {
        let r = lanes([4.0, -1.0, 9.0, 0.0]).sqrt() + Lanes::one();
        assert!(lane(r, 1).is_nan());
        assert_eq!([lane(r, 0), lane(r, 2), lane(r, 3)], [3.0, 4.0, 1.0]);
    }

    #[test]
    fn derivatives_at_the_edge_are_finite() {
        let zero = Dual::new(0.0, 1.0);
        assert_eq!(Real::sqrt(zero).eps, 0.0);
        assert_eq!(Real::atan2(zero, zero).eps, 0.0);
    }
}
