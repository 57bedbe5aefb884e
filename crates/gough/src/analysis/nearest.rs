//! The nearest singular pose: the point of a singular surface closest to a posture, found step by step.

use super::singularity::{Kind, Report, SINGULAR, Singularity, singularities};
use crate::kinematics::{Posture, SolveError, inverse_at_limit_from, inverse_from};
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

/// What a search found, and whether it was let finish.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The nearest singular pose of those found.
    pub nearest: Option<Nearest>,
    /// Poses that the search went down from, of those it wanted to.
    pub starts: (usize, usize),
    /// Whether every start was followed to its end.
    pub finished: bool,
}

/// The nearest pose with a singularity of the same kind and leg as `from`, searched from the posture and from poses around
/// it; `None` when no search settles.
pub fn nearest(model: &Model<f64>, start: &Posture, from: &Singularity) -> Option<Nearest> {
    nearest_while(model, start, from, &|| true).nearest
}

/// The nearest pose with a singularity of the same kind and leg as `from`, searched as long as `goes_on` says so: it is asked
/// before every posture.
pub fn nearest_while(
    model: &Model<f64>,
    start: &Posture,
    from: &Singularity,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Searched {
    let n = model.topology().platform.independent.len();
    let reach = 0.5 * model.size();
    let wanted = 1 + 4 * n;
    let around = (0..2 * n).flat_map(|k| [0.3, 1.0].map(|far| (k, far))).filter_map(|(k, far)| {
        let mut step = vec![0.0; n];
        step[k / 2] = if k % 2 == 0 { far * reach } else { -far * reach };
        // As far as the workspace goes that way.
        (0..6).take_while(|_| goes_on()).find_map(|h| {
            let pose = moved(model, start.pose(), &step, 0.5_f64.powi(h));
            inverse_from(model, &pose, start).ok()
        })
    });
    let mut searched = Searched { nearest: None, starts: (0, wanted), finished: true };
    for first in std::iter::once(start.clone()).chain(around) {
        let found = descend(model, start, first, from, goes_on);
        let nearer = |n: &Nearest| searched.nearest.as_ref().is_none_or(|known| n.distance < known.distance);
        searched.nearest = found.filter(nearer).or(searched.nearest);
        if !goes_on() {
            searched.finished = false;
            break;
        }
        searched.starts.0 += 1;
    }
    searched
}

/// A search that comes no nearer has arrived when this share of the robot's size is left, to first order.
const CLOSE: f64 = 1e-7;

/// Down to a singular pose from `at`.
///
/// Each step goes to the point of the tangent plane `σ + ∇σ·δ = 0` that is closest to the start. In Type 1 it is `σ²` that
/// is followed, which is smooth up to the limit of reach. Where another leg ends the way, the step goes along its limit.
fn descend(
    model: &Model<f64>,
    start: &Posture,
    mut at: Posture,
    from: &Singularity,
    goes_on: &dyn Fn() -> bool,
) -> Option<Nearest> {
    let same = |s: &&Singularity| s.kind == from.kind && s.leg == from.leg;
    let mut close = None;
    for _ in (0..MOST_STEPS).take_while(|_| goes_on()) {
        let report = singularities(model, &at);
        let here = report.list.iter().find(same)?;
        let away = difference(model, start.pose(), at.pose());
        let (f, g) = followed(here);
        let steep = dot(&g, &g);
        let reached = || Nearest { posture: at.clone(), distance: dot(&away, &away).sqrt(), singularity: here.clone() };
        if here.sigma < SINGULAR {
            return Some(reached());
        }
        if f < CLOSE * model.size() * steep.sqrt() {
            close = Some(reached());
        }
        if !(steep > 1e-24) {
            break;
        }
        let along = dot(&g, &away);
        let mut step: Vec<f64> = g.iter().zip(&away).map(|(g, a)| -a - g * (f - along) / steep).collect();
        // Not farther than a part of the robot's size at once.
        let shorten = (0.3 * model.size() / dot(&step, &step).sqrt()).min(1.0);
        step.iter_mut().for_each(|x| *x *= shorten);
        let Some(next) = take_step(model, &at, &step, (from, &report), goes_on) else { break };
        at = next;
    }
    close
}

/// The function whose zero is looked for, and its gradient.
fn followed(s: &Singularity) -> (f64, Vec<f64>) {
    match s.kind {
        Kind::Type1 => (s.sigma.powi(2), s.gradient.iter().map(|g| 2.0 * s.sigma * g).collect()),
        _ => (s.sigma, s.gradient.clone()),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The posture after a step, or after as much of it as the workspace allows: along the limit of a leg that ends the way,
/// bent inwards as that limit is.
fn take_step(
    model: &Model<f64>,
    at: &Posture,
    step: &[f64],
    (from, report): (&Singularity, &Report),
    goes_on: &dyn Fn() -> bool,
) -> Option<Posture> {
    let there = |step: &[f64], share: f64| inverse_at_limit_from(model, &moved(model, at.pose(), step, share), at);
    // The longest part of the step that the workspace allows, and the leg that ends it.
    let mut blocking = None;
    let mut straight = None;
    for k in (0..40).take_while(|_| goes_on()) {
        match there(step, 0.5_f64.powi(k)) {
            Ok(next) if k == 0 => return Some(next),
            Ok(next) => {
                straight = Some(next);
                break;
            }
            Err(SolveError::OutOfReach { leg, .. } | SolveError::AtLimit { leg }) => blocking = Some(leg),
            Err(_) => blocking = None,
        }
    }
    // The limit that is looked for does not block the way: it ends it.
    let limits = |s: &&Singularity| {
        matches!(s.kind, Kind::Type1 | Kind::Lpjts) && s.leg == blocking && !(s.kind == from.kind && s.leg == from.leg)
    };
    let near = report.list.iter().filter(limits).min_by(|a, b| a.sigma.total_cmp(&b.sigma));
    if let Some(inward) = near.map(|s| followed(s).1).filter(|g| dot(g, g) > 1e-12 && dot(g, step) < 0.0) {
        let size = dot(&inward, &inward);
        let back = dot(&inward, step) / size;
        let along: Vec<f64> = step.iter().zip(&inward).map(|(s, g)| s - g * back).collect();
        let length = dot(&along, &along).sqrt();
        let bent = |share: f64, bend: f64| -> Vec<f64> {
            let depth = bend * share * share * length / size.sqrt();
            along.iter().zip(&inward).map(|(a, g)| a * share + g * depth).collect()
        };
        let shares = (0..12).map(|k| 0.5_f64.powi(k));
        let tries = shares.flat_map(|share| [0.1, 0.5, 2.0].map(|bend| bent(share, bend)));
        if let Some(next) =
            tries.filter(|_| length > 0.0).take_while(|_| goes_on()).find_map(|step| there(&step, 1.0).ok())
        {
            return Some(next);
        }
    }
    straight
}

/// How a pose differs from another, in the independent components, angles at the length scale.
fn difference(model: &Model<f64>, from: &Pose<f64>, to: &Pose<f64>) -> Vec<f64> {
    let (u, angle) = to_axis_angle(&(to.R * from.R.inverse()));
    let (p, w): (Vec3<f64>, Vec3<f64>) = (to.p - from.p, u * angle);
    let component = |k: usize| if k < 3 { p[k] } else { w[k - 3] * model.length() };
    model.topology().platform.independent.iter().map(|c| component(c.index())).collect()
}

/// A pose moved by a share of a step in the independent components, angles at the length scale.
pub fn moved(model: &Model<f64>, pose: &Pose<f64>, step: &[f64], share: f64) -> Pose<f64> {
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
