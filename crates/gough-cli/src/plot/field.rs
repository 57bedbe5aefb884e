//! A field as an image: one byte per cell, an index into a palette.
//!
//! The image is put into the SVG as one indexed PNG, so that a map of a million cells stays near a megabyte at worst.

use super::ticks::{Ruler, coordinate};
use super::{Field, PlotError, Scale, span};
use base64::Engine;

/// Colours of categories: light enough for black curves, distinct for colour-blind readers (Tol, "light").
pub const CATEGORIES: [[u8; 3]; 9] = [
    [119, 170, 221],
    [238, 136, 102],
    [238, 221, 136],
    [255, 170, 187],
    [153, 221, 255],
    [68, 187, 153],
    [187, 204, 51],
    [170, 170, 0],
    [153, 136, 187],
];

/// Colour of cells without an answer.
pub const NOTHING: [u8; 3] = [222, 222, 222];

/// Steps of the colour bar; with [`NOTHING`] they fill a palette.
const SHADES: u8 = 255;

/// Columns and rows of an image when the grid is too fine, or not even.
const PIXELS: usize = 1500;

/// Least columns and rows of an image: viewers that smooth images leave cells of many pixels sharp.
const SHARP: usize = 800;

/// A rectangle of the page or of the plane: left, right, and the two ends of the vertical.
pub type Extent = [[f64; 2]; 2];

impl Field {
    /// The scale of the colours, with about so many ticks; none for categories.
    pub fn ruler(&self, count: usize) -> Ruler {
        let log = self.scale == Scale::Log;
        let [low, high] = robust(self.values.iter().flatten().filter_map(|&v| coordinate(v, log)).collect());
        Ruler::new([low, high].map(|v| v.is_finite().then_some(v)), log, count)
    }

    /// Whether some cell has no answer.
    pub fn has_gaps(&self) -> bool {
        let ruler = self.ruler(1);
        (0..self.xs.len() * self.ys.len()).any(|i| self.shade(i, &ruler) == 0)
    }

    /// Name and unit.
    pub fn label(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.unit) }
    }

    /// How many values lie beyond the ends of the colours.
    pub fn beyond(&self) -> usize {
        if matches!(self.scale, Scale::Category(_)) {
            return 0;
        }
        let ruler = self.ruler(1);
        let outside = |at: f64| at < ruler.low || at > ruler.high;
        self.values.iter().flatten().filter_map(|v| ruler.at(*v)).filter(|at| outside(*at)).count()
    }

    /// The cells as a PNG, top row first, and the rectangle they cover in coordinates of the rulers.
    pub fn image(&self, x: &Ruler, y: &Ruler) -> Result<Option<(String, Extent)>, PlotError> {
        let (columns, across) = cells(&self.xs, x);
        let (rows, up) = cells(&self.ys, y);
        if columns.is_empty() || rows.is_empty() {
            return Ok(None);
        }
        let ruler = self.ruler(1);
        let top_first = rows.iter().rev();
        let shades: Vec<u8> = top_first
            .flat_map(|row| columns.iter().map(move |column| row * self.xs.len() + column))
            .map(|i| self.shade(i, &ruler))
            .collect();
        Ok(Some((data_url(columns.len(), &shades, &self.palette())?, [across, up])))
    }

    /// The colour bar as a PNG of one column.
    pub fn bar(&self) -> Result<String, PlotError> {
        let shades: Vec<u8> = (1..=SHADES).rev().collect();
        data_url(1, &shades, &self.palette())
    }

    /// Position in the palette of the colour of one cell.
    fn shade(&self, cell: usize, ruler: &Ruler) -> u8 {
        let Some(at) = self.values.get(cell).copied().flatten().and_then(|v| ruler.at(v)) else { return 0 };
        let Scale::Category(labels) = &self.scale else {
            let t = (at - ruler.low) / (ruler.high - ruler.low);
            return 1 + (t * f64::from(SHADES)).clamp(0.0, f64::from(SHADES - 1)) as u8;
        };
        let known = at.round() >= 0.0 && at.round() < labels.len() as f64;
        if known { 1 + (at.round() as usize % CATEGORIES.len()) as u8 } else { 0 }
    }

    fn palette(&self) -> Vec<u8> {
        let colours: Vec<[u8; 3]> = match self.scale {
            Scale::Category(_) => CATEGORIES.to_vec(),
            _ => (0..SHADES).map(|i| viridis(f64::from(i) / f64::from(SHADES - 1))).collect(),
        };
        std::iter::once(NOTHING).chain(colours).flatten().collect()
    }
}

/// Smallest and largest value, but not those of a few that are far from all others: two bright pixels would leave no colour for
/// the rest. Values beyond have the colour of the end.
fn robust(mut values: Vec<f64>) -> [f64; 2] {
    values.retain(|v| v.is_finite());
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let all = span(values.iter().copied());
    if n < 50 || values[n / 50] == values[n - 1 - n / 50] {
        return all;
    }
    let [low, high] = [values[n / 50], values[n - 1 - n / 50]];
    let far = 2.0 * (high - low);
    let high_end = if all[1] > high + far { high } else { all[1] };
    [if all[0] < low - far { low } else { all[0] }, high_end]
}

fn viridis(t: f64) -> [u8; 3] {
    let colour = colorous::VIRIDIS.eval_continuous(t);
    [colour.r, colour.g, colour.b]
}

/// Which sample each column of the image shows, from low to high, and where the columns begin and end. An even grid has
/// the same number of columns for each sample; another one is sampled. A single sample covers the frame.
fn cells(samples: &[f64], ruler: &Ruler) -> (Vec<usize>, [f64; 2]) {
    let mut sorted: Vec<(f64, usize)> =
        samples.iter().enumerate().filter_map(|(i, &v)| Some((ruler.at(v)?, i))).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    sorted.dedup_by(|a, b| a.0 == b.0);
    let [first, .., last] = sorted.as_slice() else {
        return (sorted.iter().map(|s| s.1).collect(), [ruler.low, ruler.high]);
    };
    let step = (last.0 - first.0) / (sorted.len() - 1) as f64;
    let even = sorted.windows(2).all(|w| (w[1].0 - w[0].0 - step).abs() < 1e-3 * step);
    if even && sorted.len() <= PIXELS {
        let each = SHARP.div_ceil(sorted.len());
        let columns = sorted.iter().flat_map(|s| std::iter::repeat_n(s.1, each)).collect();
        return (columns, [first.0 - 0.5 * step, last.0 + 0.5 * step]);
    }
    let half = |i: usize| 0.5 * (sorted[i + 1].0 - sorted[i].0);
    let (low, high) = (first.0 - half(0), last.0 + half(sorted.len() - 2));
    let centre = |k: usize| low + (high - low) * (k as f64 + 0.5) / PIXELS as f64;
    ((0..PIXELS).map(|k| nearest(&sorted, centre(k))).collect(), [low, high])
}

/// Index of the sample nearest to a coordinate; `sorted` is not empty.
fn nearest(sorted: &[(f64, usize)], at: f64) -> usize {
    let after = sorted.partition_point(|s| s.0 < at).min(sorted.len() - 1);
    let before = after.saturating_sub(1);
    if at - sorted[before].0 < sorted[after].0 - at { sorted[before].1 } else { sorted[after].1 }
}

/// An indexed PNG as a `data:` address.
fn data_url(width: usize, shades: &[u8], palette: &[u8]) -> Result<String, PlotError> {
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, (shades.len() / width) as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_palette(palette);
    let mut writer = encoder.write_header().map_err(PlotError::drawing)?;
    writer.write_image_data(shades).map_err(PlotError::drawing)?;
    writer.finish().map_err(PlotError::drawing)?;
    Ok(format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes)))
}
