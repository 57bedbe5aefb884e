//! Where answers and failures go.

#[allow(dead_code)]
use crate::common::{document, file, repository, run};
use serde_json::Value;

#[test]
fn answers_to_a_file_are_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer.json");
    let (out, err, status) = run(&["check", "delta", "--json", "-o", path.to_str().unwrap()]);
    assert_eq!((out.as_str(), status), ("", 0), "{err}");
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(answer["mobility"], 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    let (_, err, status) = run(&["check", "delta", "-o", "/dev/null/answer"]);
    assert!(status == 2 && err.contains("cannot write"));
}

#[test]
fn every_failure_is_a_document_too() {
    for (arguments, status, robot, kind, says) in [
        (&["kinematics", "five-bar", "--pose", "x=5,y=0"][..], 1, "five-bar", "out-of-reach", "out of reach"),
        (&["kinematics", "five-bar", "--joints", "q11=180deg,q21=0"], 1, "five-bar", "no-assembly", "assembled"),
        (&["kinematics", "five-bar", "--pose", "x=5,z=0"], 2, "five-bar", "usage", "y missing"),
        (&["kinematics", "five-bar", "--pose", "x=0,y=0.3", "--mode=zz"], 2, "five-bar", "unknown-mode", "`zz`"),
        (&["kinematics", "five-bar", "--states", "/dev/null/states.json"], 2, "five-bar", "usage", "cannot read"),
        (&["kinematics", "five-bar"], 2, "", "usage", "required arguments"),
        (&["check", "nosuch"], 2, "", "usage", "`nosuch`"),
        (&["check", "five-bar", "--set", "l"], 2, "", "usage", "NAME=VALUE"),
        (&["check", "five-bar", "-o", "/dev/null/answer"], 2, "five-bar", "output", "cannot write"),
        (&["robots", "--show", "nosuch"], 2, "", "usage", "`nosuch`"),
        (&["nosuch"], 2, "", "usage", "unrecognized subcommand"),
    ] {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let (answer, found) = document(&arguments);
        assert_eq!(found, status, "{arguments:?}");
        assert_eq!(answer["error"]["kind"], kind, "{arguments:?}");
        assert_eq!(answer.get("robot").map_or("", |r| r.as_str().unwrap()), robot, "{arguments:?}");
        let message = answer["error"]["message"].as_str().unwrap();
        let (_, err, _) = run(&arguments);
        assert!(message.contains(says), "{arguments:?}: {message}");
        assert!(err.contains(message.lines().next().unwrap()), "{arguments:?}: {err}");
    }
}

#[test]
fn faults_go_where_the_answer_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer.json");
    let broken = repository("crates/gough-cli/tests/broken.toml");
    let (out, err, status) = run(&["check", &broken, "--json", "-o", path.to_str().unwrap()]);
    assert_eq!((out.as_str(), status), ("", 2));
    assert!(err.contains("3 faults in"), "{err}");
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(answer["faults"].as_array().unwrap().len(), 3);
    assert_eq!(answer["error"]["kind"], "bad-robot");
}

#[test]
fn an_answer_never_overwrites_what_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _, _) = run(&["robots", "--show", "five-bar"]);
    let robot = file(folder.path(), "m.toml", &text);
    let states = file(folder.path(), "s.csv", "x,y\n0.05,0.25\n");
    for (arguments, path) in [
        (&["check", &robot, "-o", &robot][..], &robot),
        (&["check", &robot, "--json", "-o", &robot], &robot),
        (&["check", &robot, "--json", "--set", "l", "-o", &robot], &robot),
        (&["kinematics", &robot, "--states", &states, "--json", "-o", &states], &states),
    ] {
        let before = std::fs::read_to_string(path).unwrap();
        let (out, err, status) = run(arguments);
        assert!(status == 2 && err.contains("would overwrite"), "{arguments:?}: {err}");
        assert_eq!(out.contains("would overwrite"), arguments.contains(&"--json"));
        assert_eq!(std::fs::read_to_string(path).unwrap(), before, "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_pipes_stay_pipes() {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str| run(&["check", "delta", "-o", at(name).to_str().unwrap()]);

    file(folder.path(), "target", "old");
    std::fs::set_permissions(at("target"), std::fs::Permissions::from_mode(0o600)).unwrap();
    for (link, to) in [("link", "target"), ("dangling", "later")] {
        symlink(to, at(link)).unwrap();
        assert_eq!(write(link).2, 0);
        assert!(at(link).is_symlink(), "{link} is still a link");
        assert!(std::fs::read_to_string(at(to)).unwrap().starts_with("delta"));
    }
    assert_eq!(std::fs::metadata(at("target")).unwrap().permissions().mode() & 0o777, 0o600);

    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let pipe = at("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    assert_eq!(write("pipe").2, 0);
    assert!(std::fs::metadata(at("pipe")).unwrap().file_type().is_fifo());
    assert!(reader.join().unwrap().starts_with("delta"));
    let (_, err, status) = write(".");
    assert!(status == 2 && err.contains("cannot write"), "a folder is no file: {err}");
}
