//! Stage 6: what a robot can do and where it fails: mobility, singularities and their loci, dependence of lines, maps.

mod block_map;
mod deflection_map;
#[cfg(any(test, feature = "cuda"))]
mod device_kernel;
#[cfg(feature = "cuda")]
mod device_map;
mod end_of_reach;
mod frequency_map;
pub mod grassmann;
pub mod loci;
pub mod map;
pub mod mobility;
mod nearest;
mod node_value;
pub mod of_jacobian;
mod platform_map;
mod probe;
mod region;
pub mod singularity;
pub mod superbracket;

pub use end_of_reach::named_end_of_reach;
pub use frequency_map::{FrequencyNotes, FrequencyOf};
pub use nearest::{Nearest, Searched, moved, nearest, nearest_while};
pub use node_value::NodeValue;
pub use probe::{Probe, SingularFunction};
pub use region::{CoordinateSpan, MOST_NODES, Region, RegionError, coordinate_name};

pub use platform_map::{PlatformOf, PlatformValue};
