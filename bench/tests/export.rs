//! What is written for other programs is the robot: loops close, joints join nodes at one place, nothing is counted twice.
#![allow(non_snake_case)]

use gough::Robot;
use gough::description::ReadOptions;
use gough::spatial::{Mat3, Pose, Rotation, Turn, Vec3};
use gough_bench::frame::frame;
use gough_bench::rigid::{case, states};
use serde_json::Value;

fn shipped(name: &str) -> Robot {
    gough::Robot::shipped(name).unwrap_or_else(|e| panic!("{e}"))
}

fn list(v: &Value) -> &[Value] {
    v.as_array().expect("a list")
}

fn vector(v: &Value) -> Vec3<f64> {
    Vec3::from_fn(|k, _| v[k].as_f64().expect("a number"))
}

fn pose(v: &Value) -> Pose<f64> {
    Pose { R: Rotation(Mat3::from_fn(|i, j| v["R"][i][j].as_f64().expect("a number"))), p: vector(&v["p"]) }
}

/// Frames of all bodies from what was written, joint after joint.
fn placed(robot: &Value, state: &Value) -> Vec<Pose<f64>> {
    let mut all: Vec<Pose<f64>> = Vec::new();
    for body in list(&robot["bodies"]) {
        let parent = on(&body["parent"], state, &all);
        let q = body["coordinate"].as_u64().map_or(0.0, |c| state["q"][usize::try_from(c).unwrap()].as_f64().unwrap());
        let F = parent * pose(&body["frame"]);
        all.push(if body["joint"] == "R" { F.turned(Turn::of(q)) } else { F.slid(q) });
    }
    all
}

fn on(node: &Value, state: &Value, bodies: &[Pose<f64>]) -> Pose<f64> {
    match node.as_str() {
        Some("world") => Pose::identity(),
        Some(_) => pose(&state["platform"]),
        None => bodies[usize::try_from(node.as_u64().unwrap()).unwrap()],
    }
}

#[test]
fn loops_close_with_the_joint_values_that_are_written() {
    for name in ["gough-stewart", "five-bar"] {
        let robot = shipped(name);
        let written = case(&robot, &states(&robot, 5)).unwrap();
        assert_eq!(list(&written["states"]).len(), 5);
        for state in list(&written["states"]) {
            let bodies = placed(&written, state);
            for closure in list(&written["closures"]) {
                let side = |s: &Value| on(&s["on"], state, &bodies) * pose(&s["frame"]);
                let gap = side(&closure["a"]).p - side(&closure["b"]).p;
                assert!(gap.norm() < 1e-12, "{name}: {gap}");
            }
        }
    }
}

/// Freedoms left when ties are taken off.
fn freedoms(frame: &Value) -> usize {
    let taken = |tie: &Value| match &tie["free"] {
        Value::Null => 6,
        Value::String(_) => 3,
        _ => 5,
    };
    6 * list(&frame["nodes"]).len() - list(&frame["ties"]).iter().map(taken).sum::<usize>()
}

fn ties_join_one_place(frame: &Value) {
    let at = |n: &Value| vector(&frame["nodes"][usize::try_from(n.as_u64().unwrap()).unwrap()]["at"]);
    for tie in list(&frame["ties"]) {
        if let [a, b] = list(&tie["nodes"]) {
            assert!(a.is_null() || b.is_null() || (at(a) - at(b)).norm() < 1e-12, "{tie}");
        }
    }
}

#[test]
fn navaro_has_ninety_freedoms() {
    let robot = shipped("navaro");
    let frame = frame(&robot, robot.home()).unwrap();
    ties_join_one_place(&frame);
    assert_eq!(list(&frame["beams"]).len(), 18);
    assert_eq!(freedoms(&frame), 90);
}

const FIVE_BAR: &str = r#"
[robot]
name = "five-bar-of-beams"
home = { x = 0, y = 0.338175 }
mode = "+-"
[material]
aluminium = { E = "70 GPa", nu = 0.33, density = "2700 kg/m^3" }
[section]
bar = { rectangle = ["10 mm", "20 mm"] }
[platform]
coordinates = "point"
body = "22"
point = [0.1878, 0, 0]
mass = "272 g"
[template.leg]
needs = ["x"]
body = [
  { name = "{leg}1", on = "base", joint = "R", mdh = { d = "x" }, drive = {}, beam = { to = [0.213, 0, 0], section = "bar", material = "aluminium", elements = 4 } },
  { name = "{leg}2", on = "{leg}1", joint = "R", mdh = { d = 0.213 }, beam = { to = [0.1878, 0, 0], section = "bar", material = "aluminium", elements = 4 } },
]
[legs]
1 = { template = "leg", x = -0.14 }
2 = { template = "leg", x = 0.14 }
[[closure]]
joint = "R"
a = { body = "12", point = [0.1878, 0, 0] }
b = { body = "22", point = [0.1878, 0, 0] }
[elastic]
dimension = 2
"#;

#[test]
fn the_tool_of_a_five_bar_of_beams_hangs_where_its_links_meet() {
    let robot = Robot::from_toml("five-bar-of-beams", FIVE_BAR, &ReadOptions::default(), None)
        .unwrap_or_else(|e| panic!("{e}"));
    let frame = frame(&robot, robot.home()).unwrap();
    ties_join_one_place(&frame);
    assert_eq!(list(&frame["beams"]).len(), 16);
    assert_eq!(frame["planar"], true);
    let heavy: Vec<&Value> = list(&frame["nodes"]).iter().filter(|n| n["mass"] != 0.0).collect();
    assert_eq!(heavy.len(), 1);
    assert_eq!(heavy[0]["mass"], 0.272);
    assert!((vector(&heavy[0]["at"]) - robot.home().pose().p).norm() < 1e-12);
}

#[test]
fn a_robot_that_is_not_of_beams_is_refused() {
    let robot = shipped("delta");
    assert!(frame(&robot, robot.home()).unwrap_err().contains("is not a beam"));
}
