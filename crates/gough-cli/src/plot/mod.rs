//! Pictures of maps over a region of the plane, of curves over it, and of curves of one variable, as SVG or PNG.
//!
//! `plotters` draws axes and curves as SVG; a PNG is that SVG rendered by `resvg`, so that both show the same (feature `png`,
//! which most of the drawing crates are for). Text is set in `DejaVu Sans`, which travels in the program: no font of the system is looked for. (The bitmap backend of
//! `plotters` would do without `resvg`, but it puts points and letters on whole pixels.)

// Page units, pixels and numbers of ticks are small whole numbers.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod curve;
mod field;
mod font;
mod page;
#[cfg(feature = "png")]
mod png;
mod text;
mod ticks;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

/// A map, curves over it, or both.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// One sentence above the frame; wrapped when long.
    pub title: String,
    /// Horizontal axis.
    pub x: PlotAxis,
    /// Vertical axis, upwards.
    pub y: PlotAxis,
    /// One unit of x is drawn as long as one unit of y: set it when both are lengths.
    pub equal: bool,
    /// What the colours show.
    pub field: Option<Field>,
    /// What is drawn over the field.
    pub curves: Vec<Curves>,
    /// Small print below the picture.
    pub notes: Vec<String>,
    /// Height in pixels, when it is not that of a page.
    pub height: Option<i32>,
}

/// One axis: what it shows and its ends. Ends that make no sense (not finite, equal, not positive on a log axis) are moved.
#[derive(Clone, Debug, Default)]
pub struct PlotAxis {
    /// Quantity and unit: `x (m)`.
    pub label: String,
    /// Value at the left or at the bottom.
    pub low: f64,
    /// Value at the right or at the top.
    pub high: f64,
    /// Equal factors are equally long.
    pub log: bool,
}

/// Values on a grid, one coloured cell around each grid point.
#[derive(Clone, Debug)]
pub struct Field {
    /// Quantity, beside the colour bar.
    pub name: String,
    /// Its unit; empty for a pure number.
    pub unit: String,
    /// Grid along x.
    pub xs: Vec<f64>,
    /// Grid along y.
    pub ys: Vec<f64>,
    /// Values, y outer, x inner. `None`, and what the scale cannot show, is light grey: no answer.
    pub values: Vec<Option<f64>>,
    /// From values to colours.
    pub scale: Scale,
}

/// From values to colours.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Equal differences look equal.
    Linear,
    /// Equal factors look equal; values must be positive.
    Log,
    /// Values are positions in this list of labels. Colours repeat after [`field::CATEGORIES`].
    Category(Vec<String>),
}

/// Curves that share a name in the legend. An empty name stays out of the legend.
#[derive(Clone, Debug)]
pub struct Curves {
    /// Name in the legend.
    pub name: String,
    /// How they look.
    pub style: Style,
    /// Points of each curve. A point that is not finite is a gap; a curve of one point is a dot.
    pub lines: Vec<Vec<[f64; 2]>>,
}

/// How curves look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour.
    pub colour: Colour,
    /// Line or dots.
    pub stroke: Stroke,
}

/// Colours that stay distinct for colour-blind readers (Okabe and Ito).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Black,
    Red,
    Blue,
    Orange,
    Green,
    Purple,
}

/// Line or dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    Solid,
    Dashed,
    Dots,
}

impl Style {
    /// Styles for the first, second, ... of many curves: six solid colours, then the same dashed.
    pub fn nth(i: usize) -> Self {
        use Colour::{Black, Blue, Green, Orange, Purple, Red};
        let colours = [Blue, Red, Green, Orange, Purple, Black];
        let stroke = if (i / colours.len()).is_multiple_of(2) { Stroke::Solid } else { Stroke::Dashed };
        Style { colour: colours[i % colours.len()], stroke }
    }
}

/// Curves of one variable.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// One sentence above the frame.
    pub title: String,
    /// Horizontal quantity and unit.
    pub x_label: String,
    /// Vertical quantity and unit.
    pub y_label: String,
    /// Vertical axis in powers of ten; values that are not positive are gaps.
    pub y_log: bool,
    /// The curves.
    pub series: Vec<Series>,
    /// Small print below the picture.
    pub notes: Vec<String>,
}

/// One curve of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// How it looks.
    pub style: Style,
    /// Abscissa and value; `None` is a gap.
    pub points: Vec<(f64, Option<f64>)>,
}

/// Why there is no picture.
#[derive(Debug)]
pub enum PlotError {
    /// The file name says neither SVG nor PNG.
    Extension(String),
    /// The program was built without PNG.
    NoPng(String),
    /// A drawing crate refused; a fault of this program.
    Drawing(String),
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlotError::Extension(path) => write!(f, "cannot draw `{path}`: name a file that ends in .svg or .png"),
            PlotError::NoPng(path) => write!(
                f,
                "cannot draw `{path}`: this program was built without PNG; name a file that ends in .svg, or install it with \
                 `cargo install --path crates/gough-cli --features png`"
            ),
            PlotError::Drawing(why) => write!(f, "cannot draw the picture: {why}; please report this"),
        }
    }
}

impl std::error::Error for PlotError {}

impl PlotError {
    /// Wrap what a drawing crate says.
    fn drawing(why: impl fmt::Display) -> Self {
        PlotError::Drawing(why.to_string())
    }
}

/// What a file can hold, by its extension.
enum Format {
    Svg,
    Png,
}

fn format(path: &Path) -> Result<Format, PlotError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(Format::Svg),
        Some("png") if cfg!(feature = "png") => Ok(Format::Png),
        Some("png") => Err(PlotError::NoPng(path.display().to_string())),
        _ => Err(PlotError::Extension(path.display().to_string())),
    }
}

/// Whether a file can be drawn, by its extension.
pub fn check(path: &Path) -> Result<(), PlotError> {
    format(path).map(|_| ())
}

/// A picture as the bytes of a file, `.svg` or `.png` as its name says.
pub fn draw(picture: &Picture, path: &Path) -> Result<Vec<u8>, PlotError> {
    sheet(std::slice::from_ref(picture), path)
}

/// Pictures one below the other, as the bytes of one file.
fn sheet(pictures: &[Picture], path: &Path) -> Result<Vec<u8>, PlotError> {
    match format(path)? {
        Format::Svg => Ok(page::svg(pictures)?.into_bytes()),
        #[cfg(feature = "png")]
        Format::Png => png::render(&page::svg(pictures)?),
        #[cfg(not(feature = "png"))]
        Format::Png => Err(PlotError::NoPng(path.display().to_string())),
    }
}

/// A chart as the bytes of a file, `.svg` or `.png` as its name says. The axes span the data.
pub fn line_chart(chart: &Chart, path: &Path) -> Result<Vec<u8>, PlotError> {
    draw(&chart.picture(), path)
}

/// Charts one below the other, each so many pixels high.
pub fn line_charts(charts: &[(Chart, i32)], path: &Path) -> Result<Vec<u8>, PlotError> {
    let pictures: Vec<Picture> =
        charts.iter().map(|(chart, height)| Picture { height: Some(*height), ..chart.picture() }).collect();
    sheet(&pictures, path)
}

impl Chart {
    fn picture(&self) -> Picture {
        let points = |s: &Series| s.points.iter().map(|&(x, y)| [x, y.unwrap_or(f64::NAN)]).collect::<Vec<_>>();
        let curve = |s: &Series| Curves { name: s.name.clone(), style: s.style, lines: vec![points(s)] };
        let curves: Vec<Curves> = self.series.iter().map(curve).collect();
        let all = || curves.iter().flat_map(|c| c.lines.iter().flatten());
        let [left, right] = span(all().map(|p| p[0]));
        let shown = |y: f64| if self.y_log && y <= 0.0 { None } else { Some(y) };
        let [bottom, top] = margin(span(all().filter_map(|p| shown(p[1]))), self.y_log);
        Picture {
            title: self.title.clone(),
            x: PlotAxis { label: self.x_label.clone(), low: left, high: right, log: false },
            y: PlotAxis { label: self.y_label.clone(), low: bottom, high: top, log: self.y_log },
            curves,
            notes: self.notes.clone(),
            ..Picture::default()
        }
    }
}

/// Smallest and largest of the finite values; infinities, which no axis takes, when there are none.
fn span(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let finite = values.filter(|v| v.is_finite());
    finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)])
}

/// A little air above and below the data.
fn margin([low, high]: [f64; 2], log: bool) -> [f64; 2] {
    if log {
        let factor = (high / low).powf(0.04);
        [low / factor, high * factor]
    } else {
        let air = 0.04 * (high - low);
        [low - air, high + air]
    }
}
