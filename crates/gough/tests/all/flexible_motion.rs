//! Flexible robots in motion: published states, laws, and the rigid limit.

use crate::common::{compile, eigenvalues, numbers, robot, state_pose};
use gough::Robot;
use gough::description::ReadOptions;
use gough::dynamics::Sign;
use gough::elastodynamics::motion::{
    CaseMotion, FlexibleCase, FlexibleRobot, FlexibleState, Given, ResponseKind, Wanted,
};
use gough::elastodynamics::{Actuators, ElasticError, Vibration};
use gough::linalg::dense::Matrix;
use gough::linalg::small::Dense;
use gough::model::Node;
use gough::simulation::gauss::Stages;
use gough::simulation::{
    Controller, EffortTable, Feedback, FlexibleLaw, FlexibleOptions, Gains, TimedLoad, simulate_flexible,
};
use gough::spatial::{Twist, Wrench, vec3};
use gough::trajectory::{JointSample, Trajectory, from_joints};
use serde_json::Value;

fn reference(name: &str) -> Value {
    serde_json::from_str(gough::robots::reference(name).unwrap()).unwrap()
}

/// Largest difference over the largest number that is wanted.
fn assert_near(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let size = wanted.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (f, w) in found.iter().zip(wanted) {
        assert!((f - w).abs() <= tolerance * size, "{what}: {f} {w}");
    }
}

/// The state of a published case, by its active and elastic coordinates only.
fn published(flexible: &mut FlexibleRobot<'_>, robot: &Robot, s: &Value) -> FlexibleState {
    let given = Given::Active { q: numbers(&s["position"]["active"]), qd: numbers(&s["rate"]["active"]) };
    let (q, qd) = (numbers(&s["position"]["elastic"]), numbers(&s["rate"]["elastic"]));
    flexible.state(robot.home(), &given, &q, &qd).unwrap()
}

/// Motors of NaVARo belong to several places of its platform: the answer about a pose is about that pose, wherever home is.
#[test]
fn a_pose_that_is_given_is_the_one_that_is_answered() {
    for name in ["navaro", "five-bar-flexible"] {
        let robot = robot(name);
        let mut answered = 0;
        for k in 0..24 {
            let along = f64::from(k) / 23.0;
            let other = [0.05 * (9.0 * along).sin(), 0.04 * (7.0 * along).cos(), -1.3 * along];
            let home = robot.coordinates_of(robot.home().pose());
            let at: Vec<f64> = home.iter().zip(other).map(|(x, d)| x + d).collect();
            let pose = robot.pose_at(&at).unwrap();
            let Ok(posture) = gough::kinematics::inverse(robot.model(), &pose, robot.mode()) else { continue };
            let motion = CaseMotion::Platform { pose, twist: Vec::new(), acceleration: Vec::new() };
            let (elastic, elastic_rates, efforts) = (Vec::new(), Vec::new(), Vec::new());
            let case = FlexibleCase { motion, elastic, elastic_rates, efforts, deflected: false };
            let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
            let (state, _) = flexible.prepare(robot.home(), &case).unwrap();
            let found = robot.coordinates_of(&state.at.X_WE);
            let passive = flexible.flexible().joints(&robot.model().topology().passive);
            let joints: Vec<f64> = passive.iter().map(|slot| state.at.q[*slot]).collect();
            let wanted = posture.joints(robot.model(), &robot.model().topology().passive);
            if robot.model().topology().platform.tool.is_none() {
                assert_near(&found, &at, 1e-9, name);
            }
            joints.iter().zip(wanted).for_each(|(q, w)| assert!((q - w).abs() < 1e-9, "{name} at {at:?}: {q} {w}"));
            answered += 1;
        }
        assert!(answered > 12, "{name}: {answered}");
    }
}

#[test]
fn dual_emps_has_its_published_efforts_and_accelerations() {
    let horizontal = robot("dual-emps");
    let text = gough::robots::text("dual-emps").unwrap();
    let upright = compile("upright", &text.replace("gravity = [0, 0, -9.81]", "gravity = [0, -9.81, 0]"));
    let data = reference("dual-emps");
    for (robot, cases) in [
        (&horizontal, &[("frictionless", None), ("with_friction", Some(Sign::Sharp))][..]),
        (&upright, &[("frictionless_with_gravity_minus_9_81_along_y", None)]),
    ] {
        let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
        assert_eq!(flexible.independent().len(), 11);
        for s in data["states"].as_array().unwrap() {
            let state = published(&mut flexible, robot, s);
            let passive: Vec<f64> = [1, 3, 4].iter().map(|k| state.at.q[*k]).collect();
            assert_near(&passive, &numbers(&s["position"]["passive"]), 1e-12, "passive");
            for (case, friction) in cases {
                let wanted = &s["inverse"][case];
                let desired = Wanted::Active(numbers(&s["inverse"]["active_qdd_desired"]));
                let found = flexible.inverse(&state, &desired, *friction).unwrap();
                assert_near(&found.efforts, &numbers(&wanted["efforts"]), 1e-10, case);
                assert_near(&found.passive_qdd, &numbers(&wanted["passive_qdd"]), 1e-10, case);
                assert_near(&found.elastic_qdd, &numbers(&wanted["elastic_qdd"]), 1e-10, case);
                assert_near(&found.acceleration[..2], &numbers(&wanted["point_acceleration"]), 1e-10, case);
                assert_near(&found.twist[..2], &numbers(&s["point_velocity"]), 1e-11, case);
                assert_near(&[found.elastic_energy], &[s["elastic_energy"].as_f64().unwrap()], 1e-11, case);
                assert_near(&[found.kinetic_energy], &[s["kinetic_energy"].as_f64().unwrap()], 1e-11, case);
                let Some(wanted) = s["direct"].get(case) else { continue };
                let found = flexible.direct(&state, &numbers(&wanted["efforts"]), *friction).unwrap();
                assert_near(&found.active_qdd, &numbers(&wanted["active_qdd"]), 1e-9, case);
                assert_near(&found.elastic_qdd, &numbers(&wanted["elastic_qdd"]), 1e-10, case);
            }
        }
    }
}

fn six(v: &Value) -> [f64; 6] {
    numbers(v).try_into().unwrap()
}

/// States of a platform that bends on rigid legs, with the modal body of the file or another.
fn flexible_platform(robot: &Robot, states: &[Value]) {
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    for s in states {
        let given = Given::Platform { pose: state_pose(s), twist: Twist::from_array(six(&s["twist"])) };
        let (q, qd) = (numbers(&s["modal"]["q"]), numbers(&s["modal"]["qd"]));
        let state = flexible.state(robot.home(), &given, &q, &qd).unwrap();
        let wanted = &s["inverse"];
        let found = flexible.inverse(&state, &Wanted::Platform(six(&wanted["acceleration"])), None).unwrap();
        for (found, wanted) in [(&found.active, &s["active"]), (&found.passive, &s["passive"])] {
            assert_near(&found.q, &numbers(&wanted["q"]), 1e-11, "q");
            assert_near(&found.qd, &numbers(&wanted["qd"]), 1e-11, "qd");
        }
        assert_near(&found.efforts, &numbers(&wanted["efforts"]), 1e-10, "efforts");
        assert_near(&found.elastic_qdd, &numbers(&wanted["modal_qdd"]), 1e-10, "modes");
        assert_near(&found.active_qdd, &numbers(&wanted["active_qdd"]), 1e-10, "active");
        assert_near(&found.passive_qdd, &numbers(&wanted["passive_qdd"]), 1e-10, "passive");
        assert_near(&found.acceleration, &numbers(&wanted["acceleration"]), 1e-9, "acceleration");
        let energies =
            [found.kinetic_energy, found.kinetic_energy_rotors, found.potential_energy + found.elastic_energy];
        let keys = ["kinetic_energy", "kinetic_energy_rotors", "potential_energy"];
        assert_near(&energies, &keys.map(|k| s[k].as_f64().unwrap()), 1e-11, "energies");
        let wanted = &s["direct"];
        let found = flexible.direct(&state, &numbers(&wanted["efforts"]), None).unwrap();
        assert_near(&found.acceleration, &numbers(&wanted["acceleration"]), 1e-9, "acceleration");
        assert_near(&found.elastic_qdd, &numbers(&wanted["modal_qdd"]), 1e-9, "modes");
        assert_near(&found.active_qdd, &numbers(&wanted["active_qdd"]), 1e-9, "active");
        // The drives of the inverse problem, asked by their joints, are those of the platform.
        let again = Wanted::Active(found.active_qdd.clone());
        let back = flexible.inverse(&state, &again, None).unwrap();
        assert_near(&back.efforts, &numbers(&wanted["efforts"]), 1e-8, "there and back");
    }
}

#[test]
fn a_flexible_plate_on_rigid_legs_has_its_reference_states() {
    let data = reference("gough-stewart-flexible");
    flexible_platform(&robot("gough-stewart-flexible"), data["states"].as_array().unwrap());
}

/// A modal body whose every constant counts, which the flat plate does not have.
#[test]
fn a_modal_body_without_symmetry_has_its_reference_states() {
    let data = reference("gough-stewart-flexible");
    let body = data["synthetic"]["modal_body"].to_string();
    let files = |_: &str| Ok(body.clone());
    let options = ReadOptions { files: &files, ..ReadOptions::default() };
    let text = gough::robots::text("gough-stewart-flexible").unwrap();
    let robot = Robot::from_toml("synthetic", text, &options, None).unwrap();
    flexible_platform(&robot, data["synthetic"]["states"].as_array().unwrap());
}

/// Data that no body has are refused with the reason, none of them reaches a motion.
#[test]
fn modal_bodies_that_cannot_be_are_refused() {
    type Change<'c> = &'c dyn Fn(&mut Value);
    let text = gough::robots::text("gough-stewart-flexible").unwrap();
    let plate = gough::robots::file("gough-stewart-flexible", "hexagon-plate.json").unwrap();
    let spoiled = |change: &dyn Fn(&mut Value)| {
        let mut body: Value = serde_json::from_str(&plate).unwrap();
        change(&mut body);
        let body = body.to_string();
        let files = |_: &str| Ok(body.clone());
        let options = ReadOptions { files: &files, ..ReadOptions::default() };
        Robot::from_toml("spoiled", text, &options, None).map(|_| ()).map_err(|e| format!("{e:?}"))
    };
    spoiled(&|_| {}).unwrap();
    let cases: [(Change<'_>, &str); 6] = [
        (&|b| b["modes"][0]["stiffness"] = (-1.0).into(), "must be positive"),
        (&|b| b["modes"][0]["damping_ratio"] = (-0.1).into(), "zero or a positive number"),
        (&|b| b["modes"][0]["damping_ratio"] = "much".into(), "zero or a positive number"),
        (&|b| b["modes"][3]["displacement"] = b["modes"][1]["displacement"].clone(), "mode 4 is a sum"),
        (&|b| b["points"]["A1"]["position"][0] = 0.3.into(), "no joint meets the mesh there"),
        (&|b| b["points"]["A1"]["node"] = 5000.into(), "nodes count from 0 to 216"),
    ];
    for (change, why) in cases {
        let refused = spoiled(change).unwrap_err();
        assert!(refused.contains(why), "{why}: {refused}");
    }
    let negative = text.replace("[platform]", "[elastic]\ndamping = -0.01\n[platform]");
    let files = |file: &str| gough::robots::file("gough-stewart-flexible", file);
    let options = ReadOptions { files: &files, ..ReadOptions::default() };
    let refused = Robot::from_toml("negative", &negative, &options, None).map(|_| ()).unwrap_err();
    assert!(format!("{refused:?}").contains("Negative"), "{refused:?}");
}

fn without_gravity(name: &str) -> Robot {
    let text = gough::robots::text(name).unwrap();
    let text = if text.contains("gravity = [0, 0, -9.81]") {
        text.replace("gravity = [0, 0, -9.81]", "gravity = [0, 0, 0]")
    } else {
        text.replace("[robot]", "[robot]\ngravity = [0, 0, 0]")
    };
    let files = |file: &str| gough::robots::file(name, file);
    let options = ReadOptions { files: &files, ..ReadOptions::default() };
    Robot::from_toml(name, &text, &options, None).unwrap()
}

/// Small motions of the robot in motion are the vibrations of the robot at rest; held rotors leave transmissions elastic.
#[test]
fn small_motions_have_the_natural_frequencies() {
    for (name, actuators) in [
        ("dual-emps", Actuators::Locked),
        ("five-bar-flexible", Actuators::Elastic),
        ("gough-stewart-flexible", Actuators::Locked),
    ] {
        let robot = without_gravity(name);
        let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
        let state = FlexibleState::rest(&flexible, robot.home());
        let small = flexible.linearise(&state, true).unwrap();
        let matrix = |A: &Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| 0.5 * (A.at(i, j) + A.at(j, i)));
        let values = eigenvalues(&matrix(&small.K), &matrix(&small.M));
        let mut v = Vibration::new(robot.model(), robot.home(), actuators).unwrap();
        v.take_posture(robot.home()).unwrap();
        let wanted: Vec<f64> = v.lowest(v.modes()).unwrap().iter().map(|f| f.omega2).collect();
        assert_eq!(values.len(), wanted.len(), "{name}");
        let largest = wanted.last().unwrap();
        for (v, w) in values.iter().zip(&wanted) {
            assert!((v - w).abs() < 2e-7 * w + 1e-13 * largest, "{name}: {v} {w}");
        }
    }
}

/// Stiff links move as rigid ones: efforts of the rigid robot, and at rest its weight.
#[test]
fn stiff_links_take_the_efforts_of_the_rigid_robot() {
    let text = gough::robots::text("dual-emps").unwrap();
    let stiff = compile("stiff", &text.replace("74 GPa", "74e4 GPa"));
    let t_r = [0.3, -0.2];
    let td_r = [4.0, 7.0];
    let pose = *stiff.home().pose();
    let posture = gough::kinematics::inverse(stiff.model(), &pose, stiff.mode()).unwrap();
    let rigid = gough::dynamics::inverse_dynamics(stiff.model(), &posture, &t_r, &td_r).unwrap();
    let mut flexible = FlexibleRobot::new(stiff.model(), stiff.home()).unwrap();
    let motion = CaseMotion::Platform { pose, twist: t_r.to_vec(), acceleration: td_r.to_vec() };
    let case =
        FlexibleCase { motion, elastic: Vec::new(), elastic_rates: Vec::new(), efforts: Vec::new(), deflected: false };
    // In motion the elastic coordinates must carry the loads: those of a deformation that moves with the robot, K q = -h.
    let (mut state, wanted) = flexible.prepare(stiff.home(), &case).unwrap();
    for _ in 0..4 {
        let found = flexible.inverse(&state, &wanted, None).unwrap();
        let slots = flexible.flexible().elastic();
        let small = flexible.linearise(&state, true).unwrap();
        let right: Vec<f64> = {
            let place = |s: &usize| slots.iter().position(|k| k == s);
            let own: Vec<f64> = small.slots.iter().map(|s| place(s).map_or(0.0, |k| found.elastic_qdd[k])).collect();
            small.M.apply(&own)
        };
        let step = small.K.solve(&Dense { rows: right.len(), cols: 1, data: right }).unwrap();
        let mut q: Vec<f64> = slots.iter().map(|s| state.at.q[*s]).collect();
        for (k, s) in small.slots.iter().enumerate() {
            if let Some(place) = slots.iter().position(|x| x == s) {
                q[place] += step.at(k, 0);
            }
        }
        let again = FlexibleCase { elastic: q, ..case.clone() };
        state = flexible.prepare(stiff.home(), &again).unwrap().0;
    }
    let found = flexible.inverse(&state, &wanted, None).unwrap();
    assert_near(&found.efforts, &rigid.efforts, 1e-5, "efforts");
}

/// Power of the drives is the change of energy and what damping takes, along any motion.
#[test]
fn power_balances_on_a_damped_robot() {
    let text = gough::robots::text("five-bar-flexible").unwrap();
    let damped = text.replace("density = ", "mass_damping = 3, stiffness_damping = 1e-6, density = ");
    assert_ne!(text, damped);
    let robot = compile("damped", &damped);
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let n = flexible.flexible().elastic().len();
    let list = |scale: f64| -> Vec<f64> { (0..n).map(|k| scale * (1.0 + 2.3 * k as f64).sin()).collect() };
    let q = robot.home().joints(robot.model(), &robot.model().topology().active);
    let given = Given::Active { q, qd: vec![1.3, -0.8] };
    let state = flexible.state(robot.home(), &given, &list(2e-3), &list(0.3)).unwrap();
    let efforts = [0.7, -1.1];
    let found = flexible.direct(&state, &efforts, None).unwrap();
    assert!(found.damping_power > 1e-3);
    let total = |a: &gough::elastodynamics::motion::FlexibleAnswer| {
        a.kinetic_energy + a.kinetic_energy_rotors + a.potential_energy + a.elastic_energy
    };
    // Along the motion, forth and back by a short time.
    let mut at = |h: f64| {
        let mut moved = state.clone();
        let all = flexible.all_accelerations(&state, &efforts).unwrap();
        let slots: Vec<usize> = flexible.independent().to_vec();
        for k in slots {
            moved.at.q[k] += h * state.rates[k] + 0.5 * h * h * all[k];
            moved.rates[k] += h * all[k];
        }
        flexible.complete(&mut moved).unwrap();
        total(&flexible.direct(&moved, &efforts, None).unwrap())
    };
    let power: f64 = efforts.iter().zip(&found.active.qd).map(|(a, b)| a * b).sum();
    // A short step drowns in the rounding of closed loops, a long one in the curvature of axial modes: the best of a few counts.
    let mut off = |h: f64| {
        let change = (at(h) - at(-h)) / (2.0 * h);
        (power - change - found.damping_power).abs() / (change.abs() + found.damping_power)
    };
    let all: Vec<f64> = [2e-10, 5e-10, 1e-9, 2e-9, 5e-9].into_iter().map(&mut off).collect();
    let best = all.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(best < 1e-5, "{power} {} {all:?}", found.damping_power);
}

/// A state away from home and from rest, loops closed.
fn shaken(flexible: &mut FlexibleRobot<'_>, robot: &Robot) -> FlexibleState {
    let mut state = FlexibleState::rest(flexible, robot.home());
    let wave = |k: usize, f: f64| (1.0 + f * k as f64).sin();
    for k in flexible.independent().to_vec() {
        state.at.q[k] += 1e-3 * wave(k, 2.3);
        state.rates[k] = 0.3 * wave(k, 1.7);
    }
    flexible.complete(&mut state).unwrap();
    state
}

/// Forces for given accelerations, link by link, are those of the equations of motion with their matrices.
#[test]
fn what_is_out_of_balance_is_what_the_equations_say() {
    for name in ["dual-emps", "five-bar-flexible", "navaro", "heli4", "gough-stewart-flexible"] {
        let robot = robot(name);
        let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
        flexible.load(&[(Node::Platform, Wrench { f: vec3(3.0, -2.0, 1.0), m: vec3(0.1, 0.2, -0.3) })]);
        let state = shaken(&mut flexible, &robot);
        let drives = robot.model().topology().active.len();
        let efforts: Vec<f64> = (0..drives).map(|k| 1.0 - 0.7 * k as f64).collect();
        let equations = flexible.equations(&state, Some(Sign::Sharp));
        let own: Vec<f64> = (0..equations.h.len()).map(|k| (0.3 + 1.9 * k as f64).cos()).collect();
        let mut wanted: Vec<f64> = equations.M.apply(&own).iter().zip(&equations.h).map(|(a, b)| a + b).collect();
        for (slot, effort) in flexible.flexible().joints(&robot.model().topology().active).iter().zip(&efforts) {
            (0..own.len()).for_each(|k| wanted[k] -= equations.J.at(*slot, k) * effort);
        }
        let mut again = state.clone();
        flexible.complete(&mut again).unwrap();
        let found = flexible.unbalanced(&again, &own, &efforts, Some(Sign::Sharp));
        assert_near(&found, &wanted, 1e-11, name);
    }
}

/// The matrices that steps are found with are those of small motions around rest, where nothing loads the robot.
#[test]
fn matrices_of_the_bodies_are_those_of_small_motions() {
    for name in ["dual-emps", "five-bar-flexible", "heli4"] {
        let robot = without_gravity(name);
        let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
        let mut rest = FlexibleState::rest(&flexible, robot.home());
        let small = flexible.linearise(&rest, false).unwrap();
        flexible.complete(&mut rest).unwrap();
        let [M, D, K] = flexible.matrices(&rest);
        assert_near(&M.data, &small.M.data, 1e-12, name);
        assert_near(&K.data, &small.K.data, 1e-6, name);
        let most = small.D.data.iter().fold(1e-9_f64, |m, x| m.max(x.abs()));
        assert!(D.data.iter().zip(&small.D.data).all(|(a, b)| (a - b).abs() < 1e-6 * most), "{name}");
    }
}

/// A robot with ninety elastic coordinates under a controller: energy and work agree, whichever way steps are found.
#[test]
fn navaro_follows_its_controller() {
    let robot = robot("navaro");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let rest = FlexibleState::rest(&flexible, robot.home());
    let start = flexible.deflected(&rest).unwrap();
    let mut goal = *robot.home().pose();
    goal.p.x += 2e-4;
    let law = FlexibleLaw::Controller(Box::new(Controller {
        feedback: Feedback::ComputedTorque,
        gains: Gains { kp: vec![400.0], kd: vec![40.0] },
        trajectory: Trajectory::between(*robot.home().pose(), goal, 0.01).unwrap(),
        believed: None,
        friction: None,
        planned: None,
    }));
    let mut run = |tolerance: f64| {
        let options = FlexibleOptions { tolerance, every: 5e-3, ..FlexibleOptions::lasting(0.01) };
        let mut last = None;
        let summary = simulate_flexible(&mut flexible, robot.mode(), &start, &law, &options, &mut |i| {
            last = Some(i.clone());
            true
        });
        (summary.unwrap(), last.unwrap())
    };
    let (coarse, end) = run(1e-4);
    let (fine, exact) = run(1e-6);
    assert!(coarse.steps < fine.steps && fine.energy_error < 1e-7, "{coarse:?} {fine:?}");
    assert_near(&end.active.q, &exact.active.q, 1e-6, "drives");
    assert!((exact.position[0] - goal.p.x).abs() < 1e-4, "{:?}", exact.position);
}

/// Free vibration with held drives: energy is kept, and two step lengths agree.
#[test]
fn free_vibration_keeps_its_energy() {
    let robot = robot("dual-emps");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let given = Given::Active { q: vec![0.0; 2], qd: vec![0.0; 2] };
    let mut elastic = vec![0.0; 9];
    (elastic[1], elastic[2]) = (2e-3, 5e-3);
    let start = flexible.state(robot.home(), &given, &elastic, &[]).unwrap();
    let mut run = |tolerance: f64| {
        let mut last = None;
        let options = FlexibleOptions { tolerance, every: 0.01, ..FlexibleOptions::lasting(0.03) };
        let summary = simulate_flexible(&mut flexible, robot.mode(), &start, &FlexibleLaw::Held, &options, &mut |i| {
            last = Some(i.clone());
            true
        });
        (summary.unwrap(), last.unwrap())
    };
    let (fine, end) = run(1e-6);
    let (finest, exact) = run(1e-8);
    assert!(fine.steps < finest.steps, "{fine:?} {finest:?}");
    assert!(fine.energy_error < 1e-6 && finest.energy_error < 1e-8, "{fine:?} {finest:?}");
    assert_near(&end.elastic.q, &exact.elastic.q, 1e-4, "elastic");
    assert!(exact.elastic_energy + exact.kinetic_energy > 1e-4);
}

/// The efforts that drove a motion are those that its motion takes: a motion under changing efforts, with friction, asked again instant by
/// instant.
#[test]
fn the_motion_of_a_simulation_takes_the_efforts_that_drove_it() {
    let robot = robot("dual-emps");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let start = FlexibleState::rest(&flexible, robot.home());
    let rows: Vec<Vec<f64>> = (0..=4).map(|k| vec![80.0 * f64::from(k).sin(), -60.0 * f64::from(k).cos()]).collect();
    let times: Vec<f64> = (0..=4).map(|k| 0.005 * f64::from(k)).collect();
    let law = FlexibleLaw::Efforts(EffortTable::new(times, &rows).unwrap());
    let friction = Some(Sign::Smooth(1e-2));
    let options = FlexibleOptions { friction, every: 1e-3, ..FlexibleOptions::lasting(0.02) };
    let mut all = Vec::new();
    let summary = simulate_flexible(&mut flexible, robot.mode(), &start, &law, &options, &mut |i| {
        all.push(i.clone());
        true
    });
    assert!(summary.unwrap().energy_error < 1e-6 && all.len() == 21);
    for i in &all {
        let motion = CaseMotion::Active { q: i.active.q.clone(), qd: i.active.qd.clone(), qdd: i.active.qdd.clone() };
        let (elastic, elastic_rates) = (i.elastic.q.clone(), i.elastic.qd.clone());
        let case = FlexibleCase { motion, elastic, elastic_rates, efforts: Vec::new(), deflected: false };
        let (state, wanted) = flexible.prepare(robot.home(), &case).unwrap();
        let found = flexible.inverse(&state, &wanted, friction).unwrap();
        assert_near(&found.efforts, &i.efforts, 1e-6, "efforts");
        assert_near(&found.elastic_qdd, &i.elastic.qdd, 1e-6, "elastic accelerations");
    }
    assert!(all.iter().any(|i| i.efforts[0].abs() > 50.0));
}

/// Loads that begin and end where something is recorded, up to rounding, and methods with a stage at the end of a step.
#[test]
fn sudden_loads_at_round_times_change_nothing_but_the_motion() {
    let robot = robot("dual-emps");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let start = FlexibleState::rest(&flexible, robot.home());
    let wrench = Wrench { f: vec3(20.0, 0.0, 0.0), m: vec3(0.0, 0.0, 0.0) };
    let mut run = |stages: Stages, tolerance: f64, every: f64| {
        let loads = vec![TimedLoad { wrench, from: 0.03, until: 0.036 }];
        let options = FlexibleOptions { stages, tolerance, every, loads, ..FlexibleOptions::lasting(0.044) };
        let mut last = None;
        let summary = simulate_flexible(&mut flexible, robot.mode(), &start, &FlexibleLaw::Held, &options, &mut |i| {
            last = Some(i.clone());
            true
        });
        let (summary, last) = (summary.unwrap(), last.unwrap());
        // Radau takes energy out of what steps do not resolve.
        let lost = if stages == Stages::Gauss { 1e-6 } else { 2e-5 };
        assert!(summary.stop.kind == "end" && summary.stop.t == 0.044 && summary.energy_error < lost, "{summary:?}");
        assert!(summary.step[1] > 1e-9, "{summary:?}");
        last.position
    };
    // 75 times 0.4 ms is not 30 ms in binary numbers.
    let exact = run(Stages::Gauss, 1e-9, 4e-4);
    for (stages, every) in
        [(Stages::Gauss, 4e-4), (Stages::Radau, 4e-4), (Stages::Gauss, 3.3e-4), (Stages::Radau, 3.3e-4)]
    {
        let found = run(stages, 1e-6, every);
        let off = (0..3).map(|k| (found[k] - exact[k]).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{stages:?} {every}: {off:e}");
    }
    assert!((exact[0] - robot.home().pose().p.x).abs() > 1e-4);
}

/// A long arm that is spun up from rest as in Simo and Vu-Quoc (1986), EA = 2.8e7 N, EI = 1.4e4 N m², 1.2 kg/m, 10 m, 6 rad/s in 15 s: the tip
/// lags by 0.59 m on the way and is drawn out at speed by `∫ ω² ρA x (L² - x²) / (2 EA L)`, 5.14e-4 m; steps are long, so that the joint turns by
/// a third of a radian in one.
#[test]
fn an_arm_that_is_spun_up_lags_and_is_drawn_out() {
    let text = r#"
[robot]
name = "spin"
gravity = [0, 0, 0]
home = { yaw = 0 }
[material]
m = { E = 3.614784456e9, nu = 0.3, density = 154.919334 }
[section]
s = { rectangle = ["77.4596669 mm", "100 mm"] }
[platform]
coordinates = ["yaw"]
mass = 1e-6
inertia = { at = "com", xx = 1e-9, yy = 1e-9, zz = 1e-9 }
[[body]]
name = "hub"
on = "base"
joint = "R"
axis = [0, 0, 1]
drive = {}
mass = 1
inertia = { at = "com", xx = 0.01, yy = 0.01, zz = 0.01 }
[[body]]
name = "arm"
on = "hub"
joint = "fixed"
beam = { to = [10, 0, 0], section = "s", material = "m", elements = 6 }
[[body]]
name = "tip"
on = "arm"
joint = "fixed"
point = [10, 0, 0]
[[closure]]
joint = "fixed"
a = { body = "tip" }
b = { body = "platform" }
[elastic]
dimension = 2
"#;
    let robot = compile("spin", text);
    let (w, T, tau) = (6.0, 15.0, std::f64::consts::TAU);
    let motion = |t: f64| -> [f64; 3] {
        if t < T {
            let (sin, cos) = (tau * t / T).sin_cos();
            let q = w / T * (0.5 * t * t + (T / tau).powi(2) * (cos - 1.0));
            [q, w / T * (t - T / tau * sin), w / T * (1.0 - cos)]
        } else {
            [w * (t - 0.5 * T), w, 0.0]
        }
    };
    let samples: Vec<JointSample> = (0..=180)
        .map(|k| {
            let t = 0.1 * f64::from(k);
            let [q, qd, qdd] = motion(t);
            JointSample { t, q: vec![q], rates: Some(vec![qd]), accelerations: Some(vec![qdd]) }
        })
        .collect();
    let samples = from_joints(robot.model(), robot.home(), &samples).unwrap();
    let law = FlexibleLaw::Playback(Trajectory::sampled(robot.model(), robot.mode(), &samples).unwrap());
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let start = FlexibleState::rest(&flexible, robot.home());
    let options = FlexibleOptions { every: 0.05, ..FlexibleOptions::lasting(18.0) };
    let mut tips = Vec::new();
    let summary = simulate_flexible(&mut flexible, robot.mode(), &start, &law, &options, &mut |i| {
        let (sin, cos) = i.active.q[0].sin_cos();
        let [x, y, _] = i.position;
        tips.push([i.t, x * cos + y * sin - 10.0, y * cos - x * sin]);
        true
    });
    let summary = summary.unwrap();
    assert!(summary.stop.kind == "end" && summary.energy_error < 1e-6, "{summary:?}");
    let [t, _, lag] = tips.iter().copied().min_by(|a, b| a[2].total_cmp(&b[2])).unwrap();
    assert!((5.0..9.0).contains(&t) && (lag + 0.59).abs() < 0.01, "{lag} at {t}");
    let late: Vec<f64> = tips.iter().filter(|tip| tip[0] > 15.5).map(|tip| tip[1]).collect();
    let drawn = late.iter().sum::<f64>() / late.len() as f64;
    assert!((drawn / 5.14e-4 - 1.0).abs() < 0.02, "{drawn}");
}

/// Friction whose direction changes within a step: steps become as short as they must and go on.
#[test]
fn sharp_friction_does_not_stop_the_time() {
    let robot = robot("dual-emps");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let start = FlexibleState::rest(&flexible, robot.home());
    let law = FlexibleLaw::Efforts(EffortTable::constant(vec![100.0, -100.0]));
    for stages in [Stages::Gauss, Stages::Radau] {
        let friction = Some(Sign::Smooth(1e-4));
        let options = FlexibleOptions { stages, friction, every: 2e-4, ..FlexibleOptions::lasting(2e-3) };
        let summary = simulate_flexible(&mut flexible, robot.mode(), &start, &law, &options, &mut |_| true).unwrap();
        assert!(summary.stop.kind == "end" && summary.stop.t == 2e-3 && summary.energy_error < 1e-5, "{summary:?}");
    }
    // Steps that are told are kept: what is recorded waits for them. Half a period of the lowest vibration, 14.2 Hz, is too long.
    let mut times = Vec::new();
    let options = FlexibleOptions { step: Some(1e-3), every: 3e-4, ..FlexibleOptions::lasting(3e-3) };
    let summary = simulate_flexible(&mut flexible, robot.mode(), &start, &FlexibleLaw::Held, &options, &mut |i| {
        times.push(i.t);
        true
    });
    let summary = summary.unwrap();
    assert!(summary.steps == 3 && times.len() == 4 && (summary.step[0] - 1e-3).abs() < 1e-12, "{summary:?} {times:?}");
    let options = FlexibleOptions { step: Some(0.04), ..FlexibleOptions::lasting(1.0) };
    let refused = simulate_flexible(&mut flexible, robot.mode(), &start, &FlexibleLaw::Held, &options, &mut |_| true);
    assert!(matches!(refused, Err(ElasticError::StepTooLong { hz, .. }) if (hz - 14.2).abs() < 0.1), "{refused:?}");
    for step in [0.0, -1.0, f64::NAN] {
        let options = FlexibleOptions { step: Some(step), ..FlexibleOptions::lasting(2e-3) };
        let refused = simulate_flexible(&mut flexible, robot.mode(), &start, &law, &options, &mut |_| true);
        assert!(matches!(refused, Err(ElasticError::NotPositive { what: "step", .. })), "{step}");
    }
}

/// What a force moves at rest is the response at frequency zero, and the modes are the natural frequencies.
#[test]
fn response_at_rest_is_the_static_deflection() {
    let robot = without_gravity("dual-emps");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let state = FlexibleState::rest(&flexible, robot.home());
    let x = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let found = flexible.response(&state, (None, x), (None, x)).unwrap();
    assert!((found.at(0.0, ResponseKind::Receptance)[0] / found.static_compliance - 1.0).abs() < 1e-9);
    assert!((found.modes[0].hz / 14.206764042033898 - 1.0).abs() < 1e-6);
    let force = 1e-3;
    let wrench = Wrench { f: vec3(force, 0.0, 0.0), m: vec3(0.0, 0.0, 0.0) };
    flexible.load(&[(Node::Platform, wrench)]);
    let bent = flexible.deflected(&state).unwrap();
    let at = |flexible: &mut FlexibleRobot<'_>, s: &FlexibleState| {
        flexible.direct(s, &[0.0, 0.0], None).unwrap().position[0]
    };
    let moved = at(&mut flexible, &bent) - at(&mut flexible, &state);
    assert!((moved / force / found.static_compliance - 1.0).abs() < 1e-5, "{moved} {}", found.static_compliance);
    // A map of it has the length of that displacement.
    let [x, y] = [robot.home().pose().p.x, robot.home().pose().p.y];
    let asked = robot.map("deflection").over("x", x, x + 0.05, 2).over("y", y, y + 0.05, 2).wrench(wrench);
    let map = asked.answer().unwrap();
    assert!(map.values.iter().all(|v| v.get().is_some()), "{:?}", map.refused);
    let wanted = (0..3).map(|i| (force * found.compliance[i][0]).powi(2)).sum::<f64>().sqrt();
    assert!((map.values[0].get().unwrap() / wanted - 1.0).abs() < 1e-5, "{:?} {wanted}", map.values);
    let rigid = gough::Robot::shipped("five-bar").unwrap();
    let refused = rigid.map("deflection").over("x", 0.0, 0.1, 2).answer().unwrap_err();
    assert!(refused.to_string().contains("nothing of this robot gives way"), "{refused}");
}

/// The platform of a robot with its weight alone sinks by what its stiffness says; twice the load on a beam moves it twice as far.
#[test]
fn what_weight_moves_is_mapped() {
    let robot = gough::Robot::shipped("five-bar-flexible").unwrap();
    let at = |force: f64| {
        let load = Wrench { f: vec3(0.0, 0.0, -force), m: vec3(0.0, 0.0, 0.0) };
        let asked = robot.map("deflection").over("x", 0.0, 0.05, 2).over("y", 0.25, 0.3, 2).wrench(load);
        asked.answer().unwrap().values[0].get().unwrap()
    };
    let [own, once, twice] = [0.0, 1.0, 2.0].map(at);
    assert!(own > 1e-9, "{own}");
    assert!(((twice - once) / (once - own) - 1.0).abs() < 1e-2, "{own} {once} {twice}");
}
