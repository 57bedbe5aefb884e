//! Block arrows.

use crate::linalg::small::Dense;
use crate::scalar::Real;

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

    /// The whole matrix, from the lower halves of the blocks.
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
