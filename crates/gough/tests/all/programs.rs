//! A program, as machine code or over blocks of states, is the general road: same numbers, same refusals, whatever stands beside a
//! state.

use crate::common::{all_robots, random, random_pose, robot};
use gough::batch::{Driven, State, accelerations, efforts};
use gough::codegen::{CodegenError, ModelKind};
use gough::dynamics::{Dynamics, Sign};
use gough::program::BlockProgram;
use gough::spatial::orientation::wrap;
use gough::spatial::{Pose, Rotation, vec3};
use gough::{Inertia, Robot};
use rand::RngExt as _;

const KINDS: [ModelKind; 5] =
    [ModelKind::Igm, ModelKind::Kinematics, ModelKind::Jacobian, ModelKind::Idm, ModelKind::Ddm];

/// States near home, one in seven far away: rows as the program takes them.
fn rows(robot: &Robot, program: &BlockProgram, count: usize, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    let mut list = Vec::new();
    for i in 0..count {
        let reach = if i % 7 == 3 { 1.5 } else { 0.15 };
        let pose = random_pose(robot, &mut random, reach, 0.15);
        if program.inputs()[0].entries.len() == 12 {
            list.extend(pose.p.iter().chain(pose.R.0.transpose().iter()));
        } else {
            list.extend(robot.coordinates_of(&pose));
        }
        list.extend((program.inputs()[0].entries.len()..program.width()).map(|_| random.random_range(-1.0..1.0)));
    }
    list
}

/// Angles compared but for whole turns.
fn off(robot: &Robot, kind: ModelKind, found: &[f64], wanted: &[f64]) -> f64 {
    let t = robot.model().topology();
    let slides: Vec<bool> = t.active.iter().chain(&t.passive).map(|c| t.coords[*c].slides).collect();
    let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    let gap = |(k, (a, b)): (usize, (&f64, &f64))| {
        if kind == ModelKind::Igm && !slides[k] { wrap(a - b).abs() } else { (a - b).abs() }
    };
    found.iter().zip(wanted).enumerate().map(gap).fold(0.0, |m: f64, x| if x <= m { m } else { x }) / scale
}

/// Answers operation by operation, and the states that are left to the general road.
fn in_blocks(program: &BlockProgram, x: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let (width, out) = (program.width(), program.answer_width());
    let count = x.len() / width;
    let (mut answers, mut left) = (vec![0.0; count * out], Vec::new());
    let row = |i: usize, row: &mut [f64]| row.copy_from_slice(&x[i * width..(i + 1) * width]);
    program.run_in_blocks(count, row, &mut answers, |i| left.push(i));
    (answers, left)
}

/// Machine code and blocks leave the same states to the general road, whatever their number is, and a state has the same answer
/// alone and beside others.
#[test]
fn machine_code_does_what_blocks_do() {
    for name in gough::robots::names() {
        let robot = robot(name);
        for kind in KINDS {
            let Ok(program) = robot.program(kind) else { continue };
            if cfg!(all(feature = "compiled", target_arch = "x86_64", target_feature = "avx2")) {
                assert!(program.is_compiled(), "{name} {}", kind.name());
            }
            let (width, out) = (program.width(), program.answer_width());
            let x = rows(&robot, &program, 131, 93);
            let all = program.answers(&x, |_| true).unwrap();
            let (_, left) = in_blocks(&program, &x);
            assert_eq!(program.left_over(&x), left.len(), "{name} {}", kind.name());
            for count in [1, 2, 3, 4, 5, 130] {
                let some = program.answers(&x[..count * width], |_| true).unwrap();
                assert_eq!(some.values[..], all.values[..count * out], "{name} {}, {count} states", kind.name());
            }
            let (mut single, mut refused) = (program.one_by_one(), all.refused.iter().peekable());
            for (i, (row, wanted)) in x.chunks(width).zip(all.values.chunks(out)).enumerate() {
                match (single.answer(row), refused.next_if(|r| r.state == i)) {
                    (Ok(found), None) => assert_eq!(found, wanted, "{name} {}, state {i} alone", kind.name()),
                    (Err(why), Some(r)) => assert_eq!(why, r.why, "{name} {}, state {i} alone", kind.name()),
                    (found, r) => panic!("{name} {}, state {i} alone: {found:?}, {r:?}", kind.name()),
                }
            }
            assert!(single.answer(&x[1..width]).is_err());
        }
    }
}

#[test]
fn programs_answer_as_the_general_road() {
    for robot in all_robots() {
        for kind in KINDS {
            let program = match robot.program(kind) {
                Ok(program) => program,
                Err(e) => {
                    assert!(
                        matches!(
                            e,
                            CodegenError::Singular
                                | CodegenError::NoClosedForm { .. }
                                | CodegenError::OpenJoints { .. }
                                | CodegenError::SlidingClosure { .. }
                        ),
                        "{}: {e}",
                        robot.name()
                    );
                    continue;
                }
            };
            let (count, width, out) = (75, program.width(), program.answer_width());
            let x = rows(&robot, &program, count, 91);
            let found = program.answers(&x, |_| true).unwrap();
            let (blocks, left) = in_blocks(&program, &x);
            let mut refused = found.refused.iter().peekable();
            for i in 0..count {
                let long = program.general(&x[i * width..(i + 1) * width]);
                let fast = &found.values[i * out..(i + 1) * out];
                match (long, refused.next_if(|r| r.state == i)) {
                    (Ok(long), None) => {
                        let own = off(&robot, kind, fast, &long);
                        assert!(own <= 1e-11, "{} {}, state {i}: {own:e}", robot.name(), kind.name());
                        if !left.contains(&i) {
                            let own = off(&robot, kind, &blocks[i * out..(i + 1) * out], &long);
                            assert!(own <= 1e-11, "{} {}, block, state {i}: {own:e}", robot.name(), kind.name());
                        }
                    }
                    (Err(long), Some(fast)) => assert_eq!(long.kind(), fast.why.kind(), "{}", robot.name()),
                    (long, fast) => panic!("{} {}, state {i}: {long:?} {fast:?}", robot.name(), kind.name()),
                }
            }
        }
    }
}

/// Shipped robots that have code have programs, and near home few states are left to the general road.
#[test]
fn near_home_programs_answer_alone() {
    for name in gough::robots::names() {
        let robot = robot(name);
        for kind in [ModelKind::Idm, ModelKind::Ddm, ModelKind::Jacobian] {
            let program = robot.program(kind).unwrap_or_else(|e| panic!("{name}: {e}"));
            let home = program.inputs()[0].entries.len() == 12;
            let mut row: Vec<f64> = robot.coordinates_of(robot.home().pose());
            if home {
                let pose = robot.home().pose();
                row = pose.p.iter().chain(pose.R.0.transpose().iter()).copied().collect();
            }
            row.resize(program.width(), 0.1);
            assert_eq!(program.left_over(&row.repeat(40)), 0, "{name} {}", kind.name());
        }
    }
}

/// Programs are made once for a robot, and again for one that carries something.
#[test]
fn programs_are_kept_and_payloads_change_them() {
    let robot = robot("delta");
    let first = robot.program(ModelKind::Idm).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &robot.clone().program(ModelKind::Idm).unwrap()));
    let at = |robot: &Robot| {
        let mut row = robot.coordinates_of(robot.home().pose());
        row.resize(9, 0.3);
        robot.program(ModelKind::Idm).unwrap().answers(&row, |_| true).unwrap().values
    };
    let loaded = robot.clone().carrying(Inertia::point(2.0, vec3(0.0, 0.0, -0.05)));
    let (bare, heavy) = (at(&robot), at(&loaded));
    assert!(bare.iter().zip(&heavy).all(|(a, b)| (a - b).abs() > 0.1), "{bare:?} {heavy:?}");
    let pose = loaded.home().pose();
    let long = Dynamics::new(loaded.model())
        .inverse(loaded.model(), pose, loaded.mode(), &[0.3; 3], &[0.3; 3], None)
        .unwrap()
        .to_vec();
    assert!(long.iter().zip(&heavy).all(|(a, b)| (a - b).abs() <= 1e-11 * b.abs().max(1.0)), "{long:?} {heavy:?}");
}

#[test]
fn what_is_not_compiled_says_so() {
    let robot = robot("five-bar");
    for kind in [ModelKind::MassStiffness, ModelKind::CartesianFrequencies, ModelKind::Regressor] {
        let why = robot.program(kind).unwrap_err();
        assert_eq!((why.kind(), why.is_misuse()), ("not-compiled", true));
        assert!(why.to_string().contains(kind.name()));
    }
    let program = robot.program(ModelKind::Idm).unwrap();
    assert!(program.answers(&[0.0; 7], |_| true).is_err());
    assert!(program.general(&[0.0; 5]).is_err());
}

/// Efforts with and without friction, and accelerations back from them, of states given by pose; refusals among them.
#[test]
fn batches_by_programs_are_states_alone() {
    let (mut random, mut by_program) = (random(92), 0);
    for robot in all_robots() {
        let (mode, n) = (robot.mode(), robot.components().len());
        let drives = robot.active_joints().len();
        let friction = [None, Some(Sign::Sharp)][n % 2];
        // What is made is taken, however few the states are.
        for kind in [ModelKind::Idm, ModelKind::Ddm] {
            by_program += usize::from(robot.program_by_matrix(kind, mode, friction.is_some()).is_ok());
        }
        let own: Vec<(Pose<f64>, Vec<f64>, Vec<f64>)> = (0..40)
            .map(|i| {
                let mut pose = random_pose(&robot, &mut random, 0.1, 0.1);
                match i % 9 {
                    3 => pose.p += vec3(40.0, 0.0, 0.0),
                    5 => pose.R = Rotation(pose.R.0 * 1.1),
                    7 => pose.p.x = f64::NAN,
                    _ => {}
                }
                let mut any = || {
                    (0..if i == 20 { n + 1 } else { n }).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>()
                };
                (pose, any(), any())
            })
            .collect();
        let states: Vec<State<'_>> = own.iter().map(|(pose, t_r, td_r)| State { pose, t_r, td_r }).collect();
        let found = efforts(&robot, mode, friction, &states, |_| true);
        let list: Vec<&[f64]> = found.efforts.chunks(drives.max(1)).collect();
        let driven: Vec<Driven<'_>> =
            own.iter().zip(&list).map(|((pose, t_r, _), efforts)| Driven { pose, t_r, efforts }).collect();
        let moved = accelerations(&robot, mode, friction, &driven, |_| true);
        let mut memory = Dynamics::new(robot.model());
        for (i, (pose, t, td)) in own.iter().enumerate() {
            let alone = memory.inverse(robot.model(), pose, mode, t, td, friction).map(<[f64]>::to_vec);
            let refused = found.refused.iter().find(|r| r.state == i).map(|r| r.why.kind());
            assert_eq!(alone.as_ref().err().map(gough::kinematics::SolveError::kind), refused, "{} {i}", robot.name());
            let many = list[i];
            if let Ok(alone) = &alone {
                let scale = alone.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
                let worst = alone.iter().zip(many).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst <= 1e-11 * scale, "{} {i}: {alone:?} {many:?}", robot.name());
            }
            let alone = memory.direct(robot.model(), pose, mode, t, many, friction).map(<[f64]>::to_vec);
            let refused = moved.refused.iter().find(|r| r.state == i).map(|r| r.why.kind());
            assert_eq!(alone.as_ref().err().map(gough::kinematics::SolveError::kind), refused, "{} {i}", robot.name());
            if let Ok(alone) = &alone {
                let many = &moved.accelerations[i * n..(i + 1) * n];
                let scale = alone.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
                let worst = alone.iter().zip(many).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst <= 1e-11 * scale, "{} {i}: {alone:?} {many:?}", robot.name());
            }
        }
    }
    assert!(by_program >= 36, "{by_program} programs");
}
