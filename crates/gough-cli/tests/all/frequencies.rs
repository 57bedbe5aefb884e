//! `frequencies`, and maps of frequencies, from the command line.

#[allow(dead_code)]
use crate::common::{document, json, run};
use serde_json::Value;

fn hz(answer: &Value) -> Vec<f64> {
    answer["frequencies_hz"].as_array().unwrap().iter().map(|f| f.as_f64().unwrap()).collect()
}

#[test]
fn the_published_frequencies_of_navaro() {
    let answer = json(&["frequencies", "navaro", "--pose", "x=0,y=0,theta=0", "--count", "5", "--json"]);
    assert_eq!(answer["dof"], 90);
    for (f, printed) in hz(&answer).iter().zip([44.10, 44.10, 53.98, 60.63, 95.62]) {
        assert!((f - printed).abs() < 0.00501, "{f} {printed}");
    }
    assert_eq!(answer["modes"][0]["multiplicity"], 2);
    assert_eq!(answer["modes"][3]["multiplicity"], 1);
    let (out, _, status) = run(&["frequencies", "navaro", "--count", "5"]);
    assert!(status == 0 && out.contains("90 degrees of freedom"), "{out}");
    assert!(out.contains("44.104635") && out.contains("torsion 46 %") && out.contains("= equal frequencies"), "{out}");
}

#[test]
fn shapes_sensitivities_and_reduction() {
    let ask =
        ["frequencies", "five-bar-flexible", "--count", "3", "--modes", "--sensitivity", "--reduce", "2", "--json"];
    let answer = json(&ask);
    let first = &answer["sensitivities"][0];
    assert!(first["percent_per_percent"].as_array().unwrap().len() == 3, "{first}");
    let shape = answer["modes"][0]["shape"].as_array().unwrap();
    assert!(shape.iter().any(|n| n["of"] == "11[1]" && n["motion"][0].as_f64().unwrap().abs() > 0.1), "{shape:?}");
    let errors = answer["reduced"]["relative_errors"].as_array().unwrap();
    assert!(errors.iter().all(|e| (-1e-9..1.0).contains(&e.as_f64().unwrap())), "{errors:?}");
    let (out, _, status) = run(&ask[..ask.len() - 1]);
    assert!(status == 0 && out.contains("shape of mode 1") && out.contains("legs reduced"), "{out}");
    assert!(out.contains("per cent of each frequency"), "{out}");
}

#[test]
fn drives_lock_give_way_or_move_freely() {
    let count = |drives: &str| {
        let answer = json(&["frequencies", "dual-emps", "--actuators", drives, "--count", "all", "--json"]);
        (hz(&answer).len(), hz(&answer)[0])
    };
    assert_eq!(count("locked").0, 9);
    assert_eq!(count("free"), (11, 0.0));
    let stiff = json(&["frequencies", "five-bar-flexible", "--actuators", "locked", "--json"]);
    let soft = json(&["frequencies", "five-bar-flexible", "--json"]);
    assert!(hz(&soft)[0] < hz(&stiff)[0]);
}

#[test]
fn curves_follow_a_mode_and_areas_say_where_it_is_lowest() {
    let curve =
        json(&["map", "navaro", "--quantity", "f1", "--region", "y=-0.1:0.1:21", "--pose", "x=0,phi=-60deg", "--json"]);
    assert_eq!((curve["unit"].as_str(), curve["followed"].as_bool()), (Some("Hz"), Some(true)));
    let area = json(&[
        "map",
        "navaro",
        "--quantity",
        "f1",
        "--region",
        "x=-0.2:0.2:9,y=-0.2:0.2:9",
        "--pose",
        "phi=-60deg",
        "--json",
    ]);
    assert_eq!(area["followed"], false);
    let lowest = area["lowest"]["frequency_hz"].as_f64().unwrap();
    let values =
        area["values"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap()).filter_map(Value::as_f64);
    assert!((values.fold(f64::INFINITY, f64::min) - lowest).abs() < 1e-9);
}

#[test]
fn questions_without_an_answer_say_what_to_do() {
    for (arguments, kind, words, wanted) in [
        (&["frequencies", "five-bar"][..], "nothing-moves", "nothing can vibrate", 2),
        (&["frequencies", "navaro", "--count", "0"], "usage", "--count", 2),
        (&["frequencies", "navaro", "--pose", "x=2,y=0,phi=0"], "out-of-reach", "leg", 1),
        (&["map", "navaro", "--quantity", "f200", "--region", "x=0:0.1"], "usage", "90 natural frequencies", 2),
        (&["map", "five-bar", "--quantity", "f1", "--region", "x=0:0.1"], "nothing-moves", "nothing can vibrate", 2),
    ] {
        let (answer, status) = document(&[arguments, &["--json"]].concat());
        assert_eq!((answer["error"]["kind"].as_str(), status), (Some(kind), wanted), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    }
}
