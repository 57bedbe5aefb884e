//! Constants of the Cartesian method in any scalar: what every part gives way by, and what rods weigh.

use super::plan::{Attached, CartesianPlan, Limb, PartKind};
use crate::description::{Give, GivenCompliance, Joint, RodPair};
use crate::elastodynamics::beam::{BeamData, Mat6};
use crate::elastodynamics::drives::{DriveElasticity, static_drive_stiffness};
use crate::elastodynamics::numbers::{beam_data, servo_stiffness};
use crate::model::{BodyId, CoordId, Id, Model, Node};
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Vec3, vec3};
use std::sync::Arc;

/// A robot in a scalar, for the Cartesian method.
#[derive(Clone, Debug)]
pub struct CartesianModel<S: Real> {
    pub(super) plan: Arc<CartesianPlan>,
    pub(super) limbs: Vec<LimbNumbers<S>>,
}

/// Constants of a limb.
#[derive(Clone, Debug)]
pub struct LimbNumbers<S: Real> {
    /// Compliances of the springs, in the order of the plan.
    pub springs: Vec<S>,
    /// Stiffness of the drives among them; zero for other joints.
    pub drives: Vec<S>,
    /// Parts, in the order of the plan.
    pub parts: Vec<PartNumbers<S>>,
    /// Inertia of the rotor of each column.
    pub rotors: Vec<S>,
    /// Rods with mass.
    pub rods: Vec<PairNumbers<S>>,
}

/// Where a part ends, and by how much it gives way there.
#[derive(Clone, Debug)]
pub struct PartNumbers<S: Real> {
    /// What its end frame is fixed to.
    pub host: Node,
    /// The end frame.
    pub X: Pose<S>,
    /// Its compliance in the axes of that frame, motions and forces first.
    pub gives: Gives<S>,
}

/// Compliance of a part.
#[derive(Clone, Debug)]
pub enum Gives<S: Real> {
    /// It does not change with the posture.
    Constant(Box<Mat6<S>>),
    /// Two rods whose distance depends on the posture.
    Pair(Box<PairNumbers<S>>),
}

/// Two rods of a parallelogram.
#[derive(Clone, Copy, Debug)]
pub struct PairNumbers<S: Real> {
    /// The bar.
    pub bar: BodyId,
    /// Length, `EA`, `EI` about y and z, `GJ`.
    pub data: BeamData<S>,
    /// Ends that do not turn against the short sides.
    pub clamped: bool,
    /// Mass of one rod.
    pub mass: S,
    /// End of the bar, in its frame M.
    pub to: Vec3<S>,
    /// Half of the short side, in the frame F of the joint.
    pub half: Vec3<S>,
}

impl<S: Real> CartesianModel<S> {
    /// Constants for a model; the plan is that of the same robot on `f64`.
    pub fn new(model: &Model<S>, plan: &Arc<CartesianPlan>) -> Self {
        let limbs = plan.limbs.iter().map(|limb| LimbNumbers::new(model, limb)).collect();
        Self { plan: plan.clone(), limbs }
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<CartesianPlan> {
        &self.plan
    }
}

impl<S: Real> LimbNumbers<S> {
    pub(super) fn new(model: &Model<S>, limb: &Limb) -> Self {
        let joints = &model.numbers().joints;
        let driven = |(column, drive): &(usize, bool)| match static_drive_stiffness(model, limb.coords[*column]) {
            Some(k) if *drive => k,
            _ => S::zero(),
        };
        let stiffness = |s: &(usize, bool)| joints[limb.coords[s.0]].stiffness + driven(s);
        let rotor = |(column, c): (usize, &CoordId)| {
            let drives = limb.springs.contains(&(column, true));
            joints[*c].rotor * if drives { rotor_share(model, *c) } else { S::one() }
        };
        Self {
            springs: limb.springs.iter().map(|s| stiffness(s).recip()).collect(),
            drives: limb.springs.iter().map(driven).collect(),
            parts: limb.parts.iter().map(|p| part_numbers(model, p.kind)).collect(),
            rotors: limb.coords.iter().enumerate().map(rotor).collect(),
            rods: limb.rods.iter().filter_map(|r| pair(model, r.bar)).collect(),
        }
    }
}

/// Part of a rotor's inertia that moves with its joint: all of it under a servo loop, nothing where it is held behind a
/// transmission, and what the spring between leaves where there are both.
fn rotor_share<S: Real>(model: &Model<S>, c: CoordId) -> S {
    match DriveElasticity::of(model, c) {
        DriveElasticity::Transmission => S::zero(),
        DriveElasticity::TransmissionAndServo => {
            let (k, servo) = (model.numbers().joints[c].transmission, servo_stiffness(model, c));
            (k / (k + servo)).squared()
        }
        DriveElasticity::Servo | DriveElasticity::Rigid => S::one(),
    }
}

fn values<S: Real>(model: &Model<S>) -> Vec<S> {
    model.description().definitions.values(&model.numbers().parameters)
}

fn part_numbers<S: Real>(model: &Model<S>, kind: PartKind) -> PartNumbers<S> {
    match kind {
        PartKind::Beam { body, from, to } => {
            let start = from.map_or_else(S::zero, |a| along(model, body, a));
            let end = along(model, body, to);
            let beam = model.numbers().beams[body].as_ref().expect("pieces of beams are made for beams only");
            let X = beam.X_MN * Pose::translation(vec3(end, S::zero(), S::zero()));
            let gives = Gives::Constant(Box::new(cantilever(&beam_data(model, body, end - start))));
            PartNumbers { host: Node::Body(body), X, gives }
        }
        PartKind::Rods { bar } => {
            let pair = pair(model, bar).expect("rods are made for bars with rods only");
            let x = pair.to * pair.data.l.recip();
            let y = vec3(S::zero(), S::zero(), S::one()).cross(&x);
            let y = y * y.dot(&y).sqrt().recip();
            let X = Pose { R: Rotation::from_columns(x, y, x.cross(&y)), p: pair.to };
            PartNumbers { host: Node::Body(bar), X, gives: Gives::Pair(Box::new(pair)) }
        }
        PartKind::Body(body) => {
            let row = &model.description().bodies[model.topology().bodies[body].row.0];
            let X_MB = model.numbers().bodies[body].X_MB;
            given(model, Node::Body(body), X_MB, row.compliance.as_ref())
        }
        PartKind::Mount(closure) => {
            let host = model.topology().closures[closure].sides[1];
            let given_by = model.closure_row(closure).and_then(|c| c.compliance.as_ref());
            given(model, host, file_frame(model, host), given_by)
        }
    }
}

/// The frame of the file on a node.
fn file_frame<S: Real>(model: &Model<S>, node: Node) -> Pose<S> {
    let d = model.description();
    match node {
        Node::World => d.base.pose(&values(model)),
        Node::Platform => d.platform.frame.pose(&values(model)).inverse(),
        Node::Body(b) => model.numbers().bodies[b].X_MB,
    }
}

fn given<S: Real>(model: &Model<S>, host: Node, X: Pose<S>, compliance: Option<&GivenCompliance>) -> PartNumbers<S> {
    let values = values(model);
    let mut C = [[S::zero(); 6]; 6];
    let Some(compliance) = compliance else {
        return PartNumbers { host, X, gives: Gives::Constant(Box::new(C)) };
    };
    match &compliance.give {
        Give::Diagonal(entries) => (0..6).for_each(|k| C[k][k] = entries[k].eval(&values)),
        Give::Matrix(entries) => (0..36).for_each(|k| C[k / 6][k % 6] = entries[k].eval(&values)),
        Give::Tapered(sections, material, length) => {
            let elastic = &model.description().elastic;
            let (E, G, _) = elastic.materials[*material].1.moduli(&values);
            let ends = sections.map(|s| elastic.sections[s].1.properties(&values));
            C = tapered(ends, E, G, length.eval(&values));
        }
    }
    PartNumbers { host, X: X * compliance.pose(&values), gives: Gives::Constant(Box::new(C)) }
}

/// How far along a beam something is attached.
pub(super) fn along<S: Real>(model: &Model<S>, body: BodyId, at: Attached) -> S {
    let numbers = model.numbers();
    let Some(beam) = &numbers.beams[body] else { return S::zero() };
    match at {
        Attached::Joint(child) => beam.X_MN.apply_inv(numbers.bodies[child].X_PF.p).x,
        Attached::Side(c, k) => beam.X_MN.apply_inv(numbers.closures[c][k].p).x,
    }
}

/// The rods of a bar.
pub(super) fn pair<S: Real>(model: &Model<S>, bar: BodyId) -> Option<PairNumbers<S>> {
    let d = model.description();
    let Joint::Parallelogram(row) = &d.bodies[model.topology().bodies[bar].row.0].joint else { return None };
    let rods: &RodPair = row.rods.as_ref()?;
    let values = values(model);
    let (E, G, rho) = d.elastic.materials.get(rods.material)?.1.moduli(&values);
    let s = d.elastic.sections.get(rods.section)?.1.properties(&values);
    let to = model.numbers().bodies[BodyId::new(bar.index() + 1)].X_PF.p;
    let l = to.dot(&to).sqrt();
    let y = vec3(S::zero(), S::zero(), S::one()).cross(&to);
    let half = y * (rods.width.eval(&values) * S::lit(0.5) / y.dot(&y).sqrt());
    let data = BeamData {
        l,
        EA: E * s.A,
        EIy: E * s.Iy,
        EIz: E * s.Iz,
        GJ: G * s.J,
        shear: None,
        rhoA: rho * s.A,
        rhoIy: S::zero(),
        rhoIz: S::zero(),
        rhoIp: rho * s.Ip,
    };
    let mass = model.numbers().bodies[bar].inertia.m * S::lit(0.5);
    Some(PairNumbers { bar, data, clamped: rods.clamped, mass, to, half })
}

/// Compliance at the tip of a cantilever, (C.1): the beam along x, clamped at its start.
pub fn cantilever<S: Real>(b: &BeamData<S>) -> Mat6<S> {
    let (l, lit) = (b.l, S::lit);
    let shear = b.shear.map_or_else(S::zero, |kGA| l / kGA);
    let mut C = [[S::zero(); 6]; 6];
    C[0][0] = l / b.EA;
    C[3][3] = l / b.GJ;
    for (v, s, sign, EI) in [(1, 5, 1.0, b.EIz), (2, 4, -1.0, b.EIy)] {
        C[v][v] = l * l * l * lit(1.0 / 3.0) / EI + shear;
        C[s][s] = l / EI;
        C[v][s] = lit(0.5 * sign) * l * l / EI;
        C[s][v] = C[v][s];
    }
    C
}

/// Compliance at the tip of a cantilever whose area and moments change linearly from root to tip: `∫ x(ξ) dξ / EI(ξ)`, by Gauss
/// points in eight equal pieces.
fn tapered<S: Real>(ends: [crate::description::SectionProperties<S>; 2], E: S, G: S, length: S) -> Mat6<S> {
    const POINTS: [(f64, f64); 3] =
        [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];
    let mut C = [[S::zero(); 6]; 6];
    for piece in 0..8 {
        for (x, weight) in POINTS {
            let part = S::lit((f64::from(piece) + 0.5 + 0.5 * x) / 8.0);
            let at = |a: S, b: S| a + (b - a) * part;
            let dl = length * S::lit(weight / 16.0);
            let arm = length * (S::one() - part);
            let [a, b] = &ends;
            C[0][0] += dl / (E * at(a.A, b.A));
            C[3][3] += dl / (G * at(a.J, b.J));
            for (v, s, sign, EI) in [(1, 5, 1.0, E * at(a.Iz, b.Iz)), (2, 4, -1.0, E * at(a.Iy, b.Iy))] {
                C[v][v] += arm * arm * dl / EI;
                C[s][s] += dl / EI;
                C[v][s] += S::lit(sign) * arm * dl / EI;
                C[s][v] = C[v][s];
            }
        }
    }
    C
}

impl<S: Real> PairNumbers<S> {
    /// Compliance at the end of two parallel rods at the distance `d` along y, (C.6)-(C.10) with their misprints corrected;
    /// between pins the rods only pull and push, so that `4 I` of the clamped ends is not there.
    pub fn compliance(&self, d: S) -> Mat6<S> {
        let (b, lit) = (&self.data, S::lit);
        let (l, l2) = (b.l, b.l * b.l);
        let (y, z) = (b.EIy, b.EIz);
        let mut C = [[S::zero(); 6]; 6];
        C[0][0] = lit(0.5) * l / b.EA;
        C[2][2] = l2 * l / (lit(6.0) * y);
        C[3][3] = l2 * l / (lit(2.0) * (b.GJ * l2 + lit(3.0) * y * d * d));
        C[4][4] = l / (lit(2.0) * y);
        C[2][4] = -l2 / (lit(4.0) * y);
        C[4][2] = C[2][4];
        let pull = b.EA * d * d;
        if self.clamped {
            let both = pull + lit(4.0) * z;
            C[5][5] = lit(2.0) * l / both;
            C[1][5] = l2 / both;
            C[1][1] = l2 * l * (pull + lit(16.0) * z) / (lit(24.0) * z * both);
        } else {
            C[5][5] = lit(2.0) * l / pull;
            C[1][1] = l2 * l / (lit(6.0) * z);
        }
        C[5][1] = C[1][5];
        C
    }
}
