//! Inertia and what motion needs besides: `M(x)` and `h(x, v)` of (8.162), for controllers that compute torques.

use super::ddm::{inertia_by_columns, inertia_by_legs};
use super::{Group, Inputs, Legs, Outputs, Subject};
use crate::scalar::Real;

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let components = subject.twist_group().entries;
    let n = components.len();
    let entries = (0..n).flat_map(|i| (0..n).map(move |j| format!("M{}_{}", i + 1, j + 1))).collect();
    let M = Group::new("M", format!("inertia on the components of the twist, {n} x {n}, row by row"), entries);
    let about = "Coriolis, centrifugal and gravity forces on the same components: M a + h = J_inv^T tau";
    let h = Group::new("h", about, components.iter().map(|c| format!("h_{c}")).collect());
    (vec![subject.pose_group(), subject.twist_group()], vec![M, h])
}

/// `M ṫ_r + h = J_invᵀ τ`, (8.162).
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let outside = subject.outside(&model, inputs);
    if let Some(rods) = &subject.rods {
        let pose = subject.pose(&model, &inputs.pose);
        let (M, h, _) = rods.inertia(subject, &model, &pose, &inputs.twist, &outside);
        return Outputs { values: M.data.into_iter().chain(h).collect(), system: None };
    }
    let pos = subject.close(&model, &inputs.pose);
    let inertias = subject.carrying(subject.inertias(&model), &outside.payload);
    let rest = vec![S::zero(); inputs.twist.len()];
    let legs = Legs::new(&model, &subject.plan, &pos, subject.motion(&inputs.twist, &rest));
    let mut h = subject.platform_system(&legs, &inertias, model.numbers().gravity, &legs.loads(subject.friction)).h;
    subject.relieved(&legs, &mut h, &outside.wrench);
    let M = inertia_by_legs(subject, &legs, &inertias)
        .unwrap_or_else(|| inertia_by_columns(subject, &model, &pos, &inertias));
    Outputs { values: M.data.into_iter().chain(h).collect(), system: None }
}
