//! From the cut robot to its independent coordinates, in any scalar, (10.109)-(10.123).

use super::loops::LoopEquations;
use super::plan::FlexibleModel;
use super::recursion::FlexibleData;
use crate::dynamics::Sign;
use crate::linalg::small::{Dense, PivotOrder, lu, lu_solve, lu_solve_rows};
use crate::model::{CoordId, Model};
use crate::scalar::Real;

/// Equations of motion in the independent coordinates at a state: `M q̈ + h = G τ`, all coordinates `q̈_t = J q̈ + b`.
#[derive(Clone, Debug)]
pub struct ReducedEquations<S: Real = f64> {
    /// Inertia.
    pub M: Dense<S>,
    /// Everything that is neither inertia nor drives.
    pub h: Vec<S>,
    /// All coordinates by the independent ones, (10.114).
    pub J: Dense<S>,
    /// What the dependent coordinates accelerate by while no independent rate changes, (10.118).
    pub b: Vec<S>,
}

/// Which coordinates depend on which, and by which rows of the loops.
#[derive(Clone, Copy, Debug)]
pub struct Dependence<'a> {
    /// Rows of the loops and the coordinates that depend, in the order in which they are solved for.
    pub order: &'a PivotOrder,
    /// Places of the independent coordinates.
    pub independent: &'a [usize],
}

impl Dependence<'_> {
    /// The loops solved for the dependent coordinates: factors of pivot rows and columns of their Jacobian, in the order of pivots.
    pub fn factor<S: Real>(self, loops: &LoopEquations<S>, factors: &mut Vec<S>) {
        factors.clear();
        factors.extend(self.order.rows.iter().flat_map(|i| self.order.cols.iter().map(|j| loops.J.at(*i, *j))));
        lu(factors, self.order.rows.len());
    }

    /// What the dependent coordinates do so that rows of the loops that are given vanish.
    pub fn answering<S: Real>(self, factors: &[S], rows: impl Fn(usize) -> S) -> Vec<S> {
        let mut x: Vec<S> = self.order.rows.iter().map(|i| -rows(*i)).collect();
        lu_solve(factors, self.order.rows.len(), &mut x);
        x
    }

    /// A row of the loops on the independent coordinates.
    pub fn opened<S: Real>(self, loops: &LoopEquations<S>, row: usize, own: impl Fn(usize) -> S) -> S {
        self.independent.iter().enumerate().fold(S::zero(), |sum, (k, slot)| sum + loops.J.at(row, *slot) * own(k))
    }

    /// Dependent coordinates by the independent ones, row by row in the order of the pivots.
    pub fn matrix<S: Real>(self, loops: &LoopEquations<S>, factors: &[S]) -> Dense<S> {
        let mut D = Dense::zeros(self.order.rows.len(), self.independent.len());
        for (j, slot) in self.independent.iter().enumerate() {
            let column = self.answering(factors, |i| loops.J.at(i, *slot));
            column.into_iter().enumerate().for_each(|(k, x)| *D.at_mut(k, j) = x);
        }
        D
    }

    /// The same on numbers, all columns at once.
    pub fn matrix_of_numbers(self, loops: &LoopEquations<f64>, factors: &[f64]) -> Dense<f64> {
        let (r, n) = (self.order.rows.len(), self.independent.len());
        let rows = self.order.rows.iter();
        let data = rows.flat_map(|i| self.independent.iter().map(|k| -loops.J.at(*i, *k))).collect();
        let mut D = Dense { rows: r, cols: n, data };
        lu_solve_rows(factors, r, &mut D.data, n);
        D
    }

    /// `M = Jᵀ M_tot J`, `h = Jᵀ (M_tot b + c_tot)`, (10.123), with the matrix of the dependent coordinates.
    pub fn equations<S: Real>(
        self,
        D: &Dense<S>,
        data: &FlexibleData<S>,
        loops: &LoopEquations<S>,
        factors: &[S],
    ) -> ReducedEquations<S> {
        let (own, dependent, A) = (self.independent, &self.order.cols, &data.M);
        let (n, r) = (own.len(), dependent.len());
        let follows = self.answering(factors, |i| loops.bias[i]);
        // Inertia that dependent coordinates feel, and forces.
        let mut Q = Dense::zeros(r, n);
        for (k, d) in dependent.iter().enumerate() {
            for (j, slot) in own.iter().enumerate() {
                let sum = |s: S, e: usize| s + A.at(*d, dependent[e]) * D.at(e, j);
                *Q.at_mut(k, j) = (0..r).fold(A.at(*d, *slot), sum);
            }
        }
        let felt = |slot: usize| (0..r).fold(data.c[slot], |s, e| s + A.at(slot, dependent[e]) * follows[e]);
        let carried: Vec<S> = dependent.iter().map(|d| felt(*d)).collect();
        let h = (0..n).map(|i| (0..r).fold(felt(own[i]), |s, k| s + D.at(k, i) * carried[k])).collect();
        let mut M = Dense::zeros(n, n);
        for i in 0..n {
            for j in i..n {
                let sum = |s: S, k: usize| s + A.at(own[i], dependent[k]) * D.at(k, j) + D.at(k, i) * Q.at(k, j);
                let m = (0..r).fold(A.at(own[i], own[j]), sum);
                (*M.at_mut(i, j), *M.at_mut(j, i)) = (m, m);
            }
        }
        let (mut J, mut b) = (Dense::zeros(A.rows, n), vec![S::zero(); A.rows]);
        own.iter().enumerate().for_each(|(k, slot)| *J.at_mut(*slot, k) = S::one());
        for (k, slot) in dependent.iter().enumerate() {
            b[*slot] = follows[k];
            J.data[slot * n..(slot + 1) * n].copy_from_slice(&D.data[k * n..(k + 1) * n]);
        }
        ReducedEquations { M, h, J, b }
    }
}

impl ReducedEquations {
    /// Accelerations of all coordinates for those of the independent ones, (10.118).
    pub fn all_accelerations(&self, own: &[f64]) -> Vec<f64> {
        self.J.apply(own).iter().zip(&self.b).map(|(x, b)| x + b).collect()
    }
}

impl<S: Real> FlexibleModel<S> {
    /// Add the friction of all joints to the forces of the cut robot.
    pub fn add_friction(&self, model: &Model<S>, rates: &[S], sign: Sign, data: &mut FlexibleData<S>) {
        for (slot, c) in self.joint_slots() {
            data.c[slot] += model.numbers().joints[c].friction(rates[slot], sign);
        }
    }

    /// Power that the friction of all joints takes.
    pub fn friction_power(&self, model: &Model<S>, rates: &[S], sign: Sign) -> S {
        let one = |(slot, c): (usize, CoordId)| rates[slot] * model.numbers().joints[c].friction(rates[slot], sign);
        self.joint_slots().fold(S::zero(), |sum, joint| sum + one(joint))
    }
}
