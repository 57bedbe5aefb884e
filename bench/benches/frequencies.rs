//! Natural frequencies of NaVARo, from the platform pose.

use criterion::{Criterion, criterion_group, criterion_main};
use gough::analysis::map::{Quantity, map};
use gough::analysis::{FrequencyOf, Region, Span};
use gough::description::Coordinate;
use gough::elastodynamics::{Actuators, ElasticModel, ElasticPlan, Vibration, assemble};
use gough::kinematics::inverse;
use std::hint::black_box;
use std::sync::Arc;

fn navaro(c: &mut Criterion) {
    let robot = gough::robots::load("navaro").expect("shipped").expect("good");
    let model = robot.model();
    let poses = gough_bench::poses(&robot, 64);
    let mut group = c.benchmark_group("frequencies/navaro");
    let plan = Arc::new(ElasticPlan::new(model, Actuators::Locked, robot.home().positions()).expect("a plan"));
    let elastic = ElasticModel::new(model, &plan);
    let mut data = elastic.data();
    let postures: Vec<_> = poses.iter().map(|p| inverse(model, p, robot.mode()).expect("in reach")).collect();
    group.bench_function("stiffness and mass of a posture", |b| {
        let mut i = 0;
        b.iter(|| {
            i = (i + 1) % postures.len();
            assemble(model, &elastic, black_box(postures[i].positions()), &mut data);
            black_box(&data);
        });
    });
    let mut v = Vibration::new(model, robot.home(), Actuators::Locked).expect("flexible");
    let mut each = |name: &str, ask: &mut dyn FnMut(&mut Vibration<'_>) -> f64| {
        group.bench_function(name, |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                v.take(black_box(&poses[i]), robot.mode()).expect("in reach");
                ask(&mut v)
            });
        });
    };
    each("pose to stiffness and mass", &mut |_| 0.0);
    each("lowest five", &mut |v| v.lowest(5).expect("solved")[4].hz);
    each("lowest five, started from the last", &mut |v| v.lowest_from_last(5).expect("solved")[4].hz);
    each("all ninety", &mut |v| v.all().expect("solved")[89].hz);
    group.finish();
}

fn maps(c: &mut Criterion) {
    let robot = gough::robots::load("navaro").expect("shipped").expect("good");
    let span = |coordinate| Span { coordinate, low: -0.1, high: 0.1, count: 100 };
    let spans = vec![span(Coordinate::X), span(Coordinate::Y)];
    let region = Region::new(robot.model(), spans, robot.home().pose()).expect("a region");
    let mut group = c.benchmark_group("map/navaro");
    group.sample_size(10);
    for (name, followed) in [("f1 of 10000 poses", false), ("f1 of 10000 poses, followed", true)] {
        let of = FrequencyOf { number: 1, actuators: Actuators::Locked, followed };
        group.bench_function(name, |b| {
            b.iter(|| map(robot.model(), robot.mode(), &region, &Quantity::Frequency(of), &|_| true));
        });
    }
}

criterion_group!(benches, navaro, maps);
criterion_main!(benches);
