//! The commands as people and programs use them.

#[allow(dead_code)]
use crate::common::{json, repository, run};
use serde_json::Value;

#[test]
fn texts_stay_as_they_are() {
    for (name, arguments) in [
        ("robots", &["robots"][..]),
        ("check-five-bar", &["check", "five-bar"]),
        ("check-tripteron", &["check", "tripteron"]),
        ("check-heli4", &["check", "heli4"]),
        ("kinematics-pose", &["kinematics", "five-bar", "--pose", "x=0.05,y=0.25"]),
        ("kinematics-joints", &["kinematics", "3-rpr", "--joints", "q12=0.4,q22=0.35,q32=370 mm"]),
    ] {
        let (out, err, status) = run(arguments);
        assert_eq!(status, 0, "{name}: {err}");
        insta::assert_snapshot!(name, rounding_removed(&out));
    }
}

/// Residuals are rounding: their digits differ from machine to machine.
fn rounding_removed(text: &str) -> String {
    let lines = text.lines().map(|l| match l.find("loops closed to") {
        Some(at) => format!("{}loops closed", &l[..at]),
        None => l.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn faults_are_shown_with_their_lines() {
    let (out, err, status) = run(&["check", &repository("crates/gough-cli/tests/broken.toml")]);
    assert_eq!((status, out.as_str()), (2, ""));
    insta::assert_snapshot!("broken", err.replace(&repository(""), ""));
    let (out, _, status) = run(&["check", &repository("crates/gough-cli/tests/broken.toml"), "--json"]);
    assert_eq!(status, 2);
    let answer: Value = serde_json::from_str(&out).unwrap();
    let faults = answer["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 3);
    assert_eq!(faults[0]["code"], "unknown-key");
    assert_eq!(faults[0]["line"], 3);
    assert_eq!(faults[0]["suggestion"], "did you mean `name`?");
}

#[test]
fn states_of_the_reference_files_come_back() {
    for name in ["five-bar", "3-rpr", "orthoglide", "gough-stewart", "dualv", "tripteron"] {
        let file = repository(&format!("robots/{name}/reference.json"));
        let answer = json(&["kinematics", name, "--states", &file, "--json"]);
        let wanted: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(answer["robot"], name);
        assert_eq!(answer["active_joints"], wanted["active_joints"]);
        assert_eq!(answer["passive_joints"], wanted["passive_joints"]);
        let (found, wanted) = (answer["states"].as_array().unwrap(), wanted["states"].as_array().unwrap());
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            for part in ["active", "passive"] {
                for (x, y) in a[part]["q"].as_array().unwrap().iter().zip(b[part]["q"].as_array().unwrap()) {
                    assert!((x.as_f64().unwrap() - y.as_f64().unwrap()).abs() < 1e-10, "{name} {part}");
                }
            }
        }
    }
}

#[test]
fn a_state_without_an_answer_leaves_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("a.json", r#"[{"pose": {"p": [0.05, 0.25, 0]}}, {"pose": {"p": [5, 5, 0]}}, {"twist": [0, 0]}]"#),
        ("a.jsonl", "{\"pose\": {\"p\": [0.05, 0.25, 0]}}\n\n{\"pose\": {\"p\": [5, 5, 0]}}\n{\"twist\": [0, 0]}\n"),
        ("a.csv", "x, y\n0.05, 0.25\n5, 5\n"),
    ] {
        let path = folder.path().join(file);
        std::fs::write(&path, text).unwrap();
        let answer = json(&["kinematics", "five-bar", "--states", path.to_str().unwrap(), "--json"]);
        let states = answer["states"].as_array().unwrap();
        assert!((states[0]["active"]["q"][0].as_f64().unwrap() - 1.543_105_763_9).abs() < 1e-9, "{file}");
        assert_eq!(states[0]["working_mode"], "+-");
        assert_eq!(states[1]["error"]["kind"], "out-of-reach", "{file}");
        if let Some(third) = states.get(2) {
            assert_eq!(third["error"]["kind"], "not-a-pose");
        }
    }
    let (_, err, status) = run(&["kinematics", "five-bar", "--states", "/dev/null/states.json"]);
    assert!(status == 2 && err.contains("cannot read"));
}

#[test]
fn exit_status_tells_no_from_wrong() {
    for (arguments, status, says) in [
        (&["kinematics", "five-bar", "--pose", "x=0.9,y=0.25"][..], 1, "out of reach of leg 2 by 3.9926e-1 m"),
        (&["kinematics", "five-bar", "--joints", "q11=3.1,q21=0"], 1, "cannot be assembled"),
        (&["kinematics", "gough-stewart", "--pose", "x=0.25,y=0.43,z=0.2"], 1, "outside its range"),
        (&["kinematics", "five-bar", "--pose", "x=0.1,z=0"], 2, "y missing"),
        (&["kinematics", "five-bar", "--pose", "x=0.1,y=2 kg"], 2, "y is a length"),
        (&["kinematics", "five-bar", "--pose", "x=0.1,w=2"], 2, "no platform coordinate `w`"),
        (&["kinematics", "five-bar", "--pose", "x=0.1,y=0.2", "--mode=+"], 2, "no working mode"),
        (&["kinematics", "five-bar", "--joints", "q11=1"], 2, "q21 is missing"),
        (&["kinematics", "five-bar", "--joints", "q11=1,q12=1"], 2, "q12 is passive"),
        (&["kinematics", "five-bar", "--joints", "q11=1,q31=1"], 2, "did you mean"),
        (&["kinematics", "orthoglide", "--pose", "x=0,y=0,z=0.3,roll=0.1"], 2, "cannot move in roll"),
        (&["kinematics", "five-bar"], 2, "required"),
        (&["check", "five-barr"], 2, "did you mean `five-bar`?"),
        (&["check", "five-bar", "--set", "l=2"], 2, "no parameter `l`"),
        (&["check", "five-bar", "--set", "l"], 2, "NAME=VALUE"),
        (&["check", "navaro", "--actuation", "nosuch"], 2, "the sets of the file are links-1, links-2"),
        (&["check", "delta", "--actuation", "nosuch"], 2, "the file has no [actuation]"),
        (&["kinematics", "gough-stewart", "--pose", "x=0,y=0,z=1e308"], 2, "beyond any robot"),
        (&["kinematics", "gough-stewart", "--pose", "x=0,y=0,z=1e9"], 1, "outside its range"),
        (&["kinematics", "five-bar", "--pose", "x=0.9,y=0.25", "--mode=++"], 1, "try another working mode"),
    ] {
        let (_, err, found) = run(arguments);
        assert_eq!(found, status, "{arguments:?}: {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
}

#[test]
fn parameters_modes_and_drives_can_be_chosen() {
    let longer = json(&["check", "five-bar", "--set", "d12=0.22", "--set", "d22=220 mm", "--json"]);
    assert_eq!(longer["parameters"][2]["value"], 0.22);
    let one = json(&["kinematics", "five-bar", "--pose", "x=0.05,y=0.25", "--mode=-+", "--json"]);
    assert_eq!(one["working_modes"].as_array().unwrap().len(), 1);
    assert_eq!(one["working_modes"][0]["name"], "-+");
    let other = json(&["check", "navaro", "--actuation", "links-2", "--json"]);
    assert_eq!(other["active"], serde_json::json!(["12", "22", "32"]));
}

#[test]
fn the_mode_chooses_among_postures_of_given_joints() {
    let tripteron = |mode: &[&str]| {
        let asked = ["kinematics", "tripteron", "--joints", "q11=0.2,q21=0.8,q31=-0.2", "--json"];
        json(&[&asked, mode].concat())["assemblies"].as_array().unwrap().clone()
    };
    assert_eq!(tripteron(&[])[0]["working_mode"], "+++");
    assert_eq!(tripteron(&["--mode=--+"])[0]["working_mode"], "--+");
    assert_eq!([&[][..], &["--mode=--+"], &["--mode", "all"]].map(|m| tripteron(m).len()), [1, 1, 8]);
    let (_, err, status) = run(&["kinematics", "five-bar", "--joints", "q11=1.54,q21=65deg", "--mode=++"]);
    assert!(status == 1 && err.contains("those that exist here: +-"), "{err}");
}

#[test]
fn every_mode_has_its_pose_where_coordinates_follow() {
    let palletizer = repository("crates/gough/tests/robots/palletizer.toml");
    let answer = json(&["kinematics", &palletizer, "--pose", "x=0.514808,y=0.211091", "--json"]);
    let modes = answer["working_modes"].as_array().unwrap();
    let turned = |m: &&Value| m["pose"]["R"][1][0].as_f64().unwrap().abs() > 1e-3;
    assert_eq!((modes.len(), modes.iter().filter(turned).count()), (8, 6));
    assert_eq!(answer["complete"], false);
}

#[test]
fn the_schema_knows_every_key_of_the_shipped_robots() {
    let schema = json(&["schema"]);
    let body = &schema["properties"]["template"]["additionalProperties"]["properties"]["body"]["items"]["properties"];
    for key in ["name", "on", "joint", "mdh", "frame", "drive", "beam", "range", "friction"] {
        assert!(body.get(key).is_some(), "{key}");
    }
    let (page, _, _) = run(&["schema", "--markdown"]);
    let kept = std::fs::read_to_string(repository("docs/src/reference/robot-file-tables.md")).unwrap();
    assert_eq!(page, kept, "regenerate with: cargo xtask book");
}

#[test]
fn a_shipped_robot_can_be_copied_and_changed() {
    let (text, _, status) = run(&["robots", "--show", "delta"]);
    assert_eq!(status, 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, text.replace("l2 = \"600 mm\"", "l2 = \"650 mm\"")).unwrap();
    let (out, err, status) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("3 degrees of freedom"));
}

#[test]
fn messages_say_a_thing_once_and_only_what_helps() {
    let (_, err, _) = run(&["kinematics", "five-bar", "--pose", "x=0.9,y=0.25"]);
    assert!(!err.contains("working mode"), "all of them were tried: {err}");
    let folder = tempfile::tempdir().unwrap();
    let (text, _, _) = run(&["robots", "--show", "five-bar"]);
    let robot = crate::common::file(folder.path(), "m.toml", &text.replace("mode = \"+-\"", "mode = \"+-+\""));
    let (_, err, status) = run(&["check", &robot]);
    assert_eq!((err.matches("is no working mode").count(), status), (1, 2), "{err}");
}
