//! Coordinates of the platform as a chart of its poses: which numbers name an orientation, without folding it.
//!
//! Orientations are `Rz(yaw) Ry(pitch) Rx(roll)`. Three free angles name every orientation twice, (r, p, y) and
//! (r + π, π - p, y + π); a platform whose file lists fewer has angles that stay at home, so that the free ones are
//! determined all around the circle: the pitch of a robot in the x-z plane may well be 100 degrees.

use crate::description::{Coordinate, Coordinates};
use crate::model::Model;
use crate::spatial::orientation::{from_rpy, to_rpy, wrap};
use crate::spatial::{Accel, Mat3, Pose, Rotation, Turn, Twist, Vec3, vec3};

/// The chart of a robot's platform.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PoseChart {
    /// Whether roll, pitch and yaw change.
    free: [bool; 3],
    /// Roll, pitch and yaw at home.
    home: [f64; 3],
    /// All three are free and none of them is more than the others: the usual representation is taken.
    plain: bool,
}

impl PoseChart {
    /// The chart of a robot: angles that are listed or that follow are free.
    pub fn of(model: &Model<f64>) -> Self {
        Self::holding(model, &[])
    }

    /// The chart of a robot some of whose angles that follow are held at home. Angles of home are those of the file and not of
    /// its orientation, which at a pitch of a quarter turn has many.
    pub(crate) fn holding(model: &Model<f64>, held: &[Coordinate]) -> Self {
        let platform = &model.topology().platform;
        let follows = |c: &Coordinate| platform.dependent.contains(c) && !held.contains(c);
        let changes = |c: Coordinate| platform.independent.contains(&c) || follows(&c);
        let [_, _, _, roll, pitch, yaw] = model.numbers().home;
        Self {
            free: [Coordinate::Rx, Coordinate::Ry, Coordinate::Rz].map(changes),
            home: [roll, pitch, yaw],
            plain: platform.coordinates == Coordinates::Spatial,
        }
    }

    /// Whether an orientation is one of this chart: angles that are not free stand as at home.
    pub(crate) fn has(&self, R: &Rotation<f64>) -> bool {
        let found = if self.free == [false; 3] { self.home } else { self.angles(R) };
        let held = (0..3).filter(|k| !self.free[*k]).all(|k| wrap(found[k] - self.home[k]).abs() < 1e-9);
        held && (from_rpy(found[0], found[1], found[2]).0 - R.0).amax() < 1e-9
    }

    /// All six coordinates of a pose.
    pub fn coordinates(&self, pose: &Pose<f64>) -> [f64; 6] {
        let [roll, pitch, yaw] = self.angles(&pose.R);
        [pose.p.x, pose.p.y, pose.p.z, roll, pitch, yaw]
    }

    /// The pose with these coordinates; those not given are those of `base`.
    pub fn pose_with(&self, base: &Pose<f64>, given: &[(Coordinate, f64)]) -> Pose<f64> {
        let mut pose = *base;
        let mut rpy = None;
        for (c, value) in given {
            if c.is_angle() {
                rpy.get_or_insert_with(|| self.angles(&base.R))[c.index() - 3] = *value;
            } else {
                pose.p[c.index()] = *value;
            }
        }
        if let Some([roll, pitch, yaw]) = rpy {
            pose.R = from_rpy(roll, pitch, yaw);
        }
        pose
    }

    /// All six coordinates of a pose, angles written in the way in which those of `near` are nearest: where two ways to write
    /// an orientation exist, a path stays with one of them.
    pub(super) fn coordinates_near(&self, pose: &Pose<f64>, near: &[(Coordinate, f64)]) -> [f64; 6] {
        let mut all = self.coordinates(pose);
        if self.free == [true; 3] && !self.plain {
            let angles = near.iter().filter(|(c, _)| c.is_angle());
            let off = |rpy: &[f64; 3]| -> f64 {
                angles.clone().map(|(c, value)| wrap(rpy[c.index() - 3] - value).powi(2)).sum()
            };
            let [a, b] = both(&pose.R);
            all[3..].copy_from_slice(if off(&a) <= off(&b) { &a } else { &b });
        }
        all
    }

    /// The pose with these coordinates; those not given are those of `base`, written as the given ones are.
    pub(super) fn pose_along(&self, base: &Pose<f64>, given: &[(Coordinate, f64)]) -> Pose<f64> {
        let mut all = self.coordinates_near(base, given);
        given.iter().for_each(|(c, value)| all[c.index()] = *value);
        let turned = given.iter().any(|(c, _)| c.is_angle());
        let R = if turned { from_rpy(all[3], all[4], all[5]) } else { base.R };
        Pose { R, p: crate::spatial::vec3(all[0], all[1], all[2]) }
    }

    /// Rates and accelerations of all six coordinates at a pose that moves. With the axes of roll, pitch and yaw as columns,
    /// `ω = E (ṙ, ṗ, ẏ)`.
    pub fn rates(&self, pose: &Pose<f64>, V: &Twist<f64>, A: &Accel<f64>) -> [[f64; 6]; 2] {
        let [_, pitch, yaw] = self.angles(&pose.R);
        let about_z = Rotation::about_z(Turn::of(yaw));
        let yaw_axis = vec3(0.0, 0.0, 1.0);
        let pitch_axis = about_z.0 * vec3(0.0, 1.0, 0.0);
        let roll_axis = (about_z * Rotation::about_y(Turn::of(pitch))).0 * vec3(1.0, 0.0, 0.0);
        let E = Mat3::from_columns(&[roll_axis, pitch_axis, yaw_axis]);
        let solved = |w: Vec3<f64>| E.lu().solve(&w).unwrap_or_else(Vec3::zeros);
        let rate = solved(V.w);
        // Yaw carries the axis of pitch, both carry that of roll.
        let carried = yaw_axis.cross(&pitch_axis) * (rate.z * rate.y)
            + (yaw_axis * rate.z + pitch_axis * rate.y).cross(&roll_axis) * rate.x;
        let accel = solved(A.alpha - carried);
        [[V.v.x, V.v.y, V.v.z, rate.x, rate.y, rate.z], [A.a.x, A.a.y, A.a.z, accel.x, accel.y, accel.z]]
    }

    /// Roll, pitch and yaw.
    fn angles(&self, R: &Rotation<f64>) -> [f64; 3] {
        let [r0, p0, y0] = self.home;
        let (about_x, about_y, about_z) = (
            |a: f64| Rotation::about_x(Turn::of(a)),
            |a: f64| Rotation::about_y(Turn::of(a)),
            |a: f64| Rotation::about_z(Turn::of(a)),
        );
        match self.free {
            [true, false, false] => {
                let M = (about_y(-p0) * about_z(-y0) * *R).0;
                [M[(2, 1)].atan2(M[(1, 1)]), p0, y0]
            }
            [false, true, false] => {
                let M = (about_z(-y0) * *R * about_x(-r0)).0;
                [r0, M[(0, 2)].atan2(M[(0, 0)]), y0]
            }
            [false, false, true] => {
                let M = (*R * about_x(-r0) * about_y(-p0)).0;
                [r0, p0, M[(1, 0)].atan2(M[(0, 0)])]
            }
            [false, true, true] => {
                let M = (*R * about_x(-r0)).0;
                [r0, (-M[(2, 0)]).atan2(M[(2, 2)]), (-M[(0, 1)]).atan2(M[(1, 1)])]
            }
            [true, true, false] => {
                let M = (about_z(-y0) * *R).0;
                [(-M[(1, 2)]).atan2(M[(1, 1)]), (-M[(2, 0)]).atan2(M[(0, 0)]), y0]
            }
            _ => to_rpy(R),
        }
    }
}

/// The two ways to write an orientation as roll, pitch and yaw, the one with a pitch within a quarter turn first.
fn both(R: &Rotation<f64>) -> [[f64; 3]; 2] {
    let [r, p, y] = to_rpy(R);
    let half = std::f64::consts::PI;
    [[r, p, y], [wrap(r + half), wrap(half - p), wrap(y + half)]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever angles are free, a pose keeps its orientation, and angles that stay keep their values.
    #[test]
    fn no_chart_folds() {
        for bits in 0..8_u32 {
            let free = [0, 1, 2].map(|k| bits >> k & 1 == 1);
            let home = [0.3, -0.4, 0.9];
            let chart = PoseChart { free, home, plain: free == [true; 3] };
            for k in -7..8 {
                let at = f64::from(k) * 0.44;
                let rpy = [0, 1, 2].map(|i| if free[i] { home[i] + at * [1.0, 0.9, -0.8][i] } else { home[i] });
                let R = from_rpy(rpy[0], rpy[1], rpy[2]);
                let found = chart.angles(&R);
                let back = from_rpy(found[0], found[1], found[2]);
                assert!((back.0 - R.0).amax() < 1e-12, "{free:?} {rpy:?} {found:?}");
                assert!(chart.has(&R), "{free:?} {rpy:?}");
                let other = from_rpy(rpy[0] + 0.01, rpy[1] - 0.02, rpy[2] + 0.03);
                assert_eq!(chart.has(&other), free == [true; 3], "{free:?} {rpy:?}");
                let few = free.iter().filter(|f| **f).count() < 3 && free != [true, false, true];
                let kept = (0..3).all(|i| wrap(found[i] - rpy[i]).abs() < 1e-9);
                assert!(!few || kept, "{free:?} {rpy:?} {found:?}");
            }
        }
    }
}
