//! Periodic motions that show the parameters well: finite Fourier series of the platform's coordinates, inside limits.

mod condition;
mod descent;
mod series;
mod sight;

use super::ParameterError;
use super::base::base_parameters;
use crate::Robot;
use crate::description::Coordinate;
use crate::kinematics::platform::coordinates;
use crate::kinematics::{SolveError, WorkingMode};
use crate::model::Topology;
use crate::trajectory::drive_limits;
use condition::Gram;
use descent::{Descending, descended};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use series::{SeriesShape, jet};
use sight::{ObservedInstant, Viewer, Widths};
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
    /// Period, in seconds; where none is given, 4 s, or half a second per harmonic where that is more: faster harmonics would be
    /// lost behind the filters of a record.
    pub period: Option<f64>,
    /// Harmonics of the series; where none are given, 16 for robots with one or two freedoms and 8 for others: few coordinates
    /// need more harmonics to go over their region in as many ways.
    pub harmonics: Option<usize>,
    /// Motions that are tried: a hundred at random, and the steps from the best of them; fewer steps, which cost more, for
    /// robots with more than forty parameters.
    pub trials: usize,
    /// The same seed gives the same motion.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { period: None, harmonics: None, trials: 1500, seed: 1 }
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
const STARTS: usize = 12;

/// A round of descents.
struct Round {
    /// Power of the smooth condition.
    power: f64,
    /// Weight of limits that are left. Penalties add up over all instants, so that small weights are enough; large ones make
    /// the valleys narrow, and descents slow.
    weight: f64,
    /// Drives that go this many times as fast per motion of the platform as they do at home are near the end of a leg's
    /// reach. A descent that comes there early stays there; later it is free to come nearer, where rates differ most.
    steep: f64,
    /// Share of each rate over which the direction of friction is smoothed.
    width: f64,
    /// Share of all steps.
    share: f64,
    /// How many motions go on.
    left: usize,
}

const ROUNDS: [Round; 4] = [
    Round { power: 1.0, weight: 1.0, steep: 4.0, width: 0.3, share: 0.15, left: 5 },
    Round { power: 4.0, weight: 3.0, steep: 8.0, width: 0.1, share: 0.2, left: 3 },
    Round { power: 16.0, weight: 10.0, steep: 16.0, width: 0.05, share: 0.3, left: 1 },
    Round { power: 64.0, weight: 30.0, steep: 16.0, width: 0.05, share: 0.35, left: 1 },
];
/// Parameters beyond which there are fewer steps, so that all of them together cost about the same.
const MANY: f64 = 40.0;
/// Share of every limit that a descent keeps away from it, for what happens between two instants.
const SPARE: f64 = 0.01;
/// What a drive that goes twice as fast as that counts, in shares of a limit.
const END: f64 = 0.3;
/// Instants per harmonic, at least.
const PER_HARMONIC: usize = 12;

/// A motion that minimises the condition number of the observation matrix inside limits: the best of random motions, each as
/// large as the limits allow, then descended from along the derivatives of a smooth condition number.
pub fn excite(robot: &Robot, mode: &WorkingMode, limits: &Limits, how: &Search) -> Result<Excitation, ExcitationError> {
    let topology = robot.model().topology();
    let (n, drives) = (topology.platform.independent.len(), topology.active.len());
    let per_drive = [limits.speed.len(), limits.acceleration.len(), limits.effort.len()];
    let harmonics = how.harmonics.unwrap_or(if n <= 2 { 16 } else { 8 });
    let period = how.period.unwrap_or(4.0_f64.max(0.5 * harmonics as f64));
    let regular = limits.region.iter().all(|[a, b]| a < b) && period > 0.0 && harmonics > 0;
    if limits.region.len() != n || per_drive != [drives; 3] || !regular {
        return Err(ExcitationError::Uneven);
    }
    let base = base_parameters(robot, true, 1).map_err(ExcitationError::Parameters)?;
    let shape = SeriesShape { region: limits.region.clone(), harmonics, period };
    let instants = (3 * base.base_count / n.max(1)).max(PER_HARMONIC * harmonics);
    let viewer = Viewer::new(robot, mode, limits, base.columns(robot), period / instants as f64);
    let seeker = Seeker::new(viewer, shape, instants);
    seeker.check_middle()?;
    let mut first = seeker.random_motions(how.seed)?;
    first.sort_by(|a, b| a.0.total_cmp(&b.0));
    let random_median = first[RANDOM / 2].0;
    let starts = STARTS.min(how.trials.saturating_sub(RANDOM));
    let list = first[..starts].iter().filter(|f| f.0.is_finite()).map(|f| f.1.clone()).collect();
    let found = seeker.sought(list, steps(how.trials, base.base_count));
    let best = found.iter().filter_map(|x| seeker.kept(x)).chain([first[0].clone()]).min_by(|a, b| a.0.total_cmp(&b.0));
    let (condition, x) = best.filter(|b| b.0.is_finite()).ok_or(ExcitationError::Hidden)?;
    let (middle, series) = (0..n).map(|c| seeker.shape.written(&x, c)).unzip();
    Ok(Excitation {
        robot: base.robot,
        period,
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

/// Steps of all descents together: one costs with about the 3/2 power of the number of parameters.
fn steps(trials: usize, parameters: usize) -> f64 {
    trials.saturating_sub(RANDOM) as f64 * (MANY / parameters.max(1) as f64).min(1.0).powf(1.5)
}

/// A motion while it is sought.
struct Seeker<'a> {
    viewer: Viewer<'a>,
    shape: SeriesShape,
    /// The basis of the series at the instants that count, and at more of them, between which no limit is left.
    bases: Vec<Vec<[f64; 3]>>,
    fine: Vec<Vec<[f64; 3]>>,
}

impl<'a> Seeker<'a> {
    fn new(viewer: Viewer<'a>, shape: SeriesShape, instants: usize) -> Self {
        let at = |count: usize| -> Vec<Vec<[f64; 3]>> {
            (0..count).map(|i| shape.basis(shape.period * (i as f64 + 0.5) / count as f64)).collect()
        };
        let (bases, fine) = (at(instants), at(5 * instants));
        Self { viewer, shape, bases, fine }
    }

    /// The limits must hold at rest.
    fn check_middle(&self) -> Result<(), ExcitationError> {
        let still: Vec<[f64; 3]> = (0..self.shape.region.len()).map(|c| [self.shape.extent(c).0, 0.0, 0.0]).collect();
        let seen = self.viewer.at(&mut self.viewer.memory(), &still, &[]).map_err(ExcitationError::Posture)?;
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
            let seen = self.viewer.at(&mut memory, &self.shape.jets(x, basis), &[]).map_err(|_| None)?;
            self.viewer.left(&seen.used).map_or(Ok(()), |left| Err(Some(left)))?;
        }
        Ok(())
    }

    /// All instants of a motion; none where one has no posture.
    fn seen(&self, x: &[f64], widths: &Widths) -> Option<Vec<ObservedInstant>> {
        let at =
            |memory: &mut _, basis: &Vec<[f64; 3]>| self.viewer.at(memory, &self.shape.jets(x, basis), widths).ok();
        self.bases.par_iter().map_init(|| self.viewer.memory(), at).collect()
    }

    fn gram(&self, seen: &[ObservedInstant]) -> Option<Gram> {
        let n = self.viewer.set.parameters.len();
        Gram::new(&seen.iter().map(|s| s.rows.as_slice()).collect::<Vec<_>>(), n)
    }

    /// Condition number of the observation matrix; infinite where there is none.
    fn condition(&self, x: &[f64]) -> f64 {
        let gram = self.seen(x, &[]).and_then(|seen| self.gram(&seen));
        gram.map_or(f64::INFINITY, |g| g.condition())
    }

    /// Rates over which directions are smoothed: a share of the root mean square of each rate in a motion.
    fn widths(&self, x: &[f64], share: f64) -> Vec<f64> {
        let mut memory = self.viewer.memory();
        let mut sums: Vec<f64> = Vec::new();
        for basis in &self.bases {
            let Ok(_) = self.viewer.at(&mut memory, &self.shape.jets(x, basis), &[]) else { continue };
            let rates = self.viewer.rates(&memory);
            sums.resize(rates.len(), 0.0);
            sums.iter_mut().zip(rates).for_each(|(s, r)| *s += r * r / self.bases.len() as f64);
        }
        sums.iter().map(|s| share * s.sqrt()).collect()
    }

    /// Better motions from the best ones on: in every round all that are left descend, and the better part of them goes on.
    fn sought(&self, mut list: Vec<Vec<f64>>, steps: f64) -> Vec<Vec<f64>> {
        for round in &ROUNDS {
            // Not negative, and no more than there are steps.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let each = (round.share * steps / list.len().max(1) as f64).ceil() as usize;
            let descend = |x: &Vec<f64>| {
                let smooth = Smooth { seeker: self, round, widths: self.widths(x, round.width) };
                let x = descended(&smooth, x.clone(), each);
                (smooth.value(&x).map_or(f64::INFINITY, |v| v.0), x)
            };
            let mut found: Vec<(f64, Vec<f64>)> = list.par_iter().map(descend).collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            list = found.into_iter().take(round.left).map(|f| f.1).collect();
        }
        list
    }

    /// A motion made no smaller than it must be to keep all limits, between the instants too, and its condition number.
    fn kept(&self, x: &[f64]) -> Option<(f64, Vec<f64>)> {
        let fits = |by: f64| self.first_left(&self.shape.shrunk(x, 1.0 - by), &self.fine).is_ok();
        let mut by = if fits(0.0) { 0.0 } else { (0..10).map(|k| 1e-3 * 2.0_f64.powi(k)).find(|by| fits(*by))? };
        // Between this and half of it.
        for part in [0.5, 0.25, 0.125, 0.0625] {
            if by > 1e-3 && fits((1.0 - part) * by) {
                by *= 1.0 - part;
            }
        }
        let x = self.shape.shrunk(x, 1.0 - by);
        Some((self.condition(&x), x))
    }
}

/// The smooth condition number of a motion and a penalty for limits that are left.
struct Smooth<'a> {
    seeker: &'a Seeker<'a>,
    round: &'a Round,
    widths: Vec<f64>,
}

impl Smooth<'_> {
    /// Limits that an instant leaves, and legs that come to the end of their reach.
    fn penalty(&self, seen: &ObservedInstant) -> f64 {
        let beyond = |x: f64| x.max(0.0).powi(2);
        beyond(END * (seen.steep / self.round.steep - 1.0))
            + seen.used.iter().map(|u| beyond(u - 1.0 + SPARE)).sum::<f64>()
    }

    /// Derivatives of the function by the coordinates of an instant and their derivatives, by differences.
    fn by_jets(
        &self,
        memory: &mut crate::dynamics::regressor::Memory,
        x: &[f64],
        i: usize,
        seen: &ObservedInstant,
        Q: &[f64],
    ) -> Vec<[f64; 3]> {
        let Seeker { viewer, shape, bases, .. } = self.seeker;
        let jets = shape.jets(x, &bases[i]);
        let n = viewer.set.parameters.len();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let twice = |w: &[f64]| Q.chunks_exact(n).map(|row| 2.0 * dot(row, w)).collect::<Vec<f64>>();
        let g: Vec<f64> = seen.rows.chunks_exact(n).flat_map(twice).collect();
        let mut out = vec![[0.0; 3]; jets.len()];
        // Rates and accelerations first, at the posture itself.
        let Ok((_, place)) = viewer.placed(memory, &jets, &self.widths) else { return out };
        for d in [2, 1, 0] {
            for (c, out) in out.iter_mut().enumerate() {
                let mut moved = jets.clone();
                let h = 1e-6 * shape.extent(c).1 * shape.frequency().powi(d);
                let d = usize::try_from(d).unwrap_or(0);
                moved[c][d] += h;
                let next = match d {
                    0 => viewer.at(memory, &moved, &self.widths),
                    _ => viewer.moved(memory, &place, &moved, &self.widths),
                };
                let Ok(next) = next else { continue };
                let rows: f64 = g.iter().zip(next.rows.iter().zip(&seen.rows)).map(|(g, (a, b))| g * (a - b)).sum();
                let limits = self.round.weight * (self.penalty(&next) - self.penalty(seen));
                out[d] = (rows + limits) / h;
            }
        }
        out
    }
}

impl Descending for Smooth<'_> {
    type At = (Vec<ObservedInstant>, Gram);

    fn value(&self, x: &[f64]) -> Option<(f64, Self::At)> {
        let seen = self.seeker.seen(x, &self.widths)?;
        let gram = self.seeker.gram(&seen)?;
        let limits: f64 = seen.iter().map(|s| self.penalty(s)).sum();
        let value = gram.smooth(self.round.power) + self.round.weight * limits;
        value.is_finite().then_some((value, (seen, gram)))
    }

    fn gradient(&self, x: &[f64], (seen, gram): &Self::At) -> Vec<f64> {
        let Q = gram.derivative(self.round.power);
        let Seeker { viewer, shape, bases, .. } = self.seeker;
        let one = |memory: &mut _, (i, s): (usize, &ObservedInstant)| self.by_jets(memory, x, i, s, &Q);
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
