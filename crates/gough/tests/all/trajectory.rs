//! Motions over time: rates of orientations, joints carried to the platform, limits and when they are left.
use crate::common::{compile, robot};
use gough::Robot;
use gough::description::Coordinate::{self, X, Y, Z};
use gough::kinematics::inverse;
use gough::kinematics::platform::{home_pose, pose_with};
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Mat3, Pose, Rotation, Vec3, vec3};
use gough::trajectory::{
    Bound, JointSample, Sample, Trajectory, TrajectoryError, fifth_degree, follow, from_joints, from_rpy_rates,
};

/// Roll, pitch, yaw over time with their rates and accelerations.
fn angles(t: f64) -> [[f64; 3]; 3] {
    [
        [0.3 * (2.0 * t).sin(), 0.6 * (2.0 * t).cos(), -1.2 * (2.0 * t).sin()],
        [0.2 * t * t, 0.4 * t, 0.4],
        [0.5 * t.cos(), -0.5 * t.sin(), -0.5 * t.cos()],
    ]
}

fn rotation(t: f64) -> Rotation<f64> {
    let [roll, pitch, yaw] = angles(t).map(|a| a[0]);
    from_rpy(roll, pitch, yaw)
}

/// Angular velocity by central differences of the rotation.
fn spin(R: impl Fn(f64) -> Rotation<f64>, t: f64) -> Vec3<f64> {
    let h = 1e-5;
    let m: Mat3<f64> = (R(t + h).0 - R(t - h).0) / (2.0 * h) * R(t).0.transpose();
    vec3(m[(2, 1)], m[(0, 2)], m[(1, 0)])
}

#[test]
fn rates_of_roll_pitch_yaw_give_the_angular_velocity() {
    for t in [0.1, 0.7, 1.3] {
        let (w, alpha) = from_rpy_rates(angles(t));
        assert!((w - spin(rotation, t)).norm() < 1e-9, "{t}");
        let h = 1e-5;
        let difference = (from_rpy_rates(angles(t + h)).0 - from_rpy_rates(angles(t - h)).0) / (2.0 * h);
        assert!((alpha - difference).norm() < 1e-8 && w.norm() > 0.1, "{t}");
    }
}

fn moving(t: f64) -> Pose<f64> {
    Pose { R: rotation(t), p: vec3(0.25 + 0.05 * t.sin(), 0.433 - 0.03 * t, 1.0 + 0.04 * t * t) }
}

#[test]
fn a_sampled_motion_is_met_between_its_samples() {
    let robot = robot("gough-stewart");
    let mode = robot.mode();
    let linear = |t: f64| [[0.05 * t.cos(), -0.03, 0.08 * t], [-0.05 * t.sin(), 0.0, 0.08]];
    for (rates, accelerations, tolerance) in [(false, false, 2e-5), (true, false, 1e-6), (true, true, 1e-6)] {
        let samples: Vec<Sample> = (0..=20)
            .map(|i| {
                let t = 0.05 * f64::from(i);
                let (w, alpha) = from_rpy_rates(angles(t));
                let join = |v: [f64; 3], w: Vec3<f64>| v.into_iter().chain(w.iter().copied()).collect::<Vec<f64>>();
                Sample {
                    t,
                    pose: moving(t),
                    twist: rates.then(|| join(linear(t)[0], w)),
                    acceleration: accelerations.then(|| join(linear(t)[1], alpha)),
                }
            })
            .collect();
        let trajectory = Trajectory::sampled(robot.model(), mode, &samples).unwrap();
        for k in 1..200 {
            let t = 0.005 * f64::from(k);
            let found = trajectory.at(t);
            let (w, alpha) = from_rpy_rates(angles(t));
            assert!((found.pose.R.0 - moving(t).R.0).amax() < 0.1 * tolerance, "{t}");
            assert!((found.pose.p - moving(t).p).norm() < 0.1 * tolerance, "{t}");
            assert!((found.V.w - w).norm() < tolerance, "{t}: {} {w}", found.V.w);
            assert!((found.A.alpha - alpha).norm() < 100.0 * tolerance, "{t}: {} {alpha}", found.A.alpha);
            // What is told as the velocity is that of the poses that are told.
            assert!((found.V.w - spin(|t| trajectory.at(t).pose.R, t)).norm() < 1e-8, "{t}");
        }
        let after = trajectory.at(3.0);
        assert!(after.V.v.norm() == 0.0 && after.V.w.norm() == 0.0);
    }
}

#[test]
fn motion_of_joints_is_that_of_the_platform() {
    let robot = robot("3-rpr");
    let model = robot.model();
    let from = *robot.home().pose();
    let to = pose_with(robot.model(), &from, &[(X, from.p.x + 0.05), (Y, from.p.y - 0.04), (Coordinate::Rz, 0.2)]);
    let law = Trajectory::between(from, to, 1.0).unwrap();
    let profile = follow(model, robot.mode(), &law, Some(0.02)).unwrap();
    let samples: Vec<JointSample> = profile
        .rows
        .iter()
        .map(|r| JointSample { t: r.t, q: r.q.clone(), rates: Some(r.qd.clone()), accelerations: Some(r.qdd.clone()) })
        .collect();
    let near = inverse(model, &from, robot.mode()).unwrap();
    let carried = from_joints(model, &near, &samples).unwrap();
    let n = model.topology().platform.independent.len();
    for sample in &carried {
        let wanted = law.at(sample.t);
        let (mut t_r, mut td_r) = (vec![0.0; n], vec![0.0; n]);
        wanted.components(model, &mut t_r, &mut td_r);
        assert!((sample.pose.p - wanted.pose.p).norm() < 1e-10);
        for k in 0..n {
            assert!((sample.twist.as_ref().unwrap()[k] - t_r[k]).abs() < 1e-9);
            assert!((sample.acceleration.as_ref().unwrap()[k] - td_r[k]).abs() < 1e-8);
        }
    }
    // And so are its efforts, sample by sample.
    let again =
        follow(model, robot.mode(), &Trajectory::sampled(model, robot.mode(), &carried).unwrap(), None).unwrap();
    for (a, b) in profile.rows.iter().zip(&again.rows) {
        for (x, y) in a.efforts.iter().zip(&b.efforts) {
            assert!((x - y).abs() < 1e-6 * (1.0 + x.abs()), "{} {a:?} {b:?}", a.t);
        }
    }
}

/// A Tripteron, whose drives move with the platform: x = q21 - a, y = q31 + a, z = q11.
fn limited(drive: &str, range: &str) -> Robot {
    let text = gough::robots::text("tripteron").unwrap();
    let old = "drive = { rotor_inertia = 0.5 }";
    assert!(text.contains(old));
    compile("tripteron", &text.replace(old, &format!("{range}drive = {{ rotor_inertia = 0.5{drive} }}")))
}

#[test]
fn limits_are_left_and_met_at_the_right_times() {
    let from = |robot: &Robot| pose_with(robot.model(), &home_pose(robot.model()), &[(X, 0.3), (Y, 0.3), (Z, 0.15)]);
    let to = |robot: &Robot| pose_with(robot.model(), &home_pose(robot.model()), &[(X, 0.3), (Y, 0.3), (Z, 0.25)]);
    // z moves by 0.1 m in 0.5 s: speed up to 0.375 m/s; over 0.3 m/s where 30 (r (1 - r))^2 = 1.5.
    let robot = limited(", speed = 0.3", "");
    let law = Trajectory::between(from(&robot), to(&robot), 0.5).unwrap();
    let profile = follow(robot.model(), robot.mode(), &law, Some(0.013)).unwrap();
    let [v] = &profile.violations[..] else { panic!("{:?}", profile.violations) };
    let r = 0.5 - (0.25 - (1.5_f64 / 30.0).sqrt()).sqrt();
    assert!((v.joint.as_str(), v.bound) == ("11", Bound::Speed), "{v:?}");
    assert!((v.from - 0.5 * r).abs() < 1e-8 && (v.to - 0.5 * (1.0 - r)).abs() < 1e-8, "{v:?} {r}");
    assert!((v.value - 0.375).abs() < 1e-3 && v.limit == 0.3);
    // Range: x = q21 - 0.5 beyond 0.35 m from half-time on.
    let robot = limited("", "range = [-2, 0.85], ");
    let at = |x: f64| pose_with(robot.model(), &home_pose(robot.model()), &[(X, x), (Y, 0.3), (Z, 0.2)]);
    let law = Trajectory::between(at(0.3), at(0.4), 0.5).unwrap();
    let profile = follow(robot.model(), robot.mode(), &law, Some(0.01)).unwrap();
    let [v] = &profile.violations[..] else { panic!("{:?}", profile.violations) };
    assert!((v.joint.as_str(), v.bound) == ("21", Bound::Range), "{v:?}");
    assert!((v.from - 0.25).abs() < 1e-7 && v.to == 0.5 && (v.value - 0.9).abs() < 1e-9, "{v:?}");
    assert_eq!(profile.rows.len(), 51);
    // Effort: where it is largest by magnitude it is beyond nine tenths of that.
    let robot = limited("", "");
    let law = Trajectory::between(from(&robot), to(&robot), 0.5).unwrap();
    let peak = follow(robot.model(), robot.mode(), &law, Some(0.001)).unwrap().drives[0];
    let robot = limited(&format!(", effort = {}", 0.9 * peak.peak.abs()), "");
    let profile = follow(robot.model(), robot.mode(), &law, Some(0.001)).unwrap();
    let v = profile.violations.iter().find(|v| v.joint == "11" && (v.at - peak.at).abs() < 1e-9).unwrap();
    assert!(v.bound == Bound::Effort && v.from < peak.at && peak.at < v.to && v.value == peak.peak, "{v:?} {peak:?}");
    assert!(peak.rms > 0.0 && peak.rms < peak.peak.abs());
}

#[test]
fn a_way_out_of_reach_is_answered_as_far_as_it_goes() {
    let robot = robot("five-bar");
    let pose = |x: f64, y: f64| pose_with(robot.model(), &home_pose(robot.model()), &[(X, x), (Y, y)]);
    let law = Trajectory::between(pose(0.0, 0.3), pose(0.0, 0.6), 1.0).unwrap();
    let profile = follow(robot.model(), robot.mode(), &law, Some(0.01)).unwrap();
    let [refusal] = &profile.refusals[..] else { panic!("{:?}", profile.refusals) };
    // Both legs are stretched at y² = 0.4008² - 0.14².
    let y = (0.4008_f64.powi(2) - 0.14_f64.powi(2)).sqrt();
    let at = law.at(refusal.from).pose.p.y;
    assert!((at - y).abs() < 1e-6 && refusal.to == 1.0, "{refusal:?} {at} {y}");
    assert!(profile.rows.len() > 10 && profile.rows.iter().all(|r| r.efforts.iter().all(|x| x.is_finite())));
    for step in [1e-12, 0.0, -1.0, f64::NAN] {
        assert!(follow(robot.model(), robot.mode(), &law, Some(step)).is_err(), "{step}");
    }
    assert!(matches!(Trajectory::sampled(robot.model(), robot.mode(), &[]), Err(TrajectoryError::Empty)));
    let sample = |t: f64| Sample { t, pose: pose(0.0, 0.3), twist: None, acceleration: None };
    let back = Trajectory::sampled(robot.model(), robot.mode(), &[sample(0.0), sample(0.0)]);
    assert_eq!(back.unwrap_err(), TrajectoryError::TimesDoNotRise { sample: 1 });
    assert!(Trajectory::between(pose(0.0, 0.3), pose(0.0, 0.3), 0.0).is_err());
}

#[test]
fn the_law_of_fifth_degree_starts_and_ends_at_rest() {
    let T = 1.7;
    assert_eq!((fifth_degree(-1.0, T), fifth_degree(2.0, T)), ([0.0; 3], [1.0, 0.0, 0.0]));
    let [s, v, a] = fifth_degree(0.5 * T, T);
    assert!((s - 0.5).abs() < 1e-15 && (v - 1.875 / T).abs() < 1e-14 && a.abs() < 1e-13);
    let h = 1e-5;
    for t in [0.2, 0.9, 1.5] {
        let [low, here, high] = [t - h, t, t + h].map(|t| fifth_degree(t, T));
        assert!(((high[0] - low[0]) / (2.0 * h) - here[1]).abs() < 1e-9);
        assert!(((high[1] - low[1]) / (2.0 * h) - here[2]).abs() < 1e-8);
    }
}

/// Motions that list angles while others follow: the joints' rates are the derivatives of their positions all along.
#[test]
fn joint_rates_along_a_motion_are_derivatives_of_joint_positions_where_angles_follow() {
    let mut looked_at = 0;
    for robot in ["3-prs", "3-rps", "exechon"].map(|name| compile(name, &crate::common::text(name))) {
        let (model, platform) = (robot.model(), &robot.model().topology().platform);
        let turns = |list: &[Coordinate]| list.iter().any(|c| c.is_angle());
        assert!(turns(&platform.independent) && turns(&platform.dependent), "{}", robot.name());
        let home = home_pose(model);
        let all = gough::kinematics::platform::coordinates(model, &home);
        let moved = |c: &Coordinate| (*c, all[c.index()] + if c.is_angle() { 0.15 } else { 0.02 * model.size() });
        let to = pose_with(model, &home, &platform.independent.iter().map(moved).collect::<Vec<_>>());
        let motion = Trajectory::between(home, to, 1.0).unwrap();
        let found = follow(model, robot.mode(), &motion, Some(1e-3)).unwrap();
        let rows = &found.rows;
        for w in rows.windows(3).skip(50).step_by(100) {
            for k in 0..w[0].q.len() {
                let h = w[2].t - w[1].t;
                let (rate, accel) = ((w[2].q[k] - w[0].q[k]) / (2.0 * h), (w[2].qd[k] - w[0].qd[k]) / (2.0 * h));
                let scale = w[1].qd[k].abs() + w[1].qdd[k].abs() + model.size();
                assert!((rate - w[1].qd[k]).abs() < 1e-4 * scale, "{}: {rate} {}", robot.name(), w[1].qd[k]);
                assert!((accel - w[1].qdd[k]).abs() < 1e-3 * scale, "{}: {accel} {}", robot.name(), w[1].qdd[k]);
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 20, "{looked_at}");
}
