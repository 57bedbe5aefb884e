//! Mobility counted in three ways (appendix A): by the rank of all loops (Moroskine), by what the legs allow the platform
//! (Gogu), and loop by loop, which is wrong where loops share constraints.
//!
//! The robot is a graph: places that move against each other, joined by joints of the tree and by cut joints. Each leg
//! has a path from base to platform and inner loops; neighbouring legs make the outer loops. A body that carries a tool
//! point is the platform.

use crate::kinematics::closure::{closure_at, joint_twist, row_kind};
use crate::kinematics::{Positions, newton};
use crate::linalg::dense::{Matrix, rank, svd};
use crate::model::{BodyId, ClosureId, Id, JointKind, Model, Node, Topology};
use crate::spatial::Twist;
use std::collections::{HashMap, VecDeque};

/// Mobility of a robot, counted in three ways.
#[derive(Clone, PartialEq, Debug)]
pub struct Counts {
    /// L: joints of one freedom, those of cut joints included; joints that follow others are not counted.
    pub joints: usize,
    /// c: independent constraints of all loops (A.4).
    pub constraints: usize,
    /// N = L - c: degrees of freedom, idle ones included (A.3).
    pub by_rank: usize,
    /// Degrees of freedom from what the legs allow (A.13), (A.14).
    pub by_legs: usize,
    /// Degrees of freedom when constraints are added loop by loop (A.2); negative when far off.
    pub by_loops: isize,
    /// What each leg allows the platform.
    pub legs: Vec<LegCount>,
    /// What all legs together allow it: the intersection of the `E_j` (A.11).
    pub platform: Motions,
    /// The loops: inner ones of each leg, then those of neighbouring legs.
    pub loops: Vec<LoopCount>,
}

/// What a leg alone allows the platform.
#[derive(Clone, PartialEq, Debug)]
pub struct LegCount {
    /// Its name; legs that hang on each other, and not only on the platform, count as one.
    pub name: String,
    /// `n_j`: its joints of one freedom.
    pub joints: usize,
    /// Constraints of its inner loops.
    pub inner: usize,
    /// Freedoms it has left when the platform is held.
    pub redundant: usize,
    /// `E_j`; `None` when it does not join base and platform.
    pub motions: Option<Motions>,
}

/// A space of platform motions.
#[derive(Clone, PartialEq, Debug)]
pub struct Motions {
    /// Its dimension.
    pub dimension: usize,
    /// `Tx Ty Rz` when world axes span it, at the origin of the platform; else translations and rotations: `2T 1R`.
    pub text: String,
}

/// Constraints of a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopCount {
    /// Which loop.
    pub name: String,
    /// Its constraints when it is alone.
    pub alone: usize,
    /// How many of them the loops before it do not impose already.
    pub new: usize,
    /// Motions that it and the loops before it hinder both, when there are any.
    pub shared: Option<Motions>,
}

impl Counts {
    /// Why the count loop by loop is wrong; `None` where it is right.
    pub fn explanation(&self) -> Option<String> {
        let repeats = |l: &LoopCount| {
            let shared = l.shared.as_ref()?;
            let by_axes = !shared.text.contains(char::is_numeric);
            let which = if by_axes { format!(" (against {})", shared.text) } else { String::new() };
            Some(format!("{} of the {} of {}{which}", shared.dimension, l.alone, l.name))
        };
        let twice: Vec<String> = self.loops.iter().filter_map(repeats).collect();
        (!twice.is_empty())
            .then(|| format!("constraints that follow from the loops before are counted again: {}", twice.join(", ")))
    }
}

/// Counts at the home posture and a few near it, where the constraints have the highest rank.
pub fn mobility(model: &Model<f64>, home: &Positions<f64>) -> Counts {
    let plan = MobilityPlan::new(model.topology());
    let size = |c: &Counts| {
        let dimension = |l: &LegCount| l.motions.as_ref().map_or(0, |m| m.dimension);
        let (legs, loops): (usize, usize) = (c.legs.iter().map(dimension).sum(), c.loops.iter().map(|l| l.alone).sum());
        (c.constraints, legs, loops)
    };
    let others = newton::postures_near(model, home).into_iter().skip(1);
    let better = |best: Counts, pos: Positions<f64>| {
        let found = plan.count(model, &pos);
        if size(&found) > size(&best) { found } else { best }
    };
    others.fold(plan.count(model, home), better)
}

/// A joint of the graph.
struct GraphJoint {
    kind: GraphJointKind,
    /// What it joins: bodies that do not move against each other are one place.
    ends: [Node; 2],
}

#[derive(Clone, Copy)]
enum GraphJointKind {
    Tree(BodyId),
    /// With the column of its first freedom.
    Cut(ClosureId, usize),
}

/// Joints one after another, with the sense in which each is passed.
type Route = Vec<(usize, f64)>;

/// A leg of the graph.
struct GraphLeg {
    name: String,
    joints: Vec<usize>,
    /// From base to platform.
    path: Option<Route>,
    inner: Vec<Route>,
}

/// What does not depend on the posture.
struct MobilityPlan {
    joints: Vec<GraphJoint>,
    chains: Vec<GraphLeg>,
    columns: usize,
}

impl MobilityPlan {
    fn new(t: &Topology) -> Self {
        let mut plan = Self { joints: Vec::new(), chains: Vec::new(), columns: t.coords.len() };
        let group = groups(t);
        let mut members: Vec<(String, Vec<usize>)> = Vec::new();
        for leg in t.legs.ids() {
            let name = &t.legs[leg].name;
            match members.get_mut(group[leg.index()]) {
                Some((names, _)) => *names = format!("{names}+{name}"),
                None => members.push((name.clone(), Vec::new())),
            }
        }
        for (b, body) in t.bodies.iter().filter(|(_, b)| b.joint != JointKind::Fixed) {
            members[group[body.leg.index()]].1.push(plan.joints.len());
            let ends = [place(t, body.parent), place(t, Node::Body(b))];
            plan.joints.push(GraphJoint { kind: GraphJointKind::Tree(b), ends });
        }
        for (c, closure) in t.closures.iter().filter(|(_, c)| !c.tool) {
            let ends = closure.sides.map(|side| place(t, side));
            // A joint between base and platform is a leg of its own.
            if ends.iter().any(|n| matches!(n, Node::Body(_))) {
                members[group[closure.leg.index()]].1.push(plan.joints.len());
            } else {
                members.push((closure.name.clone(), vec![plan.joints.len()]));
            }
            plan.joints.push(GraphJoint { kind: GraphJointKind::Cut(c, plan.columns), ends });
            plan.columns += 6 - closure.joint.rows();
        }
        plan.chains = members.into_iter().map(|(name, joints)| chain(name, joints, &plan.joints)).collect();
        plan
    }

    fn count(&self, model: &Model<f64>, pos: &Positions<f64>) -> Counts {
        let twists: Vec<Vec<(usize, [f64; 6])>> = self.joints.iter().map(|j| freedoms(model, pos, j)).collect();
        let rows = |route: &Route| {
            let mut J = Matrix::zeros(6, self.columns);
            for (joint, sign) in route {
                for (column, t) in &twists[*joint] {
                    (0..6).for_each(|i| J[(i, *column)] += sign * t[i]);
                }
            }
            J
        };
        let (legs, spaces): (Vec<LegCount>, Vec<Option<Matrix>>) =
            self.chains.iter().map(|chain| leg_count(chain, &twists, &rows)).unzip();
        let spaces: Vec<Matrix> = spaces.into_iter().flatten().collect();
        let loops = count_loops(self.loops().into_iter().map(|(name, route)| (name, rows(&route))));
        let common = intersection(&spaces);
        let joints = self.columns;
        let constraints = loops.iter().map(|l| l.new).sum();
        let alone: usize = loops.iter().map(|l| l.alone).sum();
        // (A.14): N = Σ (n_j - C_cl,j - dim E_j) + dim ∩ E_j, in parentheses the redundant freedoms of leg j.
        let by_legs = legs.iter().map(|l| l.redundant).sum::<usize>() + common.ncols();
        Counts {
            joints,
            constraints,
            by_rank: joints - constraints,
            by_legs,
            by_loops: joints.cast_signed() - alone.cast_signed(),
            legs,
            platform: describe(&common),
            loops,
        }
    }

    /// Independent loops: inner ones, then those of neighbouring legs.
    fn loops(&self) -> Vec<(String, Route)> {
        let mut loops = Vec::new();
        for chain in &self.chains {
            let many = chain.inner.len() > 1;
            for (k, route) in chain.inner.iter().enumerate() {
                let number = if many { format!(" {}", k + 1) } else { String::new() };
                loops.push((format!("the inner loop{number} of leg {}", chain.name), route.clone()));
            }
        }
        let paths: Vec<(&str, &Route)> =
            self.chains.iter().filter_map(|c| Some((c.name.as_str(), c.path.as_ref()?))).collect();
        for pair in paths.windows(2) {
            let there = pair[0].1.iter().copied();
            let back = pair[1].1.iter().map(|(joint, sign)| (*joint, -sign));
            loops.push((format!("the loop of legs {} and {}", pair[0].0, pair[1].0), there.chain(back).collect()));
        }
        loops
    }
}

/// What a node is rigidly part of.
fn place(t: &Topology, node: Node) -> Node {
    let carrier = |mut node: Node| {
        while let Node::Body(b) = node
            && t.bodies[b].joint == JointKind::Fixed
        {
            node = t.bodies[b].parent;
        }
        node
    };
    let own = carrier(node);
    let tool = t.platform.tool.map(|b| carrier(Node::Body(b)));
    if matches!(own, Node::Body(_)) && tool == Some(own) { Node::Platform } else { own }
}

/// Legs that are tied to each other away from base and platform are one: a group number for each leg.
fn groups(t: &Topology) -> Vec<usize> {
    let mut group: Vec<usize> = (0..t.legs.len()).collect();
    for leg in t.legs.ids() {
        for outside in &t.legs[leg].outside {
            if let Node::Body(b) = place(t, Node::Body(*outside)) {
                let (a, b) = (group[leg.index()], group[t.bodies[b].leg.index()]);
                group.iter_mut().filter(|g| **g == a.max(b)).for_each(|g| *g = a.min(b));
            }
        }
    }
    let mut seen: Vec<usize> = Vec::new();
    for g in &mut group {
        let number = seen.iter().position(|s| s == g).unwrap_or(seen.len());
        if number == seen.len() {
            seen.push(*g);
        }
        *g = number;
    }
    group
}

/// The shortest path from base to platform, and one inner loop per joint that a search from the base does not use.
fn chain(name: String, joints: Vec<usize>, all: &[GraphJoint]) -> GraphLeg {
    let mut reached: HashMap<Node, Route> = HashMap::new();
    let mut used: Vec<usize> = Vec::new();
    let mut path = None;
    for root in [Node::World, Node::Platform] {
        if reached.contains_key(&root) {
            continue;
        }
        reached.insert(root, Vec::new());
        let mut queue = VecDeque::from([root]);
        while let Some(at) = queue.pop_front() {
            for j in &joints {
                let [a, b] = all[*j].ends;
                let (to, sign) = if a == at { (b, 1.0) } else { (a, -1.0) };
                if (a == at || b == at) && !reached.contains_key(&to) {
                    let mut route = reached[&at].clone();
                    route.push((*j, sign));
                    reached.insert(to, route);
                    used.push(*j);
                    queue.push_back(to);
                }
            }
        }
        path = path.or_else(|| reached.get(&Node::Platform).filter(|route| !route.is_empty()).cloned());
    }
    let inner = joints
        .iter()
        .filter(|j| !used.contains(j))
        .filter_map(|j| {
            let [a, b] = all[*j].ends.map(|end| reached.get(&end));
            let back = b?.iter().map(|(joint, sign)| (*joint, -sign));
            Some(a?.iter().copied().chain([(*j, 1.0)]).chain(back).collect())
        })
        .collect();
    GraphLeg { name, joints, path, inner }
}

/// Motions that a joint allows, by column, at the origin of the platform; lengths are divided by the length scale.
fn freedoms(model: &Model<f64>, pos: &Positions<f64>, joint: &GraphJoint) -> Vec<(usize, [f64; 6])> {
    let (t, length) = (model.topology(), model.length());
    match joint.kind {
        GraphJointKind::Tree(b) => {
            let V = joint_twist(model, b, pos);
            let V = Twist { v: V.v * (1.0 / length), w: V.w };
            let own = t.bodies[b].coord.map(|c| (c, 1.0));
            let terms = own.into_iter().chain(model.numbers().bodies[b].coupling.iter().copied());
            let unit = |slides: bool| if slides { length } else { 1.0 };
            terms.map(|(c, k)| (c.index(), V.scale(k * unit(t.coords[c].slides)).to_array())).collect()
        }
        GraphJointKind::Cut(c, first) => {
            // What no wrench of the closure hinders.
            let at = closure_at(model, c, pos);
            let r = at.B.p - pos.X_WE.p;
            let rows: Vec<[f64; 6]> = (0..at.joint.rows())
                .map(|row| {
                    let mut F = at.wrench(row_kind(at.joint, row)).at(-r);
                    F.f *= length;
                    F.to_array()
                })
                .collect();
            let free = svd(&Matrix::from_fn(rows.len(), 6, |i, j| rows[i][j])).v;
            let column = |k: usize| std::array::from_fn(|i| free[(i, rows.len() + k)]);
            (0..6 - rows.len()).map(|k| (first + k, column(k))).collect()
        }
    }
}

/// `E_j = J_path · null(J_inner)`, and its basis.
fn leg_count(
    chain: &GraphLeg,
    twists: &[Vec<(usize, [f64; 6])>],
    rows: &dyn Fn(&Route) -> Matrix,
) -> (LegCount, Option<Matrix>) {
    let mut own: Vec<usize> = chain.joints.iter().flat_map(|j| twists[*j].iter().map(|(column, _)| *column)).collect();
    own.sort_unstable();
    own.dedup();
    let pick = |J: &Matrix| Matrix::from_fn(J.nrows(), own.len(), |i, j| J[(i, own[j])]);
    let inner = svd(&below(&chain.inner.iter().map(|route| pick(&rows(route))).collect::<Vec<_>>(), own.len()));
    let moving = inner.null_space();
    let space = chain.path.as_ref().map(|path| range(&(pick(&rows(path)) * &moving)));
    let dimension = space.as_ref().map_or(0, Matrix::ncols);
    let count = LegCount {
        name: chain.name.clone(),
        joints: own.len(),
        inner: inner.rank(),
        redundant: moving.ncols() - dimension,
        motions: space.as_ref().map(describe),
    };
    (count, space)
}

/// Rank of every loop alone, and what it adds to the loops before it.
fn count_loops(loops: impl Iterator<Item = (String, Matrix)>) -> Vec<LoopCount> {
    let mut stack: Vec<Matrix> = Vec::new();
    let mut counts = Vec::new();
    for (name, J) in loops {
        let before = svd(&below(&stack, J.ncols()));
        stack.push(J.clone());
        let (alone, new) = (rank(&J), rank(&below(&stack, J.ncols())) - before.rank());
        let known = Matrix::from_fn(J.ncols(), before.rank(), |i, j| before.v[(i, j)]);
        let shared = (new < alone).then(|| describe(&shared_wrenches(&J, &known, alone, new)));
        counts.push(LoopCount { name, alone, new, shared });
    }
    counts
}

/// Constraints of a loop, out of `alone`, whose rows lie in the span of known ones; `new` do not.
fn shared_wrenches(J: &Matrix, known: &Matrix, alone: usize, new: usize) -> Matrix {
    let rest = J - (J * known) * known.transpose();
    let (u, own) = (svd(&rest).u, range(J));
    let known_or_none = Matrix::from_fn(6, 6 - new, |i, j| u[(i, new + j)]);
    let u = svd(&(&own * (own.transpose() * known_or_none))).u;
    Matrix::from_fn(6, alone - new, |i, j| u[(i, j)])
}

/// Orthonormal basis of the columns.
fn range(a: &Matrix) -> Matrix {
    let f = svd(a);
    Matrix::from_fn(a.nrows(), f.rank(), |i, j| f.u[(i, j)])
}

/// Matrices below each other.
fn below(parts: &[Matrix], columns: usize) -> Matrix {
    let rows: Vec<(&Matrix, usize)> = parts.iter().flat_map(|m| (0..m.nrows()).map(move |i| (m, i))).collect();
    Matrix::from_fn(rows.len(), columns, |i, j| rows[i].0[(rows[i].1, j)])
}

/// Common motions: what is reciprocal to the constraint wrenches of every space.
fn intersection(spaces: &[Matrix]) -> Matrix {
    let wrenches: Vec<Matrix> = spaces.iter().map(|E| svd(E).left_null_space().transpose()).collect();
    svd(&below(&wrenches, 6)).null_space()
}

/// A space of motions in words; its basis is orthonormal.
fn describe(basis: &Matrix) -> Motions {
    let dimension = basis.ncols();
    let axes = ["Tx", "Ty", "Tz", "Rx", "Ry", "Rz"];
    let inside = |i: usize| (0..dimension).map(|j| basis[(i, j)].powi(2)).sum::<f64>() > 1.0 - 1e-10;
    let named: Vec<&str> = (0..6).filter(|i| inside(*i)).map(|i| axes[i]).collect();
    let turns = rank(&Matrix::from_fn(3, dimension, |i, j| basis[(3 + i, j)]));
    let text = if dimension == 0 {
        "none".to_owned()
    } else if named.len() == dimension {
        named.join(" ")
    } else {
        let part = |n: usize, letter: &str| (n > 0).then(|| format!("{n}{letter}"));
        [part(dimension - turns, "T"), part(turns, "R")].into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    Motions { dimension, text }
}
