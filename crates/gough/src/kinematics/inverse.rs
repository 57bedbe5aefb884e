//! Inverse geometry: from a platform pose to all joints, section 6. The only place where reach is decided.

use super::branches::{led_postures, name, reach};
use super::closure::gap;
use super::error::SolveError;
use super::following::{follow, following, number_following, open_following};
use super::geometry::{solve_groups, solve_legs};
use super::modes::WorkingMode;
use super::platform::check_pose;
use super::positions::{JointPosition, Positions, pose_bodies};
use super::ways::{Standing, newton_leg};
use crate::model::{BlockMethod, Coord, CoordId, LegId, Model};
use crate::spatial::Pose;
use crate::spatial::orientation::wrap;

/// A posture whose loops are closed. Only the solvers of this stage make one, after checking the residual.
#[derive(Clone, Copy, Debug)]
pub struct Closed<'d> {
    positions: &'d Positions<f64>,
}

impl<'d> Closed<'d> {
    /// Its positions. Bodies are posed when it comes from a [`Posture`], else by [`pose_bodies`].
    #[doc(hidden)]
    pub fn positions(self) -> &'d Positions<f64> {
        self.positions
    }
}

/// A closed posture that owns its positions.
#[derive(Clone, Debug)]
pub struct Posture {
    pub(super) positions: Positions<f64>,
    pub(super) mode: WorkingMode,
}

impl Posture {
    /// The posture as a proof that its loops are closed.
    #[doc(hidden)]
    pub fn closed(&self) -> Closed<'_> {
        Closed { positions: &self.positions }
    }

    /// Its positions.
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub fn joints(&self, model: &Model<f64>, coords: &[CoordId]) -> Vec<f64> {
        coords.iter().map(|c| joint_value(model, &self.positions, *c)).collect()
    }

    /// Largest remaining gap of the loops, in metres and radians.
    #[doc(hidden)]
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
    if !model.topology().plan.anchors.is_empty() {
        reach(model, pose, mode, pos)?;
        return Ok(Closed { positions: pos });
    }
    pos.X_WE = *pose;
    if model.topology().plan.solve_platform {
        follow(model, mode, pos)?;
    } else {
        at_pose(model, mode, pos)?;
    }
    Ok(Closed { positions: pos })
}

/// The legs for the platform in `pos`, whose pose is known altogether.
pub(super) fn at_pose(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> Result<(), SolveError> {
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
        if let BlockMethod::Newton { coords } = &block.method {
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

/// All joints for a platform pose in a working mode, as a posture that owns its memory.
pub fn inverse(model: &Model<f64>, pose: &Pose<f64>, mode: &WorkingMode) -> Result<Posture, SolveError> {
    inverse_given(model, pose, mode, &[])
}

/// All joints for a platform pose in a working mode, of a robot with kinematic redundancy: with the joints that the pose leaves open.
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

/// All joints for a platform pose, led there from another posture where closed forms do not say which posture is meant.
pub(crate) fn inverse_from(model: &Model<f64>, pose: &Pose<f64>, from: &Posture) -> Result<Posture, SolveError> {
    inverse_beside(model, pose, from.mode(), from.positions())
}

/// [`inverse_from`] with the posture as positions and mode.
pub(crate) fn inverse_beside(
    model: &Model<f64>,
    pose: &Pose<f64>,
    mode: &WorkingMode,
    beside: &Positions<f64>,
) -> Result<Posture, SolveError> {
    if model.topology().plan.anchors.is_empty() {
        return inverse(model, pose, mode);
    }
    let mut pos = beside.clone().going_on();
    pos.held = Some(mode.clone());
    inverse_in(model, pose, mode, &mut pos)?;
    pos.goes_on = false;
    Ok(Posture::new(model, pos, mode.clone()))
}

pub(super) fn with_given(model: &Model<f64>, given: &[(CoordId, f64)]) -> Positions<f64> {
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

/// Every working mode in which the pose can be reached, of a robot with kinematic redundancy: with the joints that the pose leaves
/// open.
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
        let starts = following(model, &pos);
        if let Some(open) = open_following(model, &starts) {
            return Err(open);
        }
        starts.iter().for_each(|start| standing.stand(start));
        number_following(model, &pos, &mut standing.found);
    } else {
        standing.stand(&pos);
    }
    if standing.found.is_empty() {
        standing.found = led_postures(model, pose, &pos);
    }
    name(model, pose, given, &mut standing.found);
    standing.found.sort_by_cached_key(|p: &Posture| p.mode.name(model.topology()));
    let Standing { found, reason, .. } = standing;
    if found.is_empty() { Err(reason.unwrap_or(SolveError::NotFollowing)) } else { Ok(found) }
}

/// The postures at a pose whose joints are nearest to the ones wanted, leg by leg, for lists that are too long to be had in full.
pub(crate) fn modes_near(model: &Model<f64>, pose: &Pose<f64>, wanted: &[(CoordId, f64)]) -> Vec<Posture> {
    let given: Vec<_> = wanted.iter().copied().filter(|(c, _)| model.topology().plan.given.contains(c)).collect();
    let mut pos = with_given(model, &given);
    pos.X_WE = *pose;
    let mut standing = Standing::near(model, wanted);
    standing.stand(&pos);
    standing.found
}

/// Discriminants must be positive, tips must meet their targets.
pub(super) fn check_reach(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), SolveError> {
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

pub(super) fn leg_reaches(model: &Model<f64>, id: LegId, pos: &Positions<f64>, limit: f64) -> Result<(), SolveError> {
    let leg = || model.topology().legs[id].name.clone();
    let (steps, blocks) = pos.places(id);
    for (k, step) in steps.zip(model.leg_blocks(id).iter().flat_map(|b| &b.steps)) {
        let least = step.least_margin(model.size());
        if !(pos.margins[k] >= least) {
            let by = step.missing(pos.targets[k]);
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

pub(super) fn check_closed(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), SolveError> {
    let (gap_m, gap_rad) = gap(model, pos);
    if gap_m <= 1e-10 * model.size().max(1.0) && gap_rad <= 1e-10 {
        Ok(())
    } else {
        Err(SolveError::NotClosed { gap_m, gap_rad })
    }
}

pub(super) fn check_ranges(model: &Model<f64>, pos: &Positions<f64>) -> Result<(), SolveError> {
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
