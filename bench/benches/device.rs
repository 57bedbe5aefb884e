//! Maps on a graphics processor beside the same maps on all cores: how many nodes per second, and how far apart.
//! `cargo bench -p gough-bench --features cuda --bench device`

use gough::Robot;
use gough::analysis::map::{MapError, Quantity, map_of, map_on_device};
use gough::analysis::{CoordinateSpan, Region};
use gough::description::Coordinate;
use std::time::Instant;

/// Nodes along a coordinate, on the device and here.
const MANY: [usize; 2] = [464, 40];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cubes = [
        ("gough-stewart", ["holding", "conditioning", "manipulability"], [Coordinate::X, Coordinate::Y, Coordinate::Z]),
        ("delta", ["holding", "conditioning", "amplification"], [Coordinate::X, Coordinate::Y, Coordinate::Z]),
        ("3-rpr", ["conditioning", "effort", "amplification"], [Coordinate::X, Coordinate::Y, Coordinate::Rz]),
    ];
    for (name, quantities, coordinates) in cubes {
        let robot = Robot::shipped(name)?;
        let home = *robot.home().pose();
        for quantity in quantities {
            let wrench = vec![1.0; robot.model().topology().platform.independent.len()];
            let quantity = Quantity::named(quantity, None, Some(wrench))?;
            let ask = |count: usize| {
                let span = |c: Coordinate| {
                    let (middle, half) = if c.is_angle() { (0.0, 0.2) } else { (home.p[c.index()], 0.03) };
                    CoordinateSpan { coordinate: c, low: middle - half, high: middle + half, count }
                };
                Region::new(robot.model(), coordinates.iter().map(|c| span(*c)).collect(), &home)
            };
            let few = ask(MANY[1])?;
            let begun = Instant::now();
            let here = map_of(&robot, robot.mode(), &few, &quantity, &|_| true);
            let here_rate = few.len() as f64 / begun.elapsed().as_secs_f64();
            let there = map_on_device(&robot, robot.mode(), &few, &quantity, &|_| true)?;
            let pairs = here.values.iter().zip(&there.values);
            let off = pairs.map(|(a, b)| match (a.get(), b.get()) {
                (Some(a), Some(b)) => (a - b).abs() / a.abs(),
                (None, None) => 0.0,
                _ => f64::INFINITY,
            });
            let off = off.fold(0.0, f64::max);
            let many = ask(MANY[0])?;
            // The first time the kernel is compiled.
            let timed = || -> Result<_, MapError> {
                let begun = Instant::now();
                let found = map_on_device(&robot, robot.mode(), &many, &quantity, &|_| true)?;
                Ok((found, begun.elapsed().as_secs_f64()))
            };
            let (_, first) = timed()?;
            let (found, again) = timed()?;
            let [first, rate] = [first, again].map(|t| many.len() as f64 / t);
            let kernel = many.len() as f64 / found.device_seconds.unwrap_or(f64::NAN);
            let missing = found.values.iter().filter(|v| v.get().is_none()).count();
            println!(
                "{name} {quantity:?}: {here_rate:.2e} nodes/s on all cores; device {kernel:.2e} in the kernel, {first:.2e} in all the first time, {rate:.2e} again \
                 ({} nodes, {missing} without an answer); largest relative difference {off:.1e}",
                many.len()
            );
        }
    }
    Ok(())
}
