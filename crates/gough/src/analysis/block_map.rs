//! Maps of what follows from the Jacobian or from efforts at rest, by a program over blocks of nodes.

use super::map::{Answer, Quantity, largest, lowest_stiffness, of_J};
use super::region::Region;
use crate::Robot;
use crate::codegen::ModelKind;
use crate::kinematics::{SolveError, WorkingMode};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::program::BlockProgram;
use std::sync::Arc;

/// As many nodes are worth a program.
const WORTH: usize = 1 << 12;

/// The program that the quantity follows from, where there is one and the nodes are worth it.
pub(super) fn program_for(
    robot: &Robot,
    mode: &WorkingMode,
    region: &Region,
    quantity: &Quantity,
) -> Option<Arc<BlockProgram>> {
    let kind = (region.len() >= WORTH).then(|| followed_from(robot, quantity))??;
    robot.program_by_matrix(kind, mode, false).ok()
}

/// What a quantity follows from by blocks: J⁻¹ where that is square, or the efforts of a motion.
pub(super) fn followed_from(robot: &Robot, quantity: &Quantity) -> Option<ModelKind> {
    let topology = robot.model().topology();
    let square = topology.active.len() == topology.platform.independent.len();
    match quantity {
        Quantity::OfJacobian(_) | Quantity::Effort(_) | Quantity::Stiffness(_) if square => Some(ModelKind::Jacobian),
        Quantity::Holding => Some(ModelKind::Idm),
        _ => None,
    }
}

/// Answers of nodes from the first on; places of those that are left to the general road.
pub(super) fn in_blocks(
    model: &Model<f64>,
    program: &BlockProgram,
    region: &Region,
    quantity: &Quantity,
    (first, answers): (usize, &mut [Answer]),
) -> Vec<usize> {
    let n = model.topology().active.len();
    let width = program.answer_width();
    let mut found = vec![0.0; answers.len() * width];
    let mut left = Vec::new();
    // What is beside the pose are its rates, which are zero.
    let row = |i: usize, row: &mut [f64]| {
        let (pose, rates) = row.split_at_mut(12);
        region.pose(&region.point(first + i)).write(pose);
        rates.fill(0.0);
    };
    program.run_with(answers.len(), row, &mut found, |i| left.push(i));
    let mut J_inv = Dense::zeros(n, n);
    let mut poor = left.iter().copied().peekable();
    let mut more = Vec::new();
    for (i, (answer, entries)) in answers.iter_mut().zip(found.chunks_exact(width)).enumerate() {
        if poor.next_if_eq(&i).is_some() {
            continue;
        }
        if *quantity == Quantity::Holding {
            *answer = Answer::Value(largest(entries));
            continue;
        }
        J_inv.data.copy_from_slice(entries);
        match value(model, quantity, &J_inv) {
            Some(Ok(x)) => *answer = Answer::Value(x),
            Some(Err(why)) => *answer = Answer::Refused(why.kind()),
            None => more.push(i),
        }
    }
    left.extend(more);
    left
}

/// The quantity from J⁻¹; none where it has no inverse that could be trusted.
fn value(model: &Model<f64>, quantity: &Quantity, J_inv: &Dense<f64>) -> Option<Result<f64, SolveError>> {
    if let Quantity::Stiffness(drives) = quantity {
        return Some(Ok(lowest_stiffness(model, J_inv, drives)));
    }
    let n = J_inv.rows;
    if let [a, b, c, d] = J_inv.data[..] {
        let det = a * d - b * c;
        let size = a.abs().max(b.abs()) * c.abs().max(d.abs());
        let J = Dense { rows: 2, cols: 2, data: vec![d / det, -b / det, -c / det, a / det] };
        return (det.abs() > 1e-6 * size).then(|| of_J(model, quantity, &J));
    }
    let J = J_inv.solve(&Dense::identity(n))?;
    Some(of_J(model, quantity, &J))
}
