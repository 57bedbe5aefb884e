//! Rows of the file become bodies with one-freedom joints: U, S, C, H and Pi are taken apart, couplings resolved, legs found.

use super::ids::{BodyId, CoordId, Id, LegId, Per, PerBody, PerClosure, PerCoord, PerLeg};
use super::topology::{Body, Closure, Coord, CoordKind, JointKind, Leg, Node};
use crate::description::{ClosureJoint, Description, Diagnostic, Fault, Formula, Joint, Span};
use std::collections::{HashMap, HashSet};

/// Bodies, coordinates, closures and legs of a description.
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
        let legs = find_legs(d, &mut bodies, &mut closures, tool);
        let mut layout =
            Self { bodies, coords: PerCoord::default(), closures, legs, closure_rows, couplings: PerBody::default(), tool };
        layout.make_coords(d, actuation, &tied);
        Ok(layout)
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
            for b in self.legs[leg].bodies.clone() {
                let body = &self.bodies[b];
                let joint = joint_name(d, body);
                if body.joint == JointKind::Fixed || tied.contains_key(&b) {
                    continue;
                }
                let row = &d.bodies[body.row.0];
                let driven = row.drive.is_some();
                let kind = if driven && in_set(&row.name.text) { CoordKind::Active } else { CoordKind::Passive };
                let range = row.range.as_ref().map(|r| [r[0].value, r[1].value]);
                let slides = body.joint == JointKind::Prismatic;
                let id = self.coords.push(Coord { name: joint, kind, slides, body: b, leg, range, driven, counted: false });
                self.bodies[b].coord = Some(id);
                self.legs[leg].coords.push(id);
            }
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
        Joint::Universal { .. } | Joint::Spherical | Joint::Cylindrical => format!("{}.{}", row.name.text, body.row.1 + 1),
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
                joint: *joint,
                coord: None,
                coupled: Vec::new(),
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
fn eliminate(d: &Description, bodies: &PerBody<Body>, tied: &mut Tied, terms: &[(BodyId, Formula)]) -> Result<(), String> {
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
        closures.push(Closure { name, joint: c.joint, sides, leg: LegId::new(0), tool: false, span: c.span });
        rows.push(Some(r));
    }
    if let Some(tool) = tool {
        closures.push(Closure {
            name: "the tool point".to_owned(),
            joint: ClosureJoint::Spherical,
            sides: [Node::Body(tool), Node::Platform],
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
    tool: Option<BodyId>,
) -> PerLeg<Leg> {
    let mut carrying: HashSet<BodyId> = HashSet::new();
    let mut at = tool;
    while let Some(b) = at {
        carrying.insert(b);
        at = if let Node::Body(p) = bodies[b].parent { Some(p) } else { None };
    }
    let mut group: Vec<usize> = (0..bodies.len()).collect();
    let join = |a: Node, b: Node, group: &mut Vec<usize>| {
        if let (Node::Body(a), Node::Body(b)) = (a, b)
            && carrying.contains(&a) == carrying.contains(&b)
        {
            let (from, to) = (group[b.index()], group[a.index()]);
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
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
) -> PerLeg<Leg> {
    let mut legs: PerLeg<Leg> = PerLeg::default();
    let mut of_group: HashMap<usize, LegId> = HashMap::new();
    for id in bodies.ids() {
        let leg = *of_group.entry(group[id.index()]).or_insert_with(|| legs.push(Leg::default()));
        legs[leg].bodies.push(id);
        bodies[id].leg = leg;
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
            legs[leg].closures.push(id);
        }
    }
    name_legs(d, bodies, &mut legs);
    legs
}

fn name_legs(d: &Description, bodies: &PerBody<Body>, legs: &mut PerLeg<Leg>) {
    let mut taken: HashSet<String> = HashSet::new();
    for (i, id) in legs.ids().enumerate() {
        let rows: Vec<usize> = legs[id].bodies.iter().map(|b| bodies[*b].row.0).collect();
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
        legs[id].name = name;
    }
}

fn common_prefix<'a>(a: &'a str, b: &'a str) -> &'a str {
    let n = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    &a[..n]
}
