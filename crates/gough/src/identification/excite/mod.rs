//! Periodic motions that show the parameters well: finite Fourier series of the platform's coordinates, inside limits.

mod condition;
mod descent;
mod series;
mod sight;

use super::ParameterError;
use super::base::base_parameters;
use crate::Robot;
use crate::description::Coordinate;
use crate::dynamics::Sign;
use crate::kinematics::platform::coordinates;
use crate::kinematics::{SolveError, WorkingMode};
use crate::linalg::dense::Matrix;
use crate::model::Topology;
use crate::trajectory::drive_limits;
use condition::Gram;
use descent::{Descending, descended};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use series::{Shape, jet};
use sight::{Seen, Viewer};
use std::fmt;

/// What an exciting motion must keep to.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits {
    /// Lowest and highest value of the platform's independent coordinates, in their order.
    pub region: Vec<[f64; 2]>,
    /// Largest speeds of the drives; those of the file where none.
    pub speed: Vec<Option<f64>>,
    /// Largest accelerations of the drives.
    pub acceleration: Vec<Option<f64>>,
    /// Largest efforts of the drives with the parameters of the file.
    pub effort: Vec<Option<f64>>,
    /// Smallest singular value of the scaled rows of J⁻¹, each of length one: the distance from Type 2 singularities.
    pub distance: f64,
}

/// How a motion is sought.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Search {
    /// Period, in seconds.
    pub period: f64,
    /// Harmonics of the series.
    pub harmonics: usize,
    /// Motions that are tried: a hundred at random, and the steps from the best of them.
    pub trials: usize,
    /// The same seed gives the same motion.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { period: 4.0, harmonics: 8, trials: 500, seed: 1 }
    }
}

/// Why no motion is given.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ExcitationError {
    /// The base parameters could not be told.
    Parameters(ParameterError),
    /// There is no posture in the middle of the region.
    Posture(SolveError),
    /// A limit that the robot leaves at rest in the middle of the region.
    Limit(Left),
    /// A limit that the robot leaves in every motion, however small.
    Always(Left),
    /// No motion shows all parameters.
    Hidden,
    /// Lists that do not fit the robot.
    Uneven,
}

/// A limit that is left, and by how much.
#[derive(Clone, PartialEq, Debug)]
pub struct Left {
    /// What: the speed, acceleration or effort of a drive, the region, the distance from singularities.
    pub what: String,
    /// How large it is.
    pub value: f64,
    /// How large it may be; how small, for distances.
    pub limit: f64,
}

impl fmt::Display for ExcitationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(why) => write!(f, "{why}"),
            Self::Posture(why) => write!(f, "no posture in the middle of the region: {why}; choose another region"),
            Self::Limit(l) => write!(
                f,
                "{} is {:.4} at rest in the middle of the region, beyond its limit {:.4}: no motion meets it",
                l.what, l.value, l.limit
            ),
            Self::Always(l) => write!(
                f,
                "{} is {:.4} in the smallest motions around the middle of the region, beyond its limit {:.4}: no motion meets it",
                l.what, l.value, l.limit
            ),
            Self::Hidden => f.write_str("no motion that was tried shows all parameters; give it more --harmonics"),
            Self::Uneven => f.write_str("limits are not given for every drive and coordinate"),
        }
    }
}

impl std::error::Error for ExcitationError {}

/// One instant of a motion of the platform: coordinates x, y, z, roll, pitch, yaw with two derivatives.
pub type Instant6 = [[f64; 3]; 6];

/// An exciting motion.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Excitation {
    /// Name of the robot.
    pub robot: String,
    /// Period, in seconds.
    pub period: f64,
    /// Names of the platform's coordinates.
    pub coordinates: Vec<&'static str>,
    /// Middle of each coordinate.
    pub middle: Vec<f64>,
    /// Coefficients of the cosines and sines of each coordinate, harmonic by harmonic.
    pub series: Vec<Vec<[f64; 2]>>,
    /// Condition number of the observation matrix, columns of length one.
    pub condition: f64,
    /// The median of a hundred random motions inside the same limits.
    pub random_median: f64,
    /// Parameters that it is for.
    pub parameters: usize,
    #[serde(skip)]
    home: [f64; 6],
    #[serde(skip)]
    independent: Vec<Coordinate>,
}

impl Excitation {
    /// The motion at a time.
    pub fn at(&self, t: f64) -> Instant6 {
        let mut jets = self.home.map(|x| [x, 0.0, 0.0]);
        for ((c, middle), series) in self.independent.iter().zip(&self.middle).zip(&self.series) {
            jets[c.index()] = jet(*middle, series, t, self.period);
        }
        jets
    }
}

fn name(t: &Topology, independent: usize) -> &'static str {
    crate::analysis::coordinate_name(t.platform.independent[independent])
}

/// Random motions that the best is compared with.
const RANDOM: usize = 100;
/// The best of them are starts of descents.
const STARTS: usize = 4;
/// Rounds of a descent: the power of the smooth condition, and the weight of limits that are left.
const ROUNDS: [(f64, f64); 4] = [(1.0, 30.0), (4.0, 100.0), (16.0, 300.0), (64.0, 300.0)];
/// Share of every limit that a descent keeps away from it, for what happens between two instants.
const SPARE: f64 = 0.01;

/// A motion that minimises the condition number of the observation matrix inside limits: the best of random motions, each as
/// large as the limits allow, then descended from along the derivatives of a smooth condition number.
pub fn excite(robot: &Robot, mode: &WorkingMode, limits: &Limits, how: &Search) -> Result<Excitation, ExcitationError> {
    let topology = robot.model().topology();
    let (n, drives) = (topology.platform.independent.len(), topology.active.len());
    let per_drive = [limits.speed.len(), limits.acceleration.len(), limits.effort.len()];
    let regular = limits.region.iter().all(|[a, b]| a < b) && how.period > 0.0 && how.harmonics > 0;
    if limits.region.len() != n || per_drive != [drives; 3] || !regular {
        return Err(ExcitationError::Uneven);
    }
    let base = base_parameters(robot, true, 1).map_err(ExcitationError::Parameters)?;
    let viewer = Viewer::new(robot, mode, limits, base.columns(robot));
    let shape = Shape { region: limits.region.clone(), harmonics: how.harmonics, period: how.period };
    let instants = (3 * base.base_count / n.max(1)).max(8 * how.harmonics);
    let seeker = Seeker::new(viewer, shape, instants);
    seeker.check_middle()?;
    let mut first = seeker.random_motions(how.seed)?;
    first.sort_by(|a, b| a.0.total_cmp(&b.0));
    let random_median = first[RANDOM / 2].0;
    let starts = STARTS.min(how.trials.saturating_sub(RANDOM));
    let steps = how.trials.saturating_sub(RANDOM) / starts.max(1);
    let descended = first[..starts].iter().filter_map(|(_, x)| seeker.improved(x, steps));
    let best = descended.chain([first[0].clone()]).min_by(|a, b| a.0.total_cmp(&b.0));
    let (condition, x) = best.filter(|b| b.0.is_finite()).ok_or(ExcitationError::Hidden)?;
    let (middle, series) = (0..n).map(|c| seeker.shape.written(&x, c)).unzip();
    Ok(Excitation {
        robot: base.robot,
        period: how.period,
        coordinates: (0..n).map(|c| name(topology, c)).collect(),
        middle,
        series,
        condition,
        random_median: random_median.min(f64::MAX),
        parameters: base.base_count,
        home: coordinates(robot.model(), robot.home().pose()),
        independent: topology.platform.independent.clone(),
    })
}

/// A motion while it is sought.
struct Seeker<'a> {
    viewer: Viewer<'a>,
    shape: Shape,
    /// The basis of the series at the instants that count, and at more of them, between which no limit is left.
    bases: Vec<Vec<[f64; 3]>>,
    fine: Vec<Vec<[f64; 3]>>,
}

impl<'a> Seeker<'a> {
    fn new(viewer: Viewer<'a>, shape: Shape, instants: usize) -> Self {
        let at = |count: usize| -> Vec<Vec<[f64; 3]>> {
            (0..count).map(|i| shape.basis(shape.period * (i as f64 + 0.5) / count as f64)).collect()
        };
        let (bases, fine) = (at(instants), at(5 * instants));
        Self { viewer, shape, bases, fine }
    }

    /// The limits must hold at rest.
    fn check_middle(&self) -> Result<(), ExcitationError> {
        let still: Vec<[f64; 3]> = (0..self.shape.region.len()).map(|c| [self.shape.extent(c).0, 0.0, 0.0]).collect();
        let seen = self.viewer.at(&mut self.viewer.memory(), &still, Sign::Sharp).map_err(ExcitationError::Posture)?;
        self.viewer.left(&seen.used).map_or(Ok(()), |left| Err(ExcitationError::Limit(left)))
    }

    /// A hundred random motions and their condition numbers.
    fn random_motions(&self, seed: u64) -> Result<Vec<(f64, Vec<f64>)>, ExcitationError> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut normal = || {
            let (radius, turn): (f64, f64) = (random.random(), random.random());
            (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
        };
        let n = self.shape.per_coordinate();
        let drawn: Vec<Vec<f64>> = (0..RANDOM)
            .map(|_| (0..self.shape.size()).map(|i| if i % n == 0 { 0.0 } else { normal() }).collect())
            .collect();
        let found: Vec<Result<Vec<f64>, Option<Left>>> = drawn.par_iter().map(|x| self.fitted(x)).collect();
        if found.iter().all(Result::is_err) {
            let left = found.into_iter().find_map(|f| f.err().flatten());
            return Err(left.map_or(ExcitationError::Hidden, ExcitationError::Always));
        }
        Ok(found.into_par_iter().map(|x| x.map_or((f64::INFINITY, Vec::new()), |x| (self.condition(&x), x))).collect())
    }

    /// A motion as large as the region, then smaller until all limits hold; or the limit that it leaves all the same.
    fn fitted(&self, x: &[f64]) -> Result<Vec<f64>, Option<Left>> {
        let n = self.shape.per_coordinate();
        let mut x = x.to_vec();
        for c in 0..self.shape.region.len() {
            let own = &mut x[c * n..(c + 1) * n];
            let value = |b: &Vec<[f64; 3]>| own.iter().zip(b).map(|(u, b)| u * b[0]).sum::<f64>().abs();
            let most = self.fine.iter().map(value).fold(1e-12, f64::max);
            own.iter_mut().for_each(|u| *u /= most);
        }
        let mut last = None;
        for step in 0..40 {
            match self.first_left(&x, &self.bases) {
                Ok(()) => return Ok(x),
                Err(left) => last = left,
            }
            x = self.shape.shrunk(&x, if step < 24 { 0.85 } else { 0.5 });
        }
        Err(last)
    }

    /// The first limit that a motion leaves; none where there is no posture.
    fn first_left(&self, x: &[f64], bases: &[Vec<[f64; 3]>]) -> Result<(), Option<Left>> {
        let mut memory = self.viewer.memory();
        for basis in bases {
            let seen = self.viewer.at(&mut memory, &self.shape.jets(x, basis), Sign::Sharp).map_err(|_| None)?;
            self.viewer.left(&seen.used).map_or(Ok(()), |left| Err(Some(left)))?;
        }
        Ok(())
    }

    /// All instants of a motion; none where one has no posture.
    fn seen(&self, x: &[f64], sign: Sign) -> Option<Vec<Seen>> {
        let at = |memory: &mut _, basis: &Vec<[f64; 3]>| self.viewer.at(memory, &self.shape.jets(x, basis), sign).ok();
        self.bases.par_iter().map_init(|| self.viewer.memory(), at).collect()
    }

    fn gram(&self, seen: &[Seen]) -> Option<Gram> {
        let n = self.viewer.set.parameters.len();
        Gram::new(seen.iter().flat_map(|s| s.rows.chunks_exact(n)), n)
    }

    /// Condition number of the observation matrix; infinite where there is none.
    fn condition(&self, x: &[f64]) -> f64 {
        let gram = self.seen(x, Sign::Sharp).and_then(|seen| self.gram(&seen));
        gram.map_or(f64::INFINITY, |g| g.condition())
    }

    /// A better motion from this one on, and its condition number; inside all limits, between the instants too.
    fn improved(&self, x: &[f64], steps: usize) -> Option<(f64, Vec<f64>)> {
        let mut x = x.to_vec();
        for (power, weight) in ROUNDS {
            x = descended(&Smooth { seeker: self, power, weight }, x, steps.div_ceil(ROUNDS.len()));
        }
        for _ in 0..60 {
            if self.first_left(&x, &self.fine).is_ok() {
                return Some((self.condition(&x), x));
            }
            x = self.shape.shrunk(&x, 0.99);
        }
        None
    }
}

/// The smooth condition number of a motion and a penalty for limits that are left.
struct Smooth<'a> {
    seeker: &'a Seeker<'a>,
    power: f64,
    weight: f64,
}

impl Smooth<'_> {
    /// Direction of friction, smoothed over a small part of the rates that fill the region once in a period.
    fn sign(&self) -> Sign {
        let shape = &self.seeker.shape;
        let widest = (0..shape.region.len()).map(|c| shape.extent(c).1).fold(0.0, f64::max);
        Sign::Smooth(0.02 * widest * shape.frequency())
    }

    fn penalty(used: &[f64]) -> f64 {
        used.iter().map(|u| (u - 1.0 + SPARE).max(0.0).powi(2)).sum()
    }

    /// Derivatives of the function by the coordinates of an instant and their derivatives, by differences.
    fn by_jets(
        &self,
        memory: &mut crate::dynamics::regressor::Memory,
        x: &[f64],
        i: usize,
        seen: &Seen,
        Q: &Matrix,
    ) -> Vec<[f64; 3]> {
        let Seeker { viewer, shape, bases, .. } = self.seeker;
        let n = Q.nrows();
        let jets = shape.jets(x, &bases[i]);
        let g: Vec<f64> = seen
            .rows
            .chunks_exact(n)
            .flat_map(|w| (0..n).map(|a| 2.0 * (0..n).map(|b| Q[(a, b)] * w[b]).sum::<f64>()).collect::<Vec<f64>>())
            .collect();
        let mut out = vec![[0.0; 3]; jets.len()];
        // Rates and accelerations first, at the posture itself.
        let Ok((_, place)) = viewer.placed(memory, &jets, self.sign()) else { return out };
        for d in [2, 1, 0] {
            for (c, out) in out.iter_mut().enumerate() {
                let mut moved = jets.clone();
                let h = 1e-6 * shape.extent(c).1 * shape.frequency().powi(d);
                let d = usize::try_from(d).unwrap_or(0);
                moved[c][d] += h;
                let next = match d {
                    0 => viewer.at(memory, &moved, self.sign()),
                    _ => viewer.moved(memory, &place, &moved, self.sign()),
                };
                let Ok(next) = next else { continue };
                let rows: f64 = g.iter().zip(next.rows.iter().zip(&seen.rows)).map(|(g, (a, b))| g * (a - b)).sum();
                let limits = self.weight * (Self::penalty(&next.used) - Self::penalty(&seen.used));
                out[d] = (rows + limits) / h;
            }
        }
        out
    }
}

impl Descending for Smooth<'_> {
    type At = (Vec<Seen>, Matrix);

    fn value(&self, x: &[f64]) -> Option<(f64, Self::At)> {
        let seen = self.seeker.seen(x, self.sign())?;
        let gram = self.seeker.gram(&seen)?;
        let limits: f64 = seen.iter().map(|s| Self::penalty(&s.used)).sum();
        let value = gram.smooth(self.power) + self.weight * limits;
        value.is_finite().then(|| (value, (seen, gram.derivative(self.power))))
    }

    fn gradient(&self, x: &[f64], (seen, Q): &Self::At) -> Vec<f64> {
        let Seeker { viewer, shape, bases, .. } = self.seeker;
        let one = |memory: &mut _, (i, s): (usize, &Seen)| self.by_jets(memory, x, i, s, Q);
        let all: Vec<Vec<[f64; 3]>> = seen.par_iter().enumerate().map_init(|| viewer.memory(), one).collect();
        let n = shape.per_coordinate();
        let entry = |k: usize| {
            let (c, j) = (k / n, k % n);
            let sum = all.iter().zip(bases).map(|(by, basis)| (0..3).map(|d| by[c][d] * basis[j][d]).sum::<f64>());
            shape.extent(c).1 * sum.sum::<f64>()
        };
        (0..x.len()).map(entry).collect()
    }
}

impl Limits {
    /// Limits of the file, a region around home: a fifth of the robot's size and a third of a radian to both sides, and half the
    /// distance from singularities that home has, or 0.1 where that is more.
    pub fn of(robot: &Robot) -> Self {
        let model = robot.model();
        let t = model.topology();
        let home = coordinates(model, robot.home().pose());
        let width = |c: &Coordinate| if c.is_angle() { 0.3 } else { 0.2 * model.size() };
        let drives = drive_limits(model);
        Self {
            region: t
                .platform
                .independent
                .iter()
                .map(|c| [home[c.index()] - width(c), home[c.index()] + width(c)])
                .collect(),
            speed: drives.iter().map(|d| d.speed).collect(),
            acceleration: vec![None; t.active.len()],
            effort: drives.iter().map(|d| d.effort).collect(),
            distance: 0.1_f64.min(0.5 * sight::distance_at_home(robot)),
        }
    }
}
