//! A region of the workspace: one to three platform coordinates spanned, the others fixed.

use crate::description::Coordinate;
use crate::kinematics::PoseChart;
use crate::model::Model;
use crate::spatial::Pose;
use std::fmt;

/// Most nodes of a region.
pub const MOST_NODES: usize = 100_000_000;

/// One coordinate of a region.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoordinateSpan {
    /// Which coordinate.
    pub coordinate: Coordinate,
    /// Its lowest value.
    pub low: f64,
    /// Its highest value.
    pub high: f64,
    /// How many values, both ends included.
    pub count: usize,
}

/// One to three coordinates spanned, the others as in a pose.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    spans: Vec<CoordinateSpan>,
    base: Pose<f64>,
    chart: PoseChart,
}

/// Why a region cannot be mapped.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RegionError {
    /// The platform does not have this coordinate.
    NotACoordinate {
        /// The coordinate.
        name: &'static str,
        /// Those it has.
        has: Vec<&'static str>,
    },
    /// A coordinate is spanned twice.
    Twice(&'static str),
    /// None, or more than three coordinates.
    Dimension(usize),
    /// A span without extent, or with fewer than two values.
    Empty(&'static str),
    /// More nodes than can be held.
    TooLarge(usize),
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegionError::NotACoordinate { name, has } => {
                write!(f, "the platform does not move in {name} by itself; it has {}", has.join(", "))
            }
            RegionError::Twice(name) => write!(f, "{name} is spanned twice"),
            RegionError::Dimension(n) => write!(f, "a region spans one to three coordinates, not {n}"),
            RegionError::Empty(name) => write!(f, "the span of {name} needs two different ends and two values or more"),
            RegionError::TooLarge(n) => {
                write!(f, "the region has {n} nodes, more than {MOST_NODES}; take fewer values per coordinate")
            }
        }
    }
}

impl std::error::Error for RegionError {}

/// Names of the coordinates as commands and files write them.
pub fn coordinate_name(c: Coordinate) -> &'static str {
    ["x", "y", "z", "roll", "pitch", "yaw"][c.index()]
}

impl Region {
    /// A region of a robot's workspace; coordinates that are not spanned stay as in `base`.
    pub fn new(model: &Model<f64>, spans: Vec<CoordinateSpan>, base: &Pose<f64>) -> Result<Self, RegionError> {
        let independent = &model.topology().platform.independent;
        if spans.is_empty() || spans.len() > 3 {
            return Err(RegionError::Dimension(spans.len()));
        }
        for (i, span) in spans.iter().enumerate() {
            let name = coordinate_name(span.coordinate);
            if !independent.contains(&span.coordinate) {
                let has = independent.iter().map(|c| coordinate_name(*c)).collect();
                return Err(RegionError::NotACoordinate { name, has });
            }
            if spans[..i].iter().any(|s| s.coordinate == span.coordinate) {
                return Err(RegionError::Twice(name));
            }
            if span.count < 2 || !(span.high > span.low) || !(span.high - span.low).is_finite() {
                return Err(RegionError::Empty(name));
            }
        }
        let nodes = spans.iter().try_fold(1_usize, |n, s| n.checked_mul(s.count)).unwrap_or(usize::MAX);
        if nodes > MOST_NODES {
            return Err(RegionError::TooLarge(nodes));
        }
        Ok(Self { spans, base: *base, chart: PoseChart::of(model) })
    }

    /// The coordinates spanned.
    pub fn spans(&self) -> &[CoordinateSpan] {
        &self.spans
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.spans.iter().map(|s| s.count).product()
    }

    /// Never: a region has nodes.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Place of a node along each coordinate; the first coordinate changes fastest.
    pub fn indices(&self, node: usize) -> [usize; 3] {
        let mut rest = node;
        let mut place = [0; 3];
        for (k, span) in self.spans.iter().enumerate() {
            place[k] = rest % span.count;
            rest /= span.count;
        }
        place
    }

    /// Coordinates of a node.
    pub fn point(&self, node: usize) -> Vec<f64> {
        let place = self.indices(node);
        self.spans.iter().enumerate().map(|(k, s)| s.value(place[k])).collect()
    }

    /// A point beside a node, a millionth of a step away: where signs are looked at, so that symmetric regions have no node
    /// on a curve, where signs are only rounding.
    pub fn beside(&self, node: usize) -> Vec<f64> {
        self.point(node).iter().enumerate().map(|(k, x)| x + self.nudge(k)).collect()
    }

    /// By how much [`Region::beside`] moves coordinate `k`.
    pub fn nudge(&self, k: usize) -> f64 {
        let s = &self.spans[k];
        1e-6 * [0.37, 0.61, 0.83][k] * (s.high - s.low) / (s.count - 1) as f64
    }

    /// The pose at a point of the region.
    pub fn pose(&self, point: &[f64]) -> Pose<f64> {
        // Without angles there is nothing to compose.
        if self.spans.iter().all(|s| !s.coordinate.is_angle()) {
            let mut pose = self.base;
            self.spans.iter().zip(point).for_each(|(s, x)| pose.p[s.coordinate.index()] = *x);
            return pose;
        }
        let given: Vec<(Coordinate, f64)> = self.spans.iter().zip(point).map(|(s, x)| (s.coordinate, *x)).collect();
        self.chart.pose_with(&self.base, &given)
    }

    /// What the coordinates that are not spanned are.
    pub fn fixed(&self, model: &Model<f64>) -> Vec<(Coordinate, f64)> {
        let all = self.chart.coordinates(&self.base);
        let spanned = |c: &Coordinate| self.spans.iter().any(|s| s.coordinate == *c);
        let independent = &model.topology().platform.independent;
        independent.iter().filter(|c| !spanned(c)).map(|c| (*c, all[c.index()])).collect()
    }

    /// Length, area or volume that a node stands for: half a step at the ends.
    pub fn weight(&self, node: usize) -> f64 {
        let place = self.indices(node);
        let share = |(k, s): (usize, &CoordinateSpan)| {
            let step = (s.high - s.low) / (s.count - 1) as f64;
            if place[k] == 0 || place[k] + 1 == s.count { 0.5 * step } else { step }
        };
        self.spans.iter().enumerate().map(share).product()
    }
}

impl CoordinateSpan {
    /// Value number `i`.
    pub fn value(&self, i: usize) -> f64 {
        let s = i as f64 / (self.count - 1) as f64;
        self.low * (1.0 - s) + self.high * s
    }

    /// All values.
    pub fn values(&self) -> Vec<f64> {
        (0..self.count).map(|i| self.value(i)).collect()
    }
}
