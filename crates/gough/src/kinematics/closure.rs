//! Closure of the loops: residuals and the wrenches that are their derivatives, section 4.4 and (7.2).
//!
//! A closure with frames A and B on its two sides imposes rows. Each row's derivative is the power of a wrench on the
//! motion of B against A: positions give forces through the origin of B, orientations give moments.

use super::positions::Positions;
use crate::description::ClosureJoint;
use crate::model::{BodyId, ClosureId, CoordId, JointKind, Model, Node};
use crate::scalar::Real;
use crate::spatial::{Pose, Twist, Vec3, Wrench};

/// Most rows of a closure.
pub const MOST_ROWS: usize = 6;

/// Rows of one closure: residuals, and the wrench of each, taken at the origin of the platform, in world axes.
#[derive(Clone, Copy, Debug)]
pub struct Rows<S: Real> {
    /// How many.
    pub count: usize,
    /// By how much each row misses zero: metres first, then radians.
    pub residual: [S; MOST_ROWS],
    /// Derivative of each row.
    pub wrench: [Wrench<S>; MOST_ROWS],
    /// How many of the rows are lengths.
    pub lengths: usize,
}

/// Rows of a closure for posed bodies.
pub fn rows<S: Real>(model: &Model<S>, c: ClosureId, pos: &Positions<S>) -> Rows<S> {
    let closure = &model.topology().closures[c];
    let frames = &model.numbers().closures[c];
    let A = pos.node(closure.sides[0]) * frames[0];
    let B = pos.node(closure.sides[1]) * frames[1];
    let mut rows = Rows { count: 0, residual: [S::zero(); MOST_ROWS], wrench: [Wrench::zero(); MOST_ROWS], lengths: 0 };
    let slides = matches!(closure.joint, ClosureJoint::Prismatic | ClosureJoint::Cylindrical);
    let r = B.p - pos.X_WE.p;
    for k in 0..if slides { 2 } else { 3 } {
        let axis = A.R.column(k);
        rows.push((B.p - A.p).dot(&axis), Wrench { f: axis, m: r.cross(&axis) });
    }
    rows.lengths = rows.count;
    let (x, y, z, z_B) = (A.R.column(0), A.R.column(1), A.R.column(2), B.R.z());
    match closure.joint {
        ClosureJoint::Spherical => {}
        ClosureJoint::Revolute | ClosureJoint::Cylindrical => {
            rows.push(x.dot(&z_B), moment(z_B.cross(&x)));
            rows.push(y.dot(&z_B), moment(z_B.cross(&y)));
        }
        ClosureJoint::Universal => rows.push(z.dot(&z_B), moment(z_B.cross(&z))),
        ClosureJoint::Fixed | ClosureJoint::Prismatic => {
            let (bx, by) = (B.R.column(0), B.R.column(1));
            let half = S::lit(0.5);
            rows.push((z.dot(&by) - y.dot(&z_B)) * half, moment(x));
            rows.push((x.dot(&z_B) - z.dot(&bx)) * half, moment(y));
            rows.push((y.dot(&bx) - x.dot(&by)) * half, moment(z));
        }
    }
    rows
}

impl<S: Real> Rows<S> {
    fn push(&mut self, residual: S, wrench: Wrench<S>) {
        self.residual[self.count] = residual;
        self.wrench[self.count] = wrench;
        self.count += 1;
    }
}

fn moment<S: Real>(m: Vec3<S>) -> Wrench<S> {
    Wrench { f: Vec3::zeros(), m }
}

/// Motion that one unit of a body's joint rate gives to what it carries, at the origin of the platform, in world axes.
#[inline]
pub fn joint_twist<S: Real>(model: &Model<S>, b: BodyId, pos: &Positions<S>) -> Twist<S> {
    let X: &Pose<S> = &pos.X_WB[b];
    let z = X.R.z();
    match model.topology().bodies[b].joint {
        JointKind::Fixed => Twist::zero(),
        JointKind::Revolute => Twist { v: z.cross(&(pos.X_WE.p - X.p)), w: z },
        JointKind::Prismatic => Twist { v: z, w: Vec3::zeros() },
    }
}

/// What moves a node: calls `joint` with every coordinate between the node and its root, its rate's coefficient and the
/// body whose joint it moves; the answer is whether the root is the platform.
pub fn movers<S: Real>(model: &Model<S>, node: Node, joint: &mut dyn FnMut(CoordId, S, BodyId)) -> bool {
    let mut at = node;
    loop {
        match at {
            Node::World => return false,
            Node::Platform => return true,
            Node::Body(b) => {
                let body = &model.topology().bodies[b];
                if let Some(c) = body.coord {
                    joint(c, S::one(), b);
                } else {
                    for (c, k) in &model.numbers().bodies[b].coupling {
                        joint(*c, *k, b);
                    }
                }
                at = body.parent;
            }
        }
    }
}

/// By how much the loops miss closing: metres and radians, over all closures. A revolute axis that points the wrong way,
/// or a fixed joint turned by half a turn, has no small residual rows but does not close: that counts as π.
pub fn gap(model: &Model<f64>, pos: &Positions<f64>) -> (f64, f64) {
    let mut gap = (0.0_f64, 0.0_f64);
    for c in model.topology().closures.ids() {
        let (length, angle) = closure_gap(model, c, pos);
        gap = (gap.0.max(length), gap.1.max(angle));
    }
    gap
}

/// The same for one closure.
pub fn closure_gap(model: &Model<f64>, c: ClosureId, pos: &Positions<f64>) -> (f64, f64) {
    let rows = rows(model, c, pos);
    let norm = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (length, mut angle) = (norm(&rows.residual[..rows.lengths]), norm(&rows.residual[rows.lengths..rows.count]));
    let closure = &model.topology().closures[c];
    let frames = &model.numbers().closures[c];
    let A = pos.node(closure.sides[0]) * frames[0];
    let B = pos.node(closure.sides[1]) * frames[1];
    let turned_round = match closure.joint {
        ClosureJoint::Revolute | ClosureJoint::Cylindrical => A.R.z().dot(&B.R.z()) < 0.0,
        ClosureJoint::Fixed | ClosureJoint::Prismatic => {
            (0..3).map(|k| A.R.column(k).dot(&B.R.column(k))).sum::<f64>() < 1.0
        }
        ClosureJoint::Universal | ClosureJoint::Spherical => false,
    };
    if turned_round {
        angle = std::f64::consts::PI;
    }
    let clean = |x: f64| if x.is_finite() { x } else { f64::INFINITY };
    (clean(length), clean(angle))
}
