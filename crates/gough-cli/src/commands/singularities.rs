//! `gough singularities`.

use crate::angles::{self, Angles};
use crate::ask::{self, RobotChoice, one_mode};
use crate::commands::dynamics::open_values;
use crate::commands::dynamics_text::assumed_text;
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::plot::{self, Curves, Field, Picture, PlotAxis, Scale, Style};
use crate::region;
use crate::states::pose_text;
use clap::Args;
use gough::analysis::Region;
use gough::question::{
    Kind, LineClass, LociAnswer, Lost, SINGULAR, SearchExtent, Singularities, SingularityAnswer, What,
};
use gough::{Robot, WorkingMode};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Args)]
#[command(group = clap::ArgGroup::new("question").required(true).multiple(true))]
pub struct Arguments {
    #[command(flatten)]
    subject: RobotChoice,
    /// Platform pose; with --region, the coordinates that stay fixed
    #[arg(long, group = "question", value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Joints that the pose of a redundant robot leaves open: q1s=0.05
    #[arg(long, requires = "pose", conflicts_with = "region", value_name = "JOINTS", allow_hyphen_values = true)]
    joints: Option<String>,
    /// Find the nearest singular pose of every kind
    #[arg(long, requires = "pose", conflicts_with = "region")]
    refine: bool,
    /// Trace the singular curves over two coordinates: x=-0.3:0.3,y=0:0.5 or x=-0.3:0.3:201,..
    #[arg(long, group = "question", value_name = "SPANS", allow_hyphen_values = true)]
    region: Option<String>,
    /// To how many metres or radians curves are traced
    #[arg(long, value_name = "METRES", default_value = "1e-6", requires = "region")]
    accuracy: f64,
    /// How long --refine (1.9 s) or --region (60 s) may search; the answer says what was not looked at
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// Draw the curves over the reachable workspace: FILE.svg or FILE.png
    #[arg(long, value_name = "FILE", requires = "region")]
    plot: Option<PathBuf>,
    /// Working mode, such as --mode=+-+; by default that of the file
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    mode: Option<String>,
    #[command(flatten)]
    pub angles: Angles,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.plot {
        plot::check(path).map_err(|e| Failure::Usage(e.to_string()))?;
        spares(path, "--plot", Path::new(&arguments.subject.robot), "the robot file")?;
    }
    arguments.output.apart(&[("--plot", arguments.plot.as_ref())])?;
    let robot = arguments.subject.load(&arguments.output)?;
    answer(&robot, arguments).map_err(|why| why.of(&robot.model().topology().name))
}

fn answer(robot: &Robot, arguments: &Arguments) -> Result<(), Failure> {
    let mode = one_mode(robot, arguments.mode.as_deref())?;
    match (&arguments.region, &arguments.pose) {
        (Some(text), pose) => {
            let region = region::region(robot, "--region", text, pose.as_deref())?;
            loci(robot, &mode, &region, arguments)
        }
        (None, Some(text)) => at_posture(robot, &mode, text, arguments),
        (None, None) => Err(Failure::Usage("give --pose or --region".to_owned())),
    }
}

/// Seconds that a search may take.
fn budget(arguments: &Arguments, default: f64) -> Result<Duration, Failure> {
    let seconds = arguments.budget.unwrap_or(default);
    Duration::try_from_secs_f64(seconds).map_err(|_| Failure::Usage("--budget: give seconds, 0 or more".to_owned()))
}

fn at_posture(robot: &Robot, mode: &WorkingMode, text: &str, arguments: &Arguments) -> Result<(), Failure> {
    let pose = ask::pose(robot.model(), text)?;
    let home = ask::from_home(robot.model(), text)?;
    let t = robot.model().topology();
    let mut asked = robot.singularities(&pose).mode(mode);
    for (c, q) in arguments.joints.as_deref().map_or(Ok(Vec::new()), |text| open_values(robot, text, "--joints"))? {
        asked = asked.joint(&t.coords[c].name, q);
    }
    let (start, whole) = (Instant::now(), budget(arguments, 1.9)?);
    let goes_on = |share: f64| start.elapsed() < whole.mul_f64(share);
    let found = if arguments.refine { asked.answer_with_nearest(&goes_on) } else { asked.answer() }?;
    let words = || {
        posture_text(robot, &found, arguments.refine)
            + &assumed_text(robot, found.assumed.as_ref())
            + &ask::home_text(&home)
    };
    arguments.output.give(|| ask::with_home(&home, &found), words)
}

fn vector(v: &[f64]) -> String {
    let shown = |x: &f64| format!("{:.6}", if x.abs() < 5e-7 { 0.0 } else { *x });
    format!("({})", v.iter().map(shown).collect::<Vec<_>>().join(", "))
}

fn along_text(along: &Lost) -> String {
    match along {
        Lost::Twist(t) => {
            let turns: Vec<f64> = t[3..].iter().map(|w| angles::shown(*w)).collect();
            format!("twist v = {} m/s, w = {} {}/s", vector(&t[..3]), vector(&turns), angles::unit())
        }
        Lost::Wrench(w) => format!("wrench f = {} N, m = {} N m", vector(&w[..3]), vector(&w[3..])),
        Lost::Joints(list) => {
            let moving = list.iter().filter(|(_, x)| x.abs() > 1e-6);
            let parts: Vec<String> = moving.map(|(n, x)| format!("q{n} {x:+.4}")).collect();
            format!("joints {}", parts.join(", "))
        }
        _ => String::new(),
    }
}

fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Type1 => "the platform cannot move along the wrench; the drive moves without it",
        Kind::Type2 => "the platform moves along the twist although the drives are locked",
        Kind::Type3 => "the platform moves although the drives are locked, and the drives move without it",
        Kind::Lajts => "the active joints move without moving the leg's tip",
        Kind::Lpjts => "the passive joints move although platform and drives are locked",
        Kind::Constraint => "the platform gains the motion along the twist",
    }
}

fn of_leg(leg: Option<&String>) -> String {
    leg.map_or_else(String::new, |l| format!(" of leg {l}"))
}

fn posture_text(robot: &Robot, found: &Singularities, refine: bool) -> String {
    let model = robot.model();
    let mut out = format!("{} at {}\n", found.robot, pose_text(model, &found.pose.pose()));
    let _ = writeln!(
        out,
        "working mode {}; lengths and angles compared at {:.6} m; singular below sigma = {SINGULAR:.0e}\n",
        found.working_mode, found.length_scale
    );
    for s in found.singularities.iter().filter(|s| s.singular) {
        let leg = of_leg(s.near.leg.as_ref());
        let _ = writeln!(out, "SINGULAR: {}{leg}: {}", s.near.kind.title(), meaning(s.near.kind));
        let _ = writeln!(out, "  {}", along_text(&s.along));
    }
    if !found.singularities.iter().any(|s| s.singular) {
        out.push_str("not singular\n");
    }
    let head = if refine { "  nearest (m)" } else { "" };
    let _ = writeln!(out, "\n{:<11} {:<5} {:>11} {:>13}{head}  along", "kind", "leg", "sigma", "distance (m)");
    for SingularityAnswer { near, singular, along, search, .. } in &found.singularities {
        let distance = if near.distance.is_finite() { format!("{:.6}", near.distance) } else { "-".to_owned() };
        let exact = search.as_ref().map_or_else(String::new, |search| match &search.nearest {
            Some(n) => format!("  {:>11.6}", n.distance),
            None => format!("  {:>11}", if *singular { "0" } else { "-" }),
        });
        let (kind, leg) = (near.kind.title(), near.leg.as_deref().unwrap_or(""));
        let along = along_text(along);
        let _ = writeln!(out, "{kind:<11} {leg:<5} {:>11.4e} {distance:>13}{exact}  {along}", near.sigma);
    }
    for SingularityAnswer { near, search, .. } in &found.singularities {
        let (title, leg) = (near.kind.title(), of_leg(near.leg.as_ref()));
        let search = search.as_ref();
        if let Some(n) = search.and_then(|s| s.nearest.as_ref()) {
            let _ = writeln!(out, "nearest {title}{leg}: {}", pose_text(model, &n.pose.pose()));
        }
        if let Some(SearchExtent { finished: false, starts, of, .. }) = search.and_then(|s| s.searched) {
            let why = "then the time was up (--budget SECONDS)";
            let _ = writeln!(out, "{title}{leg}: searched from {starts} of {of} poses, {why}");
        }
    }
    if !found.undefined.is_empty() {
        let names: Vec<&str> = found.undefined.iter().map(|k| k.title()).collect();
        let _ = writeln!(out, "\n{} are not defined while passive joints move by themselves", names.join(", "));
    }
    if let Some(LineClass { rank, class, description, .. }) = &found.lines {
        let _ = writeln!(out, "\nlines of the drives: rank {rank}, class {class}: {description}");
    }
    out
}

fn loci(robot: &Robot, mode: &WorkingMode, region: &Region, arguments: &Arguments) -> Result<(), Failure> {
    let end = Instant::now() + budget(arguments, 60.0)?;
    let asked = robot.loci().in_region(region).mode(mode).accuracy(arguments.accuracy);
    let found = asked.answer_while(&|| Instant::now() < end)?;
    let mut files = Files::default();
    if let Some(path) = &arguments.plot {
        let picture = plot::draw(&picture(robot, region, &found), path);
        files.add(path, &picture.map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    arguments.output.give_with(files, || json!(found), || loci_text(robot, region, &found, arguments))?;
    if found.aspects.is_empty() {
        crate::streams::tell_line!("no: no node of the region can be reached in this working mode");
        return Err(Failure::Silent(1));
    }
    Ok(())
}

fn what_text(what: &What) -> String {
    match what {
        What::Singular(kind, Some(leg)) => format!("{}, leg {leg}", kind.title()),
        What::Singular(kind, None) => kind.title().to_owned(),
        What::Range(joint) => format!("range of q{joint}"),
        What::Open => "loops stay open".to_owned(),
    }
}

fn length(points: &[[f64; 2]]) -> f64 {
    points.windows(2).map(|p| (p[0][0] - p[1][0]).hypot(p[0][1] - p[1][1])).sum()
}

fn loci_text(robot: &Robot, region: &Region, found: &LociAnswer, arguments: &Arguments) -> String {
    let mut out = format!("{} in working mode {}", found.robot, found.working_mode);
    let fixed = region::fixed_text(robot, region);
    let _ = writeln!(out, "{}{fixed}", if fixed.is_empty() { "" } else { ", " });
    let _ = writeln!(out, "curves traced to {:.0e}\n", found.accuracy);
    let _ = writeln!(out, "{:<26} {:>7} {:>12} {:>12}", "curve", "points", "length", "closed");
    for c in &found.curves {
        let closed = c
            .points
            .first()
            .zip(c.points.last())
            .is_some_and(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]) < 10.0 * found.accuracy && c.points.len() > 3);
        let _ = writeln!(
            out,
            "{:<26} {:>7} {:>12.6} {:>12}",
            what_text(&c.what),
            c.points.len(),
            length(&c.points),
            if closed { "yes" } else { "no" }
        );
    }
    for kind in &found.everywhere {
        let _ = writeln!(
            out,
            "\nSINGULAR everywhere: {} at every posture looked at, so that no curve tells it",
            kind.title()
        );
    }
    let (n, total) = (found.aspects.len(), found.reachable_area);
    let _ = writeln!(out, "\nreachable: {total:.6}; {n} aspect{}", if n == 1 { "" } else { "s" });
    let shown = region::large(&areas(found));
    for (i, aspect) in found.aspects.iter().enumerate().take(shown) {
        let _ = writeln!(out, "  aspect {:<3} {:.6}", i + 1, aspect.area);
    }
    if n > shown {
        let _ = writeln!(out, "  and {} smaller", n - shown);
    }
    if found.left > 0 {
        let _ = writeln!(
            out,
            "\nthe time was up: {} nodes, cells or pieces of curves were not looked at; --budget SECONDS gives more",
            found.left
        );
    }
    if arguments.plot.is_none() {
        out.push_str("\n--plot FILE.svg draws them; --json gives the points\n");
    }
    out
}

fn areas(found: &LociAnswer) -> Vec<f64> {
    found.aspects.iter().map(|a| a.area).collect()
}

/// Curves and aspects as a picture.
pub fn picture(robot: &Robot, region: &Region, found: &LociAnswer) -> Picture {
    let [a, b] = [region.spans()[0], region.spans()[1]];
    let areas = areas(found);
    let shown = region::large(&areas);
    let mut labels: Vec<String> = (0..shown).map(|i| format!("{}: {:.4}", i + 1, areas[i])).collect();
    if areas.len() > shown {
        labels.push("smaller".to_owned());
    }
    let values = found.aspect_of_node.iter().map(|l| l.map(|l| l.min(shown) as f64)).collect();
    let mut curves: Vec<Curves> = Vec::new();
    let at = |p: &[f64; 2]| [region::shown(a.coordinate, p[0]), region::shown(b.coordinate, p[1])];
    for c in &found.curves {
        let name = what_text(&c.what);
        let points: Vec<[f64; 2]> = c.points.iter().map(at).collect();
        match curves.iter_mut().find(|k| k.name == name) {
            Some(k) => k.lines.push(points),
            None => curves.push(Curves { name, style: Style::nth(curves.len()), lines: vec![points] }),
        }
    }
    let axis = |s: gough::analysis::CoordinateSpan| PlotAxis {
        label: region::axis_label(robot, s.coordinate),
        low: region::shown(s.coordinate, s.low),
        high: region::shown(s.coordinate, s.high),
        log: false,
    };
    let fixed = region::fixed_text(robot, region);
    Picture {
        title: format!("Singularities of {} in working mode {}", found.robot, found.working_mode),
        x: axis(a),
        y: axis(b),
        equal: !a.coordinate.is_angle() && !b.coordinate.is_angle(),
        field: Some(Field {
            name: "aspect: area".to_owned(),
            unit: String::new(),
            xs: a.values().into_iter().map(|x| region::shown(a.coordinate, x)).collect(),
            ys: b.values().into_iter().map(|y| region::shown(b.coordinate, y)).collect(),
            values,
            scale: Scale::Category(labels),
        }),
        curves,
        notes: if fixed.is_empty() { Vec::new() } else { vec![fixed] },
        height: None,
    }
}
