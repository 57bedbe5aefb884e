//! How far the platform reaches from home: what sliders and regions of maps begin with.

use crate::kinematics::inverse;
use crate::robot::Robot;

/// Directions in which a plane is looked through.
const DIRECTIONS: usize = 16;
/// Steps outwards, in half sizes of the robot or tenths of a turn, and halvings of the last one.
const STEPS: usize = 12;
const HALVINGS: usize = 7;

/// Lowest and highest value of every coordinate, in the order of [`Robot::coordinates`], that is reached from home in the
/// working mode of the file while the others stay.
pub fn extents(robot: &Robot) -> Vec<[f64; 2]> {
    let home = robot.coordinates_of(robot.home().pose());
    (0..home.len()).map(|k| [-1.0, 1.0].map(|sign| home[k] + sign * reach(robot, &home, &[(k, sign)]))).collect()
}

/// Ends of two coordinates (by place in [`Robot::coordinates`]) between which everything lies that straight ways from home
/// reach, with a twelfth of it on every side.
pub fn plane_extent(robot: &Robot, [a, b]: [usize; 2]) -> [[f64; 2]; 2] {
    let home = robot.coordinates_of(robot.home().pose());
    let mut ends = [a, b].map(|k| [home[k]; 2]);
    for i in 0..DIRECTIONS {
        let angle = std::f64::consts::TAU * i as f64 / DIRECTIONS as f64;
        let way = [(a, angle.cos()), (b, angle.sin())];
        let far = reach(robot, &home, &way);
        for (end, (k, slope)) in ends.iter_mut().zip(way) {
            let x = home[k] + slope * far;
            *end = [end[0].min(x), end[1].max(x)];
        }
    }
    ends.map(|[low, high]| {
        let air = (high - low) / 12.0;
        [low - air, high + air]
    })
}

/// How far the coordinates go along slopes.
fn reach(robot: &Robot, home: &[f64], way: &[(usize, f64)]) -> f64 {
    let angle = way.iter().all(|(k, _)| turns(robot, *k));
    let (step, most) = if angle {
        (std::f64::consts::TAU / 20.0, 0.5 * std::f64::consts::PI)
    } else {
        (0.5 * robot.model().size(), f64::MAX)
    };
    let reached = |far: f64| {
        let mut at = home.to_vec();
        way.iter().for_each(|(k, slope)| at[*k] += slope * far);
        robot.pose_at(&at).is_ok_and(|pose| inverse(robot.model(), &pose, robot.mode()).is_ok())
    };
    let mut low = 0.0_f64;
    for _ in 0..STEPS {
        if low + step > most || !reached(low + step) {
            break;
        }
        low += step;
    }
    let mut width = step;
    for _ in 0..HALVINGS {
        width *= 0.5;
        if low + width <= most && reached(low + width) {
            low += width;
        }
    }
    low
}

/// Whether a coordinate is an angle.
pub(super) fn turns(robot: &Robot, k: usize) -> bool {
    robot.model().topology().platform.independent[k].is_angle()
}
