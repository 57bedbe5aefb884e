//! Many states at once are these states one by one, refusals in their places.

use crate::common::{all_robots, random, random_pose, robot};
use gough::Robot;
use gough::batch::{State, each, efforts};
use gough::dynamics::{Dynamics, Sign};
use gough::spatial::{Pose, vec3};
use rand::RngExt as _;
use std::cell::Cell;

type Own = (Pose<f64>, Vec<f64>, Vec<f64>);

fn some_states(robot: &Robot, count: usize, seed: u64) -> Vec<Own> {
    let mut random = random(seed);
    let n = robot.model().topology().platform.independent.len();
    let mut one = |i: usize| {
        let mut pose = random_pose(robot, &mut random, 0.1, 0.1);
        if i % 7 == 3 {
            pose.p += vec3(40.0, 0.0, 0.0);
        }
        let mut any = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        (pose, any(), any())
    };
    (0..count).map(&mut one).collect()
}

fn lent(own: &[Own]) -> Vec<State<'_>> {
    own.iter().map(|(pose, t_r, td_r)| State { pose, t_r, td_r }).collect()
}

#[test]
fn many_states_are_each_of_them_alone() {
    for (robot, count) in all_robots().into_iter().zip([0, 1, 3, 4, 5, 30].into_iter().cycle()) {
        let own = some_states(&robot, count, 11);
        let friction = (count % 2 == 1).then_some(Sign::Sharp);
        let found = efforts(&robot, robot.mode(), friction, &lent(&own), |_| true);
        let drives = robot.model().topology().active.len();
        assert_eq!((found.done, found.efforts.len()), (count, count * drives), "{}", robot.name());
        let mut refused = found.refused.iter().peekable();
        for (i, (pose, t, td)) in own.iter().enumerate() {
            let mut memory = Dynamics::new(robot.model());
            let alone = memory.inverse(robot.model(), pose, robot.mode(), t, td, friction);
            let many = &found.efforts[i * drives..][..drives];
            match (alone, refused.next_if(|r| r.state == i)) {
                (Ok(alone), None) => {
                    let scale = alone.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
                    assert!(alone.iter().zip(many).all(|(a, b)| (a - b).abs() <= 1e-8 * scale), "{}", robot.name());
                }
                (Err(alone), Some(many)) => assert_eq!(alone.kind(), many.why.kind()),
                (alone, many) => panic!("{}, state {i}: {alone:?}, {many:?}", robot.name()),
            }
        }
        assert!(refused.next().is_none());
    }
}

/// Larger than any block or task, and no multiple of one: every state has its own place.
#[test]
fn states_keep_their_places_in_long_lists() {
    let robot = robot("five-bar");
    let count = 70_001;
    let few = some_states(&robot, 100, 12);
    let states: Vec<State<'_>> = lent(&few).into_iter().cycle().take(count).collect();
    let told = Cell::new(0);
    let found = efforts(&robot, robot.mode(), None, &states, |done| {
        assert!(done > told.replace(done));
        true
    });
    assert_eq!((found.done, told.get()), (count, count));
    let (first, rest) = found.efforts.split_at(200);
    assert!(rest.chunks(200).all(|again| again == &first[..again.len()]));
    let places: Vec<usize> = found.refused.iter().map(|r| r.state).collect();
    let expected: Vec<usize> = (0..count).filter(|i| i % 100 % 7 == 3).collect();
    assert_eq!(places, expected);
}

#[test]
fn who_says_no_gets_what_is_done() {
    let robot = robot("five-bar");
    let own = some_states(&robot, 1, 13);
    let states: Vec<State<'_>> = lent(&own).into_iter().cycle().take(100_000).collect();
    let found = efforts(&robot, robot.mode(), None, &states, |_| false);
    assert!(found.done > 0 && found.done < states.len());
    assert_eq!(found.efforts.len(), 2 * found.done);
    let items: Vec<usize> = (0..100_000).collect();
    let answers = each(&items, |i, x| i == *x, |done| done < 5000);
    assert!(answers.len() >= 5000 && answers.len() < items.len() && answers.iter().all(|same| *same));
}
