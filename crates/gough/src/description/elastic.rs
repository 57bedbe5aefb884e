//! Materials, sections, beams and modal bodies, as the file gives them.

use super::compliance::{RodInertia, VirtualTwists};
use super::fault::Span;
use super::formula::Formula;
use super::robot::Name;
use crate::scalar::Real;

/// Choices of the elastic models, and what beams are made of.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Elastic {
    /// Materials by name.
    pub materials: Vec<(String, Material)>,
    /// Sections by name.
    pub sections: Vec<(String, BeamSection)>,
    /// Planar beams with three coordinates per element.
    pub planar: bool,
    /// Damping ratio of every mode.
    pub damping: Option<Formula>,
    /// Joints held in frequency computations; `None`: the driven ones.
    pub hold: Option<Vec<Name>>,
    /// Coordinates to eliminate, when overridden.
    pub dependent: Option<Vec<Name>>,
    /// Inertia of the rods of parallelograms in the Cartesian method.
    pub rods: RodInertia,
    /// Motions against the constraints of a leg in the Cartesian method.
    pub virtual_twists: VirtualTwists,
}

/// An isotropic material.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, non_snake_case)]
pub struct Material {
    pub E: Formula,
    /// Shear modulus.
    pub G: Option<Formula>,
    /// Poisson's ratio, when `G` follows from it.
    pub nu: Option<Formula>,
    pub density: Formula,
    /// Damping per mass, 1/s.
    pub mass_damping: Option<Formula>,
    /// Damping per stiffness, s.
    pub stiffness_damping: Option<Formula>,
}

impl Material {
    /// Young's modulus, shear modulus, density.
    pub fn moduli<S: Real>(&self, values: &[S]) -> (S, S, S) {
        let E = self.E.eval(values);
        let G = match (&self.G, &self.nu) {
            (Some(G), _) => G.eval(values),
            (None, nu) => {
                let nu = nu.as_ref().map_or(S::zero(), |nu| nu.eval(values));
                E / (S::lit(2.0) * (S::one() + nu))
            }
        };
        (E, G, self.density.eval(values))
    }
}

/// A beam section.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum BeamSection {
    /// A, Iy, Iz, J and, if given, Ip.
    Given([Formula; 4], Option<Formula>),
    /// Width along y, height along z.
    Rectangle([Formula; 2]),
    /// Outer and inner diameter.
    Tube([Formula; 2]),
    Circle(Formula),
}

/// Numbers of a section.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs, non_snake_case)]
pub struct SectionProperties<S> {
    pub A: S,
    pub Iy: S,
    pub Iz: S,
    /// Torsion constant.
    pub J: S,
    /// Polar moment.
    pub Ip: S,
}

impl BeamSection {
    /// Area and moments.
    pub fn properties<S: Real>(&self, values: &[S]) -> SectionProperties<S> {
        let at = |f: &Formula| f.eval(values);
        let pi = S::lit(std::f64::consts::PI);
        let round = |outer: S, inner: S| {
            let fourth = |d: S| d * d * d * d * S::lit(1.0 / 64.0);
            let I = pi * (fourth(outer) - fourth(inner));
            let A = pi * (outer * outer - inner * inner) * S::lit(0.25);
            SectionProperties { A, Iy: I, Iz: I, J: I + I, Ip: I + I }
        };
        match self {
            BeamSection::Given([A, Iy, Iz, J], Ip) => {
                let (Iy, Iz) = (at(Iy), at(Iz));
                SectionProperties { A: at(A), Iy, Iz, J: at(J), Ip: Ip.as_ref().map_or(Iy + Iz, at) }
            }
            BeamSection::Rectangle([w, h]) => {
                // Torsion of a rectangle a >= b: a b³ (1/3 - 0.21 (b/a) (1 - b⁴/(12 a⁴))).
                let (a, b) = if w.value >= h.value { (at(w), at(h)) } else { (at(h), at(w)) };
                let (w, h) = (at(w), at(h));
                let twelfth = S::lit(1.0 / 12.0);
                let (Iy, Iz) = (w * h * h * h * twelfth, h * w * w * w * twelfth);
                let ratio = b / a;
                let fourth = ratio.squared().squared();
                let J = a * b * b * b * (S::lit(1.0 / 3.0) - S::lit(0.21) * ratio * (S::one() - fourth * twelfth));
                SectionProperties { A: w * h, Iy, Iz, J, Ip: Iy + Iz }
            }
            BeamSection::Tube([outer, inner]) => round(at(outer), at(inner)),
            BeamSection::Circle(d) => round(at(d), S::zero()),
        }
    }
}

impl BeamSection {
    /// Cowper's shear coefficient for Poisson's ratio `nu`; a section given by its moments is taken as a rectangle.
    pub fn shear_coefficient<S: Real>(&self, nu: S, values: &[S]) -> S {
        let lit = S::lit;
        match self {
            BeamSection::Given(..) | BeamSection::Rectangle(_) => {
                lit(10.0) * (S::one() + nu) / (lit(12.0) + lit(11.0) * nu)
            }
            BeamSection::Circle(_) => lit(6.0) * (S::one() + nu) / (lit(7.0) + lit(6.0) * nu),
            BeamSection::Tube([outer, inner]) => {
                let m = inner.eval(values) / outer.eval(values);
                let sum = (S::one() + m * m).squared();
                lit(6.0) * (S::one() + nu) * sum
                    / ((lit(7.0) + lit(6.0) * nu) * sum + (lit(20.0) + lit(12.0) * nu) * m * m)
            }
        }
    }
}

/// A straight beam from the origin of the body frame.
#[derive(Clone, PartialEq, Debug)]
pub struct Beam {
    /// Far end.
    pub to: [Formula; 3],
    /// Index of its section.
    pub section: usize,
    /// Index of its material.
    pub material: usize,
    /// Elements per segment between attachments.
    pub elements: usize,
    /// Direction of the section's z axis; `None` is the body's z.
    pub up: Option<[Formula; 3]>,
    /// Timoshenko shear.
    pub shear: bool,
    /// Rotary inertia of the section in bending.
    pub rotary_inertia: bool,
}

/// A body given by a modal analysis.
#[derive(Clone, PartialEq, Debug)]
pub struct Modal {
    /// Name of its file.
    pub file: Name,
    /// Positions of the nodes in the body frame.
    pub nodes: Vec<[f64; 3]>,
    /// Their masses.
    pub masses: Vec<f64>,
    /// The modes.
    pub modes: Vec<Mode>,
    /// Points by name where joints can attach.
    pub points: Vec<ModalPoint>,
    /// Where it is said.
    pub span: Span,
}

/// A mode of a [`Modal`] body.
#[derive(Clone, PartialEq, Debug)]
pub struct Mode {
    /// Generalised stiffness.
    pub stiffness: f64,
    /// Damping ratio.
    pub damping_ratio: f64,
    /// Displacement of every node per unit of the modal coordinate.
    pub displacement: Vec<[f64; 3]>,
}

/// A named point of a [`Modal`] body.
#[derive(Clone, PartialEq, Debug)]
pub struct ModalPoint {
    /// Its name.
    pub name: String,
    /// Where it is on the undeformed body.
    pub position: [f64; 3],
    /// Displacement per mode.
    pub displacement: Vec<[f64; 3]>,
    /// Rotation per mode.
    pub rotation: Vec<[f64; 3]>,
}

impl Modal {
    /// Read the JSON of a modal analysis; the reason when it cannot be used.
    pub fn parse(text: &str, file: Name, span: Span) -> Result<Self, String> {
        let json: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let nodes = vectors(&json["nodes"]).ok_or("`nodes` is not a list of [x, y, z]")?;
        let masses: Vec<f64> = json["masses"]
            .as_array()
            .and_then(|list| list.iter().map(serde_json::Value::as_f64).collect())
            .ok_or("`masses` is not a list of numbers")?;
        if masses.len() != nodes.len() || nodes.is_empty() {
            return Err(format!("{} masses for {} nodes", masses.len(), nodes.len()));
        }
        if masses.iter().any(|m| *m < 0.0) {
            return Err("a nodal mass is negative".to_owned());
        }
        let modes: Vec<Mode> = json["modes"]
            .as_array()
            .ok_or("`modes` is not a list")?
            .iter()
            .map(|m| mode(m, nodes.len()))
            .collect::<Result<_, _>>()?;
        let points: Vec<ModalPoint> = match &json["points"] {
            serde_json::Value::Object(map) => {
                map.iter().map(|(name, p)| point(name, p, modes.len())).collect::<Result<_, _>>()?
            }
            serde_json::Value::Null => Vec::new(),
            _ => return Err("`points` is not a table of named points".to_owned()),
        };
        let modal = Self { file, nodes, masses, modes, points, span };
        modal.check_modes()?;
        modal.points.iter().try_for_each(|p| modal.check_point(p, &json["points"][p.name.as_str()]["node"]))?;
        Ok(modal)
    }

    /// Every mode must be a motion that the others before it do not make.
    fn check_modes(&self) -> Result<(), String> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        // Directions of the modes before, by nodal masses.
        let mut known: Vec<Vec<f64>> = Vec::new();
        for (k, mode) in self.modes.iter().enumerate() {
            let weighted = |(u, m): (&[f64; 3], &f64)| u.map(|x| m.sqrt() * x);
            let mut left: Vec<f64> = mode.displacement.iter().zip(&self.masses).flat_map(weighted).collect();
            let size = dot(&left, &left);
            for other in &known {
                let along = dot(&left, other);
                left.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
            let own = dot(&left, &left);
            if size > 0.0 && own < DEPENDENT * size {
                return Err(format!("mode {} is a sum of those before it; leave it out", k + 1));
            }
            if size > 0.0 {
                left.iter_mut().for_each(|x| *x /= own.sqrt());
                known.push(left);
            }
        }
        Ok(())
    }

    /// A point that says which node of the mesh it is stands there.
    fn check_point(&self, point: &ModalPoint, node: &serde_json::Value) -> Result<(), String> {
        if node.is_null() {
            return Ok(());
        }
        let name = &point.name;
        let place = node.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n < self.nodes.len());
        let place = place.ok_or_else(|| {
            format!("point `{name}` has `node` {node}; nodes count from 0 to {}", self.nodes.len() - 1)
        })?;
        let size = self.nodes.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
        let at = self.nodes[place];
        let off = (0..3).map(|k| (point.position[k] - at[k]).abs()).fold(0.0, f64::max);
        if off > SAME_PLACE * size {
            return Err(format!(
                "point `{name}` is not at its node {place}: {:?} and {at:?}; no joint meets the mesh there",
                point.position
            ));
        }
        Ok(())
    }
}

/// What is left of a mode beside those before it, over its size, both squared, when it is one of them.
const DEPENDENT: f64 = 1e-12;

/// Points that are nearer than this to each other, over the size of their body, are the same.
const SAME_PLACE: f64 = 1e-6;

fn mode(json: &serde_json::Value, nodes: usize) -> Result<Mode, String> {
    let stiffness = json["stiffness"].as_f64().ok_or("a mode has no `stiffness`")?;
    if !(stiffness > 0.0) {
        return Err(format!("a mode has `stiffness` {stiffness}; it must be positive, and rigid motions are no modes"));
    }
    let damping_ratio = match &json["damping_ratio"] {
        serde_json::Value::Null => 0.0,
        ratio => ratio
            .as_f64()
            .filter(|r| *r >= 0.0)
            .ok_or_else(|| format!("a mode has `damping_ratio` {ratio}; give zero or a positive number"))?,
    };
    let displacement = vectors(&json["displacement"]).ok_or("a mode has no `displacement` list")?;
    if displacement.len() != nodes {
        return Err(format!("a mode moves {} nodes of {nodes}", displacement.len()));
    }
    Ok(Mode { stiffness, damping_ratio, displacement })
}

fn point(name: &str, json: &serde_json::Value, modes: usize) -> Result<ModalPoint, String> {
    let position = vector(&json["position"]).ok_or_else(|| format!("point `{name}` has no `position`"))?;
    let list = |key: &str| {
        vectors(&json[key])
            .filter(|l| l.len() == modes)
            .ok_or_else(|| format!("point `{name}` needs `{key}` for {modes} modes"))
    };
    Ok(ModalPoint { name: name.to_owned(), position, displacement: list("displacement")?, rotation: list("rotation")? })
}

fn vector(json: &serde_json::Value) -> Option<[f64; 3]> {
    let list = json.as_array().filter(|l| l.len() == 3)?;
    Some([list[0].as_f64()?, list[1].as_f64()?, list[2].as_f64()?])
}

fn vectors(json: &serde_json::Value) -> Option<Vec<[f64; 3]>> {
    json.as_array()?.iter().map(vector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(x: f64) -> Formula {
        Formula::number(x, Span::default())
    }

    #[test]
    fn sections_have_the_textbook_numbers() {
        let r = BeamSection::Rectangle([number(0.01), number(0.024)]).properties::<f64>(&[]);
        for (found, printed) in [(r.A, 2.4e-4), (r.Iy, 1.152e-8), (r.Iz, 2.0e-9), (r.J, 5.902e-9), (r.Ip, 1.352e-8)] {
            assert!((found / printed - 1.0).abs() < 1e-3, "{found} {printed}");
        }
        let t = BeamSection::Tube([number(0.01), number(0.007)]).properties::<f64>(&[]);
        let c = BeamSection::Circle(number(0.01)).properties::<f64>(&[]);
        let inner = BeamSection::Circle(number(0.007)).properties::<f64>(&[]);
        assert!((t.Iy - (c.Iy - inner.Iy)).abs() < 1e-24 && (t.J - 2.0 * t.Iz).abs() < 1e-24);
    }
}
