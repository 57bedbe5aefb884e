//! Direct dynamics: acceleration of the platform under efforts of the drives, (8.162)-(8.165).

use super::{Group, Inertias, Inputs, Legs, Outputs, PlatformRates, Solve, Subject, System};
use crate::kinematics::Positions;
use crate::linalg::small::Dense;
use crate::model::{ClosureId, LegId, Model};
use crate::scalar::Real;
use crate::spatial::{Mat3, Rotation, Vec3, Wrench};

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let inputs = vec![subject.pose_group(), subject.twist_group(), subject.effort_group()];
    (inputs, vec![subject.acceleration_group()])
}

/// `M ṫ_r = C τ - c`, (8.162).
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let outside = subject.outside(&model, inputs);
    if let Some(rods) = &subject.rods {
        let pose = subject.pose(&model, &inputs.pose);
        let (M, h, C) = rods.inertia(subject, &model, &pose, &inputs.twist, &outside);
        let b: Vec<S> = C.apply(&inputs.efforts).into_iter().zip(h).map(|(f, h)| f - h).collect();
        return solved(subject, M, b);
    }
    let pos = subject.close(&model, &inputs.pose);
    let inertias = subject.carrying(subject.inertias(&model), &outside.payload);
    let rest = vec![S::zero(); inputs.twist.len()];
    let legs = Legs::new(&model, &subject.plan, &pos, subject.motion(&inputs.twist, &rest));
    let gravity = model.numbers().gravity;
    let System { C, h: mut c, scale } =
        subject.platform_system(&legs, &inertias, gravity, &legs.loads(subject.friction));
    subject.relieved(&legs, &mut c, &outside.wrench);
    let M = match inertia_by_legs(subject, &legs, &inertias) {
        Some(M) => M,
        None => inertia_by_columns(subject, &model, &pos, &inertias),
    };
    let x: Vec<S> = inputs.efforts.iter().zip(scale).map(|(tau, k)| *tau * k.recip()).collect();
    let driven = C.apply(&x);
    let b: Vec<S> = driven.into_iter().zip(c).map(|(h, c)| h - c).collect();
    solved(subject, M, b)
}

/// The acceleration, or the system that a routine solves for it.
fn solved<S: Real>(subject: &Subject<'_>, M: Dense<S>, b: Vec<S>) -> Outputs<S> {
    if subject.solve == Solve::Routine {
        return Outputs { values: vec![S::one(); b.len()], system: Some((M, b)) };
    }
    Outputs { values: super::solve_symmetric(&M, &b), system: None }
}

/// Unit motions of the platform, one per independent component.
pub(in crate::codegen) fn units<S: Real>(subject: &Subject<'_>) -> Vec<PlatformRates<S>> {
    let n = subject.twist_group().entries.len();
    let unit = |k: usize| (0..n).map(|i| if i == k { S::one() } else { S::zero() }).collect::<Vec<S>>();
    (0..n).map(|k| subject.motion(&vec![S::zero(); n], &unit(k))).collect()
}

/// Column k is what the k-th unit acceleration needs at rest and without weight. The upper triangle is computed, the lower
/// follows.
pub(super) fn inertia_by_columns<S: Real>(
    subject: &Subject<'_>,
    model: &Model<S>,
    pos: &Positions<S>,
    inertias: &Inertias<S>,
) -> Dense<S> {
    let columns = units(subject).into_iter().map(|motion| {
        let legs = Legs::new(model, &subject.plan, pos, motion);
        subject.component(&legs.platform_wrenches(inertias, Vec3::zeros(), &legs.loads(false), None), 0)
    });
    symmetric(&columns.collect::<Vec<_>>())
}

/// `M = M_p + Σ [D, D r̂ᵀ; r̂ D, r̂ D r̂ᵀ]` over legs that hold the platform by points; `None` where one does not.
pub(super) fn inertia_by_legs<S: Real>(
    subject: &Subject<'_>,
    legs: &Legs<'_, S>,
    inertias: &Inertias<S>,
) -> Option<Dense<S>> {
    let model = subject.robot.model();
    let tips: Option<Vec<(LegId, ClosureId)>> =
        model.topology().legs.ids().map(|leg| Some((leg, subject.plan.tip(model, leg)?))).collect();
    let tips: Vec<(Mat3<S>, Vec3<S>)> = tips?.into_iter().map(|(leg, c)| legs.tip_inertia(leg, c, inertias)).collect();
    let columns = units(subject).into_iter().map(|motion| {
        let mut F = legs.needed_by_platform(&inertias.platform, motion, Vec3::zeros());
        for (D, r) in &tips {
            let f = Rotation(*D).apply(motion.A.a + motion.A.alpha.cross(r));
            F = F + Wrench { f, m: r.cross(&f) };
        }
        subject.component(&vec![F], 0)
    });
    Some(symmetric(&columns.collect::<Vec<_>>()))
}

/// The matrix with these columns, of which only the upper triangle is looked at.
pub(in crate::codegen) fn symmetric<S: Real>(columns: &[Vec<S>]) -> Dense<S> {
    let mut M = Dense::zeros(columns.len(), columns.len());
    for (k, column) in columns.iter().enumerate() {
        for (i, x) in column.iter().enumerate().take(k + 1) {
            *M.at_mut(i, k) = *x;
            *M.at_mut(k, i) = *x;
        }
    }
    M
}
