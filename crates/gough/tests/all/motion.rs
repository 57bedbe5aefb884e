//! Velocities and accelerations: the numbers of the reference files, and the laws.
use crate::common::{SIX, all_robots, numbers, random, random_pose, reference_states, robot, state_pose};
use gough::Robot;
use gough::kinematics::geometry::close;
use gough::kinematics::motion::{Motion, move_in};
use gough::kinematics::{Positions, SolveError, inverse};
use gough::model::Model;
use gough::scalar::Dual;
use gough::spatial::orientation::{from_axis_angle, wrap};
use gough::spatial::{Mat3, Pose, Rotation, Twist, vec3};
use rand::RngExt;

fn moving(robot: &Robot, pose: &Pose<f64>, t: &[f64], td: &[f64]) -> Result<(Positions<f64>, Motion<f64>), SolveError> {
    let model = robot.model();
    let (mut pos, mut motion) = (Positions::new(model), Motion::new(model));
    move_in(model, pose, robot.mode(), t, td, &mut pos, &mut motion)?;
    Ok((pos, motion))
}

#[test]
fn rates_and_accelerations_of_all_reference_states() {
    for name in SIX {
        let robot = robot(name);
        let t = robot.model().topology();
        for (i, state) in reference_states(name).iter().enumerate() {
            let (twist, acceleration) = (numbers(&state["twist"]), numbers(&state["acceleration"]));
            let (_, motion) = moving(&robot, &state_pose(state), &twist, &acceleration).unwrap();
            for (part, coords) in [("active", &t.active), ("passive", &t.passive)] {
                for (key, of) in [("qd", &motion.rates), ("qdd", &motion.accels)] {
                    let wanted = numbers(&state[part][key]);
                    let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
                    for (c, w) in coords.iter().zip(&wanted) {
                        let off = (of[*c] - w).abs() / scale;
                        assert!(off < 1e-10, "{name} state {i} {part} {key} q{}: {} {w}", t.coords[*c].name, of[*c]);
                    }
                }
            }
        }
    }
}

/// The pose after the time `h`, when it moves with a constant acceleration: position and rotation to second order.
fn later(X: &Pose<f64>, V: Twist<f64>, A: Twist<f64>, h: f64) -> Pose<f64> {
    let angle = V.w * h + A.w * (0.5 * h * h);
    let turn = match angle.norm() {
        0.0 => Rotation::identity(),
        n => from_axis_angle(angle / n, n),
    };
    Pose { R: turn * X.R, p: X.p + V.v * h + A.v * (0.5 * h * h) }
}

#[test]
fn rates_and_accelerations_are_differences_of_the_geometry() {
    let mut random = random(41);
    for robot in all_robots() {
        let model = robot.model();
        let t = model.topology();
        let n = t.platform.independent.len();
        let mut done = 0;
        for _ in 0..300 {
            let home = random_pose(&robot, &mut random, 0.15, 0.15);
            let Ok(at) = inverse(model, &home, robot.mode()) else { continue };
            let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let (v, a) = (any(), any());
            let Ok((_, motion)) = moving(&robot, at.pose(), &v, &a) else { continue };
            let size = motion.rates.values().chain(motion.accels.values()).fold(1.0_f64, |m, x| m.max(x.abs()));
            if size > 50.0 {
                continue; // near a singularity differences tell little
            }
            // All six components, so that dependent ones move as they must.
            let A = Twist { v: motion.A_WE.a, w: motion.A_WE.alpha };
            let h = 1e-4;
            let at = |s: f64| inverse(model, &later(at.pose(), motion.V_WE, A, s * h), robot.mode());
            let (Ok(p), Ok(q), Ok(r)) = (at(-1.0), at(0.0), at(1.0)) else { continue };
            for c in t.coords.ids().filter(|c| !t.plan.given.contains(c)) {
                let [a, b, c_] = [&p, &q, &r].map(|x| x.joints(model, &[c])[0]);
                let step = |x: f64, y: f64| if t.coords[c].slides || t.coords[c].counted { y - x } else { wrap(y - x) };
                let (rate, accel) = ((step(a, b) + step(b, c_)) / (2.0 * h), (step(b, c_) - step(a, b)) / (h * h));
                let name = (robot.name(), &t.coords[c].name);
                assert!((motion.rates[c] - rate).abs() < 1e-5 * size * size, "{name:?}: {} {rate}", motion.rates[c]);
                assert!(
                    (motion.accels[c] - accel).abs() < 3e-5 * size * size,
                    "{name:?}: {} {accel}",
                    motion.accels[c]
                );
            }
            done += 1;
            if done == 8 {
                break;
            }
        }
        assert!(done >= 4, "{}: {done}", robot.name());
    }
}

/// Rates of every joint by dual numbers through the inverse geometry, in every direction of the platform.
#[test]
fn rates_are_derivatives_on_dual_numbers() {
    for robot in gough::robots::names().map(robot) {
        let model = robot.model();
        let dual: Model<Dual> = model.cast();
        let t = model.topology();
        let home = robot.home();
        for k in 0..t.platform.independent.len() {
            let mut v = vec![0.0; t.platform.independent.len()];
            v[k] = 1.0;
            let (_, motion) = moving(&robot, home.pose(), &v, &vec![0.0; v.len()]).unwrap();
            let mut pos = Positions::seeded(&dual, home.positions());
            let w = motion.V_WE.w;
            let turn = Mat3::new(0.0, -w.z, w.y, w.z, 0.0, -w.x, -w.y, w.x, 0.0) * home.pose().R.0;
            pos.X_WE.R = Rotation(Mat3::from_fn(|i, j| Dual::new(home.pose().R.0[(i, j)], turn[(i, j)])));
            pos.X_WE.p = home.pose().p.zip_map(&motion.V_WE.v, Dual::new);
            close(&dual, home.mode(), 1, &mut pos);
            for c in t.coords.ids() {
                let rate = pos.q(t, c).eps;
                assert!((rate - motion.rates[c]).abs() < 1e-9 * (1.0 + rate.abs()), "{}", robot.name());
            }
        }
    }
}

#[test]
fn a_leg_that_is_stretched_has_no_rates() {
    let robot = robot("five-bar");
    // Nearly stretched: the answer exists and is large. Stretched: refused by name.
    let reach = 0.213 + 0.1878;
    for (short, answered) in [(1e-6, true), (0.0, false)] {
        let direction = vec3(0.6_f64, 0.8, 0.0);
        let pose = Pose::translation(vec3(-0.14, 0.0, 0.0) + direction * (reach - short));
        let found = moving(&robot, &pose, &[0.1, 0.0], &[0.0, 0.0]);
        match found {
            Ok((_, motion)) => assert!(answered && motion.rates.values().all(|x| x.is_finite())),
            Err(e) => assert!(!answered && e.kind() == "type1", "{e}"),
        }
    }
    let wrong = moving(&robot, robot.home().pose(), &[0.1], &[0.0, 0.0]).unwrap_err();
    assert_eq!(wrong, SolveError::WrongCount { what: "components of the twist", expected: 2, found: 1 });
}
