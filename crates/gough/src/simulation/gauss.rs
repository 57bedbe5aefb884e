//! Gauss-Legendre collocation with three stages for stiff systems of second order, `f(t, q, q̇, q̈) = 0`.
//!
//! Sixth order, stable for every step and without numerical damping: an undamped vibration keeps its energy, and stiff modes that are
//! not resolved do not grow. Radau methods, which damp them, are the choice where that is wanted.

use nalgebra::Complex;

/// Something that accelerates, by equations that are linear in the accelerations: `f(t, q, q̇, q̈) = 0`.
pub trait SecondOrder {
    /// Why there is no acceleration.
    type Trouble;
    /// Number of coordinates.
    fn size(&self) -> usize;
    /// Accelerations at a time, for positions and rates.
    fn acceleration(&mut self, t: f64, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), Self::Trouble>;
    /// What is out of balance for positions, rates and accelerations.
    fn unbalanced(&mut self, t: f64, motion: [&[f64]; 3], out: &mut [f64]) -> Result<(), Self::Trouble>;
    /// Derivatives of what is out of balance by accelerations, rates and positions, row by row, as far as they are known without asking
    /// the equations again and again.
    fn matrices(&mut self, t: f64, q: &[f64], v: &[f64], by: &mut [Vec<f64>; 3]) -> Result<(), Self::Trouble>;
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

/// A guess carries what stages behind say on over so many lengths of their step.
const FARTHEST: f64 = 4.0;

/// So far only when it is the polynomial through the stages of two steps.
const FARTHEST_OF_TWO: f64 = 1.5;

/// Stages behind that a guess looks at.
const MOST_PAST: usize = 6;

/// Derivatives are renewed after a step that took more corrections than this.
const SLOW: usize = 1;

/// Where they are differences, they are renewed later: they cost as much as many corrections.
const SLOW_AND_DEAR: usize = 7;

/// A step is found when a correction is this fraction of its tolerance.
const FOUND: f64 = 1e-4;

/// Factors serve steps whose length differs by this fraction.
const SAME_LENGTH: f64 = 1e-3;

/// An integrator with its memory.
pub struct Collocation {
    n: usize,
    tableau: Tableau,
    modes: StageModes,
    order: i32,
    /// Derivatives of what is out of balance by accelerations, rates and positions, row by row.
    by: [Vec<f64>; 3],
    known: Known,
    /// Whether derivatives are found by differences only.
    asks: bool,
    /// The length of step that the factors belong to.
    factored: Option<f64>,
    real: Factors<f64>,
    pair: Factors<Complex<f64>>,
    memory: StageMemory,
    scratch: Vec<f64>,
    /// Positions and rates of a stage, and what is out of balance there.
    at: [Vec<f64>; 3],
    /// By what share corrections became smaller, last.
    rate: f64,
    /// Times that the equations were asked so far.
    pub evaluations: usize,
}

/// What an integrator knows of the steps behind.
#[derive(Clone)]
pub struct StageMemory {
    /// Accelerations of the stages of the last step.
    k: Vec<f64>,
    /// Stages that were found, oldest first.
    past: Vec<PastStage>,
    /// The derivatives that their linear part is made with, by number.
    derivatives: usize,
}

/// A stage that was found: its time, accelerations, rates and positions, and what the equations have there besides their linear part.
#[derive(Clone, Default)]
struct PastStage {
    t: f64,
    motion: [Vec<f64>; 3],
    rest: Vec<f64>,
}

/// Where derivatives come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    Matrices,
    Differences,
    /// From a place that is too far behind.
    Slow,
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
        let tableau = stages.tableau();
        Self {
            n,
            modes: StageModes::new(&tableau.A),
            tableau,
            order: stages.order(),
            by: [0; 3].map(|_| vec![0.0; n * n]),
            known: Known::Nothing,
            asks: false,
            factored: None,
            real: Factors::default(),
            pair: Factors::default(),
            memory: StageMemory { k: vec![0.0; 3 * n], past: Vec::new(), derivatives: 0 },
            scratch: vec![0.0; 3 * n],
            at: [0; 3].map(|_| vec![0.0; n]),
            rate: 1.0,
            evaluations: 0,
        }
    }

    /// Order of the method.
    pub fn order(&self) -> i32 {
        self.order
    }

    /// Forget the way behind: something has changed at once.
    pub fn restart(&mut self) {
        self.memory.past.clear();
    }

    /// What is known of the steps behind.
    pub fn memory(&self) -> StageMemory {
        self.memory.clone()
    }

    /// Go on from what was known.
    pub fn recall(&mut self, memory: StageMemory) {
        let derivatives = self.memory.derivatives;
        self.memory = memory;
        if self.memory.derivatives != derivatives {
            self.part_stages();
            self.memory.derivatives = derivatives;
        }
    }

    /// Derivatives by forward differences.
    fn differentiate<T: SecondOrder>(
        &mut self,
        system: &mut T,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), Failed<T::Trouble>> {
        let n = self.n;
        let mut motion = [vec![0.0; n], v.to_vec(), q.to_vec()];
        system.acceleration(t, q, v, &mut motion[0]).map_err(Failed::Refused)?;
        let (mut f0, mut f) = (vec![0.0; n], vec![0.0; n]);
        self.evaluations += 1 + 3 * n;
        system.unbalanced(t, [q, v, &motion[0]], &mut f0).map_err(Failed::Refused)?;
        for j in 0..n {
            for (which, h) in [1.0, 1e-4, 1e-6].into_iter().enumerate() {
                let x = motion[which][j];
                motion[which][j] = x + h;
                system.unbalanced(t, [&motion[2], &motion[1], &motion[0]], &mut f).map_err(Failed::Refused)?;
                motion[which][j] = x;
                let by = &mut self.by[which];
                (0..n).for_each(|i| by[i * n + j] = (f[i] - f0[i]) / h);
            }
        }
        self.known = Known::Differences;
        self.renewed();
        Ok(())
    }

    /// Derivatives are new: factors are not theirs, and what stages have besides their linear part is another.
    fn renewed(&mut self) {
        (self.factored, self.rate) = (None, 1.0);
        self.memory.derivatives += 1;
        self.part_stages();
    }

    /// What the equations have besides their linear part, at all stages behind.
    fn part_stages(&mut self) {
        let mut past = std::mem::take(&mut self.memory.past);
        for stage in &mut past {
            self.linear(stage.motion.each_ref().map(Vec::as_slice), &mut stage.rest);
        }
        self.memory.past = past;
    }

    /// `∂f/∂q̈ ⊗ 1 + h ∂f/∂q̇ ⊗ A + h² ∂f/∂q ⊗ A²`, factored: with the eigenvalues of `A` it is one real system and one in complex
    /// numbers, each of the size of the motion.
    fn factor(&mut self, h: f64) {
        if self.factored.is_some_and(|f| (f - h).abs() < SAME_LENGTH * h) {
            return;
        }
        let (n, [M, D, K]) = (self.n, &self.by);
        let (g, m) = (self.modes.real * h, self.modes.pair * h);
        let square = m * m;
        self.real.set(n, (0..n * n).map(|k| M[k] + g * D[k] + g * g * K[k]));
        self.pair.set(n, (0..n * n).map(|k| Complex::new(M[k], 0.0) + m * D[k] + square * K[k]));
        self.factored = Some(h);
    }

    /// The correction of the stage accelerations for what is out of balance, in place in the scratch memory.
    fn correction(&mut self) {
        let (n, modes) = (self.n, &self.modes);
        let mut real = vec![0.0; n];
        let mut pair = vec![Complex::default(); n];
        for i in 0..n {
            let w = modes.into.map(|row| (0..3).map(|s| row[s] * self.scratch[s * n + i]).sum::<f64>());
            (real[i], pair[i]) = (w[0], Complex::new(w[1], w[2]));
        }
        self.real.solve(&mut real);
        self.pair.solve(&mut pair);
        for i in 0..n {
            let w = [real[i], pair[i].re, pair[i].im];
            (0..3).for_each(|s| self.scratch[s * n + i] = (0..3).map(|k| modes.back[s][k] * w[k]).sum());
        }
    }

    /// `M q̈ + D q̇ + K q` of one stage.
    fn linear(&self, [k, y, x]: [&[f64]; 3], out: &mut [f64]) {
        let [M, D, K] = &self.by;
        for (i, out) in out.iter_mut().enumerate() {
            let row = i * self.n..(i + 1) * self.n;
            let (m, d, s) = (&M[row.clone()], &D[row.clone()], &K[row]);
            *out = (0..self.n).map(|j| m[j] * k[j] + d[j] * y[j] + s[j] * x[j]).sum();
        }
    }

    /// First guess of the stages. What the equations have besides their linear part changes slowly, also where vibrations are so fast that
    /// a step does not resolve them: its polynomial through the stages behind is carried on, and the linear part is solved with it.
    fn guess<T: SecondOrder>(
        &mut self,
        system: &mut T,
        t: f64,
        h: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), Failed<T::Trouble>> {
        let n = self.n;
        let first = self.first_that_leads(t + h);
        let Some(first) = first else {
            self.memory.past.clear();
            let mut a = vec![0.0; n];
            system.acceleration(t, q, v, &mut a).map_err(Failed::Refused)?;
            (0..3).for_each(|s| self.memory.k[s * n..(s + 1) * n].copy_from_slice(&a));
            return Ok(());
        };
        let [mut x, mut y, mut own] = std::mem::take(&mut self.at);
        for s in 0..3 {
            self.put_stage(s, h, [q, v], [&mut x, &mut y]);
            self.linear([&self.memory.k[s * n..(s + 1) * n], &y, &x], &mut own);
            let past = &self.memory.past[first..];
            let at = t + self.tableau.c[s] * h;
            let out = &mut self.scratch[s * n..(s + 1) * n];
            out.iter_mut().zip(&own).for_each(|(out, own)| *out = -own);
            for (r, stage) in past.iter().enumerate() {
                let others = past.iter().enumerate().filter(|(o, _)| *o != r);
                let weight: f64 = others.map(|(_, o)| (at - o.t) / (stage.t - o.t)).product();
                out.iter_mut().zip(&stage.rest).for_each(|(out, rest)| *out += weight * rest);
            }
        }
        self.at = [x, y, own];
        self.correction();
        self.memory.k.iter_mut().zip(&self.scratch).for_each(|(k, d)| *k += d);
        Ok(())
    }

    /// The first of the stages behind whose polynomial is carried on to a time: all, those of the last step, or none.
    fn first_that_leads(&self, to: f64) -> Option<usize> {
        let past = &self.memory.past;
        let last = past.len().checked_sub(3)?;
        let (from, end) = (past[last].t, past[last + 2].t);
        let far = (to - end) / (end - from);
        if far < FARTHEST_OF_TWO && last > 0 {
            Some(0)
        } else if far < FARTHEST {
            Some(last)
        } else {
            None
        }
    }

    /// Remember the stages of a step from `t` on that was found.
    fn remember(&mut self, t: f64, h: f64, q: &[f64], v: &[f64]) {
        let n = self.n;
        if self.memory.past.len() + 3 > MOST_PAST {
            self.memory.past.rotate_left(3);
        } else {
            let empty = || PastStage { t: 0.0, motion: [0; 3].map(|_| vec![0.0; n]), rest: vec![0.0; n] };
            self.memory.past.extend([empty(), empty(), empty()]);
        }
        let first = self.memory.past.len() - 3;
        for s in 0..3 {
            let mut stage = std::mem::take(&mut self.memory.past[first + s]);
            stage.t = t + self.tableau.c[s] * h;
            let [k, y, x] = &mut stage.motion;
            k.copy_from_slice(&self.memory.k[s * n..(s + 1) * n]);
            self.put_stage(s, h, [q, v], [x, y]);
            self.linear(stage.motion.each_ref().map(Vec::as_slice), &mut stage.rest);
            self.memory.past[first + s] = stage;
        }
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
        let mut failed = Err(Failed::TooLong);
        // What is known serves as long as it leads to the end of a step; then the matrices of this place, then differences.
        let stale = matches!(self.known, Known::Nothing | Known::Slow);
        for (attempt, from) in [self.known, Known::Matrices, Known::Differences].into_iter().enumerate() {
            match from {
                _ if attempt == 0 && stale => continue,
                _ if attempt == 0 => {}
                Known::Matrices if self.asks => continue,
                Known::Matrices => {
                    system.matrices(t, q, v, &mut self.by).map_err(Failed::Refused)?;
                    self.known = Known::Matrices;
                    self.renewed();
                }
                _ => self.differentiate(system, t, q, v)?,
            }
            self.factor(h);
            self.guess(system, t, h, q, v)?;
            failed = self.correct(system, t, h, q, v, scale, tolerance);
            if !matches!(failed, Err(Failed::TooLong)) {
                self.asks |= attempt == 2 && failed.is_ok();
                break;
            }
            self.restart();
        }
        failed?;
        self.remember(t, h, q, v);
        let (n, b, A, k) = (self.n, self.tableau.b, &self.tableau.A, &self.memory.k);
        // b^T A: the double integral.
        let twice: [f64; 3] = std::array::from_fn(|r| (0..3).map(|s| b[s] * A[s][r]).sum());
        for i in 0..n {
            let sum = |w: &[f64; 3]| w[0] * k[i] + w[1] * k[n + i] + w[2] * k[2 * n + i];
            q[i] += h * v[i] + h * h * sum(&twice);
            v[i] += h * sum(&b);
        }
        Ok(())
    }

    /// Weights of the stages in the integral over a step.
    pub fn weights(&self) -> [f64; 3] {
        self.tableau.b
    }

    /// A stage of the last step, from where it began: the fraction of the step, positions, rates and accelerations.
    pub fn stage(&self, s: usize, h: f64, q: &[f64], v: &[f64]) -> (f64, [Vec<f64>; 3]) {
        let n = self.n;
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        self.put_stage(s, h, [q, v], [&mut x, &mut y]);
        (self.tableau.c[s], [x, y, self.memory.k[s * n..(s + 1) * n].to_vec()])
    }

    /// Positions and rates of a stage.
    fn put_stage(&self, s: usize, h: f64, [q, v]: [&[f64]; 2], [x, y]: [&mut [f64]; 2]) {
        let (n, A, k) = (self.n, &self.tableau.A, &self.memory.k);
        let twice: [f64; 3] = std::array::from_fn(|r| (0..3).map(|m| A[s][m] * A[m][r]).sum());
        let along = h * self.tableau.c[s];
        for i in 0..n {
            let sum = |w: &[f64; 3]| w[0] * k[i] + w[1] * k[n + i] + w[2] * k[2 * n + i];
            x[i] = q[i] + along * v[i] + h * h * sum(&twice);
            y[i] = v[i] + h * sum(&A[s]);
        }
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
        let n = self.n;
        let mut before = f64::INFINITY;
        for round in 0..MOST_CORRECTIONS {
            let [mut x, mut y, mut f] = std::mem::take(&mut self.at);
            let mut asked = Ok(());
            for s in 0..3 {
                self.put_stage(s, h, [q, v], [&mut x, &mut y]);
                self.evaluations += 1;
                let motion = [&x[..], &y, &self.memory.k[s * n..(s + 1) * n]];
                asked = asked.and_then(|()| system.unbalanced(t + self.tableau.c[s] * h, motion, &mut f));
                self.scratch[s * n..(s + 1) * n].iter_mut().zip(&f).for_each(|(out, f)| *out = -f);
            }
            self.at = [x, y, f];
            asked.map_err(Failed::Refused)?;
            self.correction();
            let mut size: f64 = 0.0;
            for s in 0..3 {
                for (i, scale) in scale.iter().enumerate() {
                    let d = self.scratch[s * n + i];
                    self.memory.k[s * n + i] += d;
                    // What the correction moves in this step.
                    size = size.max(h * h * d.abs() / scale);
                }
            }
            if !size.is_finite() {
                return Err(Failed::TooLong);
            }
            let rate = size / before;
            if round > 0 {
                self.rate = rate;
            }
            // What is left after this correction, by how corrections shrink here or shrank a step before.
            let left = if self.rate < 1.0 { size * self.rate / (1.0 - self.rate) } else { size };
            if size.min(left) < FOUND * tolerance {
                if round == 0 {
                    // Nothing was learnt; where the derivatives come from falls behind.
                    self.rate = (2.0 * self.rate).min(1.0);
                }
                if round > if self.asks { SLOW_AND_DEAR } else { SLOW } {
                    self.known = Known::Slow;
                }
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

/// The stages seen along the eigenvectors of their matrix: a real one, and a complex pair of which one half is kept.
struct StageModes {
    real: f64,
    pair: Complex<f64>,
    /// From stages to modes and back; the pair is its real and imaginary part.
    into: [[f64; 3]; 3],
    back: [[f64; 3]; 3],
}

impl StageModes {
    fn new(A: &[[f64; 3]; 3]) -> Self {
        let trace = A[0][0] + A[1][1] + A[2][2];
        let minor = |i: usize, j: usize| A[i][i] * A[j][j] - A[i][j] * A[j][i];
        let minors = minor(0, 1) + minor(0, 2) + minor(1, 2);
        let determinant = crate::spatial::Mat3::from_fn(|i, j| A[i][j]).determinant();
        // One real eigenvalue, by Newton's method from the mean of all.
        let mut x = trace / 3.0;
        for _ in 0..60 {
            let f = ((x - trace) * x + minors) * x - determinant;
            x -= f / ((3.0 * x - 2.0 * trace) * x + minors);
        }
        let (half, product) = (0.5 * (trace - x), determinant / x);
        let pair = Complex::new(half, (product - half * half).sqrt());
        let null = |mu: Complex<f64>| {
            let row = |i: usize| -> [Complex<f64>; 3] {
                std::array::from_fn(|j| Complex::new(A[i][j], 0.0) - if i == j { mu } else { Complex::default() })
            };
            let (a, b) = (row(0), row(1));
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let (own, other) = (null(Complex::new(x, 0.0)), null(pair));
        // Sum of a mode and its conjugate: twice the real part of (re + i im) (v).
        let back: [[f64; 3]; 3] = std::array::from_fn(|s| [own[s].re, 2.0 * other[s].re, -2.0 * other[s].im]);
        let T = crate::spatial::Mat3::from_fn(|i, j| back[i][j]);
        let into = T.try_inverse().unwrap_or_else(crate::spatial::Mat3::identity);
        Self { real: x, pair, into: std::array::from_fn(|i| std::array::from_fn(|j| into[(i, j)])), back }
    }
}

/// LU with rows exchanged for the largest pivot.
#[derive(Default)]
struct Factors<F> {
    n: usize,
    a: Vec<F>,
    pivots: Vec<usize>,
}

/// A number that a matrix can be factored in.
trait Pivoted:
    Copy
    + Default
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
    fn size(self) -> f64;
}

impl Pivoted for f64 {
    fn size(self) -> f64 {
        self.abs()
    }
}

impl Pivoted for Complex<f64> {
    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
}

impl<F: Pivoted> Factors<F> {
    fn set(&mut self, n: usize, entries: impl Iterator<Item = F>) {
        self.n = n;
        self.a.clear();
        self.a.extend(entries);
        self.pivots.clear();
        self.pivots.extend(0..n);
        let a = &mut self.a;
        for j in 0..n {
            let best = (j..n).max_by(|x, y| a[x * n + j].size().total_cmp(&a[y * n + j].size())).unwrap_or(j);
            if best != j {
                (0..n).for_each(|k| a.swap(j * n + k, best * n + k));
                self.pivots.swap(j, best);
            }
            let pivot = a[j * n + j];
            for i in j + 1..n {
                let (upper, lower) = a.split_at_mut(i * n);
                let (row, done) = (&mut lower[..n], &upper[j * n..(j + 1) * n]);
                let factor = row[j] / pivot;
                row[j] = factor;
                for (x, y) in row[j + 1..].iter_mut().zip(&done[j + 1..]) {
                    *x = *x - factor * *y;
                }
            }
        }
    }

    fn solve(&self, b: &mut [F]) {
        let (n, a) = (self.n, &self.a);
        let given: Vec<F> = self.pivots.iter().map(|p| b[*p]).collect();
        b.copy_from_slice(&given);
        let dot = |a: &[F], b: &[F]| a.iter().zip(b).fold(F::default(), |sum, (x, y)| sum + *x * *y);
        for i in 0..n {
            b[i] = b[i] - dot(&a[i * n..i * n + i], &b[..i]);
        }
        for i in (0..n).rev() {
            b[i] = (b[i] - dot(&a[i * n + i + 1..(i + 1) * n], &b[i + 1..])) / a[i * n + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_of_the_stages_take_their_matrix_apart() {
        for stages in [Stages::Gauss, Stages::Radau] {
            let A = stages.tableau().A;
            let m = StageModes::new(&A);
            assert!(m.pair.im > 0.1 && m.real > 0.1);
            for (s, row) in A.iter().enumerate() {
                for (r, wanted) in row.iter().enumerate() {
                    // A mode, then the real and imaginary part of the pair, multiplied by their eigenvalues.
                    let w = m.into.map(|row| row[r]);
                    let z = m.pair * Complex::new(w[1], w[2]);
                    let made = m.back[s][0] * m.real * w[0] + m.back[s][1] * z.re + m.back[s][2] * z.im;
                    assert!((made - wanted).abs() < 1e-14, "{stages:?} {s} {r}: {made} {wanted}");
                }
            }
        }
    }
}
