//! The Cartesian method: published numbers of Heli4, and laws that hold for every robot.

use crate::common::{compile, numbers, robot, text};
use gough::Robot;
use gough::description::{ReadOptions, RodInertia, VirtualTwists};
use gough::elastodynamics::cartesian::{Cartesian, CartesianReport, Choices, FourPlatforms, compare};
use gough::elastodynamics::{Actuators, ElasticError, Vibration};
use gough::kinematics::inverse;
use gough::linalg::dense::{Matrix, symmetric_eigenvalues};
use gough::spatial::{Pose, Wrench, vec3};
use serde_json::Value;

pub fn heli4_text() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../robots/heli4/robot.toml")).unwrap()
}

fn heli4(set: &[(&str, &str)]) -> Robot {
    with(&heli4_text(), set)
}

pub fn with(text: &str, set: &[(&str, &str)]) -> Robot {
    let set = set.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let options = ReadOptions { set, ..ReadOptions::default() };
    Robot::from_toml("heli4", text, &options, None).unwrap_or_else(|e| panic!("{e}"))
}

fn reference() -> Value {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../robots/heli4/reference.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A matrix or list of the reference, angular part first there, linear part first here.
fn turned(v: &Value) -> [[f64; 6]; 6] {
    let at = |i: usize, j: usize| v[(i + 3) % 6][(j + 3) % 6].as_f64().unwrap();
    std::array::from_fn(|i| std::array::from_fn(|j| at(i, j)))
}

fn at<'r>(robot: &'r Robot, p: &[f64], choices: Choices) -> Cartesian<'r> {
    let model = robot.model();
    let mut c = Cartesian::new(model, robot.home(), choices).unwrap();
    let pose = Pose::translation(vec3(p[0], p[1], p[2]));
    c.take_posture(&inverse(model, &pose, robot.mode()).unwrap()).unwrap();
    c
}

pub fn assert_near(found: &[f64], expected: &[f64], relative: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?} {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= relative * b.abs(), "{what}: {found:?} {expected:?}");
    }
}

pub fn assert_matrix(found: &[[f64; 6]; 6], expected: &[[f64; 6]; 6], relative: f64, what: &str) {
    for i in 0..6 {
        for j in 0..6 {
            let size = (expected[i][i] * expected[j][j]).abs().sqrt().max(1e-9);
            assert!((found[i][j] - expected[i][j]).abs() <= relative * size, "{what} {i} {j}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn heli4_has_the_matrices_and_frequencies_of_its_reference() {
    let robot = heli4(&[]);
    let r = reference();
    let c = at(&robot, &[0.0, 0.0, -0.625], Choices::of(robot.model()));
    assert_matrix(&c.data().M, &turned(&r["M"]), 1e-9, "M");
    assert_matrix(&c.data().K_R, &turned(&r["K_R"]), 1e-9, "K_R");
    assert_matrix(&c.data().K_F, &turned(&r["K_F"]), 1e-9, "K_F");
    assert_near(&c.rigid().unwrap().hz, &numbers(&r["f_rigid"]), 1e-9, "rigid");
    assert_near(&c.flexible(None).unwrap().hz, &numbers(&r["f_flex"]), 1e-9, "flexible");
}

#[test]
fn heli4_has_the_frequencies_of_the_reference_grid() {
    let robot = heli4(&[("end_effector", "0")]);
    for pose in reference()["poses"].as_array().unwrap() {
        let p = numbers(&pose["p"]);
        let c = at(&robot, &p, Choices::of(robot.model()));
        assert_matrix(&c.data().M, &turned(&pose["M"]), 1e-8, "M");
        assert_matrix(&c.data().K_R, &turned(&pose["K_R"]), 1e-8, "K_R");
        assert_matrix(&c.data().K_F, &turned(&pose["K_F_noKE"]), 1e-8, "K_F");
        assert_near(&c.rigid().unwrap().hz, &numbers(&pose["f_rigid3"]), 1e-9, "rigid");
        assert_near(&c.flexible(None).unwrap().hz, &numbers(&pose["f_flex6_noKE"]), 1e-9, "flexible");
        let exact = Choices { rods: RodInertia::Exact, ..Choices::of(robot.model()) };
        let c = at(&robot, &p, exact);
        assert_near(&c.flexible(None).unwrap().hz, &numbers(&pose["f_flex6_noKE_exact_rods"]), 1e-9, "exact rods");
    }
}

#[test]
fn a_load_on_heli4_adds_the_stiffness_of_the_reference() {
    let robot = heli4(&[("end_effector", "0")]);
    let load = &reference()["load_test"];
    let c = at(&robot, &numbers(&load["p"]), Choices::of(robot.model()));
    let w = numbers(&load["wrench"]);
    let wrench = Wrench::from_array(std::array::from_fn(|k| w[(k + 3) % 6]));
    let K_G = c.loaded(wrench).unwrap();
    assert_matrix(&K_G, &turned(&load["K_G"]), 1e-6, "K_G");
    assert_near(&c.flexible(None).unwrap().hz, &numbers(&load["f_without"]), 1e-9, "without");
    assert_near(&c.flexible(Some(&K_G)).unwrap().hz, &numbers(&load["f_with"]), 1e-9, "with");
}

pub const POSES: [[f64; 3]; 4] = [[0.0, 0.0, -0.625], [0.1, 0.05, -0.6], [-0.08, 0.12, -0.55], [0.03, -0.1, -0.7]];

/// Rounds to as many decimals as were printed.
fn printed(x: f64, decimals: i32) -> f64 {
    let unit = 10_f64.powi(decimals);
    (x * unit).round() / unit
}

#[test]
fn heli4_has_the_printed_tables() {
    let r = reference();
    let p = &r["printed"];
    let tables = [("E1", 0), ("E2", 1)];
    for (k, ka) in numbers(&r["k_a"]).into_iter().enumerate() {
        let ka = format!("{ka}");
        // Compliances are taken away by dividing them by a thousand.
        for (column, set) in [
            ("BM", vec![]),
            ("noKE", vec![("end_effector", "0.001")]),
            ("noKPi", vec![("E", "170e12"), ("G", "65e12")]),
        ] {
            let mut set = set.clone();
            set.push(("ka", &ka));
            let robot = heli4(&set);
            let hz = at(&robot, &POSES[0], Choices::of(robot.model())).flexible(None).unwrap().hz;
            for (table, mode) in tables {
                let (found, wanted) = (printed(hz[mode], 1), p[table][column][k].as_f64().unwrap());
                assert!((found - wanted).abs() < 1e-9, "{table} {column} {ka}: {} {wanted}", hz[mode]);
            }
        }
    }
    let robot = heli4(&[]);
    let c = at(&robot, &POSES[0], Choices::of(robot.model()));
    let modes = c.flexible(None).unwrap();
    let close = |found: &[f64], wanted: &Value| {
        let rounded: Vec<f64> = found.iter().map(|x| printed(*x, 1)).collect();
        assert_near(&rounded, &numbers(wanted), 1e-9, "printed frequencies");
    };
    close(&c.rigid().unwrap().hz, &p["f_rigid"]);
    close(&modes.hz, &p["f_flex"]);
    // Eigentwists: columns are modes, rows components, angular ones first; each scaled so that its largest entry is +1.
    for (k, twist) in modes.twists.iter().enumerate() {
        for i in 0..6 {
            let (found, wanted) = (twist[(i + 3) % 6], p["eigentwists"][i][k].as_f64().unwrap());
            assert!((printed(found, 3) - wanted).abs() < 1e-9, "eigentwist {k} {i}: {found} {wanted}");
            let computed = r["eigentwists"][i][k].as_f64().unwrap();
            assert!((found - computed).abs() < 1e-8, "eigentwist {k} {i}: {found} {computed}");
        }
    }
    // (58) prints -74 and 28114 where the robot has -74.72 and 28113.46.
    for (name, A, decimals) in [("M", c.data().M, 3), ("K_R", c.data().K_R, 0), ("K_F", c.data().K_F, 0)] {
        let wanted = turned(&p[name]);
        for i in 0..6 {
            for j in 0..6 {
                let slack = if name == "K_F" { 1.0 } else { 0.0 };
                let miss = (printed(A[i][j], decimals) - wanted[i][j]).abs();
                assert!(miss < slack + 1e-9, "{name} {i} {j}: {} {}", A[i][j], wanted[i][j]);
            }
        }
    }
}

/// Robots with something elastic: shipped, of the tests, and Heli4 with every other key that gives way.
pub fn elastic_robots() -> Vec<Robot> {
    let compliant = heli4_text()
        .replace("servo = \"loss*ka\"", "servo = \"loss*ka\", stiffness = 5000")
        .replace(
            "{ name = \"{leg}2\",",
            "{ name = \"{leg}2\", stiffness = 3, compliance = { frame = { xyz = [0.01, 0, 0] }, x = 1e-7, rx = 1e-4, rz = 2e-4 },",
        )
        .replace("zz = 4.2e-3 } },", "zz = 4.2e-3 }, compliance = { frame = { xyz = [\"l1\", 0, 0] }, tapered = [\"root\", \"rod\"], material = \"carbon\", length = \"l1\" } },")
        .replace("[section]\n", "[section]\nroot = { tube = [\"30 mm\", \"26 mm\"] }\n");
    assert!(
        compliant.contains("tapered") && compliant.contains("stiffness = 3") && compliant.contains("stiffness = 5000")
    );
    let shipped = ["heli4", "five-bar-flexible", "dual-emps", "navaro", "navaro-as-printed", "navaro-refined"];
    let mut list: Vec<Robot> = shipped.map(robot).into();
    list.extend(["elastic-gough-stewart", "elastic-delta"].map(|n| compile(n, &text(n))));
    list.push(with(&compliant, &[]));
    list
}

#[test]
fn matrices_are_symmetric_and_definite_and_parts_add_up() {
    for robot in elastic_robots() {
        let mut c = Cartesian::new(robot.model(), robot.home(), Choices::of(robot.model())).unwrap();
        c.take_posture(robot.home()).unwrap();
        let d = c.data();
        for A in [&d.M, &d.K_R, &d.K_F] {
            let size = |i: usize| A[i][i].abs().sqrt();
            for i in 0..6 {
                for j in 0..6 {
                    assert!((A[i][j] - A[j][i]).abs() <= 1e-9 * size(i) * size(j) + 1e-12, "{} {i} {j}", robot.name());
                }
            }
        }
        let K = gough::elastodynamics::cartesian::kernel::on_basis(&d.K_F, &d.B);
        let scaled = Matrix::from_fn(K.rows, K.cols, |i, j| K.at(i, j) / (K.at(i, i) * K.at(j, j)).sqrt());
        assert!(symmetric_eigenvalues(&scaled).unwrap()[0] > 0.0, "{}", robot.name());
        if robot.name() == "dual-emps" {
            // Its drives hold, and nothing weighs at its tool point: what is left of M is rounding.
            assert_eq!(c.flexible(None).unwrap_err(), ElasticError::NoMass);
            continue;
        }
        let modes = c.flexible(None).unwrap();
        assert!(modes.hz.iter().all(|f| f.is_finite() && *f > 0.0), "{} {:?}", robot.name(), modes.hz);
        let parts = c.parts(&modes.twists).unwrap();
        for k in 0..modes.hz.len() {
            let whole: f64 = parts.iter().map(|p| p.modes[k]).sum();
            assert!((whole - 1.0).abs() < 1e-6, "{} mode {k}: {whole}", robot.name());
        }
        let C = c.compliance().unwrap();
        for k in 0..6 {
            let sum: f64 = parts.iter().map(|p| p.compliance[k]).sum();
            assert!((sum - C[k][k]).abs() <= 1e-6 * C[k][k].abs() + 1e-15, "{} {k}: {sum} {}", robot.name(), C[k][k]);
        }
        // Softer everywhere: no frequency rises. Stiffer drives: none falls.
        let rigid = c.rigid().unwrap().hz;
        for (soft, stiff) in modes.hz.iter().zip(&rigid) {
            assert!(*soft <= stiff * (1.0 + 1e-9), "{}: {:?} {rigid:?}", robot.name(), modes.hz);
        }
    }
}

#[test]
fn four_postures_at_once_are_four_postures() {
    for robot in elastic_robots() {
        let model = robot.model();
        let mut c = Cartesian::new(model, robot.home(), Choices::of(model)).unwrap();
        let Some(mut four) = FourPlatforms::new(&c) else { continue };
        let home = *robot.home().pose();
        let step = 0.01 * model.size();
        let poses =
            [0.0, 1.0, 2.0, 3.0].map(|k: f64| Pose { p: home.p + vec3(step * k, -0.5 * step * k, 0.0), ..home });
        let good = four.take(model, &poses, robot.mode());
        assert!(good[0], "{}", robot.name());
        for (k, pose) in poses.iter().enumerate().filter(|(k, _)| good[*k]) {
            c.take(pose, robot.mode()).unwrap();
            let rigid = c.rigid().unwrap().hz;
            if let Some(list) = four.rigid_hz() {
                assert_near(&list[k], &rigid, 1e-11, robot.name());
            }
            let wanted = (c.data().M, c.data().K_F);
            let mut other = c.clone();
            let mut data = other.data().clone();
            four.pick(k, &mut data);
            assert_matrix(&data.M, &wanted.0, 1e-10, robot.name());
            assert_matrix(&data.K_F, &wanted.1, 1e-10, robot.name());
            other.take_posture(robot.home()).unwrap();
        }
    }
}

#[test]
fn joints_and_virtual_joints_are_a_dual_basis() {
    let robot = heli4(&[]);
    for p in POSES {
        for virtual_twists in [VirtualTwists::Null, VirtualTwists::Attached, VirtualTwists::Pure] {
            let c = at(&robot, &p, Choices { virtual_twists, ..Choices::of(robot.model()) });
            for (limb, data) in c.plan().limbs.iter().zip(&c.data().limbs) {
                let dot = |a: &[f64; 6], b: &[f64; 6]| (0..6).map(|k| a[k] * b[k]).sum::<f64>();
                for column in 0..limb.coords.len() {
                    let mut t = [0.0; 6];
                    for (joint, twist) in limb.joints.iter().zip(&data.twists).filter(|(j, _)| j.column == column) {
                        assert!(joint.column == column);
                        t.iter_mut().zip(twist.to_array()).for_each(|(x, y)| *x += y);
                    }
                    for row in 0..limb.coords.len() {
                        let unit = f64::from(u8::from(row == column));
                        assert!((dot(&data.J[row], &t) - unit).abs() < 1e-10);
                    }
                    assert!(dot(&data.virtual_rates[0], &t).abs() < 1e-10);
                }
                assert!((dot(&data.virtual_rates[0], &data.virtual_twists[0]) - 1.0).abs() < 1e-12);
                assert!(data.J.iter().all(|row| dot(row, &data.virtual_twists[0]).abs() < 1e-10));
            }
        }
    }
}

#[test]
fn the_stiffness_does_not_depend_on_virtual_joints_and_published_wrenches_are_pure() {
    let robot = heli4(&[]);
    for p in POSES {
        let of = |virtual_twists| at(&robot, &p, Choices { virtual_twists, ..Choices::of(robot.model()) });
        let pure = of(VirtualTwists::Pure);
        for other in [VirtualTwists::Null, VirtualTwists::Attached].map(of) {
            assert_matrix(&other.data().K_F, &pure.data().K_F, 1e-10, "K_F");
            assert_near(&other.rigid().unwrap().hz, &pure.rigid().unwrap().hz, 1e-10, "rigid");
        }
    }
    // Another program, with the null space of the joint screws.
    let null = at(&robot, &POSES[0], Choices { virtual_twists: VirtualTwists::Null, ..Choices::of(robot.model()) });
    let wanted = [20.729, 23.922, 41.056, 267.4, 276.4, 889.5];
    for (f, w) in null.flexible(None).unwrap().hz.iter().zip(wanted) {
        assert!((f - w).abs() < if w < 100.0 { 5.1e-4 } else { 5.1e-2 }, "{f} {w}");
    }
}

#[test]
fn moving_the_platform_frame_changes_no_frequency() {
    let by = [0.03, -0.02, 0.05];
    let moved = heli4_text().replace(
        "coordinates = \"translation\"",
        "coordinates = \"translation\"\nframe = { xyz = [0.03, -0.02, 0.05] }",
    );
    let moved = moved.replace("home = { x = 0, y = 0, z = -0.625 }", "home = { x = 0.03, y = -0.02, z = -0.575 }");
    let (here, there) = (heli4(&[]), with(&moved, &[]));
    for p in POSES {
        for virtual_twists in [VirtualTwists::Attached, VirtualTwists::Pure] {
            let of = |robot: &Robot, p: &[f64]| {
                let c = at(robot, p, Choices { virtual_twists, ..Choices::of(robot.model()) });
                [c.rigid().unwrap().hz, c.flexible(None).unwrap().hz].concat()
            };
            let q: Vec<f64> = (0..3).map(|k| p[k] + by[k]).collect();
            assert_near(&of(&there, &q), &of(&here, &p), 1e-9, "shift");
        }
    }
}

#[test]
fn stiffness_moduli_and_symmetry_act_as_they_must() {
    let of = |set: &[(&str, &str)], p: &[f64]| {
        let robot = heli4(set);
        let c = at(&robot, p, Choices::of(robot.model()));
        (c.rigid().unwrap().hz, c.flexible(None).unwrap().hz)
    };
    let p = POSES[1];
    let (rigid, flexible) = of(&[("end_effector", "0")], &p);
    let (doubled, _) = of(&[("ka", "8000")], &p);
    assert_near(&doubled, &rigid.iter().map(|f| 2.0 * f).collect::<Vec<_>>(), 1e-12, "four times the stiffness");
    assert_near(&of(&[("end_effector", "0"), ("G", "1e10")], &p).1, &flexible, 1e-9, "G");
    for softer in [("end_effector", "1"), ("E", "100e9"), ("ka", "1500")] {
        let soft = of(&[("end_effector", "0"), softer], &p).1;
        assert!(soft.iter().zip(&flexible).all(|(a, b)| *a < b * (1.0 + 1e-12)), "{softer:?} {soft:?} {flexible:?}");
        assert!(soft[0] < flexible[0] * (1.0 - 1e-6), "{softer:?}");
    }
    for mirror in [[-p[0], p[1], p[2]], [p[0], -p[1], p[2]]] {
        assert_near(&of(&[("end_effector", "0")], &mirror).1, &flexible, 1e-9, "mirror");
    }
}

/// With rigid links both methods are exact.
#[test]
fn rigid_links_make_both_methods_equal() {
    let rigid = |text: String| {
        let lines = text.lines().map(|l| {
            let l = l.replace(
                "beam = { to = [0, 0, \"l\"], section = \"rod\", material = \"steel\", up = [1, 0, 0], elements = 4 }",
                "mass = 2, com = [0, 0, 0.2]",
            );
            l.replace(
                "beam = { to = [\"l2\", 0, 0], section = \"rod\", material = \"carbon\", elements = 4 }",
                "mass = 0.1, com = [0.3, 0, 0]",
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let bare = heli4_text().replace(
        ", beam = { section = \"rod\", material = \"carbon\", width = \"w\", ends = \"clamped\", elements = 4 }",
        "",
    );
    let robots = [
        compile("gs", &rigid(text("elastic-gough-stewart"))),
        compile("delta", &rigid(text("elastic-delta"))),
        with(&bare, &[("end_effector", "0")]),
    ];
    for robot in robots {
        let choices = Choices { rods: RodInertia::Exact, ..Choices::of(robot.model()) };
        let mut c = Cartesian::new(robot.model(), robot.home(), choices).unwrap();
        c.take_posture(robot.home()).unwrap();
        let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
        v.take_posture(robot.home()).unwrap();
        let full: Vec<f64> = v.all().unwrap().iter().map(|f| f.hz).collect();
        assert_near(&c.rigid().unwrap().hz, &full, 1e-7, robot.name());
        assert_near(&c.flexible(None).unwrap().hz, &full, 1e-7, robot.name());
    }
}

#[test]
fn exact_rods_come_within_two_per_mille_of_the_full_method() {
    let robot = heli4(&[("end_effector", "0")]);
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
    for (p, entry) in reference()["poses"].as_array().unwrap().iter().map(|e| (numbers(&e["p"]), e)) {
        let c = at(&robot, &p, Choices { rods: RodInertia::Exact, ..Choices::of(robot.model()) });
        let posture = inverse(robot.model(), &Pose::translation(vec3(p[0], p[1], p[2])), robot.mode()).unwrap();
        v.take_posture(&posture).unwrap();
        let modes = c.flexible(None).unwrap();
        let pairs = compare(&c, &modes.twists.iter().copied().zip(modes.hz).collect::<Vec<_>>(), &mut v).unwrap();
        for (pair, fe) in pairs.iter().zip(numbers(&entry["f_fe_rigid_platform"])) {
            println!("{pair:?} {fe}");
            assert!(pair.full_mode == pair.mode && pair.mac > 0.999, "{pair:?}");
            assert!(pair.difference.abs() < 2e-3, "{pair:?}");
            // Another program, rods on spherical joints, eight elements each.
            assert!((pair.full_hz / fe - 1.0).abs() < 1e-3, "{pair:?} {fe}");
        }
    }
}

#[test]
fn a_load_stiffens_by_the_change_of_the_jacobians() {
    let robot = heli4(&[("end_effector", "0")]);
    let (p, h) = (POSES[1], 1e-5);
    let load = [3.0, -5.0, -49.05, 0.0, 0.0, 0.0];
    let of = |p: &[f64]| at(&robot, p, Choices::of(robot.model()));
    let c = of(&p);
    let K_G = c.loaded(Wrench::from_array(load)).unwrap();
    let C = c.compliance().unwrap();
    let x: Vec<f64> = (0..6).map(|i| (0..6).map(|j| C[i][j] * load[j]).sum()).collect();
    let drive = |c: &Cartesian<'_>| -> Vec<[f64; 6]> {
        c.plan().limbs.iter().zip(&c.data().limbs).map(|(l, d)| d.J[l.springs[0].0]).collect()
    };
    let effort = |d: &gough::elastodynamics::cartesian::kernel::LimbData<f64>| -> f64 {
        -(0..6).map(|k| d.forces[0][k] * x[k]).sum::<f64>()
    };
    let efforts: Vec<f64> = c.data().limbs.iter().map(effort).collect();
    for k in 0..3 {
        let moved = |sign: f64| {
            let mut q = p;
            q[k] += sign * h;
            drive(&of(&q))
        };
        let (plus, minus) = (moved(1.0), moved(-1.0));
        for j in 0..3 {
            let d: f64 = (0..4).map(|i| efforts[i] * (plus[i][j] - minus[i][j]) / (2.0 * h)).sum();
            assert!((K_G[j][k] - d).abs() < 1e-4 * 100.0 && K_G[j][k] != d, "{j} {k}: {} {d}", K_G[j][k]);
        }
    }
}

#[test]
fn sensitivities_are_differences() {
    for robot in [heli4(&[]), compile("elastic-delta", &text("elastic-delta"))] {
        let model = robot.model();
        let mut c = Cartesian::new(model, robot.home(), Choices::of(model)).unwrap();
        c.take_posture(robot.home()).unwrap();
        let list = c.sensitivities(robot.mode()).unwrap();
        for (k, s) in list.iter().enumerate().filter(|(_, s)| s.value != 0.0) {
            let h = 1e-5 * s.value.abs();
            let hz = |sign: f64| {
                let mut values = model.numbers().parameters.clone();
                values[k] += sign * h;
                let other = model.with_values(&values);
                let posture = inverse(&other, robot.home().pose(), robot.mode()).unwrap();
                let mut c = Cartesian::new(&other, &posture, Choices::of(&other)).unwrap();
                c.take_posture(&posture).unwrap();
                c.flexible(None).unwrap().hz
            };
            let (plus, minus) = (hz(1.0), hz(-1.0));
            // Slopes of equal frequencies come in the order of the branches: sums are compared.
            let sum = |list: &[f64]| list.iter().sum::<f64>();
            let d = (sum(&plus) - sum(&minus)) / (2.0 * h);
            let size = sum(&plus) / s.value.abs();
            assert!(
                (sum(&s.slopes) - d).abs() < 1e-6 * size,
                "{} by {}: {:?} {d}",
                robot.name(),
                s.parameter,
                s.slopes
            );
        }
    }
}

#[test]
fn a_report_warns_of_links_that_bend_below_its_modes() {
    let robot = heli4(&[]);
    let c = at(&robot, &POSES[0], Choices::of(robot.model()));
    let all = CartesianReport::new(&c, None, 6).unwrap();
    assert!((all.bending[0].hz - 157.3).abs() < 0.05, "{:?}", all.bending[0]);
    assert!(all.warnings.len() == 1 && all.warnings[0].contains("3 modes"), "{:?}", all.warnings);
    assert!(CartesianReport::new(&c, None, 3).unwrap().warnings.is_empty());
}
