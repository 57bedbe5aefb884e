//! Arrays of states as rows, answered task by task in memory that is made once and used again.

use crate::errors::{Refused, refused};
use crate::threads::{in_blocks, locked};
use gough::Error;
use numpy::{PyReadonlyArray2, PyReadwriteArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Memory of computations, used again and again.
pub struct Kept<M>(Mutex<Vec<M>>);

impl<M> Default for Kept<M> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<M> Kept<M> {
    /// Use what is there, or make it.
    pub fn with<A, E>(&self, make: impl FnOnce() -> Result<M, E>, work: impl FnOnce(&mut M) -> A) -> Result<A, E> {
        let kept = locked(&self.0).pop();
        let mut memory = kept.map_or_else(make, Ok)?;
        let answer = work(&mut memory);
        locked(&self.0).push(memory);
        Ok(answer)
    }
}

/// Rows of numbers, one per state, or one for all.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    numbers: &'a [f64],
    width: usize,
    same: bool,
}

impl<'a> Rows<'a> {
    /// `count` rows, or one for all of them.
    pub fn new(array: &'a PyReadonlyArray2<'_, f64>, count: usize) -> PyResult<Self> {
        let ([rows, width], numbers) = (array.as_array().dim().into(), array.as_slice()?);
        if rows != count && rows != 1 {
            return Err(PyValueError::new_err(format!("{rows} rows where {count} are needed")));
        }
        Ok(Self { numbers, width, same: rows == 1 })
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        let i = if self.same { 0 } else { i };
        &self.numbers[i * self.width..][..self.width]
    }
}

/// Arrays that answers are written to, with how many numbers a state has in each.
pub struct Answers<'a>(Vec<(&'a mut [f64], usize)>);

impl<'a> Answers<'a> {
    /// The arrays, all of `count` rows.
    pub fn new(arrays: &'a mut [PyReadwriteArray2<'_, f64>], count: usize) -> PyResult<Self> {
        let one = |array: &'a mut PyReadwriteArray2<'_, f64>| {
            let (rows, width) = array.as_array().dim();
            if rows != count {
                return Err(PyValueError::new_err(format!("{rows} rows to write to where {count} are needed")));
            }
            Ok((array.as_slice_mut()?, width))
        };
        arrays.iter_mut().map(one).collect::<PyResult<_>>().map(Self)
    }

    /// Parts of the arrays for the tasks of a block; the rest stays.
    fn tasks(&mut self, block: Range<usize>, size: usize) -> Vec<(Range<usize>, Vec<&'a mut [f64]>)> {
        let starts = block.clone().step_by(size);
        let part = |(rest, width): &mut (&'a mut [f64], usize), n: usize| {
            let (own, others) = std::mem::take(rest).split_at_mut(n * *width);
            *rest = others;
            own
        };
        starts
            .map(|from| {
                let to = block.end.min(from + size);
                (from..to, self.0.iter_mut().map(|array| part(array, to - from)).collect())
            })
            .collect()
    }
}

/// Answer states in order, on threads; `task` writes into the parts of the arrays that belong to its range and tells whom it
/// refused. Rows of refused states are not a number. Tasks begin at multiples of `size` whatever the number of threads, so that the
/// answers are the same to the last bit.
pub fn answer<M: Send>(
    py: Python<'_>,
    (count, size, threads): (usize, usize, Option<usize>),
    mut answers: Answers<'_>,
    memory: (&Kept<M>, impl Fn() -> Result<M, Error> + Sync),
    task: impl Fn(&mut M, Range<usize>, &mut [&mut [f64]]) -> Vec<(usize, Error)> + Sync,
) -> PyResult<Vec<Refused>> {
    let widths: Vec<usize> = answers.0.iter().map(|a| a.1).collect();
    let (kept, make) = memory;
    let one = |(range, mut parts): (Range<usize>, Vec<&mut [f64]>)| {
        let first = range.start;
        let found = kept.with(&make, |memory| task(memory, range.clone(), &mut parts));
        let found = found.unwrap_or_else(|why| range.map(|i| (i, why.clone())).collect());
        for (i, _) in &found {
            parts.iter_mut().zip(&widths).for_each(|(part, w)| part[(i - first) * w..][..*w].fill(f64::NAN));
        }
        found.iter().map(|(i, why)| refused(*i, why)).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    in_blocks(py, count, size, threads, |block| {
        // Outside of a pool nothing may ask rayon, which would start threads of its own.
        if rayon::current_thread_index().is_none() {
            all.extend(answers.tasks(block, size).into_iter().flat_map(one));
            return;
        }
        all.extend(answers.tasks(block, size).into_par_iter().flat_map_iter(one).collect::<Vec<_>>());
    })?;
    Ok(all)
}
