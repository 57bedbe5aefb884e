//! A search without derivatives: the simplex of Nelder and Mead with the parameters of Gao and Han for many variables
//! (Computational Optimization and Applications 51, 2012), begun again at the best point with another simplex.
//!
//! It is our own: the plans that it looks at may refuse, which counts as infinitely bad, and evaluations are few and costly, so
//! that a hundred lines do what a crate for optimisation would be compiled for.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// What a plan is chosen for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Smallest peak of the efforts.
    Peak,
    /// Smallest integral of squared efforts.
    Energy,
    /// Shortest time within the limits of the file.
    Time,
}

/// Hears how many motions were looked at and what the best is worth, if one was found; whether to go on.
pub type Progress<'a> = dyn FnMut(usize, Option<f64>) -> bool + 'a;

/// A point near zero at which `f` is small; `f` may be infinite. At most so many values are asked for, and `goes_on` hears of
/// the best after each.
pub fn minimise(
    f: &mut dyn FnMut(&[f64]) -> f64,
    size: usize,
    seed: u64,
    most: usize,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Vec<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut best = (f(&vec![0.0; size]), vec![0.0; size]);
    let mut left = most;
    let mut width = 0.5;
    while left > size + 1 {
        let before = best.0;
        let mut simplex = Simplex::around(&best, width, &mut random);
        let ended = simplex.descend(f, &mut left, goes_on);
        best = simplex.best().clone();
        if ended {
            break;
        }
        // Without gain the next simplex is smaller.
        width *= if best.0 < 0.99 * before { 1.0 } else { 0.4 };
        if width < 1e-3 {
            break;
        }
    }
    best.1
}

/// Points with their values, best first.
struct Simplex(Vec<(f64, Vec<f64>)>);

impl Simplex {
    /// A point and one more along each axis, values not yet known.
    fn around(best: &(f64, Vec<f64>), width: f64, random: &mut Pcg64Mcg) -> Self {
        let corner = |k: usize| {
            let mut x = best.1.clone();
            x[k] += width * (2.0 * random.random::<f64>() - 1.0);
            (f64::NAN, x)
        };
        let corners: Vec<_> = (0..best.1.len()).map(corner).collect();
        Self(std::iter::once(best.clone()).chain(corners).collect())
    }

    fn best(&self) -> &(f64, Vec<f64>) {
        &self.0[0]
    }

    fn sort(&mut self) {
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// Until it is small or nothing is left; whether it was told to end.
    fn descend(
        &mut self,
        f: &mut dyn FnMut(&[f64]) -> f64,
        left: &mut usize,
        goes_on: &mut dyn FnMut(f64) -> bool,
    ) -> bool {
        let n = self.0[0].1.len() as f64;
        let (expand, contract, shrink) = (1.0 + 2.0 / n, 0.75 - 0.5 / n, 1.0 - 1.0 / n.max(2.0));
        let ended = std::cell::Cell::new(false);
        let mut lowest = self.0[0].0;
        let mut value = |x: &[f64], left: &mut usize| {
            *left = left.saturating_sub(1);
            let y = f(x);
            lowest = lowest.min(if y.is_nan() { f64::INFINITY } else { y });
            ended.set(ended.get() | !goes_on(lowest));
            if y.is_nan() { f64::INFINITY } else { y }
        };
        for point in &mut self.0[1..] {
            point.0 = value(&point.1, left);
        }
        loop {
            self.sort();
            let worst = self.0.len() - 1;
            let spread = self.0[worst].0 - self.0[0].0;
            if *left == 0 || ended.get() || spread <= 1e-6 * self.0[0].0.abs() {
                return ended.get();
            }
            let centre: Vec<f64> = (0..self.0[0].1.len())
                .map(|j| self.0[..worst].iter().map(|p| p.1[j]).sum::<f64>() / worst as f64)
                .collect();
            let along =
                |s: f64, from: &[f64]| centre.iter().zip(from).map(|(c, x)| c + s * (c - x)).collect::<Vec<f64>>();
            let reflected = along(1.0, &self.0[worst].1);
            let at = value(&reflected, left);
            let next = if at < self.0[0].0 {
                let further = along(expand, &self.0[worst].1);
                let there = value(&further, left);
                if there < at { (there, further) } else { (at, reflected) }
            } else if at < self.0[worst - 1].0 {
                (at, reflected)
            } else {
                let inside = at >= self.0[worst].0;
                let nearer = along(if inside { -contract } else { contract }, &self.0[worst].1);
                (value(&nearer, left), nearer)
            };
            if next.0 < self.0[worst].0 {
                self.0[worst] = next;
                continue;
            }
            let best = self.0[0].1.clone();
            for point in &mut self.0[1..] {
                point.1.iter_mut().zip(&best).for_each(|(x, b)| *x = b + shrink * (*x - b));
                point.0 = value(&point.1, left);
            }
        }
    }
}
