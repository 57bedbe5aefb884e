//! Plans of motions through LPJTS singularities, into another working mode of one leg, sections 9.3.2 and 9.5.
//!
//! The platform is at the end of the leg's reach there: its pose is a poor coordinate, from which joints follow to half of
//! their digits. So the motion is written in the coordinates of that leg, which pass the singularity smoothly.

use super::leg_driven::LegDriven;
use super::refusal::PlanError;
use crate::dynamics::newton_euler::Sign;
use crate::kinematics::{Kind, SolveError, WorkingMode, inverse};
use crate::model::{CoordId, CoordKind, LegId, Model};
use crate::spatial::Pose;
use crate::trajectory::{Condition, Jerky, Polynomial, TimeLaw, TrajectoryError};
use serde::Serialize;

/// A motion through an LPJTS singularity, in the coordinates of its leg.
#[derive(Clone, Debug)]
pub struct LegPlan {
    /// The leg.
    pub leg: LegId,
    /// One polynomial per coordinate of the leg.
    pub polynomials: Vec<Polynomial>,
    /// How long it takes.
    pub duration: f64,
    /// What is met.
    pub crossing: LegCrossing,
}

/// An LPJTS singularity that a motion crosses.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LegCrossing {
    /// `lpjts`.
    pub kind: &'static str,
    /// The leg.
    pub leg: String,
    /// When.
    pub t: f64,
    /// Position of the platform.
    pub position: [f64; 3],
    /// Coordinates of the leg.
    pub q: Vec<f64>,
    /// Rates of the leg's joints that move nothing else.
    pub joints_lost: Vec<(String, f64)>,
    /// `q̇_dˢᵀ τ_td`, in newtons: motions of length one, angles counted at the length scale of the robot.
    pub criterion: f64,
    /// Efforts at the crossing, friction included, as a limit.
    pub limit_efforts: Vec<f64>,
    /// Working mode before.
    pub mode_before: String,
    /// Working mode after.
    pub mode_after: String,
}

impl LegPlan {
    /// The motion of the leg at a time.
    pub fn at(&self, t: f64) -> Vec<Jerky> {
        self.polynomials.iter().map(|p| p.at(t.clamp(0.0, self.duration))).collect()
    }
}

/// A motion from rest in one working mode to rest in another that differs in one leg, through the LPJTS singularity at which
/// the two modes meet.
pub fn plan_passive(
    model: &Model<f64>,
    from: (&Pose<f64>, &WorkingMode),
    to: (&Pose<f64>, &WorkingMode),
    duration: f64,
) -> Result<LegPlan, PlanError> {
    let t = model.topology();
    let differs = |id: &LegId| from.1.signs()[t.legs[*id].roots.clone()] != to.1.signs()[t.legs[*id].roots.clone()];
    let legs: Vec<LegId> = t.legs.iter().map(|(id, _)| id).filter(differs).collect();
    let [leg] = legs[..] else { return Err(PlanError::OneLegOnly { legs: legs.len() }) };
    let driven = LegDriven::new(model, from.1, leg)?;
    let own = driven.coordinates();
    if own.iter().all(|c| t.coords[*c].kind != CoordKind::Passive) {
        return Err(PlanError::LegDoesNotLead { leg: t.legs[leg].name.clone() });
    }
    let q =
        |(pose, mode): (&Pose<f64>, &WorkingMode)| Ok::<_, PlanError>(inverse(model, pose, mode)?.joints(model, &own));
    let (first, last) = (q(from)?, q(to)?);
    let law = TimeLaw::Poly5.over(0.0, duration);
    let nominal = |time: f64| -> Vec<Jerky> {
        let law = law.at(time);
        let jet = |(x, y): (&f64, &f64)| [x + law[0] * (y - x), law[1] * (y - x), law[2] * (y - x), law[3] * (y - x)];
        first.iter().zip(&last).map(jet).collect()
    };
    let sign = |time: f64| driven.sign(&nominal(time).iter().map(|j| j[0]).collect::<Vec<_>>());
    let (mut low, mut high, before) = (0.0, duration, sign(0.0)? > 0.0);
    if (sign(duration)? > 0.0) == before {
        return Err(PlanError::NothingToCross);
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        *(if (sign(middle)? > 0.0) == before { &mut low } else { &mut high }) = middle;
    }
    let jets = compliant(&driven, nominal(low))?;
    let polynomial = |k: usize| {
        let rest = |time: f64, x: f64| Condition::jet(time, [x, 0.0, 0.0]);
        let [x, v, a, _] = jets[k];
        Polynomial::through(&[rest(0.0, first[k]), Condition::jet(low, [x, v, a]), rest(duration, last[k])].concat())
    };
    let polynomials: Option<Vec<Polynomial>> = (0..own.len()).map(polynomial).collect();
    let polynomials = polynomials.ok_or(TrajectoryError::Contradiction)?;
    let jets: Vec<Jerky> = polynomials.iter().map(|p| p.at(low)).collect();
    let found = driven.degeneracy(&jets, Some(Sign::Sharp))?;
    let bounded = found.is_bounded();
    let limit_efforts = found.limit.filter(|_| bounded).ok_or(PlanError::NotFound { tried: 1 })?;
    let name = |c: &CoordId| t.coords[*c].name.clone();
    let crossing = LegCrossing {
        kind: Kind::Lpjts.word(),
        leg: t.legs[leg].name.clone(),
        t: low,
        position: driven.platform(&jets)[0],
        q: jets.iter().map(|j| j[0]).collect(),
        joints_lost: own.iter().map(name).zip(found.lost[0].iter().copied()).collect(),
        criterion: found.criterion[0],
        limit_efforts,
        mode_before: from.1.name(t),
        mode_after: to.1.name(t),
    };
    Ok(LegPlan { leg, polynomials, duration, crossing })
}

/// The motion with the accelerations of the leg that meet the criterion and differ least: it is linear in them.
fn compliant(driven: &LegDriven<'_>, mut jets: Vec<Jerky>) -> Result<Vec<Jerky>, PlanError> {
    let value =
        |jets: &[Jerky]| -> Result<f64, PlanError> { Ok(driven.degeneracy(jets, Some(Sign::Sharp))?.criterion[0]) };
    let here = value(&jets)?;
    let slope = |k: usize| {
        let mut moved = jets.clone();
        moved[k][2] += 1.0;
        Ok::<_, PlanError>(value(&moved)? - here)
    };
    let slopes = (0..jets.len()).map(slope).collect::<Result<Vec<f64>, _>>()?;
    let square: f64 = slopes.iter().map(|s| s * s).sum();
    if square > 0.0 {
        jets.iter_mut().zip(slopes).for_each(|(jet, s)| jet[2] -= here * s / square);
    }
    Ok(jets)
}

/// Where the efforts of a plan alone, without friction, bring the robot from rest.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LegArrival {
    /// How far the platform is from where the plan ends, m.
    pub off: f64,
    /// Whether the leg stands beyond the singularity, in the working mode of the plan's end.
    pub beyond: bool,
}

/// The plan simulated: its efforts act on the robot in so many steps, in the coordinates of the leg, through the singularity.
pub fn simulate_leg(leg: &LegDriven<'_>, plan: &LegPlan, steps: u32) -> Result<LegArrival, SolveError> {
    let start: Vec<f64> = plan.at(0.0).iter().map(|jet| jet[0]).collect();
    let efforts = |t: f64| leg.efforts(&plan.at(t), None).unwrap_or_else(|_| plan.crossing.limit_efforts.clone());
    let ended = driven_by(leg, &start, &efforts, plan.duration, steps)?;
    let found: Vec<Jerky> = ended.iter().map(|[q, v]| [*q, *v, 0.0, 0.0]).collect();
    let [at, goal] = [leg.platform(&found)[0], leg.platform(&plan.at(plan.duration))[0]];
    let off = at.iter().zip(goal).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let sign = |q: &[f64]| leg.sign(q).map(|s| s > 0.0);
    let beyond = sign(&start)? != sign(&ended.iter().map(|x| x[0]).collect::<Vec<_>>())?;
    Ok(LegArrival { off, beyond })
}

/// Where the leg's coordinates are after efforts over time have acted on the robot from rest: Runge-Kutta of fourth order, in
/// the coordinates of the leg, so that it passes its singularities.
pub fn driven_by(
    leg: &LegDriven<'_>,
    start: &[f64],
    efforts: &dyn Fn(f64) -> Vec<f64>,
    duration: f64,
    steps: u32,
) -> Result<Vec<[f64; 2]>, SolveError> {
    let n = start.len();
    let h = duration / f64::from(steps);
    let rate = |t: f64, y: &[f64]| -> Result<Vec<f64>, SolveError> {
        let a = leg.accelerations(&y[..n], &y[n..], &efforts(t), None)?;
        Ok(y[n..].iter().copied().chain(a).collect())
    };
    let add = |y: &[f64], k: &[f64], s: f64| y.iter().zip(k).map(|(y, k)| y + s * k).collect::<Vec<f64>>();
    let mut y: Vec<f64> = start.iter().copied().chain(vec![0.0; n]).collect();
    for i in 0..steps {
        let t = h * f64::from(i);
        let k1 = rate(t, &y)?;
        let k2 = rate(t + 0.5 * h, &add(&y, &k1, 0.5 * h))?;
        let k3 = rate(t + 0.5 * h, &add(&y, &k2, 0.5 * h))?;
        let k4 = rate(t + h, &add(&y, &k3, h))?;
        for (j, y) in y.iter_mut().enumerate() {
            *y += h / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j]);
        }
    }
    Ok((0..n).map(|k| [y[k], y[n + k]]).collect())
}
