//! Inverse geometry: from a platform pose to all joints.

use criterion::{Criterion, criterion_group, criterion_main};
use gough::dynamics::Dynamics;
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

/// Robots without closed forms along a path of the platform, each posture from the one before.
fn along_a_path(c: &mut Criterion) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/gough/tests/robots/quattro.toml");
    let robot = gough::Robot::read(std::path::Path::new(file)).expect("a robot of the tests");
    let model = robot.model();
    let at = |k: usize| {
        let t = k as f64 * std::f64::consts::TAU / 4096.0;
        robot.pose_at(&[0.1 * t.cos(), 0.1 * t.sin(), -0.75 + 0.03 * (3.0 * t).sin(), 0.2 * t.sin()]).expect("a pose")
    };
    let poses: Vec<_> = (0..4096).map(at).collect();
    let mut group = c.benchmark_group("along a path/quattro");
    let (mut pos, mut i) = (Positions::new(model).going_on(), 0);
    group.bench_function("closed posture", |b| {
        b.iter(|| {
            i = (i + 1) % poses.len();
            assert!(inverse_in(model, black_box(&poses[i]), robot.mode(), &mut pos).is_ok());
        });
    });
    let (mut dynamics, rest) = (Dynamics::new(model).going_on(), [0.5; 4]);
    group.bench_function("efforts", |b| {
        b.iter(|| {
            i = (i + 1) % poses.len();
            dynamics.inverse(model, black_box(&poses[i]), robot.mode(), &rest, &rest, None).expect("efforts")[0]
        });
    });
}

criterion_group!(benches, inverse, along_a_path);
criterion_main!(benches);
