//! What gives way beside beams and modal bodies: rods of parallelograms, and compliances that the file gives as numbers.

use super::elastic::{BeamSection, Elastic, Material};
use super::fault::{Fault, Span};
use super::formula::Formula;
use super::grammar::Unit;
use super::mass::MassData;
use super::placement::Frame;
use super::robot::{DescribedBody, Joint};
use super::rows::Reader;
use super::source::{Item, Table, Value};
use crate::linalg::dense::{Matrix, symmetric_eigenvalues};
use crate::scalar::Real;
use crate::spatial::Pose;

/// Which body the rods of parallelograms move with, where the inertia is that of the rigid motion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RodInertia {
    /// Every rod between its own two ends.
    #[default]
    Exact,
    /// All of it with the body at the end of the parallelogram, which translates.
    Lumped,
}

/// Which motions complete the joints of a leg, where the platform moves as the leg does not allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VirtualTwists {
    /// The constraint wrenches of the leg read as motions, at the point where the leg holds the platform.
    #[default]
    Attached,
    /// Constraint wrenches read as motions at the origin of the platform, in SI units: the null space of the joint screws. It depends on that frame.
    Null,
    /// Those of `Attached`, turned so that the wrench belonging to the last joint of the leg is a pure force.
    Pure,
}

/// The two rods of a parallelogram as beams.
#[derive(Clone, PartialEq, Debug)]
pub struct RodPair {
    /// Index of their section.
    pub section: usize,
    /// Index of their material.
    pub material: usize,
    /// Distance between their joints, along the short side of the parallelogram.
    pub width: Formula,
    /// Their ends do not turn against the short sides when the pair is bent: the published compliance of the pair.
    pub clamped: bool,
    /// Elements per rod in the full model.
    pub elements: usize,
}

/// A compliance that the file gives: by how much a frame gives way to a force and a moment in its axes.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenCompliance {
    /// The frame, on the body.
    pub frame: Frame,
    /// What it is.
    pub give: Give,
    /// Where it is said.
    pub span: Span,
}

/// Kinds of [`GivenCompliance`].
#[derive(Clone, PartialEq, Debug)]
pub enum Give {
    /// Along x, y, z and about x, y, z.
    Diagonal(Box<[Formula; 6]>),
    /// Row by row, motions and forces first, rotations and moments last.
    Matrix(Vec<Formula>),
    /// A cantilever along x that ends at the frame: sections of its root and its tip, material, length.
    Tapered([usize; 2], usize, Formula),
}

impl GivenCompliance {
    /// The frame on the body.
    pub fn pose<S: Real>(&self, values: &[S]) -> Pose<S> {
        self.frame.pose(values)
    }
}

const AXES: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

impl Reader<'_> {
    /// `beam` of a bar.
    pub(super) fn rods(&mut self, bar: &Table) -> Option<RodPair> {
        let t = bar.table("beam")?;
        let (section, material) = self.made_of(t);
        let width = self.positive(t, "width", Unit::Length);
        let clamped = t.get("ends").and_then(Item::as_text) == Some("clamped");
        let elements = self.elements(t);
        Some(RodPair { section: section?, material: material?, width: width?, clamped, elements })
    }

    /// `compliance` of a body or a closure.
    pub(super) fn compliance(&mut self, table: &Table) -> Option<GivenCompliance> {
        let t = table.table("compliance")?;
        let kinds = [AXES.iter().any(|k| t.get(k).is_some()), t.get("matrix").is_some(), t.get("tapered").is_some()];
        if kinds.iter().filter(|k| **k).count() != 1 {
            let because = "a compliance is x, y, z, rx, ry, rz, or `matrix`, or `tapered`".to_owned();
            self.fault(Fault::NeedsKey { key: "matrix", because }, t.span);
            return None;
        }
        let give = match kinds {
            [true, ..] => self.diagonal(t)?,
            [_, true, _] => self.matrix(t)?,
            _ => self.tapered(t)?,
        };
        Some(GivenCompliance { frame: self.frame(t), give, span: t.span })
    }

    fn diagonal(&mut self, t: &Table) -> Option<Give> {
        let entries = AXES.map(|key| {
            let unit = if key.starts_with('r') { Unit::AngularCompliance } else { Unit::LinearCompliance };
            match t.get(key) {
                None => Some(Formula::number(0.0, t.span)),
                Some(_) => self.nonnegative(t, key, unit, false),
            }
        });
        let [a, b, c, d, e, f] = entries;
        Some(Give::Diagonal(Box::new([a?, b?, c?, d?, e?, f?])))
    }

    fn matrix(&mut self, t: &Table) -> Option<Give> {
        let entries: [Formula; 36] = self.numbers(t, "matrix", Unit::Any, false)?;
        let C = Matrix::from_fn(6, 6, |i, j| entries[6 * i + j].value);
        let size = (0..36).fold(0.0_f64, |most, k| most.max(entries[k].value.abs()));
        let skew = (0..36).any(|k| (C[(k / 6, k % 6)] - C[(k % 6, k / 6)]).abs() > 1e-9 * size);
        // Entries of different units: made comparable by the diagonal.
        let scaled = Matrix::from_fn(6, 6, |i, j| {
            let d = (C[(i, i)] * C[(j, j)]).abs().sqrt();
            if d > 0.0 { C[(i, j)] / d } else { C[(i, j)] }
        });
        let negative = symmetric_eigenvalues(&scaled).is_none_or(|list| list.iter().any(|x| *x < -1e-9));
        if skew || negative {
            self.fault(Fault::BadCompliance { skew }, t.get("matrix").map_or(t.span, |i| i.span));
            return None;
        }
        Some(Give::Matrix(entries.to_vec()))
    }

    fn tapered(&mut self, t: &Table) -> Option<Give> {
        let Some(Value::List(list)) = t.get("tapered").map(|i| &i.value) else {
            let because = "`tapered` names two sections, of the root and of the tip".to_owned();
            self.fault(Fault::NeedsKey { key: "tapered", because }, t.span);
            return None;
        };
        let names: Vec<&str> = list.iter().filter_map(Item::as_text).collect();
        let found: Vec<usize> = names.iter().filter_map(|n| self.sections.iter().position(|s| s == n)).collect();
        let [root, tip] = found[..] else {
            let because = "`tapered` names two sections of [section], of the root and of the tip".to_owned();
            self.fault(Fault::NeedsKey { key: "tapered", because }, t.span);
            return None;
        };
        for key in ["material", "length"].into_iter().filter(|k| t.get(k).is_none()) {
            let because = "a tapered link has a material and a length".to_owned();
            self.fault(Fault::NeedsKey { key, because }, t.span);
        }
        let material = self.material_of(t);
        Some(Give::Tapered([root, tip], material?, self.positive(t, "length", Unit::Length)?))
    }
}

/// Gives the bars with rods that say nothing of their mass that of section and material.
pub(super) fn weigh_rods(bodies: &mut [DescribedBody], elastic: &Elastic) {
    for body in bodies {
        let Joint::Parallelogram(bar) = &mut body.joint else { continue };
        let Some(rods) = &bar.rods else { continue };
        let made = (elastic.sections.get(rods.section), elastic.materials.get(rods.material));
        if let ((Some(section), Some(material)), true) = (made, bar.mass.is_empty()) {
            bar.mass = rod_mass(&bar.vector, &section.1, &material.1, bar.mass.span);
        }
    }
}

/// Mass of two slender rods.
fn rod_mass(to: &[Formula; 3], section: &BeamSection, material: &Material, span: Span) -> MassData {
    let number = |x: f64| Formula::number(x, span);
    let [x2, y2, z2] = [0, 1, 2].map(|k| to[k].times(&to[k]));
    let length = x2.plus(&y2).plus(&z2).root();
    let mass = number(2.0).times(&material.density).times(&section.area()).times(&length);
    let twelfth = number(1.0 / 12.0).times(&mass);
    let moment = |a: &Formula, b: &Formula| twelfth.times(&a.plus(b));
    let product = |a: usize, b: usize| number(-1.0).times(&twelfth).times(&to[a]).times(&to[b]);
    let entries = [moment(&y2, &z2), moment(&x2, &z2), moment(&x2, &y2), product(0, 1), product(0, 2), product(1, 2)];
    MassData {
        mass: Some(mass),
        com: Some([0, 1, 2].map(|k| number(0.5).times(&to[k]))),
        inertia: Some((true, entries)),
        span,
        ..MassData::default()
    }
}

impl BeamSection {
    /// Area as a formula.
    fn area(&self) -> Formula {
        let quarter = |f: &Formula| Formula::number(std::f64::consts::FRAC_PI_4, f.span).times(f).times(f);
        match self {
            BeamSection::Given([A, ..], _) => A.clone(),
            BeamSection::Rectangle([w, h]) => w.times(h),
            BeamSection::Circle(d) => quarter(d),
            BeamSection::Tube([outer, inner]) => {
                let hole = Formula::number(-1.0, inner.span).times(&quarter(inner));
                quarter(outer).plus(&hole)
            }
        }
    }
}

/// Half of the short side of a parallelogram, in the frame of its body: along axis × bar, half the width long.
pub(crate) fn half_side(axis: &[Formula; 3], bar: &[Formula; 3], width: &Formula) -> [Formula; 3] {
    let minus = Formula::number(-1.0, width.span);
    let across = [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        axis[i].times(&bar[j]).plus(&minus.times(&axis[j]).times(&bar[i]))
    });
    let length =
        across[0].times(&across[0]).plus(&across[1].times(&across[1])).plus(&across[2].times(&across[2])).root();
    let half = Formula::number(-0.5, width.span).times(width);
    across.map(|c| half.times(&c).negative_ratio(&length))
}
