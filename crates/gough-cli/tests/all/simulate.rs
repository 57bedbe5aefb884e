//! `simulate` and `idm --trajectory` from the command line.

use crate::common::{document, file, json, repository, run};
use serde_json::Value;

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is no number"))
}

#[test]
fn a_motion_under_computed_torque_is_written_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("motion.csv").to_str().unwrap().to_owned();
    let svg = folder.path().join("motion.svg").to_str().unwrap().to_owned();
    for (robot, from, to) in [
        ("five-bar", "x=0,y=0.3", "x=0.06,y=0.27"),
        ("3-rpr", "x=0,y=0,phi=30deg", "x=0.05,y=-0.04,phi=40deg"),
        ("gough-stewart", "x=0.25,y=0.433,z=1", "x=0.3,y=0.4,z=1.1,roll=0.1,pitch=-0.05,yaw=0.1"),
    ] {
        let question = ["simulate", robot, "--from", from, "--to", to, "--duration", "0.4", "--time", "0.5"];
        let law = ["--controller", "computed-torque", "--csv", &csv, "--plot", &svg, "--show", "error", "--json"];
        let answer = json(&[&question[..], &law].concat());
        assert_eq!(answer["stop"]["kind"], "end", "{robot}");
        assert!(number(&answer["tracking"]["largest_m"]) < 1e-7, "{robot}: {}", answer["tracking"]);
        assert!(number(&answer["largest_gap_m"]) < 1e-10 && number(&answer["largest_gap_rad"]) < 1e-10);
        assert!(number(&answer["energy_error"]) < 1e-6 * number(&answer["energy_scale"]), "{robot}");
        assert!(std::fs::read_to_string(&svg).unwrap().contains("distance from the trajectory"));
        // The efforts of the written motion are those that made it.
        let along = json(&["idm", robot, "--trajectory", &csv, "--json"]);
        assert_eq!(along["rates"], "rates and accelerations are those of the file");
        let (states, again) = (answer["states"].as_array().unwrap(), along["states"].as_array().unwrap());
        assert_eq!(states.len(), again.len());
        for (a, b) in states.iter().zip(again) {
            for (x, y) in a["efforts"].as_array().unwrap().iter().zip(b["efforts"].as_array().unwrap()) {
                assert!((number(x) - number(y)).abs() < 1e-6 * (1.0 + number(x).abs()), "{robot}: {a} {b}");
            }
        }
        // And under these efforts alone it goes the same way.
        let free = json(&["simulate", robot, "--from", from, "--time", "0.1", "--efforts", &csv, "--json"]);
        let end = free["states"].as_array().unwrap().last().unwrap();
        let same = states.iter().find(|s| (number(&s["t"]) - 0.1).abs() < 1e-9).unwrap();
        for k in 0..3 {
            assert!(
                (number(&end["pose"]["p"][k]) - number(&same["pose"]["p"][k])).abs() < 1e-6,
                "{robot}: {end} {same}"
            );
        }
    }
}

#[test]
fn limits_of_the_file_are_listed_with_joint_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(repository("robots/tripteron/robot.toml")).unwrap();
    let old = "drive = { rotor_inertia = 0.5 }";
    assert!(text.contains(old));
    let robot = file(
        folder.path(),
        "r.toml",
        &text.replace(old, "drive = { rotor_inertia = 0.5, speed = 0.15, effort = 500 }"),
    );
    let motion = file(
        folder.path(),
        "m.csv",
        "t,x,y,z,xd,yd,zd,xdd,ydd,zdd\n0,0.3,0.3,0.2,0,0,0,0.2,0,0\n1,0.4,0.3,0.2,0.2,0,0,0.2,0,0\n",
    );
    let answer = json(&["idm", &robot, "--trajectory", &motion, "--step", "10ms", "--json"]);
    let list = answer["violations"].as_array().unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!((&list[0]["joint"], &list[0]["bound"]), (&Value::from("21"), &Value::from("speed")));
    assert!((number(&list[0]["from"]) - 0.75).abs() < 1e-6 && number(&list[0]["to"]) == 1.0, "{list:?}");
    let (out, _, status) = run(&["idm", &robot, "--trajectory", &motion, "--step", "10ms"]);
    assert!(status == 0 && out.contains("speed of q21 left from 0.750000 s"), "{out}");
}

#[test]
fn rates_of_angles_and_angular_velocities_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    // At roll and pitch zero the rate of yaw is wz.
    let place = "0.25,0.433,1";
    let angles = format!(
        "t,x,y,z,roll,pitch,yaw,xd,yd,zd,rolld,pitchd,yawd\n0,{place},0,0,0,0.1,0,0,0,0,0.3\n0.1,{place},0,0,0.03,0.1,0,0,0,0,0.3\n"
    );
    let spins = format!(
        "t,x,y,z,roll,pitch,yaw,xd,yd,zd,wx,wy,wz\n0,{place},0,0,0,0.1,0,0,0,0,0.3\n0.1,{place},0,0,0.03,0.1,0,0,0,0,0.3\n"
    );
    let quarter = format!(
        "t,x,y,z,roll,pitch,yaw,xd,yd,zd,rolld,pitchd,yawd\n0,{place},0.2,0.1,-0.3,0,0,0,0.2,-0.1,0.3\n0.1,{place},0.22,0.09,-0.27,0,0,0,0.2,-0.1,0.3\n"
    );
    let ask =
        |text: &str| json(&["idm", "gough-stewart", "--trajectory", &file(folder.path(), "m.csv", text), "--json"]);
    let (a, b, c) = (ask(&angles), ask(&spins), ask(&quarter));
    for i in 0..2 {
        for k in 0..6 {
            let (x, y) = (number(&a["states"][i]["efforts"][k]), number(&b["states"][i]["efforts"][k]));
            assert!((x - y).abs() < 1e-8 * (1.0 + x.abs()), "{x} {y}");
        }
    }
    assert_eq!(a["states"].as_array().unwrap().len(), 2);
    // D of w = D (roll, pitch, yaw rates) at the first sample, and the joint rates of that twist.
    let (pitch, yaw) = (0.1_f64, -0.3_f64);
    let w = [
        0.2 * yaw.cos() * pitch.cos() - -0.1 * yaw.sin(),
        0.2 * yaw.sin() * pitch.cos() + -0.1 * yaw.cos(),
        0.3 - 0.2 * pitch.sin(),
    ];
    let twist = format!("wx={},wy={},wz={}", w[0], w[1], w[2]);
    let pose = "x=0.25,y=0.433,z=1,roll=0.2,pitch=0.1,yaw=-0.3";
    let rates = json(&["idm", "gough-stewart", "--pose", pose, "--twist", &twist, "--json"]);
    for k in 0..6 {
        let (x, y) = (&c["states"][0]["active"]["qd"][k], &rates["active"]["qd"][k]);
        assert!((number(x) - number(y)).abs() < 1e-12, "{x} {y}");
    }
}

#[test]
fn payloads_and_wrenches_act_and_can_be_hidden_from_the_controller() {
    let ask = |more: &[&str]| {
        let question = ["simulate", "orthoglide", "--time", "0.3", "--json"];
        let law = ["--controller", "computed-torque", "--to", "x=0.05,y=0.04,z=0.3"];
        let answer = json(&[&question[..], &law, more].concat());
        assert!(number(&answer["energy_error"]) < 1e-7 * number(&answer["energy_scale"]), "{more:?}");
        (number(&answer["tracking"]["largest_m"]), answer)
    };
    let (plain, _) = ask(&[]);
    let (known, heavy) = ask(&["--payload", "mass=1"]);
    let (hidden, _) = ask(&["--payload", "mass=1", "--hidden-payload"]);
    let (pushed, push) = ask(&["--wrench", "fx=20"]);
    assert!(plain < 1e-7 && known < 1e-7 && hidden > 1e-4 && pushed > 1e-4, "{plain} {known} {hidden} {pushed}");
    let last = |a: &Value| a["states"].as_array().unwrap().last().unwrap().clone();
    assert!(number(&last(&push)["work_of_load"]) > 0.9 && number(&last(&heavy)["work_of_load"]) == 0.0);
}

#[test]
fn a_motion_that_cannot_go_on_says_why() {
    let (answer, status) = document(&["simulate", "delta", "--time", "2", "--json"]);
    assert_eq!((answer["stop"]["kind"].as_str(), status), (Some("type1"), 1), "{}", answer["stop"]);
    let z = number(&answer["states"].as_array().unwrap().last().unwrap()["pose"]["p"][2]);
    assert!((z + 0.85_f64.mul_add(0.85, -(0.15_f64 * 0.15)).sqrt()).abs() < 1e-6, "{z}");
    // Who asked for two seconds hears that there are less, beside all of the answer.
    let (out, err, status) = run(&["simulate", "delta", "--time", "2"]);
    assert!(status == 1 && out.contains("Type 1 singularity"), "{out}");
    assert!(err.starts_with("no: the motion ended at t = 0.28237") && err.contains("Type 1 singularity"), "{err}");
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("fall.csv").display().to_string();
    let (_, _, status) = run(&["simulate", "delta", "--time", "2", "--csv", &csv]);
    assert!(status == 1 && std::fs::read_to_string(&csv).unwrap().lines().count() > 50);
}

/// Points in columns and curves; a motion with them is read again.
#[test]
fn points_of_a_motion_are_written_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (csv, svg) = (at("m.csv"), at("m.svg"));
    let ask = ["simulate", "five-bar", "--time", "0.01", "--efforts", "q11=0.1,q21=0", "--point", "11=100mm:0:0"];
    let answer = json(&[&ask[..], &["--point", "platform", "--csv", &csv, "--json"]].concat());
    assert_eq!(answer["points"], serde_json::json!(["11=100mm:0:0", "platform"]));
    let last = answer["states"].as_array().unwrap().last().unwrap();
    assert_eq!(last["points"][1]["position"], last["pose"]["p"]);
    let (x, v) = (&last["points"][0]["position"], &last["points"][0]["velocity"]);
    // 0.1 m from the joint at the base, and square to it.
    let foot = [number(&answer["states"][0]["points"][0]["position"][0]), number(&x[0])];
    assert!(foot[0].is_finite() && number(&v[0]).hypot(number(&v[1])) > 1e-3, "{last}");
    let table = std::fs::read_to_string(&csv).unwrap();
    let heads: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let column = heads.iter().position(|h| *h == "point 11=100mm:0:0 yd").unwrap();
    let row: Vec<&str> = table.lines().last().unwrap().split(',').collect();
    assert_eq!(row.len(), heads.len());
    assert!((row[column].parse::<f64>().unwrap() - number(&v[1])).abs() < 1e-15);
    assert!(!table.contains(" ux"), "nothing of it gives way");
    json(&[
        "simulate",
        "five-bar",
        "--time",
        "0.005",
        "--controller",
        "computed-torque",
        "--trajectory",
        &csv,
        "--json",
    ]);
    for (show, label) in [
        ("points", "displacement from the start"),
        ("point-velocities", "velocity (m/s)"),
        ("point-accelerations", "(m/s²)"),
    ] {
        let (out, err, status) = run(&[&ask[..], &["--plot", &svg, "--show", show]].concat());
        assert!(status == 0 && out.contains("point 11=100mm:0:0: at most "), "{err}");
        let drawn = std::fs::read_to_string(&svg).unwrap();
        assert!(drawn.contains(label) && drawn.contains("11=100mm:0:0, x"), "{show}");
    }
    for (more, why) in [
        (&["--point", "plattform"][..], "did you mean `platform`?"),
        (&["--point", "12=0.1"], "`12` is no beam"),
        (&["--point", "11=1:2"], "x:y:z"),
        (&["--point", "11=1:2:3 s"], "a place in metres"),
        (&["--point", "platform=0:0:1"], "the platform is a point"),
        (&["--plot", &svg, "--show", "deflections"], "is for flexible robots"),
    ] {
        let (_, err, status) = run(&[&ask[..], more].concat());
        assert!(status == 2 && err.contains(why), "{more:?}: {err}");
    }
    let (_, err, status) = run(&[&ask[..6], &["--plot", &svg, "--show", "points"]].concat());
    assert!(status == 2 && err.contains("needs --point"), "{err}");
}

#[test]
fn noise_is_the_same_for_the_same_seed() {
    let ask = |seed: &str| {
        let noise = format!("position=1e-4,rate=1e-3,seed={seed}");
        let law = ["--controller", "platform-pd", "--gains", "kp=400,kd=40", "--period", "1ms", "--noise", &noise];
        run(&[&["simulate", "five-bar", "--from", "x=0,y=0.3", "--time", "0.1"][..], &law].concat()).0
    };
    assert_eq!(ask("7"), ask("7"));
    assert_ne!(ask("7"), ask("8"));
}

#[test]
fn wrong_questions_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let csv = |text: &str| file(folder.path(), "bad.csv", text);
    for (text, says) in [
        ("t,x,y,xx\n0,0,0.3,1\n", "column `xx` is not known; did you mean"),
        ("x,y\n0,0.3\n", "no column `t`"),
        ("t,x\n0,0\n", "y missing"),
        ("t,x,y\n0,0,0.3\n0,0.1,0.3\n", "line 3: the time does not come after"),
        ("t,x,y\n0,0,0.3\n1,abc,0.3\n", "line 3: x is `abc`"),
        ("t,x,y\n0,0,0.3\n1,0\n", "line 3: the header has 3 columns, this line 2"),
        ("t,x,y,xd\n0,0,0.3,0\n", "columns yd missing"),
        ("t,x,y,xdd,ydd\n0,0,0.3,0,0\n", "accelerations without rates"),
        ("t,x,x,y\n0,0,0,0.3\n", "column `x` is there twice"),
        ("t,q11\n0,1\n", "columns q21 missing"),
        ("t,tau_11,tau_21\n0,1,1\n", "there are no positions"),
        ("t,x,y\n", "no lines with numbers"),
        ("", "no lines with numbers"),
    ] {
        let path = csv(text);
        let (_, err, status) = run(&["idm", "five-bar", "--trajectory", &path]);
        assert!(status == 2 && err.contains(says), "{text}: {status} {err}");
    }
    let good = csv("t,x,y\n0,0,0.3\n1,0.02,0.3\n");
    for (arguments, code, says) in [
        (&["idm", "five-bar", "--trajectory", &good, "--step", "1e-12"][..], 2, "take a longer step"),
        (&["idm", "five-bar", "--trajectory", &good, "--csv", &good], 2, "would overwrite"),
        (&["idm", "five-bar", "--trajectory", &good, "--pose", "x=0,y=0.3"], 2, "cannot be used with"),
        (&["simulate", "five-bar"], 2, "--time"),
        (&["simulate", "five-bar", "--time", "-1"], 2, "the time is -1"),
        (&["simulate", "five-bar", "--time", "1 m"], 2, "--time is a time"),
        (&["simulate", "five-bar", "--time", "1", "--efforts", &good], 2, "there are no efforts"),
        (&["simulate", "five-bar", "--time", "1", "--controller", "joint-pd"], 2, "--gains"),
        (&["simulate", "five-bar", "--time", "1", "--from", "x=3,y=3"], 1, "out of reach"),
        (&["simulate", "five-bar", "--time", "1", "--from", "x=3,z=0"], 2, "--from: y missing"),
        (&["simulate", "five-bar", "--time", "1", "--step", "1e-30"], 2, "take a longer step"),
        (&["simulate", "five-bar", "--time", "1", "--tolerance", "0"], 2, "tolerance"),
    ] {
        let (_, err, status) = run(arguments);
        assert!(status == code && err.contains(says), "{arguments:?}: {status} {err}");
    }
    let (answer, status) = document(&["simulate", "five-bar", "--time", "0", "--json"]);
    assert_eq!((status, &answer["error"]["kind"]), (2, &Value::from("usage")), "{answer}");
}

/// Components that follow are no part of what is off the trajectory.
#[test]
fn a_platform_that_shifts_by_itself_is_not_off_its_trajectory() {
    let robot = repository("crates/gough/tests/robots/3-prs.toml");
    let question =
        ["simulate", &robot, "--time", "0.5", "--controller", "computed-torque", "--to", "z=0.55,rx=0.1,ry=0"];
    let answer = json(&[&question[..], &["--json"]].concat());
    let last = answer["states"].as_array().unwrap().last().unwrap();
    assert!(number(&last["pose"]["p"][0]).abs() > 1e-4, "{last}");
    assert!(number(&answer["tracking"]["largest_m"]) < 1e-7, "{}", answer["tracking"]);
}

#[test]
fn the_way_to_a_pose_follows_the_law_that_is_asked_for() {
    let ask =
        ["simulate", "five-bar", "--from", "x=0,y=0.3", "--to", "x=0.06,y=0.27", "--duration", "0.4", "--time", "0.1"];
    let control = ["--controller", "computed-torque", "--json", "--law"];
    // A quarter of the time in: shares of the way by the closed forms of the laws.
    for (law, share) in [("poly3", 0.15625), ("poly5", 0.103_515_625), ("bang-bang", 0.125), ("trapezoid", 0.140_625)] {
        let answer = json(&[&ask[..], &control, &[law]].concat());
        let p = &answer["states"].as_array().unwrap().last().unwrap()["pose"]["p"];
        assert!((number(&p[0]) - 0.06 * share).abs() < 1e-6, "{law}: {p}");
    }
}
