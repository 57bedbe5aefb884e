//! Stiffness and mass of NaVARo, a planar robot of three legs with parallelograms, in absolute nodal coordinates: a realistic
//! pencil for the eigen-solver. Every segment is a Bernoulli beam, or several; both proximal links are clamped.
//!
//! Leg i: A-D, A-B, B-C, C-D-E, E-P. At B, C, D and E the beams share all but the rotation about z. Leg coordinates are
//! numbered along the leg, the border is P.

use gough::linalg::arrow::Arrow;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_6};

const E: f64 = 74e9;
const G: f64 = 27_819_548_872.180_45;
const RHO: f64 = 2800.0;
const BASE: f64 = 0.404_145_188_432_738_06;
const PLATFORM: f64 = 0.2027;
const SEGMENT: f64 = 0.21;

/// A, Iy, Iz, J, Ip.
type Section = [f64; 5];
const LINK: Section = [2.4e-4, 1.152e-8, 2e-9, 5.902e-9, 1.352e-8];
const PLATE: Section = [4e-4, 3.333e-9, 5.333e-8, 1.123e-8, 5.6663e-8];

type Matrix = [[f64; 12]; 12];
type Point = [f64; 2];

/// A coordinate: of the leg, of the border, or held.
#[derive(Clone, Copy)]
enum At {
    Leg(usize),
    Border(usize),
    Ground,
}

/// ux, uy, uz, rotations about x, y, z.
type Node = [At; 6];

fn add(a: &mut Matrix, places: &[usize], block: &[&[f64]]) {
    for (i, row) in places.iter().zip(block) {
        for (j, x) in places.iter().zip(*row) {
            a[*i][*j] += x;
        }
    }
}

/// Bending: 4 × 4 in (v, φ, v, φ); `sign` is -1 where φ is the negative slope.
fn bending(l: f64, sign: f64, c: [f64; 4]) -> [[f64; 4]; 4] {
    let (a, b, d, f) = (c[0], sign * c[1] * l, c[2] * l * l, c[3] * l * l);
    [[a, b, -a, b], [b, d, -b, f], [-a, -b, a, -b], [b, f, -b, d]]
}

/// Consistent mass of translation: the couplings of the ends differ from the pattern of [`bending`].
fn bending_mass(l: f64, sign: f64) -> [[f64; 4]; 4] {
    let (a, b, c, d, e, f) = (156.0, sign * 22.0 * l, 54.0, sign * -13.0 * l, 4.0 * l * l, -3.0 * l * l);
    [[a, b, c, d], [b, e, -d, f], [c, -d, a, -b], [d, f, -b, e]]
}

fn beam(l: f64, [area, iy, iz, j, ip]: Section) -> (Matrix, Matrix) {
    let (mut k, mut m) = ([[0.0; 12]; 12], [[0.0; 12]; 12]);
    for (places, stiffness, mass) in
        [([0, 6], E * area / l, RHO * area * l / 6.0), ([3, 9], G * j / l, RHO * ip * l / 6.0)]
    {
        add(&mut k, &places, &[&[stiffness, -stiffness], &[-stiffness, stiffness]]);
        add(&mut m, &places, &[&[2.0 * mass, mass], &[mass, 2.0 * mass]]);
    }
    for (places, inertia, sign) in [([1, 5, 7, 11], iz, 1.0), ([2, 4, 8, 10], iy, -1.0)] {
        let put = |a: &mut Matrix, scale: f64, b: [[f64; 4]; 4]| {
            let b = b.map(|row| row.map(|x| scale * x));
            add(a, &places, &[&b[0], &b[1], &b[2], &b[3]]);
        };
        put(&mut k, E * inertia / l.powi(3), bending(l, sign, [12.0, 6.0, 4.0, 2.0]));
        put(&mut m, RHO * area * l / 420.0, bending_mass(l, sign));
        put(&mut m, RHO * inertia / (30.0 * l), bending(l, sign, [36.0, 3.0, 4.0, -1.0]));
    }
    (k, m)
}

/// `Tᵀ A T` with every triple turned about z.
fn turned(a: &Matrix, (cos, sin): (f64, f64)) -> Matrix {
    let turn = |a: &Matrix| {
        let mut out = *a;
        for block in [0, 3, 6, 9] {
            for (row, of) in out.iter_mut().zip(a) {
                row[block] = cos * of[block] - sin * of[block + 1];
                row[block + 1] = sin * of[block] + cos * of[block + 1];
            }
        }
        out
    };
    let transposed = |a: &Matrix| std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]));
    let half = transposed(&turn(a));
    turn(&half)
}

/// One leg while it is put together.
struct Leg<'a> {
    k: &'a mut Arrow<f64>,
    m: &'a mut Arrow<f64>,
    number: usize,
    used: usize,
    elements: usize,
}

impl Leg<'_> {
    fn fresh(&mut self) -> At {
        self.used += 1;
        At::Leg(self.used - 1)
    }

    fn node(&mut self) -> Node {
        std::array::from_fn(|_| self.fresh())
    }

    /// The same point, with a rotation about z of its own.
    fn hinged(&mut self, node: Node) -> Node {
        let mut out = node;
        out[5] = self.fresh();
        out
    }

    /// Beams from p to q.
    fn link(&mut self, section: Section, (p, a): (Point, Node), (q, b): (Point, Node)) {
        let d = [q[0] - p[0], q[1] - p[1]];
        let length = d[0].hypot(d[1]);
        let (k, m) = beam(length / self.elements as f64, section);
        let (k, m) = [k, m].map(|x| turned(&x, (d[0] / length, d[1] / length))).into();
        let mut last = a;
        for i in 1..=self.elements {
            let next = if i == self.elements { b } else { self.node() };
            let ends: Vec<At> = last.into_iter().chain(next).collect();
            put(&mut *self.k, self.number, &ends, &k);
            put(&mut *self.m, self.number, &ends, &m);
            last = next;
        }
    }
}

fn put(a: &mut Arrow<f64>, leg: usize, ends: &[At], of: &Matrix) {
    for (i, at) in ends.iter().enumerate() {
        for (j, to) in ends.iter().enumerate() {
            match (*at, *to) {
                (At::Leg(r), At::Leg(c)) => *a.legs[leg].own.at_mut(r, c) += of[i][j],
                (At::Leg(r), At::Border(c)) => *a.legs[leg].border.at_mut(r, c) += of[i][j],
                (At::Border(r), At::Border(c)) => *a.tip.at_mut(r, c) += of[i][j],
                _ => {}
            }
        }
    }
}

/// K and M at a pose (x, y, θ) that every leg reaches, with so many beams per segment.
///
/// # Panics
/// Where a leg does not reach.
pub fn navaro([x, y, theta]: [f64; 3], elements: usize) -> (Arrow<f64>, Arrow<f64>) {
    let n = 28 + 36 * (elements - 1);
    let (mut k, mut m) = (Arrow::zeros(&[n; 3], 6), Arrow::zeros(&[n; 3], 6));
    for (leg, gamma) in [FRAC_PI_2, -5.0 * FRAC_PI_6, -FRAC_PI_6].into_iter().enumerate() {
        let polar = |p: Point, r: f64, angle: f64| [p[0] + r * angle.cos(), p[1] + r * angle.sin()];
        let a = polar([0.0, 0.0], BASE, gamma);
        let e = polar([x, y], PLATFORM, gamma + FRAC_PI_3 + theta);
        let reach = (e[0] - a[0]).hypot(e[1] - a[1]);
        let q1 = (e[1] - a[1]).atan2(e[0] - a[0]) - (reach / (2.0 * SEGMENT)).acos();
        let d = polar(a, SEGMENT, q1);
        let q2 = (d[1] - e[1]).atan2(d[0] - e[0]);
        let (b, c) = (polar(a, SEGMENT, q2), polar(d, SEGMENT, q2));
        assert!(reach <= 2.0 * SEGMENT, "the pose is out of reach");
        let mut of = Leg { k: &mut k, m: &mut m, number: leg, used: 0, elements };
        let ground = [At::Ground; 6];
        let at_b = of.node();
        of.link(LINK, (a, ground), (b, at_b));
        let (from_b, at_c) = (of.hinged(at_b), of.node());
        of.link(LINK, (b, from_b), (c, at_c));
        let (from_c, at_d) = (of.hinged(at_c), of.node());
        of.link(LINK, (c, from_c), (d, at_d));
        let from_a = of.hinged(at_d);
        of.link(LINK, (a, ground), (d, from_a));
        let at_e = of.node();
        of.link(LINK, (d, at_d), (e, at_e));
        let platform = of.hinged(at_e);
        of.link(PLATE, (e, platform), ([x, y], std::array::from_fn(At::Border)));
    }
    (k, m)
}
