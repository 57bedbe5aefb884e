//! What is decided once for the Cartesian method: which joints of a leg are free, which give way, which hold; which parts bend
//! and which closures feel it; in which order the closure rows are eliminated.

use super::kernel::{LimbData, fill_rows};
use crate::description::{ClosureJoint, Joint, RodInertia, VirtualTwists};
use crate::elastodynamics::drives::static_drive_stiffness;
use crate::elastodynamics::plan::Actuators;
use crate::kinematics::Positions;
use crate::kinematics::matrices::{by_closure, coords_of, coupled_legs, platform_body, row_scale, rows_of};
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::small::PivotOrder;
use crate::model::{BodyId, ClosureId, CoordId, Id, LegId, Model, Node};

/// Choices that change the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    /// What the drives do.
    pub actuators: Actuators,
    /// Inertia of the rods of parallelograms.
    pub rods: RodInertia,
    /// Motions against the constraints of a leg.
    pub virtual_twists: VirtualTwists,
}

impl Choices {
    /// Those of the robot file, drives giving way.
    pub fn of(model: &Model<f64>) -> Self {
        let elastic = &model.description().elastic;
        Self { actuators: Actuators::Elastic, rods: elastic.rods, virtual_twists: elastic.virtual_twists }
    }
}

/// The plan of a robot.
#[derive(Clone, PartialEq, Debug)]
pub struct CartesianPlan {
    /// Legs, or sets of legs that hang on each other.
    pub limbs: Vec<Limb>,
    /// The choices it was made for.
    pub choices: Choices,
    /// Pivots among the directions in which nothing gives way.
    pub rigid: PivotOrder,
    /// Pivots among the constraint wrenches of all limbs.
    pub constraints: PivotOrder,
}

/// A leg, or legs that hang on each other: closure rows in pivot order, first those that give free joints, then those that
/// give joints that give way, then constraints, then rows that only bend something.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Limb {
    /// The legs.
    pub legs: Vec<LegId>,
    /// Coordinates that move: the columns.
    pub coords: Vec<CoordId>,
    /// Joints that move with them.
    pub joints: Vec<LimbJoint>,
    /// Closures with their rows.
    pub closures: Vec<LimbClosure>,
    /// Pivot column of each of the first rows.
    pub cols: Vec<usize>,
    /// What makes each pivot a number without unit.
    pub scales: Vec<f64>,
    /// Rows of free joints, of joints that give way, constraints, and rows beyond.
    pub counts: [usize; 4],
    /// Joints that give way: column, and whether it is a drive.
    pub springs: Vec<(usize, bool)>,
    /// Lists of closures that a part feels, beyond those of the platform: one sign per closure.
    pub patterns: Vec<Vec<i8>>,
    /// What bends.
    pub parts: Vec<Part>,
    /// What has mass.
    pub masses: Vec<LimbMass>,
    /// Rods with mass.
    pub rods: Vec<Rod>,
    /// Rows, counted after those of free joints, along which something gives way, in pivot order; and the others.
    pub soft: Vec<usize>,
    /// See [`Limb::soft`].
    pub stiff: Vec<usize>,
    /// Virtual motions are read at the platform origin, in SI units.
    pub at_origin: bool,
    /// The closure whose last freedom has a row of its own, after all others.
    pub last: Option<usize>,
}

/// A joint of a limb: the body, the column, and which of its coupling coefficients counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct LimbJoint {
    pub body: BodyId,
    pub column: usize,
    pub coupling: Option<usize>,
}

/// Joints between a node and its root, and whether the root is the platform.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WayToRoot {
    /// Places among the joints of the limb.
    pub joints: Vec<usize>,
    /// The root is the platform.
    pub on_platform: bool,
}

/// A closure of a limb.
#[derive(Clone, PartialEq, Debug)]
pub struct LimbClosure {
    /// Which.
    pub id: ClosureId,
    /// Place and row.
    pub rows: Vec<(usize, usize)>,
    /// What moves its two sides.
    pub ways: [WayToRoot; 2],
    /// How the platform moves it: +1 by its second side, -1 by its first.
    pub platform: i8,
}

/// Something that bends.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Which closures feel it: none for those that the platform moves, else a pattern.
    pub pattern: Option<usize>,
}

/// Kinds of [`Part`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartKind {
    /// A piece of a beam between two places where something is attached.
    Beam {
        /// The body.
        body: BodyId,
        /// Where it starts; none at the origin of the beam.
        from: Option<Attached>,
        /// Where it ends.
        to: Attached,
    },
    /// The two rods of a parallelogram.
    Rods {
        /// The bar.
        bar: BodyId,
    },
    /// A body with a compliance of its own.
    Body(BodyId),
    /// What the second side of a closure is on.
    Mount(ClosureId),
}

/// Something attached to a beam.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attached {
    /// The joint of a body.
    Joint(BodyId),
    /// A side of a closure.
    Side(ClosureId, usize),
}

/// The inertia of a body.
#[derive(Clone, PartialEq, Debug)]
pub struct LimbMass {
    /// Whose inertia, and where it stands.
    pub body: BodyId,
    /// What moves it.
    pub way: WayToRoot,
}

/// The two rods of a bar, each with the motion of its own ends.
#[derive(Clone, PartialEq, Debug)]
pub struct Rod {
    /// The bar.
    pub bar: BodyId,
    /// What moves the start.
    pub start: WayToRoot,
    /// What moves the end: the platform, where the body at the end is held by it.
    pub end: WayToRoot,
}

impl Limb {
    /// All rows.
    pub fn rows(&self) -> usize {
        self.counts.iter().sum::<usize>() + usize::from(self.last.is_some())
    }

    /// Rows after those of free joints: the equations between what gives way and the platform.
    pub fn elastic_rows(&self) -> usize {
        self.counts[1] + self.counts[2] + self.counts[3]
    }

    /// Columns: coordinates, platform twist, what the parts of each pattern do.
    pub fn width(&self) -> usize {
        self.coords.len() + 6 + 6 * self.patterns.len()
    }

    fn column(&self, c: CoordId) -> Option<usize> {
        self.coords.iter().position(|x| *x == c)
    }

    /// Joints between a node and its root; `tool` counts as platform.
    fn way(&self, model: &Model<f64>, node: Node, tool: Option<BodyId>) -> WayToRoot {
        let mut way = WayToRoot::default();
        let mut at = node;
        while let Node::Body(b) = at {
            if tool == Some(b) {
                at = Node::Platform;
                break;
            }
            way.joints.extend((0..self.joints.len()).filter(|j| self.joints[*j].body == b));
            at = model.topology().bodies[b].parent;
        }
        way.on_platform = at == Node::Platform;
        way
    }
}

/// Whether the file holds a joint while frequencies are computed.
pub(super) fn is_to_hold(model: &Model<f64>, c: CoordId) -> bool {
    let t = model.topology();
    match &model.description().elastic.hold {
        Some(names) => names.iter().any(|n| t.coord(&n.text) == Some(c)),
        None => t.active.contains(&c),
    }
}

/// What a joint does: moves freely, gives way (as a drive or by its own spring), or stands still.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Free,
    Spring { drive: bool },
    Still,
}

fn role(model: &Model<f64>, c: CoordId, actuators: Actuators) -> Role {
    let joint = &model.numbers().joints[c];
    let held = actuators != Actuators::Free && is_to_hold(model, c);
    match (held, actuators) {
        _ if model.topology().is_held(c) => Role::Still,
        (true, Actuators::Elastic) if static_drive_stiffness(model, c).is_some_and(|k| k > 0.0) => {
            Role::Spring { drive: true }
        }
        (true, _) => Role::Still,
        (false, _) if joint.stiffness > 0.0 => Role::Spring { drive: false },
        (false, _) => Role::Free,
    }
}

impl CartesianPlan {
    /// Plan at a posture.
    pub fn new(model: &Model<f64>, choices: Choices, pos: &Positions<f64>) -> Self {
        let limbs: Vec<Limb> =
            coupled_legs(model).into_iter().map(|legs| Limb::new(model, legs, choices, pos)).collect();
        let mut plan = Self { limbs, choices, rigid: PivotOrder::default(), constraints: PivotOrder::default() };
        super::kernel::settle(model, &mut plan, pos);
        plan
    }

    /// Rows of all limbs along which nothing gives way.
    pub fn rigid_rows(&self) -> usize {
        self.limbs.iter().map(|l| l.stiff.len()).sum()
    }

    /// Constraint wrenches of all limbs.
    pub fn constraint_rows(&self) -> usize {
        self.limbs.iter().map(|l| l.counts[2]).sum()
    }
}

impl Limb {
    fn new(model: &Model<f64>, legs: Vec<LegId>, choices: Choices, pos: &Positions<f64>) -> Self {
        let mut limb = Self { legs, ..Self::default() };
        let moves = |c: &CoordId| role(model, *c, choices.actuators) != Role::Still;
        limb.coords = coords_of(model, &limb.legs).into_iter().filter(moves).collect();
        limb.joints = limb.joints_of(model);
        for (k, c) in limb.coords.iter().enumerate() {
            if let Role::Spring { drive } = role(model, *c, choices.actuators) {
                limb.springs.push((k, drive));
            }
        }
        limb.add_closures(model);
        limb.add_parts(model);
        limb.add_masses(model, choices.rods);
        limb.order(model, choices, pos);
        limb
    }

    fn bodies<'a>(&'a self, model: &'a Model<f64>) -> impl Iterator<Item = BodyId> + 'a {
        self.legs.iter().flat_map(|l| model.topology().legs[*l].bodies.iter())
    }

    fn joints_of(&self, model: &Model<f64>) -> Vec<LimbJoint> {
        let mut joints = Vec::new();
        for body in self.bodies(model) {
            let own = model.topology().bodies[body].coord.map(|c| (c, None));
            let coupled = model.numbers().bodies[body].coupling.iter().enumerate().map(|(i, (c, _))| (*c, Some(i)));
            for (c, coupling) in own.into_iter().chain(coupled) {
                if let Some(column) = self.column(c) {
                    joints.push(LimbJoint { body, column, coupling });
                }
            }
        }
        joints
    }

    fn add_closures(&mut self, model: &Model<f64>) {
        let rows = rows_of(model, &self.legs);
        for (id, rows) in by_closure(&rows) {
            let tool = platform_body(model, id);
            let ways = model.topology().closures[id].sides.map(|side| self.way(model, side, tool));
            let platform = i8::from(ways[1].on_platform) - i8::from(ways[0].on_platform);
            self.closures.push(LimbClosure { id, rows, ways, platform });
        }
    }

    /// Adds a part, unless no closure feels it.
    fn add_part(&mut self, kind: PartKind, feels: &[i8]) {
        if feels.iter().all(|s| *s == 0) {
            return;
        }
        let same = |a: &[i8], b: &[i8]| a == b || a.iter().zip(b).all(|(x, y)| *x == -*y);
        let platform: Vec<i8> = self.closures.iter().map(|c| c.platform).collect();
        let pattern = if same(&platform, feels) {
            None
        } else {
            let known = self.patterns.iter().position(|p| same(p, feels));
            Some(known.unwrap_or_else(|| {
                self.patterns.push(feels.to_vec());
                self.patterns.len() - 1
            }))
        };
        self.parts.push(Part { kind, pattern });
    }

    /// How the closures feel a motion of what is attached to a body: `moves` says which attachments.
    fn feels(&self, model: &Model<f64>, body: BodyId, moves: &dyn Fn(Attached) -> bool) -> Vec<i8> {
        let side_moves = |id: ClosureId, k: usize| {
            let tool = platform_body(model, id);
            let mut at = model.topology().closures[id].sides[k];
            let mut by = Attached::Side(id, k);
            while let Node::Body(b) = at {
                if tool == Some(b) {
                    return false;
                }
                if b == body {
                    return moves(by);
                }
                by = Attached::Joint(b);
                at = model.topology().bodies[b].parent;
            }
            false
        };
        let sign = |id| i8::from(side_moves(id, 1)) - i8::from(side_moves(id, 0));
        self.closures.iter().map(|c| sign(c.id)).collect()
    }

    fn add_parts(&mut self, model: &Model<f64>) {
        let t = model.topology();
        let bodies: Vec<BodyId> = self.bodies(model).collect();
        for body in bodies {
            let row = &model.description().bodies[t.bodies[body].row.0];
            let part = t.bodies[body].row.1;
            if model.numbers().beams[body].is_some() {
                self.add_beam(model, body);
            }
            if matches!(&row.joint, Joint::Parallelogram(bar) if bar.rods.is_some()) && part == 0 {
                let feels = self.feels(model, body, &|_| true);
                self.add_part(PartKind::Rods { bar: body }, &feels);
            }
            if row.compliance.is_some() && is_last_part(model, body) {
                let feels = self.feels(model, body, &|_| true);
                self.add_part(PartKind::Body(body), &feels);
            }
        }
        for k in 0..self.closures.len() {
            let id = self.closures[k].id;
            if model.closure_row(id).is_some_and(|c| c.compliance.is_some()) {
                let mut feels = vec![0; self.closures.len()];
                feels[k] = 1;
                self.add_part(PartKind::Mount(id), &feels);
            }
        }
    }

    /// Pieces of a beam between its attachments, each felt by what is attached at its end and beyond.
    fn add_beam(&mut self, model: &Model<f64>, body: BodyId) {
        let t = model.topology();
        let children = t.bodies.iter().filter(|(_, b)| b.parent == Node::Body(body)).map(|(id, _)| Attached::Joint(id));
        let sides = t.closures.iter().flat_map(|(id, c)| {
            (0..2).filter(move |k| c.sides[*k] == Node::Body(body)).map(move |k| Attached::Side(id, k))
        });
        let along = |a: Attached| super::numbers::along(model, body, a);
        let mut attached: Vec<Attached> = children.chain(sides).collect();
        attached.sort_by(|a, b| along(*a).total_cmp(&along(*b)));
        let length = model.numbers().beams[body].as_ref().map_or(0.0, |b| b.length);
        let mut from: Option<Attached> = None;
        for to in attached.clone() {
            let start = from.map_or(0.0, along);
            if along(to) - start <= 1e-9 * length {
                continue;
            }
            let reach = along(to) - 1e-9 * length;
            let feels = self.feels(model, body, &|a| along(a) >= reach);
            self.add_part(PartKind::Beam { body, from, to }, &feels);
            from = Some(to);
        }
    }

    fn add_masses(&mut self, model: &Model<f64>, choice: RodInertia) {
        let t = model.topology();
        let tool = t.platform.tool.filter(|b| !self.legs.contains(&t.bodies[*b].leg));
        let bodies: Vec<BodyId> = self.bodies(model).collect();
        for body in bodies {
            let row = &model.description().bodies[t.bodies[body].row.0];
            let bar = match &row.joint {
                Joint::Parallelogram(bar) if t.bodies[body].row.1 == 0 => Some(bar),
                _ => None,
            };
            let next = BodyId::new(body.index() + 1);
            match bar {
                Some(bar) if bar.rods.is_some() && choice == RodInertia::Exact => {
                    let start = self.way(model, t.bodies[body].parent, tool);
                    let end = if is_held_by_platform(model, next) {
                        WayToRoot { joints: Vec::new(), on_platform: true }
                    } else {
                        self.way(model, Node::Body(next), tool)
                    };
                    self.rods.push(Rod { bar: body, start, end });
                }
                Some(_) if choice == RodInertia::Lumped => {
                    self.masses.push(LimbMass { body, way: self.way(model, Node::Body(next), tool) });
                }
                _ if has_mass(model, body) => {
                    self.masses.push(LimbMass { body, way: self.way(model, Node::Body(body), tool) });
                }
                _ => {}
            }
        }
    }

    /// Pivots of the closure rows at a posture, and what is left of them.
    fn order(&mut self, model: &Model<f64>, choices: Choices, pos: &Positions<f64>) {
        let all = rows_of(model, &self.legs);
        let n = self.coords.len();
        self.counts = [0, 0, all.len(), 0];
        let mut data = LimbData::new(self);
        fill_rows(model, self, pos, &mut data);
        let mut a = data.a;
        let slides = |j: usize| if j < n { model.topology().coords[self.coords[j]].slides } else { (j - n) % 6 < 3 };
        let length = |j: usize| if slides(j) { model.length() } else { 1.0 };
        for (i, row) in all.iter().enumerate() {
            (0..a.cols).for_each(|j| *a.at_mut(i, j) *= row_scale(model, *row) * length(j));
        }
        let springs: Vec<usize> = self.springs.iter().map(|s| s.0).collect();
        let free: Vec<usize> = (0..n).filter(|j| !springs.contains(j)).collect();
        let (platform, bends): (Vec<usize>, Vec<usize>) = ((n..n + 6).collect(), (n + 6..a.cols).collect());
        let order = PivotOrder::staged(&a, &[&free, &springs, &platform, &bends], RANK_TOLERANCE);
        let count = |list: &[usize]| order.cols.iter().filter(|j| list.contains(j)).count();
        self.counts = [count(&free), count(&springs), count(&platform), count(&bends)];
        let pivots = self.counts[0] + self.counts[1];
        self.cols = order.cols[..pivots].to_vec();
        self.scales = (0..pivots).map(|k| row_scale(model, all[order.rows[k]]) * length(order.cols[k])).collect();
        for closure in &mut self.closures {
            let place = |i: usize| order.rows.iter().position(|r| *r == i);
            closure.rows = closure.rows.iter().filter_map(|(i, row)| Some((place(*i)?, *row))).collect();
        }
        self.at_origin = choices.virtual_twists == VirtualTwists::Null;
        if choices.virtual_twists == VirtualTwists::Pure && self.counts[2] == 1 {
            self.last = self.last_joint(model);
        }
    }

    /// The closure with the platform that ends the leg, when its last freedom turns about an axis.
    fn last_joint(&self, model: &Model<f64>) -> Option<usize> {
        let mut holding = (0..self.closures.len()).filter(|k| self.closures[*k].platform != 0);
        let (k, other) = (holding.next()?, holding.next());
        let joint = model.topology().closures[self.closures[k].id].joint;
        let turns = matches!(joint, ClosureJoint::Universal | ClosureJoint::Revolute);
        (other.is_none() && self.closures[k].platform > 0 && turns).then_some(k)
    }
}

/// The body itself, not a part of its joint.
pub(super) fn is_last_part(model: &Model<f64>, body: BodyId) -> bool {
    let t = model.topology();
    let next = body.index() + 1;
    next == t.bodies.len() || t.bodies[BodyId::new(next)].row.0 != t.bodies[body].row.0
}

/// Whether the file gives a body mass, by structure.
fn has_mass(model: &Model<f64>, body: BodyId) -> bool {
    let row = &model.description().bodies[model.topology().bodies[body].row.0];
    let inertia = &model.numbers().bodies[body].inertia;
    let some = inertia.m != 0.0 || inertia.ms.norm() != 0.0 || inertia.I_o.norm() != 0.0;
    some || is_last_part(model, body) && (row.flexible.is_some() || !row.mass.is_empty())
}

/// Nothing is attached to the body but closures with the platform whose points are those of the platform.
fn is_held_by_platform(model: &Model<f64>, body: BodyId) -> bool {
    let t = model.topology();
    let child = t.bodies.values().any(|b| b.parent == Node::Body(body));
    let mut closures = t.closures.values().filter(|c| c.sides.contains(&Node::Body(body))).peekable();
    let points = |j: ClosureJoint| !matches!(j, ClosureJoint::Prismatic | ClosureJoint::Cylindrical);
    let some = closures.peek().is_some();
    some && !child && closures.all(|c| c.sides.contains(&Node::Platform) && points(c.joint))
}
