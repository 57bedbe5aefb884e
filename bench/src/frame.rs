//! A robot whose links are beams, at a posture, as a frame of nodes, elements and ties for finite-element programs. All in
//! world axes and SI units; `docs/src/reference/peers.md` lists the keys.

use gough::Robot;
use gough::description::{Beam, ClosureJoint, DescribedBody, Flexible};
use gough::kinematics::Posture;
use gough::model::{BodyId, JointKind, Node, PerBody};
use gough::spatial::{Pose, Vec3, vec3};
use serde_json::{Value, json};

/// A place on a beam is the same as another when it is no farther away than this share of the beam.
const SAME: f64 = 1e-9;

/// The frame of a robot at a posture.
pub fn frame(robot: &Robot, posture: &Posture) -> Result<Value, String> {
    let mut frame = Frame::new(robot, posture);
    for b in robot.model().topology().bodies.ids() {
        frame.beam(b)?;
    }
    frame.platform()?;
    for b in robot.model().topology().bodies.ids() {
        frame.joint(b)?;
    }
    frame.closures()?;
    Ok(json!({
        "robot": robot.name(),
        "planar": robot.model().description().elastic.planar,
        "nodes": frame.nodes,
        "beams": frame.beams,
        "ties": frame.ties,
        "springs": frame.springs,
    }))
}

/// Beams of a robot that may have other bodies too: names, lengths and elements.
pub fn beams(robot: &Robot) -> Vec<Value> {
    let frame = Frame::new(robot, robot.home());
    let beam = |b: BodyId| {
        let Some(Flexible::Beam(beam)) = &frame.row(b).flexible else { return None };
        let to = Vec3::from([0, 1, 2].map(|k| beam.to[k].eval(&frame.values)));
        let mut element = frame.element(b, beam, to);
        element["name"] = json!(frame.row(b).name.text);
        element["length"] = json!(to.norm());
        Some(element)
    };
    robot.model().topology().bodies.ids().filter_map(beam).collect()
}

struct Frame<'a> {
    robot: &'a Robot,
    values: Vec<f64>,
    X_WE: Pose<f64>,
    /// Frames of the file.
    X_WB: PerBody<Pose<f64>>,
    /// Nodes of each body: share of the beam, number.
    stations: PerBody<Vec<(f64, usize)>>,
    /// The node of a platform that is a body of its own.
    at_platform: Option<usize>,
    nodes: Vec<Value>,
    beams: Vec<Value>,
    ties: Vec<Value>,
    springs: Vec<Value>,
}

impl<'a> Frame<'a> {
    fn new(robot: &'a Robot, posture: &Posture) -> Self {
        let model = robot.model();
        let mut pos = posture.positions().clone();
        gough::kinematics::pose_bodies(model, &mut pos);
        Self {
            robot,
            values: model.description().definitions.values(&model.numbers().parameters),
            X_WE: pos.X_WE,
            X_WB: pos.X_WB.map(|b, X_WM| *X_WM * model.numbers().bodies[b].X_MB),
            stations: pos.X_WB.map(|_, _| Vec::new()),
            at_platform: None,
            nodes: Vec::new(),
            beams: Vec::new(),
            ties: Vec::new(),
            springs: Vec::new(),
        }
    }

    fn row(&self, b: BodyId) -> &'a DescribedBody {
        let model = self.robot.model();
        &model.description().bodies[model.topology().bodies[b].row.0]
    }

    fn node(&mut self, p: Vec3<f64>) -> usize {
        self.nodes.push(json!({ "at": p.as_slice(), "mass": 0.0 }));
        self.nodes.len() - 1
    }

    /// Nodes and elements of a body.
    fn beam(&mut self, b: BodyId) -> Result<(), String> {
        let row = self.row(b);
        let Some(Flexible::Beam(beam)) = &row.flexible else {
            return Err(format!(
                "body {} is not a beam: only robots of beams can be given to other programs",
                row.name.text
            ));
        };
        let mass = &row.mass;
        if mass.mass.is_some() || mass.shape.is_some() || mass.inertia.is_some() {
            return Err(format!("beam {} has mass data beside its own: give point masses", row.name.text));
        }
        let to = Vec3::from([0, 1, 2].map(|k| beam.to[k].eval(&self.values)));
        let segments = self.segments(b, to)?;
        let elements = beam.elements.max(1);
        let mut shares = vec![0.0];
        for ends in segments.windows(2) {
            shares.extend((1..=elements).map(|k| ends[0] + (ends[1] - ends[0]) * k as f64 / elements as f64));
        }
        self.stations[b] = shares.iter().map(|s| (*s, self.node(self.X_WB[b] * (to * *s)))).collect();
        let element = self.element(b, beam, to);
        for ends in self.stations[b].clone().windows(2) {
            let mut one = element.clone();
            one["nodes"] = json!([ends[0].1, ends[1].1]);
            self.beams.push(one);
        }
        for (point, mass) in &row.mass.lumped {
            let point = Vec3::from([0, 1, 2].map(|k| point[k].eval(&self.values)));
            let at = self.station(b, point, to)?;
            self.weigh(at, mass.eval(&self.values));
        }
        Ok(())
    }

    /// What all elements of a body have in common.
    fn element(&self, b: BodyId, beam: &Beam, to: Vec3<f64>) -> Value {
        let elastic = &self.robot.model().description().elastic;
        let section = elastic.sections[beam.section].1.properties(&self.values);
        let (E, G, rho) = elastic.materials[beam.material].1.moduli(&self.values);
        let up =
            beam.up.as_ref().map_or(vec3(0.0, 0.0, 1.0), |u| Vec3::from([0, 1, 2].map(|k| u[k].eval(&self.values))));
        let z = up - to * (up.dot(&to) / to.dot(&to));
        json!({
            "E": E, "G": G, "rho": rho,
            "A": section.A, "Iy": section.Iy, "Iz": section.Iz, "J": section.J, "Ip": section.Ip,
            "z": self.X_WB[b].R.apply(z.normalize()).as_slice(),
            "rotary_inertia": beam.rotary_inertia,
            "shear": beam.shear,
        })
    }

    /// Shares of the beam where something is attached, both ends included.
    fn segments(&self, b: BodyId, to: Vec3<f64>) -> Result<Vec<f64>, String> {
        let model = self.robot.model();
        let (topology, numbers) = (model.topology(), model.numbers());
        let children =
            topology.bodies.iter().filter(|(_, c)| c.parent == Node::Body(b)).map(|(c, _)| numbers.bodies[c].X_PF.p);
        let sides =
            topology.closures.iter().flat_map(|(id, c)| [0, 1].map(|k| (c.sides[k], numbers.closures[id][k].p)));
        let sides = sides.filter(|(node, _)| *node == Node::Body(b)).map(|(_, p)| p);
        let on_M: Vec<Vec3<f64>> = children.chain(sides).collect();
        let lumped =
            self.row(b).mass.lumped.iter().map(|(p, _)| Vec3::from([0, 1, 2].map(|k| p[k].eval(&self.values))));
        let points = on_M.iter().map(|p| numbers.bodies[b].X_MB.apply_inv(*p)).chain(lumped);
        let mut shares = vec![0.0, 1.0];
        for p in points {
            shares.push(self.share(b, p, to)?);
        }
        shares.sort_by(f64::total_cmp);
        shares.dedup_by(|x, y| (*x - *y).abs() < SAME);
        Ok(shares)
    }

    /// How far along the beam a point of the body frame is.
    fn share(&self, b: BodyId, p: Vec3<f64>, to: Vec3<f64>) -> Result<f64, String> {
        let share = p.dot(&to) / to.dot(&to);
        let on_axis = (p - to * share).norm() < SAME * to.norm() && (-SAME..1.0 + SAME).contains(&share);
        on_axis
            .then_some(share)
            .ok_or_else(|| format!("something is attached beside the beam {}", self.row(b).name.text))
    }

    /// The node at a point of the body frame.
    fn station(&self, b: BodyId, p: Vec3<f64>, to: Vec3<f64>) -> Result<usize, String> {
        let share = self.share(b, p, to)?;
        let found = self.stations[b].iter().find(|(s, _)| (s - share).abs() < SAME);
        found.map(|(_, node)| *node).ok_or_else(|| format!("no node there on {}", self.row(b).name.text))
    }

    /// The node of a body nearest to a point of the world.
    fn nearest(&self, b: BodyId, p: Vec3<f64>) -> usize {
        let far = |n: usize| {
            (0..3).map(|k| (self.nodes[n]["at"][k].as_f64().unwrap_or(f64::NAN) - p[k]).powi(2)).sum::<f64>()
        };
        let nodes = self.stations[b].iter().map(|(_, n)| *n);
        nodes.min_by(|m, n| far(*m).total_cmp(&far(*n))).expect("a beam has nodes")
    }

    fn weigh(&mut self, node: usize, mass: f64) {
        let before = self.nodes[node]["mass"].as_f64().unwrap_or(0.0);
        self.nodes[node]["mass"] = json!(before + mass);
    }

    /// A node for a platform of its own, or the mass of a tool on its body.
    fn platform(&mut self) -> Result<(), String> {
        let model = self.robot.model();
        let I = model.description().platform.mass.inertia(&self.values);
        if I.ms.norm() > 0.0 {
            return Err("the centre of mass of the platform is not at its origin".to_owned());
        }
        let node = match model.topology().platform.tool {
            Some(tool) => self.nearest(tool, self.X_WE.p),
            None => self.node(self.X_WE.p),
        };
        self.at_platform = Some(node);
        self.weigh(node, I.m);
        let J = self.X_WE.R.0 * I.I_o * self.X_WE.R.0.transpose();
        if J.norm() > 0.0 {
            self.nodes[node]["inertia"] =
                json!((0..3).map(|i| (0..3).map(|j| J[(i, j)]).collect()).collect::<Vec<Vec<f64>>>());
        }
        Ok(())
    }

    /// The node that stands for a side of a joint.
    fn side(&self, node: Node, p: Vec3<f64>) -> Result<Option<usize>, String> {
        match node {
            Node::World => Ok(None),
            Node::Body(b) => Ok(Some(self.nearest(b, p))),
            Node::Platform if (p - self.X_WE.p).norm() < SAME => Ok(self.at_platform),
            Node::Platform => Err("something is attached beside the origin of the platform".to_owned()),
        }
    }

    /// The joint under a body: held, free about its axis, or with a spring.
    fn joint(&mut self, b: BodyId) -> Result<(), String> {
        let model = self.robot.model();
        let (body, row) = (&model.topology().bodies[b], self.row(b));
        let elastic = &model.description().elastic;
        let held = match &elastic.hold {
            Some(list) => list.iter().any(|name| name.text == row.name.text),
            None => body.coord.is_some_and(|c| model.topology().active.contains(&c)),
        };
        let axis = (self.X_WB[b] * model.numbers().bodies[b].X_MB.inverse()).R.z();
        let stiffness = row
            .drive
            .as_ref()
            .and_then(|d| d.stiffness.as_ref())
            .or(row.stiffness.as_ref())
            .map(|f| f.eval(&self.values));
        let nodes = [self.side(body.parent, self.X_WB[b].p)?, Some(self.nearest(b, self.X_WB[b].p))];
        let free = match body.joint {
            JointKind::Fixed => Value::Null,
            JointKind::Revolute if held && stiffness.is_none() => Value::Null,
            JointKind::Revolute => json!(axis.as_slice()),
            JointKind::Prismatic => {
                return Err(format!("joint {} slides: not written for other programs", row.name.text));
            }
        };
        if let (Some(k), false) = (stiffness, free.is_null()) {
            self.springs.push(json!({ "nodes": nodes, "axis": axis.as_slice(), "stiffness": k }));
        }
        self.ties.push(json!({ "nodes": nodes, "free": free }));
        Ok(())
    }

    fn closures(&mut self) -> Result<(), String> {
        let model = self.robot.model();
        for (id, closure) in model.topology().closures.iter().filter(|(_, c)| !c.tool) {
            let numbers = model.numbers();
            let side = |k: usize| match closure.sides[k] {
                Node::World => numbers.closures[id][k],
                Node::Platform => self.X_WE * numbers.closures[id][k],
                Node::Body(b) => self.X_WB[b] * numbers.bodies[b].X_MB.inverse() * numbers.closures[id][k],
            };
            let (A, B) = (side(0), side(1));
            let free = match closure.joint {
                ClosureJoint::Fixed => Value::Null,
                ClosureJoint::Revolute => json!(A.R.z().as_slice()),
                ClosureJoint::Spherical => json!("all"),
                other => return Err(format!("a closure {} is not written for other programs", other.word())),
            };
            let nodes = [self.side(closure.sides[0], A.p)?, self.side(closure.sides[1], B.p)?];
            self.ties.push(json!({ "nodes": nodes, "free": free }));
        }
        Ok(())
    }
}
