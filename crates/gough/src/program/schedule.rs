//! The order of operations: equal kinds one after the other, so that the processor knows what comes next. That takes more
//! registers than leg after leg, and is faster all the same: a wrong guess costs as much as two operations.

use super::assemble::{Assembled, Virtual};
use super::ops::{Instruction, Opcode, Register};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// Operations in their order, on few registers.
pub(super) struct Scheduled {
    pub ops: Vec<Instruction>,
    /// Kinds, and how many operations of each follow each other.
    pub runs: Vec<(Opcode, usize)>,
    /// How many registers there are.
    pub registers: usize,
    /// The inputs that are read, each with its register.
    pub inputs: Vec<(usize, Register)>,
    /// Registers of the outputs.
    pub outputs: Vec<Register>,
}

/// Operations in an order of few runs; none when there are more registers than can be told apart.
pub(super) fn scheduled(program: &Assembled) -> Option<Scheduled> {
    placed(program, &ordered(program))
}

/// The operations by their numbers: of those that are ready the one that most others wait for, and then all of its kind.
fn ordered(program: &Assembled) -> Vec<usize> {
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); program.registers];
    let mut missing: Vec<usize> = vec![0; program.ops.len()];
    for (i, op) in program.ops.iter().enumerate() {
        for r in op.reads().iter().filter(|r| **r >= program.inputs) {
            readers[*r].push(i);
            missing[i] += 1;
        }
    }
    let waiting = waiting(program, &readers);
    let mut ready: HashMap<Opcode, BTreeSet<(Reverse<usize>, usize)>> = HashMap::new();
    let add = |ready: &mut HashMap<Opcode, BTreeSet<_>>, i: usize| {
        ready.entry(program.ops[i].kind).or_default().insert((Reverse(waiting[i]), i));
    };
    (0..program.ops.len()).filter(|i| missing[*i] == 0).for_each(|i| add(&mut ready, i));
    let mut order = Vec::with_capacity(program.ops.len());
    while let Some((_, kind)) = ready.iter().filter_map(|(k, list)| Some((*list.first()?, *k))).min_by_key(|t| t.0) {
        // What a run makes ready may belong to it.
        while let Some((_, next)) = ready.get_mut(&kind).and_then(BTreeSet::pop_first) {
            order.push(next);
            for reader in program.ops[next].writes().iter().flat_map(|r| &readers[*r]) {
                missing[*reader] -= 1;
                if missing[*reader] == 0 {
                    add(&mut ready, *reader);
                }
            }
        }
    }
    order
}

/// How many operations, one after the other, wait for each.
fn waiting(program: &Assembled, readers: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting = vec![0; program.ops.len()];
    for (i, op) in program.ops.iter().enumerate().rev() {
        let later = op.writes().iter().flat_map(|r| &readers[*r]).map(|j| waiting[*j]);
        waiting[i] = 1 + later.max().unwrap_or(0);
    }
    waiting
}

/// Give every result a register, which is taken again as soon as nothing reads it any more.
fn placed(program: &Assembled, order: &[usize]) -> Option<Scheduled> {
    let mut last: Vec<Option<usize>> = vec![None; program.registers];
    for (at, i) in order.iter().enumerate() {
        program.ops[*i].reads().iter().for_each(|r| last[*r] = Some(at));
    }
    program.outputs.iter().for_each(|r| last[*r] = Some(usize::MAX));
    let mut names: Vec<Register> = vec![0; program.registers];
    let mut pool = Pool::default();
    let mut inputs = Vec::new();
    for r in (0..program.inputs).filter(|r| last[*r].is_some()) {
        names[r] = pool.take()?;
        inputs.push((r, names[r]));
    }
    let (mut ops, mut runs): (Vec<Instruction>, Vec<(Opcode, usize)>) = (Vec::with_capacity(order.len()), Vec::new());
    for (at, i) in order.iter().enumerate() {
        let op = &program.ops[*i];
        let mut done: Vec<Virtual> = op.reads().iter().copied().filter(|r| last[*r] == Some(at)).collect();
        done.sort_unstable();
        done.dedup();
        let from = op.from.map(|r| names[r]);
        pool.free.extend(done.iter().map(|r| names[*r]));
        for r in op.writes() {
            names[*r] = pool.take()?;
        }
        pool.free.extend(op.writes().iter().filter(|r| last[**r].is_none()).map(|r| names[*r]));
        let to = std::array::from_fn(|k| op.writes().get(k).map_or(0, |r| names[*r]));
        ops.push(Instruction { kind: op.kind, from, numbers: op.numbers, to });
        match runs.last_mut() {
            Some((kind, count)) if *kind == op.kind => *count += 1,
            _ => runs.push((op.kind, 1)),
        }
    }
    let outputs = program.outputs.iter().map(|r| names[*r]).collect();
    Some(Scheduled { ops, runs, registers: pool.count, inputs, outputs })
}

/// Registers that are free again.
#[derive(Default)]
struct Pool {
    free: Vec<Register>,
    count: usize,
}

impl Pool {
    fn take(&mut self) -> Option<Register> {
        self.free.pop().or_else(|| {
            self.count += 1;
            Register::try_from(self.count - 1).ok()
        })
    }
}
