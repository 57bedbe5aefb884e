//! The coordinates in which a motion of the platform is written: positions as they are, the angle of a planar platform too,
//! orientations in space as quaternions, made unit where they are looked at.

use super::polynomial::Jerky;
use super::{Desired, Jet};
use crate::description::Coordinates;
use crate::model::Model;
use crate::scalar::{Dual2, Dual3, Real};
use crate::spatial::orientation::{from_quaternion, from_rpy, to_quaternion, to_rpy, wrap};
use crate::spatial::{Accel, Mat3, Pose, Rotation, Twist, Vec3, vec3};

/// How the orientation is followed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Turning {
    /// It stays.
    Still(Rotation<f64>),
    /// `Rz(phi)` times this.
    Planar(Rotation<f64>),
    /// A quaternion.
    Free,
}

impl Turning {
    /// Names of the coordinates, in the order of [`jets_of`].
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Turning::Still(_) => &["x", "y", "z"],
            Turning::Planar(_) => &["x", "y", "z", "phi"],
            Turning::Free => &["x", "y", "z", "qw", "qx", "qy", "qz"],
        }
    }
}

pub(super) fn turning(model: &Model<f64>, first: &Pose<f64>) -> Turning {
    let platform = &model.topology().platform;
    match platform.coordinates {
        Coordinates::Spatial | Coordinates::Some(_) => Turning::Free,
        Coordinates::Planar => {
            let [roll, pitch, _] = to_rpy(&model.numbers().home_pose.R);
            Turning::Planar(from_rpy(roll, pitch, 0.0))
        }
        Coordinates::Translation | Coordinates::Point(_) => Turning::Still(first.R),
    }
}

/// Coordinates of a sample with their rates and accelerations: x, y, z, then nothing, the planar angle, or a quaternion.
pub(super) fn jets_of(d: &Desired, turning: Turning) -> Vec<Jet> {
    let mut jets: Vec<Jet> = (0..3).map(|k| [d.pose.p[k], d.V.v[k], d.A.a[k]]).collect();
    match turning {
        Turning::Still(_) => {}
        Turning::Planar(tilt) => {
            let R = d.pose.R * tilt.inverse();
            jets.push([R.0[(1, 0)].atan2(R.0[(0, 0)]), d.V.w.z, d.A.alpha.z]);
        }
        Turning::Free => {
            // q̇ = ½ ω q, q̈ = ½ (ω̇ q + ω q̇)
            let q = to_quaternion(&d.pose.R);
            let rate = turned(d.V.w, q).map(|x| 0.5 * x);
            let (a, b) = (turned(d.A.alpha, q), turned(d.V.w, rate));
            jets.extend((0..4).map(|k| [q[k], rate[k], 0.5 * (a[k] + b[k])]));
        }
    }
    jets
}

/// The product of the quaternions (0, w) and q.
fn turned(w: Vec3<f64>, [s, x, y, z]: [f64; 4]) -> [f64; 4] {
    let v = vec3(x, y, z);
    let u = w * s + w.cross(&v);
    [-w.dot(&v), u.x, u.y, u.z]
}

/// Angles without jumps of whole turns, quaternions without changes of sign.
pub(super) fn continuous(rows: &mut [Vec<Jet>], turning: Turning) {
    for i in 1..rows.len() {
        let (before, now) = rows.split_at_mut(i);
        let (before, now) = (&before[i - 1], &mut now[0]);
        match turning {
            Turning::Still(_) => {}
            Turning::Planar(_) => now[3][0] = before[3][0] + wrap(now[3][0] - before[3][0]),
            Turning::Free => {
                if (3..7).map(|k| before[k][0] * now[k][0]).sum::<f64>() < 0.0 {
                    now[3..7].iter_mut().flatten().for_each(|x| *x = -*x);
                }
            }
        }
    }
}

pub(super) fn desired(jets: &[Jet; 7], turning: Turning) -> Desired {
    let part = |order: usize| vec3(jets[0][order], jets[1][order], jets[2][order]);
    let dual = |k: usize| Dual2::new(jets[k][0], jets[k][1], jets[k][2]);
    let R = match turning {
        Turning::Still(R) => {
            let (pose, still) = (Pose { R, p: part(0) }, Vec3::zeros());
            return Desired { pose, V: Twist { v: part(1), w: still }, A: Accel { a: part(2), alpha: still } };
        }
        Turning::Planar(tilt) => from_rpy(Dual2::lit(0.0), Dual2::lit(0.0), dual(3)) * tilt.map(&mut Dual2::lit),
        Turning::Free => {
            let q = [3, 4, 5, 6].map(dual);
            let n = q.iter().fold(Dual2::lit(0.0), |sum, x| sum + *x * *x).sqrt();
            from_quaternion(q.map(|x| x / n))
        }
    };
    let (w, alpha) = angular(&R);
    let pose = Pose { R: Rotation(R.0.map(|x| x.re)), p: part(0) };
    Desired { pose, V: Twist { v: part(1), w }, A: Accel { a: part(2), alpha } }
}

/// `ω̂ = Ṙ Rᵀ`, and `ω̇` from the skew part of `R̈ Rᵀ = ω̇^ + ω̂ ω̂`.
fn angular(R: &Rotation<Dual2>) -> (Vec3<f64>, Vec3<f64>) {
    let (R0, R1, R2) = (R.0.map(|x| x.re), R.0.map(|x| x.v1), R.0.map(|x| x.v2));
    (axial(R1 * R0.transpose()), axial(R2 * R0.transpose()))
}

/// Angular velocity and acceleration from roll, pitch, yaw, their rates and accelerations.
pub fn from_rpy_rates(rpy: [Jet; 3]) -> (Vec3<f64>, Vec3<f64>) {
    let [roll, pitch, yaw] = rpy.map(|[x, v, a]| Dual2::new(x, v, a));
    angular(&from_rpy(roll, pitch, yaw))
}

/// How the acceleration of the platform changes: third derivative of its position, second of its angular velocity.
pub(super) fn jerk(jets: &[Jerky; 7], turning: Turning) -> Accel<f64> {
    let dual = |k: usize| Dual3::new(jets[k][0], jets[k][1], jets[k][2], jets[k][3]);
    let R = match turning {
        Turning::Still(R) => R.map(&mut Dual3::lit),
        Turning::Planar(tilt) => from_rpy(Dual3::lit(0.0), Dual3::lit(0.0), dual(3)) * tilt.map(&mut Dual3::lit),
        Turning::Free => {
            let q = [3, 4, 5, 6].map(dual);
            let n = q.iter().fold(Dual3::lit(0.0), |sum, x| sum + *x * *x).sqrt();
            from_quaternion(q.map(|x| x / n))
        }
    };
    Accel { a: vec3(jets[0][3], jets[1][3], jets[2][3]), alpha: angular_jerk(&R) }
}

/// `ω̈` from the skew part of `d²(Ṙ Rᵀ)/dt² = R⃛ Rᵀ + 2 R̈ Ṙᵀ + Ṙ R̈ᵀ`.
fn angular_jerk(R: &Rotation<Dual3>) -> Vec3<f64> {
    let [R0, R1, R2, R3] = [R.0.map(|x| x.re), R.0.map(|x| x.v1), R.0.map(|x| x.v2), R.0.map(|x| x.v3)];
    axial(R3 * R0.transpose() + 2.0 * (R2 * R1.transpose()) + R1 * R2.transpose())
}

/// The vector of the skew part of a matrix.
fn axial(m: Mat3<f64>) -> Vec3<f64> {
    0.5 * vec3(m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)])
}
