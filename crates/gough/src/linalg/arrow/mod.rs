//! Eigenvalues of `K x = λ M x` where both matrices are block arrows: legs that meet in a border.
//!
//! ```text
//!     ⎡ own₀            borderᵀ.. ⎤     coordinates: leg 0, leg 1, .., then the border (the platform).
//! K = ⎢        own₁     ..        ⎥     Symmetric blocks are read below their diagonal only.
//!     ⎣ ..     ..       tip       ⎦
//! ```
//!
//! [`ArrowPlan`] is made once, from the zeros of sample matrices: parts that do not touch each other become components,
//! each an arrow again; coordinates without mass are listed; long chains keep their band. [`ArrowSolver`] is the memory of
//! the computation and gives all modes, or the lowest few with a proof by counting that none was missed.
//!
//! ```
//! use gough::linalg::arrow::{Arrow, ArrowPlan, ArrowSolver, Start, Want};
//!
//! // Two springs to the ground, one between each mass and a common third mass.
//! let (mut K, mut M) = (Arrow::zeros(&[1, 1], 1), Arrow::zeros(&[1, 1], 1));
//! for i in 0..2 {
//!     K.legs[i].own.data[0] = 2.0;
//!     K.legs[i].border.data[0] = -1.0;
//!     M.legs[i].own.data[0] = 1.0;
//! }
//! K.tip.data[0] = 2.0;
//! M.tip.data[0] = 1.0;
//! let plan = ArrowPlan::of(&[(&K, &M)])?;
//! let mut solver = ArrowSolver::new(&plan);
//! let modes = solver.all(&plan, &K, &M, Want::Values)?;
//! assert!((modes[0].value - (2.0 - 2.0_f64.sqrt())).abs() < 1e-14);
//! let lowest = solver.lowest(&plan, &K, &M, 1, Start::Fresh)?;
//! assert!((lowest[0].value - (2.0 - 2.0_f64.sqrt())).abs() < 1e-14);
//! # Ok::<(), gough::linalg::arrow::ArrowError>(())
//! ```

mod block;
mod condense;
mod factor;
mod plan;
mod reduce;
mod solver;

pub use plan::ArrowPlan;
pub use solver::{ArrowSolver, Start, Want};

use super::Quad;
use super::small::Dense;
use crate::scalar::Real;
use std::fmt;

/// The blocks of one leg.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrowLeg<S> {
    /// The leg alone: n × n, symmetric.
    pub own: Dense<S>,
    /// Leg and border: n × b.
    pub border: Dense<S>,
}

/// A symmetric matrix of legs that meet in a border.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrow<S> {
    /// One per leg, any sizes.
    pub legs: Vec<ArrowLeg<S>>,
    /// The border alone: b × b, symmetric.
    pub tip: Dense<S>,
}

impl<S: Real> Arrow<S> {
    /// All zero, for legs of these sizes and a border of that size.
    pub fn zeros(legs: &[usize], border: usize) -> Self {
        let leg = |n: &usize| ArrowLeg { own: Dense::zeros(*n, *n), border: Dense::zeros(*n, border) };
        Self { legs: legs.iter().map(leg).collect(), tip: Dense::zeros(border, border) }
    }

    /// Number of coordinates.
    pub fn size(&self) -> usize {
        self.legs.iter().map(|l| l.own.rows).sum::<usize>() + self.tip.rows
    }

    /// The whole matrix, zeros included, from the lower halves of the blocks.
    pub fn dense(&self) -> Dense<S> {
        let n = self.size();
        let tip = n - self.tip.rows;
        let mut out = Dense::zeros(n, n);
        let mut put = |i: usize, j: usize, x: S| {
            *out.at_mut(i, j) = x;
            *out.at_mut(j, i) = x;
        };
        let mut start = 0;
        for leg in &self.legs {
            for i in 0..leg.own.rows {
                (0..=i).for_each(|j| put(start + i, start + j, leg.own.at(i, j)));
                (0..leg.border.cols).for_each(|j| put(start + i, tip + j, leg.border.at(i, j)));
            }
            start += leg.own.rows;
        }
        for i in 0..self.tip.rows {
            (0..=i).for_each(|j| put(tip + i, tip + j, self.tip.at(i, j)));
        }
        out
    }
}

/// What an eigenvalue means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModeKind {
    /// Positive: a vibration of ω² = λ.
    Vibration,
    /// Zero to rounding: a motion without stiffness (a body that floats, a mechanism).
    Free,
    /// Negative: a stiffness of the wrong sign pushes the motion on.
    Unstable,
}

impl fmt::Display for ModeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vibration => "vibration",
            Self::Free => "free motion, no stiffness opposes it",
            Self::Unstable => "unstable, a stiffness has the wrong sign",
        })
    }
}

/// One eigenvalue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ArrowMode {
    /// λ = ω².
    pub value: f64,
    /// Which component of the plan moves.
    pub component: usize,
    /// What it means.
    pub kind: ModeKind,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ArrowError {
    /// Blocks do not fit each other, or not the plan.
    Shape,
    /// An entry is not a finite number.
    NotFinite {
        /// Its row.
        coordinate: usize,
    },
    /// An entry that was zero in all samples is not.
    Structure {
        /// Its row.
        coordinate: usize,
    },
    /// The mass matrix is not positive definite.
    Mass {
        /// Where elimination meets a pivot that is not positive.
        coordinate: usize,
        /// That pivot over the diagonal entry.
        pivot: f64,
    },
    /// A coordinate has no mass and nothing holds it.
    Loose {
        /// Which.
        coordinate: usize,
    },
    /// Iteration did not end.
    NotConverged {
        /// Component.
        component: usize,
    },
}

impl fmt::Display for ArrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => write!(f, "the blocks of the matrices do not fit; build both with the sizes of the plan"),
            Self::NotFinite { coordinate } => {
                write!(f, "row {coordinate} has an entry that is not a number; look at the data of that coordinate")
            }
            Self::Structure { coordinate } => write!(
                f,
                "row {coordinate} has an entry where the samples of the plan had zeros; add this posture to the samples"
            ),
            Self::Mass { coordinate, pivot } => write!(
                f,
                "the mass matrix is not positive definite at coordinate {coordinate} (pivot {pivot:.1e} of its diagonal); \
                 give that body an inertia that a body can have, or none at all"
            ),
            Self::Loose { coordinate } => write!(
                f,
                "coordinate {coordinate} has neither mass nor stiffness of its own; fix it or give it one of them"
            ),
            Self::NotConverged { component } => {
                write!(f, "the modes of component {component} did not converge; scale the units of its coordinates")
            }
        }
    }
}

impl std::error::Error for ArrowError {}
