//! `plan` from the command line, and singularities and limits that `idm --trajectory` finds between samples.

use crate::common::{file, json, repository, run};
use serde_json::Value;

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is no number"))
}

/// The task of section 9.4 of Briot and Khalil.
const FIVE_BAR: [&str; 8] = ["plan", "five-bar", "--from", "x=0,y=0.338175", "--to", "x=0.1,y=0.1", "--time", "1.5"];

#[test]
fn a_goal_in_another_aspect_is_refused_with_what_is_in_the_way() {
    let (_, err, status) = run(&FIVE_BAR);
    assert_eq!(status, 1);
    assert!(err.contains("a Type 2 singularity is in the way at t = 0.81858") && err.contains("--cross"), "{err}");
}

#[test]
fn a_planned_crossing_is_told_written_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("plan.csv").to_str().unwrap().to_owned();
    let svg = folder.path().join("plan.svg").to_str().unwrap().to_owned();
    let wishes = ["--cross", "--at", "x=0.0544,y=0.2", "--at-time", "0.75", "--at-twist", "x=0.16709,y=-0.48128"];
    let more = ["--at-acceleration", "x=6.8e-4", "--csv", &csv, "--plot", &svg, "--step", "1ms", "--json"];
    let answer = json(&[&FIVE_BAR[..], &wishes, &more].concat());
    let crossing = &answer["crossings"][0];
    assert_eq!((crossing["kind"].as_str(), crossing["bounded"].as_bool()), (Some("type2"), Some(true)));
    assert!((number(&crossing["t"]) - 0.75).abs() < 1e-9);
    assert_eq!(answer["coefficients"]["y"].as_array().unwrap().len(), 9);
    assert!(answer["coefficients"].get("z").is_none());
    let finest = &answer["refinement"][0];
    let peaks = |of: &str| finest[of].as_array().unwrap().last().unwrap()["peaks"].clone();
    for k in 0..2 {
        let limit = number(&crossing["limit_efforts"][k]).abs();
        assert!((number(&peaks("planned")[k]) - limit).abs() < 1e-2, "{finest}");
        assert!(number(&peaks("without_condition")[k]) > 50.0 * limit, "{finest}");
        assert!(
            (number(&answer["drives"][k]["peak"]).abs() - [12.136, 11.8116][k]).abs() < 1e-2,
            "{}",
            answer["drives"]
        );
    }
    assert!(std::fs::read_to_string(&svg).unwrap().contains("Type 2 singularity at t = 0.75"));
    // The table is a trajectory, and the crossing is found in it again.
    let along = json(&["idm", "five-bar", "--trajectory", &csv, "--json"]);
    assert_eq!(along["crossings"].as_array().unwrap().len(), 1);
    assert_eq!(along["crossings"][0]["bounded"], true, "{}", along["crossings"]);
    assert_eq!(along["refused"].as_array().unwrap().len(), 0);
}

#[test]
fn a_crossing_between_samples_is_named_and_a_spike_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let robot = repository("crates/gough/tests/robots/five-bar-limits.toml");
    let robot = robot.as_str();
    let way =
        "t,x,y\n0,0.05,0.24\n0.1,0.052,0.225\n0.2,0.054,0.205\n0.3,0.055,0.190\n0.4,0.056,0.175\n0.5,0.057,0.16\n";
    let way = file(folder.path(), "way.csv", way);
    let (out, _, status) = run(&["idm", robot, "--trajectory", &way]);
    assert_eq!(status, 0);
    assert!(out.contains("Type 2 singularity crossed at t = 0.2305") && out.contains("grow without bound"), "{out}");
    assert!(out.contains("unbounded") && out.contains("effort of q11 left"), "{out}");
    // At the singularity itself the refusal has the motion that is lost, turning included.
    let onto = file(folder.path(), "onto.csv", "t,x,y\n0,0.05,0.24\n0.25,0.0544084682,0.2\n0.5,0.057,0.16\n");
    let (out, _, _) = run(&["idm", "five-bar", "--trajectory", &onto]);
    assert!(out.contains("no answer from 0.2") && out.contains("w = (0.0000, 0.0000, -5.337"), "{out}");
    let spike = file(folder.path(), "spike.csv", "t,x,y,xd,yd,xdd,ydd\n0,0,0.3,0,0,0,0\n0.5,0.1,0.3,0,0,0,0\n");
    let found = json(&["idm", robot, "--trajectory", &spike, "--json"]);
    let speed = found["violations"].as_array().unwrap().iter().find(|v| v["joint"] == "11").unwrap();
    assert!(speed["bound"] == "speed" && (number(&speed["value"]) + 1.919_281).abs() < 1e-5, "{speed}");
}

#[test]
fn plans_by_law_via_and_joints_are_written_as_streams() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("m.csv").to_str().unwrap().to_owned();
    let ends = ["--from", "x=0,y=0.3", "--to", "x=0.05,y=0.28", "--time", "0.5", "--csv", &csv];
    let ways: [&[&str]; 4] = [
        &["--law", "s-curve"],
        &["--via", "x=0.02,y=0.31@0.2", "--via", "x=0.04,y=0.3@0.35"],
        &["--via", "x=0.02,y=0.31@0.2", "--law", "trapezoid"],
        &["--space", "joints", "--law", "poly7"],
    ];
    for way in ways {
        let answer = json(&[&["plan", "five-bar", "--json", "--step", "10ms"], &ends[..], way].concat());
        assert_eq!(answer["crossings"].as_array().unwrap().len(), 0);
        let table = std::fs::read_to_string(&csv).unwrap();
        let last = table.lines().last().unwrap().split(',').map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
        assert!(
            table.lines().count() == 52 && (last[1] - 0.05).abs() < 1e-9 && (last[2] - 0.28).abs() < 1e-9,
            "{last:?}"
        );
        let (_, err, status) = run(&["idm", "five-bar", "--trajectory", &csv]);
        assert_eq!(status, 0, "{err}");
    }
}

#[test]
fn wrong_questions_to_plan_are_refused_with_what_to_do() {
    let base = ["plan", "five-bar", "--from", "x=0,y=0.3"];
    let cases: [(&[&str], i32, &str); 14] = [
        (&["--to", "x=0.05,y=0.28"], 2, "--time"),
        (&["--to", "x=0.05,y=0.28", "--time", "-1"], 2, "--time is -1 s; a motion takes a time that is positive"),
        (&["--to", "x=0.05,y=0.28", "--time", "0"], 2, "--time is 0 s"),
        (&["--to", "x=0.1,y=0.1", "--time", "-1", "--cross"], 2, "--time is -1 s"),
        (&["--to", "x=0.1,y=0.1", "--time", "1", "--cross", "--at-time", "2"], 2, "not between 0 and 1 s"),
        (&["--to", "x=0.1,y=0.1", "--time", "1", "--cross", "--at-twist", "q=2"], 2, "--at-twist"),
        (&["--to", "x=0.1,y=0.1", "--time", "1", "--cross", "--at-acceleration", "x=1,y=1"], 2, "leave none"),
        (&["--to", "x=0.05,y=0.28", "--time", "1", "--via", "x=0,y=0.3"], 2, "has no time"),
        (&["--to", "x=0.05,y=0.28", "--time", "1", "--via", "x=0,y=0.31@2"], 2, "must rise"),
        (&["--to", "x=0.05,y=0.28", "--fastest"], 2, "needs limits"),
        (&["--to", "x=0.05,y=0.28", "--time", "1", "--cross"], 1, "crosses no singularity"),
        (&["--to", "x=0.1,y=0.1", "--time", "1", "--cross", "--at", "x=0,y=0.3"], 1, "not near a Type 2"),
        (&["--to", "x=2,y=0.28", "--time", "1"], 1, "out of reach"),
        (&["--to", "x=0.1,y=0.1", "--time", "1", "--cross", "--to-mode=-+"], 2, "differ in 2 legs"),
    ];
    for (more, status, words) in cases {
        let (_, err, found) = run(&[&base[..], more].concat());
        assert!(found == status && err.contains(words), "{more:?}: {found} {err}");
    }
}

#[test]
fn a_leg_is_led_through_an_lpjts_into_another_working_mode() {
    let to = ["plan", "tripteron", "--to", "x=0.28,y=0.33,z=0.22", "--to-mode=-++", "--time", "1", "--cross"];
    let answer = json(&[&to[..], &["--json"]].concat());
    let crossing = &answer["crossings"][0];
    assert_eq!((crossing["kind"].as_str(), crossing["mode_after"].as_str()), (Some("lpjts"), Some("-++")));
    assert!(number(&crossing["criterion"]).abs() < 1e-9, "{crossing}");
    assert!(
        answer["simulated"]["beyond"] == true && number(&answer["simulated"]["off"]) < 1e-5,
        "{}",
        answer["simulated"]
    );
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("plan.csv").to_str().unwrap().to_owned();
    let (out, _, status) = run(&[&to[..], &["--csv", &csv]].concat());
    // In one working mode the way comes to the end of the leg's reach and goes back: the singularity is told.
    let (along, _, _) = run(&["idm", "tripteron", "--trajectory", &csv]);
    assert!(along.contains("LPJTS singularity of leg 1 met at t = 0.50528"), "{along}");
    assert!(status == 0 && out.contains("LPJTS singularity of leg 1 crossed") && out.contains("beyond the"), "{out}");
}

#[test]
fn the_plan_is_followed_through_the_singularity() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("plan.csv").to_str().unwrap().to_owned();
    json(&["plan", "3-rpr", "--to", "x=0.03,y=-0.02,phi=-0.5", "--time", "1", "--cross", "--csv", &csv, "--json"]);
    let simulate = ["simulate", "3-rpr", "--time", "1", "--through-type2", "--json"];
    let law = ["--controller", "computed-torque", "--trajectory", &csv, "--feed-forward", "--period", "1ms"];
    for law in [&law[..], &["--efforts", &csv]] {
        let answer = json(&[&simulate[..], law].concat());
        assert_eq!(answer["stop"]["kind"], "end");
        let p = &answer["states"].as_array().unwrap().last().unwrap()["pose"]["p"];
        assert!((number(&p[0]) - 0.03).hypot(number(&p[1]) + 0.02) < 1e-3, "{p}");
    }
}

#[test]
fn wishes_for_a_crossing_are_met() {
    let ask =
        ["plan", "five-bar", "--from", "x=0,y=0.338175", "--to", "x=0.1,y=0.1", "--time", "1.5", "--cross", "--json"];
    let with = |more: &[&str]| json(&[&ask[..], more].concat());
    let near = |x: &Value, y: f64| assert!((number(x) - y).abs() < 1e-8, "{x} {y}");
    let timed = with(&["--at-time", "0.9"]);
    near(&timed["crossings"][0]["t"], 0.9);
    // Rates and accelerations at the crossing, from the polynomials.
    let derivative = |answer: &Value, name: &str, t: f64, order: u32| -> f64 {
        let mut list: Vec<f64> = answer["coefficients"][name].as_array().unwrap().iter().map(number).collect();
        for _ in 0..order {
            list = list.iter().enumerate().skip(1).map(|(k, c)| k as f64 * c).collect();
        }
        list.iter().rev().fold(0.0, |sum, c| sum * t + c)
    };
    let swift = with(&["--at", "x=0.0544,y=0.2", "--at-time", "0.75", "--at-twist", "x=0.2,y=-0.4"]);
    assert!(
        (derivative(&swift, "x", 0.75, 1) - 0.2).abs() < 1e-8 && (derivative(&swift, "y", 0.75, 1) + 0.4).abs() < 1e-8
    );
    let held = with(&["--at", "x=0.0544,y=0.2", "--at-time", "0.75", "--at-acceleration", "x=0.1"]);
    assert!((derivative(&held, "x", 0.75, 2) - 0.1).abs() < 1e-7, "{}", held["coefficients"]);
    let moved = number(&held["moved_onto_singularity"][0]);
    assert!(moved > 1e-6 && moved < 1e-4, "{moved}");
    for answer in [timed, swift, held] {
        assert_eq!(answer["crossings"][0]["bounded"], true, "{}", answer["crossings"]);
    }
}

#[test]
fn a_search_gives_a_better_plan_that_depends_on_its_seed() {
    let ask =
        ["plan", "five-bar", "--from", "x=0,y=0.338175", "--to", "x=0.1,y=0.1", "--time", "1.5", "--cross", "--json"];
    let with = |more: &[&str]| json(&[&ask[..], more].concat());
    let peak = |answer: &Value| number(&answer["score"]["peak"]);
    let first = with(&[]);
    let [one, other] = ["3", "4"].map(|seed| with(&["--optimise", "peak", "--seed", seed]));
    assert!(
        peak(&one) < 0.95 * peak(&first) && peak(&other) < 0.95 * peak(&first),
        "{} {}",
        one["score"],
        first["score"]
    );
    assert_ne!(one["coefficients"], other["coefficients"]);
    assert!(number(&one["motions_looked_at"]) > 100.0 && one["crossings"][0]["bounded"] == true);
}

#[test]
fn pictures_and_files_of_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let ask = ["plan", "five-bar", "--from", "x=0,y=0.338175", "--to", "x=0.1,y=0.1", "--time", "1.5", "--cross"];
    for (show, says) in [
        ("efforts", &["Efforts of five-bar", "Type 2 singularity at t ="][..]),
        ("motion", &["Planned motion of five-bar", "platform (m, rad)"]),
        ("path", &["over its singularities", "\nway\n", "Type 2"]),
    ] {
        let picture = at("p.svg");
        let (_, err, status) = run(&[&ask[..], &["--plot", &picture, "--show", show]].concat());
        assert_eq!(status, 0, "{err}");
        let drawn = std::fs::read_to_string(&picture).unwrap();
        says.iter().for_each(|words| assert!(drawn.contains(words), "{show}: no {words}"));
    }
    let kept = at("answer.json");
    let (out, _, status) = run(&[&ask[..], &["--json", "--output", &kept]].concat());
    assert!(status == 0 && out.is_empty(), "{out}");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
    assert_eq!(kept["coefficients"], json(&[&ask[..], &["--json"]].concat())["coefficients"]);
}

#[test]
fn the_robot_that_is_planned_for_is_the_one_asked_for() {
    let ask = ["plan", "five-bar", "--from", "x=0,y=0.3", "--to", "x=0.05,y=0.28", "--time", "0.5", "--json"];
    let with = |more: &[&str]| json(&[&ask[..], more].concat());
    let (plain, other) = (with(&[]), with(&["--mode=++"]));
    assert_eq!((plain["working_mode"].as_str(), other["working_mode"].as_str()), (Some("+-"), Some("++")));
    assert_ne!(plain["states"][0]["active"]["q"], other["states"][0]["active"]["q"]);
    // A tool of ten times the mass, and efforts without friction that differ.
    let effort = |answer: &Value| number(&answer["states"][100]["efforts"][0]);
    assert!((effort(&with(&["--set", "m4=2.72"])) - effort(&plain)).abs() > 1e-3);
    let drives = |actuation: &str| {
        let ask = ["plan", "navaro", "--to", "x=0.01", "--time", "0.5", "--json", "--actuation", actuation];
        json(&ask)["active_joints"].clone()
    };
    assert_eq!(drives("links-1"), serde_json::json!(["11", "21", "31"]));
    assert_eq!(drives("links-2"), serde_json::json!(["12", "22", "32"]));
    // Files that a robot names lie below its folder, unless that is allowed.
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    file(folder.path(), "secret.json", "{}");
    let robot = "[robot]\nname = \"r\"\n[platform]\ncoordinates = \"planar\"\n[[body]]\nname = \"m\"\non = \"base\"\njoint = \"R\"\n\
                 modal = { file = \"../secret.json\" }\n";
    let robot = file(&inner, "r.toml", robot);
    let told = |more: &[&str]| run(&[&["plan", &robot, "--to", "x=0", "--time", "1"], more].concat()).1;
    assert!(told(&[]).contains("--allow-outside"), "{}", told(&[]));
    assert!(!told(&["--allow-outside"]).contains("not below the folder"));
}

#[test]
fn what_a_motion_was_looked_at_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let way = file(folder.path(), "way.csv", "t,x,y,xd,yd,xdd,ydd\n0,0,0.3,0,0,0,0\n0.4,0.05,0.28,0,0,0,0\n");
    let ask = ["idm", "five-bar", "--trajectory", &way, "--json"];
    let (samples, fine) = (json(&ask), json(&[&ask[..], &["--step", "1ms"]].concat()));
    assert_eq!((&samples["looked_at"]["instants"], &fine["looked_at"]["instants"]), (&2.into(), &401.into()));
    let peak = |answer: &Value| number(&answer["drives"][0]["peak"]).abs();
    let rows = samples["states"].as_array().unwrap().iter().map(|s| number(&s["efforts_with_friction"][0]).abs());
    // `between` is true: the peak of two samples is that of a table every millisecond, and above the samples themselves.
    assert_eq!(samples["looked_at"]["between"], true);
    assert!(
        (peak(&samples) - peak(&fine)).abs() < 1e-5 * peak(&fine) && peak(&samples) > 1.001 * rows.fold(0.0, f64::max)
    );
}
