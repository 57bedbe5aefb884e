//! Where an axis has ticks and what is written there.

use super::PlotAxis;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// Largest magnitude that an axis shows; beyond it differences overflow.
const HUGE: f64 = 1e150;

/// An axis that can be drawn: coordinates are the values, or their decimal logarithms.
#[derive(Clone, Debug)]
pub struct Ruler {
    /// Coordinate of the low end.
    pub low: f64,
    /// Coordinate of the high end, larger than `low`.
    pub high: f64,
    /// Ticks from low to high: coordinate and label.
    pub ticks: Vec<(f64, String)>,
    log: bool,
}

impl Ruler {
    /// A ruler for an axis with about so many ticks.
    pub fn of(axis: &PlotAxis, count: usize) -> Self {
        Self::new([axis.low, axis.high].map(|v| coordinate(v, axis.log)), axis.log, count)
    }

    /// A ruler between two coordinates, moved apart where they are too close and replaced where they mean nothing.
    pub fn new(ends: [Option<f64>; 2], log: bool, count: usize) -> Self {
        let (a, b) = match ends {
            [Some(a), Some(b)] => (a.clamp(-HUGE, HUGE), b.clamp(-HUGE, HUGE)),
            [Some(a), None] | [None, Some(a)] => (a.clamp(-HUGE, HUGE), a.clamp(-HUGE, HUGE)),
            [None, None] => (0.0, 1.0),
        };
        let (mut low, mut high) = (a.min(b), a.max(b));
        let size = low.abs().max(high.abs());
        let least = if log { 1e-6 } else { (1e-9 * size).max(1e-150) };
        if high - low <= least {
            let half = if log || size < 1e-100 { 0.5 } else { 0.05 * size };
            (low, high) = (low - half, high + half);
        }
        let ticks = if log { log_ticks(low, high, count) } else { linear_ticks(low, high, count) };
        Ruler { low, high, ticks, log }
    }

    /// Coordinate of a value; `None` when it has none.
    pub fn at(&self, value: f64) -> Option<f64> {
        coordinate(value, self.log)
    }
}

/// The ruler as `plotters` asks for it. It adds lighter lines between the ticks if it can: there are none.
impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, at: &f64, (start, end): (i32, i32)) -> i32 {
        start + ((at - self.low) / (self.high - self.low) * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let ticks = if hint.weight().allow_light_points() { &[][..] } else { &self.ticks };
        ticks.iter().map(|t| t.0).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, at: &f64) -> String {
        self.ticks.iter().find(|t| t.0 == *at).map(|t| t.1.clone()).unwrap_or_default()
    }
}

/// The value, or its decimal logarithm; `None` when it is not finite.
pub fn coordinate(value: f64, log: bool) -> Option<f64> {
    let at = if log { value.log10() } else { value };
    at.is_finite().then_some(at)
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let step = nice_step((high - low) / count.max(1) as f64);
    let largest = low.abs().max(high.abs());
    multiples(low, high, step).map(|v| (v, decimal(v, step, largest))).collect()
}

/// Powers of ten, every so many; over a short span, round values in between.
fn log_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let step = nice_step((high - low) / count.max(1) as f64).max(1.0);
    let powers: Vec<_> = multiples(low, high, step).map(|e| (e, format!("10{}", superscript(e)))).collect();
    if powers.len() >= count.min(3) || high > 300.0 || low < -300.0 {
        return powers;
    }
    let (a, b) = (10f64.powf(low), 10f64.powf(high));
    if high - low < 0.7 {
        return linear_ticks(a, b, count).into_iter().map(|(v, l)| (v.log10(), l)).collect();
    }
    let (first, last) = (low.floor() as i32, high.floor() as i32);
    let mantissas = (first..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|m| (m * 10f64.powi(e), 10f64.powi(e))));
    mantissas.filter(|(v, _)| (a..=b).contains(v)).map(|(v, step)| (v.log10(), decimal(v, step, v))).collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is not below.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0].into_iter().find(|m| m * power >= rough * (1.0 - 1e-9));
    nice.unwrap_or(10.0) * power
}

/// Multiples of a step from low to high, the ends included up to rounding.
fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let first = (low / step - 1e-6).ceil();
    let count = ((high / step + 1e-6).floor() - first).clamp(-1.0, 1000.0) as i32;
    (0..=count).map(move |i| (first + f64::from(i)) * step).map(|v| if v == 0.0 { 0.0 } else { v })
}

/// A number with the digits its step needs; in powers of ten when it is very large or very small.
fn decimal(value: f64, step: f64, largest: f64) -> String {
    let digits = -(step.log10() + 1e-9).floor();
    if largest < 1e6 && digits <= 5.0 {
        let digits = digits.max(0.0) as usize;
        return format!("{value:.digits$}").replace('-', "−");
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = largest.log10().floor();
    let digits = (power + digits).clamp(0.0, 12.0) as usize;
    let mantissa = format!("{:.digits$}", value / 10f64.powf(power)).replace('-', "−");
    if mantissa == "1" { format!("10{}", superscript(power)) } else { format!("{mantissa}·10{}", superscript(power)) }
}

/// An integer as an exponent.
fn superscript(value: f64) -> String {
    let raised = |c| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    format!("{value:.0}").chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, log: bool) -> Vec<String> {
        let ruler = Ruler::of(&PlotAxis { label: String::new(), low, high, log }, 5);
        ruler.ticks.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(-0.3, 0.7, false), ["−0.2", "0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(labels(0.0, 2e-7, false), ["0", "0.5·10⁻⁷", "1.0·10⁻⁷", "1.5·10⁻⁷", "2.0·10⁻⁷"]);
        assert_eq!(labels(1e-3, 1e2, true), ["10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]);
        assert_eq!(labels(2.0, 30.0, true), ["2", "5", "10", "20"]);
    }

    #[test]
    fn every_pair_of_ends_has_few_ticks_inside() {
        let ends =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0, -1.0, 1.0 + 1e-15, 1e300, -1e300, 5e-324, 1e-9];
        for (low, high, log) in ends.into_iter().flat_map(|a| ends.map(|b| [(a, b, false), (a, b, true)])).flatten() {
            let ruler = Ruler::of(&PlotAxis { label: String::new(), low, high, log }, 6);
            assert!(ruler.low < ruler.high, "{low} {high} {log}");
            assert!((1..=20).contains(&ruler.ticks.len()), "{low} {high} {log}: {:?}", ruler.ticks);
            let inside = |at: f64| (at - ruler.low) / (ruler.high - ruler.low);
            assert!(ruler.ticks.iter().all(|t| (-1e-3..=1.001).contains(&inside(t.0))), "{ruler:?}");
        }
    }
}
