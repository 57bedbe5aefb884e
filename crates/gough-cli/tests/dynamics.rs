//! `idm` and `ddm` from the command line.

mod common;

use common::{document, file, json, repository, run};
use serde_json::Value;

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
