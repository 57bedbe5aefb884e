//! Inertias moved to where they take fewest operations: the efforts do not change, (8.229)-(8.236) and section 8.7.
//!
//! What a revolute joint cannot tell from its parent (mass, first moment along the axis, equal moments across it) goes to
//! the parent; the moments of what slides go to what it slides on; and a point mass goes through a closure that joins two
//! points. A rod between two ball joints is left with an inertia and neither mass nor first moment.

use super::legs::Inertias;
use super::plan::joins_points;
use crate::model::{BodyId, ClosureId, JointKind, Model, Node, PerBody};
use crate::scalar::Real;
use crate::spatial::{Inertia, Mat3, Vec3};

/// A point mass through a closure.
#[derive(Clone, Copy, PartialEq, Debug)]
struct MassCrossing {
    closure: ClosureId,
    /// The side it leaves.
    side: usize,
    /// It makes this component of the first moment vanish, or the mass.
    kills: Option<usize>,
}

/// What crosses the closures of each body. Made on `f64`.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Regrouping {
    crossings: PerBody<Option<MassCrossing>>,
    order: Vec<BodyId>,
}

impl Regrouping {
    /// For a robot.
    pub fn new(model: &Model<f64>) -> Self {
        let topology = model.topology();
        let order: Vec<BodyId> =
            topology.order.iter().rev().flat_map(|leg| topology.legs[*leg].bodies.iter().rev()).collect();
        let rank = |node: Node| match node {
            Node::Body(b) => order.iter().position(|o| *o == b).unwrap_or(0),
            Node::Platform | Node::World => order.len(),
        };
        let crossing = |b: BodyId| {
            topology.closures.iter().find_map(|(c, closure)| {
                let side = closure.sides.iter().position(|s| *s == Node::Body(b))?;
                let later = rank(closure.sides[1 - side]) > rank(Node::Body(b));
                if !(later && joins_points(closure.joint)) {
                    return None;
                }
                let p = model.numbers().closures[c][side].p;
                let kills = match topology.bodies[b].joint {
                    JointKind::Revolute => Some(usize::from(p.x.abs() < p.y.abs())),
                    JointKind::Prismatic | JointKind::Fixed => None,
                };
                let far = kills.is_none_or(|k| p[k].abs() > 1e-9 * model.size());
                far.then_some(MassCrossing { closure: c, side, kills })
            })
        };
        Self { crossings: topology.bodies.map(|b, _| crossing(b)), order }
    }

    /// The inertias of a model, regrouped.
    pub fn apply<S: Real>(&self, model: &Model<S>) -> Inertias<S> {
        let mut all = Inertias::of(model);
        for &b in &self.order {
            if let Some(crossing) = self.crossings[b] {
                cross(model, b, crossing, &mut all);
            }
            descend(model, b, &mut all);
        }
        all
    }
}

/// Move a point mass from a body to what it is tied to.
fn cross<S: Real>(model: &Model<S>, b: BodyId, crossing: MassCrossing, all: &mut Inertias<S>) {
    let MassCrossing { closure, side, kills } = crossing;
    let frames = &model.numbers().closures[closure];
    let own = all.bodies[b];
    let m = kills.map_or(own.m, |k| own.ms[k] / frames[side].p[k]);
    let mut left = own + Inertia::point(-m, frames[side].p);
    match kills {
        Some(k) => left.ms[k] = S::zero(),
        None => left.m = S::zero(),
    }
    all.bodies[b] = left;
    give(model.topology().closures[closure].sides[1 - side], Inertia::point(m, frames[1 - side].p), all);
}

/// Give what the joint of a body does not tell apart to its parent.
fn descend<S: Real>(model: &Model<S>, b: BodyId, all: &mut Inertias<S>) {
    let body = &model.topology().bodies[b];
    let Inertia { m, ms, I_o } = all.bodies[b];
    let (o, zero) = (S::zero(), Inertia::zero());
    let (left, given) = match body.joint {
        JointKind::Revolute => {
            let across = I_o[(1, 1)];
            let mut own = I_o;
            own[(0, 0)] -= across;
            own[(1, 1)] = o;
            let given =
                Inertia { m, ms: Vec3::new(o, o, ms.z), I_o: Mat3::from_diagonal(&Vec3::new(across, across, o)) };
            (Inertia { m: o, ms: Vec3::new(ms.x, ms.y, o), I_o: own }, given)
        }
        JointKind::Prismatic => (Inertia { m, ms, I_o: Mat3::zeros() }, Inertia { m: o, ms: Vec3::zeros(), I_o }),
        JointKind::Fixed => (zero, all.bodies[b]),
    };
    all.bodies[b] = left;
    give(body.parent, given.seen_from(&model.numbers().bodies[b].X_PF), all);
}

fn give<S: Real>(to: Node, inertia: Inertia<S>, all: &mut Inertias<S>) {
    match to {
        Node::World => {}
        Node::Platform => all.platform = all.platform + inertia,
        Node::Body(b) => all.bodies[b] = all.bodies[b] + inertia,
    }
}

/// The inertias as they are, or regrouped on `f64`; entries that are zero but for rounding are zero.
pub(super) fn cleaned(all: &Inertias<f64>) -> Inertias<f64> {
    let clean = |i: &Inertia<f64>| {
        let size = i.I_o.amax() + i.m.abs() + i.ms.amax();
        i.map(&mut |x: f64| if x.abs() < 1e-15 * size { 0.0 } else { x })
    };
    Inertias { bodies: all.bodies.map(|_, i| clean(i)), platform: clean(&all.platform) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::legs::Legs;
    use crate::codegen::models::Subject;
    use crate::codegen::{ModelKind, Solve};

    #[test]
    fn regrouped_inertias_take_the_same_efforts() {
        for name in crate::robots::names() {
            let robot = crate::Robot::shipped(name).unwrap();
            let model = robot.model();
            let subject =
                Subject::new(&robot, robot.mode(), Vec::new(), false, Solve::Unrolled, ModelKind::Idm).unwrap();
            let n = model.topology().platform.independent.len();
            let some = |k: usize| 0.7 - 0.4 * k as f64;
            let motion =
                subject.motion(&(0..n).map(some).collect::<Vec<_>>(), &(n..2 * n).map(some).collect::<Vec<_>>());
            let legs = Legs::new(model, &subject.plan, robot.home().positions(), motion);
            let (before, after) = (Inertias::of(model), cleaned(&Regrouping::new(model).apply(model)));
            let efforts = |inertias: &Inertias<f64>| {
                subject.solve_drives(&subject.platform_system(
                    &legs,
                    inertias,
                    model.numbers().gravity,
                    &legs.loads(false),
                ))
            };
            let (a, b) = (efforts(&before), efforts(&after));
            let scale = a.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-11 * scale), "{name}: {a:?} {b:?}");
            let numbers = |all: &Inertias<f64>| {
                let of =
                    |i: &Inertia<f64>| i.ms.iter().chain(i.I_o.iter()).chain([&i.m]).filter(|x| **x != 0.0).count();
                all.bodies.values().map(of).sum::<usize>()
            };
            assert!(numbers(&after) < numbers(&before), "{name}: {} {}", numbers(&after), numbers(&before));
        }
    }

    #[test]
    fn a_rod_is_left_with_neither_mass_nor_first_moment() {
        let robot = crate::Robot::shipped("orthoglide").unwrap();
        let after = cleaned(&Regrouping::new(robot.model()).apply(robot.model()));
        let rod = after.bodies[robot.model().topology().body("13").unwrap()];
        assert_eq!((rod.m, rod.ms), (0.0, Vec3::zeros()));
        assert!(rod.I_o[(2, 2)] != 0.0);
    }
}
