//! Rows of the file become bodies with one-freedom joints: U, S, C, H and Pi are taken apart, couplings resolved, legs found.

use super::ids::{BodyId, CoordId, Id, Ids, LegId, Per, PerBody, PerClosure, PerCoord, PerLeg};
use super::topology::{Anchor, Body, Closure, Coord, CoordKind, JointKind, Leg, Node, Range, SidePath};
use crate::description::{ClosureJoint, Coordinate, Description, Diagnostic, Fault, Formula, Joint, Span};
use crate::spatial::Inertia;
use std::collections::{HashMap, HashSet};

/// Bodies, coordinates, closures and legs of a description.
#[derive(Clone)]
pub(super) struct Layout {
    pub(super) bodies: PerBody<Body>,
    pub(super) coords: PerCoord<Coord>,
    pub(super) closures: PerClosure<Closure>,
    pub(super) legs: PerLeg<Leg>,
    /// Row of each closure in the description; `None` for the tool point.
    pub(super) closure_rows: PerClosure<Option<usize>>,
    /// Coefficients of coupled joints.
    pub(super) couplings: PerBody<Vec<(CoordId, Formula)>>,
    pub(super) tool: Option<BodyId>,
    /// Legs in the order in which they are solved.
    pub(super) order: Vec<LegId>,
    /// Active coordinates that are known to follow from the platform pose.
    pub(super) determined: Option<HashSet<CoordId>>,
    /// As many of the other active coordinates as say, with the pose, where all are.
    pub(super) open: Vec<CoordId>,
    /// Coordinates whose place at home the file tells.
    pub(super) near: Vec<CoordId>,
    /// Coordinates of the platform that the file does not list and that never change.
    pub(super) constant: Vec<Coordinate>,
    /// What the platform carries, in the file's platform frame, or at the tool point in the axes of its body.
    pub(super) payload: Inertia<f64>,
    /// Factors of the inertias of bodies and platform and of the rotors; none unless asked for.
    pub(super) scales: Vec<f64>,
}

impl Layout {
    /// The body itself, not a part of its joint.
    pub(super) fn is_last_part(&self, id: BodyId) -> bool {
        let next = id.index() + 1;
        next == self.bodies.len() || self.bodies[BodyId::new(next)].row.0 != self.bodies[id].row.0
    }

    pub(super) fn new(d: &Description, actuation: Option<&str>) -> Result<Self, Vec<Diagnostic>> {
        let (mut bodies, names) = expand_bodies(d);
        let tied = tie_joints(d, &bodies)?;
        let tool = d.platform.tool.as_ref().and_then(|(name, _)| names.get(&name.text).copied());
        let (mut closures, closure_rows) = closures(d, &names, tool);
        let groups = find_legs(d, &mut bodies, &mut closures, &tied, tool);
        let mut layout = Self {
            bodies,
            coords: PerCoord::default(),
            closures,
            legs: groups.into_iter().map(|name| Leg { name, ..Leg::default() }).collect(),
            order: Vec::new(),
            determined: None,
            open: Vec::new(),
            near: Vec::new(),
            constant: Vec::new(),
            payload: Inertia::zero(),
            scales: Vec::new(),
            closure_rows,
            couplings: PerBody::default(),
            tool,
        };
        let tied = layout.sort_by_leg(tied);
        layout.make_coords(d, actuation, &tied);
        let is_near =
            |c: &Coord| d.near.iter().any(|(n, _)| n.text == c.name || n.text.strip_prefix('q') == Some(&c.name));
        layout.near = layout.coords.iter().filter(|(_, c)| is_near(c)).map(|(id, _)| id).collect();
        layout.find_outside();
        Ok(layout)
    }

    /// Number bodies and closures leg by leg, the leg that carries the tool first, so that what belongs to a leg is a run
    /// of ids; joints tied to others, renumbered too, come back.
    fn sort_by_leg(&mut self, tied: Tied) -> Tied {
        let tool_leg = self.tool.map(|b| self.bodies[b].leg);
        self.order = self.legs.ids().collect();
        self.order.sort_by_key(|leg| Some(*leg) != tool_leg);
        let rank = |leg: LegId, order: &[LegId]| order.iter().position(|l| *l == leg).unwrap_or(0);
        let mut old: Vec<BodyId> = self.bodies.ids().collect();
        old.sort_by_key(|b| rank(self.bodies[*b].leg, &self.order));
        let new: HashMap<BodyId, BodyId> = old.iter().enumerate().map(|(i, b)| (*b, BodyId::new(i))).collect();
        let moved = |node: Node| if let Node::Body(b) = node { Node::Body(new[&b]) } else { node };
        self.bodies = old
            .iter()
            .map(|b| {
                let body = self.bodies[*b].clone();
                Body { parent: moved(body.parent), ..body }
            })
            .collect();
        let mut closures: Vec<_> = self.closures.ids().collect();
        closures.sort_by_key(|c| rank(self.closures[*c].leg, &self.order));
        self.closure_rows = closures.iter().map(|c| self.closure_rows[*c]).collect();
        self.closures = closures
            .iter()
            .map(|c| {
                let closure = self.closures[*c].clone();
                Closure { sides: closure.sides.map(moved), ..closure }
            })
            .collect();
        self.tool = self.tool.map(|b| new[&b]);
        let (mut body, mut closure) = (0, 0);
        for leg in self.order.clone() {
            let bodies = self.bodies.values().filter(|b| b.leg == leg).count();
            let closures = self.closures.values().filter(|c| c.leg == leg).count();
            self.legs[leg].bodies = Ids::new(body, body + bodies);
            self.legs[leg].closures = Ids::new(closure, closure + closures);
            (body, closure) = (body + bodies, closure + closures);
        }
        let renumber = |terms: Vec<(BodyId, Formula)>| terms.into_iter().map(|(b, f)| (new[&b], f)).collect();
        tied.into_iter().map(|(b, terms)| (new[&b], renumber(terms))).collect()
    }

    /// Bodies of other legs that a leg stands on or is closed against.
    fn find_outside(&mut self) {
        for leg in self.legs.ids() {
            let parents = self.legs[leg].bodies.iter().map(|b| self.bodies[b].parent);
            let sides = self.legs[leg].closures.iter().flat_map(|c| self.closures[c].sides);
            let mut outside: Vec<BodyId> = Vec::new();
            for node in parents.chain(sides) {
                if let Node::Body(b) = node
                    && self.bodies[b].leg != leg
                    && !outside.contains(&b)
                {
                    outside.push(b);
                }
            }
            self.legs[leg].outside = outside;
            for b in self.legs[leg].bodies.iter() {
                self.bodies[b].anchor = self.legs[leg].anchor(self.bodies[b].parent);
            }
            for c in self.legs[leg].closures.iter() {
                self.closures[c].paths = self.closures[c].sides.map(|side| self.path(leg, side));
            }
        }
    }

    /// The bodies of a leg that move a node.
    fn path(&self, leg: LegId, node: Node) -> SidePath {
        let anchor = self.legs[leg].anchor(node);
        let (mut bodies, mut root) = (Vec::new(), anchor);
        while let Anchor::Body(b) = root {
            bodies.push(b);
            root = self.legs[leg].anchor(self.bodies[BodyId::new(self.legs[leg].bodies.range().start + b)].parent);
        }
        SidePath { anchor, bodies, root }
    }

    /// Coordinates leg by leg, then the coefficients of the joints that have none of their own.
    fn make_coords(&mut self, d: &Description, actuation: Option<&str>, tied: &Tied) {
        let driven_set = match actuation {
            Some(name) => d.actuation.iter().find(|s| s.name.text == name),
            None => d.actuation.first(),
        };
        let in_set = |name: &str| {
            driven_set.is_none_or(|s| s.joints.iter().any(|j| j.text == name || j.text.strip_prefix('q') == Some(name)))
        };
        for leg in self.legs.ids() {
            let first = self.coords.len();
            for b in self.legs[leg].bodies.iter() {
                let body = &self.bodies[b];
                let joint = joint_name(d, body);
                if body.joint == JointKind::Fixed || tied.contains_key(&b) {
                    continue;
                }
                let row = &d.bodies[body.row.0];
                let driven = row.drive.is_some();
                let kind = if driven && in_set(&row.name.text) { CoordKind::Active } else { CoordKind::Passive };
                let range = row.range.as_ref().map(|r| Range::new(r[0].value, r[1].value));
                let slides = body.joint == JointKind::Prismatic;
                let id =
                    self.coords.push(Coord { name: joint, kind, slides, body: b, leg, range, driven, counted: false });
                self.bodies[b].coord = Some(id);
            }
            self.legs[leg].coords = Ids::new(first, self.coords.len());
        }
        self.couplings = self.bodies.map(|b, _| {
            let terms = tied.get(&b).map_or(&[][..], Vec::as_slice);
            terms.iter().filter_map(|(t, f)| Some((self.bodies[*t].coord?, f.clone()))).collect()
        });
        for b in self.bodies.ids() {
            let slides = self.bodies[b].joint == JointKind::Prismatic;
            let sign = |(c, f): &(CoordId, Formula)| {
                let unit = f.is_constant() && f.value.abs() == 1.0 && self.coords[*c].slides == slides;
                (*c, unit.then_some(f.value))
            };
            self.bodies[b].coupled = self.couplings[b].iter().map(sign).collect();
        }
        let by_ratio: Vec<CoordId> = self
            .bodies
            .values()
            .flat_map(|b| b.coupled.iter().filter(|(_, sign)| sign.is_none() || b.coupled.len() > 1).map(|(c, _)| *c))
            .collect();
        for c in by_ratio {
            self.coords[c].counted = true;
        }
    }
}

/// Name of the joint of a body: parts of a joint with several coordinates are numbered.
fn joint_name(d: &Description, body: &Body) -> String {
    let row = &d.bodies[body.row.0];
    match row.joint {
        Joint::Universal { .. } | Joint::Spherical | Joint::Cylindrical => {
            format!("{}.{}", row.name.text, body.row.1 + 1)
        }
        _ => row.name.text.clone(),
    }
}

/// Kinds of the joints a row is made of, and the suffix of each part's body.
fn parts(joint: &Joint) -> &'static [(JointKind, &'static str)] {
    use JointKind::{Fixed, Prismatic, Revolute};
    match joint {
        Joint::Fixed => &[(Fixed, "")],
        Joint::Revolute => &[(Revolute, "")],
        Joint::Prismatic => &[(Prismatic, "")],
        Joint::Universal { .. } => &[(Revolute, ".1"), (Revolute, "")],
        Joint::Spherical => &[(Revolute, ".1"), (Revolute, ".2"), (Revolute, "")],
        Joint::Cylindrical | Joint::Screw { .. } => &[(Revolute, ".1"), (Prismatic, "")],
        Joint::Parallelogram(_) => &[(Revolute, ".bar"), (Revolute, "")],
    }
}

fn expand_bodies(d: &Description) -> (PerBody<Body>, HashMap<String, BodyId>) {
    let mut bodies: PerBody<Body> = PerBody::default();
    let mut names: HashMap<String, BodyId> = HashMap::new();
    for (r, row) in d.bodies.iter().enumerate() {
        let mut parent = node(&row.on.text, &names);
        for (part, (joint, suffix)) in parts(&row.joint).iter().enumerate() {
            let id = bodies.push(Body {
                name: format!("{}{suffix}", row.name.text),
                parent,
                anchor: Anchor::World, // known when legs are
                joint: *joint,
                coord: None,
                coupled: Vec::new(),
                held: false,
                leg: LegId::new(0),
                row: (r, part),
            });
            parent = Node::Body(id);
        }
        if let Node::Body(id) = parent {
            names.insert(row.name.text.clone(), id);
        }
    }
    (bodies, names)
}

fn node(name: &str, names: &HashMap<String, BodyId>) -> Node {
    match name {
        "base" => Node::World,
        "platform" => Node::Platform,
        other => names.get(other).map_or(Node::World, |b| Node::Body(*b)),
    }
}

/// Joints given by others: each by bodies whose joints are independent, with coefficients.
type Tied = HashMap<BodyId, Vec<(BodyId, Formula)>>;

/// Parallelograms, screws and the couplings of the file, solved for the joints they eliminate.
fn tie_joints(d: &Description, bodies: &PerBody<Body>) -> Result<Tied, Vec<Diagnostic>> {
    let mut tied = Tied::new();
    let by_joint: HashMap<String, BodyId> = bodies
        .iter()
        .filter(|(_, b)| b.joint != JointKind::Fixed)
        .map(|(id, b)| (joint_name(d, b), id))
        .collect::<Vec<_>>()
        .into_iter()
        .rev() // the first part of a joint owns its name
        .collect();
    for (id, body) in bodies.iter() {
        let row = &d.bodies[body.row.0];
        let first = BodyId::new(id.index().saturating_sub(1));
        match (&row.joint, body.row.1) {
            (Joint::Parallelogram(_), 1) => {
                tied.insert(id, vec![(first, Formula::number(-1.0, row.name.span))]);
            }
            (Joint::Screw { pitch }, 1) => {
                tied.insert(id, vec![(first, pitch.clone())]);
            }
            _ => {}
        }
    }
    let mut faults = Vec::new();
    for coupling in &d.couplings {
        let terms: Vec<(BodyId, Formula)> = coupling
            .terms
            .iter()
            .filter_map(|(n, f)| {
                let id = by_joint.get(&n.text).or_else(|| by_joint.get(n.text.strip_prefix('q')?))?;
                Some((*id, f.clone()))
            })
            .collect();
        if let Err(reason) = eliminate(d, bodies, &mut tied, &terms) {
            faults.push(Diagnostic::new(Fault::BadCoupling { reason }, coupling.span));
        }
    }
    if faults.is_empty() { Ok(tied) } else { Err(faults) }
}

/// Solve one relation for a joint without a drive and put it into the others.
fn eliminate(
    d: &Description,
    bodies: &PerBody<Body>,
    tied: &mut Tied,
    terms: &[(BodyId, Formula)],
) -> Result<(), String> {
    let reduced = substitute(terms, tied);
    let driven = |b: BodyId| d.bodies[bodies[b].row.0].drive.is_some();
    let Some(pivot) = reduced.iter().position(|(b, f)| !driven(*b) && f.value.abs() > 1e-12) else {
        return Err("the coupling leaves no joint without a drive to eliminate".to_owned());
    };
    let (joint, coefficient) = reduced[pivot].clone();
    let rest: Vec<(BodyId, Formula)> = reduced
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != pivot)
        .map(|(_, (b, f))| (*b, f.negative_ratio(&coefficient)))
        .collect();
    if rest.is_empty() {
        return Err(format!("the couplings fix joint `{}` altogether", joint_name(d, &bodies[joint])));
    }
    tied.insert(joint, rest);
    let snapshot = tied.clone();
    for terms in tied.values_mut() {
        *terms = substitute(terms, &snapshot);
    }
    Ok(())
}

/// Terms with tied joints replaced, equal joints added up.
fn substitute(terms: &[(BodyId, Formula)], tied: &Tied) -> Vec<(BodyId, Formula)> {
    let mut sum: Vec<(BodyId, Formula)> = Vec::new();
    let mut add = |b: BodyId, f: Formula| match sum.iter_mut().find(|(x, _)| *x == b) {
        Some((_, g)) => *g = g.plus(&f),
        None => sum.push((b, f)),
    };
    for (b, f) in terms {
        match tied.get(b) {
            Some(inner) => inner.iter().for_each(|(i, g)| add(*i, g.times(f))),
            None => add(*b, f.clone()),
        }
    }
    sum.retain(|(_, f)| !(f.is_constant() && f.value == 0.0));
    sum
}

/// Until legs are known.
fn no_paths() -> [SidePath; 2] {
    [0, 1].map(|_| SidePath { anchor: Anchor::World, bodies: Vec::new(), root: Anchor::World })
}

fn closures(
    d: &Description,
    names: &HashMap<String, BodyId>,
    tool: Option<BodyId>,
) -> (PerClosure<Closure>, PerClosure<Option<usize>>) {
    let mut closures: PerClosure<Closure> = PerClosure::default();
    let mut rows: PerClosure<Option<usize>> = Per::default();
    for (r, c) in d.closures.iter().enumerate() {
        let (a, b) = (&c.a.body.text, &c.b.body.text);
        let name = c.name.as_ref().map_or_else(|| format!("{} ({a} - {b})", c.joint.word()), |n| n.text.clone());
        let sides = [node(a, names), node(b, names)];
        closures.push(Closure {
            name,
            joint: c.joint,
            sides,
            paths: no_paths(),
            leg: LegId::new(0),
            tool: false,
            span: c.span,
        });
        rows.push(Some(r));
    }
    if let Some(tool) = tool {
        closures.push(Closure {
            name: "the tool point".to_owned(),
            joint: ClosureJoint::Spherical,
            sides: [Node::Body(tool), Node::Platform],
            paths: no_paths(),
            leg: LegId::new(0),
            tool: true,
            span: Span::default(),
        });
        rows.push(None);
    }
    (closures, rows)
}

/// Legs: what moves together when base and platform are taken away. A chain that carries the tool is a leg of its own.
fn find_legs(
    d: &Description,
    bodies: &mut PerBody<Body>,
    closures: &mut PerClosure<Closure>,
    tied: &Tied,
    tool: Option<BodyId>,
) -> Vec<String> {
    let mut carrying: HashSet<BodyId> = HashSet::new();
    let mut at = tool;
    while let Some(b) = at {
        carrying.insert(b);
        at = if let Node::Body(p) = bodies[b].parent { Some(p) } else { None };
    }
    let mut group: Vec<usize> = (0..bodies.len()).collect();
    let merge = |a: BodyId, b: BodyId, group: &mut Vec<usize>| {
        let (from, to) = (group[b.index()], group[a.index()]);
        group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
    };
    let join = |a: Node, b: Node, group: &mut Vec<usize>| {
        if let (Node::Body(a), Node::Body(b)) = (a, b)
            && carrying.contains(&a) == carrying.contains(&b)
        {
            merge(a, b, group);
        }
    };
    for (id, body) in bodies.iter() {
        join(body.parent, Node::Body(id), &mut group);
    }
    for closure in closures.values() {
        join(closure.sides[0], closure.sides[1], &mut group);
    }
    // Rows of one template instance are one leg, also when nothing but base and platform ties them.
    let mut first_of_instance: HashMap<usize, BodyId> = HashMap::new();
    for (id, body) in bodies.iter() {
        if let Some(key) = d.bodies[body.row.0].leg {
            let first = *first_of_instance.entry(key).or_insert(id);
            join(Node::Body(first), Node::Body(id), &mut group);
        }
    }
    attach_inner_groups(bodies, closures, &carrying, &mut group);
    // Joints that follow each other move together.
    let mut couples: Vec<(BodyId, BodyId)> =
        tied.iter().flat_map(|(b, terms)| terms.iter().map(|t| (t.0, *b))).collect();
    couples.sort_unstable();
    couples.iter().for_each(|(a, b)| merge(*a, *b, &mut group));
    number_legs(d, bodies, closures, &group)
}

/// A group that hangs only on the chain carrying the tool belongs to that leg.
fn attach_inner_groups(
    bodies: &PerBody<Body>,
    closures: &PerClosure<Closure>,
    carrying: &HashSet<BodyId>,
    group: &mut [usize],
) {
    let Some(tool_group) = carrying.iter().next().map(|b| group[b.index()]) else { return };
    let mut on_base: HashSet<usize> = HashSet::new();
    for (id, body) in bodies.iter() {
        if body.parent == Node::World {
            on_base.insert(group[id.index()]);
        }
    }
    for closure in closures.values() {
        if let (Node::World, Node::Body(b)) | (Node::Body(b), Node::World) = (closure.sides[0], closure.sides[1]) {
            on_base.insert(group[b.index()]);
        }
    }
    group.iter_mut().filter(|g| !on_base.contains(g)).for_each(|g| *g = tool_group);
}

fn number_legs(
    d: &Description,
    bodies: &mut PerBody<Body>,
    closures: &mut PerClosure<Closure>,
    group: &[usize],
) -> Vec<String> {
    let mut of_group: HashMap<usize, LegId> = HashMap::new();
    for id in bodies.ids() {
        let next = LegId::new(of_group.len());
        bodies[id].leg = *of_group.entry(group[id.index()]).or_insert(next);
    }
    for id in closures.ids() {
        // The later leg of a closure between two legs is the one that is closed by it.
        let owner = closures[id].sides.iter().filter_map(|n| if let Node::Body(b) = n { Some(*b) } else { None });
        let tool_leg = closures.values().find(|c| c.tool).and_then(|c| match c.sides[0] {
            Node::Body(b) => Some(bodies[b].leg),
            _ => None,
        });
        let leg = owner.map(|b| bodies[b].leg).reduce(|a, b| if Some(a) == tool_leg { b } else { a });
        if let Some(leg) = leg {
            closures[id].leg = leg;
        }
    }
    name_legs(d, bodies, of_group.len())
}

/// The keys of template instances, or names made from those of the bodies.
fn name_legs(d: &Description, bodies: &PerBody<Body>, count: usize) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = Vec::new();
    for (i, leg) in (0..count).map(LegId::new).enumerate() {
        let rows: Vec<usize> = bodies.values().filter(|b| b.leg == leg).map(|b| b.row.0).collect();
        let mut keys: Vec<&str> = rows.iter().filter_map(|r| d.bodies[*r].leg).map(|k| d.legs[k].as_str()).collect();
        keys.dedup();
        let prefix = rows.iter().map(|r| d.bodies[*r].name.text.as_str()).reduce(common_prefix).unwrap_or_default();
        let whole = rows.iter().any(|r| d.bodies[*r].name.text == prefix) && rows.len() > 1;
        let mut name = if !keys.is_empty() {
            keys.join("+")
        } else if prefix.is_empty() || whole {
            (i + 1).to_string()
        } else if rows.len() == 1 {
            d.bodies[rows[0]].name.text.clone()
        } else {
            prefix.trim_end_matches(['-', '_']).to_owned()
        };
        while !taken.insert(name.clone()) {
            name.push('\'');
        }
        names.push(name);
    }
    names
}

fn common_prefix<'a>(a: &'a str, b: &'a str) -> &'a str {
    let n = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    &a[..n]
}
