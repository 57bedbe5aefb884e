//! Direct dynamics, and the models behind it: `M ṫ_r + c = J_invᵀ τ` on the platform's independent components, (8.162)-(8.165),
//! and `M q̈_a + c = τ` on the active joints, (8.92)-(8.96).

use super::conditions::Conditions;
use super::drives::Freedoms;
use super::inverse::Moved;
use super::newton_euler::Sign;
use super::reduction::{open_joints, reduce};
use super::state::{Dynamics, RUNS_AWAY, WEIGHTLESS, all_inertia, is_lost, move_by_rounding};
use crate::kinematics::error::BEYOND;
use crate::kinematics::jacobians::{Redundancy, StateMatrices, matrices_at};
use crate::kinematics::motion::Motion;
use crate::kinematics::{Kind, Positions, Posture, SolveError};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::{CoordId, Model};

/// Inertia and bias of the robot.
#[derive(Clone, Debug)]
pub struct RobotModel {
    /// Inertia matrix, rotors included.
    pub M: Dense<f64>,
    /// Coriolis, centrifugal and gravity terms; loads and friction where asked.
    pub c: Vec<f64>,
}

/// Acceleration of the platform, and of all joints, under efforts of the drives, without friction.
pub fn direct_dynamics(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    efforts: &[f64],
) -> Result<(Vec<f64>, Motion<f64>), SolveError> {
    direct_dynamics_under(model, posture, t_r, efforts, &Conditions::default())
}

/// Accelerations under loads from outside, and friction where the conditions have it.
pub fn direct_dynamics_under(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    efforts: &[f64],
    conditions: &Conditions,
) -> Result<(Vec<f64>, Motion<f64>), SolveError> {
    if !model.topology().plan.given.is_empty() {
        return with_open_joints(model, posture, t_r, efforts, conditions);
    }
    let mut memory = Dynamics::new(model);
    memory.pos = posture.positions().clone();
    conditions.put(&mut memory.efforts);
    let acceleration = memory.direct_from(model, t_r, efforts, conditions.friction)?.to_vec();
    if !memory.motion.rates.iter().chain(memory.motion.accels.iter()).all(|(_, x)| x.abs() < BEYOND) {
        return Err(SolveError::not_finite());
    }
    Ok((acceleration, memory.motion))
}

/// Accelerations of a robot whose pose leaves joints open, under any number of drives. The rates of open joints are those of the
/// conditions. Where a leg has a poor pivot, joints that are moved by their rounding must leave the answer as it is.
fn with_open_joints(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    efforts: &[f64],
    conditions: &Conditions,
) -> Result<(Vec<f64>, Motion<f64>), SolveError> {
    let drives = model.topology().active.len();
    if efforts.len() != drives {
        return Err(SolveError::WrongCount { what: "efforts", expected: drives, found: efforts.len() });
    }
    let at = OpenAccelerations::of(model, posture.positions(), t_r, efforts, conditions)?;
    if at.motion.met_poor_pivots() {
        let mut pos = posture.positions().clone();
        move_by_rounding(model, &at.motion, &mut pos);
        let other = OpenAccelerations::of(model, &pos, t_r, efforts, conditions);
        let most = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0_f64, |most, x| most.max(x.abs()));
        let change = other.map(|other| most(&mut other.scaled.iter().zip(&at.scaled).map(|(a, b)| a - b)));
        if change.is_ok_and(|change| !is_lost(change, most(&mut at.scaled.iter().copied()))) {
            return Ok((at.on_platform, at.motion));
        }
        return Err(SolveError::HardlyMoves { motion: at.resisted });
    }
    Ok((at.on_platform, at.motion))
}

/// Accelerations of platform and open joints together.
struct OpenAccelerations {
    on_platform: Vec<f64>,
    /// Of platform and open joints, turning told in lengths.
    scaled: Vec<f64>,
    motion: Motion<f64>,
    /// The motion of the platform that its inertia resists most, where open joints stand still in it.
    resisted: Option<[f64; 6]>,
}

impl OpenAccelerations {
    /// `M x + c = Rᵀ τ` on the freedoms of the platform and of the open joints together, M column by column, (8.34).
    fn of(
        model: &Model<f64>,
        pos: &Positions<f64>,
        t_r: &[f64],
        efforts: &[f64],
        conditions: &Conditions,
    ) -> Result<Self, SolveError> {
        let topology = model.topology();
        let independent = &topology.platform.independent;
        let n = independent.len();
        let open: Vec<CoordId> = open_joints(topology);
        let rate = |c: &CoordId| conditions.open.iter().find(|(o, _)| o == c).map_or(0.0, |(_, [rate, _])| *rate);
        let rates: Vec<f64> = open.iter().map(rate).collect();
        let moved = |t_r: &[f64], rates: &[f64], x: &[f64]| {
            let open = open.iter().zip(rates).zip(&x[n..]).map(|((c, rate), accel)| (*c, [*rate, *accel])).collect();
            Moved::from(model, pos, t_r, &x[..n], &Conditions { open, ..conditions.clone() })
        };
        // Turning is told in lengths, on both sides.
        let turns = independent.iter().map(|c| c.is_angle()).chain(open.iter().map(|c| !topology.coords[*c].slides));
        let units: Vec<f64> = turns.map(|turns| if turns { model.length().recip() } else { 1.0 }).collect();
        let rest = vec![0.0; units.len()];
        let (c, R) = moved(t_r, &rates, &rest)?.on_freedoms(model, conditions.friction);
        // Inertia is asked for at rest: what fast joints need would bury what a unit acceleration adds to it.
        let still = moved(&rest[..n], &rest[n..], &rest)?.on_freedoms(model, None).0;
        let row = |i: usize| if i < n { 1.0 } else { units[i] };
        let mut M = Matrix::zeros(units.len(), units.len());
        for (k, unit) in units.iter().enumerate() {
            let mut x = rest.clone();
            x[k] = *unit;
            let column = moved(&rest[..n], &rest[n..], &x)?.on_freedoms(model, None).0;
            (0..units.len()).for_each(|i| M[(i, k)] = row(i) * (column[i] - still[i]));
        }
        if !M.iter().all(|x| x.is_finite()) {
            return Err(SolveError::not_finite());
        }
        let f = svd(&M);
        let at = |place: usize| -> Option<[f64; 6]> {
            let x: Vec<f64> = units.iter().enumerate().map(|(i, unit)| f.v[(i, place)] * unit).collect();
            let most = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
            let pure = most(&x[n..]).abs() < 1e-6 * most(&x[..n]).abs();
            let still = moved(&rest[..n], &rest[n..], &rest).ok().filter(|_| pure)?;
            Some(Freedoms::of(model, &still.motion).up(&x[..n]).map(|v| v / most(&x[..n])))
        };
        if f.s[units.len() - 1] <= WEIGHTLESS * f.s[0] {
            return Err(if f.s[0] > RUNS_AWAY * all_inertia(model) {
                SolveError::HardlyMoves { motion: at(0) }
            } else {
                SolveError::NoInertia { motion: at(units.len() - 1) }
            });
        }
        let given = R.transposed().apply(efforts);
        let force = Matrix::from_fn(units.len(), 1, |i, _| row(i) * (given[i] - c[i]));
        let mut scaled = f.u.transpose() * force;
        scaled.iter_mut().zip(&f.s).for_each(|(x, s)| *x /= *s);
        let scaled: Vec<f64> = (&f.v * scaled).iter().copied().collect();
        let x: Vec<f64> = scaled.iter().zip(&units).map(|(x, unit)| x * unit + 0.0).collect();
        if !x.iter().all(|x| x.abs() < BEYOND) {
            return Err(SolveError::not_finite());
        }
        let motion = moved(t_r, &rates, &x)?.motion;
        Ok(Self { on_platform: x[..n].to_vec(), scaled, motion, resisted: at(0) })
    }
}

/// Inertia matrix and bias vector on the platform's independent components: one Newton-Euler per column, (8.34).
pub fn platform_model(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    conditions: &Conditions,
) -> Result<RobotModel, SolveError> {
    let n = model.topology().platform.independent.len();
    let effort = |t_r: &[f64], td_r: &[f64], friction: Option<Sign>| -> Result<Vec<f64>, SolveError> {
        let mut at = Moved::new(model, posture, t_r, td_r, conditions)?;
        reduce(model, friction, &mut at.pos, &mut at.motion, &mut at.efforts);
        let (freedoms, h) = (Freedoms::of(model, &at.motion), at.efforts.h.to_array());
        Ok((0..n).map(|k| freedoms.down(&h, k)).collect())
    };
    let rest = vec![0.0; n];
    let c = effort(t_r, &rest, conditions.friction)?;
    // Inertia is asked for at rest: what fast joints need would bury what a unit acceleration adds to it.
    let still = effort(&rest, &rest, None)?;
    let mut M = Dense::zeros(n, n);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        let column = effort(&rest, &unit, None)?;
        column.iter().zip(&still).enumerate().for_each(|(i, (h, c))| *M.at_mut(i, k) = h - c);
    }
    Ok(RobotModel { M, c })
}

/// The model on the active joints, `M q̈_a + c = τ`, for robots with as many drives as freedoms.
pub fn active_model(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    conditions: &Conditions,
) -> Result<RobotModel, SolveError> {
    let StateMatrices { jacobians, redundancy, .. } = matrices_at(model, posture, Some(t_r))?;
    if redundancy != Redundancy::None {
        return Err(SolveError::Redundant);
    }
    let (Some(J), Some(a_t)) = (jacobians.J, jacobians.a_t) else {
        return Err(SolveError::Singular { leg: None, kind: Kind::Type2 });
    };
    let RobotModel { M, c } = platform_model(model, posture, t_r, conditions)?;
    let c: Vec<f64> = M.apply(&a_t).iter().zip(&c).map(|(a, c)| a + c).collect();
    let T = J.transposed();
    Ok(RobotModel { M: T.times(&M.times(&J)), c: T.apply(&c) })
}
