//! Inverse dynamics: actuator efforts from the motion of the platform, (8.71)-(8.73) and (8.145)-(8.148).

use super::newton_euler::{Sign, TreeEfforts, energies, ground_wrench, tree_efforts};
use crate::kinematics::jacobians::{Redundancy, StateMatrices, matrices_at};
use crate::kinematics::motion::{Motion, move_bodies};
use crate::kinematics::{Kind, Positions, Posture, SolveError};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::{CoordId, Model, PerCoord};
use crate::spatial::Wrench;

/// What a motion takes.
#[derive(Clone, Debug)]
pub struct InverseDynamics {
    /// Efforts of the drives, rotors included, without friction; the shortest list where drives are redundant.
    pub efforts: Vec<f64>,
    /// The same with the friction of all joints.
    pub efforts_with_friction: Vec<f64>,
    /// Kinetic energy of the bodies.
    pub kinetic_energy: f64,
    /// Kinetic energy of the rotors.
    pub kinetic_energy_rotors: f64,
    /// Potential energy, zero at the world origin.
    pub potential_energy: f64,
    /// Wrench of the ground on the robot, at the world origin.
    pub ground_wrench: Wrench<f64>,
    /// The motion of all joints and bodies.
    pub motion: Motion<f64>,
}

/// Efforts, energies and ground reaction for a twist and an acceleration in the platform's independent components.
pub fn inverse_dynamics(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    td_r: &[f64],
) -> Result<InverseDynamics, SolveError> {
    let (pos, motion, tree) = moved(model, posture, t_r, td_r)?;
    let m = matrices_at(model, posture, None)?;
    let joints = &model.numbers().joints;
    let driven = |friction: bool| {
        let efforts = tree.efforts.map(|c, effort| {
            let own = if friction { joints[c].friction(motion.rates[c], Sign::Sharp) } else { 0.0 };
            effort + joints[c].rotor * motion.accels[c] + own
        });
        closed(model, &m, &efforts, &tree.F_WE)
    };
    let [kinetic_energy, kinetic_energy_rotors, potential_energy] = energies(model, &pos, &motion);
    Ok(InverseDynamics {
        efforts: driven(false)?,
        efforts_with_friction: driven(true)?,
        kinetic_energy,
        kinetic_energy_rotors,
        potential_energy,
        ground_wrench: ground_wrench(model, &pos, &tree),
        motion,
    })
}

/// Bodies posed, their motion, and the efforts of the tree.
pub(super) type Moved = (Positions<f64>, Motion<f64>, TreeEfforts<f64>);

/// The motion of all bodies and the efforts of the tree.
pub(super) fn moved(model: &Model<f64>, posture: &Posture, t_r: &[f64], td_r: &[f64]) -> Result<Moved, SolveError> {
    let (mut pos, mut motion) = (posture.positions().clone(), Motion::new(model));
    move_bodies(model, t_r, td_r, &mut pos, &mut motion)?;
    let mut tree = TreeEfforts::new(model);
    tree_efforts(model, &mut pos, &mut motion, &mut tree);
    Ok((pos, motion, tree))
}

fn pick(list: &[CoordId], of: &PerCoord<f64>) -> Vec<f64> {
    list.iter().map(|c| of[*c]).collect()
}

/// `w_r = Ψ_tᵀ w_p`, (8.65).
fn reduced(m: &StateMatrices, F_WE: &Wrench<f64>) -> Vec<f64> {
    m.matrices.Psi_t.transposed().apply(&F_WE.to_array())
}

/// What the drives must give when the loops are closed, (8.72); with redundant actuation the shortest solution of
/// `J_invᵀ τ = h`, erratum D20.
fn closed(
    model: &Model<f64>,
    m: &StateMatrices,
    tree: &PerCoord<f64>,
    F_WE: &Wrench<f64>,
) -> Result<Vec<f64>, SolveError> {
    if m.redundancy == Redundancy::Actuation {
        let h = platform_effort(model, m, tree, F_WE)?;
        let J_inv = m.jacobians.J_inv.as_ref().ok_or(SolveError::Singular { leg: None, kind: Kind::Type1 })?;
        let f = svd(&Matrix::from_fn(J_inv.cols, J_inv.rows, |i, j| J_inv.at(j, i)));
        return if f.rank() < J_inv.cols {
            Err(SolveError::Singular { leg: None, kind: Kind::Type2 })
        } else {
            Ok(f.least_squares(&h))
        };
    }
    let (Some(J), Some(J_d)) = (&m.jacobians.J, &m.jacobians.J_d) else {
        return Err(SolveError::Singular { leg: None, kind: Kind::Type2 });
    };
    let parts = [J.transposed().apply(&reduced(m, F_WE)), J_d.transposed().apply(&pick(&m.passive, tree))];
    let active = pick(&model.topology().active, tree);
    Ok((0..active.len()).map(|i| active[i] + parts[0][i] + parts[1][i]).collect())
}

/// The effort of the whole robot on the platform's independent components,
/// `h = w_r + J_invᵀ τ_a + J_rᵀ τ_d`, `J_r = J_td⁻¹ (J_t - J_ta J_inv)`, (8.145).
pub(super) fn platform_effort(
    model: &Model<f64>,
    m: &StateMatrices,
    tree: &PerCoord<f64>,
    F_WE: &Wrench<f64>,
) -> Result<Vec<f64>, SolveError> {
    let J_inv = m.jacobians.J_inv.as_ref().ok_or(SolveError::Singular { leg: None, kind: Kind::Type1 })?;
    let J_r = passive_jacobian(m, J_inv).ok_or(SolveError::Singular { leg: None, kind: Kind::Lpjts })?;
    let parts = [
        J_inv.transposed().apply(&pick(&model.topology().active, tree)),
        J_r.transposed().apply(&pick(&m.passive, tree)),
    ];
    Ok(reduced(m, F_WE).iter().enumerate().map(|(i, w)| w + parts[0][i] + parts[1][i]).collect())
}

/// `q̇_d = J_r t_r`.
fn passive_jacobian(m: &StateMatrices, J_inv: &Dense<f64>) -> Option<Dense<f64>> {
    let right = m.matrices.J_t.clone().minus(&m.matrices.J_ta.times(J_inv));
    m.matrices.J_td.solve(&right)
}
