//! Working modes and assembly modes: a posture and the name of its mode determine each other, and what is no solution of
//! its own is not listed.

use crate::common::{compile, text};
use gough::Robot;
use gough::description::{Coordinate, ReadOptions};
use gough::kinematics::newton::{self, Unknowns};
use gough::kinematics::platform::pose_with;
use gough::kinematics::{
    JointPosition, Positions, Posture, SolveError, WorkingMode, assemblies, inverse, joint_value, lists_all_modes,
    postures, working_modes,
};
use gough::model::CoordId;
use gough::spatial::{Pose, Vec3};
use rand::RngExt;
use std::collections::BTreeSet;

fn robot(name: &str) -> Robot {
    compile(name, &text(name))
}

fn at(robot: &Robot, given: &[(Coordinate, f64)]) -> Pose<f64> {
    pose_with(robot.model(), robot.home().pose(), given)
}

fn names(robot: &Robot, list: &[Posture]) -> Vec<String> {
    list.iter().map(|p| p.mode().name(robot.model().topology())).collect()
}

/// Every posture is closed, has a name of its own, and the name leads back to it.
fn names_determine(robot: &Robot, pose: &Pose<f64>) -> Vec<Posture> {
    let (model, t) = (robot.model(), robot.model().topology());
    let found = working_modes(model, pose).unwrap_or_else(|e| panic!("{}: {e}", robot.name()));
    let unique: BTreeSet<String> = names(robot, &found).into_iter().collect();
    assert_eq!(unique.len(), found.len(), "{}: {unique:?}", robot.name());
    let all: Vec<_> = t.coords.ids().collect();
    for p in &found {
        let (gap_m, gap_rad) = p.gap(model);
        assert!(gap_m < 1e-10 && gap_rad < 1e-10, "{}: {gap_m} {gap_rad}", robot.name());
        let parsed = WorkingMode::parse(t, &[p.mode().name(t)]);
        assert_eq!(parsed.is_ok(), p.mode().is_named(), "{} {}", robot.name(), p.mode().name(t));
        let mode = parsed.unwrap_or_else(|_| p.mode().clone());
        let again =
            inverse(model, pose, &mode).unwrap_or_else(|e| panic!("{} {}: {e}", robot.name(), p.mode().name(t)));
        assert!((again.pose().p - p.pose().p).norm() + (again.pose().R.0 - p.pose().R.0).norm() < 1e-8);
        for (a, b) in again.joints(model, &all).iter().zip(p.joints(model, &all)) {
            assert!(gough::spatial::orientation::wrap(a - b).abs() < 1e-7, "{} {}", robot.name(), p.mode().name(t));
        }
    }
    found
}

/// Every assembly has the mode in which the inverse geometry gives its joints.
fn assemblies_agree(robot: &Robot, active: &[f64]) -> Vec<Posture> {
    let (model, t) = (robot.model(), robot.model().topology());
    let found = postures(model, active, robot.mode()).unwrap().postures;
    for p in &found {
        let again = inverse(model, p.pose(), p.mode()).unwrap();
        for (a, b) in again.joints(model, &t.active).iter().zip(active) {
            assert!((a - b).abs() < 1e-6, "{} {}", robot.name(), p.mode().name(t));
        }
    }
    found
}

#[test]
fn the_spin_of_a_rod_between_two_balls_is_held() {
    let six = robot("6-sps");
    assert_eq!(names(&six, &working_modes(six.model(), six.home().pose()).unwrap()), ["single"]);
    assert_eq!(six.remarks().len(), 6, "the spins are remarked all the same");
    let delta = robot("delta-ss");
    let found = names_determine(&delta, delta.home().pose());
    assert_eq!(found.len(), 8);
    let model = delta.model();
    let active = found[0].joints(model, &model.topology().active);
    let places = assemblies(model, &active, delta.mode()).unwrap();
    assert!(places.complete && places.postures.len() == 2);
}

#[test]
fn assemblies_are_listed_by_place_and_by_mode() {
    let robot = crate::common::robot("tripteron");
    let (model, t) = (robot.model(), robot.model().topology());
    let active = [0.2, 0.8, -0.2];
    let places = assemblies(model, &active, robot.mode()).unwrap();
    assert_eq!((names(&robot, &places.postures), places.complete), (vec!["+++".to_owned()], true));
    assert_eq!(assemblies_agree(&robot, &active).len(), 8, "one place, every elbow on either side");
    let other = WorkingMode::parse(t, &["--+".to_owned()]).unwrap();
    assert_eq!(names(&robot, &assemblies(model, &active, &other).unwrap().postures), ["--+"]);

    let five_bar = crate::common::robot("five-bar");
    let found = assemblies_agree(&five_bar, &[1.54, 65.0_f64.to_radians()]);
    assert_eq!(names(&five_bar, &found), ["+-", "+-"]);

    let navaro = crate::common::robot("navaro");
    let found = assemblies_agree(&navaro, &[-2.6, -0.5, 1.5]);
    assert_eq!(names(&navaro, &found).iter().filter(|n| *n == "-x,-,-").count(), 2);
}

#[test]
fn one_place_with_many_elbows_is_one_assembly() {
    let robot = robot("hexapteron");
    let active = [0.0, 0.01, 0.0, 0.02, 0.0, 0.01];
    let places = assemblies(robot.model(), &active, robot.mode()).unwrap().postures;
    let all = postures(robot.model(), &active, robot.mode()).unwrap().postures;
    assert!(names(&robot, &places).iter().all(|n| n == "++++++"), "{:?}", names(&robot, &places));
    assert_eq!(all.len(), 64 * places.len());
}

#[test]
fn coordinates_that_follow_belong_to_the_posture() {
    let palletizer = robot("palletizer");
    let pose = at(&palletizer, &[(Coordinate::X, 0.514_808), (Coordinate::Y, 0.211_091)]);
    let found = names_determine(&palletizer, &pose);
    assert_eq!(names(&palletizer, &found), ["+", "+/2", "+x", "+x/2", "-", "-/2", "-x", "-x/2"]);
    let model = palletizer.model();
    let joints = found[0].joints(model, &model.topology().active);
    let both = assemblies_agree(&palletizer, &joints);
    let unique: BTreeSet<String> = names(&palletizer, &both).into_iter().collect();
    assert_eq!((both.len(), unique.len()), (4, 4));

    let rps = robot("3-rps");
    let asked = [(Coordinate::Z, 0.488_062_351), (Coordinate::Rx, 2.993_587_443), (Coordinate::Ry, 1.404_418_165)];
    let found = names_determine(&rps, &at(&rps, &asked));
    let yaw = |p: &Posture| gough::kinematics::platform::coordinates(rps.model(), p.pose())[5];
    let mut yaws: Vec<f64> = found.iter().map(yaw).collect();
    yaws.sort_by(f64::total_cmp);
    assert!(yaws.len() == 2 && (yaws[0] + 0.174_806).abs() < 1e-5 && (yaws[1] - 2.966_787).abs() < 1e-5, "{yaws:?}");
}

#[test]
fn joints_outside_their_range_are_refused_forward_too() {
    let robot = robot("6-pus");
    let refused = assemblies(robot.model(), &[0.9; 6], robot.mode()).unwrap_err();
    assert_eq!(refused.kind(), "out-of-range");
    assert!(!assemblies_agree(&robot, &[0.1; 6]).is_empty());
}

#[test]
fn a_screw_turns_as_often_as_it_must() {
    let robot = robot("screw-spline");
    let model = robot.model();
    for z in [0.05, 0.08, 0.1, -0.1, 1.0] {
        let found = names_determine(&robot, &at(&robot, &[(Coordinate::Z, z), (Coordinate::Rz, 0.2)]));
        assert_eq!(found.len(), 1);
        let shaft = found[0].joints(model, &model.topology().passive)[0];
        assert!((shaft - z * 2.0 * std::f64::consts::PI / 0.02).abs() < 1e-6, "{shaft}");
    }
    let higher = text("screw-spline").replace("z = 0.003", "z = 0.1");
    compile("screw-spline", &higher);
}

#[test]
fn a_universal_joint_turned_round_is_no_mode() {
    let robot = robot("screw-delta");
    let found = names_determine(&robot, robot.home().pose());
    assert_eq!(found.len(), 8);
    let model = robot.model();
    let there = assemblies_agree(&robot, &[26.7, 26.9, 26.5]);
    assert_eq!(names(&robot, &there), ["+1,+1,+1", "-1,-1,-1"]);
    assert_eq!(model.topology().active.len(), 3);
}

#[test]
fn a_home_pose_is_searched_from_many_starts() {
    let robot = robot("h4");
    let (gap_m, gap_rad) = robot.home().gap(robot.model());
    assert!(gap_m < 1e-12 && gap_rad < 1e-12);
    assert!(robot.model().topology().plan.given.is_empty(), "two motors in one leg are not redundant by that");
}

#[test]
fn where_modes_meet_there_is_no_answer() {
    let limit = |robot: &Robot, given: &[(Coordinate, f64)]| {
        let error = working_modes(robot.model(), &at(robot, given)).unwrap_err();
        assert!(matches!(error, SolveError::AtLimit { .. }), "{}: {error}", robot.name());
    };
    let links = robot("equal-links");
    limit(&links, &[(Coordinate::X, -0.1), (Coordinate::Y, 0.0)]);
    limit(&links, &[(Coordinate::X, 0.4), (Coordinate::Y, 0.0)]);
    limit(&links, &[(Coordinate::X, 0.0), (Coordinate::Y, 0.489_897_948_556_635_6)]);
    let right = std::f64::consts::FRAC_PI_2;
    limit(&robot("agile-eye"), &[(Coordinate::Rx, right), (Coordinate::Ry, 0.0), (Coordinate::Rz, right)]);
    // Forward, the stretched legs are a posture like any other.
    let q = 0.489_897_948_556_635_6_f64.atan2(0.1);
    let found = assemblies(links.model(), &[q, std::f64::consts::PI - q], links.mode()).unwrap();
    assert!(!found.postures.is_empty());
}

#[test]
fn points_of_a_self_motion_are_no_assembly_modes() {
    let robot = robot("similar-hexagons");
    assert_eq!(robot.remarks()[0].what.code(), "singular-architecture");
    assert_eq!(assemblies(robot.model(), &[0.85; 6], robot.mode()).unwrap_err(), SolveError::SelfMotion);
}

#[test]
fn it_does_not_matter_where_the_base_stands() {
    let near = robot("moved-delta");
    let far = text("moved-delta").replace("xyz = [1, 2, 1]", "xyz = [100000, 0, 0]");
    let far = far.replace("home = { x = 1.0, y = 2.0, z = 0.45,", "home = { x = 100000, y = 0, z = -0.55,");
    let far = compile("moved-delta", &far);
    assert!((near.model().length() - far.model().length()).abs() < 1e-9);
    assert!((near.model().length() - 0.320_156).abs() < 1e-6);
}

#[test]
fn joints_that_cannot_be_assembled_are_told_by_how_much() {
    let robot = crate::common::robot("five-bar");
    let error = assemblies(robot.model(), &[3.1, 0.0], robot.mode()).unwrap_err();
    assert!(matches!(error, SolveError::NoAssembly { by } if by > 0.01 && by < 1.0), "{error}");
}

#[test]
fn faults_of_home_and_claims_say_what_is_wrong() {
    let fault = |text: &str| {
        let bad = Robot::from_toml("robot", text, &ReadOptions::default(), None).expect_err("a fault");
        (bad.faults[0].what.code(), bad.faults[0].what.to_string())
    };
    let prs = text("3-prs");
    let claim = |to: &str| fault(&prs.replace("coordinates = [\"z\", \"rx\", \"ry\"]", &format!("coordinates = {to}")));
    let (code, says) = claim("[\"x\", \"y\", \"rz\"]");
    assert!(code == "false-claim" && says.contains("only 2 of these 3 coordinates"), "{says}");
    let (_, says) = claim("\"translation\"");
    assert!(
        says.contains("do not let it move in x, y") && says.contains("rotation about x, rotation about y"),
        "{says}"
    );
    let links = text("equal-links");
    let (code, says) = fault(&links.replace("x0\", 0, 0], drive = {}", "x0\", 0, 0], drive = {}, range = [4, 6]"));
    assert!(code == "home-out-of-range" && says.contains("[4.0"), "{says}");
    let (code, says) = fault(links.split("[[closure]]").next().unwrap());
    assert!(code == "unattached" && says.contains("`11`"), "{says}");
    let turned = text("moved-delta").replace(", yaw = \"30 deg\" }", " }");
    let (code, says) = fault(&turned);
    assert!(code == "bad-home" && says.contains("yaw 30.000"), "{says}");
}

/// Where every joint axis of a posture lies.
fn axes(robot: &Robot, pos: &Positions<f64>) -> Vec<(Vec3<f64>, Vec3<f64>)> {
    robot.model().topology().bodies.ids().map(|b| (pos.X_WB[b].p, pos.X_WB[b].R.z())).collect()
}

/// A list that is said to be complete has every posture that a search from random joints meets.
#[test]
fn a_complete_list_misses_no_posture() {
    let mut met = 0;
    for robot in ["slides-beside", "struts-beside", "lopsided-rpr", "6-pus"].map(robot) {
        let model = robot.model();
        let mut random = crate::common::random(31);
        let pose = crate::common::random_pose(&robot, &mut random, 0.03, 0.05);
        let listed = working_modes(model, &pose).unwrap_or_else(|e| panic!("{}: {e}", robot.name()));
        assert!(lists_all_modes(model, listed.len()), "{}", robot.name());
        let listed: Vec<_> = listed.iter().map(|p| axes(&robot, p.positions())).collect();
        let near = |a: &(Vec3<f64>, Vec3<f64>), b: &(Vec3<f64>, Vec3<f64>)| {
            (a.0 - b.0).norm() < 1e-6 * model.size() && a.1.cross(&b.1).norm() < 1e-6
        };
        for _ in 0..20 {
            let mut pos = robot.home().positions().clone();
            pos.X_WE = pose;
            for (c, coord) in model.topology().coords.iter() {
                let (low, high) = match (&coord.range, coord.slides) {
                    (Some(range), _) => range.limits().into(),
                    (None, true) => (-2.0 * model.size(), 2.0 * model.size()),
                    (None, false) => (-3.1, 3.1),
                };
                pos.joints[c] = JointPosition::of(random.random_range(low..high));
            }
            let closed = newton::assemble(model, &Unknowns::inverse(model, &[]), &mut pos).residual <= newton::CLOSED;
            let inside = |(c, coord): (CoordId, &gough::model::Coord)| {
                let q = joint_value(model, &pos, c);
                coord.range.is_none_or(|r| (r.limits()[0]..=r.limits()[1]).contains(&q))
            };
            if !closed || !model.topology().coords.iter().all(inside) {
                continue;
            }
            let found = axes(&robot, &pos);
            let known = listed.iter().any(|one| one.iter().zip(&found).all(|(a, b)| near(a, b)));
            assert!(known, "{}: not among {} postures", robot.name(), listed.len());
            met += 1;
        }
    }
    assert!(met > 30, "{met}");
}
