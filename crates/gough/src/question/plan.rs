//! Plans of motions from pose to pose, through singularities too.

use super::Error;
use super::along::AlongAnswer;
use crate::Robot;
use crate::crossing::{
    Beside, Crossing, CrossingPlan, CrossingTask, Objective, PlanError, Score, Wish, crossings, fastest, inspect_all,
    plan_crossing, refined,
};
use crate::kinematics::{WorkingMode, inverse};
use crate::model::Model;
use crate::spatial::{Pose, Wrench};
use crate::trajectory::{Look, TimeLaw, Trajectory, by_joints};
use serde::Serialize;

/// A motion to plan; [`Robot::plan`] begins it, [`Plan::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Plan<'r> {
    robot: &'r Robot,
    from: Pose<f64>,
    to: Pose<f64>,
    duration: f64,
    mode: Option<WorkingMode>,
    law: TimeLaw,
    via: Vec<(f64, Pose<f64>)>,
    joints: bool,
    fastest: bool,
    cross: Option<Vec<Wish>>,
    objective: Option<Objective>,
    seed: u64,
}

/// A planned motion: what it takes and meets, and how it is written.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PlanAnswer {
    /// What it takes and meets.
    #[serde(flatten)]
    pub along: AlongAnswer,
    /// When it begins and ends, s.
    pub span: [f64; 2],
    /// Coefficients of its polynomials, the constant first, by coordinate; none where it is not one polynomial each.
    #[serde(serialize_with = "by_name")]
    pub coefficients: Vec<(&'static str, Vec<f64>)>,
    /// Of a motion through singularities.
    #[serde(flatten)]
    pub crossing: Option<CrossingAnswer>,
    /// The motion.
    #[serde(skip)]
    pub trajectory: Trajectory,
}

/// What was found out about a motion through singularities.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CrossingAnswer {
    /// Efforts beside every crossing under refinement of the step.
    pub refinement: Vec<Refinement>,
    /// How far wished poses were from the singularity, m, angles at the length scale.
    pub moved_onto_singularity: Vec<f64>,
    /// What the plan is worth.
    pub score: Score,
    /// How many motions were looked at.
    pub motions_looked_at: usize,
}

/// Efforts beside a crossing, from steps of a millisecond to a microsecond.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Refinement {
    /// Of the plan.
    pub planned: Vec<Beside>,
    /// Of the same motion without the condition on its acceleration.
    pub without_condition: Vec<Beside>,
}

fn by_name<S: serde::Serializer>(list: &[(&'static str, Vec<f64>)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(list.iter().map(|(name, values)| (name, values)))
}

impl Robot {
    /// A motion to a pose, from home at rest to rest in a second unless told otherwise.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let plan = robot.plan(&robot.pose("x=0.05, y=0.28")?).from(&robot.pose("x=0, y=0.3")?).time(0.5).answer()?;
    /// assert_eq!(plan.span, [0.0, 0.5]);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn plan(&self, to: &Pose<f64>) -> Plan<'_> {
        Plan {
            robot: self,
            from: *self.home().pose(),
            to: *to,
            duration: 1.0,
            mode: None,
            law: TimeLaw::Poly5,
            via: Vec::new(),
            joints: false,
            fastest: false,
            cross: None,
            objective: None,
            seed: 1,
        }
    }
}

impl Plan<'_> {
    /// Where it starts; home unless given.
    pub fn from(mut self, from: &Pose<f64>) -> Self {
        self.from = *from;
        self
    }

    /// How long it takes, s.
    pub fn time(mut self, seconds: f64) -> Self {
        self.duration = seconds;
        self
    }

    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.mode = Some(mode.clone());
        self
    }

    /// Law of motion from rest to rest; the polynomial of degree five unless given.
    pub fn law(mut self, law: TimeLaw) -> Self {
        self.law = law;
        self
    }

    /// A pose on the way and its time; several in the order of time.
    pub fn via(mut self, pose: &Pose<f64>, time: f64) -> Self {
        self.via.push((time, *pose));
        self
    }

    /// Every drive goes straight from its first to its last place.
    pub fn in_joints(mut self) -> Self {
        self.joints = true;
        self
    }

    /// In the shortest time within the limits of the file.
    pub fn fastest(mut self) -> Self {
        self.fastest = true;
        self
    }

    /// Through Type 2 singularities, with what is wished of each crossing in the order of time; nothing where the list is empty.
    pub fn cross(mut self, wishes: Vec<Wish>) -> Self {
        self.cross = Some(wishes);
        self
    }

    /// What a motion through singularities is chosen for.
    pub fn optimise(mut self, objective: Objective) -> Self {
        self.objective = Some(objective);
        self
    }

    /// Seed of the search: the same one gives the same plan.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The plan, or what is in its way.
    pub fn answer(&self) -> Result<PlanAnswer, Error> {
        self.answer_while(&mut |_, _| true)
    }

    /// The plan; during a search `go_on` is told how many motions were looked at and the best so far, and may end it.
    pub fn answer_while(&self, go_on: &mut dyn FnMut(usize, Option<f64>) -> bool) -> Result<PlanAnswer, Error> {
        let (model, mode) = (self.robot.model(), self.mode.as_ref().unwrap_or(self.robot.mode()));
        self.check(model)?;
        let crossing = match &self.cross {
            Some(wishes) => Some(plan_crossing(model, mode, &self.task(wishes), go_on)?),
            None => None,
        };
        let trajectory = match &crossing {
            Some(plan) => plan.trajectory.clone(),
            None => self.plain(model, mode)?,
        };
        let found = inspect_all(model, mode, &trajectory, &Look::default())?;
        if crossing.is_none() {
            if let Some(c) = found.crossings.iter().find(|c| !c.bounded) {
                return Err(PlanError::InTheWay(Box::new(c.clone())).into());
            }
            if let Some(refusal) = found.profile.refusals.first() {
                return Err(PlanError::Blocked { t: refusal.from, why: refusal.why.clone() }.into());
            }
        }
        let own = super::words::pose_columns(model, self.robot.home().pose());
        let polynomials = trajectory.polynomials().into_iter().filter(|(n, _)| own.iter().any(|(name, _)| name == n));
        Ok(PlanAnswer {
            along: AlongAnswer::new(self.robot, mode, found),
            span: trajectory.span(),
            coefficients: polynomials.map(|(name, p)| (name, p.coefficients)).collect(),
            crossing: crossing.map(|plan| CrossingAnswer::new(model, mode, &plan)),
            trajectory,
        })
    }

    fn check(&self, model: &Model<f64>) -> Result<(), Error> {
        if let Some(c) = model.topology().plan.given.first() {
            let joint = &model.topology().coords[*c].name;
            let why = format!("the pose leaves joints open (q{joint}); motions of such robots are not planned");
            return Err(Error::Question(why));
        }
        if !(self.duration > 0.0 && self.duration.is_finite()) {
            let why = format!("the motion takes {} s; give a time that is positive and finite", self.duration);
            return Err(Error::Question(why));
        }
        Ok(())
    }

    fn task(&self, wishes: &[Wish]) -> CrossingTask {
        CrossingTask {
            from: self.from,
            to: self.to,
            duration: self.duration,
            wishes: wishes.to_vec(),
            objective: self.objective,
            seed: self.seed,
        }
    }

    /// By a law, and as fast as may be.
    fn plain(&self, model: &Model<f64>, mode: &WorkingMode) -> Result<Trajectory, Error> {
        let start = inverse(model, &self.from, mode)?;
        inverse(model, &self.to, mode)?;
        let mut stops = vec![(0.0, self.from)];
        stops.extend(&self.via);
        stops.push((self.duration, self.to));
        let motion = match self.law {
            law if self.joints => by_joints(model, &start, &self.to, law, self.duration),
            TimeLaw::Poly5 if stops.len() > 2 => Trajectory::passing(model, mode, &stops),
            law => Trajectory::stopping(law, &stops),
        }?;
        Ok(if self.fastest { fastest(model, mode, &motion)? } else { motion })
    }
}

impl CrossingAnswer {
    fn new(model: &Model<f64>, mode: &WorkingMode, plan: &CrossingPlan) -> Self {
        let without = crossings(model, mode, &plan.contrast, Wrench::zero()).unwrap_or_default();
        let pair = |(c, w): (&Crossing, &Crossing)| Refinement {
            planned: refined(model, mode, &plan.trajectory, c),
            without_condition: refined(model, mode, &plan.contrast, w),
        };
        Self {
            refinement: plan.crossings.iter().zip(&without).map(pair).collect(),
            moved_onto_singularity: plan.moved.clone(),
            score: plan.score,
            motions_looked_at: plan.looked_at,
        }
    }
}
