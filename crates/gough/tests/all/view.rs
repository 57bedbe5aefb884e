//! What a page is given: the drawing holds together, and questions as documents are answered as by the methods.
use crate::common::robot;
use gough::Robot;
use gough::view::{Portrait, Scene, Session, frames};
use serde_json::{Value, json};

/// A point of a node in the world.
fn place(frames: &[f64], node: usize, p: [f64; 3]) -> [f64; 3] {
    let f = &frames[12 * node..12 * node + 12];
    std::array::from_fn(|k| f[k] * p[0] + f[3 + k] * p[1] + f[6 + k] * p[2] + f[9 + k])
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn drawn_ends_meet_at_joints_and_closures_of_every_robot() {
    for name in gough::robots::names() {
        let robot = robot(name);
        let (scene, mut list) = (Scene::new(&robot), Vec::new());
        frames(robot.model(), robot.home().positions(), &mut list);
        assert_eq!(list.len(), 12 * scene.nodes.len(), "{name}");
        for j in scene.joints.iter().filter(|j| j.closure && matches!(j.kind, "R" | "S" | "U" | "fixed")) {
            let gap = apart(place(&list, j.on, j.at), place(&list, j.to, j.at_other));
            assert!(gap < 1e-6 * scene.size, "{name}: closure {} is drawn {gap} m apart", j.name);
        }
        for j in scene.joints.iter().filter(|j| !j.closure && j.kind == "R") {
            let gap = apart(place(&list, j.on, j.at), place(&list, j.to, [0.0; 3]));
            assert!(gap < 1e-9 * scene.size, "{name}: joint {} is drawn {gap} m apart", j.name);
        }
        let ends: Vec<[f64; 3]> =
            scene.joints.iter().flat_map(|j| [place(&list, j.on, j.at), place(&list, j.to, j.at_other)]).collect();
        for p in scene.pieces.iter().filter(|p| p.kind == "link" || p.kind == "slide") {
            for k in 0..2 {
                let end = place(&list, p.on[k], p.ends[k]);
                assert!(
                    ends.iter().any(|e| apart(*e, end) < 1e-6 * scene.size),
                    "{name}: a {} ends at no joint",
                    p.kind
                );
            }
        }
    }
}

fn ask(session: &mut Session, question: &Value) -> Value {
    let answer = session.ask(question);
    assert!(answer.get("answer").is_some(), "{question}: {answer}");
    answer["answer"].clone()
}

#[test]
fn questions_as_documents_are_answered_as_by_the_methods() {
    let robot = Robot::shipped("five-bar").unwrap();
    let mut session = Session::new(robot.clone());
    let at = [0.05, 0.25];
    let pose = robot.pose_at(&at).unwrap();
    let placed = ask(&mut session, &json!({ "ask": "place", "at": at, "mode": "++" }));
    assert_eq!(placed["working_mode"], "++");
    let mode = robot.mode_named("++").unwrap();
    let found = ask(&mut session, &json!({ "ask": "singularities" }));
    assert_eq!(found, json!(robot.singularities(&pose).mode(&mode).answer().unwrap()));
    let found = ask(&mut session, &json!({ "ask": "idm", "wrench": [1.0, 2.0, 0.0, 0.0, 0.0, 0.0] }));
    let wrench = gough::Wrench::from_array([1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(found, json!(robot.idm(&pose).rigid().mode(&mode).wrench(wrench).answer().unwrap()));
    let found = ask(&mut session, &json!({ "ask": "modes" }));
    assert_eq!(found, json!(robot.kinematics(&pose).all_modes().unwrap()));
    let found =
        ask(&mut session, &json!({ "ask": "map", "quantity": "conditioning", "over": [["x", -0.05, 0.05, 5]] }));
    let map = robot.map("conditioning").at(&pose).mode(&mode).over("x", -0.05, 0.05, 5).answer().unwrap();
    assert_eq!(found, json!(map));
}

#[test]
fn motors_take_the_platform_along_and_bring_it_back() {
    for name in ["five-bar", "gough-stewart", "delta", "orthoglide", "navaro"] {
        let mut session = Session::new(robot(name));
        let home = session.coordinates();
        let q = session.standing().active.q;
        let mut moved = q.clone();
        moved[0] += 0.02;
        session.drive(&moved).unwrap_or_else(|e| panic!("{name}: {e}"));
        let off = (session.standing().active.q[0] - moved[0]).abs();
        assert!(off < 1e-8, "{name}: the motor is {off} off");
        let away: f64 = session.coordinates().iter().zip(&home).map(|(a, b)| (a - b).abs()).sum();
        assert!(away > 1e-4, "{name}: the platform stays");
        session.drive(&q).unwrap();
        let back: f64 = session.coordinates().iter().zip(&home).map(|(a, b)| (a - b).abs()).sum();
        assert!(back < 1e-7, "{name}: the platform comes back {back} off");
    }
}

#[test]
fn refusals_are_documents_and_the_robot_stays() {
    let mut session = Session::new(Robot::shipped("five-bar").unwrap());
    let before = session.standing();
    let refused = session.ask(&json!({ "ask": "place", "at": [3.0, 0.25] }));
    assert_eq!(refused["error"]["kind"], "out-of-reach");
    assert!(refused["error"]["by"].as_f64().unwrap() > 1.0 && refused["error"]["leg"].is_string(), "{refused}");
    assert_eq!(session.standing(), before);
    for question in [
        "",
        "7",
        "{}",
        r#"{"ask":"?"}"#,
        r#"{"ask":"place","at":[1]}"#,
        r#"{"ask":"place","at":"x"}"#,
        r#"{"ask":"map","over":3}"#,
    ] {
        let answer: Value = serde_json::from_str(&session.ask_text(question)).unwrap();
        assert!(answer["error"]["message"].as_str().unwrap().len() > 10, "{question}: {answer}");
    }
}

#[test]
fn every_coordinate_of_a_portrait_is_reached_as_far_as_it_says() {
    for name in ["five-bar", "delta", "gough-stewart"] {
        let robot = robot(name);
        let portrait = Portrait::new(&robot);
        let home: Vec<f64> = portrait.coordinates.iter().map(|c| c.home).collect();
        let mut session = Session::new(robot);
        for (k, c) in portrait.coordinates.iter().enumerate() {
            assert!(c.reach[0] < c.home && c.home < c.reach[1], "{name} {}: {:?}", c.name, c.reach);
            for end in c.reach {
                let mut at = home.clone();
                at[k] = c.home + 0.999 * (end - c.home);
                session.place(&at).unwrap_or_else(|e| panic!("{name} {} = {}: {e}", c.name, at[k]));
            }
        }
    }
}

#[test]
fn frames_of_a_motion_are_those_of_its_poses_up_to_the_first_that_is_not_reached() {
    let mut session = Session::new(robot("five-bar"));
    let before = session.standing();
    let mode = session.robot().mode_named("++").unwrap();
    let (mut film, mut one) = (Vec::new(), Vec::new());
    assert_eq!(session.film(&[0.05, 0.25, 0.06, 0.26, 3.0, 0.25, 0.05, 0.25], &mode, &mut film), 2);
    assert_eq!(session.standing(), before);
    for (k, at) in [[0.05, 0.25], [0.06, 0.26]].iter().enumerate() {
        session.place_in(at, &mode).unwrap();
        session.frames(&mut one);
        assert_eq!(film[k * one.len()..(k + 1) * one.len()], one[..]);
    }
    assert_eq!(session.film(&[f64::NAN, 0.25], &mode, &mut film), 0);
    assert!(film.is_empty());
}

#[test]
fn long_questions_tell_how_far_they_are_and_can_be_ended() {
    use std::sync::Mutex;
    static TOLD: Mutex<Vec<f64>> = Mutex::new(Vec::new());
    fn watch(share: f64) -> bool {
        TOLD.lock().unwrap().push(share);
        true
    }
    let spans = json!([["x", -0.1, 0.1, 9], ["y", 0.2, 0.3, 9]]);
    let mut session = Session::new(robot("five-bar")).watched(watch);
    for question in ["map", "loci"] {
        TOLD.lock().unwrap().clear();
        ask(&mut session, &json!({ "ask": question, "over": spans }));
        let told = TOLD.lock().unwrap();
        assert!(told.iter().all(|s| (0.0..=1.0).contains(s)) && told.iter().any(|s| *s > 0.3), "{question}: {told:?}");
    }
    let mut session = Session::new(robot("five-bar")).watched(|_| false);
    assert_eq!(ask(&mut session, &json!({ "ask": "loci", "over": spans }))["complete"], false);
}

#[test]
fn the_extent_of_two_coordinates_holds_what_is_reached() {
    let mut session = Session::new(robot("five-bar"));
    let found = ask(&mut session, &json!({ "ask": "extent", "of": ["y", "x"] }));
    let [low, high] = [0, 1].map(|k| found[1][k].as_f64().unwrap());
    assert!(low < -0.12 && high > 0.12 && (low + high).abs() < 1e-2, "{found}");
    for of in [json!(["x", "x"]), json!(["x", "z"]), json!(null)] {
        assert!(session.ask(&json!({ "ask": "extent", "of": of }))["error"]["message"].is_string());
    }
}

/// The solid ellipsoid has the mass and the principal moments of its body.
#[test]
fn ellipsoids_have_the_inertia_of_their_bodies() {
    let mut seen = 0;
    for name in ["delta", "gough-stewart", "navaro"] {
        for node in Scene::new(&robot(name)).nodes {
            let Some(e) = node.ellipsoid else { continue };
            seen += 1;
            for i in 0..3 {
                let squares: f64 = (0..3).filter(|j| *j != i).map(|j| e.radii[j] * e.radii[j]).sum();
                let moment = node.mass * squares / 5.0;
                assert!((moment - e.moments[i]).abs() <= 1e-9 * e.moments[2], "{name} {}: {e:?}", node.name);
                let dot: f64 = (0..3).map(|k| e.axes[i][k] * e.axes[(i + 1) % 3][k]).sum();
                assert!(dot.abs() < 1e-9, "{name} {}: {e:?}", node.name);
            }
        }
    }
    assert!(seen > 3, "only {seen} ellipsoids");
}
