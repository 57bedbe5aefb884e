//! The Cartesian method: published numbers of Heli4, and laws that hold for every robot.

use crate::common::*;
use gough::description::{Options, RodInertia, VirtualTwists};
use gough::elastodynamics::cartesian::{Cartesian, Choices};
use gough::kinematics::inverse;
use gough::spatial::{Pose, Wrench};
use gough::Robot;
use serde_json::Value;

fn heli4(set: &[(&str, &str)]) -> Robot {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../robots/heli4/robot.toml")).unwrap();
    let set = set.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let options = Options { set, ..Options::default() };
    Robot::from_toml("heli4", &text, &options, None).unwrap()
}

fn reference() -> Value {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../robots/heli4/reference.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A matrix or list of the reference, angular part first there, linear part first here.
fn turned(v: &Value) -> [[f64; 6]; 6] {
    let at = |i: usize, j: usize| v[(i + 3) % 6][(j + 3) % 6].as_f64().unwrap();
    std::array::from_fn(|i| std::array::from_fn(|j| at(i, j)))
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn at<'r>(robot: &'r Robot, p: &[f64], choices: Choices) -> Cartesian<'r> {
    let model = robot.model();
    let mut c = Cartesian::new(model, robot.home(), choices).unwrap();
    let pose = Pose::translation(gough::spatial::vec3(p[0], p[1], p[2]));
    c.take_posture(&inverse(model, &pose, robot.mode()).unwrap()).unwrap();
    c
}

fn assert_near(found: &[f64], expected: &[f64], relative: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?} {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= relative * b.abs(), "{what}: {found:?} {expected:?}");
    }
}

fn assert_matrix(found: &[[f64; 6]; 6], expected: &[[f64; 6]; 6], relative: f64, what: &str) {
    for i in 0..6 {
        for j in 0..6 {
            let size = (expected[i][i] * expected[j][j]).abs().sqrt().max(1e-9);
            assert!((found[i][j] - expected[i][j]).abs() <= relative * size, "{what} {i} {j}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn heli4_has_the_matrices_and_frequencies_of_its_reference() {
    let robot = heli4(&[]);
    let r = reference();
    let c = at(&robot, &[0.0, 0.0, -0.625], Choices::of(robot.model()));
    println!("{:?}\n{:?}", c.rigid().unwrap().hz, c.flexible(None).unwrap());
    for v in [VirtualTwists::Null, VirtualTwists::Pure] {
        let c = at(&robot, &[0.0, 0.0, -0.625], Choices { virtual_twists: v, ..Choices::of(robot.model()) });
        println!("{v:?} {:?}", c.flexible(None).unwrap().hz);
    }
    assert_matrix(&c.data().M, &turned(&r["M"]), 1e-9, "M");
    assert_matrix(&c.data().K_R, &turned(&r["K_R"]), 1e-9, "K_R");
    assert_matrix(&c.data().K_F, &turned(&r["K_F"]), 1e-9, "K_F");
    assert_near(&c.rigid().unwrap().hz, &numbers(&r["f_rigid"]), 1e-9, "rigid");
    assert_near(&c.flexible(None).unwrap().hz, &numbers(&r["f_flex"]), 1e-9, "flexible");
}

#[test]
fn heli4_has_the_frequencies_of_the_reference_grid() {
    let robot = heli4(&[("end_effector", "0")]);
    for pose in reference()["poses"].as_array().unwrap() {
        let p = numbers(&pose["p"]);
        let c = at(&robot, &p, Choices::of(robot.model()));
        assert_matrix(&c.data().M, &turned(&pose["M"]), 1e-8, "M");
        assert_matrix(&c.data().K_R, &turned(&pose["K_R"]), 1e-8, "K_R");
        assert_matrix(&c.data().K_F, &turned(&pose["K_F_noKE"]), 1e-8, "K_F");
        assert_near(&c.rigid().unwrap().hz, &numbers(&pose["f_rigid3"]), 1e-9, "rigid");
        assert_near(&c.flexible(None).unwrap().hz, &numbers(&pose["f_flex6_noKE"]), 1e-9, "flexible");
        let exact = Choices { rods: RodInertia::Exact, ..Choices::of(robot.model()) };
        let c = at(&robot, &p, exact);
        assert_near(&c.flexible(None).unwrap().hz, &numbers(&pose["f_flex6_noKE_exact_rods"]), 1e-9, "exact rods");
    }
}

#[test]
fn a_load_on_heli4_adds_the_stiffness_of_the_reference() {
    let robot = heli4(&[("end_effector", "0")]);
    let load = &reference()["load_test"];
    let c = at(&robot, &numbers(&load["p"]), Choices::of(robot.model()));
    let w = numbers(&load["wrench"]);
    let wrench = Wrench::from_array(std::array::from_fn(|k| w[(k + 3) % 6]));
    let K_G = c.loaded(wrench).unwrap();
    assert_matrix(&K_G, &turned(&load["K_G"]), 1e-6, "K_G");
    assert_near(&c.flexible(None).unwrap().hz, &numbers(&load["f_without"]), 1e-9, "without");
    assert_near(&c.flexible(Some(&K_G)).unwrap().hz, &numbers(&load["f_with"]), 1e-9, "with");
}
