//! Stage 8: motions through singularities, chapter 9: where a motion meets them, what that does to the efforts, and how to
//! plan one that crosses with finite efforts.

mod degeneracy;
mod leg_driven;
mod meet;
mod optimise;
mod pace;
mod passive;
mod plan;
mod refusal;
mod score;

pub use degeneracy::{Degeneracy, DriveBalance, criterion, lost_motions};
pub use leg_driven::LegDriven;
pub use meet::{Crossing, Inspection, crossings, inspect, inspect_all};
pub use optimise::{Objective, Progress, minimise};
pub use pace::{Beside, fastest, refined};
pub use passive::{LegArrival, LegCrossing, LegPlan, driven_by, plan_passive, simulate_leg};
pub use plan::{CrossingPlan, CrossingTask, Wish, plan_crossing};
pub use refusal::PlanError;
pub use score::Score;
