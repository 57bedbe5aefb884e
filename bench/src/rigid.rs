//! A robot and states of it as plain data, for other programs: bodies on joints of one freedom, closures, and the motion,
//! efforts and accelerations that the library finds.

use crate::poses;
use gough::Robot;
use gough::dynamics::{direct_dynamics, inverse_dynamics};
use gough::kinematics::{SolveError, inverse, joint_value};
use gough::model::{CoordId, Id, JointKind, Node};
use gough::spatial::{Inertia, Pose, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

/// Postures where a joint runs faster than this for a platform twist of about one are left out: they are near a singularity.
const FASTEST: f64 = 20.0;

/// A motion of the robot.
#[derive(Clone, Debug)]
pub struct State {
    /// The platform.
    pub pose: Pose<f64>,
    /// Its twist, independent components.
    pub t_r: Vec<f64>,
    /// Its acceleration, likewise.
    pub td_r: Vec<f64>,
    /// Efforts that give this acceleration.
    pub efforts: Vec<f64>,
    /// Other efforts, for direct dynamics.
    pub other_efforts: Vec<f64>,
    /// The acceleration that they give.
    pub other_td_r: Vec<f64>,
}

/// Random states near home, always the same ones.
pub fn states(robot: &Robot, count: usize) -> Vec<State> {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    poses(robot, 2 * count).iter().filter_map(|pose| state(robot, pose, &mut random).ok()?).take(count).collect()
}

/// `None` near a singularity.
fn state(robot: &Robot, pose: &Pose<f64>, random: &mut impl Rng) -> Result<Option<State>, SolveError> {
    let model = robot.model();
    let n = model.topology().platform.independent.len();
    let mut any = |n: usize| (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
    let (t_r, td_r, other) = (any(n), any(n), any(model.topology().active.len()));
    let posture = inverse(model, pose, robot.mode())?;
    let found = inverse_dynamics(model, &posture, &t_r, &td_r)?;
    let slow = found.motion.rates.values().all(|rate| rate.abs() < FASTEST);
    let largest = found.efforts.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let other_efforts: Vec<f64> = found.efforts.iter().zip(other).map(|(x, share)| x + 0.5 * share * largest).collect();
    let (other_td_r, _) = direct_dynamics(model, &posture, &t_r, &other_efforts)?;
    Ok(slow.then_some(State { pose: *pose, t_r, td_r, efforts: found.efforts, other_efforts, other_td_r }))
}

/// The robot and the states.
pub fn case(robot: &Robot, states: &[State]) -> Result<Value, SolveError> {
    let model = robot.model();
    let (topology, numbers) = (model.topology(), model.numbers());
    let bodies: Vec<Value> = topology
        .bodies
        .iter()
        .map(|(id, body)| {
            let own = &numbers.bodies[id];
            json!({
                "name": body.name,
                "parent": node(body.parent),
                "joint": match body.joint { JointKind::Revolute => "R", JointKind::Prismatic => "P", JointKind::Fixed => "fixed" },
                "coordinate": body.coord.map(Id::index),
                "frame": frame(&own.X_PF),
                "inertia": inertia(&own.inertia),
                "rotor": body.coord.map_or(0.0, |c| numbers.joints[c].rotor),
            })
        })
        .collect();
    let closures: Vec<Value> = topology
        .closures
        .iter()
        .filter(|(_, closure)| !closure.tool)
        .map(|(id, closure)| {
            let side = |k: usize| json!({ "on": node(closure.sides[k]), "frame": frame(&numbers.closures[id][k]) });
            json!({ "joint": closure.joint.word(), "a": side(0), "b": side(1) })
        })
        .collect();
    Ok(json!({
        "robot": topology.name,
        "gravity": numbers.gravity.as_slice(),
        "bodies": bodies,
        "closures": closures,
        "platform": topology.platform.tool.is_none().then(|| inertia(&numbers.platform)),
        "active": topology.active.iter().map(|c| c.index()).collect::<Vec<_>>(),
        "passive": topology.passive.iter().map(|c| c.index()).collect::<Vec<_>>(),
        "states": states.iter().map(|s| answers(robot, s)).collect::<Result<Vec<_>, _>>()?,
    }))
}

/// A state with everything that the library says about it.
fn answers(robot: &Robot, state: &State) -> Result<Value, SolveError> {
    let model = robot.model();
    let posture = inverse(model, &state.pose, robot.mode())?;
    let moved = inverse_dynamics(model, &posture, &state.t_r, &state.td_r)?.motion;
    let (_, other) = direct_dynamics(model, &posture, &state.t_r, &state.other_efforts)?;
    let coords = || model.topology().coords.ids();
    let q: Vec<f64> = coords().map(|c: CoordId| joint_value(model, posture.positions(), c)).collect();
    Ok(json!({
        "platform": frame(posture.pose()),
        "twist": six(moved.V_WE.v, moved.V_WE.w),
        "acceleration": six(moved.A_WE.a, moved.A_WE.alpha),
        "q": q,
        "qd": moved.rates.as_slice(),
        "qdd": moved.accels.as_slice(),
        "efforts": state.efforts,
        "other_efforts": state.other_efforts,
        "other_qdd": other.accels.as_slice(),
        "other_acceleration": six(other.A_WE.a, other.A_WE.alpha),
    }))
}

/// Linear and angular part.
fn six(linear: Vec3<f64>, angular: Vec3<f64>) -> Vec<f64> {
    linear.iter().chain(angular.iter()).copied().collect()
}

/// A body's number, `world` or `platform`.
fn node(node: Node) -> Value {
    match node {
        Node::World => json!("world"),
        Node::Platform => json!("platform"),
        Node::Body(b) => json!(b.index()),
    }
}

/// Rotation, row by row, and origin.
fn frame(X: &Pose<f64>) -> Value {
    let R: Vec<Vec<f64>> = (0..3).map(|i| (0..3).map(|j| X.R.0[(i, j)]).collect()).collect();
    json!({ "R": R, "p": X.p.as_slice() })
}

/// Mass, first moment and inertia at the origin of the frame.
fn inertia(of: &Inertia<f64>) -> Value {
    let I: Vec<Vec<f64>> = (0..3).map(|i| (0..3).map(|j| of.I_o[(i, j)]).collect()).collect();
    json!({ "mass": of.m, "first_moment": of.ms.as_slice(), "inertia": I })
}
