//! Where the inverse dynamics degenerates: `A τ = h` with a matrix that has lost rank, (9.4)-(9.11).
//!
//! `A = J⁻ᵀ` and `h = M ẍ + c` come leg by leg and need no inverse of `A_r`, so that both are regular at a Type 2
//! singularity. There some motion `t_s` of the platform is felt by no drive, `t_sᵀ A = 0`, and efforts exist only when
//! `t_sᵀ h = 0`: the criterion. When it holds along a motion that crosses, the efforts have a limit, which the next order in
//! time gives: `t_sᵀ (Ȧ τ - ḣ) = 0`, with `Ȧ` and `ḣ` from dual numbers along the motion.

use crate::dynamics::derivatives::{EliminationOrders, reduced};
use crate::dynamics::drives::{Drives, Freedoms};
use crate::dynamics::newton_euler::Sign;
use crate::dynamics::reduction::EffortData;
use crate::kinematics::{Posture, SolveError};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::Dual;
use crate::spatial::{Accel, Pose, Rotation, Vec3, Wrench, hat, vec3};
use crate::trajectory::Desired;

/// A singular value below this share of the largest is zero.
const ZERO: f64 = 1e-6;

/// The equations of the drives at an instant of a motion, and how they change: `A τ = h` on the platform's independent
/// components, angles divided by the robot's length.
#[derive(Clone, Debug)]
pub struct DriveBalance {
    /// What unit efforts give to the platform, one column per drive, and its rate.
    A: [Matrix; 2],
    /// What the platform needs, and its rate.
    h: [Vec<f64>; 2],
    /// What turns scaled components into those of a twist.
    scales: Vec<f64>,
    /// Drives that the platform feels, among all.
    felt: Vec<usize>,
    drives: usize,
}

/// What a Type 2 singularity does to the efforts of a motion through it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Degeneracy {
    /// Motions of the platform that no drive feels, in its independent components; angular rates count at the length scale
    /// of the robot, and each has length one.
    pub lost: Vec<Vec<f64>>,
    /// `t_sᵀ (M ẍ + c)` for each of them, in newtons: zero where efforts stay finite, (9.11).
    pub criterion: Vec<f64>,
    /// Efforts grow as this, one number per drive, over the time from the crossing: zero where they stay finite.
    pub growth: Vec<f64>,
    /// Efforts at the crossing itself, were the criterion met; none when the motion only touches the singularity.
    pub limit: Option<Vec<f64>>,
}

impl Degeneracy {
    /// Whether efforts a microsecond from the crossing differ by less than a thousandth from their limit.
    pub fn is_bounded(&self) -> bool {
        let size = |list: &[f64]| list.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        self.limit.as_ref().is_some_and(|limit| size(&self.growth) < 1e-9 * (1.0 + size(limit)))
    }
}

impl DriveBalance {
    /// At a posture, for a motion with this twist, acceleration and jerk; with friction if asked, and a load on the platform.
    pub fn along(
        model: &Model<f64>,
        posture: &Posture,
        motion: &Desired,
        jerk: &Accel<f64>,
        friction: Option<Sign>,
        load: Wrench<f64>,
    ) -> Result<Self, SolveError> {
        let dual = model.cast::<Dual>();
        let orders = EliminationOrders::of(model, posture.positions());
        let mut pos = crate::kinematics::Positions::seeded(&dual, posture.positions());
        pos.X_WE = moving(posture.pose(), motion);
        let [t_r, td_r] = components(model, motion, jerk);
        let mut efforts = EffortData::new(&dual);
        efforts.load = load.map(&mut |x| Dual::from(x));
        let moved = reduced(&dual, posture.mode(), &orders, friction, [&t_r, &td_r], &mut pos, &mut efforts);
        let freedoms = Freedoms::of(&dual, &moved);
        let felt = Drives::new(&dual).felt;
        let length = model.length();
        let independent = &model.topology().platform.independent;
        let scales: Vec<f64> = independent.iter().map(|c| if c.is_angle() { length.recip() } else { 1.0 }).collect();
        let n = scales.len();
        let down = |w: &[Dual; 6], k: usize| freedoms.down(w, k) * Dual::from(scales[k]);
        let needs = efforts.h.to_array();
        let h: Vec<Dual> = (0..n).map(|k| down(&needs, k)).collect();
        let gives: Vec<[Dual; 6]> = felt.iter().map(|k| efforts.J_inv[*k].to_array()).collect();
        let part = |of: fn(Dual) -> f64| Matrix::from_fn(n, felt.len(), |i, j| of(down(&gives[j], i)));
        let found = Self {
            A: [part(|x| x.re), part(|x| x.eps)],
            h: [h.iter().map(|x| x.re).collect(), h.iter().map(|x| x.eps).collect()],
            drives: model.topology().active.len(),
            scales,
            felt,
        };
        if found.is_finite() { Ok(found) } else { Err(SolveError::not_finite()) }
    }

    /// From matrices and vectors and their rates, rows scaled by `scales`; every drive is felt.
    pub(super) fn of(A: &[Vec<Dual>], h: &[Dual], scales: Vec<f64>) -> Result<Self, SolveError> {
        let (n, m) = (A.len(), A[0].len());
        let part = |of: fn(Dual) -> f64| Matrix::from_fn(n, m, |i, j| of(A[i][j]) * scales[i]);
        let parts = |of: fn(Dual) -> f64| h.iter().zip(&scales).map(|(x, s)| of(*x) * s).collect::<Vec<f64>>();
        let found = Self {
            A: [part(|x| x.re), part(|x| x.eps)],
            h: [parts(|x| x.re), parts(|x| x.eps)],
            scales,
            felt: (0..m).collect(),
            drives: m,
        };
        if found.is_finite() { Ok(found) } else { Err(SolveError::not_finite()) }
    }

    fn is_finite(&self) -> bool {
        let n = self.scales.len();
        let finite = |A: &Matrix| (0..n).all(|i| (0..self.felt.len()).all(|j| A[(i, j)].is_finite()));
        self.A.iter().all(finite) && self.h.iter().flatten().all(|x| x.is_finite())
    }

    /// What the singularity does to the efforts.
    pub fn degeneracy(&self) -> Degeneracy {
        let (n, m) = (self.scales.len(), self.felt.len());
        let f = svd(&self.A[0]);
        let rank = f.s.iter().filter(|s| **s > ZERO * f.s[0]).count().min(n - 1);
        // Motions that no drive feels, at least one, as columns; and efforts that the platform does not feel.
        let N = Matrix::from_fn(n, n - rank, |i, j| f.u[(i, rank + j)]);
        let U = Matrix::from_fn(m, m - rank, |i, j| f.v[(i, rank + j)]);
        let k = N.ncols();
        let along = |v: &[f64]| (0..k).map(|j| (0..n).map(|i| N[(i, j)] * v[i]).sum()).collect::<Vec<f64>>();
        let criterion = along(&self.h[0]);
        let NA = N.transpose() * &self.A[1];
        let lost = (0..k).map(|j| (0..n).map(|i| N[(i, j)] * self.scales[i]).collect()).collect();
        // U (Nᵀ Ȧ U)⁻¹ t_sᵀ h, over the time.
        let rate = &NA * &U;
        let inverse = svd(&rate);
        let touches = inverse.s.last().is_none_or(|s| !(*s > 1e-9 * size(&self.A[1])));
        let share = inverse.least_squares(&criterion);
        let growth = (0..m).map(|i| (0..U.ncols()).map(|j| U[(i, j)] * share[j]).sum()).collect::<Vec<f64>>();
        let limit = (!touches).then(|| {
            // A τ = h along the singular vectors that are felt, then the next order along those that are not.
            let felt = (0..rank).map(|j| {
                let needed = (0..n).map(|i| f.u[(i, j)] * self.h[0][i]).sum::<f64>();
                ((0..m).map(|i| f.v[(i, j)]).collect(), needed / f.s[j])
            });
            let next = along(&self.h[1]);
            let later = (0..k).map(|i| ((0..m).map(|j| NA[(i, j)]).collect(), next[i]));
            self.spread(&least_squares(felt.chain(later).collect(), m))
        });
        Degeneracy { lost, criterion, growth: self.spread(&growth), limit }
    }

    /// Efforts of the drives that are felt, among all.
    fn spread(&self, felt: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.drives];
        self.felt.iter().zip(felt).for_each(|(k, x)| all[*k] = *x);
        all
    }
}

fn size(A: &Matrix) -> f64 {
    (0..A.ncols()).flat_map(|j| (0..A.nrows()).map(move |i| A[(i, j)].abs())).fold(f64::MIN_POSITIVE, f64::max)
}

/// The solution of rows of length one.
fn least_squares(rows: Vec<(Vec<f64>, f64)>, m: usize) -> Vec<f64> {
    let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let rows: Vec<(Vec<f64>, f64)> = rows
        .into_iter()
        .map(|(row, b)| {
            let l = length(&row);
            (row.iter().map(|x| x / l).collect(), b / l)
        })
        .collect();
    let M = Matrix::from_fn(rows.len(), m, |i, j| rows[i].0[j]);
    svd(&M).least_squares(&rows.iter().map(|r| r.1).collect::<Vec<_>>())
}

/// The pose with its rate.
fn moving(pose: &Pose<f64>, motion: &Desired) -> Pose<Dual> {
    let turned = hat(motion.V.w) * pose.R.0;
    let at = |k: usize| Dual::new(pose.p[k], motion.V.v[k]);
    Pose { R: Rotation(pose.R.0.zip_map(&turned, Dual::new)), p: vec3(at(0), at(1), at(2)) }
}

/// Twist with its rate and acceleration with its rate, in the platform's independent components.
fn components(model: &Model<f64>, motion: &Desired, jerk: &Accel<f64>) -> [Vec<Dual>; 2] {
    let six = |v: Vec3<f64>, w: Vec3<f64>| [v.x, v.y, v.z, w.x, w.y, w.z];
    let (V, A) = (six(motion.V.v, motion.V.w), six(motion.A.a, motion.A.alpha));
    let J = six(jerk.a, jerk.alpha);
    let of = |a: [f64; 6], b: [f64; 6]| {
        let independent = &model.topology().platform.independent;
        independent.iter().map(|c| Dual::new(a[c.index()], b[c.index()])).collect::<Vec<_>>()
    };
    [of(V, A), of(A, J)]
}

/// The criterion as a function of the acceleration at a posture and a twist: `G ẍ + c`, one row per motion that no drive
/// feels, which are given in the platform's independent components.
pub fn criterion(
    model: &Model<f64>,
    posture: &Posture,
    t_r: &[f64],
    lost: &[Vec<f64>],
    friction: Option<Sign>,
) -> Result<(Dense<f64>, Vec<f64>), SolveError> {
    let conditions = crate::dynamics::Conditions { friction, ..Default::default() };
    let found = crate::dynamics::platform_model(model, posture, t_r, &conditions)?;
    let N = Dense { rows: lost.len(), cols: t_r.len(), data: lost.concat() };
    Ok((N.times(&found.M), N.apply(&found.c)))
}

/// Motions of the platform that no drive feels at a posture, as in [`Degeneracy::lost`]; at least the one felt least.
pub fn lost_motions(model: &Model<f64>, posture: &Posture) -> Result<Vec<Vec<f64>>, SolveError> {
    let rest = Desired { pose: *posture.pose(), V: crate::spatial::Twist::zero(), A: Accel::zero() };
    let balance = DriveBalance::along(model, posture, &rest, &Accel::zero(), None, Wrench::zero())?;
    Ok(balance.degeneracy().lost)
}
