//! Eigenvalues of a flexible robot, given K and M: NaVARo, 90 coordinates in two components; more beams per segment.

use criterion::{Criterion, criterion_group, criterion_main};
use gough::linalg::arrow::{ArrowPlan, ArrowSolver, Start, Want};
use gough_bench::navaro::navaro;
use std::f64::consts::FRAC_PI_3;
use std::hint::black_box;

fn eigen(c: &mut Criterion) {
    let third = -FRAC_PI_3;
    for elements in [1, 2, 4, 8] {
        let poses = [[0.0, 0.0, 0.0], [0.117, 0.0675, third], [0.182, 0.105, third], [0.0, -0.135, third]];
        let pencils: Vec<_> = poses.iter().map(|pose| navaro(*pose, elements)).collect();
        // Neighbours along a map: 4 mm apart.
        let map: Vec<_> = (0..16).map(|i| navaro([0.05 + 0.004 * f64::from(i), 0.03, third], elements)).collect();
        let samples: Vec<_> = pencils.iter().map(|(k, m)| (k, m)).collect();
        let plan = ArrowPlan::of(&samples).expect("sizes fit");
        let mut solver = ArrowSolver::new(&plan);
        let mut group = c.benchmark_group(format!("eigen/navaro, {elements} beams per segment"));
        let mut i = 0;
        if elements <= 2 {
            group.bench_function("all values", |b| {
                b.iter(|| {
                    i = (i + 1) % pencils.len();
                    let (k, m) = black_box(&pencils[i]);
                    solver.all(&plan, k, m, Want::Values).is_ok()
                });
            });
            group.bench_function("all vectors", |b| {
                b.iter(|| {
                    i = (i + 1) % pencils.len();
                    let (k, m) = black_box(&pencils[i]);
                    solver.all(&plan, k, m, Want::Vectors).is_ok()
                });
            });
        }
        group.bench_function("lowest five", |b| {
            b.iter(|| {
                i = (i + 1) % pencils.len();
                let (k, m) = black_box(&pencils[i]);
                solver.lowest(&plan, k, m, 5, Start::Fresh).is_ok()
            });
        });
        group.bench_function("lowest five along a map", |b| {
            let mut i = 0;
            b.iter(|| {
                // There and back.
                i = (i + 1) % (2 * map.len() - 2);
                let (k, m) = black_box(&map[i.min(2 * map.len() - 2 - i)]);
                solver.lowest(&plan, k, m, 5, Start::Last).is_ok()
            });
        });
    }
}

criterion_group!(benches, eigen);
criterion_main!(benches);
