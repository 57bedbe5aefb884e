//! Rows of numbers as poses of the platform: its own coordinates, a position with a quaternion, or a position with a matrix.

use gough::Pose;
use gough::description::Coordinate;
use gough::kinematics::PoseChart;
use gough::kinematics::platform::home_pose;
use gough::model::Model;
use gough::question::words::rotation;
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Mat3, Rotation, vec3};

/// How poses of a robot are read and written.
pub struct Poses {
    independent: Vec<Coordinate>,
    turns: bool,
    chart: PoseChart,
    home: Pose<f64>,
    /// All six coordinates of home.
    all: [f64; 6],
}

impl Poses {
    pub fn new(model: &Model<f64>) -> Self {
        let (chart, home) = (PoseChart::of(model), home_pose(model));
        let independent = model.topology().platform.independent.clone();
        let turns = independent.iter().any(|c| c.is_angle());
        Self { independent, turns, chart, home, all: chart.coordinates(&home) }
    }

    /// Twelve numbers are a position and a matrix by rows, as many as the platform has coordinates are these, one more than that
    /// for six are a position and a quaternion, scalar first.
    pub fn pose(&self, row: &[f64]) -> Result<Pose<f64>, String> {
        match *row {
            _ if row.len() == self.independent.len() => Ok(self.of_coordinates(row)),
            [x, y, z, w, i, j, k] => Ok(Pose { p: vec3(x, y, z), R: rotation([w, i, j, k])? }),
            [x, y, z, ref R @ ..] if R.len() == 9 => {
                Ok(Pose { p: vec3(x, y, z), R: Rotation(Mat3::from_row_slice(R)) })
            }
            _ => Err(format!("a pose has {} numbers, not {}", self.independent.len(), row.len())),
        }
    }

    fn of_coordinates(&self, row: &[f64]) -> Pose<f64> {
        let mut all = self.all;
        self.independent.iter().zip(row).for_each(|(c, x)| all[c.index()] = *x);
        let R = if self.turns { from_rpy(all[3], all[4], all[5]) } else { self.home.R };
        Pose { p: vec3(all[0], all[1], all[2]), R }
    }

    /// The platform's own coordinates of a pose.
    pub fn coordinates(&self, pose: &Pose<f64>) -> Vec<f64> {
        let all = self.chart.coordinates(pose);
        self.independent.iter().map(|c| all[c.index()]).collect()
    }
}
