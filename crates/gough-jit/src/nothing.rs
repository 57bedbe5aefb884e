//! Processors that no code is written for, and builds without it.

use crate::AtOnce;
use crate::formula::Formula;

/// Machine code of a formula: there is none here.
#[derive(Debug)]
pub struct Code(());

/// Memory that code computes in.
#[derive(Clone, Debug)]
pub struct Scratch(());

impl Formula {
    /// Machine code of the formula; none here.
    pub fn compile(&self, _: AtOnce) -> Option<Code> {
        None
    }
}

impl Code {
    /// Memory to compute in.
    pub fn scratch(&self) -> Scratch {
        Scratch(())
    }

    /// Bytes of machine code: none.
    pub fn len(&self) -> usize {
        0
    }

    /// Whether there is no code; always.
    pub fn is_empty(&self) -> bool {
        true
    }

    /// Compute packs of rows: nothing is done.
    #[must_use]
    pub fn run(&self, _: &[f64], _: &mut [f64], _: &mut [u8], _: &mut Scratch) -> bool {
        false
    }
}
