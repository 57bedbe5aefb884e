//! The regressor of inverse dynamics: efforts of the drives for a unit of each dynamic parameter, (8.256)-(8.265).

use super::{Group, Inertias, Inputs, Legs, Loads, Outputs, Subject};
use crate::dynamics::newton_euler::Sign;
use crate::dynamics::regressor::{ColumnSource, ParameterKind, StandardSet, friction_column};
use crate::scalar::Real;

/// Dynamic parameters as inputs.
pub(super) fn parameter_group(set: &StandardSet) -> Group {
    let names = set.parameters.iter().map(|p| p.name.clone()).collect();
    Group::new("chi", "dynamic parameters, SI", names)
}

fn set<'a>(subject: &'a Subject<'_>) -> &'a StandardSet {
    subject.columns.as_ref().expect("parameters are chosen before the regressor is asked for")
}

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let inputs = vec![subject.pose_group(), subject.twist_group(), subject.acceleration_group()];
    let (rows, columns) = (subject.effort_group().entries, parameter_group(set(subject)).entries);
    let about = format!(
        "regressor, {} x {}, row by row: efforts of the drives for a unit of each of {}",
        rows.len(),
        columns.len(),
        columns.join(", ")
    );
    let entry = |row: &String| columns.iter().map(|c| format!("{row}/{c}")).collect::<Vec<_>>();
    (inputs, vec![Group::new("Y", about, rows.iter().flat_map(entry).collect())])
}

/// Column by column: `C y_j = h_j` with the unit of one parameter and nothing else.
pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let model = subject.model(&inputs.parameters);
    let pos = subject.close(&model, &inputs.pose);
    let legs = Legs::new(&model, &subject.plan, &pos, subject.motion(&inputs.twist, &inputs.acceleration));
    let set = set(subject);
    let n = set.parameters.len();
    let column = |j: usize| {
        let unit: Vec<S> = (0..n).map(|k| if k == j { S::one() } else { S::zero() }).collect();
        let (inertias, loads) = weighted(&legs, set, &unit);
        subject.solve_drives(&subject.platform_system(&legs, &inertias, model.numbers().gravity, &loads))
    };
    let columns: Vec<Vec<S>> = (0..n).map(column).collect();
    let rows = columns.first().map_or(0, Vec::len);
    let values = (0..rows).flat_map(|i| columns.iter().map(move |c| c[i])).collect();
    Outputs { values, system: None }
}

/// What dynamic parameters make of a robot, linear in them: the inertias of its bodies, and what its joints and closures meet.
pub(super) fn weighted<S: Real>(legs: &Legs<'_, S>, set: &StandardSet, chi: &[S]) -> (Inertias<S>, Loads<S>) {
    let (bodies, platform) = set.inertias(legs.model, chi);
    let numbers = legs.model.numbers();
    let mut loads = Loads { joints: legs.rates.map(|_, _| S::zero()), moments: Vec::new() };
    for (p, x) in set.parameters.iter().zip(chi) {
        match &p.source {
            ColumnSource::Inertia { .. } => {}
            ColumnSource::Coords(coords) => {
                for c in coords {
                    let effort = match p.quantity {
                        ParameterKind::Rotor => legs.accels[*c],
                        quantity => friction_column(quantity, Some(&numbers.joints[*c]), legs.rates[*c], Sign::Sharp),
                    };
                    loads.joints[*c] += *x * effort;
                }
            }
            ColumnSource::Closure(c) => {
                let (rate, [(a, z_a), (b, z_b)]) = legs.closure_turning(*c);
                let effort = *x * friction_column(p.quantity, None, rate, Sign::Sharp);
                loads.moments.extend([(a, z_a * -effort), (b, z_b * effort)]);
            }
        }
    }
    (Inertias { bodies, platform }, loads)
}
