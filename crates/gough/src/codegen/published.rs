//! Operation counts that others printed for the same models of the same robots.

use super::{ElasticCoordinates, ModelKind};

/// A printed count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Published {
    /// Additions and subtractions.
    pub add: usize,
    /// Multiplications and divisions.
    pub mul: usize,
    /// Intermediate variables.
    pub variables: usize,
    /// Which coordinates it is for.
    pub coordinates: ElasticCoordinates,
    /// Where it is printed.
    pub source: &'static str,
}

impl Published {
    /// Additions and multiplications together.
    pub fn operations(&self) -> usize {
        self.add + self.mul
    }
}

const NAVARO: Published = Published {
    add: 36183,
    mul: 37341,
    variables: 21383,
    coordinates: ElasticCoordinates::Relative,
    source: "Germain, Briot, Caro & Wenger, J. Comput. Nonlinear Dyn. 10 (2015), doi 10.1115/1.4028573",
};

const DUAL_EMPS: Published = Published {
    add: 1287,
    mul: 1555,
    variables: 1041,
    coordinates: ElasticCoordinates::Relative,
    source: "Briot & Khalil, Dynamics of Parallel Robots (2015), doi 10.1007/978-3-319-19788-3",
};

/// What is printed on a model of a robot of that name.
pub fn published(robot: &str, model: ModelKind) -> Option<Published> {
    match (robot, model) {
        ("navaro" | "navaro-as-printed", ModelKind::MassStiffness) => Some(NAVARO),
        ("dual-emps", ModelKind::FlexibleIdm | ModelKind::FlexibleDdm) => Some(DUAL_EMPS),
        _ => None,
    }
}
