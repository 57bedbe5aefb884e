//! One source, four numbers: leg geometry, matrices, motion and efforts of every robot on dual numbers, SIMD lanes and symbols equals that on `f64`.
use crate::common::{all_robots, random, random_pose, robot};
use gough::Robot;
use gough::description::Coordinate;
use gough::dynamics::drives::{Drives, Freedoms};
use gough::dynamics::inertia::{LegInertia, legs_are_simple, on_platform};
use gough::dynamics::newton_euler::{TreeEfforts, energies, ground_wrench, tree_efforts};
use gough::dynamics::reduction::{EffortData, reduce};
use gough::dynamics::{Dynamics, Sign};
use gough::elastodynamics::cartesian::{CartesianModel, CartesianPlan, Choices, assemble_cartesian};
use gough::elastodynamics::{Actuators, ElasticModel, ElasticPlan, assemble as assemble_elastic};
use gough::kinematics::geometry::close;
use gough::kinematics::matrices::{Matrices, assemble, smallest_pivot};
use gough::kinematics::motion::{Motion, accelerations, velocities};
use gough::kinematics::platform::{coordinates, pose_with};
use gough::kinematics::{JointPosition, Positions, Posture, WorkingMode, inverse, newton, pose_bodies};
use gough::linalg::small::PivotOrder;
use gough::model::{MatrixPlan, Model, PerCoord};
use gough::scalar::{Dual, Expr, LANES, Lanes, Real, lane, lanes, trace};
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Accel, Mat3, Pose, Rotation, Twist, vec3};
use rand::RngExt;
use std::sync::Arc;

/// Postures in all modes, also those that nobody named.
fn postures(robot: &Robot, count: usize, seed: u64) -> Vec<Posture> {
    let mut random = random(seed);
    let modes: Vec<WorkingMode> = robot.mode().combinations().collect();
    let mut found = Vec::new();
    for i in 0..4000 {
        let pose = random_pose(robot, &mut random, 0.3, 0.3);
        if let Ok(p) = inverse(robot.model(), &pose, &modes[i % modes.len()]) {
            found.push(p);
        }
        if found.len() == count {
            return found;
        }
    }
    panic!("{}: only {} postures", robot.name(), found.len());
}

/// What the kernel computes, as a flat list of numbers.
fn outputs<S: Real>(joints: &PerCoord<JointPosition<S>>, model: &Model<S>) -> Vec<S> {
    joints
        .iter()
        .flat_map(|(c, j)| if model.topology().coords[c].slides { vec![j.value] } else { vec![j.turn.cos, j.turn.sin] })
        .collect()
}

fn expected(robot: &Robot, posture: &Posture) -> Vec<f64> {
    outputs(&posture.positions().joints, robot.model())
}

fn pose_numbers(X: &Pose<f64>) -> [f64; 12] {
    std::array::from_fn(|i| if i < 3 { X.p[i] } else { X.R.0[((i - 3) / 3, (i - 3) % 3)] })
}

fn pose_of<S: Real>(x: &[S]) -> Pose<S> {
    Pose { R: Rotation(Mat3::from_fn(|i, j| x[3 + 3 * i + j])), p: vec3(x[0], x[1], x[2]) }
}

#[test]
fn symbols_give_the_same_joints() {
    for robot in all_robots() {
        for posture in postures(&robot, 6, 21) {
            let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
            let program = trace(&names, |x| {
                let model: Model<Expr> = robot.model().cast();
                let mut pos = Positions::seeded(&model, posture.positions());
                pos.X_WE = pose_of(x);
                close(&model, posture.mode(), 3, &mut pos);
                outputs(&pos.joints, &model)
            });
            let found = program.eval(&pose_numbers(posture.pose()));
            let wanted = expected(&robot, &posture);
            for (a, b) in found.iter().zip(&wanted) {
                assert!((a - b).abs() < 1e-12 * robot.model().size().max(1.0), "{}: {a} {b}", robot.name());
            }
            assert!(program.operations().mul > 10);
        }
    }
}

#[test]
fn four_postures_in_lanes_give_the_same_joints() {
    for robot in all_robots() {
        let mode = robot.mode();
        let four: Vec<Posture> =
            postures(&robot, 60, 22).into_iter().filter(|p| p.mode() == mode).take(LANES).collect();
        if four.len() < LANES {
            continue; // covered by the robots of few modes
        }
        let model: Model<Lanes> = robot.model().cast();
        let mut pos = Positions::seeded(&model, four[0].positions());
        let numbers: Vec<[f64; 12]> = four.iter().map(|p| pose_numbers(p.pose())).collect();
        let x: Vec<Lanes> = (0..12).map(|i| lanes(std::array::from_fn(|k| numbers[k][i]))).collect();
        pos.X_WE = pose_of(&x);
        seed_lanes(&four, &mut pos);
        close(&model, mode, 1, &mut pos);
        let found = outputs(&pos.joints, &model);
        for (k, posture) in four.iter().enumerate() {
            for (a, b) in found.iter().zip(expected(&robot, posture)) {
                assert!((lane(*a, k) - b).abs() < 1e-12, "{}: {} {b}", robot.name(), lane(*a, k));
            }
        }
    }
}

/// Seeds, one per lane.
fn seed_lanes(four: &[Posture], pos: &mut Positions<Lanes>) {
    let ids: Vec<_> = pos.joints.ids().collect();
    for c in ids {
        let each =
            |f: &dyn Fn(&JointPosition<f64>) -> f64| lanes(std::array::from_fn(|k| f(&four[k].positions().joints[c])));
        pos.joints[c].turn.cos = each(&|j| j.turn.cos);
        pos.joints[c].turn.sin = each(&|j| j.turn.sin);
        pos.joints[c].value = each(&|j| j.value);
    }
}

#[test]
fn a_lane_out_of_reach_leaves_the_others_alone() {
    for robot in gough::robots::names().map(robot) {
        let good: Vec<Posture> =
            postures(&robot, 60, 23).into_iter().filter(|p| p.mode() == robot.mode()).take(3).collect();
        if good.len() < 3 {
            continue;
        }
        let mut far = *robot.home().pose();
        far.p += vec3(40.0, 30.0, 20.0) * robot.model().size();
        let model: Model<Lanes> = robot.model().cast();
        let mut pos = Positions::new(&model);
        let mut poses: Vec<[f64; 12]> = good.iter().map(|p| pose_numbers(p.pose())).collect();
        poses.insert(1, pose_numbers(&far));
        let x: Vec<Lanes> = (0..12).map(|i| lanes(std::array::from_fn(|k| poses[k][i]))).collect();
        pos.X_WE = pose_of(&x);
        close(&model, robot.mode(), 1, &mut pos);
        let found = outputs(&pos.joints, &model);
        for (k, posture) in [0, 2, 3].into_iter().zip(&good) {
            for (a, b) in found.iter().zip(expected(&robot, posture)) {
                assert!((lane(*a, k) - b).abs() < 1e-12, "{}", robot.name());
            }
        }
        // Struts and sliders along free directions reach anywhere; all other robots must show it in the margins.
        if !["gough-stewart", "gough-stewart-flexible", "3-rpr"].contains(&robot.name()) {
            let negative = pos.margins.iter().any(|m| !(lane(*m, 1) >= 0.0));
            assert!(negative, "{}: nothing says that lane 1 is out of reach", robot.name());
        }
    }
}

#[test]
fn dual_numbers_differentiate_the_joints_by_the_pose() {
    for robot in all_robots() {
        let mut random = random(24);
        let model: Model<Dual> = robot.model().cast();
        for posture in postures(&robot, 5, 25) {
            // A change of the independent coordinates; the dependent ones start at their values and follow.
            let independent = &robot.model().topology().platform.independent;
            let at = coordinates(robot.model(), posture.pose());
            let rates: Vec<(Coordinate, f64)> =
                independent.iter().map(|c| (*c, random.random_range(-1.0..1.0))).collect();
            let moved = |h: f64| {
                let given: Vec<(Coordinate, f64)> = rates.iter().map(|(c, r)| (*c, at[c.index()] + h * r)).collect();
                pose_with(robot.model(), posture.pose(), &given)
            };
            let mut x = at.map(Dual::from);
            rates.iter().for_each(|(c, r)| x[c.index()].eps = *r);
            let mut pos = Positions::seeded(&model, posture.positions());
            pos.X_WE = Pose { R: from_rpy(x[3], x[4], x[5]), p: vec3(x[0], x[1], x[2]) };
            close(&model, posture.mode(), 1, &mut pos);
            let found = outputs(&pos.joints, &model);
            let h = 1e-5;
            let (Ok(a), Ok(b)) =
                (inverse(robot.model(), &moved(h), posture.mode()), inverse(robot.model(), &moved(-h), posture.mode()))
            else {
                continue;
            };
            let (a, b, mid) = (expected(&robot, &a), expected(&robot, &b), expected(&robot, &posture));
            for (k, d) in found.iter().enumerate() {
                let difference = (a[k] - b[k]) / (2.0 * h);
                assert!((d.re - mid[k]).abs() < 1e-12, "{}", robot.name());
                let scale = 1.0 + difference.abs();
                assert!((d.eps - difference).abs() < 1e-5 * scale * scale, "{}: {} {difference}", robot.name(), d.eps);
            }
            assert!(found.iter().any(|d| d.eps.abs() > 1e-6), "{}: nothing moves", robot.name());
        }
    }
}

#[test]
fn dual_numbers_differentiate_the_joints_by_the_named_parameters() {
    for robot in all_robots() {
        let model = robot.model();
        let values: Vec<f64> = model.numbers().parameters.clone();
        let posture = &postures(&robot, 3, 26)[2];
        for (k, parameter) in model.parameters().iter().enumerate() {
            let duals: Vec<Dual> =
                values.iter().enumerate().map(|(i, v)| Dual::new(*v, f64::from(u8::from(i == k)))).collect();
            let dual_model = model.with_parameters(&duals);
            let mut pos = Positions::seeded(&dual_model, posture.positions());
            close(&dual_model, posture.mode(), 1, &mut pos);
            let found = outputs(&pos.joints, &dual_model);
            let h = 1e-6 * parameter.value.abs().max(1e-2);
            let changed = |sign: f64| -> Option<Vec<f64>> {
                let mut v = values.clone();
                v[k] += sign * h;
                let other = model.with_parameters(&v);
                inverse(&other, posture.pose(), posture.mode()).ok().map(|p| outputs(&p.positions().joints, &other))
            };
            let (Some(a), Some(b)) = (changed(1.0), changed(-1.0)) else { continue };
            for (j, d) in found.iter().enumerate() {
                let difference = (a[j] - b[j]) / (2.0 * h);
                let scale = 1.0 + difference.abs();
                assert!(
                    (d.eps - difference).abs() < 1e-5 * scale * scale,
                    "{} by {}: {} {difference}",
                    robot.name(),
                    parameter.name,
                    d.eps
                );
            }
        }
    }
}

/// Closes the posture, then all that stages 3 and 4 compute from it: matrices, biases, rates, accelerations, efforts of the
/// tree, energies and ground reaction.
fn first_and_second_order<S: Real>(
    model: &Model<S>,
    mode: &WorkingMode,
    steps: usize,
    plan: &MatrixPlan,
    moved: &[S],
    pos: &mut Positions<S>,
) -> Vec<S> {
    close(model, mode, steps, pos);
    pose_bodies(model, pos);
    let (mut m, mut motion) = (Matrices::new(model, plan), Motion::new(model));
    let (t_r, td_r) = moved.split_at(moved.len() / 2);
    assemble(model, plan, pos, None, &mut m);
    let six = |x: &[S]| Twist::from_array(std::array::from_fn(|i| x[i]));
    motion.V_WE = six(&m.Psi_t.apply(t_r));
    velocities(model, pos, &mut motion);
    assemble(model, plan, pos, Some(&motion), &mut m);
    let A = six(&m.Psi_t.apply(td_r)) + six(&m.Psi_t_dot_t_r);
    motion.A_WE = Accel { a: A.v, alpha: A.w };
    accelerations(model, pos, &mut motion);
    let matrices = [&m.A, &m.B, &m.W_c, &m.Psi_t, &m.A_r, &m.J_t, &m.J_ta, &m.J_td];
    let biases = [&m.b_prime, &m.b, &m.Psi_t_dot_t_r, &m.d_c];
    let lists = matrices.iter().flat_map(|M| M.data.clone()).chain(biases.into_iter().flatten().copied());
    let mut tree = TreeEfforts::new(model);
    tree_efforts(model, pos, &mut motion, &mut tree);
    let ground = ground_wrench(model, pos, &tree).to_array();
    let dynamics = tree.efforts.values().copied().chain(ground).chain(energies(model, pos, &motion));
    lists.chain(motion.rates.values().copied()).chain(motion.accels.values().copied()).chain(dynamics).collect()
}

/// Efforts of the drives, what the platform needs, J⁻¹ and, for simple legs, the inertia on the platform.
fn efforts<S: Real>(
    model: &Model<S>,
    mode: &WorkingMode,
    steps: usize,
    order: &PivotOrder,
    moved: &[S],
    pos: &mut Positions<S>,
) -> Vec<S> {
    close(model, mode, steps, pos);
    let mut motion = Motion::new(model);
    let (t_r, td_r) = moved.split_at(moved.len() / 2);
    let scatter = |x: &[S]| {
        let mut all = [S::zero(); 6];
        model.topology().platform.independent.iter().zip(x).for_each(|(c, x)| all[c.index()] = *x);
        Twist::from_array(all)
    };
    motion.V_WE = scatter(t_r);
    let A = scatter(td_r);
    motion.A_WE = Accel { a: A.v, alpha: A.w };
    velocities(model, pos, &mut motion);
    accelerations(model, pos, &mut motion);
    let (mut from, mut drives) = (EffortData::new(model), Drives::new(model));
    reduce(model, Some(Sign::Smooth(0.1)), pos, &mut motion, &mut from);
    drives.project(&from, &Freedoms::new(model, None));
    drives.solve(order);
    let mut out = drives.efforts;
    out.extend(from.h.to_array());
    out.extend(from.J_inv.iter().flat_map(|w| w.to_array()));
    if legs_are_simple(model) {
        let t = model.topology();
        let longest = t.legs.values().map(|l| l.coords.len()).max().unwrap();
        let mut leg = LegInertia::new(longest, t.bodies.len());
        out.extend(on_platform(model, pos, &mut motion, &mut leg));
    }
    out
}

#[test]
fn symbols_and_lanes_give_the_same_efforts_and_inertia() {
    for robot in all_robots() {
        let model = robot.model();
        if !model.topology().platform.dependent.is_empty() {
            continue; // their twist needs the matrices, which have a test of their own
        }
        let inputs = moved(&robot);
        let order = |p: &Posture| {
            let found = efforts_order(model, p, &inputs)?;
            let mut pos = p.positions().clone();
            let wanted = efforts(model, p.mode(), 0, &found, &inputs, &mut pos);
            wanted.iter().all(|x| x.abs() < 1e5).then_some((found, wanted))
        };
        let list: Vec<_> = regular(&robot, 40, 29).into_iter().filter_map(|(p, _)| Some((order(&p)?, p))).collect();
        assert!(list.len() >= 2, "{}: {}", robot.name(), list.len());
        for ((order, wanted), posture) in list.iter().take(2) {
            let names: Vec<String> = (0..12 + inputs.len()).map(|i| format!("x{i}")).collect();
            let program = trace(&names, |x| {
                let model: Model<Expr> = robot.model().cast();
                let mut pos = Positions::seeded(&model, posture.positions());
                pos.X_WE = pose_of(&x[..12]);
                efforts(&model, posture.mode(), 3, order, &x[12..], &mut pos)
            });
            let values: Vec<f64> = pose_numbers(posture.pose()).into_iter().chain(inputs.clone()).collect();
            assert_close(&program.eval(&values), wanted, 1e-9, robot.name());
        }
        let mode = list[0].1.mode();
        let four: Vec<_> = list.iter().filter(|(_, p)| p.mode() == mode).take(LANES).collect();
        let Ok(four) = <[_; LANES]>::try_from(four) else { continue };
        let lane_model: Model<Lanes> = model.cast();
        let numbers = four.map(|(_, p)| pose_numbers(p.pose()));
        let x: Vec<Lanes> = (0..12).map(|i| lanes(std::array::from_fn(|k| numbers[k][i]))).collect();
        let mut pos = Positions::seeded(&lane_model, four[0].1.positions());
        pos.X_WE = pose_of(&x);
        seed_lanes(&four.map(|(_, p)| p.clone()), &mut pos);
        let moved: Vec<Lanes> = inputs.iter().map(|x| Lanes::lit(*x)).collect();
        let order = &four[0].0.0;
        let found = efforts(&lane_model, mode, 1, order, &moved, &mut pos);
        for (k, (_, p)) in four.into_iter().enumerate() {
            let one: Vec<f64> = found.iter().map(|x| lane(*x, k)).collect();
            let wanted = efforts(model, mode, 0, order, &inputs, &mut p.positions().clone());
            assert_close(&one, &wanted, 1e-9, robot.name());
        }
    }
}

/// The order of elimination of the drives at a posture.
fn efforts_order(model: &Model<f64>, p: &Posture, inputs: &[f64]) -> Option<PivotOrder> {
    let mut memory = Dynamics::new(model);
    let (t_r, td_r) = inputs.split_at(inputs.len() / 2);
    memory.inverse_leg_by_leg(model, p, t_r, td_r, None).ok()?;
    let mut drives = Drives::new(model);
    drives.project(memory.reduced(), &Freedoms::new(model, None));
    drives.order()
}

fn moved(robot: &Robot) -> Vec<f64> {
    let n = robot.model().topology().platform.independent.len();
    (0..2 * n).map(|k| 0.7 - 0.3 * k as f64).collect()
}

/// Postures whose matrices are regular in the plan of the model.
fn regular(robot: &Robot, count: usize, seed: u64) -> Vec<(Posture, Vec<f64>)> {
    let model = robot.model();
    let plan = &model.topology().plan.matrices;
    let good = |p: Posture| {
        let mut pos = p.positions().clone();
        let found = first_and_second_order(model, p.mode(), 0, plan, &moved(robot), &mut pos);
        // Efforts of heavy robots may be large; matrices and motion are not.
        let dynamics = model.topology().coords.len() + 9;
        let small = found[..found.len() - dynamics].iter().all(|x| x.abs() < 1e3);
        let of_legs = model.topology().plan.pivots_of_leg.iter();
        let least = of_legs.map(|(id, own)| newton::smallest_pivot(model, id, own, &pos)).fold(1.0, f64::min);
        (smallest_pivot(model, plan, &pos) > 1e-2 && least > 1e-2 && small).then_some((p, found))
    };
    postures(robot, 60, seed).into_iter().filter_map(good).take(count).collect()
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (k, (a, b)) in found.iter().zip(wanted).enumerate() {
        assert!((a - b).abs() < tolerance * (1.0 + b.abs()).powi(2), "{what} {k}: {a} {b}");
    }
}

#[test]
fn symbols_and_lanes_give_the_same_matrices_and_motion() {
    for robot in all_robots() {
        let plan = &robot.model().topology().plan.matrices;
        let inputs = moved(&robot);
        let list = regular(&robot, 40, 27);
        assert!(list.len() >= 3, "{}: {}", robot.name(), list.len());
        for (posture, wanted) in list.iter().take(2) {
            let names: Vec<String> = (0..12 + inputs.len()).map(|i| format!("x{i}")).collect();
            let program = trace(&names, |x| {
                let model: Model<Expr> = robot.model().cast();
                let mut pos = Positions::seeded(&model, posture.positions());
                pos.X_WE = pose_of(&x[..12]);
                first_and_second_order(&model, posture.mode(), 3, plan, &x[12..], &mut pos)
            });
            let values: Vec<f64> = pose_numbers(posture.pose()).into_iter().chain(inputs.clone()).collect();
            assert_close(&program.eval(&values), wanted, 1e-9, robot.name());
        }
        let four: Vec<&(Posture, Vec<f64>)> = list.iter().filter(|p| p.0.mode() == robot.mode()).take(LANES).collect();
        let Ok(four) = <[&(Posture, Vec<f64>); LANES]>::try_from(four) else { continue };
        let model: Model<Lanes> = robot.model().cast();
        let numbers = four.map(|p| pose_numbers(p.0.pose()));
        let x: Vec<Lanes> = (0..12).map(|i| lanes(std::array::from_fn(|k| numbers[k][i]))).collect();
        let mut pos = Positions::seeded(&model, four[0].0.positions());
        pos.X_WE = pose_of(&x);
        seed_lanes(&four.map(|p| p.0.clone()), &mut pos);
        let moved: Vec<Lanes> = inputs.iter().map(|x| Lanes::lit(*x)).collect();
        let found = first_and_second_order(&model, robot.mode(), 1, plan, &moved, &mut pos);
        for (k, (_, wanted)) in four.into_iter().enumerate() {
            let one: Vec<f64> = found.iter().map(|x| lane(*x, k)).collect();
            assert_close(&one, wanted, 1e-9, robot.name());
        }
    }
}

#[test]
fn dual_numbers_differentiate_matrices_and_motion_by_parameters() {
    for robot in all_robots() {
        let model = robot.model();
        let plan = &model.topology().plan.matrices;
        let values: Vec<f64> = model.numbers().parameters.clone();
        let inputs = moved(&robot);
        let (posture, wanted) = &regular(&robot, 3, 28)[2];
        for (k, parameter) in model.parameters().iter().enumerate() {
            let duals: Vec<Dual> =
                values.iter().enumerate().map(|(i, v)| Dual::new(*v, f64::from(u8::from(i == k)))).collect();
            let dual_model = model.with_parameters(&duals);
            let mut pos = Positions::seeded(&dual_model, posture.positions());
            let x: Vec<Dual> = inputs.iter().map(|x| Dual::from(*x)).collect();
            let found = first_and_second_order(&dual_model, posture.mode(), 1, plan, &x, &mut pos);
            let values_found: Vec<f64> = found.iter().map(|d| d.re).collect();
            assert_close(&values_found, wanted, 1e-9, robot.name());
            let h = 1e-6 * parameter.value.abs().max(1e-2);
            let changed = |sign: f64| -> Option<Vec<f64>> {
                let mut v = values.clone();
                v[k] += sign * h;
                let other = model.with_parameters(&v);
                let p = inverse(&other, posture.pose(), posture.mode()).ok()?;
                let mut pos = p.positions().clone();
                Some(first_and_second_order(&other, p.mode(), 0, plan, &inputs, &mut pos))
            };
            let (Some(a), Some(b)) = (changed(1.0), changed(-1.0)) else { continue };
            let differences: Vec<f64> = a.iter().zip(&b).map(|(x, y)| (x - y) / (2.0 * h)).collect();
            let derivatives: Vec<f64> = found.iter().map(|d| d.eps).collect();
            assert_close(&derivatives, &differences, 3e-5, &format!("{} by {}", robot.name(), parameter.name));
        }
    }
}

/// Stiffness and mass of an elastic robot as a flat list, from the platform pose in `pos`.
fn stiffness_and_mass<S: Real>(
    model: &Model<S>,
    plan: &Arc<ElasticPlan>,
    mode: &WorkingMode,
    steps: usize,
    pos: &mut Positions<S>,
) -> Vec<S> {
    close(model, mode, steps, pos);
    let elastic = ElasticModel::new(model, plan);
    let mut data = elastic.data();
    assemble_elastic(model, &elastic, pos, &mut data);
    [data.K, data.M]
        .iter()
        .flat_map(|A| {
            let legs = A.legs.iter().flat_map(|l| [&l.own, &l.border]);
            legs.chain([&A.tip]).flat_map(|B| B.data.clone()).collect::<Vec<S>>()
        })
        .collect()
}

/// Robots that bend, and rigid ones with loops and free drives.
fn elastic_robots() -> Vec<(Robot, Arc<ElasticPlan>)> {
    let plan = |name: &str, actuators: Actuators| {
        let robot = robot(name);
        let plan = ElasticPlan::new(robot.model(), actuators, robot.home().positions()).unwrap();
        (robot, Arc::new(plan))
    };
    vec![
        plan("navaro", Actuators::Locked),
        plan("navaro-refined", Actuators::Elastic),
        plan("dual-emps", Actuators::Free),
        plan("five-bar-flexible", Actuators::Elastic),
        plan("gough-stewart", Actuators::Free),
        plan("delta-parallelogram", Actuators::Free),
    ]
}

/// Entries are compared with the largest of their matrix: stiffnesses span eight decades.
fn assert_matrices(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    let half = wanted.len() / 2;
    for part in [0..half, half..wanted.len()] {
        let largest = wanted[part.clone()].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for k in part {
            assert!((found[k] - wanted[k]).abs() <= tolerance * largest, "{what} {k}: {} {}", found[k], wanted[k]);
        }
    }
}

#[test]
fn symbols_and_lanes_give_the_same_stiffness_and_mass() {
    for (robot, plan) in elastic_robots() {
        let list: Vec<Posture> =
            postures(&robot, 60, 31).into_iter().filter(|p| p.mode() == robot.mode()).take(LANES).collect();
        let of = |p: &Posture| {
            let mut pos = p.positions().clone();
            stiffness_and_mass(robot.model(), &plan, robot.mode(), 0, &mut pos)
        };
        let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
        let program = trace(&names, |x| {
            let model: Model<Expr> = robot.model().cast();
            let mut pos = Positions::seeded(&model, list[0].positions());
            pos.X_WE = pose_of(x);
            stiffness_and_mass(&model, &plan, robot.mode(), 3, &mut pos)
        });
        assert_matrices(&program.eval(&pose_numbers(list[0].pose())), &of(&list[0]), 1e-12, robot.name());
        let Ok(four) = <[Posture; LANES]>::try_from(list) else { continue };
        let model: Model<Lanes> = robot.model().cast();
        let poses = [0, 1, 2, 3].map(|k| pose_numbers(four[k].pose()));
        let x: Vec<Lanes> = (0..12).map(|i| lanes(std::array::from_fn(|k| poses[k][i]))).collect();
        let mut pos = Positions::seeded(&model, four[0].positions());
        pos.X_WE = pose_of(&x);
        seed_lanes(&four, &mut pos);
        let found = stiffness_and_mass(&model, &plan, robot.mode(), 1, &mut pos);
        for (k, posture) in four.iter().enumerate() {
            let one: Vec<f64> = found.iter().map(|x| lane(*x, k)).collect();
            assert_matrices(&one, &of(posture), 1e-12, robot.name());
        }
    }
}

#[test]
fn dual_numbers_differentiate_stiffness_and_mass_by_parameters() {
    for (robot, plan) in elastic_robots() {
        let model = robot.model();
        let posture = robot.home();
        let values = model.numbers().parameters.clone();
        for (k, parameter) in model.parameters().iter().enumerate().filter(|(_, p)| p.value != 0.0) {
            let dual = |(i, v): (usize, &f64)| Dual::new(*v, f64::from(u8::from(i == k)));
            let duals: Vec<Dual> = values.iter().enumerate().map(dual).collect();
            let dual_model = model.with_parameters(&duals);
            let mut pos = Positions::seeded(&dual_model, posture.positions());
            let found = stiffness_and_mass(&dual_model, &plan, robot.mode(), 1, &mut pos);
            let h = 1e-6 * parameter.value.abs();
            let changed = |sign: f64| -> Option<Vec<f64>> {
                let mut v = values.clone();
                v[k] += sign * h;
                let other = model.with_parameters(&v);
                let mut pos = inverse(&other, posture.pose(), posture.mode()).ok()?.positions().clone();
                Some(stiffness_and_mass(&other, &plan, robot.mode(), 0, &mut pos))
            };
            let (Some(a), Some(b)) = (changed(1.0), changed(-1.0)) else { continue };
            // In units of the parameter, so that differences of large entries lose what their rounding says.
            let differences: Vec<f64> = a.iter().zip(&b).map(|(x, y)| (x - y) / (2.0 * h) * parameter.value).collect();
            let slopes: Vec<f64> = found.iter().map(|d| d.eps * parameter.value).collect();
            let sizes: Vec<f64> = found.iter().map(|d| d.re).collect();
            let half = sizes.len() / 2;
            for (i, (s, d)) in slopes.iter().zip(&differences).enumerate() {
                let part = if i < half { &sizes[..half] } else { &sizes[half..] };
                let largest = part.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                assert!(
                    (s - d).abs() <= 1e-8 * largest + 1e-6 * d.abs(),
                    "{} by {} {i}: {s} {d}",
                    robot.name(),
                    parameter.name
                );
            }
        }
    }
}

/// Matrices of the platform by the Cartesian method as a flat list.
fn platform_matrices<S: Real>(
    model: &Model<S>,
    plan: &Arc<CartesianPlan>,
    mode: &WorkingMode,
    steps: usize,
    pos: &mut Positions<S>,
) -> Vec<S> {
    close(model, mode, steps, pos);
    let cartesian = CartesianModel::new(model, plan);
    let mut data = cartesian.data();
    assemble_cartesian(model, &cartesian, pos, &mut data);
    [data.K_F, data.M].concat().concat()
}

#[test]
fn symbols_and_lanes_give_the_same_matrices_of_the_platform() {
    for name in ["heli4", "five-bar-flexible", "navaro-refined"] {
        let robot = robot(name);
        let plan = CartesianPlan::new(robot.model(), Choices::of(robot.model()), robot.home().positions());
        let plan = Arc::new(plan);
        let list: Vec<Posture> =
            postures(&robot, 60, 31).into_iter().filter(|p| p.mode() == robot.mode()).take(LANES).collect();
        let of = |p: &Posture| {
            let mut pos = p.positions().clone();
            platform_matrices(robot.model(), &plan, robot.mode(), 0, &mut pos)
        };
        let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
        let program = trace(&names, |x| {
            let model: Model<Expr> = robot.model().cast();
            let mut pos = Positions::seeded(&model, list[0].positions());
            pos.X_WE = pose_of(x);
            platform_matrices(&model, &plan, robot.mode(), 3, &mut pos)
        });
        assert_matrices(&program.eval(&pose_numbers(list[0].pose())), &of(&list[0]), 1e-10, robot.name());
        let Ok(four) = <[Posture; LANES]>::try_from(list) else { continue };
        let model: Model<Lanes> = robot.model().cast();
        let poses = [0, 1, 2, 3].map(|k| pose_numbers(four[k].pose()));
        let x: Vec<Lanes> = (0..12).map(|i| lanes(std::array::from_fn(|k| poses[k][i]))).collect();
        let mut pos = Positions::seeded(&model, four[0].positions());
        pos.X_WE = pose_of(&x);
        seed_lanes(&four, &mut pos);
        let found = platform_matrices(&model, &plan, robot.mode(), 1, &mut pos);
        for (k, posture) in four.iter().enumerate() {
            let one: Vec<f64> = found.iter().map(|x| lane(*x, k)).collect();
            assert_matrices(&one, &of(posture), 1e-10, robot.name());
        }
    }
}
