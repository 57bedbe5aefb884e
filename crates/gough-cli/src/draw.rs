//! A posture drawn with braille dots.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // dots on a small canvas, not negative

use gough::Robot;
use gough::description::Coordinates;
use gough::kinematics::Posture;
use gough::kinematics::scene::{Segment, segments};
use gough::spatial::Vec3;

/// Cells across.
const WIDTH: usize = 56;
/// Most cells down.
const HEIGHT: usize = 22;

/// The posture as lines of text: planar robots from above, others from the front and slightly above.
pub fn draw(robot: &Robot, posture: &Posture) -> String {
    let lines = segments(robot.model(), posture.closed());
    let planar = matches!(robot.model().topology().platform.coordinates, Coordinates::Planar | Coordinates::Point(_));
    let flat = |p: Vec3<f64>| if planar { (p.x, p.y) } else { (p.x + 0.35 * p.y, p.z + 0.25 * p.y) };
    let points: Vec<((f64, f64), (f64, f64))> = lines.iter().map(|s: &Segment| (flat(s.from), flat(s.to))).collect();
    let all: Vec<(f64, f64)> = points.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let (mut low, mut high) = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    for (x, y) in &all {
        low = (low.0.min(*x), low.1.min(*y));
        high = (high.0.max(*x), high.1.max(*y));
    }
    if all.is_empty() {
        return String::new();
    }
    // Two dots across and four down per cell; cells are twice as high as wide, so dots are square.
    let (dots_x, dots_y) = ((2 * WIDTH - 1) as f64, (4 * HEIGHT - 1) as f64);
    let scale = (dots_x / (high.0 - low.0).max(1e-9)).min(dots_y / (high.1 - low.1).max(1e-9));
    let place = |(x, y): (f64, f64)| ((x - low.0) * scale, (high.1 - y) * scale);
    let rows = ((high.1 - low.1) * scale / 4.0).floor() as usize + 1;
    let mut canvas = Canvas { cells: vec![[0_u8; WIDTH]; rows.min(HEIGHT)] };
    for (a, b) in points {
        canvas.line(place(a), place(b));
    }
    canvas.text()
}

/// Bits of a braille cell, row by row.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

struct Canvas {
    cells: Vec<[u8; WIDTH]>,
}

impl Canvas {
    fn line(&mut self, a: (f64, f64), b: (f64, f64)) {
        let steps = (b.0 - a.0).abs().max((b.1 - a.1).abs()).ceil().max(1.0) as usize;
        for i in 0..=steps {
            let t = i as f64 / steps as f64;
            self.dot(a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1));
        }
    }

    fn dot(&mut self, x: f64, y: f64) {
        let (x, y) = (x.round().max(0.0) as usize, y.round().max(0.0) as usize);
        if let Some(cell) = self.cells.get_mut(y / 4).and_then(|row| row.get_mut(x / 2)) {
            *cell |= BITS[y % 4][x % 2];
        }
    }

    fn text(&self) -> String {
        let line = |row: &[u8; WIDTH]| {
            let text: String = row
                .iter()
                .map(|bits| if *bits == 0 { ' ' } else { char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' ') })
                .collect();
            format!("  {}\n", text.trim_end())
        };
        self.cells.iter().map(line).collect()
    }
}
