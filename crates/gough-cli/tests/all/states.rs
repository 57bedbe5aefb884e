//! Lists of states.

#[allow(dead_code)]
use crate::common::{document, file, json, repository, run};

const REDUNDANT: &str = "crates/gough/tests/robots/redundant.toml";

/// Files that cannot be asked at all: exit 2, nothing answered.
#[test]
fn files_that_contradict_themselves_or_say_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (robot, name, text, says) in [
        ("five-bar", "a.csv", "x,y,x\n0.05,0.25,1\n", "column `x` is there twice"),
        ("five-bar", "a.csv", "x,y,foo\n0.05,0.25,3\n", "column `foo` is not known; there are x, y,"),
        ("five-bar", "a.csv", "x,y,rol\n0.05,0.25,3\n", "column `rol` is not known; did you mean `roll`?"),
        ("five-bar", "a.csv", "x,z\n0.05,0.25\n", "y missing; the coordinates of the platform are x, y, not z"),
        ("five-bar", "a.csv", "x,y,q11\n0.05,0.25,1\n", "column `q11` follows from the pose"),
        ("3-rpr", "a.csv", "x,y,phi,theta\n0,0,0,0\n", "phi and theta are the same coordinate"),
        ("gough-stewart", "a.csv", "x,y,z,qw,qx\n0,0,1,1,0\n", "the quaternion is incomplete: qy, qz missing"),
        ("five-bar", "a.json", "[\n{]", "a.json: line 2, column 2: not JSON: key must be a string\n"),
        ("five-bar", "a.json", "", "no states"),
        ("five-bar", "a.json", "{\"states\": []}", "no states"),
        ("five-bar", "a.jsonl", "\n", "no states"),
        ("five-bar", "a.csv", "", "no states"),
        ("five-bar", "a.csv", "x,y\n", "no states"),
    ] {
        let path = file(folder.path(), name, text);
        let (out, err, status) = run(&["kinematics", robot, "--states", &path]);
        assert_eq!((out.as_str(), status), ("", 2), "{text}: {err}");
        assert!(err.contains(says) && !err.contains("--pose"), "{text}: {err}");
    }
}

/// States that are wrong questions: the others are answered; exit 2 only when there are none.
#[test]
fn a_wrong_question_in_a_list_is_told_from_an_answer_that_is_no() {
    let folder = tempfile::tempdir().unwrap();
    let good = r#"{"pose": {"p": [0.05, 0.25, 0]}}"#;
    for (robot, bad, says) in [
        ("five-bar", "1", "a state is an object with `pose`"),
        ("five-bar", r#"{"twist": [0, 0]}"#, "the state has no `pose`"),
        ("five-bar", r#"{"poze": {"p": [0.05, 0.25, 0]}}"#, "a state has no `poze`; did you mean `pose`?"),
        ("five-bar", r#"{"pose": {"x": 0.05, "y": 0.25}}"#, "`pose` has no `x`; it has `p` = [x, y, z]"),
        ("five-bar", r#"{"pose": {"p": [0.05, 0.25]}}"#, "`pose.p` is not a list of three numbers"),
        ("five-bar", r#"{"pose": {"p": [0.05, 0.25, 0]}, "joints": {"q11": 1}}"#, "q11 follows from the pose"),
        ("3-rpr", r#"{"pose": {"p": [0, 0, 0]}}"#, "`pose` has no orientation"),
        ("3-rpr", r#"{"pose": {"p": [0, 0, 0], "phi": 0, "quaternion": [0, 0, 0, 1]}}"#, "contradict each other"),
        ("gough-stewart", r#"{"pose": {"p": [0, 0, 1], "phi": 0}}"#, "`pose.phi` is the angle of a planar platform"),
        ("gough-stewart", r#"{"pose": {"p": [0, 0, 1], "quaternion": [0, 0, 0, 0]}}"#, "the quaternion is zero"),
        (
            "gough-stewart",
            r#"{"pose": {"p": [0, 0, 1], "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "quaternion": [1, 0, 0, 0]}}"#,
            "`R` and `quaternion` both give the orientation",
        ),
    ] {
        let path = file(folder.path(), "a.json", &format!("[{bad}]"));
        let (answer, status) = document(&["kinematics", robot, "--states", &path, "--json"]);
        assert_eq!(status, 2, "{bad}");
        let message = answer["states"][0]["error"]["message"].as_str().unwrap_or_else(|| panic!("{bad}: {answer}"));
        assert!(message.contains(says), "{bad}: {message}");
        if robot == "five-bar" {
            let path = file(folder.path(), "a.json", &format!("[{bad}, {good}]"));
            let answer = json(&["kinematics", robot, "--states", &path, "--json"]);
            assert!(answer["states"][1].get("error").is_none());
        }
    }
    let lines = "{\"pose\":{\"p\":[0,0.3,0]}}\n\n{\"pose\":{\"p\":[0.05 0.25,0]}}\n";
    let answer = json(&["kinematics", "five-bar", "--states", &file(folder.path(), "a.jsonl", lines), "--json"]);
    let message = &answer["states"][1]["error"]["message"];
    assert_eq!(message, "line 3, column 20: not JSON: expected `,` or `]`");
    assert_eq!(answer["count"], serde_json::json!({ "done": 2, "refused": 1, "of": 2 }));
    let far = file(folder.path(), "far.csv", "x,y\n5,5\n");
    assert_eq!(run(&["kinematics", "five-bar", "--states", &far]).2, 1);
}

#[test]
fn cells_are_numbers_or_quantities() {
    let folder = tempfile::tempdir().unwrap();
    let text = "# a comment\nx,y,t,xd,yd,tau_11,tau_21,wz\n50mm,0.25,0,0,0,0,0,0\nnan,0.25,0,0,0,0,0,0\n\n\
                ,0.25,0,0,0,0,0,0\nl1,0.25,0,0,0,0,0,0\n0.05\n50 kg,0.25,0,0,0,0,0,0\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
        cells_are_read(&file(folder.path(), "a.csv", &text));
    }
}

fn cells_are_read(path: &str) {
    let answer = json(&["kinematics", "five-bar", "--states", path, "--json"]);
    let states = answer["states"].as_array().unwrap();
    assert!((states[0]["active"]["q"][0].as_f64().unwrap() - 1.543_105_763_9).abs() < 1e-9);
    for (state, says) in states[1..].iter().zip([
        "line 4: x is `nan`, not a finite number",
        "line 6: x is empty",
        "line 7: x is `l1`, not a number",
        "line 8: the header has 8 columns, this line 1",
        "line 9: x is a length",
    ]) {
        assert!(state["error"]["message"].as_str().unwrap().starts_with(says), "{state}");
    }
    assert_eq!(states.len(), 6);
}

#[test]
fn joints_of_a_redundant_robot_are_read_from_its_states() {
    let folder = tempfile::tempdir().unwrap();
    let robot = repository(REDUNDANT);
    let pose = ["kinematics", &robot, "--pose", "x=0,y=0,phi=0.1", "--mode=+++", "--json"];
    let one = |slide: &str| json(&[&pose[..], &["--joints", slide]].concat())["working_modes"][0]["active"].clone();
    let wanted = [one("q1s=0.08"), one("q1s=0.05")]; // `near` gives 0.05
    assert_ne!(wanted[0], wanted[1]);
    for (name, text) in [
        ("a.csv", "x,y,phi,q1s\n0,0,0.1,80 mm\n0,0,0.1,0.05\n"),
        (
            "a.json",
            r#"[{"pose": {"p": [0, 0, 0], "phi": 0.1}, "joints": {"q1s": 0.08}},
                       {"pose": {"p": [0, 0, 0], "phi": 0.1}}]"#,
        ),
    ] {
        let path = file(folder.path(), name, text);
        let answer = json(&["kinematics", &robot, "--states", &path, "--json"]);
        for (state, wanted) in answer["states"].as_array().unwrap().iter().zip(&wanted) {
            assert_eq!(state["active"], *wanted, "{name}");
        }
    }
}

#[test]
fn a_joint_that_nothing_gives_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(repository(REDUNDANT)).unwrap();
    let silent = file(folder.path(), "r.toml", &text.replace("near = { \"1s\" = 0.05 }\n", ""));
    let states = file(
        folder.path(),
        "a.json",
        r#"[{"pose": {"p": [0, 0, 0], "phi": 0.1}, "joints": {"1s": "50 mm"}},
                                                  {"pose": {"p": [0, 0, 0], "phi": 0.1}}]"#,
    );
    let pose = "x=0,y=0,phi=0.1";

    let answer = json(&["kinematics", &silent, "--pose", pose, "--json"]);
    assert_eq!(answer["assumed"], serde_json::json!({ "1s": 0.0 }));
    let answer = json(&["kinematics", &silent, "--states", &states, "--json"]);
    assert_eq!(answer["states"][1]["assumed"], serde_json::json!({ "1s": 0.0 }));
    assert!(answer["states"][0].get("assumed").is_none());
    let given = json(&["kinematics", &silent, "--pose", pose, "--joints", "q1s=0.05", "--json"]);
    assert!(given.get("assumed").is_none());
    let near = json(&["kinematics", &repository(REDUNDANT), "--pose", pose, "--json"]);
    assert!(near.get("assumed").is_none());

    let (out, _, _) = run(&["kinematics", &silent, "--pose", pose]);
    assert!(out.contains("q1s = 0.000000000 assumed: neither"), "{out}");
    let (out, _, _) = run(&["kinematics", &silent, "--states", &states]);
    assert!(out.contains("q1s = 0.000000000 assumed in 1 of 2 states"), "{out}");
    let (out, _, _) = run(&["kinematics", &silent, "--pose", pose, "--joints", "q1s=0.05"]);
    assert!(!out.contains("assumed"), "{out}");
}

#[test]
fn singularities_and_tables_say_where_open_joints_were_taken() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(repository(REDUNDANT)).unwrap();
    let silent = file(folder.path(), "r.toml", &text.replace("near = { \"1s\" = 0.05 }\n", ""));
    let at = ["--pose", "x=0,y=0,phi=0.1"];
    let ask = |rest: &[&str]| json(&[&["singularities", &silent, at[0], at[1], "--json"], rest].concat());
    let (assumed, moved) = (ask(&[]), ask(&["--joints", "q1s=0.05"]));
    assert_eq!(assumed["assumed"], serde_json::json!({ "1s": 0.0 }));
    assert!(moved.get("assumed").is_none());
    assert_ne!(assumed["singularities"], moved["singularities"]);
    let near = json(&["singularities", &repository(REDUNDANT), at[0], at[1], "--json"]);
    assert_eq!(moved["singularities"], near["singularities"]);
    let (_, err, status) = run(&["singularities", &silent, at[0], at[1], "--joints", "q21=0.05"]);
    assert!(status == 2 && err.contains("q1s"), "{err}");

    let states = file(folder.path(), "a.csv", "x,y,phi\n0,0,0.1\n0.01,0,0.1\n");
    for command in ["kinematics", "idm"] {
        let table = folder.path().join("answer.csv");
        let (_, err, status) = run(&[command, &silent, "--states", &states, "-o", table.to_str().unwrap()]);
        assert!(status == 0 && err.contains("q1s = 0.000000000 assumed in 2 of 2 states"), "{command}: {status} {err}");
    }
}

#[test]
fn the_text_names_the_working_mode() {
    let folder = tempfile::tempdir().unwrap();
    let states = file(folder.path(), "a.csv", "x,y\n0.05,0.25\n");
    let (out, _, _) = run(&["kinematics", "five-bar", "--states", &states, "--mode=-+"]);
    assert!(out.starts_with("five-bar in working mode -+\n"), "{out}");
}

#[test]
fn rounding_is_printed_as_zero_and_kept_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let states = file(folder.path(), "a.csv", "x,y,z\n0,0,-0.6\n");
    for arguments in [&["--states", &states][..], &["--pose", "x=0,y=1e-27,z=-0.6"]] {
        let (out, err, status) = run(&[&["kinematics", "delta"], arguments].concat());
        assert_eq!(status, 0, "{err}");
        let out: String = out.lines().filter(|l| !l.starts_with("loops closed")).collect::<Vec<_>>().join("\n");
        let tiny = out.split_whitespace().find(|w| w.parse().is_ok_and(|x: f64| x != 0.0 && x.abs() < 1e-12));
        assert!(tiny.is_none() && !out.contains("-0.000000000"), "{out}");
    }
    let answer = json(&["kinematics", "delta", "--pose", "x=0,y=1e-27,z=-0.6", "--json"]);
    assert_eq!(answer["pose"]["p"][1], 1e-27);
}
