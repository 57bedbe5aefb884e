//! Which singularity the end of a leg's reach is: Type 1, or LPJTS where passive joints alone are stretched.

use super::singularity::singularities;
use crate::kinematics::{AT_THE_END, Kind, SolveError, WorkingMode, between, inverse, inverse_at_limit};
use crate::model::Model;
use crate::spatial::Pose;

/// A refusal at a pose with the kind of its singularity: the inverse geometry takes every end of a leg's reach for Type 1,
/// because two working modes meet; where the leg's passive joints move by themselves it is an LPJTS. `inside` is a pose that
/// can be reached. Other refusals stay as they are.
pub fn named_end_of_reach(
    model: &Model<f64>,
    mode: &WorkingMode,
    pose: &Pose<f64>,
    inside: &Pose<f64>,
    refusal: SolveError,
) -> SolveError {
    // A pose outside by what the posture at the end is known to is at the end.
    let refusal = match refusal {
        SolveError::OutOfReach { leg, by }
            if by < AT_THE_END * model.size()
                && model.topology().plan.given.is_empty()
                && inverse_at_limit(model, pose, mode, inside).is_ok() =>
        {
            SolveError::AtLimit { leg }
        }
        other => other,
    };
    let leg = match &refusal {
        SolveError::AtLimit { leg } | SolveError::Singular { leg: Some(leg), kind: Kind::Type1 } => leg.clone(),
        _ => return refusal,
    };
    let free = model.without_ranges();
    // From a posture a little inside, which is known better than one at the end itself.
    let inward = |exponent: i32| inverse(&free, &between(pose, inside, 10.0_f64.powi(exponent)), mode).ok();
    let Some(posture) = (-9..-5).find_map(inward) else { return refusal };
    let report = singularities(&free, &posture);
    let loose = |kind: Kind| {
        let own = report.list.iter().filter(|s| s.kind == kind && s.leg.as_ref() == Some(&leg));
        own.map(|s| s.sigma).fold(f64::INFINITY, f64::min)
    };
    let passive = loose(Kind::Lpjts) < 1e-2 && loose(Kind::Lpjts) < loose(Kind::Type1);
    if passive { SolveError::Singular { leg: Some(leg), kind: Kind::Lpjts } } else { refusal }
}
