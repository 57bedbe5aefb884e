//! Legs in closed form give what the long road over closures and factors gives, whatever their numbers.
use crate::common::{compile, random, random_pose, robot, text};
use gough::Robot;
use gough::dynamics::points::{AtPoints, PlatformMotion};
use gough::dynamics::reduction::EffortData;
use gough::dynamics::{Conditions, Dynamics, Sign, direct_dynamics_under, inverse_dynamics};
use gough::kinematics::inverse;
use gough::model::{Model, Node};
use gough::scalar::{Dual, Real, lane, lanes, trace};
use gough::spatial::{Accel, Pose, Rotation, Twist, Vec3, Wrench};
use rand::RngExt;

/// Elbows, struts in the plane and struts in space, as shipped and with every number different from zero.
fn robots() -> Vec<Robot> {
    let shipped = ["five-bar", "3-rpr", "dualv", "gough-stewart"].map(robot);
    let lopsided = ["lopsided-rrr", "lopsided-rpr", "lopsided-ups"].map(|name| compile(name, &text(name)));
    shipped.into_iter().chain(lopsided).collect()
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
}

#[test]
fn closed_forms_are_the_long_road() {
    let mut random = random(83);
    for robot in robots() {
        let model = robot.model();
        assert!(model.point_legs().is_some(), "{}: no closed form", robot.name());
        let n = model.topology().platform.independent.len();
        let (mut short, mut answered, mut shortly) = (Dynamics::new(model), 0, 0);
        for _ in 0..300 {
            let pose = random_pose(&robot, &mut random, 0.25, 0.25);
            let mut six = || (0..n).map(|_| random.random_range(-2.0..2.0)).collect::<Vec<f64>>();
            let (t, td) = (six(), six());
            let efforts = short.inverse(model, &pose, robot.mode(), &t, &td, None).map(<[f64]>::to_vec);
            let posture = match inverse(model, &pose, robot.mode()) {
                Ok(posture) => posture,
                Err(e) => {
                    assert_eq!(efforts.unwrap_err().kind(), e.kind(), "{}", robot.name());
                    continue;
                }
            };
            let Ok(long) = inverse_dynamics(model, &posture, &t, &td) else { continue };
            if long.condition > 50.0 {
                continue;
            }
            assert!(worst(&efforts.unwrap(), &long.efforts) < 1e-9, "{}", robot.name());
            let rubbed = short.inverse(model, &pose, robot.mode(), &t, &td, Some(Sign::Sharp)).unwrap();
            assert!(worst(rubbed, &long.efforts_with_friction) < 1e-9, "{}", robot.name());
            let given = long.efforts_with_friction.iter().map(|x| x + 0.5).collect::<Vec<f64>>();
            let conditions = Conditions { friction: Some(Sign::Sharp), ..Conditions::default() };
            let (wanted, motion) = direct_dynamics_under(model, &posture, &t, &given, &conditions).unwrap();
            let found = short.direct(model, &pose, robot.mode(), &t, &given, Some(Sign::Sharp)).unwrap();
            assert!(worst(found, &wanted) < 1e-8, "{}: {found:?} {wanted:?}", robot.name());
            assert!(worst(short.joint_rates(), motion.rates.as_slice()) < 1e-9, "{}", robot.name());
            assert!(worst(short.joint_accelerations(), motion.accels.as_slice()) < 1e-8, "{}", robot.name());
            answered += 1;
            shortly += usize::from(short.took_closed_forms());
        }
        assert!(answered > 60 && 10 * shortly > 9 * answered, "{}: {answered}, {shortly}", robot.name());
    }
}

/// A push on the platform is felt by the drives as the rows of the inverse Jacobian say, and a closed form knows of it.
#[test]
fn closed_forms_feel_loads_on_the_platform() {
    for robot in robots() {
        let model = robot.model();
        let (pose, n) = (*robot.home().pose(), model.topology().platform.independent.len());
        let rest = vec![0.0; n];
        let push = Wrench::from_array([3.0, -2.0, 1.0, 0.5, -0.4, 0.3]);
        let loaded = Conditions { loads: vec![(Node::Platform, push)], ..Conditions::default() };
        let mut memory = Dynamics::new(model).under(&loaded);
        let short = memory.inverse(model, &pose, robot.mode(), &rest, &rest, None).unwrap().to_vec();
        // The first state finds the order of the drives, the second has it.
        let again = memory.inverse(model, &pose, robot.mode(), &rest, &rest, None).unwrap().to_vec();
        assert!(memory.took_closed_forms() && worst(&short, &again) < 1e-12, "{}", robot.name());
        let long = gough::dynamics::inverse_dynamics_under(model, robot.home(), &rest, &rest, &loaded).unwrap();
        assert!(worst(&short, &long.efforts) < 1e-9, "{}: {short:?} {:?}", robot.name(), long.efforts);
    }
}

/// Ranges bind: the refusal names the joint, as on the long road.
#[test]
fn closed_forms_keep_to_the_ranges_of_joints() {
    let tight = text("lopsided-rrr").replace("\"-150 deg\", \"200 deg\"", "\"-20 deg\", \"185 deg\"");
    let robot = compile("tight", &tight);
    let model = robot.model();
    let (mut refused, mut answered, mut random) = (0, 0, random(87));
    let (mut memory, rest) = (Dynamics::new(model), [0.0; 3]);
    for _ in 0..200 {
        let pose = random_pose(&robot, &mut random, 0.3, 0.4);
        let short = memory.inverse(model, &pose, robot.mode(), &rest, &rest, None).map(<[f64]>::to_vec);
        match inverse(model, &pose, robot.mode()) {
            Ok(_) => answered += usize::from(short.is_ok()),
            Err(e) => {
                assert_eq!(short.unwrap_err(), e);
                refused += 1;
            }
        }
    }
    assert!(refused > 10 && answered > 10, "{refused} {answered}");
}

/// `h` and the rows of `J_inv` for a pose, a twist and an acceleration given as 24 numbers.
fn reduced<S: Real>(robot: &Robot, x: &[S]) -> Vec<S> {
    let model: Model<S> = robot.model().cast();
    let legs = AtPoints::new(robot.model()).expect("closed forms");
    let v = |k: usize| Vec3::new(x[k], x[k + 1], x[k + 2]);
    let platform = PlatformMotion {
        X: Pose { R: Rotation::from_columns(v(3), v(6), v(9)), p: v(0) },
        V: Twist { v: v(12), w: v(15) },
        A: Accel { a: v(18), alpha: v(21) },
    };
    let mut efforts = EffortData::new(&model);
    let margin = legs.reduce(model.numbers(), &platform, robot.mode(), Some(Sign::Smooth(0.1)), &mut efforts);
    let rows = efforts.J_inv.iter().flat_map(|w| w.to_array());
    efforts.h.to_array().into_iter().chain(rows).chain([margin]).collect()
}

/// The same source on `f64`, in lanes, on dual numbers and on symbols.
#[test]
fn closed_forms_run_on_four_numbers() {
    let mut random = random(89);
    for robot in robots() {
        let n = robot.model().topology().platform.independent.clone();
        let home = robot.home().pose();
        let mut x: Vec<f64> = home.p.iter().chain(home.R.0.iter()).copied().collect();
        x.resize(24, 0.0);
        n.iter().for_each(|c| x[12 + c.index()] = random.random_range(-1.0..1.0));
        n.iter().for_each(|c| x[18 + c.index()] = random.random_range(-1.0..1.0));
        let wanted = reduced(&robot, &x);
        let names: Vec<String> = (0..24).map(|k| format!("x{k}")).collect();
        let symbols = trace(&names, |x| reduced(&robot, x)).eval(&x);
        assert!(worst(&symbols, &wanted) < 1e-12, "{}", robot.name());
        let in_lanes = reduced(&robot, &x.iter().map(|x| lanes([*x, 0.5, *x, 1.0])).collect::<Vec<_>>());
        let found: Vec<f64> = in_lanes.iter().map(|y| lane(*y, 2)).collect();
        assert!(worst(&found, &wanted) < 1e-12, "{}", robot.name());
        for k in [0, 1, 12, 13, 18] {
            let along = |h: f64| {
                reduced(&robot, &x.iter().enumerate().map(|(i, x)| if i == k { x + h } else { *x }).collect::<Vec<_>>())
            };
            let h = 1e-6;
            let slope: Vec<f64> = along(h).iter().zip(along(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let dual: Vec<Dual> =
                x.iter().enumerate().map(|(i, x)| Dual::new(*x, f64::from(u8::from(i == k)))).collect();
            let found: Vec<f64> = reduced(&robot, &dual).iter().map(|y| y.eps).collect();
            assert!(worst(&found, &slope) < 1e-6, "{} by {k}", robot.name());
        }
    }
}
