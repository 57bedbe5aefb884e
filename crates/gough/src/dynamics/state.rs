//! Inverse and direct dynamics of one state after the other on `f64`, without allocation: what controllers, batches and
//! simulations call.

use super::Conditions;
use super::drives::{Drives, Freedoms};
use super::inertia::{LegInertia, add_accelerations, legs_are_simple, of_platform, on_platform};
use super::newton_euler::{Sign, needed};
use super::points::{OnPlatform, PlatformMotion, platform_needs};
use super::reduction::{EffortData, LegReduction, reduce};
use crate::kinematics::leg::{LegAt, LegMotion, LegStep};
use crate::kinematics::motion::{Motion, NothingMore, accelerations, move_with, scatter};
use crate::kinematics::platform::check_pose;
use crate::kinematics::{Positions, Posture, SolveError, WorkingMode, inverse_in};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::{PivotOrder, lu, lu_solve};
use crate::model::{LegGroup, Model, PointGroup, PointLegs};
use crate::scalar::{LANES, Lanes, Real, all_nonneg, each_lane, lane, lanes, sum_of_lanes};
use crate::spatial::{Accel, Pose, Vec3, Wrench, along};

/// Memory of the dynamics of one state, sized once for a model. The fields hold the last state asked for.
///
/// Nothing is allocated where [`inverse_in`] allocates nothing, except at the first state, which finds an order in which to
/// solve for the drives, near singularities, and for platforms with components that follow from the closures.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// Posture; closed forms of whole legs leave it alone.
    pub(crate) pos: Positions<f64>,
    /// Motion; after [`Dynamics::inverse`] of a robot whose legs run side by side, its lists of joints are not filled.
    pub(crate) motion: Motion<f64>,
    /// Loads, `h` and `J_inv`.
    pub(crate) efforts: EffortData<f64>,
    drives: Drives<f64>,
    /// Order in which the drives were last solved for.
    pub(super) order: PivotOrder,
    /// Order that [`Dynamics::forget`] goes back to.
    start: PivotOrder,
    lanes: Vec<LaneEfforts>,
    simple: bool,
    /// The last state was answered by closed forms of whole legs.
    shortly: bool,
    inertia: LegInertia<f64>,
    M: Vec<f64>,
    accelerations: Vec<f64>,
    /// What groups of legs in closed form do to the platform.
    points: Vec<OnPlatform<Lanes>>,
}

/// Efforts of up to four legs, one per lane.
#[derive(Clone, Debug)]
struct LaneEfforts {
    legs: LegReduction<Lanes>,
    /// One in lanes that hold a leg, zero in those that repeat one.
    present: Lanes,
    /// Places of the drives among those of the robot, for each lane.
    places: Vec<[usize; LANES]>,
}

/// What the groups of legs give to the platform, one leg per lane.
struct Sums {
    h: Wrench<Lanes>,
    M: [Lanes; 36],
}

impl Sums {
    fn nothing() -> Self {
        Self { h: Wrench::zero(), M: [Lanes::lit(0.0); 36] }
    }
}

impl LaneEfforts {
    fn new(model: &Model<f64>, group: &LegGroup) -> Self {
        let legs = LegReduction::new(model.topology(), group.legs[0]);
        let own = group.lane_legs().map(|id| model.topology().drives_of(id));
        let places = (0..legs.drives.len()).map(|k| std::array::from_fn(|lane| own[lane][k].1)).collect();
        let present = lanes(std::array::from_fn(|k| f64::from(u8::from(k < group.legs.len()))));
        Self { legs, present, places }
    }
}

/// Reduces the groups of legs to the platform, one after the other.
struct Reduce<'a> {
    memory: std::slice::IterMut<'a, LaneEfforts>,
    gravity: Vec3<Lanes>,
    friction: Option<Sign>,
    on_platform: Sums,
    task: Task<'a>,
}

/// What is asked of the legs.
enum Task<'a> {
    /// `h`, and what unit efforts of the drives give to the platform.
    Inverse { J_inv: &'a mut [Wrench<f64>] },
    /// `h` less efforts of the drives, and inertia on the platform.
    Direct { given: &'a [f64] },
}

impl LegStep<Lanes> for Reduce<'_> {
    #[inline(always)]
    fn run(&mut self, at: &LegAt<'_, Lanes>, motion: &mut LegMotion<'_, Lanes>) {
        let Some(LaneEfforts { legs, present, places }) = self.memory.next() else { return };
        let sum = &mut self.on_platform;
        let inverse = matches!(self.task, Task::Inverse { .. });
        for (x, four) in legs.given.iter_mut().zip(&*places) {
            *x = if let Task::Direct { given } = &self.task { lanes(four.map(|k| given[k])) } else { Lanes::lit(0.0) };
        }
        at.body_accelerations(motion);
        legs.reduce(at, motion, self.gravity, self.friction, inverse);
        let h = legs.rows[0];
        sum.h = sum.h + Wrench { f: h.f * *present, m: h.m * *present };
        match &mut self.task {
            Task::Inverse { J_inv } => {
                for (row, four) in legs.rows[1..].iter().zip(&*places) {
                    four.iter().enumerate().for_each(|(k, drive)| J_inv[*drive] = row.map(&mut |x| lane(x, k)));
                }
            }
            Task::Direct { .. } => legs.inertia.add_to_platform(at, motion.factors, *present, &mut sum.M),
        }
    }
}

/// A pivot of the inertia matrix below this share of its largest entry, lengths scaled, is rounding: nothing resists there.
pub(super) const WEIGHTLESS: f64 = 1e-11;

/// Inertia that is so many times all that the robot has comes from joints that run away.
pub(super) const RUNS_AWAY: f64 = 1e4;

/// Accelerations whose rounding may be a larger share of them are not given out.
const DIGITS_LOST: f64 = 1e-3;

/// Accelerations in m/s² below which digits are not counted one by one: a platform in balance has none.
const SLOW: f64 = 0.1;

impl Dynamics {
    /// Memory for a model, nothing acting from outside.
    pub fn new(model: &Model<f64>) -> Self {
        let topology = model.topology();
        let n = topology.platform.independent.len();
        let longest = topology.legs.values().map(|l| l.coords.len()).max().unwrap_or(0);
        let drives = Drives::new(model);
        Self {
            pos: Positions::new(model),
            motion: Motion::new(model),
            efforts: EffortData::new(model),
            order: drives.first_order(),
            start: drives.first_order(),
            drives,
            lanes: model.groups().iter().map(|g| LaneEfforts::new(model, g)).collect(),
            simple: legs_are_simple(model),
            shortly: false,
            inertia: LegInertia::new(longest, topology.bodies.len()),
            M: vec![0.0; n * n],
            accelerations: vec![0.0; n],
            points: Vec::with_capacity(model.point_legs().map_or(0, |legs| legs.groups.len())),
        }
    }

    /// What legs and loads ask of platform and drives in the state last answered leg by leg: loads, `h` and `J_inv`.
    pub fn reduced(&self) -> &EffortData<f64> {
        &self.efforts
    }

    /// Rates of all joints in the state that [`Dynamics::direct`] answered last.
    pub fn joint_rates(&self) -> &[f64] {
        self.motion.rates.as_slice()
    }

    /// Accelerations of all joints in the state that [`Dynamics::direct`] answered last.
    pub fn joint_accelerations(&self) -> &[f64] {
        self.motion.accels.as_slice()
    }

    /// Whether the last state was answered by closed forms of whole legs.
    pub fn took_closed_forms(&self) -> bool {
        self.shortly
    }

    /// Keep the order in which the drives were solved for last as the one to begin with.
    #[doc(hidden)]
    pub fn remember(&mut self) {
        self.start.clone_from(&self.order);
    }

    /// Begin as after [`Dynamics::remember`]: what was asked since then does not show in the last digits of what comes.
    #[doc(hidden)]
    pub fn forget(&mut self) {
        self.order.rows.clone_from(&self.start.rows);
        self.order.cols.clone_from(&self.start.cols);
    }

    /// From now on, loads act, see [`Conditions`]; friction is asked for state by state.
    pub fn under(mut self, conditions: &Conditions) -> Self {
        conditions.put(&mut self.efforts);
        self
    }

    /// Efforts of the drives for a state by the kernels for any leg, where [`Dynamics::inverse`] takes closed forms of whole
    /// legs: the second road to the same numbers.
    pub fn inverse_leg_by_leg(
        &mut self,
        model: &Model<f64>,
        posture: &Posture,
        t_r: &[f64],
        td_r: &[f64],
        friction: Option<Sign>,
    ) -> Result<&[f64], SolveError> {
        inverse_in(model, posture.pose(), posture.mode(), &mut self.pos)?;
        self.inverse_from(model, t_r, td_r, friction)
    }

    /// Acceleration of the platform under efforts by the kernels for any leg, where [`Dynamics::direct`] takes closed forms of
    /// whole legs: the second road to the same numbers.
    pub fn direct_leg_by_leg(
        &mut self,
        model: &Model<f64>,
        posture: &Posture,
        t_r: &[f64],
        efforts: &[f64],
        friction: Option<Sign>,
    ) -> Result<&[f64], SolveError> {
        inverse_in(model, posture.pose(), posture.mode(), &mut self.pos)?;
        self.direct_from(model, t_r, efforts, friction)
    }

    /// From now on, legs without closed form go on from the state before, see [`Positions::going_on`].
    pub fn going_on(mut self) -> Self {
        self.pos = self.pos.going_on();
        self
    }

    /// Efforts of the drives for a pose, a twist and an acceleration of the platform in its independent components; the
    /// shortest list where drives are redundant.
    pub fn inverse(
        &mut self,
        model: &Model<f64>,
        pose: &Pose<f64>,
        mode: &WorkingMode,
        t_r: &[f64],
        td_r: &[f64],
        friction: Option<Sign>,
    ) -> Result<&[f64], SolveError> {
        check_pose(model, pose)?;
        if let Some(legs) = model.point_legs()
            && !self.efforts.needs_legs()
            && self.inverse_at_points(model, legs, pose, mode, (t_r, td_r), friction)
        {
            self.shortly = true;
            return Ok(&self.drives.efforts);
        }
        self.shortly = false;
        inverse_in(model, pose, mode, &mut self.pos)?;
        self.inverse_from(model, t_r, td_r, friction)
    }

    /// Efforts of legs that closed forms know; whether there is an answer. Where there is none, the longer road says why.
    fn inverse_at_points(
        &mut self,
        model: &Model<f64>,
        legs: &PointLegs,
        pose: &Pose<f64>,
        mode: &WorkingMode,
        (t_r, td_r): (&[f64], &[f64]),
        friction: Option<Sign>,
    ) -> bool {
        let Some(platform) = platform_motion(model, pose, t_r, td_r).filter(|_| !self.drives.are_too_few()) else {
            return false;
        };
        let mut h = Wrench::zero();
        let reached = at_points(legs, &platform, mode, friction, |group, on| {
            h = plus(h, on.h, group.present);
            for (joint, places) in &group.drives {
                let row = on.rows[*joint].to_array().map(each_lane);
                for (k, drive) in places.iter().enumerate() {
                    self.efforts.J_inv[*drive] = Wrench::from_array(row.map(|x| x[k]));
                }
            }
        });
        if !reached {
            return false;
        }
        self.efforts.h = platform_needs(model.numbers(), legs.planar.then_some(legs.zz), &platform) - self.efforts.load
            + h.map(&mut sum_of_lanes);
        self.drives.project(&self.efforts, &Freedoms::new(model, None));
        self.drives.solve(&self.order);
        self.drives.is_well_founded() && self.drives.efforts.iter().all(|x| x.is_finite())
    }

    /// Efforts of the drives for a motion from the posture in [`Dynamics::pos`], which the caller has just closed.
    pub(crate) fn inverse_from(
        &mut self,
        model: &Model<f64>,
        t_r: &[f64],
        td_r: &[f64],
        friction: Option<Sign>,
    ) -> Result<&[f64], SolveError> {
        let Self { pos, motion, efforts, lanes, .. } = self;
        if efforts.needs_legs() {
            pos.leave_lanes();
        }
        let gravity = model.numbers().gravity.map(Lanes::lit);
        let mut step = Reduce {
            memory: lanes.iter_mut(),
            gravity,
            friction,
            on_platform: Sums::nothing(),
            task: Task::Inverse { J_inv: &mut efforts.J_inv },
        };
        let in_lanes = move_with(model, t_r, td_r, pos, motion, &mut step)?;
        let h = step.on_platform.h;
        if in_lanes {
            efforts.h = needs(model, pos, motion) - efforts.load + h.map(&mut sum_of_lanes);
        } else {
            reduce(model, friction, pos, motion, efforts);
        }
        self.drives.project(&self.efforts, &Freedoms::of(model, &self.motion));
        if self.drives.are_too_few() {
            self.order = self.drives.order_at(model, &self.pos, &self.motion)?;
        }
        self.drives.solve(&self.order);
        if !self.drives.is_well_founded() {
            self.order = self.drives.order_at(model, &self.pos, &self.motion)?;
            self.drives.solve(&self.order);
        }
        if !self.drives.efforts.iter().all(|x| x.is_finite()) {
            return Err(SolveError::not_finite());
        }
        Ok(&self.drives.efforts)
    }

    /// Acceleration of the platform in its independent components for a pose, a twist and efforts of the drives; the
    /// accelerations of the joints are those of [`Dynamics::joint_accelerations`] afterwards.
    pub fn direct(
        &mut self,
        model: &Model<f64>,
        pose: &Pose<f64>,
        mode: &WorkingMode,
        t_r: &[f64],
        efforts: &[f64],
        friction: Option<Sign>,
    ) -> Result<&[f64], SolveError> {
        check_pose(model, pose)?;
        if let Some(legs) = model.point_legs()
            && !self.efforts.needs_legs()
            && self.direct_at_points(model, legs, pose, mode, (t_r, efforts), friction)
        {
            self.shortly = true;
            return Ok(&self.accelerations);
        }
        self.shortly = false;
        inverse_in(model, pose, mode, &mut self.pos)?;
        self.direct_from(model, t_r, efforts, friction)
    }

    /// Accelerations under legs that closed forms know; whether there is an answer.
    fn direct_at_points(
        &mut self,
        model: &Model<f64>,
        legs: &PointLegs,
        pose: &Pose<f64>,
        mode: &WorkingMode,
        (t_r, given): (&[f64], &[f64]),
        friction: Option<Sign>,
    ) -> bool {
        let n = self.accelerations.len();
        let Some(platform) = platform_motion(model, pose, t_r, &[0.0; 6][..n]) else { return false };
        if given.len() != model.topology().active.len() {
            return false;
        }
        let (mut h, mut M) = (Wrench::zero(), [Lanes::lit(0.0); 36]);
        self.points.clear();
        let reached = at_points(legs, &platform, mode, friction, |group, on| {
            h = plus(h, on.h, group.present);
            for (joint, places) in &group.drives {
                h = plus(h, on.rows[*joint], -(lanes(places.map(|k| given[k])) * group.present));
            }
            on.add_inertia(legs.planar, group.present, &mut M);
            self.points.push(*on);
        });
        if !reached {
            return false;
        }
        let mut sum = of_platform(&model.numbers().platform, pose);
        sum.iter_mut().zip(M).for_each(|(x, four)| *x += sum_of_lanes(four));
        self.efforts.h = platform_needs(model.numbers(), legs.planar.then_some(legs.zz), &platform) - self.efforts.load
            + h.map(&mut sum_of_lanes);
        self.motion.V_WE = platform.V;
        self.motion.Psi_t = None;
        self.project_equations(model, &sum);
        if self.solve_equations(model).is_err() {
            return false;
        }
        let up = Freedoms::new(model, None).up(&self.accelerations);
        let a = |k: usize| up[k];
        self.motion.A_WE = Accel { a: Vec3::new(a(0), a(1), a(2)), alpha: Vec3::new(a(3), a(4), a(5)) };
        self.take_from_points(model, legs);
        true
    }

    /// Rates and accelerations of the joints for the motion of the platform.
    fn take_from_points(&mut self, model: &Model<f64>, legs: &PointLegs) {
        let A = self.motion.A_WE.map(&mut Lanes::lit);
        for (group, on) in legs.groups.iter().zip(&self.points) {
            for joint in 0..group.numbers.joints.len() {
                let rates = each_lane(on.rates[joint]);
                let accels = each_lane(on.accels[joint] + A.power(on.rows[joint]));
                for (k, id) in group.legs.iter().enumerate() {
                    let coords = model.topology().legs[*id].coords;
                    self.motion.rates.slice_mut(coords)[joint] = rates[k];
                    self.motion.accels.slice_mut(coords)[joint] = accels[k];
                }
            }
        }
    }

    /// Acceleration of the platform under efforts from the posture in [`Dynamics::pos`], which the caller has just closed.
    pub(crate) fn direct_from(
        &mut self,
        model: &Model<f64>,
        t_r: &[f64],
        efforts: &[f64],
        friction: Option<Sign>,
    ) -> Result<&[f64], SolveError> {
        let n_a = model.topology().active.len();
        if efforts.len() != n_a {
            return Err(SolveError::WrongCount { what: "efforts", expected: n_a, found: efforts.len() });
        }
        let in_lanes = self.equations(model, t_r, efforts, friction)?;
        let in_doubt = self.solve_equations(model)?;
        self.accelerate(model, in_lanes);
        // Legs are in lanes where all their pivots are good.
        if let Some(M) = in_doubt.filter(|_| !in_lanes)
            && self.are_rounding(model, t_r, efforts, friction).unwrap_or(true)
        {
            let n = self.accelerations.len();
            return Err(SolveError::HardlyMoves { motion: self.extreme_motion(model, &M[..n * n], 0) });
        }
        Ok(&self.accelerations)
    }

    /// The acceleration of the platform from its equations; their inertia when digits of the answer are in doubt; a refusal where no
    /// inertia resists some motion.
    fn solve_equations(&mut self, model: &Model<f64>) -> Result<Option<[f64; 36]>, SolveError> {
        let n = self.accelerations.len();
        let (mut M, mut b) = ([0.0; 36], [0.0; 6]);
        M[..n * n].copy_from_slice(&self.M);
        b[..n].copy_from_slice(&self.accelerations);
        lu(&mut self.M, n);
        lu_solve(&self.M, n, &mut self.accelerations);
        if !M.iter().all(|x| x.is_finite()) {
            return Err(SolveError::not_finite());
        }
        // Reciprocals of the pivots stand on the diagonal.
        let independent = &model.topology().platform.independent;
        let scale = |k: usize| if independent[k].is_angle() { model.length().powi(2).recip() } else { 1.0 };
        let largest = (0..n).map(|k| M[k * n + k] * scale(k)).fold(0.0, f64::max);
        let least = (0..n).map(|k| self.M[k * n + k].recip() * scale(k)).fold(f64::INFINITY, f64::min);
        let resists = |k: usize| self.M[k * n + k].recip() * scale(k) > WEIGHTLESS * largest;
        if !(0..n).all(resists) {
            return Err(if largest > RUNS_AWAY * all_inertia(model) {
                SolveError::HardlyMoves { motion: self.extreme_motion(model, &M[..n * n], 0) }
            } else {
                SolveError::NoInertia { motion: self.extreme_motion(model, &M[..n * n], n - 1) }
            });
        }
        if !self.accelerations.iter().all(|x| x.is_finite()) {
            return Err(SolveError::not_finite());
        }
        // Joints that run away make forces that nearly cancel: what is left of them divides by the least inertia.
        let length = |k: usize| if independent[k].is_angle() { model.length() } else { 1.0 };
        let force = (0..n).map(|k| (b[k] / length(k)).abs()).fold(0.0, f64::max);
        let answer = (0..n).map(|k| (self.accelerations[k] * length(k)).abs()).fold(0.0, f64::max);
        // How much has cancelled before is not seen here: where a leg has a poor pivot it is always asked.
        let is_poor = self.motion.met_poor_pivots();
        Ok((is_poor || f64::EPSILON * (largest / least) * force > DIGITS_LOST * least * answer).then_some(M))
    }

    /// Whether the accelerations found are lost in rounding: joints are known to a rounding over the smallest pivot of their leg, and
    /// moved by that they must leave the answer as it is.
    fn are_rounding(
        &mut self,
        model: &Model<f64>,
        t_r: &[f64],
        efforts: &[f64],
        friction: Option<Sign>,
    ) -> Result<bool, SolveError> {
        let mut other = self.clone();
        move_by_rounding(model, &self.motion, &mut other.pos);
        other.equations(model, t_r, efforts, friction)?;
        other.solve_equations(model)?;
        let independent = &model.topology().platform.independent;
        let length = |k: usize| if independent[k].is_angle() { model.length() } else { 1.0 };
        let most = |x: &[f64]| x.iter().enumerate().fold(0.0_f64, |most, (k, x)| most.max((x * length(k)).abs()));
        let change: Vec<f64> = other.accelerations.iter().zip(&self.accelerations).map(|(a, b)| a - b).collect();
        Ok(is_lost(most(&change), most(&self.accelerations)))
    }

    /// The motion of the platform that its inertia resists most, least, or at a place between, largest component one.
    fn extreme_motion(&self, model: &Model<f64>, M: &[f64], place: usize) -> Option<[f64; 6]> {
        let n = self.accelerations.len();
        let independent = &model.topology().platform.independent;
        let scale = |k: usize| if independent[k].is_angle() { model.length().recip() } else { 1.0 };
        let f = svd(&Matrix::from_fn(n, n, |i, j| M[i * n + j] * scale(i) * scale(j)));
        let t_r: Vec<f64> = (0..n).map(|j| f.v[(j, place)] * scale(j)).collect();
        let t = Freedoms::of(model, &self.motion).up(&t_r);
        let largest = t.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
        (largest != 0.0).then(|| t.map(|x| x / largest))
    }

    /// `M` and `J_invᵀ τ - c` of (8.162) on the independent components of the platform, the latter in the place of the
    /// accelerations; whether the legs are in lanes.
    fn equations(
        &mut self,
        model: &Model<f64>,
        t_r: &[f64],
        given: &[f64],
        friction: Option<Sign>,
    ) -> Result<bool, SolveError> {
        let n = self.accelerations.len();
        let rest = [0.0; 6];
        let Self { pos, motion, efforts, lanes, simple, inertia, .. } = self;
        // Legs that stand on the platform, or on each other, have no inertia of their own there.
        if efforts.needs_legs() || !*simple {
            pos.leave_lanes();
        }
        let gravity = model.numbers().gravity.map(Lanes::lit);
        let mut step = Reduce {
            memory: lanes.iter_mut(),
            gravity,
            friction,
            on_platform: Sums::nothing(),
            task: Task::Direct { given },
        };
        let in_lanes = move_with(model, t_r, &rest[..n], pos, motion, &mut step)?;
        let legs = step.on_platform;
        let mut M;
        if in_lanes {
            efforts.h = needs(model, pos, motion) - efforts.load + legs.h.map(&mut sum_of_lanes);
            M = of_platform(&model.numbers().platform, &pos.X_WE);
            M.iter_mut().zip(legs.M).for_each(|(x, four)| *x += sum_of_lanes(four));
        } else {
            reduce(model, friction, pos, motion, efforts);
            efforts.give(given);
            if !*simple {
                return self.probe(model, t_r).map(|()| false);
            }
            M = on_platform(model, pos, motion, inertia);
        }
        self.project_equations(model, &M);
        Ok(in_lanes)
    }

    /// `M` and `-h` of all six components of the platform on its independent ones.
    fn project_equations(&mut self, model: &Model<f64>, M: &[f64; 36]) {
        let n = self.accelerations.len();
        let freedoms = Freedoms::of(model, &self.motion);
        let h = self.efforts.h.to_array();
        for k in 0..n {
            self.accelerations[k] = -freedoms.down(&h, k);
            let column = freedoms.column(k);
            let product = std::array::from_fn(|i| (0..6).map(|j| M[i.min(j) * 6 + i.max(j)] * column[j]).sum());
            for i in 0..n {
                self.M[i * n + k] = freedoms.down(&product, i);
            }
        }
    }

    /// Inertia of legs that hang on each other: one Newton-Euler per column, (8.34), from `h` with the drives at work.
    fn probe(&mut self, model: &Model<f64>, t_r: &[f64]) -> Result<(), SolveError> {
        let n = self.accelerations.len();
        let project = |this: &Self, out: &mut [f64]| {
            let h = this.efforts.h.to_array();
            let freedoms = Freedoms::of(model, &this.motion);
            out.iter_mut().enumerate().for_each(|(k, x)| *x = freedoms.down(&h, k));
        };
        let (mut driven, mut resting) = ([0.0; 6], [0.0; 6]);
        project(self, &mut driven[..n]);
        // At rest: what fast joints ask would bury what a unit acceleration adds to it.
        let rest = [0.0; 6];
        let ask = |this: &mut Self, td_r: &[f64], out: &mut [f64]| {
            move_with(model, &rest[..n], td_r, &mut this.pos, &mut this.motion, &mut NothingMore)?;
            reduce(model, None, &mut this.pos, &mut this.motion, &mut this.efforts);
            project(this, out);
            Ok(())
        };
        ask(self, &rest[..n], &mut resting[..n])?;
        for k in 0..n {
            let (mut unit, mut column) = ([0.0; 6], [0.0; 6]);
            unit[k] = 1.0;
            ask(self, &unit[..n], &mut column[..n])?;
            for i in 0..n {
                self.M[i * n + k] = column[i] - resting[i];
            }
        }
        self.accelerations.iter_mut().zip(driven).for_each(|(x, h)| *x = -h);
        move_with(model, t_r, &[0.0; 6][..n], &mut self.pos, &mut self.motion, &mut NothingMore).map(|_| ())
    }

    /// The accelerations of the joints that go with those of the platform.
    fn accelerate(&mut self, model: &Model<f64>, in_lanes: bool) {
        let up = Freedoms::of(model, &self.motion).up(&self.accelerations);
        let bias = self.motion.A_WE;
        let a = |k: usize| up[k];
        self.motion.A_WE = bias + Accel { a: Vec3::new(a(0), a(1), a(2)), alpha: Vec3::new(a(3), a(4), a(5)) };
        if in_lanes {
            let four = up.map(Lanes::lit);
            for ((group, own), motion) in model.groups().iter().zip(&self.lanes).zip(&mut self.motion.lanes) {
                let pivots = &model.topology().plan.pivots_of_leg[group.legs[0]];
                add_accelerations(pivots, &own.legs.inertia.J, &four, motion.part().accels);
            }
            self.motion.take_from_lanes(model);
        } else {
            accelerations(model, &mut self.pos, &mut self.motion);
        }
    }
}

/// What the platform itself needs to move as it does.
fn needs(model: &Model<f64>, pos: &Positions<f64>, motion: &Motion<f64>) -> Wrench<f64> {
    let numbers = model.numbers();
    needed(&numbers.platform, &pos.X_WE, motion.V_WE.w, motion.A_WE, numbers.gravity)
}

/// The motion of a platform all of whose components are given; none when one is missing.
fn platform_motion(model: &Model<f64>, pose: &Pose<f64>, t_r: &[f64], td_r: &[f64]) -> Option<PlatformMotion<f64>> {
    let n = model.topology().platform.independent.len();
    let A = scatter(model, td_r);
    let motion = PlatformMotion { X: *pose, V: scatter(model, t_r), A: Accel { a: A.v, alpha: A.w } };
    (t_r.len() == n && td_r.len() == n).then_some(motion)
}

/// Calls `then` with what each group of legs does to the platform; whether all reach, far from singularities.
#[inline(always)]
fn at_points(
    legs: &PointLegs,
    platform: &PlatformMotion<f64>,
    mode: &WorkingMode,
    friction: Option<Sign>,
    mut then: impl FnMut(&PointGroup, &OnPlatform<Lanes>),
) -> bool {
    let four = platform.map(Lanes::lit);
    let one = Lanes::lit(1.0);
    let mut margin = one;
    for group in &legs.groups {
        let sign = group.sign.map_or(one, |at| lanes(at.map(|k| mode.signs()[k])));
        let on = group.numbers.reduce(&four, sign, friction);
        margin = on.margin.where_nonneg(margin, -one);
        then(group, &on);
    }
    all_nonneg(margin)
}

#[inline(always)]
fn plus(sum: Wrench<Lanes>, F: Wrench<Lanes>, weight: Lanes) -> Wrench<Lanes> {
    Wrench { f: along(sum.f, F.f, weight), m: along(sum.m, F.m, weight) }
}

/// Joints moved by what they are not known to: a rounding over the smallest pivot of their leg, to and fro.
pub(super) fn move_by_rounding(model: &Model<f64>, motion: &Motion<f64>, pos: &mut Positions<f64>) {
    let topology = model.topology();
    for (k, c) in topology.coords.ids().enumerate() {
        let by = 2.0 * f64::EPSILON / motion.least_pivot(model, topology.coords[c].leg);
        let by = if k % 2 == 0 { by } else { -by };
        let joint = &mut pos.joints[c];
        joint.turn = joint.turn.advance(by);
        joint.value += by * if topology.coords[c].slides { model.length() } else { 1.0 };
    }
}

/// Whether a change that rounding alone has made leaves too few digits of an acceleration, lengths scaled.
pub(super) fn is_lost(change: f64, acceleration: f64) -> bool {
    change > DIGITS_LOST * acceleration.max(SLOW)
}

/// Masses, moments of inertia and rotors of the whole robot as one mass, by its length.
pub(super) fn all_inertia(model: &Model<f64>) -> f64 {
    let by_turning = model.length().powi(2).recip();
    let (numbers, t) = (model.numbers(), model.topology());
    let bodies = numbers.bodies.iter().map(|(_, b)| b.inertia).chain([numbers.platform]);
    let of_bodies: f64 = bodies.map(|I| I.m + I.I_o.trace() * by_turning).sum();
    let rotor = |c| numbers.joints[c].rotor * if t.coords[c].slides { 1.0 } else { by_turning };
    of_bodies + t.coords.ids().map(rotor).sum::<f64>()
}
