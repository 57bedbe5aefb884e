//! What a map has at a node, in eight bytes.

use serde::{Serialize, Serializer};
use std::fmt;

/// The number of a map at a node, or none.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct NodeValue(f64);

impl NodeValue {
    /// None.
    pub(crate) const NONE: Self = Self(f64::NAN);

    /// A number; none where it is not finite.
    pub(crate) fn new(x: f64) -> Self {
        if x.is_finite() { Self(x) } else { Self::NONE }
    }

    /// The number.
    pub fn get(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}

impl From<Option<f64>> for NodeValue {
    fn from(x: Option<f64>) -> Self {
        x.map_or(Self::NONE, Self::new)
    }
}

impl PartialEq for NodeValue {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for NodeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for NodeValue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(to)
    }
}
