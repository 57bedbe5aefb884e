//! Robots without closed form stand on branches, and stay there: postures next to each other have joints next to each other,
//! whatever way leads to them, in any plane, at any angle.

use crate::common::{compile, random, text};
use gough::Robot;
use gough::description::Coordinate::{self, Rx, Ry, Rz, X, Y, Z};
use gough::dynamics::{Dynamics, inverse_dynamics};
use gough::kinematics::platform::pose_with;
use gough::kinematics::{Posture, inverse, working_modes};
use gough::spatial::orientation::wrap;
use rand::RngExt;

fn test_robot(name: &str) -> Robot {
    compile(name, &text(name))
}

/// The posture in the file's mode with some coordinates moved from home.
fn moved(robot: &Robot, by: &[(Coordinate, f64)]) -> Result<Posture, gough::kinematics::SolveError> {
    let home = gough::kinematics::platform::coordinates(robot.model(), robot.home().pose());
    let given: Vec<_> = by.iter().map(|(c, d)| (*c, home[c.index()] + d)).collect();
    inverse(robot.model(), &pose_with(robot.model(), robot.home().pose(), &given), robot.mode())
}

/// The largest change of a joint, in radians and sizes of the robot.
fn change(robot: &Robot, a: &Posture, b: &Posture) -> f64 {
    let topology = robot.model().topology();
    let all: Vec<_> = topology.coords.ids().collect();
    let (p, q) = (a.joints(robot.model(), &all), b.joints(robot.model(), &all));
    let one = |(k, c): (usize, &gough::model::CoordId)| {
        let slides = topology.coords[*c].slides;
        if slides { (p[k] - q[k]).abs() / robot.model().size() } else { wrap(p[k] - q[k]).abs() }
    };
    all.iter().enumerate().map(one).fold(0.0, f64::max)
}

/// Steps of a millimetre and a milliradian move no joint by more than a twentieth of a radian, a walk of 0.2 m and back.
#[test]
fn neighbours_stand_alike() {
    for (name, axes) in [("quattro", [X, Y, Rz]), ("delta4", [X, Y, Rz]), ("quattro-coupled", [X, Y, Rz])] {
        let robot = test_robot(name);
        let mut last = robot.home().clone();
        let mut answered = 0;
        for k in 0..40 {
            let t = f64::from(k) * 0.16;
            let by = [(axes[0], 0.06 * t.sin()), (axes[1], 0.05 * (1.0 - t.cos())), (axes[2], 0.08 * (1.3 * t).sin())];
            let next = moved(&robot, &by).unwrap_or_else(|e| panic!("{name} {by:?}: {e}"));
            assert!(change(&robot, &last, &next) < 0.25, "{name} at {by:?} jumps by {}", change(&robot, &last, &next));
            last = next;
            answered += 1;
        }
        assert_eq!(answered, 40);
    }
}

/// What goes on from posture to posture arrives where what is led from home arrives.
#[test]
fn going_on_is_being_led_from_home() {
    let robot = test_robot("quattro");
    let (model, mode) = (robot.model(), robot.mode());
    let mut memory = Dynamics::new(model).going_on();
    let (t, td) = ([0.2, -0.1, 0.3, 0.4], [1.0, 0.5, -2.0, 0.7]);
    for k in 0..25 {
        let s = f64::from(k) / 24.0;
        let posture = moved(&robot, &[(X, -0.1 * s), (Y, 0.07 * s * s), (Z, 0.03 * s), (Rz, 0.2 * s)]).unwrap();
        let long = inverse_dynamics(model, &posture, &t, &td).unwrap().efforts;
        let on = memory.inverse(model, posture.pose(), mode, &t, &td, None).unwrap();
        assert!(on.iter().zip(&long).all(|(a, b)| (a - b).abs() < 1e-8 * (1.0 + b.abs())), "{on:?} {long:?}");
    }
}

/// A planar robot is planar in any plane: its closed forms know it, and an angle of 100 degrees is no angle of 80.
#[test]
fn the_same_excavator_in_two_planes() {
    let (upright, flat) = (test_robot("excavator"), test_robot("excavator-xy"));
    for robot in [&upright, &flat] {
        assert!(robot.model().topology().platform.dependent.is_empty(), "{}", robot.name());
    }
    let mut random = random(7);
    let mut answered = 0;
    for _ in 0..60 {
        let by: [f64; 3] = [0.4, 0.4, 0.6].map(|r| random.random_range(-r..r));
        let (a, b) = (
            moved(&upright, &[(X, by[0]), (Z, by[1]), (Ry, by[2])]),
            moved(&flat, &[(X, by[0]), (Y, by[1]), (Rz, -by[2])]),
        );
        let (Ok(a), Ok(b)) = (a, b) else { continue };
        let rest = [0.0; 3];
        let efforts = |r: &Robot, p: &Posture| inverse_dynamics(r.model(), p, &rest, &rest).map(|d| d.efforts);
        let (Ok(p), Ok(q)) = (efforts(&upright, &a), efforts(&flat, &b)) else { continue };
        assert!(p.iter().zip(&q).all(|(x, y)| (x - y).abs() < 1e-7 * (1.0 + y.abs())), "{p:?} {q:?}");
        answered += 1;
    }
    assert!(answered > 20, "{answered}");
    // The bucket tipped over: roll and yaw stay zero, the pitch is 100 degrees.
    let far = pose_with(upright.model(), upright.home().pose(), &[(X, 5.3), (Z, 0.8), (Ry, 100_f64.to_radians())]);
    let posture = inverse(upright.model(), &far, upright.mode()).unwrap();
    let found = inverse_dynamics(upright.model(), &posture, &[0.0; 3], &[0.0; 3]).unwrap();
    assert!((found.efforts[2] + 971.970_836).abs() < 1e-3, "{:?}", found.efforts);
}

/// A frame that is turned in its platform makes no other robot, also where its pitch passes a quarter turn.
#[test]
fn a_pitch_passes_a_quarter_turn() {
    let plain = test_robot("xz");
    let file = text("xz");
    let file = file.replace("pitch = \"5 deg\"", "roll = \"-90 deg\", pitch = \"-89 deg\"");
    let turned = file.replace("mass = 2\n", "mass = 2\nframe = { rpy = [\"-90 deg\", \"-94 deg\", 0] }\n");
    let turned = compile("turned", &turned);
    assert!(turned.model().topology().platform.dependent.is_empty());
    let (t, td) = ([0.2, -0.1, 0.7], [1.0, 0.5, -2.0]);
    for k in -5..6 {
        let by = [(X, 0.01), (Z, -0.005), (Ry, f64::from(k).to_radians())];
        let efforts = |robot: &Robot| {
            let posture = moved(robot, &by).unwrap_or_else(|e| panic!("{by:?}: {e}"));
            inverse_dynamics(robot.model(), &posture, &t, &td).unwrap().efforts
        };
        let (a, b) = (efforts(&plain), efforts(&turned));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + a.abs())), "{by:?}: {a:?} {b:?}");
    }
}

/// Every mode at a pose leads back to its posture, named or by example, and postures differ.
#[test]
fn modes_lead_to_their_postures() {
    for (name, by) in [("delta4", [(X, 0.03), (Z, 0.02)]), ("exechon", [(Rx, 0.1), (Ry, -0.05)])] {
        let robot = test_robot(name);
        let at = moved(&robot, &by).unwrap();
        let found = working_modes(robot.model(), at.pose()).unwrap();
        assert!(found.iter().any(|p| change(&robot, p, &at) < 1e-6), "{name}: the file's mode is not listed");
        for p in &found {
            let again = inverse(robot.model(), at.pose(), p.mode()).unwrap_or_else(|e| panic!("{name}: {e}"));
            // A universal joint may stand turned round; the motors may not.
            let topology = robot.model().topology();
            let motors = |p: &Posture| p.joints(robot.model(), &topology.active);
            let off = motors(p).iter().zip(motors(&again)).map(|(a, b)| wrap(a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{name} {}", p.mode().name(topology));
        }
    }
}

/// Ranges belong to the branch: what the file forbids is refused, on the way along a trajectory too.
#[test]
fn ranges_are_kept() {
    let robot = test_robot("quattro-range");
    let topology = robot.model().topology();
    for k in 0..10 {
        let posture = moved(&robot, &[(X, 0.004 * f64::from(k))]).unwrap();
        for (c, coord) in topology.coords.iter() {
            let q = posture.joints(robot.model(), &[c])[0];
            assert!(coord.range.is_none_or(|r| r.low - 1e-9 <= q && q <= r.high + 1e-9), "{} at {q}", coord.name);
        }
    }
}

/// Readings of more motors than freedoms, rounded or noisy, lead to the pose within what the noise explains.
#[test]
fn contradicting_motors_are_fitted() {
    let robot = crate::common::robot("dualv");
    let (model, topology) = (robot.model(), robot.model().topology());
    let mut random = random(12);
    let mut answered = 0;
    for _ in 0..20 {
        let by = [0.05, 0.05, 0.1].map(|r: f64| random.random_range(-r..r));
        let Ok(posture) = moved(&robot, &[(X, by[0]), (Y, by[1]), (Rz, by[2])]) else { continue };
        let noisy: Vec<f64> =
            posture.joints(model, &topology.active).iter().map(|q| q + random.random_range(-1e-5..1e-5)).collect();
        let found = gough::kinematics::assemblies(model, &noisy, robot.mode()).unwrap();
        assert!(found.misfit > 0.0 && found.misfit < 2e-5, "{}", found.misfit);
        let off = (found.postures[0].pose().p - posture.pose().p).norm();
        assert!(off < 2e-5, "{off}");
        answered += 1;
    }
    assert!(answered > 10, "{answered}");
    let wrong: Vec<f64> = robot
        .home()
        .joints(model, &topology.active)
        .iter()
        .enumerate()
        .map(|(k, q)| q + 0.02 * (k % 2) as f64)
        .collect();
    assert!(gough::kinematics::assemblies(model, &wrong, robot.mode()).is_err());
}

/// A posture that exists is found from its own motors, in a leg that carries two arms and a wrist.
#[test]
fn the_motors_of_merged_legs_lead_back() {
    let robot = test_robot("fivebar-wrist");
    let (model, topology) = (robot.model(), robot.model().topology());
    let mut random = random(13);
    for _ in 0..10 {
        let by = [0.08, 0.05, 0.6].map(|r: f64| random.random_range(-r..r));
        let posture = moved(&robot, &[(X, by[0]), (Y, by[1]), (Rz, by[2])]).unwrap();
        let motors = posture.joints(model, &topology.active);
        let found = gough::kinematics::postures(model, &motors, robot.mode()).unwrap();
        let back = |p: &Posture| (p.pose().p - posture.pose().p).norm() < 1e-8 && p.mode() == robot.mode();
        assert!(found.postures.iter().any(back), "{by:?}");
    }
}

/// Legs that hang on a leg without closed form have the names of home at other poses, each mode once; a mode leads back from its joints.
#[test]
fn modes_of_legs_that_hang_on_each_other_keep_their_names() {
    let robot = test_robot("geared");
    let names = |pose: &gough::Pose<f64>| -> Vec<String> {
        let found = robot.kinematics(pose).all_modes().unwrap().working_modes;
        found.into_iter().map(|m| m.working_mode).collect()
    };
    let mut home = names(robot.home().pose());
    home.sort();
    assert_eq!(home.len(), 4);
    let pose = robot.pose("x=0.02, y=0.3").unwrap();
    let mut here = names(&pose);
    here.sort();
    assert_eq!(here, home);
    let stands = robot.inverse_geometry(&pose).unwrap();
    let again = robot.forward_geometry_in(&stands.active.q, robot.mode()).unwrap().assemblies;
    assert!(again.iter().any(|a| (a.pose.p[0] - 0.02).abs() < 1e-9 && (a.pose.p[1] - 0.3).abs() < 1e-9));
}
