//! Files that are read: what they are, where they are, and what the units of their cells say.

use crate::common::{document, file, json, run};

#[test]
fn cells_have_the_unit_of_their_column() {
    let folder = tempfile::tempdir().unwrap();
    for (command, option, text, says) in [
        ("idm", "--states", "x,y,xd,yd\n0.05,0.25,5 kg,1\n", "xd is a velocity"),
        ("idm", "--states", "x,y,xd,yd,xdd,ydd\n0.05,0.25,0,0,1 m/s,0\n", "xdd is an acceleration"),
        ("ddm", "--states", "x,y,xd,yd,tau_11,tau_21\n0.05,0.25,5 mm/s,1,1 kg,2\n", "tau_11 is a torque"),
        ("kinematics", "--states", "x,y,t,q11d\n0.05,0.25,1 kg,0\n", "t is a time"),
        ("kinematics", "--states", "x,y,t,q11d\n0.05,0.25,1 s,2 m\n", "q11d is an angular velocity"),
        ("idm", "--trajectory", "t,x,y\n0 kg,0.05,0.25\n1 kg,0.06,0.25\n", "t is a time"),
        ("idm", "--trajectory", "t,x,y,xd,yd\n0,0.05,0.25,1 s,0\n1,0.06,0.25,0,0\n", "xd is a velocity"),
        ("idm", "--trajectory", "t,q11,q21\n0,1.5 m,1\n1,1.5,1\n", "q11 is an angle"),
    ] {
        let path = file(folder.path(), "s.csv", text);
        let (out, err, status) = run(&[command, "five-bar", option, &path]);
        assert_eq!(status, 2, "{text}: {out}{err}");
        assert!(format!("{out}{err}").contains(says), "{text}: {out}{err}");
    }
    let good = "x,y,t,xd,yd\n50 mm,0.25,20 ms,5 mm/s,1\n";
    let answer = json(&["idm", "five-bar", "--states", &file(folder.path(), "g.csv", good), "--json"]);
    assert!(answer["states"][0].get("error").is_none(), "{answer}");
}

/// The root mean square is over the time that has an answer: that of a fine table where all of it has, and that of the effort
/// itself where only one instant has.
#[test]
fn the_mean_is_over_the_time_that_has_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |text: &str, more: &[&str]| {
        let path = file(folder.path(), "m.csv", text);
        json(&[&["idm", "five-bar", "--trajectory", &path, "--json"], more].concat())
    };
    let number = |v: &serde_json::Value| v.as_f64().unwrap();
    let (motion, step) = ("t,x,y\n0,0.05,0.25\n0.3,0.02,0.27\n1,0.05,0.25\n", 5e-4);
    let (coarse, fine) = (ask(motion, &[]), ask(motion, &["--step", "0.5ms"]));
    let squares = |state: &serde_json::Value| number(&state["efforts_with_friction"][0]).powi(2);
    let states: Vec<f64> = fine["states"].as_array().unwrap().iter().map(squares).collect();
    let mean = states.windows(2).map(|w| 0.5 * step * (w[0] + w[1])).sum::<f64>().sqrt();
    let rms = number(&coarse["drives"][0]["rms"]);
    assert!((rms - mean).abs() < 2e-3 * mean, "{rms} {mean}");
    let lone = &ask("t,x,y,xd,yd,xdd,ydd\n0,0.05,0.25,0.1,0.2,1,2\n", &[])["drives"][0];
    assert_eq!(number(&lone["rms"]), number(&lone["peak"]).abs(), "{lone}");
    let torn = &ask("t,x,y\n0,0.05,0.25\n0.5,0.5,0.5\n1,0.05,0.25\n", &[])["drives"][0];
    assert!(number(&torn["rms"]) > 0.0 && number(&torn["rms"]) <= number(&torn["peak"]).abs(), "{torn}");
}

#[cfg(unix)]
#[test]
fn folders_devices_pipes_and_circles_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir(at("d.jsonl")).unwrap();
    std::os::unix::fs::symlink("l.csv", at("l.csv")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("p.csv")).status().unwrap().success());
    let begin = std::time::Instant::now();
    for path in [&at("d.jsonl"), &at("l.csv"), &at("p.csv"), "/dev/zero", "/dev/null"] {
        for question in
            [&["idm", "five-bar", "--states", path][..], &["idm", "five-bar", "--trajectory", path], &["check", path]]
        {
            let (out, err, status) = run(question);
            assert!(status == 2 && out.is_empty() && err.contains("cannot read"), "{question:?}: {err}");
            assert!(err.len() < 300, "{err}");
        }
    }
    assert!(begin.elapsed().as_secs() < 60);
}

#[test]
fn a_line_has_a_longest_length() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["s.csv", "s.jsonl"] {
        let path = file(folder.path(), name, &"1".repeat(3 << 20));
        let (out, err, status) = run(&["kinematics", "five-bar", "--states", &path]);
        assert!(status == 2 && format!("{out}{err}").contains("longer than 1048576 bytes"), "{err}");
        assert!(out.len() + err.len() < 1000);
    }
}

#[test]
fn files_of_a_robot_stay_below_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    file(folder.path(), "secret.json", "{}");
    file(&inner, "own.json", "{}");
    let robot = |name: &str| {
        let body = format!("[[body]]\nname = \"m\"\non = \"base\"\njoint = \"R\"\nmodal = {{ file = \"{name}\" }}\n");
        file(&inner, "r.toml", &format!("[robot]\nname = \"r\"\n[platform]\ncoordinates = \"planar\"\n{body}"))
    };
    let outside = "not below the folder of the robot file";
    let absolute = folder.path().join("secret.json").display().to_string();
    for name in ["../secret.json", "x/../../secret.json", &absolute] {
        let path = robot(name);
        let (_, err, status) = run(&["check", &path]);
        assert!(status == 2 && err.contains(outside) && err.contains("--allow-outside"), "{name}: {err}");
        let (_, err, status) = run(&["check", &path, "--allow-outside"]);
        assert!(status == 2 && !err.contains(outside), "{name}: {err}");
    }
    let (_, err, _) = run(&["check", &robot("own.json")]);
    assert!(!err.contains(outside), "{err}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret.json", inner.join("link.json")).unwrap();
        let (_, err, _) = run(&["check", &robot("link.json")]);
        assert!(err.contains(outside), "{err}");
    }
}

#[test]
fn thousands_of_faults_are_told_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String =
        (0..15_000).map(|i| format!("[[body]]\nname = \"b{i}\"\non = \"no{i}\"\njoint = \"Q\"\n")).collect();
    let robot = file(folder.path(), "r.toml", &format!("[platform]\ncoordinates = \"planar\"\n{rows}"));
    let begin = std::time::Instant::now();
    let (answer, status) = document(&["check", &robot, "--json"]);
    assert!(status == 2 && answer["faults"].as_array().unwrap().len() >= 15_000);
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}
