//! Files that are read: regular ones, of a size that fits, and below the folder of the robot file that names them.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

/// Open a file. Directories, devices and pipes are refused at once: reading them fails late, never ends, or waits forever.
pub fn open(path: &Path) -> std::io::Result<File> {
    let there = std::fs::metadata(path)?;
    if there.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder; name a file in it"));
    }
    if !there.is_file() {
        let why = "it is a device or a pipe; write what it gives to a file, and name that";
        return Err(Error::new(ErrorKind::InvalidInput, why));
    }
    File::open(path)
}

/// Read a text file, but not more than `most` bytes of it.
pub fn read_limited(path: &Path, most: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a file is that a robot file names: below the folder of the robot file, links followed, unless `outside` allows more.
pub fn named_in(folder: &Path, name: &str, outside: bool) -> Result<PathBuf, String> {
    let path = folder.join(name);
    if outside {
        return Ok(path);
    }
    let refused = || "it is not below the folder of the robot file; move it there, or give --allow-outside".to_owned();
    let plain = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(plain) {
        return Err(refused());
    }
    let here = |path: &Path| std::fs::canonicalize(path).map_err(|e| e.to_string());
    if here(&path)?.starts_with(here(folder)?) { Ok(path) } else { Err(refused()) }
}
