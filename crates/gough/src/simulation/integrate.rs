//! Runge-Kutta steps of the platform: position and rates as they are, the orientation in a chart that is laid at the start
//! of every step, `R = exp(θ) R_0`, `θ̇ = dexp⁻¹(θ) ω` (Munthe-Kaas, Applied Numerical Mathematics 29, 1999).

use crate::spatial::orientation::{from_axis_angle, from_quaternion, to_quaternion};
use crate::spatial::{Pose, Rotation, Vec3, vec3};

/// Position (3), rotation vector from the start of the step (3), independent components of the twist (6), work of the
/// drives, work lost to friction, work of what acts from outside.
pub type Vector = [f64; 15];

/// Where the twist stands in a [`Vector`].
pub const RATES: usize = 6;
/// Where the three works stand.
pub const WORKS: usize = 12;

/// A state: the chart is at its pose.
#[derive(Clone, Copy, Debug)]
pub struct ChartState {
    pub t: f64,
    pub R: Rotation<f64>,
    pub y: Vector,
}

impl ChartState {
    /// From a pose and a twist.
    pub fn new(t: f64, pose: &Pose<f64>, t_r: &[f64]) -> Self {
        let mut y = [0.0; 15];
        y[..3].copy_from_slice(pose.p.as_slice());
        y[RATES..RATES + t_r.len()].copy_from_slice(t_r);
        Self { t, R: pose.R, y }
    }

    /// The pose of a point of the chart.
    pub fn pose(&self) -> Pose<f64> {
        let theta = vec3(self.y[3], self.y[4], self.y[5]);
        let R = if theta == Vec3::zeros() { self.R } else { exp(theta) * self.R };
        Pose { R, p: vec3(self.y[0], self.y[1], self.y[2]) }
    }

    /// The twist.
    pub fn t_r(&self) -> [f64; 6] {
        std::array::from_fn(|k| self.y[RATES + k])
    }

    /// A point of the same chart.
    pub fn moved(&self, t: f64, y: Vector) -> Self {
        Self { t, R: self.R, y }
    }

    /// The state with the chart laid at its pose.
    pub fn rebased(&self, pose: &Pose<f64>) -> Self {
        let mut y = self.y;
        y[..3].copy_from_slice(pose.p.as_slice());
        y[3..6].fill(0.0);
        // Rounding must not gather: a unit quaternion is a rotation.
        let R = if pose.R == self.R { self.R } else { from_quaternion(to_quaternion(&pose.R)) };
        Self { t: self.t, R, y }
    }
}

fn exp(theta: Vec3<f64>) -> Rotation<f64> {
    let angle = theta.norm();
    from_axis_angle(theta / angle, angle)
}

/// `θ̇ = ω - ½ θ×ω + (1 - ½|θ| cot ½|θ|) / |θ|² θ×(θ×ω)`.
pub fn chart_rate(theta: Vec3<f64>, w: Vec3<f64>) -> Vec3<f64> {
    let square = theta.norm_squared();
    // Below, the next term of the series is lost in the rounding.
    let c = if square < 1e-6 {
        1.0 / 12.0 + square / 720.0
    } else {
        let half = 0.5 * square.sqrt();
        (1.0 - half / half.tan()) / square
    };
    let cross = theta.cross(&w);
    w - 0.5 * cross + c * theta.cross(&cross)
}

/// Stages of Dormand and Prince, order 5 with an error estimate of order 4 (Hairer, Nørsett, Wanner, Solving Ordinary
/// Differential Equations I, table II.5.2).
const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Fifth order less fourth.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339_200.0, 22.0 / 525.0, -1.0 / 40.0];
/// The last coefficient of the continuous extension (the same, II.6).
const D: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];

/// How steps are taken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Method {
    /// Dormand-Prince 5(4): steps such that the error of each, relative to the size of the robot, a radian and these per
    /// second, is below the tolerance.
    Adaptive {
        /// The tolerance.
        tolerance: f64,
    },
    /// Runge-Kutta of fourth order.
    Fixed {
        /// The step.
        step: f64,
    },
}

/// A step that was tried.
#[derive(Clone, Copy, Debug)]
pub struct TriedStep {
    h: f64,
    start: ChartState,
    stages: [Vector; 7],
    /// The state at its end, in the chart of its start.
    pub end: ChartState,
}

/// `y + h Σ a_i k_i`.
fn sum(y: &Vector, h: f64, a: &[f64], k: &[Vector]) -> Vector {
    std::array::from_fn(|j| y[j] + h * a.iter().zip(k).fold(0.0, |s, (a, k)| s + a * k[j]))
}

impl TriedStep {
    /// A step of Dormand and Prince from a state where the derivative is `k1`.
    pub fn dormand_prince<X>(
        start: &ChartState,
        k1: &Vector,
        h: f64,
        mut f: impl FnMut(&ChartState) -> Result<Vector, X>,
    ) -> Result<Self, X> {
        let mut stages = [*k1; 7];
        let mut end = *start;
        for i in 1..7 {
            end = start.moved(start.t + C[i] * h, sum(&start.y, h, &A[i][..i], &stages[..i]));
            stages[i] = f(&end)?;
        }
        Ok(Self { h, start: *start, stages, end })
    }

    /// A step of the classical method of fourth order.
    pub fn classical<X>(
        start: &ChartState,
        k1: &Vector,
        h: f64,
        mut f: impl FnMut(&ChartState) -> Result<Vector, X>,
    ) -> Result<Self, X> {
        let mut stages = [*k1; 7];
        for (i, c) in [(1, 0.5), (2, 0.5), (3, 1.0)] {
            stages[i] = f(&start.moved(start.t + c * h, sum(&start.y, c * h, &[1.0], &stages[i - 1..i])))?;
        }
        let y = sum(&start.y, h / 6.0, &[1.0, 2.0, 2.0, 1.0], &stages[..4]);
        Ok(Self { h, start: *start, stages, end: start.moved(start.t + h, y) })
    }

    /// The estimated error of position, orientation and twist beside the tolerance, largest component; the works are not
    /// looked at.
    pub fn error(&self, tolerance: f64, scales: &Vector) -> f64 {
        let component = |j: usize| {
            let e = self.h * E.iter().zip(&self.stages).fold(0.0, |s, (e, k)| s + e * k[j]);
            let size = scales[j] + self.start.y[j].abs().max(self.end.y[j].abs());
            if scales[j] > 0.0 { (e / (tolerance * size)).abs() } else { 0.0 }
        };
        // A NaN is the largest.
        (0..WORKS).map(component).fold(0.0, |m: f64, e| if e > m || e.is_nan() { e } else { m })
    }

    /// The state inside a step of Dormand and Prince, to fourth order, in the chart of its start.
    pub fn inside(&self, t: f64) -> ChartState {
        let r = (t - self.start.t) / self.h;
        let y = std::array::from_fn(|j| {
            let d = self.end.y[j] - self.start.y[j];
            let b = self.h * self.stages[0][j] - d;
            let c = d - self.h * self.stages[6][j] - b;
            let e = self.h * D.iter().zip(&self.stages).fold(0.0, |s, (d, k)| s + d * k[j]);
            self.start.y[j] + r * (d + (1.0 - r) * (b + r * (c + (1.0 - r) * e)))
        });
        self.start.moved(t, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rates<'a> = &'a dyn Fn(&ChartState) -> Result<Vector, ()>;
    type Stepper = fn(&ChartState, &Vector, f64, Rates<'_>) -> TriedStep;

    /// A body that turns with a given angular velocity: R(t) = Rz(sin t) Rx(t²).
    fn spinning(method: Stepper, steps: i32) -> f64 {
        use crate::scalar::Dual;
        use crate::spatial::Turn;
        let R = |t: Dual| Rotation::about_z(Turn::of(num_dual::DualNum::sin(&t))) * Rotation::about_x(Turn::of(t * t));
        let f = |s: &ChartState| {
            let turned = R(Dual::new(s.t, 1.0)).0;
            let m = turned.map(|x| x.eps) * turned.map(|x| x.re).transpose();
            let w = vec3(m[(2, 1)], m[(0, 2)], m[(1, 0)]);
            let rate = chart_rate(vec3(s.y[3], s.y[4], s.y[5]), w);
            let mut d = [0.0; 15];
            d[3..6].copy_from_slice(rate.as_slice());
            Ok(d)
        };
        let mut state = ChartState::new(0.0, &Pose::identity(), &[]);
        let h = 2.0 / f64::from(steps);
        for _ in 0..steps {
            let k1 = f(&state).unwrap();
            let step = method(&state, &k1, h, &f);
            state = step.end.rebased(&step.end.pose());
        }
        (state.R.0 - R(Dual::from(2.0)).0.map(|x| x.re)).amax()
    }

    #[test]
    fn rotations_are_followed_to_the_order_of_the_method() {
        let prince: Stepper = |s, k, h, f| TriedStep::dormand_prince(s, k, h, f).unwrap();
        let classical: Stepper = |s, k, h, f| TriedStep::classical(s, k, h, f).unwrap();
        let order = |a: f64, b: f64| (a / b).log2();
        let (five, four) = (
            order(spinning(prince, 40), spinning(prince, 80)),
            order(spinning(classical, 40), spinning(classical, 80)),
        );
        assert!((4.7..5.8).contains(&five) && (3.7..4.5).contains(&four), "{five} {four}");
    }

    #[test]
    fn weights_of_the_stages_are_consistent() {
        for (c, a) in C.iter().zip(&A) {
            assert!((a.iter().sum::<f64>() - c).abs() < 1e-14);
        }
        assert!(E.iter().sum::<f64>().abs() < 1e-15 && D.iter().sum::<f64>().abs() < 1e-14);
    }
}
