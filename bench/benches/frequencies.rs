//! Natural frequencies of NaVARo from the platform pose, and of Heli4 from its Jacobians.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gough::Robot;
use gough::analysis::map::{Quantity, map};
use gough::analysis::{CoordinateSpan, FrequencyOf, Region};
use gough::description::{Coordinate, ReadOptions};
use gough::elastodynamics::cartesian::{Cartesian, Choices, FourPlatforms};
use gough::elastodynamics::{Actuators, ElasticModel, ElasticPlan, Vibration, assemble};
use gough::kinematics::inverse;
use gough::spatial::{Pose, vec3};
use std::hint::black_box;
use std::sync::Arc;

fn navaro(c: &mut Criterion) {
    let robot = gough::Robot::shipped("navaro").expect("shipped");
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
    let mut each = |name: &str, ask: &mut dyn FnMut(&mut Vibration) -> f64| {
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
    let robot = gough::Robot::shipped("navaro").expect("shipped");
    let span = |coordinate| CoordinateSpan { coordinate, low: -0.1, high: 0.1, count: 100 };
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

/// The Cartesian method for Heli4: M, K and three rigid frequencies of four poses at once, and one pose after another.
fn heli4(c: &mut Criterion) {
    let robot = gough::Robot::shipped("heli4").expect("shipped");
    let model = robot.model();
    let mut one = Cartesian::new(model, robot.home(), Choices::of(model)).expect("elastic");
    let mut four = FourPlatforms::new(&one).expect("closed forms");
    let pose = |k: u32| {
        let (x, y) = (0.01 * f64::from(k % 8) - 0.04, 0.01 * f64::from(k / 8) - 0.04);
        Pose::translation(vec3(x, y, -0.625))
    };
    let poses: Vec<Pose<f64>> = (0..64).map(pose).collect();
    let mut group = c.benchmark_group("cartesian/heli4");
    group.throughput(Throughput::Elements(4));
    group.bench_function("M, K and rigid frequencies of four poses", |b| {
        let mut i = 0;
        b.iter(|| {
            i = (i + 4) % poses.len();
            let all: &[Pose<f64>; 4] = poses[i..i + 4].try_into().expect("four");
            let good = four.take(model, black_box(all), robot.mode());
            black_box((good, four.rigid_hz()));
        });
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("M, K and rigid frequencies of a pose", |b| {
        let mut i = 0;
        b.iter(|| {
            i = (i + 1) % poses.len();
            one.take(black_box(&poses[i]), robot.mode()).expect("in reach");
            black_box(one.rigid().expect("solved").hz[0]);
        });
    });
    group.finish();
}

/// NaVARo with other numbers of legs and of elements per link.
fn grown(legs: usize, elements: usize) -> Robot {
    let text = gough::robots::text("navaro").expect("shipped");
    let (head, _) = text.split_once("[legs]").expect("legs");
    let head = head
        .replace(", elements = 1", "")
        .replace("material = \"alu\"", &format!("material = \"alu\", elements = {elements}"))
        .replace("mode = [\"-\", \"-\", \"-\"]", &format!("mode = {:?}", vec!["-"; legs]));
    let list = |part: usize| (1..=legs).map(|k| format!("{k}{part}")).collect::<Vec<_>>();
    let each = (1..=legs).map(|k| format!("{k} = {{ template = \"leg\", gamma = \"pi/2 + 2*pi*{k}/{legs}\" }}\n"));
    let hold = [list(1), list(2)].concat();
    let text = format!(
        "{head}[legs]\n{}[actuation]\nlinks = {:?}\n[elastic]\nhold = {hold:?}\n",
        each.collect::<String>(),
        list(1)
    );
    Robot::from_toml("grown", &text, &ReadOptions::default(), None).unwrap_or_else(|e| panic!("{e}"))
}

/// Time grows with the number of legs and of elements, and not with its square. The lowest four: with more legs the fifth lies in a
/// cluster, one mode per leg, which takes longer to tell apart.
fn growth(c: &mut Criterion) {
    let mut group = c.benchmark_group("growth");
    let legs = [3, 4, 6, 8].map(|n| (format!("lowest four, {n} legs"), n, 1));
    let elements = [1, 2, 4, 8].map(|n| (format!("lowest four, {n} elements per link"), 3, n));
    for (name, legs, elements) in legs.into_iter().chain(elements) {
        let robot = grown(legs, elements);
        let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked).expect("flexible");
        let poses = gough_bench::poses(&robot, 16);
        group.bench_function(format!("{name}, {} coordinates", v.modes()), |b| {
            let mut i = 0;
            b.iter(|| {
                i = (i + 1) % poses.len();
                v.take(black_box(&poses[i]), robot.mode()).expect("in reach");
                v.lowest(4).expect("solved")[3].hz
            });
        });
    }
}

criterion_group!(benches, navaro, heli4, maps, growth);
criterion_main!(benches);
