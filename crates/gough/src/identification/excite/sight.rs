//! What an instant of a motion shows of the parameters, and how near it comes to its limits.

use super::{Left, Limits};
use crate::Robot;
use crate::description::Coordinate;
use crate::dynamics::Sign;
use crate::dynamics::regressor::{Memory, Regressor, StandardSet};
use crate::kinematics::platform::{coordinates, pose_with};
use crate::kinematics::{SolveError, WorkingMode, inverse, joint_value};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::CoordId;
use crate::trajectory::from_rpy_rates;

/// A robot whose motions are looked at.
pub(super) struct Viewer<'a> {
    robot: &'a Robot,
    mode: &'a WorkingMode,
    limits: &'a Limits,
    /// Columns that a motion shall show.
    pub set: StandardSet,
    /// Values of the file on these columns.
    values: Vec<f64>,
    /// Joints with ranges.
    ranged: Vec<CoordId>,
}

/// An instant: a row of the observation matrix per drive, and how much of each limit it uses, one being all of it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub rows: Vec<f64>,
    pub used: Vec<f64>,
}

/// What does not change with the motion at a posture.
pub(super) struct Place {
    distance: f64,
    /// Efforts of the drives that answer a unit of each freedom.
    given: Dense<f64>,
}

impl<'a> Viewer<'a> {
    pub fn new(robot: &'a Robot, mode: &'a WorkingMode, limits: &'a Limits, set: StandardSet) -> Self {
        let values = set.values();
        let coords = &robot.model().topology().coords;
        let ranged = coords.iter().filter(|(_, c)| c.range.is_some()).map(|(id, _)| id).collect();
        Self { robot, mode, limits, set, values, ranged }
    }

    /// Memory for one instant after the other.
    pub fn memory(&self) -> Memory {
        Memory::new(self.robot.model())
    }

    /// The instant in which the platform's independent coordinates have these values and derivatives.
    pub fn at(&self, memory: &mut Memory, jets: &[[f64; 3]], sign: Sign) -> Result<Seen, SolveError> {
        Ok(self.placed(memory, jets, sign)?.0)
    }

    /// The same, and what does not change with the motion at that posture.
    pub fn placed(&self, memory: &mut Memory, jets: &[[f64; 3]], sign: Sign) -> Result<(Seen, Place), SolveError> {
        let model = self.robot.model();
        let independent = &model.topology().platform.independent;
        let given: Vec<(Coordinate, f64)> = independent.iter().zip(jets).map(|(c, jet)| (*c, jet[0])).collect();
        let posture = inverse(model, &pose_with(model, self.robot.home().pose(), &given), self.mode)?;
        memory.pos = posture.positions().clone();
        let [t_r, td_r] = self.motion(jets);
        let at = memory.at(model, &self.set, (&t_r, &td_r), sign)?;
        let place = Place { distance: distance(&at), given: at.efforts_per_freedom()? };
        Ok((self.seen(memory, &at, &place, jets), place))
    }

    /// Another motion at the posture of the memory.
    pub fn moved(&self, memory: &mut Memory, place: &Place, jets: &[[f64; 3]], sign: Sign) -> Result<Seen, SolveError> {
        let [t_r, td_r] = self.motion(jets);
        let at = memory.at_same_posture(self.robot.model(), &self.set, (&t_r, &td_r), sign)?;
        Ok(self.seen(memory, &at, place, jets))
    }

    /// Twist and acceleration in the platform's independent components.
    fn motion(&self, jets: &[[f64; 3]]) -> [Vec<f64>; 2] {
        let model = self.robot.model();
        let independent = &model.topology().platform.independent;
        let mut all = coordinates(model, self.robot.home().pose()).map(|x| [x, 0.0, 0.0]);
        independent.iter().zip(jets).for_each(|(c, jet)| all[c.index()] = *jet);
        let (w, alpha) = from_rpy_rates([all[3], all[4], all[5]]);
        let part = |c: &Coordinate, k: usize| match c.index() {
            i @ 0..3 => all[i][k],
            i if k == 1 => w[i - 3],
            i => alpha[i - 3],
        };
        [1, 2].map(|k| independent.iter().map(|c| part(c, k)).collect())
    }

    fn seen(&self, memory: &Memory, at: &Regressor, place: &Place, jets: &[[f64; 3]]) -> Seen {
        let efforts = at.efforts_by(&place.given);
        let used = self.used(memory, place.distance, &efforts.apply(&self.values), jets);
        Seen { rows: efforts.data, used }
    }

    /// Speed, acceleration and effort of the drives, the distance from singularities, the region, the ranges of joints.
    fn used(&self, memory: &Memory, distance: f64, efforts: &[f64], jets: &[[f64; 3]]) -> Vec<f64> {
        let t = self.robot.model().topology();
        let share = |value: f64, limit: Option<f64>| limit.map_or(0.0, |l| value.abs() / l);
        let mut used = Vec::new();
        for (k, c) in t.active.iter().enumerate() {
            used.push(share(memory.motion.rates[*c], self.limits.speed[k]));
            used.push(share(memory.motion.accels[*c], self.limits.acceleration[k]));
            used.push(share(efforts[k], self.limits.effort[k]));
        }
        used.push(self.limits.distance / distance.max(1e-9));
        for ([low, high], jet) in self.limits.region.iter().zip(jets) {
            used.push((2.0 * jet[0] - low - high).abs() / (high - low));
        }
        for c in &self.ranged {
            let Some(range) = t.coords[*c].range else { continue };
            let q = joint_value(self.robot.model(), &memory.pos, *c);
            used.push((2.0 * q - range.low - range.high).abs() / (range.high - range.low));
        }
        used
    }

    /// The limit of which most is used, when that is more than all of it.
    pub fn left(&self, used: &[f64]) -> Option<Left> {
        let (k, most) = used.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        if *most <= 1.0 + 1e-9 {
            return None;
        }
        let t = self.robot.model().topology();
        let n = 3 * t.active.len();
        let l = self.limits;
        let (what, limit) = match k {
            k if k < n => {
                let list = [&l.speed, &l.acceleration, &l.effort][k % 3];
                let what = ["speed", "acceleration", "effort"][k % 3];
                (format!("the {what} of q{}", t.active_names()[k / 3]), list[k / 3].unwrap_or(0.0))
            }
            k if k == n => {
                let what = "the distance from singularities".to_owned();
                return Some(Left { what, value: l.distance / most, limit: l.distance });
            }
            k if k <= n + l.region.len() => {
                let [low, high] = l.region[k - n - 1];
                (format!("{} from the middle of the region", super::name(t, k - n - 1)), 0.5 * (high - low))
            }
            k => {
                let coord = &t.coords[self.ranged[k - n - 1 - l.region.len()]];
                let half = coord.range.map_or(0.0, |r| 0.5 * (r.high - r.low));
                (format!("q{} from the middle of its range", coord.name), half)
            }
        };
        Some(Left { what, value: most * limit, limit })
    }
}

/// Distance from Type 2 singularities at home; a small number where there is none.
pub(super) fn distance_at_home(robot: &Robot) -> f64 {
    let model = robot.model();
    let mut memory = Memory::new(model);
    memory.pos = robot.home().positions().clone();
    let rest = vec![0.0; model.topology().platform.independent.len()];
    let none = StandardSet { parameters: Vec::new(), frames: Vec::new() };
    memory.at(model, &none, (&rest, &rest), Sign::Sharp).map_or(0.0, |at| distance(&at)).max(1e-6)
}

/// Smallest singular value of the scaled rows of J⁻¹, each of length one.
fn distance(at: &Regressor) -> f64 {
    let (m, n) = (at.drives.rows, at.drives.cols);
    let entry = |i: usize, k: usize| at.drives.at(i, k) * at.scales[k];
    let length = |i: usize| (0..n).map(|k| entry(i, k).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let s = svd(&Matrix::from_fn(m, n, |i, k| entry(i, k) / length(i))).s;
    s.get(n.saturating_sub(1)).copied().unwrap_or(0.0)
}
