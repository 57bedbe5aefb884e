//! What a motion takes, how the robot vibrates, and what its models cost.

use super::About;
use super::html::{Html, number};
use super::workspace::{SVG, coordinates, home, mapped};
use crate::plot::{self, Chart, Series, Style};
use gough::elastodynamics::motion::is_flexible;
use gough::question::AlongAnswer;
use gough::trajectory::drive_limits;
use gough::view::extents;
use gough::{Error, Language, ModelKind, Robot, TimeLaw, Trajectory};
use std::path::Path;

/// How long the test motion lasts, s.
const DURATION: f64 = 0.5;

/// Straight ways from home along the first two coordinates, longest first.
fn targets(robot: &Robot) -> Vec<Vec<f64>> {
    let (from, ends) = (robot.coordinates_of(robot.home().pose()), extents(robot));
    let one = |share: f64, side: usize| {
        let mut at = from.clone();
        for k in 0..at.len().min(2) {
            let way = if k == 0 { ends[k][1] } else { ends[k][side] } - from[k];
            at[k] = ((from[k] + share * way) * 1e4).round() / 1e4;
        }
        at
    };
    [0.5, 0.35, 0.2, 0.1, 0.03].into_iter().flat_map(|share| [one(share, 1), one(share, 0)]).collect()
}

/// A way that keeps away from singularities and the end of the reach, and what it takes.
fn test_motion(robot: &Robot) -> Result<(Vec<f64>, AlongAnswer), Error> {
    let mut why = Error::Question("the platform has no coordinate to move".to_owned());
    for to in targets(robot) {
        let way = Trajectory::by_law(TimeLaw::Poly5, *robot.home().pose(), robot.pose_at(&to)?, [0.0, DURATION])?;
        match robot.along(&way).step(DURATION / 200.0).answer() {
            Ok(found) if found.crossings.is_empty() && found.refused.is_empty() => return Ok((to, found)),
            Ok(found) => {
                let met = found.crossings.len();
                why = Error::Question(format!(
                    "every straight way from home that was tried leaves the reach or meets singularities ({met} on the last)"
                ));
            }
            Err(e) => why = e,
        }
    }
    Err(why)
}

pub fn motion(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    let (to, found) = test_motion(about.robot)?;
    let robot = about.robot;
    let limits = drive_limits(robot.model());
    let unit = found.drives.first().map_or("", |d| d.unit);
    let series = found.active_joints.iter().enumerate().map(|(k, name)| Series {
        name: format!("q{name}"),
        style: Style::nth(k),
        points: found.states.iter().map(|s| (s.t, s.with_friction.get(k).copied())).collect(),
    });
    let chart = Chart {
        title: format!("Efforts of {} on a straight way of {DURATION} s from rest to rest", found.robot),
        x_label: "t (s)".to_owned(),
        y_label: format!("effort ({unit})"),
        series: series.collect(),
        ..Chart::default()
    };
    let drawn = plot::line_chart(&chart, Path::new(SVG)).map_err(|e| Error::Question(e.to_string()))?;
    page.paragraph(&format!("From home to {}.", coordinates(about, &to)));
    page.figure(&drawn, "Efforts of the drives, friction included");
    let limit = |x: Option<f64>| x.map_or_else(|| "none given".to_owned(), number);
    let rows: Vec<Vec<String>> = found
        .drives
        .iter()
        .zip(&limits)
        .map(|(d, l)| {
            let peak = if d.unbounded { "grows without bound".to_owned() } else { number(d.peak) };
            vec![
                format!("q{}", d.joint),
                peak,
                number(d.rms),
                limit(l.effort),
                number(d.largest_speed),
                limit(l.speed),
                d.unit.to_owned(),
            ]
        })
        .collect();
    page.table(
        "drives",
        &["drive", "largest effort", "root mean square", "limit", "largest speed", "limit", "unit"],
        &rows,
    );
    let (n, m) = (found.violations.len() + found.more_violations, found.crossings.len());
    page.paragraph(&format!("{n} times a limit of the file is left; {m} singularities on the way."));
    let words = format!("--to={} --time {DURATION} --law poly5", coordinates(about, &to));
    page.command(&about.command("plan", &words));
    Ok(())
}

pub fn frequencies(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    let robot = about.robot;
    if !is_flexible(robot.model()) {
        return Err(Error::Question(
            "nothing in the file bends or gives way; `gough frequencies` needs beams, springs or stiff drives"
                .to_owned(),
        ));
    }
    let found = robot.frequencies(robot.home().pose()).sensitivities().answer()?;
    let shares = |list: Vec<(String, f64)>| {
        list.iter()
            .take(3)
            .filter(|(_, s)| *s > 0.005)
            .map(|(n, s)| format!("{n} {:.0} %", 100.0 * s))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let row = |(k, m): (usize, &gough::question::ModeAnswer)| {
        vec![(k + 1).to_string(), number(m.frequency_hz), shares(m.by_kind()), shares(m.by_body())]
    };
    let rows: Vec<Vec<String>> = found.modes.iter().enumerate().map(row).collect();
    page.table("frequencies", &["mode", "Hz", "how its energy is stored", "where"], &rows);
    page.command(&about.command("frequencies", &home(about)));
    let changes: Vec<Vec<String>> = found
        .sensitivities
        .iter()
        .flatten()
        .take(6)
        .map(|s| {
            let by = |k: usize| s.percent_per_percent.get(k).copied().map_or_else(String::new, number);
            vec![s.parameter.clone(), number(s.value), by(0), by(1), by(2)]
        })
        .collect();
    if !changes.is_empty() {
        page.paragraph("Which parameter of the file to change: per cent of a frequency per per cent of the parameter, largest effect first.");
        page.table("sensitivities", &["parameter", "value", "mode 1", "mode 2", "mode 3"], &changes);
        page.command(&about.command("frequencies", &format!("{} --sensitivity", home(about))));
    }
    page.paragraph("The lowest natural frequency:");
    mapped(about, page, "f1", 31)
}

#[allow(clippy::unnecessary_wraps)] // parts are called alike
pub fn counts(about: &About<'_>, page: &mut Html) -> Result<(), Error> {
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for model in ModelKind::COUNTED {
        let counted = match about.robot.codegen(model, Language::C) {
            Ok(code) => {
                let c = code.count;
                [c.add, c.mul, c.operations(), c.sqrt, c.trig].map(|n| n.to_string()).to_vec()
            }
            Err(why) => {
                refused.push(format!("{}: {why}.", model.name()));
                vec!["-".to_owned(); 5]
            }
        };
        rows.push([vec![model.name().to_owned()], counted].concat());
    }
    page.table(
        "counts",
        &["model", "additions", "multiplications", "together", "square roots", "trigonometric"],
        &rows,
    );
    refused.iter().for_each(|why| page.paragraph(why));
    page.command(&about.command("codegen", "--model idm --lang c"));
    Ok(())
}
