//! `gough frequencies --method cartesian`, and both methods side by side.

use crate::commands::frequencies::Arguments;
use crate::failure::Failure;
use crate::loads;
use crate::states::{pose_json, pose_text};
use clap::{Args, ValueEnum};
use gough::Robot;
use gough::description::{RodInertia, VirtualTwists};
use gough::elastodynamics::cartesian::{Cartesian, CartesianReport, Choices, ModePair, PartShare, compare};
use gough::elastodynamics::{Sensitivity, Vibration};
use gough::kinematics::Posture;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Instant;

/// How frequencies are found.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Beams and modal bodies with all their motions
    Full,
    /// Inertia of the rigid motion, stiffness of drives, joints and links at the platform, one 6x6 problem
    Cartesian,
}

/// Inertia of the rods of parallelograms.
#[derive(Clone, Copy, ValueEnum)]
enum Rods {
    /// Every rod between its own two ends
    Exact,
    /// All of it with the body at the end of the parallelogram
    Lumped,
}

/// Motions against the constraints of a leg.
#[derive(Clone, Copy, ValueEnum)]
enum Virtual {
    /// The constraint wrenches read as motions, where the leg holds the platform
    Attached,
    /// The constraint wrenches read as motions, at the platform origin in SI units
    Null,
    /// Turned so that the wrench of the leg's last joint is a pure force
    Pure,
}

/// Options of the Cartesian method, of `frequencies` and of `map`.
#[derive(Args)]
pub struct Options {
    /// How frequencies are found
    #[arg(long, value_name = "WHICH", default_value = "full")]
    pub method: Method,
    /// cartesian: inertia of the rods of parallelograms; that of the file unless given, else exact
    #[arg(long, value_name = "HOW")]
    rods: Option<Rods>,
    /// cartesian: motions against the constraints of a leg; that of the file unless given, else attached
    #[arg(long = "virtual", value_name = "HOW")]
    virtual_twists: Option<Virtual>,
}

impl Options {
    /// The choices of a question: those of the file unless the command line has others.
    pub fn choices(&self, robot: &Robot, actuators: gough::elastodynamics::Actuators) -> Choices {
        let of_file = Choices::of(robot.model());
        Choices {
            actuators,
            rods: self.rods.map_or(of_file.rods, |r| match r {
                Rods::Exact => RodInertia::Exact,
                Rods::Lumped => RodInertia::Lumped,
            }),
            virtual_twists: self.virtual_twists.map_or(of_file.virtual_twists, |v| match v {
                Virtual::Attached => VirtualTwists::Attached,
                Virtual::Null => VirtualTwists::Null,
                Virtual::Pure => VirtualTwists::Pure,
            }),
        }
    }

    /// Options that mean nothing for the full method.
    pub fn idle(&self) -> Option<&'static str> {
        match (self.method, &self.rods, &self.virtual_twists) {
            (Method::Full, Some(_), _) => Some("--rods"),
            (Method::Full, _, Some(_)) => Some("--virtual"),
            _ => None,
        }
    }
}

/// Both methods, and how long each took.
struct Compared {
    pairs: Vec<ModePair>,
    seconds: [f64; 2],
}

pub fn answer(robot: &Robot, posture: &Posture, arguments: &Arguments) -> Result<(), Failure> {
    for (given, option) in [(arguments.modes, "--modes"), (arguments.reduce.is_some(), "--reduce")] {
        if given {
            return Err(Failure::Usage(format!("{option} is for --method full; leave it out")));
        }
    }
    let model = robot.model();
    let load = arguments.wrench.as_deref().map(|w| loads::on_platform(model, w)).transpose()?;
    let count = arguments.count(6)?;
    let mut c = Cartesian::new(model, robot.home(), arguments.cartesian.choices(robot, arguments.actuators.of()))?;
    c.take_posture(posture)?;
    let report = CartesianReport::new(&c, load.map(|l| l.1), count)?;
    let compared = arguments.compare.map(|_| both(robot, &mut c, posture, &report, arguments)).transpose()?;
    let mut sensitivities = if arguments.sensitivity { c.sensitivities(posture.mode())? } else { Vec::new() };
    let effect = |s: &Sensitivity| percent(s, &report).iter().fold(0.0_f64, |most, e| most.max(e.abs()));
    sensitivities.iter_mut().for_each(|s| s.slopes.truncate(report.frequencies_hz.len()));
    sensitivities.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    arguments.output.give(
        || document(robot, posture, &report, &sensitivities, compared.as_ref()),
        || text(robot, posture, &report, &sensitivities, compared.as_ref()),
    )
}

/// Both methods at a posture, each with its plan made and timed from there.
fn both(
    robot: &Robot,
    c: &mut Cartesian<'_>,
    posture: &Posture,
    report: &CartesianReport,
    arguments: &Arguments,
) -> Result<Compared, Failure> {
    let mut v = Vibration::new(robot.model(), robot.home(), arguments.actuators.of())?;
    let start = Instant::now();
    v.take_posture(posture)?;
    v.lowest(report.frequencies_hz.len().min(v.modes()))?;
    let full = start.elapsed().as_secs_f64();
    let start = Instant::now();
    c.take_posture(posture)?;
    let unloaded = c.flexible(None)?;
    let own = start.elapsed().as_secs_f64();
    let modes: Vec<([f64; 6], f64)> =
        unloaded.twists.into_iter().zip(unloaded.hz).take(report.frequencies_hz.len()).collect();
    Ok(Compared { pairs: compare(c, &modes, &mut v)?, seconds: [own, full] })
}

fn percent(s: &Sensitivity, report: &CartesianReport) -> Vec<f64> {
    let effect = |(slope, hz): (&f64, &f64)| if *hz > 0.0 { slope * s.value / hz } else { 0.0 };
    s.slopes.iter().zip(&report.frequencies_hz).map(effect).collect()
}

fn document(
    robot: &Robot,
    posture: &Posture,
    report: &CartesianReport,
    sensitivities: &[Sensitivity],
    compared: Option<&Compared>,
) -> Value {
    let t = robot.model().topology();
    let mut value = serde_json::to_value(report).unwrap_or_default();
    value["robot"] = json!(t.name);
    value["pose"] = pose_json(robot.model(), posture.pose());
    value["working_mode"] = json!(posture.mode().name(t));
    if !sensitivities.is_empty() {
        let one = |s: &Sensitivity| {
            json!({
                "parameter": s.parameter,
                "value": s.value,
                "hz_per_unit": s.slopes,
                "percent_per_percent": percent(s, report),
            })
        };
        value["sensitivities"] = sensitivities.iter().map(one).collect();
    }
    if let Some(c) = compared {
        value["compare"] = json!({
            "modes": c.pairs,
            "seconds": { "cartesian": c.seconds[0], "full": c.seconds[1] },
        });
    }
    value
}

fn text(
    robot: &Robot,
    posture: &Posture,
    report: &CartesianReport,
    sensitivities: &[Sensitivity],
    compared: Option<&Compared>,
) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}, Cartesian method\n", t.name, pose_text(model, posture.pose()));
    let _ = writeln!(
        out,
        "working mode {}, drives {}, rods {}, virtual joints {}; {} motions of the platform give way",
        posture.mode().name(t),
        report.actuators,
        report.rods,
        report.virtual_twists,
        report.freedoms
    );
    modes_text(&mut out, "links rigid, drives alone", &report.rigid_hz, &report.rigid_eigentwists);
    modes_text(&mut out, "drives, joints and links", &report.frequencies_hz, &report.eigentwists);
    report.warnings.iter().for_each(|w| {
        let _ = writeln!(out, "  {w}");
    });
    matrix_text(&mut out, "M", &report.M);
    matrix_text(&mut out, "K_R, drives alone", &report.K_R);
    matrix_text(&mut out, "K_F", &report.K_F);
    if report.K_G.iter().flatten().any(|x| *x != 0.0) {
        matrix_text(&mut out, "K_G, of the load", &report.K_G);
    }
    parts_text(&mut out, &report.parts);
    if let Some(c) = compared {
        compared_text(&mut out, c);
    }
    if !sensitivities.is_empty() {
        sensitivity_text(&mut out, sensitivities, report);
    }
    out
}

const TWIST: [&str; 6] = ["vx", "vy", "vz", "wx", "wy", "wz"];

fn modes_text(out: &mut String, title: &str, hz: &[f64], twists: &[[f64; 6]]) {
    if hz.is_empty() {
        return;
    }
    let heads: String = TWIST.iter().map(|h| format!("{h:>10}")).collect();
    let _ = writeln!(out, "\n{title:<28}{:>10}{heads}", "Hz");
    for (k, (f, t)) in hz.iter().zip(twists).enumerate() {
        let number = if *f > 0.0 { format!("{f:>10.4}") } else { format!("{:>10}", "free") };
        let parts: String = t.iter().map(|x| format!("{x:>10.4}")).collect();
        let _ = writeln!(out, "{:>28}{number}{parts}", k + 1);
    }
}

fn matrix_text(out: &mut String, title: &str, matrix: &[[f64; 6]; 6]) {
    let _ = writeln!(out, "\n{title}, [v; w] at the platform origin, world axes");
    for row in matrix {
        let cells: String = row.iter().map(|x| format!("{:>14}", short(*x))).collect();
        let _ = writeln!(out, "{cells}");
    }
}

fn short(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { format!("{x:.6e}") }
}

fn parts_text(out: &mut String, parts: &[PartShare]) {
    let modes = parts.first().map_or(0, |p| p.modes.len());
    let heads: String = (1..=modes).map(|k| format!("{:>9}", format!("mode {k}"))).collect();
    let _ = writeln!(out, "\nwhat gives way, per cent of the elastic energy");
    let _ = writeln!(out, "{:<24}{:<8}{heads}{:>14}{:>14}{:>14}", "", "", "x (m/N)", "y (m/N)", "z (m/N)");
    for p in parts {
        let shares: String = p.modes.iter().map(|x| format!("{:>9.2}", 100.0 * x)).collect();
        let gives: String = p.compliance[..3].iter().map(|x| format!("{:>14}", short(*x))).collect();
        let _ = writeln!(out, "{:<24}{:<8}{shares}{gives}", p.of, p.kind);
    }
}

fn compared_text(out: &mut String, c: &Compared) {
    let _ = writeln!(
        out,
        "\n{:>4}{:>14}{:>14}{:>12}{:>8}{:>8}",
        "mode", "cartesian Hz", "full Hz", "difference", "MAC", "share"
    );
    for p in &c.pairs {
        let _ = writeln!(
            out,
            "{:>4}{:>14.4}{:>14.4}{:>11.3} %{:>8.4}{:>8.3}  mode {} of the full method",
            p.mode,
            p.cartesian_hz,
            p.full_hz,
            100.0 * p.difference,
            p.mac,
            p.share,
            p.full_mode
        );
    }
    let [own, full] = c.seconds.map(|s| 1e6 * s);
    let _ = writeln!(out, "time of a posture: Cartesian {own:.1} µs, full {full:.1} µs");
}

fn sensitivity_text(out: &mut String, list: &[Sensitivity], report: &CartesianReport) {
    let shown = report.frequencies_hz.len().min(6);
    let _ = writeln!(out, "\nper cent of each frequency per per cent of a parameter, largest effect first");
    let heads: String = (1..=shown).map(|k| format!("{:>10}", format!("f{k}"))).collect();
    let _ = writeln!(out, "{:<16}{:>14}{heads}{:>16}", "", "value", "df1/dp");
    for s in list {
        let effects: String = percent(s, report)[..shown].iter().map(|e| format!("{e:>10.4}")).collect();
        let _ = writeln!(out, "{:<16}{:>14.6e}{effects}{:>16.6e}", s.parameter, s.value, s.slopes[0]);
    }
}
