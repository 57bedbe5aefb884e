//! Bodies and equations of a robot file at a posture: the frames of all bodies from the joint values, and every joint as
//! equations between two bodies.

use super::{At, Body, M3, NOTHING, Plain, Rate, Solved, Stand, Sum, V3, hat};
use gough::description::{ClosureJoint, DescribedBody, Description, Flexible, Joint, Modal, Name, Placement, Side};
use gough::spatial::Inertia;
use std::collections::HashMap;

/// Makes a [`Plain`] from a description.
pub(super) struct Assembly<'a> {
    pub(super) d: &'a Description,
    pub(super) values: Vec<f64>,
    pub(super) stand: &'a Stand,
    /// Where the file's bodies are: number (none for the base) and frame.
    pub(super) nodes: HashMap<String, (Option<usize>, At)>,
    pub(super) bodies: Vec<Body>,
    pub(super) rates: HashMap<String, Sum>,
    pub(super) rows: Vec<Sum>,
}

impl Assembly<'_> {
    pub(super) fn build(mut self) -> Plain {
        let (d, stand) = (self.d, self.stand);
        let joints = self.joint_values();
        self.nodes.insert("base".to_owned(), (None, At::from(&d.base.pose(&self.values))));
        let X_EP = At::from(&d.platform.frame.pose(&self.values)).inverse();
        let mut E = At { R: stand.pose.0, p: stand.pose.1 };
        if d.platform.tool.is_none() {
            self.add_platform(E.then(X_EP));
        }
        for row in &d.bodies {
            self.add_body(row, &joints);
        }
        if let Some((body, point)) = &d.platform.tool {
            let (on, frame) = self.nodes[&body.text];
            E = frame.shifted(V3::from([0, 1, 2].map(|i| point[i].value)));
            self.add_platform(E.then(X_EP));
            self.tie(ClosureJoint::Fixed, on, Some(self.bodies.len() - 1), &E, &E);
        }
        let mut gap = (E.p - stand.pose.1).norm();
        for closure in &d.closures {
            gap = f64::max(gap, self.close(closure.joint, &closure.a, &closure.b));
        }
        self.couple();
        let platform = self.nodes["platform"].0;
        let axis = |i: usize| V3::from_fn(|j, _| f64::from(u8::from(j == i % 3)));
        let task = |i: &usize| {
            vec![(1.0, Rate { a: None, b: platform, point: E.p, e: axis(*i), turns: *i >= 3, cross: None })]
        };
        let named = |names: &[String]| names.iter().map(|n| self.rates[n].clone()).collect::<Vec<Sum>>();
        let tasks = stand.independent.iter().map(task).chain(named(&stand.given)).collect();
        self.rows.extend(named(&stand.held));
        let places: Vec<V3> = self.bodies.iter().flat_map(|b| [b.at.p, b.at.p + b.ms / b.m.max(1e-12)]).collect();
        let centre = places.iter().sum::<V3>() / places.len() as f64;
        let spread = places.iter().map(|p| (p - centre).norm_squared()).sum::<f64>() / places.len() as f64;
        let mut plain = Plain {
            active: named(&stand.active),
            rotors: d.bodies.iter().flat_map(|row| rotors(row, stand)).collect(),
            gravity: V3::from([0, 1, 2].map(|i| d.gravity[i].value)),
            length: if spread > 0.0 { spread.sqrt() } else { 1.0 },
            tasks,
            gap,
            bodies: self.bodies,
            constraints: self.rows,
            joint_rates: self.rates,
            free: Vec::new(),
            held: Solved::default(),
            task: Solved::default(),
        };
        let rows: Vec<Vec<f64>> = plain.constraints.iter().map(|s| plain.row(s)).collect();
        plain.held = Solved::of(&rows, NOTHING);
        plain.free = plain.held.complement(6 * plain.bodies.len());
        plain.task = Solved::of(&plain.on_freedoms(&plain.tasks), NOTHING);
        plain
    }

    fn add_platform(&mut self, at: At) {
        let mass = with_nodes(self.d.platform.mass.inertia(&self.values), self.d.platform.modal.as_ref());
        self.bodies.push(Body::new(at, &mass));
        self.nodes.insert("platform".to_owned(), (Some(self.bodies.len() - 1), at));
    }

    /// Every joint coordinate: those of the library, and those that couplings, screws and parallelograms give.
    fn joint_values(&self) -> HashMap<String, f64> {
        let mut joints = self.stand.joints.clone();
        let unknown: Vec<String> =
            self.d.bodies.iter().flat_map(joint_names).filter(|n| !joints.contains_key(n)).collect();
        let (mut rows, mut right) = (Vec::new(), Vec::new());
        for coupling in self.terms() {
            let mut row = vec![0.0; unknown.len()];
            let mut known = 0.0;
            for (name, k) in coupling {
                match unknown.iter().position(|u| *u == name) {
                    Some(j) => row[j] += k,
                    None => known += k * joints[&name],
                }
            }
            rows.push(row);
            right.push(-known);
        }
        let found = Solved::of(&rows, NOTHING).shortest(&right, unknown.len());
        joints.extend(unknown.into_iter().zip(found));
        joints
    }

    /// Linear relations between joints: `Σ k q = 0`.
    fn terms(&self) -> Vec<Vec<(String, f64)>> {
        let names: Vec<String> = self.d.bodies.iter().flat_map(joint_names).collect();
        let own = |n: &Name| {
            let short = n.text.strip_prefix('q').unwrap_or(&n.text);
            let parts = [n.text.clone(), format!("{}.1", n.text), short.to_owned(), format!("{short}.1")];
            parts.into_iter().find(|p| names.contains(p)).expect("the joint of a coupling")
        };
        let written = self.d.couplings.iter().map(|c| c.terms.iter().map(|(n, f)| (own(n), f.value)).collect());
        let within = self.d.bodies.iter().filter_map(|row| {
            let name = &row.name.text;
            let k = match &row.joint {
                Joint::Screw { pitch } => -pitch.value,
                Joint::Parallelogram(_) => 1.0,
                _ => return None,
            };
            Some(vec![(format!("{name} second"), 1.0), (name.clone(), k)])
        });
        written.chain(within).collect()
    }

    /// Joints of a row one after the other, each with a body behind it.
    fn add_body(&mut self, row: &DescribedBody, joints: &HashMap<String, f64>) {
        let (mut parent, mut at) = self.nodes[&row.on.text];
        at = at
            .shifted(self.named_point(&row.on, row.at_point.as_ref()))
            .then(At::from(&row.placement.pose(&self.values)));
        let steps = self.steps(row);
        let last = steps.len() - 1;
        for (i, (name, slides, axis, before)) in steps.into_iter().enumerate() {
            at = at.shifted(before);
            let q = name.as_ref().map_or(0.0, |n| joints[n]);
            let e = at.R * axis;
            at = if slides { at.shifted(axis * q) } else { at.turned(axis, q) };
            let mass = self.mass_of(row, i, last);
            self.bodies.push(Body::new(at, &mass));
            let body = Some(self.bodies.len() - 1);
            let joint = match (&name, slides) {
                (None, _) => ClosureJoint::Fixed,
                (_, true) => ClosureJoint::Prismatic,
                (_, false) => ClosureJoint::Revolute,
            };
            let along = At { R: with_z(e), p: at.p };
            self.tie(joint, parent, body, &along, &along);
            if let Some(name) = name {
                let rate = Rate { a: parent, b: body, point: at.p, e, turns: !slides, cross: None };
                self.rates.insert(name, vec![(1.0, rate)]);
            }
            parent = body;
        }
        self.nodes.insert(row.name.text.clone(), (parent, at));
    }

    /// The joints of a row: name, whether it slides, axis in the body frame, and what stands before it.
    fn steps(&self, row: &DescribedBody) -> Vec<(Option<String>, bool, V3, V3)> {
        let a = row.placement.axis::<f64>(&self.values).0.column(2).into_owned();
        let name = |i: usize| Some(joint_names(row)[i].clone());
        let o = V3::zeros();
        match &row.joint {
            Joint::Fixed => vec![(None, false, a, o)],
            Joint::Revolute => vec![(name(0), false, a, o)],
            Joint::Prismatic => vec![(name(0), true, a, o)],
            Joint::Universal { axis2 } => {
                vec![
                    (name(0), false, a, o),
                    (name(1), false, V3::from([0, 1, 2].map(|i| axis2[i].value)).normalize(), o),
                ]
            }
            Joint::Spherical => {
                vec![(name(0), false, V3::x(), o), (name(1), false, V3::y(), o), (name(2), false, V3::z(), o)]
            }
            Joint::Cylindrical | Joint::Screw { .. } => vec![(name(0), false, a, o), (name(1), true, a, o)],
            Joint::Parallelogram(bar) => {
                vec![(name(0), false, a, o), (name(1), false, a, V3::from([0, 1, 2].map(|i| bar.vector[i].value)))]
            }
        }
    }

    fn mass_of(&self, row: &DescribedBody, part: usize, last: usize) -> Inertia<f64> {
        if let (Joint::Parallelogram(bar), 0) = (&row.joint, part) {
            return bar.mass.inertia(&self.values);
        }
        if part < last {
            return Inertia::zero();
        }
        let own = row.mass.inertia(&self.values);
        match &row.flexible {
            None => own,
            Some(Flexible::Modal(modal)) => with_nodes(own, Some(modal)),
            Some(Flexible::Beam(beam)) => {
                let material = &self.d.elastic.materials[beam.material].1;
                let s = self.d.elastic.sections[beam.section].1.properties::<f64>(&self.values);
                let to = V3::from([0, 1, 2].map(|i| beam.to[i].value));
                let up = beam.up.as_ref().map_or(V3::z(), |u| V3::from([0, 1, 2].map(|i| u[i].value)));
                let (l, x) = (to.norm(), to.normalize());
                let y = up.cross(&x).normalize();
                let R = M3::from_columns(&[x, y, x.cross(&y)]);
                let line = material.density.value;
                let m = line * s.A * l;
                let turned = |I: f64| m * l * l / 3.0 + if beam.rotary_inertia { line * l * I } else { 0.0 };
                let I = M3::from_diagonal(&V3::new(line * l * s.Ip, turned(s.Iy), turned(s.Iz)));
                Inertia { m: own.m + m, ms: own.ms + x * (m * l / 2.0), I_o: own.I_o + R * I * R.transpose() }
            }
        }
    }

    fn named_point(&self, body: &Name, point: Option<&Name>) -> V3 {
        let Some(point) = point else { return V3::zeros() };
        let flexible =
            |row: &'_ DescribedBody| if let Some(Flexible::Modal(m)) = &row.flexible { Some(m.clone()) } else { None };
        let modal = if body.text == "platform" {
            self.d.platform.modal.clone()
        } else {
            self.d.bodies.iter().find(|b| b.name.text == body.text).and_then(flexible)
        };
        let found = modal.and_then(|m| m.points.iter().find(|p| p.name == point.text).map(|p| p.position));
        found.map_or_else(V3::zeros, V3::from)
    }

    fn side(&self, side: &Side) -> (Option<usize>, At) {
        let (body, at) = self.nodes[&side.body.text];
        let at = at.shifted(self.named_point(&side.body, side.at_point.as_ref()));
        let at = at.then(At::from(&side.placement.pose(&self.values)));
        (body, At { R: at.R * Placement::axis::<f64>(&side.placement, &self.values).0, ..at })
    }

    /// Equations of a closing joint; by how much it is open.
    fn close(&mut self, joint: ClosureJoint, a: &Side, b: &Side) -> f64 {
        let ((a, A), (b, B)) = (self.side(a), self.side(b));
        self.tie(joint, a, b, &A, &B);
        let (apart, z) = (B.p - A.p, A.R.column(2).into_owned());
        let off = (A.R - B.R).norm();
        let aside = apart.cross(&z).norm();
        let tilt = (z - B.R.column(2)).norm();
        match joint {
            ClosureJoint::Fixed => apart.norm().max(off),
            ClosureJoint::Revolute => apart.norm().max(tilt),
            ClosureJoint::Prismatic => aside.max(off),
            ClosureJoint::Cylindrical => aside.max(tilt),
            ClosureJoint::Universal => apart.norm().max(z.dot(&B.R.column(2)).abs()),
            ClosureJoint::Spherical => apart.norm(),
        }
    }

    fn tie(&mut self, joint: ClosureJoint, a: Option<usize>, b: Option<usize>, A: &At, B: &At) {
        let axis = |k: usize| A.R.column(k).into_owned();
        let slide = |e: V3| vec![(1.0, Rate { a, b, point: B.p, e, turns: false, cross: None })];
        let spin = |e: V3| vec![(1.0, Rate { a, b, point: B.p, e, turns: true, cross: None })];
        let (slides, turns) = match joint {
            ClosureJoint::Fixed => (3, 3),
            ClosureJoint::Revolute => (3, 2),
            ClosureJoint::Prismatic => (2, 3),
            ClosureJoint::Cylindrical => (2, 2),
            ClosureJoint::Universal | ClosureJoint::Spherical => (3, 0),
        };
        self.rows.extend((0..slides).map(axis).map(slide));
        self.rows.extend((0..turns).map(axis).map(spin));
        if joint == ClosureJoint::Universal {
            let (z, other) = (axis(2), B.R.column(2).into_owned());
            let e = z.cross(&other);
            self.rows.push(vec![(1.0, Rate { a, b, point: B.p, e, turns: true, cross: Some((z, other)) })]);
        }
    }

    fn couple(&mut self) {
        let terms = self.terms();
        let sum = |list: &Vec<(String, f64)>| {
            let one = |(n, k): &(String, f64)| self.rates[n].iter().map(|(f, r)| (f * k, r.clone())).collect::<Sum>();
            list.iter().flat_map(one).collect::<Sum>()
        };
        let rows: Vec<Sum> = terms.iter().map(sum).collect();
        self.rows.extend(rows);
    }
}

/// Names of the joints of a row; the second of a screw or parallelogram follows the first and has none of its own.
fn joint_names(row: &DescribedBody) -> Vec<String> {
    let name = &row.name.text;
    let numbered = |n: usize| (1..=n).map(|i| format!("{name}.{i}")).collect();
    match &row.joint {
        Joint::Fixed => Vec::new(),
        Joint::Revolute | Joint::Prismatic => vec![name.clone()],
        Joint::Screw { .. } | Joint::Parallelogram(_) => vec![name.clone(), format!("{name} second")],
        Joint::Universal { .. } | Joint::Cylindrical => numbered(2),
        Joint::Spherical => numbered(3),
    }
}

fn with_z(z: V3) -> M3 {
    let least = (0..3).min_by(|a, b| z[*a].abs().total_cmp(&z[*b].abs())).unwrap();
    let x = V3::from_fn(|i, _| f64::from(u8::from(i == least))).cross(&z).normalize();
    M3::from_columns(&[x, z.cross(&x), z])
}

fn with_nodes(own: Inertia<f64>, modal: Option<&Modal>) -> Inertia<f64> {
    let nodes = modal.iter().flat_map(|m| m.nodes.iter().zip(&m.masses));
    nodes.fold(own, |sum, (p, m)| {
        let p = V3::from(*p);
        Inertia { m: sum.m + m, ms: sum.ms + p * *m, I_o: sum.I_o - hat(p) * hat(p) * *m }
    })
}

/// Rotor inertia of the joints of a row that have a coordinate.
fn rotors(row: &DescribedBody, stand: &Stand) -> Vec<(f64, String)> {
    let Some(inertia) = row.drive.as_ref().and_then(|d| d.rotor_inertia.as_ref()) else { return Vec::new() };
    let own = joint_names(row).into_iter().filter(|n| stand.joints.contains_key(n));
    own.map(|n| (inertia.value, n)).collect()
}
