//! Dual numbers as [`Real`]s: derivatives of everything, exact to rounding.

use super::Real;
use num_dual::DualNum;

/// First derivative in one direction.
pub type Dual = num_dual::Dual64;
/// First derivatives in `N` directions at once.
pub type DualVector<const N: usize> = num_dual::DualSVec64<N>;
/// First and second derivative in one direction.
pub type Dual2 = num_dual::Dual2_64;
/// First, second and third derivative in one direction.
pub type Dual3 = num_dual::Dual3_64;

macro_rules! real {
    ($type:ty $(, $n:ident)?) => {
        impl$(<const $n: usize>)? Real for $type {
            #[inline]
            fn lit(x: f64) -> Self {
                Self::from(x)
            }
            #[inline]
            fn sqrt(self) -> Self {
                if self.re == 0.0 { Self::from(0.0) } else { DualNum::sqrt(&self) }
            }
            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                DualNum::sin_cos(&self)
            }
            #[inline]
            fn atan2(self, x: Self) -> Self {
                if self.re == 0.0 && x.re == 0.0 { Self::from(0.0) } else { DualNum::atan2(&self, x) }
            }
            #[inline]
            fn exp(self) -> Self {
                DualNum::exp(&self)
            }
            #[inline]
            fn sign(self) -> Self {
                Self::from(Real::sign(self.re))
            }
            #[inline]
            fn where_nonneg(self, a: Self, b: Self) -> Self {
                if self.re >= 0.0 { a } else { b }
            }
            fn exact_sin_cos(self) -> (Self, Self) {
                let (s, c) = DualNum::sin_cos(&self);
                let (exact_s, exact_c) = self.re.exact_sin_cos();
                (s + (exact_s - s.re), c + (exact_c - c.re))
            }
        }
    };
}

real!(Dual);
real!(Dual2);
real!(Dual3);
real!(DualVector<N>, N);
