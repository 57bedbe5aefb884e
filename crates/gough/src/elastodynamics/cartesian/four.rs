//! Four postures at once, one per SIMD lane: what maps and searches call.

use super::driver::{Cartesian, POOR_PIVOT};
use super::kernel::{CartesianData, assemble_cartesian, on_basis};
use super::numbers::CartesianModel;
use crate::dynamics::reached_lanes;
use crate::kinematics::geometry::solve_legs;
use crate::kinematics::{Positions, WorkingMode, pose_bodies};
use crate::linalg::small::Dense;
use crate::model::{LegId, Model};
use crate::scalar::{LANES, Lanes, Real, each_lane, lane, lanes};
use crate::spatial::Pose;
use std::f64::consts::TAU;

/// Memory for four postures; nothing is allocated afterwards.
#[derive(Clone, Debug)]
pub struct FourPlatforms {
    model: Model<Lanes>,
    cartesian: CartesianModel<Lanes>,
    data: CartesianData<Lanes>,
    pos: Positions<Lanes>,
}

impl FourPlatforms {
    /// Memory for a robot; nothing for robots whose legs have no closed form, or whose platform coordinates follow.
    pub fn new(c: &Cartesian<'_>) -> Option<Self> {
        let model = c.model();
        let topology = model.topology();
        let closed_form = |id: LegId| model.leg_blocks(id).iter().all(|b| !b.steps.is_empty());
        let plan = &topology.plan;
        let simple = topology.platform.dependent.is_empty() && !plan.careful && !plan.solve_platform;
        if !simple || !topology.legs.ids().all(closed_form) {
            return None;
        }
        let four: Model<Lanes> = model.cast();
        let cartesian = CartesianModel::new(&four, c.plan());
        Some(Self { data: cartesian.data(), pos: Positions::new(&four), model: four, cartesian })
    }

    /// Matrices of four poses; which of them have an answer: the others are to be asked one by one.
    pub fn take(&mut self, model: &Model<f64>, poses: &[Pose<f64>; LANES], mode: &WorkingMode) -> [bool; LANES] {
        let four = |f: &dyn Fn(&Pose<f64>) -> f64| lanes([f(&poses[0]), f(&poses[1]), f(&poses[2]), f(&poses[3])]);
        let X = &mut self.pos.X_WE;
        for i in 0..3 {
            X.p[i] = four(&|x| x.p[i]);
            (0..3).for_each(|j| X.R.0[(i, j)] = four(&|x| x.R.0[(i, j)]));
        }
        solve_legs(&self.model, mode.signs(), &mut self.pos);
        let mut good = reached_lanes(model, &self.pos);
        pose_bodies(&self.model, &mut self.pos);
        assemble_cartesian(&self.model, &self.cartesian, &self.pos, &mut self.data);
        let least = Lanes::lit(POOR_PIVOT * POOR_PIVOT);
        for p in self.data.limbs.iter().flat_map(|l| &l.pivots) {
            good = (*p * *p - least).where_nonneg(good, Lanes::lit(0.0));
        }
        let finite = |k: usize| self.data.K_F.iter().chain(&self.data.M).flatten().all(|x| lane(*x, k).is_finite());
        let good = each_lane(good);
        std::array::from_fn(|k| good[k] > 0.0 && finite(k))
    }

    /// Matrices of the postures taken.
    pub fn data(&self) -> &CartesianData<Lanes> {
        &self.data
    }

    /// Frequencies of the robots with rigid links, ascending, for platforms with three freedoms.
    pub fn rigid_hz(&self) -> Option<[[f64; 3]; LANES]> {
        if self.data.B_R.cols != 3 {
            return None;
        }
        let (K, M) = (on_basis(&self.data.K_R, &self.data.B_R), on_basis(&self.data.M, &self.data.B_R));
        let hz = three_eigenvalues(&K, &M).map(|x| x.sqrt() * Lanes::lit(1.0 / TAU));
        Some(std::array::from_fn(|k| hz.map(|x| lane(x, k))))
    }

    /// One of the postures taken, written into the memory of a single one.
    pub fn pick(&self, k: usize, out: &mut CartesianData<f64>) {
        let each = |A: &[[Lanes; 6]; 6]| A.map(|row| row.map(|x| lane(x, k)));
        (out.M, out.K_R, out.K_F) = (each(&self.data.M), each(&self.data.K_R), each(&self.data.K_F));
        for (to, from) in [(&mut out.B, &self.data.B), (&mut out.B_R, &self.data.B_R)] {
            to.data.iter_mut().zip(&from.data).for_each(|(x, y)| *x = lane(*y, k));
        }
    }
}

/// Eigenvalues of `K x = λ M x` for 3 × 3 matrices, ascending: rotations of Jacobi on `L⁻¹ K L⁻ᵀ`, as many for every matrix.
/// The cubic has a closed form, but equal roots come out of it with half of their digits.
pub fn three_eigenvalues<S: Real>(K: &Dense<S>, M: &Dense<S>) -> [S; 3] {
    let mut A = reduced(K, M);
    for _ in 0..SWEEPS {
        for (p, q, r) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
            rotate(&mut A, p, q, r);
        }
    }
    let (a, b) = ordered(A[0][0], A[1][1]);
    let (b, c) = ordered(b, A[2][2]);
    let (a, b) = ordered(a, b);
    [a, b, c]
}

/// Every sweep squares what is left beside the diagonal; the fifth has nothing to do.
const SWEEPS: usize = 5;

/// The turn in the plane of `p` and `q` that makes entry `pq` zero: `t = tan φ` the smaller root of `t² + t (a_qq - a_pp) / a_pq = 1`.
fn rotate<S: Real>(A: &mut [[S; 3]; 3], p: usize, q: usize, r: usize) {
    let (d, b) = (A[q][q] - A[p][p], A[p][q] + A[p][q]);
    let side = d.where_nonneg(S::one(), -S::one());
    let t = b * side / (d * side + (d * d + b * b).sqrt() + S::lit(f64::MIN_POSITIVE));
    let cos = S::one() / (S::one() + t * t).sqrt();
    let sin = t * cos;
    let shift = t * A[p][q];
    A[p][p] -= shift;
    A[q][q] += shift;
    (A[p][q], A[q][p]) = (S::zero(), S::zero());
    let (x, y) = (A[r][p], A[r][q]);
    (A[r][p], A[r][q]) = (cos * x - sin * y, sin * x + cos * y);
    (A[p][r], A[q][r]) = (A[r][p], A[r][q]);
}

/// The smaller first.
fn ordered<S: Real>(a: S, b: S) -> (S, S) {
    let rise = b - a;
    (rise.where_nonneg(a, b), rise.where_nonneg(b, a))
}

/// `L⁻¹ K L⁻ᵀ` with `M = L Lᵀ`.
fn reduced<S: Real>(K: &Dense<S>, M: &Dense<S>) -> [[S; 3]; 3] {
    let mut L = [[S::zero(); 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            let left = (0..j).fold(M.at(i, j), |s, k| s - L[i][k] * L[j][k]);
            L[i][j] = if i == j { left.sqrt() } else { left / L[j][j] };
        }
    }
    let solve = |x: [S; 3]| {
        let a = x[0] / L[0][0];
        let b = (x[1] - L[1][0] * a) / L[1][1];
        [a, b, (x[2] - L[2][0] * a - L[2][1] * b) / L[2][2]]
    };
    let half: [[S; 3]; 3] = std::array::from_fn(|j| solve(std::array::from_fn(|i| K.at(i, j))));
    std::array::from_fn(|i| solve(std::array::from_fn(|j| half[j][i])))
}
