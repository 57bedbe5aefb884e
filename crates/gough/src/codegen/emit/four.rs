//! Functions on four numbers at once, in vectors of the compiler.

use super::c::CNumbers;
use std::fmt::Write as _;

/// The compiler's own vectors, and no warning that functions which pass them are called otherwise by code that is compiled for
/// other processors: they are all in one file.
pub(super) const INTRINSICS: &str = "\
#ifdef __AVX__
#include <immintrin.h>
#endif
#pragma GCC diagnostic ignored \"-Wpsabi\"
";

const SQRT: [&str; 2] = [
    "\
static inline gough_double4 gough_sqrt(gough_double4 x) {
#ifdef __AVX__
    return (gough_double4)_mm256_sqrt_pd((__m256d)x);
#else
    return (gough_double4){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
#endif
}

",
    "\
static inline gough_float4 gough_sqrt(gough_float4 x) {
#ifdef __AVX__
    return (gough_float4)_mm_sqrt_ps((__m128)x);
#else
    return (gough_float4){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
#endif
}

",
];

/// Sine and cosine by the remainder to a quarter turn, in three parts of π/2, and the polynomials of fdlibm. The number of quarters is
/// rounded by adding a large number, which -ffast-math takes away: there they are computed one by one.
const TURNS: &str = "\
typedef long long gough_long4 __attribute__((vector_size(32)));

/* Sine of x plus some quarter turns. */
static inline gough_double4 gough_turned(gough_double4 x, long long quarters) {
    const gough_double4 large = (gough_double4){0} + 6755399441055744.0;
    const gough_double4 shifted = x*0.63661977236758134308 + large, k = shifted - large;
    const gough_double4 r = ((x - k*1.57079632673412561417) - k*6.07710050630396597660e-11) - k*2.02226624879595063154e-21;
    const gough_double4 z = r*r, half = 0.5*z, w = 1.0 - half;
    const gough_double4 s = r + r*z*(-1.66666666666666324348e-01 + z*(8.33333333332248946124e-03 + z*(-1.98412698298579493134e-04
        + z*(2.75573137070700676789e-06 + z*(-2.50507602534068634195e-08 + z*1.58969099521155010221e-10)))));
    const gough_double4 c = w + (((1.0 - w) - half) + z*z*(4.16666666666666019037e-02 + z*(-1.38888888888741095749e-03
        + z*(2.48015872894767294178e-05 + z*(-2.75573143513906633035e-07 + z*(2.08757232129817482790e-09 - z*1.13596475577881948265e-11))))));
    const gough_long4 q = (gough_long4)shifted + quarters, odd = -(q & 1), minus = (q & 2) << 62;
    return (gough_double4)((((gough_long4)s & ~odd) | ((gough_long4)c & odd)) ^ minus);
}

/* Whether all are small enough for that. */
static inline int gough_small(gough_double4 x) {
#ifdef __FAST_MATH__
    /* Rounding by a large number is simplified away: one after the other. */
    return (void)x, 0;
#endif
    const gough_long4 small = x*x <= 1e10;
    return (small[0] & small[1] & small[2] & small[3]) != 0;
}

static inline gough_double4 gough_sin(gough_double4 x) {
    if (gough_small(x)) return gough_turned(x, 0);
    return (gough_double4){sin(x[0]), sin(x[1]), sin(x[2]), sin(x[3])};
}

static inline gough_double4 gough_cos(gough_double4 x) {
    if (gough_small(x)) return gough_turned(x, 1);
    return (gough_double4){cos(x[0]), cos(x[1]), cos(x[2]), cos(x[3])};
}

";

/// Functions that the body calls.
pub(super) fn helpers(body: &str, numbers: CNumbers) -> String {
    let single = !numbers.suffix.is_empty();
    let (own, of, scalar) = (format!("gough_{}4", numbers.name), numbers.suffix, numbers.name);
    let called = |f: &str| body.contains(&format!("gough_{f}("));
    let mut out = String::new();
    if called("sqrt") {
        out += SQRT[usize::from(single)];
    }
    if !single && (called("sin") || called("cos")) {
        out += TURNS;
    }
    let one_by_one: &[&str] = if single { &["sin", "cos", "exp"] } else { &["exp"] };
    for f in one_by_one.iter().filter(|f| called(f)) {
        let _ = write!(
            out,
            "static inline {own} gough_{f}({own} x) {{\n    return ({own}){{{f}{of}(x[0]), {f}{of}(x[1]), {f}{of}(x[2]), {f}{of}(x[3])}};\n}}\n\n"
        );
    }
    if called("atan2") {
        let each = [0, 1, 2, 3].map(|i| format!("atan2{of}(y[{i}], x[{i}])")).join(", ");
        let _ =
            write!(out, "static inline {own} gough_atan2({own} y, {own} x) {{\n    return ({own}){{{each}}};\n}}\n\n");
    }
    if called("sign") {
        let _ = write!(
            out,
            "static inline {own} gough_sign({own} x) {{\n    {own} s;\n    for (int i = 0; i < 4; i++) s[i] = \
             ({scalar})((x[i] > 0) - (x[i] < 0));\n    return s;\n}}\n\n"
        );
    }
    if called("select") {
        let _ = write!(
            out,
            "static inline {own} gough_select({own} x, {own} a, {own} b) {{\n    {own} s;\n    for (int i = 0; i < 4; i++) s[i] = \
             x[i] >= 0 ? a[i] : b[i];\n    return s;\n}}\n\n"
        );
    }
    out
}
