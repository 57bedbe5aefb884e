//! A posture looked at quickly, again and again, in memory that is already there: what maps and loci are made of.

use super::region::Region;
use super::singularity::{Kind, sigma};
use crate::kinematics::matrices::{Matrices, assemble, by_other_rows, plan_at, platform_order, smallest};
use crate::kinematics::{Positions, SolveError, WorkingMode, inverse_in, pose_bodies};
use crate::linalg::small::Dense;
use crate::model::{CoordPlace, MatrixPlan, Model};
use crate::spatial::Pose;
use std::sync::Arc;

/// A function of the posture that changes sign at a singularity: its kind, its block of legs, its value.
pub type SingularFunction = (Kind, Option<usize>, f64);

/// Memory for looking at postures of one working mode.
#[derive(Clone, Debug)]
pub struct Probe {
    model: Arc<Model<f64>>,
    mode: WorkingMode,
    pos: Positions<f64>,
    m: Matrices<f64>,
    /// Pivots in the plan of the model.
    planned: Vec<f64>,
    /// Matrices in a plan of the posture's own, where that of the model is poor.
    fresh: Option<Matrices<f64>>,
}

impl Probe {
    /// Memory for a robot and a working mode.
    pub fn new(model: &Model<f64>, mode: &WorkingMode) -> Self {
        let m = Matrices::new(model, &model.topology().plan.matrices);
        let (pos, model) = (Positions::new(model), Arc::new(model.clone()));
        Self { model, mode: mode.clone(), pos, m, planned: Vec::new(), fresh: None }
    }

    /// The model, which may be shared.
    pub fn model(&self) -> &Arc<Model<f64>> {
        &self.model
    }

    fn plan(&self) -> &MatrixPlan {
        &self.model.topology().plan.matrices
    }

    /// Whether the pose can be reached; nothing else is computed.
    pub fn reach(&mut self, pose: &Pose<f64>) -> Result<(), SolveError> {
        inverse_in(&self.model, pose, &self.mode, &mut self.pos).map(|_| ())
    }

    /// Take the pose and compute its matrices.
    pub fn take(&mut self, pose: &Pose<f64>) -> Result<(), SolveError> {
        self.reach(pose)?;
        pose_bodies(&self.model, &mut self.pos);
        let planned = &self.model.topology().plan.matrices;
        assemble(&self.model, planned, &self.pos, None, &mut self.m);
        self.fresh = None;
        self.planned.clone_from(&self.m.pivots);
        let passive: usize = planned.blocks.iter().map(|b| b.passive).sum();
        if smallest(&self.m.pivots[passive..]) < 0.1 {
            let order = platform_order(&self.model, &self.m);
            if order.rows.len() == planned.platform.rows.len() {
                by_other_rows(&self.model, planned, &order, &mut self.m);
            }
        }
        if smallest(&self.m.pivots[..passive]) < 1e-4 {
            let plan = plan_at(&self.model, &self.pos);
            let mut m = Matrices::new(&self.model, &plan);
            assemble(&self.model, &plan, &self.pos, None, &mut m);
            let same = m.A_r.rows == self.m.A_r.rows && m.J_td.rows == self.m.J_td.rows;
            self.fresh = same.then_some(m);
        }
        Ok(())
    }

    /// The posture taken.
    pub fn positions(&self) -> &Positions<f64> {
        &self.pos
    }

    /// The matrices of the posture taken.
    pub fn matrices(&self) -> &Matrices<f64> {
        self.fresh.as_ref().unwrap_or(&self.m)
    }

    /// Functions of the posture taken that change sign at singularities, with their kind and block of legs. Type 1 is not
    /// among them: it bounds the working mode, and B keeps its sign inside.
    pub fn signs(&self, out: &mut Vec<SingularFunction>) {
        out.clear();
        let (m, plan) = (&self.m, self.plan());
        let (mut row, mut pivot) = (0, 0);
        let mut orientation = 1.0;
        for (b, block) in plan.blocks.iter().enumerate() {
            let columns = block.place.iter().filter_map(|p| match p {
                CoordPlace::Active(c) => Some(*c),
                _ => None,
            });
            if columns.clone().count() == block.active {
                let B = |i: usize, k: usize| columns.clone().nth(k).map_or(0.0, |c| m.B.at(row + i, c));
                orientation *= determinant_of(block.active, B).signum();
            }
            let passive = &self.planned[pivot..pivot + block.passive];
            if !passive.is_empty() {
                out.push((Kind::Lpjts, Some(b), passive.iter().product()));
            }
            row += block.active;
            pivot += block.passive;
        }
        let platform = &self.planned[pivot..];
        if !platform.is_empty() {
            out.push((Kind::Constraint, None, platform.iter().product()));
        }
        if m.A_r.rows == m.A_r.cols {
            // The sign of det J⁻¹: unlike that of det A_r it does not depend on how wrenches are oriented.
            out.push((Kind::Type2, None, determinant(&m.A_r) * orientation));
        }
    }
}

impl Probe {
    /// The signs as bits, first function lowest.
    pub fn sign_bits(&self) -> u64 {
        let mut list = Vec::with_capacity(16);
        self.signs(&mut list);
        list.iter().take(63).enumerate().fold(0, |bits, (k, s)| bits | u64::from(s.2 > 0.0) << k)
    }

    /// Whether a singularity lies between two points of a region where these signs differ. A function can also change sign
    /// because the rows that the plan picked depend on each other there although others do not: that is no singularity.
    pub fn separates(&mut self, region: &Region, a: &[f64], b: &[f64], differ: u64) -> bool {
        (0..63).filter(|k| differ >> k & 1 == 1).any(|k| self.root(region, a, b, k, 1e-7) != SignChange::Regular)
    }

    /// Where function `k` vanishes between two points of a region at which its signs differ, to a share of the way.
    pub fn root(&mut self, region: &Region, a: &[f64], b: &[f64], k: usize, share: f64) -> SignChange {
        let mut list = Vec::with_capacity(16);
        let mut at = |probe: &mut Self, s: f64| -> Option<(Kind, f64)> {
            let point: Vec<f64> = a.iter().zip(b).map(|(x, y)| x + (y - x) * s).collect();
            probe.take(&region.pose(&point)).ok()?;
            probe.signs(&mut list);
            list.get(k).map(|f| (f.0, f.2)).filter(|f| f.1.is_finite())
        };
        let Some((kind, first)) = at(self, 0.0) else { return SignChange::Blocked };
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > share {
            let middle = 0.5 * (low + high);
            let Some((_, f)) = at(self, middle) else { return SignChange::Blocked };
            *(if (f > 0.0) == (first > 0.0) { &mut low } else { &mut high }) = middle;
        }
        let singular = at(self, low).and_then(|_| sigma(&self.model, &self.pos, kind)).is_some_and(|s| s < 1e-4);
        if singular { SignChange::At(low) } else { SignChange::Regular }
    }
}

/// What lies between two points at which a function has different signs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SignChange {
    /// A singularity, at this share of the way.
    At(f64),
    /// Nothing: the rows that the plan picked depend on each other there.
    Regular,
    /// The way leaves the workspace.
    Blocked,
}

/// Determinant by elimination with row exchanges.
pub fn determinant(a: &Dense<f64>) -> f64 {
    determinant_of(a.rows, |i, j| a.at(i, j))
}

/// Determinant of the matrix with these entries, by elimination with row exchanges; nothing is allocated up to 6 × 6.
fn determinant_of(n: usize, a: impl Fn(usize, usize) -> f64) -> f64 {
    if n == 1 {
        return a(0, 0);
    }
    if n == 2 {
        return a(0, 0) * a(1, 1) - a(0, 1) * a(1, 0);
    }
    if n > 6 {
        return nalgebra::DMatrix::from_fn(n, n, a).determinant();
    }
    // A unit matrix fills what is left of 6 × 6.
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    nalgebra::SMatrix::<f64, 6, 6>::from_fn(|i, j| if i < n && j < n { a(i, j) } else { unit(i, j) }).determinant()
}
