//! Planning: which chain is solved when. The first chain found that a closed form solves makes its bodies known; then
//! the next. What no closed form solves is left to Newton, leg by leg.

use super::chain::{Edge, Hop, Path, constants, elements, hinge_on};
use super::expand::Layout;
use super::forms::{HingedBar, Recipe, Recognised, View};
use super::ids::{BodyId, CoordId, LegId, PerLeg};
use super::numbers::Numbers;
use super::plan::{BlockMethod, BlockPlan, ModelPlan};
use super::topology::{CoordKind, JointKind, Node, Platform};
use crate::description::{ClosureJoint, Coordinates};
use crate::linalg::small::PivotOrder;
use std::collections::HashSet;

/// Longest way considered, in hops.
const LONGEST: usize = 10;
/// Most ways considered at a time.
const MOST_WAYS: usize = 4000;

/// Plan the inverse geometry and, where dyads suffice, the forward geometry.
pub(super) fn plan(layout: &Layout, numbers: &Numbers<f64>, platform: &Platform) -> ModelPlan {
    let mut given = Vec::new();
    let inverse = Planner::inverse(layout, numbers, &mut given);
    let forward =
        matches!(platform.coordinates, Coordinates::Point(_)).then(|| Planner::forward(layout, numbers)).flatten();
    let solve_platform = !platform.dependent.is_empty();
    let newton = inverse.iter().any(|b| matches!(b.method, BlockMethod::Newton { .. }));
    let careful = solve_platform || newton;
    ModelPlan {
        inverse,
        forward,
        given_at: vec![0.0; given.len()],
        given,
        solve_platform,
        pivots: PivotOrder::default(),
        pivots_of_leg: PerLeg::default(),
        matrices: super::plan::MatrixPlan::default(),
        anchors: Vec::new(),
        careful,
    }
}

struct Planner<'a> {
    layout: &'a Layout,
    numbers: &'a Numbers<f64>,
    /// Nodes whose pose is known.
    known: HashSet<Node>,
    /// Coordinates that are known.
    solved: HashSet<CoordId>,
    /// Bodies whose pose has been computed by an earlier step.
    posed: HashSet<BodyId>,
    blocks: Vec<BlockPlan>,
}

impl<'a> Planner<'a> {
    fn new(layout: &'a Layout, numbers: &'a Numbers<f64>, known: &[Node]) -> Self {
        Self {
            layout,
            numbers,
            known: known.iter().copied().collect(),
            solved: layout.bodies.values().filter(|b| b.held).filter_map(|b| b.coord).collect(),
            posed: HashSet::new(),
            blocks: Vec::new(),
        }
    }

    /// From a platform pose to all joints: the leg that carries the tool first.
    fn inverse(layout: &'a Layout, numbers: &'a Numbers<f64>, given: &mut Vec<CoordId>) -> Vec<BlockPlan> {
        let mut planner = Self::new(layout, numbers, &[Node::World, Node::Platform]);
        for leg in &layout.order {
            planner.leg(*leg, given);
        }
        planner.blocks
    }

    /// From the active joints to everything, when chains between driven bodies close one after the other.
    fn forward(layout: &'a Layout, numbers: &'a Numbers<f64>) -> Option<Vec<BlockPlan>> {
        let mut planner = Self::new(layout, numbers, &[Node::World]);
        let active = layout.coords.iter().filter(|(_, c)| c.kind == CoordKind::Active).map(|(id, _)| id);
        planner.solved.extend(active);
        planner.spread();
        let all: HashSet<LegId> = layout.legs.ids().collect();
        while planner.block(&all).is_some() {}
        (planner.solved.len() == layout.coords.len()).then_some(planner.blocks)
    }

    /// Plan one leg; what is left over goes to Newton.
    fn leg(&mut self, leg: LegId, given: &mut Vec<CoordId>) {
        let only: HashSet<LegId> = [leg].into();
        let start = (self.known.clone(), self.solved.clone(), self.posed.clone(), self.blocks.len());
        while self.block(&only).is_some() {}
        if self.unsolved(leg).is_empty() {
            return;
        }
        // Kinematic redundancy: with one more active joint given, the rest may follow.
        for c in self.perhaps_open(leg) {
            self.restore(&start);
            self.solved.insert(c);
            self.spread();
            while self.block(&only).is_some() {}
            if self.unsolved(leg).is_empty() {
                given.push(c);
                return;
            }
        }
        self.restore(&start);
        // Where no closed form solves the rest either, what the pose leaves open is given all the same.
        let own = self.layout.legs[leg].coords;
        let open: Vec<CoordId> = self.layout.open.iter().copied().filter(|c| own.local(*c).is_some()).collect();
        self.solved.extend(&open);
        given.extend(open);
        let coords = self.unsolved(leg);
        let pose_first = self.outside_bodies(leg);
        self.blocks.push(BlockPlan {
            leg,
            method: BlockMethod::Newton { coords: coords.clone() },
            pose_first,
            exports: Vec::new(),
            roots: Vec::new(),
            pivots: PivotOrder::default(),
        });
        self.solved.extend(coords);
        for b in self.layout.legs[leg].bodies.iter() {
            self.known.insert(Node::Body(b));
        }
    }

    /// Active joints of a leg that the pose may leave open, those first whose place the file tells: before postures have told
    /// which, all of a leg that has several.
    fn perhaps_open(&self, leg: LegId) -> Vec<CoordId> {
        let active = self.layout.legs[leg].coords.iter().filter(|c| self.is_active(*c));
        let mut found: Vec<CoordId> = match &self.layout.determined {
            Some(determined) => active.filter(|c| !determined.contains(c)).collect(),
            None => active.collect(),
        };
        if self.layout.determined.is_none() && found.len() < 2 {
            found.clear();
        }
        found.sort_by_key(|c| !self.layout.near.contains(c));
        found
    }

    fn restore(&mut self, at: &(HashSet<Node>, HashSet<CoordId>, HashSet<BodyId>, usize)) {
        self.known.clone_from(&at.0);
        self.solved.clone_from(&at.1);
        self.posed.clone_from(&at.2);
        self.blocks.truncate(at.3);
    }

    fn is_active(&self, c: CoordId) -> bool {
        self.layout.coords[c].kind == CoordKind::Active
    }

    fn unsolved(&self, leg: LegId) -> Vec<CoordId> {
        self.layout.legs[leg].coords.iter().filter(|c| !self.solved.contains(c)).collect()
    }

    /// Bodies of other legs that the closures of a leg reach.
    fn outside_bodies(&mut self, leg: LegId) -> Vec<BodyId> {
        let mut first = Vec::new();
        for c in self.layout.legs[leg].closures.iter() {
            for side in self.layout.closures[c].sides {
                if let Node::Body(b) = side
                    && self.layout.bodies[b].leg != leg
                {
                    self.pose(b, &mut first);
                }
            }
        }
        first
    }

    /// Bodies whose joints are known follow their parents.
    fn spread(&mut self) {
        for (id, body) in self.layout.bodies.iter() {
            let joint_known = match (body.joint, body.coord) {
                (JointKind::Fixed, _) => true,
                (_, Some(c)) => self.solved.contains(&c),
                (_, None) => body.coupled.iter().all(|(c, _)| self.solved.contains(c)),
            };
            if joint_known && self.known.contains(&body.parent) {
                self.known.insert(Node::Body(id));
            }
        }
    }

    /// Add a body, and what it stands on, to the list of bodies to be posed through the tree.
    fn pose(&mut self, b: BodyId, list: &mut Vec<BodyId>) {
        if !self.posed.insert(b) {
            return;
        }
        if let Node::Body(parent) = self.layout.bodies[b].parent {
            self.pose(parent, list);
        }
        list.push(b);
    }

    /// Find the next chain and make it a block.
    fn block(&mut self, legs: &HashSet<LegId>) -> Option<()> {
        let mut best: Option<(usize, Path, Recognised)> = None;
        for path in self.ways(legs) {
            for path in [path.clone(), path.reversed()] {
                let Some(found) = self.recognise(&path) else { continue };
                let cost = path.hops.len() * 10 + found.recipes.len();
                if best.as_ref().is_none_or(|(c, ..)| cost < *c) {
                    best = Some((cost, path, found));
                }
            }
        }
        let (_, path, found) = best?;
        self.take(path, found);
        Some(())
    }

    fn recognise(&self, path: &Path) -> Option<Recognised> {
        let list = elements(&self.layout.bodies, &self.layout.closures, path)?;
        let unknown = |c: CoordId| !self.solved.contains(&c);
        if !list.iter().any(|e| e.coord.is_some_and(|(c, _)| unknown(c))) {
            return None;
        }
        let constants = constants(&self.layout.bodies, &self.layout.closures, self.numbers, path);
        let bars = self.bars(path);
        let view = View {
            list: &list,
            constants: &constants,
            range: &|c| self.layout.coords[c].range.map(|r| r.limits()),
            driven: &|c| self.layout.coords[c].driven,
            known: &|c| !unknown(c),
            bars: &bars,
            centre: 0,
        };
        let turns = |r: &Recipe| r.form.orients();
        // A tool point has no orientation.
        let is_point = path.end() == Node::Platform && self.layout.tool.is_some();
        view.recognise().filter(|found| !(is_point && found.recipes.iter().any(turns)))
    }

    /// Known bars that hinges join to the start and to the end of a way.
    fn bars(&self, path: &Path) -> Vec<HingedBar> {
        let layout = self.layout;
        let hinge = |edge: Edge, node: Node| hinge_on(&layout.bodies, &layout.closures, self.numbers, edge, node);
        let hinges = self.hinges();
        let touching = |n: Node| hinges.iter().filter(move |(_, a, b)| *a == n || *b == n);
        let other = |e: &(Edge, Node, Node), n: Node| if e.1 == n { e.2 } else { e.1 };
        let mut bars = Vec::new();
        for first in touching(path.start) {
            let bar = other(first, path.start);
            if !self.known.contains(&bar) || bar == path.start || path.nodes.contains(&bar) {
                continue;
            }
            for second in touching(path.end()).filter(|e| other(e, path.end()) == bar && e.0 != first.0) {
                let frames = (
                    hinge(first.0, path.start),
                    hinge(first.0, bar),
                    hinge(second.0, bar),
                    hinge(second.0, path.end()),
                );
                if let (Some(A), Some(A_bar), Some(D_bar), Some(D)) = frames {
                    bars.push(HingedBar { hinge: second.0, first: [A, A_bar], second: [D_bar, D] });
                }
            }
        }
        bars
    }

    /// All revolute joints between two nodes, cut or not.
    fn hinges(&self) -> Vec<(Edge, Node, Node)> {
        let tree = self.layout.bodies.iter().filter(|(_, b)| b.joint == JointKind::Revolute);
        let tree = tree.map(|(id, b)| (Edge::Tree(id), b.parent, Node::Body(id)));
        let cut = self.layout.closures.iter().filter(|(_, c)| c.joint == ClosureJoint::Revolute);
        tree.chain(cut.map(|(id, c)| (Edge::Closure(id), c.sides[0], c.sides[1]))).collect()
    }

    /// Make a block of a recognised chain.
    fn take(&mut self, path: Path, found: Recognised) {
        let mut pose_first = Vec::new();
        for node in [path.start, path.end()] {
            if let Node::Body(b) = node {
                if self.tree_is_solved(b) {
                    self.pose(b, &mut pose_first);
                } else {
                    self.export(b);
                }
            }
        }
        let list = elements(&self.layout.bodies, &self.layout.closures, &path).unwrap_or_default();
        self.solved.extend(list.iter().filter_map(|e| e.coord.map(|c| c.0)));
        self.known.extend(path.nodes.iter().copied());
        let inside = path.nodes.iter().filter_map(|n| if let Node::Body(b) = n { Some(*b) } else { None });
        let leg = inside
            .map(|b| self.layout.bodies[b].leg)
            .next()
            .unwrap_or_else(|| self.layout.legs.ids().next().expect("a robot has a leg"));
        let roots = found.recipes.iter().flat_map(Recipe::roots).collect();
        let method = BlockMethod::Chain { path, recipes: found.recipes, centre: found.centre };
        self.blocks.push(BlockPlan {
            leg,
            method,
            pose_first,
            exports: Vec::new(),
            roots,
            pivots: PivotOrder::default(),
        });
    }

    fn tree_is_solved(&self, b: BodyId) -> bool {
        let body = &self.layout.bodies[b];
        let joint = match (body.joint, body.coord) {
            (JointKind::Fixed, _) => true,
            (_, Some(c)) => self.solved.contains(&c),
            (_, None) => body.coupled.iter().all(|(c, _)| self.solved.contains(c)),
        };
        joint && if let Node::Body(p) = body.parent { self.tree_is_solved(p) } else { true }
    }

    /// Ask the block whose chain passes the body for its pose.
    fn export(&mut self, b: BodyId) {
        let passes = |block: &BlockPlan| match &block.method {
            BlockMethod::Chain { path, .. } => path.nodes.contains(&Node::Body(b)),
            BlockMethod::Newton { .. } => false,
        };
        if let Some(block) = self.blocks.iter_mut().find(|block| passes(block))
            && !block.exports.contains(&b)
        {
            block.exports.push(b);
        }
    }

    /// Ways between known nodes through unknown bodies of the given legs.
    fn ways(&self, legs: &HashSet<LegId>) -> Vec<Path> {
        let mut edges: Vec<(Edge, Node, Node)> = Vec::new();
        for (id, body) in self.layout.bodies.iter().filter(|(_, b)| legs.contains(&b.leg)) {
            edges.push((Edge::Tree(id), body.parent, Node::Body(id)));
        }
        for (id, c) in self.layout.closures.iter().filter(|(_, c)| legs.contains(&c.leg)) {
            edges.push((Edge::Closure(id), c.sides[0], c.sides[1]));
        }
        let mut starts: Vec<Node> = vec![Node::World, Node::Platform];
        starts.extend(self.layout.bodies.ids().map(Node::Body));
        let mut ways = Vec::new();
        for start in starts.into_iter().filter(|n| self.known.contains(n)) {
            let mut path = Path { start, hops: Vec::new(), nodes: Vec::new() };
            self.extend(&edges, &mut path, &mut ways);
        }
        ways
    }

    fn extend(&self, edges: &[(Edge, Node, Node)], path: &mut Path, ways: &mut Vec<Path>) {
        if path.hops.len() >= LONGEST || ways.len() >= MOST_WAYS {
            return;
        }
        let here = path.end();
        for (edge, a, b) in edges {
            let forward = *a == here;
            let next = if forward { *b } else { *a };
            let used = path.hops.iter().any(|h| h.edge == *edge);
            if used
                || (*a != here && *b != here)
                || path.nodes.contains(&next)
                || (!self.known.contains(&next) && next == path.start)
            {
                continue;
            }
            path.hops.push(Hop { edge: *edge, forward });
            path.nodes.push(next);
            if self.known.contains(&next) {
                ways.push(path.clone());
            } else {
                self.extend(edges, path, ways);
            }
            path.hops.pop();
            path.nodes.pop();
        }
    }
}
