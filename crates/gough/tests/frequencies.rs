//! Natural frequencies against published tables, reference numbers and laws.
#![allow(non_snake_case)]

mod common;

use common::{numbers, robot};
use gough::Robot;
use gough::elastodynamics::{Actuators, ElasticModel, ElasticPlan, assemble};
use gough::kinematics::{Posture, inverse};
use gough::linalg::dense::{Matrix, generalized_eigen};
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Pose, vec3};
use serde_json::Value;
use std::sync::Arc;

fn dense_frequencies(robot: &Robot, posture: &Posture, actuators: Actuators) -> Vec<f64> {
    let model = robot.model();
    let plan = Arc::new(ElasticPlan::new(model, actuators, robot.home().positions()).unwrap());
    let elastic = ElasticModel::new(model, &plan);
    let mut data = elastic.data();
    assemble(model, &elastic, posture.positions(), &mut data);
    let (K, M) = (data.K.dense(), data.M.dense());
    let of = |A: &gough::linalg::small::Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| A.at(i, j));
    let (values, _) = generalized_eigen(&of(&K), &of(&M)).unwrap();
    values.iter().map(|v| v.sqrt() / std::f64::consts::TAU).collect()
}

#[test]
fn navaro_has_the_frequencies_of_the_published_table() {
    let robot = robot("navaro");
    let data: Value = serde_json::from_str(gough::robots::reference("navaro").unwrap()).unwrap();
    for p in data["poses"].as_array().unwrap() {
        let at = |k: &str| p["pose"][k].as_f64().unwrap();
        let pose = Pose { R: from_rpy(0.0, 0.0, at("phi")), p: vec3(at("x"), at("y"), 0.0) };
        let posture = inverse(robot.model(), &pose, robot.mode()).unwrap();
        let found = dense_frequencies(&robot, &posture, Actuators::Locked);
        assert_eq!(found.len(), 90);
        for (f, printed) in found.iter().zip(numbers(&p["printed_hz"])) {
            assert!((f - printed).abs() < 0.00501, "{f} {printed}");
        }
        for (f, r) in found.iter().zip(numbers(&p["frequencies_hz"])) {
            assert!((f / r - 1.0).abs() < 1e-9, "{f} {r}");
        }
    }
}

#[test]
fn dual_emps_has_the_nine_frequencies_of_two_other_programs() {
    let robot = robot("dual-emps");
    let found = dense_frequencies(&robot, robot.home(), Actuators::Locked);
    let data: Value = serde_json::from_str(gough::robots::reference("dual-emps").unwrap()).unwrap();
    let wanted = numbers(&data["frequencies"]["nominal"]["locked_hz"]);
    assert_eq!(found.len(), wanted.len());
    for (f, r) in found.iter().zip(&wanted) {
        assert!((f / r - 1.0).abs() < 1e-8, "{f} {r}");
    }
    // The printed row rests on rounded inertias: 0.3 % for f1 to f3, then 0.7, 1.5 and 4 %.
    let printed = numbers(&data["frequencies"]["printed"]["model"]);
    for ((f, p), bound) in found.iter().zip(&printed).zip([0.003, 0.003, 0.003, 0.007, 0.015, 0.04]) {
        assert!((f / p - 1.0).abs() < bound, "{f} {p}");
    }
}
