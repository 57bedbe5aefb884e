//! Inverse dynamics: efforts of the drives from the motion of the platform, (8.72).

use super::{Group, Inputs, Legs, Outputs, Solve, Subject};
use crate::scalar::Real;

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let inputs = vec![subject.pose_group(), subject.twist_group(), subject.acceleration_group()];
    (inputs, vec![subject.effort_group()])
}

/// `C τ = h`: the drives balance on the platform what motion and gravity need.
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let pos = subject.close(&model, &inputs.pose);
    let legs = Legs::new(&model, &subject.plan, &pos, subject.motion(&inputs.twist, &inputs.acceleration));
    let gravity = model.numbers().gravity;
    let system = subject.platform_system(&legs, &subject.inertias(&model), gravity, subject.friction);
    if subject.solve == Solve::Routine && system.C.rows == system.C.cols {
        return Outputs { values: system.scale, system: Some((system.C, system.h)) };
    }
    Outputs { values: subject.solve_drives(&system), system: None }
}
