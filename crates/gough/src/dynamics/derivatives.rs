//! Derivatives of inverse and direct dynamics with respect to the state, the efforts and the named parameters of the file, by
//! dual numbers.

use super::conditions::Conditions;
use super::drives::{Drives, Freedoms};
use super::newton_euler::Sign;
use super::reduction::{EffortData, reduce};
use crate::kinematics::geometry::close;
use crate::kinematics::matrices::{Matrices, assemble, plan_at, smallest_pivot};
use crate::kinematics::motion::leg_pivots_at;
use crate::kinematics::motion::{Motion, accelerations, scatter, velocities};
use crate::kinematics::{Positions, Posture, SolveError, WorkingMode};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::{LegPivots, MatrixPlan, Model, PerLeg};
use crate::scalar::{Dual, Real};
use crate::spatial::{Accel, Pose, Rotation, Twist, Vec3, hat, vec3};

/// Columns of derivatives: one row per drive, or per component of the platform's acceleration.
#[derive(Clone, Debug)]
pub struct Derivatives {
    /// By the pose: a shift along, or a rotation about, each independent component, in world axes.
    pub pose: Dense<f64>,
    /// By the twist, in the same components.
    pub twist: Dense<f64>,
    /// By the acceleration (inverse dynamics) or by the efforts of the drives (direct dynamics).
    pub given: Dense<f64>,
    /// By each free parameter of the file, in its order; what it does at a pose that stays.
    pub parameters: Dense<f64>,
}

/// What decides the orders of elimination, found once on `f64`.
pub(crate) struct EliminationOrders {
    pivots: PerLeg<LegPivots>,
    matrices: MatrixPlan,
}

impl EliminationOrders {
    /// Those that suit a posture.
    pub(crate) fn of(model: &Model<f64>, pos: &Positions<f64>) -> Self {
        let planned = &model.topology().plan.matrices;
        let good = smallest_pivot(model, planned, pos) > 1e-2;
        let matrices = if good { planned.clone() } else { plan_at(model, pos) };
        Self { pivots: leg_pivots_at(model, pos), matrices }
    }
}

/// `h` and `J_inv` in any scalar for a pose in `pos`, a twist and an acceleration: geometry, motion and reduction.
pub(crate) fn reduced<S: Real>(
    model: &Model<S>,
    mode: &WorkingMode,
    orders: &EliminationOrders,
    friction: Option<Sign>,
    [t_r, td_r]: [&[S]; 2],
    pos: &mut Positions<S>,
    out: &mut EffortData<S>,
) -> Motion<S> {
    close(model, mode, 1, pos);
    let mut motion = Motion::new(model);
    motion.factor_in(orders.pivots.clone());
    let platform = &model.topology().platform;
    if platform.dependent.is_empty() {
        (motion.V_WE, motion.A_WE) = (scatter(model, t_r), as_accel(scatter(model, td_r)));
        velocities(model, pos, &mut motion);
    } else {
        let six = |x: &[S]| Twist::from_array(std::array::from_fn(|i| x[i]));
        let mut m = Matrices::new(model, &orders.matrices);
        assemble(model, &orders.matrices, pos, None, &mut m);
        motion.V_WE = six(&m.Psi_t.apply(t_r));
        velocities(model, pos, &mut motion);
        assemble(model, &orders.matrices, pos, Some(&motion), &mut m);
        motion.A_WE = as_accel(six(&m.Psi_t.apply(td_r)) + six(&m.Psi_t_dot_t_r));
        motion.Psi_t = Some(m.Psi_t);
    }
    accelerations(model, pos, &mut motion);
    reduce(model, friction, pos, &mut motion, out);
    motion
}

fn as_accel<S: Real>(A: Twist<S>) -> Accel<S> {
    Accel { a: A.v, alpha: A.w }
}

/// A state that is asked for derivatives.
struct DerivativeQuestion<'a> {
    model: &'a Model<f64>,
    posture: &'a Posture,
    conditions: &'a Conditions,
    orders: EliminationOrders,
    t_r: &'a [f64],
    td_r: &'a [f64],
}

/// What is differentiated.
type Differentiated<'a> = &'a dyn Fn(&Model<Dual>, &Motion<Dual>, &EffortData<Dual>) -> Vec<Dual>;

/// Which number moves.
#[derive(Clone, Copy)]
enum Varied {
    Pose(usize),
    Twist(usize),
    Acceleration(usize),
    Parameter(usize),
}

impl DerivativeQuestion<'_> {
    /// `f` of the efforts, with the number that is asked for moving at unit speed.
    fn differentiate(&self, along: Varied, f: Differentiated<'_>) -> Vec<f64> {
        let moving = |k: usize, wanted: Option<usize>, x: f64| Dual::new(x, f64::from(u8::from(wanted == Some(k))));
        let of = |list: &[f64], wanted: Option<usize>| -> Vec<Dual> {
            list.iter().enumerate().map(|(k, x)| moving(k, wanted, *x)).collect()
        };
        let [pose, twist, acceleration, parameter] = match along {
            Varied::Pose(k) => [Some(k), None, None, None],
            Varied::Twist(k) => [None, Some(k), None, None],
            Varied::Acceleration(k) => [None, None, Some(k), None],
            Varied::Parameter(k) => [None, None, None, Some(k)],
        };
        let model = self.model.with_parameters(&of(&self.model.numbers().parameters, parameter));
        let mut pos = Positions::seeded(&model, self.posture.positions());
        if let Some(k) = pose {
            pos.X_WE = displaced(self.posture.pose(), self.model.topology().platform.independent[k].index());
        }
        let mut efforts = EffortData::new(&model);
        self.conditions.put(&mut efforts);
        let motion = reduced(
            &model,
            self.posture.mode(),
            &self.orders,
            self.conditions.friction,
            [&of(self.t_r, twist), &of(self.td_r, acceleration)],
            &mut pos,
            &mut efforts,
        );
        f(&model, &motion, &efforts).into_iter().map(|x| x.eps).collect()
    }

    fn columns(&self, count: usize, rows: usize, along: impl Fn(usize) -> Varied, f: Differentiated<'_>) -> Dense<f64> {
        let mut out = Dense::zeros(rows, count);
        for k in 0..count {
            let column = self.differentiate(along(k), f);
            column.into_iter().enumerate().for_each(|(i, x)| *out.at_mut(i, k) = x);
        }
        out
    }
}

/// A pose moving along, or turning about, a component of its twist, at unit speed.
fn displaced(pose: &Pose<f64>, component: usize) -> Pose<Dual> {
    let moving = |k: usize| if k == component { 1.0 } else { 0.0 };
    let at = |k: usize| Dual::new(pose.p[k], moving(k));
    let w: Vec3<f64> = vec3(moving(3), moving(4), moving(5));
    let turned = hat(w) * pose.R.0;
    Pose { R: Rotation(pose.R.0.zip_map(&turned, Dual::new)), p: vec3(at(0), at(1), at(2)) }
}

/// Derivatives of the efforts of the drives; with friction where the conditions have it, the shortest list where drives are
/// redundant.
pub fn inverse_derivatives(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    td_r: &[f64],
    conditions: &Conditions,
) -> Result<Derivatives, SolveError> {
    let mut at = super::inverse::Moved::new(model, posture, t_r, td_r, conditions)?;
    let order = at.order(model, conditions.friction)?;
    let orders = EliminationOrders::of(model, &at.pos);
    let question = DerivativeQuestion { model, posture, conditions, orders, t_r, td_r };
    let efforts = |model: &Model<Dual>, motion: &Motion<Dual>, from: &EffortData<Dual>| {
        let mut drives = Drives::new(model);
        drives.project(from, &Freedoms::of(model, motion));
        drives.solve(&order);
        drives.efforts
    };
    let (n, rows) = (t_r.len(), model.topology().active.len());
    Ok(Derivatives {
        pose: question.columns(n, rows, Varied::Pose, &efforts),
        twist: question.columns(n, rows, Varied::Twist, &efforts),
        given: question.columns(n, rows, Varied::Acceleration, &efforts),
        parameters: question.columns(model.parameters().len(), rows, Varied::Parameter, &efforts),
    })
}

/// Derivatives of the platform's acceleration under efforts: `M dṫ_r = J_invᵀ dτ - d(h - J_invᵀ τ)`.
pub fn direct_derivatives(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    efforts: &[f64],
    conditions: &Conditions,
) -> Result<Derivatives, SolveError> {
    if !model.topology().plan.given.is_empty() {
        return Err(SolveError::OpenJoints);
    }
    let (td_r, _) = super::direct_dynamics_under(model, posture, t_r, efforts, conditions)?;
    let at = super::inverse::Moved::new(model, posture, t_r, &td_r, conditions)?;
    let orders = EliminationOrders::of(model, &at.pos);
    let question = DerivativeQuestion { model, posture, conditions, orders, t_r, td_r: &td_r };
    let n = t_r.len();
    let rest = |model: &Model<Dual>, motion: &Motion<Dual>, from: &EffortData<Dual>| {
        let freedoms = Freedoms::of(model, motion);
        let h = from.h.to_array();
        let driven = |k: usize| {
            from.J_inv
                .iter()
                .zip(efforts)
                .fold(Dual::from(0.0), |sum, (row, tau)| sum + freedoms.down(&row.to_array(), k) * Dual::from(*tau))
        };
        (0..n).map(|k| freedoms.down(&h, k) - driven(k)).collect::<Vec<Dual>>()
    };
    let M = question.columns(n, n, Varied::Acceleration, &rest);
    let factors = svd(&Matrix::from_fn(n, n, |i, j| M.at(i, j)));
    if factors.rank() < n {
        return Err(SolveError::NoInertia { motion: None });
    }
    let solved = |right: Dense<f64>, sign: f64| {
        let mut out = Dense::zeros(n, right.cols);
        for k in 0..right.cols {
            let column: Vec<f64> = (0..n).map(|i| sign * right.at(i, k)).collect();
            factors.least_squares(&column).into_iter().enumerate().for_each(|(i, x)| *out.at_mut(i, k) = x);
        }
        out
    };
    let mut at = at;
    reduce(model, None, &mut at.pos, &mut at.motion, &mut at.efforts);
    let freedoms = Freedoms::of(model, &at.motion);
    let mut J_T = Dense::zeros(n, efforts.len());
    for (k, row) in at.efforts.J_inv.iter().enumerate() {
        (0..n).for_each(|i| *J_T.at_mut(i, k) = freedoms.down(&row.to_array(), i));
    }
    Ok(Derivatives {
        pose: solved(question.columns(n, n, Varied::Pose, &rest), -1.0),
        twist: solved(question.columns(n, n, Varied::Twist, &rest), -1.0),
        given: solved(J_T, 1.0),
        parameters: solved(question.columns(model.parameters().len(), n, Varied::Parameter, &rest), -1.0),
    })
}
