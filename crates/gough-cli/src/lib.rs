//! The command line of Gough: [`run`] is the program `gough`, [`ask`] is its answer without a program.
//!
//! ```
//! let stop = std::sync::Arc::default();
//! let said = gough_cli::ask(None, &["gough", "robots", "--json"], &stop);
//! assert_eq!(said.status, 0);
//! assert!(said.out.contains("navaro"));
//! ```

mod angles;
mod ask;
mod batch;
mod columns;
mod commands;
mod draw;
mod encode;
mod excerpt;
mod failure;
mod inputs;
mod interrupt;
mod loads;
mod npy;
#[cfg(test)]
mod options;
mod output;
mod plot;
mod record;
mod region;
mod sheet;
mod source;
mod states;
mod streams;
mod table;
mod zip;

use clap::{Parser, Subcommand};
pub use failure::facts;
use gough::Robot;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Dynamics of parallel robots: geometry, singularities, efforts, vibration, generated code.
///
/// A robot is the name of a shipped one (`gough robots`) or a robot file. Exit status: 0 answered, 1 the answer is no
/// (out of reach, singular), 2 the question was wrong (bad file, bad arguments).
#[derive(Parser)]
#[command(name = "gough", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the robots that come with the program
    Robots(commands::robots::Arguments),
    /// Check a robot file and say what the model compiler found in it
    Check(commands::check::Arguments),
    /// Inverse and forward geometry: joints in all working modes, poses in all assembly modes
    Kinematics(commands::kinematics::Arguments),
    /// Which singularities a posture has or is near to, and their curves over a region
    Singularities(commands::singularities::Arguments),
    /// A scalar over a region of the workspace: table and picture
    Map(commands::map::Arguments),
    /// Inverse dynamics: actuator efforts, energies and ground reaction of a motion
    Idm(commands::dynamics::Inverse),
    /// Direct dynamics: accelerations under efforts of the drives
    Ddm(commands::dynamics::Direct),
    /// A motion from pose to pose: by a law, as fast as the drives allow, or through singularities
    Plan(Box<commands::plan::Arguments>),
    /// Source code of a model: C, Rust, Python, MATLAB, CUDA, with its operation count
    Codegen(commands::codegen::Arguments),
    /// Motion over time under efforts or a controller
    Simulate(Box<commands::simulate::Arguments>),
    /// Dynamic parameters that efforts depend on, in which groups; the regressor of a motion
    Parameters(commands::parameters::Arguments),
    /// Values of the dynamic parameters from records of positions and efforts; motions that show them well
    Identify(Box<commands::identify::Arguments>),
    /// Natural frequencies, modes, and how they depend on the parameters of the robot
    Frequencies(commands::frequencies::Arguments),
    /// Frequency response and compliance of the platform of a flexible robot
    Response(commands::response::Arguments),
    /// One page with what there is to know about a robot: figures, tables, and the command behind each
    Report(commands::report::Arguments),
    /// One page that holds the robot and the library: drag it, ask it
    View(commands::view::Arguments),
    /// Print the JSON Schema of the robot file, for editors
    Schema(commands::schema::Arguments),
}

impl Command {
    /// Whether angles are shown in degrees.
    fn degrees(&self) -> bool {
        match self {
            Command::Check(a) => a.angles.degrees,
            Command::Kinematics(a) => a.angles.degrees,
            Command::Singularities(a) => a.angles.degrees,
            Command::Map(a) => a.angles.degrees,
            Command::Idm(a) => a.question.angles.degrees,
            Command::Ddm(a) => a.question.angles.degrees,
            Command::Simulate(a) => a.angles.degrees,
            Command::Frequencies(a) => a.angles.degrees,
            Command::Robots(_)
            | Command::Plan(_)
            | Command::Codegen(_)
            | Command::Parameters(_)
            | Command::Identify(_)
            | Command::Response(_)
            | Command::Report(_)
            | Command::View(_)
            | Command::Schema(_) => false,
        }
    }
}

/// What the program says to arguments, and how it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// Exit status: 0 answered, 1 the answer is no, 2 the question was wrong.
    pub status: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The program: answers its arguments on the streams of the process. The exit status.
pub fn run(arguments: &[OsString]) -> u8 {
    if let Err(missing) = processor_is_new_enough() {
        eprintln!(
            "gough was compiled for processors with {missing}, which this one lacks; build it from source for this machine"
        );
        return 2;
    }
    interrupt::listen();
    answered(arguments)
}

/// The answer of the program without a program: nothing is printed. The first word is the name of the program; where a robot is
/// given, the one that the words name is not looked for. `stop` asks long answers to end.
pub fn ask<W: Into<OsString> + Clone>(robot: Option<&Robot>, words: &[W], stop: &Arc<AtomicBool>) -> Said {
    let words: Vec<OsString> = words.iter().cloned().map(Into::into).collect();
    let (status, out, err) = streams::hold(robot, stop, || answered(&words));
    Said { status, out: String::from_utf8_lossy(&out).into_owned(), err }
}

fn answered(arguments: &[OsString]) -> u8 {
    let command = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command,
        Err(e) => return misread(&e, arguments),
    };
    let answers;
    angles::show_degrees(command.degrees());
    let (done, output) = match &command {
        Command::Robots(a) => (commands::robots::run(a), &a.output),
        Command::Check(a) => (commands::check::run(a), &a.output),
        Command::Kinematics(a) => (commands::kinematics::run(a), &a.output),
        Command::Singularities(a) => (commands::singularities::run(a), &a.output),
        Command::Map(a) => (commands::map::run(a), &a.output),
        Command::Idm(a) => (commands::dynamics::idm(a), &a.question.output),
        Command::Ddm(a) => (commands::dynamics::ddm(a), &a.question.output),
        Command::Codegen(a) => {
            answers = a.answers();
            (commands::codegen::run(a), &answers)
        }
        Command::Plan(a) => (commands::plan::run(a), &a.output),
        Command::Simulate(a) => (commands::simulate::run(a), &a.output),
        Command::Parameters(a) => (commands::parameters::run(a), &a.output),
        Command::Identify(a) => (commands::identify::run(a), &a.output),
        Command::Frequencies(a) => (commands::frequencies::run(a), &a.output),
        Command::Response(a) => {
            answers = a.answers();
            (commands::response::run(a), &answers)
        }
        Command::Report(a) => {
            answers = a.answers();
            (commands::report::run(a), &answers)
        }
        Command::View(a) => {
            answers = a.answers();
            (commands::view::run(a), &answers)
        }
        Command::Schema(a) => (commands::schema::run(a), &a.output),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => failure.report(output),
    }
}

/// Arguments that cannot be read, or a wish for help. Programs get a document as for every other failure.
fn misread(e: &clap::Error, arguments: &[OsString]) -> u8 {
    let text = e.render().to_string();
    if !streams::are_held() {
        let _ = e.print();
    } else if e.use_stderr() {
        streams::tell(&text);
    } else {
        let _ = std::io::Write::write_all(&mut streams::Out, text.as_bytes());
    }
    if !e.use_stderr() {
        return 0;
    }
    if arguments.iter().any(|a| a == "--json") {
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim();
        let _ = output::print(&failure::error_json("usage", message));
    }
    2
}

/// The instructions the program was compiled for must be there.
fn processor_is_new_enough() -> Result<(), &'static str> {
    #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
    if !(std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")) {
        return Err("AVX2 and FMA");
    }
    Ok(())
}
