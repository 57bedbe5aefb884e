//! Four `f64` in one SIMD register as a [`Real`]: four postures for little more than the price of one.

use super::Real;
use simba::simd::{SimdBool, SimdComplexField, SimdPartialOrd, SimdRealField, SimdValue, WideF64x4};

/// Four numbers side by side.
pub type Lanes = WideF64x4;

/// How many.
pub const LANES: usize = 4;

/// Pack four numbers.
#[inline]
pub fn lanes(x: [f64; LANES]) -> Lanes {
    WideF64x4(x.into())
}

/// The number in lane `i`.
#[inline]
pub fn lane(x: Lanes, i: usize) -> f64 {
    x.extract(i)
}

/// Whether no number is negative; not those that are no number.
#[inline]
pub fn all_nonneg(x: Lanes) -> bool {
    x.simd_ge(Lanes::splat(0.0)).all()
}

/// Whether all four numbers lie between `-limit` and `limit`; not those that are no number.
#[inline]
pub fn all_within(x: Lanes, limit: f64) -> bool {
    (x.simd_lt(Lanes::splat(limit)) & x.simd_gt(Lanes::splat(-limit))).all()
}

impl Real for Lanes {
    #[inline]
    fn lit(x: f64) -> Self {
        Self::splat(x)
    }
    #[inline]
    fn sqrt(self) -> Self {
        self.simd_sqrt()
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        self.simd_sin_cos()
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        self.simd_atan2(x)
    }
    #[inline]
    fn exp(self) -> Self {
        self.simd_exp()
    }
    #[inline]
    fn sign(self) -> Self {
        self.map_lanes(Real::sign)
    }
    #[inline]
    fn where_nonneg(self, a: Self, b: Self) -> Self {
        a.select(self.simd_ge(Self::splat(0.0)), b)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(self.0.mul_add(a.0, b.0))
    }
    fn exact_sin_cos(self) -> (Self, Self) {
        (self.map_lanes(|x| x.exact_sin_cos().0), self.map_lanes(|x| x.exact_sin_cos().1))
    }
}
