//! Zero-phase low-pass filter and central derivatives of records.

use std::f64::consts::PI;

/// Order of the filter, once forwards and once backwards.
pub(super) const ORDER: i32 = 6;

/// Three sections of second order: a Butterworth filter of sixth order, by the bilinear transform.
fn sections(cutoff: f64, rate: f64) -> [[f64; 5]; 3] {
    let w = (PI * cutoff / rate).tan();
    [1.0, 3.0, 5.0].map(|k| {
        let q = 0.5 / (k * PI / f64::from(2 * ORDER)).sin();
        let norm = 1.0 / (1.0 + w / q + w * w);
        let b = w * w * norm;
        [b, 2.0 * b, b, 2.0 * (w * w - 1.0) * norm, (1.0 - w / q + w * w) * norm]
    })
}

/// One pass of a section, in place, from the rest that the first value would leave.
fn pass([b0, b1, b2, a1, a2]: [f64; 5], x: &mut [f64]) {
    let Some(&first) = x.first() else { return };
    let (mut s1, mut s2) = ((1.0 - b0) * first, (b2 - a2) * first);
    for v in x {
        let y = b0 * *v + s1;
        s1 = b1 * *v - a1 * y + s2;
        s2 = b2 * *v - a2 * y;
        *v = y;
    }
}

/// A signal without what is faster than `cutoff`, in Hz, and not delayed: the filter runs forwards and backwards, over a
/// signal that goes on beyond both ends as its mirror image through the end point.
pub fn low_pass(signal: &[f64], cutoff: f64, rate: f64) -> Vec<f64> {
    let n = signal.len();
    if n < 2 {
        return signal.to_vec();
    }
    // Not negative, and no longer than the signal.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let pad = ((6.0 * rate / cutoff).ceil() as usize).min(n - 1);
    let before = (1..=pad).rev().map(|i| 2.0 * signal[0] - signal[i]);
    let after = (1..=pad).map(|i| 2.0 * signal[n - 1] - signal[n - 1 - i]);
    let mut x: Vec<f64> = before.chain(signal.iter().copied()).chain(after).collect();
    for _ in 0..2 {
        sections(cutoff, rate).into_iter().for_each(|s| pass(s, &mut x));
        x.reverse();
    }
    x[pad..pad + n].to_vec()
}

/// First and second derivative by central differences of fourth order; zero within two samples of the ends.
pub fn derivatives(x: &[f64], dt: f64) -> (Vec<f64>, Vec<f64>) {
    let n = x.len();
    let at = |f: &dyn Fn(usize) -> f64| (0..n).map(|i| if i < 2 || i + 2 >= n { 0.0 } else { f(i) }).collect();
    let first = at(&|i| (x[i - 2] - 8.0 * x[i - 1] + 8.0 * x[i + 1] - x[i + 2]) / (12.0 * dt));
    let second = at(&|i| (-x[i - 2] + 16.0 * x[i - 1] - 30.0 * x[i] + 16.0 * x[i + 1] - x[i + 2]) / (12.0 * dt * dt));
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slow wave passes as it is, a fast one is gone, nothing is delayed.
    #[test]
    fn slow_waves_pass_and_fast_ones_do_not() {
        let (rate, n) = (1000.0, 4000);
        let wave = |f: f64| move |i: usize| (2.0 * PI * f * i as f64 / rate).sin();
        let slow: Vec<f64> = (0..n).map(wave(1.0)).collect();
        let both: Vec<f64> = (0..n).map(|i| wave(1.0)(i) + wave(100.0)(i)).collect();
        let found = low_pass(&both, 20.0, rate);
        let miss = (500..3500).map(|i| (found[i] - slow[i]).abs()).fold(0.0, f64::max);
        assert!(miss < 1e-4, "{miss}");
    }

    #[test]
    fn derivatives_of_a_wave() {
        let (dt, w) = (1e-3, 2.0 * PI);
        let x: Vec<f64> = (0..1000).map(|i| (w * f64::from(i) * dt).sin()).collect();
        let (v, a) = derivatives(&x, dt);
        for i in 2..998 {
            let t = i as f64 * dt;
            assert!((v[i] - w * (w * t).cos()).abs() < 1e-7 && (a[i] + w * w * (w * t).sin()).abs() < 1e-5);
        }
    }
}
