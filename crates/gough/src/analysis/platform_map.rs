//! Stiffness, compliance and frequencies of the platform over a region, by the Cartesian method: four nodes at a time.

use super::map::Answer;
use super::region::Region;
use crate::elastodynamics::ElasticError;
use crate::elastodynamics::cartesian::{Cartesian, Choices, FourPlatforms};
use crate::kinematics::{Posture, WorkingMode};
use crate::linalg::dense::{Matrix, symmetric_eigenvalues};
use crate::model::Model;
use crate::scalar::LANES;
use crate::spatial::Pose;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What is mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlatformValue {
    /// Natural frequency of this number, from 1, in Hz.
    Frequency(usize),
    /// Force per displacement along an axis (0 to 2), moment per rotation about one (3 to 5), the other directions being free.
    Stiffness(usize),
    /// Largest displacement by a unit force, angles and moments at the length scale, in m/N.
    Compliance,
}

/// A value of the platform, and the choices it is computed with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct PlatformOf {
    pub value: PlatformValue,
    pub choices: Choices,
}

impl PlatformValue {
    /// By name: `stiffness-x`, `stiffness-rz`, `compliance`.
    pub fn named(name: &str) -> Option<Self> {
        let axes = ["x", "y", "z", "rx", "ry", "rz"];
        let axis = name.strip_prefix("stiffness-").and_then(|a| axes.iter().position(|x| *x == a));
        axis.map(Self::Stiffness).or((name == "compliance").then_some(Self::Compliance))
    }
}

/// Nodes that one core takes at a time.
const CHUNK: usize = 1024;

/// The map, node by node.
pub(super) fn platform_values(
    model: &Model<f64>,
    home: &Posture,
    mode: &WorkingMode,
    region: &Region,
    of: PlatformOf,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Vec<Answer> {
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut found: Vec<Answer> = vec![Answer::Open; region.len()];
    let make = || Walker::new(model, home, mode, of);
    found.par_chunks_mut(CHUNK).enumerate().for_each_init(make, |walker, (i, chunk)| {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        match walker {
            Ok(walker) => walker.nodes(region, i * CHUNK, chunk),
            Err(kind) => chunk.fill(Answer::Refused(kind)),
        }
        let now = done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
        if !progress(now) {
            stopped.store(true, Ordering::Relaxed);
        }
    });
    found
}

/// One core at work.
struct Walker<'m> {
    one: Cartesian<'m>,
    four: Option<FourPlatforms>,
    mode: &'m WorkingMode,
    of: PlatformOf,
}

impl<'m> Walker<'m> {
    fn new(model: &'m Model<f64>, home: &Posture, mode: &'m WorkingMode, of: PlatformOf) -> Result<Self, &'static str> {
        let one = Cartesian::new(model, home, of.choices).map_err(|e| e.kind())?;
        let four = FourPlatforms::new(&one);
        Ok(Self { one, four, mode, of })
    }

    fn nodes(&mut self, region: &Region, first: usize, nodes: &mut [Answer]) {
        let pose = |k: usize| region.pose(&region.point(first + k));
        for (k, group) in nodes.chunks_mut(LANES).enumerate() {
            let poses: Vec<Pose<f64>> = (0..group.len()).map(|i| pose(k * LANES + i)).collect();
            let good = match (&mut self.four, <&[Pose<f64>; LANES]>::try_from(&poses[..])) {
                (Some(four), Ok(poses)) => four.take(self.one.model(), poses, self.mode),
                _ => [false; LANES],
            };
            for (i, answer) in group.iter_mut().enumerate() {
                let value = if good[i] { self.of_lane(i) } else { self.alone(&poses[i]) };
                *answer = value.map_or_else(|e| Answer::Refused(e.kind()), Answer::Value);
            }
        }
    }

    fn of_lane(&mut self, k: usize) -> Result<f64, ElasticError> {
        if let Some(four) = &self.four {
            four.pick(k, self.one.data_mut());
        }
        value(&self.one, self.of.value)
    }

    fn alone(&mut self, pose: &Pose<f64>) -> Result<f64, ElasticError> {
        self.one.take(pose, self.mode)?;
        value(&self.one, self.of.value)
    }
}

/// The value at the posture taken.
fn value(c: &Cartesian<'_>, of: PlatformValue) -> Result<f64, ElasticError> {
    match of {
        PlatformValue::Frequency(number) => {
            let modes = c.flexible(None)?;
            modes.hz.get(number - 1).copied().ok_or(ElasticError::NothingMoves)
        }
        PlatformValue::Stiffness(axis) => Ok(c.compliance()?[axis][axis].recip()),
        PlatformValue::Compliance => {
            let C = c.compliance()?;
            let unit = |k: usize| if k < 3 { 1.0 } else { c.model().length() };
            let scaled = Matrix::from_fn(6, 6, |i, j| C[i][j] * unit(i) * unit(j));
            let values = symmetric_eigenvalues(&scaled).ok_or(ElasticError::NotConverged)?;
            Ok(values.into_iter().fold(0.0, f64::max))
        }
    }
}
