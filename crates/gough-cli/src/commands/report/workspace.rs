//! What is reached, where it is singular, and how well it moves there: over the first two coordinates that go together.

use super::About;
use super::html::{Html, number};
use crate::commands::map::draw;
use crate::commands::singularities;
use crate::plot;
use gough::Error;
use gough::analysis::{CoordinateSpan, Region};
use gough::question::MapAnswer;
use gough::view::plane_extent;
use std::path::Path;

/// Nodes along a coordinate.
const NODES: usize = 61;
/// To how many metres curves are traced.
const ACCURACY: f64 = 1e-4;

/// Two coordinates and their ends, and the same in words of a command line.
pub struct WorkspacePlane {
    pub region: Region,
    pub words: String,
}

/// The first two coordinates that are lengths, or else the first two: ends rounded, so that a command can name them.
pub fn plane(about: &About<'_>, nodes: usize) -> Result<WorkspacePlane, Error> {
    let (robot, model) = (about.robot, about.robot.model());
    let own = &model.topology().platform.independent;
    let lengths: Vec<usize> = (0..own.len()).filter(|k| !own[*k].is_angle()).collect();
    let pair = match (&lengths[..], own.len()) {
        ([a, b, ..], _) => [*a, *b],
        (_, 2..) => [0, 1],
        _ => return Err(Error::Question("the platform has one coordinate; a plane needs two".to_owned())),
    };
    let ends = plane_extent(robot, pair).map(|[low, high]| {
        let grain = 10.0_f64.powf((high - low).log10().floor() - 2.0);
        [(low / grain).floor(), (high / grain).ceil()].map(|n| round(n * grain))
    });
    let names = pair.map(|k| robot.coordinates()[k]);
    let part = |k: usize| format!("{}={}:{}:{nodes}", names[k], ends[k][0], ends[k][1]);
    let span = |k: usize| CoordinateSpan { coordinate: own[pair[k]], low: ends[k][0], high: ends[k][1], count: nodes };
    let region = Region::new(model, vec![span(0), span(1)], robot.home().pose())?;
    Ok(WorkspacePlane { region, words: format!("--region={},{}", part(0), part(1)) })
}

/// Without the last digits that rounding to a grain leaves.
fn round(x: f64) -> f64 {
    format!("{x:.9}").parse().unwrap_or(x)
}

fn picture(done: Result<Vec<u8>, plot::PlotError>) -> Result<Vec<u8>, Error> {
    done.map_err(|e| Error::Question(e.to_string()))
}

/// A name that says what pictures are.
pub const SVG: &str = "figure.svg";

pub fn singular(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    let WorkspacePlane { region, words } = plane(about, NODES)?;
    let found = about.robot.loci().in_region(&region).accuracy(ACCURACY).answer()?;
    let drawn = plot::draw(&singularities::picture(about.robot, &region, &found), Path::new(SVG));
    page.figure(&picture(drawn)?, "What is reached, parted into aspects, and the curves of singularity");
    let mut rows = vec![vec!["reached".to_owned(), number(found.reachable_area)]];
    let aspects = found.aspects.iter().take(8).enumerate();
    rows.extend(aspects.map(|(i, a)| vec![format!("aspect {}", i + 1), number(a.area)]));
    page.table("aspects", &["", "area"], &rows);
    page.command(&about.command("singularities", &format!("{words} --accuracy {ACCURACY} --plot {SVG}")));
    at_home(about, page)
}

/// Singularities at home by kind.
fn at_home(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    let found = about.robot.singularities(about.robot.home().pose()).answer()?;
    let row = |s: &gough::question::SingularityAnswer| {
        let state = if s.singular { "singular" } else { "" };
        let leg = s.near.leg.clone().unwrap_or_default();
        vec![s.near.kind.title().to_owned(), leg, number(s.near.sigma), number(s.near.distance), state.to_owned()]
    };
    let rows: Vec<Vec<String>> = found.singularities.iter().map(row).collect();
    page.paragraph("How far singularities are from home, by kind, nearest first:");
    page.table("singularities", &["kind", "leg", "sigma", "distance, m", ""], &rows);
    page.command(&about.command("singularities", &home(about)));
    Ok(())
}

/// `--pose` of home.
pub fn home(about: &About<'_>) -> String {
    let robot = about.robot;
    format!("--pose={}", coordinates(about, &robot.coordinates_of(robot.home().pose())))
}

/// Coordinates in words.
pub fn coordinates(about: &About<'_>, at: &[f64]) -> String {
    about.robot.coordinates().iter().zip(at).map(|(n, x)| format!("{n}={x}")).collect::<Vec<_>>().join(",")
}

pub fn conditioning(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    page.paragraph("One over the condition number of the Jacobian, lengths scaled: 1 moves equally well everywhere, 0 is singular.");
    mapped(about, page, "conditioning", NODES)
}

pub fn amplification(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    page.paragraph("Largest effort of a drive for a unit force on the platform.");
    mapped(about, page, "amplification", NODES)
}

/// A map with its extremes.
pub fn mapped(about: &About<'_>, page: &mut Html, quantity: &str, nodes: usize) -> Result<(), Error> {
    let WorkspacePlane { region, words } = plane(about, nodes)?;
    let found = about.robot.map(quantity).in_region(&region).answer()?;
    let answered = found.values.iter().filter(|v| v.get().is_some()).count();
    if answered == 0 {
        return Err(Error::Question(format!("no node of {words} has a {quantity}")));
    }
    // Near a singularity a few values dwarf all others: factors tell more than differences.
    let scale = (quantity == "amplification").then_some(crate::commands::map::MapScale::Log);
    let drawn = draw(about.robot, &region, scale, &found, Path::new(SVG));
    page.figure(&picture(drawn)?, &format!("{quantity} in working mode {}", found.working_mode));
    page.table(quantity, &["", "value", "unit", "at"], &extremes(&region, &found));
    let log = if scale.is_some() { " --scale log" } else { "" };
    page.command(&about.command("map", &format!("--quantity {quantity} {words} --plot {SVG}{log}")));
    Ok(())
}

fn extremes(region: &Region, found: &MapAnswer) -> Vec<Vec<String>> {
    let all = || found.values.iter().enumerate().filter_map(|(i, v)| Some((i, v.get()?)));
    let names: Vec<&str> = found.axes.iter().map(|a| a.name).collect();
    let at = |node: usize| {
        let point = region.point(node);
        names.iter().zip(point).map(|(n, x)| format!("{n} = {}", number(x))).collect::<Vec<_>>().join(", ")
    };
    let row = |name: &str, x: f64, at: String| vec![name.to_owned(), number(x), found.unit.to_owned(), at];
    let low = all().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, x)| row("lowest", x, at(i)));
    let high = all().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, x)| row("highest", x, at(i)));
    let (sum, n) = all().fold((0.0, 0_usize), |(s, n), (_, x)| (s + x, n + 1));
    let mean = (n > 0).then(|| row("mean", sum / n as f64, String::new()));
    let share = format!("{n} of {} nodes", found.values.len());
    low.into_iter()
        .chain(high)
        .chain(mean)
        .chain([vec!["answered".to_owned(), share, String::new(), String::new()]])
        .collect()
}
