//! Superbracket of six lines (section 7.5.4.3): a polynomial in the points that is zero where the lines are dependent.

use super::grassmann::HomogeneousPoint;
use crate::scalar::Real;
use nalgebra::Matrix4;

/// The terms of (7.201), damaged brackets restored: sign and three brackets, for the lines ab, cd, ef, gh, ij, kl.
const TERMS: [(f64, [&[u8; 4]; 3]); 24] = [
    (-1.0, [b"abcd", b"efgi", b"hjkl"]),
    (1.0, [b"abcd", b"efhi", b"gjkl"]),
    (1.0, [b"abcd", b"efgj", b"hikl"]),
    (-1.0, [b"abcd", b"efhj", b"gikl"]),
    (1.0, [b"abce", b"dfgh", b"ijkl"]),
    (-1.0, [b"abde", b"cfgh", b"ijkl"]),
    (-1.0, [b"abcf", b"degh", b"ijkl"]),
    (1.0, [b"abdf", b"cegh", b"ijkl"]),
    (-1.0, [b"abce", b"dghi", b"fjkl"]),
    (1.0, [b"abde", b"cghi", b"fjkl"]),
    (1.0, [b"abcf", b"dghi", b"ejkl"]),
    (1.0, [b"abce", b"dghj", b"fikl"]),
    (-1.0, [b"abdf", b"cghi", b"ejkl"]),
    (-1.0, [b"abde", b"cghj", b"fikl"]),
    (-1.0, [b"abcf", b"dghj", b"eikl"]),
    (1.0, [b"abdf", b"cghj", b"eikl"]),
    (1.0, [b"abcg", b"defi", b"hjkl"]),
    (-1.0, [b"abdg", b"cefi", b"hjkl"]),
    (-1.0, [b"abch", b"defi", b"gjkl"]),
    (-1.0, [b"abcg", b"defj", b"hikl"]),
    (1.0, [b"abdh", b"cefi", b"gjkl"]),
    (1.0, [b"abdg", b"cefj", b"hikl"]),
    (1.0, [b"abch", b"defj", b"gikl"]),
    (-1.0, [b"abdh", b"cefj", b"gikl"]),
];

/// `[abcd]`: determinant of four homogeneous points, six times the volume of their tetrahedron with sign.
pub fn bracket<S: Real>(points: [HomogeneousPoint<S>; 4]) -> S {
    let M = Matrix4::from_fn(|i, j| if i < 3 { points[j].p[i] } else { points[j].w });
    let minor = |r: [usize; 2], c: [usize; 2]| M[(r[0], c[0])] * M[(r[1], c[1])] - M[(r[0], c[1])] * M[(r[1], c[0])];
    // Laplace, the upper two rows against the lower two.
    let pair = |a: [usize; 2], b: [usize; 2]| minor([0, 1], a) * minor([2, 3], b);
    pair([0, 1], [2, 3]) - pair([0, 2], [1, 3]) + pair([0, 3], [1, 2]) + pair([1, 2], [0, 3]) - pair([1, 3], [0, 2])
        + pair([2, 3], [0, 1])
}

/// Superbracket (7.201) of six lines, each through two points: minus the determinant of their coordinates `[u; m]`. A
/// pure moment is a line through two points at infinity.
///
/// ```
/// use gough::analysis::{grassmann::HomogeneousPoint, superbracket::superbracket};
/// use gough::spatial::vec3;
///
/// // Six lines through one point are dependent.
/// let o = HomogeneousPoint::at(vec3(0.1, 0.2, 0.3));
/// let ends = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 2.0, 3.0]];
/// let lines = ends.map(|[x, y, z]| [o, HomogeneousPoint::at(vec3(x, y, z))]);
/// assert!(superbracket(&lines).abs() < 1e-15);
/// ```
pub fn superbracket<S: Real>(lines: &[[HomogeneousPoint<S>; 2]; 6]) -> S {
    let point = |letter: u8| {
        let k = usize::from(letter - b'a');
        lines[k / 2][k % 2]
    };
    let mut sum = S::zero();
    for (sign, [x, y, z]) in TERMS {
        sum += S::lit(sign) * bracket(x.map(point)) * bracket(y.map(point)) * bracket(z.map(point));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::grassmann::pluecker;
    use crate::scalar::{Dual, trace};
    use crate::spatial::{Vec3, vec3};
    use nalgebra::Matrix6;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn random_point(random: &mut Pcg64Mcg, at_infinity: bool) -> HomogeneousPoint<f64> {
        let p = Vec3::from_fn(|_, _| random.random_range(-1.0..1.0));
        if at_infinity { HomogeneousPoint::toward(p) } else { HomogeneousPoint::at(p) }
    }

    fn determinant(lines: &[[HomogeneousPoint<f64>; 2]; 6]) -> f64 {
        let rows = lines.map(|[a, b]| pluecker(a, b));
        Matrix6::from_fn(|i, j| if j < 3 { rows[i].0[j] } else { rows[i].1[j - 3] }).determinant()
    }

    #[test]
    fn bracket_is_six_times_the_volume() {
        let unit = [vec3(0.0, 0.0, 0.0), Vec3::x(), Vec3::y(), Vec3::z()].map(HomogeneousPoint::at);
        assert_eq!(bracket(unit).abs(), 1.0);
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let p: [HomogeneousPoint<f64>; 4] = std::array::from_fn(|_| random_point(&mut random, false));
        let M = Matrix4::from_fn(|i, j| if i < 3 { p[j].p[i] } else { p[j].w });
        assert!((bracket(p) - M.determinant()).abs() < 1e-15);
    }

    #[test]
    fn superbracket_is_minus_the_determinant_of_the_lines() {
        let mut random = Pcg64Mcg::seed_from_u64(2);
        for k in 0..200 {
            // Finite points first, then with one or more of a line's points at infinity.
            let chance = if k < 50 { 0.0 } else { 0.3 };
            let lines: [[HomogeneousPoint<f64>; 2]; 6] = std::array::from_fn(|_| {
                [0, 1].map(|_| {
                    let far = random.random_bool(chance);
                    random_point(&mut random, far)
                })
            });
            let (s, det) = (superbracket(&lines), determinant(&lines));
            assert!((s + det).abs() < 1e-13, "{k}: {s} {det}");
            assert!(k >= 50 || s != 0.0);
        }
    }

    /// Legs of a Gough-Stewart platform whose joints stand on two similar hexagons, at a yaw.
    fn gough_stewart<S: Real>(yaw: S, height: f64) -> [[HomogeneousPoint<S>; 2]; 6] {
        let (s, c) = yaw.sin_cos();
        std::array::from_fn(|i| {
            let corner = |half: f64| {
                let turn = (i / 2) as f64 * 2.0 * std::f64::consts::FRAC_PI_3;
                let a = turn + if i % 2 == 0 { -half } else { half };
                (S::lit(a.cos()), S::lit(a.sin()))
            };
            let ((bx, by), (px, py)) = (corner(0.2), corner(0.7));
            let platform = vec3((px * c - py * s) * S::lit(0.6), (px * s + py * c) * S::lit(0.6), S::lit(height));
            [HomogeneousPoint::at(vec3(bx, by, S::zero())), HomogeneousPoint::at(platform)]
        })
    }

    #[test]
    fn singular_gough_stewart_platforms() {
        let scale = superbracket(&gough_stewart(0.1, 0.8)).abs();
        assert!(scale > 1e-3);
        // Fichter: a quarter turn about the vertical.
        assert!(superbracket(&gough_stewart(std::f64::consts::FRAC_PI_2, 0.8)).abs() < 1e-14);
        assert!(superbracket(&gough_stewart(-std::f64::consts::FRAC_PI_2, 0.5)).abs() < 1e-14);
        // Platform in the plane of the base.
        assert!(superbracket(&gough_stewart(0.3, 0.0)).abs() < 1e-14);
    }

    #[test]
    fn runs_on_dual_numbers_and_symbols() {
        let (yaw, h) = (0.4, 1e-5);
        let difference =
            (superbracket(&gough_stewart(yaw + h, 0.8)) - superbracket(&gough_stewart(yaw - h, 0.8))) / (2.0 * h);
        let dual = superbracket(&gough_stewart(Dual::new(yaw, 1.0), 0.8));
        assert!((dual.eps - difference).abs() < 1e-9 && dual.eps != 0.0);
        let program = trace(&["yaw"], |v| vec![superbracket(&gough_stewart(v[0], 0.8))]);
        assert!((program.eval(&[yaw])[0] - dual.re).abs() < 1e-14);
    }
}
