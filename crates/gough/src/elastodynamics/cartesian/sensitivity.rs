//! How the frequencies of the Cartesian method depend on the parameters of the robot file, by dual numbers.

use super::driver::{Cartesian, same_frequencies, solve};
use super::kernel::{assemble_cartesian, on_basis};
use super::numbers::CartesianModel;
use crate::elastodynamics::error::ElasticError;
use crate::elastodynamics::vibration::Sensitivity;
use crate::kinematics::{Positions, WorkingMode};
use crate::linalg::dense::{Matrix, symmetric_eigenvalues};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::Dual;
use std::f64::consts::TAU;

impl Cartesian<'_> {
    /// Derivatives of the frequencies with everything that gives way by every parameter of the file, the pose staying the same.
    /// Equal frequencies part when a parameter changes: their slopes are those of the branches.
    pub fn sensitivities(&self, mode: &WorkingMode) -> Result<Vec<Sensitivity>, ElasticError> {
        let model = self.model();
        let values = &model.numbers().parameters;
        let square = |A: &Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| A.at(i, j));
        let (K, M) = (on_basis(&self.data().K_F, &self.data().B), on_basis(&self.data().M, &self.data().B));
        let solved = solve(&square(&K), &square(&M)).ok_or(ElasticError::NoMass)?;
        let one = |k: usize| {
            let dual = |(i, v): (usize, &f64)| Dual::new(*v, if i == k { 1.0 } else { 0.0 });
            let duals: Vec<Dual> = values.iter().enumerate().map(dual).collect();
            self.slopes(&model.with_parameters(&duals), mode, &solved)
        };
        let named = |(k, p): (usize, &crate::description::Parameter)| Sensitivity {
            parameter: p.name.clone(),
            value: values[k],
            slopes: one(k),
        };
        Ok(model.parameters().iter().enumerate().map(named).collect())
    }

    /// `dλ = yᵀ (K' - λ M') y` on the basis of allowed motions.
    fn slopes(&self, dual: &Model<Dual>, mode: &WorkingMode, (omega2, y): &(Vec<f64>, Matrix)) -> Vec<f64> {
        let mut pos = Positions::seeded(dual, self.positions());
        crate::kinematics::geometry::close(dual, mode, 1, &mut pos);
        let cartesian = CartesianModel::new(dual, self.plan());
        let mut data = cartesian.data();
        assemble_cartesian(dual, &cartesian, &pos, &mut data);
        let (K, M) = (on_basis(&data.K_F, &data.B), on_basis(&data.M, &data.B));
        let n = K.rows;
        let form = |A: &Dense<Dual>, a: usize, b: usize| {
            let mut sum = 0.0;
            for i in 0..n {
                sum += (0..n).map(|j| y[(i, a)] * A.at(i, j).eps * y[(j, b)]).sum::<f64>();
            }
            sum
        };
        let mut slopes = Vec::new();
        for (first, count) in same_frequencies(omega2) {
            let value = omega2[first];
            let G = Matrix::from_fn(count, count, |i, j| {
                let (a, b) = (first + i, first + j);
                0.5 * (form(&K, a, b) + form(&K, b, a) - value * (form(&M, a, b) + form(&M, b, a)))
            });
            let list = symmetric_eigenvalues(&G).unwrap_or_else(|| vec![0.0; count]);
            let hz = value.max(0.0).sqrt() / TAU;
            slopes.extend(list.iter().map(|d| if hz > 0.0 { d / (2.0 * TAU * TAU * hz) } else { 0.0 }));
        }
        slopes
    }
}
