//! `gough map`.

use crate::angles::Angles;
use crate::ask::{RobotChoice, assignments, one_mode};
use crate::commands::cartesian;
use crate::commands::frequencies::DriveChoice;
use crate::encode::csv_cell;
use crate::failure::Failure;
use crate::interrupt;
use crate::loads;
use crate::output::{Files, Output, Pieces, spares};
use crate::plot::{self, Chart, Field, Picture, PlotAxis, Scale, Series, Style};
use crate::region;
use crate::states::left_out_text;
use clap::{Args, ValueEnum};
use gough::analysis::map::{frequency_number, quantities};
use gough::analysis::{PlatformValue, Region};
use gough::question::{MapAnswer, MapQuestion, NodeValue, ReachNotes, RefusedNodes};
use gough::{Robot, Wrench};
use rayon::prelude::*;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// From values to colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MapScale {
    Linear,
    /// Values that are not positive stay without a colour
    Log,
}

impl MapScale {
    fn of(self) -> Scale {
        match self {
            MapScale::Linear => Scale::Linear,
            MapScale::Log => Scale::Log,
        }
    }
}

/// Where a map is computed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MapDevice {
    /// All cores of the processor
    Cpu,
    /// A graphics processor of NVIDIA, where the program is built with the feature `cuda`
    Cuda,
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    #[arg(long, value_name = "NAME", help = quantity_help())]
    quantity: String,
    /// One to three coordinates: x=-0.2:0.2,y=-0.2:0.2 or x=-0.2:0.2:101,..
    #[arg(long, value_name = "SPANS", allow_hyphen_values = true)]
    region: String,
    /// The other coordinates; those of the home pose unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// Stiffness of drives that have none in the file, in N/m or N*m/rad
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    stiffness: Option<f64>,
    /// Wrench on the platform for `effort` and `deflection`: fx=10,fy=0,mz=1; what is left out is zero
    #[arg(long, value_name = "COMPONENTS", allow_hyphen_values = true)]
    wrench: Option<String>,
    /// What the drives do while a natural frequency is mapped; elastic unless given
    #[arg(long, value_name = "WHAT")]
    actuators: Option<DriveChoice>,
    #[command(flatten)]
    cartesian: cartesian::CartesianOptions,
    /// Follow the mode that is f1, f2, .. at the first node by its shape, over areas too (curves do unless --by-order)
    #[arg(long, conflicts_with = "by_order")]
    follow: bool,
    /// Map the frequency that has this number at every node, on curves too (areas do unless --follow)
    #[arg(long)]
    by_order: bool,
    /// Where to compute: quantities that follow from the Jacobian, and holding, go on a graphics processor too
    #[arg(long, value_enum, default_value = "cpu")]
    device: MapDevice,
    /// Draw it: FILE.svg or FILE.png (a curve over one coordinate, colours over two)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Colours, or the axis of a curve: equal differences or equal factors look equal
    #[arg(long, value_enum, requires = "plot")]
    scale: Option<MapScale>,
    /// Write a table: FILE.csv
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    pub output: Output,
}

/// The names of all quantities.
fn quantity_help() -> String {
    let names: Vec<&str> = quantities().map(|q| q.0).collect();
    format!("What to map: {}, f2, ..", names.join(", "))
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = Path::new(&arguments.subject.robot);
    if let Some(path) = &arguments.plot {
        plot::check(path).map_err(|e| Failure::Usage(e.to_string()))?;
        spares(path, "--plot", input, "the robot file")?;
    }
    if let Some(path) = &arguments.csv {
        spares(path, "--csv", input, "the robot file")?;
    }
    arguments.output.apart(&[("--csv", arguments.csv.as_ref()), ("--plot", arguments.plot.as_ref())])?;
    let robot = arguments.subject.load(&arguments.output)?;
    answer_for(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer_for(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let region = region::region(robot, "--region", &arguments.region, arguments.pose.as_deref())?;
    let asked = asked(robot, &region, arguments)?;
    if arguments.plot.is_some() && region.spans().len() > 2 {
        return Err(Failure::Usage("--plot shows one or two coordinates; take --csv or --json for three".to_owned()));
    }
    let found = with_progress(&asked, region.len())?;
    let mut files = Files::default();
    let rows = arguments.csv.as_ref().map(|path| table(&region, &found, path)).transpose()?;
    if let Some(path) = &arguments.plot {
        let picture = draw(robot, &region, arguments.scale, &found, path);
        files.add(path, &picture.map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    arguments.output.give_with(files, || json!(found), || text(robot, &region, arguments, &found))?;
    rows.map_or(Ok(()), Pieces::finish)?;
    if !found.complete {
        crate::streams::tell_line!("interrupted: what was done has been kept");
        return Err(Failure::Silent(interrupt::status()));
    }
    if found.refused.iter().map(|r| r.count).sum::<usize>() == found.values.len() {
        crate::streams::tell_line!("no: no node of the region has an answer in this working mode");
        return Err(Failure::Silent(1));
    }
    Ok(())
}

/// The question that the options ask.
fn asked<'r>(robot: &'r Robot, region: &Region, arguments: &Arguments) -> Result<MapQuestion<'r>, Failure> {
    check_options(arguments)?;
    let choices = arguments.cartesian.choices(robot, arguments.actuators.unwrap_or(DriveChoice::Elastic).of());
    let mut asked = robot.map(&arguments.quantity).in_region(region);
    asked = asked.mode(&one_mode(robot, arguments.mode.as_deref())?);
    asked = asked.actuators(choices.actuators).rods(choices.rods).virtual_twists(choices.virtual_twists);
    if arguments.cartesian.method == cartesian::FrequencyMethod::Cartesian {
        asked = asked.cartesian();
    }
    if let Some(k) = arguments.stiffness {
        if !(k > 0.0 && k.is_finite()) {
            return Err(Failure::Usage("--stiffness: give a positive number".to_owned()));
        }
        asked = asked.stiffness(k);
    }
    if let Some(text) = &arguments.wrench {
        let all = arguments.quantity == "deflection";
        asked = asked.wrench(if all { loads::wrench(text, "--wrench")? } else { wrench(robot, text)? });
    }
    if arguments.device == MapDevice::Cuda {
        asked = asked.on_device();
    }
    if arguments.follow || arguments.by_order {
        asked = asked.followed(arguments.follow);
    }
    Ok(asked)
}

/// Options that this quantity would ignore are refused.
fn check_options(arguments: &Arguments) -> Result<(), Failure> {
    let quantity = arguments.quantity.as_str();
    let frequency = frequency_number(quantity).is_some();
    let named = matches!(quantity, "aspect" | "reachable");
    for (given, goes, option, with) in [
        (arguments.wrench.is_some(), matches!(quantity, "effort" | "deflection"), "--wrench", "effort or deflection"),
        (arguments.stiffness.is_some(), quantity == "stiffness", "--stiffness", "stiffness"),
        (arguments.actuators.is_some(), frequency, "--actuators", "f1, f2, .."),
        (arguments.scale.is_some(), !named, "--scale", "what has a value, not with names of areas"),
    ] {
        if given && !goes {
            return Err(Failure::Usage(format!("{option} goes with --quantity {with}; leave it out of {quantity}")));
        }
    }
    if (arguments.follow || arguments.by_order) && !frequency {
        let why = "--follow and --by-order are for natural frequencies: take --quantity f1, or leave them out";
        return Err(Failure::Usage(why.to_owned()));
    }
    if let Some(option) = arguments.cartesian.idle().filter(|_| PlatformValue::named(quantity).is_none()) {
        return Err(Failure::Usage(format!("{option} is for --method cartesian; give that too, or leave it out")));
    }
    Ok(())
}

/// `fx=10,mz=1` in the platform's independent components.
fn wrench(robot: &Robot, text: &str) -> Result<Wrench<f64>, Failure> {
    let independent = &robot.model().topology().platform.independent;
    let names = ["fx", "fy", "fz", "mx", "my", "mz"];
    let mut w: [Option<f64>; 6] = [None; 6];
    for assigned in assignments(text, "--wrench")? {
        let name = assigned.name.as_str();
        let component = independent.iter().find(|c| names[c.index()] == name);
        let Some(c) = component else {
            let has: Vec<&str> = independent.iter().map(|c| names[c.index()]).collect();
            return Err(Failure::Usage(format!(
                "--wrench: no component `{name}`; the platform has {}",
                has.join(", ")
            )));
        };
        let (powers, what) = if c.is_angle() { ([2, 1, -2], "a moment") } else { ([1, 1, -2], "a force") };
        assigned.must_have(powers, what).map_err(|m| Failure::Usage(format!("--wrench: {m}")))?;
        if w[c.index()].replace(assigned.value).is_some() {
            return Err(Failure::Usage(format!("--wrench: {name} is given twice")));
        }
    }
    Ok(Wrench::from_array(w.map(Option::unwrap_or_default)))
}

/// The map, with a progress bar on a terminal, ended early by Ctrl-C.
pub fn with_progress(asked: &MapQuestion<'_>, nodes: usize) -> Result<MapAnswer, Failure> {
    interrupt::look();
    let bar = if crate::streams::are_watched() {
        let style = indicatif::ProgressStyle::with_template("{bar:40} {percent:>3} % {pos}/{len} poses, {eta} left");
        let bar = indicatif::ProgressBar::new(nodes as u64);
        style.map_or(bar.clone(), |s| bar.with_style(s))
    } else {
        indicatif::ProgressBar::hidden()
    };
    let found = asked.answer_while(&|done| {
        bar.set_position(done as u64);
        !interrupt::asked()
    });
    bar.finish_and_clear();
    Ok(found?)
}

fn names(robot: &Robot, region: &Region) -> Vec<String> {
    region.spans().iter().map(|s| region::axis_label(robot, s.coordinate)).collect()
}

/// The values row by row, in a file that is there once it is finished.
fn table(region: &Region, found: &MapAnswer, path: &Path) -> Result<Pieces, Failure> {
    let to = Output { json: false, output: Some(path.to_path_buf()) };
    let mut pieces = to.pieces()?;
    let heads: Vec<&str> = found.axes.iter().map(|a| a.name).collect();
    pieces.write(&format!("{},{}\n", heads.join(","), csv_cell(&found.quantity)))?;
    let mut line = String::new();
    for (node, value) in found.values.iter().enumerate() {
        line.clear();
        for x in region.point(node) {
            let _ = write!(line, "{x},");
        }
        if let Some(v) = value.get() {
            let _ = write!(line, "{v}");
        }
        line.push('\n');
        pieces.write(&line)?;
    }
    Ok(pieces)
}

fn text(robot: &Robot, region: &Region, arguments: &Arguments, found: &MapAnswer) -> String {
    let mut out = format!("{} of {} in working mode {}", found.quantity, found.robot, found.working_mode);
    let fixed = region::fixed_text(robot, region);
    let _ = writeln!(out, "{}{fixed}", if fixed.is_empty() { "" } else { ", " });
    let extremes = Extremes::of(&found.values);
    let spans: Vec<String> = region
        .spans()
        .iter()
        .zip(names(robot, region))
        .map(|(s, name)| {
            let [low, high] = [s.low, s.high].map(|x| region::shown(s.coordinate, x));
            format!("{name} {low} .. {high} in {}", s.count)
        })
        .collect();
    let _ = writeln!(out, "{}: {} of {} nodes answered", spans.join(", "), extremes.count, region.len());
    for RefusedNodes { kind, count, .. } in &found.refused {
        let _ = writeln!(out, "  {count} refused: {kind}");
    }
    let unit = found.unit;
    let at = |point: &[f64]| {
        let parts = region.spans().iter().zip(point);
        parts
            .map(|(s, x)| format!("{} = {:.6}", region::name(robot, s.coordinate), region::shown(s.coordinate, *x)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if let Some(notes) = &found.frequencies {
        if let Some(lowest) = &notes.lowest {
            let _ = writeln!(out, "lowest of all modes {:.6} Hz  at {}", lowest.frequency_hz, at(&lowest.at));
        }
        if notes.uncertain > 0 {
            let _ = writeln!(
                out,
                "{} nodes where no mode was like that of the neighbour; take smaller steps",
                notes.uncertain
            );
        }
    }
    if let Some(ReachNotes { reachable: size, aspects, .. }) = &found.reach {
        let what = ["length", "area", "volume"][region.spans().len() - 1];
        let _ = writeln!(out, "reachable {what}  {size:.6}");
        let n = aspects.len();
        let largest = aspects.first().copied().unwrap_or(0.0);
        let _ = writeln!(out, "largest aspect  {largest:.6} ({n} aspect{})", if n == 1 { "" } else { "s" });
    } else {
        for (name, (value, node)) in [("lowest", extremes.low), ("highest", extremes.high)] {
            if extremes.count > 0 {
                let _ = writeln!(out, "{name:<8} {value:>14.6e} {unit}  at {}", at(&region.point(node)));
            }
        }
        if extremes.count == 0 && found.refused.is_empty() {
            out.push_str("nowhere finite: no motion of the platform comes nearer\n");
        } else if extremes.count > 0 {
            let mean = extremes.sum / extremes.count as f64;
            let _ = writeln!(out, "{:<8} {mean:>14.6e} {unit}", "mean");
        }
    }
    out += &left_out_text(&found.left_out);
    if arguments.plot.is_none() && arguments.csv.is_none() {
        out.push_str("--plot FILE.svg draws it; --csv FILE and --json give the values\n");
    }
    out
}

/// What is told of all values of a map.
struct Extremes {
    count: usize,
    sum: f64,
    /// Lowest and highest value, with their nodes.
    low: (f64, usize),
    high: (f64, usize),
}

/// Values that one core looks at at a time.
const LOOKED_AT: usize = 1 << 16;

impl Extremes {
    /// On all cores, in pieces that do not depend on their number.
    fn of(values: &[NodeValue]) -> Self {
        let pieces: Vec<Self> =
            values.par_chunks(LOOKED_AT).enumerate().map(|(i, piece)| Self::of_piece(piece, i * LOOKED_AT)).collect();
        pieces.into_iter().fold(Self::NONE, |all, piece| Self {
            count: all.count + piece.count,
            sum: all.sum + piece.sum,
            low: if piece.low.0 <= all.low.0 { piece.low } else { all.low },
            high: if piece.high.0 >= all.high.0 { piece.high } else { all.high },
        })
    }

    const NONE: Self = Self { count: 0, sum: 0.0, low: (f64::INFINITY, 0), high: (f64::NEG_INFINITY, 0) };

    fn of_piece(values: &[NodeValue], first: usize) -> Self {
        let mut all = Self::NONE;
        for (node, x) in values.iter().enumerate().filter_map(|(i, v)| Some((first + i, v.get()?))) {
            all.count += 1;
            all.sum += x;
            if x <= all.low.0 {
                all.low = (x, node);
            }
            if x >= all.high.0 {
                all.high = (x, node);
            }
        }
        all
    }
}

/// A map as a picture.
pub fn draw(
    robot: &Robot,
    region: &Region,
    scale: Option<MapScale>,
    found: &MapAnswer,
    path: &Path,
) -> Result<Vec<u8>, plot::PlotError> {
    let title = format!("{} of {} in working mode {}", found.quantity, found.robot, found.working_mode);
    let fixed = region::fixed_text(robot, region);
    let mut notes: Vec<String> = if fixed.is_empty() { Vec::new() } else { vec![fixed] };
    if !found.complete {
        notes.push("interrupted: grey parts were not computed".to_owned());
    }
    let unit = found.unit;
    let labels = names(robot, region);
    let [a, b] = match region.spans() {
        [a] => {
            let shown = a.values().into_iter().map(|x| region::shown(a.coordinate, x));
            let points = shown.zip(found.values.iter().map(|v| v.get())).collect();
            let y_label = if unit.is_empty() { found.quantity.clone() } else { format!("{} ({unit})", found.quantity) };
            let series = vec![Series { name: String::new(), style: Style::nth(0), points }];
            let chart = Chart {
                title,
                x_label: labels[0].clone(),
                y_label,
                y_log: scale == Some(MapScale::Log),
                series,
                notes,
            };
            return plot::line_chart(&chart, path);
        }
        [a, b, ..] => [a, b],
        [] => return Ok(Vec::new()),
    };
    let colours = match found.quantity.as_str() {
        "aspect" => {
            let aspects = found.reach.as_ref().map_or(&[][..], |r| &r.aspects);
            let shown = region::large(aspects);
            let mut labels: Vec<String> = (0..shown).map(|i| format!("{}: {:.4}", i + 1, aspects[i])).collect();
            if aspects.len() > shown {
                labels.push("smaller".to_owned());
            }
            Scale::Category(labels)
        }
        "reachable" => Scale::Category(vec!["reachable".to_owned()]),
        _ => scale.unwrap_or(MapScale::Linear).of(),
    };
    let most = if let Scale::Category(labels) = &colours { labels.len() } else { 0 };
    let values =
        found.values.iter().map(|v| v.get().map(|x| if most > 0 { (x - 1.0).min(most as f64 - 1.0) } else { x }));
    let axis = |k: usize| PlotAxis {
        label: labels[k].clone(),
        low: region::shown(region.spans()[k].coordinate, region.spans()[k].low),
        high: region::shown(region.spans()[k].coordinate, region.spans()[k].high),
        log: false,
    };
    let field = Field {
        name: found.quantity.clone(),
        unit: unit.to_owned(),
        xs: a.values().into_iter().map(|x| region::shown(a.coordinate, x)).collect(),
        ys: b.values().into_iter().map(|y| region::shown(b.coordinate, y)).collect(),
        values: values.collect(),
        scale: colours,
    };
    if field.beyond() > 0 {
        notes.push(format!("{} values are beyond the ends of the colours", field.beyond()));
    }
    let picture = Picture {
        title,
        x: axis(0),
        y: axis(1),
        equal: !a.coordinate.is_angle() && !b.coordinate.is_angle(),
        field: Some(field),
        curves: Vec::new(),
        notes,
        height: None,
    };
    plot::draw(&picture, path)
}
