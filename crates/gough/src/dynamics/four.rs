//! Inverse dynamics of four states at once, one per SIMD lane: what batches call.

use super::drives::{Drives, Freedoms};
use super::inertia::legs_are_simple;
use super::newton_euler::{Sign, needed};
use super::points::{AtPoints, PlatformMotion};
use super::reduction::{Efforts, LegReduction};
use super::state::Dynamics;
use crate::kinematics::geometry::solve_legs;
use crate::kinematics::leg::{LegAt, LegMotion, LegStep};
use crate::kinematics::motion::{Motion, move_legs, scatter};
use crate::kinematics::platform::check_pose;
use crate::kinematics::{Positions, SolveError, WorkingMode};
use crate::linalg::small::PivotOrder;
use crate::model::{LegId, Model};
use crate::scalar::{LANES, Lanes, Real, lane, lanes};
use crate::spatial::{Accel, Pose, Vec3};

/// A state of the platform.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// Pose.
    pub pose: &'a Pose<f64>,
    /// Twist in the platform's independent components.
    pub t_r: &'a [f64],
    /// Acceleration in the same components.
    pub td_r: &'a [f64],
}

/// Memory for four states, sized once for a model; nothing is allocated afterwards.
///
/// States that the lanes cannot answer (out of reach, at the end of a joint's range, near a singularity), and all states of
/// robots whose legs hang on each other or have no closed form, are computed one by one as [`Dynamics`] does.
#[derive(Clone, Debug)]
pub struct FourStates {
    alone: Dynamics,
    lanes: Option<Box<InLanes>>,
}

#[derive(Clone, Debug)]
struct InLanes {
    model: Model<Lanes>,
    pos: Positions<Lanes>,
    motion: Motion<Lanes>,
    efforts: Efforts<Lanes>,
    drives: Drives<Lanes>,
    legs: Vec<OneLeg>,
    /// The legs in closed form, when there is one.
    points: Option<AtPoints<Lanes>>,
    t_r: Vec<Lanes>,
    td_r: Vec<Lanes>,
}

/// Memory of a leg, and places of its drives among those of the robot.
#[derive(Clone, Debug)]
struct OneLeg {
    leg: LegReduction<Lanes>,
    places: Vec<usize>,
}

impl FourStates {
    /// Memory for a model, nothing acting from outside.
    pub fn new(model: &Model<f64>) -> Self {
        let topology = model.topology();
        let closed_form = |id: LegId| model.leg_blocks(id).iter().all(|b| !b.steps.is_empty());
        let simple = legs_are_simple(model)
            && topology.legs.ids().all(closed_form)
            && topology.platform.dependent.is_empty()
            && !topology.plan.careful
            && !topology.plan.solve_platform;
        let in_lanes = simple || model.point_legs().is_some();
        let enough = topology.active.len() >= topology.platform.independent.len();
        Self { alone: Dynamics::new(model), lanes: (in_lanes && enough).then(|| Box::new(InLanes::new(model))) }
    }

    /// See [`Dynamics::remember`].
    #[doc(hidden)]
    pub fn remember(&mut self) {
        self.alone.remember();
    }

    /// See [`Dynamics::forget`].
    #[doc(hidden)]
    pub fn forget(&mut self) {
        self.alone.forget();
    }

    /// Efforts of the drives for four states, one list after the other in `out`; the shortest lists where drives are redundant.
    /// A state without an answer leaves its part of `out` as it was.
    pub fn inverse(
        &mut self,
        model: &Model<f64>,
        states: &[State<'_>; LANES],
        mode: &WorkingMode,
        friction: Option<Sign>,
        out: &mut [f64],
    ) -> [Result<(), SolveError>; LANES] {
        let n_a = model.topology().active.len();
        if out.len() != LANES * n_a {
            let wrong =
                SolveError::WrongCount { what: "efforts of four states", expected: LANES * n_a, found: out.len() };
            return std::array::from_fn(|_| Err(wrong.clone()));
        }
        let Self { alone, lanes } = self;
        let good = match lanes {
            Some(four) => four.inverse(model, states, mode, friction, &alone.order),
            None => Lanes::lit(0.0),
        };
        let mut out = out.chunks_exact_mut(n_a.max(1));
        std::array::from_fn(|k| {
            let State { pose, t_r, td_r } = states[k];
            let out = out.next().unwrap_or_default();
            match lanes {
                Some(four) if lane(good, k) > 0.0 && four.drives.efforts.iter().all(|x| lane(*x, k).is_finite()) => {
                    check_pose(model, pose)?;
                    out.iter_mut().zip(&four.drives.efforts).for_each(|(x, effort)| *x = lane(*effort, k));
                }
                _ => out.copy_from_slice(alone.inverse(model, pose, mode, t_r, td_r, friction)?),
            }
            Ok(())
        })
    }
}

impl InLanes {
    fn new(model: &Model<f64>) -> Self {
        let topology = model.topology();
        let four: Model<Lanes> = model.cast();
        let n = topology.platform.independent.len();
        let leg = |id: LegId| OneLeg {
            leg: LegReduction::new(topology, id),
            places: topology.drives_of(id).iter().map(|d| d.1).collect(),
        };
        Self {
            pos: Positions::new(&four),
            motion: Motion::new(&four),
            efforts: Efforts::new(&four),
            drives: Drives::new(&four),
            legs: topology.legs.ids().map(leg).collect(),
            points: AtPoints::new(model),
            t_r: vec![Lanes::lit(0.0); n],
            td_r: vec![Lanes::lit(0.0); n],
            model: four,
        }
    }

    /// Takes the states into the lanes; not when one has the wrong number of components.
    fn take(&mut self, model: &Model<f64>, states: &[State<'_>; LANES]) -> bool {
        let n = model.topology().platform.independent.len();
        if states.iter().any(|s| s.t_r.len() != n || s.td_r.len() != n) {
            return false;
        }
        let four = |f: &dyn Fn(&State<'_>) -> f64| lanes([f(&states[0]), f(&states[1]), f(&states[2]), f(&states[3])]);
        for k in 0..n {
            self.t_r[k] = four(&|s| s.t_r[k]);
            self.td_r[k] = four(&|s| s.td_r[k]);
        }
        let X_WE = &mut self.pos.X_WE;
        for i in 0..3 {
            X_WE.p[i] = four(&|s| s.pose.p[i]);
            for j in 0..3 {
                X_WE.R.0[(i, j)] = four(&|s| s.pose.R.0[(i, j)]);
            }
        }
        self.motion.V_WE = scatter(&self.model, &self.t_r);
        let A = scatter(&self.model, &self.td_r);
        self.motion.A_WE = Accel { a: A.v, alpha: A.w };
        true
    }

    /// Efforts of the drives; one in lanes that have an answer, zero in the others.
    fn inverse(
        &mut self,
        model: &Model<f64>,
        states: &[State<'_>; LANES],
        mode: &WorkingMode,
        friction: Option<Sign>,
        order: &PivotOrder,
    ) -> Lanes {
        let zero = Lanes::lit(0.0);
        if !self.take(model, states) {
            return zero;
        }
        let Self { model: four, pos, motion, efforts, drives, legs, points, .. } = self;
        if let Some(points) = points {
            let platform = PlatformMotion { X: pos.X_WE, V: motion.V_WE, A: motion.A_WE };
            let margin = points.reduce(four.numbers(), &platform, mode, friction, efforts);
            let good = margin.where_nonneg(Lanes::lit(1.0), zero);
            drives.project(efforts, &Freedoms::new(four, None));
            drives.solve(order);
            return good * drives.well_founded() * finite(&drives.efforts);
        }
        solve_legs(four, mode.signs(), pos);
        let reached = reached_lanes(model, pos);
        let numbers = four.numbers();
        efforts.h = needed(&numbers.platform, &pos.X_WE, motion.V_WE.w, motion.A_WE, numbers.gravity) - efforts.load;
        let mut step = Reduce { legs: legs.iter_mut(), gravity: numbers.gravity, friction, efforts };
        let regular = move_legs(four, pos, motion, &mut step);
        drives.project(efforts, &Freedoms::of(four, motion));
        drives.solve(order);
        reached * regular * drives.well_founded() * finite(&drives.efforts)
    }
}

/// One in lanes where all numbers are finite, else zero: nothing times what is not finite is no number, and so not zero.
fn finite(list: &[Lanes]) -> Lanes {
    let zero = Lanes::lit(0.0);
    list.iter().fold(Lanes::lit(1.0), |good, x| (*x * zero).where_nonneg(good, zero))
}

/// One in lanes where every leg reaches its place with its joints in their ranges, else zero.
pub(crate) fn reached_lanes(model: &Model<f64>, pos: &Positions<Lanes>) -> Lanes {
    let zero = Lanes::lit(0.0);
    let least = Lanes::lit(model.least_margin());
    let limit = 1e-9 * model.size();
    let mut good = Lanes::lit(1.0);
    let mut hold = |margin: Lanes| good = margin.where_nonneg(good, zero);
    pos.margins.iter().for_each(|m| hold(*m - least));
    pos.misses.iter().for_each(|miss| hold(Lanes::lit(limit * limit) - miss.dot(miss)));
    for (c, coord) in model.topology().coords.iter() {
        match &coord.range {
            Some(range) if coord.slides || coord.counted => {
                range.slide_margins(pos.joints[c].value).into_iter().for_each(&mut hold);
            }
            Some(range) => hold(range.turn_margin(pos.joints[c].turn)),
            None => {}
        }
    }
    good
}

/// Reduces the legs to the platform, one after the other.
struct Reduce<'a> {
    legs: std::slice::IterMut<'a, OneLeg>,
    gravity: Vec3<Lanes>,
    friction: Option<Sign>,
    efforts: &'a mut Efforts<Lanes>,
}

impl LegStep<Lanes> for Reduce<'_> {
    #[inline(always)]
    fn run(&mut self, at: &LegAt<'_, Lanes>, motion: &mut LegMotion<'_, Lanes>) {
        let Some(OneLeg { leg, places }) = self.legs.next() else { return };
        at.body_accelerations(motion);
        leg.reduce(at, motion, self.gravity, self.friction, true);
        self.efforts.h = self.efforts.h + leg.rows[0];
        for (row, k) in leg.rows[1..].iter().zip(places) {
            self.efforts.J_inv[*k] = *row;
        }
    }
}
