//! Singularities at a posture: which, of which leg, along which motion or wrench, and how far away, section 7.5.
//!
//! Every kind is the loss of rank of a matrix. Its smallest singular value `σ`, lengths divided by the robot's length scale,
//! says how near; `σ / |∇σ|`, the gradient taken over the platform coordinates (an angle counts as the length it moves at
//! that scale), is the first-order distance in metres. In Type 1 the platform's distance to the limit of a leg's reach is a
//! square root in `B`, so there it is `σ²` that is followed.

use crate::description::Coordinate;
use crate::kinematics::geometry::close;
use crate::kinematics::matrices::{
    Matrices, actuation_without_units, assemble, closure_rows, plan_at, platform_order, smallest, without_units,
};
use crate::kinematics::{Positions, Posture};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::{CoordKind, CoordPlace, MatrixBlock, MatrixPlan, Model, Norm};
use crate::scalar::{Dual, Real};
use crate::spatial::{Mat3, Rotation, Twist, Wrench};

pub use crate::kinematics::{Kind, SINGULAR};

/// A first-order distance of more than this many sizes of the robot is none: no workspace is so large.
const FAR: f64 = 5.0;

/// Of a leg with one drive the wrench on the platform has length one, unless its drive moves so much less than the platform, by this
/// factor, lengths and angles compared: from there on the wrench shrinks, since it is the one that is about to vanish (the dead
/// centre of a crank), and the drive keeps its rate.
const MOST_LEVERAGE: f64 = 10.0;

/// What a singularity sets free or takes away. Motions have length one, angular velocities counted at the length scale.
#[derive(Clone, PartialEq, Debug)]
pub enum SingularDirection {
    /// The motion of the platform that the drives do not control, at its origin in world axes.
    Twist(Twist<f64>),
    /// The wrench along which the platform cannot move, at its origin in world axes.
    Wrench(Wrench<f64>),
    /// Rates of the joints that move by themselves.
    Joints(Vec<(String, f64)>),
}

/// One kind of singularity at a posture.
#[derive(Clone, PartialEq, Debug)]
pub struct Singularity {
    /// Which.
    pub kind: Kind,
    /// The leg, where it is one leg's.
    pub leg: Option<String>,
    /// Smallest singular value, lengths divided by the length scale.
    pub sigma: f64,
    /// Whether the posture is singular.
    pub singular: bool,
    /// First-order distance of the platform to the singularity, in metres at the length scale; infinite when no motion of
    /// the platform comes nearer, when it would be larger than any workspace of the robot, and at a Type 1 singularity, where
    /// slopes do not exist.
    pub distance: f64,
    /// Direction, over the independent platform components, in which `σ` grows fastest.
    pub gradient: Vec<f64>,
    /// What it sets free or takes away.
    pub along: SingularDirection,
}

/// All kinds at a posture.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The length scale, in metres.
    pub length: f64,
    /// One entry per kind and leg, nearest first.
    pub list: Vec<Singularity>,
    /// Kinds that are not defined here, because passive joints of a leg move by themselves.
    pub undefined: Vec<Kind>,
}

impl Report {
    /// The nearest of a kind.
    pub fn nearest(&self, kind: Kind) -> Option<&Singularity> {
        self.list.iter().filter(|s| s.kind == kind).min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// Whether any kind is singular.
    pub fn is_singular(&self) -> bool {
        self.list.iter().any(|s| s.singular)
    }
}

/// A matrix whose loss of rank is a singularity, scaled.
struct Indicator<S: Real> {
    kind: Kind,
    /// Block of legs, where it is one block's.
    block: Option<usize>,
    M: Dense<S>,
    /// Which singular value vanishes, counted from the largest.
    rank: usize,
}

/// What is singular at a posture, or how far from it.
pub fn singularities(model: &Model<f64>, posture: &Posture) -> Report {
    let monitor = Monitor::new(model, posture.positions());
    let indicators = monitor.indicators(model, posture.positions());
    let slopes = monitor.slopes(model, posture);
    let mut list: Vec<Singularity> =
        indicators.iter().enumerate().map(|(i, it)| monitor.measure(model, it, |k| &slopes[k][i].M)).collect();
    // Where a leg is stretched its joints turn infinitely fast with the platform: nothing can be said of first order.
    if list.iter().any(|s| s.kind == Kind::Type1 && s.singular) {
        list.iter_mut().filter(|s| !s.singular).for_each(|s| s.distance = f64::INFINITY);
    }
    add_type_3(&mut list);
    list.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.sigma.total_cmp(&b.sigma)));
    Report { length: model.length(), list, undefined: monitor.undefined() }
}

/// The wrenches of the drives on the platform, without what the legs bear anyway; `None` where they are not defined.
pub fn actuation_wrenches(model: &Model<f64>, posture: &Posture) -> Option<Vec<Wrench<f64>>> {
    let monitor = Monitor::new(model, posture.positions());
    let row = |i: usize| {
        let mut w = [0.0; 6];
        for (j, c) in model.topology().platform.independent.iter().enumerate() {
            w[c.index()] = monitor.m.A_r.at(i, j);
        }
        Wrench::from_array(w)
    };
    (!monitor.loose && monitor.vanished.is_empty()).then(|| (0..monitor.m.A_r.rows).map(row).collect())
}

/// Smallest singular value of a kind at a posture, over the legs; `None` where the robot has no such kind, or it is not
/// defined.
pub fn sigma(model: &Model<f64>, pos: &Positions<f64>, kind: Kind) -> Option<f64> {
    let monitor = Monitor::new(model, pos);
    let of_kind = monitor.indicators(model, pos).into_iter().filter(|i| i.kind == kind);
    of_kind.map(|i| smallest_singular(&i)).min_by(f64::total_cmp)
}

fn smallest_singular(indicator: &Indicator<f64>) -> f64 {
    svd(&matrix(indicator)).s.get(indicator.rank - 1).copied().unwrap_or(0.0)
}

/// The matrix of an indicator, with rows of zeros where it has fewer than its rank: too few drives hold nothing there.
fn matrix(indicator: &Indicator<f64>) -> Matrix {
    let (M, rank) = (&indicator.M, indicator.rank);
    Matrix::from_fn(M.rows.max(rank), M.cols.max(rank), |i, j| if i < M.rows && j < M.cols { M.at(i, j) } else { 0.0 })
}

/// A Type 1 and a Type 2 singularity at once.
fn add_type_3(list: &mut Vec<Singularity>) {
    let worst = |kind: Kind| list.iter().find(|s| s.kind == kind && s.singular);
    if let (Some(first), Some(second)) = (worst(Kind::Type1), worst(Kind::Type2)) {
        let both = Singularity { kind: Kind::Type3, leg: first.leg.clone(), ..second.clone() };
        list.push(both);
    }
}

/// The plan in which a posture is looked at.
struct Monitor {
    plan: MatrixPlan,
    m: Matrices<f64>,
    /// Passive joints of some leg move by themselves: the matrices that eliminate them do not exist.
    loose: bool,
    /// Rows of A_r, of legs with one drive, that are zero and have no length one: the drive does nothing to the platform.
    vanished: Vec<usize>,
}

impl Monitor {
    fn new(model: &Model<f64>, pos: &Positions<f64>) -> Self {
        let mut planned = model.topology().plan.matrices.clone();
        let mut m = Matrices::new(model, &planned);
        assemble(model, &planned, pos, None, &mut m);
        let passive: usize = planned.blocks.iter().map(|b| b.passive).sum();
        if smallest(&m.pivots[..passive]) > 1e-3 && smallest(&m.drive_pivots) > 1e-3 {
            let order = platform_order(model, &m);
            if order.rows.len() == planned.platform.rows.len() {
                planned.platform = order;
                assemble(model, &planned, pos, None, &mut m);
            }
            return Self::with(planned, m, false);
        }
        let plan = plan_at(model, pos);
        let loose = plan.passive.len() < planned.passive.len();
        let same = plan.blocks.iter().zip(&planned.blocks).all(|(a, b)| a.active == b.active);
        let plan = if same && !loose { plan } else { planned };
        let mut m = Matrices::new(model, &plan);
        assemble(model, &plan, pos, None, &mut m);
        Self::with(plan, m, loose)
    }

    fn with(plan: MatrixPlan, mut m: Matrices<f64>, loose: bool) -> Self {
        // Constraints that leave a component open are no matter of one row.
        let whole = !loose && m.Psi_t.data.iter().all(|x| x.is_finite());
        let vanished: Vec<usize> = single_drives(&plan).filter(|i| whole && !is_finite(&m.A_r, *i)).collect();
        for i in &vanished {
            (0..m.A_r.cols).for_each(|j| *m.A_r.at_mut(*i, j) = 0.0);
        }
        Self { plan, m, loose, vanished }
    }

    /// Whether A_r exists: neither do passive joints move by themselves, nor do constraints leave a component open.
    fn is_defined(&self) -> bool {
        let told = |i: usize| self.vanished.contains(&i) || (is_finite(&self.m.A_r, i) && is_finite(&self.m.B, i));
        !self.loose && (0..self.m.A_r.rows).all(told)
    }

    fn undefined(&self) -> Vec<Kind> {
        if !self.loose && !self.is_defined() {
            return vec![Kind::Type1, Kind::Type2];
        }
        if self.loose { vec![Kind::Type1, Kind::Type2, Kind::Constraint] } else { Vec::new() }
    }

    /// The matrices at a posture in any scalar.
    fn indicators<S: Real>(&self, model: &Model<S>, pos: &Positions<S>) -> Vec<Indicator<S>> {
        let mut list = Vec::new();
        for (b, block) in self.plan.blocks.iter().enumerate() {
            let rows = closure_rows(model, &block.legs, pos);
            let columns = |kind: CoordKind| -> Vec<usize> {
                let idle = |j: usize| block.place.get(j) == Some(&CoordPlace::Idle);
                let is = |j: &usize| model.topology().coords[block.coords[*j]].kind == kind && !idle(*j);
                (0..block.coords.len()).filter(is).collect()
            };
            // What the pose leaves open anyway is no loss of rank.
            let open = block.coords.iter().filter(|c| model.topology().plan.given.contains(c)).count();
            let joints = columns(CoordKind::Active).len() + columns(CoordKind::Passive).len();
            let closed = joints.saturating_sub(open);
            for (kind, columns) in
                [(Kind::Lpjts, columns(CoordKind::Passive)), (Kind::Lajts, columns(CoordKind::Active))]
            {
                // A single active joint always moves its leg.
                if columns.is_empty() || (kind == Kind::Lajts && columns.len() < 2) {
                    continue;
                }
                let M = pick(&rows, &columns);
                list.push(Indicator { kind, block: Some(b), rank: columns.len().min(closed), M });
            }
        }
        if self.loose {
            return list;
        }
        let mut m = Matrices::new(model, &self.plan);
        assemble(model, &self.plan, pos, None, &mut m);
        if self.is_defined() {
            let mut A_r = actuation_without_units(model, &self.plan, &m);
            self.type_1(model, &m, &mut A_r, &mut list);
            list.push(Indicator { kind: Kind::Type2, block: None, rank: A_r.cols, M: A_r });
        }
        if self.plan.dependent > 0 {
            let norms: Vec<Norm> = self.plan.blocks.iter().flat_map(|b| b.norms[b.active..].to_vec()).collect();
            let W_c = without_units(&m.W_c, &norms, |j| j >= 3, model.length());
            list.push(Indicator { kind: Kind::Constraint, block: None, rank: self.plan.dependent, M: W_c });
        }
        list
    }

    /// B leg by leg; rows of A_r that vanish beside theirs shrink.
    fn type_1<S: Real>(&self, model: &Model<S>, m: &Matrices<S>, A_r: &mut Dense<S>, list: &mut Vec<Indicator<S>>) {
        let mut first = 0;
        for (b, block) in self.plan.blocks.iter().enumerate() {
            let rows = first..first + block.active;
            first += block.active;
            let columns = active_columns(block);
            if rows.is_empty() {
                continue;
            }
            let mut M = Dense::zeros(rows.len(), columns.len());
            for (i, row) in rows.clone().enumerate() {
                for (k, (j, column)) in columns.iter().enumerate() {
                    let slides = model.topology().coords[block.coords[*j]].slides;
                    let scale = match (block.norms[i], slides) {
                        (Norm::Force | Norm::Both(_), false) => 1.0 / model.length(),
                        (Norm::Moment, true) => model.length(),
                        _ => 1.0,
                    };
                    *M.at_mut(i, k) = m.B.at(row, *column) * S::lit(scale);
                }
            }
            if block.active == 1 {
                self.shrink(rows.start, &mut M, A_r);
            }
            list.push(Indicator { kind: Kind::Type1, block: Some(b), rank: M.rows.min(M.cols), M });
        }
    }

    /// See [`MOST_LEVERAGE`]; `M` is the row of B of a drive, both without units.
    fn shrink<S: Real>(&self, row: usize, M: &mut Dense<S>, A_r: &mut Dense<S>) {
        if self.vanished.contains(&row) {
            (0..A_r.cols).for_each(|j| *A_r.at_mut(row, j) = S::zero());
            (0..M.cols).for_each(|k| *M.at_mut(0, k) = S::lit(if k == 0 { MOST_LEVERAGE } else { 0.0 }));
            return;
        }
        let most = S::lit(MOST_LEVERAGE);
        let square = (0..M.cols).fold(S::zero(), |sum, k| sum + M.at(0, k).squared());
        let share = (most.squared() - square).where_nonneg(S::one(), most * square.sqrt().recip());
        (0..A_r.cols).for_each(|j| *A_r.at_mut(row, j) *= share);
        (0..M.cols).for_each(|k| *M.at_mut(0, k) *= share);
    }

    /// Derivatives of the matrices by the platform's independent components, a metre or a radian over the length each.
    fn slopes(&self, model: &Model<f64>, posture: &Posture) -> Vec<Vec<Indicator<Dual>>> {
        let dual: Model<Dual> = model.cast();
        let independent = &model.topology().platform.independent;
        let motion = |k: usize| {
            let unit = if independent[k].is_angle() { 1.0 / model.length() } else { 1.0 };
            let column: [f64; 6] = std::array::from_fn(|i| self.m.Psi_t.at(i, k) * unit);
            let whole = column.iter().all(|x| x.is_finite()) && model.topology().platform.tool.is_none();
            let own = |i: usize| if i == independent[k].index() { unit } else { 0.0 };
            Twist::from_array(std::array::from_fn(|i| if whole { column[i] } else { own(i) }))
        };
        (0..independent.len())
            .map(|k| {
                let V = motion(k);
                let mut pos = Positions::seeded(&dual, posture.positions());
                let X = posture.pose();
                let w = V.w;
                let turn = Mat3::new(0.0, -w.z, w.y, w.z, 0.0, -w.x, -w.y, w.x, 0.0) * X.R.0;
                pos.X_WE.R = Rotation(X.R.0.zip_map(&turn, Dual::new));
                pos.X_WE.p = X.p.zip_map(&V.v, Dual::new);
                close(&dual, posture.mode(), 1, &mut pos);
                self.indicators(&dual, &pos)
            })
            .collect()
    }

    /// Singular value, distance and direction of an indicator; `slope(k)` is its derivative by component `k`.
    fn measure<'a>(
        &self,
        model: &Model<f64>,
        indicator: &Indicator<f64>,
        slope: impl Fn(usize) -> &'a Dense<Dual>,
    ) -> Singularity {
        let f = svd(&matrix(indicator));
        let i = indicator.rank - 1;
        let sigma = f.s.get(i).copied().unwrap_or(0.0);
        let (rows, cols) = (indicator.M.rows, indicator.M.cols);
        let gradient: Vec<f64> = (0..model.topology().platform.independent.len())
            .map(|k| {
                let d = slope(k);
                let entry = |r: usize, c: usize| f.u[(r, i)] * d.at(r, c).eps * f.v[(c, i)];
                let slope = (0..rows).map(|r| (0..cols).map(|c| entry(r, c)).sum::<f64>()).sum::<f64>();
                if slope.is_finite() { slope } else { 0.0 }
            })
            .collect();
        let steep = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let order = if indicator.kind == Kind::Type1 { 2.0 } else { 1.0 };
        let singular = sigma < SINGULAR;
        let distance = match sigma / (order * steep) {
            _ if singular => 0.0,
            d if d < FAR * model.size() => d,
            _ => f64::INFINITY,
        };
        let left: Vec<f64> = (0..rows).map(|r| f.u[(r, i)]).collect();
        let right: Vec<f64> = (0..cols).map(|c| f.v[(c, i)]).collect();
        let leg = indicator.block.map(|b| {
            let names: Vec<&str> =
                self.plan.blocks[b].legs.iter().map(|l| model.topology().legs[*l].name.as_str()).collect();
            names.join(", ")
        });
        let along = self.along(model, indicator, &left, &right);
        Singularity { kind: indicator.kind, leg, sigma, singular, distance, gradient, along }
    }

    /// What the singular vectors mean.
    fn along(&self, model: &Model<f64>, indicator: &Indicator<f64>, left: &[f64], right: &[f64]) -> SingularDirection {
        let length = model.length();
        let block = indicator.block.map(|b| &self.plan.blocks[b]);
        match (indicator.kind, block) {
            (Kind::Lpjts | Kind::Lajts, Some(block)) => {
                let kind = if indicator.kind == Kind::Lpjts { CoordKind::Passive } else { CoordKind::Active };
                let coords = &model.topology().coords;
                let idle = |j: usize| block.place.get(j) == Some(&CoordPlace::Idle);
                let own = block.coords.iter().enumerate().filter(|(j, c)| coords[**c].kind == kind && !idle(*j));
                let joints = own.zip(right).map(|((_, c), x)| {
                    let coord = &coords[*c];
                    (coord.name.clone(), if coord.slides { x * length } else { *x })
                });
                SingularDirection::Joints(joints.collect())
            }
            (Kind::Type1, Some(block)) => {
                let first: usize =
                    self.plan.blocks.iter().take_while(|b| !std::ptr::eq(*b, block)).map(|b| b.active).sum();
                // Of the wrenches that differ by what the legs bear anyway, the one without dependent components.
                let mut w = [0.0; 6];
                for (j, c) in model.topology().platform.independent.iter().enumerate() {
                    w[c.index()] = left.iter().enumerate().map(|(i, u)| u * self.m.A_r.at(first + i, j)).sum();
                }
                SingularDirection::Wrench(Wrench::from_array(w))
            }
            (Kind::Constraint, _) => SingularDirection::Twist(sized(std::array::from_fn(|i| right[i]), length)),
            _ => {
                let independent = &model.topology().platform.independent;
                let size = |c: &Coordinate| if c.is_angle() { 1.0 / length } else { 1.0 };
                let t_r: Vec<f64> = independent.iter().zip(right).map(|(c, x)| x * size(c)).collect();
                let t_p = self.m.Psi_t.apply(&t_r);
                SingularDirection::Twist(Twist::from_array(std::array::from_fn(|i| t_p[i])))
            }
        }
    }
}

/// A twist from components in which angular velocities are scaled by the length.
fn sized(t: [f64; 6], length: f64) -> Twist<f64> {
    Twist::from_array(std::array::from_fn(|i| if i < 3 { t[i] } else { t[i] / length }))
}

/// Whether a row has numbers only.
fn is_finite(M: &Dense<f64>, i: usize) -> bool {
    (0..M.cols).all(|j| M.at(i, j).is_finite())
}

/// Rows of A_r of legs with one drive.
fn single_drives(plan: &MatrixPlan) -> impl Iterator<Item = usize> {
    let firsts = plan.blocks.iter().scan(0, |first, block| {
        *first += block.active;
        Some((*first - block.active, block.active))
    });
    firsts.filter(|(_, active)| *active == 1).map(|(row, _)| row)
}

/// Columns of the block that are active, and their columns in B.
fn active_columns(block: &MatrixBlock) -> Vec<(usize, usize)> {
    let active = |(j, place): (usize, &CoordPlace)| match place {
        CoordPlace::Active(column) => Some((j, *column)),
        _ => None,
    };
    block.place.iter().enumerate().filter_map(active).collect()
}

fn pick<S: Real>(a: &Dense<S>, columns: &[usize]) -> Dense<S> {
    let mut out = Dense::zeros(a.rows, columns.len());
    for i in 0..a.rows {
        columns.iter().enumerate().for_each(|(k, j)| *out.at_mut(i, k) = a.at(i, *j));
    }
    out
}
