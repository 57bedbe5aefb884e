//! A chain as its forms are recognised in it: axes, letters and distances, once, on `f64`.
//!
//! The last joints of a chain turn about a centre that is fixed on the end body: a ball, one revolute, or several whose
//! axes meet. The joints before must bring that centre to its place. Then the last joints, if they are coordinates, follow
//! from the rotation.

use super::{FORMS, Form, Recipe};
use crate::model::chain::{ChainJoint, ChainMotion, Constants, Edge, meeting, on_z};
use crate::model::ids::CoordId;
use crate::model::topology::Node;
use crate::spatial::orientation::wrap;
use crate::spatial::{Pose, Vec3};

/// Relative tolerance of "parallel", "meets", "coincides".
pub(super) const NEAR: f64 = 1e-9;

/// A recognised chain.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::model) struct Recognised {
    pub(in crate::model) recipes: Vec<Recipe>,
    pub(in crate::model) centre: usize,
}

/// A known bar that a hinge joins to the start and another to the end of a chain: frames of the hinges on what they join.
pub(in crate::model) struct HingedBar {
    /// The hinge on the end.
    pub(in crate::model) hinge: Edge,
    /// The first hinge on the start, and on the bar.
    pub(in crate::model) first: [Pose<f64>; 2],
    /// The second hinge on the bar, and on the end.
    pub(in crate::model) second: [Pose<f64>; 2],
}

/// What is known of a chain on `f64`.
pub(crate) struct View<'a> {
    pub(in crate::model) list: &'a [ChainJoint],
    pub(in crate::model) constants: &'a Constants<f64>,
    /// Ranges of the coordinates, to choose branches.
    pub(in crate::model) range: &'a dyn Fn(CoordId) -> Option<[f64; 2]>,
    /// Coordinates that have a drive.
    pub(in crate::model) driven: &'a dyn Fn(CoordId) -> bool,
    /// Coordinates known before the chain is solved.
    pub(in crate::model) known: &'a dyn Fn(CoordId) -> bool,
    /// Bars beside the chain.
    pub(in crate::model) bars: &'a [HingedBar],
    /// The first joint of the centre.
    pub(in crate::model) centre: usize,
}

/// Axis of a joint in the start frame, all joints at zero.
struct JointAxis {
    p: Vec3<f64>,
    z: Vec3<f64>,
}

impl View<'_> {
    /// The steps that solve the chain, with the fewest positioning joints.
    pub(in crate::model) fn recognise(&self) -> Option<Recognised> {
        (0..=self.list.len()).find_map(|centre| {
            let view = View { centre, ..*self };
            if !view.turns_about_a_point() || view.repeats() {
                return None;
            }
            let mut recipes = view.position(0)?;
            recipes.extend(view.orient()?);
            Some(Recognised { recipes, centre })
        })
    }

    /// Steps for the joints from `at` on, before the centre.
    fn position(&self, at: usize) -> Option<Vec<Recipe>> {
        if at == self.centre {
            return Some(Vec::new());
        }
        FORMS.iter().find_map(|form| {
            let recipe = form.recognise(self, at)?;
            let mut recipes = vec![recipe];
            recipes.extend(self.position(at + recipe.takes())?);
            Some(recipes)
        })
    }

    /// The constant before a joint.
    pub(super) fn between(&self, k: usize) -> &Pose<f64> {
        &self.constants.between[k]
    }

    fn axis(&self, k: usize) -> JointAxis {
        let X = (0..=k).fold(Pose::identity(), |X, i| X * *self.between(i));
        JointAxis { p: X.p, z: X.R.z() }
    }

    /// A length to compare with.
    pub(super) fn size(&self) -> f64 {
        self.constants.between.iter().map(|C| C.p.norm()).sum::<f64>().max(1e-6)
    }

    /// Whether a vector has a part across z.
    pub(super) fn is_long(&self, v: Vec3<f64>) -> bool {
        v.x.hypot(v.y) > NEAR * self.size()
    }

    /// How the joints from `at` on move, before the centre.
    pub(super) fn motions(&self, at: usize) -> Vec<ChainMotion> {
        self.list[at..self.centre].iter().map(|e| e.motion).collect()
    }

    /// Whether joints from the centre on only turn about one point of the end body.
    fn turns_about_a_point(&self) -> bool {
        match &self.list[self.centre..] {
            [] => true,
            [only] => only.motion != ChainMotion::Slide,
            group => {
                let (first, second) = (self.axis(self.centre), self.axis(self.centre + 1));
                let crosses = first.z.cross(&second.z).norm() > NEAR;
                group.iter().all(|e| e.motion == ChainMotion::Turn) && crosses && {
                    let point = first.p + first.z * meeting(self.between(self.centre + 1)).0;
                    (self.centre..self.list.len()).all(|k| distance(&self.axis(k), point) <= NEAR * self.size())
                }
            }
        }
    }

    /// A coordinate that stands twice before the centre, or is known already, or a ball there.
    fn repeats(&self) -> bool {
        let before = &self.list[..self.centre];
        let coords: Vec<CoordId> = before.iter().filter_map(|e| e.coord.map(|c| c.0)).collect();
        before.iter().any(|e| e.motion == ChainMotion::Ball)
            || coords.iter().enumerate().any(|(i, c)| coords[..i].contains(c) || (self.known)(*c))
    }

    /// Centre seen from behind joint `k - 1`, later joints at zero.
    pub(super) fn centre_from(&self, k: usize) -> Vec3<f64> {
        let several = self.centre + 1 < self.list.len() && self.list[self.centre].motion == ChainMotion::Turn;
        let at = if several { on_z(meeting(self.between(self.centre + 1)).0) } else { Vec3::zeros() };
        (k..=self.centre).rev().fold(at, |p, i| *self.between(i) * p)
    }

    /// The joints from `at` on as letters, when revolutes have one direction and prismatics are across it or, at most one,
    /// along it: R, P, L.
    pub(super) fn letters(&self, at: usize) -> Option<String> {
        let joints = at..self.centre;
        let normal = joints.clone().find(|k| self.list[*k].motion == ChainMotion::Turn).map(|k| self.axis(k).z);
        let letter = |k: usize| {
            let along = normal.map_or(0.0, |n| n.dot(&self.axis(k).z).abs());
            match self.list[k].motion {
                ChainMotion::Turn if along > 1.0 - NEAR => Some('R'),
                ChainMotion::Slide if along < NEAR => Some('P'),
                ChainMotion::Slide if along > 1.0 - NEAR => Some('L'),
                _ => None,
            }
        };
        let letters: String = joints.map(letter).collect::<Option<_>>()?;
        (letters.matches('L').count() <= 1).then_some(letters)
    }

    /// Whether the joints from `at` on are these planar ones side by side, and at most a slide along the normal behind them.
    pub(super) fn are(&self, at: usize, planar: &str) -> bool {
        self.letters(at).is_some_and(|l| l.strip_prefix(planar).is_some_and(|rest| rest.is_empty() || rest == "L"))
    }

    /// Whether joints `k` and `k + 1` turn about axes that meet in one point.
    pub(super) fn axes_cross(&self, k: usize) -> bool {
        let (a, b) = (self.axis(k), self.axis(k + 1));
        let n = a.z.cross(&b.z);
        n.norm() > NEAR && (b.p - a.p).dot(&n).abs() <= NEAR * self.size() * n.norm()
    }

    /// Whether the axes of joints `k` and `k + 1` have different directions.
    pub(super) fn axes_differ(&self, k: usize) -> bool {
        self.axis(k).z.cross(&self.axis(k + 1).z).norm() > NEAR
    }

    /// Which of the two ways to point is meant. The second angle is `c0 ± δ` with a constant `c0`; the branch with the
    /// smaller angle is taken, the positive one when both are alike, unless the joint's range says otherwise.
    pub(super) fn flip(&self, at: usize, d: Vec3<f64>) -> Option<f64> {
        let R = &self.between(at + 1).R.0;
        let (r31, r32) = (R[(2, 0)], R[(2, 1)]);
        let (A, B) = (r31 * d.x + r32 * d.y, r32 * d.x - r31 * d.y);
        if A.hypot(B) <= NEAR * d.norm() {
            return None;
        }
        // cos q2 = (A k - B h)/D, sin q2 = (B k + A h)/D: q2 = atan2(B, A) ± δ, with + for h > 0.
        let c0 = B.atan2(A);
        let sign = self.list[at + 1].coord.map_or(1.0, |c| c.1);
        let values = [1.0, -1.0].map(|h| sign * wrap(c0 + h * std::f64::consts::FRAC_PI_2));
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

    /// Whether two crossing revolutes that point along `d` can be turned round so that an axis moves: unless they are square
    /// to each other and what they point is square to the second.
    pub(super) fn turned_round_differs(&self, at: usize, d: Vec3<f64>) -> bool {
        let square = self.between(at + 1).R.z().z.abs() <= NEAR;
        !square || d.z.abs() > NEAR * d.norm()
    }

    /// Whether a slide along `s` with its tip at `g` passes beside the joint before it.
    pub(super) fn is_beside(&self, g: Vec3<f64>, s: Vec3<f64>) -> bool {
        g.cross(&s).norm() > NEAR * self.size()
    }

    /// The side of its foot, the place nearest to the joint before, that a slide stands on: where its range says so, that
    /// side; else a strut through the joint is extended, its other side being the same place turned round; and one that
    /// passes beside the joint stands on either side, which is a working mode. `g` is the tip at zero, `s` the direction.
    pub(super) fn slide_sign(&self, at: usize, g: Vec3<f64>, s: Vec3<f64>) -> Option<f64> {
        let coord = self.list[at].coord;
        let direction = coord.map_or(1.0, |c| c.1);
        let foot = -direction * g.dot(&s);
        let near = NEAR * self.size();
        match coord.and_then(|(c, _)| (self.range)(c)) {
            Some([_, high]) if high <= foot + near => Some(-direction),
            Some([low, _]) if low >= foot - near => Some(direction),
            _ => (!self.is_beside(g, s)).then_some(direction),
        }
    }

    /// Steps for the joints from the centre on.
    fn orient(&self) -> Option<Vec<Recipe>> {
        let mut recipes = Vec::new();
        let mut solved: Vec<CoordId> = self.list[..self.centre].iter().filter_map(|e| e.coord.map(|c| c.0)).collect();
        let known =
            |e: &ChainJoint, solved: &[CoordId]| e.coord.is_some_and(|(c, _)| solved.contains(&c) || (self.known)(c));
        // Bodies on the way behind the centre turn with joints that are cut: they must be solved too.
        let inner = self.constants.nodes.iter().rev().skip(1).filter(|(n, ..)| matches!(n, Node::Body(_)));
        let last_inner = inner.map(|(_, joints, _)| *joints).max().unwrap_or(0);
        let mut i = self.centre;
        while i < self.list.len() {
            let wanted = self.list[i..].iter().any(|e| e.coord.is_some() && !known(e, &solved));
            if !wanted && i >= last_inner {
                break;
            }
            if known(&self.list[i], &solved) {
                recipes.push(Recipe::of(Form::Pass, i));
                i += 1;
                continue;
            }
            let run = self.list[i..].iter().take_while(|e| e.motion == ChainMotion::Turn && !known(e, &solved)).count();
            if i + run != self.list.len() {
                return None; // a ball behind it, or a known joint in the middle
            }
            recipes.push(match run {
                1 => Recipe::of(Form::Orient1, i),
                2 => Recipe::of(Form::Orient2, i),
                3 => {
                    let driven = self.centre == 0 && self.list[i].coord.is_some_and(|(c, _)| (self.driven)(c));
                    let last = self.between(i + 2).R.z();
                    let (flip, mode) = (self.flip(i, last)?, driven || self.turned_round_differs(i, last));
                    Recipe { flip, mode, ..Recipe::of(Form::Orient3, i) }
                }
                _ => return None,
            });
            solved.extend(self.list[i..].iter().filter_map(|e| e.coord.map(|c| c.0)));
            i += run;
        }
        Some(recipes)
    }
}

fn distance(axis: &JointAxis, point: Vec3<f64>) -> f64 {
    axis.z.cross(&(point - axis.p)).norm()
}
