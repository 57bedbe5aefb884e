//! Motion over time: energy, loops, controllers, limits, order of the methods.
use crate::common::{compile, robot};
use gough::Robot;
use gough::description::Coordinate;
use gough::dynamics::newton_euler::Sign;
use gough::kinematics::Kind;
use gough::kinematics::platform::{home_pose, pose_with};
use gough::simulation::{
    Controller, EffortTable, Feedback, Gains, Instant, Law, Method, Noise, SetupError, SimulationOptions, Stop,
    Summary, simulate,
};
use gough::spatial::Pose;
use gough::trajectory::{Trajectory, pose_error};

fn run(
    robot: &Robot,
    from: &Pose<f64>,
    t_r: &[f64],
    law: &Law,
    options: &SimulationOptions,
) -> (Summary, Vec<Instant>) {
    let mut list = Vec::new();
    let mut record = |i: &Instant| {
        list.push(i.clone());
        true
    };
    let summary = simulate(robot.model(), robot.mode(), (from, t_r), law, options, &mut record).unwrap();
    (summary, list)
}

fn controller(feedback: Feedback, gains: Gains, trajectory: Trajectory) -> Law {
    Law::Controller(Box::new(Controller { feedback, gains, trajectory, believed: None, friction: None, planned: None }))
}

/// Springs at the drives that rest at a pose.
fn springs(stiffness: f64, at: Pose<f64>) -> Law {
    controller(Feedback::JointPd { gravity: false }, Gains::all(stiffness, 0.0), Trajectory::hold(at))
}

fn pose(robot: &Robot, given: &[(Coordinate, f64)]) -> Pose<f64> {
    pose_with(robot.model(), &home_pose(robot.model()), given)
}

/// A robot, where its springs rest, a twist at the start, and how stiff they are.
type Swinging = (&'static str, Vec<(Coordinate, f64)>, Vec<f64>, f64);

fn swinging() -> Vec<Swinging> {
    use Coordinate::{X, Y, Z};
    vec![
        ("five-bar", vec![(X, 0.0), (Y, 0.28)], vec![0.25, 0.15], 4.0),
        ("gough-stewart", vec![(X, 0.25), (Y, 0.433), (Z, 1.0)], vec![0.1, -0.1, 0.15, 0.2, 0.1, -0.2], 1e6),
        ("orthoglide", vec![(X, 0.0), (Y, 0.0), (Z, 0.34)], vec![0.1, -0.15, 0.1], 4000.0),
    ]
}

#[test]
fn energy_of_undamped_motion_is_kept_and_loops_stay_closed() {
    for (name, rest, twist, stiffness) in swinging() {
        let robot = robot(name);
        let rest = pose(&robot, &rest);
        let options = SimulationOptions {
            method: Method::Adaptive { tolerance: 2e-13 },
            every: 0.05,
            ..SimulationOptions::lasting(10.0)
        };
        let (summary, list) = run(&robot, &rest, &twist, &springs(stiffness, rest), &options);
        assert_eq!(summary.stop, Stop::End, "{name}: {}", summary.stop);
        // Energy with the springs, q_0 being where they rest.
        let spring =
            |i: &Instant| -> f64 { i.q.iter().zip(&list[0].q).map(|(q, q0)| 0.5 * stiffness * (q - q0).powi(2)).sum() };
        let total = |i: &Instant| i.energies.iter().sum::<f64>() + spring(i);
        let kinetic = list.iter().map(|i| i.energies[0] + i.energies[1]).fold(0.0, f64::max);
        let least = list.iter().map(|i| i.energies[0] + i.energies[1]).fold(f64::MAX, f64::min);
        let drift = list.iter().map(|i| (total(i) - total(&list[0])).abs()).fold(0.0, f64::max) / kinetic;
        println!(
            "{name}: drift {drift:e}, {} steps, kinetic {least:e} .. {kinetic:e}, gap {:?}",
            summary.steps, summary.gap
        );
        assert!(drift < 1e-9, "{name}: {drift:e}");
        assert!(least < 0.5 * kinetic, "{name} does not swing");
        assert!(summary.gap[0] <= 1e-10 && summary.gap[1] <= 1e-10, "{name}: {:?}", summary.gap);
        assert!(summary.energy_error < 1e-9 * summary.energy_scale, "{name}: {summary:?}");
    }
}

/// The five-bar robot in a vertical plane, with a line of its file replaced.
fn falling_five_bar(replaced: &[(&str, &str)]) -> Robot {
    let mut text =
        gough::robots::text("five-bar").unwrap().replace("gravity = [0, 0, -9.81]", "gravity = [0, -9.81, 0]");
    for (old, new) in replaced {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    compile("five-bar", &text)
}

#[test]
fn a_falling_robot_stops_at_the_range_of_its_joint_and_says_which() {
    let ranged = falling_five_bar(&[("mdh = { d = \"d11\" }", "mdh = { d = \"d11\" }\nrange = [1.2, 1.6]")]);
    let free = falling_five_bar(&[]);
    let from = pose(&free, &[(Coordinate::X, 0.03), (Coordinate::Y, 0.33)]);
    let options = SimulationOptions { every: 0.01, ..SimulationOptions::lasting(2.0) };
    let (summary, list) = run(&ranged, &from, &[0.0, 0.0], &Law::Free, &options);
    assert_eq!(summary.stop.kind(), "out-of-range", "{}", summary.stop);
    assert!(summary.stop.to_string().contains("joint 11"), "{}", summary.stop);
    let last = list.last().unwrap();
    assert!((last.q[0] - 1.6).abs() < 1e-8 && (last.t - summary.t).abs() < 1e-15, "{last:?}");
    // The same motion without a range passes there at the same time.
    let through = SimulationOptions { duration: summary.t, every: summary.t, ..options };
    let (_, other) = run(&free, &from, &[0.0, 0.0], &Law::Free, &through);
    assert!((other.last().unwrap().q[0] - last.q[0]).abs() < 1e-7);
}

#[test]
fn singularities_end_a_motion_by_name_and_type_2_can_be_passed() {
    let robot = falling_five_bar(&[]);
    let from = pose(&robot, &[(Coordinate::X, 0.0), (Coordinate::Y, 0.3)]);
    let options = SimulationOptions { every: 0.01, ..SimulationOptions::lasting(1.0) };
    let (summary, list) = run(&robot, &from, &[0.0, 0.0], &Law::Free, &options);
    assert_eq!(summary.stop, Stop::Singular { kind: Kind::Type2, leg: None }, "{}", summary.stop);
    // Distal links aligned: the elbows are as far apart as both are long.
    let last = list.last().unwrap();
    let elbow = |k: usize, x: f64| (x + 0.213 * last.q[k].cos(), 0.213 * last.q[k].sin());
    let (a, b) = (elbow(0, -0.14), elbow(1, 0.14));
    assert!(((a.0 - b.0).hypot(a.1 - b.1) - 2.0 * 0.1878).abs() < 1e-9, "{:?}", last.q);
    let height = last.pose.p.y;
    let (through, list) =
        run(&robot, &from, &[0.0, 0.0], &Law::Free, &SimulationOptions { through_type2: true, ..options.clone() });
    assert!(through.t > summary.t + 0.01 && list.last().unwrap().pose.p.y < height - 1e-3, "{through:?}");
    // Thrown outwards until a leg is stretched.
    let (summary, list) =
        run(&robot, &pose(&robot, &[(Coordinate::X, 0.05), (Coordinate::Y, 0.3)]), &[1.0, 1.5], &Law::Free, &options);
    assert!(matches!(&summary.stop, Stop::Singular { kind: Kind::Type1, leg: Some(_) }), "{}", summary.stop);
    let p = list.last().unwrap().pose.p;
    let reach = |x: f64| (p.x - x).hypot(p.y);
    assert!((reach(-0.14).max(reach(0.14)) - 0.4008).abs() < 1e-6, "{p:?}");
}

/// Joints beside a singularity may turn so quickly that a step passes over what they do: the energy tells, and the motion ends where it
/// should, by its name.
#[test]
fn steps_do_not_pass_over_a_singularity_of_legs_without_closed_form() {
    let robot = compile("hinged", HINGED);
    let from = robot.pose("x=0.01, y=0, z=-0.55, phi=0.2").unwrap();
    let options = SimulationOptions { every: 0.01, ..SimulationOptions::lasting(0.3) };
    let (summary, list) = run(&robot, &from, &[0.2, 0.0, 0.0, 0.2], &Law::Free, &options);
    assert!(matches!(&summary.stop, Stop::Singular { kind: Kind::Type1, leg: Some(_) }), "{:?}", summary.stop);
    assert!((summary.t - 0.253_227_8).abs() < 1e-5 && list.len() > 24, "{}", summary.t);
    assert!(summary.energy_error < 1e-6 * summary.energy_scale, "{summary:?}");
}

/// Both legs come to be stretched at once: the platform comes to rest, and the motion ends there for every length of time.
#[test]
fn two_legs_stretched_at_once_end_a_motion() {
    let robot = robot("five-bar-flexible");
    let law = Law::Efforts(EffortTable::constant(vec![-3.0, 3.0]));
    for duration in [0.08, 0.2, 0.5] {
        let options = SimulationOptions { every: 0.01, ..SimulationOptions::lasting(duration) };
        let (summary, list) = run(&robot, robot.home().pose(), &[0.0, 0.0], &law, &options);
        assert!(matches!(&summary.stop, Stop::Singular { kind: Kind::Type1, .. }), "{duration}: {}", summary.stop);
        assert!(summary.steps + summary.rejected < 20_000 && summary.energy_error < 1e-5, "{duration}: {summary:?}");
        assert!((list.last().unwrap().pose.p.y - 0.375_553_778).abs() < 1e-6);
    }
}

#[test]
fn stretched_passive_joints_end_a_motion_as_lpjts() {
    let robot = robot("tripteron");
    let rest = vec![0.0; 3];
    let (summary, _) = run(&robot, robot.home().pose(), &rest, &Law::Free, &SimulationOptions::lasting(1.0));
    assert!(matches!(&summary.stop, Stop::Singular { kind: Kind::Lpjts, leg: Some(_) }), "{}", summary.stop);
}

#[test]
fn computed_torque_with_the_exact_model_follows_to_1e_8() {
    use Coordinate::{Rx, Ry, Rz, X, Y, Z};
    for (name, to) in [
        ("five-bar", vec![(X, 0.06), (Y, 0.27)]),
        ("gough-stewart", vec![(X, 0.3), (Y, 0.4), (Z, 1.1), (Rx, 0.1), (Ry, -0.05), (Rz, 0.1)]),
        ("dualv", vec![(X, 0.05), (Y, -0.03), (Rz, 0.1)]),
        ("orthoglide", vec![(X, 0.05), (Y, 0.04), (Z, 0.3)]),
    ] {
        let robot = robot(name);
        let from = *robot.home().pose();
        let from = if name == "five-bar" { pose(&robot, &[(X, 0.0), (Y, 0.3)]) } else { from };
        let trajectory = Trajectory::between(from, pose(&robot, &to), 0.8).unwrap();
        let law = controller(Feedback::ComputedTorque, Gains::all(400.0, 40.0), trajectory.clone());
        let options =
            SimulationOptions { method: Method::Adaptive { tolerance: 1e-11 }, ..SimulationOptions::lasting(1.0) };
        let rest = vec![0.0; robot.model().topology().platform.independent.len()];
        let (summary, list) = run(&robot, &from, &rest, &law, &options);
        assert_eq!(summary.stop, Stop::End, "{name}: {}", summary.stop);
        let off = |i: &Instant| {
            let e = pose_error(&trajectory.at(i.t).pose, &i.pose);
            e.v.norm().max(e.w.norm())
        };
        let worst = list.iter().map(off).fold(0.0, f64::max);
        println!("{name}: follows to {worst:e} in {} steps", summary.steps);
        assert!(worst < 1e-8, "{name}: {worst:e}");
        // A controller that believes in other masses is worse, but holds on.
        let mut factors = [1.1, 0.9, 1.05].into_iter().cycle();
        let believed = robot.model().with_scaled_inertias(|| factors.next().unwrap());
        let Law::Controller(c) = law else { unreachable!() };
        let law = Law::Controller(Box::new(Controller { believed: Some(believed), ..*c }));
        let (_, list) = run(&robot, &from, &rest, &law, &SimulationOptions::lasting(1.0));
        let perturbed = list.iter().map(off).fold(0.0, f64::max);
        assert!(perturbed > 1e-6 && perturbed < 2e-2, "{name}: {perturbed:e}");
    }
}

#[test]
fn computed_torque_follows_where_angles_of_the_platform_follow_from_the_closures() {
    for name in ["exechon", "3-prs"] {
        let robot = crate::common::compile(name, &crate::common::text(name));
        let home = *robot.home().pose();
        let z = home.p.z + 0.03 * robot.model().size();
        let to = pose(&robot, &[(Coordinate::Z, z), (Coordinate::Rx, 0.2), (Coordinate::Ry, 0.25)]);
        let trajectory = Trajectory::between(home, to, 0.8).unwrap();
        let law = controller(Feedback::ComputedTorque, Gains::all(400.0, 40.0), trajectory);
        let options =
            SimulationOptions { method: Method::Adaptive { tolerance: 1e-11 }, ..SimulationOptions::lasting(1.0) };
        let found = robot.simulate(&home, &options).law(law).answer().unwrap();
        assert_eq!(found.summary.stop, Stop::End, "{name}: {}", found.summary.stop);
        let off = found.tracking.unwrap();
        assert!(off.largest_m < 1e-8 && off.largest_rad < 1e-8, "{name}: {off:?}");
    }
}

#[test]
fn pd_controllers_come_to_rest_at_their_goal() {
    let robot = falling_five_bar(&[]);
    let goal = pose(&robot, &[(Coordinate::X, 0.04), (Coordinate::Y, 0.3)]);
    let from = pose(&robot, &[(Coordinate::X, 0.0), (Coordinate::Y, 0.32)]);
    for (feedback, gains) in
        [(Feedback::JointPd { gravity: true }, Gains::all(20.0, 2.0)), (Feedback::PlatformPd, Gains::all(400.0, 40.0))]
    {
        let law = controller(feedback, gains.clone(), Trajectory::hold(goal));
        let (summary, list) = run(&robot, &from, &[0.0, 0.0], &law, &SimulationOptions::lasting(4.0));
        let off = (list.last().unwrap().pose.p - goal.p).norm();
        assert!(summary.stop == Stop::End && off < 1e-6, "{feedback:?}: {} {off:e}", summary.stop);
        assert!(summary.energy_error < 1e-6 * summary.energy_scale, "{summary:?}");
    }
    // Without gravity in the model the joints sag.
    let law = controller(Feedback::JointPd { gravity: false }, Gains::all(20.0, 2.0), Trajectory::hold(goal));
    let (_, list) = run(&robot, &from, &[0.0, 0.0], &law, &SimulationOptions::lasting(4.0));
    assert!((list.last().unwrap().pose.p - goal.p).norm() > 1e-3);
}

#[test]
fn fixed_and_adaptive_steps_agree_and_errors_fall_with_the_order() {
    let robot = robot("gough-stewart");
    let rest = *robot.home().pose();
    let twist = [0.1, -0.1, 0.15, 0.2, 0.1, -0.2];
    let law = springs(400_000.0, rest);
    let end = |method: Method| {
        let options = SimulationOptions { method, every: 0.25, ..SimulationOptions::lasting(0.25) };
        run(&robot, &rest, &twist, &law, &options).1.last().unwrap().pose
    };
    let exact = end(Method::Adaptive { tolerance: 1e-13 });
    let off = |pose: &Pose<f64>| {
        let e = pose_error(&exact, pose);
        e.v.norm().max(e.w.norm())
    };
    let fixed = [100.0, 200.0, 400.0].map(|n| off(&end(Method::Fixed { step: 0.25 / n })));
    for pair in fixed.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((3.6..4.6).contains(&order), "order {order}, {fixed:?}");
    }
    assert!(fixed[2] < 1e-8, "{fixed:?}");
    let loose = [1e-5, 1e-8].map(|tolerance| off(&end(Method::Adaptive { tolerance })));
    assert!(loose[1] < 0.02 * loose[0] && loose[1] < 1e-7, "{loose:?}");
}

#[test]
fn the_same_seed_gives_the_same_noise() {
    let robot = falling_five_bar(&[]);
    let goal = pose(&robot, &[(Coordinate::X, 0.02), (Coordinate::Y, 0.3)]);
    for feedback in [Feedback::JointPd { gravity: true }, Feedback::PlatformPd] {
        let gains = if feedback == Feedback::PlatformPd { Gains::all(400.0, 40.0) } else { Gains::all(20.0, 2.0) };
        let law = controller(feedback, gains, Trajectory::hold(goal));
        let last = |seed: u64, position: f64, method: Method| {
            let noise = Some(Noise { position, rate: 0.0, seed });
            let options = SimulationOptions { noise, period: Some(1e-3), method, ..SimulationOptions::lasting(0.2) };
            run(&robot, &goal, &[0.0, 0.0], &law, &options).1.last().unwrap().clone()
        };
        let adaptive = Method::Adaptive { tolerance: 1e-9 };
        let (a, b, c) = (last(7, 1e-4, adaptive), last(7, 1e-4, adaptive), last(8, 1e-4, adaptive));
        assert_eq!(a, b);
        assert!((a.pose.p - c.pose.p).norm() > 1e-7 && (a.pose.p - goal.p).norm() < 1e-2);
        // Whatever the steps are.
        let fixed = last(7, 1e-4, Method::Fixed { step: 1e-3 });
        assert!((a.pose.p - fixed.pose.p).norm() < 1e-6, "{:?} {:?}", a.pose.p, fixed.pose.p);
        let quiet = last(7, 0.0, adaptive);
        assert!((quiet.pose.p - goal.p).norm() < 1e-9);
    }
}

#[test]
fn friction_takes_the_energy_and_limits_of_the_drives_bind() {
    let robot = robot("five-bar");
    let from = pose(&robot, &[(Coordinate::X, 0.0), (Coordinate::Y, 0.28)]);
    let options = SimulationOptions { friction: Some(Sign::Smooth(1e-2)), ..SimulationOptions::lasting(0.5) };
    let (summary, list) = run(&robot, &from, &[0.3, 0.1], &Law::Free, &options);
    let (first, last) = (&list[0], list.last().unwrap());
    assert!(summary.stop == Stop::End && last.energies[0] + last.energies[1] < 1e-6 * first.energies[0]);
    assert!(summary.energy_error < 1e-6 * summary.energy_scale && last.losses > 0.0, "{summary:?}");

    let limited = falling_five_bar(&[("zz11R - zz1 - d12^2*m2\"", "zz11R - zz1 - d12^2*m2\", effort = 0.4")]);
    let law = Law::Efforts(EffortTable::new(vec![0.0, 0.1], &[vec![0.0, 0.0], vec![1.0, 0.0]]).unwrap());
    let options = SimulationOptions { duration: 0.1, every: 1e-3, ..SimulationOptions::lasting(0.1) };
    let (summary, list) = run(&limited, &from, &[0.0, 0.0], &law, &options);
    for i in &list {
        assert!((i.efforts[0] - (10.0 * i.t).min(0.4)).abs() < 1e-9 && i.efforts[1] == 0.0, "{i:?}");
    }
    assert!((summary.saturated[0] - 0.06).abs() < 5e-3 && summary.saturated[1] == 0.0, "{summary:?}");
    let (_, free) = run(&limited, &from, &[0.0, 0.0], &law, &SimulationOptions { saturate: false, ..options });
    assert!(free.last().unwrap().efforts[0] > 0.9);
}

#[test]
fn coordinates_that_follow_keep_the_loops_closed() {
    let robot = compile("3-prs", &crate::common::text("3-prs"));
    let rest = *robot.home().pose();
    let n = robot.model().topology().platform.independent.len();
    let law = springs(2000.0, rest);
    let options = SimulationOptions {
        method: Method::Adaptive { tolerance: 1e-8 },
        every: 0.02,
        ..SimulationOptions::lasting(0.1)
    };
    let found = simulate(robot.model(), robot.mode(), (&rest, &vec![0.1; n]), &law, &options, &mut |_: &Instant| true);
    match found {
        Ok(summary) => {
            assert_eq!(summary.stop, Stop::End, "{}", summary.stop);
            assert!(summary.gap[0] <= 1e-10 && summary.gap[1] <= 1e-10, "{summary:?}");
            assert!(summary.energy_error < 1e-5 * summary.energy_scale, "{summary:?}");
        }
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn wrong_questions_are_refused() {
    let robot = robot("five-bar");
    let from = *robot.home().pose();
    let ask = |options: SimulationOptions, law: &Law, t_r: &[f64]| {
        simulate(robot.model(), robot.mode(), (&from, t_r), law, &options, &mut |_: &Instant| true).unwrap_err()
    };
    let good = SimulationOptions::lasting(1.0);
    let rest = [0.0, 0.0];
    for (options, what) in [
        (SimulationOptions { duration: -1.0, ..good.clone() }, "the time is -1"),
        (SimulationOptions { duration: f64::NAN, ..good.clone() }, "positive"),
        (SimulationOptions { every: 1e-12, ..good.clone() }, "records"),
        (SimulationOptions { method: Method::Fixed { step: 1e-30 }, ..good.clone() }, "steps"),
        (SimulationOptions { method: Method::Fixed { step: 0.0 }, ..good.clone() }, "the step is 0"),
        (SimulationOptions { method: Method::Adaptive { tolerance: 1e-30 }, ..good.clone() }, "tolerance"),
        (SimulationOptions { noise: Some(Noise { position: 1.0, rate: 0.0, seed: 1 }), ..good.clone() }, "noise needs"),
        (SimulationOptions { friction: Some(Sign::Smooth(0.0)), ..good.clone() }, "width"),
    ] {
        let said = ask(options, &Law::Free, &rest).to_string();
        assert!(said.contains(what), "{said}");
    }
    let gains = controller(Feedback::PlatformPd, Gains { kp: vec![1.0; 3], kd: vec![1.0] }, Trajectory::hold(from));
    assert!(matches!(ask(good.clone(), &gains, &rest), SetupError::WrongCount { .. }));
    let efforts = Law::Efforts(EffortTable::constant(vec![1.0]));
    assert!(matches!(ask(good.clone(), &efforts, &rest), SetupError::WrongCount { .. }));
    assert!(matches!(ask(good.clone(), &Law::Free, &[0.0]), SetupError::Start(_)));
    let far = Trajectory::hold(pose(&robot, &[(Coordinate::X, 5.0), (Coordinate::Y, 5.0)]));
    let law = controller(Feedback::JointPd { gravity: false }, Gains::all(1.0, 1.0), far);
    assert!(matches!(ask(good, &law, &rest), SetupError::Controller(_)));
    let open = compile("redundant", &crate::common::text("redundant"));
    let n = open.model().topology().platform.independent.len();
    let start = (open.home().pose(), &vec![0.0; n][..]);
    let refused =
        simulate(open.model(), open.mode(), start, &Law::Free, &SimulationOptions::lasting(1.0), &mut |_: &Instant| {
            true
        });
    assert!(matches!(refused, Err(SetupError::OpenJoints(_))), "{refused:?}");
}

/// Four arms and rods, two and two on halves that are hinged on the travelling plate.
const HINGED: &str = r#"
[robot]
name = "h4"
home = { x = 0.01, y = 0, z = -0.55, yaw = "5 deg" }
near = { c1 = "30 deg", c2 = "30 deg", c3 = "30 deg", c4 = "30 deg" }
[parameters]
R = 0.25
l1 = 0.25
l2 = 0.55
[platform]
coordinates = ["x", "y", "z", "rz"]
mass = 0.4
inertia = { at = "com", xx = 0.001, yy = 0.001, zz = 0.0015 }
[[body]]
name = "hA"
on = "platform"
joint = "R"
point = [0.06, 0, 0]
mass = 0.3
com = [0.02, 0, 0]
inertia = { at = "com", xx = 0.0005, yy = 0.0005, zz = 0.0009 }
[[body]]
name = "hB"
on = "platform"
joint = "R"
point = [-0.06, 0, 0]
mass = 0.3
com = [-0.02, 0, 0]
inertia = { at = "com", xx = 0.0005, yy = 0.0005, zz = 0.0009 }

[[body]]
name = "c1"
on = "base"
joint = "R"
frame = { rpy = [0, 0, "45 deg"] }
point = ["R", 0, 0]
axis = [0, 1, 0]
drive = { rotor_inertia = 0.01, effort = 30 }
mass = 0.3
com = ["l1/2", 0, 0]
inertia = { at = "com", xx = 0.0001, yy = 0.001, zz = 0.001 }
[[body]]
name = "r1"
on = "c1"
joint = "U"
point = ["l1", 0, 0]
axis = [0, 1, 0]
axis2 = [0, 0, 1]
mass = 0.2
com = ["l2/2", 0, 0]
inertia = { at = "com", xx = 0.00001, yy = 0.005, zz = 0.005 }
[[closure]]
joint = "U"
a = { body = "r1", point = ["l2", 0, 0], axis = [0, 0, 1] }
b = { body = "hA", point = [0.02, 0.05, 0], axis = [-0.7071067811865475, 0.7071067811865476, 0] }

[[body]]
name = "c2"
on = "base"
joint = "R"
frame = { rpy = [0, 0, "-45 deg"] }
point = ["R", 0, 0]
axis = [0, 1, 0]
drive = { rotor_inertia = 0.01, effort = 30 }
mass = 0.3
com = ["l1/2", 0, 0]
inertia = { at = "com", xx = 0.0001, yy = 0.001, zz = 0.001 }
[[body]]
name = "r2"
on = "c2"
joint = "U"
point = ["l1", 0, 0]
axis = [0, 1, 0]
axis2 = [0, 0, 1]
mass = 0.2
com = ["l2/2", 0, 0]
inertia = { at = "com", xx = 0.00001, yy = 0.005, zz = 0.005 }
[[closure]]
joint = "U"
a = { body = "r2", point = ["l2", 0, 0], axis = [0, 0, 1] }
b = { body = "hA", point = [0.02, -0.05, 0], axis = [0.7071067811865475, 0.7071067811865476, 0] }

[[body]]
name = "c3"
on = "base"
joint = "R"
frame = { rpy = [0, 0, "135 deg"] }
point = ["R", 0, 0]
axis = [0, 1, 0]
drive = { rotor_inertia = 0.01, effort = 30 }
mass = 0.3
com = ["l1/2", 0, 0]
inertia = { at = "com", xx = 0.0001, yy = 0.001, zz = 0.001 }
[[body]]
name = "r3"
on = "c3"
joint = "U"
point = ["l1", 0, 0]
axis = [0, 1, 0]
axis2 = [0, 0, 1]
mass = 0.2
com = ["l2/2", 0, 0]
inertia = { at = "com", xx = 0.00001, yy = 0.005, zz = 0.005 }
[[closure]]
joint = "U"
a = { body = "r3", point = ["l2", 0, 0], axis = [0, 0, 1] }
b = { body = "hB", point = [-0.02, 0.05, 0], axis = [-0.7071067811865476, -0.7071067811865475, 0] }

[[body]]
name = "c4"
on = "base"
joint = "R"
frame = { rpy = [0, 0, "225 deg"] }
point = ["R", 0, 0]
axis = [0, 1, 0]
drive = { rotor_inertia = 0.01, effort = 30 }
mass = 0.3
com = ["l1/2", 0, 0]
inertia = { at = "com", xx = 0.0001, yy = 0.001, zz = 0.001 }
[[body]]
name = "r4"
on = "c4"
joint = "U"
point = ["l1", 0, 0]
axis = [0, 1, 0]
axis2 = [0, 0, 1]
mass = 0.2
com = ["l2/2", 0, 0]
inertia = { at = "com", xx = 0.00001, yy = 0.005, zz = 0.005 }
[[closure]]
joint = "U"
a = { body = "r4", point = ["l2", 0, 0], axis = [0, 0, 1] }
b = { body = "hB", point = [-0.02, -0.05, 0], axis = [0.7071067811865475, -0.7071067811865477, 0] }
"#;
