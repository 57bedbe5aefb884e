//! Elastic drives: a servo carries its rotor, a transmission has it behind.

use crate::common::{eigenvalues, numbers};
use gough::Robot;
use gough::description::ReadOptions;
use gough::elastodynamics::relative::{RelativePlan, relative_matrices};
use gough::elastodynamics::{Actuators, DriveElasticity, RotorMotion, Vibration, drive_uses};
use gough::kinematics::inverse;
use gough::linalg::dense::Matrix;
use gough::spatial::{Pose, vec3};

/// The flexible five-bar with other drives.
fn five_bar(drive: &str) -> Robot {
    let text = gough::robots::text("five-bar-flexible").unwrap();
    let given = "drive = { rotor_inertia = 0.01, stiffness = \"transmission\" }";
    assert!(text.contains(given));
    Robot::from_toml("five-bar", &text.replace(given, drive), &ReadOptions::default(), None).unwrap()
}

fn all(robot: &Robot, actuators: Actuators) -> Vec<f64> {
    let mut v = Vibration::new(robot.model(), robot.home(), actuators).unwrap();
    v.take_posture(robot.home()).unwrap();
    v.lowest(v.modes()).unwrap().iter().map(|f| f.hz).collect()
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (f, w) in found.iter().zip(wanted) {
        assert!((f - w).abs() < tolerance * w, "{f} {w}");
    }
}

#[test]
fn a_servo_behind_a_transmission_has_both_limits() {
    let transmission = all(&five_bar("drive = { rotor_inertia = 0.01, stiffness = 800 }"), Actuators::Elastic);
    let servo = all(&five_bar("drive = { rotor_inertia = 0.01, servo = 800 }"), Actuators::Elastic);
    assert!((servo[0] / transmission[0] - 1.0).abs() > 1e-3, "the rotor counts");
    let both = |k: &str, servo: &str| {
        all(
            &five_bar(&format!("drive = {{ rotor_inertia = 0.01, stiffness = {k}, servo = {servo} }}")),
            Actuators::Elastic,
        )
    };
    // Two more modes, those of the rotors; stiff springs push them up and out of the others' way.
    let n = transmission.len();
    let stiff_servo = both("800", "1e11");
    assert_eq!(stiff_servo.len(), n + 2);
    close(&stiff_servo[..10], &transmission[..10], 1e-6);
    close(&both("1e11", "800")[..10], &servo[..10], 1e-6);
}

#[test]
fn both_roads_agree_on_rotors_that_stand_apart() {
    let robot = five_bar("drive = { rotor_inertia = 0.01, stiffness = 800, servo = 300 }");
    for actuators in [Actuators::Elastic, Actuators::Free] {
        let plan = RelativePlan::new(robot.model(), actuators, robot.home().positions()).unwrap();
        let m = relative_matrices(robot.model(), &plan, robot.home().positions());
        let dense = |A: &gough::linalg::small::Dense<f64>| Matrix::from_fn(A.rows, A.cols, |i, j| A.at(i, j));
        let values = eigenvalues(&dense(&m.K), &dense(&m.M));
        let wanted = all(&robot, actuators);
        assert_eq!(values.len(), wanted.len());
        let free = wanted.iter().filter(|w| **w < 1e-3).count();
        assert_eq!(free, if actuators == Actuators::Free { 2 } else { 0 });
        for (v, w) in values.iter().zip(&wanted).skip(free) {
            let hz = v.sqrt() / std::f64::consts::TAU;
            assert!((hz / w - 1.0).abs() < 1e-8, "{hz} {w}");
        }
    }
}

#[test]
fn what_gives_way_is_told() {
    for (drive, gives, rotor) in [
        ("drive = { rotor_inertia = 0.01 }", DriveElasticity::Rigid, RotorMotion::Held),
        ("drive = { rotor_inertia = 0.01, stiffness = 800 }", DriveElasticity::Transmission, RotorMotion::Held),
        ("drive = { rotor_inertia = 0.01, servo = 800 }", DriveElasticity::Servo, RotorMotion::WithJoint),
        ("drive = { stiffness = 800, servo = 300 }", DriveElasticity::TransmissionAndServo, RotorMotion::Apart),
    ] {
        let robot = five_bar(drive);
        let v = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
        let uses = drive_uses(robot.model(), v.plan());
        assert_eq!(uses.len(), 2);
        assert!(uses.iter().all(|u| u.gives == gives && u.rotor == rotor), "{drive}: {uses:?}");
    }
}

/// Rods are beams here and in the other program, which has more elements and spherical joints. The printed stiffness is that of the
/// servo loops; a transmission, whose rotor is held, is off by ten times as much in the highest mode.
#[test]
fn heli4_is_the_servo_of_its_source() {
    let robot = gough::Robot::shipped("heli4").unwrap();
    let data: serde_json::Value =
        serde_json::from_str(include_str!("../../../../robots/heli4/reference.json")).unwrap();
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
    let poses = data["poses"].as_array().unwrap();
    assert!(poses.len() >= 3);
    for s in poses {
        let p = numbers(&s["p"]);
        let at = inverse(robot.model(), &Pose::translation(vec3(p[0], p[1], p[2])), robot.mode()).unwrap();
        v.take_posture(&at).unwrap();
        let found: Vec<f64> = v.lowest(3).unwrap().iter().map(|f| f.hz).collect();
        for (f, w) in found.iter().zip(numbers(&s["f_fe_rigid_platform"])) {
            assert!((f / w - 1.0).abs() < 1e-3, "{f} {w}");
        }
    }
}
