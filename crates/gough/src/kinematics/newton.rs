//! Assembly by Newton's method: joints, and if asked the platform, that close the loops, from any start. `f64` only;
//! [`polish`] repeats the last step in any scalar.

use super::closure::{closure_at, gap, joint_twist, movers, row_kind};
use super::positions::{JointPosition, Positions, pose_bodies};
use crate::description::{Coordinate, Coordinates};
use crate::linalg::dense::{Matrix, least_squares, solve_spd};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{BodyId, ClosureId, CoordId, CoordKind, LegId, LegPivots, Model, Node};
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Turn, Twist, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A way the platform may move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlatformFreedom {
    /// Along world axis 0, 1 or 2, or (3, 4, 5) about it.
    Axis(usize),
    /// Along or about a coordinate, the other coordinates keeping their values.
    Coordinate(Coordinate),
}

impl PlatformFreedom {
    fn is_length(self) -> bool {
        match self {
            PlatformFreedom::Axis(k) => k < 3,
            PlatformFreedom::Coordinate(c) => !c.is_angle(),
        }
    }

    /// Unit motion at the platform origin.
    fn twist<S: Real>(self, X_WE: &Pose<S>) -> Twist<S> {
        let turning = |w: Vec3<S>| Twist { v: Vec3::zeros(), w };
        match self {
            PlatformFreedom::Coordinate(Coordinate::Rx) => turning(X_WE.R.column(0)),
            PlatformFreedom::Coordinate(Coordinate::Ry) => turning(pitch_axis(X_WE)),
            PlatformFreedom::Coordinate(c) => PlatformFreedom::Axis(c.index()).twist(X_WE),
            PlatformFreedom::Axis(k) => {
                let mut t = [S::zero(); 6];
                t[k] = S::one();
                Twist::from_array(t)
            }
        }
    }

    /// Move by a scaled step.
    fn advance<S: Real>(self, step: S, length: f64, X_WE: &mut Pose<S>) {
        let t = Turn::identity().advance(step);
        match self {
            PlatformFreedom::Coordinate(Coordinate::Rx) => X_WE.R = X_WE.R * Rotation::about_x(t),
            PlatformFreedom::Coordinate(Coordinate::Ry) => {
                // In the frame turned by yaw the pitch axis is y.
                let y = pitch_axis(X_WE);
                let yaw = Rotation::about_z(Turn { cos: y.y, sin: -y.x });
                X_WE.R = yaw * Rotation::about_y(t) * yaw.inverse() * X_WE.R;
            }
            PlatformFreedom::Coordinate(c) => PlatformFreedom::Axis(c.index()).advance(step, length, X_WE),
            PlatformFreedom::Axis(3) => X_WE.R = Rotation::about_x(t) * X_WE.R,
            PlatformFreedom::Axis(4) => X_WE.R = Rotation::about_y(t) * X_WE.R,
            PlatformFreedom::Axis(5) => X_WE.R = Rotation::about_z(t) * X_WE.R,
            PlatformFreedom::Axis(k) => X_WE.p[k] += step * S::lit(length),
        }
    }
}

/// `Rz(yaw) y`.
fn pitch_axis<S: Real>(X_WE: &Pose<S>) -> Vec3<S> {
    let x = X_WE.R.column(0);
    let n = (x.x * x.x + x.y * x.y).sqrt().recip();
    Vec3::new(-x.y * n, x.x * n, S::zero())
}

/// What may move so that loops close.
#[derive(Clone, Debug, Default)]
pub struct Unknowns {
    /// Joint coordinates.
    pub coords: Vec<CoordId>,
    /// Platform motions.
    pub platform: Vec<PlatformFreedom>,
    /// The loops to close.
    pub closures: Vec<ClosureId>,
    /// Joints among `coords` that others follow by a ratio, and that turn on their own here: nuts that slip on their screw.
    pub slipping: Vec<CoordId>,
}

/// How an assembly ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Largest row that remains, lengths divided by the length scale.
    pub residual: f64,
    /// Steps taken.
    pub iterations: u32,
}

/// A residual below this, lengths divided by the length scale, is closed.
pub const CLOSED: f64 = 1e-12;
const MOST_ITERATIONS: u32 = 120;

impl Unknowns {
    /// Everything moves except the active joints: forward geometry. The platform moves as the file claims.
    pub fn forward<S: Real>(model: &Model<S>) -> Self {
        let topology = model.topology();
        let platform = match &topology.platform.coordinates {
            Coordinates::Spatial | Coordinates::Some(_) => (0..6).map(PlatformFreedom::Axis).collect(),
            _ => topology.platform.independent.iter().map(|c| PlatformFreedom::Axis(c.index())).collect(),
        };
        let coords = topology.passive.iter().copied().filter(|c| !topology.is_held(*c)).collect();
        Self { coords, platform, closures: topology.closures.ids().collect(), slipping: Vec::new() }
    }

    /// All joints and the dependent platform coordinates: inverse geometry without closed forms.
    pub fn inverse<S: Real>(model: &Model<S>, given: &[CoordId]) -> Self {
        let topology = model.topology();
        Self {
            coords: topology.coords.ids().filter(|c| !given.contains(c) && !topology.is_held(*c)).collect(),
            platform: topology.platform.dependent.iter().map(|c| PlatformFreedom::Coordinate(*c)).collect(),
            closures: topology.closures.ids().collect(),
            slipping: Vec::new(),
        }
    }

    /// Coordinates of one leg against everything else.
    pub fn of_leg<S: Real>(model: &Model<S>, leg: LegId, coords: &[CoordId]) -> Self {
        let closures = model.topology().legs[leg].closures.iter().collect();
        Self { coords: coords.to_vec(), platform: Vec::new(), closures, slipping: Vec::new() }
    }

    /// Everything moves, the platform in all ways it could (a tool point only translates).
    pub fn all<S: Real>(model: &Model<S>) -> Self {
        let topology = model.topology();
        let motions = if topology.platform.tool.is_some() { 3 } else { 6 };
        Self {
            coords: topology.coords.ids().collect(),
            platform: (0..motions).map(PlatformFreedom::Axis).collect(),
            closures: topology.closures.ids().collect(),
            slipping: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.coords.len() + self.platform.len() + self.slipping.len()
    }

    /// Column of a coordinate that moves the joint of a body.
    fn column<S: Real>(&self, model: &Model<S>, c: CoordId, body: BodyId) -> Option<usize> {
        let own = model.topology().bodies[body].coord == Some(c);
        match self.slipping.iter().position(|s| *s == c).filter(|_| own) {
            Some(k) => Some(self.coords.len() + self.platform.len() + k),
            None => self.coords.iter().position(|u| *u == c),
        }
    }
}

/// Closure Jacobian and residual in any scalar: columns are the unknowns, the last column the residual; lengths are
/// divided by `length`, translations of the platform multiplied by it.
pub fn jacobian<S: Real>(model: &Model<S>, unknowns: &Unknowns, length: f64, pos: &Positions<S>, out: &mut Dense<S>) {
    out.clear();
    let scale = S::lit(1.0 / length);
    let closures = &model.topology().closures;
    let mut first = 0;
    for &c in &unknowns.closures {
        let at = closure_at(model, c, pos);
        let r = at.B.p - pos.X_WE.p;
        let last = out.cols - 1;
        for row in 0..at.joint.rows() {
            let kind = row_kind(at.joint, row);
            let wrench = at.wrench(kind).at(-r);
            let i = first + row;
            for (side, sign) in closures[c].sides.into_iter().zip([-1.0, 1.0]) {
                let mut add = |column: usize, V: Twist<S>, k: S| {
                    *out.at_mut(i, column) += V.power(wrench) * k * S::lit(sign);
                };
                let on_platform = movers(model, side, None, &mut |coord, k, body| {
                    if let Some(column) = unknowns.column(model, coord, body) {
                        add(column, joint_twist(model, body, pos), k);
                    }
                });
                if on_platform {
                    for (j, &p) in unknowns.platform.iter().enumerate() {
                        add(unknowns.coords.len() + j, p.twist(&pos.X_WE), S::one());
                    }
                }
            }
            *out.at_mut(i, last) = at.residual(kind);
            if kind.is_length() {
                (0..out.cols).for_each(|j| *out.at_mut(i, j) *= scale);
            }
        }
        first += at.joint.rows();
    }
    // Unknowns in units of the length scale or radians.
    let slides = |c: &CoordId| model.topology().coords[*c].slides;
    let lengths = unknowns.coords.iter().map(slides).chain(unknowns.platform.iter().map(|p| p.is_length()));
    for (j, _) in lengths.enumerate().filter(|(_, is_length)| *is_length) {
        (0..out.rows).for_each(|i| *out.at_mut(i, j) *= S::lit(length));
    }
}

/// Number of rows of the closures.
pub fn row_count<S: Real>(model: &Model<S>, unknowns: &Unknowns) -> usize {
    unknowns.closures.iter().map(|c| model.topology().closures[*c].joint.rows()).sum()
}

/// Move the unknowns by a scaled step.
pub(super) fn advance(model: &Model<f64>, unknowns: &Unknowns, length: f64, step: &[f64], pos: &mut Positions<f64>) {
    for (j, d) in step.iter().enumerate() {
        move_one(model, unknowns, j, *d, length, pos);
    }
    renormalise(pos);
    pose_bodies(model, pos);
}

/// Keep the platform's rotation exact over many steps.
fn renormalise(pos: &mut Positions<f64>) {
    let m = pos.X_WE.R.0;
    let x = m.column(0).normalize();
    let z = x.cross(&m.column(1)).normalize();
    pos.X_WE.R = Rotation::from_columns(x, z.cross(&x), z);
}

/// Close the loops from the posture in `pos`. A screw may have to turn many times, and its turn alone does not say how
/// many: first nuts slip on their screws, then the screws stand where that left the nuts, then everything moves.
pub fn assemble(model: &Model<f64>, unknowns: &Unknowns, pos: &mut Positions<f64>) -> Outcome {
    let is_screw = |c: &CoordId| model.topology().coords[*c].counted;
    let (screws, others): (Vec<CoordId>, Vec<CoordId>) = unknowns.coords.iter().partition(|c| is_screw(c));
    if !screws.is_empty() {
        let mut trial = pos.clone();
        let slipping = Unknowns { slipping: screws.clone(), ..unknowns.clone() };
        if descend(model, &slipping, &mut trial).residual <= CLOSED {
            screws.iter().for_each(|c| trial.joints[*c].turn = Turn::of(trial.joints[*c].value));
            descend(model, &Unknowns { coords: others, ..unknowns.clone() }, &mut trial);
            let outcome = descend(model, unknowns, &mut trial);
            if outcome.residual <= CLOSED {
                pos.clone_from(&trial);
                return outcome;
            }
        }
    }
    descend(model, unknowns, pos)
}

/// Damped Gauss-Newton steps (Levenberg-Marquardt), then plain ones.
fn descend(model: &Model<f64>, unknowns: &Unknowns, pos: &mut Positions<f64>) -> Outcome {
    pos.in_lanes = false;
    let length = model.length();
    let n = unknowns.len();
    let mut a = Dense::zeros(row_count(model, unknowns), n + 1);
    pose_bodies(model, pos);
    jacobian(model, unknowns, length, pos, &mut a);
    let mut cost = cost_of(&a);
    let mut damping = 1e-3;
    let mut iterations = 0;
    while iterations < MOST_ITERATIONS && cost.sqrt() > 1e-9 && damping < 1e12 {
        iterations += 1;
        let Some(step) = damped_step(&a, damping) else {
            damping *= 10.0;
            continue;
        };
        // Turns of a screw may be many; everything else moves in modest steps.
        let counted = |j: usize| unknowns.coords.get(j).is_some_and(|c| model.topology().coords[*c].counted);
        let longest = step.iter().enumerate().filter(|(j, _)| !counted(*j)).fold(1e-12_f64, |m, (_, x)| m.max(x.abs()));
        let shorten = (0.7 / longest).min(1.0);
        let step: Vec<f64> = step.iter().map(|x| x * shorten).collect();
        let before = pos.clone();
        advance(model, unknowns, length, &step, pos);
        jacobian(model, unknowns, length, pos, &mut a);
        let new_cost = cost_of(&a);
        if new_cost < cost {
            cost = new_cost;
            damping = (damping * 0.2).max(1e-14);
        } else {
            pos.clone_from(&before);
            jacobian(model, unknowns, length, pos, &mut a);
            damping *= 5.0;
        }
    }
    finish(model, unknowns, pos, &mut a, &mut iterations)
}

/// Plain Gauss-Newton steps, shortest solution, until the residual no longer falls.
fn finish(
    model: &Model<f64>,
    unknowns: &Unknowns,
    pos: &mut Positions<f64>,
    a: &mut Dense<f64>,
    iterations: &mut u32,
) -> Outcome {
    let length = model.length();
    let mut best = worst_row(a);
    for _ in 0..6 {
        if !(1e-15..=1e-4).contains(&best) {
            break;
        }
        let rhs: Vec<f64> = (0..a.rows).map(|i| -a.at(i, a.cols - 1)).collect();
        let step = least_squares(&columns(a, a.cols - 1), &rhs);
        let before = pos.clone();
        advance(model, unknowns, length, &step, pos);
        jacobian(model, unknowns, length, pos, a);
        *iterations += 1;
        let now = worst_row(a);
        if now >= best {
            pos.clone_from(&before);
            jacobian(model, unknowns, length, pos, a);
            break;
        }
        best = now;
    }
    Outcome { residual: best, iterations: *iterations }
}

fn columns(a: &Dense<f64>, n: usize) -> Matrix {
    Matrix::from_fn(a.rows, n, |i, j| a.at(i, j))
}

fn cost_of(a: &Dense<f64>) -> f64 {
    (0..a.rows).map(|i| a.at(i, a.cols - 1).powi(2)).sum()
}

fn worst_row(a: &Dense<f64>) -> f64 {
    let worst = (0..a.rows).map(|i| a.at(i, a.cols - 1).abs()).fold(0.0, f64::max);
    if worst.is_finite() { worst } else { f64::INFINITY }
}

fn damped_step(a: &Dense<f64>, damping: f64) -> Option<Vec<f64>> {
    let n = a.cols - 1;
    let mut normal = Matrix::zeros(n, n);
    let mut rhs = vec![0.0; n];
    for row in a.data.chunks_exact(a.cols) {
        // A closure knows few of the joints.
        for (k, x) in row[..n].iter().enumerate().filter(|(_, x)| **x != 0.0) {
            rhs[k] -= x * row[n];
            let below = &mut normal.as_mut_slice()[k * n + k..(k + 1) * n];
            below.iter_mut().zip(&row[k..n]).for_each(|(sum, y)| *sum += x * y);
        }
    }
    for j in 0..n {
        normal[(j, j)] += damping * normal[(j, j)].max(1e-3);
    }
    solve_spd(&normal, &rhs)
}

/// `steps` full Newton steps in any scalar from a posture closed on `f64`, in a fixed pivot order: one step gives exact
/// first derivatives on dual numbers, two give second ones. Rows and columns that are no pivots are left alone.
pub fn polish<S: Real>(
    model: &Model<S>,
    unknowns: &Unknowns,
    order: &PivotOrder,
    steps: usize,
    length: f64,
    pos: &mut Positions<S>,
) {
    let mut a = Dense::zeros(row_count(model, unknowns), unknowns.len() + 1);
    let mut pivots = Vec::new();
    for _ in 0..steps {
        pose_bodies(model, pos);
        jacobian(model, unknowns, length, pos, &mut a);
        order.eliminate(&mut a, &mut pivots);
        for (&i, &j) in order.rows.iter().zip(&order.cols) {
            let step = -a.at(i, a.cols - 1);
            move_one(model, unknowns, j, step, length, pos);
        }
    }
    pose_bodies(model, pos);
}

/// Move one unknown by a scaled step.
pub(super) fn move_one<S: Real>(
    model: &Model<S>,
    unknowns: &Unknowns,
    j: usize,
    step: S,
    length: f64,
    pos: &mut Positions<S>,
) {
    let Some(&c) = unknowns.coords.get(j) else {
        let k = j - unknowns.coords.len();
        if let Some(motion) = unknowns.platform.get(k) {
            return motion.advance(step, length, &mut pos.X_WE);
        }
        let turn = &mut pos.joints[unknowns.slipping[k - unknowns.platform.len()]].turn;
        *turn = turn.advance(step);
        return;
    };
    let joint = &mut pos.joints[c];
    let coord = &model.topology().coords[c];
    if unknowns.slipping.contains(&c) {
        joint.value += step;
    } else if coord.slides {
        joint.value += step * S::lit(length);
    } else if coord.counted {
        joint.value += step;
        joint.turn = Turn::of(joint.value);
    } else {
        joint.turn = joint.turn.advance(step);
    }
}

/// Whether every loop closes, joints that are turned round included.
pub fn closes(model: &Model<f64>, pos: &Positions<f64>) -> bool {
    let (m, rad) = gap(model, pos);
    m < 1e-9 * model.size().max(1.0) && rad < 1e-9
}

/// A closed posture and a few closed ones near it: one of them may be singular, all are not.
pub fn postures_near(model: &Model<f64>, home: &Positions<f64>) -> Vec<Positions<f64>> {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut list = vec![home.clone()];
    for _ in 0..4 {
        let mut pos = home.clone();
        for (c, coord) in model.topology().coords.iter() {
            let scale = if coord.slides { 0.1 * model.size() } else { 0.1 };
            let at = if coord.slides { pos.joints[c].value } else { pos.joints[c].turn.angle() };
            pos.joints[c] = JointPosition::of(at + scale * random.random_range(-1.0..1.0));
        }
        let outcome = assemble(model, &Unknowns::all(model), &mut pos);
        if outcome.residual <= CLOSED && closes(model, &pos) {
            list.push(pos);
        }
    }
    list
}

/// The pivot order of the closures at a closed posture.
pub fn pivot_order(model: &Model<f64>, unknowns: &Unknowns, pos: &Positions<f64>) -> PivotOrder {
    let mut a = Dense::zeros(row_count(model, unknowns), unknowns.len() + 1);
    jacobian(model, unknowns, model.length(), pos, &mut a);
    PivotOrder::of(&a, unknowns.len(), crate::linalg::RANK_TOLERANCE)
}

/// Closure rows that give the rates of a leg at a posture: passive joints are eliminated first, then active ones.
pub fn leg_pivots(model: &Model<f64>, id: LegId, pos: &Positions<f64>) -> LegPivots {
    leg_pivots_in(model, id, pos, false)
}

/// An order of elimination for a posture with long lever arms: rows are compared by their largest entries, so that an arm of a
/// thousand lengths does not hide the rows beside it, and of rows alike the one that says least about the drives goes first.
pub fn leg_pivots_by_row(model: &Model<f64>, id: LegId, pos: &Positions<f64>) -> LegPivots {
    leg_pivots_in(model, id, pos, true)
}

fn leg_pivots_in(model: &Model<f64>, id: LegId, pos: &Positions<f64>, by_row: bool) -> LegPivots {
    let topology = model.topology();
    let leg = &topology.legs[id];
    let coords: Vec<CoordId> = leg.coords.iter().collect();
    let unknowns = Unknowns::of_leg(model, id, &coords);
    let mut a = Dense::zeros(row_count(model, &unknowns), coords.len() + 1);
    jacobian(model, &unknowns, model.length(), pos, &mut a);
    let of_kind = |kind: CoordKind| -> Vec<usize> {
        let open = |c: &CoordId| topology.plan.given.contains(c) || topology.is_held(*c);
        let is = |c: &CoordId| topology.coords[*c].kind == kind && !open(c);
        (0..coords.len()).filter(|j| is(&coords[*j])).collect()
    };
    let (passive, active) = (of_kind(CoordKind::Passive), of_kind(CoordKind::Active));
    for row in a.data.chunks_exact_mut(coords.len() + 1).filter(|_| by_row) {
        let most = row.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        let driven = active.iter().fold(0.0_f64, |most, j| most.max(row[*j].abs())) / most;
        row.iter_mut().for_each(|x| *x /= most * (1.0 + driven.sqrt()));
    }
    let order = PivotOrder::staged(&a, &[&passive, &active], crate::linalg::RANK_TOLERANCE);
    // Rows of the matrix by closure and row of the closure.
    let names: Vec<(usize, usize)> = leg
        .closures
        .iter()
        .enumerate()
        .flat_map(|(k, c)| (0..topology.closures[c].joint.rows()).map(move |row| (k, row)))
        .collect();
    let solved = order.cols.iter().filter(|c| passive.contains(c)).count();
    let rows: Vec<(usize, usize)> = order.rows.iter().map(|r| names[*r]).collect();
    let scale = |(row, col): (&(usize, usize), &usize)| {
        let closure = leg.closures.iter().nth(row.0).map(|c| topology.closures[c].joint);
        let is_length = closure.is_some_and(|joint| row_kind(joint, row.1).is_length());
        let slides = topology.coords[coords[*col]].slides;
        (if is_length { 1.0 / model.length() } else { 1.0 }) * (if slides { model.length() } else { 1.0 })
    };
    let scales = rows.iter().zip(&order.cols).map(scale).collect();
    LegPivots::new(rows, order.cols, scales, solved, coords.len(), leg.closures.len())
}

/// Smallest pivot of a leg's closure rows in an order, lengths scaled; zero when the order does not fit the leg.
pub fn smallest_pivot(model: &Model<f64>, id: LegId, pivots: &LegPivots, pos: &Positions<f64>) -> f64 {
    let topology = model.topology();
    let leg = &topology.legs[id];
    let coords: Vec<CoordId> = leg.coords.iter().collect();
    let rows_before =
        |c: usize| -> usize { leg.closures.iter().take(c).map(|k| topology.closures[k].joint.rows()).sum() };
    let fits = pivots.by_closure.len() == leg.closures.len()
        && pivots.place.len() == coords.len()
        && leg
            .closures
            .iter()
            .zip(&pivots.by_closure)
            .all(|(c, rows)| rows.iter().all(|r| r.1 < topology.closures[c].joint.rows()));
    if !fits {
        return 0.0;
    }
    let unknowns = Unknowns::of_leg(model, id, &coords);
    let mut a = Dense::zeros(row_count(model, &unknowns), coords.len() + 1);
    jacobian(model, &unknowns, model.length(), pos, &mut a);
    let n = pivots.cols.len();
    let row = |i: usize| rows_before(pivots.rows[i].0) + pivots.rows[i].1;
    let mut square: Vec<f64> = (0..n * n).map(|k| a.at(row(k / n), pivots.cols[k % n])).collect();
    crate::linalg::small::lu(&mut square, n);
    let pivot = |i: usize| square[i * n + i].recip().abs();
    (0..n).map(pivot).fold(f64::INFINITY, |m, x| if x.is_finite() { m.min(x) } else { 0.0 })
}

/// Whether any closure of the robot touches the platform.
pub fn platform_is_attached(model: &Model<f64>) -> bool {
    let touches = |n: &Node| *n == Node::Platform;
    let on_it = model.topology().bodies.values().any(|b| touches(&b.parent));
    on_it || model.topology().closures.values().any(|c| c.sides.iter().any(touches))
}
