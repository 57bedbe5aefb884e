//! The standard parameters of a robot: names and frames are those of its file, (8.256).

use crate::description::{ClosureJoint, Description, Joint};
use crate::model::{BodyId, ClosureId, CoordId, Model, Node, PerBody};
use crate::scalar::Real;
use crate::spatial::{Inertia, Mat3, Pose, vec3};

/// What a parameter measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// An entry of the inertia at the origin of the body frame: place in xx, xy, xz, yy, yz, zz.
    Inertia(usize),
    /// A first moment: place in mx, my, mz.
    FirstMoment(usize),
    /// The mass.
    Mass,
    /// Rotor inertia of a drive, seen from the joint.
    Rotor,
    /// Viscous friction of a joint and its drive together.
    Viscous,
    /// Coulomb friction of a joint and its drive together.
    Coulomb,
    /// What a joint (0) or its drive (1) at rest holds beyond Coulomb friction; how fast that fades is not linear and is known.
    Breakaway(usize),
}

/// The letters of the ten inertial parameters, in the order of the columns.
const LETTERS: [&str; 10] = ["xx", "xy", "xz", "yy", "yz", "zz", "mx", "my", "mz", "m"];

impl ParameterKind {
    /// The ten inertial parameters in the order of the columns.
    fn inertial(entry: usize) -> Self {
        match entry {
            0..6 => ParameterKind::Inertia(entry),
            6..9 => ParameterKind::FirstMoment(entry - 6),
            _ => ParameterKind::Mass,
        }
    }

    /// Place among the parameters of one body and its joint.
    pub fn place(self) -> usize {
        match self {
            ParameterKind::Inertia(k) => k,
            ParameterKind::FirstMoment(k) => 6 + k,
            ParameterKind::Mass => 9,
            ParameterKind::Rotor => 10,
            ParameterKind::Viscous => 11,
            ParameterKind::Coulomb => 12,
            ParameterKind::Breakaway(k) => 13 + k,
        }
    }

    /// Whether it belongs to friction.
    pub fn is_friction(self) -> bool {
        matches!(self, ParameterKind::Viscous | ParameterKind::Coulomb | ParameterKind::Breakaway(_))
    }

    fn letters(self) -> &'static str {
        match self {
            ParameterKind::Rotor => "Ia",
            ParameterKind::Viscous => "fv",
            ParameterKind::Coulomb => "fs",
            ParameterKind::Breakaway(0) => "fb",
            ParameterKind::Breakaway(_) => "fbd",
            other => LETTERS[other.place()],
        }
    }

    /// Power of length in its unit; `slides` of a prismatic joint.
    pub fn lengths(self, slides: bool) -> i32 {
        match self {
            ParameterKind::Inertia(_) => 2,
            ParameterKind::FirstMoment(_) => 1,
            ParameterKind::Mass => 0,
            ParameterKind::Rotor | ParameterKind::Viscous => 2 * i32::from(!slides),
            ParameterKind::Coulomb | ParameterKind::Breakaway(_) => 1 + i32::from(!slides),
        }
    }

    fn unit(self, slides: bool) -> &'static str {
        match (self, slides) {
            (ParameterKind::Inertia(_), _) | (ParameterKind::Rotor, false) => "kg m^2",
            (ParameterKind::FirstMoment(_), _) => "kg m",
            (ParameterKind::Mass, _) | (ParameterKind::Rotor, true) => "kg",
            (ParameterKind::Viscous, false) => "N m s/rad",
            (ParameterKind::Viscous, true) => "N s/m",
            (ParameterKind::Coulomb | ParameterKind::Breakaway(_), false) => "N m",
            (ParameterKind::Coulomb | ParameterKind::Breakaway(_), true) => "N",
        }
    }
}

/// Where the column of a parameter comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnSource {
    /// One of the ten inertial parameters in a frame of [`StandardSet::frames`].
    Inertia {
        /// The frame.
        frame: usize,
        /// Place among the ten.
        entry: usize,
    },
    /// Joint coordinates that it acts on: one, or all of a joint with several axes.
    Coords(Vec<CoordId>),
    /// An R or P closure that is no coordinate.
    Closure(ClosureId),
}

/// One of the parameters that efforts are linear in.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct StandardParameter {
    /// `zz12`: the quantity and the body, joint or closure of the file.
    pub name: String,
    /// Body, joint or closure that it belongs to, by its name in the file; `platform` or `tool`.
    pub of: String,
    /// Its unit.
    pub unit: &'static str,
    /// What the file says.
    pub value: f64,
    /// What it measures.
    #[serde(skip)]
    pub quantity: ParameterKind,
    /// Where its column comes from.
    #[serde(skip)]
    pub source: ColumnSource,
    /// Power of length in its unit.
    #[serde(skip)]
    pub lengths: i32,
    /// Row of the file that it belongs to; none for the platform and closures.
    #[serde(skip)]
    pub row: Option<usize>,
    /// Steps from the base along the tree: platform 0, closures last.
    #[serde(skip)]
    depth: usize,
}

/// A frame of the file that carries mass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MassFrame {
    /// What it is on.
    pub node: Node,
    /// It is the tool point on that body.
    tool: bool,
}

impl MassFrame {
    /// The frame on the model's own frame of what it is on.
    pub(super) fn pose<S: Real>(self, model: &Model<S>) -> Pose<S> {
        let (d, numbers) = (model.description(), model.numbers());
        let values = || d.definitions.values(&numbers.parameters);
        match self.node {
            Node::World => Pose::identity(),
            Node::Platform => d.platform.frame.pose(&values()).inverse(),
            Node::Body(b) if !self.tool => numbers.bodies[b].X_MB,
            Node::Body(b) => {
                let values = values();
                let point = d.platform.tool.as_ref().map(|(_, p)| p.each_ref().map(|f| f.eval(&values)));
                let [x, y, z] = point.unwrap_or([S::zero(); 3]);
                numbers.bodies[b].X_MB * Pose::translation(vec3(x, y, z))
            }
        }
    }
}

/// The standard parameters of a robot, in the order in which groups are formed: the platform first, then outwards from the base
/// and parameter by parameter over the legs, (8.274), so that groups come out alike on legs that are alike.
#[derive(Clone, PartialEq, Debug)]
pub struct StandardSet {
    /// The parameters.
    pub parameters: Vec<StandardParameter>,
    /// Frames of the file that carry mass.
    pub frames: Vec<MassFrame>,
}

impl StandardSet {
    /// All standard parameters; friction is that of every joint with a coordinate, and of R and P closures.
    pub fn new(model: &Model<f64>) -> Self {
        let mut set = Self { parameters: Vec::new(), frames: Vec::new() };
        set.add_platform(model);
        let d = model.description();
        for row in 0..d.bodies.len() {
            set.add_row(model, row);
        }
        for (id, closure) in model.topology().closures.iter().filter(|(_, c)| !c.tool) {
            if matches!(closure.joint, ClosureJoint::Revolute | ClosureJoint::Prismatic) {
                set.add_closure(model, id);
            }
        }
        set.parameters.sort_by_key(|p| (p.depth, p.quantity.place()));
        set
    }

    /// The set without parameters of friction.
    #[must_use]
    pub fn without_friction(mut self) -> Self {
        self.parameters.retain(|p| !p.quantity.is_friction());
        self
    }

    /// What the file says of each.
    pub fn values(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.value).collect()
    }

    /// Inertias of the bodies and of the platform, in the frames of the model, that values of the parameters stand for; nothing
    /// else has a mass. Linear in the values.
    pub fn inertias<S: Real>(&self, model: &Model<S>, values: &[S]) -> (PerBody<Inertia<S>>, Inertia<S>) {
        let mut own = vec![[S::zero(); 10]; self.frames.len()];
        for (p, x) in self.parameters.iter().zip(values) {
            if let ColumnSource::Inertia { frame, entry } = p.source {
                own[frame][entry] += *x;
            }
        }
        let mut bodies = model.topology().bodies.map(|_, _| Inertia::zero());
        let mut platform = Inertia::zero();
        for (frame, [xx, xy, xz, yy, yz, zz, mx, my, mz, m]) in self.frames.iter().zip(own) {
            let I_o = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            let I = Inertia { m, ms: vec3(mx, my, mz), I_o }.seen_from(&frame.pose(model));
            match frame.node {
                Node::World => {}
                Node::Platform => platform = platform + I,
                Node::Body(b) => bodies[b] = bodies[b] + I,
            }
        }
        (bodies, platform)
    }

    /// The parameter called so.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p.name == name)
    }

    fn add(
        &mut self,
        of: &str,
        quantity: ParameterKind,
        slides: bool,
        value: f64,
        source: ColumnSource,
        at: (usize, Option<usize>),
    ) {
        let letters = quantity.letters();
        let plain = of.starts_with(|c: char| c.is_ascii_digit());
        let name = if plain { format!("{letters}{of}") } else { format!("{letters}.{of}") };
        let (unit, lengths) = (quantity.unit(slides), quantity.lengths(slides));
        let of = of.to_owned();
        self.parameters.push(StandardParameter {
            name,
            of,
            unit,
            value,
            quantity,
            source,
            lengths,
            row: at.1,
            depth: at.0,
        });
    }

    fn add_inertia(
        &mut self,
        of: &str,
        frame: MassFrame,
        I: &Inertia<f64>,
        at: (usize, Option<usize>),
        mass_only: bool,
    ) {
        let frame_id = self.frames.len();
        self.frames.push(frame);
        let entries = entries(I);
        let first = if mass_only { 9 } else { 0 };
        for (entry, value) in entries.into_iter().enumerate().skip(first) {
            let source = ColumnSource::Inertia { frame: frame_id, entry };
            self.add(of, ParameterKind::inertial(entry), false, value, source, at);
        }
    }

    fn add_platform(&mut self, model: &Model<f64>) {
        let Some(tool) = model.topology().platform.tool else {
            let frame = MassFrame { node: Node::Platform, tool: false };
            let I = model.numbers().platform.seen_from(&frame.pose(model).inverse());
            return self.add_inertia("platform", frame, &I, (0, None), false);
        };
        let I = tool_inertia(model);
        let point = I.ms.norm() == 0.0 && I.I_o.norm() == 0.0;
        self.add_inertia("tool", MassFrame { node: Node::Body(tool), tool: true }, &I, (0, None), point);
    }

    fn add_row(&mut self, model: &Model<f64>, row: usize) {
        let (topology, d) = (model.topology(), model.description());
        let parts: Vec<BodyId> = topology.bodies.iter().filter(|(_, b)| b.row.0 == row).map(|(id, _)| id).collect();
        let (Some(&first), Some(&last)) = (parts.first(), parts.last()) else { return };
        let name = &d.bodies[row].name.text;
        let depth = |b: BodyId| 1 + topology.path(b).len();
        if matches!(d.bodies[row].joint, Joint::Parallelogram(_)) && first != last {
            let bar = format!("{name}.bar");
            self.add_body(model, first, &bar, (depth(first), Some(row)));
        }
        if !is_closure(d, row) {
            self.add_body(model, last, name, (depth(last), Some(row)));
        }
        let coords: Vec<CoordId> = parts.iter().filter_map(|b| topology.bodies[*b].coord).collect();
        if let Some(&c) = coords.first() {
            let slides = topology.coords[c].slides;
            let at = (depth(last), Some(row));
            let joint = model.numbers().joints[c];
            let mut add = |q, value| self.add(name, q, slides, value, ColumnSource::Coords(coords.clone()), at);
            if d.bodies[row].drive.is_some() {
                add(ParameterKind::Rotor, joint.rotor);
            }
            add(ParameterKind::Viscous, joint.viscous);
            add(ParameterKind::Coulomb, joint.coulomb);
            for (k, (beyond, decay)) in joint.breakaway.into_iter().enumerate() {
                if beyond != 0.0 || decay != 0.0 {
                    add(ParameterKind::Breakaway(k), beyond);
                }
            }
        }
    }

    fn add_body(&mut self, model: &Model<f64>, b: BodyId, name: &str, at: (usize, Option<usize>)) {
        let frame = MassFrame { node: Node::Body(b), tool: false };
        let mut I = model.numbers().bodies[b].inertia.seen_from(&frame.pose(model).inverse());
        if model.topology().platform.tool == Some(b) {
            let point = MassFrame { tool: true, ..frame }.pose(model);
            let tool = tool_inertia(model).seen_from(&(frame.pose(model).inverse() * point));
            I = I + tool.map(&mut |x| -x);
        }
        self.add_inertia(name, frame, &I, at, false);
    }

    fn add_closure(&mut self, model: &Model<f64>, id: ClosureId) {
        let topology = model.topology();
        let closure = &topology.closures[id];
        let slides = closure.joint == ClosureJoint::Prismatic;
        let own = model.closure_row(id).and_then(|c| c.name.as_ref());
        let sides = closure.sides.map(|s| topology.node_name(s).to_owned());
        let name = own.map_or_else(|| format!("({}-{})", sides[0], sides[1]), |n| n.text.clone());
        let at = (usize::MAX, None);
        let source = || ColumnSource::Closure(id);
        self.add(&name, ParameterKind::Viscous, slides, 0.0, source(), at);
        self.add(&name, ParameterKind::Coulomb, slides, 0.0, source(), at);
        // A name in brackets needs no dot before it.
        for p in self.parameters.iter_mut().rev().take(2) {
            p.name = p.name.replace(".(", "(");
        }
    }
}

/// Ten numbers of an inertia in the order of the columns.
fn entries(I: &Inertia<f64>) -> [f64; 10] {
    let o = &I.I_o;
    let I_o = [o[(0, 0)], o[(0, 1)], o[(0, 2)], o[(1, 1)], o[(1, 2)], o[(2, 2)]];
    [I_o[0], I_o[1], I_o[2], I_o[3], I_o[4], I_o[5], I.ms.x, I.ms.y, I.ms.z, I.m]
}

/// What the file hangs at the tool point, at that point and in the axes of its body.
fn tool_inertia(model: &Model<f64>) -> Inertia<f64> {
    let d = model.description();
    let values = d.definitions.values(&model.numbers().parameters);
    d.platform.mass.inertia(&values).seen_from(&d.platform.frame.pose(&values).inverse())
}

/// Whether a row of the tree was made from a closure with friction, a spring or a range: it has no mass of its own.
fn is_closure(d: &Description, row: usize) -> bool {
    let name = &d.bodies[row].name.text;
    d.closures.iter().any(|c| c.name.as_ref().is_some_and(|n| n.text == *name) && c.a.body.text == *name)
}

impl StandardParameter {
    /// Place of its body or joint in the file, for sorting; closures and the platform have none.
    pub fn coordinate(&self) -> Option<CoordId> {
        match &self.source {
            ColumnSource::Coords(list) => list.first().copied(),
            _ => None,
        }
    }

    /// Number of the frame that it is measured in, for inertial parameters.
    pub fn frame(&self) -> Option<usize> {
        if let ColumnSource::Inertia { frame, .. } = self.source { Some(frame) } else { None }
    }
}
