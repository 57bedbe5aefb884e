//! Singularities on the way of a motion: found between its samples by functions that change their sign, and named.

use super::degeneracy::{Degeneracy, DriveBalance};
use crate::analysis::singularity::sigma;
use crate::analysis::{Probe, SingularFunction};
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::jacobians::matrices_at;
use crate::kinematics::{Kind, Posture, SolveError, WorkingMode, inverse};
use crate::model::Model;
use crate::spatial::{Mat3, Pose, Rotation, Wrench};
use crate::trajectory::{
    KnownEfforts, Look, Profile, Row, Trajectory, TrajectoryError, drive_limits, follow_with, highest, rows_in_table,
};
use serde::Serialize;

/// A crossing whose smallest singular value is above this is one of the rows that a plan picked, not of the robot.
const GENUINE: f64 = 1e-4;

/// A singularity whose function does not change its sign is one where the smallest singular value falls below this.
const TOUCHED: f64 = 1e-6;

/// A singularity that a motion crosses.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Crossing {
    /// Which: `type2`, `lpjts` or `constraint`.
    pub kind: &'static str,
    /// The legs, where it is theirs.
    pub leg: Option<String>,
    /// When.
    pub t: f64,
    /// Where: position of the platform.
    pub position: [f64; 3],
    /// Where: rows of its rotation matrix.
    pub rotation: [[f64; 3]; 3],
    /// Twists of the platform, in world axes, that no drive feels there, of length one at the robot's length scale.
    pub twist_lost: Vec<[f64; 6]>,
    /// `t_sᵀ (M ẍ + c)` for each of them, in newtons; zero where efforts stay finite.
    pub criterion: Vec<f64>,
    /// Whether efforts stay finite.
    pub bounded: bool,
    /// Over the time from the crossing, efforts grow as this; one number per drive.
    pub growth: Vec<f64>,
    /// Efforts at the crossing itself, friction included, as a limit.
    pub limit_efforts: Option<Vec<f64>>,
    /// Efforts at the crossing itself without friction, as a limit.
    pub limit_efforts_without_friction: Option<Vec<f64>>,
}

impl Crossing {
    /// The kind.
    pub fn kind(&self) -> Kind {
        Kind::MEASURED.into_iter().find(|k| k.word() == self.kind).unwrap_or(Kind::Type2)
    }

    /// The kind in words, with its legs.
    #[doc(hidden)]
    pub fn title(&self) -> String {
        let of = self.leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
        format!("{} singularity{of}", self.kind().title())
    }

    /// The pose of the platform there.
    pub fn pose(&self) -> Pose<f64> {
        let R = Rotation(Mat3::from_fn(|i, j| self.rotation[i][j]));
        Pose { R, p: self.position.into() }
    }
}

/// Functions of the posture along a motion.
struct Signs<'a> {
    model: &'a Model<f64>,
    probe: Probe,
    trajectory: &'a Trajectory,
}

impl Signs<'_> {
    /// At a time; none where the robot cannot be there.
    fn at(&mut self, t: f64) -> Option<Vec<SingularFunction>> {
        let mut list = Vec::new();
        self.probe.take(&self.trajectory.at(t).pose).ok()?;
        self.probe.signs(&mut list);
        Some(list)
    }

    /// Where function `k` changes its sign, to the last digit of the time.
    fn root(&mut self, k: usize, [mut low, mut high]: [f64; 2], positive: bool) -> Option<f64> {
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                return Some(middle);
            }
            let value = self.at(middle)?.get(k)?.2;
            if value == 0.0 {
                return Some(middle);
            }
            *(if (value > 0.0) == positive { &mut low } else { &mut high }) = middle;
        }
    }

    /// The smallest singular value of a kind.
    fn sigma(&mut self, t: f64, kind: Kind) -> Option<f64> {
        self.probe.take(&self.trajectory.at(t).pose).ok()?;
        sigma(self.model, self.probe.positions(), kind)
    }

    /// Whether the singular value itself vanishes.
    fn is_genuine(&mut self, t: f64, kind: Kind) -> bool {
        self.sigma(t, kind).is_some_and(|s| s < GENUINE)
    }

    /// Where the singular value vanishes although the function keeps its sign: it has a double root where two motions are lost
    /// at once, or where the way only touches the singularity. At the end of a leg's reach rounding may put the way beyond it:
    /// then an instant beside it counts.
    fn touch(&mut self, kind: Kind, between: [f64; 2]) -> Option<f64> {
        let t = highest(&mut |t| Some(-self.sigma(t, kind).unwrap_or(0.0)), between, 70)?;
        let aside = 1e-6 * (between[1] - between[0]);
        [t, t - aside, t + aside].into_iter().find(|t| self.sigma(*t, kind).is_some_and(|s| s < TOUCHED))
    }

    /// What is met between the last two of three instants, and touched between the first and the last.
    fn met(
        &mut self,
        [first, before, now]: [Option<&(f64, Vec<SingularFunction>)>; 3],
    ) -> Vec<(Kind, Option<usize>, f64)> {
        let (Some((t0, a)), Some((t1, b))) = (before, now) else { return Vec::new() };
        let mut found = Vec::new();
        for (k, (x, y)) in a.iter().zip(b).enumerate() {
            let earlier = first.and_then(|(t, list)| list.get(k).map(|f| (*t, f.2)));
            let t = if (x.2 > 0.0) == (y.2 > 0.0) {
                earlier.filter(|(_, f)| dips([*f, x.2, y.2])).and_then(|(t, _)| self.touch(x.0, [t, *t1]))
            } else {
                let root = if y.2 == 0.0 { Some(*t1) } else { self.root(k, [*t0, *t1], x.2 > 0.0) };
                root.filter(|t| self.is_genuine(*t, x.0))
            };
            found.extend(t.map(|t| (x.0, x.1, t)));
        }
        found
    }

    fn legs(&self, block: usize) -> String {
        let t = self.model.topology();
        let names = t.plan.matrices.blocks[block].legs.iter().map(|l| t.legs[*l].name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Whether a function that keeps its sign over three instants has a least size between them that may be zero: a parabola
/// through them comes down by a tenth or more below the middle, or, where it may have a corner, the middle is below half of
/// what is beside it.
fn dips([a, b, c]: [f64; 3]) -> bool {
    let same = (a > 0.0) == (b > 0.0) && (b > 0.0) == (c > 0.0);
    let [a, b, c] = [a.abs(), b.abs(), c.abs()];
    let bent = a + c - 2.0 * b;
    let low = b <= 0.45 * a.min(c) || b - (c - a).powi(2) / (8.0 * bent) <= 0.9 * b;
    same && b <= a && b <= c && bent > 0.0 && low
}

/// Every singularity along a motion, in the order of time, whether the motion crosses it or only touches it: looked for at the
/// samples, four times between them, and at a thousand instants or more. Type 1 is not among them: the motion has no answer beyond.
pub fn crossings(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    load: Wrench<f64>,
) -> Result<Vec<Crossing>, SolveError> {
    crossings_among(model, mode, trajectory, load, 1000)
}

/// What a motion meets, looked for at about so many instants.
pub(super) fn crossings_among(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    load: Wrench<f64>,
    instants: usize,
) -> Result<Vec<Crossing>, SolveError> {
    let free = model.without_ranges();
    let mut signs = Signs { model: &free, probe: Probe::new(&free, mode), trajectory };
    let times = trajectory.times();
    let parts = (instants / times.len().max(1)).clamp(if times.len() > 100_000 { 1 } else { 4 }, instants.max(4));
    let mut found = Vec::new();
    let mut window: [Option<(f64, Vec<SingularFunction>)>; 2] = [None, signs.at(times[0]).map(|list| (times[0], list))];
    for pair in times.windows(2) {
        for k in 1..=parts {
            let t = if k == parts { pair[1] } else { pair[0] + (pair[1] - pair[0]) * k as f64 / parts as f64 };
            let now = signs.at(t).map(|list| (t, list));
            for (kind, block, t) in signs.met([window[0].as_ref(), window[1].as_ref(), now.as_ref()]) {
                let leg = block.map(|block| signs.legs(block));
                found.push(named(&free, mode, trajectory, load, (kind, leg, t))?);
            }
            if now.is_some() {
                window = [window[1].take(), now]; // across a lone instant without an answer, too
            }
        }
    }
    found.sort_by(|a: &Crossing, b| a.t.total_cmp(&b.t));
    let [start, end] = trajectory.span();
    found.dedup_by(|a, b| a.kind == b.kind && a.leg == b.leg && a.t - b.t <= 1e-7 * (end - start));
    Ok(found)
}

/// What is to be told of a crossing.
fn named(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    load: Wrench<f64>,
    (kind, leg, t): (Kind, Option<String>, f64),
) -> Result<Crossing, SolveError> {
    let motion = trajectory.at(t);
    let posture = inverse(model, &motion.pose, mode)?;
    let with = |friction: Option<Sign>| -> Result<Degeneracy, SolveError> {
        Ok(DriveBalance::along(model, &posture, &motion, &trajectory.jerk(t), friction, load)?.degeneracy())
    };
    let m = &motion.pose.R.0;
    let mut crossing = Crossing {
        kind: kind.word(),
        leg,
        t,
        position: motion.pose.p.into(),
        rotation: [0, 1, 2].map(|i| [m[(i, 0)], m[(i, 1)], m[(i, 2)]]),
        twist_lost: Vec::new(),
        criterion: Vec::new(),
        bounded: false,
        growth: Vec::new(),
        limit_efforts: None,
        limit_efforts_without_friction: None,
    };
    if kind == Kind::Type2 {
        let (plain, rubbed) = (with(None)?, with(Some(Sign::Sharp))?);
        crossing.bounded = rubbed.is_bounded();
        crossing.twist_lost = rubbed.lost.iter().map(|t_r| six(model, &posture, t_r)).collect();
        crossing.criterion = rubbed.criterion;
        crossing.growth = rubbed.growth;
        crossing.limit_efforts = rubbed.limit;
        crossing.limit_efforts_without_friction = plain.limit;
    }
    Ok(crossing)
}

/// The twist of the platform, components that follow included: `t_p = Ψ_t t_r`.
fn six(model: &Model<f64>, posture: &Posture, t_r: &[f64]) -> [f64; 6] {
    let mut all = [0.0; 6];
    model.topology().platform.independent.iter().zip(t_r).for_each(|(c, x)| all[c.index()] = *x);
    matrices_at(model, posture, None).map_or(all, |m| {
        let t_p = m.matrices.Psi_t.apply(t_r);
        std::array::from_fn(|i| t_p[i])
    })
}

/// What a motion takes, and the singularities on its way.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Efforts, limits, refusals.
    pub profile: Profile,
    /// Singularities, in the order of time.
    pub crossings: Vec<Crossing>,
}

impl Inspection {
    /// Drives whose efforts grow without bound somewhere. At an LPJTS singularity the pose does not tell whether they do.
    pub fn unbounded(&self) -> Vec<bool> {
        let n = self.profile.drives.len();
        let told = |c: &&Crossing| !c.bounded && c.kind() != Kind::Lpjts;
        let grows =
            |k: usize| self.crossings.iter().filter(told).any(|c| c.growth.get(k).is_none_or(|g| g.abs() > 1e-12));
        (0..n).map(grows).collect()
    }
}

/// Efforts along a motion, the limits it leaves, and the singularities it crosses; all rows are kept.
pub fn inspect_all(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    look: &Look<'_>,
) -> Result<Inspection, TrajectoryError> {
    let mut rows = Vec::with_capacity(rows_in_table(trajectory, look.step)?);
    let found = inspect(model, mode, trajectory, look, &mut |row| rows.push(row.clone()))?;
    Ok(Inspection { profile: Profile { rows, ..found.profile }, ..found })
}

/// Efforts along a motion, the limits it leaves, and the singularities it crosses; `each` hears of the rows.
pub fn inspect(
    model: &Model<f64>,
    mode: &WorkingMode,
    trajectory: &Trajectory,
    look: &Look<'_>,
    each: &mut dyn FnMut(&Row),
) -> Result<Inspection, TrajectoryError> {
    let failed = |why| TrajectoryError::Posture { sample: 0, why };
    let crossings = crossings(model, mode, trajectory, look.load).map_err(failed)?;
    let known = known_efforts(&crossings);
    let also = beside(model, trajectory, &crossings);
    let closer = Look { also: &also, known: &known, ..look.clone() };
    let profile = follow_with(model, mode, trajectory, &closer, each)?;
    Ok(Inspection { profile, crossings })
}

/// Limits of the efforts at crossings that have them.
pub(super) fn known_efforts(crossings: &[Crossing]) -> Vec<KnownEfforts> {
    let one = |c: &Crossing| {
        let (with, without) = (c.limit_efforts.clone()?, c.limit_efforts_without_friction.clone()?);
        c.bounded.then_some(KnownEfforts { t: c.t, efforts: without, with_friction: with })
    };
    crossings.iter().filter_map(one).collect()
}

/// Times beside crossings at which efforts that grow without bound are well beyond every limit of the drives.
fn beside(model: &Model<f64>, trajectory: &Trajectory, crossings: &[Crossing]) -> Vec<f64> {
    let limits = drive_limits(model);
    let [start, end] = trajectory.span();
    let mut times = Vec::new();
    for c in crossings.iter().filter(|c| !c.bounded) {
        let reach = |(g, l): (&f64, &crate::trajectory::DriveLimits)| l.effort.map(|limit| 0.1 * g.abs() / limit);
        let shortest =
            c.growth.iter().zip(&limits).filter_map(reach).filter(|dt| *dt > 0.0).fold(f64::INFINITY, f64::min);
        if shortest.is_finite() {
            let dt = shortest.clamp(1e-9, 1e-3 * (end - start));
            times.extend([c.t - dt, c.t + dt].into_iter().filter(|t| (start..end).contains(t)));
        }
    }
    times.sort_by(f64::total_cmp);
    times
}
