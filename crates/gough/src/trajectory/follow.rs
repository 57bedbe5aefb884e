//! What a motion takes: efforts of the drives along it, and where it leaves the limits of the robot.

use super::{Trajectory, TrajectoryError, positive};
use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::motion::move_from;
use crate::kinematics::{SolveError, WorkingMode, inverse_in, joint_value};
use crate::model::{CoordId, Model};
use crate::spatial::Wrench;

/// Most instants that are looked at.
pub const MOST_SAMPLES: usize = 1_000_000;

/// Most violations and refusals that are kept, each; the others are counted.
pub const MOST_VIOLATIONS: usize = 1000;

/// What a drive can give; nothing where the file does not say.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DriveLimits {
    /// Largest effort.
    pub effort: Option<f64>,
    /// Largest speed.
    pub speed: Option<f64>,
}

/// Limits of the drives, in the order of the active coordinates.
pub fn drive_limits(model: &Model<f64>) -> Vec<DriveLimits> {
    let (t, d) = (model.topology(), model.description());
    let values = d.definitions.values(&model.numbers().parameters);
    let limit = |c: &CoordId| {
        let drive = d.bodies[t.bodies[t.coords[*c].body].row.0].drive.as_ref();
        drive.map_or_else(DriveLimits::default, |drive| DriveLimits {
            effort: drive.effort.as_ref().map(|f| f.eval(&values)),
            speed: drive.speed.as_ref().map(|f| f.eval(&values)),
        })
    };
    t.active.iter().map(limit).collect()
}

/// Which limit is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Bound {
    Range,
    Speed,
    Effort,
}

impl Bound {
    /// A short name that programs can rely on.
    pub fn word(self) -> &'static str {
        match self {
            Bound::Range => "range",
            Bound::Speed => "speed",
            Bound::Effort => "effort",
        }
    }
}

/// A joint or drive beyond its limit for some time.
#[derive(Clone, PartialEq, Debug)]
pub struct Violation {
    /// The joint.
    pub joint: String,
    /// Which limit.
    pub bound: Bound,
    /// When it is left.
    pub from: f64,
    /// When it is met again, or the end.
    pub to: f64,
    /// When it is left the most, among the instants looked at.
    pub at: f64,
    /// Coordinate, rate or effort (friction included) there.
    pub value: f64,
    /// The limit.
    pub limit: f64,
}

/// A time in which the question has no answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// From.
    pub from: f64,
    /// To.
    pub to: f64,
    /// Why, at its first instant.
    pub why: SolveError,
}

/// One instant of a motion.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Row {
    /// Time.
    pub t: f64,
    /// Active coordinates.
    pub q: Vec<f64>,
    /// Their rates.
    pub qd: Vec<f64>,
    /// Their accelerations.
    pub qdd: Vec<f64>,
    /// Efforts without friction.
    pub efforts: Vec<f64>,
    /// Efforts with friction.
    pub with_friction: Vec<f64>,
}

/// Extremes of one drive.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Passage {
    /// Largest effort, friction included, by absolute value, with its sign.
    pub peak: f64,
    /// When.
    pub at: f64,
    /// Root mean square of the effort over time, friction included.
    pub rms: f64,
    /// Largest speed.
    pub speed: f64,
}

/// What a motion takes.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Instants that have an answer.
    pub rows: Vec<Row>,
    /// Per drive.
    pub drives: Vec<Passage>,
    /// Limits that are left, in the order in which that begins.
    pub violations: Vec<Violation>,
    /// Violations that are not in the list.
    pub more_violations: usize,
    /// Times without an answer.
    pub refusals: Vec<Refusal>,
    /// Refusals that are not in the list.
    pub more_refusals: usize,
}

/// Efforts along a motion and every limit that it leaves: at its samples, or every `step`. Joint ranges do not stop it.
pub fn follow(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    step: Option<f64>,
) -> Result<Profile, TrajectoryError> {
    follow_under(model, mode, trajectory, step, Wrench::zero())
}

/// The same with a wrench from outside on the platform, at its origin, in world axes.
pub fn follow_under(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    step: Option<f64>,
    load: Wrench<f64>,
) -> Result<Profile, TrajectoryError> {
    let times = instants(trajectory, step)?;
    let mut walk = Walk::new(model, mode, trajectory);
    walk.dynamics.efforts.load = load;
    for t in times {
        walk.visit(t);
    }
    Ok(walk.end())
}

/// The samples, a thousand instants of a motion without samples, or one every `step` and the end.
fn instants(trajectory: &Trajectory, step: Option<f64>) -> Result<Vec<f64>, TrajectoryError> {
    let [start, end] = trajectory.span();
    let times = trajectory.times();
    let Some(step) = step.or((!trajectory.is_sampled() && end > start).then(|| (end - start) / 1000.0)) else {
        let asked = times.len() as f64;
        return if times.len() <= MOST_SAMPLES { Ok(times) } else { Err(TrajectoryError::TooMany { asked }) };
    };
    positive("the step", step)?;
    let asked = (end - start) / step;
    if !(asked < MOST_SAMPLES as f64) {
        return Err(TrajectoryError::TooMany { asked });
    }
    let whole = (asked - 1e-9).floor().max(0.0);
    let mut list: Vec<f64> =
        (0..MOST_SAMPLES).map(|k| k as f64).take_while(|k| *k <= whole).map(|k| start + k * step).collect();
    list.push(end);
    Ok(list)
}

/// A limit that is watched.
struct Watched {
    joint: String,
    bound: Bound,
    kind: Watch,
    /// The violation under way, and by how much the limit is left at worst.
    open: Option<(Violation, f64)>,
}

#[derive(Clone, Copy)]
enum Watch {
    Range(CoordId, [f64; 2]),
    Speed(usize, f64),
    Effort(usize, f64),
}

/// What is known at an instant: the row, and the coordinates of joints that have a range.
#[derive(Clone, Default)]
struct Seen {
    row: Row,
    ranged: Vec<f64>,
}

struct Walk<'a> {
    model: &'a Model<f64>,
    free: Model<f64>,
    mode: &'a WorkingMode,
    trajectory: &'a Trajectory,
    dynamics: Dynamics,
    ranged: Vec<CoordId>,
    watched: Vec<Watched>,
    /// The instant before, and what was seen then.
    last: Option<(f64, Result<Seen, SolveError>)>,
    refusal: Option<Refusal>,
    profile: Profile,
    squares: Vec<f64>,
    answered: f64,
}

impl<'a> Walk<'a> {
    fn new(model: &'a Model<f64>, mode: &'a WorkingMode, trajectory: &'a Trajectory) -> Self {
        let t = model.topology();
        let mut watched = Vec::new();
        let mut watch = |c: CoordId, bound, kind| {
            watched.push(Watched { joint: t.coords[c].name.clone(), bound, kind, open: None });
        };
        let ranged: Vec<CoordId> = t.coords.iter().filter(|(_, c)| c.range.is_some()).map(|(id, _)| id).collect();
        for c in &ranged {
            let limits = t.coords[*c].range.map_or([0.0; 2], |r| r.limits());
            watch(*c, Bound::Range, Watch::Range(*c, limits));
        }
        for (k, (c, limits)) in t.active.iter().zip(drive_limits(model)).enumerate() {
            if let Some(speed) = limits.speed {
                watch(*c, Bound::Speed, Watch::Speed(k, speed));
            }
            if let Some(effort) = limits.effort {
                watch(*c, Bound::Effort, Watch::Effort(k, effort));
            }
        }
        let free = model.without_ranges();
        let profile = Profile {
            rows: Vec::new(),
            drives: vec![Passage::default(); t.active.len()],
            violations: Vec::new(),
            more_violations: 0,
            refusals: Vec::new(),
            more_refusals: 0,
        };
        let dynamics = Dynamics::new(&free).going_on();
        let squares = vec![0.0; t.active.len()];
        Self {
            model,
            free,
            mode,
            trajectory,
            dynamics,
            ranged,
            watched,
            last: None,
            refusal: None,
            profile,
            squares,
            answered: 0.0,
        }
    }

    fn look(&mut self, t: f64) -> Result<Seen, SolveError> {
        let n = self.model.topology().platform.independent.len();
        let (mut t_r, mut td_r) = ([0.0; 6], [0.0; 6]);
        let desired = self.trajectory.at(t);
        desired.components(self.model, &mut t_r[..n], &mut td_r[..n]);
        let (free, d) = (&self.free, &mut self.dynamics);
        inverse_in(free, &desired.pose, self.mode, &mut d.pos)?;
        move_from(free, &t_r[..n], &td_r[..n], &mut d.pos, &mut d.motion)?;
        let active = &self.model.topology().active;
        let mut row = Row {
            t,
            q: active.iter().map(|c| joint_value(self.model, &d.pos, *c)).collect(),
            qd: active.iter().map(|c| d.motion.rates[*c]).collect(),
            qdd: active.iter().map(|c| d.motion.accels[*c]).collect(),
            ..Row::default()
        };
        let ranged = self.ranged.iter().map(|c| joint_value(self.model, &d.pos, *c)).collect();
        row.efforts = d.inverse_from(free, &t_r[..n], &td_r[..n], None)?.to_vec();
        row.with_friction = d.inverse_from(free, &t_r[..n], &td_r[..n], Some(Sign::Sharp))?.to_vec();
        Ok(Seen { row, ranged })
    }

    fn visit(&mut self, t: f64) {
        let now = self.look(t);
        let before = self.last.take();
        match &now {
            Ok(seen) => {
                if let Some(mut refusal) = self.refusal.take() {
                    refusal.to = before.as_ref().map_or(t, |(b, _)| self.bisect(*b, t, Result::is_err));
                    self.refused(refusal);
                }
                self.count(seen, before.as_ref());
            }
            Err(why) => {
                if self.refusal.is_none() {
                    let from = before.as_ref().map_or(t, |(b, _)| self.bisect(*b, t, Result::is_ok));
                    self.refusal = Some(Refusal { from, to: t, why: why.clone() });
                    self.close_all(from);
                }
            }
        }
        for k in 0..self.watched.len() {
            self.watch(k, t, before.as_ref(), &now);
        }
        if let Ok(seen) = &now {
            self.profile.rows.push(seen.row.clone());
        }
        self.last = Some((t, now));
    }

    /// Peaks, and squares by the trapezoidal rule.
    fn count(&mut self, seen: &Seen, before: Option<&(f64, Result<Seen, SolveError>)>) {
        for (k, drive) in self.profile.drives.iter_mut().enumerate() {
            let effort = seen.row.with_friction[k];
            if effort.abs() > drive.peak.abs() {
                (drive.peak, drive.at) = (effort, seen.row.t);
            }
            drive.speed = drive.speed.max(seen.row.qd[k].abs());
        }
        if let Some((t, Ok(other))) = before {
            let dt = seen.row.t - t;
            self.answered += dt;
            for (k, sum) in self.squares.iter_mut().enumerate() {
                *sum += 0.5 * dt * (seen.row.with_friction[k].powi(2) + other.row.with_friction[k].powi(2));
            }
        }
    }

    /// Open, follow or close the violation of one limit.
    fn watch(
        &mut self,
        k: usize,
        t: f64,
        before: Option<&(f64, Result<Seen, SolveError>)>,
        now: &Result<Seen, SolveError>,
    ) {
        let Ok(seen) = now else { return };
        let (value, limit, excess) = self.excess(k, seen);
        if excess > 0.0 {
            if self.watched[k].open.is_none() {
                let from = match before {
                    Some((b, Ok(_))) => self.crossing(k, *b, t, false),
                    _ => t,
                };
                let Watched { joint, bound, .. } = &self.watched[k];
                let open = Violation { joint: joint.clone(), bound: *bound, from, to: t, at: t, value, limit };
                self.watched[k].open = Some((open, excess));
            } else if let Some((open, worst)) = &mut self.watched[k].open
                && excess > *worst
            {
                (open.at, open.value, open.limit, *worst) = (t, value, limit, excess);
            }
        } else if let Some((mut open, _)) = self.watched[k].open.take() {
            open.to = before.map_or(t, |(b, _)| self.crossing(k, *b, t, true));
            self.violated(open);
        }
    }

    /// Value, limit, and by how much it is left beyond rounding.
    fn excess(&self, k: usize, seen: &Seen) -> (f64, f64, f64) {
        match self.watched[k].kind {
            Watch::Range(c, [low, high]) => {
                let q = self.ranged.iter().position(|r| *r == c).map_or(0.0, |i| seen.ranged[i]);
                let slack = 1e-9 * (high - low);
                if low - q > q - high { (q, low, low - q - slack) } else { (q, high, q - high - slack) }
            }
            Watch::Speed(i, limit) => (seen.row.qd[i], limit, seen.row.qd[i].abs() - limit * (1.0 + 1e-9)),
            Watch::Effort(i, limit) => {
                (seen.row.with_friction[i], limit, seen.row.with_friction[i].abs() - limit * (1.0 + 1e-9))
            }
        }
    }

    fn crossing(&mut self, k: usize, a: f64, b: f64, beyond: bool) -> f64 {
        let (mut low, mut high) = (a, b);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            let Ok(seen) = self.look(middle) else { break };
            *(if (self.excess(k, &seen).2 > 0.0) == beyond { &mut low } else { &mut high }) = middle;
        }
        high
    }

    /// Where an answer that is like that of `a` ends before `b`.
    fn bisect(&mut self, a: f64, b: f64, like_a: impl Fn(&Result<Seen, SolveError>) -> bool) -> f64 {
        let (mut low, mut high) = (a, b);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            *(if like_a(&self.look(middle)) { &mut low } else { &mut high }) = middle;
        }
        high
    }

    fn close_all(&mut self, t: f64) {
        for k in 0..self.watched.len() {
            if let Some((open, _)) = self.watched[k].open.take() {
                self.violated(Violation { to: t, ..open });
            }
        }
    }

    fn violated(&mut self, violation: Violation) {
        if self.profile.violations.len() < MOST_VIOLATIONS {
            self.profile.violations.push(violation);
        } else {
            self.profile.more_violations += 1;
        }
    }

    fn refused(&mut self, refusal: Refusal) {
        if self.profile.refusals.len() < MOST_VIOLATIONS {
            self.profile.refusals.push(refusal);
        } else {
            self.profile.more_refusals += 1;
        }
    }

    fn end(mut self) -> Profile {
        if let Some((t, _)) = self.last.take() {
            self.close_all(t);
            if let Some(refusal) = self.refusal.take() {
                self.refused(Refusal { to: t, ..refusal });
            }
        }
        // Instants that have no answered neighbour span no time: then all of them count the same.
        let (rows, lone) = (&self.profile.rows, self.answered == 0.0);
        let over_rows =
            |k: usize| rows.iter().map(|r| r.with_friction[k].powi(2)).sum::<f64>() / rows.len().max(1) as f64;
        let rms = |k: usize| (if lone { over_rows(k) } else { self.squares[k] / self.answered }).sqrt();
        let list: Vec<f64> = (0..self.squares.len()).map(rms).collect();
        self.profile.drives.iter_mut().zip(list).for_each(|(drive, rms)| drive.rms = rms);
        self.profile.violations.sort_by(|a, b| a.from.total_cmp(&b.from));
        self.profile
    }
}
