//! Zip archives, as far as `.npz` needs them: members that are stored or deflated are read, stored ones are written.

use std::io::{Read, Seek, SeekFrom, Write};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Bytes of the fixed parts of these records.
const SIZES: [usize; 3] = [30, 46, 22];

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Members of an archive by name, at most `most` bytes together.
pub fn read(mut file: impl Read + Seek, most: u64) -> Result<Vec<(String, Vec<u8>)>, String> {
    const BAD: &str = "not a zip archive, or a damaged one";
    let told = |e: std::io::Error| e.to_string();
    let size = file.seek(SeekFrom::End(0)).map_err(told)?;
    let tail = size.min(SIZES[2] as u64 + 0xffff);
    let mut part = |from: u64, length: u64| -> Result<Vec<u8>, String> {
        if from.checked_add(length).is_none_or(|end| end > size) {
            return Err(BAD.to_owned());
        }
        file.seek(SeekFrom::Start(from)).map_err(told)?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| BAD)?];
        file.read_exact(&mut bytes).map_err(told)?;
        Ok(bytes)
    };
    let end = part(size - tail, tail)?;
    let begins = |at: &usize| u32_at(&end, *at) == END;
    let at = (0..(end.len() + 1).saturating_sub(SIZES[2])).rev().find(begins).ok_or(BAD)?;
    let (count, length, from) = (u16_at(&end, at + 10), u32_at(&end, at + 12), u32_at(&end, at + 16));
    if from == u32::MAX || count == 0xffff {
        return Err("an archive of more than 4 GiB; save the arrays as .npy".to_owned());
    }
    let list = part(from.into(), length.into())?;
    let (mut members, mut left, mut at) = (Vec::new(), most, 0);
    for _ in 0..count {
        let entry = list.get(at..).filter(|e| e.len() >= SIZES[1] && u32_at(e, 0) == CENTRAL).ok_or(BAD)?;
        let (method, crc, packed, whole) = (u16_at(entry, 10), u32_at(entry, 16), u32_at(entry, 20), u32_at(entry, 24));
        let name_ends = SIZES[1] + u16_at(entry, 28);
        let name = entry.get(SIZES[1]..name_ends).ok_or(BAD)?;
        let name = String::from_utf8_lossy(name).into_owned();
        at += name_ends + u16_at(entry, 30) + u16_at(entry, 32);
        if u64::from(whole) > left {
            return Err(format!(
                "`{name}`: the arrays have more than {most} bytes; save them as .npy, which is streamed"
            ));
        }
        left -= u64::from(whole);
        let local = u64::from(u32_at(entry, 42));
        let head = part(local, SIZES[0] as u64)?;
        let begin = local + (SIZES[0] + u16_at(&head, 26) + u16_at(&head, 28)) as u64;
        let bytes = unpacked(method, &part(begin, packed.into())?, whole).map_err(|why| format!("`{name}`: {why}"))?;
        let mut sum = flate2::Crc::new();
        sum.update(&bytes);
        if bytes.len() as u64 != u64::from(whole) || sum.sum() != crc {
            return Err(format!("`{name}`: the archive is damaged"));
        }
        members.push((name, bytes));
    }
    Ok(members)
}

fn unpacked(method: usize, packed: &[u8], whole: u32) -> Result<Vec<u8>, String> {
    match method {
        0 => Ok(packed.to_vec()),
        8 => {
            let mut bytes = Vec::new();
            let most = u64::from(whole) + 1;
            let read = flate2::read::DeflateDecoder::new(packed).take(most).read_to_end(&mut bytes);
            read.map_err(|e| e.to_string()).map(|_| bytes)
        }
        other => Err(format!("packed by method {other}, which is not read; save it with np.savez")),
    }
}

/// An archive that is being written.
pub struct Writer<W: Write> {
    to: W,
    at: u64,
    central: Vec<u8>,
    count: u16,
}

impl<W: Write> Writer<W> {
    pub fn new(to: W) -> Self {
        Self { to, at: 0, central: Vec::new(), count: 0 }
    }

    /// Add a member that two readers give the same bytes of: one to sum up, one to copy.
    pub fn add(&mut self, name: &str, mut sums: impl Read, mut bytes: impl Read) -> std::io::Result<()> {
        let mut crc = flate2::CrcReader::new(&mut sums);
        let length = std::io::copy(&mut crc, &mut std::io::sink())?;
        let too_long = || std::io::Error::other("an archive of more than 4 GiB; name a file that ends in .npy");
        let size = u32::try_from(length).map_err(|_| too_long())?;
        let from = u32::try_from(self.at).map_err(|_| too_long())?;
        // Version 2.0, nothing special, stored; 1 January 1980, so that equal answers are equal files.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        for number in [crc.crc().sum(), size, size] {
            common.extend(number.to_le_bytes());
        }
        common.extend(u16::try_from(name.len()).map_err(std::io::Error::other)?.to_le_bytes());
        common.extend([0, 0]);
        let local = [&LOCAL.to_le_bytes()[..], &common, name.as_bytes()].concat();
        self.to.write_all(&local)?;
        std::io::copy(&mut bytes, &mut self.to)?;
        self.at += local.len() as u64 + length;
        self.central.extend([&CENTRAL.to_le_bytes()[..], &[20, 0], &common, &[0; 10], &from.to_le_bytes()].concat());
        self.central.extend(name.as_bytes());
        self.count += 1;
        Ok(())
    }

    /// Write the list of members.
    pub fn finish(mut self) -> std::io::Result<()> {
        let long = |_| std::io::Error::other("an archive of more than 4 GiB; name a file that ends in .npy");
        let (from, length) = (u32::try_from(self.at).map_err(long)?, u32::try_from(self.central.len()).map_err(long)?);
        self.to.write_all(&self.central)?;
        let count = self.count.to_le_bytes();
        let end =
            [&END.to_le_bytes()[..], &[0; 4], &count, &count, &length.to_le_bytes(), &from.to_le_bytes(), &[0; 2]];
        self.to.write_all(&end.concat())?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        members.iter().for_each(|(name, data)| writer.add(name, *data, *data).unwrap());
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let members: [(&str, &[u8]); 3] = [("a.npy", b"some"), ("empty", b""), ("b.npy", &[7; 5000])];
        let read = read(Cursor::new(archive(&members)), 1 << 20).unwrap();
        let found: Vec<(&str, &[u8])> = read.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
        assert_eq!(found, members);
    }

    #[test]
    fn damaged_and_large_archives_are_refused() {
        let whole = archive(&[("a.npy", &[7; 500])]);
        assert!(read(Cursor::new(whole.clone()), 499).unwrap_err().contains("more than 499 bytes"));
        for length in 0..whole.len() {
            assert!(read(Cursor::new(&whole[..length]), 1 << 20).is_err(), "{length}");
        }
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 0xff;
            // Never a panic; where a number matters, a refusal.
            let _ = read(Cursor::new(&bad), 1 << 20);
        }
        let mut bad = whole;
        bad[40] ^= 1;
        assert!(read(Cursor::new(&bad), 1 << 20).unwrap_err().contains("damaged"));
    }
}
