//! A model written down in several ways, of which the shortest is kept.

use super::graph::Graph;
use super::models::{Group, Outputs, Subject};
use super::{CodeOptions, ModelKind, Solve, optimise, split};
use crate::scalar::{Expr, Program, trace};

/// A way to write a model that has more operations than this many times the shortest, nothing shared yet, is left.
const LONGER: f64 = 1.03;

/// The way to write the model that takes fewest operations, and the model so written.
pub(super) fn shortest<'a>(subject: Subject<'a>, options: &CodeOptions) -> (Subject<'a>, Traced) {
    let idm = options.model == ModelKind::Idm && options.solve == Solve::Unrolled;
    let balances = if idm { subject.other_balances() } else { Vec::new() };
    let others = balances.into_iter().filter_map(|b| subject.balanced(b)).chain(subject.by_rods(options.model));
    let others: Vec<Subject<'a>> = others.collect();
    let written: Vec<(Subject<'a>, ModelDraft)> = std::iter::once(subject)
        .chain(others)
        .map(|subject| {
            let draft = ModelDraft::new(&subject, options.model);
            (subject, draft)
        })
        .collect();
    let least = written.iter().map(|(_, w)| w.forms.operations()).min().unwrap_or(0);
    let near = written.into_iter().filter(|(_, w)| w.forms.operations() as f64 <= LONGER * least as f64);
    let made = near.map(|(subject, written)| (subject, written.made_short()));
    // The first of equals: the plain one.
    made.min_by_key(|(_, traced)| traced.graph.count().operations()).expect("at least the shortest one")
}

/// A model written down.
struct ModelDraft {
    inputs: Vec<Group>,
    outputs: Vec<Group>,
    program: Program,
    /// Size of the system that is left to a routine.
    system: Option<usize>,
    forms: optimise::Forms,
}

/// A model written down and made short.
pub(super) struct Traced {
    pub inputs: Vec<Group>,
    pub outputs: Vec<Group>,
    pub program: Program,
    /// Size of the system that is left to a routine.
    pub system: Option<usize>,
    pub graph: Graph,
}

impl ModelDraft {
    fn new(subject: &Subject<'_>, model: ModelKind) -> Self {
        let (inputs, outputs) = subject.signature(model);
        let (program, system) = traced(&inputs, |x| subject.evaluate(model, &split(&inputs, x)));
        let forms = optimise::Forms::new(&program);
        Self { inputs, outputs, program, system, forms }
    }

    fn made_short(self) -> Traced {
        let Self { inputs, outputs, program, system, forms } = self;
        Traced { inputs, outputs, program, system, graph: forms.shortest() }
    }
}

/// A model that is written in one way.
pub(super) fn only(
    inputs: Vec<Group>,
    outputs: Vec<Group>,
    evaluate: impl Fn(&[Group], &[Expr]) -> Outputs<Expr>,
) -> Traced {
    let (program, system) = traced(&inputs, |x| evaluate(&inputs, x));
    let forms = optimise::Forms::new(&program);
    ModelDraft { inputs, outputs, program, system, forms }.made_short()
}

/// A model as a program; the size of the system that is left to a routine.
fn traced(inputs: &[Group], evaluate: impl Fn(&[Expr]) -> Outputs<Expr>) -> (Program, Option<usize>) {
    let names: Vec<String> = inputs.iter().flat_map(|g| g.entries.clone()).collect();
    let mut size = None;
    let program = trace(&names, |x| {
        let Outputs { mut values, system } = evaluate(x);
        if let Some((A, b)) = system {
            size = Some(b.len());
            values.extend(A.data);
            values.extend(b);
        }
        values
    });
    (program, size)
}
