//! Blocks of the plan: chains with their constants, in the scalar of the model.

use super::chain::{ChainJoint, ChainMotion, Constants, Path, constants, elements, hinge_on};
use super::forms::{ChainNumbers, Recipe, Slot, Step, centre_point};
use super::ids::{BodyId, PerBody, PerClosure};
use super::numbers::Numbers;
use super::plan::{BlockMethod, BlockPlan};
use super::topology::{Anchor, Body, Closure, Leg, Node};
use crate::scalar::Real;
use crate::spatial::{Pose, Vec3};

/// A block with its constants, seen from its leg.
#[derive(Clone, PartialEq, Debug)]
pub struct Block<S: Real> {
    /// Where the chain starts and ends.
    pub ends: [Anchor; 2],
    /// Bodies to be posed through the tree before the block, parents first.
    pub pose_first: Vec<usize>,
    /// The target point on the end node.
    pub target: Vec3<S>,
    /// Whether a rotation is carried along.
    pub oriented: bool,
    /// Where the target should be found behind the last positioning step, for the residual.
    pub tip: Vec3<S>,
    /// Steps before the residual is taken; the others only orient.
    pub positioning: usize,
    /// The steps; empty for Newton.
    pub steps: Vec<Step<S>>,
    /// Bodies on the way whose poses later blocks need: joints passed, frame behind them.
    pub exports: Vec<(usize, usize, Pose<S>)>,
    /// The constants of the chain, for the exports.
    pub between: Vec<Pose<S>>,
    /// How every joint of the chain moves.
    pub joints: Vec<ChainMotion>,
}

impl<S: Real> Block<S> {
    /// The block in another scalar, number by number, always in the same order.
    pub fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Block<T> {
        Block {
            ends: self.ends,
            pose_first: self.pose_first.clone(),
            target: self.target.map(&mut *f),
            oriented: self.oriented,
            tip: self.tip.map(&mut *f),
            positioning: self.positioning,
            steps: self.steps.iter().map(|s| s.map(f)).collect(),
            exports: self.exports.iter().map(|(b, n, X)| (*b, *n, X.map(f))).collect(),
            between: self.between.iter().map(|X| X.map(f)).collect(),
            joints: self.joints.clone(),
        }
    }
}

/// Builds the constants of the blocks of a leg.
pub(super) struct BlockBuilder<'a, S: Real> {
    pub(super) bodies: &'a PerBody<Body>,
    pub(super) closures: &'a PerClosure<Closure>,
    pub(super) numbers: &'a Numbers<S>,
    pub(super) leg: &'a Leg,
}

impl<S: Real> BlockBuilder<'_, S> {
    /// The block of a plan in this scalar.
    pub(super) fn block(&self, plan: &BlockPlan) -> Block<S> {
        let inside = |list: &[BodyId]| list.iter().filter_map(|b| self.leg.bodies.local(*b)).collect::<Vec<usize>>();
        let mut block = match &plan.method {
            BlockMethod::Newton { .. } => Block {
                ends: [Anchor::World, Anchor::Platform],
                pose_first: Vec::new(),
                target: Vec3::zeros(),
                oriented: false,
                tip: Vec3::zeros(),
                positioning: 0,
                steps: Vec::new(),
                exports: Vec::new(),
                between: Vec::new(),
                joints: Vec::new(),
            },
            BlockMethod::Chain { path, recipes, centre } => self.chain(path, recipes, *centre, &inside(&plan.exports)),
        };
        block.pose_first = inside(&plan.pose_first);
        block
    }

    fn slot(&self, e: &ChainJoint) -> Slot {
        let coord = e.coord.map(|(c, _)| self.leg.coords.local(c).expect("a chain stays in its leg"));
        Slot { coord, sign: e.coord.map_or(1.0, |(_, s)| s) }
    }

    fn chain(&self, path: &Path, recipes: &[Recipe], centre: usize, exports: &[usize]) -> Block<S> {
        let list = elements(self.bodies, self.closures, path).expect("a planned chain has plain joints");
        let Constants { between, nodes } = constants(self.bodies, self.closures, self.numbers, path);
        let at_centre = centre_point(&list, &between, centre);
        let hinge = recipes.iter().find_map(|r| r.hinge);
        let opposite = hinge.and_then(|h| hinge_on(self.bodies, self.closures, self.numbers, h, path.end()));
        let opposite = opposite.map_or_else(Vec3::zeros, |X| X.p);
        let slots: Vec<(ChainMotion, Slot)> = list.iter().map(|e| (e.motion, self.slot(e))).collect();
        let chain = ChainNumbers { between: &between, slots: &slots, opposite, centre, at_centre };
        let steps: Vec<Step<S>> = recipes.iter().map(|r| r.step(&chain)).collect();
        // Steps before the centre; the others only orient.
        let positioning = recipes.iter().take_while(|r| r.at + r.takes() <= centre).count();
        let oriented = recipes.iter().any(|r| r.form.orients());
        let tip_after = recipes.iter().take(positioning).map(Recipe::takes).sum::<usize>();
        let local = |node: &Node| if let Node::Body(b) = node { self.leg.bodies.local(*b) } else { None };
        let exports = nodes
            .iter()
            .filter_map(|(node, joints, behind)| Some((local(node).filter(|b| exports.contains(b))?, *joints, *behind)))
            .collect();
        Block {
            ends: [self.leg.anchor(path.start), self.leg.anchor(path.end())],
            pose_first: Vec::new(),
            target: chain.target(),
            oriented,
            tip: chain.centre_from(tip_after),
            positioning,
            steps,
            exports,
            joints: list.iter().map(|e| e.motion).collect(),
            between,
        }
    }
}
