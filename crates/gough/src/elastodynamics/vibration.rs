//! Natural frequencies and modes of a robot: the driver.

use super::assemble::{ElasticData, ElasticModel, all_columns, assemble};
use super::beam::Strain;
use super::bent::BentRobot;
use super::error::ElasticError;
use super::numbers::ElementNumbers;
use super::plan::{Actuators, ElasticPlan, Element, Host, LegOrTip, Variable};
use super::weightless::Weightless;
use crate::kinematics::platform::{coordinates, pose_with};
use crate::kinematics::{Positions, Posture, WorkingMode, inverse, inverse_in, pose_bodies};
use crate::linalg::arrow::{Arrow, ArrowError, ArrowPlan, ArrowSolver, ModeKind, Start, Want};
use crate::linalg::dense::{Matrix, symmetric_eigenvalues};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::{Dual, Real};
use crate::spatial::Pose;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Frequencies closer than this fraction are one frequency with several modes.
pub const SAME_FREQUENCY: f64 = 1e-6;

/// Pivots of rigid loops below this ask for a plan of the posture's own.
const POOR_PIVOT: f64 = 1e-4;

/// A natural frequency.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Frequency {
    /// Hz; zero for a free motion, and for an unstable one.
    pub hz: f64,
    /// ω², negative for an unstable motion.
    pub omega2: f64,
    /// What it means.
    pub kind: ModeKind,
}

impl Frequency {
    fn of(value: f64, kind: ModeKind) -> Self {
        let hz = if kind == ModeKind::Vibration { value.sqrt() / TAU } else { 0.0 };
        Self { hz, omega2: value, kind }
    }
}

/// Kinds of energy that a mode stores.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Store {
    Bending,
    Torsion,
    Axial,
    /// A mode of a modal body.
    Shape,
    Joint,
    Actuator,
}

impl Store {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Store::Bending => "bending",
            Store::Torsion => "torsion",
            Store::Axial => "axial",
            Store::Shape => "shape",
            Store::Joint => "joint",
            Store::Actuator => "actuator",
        }
    }
}

/// Where the energy of a mode is: shares of the whole, largest first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shares {
    /// Elastic energy: body or joint, kind, share.
    pub elastic: Vec<(String, Store, f64)>,
    /// Kinetic energy: body or rotor, share.
    pub kinetic: Vec<(String, f64)>,
}

impl Shares {
    /// Elastic energy by kind, largest first.
    pub fn by_kind(&self) -> Vec<(Store, f64)> {
        summed(self.elastic.iter().map(|(_, store, share)| (*store, *share)))
    }

    /// Elastic energy by body or joint, largest first.
    pub fn by_body(&self) -> Vec<(String, f64)> {
        summed(self.elastic.iter().map(|(name, _, share)| (name.clone(), *share)))
    }
}

/// Shares summed under what they belong to, largest first.
pub(crate) fn summed<K: PartialEq>(shares: impl Iterator<Item = (K, f64)>) -> Vec<(K, f64)> {
    let mut sums: Vec<(K, f64)> = Vec::new();
    for (of, share) in shares {
        match sums.iter_mut().find(|(known, _)| *known == of) {
            Some((_, sum)) => *sum += share,
            None => sums.push((of, share)),
        }
    }
    sums.sort_by(|a, b| larger(a.1, b.1));
    sums
}

/// How frequencies depend on a parameter of the robot file, the pose staying the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Sensitivity {
    /// Name of the parameter.
    pub parameter: String,
    /// Its value.
    pub value: f64,
    /// Derivative of each frequency, Hz per unit of the parameter. Within a group of equal frequencies these are the slopes
    /// of the branches into which they part, in ascending order.
    pub slopes: Vec<f64>,
}

/// A robot whose frequencies are asked for, one posture after another, in memory that is already there.
pub struct Vibration {
    model: Arc<Model<f64>>,
    /// The robot with rods for parallelograms, where they bend.
    bent: Option<Arc<BentRobot>>,
    /// The posture with ideal parallelograms, where they bend.
    ideal: Option<Positions<f64>>,
    elastic: ElasticModel<f64>,
    data: ElasticData<f64>,
    pos: Positions<f64>,
    samples: Vec<(Arrow<f64>, Arrow<f64>)>,
    arrow: ArrowPlan,
    solver: ArrowSolver,
    /// Modes on the dense road, where some motions carry no mass.
    weightless: Option<Weightless>,
    frequencies: Vec<Frequency>,
}

impl Vibration {
    /// Plan at a closed posture of the robot, its home for example.
    pub fn new(model: &Model<f64>, posture: &Posture, actuators: Actuators) -> Result<Self, ElasticError> {
        let bent = BentRobot::of(model).map(Arc::new);
        let others = nearby(model, posture);
        let own = |p: &Posture| as_bent(bent.as_deref(), p.positions());
        let others: Vec<Positions<f64>> = others.iter().map(own).collect();
        let mut v = Self::planned_at(&Arc::new(model.clone()), bent.clone(), &own(posture), &others, actuators)?;
        v.ideal = bent.is_some().then(|| posture.positions().clone());
        Ok(v)
    }

    fn planned_at(
        model: &Arc<Model<f64>>,
        bent: Option<Arc<BentRobot>>,
        pos: &Positions<f64>,
        others: &[Positions<f64>],
        actuators: Actuators,
    ) -> Result<Self, ElasticError> {
        let own = bent.as_deref().map_or(&**model, BentRobot::model);
        let plan = Arc::new(ElasticPlan::new(own, actuators, pos)?);
        let elastic = ElasticModel::new(own, &plan);
        let mut data = elastic.data();
        let mut samples = Vec::new();
        // Zeros by structure are those of several postures.
        for sample in others.iter().chain(std::iter::once(pos)) {
            assemble(own, &elastic, sample, &mut data);
            samples.push((data.K.clone(), data.M.clone()));
        }
        let arrow = arrow_plan(&samples).map_err(|e| explain(own, &plan, &e))?;
        if arrow.modes() == 0 {
            return Err(ElasticError::NoMass);
        }
        let mut solver = ArrowSolver::new(&arrow);
        let weightless = match solver.check(&arrow, &data.K, &data.M) {
            Err(ArrowError::Mass { .. }) => Weightless::of(&data.K, &data.M),
            _ => None,
        };
        let (pos, frequencies) = (pos.clone(), Vec::new());
        Ok(Self {
            model: Arc::clone(model),
            bent,
            ideal: None,
            elastic,
            data,
            pos,
            samples,
            arrow,
            solver,
            weightless,
            frequencies,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// The model whose bodies vibrate: the same, or that with rods in the place of parallelograms.
    pub fn elastic_model(&self) -> &Model<f64> {
        self.bent.as_deref().map_or(&*self.model, BentRobot::model)
    }

    /// What a place is called.
    pub fn place_name(&self, place: super::plan::Place) -> String {
        let t = self.elastic_model().topology();
        match place {
            super::plan::Place::Node(b, k) => format!("{}[{k}]", t.bodies[b].name),
            place => t.node_name(place.host()).to_owned(),
        }
    }

    /// What is rigid and what bends.
    pub fn plan(&self) -> &ElasticPlan {
        self.elastic.plan()
    }

    /// Stiffness and mass of the posture taken.
    pub fn matrices(&self) -> (&Arrow<f64>, &Arrow<f64>) {
        (&self.data.K, &self.data.M)
    }

    /// Number of modes: motions with mass.
    pub fn modes(&self) -> usize {
        self.weightless.as_ref().map_or_else(|| self.arrow.modes(), |w| w.modes.len())
    }

    /// Number of modes of every part of the robot that vibrates on its own: in and out of the plane, for example.
    pub fn components(&self) -> Vec<usize> {
        self.weightless.as_ref().map_or_else(|| self.arrow.component_sizes().collect(), |w| vec![w.modes.len()])
    }

    /// The lowest natural frequencies with vectors, and those above them that equal the last: groups are whole.
    pub fn lowest_groups(&mut self, count: usize) -> Result<&[Frequency], ElasticError> {
        let mut asked = (count + 1).min(self.modes());
        loop {
            // A few at the lowest end are searched for, many are found together.
            if 3 * asked < self.modes() {
                self.lowest(asked)?;
            } else {
                asked = self.modes();
                self.all_modes()?;
            }
            let last = self.groups().into_iter().find(|(first, n)| first + n >= count);
            match last {
                Some((first, n)) if first + n < asked || asked == self.modes() => {
                    self.frequencies.truncate(first + n);
                    return Ok(&self.frequencies);
                }
                _ => asked = (2 * asked).min(self.modes()),
            }
        }
    }

    /// Coordinates, and motions of several coordinates together, without mass, which are condensed: what each is.
    pub fn massless(&self) -> Vec<String> {
        let name = |c: &usize| coordinate_name(self.elastic_model(), self.plan(), *c);
        match &self.weightless {
            None => self.arrow.massless().iter().map(name).collect(),
            Some(w) => w.motions.iter().map(|c| format!("a motion of {} with others", name(c))).collect(),
        }
    }

    /// Name of every coordinate, in the order of the vectors.
    pub fn coordinate_names(&self) -> Vec<String> {
        self.plan().coordinate_names(self.elastic_model())
    }

    /// Take a pose in a working mode.
    pub fn take(&mut self, pose: &Pose<f64>, mode: &WorkingMode) -> Result<(), ElasticError> {
        let pos = self.ideal.as_mut().unwrap_or(&mut self.pos);
        inverse_in(&self.model, pose, mode, pos)?;
        pose_bodies(&self.model, pos);
        self.renew()
    }

    /// Take a posture.
    pub fn take_posture(&mut self, posture: &Posture) -> Result<(), ElasticError> {
        self.ideal.as_mut().unwrap_or(&mut self.pos).clone_from(posture.positions());
        self.renew()
    }

    fn renew(&mut self) -> Result<(), ElasticError> {
        if let (Some(bent), Some(ideal)) = (&self.bent, &self.ideal) {
            self.pos = bent.positions(bent.model(), ideal);
        }
        let own = self.bent.as_deref().map_or(&*self.model, BentRobot::model);
        assemble(own, &self.elastic, &self.pos, &mut self.data);
        let has_slid = self.plan().sliders.iter().any(|s| s.along_at(own, &self.pos) != s.along);
        if has_slid || self.data.pivots().any(|p| !(p.abs() > POOR_PIVOT)) {
            let ideal = self.ideal.take();
            *self = Self::planned_at(&self.model, self.bent.clone(), &self.pos.clone(), &[], self.plan().actuators)?;
            self.ideal = ideal;
        }
        Ok(())
    }

    /// All natural frequencies of the posture taken, ascending.
    pub fn all(&mut self) -> Result<&[Frequency], ElasticError> {
        self.solve(|solver, plan, K, M| solver.all(plan, K, M, Want::Values).map(|_| ()))
    }

    /// All of them with vectors.
    pub fn all_modes(&mut self) -> Result<&[Frequency], ElasticError> {
        self.solve(|solver, plan, K, M| solver.all(plan, K, M, Want::Vectors).map(|_| ()))
    }

    /// The lowest natural frequencies of the posture taken, with vectors.
    pub fn lowest(&mut self, count: usize) -> Result<&[Frequency], ElasticError> {
        self.solve(|solver, plan, K, M| solver.lowest(plan, K, M, count, Start::Fresh).map(|_| ()))?;
        self.frequencies.truncate(count);
        Ok(&self.frequencies)
    }

    /// The same, the search starting from the vectors of the last one: for neighbouring postures.
    pub fn lowest_from_last(&mut self, count: usize) -> Result<&[Frequency], ElasticError> {
        self.solve(|solver, plan, K, M| solver.lowest(plan, K, M, count, Start::Last).map(|_| ()))?;
        self.frequencies.truncate(count);
        Ok(&self.frequencies)
    }

    fn solve(
        &mut self,
        ask: impl Fn(&mut ArrowSolver, &ArrowPlan, &Arrow<f64>, &Arrow<f64>) -> Result<(), ArrowError>,
    ) -> Result<&[Frequency], ElasticError> {
        if let Some(modes) = self.weightless.as_ref().and_then(|_| Weightless::of(&self.data.K, &self.data.M)) {
            self.frequencies.clear();
            self.frequencies.extend(modes.modes.iter().map(|(value, kind)| Frequency::of(*value, *kind)));
            self.weightless = Some(modes);
            return Ok(&self.frequencies);
        }
        let mut outcome = ask(&mut self.solver, &self.arrow, &self.data.K, &self.data.M);
        if let Err(ArrowError::Structure { .. }) = outcome {
            // A zero of the samples was none by structure.
            self.samples.push((self.data.K.clone(), self.data.M.clone()));
            self.arrow =
                arrow_plan(&self.samples).map_err(|e| explain(self.elastic_model(), self.elastic.plan(), &e))?;
            self.solver = ArrowSolver::new(&self.arrow);
            outcome = ask(&mut self.solver, &self.arrow, &self.data.K, &self.data.M);
        }
        outcome.map_err(|e| explain(self.elastic_model(), self.elastic.plan(), &e))?;
        self.frequencies.clear();
        self.frequencies.extend(self.solver.modes().iter().map(|m| Frequency::of(m.value, m.kind)));
        Ok(&self.frequencies)
    }

    /// Frequencies of the last call.
    pub fn frequencies(&self) -> &[Frequency] {
        &self.frequencies
    }

    /// The vector of a mode of the last call that gave vectors, `xᵀMx = 1`.
    pub fn vector(&self, mode: usize) -> &[f64] {
        if let Some(w) = &self.weightless {
            return &w.vectors[mode];
        }
        let v = self.solver.vectors();
        &v.data[mode * v.cols..(mode + 1) * v.cols]
    }

    /// Groups of equal frequencies of the last call: first mode and number of modes.
    pub fn groups(&self) -> Vec<(usize, usize)> {
        groups(&self.frequencies)
    }

    /// Where the energy of each mode of the last call is; of equal frequencies the mean, since only that is definite.
    pub fn shares(&mut self) -> Vec<Shares> {
        let own = self.bent.as_deref().map_or(&*self.model, BentRobot::model);
        all_columns(own, &self.elastic, &self.pos, &mut self.data);
        let single: Vec<Shares> = (0..self.frequencies.len()).map(|k| self.mode_shares(self.vector(k))).collect();
        let mut list = Vec::new();
        for (first, count) in self.groups() {
            let mean = mean(&single[first..first + count]);
            list.extend((0..count).map(|_| mean.clone()));
        }
        list
    }

    fn mode_shares(&self, x: &[f64]) -> Shares {
        let plan = self.plan();
        let mut shares = Shares::default();
        for (element, numbers) in plan.elements.iter().zip(&self.elastic.numbers().elements) {
            self.element_energy(element, numbers, x, &mut shares);
        }
        shares.normalise();
        shares
    }

    /// Motion of a frame in its own axes.
    pub fn motion(&self, frame: usize, x: &[f64]) -> [f64; 6] {
        let plan = self.plan();
        let mut sum = [0.0; 6];
        let c = plan.frames[frame].cluster;
        if c == usize::MAX {
            return sum;
        }
        let first = plan.place(&plan.clusters[c]);
        for (k, column) in self.data.columns(frame).iter().enumerate() {
            sum.iter_mut().zip(column).for_each(|(s, y)| *s += x[first + k] * y);
        }
        sum
    }

    /// What a variable does in a mode.
    fn variable(&self, v: Variable, x: &[f64]) -> f64 {
        let plan = self.plan();
        let found = plan
            .clusters
            .iter()
            .enumerate()
            .find_map(|(c, cluster)| cluster.variables.iter().position(|w| *w == v).map(|slot| (c, slot)));
        let Some((c, slot)) = found else { return 0.0 };
        let cluster = &plan.clusters[c];
        let first = plan.place(cluster);
        (0..cluster.independent.len()).map(|k| self.data.share(plan, c, slot, k) * x[first + k]).sum()
    }

    /// What a spring or a rotor sees in a mode.
    fn seen_by(&self, element: &Element, x: &[f64]) -> f64 {
        let parts = element.looks_at(|v| self.plan().moves(v));
        parts.into_iter().flatten().map(|(v, sign)| sign * self.variable(v, x)).sum()
    }

    fn element_energy(&self, element: &Element, numbers: &ElementNumbers<f64>, x: &[f64], out: &mut Shares) {
        let t = self.elastic_model().topology();
        let name = |host: Host| t.node_name(host.node()).to_owned();
        let joint = |c| format!("q{}", t.coords[c].name);
        match (element, numbers) {
            (Element::Beam { body, ends }, ElementNumbers::Beam(e)) => {
                let u = ends.map(|f| self.motion(f, x));
                for store in [Store::Bending, Store::Torsion, Store::Axial] {
                    out.add_elastic(name(Host::Body(*body)), store, energy(&e.K, &u, |k| store_of(k) == store));
                }
                out.add_kinetic(name(Host::Body(*body)), energy(&e.M, &u, |_| true));
            }
            (Element::Rigid { host, frame }, ElementNumbers::Inertia(I)) => {
                out.add_kinetic(name(*host), inertia_energy(I, &self.motion(*frame, x)));
            }
            (Element::Lump { body, frame, .. }, ElementNumbers::Inertia(I)) => {
                out.add_kinetic(name(Host::Body(*body)), inertia_energy(I, &self.motion(*frame, x)));
            }
            (Element::Load { frame }, ElementNumbers::Inertia(I)) => {
                out.add_kinetic("platform".to_owned(), inertia_energy(I, &self.motion(*frame, x)));
            }
            (Element::Modal { host, frame }, ElementNumbers::Modal(body)) => {
                let eta: Vec<f64> =
                    (0..body.stiffness.len()).map(|k| self.variable(Variable::Mode(*host, k), x)).collect();
                let u = self.motion(*frame, x);
                let strain: f64 = eta.iter().zip(&body.stiffness).map(|(e, k)| k * e * e).sum();
                let mut kinetic = inertia_energy(&body.rigid, &u);
                for (i, e) in eta.iter().enumerate() {
                    kinetic += 2.0 * e * super::assemble::dot(&u, &body.M_re[i]);
                    kinetic += (0..eta.len()).map(|j| e * body.M_ee[i * eta.len() + j] * eta[j]).sum::<f64>();
                }
                out.add_elastic(name(*host), Store::Shape, strain);
                out.add_kinetic(name(*host), kinetic);
            }
            (Element::Spring(c), ElementNumbers::Stiffness(k)) => {
                out.add_elastic(joint(*c), Store::Joint, k * self.seen_by(element, x).powi(2));
            }
            (Element::Transmission(c) | Element::Servo(c), ElementNumbers::Stiffness(k)) => {
                out.add_elastic(joint(*c), Store::Actuator, k * self.seen_by(element, x).powi(2));
            }
            (Element::Rotor(c), ElementNumbers::Rotor(I)) => {
                out.add_kinetic(joint(*c), I * self.seen_by(element, x).powi(2));
            }
            _ => {}
        }
    }

    /// Displacement of every frame in world axes for a mode of the last call: place, position, motion `[v; w]`.
    pub fn shape(&mut self, mode: usize) -> Vec<(super::plan::Place, [f64; 3], [f64; 6])> {
        let own = self.bent.as_deref().map_or(&*self.model, BentRobot::model);
        all_columns(own, &self.elastic, &self.pos, &mut self.data);
        let plan = self.elastic.plan().clone();
        (1..plan.frames.len())
            .map(|f| {
                let X = self.elastic.numbers().pose(&plan, f, &self.pos);
                let u = self.motion(f, self.vector(mode));
                let v = X.R.apply(crate::spatial::vec3(u[0], u[1], u[2]));
                let w = X.R.apply(crate::spatial::vec3(u[3], u[4], u[5]));
                (plan.frames[f].place, [X.p.x, X.p.y, X.p.z], [v.x, v.y, v.z, w.x, w.y, w.z])
            })
            .collect()
    }

    /// How the frequencies of the last call, which gave vectors, depend on every parameter of the robot file, at the same
    /// platform pose and working mode.
    pub fn sensitivities(&self, mode: &WorkingMode) -> Vec<Sensitivity> {
        let model = &self.model;
        let values = &model.numbers().parameters;
        let parameters = model.parameters().iter().enumerate();
        parameters
            .map(|(k, p)| {
                let dual = |(i, v): (usize, &f64)| Dual::new(*v, if i == k { 1.0 } else { 0.0 });
                let duals: Vec<Dual> = values.iter().enumerate().map(dual).collect();
                let slopes = self.slopes(&model.with_parameters(&duals), mode);
                Sensitivity { parameter: p.name.clone(), value: values[k], slopes }
            })
            .collect()
    }

    /// `dλ = φᵀ (K' - λ M') φ`; for equal frequencies the eigenvalues of that form on their vectors.
    fn slopes(&self, dual: &Model<Dual>, mode: &WorkingMode) -> Vec<f64> {
        let mut pos = Positions::seeded(dual, self.ideal.as_ref().unwrap_or(&self.pos));
        crate::kinematics::geometry::close(dual, mode, 1, &mut pos);
        let bent = self.bent.as_deref().map(|b| {
            let model = b.model().with_parameters(&dual.numbers().parameters);
            pos = b.positions(&model, &pos);
            model
        });
        let dual = bent.as_ref().unwrap_or(dual);
        let elastic = ElasticModel::at(dual, self.elastic.plan(), &pos);
        let mut data = elastic.data();
        assemble(dual, &elastic, &pos, &mut data);
        let mut slopes = Vec::new();
        for (first, count) in self.groups() {
            let f = &self.frequencies[first..first + count];
            let mean = f.iter().map(|f| f.omega2).sum::<f64>() / count as f64;
            let G = Matrix::from_fn(count, count, |i, j| {
                let (x, y) = (self.vector(first + i), self.vector(first + j));
                bilinear(&data.K, x, y) - mean * bilinear(&data.M, x, y)
            });
            let list = symmetric_eigenvalues(&G).unwrap_or_else(|| vec![0.0; count]);
            // dλ = 8 π² f df
            let slope = |d: &f64| if f[0].hz > 0.0 { d / (2.0 * TAU * TAU * f[0].hz) } else { 0.0 };
            slopes.extend(list.iter().map(slope));
        }
        slopes
    }

    /// How alike two vectors are at the posture taken: `(xᵀ M y)² / (xᵀMx · yᵀMy)`, the modal assurance criterion with mass.
    pub fn likeness(&self, x: &[f64], y: &[f64]) -> f64 {
        let M = &self.data.M;
        let of = |a: &[f64], b: &[f64]| form(M, a, b, |m| m);
        let (xy, xx, yy) = (of(x, y), of(x, x), of(y, y));
        if xx > 0.0 && yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 }
    }
}

impl Shares {
    fn add_elastic(&mut self, name: String, store: Store, energy: f64) {
        match self.elastic.iter_mut().find(|(n, s, _)| *n == name && *s == store) {
            Some((_, _, sum)) => *sum += energy,
            None => self.elastic.push((name, store, energy)),
        }
    }

    fn add_kinetic(&mut self, name: String, energy: f64) {
        match self.kinetic.iter_mut().find(|(n, _)| *n == name) {
            Some((_, sum)) => *sum += energy,
            None => self.kinetic.push((name, energy)),
        }
    }

    fn normalise(&mut self) {
        let elastic: f64 = self.elastic.iter().map(|e| e.2).sum();
        let kinetic: f64 = self.kinetic.iter().map(|k| k.1).sum();
        let over = |x: &mut f64, sum: f64| *x = if sum > 0.0 { *x / sum } else { 0.0 };
        self.elastic.iter_mut().for_each(|e| over(&mut e.2, elastic));
        self.kinetic.iter_mut().for_each(|k| over(&mut k.1, kinetic));
    }

    fn sort(&mut self) {
        self.elastic.sort_by(|a, b| larger(a.2, b.2));
        self.kinetic.sort_by(|a, b| larger(a.1, b.1));
    }
}

/// Larger first; shares that differ by rounding only stay in the order of the robot file.
fn larger(a: f64, b: f64) -> std::cmp::Ordering {
    let rounded = |x: f64| (x * 1e6).round();
    rounded(b).total_cmp(&rounded(a))
}

fn mean(list: &[Shares]) -> Shares {
    let mut sum = Shares::default();
    for s in list {
        s.elastic.iter().for_each(|(n, k, x)| sum.add_elastic(n.clone(), *k, x / list.len() as f64));
        s.kinetic.iter().for_each(|(n, x)| sum.add_kinetic(n.clone(), x / list.len() as f64));
    }
    sum.sort();
    sum
}

/// Groups of equal frequencies: first and number.
pub fn groups(frequencies: &[Frequency]) -> Vec<(usize, usize)> {
    let mut list: Vec<(usize, usize)> = Vec::new();
    for (k, f) in frequencies.iter().enumerate() {
        match list.last_mut() {
            Some((first, count)) if same(&frequencies[*first], f) => *count += 1,
            _ => list.push((k, 1)),
        }
    }
    list
}

fn same(a: &Frequency, b: &Frequency) -> bool {
    a.kind == b.kind && (a.omega2 - b.omega2).abs() <= 2.0 * SAME_FREQUENCY * b.omega2.abs() || a.hz + b.hz == 0.0
}

fn store_of(component: usize) -> Store {
    match Strain::of(component) {
        Strain::Axial => Store::Axial,
        Strain::Torsion => Store::Torsion,
        Strain::Bending => Store::Bending,
    }
}

/// `uᵀ A u` over the components that count.
fn energy(A: &[[[[f64; 6]; 6]; 2]; 2], u: &[[f64; 6]; 2], counts: impl Fn(usize) -> bool) -> f64 {
    let mut sum = 0.0;
    for (a, row) in A.iter().enumerate() {
        for (b, block) in row.iter().enumerate() {
            for i in (0..6).filter(|i| counts(*i)) {
                sum += (0..6).map(|j| u[a][i] * block[i][j] * u[b][j]).sum::<f64>();
            }
        }
    }
    sum
}

fn inertia_energy(I: &crate::spatial::Inertia<f64>, u: &[f64; 6]) -> f64 {
    super::assemble::dot(u, &super::assemble::inertia_times(I, u))
}

fn bilinear(A: &Arrow<Dual>, x: &[f64], y: &[f64]) -> f64 {
    form(A, x, y, |d| d.eps)
}

/// `xᵀ A y` of an arrow whose symmetric blocks are filled below their diagonal.
fn form<S: Real>(A: &Arrow<S>, x: &[f64], y: &[f64], value: impl Fn(S) -> f64) -> f64 {
    let symmetric = |B: &Dense<S>, first: usize| {
        let mut sum = 0.0;
        for i in 0..B.rows {
            for j in 0..i {
                let (a, b) = (first + i, first + j);
                sum += value(B.at(i, j)) * (x[a] * y[b] + x[b] * y[a]);
            }
            sum += value(B.at(i, i)) * x[first + i] * y[first + i];
        }
        sum
    };
    let tip = A.legs.iter().map(|l| l.own.rows).sum();
    let (mut sum, mut first) = (symmetric(&A.tip, tip), 0);
    for leg in &A.legs {
        sum += symmetric(&leg.own, first);
        for i in 0..leg.border.rows {
            for j in 0..leg.border.cols {
                let (a, b) = (first + i, tip + j);
                sum += value(leg.border.at(i, j)) * (x[a] * y[b] + x[b] * y[a]);
            }
        }
        first += leg.own.rows;
    }
    sum
}

/// A posture as the elastic model needs it.
fn as_bent(bent: Option<&BentRobot>, pos: &Positions<f64>) -> Positions<f64> {
    bent.map_or_else(|| pos.clone(), |b| b.positions(b.model(), pos))
}

/// A few postures around one, the platform moved a little: entries that vanish at all of them vanish by structure.
fn nearby(model: &Model<f64>, posture: &Posture) -> Vec<Posture> {
    let at = coordinates(model, posture.pose());
    let moved = |k: usize| {
        let step = |c: &crate::description::Coordinate| {
            let size = if c.is_angle() { 0.1 } else { 0.05 * model.size() };
            (*c, at[c.index()] + size * ((1 + k) as f64 * (1.0 + c.index() as f64)).sin())
        };
        let given: Vec<_> = model.topology().platform.independent.iter().map(step).collect();
        inverse(model, &pose_with(model, posture.pose(), &given), posture.mode()).ok()
    };
    (0..3).filter_map(moved).collect()
}

fn arrow_plan(samples: &[(Arrow<f64>, Arrow<f64>)]) -> Result<ArrowPlan, ArrowError> {
    let borrowed: Vec<(&Arrow<f64>, &Arrow<f64>)> = samples.iter().map(|(K, M)| (K, M)).collect();
    ArrowPlan::of(&borrowed)
}

/// Refusals of the solver in words of the robot.
fn explain(model: &Model<f64>, plan: &ElasticPlan, e: &ArrowError) -> ElasticError {
    match *e {
        ArrowError::Mass { coordinate, .. } => {
            ElasticError::NegativeMass { what: coordinate_name(model, plan, coordinate) }
        }
        ArrowError::Loose { coordinate } => ElasticError::Loose { what: coordinate_name(model, plan, coordinate) },
        ArrowError::NotFinite { coordinate } => {
            ElasticError::NotFinite { what: coordinate_name(model, plan, coordinate) }
        }
        _ => ElasticError::NotConverged,
    }
}

/// What a coordinate is, in words.
fn coordinate_name(model: &Model<f64>, plan: &ElasticPlan, coordinate: usize) -> String {
    let owner = plan.clusters.iter().find(|c| {
        let first = plan.place(c);
        let empty = c.part == LegOrTip::Tip && c.independent.is_empty();
        !empty && (first..first + c.independent.len()).contains(&coordinate)
    });
    let Some(c) = owner else { return format!("coordinate {coordinate}") };
    plan.variable_name(model, c.variables[c.independent[coordinate - plan.place(c)]])
}
