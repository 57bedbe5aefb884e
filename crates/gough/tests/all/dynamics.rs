//! Rigid dynamics: the numbers of the reference files, and the laws, on every robot.
use crate::common::{SIX, all_robots, compile, numbers, random, random_pose, reference_states, robot, state_pose};
use gough::Robot;
use gough::dynamics::newton_euler::{TreeEfforts, tree_efforts};
use gough::dynamics::{
    Conditions, Dynamics, InverseDynamics, Share, Sign, active_model, direct_derivatives, direct_dynamics,
    direct_dynamics_under, inverse_derivatives, inverse_dynamics, inverse_dynamics_under, joint_reactions,
    platform_model,
};
use gough::kinematics::jacobians::{Redundancy, matrices_at};
use gough::kinematics::motion::{Motion, move_bodies};
use gough::kinematics::{Posture, SolveError, inverse};
use gough::linalg::dense::{Matrix, svd};
use gough::model::{CoordId, Model, Node};
use gough::spatial::{Inertia, Mat3, Pose, Wrench, vec3};
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

/// A regular state: posture, twist, acceleration and what they take.
struct State {
    posture: Posture,
    t: Vec<f64>,
    td: Vec<f64>,
    found: InverseDynamics,
}

/// Random states clear of singularities.
fn states(robot: &Robot, count: usize, seed: u64) -> Vec<State> {
    let mut random = random(seed);
    let model = robot.model();
    let n = model.topology().platform.independent.len();
    let mut list = Vec::new();
    for _ in 0..20 * count {
        let pose = random_pose(robot, &mut random, 0.1, 0.1);
        let Ok(posture) = inverse(model, &pose, robot.mode()) else { continue };
        let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let (t, td) = (any(), any());
        let found = match inverse_dynamics(model, &posture, &t, &td) {
            Ok(found) => found,
            Err(SolveError::Singular { .. } | SolveError::Uncontrolled { .. }) => continue,
            Err(e) => panic!("{}: {e}", robot.name()),
        };
        if found.motion.rates.values().all(|x| x.abs() < 20.0) && found.condition < 100.0 {
            list.push(State { posture, t, td, found });
        }
        if list.len() == count {
            break;
        }
    }
    assert!(2 * list.len() >= count, "{}: {} regular states", robot.name(), list.len());
    list
}

/// Inertia symmetric and positive definite, efforts and accelerations inverse to each other, power in = energy gained.
#[test]
fn the_laws_hold_on_a_thousand_states_of_every_shipped_robot() {
    for robot in gough::robots::names().map(robot) {
        let model = robot.model();
        let n = model.topology().platform.independent.len();
        let mut memory = Dynamics::new(model);
        for (i, State { posture, t, td, found }) in states(&robot, 1000, 61).iter().enumerate() {
            // The path without allocation and the one with everything are different code for equal legs.
            let fast = memory.inverse(model, posture.pose(), posture.mode(), t, td, None).unwrap();
            close(fast, &found.efforts, 1e-8, robot.name());
            let M = platform_model(model, posture, t, &Conditions::default()).unwrap().M;
            let size = M.data.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for i in 0..n {
                (0..i).for_each(|j| assert!((M.at(i, j) - M.at(j, i)).abs() < 1e-9 * size, "{}", robot.name()));
            }
            let values = svd(&Matrix::from_fn(n, n, |i, j| M.at(i, j))).s;
            if values[n - 1] > 1e-9 * values[0] {
                // Symmetric, with t M t > 0.
                let energy: f64 = M.apply(t).iter().zip(t).map(|(a, b)| a * b).sum();
                assert!(energy > 0.0, "{}: {energy}", robot.name());
                let kinetic = found.kinetic_energy + found.kinetic_energy_rotors;
                assert!((0.5 * energy - kinetic).abs() < 1e-9 * size, "{}", robot.name());
                let back = memory.direct(model, posture.pose(), posture.mode(), t, &found.efforts, None).unwrap();
                close(back, td, 1e-6, robot.name());
            }
            if i % 10 == 0 {
                power_is_energy_gained(&robot, posture, t, td, found, size);
            }
        }
    }
}

/// d/dt (E + U) = τ · q̇_a, by a second difference along the motion.
fn power_is_energy_gained(robot: &Robot, posture: &Posture, t: &[f64], td: &[f64], found: &InverseDynamics, size: f64) {
    let model = robot.model();
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
        let later: Vec<f64> = t.iter().zip(td).map(|(v, a)| v + a * s).collect();
        let posture = inverse(model, &X, robot.mode()).ok()?;
        let e = inverse_dynamics(model, &posture, &later, td).ok()?;
        Some(e.kinetic_energy + e.kinetic_energy_rotors + e.potential_energy)
    };
    let (Some(a), Some(b)) = (energy(h), energy(-h)) else { return };
    let gained = (a - b) / (2.0 * h);
    let active = &model.topology().active;
    let power: f64 = active.iter().zip(&found.efforts).map(|(c, tau)| found.motion.rates[*c] * tau).sum();
    let scale = 1.0 + power.abs() + size;
    assert!((gained - power).abs() < 1e-5 * scale, "{}: {gained} {power}", robot.name());
}

/// The second road: the matrices of first order, `τ = τ_a + Jᵀ w_r + J_dᵀ τ_d`, (8.72), and for redundant drives the shortest
/// solution of (8.145) by singular values.
#[test]
fn efforts_follow_from_the_matrices_too() {
    for robot in all_robots() {
        let model = robot.model();
        for State { posture, t, td, found } in &states(&robot, 20, 63) {
            let (mut pos, mut motion) = (posture.positions().clone(), Motion::new(model));
            move_bodies(model, t, td, &mut pos, &mut motion).unwrap();
            let mut tree = TreeEfforts::new(model);
            tree_efforts(model, &mut pos, &mut motion, &mut tree);
            let joints = &model.numbers().joints;
            let tau = tree.efforts.map(|c, effort| effort + joints[c].rotor * motion.accels[c]);
            let m = matrices_at(model, posture, None).unwrap();
            let pick = |list: &[CoordId]| list.iter().map(|c| tau[*c]).collect::<Vec<f64>>();
            let active = pick(&model.topology().active);
            let passive = pick(&m.passive);
            let w_r = m.matrices.Psi_t.transposed().apply(&tree.F_WE.to_array());
            let wanted = match m.redundancy {
                Redundancy::Kinematic => continue,
                Redundancy::None => {
                    let parts = [
                        m.jacobians.J.unwrap().transposed().apply(&w_r),
                        m.jacobians.J_d.unwrap().transposed().apply(&passive),
                    ];
                    (0..active.len()).map(|i| active[i] + parts[0][i] + parts[1][i]).collect::<Vec<f64>>()
                }
                Redundancy::Actuation => {
                    let J_inv = m.jacobians.J_inv.unwrap();
                    let right = m.matrices.J_t.clone().minus(&m.matrices.J_ta.times(&J_inv));
                    let J_r = m.matrices.J_td.solve(&right).unwrap();
                    let parts = [J_inv.transposed().apply(&active), J_r.transposed().apply(&passive)];
                    let h: Vec<f64> = (0..w_r.len()).map(|i| w_r[i] + parts[0][i] + parts[1][i]).collect();
                    svd(&Matrix::from_fn(J_inv.cols, J_inv.rows, |i, j| J_inv.at(j, i))).least_squares(&h)
                }
            };
            close(&found.efforts, &wanted, 1e-7, robot.name());
        }
    }
}

/// Cut open, the robot stays in equilibrium: no passive joint bears an effort, drives bear theirs, the ground bears the rest.
#[test]
fn reactions_hold_every_body() {
    for robot in all_robots() {
        let model = robot.model();
        let t = model.topology();
        let on_body = Node::Body(gough::model::Id::new(0));
        let push = Wrench { f: vec3(3.0, -2.0, 1.0), m: vec3(0.3, 0.1, -0.2) };
        // A tool point has no orientation, so that a moment on it would not be borne by anything.
        let on_platform = if t.platform.tool.is_some() { Wrench { m: vec3(0.0, 0.0, 0.0), ..push } } else { push };
        for (loads, friction) in
            [(vec![], None), (vec![(Node::Platform, on_platform), (on_body, push)], Some(Sign::Sharp))]
        {
            let conditions = Conditions { loads, friction, ..Conditions::default() };
            for State { posture, t: twist, td, .. } in &states(&robot, 10, 64) {
                let found = inverse_dynamics_under(model, posture, twist, td, &conditions).unwrap();
                let all = joint_reactions(model, posture, twist, td, &conditions).unwrap();
                let efforts = if friction.is_some() { &found.efforts_with_friction } else { &found.efforts };
                let scale = all.bodies.values().flat_map(|F| F.to_array()).fold(1.0_f64, |m, x| m.max(x.abs()));
                for (k, c) in t.active.iter().enumerate() {
                    assert!((all.efforts[*c] - efforts[k]).abs() < 1e-8 * scale, "{} drive {k}", robot.name());
                }
                for c in t.passive.iter().filter(|c| !t.is_held(**c)) {
                    let left = all.efforts[*c];
                    assert!(left.abs() < 1e-8 * scale, "{} {} {left}", robot.name(), t.coords[*c].name);
                }
                let ground = all.ground - found.ground_wrench;
                let miss = ground.to_array().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                assert!(miss < 1e-7 * scale, "{} {:?} {:?}", robot.name(), all.ground, found.ground_wrench);
            }
        }
    }
}

/// What pushes the platform along costs the drives as much power less.
#[test]
fn loads_do_work() {
    for robot in gough::robots::names().map(robot) {
        let model = robot.model();
        let t = model.topology();
        for State { posture, t: twist, td, found } in &states(&robot, 10, 65) {
            let push = Wrench { f: vec3(5.0, -3.0, 2.0), m: vec3(0.4, -0.1, 0.3) };
            for node in [Node::Platform, Node::Body(gough::model::Id::new(1))] {
                let conditions = Conditions { loads: vec![(node, push)], ..Conditions::default() };
                let loaded = inverse_dynamics_under(model, posture, twist, td, &conditions).unwrap();
                // The path without allocation knows loads too.
                let mut memory = Dynamics::new(model).under(&conditions);
                let fast = memory.inverse(model, posture.pose(), posture.mode(), twist, td, None).unwrap();
                close(fast, &loaded.efforts, 1e-8, robot.name());
                let V = match node {
                    Node::Body(b) => found.motion.V_WB[b],
                    _ => found.motion.V_WE,
                };
                let saved: f64 = (t.active.iter().zip(&found.efforts).zip(&loaded.efforts))
                    .map(|((c, a), b)| (a - b) * found.motion.rates[*c])
                    .sum();
                let given = V.power(push);
                assert!((saved - given).abs() < 1e-8 * (1.0 + given.abs()), "{}: {saved} {given}", robot.name());
                // And forwards: efforts found under the load give back the motion under the load.
                let M = platform_model(model, posture, twist, &conditions).unwrap();
                let kept = direct_dynamics_under(model, posture, twist, &loaded.efforts, &conditions);
                if let Ok((back, _)) = kept {
                    let size = M.M.data.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                    let miss: Vec<f64> = back.iter().zip(td).map(|(a, b)| a - b).collect();
                    let residual = M.M.apply(&miss).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                    assert!(residual < 1e-7 * (1.0 + size), "{}: {back:?} {td:?}", robot.name());
                }
            }
        }
    }
}

/// A payload weighs as its wrench does, and is felt like mass of the file.
#[test]
fn a_payload_is_mass_on_the_platform() {
    for name in ["gough-stewart", "five-bar", "orthoglide", "dualv"] {
        let robot = robot(name);
        let model = robot.model();
        let at = vec3(0.02, -0.01, 0.03);
        let payload = Inertia::at_com(2.5, at, Mat3::from_diagonal(&vec3(0.01, 0.02, 0.015)));
        let loaded = model.carrying(payload);
        let n = model.topology().platform.independent.len();
        let rest = vec![0.0; n];
        for State { posture, t, td, found } in &states(&robot, 5, 66) {
            // At rest: the weight of the payload alone.
            let held = inverse_dynamics(model, posture, &rest, &rest).unwrap();
            let heavier = inverse_dynamics(&loaded, posture, &rest, &rest).unwrap();
            let weight = model.numbers().gravity * 2.5;
            if name != "five-bar" {
                let arm = posture.pose().R.apply(at);
                let load = Wrench { f: weight, m: arm.cross(&weight) };
                let conditions = Conditions { loads: vec![(Node::Platform, load)], ..Conditions::default() };
                let pushed = inverse_dynamics_under(model, posture, &rest, &rest, &conditions).unwrap();
                close(&heavier.efforts, &pushed.efforts, 1e-10, name);
            }
            assert!((heavier.ground_wrench.f - held.ground_wrench.f + weight).norm() < 1e-9, "{name}");
            // Moving: kinetic energy of a rigid body.
            let moving = inverse_dynamics(&loaded, posture, t, td).unwrap();
            let more = moving.kinetic_energy - found.kinetic_energy;
            assert!(more > 0.0, "{name}");
            if name == "gough-stewart" {
                let (R, V) = (posture.pose().R, found.motion.V_WE);
                let V = gough::spatial::Twist { v: R.apply_inv(V.v), w: R.apply_inv(V.w) };
                assert!((more - payload.energy(V)).abs() < 1e-10, "{name}");
            }
        }
        // The payload stays in other scalars and at other parameters.
        let again = loaded.with_values(&loaded.numbers().parameters);
        assert_eq!(again.numbers().platform, loaded.numbers().platform);
    }
}

/// Redundant drives: shortest, weighted and limited lists move the platform alike.
#[test]
fn redundant_drives_share_as_asked() {
    let robot = robot("dualv");
    let model = robot.model();
    let n = model.topology().active.len();
    for State { posture, t, td, found } in &states(&robot, 20, 67) {
        let shared = |share: Share| {
            let conditions = Conditions { share, ..Conditions::default() };
            inverse_dynamics_under(model, posture, t, td, &conditions)
        };
        let internal = found.internal.as_ref().unwrap();
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert_eq!(internal.null_space.len(), 1);
        assert!(norm(&internal.load) < 1e-10 * (1.0 + norm(&found.efforts)));
        let move_alike = |efforts: &[f64]| {
            let (a, _) = direct_dynamics(model, posture, t, efforts).unwrap();
            close(&a, td, 1e-8, "dualv");
        };
        // Equal weights are no weights; a heavy weight spares its drive; the weighted sum is least.
        close(&shared(Share::Weighted(vec![2.0; n])).unwrap().efforts, &found.efforts, 1e-10, "equal weights");
        let mut weights = vec![1.0; n];
        weights[0] = 1e6;
        let spared = shared(Share::Weighted(weights.clone())).unwrap();
        move_alike(&spared.efforts);
        assert!(spared.efforts[0].abs() < 1e-4 * (1.0 + norm(&found.efforts)), "{:?}", spared.efforts);
        let slope: f64 = (0..n).map(|i| weights[i] * spared.efforts[i] * internal.null_space[0][i]).sum();
        assert!(slope.abs() < 1e-6 * (1.0 + norm(&found.efforts)), "{slope}");
        let load = norm(&spared.internal.unwrap().load);
        assert!((norm(&spared.efforts).powi(2) - load.powi(2) - norm(&found.efforts).powi(2)).abs() < 1e-6);
        // Wide limits change nothing; narrow ones hold; impossible ones are refused by name.
        let wide = shared(Share::Within(vec![[-1e3, 1e3]; n])).unwrap();
        close(&wide.efforts, &found.efforts, 1e-12, "wide limits");
        // The drive that the others can best stand in for is kept below what it would give.
        let v = &internal.null_space[0];
        let k = (0..n).max_by(|a, b| v[*a].abs().total_cmp(&v[*b].abs())).unwrap();
        let mut limits = vec![[-1e3, 1e3]; n];
        let most = found.efforts[k] - 0.1 * (1.0 + found.efforts[k].abs());
        limits[k][1] = most;
        let limited = shared(Share::Within(limits)).unwrap();
        move_alike(&limited.efforts);
        assert!((limited.efforts[k] - most).abs() < 1e-11 * (1.0 + most.abs()), "{limited:?}");
        let refused = shared(Share::Within(vec![[-1e-6, 1e-6]; n])).unwrap_err();
        assert_eq!(refused.kind(), "beyond-effort", "{refused}");
        assert_eq!(shared(Share::Weighted(vec![1.0])).unwrap_err().kind(), "wrong-count");
    }
}

/// `M q̈_a + c = τ` on the active joints, and the same robot on the platform.
#[test]
fn the_model_on_active_joints_gives_the_same_efforts() {
    for robot in gough::robots::names().map(robot) {
        let model = robot.model();
        for State { posture, t, found, .. } in &states(&robot, 10, 68) {
            let on_joints = match active_model(model, posture, t, &Conditions::default()) {
                Err(SolveError::Redundant) => break,
                other => other.unwrap(),
            };
            let qdd: Vec<f64> = model.topology().active.iter().map(|c| found.motion.accels[*c]).collect();
            let tau: Vec<f64> = on_joints.M.apply(&qdd).iter().zip(&on_joints.c).map(|(a, b)| a + b).collect();
            close(&tau, &found.efforts, 1e-8, robot.name());
        }
    }
}

/// Derivatives by dual numbers are slopes of the answers.
#[test]
fn derivatives_are_slopes() {
    for robot in all_robots() {
        let model = robot.model();
        let conditions = Conditions { friction: Some(Sign::Smooth(0.1)), ..Conditions::default() };
        for State { posture, t, td, found } in &states(&robot, 2, 70) {
            let n = t.len();
            let rows = found.efforts.len();
            let h = 1e-6;
            let efforts = |model: &Model<f64>, X: &Pose<f64>, t: &[f64], td: &[f64]| {
                let posture = inverse(model, X, posture.mode()).ok()?;
                Some(inverse_dynamics_under(model, &posture, t, td, &conditions).ok()?.efforts_with_friction)
            };
            let moved = |list: &[f64], k: usize, s: f64| {
                let mut list = list.to_vec();
                list[k] += s;
                list
            };
            let platform = &model.topology().platform;
            let shifted = |k: usize, s: f64| {
                let mut X = *posture.pose();
                let c = platform.independent[k].index();
                if c < 3 {
                    X.p[c] += s;
                } else {
                    let mut axis = vec3(0.0, 0.0, 0.0);
                    axis[c - 3] = 1.0;
                    X.R = gough::spatial::orientation::from_axis_angle(axis, s) * X.R;
                }
                X
            };
            let X = *posture.pose();
            let d = inverse_derivatives(model, posture, t, td, &conditions).unwrap();
            let slope = |f: &dyn Fn(f64) -> Option<Vec<f64>>| {
                let (a, b) = (f(h)?, f(-h)?);
                Some(a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>())
            };
            let same = |found: &gough::linalg::small::Dense<f64>, k: usize, wanted: Option<Vec<f64>>, what: &str| {
                let Some(wanted) = wanted else { return };
                let column: Vec<f64> = (0..found.rows).map(|i| found.at(i, k)).collect();
                let scale = wanted.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
                for (a, b) in column.iter().zip(&wanted) {
                    let size = found.data.iter().fold(scale, |m, x| m.max(x.abs()));
                    assert!((a - b).abs() < 3e-5 * size, "{} {what} {k}: {column:?} {wanted:?}", robot.name());
                }
            };
            for k in 0..n {
                if platform.dependent.is_empty() {
                    same(&d.pose, k, slope(&|s| efforts(model, &shifted(k, s), t, td)), "pose");
                }
                same(&d.twist, k, slope(&|s| efforts(model, &X, &moved(t, k, s), td)), "twist");
                same(&d.given, k, slope(&|s| efforts(model, &X, t, &moved(td, k, s))), "acceleration");
            }
            for k in 0..model.parameters().len() {
                let other = |s: f64| model.with_values(&moved(&model.numbers().parameters, k, s));
                same(&d.parameters, k, slope(&|s| efforts(&other(s), &X, t, td)), "parameter");
            }
            // Forwards, at the efforts found.
            let tau = &found.efforts;
            let accel = |X: &Pose<f64>, t: &[f64], tau: &[f64]| {
                let posture = inverse(model, X, posture.mode()).ok()?;
                Some(direct_dynamics_under(model, &posture, t, tau, &conditions).ok()?.0)
            };
            let d = match direct_derivatives(model, posture, t, tau, &conditions) {
                Ok(d) => d,
                Err(e) => {
                    assert_ne!(model.topology().plan.given.is_empty(), e == SolveError::OpenJoints, "{e}");
                    continue;
                }
            };
            for k in 0..n {
                if platform.dependent.is_empty() {
                    same(&d.pose, k, slope(&|s| accel(&shifted(k, s), t, tau)), "ddm pose");
                }
                same(&d.twist, k, slope(&|s| accel(&X, &moved(t, k, s), tau)), "ddm twist");
            }
            for k in 0..rows {
                same(&d.given, k, slope(&|s| accel(&X, t, &moved(tau, k, s))), "ddm efforts");
            }
        }
    }
}

/// Friction with a smooth sign is that with a sharp one, beyond its width.
#[test]
fn smooth_friction_fades_into_sharp_friction() {
    let robot = robot("five-bar");
    let model = robot.model();
    for State { posture, t, td, found } in &states(&robot, 10, 69) {
        let with = |sign| {
            let conditions = Conditions { friction: Some(sign), ..Conditions::default() };
            inverse_dynamics_under(model, posture, t, td, &conditions).unwrap().efforts_with_friction
        };
        close(&with(Sign::Smooth(1e-9)), &found.efforts_with_friction, 1e-9, "narrow");
        let rate = found.motion.rates[model.topology().active[0]];
        let sign = rate / rate.hypot(0.5);
        let joint = &model.numbers().joints[model.topology().active[0]];
        assert!((joint.friction(rate, Sign::Smooth(0.5)) - joint.viscous * rate - joint.coulomb * sign).abs() < 1e-12);
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
    // Both distal links lie along x: the tool moves freely along y.
    let SolveError::Uncontrolled { motion, .. } = refused else { panic!("{refused}") };
    assert!(motion[0].abs() < 1e-6 && (motion[1].abs() - 1.0).abs() < 1e-12, "{motion:?}");
    // The distal link that carries the tool turns with it, about its far end at a distance of 187.8 mm.
    assert!((motion[5].abs() - 1.0 / 0.1878).abs() < 1e-5 && motion[3] == 0.0 && motion[4] == 0.0, "{motion:?}");
    // So does the path without allocation.
    let mut memory = Dynamics::new(model);
    let refused = memory.inverse(model, posture.pose(), posture.mode(), &[0.1, 0.0], &[0.0, 0.0], None).unwrap_err();
    let SolveError::Uncontrolled { motion: again, .. } = refused else { panic!("{refused}") };
    assert!(motion.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-9), "{motion:?} {again:?}");
    let silent = memory.inverse(model, robot.home().pose(), robot.mode(), &[f64::NAN, 0.0], &[0.0, 0.0], None);
    assert_eq!(silent.unwrap_err().kind(), "not-a-pose");
    let absurd = inverse_dynamics(model, robot.home(), &[1e200, 0.0], &[0.0, 0.0]).unwrap_err();
    assert_eq!(absurd.kind(), "not-a-pose", "{absurd}");
    for (twist, efforts) in [([1e200, 0.0], [0.0, 0.0]), ([0.0, 0.0], [1e308, 1e308])] {
        let absurd = direct_dynamics(model, robot.home(), &twist, &efforts).unwrap_err();
        assert_eq!(absurd.kind(), "not-a-pose", "{absurd}");
    }
    // Nearby there are efforts, and the condition says how near.
    let beside = inverse(model, &Pose::translation(vec3(0.0, height + 1e-4, 0.0)), robot.mode()).unwrap();
    assert!(inverse_dynamics(model, &beside, &[0.1, 0.0], &[0.0, 0.0]).unwrap().condition > 100.0);
    let wrong = direct_dynamics(model, robot.home(), &[0.0, 0.0], &[1.0]).unwrap_err();
    assert_eq!(wrong.kind(), "wrong-count");
}

/// The Orthoglide with real parallelograms is its PUU equivalent: two half rods that stay parallel move like one whole rod.
#[test]
fn parallelograms_are_their_puu_equivalent() {
    let (real, equivalent) = (robot("orthoglide-parallelogram"), robot("orthoglide"));
    for State { posture, t, td, found } in &states(&equivalent, 100, 71) {
        let twin = inverse(real.model(), posture.pose(), real.mode()).unwrap();
        let other = inverse_dynamics(real.model(), &twin, t, td).unwrap();
        close(&other.efforts, &found.efforts, 1e-9, "efforts");
        // Friction is printed on one joint of each parallelogram.
        close(&other.efforts_with_friction, &found.efforts_with_friction, 1e-9, "with friction");
        let energies = |x: &InverseDynamics| [x.kinetic_energy, x.kinetic_energy_rotors, x.potential_energy];
        close(&energies(&other), &energies(found), 1e-9, "energies");
        close(&other.ground_wrench.to_array(), &found.ground_wrench.to_array(), 1e-9, "ground");
    }
}

/// Legs that are alike but for their drives: the first joint, the second, or both.
const ALIKE_BUT_FOR_DRIVES: &str = r#"
[robot]
gravity = [0, -9.81, 0]
home = { x = 0.02, y = 0.01, phi = 0.2 }
[platform]
coordinates = "planar"
mass = 2
inertia = { at = "com", xx = 0.02, yy = 0.02, zz = 0.03 }
[template.rrr]
needs = ["turn"]
body = [
  { name = "{leg}1", on = "base", joint = "R", frame = { rpy = [0, 0, "turn"] }, point = [0.5, 0, 0], drive = {}, mass = 0.8, com = [0.17, 0, 0], inertia = { at = "com", xx = 0.001, yy = 0.01, zz = 0.01 } },
  { name = "{leg}2", on = "{leg}1", joint = "R", point = [0.35, 0, 0], drive = {}, mass = 0.7, com = [0.15, 0, 0], inertia = { at = "com", xx = 0.001, yy = 0.01, zz = 0.01 } },
]
closure = [{ joint = "R", a = { body = "{leg}2", point = [0.3, 0, 0] }, b = { body = "platform", frame = { rpy = [0, 0, "turn"] }, point = [0.1, 0, 0] } }]
[legs]
1 = { template = "rrr", turn = 0 }
2 = { template = "rrr", turn = "120 deg" }
3 = { template = "rrr", turn = "240 deg" }
"#;

/// Legs side by side in lanes have their drives at the same joints.
#[test]
fn legs_may_differ_in_their_drives_only() {
    for driven in [r#"["11", "21", "31"]"#, r#"["11", "21", "32"]"#, r#"["11", "21", "31", "32"]"#] {
        let robot = compile("drives", &format!("{ALIKE_BUT_FOR_DRIVES}[actuation]\nset = {driven}\n"));
        let (model, posture) = (robot.model(), robot.home());
        let (t, td) = ([0.3, -0.2, 0.4], [1.0, 2.0, 3.0]);
        let long = inverse_dynamics(model, posture, &t, &td).unwrap().efforts;
        let mut memory = Dynamics::new(model);
        close(memory.inverse_leg_by_leg(model, posture, &t, &td, None).unwrap(), &long, 1e-9, driven);
        close(memory.direct_leg_by_leg(model, posture, &t, &long, None).unwrap(), &td, 1e-9, driven);
    }
}

/// A drive that the pose leaves open moves on its own: power in = energy gained, and the accelerations of platform and open joint
/// come back from the efforts.
#[test]
fn open_joints_move_as_they_are_told() {
    let robot = crate::common::compile("redundant", &crate::common::text("redundant"));
    let model = robot.model();
    let topology = model.topology();
    let [open] = topology.plan.given[..] else { panic!("one open joint") };
    let (t, td) = ([0.3, -0.2, 0.4], [0.5, 0.7, -0.6]);
    let (q, rate, acceleration) = (0.05, 0.3, -0.8);
    let at = |s: f64| {
        let mut pose = *robot.home().pose();
        pose.p += gough::spatial::vec3(t[0] * s + 0.5 * td[0] * s * s, t[1] * s + 0.5 * td[1] * s * s, 0.0);
        let angle = t[2] * s + 0.5 * td[2] * s * s;
        pose.R = gough::spatial::Rotation::about_z(gough::spatial::Turn::of(angle)) * pose.R;
        let given = [(open, q + rate * s + 0.5 * acceleration * s * s)];
        let posture = gough::kinematics::inverse_given(model, &pose, robot.mode(), &given).unwrap();
        let later: Vec<f64> = t.iter().zip(&td).map(|(v, a)| v + a * s).collect();
        let conditions =
            Conditions { open: vec![(open, [rate + acceleration * s, acceleration])], ..Conditions::default() };
        let found = inverse_dynamics_under(model, &posture, &later, &td, &conditions).unwrap();
        (posture, found, conditions)
    };
    let (posture, found, conditions) = at(0.0);
    assert!(
        (found.motion.rates[open] - rate).abs() < 1e-15 && (found.motion.accels[open] - acceleration).abs() < 1e-15
    );
    let energy = |s: f64| {
        let e = at(s).1;
        e.kinetic_energy + e.kinetic_energy_rotors + e.potential_energy
    };
    let h = 1e-5;
    let gained = (energy(h) - energy(-h)) / (2.0 * h);
    let power: f64 = topology.active.iter().zip(&found.efforts).map(|(c, tau)| found.motion.rates[*c] * tau).sum();
    assert!((gained - power).abs() < 1e-7 * (1.0 + power.abs()), "{gained} {power}");
    let (back, motion) = direct_dynamics_under(model, &posture, &t, &found.efforts, &conditions).unwrap();
    close(&back, &td, 1e-9, "platform");
    assert!((motion.accels[open] - acceleration).abs() < 1e-9, "{}", motion.accels[open]);
    let fewer = direct_dynamics_under(model, &posture, &t, &found.efforts[1..], &conditions).unwrap_err();
    assert_eq!(fewer.kind(), "wrong-count");
}
