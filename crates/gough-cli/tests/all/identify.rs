//! `gough identify` as its users call it: a motion that shows the parameters, a record of it, values from the record.
use crate::common::{file, json, repository, run};
use serde_json::Value;
use std::path::Path;

const REGION: [&str; 2] = ["--region", "x=-0.06:0.06,y=0.22:0.32"];

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Rows of numbers of a CSV file.
fn rows(file: &str) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().skip(1).map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect()
}

#[test]
fn exciting_motions_keep_what_they_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (motion, picture) = (path(folder.path(), "motion.csv"), path(folder.path(), "motion.svg"));
    let ask = |more: &[&str]| {
        let trials = if more.contains(&"--trials") { &[][..] } else { &["--trials", "100"] };
        let quick = ["--period", "3 s", "--harmonics", "2", "--json", "--csv", &motion];
        json(&[&["identify", "five-bar", "--excite"], &REGION[..], &quick, trials, more].concat())
    };
    let plain = ask(&["--distance", "0.05", "--plot", &picture]);
    assert_eq!(plain["period"], 3.0);
    assert!(plain["series"].as_array().unwrap().iter().all(|s| s.as_array().unwrap().len() == 2));
    assert!(std::fs::read_to_string(&picture).unwrap().contains("Exciting motion of five-bar"));
    let table = rows(&motion);
    assert!(table.len() == 501 && table[500][0] == 3.0);
    for r in &table {
        assert!(r[1].abs() < 0.0601 && (0.2199..0.3201).contains(&r[2]), "{r:?}");
    }
    // Limits that this motion leaves, and what the drives do inside them, found by another command.
    let limits = ["--speed", "q11=0.5,q21=0.5", "--acceleration", "q11=1.5,q21=1.5", "--effort", "q11=7,q21=7"];
    assert_ne!(ask(&limits)["series"], plain["series"]);
    let done = json(&["idm", "five-bar", "--trajectory", &motion, "--json"]);
    let most = |of: &dyn Fn(&Value) -> Vec<f64>| {
        done["states"].as_array().unwrap().iter().flat_map(of).fold(0.0_f64, |m, x| m.max(x.abs()))
    };
    let speed = most(&|s| numbers(&s["active"]["qd"])) / 0.5;
    let acceleration = most(&|s| numbers(&s["active"]["qdd"])) / 1.5;
    let effort = most(&|s| numbers(&s["efforts_with_friction"])) / 7.0;
    let used = speed.max(acceleration).max(effort);
    assert!((0.8..1.05).contains(&used), "{speed} {acceleration} {effort}");
    // The same seed is the same motion; another one, more steps, another robot and another mode are not.
    assert_eq!(ask(&["--seed", "1", "--time", "4.5 s"])["series"], plain["series"]);
    let twice = rows(&motion);
    assert!(twice.len() == 751 && (twice[700][1] - twice[200][1]).abs() < 1e-12);
    for more in [&["--seed", "2"][..], &["--trials", "106"], &["--set", "d12=0.22"], &["--mode=++"]] {
        assert_ne!(ask(more)["condition"], plain["condition"], "{more:?}");
    }
}

#[test]
fn limits_that_no_motion_meets_are_named() {
    let ask = |more: &[&str]| run(&[&["identify", "five-bar", "--excite", "--trials", "100"], more].concat());
    for (more, wanted, status) in [
        (&["--distance", "2"], "distance from singularities", 1),
        (&["--region", "x=5:6"], "middle of the region", 1),
        (&["--region", "z=0:1"], "NAME=LOW:HIGH", 2),
        (&["--speed", "q31=1"], "no drive `q31`", 2),
        (&["--effort", "q11=-1"], "positive", 2),
        (&["--acceleration", "q11=0"], "positive", 2),
        (&["--period", "0 s"], "--period", 2),
        (&["--harmonics", "0"], "--harmonics", 2),
        (&["--mode", "+"], "mode", 2),
        (&["--actuation", "none"], "no [actuation]", 2),
    ] {
        let (_, err, found) = ask(more);
        assert!(found == status && err.contains(wanted), "{more:?}: {found} {err}");
    }
}

/// A record of the five-bar as its sensors see it: five seconds, 125 samples each.
fn record(folder: &Path) -> String {
    let (motion, data) = (path(folder, "exciting.csv"), path(folder, "run.csv"));
    let seek = ["identify", "five-bar", "--excite", "--trials", "100", "--harmonics", "3", "--speed", "q11=6,q21=6"];
    json(&[&seek[..], &REGION, &["--csv", &motion, "--time", "5 s", "--json"]].concat());
    let law = ["--controller", "computed-torque", "--trajectory", &motion, "--friction", "--unlimited"];
    let seen = ["--every", "0.008", "--noise", "effort=0.5%,step=1e-6,seed=3", "--csv", &data];
    let (_, err, status) = run(&[&["simulate", "five-bar", "--time", "5"], &law[..], &seen].concat());
    assert_eq!(status, 0, "{err}");
    data
}

/// Joints and efforts of a record with other efforts, as another header calls them.
fn changed(data: &str, folder: &Path, name: &str, header: &str, of: &dyn Fn(&mut Vec<f64>)) -> String {
    let mut text = format!("{header}\n");
    for mut row in rows(data) {
        of(&mut row);
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        text.push_str(&(cells.join(",") + "\n"));
    }
    file(folder, name, &text)
}

#[test]
fn a_record_gives_the_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| path(folder.path(), name);
    let data = record(folder.path());
    let width = ["--friction-width", "1e-3"];
    let ask = |more: &[&str]| json(&[&["identify", "five-bar", "--json", "--data", &data], more].concat());
    let (over, picture, answer) = (at("over.toml"), at("efforts.svg"), at("answer.json"));
    let files = ["--overlay", &over, "--plot", &picture, "-o", &answer];
    let (out, err, status) = run(&[&["identify", "five-bar", "--json", "--data", &data], &width[..], &files].concat());
    assert!(status == 0 && out.is_empty(), "{err}");
    let found: Value = serde_json::from_str(&std::fs::read_to_string(&answer).unwrap()).unwrap();
    assert_eq!(ask(&width), found, "the files change nothing");
    assert_eq!(found["held_back"], "the last fifth of each record");
    let estimate = |of: &Value, name: &str| {
        of["estimates"].as_array().unwrap().iter().find(|e| e["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    assert!((estimate(&found, "fv11") - 6.76).abs() < 0.05, "{found:#}");
    let picture = std::fs::read_to_string(&picture).unwrap();
    assert!(picture.contains("q21 predicted") && picture.contains("q11 left"));
    // The overlay is a robot whose groups are those that were found.
    let again = json(&["parameters", &over, "--json"]);
    let fv = again["base"].as_array().unwrap().iter().find(|b| b["name"] == "fv11").unwrap()["value"].as_f64().unwrap();
    assert!((fv - estimate(&found, "fv11")).abs() < 0.01 * fv, "{fv}");
    // No file extends an overlay, however it is written.
    let quoted = file(folder.path(), "quoted.toml", "\"extends\" = \"five-bar\"\n");
    let (_, err, status) = run(&["identify", &quoted, "--data", &data, "--overlay", &at("third.toml")]);
    assert!(status == 2 && err.contains("overlay itself"), "{err}");
    // A record of its own checks the first.
    let checked = ask(&[&width[..], &["--validate", &data]].concat());
    assert_eq!(checked["held_back"], "records of their own");
    assert!(checked["equations"].as_u64() > found["equations"].as_u64());
    // More of the noise is left below a higher frequency; other lengths are another robot.
    for more in [&["--cutoff", "25"], &["--set", "d12=0.214"]] {
        let other = ask(&[&width[..], more].concat());
        assert_ne!(other["condition"], found["condition"], "{more:?}");
    }
    // Currents with gains are efforts.
    let halve = |row: &mut Vec<f64>| row[3..].iter_mut().for_each(|x| *x *= 2.0);
    let currents = changed(&data, folder.path(), "currents.csv", "t,q11,q21,i_11,i_21", &halve);
    let by_gains = json(
        &[&["identify", "five-bar", "--json", "--data", &currents], &width[..], &["--gains", "q11=0.5,q21=0.5"]]
            .concat(),
    );
    assert!((estimate(&by_gains, "fv11") - estimate(&found, "fv11")).abs() < 1e-9);
    let (_, err, status) =
        run(&["identify", "five-bar", "--data", &currents, "--gains", "q11=-0.5,q21=0.5", "--friction-width", "1e-3"]);
    assert!(status == 2 && err.contains("sign"), "{err}");
    #[cfg(unix)]
    the_robot_of_a_record_is_the_one_that_is_meant(folder.path(), &data);
}

/// The file that an overlay extends may be a link out of its folder, when that is allowed.
#[cfg(unix)]
fn the_robot_of_a_record_is_the_one_that_is_meant(folder: &Path, data: &str) {
    let inner = folder.join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::copy(repository("robots/five-bar/robot.toml"), folder.join("robot.toml")).unwrap();
    std::os::unix::fs::symlink("../robot.toml", inner.join("robot.toml")).unwrap();
    let over = file(&inner, "over.toml", "extends = \"robot.toml\"\n");
    let ask = |more: &[&str]| run(&[&["identify", &over, "--data", data, "--friction-width", "1e-3"], more].concat());
    let (_, err, status) = ask(&[]);
    assert!(status == 2 && err.contains("--allow-outside"), "{err}");
    let (out, err, status) = ask(&["--allow-outside"]);
    assert!(status == 0 && out.contains("zz11R"), "{err}");
    // Neither has the robot such a working mode, nor sets of drives.
    let (_, err, status) = ask(&["--allow-outside", "--mode", "+"]);
    assert!(status == 2 && err.contains("mode"), "{err}");
    let (_, err, status) = ask(&["--allow-outside", "--actuation", "all"]);
    assert!(status == 2 && err.contains("no [actuation]"), "{err}");
    let (_, err, status) = run(&["parameters", &over]);
    assert!(status == 2 && err.contains("--allow-outside"), "{err}");
    let found = json(&["parameters", &over, "--allow-outside", "--json"]);
    assert_eq!(found["base_count"], 17);
}
