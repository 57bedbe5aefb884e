//! The matrices of first and second order: the numbers of the book's examples, and the laws, on every robot.
#![allow(clippy::unreadable_literal)]

use crate::common::{random, random_pose, robot};
use gough::Robot;
use gough::kinematics::jacobians::{Jacobians, Orders, Redundancy, jacobians, matrices_at};
use gough::kinematics::matrices::{Matrices, assemble, closure_rows, plan_at, smallest};
use gough::kinematics::motion::{Motion, accelerations, body_jacobian, velocities};
use gough::kinematics::{Posture, WorkingMode, inverse};
use gough::model::CoordKind;
use gough::spatial::{Accel, Pose, Twist, vec3};
use rand::RngExt;

/// A motion of the platform at a posture, and the matrices with their biases.
struct State {
    posture: Posture,
    motion: Motion<f64>,
    m: Matrices<f64>,
    t_r: Vec<f64>,
    td_r: Vec<f64>,
}

fn state(robot: &Robot, posture: Posture, t_r: &[f64], td_r: &[f64]) -> State {
    let model = robot.model();
    let mut pos = posture.positions().clone();
    let plan = plan_at(model, &pos);
    let mut m = Matrices::new(model, &plan);
    let mut motion = Motion::new(model);
    assemble(model, &plan, &pos, None, &mut m);
    assert!(smallest(&m.pivots) > 1e-6, "{}: {:?}", robot.name(), m.pivots);
    motion.V_WE = Twist::from_array(six(&m.Psi_t.apply(t_r)));
    velocities(model, &mut pos, &mut motion);
    assemble(model, &plan, &pos, Some(&motion), &mut m);
    let td: Vec<f64> = m.Psi_t.apply(td_r).iter().zip(&m.Psi_t_dot_t_r).map(|(a, b)| a + b).collect();
    let td = Twist::from_array(six(&td));
    motion.A_WE = Accel { a: td.v, alpha: td.w };
    accelerations(model, &mut pos, &mut motion);
    State { posture, motion, m, t_r: t_r.to_vec(), td_r: td_r.to_vec() }
}

fn six(x: &[f64]) -> [f64; 6] {
    std::array::from_fn(|i| x[i])
}

fn models(s: &State) -> Jacobians<f64> {
    jacobians(&s.m, &Orders::of(&s.m))
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let scale = wanted.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * scale, "{what}: {found:?} {wanted:?}");
    }
}

fn active(robot: &Robot, of: &gough::model::PerCoord<f64>) -> Vec<f64> {
    robot.model().topology().active.iter().map(|c| of[*c]).collect()
}

#[test]
fn the_five_bar_of_the_book() {
    let robot = robot("five-bar");
    let mode = WorkingMode::parse(robot.model().topology(), &["+".into(), "-".into()]).unwrap();
    let posture = inverse(robot.model(), &Pose::translation(vec3(0.05, 0.25, 0.0)), &mode).unwrap();
    let s = state(&robot, posture, &[0.3, -0.2], &[1.0, 0.5]);
    let j = models(&s);
    close(&j.J.as_ref().unwrap().data, &[-0.1292504587, -0.0863220231, -0.4094962177, 0.4285707901], 1e-9, "J");
    // A and B are unique up to sign.
    close(
        &s.m.A_r.data.iter().map(|x| x.abs()).collect::<Vec<_>>(),
        &[0.9803123739, 0.1974529047, 0.9536255446, 0.3009955494],
        1e-9,
        "A_r",
    );
    close(&s.m.B.data.iter().map(|x| x.abs()).collect::<Vec<_>>(), &[0.2075620416, 0.0, 0.0, 0.2113167867], 1e-9, "B");
    close(&[s.m.Psi_t.at(5, 0), s.m.Psi_t.at(5, 1)], &[-2.2449343715, -4.8751823014], 1e-9, "rho");
    close(&active(&robot, &s.motion.rates), &[-1.22663628, -1.63870925], 1e-8, "qd");
    close(&active(&robot, &s.motion.accels), &[-6.5372509, -4.0593838], 1e-7, "qdd");
    // Second difference of the orientation along the motion.
    close(&s.m.Psi_t_dot_t_r[5..], &[-3.05846454], 1e-8, "bias of the orientation");
    assert!(s.posture.mode() == &mode);
}

#[test]
fn the_laws_hold_on_every_robot() {
    let mut random = random(31);
    for robot in crate::common::all_robots() {
        let name = robot.name().to_owned();
        let t = robot.model().topology().clone();
        let mut done = 0;
        for _ in 0..400 {
            let pose = random_pose(&robot, &mut random, 0.2, 0.2);
            let Some(posture) = inverse(robot.model(), &pose, robot.mode()).ok() else { continue };
            let plan = plan_at(robot.model(), posture.positions());
            let mut m = Matrices::new(robot.model(), &plan);
            assemble(robot.model(), &plan, posture.positions(), None, &mut m);
            if smallest(&m.pivots) < 1e-3 {
                continue;
            }
            let n = t.platform.independent.len();
            let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let s = state(&robot, posture, &any(), &any());
            check_laws(&robot, &s, &name);
            done += 1;
            if done == 20 {
                break;
            }
        }
        assert!(done >= 10, "{name}: {done}");
    }
}

fn check_laws(robot: &Robot, s: &State, name: &str) {
    let t = robot.model().topology();
    let (qd, qdd) = (active(robot, &s.motion.rates), active(robot, &s.motion.accels));
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x + y).collect::<Vec<f64>>();
    let zero = |n: usize| vec![0.0; n];
    let m = &s.m;
    // (7.60), (7.161)
    let first = sum(&m.A_r.apply(&s.t_r), &m.B.apply(&qd));
    close(&first, &zero(first.len()), 1e-12, &format!("{name}: A_r t + B qd"));
    close(&sum(&m.A_r.apply(&s.td_r), &m.B.apply(&qdd)), &m.b, 1e-9, &format!("{name}: second order"));
    // (7.95), (7.183)
    let plan = plan_at(robot.model(), s.posture.positions());
    let passive = |of: &gough::model::PerCoord<f64>| plan.passive.iter().map(|c| of[*c]).collect::<Vec<f64>>();
    let left = m.J_td.apply(&passive(&s.motion.rates));
    let right = m.J_t.clone().apply(&s.t_r);
    close(&sum(&left, &m.J_ta.apply(&qd)), &right, 1e-12, &format!("{name}: passive rates"));
    let left = sum(&m.J_td.apply(&passive(&s.motion.accels)), &m.J_ta.apply(&qdd));
    close(&left, &sum(&m.J_t.apply(&s.td_r), &m.d_c), 1e-9, &format!("{name}: passive accelerations"));
    // The platform twist is one that all constraint wrenches allow.
    let t_p = m.Psi_t.apply(&s.t_r);
    let none = m.W_c.apply(&t_p);
    close(&none, &zero(none.len()), 1e-9, &format!("{name}: constraint wrenches"));
    let j = models(s);
    let redundancy = Orders::of(m).redundancy;
    if let Some(J_inv) = j.J_inv.as_ref().filter(|_| redundancy != Redundancy::Kinematic) {
        close(&J_inv.apply(&s.t_r), &qd, 1e-8, &format!("{name}: J_inv"));
        close(&sum(&J_inv.apply(&s.td_r), j.a_q.as_ref().unwrap()), &qdd, 1e-7, &format!("{name}: a_q"));
    }
    if let (Some(J), Some(J_d)) = (&j.J, &j.J_d) {
        close(&J.apply(&qd), &s.t_r, 1e-7, &format!("{name}: J"));
        close(&sum(&J.apply(&qdd), j.a_t.as_ref().unwrap()), &s.td_r, 1e-6, &format!("{name}: a_t"));
        close(&J_d.apply(&qd), &passive(&s.motion.rates), 1e-7, &format!("{name}: J_d"));
        close(
            &sum(&J_d.apply(&qdd), j.a_d.as_ref().unwrap()),
            &passive(&s.motion.accels),
            1e-6,
            &format!("{name}: a_d"),
        );
    }
    assert_eq!(m.B.cols, t.active.len());
}

/// Second road: orthonormal null spaces of each leg's closure rows give the same J and Ψ_t.
#[test]
fn orthonormal_null_spaces_give_the_same_models() {
    use gough::linalg::dense::{Matrix, svd};
    let mut random = random(32);
    for robot in crate::common::all_robots() {
        let model = robot.model();
        let t = model.topology();
        let (L, n_dof) = (model.length(), t.platform.independent.len());
        let (mut with_psi, mut with_j) = (0, 0);
        for _ in 0..6 {
            let pose = random_pose(&robot, &mut random, 0.15, 0.15);
            let Ok(posture) = inverse(model, &pose, robot.mode()) else { continue };
            let pos = posture.positions();
            let plan = plan_at(model, pos);
            let mut m = Matrices::new(model, &plan);
            assemble(model, &plan, pos, None, &mut m);
            let (mut wrenches, mut constraints) = (Vec::new(), Vec::new());
            for block in &plan.blocks {
                let rows = closure_rows(model, &block.legs, pos);
                let n = block.coords.len();
                let part = |cols: Vec<usize>| Matrix::from_fn(rows.rows, cols.len(), |i, j| rows.at(i, cols[j]));
                let of = |kind| (0..n).filter(|j| t.coords[block.coords[*j]].kind == kind).collect::<Vec<_>>();
                let (d, a) = (part(of(CoordKind::Passive)), part(of(CoordKind::Active)));
                let x = part((n..n + 6).collect());
                let N = svd(&d).left_null_space();
                let (NA, NB) = (N.transpose() * &x, N.transpose() * &a);
                // Combinations that the active joints do not touch are constraint wrenches.
                let f = svd(&NB);
                let free = f.left_null_space();
                constraints.push(free.transpose() * &NA);
                let rank = f.rank();
                let acting = Matrix::from_fn(NB.nrows(), rank, |i, j| f.u[(i, j)]);
                let active: Vec<usize> =
                    block.coords.iter().filter_map(|c| t.active.iter().position(|a| a == c)).collect();
                wrenches.push((acting.transpose() * &NA, acting.transpose() * &NB, active));
            }
            // Ψ_t = N (Ψ_t_inv N)⁻¹ with N the twists that all constraint wrenches allow, in scaled components.
            let rows: usize = constraints.iter().map(Matrix::nrows).sum();
            let mut W = Matrix::zeros(rows.max(1), 6);
            let mut first = 0;
            for c in &constraints {
                for i in 0..c.nrows() {
                    (0..6).for_each(|j| W[(first + i, j)] = c[(i, j)]);
                }
                first += c.nrows();
            }
            let N = svd(&W).null_space();
            assert_eq!(N.ncols(), n_dof, "{}", robot.name());
            let selected = nalgebra::DMatrix::from_fn(n_dof, n_dof, |i, j| N[(t.platform.independent[i].index(), j)]);
            let inverse = selected.try_inverse().unwrap();
            let Psi = nalgebra::DMatrix::from_fn(6, n_dof, |i, j| {
                (0..n_dof).map(|k| N[(i, k)] * inverse[(k, j)]).sum::<f64>()
            });
            // From scaled components (translations over L) to metres.
            let unit = |k: usize| if k < 3 { L } else { 1.0 };
            let found: Vec<f64> = (0..6)
                .flat_map(|i| (0..n_dof).map(move |j| (i, j)))
                .map(|(i, j)| Psi[(i, j)] * unit(i) / unit(t.platform.independent[j].index()))
                .collect();
            close(&m.Psi_t.data, &found, 1e-7, &format!("{}: Psi_t", robot.name()));
            with_psi += 1;
            if smallest(&m.pivots) < 1e-2 || Orders::of(&m).redundancy == Redundancy::Kinematic {
                continue;
            }
            // J_inv = -B⁻¹ A Ψ_t.
            let n_a = t.active.len();
            let n_w: usize = wrenches.iter().map(|w| w.0.nrows()).sum();
            let mut A = nalgebra::DMatrix::zeros(n_w, 6);
            let mut B = nalgebra::DMatrix::zeros(n_w, n_a);
            let mut first = 0;
            for (a, b, columns) in &wrenches {
                for i in 0..a.nrows() {
                    (0..6).for_each(|j| A[(first + i, j)] = a[(i, j)]);
                    columns.iter().enumerate().for_each(|(k, c)| B[(first + i, *c)] = b[(i, k)]);
                }
                first += a.nrows();
            }
            let Some(B_inv) = B.try_inverse() else { continue };
            let J_inv = -(B_inv * A * Psi);
            let joint = |i: usize| if t.coords[t.active[i]].slides { L } else { 1.0 };
            let found: Vec<f64> = (0..n_a)
                .flat_map(|i| (0..n_dof).map(move |j| (i, j)))
                .map(|(i, j)| J_inv[(i, j)] * joint(i) / unit(t.platform.independent[j].index()))
                .collect();
            let ours = jacobians(&m, &Orders::of(&m)).J_inv.unwrap();
            close(&ours.data, &found, 1e-6, &format!("{}: J_inv", robot.name()));
            with_j += 1;
        }
        let redundant = t.active.len() > n_dof && t.plan.given.iter().any(|c| t.active.contains(c));
        assert!(with_psi > 0 && (redundant || with_j > 0), "{}: {with_psi} {with_j}", robot.name());
    }
}

/// Third road: the wrenches of appendix C for common legs.
#[test]
fn actuation_wrenches_are_those_of_the_library() {
    // UPS: a unit force along the leg, (C.23).
    let hexapod = robot("gough-stewart");
    let model = hexapod.model();
    let pos = hexapod.home().positions();
    let plan = &model.topology().plan.matrices;
    let mut m = Matrices::new(model, plan);
    assemble(model, plan, pos, None, &mut m);
    for (i, (id, _)) in model.topology().legs.iter().enumerate() {
        let bodies: Vec<_> = model.topology().legs[id].bodies.iter().collect();
        let (base, tip) = (pos.X_WB[bodies[0]].p, pos.X_WB[bodies[2]].p);
        let u = (tip - base).normalize();
        let r = tip - pos.X_WE.p;
        let wanted: Vec<f64> = u.iter().chain(r.cross(&u).iter()).copied().collect();
        let row: Vec<f64> = (0..6).map(|j| m.A.at(i, j)).collect();
        close(&row, &wanted, 1e-12, "force along the leg");
        assert!((m.B.at(i, i) + 1.0).abs() < 1e-12); // B = -1
    }
    assert_eq!(m.W_c.rows, 0);
    // RUS and PUS, (C.37): a force along the rod; here the equivalents of the Delta and the Orthoglide with locked drives.
    for name in ["delta", "orthoglide"] {
        let robot = robot(name);
        let (model, pos) = (robot.model(), robot.home().positions());
        let plan = &model.topology().plan.matrices;
        let mut m = Matrices::new(model, plan);
        assemble(model, plan, pos, None, &mut m);
        assert_eq!(m.W_c.rows, 3, "{name}: one constraint moment per leg");
        for i in 0..3 {
            assert!((0..3).all(|j| m.W_c.at(i, j).abs() < 1e-12), "{name}: a pure moment");
            let f = vec3(m.A_r.at(i, 0), m.A_r.at(i, 1), m.A_r.at(i, 2));
            assert!((f.norm() - 1.0).abs() < 1e-12);
            // Somewhere along the chain two joint centres lie on a line parallel to the force.
            let leg = model.topology().legs.values().nth(i).unwrap();
            let tips = leg.closures.iter().map(|c| gough::kinematics::closure::closure_at(model, c, pos).B.p);
            let points: Vec<_> = leg.bodies.iter().map(|b| pos.X_WB[b].p).chain(tips).collect();
            let along = |a: usize, b: usize| {
                (points[b] - points[a]).cross(&f).norm() < 1e-9 && (points[b] - points[a]).norm() > 0.1
            };
            assert!((0..points.len()).any(|a| (a + 1..points.len()).any(|b| along(a, b))), "{name}: {points:?} {f:?}");
        }
    }
    // Planar RR, (C.13): a force along the line of the passive hinges, with zero moment about the tip.
    let five = robot("five-bar");
    let posture = five.home();
    let m = matrices_at(five.model(), posture, None).unwrap().matrices;
    let q = |n: &str| posture.joints(five.model(), &[five.model().topology().coord(n).unwrap()])[0];
    for (i, angle) in [q("q11") + q("q12"), q("q21") + q("q22")].into_iter().enumerate() {
        let cross = m.A_r.at(i, 0) * angle.sin() - m.A_r.at(i, 1) * angle.cos();
        assert!(cross.abs() < 1e-12);
    }
}

#[test]
fn jacobians_of_bodies_give_their_twists() {
    let mut random = random(33);
    for robot in crate::common::all_robots() {
        let (model, t) = (robot.model(), robot.model().topology());
        let posture = robot.home().clone();
        let t_r: Vec<f64> = t.platform.independent.iter().map(|_| random.random_range(-1.0..1.0)).collect();
        let s = state(&robot, posture, &t_r, &t_r);
        let pos = s.posture.positions();
        let rates: Vec<f64> = s.motion.rates.values().copied().collect();
        for (b, _) in t.bodies.iter() {
            let p = pos.X_WB[b].p;
            let (J, on_platform) = body_jacobian(model, pos, b, p);
            let mut V: Vec<f64> = J.apply(&rates);
            if on_platform {
                let own = s.motion.V_WE.at(p - pos.X_WE.p).to_array();
                V.iter_mut().zip(own).for_each(|(x, y)| *x += y);
            }
            close(&V, &s.motion.V_WB[b].to_array(), 1e-10, robot.name());
        }
    }
}
