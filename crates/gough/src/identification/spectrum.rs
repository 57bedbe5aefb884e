//! Where motion ends and the noise of encoders begins: the cutoff that a record asks for.

use super::filter::ORDER;
use std::f64::consts::TAU;

/// The highest cutoff that is chosen, in Hz, and the lowest.
pub(super) const HIGHEST: f64 = 20.0;
const LOWEST: f64 = 4.0;
/// Seconds of a segment whose spectrum is taken.
const SEGMENT: f64 = 8.0;
/// Motion is what is this many times above the noise: steps that are coarse for a motion are no white noise, and stand out of it
/// by ten times.
const MOTION: f64 = 100.0;
/// A level is the median of so many neighbours to each side: steps of a periodic motion have lines.
const BESIDE: usize = 4;
/// What a filter takes from the motion counts this many times what it leaves of the noise: it does not average out.
const BIAS: f64 = 10.0;

/// The cutoff for which accelerations have the least error: what the filter takes from the motion, and what it leaves of the
/// noise, which is the level above the highest cutoff. It is the highest where there is no noise, or nothing above it.
pub(super) fn cutoff(channels: &[Vec<f64>], dt: f64) -> f64 {
    let spectra: Vec<Vec<(f64, f64)>> = channels.iter().filter_map(|c| relative(c, dt)).collect();
    if spectra.is_empty() {
        return HIGHEST;
    }
    let seconds = dt * channels.iter().map(Vec::len).min().unwrap_or(0) as f64;
    let least = LOWEST.max(48.0 / seconds);
    let candidates = (0..20).map(|k| HIGHEST * 2.0_f64.powf(-f64::from(k) / 8.0)).filter(|f| *f >= least);
    let error = |fc: f64| spectra.iter().flatten().map(|(f, level)| lost(*f, *level, fc)).sum::<f64>();
    candidates.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(HIGHEST)
}

/// Error of an acceleration at a frequency whose level is this many times the noise, behind the filter of [`super::filter`].
fn lost(f: f64, level: f64, cutoff: f64) -> f64 {
    let pass = 1.0 / (1.0 + (f / cutoff).powi(2 * ORDER));
    let (motion, noise) = if level > MOTION { (level, 1.0) } else { (0.0, level) };
    f.powi(4) * ((BIAS * (1.0 - pass)).powi(2) * motion + pass * pass * noise)
}

/// Frequencies below twice the highest cutoff, and the level there as a multiple of the noise; none where noise is not seen,
/// or where nothing stands out of it.
fn relative(signal: &[f64], dt: f64) -> Option<Vec<(f64, f64)>> {
    let spectrum = spectrum(signal, dt)?;
    let mut above: Vec<f64> = spectrum.iter().filter(|(f, _)| *f > 2.0 * HIGHEST).map(|s| s.1).collect();
    above.sort_by(f64::total_cmp);
    let noise = above.get(above.len() / 2).copied().filter(|n| above.len() >= 20 && *n > 0.0)?;
    let level = |k: usize| {
        let mut near: Vec<f64> =
            spectrum[k.saturating_sub(BESIDE)..(k + BESIDE + 1).min(spectrum.len())].iter().map(|s| s.1).collect();
        near.sort_by(f64::total_cmp);
        near[near.len() / 2] / noise
    };
    let list: Vec<(f64, f64)> =
        (0..spectrum.len()).map(|k| (spectrum[k].0, level(k))).filter(|(f, _)| *f <= 2.0 * HIGHEST).collect();
    list.iter().any(|(_, level)| *level > MOTION).then_some(list)
}

/// Samples of a record that are looked at for its period, at most, and what of the variance may be left after one.
const LOOKED_AT: usize = 2000;
const REPEATS: f64 = 1e-3;
/// Less than that for samples that are far from each other.
const ROUGHLY: f64 = 0.05;
/// What is left of the variance when nothing repeats, and how far from that a motion has to go before it can come back.
const AWAY: f64 = 0.3;

/// The time after which all positions repeat, when they do so within half of the record; its first quarter may be a way there.
pub(super) fn period(channels: &[Vec<f64>], dt: f64) -> Option<f64> {
    let all = channels.iter().map(Vec::len).min()?;
    let channels: Vec<&[f64]> = channels.iter().map(|c| &c[all / 4..all]).collect();
    let n = all - all / 4;
    let means: Vec<f64> = channels.iter().map(|c| c.iter().sum::<f64>() / n.max(1) as f64).collect();
    // What is left of the variance, channel by channel, the most.
    let left = |lag: usize, every: usize| -> f64 {
        let one = |(c, mean): (&&[f64], &f64)| {
            let pairs = (0..n - lag).step_by(every);
            let (apart, size) = pairs.fold((0.0, 0.0), |(apart, size), i| {
                (apart + (c[i + lag] - c[i]).powi(2), size + (c[i] - mean).powi(2) + (c[i + lag] - mean).powi(2))
            });
            if size > 0.0 { apart / size } else { 0.0 }
        };
        channels.iter().zip(&means).map(one).fold(0.0, f64::max)
    };
    let every = n.div_ceil(LOOKED_AT);
    let mut lags = (every..=n / 2).step_by(every).map(|lag| (lag, left(lag, every)));
    lags.find(|l| l.1 > AWAY)?;
    let mut near = lags.skip_while(|l| l.1 > ROUGHLY).take_while(|l| l.1 <= ROUGHLY);
    let first = near.next()?;
    let about = near.fold(first, |a, b| if b.1 < a.1 { b } else { a }).0;
    let fine = (about.saturating_sub(every)..=(about + every).min(n / 2)).map(|lag| (lag, left(lag, every)));
    let (lag, least) = fine.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (least < REPEATS).then_some(lag as f64 * dt)
}

/// Power at frequencies, up to a factor: the mean over segments that overlap by half (Welch, 1967), behind a window whose side
/// lobes are 180 dB down, since motion is a hundred thousand times larger than the steps of encoders.
fn spectrum(signal: &[f64], dt: f64) -> Option<Vec<(f64, f64)>> {
    // Not negative, and no longer than the signal.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let wanted = (SEGMENT / dt).min(signal.len() as f64) as usize;
    let n = (wanted + 1).checked_next_power_of_two()? / 2;
    if n < 256 {
        return None;
    }
    let window: Vec<f64> = (0..n).map(|i| window(i as f64 / n as f64)).collect();
    let mut sum = vec![0.0; n / 2];
    for start in (0..=signal.len() - n).step_by(n / 2) {
        let part = &signal[start..start + n];
        let mean = part.iter().sum::<f64>() / n as f64;
        let mut x: Vec<[f64; 2]> = part.iter().zip(&window).map(|(x, w)| [(x - mean) * w, 0.0]).collect();
        transform(&mut x);
        sum.iter_mut().zip(&x).for_each(|(s, [re, im])| *s += re * re + im * im);
    }
    Some(sum.into_iter().enumerate().skip(1).map(|(k, s)| (k as f64 / (n as f64 * dt), s)).collect())
}

/// Blackman and Harris's window of seven terms (Albrecht, 2001).
fn window(x: f64) -> f64 {
    const TERMS: [f64; 7] = [
        0.271_051_400_693_42,
        -0.433_297_939_234_48,
        0.218_122_999_543_11,
        -0.065_925_446_388_03,
        0.010_811_742_098_37,
        -0.000_776_584_825_22,
        0.000_013_887_217_35,
    ];
    TERMS.iter().enumerate().map(|(k, a)| a * (TAU * k as f64 * x).cos()).sum()
}

/// Fourier's transform in place, for powers of two (Cooley and Tukey, 1965).
fn transform(x: &mut [[f64; 2]]) {
    let n = x.len();
    if n < 2 {
        return;
    }
    let (mut even, mut odd): (Vec<_>, Vec<_>) = x.chunks_exact(2).map(|p| (p[0], p[1])).unzip();
    transform(&mut even);
    transform(&mut odd);
    for k in 0..n / 2 {
        let (s, c) = (-TAU * k as f64 / n as f64).sin_cos();
        let turned = [c * odd[k][0] - s * odd[k][1], c * odd[k][1] + s * odd[k][0]];
        x[k] = [even[k][0] + turned[0], even[k][1] + turned[1]];
        x[k + n / 2] = [even[k][0] - turned[0], even[k][1] - turned[1]];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wave of 2 Hz as an encoder sees it, with steps of this size.
    fn wave(step: f64, frequency: f64) -> Vec<f64> {
        let at = |i: u32| (TAU * frequency * f64::from(i) * 1e-3).sin() + 0.3 * (0.77 * f64::from(i) * 1e-3).cos();
        (0..30_000).map(|i| if step > 0.0 { (at(i) / step).round() * step } else { at(i) }).collect()
    }

    #[test]
    fn coarse_encoders_and_slow_motions_ask_for_lower_cutoffs() {
        let of = |step: f64, frequency: f64| cutoff(&[wave(step, frequency)], 1e-3);
        let (coarse, fine, fast) = (of(1e-3, 2.0), of(1e-6, 2.0), of(1e-3, 5.0));
        assert!(
            (4.0..12.0).contains(&coarse) && coarse < fine && coarse < fast && fast <= HIGHEST,
            "{coarse} {fine} {fast}"
        );
        assert_eq!(of(0.0, 2.0), HIGHEST);
        assert_eq!(cutoff(&[wave(1e-3, 2.0)], 0.02), HIGHEST, "noise above the highest cutoff is not seen at 50 Hz");
    }

    /// Motion that repeats after 2.5 s, once it is there; one that does not.
    #[test]
    fn periods_are_found_behind_a_way_to_them() {
        let there = |i: u32, f: f64| {
            let t = f64::from(i) * 2e-3;
            let way = if t < 3.0 { (3.0 - t).powi(3) } else { 0.0 };
            (TAU * 0.4 * t).sin() + 0.2 * (TAU * f * t).cos() + way
        };
        let of = |f: f64| period(&[(0..10_000).map(|i| there(i, f)).collect()], 2e-3);
        let found = of(1.2).unwrap();
        assert!((found - 2.5).abs() < 1e-9, "{found}");
        assert_eq!(of(1.237), None);
    }

    #[test]
    fn the_transform_is_that_of_its_definition() {
        let x: Vec<[f64; 2]> = (0..16).map(|i| [(0.7 * f64::from(i)).sin(), 0.1 * f64::from(i)]).collect();
        let mut found = x.clone();
        transform(&mut found);
        for (k, y) in found.iter().enumerate() {
            let term = |(i, x): (usize, &[f64; 2])| {
                let (s, c) = (-TAU * (i * k) as f64 / 16.0).sin_cos();
                [c * x[0] - s * x[1], c * x[1] + s * x[0]]
            };
            let sum = x.iter().enumerate().map(term).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
            assert!((0..2).all(|d| (sum[d] - y[d]).abs() < 1e-12), "{sum:?} {y:?}");
        }
    }
}
