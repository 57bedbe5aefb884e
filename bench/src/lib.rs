//! What the benchmarks share: random postures of a robot.
#![allow(non_snake_case)]

pub mod frame;
pub mod navaro;
pub mod rigid;

use gough::Robot;
use gough::kinematics::inverse;
use gough::scalar::{LANES, Lanes, lanes};
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Mat3, Pose, Rotation, vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Reachable poses near home, always the same ones.
pub fn poses(robot: &Robot, count: usize) -> Vec<Pose<f64>> {
    let mut random = Pcg64Mcg::seed_from_u64(42);
    let model = robot.model();
    let home = *robot.home().pose();
    let mut found = Vec::new();
    while found.len() < count {
        let mut pose = home;
        let mut turn = [0.0; 3];
        for c in &model.topology().platform.independent {
            let x: f64 = random.random_range(-0.2..0.2);
            if c.is_angle() {
                turn[c.index() - 3] = x;
            } else {
                pose.p[c.index()] += x * model.size();
            }
        }
        pose.R = from_rpy(turn[0], turn[1], turn[2]) * pose.R;
        if inverse(model, &pose, robot.mode()).is_ok() {
            found.push(pose);
        }
    }
    found
}

/// The poses four by four.
pub fn in_lanes(poses: &[Pose<f64>]) -> Vec<Pose<Lanes>> {
    poses
        .chunks_exact(LANES)
        .map(|four| {
            let pack = |f: &dyn Fn(&Pose<f64>) -> f64| lanes(std::array::from_fn(|k| f(&four[k])));
            Pose {
                R: Rotation(Mat3::from_fn(|i, j| pack(&|X| X.R.0[(i, j)]))),
                p: vec3(pack(&|X| X.p.x), pack(&|X| X.p.y), pack(&|X| X.p.z)),
            }
        })
        .collect()
}
