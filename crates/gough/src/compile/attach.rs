//! What must hang together: the platform, every leg and every drive are tied to something that moves with them.

use super::mobility::span_of_joint;
use crate::description::{Diagnostic, Fault, Span};
use crate::kinematics::{closure, newton};
use crate::model::{CoordId, Model};

/// The platform, every leg and every drive must be tied to something that moves with them.
pub(super) fn check_attached(model: &Model<f64>) -> Result<(), Vec<Diagnostic>> {
    let topology = model.topology();
    let unattached = |body: &str, at: Span| Diagnostic::new(Fault::Unattached { body: body.to_owned() }, at);
    if !newton::platform_is_attached(model) {
        return Err(vec![unattached("platform", topology.platform.span)]);
    }
    let mut moving: Vec<CoordId> = Vec::new();
    for side in topology.closures.values().flat_map(|c| c.sides) {
        closure::movers(model, side, None, &mut |c, _, _| moving.push(c));
    }
    let loose = |c: &CoordId| !moving.contains(c);
    let legs = topology.legs.values().filter(|l| !l.coords.is_empty() && l.coords.iter().all(|c| loose(&c)));
    let first_of_legs = legs.filter_map(|l| l.coords.iter().next());
    let drives = topology.active.iter().copied().filter(loose);
    let mut faults: Vec<CoordId> = drives.chain(first_of_legs).collect();
    faults.sort_unstable();
    faults.dedup();
    let fault = |c: &CoordId| {
        let name = &topology.coords[*c].name;
        unattached(name, span_of_joint(model.description(), name))
    };
    if faults.is_empty() { Ok(()) } else { Err(faults.iter().map(fault).collect()) }
}
