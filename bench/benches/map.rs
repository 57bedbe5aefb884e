//! Maps: a million poses of the five-bar.

use criterion::{Criterion, criterion_group, criterion_main};
use gough::analysis::map::{Quantity, map};
use gough::analysis::{CoordinateSpan, Region};
use gough::description::Coordinate;

fn conditioning(c: &mut Criterion) {
    let robot = gough::Robot::shipped("five-bar").expect("shipped");
    let span = |coordinate, low, high| CoordinateSpan { coordinate, low, high, count: 1000 };
    // All of it within reach, so that every node is computed in full.
    let spans = vec![span(Coordinate::X, -0.1, 0.1), span(Coordinate::Y, 0.22, 0.32)];
    let region = Region::new(robot.model(), spans, robot.home().pose()).expect("a region");
    let mut group = c.benchmark_group("map/five-bar");
    group.sample_size(10);
    group.bench_function("conditioning of a million poses", |b| {
        b.iter(|| {
            map(
                robot.model(),
                robot.mode(),
                &region,
                &Quantity::named("conditioning", None, None).expect("a quantity"),
                &|_| true,
            )
        });
    });
}

criterion_group!(benches, conditioning);
criterion_main!(benches);
