//! Motion of the platform in its independent components, where other components follow from the closures.
//!
//! A trajectory says how the coordinates that the platform has by itself move; those that follow it writes as it likes. With
//! coordinates `u`, their rates `u̇ = C t_p` and `t_p = Ψ_t t_r` at the pose that the robot really has, the independent
//! components come from `C Ψ_t t_r = u̇`, and their rates from `C Ψ_t ṫ_r = ü - b`, `b` being `ü` without `ṫ_r`.

use super::Desired;
use crate::kinematics::motion::{Motion, move_from};
use crate::kinematics::{PoseChart, Positions, SolveError, WorkingMode, inverse_in};
use crate::linalg::small::Dense;
use crate::model::Model;

/// Memory for the motion of a platform that a trajectory asks for.
#[derive(Clone, Debug)]
pub struct OwnMotion {
    /// Angles follow, so that rates of the listed ones are not rates of rotation alone.
    turns_along: bool,
    chart: PoseChart,
}

impl OwnMotion {
    /// Of a robot.
    pub fn new(model: &Model<f64>) -> Self {
        let platform = &model.topology().platform;
        let turns = platform.independent.iter().any(|c| c.is_angle());
        Self { turns_along: turns && platform.dependent.iter().any(|c| c.is_angle()), chart: PoseChart::of(model) }
    }

    /// Whether angles follow: then the components of a desired twist are not those of the robot.
    pub fn turns_along(&self) -> bool {
        self.turns_along
    }

    /// Close the robot where a trajectory wants it, and tell twist and acceleration in its independent components. The pose of
    /// `desired` becomes that of the robot. `pos` and `motion` hold the posture and some motion afterwards.
    pub fn close(
        &self,
        model: &Model<f64>,
        mode: &WorkingMode,
        desired: &mut Desired,
        (pos, motion): (&mut Positions<f64>, &mut Motion<f64>),
        (t_r, td_r): (&mut [f64], &mut [f64]),
    ) -> Result<(), SolveError> {
        desired.components(model, t_r, td_r);
        inverse_in(model, &desired.pose, mode, pos)?;
        if !self.turns_along {
            return Ok(());
        }
        let wanted = self.chart.rates(&desired.pose, &desired.V, &desired.A);
        desired.pose = pos.X_WE;
        let own = &model.topology().platform.independent;
        let n = own.len();
        let mut rates = |t_r: &[f64], td_r: &[f64], pos: &mut Positions<f64>| {
            move_from(model, t_r, td_r, pos, motion)?;
            let found = self.chart.rates(&pos.X_WE, &motion.V_WE, &motion.A_WE);
            Ok::<_, SolveError>(found.map(|list| own.iter().map(|c| list[c.index()]).collect::<Vec<f64>>()))
        };
        let rest = [0.0; 6];
        let mut C = Dense::zeros(n, n);
        for k in 0..n {
            let mut unit = [0.0; 6];
            unit[k] = 1.0;
            let [column, _] = rates(&unit[..n], &rest[..n], pos)?;
            column.iter().enumerate().for_each(|(i, x)| *C.at_mut(i, k) = *x);
        }
        let solved = |right: Vec<f64>| C.solve(&Dense { rows: n, cols: 1, data: right });
        let [u_rate, u_accel] = wanted.map(|list| own.iter().map(|c| list[c.index()]).collect::<Vec<f64>>());
        let Some(first) = solved(u_rate) else { return Ok(()) };
        t_r.copy_from_slice(&first.data);
        let [_, bias] = rates(t_r, &rest[..n], pos)?;
        if let Some(second) = solved(u_accel.iter().zip(bias).map(|(u, b)| u - b).collect()) {
            td_r.copy_from_slice(&second.data);
        }
        Ok(())
    }
}
