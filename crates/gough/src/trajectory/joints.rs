//! Motions given by the active joints, carried to the platform.

use super::{Sample, TimeLaw, Trajectory, TrajectoryError, positive};
use crate::kinematics::jacobians::matrices_at;
use crate::kinematics::{Kind, Posture, SolveError, forward, inverse};
use crate::model::Model;
use crate::spatial::Pose;
use crate::spatial::orientation::wrap;

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

/// Samples of a motion of the joints between two poses.
const SAMPLES: u32 = 400;

/// From one pose to another with every active joint on a straight line of its own, by a law; the platform follows, in the
/// assembly mode of the start. Angles take the shorter way. At corners of the law's acceleration it is smooth over one of
/// the samples, of which there are 400.
pub fn by_joints(
    model: &Model<f64>,
    start: &Posture,
    to: &Pose<f64>,
    law: TimeLaw,
    duration: f64,
) -> Result<Trajectory, TrajectoryError> {
    positive("the duration", duration)?;
    let active = &model.topology().active;
    let end =
        inverse(model, to, start.mode()).map_err(|why| TrajectoryError::Posture { sample: SAMPLES as usize, why })?;
    let (first, last) = (start.joints(model, active), end.joints(model, active));
    let way = |k: usize| {
        let coord = &model.topology().coords[active[k]];
        let way = last[k] - first[k];
        if coord.slides || coord.counted || coord.range.is_some() { way } else { wrap(way) }
    };
    let law = law.over(0.0, duration);
    let sample = |i: u32| {
        let t = duration * f64::from(i) / f64::from(SAMPLES);
        let [s, v, a, _] = law.at(t);
        let of = |s: f64| (0..active.len()).map(|k| way(k) * s).collect::<Vec<f64>>();
        let q = of(s).iter().zip(&first).map(|(x, q)| q + x).collect();
        JointSample { t, q, rates: Some(of(v)), accelerations: Some(of(a)) }
    };
    let samples: Vec<JointSample> = (0..=SAMPLES).map(sample).collect();
    let carried = from_joints(model, start, &samples)?;
    Trajectory::sampled(model, start.mode(), &carried)
}
