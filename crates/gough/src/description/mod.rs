//! Stage 1: a robot file becomes a checked description. Spans are kept, units resolved, expressions kept alive.

mod check;
mod compliance;
mod definitions;
mod elastic;
mod fault;
mod formula;
mod grammar;
mod left_out;
mod mass;
mod overlay;
mod placement;
mod read;
mod robot;
mod rows;
mod schema;
mod source;
mod units;

pub(crate) use compliance::half_side;
pub use compliance::{Give, GivenCompliance, RodInertia, RodPair, VirtualTwists};
pub use definitions::{Definitions, Parameter};
pub use elastic::{Beam, BeamSection, Elastic, Material, Modal, ModalPoint, Mode, SectionProperties};
pub use fault::{BadRobot, Diagnostic, Fault, FaultDocument, LineIndex, Span, line_column, nearest};
pub use formula::Formula;
pub use left_out::{Concern, LeftOut};
pub use mass::{MassData, Shape};
pub use placement::{Frame, Placement, align};
pub use read::{LARGEST, ReadOptions, read};
pub use robot::{
    ActuationSet, Bar, ClosureJoint, Coordinate, Coordinates, Coupling, DescribedBody, DescribedClosure,
    DescribedPlatform, Description, Drive, DriveKind, Flexible, Friction, Joint, Name, Side,
};
pub use schema::{reference_page, schema};
pub use units::Dimension;

/// A number with an optional unit, or an expression of such: its SI value and dimension.
pub fn quantity(text: &str) -> Result<(f64, Dimension), Fault> {
    let read = Formula::parse(text, Span::default(), &|_| None);
    read.map(|f| (f.value, f.dimension)).map_err(|mut faults| faults.remove(0).0)
}
