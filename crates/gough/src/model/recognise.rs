//! Recognising a chain: which closed form solves it, if any. Decided once, on `f64`.
//!
//! The last joints of a chain turn about a centre that is fixed on the end body: a ball, one revolute, or several whose
//! axes meet. The joints before must bring that centre to its place; the patterns below say how. Then the last joints,
//! if they are coordinates, follow from the rotation.

use super::chain::{Constants, Element, Motion, meeting, on_z};
use super::ids::CoordId;
use super::plan::Recipe;
use super::topology::Node;
use crate::spatial::{Pose, Vec3};

/// Relative tolerance of "parallel", "meets", "coincides".
const NEAR: f64 = 1e-9;

/// A recognised chain.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Recognised {
    pub(super) recipes: Vec<Recipe>,
    pub(super) centre: usize,
}

/// What is known of a chain on `f64`.
pub(super) struct Chain<'a> {
    pub(super) list: &'a [Element],
    pub(super) constants: &'a Constants<f64>,
    /// Ranges of the coordinates, to choose branches.
    pub(super) range: &'a dyn Fn(CoordId) -> Option<[f64; 2]>,
    /// Coordinates that have a drive.
    pub(super) driven: &'a dyn Fn(CoordId) -> bool,
    /// Coordinates known before the chain is solved.
    pub(super) known: &'a dyn Fn(CoordId) -> bool,
}

/// Axis of a joint in the start frame, all joints at zero.
struct Axis {
    p: Vec3<f64>,
    z: Vec3<f64>,
}

impl Chain<'_> {
    /// The steps that solve the chain, with the fewest positioning joints.
    pub(super) fn recognise(&self) -> Option<Recognised> {
        let axes = self.axes();
        (0..=self.list.len()).find_map(|centre| {
            if !self.turns_about_a_point(&axes, centre) {
                return None;
            }
            let mut recipes = self.position(&axes, centre)?;
            recipes.extend(self.orient(centre)?);
            Some(Recognised { recipes, centre })
        })
    }

    fn between(&self, k: usize) -> &Pose<f64> {
        &self.constants.between[k]
    }

    fn axes(&self) -> Vec<Axis> {
        let mut X = Pose::identity();
        let mut axes = Vec::new();
        for k in 0..self.list.len() {
            X = X * *self.between(k);
            axes.push(Axis { p: X.p, z: X.R.z() });
        }
        axes
    }

    /// A length to compare with.
    fn size(&self) -> f64 {
        self.constants.between.iter().map(|C| C.p.norm()).sum::<f64>().max(1e-6)
    }

    /// Whether joints from `centre` on only turn about one point of the end body.
    fn turns_about_a_point(&self, axes: &[Axis], centre: usize) -> bool {
        let group = &self.list[centre..];
        match group {
            [] => true,
            [only] => only.motion != Motion::Slide,
            [first, rest @ ..] => {
                if first.motion != Motion::Turn || rest.iter().any(|e| e.motion != Motion::Turn) {
                    return false;
                }
                let crosses = axes[centre].z.cross(&axes[centre + 1].z).norm() > NEAR;
                let C = self.between(centre + 1);
                crosses && {
                    let z = meeting(C).0;
                    let point = axes[centre].p + axes[centre].z * z;
                    axes[centre..].iter().all(|a| distance(a, point) <= NEAR * self.size())
                }
            }
        }
    }

    /// Centre seen from behind joint `k - 1`, later joints at zero.
    fn centre_from(&self, k: usize, centre: usize) -> Vec3<f64> {
        let several = centre + 1 < self.list.len() && self.list[centre].motion == Motion::Turn;
        let at = if several { on_z(meeting(self.between(centre + 1)).0) } else { Vec3::zeros() };
        (k..=centre).rev().fold(at, |p, i| *self.between(i) * p)
    }

    /// Steps for the joints before the centre.
    fn position(&self, axes: &[Axis], centre: usize) -> Option<Vec<Recipe>> {
        let joints = &self.list[..centre];
        if joints.iter().any(|e| e.motion == Motion::Ball) || self.repeats(centre) {
            return None;
        }
        self.planar(axes, centre).or_else(|| self.rod(axes, centre))
    }

    /// A coordinate that stands twice before the centre, or is known already.
    fn repeats(&self, centre: usize) -> bool {
        let coords: Vec<CoordId> = self.list[..centre].iter().filter_map(|e| e.coord.map(|c| c.0)).collect();
        coords.iter().enumerate().any(|(i, c)| coords[..i].contains(c) || (self.known)(*c))
    }

    /// Revolutes with one direction, prismatics across it or along it.
    fn planar(&self, axes: &[Axis], centre: usize) -> Option<Vec<Recipe>> {
        let joints = &self.list[..centre];
        let normal = joints.iter().zip(axes).find(|(e, _)| e.motion == Motion::Turn).map(|(_, a)| a.z);
        let mut letters = Vec::new(); // (letter, index); L is a prismatic along the normal
        for (i, e) in joints.iter().enumerate() {
            let along = normal.map_or(0.0, |n| n.dot(&axes[i].z).abs());
            letters.push(match e.motion {
                Motion::Turn if along > 1.0 - NEAR => 'R',
                Motion::Slide if along < NEAR => 'P',
                Motion::Slide if along > 1.0 - NEAR => 'L',
                _ => return None,
            });
        }
        if letters.iter().filter(|l| **l == 'L').count() > 1 {
            return None;
        }
        let mut recipes = Vec::new();
        let mut i = 0;
        while i < letters.len() {
            let rest: String = letters[i..].iter().collect();
            let (recipe, taken) = if rest.starts_with('L') {
                (Recipe::Slide { at: i }, 1)
            } else {
                (self.reach(&rest, i, centre, axes)?, rest.replace('L', "").len())
            };
            // What is left after a reach can only be the slide along the normal.
            if taken > recipe.takes() {
                return None;
            }
            recipes.push(recipe);
            i += recipe.takes();
        }
        Some(recipes)
    }

    /// The step for the planar joints at `i`.
    fn reach(&self, letters: &str, i: usize, centre: usize, axes: &[Axis]) -> Option<Recipe> {
        let size = self.size();
        let long = |v: Vec3<f64>| v.x.hypot(v.y) > NEAR * size;
        let planar: String = letters.chars().filter(|l| *l != 'L').collect();
        let adjacent = letters.starts_with(&planar);
        let p = |k: usize| self.centre_from(k, centre);
        match planar.as_str() {
            "R" if long(p(i + 1)) => Some(Recipe::Aim { at: i }),
            "P" => Some(Recipe::Slide { at: i }),
            "RR" if adjacent && long(self.between(i + 1).p) && long(p(i + 2)) => Some(Recipe::ReachRR { at: i }),
            "RP" if adjacent => Some(Recipe::ReachRP { at: i, sign: self.slide_sign(i + 1) }),
            "PR" if adjacent && long(p(i + 2)) => Some(Recipe::ReachPR { at: i }),
            "PP" if adjacent && axes[i].z.cross(&axes[i + 1].z).norm() > NEAR => Some(Recipe::ReachPP { at: i }),
            _ => None,
        }
    }

    /// Two crossing revolutes that point a rod, perhaps behind a drive, or a strut.
    fn rod(&self, axes: &[Axis], centre: usize) -> Option<Vec<Recipe>> {
        use Motion::{Slide, Turn};
        let motions: Vec<Motion> = self.list[..centre].iter().map(|e| e.motion).collect();
        match motions.as_slice() {
            [Turn, Turn] if self.cross(axes, 0) => Some(vec![self.point(0, centre)?]),
            [Turn, Turn, Slide] if self.cross(axes, 0) => {
                let C2 = self.between(2);
                let (_, z2) = meeting(self.between(1));
                let g = *C2 * self.centre_from(3, centre) - on_z(z2);
                // Halfway out, the strut points along its own direction.
                let d = g + C2.R.z() * self.size();
                let sign = self.slide_sign(2);
                Some(vec![Recipe::Strut { at: 0, flip: self.flip(0, d * sign)?, sign }])
            }
            [first, Turn, Turn] if self.cross(axes, 1) && *first != Motion::Ball => {
                let c = *self.between(1) * on_z(meeting(self.between(2)).0);
                let drive = if *first == Slide {
                    Recipe::RodP { at: 0 }
                } else if c.x.hypot(c.y) > NEAR * self.size() {
                    Recipe::RodR { at: 0 }
                } else {
                    return None;
                };
                Some(vec![drive, self.point(1, centre)?])
            }
            _ => None,
        }
    }

    /// Joints `k` and `k + 1` turn about axes that meet in one point.
    fn cross(&self, axes: &[Axis], k: usize) -> bool {
        let (a, b) = (&axes[k], &axes[k + 1]);
        let n = a.z.cross(&b.z);
        n.norm() > NEAR && (b.p - a.p).dot(&n).abs() <= NEAR * self.size() * n.norm()
    }

    fn point(&self, at: usize, centre: usize) -> Option<Recipe> {
        let (_, z2) = meeting(self.between(at + 1));
        let d = self.centre_from(at + 2, centre) - on_z(z2);
        Some(Recipe::Point { at, flip: self.flip(at, d)? })
    }

    /// Which of the two ways to point is meant. The second angle is `c0 ± δ` with a constant `c0`; the branch with the
    /// smaller angle is taken, the positive one when both are alike, unless the joint's range says otherwise.
    fn flip(&self, at: usize, d: Vec3<f64>) -> Option<f64> {
        let R = &self.between(at + 1).R.0;
        let (r31, r32) = (R[(2, 0)], R[(2, 1)]);
        let (A, B) = (r31 * d.x + r32 * d.y, r32 * d.x - r31 * d.y);
        if A.hypot(B) <= NEAR * d.norm() {
            return None;
        }
        // cos q2 = (A k - B h)/D, sin q2 = (B k + A h)/D: q2 = atan2(B, A) ± δ, with + for h > 0.
        let c0 = B.atan2(A);
        let sign = self.list[at + 1].coord.map_or(1.0, |c| c.1);
        let values =
            [1.0, -1.0].map(|h| sign * crate::spatial::orientation::wrap(c0 + h * std::f64::consts::FRAC_PI_2));
        let range = self.list[at + 1].coord.and_then(|(c, _)| (self.range)(c));
        if let Some([low, high]) = range {
            let inside = values.map(|v| (low..=high).contains(&v));
            if inside[0] != inside[1] {
                return Some(if inside[0] { 1.0 } else { -1.0 });
            }
        }
        let alike = (values[0].abs() - values[1].abs()).abs() < 1e-6;
        let first = if alike { values[0] > values[1] } else { values[0].abs() < values[1].abs() };
        Some(if first { 1.0 } else { -1.0 })
    }

    /// A strut is extended, unless its range only allows the other sign.
    fn slide_sign(&self, at: usize) -> f64 {
        let coord = self.list[at].coord;
        let direction = coord.map_or(1.0, |c| c.1);
        let negative = coord.and_then(|(c, _)| (self.range)(c)).is_some_and(|[_, high]| high <= 0.0);
        if negative { -direction } else { direction }
    }

    /// Steps for the joints from the centre on.
    fn orient(&self, centre: usize) -> Option<Vec<Recipe>> {
        let mut recipes = Vec::new();
        let mut solved: Vec<CoordId> = self.list[..centre].iter().filter_map(|e| e.coord.map(|c| c.0)).collect();
        let known =
            |e: &Element, solved: &[CoordId]| e.coord.is_some_and(|(c, _)| solved.contains(&c) || (self.known)(c));
        // Bodies on the way behind the centre turn with joints that are cut: they must be solved too.
        let inner = self.constants.nodes.iter().rev().skip(1).filter(|(n, ..)| matches!(n, Node::Body(_)));
        let last_inner = inner.map(|(_, joints, _)| *joints).max().unwrap_or(0);
        let mut i = centre;
        while i < self.list.len() {
            let wanted = self.list[i..].iter().any(|e| e.coord.is_some() && !known(e, &solved));
            if !wanted && i >= last_inner {
                break;
            }
            if known(&self.list[i], &solved) {
                recipes.push(Recipe::Pass { at: i });
                i += 1;
                continue;
            }
            let run = self.list[i..].iter().take_while(|e| e.motion == Motion::Turn && !known(e, &solved)).count();
            if i + run != self.list.len() {
                return None; // a ball behind it, or a known joint in the middle
            }
            recipes.push(match run {
                1 => Recipe::Orient1 { at: i },
                2 => Recipe::Orient2 { at: i },
                3 => {
                    let mode = centre == 0 && self.list[i].coord.is_some_and(|(c, _)| (self.driven)(c));
                    Recipe::Orient3 { at: i, flip: self.flip(i, self.between(i + 2).R.z())?, mode }
                }
                _ => return None,
            });
            solved.extend(self.list[i..].iter().filter_map(|e| e.coord.map(|c| c.0)));
            i += run;
        }
        Some(recipes)
    }
}

fn distance(axis: &Axis, point: Vec3<f64>) -> f64 {
    axis.z.cross(&(point - axis.p)).norm()
}
