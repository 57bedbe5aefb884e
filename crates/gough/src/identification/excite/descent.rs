//! Descent along a function whose derivatives are known, after Broyden, Fletcher, Goldfarb and Shanno.

/// A function to be made small; it may refuse.
pub(super) trait Descending {
    /// What is known where the function was evaluated.
    type At;
    /// Its value.
    fn value(&self, x: &[f64]) -> Option<(f64, Self::At)>;
    /// Its derivatives there.
    fn gradient(&self, x: &[f64], at: &Self::At) -> Vec<f64>;
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `x` after at most so many steps; each halves its length until the function falls.
pub(super) fn descended<F: Descending>(f: &F, mut x: Vec<f64>, steps: usize) -> Vec<f64> {
    let n = x.len();
    let Some((mut value, at)) = f.value(&x) else { return x };
    let mut g = f.gradient(&x, &at);
    let mut H = identity(n, 0.1 / dot(&g, &g).sqrt().max(1e-12));
    let mut fresh = true;
    for _ in 0..steps {
        let mut d: Vec<f64> = H.iter().map(|row| -dot(row, &g)).collect();
        // A step changes no coefficient by more than the region is wide.
        let longest = d.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if longest > 0.5 {
            d.iter_mut().for_each(|x| *x *= 0.5 / longest);
        }
        let slope = dot(&g, &d);
        let mut length = 1.0;
        let found = loop {
            let y: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x + length * d).collect();
            match f.value(&y) {
                Some((v, at)) if v <= value + 1e-4 * length * slope => break Some((y, v, at)),
                _ if length < 1e-4 => break None,
                _ => length *= 0.5,
            }
        };
        let Some((y, v, there)) = found else {
            if fresh {
                break;
            }
            H = identity(n, 0.1 / dot(&g, &g).sqrt().max(1e-12));
            fresh = true;
            continue;
        };
        let after = f.gradient(&y, &there);
        let step: Vec<f64> = y.iter().zip(&x).map(|(a, b)| a - b).collect();
        let turn: Vec<f64> = after.iter().zip(&g).map(|(a, b)| a - b).collect();
        let small = value - v < 1e-7 * v.abs();
        (x, value, g) = (y, v, after);
        update(&mut H, &step, &turn);
        if small && fresh {
            break;
        }
        fresh = small;
        if small {
            H = identity(n, 0.1 / dot(&g, &g).sqrt().max(1e-12));
        }
    }
    x
}

fn identity(n: usize, size: f64) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..n).map(|j| if i == j { size } else { 0.0 }).collect()).collect()
}

/// `H ← (1 - ρ s yᵀ) H (1 - ρ y sᵀ) + ρ s sᵀ`, unless the step found no curvature.
fn update(H: &mut [Vec<f64>], s: &[f64], y: &[f64]) {
    let sy = dot(s, y);
    if sy <= 1e-10 * (dot(s, s) * dot(y, y)).sqrt() {
        return;
    }
    let Hy: Vec<f64> = H.iter().map(|row| dot(row, y)).collect();
    let k = (1.0 + dot(y, &Hy) / sy) / sy;
    for (i, row) in H.iter_mut().enumerate() {
        for (j, h) in row.iter_mut().enumerate() {
            *h += k * s[i] * s[j] - (Hy[i] * s[j] + s[i] * Hy[j]) / sy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Valley;

    impl Descending for Valley {
        type At = ();
        fn value(&self, x: &[f64]) -> Option<(f64, ())> {
            // Refuses beyond a wall; the least value is on this side of it.
            (x[0] < 1.5).then(|| ((1.0 - x[0]).powi(2) + 20.0 * (x[1] - x[0] * x[0]).powi(2), ()))
        }
        fn gradient(&self, x: &[f64], (): &()) -> Vec<f64> {
            let r = x[1] - x[0] * x[0];
            vec![-2.0 * (1.0 - x[0]) - 80.0 * r * x[0], 40.0 * r]
        }
    }

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        let x = descended(&Valley, vec![-1.0, 1.0], 200);
        assert!((x[0] - 1.0).abs() < 1e-3 && (x[1] - 1.0).abs() < 2e-3, "{x:?}");
    }
}
