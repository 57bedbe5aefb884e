//! A flexible robot as something to integrate: where it is placed, what its drives give, what is out of balance.

use super::control::Feedback;
use super::flexible::{FlexibleInstant, FlexibleLaw, FlexibleOptions};
use super::gauss::SecondOrder;
use super::outcome::MovingPoint;
use crate::dynamics::{Conditions, Dynamics, active_model};
use crate::elastodynamics::ElasticError;
use crate::elastodynamics::motion::{
    FlexibleRobot, FlexibleState, MaterialPoint, MotionCoordinate, ReducedEquations, ScaledCholesky,
};
use crate::elastodynamics::plan::Sliding;
use crate::kinematics::motion::move_from;
use crate::kinematics::{Posture, WorkingMode, forward, inverse, inverse_in, joint_value};
use crate::linalg::dense::{Matrix, generalized_eigen};
use crate::linalg::small::Dense;
use crate::model::{BodyPoint, Model, Node};
use crate::spatial::{Twist, Vec3, Wrench};
use crate::trajectory::Trajectory;

/// Coordinates that end up farther from where the loops lead them, in radians or lengths of the robot, close the loops another way.
const ANOTHER_WAY: f64 = 0.3;

/// Commands that are remembered: those of a step and of its two halves.
const MOST_COMMANDS: usize = 10;

/// A motion whose stiffness over inertia is this fraction of the largest does not vibrate.
const STILL: f64 = 1e-12;

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

/// The robot with what drives it.
pub(super) struct FlexiblePlant<'a, 'm> {
    pub(super) flexible: &'a mut FlexibleRobot<'m>,
    mode: &'a WorkingMode,
    pub(super) law: &'a FlexibleLaw,
    options: &'a FlexibleOptions,
    pub(super) state: FlexibleState,
    /// Slots that are integrated, of the drives, and the places of both among the independent coordinates.
    pub(super) free: Vec<usize>,
    active: Vec<usize>,
    /// Slots that are placed: those that are integrated, then those of drives that move as they are told.
    led: Vec<usize>,
    rows: Vec<usize>,
    driven: Vec<usize>,
    limits: Vec<Option<f64>>,
    /// The rigid robot that commands are made with.
    rigid: Dynamics,
    /// Commands of the last times that were asked for, the newest last: the stages of a step come back to the same times.
    commanded: Vec<Commanded>,
    loaded: Option<Wrench<f64>>,
    /// Where the points that are recorded are carried, and where the rigid robot stood last with the motors of an instant.
    points: Vec<MaterialPoint>,
    stands: Option<Posture>,
    /// The state before the one that is placed, and how coordinates move to it, then where they were expected.
    stood: FlexibleState,
    moved: Vec<f64>,
    /// The middle of the step that is taken: what acts there acts in all of it, since no step goes over a change.
    pub(super) within: Option<f64>,
}

impl<'a, 'm> FlexiblePlant<'a, 'm> {
    pub(super) fn new(
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
        let told: &[usize] = if matches!(law, FlexibleLaw::Playback(_)) { &active } else { &[] };
        let led = [&free, told].concat();
        Ok(Self {
            mode,
            led,
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
            points: options.points.iter().map(|p| flexible.material_point(p)).collect::<Result<_, _>>()?,
            stands: inverse(flexible.model(), &state.at.X_WE, mode).ok(),
            stood: state.clone(),
            moved: Vec::new(),
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
        let inertia = if scaled {
            let posture = inverse(model, &desired.pose, self.mode)?;
            Some(active_model(model, &posture, &rest[..n], &Conditions::default())?.M)
        } else {
            None
        };
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
        take_over(&mut self.stood, &self.state);
        let placed = self.put(t, q, v);
        if placed.is_err() {
            take_over(&mut self.state, &self.stood);
        }
        placed
    }

    fn put(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(), ElasticError> {
        self.moved.clear();
        self.moved.extend(self.free.iter().zip(q).map(|(slot, q)| q - self.state.at.q[*slot]));
        let law = self.law;
        if let FlexibleLaw::Playback(trajectory) = law {
            self.command(t, trajectory, None)?;
            if let Some(c) = self.commanded.last() {
                for (slot, (q, qd)) in self.active.iter().zip(c.q.iter().zip(&c.qd)) {
                    // Angles go on from where they are, beyond whole turns.
                    let turns = ((self.state.at.q[*slot] - q) / std::f64::consts::TAU).round();
                    self.moved.push(q + turns * std::f64::consts::TAU - self.state.at.q[*slot]);
                    self.state.rates[*slot] = *qd;
                }
            }
        }
        // What follows moves with all that is told: how far the loops lead is no error of closing them.
        self.flexible.lead(&mut self.state, &self.led, &self.moved);
        for (slot, (q, v)) in self.free.iter().zip(q.iter().zip(v)) {
            (self.state.at.q[*slot], self.state.rates[*slot]) = (*q, *v);
        }
        self.load(t);
        self.moved.clone_from(&self.state.at.q);
        self.flexible.complete(&mut self.state)?;
        let coordinates = self.flexible.flexible().coordinates();
        let length = self.model().length();
        let off = |k: usize| match coordinates[k] {
            // Modes have scales of their own.
            MotionCoordinate::Mode(..) => 0.0,
            c if is_length(self.model(), c) => (self.state.at.q[k] - self.moved[k]).abs() / length,
            _ => (self.state.at.q[k] - self.moved[k]).abs(),
        };
        let most = (0..self.moved.len()).map(off).fold(0.0, f64::max);
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
        let what = |at: usize| self.flexible.massless(self.rows[at]);
        ScaledCholesky::new(&M).map_err(what)?.solve(&mut right);
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

    /// Frequency of the lowest vibration at the start, Hz; none where nothing vibrates.
    pub(super) fn lowest_frequency(&mut self) -> Result<Option<f64>, ElasticError> {
        self.flexible.complete(&mut self.state)?;
        let [M, _, K] = self.flexible.matrices(&self.state);
        let n = self.rows.len();
        let on = |A: &Dense<f64>| {
            Matrix::from_fn(n, n, |i, j| {
                let (r, c) = (self.rows[i], self.rows[j]);
                0.5 * (A.at(r, c) + A.at(c, r))
            })
        };
        let (values, _) = generalized_eigen(&on(&K), &on(&M)).ok_or(ElasticError::NotConverged)?;
        let largest = values.last().copied().unwrap_or(0.0);
        let lowest = values.iter().find(|v| **v > STILL * largest);
        Ok(lowest.map(|v| v.sqrt() / std::f64::consts::TAU))
    }

    /// Whether bodies or joints can lose energy.
    pub(super) fn has_losses(&self) -> bool {
        self.options.friction.is_some() || self.flexible.is_damped()
    }

    /// Power of drives and loads, and power lost, at a time of a motion.
    pub(super) fn powers_at(&mut self, t: f64, [q, v, a]: [&[f64]; 3]) -> Result<[f64; 2], ElasticError> {
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
        let friction = self
            .options
            .friction
            .map_or(0.0, |sign| self.flexible.flexible().friction_power(model, &self.state.rates, sign));
        [drives + load, damping + friction]
    }

    /// Everything at a time.
    pub(super) fn instant(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<FlexibleInstant, ElasticError> {
        self.within = None;
        self.place(t, q, v)?;
        let (equations, own, efforts) = self.solve(t)?;
        let points = self.points_at(&equations, &own);
        let answer = self.flexible.answered(&self.state, &equations, &own, efforts);
        Ok(FlexibleInstant {
            t,
            position: answer.position,
            pose: answer.pose,
            twist: answer.twist,
            acceleration: answer.acceleration,
            active: answer.active,
            elastic: answer.elastic,
            efforts: answer.efforts,
            kinetic_energy: answer.kinetic_energy + answer.kinetic_energy_rotors,
            potential_energy: answer.potential_energy,
            elastic_energy: answer.elastic_energy,
            work: 0.0,
            lost: 0.0,
            points,
        })
    }

    /// Motion of the points that were asked for, at the state that was solved last.
    fn points_at(&mut self, equations: &ReducedEquations, own: &[f64]) -> Vec<MovingPoint> {
        if self.points.is_empty() {
            return Vec::new();
        }
        let all = equations.all_accelerations(own);
        let q: Vec<f64> = self.active.iter().map(|slot| self.state.at.q[*slot]).collect();
        // Where the rigid robot stands with these motors, beside where it stood last.
        let rigid = self.stands.as_ref().and_then(|near| forward(self.model(), &q, near).ok());
        let one = |(asked, point): (&BodyPoint, &MaterialPoint)| {
            let mut moving = MovingPoint::new(self.flexible.point_motion(point, &self.state, &all));
            moving.deflection = rigid.as_ref().map(|posture| {
                let X = posture.positions().node(asked.node);
                let straight = X.p + X.R.apply(asked.at.unwrap_or_else(Vec3::zeros));
                std::array::from_fn(|k| moving.position[k] - straight[k])
            });
            moving
        };
        let found = self.options.points.iter().zip(&self.points).map(one).collect();
        self.stands = rigid.or_else(|| self.stands.take());
        found
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

/// A state in memory that is there already.
fn take_over(to: &mut FlexibleState, from: &FlexibleState) {
    to.at.q.clone_from(&from.at.q);
    to.at.X_WE = from.at.X_WE;
    to.rates.clone_from(&from.rates);
}

/// Whether a coordinate is a length.
fn is_length(model: &Model<f64>, coordinate: MotionCoordinate) -> bool {
    match coordinate {
        MotionCoordinate::Joint(c) | MotionCoordinate::Deflection(c) => model.topology().coords[c].slides,
        MotionCoordinate::Beam(_, _, k) | MotionCoordinate::Platform(k) => k < 3,
        MotionCoordinate::Mode(..) => false,
    }
}
