//! Along a motion, instant after instant: peaks, limits that are left, times without an answer. Where a quantity has its
//! largest value between instants and that may matter, the place is searched and becomes an instant of its own.

use super::follow::{
    Bound, KnownEfforts, Look, MOST_VIOLATIONS, Passage, Profile, Refusal, Row, Violation, drive_limits,
};
use super::{OwnMotion, Trajectory};
use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::motion::move_from;
use crate::kinematics::{Kind, SolveError, WorkingMode, joint_value};
use crate::model::{CoordId, Model};

/// Cuts of the golden section: an interval becomes a 1e-6 of itself, and a smooth peak is met to a 1e-12.
const CUTS: usize = 29;

/// A limit that is watched.
struct Watched {
    joint: String,
    bound: Bound,
    kind: WatchedLimit,
    /// The violation under way, and by how much the limit is left at worst.
    open: Option<(Violation, f64)>,
}

#[derive(Clone, Copy)]
enum WatchedLimit {
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

/// Limits of efforts hold so near to their singularity that matrices are singular: some microseconds.
fn known_at(known: &[KnownEfforts], t: f64) -> Option<&KnownEfforts> {
    let nearest = known.iter().min_by(|a, b| (a.t - t).abs().total_cmp(&(b.t - t).abs()));
    nearest.filter(|k| (k.t - t).abs() < 1e-4)
}

/// An instant that was looked at.
struct Looked {
    t: f64,
    seen: Result<Seen, SolveError>,
    /// Whether it is a row of the answer.
    is_row: bool,
}

/// What may have a peak between instants.
#[derive(Clone, Copy)]
enum Peak {
    Limit(usize),
    Effort(usize),
    Speed(usize),
}

/// A motion being followed.
pub(super) struct Walk<'a> {
    model: &'a Model<f64>,
    own: OwnMotion,
    free: Model<f64>,
    mode: &'a WorkingMode,
    trajectory: &'a Trajectory,
    dynamics: Dynamics,
    ranged: Vec<CoordId>,
    watched: Vec<Watched>,
    each: &'a mut dyn FnMut(&Row),
    known: &'a [KnownEfforts],
    /// The last instant that counts already, and the one that waits for the next.
    window: Vec<Looked>,
    /// The instant that was counted last.
    last: Option<(f64, Result<Seen, SolveError>)>,
    refusal: Option<Refusal>,
    profile: Profile,
    squares: Vec<f64>,
    answered: f64,
    /// Sums of the squares over the instants, and how many there were: the mean where no two follow each other.
    lone: (Vec<f64>, usize),
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        model: &'a Model<f64>,
        mode: &'a WorkingMode,
        trajectory: &'a Trajectory,
        look: &Look<'a>,
        each: &'a mut dyn FnMut(&Row),
    ) -> Self {
        let t = model.topology();
        let mut watched = Vec::new();
        let mut watch = |c: CoordId, bound, kind| {
            watched.push(Watched { joint: t.coords[c].name.clone(), bound, kind, open: None });
        };
        let ranged: Vec<CoordId> = t.coords.iter().filter(|(_, c)| c.range.is_some()).map(|(id, _)| id).collect();
        for c in &ranged {
            let limits = t.coords[*c].range.map_or([0.0; 2], |r| r.limits());
            watch(*c, Bound::Range, WatchedLimit::Range(*c, limits));
        }
        for (k, (c, limits)) in t.active.iter().zip(drive_limits(model)).enumerate() {
            if let Some(speed) = limits.speed {
                watch(*c, Bound::Speed, WatchedLimit::Speed(k, speed));
            }
            if let Some(effort) = limits.effort {
                watch(*c, Bound::Effort, WatchedLimit::Effort(k, effort));
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
        let mut dynamics = Dynamics::new(&free).going_on();
        dynamics.efforts.load = look.load;
        let squares = vec![0.0; t.active.len()];
        Self {
            model,
            own: OwnMotion::new(&free),
            free,
            mode,
            trajectory,
            dynamics,
            ranged,
            watched,
            each,
            known: look.known,
            window: Vec::with_capacity(3),
            last: None,
            refusal: None,
            profile,
            lone: (squares.clone(), 0),
            squares,
            answered: 0.0,
        }
    }

    fn look(&mut self, t: f64) -> Result<Seen, SolveError> {
        let n = self.model.topology().platform.independent.len();
        let (mut t_r, mut td_r) = ([0.0; 6], [0.0; 6]);
        let mut desired = self.trajectory.at(t);
        let (free, d) = (&self.free, &mut self.dynamics);
        let (memory, motion) = ((&mut d.pos, &mut d.motion), (&mut t_r[..n], &mut td_r[..n]));
        self.own.close(free, self.mode, &mut desired, memory, motion)?;
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
        let efforts =
            |d: &mut Dynamics, friction| d.inverse_from(free, &t_r[..n], &td_r[..n], friction).map(<[f64]>::to_vec);
        match (efforts(d, None), efforts(d, Some(Sign::Sharp))) {
            (Ok(plain), Ok(rubbed)) => (row.efforts, row.with_friction) = (plain, rubbed),
            (Err(why), _) | (_, Err(why)) => {
                let known = known_at(self.known, t).filter(|_| why.kind() == Kind::Type2.word()).ok_or(why)?;
                (row.efforts, row.with_friction) = (known.efforts.clone(), known.with_friction.clone());
            }
        }
        Ok(Seen { row, ranged })
    }

    /// The next instant.
    pub(super) fn push(&mut self, t: f64, is_row: bool) {
        let seen = self.look(t);
        self.window.push(Looked { t, seen, is_row });
        match self.window.len() {
            1 => {
                let Looked { t, seen, is_row } = &self.window[0];
                let (t, seen, is_row) = (*t, seen.clone(), *is_row);
                self.count_instant(t, seen, is_row);
            }
            2 => {}
            _ => {
                let peaks = self.peaks();
                self.window.remove(0);
                let middle = self.window[0].t;
                peaks.iter().filter(|t| **t < middle).for_each(|t| self.look_at(*t));
                let (seen, is_row) = (self.window[0].seen.clone(), self.window[0].is_row);
                self.count_instant(middle, seen, is_row);
                peaks.iter().filter(|t| **t > middle).for_each(|t| self.look_at(*t));
            }
        }
    }

    fn look_at(&mut self, t: f64) {
        let seen = self.look(t);
        self.count_instant(t, seen, false);
    }

    /// Times between the first and the last of three instants at which something that matters is largest.
    fn peaks(&mut self) -> Vec<f64> {
        let [
            Looked { t: a, seen: Ok(first), .. },
            Looked { seen: Ok(middle), .. },
            Looked { t: b, seen: Ok(last), .. },
        ] = &self.window[..]
        else {
            return Vec::new();
        };
        let (a, b) = (*a, *b);
        let drives = 0..self.profile.drives.len();
        let all = (0..self.watched.len()).map(Peak::Limit).chain(drives.clone().map(Peak::Effort));
        let matters = |peak: &Peak| {
            let [x, y, z] = [first, middle, last].map(|seen| self.height(*peak, seen));
            let bent = 2.0 * y - x - z;
            let top = y + if bent > 0.0 { (z - x).powi(2) / (8.0 * bent) } else { 0.0 };
            // A parabola through three instants is not the curve itself: half of its rise is allowed for.
            y >= x && y >= z && bent > 0.0 && top + 0.5 * (top - x.min(z)) > self.threshold(*peak)
        };
        let wanted: Vec<Peak> = all.chain(drives.map(Peak::Speed)).filter(matters).collect();
        let mut times: Vec<f64> = wanted.into_iter().filter_map(|peak| self.search(peak, a, b)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// What is largest at a peak.
    fn height(&self, peak: Peak, seen: &Seen) -> f64 {
        match peak {
            Peak::Limit(k) => self.excess(k, seen).2,
            Peak::Effort(k) => seen.row.with_friction[k].abs(),
            Peak::Speed(k) => seen.row.qd[k].abs(),
        }
    }

    /// Above which height a peak matters.
    fn threshold(&self, peak: Peak) -> f64 {
        match peak {
            Peak::Limit(k) => self.watched[k].open.as_ref().map_or(0.0, |(_, worst)| *worst),
            Peak::Effort(k) => self.profile.drives[k].peak.abs() * (1.0 + 1e-9),
            Peak::Speed(k) => self.profile.drives[k].speed * (1.0 + 1e-9),
        }
    }

    /// Where a peak is highest.
    fn search(&mut self, peak: Peak, a: f64, b: f64) -> Option<f64> {
        highest(&mut |t| self.look(t).ok().map(|seen| self.height(peak, &seen)), [a, b], CUTS)
    }

    /// Count an instant: peaks, limits, refusals; the next after the one that was counted last.
    fn count_instant(&mut self, t: f64, now: Result<Seen, SolveError>, is_row: bool) {
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
        if let Ok(seen) = &now
            && is_row
        {
            (self.each)(&seen.row);
        }
        self.last = Some((t, now));
    }

    /// Peaks, and squares by the trapezoidal rule.
    fn count(&mut self, seen: &Seen, before: Option<&(f64, Result<Seen, SolveError>)>) {
        self.lone.1 += 1;
        self.lone.0.iter_mut().zip(&seen.row.with_friction).for_each(|(sum, x)| *sum += x * x);
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
            WatchedLimit::Range(c, [low, high]) => {
                let q = self.ranged.iter().position(|r| *r == c).map_or(0.0, |i| seen.ranged[i]);
                let slack = 1e-9 * (high - low);
                if low - q > q - high { (q, low, low - q - slack) } else { (q, high, q - high - slack) }
            }
            WatchedLimit::Speed(i, limit) => (seen.row.qd[i], limit, seen.row.qd[i].abs() - limit * (1.0 + 1e-9)),
            WatchedLimit::Effort(i, limit) => {
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

    /// The end of the motion.
    pub(super) fn end(mut self) -> Profile {
        if self.window.len() == 2
            && let Some(Looked { t, seen, is_row }) = self.window.pop()
        {
            self.count_instant(t, seen, is_row);
        }
        if let Some((t, _)) = self.last.take() {
            self.close_all(t);
            if let Some(refusal) = self.refusal.take() {
                self.refused(Refusal { to: t, ..refusal });
            }
        }
        let (squares, over) = match self.lone.1 {
            _ if self.answered > 0.0 => (&self.squares, self.answered),
            count => (&self.lone.0, count.max(1) as f64),
        };
        let rms = |sum: &f64| (sum / over).sqrt();
        let drives = &mut self.profile.drives;
        drives.iter_mut().zip(squares).for_each(|(drive, sum)| drive.rms = rms(sum));
        self.profile.violations.sort_by(|a, b| a.from.total_cmp(&b.from));
        self.profile
    }
}

/// Where a function with one peak is highest, by so many cuts of the golden section; nothing where it has no value.
pub(crate) fn highest(f: &mut dyn FnMut(f64) -> Option<f64>, [mut a, mut b]: [f64; 2], cuts: usize) -> Option<f64> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut c, mut d) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
    let (mut at_c, mut at_d) = (f(c)?, f(d)?);
    for _ in 0..cuts {
        if at_c > at_d {
            (b, d, at_d) = (d, c, at_c);
            c = b - GOLDEN * (b - a);
            at_c = f(c)?;
        } else {
            (a, c, at_c) = (c, d, at_d);
            d = a + GOLDEN * (b - a);
            at_d = f(d)?;
        }
    }
    Some(if at_c > at_d { c } else { d })
}
