//! `gough check`.

use crate::angles::Angles;
use crate::ask::RobotChoice;
use crate::draw::draw;
use crate::excerpt::{in_colour, render};
use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use gough::Robot;
use gough::analysis::mobility::{Counts, LegCount, Motions};
use gough::model::Node;
use gough::question::{CheckAnswer, CheckedLeg, HomeSingularity};
use serde_json::json;
use std::fmt::Write as _;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let robot = arguments.subject.load(&arguments.output)?;
    let colour = arguments.output.output.is_none() && in_colour(&std::io::stdout());
    let given = arguments.output.give(|| json!(robot.check()), || text(&robot, &robot.check(), colour));
    given.map_err(|why| why.of(&robot.model().topology().name))
}

fn text(robot: &Robot, found: &CheckAnswer, colour: bool) -> String {
    let (model, mobility) = (robot.model(), robot.mobility());
    let t = model.topology();
    let mut out = String::new();
    let summary = &model.description().summary;
    let _ = writeln!(out, "{}{}{summary}", t.name, if summary.is_empty() { "" } else { ": " });
    let loops = t.closures.len() - usize::from(t.closures.values().any(|c| c.sides.contains(&Node::Platform)));
    let counts = [
        count(found.bodies.len(), "body", "bodies"),
        count(found.legs.len(), "leg", "legs"),
        count(found.closures.len(), "closure", "closures"),
        count(loops, "loop", "loops"),
    ];
    let _ = writeln!(out, "{}", counts.join(", "));
    let width = found.legs.iter().map(|l| l.name.len()).max().unwrap_or(0);
    for CheckedLeg { name, chain, solved, .. } in &found.legs {
        let _ = writeln!(out, "  leg {name:width$}  {chain:24}  {solved}");
    }
    let mut row = |name: &str, value: String| {
        let _ = writeln!(out, "{name:15} {value}");
    };
    row("platform", coordinates(found).join(", "));
    row("active", names(&found.active));
    row("passive", names(&found.passive));
    if !found.given.is_empty() {
        row("to be given", format!("{} (kinematic redundancy)", names(&found.given)));
    }
    row("closures", format!("{} equations of rank {}", mobility.rows, mobility.rank));
    let degrees = count(mobility.degrees, "degree of freedom", "degrees of freedom");
    let drives = count(t.active.len(), "drive", "drives");
    row("mobility", format!("{degrees}, {} of the platform, {drives}{}", mobility.platform, redundancy(robot)));
    counts_rows(&found.mobility_counts).into_iter().for_each(|(name, value)| row(&name, value));
    let over = found.overconstraint;
    let why = if over > 0 {
        " (equations that the others imply: the loops close because axes are exactly parallel or meet)"
    } else {
        ""
    };
    row("over-constraint", format!("{over}{why}"));
    found.elastic_drives.iter().for_each(|d| row("elastic drives", format!("{}: {}", d.joints, d.gives)));
    if !found.elastic.is_empty() {
        row("elastic", found.elastic.join(" "));
    }
    row("length scale", format!("{:.6} m", found.length_scale));
    row("working mode", found.working_mode.clone());
    row("home", crate::states::pose_text(model, robot.home().pose()));
    out.push('\n');
    out.push_str(&draw(robot, robot.home()));
    out.push_str(&home_text(found));
    if !robot.remarks().is_empty() {
        out.push('\n');
        out.push_str(&render(robot.name(), robot.text(), robot.remarks(), colour));
    }
    out
}

/// The three counts as sums, and what each leg allows the platform; equal legs share a row.
fn counts_rows(c: &Counts) -> Vec<(String, String)> {
    let mut rows = vec![(
        "  by rank".to_owned(),
        format!("{} joint freedoms - {} constraints = {} (Moroskine)", c.joints, c.constraints, c.by_rank),
    )];
    let inner: usize = c.legs.iter().map(|l| l.inner).sum();
    let spaces: usize = c.legs.iter().filter_map(|l| l.motions.as_ref()).map(|m| m.dimension).sum();
    let inner = if inner > 0 { format!(" - {inner} constraints inside legs") } else { String::new() };
    rows.push((
        "  by legs".to_owned(),
        format!(
            "{}{inner} - {spaces} of the legs + {} in common = {} (Gogu)",
            c.joints, c.platform.dimension, c.by_legs
        ),
    ));
    let same = |a: &LegCount, b: &LegCount| LegCount { name: b.name.clone(), ..a.clone() } == *b;
    for legs in c.legs.chunk_by(same) {
        let (first, last) = (&legs[0].name, &legs[legs.len() - 1].name);
        let names = if legs.len() > 1 { format!("legs {first} to {last}") } else { format!("leg {first}") };
        rows.push((format!("    {names}"), leg_text(&legs[0])));
    }
    rows.push(("    in common".to_owned(), motions_text(&c.platform)));
    let loops: String = c.loops.iter().map(|l| format!(" - {}", l.alone)).collect();
    let why = c.explanation().map_or_else(String::new, |why| format!(", wrong: {why}"));
    rows.push(("  by loops".to_owned(), format!("{}{loops} = {}{why}", c.joints, c.by_loops)));
    rows
}

fn leg_text(l: &LegCount) -> String {
    let allows = l.motions.as_ref().map_or_else(|| "not between base and platform".to_owned(), motions_text);
    let idle = if l.redundant > 0 { format!(", {} more with the platform held", l.redundant) } else { String::new() };
    format!("{allows}{idle}")
}

fn motions_text(m: &Motions) -> String {
    format!("dim E = {}: {}", m.dimension, m.text)
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn redundancy(robot: &Robot) -> &'static str {
    let (drives, degrees) = (robot.model().topology().active.len(), robot.mobility().degrees);
    let platform = robot.mobility().platform;
    if degrees > platform && drives == degrees {
        " (kinematically redundant)"
    } else if drives > degrees {
        " (redundant actuation)"
    } else {
        ""
    }
}

fn names(list: &[String]) -> String {
    if list.is_empty() { "none".to_owned() } else { list.iter().map(|n| format!("q{n}")).collect::<Vec<_>>().join(" ") }
}

/// What is said about a home that is singular or near it.
fn home_text(found: &CheckAnswer) -> String {
    let one = |s: &HomeSingularity| {
        let leg = s.leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
        let near = if s.singular { "is singular" } else { "is near a singularity" };
        format!(
            "home {near}: {}{leg}; give another `home`, or another posture there by `near`, if answers around it are needed\n",
            s.title
        )
    };
    found.home.singularities.iter().map(one).collect()
}

fn coordinates(found: &CheckAnswer) -> Vec<String> {
    let mut list: Vec<String> = found.platform.iter().map(|c| (*c).to_owned()).collect();
    list.extend(found.follows.iter().map(|c| format!("{c} (follows)")));
    list.extend(found.point_on.iter().map(|body| format!("of a point on {body}")));
    list
}
