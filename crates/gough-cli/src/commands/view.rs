//! `gough view`.

use crate::ask::{Subject, one_mode};
use crate::commands::report::file_stem;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::streams::tell;
use clap::Args;
use gough::view::{Portrait, Session};
use gough::{Error, Robot, WorkingMode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is missing where there is no page to fill.
const MISSING: &str = "the page of the viewer is not built; build it with `cargo xtask viewer`, or name the folder of a built one in GOUGH_VIEWER";

/// Where the page takes the robot.
const PLACE: &str = "/*GIVEN*/";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Where the platform is when the page opens: x=0.05,y=0.25; home unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Working mode when the page opens, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
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
    let robot = arguments.subject.load(&answers)?;
    let name = robot.model().topology().name.clone();
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.html", file_stem(&name))));
    spares(&path, "-o", Path::new(&arguments.subject.robot), "the robot file")?;
    let mode = arguments.mode.as_ref().map(|_| one_mode(&robot, arguments.mode.as_deref())).transpose()?;
    let page = page(&robot, &template, arguments.pose.as_deref(), mode.as_ref()).map_err(|why| why.of(&name))?;
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
    let at = pose.map(|words| robot.pose(words)).transpose()?.map(|pose| robot.coordinates_of(&pose));
    let given = given(robot, at.as_deref(), mode)?;
    Ok(template.replacen(PLACE, &in_script(&given), 1))
}

/// A document that no browser takes for the end of the script that it stands in.
fn in_script(document: &Value) -> String {
    document.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Source, portrait and postures.
fn given(robot: &Robot, at: Option<&[f64]>, mode: Option<&WorkingMode>) -> Result<Value, Error> {
    let source = robot.source();
    let mut postures = vec![posture(&Session::new(robot.clone()), "home")];
    let mut session = Session::new(robot.clone());
    let home = session.coordinates();
    let mode = mode.unwrap_or(robot.mode());
    if at.is_some() || mode != robot.mode() {
        session.place_in(at.unwrap_or(&home), mode)?;
        postures.insert(0, posture(&session, "as asked"));
    }
    Ok(json!({
        "source": {
            "name": source.name,
            "text": source.text,
            "files": source.files,
            "set": source.set,
            "actuation": source.actuation,
        },
        "portrait": Portrait::new(robot),
        "postures": postures,
        "at": at,
        "mode": mode.name(robot.model().topology()),
    }))
}

fn posture(session: &Session, name: &str) -> Value {
    let mut frames = Vec::new();
    session.frames(&mut frames);
    json!({ "name": name, "at": session.coordinates(), "frames": frames, "standing": session.standing() })
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
