//! `codegen` from the command line.

use crate::common::{document, json, run};
use serde_json::Value;

#[test]
fn files_are_written_and_named_in_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/out");
    let out = out.to_str().unwrap();
    for (lang, files) in [("c", 3), ("c4", 3), ("rust", 3), ("python", 2), ("matlab", 2), ("cuda", 2)] {
        let answer = json(&["codegen", "five-bar", "--model", "idm", "--lang", lang, "-o", out, "--json"]);
        let list = answer["files"].as_array().unwrap();
        assert_eq!(list.len(), files, "{lang}");
        for file in list {
            let text = std::fs::read_to_string(file.as_str().unwrap()).unwrap();
            assert!(!text.is_empty(), "{file}");
        }
        assert_eq!((&answer["robot"], &answer["model"]), (&Value::from("five-bar"), &Value::from("idm")));
        assert_eq!(answer["working_mode"], "+-");
    }
    let text = std::fs::read_to_string(format!("{out}/five_bar_idm.c")).unwrap();
    let first: Vec<&str> = text.lines().take(6).collect();
    assert!(first.join("\n").contains("operations: ") && first.join("\n").contains("five-bar"), "{first:?}");
    let (words, _, status) = run(&["codegen", "five-bar", "--model", "idm", "-o", out]);
    assert!(status == 0 && words.contains("five_bar_idm.h"), "{words}");
}

#[test]
fn counts_fall_from_stage_to_stage() {
    let answer = json(&["codegen", "3-rpr", "--model", "idm", "--count", "--json"]);
    let sums: Vec<u64> = answer["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| {
            let c = s.as_object().unwrap().values().next().unwrap();
            c["add"].as_u64().unwrap() + c["mul"].as_u64().unwrap()
        })
        .collect();
    assert!(sums.len() == 4 && sums.windows(2).all(|w| w[0] > w[1]), "{sums:?}");
    assert_eq!(sums[3], answer["operations"]["add"].as_u64().unwrap() + answer["operations"]["mul"].as_u64().unwrap());
    let (words, _, status) = run(&["codegen", "3-rpr", "--model", "idm", "--count"]);
    assert!(status == 0 && words.contains("nothing shared"), "{words}");
}

#[test]
fn options_change_the_signature() {
    let answer = json(&["codegen", "five-bar", "--model", "idm", "--count", "--symbolic", "m4,d11", "--json"]);
    assert_eq!(answer["inputs"][3]["entries"], serde_json::json!(["d11", "m4"]));
    let answer =
        json(&["codegen", "five-bar", "--model", "igm", "--count", "--derivatives", "x", "--margins", "--json"]);
    assert_eq!(answer["outputs"][2]["name"], "derivatives");
    assert_eq!(answer["outputs"][3]["entries"].as_array().unwrap().len(), 2);
    let answer = json(&["codegen", "3-rpr", "--model", "idm", "--count", "--inputs", "payload, wrench", "--json"]);
    assert_eq!(answer["inputs"][3]["entries"].as_array().unwrap().len(), 10);
    assert_eq!(answer["inputs"][4]["entries"], serde_json::json!(["fx", "fy", "mz"]));
    let quaternion = ["codegen", "gough-stewart", "--model", "igm", "--count", "--orientation", "quaternion", "--json"];
    assert_eq!(json(&quaternion)["inputs"][0]["entries"][3], "qw");
    let other = json(&["codegen", "five-bar", "--model", "igm", "--count", "--mode=--", "--json"]);
    assert_eq!(other["working_mode"], "--");
}

#[test]
fn efforts_are_written_on_dynamic_parameters() {
    let ask = |model: &str, more: &[&str]| {
        json(&[&["codegen", "five-bar", "--model", model, "--count", "--json"], more].concat())
    };
    let idm = ask("idm", &["--parameters", "base"]);
    assert_eq!(
        (&idm["inputs"][3]["name"], idm["inputs"][3]["entries"].as_array().unwrap().len()),
        (&Value::from("chi"), 7)
    );
    assert_eq!(
        ask("idm", &["--parameters", "base", "--friction"])["inputs"][3]["entries"].as_array().unwrap().len(),
        17
    );
    let columns = |more: &[&str]| ask("regressor", more)["outputs"][0]["entries"].as_array().unwrap().len() / 2;
    assert_eq!([columns(&[]), columns(&["--friction"]), columns(&["--parameters", "standard"])], [7, 17, 43]);
    for (model, which, wanted) in [("ddm", "base", "leave out `--parameters`"), ("idm", "all", "no `all`")] {
        let (_, err, status) = run(&["codegen", "five-bar", "--model", model, "--count", "--parameters", which]);
        assert!(status == 2 && err.contains(wanted), "{err}");
    }
}

#[test]
fn wrong_questions_are_refused() {
    for (arguments, says) in [
        (&["codegen", "five-bar", "--model", "idm"][..], "--output"),
        (&["codegen", "five-bar", "--model", "imd", "--count"], "did you mean `idm`"),
        (&["codegen", "five-bar", "--model", "idm", "--lang", "pyton", "--count"], "did you mean `python`"),
        (&["codegen", "five-bar", "--model", "idm", "--symbolic", "nix", "--count"], "no parameter `nix`"),
        (&["codegen", "five-bar", "--model", "idm", "--derivatives", "nix", "--count"], "no input `nix`"),
        (&["codegen", "five-bar", "--model", "idm", "--solve", "lu", "--count"], "no `lu`"),
        (&["codegen", "five-bar", "--model", "idm", "--mode=all", "--count"], "one working mode"),
        (&["codegen", "five-bar", "--model", "idm", "--inputs", "paylod", "--count"], "did you mean `payload`"),
        (&["codegen", "five-bar", "--model", "igm", "--inputs", "wrench", "--count"], "models idm, ddm and inertia"),
        (&["codegen", "delta", "--model", "igm", "--orientation", "quaternion", "--count"], "six freedoms"),
        (&["codegen", "delta", "--model", "igm", "--precision", "f16", "--count"], "no `f16`"),
    ] {
        let (_, err, status) = run(arguments);
        assert!(status == 2 && err.contains(says), "{arguments:?}: {status} {err}");
    }
    let (answer, status) =
        document(&["codegen", "five-bar", "--model", "idm", "--symbolic", "nix", "--count", "--json"]);
    assert_eq!((status, &answer["error"]["kind"]), (2, &Value::from("unknown-parameter")));
    let text = std::fs::read_to_string(crate::common::repository("crates/gough/tests/robots/3-prs.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = crate::common::file(folder.path(), "3-prs.toml", &text);
    let (answer, status) = document(&["codegen", &path, "--model", "idm", "--count", "--json"]);
    assert_eq!((status, &answer["error"]["kind"]), (1, &Value::from("no-closed-form")));
}

#[test]
fn mass_and_stiffness_come_with_the_published_count() {
    let answer = json(&["codegen", "navaro", "--model", "mass-stiffness", "--count", "--json"]);
    assert_eq!((&answer["published"]["add"], &answer["published"]["mul"]), (&Value::from(36183), &Value::from(37341)));
    assert_eq!((&answer["coordinates"], &answer["outputs"][1]["name"]), (&Value::from("nodal"), &Value::from("K")));
    let (words, _, status) = run(&["codegen", "navaro", "--model", "mass-stiffness", "--count"]);
    assert!(status == 0 && words.contains("21383 variables"), "{words}");
    let (answer, status) = document(&["codegen", "delta", "--model", "mass-stiffness", "--count", "--json"]);
    assert_eq!((answer["error"]["kind"].as_str(), status), (Some("nothing-flexible"), 2), "{answer}");
    let (_, words, status) =
        run(&["codegen", "navaro", "--model", "mass-stiffness", "--coordinates", "nodl", "--count"]);
    assert!(status == 2 && words.contains("did you mean `nodal`"), "{words}");
}
