//! Freedoms that closed postures reveal: joints that move nothing else, and motors that the pose determines.

use super::home::home_posture;
use super::mobility::closure_columns;
use crate::kinematics::newton::{self, CLOSED, Unknowns};
use crate::kinematics::platform::home_pose;
use crate::kinematics::{JointPosition, Positions};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::{CoordId, LegId, Model};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A closed posture, how many idle freedoms it has, and the coordinates of those that the robot has everywhere: of each leg the
/// fewest at several postures, since a loop may be folded so that it turns freely.
pub(super) fn assembled(model: &Model<f64>) -> Option<(Positions<f64>, usize, Vec<CoordId>)> {
    let mut found: Vec<(Positions<f64>, Vec<CoordId>)> = Vec::new();
    for seed in 0..6 {
        let Some(pos) = assemble_somewhere(model, seed) else { break };
        let idle = idle_coords(model, &pos);
        let none = idle.is_empty();
        found.push((pos, idle));
        if none {
            break;
        }
    }
    // Home is rarely folded, where closed forms can tell.
    let closed_form = model.topology().plan.inverse.iter().all(|b| b.newton_coords().is_empty());
    if closed_form
        && found.iter().all(|(_, idle)| !idle.is_empty())
        && let Ok(home) = home_posture(model)
        && newton::closes(model, home.positions())
    {
        let pos = home.positions().clone();
        let idle = idle_coords(model, &pos);
        found.push((pos, idle));
    }
    let of_leg = |idle: &[CoordId], leg: LegId| -> Vec<CoordId> {
        idle.iter().copied().filter(|c| model.topology().coords[*c].leg == leg).collect()
    };
    let fewest = |leg: LegId| found.iter().map(|(_, idle)| of_leg(idle, leg)).min_by_key(Vec::len).unwrap_or_default();
    let everywhere = model.topology().legs.ids().flat_map(fewest).collect();
    let (pos, idle) = found.into_iter().min_by_key(|(_, idle)| idle.len())?;
    Some((pos, idle.len(), everywhere))
}

/// Active coordinates that do not move while the platform is held, at some posture around a closed one.
pub(super) fn determined(model: &Model<f64>, pos: &Positions<f64>, idle: usize) -> Vec<CoordId> {
    let unknowns = Unknowns { platform: Vec::new(), ..Unknowns::all(model) };
    let n = unknowns.coords.len();
    let Some(open) = least_freedom(model, &unknowns, pos) else { return Vec::new() };
    let moves = |j: usize| open.ncols() > idle && (0..open.ncols()).any(|k| open[(j, k)].abs() > 1e-6);
    let is_active = |c: &CoordId| model.topology().active.contains(c);
    (0..n).filter(|j| !moves(*j)).map(|j| unknowns.coords[j]).filter(is_active).collect()
}

/// Motions of some unknowns that the closures leave, at the posture around a closed one that leaves fewest.
fn least_freedom(model: &Model<f64>, unknowns: &Unknowns, pos: &Positions<f64>) -> Option<Matrix> {
    let free_at = |pos: &Positions<f64>| svd(&closure_columns(model, unknowns, pos)).null_space();
    // Where the closed posture itself leaves nothing there is no need to look around it.
    let here = free_at(pos);
    if here.ncols() == 0 {
        return Some(here);
    }
    newton::postures_near(model, pos).iter().map(free_at).min_by_key(Matrix::ncols)
}

/// One coordinate for every freedom that moves neither platform nor motors at any posture around a closed one, such as the
/// spin of a rod: those that take part most, so that the others still reach everywhere.
fn idle_coords(model: &Model<f64>, pos: &Positions<f64>) -> Vec<CoordId> {
    let topology = model.topology();
    let passive: Vec<CoordId> = topology.passive.clone();
    let unknowns =
        Unknowns { coords: passive.clone(), closures: topology.closures.ids().collect(), ..Unknowns::default() };
    let Some(idle) = least_freedom(model, &unknowns, pos) else { return Vec::new() };
    let mut rows = Dense::zeros(idle.ncols(), passive.len());
    (0..idle.ncols()).for_each(|i| (0..passive.len()).for_each(|j| *rows.at_mut(i, j) = idle[(j, i)]));
    let order = crate::linalg::small::PivotOrder::of(&rows, passive.len(), crate::linalg::RANK_TOLERANCE);
    order.cols.iter().map(|j| passive[*j]).collect()
}

/// Any closed posture near the home pose and the `near` joints, every joint and the platform's own freedoms being free.
/// Seed 0 starts there, others aside.
pub(super) fn assemble_somewhere(model: &Model<f64>, seed: u64) -> Option<Positions<f64>> {
    let mut random = Pcg64Mcg::seed_from_u64(1 + seed);
    let mut start = Positions::new(model);
    start.X_WE = home_pose(model);
    for (c, value) in near(model) {
        start.joints[c] = JointPosition::of(value);
    }
    for k in 0..80 {
        let mut pos = start.clone();
        if k > 0 || seed > 0 {
            let spread = f64::from((k + 5).min(20)) * 0.1;
            for (c, coord) in model.topology().coords.iter() {
                let scale = if coord.slides { model.size() } else { 1.0 };
                let at = if coord.slides { pos.joints[c].value } else { pos.joints[c].turn.angle() };
                pos.joints[c] = JointPosition::of(at + scale * random.random_range(-spread..spread));
            }
        }
        let mut unknowns = Unknowns::forward(model);
        unknowns.coords = model.topology().coords.ids().collect();
        let outcome = newton::assemble(model, &unknowns, &mut pos);
        if outcome.residual <= CLOSED && newton::closes(model, &pos) {
            return Some(pos);
        }
    }
    None
}

/// The `near` joints of the file.
pub(super) fn near(model: &Model<f64>) -> Vec<(CoordId, f64)> {
    let list = &model.description().near;
    list.iter().filter_map(|(name, value)| Some((model.topology().coord(&name.text)?, value.value))).collect()
}
