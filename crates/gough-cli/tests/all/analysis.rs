//! `gough singularities` and `gough map`.
#[allow(dead_code)]
use crate::common::{document, file, json, repository, run};
use serde_json::Value;
use std::path::Path;

/// Motors of the five-bar, length of a stretched and of a folded leg.
const MOTORS: [f64; 2] = [-0.14, 0.14];
const STRETCHED: f64 = 0.213 + 0.1878;
const FOLDED: f64 = 0.213 - 0.1878;

/// Why a quantity is not computed on a graphics processor: the program's, or the quantity's.
const NOT_ON_DEVICE: &str =
    if cfg!(feature = "cuda") { "follows neither from the Jacobian" } else { "--features cuda" };

const ALL: [&str; 15] = [
    "reachable",
    "modes",
    "aspect",
    "conditioning",
    "manipulability",
    "determinant",
    "distance",
    "distance-type1",
    "distance-type2",
    "distance-lpjts",
    "distance-constraint",
    "amplification",
    "effort",
    "holding",
    "stiffness",
];

fn of_kind<'a>(answer: &'a Value, kind: &str) -> Vec<&'a Value> {
    answer["singularities"].as_array().unwrap().iter().filter(|s| s["kind"] == kind).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn a_regular_pose_is_told_with_its_distances() {
    let pose = ["singularities", "five-bar", "--pose", "x=0.05,y=0.25"];
    let (out, err, status) = run(&pose);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("not singular") && out.contains("working mode +-"), "{out}");
    assert!(out.contains("singular below sigma = 1e-6"), "{out}");

    let answer = json(&[&pose[..], &["--json"]].concat());
    assert_eq!(answer["working_mode"], "+-");
    let scale = number(&json(&["check", "five-bar", "--json"])["length_scale"]);
    assert_eq!(number(&answer["length_scale"]), scale);
    assert_eq!(answer["undefined"], serde_json::json!([]));
    let list = answer["singularities"].as_array().unwrap();
    assert!(list.iter().all(|s| s["singular"] == false && number(&s["sigma"]) > 1e-6), "{answer:#}");
    // Nearest first; those that no motion comes nearer to have no distance and come last.
    let distances: Vec<f64> = list.iter().map(|s| s["distance"].as_f64().unwrap_or(f64::INFINITY)).collect();
    assert!(distances.is_sorted(), "{distances:?}");
    assert_eq!(of_kind(&answer, "type1").len(), 2, "one per leg");
    for s in of_kind(&answer, "type1") {
        assert!(["1", "2"].contains(&s["leg"].as_str().unwrap()) && s["wrench"].as_array().unwrap().len() == 6);
    }
    let type_2 = of_kind(&answer, "type2")[0];
    assert!(type_2["leg"].is_null() && type_2["twist"].as_array().unwrap().len() == 6);
    // Type 2: two unit forces at an angle whose sine is det A_r = 0.48337.
    let half = 0.5 * 0.483_365_795_3_f64.asin();
    assert!((number(&type_2["sigma"]) - 2.0_f64.sqrt() * half.sin()).abs() < 1e-9, "{type_2}");
    assert_eq!((&answer["lines"]["rank"], &answer["lines"]["class"]), (&Value::from(2), &Value::from("2b")));
}

#[test]
fn a_stretched_leg_is_named() {
    let (x, y) = (MOTORS[0] + 0.6 * STRETCHED, 0.8 * STRETCHED);
    let pose = format!("x={x},y={y}");
    let (out, err, status) = run(&["singularities", "five-bar", "--pose", &pose]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("SINGULAR: Type 1 of leg 1: the platform cannot move along the wrench"), "{out}");
    let answer = json(&["singularities", "five-bar", "--pose", &pose, "--json"]);
    let list = answer["singularities"].as_array().unwrap();
    let singular: Vec<&Value> = list.iter().filter(|s| s["singular"] == true).collect();
    assert_eq!(singular.len(), 1, "{answer:#}");
    assert_eq!((&singular[0]["kind"], &singular[0]["leg"]), (&Value::from("type1"), &Value::from("1")));
    assert_eq!(singular[0]["distance"], 0.0);
    let f: Vec<f64> = singular[0]["wrench"].as_array().unwrap().iter().map(number).collect();
    assert!(((0.6 * f[0] + 0.8 * f[1]).abs() - 1.0).abs() < 1e-6, "{f:?}");

    let (_, err, status) = run(&["singularities", "five-bar", "--pose", "x=0.9,y=0.25"]);
    assert!(status == 1 && err.contains("out of reach of leg"), "{err}");
}

#[test]
fn aligned_distal_links_are_type_2() {
    let height = (0.213_f64.powi(2) - (0.1878_f64 - 0.14).powi(2)).sqrt();
    let pose = format!("x=0,y={height}");
    let answer = json(&["singularities", "five-bar", "--pose", &pose, "--json"]);
    let found = of_kind(&answer, "type2")[0];
    assert_eq!(found["singular"], true, "{answer:#}");
    let t: Vec<f64> = found["twist"].as_array().unwrap().iter().map(number).collect();
    assert!(t[0].abs() < 1e-6 && (t[1].abs() - 1.0).abs() < 1e-6, "free along y: {t:?}");
    assert_eq!(answer["lines"]["rank"], 1, "both drives pull along one line");
    let (out, _, _) = run(&["singularities", "five-bar", "--pose", &pose]);
    assert!(
        out.contains("SINGULAR: Type 2: the platform moves along the twist although the drives are locked"),
        "{out}"
    );
    // Matrices that do not exist there are told apart from those that do.
    let matrices = json(&["kinematics", "five-bar", "--pose", &pose, "--matrices", "--json"]);
    let M = &matrices["working_modes"][0]["matrices"];
    assert!(M["J"].is_null() && M["J_inv"].is_array(), "{M:#}");
    let (out, _, _) = run(&["kinematics", "five-bar", "--pose", &pose, "--matrices"]);
    assert!(out.contains("J does not exist here"), "{out}");
}

#[test]
fn refined_distances_are_those_of_the_circles() {
    let answer = json(&["singularities", "five-bar", "--pose", "x=0,y=0.2", "--refine", "--budget", "60", "--json"]);
    let outward = STRETCHED - 0.14_f64.hypot(0.2);
    for s in of_kind(&answer, "type1") {
        let near = &s["nearest"];
        assert!((number(&near["distance"]) - outward).abs() < 1e-6, "{s:#}");
        assert!(number(&near["sigma"]) < 1e-6);
        let motor = MOTORS[s["leg"].as_str().unwrap().parse::<usize>().unwrap() - 1];
        let r = (number(&near["pose"]["p"][0]) - motor).hypot(number(&near["pose"]["p"][1]));
        assert!((r - STRETCHED).abs() < 1e-6, "{s:#}");
    }
    assert!(of_kind(&answer, "type2")[0]["nearest"]["distance"].is_number());
    let (out, _, _) = run(&["singularities", "five-bar", "--pose", "x=0,y=0.2", "--refine", "--budget", "60"]);
    assert!(out.contains("nearest (m)") && out.contains("nearest Type 1 of leg 1: x = "), "{out}");
}

#[test]
fn curves_of_the_five_bar_lie_on_its_circles() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("a.svg");
    let region = ["singularities", "five-bar", "--region", "x=-0.3:0.3:31,y=-0.41:0.41:42"];
    let more = ["--accuracy", "1e-5", "--plot", picture.to_str().unwrap(), "--json"];
    let answer = json(&[&region[..], &more].concat());
    assert_eq!(answer["accuracy"], 1e-5);
    assert_eq!(answer["axes"][1], serde_json::json!({ "name": "y", "low": -0.41, "high": 0.41, "count": 42 }));
    let (mut type_1, mut type_2) = (0, 0);
    for curve in answer["curves"].as_array().unwrap() {
        let points = curve["points"].as_array().unwrap();
        match curve["kind"].as_str().unwrap() {
            "type1" => {
                let motor = MOTORS[curve["leg"].as_str().unwrap().parse::<usize>().unwrap() - 1];
                for p in points {
                    let r = (number(&p[0]) - motor).hypot(number(&p[1]));
                    let off = (r - STRETCHED).abs().min((r - FOLDED).abs());
                    assert!(off < 1e-5, "{p}: {off}");
                }
                type_1 += points.len();
            }
            "type2" => type_2 += points.len(),
            other => panic!("{other}"),
        }
    }
    assert!(type_1 > 50 && type_2 > 20, "{type_1} {type_2}");
    let areas: Vec<f64> = answer["aspects"].as_array().unwrap().iter().map(|a| number(&a["area"])).collect();
    assert!(areas.len() >= 2 && areas.is_sorted_by(|a, b| a >= b), "{areas:?}");
    assert!((areas.iter().sum::<f64>() - number(&answer["reachable_area"])).abs() < 1e-12);
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.contains("<svg") && drawn.contains("Type 1, leg 1"));

    let (out, err, status) = run(&[&region[..], &["--accuracy", "1e-4"]].concat());
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("Type 1, leg 1") && out.contains("aspect 1") && out.contains("--plot FILE.svg"), "{out}");
}

/// A coarse accuracy makes fewer points, not more pieces.
#[test]
fn a_coarse_accuracy_leaves_curves_whole() {
    let region = ["singularities", "five-bar", "--region", "x=-0.3:0.3:31,y=-0.41:0.41:42", "--json"];
    let curves = |accuracy: &str| {
        let answer = json(&[&region[..], &["--accuracy", accuracy]].concat());
        let list = answer["curves"].as_array().unwrap();
        let points: usize = list.iter().map(|c| c["points"].as_array().unwrap().len()).sum();
        (list.len(), points)
    };
    let (fine, coarse) = (curves("1e-6"), curves("1e-3"));
    assert_eq!(fine.0, coarse.0, "{fine:?} {coarse:?}");
    assert!(coarse.1 < fine.1, "{fine:?} {coarse:?}");
}

/// Nodes that lie on a curve, as symmetric regions have them, change nothing: the 3-RPR is singular all along phi = 0.
#[test]
fn nodes_on_a_curve_do_not_open_it() {
    let at = |nodes: &str| {
        let region = format!("x=-0.4:0.4:{nodes},phi=-170deg:170deg:{nodes}");
        let answer = json(&["singularities", "3-rpr", "--region", &region, "--pose", "y=0", "--json"]);
        let count = |key: &str| answer[key].as_array().unwrap().len();
        (count("curves"), count("aspects"))
    };
    assert_eq!(at("40").1, 6);
    assert_eq!(at("40"), at("41"));
}

/// The same questions of both commands, and what is wrong with them.
#[test]
fn regions_that_cannot_be_are_refused() {
    for (region, pose, says) in [
        ("x=0.1:0.1,y=0:0.3", None, "the span of x needs two different ends"),
        ("x=0.2:0.1,y=0:0.3", None, "the span of x needs two different ends"),
        ("x=0:0.1:1,y=0:0.3", None, "the span of x needs two different ends and two values or more"),
        ("x=0:0.1,x=0:0.3", None, "x is spanned twice"),
        ("x=0:0.1,z=0:0.3", None, "the platform does not move in z by itself; it has x, y"),
        ("x=0:0.1,w=0:0.3", None, "no platform coordinate `w`"),
        ("x=0:0.1,y", None, "NAME=LOW:HIGH"),
        ("x=0:0.1,y=1", None, "NAME=LOW:HIGH"),
        ("x=0:0.1,y=0:1:2:3", None, "NAME=LOW:HIGH"),
        ("x=0:0.1,y=0:1:many", None, "NAME=LOW:HIGH"),
        ("x=0:0.1,y=0:nan", None, "not a finite number"),
        ("x=0:30deg,y=0:0.1", None, "x is a length"),
        ("x=0:0.1,y=0:0.3,z=0:1,phi=0:1", None, "one to three coordinates, not 4"),
        ("x=0:1:100000,y=0:1:100000", None, "more than 100000000"),
        ("x=0:0.1,y=0.2:0.3", Some("y=0.2"), "y is in --region and in --pose"),
        ("x=0:0.1", Some("y=0.2,y=0.3"), "y is given twice"),
        ("x=0:0.1", Some("z=0.2"), "the platform does not move in z by itself"),
        ("x=0:0.1", Some("y=2 kg"), "y is a length"),
        ("", None, "one to three coordinates, not 0"),
    ] {
        for command in [&["singularities", "five-bar"][..], &["map", "five-bar", "--quantity", "conditioning"]] {
            let pose = pose.map_or_else(Vec::new, |p| vec!["--pose", p]);
            let (out, err, status) = run(&[command, &["--region", region], &pose].concat());
            assert_eq!((out.as_str(), status), ("", 2), "{command:?} {region}: {err}");
            assert!(err.contains(says), "{command:?} {region}: {err}");
        }
    }
}

#[test]
fn curves_need_two_coordinates_and_an_accuracy_that_can_be() {
    let region = "x=-0.1:0.1:5,y=0.2:0.3:5";
    for (arguments, says) in [
        (&["--region", "x=0:0.1"][..], "two coordinates"),
        (&["--region", "x=0:0.1", "--pose", "y=0.3"], "two coordinates"),
        (&["--region", region, "--accuracy", "0"], "between 1e-12 and 1"),
        (&["--region", region, "--accuracy", "1e-13"], "between 1e-12 and 1"),
        (&["--region", region, "--accuracy", "1"], "between 1e-12 and 1"),
        (&["--region", region, "--accuracy", "nan"], "between 1e-12 and 1"),
        (&["--region", region, "--accuracy", "fine"], "invalid"),
        (&["--region", region, "--mode=all"], "one working mode at a time"),
        (&["--region", region, "--refine"], "--refine"),
        (&["--pose", "x=0.05,y=0.25", "--plot", "a.svg"], "--region"),
        (&["--pose", "x=0.05,y=0.25", "--accuracy", "1e-3"], "--region"),
        (&["--region", region, "--plot", "a.pdf"], "pdf"),
        (&[], "required"),
    ] {
        let (out, err, status) = run(&[&["singularities", "five-bar"], arguments].concat());
        assert_eq!((out.as_str(), status), ("", 2), "{arguments:?}: {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
    assert!(!Path::new("a.pdf").exists());
    let (_, err, status) = run(&["singularities", "five-bar", "--region", "x=5:6:5,y=5:6:5"]);
    assert!(status == 1 && err.contains("no node of the region can be reached"), "{err}");
}

#[test]
fn curves_over_an_angle_take_their_place_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.json");
    let arguments = ["singularities", "3-rpr", "--region", "x=-0.1:0.1:11,phi=-60deg:60deg:11", "--pose", "y=0.05"];
    let (_, err, status) = run(&[&arguments[..], &["--json", "-o", out.to_str().unwrap()]].concat());
    assert_eq!(status, 0, "{err}");
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(answer["axes"][1]["name"], "phi");
    assert!((number(&answer["axes"][1]["high"]) - std::f64::consts::FRAC_PI_3).abs() < 1e-12);
}

/// What `--wrench` and `--stiffness` a quantity needs.
fn needs(quantity: &str) -> &'static [&'static str] {
    match quantity {
        "effort" => &["--wrench", "fx=10,fy=-5"],
        "stiffness" => &["--stiffness", "1000"],
        _ => &[],
    }
}

#[test]
fn every_quantity_is_mapped_with_its_table() {
    let folder = tempfile::tempdir().unwrap();
    for (robot, region) in [
        ("five-bar", &["--region", "x=-0.05:0.05:4,y=0.2:0.28:3"][..]),
        ("3-rpr", &["--region", "x=-0.05:0.05:4,y=-0.05:0.05:3", "--pose", "phi=0.1"]),
    ] {
        for quantity in ALL {
            // No motion of these robots comes nearer to these kinds: no node has a distance. The singular value of the
            // five-bar's constraints is the same over parts of the region.
            let never = match robot {
                "five-bar" => quantity == "distance-lpjts",
                _ => ["distance-type1", "distance-constraint"].contains(&quantity),
            };
            let some = (robot, quantity) == ("five-bar", "distance-constraint");
            let csv = folder.path().join("map.csv");
            let question = ["map", robot, "--quantity", quantity, "--csv", csv.to_str().unwrap(), "--json"];
            let (answer, status) = document(&[&question[..], region, needs(quantity)].concat());
            assert_eq!(status, 0, "{robot} {quantity}: {answer}");
            assert_eq!((&answer["quantity"], &answer["robot"]), (&Value::from(quantity), &Value::from(robot)));
            assert_eq!(answer["complete"], true);
            for key in ["unit", "working_mode", "length_scale", "refused"] {
                assert!(answer.get(key).is_some(), "{robot} {quantity}: {key}");
            }
            // Nested as the axes are listed, the first outermost.
            let axes = answer["axes"].as_array().unwrap();
            assert_eq!((&axes[0]["name"], &axes[1]["name"]), (&Value::from("x"), &Value::from("y")));
            let values = answer["values"].as_array().unwrap();
            assert_eq!((values.len(), axes[0]["values"].as_array().unwrap().len()), (4, 4));
            assert!(values.iter().all(|row| row.as_array().unwrap().len() == 3));
            let numbers = values.iter().flat_map(|row| row.as_array().unwrap()).filter(|v| v.is_number()).count();
            assert!(some || numbers == if never { 0 } else { 12 }, "{robot} {quantity}: {answer}");
            let sized = ["reachable", "aspect"].contains(&quantity);
            assert_eq!(answer.get("reachable").is_some() && answer.get("aspects").is_some(), sized, "{quantity}");

            let table = std::fs::read_to_string(&csv).unwrap();
            let lines: Vec<&str> = table.lines().collect();
            assert_eq!((lines.len(), lines[0]), (13, format!("x,y,{quantity}").as_str()));
            // The first coordinate changes fastest.
            for (n, line) in lines[1..].iter().enumerate() {
                let cells: Vec<&str> = line.split(',').collect();
                assert_eq!(cells[0].parse::<f64>().unwrap(), number(&axes[0]["values"][n % 4]), "{line}");
                let value = &answer["values"][n % 4][n / 4];
                match value.as_f64() {
                    // The reader of JSON may miss the last digit.
                    Some(v) => assert!((cells[2].parse::<f64>().unwrap() - v).abs() <= 1e-15 * v.abs(), "{line}"),
                    None => assert_eq!(cells[2], ""),
                }
            }
            let (out, _, _) = run(&[&["map", robot, "--quantity", quantity], region, needs(quantity)].concat());
            assert!(out.starts_with(&format!("{quantity} of {robot} in working mode")), "{out}");
            assert!(out.contains("nodes answered") && out.contains("--plot FILE.svg"), "{out}");
        }
    }
}

#[test]
fn maps_hold_the_numbers_of_single_postures() {
    let one = |quantity: &str, more: &[&str]| {
        let question = ["map", "five-bar", "--quantity", quantity, "--region", "x=0.05:0.06:2,y=0.25:0.26:2", "--json"];
        number(&json(&[&question[..], more].concat())["values"][0][0])
    };
    let J = [[-0.129_250_458_7, -0.086_322_023_1], [-0.409_496_217_7, 0.428_570_790_1_f64]];
    let det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    let squares = J.concat().iter().map(|x| x * x).sum::<f64>();
    // Singular values a ≥ b: a² + b² = squares, a b = |det|.
    let (plus, minus) = ((squares + 2.0 * det.abs()).sqrt(), (squares - 2.0 * det.abs()).sqrt());
    let (high, low) = (0.5 * (plus + minus), 0.5 * (plus - minus));
    assert!((one("conditioning", &[]) - low / high).abs() < 1e-8);
    let length = number(&json(&["check", "five-bar", "--json"])["length_scale"]);
    assert!((one("manipulability", &[]) - det.abs() / length.powi(2)).abs() < 1e-8);
    assert!((one("determinant", &[]).abs() - 0.483_365_795_3).abs() < 1e-9);
    let column = |j: usize| J[0][j].hypot(J[1][j]);
    assert!((one("amplification", &[]) - column(0).max(column(1))).abs() < 1e-9);
    let effort = |j: usize| (10.0 * J[0][j] - 5.0 * J[1][j]).abs();
    assert!((one("effort", &["--wrench", "fx=10,fy=-5"]) - effort(0).max(effort(1))).abs() < 1e-8);
    // K = k J⁻ᵀ J⁻¹: its lowest eigenvalue is k over the largest singular value of J, squared.
    assert!((one("stiffness", &["--stiffness", "1000"]) - 1000.0 / high.powi(2)).abs() < 1e-4);
    assert_eq!(one("modes", &[]), 4.0);
    let report = json(&["singularities", "five-bar", "--pose", "x=0.05,y=0.25", "--json"]);
    for (quantity, kind) in [("distance-type1", "type1"), ("distance-type2", "type2")] {
        let nearest = of_kind(&report, kind).iter().map(|s| number(&s["distance"])).fold(f64::INFINITY, f64::min);
        assert!((one(quantity, &[]) - nearest).abs() < 1e-12, "{quantity}");
    }
}

#[test]
fn maps_of_one_and_three_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let line = ["map", "five-bar", "--quantity", "conditioning", "--region", "x=-0.1:0.1:7", "--pose", "y=0.25"];
    let drawn = |name: &str| run(&[&line[..], &["--plot", &path(name)]].concat());
    let (_, err, status) = drawn("a.svg");
    assert_eq!(status, 0, "{err}");
    assert!(std::fs::read_to_string(path("a.svg")).unwrap().contains("conditioning"));
    let (_, err, status) = drawn("a.png");
    if cfg!(feature = "png") {
        assert_eq!(status, 0, "{err}");
        assert!(std::fs::read(path("a.png")).unwrap().starts_with(b"\x89PNG"));
    } else {
        assert!(status == 2 && err.contains("without PNG") && err.contains("--features png"), "{err}");
    }
    let answer = json(&[&line[..], &["--json"]].concat());
    assert_eq!(answer["values"].as_array().unwrap().len(), 7);
    assert!(answer["values"][3].is_number());

    let cube = "x=-0.05:0.05:2,y=-0.05:0.05:3,z=-0.65:-0.6:4";
    let volume = ["map", "delta", "--quantity", "reachable", "--region", cube];
    let answer = json(&[&volume[..], &["--csv", &path("a.csv"), "--json"]].concat());
    let values = &answer["values"];
    assert_eq!(
        [values.as_array().unwrap().len(), values[0].as_array().unwrap().len(), values[0][0].as_array().unwrap().len()],
        [2, 3, 4]
    );
    assert!((number(&answer["reachable"]) - 0.1 * 0.1 * 0.05).abs() < 1e-12, "{answer}");
    assert_eq!(std::fs::read_to_string(path("a.csv")).unwrap().lines().count(), 25);
    let (out, _, _) = run(&volume);
    assert!(out.contains("reachable volume  0.000500"), "{out}");
    let (_, err, status) = run(&[&volume[..], &["--plot", &path("b.svg")]].concat());
    assert!(status == 2 && err.contains("--plot shows one or two coordinates"), "{err}");
    assert!(!Path::new(&path("b.svg")).exists());
}

/// Few nodes go the general road, many a program in blocks.
#[test]
fn holding_is_the_largest_effort_at_rest() {
    for robot in ["delta", "gough-stewart"] {
        let home = json(&["check", robot, "--json"])["home"]["pose"]["p"].clone();
        let [x, y, z] = [0, 1, 2].map(|k| number(&home[k]));
        for count in [2, 17] {
            let spans =
                [("x", x), ("y", y), ("z", z)].map(|(c, at)| format!("{c}={at}:{}:{count}", at + 0.02)).join(",");
            let found = json(&["map", robot, "--quantity", "holding", "--region", &spans, "--json"]);
            let last = count - 1;
            for (node, [x, y, z]) in [([0, 0, 0], [x, y, z]), ([last; 3], [x + 0.02, y + 0.02, z + 0.02])] {
                let pose = format!("x={x},y={y},z={z}");
                let rest = json(&["idm", robot, "--pose", &pose, "--json"]);
                let largest = rest["efforts"].as_array().unwrap().iter().map(|t| number(t).abs()).fold(0.0, f64::max);
                let value = number(&found["values"][node[0]][node[1]][node[2]]);
                assert!(
                    largest > 0.1 && (value - largest).abs() <= 1e-11 * largest,
                    "{robot} {count}: {value} {largest}"
                );
            }
        }
    }
    let (_, err, status) = run(&["map", "navaro", "--quantity", "holding", "--region", "x=0:0.1:2"]);
    assert!(status == 2 && err.contains("idm --deflected"), "{err}");
}

#[test]
fn maps_that_lack_something_are_refused() {
    let region = ["--region", "x=-0.05:0.05:3,y=0.2:0.28:3"];
    for (arguments, says) in [
        (&["--quantity", "stiffness"][..], "not every drive has a stiffness"),
        (&["--quantity", "stiffness", "--stiffness=-1"], "--stiffness: give a positive number"),
        (&["--quantity", "stiffness", "--stiffness", "inf"], "--stiffness: give a positive number"),
        (&["--quantity", "effort"], "`effort` needs the wrench"),
        (&["--quantity", "effort", "--wrench", "fz=1"], "no component `fz`; the platform has fx, fy"),
        (&["--quantity", "effort", "--wrench", "f=1"], "no component `f`"),
        (&["--quantity", "conditionning"], "did you mean `conditioning`?"),
        (&["--quantity", "aspect", "--device", "cuda"], NOT_ON_DEVICE),
        (&["--quantity", "conditioning", "--device", "gpu"], "possible values: cpu, cuda"),
        (&["--quantity", "beauty"], "no quantity is called `beauty`"),
        (&["--quantity", "conditioning", "--mode=all"], "one working mode at a time"),
        (&["--quantity", "conditioning", "--plot", "map.pdf"], "pdf"),
        (&["--quantity", "conditioning", "--plot", "map"], "map"),
        (&[], "--quantity"),
    ] {
        let (out, err, status) = run(&[&["map", "five-bar"], arguments, &region].concat());
        assert_eq!((out.as_str(), status), ("", 2), "{arguments:?}: {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
        let (answer, status) = document(&[&["map", "five-bar"], arguments, &region, &["--json"]].concat());
        assert!(status == 2 && answer["error"]["message"].is_string(), "{arguments:?}: {answer}");
    }
    let (_, err, status) = run(&["map", "five-bar", "--quantity", "conditioning"]);
    assert!(status == 2 && err.contains("--region"), "{err}");
}

#[test]
fn a_region_out_of_reach_is_a_no() {
    for quantity in ["conditioning", "reachable", "modes", "distance"] {
        let question = ["map", "five-bar", "--quantity", quantity, "--region", "x=5:6:3,y=5:6:3"];
        let (out, err, status) = run(&question);
        assert!(status == 1 && err.contains("no node of the region has an answer"), "{quantity}: {err}");
        assert!(out.contains("0 of 9 nodes answered") && out.contains("9 refused: out-of-reach"), "{out}");
        let (answer, status) = document(&[&question[..], &["--json"]].concat());
        assert_eq!(status, 1);
        assert_eq!(answer["refused"], serde_json::json!([{ "kind": "out-of-reach", "count": 9 }]));
        assert!(answer["values"][0][0].is_null());
    }
}

/// What is wrong is told before anything is computed or written.
#[test]
fn a_picture_that_cannot_be_drawn_leaves_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("a.csv");
    let question = ["map", "five-bar", "--quantity", "modes", "--region", "x=-0.05:0.05:3,y=0.2:0.28:3"];
    let (_, err, status) = run(&[&question[..], &["--csv", table.to_str().unwrap(), "--plot", "a.pdf"]].concat());
    assert!(status == 2 && err.contains(".svg or .png"), "{err}");
    assert!(!table.exists());
}

#[test]
fn wrenches_that_contradict_themselves_are_refused() {
    for wrench in ["fx=10,fx=20", "fx=10 kg", "fx=30deg"] {
        let question = ["map", "five-bar", "--quantity", "effort", "--region", "x=-0.05:0.05:3", "--wrench", wrench];
        let (_, err, status) = run(&question);
        assert_eq!(status, 2, "{wrench}: {err}");
    }
}

/// A kind that a robot never meets is no question about the region.
#[test]
fn a_distance_that_is_infinite_everywhere_has_no_mean() {
    let question = ["map", "five-bar", "--quantity", "distance-lpjts", "--region", "x=-0.05:0.05:3,y=0.2:0.28:3"];
    let (out, err, _) = run(&question);
    assert!(!out.contains("mean") && !err.contains("working mode"), "{out}{err}");
}

/// Where a leg is stretched, the distances to other kinds are not zero.
#[test]
fn a_stretched_leg_leaves_the_other_distances_alone() {
    let (x, y) = (MOTORS[0] + 0.6 * STRETCHED, 0.8 * STRETCHED);
    let answer = json(&["singularities", "five-bar", "--pose", &format!("x={x},y={y}"), "--json"]);
    let type_2 = of_kind(&answer, "type2")[0];
    assert!(number(&type_2["sigma"]) > 0.5, "{type_2}");
    assert!(type_2["distance"].as_f64().is_none_or(|d| d > 1e-3), "{type_2}");
}

/// Answers and pictures never go over the robot file.
#[test]
fn pictures_and_tables_spare_the_robot_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(repository("robots/five-bar/robot.toml")).unwrap();
    let robot = file(folder.path(), "robot.toml", &text);
    let region = ["--region", "x=-0.05:0.05:3,y=0.2:0.28:3"];
    let (_, err, status) = run(&[&["map", &robot, "--quantity", "modes", "--csv", &robot][..], &region].concat());
    assert_eq!(std::fs::read_to_string(&robot).unwrap(), text, "{err}");
    assert!(status == 2 && err.contains("would overwrite"), "{err}");
}

/// A failure of these commands names its robot, as those of the others do.
#[test]
fn failures_name_their_robot() {
    for arguments in [
        &["kinematics", "five-bar", "--pose", "x=5,y=5"][..],
        &["singularities", "five-bar", "--pose", "x=5,y=5"],
        &["map", "five-bar", "--quantity", "effort", "--region", "x=0:0.1"],
    ] {
        let (answer, status) = document(&[arguments, &["--json"]].concat());
        assert!(status > 0 && answer["robot"] == "five-bar", "{arguments:?}: {answer}");
    }
}

/// A search that is given no time says so, and ends with what it knows.
#[test]
fn searches_keep_their_budget_and_say_what_is_left() {
    let answer = json(&["singularities", "five-bar", "--pose", "x=0,y=0.2", "--refine", "--budget", "0", "--json"]);
    assert_eq!(of_kind(&answer, "type2")[0]["searched"]["finished"], false);
    let region = ["singularities", "five-bar", "--region", "x=-0.3:0.3:5,y=-0.41:0.41:5", "--budget", "0", "--json"];
    let (out, _, _) = run(&region);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["complete"], false);
    assert!(answer["left"].as_u64().unwrap() > 0);
    let (_, err, status) = run(&["singularities", "five-bar", "--pose", "x=0,y=0.2", "--refine", "--budget=-1"]);
    assert!(status == 2 && err.contains("budget"), "{err}");
}
