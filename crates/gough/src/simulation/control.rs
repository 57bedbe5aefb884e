//! What the drives give: efforts over time, or a controller along a trajectory.

use crate::dynamics::Dynamics;
use crate::dynamics::drives::Freedoms;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::motion::move_from;
use crate::kinematics::{Kind, SolveError, WorkingMode, inverse_in, joint_value};
use crate::linalg::dense::{Matrix, svd};
use crate::model::Model;
use crate::spatial::orientation::wrap;
use crate::spatial::{Pose, Wrench};
use crate::trajectory::{Desired, OwnMotion, Trajectory, pose_error};

/// Efforts over time, linear between samples and constant before the first and after the last.
#[derive(Clone, PartialEq, Debug)]
pub struct EffortTable {
    times: Vec<f64>,
    /// Sample after sample, one effort per drive.
    rows: Vec<f64>,
    drives: usize,
}

impl EffortTable {
    /// From rising times and one row per time; `None` when times do not rise or rows differ in length.
    pub fn new(times: Vec<f64>, rows: &[Vec<f64>]) -> Option<Self> {
        let drives = rows.first()?.len();
        let rise = times.windows(2).all(|w| w[0] < w[1]) && times.iter().all(|t| t.is_finite());
        let even = rows.len() == times.len() && rows.iter().all(|r| r.len() == drives);
        (rise && even).then(|| Self { times, rows: rows.concat(), drives })
    }

    /// Efforts that stay as they are at all times.
    pub fn constant(efforts: Vec<f64>) -> Self {
        Self { times: vec![0.0], drives: efforts.len(), rows: efforts }
    }

    /// How many drives.
    #[doc(hidden)]
    pub fn drives(&self) -> usize {
        self.drives
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.drives..(i + 1) * self.drives]
    }

    /// Efforts at a time.
    #[doc(hidden)]
    pub fn at(&self, t: f64, out: &mut [f64]) {
        let next = self.times.partition_point(|s| *s <= t);
        if next == 0 || next == self.times.len() {
            return out.copy_from_slice(self.row(next.saturating_sub(1)));
        }
        let share = (t - self.times[next - 1]) / (self.times[next] - self.times[next - 1]);
        for ((out, a), b) in out.iter_mut().zip(self.row(next - 1)).zip(self.row(next)) {
            *out = a + share * (b - a);
        }
    }

    /// The first sample after a time: a step should not go beyond it.
    pub(super) fn next(&self, t: f64) -> f64 {
        self.times.get(self.times.partition_point(|s| *s <= t)).copied().unwrap_or(f64::INFINITY)
    }
}

/// Gains of position and rate, one per drive or per component of the platform; a list of one holds for all.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Gains {
    pub kp: Vec<f64>,
    pub kd: Vec<f64>,
}

impl Gains {
    /// One stiffness and one damping for all drives or components.
    pub fn all(kp: f64, kd: f64) -> Self {
        Self { kp: vec![kp], kd: vec![kd] }
    }

    /// Whether there is one for all, or one for each of `n`.
    #[doc(hidden)]
    pub fn fit(&self, n: usize) -> bool {
        [&self.kp, &self.kd].iter().all(|list| list.len() == 1 || list.len() == n)
    }

    /// `K_p e + K_d ė` of component `k`.
    pub(super) fn of(&self, k: usize, e: f64, ed: f64) -> f64 {
        let gain = |list: &[f64]| list[k.min(list.len() - 1)];
        gain(&self.kp) * e + gain(&self.kd) * ed
    }
}

/// How errors become efforts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// `τ = K_p (q_d - q) + K_d (q̇_d - q̇)`, and what holds the robot against gravity, if asked. Without damping and with a
    /// trajectory that rests these are springs.
    JointPd {
        /// With gravity.
        gravity: bool,
    },
    /// `J⁻ᵀ τ = K_p e + K_d ė` and what holds the robot against gravity.
    PlatformPd,
    /// Inverse dynamics of `ẍ_d + K_d ė + K_p e`.
    ComputedTorque,
}

/// A controller.
#[derive(Clone, Debug)]
pub struct Controller {
    /// How.
    pub feedback: Feedback,
    /// Gains.
    pub gains: Gains,
    /// Where the platform is to be.
    pub trajectory: Trajectory,
    /// The robot as the controller believes it to be; `None`: as it is.
    pub believed: Option<Model<f64>>,
    /// Friction that computed torque makes up for.
    pub friction: Option<Sign>,
    /// Efforts over time that go with the trajectory: computed torque adds to them what the error asks for, and near a Type 2
    /// singularity only along motions that the drives hold, so that it works through it.
    pub planned: Option<EffortTable>,
}

/// What drives the robot.
#[derive(Clone, Debug)]
pub enum Law {
    /// Nothing.
    Free,
    /// Efforts over time.
    Efforts(EffortTable),
    /// A controller.
    Controller(Box<Controller>),
}

/// Motions whose singular value is below this share of the largest are held less and less.
const WEAK: f64 = 0.05;

/// What a controller is told.
#[derive(Clone, Debug)]
pub(super) struct Sensed {
    pub pose: Pose<f64>,
    pub t_r: [f64; 6],
    pub q: Vec<f64>,
    pub qd: Vec<f64>,
}

/// A law at work, with its memory.
pub(super) struct Governor<'a> {
    law: &'a Law,
    model: Model<f64>,
    mode: &'a WorkingMode,
    own: OwnMotion,
    /// At the measured state.
    here: Dynamics,
    /// At the desired one.
    there: Dynamics,
}

impl<'a> Governor<'a> {
    /// Joint ranges bind the robot, not what its controller computes.
    pub fn new(law: &'a Law, model: &Model<f64>, mode: &'a WorkingMode) -> Self {
        let believed = match law {
            Law::Controller(c) => c.believed.as_ref().unwrap_or(model),
            _ => model,
        };
        let model = believed.without_ranges();
        let (here, there) = (Dynamics::new(&model).going_on(), Dynamics::new(&model).going_on());
        Self { law, own: OwnMotion::new(&model), model, mode, here, there }
    }

    /// Whether the law looks at the joints.
    pub fn looks_at_joints(&self) -> bool {
        matches!(self.law, Law::Controller(c) if matches!(c.feedback, Feedback::JointPd { .. }))
    }

    /// Efforts of the drives.
    pub fn efforts(&mut self, t: f64, seen: &Sensed, out: &mut [f64]) -> Result<(), SolveError> {
        match self.law {
            Law::Free => {
                out.fill(0.0);
                Ok(())
            }
            Law::Efforts(table) => {
                table.at(t, out);
                Ok(())
            }
            Law::Controller(controller) => self.control(controller, t, seen, out),
        }
    }

    fn control(&mut self, law: &Controller, t: f64, seen: &Sensed, out: &mut [f64]) -> Result<(), SolveError> {
        let n = self.model.topology().platform.independent.len();
        let mut desired = law.trajectory.at(t);
        let (mut t_d, mut td_d) = ([0.0; 6], [0.0; 6]);
        self.own_motion(&mut desired, (&mut t_d[..n], &mut td_d[..n]))?;
        let found = match law.feedback {
            Feedback::JointPd { gravity } => {
                self.joints_to(&desired, &t_d[..n], law, seen, out)?;
                if !gravity {
                    return Ok(());
                }
                let held = self.hold(seen, Wrench::zero())?;
                out.iter_mut().zip(held).for_each(|(x, g)| *x += g);
                return Ok(());
            }
            Feedback::PlatformPd => {
                let push = self.platform_error(&desired, &t_d, law, seen);
                self.hold(seen, Wrench::from_array(push))?
            }
            Feedback::ComputedTorque => {
                let push = self.platform_error(&desired, &t_d, law, seen);
                for (k, c) in self.model.topology().platform.independent.iter().enumerate() {
                    td_d[k] += push[c.index()];
                }
                self.here.efforts.load = Wrench::zero();
                if let Some(planned) = &law.planned {
                    planned.at(t, out);
                    return self.beside_plan(seen, &td_d[..n], law.friction, out);
                }
                self.here.inverse(&self.model, &seen.pose, self.mode, &seen.t_r[..n], &td_d[..n], law.friction)?
            }
        };
        out.copy_from_slice(found);
        Ok(())
    }

    /// Twist and acceleration that the trajectory asks for, in the platform's independent components, and where the robot is then.
    fn own_motion(&mut self, desired: &mut Desired, own: (&mut [f64], &mut [f64])) -> Result<(), SolveError> {
        if !self.own.turns_along() {
            desired.components(&self.model, own.0, own.1);
            return Ok(());
        }
        let d = &mut self.there;
        self.own.close(&self.model, self.mode, desired, (&mut d.pos, &mut d.motion), own)
    }

    /// Planned efforts `τ`, and what is missing to an acceleration: `A δ = h - A τ`, where motions that the drives hardly hold
    /// are left to the plan, the more the smaller their singular value.
    fn beside_plan(
        &mut self,
        seen: &Sensed,
        td_r: &[f64],
        friction: Option<Sign>,
        out: &mut [f64],
    ) -> Result<(), SolveError> {
        let (model, d) = (&self.model, &mut self.here);
        let n = td_r.len();
        inverse_in(model, &seen.pose, self.mode, &mut d.pos)?;
        match d.inverse_from(model, &seen.t_r[..n], td_r, friction) {
            Err(e) if e.kind() != Kind::Type2.word() => return Err(e),
            _ => {}
        }
        let freedoms = Freedoms::of(model, &d.motion);
        let scale =
            |k: usize| if model.topology().platform.independent[k].is_angle() { model.length().recip() } else { 1.0 };
        let gives: Vec<[f64; 6]> = d.efforts.J_inv.iter().map(|w| w.to_array()).collect();
        let A = Matrix::from_fn(n, out.len(), |i, j| freedoms.down(&gives[j], i) * scale(i));
        let h = d.efforts.h.to_array();
        let missing: Vec<f64> = (0..n)
            .map(|i| freedoms.down(&h, i) * scale(i) - (0..out.len()).map(|j| A[(i, j)] * out[j]).sum::<f64>())
            .collect();
        let f = svd(&A);
        let weak = WEAK * f.s[0];
        for (k, s) in f.s.iter().enumerate() {
            let damping = (weak - s).max(0.0);
            let gain = s / (s * s + damping * damping).max(f64::MIN_POSITIVE);
            let along = gain * (0..n).map(|i| f.u[(i, k)] * missing[i]).sum::<f64>();
            out.iter_mut().enumerate().for_each(|(j, x)| *x += f.v[(j, k)] * along);
        }
        if out.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(SolveError::not_finite()) }
    }

    /// PD on the active joints.
    fn joints_to(
        &mut self,
        desired: &Desired,
        t_d: &[f64],
        law: &Controller,
        seen: &Sensed,
        out: &mut [f64],
    ) -> Result<(), SolveError> {
        let rest = [0.0; 6];
        let (model, d) = (&self.model, &mut self.there);
        inverse_in(model, &desired.pose, self.mode, &mut d.pos)?;
        move_from(model, t_d, &rest[..t_d.len()], &mut d.pos, &mut d.motion)?;
        for (k, c) in model.topology().active.iter().enumerate() {
            let coord = &model.topology().coords[*c];
            let off = joint_value(model, &d.pos, *c) - seen.q[k];
            let off = if coord.slides || coord.counted { off } else { wrap(off) };
            out[k] = law.gains.of(k, off, d.motion.rates[*c] - seen.qd[k]);
        }
        Ok(())
    }

    /// `K_p e + K_d ė` on all six components of the platform; zero on those that are not its own.
    fn platform_error(&self, desired: &Desired, t_d: &[f64; 6], law: &Controller, seen: &Sensed) -> [f64; 6] {
        let e = pose_error(&desired.pose, &seen.pose).to_array();
        let mut push = [0.0; 6];
        for (k, c) in self.model.topology().platform.independent.iter().enumerate() {
            push[c.index()] = law.gains.of(k, e[c.index()], t_d[k] - seen.t_r[k]);
        }
        push
    }

    /// Efforts that hold the robot at rest against gravity and push its platform.
    fn hold(&mut self, seen: &Sensed, push: Wrench<f64>) -> Result<&[f64], SolveError> {
        let (n, rest) = (self.model.topology().platform.independent.len(), [0.0; 6]);
        self.here.efforts.load = -push;
        self.here.inverse(&self.model, &seen.pose, self.mode, &rest[..n], &rest[..n], None)
    }
}
