//! Coefficients as products and quotients of lengths that the file names.

use crate::model::Model;

/// The named lengths of a robot.
pub(super) struct Lengths(Vec<(String, f64)>);

/// Most lengths that are tried.
const MOST: usize = 16;

impl Lengths {
    /// Parameters that can be lengths.
    pub fn of(model: &Model<f64>) -> Self {
        let values = &model.numbers().parameters;
        let named = model.parameters().iter().zip(values);
        let lengths = named.filter(|(p, x)| p.dimension.fits([1, 0, 0]) && **x != 0.0);
        Self(lengths.map(|(p, x)| (p.name.clone(), *x)).take(MOST).collect())
    }
}

/// The formula that gives the coefficient at every one of several values of the lengths: a product of up to three lengths in
/// powers from -2 to 2, with a factor of one, two or a half, whose power of length is `power`. Needs more than one value, since
/// equal lengths cannot be told apart at one.
pub(super) fn recognised(seen: &[(&Lengths, f64)], power: i32) -> Option<String> {
    let n = seen.first()?.0.0.len();
    if seen.len() < 3 {
        return None;
    }
    let fits = |term: &Vec<(usize, i32)>| term.iter().map(|t| t.1).sum::<i32>() == power;
    let mut terms = (1..=3).flat_map(|size| terms(n, size)).filter(fits);
    terms.find_map(|term| factor(seen, &term).map(|k| text(&seen[0].0.0, &term, k)))
}

/// All products of `size` different lengths out of `n` in powers ±1, ±2.
fn terms(n: usize, size: usize) -> Vec<Vec<(usize, i32)>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut list = Vec::new();
    for shorter in terms(n, size - 1) {
        for i in shorter.last().map_or(0, |t| t.0 + 1)..n {
            list.extend([1, -1, 2, -2].map(|e| [&shorter[..], &[(i, e)]].concat()));
        }
    }
    list
}

/// The factor, when it is the same simple one everywhere.
fn factor(seen: &[(&Lengths, f64)], term: &[(usize, i32)]) -> Option<f64> {
    let product = |l: &Lengths| term.iter().map(|(i, e)| l.0[*i].1.powi(*e)).product::<f64>();
    let ratio = |(l, x): &(&Lengths, f64)| x / product(l);
    let first = ratio(seen.first()?);
    let near = [1.0, 2.0, 0.5].into_iter().find(|k| (first.abs() / k - 1.0).abs() < 1e-7)? * first.signum();
    seen.iter().all(|s| (ratio(s) / near - 1.0).abs() < 1e-7).then_some(near)
}

fn text(names: &[(String, f64)], term: &[(usize, i32)], factor: f64) -> String {
    let power = |(i, e): &(usize, i32)| match e.abs() {
        1 => names[*i].0.clone(),
        k => format!("{}^{k}", names[*i].0),
    };
    // The sign of a length that the file writes as negative belongs to its name.
    let mut over: Vec<String> = term.iter().filter(|t| t.1 > 0).map(power).collect();
    let under: Vec<String> = term.iter().filter(|t| t.1 < 0).map(power).collect();
    if (factor.abs() - 1.0).abs() > 1e-3 || over.is_empty() {
        over.insert(0, format!("{}", factor.abs()));
    }
    let sign = if factor < 0.0 { "-" } else { "" };
    let below = match under.len() {
        0 => String::new(),
        1 => format!("/{}", under[0]),
        _ => format!("/({})", under.join(" ")),
    };
    format!("{sign}{}{below}", over.join(" "))
}
