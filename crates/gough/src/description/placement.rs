//! Where frames stand, in any scalar.

use super::formula::Formula;
use crate::scalar::Real;
use crate::spatial::orientation::from_constant_rpy;
use crate::spatial::{Pose, Rotation, Vec3, vec3};

/// A frame by position and roll, pitch, yaw.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Frame {
    pub xyz: [Formula; 3],
    pub rpy: [Formula; 3],
}

/// Where a joint stands on its parent.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant)] // a robot has few of them
pub enum Placement {
    /// gamma, b, alpha, d, theta, r; the joint axis is z.
    Mdh([Formula; 6]),
    /// At `point` of `frame`, with a joint axis in that frame.
    Framed {
        /// The frame on the parent.
        frame: Frame,
        /// Origin in that frame.
        point: [Formula; 3],
        /// Joint axis in that frame; `None` is z.
        axis: Option<[Formula; 3]>,
    },
}

/// Three formulas as a vector.
pub(crate) fn vector<S: Real>(v: &[Formula; 3], values: &[S]) -> Vec3<S> {
    vec3(v[0].eval(values), v[1].eval(values), v[2].eval(values))
}

impl Frame {
    /// Its pose.
    pub fn pose<S: Real>(&self, values: &[S]) -> Pose<S> {
        let rpy = [0, 1, 2].map(|i| self.rpy[i].eval(values));
        Pose { R: from_constant_rpy(rpy), p: vector(&self.xyz, values) }
    }
}

impl Placement {
    /// `X_PB`: the body frame on its parent at joint coordinate zero.
    pub fn pose<S: Real>(&self, values: &[S]) -> Pose<S> {
        match self {
            Placement::Mdh(f) => {
                let [gamma, b, alpha, d, theta, r] = [0, 1, 2, 3, 4, 5].map(|i| f[i].eval(values));
                Pose::mdh(gamma, b, alpha, d, theta, r)
            }
            Placement::Framed { frame, point, .. } => frame.pose(values) * Pose::translation(vector(point, values)),
        }
    }

    /// `R_BJ`: carries z to the joint axis, in the body frame.
    pub fn axis<S: Real>(&self, values: &[S]) -> Rotation<S> {
        match self {
            Placement::Framed { axis: Some(axis), .. } => align(axis, values),
            _ => Rotation::identity(),
        }
    }
}

/// A rotation that carries z to `axis`. Axes along x, y, z give exact permutations.
pub fn align<S: Real>(axis: &[Formula; 3], values: &[S]) -> Rotation<S> {
    let unit = |k: usize, s: f64| {
        let mut u = Vec3::zeros();
        u[k] = S::lit(s);
        u
    };
    let along = (0..3).find(|&k| (0..3).all(|i| i == k || (axis[i].is_constant() && axis[i].value == 0.0)));
    if let Some(k) = along {
        let sign = axis[k].value.signum();
        // z -> ±e_k, x -> e_(k+1), y -> ±e_(k+2): right-handed either way.
        return Rotation::from_columns(unit((k + 1) % 3, 1.0), unit((k + 2) % 3, sign), unit(k, sign));
    }
    let a = vector(axis, values);
    let z = a * a.dot(&a).sqrt().recip();
    let small = (1..3).fold(0, |best, k| if axis[k].value.abs() < axis[best].value.abs() { k } else { best });
    let x = unit(small, 1.0).cross(&z);
    let x = x * x.dot(&x).sqrt().recip();
    Rotation::from_columns(x, z.cross(&x), z)
}

#[cfg(test)]
mod tests {
    use super::super::fault::Span;
    use super::*;
    use crate::spatial::orientation::rotation_defect;

    #[test]
    fn alignment_carries_z_to_the_axis() {
        for a in
            [[1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.3, -0.4, 0.5], [0.0, 1.0, 1.0]]
        {
            let axis = a.map(|x| Formula::number(x, Span::default()));
            let R: Rotation<f64> = align(&axis, &[]);
            let a = Vec3::from(a);
            assert!((R.z() - a / a.norm()).norm() < 1e-15);
            assert!(rotation_defect(&R.0) < 1e-15);
        }
        let z: Rotation<f64> = align(&[0.0, 0.0, 1.0].map(|x| Formula::number(x, Span::default())), &[]);
        assert_eq!(z, Rotation::identity());
    }
}
