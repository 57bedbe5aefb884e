//! Direct dynamics in the platform's independent components: `M ṫ_r + c = J_invᵀ τ`, (8.162)-(8.165).

use super::inverse::{moved, platform_effort};
use crate::kinematics::jacobians::{StateMatrices, matrices_at};
use crate::kinematics::motion::Motion;
use crate::kinematics::{Kind, Posture, SolveError};
use crate::linalg::dense::{Matrix, solve_spd};
use crate::linalg::small::Dense;
use crate::model::Model;

/// Inertia and bias of the robot on the platform's independent components.
#[derive(Clone, Debug)]
pub struct PlatformModel {
    /// Inertia matrix, rotors included.
    pub M: Dense<f64>,
    /// Coriolis, centrifugal and gravity terms.
    pub c: Vec<f64>,
    /// The matrices of the posture.
    pub matrices: StateMatrices,
}

/// Inertia matrix and bias vector at a twist: one Newton-Euler per column, (8.34).
pub fn platform_model(model: &Model<f64>, posture: &Posture, t_r: &[f64]) -> Result<PlatformModel, SolveError> {
    let n = model.topology().platform.independent.len();
    let matrices = matrices_at(model, posture, None)?;
    let effort = |td_r: &[f64]| -> Result<Vec<f64>, SolveError> {
        let (_, motion, tree) = moved(model, posture, t_r, td_r)?;
        let joints = &model.numbers().joints;
        let efforts = tree.efforts.map(|c, effort| effort + joints[c].rotor * motion.accels[c]);
        platform_effort(model, &matrices, &efforts, &tree.F_WE)
    };
    let c = effort(&vec![0.0; n])?;
    let mut M = Dense::zeros(n, n);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        effort(&unit)?.iter().zip(&c).enumerate().for_each(|(i, (h, c))| *M.at_mut(i, k) = h - c);
    }
    Ok(PlatformModel { M, c, matrices })
}

/// Acceleration of the platform, and of all joints and bodies, under efforts of the drives, without friction.
pub fn direct_dynamics(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    efforts: &[f64],
) -> Result<(Vec<f64>, Motion<f64>), SolveError> {
    let n_a = model.topology().active.len();
    if efforts.len() != n_a {
        return Err(SolveError::WrongCount { what: "efforts", expected: n_a, found: efforts.len() });
    }
    let robot = platform_model(model, posture, t_r)?;
    let J_inv = robot.matrices.jacobians.J_inv.as_ref().ok_or(SolveError::Singular { leg: None, kind: Kind::Type1 })?;
    let driven = J_inv.transposed().apply(efforts);
    let rest: Vec<f64> = driven.iter().zip(&robot.c).map(|(h, c)| h - c).collect();
    let M = Matrix::from_fn(robot.M.rows, robot.M.cols, |i, j| 0.5 * (robot.M.at(i, j) + robot.M.at(j, i)));
    let td_r = solve_spd(&M, &rest).ok_or(SolveError::NoInertia)?;
    let (_, motion, _) = moved(model, posture, t_r, &td_r)?;
    Ok((td_r, motion))
}
