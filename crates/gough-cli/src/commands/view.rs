//! `gough view`.

use crate::ask::{RobotChoice, one_mode};
use crate::commands::map::with_progress;
use crate::commands::report::file_stem;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::region;
use crate::sheet;
use crate::streams::tell;
use clap::Args;
use gough::description::{BadRobot, FaultDocument};
use gough::question::MapAnswer;
use gough::view::{Film, PageContent};
use gough::{Error, Robot, WorkingMode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is missing where there is no page to fill.
const MISSING: &str = "the page of the viewer is not built; build it with `cargo xtask viewer`, or name the folder of a built one in GOUGH_VIEWER";

/// Instants of a motion that a page without the library draws.
const DRAWN: usize = 200;

/// Values along each coordinate of a map when `--map` does not say.
const NODES: usize = 61;

/// Where the page takes the robot.
const PLACE: &str = "/*GIVEN*/";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Where the platform is when the page opens: x=0.05,y=0.25; home unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Working mode when the page opens, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// A motion to play: CSV as `idm --trajectory` takes it; efforts, limits and singularities along it come with it
    #[arg(long, value_name = "FILE")]
    trajectory: Option<PathBuf>,
    /// A map to show, computed here on all cores: f1,x=-0.2:0.2,y=-0.2:0.2 (a quantity of `map` and two coordinates)
    #[arg(long, value_name = "QUANTITY,SPANS", allow_hyphen_values = true)]
    map: Option<String>,
    /// Where the page goes; NAME.html in this folder unless given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the page and do not open it
    #[arg(long)]
    no_open: bool,
    /// Print one JSON document that says where the page is, for failures too
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Where failures go.
    pub fn answers(&self) -> Output {
        Output { json: self.json, output: None }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let answers = arguments.answers();
    let template = template().ok_or_else(|| Failure::Usage(MISSING.to_owned()))?;
    let robot = match arguments.subject.load(&answers) {
        Ok(robot) => robot,
        Err(why) => {
            if let Some(bad) = why.bad_robot() {
                with_faults(arguments, &template, bad)?;
            }
            return Err(why);
        }
    };
    let name = robot.model().topology().name.clone();
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.html", file_stem(&name))));
    spares(&path, "-o", Path::new(&arguments.subject.robot), "the robot file")?;
    if let Some(file) = &arguments.trajectory {
        spares(&path, "-o", file, "the trajectory file")?;
    }
    let mode = arguments.mode.as_ref().map(|_| one_mode(&robot, arguments.mode.as_deref())).transpose()?;
    let shown = mode.as_ref().unwrap_or(robot.mode());
    let motion =
        arguments.trajectory.as_ref().map(|file| film(&robot, shown, file, has_library(&template))).transpose()?;
    let map = arguments.map.as_ref().map(|words| map(&robot, shown, words, arguments.pose.as_deref())).transpose()?;
    let mut given = given_at(&robot, arguments.pose.as_deref(), mode.as_ref()).map_err(|why| why.of(&name))?;
    (given.motion, given.map) = (motion, map);
    let page = filled(&template, &given);
    let mut files = Files::default();
    files.add(&path, page.as_bytes())?;
    let shown = path.display().to_string();
    let document = || json!({ "robot": name, "file": shown, "bytes": page.len(), "library": has_library(&template) });
    answers.give_with(files, document, || text(&shown, page.len(), &template))?;
    if !arguments.no_open && !open(&path) {
        tell(&format!("no browser was found; open {shown} by hand\n"));
    }
    Ok(())
}

/// A file with faults opens as text, its faults underlined; the failure is told all the same.
fn with_faults(arguments: &Arguments, template: &str, bad: &BadRobot) -> Result<(), Failure> {
    let own = Path::new(&bad.name).file_stem().map_or_else(|| "robot".to_owned(), |s| file_stem(&s.to_string_lossy()));
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{own}.html")));
    spares(&path, "-o", Path::new(&arguments.subject.robot), "the robot file")?;
    let source = json!({ "name": bad.name, "text": bad.text });
    let given = json!({ "source": source, "faults": FaultDocument::list(&bad.text, &bad.faults) });
    let mut files = Files::default();
    files.add(&path, template.replacen(PLACE, &in_script(&given), 1).as_bytes())?;
    files.settle()?;
    tell(&format!("{} shows the file with its faults\n", path.display()));
    if !arguments.no_open && !open(&path) {
        tell(&format!("no browser was found; open {} by hand\n", path.display()));
    }
    Ok(())
}

fn text(shown: &str, bytes: usize, template: &str) -> String {
    let without = if has_library(template) { "" } else { ", without the library: it shows postures computed here" };
    format!("{shown}: {:.2} MB{without}\n", bytes as f64 / 1e6)
}

/// The built page: of the folder that `GOUGH_VIEWER` names, or the one beside the program that was built with it.
pub fn template() -> Option<String> {
    let named = std::env::var_os("GOUGH_VIEWER").map(PathBuf::from);
    let beside = || std::env::current_exe().ok()?.parent()?.parent().map(|target| target.join("viewer"));
    let text = std::fs::read_to_string(named.or_else(beside)?.join("page.html")).ok()?;
    text.contains(PLACE).then_some(text)
}

/// Whether the library travels in the page.
fn has_library(template: &str) -> bool {
    !template.contains("id=\"module\"></script>")
}

/// The page with a robot in it.
pub fn page(robot: &Robot, template: &str, pose: Option<&str>, mode: Option<&WorkingMode>) -> Result<String, Failure> {
    Ok(filled(template, &given_at(robot, pose, mode)?))
}

fn filled(template: &str, given: &PageContent) -> String {
    template.replacen(PLACE, &in_script(&json!(given)), 1)
}

fn given_at(robot: &Robot, pose: Option<&str>, mode: Option<&WorkingMode>) -> Result<PageContent, Failure> {
    let at = pose.map(|words| robot.pose(words)).transpose()?.map(|pose| robot.coordinates_of(&pose));
    Ok(PageContent::new(robot, at.as_deref(), mode)?)
}

/// The motion of a file, with what it takes and meets.
fn film(robot: &Robot, mode: &WorkingMode, path: &Path, computes: bool) -> Result<Film, Failure> {
    let motion = sheet::trajectory(robot, mode, path)?;
    let found = robot.along(&motion.trajectory).mode(mode).answer().map_err(|e| match e {
        Error::Trajectory(e) => Failure::Usage(format!("{}: {e}", path.display())),
        other => other.into(),
    })?;
    let film = Film::new(robot, &motion.trajectory, &found);
    Ok(if computes { film } else { film.drawn(robot, mode, DRAWN) })
}

/// `f1,x=-0.2:0.2,y=-0.2:0.2`: a quantity over two coordinates.
fn map(robot: &Robot, mode: &WorkingMode, words: &str, pose: Option<&str>) -> Result<MapAnswer, Failure> {
    let bad = |why: String| Failure::Usage(format!("--map: {why}"));
    let (quantity, spans) =
        words.split_once(',').ok_or_else(|| bad(format!("`{words}` names no coordinates; {MAP}")))?;
    let spans: Vec<String> = spans.split(',').map(str::trim).filter(|s| !s.is_empty()).map(with_count).collect();
    if spans.len() != 2 {
        return Err(bad(format!("a page shows maps over two coordinates, not {}; {MAP}", spans.len())));
    }
    // A coordinate that is spanned may be in --pose, which says where the platform stands.
    let spanned = |word: &str| spans.iter().any(|s| s.split('=').next() == word.split('=').next());
    let rest: Option<String> =
        pose.map(|p| p.split(',').map(str::trim).filter(|word| !spanned(word)).collect::<Vec<_>>().join(","));
    let region = region::region(robot, "--map", &spans.join(","), rest.as_deref().filter(|p| !p.is_empty()))?;
    let asked = robot.map(quantity.trim()).in_region(&region).mode(mode);
    let found = with_progress(&asked, region.len())?;
    if !found.complete {
        return Err(bad("stopped before it was done; no page was written".to_owned()));
    }
    Ok(found)
}

const MAP: &str = "write --map f1,x=-0.2:0.2,y=-0.2:0.2";

/// A span that says how many values it has.
fn with_count(span: &str) -> String {
    if span.matches(':').count() == 1 { format!("{span}:{NODES}") } else { span.to_owned() }
}

/// A document that no browser takes for the end of the script that it stands in.
fn in_script(document: &Value) -> String {
    document.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Open a file in a browser; whether there is one.
fn open(path: &Path) -> bool {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("explorer", &[])
    } else {
        ("xdg-open", &[])
    };
    let shown = cfg!(any(target_os = "macos", windows))
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|v| std::env::var_os(v).is_some_and(|x| !x.is_empty()));
    let quiet = std::process::Stdio::null;
    let started = || {
        std::process::Command::new(program).args(first).arg(path).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn()
    };
    shown && started().is_ok()
}
