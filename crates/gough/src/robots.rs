//! Robots that come with the library, compiled into it.

use crate::description::ReadOptions;
use std::cell::Cell;

/// Names and robot files; names and reference data, apart so that a program without use for them does not carry them.
macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../robots/", $name, "/robot.toml")))),*];
        const REFERENCES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../robots/", $name, "/reference.json")))),*];
    };
}

shipped!(
    "five-bar",
    "3-rpr",
    "orthoglide",
    "orthoglide-parallelogram",
    "delta",
    "delta-parallelogram",
    "gough-stewart",
    "dualv",
    "tripteron",
    "navaro",
    "navaro-as-printed",
    "navaro-refined",
    "heli4",
    "dual-emps",
    "five-bar-flexible",
    "gough-stewart-flexible",
);

/// Robot, file that it names, text.
const FILES: &[(&str, &str, &str)] = &[(
    "gough-stewart-flexible",
    "hexagon-plate.json",
    include_str!("../../../robots/gough-stewart-flexible/hexagon-plate.json"),
)];

/// A file that a shipped robot names, or why there is none: what [`ReadOptions::files`] is for such a robot.
#[doc(hidden)]
pub fn file(name: &str, file: &str) -> Result<String, String> {
    let found = FILES.iter().find(|(robot, own, _)| *robot == name && *own == file);
    found.map(|f| f.2.to_owned()).ok_or_else(|| format!("`{name}` is shipped without a file `{file}`"))
}

/// The files of a robot that may extend a shipped one: the text of that robot, and then the files that it names.
#[doc(hidden)]
#[derive(Default)]
pub struct ExtendedFiles {
    robot: Cell<Option<&'static str>>,
}

impl ExtendedFiles {
    /// The file, where it is one of these.
    pub fn get(&self, own: &str) -> Option<String> {
        if let Some((name, text)) = SHIPPED.iter().find(|r| r.0 == own) {
            self.robot.set(Some(name));
            return Some((*text).to_owned());
        }
        self.robot.get().and_then(|robot| file(robot, own).ok())
    }
}

/// Names of the shipped robots.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|r| r.0)
}

/// The file of a shipped robot.
pub fn text(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|r| r.0 == name).map(|r| r.1)
}

/// One line on a shipped robot.
#[doc(hidden)]
pub fn summary(name: &str) -> Option<String> {
    let files = |own: &str| file(name, own);
    let options = ReadOptions { files: &files, ..ReadOptions::default() };
    let (description, _) = crate::description::read(text(name)?, &options).ok()?;
    Some(description.summary)
}

/// Published and computed numbers of a shipped robot, JSON.
pub fn reference(name: &str) -> Option<&'static str> {
    REFERENCES.iter().find(|r| r.0 == name).map(|r| r.1)
}
