//! `gough codegen`: a model as source code, or its operations counted.

use crate::ask::one_mode;
use crate::ask::{RobotChoice, hint};
use crate::commands::frequencies::DriveChoice;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::states::left_out_text;
use clap::Args;
use gough::Robot;
use gough::codegen::{
    CodeOptions, Count, ElasticCoordinates, FurtherInput, Generated, Language, ModelKind, OrientationInput, Precision,
    Solve, Symbolic, generate, published,
};
use gough::description::{Concern, LeftOut};
use gough::dynamics::regressor::StandardSet;
use gough::identification::base_parameters;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[allow(clippy::struct_excessive_bools)] // switches of the command line
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// What to generate: igm, kinematics, jacobian, idm, ddm, mass-stiffness,
    /// cartesian-frequencies, regressor, fgm, inertia, flexible-idm, flexible-ddm
    #[arg(long, value_name = "MODEL")]
    model: String,
    /// Language: c, c4 (four states at once), rust, python, matlab, cuda
    #[arg(long, value_name = "LANGUAGE", default_value = "c")]
    lang: String,
    /// Folder that the files are written to; it is made when it is not there
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "count")]
    output: Option<PathBuf>,
    /// Count operations stage by stage; without -o nothing is written
    #[arg(long)]
    count: bool,
    /// Parameters of the robot file that stay inputs: d11,m4 or all
    #[arg(long, value_name = "NAMES")]
    symbolic: Option<String>,
    /// Also derivatives of the outputs by these inputs: pose, x, xdd, ..
    #[arg(long, value_name = "INPUTS")]
    derivatives: Option<String>,
    /// Friction of all joints is part of the efforts
    #[arg(long)]
    friction: bool,
    /// Dynamic parameters that idm takes as inputs and that regressor has columns for: base, the groups of
    /// `gough parameters`, or standard, all of the file; base is what regressor has unless told
    #[arg(long, value_name = "WHICH")]
    parameters: Option<String>,
    /// Further inputs of idm, ddm and inertia: wrench (from outside, on the platform), payload (a body on the platform)
    #[arg(long, value_name = "NAMES")]
    inputs: Option<String>,
    /// Orientation of a platform with six freedoms: matrix, or quaternion, scalar first
    #[arg(long, value_name = "HOW", default_value = "matrix")]
    orientation: String,
    /// Numbers that the code computes with: f64, or f32 (c, c4, rust, cuda)
    #[arg(long, value_name = "NUMBERS", default_value = "f64")]
    precision: String,
    /// Systems of equations: unrolled, in a fixed order of pivots, or by a routine that comes with the file
    #[arg(long, value_name = "HOW", default_value = "unrolled")]
    solve: String,
    /// Coordinates of mass-stiffness: nodal, in axes that go with the legs, or relative, those of the literature
    #[arg(long, value_name = "WHICH", default_value = "nodal")]
    coordinates: String,
    /// What the drives do in mass-stiffness and cartesian-frequencies
    #[arg(long, value_name = "WHAT", default_value = "elastic")]
    actuators: DriveChoice,
    /// Also the discriminants of the closed forms: one that is negative means out of reach
    #[arg(long)]
    margins: bool,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// Print one JSON document instead of text, for failures too
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Where the answer about the files goes; the files themselves go to the folder.
    pub fn answers(&self) -> Output {
        Output { json: self.json, output: None }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = arguments.answers();
    let robot = arguments.subject.load(&output)?;
    answer_for(&robot, arguments, &output).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer_for(robot: &Robot, arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let options = options(robot, arguments)?;
    let code = generate(robot, &options)?;
    let files = match &arguments.output {
        Some(folder) => written(folder, &code, Path::new(&arguments.subject.robot))?,
        None => Files::default(),
    };
    output.give_with(files, || document(robot, arguments, &options, &code), || text(robot, arguments, &options, &code))
}

const COORDINATES: [(&str, ElasticCoordinates); 2] =
    [("nodal", ElasticCoordinates::Nodal), ("relative", ElasticCoordinates::Relative)];

fn coordinates_name(c: ElasticCoordinates) -> &'static str {
    COORDINATES.iter().find(|k| k.1 == c).map_or("", |k| k.0)
}

/// One of these, by name.
fn named<T: Copy>(option: &str, name: &str, known: &[(&str, T)]) -> Result<T, Failure> {
    let names: Vec<&str> = known.iter().map(|k| k.0).collect();
    let found = known.iter().find(|k| k.0 == name).map(|k| k.1);
    found.ok_or_else(|| Failure::Usage(format!("{option}: no `{name}`; {}", hint(name, &names))))
}

fn options(robot: &Robot, arguments: &Arguments) -> Result<CodeOptions, Failure> {
    let list = |text: &str| -> Vec<String> { text.split(',').map(|w| w.trim().to_owned()).collect() };
    Ok(CodeOptions {
        model: named("--model", &arguments.model, &ModelKind::ALL.map(|m| (m.name(), m)))?,
        language: named("--lang", &arguments.lang, &Language::ALL.map(|l| (l.name(), l)))?,
        mode: Some(one_mode(robot, arguments.mode.as_deref())?),
        symbolic: match arguments.symbolic.as_deref() {
            None => Symbolic::Some(Vec::new()),
            Some("all") => Symbolic::All,
            Some(names) => Symbolic::Some(list(names)),
        },
        derivatives: arguments.derivatives.as_deref().map(list).unwrap_or_default(),
        friction: arguments.friction,
        solve: named("--solve", &arguments.solve, &[("unrolled", Solve::Unrolled), ("routine", Solve::Routine)])?,
        coordinates: named("--coordinates", &arguments.coordinates, &COORDINATES)?,
        actuators: arguments.actuators.of(),
        margins: arguments.margins,
        columns: columns(robot, arguments)?,
        inputs: further(arguments)?,
        orientation: named("--orientation", &arguments.orientation, &ORIENTATIONS)?,
        precision: named("--precision", &arguments.precision, &PRECISIONS)?,
    })
}

const ORIENTATIONS: [(&str, OrientationInput); 2] =
    [("matrix", OrientationInput::Matrix), ("quaternion", OrientationInput::Quaternion)];

const PRECISIONS: [(&str, Precision); 2] = [("f64", Precision::F64), ("f32", Precision::F32)];

/// Inputs besides the state, each once.
fn further(arguments: &Arguments) -> Result<Vec<FurtherInput>, Failure> {
    let mut list = Vec::new();
    for name in arguments.inputs.iter().flat_map(|text| text.split(',')) {
        let found = named("--inputs", name.trim(), &FurtherInput::ALL.map(|f| (f.name(), f)))?;
        if !list.contains(&found) {
            list.push(found);
        }
    }
    Ok(list)
}

/// Dynamic parameters that efforts are written on.
fn columns(robot: &Robot, arguments: &Arguments) -> Result<Option<StandardSet>, Failure> {
    let regressor = arguments.model == ModelKind::Regressor.name();
    let Some(which) = arguments.parameters.as_deref().or(regressor.then_some("base")) else { return Ok(None) };
    if named("--parameters", which, &[("base", true), ("standard", false)])? {
        let found = base_parameters(robot, arguments.friction, 1);
        return Ok(Some(found.map_err(|why| Failure::No("parameters", why.to_string()))?.columns(robot)));
    }
    let all = StandardSet::new(robot.model());
    Ok(Some(if arguments.friction { all } else { all.without_friction() }))
}

/// All files, none over the robot file.
fn written(folder: &Path, code: &Generated, robot: &Path) -> Result<Files, Failure> {
    let mut files = Files::default();
    for file in &code.files {
        let path = folder.join(&file.name);
        spares(&path, "-o", robot, "the robot file")?;
        files.make_folder_of(&path)?;
        files.add(&path, file.text.as_bytes())?;
    }
    Ok(files)
}

/// Operations of a function that compilers no longer optimise in reasonable time.
const LONG: usize = 50_000;

/// What the model leaves out of the robot file; geometry and matrices leave out nothing.
fn left_out(robot: &Robot, options: &CodeOptions) -> Vec<LeftOut> {
    let moves = matches!(options.model, ModelKind::Idm | ModelKind::Ddm | ModelKind::Regressor);
    let concern = match options.model {
        ModelKind::FlexibleIdm | ModelKind::FlexibleDdm => Concern::FlexibleMotion,
        _ if moves => Concern::RigidMotion,
        _ => return Vec::new(),
    };
    robot.model().description().left_out(concern)
}

fn operations(count: &Count) -> Value {
    json!({ "add": count.add, "mul": count.mul, "sqrt": count.sqrt, "trig": count.trig })
}

fn stages(code: &Generated) -> [(&'static str, &'static str, Count); 4] {
    let s = &code.stages;
    [
        ("naive", "nothing shared", s.naive),
        ("simplified", "canonical sums and products", s.simplified),
        ("common", "equal expressions once", s.common),
        ("shared", "common factors and parts once", s.shared),
    ]
}

/// Where the files are.
fn paths(arguments: &Arguments, code: &Generated) -> Vec<String> {
    let place = |folder: &PathBuf| code.files.iter().map(|f| folder.join(&f.name).display().to_string()).collect();
    arguments.output.as_ref().map(place).unwrap_or_default()
}

fn document(robot: &Robot, arguments: &Arguments, options: &CodeOptions, code: &Generated) -> Value {
    let group = |g: &gough::codegen::Group| json!({ "name": g.name, "about": g.about, "entries": g.entries });
    let mut document = json!({
        "robot": robot.model().topology().name,
        "model": options.model.name(),
        "language": options.language.name(),
        "function": code.function,
        "operations": operations(&code.count),
        "variables": code.count.variables,
        "left_out": left_out(robot, options),
        "files": paths(arguments, code),
        "working_mode": code.mode,
        "inputs": code.inputs.iter().map(group).collect::<Vec<_>>(),
        "outputs": code.outputs.iter().map(group).collect::<Vec<_>>(),
    });
    if options.model == ModelKind::MassStiffness {
        document["coordinates"] = json!(coordinates_name(options.coordinates));
    }
    if arguments.count {
        document["stages"] = stages(code).iter().map(|(name, _, count)| json!({ *name: operations(count) })).collect();
        if let Some(p) = published(robot.model().topology().name.as_str(), options.model) {
            document["published"] = json!({
                "add": p.add, "mul": p.mul, "variables": p.variables,
                "coordinates": coordinates_name(p.coordinates), "source": p.source,
            });
        }
    }
    document
}

/// A count, or its size where the digits would tell nobody anything.
fn readable(count: usize) -> String {
    if count < 1_000_000_000 { count.to_string() } else { format!("{:.1e}", count as f64) }
}

fn text(robot: &Robot, arguments: &Arguments, options: &CodeOptions, code: &Generated) -> String {
    let mut out = format!("{} of {}, working mode {}\n", code.function, robot.model().topology().name, code.mode);
    if arguments.count {
        let _ = writeln!(out, "\n{:<32}{:>17}{:>17}{:>12}{:>12}", "", "additions", "multiplications", "sqrt", "trig");
        for (_, about, c) in stages(code) {
            let [add, mul, sqrt, trig] = [c.add, c.mul, c.sqrt, c.trig].map(readable);
            let _ = writeln!(out, "{about:<32}{add:>17}{mul:>17}{sqrt:>12}{trig:>12}");
        }
        if let Some(p) = published(robot.model().topology().name.as_str(), options.model) {
            let about = format!("published ({} coordinates)", coordinates_name(p.coordinates));
            let _ = writeln!(out, "{about:<32}{:>17}{:>17}{:>12}{:>12}", p.add, p.mul, "-", "-");
            let (all, variables) = (p.operations(), p.variables);
            let _ = writeln!(out, "\npublished: {all} operations, {variables} variables; {}", p.source);
        }
    }
    let c = &code.count;
    let _ = writeln!(
        out,
        "\n{} operations: {} additions, {} multiplications; {} square roots, {} trigonometric; {} variables",
        c.operations(),
        c.add,
        c.mul,
        c.sqrt,
        c.trig,
        c.variables
    );
    for (way, groups) in [("in ", &code.inputs), ("out", &code.outputs)] {
        for g in groups {
            let _ = writeln!(out, "{way} {}[{}]: {}", g.name, g.entries.len(), g.about);
        }
    }
    if c.operations() > LONG {
        out += "long code: compilers take minutes to optimise a function of this length; compile it without (-O0)\n";
    }
    for path in paths(arguments, code) {
        let _ = writeln!(out, "{path}");
    }
    out += &left_out_text(&left_out(robot, options));
    out
}
