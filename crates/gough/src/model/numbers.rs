//! What a robot measures, in any scalar: built from the named parameters, which stay alive in it.

use super::expand::Layout;
use super::ids::{ClosureId, CoordId, PerBody, PerClosure, PerCoord};
use super::topology::Node;
use crate::description::{
    Coordinate, DescribedBody, Description, Flexible, Formula, Friction, Joint, Modal, Name, Placement,
    SectionProperties, Side, align,
};
use crate::scalar::Real;
use crate::spatial::orientation::from_constant_rpy;
use crate::spatial::{Inertia, Mat3, Pose, Rotation, Vec3, vec3};
use std::ops::Add as _;

/// Numbers of a body. Inside, every joint axis is z of the joint's frames F (fixed) and M (moving).
#[derive(Clone, PartialEq, Debug)]
pub struct BodyNumbers<S: Real> {
    /// Frame F of the joint in the parent's frame M (in the world or on the platform for a root).
    pub X_PF: Pose<S>,
    /// The body frame of the file in M.
    pub X_MB: Pose<S>,
    /// Inertia at the origin of M, in M.
    pub inertia: Inertia<S>,
    /// Coefficients of a coupled joint.
    pub coupling: Vec<(CoordId, S)>,
}

impl<S: Real> BodyNumbers<S> {
    /// Its numbers in another scalar, number by number.
    pub fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> BodyNumbers<T> {
        BodyNumbers {
            X_PF: self.X_PF.map(f),
            X_MB: self.X_MB.map(f),
            inertia: self.inertia.map(f),
            coupling: self.coupling.iter().map(|(c, k)| (*c, f(*k))).collect(),
        }
    }
}

/// What resists a joint coordinate beside the bodies: the rotor of its drive, and friction of joint and drive together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointNumbers<S: Real> {
    /// Rotor inertia seen from the joint, (8.28).
    pub rotor: S,
    /// Viscous friction.
    pub viscous: S,
    /// Coulomb friction.
    pub coulomb: S,
    /// Spring of the joint.
    pub stiffness: S,
    /// Stiffness of the transmission of its drive; zero where none is given.
    pub transmission: S,
    /// What a joint at rest holds beyond Coulomb friction, and how fast that fades with speed: of the joint and of the drive.
    pub breakaway: [(S, S); 2],
}

impl<S: Real> JointNumbers<S> {
    /// Its numbers in another scalar, number by number.
    pub fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> JointNumbers<T> {
        JointNumbers {
            rotor: f(self.rotor),
            viscous: f(self.viscous),
            coulomb: f(self.coulomb),
            stiffness: f(self.stiffness),
            transmission: f(self.transmission),
            breakaway: self.breakaway.map(|(beyond, decay)| (f(beyond), f(decay))),
        }
    }
}

/// Numbers of a flexible beam: uniform, along x of its own axes.
#[derive(Clone, PartialEq, Debug)]
pub struct BeamNumbers<S: Real> {
    /// Axes of the beam at its start, in M.
    pub X_MN: Pose<S>,
    /// Length.
    pub length: S,
    /// Young's modulus, shear modulus, density.
    pub moduli: [S; 3],
    /// Area and moments.
    pub section: SectionProperties<S>,
    /// Shear coefficient.
    pub shear: S,
    /// Point masses and where they are, in M.
    pub lumped: Vec<(Vec3<S>, S)>,
}

/// Numbers of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Numbers<S: Real> {
    /// The free parameters, in the order of the file.
    pub parameters: Vec<S>,
    /// Gravity in world axes.
    pub gravity: Vec3<S>,
    /// Bodies.
    pub bodies: PerBody<BodyNumbers<S>>,
    /// Flexible beams.
    pub beams: PerBody<Option<BeamNumbers<S>>>,
    /// Rotors and friction of the joint coordinates.
    pub joints: PerCoord<JointNumbers<S>>,
    /// Frames of the two sides of each closure, on the M frame of the body, in the world, or on the platform.
    pub closures: PerClosure<[Pose<S>; 2]>,
    /// The frame that a payload is given in, seen from E; from the frame M of the body that has the tool point, where there is one.
    pub carried: Pose<S>,
    /// Inertia of the platform at the origin of its frame E.
    pub platform: Inertia<S>,
    /// Home pose: x, y, z, roll, pitch, yaw. Coordinates the platform does not have keep these values.
    pub home: [S; 6],
    /// The home pose itself.
    pub home_pose: Pose<S>,
    /// Where the joints stand that the pose does not determine, in the order of [`super::ModelPlan::given`].
    pub given: Vec<S>,
}

/// Builds [`Numbers`] from a description.
pub(super) struct Builder<'a, S: Real> {
    description: &'a Description,
    values: Vec<S>,
    base: Pose<S>,
    /// Frame of the file's platform in E.
    platform: Pose<S>,
}

impl<S: Real> Numbers<S> {
    /// From the values of the free parameters.
    pub(super) fn new(description: &Description, layout: &Layout, parameters: &[S]) -> Self {
        let values = description.definitions.values(parameters);
        let base = description.base.pose(&values);
        let platform = description.platform.frame.pose(&values).inverse();
        let builder = Builder { description, values, base, platform };
        let bodies = builder.bodies(layout);
        let closures = layout.closures.map(|id, c| builder.closure(id, c.sides, layout, &bodies));
        let mut home = [S::zero(); 6];
        for (coordinate, formula) in description.home.iter().flat_map(|(list, _)| list) {
            home[Coordinate::index(*coordinate)] = formula.eval(&builder.values);
        }
        let mut numbers = Self {
            parameters: parameters.to_vec(),
            gravity: builder.vector(&description.gravity),
            beams: layout
                .bodies
                .map(|id, body| builder.beam_numbers(body.row.0, bodies[id].X_MB, layout.is_last_part(id))),
            bodies,
            joints: layout.coords.map(|_, c| builder.joint(&description.bodies[layout.bodies[c.body].row.0])),
            closures,
            platform: builder
                .mass(&description.platform.mass, description.platform.modal.as_ref())
                .add(layout.payload.map(&mut |x| S::lit(x)))
                .seen_from(&platform),
            carried: platform,
            home,
            home_pose: Pose { R: from_constant_rpy([home[3], home[4], home[5]]), p: vec3(home[0], home[1], home[2]) },
            given: Vec::new(),
        };
        if let (Some(tool), Some((_, point))) = (layout.tool, &description.platform.tool) {
            // What the platform weighs hangs at the tool point.
            let X_MB = numbers.bodies[tool].X_MB;
            let at = X_MB * Pose::translation(builder.vector(point));
            numbers.carried = at * platform;
            numbers.bodies[tool].inertia = numbers.bodies[tool].inertia + numbers.platform.seen_from(&at);
            numbers.platform = Inertia::zero();
        }
        numbers.scale_inertias(&layout.scales);
        numbers
    }

    /// Multiplies the inertias of the bodies, of the platform and of the rotors, in this order, as far as there are factors.
    fn scale_inertias(&mut self, factors: &[f64]) {
        let mut factors = factors.iter().map(|k| S::lit(*k));
        let bodies = self.bodies.values_mut().map(|b| &mut b.inertia);
        for (inertia, k) in bodies.chain(std::iter::once(&mut self.platform)).zip(&mut factors) {
            *inertia = inertia.map(&mut |x| x * k);
        }
        self.joints.values_mut().zip(factors).for_each(|(joint, k)| joint.rotor *= k);
    }
}

impl<S: Real> Numbers<S> {
    /// The numbers with the joints that must be given, at their `near` values or at others.
    pub(super) fn with_given(mut self, description: &Description, names: &[&str], others: &[f64]) -> Self {
        let values = description.definitions.values(&self.parameters);
        let near = |name: &str| {
            description.near.iter().find(|(n, _)| n.text == name || n.text.strip_prefix('q') == Some(name))
        };
        let at = |(name, other): (&&str, &f64)| near(name).map_or(S::lit(*other), |(_, f)| f.eval(&values));
        self.given = names.iter().zip(others).map(at).collect();
        self
    }
}

impl<S: Real> Builder<'_, S> {
    fn vector(&self, v: &[Formula; 3]) -> Vec3<S> {
        vec3(v[0].eval(&self.values), v[1].eval(&self.values), v[2].eval(&self.values))
    }

    /// The file's frame of a node, in the node's own frame M, W or E.
    fn node(&self, node: Node, bodies: &PerBody<BodyNumbers<S>>) -> Pose<S> {
        match node {
            Node::World => self.base,
            Node::Platform => self.platform,
            Node::Body(b) => bodies[b].X_MB,
        }
    }

    /// Rotor and friction of a joint.
    fn joint(&self, row: &DescribedBody) -> JointNumbers<S> {
        let value = |f: &Option<Formula>| f.as_ref().map_or_else(S::zero, |f| f.eval(&self.values));
        let none = Friction::default();
        let both = [&row.friction, row.drive.as_ref().map_or(&none, |d| &d.friction)];
        let sum = |f: &dyn Fn(&Friction) -> S| f(both[0]) + f(both[1]);
        let beyond = |f: &Friction| match f.breakaway {
            Some(_) => (value(&f.breakaway) - value(&f.coulomb), value(&f.decay)),
            None => (S::zero(), S::zero()),
        };
        JointNumbers {
            stiffness: value(&row.stiffness),
            transmission: row.drive.as_ref().map_or_else(S::zero, |d| value(&d.stiffness)),
            rotor: row.drive.as_ref().map_or_else(S::zero, |d| value(&d.rotor_inertia)),
            viscous: sum(&|f| value(&f.viscous)),
            coulomb: sum(&|f| value(&f.coulomb)),
            breakaway: both.map(beyond),
        }
    }

    fn bodies(&self, layout: &Layout) -> PerBody<BodyNumbers<S>> {
        let mut bodies: PerBody<BodyNumbers<S>> = PerBody::default();
        for (id, body) in layout.bodies.iter() {
            let (row, part) = body.row;
            let row = &self.description.bodies[row];
            let parent = self.node(body.parent, &bodies);
            let (X_PF, R_MB) = self.joint_frames(row, part, parent);
            let X_MB = Pose::rotation(R_MB);
            let inertia = self.part_inertia(row, part, layout.is_last_part(id)).seen_from(&X_MB);
            let coupling = layout.couplings[id].iter().map(|(c, f)| (*c, f.eval(&self.values))).collect();
            bodies.push(BodyNumbers { X_PF, X_MB, inertia, coupling });
        }
        bodies
    }

    /// Frame F of part `part` of a joint on the frame before it, and the body frame seen from M.
    fn joint_frames(&self, row: &DescribedBody, part: usize, parent: Pose<S>) -> (Pose<S>, Rotation<S>) {
        let first = parent * self.named_point(&row.on, row.at_point.as_ref()) * row.placement.pose(&self.values);
        let a = row.placement.axis(&self.values);
        let turned = |R: Rotation<S>| Pose::rotation(R);
        let unit = |k: usize| {
            let mut axis = [0.0; 3];
            axis[k] = 1.0;
            align(&axis.map(|x| Formula::number(x, row.name.span)), &self.values)
        };
        match (&row.joint, part) {
            (Joint::Fixed, _) => (first, Rotation::identity()),
            (Joint::Universal { axis2 }, 1) => {
                let b = align(axis2, &self.values);
                (turned(a.inverse() * b), b.inverse())
            }
            (Joint::Spherical, 0) => (first * turned(unit(0)), unit(0).inverse()),
            (Joint::Spherical, k) => (turned(unit(k - 1).inverse() * unit(k)), unit(k).inverse()),
            (Joint::Cylindrical | Joint::Screw { .. }, 1) => (Pose::identity(), a.inverse()),
            (Joint::Parallelogram(bar), 1) => {
                (turned(a.inverse()) * Pose::translation(self.vector(&bar.vector)) * turned(a), a.inverse())
            }
            _ => (first * turned(a), a.inverse()),
        }
    }

    /// Inertia of one part of a row: the last part is the body, the first of a parallelogram its bar.
    fn part_inertia(&self, row: &DescribedBody, part: usize, last: bool) -> Inertia<S> {
        if let (Joint::Parallelogram(bar), 0) = (&row.joint, part) {
            return bar.mass.inertia(&self.values);
        }
        if !last {
            return Inertia::zero();
        }
        match &row.flexible {
            Some(Flexible::Beam(beam)) => row.mass.inertia(&self.values) + self.beam(beam),
            Some(Flexible::Modal(modal)) => self.mass(&row.mass, Some(modal)),
            None => row.mass.inertia(&self.values),
        }
    }

    fn mass(&self, data: &crate::description::MassData, modal: Option<&Modal>) -> Inertia<S> {
        let nodes = modal.map_or(&[][..], |m| &m.nodes);
        let masses = modal.map_or(&[][..], |m| &m.masses);
        nodes
            .iter()
            .zip(masses)
            .fold(data.inertia(&self.values), |sum, (p, m)| sum + Inertia::point(S::lit(*m), Vec3::from(p.map(S::lit))))
    }

    /// A beam as a rigid body: `I_rr` of the beam constants, turned from beam axes to the body frame.
    fn beam(&self, beam: &crate::description::Beam) -> Inertia<S> {
        let elastic = &self.description.elastic;
        let section = elastic.sections[beam.section].1.properties(&self.values);
        let density = elastic.materials[beam.material].1.moduli(&self.values).2;
        let to = self.vector(&beam.to);
        let l = to.dot(&to).sqrt();
        let R = self.beam_axes(beam, to * l.recip());
        let m = density * section.A * l;
        let third = m * l * l * S::lit(1.0 / 3.0);
        let rotary = |I: S| if beam.rotary_inertia { density * l * I } else { S::zero() };
        let moments = vec3(density * l * section.Ip, third + rotary(section.Iy), third + rotary(section.Iz));
        let along =
            Inertia { m, ms: vec3(m * l * S::lit(0.5), S::zero(), S::zero()), I_o: Mat3::from_diagonal(&moments) };
        along.seen_from(&Pose::rotation(R))
    }

    /// Numbers of the beam of a row, on the last part of its joint.
    fn beam_numbers(&self, row: usize, X_MB: Pose<S>, last: bool) -> Option<BeamNumbers<S>> {
        let row = &self.description.bodies[row];
        let (Some(Flexible::Beam(beam)), true) = (&row.flexible, last) else { return None };
        let elastic = &self.description.elastic;
        let (E, G, density) = elastic.materials[beam.material].1.moduli(&self.values);
        let section = &elastic.sections[beam.section].1;
        let to = self.vector(&beam.to);
        let length = to.dot(&to).sqrt();
        let lumped = row.mass.lumped.iter().map(|(at, m)| (X_MB * self.vector(at), m.eval(&self.values)));
        Some(BeamNumbers {
            X_MN: X_MB * Pose::rotation(self.beam_axes(beam, to * length.recip())),
            length,
            moduli: [E, G, density],
            section: section.properties(&self.values),
            shear: section.shear_coefficient(E / (G + G) - S::one(), &self.values),
            lumped: lumped.collect(),
        })
    }

    /// Axes of a beam in the body frame: x along it, z as near to `up` as can be; to the body's z, or to its x where the beam runs
    /// along z.
    fn beam_axes(&self, beam: &crate::description::Beam, x: Vec3<S>) -> Rotation<S> {
        let [along_x, along_y, _] = &beam.to;
        let upright = along_x.value == 0.0 && along_y.value == 0.0;
        let (of_x, of_z) = if upright { (S::one(), S::zero()) } else { (S::zero(), S::one()) };
        let up = beam.up.as_ref().map_or_else(|| vec3(of_x, S::zero(), of_z), |u| self.vector(u));
        let y = up.cross(&x);
        let y = y * y.dot(&y).sqrt().recip();
        Rotation::from_columns(x, y, x.cross(&y))
    }

    /// Where a named point of a modal body is.
    fn named_point(&self, body: &Name, point: Option<&Name>) -> Pose<S> {
        let Some(point) = point else { return Pose::identity() };
        let modal = if body.text == "platform" {
            self.description.platform.modal.as_ref()
        } else {
            self.description.bodies.iter().find(|b| b.name.text == body.text).and_then(|b| match &b.flexible {
                Some(Flexible::Modal(m)) => Some(m),
                _ => None,
            })
        };
        let found = modal.and_then(|m| m.points.iter().find(|p| p.name == point.text));
        found.map_or_else(Pose::identity, |p| Pose::translation(Vec3::from(p.position.map(S::lit))))
    }

    fn closure(
        &self,
        id: ClosureId,
        sides: [Node; 2],
        layout: &Layout,
        bodies: &PerBody<BodyNumbers<S>>,
    ) -> [Pose<S>; 2] {
        let Some(row) = layout.closure_rows[id] else {
            // The tool point on its body, and the origin of the platform frame.
            let point = self.description.platform.tool.as_ref().map_or_else(Vec3::zeros, |(_, p)| self.vector(p));
            return [self.node(sides[0], bodies) * Pose::translation(point), Pose::identity()];
        };
        let closure = &self.description.closures[row];
        let side = |node: Node, side: &Side| {
            let R: Rotation<S> = Placement::axis(&side.placement, &self.values);
            self.node(node, bodies)
                * self.named_point(&side.body, side.at_point.as_ref())
                * side.placement.pose(&self.values)
                * Pose::rotation(R)
        };
        [side(sides[0], &closure.a), side(sides[1], &closure.b)]
    }
}
