//! The robot under its drives: derivative of the state, what a controller sees, what is told of an instant.

use super::Law;
use super::control::{Governor, Sensed};
use super::integrate::{ChartState, RATES, Vector, WORKS, chart_rate};
use super::outcome::{Instant, MovingPoint, Noise, SimulationOptions};
use crate::dynamics::Dynamics;
use crate::dynamics::newton_euler::energies;
use crate::kinematics::closure::gap;
use crate::kinematics::motion::{Motion, move_bodies, move_from};
use crate::kinematics::{Positions, SolveError, WorkingMode, inverse_in, joint_value, pose_bodies};
use crate::model::{BodyPoint, Model, Node};
use crate::spatial::orientation::from_axis_angle;
use crate::spatial::{Accel, Pose, Twist, Vec3, vec3};
use crate::trajectory::drive_limits;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// A point of a body that moves as `motion` says.
fn point_motion(point: &BodyPoint, pos: &Positions<f64>, motion: &Motion<f64>) -> MovingPoint {
    let X = pos.node(point.node);
    let r = X.R.apply(point.at.unwrap_or_else(Vec3::zeros));
    let (V, A) = match point.node {
        Node::World => (Twist::zero(), Accel::zero()),
        Node::Platform => (motion.V_WE, motion.A_WE),
        Node::Body(b) => (motion.V_WB[b], motion.A_WB[b]),
    };
    MovingPoint::new((Pose { R: X.R, p: X.p + r }, V.at(r), A.at(r, V.w)))
}

/// Why an evaluation has no answer.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    Robot(SolveError),
    Controller(SolveError),
}

/// The robot and what drives it.
pub(super) struct Plant<'a> {
    pub(super) model: &'a Model<f64>,
    pub(super) mode: &'a WorkingMode,
    pub(super) options: &'a SimulationOptions,
    pub(super) dynamics: Dynamics,
    pub(super) governor: Governor<'a>,
    pub(super) n: usize,
    /// Largest efforts.
    pub(super) limits: Vec<f64>,
    pub(super) seen: Sensed,
    pub(super) efforts: Vec<f64>,
    /// Efforts held between samples.
    pub(super) held: Option<Vec<f64>>,
    /// Drives at their limit at the last evaluation.
    pub(super) at_limit: Vec<bool>,
    pub(super) td_r: [f64; 6],
}

impl<'a> Plant<'a> {
    pub(super) fn new(
        model: &'a Model<f64>,
        mode: &'a WorkingMode,
        law: &'a Law,
        options: &'a SimulationOptions,
    ) -> Self {
        let n_a = model.topology().active.len();
        let limit = |l: &crate::trajectory::DriveLimits| if options.saturate { l.effort } else { None };
        let mut dynamics = Dynamics::new(model).going_on();
        dynamics.efforts.load = options.load;
        Self {
            model,
            mode,
            options,
            dynamics,
            governor: Governor::new(law, model, mode),
            n: model.topology().platform.independent.len(),
            limits: drive_limits(model).iter().map(|l| limit(l).unwrap_or(f64::INFINITY)).collect(),
            seen: Sensed { pose: Pose::identity(), t_r: [0.0; 6], q: vec![0.0; n_a], qd: vec![0.0; n_a] },
            efforts: vec![0.0; n_a],
            held: options.period.map(|_| vec![0.0; n_a]),
            at_limit: vec![false; n_a],
            td_r: [0.0; 6],
        }
    }

    /// Derivative of the state in its chart. Leaves posture, motion and efforts of the state behind.
    pub(super) fn derivative(&mut self, state: &ChartState) -> Result<Vector, Trouble> {
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

    pub(super) fn rates(&self, state: &ChartState) -> Vector {
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
    pub(super) fn measure(&mut self, t_r: &[f64; 6]) -> Result<(), SolveError> {
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

    pub(super) fn saturate(&mut self) {
        for ((effort, limit), at) in self.efforts.iter_mut().zip(&self.limits).zip(&mut self.at_limit) {
            *at = effort.abs() >= *limit;
            *effort = effort.clamp(-limit, *limit);
        }
    }

    /// A sample of the controller, with noise; its efforts are held from now on.
    pub(super) fn sample(&mut self, state: &ChartState, random: &mut Pcg64Mcg) -> Result<(), Trouble> {
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

    pub(super) fn disturb(&mut self, noise: Noise, random: &mut Pcg64Mcg) {
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
    pub(super) fn observe(&mut self, state: &ChartState) -> Result<Instant, Trouble> {
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
            points: self.options.points.iter().map(|p| point_motion(p, &d.pos, &d.motion)).collect(),
            t_r,
            td_r,
        })
    }

    /// Energies at the state whose derivative was taken last: of the bodies, of the rotors, of gravity.
    pub(super) fn energies(&mut self, state: &ChartState) -> Result<[f64; 3], Trouble> {
        let (t_r, td_r) = (state.t_r(), self.td_r);
        let d = &mut self.dynamics;
        move_bodies(self.model, &t_r[..self.n], &td_r[..self.n], &mut d.pos, &mut d.motion).map_err(Trouble::Robot)?;
        Ok(energies(self.model, &d.pos, &d.motion))
    }

    /// The pose of a state, coordinates that follow being taken from the closures.
    pub(super) fn closed(&mut self, state: &ChartState) -> Result<Pose<f64>, SolveError> {
        let pose = state.pose();
        if self.model.topology().platform.dependent.is_empty() {
            return Ok(pose);
        }
        inverse_in(self.model, &pose, self.mode, &mut self.dynamics.pos)?;
        Ok(self.dynamics.pos.X_WE)
    }

    /// Gap of the loops at the posture in memory.
    pub(super) fn gap(&mut self) -> [f64; 2] {
        let pos = &mut self.dynamics.pos;
        pose_bodies(self.model, pos);
        let (metres, radians) = gap(self.model, pos);
        [metres, radians]
    }
}
