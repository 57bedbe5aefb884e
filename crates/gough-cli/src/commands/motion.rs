//! The differential part of `gough kinematics`: rates, accelerations and matrices.

use crate::angles;
use crate::ask::{self, Modes, of_option};
use crate::commands::kinematics::{add_assumed, check_open, in_mode};
use crate::failure::Failure;
use crate::output::Output;
use crate::states::{component_names, joint_text, pose_json, pose_text};
use gough::Robot;
use gough::analysis::named_end_of_reach;
use gough::kinematics::jacobians::{Redundancy, StateMatrices, matrices_at};
use gough::kinematics::motion::{Motion, move_from};
use gough::kinematics::{Posture, SolveError, WorkingMode, inverse_given, working_modes_given};
use gough::linalg::small::Dense;
use gough::model::CoordId;
use gough::question::words::{self, Order};
use gough::spatial::Pose;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What is asked beyond the posture.
pub struct MotionAsked {
    pub twist: Option<Vec<f64>>,
    pub acceleration: Option<Vec<f64>>,
    pub matrices: bool,
}

/// `x=0.3,y=-0.2,wz=1` in the platform's own components; what is left out is zero.
pub fn components(robot: &Robot, text: &str, option: &str) -> Result<Vec<f64>, Failure> {
    let order = if option == "--twist" { Order::Rate } else { Order::Acceleration };
    words::components(robot.model(), text, order).map_err(of_option(option))
}

/// One working mode, answered.
struct AnsweredMode {
    posture: Posture,
    motion: Option<Motion<f64>>,
    matrices: Option<StateMatrices>,
}

/// Rates, accelerations and matrices at a pose.
pub fn answer(
    robot: &Robot,
    (pose, home): (&Pose<f64>, &[(&'static str, f64)]),
    modes: Option<Modes>,
    given: &[(CoordId, f64)],
    asked: &MotionAsked,
    output: &Output,
) -> Result<(), Failure> {
    let model = robot.model();
    check_open(model.topology(), given)?;
    let named = |mode: &WorkingMode, e| named_end_of_reach(model, mode, pose, robot.home().pose(), e);
    let one = |mode: &WorkingMode| inverse_given(model, pose, mode, given).map_err(|e| in_mode(robot, named(mode, e)));
    let postures = match modes {
        Some(Modes::All) => working_modes_given(model, pose, given)?,
        Some(Modes::One(mode)) => vec![one(&mode)?],
        None => vec![one(robot.mode())?],
    };
    let assumed = ask::assumed(model, given);
    let states = postures.into_iter().map(|p| {
        let mode = p.mode().clone();
        state(robot, p, asked).map_err(|why| match why {
            Failure::Asked(e) => match *e {
                gough::Error::Solve(e) => named(&mode, e).into(),
                other => other.into(),
            },
            other => other,
        })
    });
    let states = states.collect::<Result<Vec<AnsweredMode>, Failure>>()?;
    let told = || {
        let mut answer = document(robot, &states, asked);
        add_assumed(model.topology(), &assumed, &mut answer);
        ask::add_home(home, &mut answer);
        answer
    };
    let notes = || {
        let name = |c: CoordId| &model.topology().coords[c].name;
        assumed.iter().map(|(c, q)| format!("q{} = {q} assumed: nothing gives it\n", name(*c))).collect::<String>()
    };
    output.give(told, || text(robot, &states, asked) + &notes() + &ask::home_text(home))
}

fn state(robot: &Robot, posture: Posture, asked: &MotionAsked) -> Result<AnsweredMode, Failure> {
    let model = robot.model();
    let rest = vec![0.0; model.topology().platform.independent.len()];
    let moves = asked.twist.is_some() || asked.acceleration.is_some();
    let twist = asked.twist.as_ref().unwrap_or(&rest);
    let motion = if moves {
        let (mut pos, mut motion) = (posture.positions().clone(), Motion::new(model));
        move_from(model, twist, asked.acceleration.as_ref().unwrap_or(&rest), &mut pos, &mut motion)?;
        if !motion.rates.iter().chain(motion.accels.iter()).all(|(_, x)| x.is_finite()) {
            return Err(SolveError::not_finite().into());
        }
        Some(motion)
    } else {
        None
    };
    let matrices = if asked.matrices { Some(matrices_at(model, &posture, moves.then_some(twist))?) } else { None };
    Ok(AnsweredMode { posture, motion, matrices })
}

/// A matrix, or a bias, which is a column.
enum MatrixOrBias {
    Matrix(Dense<f64>),
    Bias(Vec<f64>),
}

impl MatrixOrBias {
    fn json(&self) -> Value {
        match self {
            MatrixOrBias::Bias(x) => json!(x),
            MatrixOrBias::Matrix(m) => m.data.chunks(m.cols.max(1)).map(|row| json!(row)).collect(),
        }
    }

    /// Rows as text; what is rounding beside the largest entry is zero.
    fn rows(&self) -> Vec<String> {
        let (data, cols) = match self {
            MatrixOrBias::Bias(x) => (x, 1),
            MatrixOrBias::Matrix(m) => (&m.data, m.cols.max(1)),
        };
        let size = data.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let entry = |x: &f64| format!("{:>13.6}", if x.abs() < f64::max(1e-12 * size, 5e-7) { 0.0 } else { *x });
        data.chunks(cols).map(|row| row.iter().map(entry).collect()).collect()
    }
}

/// Names, meanings and values of all matrices; what does not exist at the posture is missing.
fn named(s: &StateMatrices, moves: bool) -> Vec<(&'static str, &'static str, Option<MatrixOrBias>)> {
    let (m, j) = (&s.matrices, &s.jacobians);
    let matrix = |m: &Dense<f64>| Some(MatrixOrBias::Matrix(m.clone()));
    let bias = |x: &[f64]| Some(MatrixOrBias::Bias(x.to_vec()));
    let mut list = vec![
        ("A", "A t_p + B qd_a = 0", matrix(&m.A)),
        ("B", "A t_p + B qd_a = 0", matrix(&m.B)),
        ("W_c", "constraint wrenches: W_c t_p = 0", matrix(&m.W_c)),
        ("Psi_t", "t_p = Psi_t t_r", matrix(&m.Psi_t)),
        ("A_r", "A_r t_r + B qd_a = 0", matrix(&m.A_r)),
        ("J", "t_r = J qd_a", j.J.as_ref().and_then(matrix)),
        ("J_inv", "qd_a = J_inv t_r", j.J_inv.as_ref().and_then(matrix)),
        ("J_t", "J_td qd_d = J_t t_r - J_ta qd_a", matrix(&m.J_t)),
        ("J_ta", "J_td qd_d = J_t t_r - J_ta qd_a", matrix(&m.J_ta)),
        ("J_td", "J_td qd_d = J_t t_r - J_ta qd_a", matrix(&m.J_td)),
        ("J_d", "qd_d = J_d qd_a", j.J_d.as_ref().and_then(matrix)),
    ];
    if moves {
        list.extend([
            ("b_prime", "A td_p + B qdd_a = b_prime", bias(&m.b_prime)),
            ("b", "A_r td_r + B qdd_a = b", bias(&m.b)),
            ("Psi_t_dot_t_r", "td_p = Psi_t td_r + Psi_t_dot_t_r", bias(&m.Psi_t_dot_t_r)),
            ("a_t", "td_r = J qdd_a + a_t", j.a_t.as_deref().and_then(bias)),
            ("a_q", "qdd_a = J_inv td_r + a_q", j.a_q.as_deref().and_then(bias)),
            ("d_c", "J_td qdd_d = J_t td_r - J_ta qdd_a + d_c", bias(&m.d_c)),
            ("a_d", "qdd_d = J_d qdd_a + a_d", j.a_d.as_deref().and_then(bias)),
        ]);
    }
    list
}

fn redundancy(r: Redundancy) -> &'static str {
    match r {
        Redundancy::None => "none",
        Redundancy::Actuation => "actuation",
        Redundancy::Kinematic => "kinematic",
    }
}

fn document(robot: &Robot, states: &[AnsweredMode], asked: &MotionAsked) -> Value {
    let model = robot.model();
    let t = model.topology();
    let one = |s: &AnsweredMode| {
        let p = &s.posture;
        let (gap_m, gap_rad) = p.gap(model);
        let mut entry = json!({ "name": p.mode().name(t) });
        for (part, coords) in [("active", &t.active), ("passive", &t.passive)] {
            entry[part] = json!({ "q": p.joints(model, coords) });
            if let Some(motion) = &s.motion {
                entry[part]["qd"] = coords.iter().map(|c| motion.rates[*c]).collect();
                entry[part]["qdd"] = coords.iter().map(|c| motion.accels[*c]).collect();
            }
        }
        entry["residual"] = json!(gap_m.max(gap_rad));
        if let Some(m) = &s.matrices {
            let list = named(m, s.motion.is_some()).into_iter();
            let list = list.map(|(name, _, entry)| (name.to_owned(), entry.map_or(Value::Null, |e| e.json())));
            entry["matrices"] = Value::Object(list.collect::<Map<String, Value>>());
            entry["redundancy"] = json!(redundancy(m.redundancy));
            let names = m.passive.iter().map(|c| t.coords[*c].name.clone());
            entry["passive_of_matrices"] = names.collect();
        }
        entry
    };
    let modes: Vec<Value> = states.iter().map(one).collect();
    json!({
        "robot": t.name,
        "pose": pose_json(model, states[0].posture.pose()),
        "active": modes[0]["active"],
        "passive": modes[0]["passive"],
        "working_mode": modes[0]["name"],
        "residual": modes[0]["residual"],
        "components": component_names(model),
        "twist": asked.twist,
        "acceleration": asked.acceleration,
        "active_joints": t.active_names(),
        "passive_joints": t.passive_names(),
        "working_modes": modes,
    })
}

fn text(robot: &Robot, states: &[AnsweredMode], asked: &MotionAsked) -> String {
    let model = robot.model();
    let t = model.topology();
    let names = component_names(model);
    let list = |x: &[f64]| {
        let turns = |c: &gough::description::Coordinate| c.is_angle();
        let kinds = t.platform.independent.iter().map(turns);
        let shown = x.iter().zip(kinds).map(|(x, turns)| if turns { angles::shown(*x) } else { *x });
        let parts: Vec<String> = names.iter().zip(shown).map(|(n, x)| format!("{n} = {x}")).collect();
        parts.join("  ")
    };
    let mut out = String::new();
    for s in states {
        let _ = writeln!(out, "{} at {}", t.name, pose_text(model, s.posture.pose()));
        let _ = writeln!(out, "working mode {}", s.posture.mode().name(t));
        if let Some(twist) = &asked.twist {
            let _ = writeln!(out, "twist {}", list(twist));
        }
        if let Some(acceleration) = &asked.acceleration {
            let _ = writeln!(out, "acceleration {}", list(acceleration));
        }
        let heads =
            if s.motion.is_some() { format!("{:>15}{:>15}{:>15}", "q", "qd", "qdd") } else { format!("{:>15}", "q") };
        let _ = writeln!(out, "\n{:18}{heads}", "");
        for (part, coords) in [("active", &t.active), ("passive", &t.passive)] {
            for c in coords {
                let q = s.posture.joints(model, &[*c])[0];
                let mut row = format!("{part:8} {:<9} {}", format!("q{}", t.coords[*c].name), joint_text(model, *c, q));
                if let Some(motion) = &s.motion {
                    for x in [motion.rates[*c], motion.accels[*c]] {
                        let _ = write!(row, " {}", joint_text(model, *c, x));
                    }
                }
                let _ = writeln!(out, "{row}");
            }
        }
        if let Some(m) = &s.matrices {
            matrices_text(robot, m, s.motion.is_some(), &mut out);
        }
        out.push('\n');
    }
    let _ = writeln!(out, "angles in {}, lengths in m", angles::unit());
    out
}

fn matrices_text(robot: &Robot, s: &StateMatrices, moves: bool, out: &mut String) {
    let t = robot.model().topology();
    let joints =
        |list: &[CoordId]| list.iter().map(|c| format!("q{}", t.coords[*c].name)).collect::<Vec<_>>().join(" ");
    let _ = writeln!(
        out,
        "\nt_p = vx vy vz wx wy wz;  t_r = {};  q_a = {}",
        component_names(robot.model()).join(" "),
        joints(&t.active)
    );
    let _ = writeln!(out, "q_d = {};  redundancy: {}", joints(&s.passive), redundancy(s.redundancy));
    for (name, equation, entry) in named(s, moves) {
        let Some(entry) = entry else {
            let _ = writeln!(out, "\n{name} does not exist here ({equation}): the posture is singular");
            continue;
        };
        let size = match &entry {
            MatrixOrBias::Matrix(m) => format!("{} x {}", m.rows, m.cols),
            MatrixOrBias::Bias(x) => format!("{}", x.len()),
        };
        let _ = writeln!(out, "\n{name}  ({size})  {equation}");
        entry.rows().iter().for_each(|row| {
            let _ = writeln!(out, "  {row}");
        });
    }
}
