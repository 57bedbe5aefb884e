//! Rates, accelerations and matrices of `gough kinematics`.
#[allow(dead_code)]
use crate::common::{document, file, json, repository, run};
use serde_json::Value;

const REDUNDANT: &str = "crates/gough/tests/robots/redundant.toml";

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap_or_else(|| panic!("no list: {value}"));
    list.iter().map(|x| x.as_f64().unwrap_or_else(|| panic!("no number: {x}"))).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap_or_else(|| panic!("no matrix: {value}")).iter().map(numbers).collect()
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}: {found:?} {wanted:?}");
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}: {found:?} {wanted:?}");
    }
}

/// `M x`.
fn apply(M: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    M.iter().map(|row| row.iter().zip(x).map(|(m, x)| m * x).sum()).collect()
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

const FIVE_BAR: [&str; 8] =
    ["kinematics", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", "x=0.3,y=-0.2", "--acceleration", "x=1,y=0.5"];

#[test]
fn the_five_bar_moves_as_its_closed_forms_say() {
    let answer = json(&[&FIVE_BAR[..], &["--matrices", "--json"]].concat());
    assert_eq!(answer["components"], serde_json::json!(["x", "y"]));
    assert_eq!(answer["twist"], serde_json::json!([0.3, -0.2]));
    assert_eq!(answer["acceleration"], serde_json::json!([1.0, 0.5]));
    let modes = answer["working_modes"].as_array().unwrap();
    assert_eq!((modes.len(), &modes[0]["name"]), (1, &Value::from("+-")));
    let mode = &modes[0];
    let part = |part: &str, key: &str| numbers(&mode[part][key]);
    close(&part("active", "qd"), &[-1.226_636_28, -1.638_709_25], 1e-8, "active rates");
    close(&part("active", "qdd"), &[-6.537_250_9, -4.059_383_8], 1e-7, "active accelerations");
    // The joint at the tool is cut, so that the passive joints are q12 and q22.
    assert_eq!(answer["passive_joints"], serde_json::json!(["12", "22"]));
    close(&part("passive", "qd"), &[0.179_578_57, 1.940_265_40], 1e-8, "passive rates");
    close(&part("passive", "qdd"), &[11.423_496_6, -3.681_606_5], 1e-7, "passive accelerations");

    let M = &mode["matrices"];
    let wanted_J = [[-0.129_250_458_7, -0.086_322_023_1], [-0.409_496_217_7, 0.428_570_790_1]];
    for (found, wanted) in rows(&M["J"]).iter().zip(wanted_J) {
        close(found, &wanted, 1e-9, "J");
    }
    // Rows of A_r and B have a sign that is free.
    let size = |name: &str| rows(&M[name]).concat().iter().map(|x| x.abs()).collect::<Vec<_>>();
    close(&size("A_r"), &[0.980_312_373_9, 0.197_452_904_7, 0.953_625_544_6, 0.300_995_549_4], 1e-9, "A_r");
    close(&size("B"), &[0.207_562_041_6, 0.0, 0.0, 0.211_316_786_7], 1e-9, "B");
    close(&rows(&M["Psi_t"])[5], &[-2.244_934_371_5, -4.875_182_301_4], 1e-9, "rho");
    close(&numbers(&M["Psi_t_dot_t_r"])[5..], &[-3.058_464_544], 1e-9, "change of the orientation");
    assert_eq!(mode["redundancy"], "none");
    assert_eq!(mode["passive_of_matrices"], serde_json::json!(["12", "22"]));
}

/// The equations that stand beside the matrices in the text hold between them.
#[test]
fn matrices_satisfy_the_equations_they_are_printed_with() {
    for (robot, pose, twist, acceleration) in [
        ("five-bar", "x=0.05,y=0.25", "x=0.3,y=-0.2", "x=1,y=0.5"),
        ("3-rpr", "x=0.02,y=0.03,phi=0.1", "x=0.1,y=0.2,phi=-0.4", "x=-1,phi=2"),
        ("delta", "x=0.05,y=0.02,z=-0.6", "x=0.5,z=-0.3", "y=2"),
        ("gough-stewart", "x=0.3,y=0.45,z=1.05,roll=5deg,pitch=0,yaw=-10deg", "x=0.1,wx=0.4,wz=-0.3", "z=1,wy=0.5"),
        ("dualv", "x=0.02,y=0.03,phi=0.1", "x=0.4,y=-0.1,phi=0.3", "y=1"),
    ] {
        let motion = ["--twist", twist, "--acceleration", acceleration, "--matrices", "--json"];
        let answer = json(&[&["kinematics", robot, "--pose", pose], &motion[..]].concat());
        let mode = &answer["working_modes"][0];
        let (t_r, td_r) = (numbers(&answer["twist"]), numbers(&answer["acceleration"]));
        let M = |name: &str| rows(&mode["matrices"][name]);
        let bias = |name: &str| numbers(&mode["matrices"][name]);
        let (qd, qdd) = (numbers(&mode["active"]["qd"]), numbers(&mode["active"]["qdd"]));
        let zero = |n: usize| vec![0.0; n];

        let first = sum(&apply(&M("A_r"), &t_r), &apply(&M("B"), &qd));
        close(&first, &zero(first.len()), 1e-9, "A_r t_r + B qd_a = 0");
        let second = sum(&apply(&M("A_r"), &td_r), &apply(&M("B"), &qdd));
        close(&second, &bias("b"), 1e-8, "A_r td_r + B qdd_a = b");
        let t_p = apply(&M("Psi_t"), &t_r);
        let lost = apply(&M("W_c"), &t_p);
        close(&lost, &zero(lost.len()), 1e-9, "W_c t_p = 0");
        close(&apply(&M("J"), &qd), &t_r, 1e-8, "t_r = J qd_a");
        close(&apply(&M("J_inv"), &t_r), &qd, 1e-8, "qd_a = J_inv t_r");
        close(&sum(&apply(&M("J"), &qdd), &bias("a_t")), &td_r, 1e-7, "td_r = J qdd_a + a_t");
        close(&sum(&apply(&M("J_inv"), &td_r), &bias("a_q")), &qdd, 1e-7, "qdd_a = J_inv td_r + a_q");

        let of_matrices = mode["passive_of_matrices"].as_array().unwrap();
        let passive = answer["passive_joints"].as_array().unwrap();
        let place: Vec<usize> =
            of_matrices.iter().map(|name| passive.iter().position(|p| p == name).unwrap()).collect();
        let pick = |key: &str| place.iter().map(|i| numbers(&mode["passive"][key])[*i]).collect::<Vec<_>>();
        let left = sum(&apply(&M("J_td"), &pick("qd")), &apply(&M("J_ta"), &qd));
        close(&left, &apply(&M("J_t"), &t_r), 1e-8, "J_td qd_d = J_t t_r - J_ta qd_a");
        let left = sum(&apply(&M("J_td"), &pick("qdd")), &apply(&M("J_ta"), &qdd));
        close(&left, &sum(&apply(&M("J_t"), &td_r), &bias("d_c")), 1e-7, "second order of the passive joints");
        close(&apply(&M("J_d"), &qd), &pick("qd"), 1e-8, "qd_d = J_d qd_a");
        close(&sum(&apply(&M("J_d"), &qdd), &bias("a_d")), &pick("qdd"), 1e-7, "qdd_d = J_d qdd_a + a_d");
        assert_eq!(mode["redundancy"], if robot == "dualv" { "actuation" } else { "none" });
    }
}

#[test]
fn a_twist_alone_and_matrices_alone_are_questions_too() {
    let pose = ["kinematics", "five-bar", "--pose", "x=0.05,y=0.25"];
    let answer = json(&[&pose[..], &["--twist", "x=0.3,y=-0.2", "--json"]].concat());
    let mode = &answer["working_modes"][0];
    close(&numbers(&mode["active"]["qd"]), &[-1.226_636_28, -1.638_709_25], 1e-8, "rates");
    assert!(answer["acceleration"].is_null() && mode.get("matrices").is_none());
    assert_eq!(numbers(&mode["active"]["qdd"]).len(), 2);

    let answer = json(&[&pose[..], &["--matrices", "--json"]].concat());
    let mode = &answer["working_modes"][0];
    assert!(mode["active"].get("qd").is_none(), "nothing moves: {mode}");
    assert!(mode["matrices"]["J"].is_array() && mode["matrices"].get("b").is_none());

    let answer = json(&[&pose[..], &["--twist", "x=0.3", "--mode=all", "--json"]].concat());
    let names: Vec<&str> =
        answer["working_modes"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["+-", "++", "-+", "--"], "the mode of the file comes first");
}

#[test]
fn the_text_names_every_matrix_with_its_equation() {
    let (out, err, status) = run(&[&FIVE_BAR[..], &["--matrices"]].concat());
    assert_eq!(status, 0, "{err}");
    for line in [
        "twist x = 0.3  y = -0.2",
        "acceleration x = 1  y = 0.5",
        "t_p = vx vy vz wx wy wz;  t_r = x y;  q_a = q11 q21",
        "J  (2 x 2)  t_r = J qd_a",
        "J_td  (2 x 2)  J_td qd_d = J_t t_r - J_ta qd_a",
        "a_q  (2)  qdd_a = J_inv td_r + a_q",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
}

/// What has no answer at a singular posture is told, not made up.
#[test]
fn a_stretched_leg_has_no_rates() {
    // Leg 1 along (0.6, 0.8), as long as it gets.
    let (answer, status) =
        document(&["kinematics", "five-bar", "--pose", "x=0.10048,y=0.32064", "--twist", "x=1", "--json"]);
    assert_eq!((status, &answer["error"]["kind"]), (1, &Value::from("type1")), "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("leg 1 is at a limit") && message.contains("Type 1 singularity"), "{answer}");
}

/// Rates and accelerations of the reference files: independent computations.
#[test]
fn states_of_the_reference_files_move_as_computed_elsewhere() {
    for name in ["gough-stewart", "five-bar", "3-rpr", "orthoglide", "dualv", "tripteron"] {
        let path = repository(&format!("robots/{name}/reference.json"));
        let answer = json(&["kinematics", name, "--states", &path, "--json"]);
        let wanted: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let wanted = wanted["states"].as_array().unwrap();
        for (a, b) in answer["states"].as_array().unwrap().iter().zip(wanted) {
            for part in ["active", "passive"] {
                for key in ["qd", "qdd"] {
                    close(&numbers(&a[part][key]), &numbers(&b[part][key]), 1e-8, &format!("{name} {part} {key}"));
                }
            }
        }
    }
}

#[test]
fn states_tell_their_motion_in_columns_or_lists() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = json(&[&FIVE_BAR[..], &["--json"]].concat());
    let wanted = &wanted["working_modes"][0]["active"];
    for (name, text) in [
        ("a.csv", "x,y,xd,yd,xdd,ydd\n0.05,0.25,0.3,-0.2,1,0.5\n"),
        ("b.csv", "t,ydd,xdd,q11d,yd,xd,y,x\n0,0.5,1,7,-0.2,0.3,0.25,0.05\n"),
        ("a.json", r#"[{"pose": {"p": [0.05, 0.25, 0]}, "twist": [0.3, -0.2], "acceleration": [1, 0.5]}]"#),
        ("a.jsonl", r#"{"pose": {"p": [0.05, 0.25, 0]}, "twist": [0.3, -0.2], "acceleration": [1, 0.5]}"#),
    ] {
        let answer = json(&["kinematics", "five-bar", "--states", &file(folder.path(), name, text), "--json"]);
        let found = &answer["states"][0]["active"];
        for key in ["q", "qd", "qdd"] {
            close(&numbers(&found[key]), &numbers(&wanted[key]), 1e-12, name);
        }
    }
    // Planar and spatial platforms have their own names.
    let rpr = "x,y,phi,xd,yd,phid\n0,0,0.1,0.1,0.2,-0.4\n";
    let answer = json(&["kinematics", "3-rpr", "--states", &file(folder.path(), "c.csv", rpr), "--json"]);
    let one = json(&["kinematics", "3-rpr", "--pose", "x=0,y=0,phi=0.1", "--twist", "x=0.1,y=0.2,phi=-0.4", "--json"]);
    assert_eq!(answer["states"][0]["active"], one["working_modes"][0]["active"]);
    let gough = "x,y,z,xd,yd,zd,wx,wy,wz,xdd,ydd,zdd,wxd,wyd,wzd\n0.25,0.43,1,0.1,0,0,0,0.2,0,1,0,0,0.5,0,0\n";
    let answer = json(&["kinematics", "gough-stewart", "--states", &file(folder.path(), "d.csv", gough), "--json"]);
    let motion = ["--twist", "x=0.1,wy=0.2", "--acceleration", "x=1,wx=0.5", "--json"];
    let one = json(&[&["kinematics", "gough-stewart", "--pose", "x=0.25,y=0.43,z=1"], &motion[..]].concat());
    assert_eq!(answer["states"][0]["passive"], one["working_modes"][0]["passive"]);
    // A state that stands still says nothing about rates.
    let still = json(&["kinematics", "five-bar", "--states", &file(folder.path(), "e.csv", "x,y\n0,0.3\n"), "--json"]);
    assert!(still["states"][0]["active"].get("qd").is_none());
}

#[test]
fn motions_that_the_platform_does_not_have_are_refused() {
    for (robot, pose, option, text, says) in [
        ("five-bar", "x=0.05,y=0.25", "--twist", "z=1", "--twist: no component `z`"),
        ("five-bar", "x=0.05,y=0.25", "--twist", "wz=1", "--twist: no component `wz`"),
        ("five-bar", "x=0.05,y=0.25", "--acceleration", "xd=1", "--acceleration: no component `xd`"),
        ("five-bar", "x=0.05,y=0.25", "--twist", "x=1,x=2", "--twist: x is given twice"),
        ("3-rpr", "x=0,y=0,phi=0.1", "--twist", "phi=1,wz=2", "--twist: phi is given twice"),
        ("3-rpr", "x=0,y=0,phi=0.1", "--twist", "wx=1", "--twist: no component `wx`"),
        ("gough-stewart", "x=0.25,y=0.43,z=1", "--twist", "roll=1", "--twist: no component `roll`"),
        ("five-bar", "x=0.05,y=0.25", "--twist", "x=nan", "x is `nan`, not a finite number"),
        ("five-bar", "x=0.05,y=0.25", "--twist", "x", "--twist"),
    ] {
        let (out, err, status) = run(&["kinematics", robot, "--pose", pose, option, text]);
        assert_eq!((out.as_str(), status), ("", 2), "{robot} {option} {text}: {err}");
        assert!(err.contains(says), "{robot} {option} {text}: {err}");
    }
    for arguments in [
        &["kinematics", "five-bar", "--joints", "q11=1.5,q21=1.1", "--twist", "x=1"][..],
        &["kinematics", "five-bar", "--matrices"],
    ] {
        let (_, err, status) = run(arguments);
        assert!(status == 2 && err.contains("--pose"), "{arguments:?}: {err}");
    }
}

#[test]
fn states_that_say_half_of_a_motion_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (robot, text, says) in [
        ("five-bar", "x,y,xd\n0.05,0.25,0.3\n", "columns yd missing: give all of xd, yd or none"),
        ("five-bar", "x,y,ydd\n0.05,0.25,0.3\n", "columns xdd missing: give all of xdd, ydd or none"),
        ("3-rpr", "x,y,phi,xd,yd\n0,0,0.1,1,1\n", "columns phid missing"),
        ("gough-stewart", "x,y,z,xd,yd,zd,wx\n0.25,0.43,1,0,0,0,0\n", "columns wy, wz missing"),
    ] {
        let path = file(folder.path(), "a.csv", text);
        let (out, err, status) = run(&["kinematics", robot, "--states", &path]);
        assert_eq!((out.as_str(), status), ("", 2), "{text}: {err}");
        assert!(err.contains(says), "{text}: {err}");
    }
    for (state, says) in [
        (r#"{"pose": {"p": [0.05, 0.25, 0]}, "twist": [1]}"#, "`twist` is not a list of 2 numbers (x, y)"),
        (r#"{"pose": {"p": [0.05, 0.25, 0]}, "acceleration": "1"}"#, "`acceleration` is not a list of 2 numbers"),
    ] {
        let path = file(folder.path(), "a.json", &format!("[{state}]"));
        let (answer, status) = document(&["kinematics", "five-bar", "--states", &path, "--json"]);
        assert_eq!(status, 2, "{state}");
        assert!(answer["states"][0]["error"]["message"].as_str().unwrap().contains(says), "{answer}");
    }
}

#[test]
fn a_redundant_robot_moves_with_its_open_joint_at_rest() {
    let robot = repository(REDUNDANT);
    let pose = ["kinematics", &robot, "--pose", "x=0,y=0,phi=0.1", "--joints", "q1s=0.05"];
    let answer = json(&[&pose[..], &["--twist", "x=0.1,phi=0.5", "--matrices", "--json"]].concat());
    let mode = &answer["working_modes"][0];
    assert_eq!(mode["redundancy"], "kinematic");
    let names = answer["active_joints"].as_array().unwrap();
    let slide = names.iter().position(|n| n == "1s").unwrap();
    let qd = numbers(&mode["active"]["qd"]);
    assert_eq!(qd[slide], 0.0);
    let A_r = rows(&mode["matrices"]["A_r"]);
    let B = rows(&mode["matrices"]["B"]);
    let left = sum(&apply(&A_r, &numbers(&answer["twist"])), &apply(&B, &qd));
    close(&left, &[0.0; 3], 1e-10, "A_r t_r + B qd_a = 0");
}

/// A joint that follows from the pose is refused beside a twist as it is without one.
#[test]
fn joints_that_follow_are_refused_beside_a_twist() {
    let pose = ["kinematics", "five-bar", "--pose", "x=0.05,y=0.25", "--joints", "q11=1"];
    for more in [&[][..], &["--twist", "x=1"], &["--matrices"]] {
        let (_, err, status) = run(&[&pose[..], more].concat());
        assert!(status == 2 && err.contains("q11 follows from the pose"), "{more:?}: {err}");
    }
}

/// Where an open joint was taken is told beside a twist too.
#[test]
fn a_joint_that_nothing_gives_is_told_beside_a_twist() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(repository(REDUNDANT)).unwrap();
    let silent = file(folder.path(), "r.toml", &text.replace("near = { \"1s\" = 0.05 }\n", ""));
    let answer = json(&["kinematics", &silent, "--pose", "x=0,y=0,phi=0.1", "--twist", "x=1", "--json"]);
    assert_eq!(answer["assumed"], serde_json::json!({ "1s": 0.0 }));
}

/// A component with a unit that it cannot have is a wrong question.
#[test]
fn units_of_a_twist_are_looked_at() {
    for twist in ["x=2 kg", "x=30deg"] {
        let (_, err, status) = run(&["kinematics", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", twist]);
        assert_eq!(status, 2, "{twist}: {err}");
    }
}
