//! Branches by continuation: the posture of a robot without closed form next to a given one, along a path of the platform.
//!
//! Newton's method from random starts finds postures, but not *which* posture: at the next pose another one may come first.
//! So a branch is a place: a closed posture that is led along a path, in steps that are accepted only when Newton's method
//! converges from the last posture as theory says it must: the first step is short, the second is a small part of the first
//! (the test of Kantorovich with measured numbers), and the determinant of the closures keeps its sign. A step that does not
//! is halved; one that cannot be halved any more ends at a singularity, which is told with its place.

use super::chart::PoseChart;
use super::error::SolveError;
use super::geometry::solve_one_leg;
use super::inverse::leg_reaches;
use super::newton::{self, Unknowns, jacobian, move_one, row_count};
use super::positions::{JointPosition, Positions, pose_bodies, pose_leg};
use crate::linalg::small::{Dense, PivotOrder, lu, lu_solve};
use crate::model::{CoordId, LegId, Model};
use crate::spatial::Pose;
use crate::spatial::orientation::{from_axis_angle, to_axis_angle};

/// Longest first step of Newton's method that is accepted, in radians and length scales.
const LONGEST: f64 = 0.25;
/// The second step of Newton's method is at most this part of the first.
const CONTRACTION: f64 = 0.2;
/// Below this a step is rounding.
const SETTLED: f64 = 1e-12;
/// Shortest part of a path; where it is not accepted the branch ends.
const SHORTEST: f64 = 1e-7;
/// Most parts of a path that are tried.
const MOST_TRIES: usize = 20_000;
/// Pivots that fell to this part of what they were when their order was chosen ask for a new order.
const POOR_PIVOTS: f64 = 1e-2;

/// Legs without closed form that are led together, with the legs they hang on; or the whole robot, when coordinates of the
/// platform follow.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Strand {
    /// All joints, and the coordinates of the platform that follow.
    Whole,
    /// Legs that hang on each other, in the order of solving.
    Legs(Vec<LegId>),
}

/// What has to be led from posture to posture: nothing, for robots in closed form.
pub(super) fn strands(model: &Model<f64>) -> Vec<Strand> {
    let topology = model.topology();
    if topology.plan.solve_platform {
        return vec![Strand::Whole];
    }
    let mut groups: Vec<Vec<LegId>> = topology.legs.ids().map(|leg| vec![leg]).collect();
    for leg in topology.legs.ids() {
        for b in &topology.legs[leg].outside {
            let other = topology.bodies[*b].leg;
            let of = |l: LegId| groups.iter().position(|g| g.contains(&l));
            if let (Some(i), Some(j)) = (of(leg), of(other))
                && i != j
            {
                let moved = groups.remove(i.max(j));
                groups[i.min(j)].extend(moved);
            }
        }
    }
    let searched = |group: &Vec<LegId>| group.iter().any(|leg| topology.plan.newton_block(*leg).is_some());
    let in_order = |group: Vec<LegId>| topology.order.iter().copied().filter(|l| group.contains(l)).collect();
    groups.into_iter().filter(searched).map(|g| Strand::Legs(in_order(g))).collect()
}

/// A path of the platform: straight in the coordinates of its chart; a spatial platform turns about one axis.
struct PlatformPath {
    chart: PoseChart,
    from: Pose<f64>,
    /// Where coordinates start and by how much they change; only those the path gives.
    coordinates: Vec<(crate::description::Coordinate, f64, f64)>,
    /// Axis and angle of a spatial platform.
    turn: Option<(crate::spatial::Vec3<f64>, f64)>,
    /// Joints that the pose leaves open: where they start and by how much they change.
    given: Vec<(CoordId, f64, f64)>,
}

impl PlatformPath {
    fn new(model: &Model<f64>, pos: &Positions<f64>, to: &Pose<f64>, given: &[(CoordId, f64)]) -> Self {
        let chart = PoseChart::of(model);
        let platform = &model.topology().platform;
        let a = chart.coordinates(&pos.X_WE);
        let from: Vec<_> = platform.independent.iter().map(|c| (*c, a[c.index()])).collect();
        let b = chart.coordinates_near(to, &from);
        let spatial = platform.coordinates == crate::description::Coordinates::Spatial;
        let along = platform.independent.iter().filter(|c| !(spatial && c.is_angle()));
        let change = |k: usize| {
            let d = b[k] - a[k];
            if k < 3 { d } else { crate::spatial::orientation::wrap(d) }
        };
        let open = given.iter().map(|(c, q)| {
            let start = pos.q(model.topology(), *c);
            let coord = &model.topology().coords[*c];
            let d = q - start;
            (*c, start, if coord.slides || coord.counted { d } else { crate::spatial::orientation::wrap(d) })
        });
        Self {
            chart,
            from: pos.X_WE,
            coordinates: along.map(|c| (*c, a[c.index()], change(c.index()))).collect(),
            turn: spatial.then(|| to_axis_angle(&(to.R * pos.X_WE.R.inverse()))),
            given: open.collect(),
        }
    }

    /// Put platform and open joints where the path is at `s`; coordinates that follow stay.
    fn set(&self, s: f64, pos: &mut Positions<f64>) {
        let at: Vec<_> = self.coordinates.iter().map(|(c, x, d)| (*c, x + s * d)).collect();
        pos.X_WE = self.chart.pose_along(&pos.X_WE, &at);
        if let Some((axis, angle)) = self.turn {
            pos.X_WE.R = from_axis_angle(axis, s * angle) * self.from.R;
        }
        for (c, q, d) in &self.given {
            pos.joints[*c] = JointPosition::of(q + s * d);
        }
    }
}

/// Newton's method on a few joints in a fixed order of pivots, and what it tells about the branch.
struct Corrector {
    /// The leg, when it is one.
    leg: Option<LegId>,
    unknowns: Unknowns,
    order: PivotOrder,
    a: Dense<f64>,
    square: Vec<f64>,
    rhs: Vec<f64>,
    /// Sign of the determinant on this branch, in the present order.
    sign: f64,
    /// Smallest pivot when the order was chosen.
    least: f64,
}

impl Corrector {
    fn new(
        model: &Model<f64>,
        leg: Option<LegId>,
        unknowns: Unknowns,
        rank: usize,
        pos: &Positions<f64>,
    ) -> Option<Self> {
        let columns = unknowns.coords.len() + unknowns.platform.len();
        let a = Dense::zeros(row_count(model, &unknowns), columns + 1);
        let mut own = Self {
            leg,
            unknowns,
            order: PivotOrder::default(),
            a,
            square: vec![0.0; rank * rank],
            rhs: vec![0.0; rank],
            sign: 0.0,
            least: 0.0,
        };
        own.choose(model, rank, pos).then_some(own)
    }

    /// Choose the order of pivots at a closed posture; whether it has the rank of the plan.
    fn choose(&mut self, model: &Model<f64>, rank: usize, pos: &Positions<f64>) -> bool {
        jacobian(model, &self.unknowns, model.length(), pos, &mut self.a);
        self.order = PivotOrder::of(&self.a, self.a.cols - 1, 1e-9);
        if self.order.rows.len() != rank {
            return false;
        }
        (self.sign, self.least) = self.factor();
        self.sign != 0.0
    }

    /// Factor the pivot rows and columns of the Jacobian in `a`: sign of the determinant, and the smallest pivot.
    fn factor(&mut self) -> (f64, f64) {
        let n = self.rhs.len();
        for (i, &row) in self.order.rows.iter().enumerate() {
            for (j, &col) in self.order.cols.iter().enumerate() {
                self.square[i * n + j] = self.a.at(row, col);
            }
            self.rhs[i] = -self.a.at(row, self.a.cols - 1);
        }
        lu(&mut self.square, n);
        let (mut sign, mut least) = (1.0_f64, f64::INFINITY);
        for i in 0..n {
            let pivot = self.square[i * n + i].recip();
            sign *= if pivot.is_finite() { pivot.signum() } else { 0.0 };
            least = if pivot.is_finite() { least.min(pivot.abs()) } else { 0.0 };
        }
        (sign, least)
    }

    /// One step of Newton's method; its longest component, screws that turn many times left out.
    fn step(&mut self, model: &Model<f64>, pos: &mut Positions<f64>) -> (f64, f64, f64) {
        jacobian(model, &self.unknowns, model.length(), pos, &mut self.a);
        let (sign, least) = self.factor();
        let n = self.rhs.len();
        lu_solve(&self.square, n, &mut self.rhs);
        let mut longest = 0.0_f64;
        for (k, &j) in self.order.cols.iter().enumerate() {
            let counted = self.unknowns.coords.get(j).is_some_and(|c| model.topology().coords[*c].counted);
            longest = if counted || self.rhs[k].abs() <= longest { longest } else { self.rhs[k].abs() };
            if !self.rhs[k].is_finite() {
                longest = f64::INFINITY;
            }
        }
        if longest <= 10.0 {
            for (k, &j) in self.order.cols.iter().enumerate() {
                move_one(model, &self.unknowns, j, self.rhs[k], model.length(), pos);
            }
            match self.leg {
                Some(leg) => pose_leg(model, leg, pos),
                None => pose_bodies(model, pos),
            }
        }
        (longest, sign, least)
    }

    /// Close the loops from the last posture; whether the solution is certainly the next one of the branch.
    fn correct(&mut self, model: &Model<f64>, pos: &mut Positions<f64>) -> bool {
        let (first, ..) = self.step(model, pos);
        if !(first <= LONGEST) {
            return false;
        }
        let mut last = first;
        for k in 0..8 {
            let (size, sign, least) = self.step(model, pos);
            if k == 0 && !(size <= CONTRACTION * first || size < 1e-8) {
                return false;
            }
            if size < SETTLED || (size < 1e-9 && size >= 0.5 * last) {
                let poor = least < POOR_PIVOTS * self.least;
                let rank = self.rhs.len();
                return sign == self.sign && (!poor || self.choose(model, rank, pos));
            }
            last = size;
        }
        false
    }
}

/// Lead the closed posture in `pos` to another pose of the platform and other values of the joints that the pose leaves
/// open. `signs` are those of the legs in closed form that the strand hangs on.
pub(super) fn lead(
    model: &Model<f64>,
    strand: &Strand,
    signs: &[f64],
    to: &Pose<f64>,
    given: &[(CoordId, f64)],
    pos: &mut Positions<f64>,
) -> Result<(), SolveError> {
    pos.leave_lanes();
    let path = PlatformPath::new(model, pos, to, given);
    pose_bodies(model, pos);
    let cut_off = |s: f64, pos: &Positions<f64>| {
        let leg =
            if let Strand::Legs(legs) = strand { Some(model.topology().legs[legs[0]].name.clone()) } else { None };
        let all = PoseChart::of(model).coordinates(&pos.X_WE);
        let at = model.topology().platform.independent.iter().map(|c| (*c, all[c.index()])).collect();
        SolveError::CutOff { leg, along: s, at }
    };
    let Some(mut correctors) = correctors(model, strand, pos) else { return Err(cut_off(0.0, pos)) };
    let (mut done, mut step, mut growth) = (0.0_f64, 1.0_f64, 2.0_f64);
    let mut before = pos.clone();
    for _ in 0..MOST_TRIES {
        let target = (done + step).min(1.0);
        path.set(target, pos);
        if advance(model, strand, signs, &mut correctors, pos) {
            if target >= 1.0 {
                return Ok(());
            }
            (done, step, growth) = (target, growth * step, 1.5);
            before.clone_from(pos);
        } else {
            pos.clone_from(&before);
            (step, growth) = (0.5 * step, 1.0);
            // Orders of pivots may have changed on the way to what was not accepted.
            correctors = self::correctors(model, strand, pos).ok_or_else(|| cut_off(done, pos))?;
        }
        if step < SHORTEST {
            break;
        }
    }
    Err(cut_off(done, pos))
}

fn correctors(model: &Model<f64>, strand: &Strand, pos: &Positions<f64>) -> Option<Vec<Corrector>> {
    let plan = &model.topology().plan;
    match strand {
        Strand::Whole => {
            let unknowns = Unknowns::inverse(model, &plan.given);
            Some(vec![Corrector::new(model, None, unknowns, plan.pivots.cols.len(), pos)?])
        }
        Strand::Legs(legs) => {
            let of = |leg: &LegId| plan.newton_block(*leg);
            let one = |block: &crate::model::BlockPlan| {
                let unknowns = Unknowns::of_leg(model, block.leg, block.newton_coords());
                Corrector::new(model, Some(block.leg), unknowns, block.pivots.cols.len(), pos)
            };
            legs.iter().filter_map(of).map(one).collect()
        }
    }
}

/// Solve for the platform in `pos` from the last posture; whether every leg is certainly on its branch.
fn advance(
    model: &Model<f64>,
    strand: &Strand,
    signs: &[f64],
    correctors: &mut [Corrector],
    pos: &mut Positions<f64>,
) -> bool {
    let Strand::Legs(legs) = strand else {
        pose_bodies(model, pos);
        return correctors.iter_mut().all(|c| c.correct(model, pos));
    };
    let topology = model.topology();
    legs.iter().all(|&leg| {
        if let Some(corrector) = correctors.iter_mut().find(|c| c.leg == Some(leg)) {
            pose_leg(model, leg, pos);
            return corrector.correct(model, pos);
        }
        solve_one_leg(model, leg, &signs[topology.legs[leg].roots.clone()], pos);
        leg_reaches(model, leg, pos, 1e-9 * model.size()).is_ok()
    })
}

/// Why a pose that a path does not lead to has no posture at all, if so: how far the loops stay open at best.
pub(super) fn out_of_reach(
    model: &Model<f64>,
    strand: &Strand,
    to: &Pose<f64>,
    pos: &Positions<f64>,
) -> Option<SolveError> {
    let mut trial = pos.clone();
    let topology = model.topology();
    let chart = PoseChart::of(model);
    let asked = chart.coordinates(to);
    let given: Vec<_> = topology.platform.independent.iter().map(|c| (*c, asked[c.index()])).collect();
    trial.X_WE = if *strand == Strand::Whole { chart.pose_with(&pos.X_WE, &given) } else { *to };
    let (leg, unknowns) = match strand {
        Strand::Whole => (None, Unknowns::inverse(model, &topology.plan.given)),
        Strand::Legs(legs) => {
            let block = legs.iter().find_map(|l| topology.plan.newton_block(*l))?;
            (Some(block.leg), Unknowns::of_leg(model, block.leg, block.newton_coords()))
        }
    };
    let left = newton::assemble(model, &unknowns, &mut trial).residual * model.length();
    let name = leg.map_or_else(|| topology.name.clone(), |l| topology.legs[l].name.clone());
    (left > 1e-9 * model.size()).then_some(SolveError::OutOfReach { leg: name, by: left })
}
