//! Forward geometry from the pose at the instant before: what encoders give becomes the pose that the other models take.

use super::{Group, Inputs, Legs, Outputs, PoseNumbers, Subject, System, solve, solve_symmetric};
use crate::kinematics::Positions;
use crate::linalg::small::PivotOrder;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Mat3, Pose, Rotation, Twist, Vec3, vec3};

/// Newton's steps: from a thousandth of the robot's size away the first leaves a millionth, the second rounding.
const STEPS: usize = 2;

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let active = &subject.robot.model().topology().active;
    let joints = subject.joint_group("joints", "active joints, as measured", active, "q", "");
    let mut last = subject.pose_group();
    last.about = format!("where the platform was an instant ago: {}", last.about);
    let next = Group { name: "next_pose".to_owned(), ..subject.pose_group() };
    (vec![joints, last], vec![next])
}

/// `x ← x + J (q - q(x))`, a fixed number of times; the rotation moves by Cayley's formula and stays one.
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let mut x = inputs.pose.clone();
    for _ in 0..STEPS {
        let pos = subject.close(&model, &x);
        let t = step(subject, &model, &pos, &inputs.joints);
        x = moved(subject, &x, &pos.X_WE, &t);
    }
    Outputs { values: x, system: None }
}

/// The motion of the platform that the drives have still to make, in its independent components.
fn step<S: Real>(subject: &Subject<'_>, model: &Model<S>, pos: &Positions<S>, joints: &[S]) -> Vec<S> {
    let topology = model.topology();
    let zero = vec![S::zero(); topology.platform.independent.len()];
    let legs = Legs::new(model, &subject.plan, pos, subject.motion(&zero, &zero));
    let System { C, scale, .. } = subject.drives_alone(&legs);
    let off = |(c, q): (&crate::model::CoordId, &S)| {
        let (coord, joint) = (&topology.coords[*c], &pos.joints[*c]);
        if coord.slides || coord.counted {
            return *q - joint.value;
        }
        // The sine of a small angle: whole turns do not matter, and no angle is computed.
        let (sin, cos) = q.sin_cos();
        sin * joint.turn.cos - cos * joint.turn.sin
    };
    let off: Vec<S> = topology.active.iter().zip(joints).map(off).collect();
    if C.rows == C.cols {
        let order = PivotOrder { rows: subject.order.cols.clone(), cols: subject.order.rows.clone() };
        let right: Vec<S> = off.iter().zip(&scale).map(|(q, k)| *q * *k).collect();
        return solve(&C.transposed(), &order, &right);
    }
    let mut J_inv = C.transposed();
    for (k, scale) in scale.iter().enumerate() {
        let r = scale.recip();
        (0..J_inv.cols).for_each(|j| *J_inv.at_mut(k, j) *= r);
    }
    let Jt = J_inv.transposed();
    solve_symmetric(&Jt.times(&J_inv), &Jt.apply(&off))
}

/// The pose moved, in the numbers of its group.
fn moved<S: Real>(subject: &Subject<'_>, x: &[S], X_WE: &Pose<S>, t: &[S]) -> Vec<S> {
    let Twist { v, w } = subject.motion(t, t).V;
    let moved = (X_WE.p + v).iter().copied().collect::<Vec<S>>().into_iter();
    match subject.pose_as {
        PoseNumbers::Coordinates => {
            let rates = rates(subject, X_WE, t);
            x.iter().zip(rates).map(|(x, rate)| *x + rate).collect()
        }
        PoseNumbers::Matrix => {
            let R = Rotation(cayley(&w).0 * X_WE.R.0);
            moved.chain((0..9).map(|k| R.0[(k / 3, k % 3)])).collect()
        }
        PoseNumbers::Quaternion => moved.chain(turned(&[x[3], x[4], x[5], x[6]], &w)).collect(),
    }
}

/// Rates of the coordinates of the platform. Those of roll, pitch and yaw are `D⁻¹ ω` with `D` of (2.43), the columns of which are the
/// axes that they turn about; an angle that is alone, about the normal of a plane, is that turn itself.
fn rates<S: Real>(subject: &Subject<'_>, X_WE: &Pose<S>, t: &[S]) -> Vec<S> {
    let independent = &subject.robot.model().topology().platform.independent;
    if independent.iter().filter(|c| c.is_angle()).count() < 2 {
        return t.to_vec();
    }
    let Twist { v, w } = subject.motion(t, t).V;
    let R = &X_WE.R.0;
    // The first column of R is (cos yaw cos pitch, sin yaw cos pitch, -sin pitch).
    let [x, y, z] = [R[(0, 0)], R[(1, 0)], R[(2, 0)]];
    let cos = (x.squared() + y.squared()).sqrt();
    let r = cos.recip();
    let along = (x * w.x + y * w.y) * r;
    let roll = along * r;
    let all = [v.x, v.y, v.z, roll, (x * w.y - y * w.x) * r, w.z - z * roll];
    independent.iter().map(|c| all[c.index()]).collect()
}

/// A quaternion after Cayley's rotation, `(1, w/2)` times it, of length one.
fn turned<S: Real>(q: &[S; 4], w: &Vec3<S>) -> [S; 4] {
    let (a, s, v) = (*w * S::lit(0.5), q[0], vec3(q[1], q[2], q[3]));
    let (s, v) = (s - a.dot(&v), v + a * s + a.cross(&v));
    let by = (s * s + v.dot(&v)).sqrt().recip();
    [s * by, v.x * by, v.y * by, v.z * by]
}

/// The rotation by a small angle: `((1 - a·a) 1 + 2 a aᵀ + 2 â) / (1 + a·a)` with `a = w/2`.
fn cayley<S: Real>(w: &Vec3<S>) -> Rotation<S> {
    let a = *w * S::lit(0.5);
    let square = a.dot(&a);
    let r = (S::one() + square).recip();
    let two = S::lit(2.0);
    let cross = [[S::zero(), -a.z, a.y], [a.z, S::zero(), -a.x], [-a.y, a.x, S::zero()]];
    Rotation(Mat3::from_fn(|i, j| {
        let own = if i == j { S::one() - square } else { S::zero() };
        (own + two * (a[i] * a[j] + cross[i][j])) * r
    }))
}
