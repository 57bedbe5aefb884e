//! Packs the font of pictures: the program carries half of it.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::env;
use std::fs::File;
use std::io::{Error, Write};
use std::path::PathBuf;

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| Error::other("no folder for what is made"))?;
    let mut packed = ZlibEncoder::new(File::create(folder.join("font.z"))?, Compression::best());
    packed.write_all(dejavu::sans::regular())?;
    packed.finish().map(drop)
}
