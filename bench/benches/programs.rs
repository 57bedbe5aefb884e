//! Programs over blocks of states against the general road on the same states, one core: from platform motion to efforts and
//! back.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use gough::ModelKind;
use gough::batch::{Driven, State, accelerations, efforts};
use gough::dynamics::Dynamics;
use gough::spatial::Pose;
use std::hint::black_box;

/// States of one batch.
const COUNT: usize = 100_000;

fn programs(c: &mut Criterion) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for name in ["five-bar", "orthoglide", "delta", "gough-stewart", "3-rpr"] {
        let robot = gough::Robot::shipped(name).expect("shipped");
        let (model, mode) = (robot.model(), robot.mode());
        let poses = gough_bench::poses(&robot, 256);
        let n = robot.components().len();
        let (t, td): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (0.3 - 0.1 * i as f64, 0.5 + 0.2 * i as f64)).unzip();
        let states: Vec<State<'_>> = (0..COUNT).map(|i| State { pose: &poses[i % 256], t_r: &t, td_r: &td }).collect();
        let tau = Dynamics::new(model).inverse(model, &poses[0], mode, &t, &td, None).expect("regular").to_vec();
        let driven: Vec<Driven<'_>> =
            (0..COUNT).map(|i| Driven { pose: &poses[i % 256], t_r: &t, efforts: &tau }).collect();
        let mut group = c.benchmark_group(format!("programs/{name}"));
        group.throughput(Throughput::Elements(COUNT as u64)).sample_size(10);
        group.bench_function("idm", |b| {
            b.iter(|| one.install(|| efforts(&robot, mode, None, black_box(&states), |_| true).efforts.len()));
        });
        group.bench_function("idm, two threads or more", |b| {
            b.iter(|| efforts(&robot, mode, None, black_box(&states), |_| true).efforts.len());
        });
        group.bench_function("ddm", |b| {
            b.iter(|| one.install(|| accelerations(&robot, mode, None, black_box(&driven), |_| true).done));
        });
        group.throughput(Throughput::Elements(256));
        let mut memory = Dynamics::new(model);
        group.bench_function("idm, general road", |b| {
            b.iter(|| poses.iter().filter(|x| memory.inverse(model, x, mode, &t, &td, None).is_ok()).count());
        });
        group.bench_function("ddm, general road", |b| {
            b.iter(|| poses.iter().filter(|x| memory.direct(model, x, mode, &t, &tau, None).is_ok()).count());
        });
        for (kind, given) in [(ModelKind::Idm, &td), (ModelKind::Ddm, &tau)] {
            let program = robot.program(kind).expect("a program");
            let by_matrix = program.inputs()[0].entries.len() == 12;
            let row = |x: &Pose<f64>| {
                let matrix = || x.p.iter().chain(x.R.0.transpose().iter()).copied().collect();
                [if by_matrix { matrix() } else { robot.coordinates_of(x) }, t.clone(), given.clone()].concat()
            };
            let (rows, mut single): (Vec<_>, _) = (poses.iter().map(row).collect(), program.one_by_one());
            assert!(rows.iter().all(|row| single.answer(row).is_ok()));
            group.bench_function(format!("{}, one by one", kind.name()), |b| {
                b.iter(|| rows.iter().filter(|row| single.answer(black_box(row)).is_ok()).count());
            });
        }
        group.throughput(Throughput::Elements(1));
        group.bench_function("idm, made", |b| {
            b.iter_batched(
                || gough::Robot::shipped(name).expect("shipped"),
                |fresh| fresh.program(ModelKind::Idm).is_ok(),
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group!(benches, programs);
criterion_main!(benches);
