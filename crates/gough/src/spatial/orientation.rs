//! Parameterisations of a rotation (section 2.4) and their rates (7.69), (7.168).
//!
//! From parameters to a matrix: any scalar. From a matrix to parameters: `f64`, because branches are chosen.

use crate::scalar::Real;
use crate::spatial::{Mat3, Rotation, Turn, Vec3, hat, vec3};
use std::f64::consts::PI;

/// A coordinate axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    fn index(self) -> usize {
        self as usize
    }

    fn rotation<S: Real>(self, t: Turn<S>) -> Rotation<S> {
        match self {
            Axis::X => Rotation::about_x(t),
            Axis::Y => Rotation::about_y(t),
            Axis::Z => Rotation::about_z(t),
        }
    }

    fn unit<S: Real>(self) -> Vec3<S> {
        let mut u = Vec3::zeros();
        u[self.index()] = S::one();
        u
    }
}

/// Three successive rotations about current axes; any of the twelve sequences without equal neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sequence([Axis; 3]);

impl Sequence {
    /// Precession, nutation, spin.
    pub const ZYZ: Self = Self([Axis::Z, Axis::Y, Axis::Z]);
    /// Yaw, pitch, roll: `Rz(yaw) Ry(pitch) Rx(roll)`.
    pub const ZYX: Self = Self([Axis::Z, Axis::Y, Axis::X]);

    /// The sequence, or `None` when two neighbours are equal.
    pub fn new(first: Axis, second: Axis, third: Axis) -> Option<Self> {
        (first != second && second != third).then_some(Self([first, second, third]))
    }

    /// All twelve.
    pub fn all() -> Vec<Self> {
        use Axis::{X, Y, Z};
        let axes = [X, Y, Z];
        let mut all = Vec::new();
        for a in axes {
            for b in axes {
                all.extend(axes.iter().filter_map(|&c| Self::new(a, b, c)));
            }
        }
        all
    }

    /// `R = rot(p, a) rot(q, b) rot(r, c)`, (2.37), (2.43).
    pub fn rotation<S: Real>(self, angles: [S; 3]) -> Rotation<S> {
        let [a, b, c] = [0, 1, 2].map(|i| self.0[i].rotation(Turn::of(angles[i])));
        a * b * c
    }

    /// Both triples of angles of a rotation, (2.40)-(2.42), (2.46)-(2.48).
    pub fn angles(self, R: &Rotation<f64>) -> Euler {
        let (i, j) = (self.0[0].index(), self.0[1].index());
        let k = 3 - i - j;
        let eps = if (j + 3 - i) % 3 == 1 { 1.0 } else { -1.0 };
        let m = |row: usize, col: usize| R.0[(row, col)];
        let turn_about_first = || m(k, j).atan2(m(j, j)) * eps; // when the outer axes coincide only their sum is known
        if self.0[2] == self.0[0] {
            let sin = m(i, j).hypot(m(i, k));
            let b = sin.atan2(m(i, i));
            if sin < 1e-12 {
                return Euler { angles: [[turn_about_first(), b, 0.0]; 2], singular: true };
            }
            let (a, c) = (m(j, i).atan2(-eps * m(k, i)), m(i, j).atan2(eps * m(i, k)));
            Euler { angles: [[a, b, c], [wrap(a + PI), -b, wrap(c + PI)]], singular: false }
        } else {
            let cos = m(j, k).hypot(m(k, k));
            let b = (eps * m(i, k)).atan2(cos);
            if cos < 1e-12 {
                return Euler { angles: [[turn_about_first(), b, 0.0]; 2], singular: true };
            }
            let (a, c) = ((-eps * m(j, k)).atan2(m(k, k)), (-eps * m(i, j)).atan2(m(i, i)));
            Euler { angles: [[a, b, c], [wrap(a + PI), wrap(PI - b), wrap(c + PI)]], singular: false }
        }
    }

    /// `D` of `ω = D q̇`: column k is axis k turned by the rotations before it.
    pub fn rates<S: Real>(self, angles: [S; 3]) -> Mat3<S> {
        let [d1, d2, d3] = self.axes(angles);
        Mat3::from_columns(&[d1, d2, d3])
    }

    /// `e = Ḋ q̇` of `ω̇ = D q̈ + e`.
    pub fn rates_bias<S: Real>(self, angles: [S; 3], rates: [S; 3]) -> Vec3<S> {
        let [d1, d2, d3] = self.axes(angles);
        let w1 = d1 * rates[0];
        let w2 = w1 + d2 * rates[1];
        w1.cross(&d2) * rates[1] + w2.cross(&d3) * rates[2]
    }

    fn axes<S: Real>(self, angles: [S; 3]) -> [Vec3<S>; 3] {
        let first = self.0[0].rotation(Turn::of(angles[0]));
        let second = first * self.0[1].rotation(Turn::of(angles[1]));
        [self.0[0].unit(), first.apply(self.0[1].unit()), second.apply(self.0[2].unit())]
    }
}

/// The two triples of angles of a rotation; equal when the outer axes coincide (`singular`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Euler {
    /// Both branches; the first has its middle angle in [0, π] (proper) or [-π/2, π/2].
    pub angles: [[f64; 3]; 2],
    /// The middle angle makes the outer axes coincide; the third angle was set to zero.
    pub singular: bool,
}

/// The angle in (-π, π].
pub fn wrap(angle: f64) -> f64 {
    let turns = (angle / (2.0 * PI)).round();
    let wrapped = angle - turns * 2.0 * PI;
    if wrapped <= -PI { wrapped + 2.0 * PI } else { wrapped }
}

/// `Rz(yaw) Ry(pitch) Rx(roll)`.
pub fn from_rpy<S: Real>(roll: S, pitch: S, yaw: S) -> Rotation<S> {
    Sequence::ZYX.rotation([yaw, pitch, roll])
}

/// `Rz(yaw) Ry(pitch) Rx(roll)` of constants of the robot, see [`Real::exact_sin_cos`].
pub fn from_constant_rpy<S: Real>(rpy: [S; 3]) -> Rotation<S> {
    let [roll, pitch, yaw] = rpy.map(Turn::exactly);
    Rotation::about_z(yaw) * Rotation::about_y(pitch) * Rotation::about_x(roll)
}

/// `[roll, pitch, yaw]` with pitch in [-π/2, π/2].
pub fn to_rpy(R: &Rotation<f64>) -> [f64; 3] {
    let [yaw, pitch, roll] = Sequence::ZYX.angles(R).angles[0];
    [roll, pitch, yaw].map(|x| x + 0.0) // no negative zeros
}

/// Tilt and torsion (azimuth `phi`, tilt `theta`, torsion `sigma`), (2.49).
pub fn from_tilt_torsion<S: Real>(phi: S, theta: S, sigma: S) -> Rotation<S> {
    Sequence::ZYZ.rotation([phi, theta, sigma - phi])
}

/// `[azimuth, tilt, torsion]` with tilt in [0, π], (2.50).
pub fn to_tilt_torsion(R: &Rotation<f64>) -> [f64; 3] {
    let [phi, theta, psi] = Sequence::ZYZ.angles(R).angles[0];
    [phi, theta, wrap(psi + phi)]
}

/// Rotation by `angle` about the unit vector `u`, (2.20).
pub fn from_axis_angle<S: Real>(u: Vec3<S>, angle: S) -> Rotation<S> {
    let Turn { cos, sin } = Turn::of(angle);
    Rotation(Mat3::identity() * cos + u * u.transpose() * (S::one() - cos) + hat(u) * sin)
}

/// Unit axis and angle in [0, π], also for half turns (erratum K2). No rotation: the z axis.
pub fn to_axis_angle(R: &Rotation<f64>) -> (Vec3<f64>, f64) {
    let [w, x, y, z] = to_quaternion(R);
    let v = vec3(x, y, z);
    let n = v.norm();
    if n == 0.0 { (vec3(0.0, 0.0, 1.0), 0.0) } else { (v / n, 2.0 * n.atan2(w)) }
}

/// From a unit quaternion, scalar first, (2.28).
pub fn from_quaternion<S: Real>(q: [S; 4]) -> Rotation<S> {
    let [w, x, y, z] = q;
    let (one, two) = (S::one(), S::lit(2.0));
    Rotation(Mat3::new(
        two * (w * w + x * x) - one,
        two * (x * y - w * z),
        two * (x * z + w * y),
        two * (x * y + w * z),
        two * (w * w + y * y) - one,
        two * (y * z - w * x),
        two * (x * z - w * y),
        two * (y * z + w * x),
        two * (w * w + z * z) - one,
    ))
}

/// Unit quaternion, scalar first and not negative, (2.33)-(2.36) with the largest component first, so that half turns
/// are safe (erratum K2).
pub fn to_quaternion(R: &Rotation<f64>) -> [f64; 4] {
    let m = |i: usize, j: usize| R.0[(i, j)];
    let trace = m(0, 0) + m(1, 1) + m(2, 2);
    let squares = [1.0 + trace, 1.0 + 2.0 * m(0, 0) - trace, 1.0 + 2.0 * m(1, 1) - trace, 1.0 + 2.0 * m(2, 2) - trace];
    let largest = (1..4).fold(0, |best, i| if squares[i] > squares[best] { i } else { best });
    let symmetric = |i: usize, j: usize| m(i, j) + m(j, i);
    let q = match largest {
        0 => [squares[0], m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)],
        1 => [m(2, 1) - m(1, 2), squares[1], symmetric(0, 1), symmetric(0, 2)],
        2 => [m(0, 2) - m(2, 0), symmetric(0, 1), squares[2], symmetric(1, 2)],
        _ => [m(1, 0) - m(0, 1), symmetric(0, 2), symmetric(1, 2), squares[3]],
    };
    let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let sign = if q[0] < 0.0 { -1.0 } else { 1.0 };
    q.map(|x| sign * x / n)
}

/// How far a matrix is from a rotation: the largest entry of `RᵀR - 1`, infinite when it mirrors.
pub fn rotation_defect(m: &Mat3<f64>) -> f64 {
    if m.determinant() <= 0.0 { f64::INFINITY } else { (m.transpose() * m - Mat3::identity()).amax() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &Rotation<f64>, b: &Rotation<f64>) -> f64 {
        (a.0 - b.0).amax()
    }

    #[test]
    fn there_are_twelve_sequences() {
        assert_eq!(Sequence::all().len(), 12);
    }

    #[test]
    fn half_turns_keep_their_axis() {
        for u in [vec3(1.0, 0.0, 0.0), vec3(0.0, -1.0, 0.0), vec3(0.6, 0.0, -0.8), vec3(-2.0, 1.0, 2.0) / 3.0] {
            let R = from_axis_angle(u, PI);
            let (v, angle) = to_axis_angle(&R);
            assert!((angle - PI).abs() < 1e-15 && distance(&from_axis_angle(v, angle), &R) < 1e-15);
        }
    }

    #[test]
    fn wrapping_includes_plus_pi_and_not_minus_pi() {
        assert_eq!(wrap(-PI), PI);
        assert_eq!(wrap(PI), PI);
        assert!((wrap(7.0) - (7.0 - 2.0 * PI)).abs() < 1e-15);
    }

    /// Triples of angles within `reach`: seeded ones, and all corners, where sequences degenerate.
    fn triples(reach: f64) -> impl Iterator<Item = [f64; 3]> {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        let mut any = move || std::array::from_fn(|_| random.random_range(-reach..reach));
        let corner = move |k: usize| [0, 1, 2].map(|i| [-reach, 0.0, PI / 2.0, reach][k >> (2 * i) & 3]);
        (0..64).map(corner).chain((0..256).map(move |_| any()))
    }

    #[test]
    fn every_parameterisation_round_trips() {
        for [a, b, c] in triples(3.1) {
            for s in Sequence::all() {
                let R = s.rotation([a, b, c]);
                let found = s.angles(&R);
                for angles in found.angles {
                    assert!(distance(&s.rotation(angles), &R) < 1e-9, "{s:?} {a} {b} {c}");
                }
            }
            let R = from_rpy(a, b, c);
            let [x, y, z] = to_rpy(&R);
            assert!(distance(&from_rpy(x, y, z), &R) < 1e-9, "{a} {b} {c}");
            assert!(distance(&from_quaternion(to_quaternion(&R)), &R) < 1e-14, "{a} {b} {c}");
            let (u, angle) = to_axis_angle(&R);
            assert!(distance(&from_axis_angle(u, angle), &R) < 1e-14, "{a} {b} {c}");
            let [phi, tilt, torsion] = to_tilt_torsion(&R);
            assert!(distance(&from_tilt_torsion(phi, tilt, torsion), &R) < 1e-9, "{a} {b} {c}");
            assert!(rotation_defect(&R.0) < 1e-14, "{a} {b} {c}");
        }
    }

    #[test]
    fn rates_are_the_derivative_of_the_rotation() {
        use crate::scalar::Dual2;
        let rates = [0.7, -0.4, 1.1];
        let second = [0.2, 0.5, -0.3];
        for [a, b, c] in triples(3.0) {
            for s in Sequence::all() {
                let q = [0, 1, 2].map(|i| Dual2::new([a, b, c][i], rates[i], second[i]));
                let R = s.rotation(q).0;
                let (R0, R1, R2) = (R.map(|x| x.re), R.map(|x| x.v1), R.map(|x| x.v2));
                let w = s.rates([a, b, c]) * Vec3::from(rates);
                let alpha = s.rates([a, b, c]) * Vec3::from(second) + s.rates_bias([a, b, c], rates);
                assert!((R1 - hat(w) * R0).amax() < 1e-12, "{s:?} {a} {b} {c}");
                assert!((R2 - (hat(alpha) + hat(w) * hat(w)) * R0).amax() < 1e-12, "{s:?} {a} {b} {c}");
            }
        }
    }

    #[test]
    fn a_singular_middle_angle_is_flagged_and_still_right() {
        for s in Sequence::all() {
            let b = if s.0[0] == s.0[2] { 0.0 } else { PI / 2.0 };
            let R = s.rotation([0.7, b, -0.4]);
            let found = s.angles(&R);
            assert!(found.singular, "{s:?}");
            assert!(distance(&s.rotation(found.angles[0]), &R) < 1e-12, "{s:?}");
        }
    }
}
