//! Regressors at random regular states, in numbers without unit.

use crate::dynamics::Sign;
use crate::dynamics::regressor::{Memory, ParameterKind, StandardSet};
use crate::kinematics::newton::closes;
use crate::kinematics::platform::{coordinates, pose_with};
use crate::kinematics::{Posture, inverse_given, joint_value};
use crate::model::Model;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Farthest that random poses are from the first one: in sizes of the robot, and in radians.
const REACH: f64 = 0.4;
const TURN: f64 = 0.6;
/// Joints faster than this, in radians or sizes of the robot per unit of time, are near a singularity.
const FASTEST: f64 = 30.0;

/// Scales of length and time: what makes numbers of a robot comparable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scales {
    /// Size of the robot.
    pub length: f64,
    /// What a fall through that length takes, or a second without gravity.
    pub time: f64,
}

impl Scales {
    pub fn new(model: &Model<f64>) -> Self {
        let (length, g) = (model.size(), model.numbers().gravity.norm());
        Self { length, time: if g > 0.0 { (length / g).sqrt() } else { 1.0 } }
    }

    /// What a parameter is divided by, up to the mass.
    pub fn unit(&self, quantity: ParameterKind, lengths: i32) -> f64 {
        let times = match quantity {
            ParameterKind::Viscous => 1,
            ParameterKind::Coulomb | ParameterKind::Breakaway(_) => 2,
            _ => 0,
        };
        self.length.powi(lengths) * self.time.powi(-times)
    }
}

/// Columns of the observation matrix, each number a force per unit of mass and gravity.
pub(super) struct Observation {
    /// One list per parameter.
    pub columns: Vec<Vec<f64>>,
    /// What each parameter was divided by.
    pub units: Vec<f64>,
}

/// Observation matrix of random states around a posture, in its working mode; `None` when too few of them are regular.
pub(super) fn observe(model: &Model<f64>, from: &Posture, set: &StandardSet, seed: u64) -> Option<Observation> {
    let scales = Scales::new(model);
    let units: Vec<f64> = set.parameters.iter().map(|p| scales.unit(p.quantity, p.lengths)).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); units.len()];
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut memory = Memory::new(model);
    let wanted = 2 * units.len() + 60;
    for _ in 0..20 * wanted {
        let Some((posture, t_r, td_r)) = random_state(model, from, &scales, &mut random, &mut memory) else { continue };
        memory.pos = posture.positions().clone();
        let Ok(at) = memory.at(model, set, (&t_r, &td_r), Sign::Sharp) else { continue };
        if !is_calm(model, &memory, &scales) {
            continue;
        }
        for (j, column) in columns.iter_mut().enumerate() {
            column.extend((0..at.matrix.rows).map(|i| at.matrix.at(i, j) * at.scales[i] * units[j]));
        }
        if columns.first().is_none_or(|c| c.len() >= wanted) {
            return Some(Observation { columns, units });
        }
    }
    None
}

type RandomState = (Posture, Vec<f64>, Vec<f64>);

/// A posture around another one, and a motion of the size of the robot in its time.
fn random_state(
    model: &Model<f64>,
    from: &Posture,
    scales: &Scales,
    random: &mut Pcg64Mcg,
    memory: &mut Memory,
) -> Option<RandomState> {
    let t = model.topology();
    let near = coordinates(model, from.pose());
    let spread = random.random_range(0.1..1.0);
    let mut any = |size: f64| size * random.random_range(-1.0..1.0);
    let places = t.platform.independent.iter();
    let given: Vec<_> = places
        .map(|c| {
            let reach = if c.is_angle() { TURN } else { REACH * scales.length };
            (*c, near[c.index()] + any(spread * reach))
        })
        .collect();
    let pose = pose_with(model, from.pose(), &given);
    let open: Vec<_> = t
        .plan
        .given
        .iter()
        .map(|c| {
            let reach = if t.coords[*c].slides { 0.1 * scales.length } else { 0.3 };
            (*c, joint_value(model, from.positions(), *c) + any(reach))
        })
        .collect();
    let posture = inverse_given(model, &pose, from.mode(), &open).ok()?;
    if !closes(model, posture.positions()) {
        return None;
    }
    for c in &t.plan.given {
        let size = if t.coords[*c].slides { scales.length } else { 1.0 };
        memory.motion.rates[*c] = any(size / scales.time);
        memory.motion.accels[*c] = any(size / scales.time.powi(2));
    }
    let mut motion = |times: i32| -> Vec<f64> {
        let size = |angle: bool| if angle { 1.0 } else { scales.length };
        t.platform.independent.iter().map(|c| any(size(c.is_angle()) / scales.time.powi(times))).collect()
    };
    let (t_r, td_r) = (motion(1), motion(2));
    Some((posture, t_r, td_r))
}

/// Whether no joint races, as they do near singularities.
fn is_calm(model: &Model<f64>, memory: &Memory, scales: &Scales) -> bool {
    model.topology().coords.iter().all(|(c, coord)| {
        let size = if coord.slides { scales.length } else { 1.0 };
        memory.motion.rates[c].abs() < FASTEST * size / scales.time
    })
}
