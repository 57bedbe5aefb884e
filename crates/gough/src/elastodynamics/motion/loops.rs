//! Loops at position, velocity and acceleration level, (10.104)-(10.119), on deformed bodies.

use super::plan::{FlexibleModel, Loop};
use super::recursion::{FlexibleData, FrameMotion};
use crate::description::ClosureJoint;
use crate::linalg::small::Dense;
use crate::scalar::Real;
use crate::spatial::{Accel, Pose, Twist, Vec3, cross};

/// Equations of all loops: gaps, their Jacobian, and what they accelerate by while no rate changes.
#[derive(Clone, Debug)]
pub struct LoopEquations<S: Real> {
    /// How far the loops are from closed, row by row.
    pub gap: Vec<S>,
    /// Derivative of the gaps by the coordinates.
    pub J: Dense<S>,
    /// Second derivative of the gaps while no rate changes.
    pub bias: Vec<S>,
}

/// A side of a closure in motion, in world axes.
struct SideMotion<S: Real> {
    X: Pose<S>,
    V: Twist<S>,
    A: Accel<S>,
}

/// One equation of a closure, by axes of its first side (a) and its second (b).
#[derive(Clone, Copy)]
enum Equation {
    /// The points meet along an axis of the world.
    Meet(usize),
    /// The second point stays across an axis of the first side.
    Across(usize),
    /// An axis of the first side stands square on one of the second.
    Square(usize, usize),
}

fn equations(joint: ClosureJoint) -> Vec<Equation> {
    use Equation::{Across, Meet, Square};
    let meet = [Meet(0), Meet(1), Meet(2)];
    let parallel = [Square(0, 2), Square(1, 2)];
    // Turned back to the same axes: each square pair is a component of the rotation vector.
    let same = [Square(1, 2), Square(2, 0), Square(0, 1)];
    let across = [Across(0), Across(1)];
    match joint {
        ClosureJoint::Fixed => [meet, same].concat(),
        ClosureJoint::Revolute => [&meet[..], &parallel].concat(),
        ClosureJoint::Prismatic => [&across[..], &same].concat(),
        ClosureJoint::Universal => [&meet[..], &[Square(2, 2)]].concat(),
        ClosureJoint::Spherical => meet.to_vec(),
        ClosureJoint::Cylindrical => [across, parallel].concat(),
    }
}

impl<S: Real> FlexibleModel<S> {
    /// Number of equations of the loops, those that say nothing new included.
    pub fn loop_rows(&self) -> usize {
        self.loops.iter().map(|l| equations(l.joint).len()).sum()
    }

    /// Memory for the equations of the loops.
    pub fn loop_equations(&self) -> LoopEquations<S> {
        let rows = self.loop_rows();
        LoopEquations {
            gap: vec![S::zero(); rows],
            J: Dense::zeros(rows, self.coordinates().len()),
            bias: vec![S::zero(); rows],
        }
    }

    /// The equations where frames have moved.
    pub fn close(&self, data: &FlexibleData<S>, out: &mut LoopEquations<S>) {
        out.J.clear();
        let mut row = 0;
        for l in &self.loops {
            let [a, b] = [0, 1].map(|k| side(l, k, data));
            for e in equations(l.joint) {
                (out.gap[row], out.bias[row]) = e.value(&a, &b);
                for (k, sign) in [(0, -S::one()), (1, S::one())] {
                    let Some(f) = l.sides[k].0 else { continue };
                    let frame = &data.frames[f];
                    for (slot, t) in self.frames[f].path.iter().zip(&frame.columns) {
                        let t = in_world(frame, &l.sides[k].1, *t);
                        *out.J.at_mut(row, *slot) += sign * e.slope(&a, &b, k, t);
                    }
                }
                row += 1;
            }
        }
    }

    /// Whether each row is a length.
    pub fn row_is_length(&self) -> Vec<bool> {
        let rows = self.loops.iter().flat_map(|l| equations(l.joint));
        rows.map(|e| !matches!(e, Equation::Square(..))).collect()
    }
}

/// A twist of a frame at a point fixed to it, in world axes.
fn in_world<S: Real>(frame: &FrameMotion<S>, X: &Pose<S>, t: Twist<S>) -> Twist<S> {
    let (t, R) = (t.at(X.p), frame.X_WF.R);
    Twist { v: R.apply(t.v), w: R.apply(t.w) }
}

fn side<S: Real>(l: &Loop<S>, k: usize, data: &FlexibleData<S>) -> SideMotion<S> {
    let (frame, X) = &l.sides[k];
    let Some(f) = frame else { return SideMotion { X: *X, V: Twist::zero(), A: Accel::zero() } };
    let frame = &data.frames[*f];
    let (A, R) = (frame.bias.at(X.p, frame.V.w), frame.X_WF.R);
    SideMotion {
        X: frame.X_WF * *X,
        V: in_world(frame, X, frame.V),
        A: Accel { a: R.apply(A.a), alpha: R.apply(A.alpha) },
    }
}

fn axis<S: Real>(k: usize) -> Vec3<S> {
    let mut v = Vec3::zeros();
    v[k] = S::one();
    v
}

impl Equation {
    /// The gap and its second derivative while no rate changes.
    fn value<S: Real>(self, a: &SideMotion<S>, b: &SideMotion<S>) -> (S, S) {
        let (d, dd, two) = (b.X.p - a.X.p, b.V.v - a.V.v, S::lit(2.0));
        match self {
            Equation::Meet(k) => (d[k], b.A.a[k] - a.A.a[k]),
            Equation::Across(k) => {
                let n = a.X.R.column(k);
                let (nd, w) = (cross(a.V.w, n), a.V.w);
                let ndd = cross(a.A.alpha, n) + cross(w, nd);
                (d.dot(&n), (b.A.a - a.A.a).dot(&n) + two * dd.dot(&nd) + d.dot(&ndd))
            }
            Equation::Square(i, j) => {
                let (x, y) = (a.X.R.column(i), b.X.R.column(j));
                let (xd, yd) = (cross(a.V.w, x), cross(b.V.w, y));
                let xdd = cross(a.A.alpha, x) + cross(a.V.w, xd);
                let ydd = cross(b.A.alpha, y) + cross(b.V.w, yd);
                (x.dot(&y), xdd.dot(&y) + two * xd.dot(&yd) + x.dot(&ydd))
            }
        }
    }

    /// What a motion of one side does to the gap: of the second side, or of the first with the sign changed.
    fn slope<S: Real>(self, a: &SideMotion<S>, b: &SideMotion<S>, moved: usize, t: Twist<S>) -> S {
        match self {
            Equation::Meet(k) => t.v.dot(&axis(k)),
            Equation::Across(k) => {
                let n = a.X.R.column(k);
                let lever = if moved == 0 { (b.X.p - a.X.p).dot(&cross(t.w, n)) } else { S::zero() };
                t.v.dot(&n) - lever
            }
            Equation::Square(i, j) => t.w.dot(&cross(b.X.R.column(j), a.X.R.column(i))),
        }
    }
}
