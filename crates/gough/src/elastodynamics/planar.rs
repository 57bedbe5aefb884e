//! Planar models: motions in the x-y plane only, three coordinates per frame.

use super::error::ElasticError;
use super::numbers::ElasticNumbers;
use super::plan::{ElasticPlan, Place};
use crate::kinematics::Positions;
use crate::model::Model;
use crate::spatial::{Rotation, Vec3};

/// How far from zero a direction cosine may be.
const FLAT: f64 = 1e-9;

fn not_planar(model: &Model<f64>, place: Place, what: &str) -> ElasticError {
    let name = model.topology().node_name(place.host());
    ElasticError::NotPlanar { what: format!("{what} of `{name}`") }
}

/// The axis of a frame that stands on the plane.
fn normal(R: &Rotation<f64>) -> Option<usize> {
    (0..3).find(|k| R.column(*k).xy().norm() < FLAT)
}

/// Components of a root's motion that stay in the plane: the two translations across the normal, the rotation about it.
pub(super) fn components(model: &Model<f64>, place: &Place, pos: &Positions<f64>) -> Result<Vec<usize>, ElasticError> {
    let R_WM = pos.node(place.host()).R;
    let R = match place {
        Place::Node(b, _) => model.numbers().beams[*b].as_ref().map_or(R_WM, |beam| R_WM * beam.X_MN.R),
        _ => R_WM,
    };
    let n = normal(&R).ok_or_else(|| not_planar(model, *place, "no axis is normal to it: the axes"))?;
    Ok((0..3).filter(|k| *k != n).chain(std::iter::once(3 + n)).collect())
}

/// Whether every motion that the plan allows stays in the plane, at a posture.
pub(super) fn check(model: &Model<f64>, plan: &ElasticPlan, pos: &Positions<f64>) -> Result<(), ElasticError> {
    let numbers = ElasticNumbers::new(model, plan);
    let mut columns = Vec::new();
    for (f, frame) in plan.frames.iter().enumerate().skip(1) {
        let X = numbers.pose(plan, f, pos);
        numbers.full_columns(model, plan, f, pos, &mut columns);
        for c in &columns {
            let v: Vec3<f64> = X.R.apply(Vec3::new(c[0], c[1], c[2]));
            let w: Vec3<f64> = X.R.apply(Vec3::new(c[3], c[4], c[5]));
            if v.z.abs() > FLAT * (1.0 + v.norm()) || w.xy().norm() > FLAT * (1.0 + w.norm()) {
                return Err(not_planar(model, frame.place, "the motion"));
            }
        }
    }
    Ok(())
}
