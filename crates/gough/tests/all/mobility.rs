//! Mobility of every robot, counted three ways; numbers of appendix A of Briot & Khalil where it has them.

use gough::Robot;
use gough::analysis::mobility::{Counts, mobility};
use gough::description::ReadOptions;

fn counts(robot: &Robot) -> Counts {
    mobility(robot.model(), robot.home().positions())
}

fn shipped(name: &str) -> Counts {
    counts(&gough::Robot::shipped(name).unwrap())
}

/// A robot file with one text in place of another.
fn edited(text: &str, edits: &[(&str, &str)]) -> Robot {
    let mut text = text.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    Robot::from_toml("edited", &text, &ReadOptions::default(), None).unwrap_or_else(|e| panic!("{e}"))
}

fn test_robots() -> Vec<Robot> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/robots");
    let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    files.map(|path| edited(&std::fs::read_to_string(path).unwrap(), &[])).collect()
}

/// Dimensions of the spaces of the legs.
fn spaces(c: &Counts) -> Vec<usize> {
    c.legs.iter().map(|l| l.motions.as_ref().map_or(0, |m| m.dimension)).collect()
}

type Row = (usize, &'static [usize], &'static str, usize, isize);

#[test]
fn numbers_of_the_shipped_robots() {
    let (t, plane, all) = ("Tx Ty Tz", "Tx Ty Rz", "Tx Ty Tz Rx Ry Rz");
    // Joints, dim E of each leg, common motions, degrees of freedom, the same loop by loop.
    let table: [(&str, Row); 16] = [
        ("five-bar", (5, &[3, 2], "1T 1R", 2, 2)),
        ("3-rpr", (9, &[3; 3], plane, 3, 3)),
        ("orthoglide", (15, &[5; 3], t, 3, 3)),
        ("orthoglide-parallelogram", (21, &[4; 3], t, 3, 0)),
        ("delta", (15, &[5; 3], t, 3, 3)),
        ("delta-parallelogram", (33, &[5; 3], t, 3, 3)),
        ("gough-stewart", (36, &[6; 6], all, 6, 6)),
        ("dualv", (12, &[3; 4], plane, 3, 3)),
        ("tripteron", (12, &[4; 3], t, 3, 2)),
        ("navaro", (18, &[3; 3], plane, 3, 3)),
        ("navaro-as-printed", (18, &[3; 3], plane, 3, 3)),
        ("navaro-refined", (18, &[3; 3], plane, 3, 3)),
        ("heli4", (20, &[5; 4], t, 3, 2)),
        ("dual-emps", (5, &[2, 3], "1T 1R", 2, 2)),
        ("five-bar-flexible", (5, &[3, 2], "1T 1R", 2, 2)),
        ("gough-stewart-flexible", (36, &[6; 6], all, 6, 6)),
    ];
    assert!(gough::robots::names().eq(table.iter().map(|row| row.0)), "a robot is missing");
    for (name, (joints, dimensions, common, degrees, by_loops)) in table {
        let c = shipped(name);
        assert_eq!((c.joints, c.by_rank, c.by_legs, c.by_loops), (joints, degrees, degrees, by_loops), "{name}");
        assert_eq!((spaces(&c).as_slice(), c.platform.text.as_str()), (dimensions, common), "{name}");
    }
}

#[test]
fn rank_and_legs_agree_with_the_compiled_robot() {
    let shipped = gough::robots::names().map(|name| gough::Robot::shipped(name).unwrap());
    for robot in shipped.chain(test_robots()) {
        let (c, mobility) = (counts(&robot), robot.mobility());
        let name = &robot.model().topology().name;
        assert_eq!((c.by_rank, c.by_legs), (mobility.degrees, mobility.degrees), "{name}");
        assert_eq!(c.constraints, c.loops.iter().map(|l| l.new).sum::<usize>(), "{name}");
        // (A.14) as it is printed.
        let legs: usize = c.legs.iter().map(|l| l.joints - l.inner).sum();
        assert_eq!(c.by_legs, legs - spaces(&c).iter().sum::<usize>() + c.platform.dimension, "{name}");
        // A loop adds no more than it has alone, so that the count loop by loop is never too large.
        assert!(c.by_loops <= c.by_rank.cast_signed(), "{name}");
        assert_eq!(c.by_loops != c.by_rank.cast_signed(), c.explanation().is_some(), "{name}");
    }
}

#[test]
fn motions_that_legs_allow() {
    let names = |robot: &str| -> Vec<String> {
        shipped(robot).legs.iter().filter_map(|l| l.motions.clone()).map(|m| m.text).collect()
    };
    assert_eq!(names("tripteron"), ["Tx Ty Tz Rz", "Tx Ty Tz Rx", "Tx Ty Tz Ry"]);
    assert_eq!(names("orthoglide"), ["3T 2R"; 3]);
    assert_eq!(names("five-bar"), ["Tx Ty Rz", "1T 1R"]);
}

#[test]
fn loops_of_the_tripteron_share_a_constraint() {
    let c = shipped("tripteron");
    let loops: Vec<(usize, usize)> = c.loops.iter().map(|l| (l.alone, l.new)).collect();
    assert_eq!(loops, [(5, 5), (5, 4)]);
    let why = c.explanation().unwrap();
    assert!(why.contains("1 of the 5 of the loop of legs 2 and 3 (against Rx)"), "{why}");
}

#[test]
fn parallelograms_are_inner_loops() {
    let c = shipped("orthoglide-parallelogram");
    let loops: Vec<(usize, usize)> = c.loops.iter().map(|l| (l.alone, l.new)).collect();
    assert_eq!(loops, [(3, 3), (3, 3), (3, 3), (6, 5), (6, 4)]);
    assert!(c.legs.iter().all(|l| (l.joints, l.inner) == (7, 3)));
}

#[test]
fn rods_that_spin_are_redundant_freedoms_of_their_leg() {
    let text = gough::robots::text("delta-parallelogram").unwrap();
    let robot = edited(text, &[("joint = \"U\"", "joint = \"S\""), (", axis = [0, 1, 0], axis2 = [0, 0, 1]", "")]);
    let c = counts(&robot);
    assert_eq!((c.joints, c.by_rank, c.by_legs, robot.mobility().idle.len()), (39, 9, 9, 6));
    assert!(c.legs.iter().all(|l| l.redundant == 2));
}

#[test]
fn a_joint_between_base_and_platform_is_a_leg() {
    let text = include_str!("../robots/3-rrr-spherical.toml");
    let ball = "[[closure]]\njoint = \"S\"\na = { body = \"base\" }\nb = { body = \"platform\" }\n\n[legs]";
    let c = counts(&edited(text, &[("[legs]", ball)]));
    assert_eq!((c.joints, c.by_rank, c.by_legs, c.by_loops), (12, 3, 3, 3));
    assert_eq!(spaces(&c), [3; 4]);
}

/// A boom that a cylinder lifts and an arm on it that carries the tool.
const EXCAVATOR: &str = r#"
[robot]
name = "excavator"
home = { x = 1.2, y = 0.4 }

[platform]
coordinates = "point"
body = "arm"
point = [0.8, 0, 0]

[[body]]
name = "boom"
on = "base"
joint = "R"

[[body]]
name = "arm"
on = "boom"
joint = "R"
point = [1, 0, 0]
drive = {}

[[body]]
name = "cylinder"
on = "base"
joint = "R"
point = [0.3, -0.4, 0]

[[body]]
name = "piston"
on = "cylinder"
joint = "P"
axis = [1, 0, 0]
drive = {}

[[closure]]
joint = "R"
a = { body = "piston" }
b = { body = "boom", point = [0.5, -0.1, 0] }
"#;

#[test]
fn legs_that_meet_before_the_tool_are_one() {
    let robot = edited(EXCAVATOR, &[]);
    let c = counts(&robot);
    assert_eq!(robot.model().topology().legs.len(), 2);
    assert_eq!((c.legs.len(), c.legs[0].inner, spaces(&c)), (1, 3, vec![2]));
    assert_eq!((c.joints, c.by_rank, c.by_legs, c.by_loops, robot.mobility().degrees), (5, 2, 2, 2, 2));
}

/// A rhombus may be folded so that it turns freely; whichever leg is met first, that is no freedom of the robot.
#[test]
fn the_order_of_the_legs_does_not_matter() {
    let legs = ["gamma = \"pi/2\"", "gamma = \"-5*pi/6\"", "gamma = \"-pi/6\""];
    let text = gough::robots::text("navaro").unwrap();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut turned = text.to_owned();
        for (k, leg) in legs.iter().enumerate() {
            assert!(turned.contains(leg));
            turned = turned.replace(leg, &format!("@{k}"));
        }
        (0..3).for_each(|k| turned = turned.replace(&format!("@{k}"), legs[order[k]]));
        let robot = Robot::from_toml("navaro", &turned, &ReadOptions::default(), None)
            .unwrap_or_else(|e| panic!("{order:?} {e}"));
        assert_eq!(robot.model().topology().coords.len(), 15, "{order:?}");
        assert!(robot.home().pose().p.norm() < 1e-12);
    }
}
