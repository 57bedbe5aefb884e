//! The font of pictures, DejaVu Sans, as `build.rs` packed it.

use flate2::read::ZlibDecoder;
use std::io::Read;
use std::sync::OnceLock;

/// The font, unpacked once; empty where it is damaged.
pub fn regular() -> &'static [u8] {
    static FONT: OnceLock<Vec<u8>> = OnceLock::new();
    FONT.get_or_init(|| {
        let mut font = Vec::new();
        let packed = include_bytes!(concat!(env!("OUT_DIR"), "/font.z"));
        ZlibDecoder::new(&packed[..]).read_to_end(&mut font).map_or_else(|_| Vec::new(), |_| font)
    })
}
