//! Flexible robots in motion, from the command line: static deflection, free and forced vibration, frequency response.

use crate::common::{document, file, json, repository, run};
use serde_json::Value;
use std::fmt::Write as _;

const PLATFORM: &str = "x=0.25,y=0.433,z=1,roll=0,pitch=0,yaw=0";

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value}")).iter().map(|x| x.as_f64().unwrap()).collect()
}

fn largest(value: &Value) -> f64 {
    numbers(value).into_iter().map(f64::abs).fold(0.0, f64::max)
}

/// At the static deflection nothing accelerates; at the undeformed posture elastic coordinates do.
#[test]
fn a_robot_rests_at_its_static_deflection() {
    let idm = ["idm", "gough-stewart-flexible", "--pose", PLATFORM, "--json"];
    let deflected = json(&[&idm[..], &["--deflected"]].concat());
    assert!(largest(&deflected["elastic_qdd"]) < 1e-8, "{}", deflected["elastic_qdd"]);
    assert!(largest(&deflected["elastic"]["q"]) > 1e-3 && deflected["elastic_energy"].as_f64().unwrap() > 1.0);
    let straight = json(&idm);
    assert!(largest(&straight["elastic_qdd"]) > 1.0, "{}", straight["elastic_qdd"]);
    let names = deflected["active_joints"].as_array().unwrap().iter().map(|n| n.as_str().unwrap());
    let efforts: Vec<String> =
        names.zip(numbers(&deflected["efforts"])).map(|(name, effort)| format!("q{name}={effort}")).collect();
    let ddm = ["ddm", "gough-stewart-flexible", "--pose", PLATFORM, "--json", "--efforts", &efforts.join(",")];
    let still = json(&[&ddm[..], &["--deflected"]].concat());
    assert!(largest(&still["acceleration"]) < 1e-7 && largest(&still["elastic_qdd"]) < 1e-7, "{still}");
    assert!(largest(&json(&ddm)["elastic_qdd"]) > 1.0);
}

/// What acts on frequencies or responses alone is told by every motion, in numbers and in words.
#[test]
fn motion_tells_what_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _, _) = run(&["robots", "--show", "dual-emps"]);
    let damped = file(folder.path(), "damped.toml", &text.replace("[elastic]\n", "[elastic]\ndamping = 0.03\n"));
    let out = folder.path().join("code").display().to_string();
    let commands: [&[&str]; 4] = [
        &["idm", &damped, "--pose", "x=0.1"],
        &["ddm", &damped, "--pose", "x=0.1"],
        &["simulate", &damped, "--time", "1e-3", "--every", "1e-3"],
        &["codegen", &damped, "--model", "flexible-ddm", "-o", &out],
    ];
    for command in commands {
        let answer = json(&[command, &["--json"]].concat());
        assert_eq!(answer["left_out"][0]["what"], "damping", "{command:?}");
        assert!(run(command).0.contains("left out: the damping ratio of `[elastic]`"), "{command:?}");
    }
    assert_eq!(json(&["idm", "dual-emps", "--pose", "x=0.1", "--json"])["left_out"], serde_json::json!([]));
}

/// Where joints rub, elastic parts accelerate otherwise: under the efforts with friction `ddm` finds the accelerations with it.
#[test]
fn accelerations_with_friction_belong_to_the_efforts_with_friction() {
    let folder = tempfile::tempdir().unwrap();
    let state = r#"{"active": {"q": [0.0, 0.0], "qd": [0.3, -0.2], "qdd": [1.0, 2.0]}}"#;
    let idm = json(&["idm", "dual-emps", "--json", "--states", &file(folder.path(), "idm.json", state)]);
    let idm = &idm["states"][0];
    let (with, without) = (numbers(&idm["elastic_qdd_with_friction"]), numbers(&idm["elastic_qdd"]));
    assert_ne!(with, without);
    let state =
        format!(r#"{{"active": {{"q": [0.0, 0.0], "qd": [0.3, -0.2]}}, "efforts": {}}}"#, idm["efforts_with_friction"]);
    let states = file(folder.path(), "ddm.json", &state);
    let ddm = json(&["ddm", "dual-emps", "--json", "--friction", "--states", &states]);
    let found = numbers(&ddm["states"][0]["elastic_qdd"]);
    let size = with.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(found.iter().zip(&with).all(|(a, b)| (a - b).abs() < 1e-7 * size), "{found:?} {with:?}");
}

const BENT: &str = "0:0.002:0.005:0:0:0:0:0:0";

fn simulated(more: &[&str]) -> Value {
    json(&[&["simulate", "dual-emps", "--json"][..], more].concat())
}

fn total(state: &Value) -> f64 {
    ["kinetic_energy", "potential_energy", "elastic_energy"].iter().map(|k| state[*k].as_f64().unwrap()).sum()
}

/// Bent and let go with its drives held, a robot keeps its energy; numerical damping takes of it, and only then.
#[test]
fn free_vibration_keeps_its_energy_unless_numerical_damping_takes_it() {
    let change = |more: &[&str]| {
        let held = ["--time", "0.02", "--held", "--elastic", BENT, "--step", "5e-4", "--every", "1e-3"];
        let answer = simulated(&[&held[..], more].concat());
        let states = answer["states"].as_array().unwrap();
        let (first, last) = (&states[0], states.last().unwrap());
        assert_eq!(numbers(&first["elastic"]["q"])[1..3], [0.002, 0.005], "{first}");
        assert!(largest(&last["active"]["qd"]) < 1e-12, "held");
        (total(last) - total(first)) / first["elastic_energy"].as_f64().unwrap()
    };
    let (kept, damped) = (change(&[]), change(&["--numerical-damping"]));
    assert!(kept.abs() < 1e-7 && damped < -1e-5, "{kept} {damped}");
}

/// A push does work while it lasts, and none before or after.
#[test]
fn a_push_acts_in_its_time() {
    let push = ["--time", "0.006", "--held", "--wrench", "fx=10", "--wrench-time", "0.002:0.004", "--every", "1e-3"];
    let answer = simulated(&push);
    let at = |t: f64| {
        let states = answer["states"].as_array().unwrap();
        states.iter().find(|s| (s["t"].as_f64().unwrap() - t).abs() < 1e-9).unwrap_or_else(|| panic!("{t}")).clone()
    };
    let work = |t: f64| at(t)["work"].as_f64().unwrap();
    assert!(work(0.002).abs() < 1e-9 && work(0.004) > 1e-6, "{} {}", work(0.002), work(0.004));
    assert!((work(0.006) - work(0.004)).abs() < 1e-9 * work(0.004).max(1.0), "{} {}", work(0.006), work(0.004));
    let (_, err, status) = run(&["simulate", "dual-emps", "--time", "1", "--held", "--wrench-time", "0.1:0.2"]);
    assert!(status == 2 && err.contains("--wrench"), "{err}");
}

/// Points of beams and bodies, and how far they are off the rigid robot; settling within a share that is asked for.
#[test]
fn points_of_a_flexible_motion_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (csv, svg) = (at("m.csv"), at("m.svg"));
    let ask = ["--time", "0.01", "--held", "--elastic", BENT, "--every", "1e-3", "--point", "13=0.2", "--point", "14"];
    let answer = simulated(&[&ask[..], &["--csv", &csv]].concat());
    assert_eq!(answer["points"], serde_json::json!(["13=0.2", "14"]));
    assert_eq!((answer["stop"]["kind"].as_str(), answer["stop"]["t"].as_f64()), (Some("end"), Some(0.01)));
    let size = |x: &Value| numbers(x).iter().fold(0.0_f64, |n, x| n.hypot(*x));
    let first = &answer["states"][0]["points"];
    let (half, end) = (size(&first[0]["deflection"]), size(&first[1]["deflection"]));
    assert!(half > 1e-4 && end > 1e-6 && end < half, "{half} {end}");
    let table = std::fs::read_to_string(&csv).unwrap();
    assert!(table.lines().next().unwrap().contains("point 13=0.2 x,") && table.contains("point 14 uz"));
    let (out, err, status) =
        run(&[&["simulate", "dual-emps"][..], &ask, &["--plot", &svg, "--show", "deflections"]].concat());
    assert!(status == 0 && out.contains("point 14: at most ") && out.contains(" m off the rigid robot"), "{out}{err}");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("off the rigid robot"));
    for (point, why) in [("13=0.5", "beyond its ends"), ("133", "did you mean `13`?")] {
        let (_, err, status) = run(&["simulate", "dual-emps", "--time", "1e-3", "--held", "--point", point]);
        assert!(status == 2 && err.contains(why), "{point}: {err}");
    }
    // Rigid, the same points have no deflection.
    let rigid = json(&["simulate", "dual-emps", "--rigid", "--time", "1e-3", "--point", "13=0.2", "--json"]);
    assert!(rigid["states"][0]["points"][0].get("deflection").is_none() && rigid["points"][0] == "13=0.2");
    let within = |share: &str| simulated(&[&ask[..7], &["--settled-within", share]].concat());
    let wide = within("1");
    assert!(wide["settling_time"] == 0.0 && wide["settled_within"] == 1.0, "{}", wide["settling_time"]);
    assert_eq!(within("1e-3")["settling_time"], Value::Null);
    let (_, err, status) = run(&["simulate", "dual-emps", "--time", "1", "--held", "--settled-within", "0"]);
    assert!(status == 2 && err.contains("settled-within"), "{err}");
}

/// What a simulation records is asked again as it is: states of `idm` that take the efforts which drove it.
#[test]
fn recorded_states_are_states() {
    let folder = tempfile::tempdir().unwrap();
    let answer = simulated(&["--time", "4e-3", "--every", "1e-3", "--efforts", "q11=50,q21=-20"]);
    let states = file(folder.path(), "states.json", &answer.to_string());
    let idm = json(&["idm", "dual-emps", "--states", &states, "--json"]);
    for (asked, found) in answer["states"].as_array().unwrap().iter().zip(idm["states"].as_array().unwrap()) {
        let (asked, found) = (numbers(&asked["efforts"]), numbers(&found["efforts"]));
        asked.iter().zip(&found).for_each(|(a, b)| assert!((a - b).abs() < 1e-6 * 50.0, "{a} {b}"));
    }
    let again = file(folder.path(), "again.json", &idm.to_string());
    assert_eq!(json(&["ddm", "dual-emps", "--states", &again, "--json"])["states"].as_array().unwrap().len(), 5);
    let both = r#"{"active": {"q": [0, 0]}, "pose": {"p": [0, 0, 0]}, "twist": [0, 0]}"#;
    let (out, err, status) = run(&["idm", "dual-emps", "--states", &file(folder.path(), "both.json", both)]);
    assert!(status == 2 && (out + &err).contains("not both"), "{err}");
}

/// A motion that ends early is told whole, and the status says that it was not finished.
#[test]
fn a_flexible_motion_that_cannot_go_on_says_why() {
    // The sliders are driven apart until the links are stretched.
    let efforts = ["--efforts", "q11=3000,q21=-3000", "--tolerance", "1e-4", "--every", "0.01"];
    let ask = [&["simulate", "dual-emps", "--time", "3"][..], &efforts].concat();
    let (answer, status) = document(&[&ask[..], &["--json"]].concat());
    assert!(status == 1 && answer["stop"]["kind"] == "not-closed", "{}", answer["stop"]);
    let (t, states) = (answer["stop"]["t"].as_f64().unwrap(), answer["states"].as_array().unwrap());
    assert!(t > 0.0 && t < 3.0 && states.len() > 2, "{}", answer["stop"]);
    let (out, err, status) = run(&ask);
    assert!(
        status == 1 && out.contains("ended at t = ") && err.starts_with("no: the motion ended at t = "),
        "{out}{err}"
    );
}

/// Measured motion of the motors: drives move as the file says, and what is flexible answers.
#[test]
fn motors_play_back_a_measured_motion() {
    let folder = tempfile::tempdir().unwrap();
    let home = json(&["simulate", "dual-emps", "--time", "1e-3", "--held", "--json"])["states"][0].clone();
    let q = numbers(&home["active"]["q"]);
    let mut text = "t,q11,q21\n".to_owned();
    for k in 0..=20 {
        let t = 5e-4 * f64::from(k);
        let _ = writeln!(text, "{t},{},{}", q[0] + 20.0 * t * t, q[1]);
    }
    let path = file(folder.path(), "motors.csv", &text);
    let answer = simulated(&["--time", "0.01", "--playback", &path, "--every", "1e-3"]);
    for state in answer["states"].as_array().unwrap() {
        let t = state["t"].as_f64().unwrap();
        let moved = numbers(&state["active"]["q"]);
        assert!((moved[0] - q[0] - 20.0 * t * t).abs() < 1e-6 && (moved[1] - q[1]).abs() < 1e-9, "{t} {moved:?}");
    }
    let last = answer["states"].as_array().unwrap().last().unwrap();
    assert!(largest(&last["elastic"]["q"]) > 1e-6 && largest(&last["efforts"]) > 1e-3, "{last}");
}

/// Options for flexible robots are refused where nothing gives way.
#[test]
fn rigid_robots_have_nothing_to_bend() {
    for option in [&["--held"][..], &["--elastic", "0"], &["--deflected"], &["--numerical-damping"]] {
        let (_, err, status) = run(&[&["simulate", "five-bar", "--time", "0.1"][..], option].concat());
        assert!(status == 2 && err.contains("flexible"), "{option:?}: {err}");
    }
    assert_eq!(run(&["simulate", "dual-emps", "--deflected", "--time", "1e-4"]).2, 0);
}

const RESPONSE: [&str; 6] = ["response", "dual-emps", "--input", "fx", "--output", "x"];

fn response(more: &[&str]) -> Value {
    json(&[&RESPONSE[..], &["--json"], more].concat())
}

fn curve(answer: &Value) -> Vec<[f64; 2]> {
    let pair = |x: &Value| [x[0].as_f64().unwrap(), x[1].as_f64().unwrap()];
    answer["response"].as_array().unwrap().iter().map(pair).collect()
}

/// Mobility is i w times receptance, accelerance -w^2 times; at low frequency receptance is the static compliance, and
/// resonances are the frequencies at rest.
#[test]
fn kinds_of_response_are_derivatives_of_each_other() {
    let range = ["--range", "0.01:100", "--points", "7"];
    let of = |kind: &str| response(&[&range[..], &["--kind", kind]].concat());
    let receptance = of("receptance");
    let (x, v, a) = (curve(&receptance), curve(&of("mobility")), curve(&of("accelerance")));
    let hz = numbers(&receptance["frequencies_hz"]);
    assert_eq!(hz.len(), 7);
    for k in 0..7 {
        let w = std::f64::consts::TAU * hz[k];
        let size = w * x[k][0].hypot(x[k][1]);
        assert!((v[k][0] + w * x[k][1]).abs() + (v[k][1] - w * x[k][0]).abs() < 1e-9 * size, "{k}");
        assert!((a[k][0] + w * w * x[k][0]).abs() + (a[k][1] + w * w * x[k][1]).abs() < 1e-9 * w * size, "{k}");
    }
    let rest = receptance["static_compliance"].as_f64().unwrap();
    assert!((x[0][0] / rest - 1.0).abs() < 1e-6, "{} {rest}", x[0][0]);
    let modes: Vec<f64> = receptance["modes"].as_array().unwrap().iter().map(|m| m["hz"].as_f64().unwrap()).collect();
    let at_rest = numbers(&json(&["frequencies", "dual-emps", "--count", "3", "--json"])["frequencies_hz"]);
    at_rest.iter().zip(&modes).for_each(|(f, m)| assert!((f / m - 1.0).abs() < 1e-7, "{at_rest:?} {modes:?}"));
    for wrong in [["--range", "5:1"], ["--range", "0:1"], ["--kind", "impedance"], ["--points", "1"]] {
        let ask = [&["response", "dual-emps", "--input", "fx", "--output", "x"][..], &wrong].concat();
        let (_, err, status) = run(&ask);
        assert!(status == 2 && err.contains(wrong[0]), "{wrong:?}: {err}");
    }
}

/// What a response is asked at changes it; what is written is what is printed.
#[test]
fn a_response_is_asked_anywhere_and_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let few = ["--points", "4"];
    let home = response(&few);
    let home_pose = home["pose"]["p"].clone();
    let (x, y) = (home_pose[0].as_f64().unwrap(), home_pose[1].as_f64().unwrap());
    let moved = response(&[&few[..], &["--pose", &format!("x={},y={y}", x + 0.05)]].concat());
    assert_ne!(home["static_compliance"], moved["static_compliance"]);
    let mode = json(&["simulate", "dual-emps", "--time", "1e-4", "--held", "--json"])["working_mode"].clone();
    let same = response(&[&few[..], &[&format!("--mode={}", mode.as_str().unwrap())]].concat());
    assert_eq!(same["static_compliance"], home["static_compliance"]);
    let text = std::fs::read_to_string(repository("robots/five-bar-flexible/robot.toml")).unwrap();
    let upright = text.replace("gravity = [0, 0, -9.81]", "gravity = [0, -9.81, 0]");
    assert_ne!(text, upright);
    let upright = file(folder.path(), "upright.toml", &upright);
    let sagging = ["response", upright.as_str(), "--input", "fy", "--output", "y", "--json", "--points", "2"];
    let (straight, deflected) = (json(&sagging), json(&[&sagging[..], &["--deflected"]].concat()));
    assert_ne!(straight["static_compliance"], deflected["static_compliance"]);
    let (csv, svg, out) = (named("r.csv"), named("r.svg"), named("r.json"));
    let written = [&RESPONSE[..], &few, &["--csv", &csv, "--plot", &svg, "--json", "-o", &out]].concat();
    assert_eq!(run(&written).2, 0);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(kept["response"], home["response"]);
    let table = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<Vec<f64>> =
        table.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    // Readers of JSON round the last digit.
    let near = |a: f64, b: f64| (a - b).abs() <= 4e-16 * b.abs();
    let same = |(row, wanted): (&Vec<f64>, [f64; 2])| near(row[1], wanted[0]) && near(row[2], wanted[1]);
    assert!(rows.iter().zip(curve(&home)).all(same) && rows.len() == curve(&home).len(), "{rows:?}");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("Response of dual-emps"));
}

/// Force and motion at points of bodies; `-o` is the file here, and `--output` the motion.
#[test]
fn a_response_goes_from_point_to_point() {
    let few = ["--points", "2"];
    let of = |more: &[&str]| response(&[&few[..], more].concat());
    let (there, back) =
        (of(&["--input-at", "13=0.3", "--output-at", "24"]), of(&["--input-at", "24", "--output-at", "13=0.3"]));
    for (x, y) in curve(&there).iter().zip(curve(&back)) {
        assert!((x[0] - y[0]).abs() < 1e-9 * x[0].abs(), "{x:?} {y:?}");
    }
    assert!(there["input_at"] == "13=0.3" && of(&[]).get("input_at").is_none());
    assert_ne!(curve(&there), curve(&of(&[])));
    let (out, ..) = run(&[&RESPONSE[..], &few, &["--output-at", "14"]].concat());
    assert!(out.contains("drives held; x of 14 per fx"), "{out}");
    let (_, err, status) = run(&[&RESPONSE[..], &few, &["--input-at", "13=9"]].concat());
    assert!(status == 2 && err.contains("beyond its ends"), "{err}");
    let (_, err, status) = run(&["response", "dual-emps", "--input", "fx", "--output", "answer.json"]);
    assert!(status == 2 && err.contains("no motion `answer.json`"), "{err}");
    let plate = ["response", "gough-stewart-flexible", "--input", "mx", "--output", "z", "--input-at"];
    let (_, err, status) = run(&[&plate[..], &["platform=-0.46875:0.05412658773653:0"]].concat());
    assert!(status == 2 && err.contains("only displacements are known"), "{err}");
}

/// The robot of a response is set, actuated and read like that of every command.
#[test]
fn the_robot_of_a_response_is_read_like_any_other() {
    let ask = ["--input", "fx", "--output", "x", "--points", "2", "--json"];
    let of = |robot: &[&str]| json(&[&["response"][..], robot, &ask].concat());
    let soft = of(&["five-bar-flexible"])["static_compliance"].as_f64().unwrap();
    let stiff = of(&["five-bar-flexible", "--set", "width=40 mm"])["static_compliance"].as_f64().unwrap();
    assert!(stiff < soft, "{stiff} {soft}");
    let bad = run(&[&["response", "five-bar-flexible", "--actuation", "none-such"][..], &ask].concat());
    assert!(bad.2 == 2 && (bad.0 + &bad.1).contains("none-such"));
    let folder = tempfile::tempdir().unwrap();
    let named = repository("robots/five-bar-flexible/robot.toml");
    let path = file(folder.path(), "overlay.toml", &format!("extends = {named:?}\n"));
    let (out, err, status) = run(&[&["response", path.as_str()][..], &ask].concat());
    assert!(status != 0 && (out + &err).contains("outside"), "a file outside the robot's folder: {err}");
    assert_eq!(of(&[&path, "--allow-outside"])["static_compliance"].as_f64().unwrap(), soft);
}

#[test]
fn a_slider_on_a_beam_is_told_and_does_not_move_in_silence() {
    let rail = format!("{}/../gough/tests/robots/rail.toml", env!("CARGO_MANIFEST_DIR"));
    let found = json(&["frequencies", &rail, "--pose", "x=0.9", "--json"]);
    let slider = &found["sliders"][0];
    assert!(slider["joint"] == "1" && slider["beam"] == "rail" && slider["length"] == 1.0, "{slider}");
    assert!((slider["along"].as_f64().unwrap() - 0.8).abs() < 1e-12);
    let (out, ..) = run(&["frequencies", &rail, "--pose", "x=0.9"]);
    assert!(out.contains("`1` slides on beam rail and stands at 0.800000 of 1.000000 m"), "{out}");
    // 3 EI / a³ of a clamped beam, EI = 210e9 · 0.02⁴ / 12; the platform stands 0.1 m before the carriage, which turns with the rail.
    let response = json(&["response", &rail, "--pose", "x=0.6", "--input", "fz", "--output", "z", "--json"]);
    let (EI, a, b): (f64, f64, f64) = (2800.0, 0.5, 0.1);
    let wanted = (a.powi(3) / 3.0 + a * a * b + a * b * b) / EI;
    let found = response["static_compliance"].as_f64().unwrap();
    assert!((found / wanted - 1.0).abs() < 1e-6, "{found} {wanted}");
    for question in [
        &["simulate", rail.as_str(), "--time", "0.01", "--efforts", "q1=1"][..],
        &["idm", &rail, "--pose", "x=0.7"],
        &["frequencies", &rail, "--method", "cartesian"],
    ] {
        let (_, err, status) = run(question);
        assert!(status != 0 && err.contains("`1` slides along the flexible beam `rail`"), "{question:?}: {err}");
    }
    assert_eq!(run(&["simulate", &rail, "--time", "0.01", "--efforts", "q1=1", "--rigid"]).2, 0);
}

#[test]
fn deflection_is_mapped_under_weight_and_load() {
    let region = ["map", "five-bar-flexible", "--quantity", "deflection", "--region", "x=0:0.05:3", "--json"];
    let (own, status) = document(&region);
    assert!(status == 0 && own["unit"] == "m" && own["complete"] == true, "{own}");
    let (loaded, _) = document(&[&region[..], &["--wrench", "fz=-5"]].concat());
    let first = |answer: &serde_json::Value| answer["values"][0].as_f64().unwrap();
    assert!(first(&own) > 0.0 && first(&loaded) > 1.5 * first(&own), "{own} {loaded}");
    let (_, err, status) = run(&[&region[..6], &["--wrench", "mz=1"]].concat());
    assert!(status == 2 && err.contains("no moment acts"), "{err}");
    let (_, err, status) = run(&["map", "five-bar", "--quantity", "deflection", "--region", "x=0:0.05:3"]);
    assert!(status == 2 && err.contains("nothing of this robot gives way"), "{err}");
}
