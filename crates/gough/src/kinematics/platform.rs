//! Platform coordinates and poses.

use super::chart::PoseChart;
use super::error::SolveError;
use crate::description::{Coordinate, Coordinates};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::Pose;
use crate::spatial::orientation::{from_rpy, rotation_defect, wrap};

/// The home pose of the file: what it gives, and zero for the rest.
pub fn home_pose<S: Real>(model: &Model<S>) -> Pose<S> {
    model.numbers().home_pose
}

/// The pose with these coordinates; those not given are taken from `base`.
pub fn pose_with(model: &Model<f64>, base: &Pose<f64>, given: &[(Coordinate, f64)]) -> Pose<f64> {
    PoseChart::of(model).pose_with(base, given)
}

/// All six coordinates of a pose, as the chart of the robot has them.
pub fn coordinates(model: &Model<f64>, pose: &Pose<f64>) -> [f64; 6] {
    PoseChart::of(model).coordinates(pose)
}

/// The independent coordinates of a pose.
pub fn independent(model: &Model<f64>, pose: &Pose<f64>) -> Vec<f64> {
    let all = coordinates(model, pose);
    model.topology().platform.independent.iter().map(|c| all[c.index()]).collect()
}

/// Whether the platform can move that way at all: coordinates it does not have must keep their home values.
pub fn check_pose(model: &Model<f64>, pose: &Pose<f64>) -> Result<(), SolveError> {
    let fail = |reason: &str| Err(SolveError::NotAPose { reason: reason.to_owned() });
    let platform = &model.topology().platform;
    let home = &model.numbers().home_pose;
    let tolerance = 1e-9 * model.size();
    let near = |a: f64, b: f64, limit: f64| (a - b).abs() <= limit;
    if !pose.p.iter().all(|x| x.is_finite()) {
        return fail("the pose has a number that is not finite");
    }
    if let Some(far) = pose.p.iter().find(|x| x.abs() > FARTHEST) {
        return fail(&format!("the pose has {far:e} m, beyond any robot; check the unit"));
    }
    let held = match &platform.coordinates {
        Coordinates::Spatial | Coordinates::Some(_) | Coordinates::Planar if !(rotation_defect(&pose.R.0) <= 1e-6) => {
            return fail(NOT_A_ROTATION);
        }
        Coordinates::Spatial => true,
        Coordinates::Some(_) => {
            let (home, given) = (coordinates(model, home), coordinates(model, pose));
            let changes = |c: &Coordinate| platform.independent.contains(c) || platform.dependent.contains(c);
            let turned = from_rpy(given[3], given[4], given[5]);
            let stays = |c: &Coordinate| near(given[c.index()], home[c.index()], tolerance);
            let (lengths, angles) = Coordinate::ALL.split_at(3);
            lengths.iter().filter(|c| !changes(c)).all(stays)
                && (angles.iter().all(changes) || (turned.0 - pose.R.0).amax() <= 1e-9)
        }
        Coordinates::Translation => pose.R.0.iter().zip(home.R.0.iter()).all(|(a, b)| near(*a, *b, 1e-9)),
        Coordinates::Planar => {
            // Turned about the world's z only: what z is in the platform, and z in the world, do not change.
            let z = (0..3).all(|i| near(pose.R.0[(2, i)], home.R.0[(2, i)], 1e-9));
            z && near(pose.p.z, home.p.z, tolerance)
        }
        Coordinates::Point(list) => {
            let fixed = |c: &&Coordinate| !list.contains(*c);
            Coordinate::ALL[..3].iter().filter(fixed).all(|c| near(pose.p[c.index()], home.p[c.index()], tolerance))
        }
    };
    if held { Ok(()) } else { Err(moved_aside(model, pose)) }
}

/// Metres; squares of squares of what is nearer can be trusted.
pub(crate) const FARTHEST: f64 = 1e9;

const NOT_A_ROTATION: &str = "R is not a rotation matrix: its columns must be unit vectors at right angles";

/// Which coordinate that the platform does not have is not where it stays.
fn moved_aside(model: &Model<f64>, pose: &Pose<f64>) -> SolveError {
    if !(rotation_defect(&pose.R.0) <= 1e-6) {
        return SolveError::NotAPose { reason: NOT_A_ROTATION.to_owned() };
    }
    let (home, given) = (coordinates(model, &model.numbers().home_pose), coordinates(model, pose));
    let independent = &model.topology().platform.independent;
    let off = |k: usize| if k < 3 { given[k] - home[k] } else { wrap(given[k] - home[k]) };
    let aside = Coordinate::ALL.into_iter().filter(|c| !independent.contains(c));
    let worst = aside.map(Coordinate::index).max_by(|a, b| off(*a).abs().total_cmp(&off(*b).abs())).unwrap_or(0);
    let name = ["x", "y", "z", "roll", "pitch", "yaw"][worst];
    let reason =
        format!("the platform cannot move in {name}: it stays at {:.6}, the pose has {:.6}", home[worst], given[worst]);
    SolveError::NotAPose { reason }
}
