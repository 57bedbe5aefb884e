//! Platform coordinates and poses.

use super::error::SolveError;
use crate::description::{Coordinate, Coordinates};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::orientation::{from_constant_rpy, from_rpy, rotation_defect, to_rpy, wrap};
use crate::spatial::{Pose, Vec3};

/// The home pose of the file: what it gives, and zero for the rest.
pub fn home_pose<S: Real>(model: &Model<S>) -> Pose<S> {
    let [x, y, z, roll, pitch, yaw] = model.numbers().home;
    Pose { R: from_constant_rpy([roll, pitch, yaw]), p: Vec3::new(x, y, z) }
}

/// The pose with these coordinates; those not given are taken from `base`.
pub fn pose_with(base: &Pose<f64>, given: &[(Coordinate, f64)]) -> Pose<f64> {
    let mut p = base.p;
    let mut rpy = None;
    for (c, value) in given {
        if c.is_angle() {
            rpy.get_or_insert_with(|| to_rpy(&base.R))[c.index() - 3] = *value;
        } else {
            p[c.index()] = *value;
        }
    }
    let R = rpy.map_or(base.R, |[roll, pitch, yaw]| from_rpy(roll, pitch, yaw));
    Pose { R, p }
}

/// All six coordinates of a pose.
pub fn coordinates(pose: &Pose<f64>) -> [f64; 6] {
    let [roll, pitch, yaw] = to_rpy(&pose.R);
    [pose.p.x, pose.p.y, pose.p.z, roll, pitch, yaw]
}

/// The independent coordinates of a pose.
pub fn independent(model: &Model<f64>, pose: &Pose<f64>) -> Vec<f64> {
    let all = coordinates(pose);
    model.topology().platform.independent.iter().map(|c| all[c.index()]).collect()
}

/// Whether the platform can move that way at all: coordinates it does not have must keep their home values.
pub fn check_pose(model: &Model<f64>, pose: &Pose<f64>) -> Result<(), SolveError> {
    let fail = |reason: String| Err(SolveError::NotAPose { reason });
    if !pose.p.iter().chain(pose.R.0.iter()).all(|x| x.is_finite()) {
        return fail("the pose has a number that is not finite".to_owned());
    }
    if rotation_defect(&pose.R.0) > 1e-6 {
        return fail("R is not a rotation matrix: its columns must be unit vectors at right angles".to_owned());
    }
    let platform = &model.topology().platform;
    let fixed: Vec<Coordinate> = match &platform.coordinates {
        Coordinates::Spatial | Coordinates::Some(_) => return Ok(()),
        Coordinates::Planar | Coordinates::Translation => {
            Coordinate::ALL.into_iter().filter(|c| !platform.independent.contains(c)).collect()
        }
        Coordinates::Point(_) => {
            Coordinate::ALL[..3].iter().copied().filter(|c| !platform.independent.contains(c)).collect()
        }
    };
    let (home, given) = (coordinates(&home_pose(model)), coordinates(pose));
    for c in fixed {
        let k = c.index();
        let off = if c.is_angle() { wrap(given[k] - home[k]) } else { given[k] - home[k] };
        let scale = if c.is_angle() { 1.0 } else { model.size() };
        if off.abs() > 1e-9 * scale {
            let names = ["x", "y", "z", "roll", "pitch", "yaw"];
            return fail(format!(
                "the platform cannot move in {}: it stays at {:.6}, the pose has {:.6}",
                names[k], home[k], given[k]
            ));
        }
    }
    Ok(())
}
