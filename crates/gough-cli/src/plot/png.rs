//! PNG: the SVG rendered by `resvg`, so that both show the same; feature `png`.

use super::{PlotError, font};
use resvg::{tiny_skia, usvg};

/// Pixels of a PNG per unit of the SVG: sharp in print and on dense screens.
const SCALE: f32 = 2.0;

/// Render an SVG with the embedded font.
pub fn render(svg: &str) -> Result<Vec<u8>, PlotError> {
    let mut options = usvg::Options::default();
    options.fontdb_mut().load_font_data(font::regular().to_vec());
    let tree = usvg::Tree::from_str(svg, &options).map_err(PlotError::drawing)?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| PlotError::drawing("empty page"))?;
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).ok_or_else(|| PlotError::drawing("empty page"))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(PlotError::drawing)
}
