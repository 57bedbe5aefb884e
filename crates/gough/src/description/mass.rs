//! Mass data of a body, in either convention or as a simple solid.

use super::fault::Span;
use super::formula::Formula;
use super::placement::{Frame, vector};
use crate::scalar::Real;
use crate::spatial::{Inertia, Mat3, Vec3, vec3};

/// What a file says of the mass of a body.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MassData {
    /// Mass.
    pub mass: Option<Formula>,
    /// Centre of mass.
    pub com: Option<[Formula; 3]>,
    /// Mass times centre of mass, in its place.
    pub first_moment: Option<[Formula; 3]>,
    /// Entries xx, yy, zz, xy, xz, yz, and whether they are at the centre of mass.
    pub inertia: Option<(bool, [Formula; 6])>,
    /// A simple solid.
    pub shape: Option<Shape>,
    /// Point masses.
    pub lumped: Vec<([Formula; 3], Formula)>,
    /// Grouped parameters, which no body need have.
    pub grouped: bool,
    /// Where it is said.
    pub span: Span,
}

/// A solid along x, of uniform density.
#[derive(Clone, PartialEq, Debug)]
pub struct Shape {
    /// Its kind and dimensions.
    pub solid: Solid,
    /// Density; without it the mass of the body counts.
    pub density: Option<Formula>,
    /// Where it starts.
    pub frame: Option<Frame>,
}

/// Kinds of solid, with their dimensions as in the file.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Solid {
    Box([Formula; 3]),
    Cylinder([Formula; 2]),
    Tube([Formula; 3]),
    Sphere(Formula),
}

impl MassData {
    /// Whether the file says nothing of the mass.
    pub fn is_empty(&self) -> bool {
        let given = self.mass.is_some() || self.com.is_some() || self.first_moment.is_some();
        !given && self.inertia.is_none() && self.shape.is_none() && self.lumped.is_empty()
    }

    /// The inertia at the origin of the body frame.
    pub fn inertia<S: Real>(&self, values: &[S]) -> Inertia<S> {
        let at = |f: &Formula| f.eval(values);
        let body =
            if let Some(shape) = &self.shape { shape.inertia(self.mass.as_ref(), values) } else { self.given(values) };
        self.lumped.iter().fold(body, |sum, (point, mass)| sum + Inertia::point(at(mass), vector(point, values)))
    }

    fn given<S: Real>(&self, values: &[S]) -> Inertia<S> {
        let m = self.mass.as_ref().map_or(S::zero(), |f| f.eval(values));
        let ms = match (&self.first_moment, &self.com) {
            (Some(ms), _) => vector(ms, values),
            (None, Some(com)) => vector(com, values) * m,
            (None, None) => Vec3::zeros(),
        };
        let Some((at_com, entries)) = &self.inertia else {
            // Only a mass and its place: a point mass.
            let massless = self.mass.as_ref().is_none_or(|f| f.is_constant() && f.value == 0.0);
            return if massless { Inertia { m, ms, I_o: Mat3::zeros() } } else { Inertia::point(m, ms * m.recip()) };
        };
        let [xx, yy, zz, xy, xz, yz] = [0, 1, 2, 3, 4, 5].map(|i| entries[i].eval(values));
        let I = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let centred = self.first_moment.is_none() && self.com.is_none();
        if *at_com && !centred {
            let com = self.com.as_ref().map_or_else(|| ms * m.recip(), |c| vector(c, values));
            Inertia::at_com(m, com, I)
        } else {
            Inertia { m, ms, I_o: I }
        }
    }
}

impl Shape {
    fn inertia<S: Real>(&self, mass: Option<&Formula>, values: &[S]) -> Inertia<S> {
        let (volume, centre, moments) = self.solid.unit_mass(values);
        let m = match (&self.density, mass) {
            (Some(density), _) => density.eval(values) * volume,
            (None, Some(mass)) => mass.eval(values),
            (None, None) => S::zero(),
        };
        let own = Inertia::at_com(m, centre, Mat3::from_diagonal(&(moments * m)));
        self.frame.as_ref().map_or(own, |f| own.seen_from(&f.pose(values)))
    }
}

impl Solid {
    /// Volume, centre of mass, and principal moments at the centre of mass per unit of mass.
    fn unit_mass<S: Real>(&self, values: &[S]) -> (S, Vec3<S>, Vec3<S>) {
        let at = |f: &Formula| f.eval(values);
        let lit = S::lit;
        let o = S::zero();
        let round = |l: S, outer: S, inner: S| {
            let sum = (outer * outer + inner * inner) * lit(0.25);
            let area = (outer * outer - inner * inner) * lit(std::f64::consts::PI / 4.0);
            let across = sum * lit(0.25) + l * l * lit(1.0 / 12.0);
            (area * l, vec3(l * lit(0.5), o, o), vec3(sum * lit(0.5), across, across))
        };
        match self {
            Solid::Box(d) => {
                let [l, w, h] = [0, 1, 2].map(|i| at(&d[i]));
                let (l2, w2, h2) = (l * l * lit(1.0 / 12.0), w * w * lit(1.0 / 12.0), h * h * lit(1.0 / 12.0));
                (l * w * h, vec3(l * lit(0.5), o, o), vec3(w2 + h2, l2 + h2, l2 + w2))
            }
            Solid::Cylinder([l, d]) => round(at(l), at(d), o),
            Solid::Tube([l, outer, inner]) => round(at(l), at(outer), at(inner)),
            Solid::Sphere(d) => {
                let d = at(d);
                let moment = d * d * lit(0.1);
                (d * d * d * lit(std::f64::consts::PI / 6.0), Vec3::zeros(), vec3(moment, moment, moment))
            }
        }
    }

    /// Its dimensions, all of which must be positive (the inner diameter of a tube may be zero).
    pub fn dimensions(&self) -> Vec<&Formula> {
        match self {
            Solid::Box(d) | Solid::Tube(d) => d.iter().collect(),
            Solid::Cylinder(d) => d.iter().collect(),
            Solid::Sphere(d) => vec![d],
        }
    }
}
