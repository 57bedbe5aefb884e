//! The shortest vector that keeps inequalities: a quadratic program without anything to choose.
//!
//! `min |z|` with `G z >= h` is the problem LDP of Lawson and Hanson, *Solving Least Squares Problems*, chapter 23: its dual
//! has signs only, and their active-set method NNLS ends after finitely many steps, with every step a small least-squares
//! problem. The residual `r` of the dual is the answer: `z = -r / r_last`, and no `z` exists where `r` vanishes.

use super::dense::{Matrix, svd};

/// An inequality `g · z >= h`.
#[derive(Clone, Debug)]
pub(crate) struct AtLeast {
    /// Direction.
    pub g: Vec<f64>,
    /// What must be reached along it.
    pub h: f64,
}

/// A residual shorter than this vanishes: vectors longer than its inverse do not count, the inequalities contradict each other.
const VANISHES: f64 = 1e-6;
/// A multiplier grows when the residual leans on its inequality by more than rounding.
const LEANS: f64 = 1e-13;

/// The shortest `z` of `size` numbers that keeps all inequalities; `None` when there is none, or none shorter than 1e6: the
/// caller chooses units in which answers are near one.
pub(crate) fn shortest(size: usize, rows: &[AtLeast]) -> Option<Vec<f64>> {
    if rows.iter().any(|r| r.h.is_nan() || r.h == f64::INFINITY || r.g.iter().any(|x| !x.is_finite())) {
        return None;
    }
    // Nothing to reach is reached; the others as columns (g, h) of length one, which changes no inequality.
    let column = |r: &AtLeast| -> Option<Vec<f64>> {
        let length = r.g.iter().map(|x| x * x).sum::<f64>().sqrt().hypot(r.h);
        (length > 0.0 && r.h > f64::NEG_INFINITY).then(|| r.g.iter().chain([&r.h]).map(|x| x / length).collect())
    };
    let columns: Vec<Vec<f64>> = rows.iter().filter_map(column).collect();
    let r = residual_of_signs(size, &columns);
    // r_last = |r|², and the square is free of cancellation.
    let square = dot(&r, &r);
    (square > VANISHES * VANISHES).then(|| r[..size].iter().map(|x| -x / square).collect())
}

/// `f - E u` for the `u >= 0` that makes it shortest, `f = (0 .. 0, 1)`: NNLS.
fn residual_of_signs(size: usize, columns: &[Vec<f64>]) -> Vec<f64> {
    let mut f = vec![0.0; size + 1];
    f[size] = 1.0;
    let mut held: Vec<(usize, f64)> = Vec::new();
    let mut r = f.clone();
    let mut barred = vec![false; columns.len()];
    for _ in 0..10 * (columns.len() + 1) {
        let free = |j: &usize| !barred[*j] && held.iter().all(|(k, _)| k != j);
        let lean = |j: usize| (j, dot(&columns[j], &r));
        let most = (0..columns.len()).filter(free).map(lean).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((j, _)) = most.filter(|(_, w)| *w > LEANS) else { break };
        held.push((j, 0.0));
        if settle(columns, &f, &mut held, j) {
            barred.fill(false);
        } else {
            barred[j] = true;
        }
        r.copy_from_slice(&f);
        for (k, u) in &held {
            r.iter_mut().zip(&columns[*k]).for_each(|(r, e)| *r -= u * e);
        }
    }
    r
}

/// Multipliers of the held inequalities by least squares; those that would turn negative are let go, one after the other.
/// False when the new one itself would: it leaned by rounding only.
fn settle(columns: &[Vec<f64>], f: &[f64], held: &mut Vec<(usize, f64)>, new: usize) -> bool {
    let mut first = true;
    loop {
        let wanted = svd(&Matrix::from_fn(f.len(), held.len(), |i, k| columns[held[k].0][i])).least_squares(f);
        if first && wanted.last().is_some_and(|u| *u <= 0.0) {
            held.retain(|(k, _)| *k != new);
            return false;
        }
        first = false;
        let way = held.iter().zip(&wanted).filter(|(_, w)| **w <= 0.0).map(|((_, u), w)| u / (u - w));
        let step = way.fold(1.0, f64::min);
        let mut all = true;
        for ((_, u), w) in held.iter_mut().zip(&wanted) {
            all &= *w > 0.0;
            *u = if *w <= 0.0 && *u / (*u - w) <= step { 0.0 } else { *u + step * (w - *u) };
        }
        if all {
            return true;
        }
        held.retain(|(_, u)| *u > 0.0);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    fn row(g: &[f64], h: f64) -> AtLeast {
        AtLeast { g: g.to_vec(), h }
    }

    fn random_rows(rng: &mut Pcg64Mcg, size: usize, count: usize) -> Vec<AtLeast> {
        let mut number = || rng.random_range(-1.0..1.0);
        (0..count).map(|_| AtLeast { g: (0..size).map(|_| number()).collect(), h: number() - 0.3 }).collect()
    }

    /// Shortest of all points where some inequalities are equations and the others hold.
    fn by_trying(size: usize, rows: &[AtLeast]) -> Option<Vec<f64>> {
        let point = |set: u32| {
            let active: Vec<&AtLeast> = (0..rows.len()).filter(|i| set >> i & 1 == 1).map(|i| &rows[i]).collect();
            let h: Vec<f64> = active.iter().map(|r| r.h).collect();
            let z = svd(&Matrix::from_fn(active.len(), size, |i, j| active[i].g[j])).least_squares(&h);
            rows.iter().all(|r| dot(&r.g, &z) >= r.h - 1e-9).then_some(z)
        };
        let few = |set: &u32| set.count_ones() as usize <= size;
        let found = (0..1_u32 << rows.len()).filter(few).filter_map(point);
        found.min_by(|a, b| dot(a, a).total_cmp(&dot(b, b)))
    }

    #[test]
    fn it_is_the_shortest_of_all_corners_edges_and_faces() {
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        let (mut met, mut contradict) = (0, 0);
        for round in 0..600 {
            let size = 1 + round % 3;
            let rows = random_rows(&mut rng, size, 2 + round % 6);
            match (shortest(size, &rows), by_trying(size, &rows)) {
                (Some(z), Some(best)) => {
                    let far: f64 = z.iter().zip(&best).map(|(a, b)| (a - b).abs()).sum();
                    assert!(far < 1e-9 * (1.0 + dot(&best, &best)), "{rows:?}: {z:?}, not {best:?}");
                    met += 1;
                }
                (None, None) => contradict += 1,
                (found, best) => panic!("{rows:?}: {found:?}, {best:?}"),
            }
        }
        assert!(met > 200 && contradict > 50, "{met} {contradict}");
    }

    /// Inequalities that hold at a point: then `z = Gᵀ λ` with `λ >= 0` on those that are equations (Karush, Kuhn and Tucker).
    #[test]
    fn many_inequalities_are_kept_and_only_those_met_push() {
        let mut rng = Pcg64Mcg::seed_from_u64(6);
        for size in 1..=6 {
            for _ in 0..40 {
                let mut rows = random_rows(&mut rng, size, 24);
                let inside: Vec<f64> = (0..size).map(|_| rng.random_range(-2.0..2.0)).collect();
                rows.iter_mut().for_each(|r| r.h = r.h.min(dot(&r.g, &inside) - 0.1));
                let z = shortest(size, &rows).unwrap();
                let slack = |r: &AtLeast| dot(&r.g, &z) - r.h;
                assert!(rows.iter().all(|r| slack(r) > -1e-12), "{z:?}");
                let met: Vec<&AtLeast> = rows.iter().filter(|r| slack(r) < 1e-10).collect();
                assert!(met.len() <= size, "a random corner has no more than {size} faces");
                let push = svd(&Matrix::from_fn(size, met.len(), |i, k| met[k].g[i])).least_squares(&z);
                assert!(push.iter().all(|u| *u > -1e-10), "{push:?}");
                for (i, x) in z.iter().enumerate() {
                    let pushed: f64 = met.iter().zip(&push).map(|(r, u)| r.g[i] * u).sum();
                    assert!((x - pushed).abs() < 1e-10, "{z:?}");
                }
            }
        }
    }

    #[test]
    fn degenerate_inequalities_are_named_cases() {
        assert_eq!(shortest(2, &[]), Some(vec![0.0; 2]), "nothing to keep");
        assert_eq!(shortest(2, &[row(&[1.0, 0.0], -1.0)]), Some(vec![0.0; 2]), "nothing in the way");
        assert_eq!(shortest(2, &[row(&[0.0, 0.0], -1.0)]), Some(vec![0.0; 2]), "no direction, nothing to reach");
        assert_eq!(shortest(2, &[row(&[0.0, 0.0], 1.0)]), None, "no direction, something to reach");
        assert_eq!(shortest(1, &[row(&[1.0], f64::NEG_INFINITY)]), Some(vec![0.0]), "no limit");
        assert_eq!(shortest(1, &[row(&[1.0], f64::INFINITY)]), None, "beyond all limits");
        assert_eq!(shortest(1, &[row(&[1.0], f64::NAN)]), None, "no number");
        assert_eq!(shortest(1, &[row(&[1.0], 2.0), row(&[-1.0], -1.0)]), None, "at least 2 and at most 1");
        let z = shortest(1, &[row(&[1.0], 2.0), row(&[-1.0], -2.0)]).unwrap();
        assert!((z[0] - 2.0).abs() < 1e-12, "exactly 2: {z:?}");
        let twice = shortest(2, &[row(&[1.0, 1.0], 2.0), row(&[1.0, 1.0], 2.0), row(&[2.0, 2.0], 4.0)]).unwrap();
        assert!(twice.iter().all(|x| (x - 1.0).abs() < 1e-12), "the same inequality three times: {twice:?}");
        let corner = [row(&[1.0, 0.0], 1.0), row(&[0.0, 1.0], 1.0), row(&[1.0, 1.0], 2.0), row(&[1.0, 2.0], 3.0)];
        let z = shortest(2, &corner).unwrap();
        assert!(z.iter().all(|x| (x - 1.0).abs() < 1e-12), "four lines through one corner: {z:?}");
    }
}
