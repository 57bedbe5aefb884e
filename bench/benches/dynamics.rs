//! Inverse and direct dynamics: from platform pose, twist and acceleration to efforts, and from efforts back.

use criterion::{Criterion, criterion_group, criterion_main};
use gough::dynamics::Dynamics;
use std::hint::black_box;

fn dynamics(c: &mut Criterion) {
    for name in ["gough-stewart", "five-bar", "orthoglide", "delta", "3-rpr"] {
        let robot = gough::Robot::shipped(name).expect("shipped");
        let model = robot.model();
        let poses = gough_bench::poses(&robot, 256);
        let n = model.topology().platform.independent.len();
        let (t, td): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (0.3 - 0.1 * i as f64, 0.5 + 0.2 * i as f64)).unzip();
        let mut memory = Dynamics::new(model);
        let mut group = c.benchmark_group(format!("dynamics/{name}"));
        group.bench_function("idm", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                memory.inverse(model, black_box(&poses[i]), robot.mode(), &t, &td, None).map(|x| x[0]).ok()
            });
        });
        let efforts = memory.inverse(model, &poses[0], robot.mode(), &t, &td, None).expect("regular").to_vec();
        group.bench_function("ddm", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                memory.direct(model, black_box(&poses[i]), robot.mode(), &t, &efforts, None).map(|x| x[0]).ok()
            });
        });
    }
}

criterion_group!(benches, dynamics);
criterion_main!(benches);
