//! `f64` as a [`Real`].

use super::{Real, exact};

impl Real for f64 {
    #[inline]
    fn lit(x: f64) -> Self {
        x
    }
    #[inline]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        f64::sin_cos(self)
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        f64::atan2(self, x)
    }
    #[inline]
    fn exp(self) -> Self {
        f64::exp(self)
    }
    #[inline]
    fn sign(self) -> Self {
        if self == 0.0 { 0.0 } else { self.signum() }
    }
    #[inline]
    fn where_nonneg(self, a: Self, b: Self) -> Self {
        if self >= 0.0 { a } else { b }
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f64::mul_add(self, a, b)
    }
    fn exact_sin_cos(self) -> (Self, Self) {
        let (s, c) = f64::sin_cos(self);
        (exact(s), exact(c))
    }
}
