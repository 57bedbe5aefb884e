//! `frequencies --method cartesian`, its maps and its code, from the command line.

use crate::common::{json, run};
use serde_json::Value;

fn hz(answer: &Value, key: &str) -> Vec<f64> {
    answer[key].as_array().unwrap().iter().map(|f| f.as_f64().unwrap()).collect()
}

fn near(found: &[f64], wanted: &[f64], by: f64) {
    assert_eq!(found.len(), wanted.len(), "{found:?} {wanted:?}");
    found.iter().zip(wanted).for_each(|(f, w)| assert!((f - w).abs() < by, "{found:?} {wanted:?}"));
}

const HELI4: [&str; 4] = ["frequencies", "heli4", "--method", "cartesian"];

fn heli4(more: &[&str]) -> Value {
    let mut all = HELI4.to_vec();
    all.extend(more);
    all.push("--json");
    json(&all)
}

#[test]
fn the_published_frequencies_of_heli4() {
    let answer = heli4(&[]);
    near(&hz(&answer, "rigid_hz"), &[23.5, 26.3, 45.8], 0.0501);
    near(&hz(&answer, "frequencies_hz"), &[20.7, 23.9, 41.1, 246.0, 262.6, 635.8], 0.0501);
    assert_eq!(answer["method"], "cartesian");
    assert!((answer["K_F"][0][0].as_f64().unwrap() - 16170.37).abs() < 0.01, "linear part first");
    assert!(answer["K_G"].as_array().unwrap().iter().flat_map(|r| r.as_array().unwrap()).all(|x| x == 0.0));
    assert!(answer["warnings"][0].as_str().unwrap().contains("157.3 Hz"), "{}", answer["warnings"]);
    let (out, _, status) = run(&HELI4);
    assert!(status == 0 && out.contains("20.7232") && out.contains("drives alone") && out.contains("q11"), "{out}");
}

#[test]
fn choices_of_the_file_can_be_overridden() {
    let exact = heli4(&["--rods", "exact", "--set", "end_effector=0", "--compare", "full"]);
    near(&hz(&exact, "frequencies_hz")[..3], &[25.013, 27.940, 45.757], 0.001);
    for pair in exact["compare"]["modes"].as_array().unwrap().iter().take(3) {
        assert!(pair["difference"].as_f64().unwrap().abs() < 2e-3 && pair["mac"].as_f64().unwrap() > 0.999, "{pair}");
    }
    assert!(exact["compare"]["seconds"]["full"].as_f64().unwrap() > 0.0);
    near(&hz(&heli4(&["--virtual", "null"]), "frequencies_hz")[3..], &[267.4, 276.4, 889.5], 0.051);
    let loaded =
        heli4(&["--set", "end_effector=0", "--pose", "x=0.1,y=0.05,z=-0.6", "--wrench", "fz=-49.05", "--count", "3"]);
    near(&hz(&loaded, "frequencies_hz"), &[24.140, 27.499, 46.393], 0.001);
    assert!((loaded["K_G"][2][2].as_f64().unwrap() + 75.992_726_27).abs() < 1e-6, "{}", loaded["K_G"]);
    let slopes = heli4(&["--sensitivity", "--count", "2"]);
    let ka = slopes["sensitivities"].as_array().unwrap().iter().find(|s| s["parameter"] == "ka").unwrap();
    let effect = ka["percent_per_percent"][0].as_f64().unwrap();
    assert!((0.3..0.5).contains(&effect), "{effect}");
}

#[test]
fn options_of_one_method_are_refused_by_the_other() {
    for (ask, says) in [
        (&["frequencies", "heli4", "--rods", "exact"][..], "--method cartesian"),
        (&["frequencies", "heli4", "--compare", "full"], "--method cartesian"),
        (&["frequencies", "heli4", "--method", "cartesian", "--modes"], "--method full"),
        (&["frequencies", "heli4", "--method", "cartesian", "--wrench", "fq=1"], "fq"),
        (&["frequencies", "delta", "--method", "cartesian"], "nothing can vibrate"),
        (&["map", "heli4", "--quantity", "f7", "--method", "cartesian", "--region", "x=0:0.1:3"], "6 frequencies"),
        (&["map", "heli4", "--quantity", "stiffness-q", "--region", "x=0:0.1:3"], "stiffness-"),
    ] {
        let (out, err, status) = run(ask);
        assert!(status == 2 && (err.contains(says) || out.contains(says)), "{ask:?}: {status} {out} {err}");
    }
}

#[test]
fn maps_of_the_platform() {
    let region = ["--region", "x=-0.05:0.05:5,y=0:0.1:3", "--set", "end_effector=0", "--json"];
    let map = |quantity: &[&str]| {
        let mut all = vec!["map", "heli4", "--quantity"];
        all.extend(quantity);
        all.extend(region);
        json(&all)
    };
    let f1 = map(&["f1", "--method", "cartesian", "--rods", "exact"]);
    let middle = f1["values"][2][0].as_f64().unwrap();
    assert!((middle - 25.013).abs() < 1e-3, "{middle}");
    let (stiff, gives) = (map(&["stiffness-z"]), map(&["compliance"]));
    assert_eq!(stiff["unit"], "N/m");
    let (k, c) = (stiff["values"][2][0].as_f64().unwrap(), gives["values"][2][0].as_f64().unwrap());
    assert!((k - 128_635.466).abs() < 0.01, "{k}");
    assert!(c > 1.0 / k && c < 1.0 / 15000.0, "{c}");
}

#[test]
fn virtual_joints_change_modes_against_the_constraints_alone() {
    let ask = |virtual_twists: &str| {
        let answer = json(&["frequencies", "heli4", "--method", "cartesian", "--virtual", virtual_twists, "--json"]);
        assert_eq!(answer["virtual"], virtual_twists);
        hz(&answer, "frequencies_hz")
    };
    let (pure, attached, null) = (ask("pure"), ask("attached"), ask("null"));
    near(&attached, &pure, 0.05);
    near(&null, &[20.729, 23.922, 41.056, 267.4, 276.4, 889.5], 0.051);
    // A map shows what a posture has.
    for (virtual_twists, wanted) in [("pure", pure), ("null", null)] {
        let region = ["--region", "x=-0.05:0.05:3,y=0:0.1:2", "--virtual", virtual_twists, "--json"];
        let map = json(&[&["map", "heli4", "--quantity", "f4", "--method", "cartesian"], &region[..]].concat());
        near(&[map["values"][1][0].as_f64().unwrap()], &wanted[3..4], 1e-6);
    }
}

#[test]
fn code_for_the_matrices() {
    let (out, err, status) = run(&["codegen", "heli4", "--model", "cartesian-frequencies", "--count"]);
    assert!(status == 0 && out.contains("K_F") && out.contains("operations"), "{out} {err}");
}
