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
    let cases: [(&[&str], i32, &str); 9] = [
        (&["--to", "x=0.05,y=0.28"], 2, "--time"),
        (&["--to", "x=0.05,y=0.28", "--time", "-1"], 2, "between 0 and --time"),
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
    let (out, _, status) = run(&to);
    assert!(status == 0 && out.contains("LPJTS singularity of leg 1 crossed"), "{out}");
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
