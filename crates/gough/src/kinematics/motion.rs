//! First and second order: rates and accelerations of all joints and bodies for a motion of the platform, sections 5.3-5.4,
//! 8.4-8.6 of chapter 5 and 7, leg by leg (see [`LegAt`]).

use super::closure::movers;
use super::error::SolveError;
use super::inverse::inverse_in;
use super::kind::{Kind, SINGULAR};
pub use super::leg::screw;
pub(super) use super::leg::velocity_product;
use super::leg::{LegAt, LegMemory, LegMotion, LegNumbers, LegStep, Roots};
use super::matrices::{self, Matrices};
use super::modes::WorkingMode;
use super::newton;
use super::positions::{Frames, Positions, pose_bodies};
use crate::linalg::small::Dense;
use crate::model::{BodyId, CoordId, CoordKind, Id, Leg, LegId, LegPivots, Model, Node, PerBody, PerCoord, PerLeg};
use crate::scalar::{Lanes, Real, all_nonneg, lane};
use crate::spatial::{Accel, Pose, Twist, Vec3, vec3};
use std::ops::Range;

/// Rates and accelerations of one motion, sized once for a model. What belongs to a leg stands together in every list.
#[derive(Clone, Debug)]
pub struct Motion<S: Real> {
    /// Twist of the platform, at its origin, in world axes.
    pub V_WE: Twist<S>,
    /// Acceleration of the platform.
    pub A_WE: Accel<S>,
    /// Rates of the joint coordinates.
    pub rates: PerCoord<S>,
    /// Accelerations of the joint coordinates.
    pub accels: PerCoord<S>,
    /// Twists of the bodies, at the origin of frame M, in world axes.
    pub V_WB: PerBody<Twist<S>>,
    /// Accelerations of the bodies, likewise.
    pub A_WB: PerBody<Accel<S>>,
    gains: PerBody<Twist<S>>,
    /// Factors of each leg's closure rows.
    factors: Vec<S>,
    /// Right-hand sides.
    rhs: Vec<S>,
    outside: Vec<(Twist<S>, Accel<S>)>,
    places: PerLeg<Range<usize>>,
    /// The order in which the legs were factored, where it is not that of the plan.
    own_pivots: Option<Box<PerLeg<LegPivots>>>,
    /// `t_p = Ψ_t t_r` of the last motion, for a platform with components that follow from the closures.
    pub(crate) Psi_t: Option<Dense<S>>,
    /// Legs side by side in lanes.
    pub(crate) lanes: Vec<LaneMotion>,
}

/// Motion of up to four legs, one per lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneMotion {
    rates: Vec<Lanes>,
    accels: Vec<Lanes>,
    V_WB: Vec<Twist<Lanes>>,
    A_WB: Vec<Accel<Lanes>>,
    gains: Vec<Twist<Lanes>>,
    factors: Vec<Lanes>,
    rhs: Vec<Lanes>,
}

impl LaneMotion {
    fn new(bodies: usize, coords: usize) -> Self {
        let zero = Lanes::lit(0.0);
        Self {
            rates: vec![zero; coords],
            accels: vec![zero; coords],
            V_WB: vec![Twist::zero(); bodies],
            A_WB: vec![Accel::zero(); bodies],
            gains: vec![Twist::zero(); bodies],
            factors: vec![zero; coords * coords],
            rhs: vec![zero; coords],
        }
    }

    /// As the motion of one leg.
    pub(crate) fn part(&mut self) -> LegMotion<'_, Lanes> {
        LegMotion {
            rates: &mut self.rates,
            accels: &mut self.accels,
            V_WB: &mut self.V_WB,
            A_WB: &mut self.A_WB,
            gains: &mut self.gains,
            factors: &mut self.factors,
            rhs: &mut self.rhs,
        }
    }
}

impl<S: Real> Motion<S> {
    /// Memory for a model.
    pub fn new(model: &Model<S>) -> Self {
        let topology = model.topology();
        let mut end = 0;
        let places = topology.legs.map(|_, leg| {
            let n = leg.coords.len();
            end += n * n;
            end - n * n..end
        });
        let longest = topology.legs.values().map(|l| l.coords.len()).max().unwrap_or(0);
        let outside = topology.legs.values().map(|l| l.outside.len()).max().unwrap_or(0);
        Self {
            V_WE: Twist::zero(),
            A_WE: Accel::zero(),
            rates: topology.coords.map(|_, _| S::zero()),
            accels: topology.coords.map(|_, _| S::zero()),
            V_WB: topology.bodies.map(|_, _| Twist::zero()),
            A_WB: topology.bodies.map(|_, _| Accel::zero()),
            gains: topology.bodies.map(|_, _| Twist::zero()),
            factors: vec![S::zero(); end],
            rhs: vec![S::zero(); longest],
            outside: Vec::with_capacity(outside),
            places,
            own_pivots: None,
            Psi_t: None,
            lanes: model
                .groups()
                .iter()
                .map(|g| LaneMotion::new(g.bodies.len(), topology.legs[g.legs[0]].coords.len()))
                .collect(),
        }
    }

    /// Factor the legs in these orders from now on.
    pub(crate) fn factor_in(&mut self, pivots: PerLeg<LegPivots>) {
        self.own_pivots = Some(Box::new(pivots));
    }

    /// The part of a leg, and the motion of what it hangs on.
    fn split<'a>(&'a mut self, id: LegId, leg: &Leg, frames: Frames<'a, S>) -> (LegMotion<'a, S>, Roots<'a, S>) {
        self.outside.clear();
        self.outside.extend(leg.outside.iter().map(|b| (self.V_WB[*b], self.A_WB[*b])));
        let part = LegMotion {
            rates: self.rates.slice_mut(leg.coords),
            accels: self.accels.slice_mut(leg.coords),
            V_WB: self.V_WB.slice_mut(leg.bodies),
            A_WB: self.A_WB.slice_mut(leg.bodies),
            gains: self.gains.slice_mut(leg.bodies),
            factors: &mut self.factors[self.places[id].clone()],
            rhs: &mut self.rhs[..leg.coords.len()],
        };
        (part, Roots { frames, V_WE: self.V_WE, A_WE: self.A_WE, outside: &self.outside })
    }
}

impl Motion<f64> {
    /// Whether a leg met a poor pivot, so that an order was made for the posture.
    pub(crate) fn met_poor_pivots(&self) -> bool {
        self.own_pivots.is_some()
    }

    /// The smallest pivot, lengths scaled, that a leg was factored with by itself; one at most.
    pub(crate) fn least_pivot(&self, model: &Model<f64>, leg: LegId) -> f64 {
        let pivots = &self.own_pivots.as_deref().unwrap_or(&model.topology().plan.pivots_of_leg)[leg];
        let (first, n) = (self.places[leg].start, pivots.cols.len());
        (0..n).map(|i| pivots.scales[i] / self.factors[first + i * n + i].abs()).fold(1.0, f64::min)
    }

    /// Rates and accelerations of the joints from the lanes.
    pub(crate) fn take_from_lanes(&mut self, model: &Model<f64>) {
        for (group, own) in model.groups().iter().zip(&self.lanes) {
            for (k, id) in group.legs.iter().enumerate() {
                let coords = model.topology().legs[*id].coords;
                for (list, four) in [(&mut self.rates, &own.rates), (&mut self.accels, &own.accels)] {
                    list.slice_mut(coords).iter_mut().zip(four).for_each(|(x, four)| *x = lane(*four, k));
                }
            }
        }
    }
}

/// A pivot smaller than this, without unit, is met again in an order of its own posture.
const POOR_PIVOT: f64 = 1e-2;

/// Posture, rates and accelerations of all joints for a platform pose, twist and acceleration in the platform's independent
/// components, in memory that is already there. Rates of joints that the pose leaves open (kinematic redundancy) are taken
/// from `motion`. Nothing is allocated where [`inverse_in`] allocates nothing, except near singularities of a leg.
pub fn move_in(
    model: &Model<f64>,
    pose: &Pose<f64>,
    mode: &WorkingMode,
    t_r: &[f64],
    td_r: &[f64],
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
) -> Result<(), SolveError> {
    inverse_in(model, pose, mode, pos)?;
    move_from(model, t_r, td_r, pos, motion)
}

/// Rates and accelerations of all joints and bodies for a motion of the platform, from a posture that [`inverse_in`] has left in `pos`.
pub fn move_from(
    model: &Model<f64>,
    t_r: &[f64],
    td_r: &[f64],
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
) -> Result<(), SolveError> {
    let in_lanes = move_with(model, t_r, td_r, pos, motion, &mut NothingMore)?;
    if in_lanes {
        motion.take_from_lanes(model);
    }
    Ok(())
}

/// The same; where legs run side by side, rates and accelerations stay in the lanes, `then` hears of every group of legs, and
/// the answer is true.
pub(crate) fn move_with(
    model: &Model<f64>,
    t_r: &[f64],
    td_r: &[f64],
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
    then: &mut impl LegStep<Lanes>,
) -> Result<bool, SolveError> {
    let platform = &model.topology().platform;
    let n = platform.independent.len();
    for (what, given) in [("components of the twist", t_r), ("components of the acceleration", td_r)] {
        if given.len() != n {
            return Err(SolveError::WrongCount { what, expected: n, found: given.len() });
        }
    }
    motion.own_pivots = None;
    if !platform.dependent.is_empty() {
        return move_dependent(model, t_r, td_r, pos, motion).map(|()| false);
    }
    motion.V_WE = scatter(model, t_r);
    let A = scatter(model, td_r);
    motion.A_WE = Accel { a: A.v, alpha: A.w };
    if pos.in_lanes {
        if move_groups(model, pos, motion, then) {
            return Ok(true);
        }
    } else {
        pose_bodies(model, pos);
        with_factored_legs(model, model.topology().order.iter().copied(), pos, motion, |_, at, motion| {
            at.factor(motion);
            at.rates(motion);
            at.accelerations(motion);
            at.body_accelerations(motion);
        });
        if is_well_founded(model, motion) {
            return Ok(false);
        }
    }
    move_carefully(model, pos, motion).map(|()| false)
}

/// The same, and twists and accelerations of all bodies.
pub fn move_bodies(
    model: &Model<f64>,
    t_r: &[f64],
    td_r: &[f64],
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
) -> Result<(), SolveError> {
    pos.in_lanes = false;
    move_from(model, t_r, td_r, pos, motion)
}

/// Independent components in their places.
#[inline(always)]
pub(crate) fn scatter<S: Real>(model: &Model<S>, x: &[S]) -> Twist<S> {
    // Read one by one: numbers written one by one and then read together wait for each other.
    let places = &model.topology().platform.places;
    let at = |c: usize| places[c].and_then(|k| x.get(k)).copied().unwrap_or_else(S::zero);
    Twist { v: vec3(at(0), at(1), at(2)), w: vec3(at(3), at(4), at(5)) }
}

/// A platform some of whose components follow from the closures: `t_p = Ψ_t t_r`, `ṫ_p = Ψ_t ṫ_r + Ψ̇_t t_r`, (7.160).
fn move_dependent(
    model: &Model<f64>,
    t_r: &[f64],
    td_r: &[f64],
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
) -> Result<(), SolveError> {
    pose_bodies(model, pos);
    pos.in_lanes = false;
    let plan = matrices::plan_at(model, pos);
    if plan.platform.rows.len() < plan.dependent {
        return Err(SolveError::Singular { leg: None, kind: Kind::Constraint });
    }
    let mut m = Matrices::new(model, &plan);
    matrices::assemble(model, &plan, pos, None, &mut m);
    let six = |x: &[f64]| Twist::from_array(std::array::from_fn(|i| x[i]));
    motion.V_WE = six(&m.Psi_t.apply(t_r));
    motion.Psi_t = Some(m.Psi_t.clone());
    motion.A_WE = Accel::zero();
    move_carefully(model, pos, motion)?;
    matrices::assemble(model, &plan, pos, Some(motion), &mut m);
    let A = six(&m.Psi_t.apply(td_r)) + six(&m.Psi_t_dot_t_r);
    motion.A_WE = Accel { a: A.v, alpha: A.w };
    move_carefully(model, pos, motion)
}

/// Rates and accelerations in a pivot order made for the posture; a leg that has none is singular.
fn move_carefully(model: &Model<f64>, pos: &mut Positions<f64>, motion: &mut Motion<f64>) -> Result<(), SolveError> {
    pose_bodies(model, pos);
    let topology = model.topology();
    let pivots: PerLeg<LegPivots> = topology.legs.map(|id, _| {
        let own = newton::leg_pivots(model, id, pos);
        let planned = &topology.plan.pivots_of_leg[id];
        let is_poor = own.cols.len() < planned.cols.len() || newton::smallest_pivot(model, id, &own, pos) < SINGULAR;
        if is_poor { newton::leg_pivots_by_row(model, id, pos) } else { own }
    });
    for (id, own) in pivots.iter() {
        let planned = &topology.plan.pivots_of_leg[id];
        let singular = |kind| Err(SolveError::Singular { leg: Some(topology.legs[id].name.clone()), kind });
        let small = newton::smallest_pivot(model, id, own, pos) < SINGULAR;
        // An order that legs share may have been made for one with more passive joints.
        let passive = |c: &CoordId| topology.coords[*c].kind == CoordKind::Passive;
        let passive = topology.legs[id].coords.iter().filter(passive).count().min(planned.passive);
        if own.passive < passive {
            return singular(Kind::Lpjts);
        }
        if own.cols.len() < planned.cols.len() || small {
            return singular(Kind::Type1);
        }
    }
    motion.factor_in(pivots);
    velocities(model, pos, motion);
    accelerations(model, pos, motion);
    let finite = |list: &PerCoord<f64>| list.values().all(|x| x.is_finite());
    if finite(&motion.rates) && finite(&motion.accels) {
        Ok(())
    } else {
        Err(SolveError::Singular { leg: None, kind: Kind::Type1 })
    }
}

/// Whether no leg met a poor pivot.
fn is_well_founded(model: &Model<f64>, motion: &Motion<f64>) -> bool {
    let topology = model.topology();
    topology.plan.pivots_of_leg.iter().all(|(id, pivots)| {
        let (first, n) = (motion.places[id].start, pivots.cols.len());
        (0..n).all(|i| motion.factors[first + i * n + i].abs() * POOR_PIVOT < pivots.scales[i])
    })
}

/// A step that does nothing.
pub(crate) struct NothingMore;

impl<S: Real> LegStep<S> for NothingMore {
    fn run(&mut self, _: &LegAt<'_, S>, _: &mut LegMotion<'_, S>) {}
}

/// Rates and accelerations of the joints of a leg, bodies without the accelerations of the joints, then another step.
pub(crate) struct Move<'a, S, F> {
    /// One; zero (in a lane) when a leg met a poor pivot.
    pub good: S,
    /// What follows.
    pub then: &'a mut F,
}

impl<S: Real, F: LegStep<S>> LegStep<S> for Move<'_, S, F> {
    #[inline(always)]
    fn run(&mut self, at: &LegAt<'_, S>, motion: &mut LegMotion<'_, S>) {
        at.factor(motion);
        let n = at.rank();
        for (i, scale) in at.pivots.scales[..n].iter().enumerate() {
            let (pivot, limit) = (motion.factors[i * n + i], S::lit(scale / POOR_PIVOT));
            let below = (limit - pivot).where_nonneg(self.good, S::zero());
            self.good = (limit + pivot).where_nonneg(below, S::zero());
        }
        at.rates(motion);
        at.accelerations(motion);
        self.then.run(at, motion);
    }
}

/// Rates and accelerations of all joints in lanes for a robot whose legs are alike, four legs at a time, after
/// [`solve_groups`](super::geometry::solve_groups), see [`Move`]. Whether no leg met a poor pivot.
fn move_groups(
    model: &Model<f64>,
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
    then: &mut impl LegStep<Lanes>,
) -> bool {
    let topology = model.topology();
    let X_WE = pos.X_WE.map(&mut |x| Lanes::lit(x));
    let V_WE = motion.V_WE.map(&mut |x| Lanes::lit(x));
    let A_WE = motion.A_WE.map(&mut |x| Lanes::lit(x));
    let roots = Roots { frames: Frames { X_WE: &X_WE, outside: &[] }, V_WE, A_WE, outside: &[] };
    let mut step = Move { good: Lanes::lit(1.0), then };
    for ((group, legs), own) in model.groups().iter().zip(&mut pos.lanes).zip(&mut motion.lanes) {
        let first = group.legs[0];
        let memory = LegMemory {
            leg: topology.structure(&topology.legs[first]),
            numbers: LegNumbers { bodies: &group.bodies, joints: &group.joints, closures: &group.closures },
            pivots: &topology.plan.pivots_of_leg[first],
            roots: &roots,
            pos: legs.part(),
            motion: own.part(),
        };
        memory.run(&mut step);
    }
    all_nonneg(step.good - Lanes::lit(1.0))
}

/// Rates of all joints and twists of all bodies for the platform twist in `motion`; bodies must be posed. Legs are factored in
/// the order of the plan, unless another was set.
pub fn velocities<S: Real>(model: &Model<S>, pos: &mut Positions<S>, motion: &mut Motion<S>) {
    with_factored_legs(model, model.topology().order.iter().copied(), pos, motion, |_, at, motion| {
        at.factor(motion);
        at.rates(motion);
    });
}

/// Accelerations of all joints and bodies for the platform acceleration in `motion`; [`velocities`] must have run.
pub fn accelerations<S: Real>(model: &Model<S>, pos: &mut Positions<S>, motion: &mut Motion<S>) {
    with_factored_legs(model, model.topology().order.iter().copied(), pos, motion, |_, at, motion| {
        at.accelerations(motion);
        at.body_accelerations(motion);
    });
}

/// Orders of elimination that suit a posture: those of the plan where their pivots are good.
pub(crate) fn leg_pivots_at(model: &Model<f64>, pos: &Positions<f64>) -> PerLeg<LegPivots> {
    let topology = model.topology();
    topology.legs.map(|id, _| {
        let planned = &topology.plan.pivots_of_leg[id];
        let good = newton::smallest_pivot(model, id, planned, pos) > POOR_PIVOT;
        if good { planned.clone() } else { newton::leg_pivots(model, id, pos) }
    })
}

/// Calls `step` with legs one after the other, each with the pivots that it is factored with.
pub(crate) fn with_factored_legs<S: Real>(
    model: &Model<S>,
    legs: impl Iterator<Item = LegId>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    mut step: impl FnMut(LegId, &LegAt<'_, S>, &mut LegMotion<'_, S>),
) {
    let own = motion.own_pivots.take();
    let pivots = own.as_deref().unwrap_or(&model.topology().plan.pivots_of_leg);
    for id in legs {
        with_leg(model, id, &pivots[id], pos, motion, |at, motion| step(id, at, motion));
    }
    motion.own_pivots = own;
}

/// Calls `step` with one leg.
pub(crate) fn with_leg<S: Real>(
    model: &Model<S>,
    id: LegId,
    pivots: &LegPivots,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    step: impl FnOnce(&LegAt<'_, S>, &mut LegMotion<'_, S>),
) {
    let (topology, numbers) = (model.topology(), model.numbers());
    let leg = &topology.legs[id];
    let own = LegNumbers {
        bodies: numbers.bodies.slice(leg.bodies),
        joints: numbers.joints.slice(leg.coords),
        closures: numbers.closures.slice(leg.closures),
    };
    let (part, frames) = pos.split(leg, (0..0, 0..0));
    let (mut motion, roots) = motion.split(id, leg, frames);
    step(&LegAt::new(topology.structure(leg), own, pivots, &roots, &part), &mut motion);
}

/// Jacobian of a body: the twist, at a point of the world and in world axes, that each coordinate's unit rate gives it,
/// (5.10), column by column; and whether the body stands on the platform, whose twist then adds to it. Bodies must be posed.
pub fn body_jacobian<S: Real>(model: &Model<S>, pos: &Positions<S>, body: BodyId, p: Vec3<S>) -> (Dense<S>, bool) {
    let mut J = Dense::zeros(6, model.topology().coords.len());
    let on_platform = movers(model, Node::Body(body), None, &mut |c, k, b| {
        let V = screw(model.topology().bodies[b].joint, &pos.X_WB[b], p).scale(k).to_array();
        V.into_iter().enumerate().for_each(|(i, x)| *J.at_mut(i, c.index()) += x);
    });
    (J, on_platform)
}
