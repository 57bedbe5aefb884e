//! Velocities and accelerations: from platform pose, twist and acceleration to all joints.

use criterion::{Criterion, criterion_group, criterion_main};
use gough::kinematics::motion::{Motion, move_in};
use gough::kinematics::{Positions, joint_value};
use std::hint::black_box;

fn motion(c: &mut Criterion) {
    for name in ["gough-stewart", "five-bar", "orthoglide", "delta", "3-rpr"] {
        let robot = gough::Robot::shipped(name).expect("shipped");
        let model = robot.model();
        let poses = gough_bench::poses(&robot, 256);
        let n = model.topology().platform.independent.len();
        let (t, td): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (0.3 - 0.1 * i as f64, 0.5 + 0.2 * i as f64)).unzip();
        let (mut pos, mut motion) = (Positions::new(model), Motion::new(model));
        let all: Vec<_> = model.topology().coords.ids().collect();
        let mut group = c.benchmark_group(format!("motion/{name}"));
        group.bench_function("all rates and accelerations", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                move_in(model, black_box(&poses[i]), robot.mode(), &t, &td, &mut pos, &mut motion).is_ok()
            });
        });
        // The same and every joint coordinate as a number.
        group.bench_function("all angles, rates and accelerations", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                let ok = move_in(model, black_box(&poses[i]), robot.mode(), &t, &td, &mut pos, &mut motion).is_ok();
                let sum: f64 = all.iter().map(|c| joint_value(model, &pos, *c)).sum();
                (ok, sum)
            });
        });
    }
}

criterion_group!(benches, motion);
criterion_main!(benches);
