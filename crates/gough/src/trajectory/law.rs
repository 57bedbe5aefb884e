//! Laws of motion from rest to rest: which share of the way is done at which time, appendix D.

use super::polynomial::{Piecewise, Polynomial};

/// How a way is run through from rest to rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeLaw {
    /// `3ρ² - 2ρ³`: rates are zero at both ends, accelerations are not.
    Poly3,
    /// `10ρ³ - 15ρ⁴ + 6ρ⁵`, (D.13) with erratum D30: accelerations are zero too.
    #[default]
    Poly5,
    /// `35ρ⁴ - 84ρ⁵ + 70ρ⁶ - 20ρ⁷`: jerks are zero too.
    Poly7,
    /// Full acceleration for half of the time, full deceleration for the other half.
    BangBang,
    /// Constant acceleration for a third of the time, constant rate for a third, constant deceleration.
    Trapezoid,
    /// The trapezoid with accelerations that rise and fall linearly: a ninth of the time each.
    SCurve,
}

impl TimeLaw {
    /// All laws.
    pub const ALL: [TimeLaw; 6] =
        [Self::Poly3, Self::Poly5, Self::Poly7, Self::BangBang, Self::Trapezoid, Self::SCurve];

    /// The name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Poly3 => "poly3",
            Self::Poly5 => "poly5",
            Self::Poly7 => "poly7",
            Self::BangBang => "bang-bang",
            Self::Trapezoid => "trapezoid",
            Self::SCurve => "s-curve",
        }
    }

    /// The share of the way, from 0 to 1, over a duration that starts at `start`.
    ///
    /// # Panics
    /// When the duration is not positive.
    #[doc(hidden)]
    pub fn over(self, start: f64, duration: f64) -> Piecewise {
        let unit = match self {
            Self::Poly3 => one(&[0.0, 0.0, 3.0, -2.0]),
            Self::Poly5 => one(&[0.0, 0.0, 0.0, 10.0, -15.0, 6.0]),
            Self::Poly7 => one(&[0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0]),
            // Accelerations with steps: (share of the time, acceleration, jerk).
            Self::BangBang => steps(&[(0.5, 4.0, 0.0), (0.5, -4.0, 0.0)]),
            Self::Trapezoid => steps(&[(1.0 / 3.0, 4.5, 0.0), (1.0 / 3.0, 0.0, 0.0), (1.0 / 3.0, -4.5, 0.0)]),
            Self::SCurve => {
                // The mean acceleration of each third stays 4.5, so that its plateau is 4.5 · 3/2.
                let (ninth, plateau) = (1.0 / 9.0, 6.75);
                let jerk = plateau / ninth;
                steps(&[
                    (ninth, 0.0, jerk),
                    (ninth, plateau, 0.0),
                    (ninth, plateau, -jerk),
                    (3.0 * ninth, 0.0, 0.0),
                    (ninth, 0.0, -jerk),
                    (ninth, -plateau, 0.0),
                    (ninth, -plateau, jerk),
                ])
            }
        };
        let placed = |(t, p): (f64, Polynomial)| {
            let slower = p.slowed(duration);
            (start + t * duration, Polynomial { start: start + slower.start, ..slower })
        };
        let pieces = unit.into_iter().map(placed).collect();
        Piecewise::new(pieces, start + duration).expect("pieces of a law follow each other")
    }
}

fn one(coefficients: &[f64]) -> Vec<(f64, Polynomial)> {
    vec![(0.0, Polynomial { start: 0.0, coefficients: coefficients.to_vec() })]
}

/// Pieces of given acceleration and jerk at their start, from rest at zero.
fn steps(list: &[(f64, f64, f64)]) -> Vec<(f64, Polynomial)> {
    let (mut t, mut x, mut v) = (0.0, 0.0, 0.0);
    let piece = |(share, a, j): &(f64, f64, f64)| {
        let piece = Polynomial { start: t, coefficients: vec![x, v, 0.5 * a, j / 6.0] };
        t += share;
        let end = piece.at(t);
        (x, v) = (end[0], end[1]);
        (piece.start, piece)
    };
    list.iter().map(piece).collect()
}
