//! Columns of a record that changed places or signs: how the record would be if they were changed back.

use super::record::{Measured, Record, RecordError};
use super::rows::Rows;
use crate::Robot;
use crate::description::Coordinate;

/// What may have happened to the columns of a record: for positions and efforts, from which column each is taken, with which
/// sign; and what that is in words.
struct Mistake {
    words: String,
    positions: Vec<(usize, f64)>,
    efforts: Vec<(usize, f64)>,
}

/// How far the efforts of rows are, as shares of themselves, from those of the parameters that fit them best, and from those of
/// parameters that are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Far {
    pub best: f64,
    pub known: f64,
}

/// Seconds of a record that are looked at with columns in other places.
const GLANCE: f64 = 8.0;
/// Efforts that come this many times nearer to a model tell a mistake.
const NEARER: f64 = 3.0;

/// All single mistakes: a sign, all signs, two drives in each other's place, of positions, efforts, or both.
fn mistakes(robot: &Robot, record: &Record) -> Vec<Mistake> {
    let names = robot.model().topology().active_names();
    let n = names.len();
    let same = |count: usize| (0..count).map(|k| (k, 1.0)).collect::<Vec<_>>();
    let places = same(record.measured.channels().len());
    let channels: Vec<(usize, String)> = match &record.measured {
        Measured::Joints(_) => names.iter().map(|n| format!("q{n}")).enumerate().collect(),
        Measured::Platform(_) => {
            let own = robot.model().topology().platform.independent.iter();
            own.map(|c: &Coordinate| (c.index(), crate::analysis::coordinate_name(*c).to_owned())).collect()
        }
    };
    let turned = |list: &[(usize, f64)], which: &[usize]| -> Vec<(usize, f64)> {
        list.iter().enumerate().map(|(k, (from, s))| (*from, if which.contains(&k) { -s } else { *s })).collect()
    };
    let swapped = |count: usize, i: usize, j: usize| {
        let mut list = same(count);
        list.swap(i, j);
        list
    };
    let mut all = Vec::new();
    let mut add = |positions: &[(usize, f64)], efforts: Vec<(usize, f64)>, words: String| {
        all.push(Mistake { words, positions: positions.to_vec(), efforts });
    };
    add(&places, turned(&same(n), &(0..n).collect::<Vec<_>>()), "the signs of all efforts are changed".to_owned());
    let every: Vec<usize> = channels.iter().map(|c| c.0).collect();
    add(&turned(&places, &every), same(n), "the signs of all positions are changed".to_owned());
    for (k, name) in &channels {
        add(&turned(&places, &[*k]), same(n), format!("the sign of {name} is changed"));
    }
    let joints = matches!(record.measured, Measured::Joints(_));
    for i in 0..n {
        add(&places, turned(&same(n), &[i]), format!("the sign of tau_{} is changed", names[i]));
        if joints {
            let both = format!("the signs of q{0} and tau_{0} are changed", names[i]);
            add(&turned(&places, &[i]), turned(&same(n), &[i]), both);
        }
        for j in i + 1..n {
            let (a, b, order) = (names[i], names[j], swapped(n, i, j));
            add(&places, order.clone(), format!("tau_{a} and tau_{b} change places"));
            if joints {
                add(&order, same(n), format!("q{a} and q{b} change places"));
                add(
                    &order,
                    order.clone(),
                    format!("the columns of q{a} and q{b} change places, positions and efforts"),
                );
            }
        }
    }
    all
}

impl Mistake {
    /// The record without the mistake.
    fn mended(&self, record: &Record) -> Record {
        let taken = |lists: &[Vec<f64>], from: &[(usize, f64)]| -> Vec<Vec<f64>> {
            from.iter().map(|(k, sign)| lists[*k].iter().map(|x| sign * x).collect()).collect()
        };
        let measured = match &record.measured {
            Measured::Joints(lists) => Measured::Joints(taken(lists, &self.positions)),
            Measured::Platform(lists) => Measured::Platform(taken(lists, &self.positions)),
        };
        Record { measured, efforts: taken(&record.efforts, &self.efforts), ..record.clone() }
    }
}

/// The mistake whose mending brings the efforts of a record much nearer to those of the best or of known parameters, when there
/// is one.
pub(super) fn suspected(
    robot: &Robot,
    record: &Record,
    glance: &dyn Fn(&Record) -> Result<Rows, RecordError>,
    far: &dyn Fn(&Rows) -> Far,
) -> Result<(), RecordError> {
    let seconds = record.times.last().zip(record.times.first()).map_or(0.0, |(b, a)| b - a);
    let short = record.split((GLANCE / seconds.max(f64::MIN_POSITIVE)).min(1.0)).0;
    let as_told = far(&glance(&short)?);
    let tried = mistakes(robot, record).into_iter().filter_map(|mistake| {
        // Where there is no posture, that was not it.
        let found = far(&glance(&mistake.mended(&short)).ok()?);
        Some((found, mistake.words))
    });
    let of = |f: &Far| f.best + f.known;
    let Some((found, hypothesis)) = tried.min_by(|a, b| of(&a.0).total_cmp(&of(&b.0))) else { return Ok(()) };
    let gain = |told: f64, found: f64| told / found.max(f64::MIN_POSITIVE);
    let (best, known) = (gain(as_told.best, found.best), gain(as_told.known, found.known));
    let record = record.name.clone();
    if best > NEARER {
        Err(RecordError::Swapped { record, hypothesis, gain: best })
    } else if known > NEARER {
        Err(RecordError::UnlikeFile { record, hypothesis, gain: known })
    } else {
        Ok(())
    }
}
