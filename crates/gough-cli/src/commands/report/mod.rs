//! `gough report`.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // digits and percentages

mod html;
mod published;
mod robot;
mod strength;
mod workspace;

use crate::ask::RobotChoice;
use crate::commands::view;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use clap::Args;
use gough::{Error, Robot};
use html::Html;
use serde_json::json;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Where the page goes; NAME-report.html in this folder unless given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the live robot out, so that the page is small
    #[arg(long)]
    no_view: bool,
    /// Print one JSON document that says what is in the page, for failures too
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Where failures go.
    pub fn answers(&self) -> Output {
        Output { json: self.json, output: None }
    }
}

/// What every part of the report is written from.
pub struct About<'r> {
    robot: &'r Robot,
    /// The robot as it stands on a command line.
    words: String,
}

impl About<'_> {
    /// A command about this robot.
    fn command(&self, name: &str, rest: &str) -> String {
        format!("gough {name} {} {rest}", self.words).trim_end().to_owned()
    }
}

/// A part: a title, and what writes it.
type Chapter = (&'static str, fn(&About<'_>, &mut Html) -> Result<(), Error>);

const PARTS: [Chapter; 8] = [
    ("What it is", robot::what),
    ("Workspace and singularities", workspace::singular),
    ("Conditioning", workspace::conditioning),
    ("Amplification of forces", workspace::amplification),
    ("Efforts along a test motion", strength::motion),
    ("Natural frequencies", strength::frequencies),
    ("Operation counts of generated code", strength::counts),
    ("Published numbers beside these", published::beside),
];

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let answers = arguments.answers();
    let robot = arguments.subject.load(&answers)?;
    let name = &robot.model().topology().name;
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-report.html", file_stem(name))));
    spares(&path, "-o", Path::new(&arguments.subject.robot), "the robot file")?;
    let about = About { robot: &robot, words: words(&arguments.subject) };
    let Written { page, told, refused } = write(&about, !arguments.no_view)?;
    let mut files = Files::default();
    files.add(&path, page.as_bytes())?;
    let shown = path.display().to_string();
    let document = || {
        let refused: Vec<_> = refused.iter().map(|r| json!({ "part": r[0], "why": r[1] })).collect();
        json!({ "robot": name, "file": shown, "bytes": page.len(), "parts": told, "refused": refused })
    };
    let text =
        || format!("{shown}: {} parts, {} refused, {:.2} MB\n", told.len(), refused.len(), page.len() as f64 / 1e6);
    answers.give_with(files, document, text).map_err(|why| why.of(name))
}

/// A report.
struct Written {
    page: String,
    /// Titles of its parts.
    told: Vec<&'static str>,
    /// Parts that were refused, and why.
    refused: Vec<Vec<String>>,
}

fn write(about: &About<'_>, live: bool) -> Result<Written, Failure> {
    let bar = progress();
    let (mut page, mut told, mut refused) = (Html::default(), Vec::new(), Vec::new());
    if live && let Some(template) = view::template() {
        page.frame(&view::page(about.robot, &template, None, None)?, "The robot, alive: drag its platform, ask it");
    }
    for (title, part) in PARTS {
        bar.set_message(title);
        let mut body = Html::default();
        body.heading(title);
        match part(about, &mut body) {
            Ok(()) => {
                page.push(&body);
                told.push(title);
            }
            Err(why) => refused.push(vec![title.to_owned(), why.to_string()]),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !refused.is_empty() {
        page.heading("What was refused, and why");
        page.table("refused", &["part", "why"], &refused);
    }
    page.paragraph(&format!(
        "Written by gough {}; every figure can be made again by the command below it.",
        env!("CARGO_PKG_VERSION")
    ));
    let model = about.robot.model();
    let page = page.page(&model.topology().name, &model.description().summary);
    Ok(Written { page, told, refused })
}

fn progress() -> indicatif::ProgressBar {
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let bar = indicatif::ProgressBar::new(PARTS.len() as u64);
    let style = indicatif::ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    style.map_or(bar.clone(), |s| bar.with_style(s))
}

/// The robot and its choices, as words of a command line.
fn words(subject: &RobotChoice) -> String {
    let mut words = vec![quoted(&subject.robot)];
    words.extend(subject.set.iter().map(|s| format!("--set {}", quoted(s))));
    words.extend(subject.actuation.iter().map(|a| format!("--actuation {}", quoted(a))));
    words.extend(subject.allow_outside.then(|| "--allow-outside".to_owned()));
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A name that every file system takes.
pub fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let stem: String = name.chars().map(plain).take(60).collect();
    if stem.trim_matches('-').is_empty() { "robot".to_owned() } else { stem }
}
