//! Answers of many states as a table: CSV, `.npy` or `.npz`, with the columns that were asked for.

use crate::ask::hint;
use crate::columns::told_apart;
use crate::failure::Failure;
use crate::npy;
use crate::output::{Output, Pieces, Spool};
use crate::states::{coordinate_names, rate_names};
use crate::zip;
use clap::Args;
use gough::kinematics::SolveError;
use gough::kinematics::platform::independent;
use gough::model::{CoordId, Model};
use gough::spatial::{Mat3, Pose, Rotation, vec3};
use rayon::prelude::*;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Read as _;

/// Which numbers of each answer are wanted.
#[derive(Args)]
pub struct Choice {
    /// Numbers of each answer with --states, as a table: efforts,active.q,pose,..; CSV, or as -o FILE ends: .csv .npy .npz .jsonl
    #[arg(long, value_name = "NAMES", requires = "states", conflicts_with = "json")]
    pub columns: Option<String>,
}

/// How answers of many states are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableForm {
    /// For people, or as one JSON document.
    Document,
    /// One JSON document per line.
    Lines,
    Csv,
    Npy,
    Npz,
}

impl TableForm {
    /// By the ending of the file, unless a JSON document is asked for; columns alone are CSV.
    pub fn of(output: &Output, choice: &Choice) -> Self {
        let ending = output.output.as_ref().and_then(|p| p.extension()).map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            _ if output.json => TableForm::Document,
            Some("jsonl" | "ndjson") => TableForm::Lines,
            Some("csv") => TableForm::Csv,
            Some("npy") => TableForm::Npy,
            Some("npz") => TableForm::Npz,
            _ if choice.columns.is_some() => TableForm::Csv,
            _ => TableForm::Document,
        }
    }
}

/// Some numbers of an answer: where they are in its document, and what they are called one by one.
pub struct Column {
    pub path: String,
    names: Vec<String>,
}

impl Column {
    fn new(model: &Model<f64>, path: &str) -> Self {
        let t = model.topology();
        let joints =
            |coords: &[CoordId], d: &str| coords.iter().map(|c| format!("q{}{d}", t.coords[*c].name)).collect();
        let drives = |more: &str| t.active_names().iter().map(|n| format!("tau_{n}{more}")).collect();
        let names: Vec<String> = match path {
            "pose" => coordinate_names(model).iter().map(|n| (*n).to_owned()).collect(),
            "twist" => rate_names(model, ""),
            "acceleration" => rate_names(model, "d"),
            "efforts" => drives(""),
            "efforts_with_friction" => drives("_with_friction"),
            "active.q" => joints(&t.active, ""),
            "active.qd" => joints(&t.active, "d"),
            "active.qdd" | "active_qdd" => joints(&t.active, "dd"),
            "passive.q" => joints(&t.passive, ""),
            "passive.qd" => joints(&t.passive, "d"),
            "passive.qdd" | "passive_qdd" => joints(&t.passive, "dd"),
            "ground_wrench_on_robot" => ["fx", "fy", "fz", "mx", "my", "mz"].map(|n| format!("ground_{n}")).to_vec(),
            other => vec![other.to_owned()],
        };
        Self { path: path.to_owned(), names }
    }

    /// The numbers of this column in an answer; zeros where the answer has none, as the rates of a robot at rest.
    fn pick(&self, model: &Model<f64>, document: &Value, row: &mut Vec<f64>) {
        let begin = row.len();
        let found = self.path.split('.').try_fold(document, |value, key| value.get(key));
        match found {
            Some(pose) if self.path == "pose" => row.extend(independent(model, &pose_of(pose))),
            Some(value) => flatten(value, row),
            None => {}
        }
        row.resize(begin + self.names.len(), 0.0);
    }
}

fn flatten(value: &Value, row: &mut Vec<f64>) {
    match value {
        Value::Array(list) => list.iter().for_each(|v| flatten(v, row)),
        other => row.extend(other.as_f64()),
    }
}

/// The pose of a document that this program made.
fn pose_of(value: &Value) -> Pose<f64> {
    let at = |v: &Value| v.as_f64().unwrap_or(0.0);
    let turned = Mat3::from_fn(|i, j| at(&value["R"][i][j]));
    Pose { R: Rotation(turned), p: vec3(at(&value["p"][0]), at(&value["p"][1]), at(&value["p"][2])) }
}

/// The columns that are asked for; `known` are all there are, the first of them the one that is meant when none is named.
pub fn columns(model: &Model<f64>, choice: &Choice, known: &[&str]) -> Result<Vec<Column>, Failure> {
    let Some(text) = &choice.columns else { return Ok(vec![Column::new(model, known[0])]) };
    let mut list: Vec<Column> = Vec::new();
    for name in text.split(',').map(str::trim) {
        if !known.contains(&name) {
            return Err(Failure::Usage(format!("--columns: there is no `{name}`; {}", hint(name, known))));
        }
        if list.iter().any(|c| c.path == name) {
            return Err(Failure::Usage(format!("--columns: `{name}` is there twice")));
        }
        list.push(Column::new(model, name));
    }
    for name in list.iter().flat_map(|c| &c.names) {
        told_apart(model, name).map_err(|why| Failure::Usage(format!("--columns: {why}")))?;
    }
    Ok(list)
}

/// The numbers of an answer.
pub fn row(model: &Model<f64>, columns: &[Column], document: &Value) -> Vec<f64> {
    let mut row = Vec::new();
    columns.iter().for_each(|c| c.pick(model, document, &mut row));
    row
}

/// The chosen parts of an answer, for a line of its own.
pub fn chosen(choice: &Choice, columns: &[Column], mut document: Value) -> Value {
    if choice.columns.is_none() {
        return document;
    }
    let mut kept = serde_json::Map::new();
    for column in columns {
        let value = column.path.split('.').try_fold(&mut document, |value, key| value.get_mut(key));
        kept.insert(column.path.clone(), value.map_or(Value::Null, Value::take));
    }
    Value::Object(kept)
}

/// What is told of a state: its numbers, or why there are none.
pub type Told = Result<Vec<f64>, SolveError>;

/// A table that is being written.
pub struct AnswerTable<'a> {
    form: TableForm,
    columns: &'a [Column],
    out: Pieces,
    /// Numbers of arrays, until it is known how many there are: one for all columns, or one for each.
    spools: Vec<Spool>,
    /// Which states have an answer.
    answered: Vec<u8>,
}

impl<'a> AnswerTable<'a> {
    pub fn begin(form: TableForm, columns: &'a [Column], output: &Output) -> Result<Self, Failure> {
        let spools = match form {
            TableForm::Npy => 1,
            TableForm::Npz => columns.len(),
            _ => 0,
        };
        let spools = (0..spools).map(|k| output.spool(k)).collect::<Result<Vec<_>, _>>()?;
        let mut out = output.pieces()?;
        if form == TableForm::Csv {
            let names: Vec<&str> = columns.iter().flat_map(|c| c.names.iter().map(String::as_str)).collect();
            out.write(&(names.join(",") + "\n"))?;
        }
        Ok(Self { form, columns, out, spools, answered: Vec::new() })
    }

    /// Whether nobody reads on.
    pub fn is_gone(&self) -> bool {
        self.out.is_gone()
    }

    fn width(&self) -> usize {
        self.columns.iter().map(|c| c.names.len()).sum()
    }

    /// Write what is told of the next states. Without an answer a row has empty cells, or numbers that are none.
    pub fn write(&mut self, rows: &[Told]) -> Result<(), Failure> {
        let width = self.width();
        if self.form == TableForm::Csv {
            let pieces: Vec<String> = rows.par_chunks(1024).map(|rows| lines(rows, width)).collect();
            return pieces.iter().try_for_each(|text| self.out.write(text));
        }
        self.answered.extend(rows.iter().map(|r| u8::from(r.is_ok())));
        let none = vec![f64::NAN; width];
        let mut begin = 0;
        for (k, spool) in self.spools.iter_mut().enumerate() {
            let end = if self.form == TableForm::Npy { width } else { begin + self.columns[k].names.len() };
            let mut bytes = Vec::with_capacity(8 * rows.len() * (end - begin));
            for row in rows {
                let numbers = &row.as_ref().unwrap_or(&none)[begin..end];
                numbers.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            }
            spool.write(&bytes)?;
            begin = end;
        }
        Ok(())
    }

    /// The table is whole.
    pub fn finish(mut self) -> Result<(), Failure> {
        let rows = self.answered.len();
        let width = self.width();
        if self.form == TableForm::Npy {
            let spool = self.spools.remove(0);
            let header = npy::header("<f8", rows, Some(width));
            self.out.put(|to| npy::copy(&header, &mut spool.reader()?, to))?;
        }
        if self.form == TableForm::Npz {
            let (spools, columns, answered) = (&self.spools, self.columns, &self.answered);
            self.out.put(|to| {
                let mut archive = zip::Writer::new(to);
                for (column, spool) in columns.iter().zip(spools) {
                    // A single number per state is a list, not a matrix of one column.
                    let width = Some(column.names.len()).filter(|w| *w != 1);
                    let header = npy::header("<f8", rows, width);
                    let name = format!("{}.npy", column.path);
                    archive.add(&name, header.chain(spool.reader()?), header.chain(spool.reader()?))?;
                }
                let header = npy::header("|b1", rows, None);
                archive.add("answered.npy", header.chain(answered.as_slice()), header.chain(answered.as_slice()))?;
                archive.finish()
            })?;
        }
        self.out.finish()
    }
}

/// Lines of a CSV file.
fn lines(rows: &[Told], width: usize) -> String {
    let mut text = String::with_capacity(20 * rows.len() * width);
    for row in rows {
        match row {
            Ok(numbers) => {
                for (i, x) in numbers.iter().enumerate() {
                    let _ = write!(text, "{}{x:?}", if i > 0 { "," } else { "" });
                }
            }
            Err(_) => text.extend(std::iter::repeat_n(',', width.saturating_sub(1))),
        }
        text.push('\n');
    }
    text
}
