//! How a posture is solved: an ordered list of small blocks, each from what is already known.
//!
//! A block is a chain of joints between two known bodies. The point that its last joints turn about is carried, as seen
//! from the chain, through the joints one after the other; each step solves the next one to three of them. Steps hold
//! their constants in the model's scalar, and the square roots they take have a sign from the working mode.

use super::chain::Path;
use super::forms::Recipe;
use super::ids::{BodyId, ClosureId, CoordId, LegId, PerLeg};
use crate::linalg::small::PivotOrder;
use crate::spatial::Pose;

/// Integers of the plan.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModelPlan {
    /// Blocks of the inverse geometry, in order.
    pub inverse: Vec<BlockPlan>,
    /// Blocks of the forward geometry when dyads suffice, in order.
    pub forward: Option<Vec<BlockPlan>>,
    /// Active coordinates that the pose does not determine and that must be given.
    pub given: Vec<CoordId>,
    /// Where each of them stands at home, for those that `near` does not tell.
    pub given_at: Vec<f64>,
    /// The platform's dependent coordinates are solved first.
    pub solve_platform: bool,
    /// Pivots of all closures over those coordinates and all joints, lengths scaled.
    pub pivots: PivotOrder,
    /// Which closure rows give the rates of each leg.
    pub pivots_of_leg: PerLeg<LegPivots>,
    /// Which closure rows give the matrices A, B, Ψ_t, J_t, J_ta, J_td.
    pub matrices: MatrixPlan,
    /// Closed postures at home, of every mode that was found there: what the branches of legs without closed form, and of
    /// coordinates that follow, are led from.
    pub anchors: Vec<AnchorPosture>,
    /// Legs that reach do not by themselves close all loops: closures are checked at every posture.
    pub careful: bool,
}

/// A closed posture that branches are led from, and how it is called.
#[derive(Clone, PartialEq, Debug)]
pub struct AnchorPosture {
    /// ±1 per root, leg after leg.
    pub signs: Vec<f64>,
    /// Per block: the branch of a leg without closed form.
    pub branches: Vec<Option<Branch>>,
    /// Which solution for the platform coordinates that follow, from 1.
    pub follows: usize,
    /// The platform.
    pub X_WE: Pose<f64>,
    /// Every joint coordinate.
    pub joints: Vec<f64>,
}

/// A branch of a leg without closed form, by how it stands at home: the side of the leg's singularities, then a number by how
/// far its joints are from those that the file's `near` tells, then from zero. The first is `+1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// Whether the determinant of its closures has the sign of the first.
    pub positive: bool,
    /// From 1, the nearest first.
    pub number: usize,
}

impl std::fmt::Display for Branch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.positive { '+' } else { '-' }, self.number)
    }
}

impl ModelPlan {
    /// The block of a leg that Newton solves, if it has one.
    pub fn newton_block(&self, leg: LegId) -> Option<&BlockPlan> {
        self.inverse.iter().find(|b| b.leg == leg && !b.newton_coords().is_empty())
    }
}

/// Closure rows that give the rates of a leg, in the order of elimination: passive joints first, then active ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LegPivots {
    /// Closure of the leg and row of that closure, per pivot.
    pub rows: Vec<(usize, usize)>,
    /// Coordinate of the leg, per pivot.
    pub cols: Vec<usize>,
    /// How many of the pivots are passive joints.
    pub passive: usize,
    /// Per closure of the leg: place among the pivots and row, for each of its pivot rows.
    pub by_closure: Vec<Vec<(usize, usize)>>,
    /// Per coordinate of the leg: its place among the pivots, if it has one.
    pub place: Vec<Option<usize>>,
    /// Coordinates of the leg that its closures leave open: their rates are given.
    pub free: Vec<usize>,
    /// What makes each pivot a number without unit.
    pub scales: Vec<f64>,
}

impl LegPivots {
    /// From rows and coordinates in the order of elimination.
    pub fn new(
        rows: Vec<(usize, usize)>,
        cols: Vec<usize>,
        scales: Vec<f64>,
        passive: usize,
        coords: usize,
        closures: usize,
    ) -> Self {
        let of = |c: usize| rows.iter().enumerate().filter(|(_, r)| r.0 == c).map(|(i, r)| (i, r.1)).collect();
        let by_closure = (0..closures).map(of).collect();
        let place: Vec<Option<usize>> = (0..coords).map(|c| cols.iter().position(|k| *k == c)).collect();
        let free = (0..coords).filter(|c| place[*c].is_none()).collect();
        Self { rows, cols, passive, by_closure, place, free, scales }
    }
}

/// Which closure rows give the matrices of first order, and in which order passive and active joints are eliminated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MatrixPlan {
    /// Legs that hang on each other, one block each; usually a block is a leg.
    pub blocks: Vec<MatrixBlock>,
    /// Passive coordinates that the closures determine, in order: rows and columns of J_td.
    pub passive: Vec<CoordId>,
    /// Constraint rows (over all blocks) that give the dependent components of the platform twist, and those components.
    pub platform: PivotOrder,
    /// Rank of the platform pivots at full mobility: components of the twist less the independent ones.
    pub dependent: usize,
}

/// The part of a [`MatrixPlan`] that belongs to legs that hang on each other.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MatrixBlock {
    /// The legs.
    pub legs: Vec<LegId>,
    /// Their coordinates: the first columns; then six for the platform twist, and one for the bias.
    pub coords: Vec<CoordId>,
    /// Rows in use: those that give the passive joints, then the actuation rows, then the constraint rows.
    pub rows: Vec<(ClosureId, usize)>,
    /// Column of the pivot of each passive and actuation row.
    pub cols: Vec<usize>,
    /// What makes each of those pivots a number without unit.
    pub scales: Vec<f64>,
    /// How many rows give passive joints.
    pub passive: usize,
    /// How many are actuation rows.
    pub active: usize,
    /// How each actuation and constraint row is made a unit wrench.
    pub norms: Vec<Norm>,
    /// Actuation rows whose sign is turned round, so that at the planned posture the wrench works with its joint.
    pub turned: Vec<bool>,
    /// Actuation rows that a constraint row must be freed of, per constraint row.
    pub cleared: Vec<Vec<usize>>,
    /// Rows by closure: place among the rows, and row of the closure.
    pub by_closure: Vec<(ClosureId, Vec<(usize, usize)>)>,
    /// Place of each coordinate among the active ones, or among the passive ones that the closures determine.
    pub place: Vec<CoordPlace>,
}

/// Where a coordinate stands in the matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoordPlace {
    /// Column of B and J_ta.
    Active(usize),
    /// Column of J_td.
    Passive(usize),
    /// A freedom that moves nothing else: in no matrix.
    Idle,
}

/// How a wrench is scaled to one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Norm {
    /// A unit force.
    Force,
    /// A unit moment.
    Moment,
    /// Force, and moment over a length, together.
    Both(f64),
}

/// One block.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockPlan {
    /// The leg it belongs to.
    pub leg: LegId,
    /// How it is solved.
    pub method: BlockMethod,
    /// Bodies to be posed through the tree before the block, parents first.
    pub pose_first: Vec<BodyId>,
    /// Bodies on its chain whose poses later blocks need.
    pub exports: Vec<BodyId>,
    /// Square roots whose sign distinguishes modes, in order.
    pub roots: Vec<Root>,
    /// Newton: pivots of the leg's closures, lengths scaled.
    pub pivots: PivotOrder,
}

impl BlockPlan {
    /// Coordinates that are left to Newton.
    pub fn newton_coords(&self) -> &[CoordId] {
        match &self.method {
            BlockMethod::Newton { coords } => coords,
            BlockMethod::Chain { .. } => &[],
        }
    }
}

/// Ways to solve a block.
#[derive(Clone, PartialEq, Debug)]
pub enum BlockMethod {
    /// In closed form along a chain.
    Chain {
        /// The chain.
        path: Path,
        /// The steps.
        recipes: Vec<Recipe>,
        /// Index of the joint at whose centre the target is; the number of joints when it is the end itself.
        centre: usize,
    },
    /// By Newton's method on all closures of the leg, from a seed.
    Newton {
        /// Unknown coordinates.
        coords: Vec<CoordId>,
    },
}

/// What a sign of a mode stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// `+`: the proximal link lies counter-clockwise from the line to the tip.
    Elbow,
    /// `+`: the larger slide.
    Slider,
    /// `p` parallelogram, `x` crossed.
    Loop,
    /// `-`: a universal joint turned round, where that moves its second axis.
    Turned,
}
