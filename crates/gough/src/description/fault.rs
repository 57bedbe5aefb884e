//! Faults of a robot file: each points at the text that caused it and says what to try.

use super::units::{self, Powers};
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// A piece of the file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
#[allow(missing_docs)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl From<Range<usize>> for Span {
    fn from(r: Range<usize>) -> Self {
        Self { start: r.start, end: r.end }
    }
}

/// A fault and its place; `related` places help to understand it.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// What is wrong.
    pub what: Fault,
    /// Where; empty when no place in the file is to blame.
    pub at: Span,
    /// Other places, with a word on each.
    pub related: Vec<(Span, &'static str)>,
}

impl Diagnostic {
    /// A fault at a place.
    pub fn new(what: Fault, at: Span) -> Self {
        Self { what, at, related: Vec::new() }
    }

    /// The diagnostic with one more place.
    pub fn and(mut self, span: Span, words: &'static str) -> Self {
        self.related.push((span, words));
        self
    }
}

/// A robot file that cannot be used: all its faults, with the text they point into.
#[derive(Clone, PartialEq, Debug)]
pub struct BadRobot {
    /// Name of the file or robot.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Every fault found.
    pub faults: Vec<Diagnostic>,
}

impl fmt::Display for BadRobot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = LineIndex::new(&self.text);
        for (i, d) in self.faults.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let (line, column) = lines.place(d.at.start);
            write!(f, "{}:{line}:{column}: {}", self.name, d.what)?;
            if let Some(help) = d.what.help() {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for BadRobot {}

/// Line and column of a byte, both from 1; columns count characters.
pub fn line_column(text: &str, at: usize) -> (usize, usize) {
    LineIndex::new(text).place(at)
}

/// Where the lines of a text begin, so that many places of it are found without reading it again for each.
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    /// Look through the text once.
    pub fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Self { text, starts }
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let at = (0..=at.min(self.text.len())).rev().find(|&i| self.text.is_char_boundary(i)).unwrap_or(0);
        let line = self.starts.partition_point(|start| *start <= at);
        (line, self.text[self.starts[line - 1]..at].chars().count() + 1)
    }
}

/// A fault or remark as a document: the one form in which programs, Python and the page are told of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct FaultDocument {
    /// Short name that programs can rely on.
    pub code: &'static str,
    /// What it says.
    pub message: String,
    /// Line from 1.
    pub line: usize,
    /// Column from 1, in characters.
    pub column: usize,
    /// Characters of that line that it is about; at least one.
    pub length: usize,
    /// What to do.
    pub suggestion: Option<String>,
}

impl FaultDocument {
    /// The documents of faults with their places in a text.
    pub fn list(text: &str, faults: &[Diagnostic]) -> Vec<Self> {
        let lines = LineIndex::new(text);
        let one = |d: &Diagnostic| {
            let (line, column) = lines.place(d.at.start);
            let about = text.get(d.at.start..d.at.end).map_or(1, |s| s.chars().take_while(|c| *c != '\n').count());
            Self {
                code: d.what.code(),
                message: d.what.to_string(),
                line,
                column,
                length: about.max(1),
                suggestion: d.what.help(),
            }
        };
        faults.iter().map(one).collect()
    }
}

/// Candidates that are looked at: comparing thousands of faulty names with thousands of others helps nobody.
const MOST_CANDIDATES: usize = 256;

/// The candidate most like `name`, if any is near.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        .map(|c| (strsim::damerau_levenshtein(name, c), c))
        .filter(|(d, c)| *d <= 1 + c.len().min(name.len()) / 3 || c.eq_ignore_ascii_case(name))
        .min_by_key(|(d, c)| (*d, c.len().abs_diff(name.len())))
        .map(|(_, c)| c.to_owned())
}

/// What can be wrong with a robot file.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Fault {
    // Text and structure.
    TooLarge { bytes: usize, most: usize },
    Syntax { message: String },
    UnknownKey { key: String, table: String, nearest: Option<String> },
    MissingKey { key: String, table: String },
    WrongType { key: String, expected: String, found: String },
    TooMany { what: &'static str, count: usize, most: usize },
    BadName { name: String, reason: &'static str },
    Duplicate { what: &'static str, name: String },
    // Numbers and expressions.
    ExpressionTooLong { bytes: usize, most: usize },
    TooDeep { most: u32 },
    BadExpression { found: String, expected: &'static str },
    BadExponent,
    UnknownUnit { name: String, nearest: Option<String> },
    UnknownName { name: String, nearest: Option<String> },
    WrongArity { function: String, expected: usize, found: usize },
    SumOfDimensions { left: Powers, right: Powers },
    WrongDimension { key: String, expected: Powers, found: Powers },
    AngleExpected { function: String, found: Powers },
    NotFinite { value: f64 },
    Absurd { key: String, value: f64 },
    ReservedName { name: String },
    Cycle { names: Vec<String> },
    UnknownParameter { name: String, nearest: Option<String> },
    // Templates and legs.
    UnknownTemplate { name: String, nearest: Option<String> },
    MissingArgument { name: String, template: String },
    ExtraArgument { name: String, template: String, nearest: Option<String> },
    UnknownPlaceholder { name: String },
    UnusedTemplate { name: String },
    // Bodies and joints.
    UnknownBody { name: String, nearest: Option<String> },
    UnknownJoint { name: String, nearest: Option<String> },
    ParentCycle { names: Vec<String> },
    TwoPlacements,
    NeedsKey { key: &'static str, because: String },
    UselessKey { key: &'static str, because: String },
    ZeroVector { key: &'static str },
    ParallelAxes,
    BadCompliance { skew: bool },
    BadRange { low: f64, high: f64 },
    Negative { key: String, value: f64 },
    NotPositive { key: String, value: f64 },
    TwoCentres,
    TwoInertias,
    NonPhysicalInertia { body: String, reason: String },
    NoDrive,
    // Closures and couplings.
    ClosureOnItself { body: String },
    ClosureNeedsName,
    BadCoupling { reason: String },
    // Actuation, modes, home.
    UnknownActuation { name: String, known: Vec<String> },
    NotDriven { name: String },
    UnknownCoordinate { name: String, nearest: Option<String> },
    BadCoordinates { reason: String },
    BadMode { mode: String, reason: String },
    // Elasticity.
    UnknownMaterial { name: String, nearest: Option<String> },
    UnknownSection { name: String, nearest: Option<String> },
    BadSection { reason: &'static str },
    BadFile { name: String, reason: String },
    UnknownPoint { name: String, nearest: Option<String> },
    // The model compiler.
    NothingMoves,
    Unattached { body: String },
    LoopNotClosed { closure: String, gap_m: f64, gap_rad: f64 },
    HomeOutOfRange { joint: String, value: f64, range: [f64; 2] },
    BadHome { reason: String },
    FalseClaim { claimed: String, found: String },
    IdleFreedom { joint: String, instead: String },
    NotActuated { degrees: usize, drives: usize },
    SingularArchitecture { degrees: usize, drives: usize },
}

impl Fault {
    /// A short name that programs can rely on.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::TooLarge { .. } => "too-large",
            Fault::Syntax { .. } => "syntax",
            Fault::UnknownKey { .. } => "unknown-key",
            Fault::MissingKey { .. } => "missing-key",
            Fault::WrongType { .. } => "wrong-type",
            Fault::TooMany { .. } => "too-many",
            Fault::BadName { .. } => "bad-name",
            Fault::Duplicate { .. } => "duplicate",
            Fault::ExpressionTooLong { .. } => "expression-too-long",
            Fault::TooDeep { .. } => "expression-too-deep",
            Fault::BadExpression { .. } => "bad-expression",
            Fault::BadExponent => "bad-exponent",
            Fault::UnknownUnit { .. } => "unknown-unit",
            Fault::UnknownName { .. } => "unknown-name",
            Fault::WrongArity { .. } => "wrong-arity",
            Fault::SumOfDimensions { .. } => "sum-of-dimensions",
            Fault::WrongDimension { .. } => "wrong-dimension",
            Fault::AngleExpected { .. } => "angle-expected",
            Fault::NotFinite { .. } => "not-finite",
            Fault::Absurd { .. } => "absurd",
            Fault::ReservedName { .. } => "reserved-name",
            Fault::Cycle { .. } => "cycle",
            Fault::UnknownParameter { .. } => "unknown-parameter",
            Fault::UnknownTemplate { .. } => "unknown-template",
            Fault::MissingArgument { .. } => "missing-argument",
            Fault::ExtraArgument { .. } => "extra-argument",
            Fault::UnknownPlaceholder { .. } => "unknown-placeholder",
            Fault::UnusedTemplate { .. } => "unused-template",
            Fault::UnknownBody { .. } => "unknown-body",
            Fault::UnknownJoint { .. } => "unknown-joint",
            Fault::ParentCycle { .. } => "parent-cycle",
            Fault::TwoPlacements => "two-placements",
            Fault::NeedsKey { .. } => "needs-key",
            Fault::UselessKey { .. } => "useless-key",
            Fault::ZeroVector { .. } => "zero-vector",
            Fault::ParallelAxes => "parallel-axes",
            Fault::BadCompliance { .. } => "bad-compliance",
            Fault::BadRange { .. } => "bad-range",
            Fault::Negative { .. } => "negative",
            Fault::NotPositive { .. } => "not-positive",
            Fault::TwoCentres => "two-centres",
            Fault::TwoInertias => "two-inertias",
            Fault::NonPhysicalInertia { .. } => "non-physical-inertia",
            Fault::NoDrive => "no-drive",
            Fault::ClosureOnItself { .. } => "closure-on-itself",
            Fault::ClosureNeedsName => "closure-needs-name",
            Fault::BadCoupling { .. } => "bad-coupling",
            Fault::UnknownActuation { .. } => "unknown-actuation",
            Fault::NotDriven { .. } => "not-driven",
            Fault::UnknownCoordinate { .. } => "unknown-coordinate",
            Fault::BadCoordinates { .. } => "bad-coordinates",
            Fault::BadMode { .. } => "bad-mode",
            Fault::UnknownMaterial { .. } => "unknown-material",
            Fault::UnknownSection { .. } => "unknown-section",
            Fault::BadSection { .. } => "bad-section",
            Fault::BadFile { .. } => "bad-file",
            Fault::UnknownPoint { .. } => "unknown-point",
            Fault::NothingMoves => "nothing-moves",
            Fault::Unattached { .. } => "unattached",
            Fault::LoopNotClosed { .. } => "loop-not-closed",
            Fault::HomeOutOfRange { .. } => "home-out-of-range",
            Fault::BadHome { .. } => "bad-home",
            Fault::FalseClaim { .. } => "false-claim",
            Fault::IdleFreedom { .. } => "idle-freedom",
            Fault::NotActuated { .. } => "not-actuated",
            Fault::SingularArchitecture { .. } => "singular-architecture",
        }
    }

    /// A remark: the robot can be used all the same.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Fault::UnusedTemplate { .. }
                | Fault::IdleFreedom { .. }
                | Fault::NotActuated { .. }
                | Fault::SingularArchitecture { .. }
        )
    }

    /// Whether the fault may come from text that a syntax fault made unreadable.
    pub(super) fn may_follow_from_lost_text(&self) -> bool {
        matches!(
            self,
            Fault::MissingKey { .. }
                | Fault::UnknownName { .. }
                | Fault::UnknownBody { .. }
                | Fault::UnknownJoint { .. }
                | Fault::UnknownTemplate { .. }
                | Fault::MissingArgument { .. }
                | Fault::ExtraArgument { .. }
                | Fault::UnusedTemplate { .. }
                | Fault::UnknownMaterial { .. }
                | Fault::UnknownSection { .. }
                | Fault::NoDrive
                | Fault::NothingMoves
                | Fault::WrongType { .. }
        )
    }

    /// What to try next.
    #[allow(clippy::too_many_lines)] // one line per fault
    pub fn help(&self) -> Option<String> {
        let did_you_mean = |n: &Option<String>| n.as_ref().map(|n| format!("did you mean `{n}`?"));
        match self {
            Fault::TooLarge { .. } => Some("a robot file holds a robot; keep data in files of their own".into()),
            Fault::Syntax { message } if message.contains("must be quoted") => {
                Some("texts, quantities and expressions stand in quotes: \"210 mm\"".into())
            }
            Fault::Syntax { message } if message.contains("duplicate key") => {
                Some("remove or rename one of the two".into())
            }
            Fault::UnknownKey { nearest, table, .. } => {
                did_you_mean(nearest).or_else(|| Some(format!("`gough schema` lists the keys of {table}")))
            }
            Fault::MissingKey { key, .. } => Some(format!("add `{key} = ..`")),
            Fault::BadName { .. } => Some("use letters, digits, `-` and `_`".into()),
            Fault::Duplicate { .. } => Some("give each its own name".into()),
            Fault::ExpressionTooLong { .. } | Fault::TooDeep { .. } => {
                Some("split it: give parts a name in [parameters] or `let`".into())
            }
            Fault::BadExpression { .. } => Some(
                "expressions know + - * / ^, ( ), sqrt sin cos tan atan2 hypot abs, pi, parameters and quantities"
                    .into(),
            ),
            Fault::BadExponent => Some("an exponent is a whole or half number, such as 2 or 0.5".into()),
            Fault::UnknownUnit { nearest, .. } => did_you_mean(nearest)
                .or_else(|| Some(format!("known units: {}", units::names().collect::<Vec<_>>().join(" ")))),
            Fault::UnknownName { nearest, .. } => did_you_mean(nearest)
                .or_else(|| Some("define it in [parameters], or in `needs` or `let` of the template".into())),
            Fault::UnknownBody { nearest, .. }
            | Fault::UnknownJoint { nearest, .. }
            | Fault::UnknownTemplate { nearest, .. }
            | Fault::UnknownMaterial { nearest, .. }
            | Fault::UnknownSection { nearest, .. }
            | Fault::UnknownPoint { nearest, .. }
            | Fault::UnknownParameter { nearest, .. }
            | Fault::UnknownCoordinate { nearest, .. } => did_you_mean(nearest),
            Fault::SumOfDimensions { .. } => Some("check the units of both terms".into()),
            Fault::WrongDimension { expected, .. } => Some(format!("give {}", units::describe(*expected))),
            Fault::AngleExpected { .. } => Some("divide by a length, or give an angle in rad or deg".into()),
            Fault::NotFinite { .. } => Some("look for a division by zero or the root of a negative number".into()),
            Fault::Absurd { .. } => Some("check the unit: lengths are in metres, masses in kilograms".into()),
            Fault::ReservedName { .. } => {
                Some("units, functions and pi cannot be redefined; choose another name".into())
            }
            Fault::Cycle { .. } => Some("give one of them a value of its own".into()),
            Fault::MissingArgument { name, .. } => Some(format!("add `{name} = ..` to this leg")),
            Fault::ExtraArgument { nearest, template, name } => {
                did_you_mean(nearest).or_else(|| Some(format!("remove it, or add \"{name}\" to `needs` of {template}")))
            }
            Fault::UnknownPlaceholder { .. } => Some("only {leg}, the key of the leg, is replaced in names".into()),
            Fault::UnusedTemplate { .. } => Some("use it in [legs] or remove it".into()),
            Fault::UnknownActuation { known, .. } if known.is_empty() => {
                Some("the file has no [actuation]: all its drives work".into())
            }
            Fault::UnknownActuation { known, .. } => Some(format!("the sets of the file are {}", known.join(", "))),
            Fault::ParentCycle { names } if names.len() == 1 => {
                Some("let it stand `on` the base, the platform or another body".into())
            }
            Fault::ParentCycle { .. } => {
                Some("let one of them stand `on` the base, the platform or another body".into())
            }
            Fault::TwoPlacements => Some("place a body by `mdh`, or by `frame`, `point` and `axis`".into()),
            Fault::NeedsKey { key, .. } => Some(format!("add `{key}`")),
            Fault::UselessKey { key, .. } => Some(format!("remove `{key}`")),
            Fault::ZeroVector { .. } => Some("give a direction, such as [0, 0, 1]".into()),
            Fault::BadCompliance { .. } => Some(
                "write 36 numbers row by row: motion x, y, z, rotation x, y, z by force and moment; an entry and its mirror are equal"
                    .into(),
            ),
            Fault::ParallelAxes => Some("the two axes of a U joint are usually perpendicular".into()),
            Fault::BadRange { .. } => Some("write [lowest, highest]".into()),
            Fault::Negative { .. } => Some("give zero or a positive number".into()),
            Fault::NotPositive { .. } => Some("give a positive number".into()),
            Fault::TwoCentres => Some("keep `com` or `first_moment`".into()),
            Fault::TwoInertias => {
                Some("give a `shape`, or `mass` and `inertia`; add point masses with `lumped`".into())
            }
            Fault::NonPhysicalInertia { .. } => Some(
                "check signs, units and whether the inertia is `at` the origin or the com; \
                 for grouped (base) parameters, or when only zz of a planar robot is known, write grouped = true"
                    .into(),
            ),
            Fault::NoDrive => Some("give the driven joints a `drive = {}`".into()),
            Fault::ClosureOnItself { .. } => Some("a closure joins two different bodies".into()),
            Fault::ClosureNeedsName => Some("add `name = ..`: the joint becomes a coordinate of that name".into()),
            Fault::NotDriven { .. } => Some("give the joint a `drive`, or leave it out of the set".into()),
            Fault::BadFile { .. } => Some("the path is relative to the robot file".into()),
            Fault::NothingMoves => Some("add bodies with joints, on the base".into()),
            Fault::Unattached { body } if body == "platform" => {
                Some("add a closure between a leg and the platform".into())
            }
            Fault::Unattached { .. } => {
                Some("add a closure that ties its leg to the platform or to another leg".into())
            }
            Fault::HomeOutOfRange { .. } => Some("widen the `range`, or give `home` another pose or `mode`".into()),
            Fault::BadHome { .. } => Some("give `home` another pose, or `near` for its joints".into()),
            Fault::SingularArchitecture { .. } => {
                Some("change where legs are attached: base and platform may not be alike".into())
            }
            Fault::LoopNotClosed { .. } => Some(
                "check lengths and frames of the two sides; give `home` a reachable pose, or `near` for its joints"
                    .into(),
            ),
            Fault::FalseClaim { .. } => Some("change `coordinates`, or the joints".into()),
            Fault::NotActuated { .. } => Some("add a drive, or remove a freedom".into()),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    #[allow(clippy::too_many_lines)] // one sentence per fault, all in one place
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::TooLarge { bytes, most } => write!(f, "the file has {bytes} bytes; at most {most} are read"),
            Fault::Syntax { message } => write!(f, "not TOML: {message}"),
            Fault::UnknownKey { key, table, .. } => write!(f, "unknown key `{key}` in {table}"),
            Fault::MissingKey { key, table } => write!(f, "{table} has no `{key}`"),
            Fault::WrongType { key, expected, found } => write!(f, "`{key}` is {found}; expected {expected}"),
            Fault::TooMany { what, count, most } => write!(f, "{count} {what}; at most {most} are accepted"),
            Fault::BadName { name, reason } => write!(f, "`{name}` cannot be a name: {reason}"),
            Fault::Duplicate { what, name } => write!(f, "two {what} are called `{name}`"),
            Fault::ExpressionTooLong { bytes, most } => {
                write!(f, "the expression has {bytes} bytes; at most {most} are read")
            }
            Fault::TooDeep { most } => write!(f, "the expression is nested deeper than {most} levels"),
            Fault::BadExpression { found, expected } => {
                write!(f, "found `{found}` in the expression where {expected} should be")
            }
            Fault::BadExponent => write!(f, "the exponent is not a whole or half constant of modest size"),
            Fault::UnknownUnit { name, .. } => write!(f, "unknown unit `{name}`"),
            Fault::UnknownName { name, .. } => write!(f, "nothing is called `{name}` here"),
            Fault::WrongArity { function, expected, found } => {
                write!(f, "`{function}` takes {expected} argument(s), found {found}")
            }
            Fault::SumOfDimensions { left, right } => {
                write!(f, "a sum or comparison of {} and {}", units::describe(*left), units::describe(*right))
            }
            Fault::WrongDimension { key, found, .. } => write!(f, "`{key}` is {}", units::describe(*found)),
            Fault::AngleExpected { function, found } => write!(f, "`{function}` of {}", units::describe(*found)),
            Fault::NotFinite { value } => write!(f, "the value is {value}"),
            Fault::Absurd { key, value } => write!(f, "`{key}` is {value:e}, beyond any robot"),
            Fault::ReservedName { name } => write!(f, "`{name}` is a unit, a function or a constant"),
            Fault::Cycle { names } => write!(f, "defined by each other: {}", names.join(" -> ")),
            Fault::UnknownParameter { name, .. } => write!(f, "the robot has no parameter `{name}` to set"),
            Fault::UnknownTemplate { name, .. } => write!(f, "no template named `{name}`"),
            Fault::MissingArgument { name, template } => write!(f, "template `{template}` needs `{name}`"),
            Fault::ExtraArgument { name, template, .. } => write!(f, "template `{template}` has no use for `{name}`"),
            Fault::UnknownPlaceholder { name } => write!(f, "unknown placeholder `{{{name}}}`"),
            Fault::UnusedTemplate { name } => write!(f, "template `{name}` is not used by any leg"),
            Fault::UnknownBody { name, .. } => write!(f, "no body named `{name}`"),
            Fault::UnknownJoint { name, .. } => write!(f, "no joint named `{name}`"),
            Fault::ParentCycle { names } if names.len() == 1 => write!(f, "body `{}` stands on itself", names[0]),
            Fault::ParentCycle { names } => write!(f, "bodies stand on each other: {}", names.join(" -> ")),
            Fault::TwoPlacements => write!(f, "placed both by `mdh` and by `frame`, `point` or `axis`"),
            Fault::NeedsKey { key, because } => write!(f, "`{key}` is missing: {because}"),
            Fault::UselessKey { key, because } => write!(f, "`{key}` has no meaning here: {because}"),
            Fault::ZeroVector { key } => write!(f, "`{key}` has no direction"),
            Fault::ParallelAxes => write!(f, "`axis` and `axis2` are parallel"),
            Fault::BadCompliance { skew: true } => write!(f, "the compliance is not symmetric"),
            Fault::BadCompliance { skew: false } => {
                write!(f, "the compliance gives way against a force: it is not positive")
            }
            Fault::BadRange { low, high } => write!(f, "the range [{low}, {high}] is empty"),
            Fault::Negative { key, value } => write!(f, "`{key}` is negative: {value}"),
            Fault::NotPositive { key, value } => write!(f, "`{key}` is not positive: {value}"),
            Fault::TwoCentres => write!(f, "both `com` and `first_moment` are given"),
            Fault::TwoInertias => write!(f, "the inertia is given twice"),
            Fault::NonPhysicalInertia { body, reason } => write!(f, "no body has the inertia of `{body}`: {reason}"),
            Fault::NoDrive => write!(f, "no joint has a drive"),
            Fault::ClosureOnItself { body } => write!(f, "the closure joins `{body}` to itself"),
            Fault::ClosureNeedsName => write!(f, "a closure with friction, stiffness or a range needs a name"),
            Fault::UnknownActuation { name, .. } => write!(f, "no set of drives is called `{name}`"),
            Fault::NotDriven { name } => write!(f, "joint `{name}` has no drive"),
            Fault::UnknownCoordinate { name, .. } => write!(f, "no platform coordinate `{name}`"),
            Fault::BadCoupling { reason } | Fault::BadCoordinates { reason } | Fault::BadMode { reason, .. } => {
                write!(f, "{reason}")
            }
            Fault::UnknownMaterial { name, .. } => write!(f, "no material named `{name}`"),
            Fault::UnknownSection { name, .. } => write!(f, "no section named `{name}`"),
            Fault::BadSection { reason } => write!(f, "{reason}"),
            Fault::BadFile { name, reason } => write!(f, "`{name}` cannot be used: {reason}"),
            Fault::UnknownPoint { name, .. } => write!(f, "the modal body has no point `{name}`"),
            Fault::NothingMoves => write!(f, "the robot has no bodies"),
            Fault::Unattached { body } if body == "platform" => write!(f, "`{body}` is not attached to any leg"),
            Fault::Unattached { body } => write!(f, "`{body}` is attached to nothing: it moves without the platform"),
            Fault::HomeOutOfRange { joint, value, range: [low, high] } => {
                write!(
                    f,
                    "at the home pose joint `{joint}` would be at {value:.6}, outside its range [{low:.6}, {high:.6}]"
                )
            }
            Fault::BadHome { reason } => write!(f, "the home pose cannot be taken: {reason}"),
            Fault::LoopNotClosed { closure, gap_m, gap_rad } => {
                write!(f, "the loop through {closure} does not close: {gap_m:.3e} m and {gap_rad:.3e} rad remain")
            }
            Fault::FalseClaim { claimed, found } => write!(f, "the platform is said to move in {claimed}, but {found}"),
            Fault::IdleFreedom { joint, instead } => write!(f, "{joint} moves nothing else; {instead}"),
            Fault::NotActuated { degrees, drives } => {
                write!(f, "{degrees} degrees of freedom but {drives} drives: the robot can move with its motors held")
            }
            Fault::SingularArchitecture { degrees, drives } => write!(
                f,
                "the architecture is singular: {drives} drives for {degrees} degrees of freedom, but with the motors held \
                 the platform still moves, at every posture"
            ),
        }
    }
}
