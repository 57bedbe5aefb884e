//! `cargo xtask figures`: every shipped robot at home, as an SVG beside its file.

use crate::run::root;
use gough::Robot;
use gough::description::Coordinates;
use gough::kinematics::scene::segments;
use gough::model::{Body, BodyId, Id, JointKind, Node};
use gough::spatial::Vec3;
use std::fmt::Write as _;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 360.0;
const EDGE: f64 = 30.0;
/// One colour per leg, readable in print and for most colour-blind people (after Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

pub fn run() -> Result<(), String> {
    for name in gough::robots::names() {
        let robot = gough::Robot::shipped(name).map_err(|e| e.to_string())?;
        let path = root().join("robots").join(name).join("figure.svg");
        std::fs::write(&path, figure(&robot)).map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}", path.display());
    }
    let path = root().join("docs/src/images/robots.svg");
    std::fs::write(&path, gallery()?).map_err(|e| format!("{}: {e}", path.display()))
}

/// The robots that differ to the eye, on one sheet.
fn gallery() -> Result<String, String> {
    let names = [
        "five-bar",
        "3-rpr",
        "dualv",
        "navaro",
        "orthoglide-parallelogram",
        "delta-parallelogram",
        "tripteron",
        "heli4",
        "gough-stewart",
        "dual-emps",
    ];
    let (across, cell) = (5, (240.0, 200.0));
    let down = names.len().div_ceil(across) as f64;
    let (width, height) = (cell.0 * across as f64, cell.1 * down);
    let mut sheet = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>Robots that come with Gough, at their home postures</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (i, name) in names.iter().enumerate() {
        let robot = gough::Robot::shipped(name).map_err(|e| e.to_string())?;
        let (x, y) = ((i % across) as f64 * cell.0, (i / across) as f64 * cell.1);
        let size = format!("x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\"", cell.0, cell.1 - 20.0);
        sheet.push_str(&figure(&robot).replacen(&format!("width=\"{WIDTH}\" height=\"{HEIGHT}\""), &size, 1));
        let _ = writeln!(
            sheet,
            "<text x=\"{}\" y=\"{}\" font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\" fill=\"#333333\">{name}</text>",
            x + cell.0 / 2.0,
            y + cell.1 - 6.0
        );
    }
    sheet.push_str("</svg>\n");
    Ok(sheet)
}

/// Planar robots from above; the others from the front, right and above.
fn projection(robot: &Robot) -> impl Fn(Vec3<f64>) -> (f64, f64) {
    let coordinates = &robot.model().topology().platform.coordinates;
    let planar = matches!(coordinates, Coordinates::Planar | Coordinates::Point(_));
    let (turn, tilt) = (0.5_f64, 0.35_f64);
    move |p| {
        if planar {
            return (p.x, p.y);
        }
        let (x, y) = (p.x * turn.cos() + p.y * turn.sin(), p.y * turn.cos() - p.x * turn.sin());
        (x, p.z * tilt.cos() + y * tilt.sin())
    }
}

fn figure(robot: &Robot) -> String {
    let model = robot.model();
    let flat = projection(robot);
    let lines = segments(model, robot.home().closed());
    let points: Vec<(f64, f64)> = lines.iter().flat_map(|s| [flat(s.from), flat(s.to)]).collect();
    let (mut low, mut high) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
    for p in &points {
        low = (low.0.min(p.0), low.1.min(p.1));
        high = (high.0.max(p.0), high.1.max(p.1));
    }
    let scale = ((WIDTH - 2.0 * EDGE) / (high.0 - low.0)).min((HEIGHT - 2.0 * EDGE) / (high.1 - low.1));
    let shift = (
        (WIDTH - scale * (high.0 - low.0)) / 2.0 - scale * low.0,
        f64::midpoint(HEIGHT, scale * (high.1 - low.1)) + scale * low.1,
    );
    let place = |p: Vec3<f64>| (shift.0 + scale * flat(p).0, shift.1 - scale * flat(p).1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
         <title>{} at its home posture</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <g stroke-linecap=\"round\" stroke-linejoin=\"round\" fill=\"none\">\n",
        model.topology().name
    );
    for s in &lines {
        let (a, b) = (place(s.from), place(s.to));
        let (colour, width) = s.leg.map_or(("#333333", 5), |leg| (COLOURS[leg.index() % COLOURS.len()], 4));
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            a.0, a.1, b.0, b.1
        );
    }
    joints(robot, &place, &mut svg);
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Hinges as circles, sliders as squares, driven ones filled; a bar under what stands on the base.
fn joints(robot: &Robot, place: &dyn Fn(Vec3<f64>) -> (f64, f64), svg: &mut String) {
    let t = robot.model().topology();
    let pos = robot.home().positions();
    let mut mark = |p: Vec3<f64>, driven: bool, slides: bool, grounded: bool| {
        let (x, y) = place(p);
        let fill = if driven { "#333333" } else { "white" };
        if grounded {
            let _ =
                writeln!(svg, "<path d=\"M{:.1} {:.1}h18\" stroke=\"#333333\" stroke-width=\"3\"/>", x - 9.0, y + 8.0);
        }
        let shape = if slides {
            format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\"", x - 4.5, y - 4.5)
        } else {
            format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"")
        };
        let _ = writeln!(svg, "{shape} fill=\"{fill}\" stroke=\"#333333\" stroke-width=\"1.5\"/>");
    };
    for (id, closure) in t.closures.iter().filter(|(_, c)| !c.tool && c.joint.rows() < 6) {
        let X = pos.node(closure.sides[0]) * robot.model().numbers().closures[id][0];
        mark(X.p, false, false, false);
    }
    // Driven joints last, so that nothing covers them.
    let is_driven = |body: &Body| body.coord.is_some_and(|c| t.active.contains(&c));
    let mut moving: Vec<(BodyId, &Body)> = t.bodies.iter().filter(|(_, b)| b.joint != JointKind::Fixed).collect();
    moving.sort_by_key(|(_, body)| is_driven(body));
    for (b, body) in moving {
        let driven = is_driven(body);
        let slides = body.joint == JointKind::Prismatic;
        let grounded = body.parent == Node::World;
        let at = if grounded && slides { robot.model().numbers().bodies[b].X_PF.p } else { pos.X_WB[b].p };
        mark(at, driven && !(grounded && slides), slides, grounded);
        if grounded && slides {
            mark(pos.X_WB[b].p, driven, true, false);
        }
    }
    if t.platform.tool.is_some() {
        let (x, y) = place(pos.X_WE.p);
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\" stroke=\"#333333\" stroke-width=\"1.5\"/>");
    }
}
