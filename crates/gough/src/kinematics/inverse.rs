//! Inverse geometry: from a platform pose to all joints, section 6. The only place where reach is decided.

use super::closure::gap;
use super::error::SolveError;
use super::geometry::{solve_groups, solve_legs};
use super::modes::{Branch, WorkingMode};
use super::newton::{self, CLOSED, Unknowns};
use super::platform::check_pose;
use super::positions::{Positions, pose_bodies};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{BlockPlan, CoordId, LegId, Method, Model, Step};
use crate::spatial::orientation::wrap;
use crate::spatial::{Pose, Turn, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A posture whose loops are closed. Only the solvers of this stage make one, after checking the residual.
#[derive(Clone, Copy, Debug)]
pub struct Closed<'d> {
    positions: &'d Positions<f64>,
}

impl<'d> Closed<'d> {
    /// Its positions. Bodies are posed when it comes from a [`Posture`], else by [`pose_bodies`].
    pub fn positions(self) -> &'d Positions<f64> {
        self.positions
    }
}

/// A closed posture that owns its positions.
#[derive(Clone, Debug)]
pub struct Posture {
    positions: Positions<f64>,
    mode: WorkingMode,
}

impl Posture {
    /// The posture as a proof that its loops are closed.
    pub fn closed(&self) -> Closed<'_> {
        Closed { positions: &self.positions }
    }

    /// Its positions.
    pub fn positions(&self) -> &Positions<f64> {
        &self.positions
    }

    /// Its working mode.
    pub fn mode(&self) -> &WorkingMode {
        &self.mode
    }

    /// The platform.
    pub fn pose(&self) -> &Pose<f64> {
        &self.positions.X_WE
    }

    /// Coordinates of joints, wrapped into their ranges.
    pub fn joints(&self, model: &Model<f64>, coords: &[CoordId]) -> Vec<f64> {
        coords.iter().map(|c| joint_value(model, &self.positions, *c)).collect()
    }

    /// Largest remaining gap of the loops, in metres and radians.
    pub fn gap(&self, model: &Model<f64>) -> (f64, f64) {
        gap(model, &self.positions)
    }

    /// A closed posture; its bodies are posed here.
    pub(super) fn new(model: &Model<f64>, mut positions: Positions<f64>, mode: WorkingMode) -> Self {
        pose_bodies(model, &mut positions);
        Self { positions, mode }
    }
}

/// Coordinate of a joint; an angle is moved by whole turns into its range, or into (-π, π].
pub fn joint_value(model: &Model<f64>, pos: &Positions<f64>, c: CoordId) -> f64 {
    let coord = &model.topology().coords[c];
    let q = pos.q(model.topology(), c);
    match coord.range {
        Some(range) if !coord.slides => {
            let middle = (range.low + range.high) * 0.5;
            middle + wrap(q - middle)
        }
        _ if coord.counted || coord.slides => q,
        _ => wrap(q),
    }
}

/// All joints for a platform pose in a working mode, in memory that is already there; bodies are not posed. Nothing is
/// allocated for robots whose legs have closed forms and whose platform coordinates are independent.
pub fn inverse_in<'d>(
    model: &Model<f64>,
    pose: &Pose<f64>,
    mode: &WorkingMode,
    pos: &'d mut Positions<f64>,
) -> Result<Closed<'d>, SolveError> {
    check_pose(model, pose)?;
    pos.X_WE = *pose;
    let plan = &model.topology().plan;
    let in_lanes = !plan.careful && !model.groups().is_empty();
    pos.in_lanes = in_lanes && solve_groups(model, &mode.signs, 1e-9 * model.size(), pos);
    if !pos.in_lanes {
        leg_by_leg(model, mode, pos)?;
    }
    check_ranges(model, pos)?;
    Ok(Closed { positions: pos })
}

/// Legs one after the other, those without closed form too, with the reason when one does not reach.
fn leg_by_leg(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> Result<(), SolveError> {
    let plan = &model.topology().plan;
    if plan.solve_platform {
        solve_platform(model, mode, pos)?;
    }
    solve_legs(model, &mode.signs, pos);
    for (i, block) in plan.inverse.iter().enumerate() {
        if let Method::Newton { coords } = &block.method {
            newton_leg(model, i, block, coords, mode, pos)?;
        }
    }
    check_reach(model, pos)?;
    if plan.careful {
        pose_bodies(model, pos);
        check_closed(model, pos)?;
    }
    Ok(())
}

/// The same with memory of its own.
pub fn inverse(model: &Model<f64>, pose: &Pose<f64>, mode: &WorkingMode) -> Result<Posture, SolveError> {
    inverse_given(model, pose, mode, &[])
}

/// The same for a robot with kinematic redundancy, with the joints that the pose leaves open.
pub fn inverse_given(
    model: &Model<f64>,
    pose: &Pose<f64>,
    mode: &WorkingMode,
    given: &[(CoordId, f64)],
) -> Result<Posture, SolveError> {
    let mut pos = Positions::new(model);
    for (c, q) in given {
        pos.joints[*c] = super::positions::JointPosition::of(*q);
    }
    inverse_in(model, pose, mode, &mut pos)?;
    Ok(Posture::new(model, pos, mode.clone()))
}

/// Every working mode in which the pose can be reached; the reason of the first one when there is none.
pub fn working_modes(model: &Model<f64>, pose: &Pose<f64>) -> Result<Vec<Posture>, SolveError> {
    check_pose(model, pose)?;
    let first = WorkingMode::first(model.topology());
    let mut postures = Vec::new();
    let mut reason = None;
    for base in branch_choices(model, pose, &first) {
        for mode in base.combinations() {
            match inverse(model, pose, &mode) {
                Ok(posture) => postures.push(posture),
                Err(e) => reason = reason.or(Some(e)),
            }
        }
    }
    postures.sort_by_cached_key(|p: &Posture| p.mode.name(model.topology()));
    match reason {
        Some(e) if postures.is_empty() => Err(e),
        _ => Ok(postures),
    }
}

/// Discriminants must not be negative, tips must meet their targets.
fn check_reach(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), SolveError> {
    let worst = pos.misses.iter().map(nalgebra::Matrix::norm_squared).fold(0.0, f64::max);
    let limit = 1e-9 * model.size();
    // The usual case in two comparisons: a NaN makes both false.
    if pos.margins.iter().all(|m| *m >= 0.0) && worst <= limit * limit {
        return Ok(());
    }
    // In the order of solving: legs that hang on one that does not reach are not to blame.
    model.topology().order.iter().try_for_each(|leg| leg_reaches(model, *leg, pos, limit))
}

fn leg_reaches(model: &Model<f64>, id: LegId, pos: &Positions<f64>, limit: f64) -> Result<(), SolveError> {
    let leg = || model.topology().legs[id].name.clone();
    let (steps, blocks) = pos.places(id);
    for (k, step) in steps.zip(model.leg_blocks(id).iter().flat_map(|b| &b.steps)) {
        if !(pos.margins[k] >= 0.0) {
            let by = missing(step, pos.targets[k]);
            return Err(if by < 1e-13 * model.size() {
                SolveError::AtLimit { leg: leg() }
            } else {
                SolveError::OutOfReach { leg: leg(), by }
            });
        }
    }
    let miss = pos.misses[blocks]
        .iter()
        .map(nalgebra::Matrix::norm)
        .fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
    if miss <= limit {
        return Ok(());
    }
    Err(SolveError::OutOfReach { leg: leg(), by: if miss.is_finite() { miss } else { model.size() } })
}

/// By how many metres a target is too far or too near for a step.
fn missing(step: &Step<f64>, t: Vec3<f64>) -> f64 {
    let r = t.x.hypot(t.y);
    let outside = |r: f64, l1: f64, l2: f64| (r - (l1 + l2)).max((l1 - l2).abs() - r).max(0.0);
    match step {
        Step::ReachRR { l1_sq, l2_sq, .. } => outside(r, l1_sq.sqrt(), l2_sq.sqrt()),
        Step::ReachRP { offset_sq, .. } => (offset_sq.sqrt() - r).max(0.0),
        Step::ReachPR { C1, s, l2_sq, .. } => {
            let t = C1.apply_inv(t);
            ((s.x * t.y - s.y * t.x).abs() - l2_sq.sqrt()).max(0.0)
        }
        Step::RodP { c, rod_sq, .. } => {
            let w = t - c;
            (w.x.hypot(w.y) - rod_sq.sqrt()).max(0.0)
        }
        Step::RodR { c, l1_sq, k0, .. } => {
            // Distances from the target to the circle of the rod's ball lie between near and far.
            let rod = (c.norm_squared() - 2.0 * k0).max(0.0).sqrt();
            let (l1, dz) = (l1_sq.sqrt(), t.z - c.z);
            let (near, far) = ((r - l1).hypot(dz), (r + l1).hypot(dz));
            (near - rod).max(rod - far).max(0.0)
        }
        Step::Point { d, .. } => (t.norm() - d.norm()).abs(),
        _ => 0.0,
    }
}

fn check_closed(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), SolveError> {
    let (gap_m, gap_rad) = gap(model, pos);
    if gap_m <= 1e-10 * model.size().max(1.0) && gap_rad <= 1e-10 {
        Ok(())
    } else {
        Err(SolveError::NotClosed { gap_m, gap_rad })
    }
}

fn check_ranges(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), SolveError> {
    for (coord, joint) in model.topology().coords.values().zip(pos.joints.values()) {
        let Some(range) = &coord.range else { continue };
        let inside =
            if coord.slides || coord.counted { range.has_slide(joint.value) } else { range.has_turn(joint.turn) };
        if !inside {
            let value = if coord.slides || coord.counted { joint.value } else { joint.turn.angle() };
            return Err(SolveError::OutOfRange { joint: coord.name.clone(), value, range: range.limits() });
        }
    }
    Ok(())
}

/// Dependent platform coordinates: Newton on all closures, from their home values and the legs as near as they come.
fn solve_platform(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> Result<(), SolveError> {
    let plan = &model.topology().plan;
    solve_legs(model, &mode.signs, pos);
    for (c, coord) in model.topology().coords.iter() {
        let joint = &mut pos.joints[c];
        let broken = !(joint.value.is_finite() && joint.turn.cos.is_finite() && joint.turn.sin.is_finite());
        if broken {
            *joint = super::positions::JointPosition::zero();
        } else if !coord.slides {
            let n = joint.turn.cos.hypot(joint.turn.sin);
            joint.turn =
                if n > 1e-6 { Turn { cos: joint.turn.cos / n, sin: joint.turn.sin / n } } else { Turn::identity() };
        }
    }
    let outcome = newton::assemble(model, &Unknowns::inverse(model, &plan.given), pos);
    if outcome.residual > CLOSED {
        return Err(SolveError::NotConverged { iterations: outcome.iterations, residual: outcome.residual });
    }
    Ok(())
}

/// A leg without closed form: the branch that the mode names.
fn newton_leg(
    model: &Model<f64>,
    i: usize,
    block: &BlockPlan,
    coords: &[CoordId],
    mode: &WorkingMode,
    pos: &mut Positions<f64>,
) -> Result<(), SolveError> {
    let wanted = mode.branches[i].unwrap_or(Branch { positive: true, number: 1 });
    let found = leg_branches(model, block, coords, pos);
    let Some((_, joints)) = found.solutions.iter().find(|(b, _)| *b == wanted) else {
        let leg = model.topology().legs[block.leg].name.clone();
        return Err(SolveError::OutOfReach { leg, by: found.best_gap });
    };
    for (c, joint) in coords.iter().zip(joints) {
        pos.joints[*c] = *joint;
    }
    Ok(())
}

struct LegBranches {
    solutions: Vec<(Branch, Vec<super::positions::JointPosition<f64>>)>,
    best_gap: f64,
}

/// Seed of every random search, so that answers do not change from run to run.
pub(super) const SEED: u64 = 5;

/// How many random starts the search for branches of one leg makes.
const STARTS: usize = 60;

/// All branches of a leg that Newton finds from fixed random starts, named.
fn leg_branches(model: &Model<f64>, block: &BlockPlan, coords: &[CoordId], pos: &Positions<f64>) -> LegBranches {
    let topology = model.topology();
    let unknowns = Unknowns::of_leg(model, block.leg, coords);
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut found: Vec<(f64, f64, Vec<super::positions::JointPosition<f64>>)> = Vec::new();
    let mut best_gap = f64::INFINITY;
    for _ in 0..STARTS {
        let mut trial = pos.clone();
        scatter(model, coords, &mut random, &mut trial);
        let outcome = newton::assemble(model, &unknowns, &mut trial);
        best_gap = best_gap.min(outcome.residual * model.length());
        let closes = unknowns.closures.iter().all(|c| {
            let (m, rad) = super::closure::closure_gap(model, *c, &trial);
            m <= 1e-10 * model.size().max(1.0) && rad <= 1e-10
        });
        if !closes {
            continue;
        }
        let joints: Vec<_> = coords.iter().map(|c| trial.joints[*c]).collect();
        let first = coords.iter().find(|c| topology.active.contains(c)).copied().unwrap_or(coords[0]);
        let value = joint_value(model, &trial, first);
        let known = found.iter().any(|(_, _, other)| same_joints(&joints, other, model, coords));
        if !known {
            found.push((determinant_sign(model, &unknowns, &block.pivots, &trial), value, joints));
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut counts = [0, 0];
    let solutions = found
        .into_iter()
        .map(|(sign, _, joints)| {
            let count = &mut counts[usize::from(sign > 0.0)];
            *count += 1;
            (Branch { positive: sign > 0.0, number: *count }, joints)
        })
        .collect();
    LegBranches { solutions, best_gap }
}

/// Random joints: any angle, slides within their range or a few length scales.
pub(super) fn scatter(model: &Model<f64>, coords: &[CoordId], random: &mut Pcg64Mcg, pos: &mut Positions<f64>) {
    for &c in coords {
        let coord = &model.topology().coords[c];
        let (low, high) = match coord.range {
            Some(range) => (range.low, range.high),
            None if coord.slides => (-3.0 * model.size(), 3.0 * model.size()),
            None => (-std::f64::consts::PI, std::f64::consts::PI),
        };
        pos.joints[c] = super::positions::JointPosition::of(random.random_range(low..high));
    }
}

fn same_joints(
    a: &[super::positions::JointPosition<f64>],
    b: &[super::positions::JointPosition<f64>],
    model: &Model<f64>,
    coords: &[CoordId],
) -> bool {
    a.iter().zip(b).zip(coords).all(|((a, b), c)| {
        if model.topology().coords[*c].slides {
            (a.value - b.value).abs() < 1e-6 * model.size()
        } else {
            (a.turn.cos - b.turn.cos).hypot(a.turn.sin - b.turn.sin) < 1e-6
        }
    })
}

/// Sign of the determinant of the closures in the pivot rows and columns, both in ascending order.
fn determinant_sign(model: &Model<f64>, unknowns: &Unknowns, order: &PivotOrder, pos: &Positions<f64>) -> f64 {
    let (mut rows, mut cols) = (order.rows.clone(), order.cols.clone());
    rows.sort_unstable();
    cols.sort_unstable();
    let mut a = Dense::zeros(newton::row_count(model, unknowns), unknowns.coords.len() + 1);
    newton::jacobian(model, unknowns, model.length(), pos, &mut a);
    let m = nalgebra::DMatrix::from_fn(rows.len(), cols.len(), |i, j| a.at(rows[i], cols[j]));
    m.determinant()
}

/// One mode per combination of branches that exist at a pose.
fn branch_choices(model: &Model<f64>, pose: &Pose<f64>, first: &WorkingMode) -> Vec<WorkingMode> {
    let plan = &model.topology().plan;
    let mut choices = vec![first.clone()];
    if first.branches.iter().all(Option::is_none) {
        return choices;
    }
    let mut pos = Positions::new(model);
    pos.X_WE = *pose;
    solve_legs(model, &first.signs, &mut pos);
    for (i, block) in plan.inverse.iter().enumerate() {
        let Method::Newton { coords } = &block.method else { continue };
        let branches = leg_branches(model, block, coords, &pos).solutions;
        choices = choices
            .iter()
            .flat_map(|mode| {
                branches.iter().map(|(b, _)| {
                    let mut mode = mode.clone();
                    mode.branches[i] = Some(*b);
                    mode
                })
            })
            .collect();
    }
    choices.truncate(256);
    choices
}
