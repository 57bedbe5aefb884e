//! Identification: from a motion of a robot to its parameters and back; faults of records get their names; overlays.
use crate::common::robot;
use gough::Robot;
use gough::description::ReadOptions;
use gough::dynamics::regressor::{StandardSet, regressor};
use gough::dynamics::{Conditions, Sign, inverse_dynamics_under};
use gough::identification::{
    Excitation, Limits, Measured, Processing, Record, RecordError, Search, Sensors, excite, identify, overlay,
    possible_set,
};
use gough::kinematics::inverse;
use gough::linalg::dense::{Matrix, svd};
use gough::spatial::{Pose, vec3};

/// The five-bar along a quick motion: joints and efforts, sample by sample.
fn record(robot: &Robot, seconds: f64, rate: f64) -> Record {
    let model = robot.model();
    let (mut times, mut q, mut tau) = (Vec::new(), vec![Vec::new(); 2], vec![Vec::new(); 2]);
    // A count of samples.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let count = (seconds * rate) as usize;
    for i in 0..count {
        let t = i as f64 / rate;
        let wave = |f: f64, phase: f64, k: usize| {
            let w = std::f64::consts::TAU * f;
            [(w * t + phase).sin(), w * (w * t + phase).cos(), -w * w * (w * t + phase).sin()][k]
        };
        let x = |k: usize| 0.05 * wave(1.1, 0.0, k) + 0.02 * wave(2.3, 1.0, k) + 0.01 * wave(3.1, 2.0, k);
        let y = |k: usize| 0.04 * wave(0.9, 0.5, k) + 0.02 * wave(1.9, 2.0, k) + 0.01 * wave(3.3, 0.3, k);
        let pose = Pose::translation(vec3(x(0), 0.27 + y(0), 0.0));
        let posture = inverse(model, &pose, robot.mode()).unwrap();
        let conditions = Conditions { friction: Some(Sign::Sharp), ..Conditions::default() };
        let found = inverse_dynamics_under(model, &posture, &[x(1), y(1)], &[x(2), y(2)], &conditions).unwrap();
        times.push(t);
        let joints = posture.joints(model, &model.topology().active);
        (0..2).for_each(|k| {
            q[k].push(joints[k]);
            tau[k].push(found.efforts_with_friction[k]);
        });
    }
    Record { name: "test".to_owned(), times, measured: Measured::Joints(q), efforts: tau }
}

#[test]
fn what_a_motion_shows_is_what_the_robot_has() {
    let robot = robot("five-bar");
    let clean = record(&robot, 6.0, 250.0);
    let sensors = Sensors { effort_share: 0.005, step: 1e-6, seed: 3, ..Sensors::default() };
    let (used, held) = sensors.seen(clean).split(0.8);
    let how = Processing { cutoff: Some(20.0), sign: Sign::Sharp };
    let found = identify(&robot, robot.mode(), &[used], &[held], &how).unwrap();
    assert!(found.essential_count >= 2, "{:?}", found.estimates);
    for e in &found.estimates {
        assert!((e.value - e.file).abs() < 4.0 * e.deviation, "{e:?}");
    }
    for f in &found.fit {
        let ratio = f.held_back.unwrap() / f.residual;
        assert!(f.residual < 0.007 * f.effort && (0.7..1.4).contains(&ratio), "{f:?}");
    }
    // The overlay is a robot again, whose bodies can exist and whose efforts are those that were measured.
    let set = possible_set(&robot, &found);
    let text = overlay(&robot, "five-bar", &set.values);
    let files = |name: &str| gough::robots::text(name).map(str::to_owned).ok_or_else(|| "none".to_owned());
    let options = ReadOptions { files: &files, ..ReadOptions::default() };
    let again = Robot::from_toml("overlay", &text, &options, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(!text.contains("grouped = true"), "{text}");
    let check = record(&again, 0.2, 50.0);
    let wanted = record(&robot, 0.2, 50.0);
    for (a, b) in check.efforts.iter().flatten().zip(wanted.efforts.iter().flatten()) {
        assert!((a - b).abs() < 0.05 * 5.0, "{a} {b}");
    }
}

/// Errors of the estimates, in reported standard deviations, have the size one over repetitions with other noise: all of them
/// together within a tenth, and with GOUGH_FULL set, over 200 repetitions, each parameter alone within a fifth.
#[test]
fn reported_deviations_are_those_of_repetitions() {
    let robot = robot("five-bar");
    let clean = record(&robot, 4.0, 200.0);
    let full = std::env::var_os("GOUGH_FULL").is_some();
    let repetitions = if full { 200 } else { 24 };
    let mut squares = [0.0; 17];
    for seed in 0..repetitions {
        let sensors = Sensors { effort_share: 0.01, step: 1e-6, seed, ..Sensors::default() };
        let found =
            identify(&robot, robot.mode(), &[sensors.seen(clean.clone())], &[], &Processing::default()).unwrap();
        let errors = found.estimates.iter().map(|e| (e.value - e.file) / e.deviation);
        squares.iter_mut().zip(errors).for_each(|(s, e)| *s += e * e / repetitions as f64);
    }
    let sizes: Vec<f64> = squares.iter().map(|s| s.sqrt()).collect();
    let all = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    assert!((0.9..1.1).contains(&all), "{all} {sizes:?}");
    assert!(!full || sizes.iter().all(|s| (0.8..1.2).contains(s)), "{sizes:?}");
}

/// A motion of a robot, six seconds long: its coordinates are cosines of these sizes, two frequencies each, around a middle.
fn moved(robot: &Robot, middle: &[f64], waves: &[(f64, f64, f64)]) -> Record {
    let (model, active) = (robot.model(), robot.model().topology().active.clone());
    let (mut times, mut q, mut tau) = (Vec::new(), vec![Vec::new(); active.len()], vec![Vec::new(); active.len()]);
    for i in 0..2400 {
        let t = f64::from(i) / 400.0;
        let wave = |k: usize, d: usize| {
            let (size, slow, fast) = waves[k];
            let part = |f: f64, share: f64| {
                let w = std::f64::consts::TAU * f;
                size * share * [(w * t).cos(), -w * (w * t).sin(), -w * w * (w * t).cos()][d]
            };
            part(slow, 0.6) + part(fast, 0.4)
        };
        let all = |d: usize| (0..waves.len()).map(|k| wave(k, d)).collect::<Vec<f64>>();
        let at: Vec<f64> = all(0).iter().zip(middle).map(|(x, m)| x + m).collect();
        let posture = inverse(model, &robot.pose_at(&at).unwrap(), robot.mode()).unwrap();
        let conditions = Conditions { friction: Some(Sign::Sharp), ..Conditions::default() };
        let found = inverse_dynamics_under(model, &posture, &all(1), &all(2), &conditions).unwrap();
        times.push(t);
        let joints = posture.joints(model, &active);
        (0..active.len()).for_each(|k| {
            q[k].push(joints[k]);
            tau[k].push(found.efforts_with_friction[k]);
        });
    }
    Record { name: "test".to_owned(), times, measured: Measured::Joints(q), efforts: tau }
}

/// A motion of DualV, with four encoders for three freedoms, far from home from the first sample on.
fn record_of_dualv(robot: &Robot) -> Record {
    moved(robot, &[0.0; 3], &[(0.07, 1.1, 1.9), (0.06, 0.7, 2.3), (0.25, 0.9, 1.7)])
}

#[test]
fn a_record_of_a_redundant_robot_may_begin_anywhere() {
    let robot = robot("dualv");
    let how = Processing { cutoff: Some(20.0), sign: Sign::Sharp };
    let found = identify(&robot, robot.mode(), &[record_of_dualv(&robot)], &[], &how).unwrap();
    for f in &found.fit {
        assert!(f.residual < 0.01 * f.effort, "{f:?}");
    }
}

/// Masses may come out negative, so that a model without friction explains efforts of drives that changed places or signs as well: they
/// are told from the file.
#[test]
fn drives_that_changed_places_are_told_where_the_model_fits_all_the_same() {
    let robot = robot("dualv");
    let (good, how) = (record_of_dualv(&robot), Processing { cutoff: Some(20.0), sign: Sign::Sharp });
    let mut turned = good.clone();
    turned.efforts.iter_mut().flatten().for_each(|x| *x = -*x);
    let mut one = good.clone();
    one.efforts[1].iter_mut().for_each(|x| *x = -*x);
    let mut swapped = good;
    swapped.efforts.swap(0, 2);
    for (record, words) in [(turned, "signs of all efforts"), (one, "tau_21"), (swapped, "change places")] {
        let why = identify(&robot, robot.mode(), &[record], &[], &how).map(|_| words).unwrap_err();
        assert!(["unlike-file", "swapped"].contains(&why.kind()) && why.to_string().contains(words), "{why}");
    }
}

/// Wrong signs and places of joints, of one drive and of all, and of records that only check the estimates.
#[test]
fn drives_whose_positions_or_checks_are_wrong_are_told() {
    let robot = robot("delta");
    let home = robot.coordinates_of(robot.home().pose());
    let clean = moved(&robot, &home, &[(0.08, 1.1, 1.9), (0.07, 0.7, 2.3), (0.06, 0.9, 1.7)]);
    let good = Sensors { effort_share: 0.01, step: 1e-6, seed: 1, ..Sensors::default() }.seen(clean);
    let how = Processing::default();
    let told = |used: &Record, held: &[Record]| {
        identify(&robot, robot.mode(), std::slice::from_ref(used), held, &how).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(told(&good, std::slice::from_ref(&good)), Ok(()));
    let changed = |f: &dyn Fn(&mut [Vec<f64>])| {
        let mut record = good.clone();
        if let Measured::Joints(list) = &mut record.measured {
            f(list);
        }
        record
    };
    let turn = |list: &mut [Vec<f64>]| list.iter_mut().flatten().for_each(|q| *q = -*q);
    for (record, words) in [
        (changed(&|q| turn(&mut q[..1])), "the sign of q11 is changed"),
        (changed(&|q| turn(&mut q[2..])), "the sign of q31 is changed"),
        (changed(&|q| turn(q)), "the signs of all positions are changed"),
    ] {
        let why = told(&record, &[]).unwrap_err();
        assert!(why.contains(words) || why.contains("order and signs of the joints"), "{words}: {why}");
    }
    // All motors of this robot are alike: it may as well be their efforts.
    let why = told(&changed(&|q| q.swap(0, 1)), &[]).unwrap_err();
    assert!(["q11 and q21", "tau_11 and tau_21"].iter().any(|w| why.contains(&format!("{w} change places"))), "{why}");
    let mut swapped = good.clone();
    swapped.efforts.swap(1, 2);
    let why = told(&good, &[swapped]).unwrap_err();
    assert!(["q21 and q31", "tau_21 and tau_31"].iter().any(|w| why.contains(&format!("{w} change places"))), "{why}");
}

/// What is identified of a closure without a name is in the overlay, under what it joins.
#[test]
fn friction_of_closures_without_a_name_is_in_the_overlay() {
    let robot = robot("five-bar");
    let set = StandardSet::new(robot.model());
    let mut values = set.values();
    values[set.named("fv(12-22)").unwrap()] = 0.25;
    values[set.named("fs(12-22)").unwrap()] = 0.125;
    let text = overlay(&robot, "five-bar", &values);
    let files = |name: &str| gough::robots::text(name).map(str::to_owned).ok_or_else(|| "none".to_owned());
    let options = ReadOptions { files: &files, ..ReadOptions::default() };
    let again = Robot::from_toml("overlay", &text, &options, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let changed = StandardSet::new(again.model());
    let value = |name: &str| changed.parameters[changed.named(name).unwrap()].value;
    assert_eq!([value("fv12-22"), value("fs12-22"), value("fv11")], [0.25, 0.125, 6.76]);
    let wrong = "extends = \"five-bar\"\n[joint.\"(12-23)\"]\nfriction = { viscous = 1 }\n";
    assert!(Robot::from_toml("overlay", wrong, &options, None).unwrap_err().to_string().contains("(12-23)"));
}

#[test]
fn faults_of_records_are_named() {
    let robot = robot("five-bar");
    let good = record(&robot, 4.0, 200.0);
    let how = Processing::default();
    let kind = |r: Record| identify(&robot, robot.mode(), &[r], &[], &how).map_or_else(|e| e.kind(), |_| "fine");
    let changed = |f: &dyn Fn(&mut Record)| {
        let mut r = good.clone();
        f(&mut r);
        kind(r)
    };
    let joints = |r: &mut Record, f: &dyn Fn(f64) -> f64| {
        if let Measured::Joints(list) = &mut r.measured {
            list.iter_mut().flatten().for_each(|q| *q = f(*q));
        }
    };
    assert_eq!(changed(&|_| {}), "fine");
    assert_eq!(changed(&|r| r.efforts[1][7] = f64::NAN), "not-finite");
    assert_eq!(changed(&|r| joints(r, &|q| q.to_degrees())), "degrees");
    assert_eq!(changed(&|r| joints(r, &|_| 1.5)), "no-motion");
    assert_eq!(changed(&|r| r.times.iter_mut().skip(300).for_each(|t| *t += 0.1)), "time-jump");
    assert_eq!(changed(&|r| r.efforts.swap(0, 1)), "swapped");
    assert_eq!(changed(&|r| r.efforts[0].fill(0.0)), "no-effort");
    assert_eq!(changed(&|r| r.efforts.truncate(1)), "uneven");
    assert_eq!(kind(good.split(0.1).0), "too-short");
    assert_eq!(changed(&|r| r.times.iter_mut().for_each(|t| *t *= 1000.0)), "slow");
    assert_eq!(changed(&|r| r.efforts.iter_mut().flatten().for_each(|x| *x *= 1000.0)), "scale");
    let turned = changed(&|r| r.efforts[0].iter_mut().for_each(|x| *x = -*x));
    assert!(["swapped", "unlike-file", "wrong-sign"].contains(&turned), "{turned}");
    let fast =
        identify(&robot, robot.mode(), std::slice::from_ref(&good), &[], &Processing { cutoff: Some(60.0), ..how });
    assert_eq!(fast.unwrap_err().kind(), "cutoff");
    let unknown = identify(&robot, robot.mode(), &[good.split(0.1).0], &[], &how);
    assert!(matches!(unknown, Err(RecordError::TooShort { .. })));
}

#[test]
fn an_exciting_motion_keeps_its_limits_and_beats_random_ones() {
    let robot = robot("five-bar");
    let mut limits = Limits::of(&robot);
    limits.region = vec![[-0.06, 0.06], [0.22, 0.32]];
    limits.speed = vec![Some(6.0); 2];
    let how = Search { trials: 200, harmonics: Some(4), ..Search::default() };
    let found = excite(&robot, robot.mode(), &limits, &how).unwrap();
    assert!(found.condition < 0.5 * found.random_median, "{} {}", found.condition, found.random_median);
    for i in 0..100 {
        let at = found.at(found.period * f64::from(i) / 100.0);
        assert!((-0.0601..0.0601).contains(&at[0][0]) && (0.2199..0.3201).contains(&at[1][0]));
    }
    limits.distance = 2.0;
    let none = excite(&robot, robot.mode(), &limits, &how).unwrap_err().to_string();
    assert!(none.contains("distance from singularities"), "{none}");
}

/// Condition number, columns of length one, of the regressors of a motion of the five-bar at so many instants.
fn condition(robot: &Robot, found: &Excitation, instants: u32) -> f64 {
    let (model, all) = (robot.model(), StandardSet::new(robot.model()));
    let base = robot.parameters(true, 1).unwrap();
    let kept = base.base.iter().map(|b| all.parameters[b.coefficients[0].index].clone()).collect();
    let set = StandardSet { parameters: kept, frames: all.frames };
    let mut rows = Vec::new();
    for i in 0..instants {
        let [x, y, ..] = found.at(found.period * (f64::from(i) + 0.5) / f64::from(instants));
        let posture = inverse(model, &Pose::translation(vec3(x[0], y[0], 0.0)), robot.mode()).unwrap();
        let motion = (&[x[1], y[1]][..], &[x[2], y[2]][..]);
        let at = regressor(model, &set, &posture, motion, Sign::Sharp, &Conditions::default()).unwrap();
        rows.extend(at.of_efforts().unwrap().data);
    }
    let n = set.parameters.len();
    let length = |j: usize| rows.iter().skip(j).step_by(n).map(|x| x * x).sum::<f64>().sqrt();
    let lengths: Vec<f64> = (0..n).map(length).collect();
    let s = svd(&Matrix::from_fn(rows.len() / n, n, |i, j| rows[i * n + j] / lengths[j])).s;
    s[0] / s[n - 1]
}

/// The region around home reaches beyond the legs: their ends do not stop the search. The condition number that is told is that
/// of the regressors at many more instants than were looked at.
#[test]
fn the_ends_of_legs_do_not_stop_the_search() {
    let robot = robot("five-bar");
    let how = Search { trials: 300, ..Search::default() };
    let found = excite(&robot, robot.mode(), &Limits::of(&robot), &how).unwrap();
    assert!(found.condition < found.random_median / 4.0, "{} {}", found.condition, found.random_median);
    let seen = condition(&robot, &found, 2000);
    assert!((found.condition / seen - 1.0).abs() < 0.05, "{} {seen}", found.condition);
}

/// With GOUGH_FULL set: as they are sought unless told otherwise, motions are five times better than random ones inside the same
/// limits; the same seed gives the same motion.
#[test]
fn exciting_motions_are_five_times_better_than_random_ones() {
    if std::env::var_os("GOUGH_FULL").is_none() {
        return;
    }
    for (name, seed) in [("five-bar", 1), ("five-bar", 2), ("orthoglide", 1), ("dualv", 1), ("gough-stewart", 1)] {
        let robot = robot(name);
        let how = Search { seed, ..Search::default() };
        let found = excite(&robot, robot.mode(), &Limits::of(&robot), &how).unwrap();
        assert!(5.0 * found.condition < found.random_median, "{name}: {} {}", found.condition, found.random_median);
        if name == "five-bar" {
            let again = excite(&robot, robot.mode(), &Limits::of(&robot), &how).unwrap();
            assert_eq!(found.series, again.series);
        }
    }
}
