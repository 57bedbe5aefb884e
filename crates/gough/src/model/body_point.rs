//! A point of a body, asked for by name.

use super::Node;
use crate::spatial::Vec3;

/// A point of a body, of the platform or of the base.
#[derive(Clone, PartialEq, Debug)]
pub struct BodyPoint {
    /// What it was called in the question.
    pub name: String,
    /// What carries it.
    pub node: Node,
    /// Where it is on the undeformed body, in the frame M of the body, or in that of the platform; the origin of the frame where none is
    /// given, which on a modal body is that of its floating frame.
    pub at: Option<Vec3<f64>>,
}
