//! First and second order: rates and accelerations of all joints and bodies for a motion of the platform, sections 5.3-5.4,
//! 8.4-8.6 of chapter 5 and 7, leg by leg.
//!
//! A leg has as many closure rows as coordinates picked for it (see [`LegPivots`]). A row's wrench `ζ`, taken at the closure
//! point, gives `Σ ζ·$_j q̇_j = -ζ·(V_B⁰ - V_A⁰)`: joints of the leg on the left, the motion of what the leg hangs on on the
//! right. The same matrix, factored once, gives the accelerations, with what the velocities contribute on the right.

use super::closure::{ClosureAt, RowKind, leg_axes, movers, row_kind};
use super::error::SolveError;
use super::inverse::inverse_in;
use super::kind::{Kind, SINGULAR};
use super::matrices::{self, Matrices};
use super::modes::WorkingMode;
use super::newton;
use super::positions::{Frames, LegPositions, Positions, pose_bodies, pose_body};
use crate::linalg::small::{Dense, lu, lu_solve};
use crate::model::{
    Anchor, BodyId, BodyNumbers, Closure, Id, JointKind, Leg, LegId, LegPivots, LegStructure, Model, Node, PerBody,
    PerCoord, PerLeg, SidePath,
};
use crate::scalar::{LANES, Lanes, Real, lane};
use crate::spatial::{Accel, Pose, Rotation, Twist, Vec3};
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
    /// Factors of each leg's closure rows.
    factors: Vec<S>,
    /// Right-hand sides.
    rhs: Vec<S>,
    outside: Vec<(Twist<S>, Accel<S>)>,
    places: PerLeg<Range<usize>>,
    /// Legs side by side in lanes.
    pub(super) lanes: Vec<LaneMotion>,
}

/// Motion of up to four legs, one per lane.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneMotion {
    rates: Vec<Lanes>,
    accels: Vec<Lanes>,
    V_WB: Vec<Twist<Lanes>>,
    A_WB: Vec<Accel<Lanes>>,
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
            factors: vec![zero; coords * coords],
            rhs: vec![zero; coords],
        }
    }

    /// As the motion of one leg.
    pub(super) fn part(&mut self) -> LegMotion<'_, Lanes> {
        LegMotion {
            rates: &mut self.rates,
            accels: &mut self.accels,
            V_WB: &mut self.V_WB,
            A_WB: &mut self.A_WB,
            factors: &mut self.factors,
            rhs: &mut self.rhs,
        }
    }
}

/// The motion of one leg: slices of that of the robot.
#[derive(Debug)]
pub struct LegMotion<'a, S: Real> {
    /// Rates of its coordinates.
    pub rates: &'a mut [S],
    /// Accelerations of its coordinates.
    pub accels: &'a mut [S],
    /// Twists of its bodies.
    pub V_WB: &'a mut [Twist<S>],
    /// Accelerations of its bodies.
    pub A_WB: &'a mut [Accel<S>],
    /// Factors of its closure rows.
    pub factors: &'a mut [S],
    /// Right-hand side.
    pub rhs: &'a mut [S],
}

/// Motion of what a leg hangs on.
#[derive(Clone, Copy, Debug)]
pub struct Roots<'a, S: Real> {
    /// Frames of platform and outside bodies.
    pub frames: Frames<'a, S>,
    /// Twist of the platform.
    pub V_WE: Twist<S>,
    /// Acceleration of the platform.
    pub A_WE: Accel<S>,
    /// Twists and accelerations of outside bodies.
    pub outside: &'a [(Twist<S>, Accel<S>)],
}

/// The numbers of a leg.
#[derive(Clone, Copy, Debug)]
pub struct LegNumbers<'a, S: Real> {
    /// Its bodies.
    pub bodies: &'a [BodyNumbers<S>],
    /// Frames of the sides of its closures.
    pub closures: &'a [[Pose<S>; 2]],
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
            factors: vec![S::zero(); end],
            rhs: vec![S::zero(); longest],
            outside: Vec::with_capacity(outside),
            places,
            lanes: model
                .groups()
                .iter()
                .map(|g| LaneMotion::new(g.bodies.len(), topology.legs[g.legs[0]].coords.len()))
                .collect(),
        }
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
            factors: &mut self.factors[self.places[id].clone()],
            rhs: &mut self.rhs[..leg.coords.len()],
        };
        (part, Roots { frames, V_WE: self.V_WE, A_WE: self.A_WE, outside: &self.outside })
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

/// The same from a posture that [`inverse_in`] has left in `pos`.
pub fn move_from(
    model: &Model<f64>,
    t_r: &[f64],
    td_r: &[f64],
    pos: &mut Positions<f64>,
    motion: &mut Motion<f64>,
) -> Result<(), SolveError> {
    let platform = &model.topology().platform;
    let n = platform.independent.len();
    for (what, given) in [("components of the twist", t_r), ("components of the acceleration", td_r)] {
        if given.len() != n {
            return Err(SolveError::WrongCount { what, expected: n, found: given.len() });
        }
    }
    if !platform.dependent.is_empty() {
        return move_dependent(model, t_r, td_r, pos, motion);
    }
    motion.V_WE = scatter(model, t_r);
    let A = scatter(model, td_r);
    motion.A_WE = Accel { a: A.v, alpha: A.w };
    let good = if pos.in_lanes {
        move_groups(model, pos, motion)
    } else {
        pose_bodies(model, pos);
        velocities(model, pos, motion);
        accelerations(model, pos, motion);
        is_well_founded(model, motion)
    };
    if good { Ok(()) } else { move_carefully(model, pos, motion) }
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
fn scatter(model: &Model<f64>, x: &[f64]) -> Twist<f64> {
    let mut all = [0.0; 6];
    for (c, x) in model.topology().platform.independent.iter().zip(x) {
        all[c.index()] = *x;
    }
    Twist::from_array(all)
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
    let pivots: PerLeg<LegPivots> = topology.legs.map(|id, _| newton::leg_pivots(model, id, pos));
    for (id, own) in pivots.iter() {
        let planned = &topology.plan.pivots_of_leg[id];
        let singular = |kind| Err(SolveError::Singular { leg: Some(topology.legs[id].name.clone()), kind });
        let small = newton::smallest_pivot(model, id, own, pos) < SINGULAR;
        if own.passive < planned.passive {
            return singular(Kind::Lpjts);
        }
        if own.cols.len() < planned.cols.len() || small {
            return singular(Kind::Type1);
        }
    }
    velocities_by(model, &pivots, pos, motion);
    accelerations_by(model, &pivots, pos, motion);
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

/// Rates and accelerations of all joints on `f64` for a robot whose legs are alike, four legs at a time, after
/// [`solve_groups`](super::geometry::solve_groups). Twists of bodies stay in the lanes, accelerations of
/// bodies are not computed. Whether no
/// leg met a poor pivot.
fn move_groups(model: &Model<f64>, pos: &mut Positions<f64>, motion: &mut Motion<f64>) -> bool {
    let topology = model.topology();
    let X_WE = pos.X_WE.map(&mut |x| Lanes::lit(x));
    let (V_WE, A_WE) = (motion.V_WE.map(&mut |x| Lanes::lit(x)), motion.A_WE.map(&mut |x| Lanes::lit(x)));
    let mut good = true;
    for ((group, legs), own) in model.groups().iter().zip(&mut pos.lanes).zip(&mut motion.lanes) {
        let first = group.legs[0];
        let structure = topology.structure(&topology.legs[first]);
        let pivots = &topology.plan.pivots_of_leg[first];
        let frames = Frames { X_WE: &X_WE, outside: &[] };
        let roots = Roots { frames, V_WE, A_WE, outside: &[] };
        let numbers = LegNumbers { bodies: &group.bodies, closures: &group.closures };
        let mut part = legs.part();
        for b in 0..group.bodies.len() {
            pose_body(structure, &group.bodies, b, frames, &mut part);
        }
        let mut own = own.part();
        factor(structure, numbers, pivots, roots, &part, &mut own);
        let n = pivots.cols.len();
        for i in 0..n {
            let pivot = own.factors[i * n + i].abs() * Lanes::lit(POOR_PIVOT);
            good &= (0..LANES).all(|k| lane(pivot, k) < pivots.scales[i]);
        }
        leg_rates(structure, numbers, pivots, roots, &part, &mut own);
        leg_accelerations(structure, numbers, pivots, roots, &part, &mut own);
        for (k, id) in group.legs.iter().enumerate() {
            let coords = topology.legs[*id].coords;
            motion.rates.slice_mut(coords).iter_mut().zip(&*own.rates).for_each(|(x, four)| *x = lane(*four, k));
            motion.accels.slice_mut(coords).iter_mut().zip(&*own.accels).for_each(|(x, four)| *x = lane(*four, k));
        }
    }
    good
}

/// Rates of all joints and twists of all bodies for the platform twist in `motion`; bodies must be posed.
pub fn velocities<S: Real>(model: &Model<S>, pos: &mut Positions<S>, motion: &mut Motion<S>) {
    velocities_by(model, &model.topology().plan.pivots_of_leg, pos, motion);
}

fn velocities_by<S: Real>(
    model: &Model<S>,
    pivots: &PerLeg<LegPivots>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
) {
    for_legs(model, pivots, pos, motion, &mut |leg, numbers, pivots, roots, pos, motion| {
        factor(leg, numbers, pivots, roots, pos, motion);
        leg_rates(leg, numbers, pivots, roots, pos, motion);
    });
}

/// Accelerations of all joints and bodies for the platform acceleration in `motion`; [`velocities`] must have run.
pub fn accelerations<S: Real>(model: &Model<S>, pos: &mut Positions<S>, motion: &mut Motion<S>) {
    accelerations_by(model, &model.topology().plan.pivots_of_leg, pos, motion);
}

fn accelerations_by<S: Real>(
    model: &Model<S>,
    pivots: &PerLeg<LegPivots>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
) {
    for_legs(model, pivots, pos, motion, &mut |leg, numbers, pivots, roots, pos, motion| {
        leg_accelerations(leg, numbers, pivots, roots, pos, motion);
        add_joint_accelerations(leg, numbers.bodies, pos, motion);
    });
}

type LegStep<'f, S> = &'f mut dyn FnMut(
    LegStructure<'_>,
    LegNumbers<'_, S>,
    &LegPivots,
    Roots<'_, S>,
    &LegPositions<'_, S>,
    &mut LegMotion<'_, S>,
);

fn for_legs<S: Real>(
    model: &Model<S>,
    pivots: &PerLeg<LegPivots>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    step: LegStep<'_, S>,
) {
    let topology = model.topology();
    for &id in &topology.order {
        let leg = &topology.legs[id];
        let numbers = LegNumbers {
            bodies: model.numbers().bodies.slice(leg.bodies),
            closures: model.numbers().closures.slice(leg.closures),
        };
        let (part, frames) = pos.split(leg, (0..0, 0..0));
        let (mut own, roots) = motion.split(id, leg, frames);
        step(topology.structure(leg), numbers, &pivots[id], roots, &part, &mut own);
    }
}

impl<S: Real> Roots<'_, S> {
    /// Twist of a root at a point of the world.
    #[inline(always)]
    fn twist(&self, root: Anchor, p: Vec3<S>) -> Twist<S> {
        match root {
            Anchor::Platform => self.V_WE.at(p - self.frames.X_WE.p),
            Anchor::Outside(k) => self.outside[k].0.at(p - self.frames.outside[k].p),
            Anchor::World | Anchor::Body(_) => Twist::zero(),
        }
    }

    /// Acceleration of a root at a point of the world.
    #[inline(always)]
    fn accel(&self, root: Anchor, p: Vec3<S>) -> Accel<S> {
        match root {
            Anchor::Platform => self.A_WE.at(p - self.frames.X_WE.p, self.V_WE.w),
            Anchor::Outside(k) => {
                let (V, A) = &self.outside[k];
                A.at(p - self.frames.outside[k].p, V.w)
            }
            Anchor::World | Anchor::Body(_) => Accel::zero(),
        }
    }
}

/// Unit motion of a body's joint at a point of the world: `$ = [a × r; a]` or `[a; 0]`, (5.5).
#[inline(always)]
pub fn screw<S: Real>(joint: JointKind, X_WB: &Pose<S>, p: Vec3<S>) -> Twist<S> {
    let z = X_WB.R.z();
    match joint {
        JointKind::Revolute => Twist { v: z.cross(&(p - X_WB.p)), w: z },
        JointKind::Prismatic => Twist { v: z, w: Vec3::zeros() },
        JointKind::Fixed => Twist::zero(),
    }
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

/// A closure of a leg at a posture, as far as its pivot rows need it: rows of positions along fixed axes only need the point.
struct Attachment<'a, S: Real> {
    closure: &'a Closure,
    axes: &'a Rotation<S>,
    /// Where the closure is.
    p: Vec3<S>,
    /// Its frames, when they matter.
    at: Option<&'a ClosureAt<S>>,
    /// Place among the pivots and row, for each pivot row.
    rows: &'a [(usize, usize)],
}

impl<S: Real> Attachment<'_, S> {
    /// The power of a row's wrench on a motion at the closure: the rate of the row.
    #[inline(always)]
    fn power(&self, row: usize, v: Vec3<S>, w: Vec3<S>) -> S {
        match (row_kind(self.closure.joint, row), self.at) {
            (RowKind::Point(k), _) => self.axes.column(k).dot(&v),
            (kind, Some(at)) => Twist { v, w }.power(at.wrench(kind)),
            (_, None) => S::zero(),
        }
    }

    /// See [`ClosureAt::velocity_terms`].
    #[inline(always)]
    fn velocity_terms(&self, row: usize, V_A: Twist<S>, V_B: Twist<S>) -> S {
        let kind = row_kind(self.closure.joint, row);
        self.at.map_or_else(S::zero, |at| at.velocity_terms(kind, V_A, V_B))
    }
}

/// Calls `f` with every closure that has pivot rows.
#[inline(always)]
fn for_closures<S: Real>(
    leg: LegStructure<'_>,
    numbers: LegNumbers<'_, S>,
    pivots: &LegPivots,
    roots: &Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    mut f: impl FnMut(&Attachment<'_, S>),
) {
    let axes = leg_axes(leg, numbers.bodies);
    for (c, rows) in pivots.by_closure.iter().enumerate() {
        if rows.is_empty() {
            continue;
        }
        let closure = &leg.closures[c];
        let [path_a, path_b] = &closure.paths;
        let [X_A, X_B] = &numbers.closures[c];
        let points_only = rows.iter().all(|(_, row)| matches!(row_kind(closure.joint, *row), RowKind::Point(_)));
        let p = match path_b.anchor {
            Anchor::World => X_B.p,
            Anchor::Platform => *roots.frames.X_WE * X_B.p,
            Anchor::Body(b) => pos.X_WB[b] * X_B.p,
            Anchor::Outside(k) => roots.frames.outside[k] * X_B.p,
        };
        let full;
        let at = if points_only {
            None
        } else {
            let side = |path: &SidePath, X: &Pose<S>| match path.anchor {
                Anchor::World => *X,
                anchor => pos.frame(roots.frames, anchor) * *X,
            };
            full = ClosureAt { joint: closure.joint, A: side(path_a, X_A), B: side(path_b, X_B), axes };
            Some(&full)
        };
        f(&Attachment { closure, axes: &axes, p, at, rows });
    }
}

/// The matrix of a leg's closure rows over its coordinates, in the order of the pivots, factored; and what the motion of the
/// leg's roots does to the rows, on the right-hand side.
#[inline(always)]
pub fn factor<S: Real>(
    leg: LegStructure<'_>,
    numbers: LegNumbers<'_, S>,
    pivots: &LegPivots,
    roots: Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    motion: &mut LegMotion<'_, S>,
) {
    let n = pivots.cols.len();
    motion.factors.fill(S::zero());
    for_closures(leg, numbers, pivots, &roots, pos, |at| {
        for (path, sign) in at.closure.paths.iter().zip([-1.0, 1.0]) {
            for &b in &path.bodies {
                let V = screw(leg.bodies[b].joint, &pos.X_WB[b], at.p);
                for_coords(leg, numbers.bodies, b, |c, k| {
                    let Some(j) = pivots.place[c] else { return };
                    let k = k.map_or(S::lit(sign), |k| k * S::lit(sign));
                    let (v, w) = (V.v * k, V.w * k);
                    for &(i, row) in at.rows {
                        motion.factors[i * n + j] += at.power(row, v, w);
                    }
                });
            }
        }
        let [V_A, V_B] = [0, 1].map(|s| roots.twist(at.closure.paths[s].root, at.p));
        let V = V_A - V_B;
        for &(i, row) in at.rows {
            motion.rhs[i] = at.power(row, V.v, V.w);
        }
    });
    lu(motion.factors, n);
}

/// Move the contribution of joints that the closures leave open to the right-hand side.
fn subtract_free<S: Real>(
    leg: LegStructure<'_>,
    numbers: LegNumbers<'_, S>,
    pivots: &LegPivots,
    roots: &Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    given: &[S],
    rhs: &mut [S],
) {
    for_closures(leg, numbers, pivots, roots, pos, |at| {
        for (path, sign) in at.closure.paths.iter().zip([-1.0, 1.0]) {
            for &b in &path.bodies {
                let V = screw(leg.bodies[b].joint, &pos.X_WB[b], at.p);
                for_coords(leg, numbers.bodies, b, |c, k| {
                    let rate = given[c] * k.map_or(S::lit(sign), |k| k * S::lit(sign));
                    for &(i, row) in at.rows.iter().filter(|_| pivots.place[c].is_none()) {
                        rhs[i] -= at.power(row, V.v * rate, V.w * rate);
                    }
                });
            }
        }
    });
}

/// Coordinates of the leg that move a body's joint, with their coefficients where they are not one.
#[inline(always)]
fn for_coords<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    b: usize,
    mut f: impl FnMut(usize, Option<S>),
) {
    match leg.bodies[b].coord {
        Some(c) => f(leg.local(c), None),
        None => numbers[b].coupling.iter().for_each(|(c, k)| f(leg.local(*c), Some(*k))),
    }
}

/// Rate of a body's joint, `Σ coefficient · rate`.
#[inline(always)]
fn joint_rate<S: Real>(leg: LegStructure<'_>, numbers: &[BodyNumbers<S>], b: usize, rates: &[S]) -> S {
    match leg.bodies[b].coord {
        Some(c) => rates[leg.local(c)],
        None => numbers[b].coupling.iter().fold(S::zero(), |sum, (c, k)| sum + *k * rates[leg.local(*c)]),
    }
}

/// Rates of a leg, (7.95) for active and passive joints together, and the twists of its bodies, right after [`factor`].
#[inline(always)]
pub fn leg_rates<S: Real>(
    leg: LegStructure<'_>,
    numbers: LegNumbers<'_, S>,
    pivots: &LegPivots,
    roots: Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    motion: &mut LegMotion<'_, S>,
) {
    let n = pivots.cols.len();
    if !pivots.free.is_empty() {
        let LegMotion { rates, rhs, .. } = &mut *motion;
        subtract_free(leg, numbers, pivots, &roots, pos, rates, rhs);
    }
    lu_solve(motion.factors, n, motion.rhs);
    for (i, &c) in pivots.cols.iter().enumerate() {
        motion.rates[c] = motion.rhs[i];
    }
    for b in 0..leg.bodies.len() {
        let rate = joint_rate(leg, numbers.bodies, b, motion.rates);
        motion.V_WB[b] = body_twist(leg, b, &roots, pos, motion.V_WB, rate);
    }
}

/// Twist of a body from that of its parent, (5.20): `t_j = t_i (at O_j) + $_j q̇_j`.
#[inline(always)]
fn body_twist<S: Real>(
    leg: LegStructure<'_>,
    b: usize,
    roots: &Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    V_WB: &[Twist<S>],
    rate: S,
) -> Twist<S> {
    let X = &pos.X_WB[b];
    let V = match leg.bodies[b].anchor {
        Anchor::Body(p) => V_WB[p].at(X.p - pos.X_WB[p].p),
        root => roots.twist(root, X.p),
    };
    V + screw(leg.bodies[b].joint, X, X.p).scale(rate)
}

/// Accelerations of a leg's joints, (7.183) for active and passive joints together; its bodies are left with their
/// accelerations while no joint accelerates.
#[inline(always)]
pub fn leg_accelerations<S: Real>(
    leg: LegStructure<'_>,
    numbers: LegNumbers<'_, S>,
    pivots: &LegPivots,
    roots: Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    motion: &mut LegMotion<'_, S>,
) {
    let n = pivots.cols.len();
    for b in 0..leg.bodies.len() {
        motion.A_WB[b] = bias(leg, numbers.bodies, b, &roots, pos, motion);
    }
    for_closures(leg, numbers, pivots, &roots, pos, |at| {
        let side = |path: &SidePath| side_motion(path, at.p, &roots, pos, motion);
        let ((V_A, A_A), (V_B, A_B)) = (side(&at.closure.paths[0]), side(&at.closure.paths[1]));
        let A = A_A - A_B;
        for &(i, row) in at.rows {
            motion.rhs[i] = at.power(row, A.a, A.alpha) - at.velocity_terms(row, V_A, V_B);
        }
    });
    if !pivots.free.is_empty() {
        let LegMotion { accels, rhs, .. } = &mut *motion;
        subtract_free(leg, numbers, pivots, &roots, pos, accels, rhs);
    }
    lu_solve(motion.factors, n, motion.rhs);
    for (i, &c) in pivots.cols.iter().enumerate() {
        motion.accels[c] = motion.rhs[i];
    }
}

/// Twist and acceleration of a side of a closure at a point.
#[inline(always)]
fn side_motion<S: Real>(
    path: &SidePath,
    p: Vec3<S>,
    roots: &Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    motion: &LegMotion<'_, S>,
) -> (Twist<S>, Accel<S>) {
    match path.anchor {
        Anchor::Body(b) => {
            let r = p - pos.X_WB[b].p;
            (motion.V_WB[b].at(r), motion.A_WB[b].at(r, motion.V_WB[b].w))
        }
        root => (roots.twist(root, p), roots.accel(root, p)),
    }
}

/// Acceleration of a body when no joint of the leg accelerates, (5.32): that of its parent, taken there, and the velocity
/// product of its joint.
#[inline(always)]
fn bias<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    b: usize,
    roots: &Roots<'_, S>,
    pos: &LegPositions<'_, S>,
    motion: &LegMotion<'_, S>,
) -> Accel<S> {
    let X = &pos.X_WB[b];
    let rate = joint_rate(leg, numbers, b, motion.rates);
    let (mut A, w) = match leg.bodies[b].anchor {
        Anchor::Body(p) => {
            let w = motion.V_WB[p].w;
            (motion.A_WB[p].at(X.p - pos.X_WB[p].p, w), w)
        }
        Anchor::World => return Accel::zero(), // the base neither turns nor moves
        root => (roots.accel(root, X.p), roots.twist(root, X.p).w),
    };
    velocity_product(leg.bodies[b].joint, w, X.R.z() * rate, &mut A);
    A
}

/// What a joint's rate adds to the acceleration of the body it carries, (5.32): `[2σ ω_i × a q̇; σ̄ ω_i × a q̇]`, with `w` the
/// angular velocity of what the joint stands on.
#[inline(always)]
pub(super) fn velocity_product<S: Real>(joint: JointKind, w: Vec3<S>, axis_rate: Vec3<S>, A: &mut Accel<S>) {
    match joint {
        JointKind::Revolute => A.alpha += w.cross(&axis_rate),
        JointKind::Prismatic => A.a += w.cross(&axis_rate) * S::lit(2.0),
        JointKind::Fixed => {}
    }
}

/// What the joint accelerations add to the biases, base to tip.
#[inline(always)]
fn add_joint_accelerations<S: Real>(
    leg: LegStructure<'_>,
    numbers: &[BodyNumbers<S>],
    pos: &LegPositions<'_, S>,
    motion: &mut LegMotion<'_, S>,
) {
    // `rhs` has been used; what is added to each body is told apart by walking down its path.
    for b in 0..leg.bodies.len() {
        let X = &pos.X_WB[b];
        let mut sum = Twist::zero();
        let mut at = Anchor::Body(b);
        while let Anchor::Body(j) = at {
            sum = sum + screw(leg.bodies[j].joint, &pos.X_WB[j], X.p).scale(joint_rate(leg, numbers, j, motion.accels));
            at = leg.bodies[j].anchor;
        }
        motion.A_WB[b] = motion.A_WB[b] + Accel { a: sum.v, alpha: sum.w };
    }
}
