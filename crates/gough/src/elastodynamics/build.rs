//! How the elastic plan is made: places and links of bodies and closures, clusters of frames, coordinates and elements.

use super::error::ElasticError;
use super::plan::{
    Actuators, BeamSlider, Cluster, ElasticPlan, Element, FramePlan, Host, LegOrTip, Link, LinkJoint, MOST_COORDINATES,
    Place, Screw, Sliding, Station, Variable, modal,
};
use crate::description::{ClosureJoint, Drive, Flexible};
use crate::kinematics::Positions;
use crate::linalg::small::PivotOrder;
use crate::model::{BodyId, ClosureId, CoordId, JointKind, LegId, Model, Node, PerBody};
use crate::spatial::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// A plan while it is made: bodies and closures linked one after the other.
pub(super) struct ElasticPlanner<'m> {
    model: &'m Model<f64>,
    places: Vec<Place>,
    links: Vec<Link>,
    meshes: PerBody<Vec<Station>>,
    /// Nodes of each beam along it, for attachments.
    along: PerBody<Vec<f64>>,
    held: BTreeSet<CoordId>,
    actuators: Actuators,
    arms: Vec<(BodyId, f64)>,
    sliders: Vec<BeamSlider>,
}

/// Attachments nearer to each other than this fraction of the beam share a node.
const SAME_NODE: f64 = 1e-9;

impl<'m> ElasticPlanner<'m> {
    pub(super) fn new(
        model: &'m Model<f64>,
        actuators: Actuators,
        sliders: Vec<BeamSlider>,
    ) -> Result<Self, ElasticError> {
        let none = model.topology().bodies.map(|_, _| Vec::new());
        let along = model.topology().bodies.map(|_, _| Vec::new());
        let held = held(model, actuators);
        let mut b = Self {
            model,
            places: vec![Place::World],
            links: Vec::new(),
            meshes: none,
            along,
            held,
            actuators,
            arms: Vec::new(),
            sliders,
        };
        for body in model.topology().bodies.ids() {
            b.mesh(body)?;
        }
        if model.topology().platform.tool.is_none() {
            b.places.push(Place::Whole(Host::Platform));
        }
        let bodies: Vec<BodyId> = model.topology().bodies.ids().collect();
        for body in bodies {
            let nodes = b.meshes[body].len();
            if nodes == 0 {
                b.places.push(Place::Whole(Host::Body(body)));
            }
            b.places.extend((0..nodes).map(|k| Place::Node(body, k)));
        }
        for host in std::iter::once(Host::Platform).chain(model.topology().bodies.ids().map(Host::Body)) {
            let points = modal(model, host).map_or(0, |m| m.points.len());
            b.places.extend((0..points).map(|k| Place::Point(host, k)));
        }
        Ok(b)
    }

    /// Nodes of a beam: where something is attached, and between those.
    fn mesh(&mut self, body: BodyId) -> Result<(), ElasticError> {
        let (t, numbers) = (self.model.topology(), self.model.numbers());
        let Some(beam) = &numbers.beams[body] else { return Ok(()) };
        let row = &self.model.description().bodies[t.bodies[body].row.0];
        let Some(Flexible::Beam(given)) = &row.flexible else { return Ok(()) };
        if !beam.X_MN.R.0.iter().all(|x| x.is_finite()) || !(beam.length > 0.0) {
            return Err(ElasticError::BeamAxes { body: row.name.text.clone() });
        }
        let mut stations = vec![(0.0, Station::Start), (beam.length, Station::End)];
        let children = t.bodies.iter().filter(|(_, b)| b.parent == Node::Body(body));
        let mut attached: Vec<(Vec3<f64>, Station)> =
            children.map(|(c, _)| (self.hangs_at(c), self.station(Sliding::Body(c)))).collect();
        // The tool point becomes a node too: what the platform weighs hangs there.
        for (c, closure) in t.closures.iter() {
            let sides = (0..2).filter(|k| closure.sides[*k] == Node::Body(body));
            attached.extend(sides.map(|k| (self.closes_at(c, k), self.station(Sliding::Closure(c, k)))));
        }
        attached.extend(beam.lumped.iter().enumerate().map(|(i, (p, _))| (*p, Station::Lump(i))));
        for (p, station) in attached {
            let local = beam.X_MN.apply_inv(p);
            let s = local.x.clamp(0.0, beam.length);
            let arm = (local - Vec3::new(s, 0.0, 0.0)).norm();
            if arm > SAME_NODE * beam.length {
                self.arms.push((body, arm));
            }
            if stations.iter().all(|(x, _)| (x - s).abs() > SAME_NODE * beam.length) {
                stations.push((s, station));
            }
        }
        stations.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n = given.elements.max(1);
        for w in stations.windows(2) {
            self.meshes[body].push(w[0].1);
            self.along[body].push(w[0].0);
            let from = self.meshes[body].len() - 1;
            for i in 1..n {
                let part = i as f64 / n as f64;
                self.meshes[body].push(Station::Between(from, from + n, part));
                self.along[body].push(w[0].0 + (w[1].0 - w[0].0) * part);
            }
        }
        self.meshes[body].push(Station::End);
        self.along[body].push(beam.length);
        Ok(())
    }

    /// Where a body hangs on its parent: at its joint, or where it has slid to along a beam.
    fn hangs_at(&self, body: BodyId) -> Vec3<f64> {
        self.slid(Sliding::Body(body), self.model.numbers().bodies[body].X_PF.p)
    }

    /// Where a closure holds one of its sides: at its point, or where the other side has slid to along a beam.
    fn closes_at(&self, closure: ClosureId, side: usize) -> Vec3<f64> {
        self.slid(Sliding::Closure(closure, side), self.model.numbers().closures[closure][side].p)
    }

    /// A point of a beam, moved along it to where the slider stands, if that is one.
    fn slid(&self, what: Sliding, p: Vec3<f64>) -> Vec3<f64> {
        let slid = self.sliders.iter().find(|s| s.what == what);
        let beam = slid.and_then(|s| self.model.numbers().beams[s.beam].as_ref().map(|beam| (s.along, beam)));
        beam.map_or(p, |(along, beam)| {
            let across = beam.X_MN.apply_inv(p);
            beam.X_MN * Vec3::new(along, across.y, across.z)
        })
    }

    fn station(&self, what: Sliding) -> Station {
        let fixed = match what {
            Sliding::Body(body) => Station::Joint(body),
            Sliding::Closure(c, side) => Station::Side(c, side),
        };
        self.sliders.iter().position(|s| s.what == what).map_or(fixed, Station::Slider)
    }

    fn frame(&self, place: Place) -> usize {
        self.places.iter().position(|p| *p == place).unwrap_or(0)
    }

    /// The frame of a node of the model that carries the point `p`, given in the node's own frame.
    fn attachment(&self, node: Node, p: Vec3<f64>, named: Option<&str>) -> Result<usize, ElasticError> {
        let host = match node {
            Node::World => return Ok(0),
            Node::Platform => Host::Platform,
            Node::Body(b) => Host::Body(b),
        };
        if let (Host::Body(b), Some(beam)) = (host, host_beam(self.model, host)) {
            let s = beam.X_MN.apply_inv(p).x.clamp(0.0, beam.length);
            let nearest = (0..self.along[b].len())
                .min_by(|i, j| (self.along[b][*i] - s).abs().total_cmp(&(self.along[b][*j] - s).abs()));
            return Ok(self.frame(Place::Node(b, nearest.unwrap_or(0))));
        }
        if let Some(m) = modal(self.model, host) {
            let found = named.and_then(|n| m.points.iter().position(|p| p.name == n));
            let Some(k) = found else {
                let body = self.model.topology().node_name(node).to_owned();
                return Err(ElasticError::UnnamedPoint { body });
            };
            return Ok(self.frame(Place::Point(host, k)));
        }
        Ok(self.frame(Place::Whole(host)))
    }

    /// The frame in which a body hangs on its own joint.
    fn own(&self, b: BodyId) -> usize {
        let place = if self.meshes[b].is_empty() { Place::Whole(Host::Body(b)) } else { Place::Node(b, 0) };
        self.frame(place)
    }

    pub(super) fn link_bodies(&mut self) -> Result<(), ElasticError> {
        let t = self.model.topology();
        for (id, body) in t.bodies.iter() {
            let row = &self.model.description().bodies[body.row.0];
            let named = row.at_point.as_ref().filter(|_| body.row.1 == 0).map(|n| n.text.as_str());
            let from = self.attachment(body.parent, self.hangs_at(id), named)?;
            let columns: Vec<(Variable, Screw)> = match (body.joint, body.coord) {
                (JointKind::Fixed, _) => Vec::new(),
                (_, Some(c)) => vec![(Variable::Joint(c), Screw::Joint(id, None))],
                (_, None) => {
                    let coupled = body.coupled.iter().enumerate();
                    coupled.map(|(i, (c, _))| (Variable::Joint(*c), Screw::Joint(id, Some(i)))).collect()
                }
            };
            let free = |v: &Variable| !matches!(v, Variable::Joint(c) if self.held.contains(c));
            let columns = columns.into_iter().filter(|(v, _)| free(v) && !body.held).collect();
            self.links.push(Link {
                frames: [from, self.own(id)],
                columns,
                joint: LinkJoint::Tree(id),
                slots: Vec::new(),
            });
        }
        for host in std::iter::once(Host::Platform).chain(t.bodies.ids().map(Host::Body)) {
            let Some(m) = modal(self.model, host) else { continue };
            let whole = self.frame(Place::Whole(host));
            for point in 0..m.points.len() {
                let columns =
                    (0..m.modes.len()).map(|k| (Variable::Mode(host, k), Screw::Mode(host, point, k))).collect();
                let frames = [whole, self.frame(Place::Point(host, point))];
                self.links.push(Link { frames, columns, joint: LinkJoint::Point, slots: Vec::new() });
            }
        }
        Ok(())
    }

    pub(super) fn link_closures(&mut self) -> Result<(), ElasticError> {
        let t = self.model.topology();
        for (id, closure) in t.closures.iter().filter(|(_, c)| !c.tool) {
            let named = self.model.closure_row(id).map(|r| [&r.a.at_point, &r.b.at_point]);
            let side = |k: usize| {
                let name = named.and_then(|n| n[k].as_ref()).map(|n| n.text.as_str());
                self.attachment(closure.sides[k], self.closes_at(id, k), name)
            };
            let frames = [side(0)?, side(1)?];
            let screws = cut_screws(id, closure.joint);
            let columns = screws.into_iter().enumerate().map(|(k, s)| (Variable::Cut(id, k), s)).collect();
            self.links.push(Link { frames, columns, joint: LinkJoint::Closure(id), slots: Vec::new() });
        }
        Ok(())
    }

    pub(super) fn finish(mut self, pos: &Positions<f64>) -> Result<ElasticPlan, ElasticError> {
        let planar = self.model.description().elastic.planar;
        let elements = self.elements();
        let mut frames: Vec<FramePlan> = self
            .places
            .iter()
            .map(|p| FramePlan { place: *p, cluster: usize::MAX, path: Vec::new(), constant: true })
            .collect();
        let mut clusters = Vec::new();
        for members in self.components() {
            let cluster = self.cluster(&members, &elements, &mut frames, clusters.len(), planar, pos)?;
            clusters.push(cluster);
        }
        let mut plan = ElasticPlan {
            frames,
            links: std::mem::take(&mut self.links),
            clusters,
            elements,
            meshes: self.meshes.clone(),
            sizes: (Vec::new(), 0),
            actuators: self.actuators,
            held: self.held.iter().copied().collect(),
            arms: self.arms.clone(),
            planar,
            sliders: self.sliders.clone(),
        };
        number_slots(&mut plan);
        if planar {
            super::planar::check(self.model, &plan, pos)?;
        }
        super::closing::choose(self.model, &mut plan, pos);
        self.place(&mut plan);
        match plan.coordinates() {
            0 => Err(ElasticError::NothingMoves),
            n if n > MOST_COORDINATES => Err(ElasticError::TooLarge { coordinates: n }),
            _ => Ok(plan),
        }
    }

    /// What has stiffness or mass, in the order of the bodies.
    fn elements(&self) -> Vec<Element> {
        let (t, numbers) = (self.model.topology(), self.model.numbers());
        let mut list = Vec::new();
        for body in t.bodies.ids() {
            let host = Host::Body(body);
            if let Some(beam) = &numbers.beams[body] {
                let nodes = self.meshes[body].len();
                let node = |k: usize| self.frame(Place::Node(body, k));
                list.extend((1..nodes).map(|k| Element::Beam { body, ends: [node(k - 1), node(k)] }));
                for (index, (p, _)) in beam.lumped.iter().enumerate() {
                    let frame = self.attachment(Node::Body(body), *p, None).unwrap_or(0);
                    list.push(Element::Lump { body, index, frame });
                }
            } else {
                list.push(self.whole(host));
            }
        }
        match t.platform.tool {
            None => list.push(self.whole(Host::Platform)),
            // The inertia of a rigid body has it already.
            Some(b) if numbers.beams[b].is_some() => {
                let tool = t
                    .closures
                    .iter()
                    .find(|(_, c)| c.tool)
                    .map_or_else(Vec3::zeros, |(id, _)| numbers.closures[id][0].p);
                list.push(Element::Load { frame: self.attachment(Node::Body(b), tool, None).unwrap_or(0) });
            }
            Some(_) => {}
        }
        for (c, coord) in t.coords.iter() {
            let held = self.held.contains(&c) || t.is_held(c);
            let Some(row) = self.model.description().bodies.get(t.bodies[coord.body].row.0) else { continue };
            let drive = row.drive.as_ref();
            if !held && row.stiffness.is_some() {
                list.push(Element::Spring(c));
            }
            if let Some(d) = drive.filter(|_| !held) {
                list.extend(self.drive_elements(c, d));
            }
        }
        list
    }

    /// What the drive of a joint that moves is made of: springs of transmission and servo, and the rotor unless it is held.
    fn drive_elements(&self, c: CoordId, drive: &Drive) -> Vec<Element> {
        let gives = self.actuators == Actuators::Elastic && is_to_hold(self.model, c);
        let rotor_is_held = gives && drive.stiffness.is_some() && drive.servo.is_none();
        let parts = [
            (drive.stiffness.is_some() && (gives || self.rotor_is_apart(c)), Element::Transmission(c)),
            (drive.servo.is_some() && gives, Element::Servo(c)),
            (drive.rotor_inertia.is_some() && !rotor_is_held, Element::Rotor(c)),
        ];
        parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, element)| element).collect()
    }

    /// A rotor has a coordinate of its own where a transmission stands between it and the joint and it can move: free, or
    /// against the servo loop.
    fn rotor_is_apart(&self, c: CoordId) -> bool {
        let t = self.model.topology();
        let Some(drive) = &self.model.description().bodies[t.bodies[t.coords[c].body].row.0].drive else {
            return false;
        };
        let is_free = self.actuators == Actuators::Free || !is_to_hold(self.model, c);
        drive.stiffness.is_some() && (is_free && drive.rotor_inertia.is_some() || !is_free && drive.servo.is_some())
    }

    fn whole(&self, host: Host) -> Element {
        let frame = self.frame(Place::Whole(host));
        if modal(self.model, host).is_some() { Element::Modal { host, frame } } else { Element::Rigid { host, frame } }
    }

    /// Frames that links tie together, the base apart.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut group: Vec<usize> = (0..self.places.len()).collect();
        for link in &self.links {
            if let [a, b] = link.frames
                && a != 0
                && b != 0
            {
                let (from, to) = (group[b], group[a]);
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
        // Joints that follow each other belong together, also when only the base ties them.
        let mut owner: BTreeMap<Variable, usize> = BTreeMap::new();
        for link in &self.links {
            let Some(f) = link.frames.into_iter().find(|f| *f != 0) else { continue };
            for (v, _) in link.columns.iter().filter(|(v, _)| matches!(v, Variable::Joint(_))) {
                let other = *owner.entry(*v).or_insert(f);
                let (from, to) = (group[f], group[other]);
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        (1..group.len()).for_each(|f| sets.entry(group[f]).or_default().push(f));
        sets.into_values().collect()
    }

    /// One cluster: its root, the paths to its frames, its variables and its loops.
    fn cluster(
        &self,
        members: &[usize],
        elements: &[Element],
        frames: &mut [FramePlan],
        number: usize,
        planar: bool,
        pos: &Positions<f64>,
    ) -> Result<Cluster, ElasticError> {
        let inside = |f: usize| members.contains(&f);
        let own: Vec<usize> =
            (0..self.links.len()).filter(|k| self.links[*k].frames.iter().any(|f| inside(*f))).collect();
        let grounded = own.iter().any(|k| self.links[*k].frames.contains(&0));
        let root = (!grounded).then(|| self.root(members, &own, elements));
        let mut known: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
        known.insert(root.unwrap_or(0), Vec::new());
        let (mut open, mut loops) = (own, Vec::new());
        // Joints of the tree first, so that loops are cut at closures.
        while let Some(at) = open.iter().position(|k| self.links[*k].frames.iter().any(|f| known.contains_key(f))) {
            let k = open.remove(at);
            let [a, b] = self.links[k].frames;
            let (from, to, forward) = if known.contains_key(&a) { (a, b, true) } else { (b, a, false) };
            if known.contains_key(&to) {
                loops.push(k);
                continue;
            }
            let mut path = known[&from].clone();
            path.push((k, forward));
            known.insert(to, path);
        }
        if let Some(f) = members.iter().find(|f| !known.contains_key(f)) {
            let body = self.model.topology().node_name(self.places[*f].host()).to_owned();
            return Err(ElasticError::CoupledAcross { body });
        }
        for f in members {
            let path = known.remove(f).unwrap_or_default();
            let constant = path.iter().all(|(k, _)| self.is_constant(*k));
            frames[*f] = FramePlan { place: self.places[*f], cluster: number, path, constant };
        }
        let components = match root {
            None => Vec::new(),
            Some(_) if !planar => (0..6).collect(),
            Some(f) => super::planar::components(self.model, &self.places[f], pos)?,
        };
        let mut variables: Vec<Variable> =
            root.iter().flat_map(|f| components.iter().map(|k| Variable::Root(*f, *k))).collect();
        let mut add = |v: Variable| {
            if !variables.contains(&v) {
                variables.push(v);
            }
        };
        let used = members.iter().flat_map(|f| frames[*f].path.iter().map(|(k, _)| *k)).chain(loops.iter().copied());
        for k in used {
            self.links[k].columns.iter().for_each(|(v, _)| add(*v));
        }
        for f in members {
            if let Place::Whole(host) = self.places[*f] {
                let modes = modal(self.model, host).map_or(0, |m| m.modes.len());
                (0..modes).for_each(|k| add(Variable::Mode(host, k)));
            }
        }
        for c in self.model.topology().coords.ids().filter(|c| self.rotor_is_apart(*c)) {
            if variables.contains(&Variable::Joint(c)) {
                variables.push(Variable::Rotor(c));
            }
        }
        let independent = (0..variables.len()).collect();
        let order = PivotOrder::default();
        Ok(Cluster { root, components, variables, loops, order, independent, part: LegOrTip::Tip, offset: 0 })
    }

    /// The frame seen from which most beams are constant: in the largest group of ends that are fixed to each other, the
    /// platform first.
    fn root(&self, members: &[usize], own: &[usize], elements: &[Element]) -> usize {
        let mut group: BTreeMap<usize, usize> = members.iter().map(|f| (*f, *f)).collect();
        for k in own.iter().filter(|k| self.is_constant(**k)) {
            let [a, b] = self.links[*k].frames;
            let (Some(to), Some(from)) = (group.get(&a).copied(), group.get(&b).copied()) else { continue };
            group.values_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
        let beams =
            |f: usize| elements.iter().filter(|e| matches!(e, Element::Beam { ends, .. } if ends.contains(&f))).count();
        let pieces = |f: usize| match self.places[f] {
            Place::Node(b, _) => self.meshes[b].len(),
            _ => 0,
        };
        let score = |f: usize| {
            let fellows = members.iter().filter(|m| group[*m] == group[&f]);
            let ends: usize = fellows.map(|m| beams(*m)).sum();
            let platform = self.places[f] == Place::Whole(Host::Platform);
            (ends, platform, pieces(f), std::cmp::Reverse(f))
        };
        members.iter().copied().max_by_key(|f| score(*f)).unwrap_or(0)
    }

    /// The pose of the second frame seen from the first is the same at every posture.
    fn is_constant(&self, link: usize) -> bool {
        let t = self.model.topology();
        match self.links[link].joint {
            LinkJoint::Tree(b) => t.bodies[b].joint == JointKind::Fixed,
            LinkJoint::Closure(c) => t.closures[c].joint == ClosureJoint::Fixed,
            LinkJoint::Point => true,
        }
    }

    /// Legs of the arrow: clusters that beams tie together once the clusters common to several legs are taken away.
    fn place(&self, plan: &mut ElasticPlan) {
        let t = self.model.topology();
        let mut legs_of: Vec<BTreeSet<LegId>> = vec![BTreeSet::new(); plan.clusters.len()];
        let mut common = vec![false; plan.clusters.len()];
        for f in &plan.frames[1..] {
            match f.place.host() {
                Node::Body(b) => {
                    legs_of[f.cluster].insert(t.bodies[b].leg);
                }
                Node::Platform => common[f.cluster] = true,
                Node::World => {}
            }
        }
        (0..common.len()).for_each(|k| common[k] |= legs_of[k].len() > 1);
        let mut group: Vec<usize> = (0..plan.clusters.len()).collect();
        for e in &plan.elements {
            if let Element::Beam { ends, .. } = e {
                let [a, b] = ends.map(|f| plan.frames[f].cluster);
                if !common[a] && !common[b] {
                    let (from, to) = (group[b], group[a]);
                    group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
                }
            }
        }
        let (mut legs, mut tip): (Vec<(usize, usize)>, usize) = (Vec::new(), 0);
        for k in 0..plan.clusters.len() {
            let n = plan.clusters[k].independent.len();
            let cluster = &mut plan.clusters[k];
            if common[k] {
                (cluster.part, cluster.offset) = (LegOrTip::Tip, tip);
                tip += n;
                continue;
            }
            if n == 0 {
                continue;
            }
            let leg = legs.iter().position(|(g, _)| *g == group[k]).unwrap_or_else(|| {
                legs.push((group[k], 0));
                legs.len() - 1
            });
            (cluster.part, cluster.offset) = (LegOrTip::Leg(leg), legs[leg].1);
            legs[leg].1 += n;
        }
        plan.sizes = (legs.into_iter().map(|(_, n)| n).collect(), tip);
    }
}

/// Places of the columns of each link.
fn number_slots(plan: &mut ElasticPlan) {
    for link in &mut plan.links {
        let Some(f) = link.frames.into_iter().find(|f| *f != 0) else { continue };
        let variables = &plan.clusters[plan.frames[f].cluster].variables;
        let place = |v: &Variable| variables.iter().position(|x| x == v);
        link.slots = link.columns.iter().filter_map(|(v, _)| place(v)).collect();
    }
}

/// Freedoms of a closure: axes of its first side, and of a universal joint one of each.
fn cut_screws(closure: ClosureId, joint: ClosureJoint) -> Vec<Screw> {
    let cut = |side: usize, axis: usize, slides: bool| Screw::Cut { closure, side, axis, slides };
    match joint {
        ClosureJoint::Fixed => Vec::new(),
        ClosureJoint::Revolute => vec![cut(0, 2, false)],
        ClosureJoint::Prismatic => vec![cut(0, 2, true)],
        ClosureJoint::Universal => vec![cut(0, 2, false), cut(1, 2, false)],
        ClosureJoint::Spherical => (0..3).map(|axis| cut(0, axis, false)).collect(),
        ClosureJoint::Cylindrical => vec![cut(0, 2, false), cut(0, 2, true)],
    }
}

fn host_beam<S: crate::scalar::Real>(model: &Model<S>, host: Host) -> Option<&crate::model::BeamNumbers<S>> {
    match host {
        Host::Body(b) => model.numbers().beams[b].as_ref(),
        Host::Platform => None,
    }
}

/// Whether the file holds a joint while frequencies are computed.
fn is_to_hold(model: &Model<f64>, c: CoordId) -> bool {
    let t = model.topology();
    match &model.description().elastic.hold {
        Some(names) => names.iter().any(|n| t.coord(&n.text) == Some(c)),
        None => t.active.contains(&c),
    }
}

/// Joints that do not move.
fn held(model: &Model<f64>, actuators: Actuators) -> BTreeSet<CoordId> {
    let t = model.topology();
    let gives = |c: CoordId| {
        let row = &model.description().bodies[t.bodies[t.coords[c].body].row.0];
        row.drive.as_ref().is_some_and(|d| d.stiffness.is_some() || d.servo.is_some())
    };
    let held = |c: &CoordId| match actuators {
        Actuators::Locked => is_to_hold(model, *c),
        Actuators::Elastic => is_to_hold(model, *c) && !gives(*c),
        Actuators::Free => false,
    };
    t.coords.ids().filter(held).collect()
}
