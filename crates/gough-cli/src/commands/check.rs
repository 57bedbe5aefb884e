//! `gough check`.

use crate::angles::Angles;
use crate::ask::RobotChoice;
use crate::draw::draw;
use crate::excerpt::{in_colour, render};
use crate::failure::{Failure, faults_json};
use crate::output::Output;
use clap::Args;
use gough::Robot;
use gough::analysis::mobility::{self, Counts, LegCount, Motions};
use gough::analysis::singularity::{Kind, Singularity, singularities};
use gough::elastodynamics::DriveElasticity;
use gough::elastodynamics::motion::{FlexibleRobot, is_flexible};
use gough::model::{BlockMethod, CoordKind, JointKind, LegId, Node, Topology};
use serde_json::{Value, json};
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
    let given = arguments.output.give(|| answer(&robot), || text(&robot, colour));
    given.map_err(|why| why.of(&robot.model().topology().name))
}

/// The document of the answer.
pub fn answer(robot: &Robot) -> Value {
    let (model, mobility) = (robot.model(), robot.mobility());
    let t = model.topology();
    let home = robot.home();
    json!({
        "robot": t.name,
        "bodies": t.bodies.values().map(|b| json!({
            "name": b.name,
            "on": t.node_name(b.parent),
            "joint": joint_letter(b.joint),
            "leg": t.legs[b.leg].name,
        })).collect::<Vec<_>>(),
        "legs": t.legs.ids().map(|leg| json!({
            "name": t.legs[leg].name,
            "chain": chain(t, leg),
            "solved": solved(t, leg),
            "bodies": t.legs[leg].bodies.iter().map(|b| &t.bodies[b].name).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "closures": t.closures.values().filter(|c| !c.tool).map(|c| json!({
            "name": c.name,
            "joint": c.joint.word(),
            "between": [t.node_name(c.sides[0]), t.node_name(c.sides[1])],
            "rows": c.joint.rows(),
        })).collect::<Vec<_>>(),
        "active": t.active_names(),
        "passive": t.passive_names(),
        "platform": t.platform.independent.iter().map(|c| coordinate(t, *c)).collect::<Vec<_>>(),
        "follows": t.platform.dependent.iter().map(|c| coordinate(t, *c)).collect::<Vec<_>>(),
        "point_on": t.platform.tool.map(|b| &t.bodies[b].name),
        "elastic": elastic_coordinates(robot),
        "elastic_drives": elastic_drives(robot).iter().map(|(joints, what)| json!({ "joints": joints, "gives": what })).collect::<Vec<_>>(),
        "given": t.plan.given.iter().map(|c| &t.coords[*c].name).collect::<Vec<_>>(),
        "rows": mobility.rows,
        "rank": mobility.rank,
        "mobility": mobility.degrees,
        "mobility_counts": counts_json(&mobility_counts(robot)),
        "overconstraint": mobility.overconstraint,
        "length_scale": model.length(),
        "working_mode": robot.mode().name(t),
        "parameters": model.parameters().iter().map(|p| json!({ "name": p.name, "value": p.value })).collect::<Vec<_>>(),
        "home": {
            "pose": crate::states::pose_json(model, home.pose()),
            "active": { "q": home.joints(model, &t.active) },
            "passive": { "q": home.joints(model, &t.passive) },
            "singularities": home_singularities(robot).iter().map(|(kind, leg, singular)| {
                json!({ "kind": kind.word(), "leg": leg, "singular": singular })
            }).collect::<Vec<_>>(),
        },
        "faults": [],
        "remarks": faults_json(robot.text(), robot.remarks()),
    })
}

fn text(robot: &Robot, colour: bool) -> String {
    let (model, mobility) = (robot.model(), robot.mobility());
    let t = model.topology();
    let mut out = String::new();
    let summary = &model.description().summary;
    let _ = writeln!(out, "{}{}{summary}", t.name, if summary.is_empty() { "" } else { ": " });
    let loops = t.closures.len() - usize::from(t.closures.values().any(|c| c.sides.contains(&Node::Platform)));
    let closures = t.closures.values().filter(|c| !c.tool).count();
    let counts = [
        count(t.bodies.len(), "body", "bodies"),
        count(t.legs.len(), "leg", "legs"),
        count(closures, "closure", "closures"),
        count(loops, "loop", "loops"),
    ];
    let _ = writeln!(out, "{}", counts.join(", "));
    let width = t.legs.values().map(|l| l.name.len()).max().unwrap_or(0);
    for leg in t.legs.ids() {
        let _ = writeln!(out, "  leg {:width$}  {:24}  {}", t.legs[leg].name, chain(t, leg), solved(t, leg));
    }
    let mut row = |name: &str, value: String| {
        let _ = writeln!(out, "{name:15} {value}");
    };
    row("platform", coordinates(t).join(", "));
    row("active", names(&t.active_names()));
    row("passive", names(&t.passive_names()));
    if !t.plan.given.is_empty() {
        let given: Vec<&str> = t.plan.given.iter().map(|c| t.coords[*c].name.as_str()).collect();
        row("to be given", format!("{} (kinematic redundancy)", names(&given)));
    }
    row("closures", format!("{} equations of rank {}", mobility.rows, mobility.rank));
    let degrees = count(mobility.degrees, "degree of freedom", "degrees of freedom");
    let drives = count(t.active.len(), "drive", "drives");
    row("mobility", format!("{degrees}, {} of the platform, {drives}{}", mobility.platform, redundancy(robot)));
    counts_rows(&mobility_counts(robot)).into_iter().for_each(|(name, value)| row(&name, value));
    let over = mobility.overconstraint;
    let why = if over > 0 {
        " (equations that the others imply: the loops close because axes are exactly parallel or meet)"
    } else {
        ""
    };
    row("over-constraint", format!("{over}{why}"));
    elastic_drives(robot).into_iter().for_each(|(joints, what)| row("elastic drives", format!("{joints}: {what}")));
    let elastic = elastic_coordinates(robot);
    if !elastic.is_empty() {
        row("elastic", elastic.join(" "));
    }
    row("length scale", format!("{:.6} m", model.length()));
    row("working mode", robot.mode().name(t));
    row("home", crate::states::pose_text(model, robot.home().pose()));
    out.push('\n');
    out.push_str(&draw(robot, robot.home()));
    out.push_str(&home_text(robot));
    if !robot.remarks().is_empty() {
        out.push('\n');
        out.push_str(&render(robot.name(), robot.text(), robot.remarks(), colour));
    }
    out
}

/// Elastic coordinates of the robot in motion, in the order of states and answers; none where nothing gives way.
fn elastic_coordinates(robot: &Robot) -> Vec<String> {
    if !is_flexible(robot.model()) {
        return Vec::new();
    }
    let found = FlexibleRobot::new(robot.model(), robot.home());
    found.map_or_else(|_| Vec::new(), |flexible| crate::commands::flexible::elastic_names(robot, &flexible))
}

/// Drives that give way, those alike together, and what gives way in them.
fn elastic_drives(robot: &Robot) -> Vec<(String, &'static str)> {
    let (model, t) = (robot.model(), robot.model().topology());
    let mut list: Vec<(DriveElasticity, Vec<&str>)> = Vec::new();
    for c in t.coords.ids() {
        let kind = DriveElasticity::of(model, c);
        match list.iter_mut().find(|(k, _)| *k == kind) {
            _ if kind == DriveElasticity::Rigid => {}
            Some((_, joints)) => joints.push(&t.coords[c].name),
            None => list.push((kind, vec![&t.coords[c].name])),
        }
    }
    list.into_iter().map(|(kind, joints)| (names(&joints), kind.words())).collect()
}

fn mobility_counts(robot: &Robot) -> Counts {
    mobility::mobility(robot.model(), robot.home().positions())
}

fn counts_json(c: &Counts) -> Value {
    let motions = |m: &Motions| json!({ "dimension": m.dimension, "axes": m.text });
    json!({
        "joints": c.joints,
        "constraints": c.constraints,
        "by_rank": c.by_rank,
        "by_legs": c.by_legs,
        "by_loops": c.by_loops,
        "platform": motions(&c.platform),
        "legs": c.legs.iter().map(|l| json!({
            "name": l.name,
            "joints": l.joints,
            "inner_constraints": l.inner,
            "redundant": l.redundant,
            "motions": l.motions.as_ref().map(motions),
        })).collect::<Vec<_>>(),
        "loops": c.loops.iter().map(|l| json!({
            "name": l.name,
            "alone": l.alone,
            "new": l.new,
            "shared": l.shared.as_ref().map(motions),
        })).collect::<Vec<_>>(),
        "by_loops_is_wrong_because": c.explanation(),
    })
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

fn names(list: &[&str]) -> String {
    if list.is_empty() { "none".to_owned() } else { list.iter().map(|n| format!("q{n}")).collect::<Vec<_>>().join(" ") }
}

/// The name of a coordinate of the platform.
fn coordinate(t: &Topology, c: gough::description::Coordinate) -> &'static str {
    let yaw = if t.platform.coordinates == gough::description::Coordinates::Planar { "phi" } else { "rz" };
    ["x", "y", "z", "rx", "ry", yaw][c.index()]
}

/// Singularities at home, or so near to it that answers around home are poor: kind, leg, and whether home is singular.
fn home_singularities(robot: &Robot) -> Vec<(Kind, Option<String>, bool)> {
    if robot.model().topology().active.len() < robot.mobility().degrees {
        return Vec::new(); // the drives do not hold such a robot anywhere
    }
    let report = singularities(robot.model(), robot.home());
    let poor = |s: &&Singularity| s.singular || s.sigma < NEAR;
    report.list.iter().filter(poor).map(|s| (s.kind, s.leg.clone(), s.singular)).collect()
}

/// Below this singular value a posture is called near a singularity.
const NEAR: f64 = 1e-3;

/// The words for them.
fn home_text(robot: &Robot) -> String {
    let one = |(kind, leg, singular): &(Kind, Option<String>, bool)| {
        let leg = leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
        let near = if *singular { "is singular" } else { "is near a singularity" };
        format!("home {near}: {}{leg}; give another `home` if answers around it are needed\n", kind.title())
    };
    home_singularities(robot).iter().map(one).collect()
}

fn coordinates(t: &Topology) -> Vec<String> {
    let mut list: Vec<String> = t.platform.independent.iter().map(|c| coordinate(t, *c).to_owned()).collect();
    list.extend(t.platform.dependent.iter().map(|c| format!("{} (follows)", coordinate(t, *c))));
    if let Some(tool) = t.platform.tool {
        list.push(format!("of a point on {}", t.bodies[tool].name));
    }
    list
}

fn joint_letter(joint: JointKind) -> &'static str {
    match joint {
        JointKind::Revolute => "R",
        JointKind::Prismatic => "P",
        JointKind::Fixed => "fixed",
    }
}

/// Joints of a leg: driven ones underlined by an asterisk, cut ones in parentheses.
fn chain(t: &Topology, leg: LegId) -> String {
    let mut parts: Vec<String> = Vec::new();
    for b in t.legs[leg].bodies.iter() {
        let body = &t.bodies[b];
        if body.joint == JointKind::Fixed {
            continue;
        }
        let driven = body.coord.is_some_and(|c| t.coords[c].kind == CoordKind::Active);
        parts.push(format!("{}{}", joint_letter(body.joint), if driven { "*" } else { "" }));
    }
    for c in t.legs[leg].closures.iter().filter(|c| !t.closures[*c].tool) {
        parts.push(format!("({})", t.closures[c].joint.word()));
    }
    parts.join(" ")
}

fn solved(t: &Topology, leg: LegId) -> &'static str {
    let newton = t.plan.inverse.iter().any(|b| b.leg == leg && matches!(b.method, BlockMethod::Newton { .. }));
    if newton { "solved by Newton" } else { "solved in closed form" }
}
