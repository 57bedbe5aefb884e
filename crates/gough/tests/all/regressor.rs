//! Efforts and energies are linear in the standard parameters: regressor times parameters is one road, Newton-Euler the other.
use crate::common::{all_robots, compile, random, random_pose, robot, text};
use gough::Robot;
use gough::dynamics::regressor::{Regressor, StandardSet, regressor};
use gough::dynamics::{Conditions, InverseDynamics, Sign, inverse_dynamics_under};
use gough::kinematics::{SolveError, inverse};
use gough::linalg::small::Dense;
use rand::RngExt;

/// Regressors and efforts of random states clear of singularities.
fn states(robot: &Robot, set: &StandardSet, count: usize, sign: Sign) -> Vec<(Regressor, InverseDynamics)> {
    let (model, mut random) = (robot.model(), random(71));
    let t = model.topology();
    let mut list = Vec::new();
    for _ in 0..20 * count {
        let pose = random_pose(robot, &mut random, 0.1, 0.1);
        let Ok(posture) = inverse(model, &pose, robot.mode()) else { continue };
        let mut any = |n: usize| (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let n = t.platform.independent.len();
        let (twist, acceleration) = (any(n), any(n));
        let open = t.plan.given.iter().map(|c| (*c, [any(1)[0], any(1)[0]])).collect();
        let conditions = Conditions { friction: Some(sign), open, ..Conditions::default() };
        let found = match inverse_dynamics_under(model, &posture, &twist, &acceleration, &conditions) {
            Ok(found) => found,
            Err(SolveError::Singular { .. } | SolveError::Uncontrolled { .. }) => continue,
            Err(e) => panic!("{}: {e}", robot.name()),
        };
        if found.condition < 100.0 && found.motion.rates.values().all(|x| x.abs() < 20.0) {
            let at = regressor(model, set, &posture, (&twist, &acceleration), sign, &conditions).unwrap();
            list.push((at, found));
        }
        if list.len() == count {
            break;
        }
    }
    assert!(2 * list.len() >= count, "{}: {} regular states", robot.name(), list.len());
    list
}

/// Largest difference of a product with a vector, over the size of what is added up in it.
fn miss(Y: &Dense<f64>, chi: &[f64], wanted: &[f64]) -> f64 {
    let product = Y.apply(chi);
    let size = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    product.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
}

#[test]
fn regressor_times_parameters_is_inverse_dynamics() {
    for robot in all_robots() {
        let set = StandardSet::new(robot.model());
        let (all, inertial) = (set.values(), set.clone().without_friction());
        for (sign, count) in [(Sign::Sharp, 60), (Sign::Smooth(0.1), 10)] {
            for (at, found) in states(&robot, &set, count, sign) {
                let efforts = at.of_efforts().unwrap();
                let friction = miss(&efforts, &all, &found.efforts_with_friction);
                assert!(friction < 1e-9, "{}: {friction}", robot.name());
                let values: Vec<f64> =
                    set.parameters.iter().map(|p| if p.quantity.is_friction() { 0.0 } else { p.value }).collect();
                let plain = miss(&efforts, &values, &found.efforts);
                assert!(plain < 1e-9, "{}: {plain}", robot.name());
                let sum = |k: usize| at.energy.iter().zip(&all).map(|(e, x)| e[k] * x).sum::<f64>();
                let kinetic = found.kinetic_energy + found.kinetic_energy_rotors;
                let size = 1e-3 + kinetic.abs() + found.potential_energy.abs();
                assert!((sum(0) - kinetic).abs() < 1e-11 * size, "{}: kinetic energy", robot.name());
                assert!((sum(1) - found.potential_energy).abs() < 1e-11 * size, "{}: potential energy", robot.name());
            }
        }
        assert!(inertial.parameters.len() < set.parameters.len());
    }
}
