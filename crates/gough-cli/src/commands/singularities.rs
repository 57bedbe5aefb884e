//! `gough singularities`.

use crate::angles::{self, Angles};
use crate::ask::{self, Modes, Subject};
use crate::failure::Failure;
use crate::output::{Files, Output, spares};
use crate::plot::{self, Axis, Curves, Field, Picture, Scale, Style};
use crate::region;
use crate::states::{pose_json, pose_text};
use clap::Args;
use gough::Robot;
use gough::analysis::grassmann::{Line, variety};
use gough::analysis::loci::{Loci, What, trace_loci_while};
use gough::analysis::singularity::{Along, Kind, Report, SINGULAR, Singularity, singularities};
use gough::analysis::{Region, Searched, nearest_while};
use gough::kinematics::{Posture, WorkingMode, inverse_at_limit};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Args)]
#[command(group = clap::ArgGroup::new("question").required(true).multiple(true))]
pub struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Platform pose; with --region, the coordinates that stay fixed
    #[arg(long, group = "question", value_name = "COORDINATES", allow_hyphen_values = true)]
    pose: Option<String>,
    /// Find the nearest singular pose of every kind
    #[arg(long, requires = "pose", conflicts_with = "region")]
    refine: bool,
    /// Trace the singular curves over two coordinates: x=-0.3:0.3,y=0:0.5 or x=-0.3:0.3:201,..
    #[arg(long, group = "question", value_name = "SPANS", allow_hyphen_values = true)]
    region: Option<String>,
    /// To how many metres or radians curves are traced
    #[arg(long, value_name = "METRES", default_value = "1e-6", requires = "region")]
    accuracy: f64,
    /// How long --refine (2 s) or --region (60 s) may search; the answer says what was not looked at
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
            let region = region::region(robot, text, pose.as_deref())?;
            loci(robot, &mode, &region, arguments)
        }
        (None, Some(text)) => {
            let pose = ask::pose(robot.model(), text)?;
            let posture = inverse_at_limit(robot.model(), &pose, &mode, robot.home().pose())?;
            let home = ask::from_home(robot.model(), text)?;
            at_posture(robot, &posture, &home, arguments)
        }
        (None, None) => Err(Failure::Usage("give --pose or --region".to_owned())),
    }
}

/// The working mode that is meant: one.
pub fn one_mode(robot: &Robot, text: Option<&str>) -> Result<WorkingMode, Failure> {
    match ask::modes(robot, text)? {
        None => Ok(robot.mode().clone()),
        Some(Modes::One(mode)) => Ok(mode),
        Some(Modes::All) => Err(Failure::Usage("this command looks at one working mode at a time".to_owned())),
    }
}

/// Seconds that a search may take.
fn budget(arguments: &Arguments, default: f64) -> Result<Duration, Failure> {
    let seconds = arguments.budget.unwrap_or(default);
    Duration::try_from_secs_f64(seconds).map_err(|_| Failure::Usage("--budget: give seconds, 0 or more".to_owned()))
}

fn at_posture(
    robot: &Robot,
    posture: &Posture,
    home: &[(&'static str, f64)],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let (refine, output) = (arguments.refine, &arguments.output);
    let end = Instant::now() + budget(arguments, 2.0)?;
    let report = singularities(robot.model(), posture);
    // Type 1 and 2 are searched also where the first order says that they are far.
    let near = |s: &Singularity| s.distance.is_finite() || matches!(s.kind, Kind::Type1 | Kind::Type2);
    let asked = |s: &Singularity| refine && !s.singular && s.kind != Kind::Type3 && near(s);
    let mut waiting = report.list.iter().filter(|s| asked(s)).count();
    let mut found: Vec<Option<Searched>> = Vec::new();
    for s in &report.list {
        if !asked(s) {
            found.push(None);
            continue;
        }
        // What is left is shared by the kinds that wait.
        let now = Instant::now();
        let until = now + end.saturating_duration_since(now) / u32::try_from(waiting).unwrap_or(1);
        waiting -= 1;
        found.push(Some(nearest_while(robot.model(), posture, s, &|| Instant::now() < until)));
    }
    let told = || {
        let mut answer = posture_json(robot, posture, &report, &found, refine);
        ask::add_home(home, &mut answer);
        answer
    };
    output.give(told, || posture_text(robot, posture, &report, &found, refine) + &ask::home_text(home))
}

/// Rank and class of the lines along which the drives act, when all of them are lines.
fn class_of_lines(robot: &Robot, posture: &Posture) -> Option<(usize, String, &'static str)> {
    let model = robot.model();
    let wrenches = gough::analysis::singularity::actuation_wrenches(model, posture)?;
    let lines: Option<Vec<Line>> = wrenches.into_iter().map(|w| Line::of_wrench(w, model.length())).collect();
    let found = variety(&lines?, model.length());
    Some((found.rank, found.class.code().to_owned(), found.class.description()))
}

fn along_json(along: &Along) -> (&'static str, Value) {
    match along {
        Along::Twist(t) => ("twist", json!(t.to_array())),
        Along::Wrench(w) => ("wrench", json!(w.to_array())),
        Along::Joints(list) => {
            let map: serde_json::Map<String, Value> = list.iter().map(|(n, x)| (n.clone(), json!(x))).collect();
            ("joints", Value::Object(map))
        }
    }
}

fn posture_json(robot: &Robot, posture: &Posture, report: &Report, found: &[Option<Searched>], refine: bool) -> Value {
    let t = robot.model().topology();
    let one = |(s, searched): (&Singularity, &Option<Searched>)| {
        let mut entry = json!({
            "kind": s.kind.word(),
            "leg": s.leg,
            "sigma": s.sigma,
            "distance": if s.distance.is_finite() { json!(s.distance) } else { Value::Null },
            "singular": s.singular,
        });
        let (key, value) = along_json(&s.along);
        entry[key] = value;
        if refine {
            let near = searched.as_ref().and_then(|s| s.nearest.as_ref());
            entry["nearest"] = near.map_or(Value::Null, |n| {
                json!({ "pose": pose_json(robot.model(), n.posture.pose()), "distance": n.distance, "sigma": n.singularity.sigma })
            });
            entry["searched"] = searched
                .as_ref()
                .map_or(Value::Null, |s| json!({ "finished": s.finished, "starts": s.starts.0, "of": s.starts.1 }));
        }
        entry
    };
    json!({
        "robot": t.name,
        "pose": pose_json(robot.model(), posture.pose()),
        "working_mode": posture.mode().name(t),
        "length_scale": report.length,
        "singularities": report.list.iter().zip(found).map(one).collect::<Vec<_>>(),
        "undefined": report.undefined.iter().map(|k| k.word()).collect::<Vec<_>>(),
        "lines": class_of_lines(robot, posture).map(|(rank, class, text)| {
            json!({ "rank": rank, "class": class, "description": text })
        }),
    })
}

fn vector(v: &gough::spatial::Vec3<f64>) -> String {
    let shown = |x: f64| if x.abs() < 5e-7 { 0.0 } else { x };
    format!("({:.6}, {:.6}, {:.6})", shown(v.x), shown(v.y), shown(v.z))
}

fn along_text(s: &Singularity) -> String {
    match &s.along {
        Along::Twist(t) => {
            format!("twist v = {} m/s, w = {} {}/s", vector(&t.v), vector(&t.w.map(angles::shown)), angles::unit())
        }
        Along::Wrench(w) => format!("wrench f = {} N, m = {} N m", vector(&w.f), vector(&w.m)),
        Along::Joints(list) => {
            let moving = list.iter().filter(|(_, x)| x.abs() > 1e-6);
            let parts: Vec<String> = moving.map(|(n, x)| format!("q{n} {x:+.4}")).collect();
            format!("joints {}", parts.join(", "))
        }
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

fn posture_text(robot: &Robot, posture: &Posture, report: &Report, found: &[Option<Searched>], refine: bool) -> String {
    let model = robot.model();
    let t = model.topology();
    let mut out = format!("{} at {}\n", t.name, pose_text(model, posture.pose()));
    let _ = writeln!(
        out,
        "working mode {}; lengths and angles compared at {:.6} m; singular below sigma = {SINGULAR:.0e}\n",
        posture.mode().name(t),
        report.length
    );
    for s in report.list.iter().filter(|s| s.singular) {
        let leg = s.leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
        let _ = writeln!(out, "SINGULAR: {}{leg}: {}", s.kind.title(), meaning(s.kind));
        let _ = writeln!(out, "  {}", along_text(s));
    }
    if !report.is_singular() {
        out.push_str("not singular\n");
    }
    let head = if refine { "  nearest (m)" } else { "" };
    let _ = writeln!(out, "\n{:<11} {:<5} {:>11} {:>13}{head}  along", "kind", "leg", "sigma", "distance (m)");
    let near = |searched: &Option<Searched>| searched.as_ref().and_then(|s| s.nearest.clone());
    for (s, searched) in report.list.iter().zip(found) {
        let distance = if s.distance.is_finite() { format!("{:.6}", s.distance) } else { "-".to_owned() };
        let exact = match (refine, near(searched)) {
            (true, Some(n)) => format!("  {:>11.6}", n.distance),
            (true, None) => format!("  {:>11}", if s.singular { "0" } else { "-" }),
            _ => String::new(),
        };
        let leg = s.leg.as_deref().unwrap_or("");
        let _ = writeln!(
            out,
            "{:<11} {leg:<5} {:>11.4e} {distance:>13}{exact}  {}",
            s.kind.title(),
            s.sigma,
            along_text(s)
        );
    }
    for (s, searched) in report.list.iter().zip(found) {
        let leg = s.leg.as_ref().map_or_else(String::new, |l| format!(" of leg {l}"));
        if let Some(n) = near(searched) {
            let _ = writeln!(out, "nearest {}{leg}: {}", s.kind.title(), pose_text(model, n.posture.pose()));
        }
        if let Some(Searched { finished: false, starts: (done, of), .. }) = searched {
            let title = s.kind.title();
            let _ = writeln!(
                out,
                "{title}{leg}: searched from {done} of {of} poses, then the time was up (--budget SECONDS)"
            );
        }
    }
    if !report.undefined.is_empty() {
        let names: Vec<&str> = report.undefined.iter().map(|k| k.title()).collect();
        let _ = writeln!(out, "\n{} are not defined while passive joints move by themselves", names.join(", "));
    }
    if let Some((rank, class, description)) = class_of_lines(robot, posture) {
        let _ = writeln!(out, "\nlines of the drives: rank {rank}, class {class}: {description}");
    }
    out
}

fn loci(robot: &Robot, mode: &WorkingMode, region: &Region, arguments: &Arguments) -> Result<(), Failure> {
    if region.spans().len() != 2 {
        return Err(Failure::Usage("--region: curves are traced over two coordinates".to_owned()));
    }
    if !(arguments.accuracy > 1e-12 && arguments.accuracy < 1.0) {
        return Err(Failure::Usage("--accuracy: give metres between 1e-12 and 1".to_owned()));
    }
    let end = Instant::now() + budget(arguments, 60.0)?;
    let found = trace_loci_while(robot.model(), mode, region, arguments.accuracy, &|| Instant::now() < end);
    let mut files = Files::default();
    if let Some(path) = &arguments.plot {
        let picture = plot::draw(&picture(robot, mode, region, &found), path);
        files.add(path, &picture.map_err(|e| Failure::Usage(e.to_string()))?)?;
    }
    arguments.output.give_with(
        files,
        || loci_json(robot, mode, region, &found),
        || loci_text(robot, mode, region, &found, arguments),
    )?;
    if found.areas.is_empty() {
        eprintln!("no: no node of the region can be reached in this working mode");
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

fn loci_json(robot: &Robot, mode: &WorkingMode, region: &Region, found: &Loci) -> Value {
    let t = robot.model().topology();
    let curve = |c: &gough::analysis::loci::Curve| {
        let (kind, leg) = match &c.what {
            What::Singular(kind, leg) => (kind.word(), leg.clone()),
            What::Range(joint) => ("range", Some(joint.clone())),
            What::Open => ("open", None),
        };
        json!({ "kind": kind, "leg": leg, "points": c.points })
    };
    json!({
        "robot": t.name,
        "working_mode": mode.name(t),
        "axes": region.spans().iter().map(|s| json!({
            "name": region::name(robot, s.coordinate), "low": s.low, "high": s.high, "count": s.count,
        })).collect::<Vec<_>>(),
        "accuracy": found.accuracy,
        "curves": found.curves.iter().map(curve).collect::<Vec<_>>(),
        "aspects": found.areas.iter().map(|a| json!({ "area": a })).collect::<Vec<_>>(),
        "reachable_area": found.areas.iter().sum::<f64>(),
        "complete": found.left == 0,
        "left": found.left,
    })
}

fn length(points: &[[f64; 2]]) -> f64 {
    points.windows(2).map(|p| (p[0][0] - p[1][0]).hypot(p[0][1] - p[1][1])).sum()
}

fn loci_text(robot: &Robot, mode: &WorkingMode, region: &Region, found: &Loci, arguments: &Arguments) -> String {
    let t = robot.model().topology();
    let mut out = format!("{} in working mode {}", t.name, mode.name(t));
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
    let n = found.areas.len();
    let total: f64 = found.areas.iter().sum();
    let _ = writeln!(out, "\nreachable: {total:.6}; {n} aspect{}", if n == 1 { "" } else { "s" });
    let shown = region::large(&found.areas);
    for (i, area) in found.areas.iter().enumerate().take(shown) {
        let _ = writeln!(out, "  aspect {:<3} {area:.6}", i + 1);
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

/// Curves and aspects as a picture.
pub fn picture(robot: &Robot, mode: &WorkingMode, region: &Region, found: &Loci) -> Picture {
    let t = robot.model().topology();
    let [a, b] = [region.spans()[0], region.spans()[1]];
    let shown = region::large(&found.areas);
    let mut labels: Vec<String> = (0..shown).map(|i| format!("{}: {:.4}", i + 1, found.areas[i])).collect();
    if found.areas.len() > shown {
        labels.push("smaller".to_owned());
    }
    let values = found.aspects.iter().map(|l| l.map(|l| l.min(shown) as f64)).collect();
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
    let axis = |s: gough::analysis::Span| Axis {
        label: region::axis_label(robot, s.coordinate),
        low: region::shown(s.coordinate, s.low),
        high: region::shown(s.coordinate, s.high),
        log: false,
    };
    let fixed = region::fixed_text(robot, region);
    Picture {
        title: format!("Singularities of {} in working mode {}", t.name, mode.name(t)),
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
    }
}
