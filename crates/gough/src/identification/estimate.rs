//! Weighted least squares on base parameters, their standard deviations, and which of them a record really tells.

use super::base::{BaseParameters, base_parameters};
use super::covariance::{Information, deviations};
use super::mistakes::{Far, suspected};
use super::record::{Record, RecordError};
use super::rows::{Processing, Rows, rows};
use crate::Robot;
use crate::dynamics::regressor::StandardSet;
use crate::kinematics::WorkingMode;
use crate::linalg::dense::{Matrix, solve_spd, solve_spd_matrix};

/// A parameter is told from zero when it is this many standard deviations away from it. Others stay in the model all the same:
/// leaving them out would make the deviations of the rest look smaller than they are.
pub const SIGNIFICANT: f64 = 2.0;
/// A parameter is essential when its standard deviation is at most this share of it.
pub const ESSENTIAL: f64 = 0.005;
/// Column of the scaled normal equations that the others explain up to this: the motion does not tell it.
const HIDDEN: f64 = 1e-10;
/// Efforts this many times as large as those of the file are in another unit.
const STRANGE: f64 = 200.0;
/// A model leaves less than this share of what varies of the efforts, the parameters of the file less than this.
const EXPLAINED: f64 = 0.1;
const NEAR_FILE: f64 = 0.3;
/// A drive of whose effort this share is left has another effort.
const FOREIGN: f64 = 0.5;
/// Blocks of which one is looked at where columns may have changed places.
const GLANCE: usize = 5;

/// A base parameter from records.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Estimate {
    /// Its name.
    pub name: String,
    /// The group it stands for.
    pub group: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// The standard deviation in per cent of the value; at most 1e6.
    pub relative_deviation: f64,
    /// What the robot file says.
    pub file: f64,
    /// It is at least [`SIGNIFICANT`] standard deviations away from zero.
    pub significant: bool,
    /// Its relative standard deviation is at most [`ESSENTIAL`].
    pub essential: bool,
    /// Place of its first parameter in the standard set.
    #[serde(skip)]
    pub index: usize,
}

/// How well the efforts of a drive are predicted.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Fit {
    /// The drive.
    pub drive: String,
    /// Root mean square of its effort.
    pub effort: f64,
    /// Root mean square of what is left, sample by sample, on the records that were used.
    pub residual: f64,
    /// Root mean square of what is left on records that were held back.
    pub held_back: Option<f64>,
    /// Root mean square of what is left with the parameters of the file.
    pub residual_of_file: f64,
}

/// Measured and predicted efforts at an instant, for pictures.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// Time.
    pub t: f64,
    /// Efforts that were measured; of redundant drives what moves the robot.
    pub measured: Vec<f64>,
    /// Efforts that the estimates give.
    pub predicted: Vec<f64>,
}

/// Parameters from records.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Identification {
    /// Name of the robot.
    pub robot: String,
    /// Estimates, in the order of the base parameters.
    pub estimates: Vec<Estimate>,
    /// How many of them are essential.
    pub essential_count: usize,
    /// How well each drive is predicted.
    pub fit: Vec<Fit>,
    /// Condition number of the weighted observation matrix, columns of length one.
    pub condition: f64,
    /// Equations that were used.
    pub equations: usize,
    /// Frequency, in Hz, above which positions were filtered.
    pub cutoff: f64,
    /// Efforts over time of the first record that was held back, or else of the first.
    #[serde(skip)]
    pub compared: Vec<Compared>,
    /// The base parameters that were asked for.
    #[serde(skip)]
    pub base: BaseParameters,
    #[serde(skip)]
    pub(super) information: Information,
}

/// Normal equations of some rows with weights per drive: `WᵀW`, `Wᵀτ`.
struct Normal {
    A: Matrix,
    b: Vec<f64>,
    scale: Vec<f64>,
}

fn row(list: &[f64], rows: &Rows, block: usize, drive: usize) -> (Vec<f64>, f64) {
    let width = rows.columns + 1;
    let start = (block * rows.drives + drive) * width;
    (list[start..start + rows.columns].to_vec(), list[start + rows.columns])
}

impl Normal {
    fn new(all: &[Rows], weights: &[f64]) -> Self {
        let n = all.first().map_or(0, |r| r.columns);
        let (mut A, mut b) = (Matrix::zeros(n, n), vec![0.0; n]);
        for rows in all {
            for block in 0..rows.blocks() {
                for (drive, weight) in weights.iter().enumerate().take(rows.drives) {
                    let start = (block * rows.drives + drive) * (n + 1);
                    let w = &rows.means[start..start + n];
                    let tau = rows.means[start + n] * weight;
                    for j in 0..n {
                        let x = w[j] * weight;
                        if x != 0.0 {
                            b[j] += w[j] * tau;
                            (0..=j).for_each(|i| A[(i, j)] += w[i] * x);
                        }
                    }
                }
            }
        }
        let scale: Vec<f64> = (0..n).map(|j| A[(j, j)].sqrt().max(f64::MIN_POSITIVE).recip()).collect();
        Self { A, b, scale }
    }

    /// Scaled matrix of some of the columns.
    fn of(&self, active: &[usize]) -> Matrix {
        let entry = |i: usize, j: usize| {
            let (i, j) = (active[i], active[j]);
            self.A[(i.min(j), i.max(j))] * self.scale[i] * self.scale[j]
        };
        Matrix::from_fn(active.len(), active.len(), entry)
    }

    /// Estimates of all columns, of short records too, whose motion may not tell them all.
    fn rough(&self) -> Vec<f64> {
        let all: Vec<usize> = (0..self.b.len()).collect();
        let A = self.of(&all) + Matrix::identity(all.len(), all.len()) * HIDDEN;
        let b: Vec<f64> = all.iter().map(|j| self.b[*j] * self.scale[*j]).collect();
        let x = solve_spd(&A, &b).unwrap_or_else(|| vec![0.0; all.len()]);
        x.iter().zip(&self.scale).map(|(x, s)| x * s).collect()
    }

    /// Estimates of some of the columns, and the inverse of their scaled matrix.
    fn solve(&self, active: &[usize]) -> Option<(Vec<f64>, Matrix)> {
        let A = self.of(active);
        let b: Vec<f64> = active.iter().map(|j| self.b[*j] * self.scale[*j]).collect();
        let x = solve_spd(&A, &b)?;
        let inverse = solve_spd_matrix(&A, &Matrix::identity(active.len(), active.len()))?;
        let value = active.iter().zip(&x).map(|(j, x)| x * self.scale[*j]).collect();
        Some((value, inverse))
    }
}

/// Sums of squares of what is left in rows, per drive.
fn left(all: &[Rows], chi: &[f64], middles: bool) -> (Vec<f64>, Vec<f64>, usize) {
    let drives = all.first().map_or(0, |r| r.drives);
    let (mut rest, mut size, mut count) = (vec![0.0; drives], vec![0.0; drives], 0);
    for rows in all {
        count += rows.blocks();
        for block in 0..rows.blocks() {
            for drive in 0..drives {
                let (w, tau) = row(if middles { &rows.middles } else { &rows.means }, rows, block, drive);
                let predicted: f64 = w.iter().zip(chi).map(|(a, b)| a * b).sum();
                rest[drive] += (tau - predicted).powi(2);
                size[drive] += tau * tau;
            }
        }
    }
    (rest, size, count)
}

/// Estimates of the base parameters of a robot from records; those in `held_back` only check them.
pub fn identify(
    robot: &Robot,
    mode: &WorkingMode,
    records: &[Record],
    held_back: &[Record],
    how: &Processing,
) -> Result<Identification, RecordError> {
    let model = robot.model();
    if !model.topology().plan.given.is_empty() {
        return Err(RecordError::Open);
    }
    let base = base_parameters(robot, true, 1).map_err(RecordError::Parameters)?;
    let all = StandardSet::new(model);
    let kept: Vec<usize> = base.base.iter().map(|b| b.coefficients[0].index).collect();
    let set = StandardSet { parameters: kept.iter().map(|j| all.parameters[*j].clone()).collect(), frames: all.frames };
    let how = how.fitted(robot, records)?;
    let equations = |list: &[Record]| -> Result<Vec<Rows>, RecordError> {
        list.iter().map(|r| rows(robot, mode, &set, r, &how, 1)).collect()
    };
    let glance = |r: &Record| rows(robot, mode, &set, r, &how, GLANCE);
    let (used, checked) = (equations(records)?, equations(held_back)?);
    let found = fitted(robot, &base, (records, &used), &glance)?;
    mistaken(robot, (held_back, &checked), &glance, (&found.chi, None))?;
    Ok(Identification { cutoff: how.cutoff.unwrap_or_default(), ..told(robot, base, &used, &checked, found) })
}

/// What least squares give.
struct Fitted {
    chi: Vec<f64>,
    deviation: Vec<f64>,
    condition: f64,
    information: Information,
}

fn fitted(
    robot: &Robot,
    base: &BaseParameters,
    (records, used): (&[Record], &[Rows]),
    glance: &dyn Fn(&Record) -> Result<Rows, RecordError>,
) -> Result<Fitted, RecordError> {
    let drives = used.first().map_or(0, |r| r.drives);
    // Redundant drives: what they do against each other says nothing, so that there are fewer equations than drives.
    let freedoms = robot.model().topology().platform.independent.len();
    let share = freedoms as f64 / drives.max(1) as f64;
    let plain = Normal::new(used, &vec![1.0; drives]);
    let active: Vec<usize> = (0..plain.b.len()).collect();
    told_by(&plain, &active, base)?;
    let solve = |n: &Normal, active: &[usize]| {
        let hidden = || RecordError::NotExciting { parameter: base.base[active[0]].name.clone() };
        n.solve(active).ok_or_else(hidden)
    };
    let mut chi = vec![0.0; active.len()];
    let spread = |list: &mut [f64], active: &[usize], x: &[f64]| {
        list.fill(0.0);
        active.iter().zip(x).for_each(|(j, x)| list[*j] = *x);
    };
    spread(&mut chi, &active, &solve(&plain, &active)?.0);
    scaled(base, used)?;
    let of_file: Vec<f64> = base.base.iter().map(|b| b.value).collect();
    mistaken(robot, (records, used), glance, (&chi, Some(&of_file)))?;
    let (drive, foreign) = worst(used, &chi, false);
    if foreign > FOREIGN {
        let drive = format!("q{}", robot.model().topology().active_names()[drive]);
        return Err(RecordError::Unexplained { drive, share: foreign });
    }
    let (rest, _, blocks) = left(used, &chi, false);
    let free = (blocks as f64 - active.len() as f64 / freedoms.max(1) as f64).max(1.0);
    let weights: Vec<f64> = rest.iter().map(|r| (free * share / r.max(f64::MIN_POSITIVE)).min(1e300)).collect();
    let normal = Normal::new(used, &weights);
    let (x, inverse) = solve(&normal, &active)?;
    let hidden = || RecordError::NotExciting { parameter: base.base[0].name.clone() };
    let information =
        Information::new(&normal.of(&active), &normal.scale, free * freedoms as f64).ok_or_else(hidden)?;
    spread(&mut chi, &active, &x);
    let per_equation = active.len() as f64 / freedoms.max(1) as f64;
    let deviation = deviations(used, &weights, &chi, (&inverse, &normal.scale), per_equation);
    for (k, (b, d)) in base.base.iter().zip(&deviation).enumerate() {
        let j = b.coefficients[0].index;
        let positive = base.standard[j].quantity.place() >= 10;
        let value = chi[k];
        // Coarse encoders shift small parameters by more than their deviation tells; that is no sign.
        if positive && value < -6.0 * d && acts(used, &chi, k) {
            return Err(RecordError::WrongSign { parameter: b.name.clone(), value });
        }
    }
    let spectrum = crate::linalg::dense::svd(&normal.of(&active)).s;
    let condition = match (spectrum.first(), spectrum.last()) {
        (Some(a), Some(b)) if *b > 0.0 => (a / b).sqrt(),
        _ => f64::MAX,
    };
    Ok(Fitted { chi, deviation, condition, information })
}

/// Share of the effort of a drive that a parameter gives where its sign matters.
const ACTS: f64 = 0.05;

/// Whether a parameter gives a good part of the effort of some drive.
fn acts(used: &[Rows], chi: &[f64], k: usize) -> bool {
    let drives = used.first().map_or(0, |r| r.drives);
    (0..drives).any(|drive| {
        let (mut part, mut all) = (0.0, 0.0);
        for rows in used {
            for block in 0..rows.blocks() {
                let (w, tau) = row(&rows.means, rows, block, drive);
                part += (w[k] * chi[k]).powi(2);
                all += tau * tau;
            }
        }
        part > ACTS * ACTS * all
    })
}

/// Every parameter must be told by the motion: what the columns before leave of its own, in the scaled normal equations.
fn told_by(normal: &Normal, active: &[usize], base: &BaseParameters) -> Result<(), RecordError> {
    let A = normal.of(active);
    let n = active.len();
    let mut L = Matrix::zeros(n, n);
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| L[(i, k)] * L[(j, k)]).sum();
            if i == j {
                let pivot = A[(j, j)] - sum;
                if !(pivot > HIDDEN) {
                    return Err(RecordError::NotExciting { parameter: base.base[active[j]].name.clone() });
                }
                L[(j, j)] = pivot.sqrt();
            } else {
                L[(i, j)] = (A[(j, i)] - sum) / L[(j, j)];
            }
        }
    }
    Ok(())
}

/// Efforts must not be hundreds of times as large, or as small, as those of the file's parameters.
fn scaled(base: &BaseParameters, used: &[Rows]) -> Result<(), RecordError> {
    let of_file: Vec<f64> = base.base.iter().map(|b| b.value).collect();
    let (mut both, mut own) = (0.0, 0.0);
    for rows in used {
        for (block, drive) in (0..rows.blocks()).flat_map(|b| (0..rows.drives).map(move |d| (b, d))) {
            let (w, tau) = row(&rows.means, rows, block, drive);
            let expected: f64 = w.iter().zip(&of_file).map(|(a, b)| a * b).sum();
            both += expected * tau;
            own += expected * expected;
        }
    }
    let times = both / own;
    let odd = times.is_finite() && times > 0.0 && !(1.0 / STRANGE..STRANGE).contains(&times);
    if odd { Err(RecordError::Scale { times }) } else { Ok(()) }
}

/// How far the efforts of rows are from those that fit them best, and from those of known parameters: shares of what varies of
/// them, a load that rests on the drives being explained by anything.
fn far(rows: &Rows, known: &[f64]) -> Far {
    let used = std::slice::from_ref(rows);
    let normal = Normal::new(used, &vec![1.0; rows.drives]);
    let size = varying(rows).iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let share = |chi: &[f64]| (left(used, chi, false).0.iter().sum::<f64>() / size).sqrt();
    Far { best: share(&normal.rough()), known: share(known) }
}

/// Sums of squares, drive by drive, of what efforts are off their mean.
fn varying(rows: &Rows) -> Vec<f64> {
    let of = |drive: usize| {
        let list: Vec<f64> = (0..rows.blocks()).map(|b| row(&rows.means, rows, b, drive).1).collect();
        let mean = list.iter().sum::<f64>() / list.len().max(1) as f64;
        list.iter().map(|x| (x - mean).powi(2)).sum()
    };
    (0..rows.drives).map(of).collect()
}

/// The largest share of the effort of a drive, or of what varies of it, that parameters leave; and the drive.
fn worst(used: &[Rows], chi: &[f64], varies: bool) -> (usize, f64) {
    let (rest, size, _) = left(used, chi, false);
    let all = used.iter().map(varying).fold(vec![0.0; rest.len()], |mut sum, list| {
        sum.iter_mut().zip(list).for_each(|(s, x)| *s += x);
        sum
    });
    let size = if varies { all } else { size };
    let shares = rest.iter().zip(&size).map(|(r, s)| (r / s.max(f64::MIN_POSITIVE)).sqrt());
    shares.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}

/// A model whose masses may be negative explains efforts of drives that changed places or signs too: then the parameters of the
/// file tell, which are not right, but nearer to the right ones than to these. Records that only check the estimates are told by
/// these.
fn mistaken(
    robot: &Robot,
    (records, used): (&[Record], &[Rows]),
    glance: &dyn Fn(&Record) -> Result<Rows, RecordError>,
    (fitted, of_file): (&[f64], Option<&[f64]>),
) -> Result<(), RecordError> {
    for (record, rows) in records.iter().zip(used) {
        let own = std::slice::from_ref(rows);
        let near = worst(own, fitted, true).1 < EXPLAINED;
        match of_file {
            _ if near && of_file.is_none_or(|file| far(rows, file).known < NEAR_FILE) => {}
            Some(file) => suspected(robot, record, glance, &|rows| far(rows, file))?,
            None => suspected(robot, record, glance, &|rows| Far { best: far(rows, fitted).known, known: 0.0 })?,
        }
    }
    Ok(())
}

fn told(robot: &Robot, base: BaseParameters, used: &[Rows], checked: &[Rows], found: Fitted) -> Identification {
    let Fitted { chi, deviation, condition, information } = found;
    let estimate = |(k, b): (usize, &super::BaseParameter)| {
        let relative = (deviation[k] / chi[k].abs().max(f64::MIN_POSITIVE)).min(1e4);
        Estimate {
            name: b.name.clone(),
            group: b.group.clone(),
            unit: b.unit,
            value: chi[k],
            deviation: deviation[k],
            relative_deviation: 100.0 * relative,
            significant: relative * SIGNIFICANT <= 1.0,
            file: b.value,
            essential: relative <= ESSENTIAL,
            index: b.coefficients[0].index,
        }
    };
    let estimates: Vec<Estimate> = base.base.iter().enumerate().map(estimate).collect();
    let of_file: Vec<f64> = base.base.iter().map(|b| b.value).collect();
    let rms = |(sum, _, count): &(Vec<f64>, Vec<f64>, usize), k: usize| (sum[k] / (*count).max(1) as f64).sqrt();
    let (own, file) = (left(used, &chi, true), left(used, &of_file, true));
    let held = (!checked.is_empty()).then(|| left(checked, &chi, true));
    let names = robot.model().topology().active_names();
    let fit = names.iter().enumerate().map(|(k, name)| Fit {
        drive: format!("q{name}"),
        effort: (own.1[k] / own.2.max(1) as f64).sqrt(),
        residual: rms(&own, k),
        held_back: held.as_ref().map(|h| rms(h, k)),
        residual_of_file: rms(&file, k),
    });
    Identification {
        robot: base.robot.clone(),
        essential_count: estimates.iter().filter(|e| e.essential).count(),
        fit: fit.collect(),
        condition,
        equations: used.iter().map(|r| r.blocks() * r.drives).sum(),
        cutoff: 0.0,
        compared: checked.first().or(used.first()).map_or_else(Vec::new, |r| compared(r, &chi)),
        estimates,
        base,
        information,
    }
}

fn compared(rows: &Rows, chi: &[f64]) -> Vec<Compared> {
    let at = |block: usize| {
        let both = (0..rows.drives).map(|d| {
            let (w, tau) = row(&rows.middles, rows, block, d);
            (tau, w.iter().zip(chi).map(|(a, b)| a * b).sum::<f64>())
        });
        let (measured, predicted) = both.unzip();
        Compared { t: rows.times[block], measured, predicted }
    };
    (0..rows.blocks()).map(at).collect()
}
