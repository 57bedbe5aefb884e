//! Natural frequencies against published tables, reference numbers, other roads and laws.
use crate::common::{compile, eigenvalues, numbers, robot};
use gough::Robot;
use gough::description::ReadOptions;
use gough::dynamics::{Conditions, platform_model};
use gough::elastodynamics::beam::{BeamData, BeamElement};
use gough::elastodynamics::relative::{RelativePlan, relative_matrices};
use gough::elastodynamics::{Actuators, ElasticError, Store, Vibration};
use gough::kinematics::jacobians::matrices_at;
use gough::kinematics::{Posture, inverse};
use gough::linalg::dense::Matrix;
use gough::linalg::small::Dense;
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Pose, vec3};
use serde_json::Value;
use std::f64::consts::{PI, TAU};

fn reference(name: &str) -> Value {
    serde_json::from_str(gough::robots::reference(name).unwrap()).unwrap()
}

fn planar_pose(x: f64, y: f64, phi: f64) -> Pose<f64> {
    Pose { R: from_rpy(0.0, 0.0, phi), p: vec3(x, y, 0.0) }
}

fn posture(robot: &Robot, pose: &Pose<f64>) -> Posture {
    inverse(robot.model(), pose, robot.mode()).unwrap()
}

/// Poses of the reference file of NaVARo.
fn navaro_poses() -> Vec<(Pose<f64>, Value)> {
    let data = reference("navaro");
    let pose = |p: &Value| {
        let at = |k: &str| p["pose"][k].as_f64().unwrap();
        planar_pose(at("x"), at("y"), at("phi"))
    };
    data["poses"].as_array().unwrap().iter().map(|p| (pose(p), p.clone())).collect()
}

/// All frequencies in Hz.
fn all(robot: &Robot, posture: &Posture, actuators: Actuators) -> Vec<f64> {
    let mut v = Vibration::new(robot.model(), robot.home(), actuators).unwrap_or_else(|e| panic!("{e}"));
    v.take_posture(posture).unwrap();
    v.all().unwrap_or_else(|e| panic!("{e}")).iter().map(|f| f.hz).collect()
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (k, (f, w)) in found.iter().zip(wanted).enumerate() {
        assert!((f / w - 1.0).abs() < tolerance, "{what}, {k}: {f} {w}");
    }
}

fn dense(A: &Dense<f64>) -> Matrix {
    Matrix::from_fn(A.rows, A.cols, |i, j| A.at(i, j))
}

fn hz(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.max(0.0).sqrt() / TAU).collect()
}

/// The text of a shipped robot with changes, each of which must be there.
fn changed(name: &str, changes: &[(&str, &str)]) -> Robot {
    let mut text = gough::robots::text(name).unwrap().to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{name} has no `{from}`");
        text = text.replace(from, to);
    }
    compile(name, &text)
}

#[test]
fn navaro_has_the_forty_printed_frequencies_and_the_ninety_of_another_program() {
    let robot = robot("navaro");
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked).unwrap();
    for (pose, p) in navaro_poses() {
        v.take(&pose, robot.mode()).unwrap();
        let found: Vec<f64> = v.all().unwrap().iter().map(|f| f.hz).collect();
        assert_eq!(found.len(), 90);
        for (f, printed) in found.iter().zip(numbers(&p["printed_hz"])) {
            // Half a digit of print; 60.6305 is printed 60.63, 95.6152 as 95.62.
            assert!((f - printed).abs() < 0.00501, "{f} {printed}");
        }
        let wanted = numbers(&p["frequencies_hz"]);
        close(&found[..wanted.len()], &wanted, 1e-9, "navaro");
        let lowest: Vec<f64> = v.lowest(5).unwrap().iter().map(|f| f.hz).collect();
        close(&lowest, &found[..5], 1e-10, "lowest five");
    }
}

#[test]
fn navaro_as_printed_differs_where_the_print_is_wrong() {
    let robot = robot("navaro-as-printed");
    let found = all(&robot, robot.home(), Actuators::Locked);
    // In-plane modes hardly change; the first out-of-plane one is 73.24 Hz instead of the printed 60.63.
    for (f, w) in found.iter().zip([44.10, 44.10, 53.98, 73.24]) {
        assert!((f - w).abs() < 0.02, "{f} {w}");
    }
}

#[test]
fn dual_emps_has_the_nine_frequencies_of_two_other_programs() {
    let robot = robot("dual-emps");
    let data = reference("dual-emps");
    let found = all(&robot, robot.home(), Actuators::Locked);
    close(&found, &numbers(&data["frequencies"]["nominal"]["locked_hz"]), 1e-8, "dual-emps");
    // The printed row rests on rounded inertias: 0.3 % for f1 to f3, then 0.7, 1.5 and 4 %.
    let printed = numbers(&data["frequencies"]["printed"]["model"]);
    for ((f, p), bound) in found.iter().zip(&printed).zip([0.003, 0.003, 0.003, 0.007, 0.015, 0.04]) {
        assert!((f / p - 1.0).abs() < bound, "{f} {p}");
    }
}

#[test]
fn the_flexible_five_bar_has_the_frequencies_of_a_frame_in_world_axes() {
    let robot = robot("five-bar-flexible");
    let wanted = numbers(&reference("five-bar-flexible")["poses"][0]["frequencies_hz"]);
    close(&all(&robot, robot.home(), Actuators::Elastic), &wanted, 1e-10, "five-bar-flexible");
}

#[test]
fn dual_emps_with_more_elements_converges_as_another_program_says() {
    let table = [
        (2, [14.182, 24.550, 46.024, 90.852, 106.721, 189.382, 201.741]),
        (4, [14.181, 24.526, 45.914, 89.849, 105.443, 188.898, 200.882]),
        (8, [14.180, 24.525, 45.907, 89.796, 105.372, 188.530, 200.320]),
    ];
    for (n, wanted) in table {
        let elements = format!("material = \"dural\", elements = {n}");
        let robot = changed("dual-emps", &[("material = \"dural\"", &elements)]);
        let found = all(&robot, robot.home(), Actuators::Locked);
        for (f, w) in found.iter().zip(wanted) {
            assert!((f - w).abs() < 0.00051, "{n} elements: {f} {w}");
        }
    }
}

#[test]
fn navaro_converges_at_the_order_of_the_element() {
    let at = |n: usize| {
        let text = gough::robots::text("navaro").unwrap().replace(", elements = 1", "");
        let robot =
            compile("navaro", &text.replace("material = \"alu\"", &format!("material = \"alu\", elements = {n}")));
        all(&robot, robot.home(), Actuators::Locked)
    };
    let [f1, f2, f4, f8] = [1, 2, 4, 8].map(at);
    assert_eq!([f1.len(), f2.len(), f4.len(), f8.len()], [90, 198, 414, 846]);
    for k in 0..5 {
        // Cubic shapes: errors fall by about 2⁴, always from above; the tail of a geometric series is left in f8.
        let (a, b, c) = (f1[k] - f2[k], f2[k] - f4[k], f4[k] - f8[k]);
        assert!(a > 0.0 && b > 0.0 && c > -1e-9 * f8[k], "{k}: {a} {b} {c}");
        assert!((9.0..40.0).contains(&(a / b)) && (9.0..40.0).contains(&(b / c)), "{k}: {} {}", a / b, b / c);
    }
}

#[test]
fn relative_coordinates_give_the_same_frequencies_with_the_counts_of_the_paper() {
    let robot = robot("navaro");
    let plan = RelativePlan::new(robot.model(), Actuators::Locked, robot.home().positions()).unwrap();
    assert_eq!(plan.counts(), (144, 54, 90));
    for (pose, _) in navaro_poses().into_iter().take(4) {
        let p = posture(&robot, &pose);
        let m = relative_matrices(robot.model(), &plan, p.positions());
        let values = eigenvalues(&dense(&m.K), &dense(&m.M));
        close(&hz(&values), &all(&robot, &p, Actuators::Locked), 1e-9, "relative");
    }
}

#[test]
fn relative_coordinates_agree_on_other_robots() {
    let shear = changed("navaro", &[("material = \"alu\"", "material = \"alu\", shear = true")]);
    let refined = robot("navaro-refined");
    let rods = ", beam = { section = \"rod\", material = \"carbon\", width = \"w\", ends = \"clamped\", elements = 4 }";
    let rigid_rods = changed("heli4", &[(rods, "")]);
    // Equations of the loops that say nothing new.
    for (robot, actuators, redundant) in [
        (robot("dual-emps"), Actuators::Locked, 0),
        (robot("dual-emps"), Actuators::Free, 0),
        (robot("five-bar-flexible"), Actuators::Locked, 0),
        (robot("five-bar-flexible"), Actuators::Elastic, 0),
        (shear, Actuators::Locked, 0),
        (refined, Actuators::Elastic, 0),
        (rigid_rods, Actuators::Elastic, 1),
    ] {
        let plan = RelativePlan::new(robot.model(), actuators, robot.home().positions()).unwrap();
        let (total, equations, left) = plan.counts();
        assert!(total + redundant == equations + left, "{}: {total} {equations} {left}", robot.name());
        let m = relative_matrices(robot.model(), &plan, robot.home().positions());
        let values = eigenvalues(&dense(&m.K), &dense(&m.M));
        let (found, wanted) = (hz(&values), all(&robot, robot.home(), actuators));
        assert_eq!(found.len(), wanted.len(), "{}", robot.name());
        for (f, w) in found.iter().zip(&wanted) {
            // Free motions are zero to the rounding of the largest.
            assert!(
                (f - w).abs() < 1e-8 * w + 1e-6 * wanted.last().unwrap() * f64::from(u8::from(*w < 1e-3)),
                "{}: {f} {w}",
                robot.name()
            );
        }
    }
}

#[test]
fn the_refined_navaro_is_what_its_data_give() {
    let robot = robot("navaro-refined");
    let data = reference("navaro-refined");
    let mut farthest: f64 = 0.0;
    for p in data["poses"].as_array().unwrap() {
        let pose = planar_pose(0.0, 0.0, p["pose"]["phi"].as_f64().unwrap());
        let found = all(&robot, &posture(&robot, &pose), Actuators::Elastic);
        assert_eq!(found.len(), 96);
        // The same data in another program.
        for (f, w) in found.iter().zip(numbers(&p["same_data_hz"])) {
            assert!((f - w).abs() < 0.0101, "{f} {w}");
        }
        // The publication does not say where the masses sit: its values cannot be met better than this.
        for printed in numbers(&p["calculated_hz"]) {
            let nearest = found.iter().map(|f| (f / printed - 1.0).abs()).fold(f64::INFINITY, f64::min);
            farthest = farthest.max(nearest);
        }
    }
    assert!((0.05..0.10).contains(&farthest), "{farthest}");
}

/// Frequencies of `n` elements over a length, with coordinates of the first and last node taken away.
fn beam(n: usize, b: &BeamData<f64>, first: &[usize], last: &[usize]) -> Vec<f64> {
    let e = BeamElement::new(&BeamData { l: b.l / n as f64, ..*b });
    let size = 6 * (n + 1);
    let (mut K, mut M) = (Matrix::zeros(size, size), Matrix::zeros(size, size));
    for k in 0..n {
        for (r, c) in (0..12).flat_map(|r| (0..12).map(move |c| (r, c))) {
            K[(6 * k + r, 6 * k + c)] += e.K[r / 6][c / 6][r % 6][c % 6];
            M[(6 * k + r, 6 * k + c)] += e.M[r / 6][c / 6][r % 6][c % 6];
        }
    }
    let gone = |i: usize| (i < 6 && first.contains(&i)) || (i >= 6 * n && last.contains(&(i - 6 * n)));
    let left: Vec<usize> = (0..size).filter(|i| !gone(*i)).collect();
    let pick = |A: &Matrix| Matrix::from_fn(left.len(), left.len(), |i, j| A[(left[i], left[j])]);
    eigenvalues(&pick(&K), &pick(&M)).iter().map(|x| x.max(0.0).sqrt()).collect()
}

fn slender() -> BeamData<f64> {
    BeamData {
        l: 1.0,
        EA: 1e4,
        EIy: 1e3,
        EIz: 1.0,
        GJ: 1e4,
        shear: None,
        rhoA: 1.0,
        rhoIy: 0.0,
        rhoIz: 0.0,
        rhoIp: 1.0,
    }
}

#[test]
fn one_element_cantilever_has_the_textbook_frequencies() {
    let all = [0, 1, 2, 3, 4, 5];
    let w = beam(1, &slender(), &all, &[]);
    // ω √(ρA l⁴/EI): 3.53273 and 34.80689 with one cubic element.
    assert!((w[0] - 3.53273).abs() < 1e-5 && (w[1] - 34.80689).abs() < 1e-5, "{w:?}");
}

#[test]
fn beams_fall_to_the_analytic_values() {
    let all = [0, 1, 2, 3, 4, 5];
    let b = slender();
    // Roots of cosh β cos β = -1 and +1, and n π.
    let cases = [
        (&all[..], &[][..], 0, [1.875_104_068_7, 4.694_091_133, 7.854_757_438]),
        (&[][..], &[][..], 6, [4.730_040_745, 7.853_204_624, 10.995_607_838]),
        (&all[..5], &all[1..3], 0, [PI, 2.0 * PI, 3.0 * PI]),
    ];
    for (first, last, zeros, betas) in cases {
        let [coarse, fine] = [8, 16].map(|n| beam(n, &b, first, last));
        assert!(fine[..zeros].iter().all(|w| *w < 1e-2) && fine[zeros] > 1.0, "{fine:?}");
        for (k, beta) in betas.into_iter().enumerate() {
            let exact = beta * beta;
            let (a, c) = (coarse[zeros + k] / exact - 1.0, fine[zeros + k] / exact - 1.0);
            assert!(a > 0.0 && a < 3e-3, "{k}: {a}");
            // Fourth order, down to the digits of the roots.
            assert!(c < 1e-8 || (13.0..19.0).contains(&(a / c)), "{k}: {a} {c}");
        }
    }
    // Axial, fixed and free: ω = (2k - 1) π/2 √(EA/ρA)/l; torsion likewise.
    let rod = BeamData { EIy: 40.0, EIz: 40.0, EA: 4.0, GJ: 9.0, ..b };
    let w = beam(12, &rod, &all, &[]);
    let wanted = [PI, 1.5 * PI, 3.0 * PI, 4.5 * PI];
    for (f, exact) in w.iter().zip(wanted) {
        assert!((f / exact - 1.0).abs() < 7e-3 && f > &exact, "{f} {exact}");
    }
}

#[test]
fn shear_and_rotary_inertia_lower_a_thick_beam_as_timoshenko_says() {
    // Pinned beam: the exact ω² are roots of a quadratic, since sin(nπx/l) solves the equations of Timoshenko.
    let (EI, kGA, rhoA, rhoI, l) = (2.0, 60.0, 1.5, 0.05, 1.0);
    let b = BeamData {
        l,
        EIz: EI,
        EIy: 40.0,
        EA: 1e4,
        GJ: 1e2,
        shear: Some(kGA),
        rhoA,
        rhoIz: rhoI,
        rhoIy: 0.0,
        rhoIp: 0.1,
    };
    let w = beam(40, &b, &[0, 1, 2, 3, 4], &[1, 2]);
    for n in 1..4 {
        let k = f64::from(n) * PI / l;
        // ρA ρI ω⁴ - (ρA (EI k² + κGA) + ρI κGA k²) ω² + EI κGA k⁴ = 0.
        let (a, c) = (rhoA * rhoI, EI * kGA * k.powi(4));
        let m = rhoA * (EI * k * k + kGA) + rhoI * kGA * k * k;
        let exact = ((m - (m * m - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt();
        let found = w.iter().map(|f| (f / exact - 1.0).abs()).fold(f64::INFINITY, f64::min);
        assert!(found < 2e-3, "{n}: {exact} {found}");
        let bernoulli = k * k * (EI / rhoA).sqrt();
        assert!(exact < 0.8 * bernoulli);
    }
}

#[test]
fn modes_are_orthogonal_and_meet_the_rayleigh_quotient() {
    let robot = robot("navaro");
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked).unwrap();
    let (pose, _) = &navaro_poses()[2];
    v.take(pose, robot.mode()).unwrap();
    v.all_modes().unwrap();
    let (K, M) = (v.matrices().0.dense(), v.matrices().1.dense());
    let n = K.rows;
    for i in 0..n {
        for j in 0..=i {
            let (x, y) = (v.vector(i), v.vector(j));
            let form = |A: &Dense<f64>| A.apply(y).iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            let (unit, lambda) = if i == j { (1.0, v.frequencies()[i].omega2) } else { (0.0, 0.0) };
            assert!((form(&M) - unit).abs() < 1e-9, "M {i} {j}: {}", form(&M));
            let scale = v.frequencies()[i].omega2.max(v.frequencies()[j].omega2);
            assert!((form(&K) - lambda).abs() < 1e-8 * scale, "K {i} {j}: {} {lambda}", form(&K));
        }
    }
    let shares = v.shares();
    for s in &shares {
        let (e, k): (f64, f64) = (s.elastic.iter().map(|x| x.2).sum(), s.kinetic.iter().map(|x| x.1).sum());
        assert!((e - 1.0).abs() < 1e-12 && (k - 1.0).abs() < 1e-12);
    }
    // The first three modes are in-plane bending of the links; torsion takes part in the fourth, out of the plane.
    let torsion = |k: usize| shares[k].by_kind().iter().find(|x| x.0 == Store::Torsion).map_or(0.0, |x| x.1);
    assert!(torsion(0) < 1e-12 && torsion(3) > 0.1, "{} {}", torsion(0), torsion(3));
}

#[test]
fn doubles_are_found_at_the_symmetric_pose_and_turned_poses_are_alike() {
    let robot = robot("navaro");
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked).unwrap();
    v.take(&planar_pose(0.0, 0.0, 0.0), robot.mode()).unwrap();
    v.lowest(6).unwrap();
    assert_eq!(v.groups(), [(0, 2), (2, 1), (3, 1), (4, 2)]);
    assert_eq!(v.lowest_groups(5).unwrap().len(), 6);
    assert_eq!(v.lowest_groups(1).unwrap().len(), 2);
    let mut parts = v.components();
    parts.sort_unstable();
    assert_eq!(parts, [39, 51], "out of the plane and in it");
    let third = TAU / 3.0;
    let at = |k: f64| {
        let (s, c) = (k * third).sin_cos();
        let p = planar_pose(0.1 * c - 0.05 * s, 0.1 * s + 0.05 * c, -0.9);
        all(&robot, &posture(&robot, &p), Actuators::Locked)
    };
    let first = at(0.0);
    close(&at(1.0), &first, 1e-9, "turned by 120 deg");
    close(&at(2.0), &first, 1e-9, "turned by 240 deg");
}

#[test]
fn turning_the_world_changes_nothing() {
    let (turn, p) = (0.7_f64, [0.05, -0.08, -0.6]);
    let plain = robot("navaro");
    let turned = changed(
        "navaro",
        &[
            ("[platform]", "[base]\nframe = { xyz = [0.3, -0.2, 0], rpy = [0, 0, 0.7] }\n[platform]"),
            ("home = { x = 0, y = 0, phi = 0 }", "home = { x = 0.3, y = -0.2, phi = 0.7 }"),
        ],
    );
    let (s, c) = turn.sin_cos();
    let moved = planar_pose(0.3 + c * p[0] - s * p[1], -0.2 + s * p[0] + c * p[1], p[2] + turn);
    let wanted = all(&plain, &posture(&plain, &planar_pose(p[0], p[1], p[2])), Actuators::Locked);
    close(&all(&turned, &posture(&turned, &moved), Actuators::Locked), &wanted, 1e-9, "turned world");
}

/// A rigid robot whose drives give way by `k`: `J_invᵀ K_a J_inv` against the inertia of the rigid model without rotors.
fn rigid_with_drives(robot: &Robot, p: &Posture, k: f64) -> Vec<f64> {
    let model = robot.model();
    let rest = vec![0.0; model.topology().platform.independent.len()];
    let m = platform_model(model, p, &rest, &Conditions::default()).unwrap();
    let J_inv = matrices_at(model, p, None).unwrap().jacobians.J_inv.unwrap();
    let n = m.M.rows;
    let rotor = |a: usize| model.numbers().joints[model.topology().active[a]].rotor;
    let drives = |i: usize, j: usize, w: &dyn Fn(usize) -> f64| -> f64 {
        (0..J_inv.rows).map(|a| J_inv.at(a, i) * w(a) * J_inv.at(a, j)).sum()
    };
    let K = Matrix::from_fn(n, n, |i, j| drives(i, j, &|_| k));
    let M = Matrix::from_fn(n, n, |i, j| 0.5 * (m.M.at(i, j) + m.M.at(j, i)) - drives(i, j, &rotor));
    hz(&eigenvalues(&K, &M))
}

#[test]
fn rigid_robots_with_elastic_drives_are_those_of_rigid_dynamics() {
    // Loops of rigid bodies, eliminated by rank: a hexapod, a Delta with real parallelograms, slotted struts.
    let screws = crate::common::text("screw-delta").replace("drive = {", "drive = { stiffness = 2e5,");
    let robot = compile("screw-delta", &screws);
    let refused = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).err();
    assert_eq!(refused, Some(ElasticError::NoMass));
    // Motors, screws and nuts that only the base ties.
    let robot = compile("screw-delta", &screws.replace("[platform]", "[platform]\nmass = 2"));
    let wanted = rigid_with_drives(&robot, robot.home(), 2e5);
    close(&all(&robot, robot.home(), Actuators::Elastic), &wanted, 1e-7, "screw-delta");
    for name in ["five-bar", "3-rpr", "gough-stewart", "delta", "orthoglide", "delta-parallelogram", "tripteron"] {
        let text = gough::robots::text(name).unwrap().replace("drive = { rotor", "drive = { stiffness = 2e5, rotor");
        let robot = compile(name, &text);
        let found = all(&robot, robot.home(), Actuators::Elastic);
        let wanted = rigid_with_drives(&robot, robot.home(), 2e5);
        // Idle spins of rods stay at rest; everything else is a mode of the platform.
        close(&found, &wanted, 1e-7, name);
    }
}

#[test]
fn infinite_stiffness_gives_the_rigid_robot() {
    let mut last = f64::INFINITY;
    for factor in [10, 1000] {
        let stiff = format!("E = \"{factor}*210 GPa\"");
        let soft = ("transmission = \"5000 N*m/rad\"", "transmission = \"50 N*m/rad\"");
        let robot = changed("five-bar-flexible", &[("E = \"210 GPa\"", &stiff), soft]);
        let k = robot.model().numbers().joints[robot.model().topology().active[0]].transmission;
        let wanted = rigid_with_drives(&robot, robot.home(), k);
        let found = all(&robot, robot.home(), Actuators::Elastic);
        let gap = found.iter().zip(&wanted).map(|(f, w)| (f / w - 1.0).abs()).fold(0.0, f64::max);
        assert!(gap < 0.03 * last, "{gap} {last}");
        last = gap;
    }
    assert!(last < 1e-3, "{last}");
}

#[test]
fn sensitivities_are_the_differences_also_of_double_frequencies() {
    for (name, pose, actuators) in [
        ("navaro", planar_pose(0.05, -0.03, -0.4), Actuators::Locked),
        ("navaro", planar_pose(0.0, 0.0, 0.0), Actuators::Locked),
        ("dual-emps", planar_pose(0.3, 0.8, 0.0), Actuators::Locked),
        ("five-bar-flexible", planar_pose(0.03, 0.32, 0.0), Actuators::Elastic),
    ] {
        let robot = robot(name);
        let model = robot.model();
        let mut v = Vibration::new(model, robot.home(), actuators).unwrap();
        v.take(&pose, robot.mode()).unwrap();
        let count = 6.min(v.modes());
        v.lowest(count).unwrap();
        for (k, s) in v.sensitivities(robot.mode()).iter().enumerate() {
            let h = 1e-5 * s.value.abs();
            let at = |sign: f64| {
                let mut values = model.numbers().parameters.clone();
                values[k] += sign * h;
                let other = model.with_values(&values);
                let mut w = Vibration::new(&other, robot.home(), actuators).unwrap();
                w.take(&pose, robot.mode()).unwrap();
                w.lowest(count).unwrap().iter().map(|f| f.hz).collect::<Vec<f64>>()
            };
            let (up, down) = (at(1.0), at(-1.0));
            for (first, n) in v.groups() {
                // Branches cross at a double: the highest after is the highest slope, before it is the lowest.
                let mut differences: Vec<f64> =
                    (0..n).map(|i| (up[first + i] - down[first + n - 1 - i]) / (2.0 * h)).collect();
                differences.sort_by(f64::total_cmp);
                for (i, d) in differences.iter().enumerate() {
                    let slope = s.slopes[first + i];
                    let f = v.frequencies()[first].hz;
                    let scale = f / s.value.abs();
                    assert!(
                        (slope - d).abs() < 1e-6 * scale.max(d.abs()),
                        "{name} {} f{}: {slope} {d}",
                        s.parameter,
                        first + i + 1
                    );
                }
            }
        }
    }
}

#[test]
fn reduced_legs_err_on_the_high_side_and_less_with_more_modes() {
    let robot = robot("navaro");
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked).unwrap();
    let mut last = f64::INFINITY;
    for modes in [0, 2, 6, 12, 28] {
        let r = v.reduced(modes, 5).unwrap();
        assert_eq!(r.coordinates, 6 + 3 * modes);
        let worst = r.errors.iter().copied().fold(0.0, f64::max);
        assert!(r.errors.iter().all(|e| *e > -1e-9) && worst <= last, "{modes}: {:?}", r.errors);
        last = worst;
    }
    assert!(last < 1e-8, "{last}");
}

/// NaVARo with links of 16.42 x 18.89 mm and arms of 6 x 6 mm: a dozen modes between 90 and 104 Hz.
#[test]
fn modes_that_lie_close_together_are_found() {
    let sections: [(&str, f64, f64); 2] = [("link", 16.42e-3, 18.89e-3), ("arm", 6e-3, 6e-3)];
    let set = sections.iter().flat_map(|(part, b, h)| {
        let (y, z) = (b * h * h * h / 12.0, h * b * b * b / 12.0);
        let torsion = b * b * b * h * (1.0 / 3.0 - 0.21 * b / h * (1.0 - (b / h).powi(4) / 12.0));
        let values = [("A", b * h), ("Iy", y), ("Iz", z), ("J", torsion), ("Ip", y + z)];
        values.map(|(what, x)| (format!("{part}_{what}"), x.to_string()))
    });
    let source = gough::Source { set: set.collect(), ..gough::Source::shipped("navaro").unwrap() };
    let robot = source.robot().unwrap();
    let new = || Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
    let (mut few, mut all) = (new(), new());
    for k in 0..=200 {
        let pose = planar_pose(-0.1 + 1e-3 * f64::from(k), 0.01, -1.0);
        few.take(&pose, robot.mode()).unwrap();
        all.take(&pose, robot.mode()).unwrap();
        let (found, wanted) = (few.lowest(1).unwrap()[0].hz, all.all().unwrap()[0].hz);
        assert!((found / wanted - 1.0).abs() < 1e-9, "{k}: {found} {wanted}");
    }
}

#[test]
fn questions_without_an_answer_are_refused() {
    let rigid = robot("five-bar");
    let refused = Vibration::new(rigid.model(), rigid.home(), Actuators::Locked).err();
    assert_eq!(refused, Some(ElasticError::NothingMoves));
    let upright = changed("navaro", &[("material = \"alu\" }", "material = \"alu\", up = [1, 0, 0] }")]);
    let refused = Vibration::new(upright.model(), upright.home(), Actuators::Locked).err();
    assert!(matches!(refused, Some(ElasticError::BeamAxes { .. })), "{refused:?}");
    let planar = changed("orthoglide", &[("[platform]", "[elastic]\ndimension = 2\n[platform]")]);
    let refused = Vibration::new(planar.model(), planar.home(), Actuators::Free).err();
    assert!(matches!(refused, Some(ElasticError::NotPlanar { .. })), "{refused:?}");
}

#[test]
fn free_drives_leave_one_free_motion_per_degree_of_freedom() {
    let robot = robot("dual-emps");
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Free).unwrap();
    let f = v.all().unwrap();
    assert_eq!(f.len(), 11);
    assert!(f[..2].iter().all(|f| f.hz == 0.0) && f[2].hz > 1.0, "{f:?}");
}

/// A hexapod whose platform is a modal body of seven nodes and three modes, with their generalised stiffness.
fn flexible_platform(stiffness: f64) -> Robot {
    modal_platform(stiffness, 1.0, &[])
}

/// The same; its masses follow the last mode by a factor, and the text of the robot has changes.
fn modal_platform(stiffness: f64, followed: f64, changes: &[(&str, &str)]) -> Robot {
    let vertex = |k: usize| {
        let (s, c) = (f64::from(u8::try_from(k).unwrap()) * PI / 3.0 - 2.0 * PI / 3.0).sin_cos();
        [0.5 * c, 0.5 * s, 0.0]
    };
    let nodes: Vec<[f64; 3]> = (0..6).map(vertex).chain([[0.05, -0.02, 0.1]]).collect();
    let masses: Vec<f64> = (0..7).map(|k| 8.0 + f64::from(k)).collect();
    // Smooth displacement fields, with rotations that are half their curl.
    let field = |m: usize, p: &[f64; 3]| -> ([f64; 3], [f64; 3]) {
        let [x, y, z] = *p;
        match m {
            0 => ([0.0, 0.0, x * x - y * y], [-y, -x, 0.0]),
            1 => ([0.2 * y, 0.0, x * y], [0.5 * x, -0.5 * y, -0.1]),
            _ => ([x * y, 0.3 * x * x, z + 0.1 * x], [0.0, -0.05, 0.5 * (0.6 * x - x)]),
        }
    };
    let modes: Vec<Value> = (0..3)
        .map(|m| {
            let k = if m == 2 { followed } else { 1.0 };
            let shape: Vec<[f64; 3]> = nodes.iter().map(|p| field(m, p).0.map(|x| k * x)).collect();
            serde_json::json!({ "stiffness": stiffness * (1.0 + m as f64), "displacement": shape })
        })
        .collect();
    let point = |k: usize| {
        let of = |part: usize| -> Vec<[f64; 3]> {
            (0..3).map(|m| if part == 0 { field(m, &nodes[k]).0 } else { field(m, &nodes[k]).1 }).collect()
        };
        serde_json::json!({ "position": nodes[k], "displacement": of(0), "rotation": of(1) })
    };
    let points: serde_json::Map<String, Value> = (0..6).map(|k| (format!("p{}", k + 1), point(k))).collect();
    let json = serde_json::json!({ "nodes": nodes, "masses": masses, "modes": modes, "points": points }).to_string();
    let mut text = gough::robots::text("gough-stewart").unwrap().to_owned();
    let from = text.find("[platform]").unwrap();
    let to = from + text[from..].find("[template").unwrap();
    text.replace_range(from..to, "[platform]\ncoordinates = \"spatial\"\nmodal = { file = \"plate.json\" }\n");
    let side = "frame = { rpy = [0, 0, \"angle\"] }, point = [\"rp\", 0, 0]";
    assert!(text.contains(side) && text.contains("drive = { rotor"));
    text = text.replace(side, "point = \"p{leg}\"").replace("drive = { rotor", "drive = { stiffness = 3e6, rotor");
    for (from, to) in changes {
        assert!(text.contains(from), "no `{from}`");
        text = text.replace(from, to);
    }
    let files = |_: &str| Ok(json.clone());
    let options = ReadOptions { files: &files, ..ReadOptions::default() };
    Robot::from_toml("flexible-platform", &text, &options, None).unwrap_or_else(|e| panic!("{e}"))
}

/// On legs without mass a mode that moves the points but no mass has stiffness alone: it is told and condensed, and what is left are
/// the frequencies that ever less mass in it falls to.
#[test]
fn a_mode_without_mass_is_told_and_condensed() {
    let light = [
        (", mass = 3.176, inertia = { at = \"origin\", zz = 5.11 }", ""),
        (
            ", mass = 30.176, first_moment = [4.29, -12.628, 0], inertia = { at = \"origin\", xx = 4.823, yy = 0.945, zz = 5.11, xy = 0.215 }",
            "",
        ),
        (
            ", mass = 5.39, first_moment = [0, 0, -3.018], inertia = { at = \"origin\", xx = 1.068, yy = 1.068, zz = 0.0234 }",
            "",
        ),
        (", rotor_inertia = 45.89", ""),
    ];
    let found = |followed: f64| {
        let robot = modal_platform(4e4, followed, &light);
        let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
        let hz: Vec<f64> = v.all().unwrap().iter().map(|f| f.hz).collect();
        (hz, v.massless())
    };
    let (none, massless) = found(0.0);
    assert!(none.len() == 8 && massless.len() == 1, "{none:?} {massless:?}");
    let (little, other) = found(1e-5);
    assert!(little.len() == 9 && other.is_empty(), "{little:?} {other:?}");
    close(&little[..8], &none, 1e-4, "a mode with little mass");
    assert!(little[8] > 100.0 * none[7], "{little:?}");
    assert!((found(1e-4).0[0] - none[0]).abs() > 2.0 * (little[0] - none[0]).abs(), "falls with the mass");
}

/// A point mass on struts without mass: of three motions in the plane one has no mass, and the two frequencies are those of the
/// point on what the drives leave when the platform may turn as it likes.
#[test]
fn a_point_mass_has_no_frequency_about_itself() {
    let text = gough::robots::text("3-rpr").unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in &mut lines {
        if let Some(k) = line.find(", mass = ").filter(|_| line.contains("joint = ")) {
            let end = line.rfind('}').unwrap();
            line.replace_range(k..end, " ");
        }
    }
    let text = lines
        .join("\n")
        .replace("com = [0.01, -0.02, 0]\n", "")
        .replace("drive = { rotor_inertia = 0.8 }", "drive = { stiffness = 1e5 }");
    let platform = "inertia = { at = \"com\", xx = 0.01, yy = 0.01, zz = 0.02 }\n";
    assert!(text.contains(platform) && text.contains("stiffness = 1e5"));
    let found = |zz: f64| {
        let inertia = if zz > 0.0 {
            format!("inertia = {{ at = \"com\", xx = {zz:e}, yy = {zz:e}, zz = {zz:e} }}\n")
        } else {
            String::new()
        };
        let robot = compile("point", &text.replace(platform, &inertia));
        let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
        let shares: Vec<f64> = {
            v.all_modes().unwrap();
            (0..v.frequencies().len()).map(|k| v.vector(k).iter().map(|x| x * x).sum::<f64>()).collect()
        };
        assert!(shares.iter().all(|x| x.is_finite() && *x > 0.0));
        let lowest = v.lowest(1).unwrap().len();
        (v.all().unwrap().iter().map(|f| f.hz).collect::<Vec<f64>>(), v.massless().len(), lowest)
    };
    let (point, massless, lowest) = found(0.0);
    assert!(point.len() == 2 && massless == 1 && lowest == 1, "{point:?} {massless} {lowest}");
    let (small, none, _) = found(1e-9);
    assert!(small.len() == 3 && none == 0, "{small:?}");
    close(&small[..2], &point, 1e-5, "a small body");
}

#[test]
fn a_modal_platform_is_the_same_on_both_roads_and_rigid_when_stiff() {
    let robot = flexible_platform(4e4);
    let plan = RelativePlan::new(robot.model(), Actuators::Elastic, robot.home().positions()).unwrap();
    let m = relative_matrices(robot.model(), &plan, robot.home().positions());
    let values = eigenvalues(&dense(&m.K), &dense(&m.M));
    let soft = all(&robot, robot.home(), Actuators::Elastic);
    assert_eq!(soft.len(), 9);
    close(&hz(&values), &soft, 1e-8, "modal platform");
    let stiff = flexible_platform(4e13);
    let found = all(&stiff, stiff.home(), Actuators::Elastic);
    let wanted = rigid_with_drives(&stiff, stiff.home(), 3e6);
    close(&found[..6], &wanted, 1e-6, "stiff platform");
    assert!(soft[0] < 0.99 * wanted[0], "the modes take part: {} {}", soft[0], wanted[0]);
}

#[test]
fn a_mode_followed_along_a_line_keeps_its_shape_through_crossings() {
    use gough::analysis::map::{Quantity, map};
    use gough::analysis::{CoordinateSpan, FrequencyOf, Region};
    use gough::description::Coordinate;
    let robot = robot("navaro");
    // The symmetric pose in the middle: two branches cross there.
    let spans = vec![CoordinateSpan { coordinate: Coordinate::Y, low: -0.1, high: 0.1, count: 81 }];
    let region = Region::new(robot.model(), spans, &planar_pose(0.0, 0.0, -PI / 3.0)).unwrap();
    let ask = |number: usize, followed: bool| {
        let of = FrequencyOf { number, actuators: Actuators::Locked, followed };
        let found = map(robot.model(), robot.mode(), &region, &Quantity::Frequency(of), &|_| true);
        let values: Vec<f64> = found.values.iter().map(|v| v.get().unwrap()).collect();
        (values, found.frequencies.unwrap())
    };
    let ([one, two], [low, high]) = ([ask(1, true), ask(2, true)], [ask(1, false), ask(2, false)]);
    let kink = |v: &[f64]| v.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f64::max);
    assert!(
        kink(&one.0) < 0.1 * kink(&low.0) && kink(&two.0) < 0.1 * kink(&high.0),
        "{} {}",
        kink(&one.0),
        kink(&low.0)
    );
    for k in 0..81 {
        let (a, b) = (one.0[k].min(two.0[k]), one.0[k].max(two.0[k]));
        assert!((a - low.0[k]).abs() < 1e-9 && (b - high.0[k]).abs() < 1e-9, "{k}");
    }
    assert_eq!(one.1.uncertain, 0);
    let (hz, node) = one.1.lowest.unwrap();
    assert!((hz - low.0[node]).abs() < 1e-9 && low.0.iter().all(|f| *f >= hz - 1e-9));
}

/// A round bar along z of its body: where the section's axes point changes nothing, so that nobody has to say it.
#[test]
fn a_round_beam_along_z_needs_no_up_and_turning_the_body_changes_nothing() {
    let file = |to: &str, axis: &str, section: &str| {
        format!(
            "[robot]\nname = \"bar\"\nhome = {{ x = 0, y = 0, z = 0.5 }}\n[platform]\ncoordinates = [\"x\"]\nmass = 1\n\
             [material]\nsteel = {{ E = \"210 GPa\", nu = 0.3, density = \"7850 kg/m^3\" }}\n[section]\nbar = {section}\n\
             [[body]]\nname = \"1\"\non = \"base\"\njoint = \"P\"\naxis = [1, 0, 0]\ndrive = {{}}\nmass = 1\n\
             [[body]]\nname = \"2\"\non = \"1\"\njoint = \"fixed\"\naxis = {axis}\nbeam = {{ to = {to}, section = \"bar\", material = \"steel\" }}\n\
             [[closure]]\njoint = \"fixed\"\na = {{ body = \"2\", point = {to} }}\nb = {{ body = \"platform\" }}\n"
        )
    };
    let lowest = |text: &str| {
        let robot = gough::Robot::from_toml("bar", text, &gough::description::ReadOptions::default(), None)
            .unwrap_or_else(|e| panic!("{e}"));
        let asked = robot.frequencies(robot.home().pose()).count(6).actuators(gough::Actuators::Locked);
        asked.answer().unwrap().frequencies_hz
    };
    let circle = "{ circle = 0.02 }";
    let upright = lowest(&file("[0, 0, 0.5]", "[0, 0, 1]", circle));
    let tube = lowest(&file("[0, 0, 0.5]", "[0, 0, 1]", "{ tube = [0.02, 0] }"));
    assert!(
        upright[0] > 1.0 && upright.iter().zip(&tube).all(|(a, b)| (a - b).abs() < 1e-9 * a),
        "{upright:?} {tube:?}"
    );
    // A beam of another section along z has to say where it points; one across z need not.
    let bar = file("[0, 0, 0.5]", "[0, 0, 1]", "{ rectangle = [0.02, 0.01] }");
    let bad = gough::Robot::from_toml("bar", &bar, &gough::description::ReadOptions::default(), None).unwrap_err();
    assert!(bad.to_string().contains("`up`"), "{bad}");
}
