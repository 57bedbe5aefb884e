//! Lines in Plücker coordinates and how sets of them depend on each other (section 7.5.4.2).
//!
//! Two lines meet where the product `u₁·m₂ + u₂·m₁` is zero; a vector `[u; m]` is a line where its product with itself
//! is. The signature of that product on the span of the lines, or on what is reciprocal to it, gives the class.

use crate::linalg::RANK_TOLERANCE;
use crate::linalg::dense::{Matrix, svd};
use crate::scalar::Real;
use crate::spatial::{Twist, Vec3, Wrench};

/// A homogeneous point: `p / w`, or at infinity in the direction `p` when `w` is zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HomogeneousPoint<S: Real> {
    /// Position times `w`, or direction.
    pub p: Vec3<S>,
    /// Zero at infinity.
    pub w: S,
}

impl<S: Real> HomogeneousPoint<S> {
    /// The point at `p`.
    pub fn at(p: Vec3<S>) -> Self {
        Self { p, w: S::one() }
    }

    /// The point at infinity in the direction `u`.
    pub fn toward(u: Vec3<S>) -> Self {
        Self { p: u, w: S::zero() }
    }
}

/// Plücker coordinates `(u, m)` of the line through two points: `u = a₄ b - b₄ a`, `m = a × b`.
pub fn pluecker<S: Real>(a: HomogeneousPoint<S>, b: HomogeneousPoint<S>) -> (Vec3<S>, Vec3<S>) {
    (b.p * a.w - a.p * b.w, a.p.cross(&b.p))
}

/// A line (7.199): unit direction `u` and moment `m = r × u` about the origin; at infinity `u` is zero and `m` a unit
/// vector, the normal of all planes through it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// Direction.
    pub u: Vec3<f64>,
    /// Moment about the origin.
    pub m: Vec3<f64>,
}

impl Line {
    /// The line through the point `r` along `u`; `None` without a direction.
    pub fn along(r: Vec3<f64>, u: Vec3<f64>) -> Option<Self> {
        Self::through(HomogeneousPoint::at(r), HomogeneousPoint::toward(u))
    }

    /// The line through two points; `None` when they are one.
    pub fn through(a: HomogeneousPoint<f64>, b: HomogeneousPoint<f64>) -> Option<Self> {
        let (u, m) = pluecker(a, b);
        // How large the coordinates of two points far apart would be.
        let size = a.p.norm() * b.p.norm() + a.p.norm() * b.w.abs() + a.w.abs() * b.p.norm() + (a.w * b.w).abs();
        let apart = u.norm() + m.norm() > 1e-14 * size;
        if apart { Self::unit(u, m, 1e-14 * m.norm()) } else { None }
    }

    /// Where a wrench acts: the line of a force, or at infinity for a moment. `None` when it has a pitch; lengths are
    /// compared with `length`.
    pub fn of_wrench(F: Wrench<f64>, length: f64) -> Option<Self> {
        let (f, m) = (F.f * length, F.m);
        let straight = f.dot(&m).abs() <= RANK_TOLERANCE * f.norm() * (f.norm() + m.norm());
        if straight { Self::unit(F.f, F.m, RANK_TOLERANCE * m.norm() / length) } else { None }
    }

    /// The axis of a rotation, or at infinity for a translation, whose direction is then `m`. `None` when it has a pitch.
    pub fn of_twist(V: Twist<f64>, length: f64) -> Option<Self> {
        Self::of_wrench(Wrench { f: V.w, m: V.v }, length)
    }

    /// At unit length, at infinity when `u` is not longer than `zero`.
    fn unit(u: Vec3<f64>, m: Vec3<f64>, zero: f64) -> Option<Self> {
        let size = u.norm();
        let line = if size > zero {
            let u = u / size;
            let m = m / size;
            Self { u, m: m - u * u.dot(&m) }
        } else {
            Self { u: Vec3::zeros(), m: m / m.norm() }
        };
        (line.u + line.m).iter().all(|x| x.is_finite()).then_some(line)
    }

    /// At infinity.
    pub fn is_at_infinity(&self) -> bool {
        self.u == Vec3::zeros()
    }

    /// `u₁·m₂ + u₂·m₁`: zero for lines that meet, points at infinity included.
    pub fn product(&self, other: &Self) -> f64 {
        self.u.dot(&other.m) + other.u.dot(&self.m)
    }

    /// The point nearest to the origin; `None` at infinity.
    pub fn foot(&self) -> Option<Vec3<f64>> {
        (!self.is_at_infinity()).then(|| self.u.cross(&self.m))
    }
}

/// Linear varieties of lines, by rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// 0: no line.
    Nothing,
    /// 1: one line.
    Line,
    /// 2a: two skew lines.
    SkewPair,
    /// 2b: coplanar lines through one point, or coplanar and parallel.
    FlatPencil,
    /// 3a: lines that meet three skew lines.
    Regulus,
    /// 3b: two flat pencils that share a line.
    TwoPencils,
    /// 3c: all lines through a point, or all of one direction.
    Bundle,
    /// 3d: all lines in a plane.
    Plane,
    /// 4a: elliptic congruence; no line meets all of them.
    Elliptic,
    /// 4b: hyperbolic congruence; all meet two skew lines.
    Hyperbolic,
    /// 4c: parabolic congruence; pencils that share a line.
    Parabolic,
    /// 4d: all lines in a plane or through a point of it.
    Degenerate,
    /// 5a: linear complex; no line meets all of them.
    Complex,
    /// 5b: all lines that meet a line.
    SingularComplex,
    /// 6: all lines.
    Independent,
}

impl Class {
    /// The name of the class in the literature: `2b`.
    pub fn code(self) -> &'static str {
        self.words().0
    }

    /// What the class is, in words.
    pub fn description(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Class::Nothing => ("0", "no line"),
            Class::Line => ("1", "one line"),
            Class::SkewPair => ("2a", "two skew lines"),
            Class::FlatPencil => ("2b", "flat pencil: coplanar lines that meet in a point or are parallel"),
            Class::Regulus => ("3a", "regulus: lines that meet three skew lines"),
            Class::TwoPencils => ("3b", "two flat pencils in different planes that share a line"),
            Class::Bundle => ("3c", "bundle: all lines meet in a point or are parallel"),
            Class::Plane => ("3d", "all lines lie in a plane"),
            Class::Elliptic => ("4a", "elliptic congruence: skew lines that no common line meets"),
            Class::Hyperbolic => ("4b", "hyperbolic congruence: all lines meet two skew lines"),
            Class::Parabolic => ("4c", "parabolic congruence: flat pencils that share a line"),
            Class::Degenerate => {
                ("4d", "degenerate congruence: all lines lie in a plane or pass through a point of it")
            }
            Class::Complex => ("5a", "general linear complex: reciprocal to a screw that is no line"),
            Class::SingularComplex => ("5b", "singular linear complex: all lines meet one line"),
            Class::Independent => ("6", "six independent lines"),
        }
    }
}

/// The plane `n·x = d` with a unit normal; the plane at infinity has `n` zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plane {
    /// Unit normal.
    pub n: Vec3<f64>,
    /// Distance from the origin along it.
    pub d: f64,
}

/// What a set of lines spans.
#[derive(Clone, PartialEq, Debug)]
pub struct Variety {
    /// Number of independent lines.
    pub rank: usize,
    /// What they have in common.
    pub class: Class,
    /// The common point (2b, 3c), or the point of 4d.
    pub point: Option<HomogeneousPoint<f64>>,
    /// The common plane (2b, 3d), or the plane of 4d.
    pub plane: Option<Plane>,
    /// Lines that all lines meet: one (3b, 4c, 5b) or two (4b).
    pub axes: Vec<Line>,
}

/// The variety that lines span; `length` is the size of what they belong to. Lines are dependent when there are more of
/// them than its rank.
///
/// ```
/// use gough::analysis::grassmann::{Class, Line, variety};
/// use gough::spatial::vec3;
///
/// // A planar robot whose three legs point to one point.
/// let p = vec3(0.1, 0.2, 0.0);
/// let lines: Vec<Line> =
///     [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].iter().filter_map(|d| Line::along(p, vec3(d.0, d.1, 0.0))).collect();
/// let v = variety(&lines, 1.0);
/// assert_eq!((v.rank, v.class), (2, Class::FlatPencil));
/// assert!(v.point.is_some_and(|q| (q.p - p).norm() < 1e-12));
/// ```
pub fn variety(lines: &[Line], length: f64) -> Variety {
    let near = Centring { centre: centre(lines), length };
    let a = stack(lines.iter().map(|l| near.enter(l)));
    let f = svd(&a);
    let rank = f.rank();
    let span = columns(&f.v, 0, rank);
    let reciprocal = swapped(&columns(&f.v, rank, 6));
    // Directions of the span are as uncertain as rounding over the smallest singular value that counts.
    let smallest = if rank > 0 { f.s[rank - 1] / f.s[0] } else { 1.0 };
    let zero = RANK_TOLERANCE.max(1e-11 / smallest);
    let form = LineForm::on(if rank <= 3 { &span } else { &reciprocal }, zero);
    let class = match (rank, form.plus, form.minus) {
        (0, ..) => Class::Nothing,
        (1, ..) => Class::Line,
        (2, 0, 0) => Class::FlatPencil,
        (2, ..) => Class::SkewPair,
        (3, 0, 0) if common(&span, on_line).0 <= common(&span, in_plane).0 => Class::Bundle,
        (3, 0, 0) => Class::Plane,
        (3, p, m) if p + m == 3 => Class::Regulus,
        (3, ..) => Class::TwoPencils,
        (4, 0, 0) => Class::Degenerate,
        (4, 1, 1) => Class::Hyperbolic,
        (4, p, m) if p + m == 1 => Class::Parabolic,
        (4, ..) => Class::Elliptic,
        (5, 0, 0) => Class::SingularComplex,
        (5, ..) => Class::Complex,
        _ => Class::Independent,
    };
    let pencil = match class {
        Class::FlatPencil | Class::Bundle | Class::Plane => Some(&span),
        Class::Degenerate => Some(&reciprocal),
        _ => None,
    };
    let meet = pencil.filter(|_| class != Class::Plane).map(|b| near.leave_point(common(b, on_line).1));
    let plane = pencil.filter(|_| class != Class::Bundle).map(|b| near.leave_plane(common(b, in_plane).1));
    let axes = match class {
        Class::TwoPencils | Class::Hyperbolic | Class::Parabolic | Class::SingularComplex => form.lines(),
        _ => Vec::new(),
    };
    let axes = axes.into_iter().filter_map(|l| near.leave(l)).collect();
    Variety { rank, class, point: meet, plane, axes }
}

/// Coordinates in which the lines are near the origin and lengths near one.
struct Centring {
    centre: Vec3<f64>,
    length: f64,
}

impl Centring {
    fn enter(&self, line: &Line) -> [f64; 6] {
        let m = if line.is_at_infinity() { line.m } else { (line.m - self.centre.cross(&line.u)) / self.length };
        // A line far away is nearly one at infinity.
        let size = (line.u.norm_squared() + m.norm_squared()).sqrt();
        let (u, m) = (line.u / size, m / size);
        [u.x, u.y, u.z, m.x, m.y, m.z]
    }

    fn leave(&self, x: [f64; 6]) -> Option<Line> {
        let (u, m) = (Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]));
        let far = u.norm() <= RANK_TOLERANCE * m.norm();
        if far {
            Line::unit(Vec3::zeros(), m, 0.0)
        } else {
            Line::unit(u, m * self.length + self.centre.cross(&u), 0.0)
        }
    }

    fn leave_point(&self, x: [f64; 4]) -> HomogeneousPoint<f64> {
        let (p, w) = (Vec3::new(x[0], x[1], x[2]), x[3]);
        let far = w.abs() <= RANK_TOLERANCE * p.norm();
        if far {
            HomogeneousPoint::toward(p / p.norm())
        } else {
            HomogeneousPoint::at(p * (self.length / w) + self.centre)
        }
    }

    fn leave_plane(&self, x: [f64; 4]) -> Plane {
        let (n, e) = (Vec3::new(x[0], x[1], x[2]), x[3]);
        if n.norm() <= RANK_TOLERANCE * e.abs() {
            return Plane { n: Vec3::zeros(), d: 1.0 };
        }
        let (n, e) = (n / n.norm(), e / n.norm());
        Plane { n, d: n.dot(&self.centre) - e * self.length }
    }
}

/// A point near all finite lines: the least squares of their distances, along directions that they fix well.
fn centre(lines: &[Line]) -> Vec3<f64> {
    let feet: Vec<(Vec3<f64>, Vec3<f64>)> = lines.iter().filter_map(|l| Some((l.foot()?, l.u))).collect();
    let across = |u: &Vec3<f64>, r: Vec3<f64>| r - u * u.dot(&r);
    let unit = |j: usize| Vec3::from_fn(|i, _| if i == j { 1.0 } else { 0.0 });
    let normal = Matrix::from_fn(3, 3, |i, j| feet.iter().map(|(_, u)| across(u, unit(j))[i]).sum());
    let sum = feet.iter().fold(Vec3::zeros(), |s, (r, u)| s + across(u, *r));
    let f = svd(&normal);
    let along = |k: usize| Vec3::from_fn(|i, _| f.u[(i, k)]);
    (0..3).filter(|k| f.s[*k] > 1e-3 * f.s[0]).fold(Vec3::zeros(), |c, k| c + along(k) * (along(k).dot(&sum) / f.s[k]))
}

fn stack(rows: impl Iterator<Item = [f64; 6]>) -> Matrix {
    let rows: Vec<[f64; 6]> = rows.collect();
    Matrix::from_fn(rows.len(), 6, |i, j| rows[i][j])
}

fn columns(a: &Matrix, from: usize, to: usize) -> Matrix {
    Matrix::from_fn(a.nrows(), to - from, |i, j| a[(i, from + j)])
}

/// `[u; m]` and `[m; u]` change places: orthogonal to a line becomes reciprocal to it.
fn swapped(a: &Matrix) -> Matrix {
    Matrix::from_fn(6, a.ncols(), |i, j| a[((i + 3) % 6, j)])
}

/// The product of lines on a space: `u·m` of each vector, by its principal directions.
struct LineForm {
    values: Vec<f64>,
    vectors: Vec<[f64; 6]>,
    zero: f64,
    plus: usize,
    minus: usize,
}

impl LineForm {
    fn on(basis: &Matrix, zero: f64) -> Self {
        let n = basis.ncols();
        let g = basis.transpose() * swapped(basis);
        // Eigenvalues of the symmetric g, between -1 and 1: shifted, all are positive and equal its singular values.
        let shifted = svd(&Matrix::from_fn(n, n, |i, j| g[(i, j)] + if i == j { 2.0 } else { 0.0 }));
        let values: Vec<f64> = shifted.s.iter().map(|s| s - 2.0).collect();
        let vector =
            |k: usize| -> [f64; 6] { std::array::from_fn(|i| (0..n).map(|j| basis[(i, j)] * shifted.u[(j, k)]).sum()) };
        let count = |test: &dyn Fn(f64) -> bool| values.iter().filter(|v| test(**v)).count();
        let (plus, minus) = (count(&|v| v > zero), count(&|v| v < -zero));
        Self { vectors: (0..n).map(vector).collect(), values, zero, plus, minus }
    }

    /// Lines of a space: the radical, or the two of a plane of signature (1, 1).
    fn lines(&self) -> Vec<[f64; 6]> {
        let null = (0..self.values.len()).filter(|k| self.values[*k].abs() <= self.zero);
        let radical: Vec<[f64; 6]> = null.map(|k| self.vectors[k]).collect();
        if !radical.is_empty() || self.values.len() != 2 {
            return radical;
        }
        let (a, b) = ((-self.values[1]).max(0.0).sqrt(), self.values[0].max(0.0).sqrt());
        [1.0, -1.0].map(|s| std::array::from_fn(|i| a * self.vectors[0][i] + s * b * self.vectors[1][i])).to_vec()
    }
}

/// A point `(p, w)` is on a line: `p × u = w m`, `p·m = 0`.
fn on_line(u: Vec3<f64>, m: Vec3<f64>, k: usize) -> [f64; 4] {
    let row = |r: usize| {
        let e = Vec3::from_fn(|i, _| if i == r { 1.0 } else { 0.0 });
        let c = u.cross(&e); // e·(p × u) = p·(u × e)
        [c.x, c.y, c.z, -m[r]]
    };
    if k < 3 { row(k) } else { [m.x, m.y, m.z, 0.0] }
}

/// A plane `n·x + e = 0` contains a line: `n × m = e u`, `n·u = 0`; points and planes, `u` and `m` change places.
fn in_plane(u: Vec3<f64>, m: Vec3<f64>, k: usize) -> [f64; 4] {
    on_line(m, u, k)
}

/// The point or plane common to all lines of a basis, and by how much it misses them.
fn common(basis: &Matrix, incidence: fn(Vec3<f64>, Vec3<f64>, usize) -> [f64; 4]) -> (f64, [f64; 4]) {
    let column = |j: usize, first: usize| Vec3::from_fn(|i, _| basis[(first + i, j)]);
    let rows: Vec<[f64; 4]> =
        (0..basis.ncols()).flat_map(|j| (0..4).map(move |k| incidence(column(j, 0), column(j, 3), k))).collect();
    let f = svd(&Matrix::from_fn(rows.len(), 4, |i, j| rows[i][j]));
    (f.s.last().copied().unwrap_or(0.0), std::array::from_fn(|i| f.v[(i, 3)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::{Pose, Rotation, vec3};
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    type Pair = [Vec3<f64>; 2];

    /// Two points of a line, by a point and a direction.
    fn ray(r: Vec3<f64>, u: Vec3<f64>) -> Pair {
        [r, r + u]
    }

    fn random_vector(random: &mut Pcg64Mcg) -> Vec3<f64> {
        Vec3::from_fn(|_, _| random.random_range(-1.0..1.0))
    }

    /// Lines of every class, as pairs of points, of size one.
    fn examples() -> Vec<(Class, Vec<Pair>)> {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut any = || random_vector(&mut random);
        let (o, x, y, z) = (Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z());
        let flat = |v: Vec3<f64>| vec3(v.x, v.y, 0.0);
        let angles = [0.3_f64, 1.1, 2.0, 3.9, 5.5];
        let around = |t: f64, r: f64| ray(vec3(r * t.cos(), r * t.sin(), 0.0), vec3(-r * t.sin(), r * t.cos(), 1.0));
        let screw = |r: Vec3<f64>, a: Vec3<f64>| ray(r, (z * 0.4 + z.cross(&r)).cross(&a));
        vec![
            (Class::Line, vec![ray(o, x), ray(x * 0.3, -x)]),
            (Class::SkewPair, vec![ray(o, x), ray(z * 0.5, y), ray(x * 0.3, x)]),
            (Class::FlatPencil, vec![ray(x, x), ray(x, y), ray(x, x + y)]),
            (Class::FlatPencil, vec![ray(x, y), ray(o, y), ray(-x, y)]),
            (Class::Regulus, angles.iter().map(|t| around(*t, 0.7)).collect()),
            (Class::TwoPencils, vec![ray(o, y), ray(o, y - x), ray(x, z), ray(x, z + x)]),
            (Class::Bundle, (0..4).map(|_| ray(y, any())).collect()),
            (Class::Bundle, (0..4).map(|_| ray(any(), y)).collect()),
            (Class::Plane, (0..4).map(|_| ray(flat(any()), flat(any()))).collect()),
            (Class::Elliptic, angles.iter().map(|t| around(*t, t / 3.0)).collect()),
            (Class::Hyperbolic, angles.iter().map(|t| [x * *t, z + y * (t * t - 3.0)]).collect()),
            (Class::Parabolic, angles.iter().map(|t| ray(x * *t, vec3(t.sin(), 1.0, *t))).collect()),
            (
                Class::Degenerate,
                (0..6).map(|k| if k < 3 { ray(x, any()) } else { ray(flat(any()), flat(any())) }).collect(),
            ),
            (Class::Complex, (0..7).map(|_| screw(any(), any())).collect()),
            (Class::SingularComplex, angles.iter().chain(&[0.7]).map(|t| [z * *t, any()]).collect()),
            (Class::Independent, (0..7).map(|_| [any(), any()]).collect()),
        ]
    }

    fn random_pose(random: &mut Pcg64Mcg, far: f64) -> Pose<f64> {
        let x = random_vector(random).normalize();
        let z = x.cross(&random_vector(random)).normalize();
        Pose { R: Rotation::from_columns(x, z.cross(&x), z), p: random_vector(random) * far }
    }

    fn lines(pairs: &[Pair]) -> Vec<Line> {
        let lines: Vec<Line> = pairs
            .iter()
            .filter_map(|[a, b]| Line::through(HomogeneousPoint::at(*a), HomogeneousPoint::at(*b)))
            .collect();
        assert_eq!(lines.len(), pairs.len());
        lines
    }

    fn rank_of(class: Class) -> usize {
        usize::from(class.code().as_bytes()[0] - b'0')
    }

    #[test]
    fn classes_do_not_depend_on_frame_scale_or_order() {
        let mut random = Pcg64Mcg::seed_from_u64(6);
        for (class, pairs) in examples() {
            for k in 0..40 {
                let scale = 10.0_f64.powf(random.random_range(-4.0..4.0));
                let X = random_pose(&mut random, if k < 20 { 1.0 } else { 30.0 });
                let mut moved: Vec<Pair> = pairs.iter().map(|l| l.map(|p| (X * p) * scale)).collect();
                moved.shuffle(&mut random);
                let lines = lines(&moved);
                let v = variety(&lines, scale);
                assert_eq!((v.rank, v.class), (rank_of(class), class), "{} {k}", class.code());
                check_witness(&v, &lines, scale);
            }
        }
    }

    /// Every line has what the variety says it has.
    fn check_witness(v: &Variety, lines: &[Line], scale: f64) {
        let axes = match v.class {
            Class::Hyperbolic => 2,
            Class::TwoPencils | Class::Parabolic | Class::SingularComplex => 1,
            _ => 0,
        };
        assert_eq!(v.axes.len(), axes);
        for l in lines {
            assert!(v.axes.iter().all(|a| a.product(l).abs() < 1e-8 * scale.max(a.m.norm())), "{}", v.class.code());
            let on = v.point.is_none_or(|p| {
                let size = if p.w == 0.0 { 1.0 } else { scale * 100.0 };
                (p.p.cross(&l.u) - l.m * p.w).norm() < 1e-8 * size
            });
            let inside = v.plane.is_none_or(|s| {
                let distance = l.foot().map_or(0.0, |r| s.n.dot(&r) - s.d);
                s.n.dot(&l.u).abs() < 1e-8 && distance.abs() < 1e-8 * scale * 100.0
            });
            match v.class {
                Class::Degenerate => assert!(on || inside),
                _ => assert!(on && inside, "{}", v.class.code()),
            }
        }
        let named = (v.point.is_some(), v.plane.is_some());
        let wanted = match v.class {
            Class::FlatPencil | Class::Degenerate => (true, true),
            Class::Bundle => (true, false),
            Class::Plane => (false, true),
            _ => (false, false),
        };
        assert_eq!(named, wanted);
    }

    #[test]
    fn a_millimetre_counts_and_rounding_does_not() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        for (class, pairs) in examples() {
            if matches!(class, Class::Independent | Class::Complex | Class::Elliptic) {
                continue; // nearby sets of as many lines may be of the same class
            }
            let change = |size: f64, random: &mut Pcg64Mcg| {
                let moved: Vec<Pair> = pairs.iter().map(|l| l.map(|p| p + random_vector(random) * size)).collect();
                variety(&lines(&moved), 1.0)
            };
            let same = change(1e-12, &mut random);
            assert_eq!((same.rank, same.class), (rank_of(class), class), "{}", class.code());
            let other = change(1e-3, &mut random);
            assert!(other.rank > rank_of(class), "{} {}", class.code(), other.class.code());
        }
    }

    #[test]
    fn lines_at_infinity() {
        let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
        let moment = |m: Vec3<f64>| Line::of_wrench(Wrench { f: Vec3::zeros(), m }, 1.0).unwrap();
        let force = |r: Vec3<f64>, f: Vec3<f64>| Line::of_wrench(Wrench { f, m: r.cross(&f) }, 1.0).unwrap();
        assert!(moment(x).is_at_infinity() && moment(x).foot().is_none());
        // Moments are the lines of the plane at infinity.
        let v = variety(&[moment(x), moment(y), moment(z), moment(x + y)], 1.0);
        assert_eq!(v.class, Class::Plane);
        assert_eq!(v.plane.unwrap().n, Vec3::zeros());
        // A planar robot: constraints of the plane and three forces in it that meet in a point.
        let out = [force(Vec3::zeros(), z), moment(x), moment(y)];
        let p = vec3(0.4, 0.2, 0.0);
        let legs = [force(p, x), force(p, y), force(p, x + y)];
        assert_eq!(variety(&legs, 1.0).class, Class::FlatPencil);
        let all: Vec<Line> = out.into_iter().chain(legs).collect();
        let v = variety(&all, 1.0);
        assert_eq!(v.class, Class::SingularComplex);
        assert!(v.axes[0].u.cross(&z).norm() < 1e-12 && (v.axes[0].foot().unwrap() - p).norm() < 1e-12);
        // Parallel instead: the axis is at infinity.
        let legs = [force(p, x), force(p + y, x), force(p - y * 3.0, x)];
        let v = variety(&legs, 1.0);
        assert_eq!((v.class, v.point.unwrap().w), (Class::FlatPencil, 0.0));
        let all: Vec<Line> = out.into_iter().chain(legs).collect();
        let v = variety(&all, 1.0);
        assert_eq!(v.class, Class::SingularComplex);
        assert!(v.axes[0].is_at_infinity() && v.axes[0].m.cross(&y).norm() < 1e-12);
    }

    #[test]
    fn screws_with_a_pitch_are_no_lines() {
        let V = Twist { v: vec3(0.1, 0.0, 0.2), w: vec3(0.0, 0.0, 1.0) };
        assert!(Line::of_twist(V, 1.0).is_none());
        let V = Twist { v: vec3(0.0, -0.3, 0.0), w: vec3(0.0, 0.0, 2.0) };
        assert_eq!(Line::of_twist(V, 1.0).unwrap().foot(), Some(vec3(0.15, 0.0, 0.0)));
        assert!(Line::of_twist(Twist::zero(), 1.0).is_none());
        let a = HomogeneousPoint::at(vec3(1.0, 2.0, 3.0));
        assert!(Line::through(a, a).is_none());
        assert!(Line::along(vec3(1.0, 0.0, 0.0), Vec3::zeros()).is_none());
    }

    #[test]
    fn nothing_in_nothing_out() {
        assert_eq!(variety(&[], 1.0).class, Class::Nothing);
        let bad = Line { u: Vec3::x() * f64::NAN, m: Vec3::zeros() };
        assert_eq!(variety(&[bad], 1.0).rank, 0);
    }
}
