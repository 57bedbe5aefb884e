//! Legs that closed forms know altogether: an elbow or a strut in the plane, a strut in space, from the base to a point of the
//! platform. What such a leg does to the platform is a force in the point, a function of the point's motion alone.

use super::Model;
use super::forms::{Slot, Step};
use super::ids::{Id, LegId};
use super::numbers::{BodyNumbers, JointNumbers};
use super::topology::{Anchor, Closure, Leg, LegStructure, Node, Topology};
use crate::description::{ClosureJoint, Coordinate};
use crate::scalar::{LANES, Lanes, Real, lanes};
use crate::spatial::{Inertia, Pose, Rotation, Turn, Vec3, vec3};

/// A leg to a point, or four of them in lanes.
#[derive(Clone, Debug)]
pub struct PointLeg<S: Real> {
    /// Frame F of its first joint in the world.
    pub base: Pose<S>,
    /// The point, on the platform.
    pub point: Vec3<S>,
    /// Gravity in the axes of the base.
    pub gravity: Vec3<S>,
    /// Rotors and friction of its joints.
    pub joints: Vec<JointNumbers<S>>,
    /// Where its joints must stay.
    pub holds: Vec<Hold<S>>,
    /// Its links.
    pub chain: Chain<S>,
}

/// Where a joint must stay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hold<S> {
    /// Anywhere.
    Free,
    /// Near a turn: the cosine of what lies between is at least `least`.
    Turn {
        /// The middle.
        middle: Turn<S>,
        /// Cosine of half the range.
        least: S,
    },
    /// Between two lengths.
    Slide {
        /// Lowest.
        low: S,
        /// Highest.
        high: S,
    },
}

/// Links of a leg to a point.
#[derive(Clone, Debug)]
pub enum Chain<S: Real> {
    /// Two parallel revolutes.
    Elbow(Elbow<S>),
    /// A revolute and a slide across it.
    Swing(Swing<S>),
    /// Two revolutes that cross at right angles and a slide through the crossing, across the second.
    Strut(PointStrut<S>),
}

/// Inertia in the plane: mass, first moment along and across a link, moment about the joint.
#[derive(Clone, Copy, Debug)]
pub struct Flat<S> {
    /// Mass.
    pub m: S,
    /// First moment along the link and across it.
    pub ms: [S; 2],
    /// Moment about the axis.
    pub zz: S,
}

/// Two links in the plane. First moments are divided by the length of their link.
#[derive(Clone, Debug)]
pub struct Elbow<S: Real> {
    /// The second joint in the frame M of the first.
    pub elbow: Vec3<S>,
    /// Axes of the frame F of the second joint in M of the first.
    pub axes: Rotation<S>,
    /// The tip in M of the second joint.
    pub tip: Vec3<S>,
    /// Squared lengths of the links.
    pub squares: [S; 2],
    /// One when the axes point the same way, minus one when they are opposite.
    pub same: S,
    /// The links.
    pub links: [Flat<S>; 2],
    /// Least sine of the elbow, times both lengths.
    pub least: S,
}

/// A link that turns, and one that slides along it, in the plane.
#[derive(Clone, Debug)]
pub struct Swing<S: Real> {
    /// Direction of the slide in the frame M of the first joint.
    pub along: Vec3<S>,
    /// Distance of the point from the base with the slide at zero.
    pub reach: S,
    /// One when the point lies ahead on the slide, minus one when it lies behind.
    pub ahead: S,
    /// The link that turns, and the one that slides, the latter with the point at the base.
    pub links: [Flat<S>; 2],
    /// Least distance of the point from the base.
    pub least: S,
}

/// A link that turns about two axes that cross, and one that slides through the crossing. Axes of the links: the second
/// revolute, across, and from the base to the point.
#[derive(Clone, Debug)]
pub struct PointStrut<S: Real> {
    /// Frame F of the second joint in M of the first.
    pub axes: Rotation<S>,
    /// From the base to the point, in M of the second joint.
    pub along: Vec3<S>,
    /// Distance of the point from the base with the slide at zero, along the slide.
    pub reach: S,
    /// One when the point lies ahead on the slide, minus one when it lies behind.
    pub ahead: S,
    /// One, or minus one for the other side of the first joint.
    pub side: S,
    /// First moment of the first body along the second axis and across it, and its moment about the first.
    pub first: Flat<S>,
    /// The link that turns.
    pub turns: Inertia<S>,
    /// The link that slides, with the point at the base.
    pub slides: Inertia<S>,
    /// Least distance of the point from the base.
    pub least: S,
}

/// Up to four legs of one make in lanes.
#[derive(Clone, Debug)]
pub struct PointGroup {
    /// The legs; a group that is not full repeats the last one.
    pub legs: Vec<LegId>,
    /// Their numbers.
    pub numbers: PointLeg<Lanes>,
    /// Where the sign of each lane's leg stands in a working mode, when it has one.
    pub sign: Option<[usize; LANES]>,
    /// Their drives: joint in the leg, and place of each lane's among the drives of the robot.
    pub drives: Vec<(usize, [usize; LANES])>,
    /// One in lanes that hold a leg, zero in those that repeat one.
    pub present: Lanes,
}

/// All legs of a robot.
#[derive(Clone, Debug)]
pub struct PointLegs {
    /// All of them move in the plane.
    pub planar: bool,
    /// Moment of the platform about the normal of the plane.
    pub zz: f64,
    /// Leg by leg.
    pub legs: Vec<PointLeg<f64>>,
    /// In lanes.
    pub groups: Vec<PointGroup>,
}

/// Sine of an angle, or part of the robot's size, below which a leg is left to the careful road.
pub const POOR: f64 = 1e-2;

/// What is smaller, in sizes of the robot or without unit, is rounding.
const ROUNDING: f64 = 1e-12;

impl PointLegs {
    /// All legs of a robot, when closed forms know them.
    pub(super) fn of(model: &Model<f64>) -> Option<Self> {
        let topology = model.topology();
        let plan = &topology.plan;
        if plan.careful || plan.solve_platform || !topology.platform.dependent.is_empty() || topology.legs.is_empty() {
            return None;
        }
        let legs: Vec<PointLeg<f64>> =
            topology.legs.ids().map(|id| Recognise::new(model, id)?.leg()).collect::<Option<_>>()?;
        let in_plane = |c: &Coordinate| matches!(c, Coordinate::X | Coordinate::Y | Coordinate::Rz);
        let planar = legs.iter().all(|l| !matches!(l.chain, Chain::Strut(_)));
        let spatial = legs.iter().all(|l| matches!(l.chain, Chain::Strut(_)));
        let planar = planar && topology.platform.independent.iter().all(in_plane);
        if !(spatial || planar) {
            return None;
        }
        let z = model.numbers().home_pose.R.apply_inv(vec3(0.0, 0.0, 1.0));
        let zz = z.dot(&(model.numbers().platform.I_o * z));
        let groups = groups(topology, &legs);
        Some(Self { planar, zz, legs, groups })
    }
}

/// Legs of one make, four by four.
fn groups(topology: &Topology, legs: &[PointLeg<f64>]) -> Vec<PointGroup> {
    let mut makes: Vec<(PointMake, Vec<LegId>)> = Vec::new();
    for id in topology.legs.ids() {
        let make = PointMake::of(topology, id, &legs[id.index()]);
        match makes.iter_mut().find(|(m, _)| *m == make) {
            Some((_, list)) => list.push(id),
            None => makes.push((make, vec![id])),
        }
    }
    let parts = makes.iter().flat_map(|(make, list)| list.chunks(LANES).map(move |part| (make, part)));
    parts.map(|(make, part)| make.group(topology, part, legs)).collect()
}

/// What legs must have in common to share a group.
#[derive(PartialEq)]
struct PointMake {
    chain: std::mem::Discriminant<Chain<f64>>,
    holds: Vec<std::mem::Discriminant<Hold<f64>>>,
    drives: Vec<usize>,
    signed: bool,
}

impl PointMake {
    fn of(topology: &Topology, id: LegId, leg: &PointLeg<f64>) -> Self {
        Self {
            chain: std::mem::discriminant(&leg.chain),
            holds: leg.holds.iter().map(std::mem::discriminant).collect(),
            drives: topology.drives_of(id).iter().map(|d| d.0).collect(),
            signed: !topology.legs[id].roots.is_empty(),
        }
    }

    fn group(&self, topology: &Topology, part: &[LegId], legs: &[PointLeg<f64>]) -> PointGroup {
        let lane_leg = |k: usize| part[k.min(part.len() - 1)];
        let numbers: [Vec<f64>; LANES] = std::array::from_fn(|k| {
            let mut list = Vec::new();
            legs[lane_leg(k).index()].map(&mut |x| {
                list.push(x);
                x
            });
            list
        });
        let mut at = 0;
        let numbers = legs[part[0].index()].map(&mut |_| {
            at += 1;
            lanes(std::array::from_fn(|k| numbers[k][at - 1]))
        });
        let place = |k: usize, d: usize| topology.drives_of(lane_leg(k))[d].1;
        PointGroup {
            numbers,
            sign: self.signed.then(|| std::array::from_fn(|k| topology.legs[lane_leg(k)].roots.start)),
            drives: (0..self.drives.len()).map(|d| (self.drives[d], std::array::from_fn(|k| place(k, d)))).collect(),
            present: lanes(std::array::from_fn(|k| f64::from(u8::from(k < part.len())))),
            legs: part.to_vec(),
        }
    }
}

/// A leg of which it is asked whether it is one of these.
struct Recognise<'a> {
    model: &'a Model<f64>,
    structure: LegStructure<'a>,
    numbers: &'a [BodyNumbers<f64>],
    step: &'a Step<f64>,
    /// The tip in the frame M of the last joint.
    tip: Vec3<f64>,
    leg: &'a Leg,
    point: Vec3<f64>,
}

impl<'a> Recognise<'a> {
    /// A chain of joints of its own from the base to one point.
    fn new(model: &'a Model<f64>, id: LegId) -> Option<Self> {
        let topology = model.topology();
        let leg = &topology.legs[id];
        let structure = topology.structure(leg);
        let [block] = model.leg_blocks(id) else { return None };
        let [step] = block.steps.as_slice() else { return None };
        let ([closure], [[X_A, X_B]]) = (structure.closures, model.numbers().closures.slice(leg.closures)) else {
            return None;
        };
        let n = structure.bodies.len();
        let own = |(b, body): (usize, &super::topology::Body)| {
            let below = if b == 0 { Anchor::World } else { Anchor::Body(b - 1) };
            body.anchor == below && body.coord.map(|c| structure.local(c)) == Some(b)
        };
        let in_line = structure.bodies.iter().enumerate().all(own) && structure.coords.len() == n;
        let [a, b] = &closure.paths;
        let slides = matches!(closure.joint, ClosureJoint::Prismatic | ClosureJoint::Cylindrical);
        let ends = a.anchor == Anchor::Body(n - 1) && a.root == Anchor::World && !slides;
        let point = match b.anchor {
            Anchor::Platform => X_B.p,
            Anchor::Outside(k) => point_of_platform(model, Node::Body(leg.outside[k]), X_B.p)?,
            _ => return None,
        };
        let counted = structure.coords.iter().any(|c| c.counted);
        let pivots = topology.plan.pivots_of_leg.as_slice().get(id.index())?;
        let by_points = pivots.cols.len() == n && pivots.rows.iter().all(|(_, row)| *row < 3);
        let numbers = model.numbers().bodies.slice(leg.bodies);
        (in_line && ends && by_points && !counted && block.ends[0] == Anchor::World).then_some(Self {
            model,
            structure,
            numbers,
            step,
            tip: X_A.p,
            leg,
            point,
        })
    }

    fn is_null(&self, x: f64) -> bool {
        x.abs() <= ROUNDING * self.model.size().max(1.0)
    }

    fn leg(&self) -> Option<PointLeg<f64>> {
        let slots: &[Slot] = match self.step {
            Step::ReachRR(form) => &form.joints,
            Step::ReachRP(form) => &form.joints,
            Step::Strut(form) => &form.joints,
            _ => return None,
        };
        let straight = slots.iter().enumerate().all(|(k, slot)| slot.coord == Some(k) && slot.sign > 0.0);
        let chain = match self.step {
            Step::ReachRR(_) => Chain::Elbow(self.elbow()?),
            Step::ReachRP(form) => Chain::Swing(self.swing(form.sign?)?),
            Step::Strut(form) => Chain::Strut(self.strut(form.sign?, form.flip)?),
            _ => return None,
        };
        let base = self.numbers[0].X_PF;
        let upright = self.is_null(base.R.z().x) && self.is_null(base.R.z().y);
        (straight && slots.len() == self.numbers.len() && (upright || matches!(chain, Chain::Strut(_)))).then(|| {
            PointLeg {
                base,
                point: self.point,
                gravity: base.R.apply_inv(self.model.numbers().gravity),
                joints: self.model.numbers().joints.slice(self.leg.coords).to_vec(),
                holds: self.structure.coords.iter().map(Hold::of).collect(),
                chain,
            }
        })
    }

    fn elbow(&self) -> Option<Elbow<f64>> {
        let [first, second] = self.numbers else { return None };
        let (elbow, tip, axes) = (flat(second.X_PF.p), flat(self.tip), second.X_PF.R);
        let same = axes.z().z;
        let (l1, l2) = (elbow.norm(), tip.norm());
        let parallel = self.is_null(same.abs() - 1.0);
        (parallel && !self.is_null(l1) && !self.is_null(l2)).then(|| Elbow {
            elbow,
            axes,
            tip,
            squares: [l1 * l1, l2 * l2],
            same: same.signum(),
            links: [
                Flat::of(&first.inertia, elbow / l1, 1.0).scaled(l1),
                Flat::of(&second.inertia, tip / l2, same.signum()).scaled(l2),
            ],
            least: POOR * l1 * l2,
        })
    }

    fn swing(&self, ahead: f64) -> Option<Swing<f64>> {
        let [first, second] = self.numbers else { return None };
        let along = second.X_PF.R.z();
        let tip = second.X_PF * self.tip;
        let reach = tip.dot(&along);
        let aside = along.x * tip.y - along.y * tip.x;
        let at_base = second.inertia.seen_from(&second.X_PF.slid(-reach));
        (self.is_null(along.z) && self.is_null(aside)).then(|| Swing {
            along,
            reach,
            ahead,
            links: [Flat::of(&first.inertia, along, 1.0), Flat::of(&at_base, along, 1.0)],
            least: POOR * self.model.size(),
        })
    }

    fn strut(&self, ahead: f64, side: f64) -> Option<PointStrut<f64>> {
        let [first, second, third] = self.numbers else { return None };
        let (axes, slide) = (second.X_PF.R, third.X_PF.R.z());
        let tip = third.X_PF * self.tip;
        let reach = tip.dot(&slide);
        let (aside, crossing) = (tip - slide * reach, second.X_PF.p);
        let square = self.is_null(axes.z().z) && self.is_null(slide.z);
        let through = self.is_null(aside.norm()) && self.is_null(crossing.norm());
        let along = slide * ahead;
        let x = vec3(0.0, 0.0, 1.0);
        let to_axes = Pose::rotation(Rotation::from_columns(x, along.cross(&x), along).inverse());
        (square && through).then(|| PointStrut {
            axes,
            along,
            reach,
            ahead,
            side,
            first: Flat::of(&first.inertia, axes.z(), 1.0),
            turns: second.inertia.seen_from(&to_axes),
            slides: third.inertia.seen_from(&(to_axes * third.X_PF.slid(-reach))),
            least: POOR * self.model.size(),
        })
    }
}

fn flat(v: Vec3<f64>) -> Vec3<f64> {
    vec3(v.x, v.y, 0.0)
}

/// The point of the platform that another closure ties to the same point of a body.
fn point_of_platform(model: &Model<f64>, body: Node, p: Vec3<f64>) -> Option<Vec3<f64>> {
    let numbers = &model.numbers().closures;
    let ties = |c: &Closure| c.sides == [body, Node::Platform];
    let mut found = model.topology().closures.iter().filter(|(_, c)| ties(c));
    found.find(|(id, _)| (numbers[*id][0].p - p).norm() <= ROUNDING * model.size()).map(|(id, _)| numbers[id][1].p)
}

impl Flat<f64> {
    /// Of a body about z of its frame, along a direction in the plane; `same` is minus one where z is seen from behind.
    fn of(inertia: &Inertia<f64>, along: Vec3<f64>, same: f64) -> Self {
        let ms = inertia.ms;
        let across = along.x * ms.y - along.y * ms.x;
        Self { m: inertia.m, ms: [along.x * ms.x + along.y * ms.y, same * across], zz: inertia.I_o[(2, 2)] }
    }

    /// First moments divided by a length.
    fn scaled(self, l: f64) -> Self {
        Self { ms: self.ms.map(|x| x / l), ..self }
    }
}

impl Hold<f64> {
    fn of(coord: &super::topology::Coord) -> Self {
        match &coord.range {
            None => Hold::Free,
            Some(range) if coord.slides => {
                let [low, high] = range.slide_limits();
                Hold::Slide { low, high }
            }
            Some(range) => {
                let (middle, least) = range.turn_limits();
                Hold::Turn { middle, least }
            }
        }
    }
}

impl<S: Real> Hold<S> {
    fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Hold<T> {
        match self {
            Hold::Free => Hold::Free,
            Hold::Turn { middle, least } => {
                Hold::Turn { middle: Turn { cos: f(middle.cos), sin: f(middle.sin) }, least: f(*least) }
            }
            Hold::Slide { low, high } => Hold::Slide { low: f(*low), high: f(*high) },
        }
    }
}

impl<S: Real> Flat<S> {
    fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Flat<T> {
        Flat { m: f(self.m), ms: self.ms.map(&mut *f), zz: f(self.zz) }
    }
}

impl<S: Real> PointLeg<S> {
    /// Its numbers in another scalar, number by number.
    pub fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> PointLeg<T> {
        let vector = |v: &Vec3<S>, f: &mut dyn FnMut(S) -> T| vec3(f(v.x), f(v.y), f(v.z));
        PointLeg {
            base: self.base.map(f),
            point: vector(&self.point, f),
            gravity: vector(&self.gravity, f),
            joints: self.joints.iter().map(|j| j.map(f)).collect(),
            holds: self.holds.iter().map(|h| h.map(f)).collect(),
            chain: match &self.chain {
                Chain::Elbow(c) => Chain::Elbow(Elbow {
                    elbow: vector(&c.elbow, f),
                    axes: c.axes.map(f),
                    tip: vector(&c.tip, f),
                    squares: c.squares.map(&mut *f),
                    same: f(c.same),
                    links: [c.links[0].map(f), c.links[1].map(f)],
                    least: f(c.least),
                }),
                Chain::Swing(c) => Chain::Swing(Swing {
                    along: vector(&c.along, f),
                    reach: f(c.reach),
                    ahead: f(c.ahead),
                    links: [c.links[0].map(f), c.links[1].map(f)],
                    least: f(c.least),
                }),
                Chain::Strut(c) => Chain::Strut(PointStrut {
                    axes: c.axes.map(f),
                    along: vector(&c.along, f),
                    reach: f(c.reach),
                    ahead: f(c.ahead),
                    side: f(c.side),
                    first: c.first.map(f),
                    turns: c.turns.map(f),
                    slides: c.slides.map(f),
                    least: f(c.least),
                }),
            },
        }
    }
}
