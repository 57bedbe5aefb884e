//! Motions through singularities: laws of motion, the criterion, limits of efforts, plans that cross.
use crate::common::{compile, robot, text};
use gough::Robot;
use gough::analysis::named_end_of_reach;
use gough::crossing::{
    CrossingPlan, CrossingTask, LegDriven, Objective, PlanError, Wish, criterion, crossings, fastest, inspect_all,
    lost_motions, plan_crossing, plan_passive, simulate_leg,
};
use gough::description::Coordinate::{Rx, Ry, Rz, X, Y, Z};
use gough::dynamics::Dynamics;
use gough::dynamics::newton_euler::Sign;
use gough::kinematics::inverse;
use gough::kinematics::platform::pose_with;
use gough::simulation::{Controller, EffortTable, Feedback, Gains, Instant, Law, SimulationOptions, Stop, simulate};
use gough::spatial::{Pose, Wrench, vec3};
use gough::trajectory::{
    Bound, Condition, Look, Polynomial, Sample, TimeLaw, Trajectory, by_joints, fifth_degree, pose_error,
};

fn at(x: f64, y: f64) -> Pose<f64> {
    Pose::translation(vec3(x, y, 0.0))
}

fn sample(t: f64, pose: Pose<f64>, twist: Vec<f64>, acceleration: Vec<f64>) -> Sample {
    Sample { t, pose, twist: Some(twist), acceleration: Some(acceleration) }
}

#[test]
fn laws_are_those_of_appendix_d() {
    for i in 0..=100 {
        let (r, T) = (f64::from(i) / 100.0, 0.8);
        let half = |x: f64| if r <= 0.5 { 2.0 * x * x } else { 1.0 - 2.0 * (1.0 - x) * (1.0 - x) };
        let third = match r {
            _ if r <= 1.0 / 3.0 => 2.25 * r * r,
            _ if r <= 2.0 / 3.0 => 0.25 + 1.5 * (r - 1.0 / 3.0),
            _ => 1.0 - 2.25 * (1.0 - r) * (1.0 - r),
        };
        let closed = [
            (TimeLaw::Poly3, 3.0 * r.powi(2) - 2.0 * r.powi(3)),
            (TimeLaw::Poly5, 10.0 * r.powi(3) - 15.0 * r.powi(4) + 6.0 * r.powi(5)),
            (TimeLaw::Poly7, 35.0 * r.powi(4) - 84.0 * r.powi(5) + 70.0 * r.powi(6) - 20.0 * r.powi(7)),
            (TimeLaw::BangBang, half(r)),
            (TimeLaw::Trapezoid, third),
        ];
        for (law, s) in closed {
            let found = law.over(2.0, T).at(2.0 + T * r)[0];
            assert!((found - s).abs() < 1e-12, "{} {r}: {found} {s}", law.word());
        }
    }
    assert!((fifth_degree(0.4, 0.8)[1] - 1.875 / 0.8).abs() < 1e-12);
}

#[test]
fn laws_go_from_rest_to_rest_and_their_derivatives_agree() {
    for law in TimeLaw::ALL {
        let curve = law.over(0.5, 2.0);
        let ends = [curve.at(0.5), curve.at(2.5)];
        assert!(ends[0][0].abs() < 1e-14 && (ends[1][0] - 1.0).abs() < 1e-12, "{}", law.word());
        assert!(ends.iter().all(|e| e[1].abs() < 1e-12), "{}", law.word());
        for i in 1..40 {
            // Off the corners of the accelerations.
            let (t, h) = (0.5 + 0.0497 * f64::from(i), 1e-5);
            let [low, here, high] = [t - h, t, t + h].map(|t| curve.at(t));
            for k in 0..3 {
                let slope = (high[k] - low[k]) / (2.0 * h);
                assert!((slope - here[k + 1]).abs() < 1e-5 * (1.0 + here[k + 1].abs()), "{} {t} {k}", law.word());
            }
        }
    }
}

#[test]
fn a_polynomial_meets_conditions_of_any_order_at_any_instants() {
    let list =
        [(0.3, 0, 1.0), (0.3, 3, -2.0), (0.9, 1, 0.5), (0.9, 2, 4.0), (1.4, 0, -1.0), (1.4, 1, 0.0), (2.0, 3, 7.0)];
    let conditions = list.map(|(t, order, value)| Condition { t, order, value });
    let found = Polynomial::through(&conditions).unwrap();
    for c in conditions {
        assert!((found.at(c.t)[c.order] - c.value).abs() < 1e-9, "{c:?} {:?}", found.at(c.t));
    }
    let slower = found.slowed(2.0);
    assert!((slower.at(1.8)[1] - 0.5 * found.at(0.9)[1]).abs() < 1e-12);
    let twice = [conditions[0], conditions[0]];
    assert!(Polynomial::through(&twice).is_none() && Polynomial::through(&[]).is_none());
    assert!(Polynomial::through(&[Condition { t: f64::NAN, ..conditions[0] }]).is_none());
}

#[test]
fn via_points_are_passed_smoothly_or_rested_at() {
    let robot = robot("3-rpr");
    let home = *robot.home().pose();
    let place = |x: f64, y: f64, phi: f64| pose_with(robot.model(), &home, &[(X, x), (Y, y), (Rz, phi)]);
    let stops = [
        (0.0, place(0.0, 0.0, 0.5)),
        (0.4, place(0.05, 0.02, 0.6)),
        (0.7, place(0.06, -0.03, 0.4)),
        (1.0, place(0.0, 0.0, 0.5)),
    ];
    let passing = Trajectory::passing(robot.model(), robot.mode(), &stops).unwrap();
    let stopping = Trajectory::stopping(TimeLaw::Trapezoid, &stops).unwrap();
    for (t, pose) in &stops {
        for motion in [&passing, &stopping] {
            let off = pose_error(pose, &motion.at(*t).pose);
            assert!(off.v.norm() < 1e-14 && off.w.norm() < 1e-12, "{t}");
        }
        assert!(stopping.at(*t).V.v.norm() < 1e-12);
    }
    assert!(passing.at(0.4).V.v.norm() > 0.05 && passing.at(0.0).V.v.norm() == 0.0);
    // Jerk is the slope of the acceleration, for all kinds of motion.
    for (motion, t) in [(&passing, 0.55), (&stopping, 0.62)] {
        let h = 1e-5;
        let slope = (motion.at(t + h).A.a - motion.at(t - h).A.a) / (2.0 * h);
        let turn = (motion.at(t + h).A.alpha - motion.at(t - h).A.alpha) / (2.0 * h);
        let jerk = motion.jerk(t);
        assert!((slope - jerk.a).norm() < 1e-4 && (turn - jerk.alpha).norm() < 1e-4, "{jerk:?} {slope} {turn}");
    }
    let slower = passing.slowed(3.0);
    assert!((slower.at(1.5).V.v * 3.0 - passing.at(0.5).V.v).norm() < 1e-12);
}

#[test]
fn jerk_of_a_turning_platform_is_the_slope_of_its_acceleration() {
    let robot = robot("gough-stewart");
    let home = *robot.home().pose();
    let turned = pose_with(robot.model(), &home, &[(X, 0.3), (Y, 0.4), (Z, 1.1), (Rz, 0.3)]);
    let rest = || vec![0.0; 6];
    let samples = [
        sample(0.0, home, rest(), rest()),
        sample(0.5, turned, vec![0.1, -0.2, 0.1, 0.3, -0.1, 0.2], vec![1.0, 0.5, -0.3, 0.4, 0.2, -1.0]),
        sample(1.0, home, rest(), rest()),
    ];
    let motion = Trajectory::polynomial(robot.model(), robot.mode(), &samples).unwrap();
    let (V, A) = (motion.at(0.5).V, motion.at(0.5).A);
    assert!((V.w - vec3(0.3, -0.1, 0.2)).norm() < 1e-12 && (A.alpha - vec3(0.4, 0.2, -1.0)).norm() < 1e-10);
    for t in [0.2, 0.5, 0.77] {
        let h = 1e-5;
        let slope = (motion.at(t + h).A.alpha - motion.at(t - h).A.alpha) / (2.0 * h);
        let jerk = motion.jerk(t);
        assert!((slope - jerk.alpha).norm() < 1e-5 * (1.0 + slope.norm()) && slope.norm() > 0.1, "{slope} {jerk:?}");
    }
}

/// The singular abscissa at y = 0.2: where a horizontal line meets the singularity.
fn x_s(robot: &Robot) -> f64 {
    let line = Trajectory::between(at(0.04, 0.2), at(0.07, 0.2), 1.0).unwrap();
    let found = crossings(robot.model(), robot.mode(), &line, Wrench::zero()).unwrap();
    assert_eq!(found.len(), 1);
    found[0].position[0]
}

/// The task of section 9.4: conditions at the crossing but for one acceleration.
fn five_bar_task(robot: &Robot) -> CrossingTask {
    let wish = Wish {
        pose: Some(at(x_s(robot), 0.2)),
        t: Some(0.75),
        twist: Some(vec![0.16709, -0.48128]),
        acceleration: vec![Some(6.8e-4), None],
    };
    CrossingTask {
        from: at(0.0, 0.338_175),
        to: at(0.1, 0.1),
        duration: 1.5,
        wishes: vec![wish],
        objective: None,
        seed: 1,
    }
}

fn planned(robot: &Robot, task: &CrossingTask) -> CrossingPlan {
    plan_crossing(robot.model(), robot.mode(), task, &mut |_, _| true).unwrap_or_else(|e| panic!("{e}"))
}

/// Efforts with friction at a time of a motion.
fn efforts(robot: &Robot, motion: &Trajectory, t: f64) -> Vec<f64> {
    let model = robot.model();
    let n = model.topology().platform.independent.len();
    let desired = motion.at(t);
    let (mut t_r, mut td_r) = (vec![0.0; n], vec![0.0; n]);
    desired.components(model, &mut t_r, &mut td_r);
    Dynamics::new(model).inverse(model, &desired.pose, robot.mode(), &t_r, &td_r, Some(Sign::Sharp)).unwrap().to_vec()
}

#[test]
fn the_five_bar_crosses_as_computed_for_section_9_4() {
    let robot = robot("five-bar");
    assert!((x_s(&robot) - 0.054_408_468_2).abs() < 1e-10);
    let plan = planned(&robot, &five_bar_task(&robot));
    let motion = &plan.trajectory;
    let y = motion.at(0.75).A.a.y;
    assert!((y - 0.010_848_369_3).abs() < 1e-10, "{y}");
    let computed = [
        [0.0, 0.0, 0.0, 0.035_700_1, 0.344_595_14, -0.055_545_97, -0.667_790_33, 0.567_602_11, -0.134_015_22],
        [0.338_175, 0.0, 0.0, 0.514_980_93, -2.475_174_23, 1.090_838_16, 2.307_446_15, -2.217_647_68, 0.541_502_52],
    ];
    for ((_, polynomial), computed) in motion.polynomials().iter().zip(computed) {
        for (a, b) in polynomial.coefficients.iter().zip(computed) {
            assert!((a - b).abs() < 6e-9, "{a} {b}");
        }
    }
    // At rest nothing rubs: a rate that is rounding would have a sign.
    assert_eq!(efforts(&robot, motion, 1.5).iter().map(|x| x.abs() < 1e-9).collect::<Vec<_>>(), [true, true]);
    let crossing = &plan.crossings[0];
    assert!(plan.crossings.len() == 1 && crossing.bounded && (crossing.t - 0.75).abs() < 1e-9);
    let (v, q) = (crossing.twist_lost[0], (-3.93364_f64).to_radians());
    assert!((v[0] / v[1] + q.tan()).abs() < 1e-6, "t_s = [-sin, cos] of q11 + q12: {v:?}");
    // Efforts at the crossing are the limit of those beside it: means of both sides at two distances, extrapolated.
    let mean = |h: f64| {
        let [a, b] = [-h, h].map(|h| efforts(&robot, motion, crossing.t + h));
        [0, 1].map(|k| 0.5 * (a[k] + b[k]))
    };
    let (far, near) = (mean(2e-4), mean(1e-4));
    for (k, limit) in crossing.limit_efforts.as_ref().unwrap().iter().enumerate() {
        let limit_of_samples = (4.0 * near[k] - far[k]) / 3.0;
        assert!((limit - limit_of_samples).abs() < 1e-6, "{limit} {limit_of_samples}");
    }
    for step in [1e-2, 1e-3] {
        let look = Look { step: Some(step), ..Look::default() };
        let found = inspect_all(robot.model(), robot.mode(), motion, &look).unwrap();
        assert!(found.profile.refusals.is_empty() && found.unbounded() == [false, false]);
        for (drive, peak) in found.profile.drives.iter().zip([12.1360, 11.8116]) {
            assert!((drive.peak.abs() - peak).abs() < 1e-4, "{step}: {drive:?}");
        }
    }
}

#[test]
fn efforts_beside_a_crossing_stay_when_the_step_is_refined() {
    let robot = robot("five-bar");
    let plan = planned(&robot, &five_bar_task(&robot));
    let found = gough::crossing::refined(robot.model(), robot.mode(), &plan.trajectory, &plan.crossings[0]);
    let limit = plan.crossings[0].limit_efforts.clone().unwrap();
    for beside in &found[1..] {
        for (peak, limit) in beside.peaks.iter().zip(&limit) {
            assert!((peak - limit.abs()).abs() < 2e3 * beside.step, "{beside:?} {limit}");
        }
    }
    assert!((found[3].peaks[0] - limit[0].abs()).abs() < 1e-3, "{found:?}");
}

#[test]
fn the_motion_of_fifth_degree_grows_as_computed_for_section_9_4() {
    let robot = robot("five-bar");
    // As printed, with six digits; a spline of fifth degree through a polynomial of fifth degree is that polynomial.
    let power = |c: [f64; 6]| Polynomial { start: 0.0, coefficients: c.to_vec() };
    let x = power([0.0, 0.0, 0.0, 0.296_296, -0.296_296, 0.079_012]);
    let y = power([0.338_175, 0.0, 0.0, -0.705_704, 0.705_704, -0.188_188]);
    let samples = [0.0, 0.75, 1.5].map(|t| {
        let (x, y) = (x.at(t), y.at(t));
        sample(t, at(x[0], y[0]), vec![x[1], y[1]], vec![x[2], y[2]])
    });
    let motion = Trajectory::sampled(robot.model(), robot.mode(), &samples).unwrap();
    let found = crossings(robot.model(), robot.mode(), &motion, Wrench::zero()).unwrap();
    assert!(found.len() == 1 && !found[0].bounded && (found[0].t - 0.818_584).abs() < 1e-6, "{found:?}");
    for (step, peaks) in [(1e-3, [18.1, 11.2]), (1e-4, [59.8, 57.4])] {
        // The sampling grid of the table: a third of a step off whole steps.
        let first = (found[0].t / step).round() - 30.0;
        let rows = (0..60).map(|k| efforts(&robot, &motion, step / 3.0 + (first + f64::from(k)) * step));
        let most = rows.fold([0.0_f64; 2], |m, e| [m[0].max(e[0].abs()), m[1].max(e[1].abs())]);
        for (a, b) in most.iter().zip(peaks) {
            assert!((a - b).abs() < 0.051, "{step}: {most:?}");
        }
    }
    // The growth that is told is that of the samples.
    let h = 1e-6;
    let beside = efforts(&robot, &motion, found[0].t + h);
    let limit = found[0].limit_efforts.clone().unwrap();
    for k in 0..2 {
        let grown = (beside[k] - limit[k]) * h;
        assert!((grown - found[0].growth[k]).abs() < 1e-3 * grown.abs(), "{grown} {:?}", found[0].growth);
    }
    let found = inspect_all(robot.model(), robot.mode(), &motion, &Look::default()).unwrap();
    assert_eq!(found.unbounded(), [true, true]);
}

#[test]
fn the_criterion_is_the_power_of_what_the_platform_needs() {
    let robot = robot("five-bar");
    let pose = at(x_s(&robot), 0.2);
    let posture = inverse(robot.model(), &pose, robot.mode()).unwrap();
    let lost = lost_motions(robot.model(), &posture).unwrap();
    assert_eq!(lost.len(), 1);
    let (G, c) = criterion(robot.model(), &posture, &[0.16709, -0.48128], &lost, None).unwrap();
    // With the accelerations that are printed: -5.723e-3 N, whatever the sign of the motion.
    let value = c[0] + G.at(0, 0) * 6.8e-4 - G.at(0, 1) * 0.01;
    assert!((value.abs() - 5.723e-3).abs() < 1e-6, "{value}");
}

/// Efforts of a plan without friction, every millisecond.
fn feed_forward(robot: &Robot, motion: &Trajectory) -> EffortTable {
    let look = Look { step: Some(1e-3), ..Look::default() };
    let rows = inspect_all(robot.model(), robot.mode(), motion, &look).unwrap().profile.rows;
    let efforts: Vec<Vec<f64>> = rows.iter().map(|r| r.efforts.clone()).collect();
    EffortTable::new(rows.iter().map(|r| r.t).collect(), &efforts).unwrap()
}

/// Where a simulation through a plan ends, off its goal.
fn simulated(robot: &Robot, task: &CrossingTask, law: &Law, period: Option<f64>) -> f64 {
    let n = robot.model().topology().platform.independent.len();
    let options = SimulationOptions {
        through_type2: true,
        saturate: false,
        period,
        every: task.duration,
        ..SimulationOptions::lasting(task.duration)
    };
    let mut last = None;
    let ended =
        simulate(robot.model(), robot.mode(), (&task.from, &vec![0.0; n]), law, &options, &mut |i: &Instant| {
            last = Some(i.pose);
            true
        })
        .unwrap();
    assert_eq!(ended.stop, Stop::End);
    let off = pose_error(&task.to, &last.unwrap());
    off.v.norm().max(off.w.norm() * robot.model().length())
}

/// Plans, and follows the plan with its efforts alone and with computed torque at 1 kHz.
fn crosses(robot: &Robot, to: Pose<f64>) {
    let name = &robot.model().topology().name;
    let from = *robot.home().pose();
    let task = CrossingTask { from, to, duration: 1.0, wishes: Vec::new(), objective: None, seed: 1 };
    let plan = planned(robot, &task);
    assert!(plan.crossings.len() == 1 && plan.crossings[0].bounded, "{:?}", plan.crossings);
    let planned = feed_forward(robot, &plan.trajectory);
    let open = simulated(robot, &task, &Law::Efforts(planned.clone()), None);
    let controller = Controller {
        feedback: Feedback::ComputedTorque,
        gains: Gains::all(400.0, 40.0),
        trajectory: plan.trajectory,
        believed: None,
        friction: None,
        planned: Some(planned),
    };
    let closed = simulated(robot, &task, &Law::Controller(Box::new(controller)), Some(1e-3));
    eprintln!("{name}: open loop {open:.2e} m, computed torque {closed:.2e} m");
    assert!(open < 1e-3 && closed < 1e-4, "{name}: open loop {open:.2e} m, computed torque {closed:.2e} m");
}

#[test]
fn the_3_rpr_is_driven_through_a_singularity_by_plan() {
    let robot = robot("3-rpr");
    crosses(&robot, pose_with(robot.model(), robot.home().pose(), &[(X, 0.03), (Y, -0.02), (Rz, -0.5)]));
}

#[test]
fn the_gough_stewart_platform_is_driven_through_a_singularity_by_plan() {
    let robot = robot("gough-stewart");
    let angles = [(Rx, 0.213), (Ry, 0.459), (Rz, 0.408)];
    crosses(
        &robot,
        pose_with(robot.model(), robot.home().pose(), &[&[(X, 0.2404), (Y, 0.479), (Z, 0.9685)], &angles[..]].concat()),
    );
}

#[test]
fn several_singularities_are_crossed_in_one_motion() {
    let robot = robot("3-rpr");
    let home = *robot.home().pose();
    let pose = |x: f64, phi: f64| pose_with(robot.model(), &home, &[(X, x), (Y, 0.0), (Rz, phi)]);
    let wish = |x: f64| Wish { pose: Some(pose(x, 0.0)), ..Wish::default() };
    let task = CrossingTask {
        from: pose(-0.05, 0.4),
        to: pose(0.05, 0.4),
        duration: 2.0,
        wishes: vec![wish(-0.02), wish(0.02)],
        objective: None,
        seed: 1,
    };
    let plan = planned(&robot, &task);
    assert!(plan.crossings.len() == 2 && plan.crossings.iter().all(|c| c.bounded), "{:?}", plan.crossings);
    let one = CrossingTask { wishes: vec![wish(0.0)], ..task };
    let refused = plan_crossing(robot.model(), robot.mode(), &one, &mut |_, _| true).unwrap_err();
    assert!(matches!(refused, PlanError::WrongCount { wished: 1 }), "{refused}");
}

/// All struts of a robot whose joints lie on two lines fall into one line: two motions are lost at once, det J keeps its sign,
/// and one condition is met for each motion.
#[test]
fn a_deficiency_of_order_two_is_found_and_crossed_with_two_conditions() {
    let robot = compile("aligned-rpr", &text("aligned-rpr"));
    let pose = |y: f64, phi: f64| pose_with(robot.model(), robot.home().pose(), &[(X, 0.6), (Y, y), (Rz, phi)]);
    let (from, to) = (pose(0.2, 0.25), pose(-0.2, -0.25));
    let straight = Trajectory::between(from, to, 1.0).unwrap();
    let met = crossings(robot.model(), robot.mode(), &straight, Wrench::zero()).unwrap();
    assert_eq!(met.len(), 1, "{met:?}");
    assert!((met[0].t - 0.5).abs() < 1e-9 && met[0].twist_lost.len() == 2 && !met[0].bounded, "{met:?}");
    assert!(met[0].twist_lost.iter().all(|t| t[0].abs() < 1e-9), "across and turning alone are lost: {met:?}");
    let at = Wish { pose: Some(pose(0.0, 0.0)), ..Wish::default() };
    for wishes in [vec![], vec![at]] {
        let task = CrossingTask { from, to, duration: 1.0, wishes, objective: None, seed: 1 };
        let plan = planned(&robot, &task);
        let [crossing] = &plan.crossings[..] else { panic!("{:?}", plan.crossings) };
        assert!(crossing.bounded && crossing.criterion.len() == 2, "{crossing:?}");
        let mean = |h: f64| {
            let [a, b] = [-h, h].map(|h| efforts(&robot, &plan.trajectory, crossing.t + h));
            [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))
        };
        let (far, near) = (mean(2e-3), mean(1e-3));
        for (k, limit) in crossing.limit_efforts.as_ref().unwrap().iter().enumerate() {
            let limit_of_samples = (4.0 * near[k] - far[k]) / 3.0;
            assert!((limit - limit_of_samples).abs() < 1e-5 * (1.0 + limit.abs()), "{limit} {limit_of_samples}");
        }
    }
}

/// A way that is tangent to the singular curve does not cross it: efforts grow with the square, and no limit exists.
#[test]
fn a_way_that_touches_a_singularity_is_told() {
    let robot = robot("five-bar");
    let (s, v) = (x_s(&robot), 0.3);
    let near = |h: f64| {
        let line = Trajectory::between(at(0.04, 0.2 + h), at(0.07, 0.2 + h), 1.0).unwrap();
        crossings(robot.model(), robot.mode(), &line, Wrench::zero()).unwrap()[0].position[0]
    };
    let h = 1e-4;
    let slope = (near(h) - near(-h)) / (2.0 * h);
    let along = vec![v * slope, v];
    let samples = [-0.1, 0.1].map(|t: f64| {
        // On the tangent, sampled on both sides of the point of contact.
        sample(t, at(s + slope * v * t, 0.2 + v * t), along.clone(), vec![0.0; 2])
    });
    let motion = Trajectory::sampled(robot.model(), robot.mode(), &samples).unwrap();
    let found = crossings(robot.model(), robot.mode(), &motion, Wrench::zero()).unwrap();
    assert!(found.iter().any(|c| c.t.abs() < 1e-3 && !c.bounded), "{found:?}");
}

#[test]
fn the_search_lowers_the_peak_and_keeps_the_best_when_it_is_ended() {
    let robot = robot("five-bar");
    let mut task = five_bar_task(&robot);
    task.wishes.clear();
    let first = planned(&robot, &task);
    task.objective = Some(Objective::Peak);
    let search = || {
        let mut count = 0;
        let mut goes_on = |_: usize, _: Option<f64>| {
            count += 1;
            count < 120
        };
        plan_crossing(robot.model(), robot.mode(), &task, &mut goes_on).unwrap()
    };
    let searched = search();
    assert_eq!(searched.trajectory.polynomials(), search().trajectory.polynomials(), "one seed, one plan");
    assert!(
        searched.crossings[0].bounded && searched.score.peak < 0.98 * first.score.peak,
        "{:?} {:?}",
        searched.score,
        first.score
    );
    task.objective = Some(Objective::Time);
    let refused = plan_crossing(robot.model(), robot.mode(), &task, &mut |_, _| true).unwrap_err();
    assert_eq!(refused, PlanError::NoLimits);
}

#[test]
fn a_spike_between_two_samples_is_found() {
    let robot = compile("five-bar-limits", &text("five-bar-limits"));
    let rest = || vec![0.0; 2];
    let samples = [sample(0.0, at(0.0, 0.3), rest(), rest()), sample(0.5, at(0.1, 0.3), rest(), rest())];
    let motion = Trajectory::sampled(robot.model(), robot.mode(), &samples).unwrap();
    let found = inspect_all(robot.model(), robot.mode(), &motion, &Look::default()).unwrap().profile;
    assert_eq!(found.rows.len(), 2);
    assert!(found.violations.iter().any(|v| v.bound == Bound::Speed), "{:?}", found.violations);
    // The largest speed is that of a fine table, to a millionth.
    let fine = Look { step: Some(1e-4), between: false, ..Look::default() };
    let table = inspect_all(robot.model(), robot.mode(), &motion, &fine).unwrap().profile;
    for (a, b) in found.drives.iter().zip(&table.drives) {
        assert!((a.speed - b.speed).abs() < 1e-6 && a.speed > 0.5, "{} {}", a.speed, b.speed);
        assert!((a.peak - b.peak).abs() < 1e-4 * b.peak.abs(), "{} {}", a.peak, b.peak);
    }
}

#[test]
fn the_fastest_motion_is_at_a_limit_and_not_beyond() {
    let robot = compile("five-bar-limits", &text("five-bar-limits"));
    let motion = Trajectory::between(at(0.0, 0.3), at(0.08, 0.3), 1.0).unwrap();
    let quick = fastest(robot.model(), robot.mode(), &motion).unwrap();
    let found = inspect_all(robot.model(), robot.mode(), &quick, &Look::default()).unwrap().profile;
    assert!(found.violations.is_empty(), "{:?}", found.violations);
    let share = found.drives.iter().map(|d| d.speed.max(d.peak.abs() / 3.0)).fold(0.0, f64::max);
    assert!(share > 0.999, "{share}");
}

#[test]
fn a_motion_of_the_joints_is_straight_in_them() {
    let robot = robot("five-bar");
    let start = inverse(robot.model(), &at(0.0, 0.3), robot.mode()).unwrap();
    let motion = by_joints(robot.model(), &start, &at(0.05, 0.28), TimeLaw::Poly5, 0.5).unwrap();
    let active = &robot.model().topology().active;
    let q = |t: f64| inverse(robot.model(), &motion.at(t).pose, robot.mode()).unwrap().joints(robot.model(), active);
    let (first, last) = (q(0.0), q(0.5));
    for t in [0.1, 0.2037, 0.4] {
        let s = fifth_degree(t, 0.5)[0];
        for (k, x) in q(t).iter().enumerate() {
            assert!((x - first[k] - s * (last[k] - first[k])).abs() < 1e-9, "{t}");
        }
    }
}

/// The motion of section 9.5.5: A13 runs down on its circle about A12 = (-0.14, 0.213) by a polynomial, and A14, the platform,
/// is where circles about it and about (0.14, 0) meet. Coordinates of leg 1 with three derivatives, by dual numbers.
fn tripteron_leg(y: &Polynomial, t: f64) -> Vec<[f64; 4]> {
    use gough::scalar::{Dual3, Real};
    let [p, v, a, j] = y.at(t);
    let (y, d, far) = (Dual3::new(p, v, a, j), 0.1878, 0.213);
    let lit = <Dual3 as Real>::lit;
    let up = y - lit(0.213);
    let x = lit(-0.14) + Real::sqrt(lit(d * d) - up * up);
    // From P towards (0.14, 0) as far as the chord goes, then along the chord to the right.
    let (dx, dy) = (lit(0.14) - x, lit(0.0) - y);
    let r2 = dx * dx + dy * dy;
    let along = (r2 + lit(d * d - far * far)) / (lit(2.0) * r2);
    let aside = Real::sqrt(lit(d * d) / r2 - along * along);
    let (ax, ay) = (along * dx - aside * dy, along * dy + aside * dx);
    let q12 = Real::atan2(up, x + lit(0.14));
    let q13 = Real::atan2(ay, ax) - q12;
    [lit(0.2), q12, q13].map(|q| [q.re, q.v1, q.v2, q.v3]).into()
}

fn first_leg(robot: &Robot) -> LegDriven<'_> {
    LegDriven::new(robot.model(), robot.mode(), robot.model().topology().legs.ids().next().unwrap()).unwrap()
}

#[test]
fn the_tripteron_crosses_an_lpjts_as_computed_for_section_9_5() {
    let robot = compile("tripteron-point-mass", &text("tripteron-point-mass"));
    let leg = first_leg(&robot);
    let (y_s, d): (f64, f64) = (0.201_836_497_7, 0.1878);
    let (down, up) = (-0.693, y_s - 0.213);
    let y = [
        Condition::jet(0.0, [0.338_175, 0.0, 0.0]),
        Condition::jet(0.5, [y_s, down, -up * down * down / (d * d - up * up)]),
        Condition::jet(1.0, [0.087_825, 0.0, 0.0]),
    ];
    let y = Polynomial::through(&y.concat()).unwrap();
    let printed = [0.338_175, 0.0, 0.0, 3.014_046, -23.415_427, 43.212_697, -26.295_785, -0.457_84, 3.691_96];
    for (a, b) in y.coefficients.iter().zip(printed) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    // The elbow changes sides, where the passive joints need no effort along their free motion.
    let q13 = |t: f64| tripteron_leg(&y, t)[2][0];
    assert!(q13(0.49) * q13(0.51) < 0.0 && q13(0.5).abs() < 1e-8, "{} {}", q13(0.49), q13(0.5));
    let found = leg.degeneracy(&tripteron_leg(&y, 0.5), None).unwrap();
    assert!(found.criterion[0].abs() < 1e-7 && found.lost[0][1].abs() > 0.1, "{found:?}");
    let ratio = found.lost[0][2] / found.lost[0][1];
    assert!((ratio + 2.0).abs() < 1e-6, "rates of stretched links of one length: {ratio}");
    let limit = found.limit.unwrap();
    for step in [1e-3, 1e-4, 1e-5] {
        let most = |k: usize, around: f64| {
            let rows = (-40..40).map(|i| around + (f64::from(i) + 1.0 / 3.0) * step);
            rows.map(|t| leg.efforts(&tripteron_leg(&y, t), None).unwrap()[k].abs()).fold(0.0, f64::max)
        };
        // Drives 2 and 3 move along x and y.
        for (k, at, peak) in [(1, 0.718, 1.09876), (2, 0.743, 0.99804)] {
            if step > 1e-4 {
                assert!((most(k, at) - peak).abs() < 1e-4, "{step} {k}: {}", most(k, at));
            }
            assert!((most(k, 0.5) - limit[k].abs()).abs() < 400.0 * step, "{step} {k}: {} {limit:?}", most(k, 0.5));
        }
    }
}

#[test]
fn a_plan_through_an_lpjts_changes_the_working_mode_and_is_simulated_through() {
    let robot = robot("tripteron");
    let model = robot.model();
    let from = *robot.home().pose();
    let to = pose_with(model, &from, &[(X, 0.28), (Y, 0.33), (Z, 0.22)]);
    let other = gough::kinematics::WorkingMode::parse(model.topology(), &["-++".to_owned()]).unwrap();
    let plan = plan_passive(model, (&from, robot.mode()), (&to, &other), 1.0).unwrap();
    let leg = first_leg(&robot);
    assert!(plan.crossing.criterion.abs() < 1e-9, "{:?}", plan.crossing);
    let end = leg.platform(&plan.at(1.0))[0];
    assert!((vec3(end[0], end[1], end[2]) - to.p).norm() < 1e-12);
    let q = |t: f64| plan.at(t).iter().map(|j| j[0]).collect::<Vec<_>>();
    let sign = |t: f64| leg.sign(&q(t)).unwrap();
    assert!(sign(plan.crossing.t - 1e-3) * sign(plan.crossing.t + 1e-3) < 0.0);
    // Efforts on both sides go to the limit.
    for h in [1e-4, 1e-5, 1e-6] {
        let [a, b] = [-h, h].map(|h| leg.efforts(&plan.at(plan.crossing.t + h), Some(Sign::Sharp)).unwrap());
        for (k, limit) in plan.crossing.limit_efforts.iter().enumerate() {
            assert!((0.5 * (a[k] + b[k]) - limit).abs() < 1e-4 * (1.0 + limit.abs()), "{h} {a:?} {b:?} {limit}");
        }
    }
    // The inverse dynamics of the pose agrees where the pose is a coordinate.
    let [p, v, a] = leg.platform(&plan.at(0.15));
    let found = leg.efforts(&plan.at(0.15), None).unwrap();
    let pose = Pose { R: from.R, p: p.into() };
    let mut memory = Dynamics::new(model);
    let wanted = memory.inverse(model, &pose, robot.mode(), &v, &a, None).unwrap();
    for (x, y) in found.iter().zip(wanted) {
        assert!((x - y).abs() < 1e-8 * (1.0 + y.abs()), "{found:?} {wanted:?}");
    }
    // And so do the accelerations that efforts give.
    let (jets, efforts) = (plan.at(0.3), leg.efforts(&plan.at(0.3), None).unwrap());
    let rates: Vec<f64> = jets.iter().map(|j| j[1]).collect();
    for (a, jet) in leg.accelerations(&q(0.3), &rates, &efforts, None).unwrap().iter().zip(&jets) {
        assert!((a - jet[2]).abs() < 1e-8 * (1.0 + jet[2].abs()), "{a} {jet:?}");
    }
    let ended = simulate_leg(&leg, &plan, 200).unwrap();
    assert!(ended.beyond && ended.off < 1e-4, "{ended:?}");
    // Of fourth order: twice the steps, and the error falls about sixteenfold, down to that of the efforts at the crossing.
    let finer = simulate_leg(&leg, &plan, 400).unwrap();
    assert!(finer.beyond && finer.off < 0.2 * ended.off, "{ended:?} {finer:?}");
}

#[test]
fn the_end_of_reach_of_passive_joints_is_called_an_lpjts() {
    let robot = robot("tripteron");
    let model = robot.model();
    let diagonal = 0.54 * std::f64::consts::FRAC_1_SQRT_2;
    let pose = pose_with(model, robot.home().pose(), &[(X, diagonal), (Y, diagonal), (Z, 0.2)]);
    let refusal = inverse(model, &pose, robot.mode()).unwrap_err();
    let named = named_end_of_reach(model, robot.mode(), &pose, robot.home().pose(), refusal.clone());
    assert!(named.kind() == "lpjts" && named.to_string().contains("LPJTS singularity of leg 1"), "{refusal} {named}");
}
