//! A model as a graph that is run in memory: the quick stages of optimisation alone, and beside its numbers what must hold for
//! them.

use super::canon::{Canon, NodeIndex, Rules};
use super::graph::{Graph, GraphNode};
use super::models::{
    Group, Inputs, Outputs, PoseNumbers, Subject, Turns, eliminated, no_closed_form, pose_by_matrix, states, turns,
};
use super::share::share;
use super::{CodegenError, ModelKind, Solve, checked, split};
use crate::Robot;
use crate::description::Coordinates;
use crate::kinematics::WorkingMode;
use crate::kinematics::platform::FARTHEST;
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::{Expr, Program, Real, trace};
use crate::spatial::{Pose, Vec3};

/// A graph to be run.
pub(crate) struct Lowered {
    pub graph: Graph,
    pub inputs: Vec<Group>,
    pub outputs: Vec<Group>,
    /// How many outputs of the graph are numbers of the model; the others must not be negative.
    pub values: usize,
    /// Denominators, and the sizes below which the answer is left to a road that chooses its pivots.
    pub least: Vec<(NodeIndex, f64)>,
}

/// What is to be run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ModelWanted {
    pub kind: ModelKind,
    pub mode: String,
    /// Friction of all joints is part of the efforts.
    pub friction: bool,
    /// The pose is given by position and rotation matrix.
    pub by_matrix: bool,
}

/// A denominator may be this much smaller than around home; the general road, which looks for better pivots, answers beyond.
const POOR: f64 = 1e-3;
/// So much smaller in direct dynamics.
const POOR_DIRECT: f64 = 3e-2;
/// Pivots of the inertia may be this much smaller than its diagonal, and that much than its trace, lengths scaled: beyond, digits are
/// lost that the general road keeps or says to be lost.
const INERTIA: [f64; 2] = [1e-3, 1e-4];
/// The forces that move the platform may be this much smaller than those that cancel.
const FORCES: f64 = 1e-2;
/// And this much smaller than the efforts.
const EFFORTS: f64 = 1e-3;
/// The acceleration times the least pivot of the inertia may be this much smaller again.
const BOTH: f64 = 1e-2;
/// A program and the general road differ by no more around home, by the largest number of an answer.
const AS_GENERAL: f64 = 1e-11;
/// Numbers of a pose that follow from others may differ by this from what they should be.
const EXACT: f64 = 1e-13;

/// The graph of a model.
pub(crate) fn lowered(robot: &Robot, mode: &WorkingMode, wanted: &ModelWanted) -> Result<Lowered, CodegenError> {
    let kind = wanted.kind;
    // Of direct dynamics the equations are asked for, and solved here: what their digits depend on is seen on the way.
    let solve = if kind == ModelKind::Ddm { Solve::Routine } else { Solve::Unrolled };
    let mut subject = Subject::new(robot, mode, Vec::new(), wanted.friction, solve, kind)?;
    let plan = &robot.model().topology().plan;
    if plan.careful || !plan.anchors.is_empty() {
        return Err(no_closed_form(robot.model()));
    }
    if wanted.by_matrix {
        subject.pose_as = PoseNumbers::Matrix;
    }
    let (inputs, outputs) = subject.signature(kind);
    let balances = if kind == ModelKind::Idm { subject.other_balances() } else { Vec::new() };
    let balanced = balances.into_iter().filter_map(|b| subject.balanced(b));
    let others: Vec<Subject<'_>> = balanced.chain(subject.by_rods(kind)).collect();
    let traced = std::iter::once(subject).chain(others).map(|subject| {
        let program = with_conditions(&subject, kind, &inputs);
        (simplified(&program), subject)
    });
    let (mut graph, subject) =
        traced.min_by_key(|(graph, _)| graph.count().operations()).expect("at least the plain balance");
    share(&mut graph, false);
    let values = outputs.iter().map(|g| g.entries.len()).sum();
    let of = |x: &[f64]| {
        let results = graph.results(x);
        graph.outputs[..values].iter().map(|v| if v.minus { -results[v.node] } else { results[v.node] }).collect()
    };
    let (_, by) = checked::vectors(&subject, kind, &inputs, of)?;
    if by > AS_GENERAL {
        return Err(CodegenError::LosesDigits { by });
    }
    // Accelerations are what large forces leave: denominators that are small already around home leave too few digits. Inertia
    // goes with their squares.
    let poor_home = (0.1 / subject.smallest_pivots[0]).max(1.0).powi(2);
    let share = if kind == ModelKind::Ddm { POOR_DIRECT * poor_home } else { POOR };
    let least = least_denominators(&graph, &subject, &inputs, share);
    Ok(Lowered { graph, inputs, outputs, values, least })
}

/// Equal expressions once, sums inside sums and products inside products opened.
fn simplified(program: &Program) -> Graph {
    Graph::new(&Canon::new(program, Rules { opens: true, ..Rules::default() }).flattened())
}

/// The numbers of a model, then what must not be negative for them.
fn with_conditions(subject: &Subject<'_>, kind: ModelKind, inputs: &[Group]) -> Program {
    let names: Vec<String> = inputs.iter().flat_map(|g| g.entries.clone()).collect();
    trace(&names, |x| {
        let given = split(inputs, x);
        let Outputs { mut values, system } = subject.evaluate(kind, &given);
        let mut digits = Vec::new();
        if let Some((M, b)) = system {
            let (x, pivots) = eliminated(&M, &b);
            digits = of_inertia(subject, &M, &pivots);
            let without_efforts = forces(subject, &resting(&given));
            let least = least_squares(subject, &given.efforts, &without_efforts);
            digits.extend(of_both(subject, &pivots, &x, least));
            digits.push(squares(subject, &b) - least);
            values = x;
        }
        let model = subject.model::<Expr>(&[]);
        let mut hold = |margin: Expr| {
            if !matches!(margin, Expr::Num(m) if m >= 0.0) {
                values.push(margin);
            }
        };
        digits.into_iter().for_each(&mut hold);
        of_posture(subject, &model, &given.pose, &mut hold);
        if subject.pose_as == PoseNumbers::Matrix {
            of_pose(subject, &model, &given.pose, &mut hold);
        } else {
            given.pose.iter().for_each(|x| hold(Expr::lit(FARTHEST * FARTHEST) - x.squared()));
        }
        values
    })
}

/// The inertia can be divided by.
fn of_inertia(subject: &Subject<'_>, M: &Dense<Expr>, pivots: &[Expr]) -> Vec<Expr> {
    let model = subject.robot.model();
    let independent = &model.topology().platform.independent;
    let scale = |k: usize| if independent[k].is_angle() { model.length().powi(2).recip() } else { 1.0 };
    let trace = (0..pivots.len()).fold(Expr::lit(0.0), |sum, k| sum + M.at(k, k) * Expr::lit(scale(k)));
    let [own, all] = INERTIA;
    let margins =
        |(k, pivot): (usize, &Expr)| [*pivot - M.at(k, k) * Expr::lit(own), *pivot - trace * Expr::lit(all / scale(k))];
    pivots.iter().enumerate().flat_map(margins).collect()
}

/// Forces that move the platform, `Jᵀτ - c`.
fn forces(subject: &Subject<'_>, given: &Inputs<Expr>) -> Vec<Expr> {
    subject.evaluate(ModelKind::Ddm, given).system.map_or_else(Vec::new, |(_, b)| b)
}

/// What cancels in forces is divided by what is left of the inertia: the poorer the one, the better the other must be.
fn of_both(subject: &Subject<'_>, pivots: &[Expr], accelerations: &[Expr], least: Expr) -> Vec<Expr> {
    let model = subject.robot.model();
    let independent = &model.topology().platform.independent;
    let length = |k: usize| if independent[k].is_angle() { model.length() } else { 1.0 };
    let square = |(k, x): (usize, &Expr)| (*x * Expr::lit(length(k))).squared();
    let moved = accelerations.iter().enumerate().map(square).fold(Expr::lit(0.0), |sum, x| sum + x);
    let least = least * Expr::lit(BOTH * BOTH);
    let by = |(k, pivot): (usize, &Expr)| (*pivot * Expr::lit(length(k).powi(-2))).squared() * moved - least;
    pivots.iter().enumerate().map(by).collect()
}

/// Length of forces on the platform squared, lengths scaled.
fn squares(subject: &Subject<'_>, f: &[Expr]) -> Expr {
    let model = subject.robot.model();
    let independent = &model.topology().platform.independent;
    let scale = |k: usize| if independent[k].is_angle() { model.length().powi(2).recip() } else { 1.0 };
    f.iter().enumerate().fold(Expr::lit(0.0), |sum, (k, f)| sum + f.squared() * Expr::lit(scale(k)))
}

/// What moves the platform is a share of what its motion and weight ask for, and of the efforts: a small difference has lost its
/// digits. The least square of it.
fn least_squares(subject: &Subject<'_>, efforts: &[Expr], without_efforts: &[Expr]) -> Expr {
    let model = subject.robot.model();
    let drives = &model.topology().active;
    let scale = |k: usize| if model.topology().coords[drives[k]].slides { 1.0 } else { model.length().recip() };
    let square = |(k, x): (usize, &Expr)| (*x * Expr::lit(EFFORTS * scale(k))).squared();
    let of_efforts = efforts.iter().enumerate().map(square).fold(Expr::lit(0.0), |sum, x| sum + x);
    squares(subject, without_efforts) * Expr::lit(FORCES * FORCES) + of_efforts
}

/// A state with no drive at work.
fn resting(given: &Inputs<Expr>) -> Inputs<Expr> {
    Inputs { efforts: given.efforts.iter().map(|_| Expr::lit(0.0)).collect(), ..given.clone() }
}

/// Every leg reaches its place, with its joints in their ranges.
fn of_posture(subject: &Subject<'_>, model: &Model<Expr>, pose: &[Expr], hold: &mut impl FnMut(Expr)) {
    let robot = subject.robot.model();
    let pos = subject.close(model, pose);
    let limit = 1e-9 * robot.size();
    pos.margins.iter().for_each(|m| hold(*m - Expr::lit(robot.least_margin())));
    pos.misses.iter().for_each(|miss| hold(Expr::lit(limit * limit) - miss.dot(miss)));
    for (c, coord) in robot.topology().coords.iter() {
        match &coord.range {
            Some(range) if coord.slides || coord.counted => {
                range.slide_margins(pos.joints[c].value).into_iter().for_each(&mut *hold);
            }
            Some(range) => hold(range.turn_margin(pos.joints[c].turn)),
            None => {}
        }
    }
}

/// The twelve numbers are a pose that the platform can have; the road of any pose decides in doubt.
fn of_pose(subject: &Subject<'_>, model: &Model<Expr>, x: &[Expr], hold: &mut impl FnMut(Expr)) {
    let (given, lit) = (pose_by_matrix(x), Expr::lit);
    let size = subject.robot.model().size();
    let used: Pose<Expr> = subject.pose(model, x);
    hold(lit(FARTHEST * FARTHEST) - given.p.dot(&given.p));
    let aside: Vec3<Expr> = given.p - used.p;
    hold(lit((EXACT * size).powi(2)) - aside.dot(&aside));
    if matches!(model.topology().platform.coordinates, Coordinates::Point(_)) {
        return;
    }
    let entries = given.R.0.iter().zip(used.R.0.iter());
    let turned = entries.fold(lit(0.0), |sum, (a, b)| sum + (*a - *b).squared());
    hold(lit(EXACT * EXACT) - turned);
    let [a, b, c] = [0, 1, 2].map(|j| used.R.0.column(j).into_owned());
    let unit = |v: &Vec3<Expr>| (v.dot(v) - lit(1.0)).squared();
    match turns(model) {
        Turns::None => {}
        Turns::AboutZ => hold(lit(1e2 * EXACT * EXACT) - unit(&a)),
        Turns::Any => {
            let right: Vec3<Expr> = c - a.cross(&b);
            hold(lit(1e2 * EXACT * EXACT) - (unit(&a) + unit(&b) + a.dot(&b).squared() + right.dot(&right)));
        }
    }
}

/// Denominators with the least size that they may have: a share of their size around home.
fn least_denominators(graph: &Graph, subject: &Subject<'_>, inputs: &[Group], share: f64) -> Vec<(NodeIndex, f64)> {
    let around: Vec<Vec<f64>> = states(subject, inputs).iter().map(|(x, _)| graph.results(x)).collect();
    let size = |id: NodeIndex| around.iter().map(|r| r[id].abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let uses = graph.uses();
    let denominator = |(id, node): (NodeIndex, &GraphNode)| match node {
        GraphNode::Reciprocal(x) if uses[id] > 0 => Some((*x, share * size(*x))),
        _ => None,
    };
    graph.nodes.iter().enumerate().filter_map(denominator).collect()
}
