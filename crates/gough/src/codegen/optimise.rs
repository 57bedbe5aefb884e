//! From a traced program to the graph with fewest operations that the rules here find.

use super::canon::{Canon, Rules};
use super::graph::{Count, Graph};
use super::share::share;
use crate::scalar::Program;
use rayon::prelude::*;

/// How many operations are left after each stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageCounts {
    /// As traced, every expression a tree: nothing is shared.
    pub naive: Count,
    /// Signs, constants and powers in canonical order, still nothing shared.
    pub simplified: Count,
    /// Equal expressions computed once.
    pub common: Count,
    /// Common factors and common parts of sums and products shared as well.
    pub shared: Count,
}

/// Nothing is counted beyond this: trees double with every level.
const MOST: f64 = 1e15;

/// A form that has more operations than this many times the shortest one does not become the shortest by sharing.
const HOPELESS: f64 = 1.15;

/// Beyond this many operations factors are taken out after pairs are shared, and not before as well: that takes too long.
const LONG: f64 = 5000.0;

/// Beyond this many operations as traced only equal expressions are found: sharing their parts would take minutes.
const VERY_LONG: usize = 60_000;

/// A program in canonical forms, under every choice of rules, with equal expressions computed once.
pub(super) enum Forms {
    /// Those of a program of usual length.
    All(Vec<Graph>),
    /// The plain one of a very long program.
    Plain(Graph),
}

impl Forms {
    /// Every form: nested sums and products opened or not. Which is best depends on the robot.
    pub fn new(program: &Program) -> Self {
        if program.nodes.len() > VERY_LONG {
            return Self::Plain(Graph::new(&Canon::new(program, Rules::default())));
        }
        let rules: Vec<Rules> = Rules::all().collect();
        let both = |rules: Rules| {
            let canon = Canon::new(program, rules);
            [Graph::new(&canon.flattened().flattened()), Graph::new(&canon)]
        };
        Self::All(rules.into_par_iter().flat_map_iter(both).collect())
    }

    /// Operations of the shortest form.
    pub fn operations(&self) -> usize {
        let graphs = match self {
            Self::All(graphs) => graphs.as_slice(),
            Self::Plain(graph) => std::slice::from_ref(graph),
        };
        graphs.iter().map(|graph| graph.count().operations()).min().unwrap_or(0)
    }

    /// The shortest graph after sharing, factors taken out before pairs are shared or after. Of equals, the first.
    pub fn shortest(self) -> Graph {
        let most = HOPELESS * self.operations() as f64;
        let graphs = match self {
            Self::All(graphs) => graphs,
            Self::Plain(graph) => return graph,
        };
        let mut forms: Vec<Graph> = Vec::new();
        for graph in graphs.into_iter().filter(|graph| graph.count().operations() as f64 <= most) {
            if !forms.iter().any(|other| other.nodes == graph.nodes && other.outputs == graph.outputs) {
                forms.push(graph);
            }
        }
        let long = most > HOPELESS * LONG;
        let both = |form| [(form, true), (form, false)].into_iter().filter(move |(_, first)| !(*first && long));
        let orders: Vec<(&Graph, bool)> = forms.iter().flat_map(both).collect();
        let shared = |(form, factor_first): (&Graph, bool)| {
            let mut graph = form.clone();
            share(&mut graph, factor_first);
            graph
        };
        let found: Vec<Graph> = orders.into_par_iter().map(shared).collect();
        found.into_iter().min_by_key(|graph| graph.count().operations()).unwrap_or_default()
    }
}

/// The graph with fewest operations of all forms and orders that are tried.
pub(super) fn optimise(program: &Program) -> Graph {
    Forms::new(program).shortest()
}

/// The best of the quick stages alone, for programs that are long and were optimised in part: derivatives of a graph.
pub(super) fn lightly(program: &Program) -> Graph {
    let rules: Vec<Rules> = Rules::all().collect();
    let forms = |rules: Rules| {
        let canon = Canon::new(program, rules);
        [Graph::new(&canon.flattened()), Graph::new(&canon)]
    };
    let found: Vec<Graph> = rules.into_par_iter().flat_map_iter(forms).collect();
    let mut best = found.into_iter().min_by_key(|graph| graph.count().operations()).unwrap_or_default();
    share(&mut best, false);
    best
}

/// Operations stage by stage.
pub(super) fn stages(program: &Program, best: &Graph) -> StageCounts {
    let canon = Graph::new(&Canon::new(program, Rules { opens: true, ..Rules::default() }));
    StageCounts {
        naive: traced_as_tree(program),
        simplified: as_tree(&canon),
        common: canon.count(),
        shared: best.count(),
    }
}

/// Operations of a traced program if every result were computed again wherever it is used.
fn traced_as_tree(program: &Program) -> Count {
    use crate::scalar::{Arg, Op};
    let mut costs: Vec<[f64; 4]> = Vec::with_capacity(program.nodes.len());
    for op in &program.nodes {
        let mut cost = [0.0; 4];
        for arg in op.args() {
            if let Arg::Node(id) = arg {
                (0..4).for_each(|k| cost[k] += costs[id as usize][k]);
            }
        }
        match op {
            Op::Add(..) | Op::Sub(..) => cost[0] += 1.0,
            Op::Mul(..) | Op::Div(..) => cost[1] += 1.0,
            Op::Sqrt(_) => cost[2] += 1.0,
            Op::Sin(_) | Op::Cos(_) | Op::Atan2(..) | Op::Exp(_) => cost[3] += 1.0,
            Op::Input(_) | Op::Neg(_) | Op::Sign(_) | Op::Select(..) => {}
        }
        costs.push(cost);
    }
    let mut sum = [0.0; 4];
    for out in &program.outputs {
        if let Arg::Node(id) = out {
            (0..4).for_each(|k| sum[k] += costs[*id as usize][k]);
        }
    }
    count_of(sum, 0)
}

/// Operations of a graph when nothing is shared: every use of a node is computed again.
fn as_tree(graph: &Graph) -> Count {
    use super::canon::Function;
    use super::graph::GraphNode;
    let mut costs = vec![[0.0_f64; 4]; graph.nodes.len()];
    for id in graph.sorted() {
        let mut cost = [0.0; 4];
        for operand in graph.operands(id) {
            (0..4).for_each(|k| cost[k] += costs[operand][k]);
        }
        match &graph.nodes[id] {
            GraphNode::Sum(terms) => cost[0] += (terms.len() - 1) as f64,
            GraphNode::Product(factors) => cost[1] += (factors.len() - 1) as f64,
            GraphNode::Reciprocal(_) => cost[1] += 1.0,
            GraphNode::Call(Function::Sqrt, _) => cost[2] += 1.0,
            GraphNode::Call(Function::Sign | Function::Select, _) | GraphNode::Input(_) | GraphNode::Number(_) => {}
            GraphNode::Call(..) => cost[3] += 1.0,
        }
        costs[id] = cost;
    }
    let sum = graph.outputs.iter().fold([0.0; 4], |s, v| std::array::from_fn(|k| s[k] + costs[v.node][k]));
    count_of(sum, 0)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // cut off below what a usize holds
fn count_of(x: [f64; 4], variables: usize) -> Count {
    let [add, mul, sqrt, trig] = x.map(|x| x.min(MOST) as usize);
    Count { add, mul, sqrt, trig, variables }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Expr, Real, trace};

    fn operations(f: impl Fn(&[Expr]) -> Vec<Expr>) -> (usize, usize) {
        let program = trace(&["a", "b", "c", "d"], f);
        let graph = optimise(&program);
        let x = [0.7, -1.3, 2.1, 0.4];
        for (found, wanted) in graph.eval(&x).iter().zip(program.eval(&x)) {
            assert!((found - wanted).abs() < 1e-14, "{found} {wanted}");
        }
        let count = graph.count();
        (count.add, count.mul)
    }

    #[test]
    fn signs_do_not_hide_equal_expressions() {
        assert_eq!(operations(|x| vec![x[0] - x[1], x[1] - x[0], -(x[0] - x[1]) * x[2]]), (1, 1));
    }

    #[test]
    fn equal_terms_and_powers_are_collected() {
        let two = Expr::lit(2.0);
        assert_eq!(operations(|x| vec![x[0] * two + x[1] + x[0] * Expr::lit(3.0) - x[1]]), (0, 1));
        assert_eq!(operations(|x| vec![(x[0] * x[1]) / x[0]]), (0, 0));
        assert_eq!(operations(|x| vec![x[0].squared().sqrt().squared()]), (0, 1));
    }

    #[test]
    fn sine_and_cosine_squared_are_one() {
        assert_eq!(
            operations(|x| {
                let (s, c) = x[0].sin_cos();
                vec![s * s * x[1] * Expr::lit(0.0) + s * s + c * c + x[1]]
            }),
            (1, 0)
        );
    }

    #[test]
    fn sums_of_known_angles_call_nothing() {
        let program = trace(&["a", "b"], |x| {
            let ((s, c), (t, d)) = (x[0].sin_cos(), x[1].sin_cos());
            let (sum, difference) = ((x[0] + x[1]).sin_cos(), (x[1] - x[0]).sin_cos());
            let shifted = (x[0] + Expr::lit(0.3)).sin_cos();
            vec![s, c, t, d, sum.0, sum.1, difference.0, difference.1, shifted.0, shifted.1]
        });
        let graph = optimise(&program);
        assert_eq!(graph.count().trig, 4);
        for (found, wanted) in graph.eval(&[0.7, -1.9]).iter().zip(program.eval(&[0.7, -1.9])) {
            assert!((found - wanted).abs() < 1e-15, "{found} {wanted}");
        }
    }

    #[test]
    fn constants_cancel_through_sums_and_products() {
        let lit = Expr::lit;
        let sum = |x: &[Expr]| x[0] * x[1] + lit(0.2);
        assert_eq!(operations(|x| vec![sum(x) * x[2], sum(x) - lit(0.2)]), (1, 2));
        assert_eq!(operations(|x| vec![sum(x), x[2] - lit(5.0) * x[2] * sum(x)]), (1, 3));
        // Two multiples of one sum.
        let multiple = |x: &[Expr], k: f64| x[0] * lit(2.0 * k) + x[1] * lit(3.0 * k);
        assert_eq!(operations(|x| vec![multiple(x, 1.0) * x[2], multiple(x, 2.0) * x[3]]), (1, 5));
    }

    #[test]
    fn a_factor_is_shared_with_its_square() {
        let (half, quarter) = (Expr::lit(0.5), Expr::lit(0.25));
        let products = |x: &[Expr]| vec![half * x[0] * x[1], half * x[0] * x[2], quarter * x[0] * x[0]];
        assert_eq!(operations(products), (0, 4));
    }

    #[test]
    fn pairs_that_break_others_apart_wait() {
        let half = Expr::lit(0.5);
        // Halves of b and of c serve twice each; half of a would serve twice, and neither of them.
        let others = |x: &[Expr]| [(x[0], x[1]), (x[3], x[1]), (x[0], x[2]), (x[3].sqrt(), x[2])];
        assert_eq!(operations(|x| others(x).map(|(p, q)| half * p * q).to_vec()), (0, 6));
    }

    #[test]
    fn common_factors_and_pairs_are_shared() {
        assert_eq!(operations(|x| vec![x[0] * x[1] + x[0] * x[2] + x[0] * x[3]]), (2, 1));
        assert_eq!(operations(|x| vec![x[0] + x[1] + x[2], x[0] + x[1] + x[3]]), (3, 0));
        assert_eq!(operations(|x| vec![x[0] * x[1] * x[2], x[3] * x[0] * x[1]]), (0, 3));
    }

    #[test]
    fn a_denominator_used_twice_is_divided_by_once() {
        assert_eq!(operations(|x| vec![x[0] / x[2], x[1] / x[2], x[3] / x[2]]), (0, 4));
        assert_eq!(operations(|x| vec![x[0] / x[2]]), (0, 1));
    }
}
