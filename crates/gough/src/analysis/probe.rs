//! A posture looked at quickly, again and again, in memory that is already there: what maps and loci are made of.

use super::singularity::Kind;
use crate::kinematics::matrices::{Matrices, assemble, plan_at, smallest};
use crate::kinematics::{Positions, SolveError, WorkingMode, inverse_in, pose_bodies};
use crate::linalg::small::Dense;
use crate::model::{CoordPlace, MatrixPlan, Model};
use crate::spatial::Pose;

/// Memory for looking at postures of one working mode.
#[derive(Clone, Debug)]
pub struct Probe<'m> {
    model: &'m Model<f64>,
    mode: &'m WorkingMode,
    pos: Positions<f64>,
    m: Matrices<f64>,
    /// Matrices in a plan of the posture's own, where that of the model is poor.
    fresh: Option<Matrices<f64>>,
}

impl<'m> Probe<'m> {
    /// Memory for a robot and a working mode.
    pub fn new(model: &'m Model<f64>, mode: &'m WorkingMode) -> Self {
        let m = Matrices::new(model, &model.topology().plan.matrices);
        Self { model, mode, pos: Positions::new(model), m, fresh: None }
    }

    /// The model.
    pub fn model(&self) -> &'m Model<f64> {
        self.model
    }

    fn plan(&self) -> &'m MatrixPlan {
        &self.model.topology().plan.matrices
    }

    /// Whether the pose can be reached; nothing else is computed.
    pub fn reach(&mut self, pose: &Pose<f64>) -> Result<(), SolveError> {
        inverse_in(self.model, pose, self.mode, &mut self.pos).map(|_| ())
    }

    /// Take the pose and compute its matrices.
    pub fn take(&mut self, pose: &Pose<f64>) -> Result<(), SolveError> {
        self.reach(pose)?;
        pose_bodies(self.model, &mut self.pos);
        assemble(self.model, self.plan(), &self.pos, None, &mut self.m);
        self.fresh = None;
        if smallest(&self.m.pivots) < 1e-4 {
            let plan = plan_at(self.model, &self.pos);
            let mut m = Matrices::new(self.model, &plan);
            assemble(self.model, &plan, &self.pos, None, &mut m);
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

    /// Functions of the posture taken that change sign at singularities, with their kind and leg: continuous in the
    /// platform coordinates, all in the model's own plan.
    pub fn signs(&self, out: &mut Vec<(Kind, Option<usize>, f64)>) {
        out.clear();
        let (m, plan) = (&self.m, self.plan());
        if m.A_r.rows == m.A_r.cols {
            out.push((Kind::Type2, None, determinant(&m.A_r)));
        }
        let (mut row, mut pivot) = (0, 0);
        for (b, block) in plan.blocks.iter().enumerate() {
            let columns = block.place.iter().filter_map(|p| match p {
                CoordPlace::Active(c) => Some(*c),
                _ => None,
            });
            if columns.clone().count() == block.active {
                let mut B = Dense::zeros(block.active, block.active);
                for (k, c) in columns.enumerate() {
                    (0..block.active).for_each(|i| *B.at_mut(i, k) = m.B.at(row + i, c));
                }
                out.push((Kind::Type1, Some(b), determinant(&B)));
            }
            let passive = &m.pivots[pivot..pivot + block.passive];
            if !passive.is_empty() {
                out.push((Kind::Lpjts, Some(b), passive.iter().product()));
            }
            row += block.active;
            pivot += block.passive;
        }
        let platform = &m.pivots[pivot..];
        if !platform.is_empty() {
            out.push((Kind::Constraint, None, platform.iter().product()));
        }
    }
}

/// Determinant by elimination with row exchanges, up to 6 × 6.
pub fn determinant(a: &Dense<f64>) -> f64 {
    let n = a.rows;
    if n == 2 {
        return a.at(0, 0) * a.at(1, 1) - a.at(0, 1) * a.at(1, 0);
    }
    if n > 6 {
        return nalgebra::DMatrix::from_fn(n, n, |i, j| a.at(i, j)).determinant();
    }
    // A unit matrix fills what is left of 6 × 6.
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    nalgebra::SMatrix::<f64, 6, 6>::from_fn(|i, j| if i < n && j < n { a.at(i, j) } else { unit(i, j) }).determinant()
}
