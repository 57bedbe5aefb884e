//! `gough frequencies`: natural frequencies, modes and what they depend on.

use crate::angles::Angles;
use crate::ask::{self, Subject};
use crate::commands::cartesian::{self, Method};
use crate::commands::singularities::one_mode;
use crate::failure::Failure;
use crate::output::Output;
use crate::states::{left_out_text, pose_json, pose_text};
use clap::{Args, ValueEnum};
use gough::Robot;
use gough::description::Concern;
use gough::elastodynamics::{
    Actuators, DriveElasticity, DriveUse, Frequency, Reduced, RotorMotion, Sensitivity, Shares, Vibration, drive_uses,
};
use gough::kinematics::{Posture, inverse};
use gough::linalg::arrow::ModeKind;
use gough::model::{JointKind, Node};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What the drives do.
#[derive(Clone, Copy, ValueEnum)]
pub enum Drives {
    /// Held joints do not move
    Locked,
    /// Held joints give way by the stiffness of their transmissions and servo loops, where the file has them
    Elastic,
    /// Driven joints move freely, with their rotors
    Free,
}

impl Drives {
    pub fn of(self) -> Actuators {
        match self {
            Drives::Locked => Actuators::Locked,
            Drives::Elastic => Actuators::Elastic,
            Drives::Free => Actuators::Free,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Drives::Locked => "locked",
            Drives::Elastic => "elastic",
            Drives::Free => "free",
        }
    }
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Platform pose, all its coordinates: x=0,y=0,phi=-60deg; the home pose unless given
    #[arg(long, value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    /// How many frequencies, from the lowest, or `all`
    #[arg(long, value_name = "NUMBER", default_value = "10")]
    count: String,
    /// What the drives do
    #[arg(long, value_name = "WHAT", default_value = "elastic")]
    pub actuators: Drives,
    #[command(flatten)]
    pub cartesian: cartesian::Options,
    /// cartesian: the full method beside it, mode by mode
    #[arg(long, value_name = "full")]
    pub compare: Option<Compare>,
    /// cartesian: dead load on the platform, in world axes: fz=-50,mx=1
    #[arg(long, value_name = "COMPONENTS", allow_hyphen_values = true)]
    pub wrench: Option<String>,
    /// Shapes of the modes: displacement of every node, in world axes
    #[arg(long)]
    pub modes: bool,
    /// Derivatives of the frequencies by every parameter of the file, the pose staying the same
    #[arg(long)]
    pub sensitivity: bool,
    /// Reduce every leg to its static behaviour and this many of its own modes, and say what that costs in accuracy
    #[arg(long, value_name = "MODES")]
    pub reduce: Option<usize>,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    pub output: Output,
}

/// What the Cartesian method is compared with.
#[derive(Clone, Copy, ValueEnum)]
pub enum Compare {
    /// The full method
    Full,
}

impl Arguments {
    /// How many modes are asked for, of so many.
    pub fn count(&self, all: usize) -> Result<usize, Failure> {
        count(&self.count, all)
    }
}

/// What was found at a posture.
struct Found {
    frequencies: Vec<Frequency>,
    shares: Vec<Shares>,
    groups: Vec<(usize, usize)>,
    shapes: Vec<Shape>,
    sensitivities: Vec<Sensitivity>,
    reduced: Option<Reduced>,
    coordinates: usize,
    massless: Vec<String>,
    arms: Vec<(String, f64)>,
    drives: Vec<DriveUse>,
}

/// Places of a robot, where they are, and how they move in a mode.
type Shape = Vec<(String, [f64; 3], [f64; 6])>;

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let robot = arguments.subject.load(&arguments.output)?;
    answer(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let model = robot.model();
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    let pose = match &arguments.pose {
        Some(text) => ask::pose(model, text)?,
        None => *robot.home().pose(),
    };
    let posture = inverse(model, &pose, &mode).map_err(Failure::InMode)?;
    if arguments.cartesian.method == Method::Cartesian {
        return cartesian::answer(robot, &posture, arguments);
    }
    let idle = arguments.cartesian.idle();
    let idle = idle.or(arguments.compare.map(|_| "--compare")).or(arguments.wrench.as_ref().map(|_| "--wrench"));
    if let Some(option) = idle {
        return Err(Failure::Usage(format!("{option} is for --method cartesian; give that too, or leave it out")));
    }
    let mut v = Vibration::new(model, robot.home(), arguments.actuators.of())?;
    v.take_posture(&posture)?;
    let count = count(&arguments.count, v.modes())?;
    let found = find(&mut v, &posture, count, arguments)?;
    let home = arguments.pose.as_deref().map_or(Ok(Vec::new()), |p| ask::from_home(model, p))?;
    let told = || {
        let mut answer = document(robot, &posture, arguments, &found);
        ask::add_home(&home, &mut answer);
        answer
    };
    arguments.output.give(told, || text(robot, &posture, arguments, &found) + &ask::home_text(&home))
}

fn count(text: &str, all: usize) -> Result<usize, Failure> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n.min(all)),
        _ if text == "all" => Ok(all),
        _ => Err(Failure::Usage(format!("--count takes a number above zero, or `all`, not `{text}`"))),
    }
}

fn find(v: &mut Vibration, posture: &Posture, count: usize, arguments: &Arguments) -> Result<Found, Failure> {
    let reduced = arguments.reduce.map(|n| v.reduced(n, count)).transpose()?;
    // Beyond the last one asked for, as long as it has equals: energies and slopes are those of whole groups.
    let mut frequencies = v.lowest_groups(count)?.to_vec();
    let groups = v.groups();
    let mut shares = v.shares();
    frequencies.truncate(count);
    shares.truncate(count);
    let shapes = if arguments.modes { (0..count).map(|k| shape(v, k)).collect() } else { Vec::new() };
    let mut sensitivities = if arguments.sensitivity { v.sensitivities(posture.mode()) } else { Vec::new() };
    let effect = |s: &Sensitivity| s.effects(&frequencies).iter().fold(0.0_f64, |most, e| most.max(e.abs()));
    sensitivities.iter_mut().for_each(|s| s.slopes.truncate(count));
    sensitivities.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    let t = v.elastic_model().topology();
    let arms = v.plan().arms.iter().map(|(b, d)| (t.bodies[*b].name.clone(), *d)).collect();
    let (coordinates, massless) = (v.plan().coordinates(), v.massless());
    let drives = drive_uses(v.elastic_model(), v.plan());
    Ok(Found { frequencies, shares, groups, shapes, sensitivities, reduced, coordinates, massless, arms, drives })
}

fn shape(v: &mut Vibration, mode: usize) -> Shape {
    let shape = v.shape(mode);
    shape.into_iter().map(|(place, p, u)| (v.place_name(place), p, u)).collect()
}

fn kind_word(kind: ModeKind) -> &'static str {
    match kind {
        ModeKind::Vibration => "vibration",
        ModeKind::Free => "free",
        ModeKind::Unstable => "unstable",
    }
}

fn document(robot: &Robot, posture: &Posture, arguments: &Arguments, found: &Found) -> Value {
    let t = robot.model().topology();
    let modes: Vec<Value> = found
        .frequencies
        .iter()
        .enumerate()
        .map(|(k, f)| {
            let s = &found.shares[k];
            let group = found.groups.iter().find(|(first, n)| (*first..first + n).contains(&k));
            let mut mode = json!({
                "frequency_hz": f.hz,
                "omega2": f.omega2,
                "kind": kind_word(f.kind),
                "multiplicity": group.map_or(1, |g| g.1),
                "elastic_energy": s.elastic.iter().map(|(b, kind, x)| json!({ "of": b, "kind": kind.word(), "share": x })).collect::<Vec<_>>(),
                "kinetic_energy": s.kinetic.iter().map(|(b, x)| json!({ "of": b, "share": x })).collect::<Vec<_>>(),
            });
            if let Some(shape) = found.shapes.get(k) {
                let node = |(place, p, u): &(String, [f64; 3], [f64; 6])| {
                    json!({ "of": place, "position": p, "motion": u })
                };
                mode["shape"] = shape.iter().map(node).collect();
            }
            mode
        })
        .collect();
    let mut value = json!({
        "robot": t.name,
        "left_out": robot.model().description().left_out(Concern::Vibration),
        "pose": pose_json(robot.model(), posture.pose()),
        "working_mode": posture.mode().name(t),
        "method": "full",
        "actuators": arguments.actuators.word(),
        "dof": found.coordinates - found.massless.len(),
        "massless": found.massless,
        "drives": found.drives,
        "sliders_tied_at_zero": sliders(robot).iter().map(|(joint, beam)| json!({ "joint": joint, "beam": beam })).collect::<Vec<_>>(),
        "frequencies_hz": found.frequencies.iter().map(|f| f.hz).collect::<Vec<_>>(),
        "modes": modes,
    });
    if arguments.sensitivity {
        let one = |s: &Sensitivity| {
            json!({
                "parameter": s.parameter,
                "value": s.value,
                "hz_per_unit": s.slopes,
                "percent_per_percent": s.effects(&found.frequencies),
            })
        };
        value["sensitivities"] = found.sensitivities.iter().map(one).collect();
    }
    if let Some(r) = &found.reduced {
        value["reduced"] = json!({ "dof": r.coordinates, "frequencies_hz": r.hz, "relative_errors": r.errors });
    }
    value
}

fn text(robot: &Robot, posture: &Posture, arguments: &Arguments, found: &Found) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}\n", t.name, pose_text(model, posture.pose()));
    let dof = found.coordinates - found.massless.len();
    let _ = writeln!(
        out,
        "working mode {}, drives {}, {dof} degrees of freedom",
        posture.mode().name(t),
        arguments.actuators.word()
    );
    drives_text(&mut out, &found.drives);
    for (joint, beam) in sliders(robot) {
        let _ = writeln!(
            out,
            "q{joint} slides on beam {beam}, which is taken as joined to it where the slider is at zero: wrong elsewhere"
        );
    }
    if !found.massless.is_empty() {
        let _ = writeln!(out, "without mass, condensed: {}", found.massless.join(", "));
    }
    for (body, arm) in &found.arms {
        let _ = writeln!(out, "beam {body} carries something {arm:.4} m off its axis, by a rigid arm");
    }
    let lines: Vec<[String; 3]> = (0..found.frequencies.len()).map(|k| mode_line(found, k)).collect();
    let width = lines.iter().map(|l| l[1].chars().count()).max().unwrap_or(0).max(14);
    let _ = writeln!(out, "\n{:>4} {:>14}  {:<width$}  kinetic energy", "", "Hz", "elastic energy");
    for [number, elastic, kinetic] in &lines {
        let _ = writeln!(out, "{}", format!("{number}  {elastic:<width$}  {kinetic}").trim_end());
    }
    if found.groups.iter().any(|g| g.1 > 1) {
        out.push_str("   = equal frequencies: any mixture of their shapes is a mode; the energies are means\n");
    }
    if let Some(r) = &found.reduced {
        reduced_text(&mut out, r);
    }
    if arguments.sensitivity {
        sensitivity_text(&mut out, found);
    }
    for (k, shape) in found.shapes.iter().enumerate() {
        shape_text(&mut out, k, found.frequencies[k].hz, shape);
    }
    out + &left_out_text(&model.description().left_out(Concern::Vibration))
}

/// Sliders on flexible beams: the joint and the beam. The node of the beam does not move with the slider.
fn sliders(robot: &Robot) -> Vec<(String, String)> {
    let (model, t) = (robot.model(), robot.model().topology());
    let slides = t.bodies.iter().filter(|(_, b)| b.joint == JointKind::Prismatic);
    let on_beam = slides.filter_map(|(_, body)| match body.parent {
        Node::Body(p) if model.numbers().beams[p].is_some() => Some((body.name.clone(), t.bodies[p].name.clone())),
        _ => None,
    });
    on_beam.collect()
}

/// How elastic drives were taken, those alike in one line.
fn drives_text(out: &mut String, drives: &[DriveUse]) {
    let elastic: Vec<&DriveUse> = drives.iter().filter(|d| d.gives != DriveElasticity::Rigid).collect();
    let mut kinds: Vec<(DriveElasticity, RotorMotion)> = elastic.iter().map(|d| (d.gives, d.rotor)).collect();
    kinds.dedup();
    for kind in kinds {
        let alike: Vec<&&DriveUse> = elastic.iter().filter(|d| (d.gives, d.rotor) == kind).collect();
        let joints: Vec<&str> = alike.iter().map(|d| d.joint.as_str()).collect();
        let _ = writeln!(out, "drives of {}: {}", joints.join(", "), alike[0].words());
    }
}

/// Number and frequency, where the elastic energy is by kind and body, and where the kinetic energy is.
fn mode_line(found: &Found, k: usize) -> [String; 3] {
    let (f, s) = (&found.frequencies[k], &found.shares[k]);
    let twin = found.groups.iter().any(|(first, n)| *n > 1 && (*first..first + n).contains(&k));
    let number = match f.kind {
        ModeKind::Vibration => format!("{:>14.6}", f.hz),
        ModeKind::Free => format!("{:>14}", "free"),
        ModeKind::Unstable => format!("{:>14}", "unstable"),
    };
    let list = |parts: &mut dyn Iterator<Item = (String, f64)>, least: f64| {
        parts.filter(|x| x.1 > least).take(4).map(|(name, x)| format!("{name} {:.0} %", 100.0 * x)).collect::<Vec<_>>()
    };
    let kinds = list(&mut s.by_kind().into_iter().map(|(kind, x)| (kind.word().to_owned(), x)), 0.005);
    let bodies = list(&mut s.by_body().into_iter(), 0.05);
    let stores = f.kind == ModeKind::Vibration;
    let elastic = if stores { format!("{}: {}", kinds.join(", "), bodies.join(", ")) } else { String::new() };
    let mark = if twin { "=" } else { " " };
    [format!("{:>4}{mark}{number}", k + 1), elastic, list(&mut s.kinetic.iter().cloned(), 0.05).join(", ")]
}

fn reduced_text(out: &mut String, r: &Reduced) {
    let _ = writeln!(out, "\nlegs reduced: {} degrees of freedom left", r.coordinates);
    for (k, (f, e)) in r.hz.iter().zip(&r.errors).enumerate() {
        let _ = writeln!(out, "{:>4} {f:>14.6}  {:+.2e} of the full model", k + 1, e);
    }
}

fn sensitivity_text(out: &mut String, found: &Found) {
    let shown = found.frequencies.len().min(6);
    let _ = writeln!(out, "\nper cent of each frequency per per cent of a parameter, largest effect first");
    let heads: String = (1..=shown).map(|k| format!("{:>10}", format!("f{k}"))).collect();
    let _ = writeln!(out, "{:<16}{:>14}{heads}{:>16}", "", "value", "df1/dp");
    for s in &found.sensitivities {
        let effects: String = s.effects(&found.frequencies)[..shown].iter().map(|e| format!("{e:>10.4}")).collect();
        let _ = writeln!(out, "{:<16}{:>14.6e}{effects}{:>16.6e}", s.parameter, s.value, s.slopes[0]);
    }
    if found.groups.iter().any(|g| g.1 > 1) {
        out.push_str("equal frequencies (=) part when a parameter changes: their slopes are those of the branches\n");
    }
}

fn shape_text(out: &mut String, k: usize, hz: f64, shape: &Shape) {
    let _ = writeln!(out, "\nshape of mode {} ({hz:.6} Hz), in world axes, one unit of modal mass", k + 1);
    let heads: String = ["ux", "uy", "uz", "rx", "ry", "rz"].iter().map(|h| format!("{h:>12}")).collect();
    let _ = writeln!(out, "{:<14}{:>10}{:>10}{:>10}{heads}", "", "x", "y", "z");
    for (place, p, u) in shape {
        let at: String = p.iter().map(|x| format!("{x:>10.4}")).collect();
        let moved: String = u.iter().map(|x| format!("{x:>12.4e}")).collect();
        let _ = writeln!(out, "{place:<14}{at}{moved}");
    }
}
