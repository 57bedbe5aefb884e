//! Singularities: postures that are known to be singular are named, distances are true to first order.
use crate::common::{all_robots, random, random_pose, robot};
use gough::Robot;
use gough::analysis::nearest;
use gough::analysis::singularity::{Kind, Report, SingularDirection, Singularity, singularities};
use gough::description::ReadOptions;
use gough::kinematics::platform::pose_with;
use gough::kinematics::{inverse, inverse_at_limit};
use gough::spatial::{Pose, vec3};

fn report(robot: &Robot, pose: &Pose<f64>) -> Report {
    let posture = inverse_at_limit(robot.model(), pose, robot.mode(), robot.home().pose()).unwrap();
    singularities(robot.model(), &posture)
}

fn only(report: &Report, kind: Kind) -> &Singularity {
    let singular: Vec<&Singularity> = report.list.iter().filter(|s| s.singular).collect();
    assert!(singular.iter().all(|s| s.kind == kind), "{singular:?}");
    singular.first().unwrap_or_else(|| panic!("{:?}", report.list))
}

#[test]
fn a_stretched_five_bar_is_type_1() {
    let robot = robot("five-bar");
    let pose = Pose::translation(vec3(-0.14, 0.0, 0.0) + vec3(0.6, 0.8, 0.0) * (0.213 + 0.1878));
    let report = report(&robot, &pose);
    let found = only(&report, Kind::Type1);
    assert_eq!(found.leg.as_deref(), Some("1"));
    let SingularDirection::Wrench(w) = &found.along else { panic!() };
    // The platform cannot move along the leg.
    assert!((w.f.dot(&vec3(0.6, 0.8, 0.0)).abs() - 1.0).abs() < 1e-6, "{w:?}");
    assert_eq!(found.distance, 0.0);
}

#[test]
fn aligned_distal_links_of_a_five_bar_are_type_2() {
    let text = gough::robots::text("five-bar").unwrap();
    let robot = Robot::from_toml("five-bar", text, &ReadOptions::default(), None).unwrap();
    // Elbows at the same height and 2 d3 apart: A12, A13, A22 aligned, free motion along y.
    let half = 0.1878_f64;
    let x_elbow = half; // leg 2; leg 1 at -half
    let height = (0.213_f64.powi(2) - (0.14 - x_elbow).powi(2)).sqrt();
    let report = report(&robot, &Pose::translation(vec3(0.0, height, 0.0)));
    let found = report.nearest(Kind::Type2).unwrap();
    assert!(found.singular, "{report:?}");
    let SingularDirection::Twist(t) = &found.along else { panic!() };
    assert!(t.v.x.abs() < 1e-6 && (t.v.y.abs() - 1.0).abs() < 1e-6, "{t:?}");
}

/// A hexapod whose hexagons are similar, and any hexapod turned by 90 degrees about z over a base of the same shape.
fn hexapod(platform_turn: &str) -> String {
    let angles = [-10, 10, 110, 130, 230, 250];
    let leg =
        |(i, a): (usize, &i32)| format!("{} = {{ template = \"ups\", b = \"{a} deg\", p = \"{a} deg\" }}\n", i + 1);
    let legs: String = angles.iter().enumerate().map(leg).collect();
    format!(
        r#"
[robot]
name = "hexapod"
home = {{ x = 0, y = 0, z = 0.6, rz = "{platform_turn}" }}
[parameters]
rb = 0.5
rp = 0.3
[platform]
coordinates = "spatial"
mass = 1
[template.ups]
needs = ["b", "p"]
body = [
  {{ name = "{{leg}}1", on = "base", joint = "U", frame = {{ rpy = [0, 0, "b"] }}, point = ["rb", 0, 0], axis = [0, 1, 0], axis2 = [1, 0, 0] }},
  {{ name = "{{leg}}2", on = "{{leg}}1", joint = "P", axis = [0, 0, 1], range = [0.1, 2], drive = {{}} }},
]
closure = [{{ joint = "S", a = {{ body = "{{leg}}2" }}, b = {{ body = "platform", frame = {{ rpy = [0, 0, "p"] }}, point = ["rp", 0, 0] }} }}]
[legs]
{legs}"#
    )
}

#[test]
fn similar_hexagons_are_type_2() {
    let robot = Robot::from_toml("hexapod", &hexapod("20 deg"), &ReadOptions::default(), None)
        .unwrap_or_else(|e| panic!("{e}"));
    // Similar hexagons: singular wherever the platform is; the legs' lines depend on each other.
    let r = report(&robot, robot.home().pose());
    assert!(only(&r, Kind::Type2).sigma < 1e-9);
    // The shipped one is regular at home.
    let robot = gough::Robot::shipped("gough-stewart").unwrap();
    let shipped = report(&robot, robot.home().pose());
    assert!(!shipped.is_singular(), "{shipped:?}");
}

#[test]
fn the_free_twist_of_a_quarter_turn_is_a_screw_about_z() {
    // Different hexagons (base pairs at 20 degrees, platform pairs at 100): regular at zero, singular at a quarter turn.
    let text = hexapod("90 deg")
        .replace("p = \"-10 deg\"", "p = \"-50 deg\"")
        .replace("p = \"10 deg\"", "p = \"50 deg\"")
        .replace("p = \"110 deg\"", "p = \"70 deg\"")
        .replace("p = \"130 deg\"", "p = \"170 deg\"")
        .replace("p = \"230 deg\"", "p = \"190 deg\"")
        .replace("p = \"250 deg\"", "p = \"290 deg\"");
    let robot = Robot::from_toml("hexapod", &text, &ReadOptions::default(), None).unwrap_or_else(|e| panic!("{e}"));
    let report = report(&robot, robot.home().pose());
    let found = only(&report, Kind::Type2);
    let SingularDirection::Twist(t) = &found.along else { panic!() };
    assert!(t.w.z.abs() > 0.1 && t.w.x.hypot(t.w.y) < 1e-6 && t.v.x.hypot(t.v.y) < 1e-6, "{t:?}");
}

/// A leg of the Tripteron that is stretched in its plane: its slider still drives the platform, its hinges do not hold.
#[test]
fn a_stretched_tripteron_leg_is_lpjts() {
    let robot = robot("tripteron");
    let model = robot.model();
    let home = robot.home().pose();
    let reaches = |s: f64| {
        let mut pose = *home;
        pose.p.x += s;
        inverse(model, &pose, robot.mode()).map(|_| ())
    };
    let (mut inside, mut outside) = (0.0, 10.0 * model.size());
    for _ in 0..80 {
        let middle = 0.5 * (inside + outside);
        *(if reaches(middle).is_ok() { &mut inside } else { &mut outside }) = middle;
    }
    let mut pose = *home;
    pose.p.x += inside;
    let report = report(&robot, &pose);
    let found = only(&report, Kind::Lpjts);
    assert!(found.leg.is_some());
    let SingularDirection::Joints(joints) = &found.along else { panic!() };
    assert!(joints.len() >= 2 && joints.iter().all(|(name, rate)| !name.is_empty() && rate.is_finite()));
    assert!(joints.iter().any(|(_, rate)| rate.abs() > 0.3), "{joints:?}");
    assert!(report.undefined.contains(&Kind::Type2) || report.list.iter().any(|s| s.kind == Kind::Type2));
}

/// Moving against the gradient by a small step changes σ by that step, however far the singularity is: a gradient that is
/// weak, so that no distance is told, is a gradient all the same.
#[test]
fn distances_shrink_as_the_platform_moves_there() {
    let mut random = random(51);
    for robot in all_robots() {
        let model = robot.model();
        let mut checked = 0;
        for _ in 0..60 {
            let pose = random_pose(&robot, &mut random, 0.1, 0.1);
            let Ok(posture) = inverse(model, &pose, robot.mode()) else { continue };
            let here = singularities(model, &posture);
            let steep = |s: &Singularity| s.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            for s in here.list.iter().filter(|s| s.distance > 1e-2 && s.sigma > 1e-3 && steep(s) > 1e-3) {
                let steep = steep(s);
                let h = 1e-6;
                let independent = &model.topology().platform.independent;
                if independent.iter().filter(|c| c.is_angle()).count() > 1 {
                    continue; // coordinates are not twists; planar and translational platforms suffice
                }
                let at = gough::kinematics::platform::coordinates(model, posture.pose());
                let given: Vec<_> = independent
                    .iter()
                    .zip(&s.gradient)
                    .map(|(c, g)| (*c, at[c.index()] - h * g / steep / if c.is_angle() { model.length() } else { 1.0 }))
                    .collect();
                let Ok(next) = inverse(model, &pose_with(model, posture.pose(), &given), robot.mode()) else {
                    continue;
                };
                let there = singularities(model, &next);
                let same = there.list.iter().find(|o| o.kind == s.kind && o.leg == s.leg).unwrap();
                let change = (s.sigma - same.sigma) / h;
                assert!((change - steep).abs() < 1e-4 * (1.0 + steep), "{}: {s:?} {change} {steep}", robot.name());
                checked += 1;
            }
            if checked > 20 {
                break;
            }
        }
        let turns = model.topology().platform.independent.iter().filter(|c| c.is_angle()).count();
        assert!(turns > 1 || checked > 5, "{}: {checked}", robot.name());
    }
}

#[test]
fn the_nearest_singular_pose_is_found() {
    let robot = robot("five-bar");
    let posture = inverse(robot.model(), &Pose::translation(vec3(0.0, 0.2, 0.0)), robot.mode()).unwrap();
    let report = singularities(robot.model(), &posture);
    // The five-bar has no other kind.
    for s in report.list.iter().filter(|s| matches!(s.kind, Kind::Type1 | Kind::Type2)) {
        let found = nearest(robot.model(), &posture, s).unwrap_or_else(|| panic!("{s:?}"));
        let p = found.posture.pose().p;
        match s.kind {
            Kind::Type1 => {
                // The limit of reach is a circle about the motor: the way there is radial.
                let motor = if s.leg.as_deref() == Some("1") { vec3(-0.14, 0.0, 0.0) } else { vec3(0.14, 0.0, 0.0) };
                let outward = 0.213 + 0.1878 - (posture.pose().p - motor).norm();
                assert!((found.distance - outward).abs() < 1e-6, "{s:?}: {} {outward}", found.distance);
            }
            Kind::Type2 => {
                // On the locus of the closed form: distal links aligned.
                let q = found
                    .posture
                    .joints(robot.model(), robot.model().topology().coords.ids().collect::<Vec<_>>().as_slice());
                assert!(q.iter().all(|x| x.is_finite()));
                let name = |n: &str| {
                    let c = robot.model().topology().coord(n).unwrap();
                    found.posture.joints(robot.model(), &[c])[0]
                };
                let off = (name("q11") + name("q12") - name("q21") - name("q22")).sin();
                assert!(off.abs() < 1e-5, "{off}");
                assert!((p - posture.pose().p).norm() < s.distance * 3.0);
            }
            _ => {}
        }
    }
}

/// Where the straight way to a leg's limit leaves the reach of the other leg, the nearest point is the corner of both.
#[test]
fn the_nearest_singular_pose_may_be_a_corner() {
    let robot = robot("five-bar");
    let posture = inverse(robot.model(), &Pose::translation(vec3(0.05, 0.25, 0.0)), robot.mode()).unwrap();
    let report = singularities(robot.model(), &posture);
    let leg_2 = report.list.iter().find(|s| s.kind == Kind::Type1 && s.leg.as_deref() == Some("2")).unwrap();
    let found = nearest(robot.model(), &posture, leg_2).unwrap();
    let reach = 0.213_f64 + 0.1878;
    let corner = vec3(0.0, (reach * reach - 0.14 * 0.14).sqrt(), 0.0);
    let wanted = (corner - posture.pose().p).norm();
    // The search ends where it meets the limit, beside the corner: never nearer than it, and hardly farther.
    assert!(found.distance > wanted - 1e-6 && found.distance < 1.02 * wanted, "{} {wanted}", found.distance);
}
