//! Stage 7: motion over time under efforts or a controller.
//!
//! The state is the pose of the platform and its twist; joints follow by inverse geometry at every evaluation, in the
//! working mode of the start, so that the loops stay closed by construction. A motion ends at the time asked for, or at a
//! joint limit or a singularity, which is found to a 1e-11 of the whole time and named.

mod control;
mod flexible;
mod flexible_plant;
pub mod gauss;
mod integrate;
mod outcome;
mod plant;
mod watch;

pub use control::{Controller, EffortTable, Feedback, Gains, Law};
pub use flexible::{FlexibleInstant, FlexibleLaw, FlexibleOptions, FlexibleSummary, TimedLoad, simulate_flexible};
pub use integrate::Method;
pub use outcome::{Ended, Instant, MovingPoint, Noise, SetupError, SimulationOptions, Stop, Summary};

use crate::dynamics::newton_euler::Sign;
use crate::kinematics::{Kind, SINGULAR, SolveError, WorkingMode};
use crate::model::Model;
use crate::spatial::Pose;
use integrate::{ChartState, RATES, TriedStep, Vector, WORKS};
use plant::{Plant, Trouble};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use watch::{FAIRLY_NEAR, NEAR, Watch};

/// Most steps of one simulation, rejected ones included.
pub const MOST_STEPS: usize = 20_000_000;

/// Most instants that are recorded.
pub const MOST_RECORDS: usize = 1_000_000;

/// Who hears of a motion. A closure that takes an [`Instant`] and says whether to go on is one.
pub trait Observer {
    /// An instant that is recorded; whether to go on.
    fn record(&mut self, instant: &Instant) -> bool;

    /// Asked after every few hundred steps, at which time of the motion; whether to go on.
    fn goes_on(&mut self, _t: f64) -> bool {
        true
    }
}

impl<F: FnMut(&Instant) -> bool> Observer for F {
    fn record(&mut self, instant: &Instant) -> bool {
        self(instant)
    }
}

/// The motion of a robot from a pose and a twist.
pub fn simulate(
    model: &Model<f64>,
    mode: &WorkingMode,
    from: (&Pose<f64>, &[f64]),
    law: &Law,
    options: &SimulationOptions,
    observer: &mut dyn Observer,
) -> Result<Summary, SetupError> {
    check(model, from.1, law, options)?;
    let plant = Plant::new(model, mode, law, options);
    Run::begin(plant, law, ChartState::new(0.0, from.0, from.1), observer)?.go()
}

fn check(model: &Model<f64>, t_r: &[f64], law: &Law, options: &SimulationOptions) -> Result<(), SetupError> {
    let positive = |what: &'static str, value: f64| {
        if value > 0.0 && value.is_finite() { Ok(()) } else { Err(SetupError::NotPositive { what, value }) }
    };
    let few = |what: &'static str, asked: f64, most: usize| {
        if asked <= most as f64 { Ok(()) } else { Err(SetupError::TooMany { what, asked, most }) }
    };
    let t = model.topology();
    if !t.plan.given.is_empty() {
        return Err(SetupError::OpenJoints(t.plan.given.iter().map(|c| t.coords[*c].name.clone()).collect()));
    }
    positive("the time", options.duration)?;
    positive("the time between records", options.every)?;
    few("records", options.duration / options.every, MOST_RECORDS)?;
    match options.method {
        Method::Fixed { step } => {
            positive("the step", step)?;
            few("steps", options.duration / step, MOST_STEPS)?;
        }
        Method::Adaptive { tolerance } if !(1e-14..=1e-2).contains(&tolerance) => {
            return Err(SetupError::Tolerance(tolerance));
        }
        Method::Adaptive { .. } => {}
    }
    if let Some(period) = options.period {
        positive("the period", period)?;
        few("samples of the controller", options.duration / period, MOST_STEPS)?;
    }
    if let Some(Sign::Smooth(width)) = options.friction {
        positive("the width of the sign", width)?;
    }
    if options.noise.is_some() && options.period.is_none() {
        return Err(SetupError::NoiseWithoutPeriod);
    }
    let (n, n_a) = (t.platform.independent.len(), t.active.len());
    let fits = match law {
        Law::Free => true,
        Law::Efforts(table) => table.drives() == n_a,
        Law::Controller(c) if matches!(c.feedback, Feedback::JointPd { .. }) => c.gains.fit(n_a),
        Law::Controller(c) => c.gains.fit(n),
    };
    if !fits {
        return Err(match law {
            Law::Controller(c) if !matches!(c.feedback, Feedback::JointPd { .. }) => {
                SetupError::WrongCount { what: "gains", expected: n }
            }
            Law::Controller(_) => SetupError::WrongCount { what: "gains", expected: n_a },
            _ => SetupError::WrongCount { what: "efforts", expected: n_a },
        });
    }
    if t_r.len() != n || t_r.iter().any(|x| !x.is_finite()) {
        return Err(SetupError::Start(SolveError::WrongCount {
            what: "components of the twist",
            expected: n,
            found: t_r.len(),
        }));
    }
    Ok(())
}

/// A simulation under way.
struct Run<'a, 'r> {
    plant: Plant<'a>,
    law: &'a Law,
    watch: Watch<'a>,
    observer: &'r mut dyn Observer,
    random: Pcg64Mcg,
    state: ChartState,
    /// Derivative at the state.
    k1: Vector,
    scales: Vector,
    /// The next step to try.
    h: f64,
    samples: usize,
    records: usize,
    /// Energy at the start.
    energy: f64,
    /// Energy at the state, less what it has got.
    balance: f64,
    summary: Summary,
}

/// How many tolerances a step may be wrong in energy.
const GAINED: f64 = 1e4;

/// What drives, friction and loads have given by a state.
fn got(state: &ChartState) -> f64 {
    state.y[WORKS] - state.y[WORKS + 1] + state.y[WORKS + 2]
}

/// Steps below this share of the whole time are short.
const SHORT: f64 = 1e-4;

/// Steps below this share of the whole time are too small.
const LEAST: f64 = 1e-11;

impl<'a, 'r> Run<'a, 'r> {
    fn begin(
        mut plant: Plant<'a>,
        law: &'a Law,
        state: ChartState,
        observer: &'r mut dyn Observer,
    ) -> Result<Self, SetupError> {
        let setup = |trouble| match trouble {
            Trouble::Robot(e) => SetupError::Start(e),
            Trouble::Controller(e) => SetupError::Controller(e),
        };
        let (model, options) = (plant.model, plant.options);
        let mut random = Pcg64Mcg::seed_from_u64(options.noise.map_or(0, |n| n.seed));
        plant.sample(&state, &mut random).map_err(setup)?;
        let first = plant.observe(&state).map_err(setup)?;
        let state = state.rebased(&first.pose); // with the coordinates that follow
        let k1 = plant.derivative(&state).map_err(setup)?;
        let mut watch = Watch::new(model, plant.mode, options.through_type2);
        watch.start(&state.pose());
        let summary = Summary {
            stop: Stop::End,
            t: 0.0,
            steps: 0,
            rejected: 0,
            gap: plant.gap(),
            energy_error: 0.0,
            energy_scale: 0.0,
            saturated: vec![0.0; model.topology().active.len()],
        };
        let mut run = Self {
            scales: scales(model),
            h: 1e-3 * options.duration.min(1.0),
            samples: 1,
            records: 0,
            energy: first.energies.iter().sum(),
            balance: first.energies.iter().sum(),
            plant,
            law,
            watch,
            observer,
            random,
            state,
            k1,
            summary,
        };
        run.tell(&first);
        Ok(run)
    }

    fn go(mut self) -> Result<Summary, SetupError> {
        let options = self.plant.options;
        let least = LEAST * options.duration;
        let mut tried = None;
        loop {
            let rest = options.duration - self.state.t;
            if rest <= least {
                return Ok(self.end(Stop::End));
            }
            if self.summary.steps + self.summary.rejected >= MOST_STEPS {
                return Ok(self.end(Stop::TooManySteps { most: MOST_STEPS }));
            }
            let tried_in_all = self.summary.steps + self.summary.rejected;
            if tried_in_all % 256 == 255 {
                if !self.observer.goes_on(self.state.t) {
                    return Ok(self.end(Stop::Interrupted));
                }
                if let Some(stop) = self.stretched() {
                    return Ok(self.end(stop));
                }
            }
            let whole = self.until_next_corner().min(rest);
            if let Method::Fixed { step } = options.method {
                self.h = tried.unwrap_or(step);
            }
            // Two equal steps rather than a whole one and a crumb.
            let h = if self.h >= whole {
                whole
            } else if 2.0 * self.h > whole {
                self.h.max(0.5 * whole)
            } else {
                self.h
            };
            match self.attempt(h) {
                Ok(None) => {
                    tried = None;
                    if let Err(trouble) = self.sample() {
                        let stop = self.diagnose(Some(trouble));
                        return Ok(self.end(stop));
                    }
                }
                Ok(Some(stop)) => return Ok(self.end(stop)),
                Err(trouble) => {
                    self.summary.rejected += 1;
                    let smaller = match trouble {
                        None => self.h.min(0.9 * h),
                        Some(_) => 0.5 * h,
                    };
                    (self.h, tried) = (smaller, Some(smaller));
                    if smaller < least {
                        let stop = self.diagnose(trouble);
                        return Ok(self.end(stop));
                    }
                }
            }
        }
    }

    /// A leg that is stretched where steps have become short: the platform comes to rest there, with all inertia of the robot and more
    /// against it, and no step leads out of it.
    fn stretched(&self) -> Option<Stop> {
        if self.h > SHORT * self.plant.options.duration {
            return None;
        }
        let (kind, leg) = self.near(SINGULAR)?;
        matches!(kind, Kind::Type1 | Kind::Lpjts).then_some(Stop::Singular { kind, leg })
    }

    /// Try a step. `Ok`: taken, or ended by a singularity inside. `Err`: too long for the tolerance (`None`), or something
    /// on the way has no answer.
    fn attempt(&mut self, h: f64) -> Result<Option<Stop>, Option<Trouble>> {
        let step = self.step(h).map_err(Some)?;
        let mut longer = h;
        if let Method::Adaptive { tolerance } = self.plant.options.method {
            let error = step.error(tolerance, &self.scales);
            let factor = if error > 0.0 { 0.9 * error.powf(-0.2) } else { 5.0 };
            if !(error <= 1.0) {
                self.h = h * if factor.is_finite() { factor.clamp(0.1, 0.9) } else { 0.1 };
                return Err(None);
            }
            longer = h * factor.clamp(0.2, 5.0);
        }
        let pose = self.plant.closed(&step.end).map_err(|e| Some(Trouble::Robot(e)))?;
        let next = step.end.rebased(&pose);
        // The end of the step must have an answer too.
        let k1 = self.plant.derivative(&next).map_err(Some)?;
        let energies = self.plant.energies(&next).map_err(Some)?;
        let balance = energies.iter().sum::<f64>() - got(&next);
        if self.lost_its_way(&next, energies, balance) {
            self.h = 0.25 * h;
            return Err(None);
        }
        let gap = self.plant.gap();
        match self.watch.crossed(&next.pose()) {
            None => self.watch.go_on(),
            Some(k) => match self.crossing(k, h) {
                Some(stop) => return Ok(Some(stop)),
                None => self.watch.start(&next.pose()),
            },
        }
        (0..2).for_each(|k| self.summary.gap[k] = self.summary.gap[k].max(gap[k]));
        let at_limit = self.plant.at_limit.iter();
        self.summary.saturated.iter_mut().zip(at_limit).filter(|(_, at)| **at).for_each(|(sum, _)| *sum += h);
        self.summary.steps += 1;
        let stopped = !self.tell_inside(&step, &next);
        (self.state, self.k1, self.balance) = (next, k1, balance);
        // A step cut short by a corner says little about the next one.
        self.h = if h < 0.5 * self.h { self.h } else { longer };
        Ok(stopped.then_some(Stop::Interrupted))
    }

    /// Whether a step has gained or lost more energy than its tolerance allows: joints beside a singularity may turn so quickly that it
    /// steps over what they do.
    fn lost_its_way(&self, next: &ChartState, energies: [f64; 3], balance: f64) -> bool {
        let Method::Adaptive { tolerance } = self.plant.options.method else { return false };
        let kinetic = energies[0] + energies[1];
        let scales = &self.scales[RATES..RATES + self.plant.n];
        let fastest = next.t_r().iter().zip(scales).map(|(x, s)| x.abs() / s).fold(0.0, f64::max);
        // An error of the rates by the tolerance changes the energy by this much.
        let by_rates = kinetic * (1.0 + 2.0 / fastest);
        let allowed = GAINED * tolerance * (by_rates + self.summary.energy_scale) + 1e-12 * energies[2].abs();
        (balance - self.balance).abs() > allowed
    }

    fn step(&mut self, h: f64) -> Result<TriedStep, Trouble> {
        let (plant, state, k1) = (&mut self.plant, &self.state, &self.k1);
        match plant.options.method {
            Method::Adaptive { .. } => TriedStep::dormand_prince(state, k1, h, |s| plant.derivative(s)),
            Method::Fixed { .. } => TriedStep::classical(state, k1, h, |s| plant.derivative(s)),
        }
    }

    /// The singularity at which function `k` changes its sign within `h`; the state is taken there. `None` where it is only
    /// the plan's.
    fn crossing(&mut self, k: usize, h: f64) -> Option<Stop> {
        let (mut low, mut high) = (0.0, h);
        while high - low > LEAST * self.plant.options.duration {
            let middle = f64::midpoint(low, high);
            let keeps = self.step(middle).is_ok_and(|step| self.watch.keeps(k, &step.end.pose()));
            *(if keeps { &mut low } else { &mut high }) = middle;
        }
        let end = self.step(low).map_or(self.state, |step| step.end);
        let (kind, leg) = self.watch.name(k, &end.pose())?;
        self.state = end.rebased(&end.pose());
        Some(Stop::Singular { kind, leg })
    }

    /// The singularity that the robot is at or near to.
    fn near(&self, sigma: f64) -> Option<(Kind, Option<String>)> {
        self.watch.near(&self.state.pose(), &self.plant.dynamics.pos, sigma)
    }

    /// Why steps became too small.
    fn diagnose(&mut self, trouble: Option<Trouble>) -> Stop {
        match trouble {
            Some(Trouble::Controller(e)) => Stop::Controller(e),
            // The end of a leg's reach: Type 1, or LPJTS where its passive joints alone are stretched.
            Some(Trouble::Robot(
                SolveError::OutOfReach { leg, .. }
                | SolveError::AtLimit { leg }
                | SolveError::CutOff { leg: Some(leg), .. },
            )) => {
                let kind = self.near(NEAR).map_or(Kind::Type1, |(kind, _)| kind);
                Stop::Singular { kind, leg: Some(leg) }
            }
            Some(Trouble::Robot(e @ SolveError::HardlyMoves { .. })) => {
                let near = self.near(FAIRLY_NEAR);
                near.map_or(Stop::Refused(e), |(kind, leg)| Stop::Singular { kind, leg })
            }
            Some(Trouble::Robot(SolveError::Singular { kind, leg })) => {
                let kind = self.near(NEAR).map_or(kind, |(kind, _)| kind);
                Stop::Singular { kind, leg }
            }
            Some(Trouble::Robot(e)) if e.kind() == Kind::Type2.word() => {
                Stop::Singular { kind: Kind::Type2, leg: None }
            }
            Some(Trouble::Robot(e @ SolveError::OutOfRange { .. })) => Stop::Refused(e),
            Some(Trouble::Robot(e)) => match self.near(NEAR) {
                Some((kind, leg)) => Stop::Singular { kind, leg },
                None => Stop::Refused(e),
            },
            // Steps that gain or lose energy however short they are: joints run away.
            _ => match self.near(FAIRLY_NEAR) {
                Some((kind, leg)) => Stop::Singular { kind, leg },
                None => Stop::StepTooSmall,
            },
        }
    }

    /// How far it is to the next sample of the controller or corner of the efforts.
    fn until_next_corner(&self) -> f64 {
        let (t, options) = (self.state.t, self.plant.options);
        let sample = options.period.map_or(f64::INFINITY, |p| self.samples as f64 * p);
        let corner =
            if let Law::Efforts(table) = self.law { table.next(t + LEAST * options.duration) } else { f64::INFINITY };
        let next = sample.min(corner) - t;
        if next > LEAST * options.duration { next } else { f64::INFINITY }
    }

    /// A sample of the controller when its time has come.
    fn sample(&mut self) -> Result<(), Trouble> {
        let options = self.plant.options;
        let Some(period) = options.period else { return Ok(()) };
        if self.samples as f64 * period > self.state.t + LEAST * options.duration {
            return Ok(());
        }
        self.samples += 1;
        self.plant.sample(&self.state, &mut self.random)?;
        self.k1 = self.plant.derivative(&self.state)?;
        Ok(())
    }

    /// Record the instants inside a step: by interpolation, or at its end when steps are fixed.
    fn tell_inside(&mut self, step: &TriedStep, next: &ChartState) -> bool {
        let every = self.plant.options.every;
        let slack = LEAST * self.plant.options.duration;
        let adaptive = matches!(self.plant.options.method, Method::Adaptive { .. });
        loop {
            let due = self.records as f64 * every;
            if due > next.t + slack || due > self.plant.options.duration - slack {
                return true;
            }
            let state = if adaptive && due < next.t - slack { step.inside(due) } else { *next };
            let Ok(instant) = self.plant.observe(&state) else { return true };
            if !self.tell(&instant) {
                return false;
            }
            while !adaptive && self.records as f64 * every <= next.t + slack {
                self.records += 1;
            }
        }
    }

    fn tell(&mut self, instant: &Instant) -> bool {
        self.records += 1;
        let energy: f64 = instant.energies.iter().sum();
        let gained = energy - self.energy;
        let off = gained - instant.work + instant.losses - instant.work_of_load;
        self.summary.energy_error = self.summary.energy_error.max(off.abs());
        let kinetic = instant.energies[0] + instant.energies[1];
        for part in [kinetic, gained, instant.work, instant.losses, instant.work_of_load] {
            self.summary.energy_scale = self.summary.energy_scale.max(part.abs());
        }
        self.observer.record(instant)
    }

    fn end(mut self, stop: Stop) -> Summary {
        if let Ok(last) = self.plant.observe(&self.state) {
            // Where a leg is stretched its rates are known to half of the digits only.
            let blurred = matches!(stop, Stop::Singular { kind: Kind::Type1 | Kind::Lpjts, .. });
            let _ = if blurred { self.observer.record(&last) } else { self.tell(&last) };
        }
        self.summary.t = self.state.t;
        self.summary.stop = stop;
        self.summary
    }
}

/// What errors are compared with: the size of the robot, a radian, and these per second; zero for what does not move.
fn scales(model: &Model<f64>) -> Vector {
    let platform = &model.topology().platform;
    let mut scales = [0.0; 15];
    let of = |angle: bool| if angle { 1.0 } else { model.size() };
    for (k, c) in platform.independent.iter().enumerate() {
        scales[c.index()] = of(c.is_angle());
        scales[RATES + k] = of(c.is_angle());
    }
    scales
}
