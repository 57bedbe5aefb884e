//! `idm` and `ddm` from the command line.

use crate::common::{document, file, json, repository, run};
use serde_json::Value;
use std::fmt::Write as _;

fn close(found: &Value, wanted: &Value, what: &str) {
    let list = |v: &Value| -> Vec<f64> {
        v.as_array().map_or_else(|| vec![v.as_f64().unwrap()], |l| l.iter().map(|x| x.as_f64().unwrap()).collect())
    };
    let (found, wanted) = (list(found), list(wanted));
    let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (a, b) in found.iter().zip(&wanted) {
        assert!((a - b).abs() < 1e-9 * scale, "{what}: {found:?} {wanted:?}");
    }
}

#[test]
fn states_of_the_reference_files_take_the_efforts_computed_elsewhere() {
    for name in ["gough-stewart", "five-bar", "3-rpr", "orthoglide", "dualv", "tripteron"] {
        let path = repository(&format!("robots/{name}/reference.json"));
        let reference: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let idm = json(&["idm", name, "--states", &path, "--json"]);
        let ddm = json(&["ddm", name, "--states", &path, "--json"]);
        for (i, wanted) in reference["states"].as_array().unwrap().iter().enumerate() {
            for key in ["efforts", "kinetic_energy", "potential_energy", "ground_wrench_on_robot"] {
                close(&idm["states"][i][key], &wanted[key], &format!("{name} {i} {key}"));
            }
            close(&ddm["states"][i]["acceleration"], &wanted["acceleration"], &format!("{name} {i} ddm"));
        }
    }
}

#[test]
fn one_state_from_the_command_line() {
    let state = ["--pose", "x=0.05,y=0.25", "--twist", "x=0.3,y=-0.2"];
    let idm = json(&[&["idm", "five-bar", "--acceleration", "x=1,y=0.5", "--json"][..], &state].concat());
    let efforts: Vec<f64> = idm["efforts"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let given = format!("q11={},q21={}", efforts[0], efforts[1]);
    let ddm = json(&[&["ddm", "five-bar", "--efforts", &given, "--matrices", "--json"][..], &state].concat());
    close(&ddm["acceleration"], &serde_json::json!([1.0, 0.5]), "round trip");
    assert_eq!(ddm["M"].as_array().unwrap().len(), 2);
    let (out, _, status) = run(&[&["idm", "five-bar"][..], &state].concat());
    assert!(status == 0 && out.contains("with friction") && out.contains("ground on robot"), "{out}");
}

#[test]
fn wrong_questions_and_singular_postures_are_refused() {
    for (arguments, code, says) in [
        (&["idm", "five-bar"][..], 2, "--pose"),
        (&["ddm", "five-bar", "--pose", "x=0.05,y=0.25", "--efforts", "q12=1"], 2, "no drive `q12`"),
        (&["ddm", "five-bar", "--pose", "x=0.05,y=0.25", "--efforts", "q11=1 N"], 2, "q11 is a torque"),
        (&["ddm", "five-bar", "--pose", "x=0.05,y=0.25", "--efforts", "q11=1,11=2"], 2, "given twice"),
        (&["idm", "five-bar", "--pose", "x=5,y=5"], 1, "out of reach"),
        (&["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", "x=1e200"], 2, "check the units"),
        (&["ddm", "five-bar", "--pose", "x=0.05,y=0.25", "--efforts", "q11=1e308"], 2, "check the units"),
        (&["kinematics", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", "x=1e200"], 2, "check the units"),
        (&["idm", "five-bar", "--states", "states.csv", "--twist", "x=1"], 2, "cannot be used with"),
        (&["idm", "five-bar", "--states", "states.csv", "--acceleration", "x=1"], 2, "cannot be used with"),
        (&["idm", "five-bar", "--trajectory", "motion.csv", "--twist", "x=1"], 2, "cannot be used with"),
        (&["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--csv", "efforts.csv"], 2, "cannot be used with"),
        (&["ddm", "five-bar", "--states", "states.csv", "--efforts", "q11=1"], 2, "cannot be used with"),
        (&["kinematics", "five-bar", "--states", "states.csv", "--twist", "x=1"], 2, "cannot be used with"),
        (
            &["simulate", "five-bar", "--time", "1", "--efforts", "q11=1", "--gains", "kp=1,kd=1"],
            2,
            "cannot be used with",
        ),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--payload", "com=0:0:1"], 2, "mass is missing"),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--payload", "mass=-1"], 2, "no body has this inertia"),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--payload", "mass=1,com=2"], 2, "three lengths"),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--payload", "weight=1"], 2, "no `weight`"),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--wrench", "mz=1"], 2, "the platform is a point"),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--wrench", "fx=1 m"], 2, "fx is a force"),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--load", "2:fx=1"], 2, "no body `2`"),
        (&["idm", "five-bar", "--pose", "x=0,y=0.2", "--share", "limits"], 2, "no `effort`"),
        (&["idm", "dualv", "--pose", "x=0,y=0,phi=0", "--share", "weights=1:2"], 2, "4 positive weights"),
        (&["idm", "dualv", "--pose", "x=0,y=0,phi=0", "--share", "fair"], 2, "none of shortest"),
        (
            &["idm", "dualv", "--pose", "x=0,y=0,phi=0", "--share", "weights=1:2:1:3", "--derivatives"],
            2,
            "those of the shortest efforts",
        ),
        (&["ddm", "five-bar", "--pose", "x=0,y=0.2", "--friction-width", "-1"], 2, "not a positive rate"),
    ] {
        let (_, err, status) = run(arguments);
        assert!(status == code && err.contains(says), "{arguments:?}: {status} {err}");
    }
    // Distal links aligned: Type 2.
    let height = (0.213_f64.powi(2) - (0.14_f64 - 0.1878).powi(2)).sqrt();
    let (answer, status) = document(&["idm", "five-bar", "--pose", &format!("x=0,y={height}"), "--json"]);
    assert_eq!((status, &answer["error"]["kind"]), (1, &Value::from("type2")), "{answer}");
    let folder = tempfile::tempdir().unwrap();
    let csv = file(folder.path(), "s.csv", "x,y,tau_11\n0.05,0.25,1\n");
    let (_, err, status) = run(&["ddm", "five-bar", "--states", &csv]);
    assert!(status == 2 && err.contains("tau_21 missing"), "{err}");
}

#[test]
fn loads_payloads_and_reactions() {
    let state = ["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", "x=0.3,y=-0.2", "--json"];
    let ask = |more: &[&str]| json(&[&state[..], more].concat());
    let numbers = |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let plain = ask(&[]);
    // 10 N along x help with 3 W.
    let pushed = ask(&["--wrench", "fx=10 N"]);
    let power = |d: &Value| -> f64 {
        numbers(&d["efforts"]).iter().zip(numbers(&d["active"]["qd"])).map(|(tau, rate)| tau * rate).sum()
    };
    assert!((power(&plain) - power(&pushed) - 3.0).abs() < 1e-9);
    // The same on the body that carries the tool, moved there.
    let both = ask(&["--wrench", "fx=10", "--load", "22:fx=-10"]);
    assert!((power(&plain) - power(&both)).abs() > 1e-6); // the body's frame is not at the tool
    // A payload weighs nothing along the plane, and moves.
    let loaded = ask(&["--payload", "mass=500 g"]);
    let more = loaded["kinetic_energy"].as_f64().unwrap() - plain["kinetic_energy"].as_f64().unwrap();
    assert!((more - 0.5 * 0.5 * 0.13).abs() < 1e-12, "{more}");
    let reactions = &ask(&["--reactions"])["reactions"];
    assert_eq!(reactions["joints"].as_array().unwrap().len(), 4);
    assert_eq!(reactions["closures"][0]["closure"], "R (12 - 22)");
    assert_eq!(reactions["determined"], false);
    let (out, _, _) = run(&["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--reactions"]);
    assert!(out.contains("closure, first on second") && out.contains("over-constrained"), "{out}");
}

#[test]
fn redundant_drives_share_and_show_their_internal_load() {
    let state = ["idm", "dualv", "--pose", "x=0.01,y=0.02,phi=0.1", "--acceleration", "x=2,y=1", "--json"];
    let ask = |share: &str| json(&[&state[..], &["--share", share]].concat());
    let efforts =
        |d: &Value| -> Vec<f64> { d["efforts"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let shortest = ask("shortest");
    assert_eq!(shortest["null_space"].as_array().unwrap().len(), 1);
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let weighted = ask("weights=100:1:1:1");
    assert!(efforts(&weighted)[0].abs() < efforts(&shortest)[0].abs());
    assert!(length(&efforts(&weighted)) > length(&efforts(&shortest)));
    assert_eq!(efforts(&ask("limits=-100:100")).len(), 4);
    let refused =
        run(&["idm", "dualv", "--pose", "x=0,y=0,phi=0", "--acceleration", "x=5", "--share", "limits=-1e-9:1e-9"]);
    assert!(refused.2 == 1 && refused.1.contains("within the limits"), "{}", refused.1);
}

#[test]
fn derivatives_and_models() {
    let ddm = json(&[
        "ddm",
        "five-bar",
        "--pose",
        "x=0.05,y=0.25",
        "--efforts",
        "q11=1",
        "--matrices",
        "--derivatives",
        "--json",
    ]);
    // By the efforts: M^-1 J_inv^T, so that one unit more gives the difference.
    let more = json(&["ddm", "five-bar", "--pose", "x=0.05,y=0.25", "--efforts", "q11=2", "--json"]);
    for i in 0..2 {
        let gained = more["acceleration"][i].as_f64().unwrap() - ddm["acceleration"][i].as_f64().unwrap();
        assert!((ddm["derivatives"]["efforts"][i][0].as_f64().unwrap() - gained).abs() < 1e-9 * gained.abs().max(1.0));
    }
    assert_eq!(ddm["M_active"].as_array().unwrap().len(), 2);
    let idm = json(&["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--derivatives", "--json"]);
    assert!(idm["derivatives"]["parameters"]["d12"].is_array(), "{idm}");
    let (out, _, _) = run(&["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--derivatives"]);
    assert!(out.contains("derivatives by parameters"), "{out}");
}

/// Long files are read as they come, and every fault is told with its line.
#[test]
fn long_files_are_answered_in_order() {
    let mut text = String::from("x,y,xd,yd\n");
    for i in 0..5000 {
        let _ = writeln!(text, "{},0.25,0.1,{}", 0.05 * f64::from(i) / 5000.0, f64::from(i) / 5000.0);
    }
    text += "0.05,five,0,0\n";
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "long.csv", &text);
    let (out, err, status) = run(&["idm", "five-bar", "--states", &path, "--json"]);
    assert_eq!(status, 0, "{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    let states = found["states"].as_array().unwrap();
    assert_eq!(states.len(), 5001);
    let alone = json(&["idm", "five-bar", "--pose", "x=0.03,y=0.25", "--twist", "x=0.1,y=0.6", "--json"]);
    close(&states[3000]["efforts"], &alone["efforts"], "state 3001");
    assert!(states[5000].to_string().contains("line 5002"), "{}", states[5000]);
    assert!(err.contains("1 of 5001 states"), "{err}");
}

/// A joint that the pose leaves open stands still unless it is told to move, and the answers say so.
#[test]
fn open_joints_are_told() {
    let robot = repository("crates/gough/tests/robots/redundant.toml");
    let ask = ["idm", &robot, "--pose", "x=0,y=0,phi=0"];
    let still = json(&[&ask[..], &["--json"]].concat());
    assert_eq!(still["held"], serde_json::json!(["1s"]), "{still}");
    let (out, _, _) = run(&ask);
    assert!(out.contains("stands still"), "{out}");
    let moved =
        [&ask[..], &["--joints", "q1s=0.06", "--joint-rates", "q1s=0.3", "--joint-accelerations", "q1s=2"]].concat();
    let moving = json(&[&moved[..], &["--json"]].concat());
    assert!(moving.get("held").is_none() && moving["efforts"] != still["efforts"], "{moving}");
    // The same efforts give the same accelerations.
    let joints: Vec<&str> = moving["active_joints"].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect();
    let efforts: Vec<String> = joints
        .iter()
        .zip(moving["efforts"].as_array().unwrap())
        .map(|(name, x)| format!("q{name}={}", x.as_f64().unwrap()))
        .collect();
    let efforts = efforts.join(",");
    let back = json(&[
        "ddm",
        &robot,
        "--pose",
        "x=0,y=0,phi=0",
        "--joints",
        "q1s=0.06",
        "--joint-rates",
        "q1s=0.3",
        "--efforts",
        &efforts,
        "--json",
    ]);
    let k = joints.iter().position(|n| *n == "1s").unwrap();
    let acceleration = back["active_qdd"][k].as_f64().unwrap();
    assert!((acceleration - 2.0).abs() < 1e-9, "{back}");
    let (_, err, code) = run(&[&ask[..], &["--joint-rates", "q11=1"]].concat());
    assert!(code == 2 && err.contains("leaves open: q1s"), "{err}");
    // Derivatives do not know the motion of open joints.
    let (_, err, code) = run(&[&moved[..], &["--derivatives"]].concat());
    assert!(code == 2 && err.contains("stand still"), "{err}");
    let plain = json(&["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--json"]);
    assert!(plain.get("held").is_none());
}
