//! The library against dynamics from first principles ([`crate::plain`]) on every robot there is.
use crate::common::{compile, random, random_pose, robot};
use crate::plain::{Plain, Stand};
use gough::Robot;
use gough::dynamics::regressor::{StandardSet, regressor};
use gough::dynamics::{Conditions, Share, Sign, direct_dynamics, inverse_dynamics, inverse_dynamics_under};
use gough::kinematics::{Posture, inverse};
use rand::RngExt;

/// Shipped robots and those of the tests.
fn every_robot() -> Vec<Robot> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/robots");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        compile(path.file_stem().unwrap().to_str().unwrap(), &std::fs::read_to_string(path).unwrap())
    };
    gough::robots::names().map(robot).chain(files.iter().map(read)).collect()
}

/// Postures around home at which the loops close.
fn postures(robot: &Robot, count: usize) -> Vec<Posture> {
    let mut random = random(71);
    let near = |_| inverse(robot.model(), &random_pose(robot, &mut random, 0.05, 0.1), robot.mode()).ok();
    std::iter::once(robot.home().clone()).chain((0..4 * count).filter_map(near)).take(count).collect()
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    let worst = found.iter().zip(wanted).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(worst <= tolerance * scale, "{what}: {worst:e} of {scale:e}: {found:?} {wanted:?}");
}

/// Efforts, accelerations, energies, rates and ranks are those of the plain computation; where it finds that drives do not
/// hold the platform the library refuses, and nowhere else.
#[test]
fn every_robot_agrees_with_first_principles() {
    let (mut compared, mut refused) = (0, 0);
    for robot in every_robot() {
        let (model, name) = (robot.model(), robot.name());
        let mut random = random(72);
        let n = model.topology().platform.independent.len();
        for posture in postures(&robot, 2) {
            let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let (t, td) = (any(), any());
            let plain = Plain::new(model.description(), &Stand::of(model, &posture));
            assert!(plain.gap < 1e-8 * model.size().max(1.0), "{name}: open by {:e}", plain.gap);
            let wanted = plain.inverse(&t, &td);
            let least = wanted.pivots[1].min(wanted.pivots[2]);
            match inverse_dynamics(model, &posture, &t, &td) {
                Ok(found) => {
                    assert!(least > 1e-8, "{name}: answered at a singular posture, {:?}", wanted.pivots);
                    let tolerance = 1e-11 / least.min(wanted.pivots[0]).powi(2);
                    close(&found.efforts, &wanted.efforts, tolerance, name);
                    let energies = [found.kinetic_energy, found.kinetic_energy_rotors, found.potential_energy];
                    close(&energies, &wanted.energies, tolerance, name);
                    for (c, coord) in model.topology().coords.iter() {
                        let rates = [found.motion.rates[c], found.motion.accels[c]];
                        close(&rates, &wanted.rates[&coord.name], tolerance, name);
                    }
                    compared += 1;
                    if wanted.inertia_pivot > 1e-6 {
                        let other: Vec<f64> = wanted.efforts.iter().map(|x| 0.7 * x + 1.0).collect();
                        let (found, _) = direct_dynamics(model, &posture, &t, &other).unwrap();
                        close(&found, &plain.direct(&t, &other), tolerance / wanted.inertia_pivot, name);
                    }
                }
                Err(e) => {
                    assert!(wanted.pivots.iter().any(|p| *p < 1e-4), "{name}: {e}, {:?}", wanted.pivots);
                    refused += 1;
                }
            }
        }
    }
    println!("{compared} states compared, {refused} refused by both");
    assert!(compared > 60 && refused < compared / 4, "{compared} compared, {refused} refused");
}

/// Where a robot has more freedoms than its platform and more drives than freedoms, the shortest list is the shortest of all
/// drives together, whatever road leads to it, and what moves nothing moves no joint either.
#[test]
fn all_drives_share_where_the_platform_leaves_joints_open() {
    let robot = compile("redundant-twice", &crate::common::text("redundant-twice"));
    let model = robot.model();
    assert_eq!((model.topology().plan.given.len(), model.topology().active.len()), (1, 6));
    let (t, td) = ([0.2, -0.3, 0.4], [1.0, 2.0, -1.5]);
    for posture in postures(&robot, 3) {
        let plain = Plain::new(model.description(), &Stand::of(model, &posture));
        let found = inverse_dynamics(model, &posture, &t, &td).unwrap();
        close(&found.efforts, &plain.inverse(&t, &td).efforts, 1e-10, "efforts");
        let internal = found.internal.as_ref().unwrap();
        assert_eq!(internal.null_space.len(), 2);
        close(&internal.load, &[0.0; 6], 1e-10, "the shortest list has no part that moves nothing");
        for nothing in &internal.null_space {
            let more: Vec<f64> = found.efforts.iter().zip(nothing).map(|(x, v)| x + v).collect();
            close(&plain.direct(&t, &more), &td, 1e-8, "more efforts move more");
        }
        let set = StandardSet::new(model);
        let linear = regressor(model, &set, &posture, (&t, &td), Sign::Sharp, &Conditions::default()).unwrap();
        close(&linear.of_efforts().unwrap().apply(&set.values()), &found.efforts, 1e-10, "the regressor");
        let weights = [1.0, 2.0, 0.5, 1.0, 4.0, 1.0];
        let shared = Conditions { share: Share::Weighted(weights.to_vec()), ..Conditions::default() };
        let efforts = inverse_dynamics_under(model, &posture, &t, &td, &shared).unwrap().efforts;
        close(&plain.direct(&t, &efforts), &td, 1e-8, "shared efforts");
        let cost = |list: &[f64]| -> f64 { list.iter().zip(weights).map(|(x, w)| w * x * x).sum() };
        assert!(cost(&efforts) < cost(&found.efforts));
        for nothing in &internal.null_space {
            let slope: f64 = (0..6).map(|i| weights[i] * efforts[i] * nothing[i]).sum();
            assert!(slope.abs() < 1e-8 * cost(&efforts).sqrt(), "{slope:e}");
        }
    }
}

/// A 3-(P)RRR whose pose leaves its first leg open, with sets of drives that hold all of it, or not.
fn open_leg() -> String {
    crate::common::text("redundant")
        + "[actuation]\nall = [\"1s\", \"11\", \"21\", \"31\"]\nturned = [\"11\", \"21\", \"31\"]\nslid = [\"1s\", \"21\", \"31\"]\n"
}

/// Which joints have a drive changes no acceleration under the same efforts, the pose leaving open what it did; and home is the
/// same posture, although modes are called otherwise.
#[test]
fn joints_that_no_drive_moves_accelerate_as_they_must() {
    let robots = ["all", "turned", "slid"].map(|set| {
        Robot::from_toml("open", &open_leg(), &gough::description::ReadOptions::default(), Some(set)).unwrap()
    });
    let (t, mut told) = ([0.2, -0.3, 0.4], Vec::new());
    for robot in &robots {
        let (model, home) = (robot.model(), robot.home());
        assert_eq!(model.topology().plan.given.len(), 1);
        let efforts: Vec<f64> = robot.active_joints().iter().map(|n| if *n == "21" { 2.0 } else { 0.0 }).collect();
        let plain = Plain::new(model.description(), &Stand::of(model, home));
        let (found, motion) = direct_dynamics(model, home, &t, &efforts).unwrap();
        close(&found, &plain.direct(&t, &efforts), 1e-9, "accelerations");
        // At rest, so that it does not matter which open joint stands still.
        let (_, motion_from_rest) = direct_dynamics(model, home, &[0.0; 3], &efforts).unwrap();
        let mut joints: Vec<(String, [f64; 2])> = Vec::new();
        for (c, coord) in model.topology().coords.iter() {
            joints.push((coord.name.clone(), [home.joints(model, &[c])[0], motion_from_rest.accels[c]]));
        }
        assert!(motion.accels.iter().all(|(_, x)| x.is_finite()));
        told.push(joints);
        let idm = inverse_dynamics(model, home, &t, &[0.0; 3]);
        match model.topology().active.len() {
            4 => assert!(idm.is_ok()),
            _ => assert!(idm.unwrap_err().to_string().starts_with("3 drives for 4 freedoms")),
        }
    }
    for other in &told[1..] {
        for ((name, a), (other_name, b)) in told[0].iter().zip(other) {
            assert_eq!(name, other_name);
            close(b, a, 1e-9, name);
        }
    }
}

/// What the file tells of other joints of a leg says where the open one is, as exactly as it says it.
#[test]
fn near_tells_the_open_joint_by_others() {
    let text = crate::common::text("redundant").replace("{ \"1s\" = 0.05 }", "{ \"11\" = -2.0898135616782 }");
    let robot = compile("open", &text);
    let model = robot.model();
    let slide = model.topology().coord("1s").unwrap();
    assert!((robot.home().joints(model, &[slide])[0] - 0.05).abs() < 1e-9);
    let turned =
        Robot::from_toml("open", &open_leg(), &gough::description::ReadOptions::default(), Some("turned")).unwrap();
    let text = text
        .replace("axis = [0, 1, 0], drive = {},", "axis = [0, 1, 0],")
        .replace("\"11\" = -2.0898135616782", "\"1s\" = 0.05");
    let other = compile("open", &text.replace("mode = \"+++\"", ""));
    let slide = other.model().topology().coord("1s").unwrap();
    assert!((other.home().joints(other.model(), &[slide])[0] - 0.05).abs() < 1e-9);
    let joints = |robot: &Robot| robot.home().joints(robot.model(), &robot.model().topology().active);
    close(&joints(&other), &joints(&turned), 1e-9, "home by the slide, and by the drives of another set");
}

/// A leg that the pose leaves open twice is no singularity for that.
#[test]
fn open_legs_are_not_singular_everywhere() {
    let text = crate::common::text("redundant")
        .replace(
            "{ name = \"{leg}1\", on = \"{leg}s\", joint = \"R\", drive = {}, mass = 1 },\n  { name = \"{leg}2\", on = \"{leg}1\", joint = \"R\", mdh = { d = \"l1\" }, mass = 1 },",
            "{ name = \"{leg}1\", on = \"{leg}s\", joint = \"R\", drive = {}, mass = 1 },\n  { name = \"{leg}e\", on = \"{leg}1\", joint = \"R\", mdh = { d = \"l1 / 2\" }, drive = {}, mass = 1 },\n  { name = \"{leg}2\", on = \"{leg}e\", joint = \"R\", mdh = { d = \"l1 / 2\" }, mass = 1 },",
        )
        .replace("{ \"1s\" = 0.05 }", "{ \"1s\" = 0.05, \"1e\" = 0.3 }")
        .replace("mode = \"+++\"", "");
    let robot = compile("open-twice", &text);
    let model = robot.model();
    assert_eq!((model.topology().plan.given.len(), model.topology().active.len()), (2, 5));
    for posture in postures(&robot, 5) {
        let report = gough::analysis::singularity::singularities(model, &posture);
        assert!(!report.is_singular(), "{:?}", report.list.iter().find(|s| s.singular));
        assert!(inverse_dynamics(model, &posture, &[0.1; 3], &[0.2; 3]).is_ok());
    }
}

/// The laws on a few robots drawn at random; `cargo xtask fuzz robots` draws more.
#[test]
fn drawn_robots_obey_the_laws() {
    obey(&[1, 2]);
}

/// Robots that once broke a law: slides beside their joint, motors that the pose leaves open in a leg without closed form.
#[test]
fn drawn_robots_that_broke_a_law_obey_it() {
    obey(&[3, 15]);
}

fn obey(seeds: &[u64]) {
    let mut tally = crate::laws::Tally::default();
    for seed in seeds {
        if let Err(broken) = crate::laws::check(*seed, 2, &mut tally) {
            panic!("seed {seed} breaks `{}`: {}\n{}", broken.law, broken.what, broken.text);
        }
    }
    assert!(2 * tally.built > tally.drawn, "{tally}");
}
