//! Stage 7: models as straight-line programs with few operations, and as source code.
//!
//! A model is written once, for any scalar ([`ModelKind`]); run on symbols it becomes a program. The program is brought into
//! a canonical form, equal parts are computed once, common factors and common parts of sums and products are shared, and
//! the graph that is left is counted and written in one of several languages.
//!
//! ```
//! use gough::codegen::{CodeOptions, Language, ModelKind, generate};
//!
//! let robot = gough::Robot::shipped("five-bar").expect("shipped");
//! let code = generate(&robot, &CodeOptions::new(ModelKind::Idm, Language::C))?;
//! assert!(code.count.operations() <= 190);
//! assert_eq!(code.files[0].name, "five_bar_idm.h");
//! # Ok::<(), gough::codegen::CodegenError>(())
//! ```

pub(crate) mod canon;
mod checked;
mod derive;
mod emit;
pub mod encode;
mod flexible;
mod frames;
pub(crate) mod graph;
mod legs;
pub(crate) mod lower;
mod models;
mod optimise;
mod pairs;
mod plan;
mod published;
mod regroup;
mod rod_legs;
mod rods;
mod share;
mod shortest;
mod sight;
mod written;

pub use graph::Count;
pub use models::Group;
pub use optimise::StageCounts;
pub use published::{Published, published};

use crate::Robot;
use crate::dynamics::regressor::StandardSet;
use crate::elastodynamics::{Actuators, ElasticError};
use crate::kinematics::{SolveError, WorkingMode};
use checked::TestVectors;
use emit::CodeFunction;
use models::Inputs;
use shortest::Traced;
use std::fmt;
use written::WrittenModel;

/// Models that can be generated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ModelKind {
    /// Joints from the pose.
    Igm,
    /// Joint rates and accelerations from the motion of the platform.
    Kinematics,
    /// The inverse Jacobian.
    Jacobian,
    /// Efforts from motion.
    Idm,
    /// Motion from efforts.
    Ddm,
    /// Mass and stiffness of a flexible robot.
    MassStiffness,
    /// Inertia and stiffness of the platform by the Cartesian method.
    CartesianFrequencies,
    /// Efforts for a unit of each dynamic parameter.
    Regressor,
    /// The pose from measured joints, starting from the pose an instant before.
    Fgm,
    /// Inertia of the robot on its platform, and the forces that its motion needs besides.
    Inertia,
    /// Efforts and elastic accelerations of a flexible robot from the motion of its active joints.
    FlexibleIdm,
    /// Accelerations of a flexible robot under efforts.
    FlexibleDdm,
}

impl ModelKind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Igm,
        Self::Kinematics,
        Self::Jacobian,
        Self::Idm,
        Self::Ddm,
        Self::MassStiffness,
        Self::CartesianFrequencies,
        Self::Regressor,
        Self::Fgm,
        Self::Inertia,
        Self::FlexibleIdm,
        Self::FlexibleDdm,
    ];

    /// Those whose operations the book lists for every robot.
    #[doc(hidden)]
    pub const COUNTED: [Self; 6] =
        [Self::Igm, Self::Kinematics, Self::Jacobian, Self::Idm, Self::Ddm, Self::MassStiffness];

    /// How it is called on the command line and in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Igm => "igm",
            Self::Kinematics => "kinematics",
            Self::Jacobian => "jacobian",
            Self::Idm => "idm",
            Self::Ddm => "ddm",
            Self::MassStiffness => "mass-stiffness",
            Self::CartesianFrequencies => "cartesian-frequencies",
            Self::Regressor => "regressor",
            Self::Fgm => "fgm",
            Self::Inertia => "inertia",
            Self::FlexibleIdm => "flexible-idm",
            Self::FlexibleDdm => "flexible-ddm",
        }
    }

    /// What it answers.
    #[doc(hidden)]
    pub fn title(self) -> &'static str {
        match self {
            Self::Igm => "inverse geometry (7.1): joints from the pose of the platform",
            Self::Kinematics => "kinematics (7.95), (7.183): joint rates and accelerations from the platform's",
            Self::Jacobian => "inverse Jacobian (7.63): rates of the drives from the twist of the platform",
            Self::Idm => "inverse dynamics (8.72): efforts of the drives from the motion of the platform",
            Self::Ddm => "direct dynamics (8.162): acceleration of the platform under efforts of the drives",
            Self::MassStiffness => {
                "mass and stiffness (11.26), (11.27): small motions of the flexible robot around a pose"
            }
            Self::CartesianFrequencies => "inertia and stiffness of the platform, Cartesian method: one 6 x 6 problem",
            Self::Regressor => "regressor (8.264): efforts of the drives for a unit of each dynamic parameter",
            Self::Fgm => {
                "forward geometry (7.2): pose from the active joints, by two Newton steps from the pose before"
            }
            Self::Inertia => "inertia M(x) and forces h(x, v) on the platform (8.162): M a + h = J_inv^T tau",
            Self::FlexibleIdm => {
                "inverse elastodynamics (10.124): efforts and elastic accelerations from the motion of the active joints"
            }
            Self::FlexibleDdm => "direct elastodynamics (10.124): accelerations of the flexible robot under efforts",
        }
    }

    /// Whether it is a model of a flexible robot in motion.
    #[doc(hidden)]
    pub fn is_flexible_motion(self) -> bool {
        matches!(self, Self::FlexibleIdm | Self::FlexibleDdm)
    }
}

/// Languages that code is written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// C99.
    C,
    /// C for four states at once, in vectors of the compiler.
    C4,
    /// A crate without the standard library.
    Rust,
    /// A module on numpy arrays.
    Python,
    /// Functions for MATLAB and Octave.
    Matlab,
    /// A kernel with one thread per state.
    Cuda,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::C, Self::C4, Self::Rust, Self::Python, Self::Matlab, Self::Cuda];

    /// How it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::C4 => "c4",
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Matlab => "matlab",
            Self::Cuda => "cuda",
        }
    }
}

/// How systems of equations in a model are solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Solve {
    /// WrittenModel out, in an order of pivots that is fixed.
    #[default]
    Unrolled,
    /// By a routine with pivoting that comes with the file.
    Routine,
}

/// What a generated model takes besides the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FurtherInput {
    /// A wrench from outside on the platform.
    Wrench,
    /// A body that the platform carries.
    Payload,
}

impl FurtherInput {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Wrench, Self::Payload];

    /// How it is called on the command line and in code.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrench => "wrench",
            Self::Payload => "payload",
        }
    }
}

/// How code takes the orientation of a platform with six freedoms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OrientationInput {
    /// Nine numbers, row by row.
    #[default]
    Matrix,
    /// Four numbers, scalar first.
    Quaternion,
}

/// Numbers that code computes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Precision {
    /// Eight bytes.
    #[default]
    F64,
    /// Four bytes.
    F32,
}

/// The number of four bytes that is nearest.
#[allow(clippy::cast_possible_truncation)] // Digits are lost on purpose.
fn single(x: f64) -> f32 {
    x as f32
}

/// Coordinates of the small motions of a flexible robot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ElasticCoordinates {
    /// Motions of nodes, in axes that go with the legs.
    #[default]
    Nodal,
    /// Joints, displacements of each element seen from the one before, and the platform: those of the literature.
    Relative,
}

/// Which named parameters stay inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Symbolic {
    /// These.
    Some(Vec<String>),
    /// All of the robot file.
    All,
}

/// What is to be generated.
#[derive(Clone, PartialEq, Debug)]
pub struct CodeOptions {
    /// The model.
    pub model: ModelKind,
    /// The language.
    pub language: Language,
    /// The working mode; that of the robot file when there is none.
    pub mode: Option<WorkingMode>,
    /// Parameters that stay inputs; all others are folded in.
    pub symbolic: Symbolic,
    /// Inputs that the outputs are differentiated by.
    pub derivatives: Vec<String>,
    /// Friction of all joints is part of the efforts.
    pub friction: bool,
    /// How systems are solved.
    pub solve: Solve,
    /// Coordinates of mass and stiffness.
    pub coordinates: ElasticCoordinates,
    /// What the drives do while the robot vibrates.
    pub actuators: Actuators,
    /// Discriminants of the square roots taken are outputs too: negative means out of reach. They are not counted.
    pub margins: bool,
    /// Dynamic parameters that the efforts are written on, as columns of the regressor or as inputs of inverse dynamics in
    /// place of the masses and friction of the file. The regressor has all of them unless some are chosen.
    pub columns: Option<StandardSet>,
    /// Further inputs of inverse and direct dynamics and of the inertia.
    pub inputs: Vec<FurtherInput>,
    /// How the orientation of a platform with six freedoms is given.
    pub orientation: OrientationInput,
    /// Numbers that the code computes with.
    pub precision: Precision,
}

impl CodeOptions {
    /// A model in a language, numbers folded in.
    pub fn new(model: ModelKind, language: Language) -> Self {
        Self {
            model,
            language,
            mode: None,
            symbolic: Symbolic::Some(Vec::new()),
            derivatives: Vec::new(),
            friction: false,
            solve: Solve::Unrolled,
            coordinates: ElasticCoordinates::default(),
            actuators: Actuators::default(),
            margins: false,
            columns: None,
            inputs: Vec::new(),
            orientation: OrientationInput::default(),
            precision: Precision::default(),
        }
    }
}

/// A file of generated code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its name, with `/` between folders.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Generated code.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// The files.
    pub files: Vec<File>,
    /// Name of the function.
    pub function: String,
    /// Its inputs.
    pub inputs: Vec<Group>,
    /// Its outputs.
    pub outputs: Vec<Group>,
    /// Operations of the code; margins are not counted.
    pub count: Count,
    /// Operations stage by stage.
    pub stages: StageCounts,
    /// The working mode.
    pub mode: String,
    /// Inputs and outputs at some states around home, one list per state: numbers of the library's general road, which the
    /// code is held against before it is given out. Derivatives, margins, mass and stiffness are those of the code.
    pub vectors: Vec<(Vec<f64>, Vec<f64>)>,
}

/// Why there is no code.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum CodegenError {
    /// Legs or platform coordinates that only Newton's method solves.
    NoClosedForm {
        /// The joints that are searched for, leg by leg.
        joints: Vec<String>,
        /// Coordinates of the platform that follow from the closures.
        follow: Vec<String>,
    },
    /// Joints that the pose leaves open.
    OpenJoints {
        /// Their names.
        joints: Vec<String>,
    },
    /// A closure that slides: legs are written for closures that join two points.
    SlidingClosure {
        /// Its name.
        closure: String,
    },
    /// The drives do not hold the platform around home.
    Singular,
    /// Fewer drives than freedoms hold the platform nowhere.
    TooFewDrives {
        /// Drives.
        drives: usize,
        /// Freedoms of the platform.
        freedoms: usize,
    },
    /// The home pose has no posture in the working mode.
    Home(SolveError),
    /// There is no elastic model.
    Elastic(ElasticError),
    /// Nothing has stiffness.
    NothingFlexible,
    /// The code and the library do not agree: an error of the program, so that no code is given out.
    Disagrees {
        /// The largest difference, by the largest number compared with.
        by: f64,
    },
    /// Written out, the model loses digits that the library keeps: it is not run as a program.
    LosesDigits {
        /// The largest difference, by the largest number compared with.
        by: f64,
    },
    /// No parameter of that name.
    UnknownParameter {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// No input of that name.
    UnknownInput {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// Derivatives need the solution written out.
    DerivativesOfRoutine,
    /// So do four states at once.
    RoutineInLanes,
    /// So does the inverse problem of a flexible robot, whose efforts follow from the solution.
    RoutineOfInverse,
    /// A flexible robot whose equations are too long to be written out.
    TooManyCoordinates {
        /// Its independent coordinates.
        count: usize,
        /// Those that are still written out.
        most: usize,
    },
    /// No posture around home gives finite numbers.
    NotFinite,
    /// Only inverse dynamics and the regressor are written on dynamic parameters.
    NoColumns,
    /// An option that this model, robot or language does not have.
    NotTaken {
        /// The option.
        option: &'static str,
        /// What has it.
        of: &'static str,
    },
    /// In numbers of four bytes too many digits are lost.
    LosesSingle {
        /// The largest difference, by the largest number compared with.
        by: f64,
    },
    /// The model is written as code only, and not run by the library.
    NotCompiled {
        /// The model.
        model: ModelKind,
    },
    /// More results than a compiled program can hold.
    TooLarge,
}

impl CodegenError {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoClosedForm { .. } => "no-closed-form",
            Self::OpenJoints { .. } => "open-joints",
            Self::SlidingClosure { .. } => "sliding-closure",
            Self::Singular | Self::TooFewDrives { .. } => "type2",
            Self::Home(e) => e.kind(),
            Self::Elastic(e) => e.kind(),
            Self::NothingFlexible => "nothing-flexible",
            Self::UnknownParameter { .. } => "unknown-parameter",
            Self::UnknownInput { .. } => "unknown-input",
            Self::DerivativesOfRoutine
            | Self::RoutineInLanes
            | Self::RoutineOfInverse
            | Self::NoColumns
            | Self::NotTaken { .. } => "usage",
            Self::NotFinite => "not-finite",
            Self::Disagrees { .. } => "disagrees",
            Self::LosesDigits { .. } | Self::LosesSingle { .. } => "loses-digits",
            Self::NotCompiled { .. } => "not-compiled",
            Self::TooLarge | Self::TooManyCoordinates { .. } => "too-large",
        }
    }

    /// Whether the question itself was wrong.
    pub fn is_misuse(&self) -> bool {
        match self {
            Self::UnknownParameter { .. }
            | Self::UnknownInput { .. }
            | Self::NothingFlexible
            | Self::DerivativesOfRoutine
            | Self::RoutineInLanes
            | Self::RoutineOfInverse
            | Self::NotCompiled { .. }
            | Self::NotTaken { .. }
            | Self::NoColumns => true,
            Self::Home(e) => e.is_misuse(),
            Self::Elastic(e) => e.is_misuse(),
            _ => false,
        }
    }
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClosedForm { joints, follow } => {
                let what = match (joints.is_empty(), follow.is_empty()) {
                    (true, true) => "legs do not close all loops by themselves, so that every posture is searched".to_owned(),
                    (false, true) => format!("no closed form gives {}", joints.join(", ")),
                    (_, false) => format!("{} of the platform follow from the closures", follow.join(", ")),
                };
                write!(
                    f,
                    "{what}: a search cannot be written as a straight line; `kinematics`, `idm` and `ddm` answer for this robot, one \
                     posture after the other or in lists (`--states`)"
                )
            }
            Self::OpenJoints { joints } => write!(
                f,
                "the pose leaves {} open: generated models are for robots whose pose gives every joint; name a set of \
                 drives that it does with --actuation",
                joints.join(", ")
            ),
            Self::Singular => f.write_str(
                "around the home pose the drives do not hold the platform (Type 2 singularity): give the robot file \
                 another home, or another working mode",
            ),
            Self::TooFewDrives { drives, freedoms } => write!(
                f,
                "{drives} drives for {freedoms} freedoms of the platform hold it nowhere (Type 2 singularity): drive another joint, or \
                 name other drives with --actuation; models igm, kinematics, jacobian and ddm are written all the same"
            ),
            Self::Home(e) => write!(f, "the home pose, around which code is planned, has no posture in this mode: {e}"),
            Self::Elastic(e) => e.fmt(f),
            Self::NothingFlexible => f.write_str(
                "nothing of this robot has stiffness in this model: give bodies `beam` or `modal`, joints a `stiffness`, or drives a \
                 transmission (the stiffness of a servo acts in frequencies alone); the rigid robot has the models `idm` and `ddm`",
            ),
            Self::SlidingClosure { closure } => write!(
                f,
                "closure {closure} slides, and code is written for closures that join two points: make the slide the joint of a \
                 body and close the loop by another joint; model `igm` is written all the same"
            ),
            Self::Disagrees { by } => write!(
                f,
                "generated code and library differ by {by:.1e} around home: an error of the program, please report the robot; \
                 the library itself answers (`idm`, `ddm`)"
            ),
            Self::LosesDigits { by } => write!(
                f,
                "written out, the model differs from the library's by {by:.1e} around home, where legs are close to the limits of \
                 their reach: give the robot file another home; batches (`idm`, `ddm`) are answered one state after the other"
            ),
            Self::UnknownParameter { name, known } => {
                write!(f, "no parameter `{name}`; the robot file has {}", listed(known))
            }
            Self::UnknownInput { name, known } => write!(f, "no input `{name}`; the model has {}", listed(known)),
            Self::DerivativesOfRoutine => {
                f.write_str("derivatives need the solution written out: leave out `--solve routine`")
            }
            Self::RoutineInLanes => f.write_str(
                "four states at once are solved written out: leave out `--solve routine`, or take `--lang c`",
            ),
            Self::RoutineOfInverse => f.write_str(
                "flexible-idm is solved written out, since its efforts follow from the solution: leave out `--solve routine`, or \
                 take flexible-ddm",
            ),
            Self::TooManyCoordinates { count, most } => write!(
                f,
                "{count} independent coordinates are too many to be written out ({most} at most): take flexible-ddm with \
                 `--solve routine`, fewer `elements` of beams, or `dimension = 2` in `[elastic]`"
            ),
            Self::NoColumns => f.write_str(
                "dynamic parameters are inputs of `idm` and columns of `regressor`: leave out `--parameters` for other models",
            ),
            Self::NotTaken { option, of } => write!(f, "{option} is of {of}: leave it out"),
            Self::LosesSingle { by } => write!(
                f,
                "in numbers of four bytes the code differs by {by:.1e} from the library around home, where a thousandth is the most: leave \
                 out `--precision f32`, or give the robot file another home"
            ),
            Self::NotCompiled { model } => write!(
                f,
                "model `{}` is written as code and not run over blocks; igm, kinematics, jacobian, idm and ddm are",
                model.name()
            ),
            Self::TooLarge => {
                f.write_str("the model has too many results for a compiled program: ask the general road (`idm`, `ddm`), or generate code")
            }
            Self::NotFinite => f.write_str(
                "no posture around home gives finite numbers: where `ddm` refuses too, give the bodies their masses and inertias",
            ),
        }
    }
}

impl std::error::Error for CodegenError {}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A model of a robot as source code.
pub fn generate(robot: &Robot, options: &CodeOptions) -> Result<Generated, CodegenError> {
    if options.solve == Solve::Routine && !options.derivatives.is_empty() {
        return Err(CodegenError::DerivativesOfRoutine);
    }
    if options.solve == Solve::Routine && options.language == Language::C4 {
        return Err(CodegenError::RoutineInLanes);
    }
    taken(robot, options)?;
    let mode = options.mode.as_ref().unwrap_or(robot.mode());
    let symbolic = parameters(robot, &options.symbolic)?;
    let (subject, Traced { inputs, mut outputs, program, system, graph }) =
        WrittenModel::new(robot, mode, symbolic, options)?;
    let by = chosen(&inputs, &options.derivatives)?;
    // Derivatives are taken of what is optimised already.
    let again = if by.is_empty() { optimise::optimise } else { optimise::lightly };
    let (program, bare) = if by.is_empty() {
        (program, graph)
    } else {
        outputs.push(derivative_group(&inputs, &outputs, &by));
        let program = derive::with_derivatives(&graph.program(&program.inputs), &by);
        let graph = optimise::lightly(&program);
        (program, graph)
    };
    let (count, stages) = (bare.count(), optimise::stages(&program, &bare));
    let (program, graph) = if options.margins {
        let program = subject.with_margins(&program, &inputs);
        outputs.push(subject.margin_group(program.outputs.len() - bare.outputs.len()));
        let graph = again(&program);
        (program, graph)
    } else {
        (program, bare)
    };
    let name = format!("{}_{}", identifier(&robot.model().topology().name), identifier(options.model.name()));
    let code = |x: &[f64]| solved(&program.eval(x), system);
    let TestVectors { list: vectors, mut tolerance } = subject.vectors(options.model, &inputs, code)?;
    if options.precision == Precision::F32 {
        tolerance = checked::in_single(&graph, system, &vectors)?;
    }
    let unit = CodeFunction {
        name,
        inputs,
        outputs,
        graph: &graph,
        system,
        about: subject.about(robot, mode, options, &count),
        vectors,
        tolerance,
        precision: options.precision,
    };
    let files = emit::files(options.language, &unit);
    let mode = mode.name(robot.model().topology());
    let CodeFunction { name, inputs, outputs, vectors, .. } = unit;
    Ok(Generated { files, function: name, inputs, outputs, count, stages, mode, vectors })
}

/// Options that the model, the robot and the language have.
fn taken(robot: &Robot, options: &CodeOptions) -> Result<(), CodegenError> {
    let forces = matches!(options.model, ModelKind::Idm | ModelKind::Ddm | ModelKind::Inertia);
    if !options.inputs.is_empty() && !forces {
        return Err(CodegenError::NotTaken { option: "--inputs", of: "models idm, ddm and inertia" });
    }
    if !options.inputs.is_empty() && options.columns.is_some() {
        let of = "models with the masses of the file, not of those on dynamic parameters (`--parameters`)";
        return Err(CodegenError::NotTaken { option: "--inputs", of });
    }
    if options.orientation == OrientationInput::Quaternion {
        let spatial = robot.model().topology().platform.coordinates == crate::description::Coordinates::Spatial;
        if !spatial || options.model.is_flexible_motion() {
            let of = "platforms with six freedoms, whose pose is a position and a rotation; flexible-idm and flexible-ddm take the matrix";
            return Err(CodegenError::NotTaken { option: "--orientation quaternion", of });
        }
    }
    if options.precision == Precision::F32 {
        let matrices = matches!(options.model, ModelKind::MassStiffness | ModelKind::CartesianFrequencies);
        let of = if matches!(options.language, Language::Python | Language::Matlab) {
            "c, c4, rust and cuda; modules for Python compute with eight bytes, functions for MATLAB with what they are given"
        } else if matrices || options.model.is_flexible_motion() {
            "rigid models: stiffness needs more digits"
        } else {
            return Ok(());
        };
        return Err(CodegenError::NotTaken { option: "--precision f32", of });
    }
    Ok(())
}

/// Dynamic parameters that the efforts are written on.
fn columns(robot: &Robot, options: &CodeOptions) -> Result<Option<StandardSet>, CodegenError> {
    if !matches!(options.model, ModelKind::Idm | ModelKind::Regressor) {
        return if options.columns.is_some() { Err(CodegenError::NoColumns) } else { Ok(None) };
    }
    if options.model == ModelKind::Idm || options.columns.is_some() {
        return Ok(options.columns.clone());
    }
    let all = StandardSet::new(robot.model());
    Ok(Some(if options.friction { all } else { all.without_friction() }))
}

/// What a program left to a routine computes in the end: its outputs are scales, matrix and right-hand side.
fn solved(y: &[f64], system: Option<usize>) -> Vec<f64> {
    let Some(n) = system else { return y.to_vec() };
    let A = crate::linalg::small::Dense { rows: n, cols: n, data: y[n..n + n * n].to_vec() };
    let b = crate::linalg::small::Dense { rows: n, cols: 1, data: y[n + n * n..2 * n + n * n].to_vec() };
    let x = A.solve(&b).map_or_else(|| vec![f64::NAN; n], |x| x.data);
    x.iter().zip(y).map(|(x, k)| x * k).chain(y[2 * n + n * n..].iter().copied()).collect()
}

/// Inputs by name.
fn split<S: Copy>(groups: &[Group], x: &[S]) -> Inputs<S> {
    let mut inputs = Inputs {
        parameters: Vec::new(),
        pose: Vec::new(),
        twist: Vec::new(),
        acceleration: Vec::new(),
        efforts: Vec::new(),
        joints: Vec::new(),
        chi: Vec::new(),
        wrench: Vec::new(),
        payload: Vec::new(),
    };
    let mut rest = x;
    for group in groups {
        let (own, later) = rest.split_at(group.entries.len());
        rest = later;
        let list = match group.name.as_str() {
            "pose" => &mut inputs.pose,
            "twist" => &mut inputs.twist,
            "acceleration" => &mut inputs.acceleration,
            "efforts" => &mut inputs.efforts,
            "joints" => &mut inputs.joints,
            "chi" => &mut inputs.chi,
            "wrench" => &mut inputs.wrench,
            "payload" => &mut inputs.payload,
            _ => &mut inputs.parameters,
        };
        *list = own.to_vec();
    }
    inputs
}

fn parameters(robot: &Robot, symbolic: &Symbolic) -> Result<Vec<usize>, CodegenError> {
    let all = robot.model().parameters();
    let names = match symbolic {
        Symbolic::All => return Ok((0..all.len()).collect()),
        Symbolic::Some(names) => names,
    };
    let mut list = Vec::new();
    for name in names {
        let known = || all.iter().map(|p| p.name.clone()).collect();
        let place = all.iter().position(|p| p.name == *name);
        let k = place.ok_or_else(|| CodegenError::UnknownParameter { name: name.clone(), known: known() })?;
        if !list.contains(&k) {
            list.push(k);
        }
    }
    list.sort_unstable();
    Ok(list)
}

/// Places of inputs chosen by name; the name of a group stands for all of it.
fn chosen(inputs: &[Group], names: &[String]) -> Result<Vec<usize>, CodegenError> {
    let entries: Vec<(&str, &str)> =
        inputs.iter().flat_map(|g| g.entries.iter().map(|e| (g.name.as_str(), e.as_str()))).collect();
    let mut list = Vec::new();
    for name in names {
        let own: Vec<usize> = (0..entries.len()).filter(|k| entries[*k].0 == name || entries[*k].1 == name).collect();
        if own.is_empty() {
            let groups = inputs.iter().map(|g| g.name.clone());
            let known = groups.chain(entries.iter().map(|e| e.1.to_owned())).collect();
            return Err(CodegenError::UnknownInput { name: name.clone(), known });
        }
        list.extend(own);
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

fn derivative_group(inputs: &[Group], outputs: &[Group], by: &[usize]) -> Group {
    let names: Vec<&String> = inputs.iter().flat_map(|g| &g.entries).collect();
    let rows = outputs.iter().flat_map(|g| &g.entries);
    let entries: Vec<String> =
        rows.flat_map(|o| by.iter().map(|k| format!("d{o}_d{}", names[*k])).collect::<Vec<_>>()).collect();
    let columns: Vec<&str> = by.iter().map(|k| names[*k].as_str()).collect();
    let about = format!("derivatives of all outputs above (rows) by {} (columns), row by row", columns.join(", "));
    Group { name: "derivatives".to_owned(), about, entries }
}

/// Letters, digits and underscores, not starting with a digit.
fn identifier(name: &str) -> String {
    let text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() { format!("robot_{text}") } else { text }
}
