//! Velocity and acceleration models from the matrices: J, J⁻¹, J_d and their biases, sections 7.3.2-7.3.3 and 7.4.2-7.4.3.

use super::error::SolveError;
use super::inverse::Posture;
use super::kind::{Kind, SINGULAR};
use super::matrices::{self, Matrices, assemble, plan_at};
use super::motion::{Motion, move_from, velocities};
use super::positions::Positions;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::{CoordId, Model};
use crate::scalar::Real;
use std::cmp::Ordering;

/// How the number of drives compares with the freedom of the platform, section 1.3.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Redundancy {
    /// As many drives as freedoms.
    None,
    /// More actuation wrenches than freedoms of the platform: the drives must agree.
    Actuation,
    /// More drives than actuation wrenches: the drives of a leg can move while the platform stands still.
    Kinematic,
}

/// Which rows and columns are eliminated, in order; a matrix that is singular at the posture has none.
#[derive(Clone, PartialEq, Debug)]
pub struct Orders {
    /// The class of the robot.
    pub redundancy: Redundancy,
    A_r: Option<PivotOrder>,
    B: Option<PivotOrder>,
    J_td: Option<PivotOrder>,
}

/// The models; what does not exist at the posture is missing.
#[derive(Clone, Debug)]
pub struct Jacobians<S: Real> {
    /// `t_r = J q̇_a`, (7.63), (7.65).
    pub J: Option<Dense<S>>,
    /// `q̇_a = J⁻¹ t_r`, (7.64), (7.66).
    pub J_inv: Option<Dense<S>>,
    /// `q̇_d = J_d q̇_a`.
    pub J_d: Option<Dense<S>>,
    /// `ṫ_r = J q̈_a + a_t`; erratum K10.
    pub a_t: Option<Vec<S>>,
    /// `q̈_a = J⁻¹ ṫ_r + a_q`; erratum K10.
    pub a_q: Option<Vec<S>>,
    /// `q̈_d = J_d q̈_a + a_d`.
    pub a_d: Option<Vec<S>>,
}

impl Orders {
    /// From the matrices at a posture.
    pub fn of(m: &Matrices<f64>) -> Self {
        let redundancy = if m.A_r.rows > m.A_r.cols {
            Redundancy::Actuation
        } else if m.B.cols > m.B.rows {
            Redundancy::Kinematic
        } else {
            Redundancy::None
        };
        let full = |a: &Dense<f64>| {
            let size = a.data.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            let order = PivotOrder::of(a, a.cols, SINGULAR);
            (a.rows == a.cols && order.cols.len() == a.cols && size.is_finite()).then_some(order)
        };
        let square = |a: &Dense<f64>, tall: bool| match (a.rows == a.cols, tall) {
            (true, _) => full(a),
            (false, true) => full(&a.transposed().times(a)),
            (false, false) => full(&a.times(&a.transposed())),
        };
        Self { redundancy, A_r: square(&m.A_r, true), B: square(&m.B, false), J_td: full(&m.J_td) }
    }
}

/// The solution of `M x = r` that is exact, of least error (tall) or shortest (wide).
fn pseudo_solve<S: Real>(M: &Dense<S>, order: &PivotOrder, R: &Dense<S>) -> Dense<S> {
    let T = M.transposed();
    match M.rows.cmp(&M.cols) {
        Ordering::Equal => M.inverse_times(order, R),
        Ordering::Greater => T.times(M).inverse_times(order, &T.times(R)),
        Ordering::Less => T.times(&M.times(&T).inverse_times(order, R)),
    }
}

fn column<S: Real>(x: &[S]) -> Dense<S> {
    Dense { rows: x.len(), cols: 1, data: x.to_vec() }
}

/// The models in any scalar.
pub fn jacobians<S: Real>(m: &Matrices<S>, orders: &Orders) -> Jacobians<S> {
    let minus = S::lit(-1.0);
    let by_A = |R: &Dense<S>| Some(pseudo_solve(&m.A_r, orders.A_r.as_ref()?, R));
    let by_B = |R: &Dense<S>| Some(pseudo_solve(&m.B, orders.B.as_ref()?, R));
    let J_inv = by_B(&m.A_r).map(|x| x.scaled(minus));
    let a_q = by_B(&column(&m.b)).map(|x| x.data);
    // With more wrenches than freedoms, J is the left inverse of J⁻¹ (7.65), and its bias goes with it: erratum K10.
    let (J, a_t) = if orders.redundancy == Redundancy::Actuation {
        let left = J_inv.as_ref().and_then(|j| {
            let order = PivotOrder::natural(j.cols);
            orders.A_r.as_ref()?;
            Some(pseudo_solve(j, &order, &Dense::identity(j.rows)))
        });
        let a_t = left.as_ref().zip(a_q.as_ref()).map(|(l, a)| l.apply(a).into_iter().map(|x| -x).collect());
        (left, a_t)
    } else {
        (by_A(&m.B).map(|x| x.scaled(minus)), by_A(&column(&m.b)).map(|x| x.data))
    };
    let passive = |R: &Dense<S>| Some(m.J_td.inverse_times(orders.J_td.as_ref()?, R));
    let J_d = J.as_ref().and_then(|j| passive(&m.J_t.times(j).minus(&m.J_ta)));
    let a_d = a_t.as_ref().and_then(|a: &Vec<S>| {
        let sum: Vec<S> = m.J_t.apply(a).iter().zip(&m.d_c).map(|(x, d)| *x + *d).collect();
        passive(&column(&sum)).map(|x| x.data)
    });
    Jacobians { J, J_inv, J_d, a_t, a_q, a_d }
}

/// All matrices of a posture by name, on `f64`.
#[derive(Clone, Debug)]
pub struct StateMatrices {
    /// What the closures give.
    pub matrices: Matrices<f64>,
    /// The models that follow.
    pub jacobians: Jacobians<f64>,
    /// The class of the robot.
    pub redundancy: Redundancy,
    /// Rows and columns of J_td: passive joints that the closures determine.
    pub passive: Vec<CoordId>,
}

/// Whether the drives hold the platform at a posture: it is no Type 2 singularity.
pub(crate) fn drives_hold(model: &Model<f64>, pos: &Positions<f64>) -> bool {
    let plan = plan_at(model, pos);
    if plan.passive.len() < model.topology().plan.matrices.passive.len() {
        return false;
    }
    let mut m = Matrices::new(model, &plan);
    assemble(model, &plan, pos, None, &mut m);
    let A_r = matrices::actuation_without_units(model, &plan, &m);
    let all_there = A_r.rows >= A_r.cols && A_r.data.iter().all(|x| x.is_finite());
    all_there && svd(&Matrix::from_fn(A_r.rows, A_r.cols, |i, j| A_r.at(i, j))).s.last().is_none_or(|s| *s > SINGULAR)
}

/// All matrices at a posture; with a platform twist in its independent components, the biases too.
pub fn matrices_at(model: &Model<f64>, posture: &Posture, t_r: Option<&[f64]>) -> Result<StateMatrices, SolveError> {
    let n = model.topology().platform.independent.len();
    if let Some(found) = t_r.map(<[f64]>::len).filter(|found| *found != n) {
        return Err(SolveError::WrongCount { what: "components of the twist", expected: n, found });
    }
    let planned = &model.topology().plan.matrices;
    let mut pos = posture.positions().clone();
    let fresh = if matrices::smallest_pivot(model, planned, &pos) > 1e-2 { None } else { Some(plan_at(model, &pos)) };
    let plan = fresh.as_ref().unwrap_or(planned);
    if plan.passive.len() < planned.passive.len() {
        return Err(SolveError::Singular { leg: None, kind: Kind::Lpjts });
    }
    let mut m = Matrices::new(model, plan);
    assemble(model, plan, &pos, None, &mut m);
    if let Some(t_r) = t_r {
        let mut motion = Motion::new(model);
        move_from(model, t_r, &vec![0.0; n], &mut pos, &mut motion)?;
        // Twists of the bodies, leg by leg.
        velocities(model, &mut pos, &mut motion);
        assemble(model, plan, &pos, Some(&motion), &mut m);
    }
    let orders = Orders::of(&m);
    let jacobians = jacobians(&m, &orders);
    Ok(StateMatrices { matrices: m, jacobians, redundancy: orders.redundancy, passive: plan.passive.clone() })
}
