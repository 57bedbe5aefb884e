//! The page: where title, frame, colour bar, legend and notes go, and the SVG that shows them.
//!
//! `plotters` has whole pixels only, so the page is drawn in tenths of one; curves stay smooth. It clamps points to the
//! frame, so curves are cut before (`curve`), and it cannot stretch an image, so images are put under its drawing here.

use super::curve::visible;
use super::field::{CATEGORIES, Extent, NOTHING};
use super::text::{embed_font, fit, text, width, wrap};
use super::ticks::Ruler;
use super::{Colour, Curves, Field, Picture, PlotAxis, PlotError, Scale, Stroke, Style};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Page units per pixel.
const UNIT: i32 = 10;
const WIDTH: i32 = 900 * UNIT;
const HEIGHT: i32 = 720 * UNIT;
/// Between the edge of the page and anything on it.
const EDGE: i32 = 10 * UNIT;
/// Between the frame and the colour bar, and between entries of the legend.
const GAP: i32 = 18 * UNIT;
/// Width of the colour bar, and of a swatch.
const BAR: i32 = 18 * UNIT;
const TICK: i32 = 5 * UNIT;
/// Room for tick labels and the label below the frame.
const BELOW: i32 = 46 * UNIT;
/// Between that and the legend.
const AIR: i32 = 8 * UNIT;
/// Room for a label along a vertical axis.
const BESIDE: i32 = 24 * UNIT;
/// Length of a line in the legend, with the space after it.
const SAMPLE: i32 = 34 * UNIT;
/// Longest label of a category.
const LONGEST: i32 = 200 * UNIT;

/// Sizes of text, and heights of its lines.
const TITLE: i32 = 17 * UNIT;
const LABEL: i32 = 14 * UNIT;
const SMALL: i32 = 12 * UNIT;
const TITLE_LINE: i32 = 23 * UNIT;
const LEGEND_LINE: i32 = 21 * UNIT;
const NOTE_LINE: i32 = 17 * UNIT;

const INK: RGBColor = RGBColor(30, 30, 30);
const PALE: RGBColor = RGBColor(90, 90, 90);
const GRID: RGBColor = RGBColor(225, 225, 225);

type SvgArea<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Pixel = (i32, i32);

/// Pictures as one SVG, one below the other.
pub fn svg(pictures: &[Picture]) -> Result<String, PlotError> {
    embed_font()?;
    let (mut parts, mut top) = (String::new(), 0);
    for picture in pictures {
        let page = Page::of(picture);
        let area = PlotArea { left: 0, top, width: WIDTH, height: page.height };
        parts += &page.drawn(area)?;
        top += page.height;
    }
    let (w, h) = (WIDTH / UNIT, top / UNIT);
    let head = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {WIDTH} {top}" stroke-linejoin="round">"#
    );
    Ok(format!("{head}\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{parts}</svg>\n"))
}

/// Left, top, width and height.
#[derive(Clone, Copy)]
struct PlotArea {
    left: i32,
    top: i32,
    width: i32,
    height: i32,
}

/// A picture with everything in its place.
struct Page<'p> {
    picture: &'p Picture,
    title: Vec<String>,
    legend: Vec<Vec<LegendEntry>>,
    notes: Vec<String>,
    x: Ruler,
    y: Ruler,
    /// Scale of the colour bar.
    colours: Option<Ruler>,
    frame: PlotArea,
    height: i32,
}

/// An entry of the legend.
struct LegendEntry {
    name: String,
    /// `None`: a swatch of what has no answer.
    style: Option<Style>,
}

impl LegendEntry {
    fn width(&self) -> i32 {
        SAMPLE + width(&self.name, SMALL) + GAP
    }
}

impl<'p> Page<'p> {
    fn of(picture: &'p Picture) -> Self {
        let title = wrap(&picture.title, TITLE, WIDTH - 4 * EDGE);
        let legend = rows(entries(picture));
        let notes: Vec<String> = picture.notes.iter().flat_map(|n| wrap(n, SMALL, WIDTH - 4 * EDGE)).collect();
        let top = EDGE + lines(&title, TITLE_LINE) + EDGE;
        let bottom = BELOW + AIR + lines(&legend, LEGEND_LINE) + lines(&notes, NOTE_LINE) + EDGE;
        let whole = picture.height.map_or(HEIGHT, |h| h * UNIT);
        let room = (whole - top - bottom).max(whole / 3);
        // Labels need room, room decides the frame, and the frame how many labels there are: twice is enough.
        let (y, colours) = scales(picture, room);
        let rough = frame(picture, top, room, (&y, colours.as_ref()));
        let (y, colours) = scales(picture, rough.height);
        let frame = frame(picture, top, room, (&y, colours.as_ref()));
        let x = horizontal(&picture.x, frame.width);
        let height = (top + frame.height + bottom + UNIT - 1) / UNIT * UNIT; // whole pixels
        Page { picture, title, legend, notes, x, y, colours, frame, height }
    }

    /// Images, and the drawing over them, at their place on a sheet.
    fn drawn(&self, at: PlotArea) -> Result<String, PlotError> {
        let mut drawing = String::new();
        {
            let root = SVGBackend::with_string(&mut drawing, (WIDTH as u32, self.height as u32)).into_drawing_area();
            self.draw(&root).map_err(PlotError::drawing)?;
            root.present().map_err(PlotError::drawing)?;
        }
        let body = drawing.split_once('>').map_or("", |(_, body)| body).trim();
        let all = self.images()? + body.strip_suffix("</svg>").unwrap_or(body);
        if at.top == 0 {
            return Ok(all);
        }
        Ok(format!("<g transform=\"translate({} {})\">\n{all}</g>\n", at.left, at.top))
    }

    /// Everything but the images.
    fn draw(&self, root: &SvgArea) -> Drawn {
        self.draw_axes(root)?;
        for curves in &self.picture.curves {
            self.draw_curves(root, curves)?;
        }
        outline(root, self.frame)?;
        self.draw_scale(root)?;
        self.draw_texts(root)
    }

    fn draw_axes(&self, root: &SvgArea) -> Drawn {
        let f = self.frame;
        let beside = beside(&self.y);
        let area = root.clone().shrink((f.left - beside, f.top), (beside + f.width, f.height + BELOW));
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(BELOW)
            .y_label_area_size(beside)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        let mut mesh = chart.configure_mesh();
        mesh.bold_line_style(GRID.stroke_width(UNIT as u32)).light_line_style(TRANSPARENT);
        mesh.axis_style(INK.stroke_width(UNIT as u32)).set_all_tick_mark_size(TICK);
        mesh.label_style(text(SMALL, INK)).axis_desc_style(text(LABEL, INK));
        mesh.x_desc(fit(&self.picture.x.label, LABEL, f.width)).y_desc(fit(&self.picture.y.label, LABEL, f.height));
        if self.picture.field.is_some() {
            mesh.disable_mesh();
        }
        mesh.draw()
    }

    /// Curves of one style; over a field with a white edge, so that they are seen on every colour.
    fn draw_curves(&self, root: &SvgArea, curves: &Curves) -> Drawn {
        let pixel = |&(x, y): &(f64, f64)| self.pixel(x, y);
        // Dots are cut one by one: the frame makes no new ones.
        let pieces = |line: &'_ [[f64; 2]]| if curves.style.stroke == Stroke::Dots { 1 } else { line.len().max(1) };
        let parts = curves.lines.iter().flat_map(|line| line.chunks(pieces(line)));
        let parts = parts.flat_map(|line| visible(line, &self.x, &self.y));
        let parts: Vec<Vec<Pixel>> = parts.map(|part| part.iter().map(pixel).collect()).collect();
        if self.picture.field.is_some() {
            for part in &parts {
                trace(root, part, curves.style.stroke, WHITE, 4 * UNIT)?;
            }
        }
        parts.iter().try_for_each(|part| trace(root, part, curves.style.stroke, rgb(curves.style.colour), 2 * UNIT))
    }

    /// What the colours of the field mean.
    fn draw_scale(&self, root: &SvgArea) -> Drawn {
        match (&self.picture.field, &self.colours) {
            (Some(field), Some(ruler)) => self.draw_bar(root, field, ruler),
            (Some(Field { name, scale: Scale::Category(labels), .. }), _) => self.draw_categories(root, name, labels),
            _ => Ok(()),
        }
    }

    fn draw_bar(&self, root: &SvgArea, field: &Field, ruler: &Ruler) -> Drawn {
        let bar = self.bar();
        let beside = beside(ruler);
        let area = root.clone().shrink((bar.left, bar.top), (bar.width + beside, bar.height));
        let mut chart =
            ChartBuilder::on(&area).right_y_label_area_size(beside).build_cartesian_2d(0.0..1.0, ruler.clone())?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_mesh().axis_style(INK.stroke_width(UNIT as u32)).set_all_tick_mark_size(TICK);
        mesh.label_style(text(SMALL, INK)).axis_desc_style(text(LABEL, INK));
        mesh.y_desc(fit(&field.label(), LABEL, bar.height)).draw()?;
        outline(root, bar)
    }

    /// Swatches from top to bottom. Those that do not fit are counted.
    fn draw_categories(&self, root: &SvgArea, name: &str, labels: &[String]) -> Drawn {
        let bar = self.bar();
        write(root, &fit(name, SMALL, LONGEST + BAR), (bar.left, bar.top + LEGEND_LINE / 2), text(SMALL, INK))?;
        let room = (bar.height / LEGEND_LINE - 1).max(1) as usize;
        let shown = if labels.len() > room { room - 1 } else { labels.len() };
        let at = |i: usize| bar.top + LEGEND_LINE * (1 + i as i32);
        for (i, label) in labels.iter().take(shown).enumerate() {
            swatch(root, (bar.left, at(i)), CATEGORIES[i % CATEGORIES.len()])?;
            let start = (bar.left + BAR + EDGE, at(i) + LEGEND_LINE / 2);
            write(root, &fit(label, SMALL, LONGEST), start, text(SMALL, INK))?;
        }
        if shown < labels.len() {
            let more = format!("and {} more", labels.len() - shown);
            write(root, &more, (bar.left, at(shown) + LEGEND_LINE / 2), text(SMALL, PALE))?;
        }
        Ok(())
    }

    /// Title, legend and notes.
    fn draw_texts(&self, root: &SvgArea) -> Drawn {
        for (i, line) in self.title.iter().enumerate() {
            let centred = text(TITLE, INK).pos(Pos::new(HPos::Center, VPos::Center));
            write(root, line, (WIDTH / 2, EDGE + TITLE_LINE * i as i32 + TITLE_LINE / 2), centred)?;
        }
        let mut at = self.frame.top + self.frame.height + BELOW + AIR;
        for row in &self.legend {
            let all: i32 = row.iter().map(LegendEntry::width).sum::<i32>() - GAP;
            let start = self.frame.left + (self.frame.width - all) / 2;
            let mut x = start.min(WIDTH - EDGE - all).max(EDGE);
            for entry in row {
                draw_entry(root, entry, (x, at))?;
                x += entry.width();
            }
            at += LEGEND_LINE;
        }
        for (i, line) in self.notes.iter().enumerate() {
            write(root, line, (EDGE, at + NOTE_LINE * i as i32 + NOTE_LINE / 2), text(SMALL, PALE))?;
        }
        Ok(())
    }

    /// The images under the drawing: the field, and its colour bar.
    fn images(&self) -> Result<String, PlotError> {
        let Some(field) = &self.picture.field else { return Ok(String::new()) };
        let f = self.frame;
        let mut out = rectangle(f, NOTHING);
        if let Some((url, [across, up])) = field.image(&self.x, &self.y)? {
            let ([left, top], [right, bottom]) = (self.place(across[0], up[1]), self.place(across[1], up[0]));
            out += &window(f, &image(&url, [[left, right], [top, bottom]]));
        }
        if self.colours.is_some() {
            let b = self.bar();
            let ends = |low: i32, size: i32| [f64::from(low), f64::from(low + size)];
            out += &image(&field.bar()?, [ends(b.left, b.width), ends(b.top, b.height)]);
        }
        Ok(out)
    }

    fn bar(&self) -> PlotArea {
        PlotArea { left: self.frame.left + self.frame.width + GAP, width: BAR, ..self.frame }
    }

    /// Where on the page a point of the rulers is.
    fn place(&self, x: f64, y: f64) -> [f64; 2] {
        let f = self.frame;
        let across = (x - self.x.low) / (self.x.high - self.x.low);
        let up = (y - self.y.low) / (self.y.high - self.y.low);
        [f64::from(f.left) + across * f64::from(f.width), f64::from(f.top) + (1.0 - up) * f64::from(f.height)]
    }

    fn pixel(&self, x: f64, y: f64) -> Pixel {
        let [x, y] = self.place(x, y);
        (x.round() as i32, y.round() as i32)
    }
}

impl PlotArea {
    /// The largest frame inside this one where both units are equally long, centred; or this one, where one side would be
    /// too short to read.
    fn equal(self, [x, y]: [&Ruler; 2]) -> Self {
        let (dx, dy) = (x.high - x.low, y.high - y.low);
        let scale = (f64::from(self.width) / dx).min(f64::from(self.height) / dy);
        let (width, height) = ((dx * scale).round() as i32, (dy * scale).round() as i32);
        if width.min(height) < 100 * UNIT {
            return self;
        }
        PlotArea { left: self.left + (self.width - width) / 2, width, height, ..self }
    }
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// One part of a curve; one point is a dot.
fn trace(root: &SvgArea, part: &[Pixel], stroke: Stroke, colour: RGBColor, thick: i32) -> Drawn {
    let style = colour.stroke_width(thick as u32);
    let dot = |at: &Pixel| root.draw(&Circle::new(*at, thick / 2 + 2 * UNIT, colour.filled()));
    match (stroke, part) {
        (Stroke::Dots, _) | (_, [_]) => part.iter().try_for_each(dot),
        (Stroke::Dashed, _) if colour != WHITE => {
            root.draw(&DashedPathElement::new(part.iter().copied(), 8 * UNIT, 5 * UNIT, style))
        }
        _ => root.draw(&PathElement::new(part.to_vec(), style)),
    }
}

fn outline(root: &SvgArea, f: PlotArea) -> Drawn {
    let (right, bottom) = (f.left + f.width, f.top + f.height);
    let corners = vec![(f.left, f.top), (right, f.top), (right, bottom), (f.left, bottom), (f.left, f.top)];
    root.draw(&PathElement::new(corners, INK.stroke_width(UNIT as u32)))
}

fn swatch(root: &SvgArea, (x, y): Pixel, [r, g, b]: [u8; 3]) -> Drawn {
    let air = 3 * UNIT;
    root.draw(&Rectangle::new([(x, y + air), (x + BAR, y + LEGEND_LINE - air)], RGBColor(r, g, b).filled()))
}

/// A sample of the style, then the name.
fn draw_entry(root: &SvgArea, entry: &LegendEntry, (x, y): Pixel) -> Drawn {
    let middle = y + LEGEND_LINE / 2;
    let long = SAMPLE - 8 * UNIT;
    match entry.style {
        None => swatch(root, (x + (long - BAR) / 2, y), NOTHING)?,
        Some(Style { stroke: Stroke::Dots, colour }) => {
            trace(root, &[(x + long / 2, middle)], Stroke::Dots, rgb(colour), 2 * UNIT)?;
        }
        Some(Style { stroke, colour }) => {
            trace(root, &[(x, middle), (x + long, middle)], stroke, rgb(colour), 2 * UNIT)?;
        }
    }
    write(root, &entry.name, (x + SAMPLE, middle), text(SMALL, INK))
}

/// One line of text, centred vertically on a point.
fn write(root: &SvgArea, words: &str, at: Pixel, style: TextStyle) -> Drawn {
    root.draw(&Text::new(words.to_owned(), at, style))
}

/// What the legend explains.
fn entries(picture: &Picture) -> Vec<LegendEntry> {
    let room = WIDTH / 2;
    let named = picture.curves.iter().filter(|c| !c.name.is_empty());
    let curves = named.map(|c| LegendEntry { name: fit(&c.name, SMALL, room), style: Some(c.style) });
    let gaps = picture.field.as_ref().filter(|f| f.has_gaps());
    curves.chain(gaps.map(|_| LegendEntry { name: "no answer".to_owned(), style: None })).collect()
}

/// Entries of the legend in rows as wide as the page.
fn rows(entries: Vec<LegendEntry>) -> Vec<Vec<LegendEntry>> {
    let mut rows: Vec<Vec<LegendEntry>> = vec![];
    let mut used = 0;
    for entry in entries {
        used += entry.width();
        match rows.last_mut() {
            Some(row) if used <= WIDTH - 2 * EDGE => row.push(entry),
            _ => {
                used = entry.width();
                rows.push(vec![entry]);
            }
        }
    }
    rows
}

fn lines<T>(items: &[T], height: i32) -> i32 {
    items.len() as i32 * height
}

/// The rulers of the vertical axis and of the colour bar, for a frame so high; a low picture has ticks all the same.
/// Categories have no colour bar.
fn scales(picture: &Picture, height: i32) -> (Ruler, Option<Ruler>) {
    let least = if picture.height.is_some() { 4 } else { 1 };
    let count = (height / (70 * UNIT)).max(least) as usize;
    let ordered = picture.field.as_ref().filter(|f| !matches!(f.scale, Scale::Category(_)));
    (Ruler::of(&picture.y, count), ordered.map(|f| f.ruler(count)))
}

/// A ruler with as many ticks as the labels leave room for.
fn horizontal(axis: &PlotAxis, long: i32) -> Ruler {
    let most = (long / (60 * UNIT)).max(1) as usize;
    let fits = |r: &Ruler| {
        let room = f64::from(widest(r) + EDGE) / f64::from(long) * (r.high - r.low);
        r.ticks.windows(2).all(|pair| pair[1].0 - pair[0].0 >= room)
    };
    (2..=most).rev().map(|count| Ruler::of(axis, count)).find(fits).unwrap_or_else(|| Ruler::of(axis, 1))
}

/// The frame between the labels of these rulers.
fn frame(picture: &Picture, top: i32, height: i32, (y, colours): (&Ruler, Option<&Ruler>)) -> PlotArea {
    let left = EDGE + beside(y);
    let right = match (&picture.field, colours) {
        (None, _) => 3 * EDGE,
        (Some(_), Some(ruler)) => GAP + BAR + beside(ruler) + EDGE,
        (Some(field), None) => GAP + BAR + EDGE + categories_width(field) + EDGE,
    };
    let frame = PlotArea { left, top, width: WIDTH - left - right, height };
    if picture.equal { frame.equal([&Ruler::of(&picture.x, 1), y]) } else { frame }
}

/// Room for the labels of categories, and for the name above them.
fn categories_width(field: &Field) -> i32 {
    let Scale::Category(labels) = &field.scale else { return 0 };
    let longest = labels.iter().map(|l| width(l, SMALL)).max().unwrap_or(0);
    longest.max(width(&field.name, SMALL) - BAR).min(LONGEST)
}

/// Room for the ticks and the label of a vertical axis.
fn beside(ruler: &Ruler) -> i32 {
    2 * TICK + widest(ruler) + BESIDE
}

fn widest(ruler: &Ruler) -> i32 {
    ruler.ticks.iter().map(|t| width(&t.1, SMALL)).max().unwrap_or(0)
}

fn rectangle(f: PlotArea, [r, g, b]: [u8; 3]) -> String {
    let PlotArea { left, top, width, height } = f;
    format!("<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"rgb({r},{g},{b})\"/>\n")
}

/// What is seen of a drawing through a frame: cells at the edge of a grid reach over it.
fn window(f: PlotArea, inner: &str) -> String {
    let PlotArea { left, top, width, height } = f;
    let view = format!("viewBox=\"{left} {top} {width} {height}\"");
    format!("<svg x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" {view}>\n{inner}</svg>\n")
}

/// An image over a rectangle of the page, its cells kept sharp.
fn image(url: &str, [[left, right], [top, bottom]]: Extent) -> String {
    format!(
        "<image x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" preserveAspectRatio=\"none\" \
         image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\" href=\"{url}\"/>\n",
        right - left,
        bottom - top
    )
}

fn rgb(colour: Colour) -> RGBColor {
    match colour {
        Colour::Black => RGBColor(0, 0, 0),
        Colour::Red => RGBColor(213, 94, 0),
        Colour::Blue => RGBColor(0, 114, 178),
        Colour::Orange => RGBColor(230, 159, 0),
        Colour::Green => RGBColor(0, 158, 115),
        Colour::Purple => RGBColor(204, 121, 167),
    }
}
