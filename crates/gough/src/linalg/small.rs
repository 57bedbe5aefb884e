//! Elimination in any scalar, in a pivot order found once on `f64`.

use crate::scalar::Real;

/// A dense matrix in any scalar, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct Dense<S> {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Entries, row by row.
    pub data: Vec<S>,
}

impl<S: Real> Dense<S> {
    /// All zero.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![S::zero(); rows * cols] }
    }

    /// Entry.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> S {
        self.data[i * self.cols + j]
    }

    /// Entry, to change.
    #[inline]
    pub fn at_mut(&mut self, i: usize, j: usize) -> &mut S {
        &mut self.data[i * self.cols + j]
    }

    /// The product `self · right`, into `out`.
    pub fn times_in(&self, right: &Self, out: &mut Self) {
        for i in 0..self.rows {
            for j in 0..right.cols {
                *out.at_mut(i, j) = (0..self.cols).fold(S::zero(), |sum, k| sum + self.at(i, k) * right.at(k, j));
            }
        }
    }

    /// The product `self · right`.
    pub fn times(&self, right: &Self) -> Self {
        let mut out = Self::zeros(self.rows, right.cols);
        self.times_in(right, &mut out);
        out
    }

    /// The unit matrix.
    pub fn identity(n: usize) -> Self {
        let mut out = Self::zeros(n, n);
        (0..n).for_each(|i| *out.at_mut(i, i) = S::one());
        out
    }

    /// The difference.
    pub fn minus(mut self, other: &Self) -> Self {
        self.data.iter_mut().zip(&other.data).for_each(|(x, y)| *x -= *y);
        self
    }

    /// The product with a column.
    pub fn apply(&self, x: &[S]) -> Vec<S> {
        (0..self.rows).map(|i| (0..self.cols).fold(S::zero(), |sum, k| sum + self.at(i, k) * x[k])).collect()
    }

    /// The product with the inverse of a square matrix that is regular.
    pub fn inverse_times(&self, order: &PivotOrder, right: &Self) -> Self {
        let (n, k) = (self.rows, right.cols);
        let mut a = Self::zeros(n, n + k);
        for i in 0..n {
            (0..n).for_each(|j| *a.at_mut(i, j) = self.at(i, j));
            (0..k).for_each(|j| *a.at_mut(i, n + j) = right.at(i, j));
        }
        order.eliminate(&mut a, &mut Vec::with_capacity(n));
        let mut x = Self::zeros(n, k);
        for (&i, &j) in order.rows.iter().zip(&order.cols) {
            (0..k).for_each(|c| *x.at_mut(j, c) = a.at(i, n + c));
        }
        x
    }

    /// Rows for columns.
    pub fn transposed(&self) -> Self {
        let mut out = Self::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            (0..self.cols).for_each(|j| *out.at_mut(j, i) = self.at(i, j));
        }
        out
    }

    /// Every entry multiplied.
    pub fn scaled(mut self, k: S) -> Self {
        self.data.iter_mut().for_each(|x| *x *= k);
        self
    }

    /// Set all entries to zero.
    pub fn clear(&mut self) {
        self.data.fill(S::zero());
    }
}

impl Dense<f64> {
    /// The solution of `self · x = right`; `None` when the matrix is not square and regular.
    pub fn solve(&self, right: &Self) -> Option<Self> {
        let order = PivotOrder::of(self, self.cols, super::RANK_TOLERANCE);
        (self.rows == self.cols && order.cols.len() == self.cols).then(|| self.inverse_times(&order, right))
    }
}

/// Which rows and columns are pivots, in order. Fewer than the columns when the matrix is not of full rank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct PivotOrder {
    pub rows: Vec<usize>,
    pub cols: Vec<usize>,
}

impl PivotOrder {
    /// Down the diagonal: for definite matrices.
    pub fn natural(n: usize) -> Self {
        Self { rows: (0..n).collect(), cols: (0..n).collect() }
    }

    /// Full pivoting over the first `cols` columns of a scaled matrix; a pivot below `tolerance` of the first ends it.
    pub fn of(a: &Dense<f64>, cols: usize, tolerance: f64) -> Self {
        let all: Vec<usize> = (0..cols).collect();
        Self::staged(a, &[&all], tolerance)
    }

    /// Full pivoting over lists of columns of a scaled matrix, one list after the other.
    pub fn staged(a: &Dense<f64>, stages: &[&[usize]], tolerance: f64) -> Self {
        let mut a = a.clone();
        let mut order = Self::default();
        let mut first = 0.0;
        for stage in stages {
            loop {
                let mut best = (0.0, 0, 0);
                for i in (0..a.rows).filter(|i| !order.rows.contains(i)) {
                    for &j in stage.iter().filter(|j| !order.cols.contains(j)) {
                        // Among equals the first counts, so that legs of one make get one order.
                        if a.at(i, j).abs() > best.0 * (1.0 + 1e-9) {
                            best = (a.at(i, j).abs(), i, j);
                        }
                    }
                }
                let (size, i, j) = best;
                first = f64::max(first, size);
                if size <= tolerance * first || size == 0.0 {
                    break;
                }
                order.rows.push(i);
                order.cols.push(j);
                eliminate_column(&mut a, i, j, |r| order.rows.contains(&r));
            }
        }
        order
    }

    /// Solve for the pivot columns: afterwards the matrix has the unit matrix in pivot rows and columns, so that the
    /// other columns of pivot row k say what pivot column k is, and rows that are no pivots have zeros in pivot columns.
    /// Returns the pivots met.
    pub fn eliminate<S: Real>(&self, a: &mut Dense<S>, pivots: &mut Vec<S>) {
        pivots.clear();
        for (&i, &j) in self.rows.iter().zip(&self.cols) {
            let pivot = a.at(i, j);
            pivots.push(pivot);
            let scale = pivot.recip();
            for k in 0..a.cols {
                *a.at_mut(i, k) *= scale;
            }
            *a.at_mut(i, j) = S::one();
            for r in (0..a.rows).filter(|r| *r != i) {
                let factor = a.at(r, j);
                for k in 0..a.cols {
                    let x = a.at(i, k);
                    *a.at_mut(r, k) -= factor * x;
                }
                *a.at_mut(r, j) = S::zero();
            }
        }
    }
}

/// Subtract multiples of row `i` so that column `j` vanishes in rows that are not done.
fn eliminate_column(a: &mut Dense<f64>, i: usize, j: usize, done: impl Fn(usize) -> bool) {
    for r in (0..a.rows).filter(|r| !done(*r)) {
        let factor = a.at(r, j) / a.at(i, j);
        for k in 0..a.cols {
            let x = a.at(i, k);
            *a.at_mut(r, k) -= factor * x;
        }
    }
}

/// Calls `$f::<N>` with the size as a constant, so that its loops unroll; sizes beyond 6 run as they are.
macro_rules! sized {
    ($n:expr, $f:ident($($arg:expr),*)) => {
        match $n {
            1 => $f::<S, 1>($($arg),*, 1),
            2 => $f::<S, 2>($($arg),*, 2),
            3 => $f::<S, 3>($($arg),*, 3),
            4 => $f::<S, 4>($($arg),*, 4),
            5 => $f::<S, 5>($($arg),*, 5),
            6 => $f::<S, 6>($($arg),*, 6),
            n => $f::<S, 0>($($arg),*, n),
        }
    };
}

/// Factor an `n × n` matrix, row by row, in place and in the order it stands: `A = L U`, unit lower triangle, reciprocals of
/// the pivots on the diagonal.
#[inline(always)]
pub fn lu<S: Real>(a: &mut [S], n: usize) {
    sized!(n, lu_of(&mut a[..n * n]));
}

#[inline(always)]
fn lu_of<S: Real, const N: usize>(a: &mut [S], n: usize) {
    let n = if N == 0 { n } else { N };
    for k in 0..n {
        let r = a[k * n + k].recip();
        a[k * n + k] = r;
        for i in k + 1..n {
            let factor = a[i * n + k] * r;
            a[i * n + k] = factor;
            for j in k + 1..n {
                let x = a[k * n + j];
                a[i * n + j] = factor.mul_add(-x, a[i * n + j]);
            }
        }
    }
}

/// Solve `A x = b` with the factors of [`lu`], in place; column by column, since the updates of a column do not wait for each
/// other.
#[inline(always)]
pub fn lu_solve<S: Real>(a: &[S], n: usize, b: &mut [S]) {
    sized!(n, lu_solve_of(&a[..n * n], &mut b[..n]));
}

#[inline(always)]
fn lu_solve_of<S: Real, const N: usize>(a: &[S], b: &mut [S], n: usize) {
    let n = if N == 0 { n } else { N };
    for j in 0..n {
        let x = b[j];
        for i in j + 1..n {
            b[i] = a[i * n + j].mul_add(-x, b[i]);
        }
    }
    for j in (0..n).rev() {
        let x = b[j] * a[j * n + j];
        b[j] = x;
        for i in 0..j {
            b[i] = a[i * n + j].mul_add(-x, b[i]);
        }
    }
}

/// Solve `A X = B` for rows of any width with the factors of [`lu`], in place.
pub fn lu_solve_rows(a: &[f64], n: usize, b: &mut [f64], width: usize) {
    let subtract = |b: &mut [f64], i: usize, j: usize| {
        let factor = a[i * n + j];
        let (low, high) = b.split_at_mut(i.max(j) * width);
        let (lower, upper) = (&mut low[i.min(j) * width..][..width], &mut high[..width]);
        let (to, from) = if i > j { (upper, lower) } else { (lower, upper) };
        to.iter_mut().zip(from).for_each(|(x, y)| *x -= factor * *y);
    };
    for i in 0..n {
        (0..i).for_each(|j| subtract(b, i, j));
    }
    for i in (0..n).rev() {
        (i + 1..n).for_each(|j| subtract(b, i, j));
        let scale = a[i * n + i];
        b[i * width..(i + 1) * width].iter_mut().for_each(|x| *x *= scale);
    }
}

/// Solve `Aᵀ x = b` with the factors of [`lu`], in place.
#[inline(always)]
pub fn lu_solve_transposed<S: Real>(a: &[S], n: usize, b: &mut [S]) {
    sized!(n, lu_solve_transposed_of(&a[..n * n], &mut b[..n]));
}

#[inline(always)]
fn lu_solve_transposed_of<S: Real, const N: usize>(a: &[S], b: &mut [S], n: usize) {
    let n = if N == 0 { n } else { N };
    for j in 0..n {
        let x = b[j] * a[j * n + j];
        b[j] = x;
        for i in j + 1..n {
            b[i] = a[j * n + i].mul_add(-x, b[i]);
        }
    }
    for j in (0..n).rev() {
        let x = b[j];
        for i in 0..j {
            b[i] = a[j * n + i].mul_add(-x, b[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Dual;

    #[test]
    fn factors_solve_both_ways() {
        let a = [4.0, 1.0, -2.0, 1.0, 5.0, 0.5, 2.0, -1.0, 3.0];
        let mut f = a;
        lu(&mut f, 3);
        let x = [0.3, -1.2, 0.7];
        let mut b: Vec<f64> = (0..3).map(|i| (0..3).map(|j| a[3 * i + j] * x[j]).sum()).collect();
        lu_solve(&f, 3, &mut b);
        let mut c: Vec<f64> = (0..3).map(|i| (0..3).map(|j| a[3 * j + i] * x[j]).sum()).collect();
        lu_solve_transposed(&f, 3, &mut c);
        for k in 0..3 {
            assert!((b[k] - x[k]).abs() < 1e-15 && (c[k] - x[k]).abs() < 1e-15);
        }
    }

    fn sample<S: Real>() -> Dense<S> {
        // Columns: two unknowns, then a right-hand side; the third row is the sum of the others.
        let data = [2.0, 1.0, 5.0, 1.0, -1.0, 1.0, 3.0, 0.0, 6.0];
        Dense { rows: 3, cols: 3, data: data.iter().map(|x| S::lit(*x)).collect() }
    }

    #[test]
    fn a_consistent_system_is_solved_and_its_surplus_row_vanishes() {
        let order = PivotOrder::of(&sample::<f64>(), 2, 1e-10);
        assert_eq!(order.rows.len(), 2);
        let mut a = sample::<f64>();
        order.eliminate(&mut a, &mut Vec::new());
        let value = |col: usize| {
            let k = order.cols.iter().position(|c| *c == col).unwrap();
            a.at(order.rows[k], 2)
        };
        assert!((value(0) - 2.0).abs() < 1e-15 && (value(1) - 1.0).abs() < 1e-15);
        let spare = (0..3).find(|r| !order.rows.contains(r)).unwrap();
        assert!(a.at(spare, 2).abs() < 1e-14);
    }

    #[test]
    fn the_same_order_differentiates() {
        let order = PivotOrder::of(&sample::<f64>(), 2, 1e-10);
        let mut a = sample::<Dual>();
        a.data[2].eps = 3.0; // d(rhs of row 1)
        a.data[8].eps = 3.0; // the third row stays the sum
        order.eliminate(&mut a, &mut Vec::new());
        let k = order.cols.iter().position(|c| *c == 0).unwrap();
        assert!((a.at(order.rows[k], 2).eps - 1.0).abs() < 1e-14);
    }
}
