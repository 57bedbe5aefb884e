//! The matrices of first and second order: the numbers of the book's examples, and the laws, on every robot.
#![allow(non_snake_case, clippy::unreadable_literal)]

mod common;

use common::{random, random_pose, robot};
use gough::Robot;
use gough::kinematics::jacobians::{Jacobians, Orders, Redundancy, jacobians};
use gough::kinematics::matrices::{Matrices, assemble, plan_at, smallest};
use gough::kinematics::motion::{Motion, accelerations, velocities};
use gough::kinematics::{Posture, WorkingMode, inverse};
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
    for robot in common::all_robots() {
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
