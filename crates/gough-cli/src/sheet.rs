//! CSV files of numbers over time: trajectories and efforts.

use crate::ask::{Assigned, PosePart, check_parts, hint, pose_of};
use crate::columns;
use crate::failure::Failure;
use crate::inputs::read_limited;
use crate::states::rate_names;
use gough::Robot;
use gough::description::Coordinates;
use gough::kinematics::{WorkingMode, inverse};
use gough::model::Model;
use gough::simulation::EffortTable;
use gough::spatial::orientation::to_rpy;
use gough::trajectory::{JointSample, MOST_SAMPLES, Sample, Trajectory, TrajectoryError, from_joints, from_rpy_rates};
use std::path::Path;

/// Largest file that is read.
const LARGEST: u64 = 512 << 20;

/// Columns that simulations write beside the motion.
const BESIDE: [&str; 5] = ["kinetic_energy", "kinetic_energy_rotors", "potential_energy", "work", "losses"];

const ANGLES: [&str; 3] = ["roll", "pitch", "yaw"];

/// A motion read from a file, and what was missing in it.
pub struct SheetMotion {
    pub trajectory: Trajectory,
    /// Where rates and accelerations come from, in words.
    pub rates: &'static str,
}

/// A file as names and rows of cells, with the line of each row.
pub struct Sheet {
    pub names: Vec<String>,
    rows: Vec<(u64, csv::StringRecord)>,
}

impl Sheet {
    /// Read a file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let bad = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let text = read_limited(path, LARGEST + 1)
            .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
        if text.len() as u64 > LARGEST {
            return Err(bad("larger than 512 MiB".to_owned()));
        }
        Self::of(text.trim_start_matches('\u{feff}')).map_err(bad)
    }

    fn of(text: &str) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .flexible(true)
            .from_reader(text.as_bytes());
        let header = reader.headers().map_err(|e| e.to_string())?.clone();
        let names: Vec<String> = header.iter().map(str::to_owned).collect();
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return Err(format!("column `{twice}` is there twice"));
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| e.to_string())?;
            let line = record.position().map_or(0, |at| line_of(text, at));
            if record.len() != names.len() {
                return Err(format!("line {line}: the header has {} columns, this line {}", names.len(), record.len()));
            }
            rows.push((line, record));
            if rows.len() > MOST_SAMPLES {
                return Err(format!("more than {MOST_SAMPLES} lines"));
            }
        }
        if rows.is_empty() {
            return Err("no lines with numbers".to_owned());
        }
        Ok(Self { names, rows })
    }

    /// Place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// Columns of all these names, or of none.
    fn all_or_none(&self, names: &[String]) -> Result<Option<Vec<usize>>, String> {
        let found: Vec<Option<usize>> = names.iter().map(|n| self.column(n)).collect();
        let missing: Vec<&str> =
            names.iter().zip(&found).filter(|(_, f)| f.is_none()).map(|(n, _)| n.as_str()).collect();
        if missing.is_empty() {
            return Ok(found.into_iter().collect());
        }
        if missing.len() == names.len() {
            return Ok(None);
        }
        Err(format!("columns {} missing: give all of {} or none", missing.join(", "), names.join(", ")))
    }

    fn number(&self, model: &Model<f64>, row: usize, column: usize) -> Result<f64, String> {
        let (line, record) = &self.rows[row];
        let cell = record.get(column).unwrap_or_default();
        columns::number(model, &self.names[column], cell).map_err(|why| format!("line {line}: {why}"))
    }

    /// A column as numbers.
    pub fn column_numbers(&self, model: &Model<f64>, column: usize) -> Result<Vec<f64>, String> {
        (0..self.rows.len()).map(|row| self.number(model, row, column)).collect()
    }

    fn numbers(&self, model: &Model<f64>, row: usize, columns: Option<&[usize]>) -> Result<Option<Vec<f64>>, String> {
        columns.map(|list| list.iter().map(|c| self.number(model, row, *c)).collect()).transpose()
    }

    /// The times, which must rise.
    pub fn times(&self, model: &Model<f64>) -> Result<Vec<f64>, String> {
        let column = self.column("t").ok_or_else(|| "there is no column `t`, the time in seconds".to_owned())?;
        let times = (0..self.rows.len()).map(|i| self.number(model, i, column)).collect::<Result<Vec<f64>, _>>()?;
        match (1..times.len()).find(|i| !(times[*i] > times[i - 1])) {
            Some(i) => Err(format!("line {}: the time does not come after that of the line before", self.rows[i].0)),
            None => Ok(times),
        }
    }

    /// Every name must mean something for this robot.
    fn check_names(&self, model: &Model<f64>) -> Result<(), String> {
        self.names.iter().try_for_each(|name| columns::told_apart(model, name))?;
        let known = known(model);
        let t = model.topology();
        let joint = |n: &str| t.coord(n).is_some();
        let stem = |n: &str| {
            joint(n) || n.strip_suffix('d').is_some_and(|n| joint(n) || n.strip_suffix('d').is_some_and(joint))
        };
        let effort = |n: &str| {
            n.strip_prefix("tau_").is_some_and(|n| joint(n) || n.strip_suffix("_without_friction").is_some_and(joint))
        };
        let beside = |n: &str| BESIDE.contains(&n) || n.starts_with("point ");
        let means = |n: &&String| known.contains(n) || stem(n) || effort(n) || beside(n);
        match self.names.iter().find(|n| !means(n)) {
            Some(name) => Err(format!("column `{name}` is not known; {}", hint(name, &known))),
            None => Ok(()),
        }
    }
}

/// Line of a record: its position is where the one before it ended, lines without a record may lie between.
fn line_of(text: &str, at: &csv::Position) -> u64 {
    let rest = usize::try_from(at.byte()).ok().and_then(|byte| text.get(byte..)).unwrap_or_default();
    at.line() + rest.lines().take_while(|l| l.is_empty() || l.starts_with('#')).count() as u64
}

/// Columns of a trajectory of this robot.
fn known(model: &Model<f64>) -> Vec<String> {
    let t = model.topology();
    let spatial = t.platform.coordinates == Coordinates::Spatial;
    let mut known = vec!["t".to_owned()];
    known.extend(PosePart::NAMES.iter().map(|n| (*n).to_owned()));
    known.extend(["rx", "ry", "rz", "theta"].map(str::to_owned));
    known.extend(rate_names(model, ""));
    known.extend(rate_names(model, "d"));
    if spatial {
        known.extend(ANGLES.iter().flat_map(|n| [format!("{n}d"), format!("{n}dd")]));
    }
    for n in t.active_names() {
        known.extend([format!("q{n}"), format!("q{n}d"), format!("q{n}dd"), format!("tau_{n}")]);
    }
    known
}

/// A trajectory file: motion of the platform, or of the active joints.
pub fn trajectory(robot: &Robot, mode: &WorkingMode, path: &Path) -> Result<SheetMotion, Failure> {
    let bad = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let t = robot.model().topology();
    if !t.plan.given.is_empty() {
        let open: Vec<String> = t.plan.given.iter().map(|c| format!("q{}", t.coords[*c].name)).collect();
        let why = format!("the pose leaves joints open ({}); motions of such robots are not followed", open.join(", "));
        return Err(Failure::Usage(why));
    }
    let sheet = Sheet::read(path)?;
    let times = sheet.times(robot.model()).map_err(bad)?;
    sheet.check_names(robot.model()).map_err(bad)?;
    let told = |e: TrajectoryError| -> Failure {
        let line = |i: usize| sheet.rows[i].0;
        match e {
            TrajectoryError::Posture { sample, why } => bad(format!("line {}: {why}", line(sample))),
            other => bad(other.to_string()),
        }
    };
    let platform = sheet.names.iter().any(|n| PosePart::named(n).is_some());
    let samples = if platform {
        platform_samples(robot.model(), &sheet, &times).map_err(bad)?
    } else {
        let samples = joint_samples(robot.model(), &sheet, &times).map_err(bad)?;
        let near = inverse(robot.model(), robot.home().pose(), mode)?;
        from_joints(robot.model(), &near, &samples).map_err(told)?
    };
    let rates = match (samples[0].twist.is_some(), samples[0].acceleration.is_some()) {
        (true, true) => "rates and accelerations are those of the file",
        (true, false) => "rates are those of the file, accelerations from a spline of fifth degree",
        _ => "rates and accelerations from a spline of fifth degree through the samples",
    };
    Ok(SheetMotion { trajectory: Trajectory::sampled(robot.model(), mode, &samples).map_err(told)?, rates })
}

fn platform_samples(model: &Model<f64>, sheet: &Sheet, times: &[f64]) -> Result<Vec<Sample>, String> {
    let platform = &model.topology().platform;
    let parts: Vec<(usize, PosePart)> =
        sheet.names.iter().enumerate().filter_map(|(i, n)| PosePart::named(n).map(|p| (i, p))).collect();
    let named: Vec<(&str, PosePart)> = parts.iter().map(|(i, p)| (sheet.names[*i].as_str(), *p)).collect();
    check_parts(platform, &named)?;
    let angle_names = |more: &str| ANGLES.map(|n| format!("{n}{more}"));
    let by_angles = sheet.all_or_none(&angle_names("d"))?.zip(Some(sheet.all_or_none(&angle_names("dd"))?));
    let mut names = [rate_names(model, ""), rate_names(model, "d")];
    if by_angles.is_some() && platform.coordinates == Coordinates::Spatial {
        names.iter_mut().for_each(|list| list.retain(|n| !n.starts_with('w')));
    }
    let columns = [sheet.all_or_none(&names[0])?, sheet.all_or_none(&names[1])?];
    if columns[0].is_none() && columns[1].is_some() {
        return Err(format!("accelerations without rates: give {} too", names[0].join(", ")));
    }
    let one = |i: usize| -> Result<Sample, String> {
        let (line, record) = &sheet.rows[i];
        let at = |why: String| format!("line {line}: {why}");
        let mut given = Vec::new();
        for (column, part) in &parts {
            let cell = record.get(*column).unwrap_or_default();
            given.push((*part, Assigned::read(&sheet.names[*column], cell).map_err(at)?));
        }
        let pose = pose_of(model, &given).map_err(at)?;
        let mut twist = sheet.numbers(model, i, columns[0].as_deref())?;
        let mut acceleration = sheet.numbers(model, i, columns[1].as_deref())?;
        if let (Some((rates, second)), Some(t_r)) = (&by_angles, &mut twist)
            && t_r.len() == 3
        {
            let v = sheet.numbers(model, i, Some(rates))?.unwrap_or_default();
            let a = sheet.numbers(model, i, second.as_deref())?;
            let rpy = to_rpy(&pose.R);
            let jet = |k: usize| [rpy[k], v[k], a.as_ref().map_or(0.0, |a| a[k])];
            let (w, alpha) = from_rpy_rates([jet(0), jet(1), jet(2)]);
            t_r.extend(w.iter());
            match (&mut acceleration, a) {
                (Some(td_r), Some(_)) => td_r.extend(alpha.iter()),
                (None, None) => {}
                _ => return Err("accelerations: give those of x, y, z and of roll, pitch, yaw, or none".to_owned()),
            }
        }
        Ok(Sample { t: times[i], pose, twist, acceleration })
    };
    (0..times.len()).map(one).collect()
}

fn joint_samples(model: &Model<f64>, sheet: &Sheet, times: &[f64]) -> Result<Vec<JointSample>, String> {
    let names =
        |more: &str| -> Vec<String> { model.topology().active_names().iter().map(|n| format!("q{n}{more}")).collect() };
    let Some(q) = sheet.all_or_none(&names(""))? else {
        let platform = crate::ask::coordinate_words(&model.topology().platform);
        let joints = names("").join(", ");
        return Err(format!("there are no positions; give the platform ({platform}) or the active joints ({joints})"));
    };
    let (rates, accelerations) = (sheet.all_or_none(&names("d"))?, sheet.all_or_none(&names("dd"))?);
    if rates.is_none() && accelerations.is_some() {
        return Err(format!("accelerations without rates: give {} too", names("d").join(", ")));
    }
    let one = |i: usize| {
        Ok(JointSample {
            t: times[i],
            q: sheet.numbers(model, i, Some(&q))?.unwrap_or_default(),
            rates: sheet.numbers(model, i, rates.as_deref())?,
            accelerations: sheet.numbers(model, i, accelerations.as_deref())?,
        })
    };
    (0..times.len()).map(one).collect()
}

/// Efforts of the drives over time: columns `t` and `tau_11`, ..; for a motion without friction those of
/// `tau_11_without_friction`, .. where the file has them.
pub fn efforts(robot: &Robot, path: &Path, friction: bool) -> Result<EffortTable, Failure> {
    let bad = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let sheet = Sheet::read(path)?;
    let times = sheet.times(robot.model()).map_err(bad)?;
    sheet.check_names(robot.model()).map_err(bad)?;
    let named = |after: &str| -> Vec<String> {
        robot.model().topology().active_names().iter().map(|n| format!("tau_{n}{after}")).collect()
    };
    let names = named("");
    let plain = if friction { None } else { sheet.all_or_none(&named("_without_friction")).map_err(bad)? };
    let columns = plain.map_or_else(|| sheet.all_or_none(&names).map_err(bad), |columns| Ok(Some(columns)))?;
    let columns = columns.ok_or_else(|| bad(format!("there are no efforts; give {}", names.join(", "))))?;
    let row = |i: usize| sheet.numbers(robot.model(), i, Some(&columns)).map(Option::unwrap_or_default);
    let rows = (0..times.len()).map(row).collect::<Result<Vec<_>, _>>().map_err(bad)?;
    EffortTable::new(times, &rows).ok_or_else(|| bad("times must rise".to_owned()))
}
