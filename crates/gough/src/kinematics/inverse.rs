//! Inverse geometry: from a platform pose to all joints, section 6. The only place where reach is decided.

use super::closure::gap;
use super::error::SolveError;
use super::geometry::{solve_groups, solve_legs, solve_one_leg};
use super::modes::{Branch, WorkingMode};
use super::newton::{self, CLOSED, Unknowns};
use super::platform::{check_pose, coordinates, home_pose, pose_with};
use super::positions::{JointPosition, Positions, pose_bodies, pose_leg};
use crate::description::{ClosureJoint, Coordinate};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{BlockPlan, Coord, CoordId, LegId, Method, Model, PerLeg, Step};
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

    pub(super) fn set_mode(&mut self, mode: WorkingMode) {
        self.mode = mode;
    }

    /// A closed posture; its bodies are posed here.
    pub(super) fn new(model: &Model<f64>, mut positions: Positions<f64>, mode: WorkingMode) -> Self {
        positions.in_lanes = false; // joints may have been changed since the lanes were filled
        pose_bodies(model, &mut positions);
        Self { positions, mode }
    }
}

/// Coordinate of a joint; an angle is moved by whole turns into its range, or into (-π, π].
pub fn joint_value(model: &Model<f64>, pos: &Positions<f64>, c: CoordId) -> f64 {
    let coord = &model.topology().coords[c];
    let q = pos.q(model.topology(), c);
    match coord.range {
        _ if coord.counted || coord.slides => q,
        // Usually it is there already.
        Some(range) if range.low <= q && q <= range.high => q,
        Some(range) => {
            let middle = (range.low + range.high) * 0.5;
            middle + wrap(q - middle)
        }
        None if q.abs() < std::f64::consts::PI => q,
        None => wrap(q),
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
    if model.topology().plan.solve_platform {
        follow(model, mode, pos)?;
    } else {
        at_pose(model, mode, pos)?;
    }
    Ok(Closed { positions: pos })
}

/// The legs for the platform in `pos`, whose pose is known altogether.
fn at_pose(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> Result<(), SolveError> {
    let plan = &model.topology().plan;
    let in_lanes = !plan.careful && !model.groups().is_empty();
    pos.in_lanes = in_lanes && solve_groups(model, &mode.signs, 1e-9 * model.size(), pos);
    if !pos.in_lanes {
        leg_by_leg(model, mode, pos)?;
    }
    check_ranges(model, pos)
}

/// Legs one after the other, those without closed form too, with the reason when one does not reach.
fn leg_by_leg(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> Result<(), SolveError> {
    let plan = &model.topology().plan;
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
    let mut pos = with_given(model, given);
    inverse_in(model, pose, mode, &mut pos)?;
    Ok(Posture::new(model, pos, mode.clone()))
}

fn with_given(model: &Model<f64>, given: &[(CoordId, f64)]) -> Positions<f64> {
    let mut pos = Positions::new(model);
    for (c, q) in given {
        pos.joints[*c] = JointPosition::of(*q);
    }
    pos
}

/// Every working mode in which the pose can be reached; a reason when there is none.
pub fn working_modes(model: &Model<f64>, pose: &Pose<f64>) -> Result<Vec<Posture>, SolveError> {
    working_modes_given(model, pose, &[])
}

/// The same for a robot with kinematic redundancy, with the joints that the pose leaves open.
pub fn working_modes_given(
    model: &Model<f64>,
    pose: &Pose<f64>,
    given: &[(CoordId, f64)],
) -> Result<Vec<Posture>, SolveError> {
    check_pose(model, pose)?;
    let mut pos = with_given(model, given);
    pos.X_WE = *pose;
    let mut standing = Standing::new(model, &|_, _| true);
    if model.topology().plan.solve_platform {
        following(model, &pos).iter().for_each(|start| standing.stand(start));
        number_following(model, &pos, &mut standing.found);
    } else {
        standing.stand(&pos);
    }
    standing.found.sort_by_cached_key(|p: &Posture| p.mode.name(model.topology()));
    let Standing { found, reason, .. } = standing;
    if found.is_empty() { Err(reason.unwrap_or(SolveError::NotFollowing)) } else { Ok(found) }
}

/// Discriminants must be positive, tips must meet their targets.
fn check_reach(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), SolveError> {
    let worst = pos.misses.iter().map(nalgebra::Matrix::norm_squared).fold(0.0, f64::max);
    let limit = 1e-9 * model.size();
    // The usual case in two comparisons: a NaN makes both false.
    let least = model.least_margin();
    if pos.margins.iter().all(|m| *m >= least) && worst <= limit * limit {
        return Ok(());
    }
    // In the order of solving: legs that hang on one that does not reach are not to blame.
    model.topology().order.iter().try_for_each(|leg| leg_reaches(model, *leg, pos, limit))
}

fn leg_reaches(model: &Model<f64>, id: LegId, pos: &Positions<f64>, limit: f64) -> Result<(), SolveError> {
    let leg = || model.topology().legs[id].name.clone();
    let (steps, blocks) = pos.places(id);
    for (k, step) in steps.zip(model.leg_blocks(id).iter().flat_map(|b| &b.steps)) {
        let least = step.least_margin(model.size());
        if !(pos.margins[k] >= least) {
            let by = missing(step, pos.targets[k]);
            return Err(if by < 1e-13 * model.size() || pos.margins[k].abs() <= least {
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
    in_range(model.topology().coords.as_slice(), pos.joints.as_slice())
}

/// Joints must be in their ranges.
pub(super) fn in_range(coords: &[Coord], joints: &[JointPosition<f64>]) -> Result<(), SolveError> {
    for (coord, joint) in coords.iter().zip(joints) {
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

/// Coordinates of the platform that follow: led from home when the legs stand in the mode there, else looked up.
fn follow(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> Result<(), SolveError> {
    if mode.follows == 1 && from_home(model, mode, pos) {
        return Ok(());
    }
    let given: Vec<_> = model.topology().plan.given.iter().map(|c| (*c, pos.q(model.topology(), *c))).collect();
    let found = working_modes_given(model, &pos.X_WE, &given)?;
    let Some(posture) = found.iter().find(|p| p.mode == *mode) else {
        let name = |mode: &WorkingMode| mode.name(model.topology());
        return Err(SolveError::NotInMode { mode: name(mode), others: found.iter().map(|p| name(&p.mode)).collect() });
    };
    pos.clone_from(&posture.positions);
    Ok(())
}

/// Where the coordinates that follow lead from home, the legs being in a mode; whether the robot then stands in it.
fn from_home(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> bool {
    let Some(mut trial) = led_from_home(model, &mode.signs, pos) else { return false };
    let stands = at_pose(model, mode, &mut trial).is_ok();
    if stands {
        pos.clone_from(&trial);
    }
    stands
}

/// Newton on all closures from the home values of the coordinates that follow and the legs as near as they come.
fn led_from_home(model: &Model<f64>, signs: &[f64], pos: &Positions<f64>) -> Option<Positions<f64>> {
    let mut trial = pos.clone();
    let home = coordinates(&home_pose(model));
    let values: Vec<_> = model.topology().platform.dependent.iter().map(|c| (*c, home[c.index()])).collect();
    trial.X_WE = pose_with(&pos.X_WE, &values);
    approach(model, signs, &mut trial);
    close_following(model, &mut trial).then_some(trial)
}

/// The posture nearest to home for coordinates that follow, in any mode that leads there from home.
pub(crate) fn nearest_to_home(model: &Model<f64>, pose: &Pose<f64>) -> Option<Posture> {
    let mut pos = Positions::new(model);
    pos.X_WE = *pose;
    let mut starts = following(model, &pos);
    starts.sort_by(|a, b| from_home_to(model, &a.X_WE).total_cmp(&from_home_to(model, &b.X_WE)));
    let postures = starts.iter().find_map(|start| {
        let mut standing = Standing::new(model, &|_, _| true);
        standing.stand(start);
        (!standing.found.is_empty()).then_some(standing.found)
    })?;
    let led = |p: &Posture| inverse(model, pose, &p.mode).ok().filter(|q| same_pose(model, p.pose(), q.pose()));
    let mut postures = postures;
    postures.sort_by_cached_key(|p| p.mode.name(model.topology()));
    postures.iter().find_map(led)
}

/// How far a pose is from home, in sizes and turns.
fn from_home_to(model: &Model<f64>, pose: &Pose<f64>) -> f64 {
    let home = home_pose(model);
    (pose.p - home.p).norm() / model.size() + (pose.R.0 - home.R.0).norm()
}

/// The legs as near as their closed forms come to the pose in `pos`.
fn approach(model: &Model<f64>, signs: &[f64], pos: &mut Positions<f64>) {
    solve_legs(model, signs, pos);
    for (c, coord) in model.topology().coords.iter() {
        let joint = &mut pos.joints[c];
        let broken = !(joint.value.is_finite() && joint.turn.cos.is_finite() && joint.turn.sin.is_finite());
        if broken {
            *joint = JointPosition::zero();
        } else if !coord.slides {
            let n = joint.turn.cos.hypot(joint.turn.sin);
            joint.turn =
                if n > 1e-6 { Turn { cos: joint.turn.cos / n, sin: joint.turn.sin / n } } else { Turn::identity() };
        }
    }
}

/// Close all loops from the posture in `pos`, the coordinates that follow being free.
fn close_following(model: &Model<f64>, pos: &mut Positions<f64>) -> bool {
    let asked = coordinates(&pos.X_WE);
    let unknowns = Unknowns::inverse(model, &model.topology().plan.given);
    let closed = newton::assemble(model, &unknowns, pos).residual <= CLOSED && check_closed(model, pos).is_ok();
    // Roll and pitch turned by half a turn each are another yaw: not what was asked.
    let found = coordinates(&pos.X_WE);
    let kept = |c: &Coordinate| wrap(found[c.index()] - asked[c.index()]).abs() < 1e-6;
    let upright = asked[4].abs() < 1.57;
    closed && (!upright || model.topology().platform.independent.iter().all(kept))
}

/// Random starts of the search for coordinates that follow, and most solutions kept: more are a continuum.
const FOLLOWING_STARTS: usize = 60;
const MOST_FOLLOWING: usize = 24;

/// All solutions found for the platform coordinates that follow, those in `pos` being given.
fn following(model: &Model<f64>, pos: &Positions<f64>) -> Vec<Positions<f64>> {
    let topology = model.topology();
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let home = coordinates(&home_pose(model));
    let mut found: Vec<Positions<f64>> = Vec::new();
    for k in 0..FOLLOWING_STARTS {
        let mut trial = pos.clone();
        let value = |c: &Coordinate| {
            let spread = match c {
                Coordinate::Ry => std::f64::consts::FRAC_PI_2,
                c if c.is_angle() => std::f64::consts::PI,
                _ => model.size(),
            };
            // Every other start is at home, where coordinates that follow often stay, with any joints.
            (*c, home[c.index()] + if k % 2 == 0 { 0.0 } else { random.random_range(-spread..spread) })
        };
        let values: Vec<_> = topology.platform.dependent.iter().map(value).collect();
        trial.X_WE = pose_with(&pos.X_WE, &values);
        let signs = topology.legs.values().map(|l| l.roots.len()).sum();
        let signs: Vec<f64> = (0..signs).map(|_| if random.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
        approach(model, &signs, &mut trial);
        if k % 2 == 0 {
            let all = Unknowns::inverse(model, &topology.plan.given).coords;
            scatter(model, &all, &mut random, &mut trial);
        }
        let closed = close_following(model, &mut trial);
        if closed && found.len() < MOST_FOLLOWING && !found.iter().any(|f| same_pose(model, &f.X_WE, &trial.X_WE)) {
            found.push(trial);
        }
    }
    found
}

/// Whether two poses are one.
pub(super) fn same_pose(model: &Model<f64>, a: &Pose<f64>, b: &Pose<f64>) -> bool {
    (a.p - b.p).norm() < 1e-6 * model.size() && (a.R.0 - b.R.0).norm() < 1e-6
}

/// Number postures that differ in the coordinates that follow only: first the one led from home, then by distance.
fn number_following(model: &Model<f64>, pos: &Positions<f64>, postures: &mut [Posture]) {
    postures.sort_by(|a, b| from_home_to(model, a.pose()).total_cmp(&from_home_to(model, b.pose())));
    let mut leads: Vec<(Vec<f64>, Option<Pose<f64>>)> = Vec::new();
    let mut done: Vec<WorkingMode> = Vec::new();
    for i in 0..postures.len() {
        let mode = postures[i].mode.following(1);
        if done.contains(&mode) {
            continue;
        }
        let known = leads.iter().find(|(signs, _)| *signs == mode.signs).map(|(_, pose)| *pose);
        let led = known.unwrap_or_else(|| led_from_home(model, &mode.signs, pos).map(|led| led.X_WE));
        leads.push((mode.signs.clone(), led));
        let is_led = |p: &Posture| led.is_some_and(|pose| same_pose(model, &pose, p.pose()));
        let any = postures.iter().any(|p| p.mode.is_like(&mode) && is_led(p));
        let mut next = 1 + usize::from(any);
        for posture in postures.iter_mut().filter(|p| p.mode.is_like(&mode)) {
            if is_led(posture) {
                posture.mode.follows = 1;
            } else {
                posture.mode.follows = next;
                next += 1;
            }
        }
        done.push(mode);
    }
}

/// Most postures that are listed; a list as long as this is not complete.
pub const MOST_POSTURES: usize = 4096;

/// Most square roots of one leg whose signs are all tried; those beyond keep `+`, and the list is not complete.
pub const MOST_ROOTS: usize = 12;

/// One way a leg can stand.
struct Way {
    signs: Vec<f64>,
    branch: Option<Branch>,
    joints: Vec<JointPosition<f64>>,
}

/// The postures of a robot at a pose: every way of every leg with every way of the others.
pub(super) struct Standing<'a> {
    model: &'a Model<f64>,
    /// Whether a joint may be there.
    fits: &'a dyn Fn(CoordId, &Positions<f64>) -> bool,
    pub(super) found: Vec<Posture>,
    /// Why a leg does not reach.
    pub(super) reason: Option<SolveError>,
}

impl<'a> Standing<'a> {
    pub(super) fn new(model: &'a Model<f64>, fits: &'a dyn Fn(CoordId, &Positions<f64>) -> bool) -> Self {
        Self { model, fits, found: Vec::new(), reason: None }
    }

    /// Add the postures at the pose in `start`, whose given joints count.
    pub(super) fn stand(&mut self, start: &Positions<f64>) {
        let topology = self.model.topology();
        // Ways of legs that hang on nothing but base and platform are the same whatever the others do.
        let mut alone: PerLeg<Option<Vec<Way>>> = PerLeg::default();
        for leg in topology.legs.ids() {
            let ways = topology.legs[leg].outside.is_empty().then(|| self.ways(leg, start));
            if ways.as_ref().is_some_and(Vec::is_empty) {
                return;
            }
            alone.push(ways);
        }
        let mut mode = WorkingMode::first(topology);
        self.legs(&topology.order, &alone, &mut start.clone(), &mut mode);
    }

    /// Place the legs one after the other.
    fn legs(
        &mut self,
        legs: &[LegId],
        alone: &PerLeg<Option<Vec<Way>>>,
        pos: &mut Positions<f64>,
        mode: &mut WorkingMode,
    ) {
        let topology = self.model.topology();
        let Some((&leg, rest)) = legs.split_first() else { return self.close(pos, mode) };
        let own = if alone[leg].is_none() { self.ways(leg, pos) } else { Vec::new() };
        for way in alone[leg].as_ref().unwrap_or(&own) {
            if self.found.len() >= MOST_POSTURES {
                return;
            }
            pos.joints.slice_mut(topology.legs[leg].coords).copy_from_slice(&way.joints);
            mode.signs[topology.legs[leg].roots.clone()].copy_from_slice(&way.signs);
            for (i, _) in topology.plan.inverse.iter().enumerate().filter(|(_, b)| b.leg == leg) {
                mode.branches[i] = way.branch;
            }
            if topology.is_hung_on(leg) {
                pose_leg(self.model, leg, pos);
            }
            self.legs(rest, alone, pos, mode);
        }
    }

    fn close(&mut self, pos: &mut Positions<f64>, mode: &WorkingMode) {
        pos.in_lanes = false;
        solve_legs(self.model, &mode.signs, pos); // for the margins
        pose_bodies(self.model, pos);
        match check_closed(self.model, pos) {
            Ok(()) => self.found.push(Posture::new(self.model, pos.clone(), mode.clone())),
            Err(e) => self.reason = self.reason.take().or(Some(e)),
        }
    }

    /// Every way a leg can stand for the platform and the legs before it in `pos`.
    fn ways(&mut self, leg: LegId, pos: &Positions<f64>) -> Vec<Way> {
        let topology = self.model.topology();
        let coords = topology.legs[leg].coords;
        let block = topology.plan.inverse.iter().find(|b| b.leg == leg && !b.newton_coords().is_empty());
        let (found, reason) = match block {
            Some(block) => newton_ways(self.model, block, pos),
            None => chain_ways(self.model, leg, pos),
        };
        self.reason = self.reason.take().or(reason);
        let mut at = pos.clone();
        let mut fits = |way: &Way| {
            at.joints.slice_mut(coords).copy_from_slice(&way.joints);
            coords.iter().all(|c| (self.fits)(c, &at))
        };
        found.into_iter().filter(|way| fits(way)).collect()
    }
}

/// Sign number `k` of a combination: a bit that is set is `-`.
pub(super) fn sign_of_bit(bits: u64, k: usize) -> f64 {
    if k < 64 && bits >> k & 1 == 1 { -1.0 } else { 1.0 }
}

/// Whether every posture at a pose is listed by [`working_modes`]: closed forms only, nothing that follows, no list cut.
pub fn lists_all_modes(model: &Model<f64>, found: usize) -> bool {
    let topology = model.topology();
    topology.platform.dependent.is_empty()
        && topology.plan.inverse.iter().all(|b| b.newton_coords().is_empty())
        && topology.legs.values().all(|l| l.roots.len() <= MOST_ROOTS)
        && found < MOST_POSTURES
}

/// The ways of a leg in closed form, and why one is left out.
fn chain_ways(model: &Model<f64>, leg: LegId, pos: &Positions<f64>) -> (Vec<Way>, Option<SolveError>) {
    let topology = model.topology();
    let coords = topology.legs[leg].coords;
    let roots = topology.legs[leg].roots.len();
    let mut reason = None;
    let mut ways = Vec::new();
    for bits in 0..1_u64 << roots.min(MOST_ROOTS) {
        let signs: Vec<f64> = (0..roots).map(|k| sign_of_bit(bits, k)).collect();
        let mut trial = pos.clone();
        solve_one_leg(model, leg, &signs, &mut trial);
        let joints = trial.joints.slice(coords).to_vec();
        let reaches = leg_reaches(model, leg, &trial, 1e-9 * model.size())
            .and_then(|()| in_range(topology.coords.slice(coords), &joints));
        match reaches {
            Ok(()) => ways.push(Way { signs, branch: None, joints }),
            Err(e) => reason = reason.or(Some(e)),
        }
    }
    (ways, reason)
}

/// The same for a leg without closed form.
fn newton_ways(model: &Model<f64>, block: &BlockPlan, pos: &Positions<f64>) -> (Vec<Way>, Option<SolveError>) {
    let topology = model.topology();
    let leg = &topology.legs[block.leg];
    match leg_branches(model, block, block.newton_coords(), pos) {
        Ok(branches) => {
            let way = |(branch, own): NamedBranch| {
                let mut joints = pos.joints.slice(leg.coords).to_vec();
                for (c, joint) in block.newton_coords().iter().zip(own) {
                    if let Some(k) = leg.coords.local(*c) {
                        joints[k] = joint;
                    }
                }
                Way { signs: Vec::new(), branch: Some(branch), joints }
            };
            (branches.into_iter().map(way).collect(), None)
        }
        Err(e) => (Vec::new(), Some(e)),
    }
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
    let found = leg_branches(model, block, coords, pos)?;
    let Some((_, joints)) = found.iter().find(|(b, _)| *b == wanted) else {
        let others = found.iter().map(|(b, _)| b.to_string()).collect();
        return Err(SolveError::NotInMode { mode: wanted.to_string(), others });
    };
    for (c, joint) in coords.iter().zip(joints) {
        pos.joints[*c] = *joint;
    }
    Ok(())
}

/// Seed of every random search, so that answers do not change from run to run.
pub(super) const SEED: u64 = 5;

/// How many random starts the search for branches of one leg makes.
const STARTS: usize = 60;

/// A branch of a leg without closed form, and its joints.
type NamedBranch = (Branch, Vec<JointPosition<f64>>);

/// A solution for a leg without closed form.
struct Found {
    determinant: f64,
    /// Its first active joint.
    value: f64,
    joints: Vec<JointPosition<f64>>,
    lines: Vec<(Vec3<f64>, Vec3<f64>)>,
}

/// All branches of a leg that Newton finds from fixed random starts, named; why there is none.
fn leg_branches(
    model: &Model<f64>,
    block: &BlockPlan,
    coords: &[CoordId],
    pos: &Positions<f64>,
) -> Result<Vec<NamedBranch>, SolveError> {
    let topology = model.topology();
    let unknowns = Unknowns::of_leg(model, block.leg, coords);
    let name = || topology.legs[block.leg].name.clone();
    let first = coords.iter().find(|c| topology.active.contains(c)).copied().unwrap_or(coords[0]);
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut found: Vec<Found> = Vec::new();
    let mut reason = SolveError::OutOfReach { leg: name(), by: f64::INFINITY };
    let mut last_new = 0;
    for k in 0..STARTS {
        if k > last_new + STARTS / 2 {
            break;
        }
        let mut trial = pos.clone();
        scatter(model, coords, &mut random, &mut trial);
        newton::assemble(model, &unknowns, &mut trial);
        let gaps = unknowns.closures.iter().map(|c| super::closure::closure_gap(model, *c, &trial));
        let (gap_m, gap_rad) = gaps.fold((0.0_f64, 0.0_f64), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        if gap_m > 1e-10 * model.size().max(1.0) || gap_rad > 1e-10 {
            if let SolveError::OutOfReach { by, .. } = &mut reason {
                *by = by.min(gap_m.max(gap_rad * model.length()));
            }
            continue;
        }
        if let Err(e) =
            in_range(topology.coords.slice(topology.legs[block.leg].coords), leg_joints(model, block, &trial))
        {
            reason = e;
            continue;
        }
        let Some(determinant) = determinant(model, &unknowns, &block.pivots, &trial) else {
            return Err(SolveError::AtLimit { leg: name() });
        };
        let joints: Vec<_> = coords.iter().map(|c| trial.joints[*c]).collect();
        let value = joint_value(model, &trial, first);
        let new = Found { determinant, value, joints, lines: lines(model, block.leg, &trial) };
        match found.iter_mut().find(|old| same_lines(model, &old.lines, &new.lines)) {
            // A universal joint turned round: the smaller angles count.
            Some(old) if turns(model, coords, &new.joints) < turns(model, coords, &old.joints) - 1e-6 => *old = new,
            Some(_) => {}
            None => {
                found.push(new);
                last_new = k;
            }
        }
    }
    if found.is_empty() {
        return Err(reason);
    }
    found.sort_by(|a, b| a.value.total_cmp(&b.value));
    let mut counts = [0, 0];
    let mut branch = |f: Found| {
        let positive = f.determinant > 0.0;
        counts[usize::from(positive)] += 1;
        (Branch { positive, number: counts[usize::from(positive)] }, f.joints)
    };
    Ok(found.into_iter().map(&mut branch).collect())
}

fn leg_joints<'p>(model: &Model<f64>, block: &BlockPlan, pos: &'p Positions<f64>) -> &'p [JointPosition<f64>] {
    pos.joints.slice(model.topology().legs[block.leg].coords)
}

/// What a leg looks like: the joint axes, cut ones too, each by a point and a direction. Solutions that put every axis on
/// the same line (a universal joint turned round, a rod spun about itself) are one.
fn lines(model: &Model<f64>, leg: LegId, pos: &Positions<f64>) -> Vec<(Vec3<f64>, Vec3<f64>)> {
    let leg = &model.topology().legs[leg];
    let joints = leg.bodies.iter().map(|b| (pos.X_WB[b].p, pos.X_WB[b].R.z()));
    let cut = leg.closures.iter().map(|c| {
        let at = super::closure::closure_at(model, c, pos);
        let ball = at.joint == ClosureJoint::Spherical;
        (at.A.p, if ball { Vec3::zeros() } else { at.A.R.z() })
    });
    joints.chain(cut).collect()
}

fn same_lines(model: &Model<f64>, a: &[(Vec3<f64>, Vec3<f64>)], b: &[(Vec3<f64>, Vec3<f64>)]) -> bool {
    let near = 1e-6 * model.size();
    a.iter().zip(b).all(|((p, u), (q, v))| (p - q).norm() < near && u.cross(v).norm() < 1e-6)
}

/// Sum of the squares of the angles.
fn turns(model: &Model<f64>, coords: &[CoordId], joints: &[JointPosition<f64>]) -> f64 {
    let angle = |(c, joint): (&CoordId, &JointPosition<f64>)| {
        let coord = &model.topology().coords[*c];
        let q = if coord.slides {
            0.0
        } else if coord.counted {
            joint.value
        } else {
            joint.turn.angle()
        };
        q * q
    };
    coords.iter().zip(joints).map(angle).sum()
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

/// Determinant of the closures in the pivot rows and columns, both in ascending order; none where the rank falls, so that
/// branches meet or a joint is free.
fn determinant(model: &Model<f64>, unknowns: &Unknowns, order: &PivotOrder, pos: &Positions<f64>) -> Option<f64> {
    let (mut rows, mut cols) = (order.rows.clone(), order.cols.clone());
    rows.sort_unstable();
    cols.sort_unstable();
    let mut a = Dense::zeros(newton::row_count(model, unknowns), unknowns.coords.len() + 1);
    newton::jacobian(model, unknowns, model.length(), pos, &mut a);
    let all = svd(&Matrix::from_fn(a.rows, unknowns.coords.len(), |i, j| a.at(i, j)));
    let smallest = all.s.get(cols.len().wrapping_sub(1)).copied().unwrap_or(1.0);
    let m = nalgebra::DMatrix::from_fn(rows.len(), cols.len(), |i, j| a.at(rows[i], cols[j]));
    (smallest > 1e-6 * all.s.first().copied().unwrap_or(1.0)).then(|| m.determinant())
}
