//! Degrees of freedom by rank, and the claim of the file about its platform.

use crate::description::{ClosureJoint, Coordinate, Coordinates, Description, Diagnostic, Fault, Span};
use crate::kinematics::newton::{self, Unknowns};
use crate::kinematics::{PoseChart, Positions};
use crate::linalg::dense::{Matrix, null_space, rank as rank_of, singular_values};
use crate::linalg::small::Dense;
use crate::model::{Model, Root};

/// What the closures leave of a robot, counted by rank at a closed posture.
#[derive(Clone, PartialEq, Debug)]
pub struct Mobility {
    /// Scalar closure equations.
    pub rows: usize,
    /// How many of them are independent.
    pub rank: usize,
    /// Degrees of freedom of the robot, idle ones included.
    pub degrees: usize,
    /// Degrees of freedom of the platform.
    pub platform: usize,
    /// Equations beyond the independent ones.
    pub overconstraint: usize,
    /// Freedoms that move neither platform nor motors: the joints that take part in each.
    pub idle: Vec<Vec<String>>,
    /// Freedoms that remain when the motors are held, idle ones not counted.
    pub not_actuated: usize,
}

/// Closure Jacobian over some unknowns, scaled.
pub(super) fn closure_columns(model: &Model<f64>, unknowns: &Unknowns, pos: &Positions<f64>) -> Matrix {
    let n = unknowns.coords.len() + unknowns.platform.len();
    let mut a = Dense::zeros(newton::row_count(model, unknowns), n + 1);
    newton::jacobian(model, unknowns, model.length(), pos, &mut a);
    Matrix::from_fn(a.rows, n, |i, j| a.at(i, j))
}

/// Closure Jacobian over all joints and all motions of the platform, scaled.
fn full_jacobian(model: &Model<f64>, pos: &Positions<f64>) -> (Matrix, Unknowns) {
    let unknowns = Unknowns::all(model);
    (closure_columns(model, &unknowns, pos), unknowns)
}

/// A posture, and how the platform can move there: one column per motion.
pub(super) type Generic = (Positions<f64>, Matrix);

/// Mobility at the posture of the highest rank; freedoms that motors do not hold only count when no posture holds them.
pub(super) fn mobility(model: &Model<f64>, postures: &[Positions<f64>]) -> (Mobility, Generic) {
    let mut best: Option<(Ranks, &Positions<f64>)> = None;
    let mut not_actuated = usize::MAX;
    for pos in postures {
        let found = Ranks::at(model, pos);
        not_actuated = not_actuated.min(found.not_actuated);
        // Nothing can be left to find.
        let is_whole = found.rank == found.closures.nrows().min(found.closures.ncols());
        let is_last = is_whole && found.idle.ncols() == 0 && not_actuated == 0;
        if best
            .as_ref()
            .is_none_or(|(b, _)| found.rank > b.rank || (found.rank == b.rank && found.idle.ncols() < b.idle.ncols()))
        {
            best = Some((found, pos));
        }
        if is_last {
            break;
        }
    }
    let (found, pos) = best.expect("there is a home posture");
    let (rows, rank) = (found.closures.nrows(), found.rank);
    let motions = platform_motions(&null_space(&found.closures).1, model.topology().coords.len());
    let mobility = Mobility {
        rows,
        rank,
        degrees: found.closures.ncols() - rank,
        platform: rank_of(&motions),
        overconstraint: rows - rank,
        idle: found.idle_joints(model),
        not_actuated,
    };
    (mobility, (pos.clone(), motions))
}

/// What ranks tell at a posture.
struct Ranks {
    /// Closure Jacobian over all joints and all motions of the platform.
    closures: Matrix,
    rank: usize,
    /// Motions of passive joints that move nothing else.
    idle: Matrix,
    /// Freedoms that remain when the motors are held, idle ones not counted.
    not_actuated: usize,
}

impl Ranks {
    fn at(model: &Model<f64>, pos: &Positions<f64>) -> Self {
        let (closures, unknowns) = full_jacobian(model, pos);
        // Motors held: their columns leave. Platform held too: what still moves is idle.
        let passive: Vec<usize> = passive_columns(model).collect();
        let held: Vec<usize> = passive.iter().copied().chain(unknowns.coords.len()..closures.ncols()).collect();
        let pick =
            |columns: &[usize]| Matrix::from_fn(closures.nrows(), columns.len(), |i, j| closures[(i, columns[j])]);
        let (_, idle) = null_space(&pick(&passive));
        let not_actuated = (held.len() - rank_of(&pick(&held))).saturating_sub(idle.ncols());
        Self { rank: rank_of(&closures), closures, idle, not_actuated }
    }

    /// The joints that take part in every idle motion.
    fn idle_joints(&self, model: &Model<f64>) -> Vec<Vec<String>> {
        let coords: Vec<&str> = model.topology().coords.values().map(|c| c.name.as_str()).collect();
        let taking_part = |motion: nalgebra::DVectorView<'_, f64>| {
            let largest = motion.amax();
            let joints = passive_columns(model).zip(motion.iter());
            joints.filter(|(_, x)| x.abs() > 1e-6 * largest).map(|(j, _)| coords[j].to_owned()).collect()
        };
        self.idle.column_iter().map(taking_part).collect()
    }
}

/// Columns of passive joints in the Jacobian over all of them.
fn passive_columns(model: &Model<f64>) -> impl Iterator<Item = usize> {
    let topology = model.topology();
    let ids = topology.coords.ids().enumerate();
    ids.filter(|(_, c)| !topology.active.contains(c)).map(|(j, _)| j)
}

/// Platform rows of the null space of the closures: how the platform can move.
fn platform_motions(open: &Matrix, coords: usize) -> Matrix {
    Matrix::from_fn(open.nrows() - coords, open.ncols(), |i, j| open[(coords + i, j)])
}

/// Coordinates of the platform that the file does not list and that never change: they keep their home values at every
/// posture around a closed one, and then, closures being analytic, along the whole branch. Angles are looked at together,
/// most of them first: near a pitch of a quarter turn an orientation tells roll and yaw badly, and both jump there.
pub(super) fn constant_coordinates(model: &Model<f64>, pos: &Positions<f64>) -> Vec<Coordinate> {
    let platform = &model.topology().platform;
    // A parallelogram that is crossed turns the platform, and is a mode.
    let crossed = model.topology().plan.inverse.iter().any(|b| b.roots.contains(&Root::Loop));
    if crossed || platform.dependent.is_empty() {
        return Vec::new();
    }
    let postures = newton::postures_near(model, pos);
    if postures.len() < 3 {
        return Vec::new();
    }
    let motions = |pos: &Positions<f64>| {
        let (a, unknowns) = full_jacobian(model, pos);
        platform_motions(&null_space(&a).1, unknowns.coords.len())
    };
    let motions: Vec<Matrix> = postures.iter().map(motions).collect();
    // The twist has that component nowhere: an angle about a turned axis is more than one component.
    let still = |c: &Coordinate| motions.iter().all(|m| (0..m.ncols()).all(|j| m[(c.index(), j)].abs() < 1e-6));
    let (angles, lengths): (Vec<Coordinate>, Vec<Coordinate>) =
        platform.dependent.iter().copied().filter(still).partition(|c| c.is_angle());
    let home = model.numbers().home_pose.p;
    let off = |c: &Coordinate, pos: &Positions<f64>| (pos.X_WE.p[c.index()] - home[c.index()]).abs();
    let stays = |c: &Coordinate| postures.iter().all(|pos| off(c, pos) < 1e-9 * model.size());
    let held = |set: &Vec<Coordinate>| postures.iter().all(|pos| PoseChart::holding(model, set).has(&pos.X_WE.R));
    let mut sets: Vec<Vec<Coordinate>> = (0..1_usize << angles.len())
        .map(|bits| angles.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1).map(|(_, c)| *c).collect())
        .collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let constant = sets.into_iter().filter(|set| !set.is_empty()).find(held).unwrap_or_default();
    lengths.into_iter().filter(stays).chain(constant).collect()
}

/// The platform must move as the file claims, no more and no less.
pub(super) fn check_claim(
    model: &Model<f64>,
    postures: &[Positions<f64>],
    generic: &Generic,
    mobility: &Mobility,
) -> Result<(), Diagnostic> {
    let platform = &model.topology().platform;
    let claimed = describe_coordinates(&platform.coordinates);
    let fail =
        |found: String| Err(Diagnostic::new(Fault::FalseClaim { claimed: claimed.clone(), found }, platform.span));
    let motions_at = |pos: &Positions<f64>| {
        let (a, unknowns) = full_jacobian(model, pos);
        platform_motions(&null_space(&a).1, unknowns.coords.len())
    };
    let dependent = matches!(platform.coordinates, Coordinates::Some(_));
    // Small motions that follow from others (x and y of a 3-PRS) count where coordinates may follow.
    let others = if dependent { postures } else { &[] };
    let seen: Vec<Matrix> = std::iter::once(generic.1.clone()).chain(others.iter().map(motions_at)).collect();
    let moves = |i: usize| seen.iter().any(|m| (0..m.ncols()).any(|j| m[(i, j)].abs() > 1e-6));
    let claims = |i: usize| platform.independent.iter().any(|c| c.index() == i);
    let names = ["x", "y", "z", "rotation about x", "rotation about y", "rotation about z"];
    let named = |which: &dyn Fn(usize) -> bool| -> Vec<&str> {
        (0..seen[0].nrows()).filter(|i| which(*i)).map(|i| names[i]).collect()
    };
    let (all, missing) = (named(&moves), named(&|i| claims(i) && !moves(i)));
    let extra = if dependent { Vec::new() } else { named(&|i| moves(i) && !claims(i)) };
    let (found, wanted) = (mobility.platform, platform.independent.len());
    let mut says = Vec::new();
    if !missing.is_empty() {
        says.push(format!("the closures do not let it move in {}", list(&missing)));
    }
    if !extra.is_empty() {
        let point = matches!(platform.coordinates, Coordinates::Point(_));
        let hint =
            "; of a tool point no coordinate follows: where one does, tie a platform to its body by a `fixed` closure";
        says.push(format!("the closures also let it move in {}{}", list(&extra), if point { hint } else { "" }));
    }
    if says.is_empty() && found != wanted {
        says.push(format!("the closures leave it {found} freedoms, not {wanted} (it moves in: {})", list(&all)));
    }
    if !says.is_empty() {
        return fail(says.join("; "));
    }
    // The listed coordinates must be able to change independently of each other, at some posture around home.
    let rank_by = |pos: &Positions<f64>, motions: &Matrix| {
        let rates =
            Matrix::from_fn(wanted, motions.ncols(), |i, j| coordinate_rate(&platform.independent, i, pos, motions, j));
        singular_values(&rates).iter().filter(|s| **s > 1e-6).count()
    };
    let mut rank = rank_by(&generic.0, &generic.1);
    for pos in postures {
        if rank == wanted {
            break;
        }
        rank = rank.max(rank_by(pos, &motions_at(pos)));
    }
    if rank < wanted {
        return fail(format!(
            "only {rank} of these {wanted} coordinates can change independently (it moves in: {})",
            list(&all)
        ));
    }
    Ok(())
}

/// Rate of an independent coordinate for a motion of the platform: angles are roll, pitch, yaw.
fn coordinate_rate(independent: &[Coordinate], i: usize, pos: &Positions<f64>, motions: &Matrix, j: usize) -> f64 {
    let c = independent[i];
    if !c.is_angle() || motions.nrows() < 6 {
        return motions[(c.index().min(motions.nrows() - 1), j)];
    }
    let [roll, pitch, yaw] = crate::spatial::orientation::to_rpy(&pos.X_WE.R);
    let D = crate::spatial::orientation::Sequence::ZYX.rates([yaw, pitch, roll]);
    let w = nalgebra::Vector3::new(motions[(3, j)], motions[(4, j)], motions[(5, j)]);
    let rates = D.try_inverse().map_or(w, |inv| inv * w); // yaw, pitch, roll
    rates[5 - c.index()]
}

fn describe_coordinates(c: &Coordinates) -> String {
    let names = |list: &[Coordinate]| {
        let word = |c: &Coordinate| ["x", "y", "z", "rx", "ry", "rz"][c.index()];
        list.iter().map(word).collect::<Vec<_>>().join(", ")
    };
    match c {
        Coordinates::Spatial => "all six coordinates".to_owned(),
        Coordinates::Planar => "x, y and the angle about z only".to_owned(),
        Coordinates::Translation => "x, y, z without turning".to_owned(),
        Coordinates::Point(l) | Coordinates::Some(l) => format!("the independent coordinates {}", names(l)),
    }
}

fn list(words: &[&str]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

pub(super) fn mobility_remarks(model: &Model<f64>, mobility: &Mobility) -> Vec<Diagnostic> {
    let span = |joint: &str| span_of_joint(model.description(), joint);
    let mut remarks: Vec<Diagnostic> = mobility
        .idle
        .iter()
        .map(|joints| {
            let at = joints.first().map_or_else(Span::default, |j| span(j));
            let joint = format!("a freedom of joints {}", joints.join(", "));
            let instead = instead(model, joints);
            Diagnostic::new(Fault::IdleFreedom { joint, instead }, at)
        })
        .collect();
    if mobility.not_actuated > 0 {
        let drives = model.topology().active.len();
        let degrees = mobility.degrees - mobility.idle.len();
        let singular = Fault::SingularArchitecture { degrees, drives };
        let what = if drives < degrees { Fault::NotActuated { degrees, drives } } else { singular };
        remarks.push(Diagnostic::new(what, model.topology().platform.span));
    }
    remarks
}

/// What to write in place of joints that leave an idle freedom.
fn instead(model: &Model<f64>, joints: &[String]) -> String {
    let spherical = model.topology().closures.values().any(|c| c.joint == ClosureJoint::Spherical);
    let three = joints.iter().any(|j| j.ends_with(".3"));
    if spherical && three {
        "write U in place of one S joint of that rod".to_owned()
    } else {
        "take one of these joints away, or write it as fixed".to_owned()
    }
}

pub(super) fn span_of_joint(d: &Description, joint: &str) -> Span {
    let name = joint.split('.').next().unwrap_or(joint);
    d.bodies.iter().find(|b| b.name.text == name).map_or_else(Span::default, |b| b.name.span)
}
