//! `gough identify`: dynamic parameters from records.

use crate::ask::{Assigned, RobotChoice, assignments, one_mode, time};
use crate::commands::trajectory::effort_units;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::plot::{self, Chart, Colour, Series, Stroke, Style};
use crate::record;
use clap::Args;
use gough::Robot;
use gough::description::Coordinate;
use gough::dynamics::Sign;
use gough::identification::{Compared, RecordError, overlay};
use gough::kinematics::WorkingMode;
use gough::question::{Identification, IdentificationAnswer, Limits, Processing, Record, Search};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Seek a periodic motion that shows the parameters well, instead of using records
    #[arg(long, conflicts_with = "data")]
    excite: bool,
    #[command(flatten)]
    seek: Seek,
    /// Records (CSV): t, active joints q11, .. or platform x, .., efforts tau_11, ..
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<PathBuf>,
    /// Records that only check the estimates; the last fifth of every record unless given
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "data")]
    validate: Vec<PathBuf>,
    /// Efforts per ampere of drives whose currents i_11, .. are in the records: q11=0.52,q21=0.52
    #[arg(long, value_name = "GAINS", requires = "data", allow_hyphen_values = true)]
    gains: Option<String>,
    /// Frequency, in Hz, above which positions are filtered; told by their spectra unless given, 20 at most
    #[arg(long, value_name = "HERTZ", requires = "data", allow_negative_numbers = true)]
    cutoff: Option<f64>,
    /// The direction of friction is smoothed over this rate, rad/s or m/s, as in the robot or its simulation
    #[arg(long, value_name = "WIDTH", allow_negative_numbers = true)]
    friction_width: Option<f64>,
    /// Write an overlay of the robot file with the identified parameters, every body one that can exist
    #[arg(long, value_name = "FILE", requires = "data")]
    overlay: Option<PathBuf>,
    /// Draw measured and predicted efforts, and what is left, .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

/// How a motion is sought.
#[derive(Args)]
struct Seek {
    /// Where the platform may be: x=-0.1:0.1,y=0.2:0.3; a fifth of the robot around home unless given
    #[arg(long, value_name = "REGION", requires = "excite", allow_hyphen_values = true)]
    region: Option<String>,
    /// Largest speeds of drives, rad/s or m/s: q11=5,q21=5; those of the file unless given
    #[arg(long, value_name = "SPEEDS", requires = "excite")]
    speed: Option<String>,
    /// Largest accelerations of drives: q11=50,q21=50
    #[arg(long, value_name = "ACCELERATIONS", requires = "excite")]
    acceleration: Option<String>,
    /// Largest efforts of drives: q11=10,q21=10; those of the file unless given
    #[arg(long, value_name = "EFFORTS", requires = "excite")]
    effort: Option<String>,
    /// Distance from Type 2 singularities: smallest singular value of the rows of the inverse Jacobian, each of length one;
    /// half of that at home unless given, and 0.1 at most
    #[arg(long, value_name = "NUMBER", requires = "excite")]
    distance: Option<f64>,
    /// Period of the motion; 4 s unless given, or half a second per harmonic where that is more
    #[arg(long, value_name = "TIME", requires = "excite")]
    period: Option<String>,
    /// Harmonics of the series; 16 for robots with one or two freedoms and 8 for others unless given
    #[arg(long, value_name = "COUNT", requires = "excite")]
    harmonics: Option<usize>,
    /// Motions that are tried: a hundred at random, and the steps from the best of them, fewer with more than 40 parameters
    #[arg(long, value_name = "COUNT", requires = "excite", default_value_t = 1500)]
    trials: usize,
    /// The same seed gives the same motion
    #[arg(long, value_name = "NUMBER", requires = "excite", default_value_t = 1)]
    seed: u64,
    /// Write the motion as a trajectory, in 500 steps a period
    #[arg(long, value_name = "FILE", requires = "excite")]
    csv: Option<PathBuf>,
    /// How long the motion goes on in --csv, period after period; one period unless given
    #[arg(long, value_name = "TIME", requires = "csv")]
    time: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.plot {
        plot::check(file).map_err(|e| Failure::Usage(e.to_string()))?;
    }
    let inputs =
        arguments.data.iter().chain(&arguments.validate).cloned().chain([PathBuf::from(&arguments.subject.robot)]);
    let written = [("--plot", &arguments.plot), ("--overlay", &arguments.overlay), ("-o", &arguments.output.output)];
    for input in inputs {
        for (option, file) in written {
            file.as_ref().map_or(Ok(()), |file| spares(file, option, &input, "a file that is read"))?;
        }
    }
    let robot = arguments.subject.load(&arguments.output)?;
    answer(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.excite {
        return seek(robot, arguments);
    }
    if arguments.data.is_empty() {
        return Err(Failure::Usage("give records with --data, or ask for a motion with --excite".to_owned()));
    }
    let extends = arguments.overlay.as_ref().map(|path| extended(robot, arguments, path)).transpose()?;
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let cutoff = arguments.cutoff.map(|c| positive(c, "--cutoff")).transpose()?;
    let how = Processing { cutoff, sign: sign(arguments)? };
    let gains = record::gains(robot.model(), arguments.gains.as_deref())?;
    let read = |list: &[PathBuf]| -> Result<Vec<Record>, Failure> {
        list.iter().map(|path| record::read(robot.model(), path, &gains)).collect()
    };
    let (used, held) = (read(&arguments.data)?, read(&arguments.validate)?);
    let found = robot.identify(&mode, &used, &held, &how).map_err(|why| told(arguments, why))?;
    let mut files = Files::default();
    if let (Some(path), Some(extends)) = (&arguments.overlay, &extends) {
        files.add(path, overlay(robot, extends, &found.possible.values).as_bytes())?;
    }
    if let Some(path) = &arguments.plot {
        files.add(path, &draw(robot, &mode, &found.found, path).map_err(|e| Failure::Output(e.to_string()))?)?;
    }
    arguments.output.give_with(files, || json!(found), || text(&found))
}

/// A fault of the records is a wrong question; what the motion does not show is an answer.
fn told(arguments: &Arguments, why: gough::Error) -> Failure {
    let gough::Error::Record(why) = why else { return why.into() };
    let files: Vec<String> =
        arguments.data.iter().chain(&arguments.validate).map(|p| p.display().to_string()).collect();
    let message = format!("{}: {why}", files.join(", "));
    match why {
        RecordError::NotExciting { .. } | RecordError::Parameters(_) => Failure::No(why.kind(), message),
        _ => Failure::Bad(why.kind(), message),
    }
}

fn positive(x: f64, option: &str) -> Result<f64, Failure> {
    if x > 0.0 && x.is_finite() {
        Ok(x)
    } else {
        Err(Failure::Usage(format!("{option} is {x}, not a positive number")))
    }
}

fn sign(arguments: &Arguments) -> Result<Sign, Failure> {
    arguments.friction_width.map_or(Ok(Sign::Sharp), |w| positive(w, "--friction-width").map(Sign::Smooth))
}

/// How the overlay calls the robot: a shipped one by name, a file by its way from the folder of the overlay.
fn extended(robot: &Robot, arguments: &Arguments, overlay: &Path) -> Result<String, Failure> {
    let usage = |why: &str| Failure::Usage(format!("--overlay: {why}"));
    let name = &arguments.subject.robot;
    if !arguments.subject.set.is_empty() {
        return Err(usage("parameters of --set would not be in the overlay; write them into the robot file"));
    }
    if robot.model().description().extends.is_some() {
        return Err(usage(
            "the robot is an overlay itself, and no file extends one; identify the robot that it extends",
        ));
    }
    if gough::robots::text(name).is_some() {
        return Ok(name.clone());
    }
    let beyond = || usage("it extends the robot file, which must stand in the folder of the overlay or below");
    let whole = |path: &Path| path.canonicalize().map_err(|_| beyond());
    let folder = overlay.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let way = whole(Path::new(name))?;
    let way = way.strip_prefix(whole(folder)?).map_err(|_| beyond())?;
    Ok(way.to_string_lossy().replace('\\', "/"))
}

/// Limits by drive: `q11=5,q21=5`.
fn per_drive(robot: &Robot, text: Option<&str>, option: &str, list: &mut [Option<f64>]) -> Result<(), Failure> {
    let names = robot.model().topology().active_names();
    for a in text.map_or_else(|| Ok(Vec::new()), |t| assignments(t, option))? {
        let place = names.iter().position(|n| *n == a.name || Some(*n) == a.name.strip_prefix('q'));
        let Some(k) = place else {
            return Err(Failure::Usage(format!("{option}: no drive `{}`; there are q{}", a.name, names.join(", q"))));
        };
        list[k] = Some(positive(a.value, option)?);
    }
    Ok(())
}

fn limits(robot: &Robot, seek: &Seek) -> Result<Limits, Failure> {
    let mut limits = Limits::of(robot);
    if let Some(distance) = seek.distance {
        limits.distance = positive(distance, "--distance")?;
    }
    per_drive(robot, seek.speed.as_deref(), "--speed", &mut limits.speed)?;
    per_drive(robot, seek.acceleration.as_deref(), "--acceleration", &mut limits.acceleration)?;
    per_drive(robot, seek.effort.as_deref(), "--effort", &mut limits.effort)?;
    let independent = &robot.model().topology().platform.independent;
    for part in seek.region.as_deref().unwrap_or_default().split(',').filter(|p| !p.trim().is_empty()) {
        let bad = || Failure::Usage(format!("--region takes NAME=LOW:HIGH, found `{part}`"));
        let (name, ends) = part.split_once('=').ok_or_else(bad)?;
        let (low, high) = ends.split_once(':').ok_or_else(bad)?;
        let end = |text: &str| Assigned::read(name.trim(), text.trim()).map(|a| a.value).map_err(Failure::Usage);
        let place = Coordinate::named(name.trim()).and_then(|c| independent.iter().position(|i| *i == c));
        let (k, low, high) = (place.ok_or_else(bad)?, end(low)?, end(high)?);
        if !(low < high) {
            return Err(bad());
        }
        limits.region[k] = [low, high];
    }
    Ok(limits)
}

/// `--excite`.
fn seek(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let asked = &arguments.seek;
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let period = asked.period.as_deref().map(|t| positive(time(t, "--period")?, "--period")).transpose()?;
    if asked.harmonics.is_some_and(|h| !(1..=20).contains(&h)) || !(100..=1_000_000).contains(&asked.trials) {
        return Err(Failure::Usage("--harmonics takes 1 to 20, --trials 100 or more".to_owned()));
    }
    let how = Search { period, harmonics: asked.harmonics, trials: asked.trials, seed: asked.seed };
    let found =
        robot.excite(&mode, &limits(robot, asked)?, &how).map_err(|why| Failure::No("excitation", why.to_string()))?;
    let period = found.period;
    let lasts = asked.time.as_deref().map_or(Ok(period), |t| positive(time(t, "--time")?, "--time"))?;
    if lasts > 1000.0 * period {
        return Err(Failure::Usage("--time is longer than a thousand periods".to_owned()));
    }
    // At most half a million.
    #[allow(clippy::cast_possible_truncation)]
    let steps = (500.0 * lasts / period).ceil() as i32;
    let at = |i: i32| period * f64::from(i) / 500.0;
    let times: Vec<f64> = (0..=500).map(at).collect();
    let places: Vec<usize> = robot.model().topology().platform.independent.iter().map(|c| c.index()).collect();
    let mut files = Files::default();
    if let Some(path) = &asked.csv {
        let mut table = format!("t,{}\n", found.coordinates.join(","));
        for t in (0..=steps).map(at) {
            let now = found.at(t);
            let row: Vec<String> = places.iter().map(|k| now[*k][0].to_string()).collect();
            let _ = writeln!(table, "{t},{}", row.join(","));
        }
        files.add(path, table.as_bytes())?;
    }
    if let Some(path) = &arguments.plot {
        // Around their middles, so that small motions far from zero are seen.
        let series = found.coordinates.iter().zip(&places).enumerate().map(|(i, (name, k))| Series {
            name: format!("{name}, around {:.3} {}", found.middle[i], if *k > 2 { "rad" } else { "m" }),
            style: Style { stroke: Stroke::Solid, ..Style::nth(i) },
            points: times.iter().map(|t| (*t, Some(found.at(*t)[*k][0] - found.middle[i]))).collect(),
        });
        let angles = places.iter().filter(|k| **k > 2).count();
        let unit = if angles == 0 {
            "m"
        } else if angles < places.len() {
            "m, rad"
        } else {
            "rad"
        };
        let title = format!("Exciting motion of {}, condition {:.1}", found.robot, found.condition);
        let (x_label, y_label) = ("t (s)".to_owned(), format!("platform ({unit})"));
        let chart = Chart { title, x_label, y_label, y_log: false, series: series.collect(), notes: Vec::new() };
        files.add(path, &plot::line_chart(&chart, path).map_err(|e| Failure::Output(e.to_string()))?)?;
    }
    let told = || {
        let start = found.at(0.0);
        let parts = found.coordinates.iter().zip(&places).map(|(name, k)| format!("{name}={}", six(start[*k][0])));
        format!(
            "{}: a motion of {} s for {} base parameters, condition {:.1}; the median of random motions inside the same limits has {:.1}\n\
             it begins at rest at {}\n",
            found.robot,
            found.period,
            found.parameters,
            found.condition,
            found.random_median,
            parts.collect::<Vec<_>>().join(",")
        )
    };
    arguments.output.give_with(files, || json!(found), told)
}

/// Six digits, as short as they can be written.
fn six(x: f64) -> String {
    let digits = format!("{x:.5e}");
    let plain = digits.parse::<f64>().map_or_else(|_| x.to_string(), |x| x.to_string());
    if plain.len() > 12 { digits } else { plain }
}

fn text(answer: &IdentificationAnswer) -> String {
    let found = &answer.found;
    let mut out = format!(
        "{}: {} equations, condition {:.1}, positions filtered at {:.1} Hz\n\n",
        found.robot, found.equations, found.condition, found.cutoff
    );
    let _ = writeln!(out, "{:16}{:>14}{:>14}{:>10}{:>14}", "", "estimate", "deviation", "%", "file");
    for e in found.estimates.iter().filter(|e| e.significant) {
        let mark = if e.essential { " essential" } else { "" };
        let (d, percent) = (e.deviation, e.relative_deviation);
        let _ = writeln!(
            out,
            "{:16}{:>14}{d:>14.2e}{percent:>10.3}{:>14}  {}{mark}",
            e.name,
            six(e.value),
            six(e.file),
            e.unit
        );
    }
    let rest: Vec<&str> = found.estimates.iter().filter(|e| !e.significant).map(|e| e.name.as_str()).collect();
    let _ = writeln!(out, "not told from zero: {}", if rest.is_empty() { "none".to_owned() } else { rest.join(", ") });
    let held = if answer.held_back.starts_with("the last") { "last fifth, held back" } else { "held back" };
    let _ = writeln!(out, "\n{:10}{:>14}{:>14}{:>24}{:>16}", "", "rms effort", "residual", held, "with the file");
    for f in &found.fit {
        let held = f.held_back.unwrap_or(0.0);
        let _ = writeln!(
            out,
            "{:10}{:>14.6}{:>14.6}{held:>24.6}{:>16.6}",
            f.drive, f.effort, f.residual, f.residual_of_file
        );
    }
    let _ = writeln!(
        out,
        "\nbodies that can exist meet the groups within {:.2} standard deviations and leave {:.2} % more; --overlay writes them",
        answer.possible.price,
        100.0 * (answer.possible.growth - 1.0)
    );
    out
}

/// Longest part of a record that is drawn, in seconds.
const DRAWN: f64 = 10.0;

/// For every drive what was measured and predicted, and below what is left, in its own scale.
fn draw(robot: &Robot, mode: &WorkingMode, found: &Identification, path: &Path) -> Result<Vec<u8>, plot::PlotError> {
    let t = robot.model().topology();
    let end = found.compared.first().map_or(0.0, |c| c.t + DRAWN);
    let shown: Vec<&Compared> = found.compared.iter().take_while(|c| c.t <= end).collect();
    let cut = if shown.len() < found.compared.len() { ", the first 10 s" } else { "" };
    let line = |name: String, colour: Colour, stroke: Stroke, of: &dyn Fn(&Compared) -> f64| Series {
        name,
        style: Style { colour, stroke },
        points: shown.iter().map(|c| (c.t, Some(of(c)))).collect(),
    };
    let mut charts = Vec::new();
    for ((k, name), unit) in t.active_names().iter().enumerate().zip(effort_units(robot)) {
        let title = format!("Efforts of {} as measured and as identified, working mode {}{cut}", t.name, mode.name(t));
        let both = Chart {
            title: if k == 0 { title } else { String::new() },
            x_label: "t (s)".to_owned(),
            y_label: format!("tau_{name} ({unit})"),
            series: vec![
                line(format!("q{name} measured"), Colour::Blue, Stroke::Solid, &|c| c.measured[k]),
                line(format!("q{name} predicted"), Colour::Black, Stroke::Dashed, &|c| c.predicted[k]),
            ],
            ..Chart::default()
        };
        let left = Chart {
            x_label: "t (s)".to_owned(),
            y_label: format!("left ({unit})"),
            series: vec![line(format!("q{name} left"), Colour::Red, Stroke::Solid, &|c| {
                c.measured[k] - c.predicted[k]
            })],
            ..Chart::default()
        };
        charts.extend([(both, 300), (left, 190)]);
    }
    plot::line_charts(&charts, path)
}
