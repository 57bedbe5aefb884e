//! The numbers of the reference files: joints of every state, poses back from the motors.
use crate::common::{SIX, numbers, robot, state_pose};
use gough::Robot;
use gough::kinematics::{assemblies, inverse};
use gough::model::CoordId;
use gough::spatial::orientation::{from_rpy, wrap};
use gough::spatial::{Pose, vec3};
use serde_json::Value;

fn reference(name: &str) -> Value {
    serde_json::from_str(gough::robots::reference(name).expect("has reference data")).expect("JSON")
}

fn assert_joints(robot: &Robot, coords: &[CoordId], found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for ((c, a), b) in coords.iter().zip(found).zip(expected) {
        let coord = &robot.model().topology().coords[*c];
        let off = if coord.slides { a - b } else { wrap(a - b) };
        assert!(off.abs() < tolerance, "{what}: joint {} is {a}, expected {b}", coord.name);
    }
}

#[test]
fn active_and_passive_joints_of_all_reference_states() {
    for name in SIX {
        let robot = robot(name);
        let (model, data) = (robot.model(), reference(name));
        let topology = model.topology();
        assert_eq!(serde_json::json!(topology.active_names()), data["active_joints"], "{name}");
        assert_eq!(serde_json::json!(topology.passive_names()), data["passive_joints"], "{name}");
        let states = data["states"].as_array().unwrap();
        assert!(states.len() >= 5);
        for (i, state) in states.iter().enumerate() {
            let posture =
                inverse(model, &state_pose(state), robot.mode()).unwrap_or_else(|e| panic!("{name} {i}: {e}"));
            for (part, coords) in [("active", &topology.active), ("passive", &topology.passive)] {
                let found = posture.joints(model, coords);
                let what = format!("{name} state {i} {part}");
                assert_joints(&robot, coords, &found, &numbers(&state[part]["q"]), 1e-10, &what);
            }
            let (gap_m, gap_rad) = posture.gap(model);
            assert!(gap_m < 1e-12 && gap_rad < 1e-12, "{name} {i}: {gap_m} {gap_rad}");
        }
    }
}

#[test]
fn the_motors_give_back_the_pose_of_all_reference_states() {
    for name in SIX {
        let robot = robot(name);
        let (model, data) = (robot.model(), reference(name));
        for (i, state) in data["states"].as_array().unwrap().iter().enumerate() {
            let wanted = state_pose(state);
            let found = assemblies(model, &numbers(&state["active"]["q"]), robot.mode())
                .unwrap_or_else(|e| panic!("{name} {i}: {e}"));
            let distance = |p: &Pose<f64>| (p.p - wanted.p).norm().max((p.R.0 - wanted.R.0).norm());
            let best = found.postures.iter().map(|p| distance(p.pose())).fold(f64::INFINITY, f64::min);
            assert!(best < 1e-9, "{name} state {i}: nearest of {} assembly modes is {best} away", found.postures.len());
            assert_eq!(found.complete, name != "gough-stewart", "{name}");
        }
    }
}

#[test]
fn navaro_joint_angles_of_the_eight_published_poses() {
    let robot = robot("navaro");
    let model = robot.model();
    for entry in reference("navaro")["poses"].as_array().unwrap() {
        let at = |k: &str| entry["pose"][k].as_f64().unwrap();
        let pose = Pose { R: from_rpy(0.0, 0.0, at("phi")), p: vec3(at("x"), at("y"), 0.0) };
        let posture = inverse(model, &pose, robot.mode()).unwrap();
        for (leg, expected) in entry["joints"].as_array().unwrap().iter().enumerate() {
            let coords: Vec<CoordId> =
                (1..=5).map(|j| model.topology().coord(&format!("{}{j}", leg + 1)).unwrap()).collect();
            let found = posture.joints(model, &coords);
            assert_joints(
                &robot,
                &coords,
                &found,
                &numbers(expected),
                1e-12,
                &format!("pose {:?} leg {leg}", entry["pose"]),
            );
        }
    }
}

#[test]
fn dual_emps_at_its_nominal_posture() {
    let robot = robot("dual-emps");
    let (model, data) = (robot.model(), reference("dual-emps"));
    let nominal = &data["frequencies"]["nominal"];
    let topology = model.topology();
    for (part, coords) in [("active", &topology.active), ("passive", &topology.passive)] {
        let found = robot.home().joints(model, coords);
        assert_joints(&robot, coords, &found, &numbers(&nominal[part]), 1e-12, part);
    }
    let found = assemblies(model, &[0.0, 0.0], robot.mode()).unwrap();
    let point = numbers(&nominal["point"]);
    assert!(found.complete && found.postures.len() == 2);
    assert!(found.postures.iter().any(|p| (p.pose().p - vec3(point[0], point[1], 0.0)).norm() < 1e-12));
}

#[test]
fn heli4_joints_over_the_workspace() {
    let robot = robot("heli4");
    let model = robot.model();
    for entry in reference("heli4")["poses"].as_array().unwrap() {
        let p = numbers(&entry["p"]);
        let posture = inverse(model, &Pose::translation(vec3(p[0], p[1], p[2])), robot.mode()).unwrap();
        for (leg, degrees) in entry["q_deg"].as_array().unwrap().iter().enumerate() {
            let coords: Vec<CoordId> =
                (1..=3).map(|j| model.topology().coord(&format!("{}{j}", leg + 1)).unwrap()).collect();
            let expected: Vec<f64> = numbers(degrees).iter().map(|d| d.to_radians()).collect();
            // ten digits are printed, the largest angle has three before the point
            assert_joints(
                &robot,
                &coords,
                &posture.joints(model, &coords),
                &expected,
                1e-9,
                &format!("{p:?} leg {leg}"),
            );
        }
    }
}

/// Five-bar: the four working modes of the point (0.05, 0.25), and the two assembly modes of one of them.
#[test]
fn five_bar_working_and_assembly_modes() {
    let robot = robot("five-bar");
    let model = robot.model();
    let printed = [
        ("++", [1.543_105_763_9, 2.693_444_091_2, -1.344_346_775, -1.696_596_485_1]),
        ("+-", [1.543_105_763_9, 1.139_259_723_6, -1.344_346_775, 1.696_596_485_1]),
        ("-+", [0.298_745_990_9, 2.693_444_091_2, 1.344_346_775, -1.696_596_485_1]),
        ("--", [0.298_745_990_9, 1.139_259_723_6, 1.344_346_775, 1.696_596_485_1]),
    ];
    let modes = gough::kinematics::working_modes(model, &Pose::translation(vec3(0.05, 0.25, 0.0))).unwrap();
    assert_eq!(modes.len(), 4);
    let topology = model.topology();
    let coords: Vec<CoordId> = ["11", "21", "12", "22"].map(|n| topology.coord(n).unwrap()).to_vec();
    for (name, expected) in printed {
        let posture = modes.iter().find(|p| p.mode().name(topology) == name).expect(name);
        assert_joints(&robot, &coords, &posture.joints(model, &coords), &expected, 1e-10, name);
    }
    let active = [1.543_105_763_9, 1.139_259_723_6];
    let found = assemblies(model, &active, robot.mode()).unwrap();
    for p in [vec3(0.05, 0.25, 0.0), vec3(0.044_988_213_4, 0.156_391_380_3, 0.0)] {
        assert!(found.postures.iter().any(|f| (f.pose().p - p).norm() < 1e-9), "{p}");
    }
    assert!(found.complete && found.postures.len() == 2);
}

#[test]
fn orthoglide_modes_of_a_point() {
    let robot = robot("orthoglide");
    let model = robot.model();
    let modes = gough::kinematics::working_modes(model, &Pose::translation(vec3(0.05, -0.04, 0.30))).unwrap();
    assert_eq!(modes.len(), 8);
    let topology = model.topology();
    let plus = modes.iter().find(|p| p.mode().name(topology) == "+++").unwrap();
    let minus = modes.iter().find(|p| p.mode().name(topology) == "---").unwrap();
    let active = &topology.active;
    assert_joints(
        &robot,
        active,
        &plus.joints(model, active),
        &[0.606_757_23, 0.689_332_59, 0.606_757_23],
        1e-8,
        "+++",
    );
    assert_joints(
        &robot,
        active,
        &minus.joints(model, active),
        &[-0.006_757_23, 0.090_667_41, -0.006_757_23],
        1e-8,
        "---",
    );
    let found = assemblies(model, &plus.joints(model, active), plus.mode()).unwrap();
    let other = vec3(0.243_040_007_3, 0.220_367_824_5, 0.560_367_824_5);
    assert!(found.complete && found.postures.len() == 2);
    assert!(found.postures.iter().any(|p| (p.pose().p - other).norm() < 1e-9));
}
