//! The bodies of a robot seen from each other: vectors are carried along the tree joint by joint.
//!
//! Constants, turns and slides stay apart, so that a vector meets one turn (six operations) where a product of rotation
//! matrices would have nine entries, and zeros of constants stay zeros. A run of parallel axes is one turn.

use super::plan::LegsPlan;
use crate::kinematics::Positions;
use crate::model::{BodyId, ClosureId, JointKind, Model, Node, PerBody};
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Turn, Vec3, vec3};

/// A body on its parent: `X_PB = X_PF Rz(turn) Tz(slide)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeLink<S: Real> {
    pub parent: Node,
    pub joint: JointKind,
    pub X_PF: Pose<S>,
    /// Of a revolute joint.
    pub turn: Turn<S>,
    /// Of a prismatic joint.
    pub slide: S,
    /// The first body of the run of parallel axes that ends here, and the turn from its frame F to this body.
    run: (BodyId, Turn<S>),
}

/// The tree at a posture.
#[derive(Clone, Debug)]
pub(super) struct TreeFrames<S: Real> {
    pub links: PerBody<TreeLink<S>>,
    pub X_WE: Pose<S>,
}

impl<S: Real> TreeLink<S> {
    /// `R_PB v`.
    pub fn up(&self, v: Vec3<S>) -> Vec3<S> {
        self.X_PF.R.apply(self.turn.apply(v))
    }

    /// `R_PBᵀ v`.
    pub fn down(&self, v: Vec3<S>) -> Vec3<S> {
        self.turn.apply_inv(self.X_PF.R.apply_inv(v))
    }

    /// The origin of the body in its parent.
    pub fn origin(&self) -> Vec3<S> {
        self.X_PF.p + self.X_PF.R.z() * self.slide
    }

    /// Unit motion of the joint about or along z, linear and angular part.
    pub fn unit(&self) -> (Vec3<S>, Vec3<S>) {
        let z = vec3(S::zero(), S::zero(), S::one());
        match self.joint {
            JointKind::Revolute => (Vec3::zeros(), z),
            JointKind::Prismatic => (z, Vec3::zeros()),
            JointKind::Fixed => (Vec3::zeros(), Vec3::zeros()),
        }
    }
}

/// Bodies of a run of parallel axes whose tip is tied to the platform: the line from the joint to the tip gives the turn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pointing {
    /// The closure and the side of the body.
    pub own: (ClosureId, usize),
    /// The closure and side whose frame is on the platform.
    pub platform: (ClosureId, usize),
}

/// Bodies whose axis is parallel to that of the body they stand on. Made on `f64`.
pub(super) fn parallel(model: &Model<f64>) -> PerBody<bool> {
    model.topology().bodies.map(|b, body| {
        let z = model.numbers().bodies[b].X_PF.R.z();
        matches!(body.parent, Node::Body(_)) && z.x.abs() < 1e-14 && z.y.abs() < 1e-14 && z.z > 0.0
    })
}

/// The turn, from frame F of the first body of its run, of a body whose origin is at `origin` of body `parent`: from its
/// joint to where its tip must be.
fn pointing<S: Real>(
    model: &Model<S>,
    links: &PerBody<TreeLink<S>>,
    origin: Vec3<S>,
    parent: BodyId,
    at: Pointing,
    pos: &Positions<S>,
) -> Turn<S> {
    let closures = &model.numbers().closures;
    let tip = closures[at.own.0][at.own.1].p;
    let target = pos.X_WE * closures[at.platform.0][at.platform.1].p;
    let (first, _) = links[parent].run;
    // Where the joint is, from frame F of the first body on.
    let mut joint = links[parent].run.1.apply(origin);
    let mut b = parent;
    while b != first
        && let Node::Body(below) = links[b].parent
    {
        joint += links[below].run.1.apply(links[b].origin());
        b = below;
    }
    let from_joint = links[first].X_PF.apply_inv(target) - joint;
    Turn::between(tip, from_joint, tip.x * tip.x + tip.y * tip.y)
}

impl<S: Real> TreeFrames<S> {
    /// From the joints of a posture.
    pub fn new(model: &Model<S>, plan: &LegsPlan, pos: &Positions<S>) -> Self {
        let topology = model.topology();
        let mut links: PerBody<TreeLink<S>> = PerBody::default();
        for (b, body) in topology.bodies.iter() {
            let numbers = &model.numbers().bodies[b];
            let followed = || numbers.coupling.iter().fold(S::zero(), |q, (c, k)| q + *k * pos.q(topology, *c));
            let turn = match (body.joint, body.coord, body.coupled.as_slice()) {
                (JointKind::Revolute, Some(c), _) => pos.joints[c].turn,
                (JointKind::Revolute, None, [(c, Some(sign))]) if *sign > 0.0 => pos.joints[*c].turn,
                (JointKind::Revolute, None, [(c, Some(_))]) => pos.joints[*c].turn.inverse(),
                (JointKind::Revolute, None, _) => Turn::of(followed()),
                _ => Turn::identity(),
            };
            let slide = match (body.joint, body.coord) {
                (JointKind::Prismatic, Some(c)) => pos.joints[c].value,
                (JointKind::Prismatic, None) => followed(),
                _ => S::zero(),
            };
            let run = match body.parent {
                Node::Body(p) if plan.parallel[b] => {
                    let (first, before) = links[p].run;
                    let R = &numbers.X_PF.R.0;
                    let turned = match plan.pointing[b] {
                        Some(at) => pointing(model, &links, numbers.X_PF.p, p, at, pos),
                        None => before * Turn { cos: R[(0, 0)], sin: R[(1, 0)] } * turn,
                    };
                    (first, turned)
                }
                _ => (b, turn),
            };
            links.push(TreeLink { parent: body.parent, joint: body.joint, X_PF: numbers.X_PF, turn, slide, run });
        }
        Self { links, X_WE: pos.X_WE }
    }

    /// Bodies from a node down to what its leg stands on.
    fn path(&self, node: Node) -> Vec<BodyId> {
        let mut path = Vec::new();
        let mut at = node;
        while let Node::Body(b) = at {
            path.push(b);
            at = self.links[b].parent;
        }
        path
    }

    /// A vector in the axes of `from`, in the axes of `to`. World and platform have the axes of the world.
    pub fn carry(&self, v: Vec3<S>, from: Node, to: Node) -> Vec3<S> {
        let (mut up, mut down) = (self.path(from), self.path(to));
        while let (Some(a), Some(b)) = (up.last(), down.last())
            && a == b
        {
            up.pop();
            down.pop();
        }
        let mut v = v;
        let mut i = 0;
        while i < up.len() {
            let (first, turn) = self.links[up[i]].run;
            if let Some(k) = up[i..].iter().position(|b| *b == first) {
                v = self.links[first].X_PF.R.apply(turn.apply(v));
                i += k + 1;
            } else {
                v = self.links[up[i]].up(v);
                i += 1;
            }
            if self.links[up[i - 1]].parent == Node::Platform {
                v = self.X_WE.R.apply(v);
            }
        }
        let mut end = down.len();
        while end > 0 {
            let top = down[end - 1];
            if self.links[top].parent == Node::Platform {
                v = self.X_WE.R.apply_inv(v);
            }
            // The last body whose run starts here is reached in one turn.
            let far = (0..end).find(|k| self.links[down[*k]].run.0 == top).unwrap_or(end - 1);
            let turn = self.links[down[far]].run.1;
            v = if self.links[down[far]].run.0 == top {
                turn.apply_inv(self.links[top].X_PF.R.apply_inv(v))
            } else {
                self.links[top].down(v)
            };
            end = if self.links[down[far]].run.0 == top { far } else { end - 1 };
        }
        v
    }

    /// The axes of a constant frame on `from`, seen from `to`.
    pub fn axes(&self, R: &Rotation<S>, from: Node, to: Node) -> Rotation<S> {
        let R = if from == Node::Platform { self.X_WE.R * *R } else { *R };
        let column = |k: usize| self.carry(R.column(k), from, to);
        Rotation::from_columns(column(0), column(1), column(2))
    }
}
