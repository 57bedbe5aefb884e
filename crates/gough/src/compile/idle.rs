//! Freedoms that closed postures reveal: joints that move nothing else, and motors that the pose determines.

use super::home::{home_posture, home_postures};
use super::mobility::closure_columns;
use crate::kinematics::newton::{self, CLOSED, Unknowns};
use crate::kinematics::platform::home_pose;
use crate::kinematics::{JointPosition, Positions, Posture};
use crate::linalg::dense::{Matrix, null_space};
use crate::linalg::small::Dense;
use crate::model::{CoordId, LegId, Model};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The postures at home of a draft whose plan closed postures cannot change: closed forms give every joint from the coordinates
/// that the file lists, and nothing is idle at home or near it. Of any other draft none.
pub(super) fn settled(model: &Model<f64>) -> Option<Vec<Posture>> {
    let topology = model.topology();
    let plan = &topology.plan;
    let knows_all = plan.given.is_empty() && topology.platform.dependent.is_empty() && has_closed_forms(model);
    let postures = knows_all.then(|| home_postures(model).ok()).flatten()?;
    let home = postures[0].positions();
    (newton::closes(model, home) && idle_coords(model, home).is_empty()).then_some(postures)
}

/// Whether no joint is left to Newton.
fn has_closed_forms(model: &Model<f64>) -> bool {
    model.topology().plan.inverse.iter().all(|b| b.newton_coords().is_empty())
}

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
    if has_closed_forms(model)
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

/// A joint that moves less than this with a freedom of length one stands still.
const MOVES: f64 = 1e-6;

/// Active coordinates that do not move while the platform is held, at some posture around a closed one, and of the others as many
/// as say where they all are, those first whose place the file tells; none where no such posture is found.
pub(super) fn determined(model: &Model<f64>, pos: &Positions<f64>, idle: usize) -> Option<[Vec<CoordId>; 2]> {
    let unknowns = Unknowns { platform: Vec::new(), ..Unknowns::all(model) };
    let open = least_freedom(model, &unknowns, pos)?;
    let row = |j: usize| -> Vec<f64> { (0..open.ncols()).map(|k| open[(j, k)]).collect() };
    let moves = |j: &usize| open.ncols() > idle && row(*j).iter().any(|x| x.abs() > MOVES);
    let is_active = |j: &usize| model.topology().active.contains(&unknowns.coords[*j]);
    let (mut moving, still): (Vec<usize>, Vec<usize>) = (0..unknowns.coords.len()).filter(is_active).partition(moves);
    let told = near(model);
    moving.sort_by_key(|j| !told.iter().any(|(c, _)| *c == unknowns.coords[*j]));
    let coords = |list: Vec<usize>| list.into_iter().map(|j| unknowns.coords[j]).collect();
    let mut directions: Vec<Vec<f64>> = Vec::new();
    let adds = |j: &usize| {
        let mut left = row(*j);
        for d in directions.iter().chain(&directions) {
            let along: f64 = left.iter().zip(d).map(|(x, y)| x * y).sum();
            left.iter_mut().zip(d).for_each(|(x, y)| *x -= along * y);
        }
        let length = left.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > MOVES {
            directions.push(left.iter().map(|x| x / length).collect());
        }
        length > MOVES
    };
    let independent = moving.into_iter().filter(adds).collect();
    Some([coords(still), coords(independent)])
}

/// Motions of some unknowns that the closures leave, at the posture around a closed one that leaves fewest.
fn least_freedom(model: &Model<f64>, unknowns: &Unknowns, pos: &Positions<f64>) -> Option<Matrix> {
    let free_at = |pos: &Positions<f64>| null_space(&closure_columns(model, unknowns, pos)).1;
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
