//! What besides the motion decides efforts: loads from outside, friction, and how drives share where they are redundant.

use super::newton_euler::Sign;
use super::reduction::EffortData;
use crate::model::{CoordId, Node};
use crate::scalar::Real;
use crate::spatial::Wrench;

/// The conditions of a question.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Conditions {
    /// Wrenches from outside on the platform, at its origin, or on a body, at the origin of its frame M; in world axes.
    pub loads: Vec<(Node, Wrench<f64>)>,
    /// Friction: none unless given. Efforts with friction, which inverse dynamics gives beside those without, take the sharp
    /// sign then.
    pub friction: Option<Sign>,
    /// How drives share.
    pub share: Share,
    /// Rates and accelerations of joints that the pose leaves open (kinematic redundancy); others of them stand still.
    pub open: Vec<(CoordId, [f64; 2])>,
}

/// How drives share what they must give together, when there are more of them than freedoms, (8.148).
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Share {
    /// The shortest list of efforts, rotors included, erratum D20.
    #[default]
    Shortest,
    /// Least `Σ w τ²`, one positive weight per drive.
    Weighted(Vec<f64>),
    /// The shortest list between lowest and highest efforts.
    Within(Vec<[f64; 2]>),
}

impl Conditions {
    /// Loads into the memory of a computation; those on the base do nothing.
    pub fn put<S: Real>(&self, out: &mut EffortData<S>) {
        out.unload();
        for (node, F) in &self.loads {
            let F = F.map(&mut |x| S::lit(x));
            match node {
                Node::World => {}
                Node::Platform => out.load = out.load + F,
                Node::Body(b) => out.load_body(*b, F),
            }
        }
    }
}
