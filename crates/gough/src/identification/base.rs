//! Base parameters: the groups of standard parameters that efforts depend on, by elimination in a stated order,
//! (8.266)-(8.274).

use super::formula::{Lengths, recognised};
use super::observe::{Observation, observe};
use crate::Robot;
use crate::dynamics::regressor::{StandardParameter, StandardSet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt;

/// What is left of a column when those before it are taken away, relative to the column: below this it depends on them. Columns
/// that depend leave 1e-13 or less, others 1e-4 or more on all robots tried.
const DEPENDS: f64 = 1e-8;
/// A column of this size, relative to the largest one, is nothing but rounding.
const NOTHING: f64 = 1e-10;
/// A coefficient of this size, without unit, is zero.
const NO_PART: f64 = 1e-7;

/// A standard parameter in a group and what it counts there.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Coefficient {
    /// Name of the standard parameter.
    pub parameter: String,
    /// Its coefficient, SI.
    pub value: f64,
    /// The coefficient as a product of lengths that the file names, where it was recognised at several values of those lengths.
    pub formula: Option<String>,
    /// Place of the parameter in the standard set.
    #[serde(skip)]
    pub index: usize,
}

/// A group of standard parameters that efforts depend on.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct BaseParameter {
    /// Name of the first parameter of the group, with an R when others are grouped with it.
    pub name: String,
    /// The group written out: `zz12 - d13 mx12`.
    pub group: String,
    /// Its unit.
    pub unit: &'static str,
    /// What the file says.
    pub value: f64,
    /// All parameters of the group, the first with coefficient one.
    pub coefficients: Vec<Coefficient>,
    /// What the columns before leave of its column, relative to the column: how far it is from depending on them.
    pub margin: f64,
}

/// A standard parameter that counts in groups of others only.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Dependent {
    /// Its name.
    pub name: String,
    /// What the columns before leave of its column, relative to the column: rounding.
    pub margin: f64,
}

/// Which parameters efforts depend on, and in which groups.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct BaseParameters {
    /// Name of the robot.
    pub robot: String,
    /// All standard parameters, in the order of elimination.
    pub standard: Vec<StandardParameter>,
    /// Those that no motion shows.
    pub no_effect: Vec<String>,
    /// Those that count in groups of others only.
    pub dependent: Vec<Dependent>,
    /// The groups.
    pub base: Vec<BaseParameter>,
    /// How many groups there are.
    pub base_count: usize,
    /// The smallest margin of a base parameter.
    pub smallest_kept: f64,
    /// The largest margin of a parameter that depends on others.
    pub largest_dropped: f64,
}

impl BaseParameters {
    /// The parameters whose columns are those of the groups, under the names of the groups: values of the groups on these
    /// columns are the efforts.
    #[doc(hidden)]
    pub fn columns(&self, robot: &Robot) -> StandardSet {
        let all = StandardSet::new(robot.model());
        // Frames are numbered alike with and without friction; the parameters are those of this list.
        let own = |b: &BaseParameter| {
            let mut own = self.standard[b.coefficients[0].index].clone();
            (own.name, own.value) = (b.name.clone(), b.value);
            own
        };
        StandardSet { parameters: self.base.iter().map(own).collect(), frames: all.frames }
    }
}

/// Why base parameters cannot be told.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ParameterError {
    /// Too few regular states around home.
    NoStates,
    /// A rank decision is too close to call.
    Unclear {
        /// The parameter.
        parameter: String,
        /// What is left of its column.
        margin: f64,
    },
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterError::NoStates => f.write_str(
                "too few regular states around home; put `home` of the file away from singularities and limits",
            ),
            ParameterError::Unclear { parameter, margin } => {
                write!(
                    f,
                    "whether {parameter} depends on others is too close to call ({margin:.1e}); try another --seed"
                )
            }
        }
    }
}

impl std::error::Error for ParameterError {}

/// Columns taken one after the other: which stand by themselves, and how the others depend on them.
pub(super) struct Elimination {
    /// Columns that stand by themselves.
    pub kept: Vec<usize>,
    /// Columns that depend, with their coefficients on those kept before them.
    pub dropped: Vec<(usize, Vec<f64>)>,
    /// Columns without effect.
    pub nothing: Vec<usize>,
    /// What is left of each column, relative to it.
    pub margins: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Orthogonalisation in the given order, each column twice, so that what is left of it is right to rounding.
pub(super) fn eliminate(columns: &[Vec<f64>]) -> Elimination {
    let sizes: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let mut out = Elimination { kept: Vec::new(), dropped: Vec::new(), nothing: Vec::new(), margins: sizes.clone() };
    // Rows of the triangle: what each kept column is made of, (8.268).
    let (mut basis, mut triangle): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for (j, column) in columns.iter().enumerate() {
        if sizes[j] <= NOTHING * largest {
            out.nothing.push(j);
            out.margins[j] = if largest > 0.0 { sizes[j] / largest } else { 0.0 };
            continue;
        }
        let mut rest: Vec<f64> = column.iter().map(|x| x / sizes[j]).collect();
        let mut parts = vec![0.0; basis.len()];
        for _ in 0..2 {
            for (q, part) in basis.iter().zip(&mut parts) {
                let along = dot(q, &rest);
                *part += along;
                rest.iter_mut().zip(q).for_each(|(x, y)| *x -= along * y);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        out.margins[j] = left;
        if left > DEPENDS {
            parts.push(left);
            triangle.push(parts);
            basis.push(rest.iter().map(|x| x / left).collect());
            out.kept.push(j);
        } else {
            let beta = back_substituted(&triangle, parts);
            let scaled = beta.iter().zip(&out.kept).map(|(b, k)| b * sizes[j] / sizes[*k]).collect();
            out.dropped.push((j, scaled));
        }
    }
    out
}

/// `R β = r` for columns of R as they were made.
fn back_substituted(triangle: &[Vec<f64>], mut rest: Vec<f64>) -> Vec<f64> {
    for k in (0..rest.len()).rev() {
        rest[k] /= triangle[k][k];
        let x = rest[k];
        (0..k).for_each(|i| rest[i] -= triangle[k][i] * x);
    }
    rest
}

/// Coefficients of dropped parameters in SI units: a list per dropped column, one number per kept column before it.
fn coefficients(e: &Elimination, units: &[f64]) -> Vec<Vec<f64>> {
    let one = |(j, beta): &(usize, Vec<f64>)| {
        let unit = |k: usize| units[e.kept[k]] / units[*j];
        beta.iter().enumerate().map(|(k, b)| if b.abs() < NO_PART { 0.0 } else { b * unit(k) }).collect()
    };
    e.dropped.iter().map(one).collect()
}

/// Base parameters of a robot from random regular states around its home; `friction` counts that of all joints too.
pub fn base_parameters(robot: &Robot, friction: bool, seed: u64) -> Result<BaseParameters, ParameterError> {
    let model = robot.model();
    let all = StandardSet::new(model);
    let set = if friction { all } else { all.without_friction() };
    let Observation { columns, units } = observe(model, robot.home(), &set, seed).ok_or(ParameterError::NoStates)?;
    let e = eliminate(&columns);
    let unclear = |j: &usize| (1e-11..1e-6).contains(&e.margins[*j]);
    let doubtful = e.kept.iter().chain(e.dropped.iter().map(|(j, _)| j)).find(|j| unclear(j));
    if let Some(j) = doubtful {
        let parameter = set.parameters[*j].name.clone();
        return Err(ParameterError::Unclear { parameter, margin: e.margins[*j] });
    }
    let numbers = coefficients(&e, &units);
    let others = changed_lengths(robot, &set, &e, seed);
    Ok(told(robot, &set, &e, &numbers, &others))
}

/// The coefficients again for other values of the file's lengths, and the lengths that go with each.
fn changed_lengths(robot: &Robot, set: &StandardSet, e: &Elimination, seed: u64) -> Vec<(Lengths, Vec<Vec<f64>>)> {
    let model = robot.model();
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 0x5eed);
    let mut list = Vec::new();
    for _ in 0..2 {
        let mut values = model.numbers().parameters.clone();
        let lengths = model.parameters().iter().map(|p| p.dimension.fits([1, 0, 0]));
        values
            .iter_mut()
            .zip(lengths)
            .filter(|(_, l)| *l)
            .for_each(|(x, _)| *x *= 1.0 + random.random_range(-0.03..0.03));
        let other = model.with_values(&values);
        let Some(seen) = observe(&other, robot.home(), set, seed) else { continue };
        let again = eliminate(&seen.columns);
        if again.kept == e.kept && again.nothing == e.nothing {
            list.push((Lengths::of(&other), coefficients(&again, &seen.units)));
        }
    }
    if list.len() == 2 { list } else { Vec::new() }
}

fn told(
    robot: &Robot,
    set: &StandardSet,
    e: &Elimination,
    numbers: &[Vec<f64>],
    others: &[(Lengths, Vec<Vec<f64>>)],
) -> BaseParameters {
    let p = &set.parameters;
    let here = Lengths::of(robot.model());
    let mut base = Vec::new();
    for (k, &j) in e.kept.iter().enumerate() {
        let mut coefficients = vec![Coefficient { parameter: p[j].name.clone(), value: 1.0, formula: None, index: j }];
        for (d, (dropped, _)) in e.dropped.iter().enumerate() {
            let Some(&value) = numbers[d].get(k).filter(|b| **b != 0.0) else { continue };
            let seen: Vec<(&Lengths, f64)> =
                std::iter::once((&here, value)).chain(others.iter().map(|(l, again)| (l, again[d][k]))).collect();
            let formula = recognised(&seen, p[j].lengths - p[*dropped].lengths);
            coefficients.push(Coefficient { parameter: p[*dropped].name.clone(), value, formula, index: *dropped });
        }
        let value = coefficients.iter().map(|c| c.value * p[c.index].value).sum();
        let name = if coefficients.len() == 1 { p[j].name.clone() } else { format!("{}R", p[j].name) };
        base.push(BaseParameter {
            name,
            group: written(&coefficients),
            unit: p[j].unit,
            value,
            coefficients,
            margin: e.margins[j],
        });
    }
    let dependent: Vec<Dependent> =
        e.dropped.iter().map(|(j, _)| Dependent { name: p[*j].name.clone(), margin: e.margins[*j] }).collect();
    BaseParameters {
        robot: robot.model().topology().name.clone(),
        no_effect: e.nothing.iter().map(|j| p[*j].name.clone()).collect(),
        base_count: base.len(),
        smallest_kept: base.iter().map(|b| b.margin).fold(1.0, f64::min),
        largest_dropped: dependent.iter().map(|d| d.margin).fold(0.0, f64::max),
        base,
        dependent,
        standard: set.parameters.clone(),
    }
}

/// A group in words: `zz12 - d13 mx12 + 0.5 m13`.
fn written(coefficients: &[Coefficient]) -> String {
    let mut text = String::new();
    for (i, c) in coefficients.iter().enumerate() {
        let sign = if c.value < 0.0 { "-" } else { "+" };
        let size = c.value.abs();
        let factor = match &c.formula {
            Some(formula) => format!("{} ", formula.trim_start_matches('-')),
            None if (size - 1.0).abs() < 1e-9 => String::new(),
            None => format!("{} ", short(size)),
        };
        let term = match (i, sign) {
            (0, "+") => format!("{factor}{}", c.parameter),
            (0, _) => format!("-{factor}{}", c.parameter),
            _ => format!(" {sign} {factor}{}", c.parameter),
        };
        text.push_str(&term);
    }
    text
}

/// Six digits.
fn short(x: f64) -> String {
    let text = format!("{x:.5e}").parse::<f64>().map_or_else(|_| x.to_string(), |x| x.to_string());
    if text.len() > 12 { format!("{x:.5e}") } else { text }
}
