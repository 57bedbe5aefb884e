//! The block-arrow eigen-solver against the dense road, and its laws.
#![allow(clippy::unreadable_literal)]

#[path = "../../../../bench/src/navaro.rs"]
mod navaro;

use crate::common::eigenvalues;
use crate::counting::allocations;
use gough::linalg::arrow::{Arrow, ArrowError, ArrowMode, ArrowPlan, ArrowSolver, ModeKind, Start, Want};
use gough::linalg::small::Dense;
use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

type Pair = (Arrow<f64>, Arrow<f64>);

fn symmetric(rng: &mut Pcg64, a: &mut Dense<f64>, size: f64, diagonal: f64) {
    for i in 0..a.rows {
        for j in 0..=i {
            let x = size * rng.random_range(-1.0..1.0) + if i == j { diagonal } else { 0.0 };
            (*a.at_mut(i, j), *a.at_mut(j, i)) = (x, x);
        }
    }
}

/// Full blocks; K and M positive definite by their diagonals, K spread over three decades.
fn random(seed: u64, legs: &[usize], border: usize) -> Pair {
    let mut rng = Pcg64::seed_from_u64(seed);
    let (mut k, mut m) = (Arrow::zeros(legs, border), Arrow::zeros(legs, border));
    let n = k.size() as f64;
    for a in [&mut k, &mut m] {
        for leg in &mut a.legs {
            symmetric(&mut rng, &mut leg.own, 1.0, n);
            leg.border.data.iter_mut().for_each(|x| *x = rng.random_range(-1.0..1.0));
        }
        symmetric(&mut rng, &mut a.tip, 1.0, n);
    }
    let scale: Vec<f64> = (0..k.size()).map(|_| 10_f64.powf(rng.random_range(0.0..1.5))).collect();
    let mut start = 0;
    let tip = k.size() - border;
    for leg in &mut k.legs {
        for i in 0..leg.own.rows {
            for j in 0..leg.own.rows {
                *leg.own.at_mut(i, j) *= scale[start + i] * scale[start + j];
            }
            for j in 0..border {
                *leg.border.at_mut(i, j) *= scale[start + i] * scale[tip + j];
            }
        }
        start += leg.own.rows;
    }
    for i in 0..border {
        for j in 0..border {
            *k.tip.at_mut(i, j) *= scale[tip + i] * scale[tip + j];
        }
    }
    (k, m)
}

fn mat(a: &Arrow<f64>) -> DMatrix<f64> {
    let d = a.dense();
    DMatrix::from_fn(d.rows, d.cols, |i, j| d.at(i, j))
}

fn reference((k, m): &Pair) -> Vec<f64> {
    eigenvalues(&mat(k), &mat(m))
}

fn plan((k, m): &Pair) -> ArrowPlan {
    ArrowPlan::of(&[(k, m)]).unwrap()
}

/// Relative to the eigenvalue, but for what rounding of the largest leaves.
fn assert_same(found: &[ArrowMode], expected: &[f64], tolerance: f64, what: &str) {
    let largest = expected.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * b.abs() + 4e-15 * largest;
        assert!((a.value - b).abs() <= allowed, "{what}: mode {i} is {:e}, expected {b:e}", a.value);
    }
}

/// `K x = λ M x`, and `xᵀ M y` is the unit matrix.
fn assert_vectors(solver: &ArrowSolver, (k, m): &Pair, tolerance: f64, what: &str) {
    let (k, m, x) = (k.dense(), m.dense(), solver.vectors());
    assert_eq!(x.rows, solver.modes().len(), "{what}");
    let size = |a: &Dense<f64>| a.data.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let rows: Vec<&[f64]> = x.data.chunks(x.cols.max(1)).collect();
    let products: Vec<Vec<f64>> = rows.iter().map(|x| m.apply(x)).collect();
    for (i, (mode, x)) in solver.modes().iter().zip(&rows).enumerate() {
        let (kx, mx) = (k.apply(x), &products[i]);
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let residual = kx.iter().zip(mx).map(|(k, m)| (k - mode.value * m).powi(2)).sum::<f64>().sqrt();
        let scale = (size(&k) + mode.value.abs() * size(&m)) * length;
        assert!(residual <= tolerance * scale, "{what}: residual of mode {i} is {:e}", residual / scale);
        for (j, y) in rows.iter().enumerate() {
            let dot: f64 = y.iter().zip(mx).map(|(y, m)| y * m).sum();
            let expected = f64::from(i == j);
            assert!((dot - expected).abs() <= 1e-11, "{what}: product of modes {i} and {j} is {dot:e}");
        }
    }
}

/// Everything asked in every way.
fn check(pair: &Pair, what: &str) {
    let expected = reference(pair);
    let (plan, (k, m)) = (plan(pair), pair);
    let mut solver = ArrowSolver::new(&plan);
    assert_eq!(plan.modes(), expected.len(), "{what}");
    let all = solver.all(&plan, k, m, Want::Values).unwrap();
    assert_eq!(all.len(), expected.len());
    assert_same(all, &expected, 1e-11, what);
    assert_same(solver.all(&plan, k, m, Want::Vectors).unwrap(), &expected, 1e-11, what);
    assert_vectors(&solver, pair, 1e-13, what);
    for count in [0, 1, 2, 5, 8, expected.len(), expected.len() + 7] {
        let label = format!("{what}, lowest {count}");
        let lowest = solver.lowest(&plan, k, m, count, Start::Fresh).unwrap();
        assert_eq!(lowest.len(), count.min(expected.len()), "{label}");
        assert_same(lowest, &expected, 1e-11, &label);
        assert_vectors(&solver, pair, 1e-6, &label);
        assert_same(solver.lowest(&plan, k, m, count, Start::Last).unwrap(), &expected, 1e-11, &label);
    }
}

#[test]
fn random_arrows_are_solved_as_the_dense_road_does() {
    let shapes: [(&[usize], usize); 12] = [
        (&[16, 16, 16], 3),
        (&[12, 12, 12], 3),
        (&[7, 7, 7, 7, 7, 7], 6),
        (&[20, 11, 20, 5], 4),
        (&[40], 6),
        (&[40], 0),
        (&[0, 17, 0], 3),
        (&[], 9),
        (&[], 40),
        (&[1], 0),
        (&[1, 1], 1),
        (&[25, 25, 25, 25, 25], 1),
    ];
    for (i, (legs, border)) in shapes.iter().enumerate() {
        check(&random(i as u64, legs, *border), &format!("legs {legs:?}, border {border}"));
    }
}

#[test]
fn nothing_has_no_modes() {
    let pair = random(1, &[], 0);
    let plan = plan(&pair);
    let mut solver = ArrowSolver::new(&plan);
    assert!(solver.all(&plan, &pair.0, &pair.1, Want::Vectors).unwrap().is_empty());
    assert!(solver.lowest(&plan, &pair.0, &pair.1, 3, Start::Fresh).unwrap().is_empty());
}

/// Unit masses on springs from coordinate to coordinate; legs start at the ground unless they float, all end at the border.
fn chains(legs: usize, n: usize, border: usize, ground: f64) -> Pair {
    let sizes = vec![n; legs];
    let (mut k, mut m) = (Arrow::zeros(&sizes, border), Arrow::zeros(&sizes, border));
    for (kl, ml) in k.legs.iter_mut().zip(&mut m.legs) {
        for i in 0..n {
            *ml.own.at_mut(i, i) = 1.0;
            *kl.own.at_mut(i, i) = 1.0 + if i == 0 { ground } else { 1.0 };
            if i > 0 {
                (*kl.own.at_mut(i, i - 1), *kl.own.at_mut(i - 1, i)) = (-1.0, -1.0);
            }
        }
        *kl.border.at_mut(n - 1, 0) = -1.0;
        *k.tip.at_mut(0, 0) += 1.0;
    }
    (0..border).for_each(|i| *m.tip.at_mut(i, i) = 1.0);
    for i in 1..border {
        *k.tip.at_mut(i, i) += 1.0;
        *k.tip.at_mut(i - 1, i - 1) += 1.0;
        (*k.tip.at_mut(i, i - 1), *k.tip.at_mut(i - 1, i)) = (-1.0, -1.0);
    }
    (k, m)
}

#[test]
fn chains_have_the_frequencies_of_the_textbook() {
    // One chain of N masses between ground and a free end: λ = 4 sin²((2j - 1) π / (4 N + 2)).
    for n in [30, 200] {
        let pair = chains(1, n - 1, 1, 1.0);
        let plan = plan(&pair);
        let mut solver = ArrowSolver::new(&plan);
        let exact = |j: usize| 4.0 * ((2 * j + 1) as f64 * std::f64::consts::PI / (4 * n + 2) as f64).sin().powi(2);
        let expected: Vec<f64> = (0..n).map(exact).collect();
        let lowest = solver.lowest(&plan, &pair.0, &pair.1, 6, Start::Fresh).unwrap();
        assert_same(lowest, &expected, 1e-11, "lowest");
        assert_same(solver.all(&plan, &pair.0, &pair.1, Want::Values).unwrap(), &expected, 1e-11, "all");
    }
}

#[test]
fn navaro_has_its_published_frequencies() {
    use std::f64::consts::{FRAC_PI_3, TAU};
    // Computed by an independent assembly of the same beams to ten digits; the first five of both poses agree with the table of
    // the NaVARo paper (44.10 44.10 53.98 60.63 95.62; 36.98 49.31 53.37 67.28 91.80 Hz) to the printed digit.
    let first = [44.10463526, 44.10463526, 53.97982651, 60.6304871, 95.61522725, 95.61522725, 103.123732, 134.4371342];
    let third = [36.98194518, 49.30896787, 53.36902699, 67.28151917, 91.79723593];
    let poses = [([0.0, 0.0, 0.0], &first[..]), ([0.116_913_429_510_899_22, 0.0675, -FRAC_PI_3], &third[..])];
    for (pose, expected) in poses {
        let pair = navaro::navaro(pose, 1);
        let plan = plan(&pair);
        // In the plane and out of it.
        assert_eq!(plan.component_sizes().collect::<Vec<_>>(), [51, 39]);
        let mut solver = ArrowSolver::new(&plan);
        let lowest = solver.lowest(&plan, &pair.0, &pair.1, expected.len(), Start::Fresh).unwrap().to_vec();
        let all = solver.all(&plan, &pair.0, &pair.1, Want::Values).unwrap();
        for (i, f) in expected.iter().enumerate() {
            for mode in [lowest[i], all[i]] {
                let found = mode.value.sqrt() / TAU;
                assert!((found / f - 1.0).abs() < 1e-9, "{found} is not {f}");
            }
        }
        assert!(pose[0] != 0.0 || (all[89].value.sqrt() / TAU - 12985.0431).abs() < 1e-4);
        check(&pair, "NaVARo");
    }
}

#[test]
fn short_beams_leave_the_digits_that_their_stiffness_leaves() {
    // Four beams per segment: the largest eigenvalue is 6e6 times the lowest, so entries of K rounded to 1e-16 leave about 1e-9
    // of the lowest. The dense road on (K, M) has less (2e-6); on the reciprocal problem (M, K) it keeps them.
    let pair = navaro::navaro([0.05, 0.03, -std::f64::consts::FRAC_PI_3], 4);
    let mut expected = eigenvalues(&mat(&pair.1), &mat(&pair.0));
    expected.iter_mut().for_each(|mu| *mu = mu.recip());
    expected.reverse();
    let plan = plan(&pair);
    let mut solver = ArrowSolver::new(&plan);
    let all = solver.all(&plan, &pair.0, &pair.1, Want::Values).unwrap().to_vec();
    for start in [Start::Fresh, Start::Last] {
        let lowest = solver.lowest(&plan, &pair.0, &pair.1, 6, start).unwrap();
        for ((a, b), c) in lowest.iter().zip(&all).zip(&expected) {
            assert!((a.value / c - 1.0).abs() < 1e-9 && (b.value / c - 1.0).abs() < 1e-9, "{a:?} {b:?} {c}");
        }
    }
}

#[test]
fn equal_legs_give_multiple_eigenvalues_and_none_is_missed() {
    for (legs, n, border) in [(3, 15, 1), (4, 12, 3), (6, 10, 1), (12, 6, 2)] {
        let pair = chains(legs, n, border, 1.0);
        let expected = reference(&pair);
        // Legs that swing against each other leave the border at rest: legs - 1 times the same value.
        let copies = expected.windows(2).filter(|w| w[1] - w[0] < 1e-12).count();
        assert!(copies >= (legs - 2) * n, "{copies}");
        check(&pair, &format!("{legs} equal chains"));
    }
}

#[test]
fn what_floats_has_free_modes() {
    for (legs, n, border) in [(3, 16, 3), (1, 30, 1), (6, 9, 2)] {
        let pair = chains(legs, n, border, 0.0);
        check(&pair, "floating");
        let plan = plan(&pair);
        let mut solver = ArrowSolver::new(&plan);
        for modes in [
            solver.lowest(&plan, &pair.0, &pair.1, 3, Start::Fresh).unwrap().to_vec(),
            solver.all(&plan, &pair.0, &pair.1, Want::Values).unwrap().to_vec(),
        ] {
            assert_eq!(modes[0].kind, ModeKind::Free);
            assert!(modes[1..].iter().all(|m| m.kind == ModeKind::Vibration));
        }
    }
}

#[test]
fn no_stiffness_at_all_gives_only_free_modes() {
    let (mut k, m) = random(5, &[12, 12, 12], 3);
    k.legs.iter_mut().for_each(|l| {
        l.own.clear();
        l.border.clear();
    });
    k.tip.clear();
    let pair = (k, m);
    let plan = plan(&pair);
    let mut solver = ArrowSolver::new(&plan);
    let free = |m: &[ArrowMode]| m.iter().all(|m| m.kind == ModeKind::Free);
    assert!(free(solver.all(&plan, &pair.0, &pair.1, Want::Values).unwrap()));
    assert!(free(solver.lowest(&plan, &pair.0, &pair.1, 4, Start::Fresh).unwrap()));
}

#[test]
fn negative_stiffness_is_told() {
    for strength in [0.5, 40.0, 1e6] {
        let mut pair = random(8, &[16, 16, 16], 3);
        *pair.0.legs[1].own.at_mut(4, 4) *= -strength;
        check(&pair, "negative");
        let plan = plan(&pair);
        let mut solver = ArrowSolver::new(&plan);
        let modes = solver.lowest(&plan, &pair.0, &pair.1, 3, Start::Fresh).unwrap();
        assert_eq!(modes.iter().filter(|m| m.kind == ModeKind::Unstable).count(), 1);
        assert_eq!(modes[0].kind, ModeKind::Unstable);
    }
}

/// Even and odd coordinates apart: two components.
fn apart(mut pair: Pair) -> Pair {
    for a in [&mut pair.0, &mut pair.1] {
        let cut = |d: &mut Dense<f64>| {
            for i in 0..d.rows {
                (0..d.cols).filter(|j| (i + j) % 2 == 1).for_each(|j| *d.at_mut(i, j) = 0.0);
            }
        };
        a.legs.iter_mut().for_each(|l| {
            cut(&mut l.own);
            cut(&mut l.border);
        });
        cut(&mut a.tip);
    }
    pair
}

#[test]
fn parts_that_do_not_touch_are_solved_apart() {
    let pair = apart(random(11, &[20, 20, 20], 6));
    check(&pair, "apart");
    let of = plan(&pair);
    assert_eq!(of.component_sizes().collect::<Vec<_>>(), [33, 33]);
    let mut solver = ArrowSolver::new(&of);
    solver.lowest(&of, &pair.0, &pair.1, 9, Start::Fresh).unwrap();
    for (k, mode) in solver.modes().iter().enumerate() {
        for i in 0..of.size() {
            assert!(of.component_of(i) == mode.component || solver.vectors().at(k, i) == 0.0);
        }
    }
    assert!((0..2).all(|c| solver.modes().iter().any(|m| m.component == c)));

    // Legs cut from the border are components of their own.
    let mut pair = random(12, &[18, 5, 18], 4);
    for a in [&mut pair.0, &mut pair.1] {
        a.legs[0].border.clear();
        a.legs[2].border.clear();
    }
    check(&pair, "legs apart");
    assert_eq!(plan(&pair).component_sizes().collect::<Vec<_>>(), [18, 9, 18]);
}

#[test]
fn samples_are_joined_and_other_structures_refused() {
    let whole = random(11, &[20, 20, 20], 6);
    let pair = apart(whole.clone());
    let joined = ArrowPlan::of(&[(&pair.0, &pair.1), (&whole.0, &whole.1)]).unwrap();
    assert_eq!(joined.component_sizes().len(), 1);
    let of = plan(&pair);
    let mut solver = ArrowSolver::new(&of);
    let refused = solver.all(&of, &whole.0, &whole.1, Want::Values);
    assert_eq!(refused, Err(ArrowError::Structure { coordinate: 1 }));
    let refused = solver.lowest(&of, &pair.0, &whole.1, 2, Start::Fresh);
    assert!(matches!(refused, Err(ArrowError::Structure { .. })));
    let other = random(1, &[20, 20], 6);
    assert_eq!(solver.all(&of, &other.0, &other.1, Want::Values), Err(ArrowError::Shape));
    assert_eq!(ArrowPlan::of(&[]), Err(ArrowError::Shape));
}

fn remove_mass(pair: &mut Pair, coordinates: &[usize]) {
    let m = &mut pair.1;
    let tip = m.size() - m.tip.rows;
    for &g in coordinates {
        let mut start = 0;
        for leg in &mut m.legs {
            let n = leg.own.rows;
            for i in 0..n {
                if g >= tip {
                    *leg.border.at_mut(i, g - tip) = 0.0;
                } else if (start..start + n).contains(&g) {
                    (*leg.own.at_mut(g - start, i), *leg.own.at_mut(i, g - start)) = (0.0, 0.0);
                }
            }
            if (start..start + n).contains(&g) {
                (0..leg.border.cols).for_each(|j| *leg.border.at_mut(g - start, j) = 0.0);
            }
            start += n;
        }
        if g >= tip {
            for i in 0..m.tip.rows {
                (*m.tip.at_mut(g - tip, i), *m.tip.at_mut(i, g - tip)) = (0.0, 0.0);
            }
        }
    }
}

/// Condensed by elimination: eigenvalues of what has mass.
fn condensed(pair: &Pair, massless: &[usize]) -> Vec<f64> {
    let (k, m) = (mat(&pair.0), mat(&pair.1));
    let rest: Vec<usize> = (0..k.nrows()).filter(|i| !massless.contains(i)).collect();
    let part = |a: &DMatrix<f64>, r: &[usize], c: &[usize]| DMatrix::from_fn(r.len(), c.len(), |i, j| a[(r[i], c[j])]);
    let k_mm = Dense {
        rows: massless.len(),
        cols: massless.len(),
        data: massless.iter().flat_map(|i| massless.iter().map(|j| k[(*i, *j)]).collect::<Vec<_>>()).collect(),
    };
    let k_mr = Dense {
        rows: massless.len(),
        cols: rest.len(),
        data: massless.iter().flat_map(|i| rest.iter().map(|j| k[(*i, *j)]).collect::<Vec<_>>()).collect(),
    };
    let x = k_mm.solve(&k_mr).unwrap();
    let x = DMatrix::from_fn(x.rows, x.cols, |i, j| x.at(i, j));
    let k_c = part(&k, &rest, &rest) - part(&k, &rest, massless) * x;
    eigenvalues(&k_c, &part(&m, &rest, &rest))
}

#[test]
fn coordinates_without_mass_are_condensed_and_reported() {
    for massless in [vec![3], vec![0, 1, 17, 30, 31], vec![2, 49], vec![48, 49, 50], (0..16).collect()] {
        let mut pair = random(21, &[16, 16, 16], 3);
        remove_mass(&mut pair, &massless);
        let plan = plan(&pair);
        assert_eq!(plan.massless(), massless);
        let expected = condensed(&pair, &massless);
        let mut solver = ArrowSolver::new(&plan);
        let all = solver.all(&plan, &pair.0, &pair.1, Want::Vectors).unwrap();
        assert_eq!(all.len(), expected.len());
        assert_same(all, &expected, 1e-11, "massless");
        assert_vectors(&solver, &pair, 1e-12, "massless");
        let lowest = solver.lowest(&plan, &pair.0, &pair.1, 5, Start::Fresh).unwrap();
        assert_same(lowest, &expected, 1e-11, "massless, lowest");
        assert_vectors(&solver, &pair, 1e-6, "massless, lowest");
    }
}

#[test]
fn a_chain_with_every_second_mass_missing_is_a_softer_chain() {
    // Two springs in series are one of half the stiffness: N = 40 masses, λ halves.
    let mut pair = chains(1, 79, 1, 1.0);
    remove_mass(&mut pair, &(0..80).step_by(2).collect::<Vec<_>>());
    let plan = plan(&pair);
    let mut solver = ArrowSolver::new(&plan);
    let exact = |j: usize| 2.0 * ((2 * j + 1) as f64 * std::f64::consts::PI / 162.0).sin().powi(2);
    let expected: Vec<f64> = (0..40).map(exact).collect();
    let lowest = solver.lowest(&plan, &pair.0, &pair.1, 5, Start::Fresh).unwrap();
    assert_same(lowest, &expected, 1e-11, "softer chain");
}

#[test]
fn what_cannot_be_solved_is_named() {
    let good = random(30, &[10, 10, 10], 3);
    let of = plan(&good);
    let mut solver = ArrowSolver::new(&of);
    for bad in [-1.0, 0.0] {
        let mut pair = good.clone();
        *pair.1.legs[2].own.at_mut(7, 7) = bad;
        for refused in [
            solver.all(&of, &pair.0, &pair.1, Want::Values).unwrap_err(),
            solver.lowest(&of, &pair.0, &pair.1, 3, Start::Fresh).unwrap_err(),
        ] {
            assert!(matches!(refused, ArrowError::Mass { coordinate: 27, pivot } if !(pivot > 0.0)), "{refused:?}");
        }
    }
    // Indefinite by coupling, not by a diagonal.
    let mut pair = good.clone();
    (*pair.1.tip.at_mut(1, 0), *pair.1.tip.at_mut(0, 1)) = (100.0, 100.0);
    let refused = solver.all(&of, &pair.0, &pair.1, Want::Values).unwrap_err();
    assert!(matches!(refused, ArrowError::Mass { coordinate: 31, .. }), "{refused:?}");

    for (matrix, value) in [(0, f64::NAN), (1, f64::INFINITY), (0, f64::NEG_INFINITY), (1, f64::NAN)] {
        let mut pair = good.clone();
        let a = if matrix == 0 { &mut pair.0 } else { &mut pair.1 };
        *a.legs[1].border.at_mut(4, 1) = value;
        let expected = ArrowError::NotFinite { coordinate: 14 };
        assert_eq!(solver.all(&of, &pair.0, &pair.1, Want::Values).unwrap_err(), expected);
        assert_eq!(solver.lowest(&of, &pair.0, &pair.1, 3, Start::Last).unwrap_err(), expected);
    }

    let mut pair = good.clone();
    remove_mass(&mut pair, &[5]);
    let leg = &mut pair.0.legs[0];
    (0..10).for_each(|j| (*leg.own.at_mut(5, j), *leg.own.at_mut(j, 5)) = (0.0, 0.0));
    (0..3).for_each(|j| *leg.border.at_mut(5, j) = 0.0);
    let of = plan(&pair);
    let refused = ArrowSolver::new(&of).all(&of, &pair.0, &pair.1, Want::Values).map(<[ArrowMode]>::len);
    assert_eq!(refused, Err(ArrowError::Loose { coordinate: 5 }));
    // After a refusal the solver still answers.
    let of = plan(&good);
    assert_same(solver.lowest(&of, &good.0, &good.1, 3, Start::Last).unwrap(), &reference(&good), 1e-11, "after");
}

#[test]
fn a_start_changes_nothing_but_the_time() {
    let pair = apart(random(40, &[24, 24, 24], 6));
    let expected = reference(&pair);
    let plan = plan(&pair);
    let mut solver = ArrowSolver::new(&plan);
    solver.lowest(&plan, &pair.0, &pair.1, 5, Start::Fresh).unwrap();
    let good = solver.vectors().clone();
    // Wrong starts: the same vector five times, nothing, one that is orthogonal to the lowest mode.
    let mut same = good.clone();
    (0..same.data.len()).for_each(|i| same.data[i] = good.data[i % good.cols]);
    solver.all(&plan, &pair.0, &pair.1, Want::Vectors).unwrap();
    let all = solver.vectors().clone();
    let high = Dense { rows: 8, cols: all.cols, data: all.data[20 * all.cols..28 * all.cols].to_vec() };
    for start in [&good, &same, &Dense::zeros(8, good.cols), &Dense::zeros(0, good.cols), &high] {
        let found = solver.lowest(&plan, &pair.0, &pair.1, 5, Start::Vectors(start)).unwrap();
        assert_same(found, &expected, 1e-11, "start");
    }
    let refused = solver.lowest(&plan, &pair.0, &pair.1, 5, Start::Vectors(&Dense::zeros(2, 3)));
    assert_eq!(refused, Err(ArrowError::Shape));
    // A neighbour.
    let mut next = pair.clone();
    next.0.legs.iter_mut().for_each(|l| l.own.data.iter_mut().for_each(|x| *x *= 1.01));
    let expected = reference(&next);
    assert_same(solver.lowest(&plan, &next.0, &next.1, 5, Start::Vectors(&good)).unwrap(), &expected, 1e-11, "next");
    assert_same(solver.lowest(&plan, &next.0, &next.1, 5, Start::Last).unwrap(), &expected, 1e-11, "last");
}

#[test]
fn a_shuffled_chain_is_put_in_order() {
    // The same chain with its masses numbered at random: same eigenvalues; the band is found again.
    let n = 120;
    let pair = chains(1, n, 1, 1.0);
    let mut rng = Pcg64::seed_from_u64(3);
    let mut order: Vec<usize> = (0..n).collect();
    (1..n).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
    let mut shuffled = pair.clone();
    for (a, b) in [(&mut shuffled.0, &pair.0), (&mut shuffled.1, &pair.1)] {
        for i in 0..n {
            (0..n).for_each(|j| *a.legs[0].own.at_mut(i, j) = b.legs[0].own.at(order[i], order[j]));
            *a.legs[0].border.at_mut(i, 0) = b.legs[0].border.at(order[i], 0);
        }
    }
    let (first, second) = (plan(&pair), plan(&shuffled));
    assert_eq!(first.stored(), second.stored());
    assert!(first.stored() < 4 * n, "{}", first.stored());
    check(&shuffled, "shuffled");
}

#[test]
fn scales_of_any_size() {
    for (k_scale, m_scale) in [(1e12, 1e-6), (1e-9, 1e6), (1e40, 1e-40)] {
        let (mut k, mut m) = apart(random(50, &[20, 20, 20], 6));
        for (a, s) in [(&mut k, k_scale), (&mut m, m_scale)] {
            a.legs.iter_mut().for_each(|l| {
                l.own.data.iter_mut().for_each(|x| *x *= s);
                l.border.data.iter_mut().for_each(|x| *x *= s);
            });
            a.tip.data.iter_mut().for_each(|x| *x *= s);
        }
        check(&(k, m), "scaled");
    }
}

#[test]
fn repeated_calls_allocate_nothing() {
    let mut massless = random(21, &[16, 16, 16], 3);
    remove_mass(&mut massless, &[3, 20]);
    for pair in [apart(random(60, &[28, 28, 28], 6)), massless, chains(3, 16, 3, 0.0)] {
        let plan = plan(&pair);
        let mut solver = ArrowSolver::new(&plan);
        let mut ask = || {
            solver.all(&plan, &pair.0, &pair.1, Want::Values).unwrap();
            solver.all(&plan, &pair.0, &pair.1, Want::Vectors).unwrap();
            solver.lowest(&plan, &pair.0, &pair.1, 5, Start::Fresh).unwrap();
            solver.lowest(&plan, &pair.0, &pair.1, 5, Start::Last).unwrap();
        };
        ask();
        assert_eq!(allocations(ask), 0);
    }
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1_u8; 100]))), 1, "the counter counts");
}
