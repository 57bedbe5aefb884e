//! Every leg reduced to the platform with its own small blocks, (8.82)-(8.86), (8.145), in any scalar; sums only at the
//! platform.
//!
//! A leg's coordinates obey `F q̇ = G V`, with V the motion of what the leg hangs on (see [`LegAt`]). Efforts `τ` of its joints
//! therefore act there as the wrenches `Gᵀ μ`, `Fᵀ μ = τ`: the multipliers μ are the forces in the closures. The efforts that
//! the tree needs, reduced so, are what the platform lacks; a unit effort of a drive, reduced so, is a row of J⁻¹.

use super::inertia::LegInertia;
use super::newton_euler::{LegEfforts, Sign, joint_effort, leg_wrenches, needed};
use crate::kinematics::Positions;
use crate::kinematics::leg::{LegAt, LegMotion, screw};
use crate::kinematics::motion::{Motion, with_factored_legs};
use crate::linalg::small::lu_solve_transposed;
use crate::model::{Anchor, BodyId, CoordId, Id, Leg, LegId, Model, PerBody, PerLeg, Topology};
use crate::scalar::Real;
use crate::spatial::{Vec3, Wrench};

/// Efforts of one state, sized once for a model.
#[derive(Clone, Debug)]
pub struct EffortData<S: Real> {
    /// What acts on the bodies from outside, at the origin of frame M, in world axes.
    loads: PerBody<Wrench<S>>,
    /// Whether anything does.
    bodies_are_loaded: bool,
    /// What acts on the platform from outside, at its origin, in world axes.
    pub load: Wrench<S>,
    /// What the platform needs, with all legs reduced to it and no drive at work: `h` of (8.145), in all six components.
    pub h: Wrench<S>,
    /// What a unit effort of each active coordinate gives to the platform: rows of J⁻¹ in all six components; zero for
    /// drives that the platform does not feel.
    pub J_inv: Vec<Wrench<S>>,
    /// Drives that the platform does not feel (kinematic redundancy).
    pub unfelt: Vec<Unfelt<S>>,
    /// Wrench that each body must get from what it stands on, were all joints driven, legs that hang on it included.
    F_WB: PerBody<Wrench<S>>,
    /// Efforts of the leg at work.
    own: Vec<S>,
    /// Multipliers of the leg at work.
    mu: Vec<S>,
    /// What the leg at work asks of the platform, and of each outside body.
    roots: Vec<Wrench<S>>,
    /// Bodies that other legs hang on.
    hung: Vec<BodyId>,
    /// What a unit effort of each active coordinate asks of each of them.
    carried: Vec<Wrench<S>>,
    /// Active coordinates that each leg feels: its own, and those of legs that hang on it.
    felt: PerLeg<Vec<usize>>,
}

/// A drive that the platform does not feel: it holds what the motion of its own leg asks of it, `τ = needs - Σ gives τ_k`.
#[derive(Clone, Debug)]
pub struct Unfelt<S: Real> {
    /// Its place among the active coordinates.
    pub drive: usize,
    leg: LegId,
    /// Its place in the leg.
    coord: usize,
    /// What the motion asks of it while no other drive works.
    pub needs: S,
    /// What a unit effort of each drive spares it.
    pub gives: Vec<S>,
}

fn unfelt<S: Real>(topology: &Topology) -> Vec<Unfelt<S>> {
    let plan = topology.plan.pivots_of_leg.as_slice();
    let one = |(drive, c): (usize, &CoordId)| {
        let leg = topology.coords[*c].leg;
        let coord = topology.legs[leg].coords.local(*c)?;
        let open = plan.get(leg.index())?.place[coord].is_none();
        let gives = vec![S::zero(); topology.active.len()];
        open.then(|| Unfelt { drive, leg, coord, needs: S::zero(), gives })
    };
    topology.active.iter().enumerate().filter_map(one).collect()
}

/// Joints that the pose leaves open, each with a drive that the platform does not feel, in the order of
/// [`EffortData::unfelt`].
pub(super) fn open_joints(topology: &Topology) -> Vec<CoordId> {
    unfelt::<f64>(topology).iter().map(|free| topology.active[free.drive]).collect()
}

/// Efforts that the forces in the closures of a leg ask of its coordinates: of pivots, the opposite of what was reduced.
pub(super) fn closure_effort<S: Real>(at: &LegAt<'_, S>, mu: &[S], coord: usize) -> S {
    let mut effort = S::zero();
    let axes = at.axes();
    for c in 0..at.pivots.by_closure.len() {
        let Some(closure) = at.attachment(c, &axes) else { continue };
        let F = closure.wrench(mu);
        for (path, F) in closure.closure.paths.iter().zip([F, -F]) {
            for &b in &path.bodies {
                let power = screw(at.leg.bodies[b].joint, &at.pos.X_WB[b], closure.p).power(F);
                match at.leg.bodies[b].coord {
                    Some(c) if at.leg.local(c) == coord => effort += power,
                    Some(_) => {}
                    None => {
                        let coupling = &at.numbers.bodies[b].coupling;
                        let own = coupling.iter().filter(|(c, _)| at.leg.local(*c) == coord);
                        own.for_each(|(_, k)| effort += *k * power);
                    }
                }
            }
        }
    }
    effort
}

impl<S: Real> EffortData<S> {
    /// Memory for a model, nothing acting from outside.
    pub fn new(model: &Model<S>) -> Self {
        let topology = model.topology();
        let mut hung: Vec<BodyId> = topology.legs.values().flat_map(|l| l.outside.clone()).collect();
        hung.sort_unstable();
        hung.dedup();
        let most = |f: &dyn Fn(&Leg) -> usize| topology.legs.values().map(f).max().unwrap_or(0);
        let n = topology.active.len();
        Self {
            loads: topology.bodies.map(|_, _| Wrench::zero()),
            bodies_are_loaded: false,
            load: Wrench::zero(),
            h: Wrench::zero(),
            J_inv: vec![Wrench::zero(); n],
            unfelt: unfelt(topology),
            F_WB: topology.bodies.map(|_, _| Wrench::zero()),
            own: vec![S::zero(); most(&|l| l.coords.len())],
            mu: vec![S::zero(); most(&|l| l.coords.len())],
            roots: vec![Wrench::zero(); 1 + most(&|l| l.outside.len())],
            carried: vec![Wrench::zero(); n * hung.len()],
            felt: felt(topology),
            hung,
        }
    }
}

impl<S: Real> EffortData<S> {
    /// Let nothing act from outside.
    pub fn unload(&mut self) {
        self.load = Wrench::zero();
        self.bodies_are_loaded = false;
        self.loads.values_mut().for_each(|F| *F = Wrench::zero());
    }

    /// Let the drives work: `h - J_invᵀ τ` in the place of `h`.
    pub(super) fn give(&mut self, tau: &[S]) {
        for (row, effort) in self.J_inv.iter().zip(tau) {
            self.h = self.h - Wrench { f: row.f * *effort, m: row.m * *effort };
        }
    }

    /// Let a wrench act on a body from outside, at the origin of frame M, in world axes, beside what acts already.
    pub fn load_body(&mut self, body: BodyId, F: Wrench<S>) {
        self.loads[body] = self.loads[body] + F;
        self.bodies_are_loaded = true;
    }

    /// Whether forces inside the legs are needed, so that legs cannot run side by side.
    pub(super) fn needs_legs(&self) -> bool {
        self.bodies_are_loaded || !self.unfelt.is_empty()
    }
}

/// Active coordinates that each leg feels, as places in [`Topology::active`].
fn felt(topology: &Topology) -> PerLeg<Vec<usize>> {
    let own = |id: LegId| topology.active.iter().enumerate().filter(move |(_, c)| topology.coords[**c].leg == id);
    let mut felt = topology.legs.map(|id, _| own(id).map(|(k, _)| k).collect::<Vec<_>>());
    for &id in topology.order.iter().rev() {
        for b in &topology.legs[id].outside {
            let below = topology.bodies[*b].leg;
            let more: Vec<usize> = felt[id].iter().copied().filter(|k| !felt[below].contains(k)).collect();
            felt[below].extend(more);
        }
    }
    felt
}

/// What lists of efforts of a leg's joints, in the order of its pivots and one list after the other, ask of its roots:
/// `Fᵀ μ = τ`, then `Σ μ ζ` at every closure, for what the first side stands on, and against what the second side stands on.
/// `to_root` hears the number of the list, the root, and the wrench at its origin. Leaves the multipliers in `columns`.
#[inline(always)]
pub fn to_roots<S: Real>(
    at: &LegAt<'_, S>,
    factors: &[S],
    columns: &mut [S],
    mut to_root: impl FnMut(usize, Anchor, Wrench<S>),
) {
    let n = at.rank().max(1);
    for column in columns.chunks_exact_mut(n) {
        lu_solve_transposed(factors, at.rank(), column);
    }
    let axes = at.axes();
    for c in 0..at.closures() {
        let Some(closure) = at.attachment(c, &axes) else { continue };
        for (k, mu) in columns.chunks_exact(n).enumerate() {
            let F = closure.wrench(mu);
            for side in [0, 1] {
                let root = closure.closure.paths[side].root;
                if root != Anchor::World {
                    let F = F.at(at.roots.origin(root) - closure.p);
                    to_root(k, root, if side == 1 { -F } else { F });
                }
            }
        }
    }
}

/// Efforts of a leg's coordinates in the order of its pivots.
#[inline(always)]
pub fn in_pivot_order<S: Real>(at: &LegAt<'_, S>, efforts: &[S], column: &mut [S]) {
    for (x, &c) in column.iter_mut().zip(&at.pivots.cols[..at.rank()]) {
        *x = efforts[c];
    }
}

/// Efforts of a leg's coordinates beside its bodies: rotors, and friction if asked.
#[inline(always)]
pub fn resistance<S: Real>(at: &LegAt<'_, S>, motion: &LegMotion<'_, S>, friction: Option<Sign>, efforts: &mut [S]) {
    for (c, joint) in at.numbers.joints.iter().enumerate() {
        efforts[c] = joint.rotor * motion.accels[c];
        if let Some(sign) = friction {
            efforts[c] += joint.friction(motion.rates[c], sign);
        }
    }
}

/// Efforts of a leg's coordinates that a wrench on one of its bodies, at that body's origin, asks for, and what it asks of the
/// body's root.
fn carry<S: Real>(
    at: &LegAt<'_, S>,
    body: usize,
    F: Wrench<S>,
    efforts: &mut [S],
    mut to_root: impl FnMut(Anchor, Wrench<S>),
) {
    let (mut b, mut F) = (body, F);
    loop {
        let X = &at.pos.X_WB[b];
        let effort = joint_effort(at.leg.bodies[b].joint, X, F);
        at.add_effort(b, effort, efforts);
        match at.leg.bodies[b].anchor {
            Anchor::World => return,
            Anchor::Body(p) => (b, F) = (p, F.at(at.pos.X_WB[p].p - X.p)),
            root => return to_root(root, F.at(at.roots.origin(root) - X.p)),
        }
    }
}

/// Memory to reduce a leg on base and platform alone, or four of them in lanes, to the platform.
#[derive(Clone, Debug)]
pub(super) struct LegReduction<S: Real> {
    F_WB: Vec<Wrench<S>>,
    efforts: Vec<S>,
    /// Multipliers: of the motion, and of a unit effort of each drive.
    mu: Vec<S>,
    /// What the leg asks of the platform to move as it does; what a unit effort of each drive gives.
    pub rows: Vec<Wrench<S>>,
    /// Active coordinates: places in the leg.
    pub drives: Vec<usize>,
    /// Their efforts, when they are known.
    pub given: Vec<S>,
    /// Memory for its inertia.
    pub inertia: LegInertia<S>,
}

impl<S: Real> LegReduction<S> {
    /// Memory for a leg, no effort given.
    pub fn new(topology: &Topology, id: LegId) -> Self {
        let leg = &topology.legs[id];
        let (n, bodies) = (leg.coords.len(), leg.bodies.len());
        let pivots = topology.plan.pivots_of_leg.as_slice().get(id.index()).map_or(n, |p| p.cols.len());
        let drives: Vec<usize> = topology.drives_of(id).iter().map(|d| d.0).collect();
        Self {
            F_WB: vec![Wrench::zero(); bodies],
            efforts: vec![S::zero(); n],
            mu: vec![S::zero(); pivots * (1 + drives.len())],
            rows: vec![Wrench::zero(); 1 + drives.len()],
            given: vec![S::zero(); drives.len()],
            inertia: LegInertia::new(n, bodies),
            drives,
        }
    }

    /// Fills the first of the rows and, if asked, those of the drives.
    #[inline(always)]
    pub fn reduce(
        &mut self,
        at: &LegAt<'_, S>,
        motion: &LegMotion<'_, S>,
        gravity: Vec3<S>,
        friction: Option<Sign>,
        with_drives: bool,
    ) {
        let n = at.rank();
        let efforts = &mut self.efforts;
        resistance(at, motion, friction, efforts);
        for (c, given) in self.drives.iter().zip(&self.given) {
            efforts[*c] -= *given;
        }
        let F_WB = &mut self.F_WB;
        F_WB.fill(Wrench::zero());
        self.rows.fill(Wrench::zero());
        let rows = &mut self.rows;
        let mut leg = LegEfforts { F_WB, efforts };
        leg_wrenches(at, motion, gravity, &mut leg, |_, F| rows[0] = rows[0] + F);
        in_pivot_order(at, leg.efforts, &mut self.mu[..n]);
        let columns = if with_drives { 1 + self.drives.len() } else { 1 };
        self.mu[n..].fill(S::zero());
        for (k, c) in self.drives.iter().enumerate() {
            if let Some(i) = at.pivots.place[*c] {
                self.mu[(k + 1) * n + i] = S::one();
            }
        }
        to_roots(at, motion.factors, &mut self.mu[..columns * n], |k, _, F| rows[k] = rows[k] + F);
    }
}

/// Place of a root in a list of what a leg asks: the platform first, then outside bodies.
pub(super) fn slot(root: Anchor) -> usize {
    if let Anchor::Outside(k) = root { k + 1 } else { 0 }
}

/// Every leg reduced to the platform, those first that hang on others: `h` and `J_inv`, for a motion of all bodies in `motion`
/// whose legs are still factored.
pub fn reduce<S: Real>(
    model: &Model<S>,
    friction: Option<Sign>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    out: &mut EffortData<S>,
) {
    reduce_legs(model, friction, model.topology().order.iter().rev().copied(), pos, motion, out);
}

/// Some legs reduced to the platform, those first that hang on others; see [`reduce`].
pub(crate) fn reduce_legs<S: Real>(
    model: &Model<S>,
    friction: Option<Sign>,
    legs: impl Iterator<Item = LegId>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    out: &mut EffortData<S>,
) {
    let (topology, numbers) = (model.topology(), model.numbers());
    out.h = needed(&numbers.platform, &pos.X_WE, motion.V_WE.w, motion.A_WE, numbers.gravity) - out.load;
    out.J_inv.fill(Wrench::zero());
    out.carried.fill(Wrench::zero());
    for (b, load) in out.loads.iter() {
        out.F_WB[b] = -*load;
    }
    with_factored_legs(model, legs, pos, motion, |id, at, motion| {
        let leg = &topology.legs[id];
        out.reduce_leg(at, motion, leg, numbers.gravity, friction);
        for free in out.unfelt.iter_mut().filter(|f| f.leg == id) {
            free.needs = out.own[free.coord] + closure_effort(at, &out.mu, free.coord);
        }
        out.reduce_drives(at, motion, leg, id, topology);
    });
}

impl<S: Real> EffortData<S> {
    /// What the leg needs, for `h`.
    fn reduce_leg(
        &mut self,
        at: &LegAt<'_, S>,
        motion: &LegMotion<'_, S>,
        leg: &Leg,
        gravity: Vec3<S>,
        friction: Option<Sign>,
    ) {
        let n = leg.coords.len();
        self.roots.fill(Wrench::zero());
        resistance(at, motion, friction, &mut self.own[..n]);
        let mut own = LegEfforts { F_WB: self.F_WB.slice_mut(leg.bodies), efforts: &mut self.own[..n] };
        let roots = &mut self.roots;
        let mut add = |root, F| roots[slot(root)] = roots[slot(root)] + F;
        leg_wrenches(at, motion, gravity, &mut own, &mut add);
        let column = &mut self.mu[..at.pivots.cols.len()];
        in_pivot_order(at, &self.own, column);
        to_roots(at, motion.factors, column, |_, root, F| add(root, F));
        self.h = self.h + self.roots[0];
        for (b, F) in leg.outside.iter().zip(&self.roots[1..]) {
            self.F_WB[*b] = self.F_WB[*b] + *F;
        }
    }

    /// What unit efforts of the drives that the leg feels give, for `J_inv`.
    fn reduce_drives(
        &mut self,
        at: &LegAt<'_, S>,
        motion: &LegMotion<'_, S>,
        leg: &Leg,
        id: LegId,
        topology: &Topology,
    ) {
        let bodies = self.hung.len();
        for &drive in &self.felt[id] {
            self.roots.fill(Wrench::zero());
            self.own.fill(S::zero());
            let roots = &mut self.roots;
            let mut add = |root, F| roots[slot(root)] = roots[slot(root)] + F;
            if let Some(c) = leg.coords.local(topology.active[drive]) {
                self.own[c] = S::one();
            }
            for (i, b) in self.hung.iter().enumerate() {
                if let Some(b) = leg.bodies.local(*b) {
                    carry(at, b, self.carried[drive * bodies + i], &mut self.own, &mut add);
                }
            }
            let column = &mut self.mu[..at.pivots.cols.len()];
            in_pivot_order(at, &self.own, column);
            to_roots(at, motion.factors, column, |_, root, F| add(root, F));
            for free in self.unfelt.iter_mut().filter(|f| f.leg == id) {
                free.gives[drive] = self.own[free.coord] + closure_effort(at, &self.mu, free.coord);
            }
            self.J_inv[drive] = self.J_inv[drive] + self.roots[0];
            for (b, F) in leg.outside.iter().zip(&self.roots[1..]) {
                if let Some(i) = self.hung.iter().position(|h| h == b) {
                    let carried = &mut self.carried[drive * bodies + i];
                    *carried = *carried + *F;
                }
            }
        }
    }
}
