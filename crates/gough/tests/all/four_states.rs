//! Four states at once, one per lane, are the four states one by one: same efforts, same refusals.
use crate::common::{all_robots, numbers, random, random_pose, reference_states, robot, state_pose};
use gough::Robot;
use gough::batch::{FourStates, State};
use gough::dynamics::Dynamics;
use gough::dynamics::newton_euler::Sign;
use gough::kinematics::SolveError;
use gough::scalar::LANES;
use gough::spatial::{Pose, vec3};
use rand::RngExt;

/// A state that owns its numbers.
type Own = (Pose<f64>, Vec<f64>, Vec<f64>);

fn alone(robot: &Robot, s: &Own, friction: Option<Sign>) -> Result<Vec<f64>, SolveError> {
    let mut memory = Dynamics::new(robot.model());
    memory.inverse(robot.model(), &s.0, robot.mode(), &s.1, &s.2, friction).map(<[f64]>::to_vec)
}

fn together(
    robot: &Robot,
    memory: &mut FourStates,
    four: &[Own],
    friction: Option<Sign>,
) -> Vec<Result<Vec<f64>, SolveError>> {
    let states: [State; LANES] = std::array::from_fn(|k| State { pose: &four[k].0, t_r: &four[k].1, td_r: &four[k].2 });
    let n = robot.model().topology().active.len();
    let mut out = vec![f64::NAN; LANES * n];
    let found = memory.inverse(robot.model(), &states, robot.mode(), friction, &mut out);
    found.into_iter().enumerate().map(|(k, r)| r.map(|()| out[k * n..(k + 1) * n].to_vec())).collect()
}

fn agree(robot: &Robot, memory: &mut FourStates, four: &[Own], friction: Option<Sign>) -> usize {
    let found = together(robot, memory, four, friction);
    for (state, found) in four.iter().zip(&found) {
        match (alone(robot, state, friction), found) {
            (Ok(wanted), Ok(found)) => {
                let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
                let worst = wanted.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst <= 1e-8 * scale, "{}: {found:?} {wanted:?}", robot.name());
            }
            (Err(wanted), Err(found)) => assert_eq!(wanted.kind(), found.kind(), "{}", robot.name()),
            (wanted, found) => panic!("{}: {wanted:?} {found:?}", robot.name()),
        }
    }
    found.iter().filter(|r| r.is_ok()).count()
}

/// Near poses answer, far ones are refused; both kinds share lanes.
#[test]
fn four_states_are_four_times_one_state() {
    let mut random = random(71);
    for robot in all_robots() {
        let mut memory = FourStates::new(robot.model());
        let n = robot.model().topology().platform.independent.len();
        let mut answered = 0;
        for i in 0..10 {
            let four: Vec<Own> = (0..LANES)
                .map(|k| {
                    let reach = if (i + k) % 5 == 4 { 1.5 } else { 0.1 };
                    let pose = random_pose(&robot, &mut random, reach, 0.1);
                    let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
                    (pose, any(), any())
                })
                .collect();
            let friction = [None, Some(Sign::Sharp), Some(Sign::Smooth(0.01))][i % 3];
            answered += agree(&robot, &mut memory, &four, friction);
        }
        assert!(answered >= 5, "{}: {answered}", robot.name());
    }
}

#[test]
fn reference_states_are_met_in_lanes() {
    for name in ["gough-stewart", "3-rpr", "orthoglide", "dualv"] {
        let robot = robot(name);
        let mut memory = FourStates::new(robot.model());
        let states = reference_states(name);
        for four in states.chunks_exact(LANES) {
            let own: Vec<Own> =
                four.iter().map(|s| (state_pose(s), numbers(&s["twist"]), numbers(&s["acceleration"]))).collect();
            for (state, found) in four.iter().zip(together(&robot, &mut memory, &own, None)) {
                let (wanted, found) = (numbers(&state["efforts"]), found.unwrap());
                let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
                assert!(wanted.iter().zip(&found).all(|(a, b)| (a - b).abs() <= 1e-9 * scale), "{name}");
            }
        }
    }
}

#[test]
fn one_state_without_an_answer_spoils_no_other() {
    let robot = robot("gough-stewart");
    let mut memory = FourStates::new(robot.model());
    let home = *robot.home().pose();
    let far = Pose { p: home.p + vec3(40.0, 0.0, 0.0), ..home };
    let torn = Pose { R: gough::spatial::Rotation(home.R.0 * 1.1), ..home };
    let (t, short) = (vec![0.1; 6], vec![0.1; 5]);
    let four = [(home, t.clone(), t.clone()), (far, t.clone(), t.clone()), (torn, t.clone(), t.clone())];
    let [a, b, c] = four;
    let found = together(&robot, &mut memory, &[a.clone(), b.clone(), c.clone(), a.clone()], None);
    let kind = |k: usize| found[k].as_ref().map_err(SolveError::kind).err();
    assert_eq!([kind(0), kind(3)], [None, None]);
    assert_eq!([kind(1), kind(2)], [Some("out-of-range"), Some("not-a-pose")]);
    let found = together(&robot, &mut memory, &[a.clone(), (home, short, t), a.clone(), a], None);
    assert_eq!(found[1].as_ref().unwrap_err().kind(), "wrong-count");
    assert!([0, 2, 3].iter().all(|k| found[*k].is_ok()));
}

/// Masses that were scaled are scaled in the lanes, and stay so when parameters get values.
#[test]
fn scaled_inertias_are_scaled_in_every_scalar() {
    for name in ["five-bar", "gough-stewart", "delta"] {
        let robot = robot(name);
        let mut random = random(73);
        let model = robot.model().with_scaled_inertias(|| random.random_range(0.5..2.0));
        let again = model.with_values(&model.numbers().parameters);
        let n = model.topology().platform.independent.len();
        let (pose, t, td) = (*robot.home().pose(), vec![0.3; n], vec![1.0; n]);
        let alone = Dynamics::new(&model).inverse(&model, &pose, robot.mode(), &t, &td, None).unwrap().to_vec();
        let later = Dynamics::new(&again).inverse(&again, &pose, robot.mode(), &t, &td, None).unwrap().to_vec();
        let mut out = vec![f64::NAN; LANES * alone.len()];
        let state = State { pose: &pose, t_r: &t, td_r: &td };
        let found = FourStates::new(&model).inverse(&model, &[state; LANES], robot.mode(), None, &mut out);
        assert!(found.iter().all(Result::is_ok), "{name}");
        let scale = alone.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
        for ((a, b), c) in alone.iter().zip(&out).zip(&later) {
            assert!((a - b).abs().max((a - c).abs()) <= 1e-9 * scale, "{name}: {alone:?} {out:?} {later:?}");
        }
    }
}
