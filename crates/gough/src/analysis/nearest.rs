//! The nearest singular pose: the point of a singular surface closest to a posture, found step by step.

use super::singularity::{Kind, SINGULAR, Singularity, singularities};
use crate::kinematics::{Posture, inverse, inverse_at_limit};
use crate::model::Model;
use crate::spatial::orientation::{from_axis_angle, to_axis_angle};
use crate::spatial::{Pose, Vec3};

/// A singular pose near a posture.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// The posture there.
    pub posture: Posture,
    /// How far it is, in metres, angles at the length scale.
    pub distance: f64,
    /// The singularity there.
    pub singularity: Singularity,
}

/// Steps that the search may take.
const MOST_STEPS: usize = 80;

/// The nearest pose with a singularity of the same kind and leg as `from`, searched from the posture and from poses around
/// it; `None` when no search settles.
pub fn nearest(model: &Model<f64>, start: &Posture, from: &Singularity) -> Option<Nearest> {
    let n = model.topology().platform.independent.len();
    let reach = 0.5 * model.size();
    let around = (0..2 * n).flat_map(|k| [0.3, 1.0].map(|far| (k, far))).filter_map(|(k, far)| {
        let mut step = vec![0.0; n];
        step[k / 2] = if k % 2 == 0 { far * reach } else { -far * reach };
        // As far as the workspace goes that way.
        (0..6).find_map(|h| {
            let pose = moved(model, start.pose(), &step, 0.5_f64.powi(h));
            inverse(model, &pose, start.mode()).ok()
        })
    });
    let found = std::iter::once(start.clone()).chain(around).filter_map(|first| descend(model, start, first, from));
    found.min_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// Down to a singular pose from `at`.
///
/// Each step goes to the point of the tangent plane `σ + ∇σ·δ = 0` that is closest to the start. In Type 1 it is `σ²` that
/// is followed, which is smooth up to the limit of reach.
fn descend(model: &Model<f64>, start: &Posture, mut at: Posture, from: &Singularity) -> Option<Nearest> {
    let same = |s: &Singularity| s.kind == from.kind && s.leg == from.leg;
    let mut here = singularities(model, &at).list.into_iter().find(same)?;
    for _ in 0..MOST_STEPS {
        let away = difference(model, start.pose(), at.pose());
        let (f, g): (f64, Vec<f64>) = match here.kind {
            Kind::Type1 => (here.sigma.powi(2), here.gradient.iter().map(|g| 2.0 * here.sigma * g).collect()),
            _ => (here.sigma, here.gradient.clone()),
        };
        let steep: f64 = g.iter().map(|x| x * x).sum();
        if here.sigma < SINGULAR {
            let distance = away.iter().map(|x| x * x).sum::<f64>().sqrt();
            return Some(Nearest { posture: at, distance, singularity: here });
        }
        if !(steep > 1e-24) {
            return None;
        }
        let along: f64 = g.iter().zip(&away).map(|(g, a)| g * a).sum();
        let mut step: Vec<f64> = g.iter().zip(&away).map(|(g, a)| -a - g * (f - along) / steep).collect();
        // Not farther than the size of the robot at once; nearer when the way leaves the workspace.
        let long = step.iter().map(|x| x * x).sum::<f64>().sqrt();
        let shorten = (0.3 * model.size() / long).min(1.0);
        step.iter_mut().for_each(|x| *x *= shorten);
        let next = (0..40).find_map(|k| {
            let share = 0.5_f64.powi(k);
            let pose = moved(model, at.pose(), &step, share);
            inverse_at_limit(model, &pose, start.mode(), at.pose()).ok()
        })?;
        let report = singularities(model, &next);
        here = report.list.into_iter().find(same)?;
        at = next;
    }
    None
}

/// How a pose differs from another, in the independent components, angles at the length scale.
fn difference(model: &Model<f64>, from: &Pose<f64>, to: &Pose<f64>) -> Vec<f64> {
    let (u, angle) = to_axis_angle(&(to.R * from.R.inverse()));
    let (p, w): (Vec3<f64>, Vec3<f64>) = (to.p - from.p, u * angle);
    let component = |k: usize| if k < 3 { p[k] } else { w[k - 3] * model.length() };
    model.topology().platform.independent.iter().map(|c| component(c.index())).collect()
}

/// A pose moved by a share of a step in the independent components.
fn moved(model: &Model<f64>, pose: &Pose<f64>, step: &[f64], share: f64) -> Pose<f64> {
    let mut p = pose.p;
    let mut w = Vec3::zeros();
    for (c, x) in model.topology().platform.independent.iter().zip(step) {
        match c.index() {
            k @ 0..=2 => p[k] += share * x,
            k => w[k - 3] += share * x / model.length(),
        }
    }
    let angle: f64 = w.norm();
    let R = if angle > 0.0 { from_axis_angle(w / angle, angle) * pose.R } else { pose.R };
    Pose { R, p }
}
