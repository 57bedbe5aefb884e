//! Inverse dynamics: actuator efforts from the motion of the platform, (8.71)-(8.73) and (8.145)-(8.148).

use super::conditions::{Conditions, Share};
use super::drives::{Drives, Freedoms};
use super::newton_euler::{Sign, TreeEfforts, energies, ground_wrench, tree_efforts};
use super::reactions::{Reactions, reactions};
use super::reduction::{EffortData, reduce};
use super::share::{Internal, internal, share};
use crate::kinematics::error::BEYOND;
use crate::kinematics::motion::{Motion, move_bodies};
use crate::kinematics::{Positions, Posture, SolveError};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{Model, Node};
use crate::spatial::Wrench;

/// What a motion takes.
#[derive(Clone, Debug)]
pub struct InverseDynamics {
    /// Efforts of the drives, rotors included, without friction.
    pub efforts: Vec<f64>,
    /// Efforts with the friction of all joints.
    pub efforts_with_friction: Vec<f64>,
    /// Kinetic energy of the bodies.
    pub kinetic_energy: f64,
    /// Kinetic energy of the rotors.
    pub kinetic_energy_rotors: f64,
    /// Potential energy, zero at the world origin.
    pub potential_energy: f64,
    /// Wrench of the ground on the robot, at the world origin, without friction.
    pub ground_wrench: Wrench<f64>,
    /// The motion of all joints and bodies.
    pub motion: Motion<f64>,
    /// Largest over smallest singular value of the actuation wrenches, each of length one and lengths scaled: rounding, and
    /// errors of the model, grow so in the efforts. Infinite at a Type 2 singularity, where there are no efforts.
    pub condition: f64,
    /// What redundant drives do against each other, without friction.
    pub internal: Option<Internal>,
}

/// Efforts, energies and ground reaction for a twist and an acceleration in the platform's independent components.
pub fn inverse_dynamics(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    td_r: &[f64],
) -> Result<InverseDynamics, SolveError> {
    inverse_dynamics_under(model, posture, t_r, td_r, &Conditions::default())
}

/// Efforts, energies and ground reaction with loads from outside, a kind of friction, or another share between redundant drives.
pub fn inverse_dynamics_under(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    td_r: &[f64],
    conditions: &Conditions,
) -> Result<InverseDynamics, SolveError> {
    let mut at = Moved::new(model, posture, t_r, td_r, conditions)?;
    let plain = at.drive(model, None, conditions)?;
    let rubbed = at.drive(model, Some(conditions.friction.unwrap_or_default()), conditions)?;
    let [kinetic_energy, kinetic_energy_rotors, potential_energy] = energies(model, &at.pos, &at.motion);
    let mut tree = TreeEfforts::new(model);
    tree_efforts(model, &mut at.pos, &mut at.motion, &mut tree);
    let loads = conditions.loads.iter().map(|(node, F)| F.at(-origin(*node, &at.pos)));
    let internal = at.drives.is_redundant().then(|| internal(&at.drives.on_freedoms(), &plain));
    Ok(InverseDynamics {
        efforts: plain,
        efforts_with_friction: rubbed,
        kinetic_energy,
        kinetic_energy_rotors,
        potential_energy,
        ground_wrench: loads.fold(ground_wrench(model, &at.pos, &tree), |sum, F| sum - F),
        motion: at.motion,
        condition: condition(&at.drives.J_inv()),
        internal,
    })
}

/// Forces in all joints for a motion, with friction or without, the drives sharing as asked.
pub fn joint_reactions(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    td_r: &[f64],
    conditions: &Conditions,
) -> Result<Reactions, SolveError> {
    let mut at = Moved::new(model, posture, t_r, td_r, conditions)?;
    let drives = at.drive(model, conditions.friction, conditions)?;
    Ok(reactions(model, &mut at.pos, &mut at.motion, conditions, conditions.friction, &drives))
}

fn origin(node: Node, pos: &Positions<f64>) -> crate::spatial::Vec3<f64> {
    pos.node(node).p
}

/// Largest over smallest singular value, rows of length one.
fn condition(J_inv: &Dense<f64>) -> f64 {
    let length = |i: usize| (0..J_inv.cols).map(|j| J_inv.at(i, j).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let s = svd(&Matrix::from_fn(J_inv.rows, J_inv.cols, |i, j| J_inv.at(i, j) / length(i))).s;
    match (s.first(), s.last()) {
        (Some(first), Some(last)) if s.len() == J_inv.cols => first / last,
        _ => f64::INFINITY,
    }
}

/// A motion of all bodies, ready to be asked for efforts.
pub(super) struct Moved {
    pub(super) pos: Positions<f64>,
    pub(super) motion: Motion<f64>,
    pub(super) efforts: EffortData<f64>,
    drives: Drives<f64>,
}

impl Moved {
    pub(super) fn new(
        model: &Model<f64>,
        posture: &Posture,
        t_r: &[f64],
        td_r: &[f64],
        conditions: &Conditions,
    ) -> Result<Self, SolveError> {
        Self::from(model, posture.positions(), t_r, td_r, conditions)
    }

    /// From positions that need not close better than to their rounding.
    pub(super) fn from(
        model: &Model<f64>,
        pos: &Positions<f64>,
        t_r: &[f64],
        td_r: &[f64],
        conditions: &Conditions,
    ) -> Result<Self, SolveError> {
        let (mut pos, mut motion) = (pos.clone(), Motion::new(model));
        for (c, [rate, acceleration]) in &conditions.open {
            (motion.rates[*c], motion.accels[*c]) = (*rate, *acceleration);
        }
        move_bodies(model, t_r, td_r, &mut pos, &mut motion)?;
        let mut efforts = EffortData::new(model);
        conditions.put(&mut efforts);
        Ok(Self { pos, motion, efforts, drives: Drives::new(model) })
    }

    /// What the motion asks of all freedoms, those of the platform first, lengths scaled, then of open joints, and what a unit effort
    /// of each drive gives to them.
    pub(super) fn on_freedoms(&mut self, model: &Model<f64>, friction: Option<Sign>) -> (Vec<f64>, Dense<f64>) {
        reduce(model, friction, &mut self.pos, &mut self.motion, &mut self.efforts);
        self.drives.project(&self.efforts, &Freedoms::of(model, &self.motion));
        (self.drives.needs().to_vec(), self.drives.on_freedoms())
    }

    /// The order of elimination of the drives; a refusal where they do not hold the platform.
    pub(super) fn order(&mut self, model: &Model<f64>, friction: Option<Sign>) -> Result<PivotOrder, SolveError> {
        reduce(model, friction, &mut self.pos, &mut self.motion, &mut self.efforts);
        let freedoms = Freedoms::of(model, &self.motion);
        self.drives.project(&self.efforts, &freedoms);
        self.drives.order_at(model, &self.pos, &self.motion)
    }

    /// Efforts of the drives.
    pub(super) fn drive(
        &mut self,
        model: &Model<f64>,
        friction: Option<Sign>,
        conditions: &Conditions,
    ) -> Result<Vec<f64>, SolveError> {
        let order = self.order(model, friction)?;
        self.drives.solve(&order);
        let efforts = self.drives.efforts.clone();
        let moving = self.motion.rates.values().chain(self.motion.accels.values());
        if !efforts.iter().all(|x| x.is_finite()) || !moving.copied().all(|x| x.abs() < BEYOND) {
            return Err(SolveError::not_finite());
        }
        if self.drives.is_redundant() {
            return share(&conditions.share, &self.drives.on_freedoms(), &efforts);
        }
        if let Share::Within(limits) = &conditions.share {
            let beyond = |k: &usize| limits.get(*k).is_some_and(|l| !(l[0]..=l[1]).contains(&efforts[*k]));
            let drives: Vec<usize> = (0..efforts.len()).filter(beyond).collect();
            if !drives.is_empty() {
                return Err(SolveError::BeyondEffort { drives });
            }
        }
        Ok(efforts)
    }
}
