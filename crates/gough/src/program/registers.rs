//! Few registers for many results: one is taken again as soon as nothing reads it any more.

use super::assemble::Assembled;
use super::steps::{Register, Step};

/// Steps on few registers.
pub(super) struct Placed {
    pub steps: Vec<Step>,
    /// How many registers there are.
    pub registers: usize,
    /// The inputs that are read, each with its register.
    pub inputs: Vec<(usize, Register)>,
}

/// Give every result a register; none when there are not enough.
pub(super) fn placed(program: &Assembled) -> Option<Placed> {
    let most = program.steps.iter().flat_map(|s| s.reads().chain(s.writes())).max().unwrap_or(0);
    let mut last = vec![None; most.max(program.inputs.len()) + 1];
    for (at, step) in program.steps.iter().enumerate() {
        step.reads().for_each(|r| last[r] = Some(at));
    }
    let mut names: Vec<Register> = vec![0; last.len()];
    let (mut free, mut count): (Vec<Register>, usize) = (Vec::new(), 0);
    let take = |free: &mut Vec<Register>, count: &mut usize| {
        free.pop().or_else(|| {
            *count += 1;
            Register::try_from(*count - 1).ok()
        })
    };
    let mut inputs = Vec::new();
    for (i, r) in program.inputs.iter().enumerate().filter(|(_, r)| last[**r].is_some()) {
        names[*r] = take(&mut free, &mut count)?;
        inputs.push((i, names[*r]));
    }
    let mut steps = Vec::with_capacity(program.steps.len());
    for (at, step) in program.steps.iter().enumerate() {
        let mut done: Vec<usize> = step.reads().filter(|r| last[*r] == Some(at)).collect();
        done.dedup();
        free.extend(done.iter().map(|r| names[*r]));
        for r in step.writes() {
            names[r] = take(&mut free, &mut count)?;
        }
        // What nothing reads is free again at once; not before both results of a step have their place.
        free.extend(step.writes().filter(|r| last[*r].is_none()).map(|r| names[r]));
        steps.push(step.renamed(|r| names[r]));
    }
    Some(Placed { steps, registers: count, inputs })
}
