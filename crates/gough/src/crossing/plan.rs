//! Plans of motions through Type 2 singularities: where to cross, how fast, and with which acceleration, so that efforts stay
//! finite; then one polynomial per coordinate from rest to rest, sections 9.3 and 9.4.

use super::degeneracy::{criterion, lost_motions};
use super::meet::{Crossing, crossings_among};
use super::optimise::{Objective, Progress, minimise};
use super::refusal::PlanError;
use super::score::{Passing, Score, score};
use crate::analysis::singularity::singularities;
use crate::analysis::{Probe, moved};
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::{Kind, WorkingMode, inverse};
use crate::linalg::dense::{Matrix, svd};
use crate::model::Model;
use crate::spatial::{Pose, Wrench};
use crate::trajectory::{Sample, Trajectory, drive_limits, fifth_degree, pose_error};

/// What is wished of a crossing; what is left open is chosen.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Wish {
    /// Where; moved onto the singularity.
    pub pose: Option<Pose<f64>>,
    /// When.
    pub t: Option<f64>,
    /// How fast: twist in the platform's independent components.
    pub twist: Option<Vec<f64>>,
    /// Accelerations that are to stay, component by component.
    pub acceleration: Vec<Option<f64>>,
}

/// A motion from rest to rest that is to cross.
#[derive(Clone, Debug)]
pub struct CrossingTask {
    /// Where it starts.
    pub from: Pose<f64>,
    /// Where it ends.
    pub to: Pose<f64>,
    /// How long it takes.
    pub duration: f64,
    /// Crossings in the order of time; those of the straight way when the list is empty.
    pub wishes: Vec<Wish>,
    /// What to choose for, beyond a motion that crosses.
    pub objective: Option<Objective>,
    /// The same seed gives the same plan.
    pub seed: u64,
}

/// A motion through singularities.
#[derive(Clone, Debug)]
pub struct CrossingPlan {
    /// The motion.
    pub trajectory: Trajectory,
    /// The motion through the same poses with the same twists whose accelerations at the crossings are not corrected.
    pub contrast: Trajectory,
    /// Singularities on the way.
    pub crossings: Vec<Crossing>,
    /// How far wished poses were from the singularity, in metres, angles at the length scale.
    pub moved: Vec<f64>,
    /// What the plan is worth.
    pub score: Score,
    /// How many motions were looked at.
    pub looked_at: usize,
}

/// What is decided at one crossing.
#[derive(Clone, Debug)]
struct Gate {
    t: f64,
    pose: Pose<f64>,
    twist: Vec<f64>,
    acceleration: Vec<f64>,
    /// How many motions are lost there; where they are several, the pose stays.
    lost: usize,
    wish: Wish,
}

/// A motion that is being planned.
#[derive(Clone, Debug)]
struct Draft {
    nodes: Vec<Gate>,
    duration: f64,
}

/// The planner at work.
struct CrossingPlanner<'a> {
    model: &'a Model<f64>,
    mode: &'a WorkingMode,
    task: &'a CrossingTask,
    looked_at: usize,
}

/// A motion from rest to rest through Type 2 singularities with finite efforts. Progress is told after every motion that is
/// looked at, and may end the search: the best so far is then the answer.
pub fn plan_crossing(
    model: &Model<f64>,
    mode: &WorkingMode,
    task: &CrossingTask,
    progress: &mut Progress<'_>,
) -> Result<CrossingPlan, PlanError> {
    let free = model.without_ranges();
    let mut planner = CrossingPlanner { model: &free, mode, task, looked_at: 0 };
    for pose in [&task.from, &task.to] {
        inverse(model, pose, mode)?;
    }
    let (nodes, moved) = planner.nodes()?;
    let mut draft = planner.first(&Draft { nodes, duration: task.duration }, progress)?;
    if let Some(objective) = task.objective {
        draft = planner.improve(&draft, objective, progress)?;
    }
    planner.finish(&draft, moved)
}

impl CrossingPlanner<'_> {
    /// The crossings as they are wished, or as the straight way has them.
    fn nodes(&self) -> Result<(Vec<Gate>, Vec<f64>), PlanError> {
        let task = self.task;
        let straight = Trajectory::between(task.from, task.to, task.duration)?;
        if task.wishes.iter().all(|w| w.pose.is_none()) {
            self.check_reach(&straight)?;
            let met = crossings_among(self.model, self.mode, &straight, Wrench::zero(), 1000)?;
            if let Some(other) = met.iter().find(|c| c.kind() != Kind::Type2) {
                return Err(PlanError::OtherKind(Box::new(other.clone())));
            }
            if met.is_empty() {
                return Err(PlanError::NothingToCross);
            }
            let node = |(i, c): (usize, &Crossing)| {
                let wish = task.wishes.get(i).cloned().unwrap_or_default();
                self.node(&straight, c.pose(), c.t, wish)
            };
            let nodes = met.iter().enumerate().map(node).collect::<Result<_, _>>()?;
            return Ok((nodes, Vec::new()));
        }
        let mut poses = Vec::new();
        let mut moved = Vec::new();
        for (i, wish) in task.wishes.iter().enumerate() {
            let pose = wish.pose.ok_or(PlanError::NotSingular { wish: i })?;
            let (pose, by) = self.onto(&pose)?.ok_or(PlanError::NotSingular { wish: i })?;
            poses.push(pose);
            moved.push(by);
        }
        let times = self.times(&poses);
        let mut samples = vec![resting(self.model, 0.0, task.from)];
        samples.extend(poses.iter().zip(&times).map(|(pose, t)| Sample {
            t: *t,
            pose: *pose,
            twist: None,
            acceleration: None,
        }));
        samples.push(resting(self.model, task.duration, task.to));
        let nominal = Trajectory::polynomial(self.model, self.mode, &samples)?;
        let nodes = poses.iter().zip(&times).zip(&task.wishes);
        let nodes = nodes.map(|((pose, t), wish)| self.node(&nominal, *pose, *t, wish.clone()));
        let nodes = nodes.collect::<Result<Vec<Gate>, _>>()?;
        let differ = self.sign(&task.from) != self.sign(&task.to);
        if differ == (nodes.iter().map(|node| node.lost).sum::<usize>() % 2 == 1) {
            Ok((nodes, moved))
        } else {
            Err(PlanError::WrongCount { wished: nodes.len() })
        }
    }

    /// The straight way must stay in reach.
    fn check_reach(&self, straight: &Trajectory) -> Result<(), PlanError> {
        let [_, end] = straight.span();
        for k in 0..=200 {
            let t = end * f64::from(k) / 200.0;
            inverse(self.model, &straight.at(t).pose, self.mode).map_err(|why| PlanError::Blocked { t, why })?;
        }
        Ok(())
    }

    fn node(&self, nominal: &Trajectory, pose: Pose<f64>, t: f64, wish: Wish) -> Result<Gate, PlanError> {
        let lost = lost_motions(self.model, &inverse(self.model, &pose, self.mode)?)?.len();
        let n = self.model.topology().platform.independent.len();
        let (mut twist, mut acceleration) = (vec![0.0; n], vec![0.0; n]);
        nominal.at(t).components(self.model, &mut twist, &mut acceleration);
        if let Some(given) = &wish.twist {
            twist.clone_from(given);
        }
        for (a, given) in acceleration.iter_mut().zip(&wish.acceleration) {
            *a = given.unwrap_or(*a);
        }
        Ok(Gate { t: wish.t.unwrap_or(t), pose, twist, acceleration, lost, wish })
    }

    /// Times of wished poses: of one, as the law of fifth degree has it at its share of the way; of several, between which the
    /// motion may have to turn, evenly spread.
    fn times(&self, poses: &[Pose<f64>]) -> Vec<f64> {
        if poses.len() > 1 {
            let even = |i: usize| self.task.duration * (i + 1) as f64 / (poses.len() + 1) as f64;
            return self.task.wishes.iter().enumerate().map(|(i, wish)| wish.t.unwrap_or_else(|| even(i))).collect();
        }
        let all: Vec<Pose<f64>> =
            std::iter::once(self.task.from).chain(poses.iter().copied()).chain([self.task.to]).collect();
        let lengths: Vec<f64> = all.windows(2).map(|w| distance(self.model, &w[0], &w[1])).collect();
        let whole: f64 = lengths.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut done = 0.0;
        let share = |length: &f64| {
            done += length / whole;
            done
        };
        let shares: Vec<f64> = lengths[..poses.len()].iter().map(share).collect();
        let time = |(share, wish): (&f64, &Wish)| wish.t.unwrap_or_else(|| self.task.duration * law_time(*share));
        shares.iter().zip(&self.task.wishes).map(time).collect()
    }

    /// Whether the drives hold the platform in the one or the other way.
    fn sign(&self, pose: &Pose<f64>) -> Option<bool> {
        function(&mut Probe::new(self.model, self.mode), pose).map(|f| f > 0.0)
    }

    /// The pose on the Type 2 singularity along the slope of its singular value, and how far it is.
    fn onto(&self, pose: &Pose<f64>) -> Result<Option<(Pose<f64>, f64)>, PlanError> {
        let posture = inverse(self.model, pose, self.mode)?;
        if lost_motions(self.model, &posture)?.len() > 1 {
            return Ok(Some((*pose, 0.0))); // two sheets meet: no slope leads there
        }
        let report = singularities(self.model, &posture);
        let Some(near) = report.nearest(Kind::Type2) else { return Ok(None) };
        let length = near.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if !(length > 0.0) {
            return Ok(None);
        }
        let direction: Vec<f64> = near.gradient.iter().map(|g| g / length).collect();
        let mut probe = Probe::new(self.model, self.mode);
        let mut f = |s: f64| function(&mut probe, &moved(self.model, pose, &direction, s));
        let Some(here) = f(0.0) else { return Ok(None) };
        let mut reach = 1e-14 * self.model.size();
        while reach < 0.3 * self.model.size() {
            for far in [-reach, reach] {
                if f(far).is_some_and(|there| (there > 0.0) != (here > 0.0)) {
                    let s = bisect(&mut f, here > 0.0, far);
                    return Ok(Some((moved(self.model, pose, &direction, s), s.abs())));
                }
            }
            reach *= 2.0;
        }
        Ok(None)
    }

    /// The acceleration at a crossing that meets the criterion and differs least from the one of the node: `G ẍ + c = 0`.
    fn corrected(&self, node: &Gate, which: usize) -> Result<Vec<f64>, PlanError> {
        let posture = inverse(self.model, &node.pose, self.mode)?;
        let lost = lost_motions(self.model, &posture)?;
        let (G, c) = criterion(self.model, &posture, &node.twist, &lost, Some(Sign::Sharp))?;
        let (n, length) = (node.twist.len(), self.model.length());
        let independent = &self.model.topology().platform.independent;
        let stays = |j: usize| node.wish.acceleration.get(j).is_some_and(Option::is_some);
        let weight = |j: usize| match (stays(j), independent[j].is_angle()) {
            (true, _) => 0.0,
            (false, true) => length.recip(),
            (false, false) => 1.0,
        };
        let rest: Vec<f64> = G.apply(&node.acceleration).iter().zip(&c).map(|(g, c)| -(g + c)).collect();
        let scaled = Matrix::from_fn(G.rows, n, |i, j| G.at(i, j) * weight(j));
        let f = svd(&scaled);
        let whole = G.data.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if f.s.iter().any(|s| !(*s > 1e-9 * whole)) {
            return Err(PlanError::NoChoice { wish: which });
        }
        let step = f.least_squares(&rest);
        Ok(node.acceleration.iter().enumerate().map(|(j, a)| a + weight(j) * step[j]).collect())
    }

    /// The motion of a draft, with accelerations that meet the criterion or as they are.
    fn motion(&self, draft: &Draft, corrects: bool) -> Result<Trajectory, PlanError> {
        let mut samples = vec![resting(self.model, 0.0, self.task.from)];
        for (i, node) in draft.nodes.iter().enumerate() {
            let acceleration = if corrects { self.corrected(node, i)? } else { node.acceleration.clone() };
            let (twist, acceleration) = (Some(node.twist.clone()), Some(acceleration));
            samples.push(Sample { t: node.t, pose: node.pose, twist, acceleration });
        }
        samples.push(resting(self.model, draft.duration, self.task.to));
        Ok(Trajectory::polynomial(self.model, self.mode, &samples)?)
    }

    /// What a draft is worth; nothing when it does not cross as it should.
    fn worth(&mut self, draft: &Draft) -> Result<Option<Score>, PlanError> {
        self.looked_at += 1;
        let motion = match self.motion(draft, true) {
            Ok(motion) => motion,
            Err(PlanError::Trajectory(_)) => return Ok(None),
            Err(other) => return Err(other),
        };
        Ok(score(self.model, self.mode, &motion, &draft.passings()))
    }

    /// The best of some motions at other times and speeds than those of the straight way.
    fn first(&mut self, draft: &Draft, progress: &mut Progress<'_>) -> Result<Draft, PlanError> {
        let mut best: Option<(f64, Draft)> = None;
        for (shift, speed) in FIRST {
            let tried = draft.varied(shift, speed);
            let peak = self.worth(&tried)?.map(|s| s.peak);
            if let Some(peak) = peak.filter(|s| best.as_ref().is_none_or(|(b, _)| s < b)) {
                best = Some((peak, tried));
            }
            if !progress(self.looked_at, best.as_ref().map(|b| b.0)) {
                break;
            }
        }
        best.map(|b| b.1).ok_or(PlanError::NotFound { tried: self.looked_at })
    }

    /// Move crossing points, times, twists and accelerations that are free, so that the objective becomes smaller.
    fn improve(
        &mut self,
        draft: &Draft,
        objective: Objective,
        progress: &mut Progress<'_>,
    ) -> Result<Draft, PlanError> {
        let shortest = objective == Objective::Time;
        if shortest && drive_limits(self.model).iter().all(|l| l.effort.is_none() && l.speed.is_none()) {
            return Err(PlanError::NoLimits);
        }
        let seed = self.task.seed;
        let size = draft.nodes.len() * (1 + 3 * draft.nodes[0].twist.len()) + usize::from(shortest);
        let mut worth = |x: &[f64]| -> f64 {
            let moved = self.displaced(draft, x, shortest);
            let score = moved.as_ref().and_then(|d| self.worth(d).ok().flatten());
            score.zip(moved).map_or(f64::INFINITY, |(s, d)| s.of(objective, d.duration))
        };
        let mut looked = 0;
        let found = minimise(&mut worth, size, seed, 400 + 60 * size, &mut |value| {
            looked += 1;
            progress(looked, Some(value))
        });
        self.displaced(draft, &found, shortest).ok_or(PlanError::NotFound { tried: looked })
    }

    /// A draft moved by the variables of the search, each about one in size: time, pose, twist and acceleration of each
    /// crossing, and the logarithm of the duration.
    fn displaced(&self, draft: &Draft, x: &[f64], shortest: bool) -> Option<Draft> {
        let n = draft.nodes[0].twist.len();
        let factor = if shortest { x[x.len() - 1].clamp(-3.0, 3.0).exp() } else { 1.0 };
        let duration = draft.duration * factor;
        let nodes =
            draft.nodes.iter().zip(x.chunks_exact(1 + 3 * n)).map(|(node, x)| self.shifted(node, x, draft, factor));
        let moved = Draft { nodes: nodes.collect::<Option<_>>()?, duration };
        let rise = moved.nodes.windows(2).all(|w| w[0].t < w[1].t);
        let inside = moved.nodes.iter().all(|n| n.t > 0.02 * duration && n.t < 0.98 * duration);
        (rise && inside).then_some(moved)
    }

    fn shifted(&self, node: &Gate, x: &[f64], draft: &Draft, factor: f64) -> Option<Gate> {
        let (n, size) = (node.twist.len(), self.model.size());
        let mut node = node.clone();
        if node.wish.t.is_none() {
            node.t = factor * (node.t + 0.2 * x[0] * draft.duration);
        }
        if node.wish.pose.is_none() && node.lost == 1 {
            let step: Vec<f64> = x[1..=n].iter().map(|x| 0.05 * size * x).collect();
            node.pose = self.onto(&moved(self.model, &node.pose, &step, 1.0)).ok()??.0;
        }
        for (j, c) in self.model.topology().platform.independent.iter().enumerate() {
            let unit = if c.is_angle() { self.model.length().recip() } else { 1.0 };
            let speed = 0.3 * size * unit / draft.duration;
            if node.wish.twist.is_none() {
                node.twist[j] = (node.twist[j] + speed * x[1 + n + j]) / factor;
            }
            if node.wish.acceleration.get(j).is_none_or(Option::is_none) {
                let more = 4.0 * speed / draft.duration * x[1 + 2 * n + j];
                node.acceleration[j] = (node.acceleration[j] + more) / (factor * factor);
            }
        }
        Some(node)
    }

    fn finish(&mut self, draft: &Draft, moved: Vec<f64>) -> Result<CrossingPlan, PlanError> {
        let (trajectory, contrast) = (self.motion(draft, true)?, self.motion(draft, false)?);
        let none = || PlanError::NotFound { tried: self.looked_at };
        let score = score(self.model, self.mode, &trajectory, &draft.passings()).ok_or_else(none)?;
        let crossings = crossings_among(self.model, self.mode, &trajectory, Wrench::zero(), 1000)?;
        if crossings.iter().any(|c| !c.bounded) {
            return Err(none());
        }
        Ok(CrossingPlan { trajectory, contrast, crossings, moved, score, looked_at: self.looked_at })
    }
}

/// Motions that are tried first: shift of the crossing by a share of the time, and its speed over that of the straight way.
const FIRST: [(f64, f64); 15] = [
    (0.0, 1.0),
    (0.0, 0.7),
    (0.0, 1.4),
    (-0.1, 1.0),
    (-0.1, 0.7),
    (-0.1, 1.4),
    (0.1, 1.0),
    (0.1, 0.7),
    (0.1, 1.4),
    (-0.2, 1.0),
    (-0.2, 0.7),
    (-0.2, 1.4),
    (0.2, 1.0),
    (0.2, 0.7),
    (0.2, 1.4),
];

impl Draft {
    fn passings(&self) -> Vec<Passing> {
        self.nodes.iter().map(|n| Passing { t: n.t, lost: n.lost }).collect()
    }

    /// Crossings later by a share of the time, bent so that start and end stay, and faster by a factor; wishes stay.
    fn varied(&self, shift: f64, speed: f64) -> Self {
        let one = |node: &Gate| {
            let mut node = node.clone();
            if node.wish.t.is_none() {
                let r = node.t / self.duration;
                node.t = self.duration * (r + 4.0 * shift * r * (1.0 - r));
            }
            if node.wish.twist.is_none() {
                node.twist.iter_mut().for_each(|v| *v *= speed);
            }
            let stays = |j: usize| node.wish.acceleration.get(j).is_some_and(Option::is_some);
            let free: Vec<usize> = (0..node.twist.len()).filter(|j| !stays(*j)).collect();
            free.into_iter().for_each(|j| node.acceleration[j] *= speed * speed);
            node
        };
        Self { nodes: self.nodes.iter().map(one).collect(), duration: self.duration }
    }
}

/// The function that changes its sign at Type 2 singularities; none where the robot cannot be.
fn function(probe: &mut Probe, pose: &Pose<f64>) -> Option<f64> {
    let mut list = Vec::new();
    probe.take(pose).ok()?;
    probe.signs(&mut list);
    list.iter().find(|f| f.0 == Kind::Type2).map(|f| f.2)
}

/// Rest at a pose.
fn resting(model: &Model<f64>, t: f64, pose: Pose<f64>) -> Sample {
    let rest = vec![0.0; model.topology().platform.independent.len()];
    Sample { t, pose, twist: Some(rest.clone()), acceleration: Some(rest) }
}

/// How far two poses are apart, angles at the length scale of the robot.
fn distance(model: &Model<f64>, a: &Pose<f64>, b: &Pose<f64>) -> f64 {
    let off = pose_error(a, b);
    off.v.norm().hypot(off.w.norm() * model.length())
}

/// When the law of fifth degree has done a share of its way, in shares of its time.
fn law_time(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if fifth_degree(middle, 1.0)[0] < share { &mut low } else { &mut high }) = middle;
    }
    low
}

/// Where a function of one number, of known sign at zero, vanishes before `far`, where its sign is another.
fn bisect(f: &mut dyn FnMut(f64) -> Option<f64>, positive: bool, far: f64) -> f64 {
    let (mut low, mut high) = (0.0, far);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle == low || middle == high {
            break;
        }
        let same = f(middle).is_none_or(|x| (x > 0.0) == positive);
        *(if same { &mut low } else { &mut high }) = middle;
    }
    f64::midpoint(low, high)
}
