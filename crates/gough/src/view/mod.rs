//! Stage 11: what a page needs to show a robot and to ask it. The drawing is bodies with frames and what hangs on them, the
//! questions and answers are JSON documents, and a [`Session`] holds the robot between them.

mod ask;
mod extent;
mod film;
mod given;
mod portrait;
mod scene;
mod session;

pub use ask::{Listener, LociTraced, Stood};
pub use extent::{extents, plane_extent};
pub use film::{Film, FilmMark};
pub use given::{GivenPosture, PageContent};
pub use portrait::{CoordinatePortrait, DrivePortrait, JointPortrait, Portrait};
pub use scene::{InertiaEllipsoid, Scene, SceneJoint, SceneNode, ScenePiece, frames};
pub use session::{RefusalDocument, Session};
