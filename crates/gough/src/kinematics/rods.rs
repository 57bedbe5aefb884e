//! Forward geometry in closed form, section 7.2: with its motor held, a leg keeps a point of the platform on a sphere (a
//! rod) or in a plane. What such constraints leave of the platform follows from circles, spheres and one polynomial.

use super::positions::Positions;
use crate::description::Coordinates;
use crate::linalg::dense::{Matrix, real_roots, svd};
use crate::model::{Anchor, Block, Held, Locked, Model};
use crate::spatial::{Pose, Rotation, Turn, Vec3, vec3};

/// The constraint of every leg, when each is of a kind that is known and has its one motor in the right place.
pub fn locked_legs(model: &Model<f64>, pos: &Positions<f64>) -> Option<Vec<Locked>> {
    let topology = model.topology();
    let mut found = Vec::new();
    for leg in topology.legs.ids() {
        let reaches = |b: &&Block<f64>| !b.steps.is_empty() && b.ends == [Anchor::World, Anchor::Platform];
        let block = model.leg_blocks(leg).iter().find(reaches)?;
        let coords = topology.legs[leg].coords;
        let drives = coords.iter().filter(|c| topology.active.contains(c)).count();
        if drives != 1 {
            return None;
        }
        let active = |k: usize| topology.active.iter().any(|a| coords.local(*a) == Some(k));
        let held = Held { joints: pos.joints.slice(coords), is_active: &active };
        found.push(block.steps.first()?.locked(&held, block.target)?);
    }
    Some(found)
}

/// Candidate poses in closed form, and whether they are all there are. `None`: no closed form for this platform, or a
/// degenerate case of it. The candidates may violate constraints beyond those used; the caller checks.
pub fn candidates(model: &Model<f64>, home: &Pose<f64>, legs: &[Locked]) -> Option<Vec<Pose<f64>>> {
    match model.topology().platform.coordinates {
        Coordinates::Translation => translation(home, legs),
        Coordinates::Planar => planar(home, legs),
        _ => None,
    }
}

/// Spheres and planes for a platform that does not turn: differences of spheres are planes, so three constraints leave a
/// line and a sphere, or a point.
fn translation(home: &Pose<f64>, legs: &[Locked]) -> Option<Vec<Pose<f64>>> {
    let mut planes: Vec<(Vec3<f64>, f64)> = Vec::new();
    let mut sphere: Option<(Vec3<f64>, f64)> = None;
    for leg in legs {
        match *leg {
            Locked::Plane { normal, offset, point } => planes.push((normal, offset - normal.dot(&home.R.apply(point)))),
            Locked::Rod { centre, point, length } => {
                let c = centre - home.R.apply(point);
                match sphere {
                    None => sphere = Some((c, length)),
                    Some((c0, r0)) => {
                        // |x - c|² - |x - c0|² = r² - r0²
                        let n = (c0 - c) * 2.0;
                        let d = length * length - r0 * r0 - c.norm_squared() + c0.norm_squared();
                        let size = n.norm();
                        if size > 1e-12 {
                            planes.push((n / size, d / size));
                        }
                    }
                }
            }
        }
    }
    let place = |p: Vec3<f64>| Pose { R: home.R, p };
    let a = Matrix::from_fn(planes.len(), 3, |i, j| planes[i].0[j]);
    let b: Vec<f64> = planes.iter().map(|p| p.1).collect();
    let f = svd(&a);
    let x = f.least_squares(&b);
    let x = vec3(x[0], x[1], x[2]);
    match (f.rank(), sphere) {
        (3, _) => Some(vec![place(x)]),
        (2, Some((c, r))) => {
            let n = f.null_space();
            let u = vec3(n[(0, 0)], n[(1, 0)], n[(2, 0)]);
            let w = x - c;
            let middle = -w.dot(&u);
            let left = r * r - (w + u * middle).norm_squared();
            // A negative remainder still gives the nearest point: the caller says by how much it misses.
            let half = left.max(0.0).sqrt();
            Some(vec![place(x + u * (middle + half)), place(x + u * (middle - half))])
        }
        _ => None,
    }
}

/// Three rods in a plane: a polynomial of degree six in the tangent of half the angle, (7.42)-(7.46), erratum K6.
fn planar(home: &Pose<f64>, legs: &[Locked]) -> Option<Vec<Pose<f64>>> {
    let mut rods = Vec::new();
    for leg in legs {
        let Locked::Rod { centre, point, length } = leg else { return None };
        rods.push((centre.xy(), point.xy(), *length));
    }
    let [first, second, third] = rods.get(..3)? else { return None };
    let triangle = Triangle { first: *first, others: [*second, *third] };
    let mut poses = Vec::new();
    for phi in triangle.angles()? {
        let t = Turn::of(phi);
        for p in triangle.origins(t) {
            poses.push(Pose { R: Rotation::about_z(t), p: vec3(p.x, p.y, home.p.z) });
        }
    }
    Some(poses)
}

type Vec2 = nalgebra::Vector2<f64>;

struct Triangle {
    first: (Vec2, Vec2, f64),
    others: [(Vec2, Vec2, f64); 2],
}

impl Triangle {
    /// For each of the other rods, with the first platform point at `x` from the first centre: `a·x + c = 0` and `|x| = ρ1`.
    fn lines(&self, t: Turn<f64>) -> [(Vec2, f64); 2] {
        let (c1, b1, rho1) = self.first;
        self.others.map(|(c, b, rho)| {
            let m = b - b1;
            let m = Vec2::new(t.cos * m.x - t.sin * m.y, t.sin * m.x + t.cos * m.y);
            let a = m - (c - c1);
            (a * 2.0, a.norm_squared() + rho1 * rho1 - rho * rho)
        })
    }

    /// `(SW - VQ)² + (UQ - RW)² - ρ1² (RV - SU)²`, zero at the assembly modes; harmonics up to the third.
    fn function(&self, phi: f64) -> f64 {
        let [(a, q), (b, w)] = self.lines(Turn::of(phi));
        let det = a.x * b.y - a.y * b.x;
        let (x, y) = (a.y * w - b.y * q, b.x * q - a.x * w);
        x * x + y * y - self.first.2.powi(2) * det * det
    }

    /// Angles of all assembly modes. `None` when the function vanishes everywhere or nearly so.
    fn angles(&self) -> Option<Vec<f64>> {
        // Coefficients of cos kφ and sin kφ by sampling, then a polynomial in tan((φ - φ0)/2).
        let n = 8;
        let samples: Vec<f64> = (0..n).map(|i| self.function(TAU * f64::from(i) / f64::from(n))).collect();
        let scale = samples.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let size = self.others.iter().map(|(c, b, r)| c.norm() + b.norm() + r).fold(self.first.2, f64::max);
        if scale <= 1e-12 * size.powi(6) {
            return None;
        }
        // Turn the pole of the tangent to where the function is largest.
        let worst = (0..32)
            .map(|i| TAU * f64::from(i) / 32.0)
            .max_by(|a, b| self.function(*a).abs().total_cmp(&self.function(*b).abs()))?;
        let phi0 = worst - std::f64::consts::PI;
        let shifted: Vec<f64> = (0..n).map(|i| self.function(phi0 + TAU * f64::from(i) / f64::from(n))).collect();
        let harmonic = |k: i32, sin: bool| {
            let sum: f64 = (0..n)
                .map(|i| {
                    let (s, c) = (TAU * f64::from(k * i) / f64::from(n)).sin_cos();
                    shifted[usize::try_from(i).unwrap_or(0)] * if sin { s } else { c }
                })
                .sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / f64::from(n)
        };
        let (a0, a, b) =
            (harmonic(0, false), [1, 2, 3].map(|k| harmonic(k, false)), [1, 2, 3].map(|k| harmonic(k, true)));
        let coefficients = half_angle_polynomial(a0, a, b);
        let roots = real_roots(&coefficients, 1e-4);
        Some(roots.into_iter().map(|t| phi0 + 2.0 * t.atan()).collect())
    }

    /// Platform origins for an angle.
    fn origins(&self, t: Turn<f64>) -> Vec<Vec2> {
        let [(a, q), (b, w)] = self.lines(t);
        let (c1, b1, rho1) = self.first;
        let origin = |x: Vec2| c1 + x - Vec2::new(t.cos * b1.x - t.sin * b1.y, t.sin * b1.x + t.cos * b1.y);
        let det = a.x * b.y - a.y * b.x;
        let scale = a.norm() * b.norm();
        if det.abs() > 1e-7 * scale {
            return vec![origin(Vec2::new((a.y * w - b.y * q) / det, (b.x * q - a.x * w) / det))];
        }
        // The two lines are one, or parallel: the circle meets the better of them.
        let (n, d) = if a.norm() > b.norm() { (a, q) } else { (b, w) };
        if n.norm() == 0.0 {
            return Vec::new();
        }
        let foot = n * (-d / n.norm_squared());
        let along = Vec2::new(-n.y, n.x) / n.norm();
        let half = (rho1 * rho1 - foot.norm_squared()).max(0.0).sqrt();
        vec![origin(foot + along * half), origin(foot - along * half)]
    }
}

use std::f64::consts::TAU;

/// `a0 + Σ a_k cos kφ + b_k sin kφ` times `(1 + t²)³` with `t = tan(φ/2)`, ascending powers.
fn half_angle_polynomial(a0: f64, a: [f64; 3], b: [f64; 3]) -> Vec<f64> {
    // cos φ (1+t²) = 1 - t², sin φ (1+t²) = 2t; multiples by the addition theorems.
    let one = vec![1.0, 0.0, 1.0];
    let (c1, s1) = (vec![1.0, 0.0, -1.0], vec![0.0, 2.0]);
    let (c2, s2) = (difference(&times(&c1, &c1), &times(&s1, &s1)), scaled(&times(&s1, &c1), 2.0));
    let c3 = difference(&times(&c2, &c1), &times(&s2, &s1));
    let s3 = sum(&times(&s2, &c1), &times(&c2, &s1));
    let (one2, one3) = (times(&one, &one), times(&times(&one, &one), &one));
    let mut p = scaled(&one3, a0);
    for (coefficient, harmonic) in [
        (a[0], times(&c1, &one2)),
        (b[0], times(&s1, &one2)),
        (a[1], times(&c2, &one)),
        (b[1], times(&s2, &one)),
        (a[2], c3),
        (b[2], s3),
    ] {
        p = sum(&p, &scaled(&harmonic, coefficient));
    }
    p
}

fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut p = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            p[i + j] += x * y;
        }
    }
    p
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.len().max(b.len())).map(|i| a.get(i).unwrap_or(&0.0) + b.get(i).unwrap_or(&0.0)).collect()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    sum(a, &scaled(b, -1.0))
}

fn scaled(a: &[f64], k: f64) -> Vec<f64> {
    a.iter().map(|x| x * k).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The six assembly modes of the 3-RPR robot of the literature on cuspidal robots.
    #[test]
    fn a_3_rpr_has_its_six_known_assembly_modes() {
        let (m2, m3, angle) = (17.04_f64, 20.84_f64, 0.882_603_110_f64);
        let triangle = Triangle {
            first: (Vec2::zeros(), Vec2::zeros(), 14.98),
            others: [
                (Vec2::new(15.91, 0.0), Vec2::new(m2, 0.0), 15.38),
                (Vec2::new(0.0, 10.0), Vec2::new(m3 * angle.cos(), m3 * angle.sin()), 12.0),
            ],
        };
        let printed = [
            (14.673_943_66, -3.012_603_12, 2.132_904_37),
            (-8.726_595_33, 12.175_669_75, -0.986_974_24),
            (14.920_133_25, -1.337_917_74, 1.002_038_54),
            (-5.495_660_82, -13.935_498_28, -0.047_331_37),
            (-14.896_128_1, 1.582_961_66, 0.245_309_53),
            (-13.419_939_01, -6.656_247_96, 0.585_672_78),
        ];
        let angles = triangle.angles().unwrap();
        assert_eq!(angles.len(), 6);
        for (x, y, phi) in printed {
            let found = angles.iter().find(|a| crate::spatial::orientation::wrap(**a - phi).abs() < 1e-6).unwrap();
            let p = triangle.origins(Turn::of(*found))[0];
            assert!((p - Vec2::new(x, y)).norm() < 2e-5, "{p} {x} {y}");
        }
    }

    #[test]
    fn half_angles_reproduce_the_harmonics() {
        let (a0, a, b) = (0.3, [0.5, -0.2, 0.7], [-0.4, 0.9, 0.1]);
        let p = half_angle_polynomial(a0, a, b);
        for phi in [-2.0, 0.4, 1.3] {
            let t = (0.5_f64 * phi).tan();
            let value = p.iter().rev().fold(0.0, |s, c| s * t + c) / (1.0 + t * t).powi(3);
            let direct = a0
                + (1..4)
                    .map(|k| {
                        let (s, c) = (f64::from(k) * phi).sin_cos();
                        let i = usize::try_from(k - 1).unwrap();
                        a[i] * c + b[i] * s
                    })
                    .sum::<f64>();
            assert!((value - direct).abs() < 1e-13);
        }
    }
}
