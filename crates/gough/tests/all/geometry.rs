//! Laws of the geometry on random postures of every shipped robot.
use crate::common::{random, random_pose, regular_posture, robot, smallest_margin, typical_margins};
use gough::kinematics::{WorkingMode, assemblies, forward, inverse, working_modes};
use gough::spatial::Pose;
use rand::RngExt;

fn distance(a: &Pose<f64>, b: &Pose<f64>) -> f64 {
    (a.p - b.p).norm().max((a.R.0 - b.R.0).norm())
}

/// Inverse, then forward from a posture a little aside, for every working mode of 1000 random poses per robot.
#[test]
fn the_motors_lead_back_to_every_pose_in_every_mode() {
    for name in gough::robots::names() {
        let began = std::time::Instant::now();
        let robot = robot(name);
        let model = robot.model();
        let typical = typical_margins(&robot);
        let mut random = random(7);
        let modes: Vec<WorkingMode> = robot.mode().combinations().collect();
        let mut tested = vec![0_usize; modes.len()];
        let (mut poses, mut tries) = (0, 0);
        while poses < 1000 {
            tries += 1;
            assert!(tries < 40_000, "{name}: only {poses} regular poses");
            let pose = random_pose(&robot, &mut random, 0.6, 0.5);
            let mut any = false;
            for (mode, count) in modes.iter().zip(&mut tested) {
                // Robots of many modes would take long: every mode of every 16th pose goes the whole way.
                let whole = modes.len() <= 8 || poses % 16 == 0;
                let posture = if whole {
                    regular_posture(&robot, &pose, mode, &typical)
                } else {
                    inverse(model, &pose, mode).ok().filter(|p| smallest_margin(p.positions(), &typical) > 0.02)
                };
                let Some(posture) = posture else { continue };
                let (gap_m, gap_rad) = posture.gap(model);
                assert!(gap_m < 1e-12 && gap_rad < 1e-12, "{name}: {gap_m} {gap_rad}");
                any = true;
                *count += 1;
                if !whole {
                    continue;
                }
                let mut aside = pose;
                for c in &model.topology().platform.independent {
                    if !c.is_angle() {
                        aside.p[c.index()] += 0.01 * model.size() * random.random_range(-1.0..1.0);
                    }
                }
                let Ok(near) = inverse(model, &aside, mode) else { continue };
                let active = posture.joints(model, &model.topology().active);
                let back = forward(model, &active, &near)
                    .unwrap_or_else(|e| panic!("{name} {}: {e}", mode.name(model.topology())));
                let off = distance(back.pose(), posture.pose());
                assert!(off < 1e-8, "{name} {}: {off}", mode.name(model.topology()));
            }
            poses += usize::from(any);
        }
        let missing = tested.iter().filter(|n| **n == 0).count();
        assert_eq!(missing, 0, "{name}: {missing} of {} modes were never reached", modes.len());
        println!("{name}: {:.1} s", began.elapsed().as_secs_f64());
    }
}

/// Where the forward geometry has a closed form, it finds every pose among its assembly modes.
#[test]
fn all_assembly_modes_contain_the_pose() {
    for name in gough::robots::names() {
        let robot = robot(name);
        let model = robot.model();
        let typical = typical_margins(&robot);
        let mut random = random(8);
        let (mut done, mut tries) = (0, 0);
        while done < if name == "gough-stewart" { 3 } else { 25 } {
            tries += 1;
            assert!(tries < 5000, "{name}");
            let pose = random_pose(&robot, &mut random, 0.5, 0.4);
            let Some(posture) = regular_posture(&robot, &pose, robot.mode(), &typical) else { continue };
            let active = posture.joints(model, &model.topology().active);
            let found = assemblies(model, &active, robot.mode()).unwrap_or_else(|e| panic!("{name}: {e}"));
            let best = found.postures.iter().map(|p| distance(p.pose(), &pose)).fold(f64::INFINITY, f64::min);
            assert!(best < 1e-9, "{name}: {best} with {} modes", found.postures.len());
            for p in &found.postures {
                let again = p.joints(model, &model.topology().active);
                for (a, b) in again.iter().zip(&active) {
                    assert!(gough::spatial::orientation::wrap(a - b).abs() < 1e-9, "{name}: {a} {b}");
                }
            }
            done += 1;
        }
    }
}

/// Anywhere, singular or out of reach: an answer that closes, or a named refusal.
#[test]
fn any_pose_has_an_answer_or_a_named_refusal() {
    for name in gough::robots::names() {
        let robot = robot(name);
        let model = robot.model();
        let mut random = random(9);
        let (mut answered, mut refused) = (0, 0);
        for _ in 0..600 {
            let pose = random_pose(&robot, &mut random, 3.0, 3.0);
            for mode in robot.mode().combinations().take(8) {
                match inverse(model, &pose, &mode) {
                    Ok(posture) => {
                        let (gap_m, gap_rad) = posture.gap(model);
                        assert!(gap_m < 1e-10 && gap_rad < 1e-10, "{name}: {gap_m} {gap_rad}");
                        answered += 1;
                    }
                    Err(e) => {
                        assert!(!e.to_string().contains("NaN"), "{name}: {e}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(answered > 0 && refused > 0, "{name}: {answered} answered, {refused} refused");
    }
}

/// Two models of the same motion agree.
#[test]
fn robots_with_real_parallelograms_move_like_their_equivalents() {
    for (name, other) in [("orthoglide", "orthoglide-parallelogram"), ("delta", "delta-parallelogram")] {
        let (a, b) = (robot(name), robot(other));
        let mut random = random(10);
        let mut compared = 0;
        while compared < 200 {
            let pose = random_pose(&a, &mut random, 0.5, 0.0);
            let (Ok(first), Ok(second)) = (working_modes(a.model(), &pose), working_modes(b.model(), &pose)) else {
                continue;
            };
            assert_eq!(first.len(), second.len());
            for (p, q) in first.iter().zip(&second) {
                assert_eq!(p.mode().name(a.model().topology()), q.mode().name(b.model().topology()));
                let (p, q) = (
                    p.joints(a.model(), &a.model().topology().active),
                    q.joints(b.model(), &b.model().topology().active),
                );
                for (x, y) in p.iter().zip(&q) {
                    assert!((x - y).abs() < 1e-9, "{name}: {x} {y}");
                }
            }
            let active = first[0].joints(a.model(), &a.model().topology().active);
            let (x, y) = (
                assemblies(a.model(), &active, first[0].mode()).unwrap(),
                assemblies(b.model(), &active, second[0].mode()).unwrap(),
            );
            for p in &x.postures {
                assert!(y.postures.iter().any(|q| distance(p.pose(), q.pose()) < 1e-9), "{name}");
            }
            compared += 1;
        }
    }
}

/// Turning and moving the world changes no joint.
#[test]
fn moving_the_base_changes_no_joint() {
    let text = gough::robots::text("gough-stewart").unwrap();
    let moved =
        text.replace("frame = { xyz = [0.1, -0.2, 0] }", "frame = { xyz = [0.4, 0.7, -0.3], rpy = [0.2, -0.4, 1.1] }");
    let a = robot("gough-stewart");
    let base =
        Pose { R: gough::spatial::orientation::from_rpy(0.2, -0.4, 1.1), p: gough::spatial::vec3(0.4, 0.7, -0.3) }
            * Pose::translation(gough::spatial::vec3(-0.1, 0.2, 0.0));
    // The home pose moves with the base.
    let [x, y, z, roll, pitch, yaw] =
        gough::kinematics::PoseChart::of(a.model()).coordinates(&(base * *a.home().pose()));
    let home = format!("home = {{ x = {x}, y = {y}, z = {z}, roll = {roll}, pitch = {pitch}, yaw = {yaw} }}");
    let moved: Vec<&str> = moved.lines().map(|l| if l.starts_with("home") { home.as_str() } else { l }).collect();
    let b = crate::common::compile("moved", &moved.join("\n"));
    let model = b.model();
    let mut random = random(11);
    for _ in 0..50 {
        let pose = random_pose(&a, &mut random, 0.2, 0.2);
        let Ok(p) = inverse(a.model(), &pose, a.mode()) else { continue };
        let q = inverse(model, &(base * pose), a.mode()).unwrap();
        let all: Vec<_> = a.model().topology().coords.ids().collect();
        for (x, y) in p.joints(a.model(), &all).iter().zip(q.joints(model, &all)) {
            assert!((x - y).abs() < 1e-12);
        }
    }
}

#[test]
fn permuting_equal_legs_permutes_the_joints() {
    let a = robot("delta");
    let third = 2.0 * std::f64::consts::PI / 3.0;
    let mut random = random(12);
    for _ in 0..100 {
        let pose = random_pose(&a, &mut random, 0.3, 0.0);
        let turned = Pose::translation(gough::spatial::orientation::from_rpy(0.0, 0.0, third).apply(pose.p));
        let (Ok(p), Ok(q)) = (inverse(a.model(), &pose, a.mode()), inverse(a.model(), &turned, a.mode())) else {
            continue;
        };
        let active = &a.model().topology().active;
        let (p, q) = (p.joints(a.model(), active), q.joints(a.model(), active));
        for i in 0..3 {
            assert!((p[i] - q[(i + 1) % 3]).abs() < 1e-12);
        }
    }
}
