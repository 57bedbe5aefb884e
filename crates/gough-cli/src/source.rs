//! States files, read block by block so that they may be of any length: what is read is still raw, and is understood on all
//! cores.

use crate::failure::Failure;
use crate::inputs;
use crate::npy;
use crate::states::{
    AskedState, CsvColumns, Lines, array_names, beside, csv_columns, list_names, not_json, read_json, state_of,
};
use gough::model::Model;
use serde_json::Value;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// Largest JSON document with a list of states, and largest archive of arrays; longer lists go line by line, or as `.npy`.
const LARGEST: u64 = 512 << 20;

/// A state as it stands in the file.
pub enum Raw {
    /// A line and its number.
    Line(usize, String),
    /// An element of a JSON list.
    Value(Value),
    /// A row of an array.
    Row(Vec<f64>),
    /// A row of an array as it stands in the file: rows that were read together, and which of them.
    Packed(Arc<ArrayRows>, usize),
    /// What cannot be read.
    Bad(String),
}

/// Rows of an array that were read together.
pub struct ArrayRows {
    header: Arc<npy::Header>,
    bytes: Vec<u8>,
}

impl ArrayRows {
    /// The numbers of a row.
    fn row(&self, i: usize) -> Vec<f64> {
        let length = self.header.row_bytes();
        self.header.row(&self.bytes[i * length..][..length]).collect()
    }
}

/// The states of a file as they come.
pub type RawStates = Box<dyn Iterator<Item = Raw> + Send>;

/// What the states of a file mean.
pub struct States<'a> {
    model: &'a Model<f64>,
    how: How,
}

/// How a state is understood.
enum How {
    Json,
    Columns(CsvColumns),
}

impl<'a> States<'a> {
    /// Open a file: a JSON list, `{"states": [..]}`, JSON Lines, CSV, `.npy` or `.npz`. All but the first two and the last are
    /// read as they come; faults are told state by state.
    pub fn open(model: &'a Model<f64>, path: &Path) -> Result<(RawStates, Self), Failure> {
        let bad = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let unread = |e: std::io::Error| Failure::Usage(format!("cannot read {}: {e}", path.display()));
        let file = inputs::open(path).map_err(unread)?;
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let (raw, how): Opened = match ending.as_deref() {
            Some("csv") => csv(model, Lines::new(file)).map_err(bad)?,
            Some("jsonl" | "ndjson") => (Box::new(Lines::new(file).map(line)), How::Json),
            Some("npy") => array(model, file).map_err(bad)?,
            Some("npz") => arrays(model, file).map_err(bad)?,
            _ => {
                let text = inputs::read_limited(path, LARGEST + 1).map_err(unread)?;
                if text.len() as u64 > LARGEST {
                    let why = "larger than 512 MiB; write one state per line, to a file that ends in .jsonl";
                    return Err(bad(why.to_owned()));
                }
                let list = read_json(text.trim_start_matches('\u{feff}')).map_err(bad)?;
                (Box::new(list.into_iter().map(Raw::Value)), How::Json)
            }
        };
        let mut raw = raw.peekable();
        if raw.peek().is_none() {
            return Err(bad("no states".to_owned()));
        }
        Ok((Box::new(raw), Self { model, how }))
    }

    /// What a state asks, or what is wrong with it.
    pub fn state(&self, raw: &Raw) -> Result<AskedState, String> {
        match (raw, &self.how) {
            (Raw::Bad(why), _) => Err(why.clone()),
            (Raw::Value(value), _) => state_of(self.model, value),
            (Raw::Row(numbers), How::Columns(columns)) => columns.state(self.model, numbers),
            (Raw::Packed(rows, i), How::Columns(columns)) => columns.state(self.model, &rows.row(*i)),
            (Raw::Line(number, text), How::Columns(columns)) => {
                columns.line(self.model, text).map_err(|why| format!("line {number}: {why}"))
            }
            (Raw::Line(number, text), How::Json) => {
                let value = serde_json::from_str(text).map_err(|e| not_json(&e, number - 1))?;
                state_of(self.model, &value).map_err(|why| format!("line {number}: {why}"))
            }
            (Raw::Row(_) | Raw::Packed(..), How::Json) => Err("a row of numbers without names".to_owned()),
        }
    }
}

fn line(line: Result<(usize, String), String>) -> Raw {
    line.map_or_else(Raw::Bad, |(number, text)| Raw::Line(number, text))
}

/// The states of a file, understood one after the other.
pub fn stream<'a>(
    model: &'a Model<f64>,
    path: &Path,
) -> Result<impl Iterator<Item = Result<AskedState, String>> + use<'a>, Failure> {
    let (source, states) = States::open(model, path)?;
    Ok(source.map(move |raw| states.state(&raw)))
}

type Opened = (RawStates, How);

fn csv(model: &Model<f64>, lines: Lines) -> Result<Opened, String> {
    let mut lines = lines.filter(|l| !matches!(l, Ok((_, text)) if text.starts_with('#')));
    let nothing = || -> RawStates { Box::new(std::iter::empty()) };
    let Some(first) = lines.next() else { return Ok((nothing(), How::Json)) };
    match csv_columns(model, &first?.1)? {
        Some(columns) => Ok((Box::new(lines.map(line)), How::Columns(columns))),
        None => Ok((nothing(), How::Json)),
    }
}

/// Rows of one array: named fields, or coordinates of the platform, then its twist, then its acceleration.
fn array(model: &Model<f64>, file: std::fs::File) -> Result<Opened, String> {
    let mut file = BufReader::with_capacity(1 << 20, file);
    let header = npy::Header::read(&mut file)?;
    let names = header.names.clone().map_or_else(|| list_names(model, header.width), Ok)?;
    let columns = CsvColumns::new(model, names)?;
    let header = Arc::new(header);
    let mut left = header.rows;
    let mut block = (Arc::new(ArrayRows { header: Arc::clone(&header), bytes: Vec::new() }), 0..0);
    let next = move || {
        if block.1.is_empty() {
            // Many rows at a time; what they say is understood on all cores.
            let rows = left.min(1024);
            left -= rows;
            match npy::rows(&mut file, &header, rows) {
                Ok(bytes) => block = (Arc::new(ArrayRows { header: Arc::clone(&header), bytes }), 0..rows),
                Err(e) => {
                    left = 0;
                    return Some(Raw::Bad(e.to_string()));
                }
            }
        }
        block.1.next().map(|i| Raw::Packed(Arc::clone(&block.0), i))
    };
    Ok((Box::new(std::iter::from_fn(next)), How::Columns(columns)))
}

/// Rows of several arrays of equal length: `pose`, `twist`, `acceleration`, `efforts`, or single columns by their names.
fn arrays(model: &Model<f64>, file: std::fs::File) -> Result<Opened, String> {
    let all = npy::archive(file, LARGEST)?;
    let used: Vec<_> = all.into_iter().filter(|(name, ..)| !beside(name)).collect();
    let mut names = Vec::new();
    for (name, header, _) in &used {
        names.extend(array_names(model, name, header.width)?);
        if header.rows != used[0].1.rows {
            let (other, rows) = (&used[0].0, used[0].1.rows);
            return Err(format!("`{name}` has {} rows, `{other}` has {rows}: one per state is needed", header.rows));
        }
    }
    let rows = used.first().map_or(0, |(_, header, _)| header.rows);
    let columns = CsvColumns::new(model, names)?;
    let row = move |i: usize| {
        let part = |(_, header, bytes): &(String, npy::Header, Vec<u8>)| {
            let length = header.row_bytes();
            header.row(&bytes[i * length..][..length]).collect::<Vec<f64>>()
        };
        Raw::Row(used.iter().flat_map(part).collect())
    };
    Ok((Box::new((0..rows).map(row)), How::Columns(columns)))
}
