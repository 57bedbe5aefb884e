//! Records of positions and efforts as CSV files.

use crate::ask::{assignments, coordinate_words};
use crate::failure::Failure;
use crate::sheet::Sheet;
use gough::description::Coordinate;
use gough::identification::{Measured, Record};
use gough::kinematics::platform::coordinates;
use gough::model::Model;
use std::fmt::Write as _;
use std::path::Path;

/// Efforts per ampere of the drives, in their order; none for drives whose efforts are measured.
pub fn gains(model: &Model<f64>, text: Option<&str>) -> Result<Vec<Option<f64>>, Failure> {
    let names = model.topology().active_names();
    let mut list = vec![None; names.len()];
    let Some(text) = text else { return Ok(list) };
    for a in assignments(text, "--gains")? {
        let place = names.iter().position(|n| *n == a.name || Some(*n) == a.name.strip_prefix('q'));
        let Some(k) = place else {
            return Err(Failure::Usage(format!("--gains: no drive `{}`; there are q{}", a.name, names.join(", q"))));
        };
        list[k] = Some(a.value);
    }
    Ok(list)
}

/// A file with columns t, the active joints (q11, ..) or the platform (x, y, ..), and efforts (tau_11, ..) or currents
/// (i_11, ..) with gains. Joints count where both are there.
pub fn read(model: &Model<f64>, path: &Path, gains: &[Option<f64>]) -> Result<Record, Failure> {
    let bad = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let sheet = Sheet::read(path)?;
    let times = sheet.times(model).map_err(bad)?;
    let names = model.topology().active_names();
    let column = |name: &str| sheet.column(name).map(|c| sheet.column_numbers(model, c)).transpose().map_err(bad);
    let measured = measured(model, &sheet, &column).map_err(|why| match why {
        Missing::Told(failure) => failure,
        Missing::Columns(why) => bad(why),
    })?;
    let mut efforts = Vec::new();
    for (name, gain) in names.iter().zip(gains) {
        let found = match gain {
            Some(gain) => column(&format!("i_{name}"))?.map(|i| i.iter().map(|x| gain * x).collect()),
            None => column(&format!("tau_{name}"))?,
        };
        let what = if gain.is_some() { format!("i_{name}, its current,") } else { format!("tau_{name}") };
        efforts.push(found.ok_or_else(|| bad(format!("column {what} is missing; efforts of all drives are needed")))?);
    }
    Ok(Record { name: path.display().to_string(), times, measured, efforts })
}

enum Missing {
    Told(Failure),
    Columns(String),
}

impl From<Failure> for Missing {
    fn from(f: Failure) -> Self {
        Missing::Told(f)
    }
}

type ColumnReader<'a> = dyn Fn(&str) -> Result<Option<Vec<f64>>, Failure> + 'a;

fn measured(model: &Model<f64>, sheet: &Sheet, column: &ColumnReader<'_>) -> Result<Measured, Missing> {
    let t = model.topology();
    let joints: Vec<String> = t.active_names().iter().map(|n| format!("q{n}")).collect();
    let missing: Vec<&str> = joints.iter().filter(|n| sheet.column(n).is_none()).map(String::as_str).collect();
    if missing.is_empty() {
        let lists = joints.iter().map(|n| column(n)).collect::<Result<Option<Vec<_>>, _>>()?;
        return Ok(Measured::Joints(lists.unwrap_or_default()));
    }
    if missing.len() < joints.len() {
        return Err(Missing::Columns(format!("columns {} missing; give all active joints", missing.join(", "))));
    }
    let home = coordinates(model, &model.numbers().home_pose);
    let rows = sheet.times(model).map_err(Missing::Columns)?.len();
    let mut lists: Vec<Vec<f64>> = home.iter().map(|x| vec![*x; rows]).collect();
    for c in &t.platform.independent {
        let words: &[&str] = match c {
            Coordinate::Rz => &["yaw", "phi", "theta", "rz"],
            Coordinate::Rx => &["roll", "rx"],
            Coordinate::Ry => &["pitch", "ry"],
            _ => &["x", "y", "z"][c.index()..=c.index()],
        };
        let found = words.iter().find(|w| sheet.column(w).is_some());
        let Some(word) = found else {
            let platform = coordinate_words(&t.platform);
            let why = format!(
                "there are no positions; give the active joints ({}) or the platform ({platform})",
                joints.join(", ")
            );
            return Err(Missing::Columns(why));
        };
        lists[c.index()] = column(word)?.unwrap_or_default();
    }
    Ok(Measured::Platform(lists))
}

/// A record of joints and efforts as CSV.
pub fn table(model: &Model<f64>, record: &Record) -> String {
    let names = model.topology().active_names();
    let mut out = "t".to_owned();
    names.iter().for_each(|n| out.extend([",q", n]));
    names.iter().for_each(|n| out.extend([",tau_", n]));
    out.push('\n');
    let lists = match &record.measured {
        Measured::Joints(list) | Measured::Platform(list) => list,
    };
    for (i, t) in record.times.iter().enumerate() {
        let _ = write!(out, "{t}");
        for list in lists.iter().chain(&record.efforts) {
            let _ = write!(out, ",{}", list[i]);
        }
        out.push('\n');
    }
    out
}
