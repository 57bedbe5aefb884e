//! Velocities and accelerations: the numbers of the reference files, and the laws.
#![allow(non_snake_case)]

mod common;

use common::robot;
use gough::Robot;
use gough::kinematics::motion::{Motion, accelerations, velocities};
use gough::kinematics::{Posture, inverse};
use gough::spatial::{Accel, Mat3, Pose, Rotation, Twist, vec3};
use serde_json::Value;

const SIX: [&str; 6] = ["five-bar", "3-rpr", "orthoglide", "gough-stewart", "dualv", "tripteron"];

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("list").iter().map(|x| x.as_f64().expect("number")).collect()
}

fn pose(state: &Value) -> Pose<f64> {
    let p = numbers(&state["pose"]["p"]);
    let R: Vec<Vec<f64>> = state["pose"]["R"].as_array().unwrap().iter().map(numbers).collect();
    Pose { R: Rotation(Mat3::from_fn(|i, j| R[i][j])), p: vec3(p[0], p[1], p[2]) }
}

/// Six components from the platform's own coordinates.
fn full(robot: &Robot, own: &[f64]) -> [f64; 6] {
    let mut all = [0.0; 6];
    for (c, x) in robot.model().topology().platform.independent.iter().zip(own) {
        all[c.index()] = *x;
    }
    all
}

fn motion_of(robot: &Robot, posture: &Posture, twist: [f64; 6], acceleration: [f64; 6]) -> Motion<f64> {
    let model = robot.model();
    let mut pos = posture.positions().clone();
    let mut motion = Motion::new(model);
    motion.V_WE = Twist::from_array(twist);
    let a = Twist::from_array(acceleration);
    motion.A_WE = Accel { a: a.v, alpha: a.w };
    velocities(model, &mut pos, &mut motion);
    accelerations(model, &mut pos, &mut motion);
    motion
}

#[test]
fn rates_and_accelerations_of_all_reference_states() {
    for name in SIX {
        let robot = robot(name);
        let model = robot.model();
        let t = model.topology();
        let data: Value = serde_json::from_str(gough::robots::reference(name).unwrap()).unwrap();
        for (i, state) in data["states"].as_array().unwrap().iter().enumerate() {
            let posture = inverse(model, &pose(state), robot.mode()).unwrap();
            let twist = full(&robot, &numbers(&state["twist"]));
            let acceleration = full(&robot, &numbers(&state["acceleration"]));
            let motion = motion_of(&robot, &posture, twist, acceleration);
            for (part, coords) in [("active", &t.active), ("passive", &t.passive)] {
                for (key, of) in [("qd", &motion.rates), ("qdd", &motion.accels)] {
                    let wanted = numbers(&state[part][key]);
                    let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
                    for (c, w) in coords.iter().zip(&wanted) {
                        let off = (of[*c] - w).abs() / scale;
                        assert!(off < 1e-10, "{name} state {i} {part} {key} q{}: {} {w}", t.coords[*c].name, of[*c]);
                    }
                }
            }
        }
    }
}
