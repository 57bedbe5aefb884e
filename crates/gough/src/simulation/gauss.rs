//! Gauss-Legendre collocation with three stages for stiff systems of second order, `q̈ = a(t, q, q̇)`.
//!
//! Sixth order, stable for every step and without numerical damping: an undamped vibration keeps its energy, and stiff modes that are
//! not resolved do not grow. Radau methods, which damp them, are the choice where that is wanted.

/// Something that accelerates.
pub trait SecondOrder {
    /// Why there is no acceleration.
    type Trouble;
    /// Number of coordinates.
    fn size(&self) -> usize;
    /// Accelerations at a time, for positions and rates.
    fn acceleration(&mut self, t: f64, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), Self::Trouble>;
}

/// Numerical damping of the stages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stages {
    /// Gauss: energy is kept.
    #[default]
    Gauss,
    /// Radau IIA: motions that a step does not resolve die out.
    Radau,
}

/// Stages, weights, and how stages add up.
struct Tableau {
    c: [f64; 3],
    A: [[f64; 3]; 3],
    b: [f64; 3],
}

impl Stages {
    fn tableau(self) -> Tableau {
        match self {
            Stages::Gauss => {
                let r = 15.0_f64.sqrt();
                let (a, b, c) = (5.0 / 36.0, 2.0 / 9.0, 5.0 / 18.0);
                Tableau {
                    c: [0.5 - r / 10.0, 0.5, 0.5 + r / 10.0],
                    A: [
                        [a, b - r / 15.0, a - r / 30.0],
                        [a + r / 24.0, b, a - r / 24.0],
                        [a + r / 30.0, b + r / 15.0, a],
                    ],
                    b: [c, 4.0 / 9.0, c],
                }
            }
            Stages::Radau => {
                let r = 6.0_f64.sqrt();
                let last = [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0];
                Tableau {
                    c: [(4.0 - r) / 10.0, (4.0 + r) / 10.0, 1.0],
                    A: [
                        [(88.0 - 7.0 * r) / 360.0, (296.0 - 169.0 * r) / 1800.0, (-2.0 + 3.0 * r) / 225.0],
                        [(296.0 + 169.0 * r) / 1800.0, (88.0 + 7.0 * r) / 360.0, (-2.0 - 3.0 * r) / 225.0],
                        last,
                    ],
                    b: last,
                }
            }
        }
    }

    /// Order of the method.
    pub fn order(self) -> i32 {
        if self == Stages::Gauss { 6 } else { 5 }
    }
}

/// Most corrections of a step.
const MOST_CORRECTIONS: usize = 12;

/// A step is found when a correction is this fraction of its tolerance.
const FOUND: f64 = 1e-3;

/// An integrator with its memory.
pub struct Collocation {
    n: usize,
    tableau: Tableau,
    order: i32,
    /// Derivatives of the accelerations by positions and rates, row by row.
    by_q: Vec<f64>,
    by_v: Vec<f64>,
    fresh: bool,
    factored: Option<f64>,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    /// Stage accelerations, of this step and the one before with its length.
    k: Vec<f64>,
    last: Option<(f64, Vec<f64>)>,
    scratch: Vec<f64>,
    /// Accelerations asked for so far.
    pub evaluations: usize,
}

/// Why a step failed.
pub enum Failed<T> {
    /// The accelerations were refused.
    Refused(T),
    /// The corrections do not converge: the step is too long.
    TooLong,
}

impl Collocation {
    /// Memory for a system of this size.
    pub fn new(n: usize, stages: Stages) -> Self {
        Self {
            n,
            tableau: stages.tableau(),
            order: stages.order(),
            by_q: vec![0.0; n * n],
            by_v: vec![0.0; n * n],
            fresh: false,
            factored: None,
            matrix: vec![0.0; 9 * n * n],
            pivots: Vec::new(),
            k: vec![0.0; 3 * n],
            last: None,
            scratch: vec![0.0; 3 * n],
            evaluations: 0,
        }
    }

    /// Order of the method.
    pub fn order(&self) -> i32 {
        self.order
    }

    /// Forget what was learnt of the way behind: something has changed at once.
    pub fn restart(&mut self) {
        (self.last, self.fresh, self.factored) = (None, false, None);
    }

    fn ask<T: SecondOrder>(
        &mut self,
        system: &mut T,
        t: f64,
        q: &[f64],
        v: &[f64],
        a: &mut [f64],
    ) -> Result<(), Failed<T::Trouble>> {
        self.evaluations += 1;
        system.acceleration(t, q, v, a).map_err(Failed::Refused)
    }

    /// Derivatives by forward differences.
    fn differentiate<T: SecondOrder>(
        &mut self,
        system: &mut T,
        t: f64,
        q: &[f64],
        v: &[f64],
        scale: &[f64],
    ) -> Result<(), Failed<T::Trouble>> {
        let n = self.n;
        let (mut a0, mut a) = (vec![0.0; n], vec![0.0; n]);
        self.ask(system, t, q, v, &mut a0)?;
        let (mut x, mut y) = (q.to_vec(), v.to_vec());
        for j in 0..n {
            let h = 1e-6 * scale[j].max(1e-3);
            x[j] += h;
            self.ask(system, t, &x, v, &mut a)?;
            x[j] = q[j];
            (0..n).for_each(|i| self.by_q[i * n + j] = (a[i] - a0[i]) / h);
            let h = 1e-4;
            y[j] += h;
            self.ask(system, t, q, &y, &mut a)?;
            y[j] = v[j];
            (0..n).for_each(|i| self.by_v[i * n + j] = (a[i] - a0[i]) / h);
        }
        (self.fresh, self.factored) = (true, None);
        Ok(())
    }

    /// `1 - h A ⊗ ∂a/∂q̇ - h² A² ⊗ ∂a/∂q`, factored.
    fn factor(&mut self, h: f64) {
        if self.factored == Some(h) {
            return;
        }
        let (n, A) = (self.n, &self.tableau.A);
        let size = 3 * n;
        for s in 0..3 {
            for r in 0..3 {
                let square: f64 = (0..3).map(|k| A[s][k] * A[k][r]).sum();
                for i in 0..n {
                    for j in 0..n {
                        let unit = f64::from(u8::from(s == r && i == j));
                        let x = unit - h * A[s][r] * self.by_v[i * n + j] - h * h * square * self.by_q[i * n + j];
                        self.matrix[(s * n + i) * size + r * n + j] = x;
                    }
                }
            }
        }
        pivot_factor(&mut self.matrix, size, &mut self.pivots);
        self.factored = Some(h);
    }

    /// First guess of the stages: the polynomial of the step before, carried on, or the accelerations where it stands.
    fn guess<T: SecondOrder>(
        &mut self,
        system: &mut T,
        t: f64,
        h: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), Failed<T::Trouble>> {
        let n = self.n;
        if let Some((before, k)) = &self.last {
            let c = self.tableau.c;
            for s in 0..3 {
                let x = 1.0 + c[s] * h / before;
                let weight =
                    |r: usize| -> f64 { (0..3).filter(|o| *o != r).map(|o| (x - c[o]) / (c[r] - c[o])).product() };
                let w = [weight(0), weight(1), weight(2)];
                (0..n).for_each(|i| self.k[s * n + i] = (0..3).map(|r| w[r] * k[r * n + i]).sum());
            }
            return Ok(());
        }
        let mut a = vec![0.0; n];
        self.ask(system, t, q, v, &mut a)?;
        (0..3).for_each(|s| self.k[s * n..(s + 1) * n].copy_from_slice(&a));
        Ok(())
    }

    /// One step, in place. `scale` is what counts as one in each coordinate, `rate_scale` in each rate.
    #[allow(clippy::too_many_arguments)]
    pub fn step<T: SecondOrder>(
        &mut self,
        system: &mut T,
        t: f64,
        h: f64,
        q: &mut [f64],
        v: &mut [f64],
        scale: &[f64],
        tolerance: f64,
    ) -> Result<(), Failed<T::Trouble>> {
        if !self.fresh {
            self.differentiate(system, t, q, v, scale)?;
        }
        self.guess(system, t, h, q, v)?;
        match self.correct(system, t, h, q, v, scale, tolerance) {
            Err(Failed::TooLong) => {
                // Derivatives of another place, or a bad guess.
                self.last = None;
                self.differentiate(system, t, q, v, scale)?;
                self.guess(system, t, h, q, v)?;
                self.correct(system, t, h, q, v, scale, tolerance)?;
            }
            other => other?,
        }
        let (n, b, A) = (self.n, self.tableau.b, &self.tableau.A);
        for i in 0..n {
            let sum: f64 = (0..3).map(|s| b[s] * self.k[s * n + i]).sum();
            // b^T A: the double integral.
            let twice: f64 = (0..3).map(|r| (0..3).map(|s| b[s] * A[s][r]).sum::<f64>() * self.k[r * n + i]).sum();
            q[i] += h * v[i] + h * h * twice;
            v[i] += h * sum;
        }
        self.last = Some((h, self.k.clone()));
        Ok(())
    }

    /// Positions and rates inside of the last step, at a fraction of it, from where it began.
    pub fn inside(&self, x: f64, h: f64, q: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, c) = (self.n, self.tableau.c);
        let once: [f64; 3] = std::array::from_fn(|r| integrals(c, r, x)[0]);
        let twice: [f64; 3] = std::array::from_fn(|r| integrals(c, r, x)[1]);
        let sum = |w: &[f64; 3], i: usize| (0..3).map(|r| w[r] * self.k[r * n + i]).sum::<f64>();
        let positions = (0..n).map(|i| q[i] + h * x * v[i] + h * h * sum(&twice, i)).collect();
        (positions, (0..n).map(|i| v[i] + h * sum(&once, i)).collect())
    }

    #[allow(clippy::too_many_arguments)]
    fn correct<T: SecondOrder>(
        &mut self,
        system: &mut T,
        t: f64,
        h: f64,
        q: &[f64],
        v: &[f64],
        scale: &[f64],
        tolerance: f64,
    ) -> Result<(), Failed<T::Trouble>> {
        self.factor(h);
        let n = self.n;
        let (mut x, mut y, mut a) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut before = f64::INFINITY;
        for round in 0..MOST_CORRECTIONS {
            for s in 0..3 {
                let A = self.tableau.A;
                for i in 0..n {
                    let once: f64 = (0..3).map(|r| A[s][r] * self.k[r * n + i]).sum();
                    let twice: f64 =
                        (0..3).map(|r| (0..3).map(|m| A[s][m] * A[m][r]).sum::<f64>() * self.k[r * n + i]).sum();
                    x[i] = q[i] + h * self.tableau.c[s] * v[i] + h * h * twice;
                    y[i] = v[i] + h * once;
                }
                self.ask(system, t + self.tableau.c[s] * h, &x, &y, &mut a)?;
                (0..n).for_each(|i| self.scratch[s * n + i] = a[i] - self.k[s * n + i]);
            }
            pivot_solve(&self.matrix, 3 * n, &self.pivots, &mut self.scratch);
            let mut size: f64 = 0.0;
            for s in 0..3 {
                for (i, scale) in scale.iter().enumerate() {
                    let d = self.scratch[s * n + i];
                    self.k[s * n + i] += d;
                    // What the correction moves in this step.
                    size = size.max(h * h * d.abs() / scale);
                }
            }
            if !size.is_finite() {
                return Err(Failed::TooLong);
            }
            let rate = size / before;
            if size < FOUND * tolerance || (round > 0 && rate < 1.0 && size * rate / (1.0 - rate) < FOUND * tolerance) {
                return Ok(());
            }
            if round > 1 && rate > 0.9 {
                // Rounding is reached, or it does not converge.
                return if size < tolerance { Ok(()) } else { Err(Failed::TooLong) };
            }
            before = size;
        }
        Err(Failed::TooLong)
    }
}

/// Integral, and integral of the integral, from 0 to `x` of the polynomial that is one at stage `r` and zero at the others.
fn integrals(c: [f64; 3], r: usize, x: f64) -> [f64; 2] {
    let [a, b] = [c[(r + 1) % 3], c[(r + 2) % 3]];
    let scale = 1.0 / ((c[r] - a) * (c[r] - b));
    let (p, s) = (a * b, a + b);
    [
        scale * (x.powi(3) / 3.0 - s * x * x / 2.0 + p * x),
        scale * (x.powi(4) / 12.0 - s * x.powi(3) / 6.0 + p * x * x / 2.0),
    ]
}

/// LU with rows exchanged for the largest pivot.
fn pivot_factor(a: &mut [f64], n: usize, pivots: &mut Vec<usize>) {
    pivots.clear();
    pivots.extend(0..n);
    for j in 0..n {
        let best = (j..n).max_by(|x, y| a[x * n + j].abs().total_cmp(&a[y * n + j].abs())).unwrap_or(j);
        if best != j {
            (0..n).for_each(|k| a.swap(j * n + k, best * n + k));
            pivots.swap(j, best);
        }
        let pivot = a[j * n + j];
        for i in j + 1..n {
            let (upper, lower) = a.split_at_mut(i * n);
            let (row, done) = (&mut lower[..n], &upper[j * n..(j + 1) * n]);
            let factor = row[j] / pivot;
            row[j] = factor;
            for (x, y) in row[j + 1..].iter_mut().zip(&done[j + 1..]) {
                *x -= factor * y;
            }
        }
    }
}

fn pivot_solve(a: &[f64], n: usize, pivots: &[usize], b: &mut [f64]) {
    let given: Vec<f64> = pivots.iter().map(|p| b[*p]).collect();
    b.copy_from_slice(&given);
    for i in 0..n {
        let done: f64 = a[i * n..i * n + i].iter().zip(&b[..i]).map(|(x, y)| x * y).sum();
        b[i] -= done;
    }
    for i in (0..n).rev() {
        let done: f64 = a[i * n + i + 1..(i + 1) * n].iter().zip(&b[i + 1..]).map(|(x, y)| x * y).sum();
        b[i] = (b[i] - done) / a[i * n + i];
    }
}
