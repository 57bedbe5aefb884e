//! Hot paths allocate nothing: the allocator counts.

use crate::counting::allocations;
use gough::dynamics::Dynamics;
use gough::elastodynamics::{Actuators, Vibration};
use gough::kinematics::geometry::solve_legs;
use gough::kinematics::matrices::{Matrices, assemble};
use gough::kinematics::motion::{Motion, move_in};
use gough::kinematics::{Positions, inverse_in};
use gough::simulation::{Controller, Feedback, Gains, Instant, Law, Method, SimulationOptions, simulate};
use gough::trajectory::Trajectory;

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1_u8; 100]))), 1);
}

#[test]
fn inverse_geometry_allocates_nothing() {
    for name in gough::robots::names() {
        let robot = gough::Robot::shipped(name).unwrap();
        let model = robot.model();
        let mut pos = Positions::new(model);
        let pose = *robot.home().pose();
        let count = allocations(|| {
            for _ in 0..10 {
                assert!(inverse_in(model, &pose, robot.mode(), &mut pos).is_ok());
                solve_legs(model, robot.mode().signs(), &mut pos);
            }
        });
        assert_eq!(count, 0, "{name}");
    }
}

#[test]
fn motion_and_matrices_allocate_nothing() {
    for name in gough::robots::names() {
        let robot = gough::Robot::shipped(name).unwrap();
        let model = robot.model();
        let (mut pos, mut motion) = (Positions::new(model), Motion::new(model));
        let plan = &model.topology().plan.matrices;
        let mut m = Matrices::new(model, plan);
        let pose = *robot.home().pose();
        let rest = vec![0.1; model.topology().platform.independent.len()];
        let posed = robot.home().positions();
        let count = allocations(|| {
            for _ in 0..10 {
                let moved = move_in(model, &pose, robot.mode(), &rest, &rest, &mut pos, &mut motion);
                assert!(moved.is_ok(), "{name}");
                assemble(model, plan, posed, None, &mut m);
            }
        });
        // Rows of legs with several drives are made orthonormal, in memory of their own.
        let several = plan.blocks.iter().any(|b| b.active > 1);
        assert!(count == 0 || several, "{name}: {count}");
    }
}

#[test]
fn steps_of_a_simulation_allocate_nothing() {
    for name in ["five-bar", "gough-stewart", "delta"] {
        let robot = gough::Robot::shipped(name).unwrap();
        let (model, home) = (robot.model(), *robot.home().pose());
        let rest = vec![0.0; model.topology().platform.independent.len()];
        for feedback in [Feedback::JointPd { gravity: true }, Feedback::PlatformPd, Feedback::ComputedTorque] {
            let (gains, trajectory) = (Gains::all(100.0, 10.0), Trajectory::hold(home));
            let law = Law::Controller(Box::new(Controller {
                feedback,
                gains,
                trajectory,
                believed: None,
                friction: None,
                planned: None,
            }));
            let mut counts = [10.0, 60.0].map(|steps| {
                let step = Method::Fixed { step: 0.01 / steps };
                let options = SimulationOptions { method: step, every: 0.01, ..SimulationOptions::lasting(0.01) };
                let mut taken = 0;
                let count = allocations(|| {
                    let record = &mut |_: &Instant| true;
                    taken = simulate(model, robot.mode(), (&home, &rest), &law, &options, record).unwrap().steps;
                });
                (taken, count)
            });
            counts.sort_unstable();
            assert_eq!(counts[0].1, counts[1].1, "{name} {feedback:?}: {counts:?}");
            assert!(counts[0].0 < counts[1].0);
        }
    }
}

#[test]
fn frequencies_allocate_nothing_after_the_first() {
    for name in ["navaro", "navaro-refined", "dual-emps", "five-bar-flexible"] {
        let robot = gough::Robot::shipped(name).unwrap();
        let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Elastic).unwrap();
        let pose = *robot.home().pose();
        let mut ask = || {
            v.take(&pose, robot.mode()).unwrap();
            v.lowest(5).unwrap();
            v.take(&pose, robot.mode()).unwrap();
            v.lowest_from_last(5).unwrap();
            v.all().unwrap();
        };
        ask();
        assert_eq!(allocations(|| (0..5).for_each(|_| ask())), 0, "{name}");
    }
}

#[test]
fn dynamics_allocates_nothing() {
    for name in ["gough-stewart", "five-bar", "orthoglide", "delta", "3-rpr"] {
        let robot = gough::Robot::shipped(name).unwrap();
        let (model, mode) = (robot.model(), robot.mode());
        let mut one = Dynamics::new(model);
        let pose = *robot.home().pose();
        let rest = vec![0.1; model.topology().platform.independent.len()];
        let n = model.topology().active.len();
        let mut efforts = vec![0.0; n];
        // The first state finds an order in which to solve for the drives.
        assert!(one.inverse(model, &pose, mode, &rest, &rest, None).is_ok());
        let count = allocations(|| {
            for _ in 0..10 {
                efforts.copy_from_slice(one.inverse(model, &pose, mode, &rest, &rest, None).expect("regular"));
                assert!(one.direct(model, &pose, mode, &rest, &efforts, None).is_ok(), "{name}");
            }
        });
        assert_eq!(count, 0, "{name}");
    }
}
