//! Laws of the Cartesian method that hold for every robot with something elastic: shipped ones, and three of the tests.

use crate::cartesian::{POSES, assert_matrix, assert_near, elastic_robots, heli4_text, with};
use crate::common::{compile, text};
use gough::Robot;
use gough::description::VirtualTwists;
use gough::elastodynamics::cartesian::{Cartesian, Choices};
use gough::kinematics::motion::{Motion, move_in};
use gough::kinematics::{Positions, inverse};
use gough::linalg::dense::Matrix;
use gough::model::Model;
use gough::spatial::{Pose, vec3};

/// Rigid and flexible frequencies at a pose.
fn hz(model: &Model<f64>, robot: &Robot, pose: &Pose<f64>) -> [Vec<f64>; 2] {
    let posture = inverse(model, pose, robot.mode()).unwrap();
    let mut c = Cartesian::new(model, &posture, Choices::of(model)).unwrap();
    c.take_posture(&posture).unwrap();
    [c.rigid().unwrap().hz, c.flexible(None).unwrap().hz]
}

/// The robot with some parameters times a number: also numbers that no file may have.
fn scaled(robot: &Robot, names: &[&str], by: f64) -> Model<f64> {
    let model = robot.model();
    let mut values = model.numbers().parameters.clone();
    for name in names {
        let k = model.parameters().iter().position(|p| p.name == *name).unwrap_or_else(|| panic!("no {name}"));
        values[k] *= by;
    }
    model.with_values(&values)
}

/// Robots whose drives and links have moduli as parameters: stiffness of the drives, and of the links.
fn with_moduli() -> [(Robot, &'static str, &'static [&'static str]); 3] {
    let named = |name: &str, old: &str, new: &str, value: &str| {
        let text = text(name);
        assert!(text.contains(old) && text.contains("[parameters]\n"));
        compile(name, &text.replace(old, new).replace("[parameters]\n", &format!("[parameters]\nyoung = {value}\n")))
    };
    let gough =
        named("elastic-gough-stewart", "E = \"210 GPa\", nu = 0.3", "E = \"young\", G = \"young/2.6\"", "2.1e11");
    let delta = named("elastic-delta", "E = \"120 GPa\", nu = 0.3", "E = \"young\", G = \"young/2.6\"", "1.2e11");
    let heli4 = with(&heli4_text(), &[("end_effector", "0")]);
    [(heli4, "ka", &["E", "G"]), (gough, "k", &["young"]), (delta, "k", &["young"])]
}

#[test]
fn rates_of_the_joints_are_those_of_the_kinematics() {
    for robot in elastic_robots() {
        let model = robot.model();
        let mut c = Cartesian::new(model, robot.home(), Choices::of(model)).unwrap();
        c.take_posture(robot.home()).unwrap();
        let independent = &model.topology().platform.independent;
        let (mut pos, mut motion) = (Positions::new(model), Motion::new(model));
        let B = &c.data().B_R;
        for k in 0..B.cols {
            let t: [f64; 6] = std::array::from_fn(|i| B.at(i, k));
            let t_r: Vec<f64> = independent.iter().map(|x| t[x.index()]).collect();
            let rest = vec![0.0; t_r.len()];
            move_in(model, robot.home().pose(), robot.mode(), &t_r, &rest, &mut pos, &mut motion).unwrap();
            for (limb, data) in c.plan().limbs.iter().zip(&c.data().limbs) {
                for (coord, row) in limb.coords.iter().zip(&data.J) {
                    let rate: f64 = row.iter().zip(&t).map(|(a, b)| a * b).sum();
                    let wanted = motion.rates[*coord];
                    let name = &model.topology().coords[*coord].name;
                    assert!(
                        (rate - wanted).abs() < 1e-8 * (1.0 + wanted.abs()),
                        "{} q{name}: {rate} {wanted}",
                        robot.name()
                    );
                }
            }
        }
    }
}

#[test]
fn the_stiffness_of_every_robot_is_that_of_any_virtual_joints() {
    for robot in elastic_robots() {
        let model = robot.model();
        let of = |virtual_twists| {
            let choices = Choices { virtual_twists, ..Choices::of(model) };
            let mut c = Cartesian::new(model, robot.home(), choices).unwrap();
            c.take_posture(robot.home()).unwrap();
            c
        };
        let [null, attached, pure] = [VirtualTwists::Null, VirtualTwists::Attached, VirtualTwists::Pure].map(of);
        for other in [null, attached] {
            assert_matrix(&other.data().K_F, &pure.data().K_F, 1e-9, robot.name());
            assert_near(&other.rigid().unwrap().hz, &pure.rigid().unwrap().hz, 1e-9, robot.name());
        }
    }
}

#[test]
fn rigid_frequencies_go_with_the_root_of_the_drives_and_fall_when_anything_softens() {
    for (robot, drive, links) in with_moduli() {
        let pose = *robot.home().pose();
        let [rigid, flexible] = hz(robot.model(), &robot, &pose);
        let doubled: Vec<f64> = rigid.iter().map(|f| 2.0 * f).collect();
        assert_near(&hz(&scaled(&robot, &[drive], 4.0), &robot, &pose)[0], &doubled, 1e-11, robot.name());
        for softer in [&[drive][..], links] {
            let soft = &hz(&scaled(&robot, softer, 0.8), &robot, &pose)[1];
            assert!(
                soft.iter().zip(&flexible).all(|(a, b)| *a < b * (1.0 + 1e-12)),
                "{softer:?} {soft:?} {flexible:?}"
            );
            assert!(soft[0] < flexible[0], "{} {softer:?}", robot.name());
        }
    }
}

/// Stiffer links come near to rigid ones as one over their stiffness, and are rigid in the end.
#[test]
fn links_that_are_ever_stiffer_are_rigid() {
    for (robot, _, links) in with_moduli() {
        let pose = *robot.home().pose();
        let off = |by: f64| {
            let [rigid, flexible] = hz(&scaled(&robot, links, by), &robot, &pose);
            let share = |(f, r): (&f64, &f64)| (f / r - 1.0).abs();
            flexible.iter().zip(&rigid).map(share).fold(0.0, f64::max)
        };
        let (first, second, last) = (off(1e2), off(1e4), off(1e8));
        println!("{}: {first:e} {second:e} {last:e}", robot.name());
        assert!((second * 1e2 / first - 1.0).abs() < 0.05, "{}: {first:e} {second:e}", robot.name());
        assert!(last < 1e-8, "{}: {last:e}", robot.name());
    }
}

#[test]
fn moving_the_frame_of_the_platform_changes_no_frequency_of_other_robots() {
    let shift = "frame = { xyz = [0.03, -0.02, 0.05] }";
    for (name, home, moved) in [
        ("elastic-gough-stewart", "home = { x = 0, y = 0, z = 0.9 }", "home = { x = 0.03, y = -0.02, z = 0.95 }"),
        ("elastic-delta", "home = { x = 0, y = 0, z = \"-600 mm\" }", "home = { x = 0.03, y = -0.02, z = -0.55 }"),
    ] {
        let here = text(name);
        let there = here.replace(home, moved).replace("[platform]\n", &format!("[platform]\n{shift}\n"));
        assert!(there.contains(moved) && there.contains(shift));
        let [a, b] = [here, there].map(|text| {
            let robot = compile(name, &text);
            hz(robot.model(), &robot, robot.home().pose()).concat()
        });
        assert_near(&b, &a, 1e-9, name);
    }
}

/// Robots that are their own image in the plane y = 0.
#[test]
fn mirrored_poses_have_equal_frequencies() {
    let robots = [("elastic-gough-stewart", [0.05, 0.04, 0.92]), ("elastic-delta", [0.05, 0.04, -0.62])];
    let robots = robots.map(|(name, p)| (compile(name, &text(name)), p));
    for (robot, [x, y, z]) in robots.into_iter().chain([(with(&heli4_text(), &[("end_effector", "0")]), POSES[1])]) {
        let of = |y: f64| hz(robot.model(), &robot, &Pose { p: vec3(x, y, z), ..*robot.home().pose() }).concat();
        let (here, there) = (of(y), of(-y));
        assert_near(&there, &here, 1e-9, robot.name());
        assert!(of(0.0)[0] != here[0]);
    }
}

/// An end effector of two bodies: legs 1 and 2 hold the lower plate, which gives way against the upper one. Their stiffness and
/// that of the plates are in a row: `K_low - K_low U (C⁻¹ + Uᵀ K_low U)⁻¹ Uᵀ K_low`, with `U` the motions of the joint between.
#[test]
fn a_platform_of_two_bodies_has_its_legs_and_plates_in_a_row() {
    let (plates, one) = (compile("plates", &text("heli4-two-plates")), with(&heli4_text(), &[("end_effector", "0")]));
    let [plates, one] = [&plates, &one].map(|robot| {
        let mut c = Cartesian::new(robot.model(), robot.home(), Choices::of(robot.model())).unwrap();
        c.take_posture(robot.home()).unwrap();
        c
    });
    // What legs 1 and 2 add, from their share of the elastic energy of unit motions and of their sums.
    let unit = |i: usize, j: usize| -> [f64; 6] { std::array::from_fn(|k| f64::from(u8::from(k == i || k == j))) };
    let form = |x: &[f64; 6]| -> f64 {
        let whole: f64 = (0..6).map(|i| (0..6).map(|j| x[i] * one.data().K_F[i][j] * x[j]).sum::<f64>()).sum();
        let low = ["q11", "q21", "13.bar", "23.bar"];
        let parts = one.parts(&[*x]).unwrap();
        whole * parts.iter().filter(|p| low.contains(&p.of.as_str())).map(|p| p.modes[0]).sum::<f64>()
    };
    let low = Matrix::from_fn(6, 6, |i, j| {
        if i == j { form(&unit(i, i)) } else { 0.5 * (form(&unit(i, j)) - form(&unit(i, i)) - form(&unit(j, j))) }
    });
    // About y through the joint at 78 mm, and along y.
    let U = Matrix::from_fn(6, 2, |i, j| [[-0.078, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]][j][i]);
    let (k_rot, k_lin) = (500.0, 100.0 / 0.77e-3);
    let KU = &low * &U;
    let S = U.transpose() * &KU;
    let [a, b, d] = [S[(0, 0)] + k_rot, S[(0, 1)], S[(1, 1)] + k_lin];
    let inverse = Matrix::from_fn(2, 2, |i, j| [[d, -b], [-b, a]][i][j] / (a * d - b * b));
    let less = &KU * &inverse * KU.transpose();
    let wanted: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| one.data().K_F[i][j] - less[(i, j)]));
    assert_matrix(&plates.data().K_F, &wanted, 1e-9, "two plates");
    let (soft, stiff) = (plates.flexible(None).unwrap().hz, one.flexible(None).unwrap().hz);
    assert!(
        soft[0] < 0.95 * stiff[0] && plates.parts(&[unit(0, 0)]).unwrap().iter().any(|p| p.of == "lower"),
        "{soft:?}"
    );
}
