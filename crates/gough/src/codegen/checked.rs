//! Generated code against the library: before code is given out it must agree with the general road at states around home,
//! and the test that goes with it carries the library's numbers.

use super::graph::Graph;
use super::models::{Group, Inputs, Outside, PoseNumbers, Subject, payload_of, pose_numbers, states};
use super::{CodegenError, FurtherInput, ModelKind};
use crate::description::Coordinate;
use crate::dynamics::regressor::regressor;
use crate::dynamics::{Conditions, Sign, direct_dynamics_under, inverse_dynamics_under, platform_model};
use crate::kinematics::jacobians::matrices_at;
use crate::kinematics::platform::{coordinates, pose_with};
use crate::kinematics::{Posture, inverse};
use crate::linalg::small::Dense;
use crate::model::Node;
use crate::spatial::Pose;

/// Largest difference between code and library, by the largest number, where the question is well posed.
const AGREED: f64 = 1e-6;

/// Rounding of a pose and of what is computed from it.
const ROUNDING: f64 = 1e-13;

/// Differences that are rounding, for a test that a stranger runs.
const EXACT: f64 = 1e-10;

/// States that a stranger tests the code on.
pub(super) struct TestVectors {
    /// Inputs, and the outputs that belong to them.
    pub list: Vec<(Vec<f64>, Vec<f64>)>,
    /// Largest difference, relative to a number or to one.
    pub tolerance: f64,
}

/// Differences of a test where rounding does not grow.
pub(super) const TESTED: f64 = 1e-9;

/// Inputs and the library's outputs at states around home, and the largest difference of the code from them, by the largest
/// number; a refusal where the code says something else.
pub(super) fn vectors(
    subject: &Subject<'_>,
    kind: ModelKind,
    inputs: &[Group],
    code: impl Fn(&[f64]) -> Vec<f64>,
) -> Result<(TestVectors, f64), CodegenError> {
    let (mut list, mut poor, mut found) = (Vec::new(), Vec::new(), 0.0_f64);
    for (x, pose) in states(subject, inputs) {
        let mut y = code(&x);
        let Ok(posture) = inverse(subject.robot.model(), &pose, &subject.mode) else { continue };
        let mut exact = true;
        if !matches!(kind, ModelKind::MassStiffness | ModelKind::CartesianFrequencies) {
            // Where the library refuses the code is not tried.
            let Some((mut wanted, condition)) = answer(subject, kind, inputs, &x, &posture) else { continue };
            if kind == ModelKind::Igm {
                whole_turns(subject, &y, &mut wanted);
            }
            // A pose may be nothing but zeros.
            let least = if kind == ModelKind::Fgm { subject.robot.model().length() } else { f64::MIN_POSITIVE };
            let by = difference(&y, &wanted, least);
            if !(by <= AGREED * condition || by <= ROUNDING * growth(subject, kind, inputs, (&x, &pose), &wanted)) {
                return Err(CodegenError::Disagrees { by });
            }
            found = found.max(by);
            exact = y.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= EXACT * (1.0 + b.abs()));
            y[..wanted.len()].copy_from_slice(&wanted);
        }
        if y.iter().all(|v| v.is_finite()) {
            if exact { list.push((x, y)) } else { poor.push((x, y)) }
        }
    }
    // States at which rounding grows make no good test, unless there are no others.
    if list.is_empty() {
        list = poor;
    }
    if list.is_empty() { Err(CodegenError::NotFinite) } else { Ok((TestVectors { list, tolerance: TESTED }, found)) }
}

/// By how much more than a pose the library's answer changes with it, in fractions of both: steep close to a singularity.
fn growth(
    subject: &Subject<'_>,
    kind: ModelKind,
    inputs: &[Group],
    (x, pose): (&[f64], &Pose<f64>),
    wanted: &[f64],
) -> f64 {
    const SHIFT: f64 = 1e-11;
    let model = subject.robot.model();
    let at = coordinates(model, pose);
    let along = |c: &Coordinate| {
        let unit = if c.is_angle() { 1.0 } else { model.size() };
        let moved = pose_with(model, pose, &[(*c, at[c.index()] + SHIFT * unit)]);
        let posture = inverse(model, &moved, &subject.mode).ok()?;
        Some(difference(&answer(subject, kind, inputs, x, &posture)?.0, wanted, f64::MIN_POSITIVE) / SHIFT)
    };
    // A limit that is that close says nothing.
    model.topology().platform.independent.iter().filter_map(along).fold(0.0, f64::max)
}

/// Angles moved by whole turns to those that the code gives: ranges of joints do not bind it.
fn whole_turns(subject: &Subject<'_>, found: &[f64], wanted: &mut [f64]) {
    let topology = subject.robot.model().topology();
    let coords = topology.active.iter().chain(&topology.passive);
    for ((c, found), wanted) in coords.zip(found).zip(wanted) {
        if !topology.coords[*c].slides {
            *wanted = found + crate::spatial::orientation::wrap(*wanted - found);
        }
    }
}

/// The largest difference, by the largest number compared with.
pub(super) fn difference(found: &[f64], wanted: &[f64], least: f64) -> f64 {
    let scale = wanted.iter().fold(least, |most, x| most.max(x.abs()));
    // A difference that is no number is beyond all others.
    found.iter().zip(wanted).fold(0.0, |most, (a, b)| if (a - b).abs() <= most { most } else { (a - b).abs() }) / scale
}

/// The library's answer, and by how much rounding grows in it.
fn answer(
    subject: &Subject<'_>,
    kind: ModelKind,
    inputs: &[Group],
    x: &[f64],
    posture: &Posture,
) -> Option<(Vec<f64>, f64)> {
    let (model, topology) = (subject.robot.model(), subject.robot.model().topology());
    let given = super::split(inputs, x);
    let all = || topology.active.iter().chain(&topology.passive);
    let Outside { wrench, .. } = subject.outside(model, &given);
    let conditions = Conditions {
        friction: subject.friction.then(Sign::default),
        loads: vec![(Node::Platform, wrench)],
        ..Conditions::default()
    };
    let carrying = subject
        .further
        .contains(&FurtherInput::Payload)
        .then(|| subject.robot.clone().carrying(payload_of(&given.payload)));
    let model = carrying.as_ref().map_or(model, |robot| robot.model());
    let moved = || inverse_dynamics_under(model, posture, &given.twist, &given.acceleration, &conditions).ok();
    Some(match kind {
        ModelKind::Igm => (all().map(|c| posture.joints(model, &[*c])[0]).collect(), 1.0),
        ModelKind::Jacobian => (matrices_at(model, posture, None).ok()?.jacobians.J_inv?.data, 1.0),
        ModelKind::Kinematics => {
            let mut at = crate::kinematics::motion::Motion::new(model);
            let mut pos = posture.positions().clone();
            crate::kinematics::motion::move_bodies(model, &given.twist, &given.acceleration, &mut pos, &mut at).ok()?;
            (all().map(|c| at.rates[*c]).chain(all().map(|c| at.accels[*c])).collect(), 1.0)
        }
        ModelKind::Regressor => (efforts_on(subject, &given, posture)?.data, 1e2),
        ModelKind::Idm if subject.columns.is_some() => (efforts_on(subject, &given, posture)?.apply(&given.chi), 1e2),
        ModelKind::Idm => {
            let found = moved()?;
            (if subject.friction { found.efforts_with_friction } else { found.efforts }, found.condition)
        }
        ModelKind::Ddm => {
            (direct_dynamics_under(model, posture, &given.twist, &given.efforts, &conditions).ok()?.0, 1e3)
        }
        ModelKind::Fgm => {
            let mut next = pose_numbers(model, posture.pose(), subject.pose_as);
            if subject.pose_as == PoseNumbers::Quaternion {
                // Both signs are one rotation; the code keeps that of the instant before.
                let (before, own) = (&given.pose[3..], &mut next[3..]);
                if own.iter().zip(before).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
                    own.iter_mut().for_each(|x| *x = -*x);
                }
            }
            (next, 1.0)
        }
        ModelKind::Inertia => {
            let at = platform_model(model, posture, &given.twist, &conditions).ok()?;
            (at.M.data.into_iter().chain(at.c).collect(), 1.0)
        }
        ModelKind::MassStiffness
        | ModelKind::CartesianFrequencies
        | ModelKind::FlexibleIdm
        | ModelKind::FlexibleDdm => return None,
    })
}

/// The most that numbers of four bytes may differ, by the largest number of an answer.
const SINGLE: f64 = 1e-3;
/// Differences that numbers of four bytes have at least.
const LEAST_SINGLE: f64 = 1e-6;

/// The largest difference of a test in numbers of four bytes: four times that of the numbers themselves, since compilers round in other
/// places.
pub(super) fn in_single(
    graph: &Graph,
    system: Option<usize>,
    vectors: &[(Vec<f64>, Vec<f64>)],
) -> Result<f64, CodegenError> {
    let round = |x: f64| f64::from(super::single(x));
    let (mut worst, mut most) = (0.0_f64, LEAST_SINGLE);
    for (x, wanted) in vectors {
        let x: Vec<f64> = x.iter().copied().map(round).collect();
        let results = graph.rounded(&x, round);
        let found = graph.outputs.iter().map(|v| if v.minus { -results[v.node] } else { results[v.node] });
        let found = super::solved(&found.collect::<Vec<f64>>(), system);
        worst = worst.max(difference(&found, wanted, f64::MIN_POSITIVE));
        most = found.iter().zip(wanted).fold(most, |most, (a, b)| most.max(4.0 * (a - b).abs() / (1.0 + b.abs())));
    }
    if worst <= SINGLE { Ok(most) } else { Err(CodegenError::LosesSingle { by: worst }) }
}

/// The library's regressor on the chosen parameters.
fn efforts_on(subject: &Subject<'_>, given: &Inputs<f64>, posture: &Posture) -> Option<Dense<f64>> {
    let (model, set) = (subject.robot.model(), subject.columns.as_ref()?);
    let motion = (given.twist.as_slice(), given.acceleration.as_slice());
    regressor(model, set, posture, motion, Sign::Sharp, &Conditions::default()).ok()?.of_efforts().ok()
}
