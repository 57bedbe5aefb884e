//! Random postures for the tests of all robots.
#![allow(dead_code, non_snake_case)]

use gough::Robot;
use gough::description::{Coordinate, ReadOptions};
use gough::kinematics::newton::{self, Unknowns};
use gough::kinematics::platform::{home_pose, pose_with};
use gough::kinematics::{Positions, Posture, WorkingMode, inverse};
use gough::linalg::dense::{Matrix, svd};
use gough::linalg::small::Dense;
use gough::spatial::{Mat3, Pose, Rotation, vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

pub fn robot(name: &str) -> Robot {
    gough::Robot::shipped(name).unwrap_or_else(|e| panic!("{e}"))
}

/// Robots with what the shipped ones lack: dependent platform coordinates, and legs without closed form.
pub fn extra_robots() -> Vec<Robot> {
    ["3-prs", "3-upu", "bent-leg", "3-rrr-spherical", "redundant"].map(|name| compile(name, &text(name))).into()
}

/// A robot file of the tests.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/robots/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub fn compile(name: &str, text: &str) -> Robot {
    Robot::from_toml(name, text, &ReadOptions::default(), None).unwrap_or_else(|e| panic!("{e}"))
}

pub fn all_robots() -> Vec<Robot> {
    gough::robots::names().map(robot).chain(extra_robots()).collect()
}

/// The robots that have reference files.
pub const SIX: [&str; 6] = ["five-bar", "3-rpr", "orthoglide", "gough-stewart", "dualv", "tripteron"];

/// The states of a robot's reference file.
pub fn reference_states(name: &str) -> Vec<Value> {
    let data: Value = serde_json::from_str(gough::robots::reference(name).unwrap()).unwrap();
    data["states"].as_array().unwrap().clone()
}

pub fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("list").iter().map(|x| x.as_f64().expect("number")).collect()
}

/// The pose of a reference state.
pub fn state_pose(state: &Value) -> Pose<f64> {
    let p = numbers(&state["pose"]["p"]);
    let R: Vec<Vec<f64>> = state["pose"]["R"].as_array().unwrap().iter().map(numbers).collect();
    Pose { R: Rotation(Mat3::from_fn(|i, j| R[i][j])), p: vec3(p[0], p[1], p[2]) }
}

pub fn random(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// A pose near home: positions within `reach` sizes of the robot, angles within `turn` radians.
pub fn random_pose(robot: &Robot, random: &mut Pcg64Mcg, reach: f64, turn: f64) -> Pose<f64> {
    let model = robot.model();
    let home = *robot.home().pose();
    let at = gough::kinematics::platform::coordinates(model, &home);
    let given: Vec<(Coordinate, f64)> = model
        .topology()
        .platform
        .independent
        .iter()
        .map(|c| {
            let spread = if c.is_angle() { turn } else { reach * model.size() };
            (*c, at[c.index()] + random.random_range(-spread..spread))
        })
        .collect();
    pose_with(model, &home_pose(model), &given)
}

/// Smallest singular value of the closures over everything but the motors, scaled: zero at a Type 2 singularity (and
/// where a passive joint is free). Robots with idle freedoms have zeros by design.
pub fn distance_to_type_2(robot: &Robot, pos: &Positions<f64>) -> f64 {
    let model = robot.model();
    let unknowns = Unknowns::forward(model);
    let n = unknowns.coords.len() + unknowns.platform.len();
    let mut a = Dense::zeros(newton::row_count(model, &unknowns), n + 1);
    newton::jacobian(model, &unknowns, model.length(), pos, &mut a);
    let f = svd(&Matrix::from_fn(a.rows, n, |i, j| a.at(i, j)));
    if f.s.len() < n { 0.0 } else { f.s[n - 1] }
}

/// Smallest discriminant of the legs, each divided by the largest value it takes in the sample of `typical`.
pub fn smallest_margin(pos: &Positions<f64>, typical: &[f64]) -> f64 {
    pos.margins.iter().zip(typical).map(|(m, t)| m / t).fold(f64::INFINITY, f64::min)
}

/// What the discriminants are at home.
pub fn typical_margins(robot: &Robot) -> Vec<f64> {
    robot.home().positions().margins.iter().map(|m| m.abs().max(1e-12)).collect()
}

/// A random posture of a mode that keeps a stated distance from singularities: discriminants above 2 % of their home
/// values, smallest singular value of the forward problem above 0.02. `None` when the pose has no such posture.
pub fn regular_posture(robot: &Robot, pose: &Pose<f64>, mode: &WorkingMode, typical: &[f64]) -> Option<Posture> {
    let posture = inverse(robot.model(), pose, mode).ok()?;
    let regular =
        smallest_margin(posture.positions(), typical) > 0.02 && distance_to_type_2(robot, posture.positions()) > 0.02;
    regular.then_some(posture)
}

/// Eigenvalues of `K x = λ M x`, ascending, by another program's factors than the library's.
pub fn eigenvalues(k: &Matrix, m: &Matrix) -> Vec<f64> {
    let l = m.clone().cholesky().unwrap().l();
    let left = l.solve_lower_triangular(k).unwrap().transpose();
    let mut list = l.solve_lower_triangular(&left).unwrap().symmetric_eigenvalues().as_slice().to_vec();
    list.sort_by(f64::total_cmp);
    list
}
