//! Arrays of numbers as NumPy keeps them: `.npy`, one array, and `.npz`, a zip archive of such.

use crate::zip;
use std::io::{Error, ErrorKind, Read, Write};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Longest header that is read.
const LONGEST_HEADER: usize = 1 << 20;

/// What stands before the numbers of an array.
#[derive(Debug, PartialEq)]
pub struct Header {
    /// Number of rows.
    pub rows: usize,
    /// Numbers in a row.
    pub width: usize,
    /// Names of the fields of a structured array.
    pub names: Option<Vec<String>>,
    kind: NumberType,
}

/// How a number is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NumberType {
    letter: u8,
    bytes: usize,
    big_endian: bool,
}

impl NumberType {
    fn of(descr: &str) -> Result<Self, String> {
        let known = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"];
        let kind = descr.trim_start_matches(['<', '>', '=', '|']);
        if !known.contains(&kind) {
            return Err(format!("numbers of kind `{descr}` are not read; save it with .astype(float)"));
        }
        let bytes = usize::from(kind.as_bytes()[1] - b'0');
        Ok(Self { letter: kind.as_bytes()[0], bytes, big_endian: descr.starts_with('>') })
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let mut little = [0_u8; 8];
        little[..self.bytes].copy_from_slice(bytes);
        if self.big_endian {
            little[..self.bytes].reverse();
        }
        let whole = u64::from_le_bytes(little);
        let unused = 64 - 8 * self.bytes;
        match self.letter {
            b'f' if self.bytes == 8 => f64::from_bits(whole),
            b'f' => f64::from(f32::from_le_bytes([little[0], little[1], little[2], little[3]])),
            b'i' => (whole.cast_signed() << unused >> unused) as f64,
            _ => whole as f64,
        }
    }
}

/// The value of a key in the dictionary of a header: what stands between it and the next key.
fn value<'a>(text: &'a str, key: &str) -> Result<&'a str, String> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let found = quoted.iter().find_map(|k| text.find(k).map(|at| &text[at + k.len()..]));
    let rest = found.and_then(|t| t.trim_start().strip_prefix(':'));
    rest.map(str::trim_start).ok_or_else(|| format!("the header of the array has no `{key}`"))
}

/// Texts in quotes, up to the first of `end` outside of them.
fn quoted(text: &str, end: char) -> Vec<String> {
    let (mut list, mut open): (Vec<String>, Option<char>) = (Vec::new(), None);
    for c in text.chars() {
        match open {
            Some(q) if c == q => open = None,
            Some(_) => list.iter_mut().last().into_iter().for_each(|t| t.push(c)),
            None if c == '\'' || c == '"' => {
                open = Some(c);
                list.push(String::new());
            }
            None if c == end => break,
            None => {}
        }
    }
    list
}

impl Header {
    /// Read the header of an array.
    pub fn read(from: &mut impl Read) -> Result<Self, String> {
        let mut begin = [0_u8; 8];
        from.read_exact(&mut begin).map_err(|_| "not an array of NumPy: too short".to_owned())?;
        if &begin[..6] != MAGIC {
            return Err("not an array of NumPy".to_owned());
        }
        let mut length = [0_u8; 4];
        let digits = if begin[6] == 1 { 2 } else { 4 };
        from.read_exact(&mut length[..digits]).map_err(|e| e.to_string())?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            return Err("the header of the array is too long".to_owned());
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text).map_err(|_| "the header of the array is cut".to_owned())?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> Result<Self, String> {
        if value(text, "fortran_order")?.starts_with("True") {
            return Err("the array is kept column by column; save it with np.ascontiguousarray".to_owned());
        }
        let shape = value(text, "shape")?.trim_start_matches('(');
        let shape = shape.split(')').next().unwrap_or_default();
        let sizes: Option<Vec<usize>> =
            shape.split(',').map(str::trim).filter(|s| !s.is_empty()).map(|s| s.parse().ok()).collect();
        let sizes = sizes.ok_or("the shape of the array is not a list of numbers")?;
        let descr = value(text, "descr")?;
        let structured = descr.starts_with('[');
        let descr = if structured { descr.split_once(']').map_or(descr, |(fields, _)| fields) } else { descr };
        let words = quoted(descr, if structured { ']' } else { ',' });
        let (names, kinds): (Option<Vec<String>>, Vec<&String>) = if structured {
            (Some(words.iter().step_by(2).cloned().collect()), words.iter().skip(1).step_by(2).collect())
        } else {
            (None, words.iter().take(1).collect())
        };
        let kind = NumberType::of(kinds.first().map_or("", |k| k.as_str()))?;
        if kinds.iter().any(|k| NumberType::of(k) != Ok(kind)) {
            return Err("the fields of the array differ in kind; save all of them as float".to_owned());
        }
        let (rows, width) = match (sizes.as_slice(), &names) {
            ([rows], Some(names)) if descr.matches('(').count() == names.len() => (*rows, names.len()),
            ([rows], None) => (*rows, 1),
            ([rows, width], None) => (*rows, *width),
            _ => return Err(format!("an array of shape ({shape}) is no table; give one row per state")),
        };
        if width.checked_mul(kind.bytes).is_none_or(|bytes| bytes > LONGEST_HEADER) {
            return Err(format!("{width} numbers in a row are too many for a state"));
        }
        Ok(Self { rows, width, names, kind })
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.width * self.kind.bytes
    }

    /// Numbers of a row.
    pub fn row<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = f64> + use<'a> {
        let kind = self.kind;
        bytes.chunks_exact(kind.bytes).map(move |b| kind.number(b))
    }
}

/// The header of an array of `rows` rows; `descr` says what its numbers are, `width` how many are in a row, none for a list.
pub fn header(descr: &str, rows: usize, width: Option<usize>) -> Vec<u8> {
    let shape = width.map_or(format!("({rows},)"), |w| format!("({rows}, {w})"));
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Numbers begin at a multiple of 64 bytes.
    let bare = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(bare.next_multiple_of(64) - bare));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

/// The arrays of a `.npz` archive by name, each with its header and its numbers, at most `most` bytes together.
pub fn archive(file: std::fs::File, most: u64) -> Result<Vec<(String, Header, Vec<u8>)>, String> {
    let members = zip::read(file, most)?;
    let array = |(name, bytes): (String, Vec<u8>)| {
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
        let mut rest = bytes.as_slice();
        let header = Header::read(&mut rest).map_err(|why| format!("`{name}`: {why}"))?;
        if rest.len() != header.rows.saturating_mul(header.row_bytes()) {
            return Err(format!("`{name}`: the array has another length than its header says"));
        }
        let numbers = rest.to_vec();
        Ok((name, header, numbers))
    };
    members.into_iter().map(array).collect()
}

/// Copy what is left of a file behind its header.
pub fn copy(header: &[u8], numbers: &mut impl Read, to: &mut dyn Write) -> std::io::Result<()> {
    to.write_all(header)?;
    std::io::copy(numbers, to).map(|_| ())
}

/// Next `rows` rows of an array, or what is left of it.
pub fn rows(from: &mut impl Read, header: &Header, rows: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; rows * header.row_bytes()];
    match from.read_exact(&mut bytes) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
            Err(Error::new(ErrorKind::UnexpectedEof, "the array is shorter than its header says"))
        }
        done => done.map(|()| bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_is_written() {
        for (rows, width) in [(0, Some(6)), (1_000_000, Some(18)), (7, None)] {
            let bytes = header("<f8", rows, width);
            assert!(bytes.len().is_multiple_of(64));
            let read = Header::read(&mut bytes.as_slice()).unwrap();
            assert_eq!((read.rows, read.width, read.names.is_none()), (rows, width.unwrap_or(1), true));
        }
    }

    #[test]
    fn kinds_of_numbers_and_named_fields() {
        let of = |descr: &str, shape: &str| {
            Header::parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"))
        };
        let first = |descr: &str, bytes: &[u8]| of(descr, "(1, 1)").unwrap().row(bytes).next().unwrap();
        assert_eq!(first("'<f8'", &1.5_f64.to_le_bytes()), 1.5);
        assert_eq!(first("'>f8'", &1.5_f64.to_be_bytes()), 1.5);
        assert_eq!(first("'<f4'", &1.5_f32.to_le_bytes()), 1.5);
        assert_eq!(first("'<i4'", &(-3_i32).to_le_bytes()), -3.0);
        assert_eq!(first("'|u1'", &[200]), 200.0);
        let named = of("[('x', '<f8'), ('y', '<f8')]", "(5,)").unwrap();
        assert_eq!((named.width, named.names), (2, Some(vec!["x".to_owned(), "y".to_owned()])));
        for (descr, shape, says) in [
            ("'<c16'", "(5, 2)", "c16"),
            ("'|O'", "(5, 2)", "kind"),
            ("'<f8'", "(5, 2, 2)", "no table"),
            ("[('x', '<f8'), ('y', '<f4')]", "(5,)", "differ"),
            ("[('x', '<f8', (3,))]", "(5,)", "no table"),
            ("'<f8'", "(a, 2)", "shape"),
            ("'<f8'", "(5, 99999999999999)", "too many"),
        ] {
            let why = of(descr, shape).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let turned = Header::parse("{'descr': '<f8', 'fortran_order': True, 'shape': (5, 2)}").unwrap_err();
        assert!(turned.contains("ascontiguousarray"));
        assert!(Header::read(&mut b"PK\x03\x04 something else".as_slice()).is_err());
        assert!(Header::read(&mut b"\x93NUMPY\x01\x00\xff\xff".as_slice()).is_err());
    }
}
