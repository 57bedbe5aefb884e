//! `gough parameters`, `gough identify` and overlays, as their users call them.
use crate::common::{file, json, run};

#[test]
fn base_parameters_are_told() {
    let found = json(&["parameters", "five-bar", "--without-friction", "--json"]);
    assert_eq!(found["base_count"], 7);
    assert_eq!(found["base"].as_array().unwrap().len(), 7);
    let zz22 = found["base"].as_array().unwrap().iter().find(|b| b["name"] == "zz22R").unwrap();
    assert_eq!(zz22["group"], "zz22 - d23 mx22");
    assert!(found["no_effect"].as_array().unwrap().iter().any(|n| n == "m11"));
    let (text, _, status) = run(&["parameters", "five-bar"]);
    assert!(status == 0 && text.contains("17 base parameters"), "{text}");
}

#[test]
fn the_regressor_times_the_parameters_is_the_effort() {
    let state = ["--pose", "x=0.03,y=0.28", "--twist", "x=0.4,y=-0.3", "--acceleration", "x=3,y=5", "--json"];
    let ask = |head: &[&str]| json(&[head, &state].concat());
    let found = ask(&["parameters", "five-bar", "--regressor"]);
    let wanted = ask(&["idm", "five-bar"]);
    let list = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let values = list(&found["values"]);
    for (row, tau) in found["regressor"].as_array().unwrap().iter().zip(list(&wanted["efforts_with_friction"])) {
        let sum: f64 = list(row).iter().zip(&values).map(|(a, b)| a * b).sum();
        assert!((sum - tau).abs() < 1e-11 * tau.abs(), "{sum} {tau}");
    }
}

#[test]
fn groups_do_not_depend_on_the_seed_and_friction_has_its_width() {
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("answer.json").to_str().unwrap().to_owned();
    let ask = |seed: &str| {
        let (out, err, status) = run(&["parameters", "five-bar", "--seed", seed, "--json", "--output", &answer]);
        assert!(status == 0 && out.is_empty(), "{err}");
        serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(&answer).unwrap()).unwrap()
    };
    let groups = |found: &serde_json::Value| {
        found["base"].as_array().unwrap().iter().map(|b| b["group"].clone()).collect::<Vec<_>>()
    };
    let (one, other) = (ask("1"), ask("2"));
    assert_eq!(groups(&one), groups(&other));
    assert_ne!(one["smallest_kept"], other["smallest_kept"], "the states are others");
    let column = |width: &[&str]| {
        let state = ["parameters", "five-bar", "--regressor", "--pose", "x=0.03,y=0.28", "--twist", "x=0.4", "--json"];
        let found = json(&[&state, width].concat());
        let names = found["columns"].as_array().unwrap();
        let place = names.iter().position(|n| n == "fs11").unwrap();
        found["regressor"][0][place].as_f64().unwrap()
    };
    assert!((column(&[]).abs() - 1.0).abs() < 1e-9 && column(&["--friction-width", "5"]).abs() < 0.9);
    let (_, err, status) = run(&["parameters", "five-bar", "--regressor", "--pose", "x=0", "--friction-width", "-1"]);
    assert!(status == 2 && err.contains("positive"), "{err}");
}

#[test]
fn overlays_change_what_they_name_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let over = |text: &str| file(folder.path(), "over.toml", text);
    let good = over(
        "extends = \"five-bar\"\n[body.\"12\"]\nmass = 0.2\n[drive.\"q11\"]\nrotor_inertia = 0.01\n[joint.\"q12\"]\nfriction = { viscous = 0.3 }\n",
    );
    let found = json(&["parameters", &good, "--json"]);
    let value = |name: &str| {
        let all = found["standard"].as_array().unwrap();
        all.iter().find(|p| p["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    assert!((value("m12") - 0.2).abs() < 1e-12 && (value("Ia11") - 0.01).abs() < 1e-12);
    assert!(
        (value("fv12") - 0.3).abs() < 1e-12
            && (value("fv11") - 6.76).abs() < 1e-12
            && (value("m22") - 0.1).abs() < 1e-12
    );
    for (text, wanted) in [
        ("extends = \"five-bar\"\n[body.\"13\"]\nmass = 1\n", "no body named `13`"),
        ("extends = \"five-bar\"\n[drive.\"q12\"]\nrotor_inertia = 1\n", "joint 12 has no drive"),
        ("extends = \"five-bar\"\n[parameters]\nd99 = 1\n", "d99"),
        ("extends = \"../robot.toml\"\n", "not below the folder of the robot file"),
        ("extends = \"none.toml\"\n", "none.toml"),
        ("extends = \"five-bar\"\n[body.\"12\"]\nmass = -1\ngrouped = false\n", "mass"),
    ] {
        let (_, err, status) = run(&["check", &over(text)]);
        assert!(status == 2 && err.contains(wanted), "{text}: {err}");
    }
}

#[test]
fn records_without_columns_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = |text: &str| file(folder.path(), "run.csv", text);
    for (text, wanted) in [
        ("t,q11,tau_11,tau_21\n0,1,2,3\n1,1,2,3\n", "q21"),
        ("t,q11,q21,tau_11\n0,1,2,3\n1,1,2,3\n", "tau_21"),
        ("t,tau_11,tau_21\n0,2,3\n1,2,3\n", "no positions"),
        ("t,q11,q21,tau_11,tau_21\n0,1,2,3,nan\n1,1,2,3,4\n", "line 2"),
        ("t,q11,q21,tau_11,tau_21\n0,1,2,3,3\n0.001,1,2,3,4\n", "needed"),
    ] {
        let (_, err, status) = run(&["identify", "five-bar", "--data", &data(text)]);
        assert!(status == 2 && err.contains(wanted), "{text}: {err}");
    }
    let (_, err, status) = run(&["identify", "five-bar"]);
    assert!(status == 2 && err.contains("--excite"), "{err}");
}
