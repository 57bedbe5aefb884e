//! Motion of a flexible robot over time: free, under efforts, held or moved by its drives, or under a controller that knows the rigid robot.

use super::control::{Controller, EffortTable};
use super::flexible_plant::FlexiblePlant;
use super::gauss::{Collocation, Failed, StageMemory, Stages};
use super::outcome::{Ended, MovingPoint, Stop};
use crate::dynamics::newton_euler::Sign;
use crate::elastodynamics::ElasticError;
use crate::elastodynamics::motion::{CoordinateMotion, FlexibleRobot, FlexibleState};
use crate::kinematics::WorkingMode;
use crate::model::BodyPoint;
use crate::spatial::{Pose, Wrench};
use crate::trajectory::Trajectory;

/// What the drives of a flexible robot do.
#[derive(Clone, Debug)]
pub enum FlexibleLaw {
    /// Nothing.
    Free,
    /// They hold their joints where they are at the start.
    Held,
    /// They give efforts over time.
    Efforts(EffortTable),
    /// They move as the drives of the rigid robot do along a motion of the platform; efforts are what that takes.
    Playback(Trajectory),
    /// They follow a controller, which measures active joints only and knows the rigid robot.
    Controller(Box<Controller>),
}

/// A wrench on the platform for some time, in world axes at its origin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimedLoad {
    /// The wrench.
    pub wrench: Wrench<f64>,
    /// From when.
    pub from: f64,
    /// Until when.
    pub until: f64,
}

/// How a flexible robot is simulated.
#[derive(Clone, Debug)]
pub struct FlexibleOptions {
    /// Seconds.
    pub duration: f64,
    /// Record an instant every so many seconds.
    pub every: f64,
    /// Error of a step, relative to how far each coordinate has been.
    pub tolerance: f64,
    /// Steps of this length instead of chosen ones.
    pub step: Option<f64>,
    /// Whether motions that steps do not resolve die out.
    pub stages: Stages,
    /// Friction of the joints.
    pub friction: Option<Sign>,
    /// Drives end at their limits.
    pub saturate: bool,
    /// Loads on the platform.
    pub loads: Vec<TimedLoad>,
    /// Points whose motion is recorded.
    pub points: Vec<BodyPoint>,
    /// Share of its largest distance from where it ends within which the tool point is called settled.
    pub settled_within: f64,
}

impl FlexibleOptions {
    /// For a duration: tolerance 1e-6, five hundred instants, no numerical damping, no friction.
    pub fn lasting(duration: f64) -> Self {
        Self {
            duration,
            every: duration / 500.0,
            tolerance: 1e-6,
            step: None,
            stages: Stages::Gauss,
            friction: None,
            saturate: true,
            loads: Vec::new(),
            points: Vec::new(),
            settled_within: SETTLED,
        }
    }
}

/// A flexible robot at a time.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct FlexibleInstant {
    /// Time.
    pub t: f64,
    /// Position of the platform, or of the tool point.
    pub position: [f64; 3],
    /// Pose of the platform, or of the tool point.
    #[serde(skip)]
    pub pose: Pose<f64>,
    /// Twist of the platform in world axes.
    pub twist: [f64; 6],
    /// Acceleration of the platform in world axes.
    pub acceleration: [f64; 6],
    /// Active joints.
    pub active: CoordinateMotion,
    /// Elastic coordinates.
    pub elastic: CoordinateMotion,
    /// Efforts of the drives.
    pub efforts: Vec<f64>,
    /// Kinetic energy, rotors included.
    pub kinetic_energy: f64,
    /// Potential energy of gravity.
    pub potential_energy: f64,
    /// Energy of deformation.
    pub elastic_energy: f64,
    /// Work of the drives and of loads from outside since the start.
    pub work: f64,
    /// Energy lost to damping and friction since the start.
    pub lost: f64,
    /// The points that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<MovingPoint>,
}

/// What came of a simulation.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct FlexibleSummary {
    /// Why and when it ended.
    pub stop: Ended,
    /// Steps taken.
    pub steps: usize,
    /// Accelerations computed.
    pub evaluations: usize,
    /// Longest and shortest step; zero where none was taken.
    pub step: [f64; 2],
    /// Largest change of total energy less work plus losses, over the largest energy of motion and deformation.
    pub energy_error: f64,
    /// Largest distance of the tool point from where it ends, over the last tenth of the time: vibration that is left.
    pub residual_vibration: f64,
    /// The recorded time from which on the tool point stays within a share of its largest distance from the middle of where it ends,
    /// the last tenth of the time; none where it has not settled by then.
    pub settling_time: Option<f64>,
    /// That share.
    pub settled_within: f64,
}

/// Share of its largest distance from where it ends within which the tool point is called settled, unless another is given.
const SETTLED: f64 = 0.02;

/// Steps that are told are at most this fraction of the lowest period.
const RESOLVED: f64 = 0.5;

/// Most steps of one simulation.
const MOST_STEPS: usize = 5_000_000;

/// Steps between two checks of their error, at first; twice as many after each that leaves the step as it is.
const BETWEEN_CHECKS: usize = 24;

/// Never more than this.
const MOST_BETWEEN_CHECKS: usize = 96;

/// Steps whose lengths differ by this fraction are the same.
const SAME_STEP: f64 = 1e-12;

/// A step that was tried: where it ends, and what the integrator knows then.
struct CheckedStep {
    h: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    memory: StageMemory,
}

/// The motion of a flexible robot from a closed state; every recorded instant is told, and whether to go on is asked.
pub fn simulate_flexible(
    flexible: &mut FlexibleRobot<'_>,
    mode: &WorkingMode,
    start: &FlexibleState,
    law: &FlexibleLaw,
    options: &FlexibleOptions,
    observer: &mut dyn FnMut(&FlexibleInstant) -> bool,
) -> Result<FlexibleSummary, ElasticError> {
    let step = options.step.unwrap_or(1.0);
    let given =
        [("time", options.duration), ("every", options.every), ("tolerance", options.tolerance), ("step", step)];
    for (what, x) in given {
        if !(x > 0.0 && x.is_finite()) {
            return Err(ElasticError::NotPositive { what, value: x });
        }
    }
    // Steps that are told are not cut for a record: that is made at the next whole number of them.
    let whole = |step: f64| step * (options.every / step * (1.0 - 1e-9)).ceil().max(1.0);
    let options = FlexibleOptions { every: options.step.map_or(options.every, whole), ..options.clone() };
    if options.duration / options.every > super::MOST_RECORDS as f64 {
        return Err(ElasticError::TooManyInstants { most: super::MOST_RECORDS });
    }
    let mut plant = FlexiblePlant::new(flexible, mode, law, &options, start)?;
    if let Some(step) = options.step
        && let Some(hz) = plant.lowest_frequency()?
        && step * hz > RESOLVED
    {
        return Err(ElasticError::StepTooLong { step, hz });
    }
    FlexibleRun::new(plant, &options).run(observer)
}

/// A simulation while it runs.
struct FlexibleRun<'a, 'm> {
    plant: FlexiblePlant<'a, 'm>,
    method: Collocation,
    options: &'a FlexibleOptions,
    t: f64,
    h: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    /// What counts as one in each coordinate.
    scale: Vec<f64>,
    work: f64,
    lost: f64,
    summary: FlexibleSummary,
    /// Why it goes no farther.
    stop: Option<ElasticError>,
    /// Steps since the last check, and from one to the next.
    since: usize,
    between: usize,
}

impl<'a, 'm> FlexibleRun<'a, 'm> {
    fn new(plant: FlexiblePlant<'a, 'm>, options: &'a FlexibleOptions) -> Self {
        let pick = |x: &[f64]| -> Vec<f64> { plant.free.iter().map(|s| x[*s]).collect() };
        let (q, v) = (pick(&plant.state.at.q), pick(&plant.state.rates));
        let scale = q.iter().map(|x| x.abs().max(1e-3)).collect();
        let h = options.step.unwrap_or(1e-4_f64.min(options.every)).min(options.duration);
        let method = Collocation::new(q.len(), options.stages);
        let summary = FlexibleSummary {
            stop: Ended::by(&Stop::End, 0.0),
            steps: 0,
            evaluations: 0,
            step: [0.0; 2],
            energy_error: 0.0,
            residual_vibration: 0.0,
            settling_time: None,
            settled_within: options.settled_within,
        };
        Self {
            plant,
            method,
            options,
            t: 0.0,
            h,
            q,
            v,
            scale,
            work: 0.0,
            lost: 0.0,
            summary,
            stop: None,
            since: usize::MAX,
            between: BETWEEN_CHECKS,
        }
    }

    /// The next time at which something changes at once.
    fn border(&self) -> f64 {
        let (mut next, after) = (self.options.duration, self.t + self.same_time());
        for l in &self.options.loads {
            next = [l.from, l.until].into_iter().filter(|x| *x > after).fold(next, f64::min);
        }
        if let FlexibleLaw::Efforts(table) = self.plant.law {
            next = next.min(table.next(after));
        }
        next
    }

    /// Times that differ by less are the same: sums of steps are not exact.
    fn same_time(&self) -> f64 {
        1e-9 * self.options.every.min(self.options.duration)
    }

    fn try_step(&mut self, h: f64, q: &mut [f64], v: &mut [f64]) -> Result<(), Failed<ElasticError>> {
        self.plant.within = Some(self.t + 0.5 * h);
        self.method.step(&mut self.plant, self.t, h, q, v, &self.scale, self.options.tolerance)
    }

    /// A step of this length, and its error against two of half the length, which begin from its stages.
    fn check(&mut self) -> Result<(CheckedStep, f64), Failed<ElasticError>> {
        let (t, h) = (self.t, self.h);
        let (mut q, mut v) = (self.q.clone(), self.v.clone());
        self.try_step(h, &mut q, &mut v)?;
        let tried = CheckedStep { h, q, v, memory: self.method.memory() };
        let (mut q, mut v) = (self.q.clone(), self.v.clone());
        self.try_step(0.5 * h, &mut q, &mut v)?;
        self.t += 0.5 * h;
        let second = self.try_step(0.5 * h, &mut q, &mut v);
        self.t = t;
        second?;
        let one = |i: usize| (tried.q[i] - q[i]).abs() / self.scale[i];
        let error = (0..q.len()).map(one).fold(0.0, f64::max);
        Ok((tried, error))
    }

    /// A step length whose error is within the tolerance, and the step that says so; never the one that is told. Not a longer one than now
    /// after one that failed.
    fn fit(&mut self, mut has_failed: bool) -> Result<Option<CheckedStep>, ElasticError> {
        if self.options.step.is_some() {
            return Ok(None);
        }
        let behind = self.method.memory();
        // Beyond the next sudden change nothing can be said, and steps end where something is recorded.
        let most = (self.border() - self.t).min(self.options.every);
        self.h = self.h.min(most);
        for _ in 0..60 {
            match self.check() {
                Ok((tried, error)) => {
                    let share = (error / self.options.tolerance).max(1e-12);
                    let factor = 0.7 * share.powf(-1.0 / f64::from(self.method.order() + 1));
                    if share <= 1.0 {
                        // Steps stay the same as long as they serve: equal steps keep energy. A longer one goes into a record a whole
                        // number of times.
                        let wanted = (self.h * factor.min(4.0)).min(most);
                        let longer = most / (most / wanted * (1.0 - 1e-9)).ceil();
                        if has_failed || !(longer > 1.05 * self.h) {
                            return Ok(Some(tried));
                        }
                        self.h = longer;
                        self.method.recall(behind.clone());
                        continue;
                    }
                    has_failed = true;
                    self.h *= factor.max(0.1);
                }
                Err(Failed::Refused(why)) if self.h < 1e-9 => return Err(why),
                Err(_) => {
                    has_failed = true;
                    self.h *= 0.25;
                }
            }
            self.method.recall(behind.clone());
        }
        Err(ElasticError::StepTooSmall { t: self.t })
    }

    /// The step that checks the length of steps, where one is due; the next is due later where this one changes nothing.
    fn looked_at(&mut self, has_failed: bool) -> Result<Option<CheckedStep>, ElasticError> {
        if self.since < self.between {
            return Ok(None);
        }
        let h = self.h;
        let tried = self.fit(has_failed)?;
        let same = self.h == h && self.since != usize::MAX;
        self.since = 0;
        self.between = if same { (2 * self.between).min(MOST_BETWEEN_CHECKS) } else { BETWEEN_CHECKS };
        Ok(tried)
    }

    fn run(mut self, observer: &mut dyn FnMut(&FlexibleInstant) -> bool) -> Result<FlexibleSummary, ElasticError> {
        let (q, v) = (self.q.clone(), self.v.clone());
        let first = self.plant.instant(0.0, &q, &v)?;
        let total = |i: &FlexibleInstant| i.kinetic_energy + i.potential_energy + i.elastic_energy;
        let (start, mut largest, mut path) = (total(&first), 0.0_f64, vec![(0.0, first.position)]);
        let mut goes_on = observer(&first);
        let (mut record, mut border, mut has_failed) = (1_usize, self.border(), false);
        while goes_on && self.t < self.options.duration * (1.0 - 1e-14) && self.summary.steps < MOST_STEPS {
            let tried = match self.looked_at(has_failed) {
                Ok(tried) => tried,
                Err(why) => {
                    self.stop = Some(why);
                    break;
                }
            };
            let due = (record as f64 * self.options.every).min(self.options.duration);
            let due = if (due - border).abs() < self.same_time() { border } else { due };
            let target = due.min(border);
            // Equal steps to the next time that is asked for.
            let steps = ((target - self.t) / self.h * (1.0 - 1e-9)).ceil().max(1.0);
            let h = (target - self.t) / steps;
            let (mut q, mut v) = (self.q.clone(), self.v.clone());
            let same = |tried: &CheckedStep| (tried.h - h).abs() < SAME_STEP * h;
            let step = match tried.filter(same) {
                Some(tried) => {
                    (q, v) = (tried.q, tried.v);
                    self.method.recall(tried.memory);
                    self.plant.within = Some(self.t + 0.5 * h);
                    Ok(())
                }
                None => self.try_step(h, &mut q, &mut v),
            };
            match step {
                Ok(()) => {}
                Err(_) if self.h > 1e-12 && self.options.step.is_none() => {
                    // Shorter every time, until it passes or there is nothing left.
                    self.h = 0.5 * self.h.min(h);
                    self.method.restart();
                    (self.since, has_failed) = (usize::MAX, true);
                    continue;
                }
                Err(Failed::Refused(why)) => {
                    self.stop = Some(why);
                    break;
                }
                Err(Failed::TooLong) => {
                    self.stop = Some(ElasticError::StepTooSmall { t: self.t });
                    break;
                }
            }
            if let Err(why) = self.account(h) {
                self.stop = Some(why);
                break;
            }
            (self.q, self.v) = (q, v);
            self.t = if steps <= 1.0 { target } else { self.t + h };
            (self.since, has_failed) = (self.since.saturating_add(1), false);
            self.summary.steps += 1;
            let [longest, shortest] = self.summary.step;
            self.summary.step = [longest.max(h), if shortest > 0.0 { shortest.min(h) } else { h }];
            self.scale.iter_mut().zip(&self.q).for_each(|(s, x)| *s = s.max(x.abs()));
            if self.t >= border {
                border = self.border();
                self.method.restart();
                self.since = usize::MAX;
            }
            if self.t >= due {
                record += 1;
                let (q, v) = (self.q.clone(), self.v.clone());
                let mut instant = match self.plant.instant(self.t, &q, &v) {
                    Ok(instant) => instant,
                    Err(why) => {
                        self.stop = Some(why);
                        break;
                    }
                };
                (instant.work, instant.lost) = (self.work, self.lost);
                largest = largest.max(instant.kinetic_energy).max(instant.elastic_energy);
                let drift = (total(&instant) - start - self.work + self.lost).abs();
                self.summary.energy_error = self.summary.energy_error.max(drift);
                path.push((self.t, instant.position));
                goes_on = observer(&instant);
            }
        }
        let over = self.t >= self.options.duration * (1.0 - 1e-14);
        self.summary.stop = match &self.stop {
            Some(why) => Ended { kind: why.kind(), message: ended(why), t: self.t },
            None if over => Ended::by(&Stop::End, self.t),
            None if goes_on => Ended::by(&Stop::TooManySteps { most: MOST_STEPS }, self.t),
            None => Ended::by(&Stop::Interrupted, self.t),
        };
        self.summary.evaluations = self.method.evaluations;
        self.summary.energy_error /= largest.max(f64::MIN_POSITIVE);
        let from = path.iter().position(|(t, _)| *t >= 0.9 * self.options.duration).unwrap_or(path.len());
        self.summary.residual_vibration = swing(&path[from..]);
        self.summary.settling_time = settled(&path, from, self.options.settled_within);
        Ok(self.summary)
    }

    /// Work and losses of a step, by the rule of its stages.
    fn account(&mut self, h: f64) -> Result<(), ElasticError> {
        let still = matches!(self.plant.law, FlexibleLaw::Free | FlexibleLaw::Held) && self.options.loads.is_empty();
        if still && !self.plant.has_losses() {
            return Ok(());
        }
        for (s, weight) in self.method.weights().into_iter().enumerate() {
            let (c, [x, y, a]) = self.method.stage(s, h, &self.q, &self.v);
            let powers = self.plant.powers_at(self.t + c * h, [&x, &y, &a])?;
            self.work += h * weight * powers[0];
            self.lost += h * weight * powers[1];
        }
        Ok(())
    }
}

/// Half of the largest distance between points.
fn swing(points: &[(f64, [f64; 3])]) -> f64 {
    let range = |k: usize| {
        let all = points.iter().map(|(_, p)| p[k]);
        all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
    };
    if points.is_empty() { 0.0 } else { 0.5 * (0..3).map(|k| range(k).powi(2)).sum::<f64>().sqrt() }
}

/// When a path has come near the middle of its end for good, which begins with the point of this number.
fn settled(path: &[(f64, [f64; 3])], end: usize, share: f64) -> Option<f64> {
    let late = path.get(end..).filter(|late| late.len() > 1)?;
    let middle: [f64; 3] = std::array::from_fn(|k| late.iter().map(|(_, p)| p[k]).sum::<f64>() / late.len() as f64);
    let away = |p: &[f64; 3]| (0..3).map(|k| (p[k] - middle[k]).powi(2)).sum::<f64>().sqrt();
    let farthest = path.iter().map(|(_, p)| away(p)).fold(0.0, f64::max);
    let first = path.iter().rposition(|(_, p)| away(p) > share * farthest).map_or(0, |k| k + 1);
    (first <= end).then(|| path[first].0)
}

/// Why a motion went no farther.
fn ended(why: &ElasticError) -> String {
    match why {
        ElasticError::NotClosed { .. } => {
            "the loops of the robot do not close beyond this posture: a leg is at the end of its reach, or at a singularity".to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{SETTLED, settled};

    #[test]
    fn a_path_is_settled_once_it_stays_near_its_end() {
        let path = |decay: f64| -> Vec<(f64, [f64; 3])> {
            let one = |k: usize| {
                let t = 0.01 * k as f64;
                (t, [1.0 + (-decay * t).exp() * (50.0 * t).cos(), 2.0, 0.0])
            };
            (0..=500).map(one).collect()
        };
        // exp(-2 t) is 0.02 at t = 1.956; peaks are 0.0628 s apart.
        let time = settled(&path(2.0), 450, SETTLED).unwrap();
        assert!((time - 1.956).abs() < 0.07, "{time}");
        // A tenth of the way is reached at t = 1.151.
        let time = settled(&path(2.0), 450, 0.1).unwrap();
        assert!((time - 1.151).abs() < 0.07, "{time}");
        assert_eq!(settled(&path(0.1), 450, SETTLED), None);
        assert_eq!(settled(&[(0.0, [1.0; 3]), (1.0, [1.0; 3])], 0, SETTLED), Some(0.0));
        assert_eq!(settled(&[(0.0, [1.0; 3])], 0, SETTLED), None);
    }
}
