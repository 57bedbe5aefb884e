//! Which legs are a driven body and a rod, and with which numbers: decided on `f64`.

use super::plan::LegsPlan;
use super::rods::{RodFoot, RodLeg, RodLegs, Spin};
use crate::kinematics::Positions;
use crate::model::{BodyId, ClosureId, JointKind, LegId, Model, Node};
use crate::spatial::{Inertia, Pose, Rotation, Vec3};

/// What differs by less, without unit, is equal.
const SAME: f64 = 1e-12;
/// What is this much of the robot's size away is somewhere else.
const NEAR: f64 = 1e-9;

/// Axes in which the vectors of a leg are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LegAxes {
    /// Those of the world.
    World,
    /// Those of the joint of the driven body.
    Joint,
}

impl RodLegs {
    /// All legs of a robot in the postures that the plan was made for, when all of them are such legs, one to a drive.
    pub fn new(model: &Model<f64>, plan: &LegsPlan, postures: &[Positions<f64>], axes: LegAxes) -> Option<Self> {
        let topology = model.topology();
        if topology.active.len() != topology.legs.len() {
            return None;
        }
        let (mut legs, mut platform) = (Vec::new(), model.numbers().platform);
        for c in &topology.active {
            let leg = topology.coords[*c].leg;
            let seen = LegSeen::new(model, plan, leg)?;
            let (mut found, carried) = seen.leg(axes)?;
            found.sign = seen.sign(&found, postures)?;
            platform = platform + Inertia::point(carried, found.point);
            legs.push(found);
        }
        Some(Self { legs, platform })
    }

    /// Whether the axes of the legs are those of the world but for their order and signs.
    pub fn stand_square(&self) -> bool {
        self.legs.iter().all(|leg| leg.axes.0.iter().all(|x| x.abs() < SAME || (x.abs() - 1.0).abs() < SAME))
    }
}

/// Entries that are whole numbers but for rounding are whole.
fn cleaned(x: f64) -> f64 {
    if (x - x.round()).abs() < SAME { x.round() + 0.0 } else { x }
}

/// A leg of which it is asked whether it is a driven body and a rod.
struct LegSeen<'a> {
    model: &'a Model<f64>,
    leg: LegId,
    driven: BodyId,
    /// The revolute bodies of the rod: one for a rod in a plane, two otherwise, of which the last is the rod.
    joints: Vec<BodyId>,
    /// The tip in the frame of the rod.
    tip: Vec3<f64>,
    /// The point on the platform.
    point: Vec3<f64>,
}

impl<'a> LegSeen<'a> {
    fn new(model: &'a Model<f64>, plan: &LegsPlan, leg: LegId) -> Option<Self> {
        let topology = model.topology();
        let c: ClosureId = plan.tip(model, leg)?;
        let tie = &plan.ties[c];
        let Node::Body(last) = tie.node else { return None };
        let moves = |b: &BodyId| topology.bodies[*b].joint != JointKind::Fixed;
        let mut joints: Vec<BodyId> = topology.path(last).into_iter().filter(moves).collect();
        let own = |b: BodyId| joints.contains(&b) || !moves(&b);
        let plain = |b: &BodyId| topology.bodies[*b].coord.is_some() && !topology.bodies[*b].held;
        if !topology.legs[leg].bodies.iter().all(own) || !joints.iter().all(plain) || joints.is_empty() {
            return None;
        }
        let driven = joints.remove(0);
        let numbers = &model.numbers().closures;
        let point = numbers[tie.other_frame.0][tie.other_frame.1].p;
        let mut seen = Self { model, leg, driven, joints, tip: Vec3::zeros(), point };
        seen.tip = seen.on_moving(last).1 * numbers[c][tie.side].p;
        seen.drop_light_tip();
        let turns = |b: &BodyId| topology.bodies[*b].joint == JointKind::Revolute;
        let drives = topology.legs[leg].coords.iter().filter(|c| topology.active.contains(c)).count();
        let first = topology.bodies[driven].coord.is_some_and(|c| topology.active.contains(&c));
        let stands = topology.bodies[driven].parent == Node::World;
        (seen.joints.iter().all(turns) && drives == 1 && first && stands).then_some(seen)
    }

    /// A body without mass that turns about the tip alone moves nothing.
    fn drop_light_tip(&mut self) {
        while self.joints.len() > 1
            && let Some(&b) = self.joints.last()
            && self.tip.norm() < NEAR * self.model.size()
            && is_null(&self.composite(b))
        {
            self.joints.pop();
            self.tip = self.joint_frame(b).1.p;
        }
    }

    /// The moving body that a body is fixed to, itself where it moves, and its pose there.
    fn on_moving(&self, b: BodyId) -> (BodyId, Pose<f64>) {
        let (mut at, mut X) = (b, Pose::identity());
        while self.model.topology().bodies[at].joint == JointKind::Fixed
            && let Node::Body(parent) = self.model.topology().bodies[at].parent
        {
            X = self.model.numbers().bodies[at].X_PF * X;
            at = parent;
        }
        (at, X)
    }

    /// The frame F of a body's joint on the moving body before it.
    fn joint_frame(&self, b: BodyId) -> (Option<BodyId>, Pose<f64>) {
        let X_PF = self.model.numbers().bodies[b].X_PF;
        match self.model.topology().bodies[b].parent {
            Node::Body(p) => {
                let (on, X) = self.on_moving(p);
                (Some(on), X * X_PF)
            }
            _ => (None, X_PF),
        }
    }

    /// Inertia of a moving body with what is fixed to it.
    fn composite(&self, b: BodyId) -> Inertia<f64> {
        let bodies = self.model.topology().legs[self.leg].bodies.iter();
        let own = bodies.filter_map(|k| {
            let (on, X) = self.on_moving(k);
            (on == b).then(|| self.model.numbers().bodies[k].inertia.seen_from(&X))
        });
        own.fold(Inertia::zero(), |sum, i| sum + i)
    }

    /// The leg, its sign open, and the mass of the rod that the platform carries.
    fn leg(&self, axes: LegAxes) -> Option<(RodLeg, f64)> {
        let X_WF = self.model.numbers().bodies[self.driven].X_PF;
        let (foot_joint, rod) = (*self.joints.first()?, *self.joints.last()?);
        let X_foot = self.joint_frame(foot_joint).1;
        let R = match axes {
            LegAxes::World => Rotation::identity(),
            LegAxes::Joint => Rotation(X_WF.R.0.map(cleaned)),
        };
        let seen = |v: Vec3<f64>| R.apply_inv(v).map(cleaned);
        let (e, axis, foot) = (seen(X_WF.R.z()), seen(X_WF.R.apply(X_foot.R.z())), X_foot.p);
        let slides = self.model.topology().bodies[self.driven].joint == JointKind::Prismatic;
        let along = e.dot(&axis).abs();
        let flat = self.joints.len() == 1;
        // The axis of the foot keeps its direction, and a rod in a plane has its drive in that plane.
        let fits = if slides { !flat || along < SAME } else { (along - 1.0).abs() < SAME };
        let tip = if flat { Vec3::new(self.tip.x, self.tip.y, 0.0) } else { self.tip };
        let square = tip.norm_squared();
        if !fits || square.sqrt() < NEAR * self.model.size() || !(flat || self.is_universal()) {
            return None;
        }
        let (carried, across, about) = lumped(&self.composite(rod), tip, flat)?;
        let all = self.composite(self.driven) + Inertia::point(self.composite(rod).m - carried, foot);
        let rotor = self.model.topology().bodies[self.driven].coord.map(|c| self.model.numbers().joints[c].rotor)?;
        let arm = foot.xy();
        let (driven, inertia, base) = if slides {
            (RodFoot::Slide { mass: all.m }, all.m, X_WF * foot)
        } else {
            let l2 = arm.norm_squared();
            if l2.sqrt() < NEAR * self.model.size() {
                return None;
            }
            let moment = [all.ms.xy().dot(&arm) / l2, (arm.x * all.ms.y - arm.y * all.ms.x) / l2];
            let middle = X_WF * Vec3::new(0.0, 0.0, foot.z);
            (RodFoot::Arm { length: l2.sqrt(), moment: moment.map(zeroed) }, all.I_o[(2, 2)], middle)
        };
        let light = |v: Vec3<f64>, size: f64| v.map(|x| if x.abs() < SAME * size { 0.0 } else { x });
        let leg = RodLeg {
            axes: R,
            point: self.point,
            base: light(R.apply_inv(base), self.model.size()),
            e,
            normal: flat.then_some(axis),
            driven,
            inertia: inertia + rotor,
            square,
            across: across / square,
            spin: (about != 0.0).then_some(Spin { inertia: about / square, axis }),
            sign: 1.0,
            gravity: light(R.apply_inv(self.model.numbers().gravity), self.model.numbers().gravity.norm()),
        };
        Some((leg, carried))
    }

    /// Whether the rod turns about two axes that cross at right angles in its foot, and lies across the second.
    fn is_universal(&self) -> bool {
        let [middle, rod] = self.joints[..] else { return false };
        let X = self.joint_frame(rod).1;
        let near = |x: f64| x.abs() < NEAR * self.model.size();
        is_null(&self.composite(middle)) && near(X.p.norm()) && X.R.z().z.abs() < SAME && near(self.tip.z)
    }

    /// The sign of the square root that gives the foot where it is, in all postures.
    fn sign(&self, leg: &RodLeg, postures: &[Positions<f64>]) -> Option<f64> {
        let (foot_joint, axes) = (*self.joints.first()?, &leg.axes);
        let foot = self.joint_frame(foot_joint).1.p;
        let off = |sign: f64, pos: &Positions<f64>| {
            let p = pos.X_WE * self.point;
            let r = RodLeg { sign, ..*leg }.place(axes.apply_inv(p) - leg.base).r;
            let mut by = axes.apply_inv(p - pos.X_WB[self.driven] * foot) - r;
            leg.normal.into_iter().for_each(|n| by -= n * n.dot(&by));
            by.norm()
        };
        let right = |sign: &f64| postures.iter().all(|pos| off(*sign, pos) < NEAR * self.model.size());
        [1.0, -1.0].into_iter().find(right)
    }
}

fn zeroed(x: f64) -> f64 {
    if x.abs() < SAME { 0.0 } else { x }
}

fn is_null(i: &Inertia<f64>) -> bool {
    i.m == 0.0 && i.ms.amax() == 0.0 && i.I_o.amax() == 0.0
}

/// A rod with its mass in its ends: the mass in the tip, and the moments about the foot that are left, across and about the
/// rod, (8.229)-(8.236). `None` where its first moment is not along it, or its moments are not those of a body of revolution.
fn lumped(rod: &Inertia<f64>, tip: Vec3<f64>, flat: bool) -> Option<(f64, f64, f64)> {
    let square = tip.norm_squared();
    let carried = rod.ms.dot(&tip) / square;
    let mut aside = rod.ms - tip * carried;
    if flat {
        aside.z = 0.0;
    }
    let left = *rod + Inertia::point(-carried, tip);
    let size = rod.I_o.amax() + rod.ms.amax() * square.sqrt();
    if aside.norm() * square.sqrt() > SAME * size {
        return None;
    }
    if flat {
        return Some((carried, left.I_o[(2, 2)], 0.0));
    }
    let u = tip / square.sqrt();
    let about = u.dot(&(left.I_o * u));
    let across = 0.5 * (left.I_o.trace() - about);
    let revolved = (left.I_o * u - u * about).norm();
    let uneven = left.I_o - u * u.transpose() * (about - across) - crate::spatial::Mat3::identity() * across;
    (revolved.max(uneven.amax()) <= SAME * size).then_some((
        carried,
        across,
        if about.abs() < SAME * size { 0.0 } else { about },
    ))
}
