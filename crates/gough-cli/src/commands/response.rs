//! `gough response`: how the platform answers to a force over frequency, and its compliance at rest.

use crate::ask::{self, RobotChoice, one_mode};
use crate::failure::Failure;
use crate::output::{Files, Output};
use crate::plot::{self, Chart, Series, Style};
use crate::states::pose_text;
use clap::{Args, ValueEnum};
use gough::Robot;
use gough::question::{FrequencyResponse, ResponseKind};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What is compared with the force.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResponseChoice {
    /// Displacement per force
    Receptance,
    /// Velocity per force
    Mobility,
    /// Acceleration per force
    Accelerance,
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Platform pose, all its coordinates; the home pose unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// The force, world axes: fx, fy, fz, mx, my, mz
    #[arg(long, value_name = "COMPONENT")]
    input: String,
    /// The motion that is asked for: x, y, z, rx, ry, rz
    #[arg(long, value_name = "COMPONENT")]
    output: String,
    /// Where the force acts: BODY, BODY=x:y:z in its frame, BEAM=s along a beam, BODY=NAME of a modal body; the platform unless given
    #[arg(long, value_name = "POINT", allow_hyphen_values = true)]
    input_at: Option<String>,
    /// Where the motion is looked at, written likewise; the platform unless given
    #[arg(long, value_name = "POINT", allow_hyphen_values = true)]
    output_at: Option<String>,
    /// What is compared with the force
    #[arg(long, value_enum, default_value = "receptance")]
    kind: ResponseChoice,
    /// Frequencies in Hz, FROM:TO
    #[arg(long, value_name = "FROM:TO", default_value = "1:200")]
    range: String,
    /// How many frequencies
    #[arg(long, value_name = "NUMBER", default_value_t = 2000)]
    points: usize,
    /// Around the static deflection under gravity, in place of the undeformed posture
    #[arg(long)]
    deflected: bool,
    /// Write frequency, real and imaginary part, magnitude and phase
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw the magnitude over frequency, .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print one JSON document instead of text, for failures too
    #[arg(long)]
    json: bool,
    /// Write the answer to FILE instead of standard output; without a long name, which is that of the motion here
    #[arg(short = 'o', value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Arguments {
    /// Where answers go.
    pub fn answers(&self) -> Output {
        Output { json: self.json, output: self.file.clone() }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.plot {
        plot::check(file).map_err(|e| Failure::Usage(e.to_string()))?;
    }
    let robot = arguments.subject.load(&arguments.answers())?;
    answer(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn range(arguments: &Arguments) -> Result<Vec<f64>, Failure> {
    let bad = || Failure::Usage("--range is FROM:TO in Hz, both positive, such as 1:200".to_owned());
    let (a, b) = arguments.range.split_once(':').ok_or_else(bad)?;
    let number = |x: &str| x.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0).ok_or_else(bad);
    let (a, b) = (number(a)?, number(b)?);
    if a >= b {
        return Err(bad());
    }
    if !(2..=1_000_000).contains(&arguments.points) {
        return Err(Failure::Usage("--points is a number from 2 to 1000000".to_owned()));
    }
    let n = (arguments.points - 1) as f64;
    Ok((0..arguments.points).map(|k| a * (b / a).powf(k as f64 / n)).collect())
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let model = robot.model();
    let pose = arguments.pose.as_deref().map_or(Ok(*robot.home().pose()), |p| ask::pose(model, p))?;
    let kind = match arguments.kind {
        ResponseChoice::Receptance => ResponseKind::Receptance,
        ResponseChoice::Mobility => ResponseKind::Mobility,
        ResponseChoice::Accelerance => ResponseKind::Accelerance,
    };
    let asked = robot.response(&pose, &arguments.input, &arguments.output).kind(kind);
    let asked = asked.between(arguments.input_at.as_deref(), arguments.output_at.as_deref());
    let asked = asked.mode(&one_mode(robot, arguments.mode.as_deref())?);
    let asked = if arguments.deflected { asked.deflected() } else { asked };
    let found = asked.answer(&range(arguments)?).map_err(Failure::in_mode)?;
    let curve: Vec<(f64, [f64; 2])> =
        found.frequencies_hz.iter().copied().zip(found.response.iter().copied()).collect();
    let mut files = Files::default();
    if let Some(file) = &arguments.csv {
        let mut out = "hz,real,imaginary,magnitude,phase\n".to_owned();
        for (f, [re, im]) in &curve {
            let _ = writeln!(out, "{f},{re},{im},{},{}", re.hypot(*im), im.atan2(*re));
        }
        files.add(file, out.as_bytes())?;
    }
    if let Some(file) = &arguments.plot {
        files.add(file, &draw(robot, arguments, &curve, file).map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    let head = || format!("{} at {}\n", model.topology().name, pose_text(model, &pose));
    arguments.answers().give_with(files, || json!(found), || head() + &text(arguments, &found.found, &curve))
}

/// `x of 13=0.2 per fx`.
fn what_per_what(arguments: &Arguments) -> String {
    let named = |component: &str, word: &str, at: Option<&String>| {
        at.map_or_else(|| component.to_owned(), |at| format!("{component} {word} {at}"))
    };
    let output = named(&arguments.output, "of", arguments.output_at.as_ref());
    format!("{output} per {}", named(&arguments.input, "on", arguments.input_at.as_ref()))
}

fn text(arguments: &Arguments, found: &FrequencyResponse, curve: &[(f64, [f64; 2])]) -> String {
    let mut out = format!("drives held; {}\n\n", what_per_what(arguments));
    let c = found.static_compliance;
    let _ = writeln!(out, "at rest {c:.6e} per unit of force, stiffness {:.6e}", c.recip());
    let size = |x: &[f64; 2]| x[0].hypot(x[1]);
    let peak = curve.iter().max_by(|a, b| size(&a.1).total_cmp(&size(&b.1)));
    if let Some((f, x)) = peak {
        let _ = writeln!(out, "largest in the range {:.6e} at {f:.4} Hz", size(x));
    }
    let _ = writeln!(out, "\n{:>14} {:>10} {:>14}", "Hz", "damping", "residue");
    for m in found.modes.iter().take(12) {
        let _ = writeln!(out, "{:>14.6} {:>10.4} {:>14.4e}", m.hz, m.damping, m.residue);
    }
    out
}

fn draw(
    robot: &Robot,
    arguments: &Arguments,
    curve: &[(f64, [f64; 2])],
    path: &std::path::Path,
) -> Result<Vec<u8>, plot::PlotError> {
    let series = Series {
        name: what_per_what(arguments),
        style: Style::nth(0),
        points: curve.iter().map(|(f, x)| (*f, Some(x[0].hypot(x[1])))).collect(),
    };
    let chart = Chart {
        title: format!("Response of {}", robot.model().topology().name),
        x_label: "frequency (Hz)".to_owned(),
        y_label: "magnitude".to_owned(),
        y_log: true,
        series: vec![series],
        notes: Vec::new(),
    };
    plot::line_chart(&chart, path)
}
