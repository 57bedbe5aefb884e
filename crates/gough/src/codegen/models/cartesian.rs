//! Inertia and stiffness of the platform by the Cartesian method: the entries of the upper triangles that are not zero.

use super::mass_stiffness::filled;
use super::{Group, Inputs, Outputs, Subject};
use crate::codegen::CodegenError;
use crate::elastodynamics::Actuators;
use crate::elastodynamics::cartesian::{CartesianModel, CartesianPlan, Choices, assemble_cartesian};
use crate::elastodynamics::plan::BeamSlider;
use crate::kinematics::{Positions, pose_bodies};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::Real;
use std::sync::Arc;

/// The plan, and the places of the entries of M, K_R and K_F.
#[derive(Clone)]
pub(in crate::codegen) struct PlatformMatrices {
    plan: Arc<CartesianPlan>,
    places: [Vec<(usize, usize)>; 3],
}

impl PlatformMatrices {
    /// Plan at the first of some postures; what is zero at all of them is left out.
    pub fn new(model: &Model<f64>, actuators: Actuators, postures: &[Positions<f64>]) -> Result<Self, CodegenError> {
        let choices = Choices { actuators, ..Choices::of(model) };
        BeamSlider::refuse_any(model, &postures[0]).map_err(CodegenError::Elastic)?;
        let plan = Arc::new(CartesianPlan::new(model, choices, &postures[0]));
        if plan.rigid.rows.len() == 6 {
            return Err(CodegenError::NothingFlexible);
        }
        let mut matrices = Self { plan, places: [const { Vec::new() }; 3] };
        let samples: Vec<[Dense<f64>; 3]> = postures.iter().map(|pos| matrices.at(model, pos)).collect();
        matrices.places = [0, 1, 2].map(|k| filled(&samples, k));
        Ok(matrices)
    }

    fn at<S: Real>(&self, model: &Model<S>, pos: &Positions<S>) -> [Dense<S>; 3] {
        let cartesian = CartesianModel::new(model, &self.plan);
        let mut data = cartesian.data();
        assemble_cartesian(model, &cartesian, pos, &mut data);
        [data.M, data.K_R, data.K_F].map(|A| Dense { rows: 6, cols: 6, data: A.concat() })
    }
}

const NAMES: [(&str, &str); 3] =
    [("M", "inertia"), ("K_R", "stiffness of the drives alone"), ("K_F", "stiffness of drives, joints and links")];

pub(super) fn signature(subject: &Subject<'_>) -> (Vec<Group>, Vec<Group>) {
    let group = |((name, what), places): ((&str, &str), &Vec<(usize, usize)>)| {
        let about = format!(
            "{what}, 6 x 6 on [v; w] of the platform origin in world axes: entries of the upper triangle that are not zero, row by row"
        );
        Group::new(name, about, places.iter().map(|(i, j)| format!("{name}{}_{}", i + 1, j + 1)).collect())
    };
    let outputs = NAMES.into_iter().zip(&subject.platform_matrices().places).map(group).collect();
    (vec![subject.pose_group()], outputs)
}

pub(super) fn evaluate<S: Real>(subject: &Subject<'_>, inputs: &Inputs<S>) -> Outputs<S> {
    let matrices = subject.platform_matrices();
    let model = subject.model(&inputs.parameters);
    let mut pos = subject.close(&model, &inputs.pose);
    pose_bodies(&model, &mut pos);
    let all = matrices.at(&model, &pos);
    let entries = all.iter().zip(&matrices.places).flat_map(|(A, p)| p.iter().map(|(i, j)| A.at(*i, *j)));
    Outputs { values: entries.collect(), system: None }
}
