//! What an instant of a motion shows of the parameters, and how near it comes to its limits.

use super::{Left, Limits};
use crate::Robot;
use crate::description::Coordinate;
use crate::dynamics::Sign;
use crate::dynamics::regressor::{Memory, ParameterKind, Regressor, Rubbing, StandardSet, by_sign};
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
    /// Where friction depends on the direction.
    rubbing: Vec<Rubbing>,
    /// Time that an instant stands for.
    lasts: f64,
    /// What drives do per motion of the platform at home.
    at_home: Vec<f64>,
}

/// Rates over which the direction of friction is smoothed, one per joint or closure that it acts in; not at all where none.
pub(super) type Widths = [f64];

/// An instant: a row of the observation matrix per drive, and how much of each limit it uses, one being all of it.
#[derive(Clone, Debug)]
pub(super) struct ObservedInstant {
    pub rows: Vec<f64>,
    pub used: Vec<f64>,
    /// How near a leg is to the end of its reach: the fastest that a drive goes per motion of the platform, in what it does at
    /// home. No limit, but where legs end there is no way on for a descent.
    pub steep: f64,
}

/// What does not change with the motion at a posture.
pub(super) struct AtPosture {
    distance: f64,
    steep: f64,
    /// Efforts of the drives that answer a unit of each freedom.
    given: Dense<f64>,
}

impl<'a> Viewer<'a> {
    pub fn new(robot: &'a Robot, mode: &'a WorkingMode, limits: &'a Limits, set: StandardSet, lasts: f64) -> Self {
        let values = set.values();
        let coords = &robot.model().topology().coords;
        let ranged = coords.iter().filter(|(_, c)| c.range.is_some()).map(|(id, _)| id).collect();
        let rubbing = set.rubbing();
        let at_home = standing(robot).map_or_else(Vec::new, |at| lengths(&at));
        Self { robot, mode, limits, set, values, ranged, rubbing, lasts, at_home }
    }

    /// Memory for one instant after the other.
    pub fn memory(&self) -> Memory {
        Memory::new(self.robot.model())
    }

    /// The instant in which the platform's independent coordinates have these values and derivatives.
    pub fn at(&self, memory: &mut Memory, jets: &[[f64; 3]], widths: &Widths) -> Result<ObservedInstant, SolveError> {
        Ok(self.placed(memory, jets, widths)?.0)
    }

    /// The instant, and what does not change with the motion at its posture.
    pub fn placed(
        &self,
        memory: &mut Memory,
        jets: &[[f64; 3]],
        widths: &Widths,
    ) -> Result<(ObservedInstant, AtPosture), SolveError> {
        let model = self.robot.model();
        let independent = &model.topology().platform.independent;
        let given: Vec<(Coordinate, f64)> = independent.iter().zip(jets).map(|(c, jet)| (*c, jet[0])).collect();
        let posture = inverse(model, &pose_with(model, self.robot.home().pose(), &given), self.mode)?;
        memory.pos = posture.positions().clone();
        let [t_r, td_r] = self.motion(jets);
        memory.move_to(model, &t_r, &td_r)?;
        let at = self.columns(memory, widths)?;
        let place = AtPosture { distance: distance(&at), steep: self.steep(&at), given: at.efforts_per_freedom()? };
        Ok((self.seen(memory, &at, &place, jets), place))
    }

    /// Another motion at the posture of the memory.
    pub fn moved(
        &self,
        memory: &mut Memory,
        place: &AtPosture,
        jets: &[[f64; 3]],
        widths: &Widths,
    ) -> Result<ObservedInstant, SolveError> {
        let [t_r, td_r] = self.motion(jets);
        memory.move_on(self.robot.model(), &t_r, &td_r)?;
        let at = self.columns(memory, widths)?;
        Ok(self.seen(memory, &at, place, jets))
    }

    /// Rates at which friction is met in the last motion of the memory.
    pub fn rates(&self, memory: &Memory) -> Vec<f64> {
        self.rubbing.iter().map(|at| memory.rate(self.robot.model(), *at)[0]).collect()
    }

    /// The regressor of the last motion. The direction of friction is its mean over the time that the instant stands for, in
    /// which the rate goes from `r - e` to `r + e`, and smoothed over a width `w`:
    /// `∫ r / √(r² + w²) = 2r / (√((r + e)² + w²) + √((r - e)² + w²))`.
    fn columns(&self, memory: &mut Memory, widths: &Widths) -> Result<Regressor, SolveError> {
        let model = self.robot.model();
        let direction = |(k, at): (usize, &Rubbing)| {
            let [r, a] = memory.rate(model, *at);
            let (e, w) = (0.5 * a * self.lasts, widths.get(k).copied().unwrap_or(0.0));
            2.0 * r / ((r + e).hypot(w) + (r - e).hypot(w)).max(f64::MIN_POSITIVE)
        };
        let directions: Vec<f64> = self.rubbing.iter().enumerate().map(direction).collect();
        let sharp = by_sign(model, Sign::Sharp);
        let meets = |at: Rubbing, quantity: ParameterKind, rate: f64| {
            let own = self.rubbing.iter().position(|r| *r == at).filter(|_| quantity != ParameterKind::Viscous);
            own.map_or_else(|| sharp(at, quantity, rate), |k| directions[k] * sharp(at, quantity, rate.abs()))
        };
        memory.columns(model, &self.set, &meets)
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

    fn seen(&self, memory: &Memory, at: &Regressor, place: &AtPosture, jets: &[[f64; 3]]) -> ObservedInstant {
        let efforts = at.efforts_by(&place.given);
        let used = self.used(memory, place.distance, &efforts.apply(&self.values), jets);
        ObservedInstant { rows: efforts.data, used, steep: place.steep }
    }

    fn steep(&self, at: &Regressor) -> f64 {
        lengths(at).iter().zip(&self.at_home).map(|(now, home)| now / home).fold(0.0, f64::max)
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

/// The robot at rest at home, without parameters.
fn standing(robot: &Robot) -> Option<Regressor> {
    let model = robot.model();
    let mut memory = Memory::new(model);
    memory.pos = robot.home().positions().clone();
    let rest = vec![0.0; model.topology().platform.independent.len()];
    let none = StandardSet { parameters: Vec::new(), frames: Vec::new() };
    memory.at(model, &none, (&rest, &rest), Sign::Sharp).ok()
}

/// Distance from Type 2 singularities at home; a small number where there is none.
pub(super) fn distance_at_home(robot: &Robot) -> f64 {
    standing(robot).map_or(0.0, |at| distance(&at)).max(1e-6)
}

/// Lengths of the scaled rows of J⁻¹: how fast drives go per motion of the platform.
fn lengths(at: &Regressor) -> Vec<f64> {
    let n = at.drives.cols;
    let length = |i: usize| (0..n).map(|k| (at.drives.at(i, k) * at.scales[k]).powi(2)).sum::<f64>().sqrt();
    (0..at.drives.rows).map(|i| length(i).max(f64::MIN_POSITIVE)).collect()
}

/// Smallest singular value of the scaled rows of J⁻¹, each of length one.
fn distance(at: &Regressor) -> f64 {
    let (m, n) = (at.drives.rows, at.drives.cols);
    let own = lengths(at);
    let s = svd(&Matrix::from_fn(m, n, |i, k| at.drives.at(i, k) * at.scales[k] / own[i])).s;
    s.get(n.saturating_sub(1)).copied().unwrap_or(0.0)
}
