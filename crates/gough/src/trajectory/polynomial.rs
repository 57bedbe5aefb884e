//! Polynomials over time from conditions of any order at any instants, and curves made of several of them, appendix D.

use crate::linalg::small::{Dense, PivotOrder};

/// Value, rate, acceleration and jerk of one coordinate.
pub type Jerky = [f64; 4];

/// One thing that a polynomial must meet: its derivative of this order has this value at this time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Condition {
    /// The time.
    pub t: f64,
    /// 0: value, 1: rate, 2: acceleration, 3: jerk, and so on.
    pub order: usize,
    /// The value.
    pub value: f64,
}

impl Condition {
    /// Value, rate and acceleration at one time, as three conditions.
    pub fn jet(t: f64, [x, v, a]: super::Jet) -> [Self; 3] {
        [(0, x), (1, v), (2, a)].map(|(order, value)| Self { t, order, value })
    }
}

/// `Σ c_k (t - start)^k`.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Polynomial {
    /// The time at which powers are counted from.
    pub start: f64,
    /// Coefficients, lowest power first.
    pub coefficients: Vec<f64>,
}

impl Polynomial {
    /// The polynomial of lowest degree that meets as many conditions as it has coefficients, in powers of the time itself.
    /// `None` when conditions contradict or repeat each other, when one is not finite, or when there are more than 60.
    ///
    /// ```
    /// use gough::trajectory::{Condition, Polynomial};
    /// let at = |t, order, value| Condition { t, order, value };
    /// let cubic = Polynomial::through(&[at(0.0, 0, 0.0), at(0.0, 1, 0.0), at(2.0, 0, 1.0), at(2.0, 1, 0.0)]).unwrap();
    /// assert!((cubic.at(1.0)[0] - 0.5).abs() < 1e-15);
    /// ```
    pub fn through(conditions: &[Condition]) -> Option<Self> {
        let n = conditions.len();
        let finite = |c: &Condition| c.t.is_finite() && c.value.is_finite();
        if n == 0 || n > 60 || !conditions.iter().all(finite) {
            return None;
        }
        // Times as shares of the largest: all columns are then of one size.
        let span = conditions.iter().map(|c| c.t.abs()).fold(0.0, f64::max);
        let span = if span > 0.0 { span } else { 1.0 };
        let row = |c: &Condition, k: usize| falling(k, c.order) * power(c.t / span, k, c.order);
        let size = |c: &Condition| (0..n).map(|k| row(c, k).abs()).fold(0.0, f64::max);
        let sizes: Vec<f64> = conditions.iter().map(size).collect();
        let mut A = Dense::zeros(n, n);
        for (i, c) in conditions.iter().enumerate().filter(|(i, _)| sizes[*i] > 0.0) {
            (0..n).for_each(|k| *A.at_mut(i, k) = row(c, k) / sizes[i]);
        }
        let goal = |(c, size): (&Condition, &f64)| {
            c.value * span.powi(i32::try_from(c.order).unwrap_or(i32::MAX)) / size.max(f64::MIN_POSITIVE)
        };
        let goals: Vec<f64> = conditions.iter().zip(&sizes).map(goal).collect();
        let scaled = solve(&A, &goals)?;
        let back = |(k, c): (usize, f64)| c / span.powi(i32::try_from(k).unwrap_or(i32::MAX));
        let coefficients: Vec<f64> = scaled.into_iter().enumerate().map(back).collect();
        coefficients.iter().all(|c| c.is_finite()).then_some(Self { start: 0.0, coefficients })
    }

    /// Value, rate, acceleration and jerk at a time. A rate that is nothing but the rounding of its terms is zero: friction
    /// depends on its sign.
    pub fn at(&self, t: f64) -> Jerky {
        let s = t - self.start;
        let mut jet = [0.0; 4];
        let mut terms = [0.0; 2];
        // Horner: derivatives over their factorials follow each other.
        for c in self.coefficients.iter().rev() {
            for k in (1..4).rev() {
                jet[k] = jet[k] * s + jet[k - 1];
            }
            jet[0] = jet[0] * s + c;
            terms = [terms[0] * s.abs() + c.abs(), terms[1] * s.abs() + terms[0]];
        }
        let rate = if jet[1].abs() > 64.0 * f64::EPSILON * terms[1] { jet[1] } else { 0.0 };
        [jet[0], rate, 2.0 * jet[2], 6.0 * jet[3]]
    }

    /// The curve run through in another time: `x(t / factor)`.
    pub fn slowed(&self, factor: f64) -> Self {
        let mut scale = 1.0;
        let slower = |c: &f64| {
            let slower = c * scale;
            scale /= factor;
            slower
        };
        Self { start: self.start * factor, coefficients: self.coefficients.iter().map(slower).collect() }
    }
}

/// `k (k - 1) .. (k - order + 1)`.
fn falling(k: usize, order: usize) -> f64 {
    (0..order).map(|i| k as f64 - i as f64).product()
}

/// `x^(k - order)`, zero where differentiation has ended the power.
fn power(x: f64, k: usize, order: usize) -> f64 {
    if k < order { 0.0 } else { x.powi(i32::try_from(k - order).unwrap_or(i32::MAX)) }
}

/// The solution of a square system, refined once; `None` where its rank is not full.
fn solve(A: &Dense<f64>, b: &[f64]) -> Option<Vec<f64>> {
    let order = PivotOrder::of(A, A.cols, 1e-14);
    if order.cols.len() < A.cols {
        return None;
    }
    let column = |x: &[f64]| Dense { rows: x.len(), cols: 1, data: x.to_vec() };
    let mut x = A.inverse_times(&order, &column(b)).data;
    let rest = |i: usize| (0..A.cols).fold(b[i], |r, k| (-A.at(i, k)).mul_add(x[k], r));
    let rest: Vec<f64> = (0..A.rows).map(rest).collect();
    let step = A.inverse_times(&order, &column(&rest)).data;
    x.iter_mut().zip(step).for_each(|(x, d)| *x += d);
    Some(x)
}

/// Polynomials one after the other.
#[derive(Clone, PartialEq, Debug)]
pub struct Piecewise {
    /// In the order of time; each holds from its first time to that of the next.
    pieces: Vec<(f64, Polynomial)>,
    end: f64,
}

impl Piecewise {
    /// From first times and polynomials, and the time of the end. `None` without a piece, or when times do not rise.
    pub fn new(pieces: Vec<(f64, Polynomial)>, end: f64) -> Option<Self> {
        let rise = pieces.windows(2).all(|w| w[0].0 < w[1].0) && pieces.last().is_some_and(|(t, _)| *t < end);
        rise.then_some(Self { pieces, end })
    }

    /// First and last time.
    pub fn span(&self) -> [f64; 2] {
        [self.pieces[0].0, self.end]
    }

    /// First times and polynomials.
    pub fn pieces(&self) -> &[(f64, Polynomial)] {
        &self.pieces
    }

    /// Value, rate, acceleration and jerk at a time; it rests before the start and after the end.
    pub fn at(&self, t: f64) -> Jerky {
        let [start, end] = self.span();
        let next = self.pieces.partition_point(|(from, _)| *from <= t);
        let jet = self.pieces[next.saturating_sub(1)].1.at(t.clamp(start, end));
        if (start..=end).contains(&t) { jet } else { [jet[0], 0.0, 0.0, 0.0] }
    }

    /// The curve run through in another time: `x(t / factor)`.
    pub fn slowed(&self, factor: f64) -> Self {
        let slower = |(t, p): &(f64, Polynomial)| (t * factor, p.slowed(factor));
        Self { pieces: self.pieces.iter().map(slower).collect(), end: self.end * factor }
    }
}
