//! `gough frequencies --method cartesian`, and both methods side by side.

use crate::ask;
use crate::commands::frequencies::{Arguments, sensitivity_text};
use crate::failure::Failure;
use crate::loads;
use crate::states::pose_text;
use clap::{Args, ValueEnum};
use gough::Robot;
use gough::description::{RodInertia, VirtualTwists};
use gough::elastodynamics::cartesian::{Choices, PartShare};
use gough::question::{CartesianAnswer, Frequencies, MethodComparison};
use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Instant;

/// How frequencies are found.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FrequencyMethod {
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
enum VirtualChoice {
    /// The constraint wrenches read as motions, where the leg holds the platform
    Attached,
    /// The constraint wrenches read as motions, at the platform origin in SI units
    Null,
    /// Turned so that the wrench of the leg's last joint is a pure force
    Pure,
}

/// Options of the Cartesian method, of `frequencies` and of `map`.
#[derive(Args)]
pub struct CartesianOptions {
    /// How frequencies are found
    #[arg(long, value_name = "WHICH", default_value = "full")]
    pub method: FrequencyMethod,
    /// cartesian: inertia of the rods of parallelograms; that of the file unless given, else exact
    #[arg(long, value_name = "HOW")]
    rods: Option<Rods>,
    /// cartesian: motions against the constraints of a leg; that of the file unless given, else attached
    #[arg(long = "virtual", value_name = "HOW")]
    virtual_twists: Option<VirtualChoice>,
}

impl CartesianOptions {
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
                VirtualChoice::Attached => VirtualTwists::Attached,
                VirtualChoice::Null => VirtualTwists::Null,
                VirtualChoice::Pure => VirtualTwists::Pure,
            }),
        }
    }

    /// Options that mean nothing for the full method.
    pub fn idle(&self) -> Option<&'static str> {
        match (self.method, &self.rods, &self.virtual_twists) {
            (FrequencyMethod::Full, Some(_), _) => Some("--rods"),
            (FrequencyMethod::Full, _, Some(_)) => Some("--virtual"),
            _ => None,
        }
    }
}

pub fn answer(
    robot: &Robot,
    asked: Frequencies<'_>,
    home: &[(&'static str, f64)],
    arguments: &Arguments,
) -> Result<(), Failure> {
    for (given, option) in [(arguments.modes, "--modes"), (arguments.reduce.is_some(), "--reduce")] {
        if given {
            return Err(Failure::Usage(format!("{option} is for --method full; leave it out")));
        }
    }
    let choices = arguments.cartesian.choices(robot, arguments.actuators.of());
    let asked = asked.cartesian().rods(choices.rods).virtual_twists(choices.virtual_twists);
    let load = arguments.wrench.as_deref().map(|w| loads::on_platform(robot.model(), w)).transpose()?;
    let asked = if let Some(load) = load { asked.wrench(load.1) } else { asked };
    let asked = if arguments.compare.is_some() { asked.compared(seconds) } else { asked };
    let found = asked.answer().map_err(Failure::in_mode)?;
    arguments.output.give(|| ask::with_home(home, &found), || text(robot, &found) + &ask::home_text(home))
}

/// Seconds since some instant.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

fn text(robot: &Robot, found: &CartesianAnswer) -> String {
    let report = &found.report;
    let mut out = format!("{} at {}, Cartesian method\n", found.robot, pose_text(robot.model(), &found.pose.pose()));
    let _ = writeln!(
        out,
        "working mode {}, drives {}, rods {}, virtual joints {}; {} motions of the platform give way",
        found.working_mode, report.actuators, report.rods, report.virtual_twists, report.freedoms
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
    if let Some(c) = &found.compare {
        compared_text(&mut out, c);
    }
    if let Some(list) = &found.sensitivities {
        sensitivity_text(&mut out, list, report.frequencies_hz.len());
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

fn compared_text(out: &mut String, c: &MethodComparison) {
    let _ = writeln!(
        out,
        "\n{:>4}{:>14}{:>14}{:>12}{:>8}{:>8}",
        "mode", "cartesian Hz", "full Hz", "difference", "MAC", "share"
    );
    for p in &c.modes {
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
    let [own, full] = [c.seconds.cartesian, c.seconds.full].map(|s| 1e6 * s);
    let _ = writeln!(out, "time of a posture: Cartesian {own:.1} µs, full {full:.1} µs");
}
