//! What the robot is: legs, freedoms, drives, parameters, and a drawing of its home posture.

use super::About;
use super::html::{Html, escape, number};
use gough::Error;
use gough::view::{Portrait, Scene, frames};
use serde_json::Value;
use std::fmt::Write as _;

/// The document of `check` laid out.
#[allow(clippy::unnecessary_wraps)] // parts are called alike
pub fn what(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    let robot = about.robot;
    let found = serde_json::json!(robot.check());
    page.figure(drawing(about).as_bytes(), "The robot at home: legs in colours, drives orange, platform dark blue");
    let list = |key: &str| words(&found[key]).join(", ");
    let counts = &found["mobility_counts"];
    let rows: Vec<Vec<String>> = [
        ("coordinates of the platform", list("platform")),
        ("coordinates that follow", list("follows")),
        ("driven joints", list("active")),
        ("other joints", list("passive")),
        ("degrees of freedom", text(&found["mobility"])),
        ("counted by rank, by legs, by loops", ["by_rank", "by_legs", "by_loops"].map(|k| text(&counts[k])).join(", ")),
        ("closure equations and their rank", format!("{}, {}", text(&found["rows"]), text(&found["rank"]))),
        ("over-constraint", text(&found["overconstraint"])),
        ("working mode of the file", text(&found["working_mode"])),
        ("length that makes turns and shifts comparable", format!("{} m", text(&found["length_scale"]))),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| vec![name.to_owned(), value])
    .collect();
    page.table("robot", &["", ""], &rows);
    let legs: Vec<Vec<String>> = found["legs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|l| ["name", "chain", "solved"].map(|k| text(&l[k])).to_vec())
        .collect();
    page.table("legs", &["leg", "joints, driven with *", ""], &legs);
    let portrait = Portrait::new(robot);
    let reach: Vec<Vec<String>> = portrait
        .coordinates
        .iter()
        .map(|c| {
            vec![
                c.name.to_owned(),
                number(c.home),
                number(c.reach[0]),
                number(c.reach[1]),
                if c.angle { "rad" } else { "m" }.to_owned(),
            ]
        })
        .collect();
    page.paragraph("How far each coordinate goes from home while the others stay, in the working mode of the file:");
    page.table("reach", &["coordinate", "home", "lowest", "highest", "unit"], &reach);
    let parameters: Vec<Vec<String>> = portrait.parameters.iter().map(|(n, x)| vec![n.clone(), number(*x)]).collect();
    if !parameters.is_empty() {
        page.table("parameters", &["parameter", "value in SI units"], &parameters);
    }
    for remark in &portrait.remarks {
        page.paragraph(&format!("Remark, line {}: {}", remark.line, remark.message));
    }
    page.command(&about.command("check", ""));
    Ok(())
}

fn text(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), number),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

const COLOURS: [&str; 8] = ["#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#7a6fac", "#4d9221", "#8c510a", "#999999"];

/// The home posture: planar robots from above, others from the front and above.
fn drawing(about: &About<'_>) -> String {
    let robot = about.robot;
    let (scene, mut list) = (Scene::new(robot), Vec::new());
    frames(robot.model(), robot.home().positions(), &mut list);
    let names = robot.coordinates();
    let planar = !names.iter().any(|n| matches!(*n, "z" | "roll" | "pitch"));
    let flat = |node: usize, p: [f64; 3]| -> [f64; 2] {
        let f = &list[12 * node..12 * node + 12];
        let [x, y, z] = std::array::from_fn(|k| f[k] * p[0] + f[3 + k] * p[1] + f[6 + k] * p[2] + f[9 + k]);
        if planar { [x, -y] } else { [0.857 * x + 0.515 * y, 0.22 * x - 0.36 * y - 0.9 * z] }
    };
    let mut lines: Vec<([f64; 2], [f64; 2], &str, f64)> = Vec::new();
    for p in &scene.pieces {
        let colour = match (p.kind, scene.nodes[p.on[1]].leg) {
            ("platform", _) | (_, None) => "#3b4cc0",
            (_, Some(leg)) => COLOURS[leg % COLOURS.len()],
        };
        lines.push((
            flat(p.on[0], p.ends[0]),
            flat(p.on[1], p.ends[1]),
            colour,
            if p.kind == "slide" { 3.0 } else { 5.0 },
        ));
    }
    let dots: Vec<([f64; 2], bool, &str)> = scene
        .joints
        .iter()
        .filter(|j| j.kind != "fixed")
        .map(|j| (flat(j.on, j.at), j.active, j.name.as_str()))
        .collect();
    svg(&lines, &dots)
}

/// Lines and dots on a page of 640 points across.
fn svg(lines: &[([f64; 2], [f64; 2], &str, f64)], dots: &[([f64; 2], bool, &str)]) -> String {
    let all = || lines.iter().flat_map(|l| [l.0, l.1]).chain(dots.iter().map(|d| d.0));
    let end = |k: usize, sign: f64| all().map(|p| sign * p[k]).fold(f64::NEG_INFINITY, f64::max) * sign;
    let (low, high) = ([end(0, -1.0), end(1, -1.0)], [end(0, 1.0), end(1, 1.0)]);
    let size = (high[0] - low[0]).max(high[1] - low[1]).max(1e-9);
    let place = |p: &[f64; 2]| [20.0 + 600.0 * (p[0] - low[0]) / size, 20.0 + 600.0 * (p[1] - low[1]) / size];
    let corner = place(&high);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" width=\"{:.0}\">",
        corner[0] + 20.0,
        corner[1] + 20.0,
        corner[0] + 20.0
    );
    for (from, to, colour, width) in lines {
        let ([a, b], [c, d]) = (place(from), place(to));
        let _ = write!(
            out,
            "<path d=\"M{a:.1} {b:.1}L{c:.1} {d:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
        );
    }
    for (at, driven, name) in dots {
        let [x, y] = place(at);
        let (r, fill) = if *driven { (8, "#e69f00") } else { (5, "#ffffff") };
        let name = escape(name);
        let _ = write!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" fill=\"{fill}\" stroke=\"#333333\"><title>{name}</title></circle>"
        );
    }
    out + "</svg>"
}
