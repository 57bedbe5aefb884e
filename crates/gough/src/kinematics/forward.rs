//! Forward geometry: from the active joints to the platform, section 7, in every assembly mode that is found.

use super::branches::name;
use super::closure::gap;
use super::error::SolveError;
use super::fit::{Reading, fit};
use super::following::{approach, same_pose};
use super::geometry::{solve_forward, solve_one_leg};
use super::inverse::{Posture, in_range, inverse, joint_value, working_modes_given};
use super::modes::WorkingMode;
use super::newton::{self, CLOSED, PlatformFreedom, Unknowns};
use super::platform::{check_pose, home_pose};
use super::positions::{JointPosition, Positions, pose_bodies};
use super::rods;
use super::ways::{MOST_POSTURES, SEED, Standing, scatter, sign_of_bit};
use crate::linalg::dense::{Matrix, solve_spd, svd};
use crate::linalg::small::Dense;
use crate::model::{CoordId, LegId, Locked, Model, Node};
use crate::spatial::orientation::{from_axis_angle, from_quaternion, wrap};
use crate::spatial::{Pose, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Postures for given active joints.
#[derive(Clone, Debug)]
pub struct Assemblies {
    /// Closed postures.
    pub postures: Vec<Posture>,
    /// Whether they are proven to be all.
    pub complete: bool,
    /// By how much the joints given are off the postures at most, lengths in sizes of the robot: not zero only where motors
    /// that the freedoms do not need contradict each other a little, as encoders do.
    pub misfit: f64,
}

impl Assemblies {
    /// The postures in a working mode, or which modes there are instead.
    pub fn in_mode(self, model: &Model<f64>, mode: &WorkingMode) -> Result<Self, SolveError> {
        let t = model.topology();
        let mut others: Vec<String> = self.postures.iter().map(|p| p.mode().name(t)).collect();
        others.sort();
        others.dedup();
        let postures: Vec<Posture> = self.postures.into_iter().filter(|p| p.mode() == mode).collect();
        if postures.is_empty() {
            return Err(SolveError::NotInMode { mode: mode.name(t), others });
        }
        Ok(Self { postures, ..self })
    }
}

/// Motors of a redundant robot may contradict each other by as much as this, in radians and sizes of the robot.
pub const CONTRADICTION: f64 = 1e-3;

/// The posture nearest to motors that contradict each other, led from home, where there are more motors than freedoms.
fn fitted(model: &Model<f64>, active: &[f64], prefer: &WorkingMode) -> Option<Assemblies> {
    let topology = model.topology();
    if topology.active.len() <= topology.platform.independent.len() + topology.plan.given.len() {
        return None;
    }
    let home = inverse(model, &home_pose(model), prefer).ok()?;
    let reading = |(joint, value): (&CoordId, &f64)| Reading { joint: *joint, value: *value, weight: 1.0 };
    let readings: Vec<Reading> = topology.active.iter().zip(active).map(reading).collect();
    let found = fit(model, &readings, &home).ok()?;
    let misfit = found.worst(model, &readings);
    let kept = inverse(model, found.posture.pose(), prefer).ok()?;
    let stays = moved(model, kept.positions(), found.posture.positions()) < 1e-5;
    (misfit <= CONTRADICTION && stays).then(|| Assemblies { postures: vec![kept], complete: false, misfit })
}

/// Most square roots of the forward geometry whose signs are all tried.
const MOST_FORWARD_ROOTS: usize = 16;

/// Random starts of the search when there is no closed form.
const STARTS: usize = 300;

/// All places of the platform that are found for the active joints, in the order of [`crate::model::Topology::active`],
/// each once: in the working mode `prefer` when the robot stands there in that mode, else in one that it has there.
pub fn assemblies(model: &Model<f64>, active: &[f64], prefer: &WorkingMode) -> Result<Assemblies, SolveError> {
    let all = postures(model, active, prefer)?;
    let mut postures: Vec<Posture> = Vec::new();
    for posture in all.postures {
        match postures.iter_mut().find(|p| same_pose(model, p.pose(), posture.pose())) {
            Some(known) if posture.mode() == prefer => *known = posture,
            Some(_) => {}
            None => postures.push(posture),
        }
    }
    Ok(Assemblies { postures, ..all })
}

/// All postures that are found for the active joints: every place of the platform in every working mode that it has
/// there. Where modes meet (a stretched leg), the posture is said to be in `prefer`.
pub fn postures(model: &Model<f64>, active: &[f64], prefer: &WorkingMode) -> Result<Assemblies, SolveError> {
    let mut pos = Positions::new(model);
    set_active(model, active, &mut pos)?;
    pos.X_WE = home_pose(model);
    let mut search = AssemblySearch {
        model,
        active,
        prefer,
        start: pos,
        poses: Vec::new(),
        found: Vec::new(),
        singular: Vec::new(),
        nearest: f64::INFINITY,
        reason: None,
    };
    let complete = search.run() && search.found.len() < MOST_POSTURES;
    if search.reason != Some(SolveError::SelfMotion) {
        search.found.append(&mut search.singular);
    }
    if !search.found.is_empty() {
        return Ok(Assemblies { postures: search.found, complete, misfit: 0.0 });
    }
    if let Some(fitted) = fitted(model, active, prefer) {
        return Ok(fitted);
    }
    Err(match search.reason.take() {
        Some(reason) => reason,
        None => SolveError::NoAssembly { by: search.least_gap() },
    })
}

/// The posture for the active joints in the assembly mode of `near`: followed there in steps.
pub fn forward(model: &Model<f64>, active: &[f64], near: &Posture) -> Result<Posture, SolveError> {
    let mut at = near.positions().clone();
    let start: Vec<f64> = model.topology().active.iter().map(|c| joint_value(model, &at, *c)).collect();
    check_count(model, active)?;
    let distance: Vec<f64> =
        model.topology().active.iter().enumerate().map(|(i, c)| difference(model, *c, active[i], start[i])).collect();
    let (mut done, mut step) = (0.0_f64, 1.0_f64);
    let mut tries = 0;
    while done < 1.0 {
        tries += 1;
        let target = (done + step).min(1.0);
        let mut trial = at.clone();
        for (i, c) in model.topology().active.iter().enumerate() {
            trial.joints[*c] = JointPosition::of(start[i] + target * distance[i]);
        }
        let outcome = newton::assemble(model, &Unknowns::forward(model), &mut trial);
        let jumped = moved(model, &at, &trial) > 0.5;
        if outcome.residual <= CLOSED && (!jumped || step < 1e-3) {
            at = trial;
            done = target;
            step *= 2.0;
        } else {
            step *= 0.5;
        }
        if step < 1e-6 || tries > 400 {
            return Err(SolveError::NotConverged { iterations: tries, residual: outcome.residual });
        }
    }
    // Usually the mode has not changed.
    if let Ok(posture) = inverse(model, &at.X_WE, near.mode())
        && moved(model, posture.positions(), &at) < 1e-5
    {
        return Ok(posture);
    }
    let found = at_pose(model, active, near.mode(), &at)?;
    let distance = |p: &Posture| moved(model, p.positions(), &at);
    let nearest = found.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.ok_or(SolveError::NoAssembly { by: 0.0 })
}

/// How far a posture went, in length scales and radians.
fn moved(model: &Model<f64>, a: &Positions<f64>, b: &Positions<f64>) -> f64 {
    let joints = model.topology().coords.iter().map(|(c, coord)| {
        if coord.slides {
            (a.joints[c].value - b.joints[c].value).abs() / model.size()
        } else {
            let (s, t) = (a.joints[c].turn, b.joints[c].turn);
            (s.cos - t.cos).hypot(s.sin - t.sin)
        }
    });
    let platform = (a.X_WE.p - b.X_WE.p).norm() / model.size();
    joints.fold(platform, f64::max)
}

fn check_count(model: &Model<f64>, active: &[f64]) -> Result<(), SolveError> {
    let expected = model.topology().active.len();
    if active.len() == expected {
        Ok(())
    } else {
        Err(SolveError::WrongCount { what: "active joints", expected, found: active.len() })
    }
}

fn set_active(model: &Model<f64>, active: &[f64], pos: &mut Positions<f64>) -> Result<(), SolveError> {
    check_count(model, active)?;
    for (c, q) in model.topology().active.iter().zip(active) {
        if !q.is_finite() {
            return Err(SolveError::NotAPose { reason: "a joint value is not finite".to_owned() });
        }
        pos.joints[*c] = JointPosition::of(*q);
        in_range(std::slice::from_ref(&model.topology().coords[*c]), &[pos.joints[*c]])?;
    }
    Ok(())
}

fn difference(model: &Model<f64>, c: CoordId, a: f64, b: f64) -> f64 {
    let coord = &model.topology().coords[c];
    if coord.slides || coord.counted { a - b } else { wrap(a - b) }
}

struct AssemblySearch<'a> {
    model: &'a Model<f64>,
    active: &'a [f64],
    prefer: &'a WorkingMode,
    start: Positions<f64>,
    /// Places of the platform seen so far.
    poses: Vec<Pose<f64>>,
    found: Vec<Posture>,
    /// Postures that the motors do not hold to first order: Type 2, or points of a self-motion.
    singular: Vec<Posture>,
    /// The smallest gap met, in metres.
    nearest: f64,
    /// Why a place that closes is not listed.
    reason: Option<SolveError>,
}

impl AssemblySearch<'_> {
    /// Try the closed forms, then Newton from many starts; whether the list is complete.
    fn run(&mut self) -> bool {
        if let Some(plan) = &self.model.topology().plan.forward {
            let roots = plan.iter().map(|b| b.roots.len()).sum::<usize>();
            let tried = roots.min(MOST_FORWARD_ROOTS);
            for bits in 0..1_u64 << tried {
                let signs: Vec<f64> = (0..roots).map(|k| sign_of_bit(bits, k)).collect();
                self.dyads(&signs);
            }
            return tried == roots;
        }
        let legs = rods::locked_legs(self.model, &self.start);
        let home = home_pose(self.model);
        if let Some(poses) = legs.as_ref().and_then(|l| rods::candidates(self.model, &home, l)) {
            for pose in poses {
                self.candidate(&pose);
            }
            return true;
        }
        match legs {
            Some(legs) if legs.len() >= 6 && legs.iter().all(|l| matches!(l, Locked::Rod { .. })) => {
                self.hexapod(&legs);
            }
            _ => self.newton(),
        }
        false
    }

    /// Chains between driven bodies, one after the other.
    fn dyads(&mut self, signs: &[f64]) {
        let model = self.model;
        let mut pos = self.start.clone();
        solve_forward(model, signs, &mut pos);
        if !pos.joints.values().all(|j| j.value.is_finite() && j.turn.cos.is_finite()) {
            return;
        }
        pose_bodies(model, &mut pos);
        if let Some((c, closure)) = model.topology().closures.iter().find(|(_, c)| c.tool)
            && let Node::Body(b) = closure.sides[0]
        {
            pos.X_WE.p = (pos.X_WB[b] * model.numbers().closures[c][0]).p;
        }
        self.keep(&pos);
    }

    /// A pose from a closed form: polish it, and find the joints.
    fn candidate(&mut self, pose: &Pose<f64>) {
        let model = self.model;
        let mut trial = self.start.clone();
        trial.X_WE = *pose;
        for &leg in &model.topology().order {
            self.nearest_way(leg, &mut trial);
        }
        for (c, q) in model.topology().active.iter().zip(self.active) {
            trial.joints[*c] = JointPosition::of(*q);
        }
        let outcome = newton::assemble(model, &Unknowns::forward(model), &mut trial);
        self.note(&trial);
        if outcome.residual <= CLOSED {
            self.keep(&trial);
        }
    }

    /// Joints of a leg in the mode whose active joints come nearest to those given.
    fn nearest_way(&self, leg: LegId, pos: &mut Positions<f64>) {
        let model = self.model;
        let topology = model.topology();
        let (coords, roots) = (topology.legs[leg].coords, topology.legs[leg].roots.len().min(12));
        let mut best: Option<(f64, Positions<f64>)> = None;
        for bits in 0..1_u32 << roots {
            let signs: Vec<f64> = (0..roots).map(|k| if bits >> k & 1 == 0 { 1.0 } else { -1.0 }).collect();
            let mut trial = pos.clone();
            solve_one_leg(model, leg, &signs, &mut trial);
            let given = topology.active.iter().zip(self.active).filter(|(c, _)| coords.local(**c).is_some());
            let off: f64 = given.map(|(c, q)| difference(model, *c, joint_value(model, &trial, *c), *q).abs()).sum();
            let finite = trial.joints.slice(coords).iter().all(|j| j.value.is_finite() && j.turn.cos.is_finite());
            if finite && best.as_ref().is_none_or(|(b, _)| off < *b) {
                best = Some((off, trial));
            }
        }
        if let Some((_, trial)) = best {
            pos.clone_from(&trial);
        }
    }

    /// Note how far the loops are from closing.
    fn note(&mut self, pos: &Positions<f64>) {
        self.nearest = self.nearest.min(gap(self.model, pos).0);
    }

    /// By how much the loops stay open at best, in metres.
    fn least_gap(&mut self) -> f64 {
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let unknowns = Unknowns::forward(self.model);
        for k in 0..10 {
            let mut pos = self.start.clone();
            if k > 0 {
                scatter(self.model, &unknowns.coords, &mut random, &mut pos);
            }
            newton::assemble(self.model, &unknowns, &mut pos);
            self.note(&pos);
        }
        self.nearest
    }

    /// Six or more rods on a free platform: Newton on the six distances from random poses.
    fn hexapod(&mut self, legs: &[Locked]) {
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let home = home_pose(self.model);
        let mut seen: Vec<Pose<f64>> = Vec::new();
        for k in 0..4 * STARTS {
            let mut pose = home;
            if k > 0 {
                let reach = 2.0 * self.model.size();
                pose.p += Vec3::from_fn(|_, _| random.random_range(-reach..reach));
                let q: [f64; 4] = [0; 4].map(|_| random.random_range(-1.0..1.0));
                let n = q.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-9);
                pose.R = from_quaternion(q.map(|x| x / n));
            }
            let Some(pose) = rods_to_pose(legs, pose, self.model.length()) else { continue };
            let known = seen
                .iter()
                .any(|s| (s.p - pose.p).norm() < 1e-6 * self.model.size() && (s.R.0 - pose.R.0).norm() < 1e-6);
            if !known {
                seen.push(pose);
                self.candidate(&pose);
            }
            if self.reason == Some(SolveError::SelfMotion) {
                return;
            }
        }
    }

    /// No closed form at all: Newton on everything from random joints and poses.
    fn newton(&mut self) {
        let model = self.model;
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let unknowns = Unknowns::forward(model);
        for k in 0..STARTS {
            let mut pos = self.start.clone();
            if k > 0 {
                scatter(model, &unknowns.coords, &mut random, &mut pos);
                let reach = if k % 3 == 0 { 2.0 } else { 0.7 } * model.size();
                let moves = |k: usize| unknowns.platform.contains(&PlatformFreedom::Axis(k));
                pos.X_WE.p += Vec3::from_fn(|k, _| if moves(k) { random.random_range(-reach..reach) } else { 0.0 });
                // About the axes that the platform can turn about, by anything.
                let axis = Vec3::from_fn(|k, _| if moves(3 + k) { random.random_range(-1.0..1.0_f64) } else { 0.0 });
                let most = if k % 2 == 0 { 1.0 } else { std::f64::consts::PI };
                if axis.norm() > 1e-3 {
                    pos.X_WE.R = from_axis_angle(axis.normalize(), random.random_range(0.0..most)) * pos.X_WE.R;
                }
            }
            if k % 3 > 0 {
                // Legs as near to a pose as their closed forms come, in any mode: most loops are closed at the start.
                let roots = model.topology().legs.values().map(|l| l.roots.len()).sum();
                let signs: Vec<f64> = (0..roots).map(|_| if random.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
                approach(model, &signs, &mut pos);
                for (c, q) in model.topology().active.iter().zip(self.active) {
                    pos.joints[*c] = JointPosition::of(*q);
                }
            }
            let outcome = newton::assemble(model, &unknowns, &mut pos);
            self.note(&pos);
            if outcome.residual <= CLOSED {
                self.keep(&pos);
            }
            if self.reason == Some(SolveError::SelfMotion) {
                return;
            }
        }
    }

    /// Keep a place of the platform that is new, that its claim allows and that the motors hold.
    fn keep(&mut self, pos: &Positions<f64>) {
        let model = self.model;
        let (gap_m, gap_rad) = gap(model, pos);
        self.nearest = self.nearest.min(gap_m);
        let closed = gap_m <= 1e-9 * model.size().max(1.0) && gap_rad <= 1e-9;
        if !closed || self.poses.iter().any(|p| same_pose(model, p, &pos.X_WE)) {
            return;
        }
        self.poses.push(pos.X_WE);
        let open = open_motions(model, pos);
        if moves_on(model, pos, &open) {
            self.reason = Some(SolveError::SelfMotion);
            return;
        }
        match at_pose(model, self.active, self.prefer, pos) {
            Ok(found) if open.is_empty() => self.found.extend(found),
            Ok(found) => self.singular.extend(found),
            Err(e) => self.reason = self.reason.take().or(Some(e)),
        }
    }
}

/// Motions that the closures leave open with the motors held and in which the platform takes part, scaled.
fn open_motions(model: &Model<f64>, pos: &Positions<f64>) -> Vec<Vec<f64>> {
    let unknowns = Unknowns::forward(model);
    let n = unknowns.coords.len() + unknowns.platform.len();
    let mut a = Dense::zeros(newton::row_count(model, &unknowns), n + 1);
    newton::jacobian(model, &unknowns, model.length(), pos, &mut a);
    let open = svd(&Matrix::from_fn(a.rows, n, |i, j| a.at(i, j))).null_space();
    let platform = |m: &Vec<f64>| m[unknowns.coords.len()..].iter().any(|x| x.abs() > 1e-6);
    let motion = |k: usize| (0..n).map(|j| open[(j, k)]).collect();
    (0..open.ncols()).map(motion).filter(platform).collect()
}

/// Whether a step along an open motion closes again elsewhere: the platform moves with the motors held.
fn moves_on(model: &Model<f64>, pos: &Positions<f64>, open: &[Vec<f64>]) -> bool {
    let unknowns = Unknowns::forward(model);
    open.iter().any(|motion| {
        let mut trial = pos.clone();
        let step: Vec<f64> = motion.iter().map(|x| 0.02 * x).collect();
        newton::advance(model, &unknowns, model.length(), &step, &mut trial);
        let outcome = newton::assemble(model, &unknowns, &mut trial);
        outcome.residual <= CLOSED && moved(model, pos, &trial) > 1e-3
    })
}

/// The postures at a place of the platform whose active joints are those given; at least one, or why there is none.
fn at_pose(
    model: &Model<f64>,
    active: &[f64],
    prefer: &WorkingMode,
    pos: &Positions<f64>,
) -> Result<Vec<Posture>, SolveError> {
    check_pose(model, &pos.X_WE)?;
    let topology = model.topology();
    let fits = |c: CoordId, at: &Positions<f64>| {
        let given = topology.active.iter().zip(active).find(|(a, _)| **a == c);
        let scale = if topology.coords[c].slides { model.size() } else { 1.0 };
        given.is_none_or(|(_, q)| difference(model, c, joint_value(model, at, c), *q).abs() < 1e-6 * scale)
    };
    let mut standing = Standing::new(model, &fits);
    standing.stand(pos);
    if topology.plan.solve_platform && topology.plan.anchors.is_empty() {
        number(model, pos, &mut standing.found);
    }
    let given: Vec<_> = topology.plan.given.iter().map(|c| (*c, pos.q(topology, *c))).collect();
    let before = standing.found.len();
    name(model, &pos.X_WE, &given, &mut standing.found);
    standing.found.truncate(before);
    match standing.reason {
        _ if !standing.found.is_empty() => Ok(standing.found),
        // Two modes meet, and the inverse geometry does not choose: the posture is closed all the same.
        Some(SolveError::AtLimit { .. }) => Ok(vec![Posture::new(model, pos.clone(), prefer.clone())]),
        Some(reason) => Err(reason),
        None => Err(SolveError::NoAssembly { by: 0.0 }),
    }
}

/// Give postures with coordinates that follow the names that the inverse geometry gives them.
fn number(model: &Model<f64>, pos: &Positions<f64>, found: &mut [Posture]) {
    let given: Vec<_> = model.topology().plan.given.iter().map(|c| (*c, pos.q(model.topology(), *c))).collect();
    let named = working_modes_given(model, &pos.X_WE, &given).unwrap_or_default();
    for posture in found {
        let same = named.iter().find(|p| moved(model, p.positions(), posture.positions()) < 1e-5);
        let alike = named.iter().filter(|p| p.mode().is_like(posture.mode())).count();
        posture.set_mode(same.map_or_else(|| posture.mode().following(alike + 1), |p| p.mode().clone()));
    }
}

/// Newton on `|p + R b - c|² = ρ²` for six or more rods, damped.
fn rods_to_pose(legs: &[Locked], mut pose: Pose<f64>, length: f64) -> Option<Pose<f64>> {
    let mut damping = 1e-3;
    let (mut rows, mut cost) = distances(legs, &pose, length);
    for _ in 0..80 {
        if cost < 1e-24 {
            return Some(pose);
        }
        let mut normal = Matrix::zeros(6, 6);
        let mut rhs = vec![0.0; 6];
        for (row, r) in &rows {
            for i in 0..6 {
                rhs[i] -= row[i] * r;
                for j in 0..=i {
                    normal[(i, j)] += row[i] * row[j];
                }
            }
        }
        for i in 0..6 {
            normal[(i, i)] += damping * normal[(i, i)].max(1e-6);
        }
        let step = solve_spd(&normal, &rhs)?;
        let w = Vec3::new(step[3], step[4], step[5]);
        let mut trial = pose;
        trial.p += Vec3::new(step[0], step[1], step[2]) * length;
        if w.norm() > 0.0 {
            trial.R = from_axis_angle(w.normalize(), w.norm().min(1.0)) * trial.R;
        }
        let (new_rows, new_cost) = distances(legs, &trial, length);
        if new_cost < cost {
            (pose, rows, cost) = (trial, new_rows, new_cost);
            damping *= 0.1;
        } else {
            damping *= 8.0;
        }
        if damping > 1e9 {
            return None;
        }
    }
    (cost < 1e-18).then_some(pose)
}

/// Scaled rows and residuals of the rods, and the sum of squares.
fn distances(legs: &[Locked], pose: &Pose<f64>, length: f64) -> (Vec<([f64; 6], f64)>, f64) {
    let mut rows = Vec::with_capacity(legs.len());
    let mut cost = 0.0;
    for leg in legs {
        let Locked::Rod { centre, point, length: rho } = leg else { continue };
        let arm = pose.R.apply(*point);
        let d = pose.p + arm - centre;
        let r = (d.norm_squared() - rho * rho) / (2.0 * rho * length);
        let u = d / *rho;
        let m = arm.cross(&u) / length;
        rows.push(([u.x, u.y, u.z, m.x, m.y, m.z], r));
        cost += r * r;
    }
    (rows, cost)
}
