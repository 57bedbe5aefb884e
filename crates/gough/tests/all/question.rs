//! The questions of a robot: answers are those of the stages, every refusal is an error, nothing panics.

use gough::kinematics::Kind;
use gough::question::{Accelerations, Efforts};
use gough::{Error, ErrorKind, Law, Pose, Robot, Sign, SimulationOptions, Source, Wrench};
use serde_json::{Value, json};

fn shipped() -> impl Iterator<Item = Robot> {
    gough::robots::names().map(|name| Robot::shipped(name).unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// What is given back to the direct model is the motion that the inverse one was asked for, whatever the robot.
#[test]
fn direct_dynamics_undoes_inverse_dynamics() {
    let mut compared = 0;
    for robot in shipped() {
        let pose = *robot.home().pose();
        let n = robot.components().len();
        let (twist, acceleration) = (vec![0.1; n], (0..n).map(|k| 0.3 - 0.2 * k as f64).collect::<Vec<_>>());
        let Ok(Efforts { efforts, .. }) = robot.idm(&pose).twist(&twist).acceleration(&acceleration).rigid().answer()
        else {
            continue;
        };
        let Accelerations { acceleration: found, .. } =
            robot.ddm(&pose).twist(&twist).efforts(&efforts).rigid().answer().unwrap();
        for (a, b) in found.iter().zip(&acceleration) {
            assert!((a - b).abs() < 1e-8, "{}: {found:?} {acceleration:?}", robot.name());
        }
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}

/// A pose is its coordinates, in order; the posture there leads back to it.
#[test]
fn poses_are_coordinates_and_motors_lead_back() {
    for robot in shipped() {
        let home = *robot.home().pose();
        let values = robot.coordinates_of(&home);
        assert_eq!(values.len(), robot.coordinates().len(), "{}", robot.name());
        let again = robot.coordinates_of(&robot.pose_at(&values).unwrap());
        values.iter().zip(&again).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{}", robot.name()));
        let found = robot.inverse_geometry(&home).unwrap();
        assert!(found.residual < 1e-9 && found.active.q.len() == robot.active_joints().len(), "{}", robot.name());
    }
    let robot = Robot::shipped("3-rpr").unwrap();
    let home = robot.inverse_geometry(robot.home().pose()).unwrap();
    let places = robot.forward_geometry(&home.active.q).unwrap().assemblies;
    let near = |p: &[f64; 3]| (0..3).all(|k| (p[k] - home.pose.p[k]).abs() < 1e-8);
    assert!(places.iter().any(|a| near(&a.pose.p)), "{places:?}");
}

/// A robot is what it was made of: made again it answers alike; another parameter makes another robot.
#[test]
fn a_source_makes_its_robot_again() {
    let robot = Robot::shipped("gough-stewart-flexible").unwrap();
    assert_eq!(robot.source().files.len(), 1, "the plate");
    let sent = robot.source().clone();
    let again = Source { name: "elsewhere.toml".to_owned(), ..sent }.robot().unwrap();
    let efforts = |r: &Robot| r.idm(r.home().pose()).rigid().answer().unwrap().efforts;
    assert_eq!(efforts(&robot), efforts(&again));
    assert_ne!(robot, again, "another name");
    let plain = Robot::shipped("five-bar").unwrap();
    let longer = Source::shipped("five-bar").unwrap().with("d13", "190 mm").robot().unwrap();
    assert_eq!(plain, Robot::shipped("five-bar").unwrap());
    assert_ne!(plain, longer);
    let unknown = Source::shipped("five-bar").unwrap().with("nothing", "1").robot().unwrap_err();
    assert!(unknown.kind() == ErrorKind::Robot && unknown.code() == "bad-robot", "{unknown}");
    let typed = Robot::shipped("five-baz").unwrap_err();
    assert!(typed.kind() == ErrorKind::Question && typed.to_string().contains("five-bar"), "{typed}");
}

/// Where a leg is nearly stretched its joints run while the tool hardly moves: accelerations say so, as efforts do.
#[test]
fn accelerations_name_the_singularity_that_they_are_near() {
    let robot = Robot::shipped("five-bar").unwrap();
    let regular = robot.ddm(robot.home().pose()).answer().unwrap();
    assert!(regular.near_singularities.is_empty());
    // The first leg reaches from x = -0.14 m; the tool is on its circle but for a share of 1e-9.
    let (reach, angle) = ((0.213 + 0.1878) * (1.0 - 1e-9), 1.1_f64);
    let pose = robot.pose_at(&[reach * angle.cos() - 0.14, reach * angle.sin()]).unwrap();
    let found = robot.ddm(&pose).answer().unwrap();
    let near = &found.near_singularities;
    assert!(near.iter().any(|n| n.kind == Kind::Type1 && n.leg.as_deref() == Some("1")), "{near:?}");
}

/// A robot file names files of its own folder, and no others.
#[test]
fn a_robot_file_is_read_with_the_files_beside_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../robots/gough-stewart-flexible");
    let robot = Robot::read(folder.join("robot.toml")).unwrap();
    assert_eq!(robot.active_joints().len(), 6);
    let missing = Robot::read(folder.join("no-such.toml")).unwrap_err();
    assert!(missing.kind() == ErrorKind::Question && missing.to_string().contains("no-such.toml"), "{missing}");
    assert_eq!(Robot::read(&folder).unwrap_err().kind(), ErrorKind::Question, "a folder is no robot");
}

/// Answers serialise to the documents of the program.
#[test]
fn answers_are_documents() {
    let robot = Robot::shipped("dualv").unwrap();
    let pose = *robot.home().pose();
    let found = robot.idm(&pose).reactions().derivatives().answer().unwrap();
    let document: Value = json!(found);
    for key in ["pose", "active", "efforts", "condition", "internal_load", "null_space", "reactions", "derivatives"] {
        assert!(!document[key].is_null(), "{key}: {document:#}");
    }
    assert_eq!(document["efforts"], json!(found.efforts));
    let moving = robot.kinematics(&pose).twist(&vec![0.1; robot.components().len()]).matrices().answer().unwrap();
    let matrices = moving.matrices.expect("asked for");
    assert_eq!(matrices.redundancy, "actuation");
    let biases = matrices.biases.iter().map(|(name, _)| name);
    for name in matrices.matrices.iter().map(|(name, _)| name).chain(biases) {
        assert!(gough::question::KinematicMatrices::equation(name).is_some(), "{name}");
    }
    let singular = json!(robot.singularities(&pose).answer().unwrap());
    assert!(singular["singularities"].as_array().is_some_and(|l| !l.is_empty()), "{singular:#}");
}

/// Regressor times parameters is the effort of inverse dynamics, with friction and without, whatever the robot.
#[test]
fn the_regressor_is_an_answer() {
    let mut compared = 0;
    for robot in shipped() {
        let pose = *robot.home().pose();
        let n = robot.components().len();
        let list = |k: f64| (0..n).map(|i| k - 0.2 * i as f64).collect::<Vec<_>>();
        let (twist, acceleration) = (list(0.3), list(0.7));
        for friction in [None, Some(Sign::Sharp)] {
            let asked = robot.idm(&pose).twist(&twist).acceleration(&acceleration).rigid();
            let Ok(wanted) = asked.answer() else { continue };
            let wanted = if friction.is_some() { wanted.efforts_with_friction } else { wanted.efforts };
            let found = robot.regressor(&pose, robot.mode(), (&twist, &acceleration), friction).unwrap();
            assert_eq!((found.columns.len(), found.units.len()), (found.values.len(), found.values.len()));
            let size = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            for (row, tau) in found.regressor.iter().zip(&wanted) {
                let effort: f64 = row.iter().zip(&found.values).map(|(y, x)| y * x).sum();
                assert!((effort - tau).abs() < 1e-11 * size, "{}: {effort} {tau}", robot.name());
            }
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
    let robot = Robot::shipped("five-bar").unwrap();
    let ask = |twist: &[f64]| robot.regressor(robot.home().pose(), robot.mode(), (twist, &[0.0, 0.0]), None);
    for twist in [&[0.0][..], &[0.0, f64::NAN]] {
        assert_eq!(ask(twist).unwrap_err().kind(), ErrorKind::Question);
    }
}

const NUMBERS: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1e300, -1e300, 1e-300, 7.0];

/// Whatever is asked, there is an answer of finite numbers or an error that says something.
#[test]
fn nonsense_is_refused_and_never_panics() {
    let finite = |list: &[f64]| assert!(list.iter().all(|x| x.is_finite()), "{list:?}");
    let says = |e: Error| assert!(e.to_string().len() > 10 && !e.code().is_empty(), "{e}");
    let mut refused = 0;
    for name in ["five-bar", "3-rpr", "delta", "dualv", "tripteron", "navaro", "gough-stewart", "heli4"] {
        let robot = Robot::shipped(name).unwrap();
        let (n, home) = (robot.components().len(), *robot.home().pose());
        for (k, x) in NUMBERS.into_iter().enumerate() {
            let list = vec![x; (n + k) % (n + 2)];
            let wrench = Wrench::from_array([x; 6]);
            let poses = [home, Pose { p: home.p.map(|_| x), ..home }];
            for pose in &poses {
                match robot.idm(pose).twist(&list).acceleration(&list).wrench(wrench).rigid().answer() {
                    Ok(found) => finite(&found.efforts),
                    Err(e) => {
                        refused += 1;
                        says(e);
                    }
                }
                match robot.ddm(pose).efforts(&list).load("no such body", wrench).rigid().answer() {
                    Ok(_) => panic!("a body that is not there"),
                    Err(e) => says(e),
                }
                match robot.ddm(pose).twist(&list).rigid().answer() {
                    Ok(found) => finite(&found.acceleration),
                    Err(e) => says(e),
                }
                match robot.kinematics(pose).twist(&list).joint("q9", x).answer() {
                    Ok(_) => panic!("a joint that is not open"),
                    Err(e) => says(e),
                }
                robot.singularities(pose).answer().map_or_else(says, |s| finite(&[s.length_scale]));
                robot.frequencies(pose).count(k).answer().map_or_else(says, |f| finite(&f.frequencies_hz));
            }
            robot.forward_geometry(&list).map_or_else(says, |f| finite(&f.active.q));
            robot.pose_at(&list).map_or_else(says, |p| finite(&[p.p.x, p.p.y, p.p.z]));
            robot.map("conditioning").over("x", x, 1.0, k).answer().map_or_else(says, |_| ());
            robot
                .simulate(&home, &SimulationOptions::lasting(x.min(1e-3)))
                .law(Law::Free)
                .answer()
                .map_or_else(says, |_| ());
        }
        for words in ["", "x", "x=", "x=1 kg", "x=nan", "y=1,y=2", "q=3", "x=1e999", "=", ",,,", "phi=1,yaw=2"] {
            robot.pose(words).map_or_else(says, |_| ());
            robot.mode_named(words).map_or_else(says, |_| ());
        }
        assert!(robot.map("nothing").over("x", 0.0, 1.0, 2).answer().is_err());
        assert!(robot.map("conditioning").over("sideways", 0.0, 1.0, 2).answer().is_err());
    }
    assert!(refused > 50, "{refused}");
}
