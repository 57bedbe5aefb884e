//! Points of bodies in motion: derivatives, places on beams and meshes, deflections, refusals.

use crate::common::{compile, robot};
use gough::Robot;
use gough::elastodynamics::ElasticError;
use gough::elastodynamics::motion::{FlexibleRobot, FlexibleState, Given};
use gough::model::{BodyPoint, Node};
use gough::question::words::body_point;
use gough::simulation::{
    FlexibleInstant, FlexibleLaw, FlexibleOptions, MovingPoint, SimulationOptions, simulate_flexible,
};
use gough::spatial::{Wrench, vec3};

fn points(robot: &Robot, names: &[&str]) -> Vec<BodyPoint> {
    names.iter().map(|n| body_point(robot.model(), n).unwrap()).collect()
}

/// Velocity and acceleration are the derivatives of position and velocity, by differences of fourth order of instants `h` apart; the error
/// falls with the fourth power of the step. Says how large the largest were.
fn assert_derivatives(instants: &[Vec<MovingPoint>], h: f64, tolerance: f64, what: &str) -> [f64; 2] {
    let n = instants.len();
    let mut largest = [0.0_f64; 2];
    for k in 2..n - 2 {
        for p in 0..instants[k].len() {
            let at = |j: usize| &instants[j][p];
            let slope = |of: fn(&MovingPoint) -> &[f64; 3], i: usize| {
                (8.0 * (of(at(k + 1))[i] - of(at(k - 1))[i]) - (of(at(k + 2))[i] - of(at(k - 2))[i])) / (12.0 * h)
            };
            for i in 0..3 {
                let (v, a) = (at(k).velocity[i], at(k).acceleration[i]);
                let (dx, dv) = (slope(|m| &m.position, i), slope(|m| &m.velocity, i));
                largest = [largest[0].max(v.abs()), largest[1].max(a.abs())];
                assert!((dx - v).abs() < tolerance * (largest[0] + 1e-3), "{what} {p} {i}: {dx} {v}");
                assert!((dv - a).abs() < tolerance * (largest[1] + 1e-1), "{what} {p} {i}: {dv} {a}");
            }
        }
    }
    largest
}

#[test]
fn points_of_rigid_robots_move_as_their_derivatives_say() {
    for (name, names, twist) in [
        ("five-bar", &["platform", "11", "11=0.1:0:0", "12=0.05:0.02:0.01"][..], &[0.4, -0.3][..]),
        ("gough-stewart", &["platform=0.1:-0.2:0.05", "platform", "31=0:0:0.1"], &[0.2, -0.1, 0.3, 0.4, -0.6, 0.5]),
    ] {
        let robot = robot(name);
        let h = 2e-4;
        let options = SimulationOptions { every: h, ..SimulationOptions::lasting(20.0 * h) };
        let asked = robot.simulate(robot.home().pose(), &options).twist(twist).points(names);
        let found = asked.answer().unwrap();
        assert_eq!(found.points, names);
        let all: Vec<Vec<MovingPoint>> = found.states.iter().map(|s| s.points.clone()).collect();
        let [v, a] = assert_derivatives(&all, h, 1e-7, name);
        assert!(v > 0.1 && a > 0.1, "{v} {a}");
        let place = names.iter().position(|n| *n == "platform").unwrap();
        for s in &found.states {
            let p: [f64; 3] = s.pose.p.into();
            assert_eq!(s.points[place].position, p);
            assert!(s.points[place].deflection.is_none());
        }
        let document = serde_json::to_value(&found).unwrap();
        assert_eq!(document["points"][0], names[0]);
        assert_eq!(document["states"][1]["points"][0]["velocity"].as_array().unwrap().len(), 3);
        assert!(document["states"][1]["points"][0].get("deflection").is_none());
    }
}

fn bent_dual_emps(names: &[&str], duration: f64, every: f64) -> Vec<FlexibleInstant> {
    let robot = robot("dual-emps");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let given = Given::Active { q: vec![0.0; 2], qd: vec![0.0; 2] };
    let mut elastic = vec![0.0; 9];
    (elastic[1], elastic[2]) = (2e-3, 5e-3);
    let start = flexible.state(robot.home(), &given, &elastic, &[]).unwrap();
    let points = points(&robot, names);
    let options = FlexibleOptions { every, tolerance: 1e-9, points, ..FlexibleOptions::lasting(duration) };
    let mut all = Vec::new();
    let law = FlexibleLaw::Held;
    simulate_flexible(&mut flexible, robot.mode(), &start, &law, &options, &mut |i| {
        all.push(i.clone());
        true
    })
    .unwrap();
    all
}

/// Off the axis of a beam, on its way, at its far end, on bodies behind it and at the tool.
#[test]
fn points_of_flexible_robots_move_as_their_derivatives_say() {
    let names = ["13=0.2", "13=0.3:0.01:0", "13=0.4505", "14", "16=0.07", "25=0.01:0.02:0", "platform"];
    let h = 1e-5;
    let found = bent_dual_emps(&names, 20.0 * h, h);
    let all: Vec<Vec<MovingPoint>> = found.iter().map(|i| i.points.clone()).collect();
    let [v, a] = assert_derivatives(&all, h, 1e-6, "dual-emps");
    assert!(v > 1e-3 && a > 1.0, "{v} {a}");
    for i in &found {
        let (end, behind, tool) = (i.points[2], i.points[3], i.points[6]);
        let near = |x: [f64; 3], y: [f64; 3], size: f64| (0..3).all(|k| (x[k] - y[k]).abs() < 1e-12 * size);
        assert!(near(end.position, behind.position, 1.0), "{end:?} {behind:?}");
        assert!(near(end.velocity, behind.velocity, 1.0) && near(end.acceleration, behind.acceleration, 1e4));
        assert!(near(tool.position, i.position, 1.0));
        assert!(near(tool.velocity, [i.twist[0], i.twist[1], i.twist[2]], 1.0));
        assert!(near(tool.acceleration, [i.acceleration[0], i.acceleration[1], i.acceleration[2]], 1e4));
    }
    // Joint 12 turns back what the beam bends, so that the loop stays closed: its middle is off the rigid robot, its far end hardly.
    let size = |u: [f64; 3]| u.iter().fold(0.0_f64, |n, x| n.hypot(*x));
    let [half, end] = [0, 2].map(|k| size(found[0].points[k].deflection.unwrap()));
    assert!((1e-4..1e-3).contains(&half) && end < 0.3 * half && end > 1e-6, "{half} {end}");
}

const CANTILEVER: &str = r#"
[robot]
name = "cantilever"
gravity = [0, 0, 0]
home = { y = 0 }
[material]
steel = { E = "210 GPa", nu = 0.3, density = "7800 kg/m^3" }
[section]
bar = { rectangle = ["20 mm", "20 mm"] }
[platform]
coordinates = ["y"]
mass = 0.1
inertia = { at = "com", xx = 1e-5, yy = 1e-5, zz = 1e-5 }
[[body]]
name = "slide"
on = "base"
joint = "P"
axis = [0, 1, 0]
drive = {}
mass = 1
[[body]]
name = "arm"
on = "slide"
joint = "fixed"
beam = { to = [1, 0, 0], section = "bar", material = "steel", elements = 3 }
[[body]]
name = "tip"
on = "arm"
joint = "fixed"
point = [1, 0, 0]
[[closure]]
joint = "fixed"
a = { body = "tip" }
b = { body = "platform" }
"#;

/// Under a force at its end a clamped beam bends by `F x² (3 L - x) / 6 EI`, which its shapes have exactly, also between their nodes.
#[test]
fn a_clamped_beam_bends_along_its_known_line() {
    let robot = compile("cantilever", CANTILEVER);
    let names = ["arm=0.25", "arm=1/3", "arm=0.8", "arm=1", "arm", "arm=0.5:0.01:0"];
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    // Small: how far the tip comes nearer by bending goes with its square.
    let F = 0.1;
    flexible.load(&[(Node::Platform, Wrench { f: vec3(0.0, F, 0.0), m: vec3(0.0, 0.0, 0.0) })]);
    let rest = FlexibleState::rest(&flexible, robot.home());
    let bent = flexible.deflected(&rest).unwrap();
    let EI = 210e9 * 0.02_f64.powi(4) / 12.0;
    let line = |x: f64| F * x * x * (3.0 - x) / (6.0 * EI);
    let slope = |x: f64| F * x * (2.0 - x) / (2.0 * EI);
    let wanted = [line(0.25), line(1.0 / 3.0), line(0.8), line(1.0), 0.0, line(0.5)].map(|y| [0.0, y]);
    for ((point, name), wanted) in points(&robot, &names).iter().zip(names).zip(wanted) {
        flexible.equations(&bent, None);
        let place = flexible.material_point(point).unwrap();
        let still = vec![0.0; bent.rates.len()];
        let X = flexible.point_motion(&place, &bent, &still).0;
        let at = point.at.unwrap_or_else(|| vec3(0.0, 0.0, 0.0));
        let off = X.p - at;
        // Off the axis the section turns with the slope: x moves by it. Second order is left out here.
        let along = if name.starts_with("arm=0.5:") { -0.01 * slope(0.5) } else { wanted[0] };
        assert!((off.y - wanted[1]).abs() < 1e-6 * line(1.0), "{name}: {} {}", off.y, wanted[1]);
        assert!((off.x - along).abs() < 1e-4 * line(1.0), "{name}: {} {along}", off.x);
    }
    let far = body_point(robot.model(), "arm=1.1").unwrap();
    let refused = flexible.material_point(&far).unwrap_err();
    assert!(matches!(refused, ElasticError::OffBeam { .. }) && refused.to_string().contains("from 0 to 1 m"));
}

/// Between a force at one place and the motion of another it is the same as the other way round, and at rest it is the beam's line.
#[test]
fn response_between_two_points_is_reciprocal() {
    let robot = compile("cantilever", CANTILEVER);
    let pose = *robot.home().pose();
    let hz = [3.0, 40.0];
    let ask = |a: Option<&str>, b: Option<&str>| robot.response(&pose, "fy", "y").between(a, b).answer(&hz).unwrap();
    let (there, back) = (ask(Some("arm=0.4"), Some("tip")), ask(Some("tip"), Some("arm=0.4")));
    for (x, y) in there.response.iter().zip(&back.response) {
        assert!((x[0] - y[0]).abs() < 1e-12 * x[0].abs() && x[0] != 0.0, "{x:?} {y:?}");
    }
    let (EI, x) = (210e9 * 0.02_f64.powi(4) / 12.0, 0.4);
    let wanted = x * x * (3.0 - x) / (6.0 * EI);
    let found = back.found.static_compliance;
    assert!((found / wanted - 1.0).abs() < 1e-6, "{found} {wanted}");
    // Where no point is given it is the platform.
    assert_eq!(ask(None, None).response, ask(Some("platform"), Some("tip")).response);
    for (point, why) in [("arn=0.4", "did you mean `arm`?"), ("arm=2", "beyond its ends"), ("slide=0.1", "no beam")] {
        let refused = robot.response(&pose, "fy", "y").between(None, Some(point)).answer(&hz).unwrap_err();
        assert!(refused.to_string().contains(why), "{point}: {refused}");
    }
}

/// Of a modal body only the nodes of its mesh and its named points are known; where both are one, they move alike.
#[test]
fn points_of_a_modal_body_are_those_of_its_mesh() {
    let robot = robot("gough-stewart-flexible");
    let mut flexible = FlexibleRobot::new(robot.model(), robot.home()).unwrap();
    let n = flexible.flexible().elastic().len();
    let q: Vec<f64> = (0..n).map(|k| 1e-3 * (1.0 + 1.7 * k as f64).sin()).collect();
    let twist = gough::spatial::Twist { v: vec3(0.1, 0.2, -0.3), w: vec3(0.3, 0.1, 0.2) };
    let given = Given::Platform { pose: *robot.home().pose(), twist };
    let state = flexible.state(robot.home(), &given, &q, &q).unwrap();
    flexible.equations(&state, None);
    let still = vec![0.0; state.rates.len()];
    let at = |flexible: &FlexibleRobot<'_>, name: &str| {
        let place = flexible.material_point(&body_point(robot.model(), name).unwrap());
        place.map(|place| (flexible.point_motion(&place, &state, &still), place.turns()))
    };
    let ((named, Vn, _), turns) = at(&flexible, "platform=A3").unwrap();
    assert!(turns);
    let ((node, V, _), turns) = at(&flexible, "platform=0.46875:0.05412658773653:0").unwrap();
    assert!(!turns);
    assert!((named.p - node.p).norm() < 0.1 && (named.p - node.p).norm() > 0.05);
    assert!((Vn.v - V.v).norm() < 0.1);
    // The floating frame is where its pose is.
    let ((frame, V, _), turns) = at(&flexible, "platform").unwrap();
    assert!(turns && (frame.p - state.at.X_WE.p).norm() < 1e-15 && (V.v - twist.v).norm() < 1e-12);
    let refused = at(&flexible, "platform=0.1:0.1:0.1").unwrap_err();
    assert!(matches!(refused, ElasticError::NoMeshNode { nearest: Some(_), .. }), "{refused}");
}
