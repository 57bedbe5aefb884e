//! Pieces that answers have in common: where the platform is, and how joints stand and move.

use super::geometry::KinematicMatrices;
use super::words;
use crate::description::{Coordinate, Coordinates};
use crate::kinematics::Posture;
use crate::kinematics::motion::Motion;
use crate::kinematics::platform::coordinates;
use crate::linalg::small::Dense;
use crate::model::{CoordId, Model};
use crate::spatial::{Mat3, Pose, Rotation, vec3};
use serde::Serialize;
use std::collections::BTreeMap;

/// Where the platform is.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct PlatformPose {
    /// Origin, in metres.
    pub p: [f64; 3],
    /// Orientation: rows of the rotation matrix.
    pub R: [[f64; 3]; 3],
    /// Angle of a planar platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phi: Option<f64>,
}

impl PlatformPose {
    #[doc(hidden)]
    pub fn new(model: &Model<f64>, pose: &Pose<f64>) -> Self {
        let planar = model.topology().platform.coordinates == Coordinates::Planar;
        Self {
            p: [pose.p.x, pose.p.y, pose.p.z],
            R: std::array::from_fn(|i| std::array::from_fn(|j| pose.R.0[(i, j)])),
            phi: planar.then(|| coordinates(model, pose)[Coordinate::Rz.index()]),
        }
    }
}

impl PlatformPose {
    /// As a pose that questions take.
    pub fn pose(&self) -> Pose<f64> {
        let R = Mat3::from_fn(|i, j| self.R[i][j]);
        Pose { p: vec3(self.p[0], self.p[1], self.p[2]), R: Rotation(R) }
    }
}

/// Positions of joints, and their rates and accelerations where the question has a motion.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct JointMotion {
    /// Positions, rad or m.
    pub q: Vec<f64>,
    /// Rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qd: Option<Vec<f64>>,
    /// Accelerations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qdd: Option<Vec<f64>>,
}

impl JointMotion {
    pub(crate) fn new(model: &Model<f64>, posture: &Posture, motion: Option<&Motion<f64>>, joints: &[CoordId]) -> Self {
        Self {
            q: posture.joints(model, joints),
            qd: motion.map(|m| joints.iter().map(|c| m.rates[*c]).collect()),
            qdd: motion.map(|m| joints.iter().map(|c| m.accels[*c]).collect()),
        }
    }
}

/// Positions, rates and accelerations of the drives, as documents have them.
#[derive(Serialize)]
pub(super) struct DriveMotion<'i> {
    pub(super) q: &'i [f64],
    pub(super) qd: &'i [f64],
    pub(super) qdd: &'i [f64],
}

/// A posture of the robot, perhaps in motion.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct PostureAnswer {
    /// The platform.
    pub pose: PlatformPose,
    /// Active joints, in the order of [`Robot::active_joints`](crate::Robot::active_joints).
    pub active: JointMotion,
    /// Passive joints, in the order of [`Robot::passive_joints`](crate::Robot::passive_joints).
    pub passive: JointMotion,
    /// Working mode by name.
    pub working_mode: String,
    /// Largest remaining gap of the loops, m or rad.
    pub residual: f64,
    /// Largest remaining gaps of the loops: m, rad.
    #[serde(skip)]
    pub gaps: [f64; 2],
    /// Twist that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twist: Option<Vec<f64>>,
    /// Acceleration that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceleration: Option<Vec<f64>>,
    /// Joints that the pose leaves open and nothing gives, with where they were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<BTreeMap<String, f64>>,
    /// Matrices of first and second order, when asked for.
    #[serde(flatten)]
    pub matrices: Option<KinematicMatrices>,
}

impl PostureAnswer {
    #[doc(hidden)]
    pub fn new(model: &Model<f64>, posture: &Posture, motion: Option<&Motion<f64>>) -> Self {
        let t = model.topology();
        let (gap_m, gap_rad) = posture.gap(model);
        Self {
            pose: PlatformPose::new(model, posture.pose()),
            active: JointMotion::new(model, posture, motion, &t.active),
            passive: JointMotion::new(model, posture, motion, &t.passive),
            working_mode: posture.mode().name(t),
            residual: gap_m.max(gap_rad),
            gaps: [gap_m, gap_rad],
            twist: None,
            acceleration: None,
            assumed: None,
            matrices: None,
        }
    }
}

/// Joints that the pose leaves open and nothing gives, with where they were taken, by name.
pub(crate) fn assumed(model: &Model<f64>, given: &[(CoordId, f64)]) -> Option<BTreeMap<String, f64>> {
    let list = words::assumed(model, given);
    let name = |(c, q): &(CoordId, f64)| (model.topology().coords[*c].name.clone(), *q);
    (!list.is_empty()).then(|| list.iter().map(name).collect())
}

/// Rows of a matrix.
pub(crate) fn rows(m: &Dense<f64>) -> Vec<Vec<f64>> {
    m.data.chunks(m.cols.max(1)).take(m.rows).map(<[f64]>::to_vec).collect()
}
