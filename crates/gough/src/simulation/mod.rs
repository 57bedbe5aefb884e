//! Stage 7: motion over time under efforts or a controller.
//!
//! The state is the pose of the platform and its twist; joints follow by inverse geometry at every evaluation, in the
//! working mode of the start, so that the loops stay closed by construction. A motion ends at the time asked for, or at a
//! joint limit or a singularity, which is found to a 1e-11 of the whole time and named.

mod control;
mod integrate;
mod watch;

pub use control::{Controller, EffortTable, Feedback, Gains, Law};
pub use integrate::Method;

use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::{Sign, energies};
use crate::kinematics::closure::gap;
use crate::kinematics::motion::{move_bodies, move_from};
use crate::kinematics::{Kind, SolveError, WorkingMode, inverse_in, joint_value, pose_bodies};
use crate::model::Model;
use crate::spatial::orientation::from_axis_angle;
use crate::spatial::{Pose, Vec3, Wrench, vec3};
use crate::trajectory::drive_limits;
use control::{Governor, Measured};
use integrate::{RATES, State, Step, Vector, WORKS, chart_rate};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt;
use watch::Watch;

/// Most steps of one simulation, rejected ones included.
pub const MOST_STEPS: usize = 20_000_000;

/// Most instants that are recorded.
pub const MOST_RECORDS: usize = 1_000_000;

/// Normal noise of what a controller measures: joints for joint PD, the platform for the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Noise {
    /// Standard deviation of positions, in metres and radians.
    pub position: f64,
    /// Standard deviation of rates.
    pub rate: f64,
    /// The same seed gives the same noise, whatever the steps.
    pub seed: u64,
}

/// How a simulation is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Seconds.
    pub duration: f64,
    /// How steps are taken.
    pub method: Method,
    /// Record an instant every so many seconds; with a fixed step, at the next whole number of steps.
    pub every: f64,
    /// Friction of the joints.
    pub friction: Option<Sign>,
    /// Efforts end at the limits of the drives.
    pub saturate: bool,
    /// The controller works at samples so far apart and its efforts are held in between; `None`: all the time.
    pub period: Option<f64>,
    /// Noise at the samples of the controller; needs a period.
    pub noise: Option<Noise>,
    /// What acts on the platform from outside, at its origin, in world axes.
    pub load: Wrench<f64>,
    /// Go on through Type 2 singularities, where the platform is not held but its motion is determined.
    pub through_type2: bool,
}

impl Options {
    /// For a duration: adaptive steps at 1e-9, five hundred instants, no friction, drives within their limits.
    pub fn lasting(duration: f64) -> Self {
        Self {
            duration,
            method: Method::Adaptive { tolerance: 1e-9 },
            every: duration / 500.0,
            friction: None,
            saturate: true,
            period: None,
            noise: None,
            load: Wrench::zero(),
            through_type2: false,
        }
    }
}

/// Why a simulation cannot begin.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum SetupError {
    /// The robot cannot stand or move as it should at the start.
    Start(SolveError),
    /// The controller cannot work at the start.
    Controller(SolveError),
    /// A number makes no sense.
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// It would take too long.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are asked for.
        asked: f64,
        /// The most there may be.
        most: usize,
    },
    /// A list has the wrong length.
    WrongCount {
        /// Of what.
        what: &'static str,
        /// How many there should be.
        expected: usize,
    },
    /// The tolerance is out of reach of the arithmetic, or no tolerance.
    Tolerance(f64),
    /// The pose leaves joints open.
    OpenJoints(Vec<String>),
    /// Noise of a controller that works all the time.
    NoiseWithoutPeriod,
}

impl SetupError {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Start(e) | Self::Controller(e) => e.kind(),
            Self::OpenJoints(_) => "open-joints",
            _ => "usage",
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(e) => write!(f, "{e}"),
            Self::Controller(e) => write!(f, "the controller has no answer at the start: {e}"),
            Self::NotPositive { what, value } => write!(f, "{what} is {value}; it must be positive and finite"),
            Self::TooMany { what, asked, most } => {
                write!(f, "{asked:.0} {what} are asked for, {most} are the most; take a longer step or a shorter time")
            }
            Self::WrongCount { what, expected } => write!(f, "{what}: give one for all, or {expected}"),
            Self::Tolerance(x) => write!(f, "the tolerance is {x:e}; it must be between 1e-14 and 1e-2"),
            Self::OpenJoints(names) => write!(
                f,
                "the pose of the platform leaves joints open ({}); motion of such robots is not simulated",
                names.join(", ")
            ),
            Self::NoiseWithoutPeriod => {
                f.write_str("noise needs a controller that works at samples; give the time between them")
            }
        }
    }
}

impl std::error::Error for SetupError {}

/// Why a motion ended.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// The time was over.
    End,
    /// It was told to.
    Interrupted,
    /// A singularity was met.
    Singular {
        /// Which.
        kind: Kind,
        /// The leg, where it is one leg's.
        leg: Option<String>,
    },
    /// The robot cannot go on: a joint at its limit, or what the reason says.
    Refused(SolveError),
    /// The controller had no answer.
    Controller(SolveError),
    /// Steps became too small for the tolerance, not near any singularity.
    StepTooSmall,
    /// There were too many.
    TooManySteps,
}

impl Stop {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Interrupted => "interrupted",
            Self::Singular { kind, .. } => kind.word(),
            Self::Refused(e) => e.kind(),
            Self::Controller(_) => "controller",
            Self::StepTooSmall => "step-too-small",
            Self::TooManySteps => "too-many-steps",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the time is over"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Singular { kind: Kind::Type1, leg } => {
                let leg = leg.as_ref().map_or_else(|| "a leg".to_owned(), |l| format!("leg {l}"));
                write!(f, "{leg} is stretched or folded: a Type 1 singularity, where working modes meet")
            }
            Self::Singular { kind, leg } => {
                let of = leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
                write!(f, "a {} singularity{of}", kind.title())
            }
            Self::Refused(SolveError::OutOfRange { joint, value, range: [low, high] }) => {
                write!(f, "joint {joint} is at the end of its range: {value:.6} of [{low:.6}, {high:.6}]")
            }
            Self::Refused(e) => write!(f, "{e}"),
            Self::Controller(e) => write!(f, "the controller has no answer: {e}"),
            Self::StepTooSmall => {
                f.write_str("steps became too small for the tolerance; motion too stiff or not smooth: widen the friction's sign or the tolerance")
            }
            Self::TooManySteps => write!(f, "{MOST_STEPS} steps were taken; ask for a shorter time or a wider tolerance"),
        }
    }
}

/// One instant of a motion.
#[derive(Clone, PartialEq, Debug)]
pub struct Instant {
    /// Time.
    pub t: f64,
    /// Pose of the platform.
    pub pose: Pose<f64>,
    /// Twist in its independent components.
    pub t_r: Vec<f64>,
    /// Acceleration.
    pub td_r: Vec<f64>,
    /// Active joints.
    pub q: Vec<f64>,
    /// Their rates.
    pub qd: Vec<f64>,
    /// Their accelerations.
    pub qdd: Vec<f64>,
    /// Efforts of the drives.
    pub efforts: Vec<f64>,
    /// Kinetic energy of the bodies, of the rotors, and potential energy.
    pub energies: [f64; 3],
    /// Work of the drives since the start.
    pub work: f64,
    /// Work lost to friction since the start.
    pub losses: f64,
    /// Work of what acts on the platform from outside, since the start.
    pub work_of_load: f64,
}

/// How a motion went.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Why it ended.
    pub stop: Stop,
    /// When.
    pub t: f64,
    /// Steps taken.
    pub steps: usize,
    /// Steps tried in vain.
    pub rejected: usize,
    /// Largest gap of the loops after any step, in metres and radians.
    pub gap: [f64; 2],
    /// Largest difference between the energy gained and the works done, over the instants recorded.
    pub energy_error: f64,
    /// Largest energy or work seen: what the error is to be compared with.
    pub energy_scale: f64,
    /// Per drive, the time it spent at its limit, step by step.
    pub saturated: Vec<f64>,
}

/// Why an evaluation has no answer.
#[derive(Clone, Debug)]
enum Trouble {
    Robot(SolveError),
    Controller(SolveError),
}

/// The robot and what drives it.
struct Plant<'a> {
    model: &'a Model<f64>,
    mode: &'a WorkingMode,
    options: &'a Options,
    dynamics: Dynamics,
    governor: Governor<'a>,
    n: usize,
    /// Largest efforts.
    limits: Vec<f64>,
    seen: Measured,
    efforts: Vec<f64>,
    /// Efforts held between samples.
    held: Option<Vec<f64>>,
    /// Drives at their limit at the last evaluation.
    at_limit: Vec<bool>,
    td_r: [f64; 6],
}

impl<'a> Plant<'a> {
    fn new(model: &'a Model<f64>, mode: &'a WorkingMode, law: &'a Law, options: &'a Options) -> Self {
        let n_a = model.topology().active.len();
        let limit = |l: &crate::trajectory::DriveLimits| if options.saturate { l.effort } else { None };
        let mut dynamics = Dynamics::new(model);
        dynamics.efforts.load = options.load;
        Self {
            model,
            mode,
            options,
            dynamics,
            governor: Governor::new(law, model, mode),
            n: model.topology().platform.independent.len(),
            limits: drive_limits(model).iter().map(|l| limit(l).unwrap_or(f64::INFINITY)).collect(),
            seen: Measured { pose: Pose::identity(), t_r: [0.0; 6], q: vec![0.0; n_a], qd: vec![0.0; n_a] },
            efforts: vec![0.0; n_a],
            held: options.period.map(|_| vec![0.0; n_a]),
            at_limit: vec![false; n_a],
            td_r: [0.0; 6],
        }
    }

    /// Derivative of the state in its chart. Leaves posture, motion and efforts of the state behind.
    fn derivative(&mut self, state: &State) -> Result<Vector, Trouble> {
        let (pose, t_r) = (state.pose(), state.t_r());
        inverse_in(self.model, &pose, self.mode, &mut self.dynamics.pos).map_err(Trouble::Robot)?;
        if let Some(held) = &self.held {
            self.efforts.copy_from_slice(held);
        } else {
            self.measure(&t_r).map_err(Trouble::Robot)?;
            self.governor.efforts(state.t, &self.seen, &mut self.efforts).map_err(Trouble::Controller)?;
        }
        self.saturate();
        let friction = self.options.friction;
        let d = &mut self.dynamics;
        let td_r =
            d.direct(self.model, &pose, self.mode, &t_r[..self.n], &self.efforts, friction).map_err(Trouble::Robot)?;
        self.td_r[..self.n].copy_from_slice(td_r);
        Ok(self.rates(state))
    }

    fn rates(&self, state: &State) -> Vector {
        let motion = &self.dynamics.motion;
        let V = motion.V_WE;
        let theta = chart_rate(vec3(state.y[3], state.y[4], state.y[5]), V.w);
        let mut rates = [0.0; 15];
        rates[..3].copy_from_slice(V.v.as_slice());
        rates[3..6].copy_from_slice(theta.as_slice());
        rates[RATES..RATES + self.n].copy_from_slice(&self.td_r[..self.n]);
        let active = self.model.topology().active.iter();
        rates[WORKS] = active.zip(&self.efforts).map(|(c, effort)| effort * motion.rates[*c]).sum();
        rates[WORKS + 2] = V.power(self.options.load);
        if let Some(sign) = self.options.friction {
            let joints = self.model.numbers().joints.iter();
            rates[WORKS + 1] = joints.map(|(c, j)| j.friction(motion.rates[c], sign) * motion.rates[c]).sum();
        }
        rates
    }

    /// What the law is told at the posture in memory.
    fn measure(&mut self, t_r: &[f64; 6]) -> Result<(), SolveError> {
        let d = &mut self.dynamics;
        self.seen.pose = d.pos.X_WE;
        self.seen.t_r = *t_r;
        if self.governor.looks_at_joints() {
            move_from(self.model, &t_r[..self.n], &[0.0; 6][..self.n], &mut d.pos, &mut d.motion)?;
            for (k, c) in self.model.topology().active.iter().enumerate() {
                self.seen.q[k] = joint_value(self.model, &d.pos, *c);
                self.seen.qd[k] = d.motion.rates[*c];
            }
        }
        Ok(())
    }

    fn saturate(&mut self) {
        for ((effort, limit), at) in self.efforts.iter_mut().zip(&self.limits).zip(&mut self.at_limit) {
            *at = effort.abs() >= *limit;
            *effort = effort.clamp(-limit, *limit);
        }
    }

    /// A sample of the controller, with noise; its efforts are held from now on.
    fn sample(&mut self, state: &State, random: &mut Pcg64Mcg) -> Result<(), Trouble> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        let told = inverse_in(self.model, &state.pose(), self.mode, &mut self.dynamics.pos).map(|_| ());
        let told = told.and_then(|()| self.measure(&state.t_r())).map_err(Trouble::Robot);
        if let Some(noise) = self.options.noise {
            self.disturb(noise, random);
        }
        let found = self.governor.efforts(state.t, &self.seen, &mut held).map_err(Trouble::Controller);
        self.held = Some(held);
        told.and(found)
    }

    fn disturb(&mut self, noise: Noise, random: &mut Pcg64Mcg) {
        // Box and Muller: one of two independent normal numbers.
        let mut normal = |deviation: f64| {
            let (radius, turn): (f64, f64) = (random.random(), random.random());
            deviation * (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
        };
        if self.governor.looks_at_joints() {
            self.seen.q.iter_mut().for_each(|q| *q += normal(noise.position));
            self.seen.qd.iter_mut().for_each(|q| *q += normal(noise.rate));
            return;
        }
        let mut off = [0.0; 6];
        for (k, c) in self.model.topology().platform.independent.iter().enumerate() {
            off[c.index()] = normal(noise.position);
            self.seen.t_r[k] += normal(noise.rate);
        }
        self.seen.pose.p += vec3(off[0], off[1], off[2]);
        let turn: Vec3<f64> = vec3(off[3], off[4], off[5]);
        let angle = turn.norm();
        if angle > 0.0 {
            self.seen.pose.R = from_axis_angle(turn / angle, angle) * self.seen.pose.R;
        }
    }

    /// All there is to know of a state.
    fn observe(&mut self, state: &State) -> Result<Instant, Trouble> {
        self.derivative(state)?;
        let t_r = state.t_r()[..self.n].to_vec();
        let td_r = self.td_r[..self.n].to_vec();
        let d = &mut self.dynamics;
        move_bodies(self.model, &t_r, &td_r, &mut d.pos, &mut d.motion).map_err(Trouble::Robot)?;
        let active = &self.model.topology().active;
        Ok(Instant {
            t: state.t,
            pose: d.pos.X_WE,
            q: active.iter().map(|c| joint_value(self.model, &d.pos, *c)).collect(),
            qd: active.iter().map(|c| d.motion.rates[*c]).collect(),
            qdd: active.iter().map(|c| d.motion.accels[*c]).collect(),
            efforts: self.efforts.clone(),
            energies: energies(self.model, &d.pos, &d.motion),
            work: state.y[WORKS],
            losses: state.y[WORKS + 1],
            work_of_load: state.y[WORKS + 2],
            t_r,
            td_r,
        })
    }

    /// The pose of a state, coordinates that follow being taken from the closures.
    fn closed(&mut self, state: &State) -> Result<Pose<f64>, SolveError> {
        let pose = state.pose();
        if self.model.topology().platform.dependent.is_empty() {
            return Ok(pose);
        }
        inverse_in(self.model, &pose, self.mode, &mut self.dynamics.pos)?;
        Ok(self.dynamics.pos.X_WE)
    }

    /// Gap of the loops at the posture in memory.
    fn gap(&mut self) -> [f64; 2] {
        let pos = &mut self.dynamics.pos;
        pose_bodies(self.model, pos);
        let (metres, radians) = gap(self.model, pos);
        [metres, radians]
    }
}

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
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Summary, SetupError> {
    check(model, from.1, law, options)?;
    let plant = Plant::new(model, mode, law, options);
    Run::begin(plant, law, State::new(0.0, from.0, from.1), observer)?.go()
}

fn check(model: &Model<f64>, t_r: &[f64], law: &Law, options: &Options) -> Result<(), SetupError> {
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
    state: State,
    /// Derivative at the state.
    k1: Vector,
    scales: Vector,
    /// The next step to try.
    h: f64,
    samples: usize,
    records: usize,
    /// Energy at the start.
    energy: f64,
    summary: Summary,
}

/// Steps below this share of the whole time are too small.
const LEAST: f64 = 1e-11;

impl<'a, 'r> Run<'a, 'r> {
    fn begin(
        mut plant: Plant<'a>,
        law: &'a Law,
        state: State,
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
                return Ok(self.end(Stop::TooManySteps));
            }
            let tried_in_all = self.summary.steps + self.summary.rejected;
            if tried_in_all % 256 == 255 && !self.observer.goes_on(self.state.t) {
                return Ok(self.end(Stop::Interrupted));
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
        (self.state, self.k1) = (next, k1);
        // A step cut short by a corner says little about the next one.
        self.h = if h < 0.5 * self.h { self.h } else { longer };
        Ok(stopped.then_some(Stop::Interrupted))
    }

    fn step(&mut self, h: f64) -> Result<Step, Trouble> {
        let (plant, state, k1) = (&mut self.plant, &self.state, &self.k1);
        match plant.options.method {
            Method::Adaptive { .. } => Step::dormand_prince(state, k1, h, |s| plant.derivative(s)),
            Method::Fixed { .. } => Step::classical(state, k1, h, |s| plant.derivative(s)),
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

    /// Why steps became too small.
    fn diagnose(&mut self, trouble: Option<Trouble>) -> Stop {
        match trouble {
            Some(Trouble::Controller(e)) => Stop::Controller(e),
            // The end of a leg's reach: Type 1, or LPJTS where its passive joints alone are stretched.
            Some(Trouble::Robot(SolveError::OutOfReach { leg, .. } | SolveError::AtLimit { leg })) => {
                let kind = self.watch.near(&self.state.pose()).map_or(Kind::Type1, |(kind, _)| kind);
                Stop::Singular { kind, leg: Some(leg) }
            }
            Some(Trouble::Robot(SolveError::Singular { kind, leg })) => {
                let kind = self.watch.near(&self.state.pose()).map_or(kind, |(kind, _)| kind);
                Stop::Singular { kind, leg }
            }
            Some(Trouble::Robot(e)) if e.kind() == Kind::Type2.word() => {
                Stop::Singular { kind: Kind::Type2, leg: None }
            }
            Some(Trouble::Robot(e @ SolveError::OutOfRange { .. })) => Stop::Refused(e),
            other => match (self.watch.near(&self.state.pose()), other) {
                (Some((kind, leg)), _) => Stop::Singular { kind, leg },
                (None, Some(Trouble::Robot(e))) => Stop::Refused(e),
                _ => Stop::StepTooSmall,
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
    fn tell_inside(&mut self, step: &Step, next: &State) -> bool {
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
