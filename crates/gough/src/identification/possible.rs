//! Standard parameters that explain records, nearest to those of the file, every body one that can exist.

use super::estimate::Identification;
use crate::Robot;
use crate::dynamics::regressor::{StandardParameter, StandardSet};
use crate::linalg::dense::{Matrix, solve_spd, svd};
use nalgebra::{DVector, Matrix4, SymmetricEigen};

/// A set of standard parameters, and what it costs that every body can exist.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct PossibleSet {
    /// Standard parameters with the identified groups, bodies that need not exist.
    pub unconstrained: Vec<f64>,
    /// Standard parameters whose bodies can all exist.
    pub values: Vec<f64>,
    /// How far the groups of these are from the identified ones, in standard deviations: the largest.
    pub price: f64,
    /// How many times as large as that of the identified groups the weighted residual of the records is with them.
    pub growth: f64,
    /// Names of the standard parameters.
    pub names: Vec<String>,
}

/// The file first counts so many times as much, in so many rounds of which each begins where the last one ends.
const FALLS: f64 = 100.0;
const ROUNDS: i32 = 4;
/// What the file's values may pull the groups by, in standard deviations of all of them together, where bodies are in no way.
const PULL: f64 = 0.01;
/// Most steps of Newton, and what is small enough for the last one, in standard deviations.
const STEPS: usize = 200;
const SMALL: f64 = 1e-10;
/// Share of its largest eigenvalue that the pseudo-inertia of a body keeps at least, so that rounding does not make it impossible.
const WIDTH: f64 = 1e-12;

const SQRT_2: f64 = std::f64::consts::SQRT_2;

/// Numbers in which distances are measured: entries of the pseudo-inertias `[[Σ, ms], [msᵀ, m]]`, `Σ = ½ tr(I) 1 - I`, of the
/// bodies, in units of mass and of the robot's length, those off the diagonal times √2; the other parameters as they are.
struct Metric {
    /// What a parameter is multiplied by.
    scale: Vec<f64>,
    /// Places of the ten parameters of each body.
    bodies: Vec<[usize; 10]>,
    /// Parameters that must not be negative by themselves.
    positive: Vec<usize>,
}

/// Where the ten numbers of a body stand in its pseudo-inertia.
const PLACES: [(usize, usize); 10] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3), (3, 3)];

/// The pseudo-inertia of ten numbers.
fn pseudo_inertia(y: [f64; 10]) -> Matrix4<f64> {
    let mut J = Matrix4::zeros();
    for ((i, j), x) in PLACES.into_iter().zip(y) {
        J[(i, j)] = if i == j { x } else { x / SQRT_2 };
        J[(j, i)] = J[(i, j)];
    }
    J
}

/// The ten numbers of a pseudo-inertia.
fn ten(J: &Matrix4<f64>) -> [f64; 10] {
    PLACES.map(|(i, j)| if i == j { J[(i, i)] } else { SQRT_2 * J[(i, j)] })
}

impl Metric {
    fn new(length: f64, p: &[StandardParameter]) -> Self {
        let scale = p.iter().map(|p| length.powi(-p.lengths)).collect();
        let mut bodies: Vec<[usize; 10]> = Vec::new();
        for frame in 0..=p.iter().filter_map(StandardParameter::frame).max().unwrap_or(0) {
            let place = |entry: usize| p.iter().position(|p| p.frame() == Some(frame) && p.quantity.place() == entry);
            let places: Vec<usize> = (0..10).filter_map(place).collect();
            bodies.extend(<[usize; 10]>::try_from(places));
        }
        let alone = |j: &usize| p[*j].quantity.place() >= 9 && !bodies.iter().any(|b| b.contains(j));
        let positive = (0..p.len()).filter(alone).collect();
        Self { scale, bodies, positive }
    }

    /// From parameters, SI, to these numbers.
    fn of(&self, values: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = values.iter().zip(&self.scale).map(|(x, s)| x * s).collect();
        for b in &self.bodies {
            let [xx, xy, xz, yy, yz, zz, mx, my, mz, m] = b.map(|j| y[j]);
            let half = 0.5 * (xx + yy + zz);
            let off = [xy, xz, yz].map(|x| -SQRT_2 * x);
            let ms = [mx, my, mz].map(|x| SQRT_2 * x);
            let new = [half - xx, off[0], off[1], half - yy, off[2], half - zz, ms[0], ms[1], ms[2], m];
            b.iter().zip(new).for_each(|(j, x)| y[*j] = x);
        }
        y
    }

    /// Back to parameters, SI.
    fn back(&self, y: &[f64]) -> Vec<f64> {
        let mut x = y.to_vec();
        for b in &self.bodies {
            let [a, ab, ac, c, bc, d, mx, my, mz, m] = b.map(|j| y[j]);
            let off = [ab, ac, bc].map(|x| -x / SQRT_2);
            let ms = [mx, my, mz].map(|x| x / SQRT_2);
            let new = [c + d, off[0], off[1], a + d, off[2], a + c, ms[0], ms[1], ms[2], m];
            b.iter().zip(new).for_each(|(j, v)| x[*j] = v);
        }
        x.iter().zip(&self.scale).map(|(x, s)| x / s).collect()
    }

    /// The coefficients of a group, given on parameters in SI, on these numbers: the transpose of [`Metric::back`].
    fn row(&self, coefficients: &[(usize, f64)]) -> Vec<f64> {
        let mut c = vec![0.0; self.scale.len()];
        coefficients.iter().for_each(|(j, x)| c[*j] = x / self.scale[*j]);
        for b in &self.bodies {
            let [xx, xy, xz, yy, yz, zz, mx, my, mz, m] = b.map(|j| c[j]);
            let off = [xy, xz, yz].map(|x| -x / SQRT_2);
            let ms = [mx, my, mz].map(|x| x / SQRT_2);
            let new = [yy + zz, off[0], off[1], xx + zz, off[2], xx + yy, ms[0], ms[1], ms[2], m];
            b.iter().zip(new).for_each(|(j, v)| c[*j] = v);
        }
        c
    }

    /// The nearest numbers whose bodies can exist: eigenvalues of pseudo-inertias below a share of the largest are raised to it.
    fn possible(&self, y: &[f64], share: f64) -> Vec<f64> {
        let mut y = y.to_vec();
        self.positive.iter().for_each(|j| y[*j] = y[*j].max(0.0));
        for b in &self.bodies {
            let mut e = pseudo_inertia(b.map(|j| y[j])).symmetric_eigen();
            let least = share * e.eigenvalues.max().max(0.0);
            if e.eigenvalues.iter().any(|v| *v < least) {
                e.eigenvalues.iter_mut().for_each(|v| *v = v.max(least));
                b.iter().zip(ten(&e.recompose())).for_each(|(j, v)| y[*j] = v);
            }
        }
        y
    }

    /// Rows times a root of the derivative of [`Metric::possible`] at `y`: in the axes of the eigenvectors, each product of two
    /// counts with what is left of it, `(max(a, 0) - max(b, 0)) / (a - b)` (Löwner).
    fn rows_of_possible(&self, rows: &Matrix, y: &[f64]) -> Matrix {
        let mut out = rows.clone();
        for j in self.positive.iter().filter(|j| y[**j] < 0.0) {
            out.column_mut(*j).fill(0.0);
        }
        for b in &self.bodies {
            let e = SymmetricEigen::new(pseudo_inertia(b.map(|j| y[j])));
            if e.eigenvalues.iter().all(|v| *v >= 0.0) {
                continue;
            }
            let own = Matrix::from_fn(rows.nrows(), 10, |i, k| rows[(i, b[k])]);
            let products = PLACES.map(|(i, j)| {
                let (p, q) = (e.eigenvectors.column(i), e.eigenvectors.column(j));
                let both = p * q.transpose();
                ten(&(if i == j { both } else { (both + both.transpose()) / SQRT_2 }))
            });
            for ((i, j), (place, product)) in PLACES.into_iter().zip(b.iter().zip(products)) {
                let (x, y) = (e.eigenvalues[i], e.eigenvalues[j]);
                let left = if x >= 0.0 && y >= 0.0 {
                    1.0
                } else if x < 0.0 && y < 0.0 {
                    0.0
                } else {
                    x.max(y) / (x - y).abs()
                };
                out.set_column(*place, &(&own * DVector::from_column_slice(&product) * left.sqrt()));
            }
        }
        out
    }
}

/// `min ½ |B y - c|² + ½ μ |y - file|²` over the bodies that can exist, by its dual: with λ for `B y - c`,
/// `y = P(file - Bᵀ λ / μ)`, where P is the nearest possible, and `λ + c = B y`. That is the gradient of a function that bends
/// by one at least, so that Newton's steps with one of P's derivatives end (Qi and Sun, 2006).
struct NearestPossible<'a> {
    metric: &'a Metric,
    B: &'a Matrix,
    c: &'a DVector<f64>,
    file: &'a DVector<f64>,
    mu: f64,
}

/// A point of the dual: the multipliers, where P is taken, what is nearest, the function and its gradient.
struct DualPoint {
    lambda: DVector<f64>,
    z: DVector<f64>,
    y: DVector<f64>,
    value: f64,
    gradient: DVector<f64>,
}

impl NearestPossible<'_> {
    fn at(&self, lambda: DVector<f64>) -> DualPoint {
        let z = self.file - self.B.tr_mul(&lambda) / self.mu;
        let y = DVector::from_vec(self.metric.possible(z.as_slice(), 0.0));
        let gradient = &lambda + self.c - self.B * &y;
        let value = 0.5 * lambda.norm_squared() + self.c.dot(&lambda) + 0.5 * self.mu * y.norm_squared();
        DualPoint { lambda, z, y, value, gradient }
    }

    /// From multipliers on: those where the gradient vanishes.
    fn solved(&self, lambda: DVector<f64>) -> DVector<f64> {
        let mut now = self.at(lambda);
        for _ in 0..STEPS {
            let size = now.gradient.norm();
            if size < SMALL {
                break;
            }
            let C = self.metric.rows_of_possible(self.B, now.z.as_slice());
            let H = Matrix::identity(self.c.len(), self.c.len()) + &C * C.transpose() / self.mu;
            let Some(step) = solve_spd(&H, now.gradient.as_slice()).map(DVector::from_vec) else { break };
            let slope = step.dot(&now.gradient);
            let shorter = |k: i32| (k, self.at(&now.lambda - &step * 0.5_f64.powi(k)));
            let falls = |(k, next): &(i32, DualPoint)| {
                next.gradient.norm() < 0.5 * size || next.value <= now.value - 1e-4 * 0.5_f64.powi(*k) * slope
            };
            // Where no step helps, only rounding is left.
            let Some((_, next)) = (0..40).map(shorter).find(falls) else { break };
            now = next;
        }
        now.lambda
    }
}

/// Standard parameters whose bodies can all exist: those that explain the records best, and of these the ones nearest to the
/// file's. What parameters leave of the records is `|R (χ - χ₀)|²` more than what the estimates χ₀ leave.
pub fn possible_set(robot: &Robot, found: &Identification) -> PossibleSet {
    weighed(robot, found).0
}

/// The set, and what distances from the file count.
fn weighed(robot: &Robot, found: &Identification) -> (PossibleSet, f64) {
    let set = StandardSet::new(robot.model());
    let metric = Metric::new(robot.model().size(), &set.parameters);
    let (n, groups) = (set.parameters.len(), &found.base.base);
    let mut A = Matrix::zeros(groups.len(), n);
    for (i, g) in groups.iter().enumerate() {
        let row = metric.row(&g.coefficients.iter().map(|c| (c.index, c.value)).collect::<Vec<_>>());
        row.iter().enumerate().for_each(|(j, x)| A[(i, j)] = *x);
    }
    let wanted = DVector::from_iterator(groups.len(), found.estimates.iter().map(|e| e.value));
    let file = DVector::from_vec(metric.of(&set.values()));
    // Groups in their standard deviations, independent of each other.
    let R = found.information.root();
    let (B, c) = (R * &A, R * &wanted);
    let f = svd(&B);
    let way = DVector::from_vec(f.least_squares((&c - &B * &file).as_slice()));
    // The weakest group lets go first.
    let weakest = f.s.last().copied().unwrap_or(1.0);
    let mu = PULL * weakest / way.norm().max(1e-9 * file.norm()).max(f64::MIN_POSITIVE);
    let mut lambda = DVector::zeros(c.len());
    for mu in (0..ROUNDS).rev().map(|k| mu * FALLS.powi(k)) {
        lambda = NearestPossible { metric: &metric, B: &B, c: &c, file: &file, mu }.solved(lambda);
    }
    let solved = NearestPossible { metric: &metric, B: &B, c: &c, file: &file, mu }.at(lambda).y;
    let values = metric.possible(solved.as_slice(), WIDTH);
    let missed = &A * DVector::from_column_slice(&values) - &wanted;
    let price = found.estimates.iter().zip(missed.iter()).map(|(e, miss)| miss.abs() / e.deviation);
    let possible = PossibleSet {
        price: price.fold(0.0, f64::max),
        growth: found.information.growth(&missed),
        unconstrained: metric.back((&file + way).as_slice()),
        values: metric.back(&values),
        names: set.parameters.iter().map(|p| p.name.clone()).collect(),
    };
    (possible, mu)
}

#[cfg(test)]
mod tests {
    use super::super::base_parameters;
    use super::super::covariance::Information;
    use super::*;
    use crate::identification::Estimate;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    /// What a record would tell of a robot that is as its file says: estimates that are off by noise of this share of the sizes
    /// of the groups, correlated at random.
    fn identified(robot: &Robot, seed: u64, share: f64) -> Identification {
        let base = base_parameters(robot, true, 1).unwrap();
        let n = base.base.len();
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let mixed = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.5 * normal() / (n as f64).sqrt() });
        let size = |unit: &str| {
            let same = base.base.iter().filter(|b| b.unit == unit).map(|b| b.value.abs());
            same.fold(1e-3, f64::max)
        };
        let scale: Vec<f64> = base.base.iter().map(|b| share * size(b.unit)).collect();
        let A = mixed.transpose() * &mixed;
        let information = Information::new(&A, &scale, 1000.0).unwrap();
        let covariance = crate::linalg::dense::solve_spd_matrix(&A, &Matrix::identity(n, n)).unwrap();
        let noise = DVector::from_fn(n, |_, _| normal());
        let off = information.root().clone().lu().solve(&noise).unwrap();
        let estimates = base.base.iter().enumerate().map(|(k, b)| Estimate {
            name: b.name.clone(),
            group: b.group.clone(),
            unit: b.unit,
            value: b.value + off[k],
            deviation: covariance[(k, k)].sqrt() * scale[k],
            relative_deviation: 1.0,
            file: b.value,
            significant: true,
            essential: true,
            index: b.coefficients[0].index,
        });
        let estimates = estimates.collect();
        Identification {
            robot: base.robot.clone(),
            estimates,
            essential_count: n,
            fit: Vec::new(),
            condition: 1.0,
            equations: 1000,
            cutoff: 20.0,
            compared: Vec::new(),
            base,
            information,
        }
    }

    /// A body as its pseudo-inertia, lengths in units of the robot's, and the derivative by it of a sum `Σ gradient · parameter`.
    fn body(own: &[(usize, f64, f64)], length: f64) -> Option<[Matrix4<f64>; 2]> {
        let of = |place: usize| own.iter().find(|o| o.0 == place).map(|o| (o.1, o.2));
        let (mut J, mut G) = (Matrix4::zeros(), Matrix4::zeros());
        let trace: f64 = [0, 3, 5].into_iter().filter_map(of).map(|x| 0.5 * x.0).sum();
        for (place, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
            let (x, g) = of(place)?;
            J[(i, j)] = if i == j { trace - x } else { -x };
            J[(j, i)] = J[(i, j)];
            if i == j {
                (0..3).filter(|k| *k != i).for_each(|k| G[(k, k)] += g);
            } else {
                G[(i, j)] -= 0.5 * g;
                G[(j, i)] -= 0.5 * g;
            }
        }
        for i in 0..3 {
            let (x, g) = of(6 + i)?;
            (J[(i, 3)], J[(3, i)]) = (x, x);
            (G[(i, 3)], G[(3, i)]) = (0.5 * g, 0.5 * g);
        }
        (J[(3, 3)], G[(3, 3)]) = of(9)?;
        let D = Matrix4::from_diagonal(&nalgebra::Vector4::new(length, length, length, 1.0));
        let back = Matrix4::from_diagonal(&nalgebra::Vector4::new(1.0 / length, 1.0 / length, 1.0 / length, 1.0));
        Some([back * J * back, D * G * D])
    }

    /// The conditions of Karush, Kuhn and Tucker, written on 4 × 4 matrices in SI: with G the derivative of `½ |R(χ - χ₀)|² +
    /// ½ μ |J - J of the file|²` by the bodies J, all J and G are positive semidefinite, and `G · J = 0`. Since the problem is
    /// convex, `ΣG·J + Σ max(0, -λ(G)) tr J` is what a better set could gain at most.
    fn gap(robot: &Robot, found: &Identification, set: &PossibleSet, mu: f64) -> f64 {
        let all = StandardSet::new(robot.model());
        let (length, p) = (robot.model().size(), &all.parameters);
        let value =
            |x: &[f64], k: usize| found.base.base[k].coefficients.iter().map(|c| c.value * x[c.index]).sum::<f64>();
        let off = DVector::from_fn(found.base.base.len(), |k, _| value(&set.values, k) - found.estimates[k].value);
        let R = found.information.root();
        let pull = R.transpose() * (R * off);
        let mut gradient = vec![0.0; p.len()];
        for (k, b) in found.base.base.iter().enumerate() {
            b.coefficients.iter().for_each(|c| gradient[c.index] += c.value * pull[k]);
        }
        let mut gap = 0.0;
        for frame in 0..all.frames.len() {
            let own = |x: &[f64]| -> Vec<(usize, f64, f64)> {
                let here = (0..p.len()).filter(|j| p[*j].frame() == Some(frame));
                here.map(|j| (p[j].quantity.place(), x[j], gradient[j])).collect()
            };
            let Some([J, G]) = body(&own(&set.values), length) else { continue };
            let [J_file, _] = body(&own(&all.values()), length).unwrap();
            let G = G + (J - J_file) * mu;
            assert!(J.symmetric_eigenvalues().min() >= -1e-14 * J.norm(), "{J}");
            gap += G.dot(&J).abs() + (-G.symmetric_eigenvalues().min()).max(0.0) * J_file.trace();
        }
        for (j, p) in p.iter().enumerate().filter(|(_, p)| p.quantity.place() > 9) {
            let g = gradient[j] + mu * (set.values[j] - p.value) * length.powi(-2 * p.lengths);
            assert!(set.values[j] >= 0.0);
            gap += (g * set.values[j]).abs() + (-g).max(0.0) * p.value;
        }
        gap
    }

    #[test]
    fn no_possible_bodies_explain_more_or_are_nearer() {
        let cases = [("five-bar", 0.01), ("orthoglide", 0.03), ("orthoglide", 0.3), ("dualv", 0.03), ("delta", 0.1)];
        let (mut bound, mut faults) = (0, Vec::new());
        for (name, share) in cases {
            let robot = Robot::shipped(name).unwrap();
            let all = StandardSet::new(robot.model());
            let metric = Metric::new(robot.model().size(), &all.parameters);
            let file = metric.of(&all.values());
            let possible = metric.possible(&file, 0.0).iter().zip(&file).all(|(a, b)| (a - b).abs() < 1e-12);
            for seed in 0..4 {
                let found = identified(&robot, seed, share);
                let (set, mu) = weighed(&robot, &found);
                let gap = gap(&robot, &found, &set, mu);
                let off =
                    DVector::from_iterator(found.estimates.len(), found.estimates.iter().map(|e| e.file - e.value));
                let own = off.iter().zip(&found.estimates).map(|(x, e)| (x / e.deviation).abs()).fold(0.0, f64::max);
                let dearer = possible && (set.growth > found.information.growth(&off) || set.price > own + 1e-6);
                if !(gap < 1e-2) || dearer {
                    faults.push(format!("{name} {share} {seed}: gap {gap:.1e}, price {} of {own}", set.price));
                }
                bound += usize::from(set.price > 0.1);
            }
        }
        assert!(faults.is_empty() && bound > 10, "{bound} {faults:#?}");
    }
}
