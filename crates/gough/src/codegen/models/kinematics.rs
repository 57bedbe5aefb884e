//! First and second order: rates and accelerations of all joints from the motion of the platform, (7.95), (7.183).

use super::{Group, Inputs, Legs, Outputs, Subject};
use crate::scalar::Real;

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let topology = subject.robot.model().topology();
    let group =
        |name: &str, about: &str, coords: &[_], suffix: &str| subject.joint_group(name, about, coords, "q", suffix);
    let outputs = vec![
        group("active_rates", "rates of the active joints", &topology.active, "d"),
        group("passive_rates", "rates of the passive joints", &topology.passive, "d"),
        group("active_accelerations", "accelerations of the active joints", &topology.active, "dd"),
        group("passive_accelerations", "accelerations of the passive joints", &topology.passive, "dd"),
    ];
    (vec![subject.pose_group(), subject.twist_group(), subject.acceleration_group()], outputs)
}

/// Leg by leg, active and passive joints together.
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let pos = subject.close(&model, &inputs.pose);
    let legs = Legs::new(&model, &subject.plan, &pos, subject.motion(&inputs.twist, &inputs.acceleration));
    let topology = model.topology();
    let all = || topology.active.iter().chain(&topology.passive);
    let values = all().map(|c| legs.rates[*c]).chain(all().map(|c| legs.accels[*c])).collect();
    Outputs { values, system: None }
}
