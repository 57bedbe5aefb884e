//! Motion of a flexible robot over time: free, under efforts, held or moved by its drives, or under a controller that knows the rigid robot.

use super::control::{Controller, EffortTable, Feedback};
use super::gauss::{Collocation, Failed, SecondOrder, Stages};
use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::Sign;
use crate::elastodynamics::ElasticError;
use crate::elastodynamics::motion::{FlexibleRobot, FlexibleState, MotionCoordinate, ReducedEquations, ScaledCholesky};
use crate::elastodynamics::plan::Sliding;
use crate::kinematics::motion::move_from;
use crate::kinematics::{Kind, SolveError, WorkingMode, inverse_in, joint_value};
use crate::linalg::small::Dense;
use crate::model::{Model, Node};
use crate::spatial::{Pose, Twist, Wrench};
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
    pub q: Vec<f64>,
    /// Rates of the active joints.
    pub qd: Vec<f64>,
    /// Elastic coordinates.
    pub elastic: Vec<f64>,
    /// Rates of the elastic coordinates.
    pub elastic_rates: Vec<f64>,
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
}

/// What came of a simulation.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct FlexibleSummary {
    /// Time reached.
    pub t: f64,
    /// Steps taken.
    pub steps: usize,
    /// Accelerations computed.
    pub evaluations: usize,
    /// Longest and shortest step.
    pub step: [f64; 2],
    /// Why it ended before its time, in words.
    pub stopped: Option<String>,
    /// Largest change of total energy less work plus losses, over the largest energy of motion and deformation.
    pub energy_error: f64,
    /// Largest distance of the tool point from where it ends, over the last tenth of the time: vibration that is left.
    pub residual_vibration: f64,
}

/// Most steps of one simulation.
const MOST_STEPS: usize = 5_000_000;

/// Steps between two checks of their error.
const BETWEEN_CHECKS: usize = 24;

/// Coordinates that end up farther from where the loops lead them, in radians or lengths of the robot, close the loops another way.
const ANOTHER_WAY: f64 = 0.3;

/// Commands that are remembered: those of a step and of its two halves.
const MOST_COMMANDS: usize = 10;

/// What the drives give where they follow a law of the rigid robot.
struct Commanded {
    t: f64,
    q: Vec<f64>,
    qd: Vec<f64>,
    qdd: Vec<f64>,
    efforts: Vec<f64>,
    /// Inertia on the active joints, where feedback is scaled by it.
    inertia: Option<Dense<f64>>,
}

struct FlexiblePlant<'a, 'm> {
    flexible: &'a mut FlexibleRobot<'m>,
    mode: &'a WorkingMode,
    law: &'a FlexibleLaw,
    options: &'a FlexibleOptions,
    state: FlexibleState,
    /// Slots that are integrated, of the drives, and the places of both among the independent coordinates.
    free: Vec<usize>,
    active: Vec<usize>,
    rows: Vec<usize>,
    driven: Vec<usize>,
    limits: Vec<Option<f64>>,
    /// The rigid robot that commands are made with.
    rigid: Dynamics,
    /// Commands of the last times that were asked for, the newest last: the stages of a step come back to the same times.
    commanded: Vec<Commanded>,
    loaded: Option<Wrench<f64>>,
    /// The middle of the step that is taken: what acts there acts in all of it, since no step goes over a change.
    within: Option<f64>,
}

/// Inertia of the rigid robot on its active joints, `M q̈_a = τ`, where it is placed: efforts and active joints for each acceleration of
/// the platform.
fn active_inertia(model: &Model<f64>, d: &mut Dynamics, t_r: &[f64]) -> Result<Dense<f64>, ElasticError> {
    let (active, n) = (&model.topology().active, t_r.len());
    if active.len() != n {
        return Err(SolveError::Redundant.into());
    }
    let mut told = vec![0.0; n];
    let mut at = |told: &[f64]| -> Result<[Vec<f64>; 2], SolveError> {
        let efforts = d.inverse_from(model, t_r, told, None)?.to_vec();
        move_from(model, t_r, told, &mut d.pos, &mut d.motion)?;
        Ok([efforts, active.iter().map(|c| d.motion.accels[*c]).collect()])
    };
    let base = at(&told)?;
    // Transposed: rows are accelerations of the platform.
    let [mut tau, mut qdd] = [Dense::zeros(n, n), Dense::zeros(n, n)];
    for k in 0..n {
        told[k] = 1.0;
        let moved = at(&told)?;
        told[k] = 0.0;
        for j in 0..n {
            *tau.at_mut(k, j) = moved[0][j] - base[0][j];
            *qdd.at_mut(k, j) = moved[1][j] - base[1][j];
        }
    }
    let M = qdd.solve(&tau).ok_or(SolveError::Singular { leg: None, kind: Kind::Type2 })?;
    Ok(M.transposed())
}

impl<'a, 'm> FlexiblePlant<'a, 'm> {
    fn new(
        flexible: &'a mut FlexibleRobot<'m>,
        mode: &'a WorkingMode,
        law: &'a FlexibleLaw,
        options: &'a FlexibleOptions,
        state: &FlexibleState,
    ) -> Result<Self, ElasticError> {
        let moved = matches!(law, FlexibleLaw::Held | FlexibleLaw::Playback(_));
        let t = flexible.model().topology();
        let active = flexible.flexible().joints(&t.active);
        let free = flexible.free(moved);
        let place = |s: &usize| flexible.independent().iter().position(|k| k == s);
        let (rows, driven): (Vec<usize>, Vec<usize>) =
            (free.iter().filter_map(place).collect(), active.iter().filter_map(place).collect());
        let coordinates = flexible.flexible().coordinates();
        if free.iter().any(|s| matches!(coordinates[*s], MotionCoordinate::Platform(_)))
            || (moved && driven.len() < active.len())
        {
            return Err(ElasticError::NotSimulated);
        }
        let is_held = |what| match what {
            Sliding::Body(body) => {
                matches!(law, FlexibleLaw::Held) && t.bodies[body].coord.is_some_and(|c| t.active.contains(&c))
            }
            Sliding::Closure(..) => false,
        };
        if let Some(slider) = flexible.flexible().sliders().iter().find(|s| !is_held(s.what)) {
            return Err(ElasticError::slides(flexible.model(), slider));
        }
        let limit = |c: &crate::model::CoordId| {
            let row = &flexible.model().description().bodies[t.bodies[t.coords[*c].body].row.0];
            row.drive.as_ref().and_then(|d| d.effort.as_ref()).map(|f| f.value).filter(|_| options.saturate)
        };
        let limits = t.active.iter().map(limit).collect();
        Ok(Self {
            mode,
            law,
            options,
            state: state.clone(),
            free,
            active,
            rows,
            driven,
            limits,
            rigid: Dynamics::new(flexible.model()),
            commanded: Vec::new(),
            loaded: None,
            within: None,
            flexible,
        })
    }

    fn model(&self) -> &'m Model<f64> {
        self.flexible.model()
    }

    /// The motion of the active joints, and efforts, that the rigid robot has on a trajectory.
    fn command(&mut self, t: f64, trajectory: &Trajectory, feedback: Option<Feedback>) -> Result<(), ElasticError> {
        if let Some(known) = self.commanded.iter().position(|c| c.t.to_bits() == t.to_bits()) {
            self.commanded[known..].rotate_left(1);
            return Ok(());
        }
        let model = self.model();
        let desired = trajectory.at(t);
        let n = model.topology().platform.independent.len();
        let (mut t_r, mut td_r) = (vec![0.0; n], vec![0.0; n]);
        desired.components(model, &mut t_r, &mut td_r);
        let active = &model.topology().active;
        let rest = [0.0; 6];
        let scaled = matches!(feedback, Some(Feedback::ComputedTorque));
        let d = &mut self.rigid;
        inverse_in(model, &desired.pose, self.mode, &mut d.pos)?;
        let q = active.iter().map(|c| joint_value(model, &d.pos, *c)).collect();
        let held = match feedback {
            Some(Feedback::JointPd { gravity: true }) => d.inverse_from(model, &rest[..n], &rest[..n], None)?.to_vec(),
            _ => vec![0.0; active.len()],
        };
        let inertia = if scaled { Some(active_inertia(model, d, &t_r)?) } else { None };
        let found = d.inverse_from(model, &t_r, &td_r, None)?.to_vec();
        let efforts = match feedback {
            Some(Feedback::JointPd { .. }) | None => held,
            Some(_) => found,
        };
        move_from(model, &t_r, &td_r, &mut d.pos, &mut d.motion)?;
        let [qd, qdd] = [&d.motion.rates, &d.motion.accels].map(|all| active.iter().map(|c| all[*c]).collect());
        if self.commanded.len() == MOST_COMMANDS {
            self.commanded.remove(0);
        }
        self.commanded.push(Commanded { t, q, qd, qdd, efforts, inertia });
        Ok(())
    }

    /// Loads that act at a time.
    fn load(&mut self, t: f64) {
        let t = self.within.unwrap_or(t);
        let acting = self.options.loads.iter().filter(|l| l.from <= t && t < l.until);
        let sum = acting.fold(Wrench::zero(), |sum, l| sum + l.wrench);
        if self.loaded != Some(sum) {
            self.flexible.load(&[(Node::Platform, sum)]);
            self.loaded = Some(sum);
        }
    }

    /// Put positions and rates in, and close the loops; where they cannot be closed, everything stays where it was.
    fn place(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(), ElasticError> {
        let stood = self.state.clone();
        let placed = self.put(t, q, v);
        if placed.is_err() {
            self.state = stood;
        }
        placed
    }

    fn put(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(), ElasticError> {
        let moved: Vec<f64> = self.free.iter().zip(q).map(|(slot, q)| q - self.state.at.q[*slot]).collect();
        self.flexible.lead(&mut self.state, &self.free, &moved);
        for (slot, (q, v)) in self.free.iter().zip(q.iter().zip(v)) {
            (self.state.at.q[*slot], self.state.rates[*slot]) = (*q, *v);
        }
        let law = self.law;
        if let FlexibleLaw::Playback(trajectory) = law {
            self.command(t, trajectory, None)?;
            if let Some(c) = self.commanded.last() {
                for (slot, (q, qd)) in self.active.iter().zip(c.q.iter().zip(&c.qd)) {
                    // Angles go on from where they are, beyond whole turns.
                    let turns = ((self.state.at.q[*slot] - q) / std::f64::consts::TAU).round();
                    self.state.at.q[*slot] = q + turns * std::f64::consts::TAU;
                    self.state.rates[*slot] = *qd;
                }
            }
        }
        self.load(t);
        let expected = self.state.at.q.clone();
        self.flexible.complete(&mut self.state)?;
        let coordinates = self.flexible.flexible().coordinates();
        let length = self.model().length();
        let off = |k: usize| match coordinates[k] {
            // Modes have scales of their own.
            MotionCoordinate::Mode(..) => 0.0,
            c if is_length(self.model(), c) => (self.state.at.q[k] - expected[k]).abs() / length,
            _ => (self.state.at.q[k] - expected[k]).abs(),
        };
        let most = (0..expected.len()).map(off).fold(0.0, f64::max);
        // Farther from where the loops lead is another way to close them.
        if most > ANOTHER_WAY { Err(ElasticError::NotClosed { gap: most }) } else { Ok(()) }
    }

    /// Accelerations of all independent coordinates, and efforts of the drives.
    fn solve(&mut self, t: f64) -> Result<(ReducedEquations, Vec<f64>, Vec<f64>), ElasticError> {
        let equations = self.flexible.equations(&self.state, self.options.friction);
        match self.law {
            FlexibleLaw::Held | FlexibleLaw::Playback(_) => {
                let told = self.commanded.last().map_or_else(|| vec![0.0; self.active.len()], |c| c.qdd.clone());
                let (own, efforts) = self.moved_by_drives(&equations, &told)?;
                Ok((equations, own, efforts))
            }
            _ => {
                let efforts = self.efforts(t)?;
                let own = self.flexible.accelerations(&equations, &efforts)?;
                Ok((equations, own, efforts))
            }
        }
    }

    /// `M_ff q̈_f = -h_f - M_fa q̈_a`, `τ = M_aa q̈_a + M_af q̈_f + h_a`.
    fn moved_by_drives(&self, e: &ReducedEquations, told: &[f64]) -> Result<(Vec<f64>, Vec<f64>), ElasticError> {
        let n = self.rows.len();
        let mut M = Dense::zeros(n, n);
        let mut right = vec![0.0; n];
        for (i, r) in self.rows.iter().enumerate() {
            self.rows.iter().enumerate().for_each(|(j, c)| *M.at_mut(i, j) = e.M.at(*r, *c));
            right[i] = -e.h[*r] - self.driven.iter().zip(told).map(|(d, a)| e.M.at(*r, *d) * a).sum::<f64>();
        }
        let what = || ElasticError::NoInertia { what: "a passive motion".to_owned() };
        ScaledCholesky::new(&M).ok_or_else(what)?.solve(&mut right);
        let mut own = vec![0.0; e.h.len()];
        self.rows.iter().zip(&right).for_each(|(r, a)| own[*r] = *a);
        self.driven.iter().zip(told).for_each(|(r, a)| own[*r] = *a);
        let Ma = e.M.apply(&own);
        Ok((own, self.driven.iter().map(|r| Ma[*r] + e.h[*r]).collect()))
    }

    fn efforts(&mut self, t: f64) -> Result<Vec<f64>, ElasticError> {
        let mut efforts = vec![0.0; self.active.len()];
        let law = self.law;
        match law {
            FlexibleLaw::Efforts(table) => table.at(t, &mut efforts),
            FlexibleLaw::Controller(c) => {
                self.command(t, &c.trajectory, Some(c.feedback))?;
                let Some(command) = self.commanded.last() else { return Ok(efforts) };
                let corrected: Vec<f64> = self
                    .active
                    .iter()
                    .enumerate()
                    .map(|(k, slot)| {
                        let turn = !self.model().topology().coords[self.model().topology().active[k]].slides;
                        let e = command.q[k] - self.state.at.q[*slot];
                        let e = if turn { crate::spatial::orientation::wrap(e) } else { e };
                        c.gains.of(k, e, command.qd[k] - self.state.rates[*slot])
                    })
                    .collect();
                let corrected = command.inertia.as_ref().map_or(corrected.clone(), |M| M.apply(&corrected));
                efforts = command.efforts.iter().zip(&corrected).map(|(a, b)| a + b).collect();
            }
            _ => {}
        }
        for (x, limit) in efforts.iter_mut().zip(&self.limits) {
            *x = limit.map_or(*x, |l| x.clamp(-l, l));
        }
        Ok(efforts)
    }

    /// Accelerations of all independent coordinates, where those that are integrated accelerate so.
    fn own(&self, a: &[f64]) -> Vec<f64> {
        let mut own = vec![0.0; self.flexible.independent().len()];
        self.rows.iter().zip(a).for_each(|(r, a)| own[*r] = *a);
        if let (FlexibleLaw::Playback(_), Some(c)) = (self.law, self.commanded.last()) {
            self.driven.iter().zip(&c.qdd).for_each(|(r, a)| own[*r] = *a);
        }
        own
    }

    /// What feedback does to drives that are integrated: its damping and stiffness, added to those of the bodies.
    fn add_feedback(&mut self, t: f64, by: &mut [Vec<f64>; 3]) -> Result<(), ElasticError> {
        let FlexibleLaw::Controller(c) = self.law else { return Ok(()) };
        self.command(t, &c.trajectory, Some(c.feedback))?;
        let inertia = self.commanded.last().and_then(|c| c.inertia.as_ref());
        let places: Vec<_> = self.active.iter().map(|s| self.free.iter().position(|k| k == s)).collect();
        let n = self.free.len();
        for (j, column) in places.iter().enumerate() {
            let Some(column) = column else { continue };
            let [kp, kd] = [c.gains.of(j, 1.0, 0.0), c.gains.of(j, 0.0, 1.0)];
            for (i, row) in places.iter().enumerate() {
                let Some(row) = row else { continue };
                let m = inertia.map_or(f64::from(u8::from(i == j)), |M| M.at(i, j));
                by[1][row * n + column] += m * kd;
                by[2][row * n + column] += m * kp;
            }
        }
        Ok(())
    }

    /// Whether bodies or joints can lose energy.
    fn has_losses(&self) -> bool {
        self.options.friction.is_some() || self.flexible.is_damped()
    }

    /// Power of drives and loads, and power lost, at a time of a motion.
    fn powers_at(&mut self, t: f64, [q, v, a]: [&[f64]; 3]) -> Result<[f64; 2], ElasticError> {
        let gives = !matches!(self.law, FlexibleLaw::Held | FlexibleLaw::Playback(_));
        if gives && !self.has_losses() && self.options.loads.is_empty() && self.driven.len() == self.active.len() {
            // Nothing but drives, which are integrated: the loops need not be closed to know their power.
            let stands = self.state.at.q.clone();
            for (slot, (q, v)) in self.free.iter().zip(q.iter().zip(v)) {
                (self.state.at.q[*slot], self.state.rates[*slot]) = (*q, *v);
            }
            let efforts = self.efforts(t);
            self.state.at.q = stands;
            let efforts = efforts?;
            return Ok(self.powers(&efforts, &Twist::zero(), 0.0));
        }
        self.place(t, q, v)?;
        let efforts = match self.law {
            FlexibleLaw::Held | FlexibleLaw::Playback(_) => {
                let left = self.flexible.unbalanced(&self.state, &self.own(a), &[], self.options.friction);
                self.driven.iter().map(|r| left[*r]).collect()
            }
            _ => self.efforts(t)?,
        };
        let (damping, twist) = self.flexible.losses(&self.state);
        Ok(self.powers(&efforts, &twist, damping))
    }

    /// Power of drives and loads, and power lost, at the state that was placed last.
    fn powers(&self, efforts: &[f64], twist: &Twist<f64>, damping: f64) -> [f64; 2] {
        let drives: f64 = self.active.iter().zip(efforts).map(|(s, e)| self.state.rates[*s] * e).sum();
        let load = self.loaded.map_or(0.0, |F| twist.power(F));
        let model = self.model();
        let friction = self.options.friction.map_or(0.0, |sign| {
            let one = |c: crate::model::CoordId| {
                let slots = self.flexible.flexible().joints(&[c]);
                slots
                    .iter()
                    .map(|s| self.state.rates[*s] * model.numbers().joints[c].friction(self.state.rates[*s], sign))
                    .sum::<f64>()
            };
            model.topology().coords.ids().map(one).sum()
        });
        [drives + load, damping + friction]
    }

    /// Everything at a time.
    fn instant(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<FlexibleInstant, ElasticError> {
        self.within = None;
        self.place(t, q, v)?;
        let (equations, own, efforts) = self.solve(t)?;
        let answer = self.flexible.answered(&self.state, &equations, &own, efforts);
        Ok(FlexibleInstant {
            t,
            position: answer.position,
            pose: answer.pose,
            twist: answer.twist,
            acceleration: answer.acceleration,
            q: answer.active.q,
            qd: answer.active.qd,
            elastic: answer.elastic.q,
            elastic_rates: answer.elastic.qd,
            efforts: answer.efforts,
            kinetic_energy: answer.kinetic_energy + answer.kinetic_energy_rotors,
            potential_energy: answer.potential_energy,
            elastic_energy: answer.elastic_energy,
            work: 0.0,
            lost: 0.0,
        })
    }
}

impl SecondOrder for FlexiblePlant<'_, '_> {
    type Trouble = ElasticError;

    fn size(&self) -> usize {
        self.free.len()
    }

    fn acceleration(&mut self, t: f64, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), ElasticError> {
        self.place(t, q, v)?;
        let (_, own, _) = self.solve(t)?;
        self.rows.iter().zip(a).for_each(|(r, a)| *a = own[*r]);
        Ok(())
    }

    fn unbalanced(&mut self, t: f64, [q, v, a]: [&[f64]; 3], out: &mut [f64]) -> Result<(), ElasticError> {
        self.place(t, q, v)?;
        let efforts = match self.law {
            FlexibleLaw::Held | FlexibleLaw::Playback(_) => Vec::new(),
            _ => self.efforts(t)?,
        };
        let left = self.flexible.unbalanced(&self.state, &self.own(a), &efforts, self.options.friction);
        self.rows.iter().zip(out).for_each(|(r, x)| *x = left[*r]);
        Ok(())
    }

    fn matrices(&mut self, t: f64, q: &[f64], v: &[f64], by: &mut [Vec<f64>; 3]) -> Result<(), ElasticError> {
        self.place(t, q, v)?;
        for (out, A) in by.iter_mut().zip(self.flexible.matrices(&self.state)) {
            out.clear();
            out.extend(self.rows.iter().flat_map(|i| self.rows.iter().map(|j| A.at(*i, *j))));
        }
        self.add_feedback(t, by)
    }
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
    if options.duration / options.every > super::MOST_RECORDS as f64 {
        return Err(ElasticError::TooManyInstants { most: super::MOST_RECORDS });
    }
    let plant = FlexiblePlant::new(flexible, mode, law, options, start)?;
    FlexibleRun::new(plant, options).run(observer)
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
}

impl<'a, 'm> FlexibleRun<'a, 'm> {
    fn new(plant: FlexiblePlant<'a, 'm>, options: &'a FlexibleOptions) -> Self {
        let pick = |x: &[f64]| -> Vec<f64> { plant.free.iter().map(|s| x[*s]).collect() };
        let (q, v) = (pick(&plant.state.at.q), pick(&plant.state.rates));
        let scale = q.iter().map(|x| x.abs().max(1e-3)).collect();
        let h = options.step.unwrap_or(1e-4_f64.min(options.every)).min(options.duration);
        let method = Collocation::new(q.len(), options.stages);
        let summary = FlexibleSummary {
            t: 0.0,
            steps: 0,
            evaluations: 0,
            step: [0.0, f64::INFINITY],
            stopped: None,
            energy_error: 0.0,
            residual_vibration: 0.0,
        };
        Self { plant, method, options, t: 0.0, h, q, v, scale, work: 0.0, lost: 0.0, summary }
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

    /// Error of a step of this length against two of half the length.
    fn check(&mut self) -> Result<f64, Failed<ElasticError>> {
        let (mut q1, mut v1) = (self.q.clone(), self.v.clone());
        let (t, h) = (self.t, self.h);
        self.try_step(h, &mut q1, &mut v1)?;
        let (mut q2, mut v2) = (self.q.clone(), self.v.clone());
        self.method.restart();
        self.try_step(0.5 * h, &mut q2, &mut v2)?;
        self.t += 0.5 * h;
        let second = self.try_step(0.5 * h, &mut q2, &mut v2);
        self.t = t;
        self.method.restart();
        second?;
        let one = |i: usize| (q1[i] - q2[i]).abs() / self.scale[i];
        Ok((0..q1.len()).map(one).fold(0.0, f64::max))
    }

    /// A step length whose error is within the tolerance; never the one that is told. Not a longer one than now after one that failed.
    fn fit(&mut self, mut has_failed: bool) -> Result<(), ElasticError> {
        if self.options.step.is_some() {
            return Ok(());
        }
        // Beyond the next sudden change nothing can be said, and steps end where something is recorded.
        let most = (self.border() - self.t).min(self.options.every);
        self.h = self.h.min(most);
        for _ in 0..60 {
            match self.check() {
                Ok(error) => {
                    let share = (error / self.options.tolerance).max(1e-12);
                    let factor = 0.8 * share.powf(-1.0 / f64::from(self.method.order() + 1));
                    if share <= 1.0 {
                        // Steps stay the same as long as they serve: equal steps keep energy.
                        if has_failed || !(factor > 1.6) || self.h >= most {
                            return Ok(());
                        }
                        self.h = (self.h * factor.min(4.0)).min(most);
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
            self.method.restart();
        }
        Err(ElasticError::StepTooSmall { t: self.t })
    }

    fn run(mut self, observer: &mut dyn FnMut(&FlexibleInstant) -> bool) -> Result<FlexibleSummary, ElasticError> {
        let (q, v) = (self.q.clone(), self.v.clone());
        let first = self.plant.instant(0.0, &q, &v)?;
        let total = |i: &FlexibleInstant| i.kinetic_energy + i.potential_energy + i.elastic_energy;
        let (start, mut largest, mut late) = (total(&first), 0.0_f64, Vec::new());
        let mut goes_on = observer(&first);
        let (mut record, mut border, mut since, mut has_failed) = (1_usize, self.border(), usize::MAX, false);
        while goes_on && self.t < self.options.duration * (1.0 - 1e-14) && self.summary.steps < MOST_STEPS {
            if since >= BETWEEN_CHECKS {
                if let Err(why) = self.fit(has_failed) {
                    self.summary.stopped = Some(ended(&why));
                    break;
                }
                since = 0;
            }
            let due = (record as f64 * self.options.every).min(self.options.duration);
            let due = if (due - border).abs() < self.same_time() { border } else { due };
            let target = due.min(border);
            // Equal steps to the next time that is asked for.
            let steps = ((target - self.t) / self.h * (1.0 - 1e-9)).ceil().max(1.0);
            let h = (target - self.t) / steps;
            let (mut q, mut v) = (self.q.clone(), self.v.clone());
            match self.try_step(h, &mut q, &mut v) {
                Ok(()) => {}
                Err(_) if self.h > 1e-12 && self.options.step.is_none() => {
                    // Shorter every time, until it passes or there is nothing left.
                    self.h = 0.5 * self.h.min(h);
                    self.method.restart();
                    (since, has_failed) = (usize::MAX, true);
                    continue;
                }
                Err(Failed::Refused(why)) => {
                    self.summary.stopped = Some(ended(&why));
                    break;
                }
                Err(Failed::TooLong) => {
                    self.summary.stopped = Some(ElasticError::StepTooSmall { t: self.t }.to_string());
                    break;
                }
            }
            if let Err(why) = self.account(h) {
                self.summary.stopped = Some(ended(&why));
                break;
            }
            (self.q, self.v) = (q, v);
            self.t = if steps <= 1.0 { target } else { self.t + h };
            (since, has_failed) = (since.saturating_add(1), false);
            self.summary.steps += 1;
            self.summary.step = [self.summary.step[0].max(h), self.summary.step[1].min(h)];
            self.scale.iter_mut().zip(&self.q).for_each(|(s, x)| *s = s.max(x.abs()));
            if self.t >= border {
                border = self.border();
                self.method.restart();
                since = usize::MAX;
            }
            if self.t >= due {
                record += 1;
                let (q, v) = (self.q.clone(), self.v.clone());
                let mut instant = match self.plant.instant(self.t, &q, &v) {
                    Ok(instant) => instant,
                    Err(why) => {
                        self.summary.stopped = Some(ended(&why));
                        break;
                    }
                };
                (instant.work, instant.lost) = (self.work, self.lost);
                largest = largest.max(instant.kinetic_energy).max(instant.elastic_energy);
                let drift = (total(&instant) - start - self.work + self.lost).abs();
                self.summary.energy_error = self.summary.energy_error.max(drift);
                if self.t >= 0.9 * self.options.duration {
                    late.push(instant.position);
                }
                goes_on = observer(&instant);
            }
        }
        if self.summary.steps >= MOST_STEPS && self.t < self.options.duration {
            self.summary.stopped =
                Some(format!("{MOST_STEPS} steps were taken; ask for a shorter time or a larger --tolerance"));
        }
        self.summary.t = self.t;
        self.summary.evaluations = self.method.evaluations;
        self.summary.energy_error /= largest.max(f64::MIN_POSITIVE);
        self.summary.residual_vibration = swing(&late);
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
fn swing(points: &[[f64; 3]]) -> f64 {
    let range = |k: usize| {
        let all = points.iter().map(|p| p[k]);
        all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
    };
    if points.is_empty() { 0.0 } else { 0.5 * (0..3).map(|k| range(k).powi(2)).sum::<f64>().sqrt() }
}

/// Whether a coordinate is a length.
fn is_length(model: &Model<f64>, coordinate: MotionCoordinate) -> bool {
    match coordinate {
        MotionCoordinate::Joint(c) | MotionCoordinate::Deflection(c) => model.topology().coords[c].slides,
        MotionCoordinate::Beam(_, _, k) | MotionCoordinate::Platform(k) => k < 3,
        MotionCoordinate::Mode(..) => false,
    }
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
