//! Singular or not, held or not: every part of the library says the same of a posture, and says so by name.
use crate::common::{all_robots, compile, random, random_pose, text};
use crate::plain::{Plain, Stand};
use gough::Robot;
use gough::analysis::map::{Quantity, evaluate};
use gough::analysis::singularity::singularities;
use gough::analysis::{Probe, coordinate_name, nearest_while};
use gough::batch::{State, efforts};
use gough::codegen::{self, CodegenError, Language, ModelKind};
use gough::description::Coordinate;
use gough::dynamics::{Dynamics, direct_dynamics, inverse_dynamics};
use gough::kinematics::jacobians::matrices_at;
use gough::kinematics::platform::{coordinates, pose_with};
use gough::kinematics::{Kind, Posture, SolveError, inverse};
use std::sync::atomic::{AtomicUsize, Ordering};

fn named(name: &str) -> Robot {
    compile(name, &text(name))
}

fn at(robot: &Robot, given: &[(Coordinate, f64)]) -> Posture {
    let pose = pose_with(robot.model(), robot.home().pose(), given);
    inverse(robot.model(), &pose, robot.mode()).unwrap_or_else(|e| panic!("{}: {e}", robot.name()))
}

/// Whether the drives hold the platform, asked of everything that knows: efforts, the fast road, the list of singularities,
/// and the matrices.
fn holds(robot: &Robot, posture: &Posture) -> [bool; 4] {
    let model = robot.model();
    let n = model.topology().platform.independent.len();
    let rest = vec![0.0; n];
    let lost =
        |e: &SolveError| matches!(e, SolveError::Uncontrolled { .. } | SolveError::Singular { kind: Kind::Type2, .. });
    let efforts = !inverse_dynamics(model, posture, &rest, &rest).is_err_and(|e| lost(&e));
    let mut memory = Dynamics::new(model);
    let fast = !memory.inverse(model, posture.pose(), posture.mode(), &rest, &rest, None).is_err_and(|e| lost(&e));
    let listed = !singularities(model, posture).list.iter().any(|s| s.kind == Kind::Type2 && s.singular);
    let matrix = matrices_at(model, posture, None).map_or(true, |m| m.jacobians.J.is_some());
    [efforts, fast, listed, matrix]
}

#[test]
fn a_posture_is_singular_for_all_or_for_none() {
    let mut random = random(91);
    for robot in all_robots().into_iter().chain(["five-bar-wrist", "tricept"].map(named)) {
        let near = |_| inverse(robot.model(), &random_pose(&robot, &mut random, 0.1, 0.2), robot.mode()).ok();
        for posture in (0..4).filter_map(near) {
            if robot.model().topology().plan.given.is_empty() {
                assert_eq!(holds(&robot, &posture), [true; 4], "{}", robot.name());
            }
        }
    }
}

/// A drive that moves a million times less than the others drives all the same: what it counts in, or a gear behind it, is no
/// matter of rank.
#[test]
fn a_crank_near_its_dead_point_still_drives() {
    let robot = named("dead-point");
    let pose = [0.608_482_359_370_850_7, 0.542_478_853_179_451_7, -0.870_106_274_303_821_8];
    let posture = at(&robot, &[(Coordinate::X, pose[0]), (Coordinate::Y, pose[1]), (Coordinate::Rz, pose[2])]);
    let (t, td) = ([0.3, -0.2, 0.5], [1.0, 0.4, -0.6]);
    let found = inverse_dynamics(robot.model(), &posture, &t, &td).unwrap();
    let plain = Plain::new(robot.model().description(), &Stand::of(robot.model(), &posture));
    let wanted = plain.inverse(&t, &td);
    let rates: Vec<f64> = robot.model().topology().active.iter().map(|c| found.motion.rates[*c].abs()).collect();
    assert!(rates[2] < 1e-5 * rates[0].min(rates[1]), "{rates:?}");
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-7 * b.abs();
    assert!(found.efforts.iter().zip(&wanted.efforts).all(near), "{:?} {:?}", found.efforts, wanted.efforts);
    assert_eq!(holds(&robot, &posture), [true; 4]);
}

/// A slide drives a crank: at the dead centre it holds nothing. It is the only drive, so that its wrench on the platform has length
/// one wherever it has one; what shrinks towards the dead centre is told all the same, with its distance, and a motion through it
/// is told where it crosses.
#[test]
fn a_single_drive_has_dead_centres() {
    let robot = named("slider-crank");
    let model = robot.model();
    let rz = |angle: f64| at(&robot, &[(Coordinate::Rz, angle)]);
    assert_eq!(holds(&robot, &rz(0.0)), [false; 4]);
    assert_eq!(holds(&robot, &rz(0.5)), [true; 4]);
    let told = format!("{:?}", singularities(model, &rz(0.0)));
    assert!(!told.contains("NaN"), "{told}");
    for angle in [0.03, -0.01, 1e-3] {
        let report = singularities(model, &rz(angle));
        let found = report.nearest(Kind::Type2).unwrap();
        let away = angle.abs() * report.length;
        assert!((found.distance - away).abs() < 0.02 * away, "{angle}: {} is {away}", found.distance);
        assert!(
            report.nearest(Kind::Type1).is_none_or(|s| s.distance > 10.0 * away),
            "{angle}: the crank is not stretched"
        );
    }
    let named = |angle: f64| {
        let found = robot.idm(rz(angle).pose()).answer().unwrap().near_singularities;
        found.iter().any(|s| s.kind == Kind::Type2)
    };
    assert!(named(1e-4) && !named(0.5));
    let [from, to] = [0.5, -0.4].map(|angle| *rz(angle).pose());
    let refused = robot.plan(&to).from(&from).time(1.0).answer().map_err(|e| e.to_string()).unwrap_err();
    assert!(refused.contains("Type 2"), "{refused}");
}

/// Where the distal links of the five-bar are in one line its point is not held, wherever the wrist is driven.
#[test]
fn drives_inside_merged_legs_are_no_exception() {
    let robot = named("five-bar-wrist");
    let pose = |y: f64| at(&robot, &[(Coordinate::X, -0.155), (Coordinate::Y, y), (Coordinate::Rz, 0.0)]);
    let singular = pose(-0.425_279_237_207_122_35);
    assert_eq!(holds(&robot, &singular), [false; 4]);
    assert_eq!(holds(&robot, &pose(-0.415)), [true; 4]);
}

#[test]
fn too_few_drives_hold_nothing_and_all_say_so() {
    for name in ["under-actuated-delta", "two-struts"] {
        let robot = named(name);
        let (model, home) = (robot.model(), robot.home());
        assert_eq!(holds(&robot, home)[..3], [false; 3], "{name}");
        let report = singularities(model, home);
        assert!(report.list.iter().all(|s| s.sigma.is_finite() && !s.distance.is_nan()), "{name}");
        let rest = vec![0.0; model.topology().platform.independent.len()];
        let states = [State { pose: home.pose(), t_r: &rest, td_r: &rest }; 4];
        let many = efforts(&robot, home.mode(), None, &states, |_| true);
        assert!(many.refused.len() == 4, "{name}");
        let few = |why: &SolveError| match *why {
            SolveError::Uncontrolled { count: [drives, freedoms], .. } => {
                drives < freedoms && why.to_string().contains(&format!("{drives} drives for {freedoms} freedoms"))
            }
            _ => false,
        };
        assert!(many.refused.iter().all(|r| few(&r.why)), "{name}");
        // Curves over a region do not pass it over.
        let (a, b) = (model.topology().platform.independent[0], model.topology().platform.independent[1]);
        let [x, y] = [a, b].map(|c| coordinates(model, home.pose())[c.index()]);
        let found = robot.loci().over(coordinate_name(a), x - 0.01, x + 0.01, 3);
        let found = found.over(coordinate_name(b), y - 0.01, y + 0.01, 3).answer().unwrap();
        assert_eq!(found.everywhere, [Kind::Type2], "{name}");
        let mut probe = Probe::new(model, home.mode());
        let stiffness = Quantity::Stiffness(vec![1e4; model.topology().active.len()]);
        let lowest = evaluate(&mut probe, home.mode(), home.pose(), &stiffness);
        assert!(!lowest.is_ok_and(|k| k > 1e-6), "{name}: a motion without a drive has no stiffness");
        let options = codegen::CodeOptions::new(ModelKind::Idm, Language::C);
        let refused = codegen::generate(&robot, &options).unwrap_err();
        assert!(matches!(refused, CodegenError::TooFewDrives { drives, freedoms } if drives < freedoms), "{name}");
        // Accelerations under efforts exist all the same.
        assert!(direct_dynamics(model, home, &rest, &vec![0.0; model.topology().active.len()]).is_ok(), "{name}");
    }
}

/// A point mass on massless legs: the refusal names a motion that carries no kinetic energy.
#[test]
fn motions_without_inertia_are_refused_by_name() {
    for (name, given) in [
        ("point-mass", vec![(Coordinate::X, 0.01), (Coordinate::Y, 0.02), (Coordinate::Z, 0.8)]),
        ("point-mass-planar", vec![(Coordinate::X, 0.01), (Coordinate::Y, 0.02)]),
    ] {
        let robot = named(name);
        let model = robot.model();
        let posture = at(&robot, &given);
        let rest = vec![0.0; model.topology().platform.independent.len()];
        let efforts = vec![1.0; model.topology().active.len()];
        let refusal = direct_dynamics(model, &posture, &rest, &efforts).unwrap_err();
        let SolveError::NoInertia { motion: Some(motion) } = refusal else { panic!("{name}: {refusal}") };
        let t_r: Vec<f64> = model.topology().platform.independent.iter().map(|c| motion[c.index()]).collect();
        let energy = inverse_dynamics(model, &posture, &t_r, &rest).unwrap().kinetic_energy;
        assert!(energy < 1e-12, "{name}: {energy} J along {motion:?}");
    }
}

/// Legs whose bodies stand on the platform: code is held against the library before it is given out, so it is enough that
/// there is some; its numbers are the library's.
#[test]
fn code_of_legs_that_stand_on_the_platform_is_right() {
    for name in ["leg-on-platform", "leg-from-platform"] {
        let robot = named(name);
        for model in [ModelKind::Idm, ModelKind::Ddm, ModelKind::Jacobian, ModelKind::Kinematics, ModelKind::Igm] {
            let code = codegen::generate(&robot, &codegen::CodeOptions::new(model, Language::C));
            let code = code.unwrap_or_else(|e| panic!("{name} {}: {e}", model.name()));
            assert!(code.vectors.len() > 2, "{name} {}", model.name());
        }
    }
}

/// Inverse geometry exists where efforts do not.
#[test]
fn code_of_a_singular_robot_is_refused_for_efforts_alone() {
    for name in ["similar-hexagons", "sketch-gough-stewart"] {
        let robot = named(name);
        let of = |model| codegen::generate(&robot, &codegen::CodeOptions::new(model, Language::C));
        assert_eq!(of(ModelKind::Idm).unwrap_err().kind(), "type2", "{name}");
        of(ModelKind::Igm).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// The order in which legs are written changes nothing.
#[test]
fn a_passive_leg_may_come_first() {
    let first = named("tricept");
    let last = text("tricept");
    let (head, tail) = last.split_at(last.find("[template.ups]").unwrap());
    let (legs, centre) = tail.split_at(tail.find("[[body]]").unwrap());
    let (centre, list) = centre.split_at(centre.find("[legs]").unwrap());
    let moved = format!("{head}{centre}{legs}{list}");
    let last = compile("tricept", &moved);
    let mut random = random(92);
    for _ in 0..5 {
        let pose = random_pose(&first, &mut random, 0.1, 0.1);
        let efforts = |robot: &Robot| {
            let posture = inverse(robot.model(), &pose, robot.mode()).unwrap();
            let found = inverse_dynamics(robot.model(), &posture, &[0.1, 0.2, 0.3], &[1.0, -1.0, 0.5]).unwrap();
            let t = robot.model().topology();
            let mut list: Vec<(String, f64)> =
                t.active.iter().zip(found.efforts).map(|(c, x)| (t.coords[*c].name.clone(), x)).collect();
            list.sort_by(|a, b| a.0.cmp(&b.0));
            list
        };
        for (a, b) in efforts(&first).iter().zip(&efforts(&last)) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-8 * (1.0 + a.1.abs()), "{a:?} {b:?}");
        }
    }
}

/// A search ends when it is told to, with what it has.
#[test]
fn a_search_for_the_nearest_singularity_keeps_its_budget() {
    let robot = crate::common::robot("3-rpr");
    let posture = robot.home();
    let report = singularities(robot.model(), posture);
    let type_2 = report.list.iter().find(|s| s.kind == Kind::Type2).unwrap();
    let asked = AtomicUsize::new(0);
    let few = nearest_while(robot.model(), posture, type_2, &|| asked.fetch_add(1, Ordering::Relaxed) < 3);
    assert!(!few.finished && few.starts.0 < few.starts.1);
    let all = nearest_while(robot.model(), posture, type_2, &|| true);
    assert!(all.finished && all.nearest.is_some());
}

/// No distance is larger than the robot could ever move.
#[test]
fn a_distance_beyond_every_workspace_is_none() {
    for robot in all_robots() {
        for s in singularities(robot.model(), robot.home()).list {
            assert!(s.distance.is_infinite() || s.distance <= 5.0 * robot.model().size(), "{}: {s:?}", robot.name());
        }
    }
}
