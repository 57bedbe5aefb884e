//! Finite Fourier series of the platform's coordinates, at rest where they begin.

use std::f64::consts::TAU;

/// What all motions of a search have in common.
#[derive(Clone, Debug)]
pub(super) struct SeriesShape {
    /// Lowest and highest value of each coordinate.
    pub region: Vec<[f64; 2]>,
    /// Harmonics of the series.
    pub harmonics: usize,
    /// Period, in seconds.
    pub period: f64,
}

impl SeriesShape {
    /// Coefficients per coordinate: a constant, the cosines, and the sines from the second harmonic on.
    pub fn per_coordinate(&self) -> usize {
        2 * self.harmonics
    }

    /// Coefficients of a motion.
    pub fn size(&self) -> usize {
        self.region.len() * self.per_coordinate()
    }

    /// Middle and half width of a coordinate: one in the units of the coefficients.
    pub fn extent(&self, c: usize) -> (f64, f64) {
        let [low, high] = self.region[c];
        (0.5 * (low + high), 0.5 * (high - low))
    }

    /// The fundamental, in rad/s.
    pub fn frequency(&self) -> f64 {
        TAU / self.period
    }

    /// Value and two derivatives, at a time, of what the coefficients of a coordinate multiply: `1`, `cos kωt / k`, and
    /// `sin kωt / k - sin ωt`, which is at rest at the start.
    pub fn basis(&self, t: f64) -> Vec<[f64; 3]> {
        let w = self.frequency();
        let wave = |k: usize| {
            let w = w * k as f64;
            let (s, c) = (w * t).sin_cos();
            let k = k as f64;
            ([c / k, -w * s / k, -w * w * c / k], [s / k, w * c / k, -w * w * s / k])
        };
        let first = wave(1).1;
        let cosines = (1..=self.harmonics).map(|k| wave(k).0);
        let sines = (2..=self.harmonics).map(|k| std::array::from_fn(|d| wave(k).1[d] - first[d]));
        std::iter::once([1.0, 0.0, 0.0]).chain(cosines).chain(sines).collect()
    }

    /// The coordinates with two derivatives, given the basis at the time.
    pub fn jets(&self, x: &[f64], basis: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let one = |(c, own): (usize, &[f64])| {
            let (middle, half) = self.extent(c);
            let mut jet = [middle, 0.0, 0.0];
            own.iter().zip(basis).for_each(|(u, b)| (0..3).for_each(|d| jet[d] += half * u * b[d]));
            jet
        };
        x.chunks_exact(self.per_coordinate()).enumerate().map(one).collect()
    }

    /// The motion made smaller around its middle.
    pub fn shrunk(&self, x: &[f64], by: f64) -> Vec<f64> {
        let n = self.per_coordinate();
        x.iter().enumerate().map(|(i, u)| if i % n == 0 { *u } else { u * by }).collect()
    }

    /// The middle of a coordinate, and the coefficients of its cosines and sines, harmonic by harmonic.
    pub fn written(&self, x: &[f64], c: usize) -> (f64, Vec<[f64; 2]>) {
        let n = self.harmonics;
        let own = &x[c * self.per_coordinate()..(c + 1) * self.per_coordinate()];
        let (middle, half) = self.extent(c);
        let mut series: Vec<[f64; 2]> = (1..=n).map(|k| [half * own[k] / k as f64, 0.0]).collect();
        for k in 2..=n {
            let u = half * own[n + k - 1];
            series[k - 1][1] += u / k as f64;
            series[0][1] -= u;
        }
        (middle + half * own[0], series)
    }
}

/// A coordinate of a series: `x = c + Σ a cos kωt + b sin kωt`, with two derivatives.
pub(super) fn jet(middle: f64, series: &[[f64; 2]], t: f64, period: f64) -> [f64; 3] {
    let mut x = [middle, 0.0, 0.0];
    for (k, [a, b]) in series.iter().enumerate() {
        let w = TAU * (k + 1) as f64 / period;
        let (s, c) = (w * t).sin_cos();
        x[0] += a * c + b * s;
        x[1] += w * (b * c - a * s);
        x[2] -= w * w * (a * c + b * s);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_series_is_the_motion_and_begins_at_rest() {
        let shape = SeriesShape { region: vec![[-1.0, 3.0], [0.2, 0.4]], harmonics: 3, period: 2.0 };
        let x: Vec<f64> = (0..shape.size()).map(|i| (3.0 * i as f64).sin()).collect();
        for t in [0.0, 0.3, 1.1] {
            for (c, found) in shape.jets(&x, &shape.basis(t)).into_iter().enumerate() {
                let (middle, series) = shape.written(&x, c);
                let wanted = jet(middle, &series, t, shape.period);
                assert!((0..3).all(|d| (found[d] - wanted[d]).abs() < 1e-11), "{found:?} {wanted:?}");
                assert!(t > 0.0 || found[1].abs() < 1e-12);
            }
        }
    }
}
