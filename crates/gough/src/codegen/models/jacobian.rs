//! Inverse Jacobian, `q̇_a = J_inv t_r`, (7.63): what each drive gives to the platform, transposed.

use super::{Group, Inputs, Legs, Outputs, Subject, System};
use crate::scalar::Real;

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let rows = subject.effort_group().entries.len();
    let columns = subject.twist_group().entries.len();
    let entries = (0..rows).flat_map(|i| (0..columns).map(move |j| format!("J{}_{}", i + 1, j + 1))).collect();
    let about = format!("inverse Jacobian, {rows} x {columns}, row by row: active rates from the twist");
    (vec![subject.pose_group()], vec![Group::new("J_inv", about, entries)])
}

pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let pos = subject.close(&model, &inputs.pose);
    let zero = vec![S::zero(); subject.twist_group().entries.len()];
    let legs = Legs::new(&model, &subject.plan, &pos, subject.motion(&zero, &zero));
    let System { C, scale, .. } = subject.drives_alone(&legs);
    let r: Vec<S> = scale.iter().map(|k| k.recip()).collect();
    let values = (0..C.cols).flat_map(|k| (0..C.rows).map(|i| C.at(i, k) * r[k]).collect::<Vec<S>>()).collect();
    Outputs { values, system: None }
}
