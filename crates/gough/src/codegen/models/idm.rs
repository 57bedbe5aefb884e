//! Inverse dynamics: efforts of the drives from the motion of the platform, (8.72).

use super::regressor::{parameter_group, weighted};
use super::{Group, Inputs, Legs, Outputs, Solve, Subject};
use crate::scalar::Real;

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let mut inputs = vec![subject.pose_group(), subject.twist_group(), subject.acceleration_group()];
    inputs.extend(subject.columns.as_ref().map(parameter_group));
    (inputs, vec![subject.effort_group()])
}

/// `C τ = h`: the drives balance on the platform what motion and gravity need, with the masses of the file or with dynamic
/// parameters that are inputs.
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let outside = subject.outside(&model, inputs);
    if let Some(rods) = &subject.rods {
        let motion = subject.motion(&inputs.twist, &inputs.acceleration);
        let values = rods.efforts(subject, &model, &subject.pose(&model, &inputs.pose), motion, &outside);
        return Outputs { values, system: None };
    }
    let pos = subject.close(&model, &inputs.pose);
    let legs = Legs::new(&model, &subject.plan, &pos, subject.motion(&inputs.twist, &inputs.acceleration));
    let (inertias, loads) = if let Some(set) = &subject.columns {
        weighted(&legs, set, &inputs.chi)
    } else {
        let all = subject.carrying(subject.inertias(&model), &outside.payload);
        (all, legs.loads(subject.friction))
    };
    let mut system = subject.platform_system(&legs, &inertias, model.numbers().gravity, &loads);
    subject.relieved(&legs, &mut system.h, &outside.wrench);
    if subject.solve == Solve::Routine && system.C.rows == system.C.cols {
        return Outputs { values: system.scale, system: Some((system.C, system.h)) };
    }
    Outputs { values: subject.solve_drives(&system), system: None }
}
