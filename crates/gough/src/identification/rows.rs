//! From a record to equations: filtered positions, their derivatives, regressors, means over blocks.

use super::filter::{derivatives, low_pass};
use super::record::{Measured, Record, RecordError};
use crate::Robot;
use crate::description::Coordinate;
use crate::dynamics::Sign;
use crate::dynamics::regressor::{Memory, StandardSet};
use crate::kinematics::platform::pose_with;
use crate::kinematics::{Posture, SolveError, WorkingMode, forward, inverse};
use crate::model::CoordId;
use crate::spatial::orientation::{from_rpy, wrap};
use crate::spatial::{Pose, vec3};
use crate::trajectory::from_rpy_rates;
use rayon::prelude::*;

/// How records are worked up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Processing {
    /// Positions lose what is faster than this, in Hz; blocks of equations are half a period of it long.
    pub cutoff: f64,
    /// How the direction of Coulomb friction is told.
    pub sign: Sign,
}

impl Default for Processing {
    fn default() -> Self {
        Self { cutoff: 20.0, sign: Sign::Sharp }
    }
}

/// Most regressors per second of a record; samples between them are left out, so that efforts and regressors are always of the
/// same instants.
const FASTEST: f64 = 1000.0;
/// Seconds between postures that are followed from block to block.
const FOLLOWED: f64 = 0.005;
/// Most steps to the posture of redundant drives.
const STEPS: u32 = 30;
/// Redundant encoders that disagree by more, in radians or lengths of the robot, are not of one posture.
const DISAGREE: f64 = 0.05;

/// Equations of a record, one per drive and block: the mean over the block, and one instant in its middle.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Number of parameters.
    pub columns: usize,
    /// Number of drives.
    pub drives: usize,
    /// Regressor rows of the means, then the effort: `columns + 1` numbers per drive and block.
    pub means: Vec<f64>,
    /// Regressor rows and efforts at the middle of each block.
    pub middles: Vec<f64>,
    /// Times of the middles.
    pub times: Vec<f64>,
}

impl Rows {
    pub fn blocks(&self) -> usize {
        self.times.len()
    }
}

/// A signal with its first two derivatives.
struct Channel([Vec<f64>; 3]);

impl Channel {
    fn of(signal: &[f64], cutoff: f64, dt: f64) -> Self {
        let smooth = low_pass(signal, cutoff, 1.0 / dt);
        let (v, a) = derivatives(&smooth, dt);
        Self([smooth, v, a])
    }

    fn at(&self, i: usize) -> [f64; 3] {
        [self.0[0][i], self.0[1][i], self.0[2][i]]
    }
}

/// Equations of a record for the parameters of `set`.
pub(super) fn rows(
    robot: &Robot,
    mode: &WorkingMode,
    set: &StandardSet,
    record: &Record,
    how: &Processing,
) -> Result<Rows, RecordError> {
    let model = robot.model();
    let dt = record.checked(model, how.cutoff)?;
    let cutoff = how.cutoff.min(0.4 / dt);
    let joints = matches!(record.measured, Measured::Joints(_));
    let lists = match &record.measured {
        Measured::Joints(list) | Measured::Platform(list) => list,
    };
    let channels: Vec<Channel> = lists.iter().map(|c| Channel::of(c, cutoff, dt)).collect();
    // Not negative, and small.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let count = |x: f64| x.round().max(1.0) as usize;
    let step = count(1.0 / (FASTEST * dt));
    let per_block = count(0.5 / (cutoff * dt * step as f64));
    let edge = count(2.0 / (cutoff * dt)).max(2);
    let follower = || Follower { robot, mode, set, sign: how.sign, memory: Memory::new(model), last: None };
    let (drives, columns) = (model.topology().active.len(), set.parameters.len());
    let at = |i: usize| channels.iter().map(|c| c.at(i)).collect::<Vec<[f64; 3]>>();
    let failed = |i: usize| move |why| RecordError::Posture { t: record.times[i], why };
    let last = record.times.len().saturating_sub(per_block * step + edge);
    let starts: Vec<usize> = (edge..=last).step_by(per_block * step).collect();
    // Postures are followed from block to block, one after the other; then every block goes its own way.
    let mut first: Vec<Option<Posture>> = vec![None; starts.len()];
    if joints {
        let mut leader = follower();
        for (start, first) in starts.iter().zip(&mut first) {
            for i in (*start..start + per_block * step).step_by(count(FOLLOWED / dt)) {
                leader.follow(&at(i)).map_err(failed(i))?;
                if i == *start {
                    first.clone_from(&leader.last);
                }
            }
        }
    }
    let block = |follower: &mut Follower<'_>, (start, first): (&usize, Option<Posture>)| {
        follower.last = first;
        let mut mean = vec![0.0; drives * (columns + 1)];
        let mut middle = Vec::new();
        for k in 0..per_block {
            let i = start + k * step + step / 2;
            let efforts: Vec<f64> = (0..drives).map(|d| record.efforts[d][i]).collect();
            let found = follower.equations(&at(i), joints, &efforts).map_err(failed(i))?;
            mean.iter_mut().zip(&found).for_each(|(m, x)| *m += x / per_block as f64);
            if k == per_block / 2 {
                middle = found;
            }
        }
        Ok((mean, middle, record.times[start + per_block / 2 * step + step / 2]))
    };
    let all: Vec<Result<_, RecordError>> = starts.par_iter().zip(first).map_init(follower, block).collect();
    let mut out = Rows { columns, drives, means: Vec::new(), middles: Vec::new(), times: Vec::new() };
    for found in all {
        let (mean, middle, t) = found?;
        out.means.extend(mean);
        out.middles.extend(middle);
        out.times.push(t);
    }
    Ok(out)
}

/// One sample after the other.
struct Follower<'a> {
    robot: &'a Robot,
    mode: &'a WorkingMode,
    set: &'a StandardSet,
    sign: Sign,
    memory: Memory,
    last: Option<Posture>,
}

impl Follower<'_> {
    /// Regressor rows of a sample with the effort behind each, a row per drive.
    fn equations(&mut self, jets: &[[f64; 3]], joints: bool, tau: &[f64]) -> Result<Vec<f64>, SolveError> {
        let model = self.robot.model();
        let (t_r, td_r) = if joints { self.motion_of_joints(jets)? } else { self.motion_of_platform(jets)? };
        let at = self.memory.at(model, self.set, (&t_r, &td_r), self.sign)?;
        let given = at.efforts_per_freedom()?;
        let (drives, columns, freedoms) = (at.drives.rows, at.matrix.cols, at.matrix.rows);
        // What of the efforts moves the robot: all of them, unless drives are redundant.
        let h: Vec<f64> = (0..freedoms).map(|k| (0..drives).map(|i| at.drives.at(i, k) * tau[i]).sum()).collect();
        let mut rows = vec![0.0; drives * (columns + 1)];
        for (i, row) in rows.chunks_exact_mut(columns + 1).enumerate() {
            for (k, h) in h.iter().enumerate() {
                let x = given.at(i, k);
                let of_freedom = &at.matrix.data[k * columns..(k + 1) * columns];
                row.iter_mut().zip(of_freedom.iter().chain([h])).for_each(|(r, y)| *r += x * y);
            }
        }
        Ok(rows)
    }

    /// The posture of the drives, near the last one.
    fn follow(&mut self, jets: &[[f64; 3]]) -> Result<(), SolveError> {
        let model = self.robot.model();
        let near = match self.last.take() {
            Some(posture) => posture,
            None => inverse(model, self.robot.home().pose(), self.mode)?,
        };
        let q: Vec<f64> = jets.iter().map(|j| j[0]).collect();
        let redundant = q.len() > model.topology().platform.independent.len();
        self.last = Some(if redundant { self.nearest(&q, near)? } else { forward(model, &q, &near)? });
        Ok(())
    }

    /// The posture whose drives are nearest to what redundant encoders say, which never fits exactly: Gauss and Newton on the
    /// pose, `t_r = J (JᵀJ)⁻¹ Δq`.
    fn nearest(&mut self, q: &[f64], near: Posture) -> Result<Posture, SolveError> {
        let model = self.robot.model();
        let t = model.topology();
        let mut posture = near;
        for _ in 0..STEPS {
            let own = posture.joints(model, &t.active);
            let off = |(k, c): (usize, &CoordId)| {
                let d = q[k] - own[k];
                if t.coords[*c].slides || t.coords[*c].counted { d } else { wrap(d) }
            };
            let off: Vec<f64> = t.active.iter().enumerate().map(off).collect();
            self.memory.pos = posture.positions().clone();
            let (step, _) = self.memory.platform_motion(model, &off, &vec![0.0; off.len()])?;
            let mut all = [0.0; 6];
            t.platform.independent.iter().zip(&step).for_each(|(c, x)| all[c.index()] = *x);
            let X = posture.pose();
            let R = from_rpy(all[3], all[4], all[5]) * X.R;
            posture = inverse(model, &Pose { R, p: X.p + vec3(all[0], all[1], all[2]) }, self.mode)?;
            let small = |c: &Coordinate, x: &f64| x.abs() < 1e-10 * if c.is_angle() { 1.0 } else { model.size() };
            if t.platform.independent.iter().zip(&step).all(|(c, x)| small(c, x)) {
                let residual = off.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                let agree = residual < DISAGREE * model.size().max(1.0);
                return if agree { Ok(posture) } else { Err(SolveError::NotConverged { iterations: STEPS, residual }) };
            }
        }
        Err(SolveError::NotConverged { iterations: STEPS, residual: 1.0 })
    }

    fn motion_of_joints(&mut self, jets: &[[f64; 3]]) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
        self.follow(jets)?;
        if let Some(posture) = &self.last {
            self.memory.pos = posture.positions().clone();
        }
        let part = |k: usize| jets.iter().map(|j| j[k]).collect::<Vec<f64>>();
        self.memory.platform_motion(self.robot.model(), &part(1), &part(2))
    }

    fn motion_of_platform(&mut self, jets: &[[f64; 3]]) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
        let model = self.robot.model();
        let independent = &model.topology().platform.independent;
        let given: Vec<(Coordinate, f64)> = independent.iter().map(|c| (*c, jets[c.index()][0])).collect();
        let pose = pose_with(model, self.robot.home().pose(), &given);
        let posture = inverse(model, &pose, self.mode)?;
        self.memory.pos = posture.positions().clone();
        let (w, alpha) = from_rpy_rates([jets[3], jets[4], jets[5]]);
        let component = |c: &Coordinate, k: usize| match c.index() {
            i @ 0..3 => jets[i][k],
            i if k == 1 => w[i - 3],
            i => alpha[i - 3],
        };
        let all = |k: usize| independent.iter().map(|c| component(c, k)).collect();
        Ok((all(1), all(2)))
    }
}
