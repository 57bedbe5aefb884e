//! Flexible robots in motion: published states, laws, and the rigid limit.

use crate::common::{compile, numbers, robot, state_pose};
use gough::Robot;
use gough::description::Options;
use gough::dynamics::Sign;
use gough::elastodynamics::motion::{Flexible, FlexibleState, Given, Wanted};
use gough::spatial::Twist;
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
fn published(flexible: &mut Flexible<'_>, robot: &Robot, s: &Value) -> FlexibleState {
    let given = Given::Active { q: numbers(&s["position"]["active"]), qd: numbers(&s["rate"]["active"]) };
    let (q, qd) = (numbers(&s["position"]["elastic"]), numbers(&s["rate"]["elastic"]));
    flexible.state(robot.home(), &given, &q, &qd).unwrap()
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
        let mut flexible = Flexible::new(robot.model(), robot.home()).unwrap();
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
    let mut flexible = Flexible::new(robot.model(), robot.home()).unwrap();
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
    let options = Options { files: &files, ..Options::default() };
    let text = gough::robots::text("gough-stewart-flexible").unwrap();
    let robot = Robot::from_toml("synthetic", text, &options, None).unwrap();
    flexible_platform(&robot, data["synthetic"]["states"].as_array().unwrap());
}
