//! Every way in which a leg can stand at a pose: signs of its roots, or solutions of Newton's method from many starts.

use super::error::SolveError;
use super::geometry::{solve_legs, solve_one_leg};
use super::inverse::{Posture, check_closed, in_range, joint_value, leg_reaches};
use super::modes::WorkingMode;
use super::newton::{self, Unknowns};
use super::positions::{JointPosition, Positions, pose_bodies, pose_leg};
use crate::description::ClosureJoint;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{BlockPlan, Branch, CoordId, LegId, Model, PerLeg};
use crate::spatial::Vec3;
use crate::spatial::orientation::wrap;
use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Most square roots of one leg whose signs are all tried; those beyond keep `+`, and the list is not complete.
pub const MOST_ROOTS: usize = 12;

/// Most postures that are listed; a list as long as this is not complete.
pub const MOST_POSTURES: usize = 4096;

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
    /// Where joints are wanted: of the ways of a leg those nearest to them are taken. Every way where nothing is wanted.
    wanted: &'a [(CoordId, f64)],
    pub(super) found: Vec<Posture>,
    /// Why a leg does not reach.
    pub(super) reason: Option<SolveError>,
}

impl<'a> Standing<'a> {
    pub(super) fn new(model: &'a Model<f64>, fits: &'a dyn Fn(CoordId, &Positions<f64>) -> bool) -> Self {
        Self { model, fits, wanted: &[], found: Vec::new(), reason: None }
    }

    /// Of the ways of each leg those nearest to joints that are wanted.
    pub(super) fn near(model: &'a Model<f64>, wanted: &'a [(CoordId, f64)]) -> Self {
        Self { wanted, ..Self::new(model, &|_, _| true) }
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
        let mut ways: Vec<(f64, Way)> = Vec::new();
        for way in found {
            at.joints.slice_mut(coords).copy_from_slice(&way.joints);
            if coords.iter().all(|c| (self.fits)(c, &at)) {
                ways.push((self.off(leg, &at), way));
            }
        }
        let least = ways.iter().map(|(off, _)| *off).fold(f64::INFINITY, f64::min);
        ways.into_iter().filter(|(off, _)| *off <= least + 1e-9).map(|(_, way)| way).collect()
    }

    /// How far a leg is from the joints that are wanted, in squares of angles and sizes. Idle joints, which stand still, do
    /// not count.
    fn off(&self, leg: LegId, at: &Positions<f64>) -> f64 {
        let (model, topology) = (self.model, self.model.topology());
        let own = self.wanted.iter().filter(|(c, _)| topology.coords[*c].leg == leg && !topology.is_held(*c));
        off(model, at, &own.copied().collect::<Vec<_>>())
    }
}

/// Sign number `k` of a combination: a bit that is set is `-`.
pub(super) fn sign_of_bit(bits: u64, k: usize) -> f64 {
    if k < 64 && bits >> k & 1 == 1 { -1.0 } else { 1.0 }
}

/// Whether every posture at a pose is listed by [`working_modes`](super::working_modes): closed forms only, nothing that
/// follows, no list cut.
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

/// The ways of a leg without closed form, and why one is left out.
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
pub(super) fn newton_leg(
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
struct LegSolution {
    /// Its closures, by the joints that are solved for.
    closures: DMatrix<f64>,
    /// Which of several solutions is counted first: see [`place`].
    place: Vec<i64>,
    joints: Vec<JointPosition<f64>>,
    lines: Vec<(Vec3<f64>, Vec3<f64>)>,
}

impl LegSolution {
    /// Whether it is on the same side of its singularities as another: the determinant has the same sign. Rows that depend on others
    /// are no matter (formula of Cauchy and Binet).
    fn is_beside(&self, other: &Self) -> bool {
        self.closures.tr_mul(&other.closures).determinant() > 0.0
    }
}

/// Where a solution stands among others: how far its joints are from those that `near` tells, then from zero, then its joints, those
/// with a motor first, in the order of their names. Neither where rows stand in the file nor which start of the search came
/// first matters, nor the unit of length.
fn place(model: &Model<f64>, coords: &[CoordId], pos: &Positions<f64>) -> Vec<i64> {
    let topology = model.topology();
    let mut listed = coords.to_vec();
    listed.sort_by_key(|c| (!topology.active.contains(c), topology.coords[*c].name.clone()));
    let told = near_joints(model, coords);
    let zero: Vec<_> = coords.iter().map(|c| (*c, 0.0)).collect();
    let from = [told, zero].map(|wanted| off(model, pos, &wanted));
    let joints = listed.iter().map(|c| away(model, pos, &(*c, 0.0)));
    // Half a turn is one place.
    let joints = joints.map(|q| if q < ALIKE - std::f64::consts::PI { std::f64::consts::PI } else { q });
    from.into_iter().chain(joints).map(grain).collect()
}

/// What differs by less is alike, in radians and sizes.
const ALIKE: f64 = 1e-6;

/// A number as one that can be compared although it is known up to rounding.
#[allow(clippy::cast_possible_truncation)] // what is too large stays the largest
pub(super) fn grain(x: f64) -> i64 {
    (x / ALIKE).round() as i64
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
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut found: Vec<LegSolution> = Vec::new();
    let mut reason = SolveError::OutOfReach { leg: name(), by: f64::INFINITY };
    let mut last_new = 0;
    for k in 0..STARTS {
        if k > last_new + STARTS / 2 {
            break;
        }
        let mut trial = pos.clone();
        match k {
            0 | 1 => coords.iter().for_each(|c| trial.joints[*c] = JointPosition::zero()),
            _ => scatter(model, coords, &mut random, &mut trial),
        }
        if k == 0 {
            start_near(model, coords, &mut trial);
        }
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
        let Some(closures) = closures(model, &unknowns, &block.pivots, &trial) else {
            return Err(SolveError::AtLimit { leg: name() });
        };
        let new = LegSolution {
            closures,
            place: place(model, coords, &trial),
            joints: coords.iter().map(|c| trial.joints[*c]).collect(),
            lines: lines(model, block.leg, &trial),
        };
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
    found.sort_by(|a, b| a.place.cmp(&b.place));
    let mut counts = [0, 0];
    let sides: Vec<bool> = found.iter().map(|f| f.is_beside(&found[0])).collect();
    let mut branch = |(positive, f): (bool, LegSolution)| {
        counts[usize::from(positive)] += 1;
        (Branch { positive, number: counts[usize::from(positive)] }, f.joints)
    };
    Ok(sides.into_iter().zip(found).map(&mut branch).collect())
}

fn leg_joints<'p>(model: &Model<f64>, block: &BlockPlan, pos: &'p Positions<f64>) -> &'p [JointPosition<f64>] {
    pos.joints.slice(model.topology().legs[block.leg].coords)
}

/// What a leg looks like: the joint axes, cut ones too, each by a point and a direction. Solutions that put every axis on
/// the same line (a universal joint turned round, a rod spun about itself) are one.
pub(super) fn lines(model: &Model<f64>, leg: LegId, pos: &Positions<f64>) -> Vec<(Vec3<f64>, Vec3<f64>)> {
    let leg = &model.topology().legs[leg];
    let joints = leg.bodies.iter().map(|b| (pos.X_WB[b].p, pos.X_WB[b].R.z()));
    let cut = leg.closures.iter().map(|c| {
        let at = super::closure::closure_at(model, c, pos);
        let ball = at.joint == ClosureJoint::Spherical;
        (at.A.p, if ball { Vec3::zeros() } else { at.A.R.z() })
    });
    joints.chain(cut).collect()
}

pub(super) fn same_lines(model: &Model<f64>, a: &[(Vec3<f64>, Vec3<f64>)], b: &[(Vec3<f64>, Vec3<f64>)]) -> bool {
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

/// Put joints where the file's `near` has them.
pub(super) fn start_near(model: &Model<f64>, coords: &[CoordId], pos: &mut Positions<f64>) {
    for (c, q) in near_joints(model, coords) {
        pos.joints[c] = JointPosition::of(q);
    }
}

/// What the file's `near` tells of some joints.
fn near_joints(model: &Model<f64>, coords: &[CoordId]) -> Vec<(CoordId, f64)> {
    let told = model.description().near.iter().map(|(name, q)| (model.topology().coord(&name.text), q.value));
    told.filter_map(|(c, q)| Some((c.filter(|c| coords.contains(c))?, q))).collect()
}

/// How far joints are from where they are wanted: squares of angles and sizes.
fn off(model: &Model<f64>, pos: &Positions<f64>, wanted: &[(CoordId, f64)]) -> f64 {
    wanted.iter().map(|joint| away(model, pos, joint).powi(2)).sum()
}

/// How far a joint is from where it is wanted, in radians or sizes.
fn away(model: &Model<f64>, pos: &Positions<f64>, (c, wanted): &(CoordId, f64)) -> f64 {
    let (coord, d) = (&model.topology().coords[*c], joint_value(model, pos, *c) - wanted);
    match coord {
        _ if coord.slides => d / model.size(),
        _ if coord.counted => d,
        _ => wrap(d),
    }
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

/// The closures of a leg by the joints that are solved for; none where their rank falls, so that branches meet or a joint is free.
fn closures(model: &Model<f64>, unknowns: &Unknowns, order: &PivotOrder, pos: &Positions<f64>) -> Option<DMatrix<f64>> {
    let mut a = Dense::zeros(newton::row_count(model, unknowns), unknowns.coords.len() + 1);
    newton::jacobian(model, unknowns, model.length(), pos, &mut a);
    let all = svd(&Matrix::from_fn(a.rows, unknowns.coords.len(), |i, j| a.at(i, j)));
    let smallest = all.s.get(order.cols.len().wrapping_sub(1)).copied().unwrap_or(1.0);
    let columns = || DMatrix::from_fn(a.rows, order.cols.len(), |i, j| a.at(i, order.cols[j]));
    (smallest > 1e-6 * all.s.first().copied().unwrap_or(1.0)).then(columns)
}
