//! A uniform beam between two nodes: stiffness and mass in closed form, in any scalar.
//!
//! The beam lies along x of its own axes, `ξ = x/l`; a node moves by `[u_x u_y u_z φ_x φ_y φ_z]`, with `φ_z = ∂u_y/∂x` and
//! `φ_y = -∂u_z/∂x` where there is no shear. Two descriptions of the same element: [`BeamElement`] on the motions of both
//! nodes, and [`ClampedBeam`] on the motion of the first and the displacement of the second seen from it (appendix F).

use crate::model::BeamNumbers;
use crate::scalar::Real;
use crate::spatial::{Inertia, Mat3, vec3};

/// A 6 × 6 block, row by row.
pub type Mat6<S> = [[S; 6]; 6];

/// Kinds of deformation: each has its own rows and columns of the element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Strain {
    Axial,
    Torsion,
    Bending,
}

impl Strain {
    /// Of a component of a node's motion, in beam axes.
    pub fn of(component: usize) -> Self {
        match component {
            0 => Self::Axial,
            3 => Self::Torsion,
            _ => Self::Bending,
        }
    }
}

/// What an element is made of.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct BeamData<S> {
    pub l: S,
    pub EA: S,
    pub EIy: S,
    pub EIz: S,
    pub GJ: S,
    /// `κ G A`, or nothing where the section does not shear.
    pub shear: Option<S>,
    pub rhoA: S,
    /// Rotary inertia of the section in bending, zero when it is left out.
    pub rhoIy: S,
    pub rhoIz: S,
    pub rhoIp: S,
}

impl<S: Real> BeamData<S> {
    /// A piece of a beam.
    pub fn new(beam: &BeamNumbers<S>, l: S, shear: bool, rotary_inertia: bool) -> Self {
        let [E, G, rho] = beam.moduli;
        let s = &beam.section;
        let rotary = |I: S| if rotary_inertia { rho * I } else { S::zero() };
        Self {
            l,
            EA: E * s.A,
            EIy: E * s.Iy,
            EIz: E * s.Iz,
            GJ: G * s.J,
            shear: shear.then(|| beam.shear * G * s.A),
            rhoA: rho * s.A,
            rhoIy: rotary(s.Iy),
            rhoIz: rotary(s.Iz),
            rhoIp: rho * s.Ip,
        }
    }

    /// `Φ = 12 EI/(κGA l²)`: how much softer shear makes bending.
    fn softening(&self, EI: S) -> S {
        self.shear.map_or_else(S::zero, |kGA| S::lit(12.0) * EI / (kGA * self.l * self.l))
    }
}

/// Stiffness and consistent mass on the motions of both nodes: blocks `[first or second][first or second]`.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct BeamElement<S> {
    pub K: [[Mat6<S>; 2]; 2],
    pub M: [[Mat6<S>; 2]; 2],
}

/// Places of deflection and slope of the two bending planes, and the sign of the slope.
const PLANES: [([usize; 2], f64); 2] = [([1, 5], 1.0), ([2, 4], -1.0)];

impl<S: Real> BeamElement<S> {
    /// The element: axial and torsion linear, bending cubic.
    pub fn new(b: &BeamData<S>) -> Self {
        let zero = [[[[S::zero(); 6]; 6]; 2]; 2];
        let mut e = Self { K: zero, M: zero };
        e.rod(0, b.EA / b.l, b.rhoA * b.l);
        e.rod(3, b.GJ / b.l, b.rhoIp * b.l);
        for ((places, sign), (EI, rhoI)) in PLANES.into_iter().zip([(b.EIz, b.rhoIz), (b.EIy, b.rhoIy)]) {
            let Phi = b.softening(EI);
            bend(&mut e.K, places, sign, &bending_stiffness(EI, b.l, Phi));
            bend(&mut e.M, places, sign, &bending_mass(b.rhoA, rhoI, b.l, Phi));
        }
        e
    }

    /// Linear shapes: `k [1 -1; -1 1]` and `m/6 [2 1; 1 2]`.
    fn rod(&mut self, place: usize, k: S, m: S) {
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            self.K[i][j][place][place] = if i == j { k } else { -k };
            self.M[i][j][place][place] = m * S::lit(if i == j { 1.0 / 3.0 } else { 1.0 / 6.0 });
        }
    }
}

/// Put a bending matrix on (deflection, slope) of both nodes into its places.
fn bend<S: Real>(out: &mut [[Mat6<S>; 2]; 2], places: [usize; 2], sign: f64, b: &[[S; 4]; 4]) {
    let factor = |r: usize, c: usize| S::lit(if r % 2 == c % 2 { 1.0 } else { sign });
    for (r, row) in b.iter().enumerate() {
        for (c, x) in row.iter().enumerate() {
            out[r / 2][c / 2][places[r % 2]][places[c % 2]] = *x * factor(r, c);
        }
    }
}

/// `EI/((1+Φ) l³) [12 6l -12 6l; . (4+Φ)l² -6l (2-Φ)l²; . . 12 -6l; . . . (4+Φ)l²]`.
fn bending_stiffness<S: Real>(EI: S, l: S, Phi: S) -> [[S; 4]; 4] {
    let k = EI / ((S::one() + Phi) * l * l * l);
    let (a, b) = (S::lit(12.0) * k, S::lit(6.0) * k * l);
    let (c, d) = ((S::lit(4.0) + Phi) * k * l * l, (S::lit(2.0) - Phi) * k * l * l);
    [[a, b, -a, b], [b, c, -b, d], [-a, -b, a, -b], [b, d, -b, c]]
}

/// Consistent mass of the cubic shapes with shear: translation of the axis, and rotation of the section.
fn bending_mass<S: Real>(rhoA: S, rhoI: S, l: S, Phi: S) -> [[S; 4]; 4] {
    let shared = S::one() / (S::one() + Phi).squared();
    let poly = |k: [f64; 3]| S::lit(k[0]) + Phi * (S::lit(k[1]) + Phi * S::lit(k[2]));
    let (t, r) = (rhoA * l * shared, rhoI / l * shared);
    let sum = |trans: [f64; 3], rot: [f64; 3]| t * poly(trans) + r * poly(rot);
    let vv = sum([13.0 / 35.0, 0.7, 1.0 / 3.0], [1.2, 0.0, 0.0]);
    let vw = sum([9.0 / 70.0, 0.3, 1.0 / 6.0], [-1.2, 0.0, 0.0]);
    let vs = sum([11.0 / 210.0, 11.0 / 120.0, 1.0 / 24.0], [0.1, -0.5, 0.0]) * l;
    let vt = sum([-13.0 / 420.0, -3.0 / 40.0, -1.0 / 24.0], [0.1, -0.5, 0.0]) * l;
    let ss = sum([1.0 / 105.0, 1.0 / 60.0, 1.0 / 120.0], [2.0 / 15.0, 1.0 / 6.0, 1.0 / 3.0]) * l * l;
    let st = sum([-1.0 / 140.0, -1.0 / 60.0, -1.0 / 120.0], [-1.0 / 30.0, -1.0 / 6.0, 1.0 / 6.0]) * l * l;
    [[vv, vs, vw, vt], [vs, ss, -vt, st], [vw, -vt, vv, -vs], [vt, st, -vs, ss]]
}

/// The beam clamped in the frame of its first node: `q_e` is the displacement of the second, `Φ(A) = 1₆`, (F.1)-(F.14).
#[derive(Clone, PartialEq, Debug)]
pub struct ClampedBeam<S: Real> {
    /// As a rigid body.
    pub rigid: Inertia<S>,
    /// `[MS_de; MS_re]`: inertia between the motion of the frame and `q̇_e`.
    pub M_re: Mat6<S>,
    /// Inertia of `q̇_e`.
    pub M_ee: Mat6<S>,
    /// Stiffness of `q_e`.
    pub K_ee: Mat6<S>,
}

impl<S: Real> ClampedBeam<S> {
    /// Closed form, without shear. `MS_de(2,6)` is `-ml/12`: printed with a plus it makes the mass indefinite.
    pub fn new(b: &BeamData<S>) -> Self {
        let (l, lit) = (b.l, S::lit);
        let m = b.rhoA * l;
        let third = m * l * l * lit(1.0 / 3.0);
        let rigid = Inertia {
            m,
            ms: vec3(m * l * lit(0.5), S::zero(), S::zero()),
            I_o: Mat3::from_diagonal(&vec3(b.rhoIp * l, third + b.rhoIy * l, third + b.rhoIz * l)),
        };
        let mut M_re = [[S::zero(); 6]; 6];
        (0..3).for_each(|i| M_re[i][i] = m * lit(0.5)); // (F.12)
        M_re[1][5] = -m * l * lit(1.0 / 12.0);
        M_re[2][4] = m * l * lit(1.0 / 12.0);
        M_re[3][3] = b.rhoIp * l * lit(0.5); // (F.13)
        M_re[4][2] = -b.rhoIy - m * l * lit(0.35);
        M_re[4][4] = -m * l * l * lit(0.05);
        M_re[5][1] = b.rhoIz + m * l * lit(0.35);
        M_re[5][5] = -m * l * l * lit(0.05);
        Self { rigid, M_re, M_ee: Self::elastic_mass(b, m), K_ee: Self::stiffness(b) }
    }

    /// (F.14).
    fn elastic_mass(b: &BeamData<S>, m: S) -> Mat6<S> {
        let (l, lit) = (b.l, S::lit);
        let mut M = [[S::zero(); 6]; 6];
        M[0][0] = m * lit(1.0 / 3.0);
        M[3][3] = b.rhoIp * l * lit(1.0 / 3.0);
        for ((places, sign), rhoI) in PLANES.into_iter().zip([b.rhoIz, b.rhoIy]) {
            let [v, s] = places;
            M[v][v] = m * lit(13.0 / 35.0) + rhoI * lit(1.2) / l;
            M[v][s] = -lit(sign) * (m * l * lit(11.0) + rhoI * lit(21.0)) * lit(1.0 / 210.0);
            M[s][v] = M[v][s];
            M[s][s] = (m * l * l + rhoI * l * lit(14.0)) * lit(1.0 / 105.0);
        }
        M
    }

    /// (F.9).
    fn stiffness(b: &BeamData<S>) -> Mat6<S> {
        let (l, lit) = (b.l, S::lit);
        let mut K = [[S::zero(); 6]; 6];
        K[0][0] = b.EA / l;
        K[3][3] = b.GJ / l;
        for ((places, sign), EI) in PLANES.into_iter().zip([b.EIz, b.EIy]) {
            let [v, s] = places;
            K[v][v] = lit(12.0) * EI / (l * l * l);
            K[v][s] = -lit(sign) * lit(6.0) * EI / (l * l);
            K[s][v] = K[v][s];
            K[s][s] = lit(4.0) * EI / l;
        }
        K
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dense::{Matrix, symmetric_eigenvalues};

    fn sample() -> BeamData<f64> {
        BeamData {
            l: 0.7,
            EA: 3.0e6,
            EIy: 500.0,
            EIz: 900.0,
            GJ: 250.0,
            shear: None,
            rhoA: 1.3,
            rhoIy: 2.0e-3,
            rhoIz: 3.5e-3,
            rhoIp: 5.0e-3,
        }
    }

    fn whole(blocks: &[[Mat6<f64>; 2]; 2]) -> Matrix {
        Matrix::from_fn(12, 12, |i, j| blocks[i / 6][j / 6][i % 6][j % 6])
    }

    /// Displacement (u_x, u_y, u_z) of the axis and rotation of the section at ξ, per unit of each of the 12 coordinates.
    /// With shear the slope of the axis is the rotation plus the shear angle, which is constant along the element.
    fn shapes(b: &BeamData<f64>, xi: f64) -> [[f64; 12]; 6] {
        let mut N = [[0.0; 12]; 6];
        for row in [0, 3] {
            N[row][row] = 1.0 - xi;
            N[row][row + 6] = xi;
        }
        for ((places, sign), EI) in PLANES.into_iter().zip([b.EIz, b.EIy]) {
            let Phi = b.shear.map_or(0.0, |kGA| 12.0 * EI / (kGA * b.l * b.l));
            for end in 0..2 {
                for what in 0..2 {
                    // Cubic v, rotation = v' - γ with γ l = Φ/12 l³ v''' l / l: fitted to unit data at the nodes.
                    let data = |node: usize, part: usize| f64::from(u8::from(node == end && part == what));
                    let (v1, t1, v2, t2) = (data(0, 0), data(0, 1), data(1, 0), data(1, 1));
                    let d = v2 - v1;
                    let gamma = Phi / (1.0 + Phi) * (d / b.l - 0.5 * (t1 + t2));
                    let (s1, s2) = (t1 + gamma, t2 + gamma);
                    let l = b.l;
                    let (x2, x3) = (xi * xi, xi * xi * xi);
                    let v = v1 * (1.0 - 3.0 * x2 + 2.0 * x3)
                        + s1 * l * (xi - 2.0 * x2 + x3)
                        + v2 * (3.0 * x2 - 2.0 * x3)
                        + s2 * l * (x3 - x2);
                    let slope = v1 * (-6.0 * xi + 6.0 * x2) / l
                        + s1 * (1.0 - 4.0 * xi + 3.0 * x2)
                        + v2 * (6.0 * xi - 6.0 * x2) / l
                        + s2 * (3.0 * x2 - 2.0 * xi);
                    let column = 6 * end + places[what];
                    let unit = if what == 1 { sign } else { 1.0 };
                    N[places[0]][column] = v * unit;
                    N[places[1]][column] = (slope - gamma) * unit * sign;
                }
            }
        }
        N
    }

    /// Five-point Gauss rule on [0, 1]: exact to degree 9.
    fn gauss() -> [(f64, f64); 5] {
        let (a, b) =
            ((5.0 - 2.0 * (10.0_f64 / 7.0).sqrt()).sqrt() / 3.0, (5.0 + 2.0 * (10.0_f64 / 7.0).sqrt()).sqrt() / 3.0);
        let (u, v) = ((322.0 + 13.0 * 70.0_f64.sqrt()) / 900.0, (322.0 - 13.0 * 70.0_f64.sqrt()) / 900.0);
        let at = |x: f64, w: f64| (0.5 + 0.5 * x, 0.5 * w);
        [at(-b, v), at(-a, u), at(0.0, 128.0 / 225.0), at(a, u), at(b, v)]
    }

    #[test]
    fn mass_is_the_integral_of_the_shapes_with_and_without_shear() {
        for shear in [None, Some(8.0e3)] {
            let b = BeamData { shear, ..sample() };
            let e = BeamElement::new(&b);
            let weights = [b.rhoA, b.rhoA, b.rhoA, b.rhoIp, b.rhoIy, b.rhoIz];
            let M = whole(&e.M);
            for i in 0..12 {
                for j in 0..12 {
                    let integral: f64 = gauss()
                        .iter()
                        .map(|(xi, w)| {
                            let N = shapes(&b, *xi);
                            (0..6).map(|r| weights[r] * N[r][i] * N[r][j]).sum::<f64>() * w * b.l
                        })
                        .sum();
                    assert!((M[(i, j)] - integral).abs() < 1e-14, "{i} {j}: {} {integral}", M[(i, j)]);
                }
            }
        }
    }

    #[test]
    fn stiffness_is_the_strain_energy_of_the_shapes() {
        for shear in [None, Some(8.0e3)] {
            let b = BeamData { shear, ..sample() };
            let K = whole(&BeamElement::new(&b).K);
            let h = 1e-4;
            let rate =
                |xi: f64, r: usize, i: usize| (shapes(&b, xi + h)[r][i] - shapes(&b, xi - h)[r][i]) / (2.0 * h * b.l);
            let moduli = [(0, b.EA), (3, b.GJ), (4, b.EIy), (5, b.EIz)];
            // Shear angles: slope of the axis less (plus, in the xz plane) the rotation of the section.
            let gamma = |xi: f64, i: usize| {
                let N = shapes(&b, xi);
                [rate(xi, 1, i) - N[5][i], rate(xi, 2, i) + N[4][i]]
            };
            for i in 0..12 {
                for j in 0..12 {
                    let energy: f64 = gauss()
                        .iter()
                        .map(|(xi, w)| {
                            let bent: f64 = moduli.iter().map(|(r, k)| k * rate(*xi, *r, i) * rate(*xi, *r, j)).sum();
                            let (g, f) = (gamma(*xi, i), gamma(*xi, j));
                            (bent + shear.map_or(0.0, |kGA| kGA * (g[0] * f[0] + g[1] * f[1]))) * w * b.l
                        })
                        .sum();
                    let size = (K[(i, i)] * K[(j, j)]).sqrt();
                    assert!((K[(i, j)] - energy).abs() < 1e-6 * size, "{i} {j}: {} {energy}", K[(i, j)]);
                }
            }
        }
    }

    #[test]
    fn a_free_element_has_six_motions_without_strain_and_a_definite_mass() {
        for shear in [None, Some(8.0e3)] {
            let e = BeamElement::new(&BeamData { shear, ..sample() });
            let k = symmetric_eigenvalues(&whole(&e.K)).unwrap();
            let largest = k[11];
            assert!(k[..6].iter().all(|x| x.abs() < 1e-12 * largest) && k[6] > 1e-6 * largest, "{k:?}");
            let m = symmetric_eigenvalues(&whole(&e.M)).unwrap();
            assert!(m[0] > 0.0, "{m:?}");
            for i in 0..12 {
                for j in 0..12 {
                    assert_eq!(whole(&e.K)[(i, j)], whole(&e.K)[(j, i)]);
                    assert_eq!(whole(&e.M)[(i, j)], whole(&e.M)[(j, i)]);
                }
            }
        }
    }

    /// Motions of both nodes by the motion of the frame and `q_e`: `t_2 = T̄ t_1 + q_e`.
    fn split(l: f64) -> Matrix {
        Matrix::from_fn(12, 12, |i, j| match (i, j) {
            _ if i == j => 1.0,
            (7, 5) => l,  // v_y += ω_z l
            (8, 4) => -l, // v_z -= ω_y l
            _ if i == j + 6 => 1.0,
            _ => 0.0,
        })
    }

    #[test]
    fn the_clamped_form_is_the_nodal_one_in_other_coordinates() {
        let b = sample();
        let (e, c, B) = (BeamElement::new(&b), ClampedBeam::new(&b), split(b.l));
        let M = B.transpose() * whole(&e.M) * &B;
        let K = B.transpose() * whole(&e.K) * &B;
        let I = crate::spatial::hat(c.rigid.ms);
        let rigid = |i: usize, j: usize| match (i / 3, j / 3) {
            (0, 0) => f64::from(u8::from(i == j)) * c.rigid.m,
            (0, 1) => -I[(i, j - 3)],
            (1, 0) => I[(i - 3, j)],
            _ => c.rigid.I_o[(i - 3, j - 3)],
        };
        for i in 0..12 {
            for j in 0..12 {
                let (m, k) = match (i / 6, j / 6) {
                    (0, 0) => (rigid(i, j), 0.0),
                    (0, 1) => (c.M_re[i][j - 6], 0.0),
                    (1, 0) => (c.M_re[j][i - 6], 0.0),
                    _ => (c.M_ee[i - 6][j - 6], c.K_ee[i - 6][j - 6]),
                };
                assert!((M[(i, j)] - m).abs() < 1e-14, "M {i} {j}: {} {m}", M[(i, j)]);
                assert!((K[(i, j)] - k).abs() < 1e-9, "K {i} {j}: {} {k}", K[(i, j)]);
            }
        }
    }

    #[test]
    fn constants_of_the_dual_emps_beams_are_those_of_the_book() {
        // Tables 10.3 to 10.6, beams 13 and 16 (4 x 50 mm, 74 GPa, 2800 kg/m³), to the printed digits.
        let (A, I): (f64, f64) = (2e-4, 50e-3 * 4e-3_f64.powi(3) / 12.0);
        let beam = |l: f64| {
            let plain = BeamData { l, EA: 74e9 * A, EIz: 74e9 * I, rhoA: 2800.0 * A, rhoIz: 2800.0 * I, ..sample() };
            ClampedBeam::new(&BeamData { rhoIy: 0.0, ..plain })
        };
        let (long, short) = (beam(0.4505), beam(0.14));
        let table = [
            (long.M_re[0][0], 0.1261, 5e-5),
            (long.M_re[1][5], -0.0095, 5e-5),
            (short.M_re[1][5], -9.1467e-4, 5e-9),
            (long.M_re[5][1], 0.0398 + 7.4667e-7, 5e-5),
            (long.M_re[5][5], -0.0026, 5e-5),
            (short.M_re[5][5], -7.6832e-5, 5e-10),
            (long.M_ee[0][0], 0.0841, 5e-5),
            (short.M_ee[0][0], 0.0261, 5e-5),
            (long.M_ee[1][1], 0.0937 + 1.9889e-6, 5e-5),
            (long.M_ee[1][5], -0.0060 - 7.4667e-8, 5e-5),
            (short.M_ee[1][5], -5.7493e-4 - 7.4667e-8, 5e-9),
            (short.M_ee[5][5], 1.4635e-5 + 1.3938e-8, 5e-10),
            (long.K_ee[0][0], 3.2852e7, 5e2),
            (short.K_ee[0][0], 1.0571e8, 5e3),
            (long.K_ee[1][1], 2.5900e3, 5e-2),
            (short.K_ee[1][1], 8.6297e4, 5e-1),
            (long.K_ee[1][5], -583.3942, 5e-5),
            (long.K_ee[5][5], 175.2127, 5e-5),
            (short.K_ee[5][5], 563.8095, 5e-5),
        ];
        for (found, printed, half_digit) in table {
            assert!((found - printed).abs() < half_digit, "{found} {printed}");
        }
    }
}
