//! Curves of fifth degree through samples: value, rate and acceleration at every sample, continuous in between.

use nalgebra::{Matrix2, Vector2};

/// Value, rate and acceleration of one coordinate.
pub type Jet = [f64; 3];

/// Polynomials of fifth degree, one per interval and coordinate, each given by the jets at its two ends.
#[derive(Clone, Debug)]
pub struct Spline {
    times: Vec<f64>,
    width: usize,
    /// Sample after sample, `width` jets each.
    jets: Vec<Jet>,
}

/// Samples of one coordinate: what a file does not give is found by the spline.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Values.
    pub values: &'a [f64],
    /// Rates, if given.
    pub rates: Option<&'a [f64]>,
    /// Accelerations, if given beside the rates.
    pub accelerations: Option<&'a [f64]>,
}

impl Spline {
    /// Through the samples of all coordinates at rising times. Where only values are given the curve has four continuous
    /// derivatives, with rates too it has three, with accelerations too it has two.
    ///
    /// # Panics
    /// When a list is not as long as that of the times, or the times do not rise.
    pub fn through(times: Vec<f64>, coordinates: &[Samples<'_>]) -> Self {
        assert!(times.windows(2).all(|w| w[0] < w[1]), "times rise");
        let width = coordinates.len();
        let mut jets = vec![[0.0; 3]; times.len() * width];
        for (k, samples) in coordinates.iter().enumerate() {
            for (i, jet) in samples.jets(&times).into_iter().enumerate() {
                jets[i * width + k] = jet;
            }
        }
        Self { times, width, jets }
    }

    /// Through values, one list per time, from rest to rest, with four continuous derivatives.
    ///
    /// # Panics
    /// When lists differ in length, or the times do not rise.
    pub fn from_rest_to_rest(times: Vec<f64>, values: &[Vec<f64>]) -> Self {
        assert!(times.windows(2).all(|w| w[0] < w[1]), "times rise");
        let width = values[0].len();
        let mut jets = vec![[0.0; 3]; times.len() * width];
        for k in 0..width {
            let column: Vec<f64> = values.iter().map(|row| row[k]).collect();
            let mut own: Vec<Jet> = column.iter().map(|x| [*x, 0.0, 0.0]).collect();
            Samples { values: &column, rates: None, accelerations: None }.join(&times, &mut own);
            own.into_iter().enumerate().for_each(|(i, jet)| jets[i * width + k] = jet);
        }
        Self { times, width, jets }
    }

    /// The curve run through in another time: `x(t / factor)`.
    pub fn slowed(&self, factor: f64) -> Self {
        let slower = |[x, v, a]: &Jet| [*x, v / factor, a / (factor * factor)];
        let times = self.times.iter().map(|t| t * factor).collect();
        Self { times, width: self.width, jets: self.jets.iter().map(slower).collect() }
    }

    /// All coordinates at a time with their jerks; where these jump, the one after.
    pub fn jerk_at(&self, t: f64, out: &mut [super::Jerky]) {
        let mut jets = vec![[0.0; 3]; self.width];
        self.at(t, &mut jets);
        let next = self.times.partition_point(|s| *s <= t);
        let rests = next == 0 || next == self.times.len();
        let i = next.saturating_sub(1);
        for (k, (out, [x, v, a])) in out.iter_mut().zip(jets).enumerate() {
            let h = if rests { 0.0 } else { self.times[i + 1] - self.times[i] };
            let ends = |i: usize| self.jets[i * self.width + k];
            let jerk = if rests { 0.0 } else { third(ends(i), ends(i + 1), h, t - self.times[i]) };
            *out = [x, v, a, jerk];
        }
    }

    /// First and last time.
    pub fn span(&self) -> [f64; 2] {
        [self.times[0], self.times[self.times.len() - 1]]
    }

    /// The times of the samples.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// All coordinates at a time; before the first and after the last sample they rest there.
    pub fn at(&self, t: f64, out: &mut [Jet]) {
        let next = self.times.partition_point(|s| *s <= t);
        let rests = next == 0 || next == self.times.len();
        let i = next.saturating_sub(1);
        for (k, jet) in out.iter_mut().enumerate().take(self.width) {
            let start = self.jets[i * self.width + k];
            *jet = if !rests {
                between(
                    start,
                    self.jets[(i + 1) * self.width + k],
                    self.times[i + 1] - self.times[i],
                    t - self.times[i],
                )
            } else if t == self.times[i] {
                start
            } else {
                [start[0], 0.0, 0.0]
            };
        }
    }
}

/// The polynomial of fifth degree from one jet to another, `h` later, at the time `s` after the first.
fn between(first @ [x0, v0, a0]: Jet, last: Jet, h: f64, s: f64) -> Jet {
    let [c3, c4, c5] = upper(first, last, h);
    [
        x0 + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5)))),
        v0 + s * (a0 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
        a0 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
    ]
}

/// The third derivative of that polynomial.
fn third(first: Jet, last: Jet, h: f64, s: f64) -> f64 {
    let [c3, c4, c5] = upper(first, last, h);
    6.0 * c3 + s * (24.0 * c4 + s * 60.0 * c5)
}

/// Its coefficients from the third power on.
fn upper([x0, v0, a0]: Jet, [x1, v1, a1]: Jet, h: f64) -> [f64; 3] {
    let d = x1 - x0;
    let c3 = (10.0 * d - h * (6.0 * v0 + 4.0 * v1) - h * h * (1.5 * a0 - 0.5 * a1)) / h.powi(3);
    let c4 = (-15.0 * d + h * (8.0 * v0 + 7.0 * v1) + h * h * (1.5 * a0 - a1)) / h.powi(4);
    let c5 = (6.0 * d - 3.0 * h * (v0 + v1) - 0.5 * h * h * (a0 - a1)) / h.powi(5);
    [c3, c4, c5]
}

impl Samples<'_> {
    fn jets(&self, times: &[f64]) -> Vec<Jet> {
        let n = times.len();
        assert_eq!(self.values.len(), n, "one value per time");
        if n == 1 {
            return vec![[self.values[0], self.rates.map_or(0.0, |r| r[0]), self.accelerations.map_or(0.0, |a| a[0])]];
        }
        if let (Some(rates), Some(accelerations)) = (self.rates, self.accelerations) {
            return (0..n).map(|i| [self.values[i], rates[i], accelerations[i]]).collect();
        }
        let ends = [self.end(times, false), self.end(times, true)];
        let mut jets: Vec<Jet> = self.values.iter().map(|x| [*x, 0.0, 0.0]).collect();
        (jets[0], jets[n - 1]) = (ends[0], ends[1]);
        self.join(times, &mut jets);
        jets
    }

    /// Jet at an end, from the polynomial through the six samples nearest to it.
    fn end(&self, times: &[f64], last: bool) -> Jet {
        let n = times.len().min(6);
        let from = if last { times.len() - n } else { 0 };
        let at = if last { times.len() - 1 } else { 0 };
        let weights = derivative_weights(times[at], &times[from..from + n]);
        let sum =
            |list: &[f64], order: usize| list[from..from + n].iter().zip(&weights).map(|(x, w)| x * w[order]).sum();
        match self.rates {
            Some(rates) => [self.values[at], rates[at], sum(rates, 1)],
            None => [self.values[at], sum(self.values, 1), sum(self.values, 2)],
        }
    }

    /// Rates and accelerations between the ends: third and fourth derivatives are continuous at every sample, or the third
    /// alone where rates are given. Block elimination from the first sample to the last.
    fn join(&self, times: &[f64], jets: &mut [Jet]) {
        let n = times.len();
        let pair = |jet: Jet| Vector2::new(jet[1], jet[2]);
        // u_i = P_i - Q_i u_{i+1}
        let mut chain: Vec<(Vector2<f64>, Matrix2<f64>)> = vec![(pair(jets[0]), Matrix2::zeros())];
        for i in 1..n - 1 {
            let (l, r) = (times[i] - times[i - 1], times[i + 1] - times[i]);
            let (dl, dr) = (jets[i][0] - jets[i - 1][0], jets[i + 1][0] - jets[i][0]);
            let mut A = Matrix2::new(-24.0 / (l * l), -3.0 / l, -168.0 / l.powi(3), -24.0 / (l * l));
            let mut B = Matrix2::new(
                36.0 / (r * r) - 36.0 / (l * l),
                9.0 / l + 9.0 / r,
                -192.0 * (l.powi(-3) + r.powi(-3)),
                36.0 / (l * l) - 36.0 / (r * r),
            );
            let mut C = Matrix2::new(24.0 / (r * r), -3.0 / r, -168.0 / r.powi(3), 24.0 / (r * r));
            let mut f =
                Vector2::new(60.0 * (dr / r.powi(3) - dl / l.powi(3)), -360.0 * (dr / r.powi(4) + dl / l.powi(4)));
            if let Some(rates) = self.rates {
                A.set_row(1, &nalgebra::RowVector2::zeros());
                B.set_row(1, &nalgebra::RowVector2::new(1.0, 0.0));
                C.set_row(1, &nalgebra::RowVector2::zeros());
                f[1] = rates[i];
            }
            let (P, Q) = chain[i - 1];
            let pivot = (B - A * Q).try_inverse().unwrap_or_else(Matrix2::zeros);
            chain.push((pivot * (f - A * P), pivot * C));
        }
        for i in (1..n - 1).rev() {
            let u = chain[i].0 - chain[i].1 * pair(jets[i + 1]);
            (jets[i][1], jets[i][2]) = (u[0], u[1]);
        }
    }
}

/// Weights of values at `xs` for the value, first and second derivative at `z` of the polynomial through them (Fornberg,
/// Mathematics of Computation 51, 1988).
fn derivative_weights(z: f64, xs: &[f64]) -> Vec<[f64; 3]> {
    let mut weights = vec![[0.0; 3]; xs.len()];
    weights[0][0] = 1.0;
    let mut before = 1.0;
    for j in 1..xs.len() {
        let mut product = 1.0;
        let newest = weights[j - 1];
        for i in 0..j {
            let gap = xs[j] - xs[i];
            product *= gap;
            let old = weights[i];
            weights[i] =
                std::array::from_fn(|k| ((xs[j] - z) * old[k] - if k > 0 { k as f64 * old[k - 1] } else { 0.0 }) / gap);
        }
        weights[j] = std::array::from_fn(|k| {
            let lower = if k > 0 { k as f64 * newest[k - 1] } else { 0.0 };
            before / product * (lower - (xs[j - 1] - z) * newest[k])
        });
        before = product;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: [f64; 9] = [0.0, 0.1, 0.35, 0.4, 0.7, 0.95, 1.1, 1.6, 1.7];

    fn quintic(t: f64) -> Jet {
        let c = [0.3, -1.0, 0.5, 2.0, -1.5, 0.4];
        let sum = |f: &dyn Fn(i32) -> f64| (0..).zip(c).map(|(k, c)| c * f(k)).sum::<f64>();
        let power = |k: i32| if k < 0 { 0.0 } else { t.powi(k) };
        [sum(&|k| power(k)), sum(&|k| f64::from(k) * power(k - 1)), sum(&|k| f64::from(k * (k - 1)) * power(k - 2))]
    }

    fn splines(of: impl Fn(f64) -> Jet, times: &[f64]) -> [Spline; 3] {
        let list = |k: usize| times.iter().map(|t| of(*t)[k]).collect::<Vec<f64>>();
        let (values, rates, accelerations) = (list(0), list(1), list(2));
        [(None, None), (Some(&rates), None), (Some(&rates), Some(&accelerations))].map(|(rates, accelerations)| {
            let samples = Samples {
                values: &values,
                rates: rates.map(Vec::as_slice),
                accelerations: accelerations.map(Vec::as_slice),
            };
            Spline::through(times.to_vec(), &[samples])
        })
    }

    #[test]
    fn polynomials_of_fifth_degree_are_met_exactly() {
        for spline in splines(quintic, &TIMES) {
            for k in 0..=170 {
                let t = f64::from(k) * 0.01;
                let mut found = [[0.0; 3]];
                spline.at(t, &mut found);
                for (a, b) in found[0].iter().zip(quintic(t)) {
                    assert!((a - b).abs() < 1e-10, "{t}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_sine_is_met_to_the_sixth_power_of_the_step() {
        let sine = |t: f64| [t.sin(), t.cos(), -t.sin()];
        let worst = |n: i32, which: usize| {
            let times: Vec<f64> = (0..=n).map(|i| 6.0 * f64::from(i) / f64::from(n)).collect();
            let spline = &splines(sine, &times)[which];
            let at = |t: f64| {
                let mut found = [[0.0; 3]];
                spline.at(t, &mut found);
                (found[0][0] - t.sin()).abs()
            };
            (0..600).map(|k| at(0.01 * f64::from(k))).fold(0.0, f64::max)
        };
        for which in 0..3 {
            let order = (worst(20, which) / worst(40, which)).log2();
            assert!(order > 5.5, "{which}: order {order}");
        }
    }

    #[test]
    fn it_rests_outside_and_takes_few_samples() {
        let one = Samples { values: &[2.0], rates: None, accelerations: None };
        let two = Samples { values: &[2.0, 4.0], rates: None, accelerations: None };
        let mut jet = [[0.0; 3]];
        Spline::through(vec![1.0], &[one]).at(5.0, &mut jet);
        assert_eq!(jet, [[2.0, 0.0, 0.0]]);
        let line = Spline::through(vec![1.0, 2.0], &[two]);
        line.at(1.5, &mut jet);
        assert!((jet[0][0] - 3.0).abs() < 1e-15 && (jet[0][1] - 2.0).abs() < 1e-14 && jet[0][2].abs() < 1e-12);
        line.at(2.5, &mut jet);
        assert_eq!(jet, [[4.0, 0.0, 0.0]]);
    }
}
