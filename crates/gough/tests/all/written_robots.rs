//! Robots that nobody shipped, written from the documentation of the format: they compile, close and come back.
use crate::common::{compile, random, random_pose, text};
use gough::Robot;
use gough::analysis::singularity::singularities;
use gough::codegen::{self, CodeOptions, Language, ModelKind};
use gough::description::{Coordinate, ReadOptions};
use gough::kinematics::platform::{coordinates, pose_with};
use gough::kinematics::{Kind, assemblies, forward, inverse, inverse_given, working_modes};
use gough::model::BlockMethod;
use gough::spatial::{Pose, vec3};

/// Inverse, a little aside, and back by following the motors.
fn round_trip(robot: &Robot, seed: u64, count: usize, reach: f64, turn: f64) {
    let model = robot.model();
    let mut random = random(seed);
    let (mut done, mut tries) = (0, 0);
    while done < count {
        tries += 1;
        assert!(tries < 100 * count, "{}: {done} of {count}", robot.name());
        let pose = random_pose(robot, &mut random, reach, turn);
        let Ok(posture) = inverse(model, &pose, robot.mode()) else { continue };
        let (gap_m, gap_rad) = posture.gap(model);
        assert!(gap_m < 1e-12 && gap_rad < 1e-12, "{}: {gap_m} {gap_rad}", robot.name());
        if crate::common::distance_to_type_2(robot, posture.positions()) < 0.02 {
            continue;
        }
        let active = posture.joints(model, &model.topology().active);
        let Ok(back) = forward(model, &active, robot.home()) else { continue };
        // Another assembly mode may be met on the way; the joints must be right all the same.
        let again = back.joints(model, &model.topology().active);
        assert!(again.iter().zip(&active).all(|(a, b)| gough::spatial::orientation::wrap(a - b).abs() < 1e-9));
        done += 1;
    }
}

#[test]
fn the_sketched_robots_are_accepted_as_they_stand() {
    let six = text("sketch-gough-stewart")
        + "
3 = { template = \"ups\", bx = 1.3, by = 0.4, angle = 0 }
4 = { template = \"ups\", bx = 1.0, by = 1.0, angle = \"60 deg\" }
5 = { template = \"ups\", bx = -0.2, by = 0.9, angle = \"120 deg\" }
6 = { template = \"ups\", bx = -0.7, by = 0.5, angle = \"180 deg\" }
";
    let gough = compile("sketch-gough-stewart", &six);
    assert!(gough.remarks().is_empty());
    let shipped = crate::common::robot("gough-stewart");
    let all: Vec<_> = gough.model().topology().coords.ids().collect();
    for (a, b) in gough.home().joints(gough.model(), &all).iter().zip(shipped.home().joints(shipped.model(), &all)) {
        assert!((a - b).abs() < 1e-14);
    }
    // As printed it has two of its six legs: it assembles, and the missing motors are remarked.
    let two = compile("sketch-gough-stewart", &text("sketch-gough-stewart"));
    assert_eq!(two.remarks()[0].what.code(), "not-actuated");

    let delta = compile("sketch-delta", &text("sketch-delta"));
    assert_eq!(delta.model().description().name, "robot");
    assert_eq!((delta.mobility().rows, delta.mobility().degrees), (18, 3));
    let active = delta.home().joints(delta.model(), &delta.model().topology().active);
    assert!(active.iter().all(|q| (q - 30.0_f64.to_radians()).abs() < 1e-9), "home is where `near` says: {active:?}");

    let navaro = compile("sketch-navaro", &text("sketch-navaro"));
    assert_eq!(navaro.mode().name(navaro.model().topology()), "---");
    assert_eq!(navaro.model().topology().active_names(), ["11", "21", "31"]);
    let other =
        Robot::from_toml("sketch-navaro", &text("sketch-navaro"), &ReadOptions::default(), Some("links-2")).unwrap();
    assert_eq!(other.model().topology().active_names(), ["12", "22", "32"]);
}

#[test]
fn a_3_prs_has_parasitic_motions_that_close_it() {
    let robot = compile("3-prs", &text("3-prs"));
    round_trip(&robot, 31, 40, 0.2, 0.4);
    // Tilted about x and y the platform also moves sideways and turns: the textbook parasitic motions.
    let pose = gough::kinematics::platform::pose_with(
        robot.model(),
        robot.home().pose(),
        &[(gough::description::Coordinate::Rx, 0.3), (gough::description::Coordinate::Ry, 0.2)],
    );
    let posture = inverse(robot.model(), &pose, robot.mode()).unwrap();
    let found = coordinates(robot.model(), posture.pose());
    assert!((found[3] - 0.3).abs() < 1e-12 && (found[4] - 0.2).abs() < 1e-12, "independent coordinates are kept");
    // Closed form of the constraint for roll, pitch, yaw: tan(yaw) = sin(roll) sin(pitch) / (cos(roll) + cos(pitch)).
    let (roll, pitch) = (0.3_f64, 0.2_f64);
    let yaw = (roll.sin() * pitch.sin() / (roll.cos() + pitch.cos())).atan();
    assert!((found[5] - yaw).abs() < 1e-9, "{} {yaw}", found[5]);
    assert!(found[0].abs() > 1e-4 || found[1].abs() > 1e-4);
}

#[test]
fn a_3_upu_only_translates() {
    let robot = compile("3-upu", &text("3-upu"));
    assert_eq!(robot.mobility().degrees, 3);
    let mut random = random(32);
    let mut done = 0;
    while done < 200 {
        let pose = random_pose(&robot, &mut random, 0.5, 0.0);
        let Ok(posture) = inverse(robot.model(), &pose, robot.mode()) else { continue };
        // Leg lengths by hand.
        let q = posture.joints(robot.model(), &robot.model().topology().active);
        for (i, length) in q.iter().enumerate() {
            let turn = 2.0 * std::f64::consts::PI / 3.0 * i as f64;
            let arm = vec3(turn.cos(), turn.sin(), 0.0) * (0.15 - 0.3);
            assert!(((pose.p + arm).norm() - length).abs() < 1e-12);
        }
        let found = assemblies(robot.model(), &q, robot.mode()).unwrap();
        assert!(found.complete && found.postures.iter().any(|p| (p.pose().p - pose.p).norm() < 1e-9));
        done += 1;
    }
}

#[test]
fn legs_without_closed_form_are_solved_in_every_branch() {
    let robot = compile("bent-leg", &text("bent-leg"));
    let t = robot.model().topology();
    assert!(t.plan.inverse.iter().all(|b| matches!(b.method, BlockMethod::Newton { .. })));
    let pose = *robot.home().pose();
    let mut modes = std::collections::BTreeSet::new();
    for posture in working_modes(robot.model(), &pose).unwrap() {
        let (gap_m, gap_rad) = posture.gap(robot.model());
        assert!(gap_m < 1e-10 && gap_rad < 1e-10);
        assert!(modes.insert(posture.mode().name(t)), "every mode has its own name");
        let again = gough::kinematics::WorkingMode::parse(t, &[posture.mode().name(t)]).unwrap();
        assert_eq!(&again, posture.mode());
    }
    assert!(modes.len() > 1);
}

#[test]
fn a_spherical_robot_turns_about_its_centre() {
    let robot = compile("3-rrr-spherical", &text("3-rrr-spherical"));
    let t = robot.model().topology();
    assert_eq!((robot.mobility().degrees, robot.mobility().overconstraint), (3, 6));
    let modes = working_modes(robot.model(), robot.home().pose()).unwrap();
    assert_eq!(modes.len(), 8, "two ways to hold each leg");
    for posture in &modes {
        let (gap_m, gap_rad) = posture.gap(robot.model());
        assert!(gap_m < 1e-12 && gap_rad < 1e-12, "{}", posture.mode().name(t));
    }
    round_trip(&robot, 33, 40, 0.2, 0.4);
}

/// Where the pose leaves the choice, home is a posture that can be left; that nearest to no tilt is singular here.
#[test]
fn a_home_without_joints_told_is_not_a_singular_one() {
    let robot = compile("halves", &text("halves"));
    let list = singularities(robot.model(), robot.home()).list;
    assert!(list.iter().all(|s| s.sigma > 1e-4 || s.kind == Kind::Lajts), "{list:?}");
    let home = coordinates(robot.model(), robot.home().pose());
    let aside = pose_with(robot.model(), robot.home().pose(), &[(Coordinate::Rz, home[5] + 0.1)]);
    let posture = inverse(robot.model(), &aside, robot.mode()).unwrap();
    assert!(posture.gap(robot.model()).0 < 1e-12);
}

/// Rates of roll, pitch and yaw are not the angular velocity: steps that took them for it were off by the yaw of home.
#[test]
fn code_that_follows_a_spherical_robot_does_so_at_any_yaw() {
    let turned = text("3-rrr-spherical").replace("rz = 0.04", "rz = 0.5");
    assert!(turned.contains("rz = 0.5"));
    for (name, text) in [("3-rrr-spherical", text("3-rrr-spherical")), ("turned", turned)] {
        let options = CodeOptions::new(ModelKind::Fgm, Language::C);
        let code = codegen::generate(&compile(name, &text), &options).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(code.vectors.len() > 3, "checked against the library");
    }
}

/// Lengths at which turning is compared do not ask which end of a leg is written first.
#[test]
fn a_leg_may_be_written_from_either_end() {
    let up = text("leg-from-platform").replace("template = \"down\"", "template = \"up\"");
    let down = text("leg-from-platform").replace("template = \"up\"", "template = \"down\"");
    let [up, mixed, down] =
        [("up", up), ("mixed", text("leg-from-platform")), ("down", down)].map(|(name, text)| compile(name, &text));
    assert!((up.model().length() - 0.15).abs() < 1e-12);
    for other in [&mixed, &down] {
        assert!((other.model().length() - up.model().length()).abs() < 1e-12);
        assert!((other.model().size() - up.model().size()).abs() < 1e-12);
        let sigma = |robot: &Robot, kind: Kind| -> Vec<f64> {
            let list = singularities(robot.model(), robot.home()).list;
            let mut found: Vec<f64> = list.iter().filter(|s| s.kind == kind).map(|s| s.sigma).collect();
            found.sort_by(f64::total_cmp);
            found
        };
        for kind in [Kind::Type2, Kind::Type1] {
            let (a, b) = (sigma(&up, kind), sigma(other, kind));
            assert!(a.len() == b.len() && !a.is_empty());
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "{kind:?}: {a:?}, {b:?}");
        }
    }
}

#[test]
fn a_redundant_leg_asks_for_the_joint_that_the_pose_leaves_open() {
    let robot = compile("redundant", &text("redundant"));
    let model = robot.model();
    let t = model.topology();
    assert_eq!(t.plan.given.iter().map(|c| t.coords[*c].name.as_str()).collect::<Vec<_>>(), ["1s"]);
    assert_eq!((robot.mobility().degrees, robot.mobility().platform), (4, 3));
    let slide = t.plan.given[0];
    assert!((robot.home().joints(model, &[slide])[0] - 0.05).abs() < 1e-15, "near is where it stands by default");
    for q in [-0.05, 0.0, 0.1] {
        let posture = inverse_given(model, robot.home().pose(), robot.mode(), &[(slide, q)]).unwrap();
        assert!((posture.joints(model, &[slide])[0] - q).abs() < 1e-15);
        let (gap_m, gap_rad) = posture.gap(model);
        assert!(gap_m < 1e-12 && gap_rad < 1e-12);
    }
}

#[test]
fn screws_cylinders_and_couplings_close() {
    // A platform lifted by three screws: turning the nuts lifts it, and it can only be level with equal turns.
    let text = r#"
[robot]
home = { z = 0.3 }
[parameters]
pitch = "2 mm"
[platform]
coordinates = ["z"]
[[body]]
name = "nut"
on = "base"
joint = "H"
pitch = "pitch"
drive = {}
[[body]]
name = "guide"
on = "base"
joint = "C"
point = [0.2, 0, 0]
[[body]]
name = "wheel"
on = "base"
joint = "R"
point = [0.5, 0, 0]
[[closure]]
joint = "R"
a = { body = "nut" }
b = { body = "platform" }
[[closure]]
joint = "fixed"
a = { body = "guide" }
b = { body = "platform", point = [0.2, 0, 0] }
[[coupling]]
wheel = 1
nut = -2
"#;
    let robot = compile("screw", text);
    let model = robot.model();
    let t = model.topology();
    assert_eq!(robot.mobility().degrees, 1);
    let q = robot.home().joints(model, &[t.coord("nut").unwrap()])[0];
    assert!((q * 0.002 - 0.3).abs() < 1e-9, "150 radians of screw: {q}");
    assert_eq!(t.coords.len(), 3, "the wheel is tied to the nut");
    let higher = inverse(model, &Pose::translation(vec3(0.0, 0.0, 0.31)), robot.mode()).unwrap();
    let turned = higher.joints(model, &[t.coord("nut").unwrap()])[0];
    assert!((turned - 155.0).abs() < 1e-6, "{turned}");
}
