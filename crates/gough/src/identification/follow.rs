//! Postures and motions of a robot from what was measured of it, one instant after the other.

use crate::Robot;
use crate::description::Coordinate;
use crate::dynamics::regressor::{Meets, Memory, StandardSet, carried};
use crate::kinematics::platform::pose_with;
use crate::kinematics::{Posture, SolveError, WorkingMode, forward, inverse};
use crate::linalg::small::Dense;
use crate::model::{CoordId, Model};
use crate::spatial::orientation::{from_rpy, wrap};
use crate::spatial::{Pose, vec3};
use crate::trajectory::from_rpy_rates;

/// Most steps to a posture.
const STEPS: u32 = 30;
/// A step this small, in radians and lengths of the robot, is the last one.
const SMALL: f64 = 1e-9;
/// A step this large leaves the neighbourhood in which steps shrink.
const FAR: f64 = 0.2;
/// Steps from home to where a record begins are at most this long, and so many.
const NEAR: f64 = 0.5 * FAR;
const APPROACH: u32 = 100;
/// Steps that shrink less than this want the Jacobian of where they are.
const SLOW: f64 = 0.1;
/// Redundant encoders that disagree by more, in radians or lengths of the robot, are not of one posture.
const DISAGREE: f64 = 0.05;

/// An instant of a record: posture and motion, and efforts of the drives that answer a unit of each freedom there.
pub(super) struct RecordInstant {
    pub memory: Memory,
    given: Dense<f64>,
}

impl RecordInstant {
    pub fn new(model: &Model<f64>) -> Self {
        Self { memory: Memory::new(model), given: Dense::zeros(0, 0) }
    }

    /// Regressor rows under a friction with the effort behind each, a row per drive.
    pub fn equations(
        &mut self,
        model: &Model<f64>,
        set: &StandardSet,
        meets: &Meets<'_, f64>,
        tau: &[f64],
    ) -> Result<Vec<f64>, SolveError> {
        let at = self.memory.columns(model, set, meets)?;
        let (drives, columns, freedoms) = (at.drives.rows, at.matrix.cols, at.matrix.rows);
        // What of the efforts moves the robot: all of them, unless drives are redundant.
        let h: Vec<f64> = (0..freedoms).map(|k| (0..drives).map(|i| at.drives.at(i, k) * tau[i]).sum()).collect();
        let mut rows = vec![0.0; drives * (columns + 1)];
        for (i, row) in rows.chunks_exact_mut(columns + 1).enumerate() {
            for (k, h) in h.iter().enumerate() {
                let x = self.given.at(i, k);
                let of_freedom = &at.matrix.data[k * columns..(k + 1) * columns];
                row.iter_mut().zip(of_freedom.iter().chain([h])).for_each(|(r, y)| *r += x * y);
            }
        }
        Ok(rows)
    }
}

/// One instant after the other.
pub(super) struct Follower<'a> {
    robot: &'a Robot,
    mode: &'a WorkingMode,
    memory: Memory,
    /// The posture that the next one is near.
    pub last: Option<Posture>,
    /// What answers the freedoms there, or not far from there.
    given: Option<Dense<f64>>,
}

impl<'a> Follower<'a> {
    pub fn new(robot: &'a Robot, mode: &'a WorkingMode) -> Self {
        Self { robot, mode, memory: Memory::new(robot.model()), last: None, given: None }
    }

    /// The instant in which active joints, or coordinates of the platform, have these values and derivatives.
    pub fn take(&mut self, instant: &mut RecordInstant, jets: &[[f64; 3]], joints: bool) -> Result<(), SolveError> {
        let model = self.robot.model();
        let posture = if joints { self.follow(jets)? } else { self.posed(jets)? };
        instant.memory.pos.clone_from(posture.positions());
        instant.given = instant.memory.settle(model)?;
        let (t_r, td_r) = if joints {
            let part = |k: usize| jets.iter().map(|j| j[k]).collect::<Vec<f64>>();
            instant.memory.platform_motion(model, &instant.given, &part(1), &part(2))?
        } else {
            motion_of_platform(model, jets)
        };
        self.given = Some(instant.given.clone());
        instant.memory.move_on(model, &t_r, &td_r)
    }

    /// The posture of the drives, near the last one.
    pub fn follow(&mut self, jets: &[[f64; 3]]) -> Result<&Posture, SolveError> {
        let model = self.robot.model();
        let q: Vec<f64> = jets.iter().map(|j| j[0]).collect();
        let redundant = q.len() > model.topology().platform.independent.len();
        let near = match self.last.take() {
            Some(posture) => posture,
            None if redundant => self.approached(&q)?,
            None => inverse(model, self.robot.home().pose(), self.mode)?,
        };
        let found = match self.nearest(&q, &near, redundant) {
            Err(_) if !redundant => forward(model, &q, &near)?,
            found => found?,
        };
        Ok(self.last.insert(found))
    }

    fn posed(&mut self, jets: &[[f64; 3]]) -> Result<&Posture, SolveError> {
        let model = self.robot.model();
        let independent = &model.topology().platform.independent;
        let given: Vec<(Coordinate, f64)> = independent.iter().map(|c| (*c, jets[c.index()][0])).collect();
        let pose = pose_with(model, self.robot.home().pose(), &given);
        Ok(self.last.insert(inverse(model, &pose, self.mode)?))
    }

    /// A posture near what redundant encoders say, wherever they are: from home in steps of a limited length.
    fn approached(&mut self, q: &[f64]) -> Result<Posture, SolveError> {
        let model = self.robot.model();
        let mut posture = inverse(model, self.robot.home().pose(), self.mode)?;
        for _ in 0..APPROACH {
            self.memory.pos.clone_from(posture.positions());
            let given = self.memory.settle(model)?;
            let step = carried(&given, &off(model, q, &posture), model.topology().platform.independent.len());
            let far = size(model, &step);
            if far < NEAR {
                break;
            }
            let part: Vec<f64> = step.iter().map(|x| x * (NEAR / far)).collect();
            posture = inverse(model, &moved(model, posture.pose(), &part), posture.mode())?;
        }
        Ok(posture)
    }

    /// The posture whose drives are nearest to what encoders say, which redundant ones never fit exactly: Gauss and Newton on
    /// the pose, `t_r = J (JᵀJ)⁻¹ Δq`, with the Jacobian of an earlier step while steps shrink fast.
    fn nearest(&mut self, q: &[f64], near: &Posture, redundant: bool) -> Result<Posture, SolveError> {
        let model = self.robot.model();
        let independent = &model.topology().platform.independent;
        let failed = |residual| Err(SolveError::NotConverged { iterations: STEPS, residual });
        let mut posture = near.clone();
        let mut given = self.given.take();
        let mut last = FAR;
        for _ in 0..STEPS {
            let off = off(model, q, &posture);
            let now = if let Some(now) = given.take().filter(|_| !redundant) {
                now
            } else {
                self.memory.pos.clone_from(posture.positions());
                self.memory.settle(model)?
            };
            let step = carried(&now, &off, independent.len());
            let far = size(model, &step);
            if far < SMALL {
                self.given = Some(now);
                let residual = off.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                return if residual < DISAGREE * model.size().max(1.0) { Ok(posture) } else { failed(residual) };
            }
            if !(far <= 0.5 * last) {
                break;
            }
            given = (far < SLOW * last).then_some(now);
            last = far;
            posture = inverse(model, &moved(model, posture.pose(), &step), near.mode())?;
        }
        failed(last)
    }
}

/// How far the drives of a posture are from where they should be.
fn off(model: &Model<f64>, q: &[f64], posture: &Posture) -> Vec<f64> {
    let t = model.topology();
    let own = posture.joints(model, &t.active);
    let one = |(k, c): (usize, &CoordId)| {
        let d = q[k] - own[k];
        if t.coords[*c].slides || t.coords[*c].counted { d } else { wrap(d) }
    };
    t.active.iter().enumerate().map(one).collect()
}

/// How far a step goes, in radians and lengths of the robot.
fn size(model: &Model<f64>, step: &[f64]) -> f64 {
    let length = |(c, x): (&Coordinate, &f64)| x.abs() / if c.is_angle() { 1.0 } else { model.size() };
    model.topology().platform.independent.iter().zip(step).map(length).fold(0.0, f64::max)
}

/// A pose after a small step in the platform's independent components.
fn moved(model: &Model<f64>, X: &Pose<f64>, step: &[f64]) -> Pose<f64> {
    let mut all = [0.0; 6];
    model.topology().platform.independent.iter().zip(step).for_each(|(c, x)| all[c.index()] = *x);
    Pose { R: from_rpy(all[3], all[4], all[5]) * X.R, p: X.p + vec3(all[0], all[1], all[2]) }
}

/// Twist and acceleration in the platform's independent components.
fn motion_of_platform(model: &Model<f64>, jets: &[[f64; 3]]) -> (Vec<f64>, Vec<f64>) {
    let (w, alpha) = from_rpy_rates([jets[3], jets[4], jets[5]]);
    let component = |c: &Coordinate, k: usize| match c.index() {
        i @ 0..3 => jets[i][k],
        i if k == 1 => w[i - 3],
        i => alpha[i - 3],
    };
    let all = |k: usize| model.topology().platform.independent.iter().map(|c| component(c, k)).collect();
    (all(1), all(2))
}
