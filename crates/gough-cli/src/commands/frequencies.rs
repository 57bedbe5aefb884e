//! `gough frequencies`: natural frequencies, modes and what they depend on.

use crate::angles::Angles;
use crate::ask::{self, RobotChoice};
use crate::commands::cartesian::{self, FrequencyMethod};
use crate::failure::Failure;
use crate::output::Output;
use crate::states::{left_out_text, pose_text};
use clap::{Args, ValueEnum};
use gough::elastodynamics::{DriveElasticity, DriveUse, RotorMotion};
use gough::question::{FrequencyAnswer, FrequencySensitivity, ModeAnswer, PlaceMotion, ReducedAnswer, SliderPlace};
use gough::{Actuators, Robot};
use std::fmt::Write as _;

/// What the drives do.
#[derive(Clone, Copy, ValueEnum)]
pub enum DriveChoice {
    /// Held joints do not move
    Locked,
    /// Held joints give way by the stiffness of their transmissions and servo loops, where the file has them
    Elastic,
    /// Driven joints move freely, with their rotors
    Free,
}

impl DriveChoice {
    pub fn of(self) -> Actuators {
        match self {
            DriveChoice::Locked => Actuators::Locked,
            DriveChoice::Elastic => Actuators::Elastic,
            DriveChoice::Free => Actuators::Free,
        }
    }
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Platform pose, all its coordinates: x=0,y=0,phi=-60deg; the home pose unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// How many frequencies, from the lowest, or `all`
    #[arg(long, value_name = "NUMBER", default_value = "10")]
    count: String,
    /// What the drives do
    #[arg(long, value_name = "WHAT", default_value = "elastic")]
    pub actuators: DriveChoice,
    #[command(flatten)]
    pub cartesian: cartesian::CartesianOptions,
    /// cartesian: the full method beside it, mode by mode
    #[arg(long, value_name = "full")]
    pub compare: Option<Compare>,
    /// cartesian: dead load on the platform, in world axes: fz=-50,mx=1
    #[arg(long, value_name = "COMPONENTS", allow_hyphen_values = true)]
    pub wrench: Option<String>,
    /// Shapes of the modes: displacement of every node, in world axes
    #[arg(long)]
    pub modes: bool,
    /// Derivatives of the frequencies by every parameter of the file, the pose staying the same
    #[arg(long)]
    pub sensitivity: bool,
    /// Reduce every leg to its static behaviour and this many of its own modes, and say what that costs in accuracy
    #[arg(long, value_name = "MODES")]
    pub reduce: Option<usize>,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    pub output: Output,
}

/// What the Cartesian method is compared with.
#[derive(Clone, Copy, ValueEnum)]
pub enum Compare {
    /// The full method
    Full,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let robot = arguments.subject.load(&arguments.output)?;
    answer(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let model = robot.model();
    let pose = arguments.pose.as_deref().map_or(Ok(*robot.home().pose()), |text| ask::pose(model, text))?;
    let home = arguments.pose.as_deref().map_or(Ok(Vec::new()), |p| ask::from_home(model, p))?;
    let asked = robot.frequencies(&pose).mode(&ask::one_mode(robot, arguments.mode.as_deref())?);
    let asked = asked.count(count(&arguments.count)?).actuators(arguments.actuators.of());
    let asked = if arguments.sensitivity { asked.sensitivities() } else { asked };
    if arguments.cartesian.method == FrequencyMethod::Cartesian {
        return cartesian::answer(robot, asked, &home, arguments);
    }
    let idle = arguments.cartesian.idle();
    let idle = idle.or(arguments.compare.map(|_| "--compare")).or(arguments.wrench.as_ref().map(|_| "--wrench"));
    if let Some(option) = idle {
        return Err(Failure::Usage(format!("{option} is for --method cartesian; give that too, or leave it out")));
    }
    let asked = if arguments.modes { asked.shapes() } else { asked };
    let asked = if let Some(n) = arguments.reduce { asked.reduced(n) } else { asked };
    let found = asked.answer().map_err(Failure::in_mode)?;
    let document = || ask::with_home(&home, &found);
    arguments.output.give(document, || text(robot, &found) + &ask::home_text(&home))
}

fn count(text: &str) -> Result<usize, Failure> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n),
        _ if text == "all" => Ok(usize::MAX),
        _ => Err(Failure::Usage(format!("--count takes a number above zero, or `all`, not `{text}`"))),
    }
}

fn text(robot: &Robot, found: &FrequencyAnswer) -> String {
    let mut out = format!("{} at {}\n", found.robot, pose_text(robot.model(), &found.pose.pose()));
    let (mode, drives, dof) = (&found.working_mode, found.actuators, found.dof);
    let _ = writeln!(out, "working mode {mode}, drives {drives}, {dof} degrees of freedom");
    drives_text(&mut out, &found.drives);
    for SliderPlace { joint, beam, along, length, .. } in &found.sliders {
        let _ = writeln!(out, "`{joint}` slides on beam {beam} and stands at {along:.6} of {length:.6} m");
    }
    if !found.massless.is_empty() {
        let _ = writeln!(out, "without mass, condensed: {}", found.massless.join(", "));
    }
    for (body, arm) in &found.arms {
        let _ = writeln!(out, "beam {body} carries something {arm:.4} m beside it, by a rigid arm");
    }
    let lines: Vec<[String; 3]> = found.modes.iter().enumerate().map(|(k, m)| mode_line(m, k)).collect();
    let width = lines.iter().map(|l| l[1].chars().count()).max().unwrap_or(0).max(14);
    let _ = writeln!(out, "\n{:>4} {:>14}  {:<width$}  kinetic energy", "", "Hz", "elastic energy");
    for [number, elastic, kinetic] in &lines {
        let _ = writeln!(out, "{}", format!("{number}  {elastic:<width$}  {kinetic}").trim_end());
    }
    let twins = found.modes.iter().any(|m| m.multiplicity > 1);
    if twins {
        out.push_str("   = equal frequencies: any mixture of their shapes is a mode; the energies are means\n");
    }
    if let Some(r) = &found.reduced {
        reduced_text(&mut out, r);
    }
    if let Some(list) = &found.sensitivities {
        sensitivity_text(&mut out, list, found.frequencies_hz.len());
        if twins {
            out.push_str(
                "equal frequencies (=) part when a parameter changes: their slopes are those of the branches\n",
            );
        }
    }
    for (k, mode) in found.modes.iter().enumerate() {
        mode.shape.iter().for_each(|shape| shape_text(&mut out, k, mode.frequency_hz, shape));
    }
    out + &left_out_text(&found.left_out)
}

/// How elastic drives were taken, those alike in one line.
fn drives_text(out: &mut String, drives: &[DriveUse]) {
    let elastic: Vec<&DriveUse> = drives.iter().filter(|d| d.gives != DriveElasticity::Rigid).collect();
    let mut kinds: Vec<(DriveElasticity, RotorMotion)> = elastic.iter().map(|d| (d.gives, d.rotor)).collect();
    kinds.dedup();
    for kind in kinds {
        let alike: Vec<&&DriveUse> = elastic.iter().filter(|d| (d.gives, d.rotor) == kind).collect();
        let joints: Vec<&str> = alike.iter().map(|d| d.joint.as_str()).collect();
        let _ = writeln!(out, "drives of {}: {}", joints.join(", "), alike[0].words());
    }
}

/// Number and frequency, where the elastic energy is by kind and body, and where the kinetic energy is.
fn mode_line(mode: &ModeAnswer, k: usize) -> [String; 3] {
    let stores = mode.kind == "vibration";
    let number = if stores { format!("{:>14.6}", mode.frequency_hz) } else { format!("{:>14}", mode.kind) };
    let list = |parts: &mut dyn Iterator<Item = (String, f64)>, least: f64| {
        let shown = parts.filter(|x| x.1 > least).take(4).map(|(name, x)| format!("{name} {:.0} %", 100.0 * x));
        shown.collect::<Vec<_>>().join(", ")
    };
    let kinds = || list(&mut mode.by_kind().into_iter(), 0.005);
    let bodies = || list(&mut mode.by_body().into_iter(), 0.05);
    let elastic = if stores { format!("{}: {}", kinds(), bodies()) } else { String::new() };
    let mark = if mode.multiplicity > 1 { "=" } else { " " };
    let kinetic = list(&mut mode.kinetic_energy.iter().map(|e| (e.of.clone(), e.share)), 0.05);
    [format!("{:>4}{mark}{number}", k + 1), elastic, kinetic]
}

fn reduced_text(out: &mut String, r: &ReducedAnswer) {
    let _ = writeln!(out, "\nlegs reduced: {} degrees of freedom left", r.dof);
    for (k, (f, e)) in r.frequencies_hz.iter().zip(&r.relative_errors).enumerate() {
        let _ = writeln!(out, "{:>4} {f:>14.6}  {:+.2e} of the full model", k + 1, e);
    }
}

/// Slopes of the first six of so many frequencies.
pub fn sensitivity_text(out: &mut String, list: &[FrequencySensitivity], count: usize) {
    let shown = count.min(6);
    let _ = writeln!(out, "\nper cent of each frequency per per cent of a parameter, largest effect first");
    let heads: String = (1..=shown).map(|k| format!("{:>10}", format!("f{k}"))).collect();
    let _ = writeln!(out, "{:<16}{:>14}{heads}{:>16}", "", "value", "df1/dp");
    for s in list {
        let effects: String = s.percent_per_percent.iter().take(shown).map(|e| format!("{e:>10.4}")).collect();
        let first = s.hz_per_unit.first().copied().unwrap_or_default();
        let _ = writeln!(out, "{:<16}{:>14.6e}{effects}{first:>16.6e}", s.parameter, s.value);
    }
}

fn shape_text(out: &mut String, k: usize, hz: f64, shape: &[PlaceMotion]) {
    let _ = writeln!(out, "\nshape of mode {} ({hz:.6} Hz), in world axes, one unit of modal mass", k + 1);
    let heads: String = ["ux", "uy", "uz", "rx", "ry", "rz"].iter().map(|h| format!("{h:>12}")).collect();
    let _ = writeln!(out, "{:<14}{:>10}{:>10}{:>10}{heads}", "", "x", "y", "z");
    for place in shape {
        let at: String = place.position.iter().map(|x| format!("{x:>10.4}")).collect();
        let moved: String = place.motion.iter().map(|x| format!("{x:>12.4e}")).collect();
        let _ = writeln!(out, "{:<14}{at}{moved}", place.of);
    }
}
