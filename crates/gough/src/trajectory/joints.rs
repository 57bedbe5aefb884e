//! Motions given by the active joints, carried to the platform.

use super::{Sample, TrajectoryError};
use crate::kinematics::jacobians::matrices_at;
use crate::kinematics::{Kind, Posture, SolveError, forward};
use crate::model::Model;

/// Active joints at a time, in the order of [`crate::model::Topology::active`].
#[derive(Clone, PartialEq, Debug)]
pub struct JointSample {
    /// Time.
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Rates, if given.
    pub rates: Option<Vec<f64>>,
    /// Accelerations, if given beside the rates.
    pub accelerations: Option<Vec<f64>>,
}

/// Where the platform is for each sample, followed from a posture near the first one in its assembly mode:
/// `t_r = J q̇_a`, `ṫ_r = J q̈_a + a_t`, (7.63), (7.163).
pub fn from_joints(
    model: &Model<f64>,
    near: &Posture,
    samples: &[JointSample],
) -> Result<Vec<Sample>, TrajectoryError> {
    let mut posture = near.clone();
    let one = |(i, sample): (usize, &JointSample)| {
        let failed = |why: SolveError| TrajectoryError::Posture { sample: i, why };
        posture = forward(model, &sample.q, &posture).map_err(failed)?;
        if posture.mode() != near.mode() {
            let name = |p: &Posture| p.mode().name(model.topology());
            return Err(failed(SolveError::NotInMode { mode: name(near), others: vec![name(&posture)] }));
        }
        let twist = sample.rates.as_ref().map(|rates| carried(model, &posture, rates, None)).transpose();
        let twist = twist.map_err(failed)?;
        let acceleration = match (&twist, &sample.accelerations) {
            (Some(t_r), Some(accelerations)) => {
                Some(carried(model, &posture, accelerations, Some(t_r)).map_err(failed)?)
            }
            (None, Some(_)) => return Err(TrajectoryError::Uneven { sample: i }),
            _ => None,
        };
        Ok(Sample { t: sample.t, pose: *posture.pose(), twist, acceleration })
    };
    samples.iter().enumerate().map(one).collect()
}

/// `J x`, and the bias of a twist.
fn carried(model: &Model<f64>, posture: &Posture, x: &[f64], t_r: Option<&[f64]>) -> Result<Vec<f64>, SolveError> {
    let singular = || SolveError::Singular { leg: None, kind: Kind::Type2 };
    let jacobians = matrices_at(model, posture, t_r)?.jacobians;
    let mut y = jacobians.J.ok_or_else(singular)?.apply(x);
    if t_r.is_some() {
        let bias = jacobians.a_t.ok_or_else(singular)?;
        y.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
    }
    Ok(y)
}
