//! Periodic motions that show the parameters well: finite Fourier series of the platform's coordinates, inside limits.

use super::ParameterError;
use super::base::{BaseParameters, base_parameters};
use crate::Robot;
use crate::description::Coordinate;
use crate::dynamics::Sign;
use crate::dynamics::regressor::{Memory, StandardSet};
use crate::kinematics::platform::{coordinates, pose_with};
use crate::kinematics::{SolveError, WorkingMode, inverse};
use crate::linalg::dense::{Matrix, svd, symmetric_eigenvalues};
use crate::trajectory::{drive_limits, from_rpy_rates};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
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
    /// Motions that are tried.
    pub trials: usize,
    /// The same seed gives the same motion.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { period: 4.0, harmonics: 5, trials: 1500, seed: 1 }
    }
}

/// A limit that no motion, however small, can meet.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ExcitationError {
    /// The base parameters could not be told.
    Parameters(ParameterError),
    /// There is no posture in the middle of the region.
    Posture(SolveError),
    /// A limit that the robot leaves at rest in the middle of the region.
    Limit(Left),
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
    /// The median of random motions inside the same limits.
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

/// A coordinate of the series: `x = c + Σ a cos kωt + b sin kωt`.
fn jet(middle: f64, series: &[[f64; 2]], t: f64, period: f64) -> [f64; 3] {
    let mut x = [middle, 0.0, 0.0];
    for (k, [a, b]) in series.iter().enumerate() {
        let w = std::f64::consts::TAU * (k + 1) as f64 / period;
        let (s, c) = (w * t).sin_cos();
        x[0] += a * c + b * s;
        x[1] += w * (b * c - a * s);
        x[2] -= w * w * (a * c + b * s);
    }
    x
}

/// A motion while it is sought.
struct Seeker<'a> {
    robot: &'a Robot,
    mode: &'a WorkingMode,
    limits: &'a Limits,
    set: StandardSet,
    /// Values of the file on the columns of `set`.
    values: Vec<f64>,
    period: f64,
    instants: usize,
    memory: Memory,
}

/// A motion that minimises the condition number of the observation matrix inside limits: the best of random motions, then
/// improved by random steps whose size follows their success.
pub fn excite(robot: &Robot, mode: &WorkingMode, limits: &Limits, how: &Search) -> Result<Excitation, ExcitationError> {
    let model = robot.model();
    let base = base_parameters(robot, true, 1).map_err(ExcitationError::Parameters)?;
    let mut seeker = Seeker::new(robot, mode, limits, &base, how)?;
    let middle: Vec<f64> = limits.region.iter().map(|[a, b]| 0.5 * (a + b)).collect();
    seeker.check_middle(&middle)?;
    let mut random = Pcg64Mcg::seed_from_u64(how.seed);
    let size = limits.region.len() * how.harmonics * 2;
    let mut normal = || {
        let (radius, turn): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    };
    let mut first: Vec<(f64, Vec<f64>)> = Vec::new();
    for _ in 0..100 {
        let x: Vec<f64> = (0..size).map(|_| normal()).collect();
        let cost = seeker.cost(&x, how);
        first.push((cost, x));
    }
    first.sort_by(|a, b| a.0.total_cmp(&b.0));
    let random_median = first[50].0;
    let (mut best, mut x) = first.swap_remove(0);
    let mut step = 0.5;
    for _ in 0..how.trials.saturating_sub(100) {
        let y: Vec<f64> = x.iter().map(|v| v + step * normal()).collect();
        let cost = seeker.cost(&y, how);
        // One success in five keeps the step as it is.
        if cost < best {
            (best, x) = (cost, y);
            step = (step * 1.5_f64).min(2.0);
        } else {
            step = (step * 1.5_f64.powf(-0.25)).max(0.01);
        }
    }
    let series = seeker.fitted(&x, how).unwrap_or_default();
    let independent = model.topology().platform.independent.clone();
    Ok(Excitation {
        robot: base.robot,
        period: how.period,
        coordinates: independent.iter().map(|c| crate::analysis::coordinate_name(*c)).collect(),
        middle,
        series,
        condition: best,
        random_median,
        parameters: base.base_count,
        home: coordinates(model, robot.home().pose()),
        independent,
    })
}

impl<'a> Seeker<'a> {
    fn new(
        robot: &'a Robot,
        mode: &'a WorkingMode,
        limits: &'a Limits,
        base: &BaseParameters,
        how: &Search,
    ) -> Result<Self, ExcitationError> {
        let model = robot.model();
        let (n, drives) = (model.topology().platform.independent.len(), model.topology().active.len());
        let per_drive = [limits.speed.len(), limits.acceleration.len(), limits.effort.len()];
        if limits.region.len() != n || per_drive != [drives; 3] || how.harmonics == 0 || !(how.period > 0.0) {
            return Err(ExcitationError::Uneven);
        }
        let all = StandardSet::new(model);
        let kept = base.base.iter().map(|b| all.parameters[b.coefficients[0].index].clone()).collect();
        let set = StandardSet { parameters: kept, frames: all.frames };
        let instants = (3 * base.base_count / n.max(1)).max(8 * how.harmonics);
        let values = base.base.iter().map(|b| b.value).collect();
        Ok(Self { robot, mode, limits, set, values, period: how.period, instants, memory: Memory::new(model) })
    }

    /// The limits must hold at rest.
    fn check_middle(&mut self, middle: &[f64]) -> Result<(), ExcitationError> {
        let still = vec![vec![[0.0; 2]]; middle.len()];
        match self.observe(&still, 0.0) {
            Err(Stop::Posture(why)) => Err(ExcitationError::Posture(why)),
            Err(Stop::Left(left)) => Err(ExcitationError::Limit(left)),
            Ok(_) => Ok(()),
        }
    }

    /// The series of a list of numbers, as large as the region allows, at rest at the start.
    fn series(&self, x: &[f64], how: &Search) -> Vec<Vec<[f64; 2]>> {
        let n = how.harmonics;
        let mut list = Vec::new();
        for (c, [low, high]) in self.limits.region.iter().enumerate() {
            let own = &x[c * 2 * n..(c + 1) * 2 * n];
            let mut series: Vec<[f64; 2]> =
                (0..n).map(|k| [own[2 * k], own[2 * k + 1]].map(|v| v / (k + 1) as f64)).collect();
            if n > 1 {
                series[0][1] = -(1..n).map(|k| (k + 1) as f64 * series[k][1]).sum::<f64>();
            }
            let times = (0..200).map(|i| f64::from(i) * self.period / 200.0);
            let most = times.map(|t| jet(0.0, &series, t, self.period)[0].abs()).fold(1e-12, f64::max);
            let scale = 0.5 * (high - low) / most;
            series.iter_mut().flatten().for_each(|v| *v *= scale);
            list.push(series);
        }
        list
    }

    /// The same, made smaller until all limits hold.
    fn fitted(&mut self, x: &[f64], how: &Search) -> Option<Vec<Vec<[f64; 2]>>> {
        let mut series = self.series(x, how);
        for _ in 0..24 {
            if (0..self.instants).all(|i| self.observe(&series, self.time(i)).is_ok()) {
                return Some(series);
            }
            series.iter_mut().flatten().flatten().for_each(|v| *v *= 0.85);
        }
        None
    }

    fn time(&self, i: usize) -> f64 {
        self.period * (i as f64 + 0.5) / self.instants as f64
    }

    /// Condition number of the observation matrix; infinite where the limits cannot be met.
    fn cost(&mut self, x: &[f64], how: &Search) -> f64 {
        let Some(series) = self.fitted(x, how) else { return f64::INFINITY };
        let n = self.set.parameters.len();
        let mut gram = Matrix::zeros(n, n);
        for i in 0..self.instants {
            let Ok(rows) = self.observe(&series, self.time(i)) else { return f64::INFINITY };
            for row in rows.chunks_exact(n) {
                for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    row[..=j].iter().enumerate().for_each(|(i, y)| gram[(j, i)] += x * y);
                }
            }
        }
        let size: Vec<f64> = (0..n).map(|j| gram[(j, j)].sqrt().max(f64::MIN_POSITIVE)).collect();
        let scaled = Matrix::from_fn(n, n, |i, j| gram[(i.max(j), i.min(j))] / (size[i] * size[j]));
        match symmetric_eigenvalues(&scaled).as_deref() {
            Some([least, .., most]) if *least > 0.0 => (most / least).sqrt(),
            Some([_]) => 1.0,
            _ => f64::INFINITY,
        }
    }

    /// Rows of the observation matrix at a time, a row per drive, or the limit that is left.
    fn observe(&mut self, series: &[Vec<[f64; 2]>], t: f64) -> Result<Vec<f64>, Stop> {
        let model = self.robot.model();
        let independent = &model.topology().platform.independent;
        let mut jets = coordinates(model, self.robot.home().pose()).map(|x| [x, 0.0, 0.0]);
        for ((c, region), series) in independent.iter().zip(&self.limits.region).zip(series) {
            jets[c.index()] = jet(0.5 * (region[0] + region[1]), series, t, self.period);
        }
        let given: Vec<(Coordinate, f64)> = independent.iter().map(|c| (*c, jets[c.index()][0])).collect();
        let posture =
            inverse(model, &pose_with(model, self.robot.home().pose(), &given), self.mode).map_err(Stop::Posture)?;
        let (w, alpha) = from_rpy_rates([jets[3], jets[4], jets[5]]);
        let part = |c: &Coordinate, k: usize| match c.index() {
            i @ 0..3 => jets[i][k],
            i if k == 1 => w[i - 3],
            i => alpha[i - 3],
        };
        let motion = |k: usize| independent.iter().map(|c| part(c, k)).collect::<Vec<f64>>();
        self.memory.pos = posture.positions().clone();
        let (t_r, td_r) = (motion(1), motion(2));
        let at = self.memory.at(model, &self.set, (&t_r, &td_r), Sign::Sharp).map_err(Stop::Posture)?;
        self.check_distance(&at)?;
        let efforts = at.of_efforts().map_err(Stop::Posture)?;
        self.check_drives(&efforts.apply(&self.values))?;
        Ok(efforts.data)
    }

    /// Far enough from Type 2 singularities.
    fn check_distance(&self, at: &crate::dynamics::regressor::Regressor) -> Result<(), Stop> {
        let (m, n) = (at.drives.rows, at.drives.cols);
        let entry = |i: usize, k: usize| at.drives.at(i, k) * at.scales[k];
        let length = |i: usize| (0..n).map(|k| entry(i, k).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let s = svd(&Matrix::from_fn(m, n, |i, k| entry(i, k) / length(i))).s;
        let value = s.get(n.saturating_sub(1)).copied().unwrap_or(0.0);
        if value >= self.limits.distance {
            return Ok(());
        }
        let what = "the distance from singularities".to_owned();
        Err(Stop::Left(Left { what, value, limit: self.limits.distance }))
    }

    fn check_drives(&self, efforts: &[f64]) -> Result<(), Stop> {
        let t = self.robot.model().topology();
        for (k, c) in t.active.iter().enumerate() {
            let motion = &self.memory.motion;
            for (what, value, limit) in [
                ("speed", motion.rates[*c], self.limits.speed[k]),
                ("acceleration", motion.accels[*c], self.limits.acceleration[k]),
                ("effort", efforts[k], self.limits.effort[k]),
            ] {
                if let Some(limit) = limit.filter(|l| value.abs() > *l) {
                    let what = format!("the {what} of q{}", t.coords[*c].name);
                    return Err(Stop::Left(Left { what, value: value.abs(), limit }));
                }
            }
        }
        Ok(())
    }
}

/// Why a motion does not do.
enum Stop {
    Posture(SolveError),
    Left(Left),
}

impl Limits {
    /// Limits of the file, and a region around home: a fifth of the robot's size and a third of a radian to both sides.
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
            distance: 0.1,
        }
    }
}
