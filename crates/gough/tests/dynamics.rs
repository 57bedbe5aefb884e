//! Rigid dynamics: the numbers of the reference files, and the laws, on every robot.
#![allow(non_snake_case)]

mod common;

use common::{SIX, numbers, random, random_pose, reference_states, robot, state_pose};
use gough::dynamics::{direct_dynamics, inverse_dynamics, platform_model};
use gough::kinematics::motion::Motion;
use gough::kinematics::{SolveError, inverse};
use gough::linalg::dense::{Matrix, svd};
use gough::model::CoordId;
use gough::spatial::{Pose, vec3};
use rand::RngExt;

fn close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * scale, "{what}: {found:?} {wanted:?}");
    }
}

#[test]
fn all_reference_states_are_reproduced() {
    for name in SIX {
        let robot = robot(name);
        let model = robot.model();
        let t = model.topology();
        for (i, state) in reference_states(name).iter().enumerate() {
            let what = |key: &str| format!("{name} state {i} {key}");
            let posture = inverse(model, &state_pose(state), robot.mode()).unwrap();
            let (twist, acceleration) = (numbers(&state["twist"]), numbers(&state["acceleration"]));
            let found = inverse_dynamics(model, &posture, &twist, &acceleration).unwrap();
            close(&found.efforts, &numbers(&state["efforts"]), 1e-9, &what("efforts"));
            if let Some(wanted) = state.get("efforts_with_friction") {
                close(&found.efforts_with_friction, &numbers(wanted), 1e-9, &what("with friction"));
            }
            let energies = [found.kinetic_energy, found.kinetic_energy_rotors, found.potential_energy];
            for (key, x) in ["kinetic_energy", "kinetic_energy_rotors", "potential_energy"].iter().zip(energies) {
                close(&[x], &[state[*key].as_f64().unwrap()], 1e-9, &what(key));
            }
            close(&found.ground_wrench.to_array(), &numbers(&state["ground_wrench_on_robot"]), 1e-9, &what("ground"));
            // The efforts give back the motion; other efforts another one.
            let (td, motion) = direct_dynamics(model, &posture, &twist, &numbers(&state["efforts"])).unwrap();
            close(&td, &acceleration, 1e-9, &what("ddm"));
            let accels =
                |motion: &Motion<f64>, coords: &[CoordId]| coords.iter().map(|c| motion.accels[*c]).collect::<Vec<_>>();
            close(&accels(&motion, &t.passive), &numbers(&state["passive"]["qdd"]), 1e-9, &what("ddm passive"));
            let other = &state["ddm_other_efforts"];
            let (td, motion) = direct_dynamics(model, &posture, &twist, &numbers(&other["efforts"])).unwrap();
            close(&td, &numbers(&other["acceleration"]), 1e-9, &what("other efforts"));
            close(&accels(&motion, &t.active), &numbers(&other["active_qdd"]), 1e-9, &what("active_qdd"));
            close(&accels(&motion, &t.passive), &numbers(&other["passive_qdd"]), 1e-9, &what("passive_qdd"));
        }
    }
}

/// Inertia symmetric and positive definite, efforts and accelerations inverse to each other, power in = energy gained.
#[test]
fn the_laws_hold_on_every_shipped_robot() {
    let mut random = random(61);
    for robot in gough::robots::names().map(robot) {
        let model = robot.model();
        let n = model.topology().platform.independent.len();
        let mut done = 0;
        for _ in 0..400 {
            let pose = random_pose(&robot, &mut random, 0.1, 0.1);
            let Ok(posture) = inverse(model, &pose, robot.mode()) else { continue };
            let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let (t, td) = (any(), any());
            let found = match inverse_dynamics(model, &posture, &t, &td) {
                Ok(found) => found,
                Err(SolveError::Singular { .. }) => continue,
                Err(e) => panic!("{}: {e}", robot.name()),
            };
            if found.motion.rates.values().any(|x| x.abs() > 20.0) {
                continue; // near a singularity
            }
            let M = platform_model(model, &posture, &t).unwrap().M;
            let size = M.data.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for i in 0..n {
                (0..i).for_each(|j| assert!((M.at(i, j) - M.at(j, i)).abs() < 1e-9 * size, "{}", robot.name()));
            }
            let values = svd(&Matrix::from_fn(n, n, |i, j| M.at(i, j))).s;
            if values[n - 1] > 1e-9 * values[0] {
                let (back, _) = direct_dynamics(model, &posture, &t, &found.efforts).unwrap();
                close(&back, &td, 1e-6, robot.name());
            }
            // d/dt (E + U) = τ · q̇_a, by a second difference along the motion.
            let h = 1e-5;
            let energy = |s: f64| {
                let mut X = *posture.pose();
                let (V, A) = (found.motion.V_WE, found.motion.A_WE);
                X.p += V.v * s + A.a * (0.5 * s * s);
                let w = V.w * s + A.alpha * (0.5 * s * s);
                let angle = w.norm();
                if angle > 0.0 {
                    X.R = gough::spatial::orientation::from_axis_angle(w / angle, angle) * X.R;
                }
                let later: Vec<f64> = t.iter().zip(&td).map(|(v, a)| v + a * s).collect();
                let posture = inverse(model, &X, robot.mode()).ok()?;
                let e = inverse_dynamics(model, &posture, &later, &td).ok()?;
                Some(e.kinetic_energy + e.kinetic_energy_rotors + e.potential_energy)
            };
            let (Some(a), Some(b)) = (energy(h), energy(-h)) else { continue };
            let gained = (a - b) / (2.0 * h);
            let active = &model.topology().active;
            let power: f64 = active.iter().zip(&found.efforts).map(|(c, tau)| found.motion.rates[*c] * tau).sum();
            let scale = 1.0 + power.abs() + size;
            assert!((gained - power).abs() < 1e-5 * scale, "{}: {gained} {power}", robot.name());
            done += 1;
            if done == 25 {
                break;
            }
        }
        assert!(done >= 10, "{}: {done}", robot.name());
    }
}

#[test]
fn efforts_are_refused_by_name_where_they_do_not_exist() {
    let robot = robot("five-bar");
    let model = robot.model();
    // Aligned distal links: Type 2.
    let height = (0.213_f64.powi(2) - (0.14_f64 - 0.1878).powi(2)).sqrt();
    let posture = inverse(model, &Pose::translation(vec3(0.0, height, 0.0)), robot.mode()).unwrap();
    let refused = inverse_dynamics(model, &posture, &[0.1, 0.0], &[0.0, 0.0]).unwrap_err();
    assert_eq!(refused.kind(), "type2", "{refused}");
    let wrong = direct_dynamics(model, robot.home(), &[0.0, 0.0], &[1.0]).unwrap_err();
    assert_eq!(wrong.kind(), "wrong-count");
}

#[test]
fn states_without_allocation_agree() {
    let mut random = random(62);
    for robot in gough::robots::names().map(robot) {
        let model = robot.model();
        let n = model.topology().platform.independent.len();
        let mut memory = gough::dynamics::Dynamics::new(model);
        let mut done = 0;
        for _ in 0..200 {
            let pose = random_pose(&robot, &mut random, 0.1, 0.1);
            let Ok(posture) = inverse(model, &pose, robot.mode()) else { continue };
            let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let (t, td) = (any(), any());
            let Ok(found) = inverse_dynamics(model, &posture, &t, &td) else { continue };
            if found.motion.rates.values().any(|x| x.abs() > 20.0) {
                continue; // near a singularity
            }
            let fast = memory.inverse(model, posture.pose(), posture.mode(), &t, &td, None).unwrap();
            close(fast, &found.efforts, 1e-8, robot.name());
            let (slow, motion) = direct_dynamics(model, &posture, &t, &found.efforts).unwrap();
            let fast = memory.direct(model, posture.pose(), posture.mode(), &t, &found.efforts, None).unwrap();
            close(fast, &slow, 1e-6, robot.name());
            close(memory.motion.accels.as_slice(), motion.accels.as_slice(), 1e-6, robot.name());
            done += 1;
        }
        assert!(done > 10, "{}", robot.name());
    }
}
