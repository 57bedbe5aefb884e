//! The regressor of a state on `f64`: what the drives must give, linear in the standard parameters.

use super::columns::{FileFrames, Meets, Rubbing, by_sign, closure_motion, columns_under, energy_columns};
use super::partial::{PartialRates, partial_rates};
use super::standard::StandardSet;
use crate::dynamics::conditions::Conditions;
use crate::dynamics::drives::Freedoms;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::motion::{Motion, move_bodies};
use crate::kinematics::{Kind, Positions, Posture, SINGULAR, SolveError};
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::Model;

/// `drivesᵀ τ = matrix χ`, (8.256)-(8.265): one row of `matrix` per freedom of the robot, one column per standard parameter.
/// The freedoms are the independent components of the platform, then drives that the platform does not feel.
#[derive(Clone, PartialEq, Debug)]
pub struct Regressor {
    /// What a unit of each parameter asks of each freedom.
    pub matrix: Dense<f64>,
    /// What a unit effort of each drive gives to each freedom: a row per drive.
    pub drives: Dense<f64>,
    /// Kinetic and potential energy for a unit of each parameter.
    pub energy: Vec<[f64; 2]>,
    /// What makes the freedoms comparable: one over the length of the robot for angles.
    pub scales: Vec<f64>,
    /// How many of the freedoms are components of the platform.
    pub platform: usize,
}

/// The regressor for a twist and an acceleration in the platform's independent components; `sign` tells the direction of
/// Coulomb friction.
pub fn regressor(
    model: &Model<f64>,
    set: &StandardSet,
    posture: &Posture,
    (t_r, td_r): (&[f64], &[f64]),
    sign: Sign,
    conditions: &Conditions,
) -> Result<Regressor, SolveError> {
    let mut memory = Memory::new(model);
    memory.pos = posture.positions().clone();
    for (c, [rate, acceleration]) in &conditions.open {
        (memory.motion.rates[*c], memory.motion.accels[*c]) = (*rate, *acceleration);
    }
    let mut found = memory.at(model, set, (t_r, td_r), sign)?;
    found.energy = energy_columns(model, set, &memory.pos, &memory.motion);
    Ok(found)
}

/// Memory of the regressor of one state after the other.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The posture; to be set before a state is asked for.
    pub pos: Positions<f64>,
    /// The motion.
    pub motion: Motion<f64>,
    partial: PartialRates<f64>,
    /// Frames of the model that carry mass: those of all its sets.
    frames: FileFrames<f64>,
}

impl Memory {
    /// Memory for a model.
    pub fn new(model: &Model<f64>) -> Self {
        Self {
            pos: Positions::new(model),
            motion: Motion::new(model),
            partial: PartialRates::new(model),
            frames: FileFrames::new(model, &StandardSet::new(model)),
        }
    }

    /// Takes up the posture in the memory: efforts of the drives that answer a unit of each freedom there.
    pub fn settle(&mut self, model: &Model<f64>) -> Result<Dense<f64>, SolveError> {
        let rest = vec![0.0; model.topology().platform.independent.len()];
        let Self { pos, motion, partial, .. } = self;
        move_bodies(model, &rest, &rest, pos, motion)?;
        partial_rates(model, pos, motion, partial);
        project(model, motion, partial, &[]).efforts_per_freedom()
    }

    /// Twist and acceleration of the platform, in its independent components, for rates and accelerations of the drives at a
    /// posture that [`Memory::settle`] took up: `t_r = J q̇_a`, `ṫ_r = J q̈_a + a_t`, (7.63), (7.163); of redundant drives the
    /// nearest ones.
    pub fn platform_motion(
        &mut self,
        model: &Model<f64>,
        given: &Dense<f64>,
        rates: &[f64],
        accelerations: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
        let n = model.topology().platform.independent.len();
        let t_r = carried(given, rates, n);
        move_bodies(model, &t_r, &vec![0.0; n], &mut self.pos, &mut self.motion)?;
        let active = &model.topology().active;
        let more: Vec<f64> = accelerations.iter().zip(active).map(|(a, c)| a - self.motion.accels[*c]).collect();
        Ok((t_r, carried(given, &more, n)))
    }

    /// The regressor at the posture in the memory, without energies.
    pub fn at(
        &mut self,
        model: &Model<f64>,
        set: &StandardSet,
        (t_r, td_r): (&[f64], &[f64]),
        sign: Sign,
    ) -> Result<Regressor, SolveError> {
        self.move_to(model, t_r, td_r)?;
        self.columns(model, set, &by_sign(model, sign))
    }

    /// A motion at the posture in the memory.
    pub fn move_to(&mut self, model: &Model<f64>, t_r: &[f64], td_r: &[f64]) -> Result<(), SolveError> {
        self.move_on(model, t_r, td_r)?;
        partial_rates(model, &mut self.pos, &mut self.motion, &mut self.partial);
        Ok(())
    }

    /// Another motion at the posture of the last one.
    pub fn move_on(&mut self, model: &Model<f64>, t_r: &[f64], td_r: &[f64]) -> Result<(), SolveError> {
        move_bodies(model, t_r, td_r, &mut self.pos, &mut self.motion)
    }

    /// The rate that friction meets somewhere in the last motion, and its derivative.
    pub fn rate(&self, model: &Model<f64>, at: Rubbing) -> [f64; 2] {
        match at {
            Rubbing::Joint(c) => [self.motion.rates[c], self.motion.accels[c]],
            Rubbing::Closure(id) => closure_motion(model, id, &self.pos, &self.motion),
        }
    }

    /// The regressor of the last motion under any friction.
    pub fn columns(
        &mut self,
        model: &Model<f64>,
        set: &StandardSet,
        meets: &Meets<'_, f64>,
    ) -> Result<Regressor, SolveError> {
        let columns = columns_under(model, set, meets, &self.frames, (&self.pos, &self.motion), &self.partial);
        let found = project(model, &self.motion, &self.partial, &columns);
        let finite = found.matrix.data.iter().chain(&found.drives.data).all(|x| x.is_finite());
        if finite { Ok(found) } else { Err(SolveError::not_finite()) }
    }
}

/// Rates of the drives as a motion of the platform, by the transpose of what answers its freedoms.
pub(crate) fn carried(given: &Dense<f64>, rates: &[f64], n: usize) -> Vec<f64> {
    (0..n).map(|k| rates.iter().enumerate().map(|(i, x)| given.at(i, k) * x).sum()).collect()
}

/// From the six components of the platform to its freedoms, (8.65).
fn project(model: &Model<f64>, motion: &Motion<f64>, partial: &PartialRates<f64>, columns: &[f64]) -> Regressor {
    let topology = model.topology();
    let freedoms = Freedoms::of(model, motion);
    let (n, open) = (topology.platform.independent.len(), partial.open.len());
    let down = |list: &[f64], k: usize| {
        if k >= n { list[6 + k - n] } else { freedoms.down(&std::array::from_fn(|i| list[i]), k) }
    };
    let mut matrix = Dense::zeros(n + open, columns.len() / partial.speeds());
    for (j, column) in columns.chunks_exact(partial.speeds()).enumerate() {
        (0..n + open).for_each(|k| *matrix.at_mut(k, j) = down(column, k));
    }
    let mut drives = Dense::zeros(topology.active.len(), n + open);
    for (i, c) in topology.active.iter().enumerate() {
        (0..n + open).for_each(|k| *drives.at_mut(i, k) = down(partial.of_coord(*c), k));
    }
    let angles = topology.platform.independent.iter().map(|c| c.is_angle());
    let mut scales: Vec<f64> = angles.map(|a| if a { model.length().recip() } else { 1.0 }).collect();
    scales.resize(n + open, 1.0);
    Regressor { matrix, drives, energy: Vec::new(), scales, platform: n }
}

impl Regressor {
    /// The efforts of the drives for a unit of each parameter: a row per drive. With more drives than freedoms it is the
    /// shortest list, as inverse dynamics gives it.
    pub fn of_efforts(&self) -> Result<Dense<f64>, SolveError> {
        Ok(self.efforts_by(&self.efforts_per_freedom()?))
    }

    /// The efforts of the drives for a unit of each parameter, given those that answer a unit of each freedom.
    pub fn efforts_by(&self, given: &Dense<f64>) -> Dense<f64> {
        let mut out = Dense::zeros(self.drives.rows, self.matrix.cols);
        for i in 0..out.rows {
            for k in 0..self.matrix.rows {
                let x = given.at(i, k);
                if x != 0.0 {
                    (0..out.cols).for_each(|j| *out.at_mut(i, j) += x * self.matrix.at(k, j));
                }
            }
        }
        out
    }

    /// Efforts of the drives that answer a unit of each freedom, the shortest list: `J (JᵀJ)⁻¹` on the platform and the drives
    /// that it does not feel together.
    pub fn efforts_per_freedom(&self) -> Result<Dense<f64>, SolveError> {
        let (n, all) = (self.platform, self.matrix.rows);
        let scaled = |drive: usize, k: usize| self.drives.at(drive, k) * self.scales[k];
        let felt: Vec<usize> = (0..self.drives.rows).filter(|i| (0..n).any(|k| self.drives.at(*i, k) != 0.0)).collect();
        // As inverse dynamics decides: by directions, unless drives share by length.
        let length = |drive: usize| (0..n).map(|k| scaled(drive, k).powi(2)).sum::<f64>().sqrt();
        let longest = felt.iter().map(|drive| length(*drive)).fold(0.0, f64::max);
        let unit = |drive: usize| match length(drive) {
            _ if felt.len() > n => 1.0,
            own if own > RANK_TOLERANCE * longest => own.recip(),
            _ => 0.0,
        };
        let s = svd(&Matrix::from_fn(felt.len(), n, |i, k| scaled(felt[i], k) * unit(felt[i]))).s;
        let largest = s.first().copied().unwrap_or(0.0);
        if s.len() < n || s.iter().any(|s| !(*s > SINGULAR * largest)) {
            return Err(SolveError::Singular { leg: None, kind: Kind::Type2 });
        }
        let f = svd(&Matrix::from_fn(self.drives.rows, all, scaled));
        let mut out = Dense::zeros(self.drives.rows, all);
        for (i, k) in (0..out.rows).flat_map(|i| (0..all).map(move |k| (i, k))) {
            let sum: f64 = (0..all).map(|s| f.u[(i, s)] / f.s[s] * f.v[(k, s)]).sum();
            *out.at_mut(i, k) = sum * self.scales[k];
        }
        Ok(out)
    }
}
