//! Inverse geometry: from a platform pose to all joints.

use criterion::{Criterion, criterion_group, criterion_main};
use gough::kinematics::geometry::solve_legs;
use gough::kinematics::{Positions, inverse_in, joint_value};
use gough::model::Model;
use gough::scalar::Lanes;
use std::hint::black_box;

fn inverse(c: &mut Criterion) {
    for name in ["gough-stewart", "five-bar", "orthoglide", "delta", "navaro"] {
        let robot = gough::Robot::shipped(name).expect("shipped");
        let model = robot.model();
        let poses = gough_bench::poses(&robot, 256);
        let mut pos = Positions::new(model);
        let mut group = c.benchmark_group(format!("inverse geometry/{name}"));
        // Joints as cosine-sine pairs and slides, loops checked: what the next stages start from.
        group.bench_function("closed posture", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                inverse_in(model, black_box(&poses[i]), robot.mode(), &mut pos).is_ok()
            });
        });
        // The same and every joint coordinate as a number.
        let all: Vec<_> = model.topology().coords.ids().collect();
        group.bench_function("closed posture and angles", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                let ok = inverse_in(model, black_box(&poses[i]), robot.mode(), &mut pos).is_ok();
                let sum: f64 = all.iter().map(|c| joint_value(model, &pos, *c)).sum();
                (ok, sum)
            });
        });
        // The closed forms alone.
        group.bench_function("kernel", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                pos.X_WE = *black_box(&poses[i]);
                solve_legs(model, robot.mode().signs(), &mut pos);
                black_box(&pos);
            });
        });
        let lanes: Model<Lanes> = model.cast();
        let four: Vec<_> = gough_bench::in_lanes(&poses);
        let mut pos = Positions::new(&lanes);
        group.bench_function("kernel, four postures in lanes", |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % four.len();
                pos.X_WE = *black_box(&four[i]);
                solve_legs(&lanes, robot.mode().signs(), &mut pos);
                black_box(&pos);
            });
        });
    }
}

criterion_group!(benches, inverse);
criterion_main!(benches);
