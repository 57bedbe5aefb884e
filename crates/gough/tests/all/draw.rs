//! Random robots: a seed becomes the text of a robot file. Joints are put into the world where they stand at home, so that
//! every loop closes there by construction; only then are frames, zeros and masses chosen. It shares nothing with the library.
#![allow(dead_code, clippy::cast_possible_truncation, clippy::trivially_copy_pass_by_ref)]

use std::f64::consts::TAU;
use std::fmt::Write as _;

/// A small generator of random numbers (SplitMix64).
#[derive(Clone)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66)
    }
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// Between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// Below a count.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    /// With a probability.
    pub fn happens(&mut self, p: f64) -> bool {
        self.between(0.0, 1.0) < p
    }
    /// One of a list.
    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
    fn vector(&mut self, size: f64) -> V {
        [0; 3].map(|_| self.between(-size, size))
    }
    fn unit(&mut self) -> V {
        loop {
            let v = self.vector(1.0);
            if (0.2..1.0).contains(&norm(v)) {
                return times(1.0 / norm(v), v);
            }
        }
    }
    fn rotation(&mut self, most: f64) -> M {
        turn(self.unit(), self.between(-most, most))
    }
    /// An order of the first numbers.
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, self.below(i + 1)));
        order
    }
}

pub type V = [f64; 3];
/// Rows.
pub type M = [V; 3];
const ONE: M = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn plus(a: V, b: V) -> V {
    [0, 1, 2].map(|i| a[i] + b[i])
}
fn times(k: f64, a: V) -> V {
    a.map(|x| k * x)
}
fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn norm(a: V) -> f64 {
    dot(a, a).sqrt()
}
fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn transposed(a: M) -> M {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| a[j][i]))
}
/// A matrix times a vector.
pub fn apply(a: M, v: V) -> V {
    a.map(|row| dot(row, v))
}
fn product(a: M, b: M) -> M {
    let t = transposed(b);
    a.map(|row| t.map(|column| dot(row, column)))
}
/// A rotation about an axis.
pub fn turn(u: V, q: f64) -> M {
    let (s, c) = q.sin_cos();
    let [x, y, z] = u;
    let k = 1.0 - c;
    [
        [c + x * x * k, x * y * k - z * s, x * z * k + y * s],
        [x * y * k + z * s, c + y * y * k, y * z * k - x * s],
        [x * z * k - y * s, y * z * k + x * s, c + z * z * k],
    ]
}
fn rpy(a: M) -> V {
    let across = a[0][0].hypot(a[1][0]);
    let pitch = (-a[2][0]).atan2(across);
    if across < 1e-9 {
        return [0.0, pitch, (-a[0][1]).atan2(a[1][1])]; // roll and yaw turn about one axis
    }
    [a[2][1].atan2(a[2][2]), pitch, a[1][0].atan2(a[0][0])]
}
fn square(z: V) -> V {
    let k = (0..3).min_by(|a, b| z[*a].abs().total_cmp(&z[*b].abs())).unwrap_or(0);
    let x = cross(z, ONE[k]);
    times(1.0 / norm(x), x)
}

/// A frame: axes and origin.
#[derive(Clone, Copy)]
pub struct Frame {
    pub R: M,
    pub p: V,
}

impl Frame {
    pub const WORLD: Frame = Frame { R: ONE, p: [0.0; 3] };
    pub fn then(self, b: Frame) -> Frame {
        Frame { R: product(self.R, b.R), p: plus(self.p, apply(self.R, b.p)) }
    }
    fn inverse(self) -> Frame {
        let t = transposed(self.R);
        Frame { R: t, p: times(-1.0, apply(t, self.p)) }
    }
}

/// Kinds of joint; `F` holds two bodies together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    R,
    P,
    U,
    S,
    C,
    Pi,
    F,
}

/// A joint between two neighbours of a leg, as it stands in the world at home.
#[derive(Clone)]
struct Joint {
    kind: Kind,
    point: V,
    /// Axis, and the second axis of a U.
    axes: [V; 2],
    /// Values at home.
    home: V,
    driven: bool,
    rotor: f64,
    friction: f64,
}

/// Mass, centre of mass from the frame's origin and inertia there, in world axes at home.
#[derive(Clone, Copy)]
struct Mass {
    m: f64,
    com: V,
    I: M,
}

#[derive(Clone)]
struct Body {
    /// World axes of its frame at home.
    R: M,
    mass: Option<Mass>,
    bar: Option<Mass>,
}

/// Two bars beside a driven joint, which drive it in its place: an inner loop.
#[derive(Clone)]
struct Dyad {
    joint: usize,
    /// On the parent, between the bars, on the child.
    points: [V; 3],
    homes: [f64; 2],
    bodies: [Body; 2],
}

/// A chain from the base to the platform, cut at one of its joints.
#[derive(Clone)]
struct Leg {
    joints: Vec<Joint>,
    /// One fewer than joints.
    bodies: Vec<Body>,
    cut: usize,
    dyad: Option<Dyad>,
    /// It ends at the last body of another leg and not at the platform.
    ends_on: Option<usize>,
}

/// What the platform can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    Planar,
    Spatial,
    Translation,
    /// z and two rotations; the others follow.
    Follow,
    Spherical,
}

/// A robot as it stands at home.
#[derive(Clone)]
pub struct Sketch {
    pub motion: Motion,
    legs: Vec<Leg>,
    platform: Frame,
    mass: Mass,
    gravity: V,
    base: Frame,
    pub size: f64,
}

/// How a sketch is written: none of this may change what the robot does.
#[derive(Clone)]
pub struct Style {
    /// Where the legs stand in the file.
    pub order: Vec<usize>,
    /// Moves and turns the world.
    pub world: Frame,
    /// Lengths times this.
    pub scale: f64,
    /// Put before names.
    pub prefix: &'static str,
    /// The platform coordinates, where they are not those of the sketch.
    pub coordinates: Option<[&'static str; 3]>,
}

fn joint(kind: Kind, point: V, axis: V, chance: &mut Chance) -> Joint {
    let second = apply(turn(axis, chance.between(0.0, TAU)), square(axis));
    let home = chance.vector(1.2);
    Joint { kind, point, axes: [axis, second], home, driven: false, rotor: 0.0, friction: 0.0 }
}

fn mass(size: f64, chance: &mut Chance) -> Mass {
    let m = 10_f64.powf(chance.between(-1.0, 1.0));
    let com = chance.vector(0.3 * size);
    // Six point masses on axes turned at random.
    let R = chance.rotation(3.0);
    let radii = chance.vector(0.2 * size).map(|x| x * x + 1e-4 * size * size);
    let D = [0, 1, 2].map(|i| {
        let mut row = [0.0; 3];
        row[i] = m * (radii[(i + 1) % 3] + radii[(i + 2) % 3]);
        row
    });
    Mass { m, com, I: product(product(R, D), transposed(R)) }
}

fn body(size: f64, aligned: bool, chance: &mut Chance) -> Body {
    let R = if aligned { ONE } else { chance.rotation(3.0) };
    Body { R, mass: chance.happens(0.85).then(|| mass(size, chance)), bar: None }
}

/// Joints of legs by the freedom they leave, as words.
const PLANAR: [&str; 9] = ["RRR", "RPR", "PRR", "RRP", "RPR", "RRR", "PRR", "PPR", "PRP"];
const SPATIAL: [&str; 20] = [
    "UPS", "SPU", "PUS", "RUS", "UPS", "RUS", "RCS", "CRS", "PRRS", "RRRS", "RRPS", "RPRS", "UCU", "RPUU", "PRUU",
    "DUS", "DRRS", "RRRRRR", "PPRS", "RRPRRR",
];
const IDLE: [&str; 3] = ["SPS", "PSS", "RSS"];

fn kinds(word: &str) -> Vec<Kind> {
    let kind = |c| match c {
        'R' => Kind::R,
        'P' => Kind::P,
        'U' => Kind::U,
        'S' => Kind::S,
        'C' => Kind::C,
        'D' => Kind::Pi,
        _ => Kind::F,
    };
    word.chars().map(kind).collect()
}

impl Sketch {
    pub fn draw(seed: u64) -> Self {
        let chance = &mut Chance::new(seed);
        let motion = *chance.of(&[
            Motion::Planar,
            Motion::Planar,
            Motion::Planar,
            Motion::Spatial,
            Motion::Spatial,
            Motion::Spatial,
            Motion::Translation,
            Motion::Follow,
            Motion::Spherical,
        ]);
        let size = 10_f64.powf(chance.between(-1.0, 1.0));
        let aligned = chance.happens(0.3);
        let freedoms = if motion == Motion::Spatial { 6 } else { 3 };
        let count = match motion {
            Motion::Planar | Motion::Spatial => *chance.of(&[1, 2, 3, 3, 3, freedoms, freedoms, freedoms, 4, 5, 7, 8]),
            _ => 3,
        };
        let platform = match motion {
            Motion::Planar => {
                let [x, y, _] = chance.vector(0.2 * size);
                Frame { R: turn([0.0, 0.0, 1.0], chance.between(-1.5, 1.5)), p: [x, y, 0.0] }
            }
            Motion::Translation | Motion::Follow => {
                Frame { R: ONE, p: plus(chance.vector(0.1 * size), [0.0, 0.0, size]) }
            }
            Motion::Spatial | Motion::Spherical => {
                Frame { R: chance.rotation(0.5), p: plus(chance.vector(0.2 * size), [0.0, 0.0, size]) }
            }
        };
        let base = match motion {
            Motion::Planar => {
                let [x, y, _] = chance.vector(size);
                Frame { R: turn([0.0, 0.0, 1.0], chance.between(-3.0, 3.0)), p: [x, y, 0.0] }
            }
            Motion::Spatial | Motion::Spherical => Frame { R: chance.rotation(3.0), p: chance.vector(size) },
            _ => Frame::WORLD,
        };
        let base = if aligned { Frame::WORLD } else { base };
        let mut sketch = Sketch {
            motion,
            legs: Vec::new(),
            platform,
            mass: mass(0.5 * size, chance),
            gravity: if chance.happens(0.8) { times(9.81, chance.unit()) } else { [0.0; 3] },
            base,
            size,
        };
        for i in 0..count {
            let drives = freedoms / count + usize::from(i < freedoms % count);
            let leg = sketch.leg(i, count, drives.max(1), aligned, chance);
            sketch.legs.push(leg);
        }
        sketch.spice(chance);
        sketch
    }

    /// Number of legs.
    pub fn count(&self) -> usize {
        self.legs.len()
    }

    /// The kinds of joints, leg by leg, for people.
    pub fn words(&self) -> String {
        let leg = |l: &Leg| {
            let mut word: String =
                l.joints.iter().map(|j| format!("{:?}{}", j.kind, if j.driven { "*" } else { "" })).collect();
            let _ = write!(word, "|{}{}", l.cut, if l.dyad.is_some() { "+loop" } else { "" });
            l.ends_on.map_or(word.clone(), |k| format!("{word}>{k}"))
        };
        format!("{:?} {}", self.motion, self.legs.iter().map(leg).collect::<Vec<_>>().join(" "))
    }

    /// What few robots have: a drive fewer, a drive more, a leg that ends on another.
    fn spice(&mut self, chance: &mut Chance) {
        let n = self.legs.len();
        if chance.happens(0.03) {
            let leg = chance.below(n);
            self.legs[leg].joints.iter_mut().for_each(|j| j.driven = false);
        }
        if n > 1 && chance.happens(0.08) && matches!(self.motion, Motion::Planar | Motion::Spatial) {
            let (a, b) = (chance.below(n), chance.below(n));
            // The other leg must be reached from the base.
            if a != b && self.legs[b].cut + 1 == self.legs[b].joints.len() && self.legs[b].ends_on.is_none() {
                self.legs[a].ends_on = Some(b);
            }
        }
        // One drive of several: the pose leaves the leg open, or nothing holds the platform.
        let is_driven = |j: &&mut Joint| j.driven;
        let several: Vec<usize> =
            (0..n).filter(|k| self.legs[*k].joints.iter().filter(|j| j.driven).count() > 1).collect();
        if !several.is_empty() && chance.happens(0.15) {
            let leg = *chance.of(&several);
            let first = chance.happens(0.5);
            let mut drives = self.legs[leg].joints.iter_mut().filter(is_driven);
            let idle = if first { drives.next() } else { drives.last() };
            idle.into_iter().for_each(|j| j.driven = false);
        }
    }

    fn leg(&self, i: usize, count: usize, drives: usize, aligned: bool, chance: &mut Chance) -> Leg {
        let word = match self.motion {
            Motion::Planar => *chance.of(&PLANAR),
            Motion::Spatial if drives == 1 && chance.happens(0.1) => *chance.of(&IDLE),
            Motion::Spatial => {
                let enough = |w: &&&str| w.chars().filter(|c| "RPD".contains(*c)).count() >= drives;
                let words: Vec<&str> = SPATIAL.iter().filter(enough).copied().collect();
                *chance.of(&words)
            }
            Motion::Translation => "PRRR",
            Motion::Follow => *chance.of(&["RPS", "PRS", "RRS"]),
            Motion::Spherical => "RRR",
        };
        let mut kinds = kinds(word);
        if self.motion == Motion::Planar && count > 1 && chance.happens(0.03) {
            kinds.insert(0, Kind::P); // one more than needed
        }
        let points = self.points(i, count, kinds.len(), chance);
        let joints: Vec<Joint> =
            kinds.iter().zip(&points).map(|(k, p)| joint(*k, *p, self.axis(*k, i, chance), chance)).collect();
        let mut leg = Leg { joints, bodies: Vec::new(), cut: 0, dyad: None, ends_on: None };
        if aligned {
            leg.joints.iter_mut().for_each(|j| j.home = [0.0; 3]);
        }
        self.drive(&mut leg, drives + usize::from(kinds.len() == 4 && self.motion == Motion::Planar), chance);
        // Slides start at some length; second joints stay clear of a right angle.
        for j in &mut leg.joints {
            let slides = j.kind == Kind::P;
            j.home = if slides { times(self.size, j.home) } else { j.home };
            if j.kind == Kind::C {
                j.home[1] *= self.size;
            }
        }
        let closing = |j: &Joint| !j.driven && j.kind != Kind::Pi;
        let can: Vec<usize> = (0..leg.joints.len()).filter(|k| closing(&leg.joints[*k])).collect();
        if let Some(last) = can.last() {
            leg.cut = if chance.happens(0.75) { *last } else { *chance.of(&can) };
        } else {
            leg.cut = leg.joints.len();
            let end = leg.joints[leg.cut - 1].point;
            leg.joints.push(joint(Kind::F, end, [0.0, 0.0, 1.0], chance));
        }
        leg.bodies = (1..leg.joints.len()).map(|_| body(0.3 * self.size, aligned, chance)).collect();
        for (k, _) in leg.joints.iter().enumerate().filter(|(_, j)| j.kind == Kind::Pi) {
            // The bar is the way to the next joint; its end is the body.
            let own = if k < leg.cut { k } else { k - 1 };
            leg.bodies[own].bar = Some(mass(0.3 * self.size, chance));
        }
        let inner = leg.joints[0].kind == Kind::R && leg.joints[0].driven && leg.cut > 0;
        if inner && self.motion != Motion::Spherical && chance.happens(0.15) {
            leg.dyad = Some(self.dyad(&leg.joints[0], aligned, chance));
        }
        leg
    }

    /// Where the joints of a leg stand: on the base, between, and on the platform.
    fn points(&self, i: usize, count: usize, n: usize, chance: &mut Chance) -> Vec<V> {
        let angle = TAU * (i as f64 + chance.between(-0.25, 0.25)) / count as f64;
        let around = |r: f64| [r * angle.cos(), r * angle.sin(), 0.0];
        let flat = self.motion == Motion::Planar;
        if self.motion == Motion::Spherical {
            return vec![self.platform.p; n];
        }
        let start = plus(
            around(self.size * chance.between(0.6, 1.2)),
            if flat { [0.0; 3] } else { chance.vector(0.1 * self.size) },
        );
        let mut end = times(self.size * chance.between(0.2, 0.5), [(angle + 0.5).cos(), (angle + 0.5).sin(), 0.0]);
        end = plus(
            self.platform.p,
            if flat { end } else { apply(self.platform.R, plus(end, chance.vector(0.05 * self.size))) },
        );
        let between = |k: usize, chance: &mut Chance| {
            let s = k as f64 / (n - 1) as f64;
            let mut aside = chance.vector(0.4 * self.size);
            aside[2] *= f64::from(u8::from(!flat));
            plus(plus(times(1.0 - s, start), times(s, end)), aside)
        };
        (0..n)
            .map(|k| {
                if k == 0 {
                    start
                } else if k + 1 == n {
                    end
                } else {
                    between(k, chance)
                }
            })
            .collect()
    }

    fn axis(&self, kind: Kind, i: usize, chance: &mut Chance) -> V {
        match self.motion {
            Motion::Planar if kind == Kind::R => [0.0, 0.0, if chance.happens(0.8) { 1.0 } else { -1.0 }],
            Motion::Planar => {
                let a = chance.between(0.0, TAU);
                [a.cos(), a.sin(), 0.0]
            }
            Motion::Translation => ONE[i % 3],
            // Hinges across the way to the middle; slides in the plane of the leg.
            Motion::Follow => {
                let angle = TAU * i as f64 / 3.0;
                if kind == Kind::P {
                    let tilt = chance.between(-0.4, 0.4);
                    [tilt.sin() * angle.cos(), tilt.sin() * angle.sin(), tilt.cos()]
                } else {
                    [-angle.sin(), angle.cos(), 0.0]
                }
            }
            Motion::Spatial | Motion::Spherical => {
                if chance.happens(0.3) {
                    ONE[chance.below(3)]
                } else {
                    chance.unit()
                }
            }
        }
    }

    /// Drives on joints that can have one, nearest to the base first.
    fn drive(&self, leg: &mut Leg, drives: usize, chance: &mut Chance) {
        let can = |j: &Joint| matches!(j.kind, Kind::R | Kind::P | Kind::Pi);
        let mut able: Vec<usize> = (0..leg.joints.len()).filter(|k| can(&leg.joints[*k])).collect();
        if self.motion == Motion::Translation {
            able = vec![0];
        } else if able.len() > drives && drives == 1 && chance.happens(0.25) {
            able.remove(0);
        }
        for k in able.into_iter().take(drives) {
            leg.joints[k].driven = true;
            leg.joints[k].rotor = if chance.happens(0.3) { chance.between(0.0, 1.0) } else { 0.0 };
            leg.joints[k].friction = if chance.happens(0.2) { chance.between(0.0, 1.0) } else { 0.0 };
        }
    }

    fn dyad(&self, joint: &Joint, aligned: bool, chance: &mut Chance) -> Dyad {
        let axis = joint.axes[0];
        let across = square(axis);
        let mut near =
            |r: f64| plus(joint.point, apply(turn(axis, chance.between(0.0, TAU)), times(r * self.size, across)));
        let points = [near(0.3), near(0.4), near(0.25)];
        let homes = [chance.between(-1.0, 1.0), chance.between(-1.0, 1.0)];
        let bodies = [body(0.1 * self.size, aligned, chance), body(0.1 * self.size, aligned, chance)];
        Dyad { joint: 0, points, homes: if aligned { [0.0; 2] } else { homes }, bodies }
    }

    /// The style that changes nothing.
    pub fn plainly(&self) -> Style {
        Style { order: (0..self.legs.len()).collect(), world: Frame::WORLD, scale: 1.0, prefix: "b", coordinates: None }
    }

    /// Another style: order of legs, place and plane, unit of length or names.
    pub fn restyled(&self, chance: &mut Chance) -> (&'static str, Style) {
        let mut style = self.plainly();
        let what = match chance.below(5) {
            0 => {
                style.order = chance.order(self.legs.len());
                "order"
            }
            1 => {
                style.scale = 10_f64.powf(chance.between(-1.0, 1.0));
                "scale"
            }
            2 => {
                style.prefix = *chance.of(&["w", "x", "q", "leg", "Z9", "phi"]);
                "names"
            }
            _ if self.motion == Motion::Planar && chance.happens(0.6) => {
                // A platform whose own z is the normal turns about y by its pitch; about x it could not turn by its roll.
                style.world = Frame { R: [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], p: [0.0; 3] };
                style.coordinates = Some(["x", "z", "ry"]);
                "plane"
            }
            _ => {
                let aside = chance.vector(self.size);
                let z = turn([0.0, 0.0, 1.0], chance.between(-3.0, 3.0));
                style.world = match self.motion {
                    Motion::Planar => Frame { R: z, p: [aside[0], aside[1], 0.0] },
                    Motion::Spatial => Frame { R: chance.rotation(0.8), p: aside },
                    Motion::Follow => Frame { R: z, p: aside },
                    Motion::Translation | Motion::Spherical => Frame { R: ONE, p: aside },
                };
                "world"
            }
        };
        (what, style)
    }

    /// The robot file.
    pub fn write(&self, style: &Style) -> String {
        Writer { sketch: self, style, text: String::new(), near: Vec::new() }.write()
    }

    /// The platform at home in a style.
    pub fn home(&self, style: &Style) -> Frame {
        let E = style.world.then(self.platform);
        Frame { p: times(style.scale, E.p), ..E }
    }
}

/// A node of the tree while it is written.
#[derive(Clone)]
struct Node {
    name: String,
    at: Frame,
}

struct Writer<'a> {
    sketch: &'a Sketch,
    style: &'a Style,
    text: String,
    near: Vec<(String, f64)>,
}

fn list(v: V) -> String {
    format!("[{:?}, {:?}, {:?}]", tidy(v[0]), tidy(v[1]), tidy(v[2]))
}

/// Rounding of products of rotations is no number of the robot.
fn tidy(x: f64) -> f64 {
    if x.abs() < 1e-15 { 0.0 } else { x }
}

impl Writer<'_> {
    fn write(mut self) -> String {
        let (sketch, style) = (self.sketch, self.style);
        let E = sketch.home(style);
        let base = style.world.then(sketch.base);
        let base = Node { name: "base".to_owned(), at: Frame { p: times(style.scale, base.p), ..base } };
        let platform = Node { name: "platform".to_owned(), at: E };
        let mut tips: Vec<Node> = vec![platform.clone(); sketch.legs.len()];
        // Legs that others end on come first: names must be known.
        let mut order = style.order.clone();
        order.sort_by_key(|k| sketch.legs[*k].ends_on.is_some());
        for k in order {
            let leg = &sketch.legs[k];
            let end = leg.ends_on.map_or_else(|| platform.clone(), |j| tips[j].clone());
            tips[k] = self.leg(k, leg, &base, &end);
        }
        let angles = rpy(E.R);
        let six: Vec<(&str, f64)> =
            ["x", "y", "z", "rx", "ry", "rz"].into_iter().zip(E.p.into_iter().chain(angles)).collect();
        let (coordinates, home): (String, Vec<&str>) = match (sketch.motion, style.coordinates) {
            (_, Some(names)) => (format!("{names:?}"), vec!["x", "y", "z", "rx", "ry", "rz"]),
            (Motion::Planar, _) => ("\"planar\"".to_owned(), vec!["x", "y", "rz"]),
            (Motion::Spatial, _) => ("\"spatial\"".to_owned(), vec!["x", "y", "z", "rx", "ry", "rz"]),
            (Motion::Translation, _) => ("\"translation\"".to_owned(), vec!["x", "y", "z"]),
            (Motion::Follow, _) => ("[\"z\", \"rx\", \"ry\"]".to_owned(), vec!["x", "y", "z", "rx", "ry", "rz"]),
            (Motion::Spherical, _) => ("[\"rx\", \"ry\", \"rz\"]".to_owned(), vec!["x", "y", "z", "rx", "ry", "rz"]),
        };
        let planar = style.coordinates.is_none() && sketch.motion == Motion::Planar;
        let home: Vec<String> = six
            .iter()
            .filter(|(n, _)| home.contains(n))
            .map(|(n, x)| format!("{} = {:?}", if planar && *n == "rz" { "phi" } else { n }, tidy(*x)))
            .collect();
        let near: Vec<String> = self.near.iter().map(|(n, q)| format!("\"{n}\" = {q:?}")).collect();
        let g = times(style.scale, apply(style.world.R, sketch.gravity));
        format!(
            "[robot]\nname = \"drawn\"\ngravity = {}\nhome = {{ {} }}\nnear = {{ {} }}\n\n[base]\nframe = {{ {} }}\n\n[platform]\ncoordinates = {coordinates}\n{}\n{}",
            list(g),
            home.join(", "),
            near.join(", "),
            frame(&base.at),
            self.mass_text(&sketch.mass, E.R).replace(", inertia", "\ninertia").replace(", com", "\ncom"),
            self.text
        )
    }

    fn place(&self, p: V) -> V {
        times(self.style.scale, plus(self.style.world.p, apply(self.style.world.R, p)))
    }

    fn axis(&self, a: V) -> V {
        apply(self.style.world.R, a)
    }

    /// The bodies and closures of a leg; its last body, seen from the base.
    fn leg(&mut self, k: usize, leg: &Leg, base: &Node, end: &Node) -> Node {
        let name = |i: usize| format!("{}{}n{}", self.style.prefix, k + 1, i + 1);
        let names: Vec<String> = (0..leg.bodies.len()).map(name).collect();
        let mut near_base = base.clone();
        for i in 0..leg.cut {
            let parent = near_base.clone();
            near_base = self.body(&names[i], &parent, &leg.joints[i], &leg.bodies[i], leg.dyad.is_none() || i > 0);
            if let Some(dyad) = leg.dyad.as_ref().filter(|_| i == 0) {
                self.dyad(&names[0], dyad, &leg.joints[0], &parent, &near_base);
            }
        }
        let mut near_end = end.clone();
        for i in (leg.cut + 1..leg.joints.len()).rev() {
            near_end = self.body(&names[i - 1], &near_end.clone(), &leg.joints[i], &leg.bodies[i - 1], true);
        }
        self.closure(&leg.joints[leg.cut], &near_base, &near_end);
        near_base
    }

    /// A body row, placed so that at its home values the joint puts the body where it stands.
    fn body(&mut self, name: &str, parent: &Node, joint: &Joint, body: &Body, may_drive: bool) -> Node {
        let at = Frame { R: product(self.style.world.R, body.R), p: self.place(joint.point) };
        let [a, b] = joint.axes.map(|a| apply(transposed(at.R), self.axis(a)));
        let (q, s) = (joint.home, self.style.scale);
        // The bar of a parallelogram leads from its hinge to the body; of the many across the axis it is one that the style
        // cannot change by rounding.
        let bar = times(0.3 * self.sketch.size * s, square(apply(transposed(body.R), joint.axes[0])));
        let motion = match joint.kind {
            Kind::R => Frame { R: turn(a, q[0]), p: [0.0; 3] },
            Kind::P => Frame { R: ONE, p: times(q[0] * s, a) },
            Kind::U => Frame { R: product(turn(a, q[0]), turn(b, q[1])), p: [0.0; 3] },
            Kind::S => {
                Frame { R: product(product(turn(ONE[0], q[0]), turn(ONE[1], q[1])), turn(ONE[2], q[2])), p: [0.0; 3] }
            }
            Kind::C => Frame { R: turn(a, q[0]), p: times(q[1] * s, a) },
            Kind::Pi => Frame { R: ONE, p: apply(turn(a, q[0]), bar) },
            Kind::F => Frame::WORLD,
        };
        let placed = parent.at.inverse().then(at).then(motion.inverse());
        let word = if joint.kind == Kind::F { "fixed".to_owned() } else { format!("{:?}", joint.kind) };
        let mut row = format!(
            "[[body]]\nname = \"{name}\"\non = \"{}\"\njoint = \"{word}\"\nframe = {{ {} }}\n",
            parent.name,
            frame(&placed)
        );
        if !matches!(joint.kind, Kind::F | Kind::S) {
            let _ = writeln!(row, "axis = {}", list(a));
        }
        if joint.kind == Kind::U {
            // The second axis as the file has it: at zero of the first.
            let _ = writeln!(row, "axis2 = {}", list(b));
        }
        if let (Kind::Pi, bar_mass) = (joint.kind, body.bar) {
            let mass = bar_mass.map_or_else(String::new, |m| format!(", {}", self.mass_text(&m, self.style.world.R)));
            let _ = writeln!(row, "bar = {{ vector = {}{mass} }}", list(bar));
        }
        if joint.driven && may_drive {
            let unit = if joint.kind == Kind::P { 1.0 } else { s * s };
            let damping = joint.friction * unit;
            let _ = writeln!(
                row,
                "drive = {{ rotor_inertia = {:?} }}",
                joint.rotor * unit * if joint.kind == Kind::P { 1.0 } else { self.sketch.size.powi(2) }
            );
            if damping > 0.0 {
                let _ = writeln!(row, "friction = {{ viscous = {damping:?} }}");
            }
        }
        if let Some(mass) = &body.mass {
            let _ = writeln!(
                row,
                "{}",
                self.mass_text(mass, at.R).replace(", inertia", "\ninertia").replace(", com", "\ncom")
            );
        }
        self.text.push_str(row.as_ref());
        self.text.push('\n');
        let values: Vec<f64> = match joint.kind {
            Kind::P => vec![q[0] * s],
            Kind::R | Kind::Pi => vec![q[0]],
            Kind::U => vec![q[0], q[1]],
            Kind::S => q.to_vec(),
            Kind::C => vec![q[0], q[1] * s],
            Kind::F => Vec::new(),
        };
        let single = values.len() == 1;
        for (i, value) in values.into_iter().enumerate() {
            let part = if single { name.to_owned() } else { format!("{name}.{}", i + 1) };
            self.near.push((part, value));
        }
        Node { name: name.to_owned(), at }
    }

    fn dyad(&mut self, name: &str, dyad: &Dyad, joint: &Joint, parent: &Node, child: &Node) {
        let hinge = |point: V, home: f64, driven: bool| Joint {
            kind: Kind::R,
            point,
            home: [home, 0.0, 0.0],
            driven,
            ..joint.clone()
        };
        let [d, m, c] = dyad.points;
        let first = self.body(&format!("{name}d"), parent, &hinge(d, dyad.homes[0], true), &dyad.bodies[0], true);
        let second = self.body(&format!("{name}c"), &first, &hinge(m, dyad.homes[1], false), &dyad.bodies[1], true);
        self.closure(&hinge(c, 0.0, false), &second, child);
    }

    fn closure(&mut self, joint: &Joint, a: &Node, b: &Node) {
        let point = self.place(joint.point);
        let [first, second] = joint.axes.map(|x| self.axis(x));
        let word = if joint.kind == Kind::F { "fixed".to_owned() } else { format!("{:?}", joint.kind) };
        // Fixed joints and slides need whole frames that agree; others an axis each.
        let whole = matches!(joint.kind, Kind::F | Kind::P);
        let axes = {
            let x = square(first);
            transposed([x, cross(first, x), first])
        };
        let side = |node: &Node, axis: V| {
            let placed = node.at.inverse().then(Frame { R: if whole { axes } else { node.at.R }, p: point });
            if whole {
                format!("{{ body = \"{}\", frame = {{ {} }} }}", node.name, frame(&placed))
            } else {
                let axis = apply(transposed(node.at.R), axis);
                format!("{{ body = \"{}\", point = {}, axis = {} }}", node.name, list(placed.p), list(axis))
            }
        };
        let other = if joint.kind == Kind::U { second } else { first };
        let _ =
            writeln!(self.text, "[[closure]]\njoint = \"{word}\"\na = {}\nb = {}\n", side(a, first), side(b, other));
    }

    /// Mass data in the axes of a body.
    fn mass_text(&self, mass: &Mass, R: M) -> String {
        let s = self.style.scale;
        // In the sketch they are in world axes at home, before the style turned the world.
        let T = product(transposed(R), self.style.world.R);
        let I = product(product(T, mass.I), transposed(T)).map(|row| times(s * s, row));
        format!(
            "mass = {:?}, com = {}, inertia = {{ at = \"com\", xx = {:?}, yy = {:?}, zz = {:?}, xy = {:?}, xz = {:?}, yz = {:?} }}",
            mass.m,
            list(times(s, apply(T, mass.com))),
            I[0][0],
            I[1][1],
            I[2][2],
            tidy(I[0][1]),
            tidy(I[0][2]),
            tidy(I[1][2])
        )
    }
}

fn frame(at: &Frame) -> String {
    format!("xyz = {}, rpy = {}", list(at.p), list(rpy(at.R)))
}
