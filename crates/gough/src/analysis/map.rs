//! A scalar over a region of the workspace, on all cores.

use super::block_map::{in_blocks, program_for};
use super::deflection_map::deflections;
use super::frequency_map::{FrequencyNotes, FrequencyOf, frequencies};
use super::node_value::NodeValue;
use super::of_jacobian::{OF_JACOBIAN, OfJacobian};
use super::platform_map::{PlatformOf, PlatformValue, platform_values};
use super::probe::{Probe, determinant};
use super::region::Region;
use super::singularity::{Kind, singularities};
use crate::Robot;
use crate::dynamics::Dynamics;
use crate::elastodynamics::Actuators;
use crate::elastodynamics::cartesian::Choices;
use crate::kinematics::jacobians::{Orders, jacobians};
use crate::kinematics::matrices::Matrices;
use crate::kinematics::{Posture, SolveError, WorkingMode, inverse, working_modes};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::program::BlockProgram;
use crate::spatial::Wrench;
use gough_cuda::Trouble;
use rayon::prelude::*;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a map shows.
#[derive(Clone, PartialEq, Debug)]
pub enum Quantity {
    /// One wherever the pose can be reached.
    Reachable,
    /// How many working modes reach the pose.
    Modes,
    /// Number of the aspect the pose belongs to.
    Aspect,
    /// A function of J.
    OfJacobian(&'static OfJacobian),
    /// Determinant of A_r.
    Determinant,
    /// First-order distance to a kind of singularity, or to the nearest of all.
    Distance(Option<Kind>),
    /// Largest effort of a drive that balances this wrench on the platform, in its independent components.
    Effort(Vec<f64>),
    /// Largest effort of a drive that holds the robot at rest against gravity.
    Holding,
    /// Lowest stiffness of the platform, angles at the length scale, from the stiffness of the drives.
    Stiffness(Vec<f64>),
    /// How far the tool gives way under gravity and this wrench on the platform, in world axes, drives held.
    Deflection(Wrench<f64>),
    /// A natural frequency, in Hz.
    Frequency(FrequencyOf),
    /// A stiffness, the compliance or a frequency of the platform by the Cartesian method.
    Platform(PlatformOf),
}

/// Quantities besides functions of J: name, unit, description.
const OTHERS: [(&str, &str, &str); 21] = [
    ("reachable", "", "1 where the pose can be reached; area or volume, and that of the largest aspect"),
    ("modes", "", "number of working modes that reach the pose"),
    ("aspect", "", "connected singularity-free regions, numbered from the largest"),
    ("determinant", "", "determinant of A_r: zero at Type 2"),
    ("distance", "m", "first-order distance to the nearest singularity of any kind"),
    ("distance-type1", "m", "first-order distance to a Type 1 singularity"),
    ("distance-type2", "m", "first-order distance to a Type 2 singularity"),
    ("distance-lpjts", "m", "first-order distance to a singularity of passive joints"),
    ("distance-constraint", "m", "first-order distance to a constraint singularity"),
    ("effort", "N or N*m", "largest effort of a drive under the wrench of --wrench"),
    ("holding", "N or N*m", "largest effort of a drive that holds the robot at rest against gravity, payload included"),
    ("stiffness", "N/m", "lowest stiffness of the platform from the stiffness of the drives"),
    ("stiffness-x", "N/m", "force per displacement along x, the rest free: drives, joints and links, Cartesian method"),
    ("stiffness-y", "N/m", "force per displacement along y"),
    ("stiffness-z", "N/m", "force per displacement along z"),
    (
        "stiffness-rx",
        "N*m/rad",
        "moment per rotation about x, the rest free: drives, joints and links, Cartesian method",
    ),
    ("stiffness-ry", "N*m/rad", "moment per rotation about y"),
    ("stiffness-rz", "N*m/rad", "moment per rotation about z"),
    (
        "compliance",
        "m/N",
        "largest displacement by a unit force, lengths scaled: drives, joints and links, Cartesian method",
    ),
    (
        "deflection",
        "m",
        "how far beams, shapes, springs and transmissions let the tool move under gravity and the wrench of --wrench, drives held",
    ),
    ("f1", "Hz", "lowest natural frequency; f2, f3, .. the next"),
];

/// All quantities that maps offer: name, unit, description.
pub fn quantities() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let of_jacobian = OF_JACOBIAN.iter().map(|q| (q.name, q.unit, q.about));
    OTHERS[..3].iter().copied().chain(of_jacobian).chain(OTHERS[3..].iter().copied())
}

impl Quantity {
    /// By name; `stiffness` needs one number per drive, `effort` one per independent component of the platform.
    pub fn named(name: &str, stiffness: Option<Vec<f64>>, wrench: Option<Vec<f64>>) -> Result<Self, MapError> {
        Ok(match name {
            "reachable" => Self::Reachable,
            "modes" => Self::Modes,
            "aspect" => Self::Aspect,
            "determinant" => Self::Determinant,
            "distance" => Self::Distance(None),
            "distance-type1" => Self::Distance(Some(Kind::Type1)),
            "distance-type2" => Self::Distance(Some(Kind::Type2)),
            "distance-lpjts" => Self::Distance(Some(Kind::Lpjts)),
            "distance-constraint" => Self::Distance(Some(Kind::Constraint)),
            "effort" => Self::Effort(wrench.ok_or(MapError::NoWrench)?),
            "holding" => Self::Holding,
            "deflection" => Self::Deflection(Wrench::zero()),
            "stiffness" => Self::Stiffness(stiffness.ok_or(MapError::NoStiffness)?),
            _ if OfJacobian::named(name).is_some() => {
                Self::OfJacobian(OfJacobian::named(name).unwrap_or(&OF_JACOBIAN[0]))
            }
            _ if PlatformValue::named(name).is_some() => {
                let value = PlatformValue::named(name).unwrap_or(PlatformValue::Compliance);
                Self::Platform(PlatformOf { value, choices: Choices::default() })
            }
            _ => match frequency_number(name) {
                Some(number) => {
                    Self::Frequency(FrequencyOf { number, actuators: Actuators::default(), followed: true })
                }
                None => return Err(MapError::UnknownQuantity(name.to_owned())),
            },
        })
    }
}

/// `f3` is the third natural frequency.
pub fn frequency_number(name: &str) -> Option<usize> {
    name.strip_prefix('f')?.parse().ok().filter(|n| (1..=1000).contains(n))
}

/// Why there is no map.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum MapError {
    /// No quantity is called so.
    UnknownQuantity(String),
    /// The drives have no stiffness.
    NoStiffness,
    /// No wrench is given.
    NoWrench,
    /// The quantity, or this robot's, is not computed on a graphics processor.
    NotOnDevice(String),
    /// There is no graphics processor to compute on, or it has stopped.
    Device(Trouble),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::UnknownQuantity(name) => {
                let names: Vec<&str> = quantities().map(|q| q.0).collect();
                let near = crate::description::nearest(name, names.iter().copied());
                let hint = near.map_or_else(|| names.join(", "), |n| format!("did you mean `{n}`?"));
                write!(f, "no quantity is called `{name}`; {hint}")
            }
            MapError::NoWrench => f.write_str("`effort` needs the wrench that the drives balance: --wrench fx=10,fy=0"),
            MapError::NotOnDevice(why) => {
                write!(f, "this map is not computed on a graphics processor: {why}; leave the device out")
            }
            MapError::Device(trouble) => trouble.fmt(f),
            MapError::NoStiffness => f.write_str(
                "not every drive has a stiffness; write `drive = { stiffness = .. }` in the file or give --stiffness",
            ),
        }
    }
}

impl std::error::Error for MapError {}

impl From<Trouble> for MapError {
    fn from(trouble: Trouble) -> Self {
        MapError::Device(trouble)
    }
}

/// A map: one value per node of the region, in its order.
#[derive(Clone, Debug)]
pub struct Map {
    /// Values; missing where there is no answer, or where the map was stopped.
    pub values: Vec<NodeValue>,
    /// How many nodes were refused, by kind of refusal.
    pub refused: Vec<(&'static str, usize)>,
    /// Whether every node was looked at.
    pub complete: bool,
    /// Length, area or volume that can be reached; of [`Quantity::Reachable`] and [`Quantity::Aspect`].
    pub reachable: Option<f64>,
    /// Length, area or volume of each aspect, largest first.
    pub aspects: Vec<f64>,
    /// Of [`Quantity::Frequency`].
    pub frequencies: Option<FrequencyNotes>,
    /// How long a device computed, without what was copied and taken, s.
    pub device_seconds: Option<f64>,
}

/// Nodes that one core takes at a time.
const CHUNK: usize = 1024;

/// Map a quantity of a robot, by a program over blocks of nodes where there is one and the nodes are many. `progress` is called
/// now and then with the number of nodes done, and stops the map by answering false.
pub fn map_of(
    robot: &Robot,
    mode: &WorkingMode,
    region: &Region,
    quantity: &Quantity,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Map {
    let program = program_for(robot, mode, region, quantity);
    map_with(robot.model(), program.as_deref(), (mode, region, quantity), progress)
}

/// Map a quantity on a graphics processor. `progress` is as in [`map_of`].
pub fn map_on_device(
    robot: &Robot,
    mode: &WorkingMode,
    region: &Region,
    quantity: &Quantity,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Map, MapError> {
    #[cfg(feature = "cuda")]
    return super::device_map::map_on(robot, mode, region, quantity, progress);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (robot, mode, region, quantity, progress);
        Err(MapError::Device(Trouble::NotBuilt))
    }
}

/// Map a quantity node by node. `progress` is called now and then with the number of nodes done, and stops the map by answering
/// false.
pub fn map(
    model: &Model<f64>,
    mode: &WorkingMode,
    region: &Region,
    quantity: &Quantity,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Map {
    map_with(model, None, (mode, region, quantity), progress)
}

fn map_with(
    model: &Model<f64>,
    program: Option<&BlockProgram>,
    (mode, region, quantity): (&WorkingMode, &Region, &Quantity),
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Map {
    if let Quantity::Frequency(of) = quantity {
        let (found, notes) = frequencies(model, mode, region, *of, progress);
        return Map { frequencies: Some(notes), ..gather(Probe::new(model, mode), region, quantity, &found) };
    }
    if let Quantity::Platform(of) = quantity {
        let found = match start(model, mode, region) {
            Some(seen) => platform_values(model, &seen, mode, region, *of, progress),
            None => (0..region.len()).map(|node| refusal(model, mode, region, node)).collect(),
        };
        return gather(Probe::new(model, mode), region, quantity, &found);
    }
    if let Quantity::Deflection(load) = quantity {
        let found = deflections(model, mode, region, *load, progress);
        return gather(Probe::new(model, mode), region, quantity, &found);
    }
    let n = region.len();
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut found: Vec<Answer> = vec![Answer::Open; n];
    found.par_chunks_mut(CHUNK).enumerate().for_each_init(
        || Probe::new(model, mode),
        |probe, (i, chunk)| {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            let first = i * CHUNK;
            let left = match program {
                Some(program) => in_blocks(model, program, region, quantity, (first, chunk)),
                None => (0..chunk.len()).collect(),
            };
            for k in left {
                let found = match quantity {
                    Quantity::Reachable | Quantity::Aspect => {
                        let pose = region.pose(&region.beside(first + k));
                        probe.take(&pose).map(|()| Answer::Signs(probe.sign_bits()))
                    }
                    _ => {
                        let pose = region.pose(&region.point(first + k));
                        evaluate(probe, mode, &pose, quantity).map(Answer::Value)
                    }
                };
                chunk[k] = found.unwrap_or_else(|e| Answer::Refused(e.kind()));
            }
            let now = done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
            if !progress(now) {
                stopped.store(true, Ordering::Relaxed);
            }
        },
    );
    gather(Probe::new(model, mode), region, quantity, &found)
}

/// A posture of the region to plan at: the first that is found from its middle.
fn start(model: &Model<f64>, mode: &WorkingMode, region: &Region) -> Option<Posture> {
    let n = region.len();
    let order = (0..n).map(|k| (n / 2 + k) % n);
    order.take(MOST_STARTS).chain(0..n.min(MOST_STARTS)).find_map(|node| at_node(model, mode, region, node).ok())
}

/// Nodes that are tried for a first posture.
const MOST_STARTS: usize = 100_000;

fn at_node(model: &Model<f64>, mode: &WorkingMode, region: &Region, node: usize) -> Result<Posture, SolveError> {
    inverse(model, &region.pose(&region.point(node)), mode)
}

fn refusal(model: &Model<f64>, mode: &WorkingMode, region: &Region, node: usize) -> Answer {
    at_node(model, mode, region, node).map_or_else(|e| Answer::Refused(e.kind()), |_| Answer::Open)
}

#[derive(Clone, Copy)]
pub(super) enum Answer {
    Open,
    Value(f64),
    /// Signs of the functions that vanish at singularities.
    Signs(u64),
    Refused(&'static str),
}

fn gather(mut probe: Probe, region: &Region, quantity: &Quantity, found: &[Answer]) -> Map {
    let mut refused: Vec<(&'static str, usize)> = Vec::new();
    for answer in found {
        if let Answer::Refused(kind) = answer {
            match refused.iter_mut().find(|(k, _)| k == kind) {
                Some((_, count)) => *count += 1,
                None => refused.push((kind, 1)),
            }
        }
    }
    let complete = !found.iter().any(|a| matches!(a, Answer::Open));
    let mut values: Vec<NodeValue> = found
        .iter()
        .map(|a| match a {
            Answer::Value(x) => NodeValue::new(*x),
            Answer::Signs(_) => NodeValue::new(1.0),
            _ => NodeValue::NONE,
        })
        .collect();
    let (mut reachable, mut aspects) = (None, Vec::new());
    if matches!(quantity, Quantity::Reachable | Quantity::Aspect) {
        reachable = Some((0..found.len()).filter(|i| values[*i].get().is_some()).map(|i| region.weight(i)).sum());
        let signs: Vec<Option<u64>> = found
            .iter()
            .map(|a| match a {
                Answer::Signs(bits) => Some(*bits),
                _ => None,
            })
            .collect();
        let (labels, sizes) = components(region, &signs, &mut |a, b, differ| {
            probe.separates(region, &region.beside(a), &region.beside(b), differ)
        });
        aspects = sizes;
        for (value, label) in values.iter_mut().zip(labels) {
            let shown = if *quantity == Quantity::Aspect { label.map(|l| (l + 1) as f64) } else { label.map(|_| 1.0) };
            *value = shown.into();
        }
    }
    Map { values, refused, complete, reachable, aspects, frequencies: None, device_seconds: None }
}

/// Connected nodes: labels, largest first, and sizes. Neighbours are joined when their signs agree, or when `separates` says
/// that where they differ nothing is singular.
pub(super) fn components(
    region: &Region,
    signs: &[Option<u64>],
    separates: &mut dyn FnMut(usize, usize, u64) -> bool,
) -> (Vec<Option<usize>>, Vec<f64>) {
    let mut label: Vec<Option<usize>> = vec![None; signs.len()];
    let mut sizes: Vec<(f64, usize)> = Vec::new();
    let strides: Vec<usize> =
        (0..region.spans().len()).map(|k| region.spans()[..k].iter().map(|s| s.count).product()).collect();
    let mut stack = Vec::new();
    for start in 0..signs.len() {
        if signs[start].is_none() || label[start].is_some() {
            continue;
        }
        let own = sizes.len();
        let mut size = 0.0;
        label[start] = Some(own);
        stack.push(start);
        while let Some(node) = stack.pop() {
            size += region.weight(node);
            let place = region.indices(node);
            for (k, (span, stride)) in region.spans().iter().zip(&strides).enumerate() {
                let below = (place[k] > 0).then(|| node - stride);
                let above = (place[k] + 1 < span.count).then(|| node + stride);
                for next in below.into_iter().chain(above) {
                    let (Some(a), Some(b), None) = (signs[node], signs[next], label[next]) else { continue };
                    if a == b || !separates(node, next, a ^ b) {
                        label[next] = Some(own);
                        stack.push(next);
                    }
                }
            }
        }
        sizes.push((size, own));
    }
    sizes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut rank = vec![0; sizes.len()];
    sizes.iter().enumerate().for_each(|(r, (_, own))| rank[*own] = r);
    (label.into_iter().map(|l| l.map(|l| rank[l])).collect(), sizes.into_iter().map(|s| s.0).collect())
}

/// The quantity at a pose.
pub fn evaluate(
    probe: &mut Probe,
    mode: &WorkingMode,
    pose: &crate::spatial::Pose<f64>,
    quantity: &Quantity,
) -> Result<f64, SolveError> {
    let model = &Arc::clone(probe.model());
    match quantity {
        Quantity::Modes => return working_modes(model, pose).map(|list| list.len() as f64),
        Quantity::Distance(kind) => return distance(model, mode, pose, *kind),
        Quantity::Holding => {
            let rest = vec![0.0; model.topology().platform.independent.len()];
            let efforts = Dynamics::new(model).inverse(model, pose, mode, &rest, &rest, None).map(largest);
            return efforts;
        }
        _ => probe.take(pose)?,
    }
    let m = probe.matrices();
    let singular = |kind| SolveError::Singular { leg: None, kind };
    match quantity {
        Quantity::Reachable | Quantity::Aspect => Ok(1.0),
        Quantity::Determinant if m.A_r.rows == m.A_r.cols => Ok(determinant(&scaled_A(model, m))),
        Quantity::Determinant => Err(singular(Kind::Type2)),
        Quantity::Stiffness(drives) => {
            let J_inv = jacobians(m, &Orders::of(m)).J_inv.ok_or_else(|| singular(Kind::Type1))?;
            Ok(lowest_stiffness(model, &J_inv, drives))
        }
        _ => match (quantity, jacobians(m, &Orders::of(m)).J) {
            (_, Some(J)) => of_J(model, quantity, &J),
            (Quantity::OfJacobian(OfJacobian { without: Some(x), .. }), None) => Ok(*x),
            (_, None) => Err(singular(Kind::Type2)),
        },
    }
}

/// Quantities that are functions of J.
pub(super) fn of_J(model: &Model<f64>, quantity: &Quantity, J: &Dense<f64>) -> Result<f64, SolveError> {
    match quantity {
        Quantity::OfJacobian(of) => (of.value)(model, J),
        Quantity::Effort(w) => Ok(largest(&J.transposed().apply(w))),
        _ => Ok(0.0),
    }
}

/// The largest of efforts.
pub(super) fn largest(efforts: &[f64]) -> f64 {
    efforts.iter().fold(0.0, |most, x| f64::max(most, x.abs()))
}

fn distance(
    model: &Model<f64>,
    mode: &WorkingMode,
    pose: &crate::spatial::Pose<f64>,
    kind: Option<Kind>,
) -> Result<f64, SolveError> {
    let posture = inverse(model, pose, mode)?;
    let report = singularities(model, &posture);
    let of_kind = report.list.iter().filter(|s| kind.is_none_or(|k| s.kind == k));
    Ok(of_kind.map(|s| s.distance).fold(f64::INFINITY, f64::min))
}

/// A_r with moments over the length.
fn scaled_A(model: &Model<f64>, m: &Matrices<f64>) -> Dense<f64> {
    let mut A = m.A_r.clone();
    for (j, c) in model.topology().platform.independent.iter().enumerate() {
        if c.is_angle() {
            (0..A.rows).for_each(|i| *A.at_mut(i, j) /= model.length());
        }
    }
    A
}

/// Lowest eigenvalue of `K = J⁻ᵀ K_a J⁻¹`, angles at the length scale.
pub(super) fn lowest_stiffness(model: &Model<f64>, J_inv: &Dense<f64>, drives: &[f64]) -> f64 {
    let independent = &model.topology().platform.independent;
    // Singular values of sqrt(K_a) J⁻¹ are the square roots.
    // Too few drives leave a motion without stiffness: a row of zeros.
    let M = Matrix::from_fn(J_inv.rows.max(J_inv.cols), J_inv.cols, |i, j| {
        let unit = if independent[j].is_angle() { model.length() } else { 1.0 };
        if i < J_inv.rows { drives[i].sqrt() * J_inv.at(i, j) / unit } else { 0.0 }
    });
    svd(&M).s.last().map_or(0.0, |s| s * s)
}

/// Stiffness of each drive, in the order of the active joints: that of the file, else `given`; `None` when one has neither.
pub fn drive_stiffness(model: &Model<f64>, given: Option<f64>) -> Option<Vec<f64>> {
    let t = model.topology();
    let of = |name: &str| {
        let body = model.description().bodies.iter().find(|b| b.name.text == name)?;
        let drive = body.drive.as_ref()?;
        match (&drive.stiffness, &drive.servo) {
            (Some(k), None) | (None, Some(k)) => Some(k.value),
            // One behind the other: their compliances add.
            (Some(a), Some(b)) => Some(a.value * b.value / (a.value + b.value)),
            (None, None) => None,
        }
    };
    t.active.iter().map(|c| of(&t.coords[*c].name).or(given)).collect()
}
