//! What a new user stumbles over: coordinates left out, units, names, options that go nowhere, and what an answer leaves out.

use crate::common::{file, json, repository, run};
use serde_json::Value;

#[test]
fn coordinates_left_out_are_those_of_home_and_the_answer_says_so() {
    let home = json(&["check", "3-rpr", "--json"])["home"]["pose"]["phi"].as_f64().unwrap();
    for command in ["kinematics", "idm", "ddm", "singularities"] {
        let short = json(&[command, "3-rpr", "--pose", "x=0.01,y=0.02", "--json"]);
        let full = json(&[command, "3-rpr", "--pose", &format!("x=0.01,y=0.02,phi={home}"), "--json"]);
        assert_eq!(short["from_home"]["phi"], home, "{command}");
        let off = (short["pose"]["R"][0][0].as_f64().unwrap() - full["pose"]["R"][0][0].as_f64().unwrap()).abs();
        assert!(off < 1e-12 && full.get("from_home").is_none(), "{command}");
        assert!((short["pose"]["phi"].as_f64().unwrap() - home).abs() < 1e-12, "planar poses have phi");
    }
    let (out, _, _) = run(&["kinematics", "3-rpr", "--pose", "x=0.01"]);
    assert!(out.ends_with("y, phi as at home: --pose leaves it out\n"), "{out}");
    let ways = json(&["simulate", "five-bar", "--time", "0.01", "--from", "x=0.05", "--json"]);
    assert!(ways["from_home"]["y"].is_number());
}

#[test]
fn degrees_are_for_people() {
    let pose = ["kinematics", "3-rpr", "--pose", "x=0,y=0,phi=30deg"];
    let (out, _, _) = run(&[&pose[..], &["--degrees"]].concat());
    assert!(out.contains("phi = 30.000000000") && out.contains("angles in deg"), "{out}");
    let (out, _, _) = run(&pose);
    assert!(out.contains("phi = 0.523598776") && out.contains("angles in rad"), "{out}");
    let (_, err, status) = run(&[&pose[..], &["--degrees", "--json"]].concat());
    assert!(status == 2 && err.contains("--degrees"), "{err}");
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("p.svg").display().to_string();
    let region = ["map", "3-rpr", "--quantity", "reachable", "--region", "phi=-1:1:3", "--plot", &plot, "--degrees"];
    assert_eq!(run(&region).2, 0);
    assert!(std::fs::read_to_string(&plot).unwrap().contains("phi (deg)"));
}

#[test]
fn the_mode_of_the_file_comes_first_and_long_lists_end_at_a_screen() {
    let robot = ["kinematics", "gough-stewart", "--pose", "z=1"];
    let all = json(&[&robot[..], &["--json"]].concat());
    assert_eq!(all["working_modes"][0]["name"], all["working_mode"]);
    let delta = ["kinematics", "delta", "--pose", "x=0,y=0,z=-0.6"];
    let (out, _, _) = run(&[&delta[..], &["--modes", "2"]].concat());
    assert!(out.contains("the first 2 are shown; --modes all shows the rest"), "{out}");
    let (out, _, _) = run(&[&delta[..], &["--modes", "all"]].concat());
    assert!(!out.contains("shows the rest"), "{out}");
    let (_, err, status) = run(&[&delta[..], &["--modes", "0"]].concat());
    assert!(status == 2 && err.contains("--modes takes a number above zero"), "{err}");
}

/// The keys of an answer, nested.
fn keys(value: &Value) -> Vec<String> {
    let own = |(k, v): (&String, &Value)| {
        let inner = if v.is_object() { keys(v).into_iter().map(|i| format!("{k}.{i}")).collect() } else { Vec::new() };
        [vec![k.clone()], inner].concat()
    };
    value.as_object().map(|map| map.iter().flat_map(own).collect()).unwrap_or_default()
}

#[test]
fn one_answer_has_the_keys_of_the_same_answer_in_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let states = file(folder.path(), "s.csv", "x,y,xd,yd\n0.05,0.25,0.1,0\n");
    let plain = file(folder.path(), "p.csv", "x,y\n0.05,0.25\n");
    for (command, states, more) in [
        ("idm", &states, &["--twist", "x=0.1"][..]),
        ("ddm", &states, &["--twist", "x=0.1"]),
        ("kinematics", &states, &["--twist", "x=0.1"]),
        ("kinematics", &plain, &[]),
    ] {
        let one = json(&[&[command, "five-bar", "--pose", "x=0.05,y=0.25", "--json"], more].concat());
        let batch = json(&[command, "five-bar", "--states", states, "--json"]);
        let found = keys(&one);
        let state = keys(&batch["states"][0]);
        let head = keys(&batch)
            .into_iter()
            .filter(|k| !["states", "count", "complete"].contains(&k.split('.').next().unwrap()));
        for key in state.into_iter().chain(head) {
            assert!(found.contains(&key), "{command}: `{key}` is only in the batch");
        }
        let same = |part: &str| assert_eq!(one[part], batch["states"][0][part], "{command} {part}");
        ["pose", "active", "efforts", "acceleration"]
            .iter()
            .filter(|p| batch["states"][0].get(**p).is_some())
            .for_each(|p| same(p));
    }
}

#[test]
fn what_an_answer_leaves_out_is_told() {
    for (arguments, what) in [
        (&["idm", "navaro", "--rigid", "--pose", "x=0,y=0,phi=-60deg"][..], "flexible-bodies"),
        (&["ddm", "navaro", "--rigid", "--pose", "x=0,y=0,phi=-60deg"], "flexible-bodies"),
        (&["simulate", "navaro", "--rigid", "--time", "0.001"], "flexible-bodies"),
        (&["codegen", "navaro", "--model", "idm", "--count"], "flexible-bodies"),
    ] {
        let answer = json(&[arguments, &["--json"]].concat());
        assert_eq!(answer["left_out"][0]["what"], what, "{arguments:?}");
        assert!(!answer["left_out"][0]["of"].as_array().unwrap().is_empty());
        let (out, _, _) = run(arguments);
        assert!(out.contains("left out: flexible bodies are taken as rigid"), "{out}");
    }
    let rigid = json(&["idm", "five-bar", "--pose", "x=0.05,y=0.25", "--json"]);
    assert_eq!(rigid["left_out"], serde_json::json!([]));
    let damped = std::fs::read_to_string(repository("robots/navaro/robot.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let damped = file(folder.path(), "d.toml", &damped.replacen("[elastic]", "[elastic]\ndamping = 0.02", 1));
    let answer = json(&["frequencies", &damped, "--count", "1", "--json"]);
    assert_eq!(answer["left_out"][0]["what"], "damping", "{answer}");
}

#[test]
fn what_lies_between_the_instants_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let motion = file(folder.path(), "m.csv", "t,x,y\n0,0.05,0.25\n1,0.06,0.25\n");
    let (out, _, _) = run(&["idm", "five-bar", "--trajectory", &motion]);
    assert!(out.contains("between the instants too"), "{out}");
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let motion = file(folder.path(), "m.csv", "t,x,y\n0,0.05,0.25\n1,0.06,0.25\n");
    let map = ["map", "five-bar", "--quantity", "conditioning", "--region", "x=0:0.1:3"];
    let idm = ["idm", "five-bar", "--trajectory", &motion];
    for (command, more, says) in [
        (&map[..], &["--wrench", "fx=1"][..], "--wrench goes with"),
        (&map, &["--stiffness", "10"], "--stiffness goes with"),
        (&map, &["--actuators", "free"], "--actuators goes with"),
        (&map, &["--scale", "log"], "--plot"),
        (&map, &["--follow"], "natural frequencies"),
        (&map, &["--by-order"], "natural frequencies"),
        (&idm, &["--joints", "q1=0"], "cannot be used with"),
        (&idm, &["--joint-rates", "q1=0"], "cannot be used with"),
        (&idm, &["--joint-accelerations", "q1=0"], "cannot be used with"),
        (&["ddm", "five-bar", "--pose", "x=0.05,y=0.25"], &["--friction-width", "0.1"], "goes with --friction"),
    ] {
        let (_, err, status) = run(&[command, more].concat());
        assert!(status == 2 && err.contains(says), "{more:?}: {err}");
    }
}

#[test]
fn maps_of_frequencies_are_the_same_bytes_on_any_number_of_threads() {
    let path = assert_cmd::cargo::cargo_bin("gough");
    let region = ["map", "navaro", "--region", "x=-0.02:0.02:3,y=-0.02:0.02:4", "--json", "--quantity"];
    let map = |threads: &str, more: &[&str]| {
        let arguments = [&region[..], more].concat();
        std::process::Command::new(&path).args(arguments).env("RAYON_NUM_THREADS", threads).output().unwrap().stdout
    };
    for more in [&["f1", "--by-order"][..], &["f2", "--follow"]] {
        let [one, three] = [map("1", more), map("3", more)];
        assert!(!one.is_empty() && one == three, "{more:?}");
    }
}

#[test]
fn colours_are_not_spoilt_by_outliers_and_can_be_logarithmic() {
    let folder = tempfile::tempdir().unwrap();
    let plot = |name: &str| folder.path().join(name).display().to_string();
    let map = ["map", "five-bar", "--quantity", "amplification", "--region", "x=-0.2:0.2:15,y=0.1:0.4:15", "--plot"];
    let (_, err, status) = run(&[&map[..], &[&plot("a.svg")]].concat());
    assert_eq!(status, 0, "{err}");
    assert!(std::fs::read_to_string(plot("a.svg")).unwrap().contains("beyond the ends of the colours"));
    let (_, err, status) = run(&[&map[..], &[&plot("b.svg"), "--scale", "log"]].concat());
    assert_eq!(status, 0, "{err}");
    assert_ne!(std::fs::read_to_string(plot("a.svg")).unwrap(), std::fs::read_to_string(plot("b.svg")).unwrap());
}

#[test]
fn pictures_of_the_platform_keep_units_apart() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("p.svg").display().to_string();
    let simulate = ["simulate", "gough-stewart", "--time", "0.01", "--every", "5 ms", "--plot", &plot, "--show"];
    for (show, label) in
        [("platform", "position (m)"), ("orientation", "orientation (rad)"), ("quaternion", "orientation<")]
    {
        let (_, err, status) = run(&[&simulate[..], &[show]].concat());
        assert_eq!(status, 0, "{err}");
        let svg = std::fs::read_to_string(&plot).unwrap().replace('\n', "");
        assert!(svg.contains(label), "{show}");
    }
    let point = ["simulate", "five-bar", "--time", "0.01", "--plot", &plot, "--show", "orientation"];
    let (_, err, status) = run(&point);
    assert!(status == 2 && err.contains("does not turn"), "{err}");
}

#[test]
fn a_controller_may_saturate_or_not_and_know_of_gravity_or_not() {
    let five_bar = ["simulate", "five-bar", "--time", "0.05", "--every", "0.01", "--json"];
    let states = |more: &[&str]| json(&[&five_bar[..], more].concat())["states"].as_array().unwrap().len();
    assert_eq!(states(&[]), 6, "every hundredth of a second, both ends");
    assert_eq!(states(&["--through-type2"]), 6);
    let hold = |more: &[&str]| {
        let law = ["--controller", "joint-pd", "--gains", "kp=1e5,kd=10"];
        json(&[&["simulate", "delta", "--time", "0.02", "--to", "z=-0.61", "--json"], &law[..], more].concat())
    };
    let (without, with) = (hold(&[]), hold(&["--gravity"]));
    assert_ne!(without["states"][1]["efforts"], with["states"][1]["efforts"]);
    let largest = |answer: &Value| {
        let list = answer["states"].as_array().unwrap();
        list.iter()
            .flat_map(|s| s["efforts"].as_array().unwrap().clone())
            .filter_map(|x| x.as_f64())
            .fold(0.0, |m: f64, x| m.max(x.abs()))
    };
    let free = hold(&["--unlimited"]);
    assert!(largest(&free) >= largest(&without));
    assert_eq!(free["time_at_effort_limit"], serde_json::json!([0.0, 0.0, 0.0]));
}

#[test]
fn every_command_takes_the_options_about_the_robot() {
    // A question of every command that takes a robot, without the robot.
    let questions: [(&str, &[&str]); 9] = [
        ("check", &[]),
        ("kinematics", &["--pose", "x=0.01,y=0.02,phi=-50deg"]),
        ("singularities", &["--pose", "x=0.01,y=0.02,phi=-50deg"]),
        ("map", &["--quantity", "conditioning", "--region", "x=0:0.01:2"]),
        ("idm", &["--pose", "x=0.01,y=0.02,phi=-50deg", "--acceleration", "x=1"]),
        ("ddm", &["--pose", "x=0.01,y=0.02,phi=-50deg", "--efforts", "11=1"]),
        ("codegen", &["--model", "jacobian", "--count"]),
        ("simulate", &["--rigid", "--time", "0.002"]),
        ("frequencies", &["--count", "2"]),
    ];
    for (command, rest) in questions {
        let ask = |more: &[&str]| json(&[&[command, "navaro", "--json"], rest, more].concat());
        let plain = ask(&[]);
        assert_eq!(ask(&["--allow-outside"]), plain, "{command}: NaVARo names no files");
        // Counts of operations do not know how large a robot is.
        assert!(command == "codegen" || ask(&["--set", "rp=0.19"]) != plain, "{command}: a larger platform");
        let (out, err, status) = run(&[&[command, "navaro", "--degrees"], rest].concat());
        match command {
            "codegen" => assert!(status == 2 && err.contains("--degrees"), "{command}: {err}"),
            _ => assert!(status == 0 && !out.is_empty(), "{command}: {err}"),
        }
        if !["ddm", "frequencies"].contains(&command) {
            // The joints that drive it are others; all clutches are held while it vibrates.
            assert_ne!(ask(&["--actuation", "links-2"]), plain, "{command}");
        }
    }
    let (_, err, status) = run(&["ddm", "navaro", "--actuation", "links-2", "--pose", "x=0", "--efforts", "11=1"]);
    assert!(status == 2 && err.contains("no drive `11`"), "{err}");
}

#[test]
fn the_working_mode_can_be_chosen_wherever_there_is_one() {
    let (pose, mode) = (["--pose", "x=0.05,y=0.25", "--json"], "--mode=-+");
    for command in ["idm", "ddm", "singularities", "kinematics"] {
        let answer = json(&[&[command, "five-bar", mode], &pose[..]].concat());
        assert_eq!(answer["working_mode"], "-+", "{command}");
    }
    let answer = json(&["simulate", "five-bar", "--time", "0.001", "--from", "x=0.05,y=0.25", mode, "--json"]);
    assert_eq!(answer["working_mode"], "-+");
    let answer = json(&["frequencies", "five-bar-flexible", "--count", "1", "--mode=+-", "--json"]);
    assert_eq!(answer["working_mode"], "+-");
}

#[test]
fn friction_and_drives_reach_generated_code_and_simulations() {
    let count = |more: &[&str]| json(&[&["codegen", "delta", "--model", "idm", "--count", "--json"], more].concat());
    assert_ne!(count(&["--friction"])["function"], Value::Null);
    let stiff = |what: &str| {
        json(&["codegen", "navaro", "--model", "mass-stiffness", "--actuators", what, "--count", "--json"])["outputs"]
            .clone()
    };
    assert_ne!(stiff("locked"), stiff("free"));
    let robot = ["simulate", "five-bar", "--time", "0.01", "--json"];
    let law = ["--controller", "computed-torque", "--to", "x=0.02"];
    let plain = json(&[&robot[..], &law].concat())["states"].clone();
    assert_ne!(json(&[&robot[..], &law, &["--perturb", "0.3,7"]].concat())["states"], plain);
    assert!(json(&[&robot[..], &law, &["--friction"]].concat())["states"].is_array());
}
