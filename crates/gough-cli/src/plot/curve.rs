//! Curves cut at gaps and at the frame.

use super::ticks::Ruler;

/// A point in coordinates of the rulers.
pub type RulerPoint = (f64, f64);

/// Parts of a curve that can be drawn: cut at points without coordinates, and at the frame.
pub fn visible(line: &[[f64; 2]], x: &Ruler, y: &Ruler) -> Vec<Vec<RulerPoint>> {
    let at = |p: &[f64; 2]| Some((x.at(p[0])?, y.at(p[1])?));
    let points: Vec<Option<RulerPoint>> = line.iter().map(at).collect();
    points
        .split(Option::is_none)
        .flat_map(|part| clip(&part.iter().flatten().copied().collect::<Vec<_>>(), x, y))
        .collect()
}

/// Parts of a polyline inside the frame. One point is a part if it is inside.
fn clip(points: &[RulerPoint], x: &Ruler, y: &Ruler) -> Vec<Vec<RulerPoint>> {
    if let [p] = points {
        let inside = (x.low..=x.high).contains(&p.0) && (y.low..=y.high).contains(&p.1);
        return if inside { vec![vec![*p]] } else { vec![] };
    }
    let mut parts: Vec<Vec<RulerPoint>> = vec![];
    let mut goes_on = false;
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let Some([enter, leave]) = inside(a, b, x, y) else {
            goes_on = false;
            continue;
        };
        let at = |t: f64| (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1));
        match parts.last_mut() {
            Some(part) if goes_on => part.push(at(leave)),
            _ => parts.push(vec![at(enter), at(leave)]),
        }
        goes_on = leave == 1.0;
    }
    parts
}

/// Where the segment from a (0) to b (1) enters and leaves the frame (Liang and Barsky).
fn inside(a: RulerPoint, b: RulerPoint, x: &Ruler, y: &Ruler) -> Option<[f64; 2]> {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (from, to, ruler) in [(a.0, b.0, x), (a.1, b.1, y)] {
        let d = to - from;
        if d == 0.0 {
            if !(ruler.low..=ruler.high).contains(&from) {
                return None;
            }
            continue;
        }
        let (s, t) = ((ruler.low - from) / d, (ruler.high - from) / d);
        enter = enter.max(s.min(t));
        leave = leave.min(s.max(t));
    }
    (enter <= leave).then_some([enter, leave])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_stop_at_gaps_and_at_the_frame() {
        let unit = Ruler::new([Some(0.0), Some(1.0)], false, 5);
        let cut = |line: &[[f64; 2]]| visible(line, &unit, &unit);
        assert_eq!(cut(&[[-1.0, 0.5], [2.0, 0.5]]), [[(0.0, 0.5), (1.0, 0.5)]]);
        assert_eq!(
            cut(&[[0.0, 0.0], [1.0, 1.0], [f64::NAN, 0.0], [0.5, 0.5]]),
            [vec![(0.0, 0.0), (1.0, 1.0)], vec![(0.5, 0.5)]]
        );
        assert_eq!(cut(&[[0.2, 0.2], [0.4, 0.2], [0.4, 0.6]]).len(), 1);
        assert!(cut(&[[2.0, 0.0], [2.0, 1.0], [3.0, 3.0]]).is_empty());
        assert!(cut(&[]).is_empty());
    }
}
