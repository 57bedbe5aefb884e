//! Quadratic forms of the motions of frames and of coordinates, brought down to coordinates frame by frame.
//!
//! A frame moves with the one that carries it and with coordinates of its own, `t = T̄ t_from + Σ s q`. Putting that into
//! `½ tᵀ A t + tᵀ Σ c q + ½ Σ q a q` leaves a form without `t`: its matrix goes to the carrier as that of a composite body,
//! `T̄ᵀ A T̄`, its columns as forces, `T̄ᵀ c`. Displacements of beams are unit motions of their far nodes, so that their
//! entries are components of these and cost nothing.

use super::super::assemble::{dot, inertia_times};
use super::super::beam::Mat6;
use super::super::numbers::{Vec6, unit};
use super::{add, pulled};
use crate::linalg::small::Dense;
use crate::scalar::Real;
use crate::spatial::{Inertia, Pose, Wrench};

/// A symmetric form.
pub(super) struct MotionForm<S> {
    /// Of each frame with itself.
    frames: Vec<Mat6<S>>,
    /// Of two frames.
    pairs: Vec<([usize; 2], Mat6<S>)>,
    /// Of each frame with coordinates.
    columns: Vec<Vec<(usize, Vec6<S>)>>,
    /// Of coordinates.
    pub coordinates: Dense<S>,
}

impl<S: Real> MotionForm<S> {
    /// Nothing yet.
    pub fn new(frames: usize, coordinates: usize) -> Self {
        Self {
            frames: vec![[[S::zero(); 6]; 6]; frames],
            pairs: Vec::new(),
            columns: vec![Vec::new(); frames],
            coordinates: Dense::zeros(coordinates, coordinates),
        }
    }

    /// An entry of two coordinates.
    pub fn add(&mut self, i: usize, j: usize, x: S) {
        *self.coordinates.at_mut(i, j) += x;
    }

    /// A matrix of the coordinates of an element, given with their components.
    pub fn add_elastic(&mut self, q_e: &[(usize, usize)], A: &Mat6<S>) {
        for (c, i) in q_e {
            q_e.iter().for_each(|(d, j)| self.add(*c, *d, A[*i][*j]));
        }
    }

    /// A frame and a coordinate: `tᵀ x q`.
    pub fn add_column(&mut self, frame: usize, coordinate: usize, x: &Vec6<S>) {
        match self.columns[frame].iter_mut().find(|(c, _)| *c == coordinate) {
            Some((_, column)) => add(column, x),
            None => self.columns[frame].push((coordinate, *x)),
        }
    }

    /// The inertia of what moves with a frame.
    pub fn add_inertia(&mut self, frame: usize, I: &Inertia<S>) {
        let columns: [Vec6<S>; 6] = std::array::from_fn(|k| inertia_times(I, &unit(k).to_array()));
        add_block(&mut self.frames[frame], &transposed(&columns));
    }

    /// An element between two frames.
    pub fn add_nodal(&mut self, ends: [usize; 2], A: &[[Mat6<S>; 2]; 2]) {
        (0..2).for_each(|k| add_block(&mut self.frames[ends[k]], &A[k][k]));
        self.add_pair(ends, &A[0][1]);
    }

    /// Two frames: `t_aᵀ B t_b`.
    fn add_pair(&mut self, [a, b]: [usize; 2], B: &Mat6<S>) {
        if a == b {
            add_block(&mut self.frames[a], B);
            add_block(&mut self.frames[a], &transposed(B));
        } else if let Some((_, sum)) = self.pairs.iter_mut().find(|p| p.0 == [a, b]) {
            add_block(sum, B);
        } else if let Some((_, sum)) = self.pairs.iter_mut().find(|p| p.0 == [b, a]) {
            add_block(sum, &transposed(B));
        } else {
            self.pairs.push(([a, b], *B));
        }
    }

    /// Matrices `t_frameᵀ B t_other`, taken out.
    fn take_pairs(&mut self, frame: usize) -> Vec<(usize, Mat6<S>)> {
        let (own, rest): (Vec<_>, Vec<_>) = self.pairs.drain(..).partition(|(ends, _)| ends.contains(&frame));
        self.pairs = rest;
        let turned = |([a, b], B): ([usize; 2], Mat6<S>)| if a == frame { (b, B) } else { (a, transposed(&B)) };
        own.into_iter().map(turned).collect()
    }

    /// Put `t = T̄ t_from + Σ s q` for the motion of a frame.
    pub fn substitute(&mut self, frame: usize, from: Option<usize>, X: &Pose<S>, own: &[(usize, Vec6<S>)]) {
        let A = self.frames[frame];
        let columns = std::mem::take(&mut self.columns[frame]);
        let pairs = self.take_pairs(frame);
        for (q, s) in own {
            let As = times(&A, s);
            own.iter().for_each(|(p, r)| self.add(*p, *q, dot(r, &As)));
            for (c, x) in &columns {
                let y = dot(s, x);
                self.add(*q, *c, y);
                self.add(*c, *q, y);
            }
            pairs.iter().for_each(|(other, B)| self.add_column(*other, *q, &times(&transposed(B), s)));
            from.into_iter().for_each(|from| self.add_column(from, *q, &pushed(X, &As)));
        }
        let Some(from) = from else { return };
        columns.iter().for_each(|(c, x)| self.add_column(from, *c, &pushed(X, x)));
        pairs.iter().for_each(|(other, B)| self.add_pair([from, *other], &pushed_block(X, B)));
        add_block(&mut self.frames[from], &congruent(X, &A));
    }
}

/// `T̄ᵀ F`.
fn pushed<S: Real>(X: &Pose<S>, F: &Vec6<S>) -> Vec6<S> {
    X.push(Wrench::from_array(*F)).to_array()
}

/// `T̄ᵀ B`.
fn pushed_block<S: Real>(X: &Pose<S>, B: &Mat6<S>) -> Mat6<S> {
    transposed(&transposed(B).map(|column| pushed(X, &column)))
}

/// `T̄ᵀ A T̄`, symmetric as written.
fn congruent<S: Real>(X: &Pose<S>, A: &Mat6<S>) -> Mat6<S> {
    let columns: [Vec6<S>; 6] = std::array::from_fn(|k| pushed(X, &times(A, &pulled(X, &unit(k).to_array()))));
    std::array::from_fn(|i| std::array::from_fn(|j| columns[i.max(j)][i.min(j)]))
}

fn times<S: Real>(A: &Mat6<S>, x: &Vec6<S>) -> Vec6<S> {
    A.map(|row| dot(&row, x))
}

fn transposed<S: Real>(A: &Mat6<S>) -> Mat6<S> {
    std::array::from_fn(|i| std::array::from_fn(|j| A[j][i]))
}

fn add_block<S: Real>(sum: &mut Mat6<S>, A: &Mat6<S>) {
    sum.iter_mut().zip(A).for_each(|(sum, row)| add(sum, row));
}
