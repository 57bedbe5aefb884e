//! The home posture of the file, and why there is none.

use super::idle::{assemble_somewhere, near};
use super::mobility::{check_claim, closure_columns, mobility, span_of_joint};
use crate::description::{Diagnostic, Fault, Span};
use crate::kinematics::newton::{self, CLOSED, PlatformFreedom, Unknowns};
use crate::kinematics::platform::home_pose;
use crate::kinematics::{
    JointPosition, MOST_POSTURES, Positions, Posture, SolveError, WorkingMode, assemblies, closure, inverse,
    modes_near, nearest_to_home, working_modes,
};
use crate::linalg::dense::svd;
use crate::model::{CoordId, Model};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The home posture: at the pose of the file, or wherever the robot assembles near its `near` joints.
pub(super) fn home_posture(model: &Model<f64>) -> Result<Posture, Diagnostic> {
    home_postures(model).map(|list| list.into_iter().next().expect("there is a home posture"))
}

/// The home posture first, then others at its pose where the search for it has met them.
pub(super) fn home_postures(model: &Model<f64>) -> Result<Vec<Posture>, Diagnostic> {
    let d = model.description();
    let (pose, span) = match &d.home {
        Some((_, span)) => (home_pose(model), *span),
        None => match assemble_at_near(model).or_else(|| assemble_somewhere(model, 0).map(|pos| pos.X_WE)) {
            Some(pose) => (pose, d.platform.span),
            None => return Err(open_loop(model, None)),
        },
    };
    if let Some((texts, at)) = &d.mode {
        let mode = WorkingMode::parse(model.topology(), texts).map_err(|e| {
            let what = Fault::BadMode { mode: texts.join(","), reason: e.to_string() };
            Diagnostic::new(what, *at)
        })?;
        return inverse(model, &pose, &mode).map(|p| vec![p]).map_err(|e| unreachable_home(model, &e, span));
    }
    let wanted = near(model);
    if model.topology().plan.solve_platform
        && wanted.is_empty()
        && let Some(posture) = nearest_to_home(model, &pose)
        && stands_well(model, &posture)
    {
        return Ok(vec![posture]);
    }
    let mut postures = working_modes(model, &pose).map_err(|e| unreachable_home(model, &e, span))?;
    if postures.len() >= MOST_POSTURES && !model.topology().plan.solve_platform {
        postures.extend(modes_near(model, &pose, &wanted));
    }
    let distance = |p: &Posture| -> f64 {
        // Coordinates that follow are as near to home as the joints allow.
        let aside = (p.pose().p - pose.p).norm() / model.size() + (p.pose().R.0 - pose.R.0).norm();
        wanted.iter().map(|joint| off(model, p.positions(), joint)).sum::<f64>() + 1e-6 * aside
    };
    let mut order: Vec<usize> = (0..postures.len()).collect();
    order.sort_by(|a, b| distance(&postures[*a]).total_cmp(&distance(&postures[*b])));
    // Where the file tells no joint, the first posture that can be left: from a singular one no branch leads anywhere.
    let well = order.iter().find(|k| !wanted.is_empty() || stands_well(model, &postures[**k]));
    let best = *well.or(order.first()).ok_or_else(|| open_loop(model, Some(span)))?;
    postures.swap(0, best);
    Ok(postures)
}

/// A posture whose closures leave what is solved for a singular value below this is singular, or as good as that.
const STANDS: f64 = 1e-5;

/// Whether closures tell all joints, and coordinates that follow, from the pose: not where a branch ends or meets another.
fn stands_well(model: &Model<f64>, posture: &Posture) -> bool {
    let unknowns = Unknowns::inverse(model, &model.topology().plan.given);
    let n = unknowns.coords.len() + unknowns.platform.len();
    let f = svd(&closure_columns(model, &unknowns, posture.positions()));
    n == 0 || f.s.get(n - 1).is_some_and(|s| *s > STANDS * f.s[0])
}

/// Postures whose told joints differ by less, squared, in sizes and radians, are equally near.
const AS_NEAR: f64 = 1e-12;

/// Where the joints that must be given stand at home, when the file tells others of their legs: as in the closed posture at the home
/// pose whose joints are nearest to those that it tells; of several such, the one whose open joints are nearest to zero, where they
/// stand when nothing is told.
pub(super) fn open_joints(model: &Model<f64>) -> Option<Vec<f64>> {
    let topology = model.topology();
    let (told, given) = (near(model), &topology.plan.given);
    let is_told = |c: &CoordId| told.iter().any(|(n, _)| n == c);
    let leg_is_told = |c: &CoordId| told.iter().any(|(n, _)| topology.coords[*n].leg == topology.coords[*c].leg);
    if model.description().home.is_none() || !given.iter().any(|c| !is_told(c) && leg_is_told(c)) {
        return None;
    }
    let start = start_near(model);
    let held: Vec<CoordId> = told.iter().map(|(c, _)| *c).collect();
    let [without, all] = [&held[..], &[]].map(|held| Unknowns::inverse(model, held));
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let closed = |k: usize| {
        let mut pos = start.clone();
        // The joints told may be all that is open, and may be told roughly.
        let unknowns = if k.is_multiple_of(2) { &without } else { &all };
        if k > 1 {
            for (c, coord) in topology.coords.iter().filter(|(c, _)| !is_told(c)) {
                let scale = if coord.slides { model.size() } else { 1.0 };
                pos.joints[c] = JointPosition::of(scale * random.random_range(-2.0..2.0));
            }
        }
        let closes = newton::assemble(model, unknowns, &mut pos).residual <= CLOSED && newton::closes(model, &pos);
        closes.then_some(pos)
    };
    let closed: Vec<Positions<f64>> = (0..40).filter_map(closed).collect();
    let off = |pos: &Positions<f64>| told.iter().map(|joint| off(model, pos, joint)).sum::<f64>();
    let least = closed.iter().map(off).min_by(f64::total_cmp)?;
    let from_zero = |pos: &&Positions<f64>| given.iter().map(|c| self::off(model, pos, &(*c, 0.0))).sum::<f64>();
    let as_near = closed.iter().filter(|pos| off(pos) < least + AS_NEAR);
    let chosen = as_near.min_by(|a, b| from_zero(a).total_cmp(&from_zero(b)))?;
    Some(given.iter().map(|c| chosen.q(topology, *c)).collect())
}

/// The home pose, with the `near` joints of the file.
fn start_near(model: &Model<f64>) -> Positions<f64> {
    let mut pos = Positions::new(model);
    pos.X_WE = home_pose(model);
    for (c, value) in near(model) {
        pos.joints[c] = JointPosition::of(value);
    }
    pos
}

/// How far a joint is from a value, squared, in sizes and radians.
fn off(model: &Model<f64>, pos: &Positions<f64>, (c, value): &(CoordId, f64)) -> f64 {
    let q = pos.q(model.topology(), *c);
    let slides = model.topology().coords[*c].slides;
    let d = if slides { (q - value) / model.size() } else { crate::spatial::orientation::wrap(q - value) };
    d * d
}

/// The pose of the first assembly mode when `near` gives every active joint.
fn assemble_at_near(model: &Model<f64>) -> Option<crate::spatial::Pose<f64>> {
    let near = near(model);
    let active: Option<Vec<f64>> =
        model.topology().active.iter().map(|c| near.iter().find(|(n, _)| n == c).map(|(_, v)| *v)).collect();
    let found = assemblies(model, &active?, &WorkingMode::first(model.topology())).ok()?;
    found.postures.first().map(|p| *p.pose())
}

/// Why the home pose of the file cannot be taken.
fn unreachable_home(model: &Model<f64>, error: &SolveError, span: Span) -> Diagnostic {
    if let SolveError::OutOfRange { joint, value, range } = error {
        let what = Fault::HomeOutOfRange { joint: joint.clone(), value: *value, range: *range };
        return Diagnostic::new(what, span_of_joint(model.description(), joint));
    }
    if let SolveError::NotClosed { .. } = error {
        return turned_home(model);
    }
    // Coordinates that take any value: the file may claim to have chosen them, where others are needed everywhere.
    if let (SolveError::OpenFollowing { .. }, Some(pos)) = (error, assemble_somewhere(model, 0)) {
        let postures = newton::postures_near(model, &pos);
        let (found, generic) = mobility(model, &postures);
        if let Err(claim) = check_claim(model, &postures, &generic, &found) {
            return claim;
        }
    }
    let open = open_loop(model, Some(span));
    match open.what {
        Fault::LoopNotClosed { gap_m, gap_rad, .. } if gap_m < 1e-9 * model.size().max(1.0) && gap_rad < 1e-9 => {
            Diagnostic::new(Fault::BadHome { reason: error.to_string() }, span)
        }
        _ => open,
    }
}

/// The legs reach their places at home but do not close the loops: usually the platform is turned the wrong way.
pub(super) fn turned_home(model: &Model<f64>) -> Diagnostic {
    let span = model.description().home.as_ref().map_or(model.topology().platform.span, |(_, span)| *span);
    let mut start = Positions::new(model);
    start.X_WE = home_pose(model);
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let turning = Unknowns { platform: (3..6).map(PlatformFreedom::Axis).collect(), ..Unknowns::all(model) };
    let turned = (0..20).find_map(|_| {
        let mut pos = start.clone();
        for (c, coord) in model.topology().coords.iter() {
            let scale = if coord.slides { model.size() } else { 1.0 };
            pos.joints[c] = JointPosition::of(scale * random.random_range(-2.0..2.0));
        }
        let closed = newton::assemble(model, &turning, &mut pos).residual <= CLOSED && newton::closes(model, &pos);
        closed.then(|| crate::spatial::orientation::to_rpy(&pos.X_WE.R).map(f64::to_degrees))
    });
    let near = match turned {
        Some([roll, pitch, yaw]) => format!("they would with roll {roll:.3}, pitch {pitch:.3}, yaw {yaw:.3} deg"),
        None => "the platform may be turned the wrong way, or out of the plane of its legs".to_owned(),
    };
    let reason = format!("the legs reach, but the loops do not close with this orientation; {near}");
    Diagnostic::new(Fault::BadHome { reason }, span)
}

/// The loop that stays open the most, when the platform is held at home and everything else may move.
fn open_loop(model: &Model<f64>, at: Option<Span>) -> Diagnostic {
    let pos = start_near(model);
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let unknowns = if at.is_some() { Unknowns::inverse(model, &[]) } else { Unknowns::all(model) };
    let mut best: Option<(f64, Positions<f64>)> = None;
    for k in 0..20 {
        let mut trial = pos.clone();
        if k > 0 {
            for (c, coord) in model.topology().coords.iter() {
                let scale = if coord.slides { model.size() } else { 1.0 };
                trial.joints[c] = JointPosition::of(scale * random.random_range(-2.0..2.0));
            }
        }
        let outcome = newton::assemble(model, &unknowns, &mut trial);
        if best.as_ref().is_none_or(|(r, _)| outcome.residual < *r) {
            best = Some((outcome.residual, trial));
        }
    }
    let pos = best.map_or(pos, |(_, p)| p);
    let worst = model
        .topology()
        .closures
        .iter()
        .map(|(id, c)| (closure::closure_gap(model, id, &pos), c))
        .max_by(|a, b| (a.0.0 / model.size() + a.0.1).total_cmp(&(b.0.0 / model.size() + b.0.1)));
    let ((gap_m, gap_rad), closure) = worst.map_or(((0.0, 0.0), None), |(g, c)| (g, Some(c)));
    let name = closure.map_or_else(|| "the platform".to_owned(), |c| c.name.clone());
    let span = at.or_else(|| closure.map(|c| c.span)).unwrap_or_default();
    Diagnostic::new(Fault::LoopNotClosed { closure: name, gap_m, gap_rad }, span)
}
