//! Inverse geometry: joints from the pose of the platform.

use super::{Group, Inputs, Outputs, Subject};
use crate::model::CoordId;
use crate::scalar::Real;

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let topology = subject.robot.model().topology();
    let outputs = vec![
        subject.joint_group("active", "active joints", &topology.active, "q", ""),
        subject.joint_group("passive", "passive joints", &topology.passive, "q", ""),
    ];
    (vec![subject.pose_group()], outputs)
}

/// Closed forms of section 7.1; angles are computed here and nowhere else.
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let pos = subject.close(&model, &inputs.pose);
    let topology = model.topology();
    let q = |c: &CoordId| pos.q(topology, *c);
    Outputs { values: topology.active.iter().chain(&topology.passive).map(q).collect(), system: None }
}
