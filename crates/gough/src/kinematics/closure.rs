//! Closure of the loops: residuals and the wrenches that are their derivatives, section 4.4 and (7.2).
//!
//! A closure with frames A and B on its two sides imposes rows. Each row's derivative is the power of a wrench on the
//! motion of B against A: positions give forces through the origin of B, orientations give moments.

use super::positions::Positions;
use crate::description::ClosureJoint;
use crate::model::{Anchor, BodyId, BodyNumbers, ClosureId, CoordId, JointKind, LegStructure, Model, Node};
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Twist, Vec3, Wrench, null};

/// Most rows of a closure.
pub const MOST_ROWS: usize = 6;

/// A closure at a posture: the frames of its two sides in the world, and the axes along which positions are compared.
#[derive(Clone, Copy, Debug)]
pub struct ClosureAt<S: Real> {
    /// Kind of joint.
    pub joint: ClosureJoint,
    /// Frame of the first side.
    pub A: Pose<S>,
    /// Frame of the second side.
    pub B: Pose<S>,
    /// Fixed axes for positions; joints that slide compare along the axes of A instead.
    pub axes: Rotation<S>,
}

/// What a row of a closure compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// Position along a fixed axis.
    Point(usize),
    /// Position along x or y of A.
    Across(usize),
    /// z of B against x, y or z of A: at right angles.
    Square(usize),
    /// Rotation about x, y or z of A: none.
    Turn(usize),
}

/// What row `row` of a closure compares.
#[inline]
pub fn row_kind(joint: ClosureJoint, row: usize) -> RowKind {
    match (joint, row) {
        (ClosureJoint::Prismatic | ClosureJoint::Cylindrical, 0 | 1) => RowKind::Across(row),
        (ClosureJoint::Cylindrical, _) => RowKind::Square(row - 2),
        (ClosureJoint::Prismatic, _) => RowKind::Turn(row - 2),
        (_, 0..=2) => RowKind::Point(row),
        (ClosureJoint::Universal, _) => RowKind::Square(2),
        (ClosureJoint::Fixed, _) => RowKind::Turn(row - 3),
        _ => RowKind::Square(row - 3),
    }
}

impl RowKind {
    /// Whether the row is a length.
    pub fn is_length(self) -> bool {
        matches!(self, RowKind::Point(_) | RowKind::Across(_))
    }
}

impl<S: Real> ClosureAt<S> {
    /// By how much a row misses zero.
    pub fn residual(&self, kind: RowKind) -> S {
        let (A, B) = (&self.A.R, &self.B.R);
        match kind {
            RowKind::Point(k) => self.axes.column(k).dot(&(self.B.p - self.A.p)),
            RowKind::Across(k) => A.column(k).dot(&(self.B.p - self.A.p)),
            RowKind::Square(k) => A.column(k).dot(&B.z()),
            RowKind::Turn(k) => {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                (A.column(j).dot(&B.column(i)) - A.column(i).dot(&B.column(j))) * S::lit(0.5)
            }
        }
    }

    /// The wrench, at the origin of B, whose power on the motion of B against A is the rate of the row.
    #[inline(always)]
    pub fn wrench(&self, kind: RowKind) -> Wrench<S> {
        match kind {
            RowKind::Point(k) => force(self.axes.column(k)),
            RowKind::Across(k) => force(self.A.R.column(k)),
            RowKind::Square(k) => moment(self.B.R.z().cross(&self.A.R.column(k))),
            RowKind::Turn(k) => moment(self.A.R.column(k)),
        }
    }

    /// What the second derivative of a row has beyond the power of its wrench on the difference of accelerations: `V_A`
    /// and `V_B` are the twists of both sides at the origin of B.
    #[inline]
    pub fn velocity_terms(&self, kind: RowKind, V_A: Twist<S>, V_B: Twist<S>) -> S {
        match kind {
            RowKind::Point(_) | RowKind::Turn(_) => S::zero(),
            RowKind::Across(k) => {
                // In A the origin of B accelerates by a_B - a_A - 2 ω_A × v_rel.
                let slide = V_A.w.cross(&(V_B.v - V_A.v));
                -(self.A.R.column(k).dot(&slide) * S::lit(2.0))
            }
            RowKind::Square(k) => {
                let (a, z) = (self.A.R.column(k), self.B.R.z());
                let change = V_B.w.cross(&z).cross(&a) + z.cross(&V_A.w.cross(&a));
                (V_B.w - V_A.w).dot(&change)
            }
        }
    }
}

fn force<S: Real>(f: Vec3<S>) -> Wrench<S> {
    Wrench { f, m: null() }
}

fn moment<S: Real>(m: Vec3<S>) -> Wrench<S> {
    Wrench { f: null(), m }
}

/// Axes along which a leg compares positions: those of its first joint on the base, so that legs of one make look alike.
#[inline]
pub fn leg_axes<S: Real>(leg: LegStructure<'_>, numbers: &[BodyNumbers<S>]) -> Rotation<S> {
    match leg.bodies.first().map(|b| b.anchor) {
        Some(Anchor::World) => numbers[0].X_PF.R,
        _ => Rotation::identity(),
    }
}

/// A closure of the robot for posed bodies.
pub fn closure_at<S: Real>(model: &Model<S>, c: ClosureId, pos: &Positions<S>) -> ClosureAt<S> {
    let topology = model.topology();
    let closure = &topology.closures[c];
    let frames = &model.numbers().closures[c];
    let leg = &topology.legs[closure.leg];
    ClosureAt {
        joint: closure.joint,
        A: pos.node(closure.sides[0]) * frames[0],
        B: pos.node(closure.sides[1]) * frames[1],
        axes: leg_axes(topology.structure(leg), model.numbers().bodies.slice(leg.bodies)),
    }
}

/// Motion that one unit of a body's joint rate gives to what it carries, at the origin of the platform, in world axes.
#[inline]
pub fn joint_twist<S: Real>(model: &Model<S>, b: BodyId, pos: &Positions<S>) -> Twist<S> {
    let X: &Pose<S> = &pos.X_WB[b];
    let z = X.R.z();
    match model.topology().bodies[b].joint {
        JointKind::Fixed => Twist::zero(),
        JointKind::Revolute => Twist { v: z.cross(&(pos.X_WE.p - X.p)), w: z },
        JointKind::Prismatic => Twist { v: z, w: null() },
    }
}

/// What moves a node: calls `joint` with every coordinate between the node and its root, its rate's coefficient and the
/// body whose joint it moves; the answer is whether the root is the platform, or the body `platform` that stands for it.
#[inline]
pub fn movers<S: Real>(
    model: &Model<S>,
    node: Node,
    platform: Option<BodyId>,
    joint: &mut dyn FnMut(CoordId, S, BodyId),
) -> bool {
    let mut at = node;
    loop {
        match at {
            Node::World => return false,
            Node::Platform => return true,
            Node::Body(b) if platform == Some(b) => return true,
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

/// By how much one closure misses closing: metres and radians.
pub fn closure_gap(model: &Model<f64>, c: ClosureId, pos: &Positions<f64>) -> (f64, f64) {
    let at = closure_at(model, c, pos);
    let (A, B) = (&at.A, &at.B);
    let (mut length, mut angle) = (0.0, 0.0);
    for row in 0..at.joint.rows() {
        let kind = row_kind(at.joint, row);
        *(if kind.is_length() { &mut length } else { &mut angle }) += at.residual(kind).powi(2);
    }
    let (length, mut angle) = (f64::sqrt(length), f64::sqrt(angle));
    let turned_round = match at.joint {
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
