//! From a record to equations: filtered positions, their derivatives, regressors, means over blocks.

use super::filter::{derivatives, low_pass};
use super::follow::{Follower, RecordInstant};
use super::nodes::Nodes;
use super::record::{Measured, Record, RecordError};
use super::spectrum::{HIGHEST, cutoff, period};
use crate::Robot;
use crate::dynamics::Sign;
use crate::dynamics::regressor::{ParameterKind, Rubbing, StandardSet, by_sign};
use crate::kinematics::{Posture, SolveError, WorkingMode};
use rayon::prelude::*;

/// How records are worked up.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Processing {
    /// Positions lose what is faster than this, in Hz; blocks of equations are half a period of it long. Where none is given,
    /// the spectra of the positions tell it: the least error of accelerations, at most 20 Hz.
    pub cutoff: Option<f64>,
    /// How the direction of Coulomb friction is told.
    pub sign: Sign,
}

impl Processing {
    /// With the cutoff that records ask for, unless one is given.
    pub(super) fn fitted(mut self, robot: &Robot, records: &[Record]) -> Result<Self, RecordError> {
        let (mut most, mut longest) = (0.0_f64, 0.0_f64);
        for record in records {
            let dt = record.checked(robot.model(), self.cutoff.unwrap_or(HIGHEST))?;
            longest = longest.max(dt);
            if self.cutoff.is_none() {
                most = most.max(cutoff(record.measured.channels(), dt));
            }
        }
        match self.cutoff {
            Some(cutoff) if cutoff * longest > SAMPLED => {
                return Err(RecordError::Cutoff { cutoff, most: SAMPLED / longest });
            }
            Some(_) => {}
            None => self.cutoff = Some(if most > 0.0 { most } else { HIGHEST }.min(SAMPLED / longest)),
        }
        Ok(self)
    }
}

/// Most of a filter's cutoff, as a share of the rate of samples.
const SAMPLED: f64 = 0.2;

/// Radians, or lengths of the robot, that joints go from posture to posture at most while these are followed.
const CLOSE: f64 = 0.03;

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
    /// Blocks after which the motion repeats.
    pub period: Option<f64>,
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

/// Equations of a record for the parameters of `set`, those of one block in so many.
pub(super) fn rows(
    robot: &Robot,
    mode: &WorkingMode,
    set: &StandardSet,
    record: &Record,
    how: &Processing,
    every: usize,
) -> Result<Rows, RecordError> {
    let wanted = how.cutoff.unwrap_or(HIGHEST);
    let dt = record.checked(robot.model(), wanted)?;
    let cutoff = wanted.min(0.4 / dt);
    // Not negative, and small.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let count = |x: f64| x.round().max(1.0) as usize;
    let samples = count(0.5 / (cutoff * dt));
    let edge = count(3.0 / (cutoff * dt)).max(2);
    let last = record.times.len().saturating_sub(samples + edge);
    let starts: Vec<usize> = (edge..=last).step_by(samples * every).collect();
    let (joints, lists) = match &record.measured {
        Measured::Joints(list) => (true, list),
        Measured::Platform(list) => (false, list),
    };
    let channels = lists.par_iter().map(|c| Channel::of(c, cutoff, dt)).collect();
    let (nodes, rubbing) = (Nodes::new(samples), set.rubbing());
    let blocks = Blocks { robot, set, record, sign: how.sign, channels, joints, samples, nodes, rubbing };
    let first = blocks.led(Follower::new(robot, mode), &starts)?;
    let worker = || {
        let instants =
            blocks.nodes.at.iter().map(|_| RecordInstant::new(robot.model())).collect::<Vec<RecordInstant>>();
        (Follower::new(robot, mode), instants)
    };
    let one = |(follower, instants): &mut (Follower<'_>, Vec<RecordInstant>),
               (start, first): (&usize, Option<Posture>)| {
        follower.last = first;
        blocks.equations(follower, instants, *start)
    };
    let all: Vec<Result<_, RecordError>> = starts.par_iter().zip(first).map_init(worker, one).collect();
    let (drives, columns) = (record.efforts.len(), set.parameters.len());
    let period = if every == 1 { period(lists, dt) } else { None };
    let period = period.map(|t| t / (samples as f64 * dt));
    let mut out = Rows { columns, drives, means: Vec::new(), middles: Vec::new(), times: Vec::new(), period };
    for found in all {
        let (mean, middle, t) = found?;
        out.means.extend(mean);
        out.middles.extend(middle);
        out.times.push(t);
    }
    Ok(out)
}

/// What all blocks of a record have in common.
struct Blocks<'a> {
    robot: &'a Robot,
    set: &'a StandardSet,
    record: &'a Record,
    sign: Sign,
    channels: Vec<Channel>,
    joints: bool,
    /// Samples of a block, and those of them that stand for it.
    samples: usize,
    nodes: Nodes,
    rubbing: Vec<Rubbing>,
}

type BlockRows = (Vec<f64>, Vec<f64>, f64);

impl Blocks<'_> {
    fn jets(&self, i: usize) -> Vec<[f64; 3]> {
        self.channels.iter().map(|c| c.at(i)).collect()
    }

    fn failed(&self, i: usize) -> impl Fn(SolveError) -> RecordError {
        let t = self.record.times[i];
        move |why| RecordError::Posture { t, why }
    }

    /// Postures at the first nodes of the blocks, followed from one to the next; then every block goes its own way.
    fn led(&self, mut leader: Follower<'_>, starts: &[usize]) -> Result<Vec<Option<Posture>>, RecordError> {
        if !self.joints {
            return Ok(vec![None; starts.len()]);
        }
        let mut from = starts.first().map_or(0, |s| s + self.nodes.at[0]);
        let mut follow = |start: &usize| {
            let to = start + self.nodes.at[0];
            let steps = self.steps(from, to);
            for i in (1..=steps).map(|k| from + (to - from) * k / steps) {
                leader.follow(&self.jets(i)).map_err(self.failed(i))?;
            }
            from = to;
            Ok(leader.last.clone())
        };
        starts.iter().map(&mut follow).collect()
    }

    /// Steps from sample to sample in which no joint goes so far that it could be taken for another assembly.
    fn steps(&self, from: usize, to: usize) -> usize {
        let t = self.robot.model().topology();
        let unit = |k: usize| if t.coords[t.active[k]].slides { self.robot.model().size() } else { 1.0 };
        let far = |(k, c): (usize, &Channel)| (c.at(to)[0] - c.at(from)[0]).abs() / unit(k);
        let most = self.channels.iter().enumerate().map(far).fold(0.0, f64::max);
        // Not negative, and no more than there are samples.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let steps = (most / CLOSE).ceil() as usize;
        steps.clamp(1, (to - from).max(1))
    }

    /// Equations of a block: regressors at its nodes, efforts of all samples. Coulomb friction of a joint that turns back inside
    /// the block counts with the directions at all samples, the rates there being smooth.
    fn equations(
        &self,
        follower: &mut Follower<'_>,
        instants: &mut [RecordInstant],
        start: usize,
    ) -> Result<BlockRows, RecordError> {
        let (model, nodes) = (self.robot.model(), &self.nodes);
        for (instant, k) in instants.iter_mut().zip(&nodes.at) {
            let i = start + k;
            follower.take(instant, &self.jets(i), self.joints).map_err(self.failed(i))?;
        }
        let own = by_sign(model, self.sign);
        let of =
            |r: &Rubbing| nodes.spread(&instants.iter().map(|i| i.memory.rate(model, *r)[0]).collect::<Vec<f64>>());
        let rates: Vec<Vec<f64>> = self.rubbing.iter().map(of).collect();
        let mut mean: Vec<f64> = Vec::new();
        for (n, instant) in instants.iter_mut().enumerate() {
            let meets =
                |at: Rubbing, quantity: ParameterKind, rate: f64| match self.rubbing.iter().position(|r| *r == at) {
                    Some(k) if quantity != ParameterKind::Viscous => {
                        nodes.gathered(n, rates[k].iter().map(|rate| own(at, quantity, *rate)))
                    }
                    _ => own(at, quantity, rate),
                };
            let efforts = &self.record.efforts;
            let samples = start..start + self.samples;
            let tau: Vec<f64> =
                efforts.iter().map(|list| nodes.gathered(n, list[samples.clone()].iter().copied())).collect();
            let found = instant.equations(model, self.set, &meets, &tau).map_err(self.failed(start + nodes.at[n]))?;
            mean.resize(found.len(), 0.0);
            mean.iter_mut().zip(&found).for_each(|(m, x)| *m += nodes.weights[n] * x);
        }
        let (n, i) = (nodes.middle(), start + nodes.at[nodes.middle()]);
        let tau: Vec<f64> = self.record.efforts.iter().map(|list| list[i]).collect();
        let middle = instants[n].equations(model, self.set, &own, &tau).map_err(self.failed(i))?;
        Ok((mean, middle, self.record.times[i]))
    }
}
