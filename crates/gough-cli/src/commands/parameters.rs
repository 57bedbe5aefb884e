//! `gough parameters`: which dynamic parameters efforts depend on, and in which groups.

use crate::ask::one_mode;
use crate::ask::{self, RobotChoice};
use crate::commands::dynamics_text::assumed_text;
use crate::commands::motion::components;
use crate::failure::Failure;
use crate::output::Output;
use crate::states::component_names;
use clap::Args;
use gough::Robot;
use gough::dynamics::Sign;
use gough::identification::{BaseParameters, base_parameters};
use gough::question::RegressorAnswer;
use serde_json::json;
use std::fmt::Write as _;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Leave friction out: masses, first moments, inertias and rotors only
    #[arg(long)]
    without_friction: bool,
    /// Seed of the random states; the groups do not depend on it
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Print the regressor of a motion instead: efforts of the drives for a unit of each parameter
    #[arg(long, requires = "pose")]
    regressor: bool,
    /// Platform pose of the regressor: x=0.05,y=0.25
    #[arg(long, value_name = "COORDINATES", requires = "regressor", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Platform twist; what is left out is zero
    #[arg(long, value_name = "COMPONENTS", requires = "regressor", allow_hyphen_values = true)]
    twist: Option<String>,
    /// Platform acceleration; what is left out is zero
    #[arg(long, value_name = "COMPONENTS", requires = "regressor", allow_hyphen_values = true)]
    acceleration: Option<String>,
    /// Smooth the direction of friction over this rate, rad/s or m/s
    #[arg(long, value_name = "WIDTH", requires = "regressor", allow_negative_numbers = true)]
    friction_width: Option<f64>,
    /// Working mode of the regressor; by default that of the file
    #[arg(long, value_name = "MODE", requires = "regressor", allow_hyphen_values = true)]
    mode: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let robot = arguments.subject.load(&arguments.output)?;
    let answer = || {
        if arguments.regressor {
            return print_regressor(&robot, arguments);
        }
        let found = base_parameters(&robot, !arguments.without_friction, arguments.seed)
            .map_err(|why| Failure::No("parameters", why.to_string()))?;
        arguments.output.give(|| json!(found), || text(&found))
    };
    answer().map_err(|why: Failure| why.of(&robot.model().topology().name))
}

fn text(found: &BaseParameters) -> String {
    let mut out = format!(
        "{}: {} standard parameters, {} without effect, {} base parameters\n",
        found.robot,
        found.standard.len(),
        found.no_effect.len(),
        found.base_count
    );
    let (alone, grouped): (Vec<_>, Vec<_>) = found.base.iter().partition(|b| b.coefficients.len() == 1);
    out.push_str("\nidentifiable in groups\n");
    for b in grouped {
        let _ = writeln!(out, "  {} = {}   ({:.6} {})", b.name, b.group, b.value, b.unit);
    }
    out.push_str("\nidentifiable alone\n");
    wrap(&mut out, alone.iter().map(|b| b.name.as_str()));
    out.push_str("\nonly in groups of others\n");
    wrap(&mut out, found.dependent.iter().map(|d| d.name.as_str()));
    out.push_str("\nwithout effect\n");
    wrap(&mut out, found.no_effect.iter().map(String::as_str));
    let _ = writeln!(
        out,
        "\nmargins: base parameters keep {:.1e} of their columns or more, the others {:.1e} or less",
        found.smallest_kept, found.largest_dropped
    );
    out
}

/// Names on lines of readable length.
fn wrap<'a>(out: &mut String, names: impl Iterator<Item = &'a str>) {
    let mut line = String::new();
    for name in names {
        if line.len() + name.len() > 100 {
            let _ = writeln!(out, "{line}");
            line.clear();
        }
        let _ = write!(line, "  {name}");
    }
    let _ = writeln!(out, "{}", if line.is_empty() { "  none" } else { &line });
}

fn print_regressor(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let model = robot.model();
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let pose = arguments.pose.as_deref().map_or(Ok(*robot.home().pose()), |p| ask::pose(model, p))?;
    let rest = vec![0.0; component_names(model).len()];
    let given =
        |text: &Option<String>, option| text.as_deref().map_or(Ok(rest.clone()), |t| components(robot, t, option));
    let (twist, acceleration) =
        (given(&arguments.twist, "--twist")?, given(&arguments.acceleration, "--acceleration")?);
    let sign = match arguments.friction_width {
        None => Sign::Sharp,
        Some(width) if width > 0.0 && width.is_finite() => Sign::Smooth(width),
        Some(width) => return Err(Failure::Usage(format!("--friction-width is {width}, not a positive rate"))),
    };
    let friction = (!arguments.without_friction).then_some(sign);
    let found = robot.regressor(&pose, &mode, (&twist, &acceleration), friction).map_err(Failure::in_mode)?;
    arguments.output.give(|| json!(found), || table(robot, &found))
}

fn table(robot: &Robot, found: &RegressorAnswer) -> String {
    let mut out = format!("{:14}", "parameter");
    found.active_joints.iter().for_each(|n| {
        let _ = write!(out, "{:>16}", format!("tau_{n}"));
    });
    out.push('\n');
    for (j, (name, unit)) in found.columns.iter().zip(&found.units).enumerate() {
        if found.regressor.iter().all(|row| row[j] == 0.0) {
            continue;
        }
        let _ = write!(out, "{name:14}");
        found.regressor.iter().for_each(|row| {
            let _ = write!(out, "{:>16.9}", row[j]);
        });
        let _ = writeln!(out, "   per {unit}");
    }
    out.push_str("parameters with no effect here are left out\n");
    out + &assumed_text(robot, found.assumed.as_ref())
}
