//! Loops at position, velocity and acceleration level, (10.104)-(10.119), on deformed bodies.

use super::plan::{FlexibleModel, Loop};
use super::recursion::{FlexibleData, FrameMotion};
use crate::description::ClosureJoint;
use crate::linalg::small::Dense;
use crate::scalar::Real;
use crate::spatial::{Accel, Pose, Twist, Vec3, Wrench, cross};

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

/// Points that meet, and no rotation between the sides: each square pair is a component of its vector.
const FIXED: [Equation; 6] = {
    use Equation::{Meet, Square};
    [Meet(0), Meet(1), Meet(2), Square(1, 2), Square(2, 0), Square(0, 1)]
};
const PINNED: [Equation; 5] = {
    use Equation::{Meet, Square};
    [Meet(0), Meet(1), Meet(2), Square(0, 2), Square(1, 2)]
};
const SLIDING: [Equation; 5] = {
    use Equation::{Across, Square};
    [Across(0), Across(1), Square(1, 2), Square(2, 0), Square(0, 1)]
};
const CROSSED: [Equation; 4] = {
    use Equation::{Meet, Square};
    [Meet(0), Meet(1), Meet(2), Square(2, 2)]
};
const SLEEVED: [Equation; 4] = {
    use Equation::{Across, Square};
    [Across(0), Across(1), Square(0, 2), Square(1, 2)]
};

fn equations(joint: ClosureJoint) -> &'static [Equation] {
    match joint {
        ClosureJoint::Fixed => &FIXED,
        ClosureJoint::Revolute => &PINNED,
        ClosureJoint::Prismatic => &SLIDING,
        ClosureJoint::Universal => &CROSSED,
        ClosureJoint::Spherical => &FIXED[..3],
        ClosureJoint::Cylindrical => &SLEEVED,
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

    /// Gaps alone where poses are placed.
    pub(super) fn gaps(&self, data: &FlexibleData<S>, out: &mut LoopEquations<S>) {
        let mut row = 0;
        for l in &self.loops {
            let [a, b] = [0, 1].map(|k| place_of(l, k, data));
            for e in equations(l.joint) {
                out.gap[row] = e.gap(&a, &b);
                row += 1;
            }
        }
    }

    /// Gaps and their Jacobian where frames are placed.
    pub fn close(&self, data: &FlexibleData<S>, out: &mut LoopEquations<S>) {
        out.J.clear();
        let mut row = 0;
        for l in &self.loops {
            let [a, b] = [0, 1].map(|k| place_of(l, k, data));
            let rows = equations(l.joint);
            rows.iter().enumerate().for_each(|(i, e)| out.gap[row + i] = e.gap(&a, &b));
            for k in 0..2 {
                let Some(f) = l.sides[k].0 else { continue };
                let frame = &data.frames[f];
                for (i, e) in rows.iter().enumerate() {
                    let felt = e.felt(&a, &b, k);
                    // The same wrench at the origin of the frame, in its axes.
                    let (f_F, m_F) = (frame.X_WF.R.apply_inv(felt.f), frame.X_WF.R.apply_inv(felt.m));
                    let felt = Wrench { f: f_F, m: m_F + cross(l.sides[k].1.p, f_F) };
                    let J = &mut out.J.data[(row + i) * out.J.cols..][..out.J.cols];
                    for (slot, t) in self.frames[f].path.iter().zip(&frame.columns) {
                        J[*slot] += t.power(felt);
                    }
                }
            }
            row += rows.len();
        }
    }

    /// What the gaps accelerate by while no rate changes, where frames have moved.
    pub fn drift(&self, data: &FlexibleData<S>, out: &mut LoopEquations<S>) {
        let mut row = 0;
        for l in &self.loops {
            let [a, b] = [0, 1].map(|k| side(l, k, data));
            for e in equations(l.joint) {
                out.bias[row] = e.bias(&a, &b);
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

fn place_of<S: Real>(l: &Loop<S>, k: usize, data: &FlexibleData<S>) -> Pose<S> {
    let (frame, X) = &l.sides[k];
    frame.map_or(*X, |f| data.frames[f].X_WF * *X)
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

impl Equation {
    /// How far it is from fulfilled, for where the sides stand.
    fn gap<S: Real>(self, a: &Pose<S>, b: &Pose<S>) -> S {
        match self {
            Equation::Meet(k) => b.p[k] - a.p[k],
            Equation::Across(k) => (b.p - a.p).dot(&a.R.column(k)),
            Equation::Square(i, j) => a.R.column(i).dot(&b.R.column(j)),
        }
    }

    /// The second derivative of the gap while no rate changes.
    fn bias<S: Real>(self, a: &SideMotion<S>, b: &SideMotion<S>) -> S {
        let two = S::lit(2.0);
        match self {
            Equation::Meet(k) => b.A.a[k] - a.A.a[k],
            Equation::Across(k) => {
                let n = a.X.R.column(k);
                let (nd, w) = (cross(a.V.w, n), a.V.w);
                let ndd = cross(a.A.alpha, n) + cross(w, nd);
                (b.A.a - a.A.a).dot(&n) + two * (b.V.v - a.V.v).dot(&nd) + (b.X.p - a.X.p).dot(&ndd)
            }
            Equation::Square(i, j) => {
                let (x, y) = (a.X.R.column(i), b.X.R.column(j));
                let (xd, yd) = (cross(a.V.w, x), cross(b.V.w, y));
                let xdd = cross(a.A.alpha, x) + cross(a.V.w, xd);
                let ydd = cross(b.A.alpha, y) + cross(b.V.w, yd);
                xdd.dot(&y) + two * xd.dot(&yd) + x.dot(&ydd)
            }
        }
    }

    /// The wrench at the point of a side, in world axes, whose power is the rate of the gap while that side moves alone.
    fn felt<S: Real>(self, a: &Pose<S>, b: &Pose<S>, moved: usize) -> Wrench<S> {
        let zero = Vec3::zeros();
        let felt = match self {
            Equation::Meet(k) => {
                let mut f = zero;
                f[k] = S::one();
                Wrench { f, m: zero }
            }
            Equation::Across(k) => {
                let n = a.R.column(k);
                Wrench { f: n, m: if moved == 0 { cross(b.p - a.p, n) } else { zero } }
            }
            Equation::Square(i, j) => Wrench { f: zero, m: cross(b.R.column(j), a.R.column(i)) },
        };
        if moved == 0 { Wrench { f: -felt.f, m: -felt.m } } else { felt }
    }
}
