//! Text: the embedded font, how long words are, and how they are cut to the room they have.

use super::{PlotError, font};
use crate::encode::svg;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::sync::OnceLock;

/// The font as the SVG names it: viewers without it take their own sans-serif.
const FAMILY: &str = "DejaVu Sans, sans-serif";

/// Make the font known to `plotters`, once, so that it can tell how long a text is.
pub fn embed_font() -> Result<(), PlotError> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE.get_or_init(|| register_font(FAMILY, FontStyle::Normal, font::regular()).is_ok());
    if *done { Ok(()) } else { Err(PlotError::drawing("the embedded font is damaged")) }
}

/// Text of a size, in page units; `plotters` divides sizes by 1.24.
pub fn text(size: i32, colour: RGBColor) -> TextStyle<'static> {
    let font = (FAMILY, 1.24 * f64::from(size)).into_font();
    font.color(&colour).pos(Pos::new(HPos::Left, VPos::Center))
}

/// Length of a text; a guess where the font does not know.
pub fn width(words: &str, size: i32) -> i32 {
    let font = (FAMILY, 1.24 * f64::from(size)).into_font();
    font.box_size(words).map_or(words.chars().count() as i32 * size / 2, |(w, _)| w as i32)
}

/// No text on a page is longer, in characters.
const LONGEST: usize = 500;

/// The text, cut with an ellipsis when it is longer than the room. What XML does not allow becomes a space.
pub fn fit(words: &str, size: i32, room: i32) -> String {
    let mut words: String = svg(words).chars().take(LONGEST).collect();
    if width(&words, size) <= room {
        return words;
    }
    while !words.is_empty() && width(&words, size) + size > room {
        words.pop();
    }
    words.trim_end().to_owned() + "…"
}

/// The text in lines no longer than the room.
pub fn wrap(words: &str, size: i32, room: i32) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in words.split_whitespace().map(|w| fit(w, size, room)) {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => line.extend([" ", &word]),
            _ => lines.push(word),
        }
    }
    lines
}
