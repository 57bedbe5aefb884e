//! The page's types of documents are those of the library: `viewer/src/documents.ts` is what answers look like while they are
//! serialised, and this test holds it equal. `GOUGH_WRITE_DOCUMENTS=1` in the environment of the test writes the file again.

use crate::common::robot;
use crate::shapes::{Shape, Shapes};
use gough::description::FaultDocument;
use gough::kinematics::SolveError;
use gough::trajectory::Trajectory;
use gough::view::{Film, Listener, PageContent, RefusalDocument, Session};
use gough::{Error, Robot};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../viewer/src/documents.ts");

const HEAD: &str = "// Documents of the library. Written by its tests (crates/gough/tests/all/documents.rs) from what it serialises, and held equal by
// them; `GOUGH_WRITE_DOCUMENTS=1 cargo test --test all documents` writes it again. Fields that are not in every document have a `?`.
";

/// Lists that are empty for every shipped robot; the page reads none of them.
const NOT_SHOWN: [&str; 3] = ["left_out: unknown[]", "near_singularities: unknown[]", "sliders: unknown[]"];

struct Learning<'s> {
    shapes: &'s Shapes,
    heard: Option<Shape>,
}

impl Listener for Learning<'_> {
    fn hear<T: Serialize>(&mut self, answer: &T) -> Result<(), Error> {
        self.heard = Some(self.shapes.learn(answer));
        Ok(())
    }
}

/// What a page asks of every robot, and what some have no answer to.
fn questions(session: &Session) -> Vec<Value> {
    let at = session.coordinates();
    let robot = session.robot();
    let (a, low) = (robot.coordinates()[0], at[0] - 0.01);
    let mut list = vec![
        json!({ "ask": "robot" }),
        json!({ "ask": "robots" }),
        json!({ "ask": "source" }),
        json!({ "ask": "standing" }),
        json!({ "ask": "place", "at": at }),
        json!({ "ask": "drive", "motors": session.standing().active.q }),
        json!({ "ask": "modes" }),
        json!({ "ask": "kinematics" }),
        json!({ "ask": "singularities" }),
        json!({ "ask": "frequencies", "count": 2 }),
        json!({ "ask": "frequencies", "count": 2, "shapes": true, "sensitivities": true }),
        json!({ "ask": "idm" }),
        json!({ "ask": "idm", "reactions": true }),
        json!({ "ask": "map", "over": [[a, low, low + 2.0, 3]] }),
    ];
    if let ("five-bar", Some(b)) = (robot.name(), robot.coordinates().get(1)) {
        let spans = [json!([a, -0.2, 0.2, 9]), json!([b, 0.0, 0.4, 9])];
        list.push(json!({ "ask": "extent", "of": [a, b] }));
        list.push(json!({ "ask": "assemblies" }));
        list.push(json!({ "ask": "map", "over": spans }));
        list.push(json!({ "ask": "loci", "over": spans }));
        list.push(json!({ "ask": "simulate", "seconds": 0.02 }));
    }
    list
}

fn learn(shapes: &Shapes) -> BTreeMap<String, Shape> {
    let mut answers: BTreeMap<String, Shape> = BTreeMap::new();
    for name in ["five-bar", "five-bar-flexible", "navaro", "gough-stewart", "heli4", "tripteron", "dual-emps"] {
        let mut session = Session::new(robot(name));
        for question in questions(&session) {
            let mut learning = Learning { shapes, heard: None };
            let refused = session.hear(&question, &mut learning).err();
            refused.iter().for_each(|e| drop(shapes.learn(&RefusalDocument::new(e))));
            if let Some(shape) = learning.heard {
                let kind = question["ask"].as_str().unwrap().to_owned();
                let known = answers.entry(kind).or_insert_with(|| shape.clone());
                assert_eq!(*known, shape, "{question} is answered in two ways");
            }
        }
    }
    answers
}

/// Refusals, faults and what a page is given.
fn learn_the_rest(shapes: &Shapes) {
    let mut session = Session::new(robot("five-bar"));
    shapes.learn(&RefusalDocument::new(&session.place(&[3.0, 0.25]).unwrap_err()));
    let text = gough::robots::text("five-bar").unwrap();
    let bounded = text.replacen("drive = {", "range = [\"85 deg\", \"95 deg\"]\ndrive = {", 1);
    let bounded = Robot::from_text("bounded.toml", &bounded).unwrap();
    let outside = Session::new(bounded).place(&[0.1, 0.3]).unwrap_err();
    assert!(matches!(outside, Error::Solve(SolveError::OutOfRange { .. })), "{outside}");
    shapes.learn(&RefusalDocument::new(&outside));
    let faulty = text.replace("joint = \"R\"", "joint = \"Q\"");
    let Err(Error::BadRobot(bad)) = Robot::from_text("faulty.toml", &faulty) else { panic!("a joint `Q` is taken") };
    shapes.learn(&FaultDocument::list(&bad.text, &bad.faults));
    let weak = text.replace("drive = {", "drive = { effort = 0.01,");
    let robot = Robot::from_text("weak.toml", &weak).unwrap();
    let mut given = PageContent::new(&robot, Some(&[0.05, 0.25]), None).unwrap();
    shapes.learn(&given);
    let goal = robot.pose_at(&[0.05, 0.25]).unwrap();
    let way = Trajectory::between(*robot.home().pose(), goal, 0.01).unwrap();
    let film = Film::new(&robot, &way, &robot.along(&way).answer().unwrap());
    assert!(!film.marks.is_empty());
    shapes.learn(&film.clone().drawn(&robot, robot.mode(), 3));
    given.motion = Some(film);
    given.map = Some(robot.map("conditioning").over("x", -0.1, 0.1, 3).over("y", 0.2, 0.3, 3).answer().unwrap());
    shapes.learn(&given);
}

#[test]
fn the_page_knows_documents_as_they_are() {
    let shapes = Shapes::default();
    let answers = learn(&shapes);
    learn_the_rest(&shapes);
    let mut found = HEAD.to_owned() + "\n/** What each question is answered with. */\nexport interface Answers {\n";
    for (question, shape) in &answers {
        let _ = writeln!(found, "  {question}: {};", shapes.text_of(shape));
    }
    found += "}\n";
    found += &shapes.text();
    if std::env::var_os("GOUGH_WRITE_DOCUMENTS").is_some() {
        std::fs::write(FILE, &found).unwrap();
    }
    let kept = std::fs::read_to_string(FILE).unwrap_or_default();
    let differs = found.lines().zip(kept.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or(found.lines().count().min(kept.lines().count()));
    assert!(
        found == kept,
        "viewer/src/documents.ts is not what the library serialises, from line {} on:\n{}\nGOUGH_WRITE_DOCUMENTS=1 writes it again",
        line + 1,
        found.lines().skip(line).take(5).collect::<Vec<_>>().join("\n")
    );
    let unseen: Vec<&str> = found.lines().filter(|l| l.contains("unknown")).map(str::trim).collect();
    let known = |l: &&str| NOT_SHOWN.iter().any(|name| l.starts_with(name));
    assert!(unseen.iter().all(known), "no example shows what these are: {unseen:?}");
}
