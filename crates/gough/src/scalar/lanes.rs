//! Four `f64` in one SIMD register as a [`Real`]: four legs, or four postures, for little more than the price of one.

use super::Real;
use num_traits::{One, Zero};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use wide::f64x4 as Wide;

/// Numbers side by side.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(transparent)]
pub struct Lanes(Wide);

/// How many.
pub const LANES: usize = 4;

/// Pack numbers.
#[inline(always)]
pub fn lanes(x: [f64; LANES]) -> Lanes {
    Lanes(Wide::new(x))
}

/// The number in lane `i`.
#[inline(always)]
pub fn lane(x: Lanes, i: usize) -> f64 {
    x.0.to_array()[i]
}

/// The numbers in all lanes.
#[inline(always)]
pub fn each_lane(x: Lanes) -> [f64; LANES] {
    x.0.to_array()
}

/// The sum of all lanes.
#[inline(always)]
pub fn sum_of_lanes(x: Lanes) -> f64 {
    x.0.reduce_add()
}

/// Whether no number is negative; not those that are no number.
#[inline(always)]
pub fn all_nonneg(x: Lanes) -> bool {
    x.0.simd_ge(Wide::splat(0.0)).all()
}

/// Whether all numbers lie between `-limit` and `limit`; not those that are no number.
#[inline(always)]
pub fn all_within(x: Lanes, limit: f64) -> bool {
    (x.0.simd_lt(Wide::splat(limit)) & x.0.simd_gt(Wide::splat(-limit))).all()
}

impl Lanes {
    /// `self · a - b` in one instruction.
    #[inline(always)]
    pub fn mul_sub(self, a: Self, b: Self) -> Self {
        Self(self.0.mul_sub(a.0, b.0))
    }

    /// `b - self · a` in one instruction.
    #[inline(always)]
    pub fn mul_neg_add(self, a: Self, b: Self) -> Self {
        Self(self.0.mul_neg_add(a.0, b.0))
    }

    /// Absolute values.
    #[inline(always)]
    pub fn magnitude(self) -> Self {
        Self(self.0.abs())
    }

    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        lanes(self.0.to_array().map(f))
    }
}

macro_rules! operation {
    ($op:ident, $f:ident, $assign:ident, $f_assign:ident) => {
        impl $op for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $f(self, b: Self) -> Self {
                Self(self.0.$f(b.0))
            }
        }
        impl $assign for Lanes {
            #[inline(always)]
            fn $f_assign(&mut self, b: Self) {
                *self = (*self).$f(b);
            }
        }
    };
}
operation!(Add, add, AddAssign, add_assign);
operation!(Sub, sub, SubAssign, sub_assign);
operation!(Mul, mul, MulAssign, mul_assign);
operation!(Div, div, DivAssign, div_assign);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Zero for Lanes {
    #[inline(always)]
    fn zero() -> Self {
        Self(Wide::splat(0.0))
    }
    fn is_zero(&self) -> bool {
        self.0.to_array().iter().all(|x| *x == 0.0)
    }
}

impl One for Lanes {
    #[inline(always)]
    fn one() -> Self {
        Self(Wide::splat(1.0))
    }
}

impl Real for Lanes {
    #[inline(always)]
    fn lit(x: f64) -> Self {
        Self(Wide::splat(x))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.0.sin_cos();
        (Self(sin), Self(cos))
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        Self(self.0.atan2(x.0))
    }
    #[inline]
    fn exp(self) -> Self {
        Self(self.0.exp())
    }
    #[inline]
    fn sign(self) -> Self {
        self.each(Real::sign)
    }
    #[inline(always)]
    fn where_nonneg(self, a: Self, b: Self) -> Self {
        Self(self.0.simd_ge(Wide::splat(0.0)).select(a.0, b.0))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(self.0.mul_add(a.0, b.0))
    }
    fn exact_sin_cos(self) -> (Self, Self) {
        (self.each(|x| x.exact_sin_cos().0), self.each(|x| x.exact_sin_cos().1))
    }
}
