//! Mass and stiffness of a flexible robot around a posture: the entries of the upper triangles that are not zero, in nodal
//! coordinates in the axes of the legs or in the relative ones of chapters 10 and 11.

use super::{Group, Inputs, Outputs, Subject};
use crate::Robot;
use crate::codegen::sight::{Alike, FromBodies};
use crate::codegen::{CodegenError, ElasticCoordinates};
use crate::elastodynamics::plan::BeamSlider;
use crate::elastodynamics::relative::{RelativePlan, relative_matrices};
use crate::elastodynamics::{Actuators, ElasticError, ElasticModel, ElasticPlan, Sight, assemble};
use crate::kinematics::Positions;
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::Real;
use std::sync::Arc;

/// Coordinates and the places of the entries.
#[derive(Clone)]
pub(in crate::codegen) struct MassStiffness {
    plan: CoordinatePlan,
    alike: Alike,
    /// What each coordinate is.
    names: Vec<String>,
    /// Row and column of each entry of the mass.
    M: Vec<(usize, usize)>,
    /// Of the stiffness.
    K: Vec<(usize, usize)>,
}

#[derive(Clone)]
enum CoordinatePlan {
    Nodal(Arc<ElasticPlan>),
    Relative(Arc<RelativePlan>),
}

/// Entries below this part of the geometric mean of their diagonal, at every posture looked at, are zero by structure.
const ZERO: f64 = 1e-12;

impl MassStiffness {
    /// Plan at the first of some postures; what is zero at all of them is left out.
    pub fn new(
        robot: &Robot,
        coordinates: ElasticCoordinates,
        actuators: Actuators,
        postures: &[Positions<f64>],
        alike: Alike,
    ) -> Result<Self, CodegenError> {
        let model = robot.model();
        BeamSlider::refuse_any(model, &postures[0]).map_err(refused)?;
        let (plan, names) = match coordinates {
            ElasticCoordinates::Nodal => {
                let plan = ElasticPlan::new(model, actuators, &postures[0]).map_err(refused)?;
                let names = plan.coordinate_names(model);
                (CoordinatePlan::Nodal(Arc::new(plan)), names)
            }
            ElasticCoordinates::Relative => {
                let plan = RelativePlan::new(model, actuators, &postures[0]).map_err(refused)?;
                let names = plan.independent().iter().map(|k| plan.coordinate_name(model, *k)).collect();
                (CoordinatePlan::Relative(Arc::new(plan)), names)
            }
        };
        let mut matrices = Self { plan, alike, names, M: Vec::new(), K: Vec::new() };
        let samples: Vec<[Dense<f64>; 2]> = postures.iter().map(|pos| matrices.at(model, pos)).collect();
        matrices.M = filled(&samples, 0);
        matrices.K = filled(&samples, 1);
        if matrices.K.is_empty() { Err(CodegenError::NothingFlexible) } else { Ok(matrices) }
    }

    /// Mass and stiffness, whole.
    fn at<S: Real, P: Sight<S>>(&self, model: &Model<S>, pos: &P) -> [Dense<S>; 2] {
        match &self.plan {
            CoordinatePlan::Nodal(plan) => {
                let elastic = ElasticModel::new(model, plan);
                let mut data = elastic.data();
                assemble(model, &elastic, pos, &mut data);
                [data.M.dense(), data.K.dense()]
            }
            CoordinatePlan::Relative(plan) => {
                let matrices = relative_matrices(model, plan, pos);
                [matrices.M, matrices.K]
            }
        }
    }
}

fn refused(why: ElasticError) -> CodegenError {
    match why {
        ElasticError::NothingMoves => CodegenError::NothingFlexible,
        why => CodegenError::Elastic(why),
    }
}

/// Places above the diagonal, or on it, where one of the samples is not zero.
pub(super) fn filled<const N: usize>(samples: &[[Dense<f64>; N]], which: usize) -> Vec<(usize, usize)> {
    let n = samples[0][which].rows;
    let is_filled = |i: usize, j: usize| {
        samples.iter().map(|s| &s[which]).any(|A| A.at(i, j).abs() > ZERO * (A.at(i, i) * A.at(j, j)).abs().sqrt())
    };
    (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).filter(|(i, j)| is_filled(*i, *j)).collect()
}

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let matrices = subject.matrices();
    let group = |name: &str, what: &str, places: &[(usize, usize)]| {
        let n = matrices.names.len();
        let about = format!("{what}, {n} x {n}: entries of the upper triangle that are not zero, row by row");
        Group::new(name, about, places.iter().map(|(i, j)| format!("{name}{}_{}", i + 1, j + 1)).collect())
    };
    let outputs = vec![group("M", "mass", &matrices.M), group("K", "stiffness", &matrices.K)];
    (vec![subject.pose_group()], outputs)
}

/// What the rows and columns are.
pub(in crate::codegen) fn coordinates(subject: &Subject<'_>) -> String {
    let names = &subject.matrices().names;
    let numbered: Vec<String> = names.iter().enumerate().map(|(k, name)| format!("{} {name}", k + 1)).collect();
    format!("rows and columns: {}", numbered.join(", "))
}

pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let matrices = subject.matrices();
    let model = subject.model(&inputs.parameters);
    let pos = subject.close(&model, &inputs.pose);
    let [M, K] = matrices.at(&model, &FromBodies::new(&model, &subject.plan, &matrices.alike, &pos));
    let entries =
        |A: &Dense<S>, places: &[(usize, usize)]| places.iter().map(|(i, j)| A.at(*i, *j)).collect::<Vec<S>>();
    Outputs { values: [entries(&M, &matrices.M), entries(&K, &matrices.K)].concat(), system: None }
}
