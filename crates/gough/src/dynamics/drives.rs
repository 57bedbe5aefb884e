//! What the drives must give: `J⁻ᵀ τ = h` on the platform's independent components, (8.145)-(8.148), in any scalar. A drive
//! that the platform does not feel (kinematic redundancy) adds the freedom of its own joint: a component and an equation more.

use super::reduction::EffortData;
use crate::description::Coordinate;
use crate::kinematics::jacobians::drives_hold;
use crate::kinematics::motion::{Motion, move_bodies};
use crate::kinematics::{Kind, Positions, SINGULAR, SolveError};
use crate::linalg::RANK_TOLERANCE;
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::{Dense, PivotOrder, lu, lu_solve};
use crate::model::{Id, Model};
use crate::scalar::Real;

/// A pivot this small beside the first is rounding.
const ROUNDING: f64 = 1e-12;

/// The platform's freedoms: its independent components among all six, `t_p = Ψ_t t_r`.
#[derive(Clone, Copy, Debug)]
pub struct Freedoms<'a, S: Real> {
    independent: &'a [Coordinate],
    Psi_t: Option<&'a Dense<S>>,
}

impl<'a, S: Real> Freedoms<'a, S> {
    /// At the posture of a motion.
    pub fn of(model: &'a Model<S>, motion: &'a Motion<S>) -> Self {
        Self::new(model, motion.Psi_t.as_ref())
    }

    /// With Ψ_t, where it is not a choice of components.
    pub fn new(model: &'a Model<S>, Psi_t: Option<&'a Dense<S>>) -> Self {
        Self { independent: &model.topology().platform.independent, Psi_t }
    }

    /// Component `k` of `w_r = Ψ_tᵀ w`, (8.65).
    #[inline(always)]
    pub fn down(&self, w: &[S; 6], k: usize) -> S {
        match self.Psi_t {
            None => w[self.independent[k].index()],
            Some(Psi_t) => (0..6).fold(S::zero(), |sum, i| sum + Psi_t.at(i, k) * w[i]),
        }
    }

    /// Column `k` of Ψ_t.
    #[inline(always)]
    pub fn column(&self, k: usize) -> [S; 6] {
        let mut unit = [S::zero(); 6];
        match self.Psi_t {
            None => unit[self.independent[k].index()] = S::one(),
            Some(Psi_t) => unit = std::array::from_fn(|i| Psi_t.at(i, k)),
        }
        unit
    }

    /// `Ψ_t x`.
    pub fn up(&self, x: &[S]) -> [S; 6] {
        let mut all = [S::zero(); 6];
        for (k, x) in x.iter().enumerate() {
            all.iter_mut().zip(self.column(k)).for_each(|(sum, c)| *sum += c * *x);
        }
        all
    }
}

/// The equations of the drives, sized once for a model.
#[derive(Clone, Debug)]
pub struct Drives<S: Real> {
    /// Efforts of the drives, in the order of the active coordinates.
    pub efforts: Vec<S>,
    /// Active coordinates that the platform feels.
    pub felt: Vec<usize>,
    /// Active coordinates that it does not feel: each is a freedom of its own.
    open: Vec<usize>,
    /// What makes the platform's independent components comparable.
    scales: Vec<f64>,
    /// Rows of J⁻¹, one per drive: on the components of the platform, then on the open joints.
    rows: Vec<S>,
    h: Vec<S>,
    matrix: Vec<S>,
    solution: Vec<S>,
}

impl<S: Real> Drives<S> {
    /// Memory for a model.
    pub fn new(model: &Model<S>) -> Self {
        let topology = model.topology();
        let plan = &topology.plan.pivots_of_leg;
        let is_felt = |k: &usize| {
            let coord = &topology.coords[topology.active[*k]];
            let local = topology.legs[coord.leg].coords.local(topology.active[*k]);
            local.is_some_and(|c| plan.as_slice().get(coord.leg.index()).is_none_or(|p| p.place[c].is_some()))
        };
        let drives = topology.active.len();
        let (felt, open): (Vec<usize>, Vec<usize>) = (0..drives).partition(is_felt);
        let scale = |angle: bool| if angle { model.length().recip() } else { 1.0 };
        let scales: Vec<_> = topology.platform.independent.iter().map(|c| scale(c.is_angle())).collect();
        let n = scales.len() + open.len();
        let zeros = |n: usize| vec![S::zero(); n];
        Self {
            efforts: zeros(drives),
            rows: zeros(n * drives),
            h: zeros(n),
            matrix: zeros(n * n),
            solution: zeros(n),
            scales,
            felt,
            open,
        }
    }

    /// Freedoms: those of the platform, and open joints.
    fn freedoms(&self) -> usize {
        self.h.len()
    }

    /// The order to begin with: drives as the file has them, open joints last.
    pub fn first_order(&self) -> PivotOrder {
        let felt = self.felt.iter().take(self.scales.len());
        let rows = felt.chain(&self.open).copied().collect();
        PivotOrder { rows, ..PivotOrder::natural(self.freedoms()) }
    }

    /// What the wrenches in `from` do on the platform's freedoms, (8.65), lengths scaled, and efforts on the open joints.
    pub fn project(&mut self, from: &EffortData<S>, freedoms: &Freedoms<'_, S>) {
        let (n, all) = (self.scales.len(), self.freedoms());
        let h = from.h.to_array();
        for (k, scale) in self.scales.iter().enumerate() {
            self.h[k] = freedoms.down(&h, k) * S::lit(*scale);
        }
        for drive in &self.felt {
            let w = from.J_inv[*drive].to_array();
            for (k, scale) in self.scales.iter().enumerate() {
                self.rows[drive * all + k] = freedoms.down(&w, k) * S::lit(*scale);
            }
        }
        for (k, free) in from.unfelt.iter().enumerate() {
            self.h[n + k] = free.needs;
            for drive in &self.felt {
                self.rows[drive * all + n + k] = free.gives[*drive];
            }
            self.rows[free.drive * all + n + k] = S::one();
        }
    }

    /// More drives than freedoms.
    pub fn is_redundant(&self) -> bool {
        self.felt.len() > self.scales.len()
    }

    /// Fewer drives than freedoms: nothing can be solved for.
    pub fn are_too_few(&self) -> bool {
        self.felt.len() < self.scales.len()
    }

    /// Solve for the efforts in a pivot order of J⁻¹ (rows: drives; columns: freedoms); with more drives than freedoms the
    /// shortest list, `τ = J⁻¹ (J⁻ᵀ J⁻¹)⁻¹ h`, erratum D20, in the natural order.
    #[inline]
    pub fn solve(&mut self, order: &PivotOrder) {
        let n = self.freedoms();
        if self.is_redundant() {
            for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
                self.matrix[i * n + j] =
                    self.rows.chunks_exact(n).fold(S::zero(), |sum, row| row[i].mul_add(row[j], sum));
            }
            self.solution.copy_from_slice(&self.h);
        } else {
            for (i, &component) in order.cols.iter().enumerate() {
                for (j, &drive) in order.rows.iter().enumerate() {
                    self.matrix[i * n + j] = self.rows[drive * n + component];
                }
                self.solution[i] = self.h[component];
            }
        }
        lu(&mut self.matrix, n);
        lu_solve(&self.matrix, n, &mut self.solution);
        if self.is_redundant() {
            for (effort, row) in self.efforts.iter_mut().zip(self.rows.chunks_exact(n.max(1))) {
                *effort = row.iter().zip(&self.solution).fold(S::zero(), |sum, (a, x)| a.mul_add(*x, sum));
            }
        } else {
            for (&drive, x) in order.rows.iter().zip(&self.solution) {
                self.efforts[drive] = *x;
            }
        }
    }
}

impl Drives<f64> {
    /// J⁻¹ of the drives that the platform feels on its independent components, lengths scaled.
    pub fn J_inv(&self) -> Dense<f64> {
        let (n, all) = (self.scales.len(), self.freedoms());
        let row = |drive: &usize| &self.rows[drive * all..drive * all + n];
        Dense { rows: self.felt.len(), cols: n, data: self.felt.iter().flat_map(row).copied().collect() }
    }

    /// J⁻¹ with rows of length one, whose rank does not depend on what a drive counts in nor on a gear behind it. A row that is
    /// rounding beside the others is nothing. More drives than freedoms share by length, which counts then.
    fn directions(&self) -> Dense<f64> {
        let mut J_inv = self.J_inv();
        let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let n = J_inv.cols.max(1);
        let longest = J_inv.data.chunks_exact(n).map(length).fold(0.0, f64::max);
        if !self.is_redundant() {
            for row in J_inv.data.chunks_exact_mut(n) {
                let own = length(row);
                let scale = if own > RANK_TOLERANCE * longest { own.recip() } else { 0.0 };
                row.iter_mut().for_each(|x| *x *= scale);
            }
        }
        J_inv
    }

    /// What all freedoms need: the platform's components, lengths scaled, then the open joints.
    pub fn needs(&self) -> &[f64] {
        &self.h
    }

    /// J⁻¹ of all drives on all freedoms: the platform's components, lengths scaled, then the open joints.
    pub fn on_freedoms(&self) -> Dense<f64> {
        Dense { rows: self.efforts.len(), cols: self.freedoms(), data: self.rows.clone() }
    }

    /// A pivot order for the posture; `None` where the drives do not hold the platform. Open joints come last: each has a drive
    /// that nothing else feels.
    pub fn order(&self) -> Option<PivotOrder> {
        self.order_down_to(SINGULAR)
    }

    fn order_down_to(&self, least: f64) -> Option<PivotOrder> {
        let n = self.scales.len();
        let order = PivotOrder::of(&self.directions(), n, least);
        (order.cols.len() == n && self.rows.iter().all(|x| x.is_finite())).then(|| PivotOrder {
            rows: order.rows.iter().map(|i| self.felt[*i]).chain(self.open.iter().copied()).collect(),
            cols: order.cols.iter().copied().chain(n..self.freedoms()).collect(),
        })
    }

    /// A pivot order for the posture of a motion; where there is none, a refusal with the motion of the platform that no drive
    /// resists, the turning of the body included that carries a tool point.
    pub fn order_at(
        &self,
        model: &Model<f64>,
        pos: &Positions<f64>,
        motion: &Motion<f64>,
    ) -> Result<PivotOrder, SolveError> {
        // Near a Type 1 singularity all drives of a leg push one way: whether the platform is held is then asked of the wrenches
        // that the legs transmit.
        let near_type_1 = || self.order_down_to(ROUNDING).filter(|_| drives_hold(model, pos));
        self.order().or_else(near_type_1).ok_or_else(|| match self.lost_motion() {
            Some(t_r) => {
                let mut lost = Freedoms::of(model, motion).up(&t_r);
                if let Some(w) = turning_of_tool(model, &t_r, pos) {
                    lost[3..].copy_from_slice(&w);
                }
                SolveError::Uncontrolled { motion: lost, count: [self.efforts.len(), self.freedoms()] }
            }
            None => SolveError::Singular { leg: None, kind: Kind::Type2 },
        })
    }

    /// The motion of the platform, in its independent components, that the drives resist least: of largest component one.
    pub fn lost_motion(&self) -> Option<Vec<f64>> {
        let (m, n, J_inv) = (self.felt.len(), self.scales.len(), self.directions());
        if !self.rows.iter().all(|x| x.is_finite()) || n == 0 {
            return None;
        }
        let f = svd(&Matrix::from_fn(m.max(n), n, |i, j| if i < m { J_inv.at(i, j) } else { 0.0 }));
        let motion: Vec<f64> = (0..n).map(|j| f.v[(j, n - 1)] * self.scales[j]).collect();
        let largest = motion.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
        Some(motion.into_iter().map(|x| x / largest).collect())
    }

    /// Whether no pivot of the last solution was poor.
    pub fn is_well_founded(&self) -> bool {
        let n = self.freedoms();
        let size = if self.is_redundant() {
            self.rows.iter().map(|x| x * x).sum::<f64>()
        } else {
            self.rows.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
        };
        (0..n).all(|i| self.matrix[i * n + i].abs() * size < 1e4)
    }
}

/// Angular velocity of the body that carries the tool point, where the platform is one.
fn turning_of_tool(model: &Model<f64>, t_r: &[f64], pos: &Positions<f64>) -> Option<[f64; 3]> {
    let tool = model.topology().platform.tool?;
    let (mut pos, mut motion) = (pos.clone(), Motion::new(model));
    move_bodies(model, t_r, &vec![0.0; t_r.len()], &mut pos, &mut motion).ok()?;
    Some(motion.V_WB[tool].w.into())
}
