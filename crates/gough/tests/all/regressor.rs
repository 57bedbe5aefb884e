//! Efforts and energies are linear in the standard parameters: regressor times parameters is one road, Newton-Euler the other.
use crate::common::{all_robots, compile, random, random_pose, robot, text};
use gough::Robot;
use gough::dynamics::regressor::{Regressor, StandardSet, regressor};
use gough::dynamics::{Conditions, InverseDynamics, Sign, inverse_dynamics_under};
use gough::identification::{BaseParameters, base_parameters};
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

/// Thirty states of every robot; with `GOUGH_FULL` set, a thousand.
#[test]
fn regressor_times_parameters_is_inverse_dynamics() {
    let many = if std::env::var_os("GOUGH_FULL").is_some() { 1000 } else { 30 };
    for robot in all_robots() {
        let set = StandardSet::new(robot.model());
        let (all, inertial) = (set.values(), set.clone().without_friction());
        for (sign, count) in [(Sign::Sharp, many), (Sign::Smooth(0.1), 5)] {
            for (at, found) in states(&robot, &set, count, sign) {
                let efforts = at.of_efforts().unwrap();
                let friction = miss(&efforts, &all, &found.efforts_with_friction);
                assert!(friction < 1e-11, "{}: {friction}", robot.name());
                let values: Vec<f64> =
                    set.parameters.iter().map(|p| if p.quantity.is_friction() { 0.0 } else { p.value }).collect();
                let plain = miss(&efforts, &values, &found.efforts);
                assert!(plain < 1e-11, "{}: {plain}", robot.name());
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

fn base(text: &str, friction: bool) -> BaseParameters {
    base_parameters(&compile("test", text), friction, 1).unwrap()
}

/// Coefficient of a standard parameter in a group.
fn coefficient(found: &BaseParameters, group: &str, parameter: &str) -> f64 {
    let group = found.base.iter().find(|b| b.name == group).unwrap_or_else(|| panic!("no group {group}"));
    let own = group.coefficients.iter().find(|c| c.parameter == parameter);
    own.unwrap_or_else(|| panic!("{parameter} is not in {}", group.group)).value
}

/// Equations (8.275)-(8.276): 7 groups in a horizontal plane, 11 with gravity in the plane; with friction of all joints, that of
/// the closure included, 17 and 21.
#[test]
fn the_five_bar_has_the_published_base_parameters() {
    let flat = gough::robots::text("five-bar").unwrap();
    let upright = flat.replace("gravity = [0, 0, -9.81]", "gravity = [0, -9.81, 0]");
    let counts = [base(flat, false), base(&upright, false), base(flat, true), base(&upright, true)];
    assert_eq!(counts.each_ref().map(|b| b.base_count), [7, 11, 17, 21]);
    let with_effect = |b: &BaseParameters| b.standard.len() - b.no_effect.len();
    assert_eq!([with_effect(&counts[2]), with_effect(&counts[3])], [23, 27]);
    let (d2, d3): (f64, f64) = (0.213, 0.1878);
    let near = |group: &str, parameter: &str, wanted: f64| {
        let found = coefficient(&counts[3], group, parameter);
        assert!((found - wanted).abs() < 1e-9 * wanted.abs(), "{group} {parameter}: {found} {wanted}");
    };
    for leg in ["1", "2"] {
        near(&format!("zz{leg}1R"), &format!("Ia{leg}1"), 1.0);
        near(&format!("zz{leg}1R"), &format!("mx{leg}2"), -d2 * d2 / d3);
        near(&format!("zz{leg}1R"), &format!("m{leg}2"), d2 * d2);
        near(&format!("zz{leg}2R"), &format!("mx{leg}2"), -d3);
        near("m.toolR", &format!("mx{leg}2"), 1.0 / d3);
        near(&format!("mx{leg}1R"), &format!("mx{leg}2"), -d2 / d3);
        near(&format!("mx{leg}1R"), &format!("m{leg}2"), d2);
    }
    let group = &counts[2].base.iter().find(|b| b.name == "zz22R").unwrap().group;
    assert_eq!(group, "zz22 - d23 mx22");
}

/// Equations (8.277)-(8.279), errata of table 7.3: 50 with the printed angle, 53 with the one that gives the printed groups.
#[test]
fn the_orthoglide_has_the_published_base_parameters() {
    let printed = text("orthoglide-bodies");
    let turned = printed
        .replace("home = { x = 0, y = 0, z = 0.34 }", "home = { x = 0.2, y = 0.2, z = 0.54 }")
        .replace("theta = 0, r = \"-a\", slider = 0.626", "theta = \"-pi/2\", r = \"-a\", slider = 0.626")
        .replace("roll = \"-pi\", pitch = 0, yaw = 0", "roll = 0, pitch = \"-pi/2\", yaw = \"pi\"");
    let (first, second) = (base(&printed, true), base(&turned, true));
    assert_eq!((first.base_count, second.base_count), (50, 53));
    assert_eq!(first.standard.len() - first.no_effect.len(), 94);
    assert!((coefficient(&second, "zz33R", "mx33") + 0.31).abs() < 1e-9);
    assert!((coefficient(&second, "m11R", "mx13") + 1.0 / 0.31).abs() < 1e-9);
    assert!((coefficient(&first, "zz23R", "zz33") - 1.0).abs() < 1e-9);
}

/// Base parameters do not depend on the random states, and the regressor of the groups alone gives all efforts.
#[test]
fn base_parameters_give_all_efforts() {
    for name in ["five-bar", "dualv", "3-rpr"] {
        let robot = robot(name);
        let (found, other) = (base_parameters(&robot, true, 1).unwrap(), base_parameters(&robot, true, 2).unwrap());
        assert_eq!(found.base_count, other.base_count, "{name}");
        let all = StandardSet::new(robot.model());
        let kept = found.base.iter().map(|b| all.parameters[b.coefficients[0].index].clone()).collect();
        let set = StandardSet { parameters: kept, frames: all.frames.clone() };
        let values: Vec<f64> = found.base.iter().map(|b| b.value).collect();
        for (at, found) in states(&robot, &set, 5, Sign::Sharp) {
            let off = miss(&at.of_efforts().unwrap(), &values, &found.efforts_with_friction);
            assert!(off < 1e-8, "{name}: {off}");
        }
    }
}

/// How many groups there are does not depend on the random states, on the order of the legs, nor on the size of the robot.
#[test]
fn counts_do_not_depend_on_seed_order_or_size() {
    let five_bar = gough::robots::text("five-bar").unwrap();
    let dualv = gough::robots::text("dualv").unwrap();
    let legs: Vec<&str> = dualv.lines().filter(|l| l.contains("template = \"rrr\"")).collect();
    assert_eq!(legs.len(), 4);
    let turned = dualv.replace(&legs.join("\n"), &legs.iter().rev().copied().collect::<Vec<_>>().join("\n"));
    assert_ne!(turned, dualv);
    let turned = turned.replace("mode = \"-+-+\"", "mode = \"+-+-\"");
    let small = five_bar.replace(" mm\"", " um\"").replace("y = 0.338175", "y = 338.175e-6");
    for (text, other) in [(five_bar, small), (dualv, turned)] {
        let plain = base(text, true);
        for seed in [1, 7] {
            let found = base_parameters(&compile("test", &other), true, seed).unwrap();
            assert_eq!((found.base_count, found.no_effect.len()), (plain.base_count, plain.no_effect.len()));
        }
    }
}
