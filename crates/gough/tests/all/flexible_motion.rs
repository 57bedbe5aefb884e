//! Flexible robots in motion: published states, laws, and the rigid limit.

use crate::common::{compile, numbers, random, robot};
use gough::Robot;
use gough::dynamics::Sign;
use gough::elastodynamics::motion::{Flexible, FlexibleState, Given, Wanted};
use gough::spatial::{Accel, Pose, Rotation, Twist, vec3};
use rand::Rng as _;
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
