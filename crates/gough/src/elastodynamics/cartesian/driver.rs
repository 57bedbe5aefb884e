//! Frequencies, motions of the platform and what gives way in them: the driver of the Cartesian method.

use super::kernel::{CartesianData, assemble_cartesian, on_basis, product};
use super::numbers::{CartesianModel, Gives, PartNumbers, pair};
use super::plan::{CartesianPlan, Choices, Limb, PartKind};
use crate::elastodynamics::beam::Mat6;
use crate::elastodynamics::error::ElasticError;
use crate::elastodynamics::numbers::Vec6;
use crate::elastodynamics::plan::BeamSlider;
use crate::elastodynamics::vibration::SAME_FREQUENCY;
use crate::kinematics::{Positions, Posture, WorkingMode, inverse_in, pose_bodies};
use crate::linalg::dense::{Matrix, generalized_eigen};
use crate::linalg::small::Dense;
use crate::model::{BodyId, Id, Model};
use crate::spatial::{Pose, Wrench};
use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

/// Pivots below this ask for a plan of the posture's own.
pub(super) const POOR_PIVOT: f64 = 1e-4;

/// Natural frequencies and the motions of the platform that belong to them.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize)]
pub struct PlatformModes {
    /// Hz, ascending; zero for motions that nothing resists, and for unstable ones.
    pub hz: Vec<f64>,
    /// ω², negative for an unstable motion.
    pub omega2: Vec<f64>,
    /// Twists `[v; w]` of the platform, the entry of largest size being one.
    pub twists: Vec<[f64; 6]>,
}

/// What a part contributes to the compliance of the platform, and to the elastic energy of each mode.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct PartShare {
    /// Body, joint or closure.
    pub of: String,
    /// `beam`, `rods`, `link`, `mount`, `joint` or `drive`.
    pub kind: &'static str,
    /// What it adds to the compliance of the platform along x, y, z (m/N) and about x, y, z (rad/(N m)).
    pub compliance: [f64; 6],
    /// Share of the elastic energy of every mode.
    pub modes: Vec<f64>,
}

/// A link that bends between its own ends.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct RodBending {
    /// The body.
    pub of: String,
    /// Lowest bending frequency between pins, `π/2 sqrt(EI/(ρA))/l²`, Hz.
    pub hz: f64,
}

/// A robot whose Cartesian matrices are asked for, one posture after another.
#[derive(Clone, Debug)]
pub struct Cartesian<'m> {
    model: &'m Model<f64>,
    pub(super) numbers: CartesianModel<f64>,
    pub(super) data: CartesianData<f64>,
    pub(super) pos: Positions<f64>,
}

impl<'m> Cartesian<'m> {
    /// Plan at a closed posture of the robot, its home for example.
    pub fn new(model: &'m Model<f64>, posture: &Posture, choices: Choices) -> Result<Self, ElasticError> {
        Self::planned_at(model, posture.positions(), choices)
    }

    fn planned_at(model: &'m Model<f64>, pos: &Positions<f64>, choices: Choices) -> Result<Self, ElasticError> {
        BeamSlider::refuse_any(model, pos)?;
        let plan = Arc::new(CartesianPlan::new(model, choices, pos));
        if plan.rigid.rows.len() == 6 {
            return Err(ElasticError::NothingMoves);
        }
        let cartesian = CartesianModel::new(model, &plan);
        let mut data = cartesian.data();
        assemble_cartesian(model, &cartesian, pos, &mut data);
        Ok(Self { model, numbers: cartesian, data, pos: pos.clone() })
    }

    /// The model.
    pub fn model(&self) -> &'m Model<f64> {
        self.model
    }

    /// What was decided once.
    pub fn plan(&self) -> &Arc<CartesianPlan> {
        self.numbers.plan()
    }

    /// Matrices of the posture taken.
    pub fn data(&self) -> &CartesianData<f64> {
        &self.data
    }

    /// The matrices, to be filled from elsewhere.
    pub(crate) fn data_mut(&mut self) -> &mut CartesianData<f64> {
        &mut self.data
    }

    /// Where the robot stands.
    pub fn positions(&self) -> &Positions<f64> {
        &self.pos
    }

    /// Take a pose in a working mode.
    pub fn take(&mut self, pose: &Pose<f64>, mode: &WorkingMode) -> Result<(), ElasticError> {
        inverse_in(self.model, pose, mode, &mut self.pos)?;
        pose_bodies(self.model, &mut self.pos);
        self.renew()
    }

    /// Take a posture.
    pub fn take_posture(&mut self, posture: &Posture) -> Result<(), ElasticError> {
        self.pos.clone_from(posture.positions());
        self.renew()
    }

    fn renew(&mut self) -> Result<(), ElasticError> {
        assemble_cartesian(self.model, &self.numbers, &self.pos, &mut self.data);
        let poor = |p: &f64| !(p.abs() > POOR_PIVOT);
        if self.data.limbs.iter().any(|l| l.pivots.iter().any(poor)) || !self.is_finite() {
            *self = Self::planned_at(self.model, &self.pos.clone(), self.plan().choices)?;
        }
        if self.is_finite() {
            return Ok(());
        }
        Err(ElasticError::NotFinite { what: "the platform".to_owned() })
    }

    fn is_finite(&self) -> bool {
        [&self.data.M, &self.data.K_R, &self.data.K_F].iter().all(|A| A.iter().flatten().all(|x| x.is_finite()))
    }

    /// Frequencies of the robot whose links are rigid, from the stiffness of its drives alone, (14): the subset of motions that
    /// the constraints allow.
    pub fn rigid(&self) -> Result<PlatformModes, ElasticError> {
        let all_give = |l: &Limb| l.springs.iter().any(|s| s.1);
        if !self.plan().limbs.iter().any(all_give) {
            return Ok(PlatformModes::default());
        }
        self.modes(&self.data.K_R, &self.data.B_R)
    }

    /// `K v = ω² M v` on the motions of a basis, refused where the platform moves without mass: where the drives hold a robot
    /// whose platform weighs nothing, what is left of `M` is rounding.
    fn modes(&self, K: &Mat6<f64>, B: &Dense<f64>) -> Result<PlatformModes, ElasticError> {
        let (m, l2) = (mass(self.model), self.model.length().powi(2));
        let heavy = |k: usize| self.data.M[k][k] > 1e-14 * m * if k < 3 { 1.0 } else { l2 };
        if B.cols > 0 && !(0..6).any(heavy) {
            return Err(ElasticError::NoMass);
        }
        modes(K, &self.data.M, B)
    }

    /// Frequencies with everything that gives way, and with the stiffness `K_G` of a load where there is one.
    pub fn flexible(&self, K_G: Option<&Mat6<f64>>) -> Result<PlatformModes, ElasticError> {
        let mut K = self.data.K_F;
        if let Some(K_G) = K_G {
            for i in 0..6 {
                (0..6).for_each(|j| K[i][j] += 0.5 * (K_G[i][j] + K_G[j][i]));
            }
        }
        self.modes(&K, &self.data.B)
    }

    /// Compliance of the platform on the motions that something gives way to: `B (Bᵀ K_F B)⁻¹ Bᵀ`.
    pub fn compliance(&self) -> Result<Mat6<f64>, ElasticError> {
        let B = &self.data.B;
        let K = on_basis(&self.data.K_F, B);
        let soft = K.solve(&B.transposed()).ok_or_else(|| ElasticError::Loose { what: "the platform".to_owned() })?;
        let C = B.times(&soft);
        Ok(std::array::from_fn(|i| std::array::from_fn(|j| C.at(i, j))))
    }

    /// What every part contributes to the compliance of the platform and to the elastic energy of some of its motions.
    pub fn parts(&self, twists: &[[f64; 6]]) -> Result<Vec<PartShare>, ElasticError> {
        let C = self.compliance()?;
        let columns: Vec<[f64; 6]> = (0..6).map(|k| std::array::from_fn(|i| C[i][k])).collect();
        let mut list = Vec::new();
        for k in 0..self.plan().limbs.len() {
            let all: Vec<Vec<(String, &'static str, f64)>> =
                columns.iter().chain(twists).map(|x| self.energies(k, x)).collect();
            for (p, (of, kind, _)) in all[0].iter().enumerate() {
                let of_mode = |x: &[f64; 6], own: f64| {
                    let whole: f64 = (0..6).map(|i| x[i] * product(&self.data.K_F[i], x)).sum();
                    if whole > 0.0 { own / whole } else { 0.0 }
                };
                list.push(PartShare {
                    of: of.clone(),
                    kind,
                    compliance: std::array::from_fn(|i| all[i][p].2),
                    modes: twists.iter().zip(&all[6..]).map(|(x, e)| of_mode(x, e[p].2)).collect(),
                });
            }
        }
        Ok(list)
    }

    /// Twice the elastic energy in every spring and part of a limb for a motion of the platform.
    fn energies(&self, limb: usize, x: &Vec6<f64>) -> Vec<(String, &'static str, f64)> {
        let (plan, numbers, data) = (&self.plan().limbs[limb], &self.numbers.limbs[limb], &self.data.limbs[limb]);
        let (r, free) = (plan.elastic_rows(), plan.counts[0]);
        let force: Vec<f64> =
            (0..r).map(|i| if plan.soft.contains(&i) { product(&data.forces[i], x) } else { 0.0 }).collect();
        let t = self.model.topology();
        let mut list = Vec::new();
        for ((column, drive), compliance) in plan.springs.iter().zip(&numbers.springs) {
            let effort: f64 = (0..r).map(|i| force[i] * data.a.at(free + i, *column)).sum();
            let name = format!("q{}", t.coords[plan.coords[*column]].name);
            list.push((name, if *drive { "drive" } else { "joint" }, effort * effort * compliance));
        }
        for (p, part) in plan.parts.iter().enumerate() {
            let load: Vec6<f64> = std::array::from_fn(|c| (0..r).map(|i| force[i] * data.loads[p * r + i][c]).sum());
            let C = self.part_compliance(&numbers.parts[p]);
            let energy = (0..6).map(|c| load[c] * product(&C[c], &load)).sum();
            let (of, kind) = self.part_name(part.kind);
            list.push((of, kind, energy));
        }
        list
    }

    fn part_compliance(&self, part: &PartNumbers<f64>) -> Mat6<f64> {
        match &part.gives {
            Gives::Constant(C) => **C,
            Gives::Pair(pair) => {
                let X = self.pos.node(part.host) * part.X;
                pair.compliance(pair.distance(&X, &self.pos))
            }
        }
    }

    fn part_name(&self, kind: PartKind) -> (String, &'static str) {
        let t = self.model.topology();
        match kind {
            PartKind::Beam { body, .. } => (t.bodies[body].name.clone(), "beam"),
            PartKind::Rods { bar } => (t.bodies[bar].name.clone(), "rods"),
            PartKind::Body(body) => (t.bodies[body].name.clone(), "link"),
            PartKind::Mount(c) => (t.closures[c].name.clone(), "mount"),
        }
    }

    /// Links that bend on their own, lowest first: their modes are not among those of the platform.
    pub fn bending(&self) -> Vec<RodBending> {
        let model = self.model;
        let name = |b: BodyId| model.topology().bodies[b].name.clone();
        let lowest = |EI: f64, rhoA: f64, l: f64| FRAC_PI_2 * (EI / rhoA).sqrt() / (l * l);
        let mut list = Vec::new();
        for b in model.topology().bodies.ids() {
            if let Some(beam) = &model.numbers().beams[b] {
                let ([E, _, rho], s) = (beam.moduli, &beam.section);
                list.push(RodBending { of: name(b), hz: lowest(E * s.Iy.min(s.Iz), rho * s.A, beam.length) });
            }
            let is_bar = model.topology().bodies[b].row.1 == 0 && b.index() + 1 < model.topology().bodies.len();
            if let Some(p) = if is_bar { pair(model, b) } else { None } {
                let EI = p.data.EIy.min(p.data.EIz);
                list.push(RodBending { of: name(b), hz: lowest(EI, p.data.rhoA, p.data.l) });
            }
        }
        list.retain(|r| r.hz.is_finite());
        list.sort_by(|a, b| a.hz.total_cmp(&b.hz));
        list
    }

    /// Stiffness that a dead load on the platform adds, see the `loaded` module: not symmetric under a moment.
    pub fn loaded(&self, load: Wrench<f64>) -> Result<Mat6<f64>, ElasticError> {
        super::loaded::geometric(self, load)
    }
}

/// Mass of all bodies, beams and the platform.
fn mass(model: &Model<f64>) -> f64 {
    let numbers = model.numbers();
    let beams = numbers.beams.values().flatten().map(|b| b.moduli[2] * b.section.A * b.length);
    numbers.bodies.values().map(|b| b.inertia.m).chain(beams).sum::<f64>() + numbers.platform.m
}

/// Eigenvalues of `K y = λ M y`, ascending, with `yᵀ M y = 1`. Motions without mass, such as those against the constraints of a
/// robot whose platform weighs nothing, have no frequency and are left out: where K is definite, `M y = μ K y` is solved.
pub(super) fn solve(K: &Matrix, M: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    const LEAST: f64 = 1e-12;
    let Some((mu, y)) = generalized_eigen(M, K) else { return generalized_eigen(K, M) };
    let most = mu.iter().fold(0.0_f64, |most, x| most.max(*x));
    let kept: Vec<usize> = (0..mu.len()).rev().filter(|k| mu[*k] > LEAST * most).collect();
    let vectors = Matrix::from_fn(y.nrows(), kept.len(), |i, j| y[(i, kept[j])] / mu[kept[j]].sqrt());
    (!kept.is_empty()).then(|| (kept.iter().map(|k| mu[*k].recip()).collect(), vectors))
}

/// `K v = ω² M v` on the motions of a basis, (6), (7).
fn modes(K: &Mat6<f64>, M: &Mat6<f64>, B: &Dense<f64>) -> Result<PlatformModes, ElasticError> {
    if B.cols == 0 {
        return Ok(PlatformModes::default());
    }
    let (K, M) = (on_basis(K, B), on_basis(M, B));
    let square = |A: &Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| 0.5 * (A.at(i, j) + A.at(j, i)));
    let (omega2, y) = solve(&square(&K), &square(&M)).ok_or(ElasticError::NoMass)?;
    let largest = omega2.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let hz = omega2.iter().map(|x| if *x > 1e-14 * largest { x.sqrt() / TAU } else { 0.0 }).collect();
    let twist = |k: usize| -> [f64; 6] {
        let t: [f64; 6] = std::array::from_fn(|i| (0..B.cols).map(|c| B.at(i, c) * y[(c, k)]).sum());
        let most = t.iter().fold(0.0_f64, |m, x| if x.abs() > m.abs() { *x } else { m });
        t.map(|x| if x.abs() > 1e-14 * most.abs() { x / most } else { 0.0 })
    };
    Ok(PlatformModes { hz, twists: (0..omega2.len()).map(twist).collect(), omega2 })
}

/// Groups of equal frequencies: first and number.
pub(super) fn same_frequencies(omega2: &[f64]) -> Vec<(usize, usize)> {
    let mut list: Vec<(usize, usize)> = Vec::new();
    for (k, x) in omega2.iter().enumerate() {
        match list.last_mut() {
            Some((first, count)) if (x - omega2[*first]).abs() <= 2.0 * SAME_FREQUENCY * x.abs() => *count += 1,
            _ => list.push((k, 1)),
        }
    }
    list
}
